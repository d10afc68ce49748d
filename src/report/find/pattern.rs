//! What is sought: words or a regular expression, with or without regard to case.

use super::anchor::Anchor;
use super::fold::{fold, fold_into};
use super::literals::required;
use super::written;
use crate::report::ATTRIBUTES;
use crate::report::rows::Label;
use crate::text::Untrusted;
use memchr::memmem::Finder;
use regex::bytes::{Regex, RegexBuilder};
use std::borrow::Cow;
use std::ops::Range;

/// Most bytes that a compiled expression takes.
const LARGEST: usize = 2 * 1024 * 1024;

/// How words are meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct How {
    /// They are a regular expression.
    pub is_regex: bool,
    /// Capital and small letters differ.
    pub is_case_sensitive: bool,
}

/// What is sought. It is compared with text as it was before it was written as JSON.
#[derive(Debug)]
pub struct Pattern {
    words: String,
    how: How,
    kind: Kind,
}

#[derive(Debug)]
pub(super) enum Kind {
    Words(Box<Words>),
    Expression(Regex, Option<Box<Clue>>),
}

/// Without which an expression matches nothing.
#[derive(Debug)]
pub(super) enum Clue {
    Anchor(Anchor),
    /// What the expression is as JSON most often writes it, or an escape that it seldom writes.
    Written(Regex),
}

impl Clue {
    fn of(expression: &str, is_case_sensitive: bool) -> Option<Self> {
        let anchor = required(expression, is_case_sensitive).and_then(|texts| Anchor::of_any(&texts));
        anchor.map(Self::Anchor).or_else(|| written::of(expression, is_case_sensitive, LARGEST).map(Self::Written))
    }

    fn is_in(&self, json: &[u8]) -> bool {
        match self {
            Self::Anchor(anchor) => anchor.is_in(json),
            Self::Written(expression) => expression.is_match(json),
        }
    }
}

/// Words that are sought as they are.
#[derive(Debug)]
pub(super) struct Words {
    finder: Finder<'static>,
    pub(super) anchor: Anchor,
    /// The letters before the anchor, the nearest first.
    pub(super) before: Box<[char]>,
    /// The letters from the anchor on.
    pub(super) after: Box<[char]>,
    /// Whether they may begin between two values.
    pub(super) may_stand_between: bool,
    /// Whether JSON writes each of their letters as it is, if it likes.
    is_plain: bool,
}

impl Words {
    fn new(sought: &str, is_case_sensitive: bool) -> Option<Self> {
        let anchor = Anchor::of(sought, is_case_sensitive)?;
        let (before, after) = sought.split_at_checked(anchor.offset)?;
        let (before, after) = (before.chars().rev().collect(), after.chars().collect());
        let may_stand_between = sought.starts_with(|first: char| " ,:[]{}\n\r\t".contains(first));
        let is_plain = sought.bytes().all(|byte| matches!(byte, b' '..=b'~') && !matches!(byte, b'"' | b'\\'));
        let finder = Finder::new(sought.as_bytes()).into_owned();
        Some(Self { finder, anchor, before, after, may_stand_between, is_plain })
    }

    /// The words, if JSON can write them as they are.
    #[inline(always)]
    pub(super) fn plain(&self) -> Option<&[u8]> {
        self.is_plain.then(|| self.finder.needle())
    }

    /// Whether these words stand in a text.
    fn stand_in(&self, text: &[u8]) -> bool {
        self.finder.find(text).is_some()
    }
}

/// Why words are no pattern.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadPattern {
    #[error("nothing is typed")]
    Empty,
    /// They are no regular expression; what is wrong with them.
    #[error("{0}")]
    Expression(String),
}

/// Room to decode and compare in, used again and again.
#[derive(Debug, Default)]
pub struct Scratch {
    decoded: Vec<u8>,
    folded: Vec<u8>,
}

impl Pattern {
    /// Makes a pattern of words.
    pub fn new(words: &str, how: How) -> Result<Self, BadPattern> {
        if words.is_empty() {
            return Err(BadPattern::Empty);
        }
        let kind = if how.is_regex {
            let expression = RegexBuilder::new(words)
                .case_insensitive(!how.is_case_sensitive)
                .size_limit(LARGEST)
                .dfa_size_limit(LARGEST)
                .build();
            let expression = expression.map_err(|error| BadPattern::Expression(reason(&error)))?;
            Kind::Expression(expression, Clue::of(words, how.is_case_sensitive).map(Box::new))
        } else {
            let sought: String =
                if how.is_case_sensitive { words.to_owned() } else { words.chars().map(fold).collect() };
            Kind::Words(Box::new(Words::new(&sought, how.is_case_sensitive).ok_or(BadPattern::Empty)?))
        };
        Ok(Self { words: words.to_owned(), how, kind })
    }

    /// The words, as they were given.
    pub fn words(&self) -> &str {
        &self.words
    }

    /// How the words are meant.
    pub fn how(&self) -> How {
        self.how
    }

    pub(super) fn kind(&self) -> &Kind {
        &self.kind
    }

    /// Whether what is a hit for this is a hit for the other pattern too, for certain.
    pub fn narrows(&self, other: &Self) -> bool {
        match (&self.kind, &other.kind) {
            (Kind::Words(mine), Kind::Words(theirs)) => self.how == other.how && theirs.stand_in(mine.finder.needle()),
            _ => self.how == other.how && self.words == other.words,
        }
    }

    /// Whether it may stand anywhere in a report's JSON, or in the words beside its rows: where not, nothing in it is a hit.
    pub fn may_stand_in(&self, json: &[u8]) -> bool {
        let mut scratch = Scratch::default();
        // Words that the table lacks stand in the JSON themselves.
        if ATTRIBUTES.iter().any(|known| self.is_in(&Label::Known(known.label), &mut scratch)) {
            return true;
        }
        match &self.kind {
            Kind::Words(words) => words.anchor.is_in(json),
            Kind::Expression(_, clue) => clue.as_ref().is_none_or(|clue| clue.is_in(json)),
        }
    }

    /// Whether it stands in the word beside a row.
    pub(super) fn is_in(&self, label: &Label, scratch: &mut Scratch) -> bool {
        match label {
            // What may match nothing at all is not found where nothing stands.
            Label::Known("") => false,
            Label::Known(word) => self.is_match(word.as_bytes(), scratch),
            Label::Named(name) => self.is_match(name.as_bytes(), scratch),
        }
    }

    /// Whether it stands in a text that is written as JSON, given without the quotes.
    pub(super) fn is_match_in_json(&self, text: &[u8], scratch: &mut Scratch) -> bool {
        if memchr::memchr(b'\\', text).is_none() {
            return self.is_match(text, scratch);
        }
        let mut decoded = std::mem::take(&mut scratch.decoded);
        decoded.clear();
        Untrusted::decode_json(text, &mut decoded);
        let is_match = self.is_match(&decoded, scratch);
        scratch.decoded = decoded;
        is_match
    }

    /// Whether it stands in a text.
    pub fn is_match(&self, text: &[u8], scratch: &mut Scratch) -> bool {
        match &self.kind {
            Kind::Expression(expression, _) => expression.is_match(text),
            Kind::Words(words) if self.how.is_case_sensitive => words.finder.find(text).is_some(),
            Kind::Words(words) => {
                scratch.folded.clear();
                fold_into(text, &mut scratch.folded);
                words.finder.find(&scratch.folded).is_some()
            }
        }
    }

    /// Where it stands in a text of our own or one that is made visible, in bytes of it.
    pub fn spans(&self, text: &str) -> Vec<Range<usize>> {
        match &self.kind {
            Kind::Expression(expression, _) => expression
                .find_iter(text.as_bytes())
                .map(|found| found.range())
                .filter(|found| !found.is_empty())
                .collect(),
            Kind::Words(words) => {
                let (folded, starts) =
                    if self.how.is_case_sensitive { (Cow::Borrowed(text), None) } else { folded(text) };
                let back = |at: usize| match &starts {
                    Some(starts) => starts.get(at).copied().unwrap_or(text.len()),
                    None => at,
                };
                let length = words.finder.needle().len();
                words.finder.find_iter(folded.as_bytes()).map(|at| back(at)..back(at + length)).collect()
            }
        }
    }
}

/// A text without its case and, where its length has changed, for each byte of it the place in the text.
fn folded(text: &str) -> (Cow<'_, str>, Option<Vec<usize>>) {
    if text.is_ascii() {
        return (Cow::Owned(text.to_ascii_lowercase()), None);
    }
    let (mut folded, mut starts) = (String::with_capacity(text.len()), Vec::with_capacity(text.len()));
    for (at, c) in text.char_indices() {
        folded.push(fold(c));
        starts.resize(folded.len(), at);
    }
    (Cow::Owned(folded), Some(starts))
}

/// What is wrong with an expression, in a line and without the expression.
fn reason(error: &regex::Error) -> String {
    let words = error.to_string();
    let last = words.lines().last().unwrap_or_default();
    match error {
        regex::Error::CompiledTooBig(_) => "the expression takes too much memory".to_owned(),
        _ => last.strip_prefix("error: ").unwrap_or(last).to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pattern(words: &str, is_regex: bool) -> Pattern {
        Pattern::new(words, How { is_regex, is_case_sensitive: false }).unwrap()
    }

    #[test]
    fn spans_are_those_of_the_text_whatever_folding_does_to_its_length() {
        let text = "ẞtraße \u{212a}elvin KELVIN";
        let found: Vec<_> = pattern("kelvin", false).spans(text).into_iter().map(|at| &text[at]).collect();
        assert_eq!(found, ["\u{212a}elvin", "KELVIN"]);
        assert_eq!(&text[pattern("ße", false).spans(text)[0].clone()], "ße");
        assert_eq!(pattern("a|b*", true).spans("xay"), vec![Range { start: 1, end: 2 }]);
    }

    #[test]
    fn one_more_letter_narrows_what_was_sought() {
        let narrows = |more: &str, less: &str, is_regex| pattern(more, is_regex).narrows(&pattern(less, is_regex));
        assert!(narrows("Kelvin", "\u{212a}ELV", false) && narrows("akelv", "kelv", false));
        assert!(!narrows("kel", "kelv", false) && !narrows("ab", "a", true) && narrows("a", "a", true));
        assert!(!pattern("ab", true).narrows(&pattern("a", false)));
        let exact = Pattern::new("ab", How { is_regex: false, is_case_sensitive: true }).unwrap();
        assert!(!exact.narrows(&pattern("a", false)));
    }

    #[test]
    fn a_bad_expression_says_what_is_wrong_in_a_line() {
        let how = How { is_regex: true, is_case_sensitive: false };
        assert_eq!(Pattern::new("a(b", how).unwrap_err().to_string(), "unclosed group");
        assert!(Pattern::new(r"\w{9999}{99}", how).unwrap_err().to_string().contains("memory"));
        assert_eq!(Pattern::new("", how).unwrap_err(), BadPattern::Empty);
    }
}
