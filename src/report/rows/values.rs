//! A value as it is shown: in one line, or taken apart.

use crate::report::attributes::{HIDDEN, PASSWORD};
use crate::report::json::{Event, Kind, Raw, Scanner};
use crate::text::Untrusted;

/// How many nested values are joined in a line before the rest is counted.
const JOINED: usize = 8;

/// One line of a value that is shown whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// How deep it is nested.
    pub depth: usize,
    /// Name of the member; none for an element.
    pub name: Option<Untrusted>,
    /// The value; none for an object or array, whose content follows.
    pub value: Option<Untrusted>,
}

/// A member's name and its value.
pub(in crate::report) fn split_member(bytes: &[u8]) -> (Raw<'_>, Raw<'_>) {
    let name = Raw::new(bytes);
    (name, Raw::new(bytes.get(name.bytes().len()..).unwrap_or_default()))
}

/// Length of `"name": value` from the name's first byte to the value's last.
pub(super) fn member_length(bytes: &[u8]) -> usize {
    let (_, value) = split_member(bytes);
    bytes.len() - value.length_to_end() + value.bytes().len()
}

/// A value in one line: strings as they are, flat arrays joined, everything deeper as written.
pub(in crate::report) fn compact(raw: Raw<'_>) -> Untrusted {
    joined(raw, JOINED)
}

/// Like [`compact`], with at most `most` values of a flat array, and the rest counted.
pub(super) fn joined(raw: Raw<'_>, most: usize) -> Untrusted {
    match raw.kind() {
        Kind::Text | Kind::Word => raw.text(),
        Kind::Array => side_by_side(raw, most).unwrap_or_else(|| Untrusted::from(squeezed(raw.bytes()))),
        Kind::Object => Untrusted::from(squeezed(raw.bytes())),
    }
}

/// The elements of a flat array, the rest counted; none of an empty one, or of one that is not flat.
fn side_by_side(raw: Raw<'_>, most: usize) -> Option<Untrusted> {
    let elements: Vec<_> = raw.elements().take(most.saturating_add(1)).collect();
    let is_flat = elements.iter().all(|element| matches!(element.kind(), Kind::Text | Kind::Word));
    if elements.is_empty() || !is_flat {
        return None;
    }
    let mut joined = Vec::new();
    for element in elements.iter().take(most) {
        if !joined.is_empty() {
            joined.extend_from_slice(b", ");
        }
        joined.extend_from_slice(element.text().as_bytes());
    }
    if elements.len() > most {
        joined.extend_from_slice(format!(", +{}", raw.elements().count() - most).as_bytes());
    }
    Some(Untrusted::from(joined))
}

/// JSON without the blanks between its values.
fn squeezed(bytes: &[u8]) -> Vec<u8> {
    let (mut in_text, mut is_escaped) = (false, false);
    let keep = |byte: &&u8| {
        let is_blank = !in_text && byte.is_ascii_whitespace();
        in_text ^= **byte == b'"' && !is_escaped;
        is_escaped = in_text && **byte == b'\\' && !is_escaped;
        !is_blank
    };
    bytes.iter().filter(keep).copied().collect()
}

/// The lines of a member.
pub(super) fn named_lines(name: &Untrusted, value: &[u8]) -> Vec<Line> {
    let mut found = lines(value);
    if let Some(first) = found.first_mut() {
        first.name = Some(name.clone());
    }
    found
}

/// A value taken apart, a line a leaf, a line for each object and array.
pub fn lines(bytes: &[u8]) -> Vec<Line> {
    let (mut found, mut name, mut depth) = (Vec::new(), None, 0_usize);
    let mut scanner = Scanner::default();
    scanner.feed(bytes, &mut |at, event| {
        let leaf = |at: u64| usize::try_from(at).ok().and_then(|at| bytes.get(at..)).map(|rest| Raw::new(rest).text());
        match event {
            Event::Name(raw) => name = Some(Untrusted::from_json(raw)),
            Event::Open { .. } => {
                found.push(Line { depth, name: name.take(), value: None });
                depth += 1;
            }
            Event::Close => depth = depth.saturating_sub(1),
            Event::Text | Event::Word { .. } => {
                let is_secret = name.as_ref().is_some_and(|name: &Untrusted| name.as_bytes() == PASSWORD.as_bytes());
                let value = if is_secret { Some(Untrusted::from(HIDDEN)) } else { leaf(at) };
                found.push(Line { depth, name: name.take(), value });
            }
        }
    });
    found
}
