//! Text without which an expression matches nothing.

use super::fold::fold;
use regex_syntax::ParserBuilder;
use regex_syntax::hir::{Class, Hir, HirKind, Repetition};

/// Most texts of which one must be there.
const MOST: usize = 8;

/// A text of fewer bytes stands in too many rows to be of use.
const FEWEST: usize = 3;

/// Most characters of a class that may be one letter in several cases.
const CASES: u32 = 8;

/// Texts without their case of which one stands in whatever the expression matches, none of them short; none where there is
/// nothing of the kind.
pub(super) fn required(expression: &str, is_case_sensitive: bool) -> Option<Vec<String>> {
    let mut parser = ParserBuilder::new().utf8(false).case_insensitive(!is_case_sensitive).build();
    let needs = Needs::of(&parser.parse(expression).ok()?);
    needs
        .best
        .into_iter()
        .chain(needs.exact.map(|text| vec![text]))
        .filter(|texts| is_of_use(texts) && worth(texts) >= FEWEST)
        .max_by_key(|texts| worth(texts))
}

fn is_of_use(texts: &[String]) -> bool {
    texts.len() <= MOST && worth(texts) > 0
}

/// Bytes of the shortest.
fn worth(texts: &[String]) -> usize {
    texts.iter().map(String::len).min().unwrap_or(0)
}

/// What a part of an expression needs.
#[derive(Default)]
struct Needs {
    /// It matches this text and no other, case apart.
    exact: Option<String>,
    /// One of these is in what it matches.
    best: Option<Vec<String>>,
}

impl Needs {
    fn exact(text: String) -> Self {
        Self { exact: Some(text), best: None }
    }

    fn of(part: &Hir) -> Self {
        match part.kind() {
            HirKind::Empty | HirKind::Look(_) => Self::exact(String::new()),
            HirKind::Literal(literal) => match str::from_utf8(&literal.0) {
                Ok(text) => Self::exact(text.chars().map(fold).collect()),
                Err(_) => Self::default(),
            },
            HirKind::Class(class) => Self { exact: letter(class).map(String::from), best: None },
            HirKind::Capture(capture) => Self::of(&capture.sub),
            HirKind::Repetition(Repetition { min: 0, .. }) => Self::default(),
            HirKind::Repetition(repetition) => Self { exact: None, best: Self::of(&repetition.sub).texts() },
            HirKind::Concat(parts) => Self::one_after_another(parts),
            HirKind::Alternation(parts) => Self::any(parts),
        }
    }

    fn texts(self) -> Option<Vec<String>> {
        self.exact.map(|text| vec![text]).or(self.best)
    }

    fn one_after_another(parts: &[Hir]) -> Self {
        let (mut run, mut best, mut is_exact) = (String::new(), None, true);
        for part in parts {
            let needs = Self::of(part);
            match needs.exact {
                Some(text) => run.push_str(&text),
                None => {
                    is_exact = false;
                    best = better(best, Some(vec![std::mem::take(&mut run)]));
                    best = better(best, needs.best);
                }
            }
        }
        if is_exact { Self::exact(run) } else { Self { exact: None, best: better(best, Some(vec![run])) } }
    }

    fn any(parts: &[Hir]) -> Self {
        let texts: Option<Vec<Vec<String>>> = parts.iter().map(|part| Self::of(part).texts()).collect();
        Self { exact: None, best: texts.map(|texts| texts.concat()).filter(|texts| is_of_use(texts)) }
    }
}

/// Those that tell more.
fn better(one: Option<Vec<String>>, other: Option<Vec<String>>) -> Option<Vec<String>> {
    one.into_iter().chain(other).filter(|texts| is_of_use(texts)).max_by_key(|texts| worth(texts))
}

/// The letter that a class is, in one case or in several.
fn letter(class: &Class) -> Option<char> {
    let ranges: Vec<(char, char)> = match class {
        Class::Unicode(class) => class.iter().map(|range| (range.start(), range.end())).collect(),
        Class::Bytes(class) => class.iter().map(|range| (char::from(range.start()), char::from(range.end()))).collect(),
    };
    let is_ascii_or_text = matches!(class, Class::Unicode(_)) || ranges.iter().all(|(_, end)| end.is_ascii());
    let count: u32 = ranges.iter().map(|(start, end)| u32::from(*end) - u32::from(*start) + 1).sum();
    let mut letters = ranges.iter().flat_map(|(start, end)| *start..=*end).map(fold);
    let first = letters.next().filter(|_| is_ascii_or_text && count <= CASES)?;
    letters.all(|other| other == first).then_some(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(expression: &str) -> String {
        required(expression, false).map_or("-".to_owned(), |texts| texts.join(" "))
    }

    #[test]
    fn what_must_be_there_is_found_in_an_expression() {
        assert_eq!(texts(r"C:\\Windows\\\w+\.EXE$"), r"c:\windows\");
        assert_eq!(texts(r"^\w+(needle|pin)\d"), "needle pin");
        assert_eq!(texts("a(b)c(?:d)+e*"), "abc");
        assert_eq!(texts("(abc){2,}x?"), "abc");
        assert_eq!(texts("[kK\u{212a}]elvin"), "kelvin");
        assert_eq!(texts("Straße|ΣΑΣ"), "straße σασ");
    }

    #[test]
    fn what_may_be_missing_is_not_asked_for() {
        for expression in ["", "a*", "(abc)?", "abc|", "abc|[xy]", r"\d+", "[ab]", r"ab\d+", ".", "(?-u:\\xff)"] {
            assert_eq!(texts(expression), "-", "{expression}");
        }
    }
}
