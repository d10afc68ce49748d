//! The search pattern: words or a regular expression, case-sensitive or not.

use crate::report::rows::Label;
use regex::bytes::{Regex, RegexBuilder};
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

/// A search pattern. It is matched against decoded text, not against JSON escapes.
#[derive(Debug)]
pub struct Pattern {
    words: String,
    how: How,
    regex: Regex,
}

/// Why words are no pattern.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadPattern {
    #[error("nothing is typed")]
    Empty,
    /// They are not a valid regular expression; the reason.
    #[error("{0}")]
    Expression(String),
}

impl Pattern {
    pub fn new(words: &str, how: How) -> Result<Self, BadPattern> {
        if words.is_empty() {
            return Err(BadPattern::Empty);
        }
        let expression = if how.is_regex { words.to_owned() } else { regex::escape(words) };
        let regex = RegexBuilder::new(&expression)
            .case_insensitive(!how.is_case_sensitive)
            .size_limit(LARGEST)
            .dfa_size_limit(LARGEST)
            .build()
            .map_err(|error| BadPattern::Expression(reason(&error)))?;
        Ok(Self { words: words.to_owned(), how, regex })
    }

    /// The words, as they were given.
    pub fn words(&self) -> &str {
        &self.words
    }

    /// How the words are meant.
    pub fn how(&self) -> How {
        self.how
    }

    /// Whether it matches a text.
    pub fn is_match(&self, text: &[u8]) -> bool {
        self.regex.is_match(text)
    }

    /// Whether it matches the label of a row.
    pub(super) fn is_in(&self, label: &Label) -> bool {
        match label {
            // What may match nothing at all is not found where nothing stands.
            Label::Known("") => false,
            Label::Known(word) => self.is_match(word.as_bytes()),
            Label::Named(name) => self.is_match(name.as_bytes()),
        }
    }

    /// Byte ranges of its matches in a text that is our own or made visible.
    pub fn spans(&self, text: &str) -> Vec<Range<usize>> {
        let found = self.regex.find_iter(text.as_bytes()).map(|found| found.range());
        found.filter(|found| !found.is_empty()).collect()
    }
}

/// Why an expression is invalid, in one line and without the expression itself.
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
    fn spans_are_those_of_the_text_whatever_its_case() {
        let text = "ẞtraße \u{212a}elvin KELVIN";
        let found: Vec<_> = pattern("kelvin", false).spans(text).into_iter().map(|at| &text[at]).collect();
        assert_eq!(found, ["\u{212a}elvin", "KELVIN"]);
        assert_eq!(&text[pattern("ße", false).spans(text)[0].clone()], "ße");
        assert_eq!(pattern("a|b*", true).spans("xay"), vec![Range { start: 1, end: 2 }]);
    }
}
