//! What a sandbox holds the file to be, in the few words that a list has room for.

use crate::report::{Body, Index, Piece, Report};
use crate::text::Untrusted;

/// The longest report that is read for its verdict alone, in bytes; of a longer one it is known once it has been opened.
const SHORT: u64 = 64 * 1024;

/// What stands behind the service's words for verdicts, and says nothing.
const ENDING: &[u8] = b"_VERDICT";

/// The verdict of a short report, without opening it.
#[must_use]
pub fn of_short(body: &Body) -> Option<Untrusted> {
    if body.len() > SHORT {
        return None;
    }
    of(&Report::new(body.clone(), Index::of(body).ok()?))
}

/// The first verdict of a report, and how sure the sandbox is of it.
#[must_use]
pub fn of(report: &Report) -> Option<Untrusted> {
    let verdict = first(report, "verdicts")?;
    let verdict = verdict.as_bytes();
    let mut words = verdict.strip_suffix(ENDING).unwrap_or(verdict).to_vec();
    if let Some(sure) = first(report, "verdict_confidence") {
        words.push(b' ');
        words.extend_from_slice(sure.as_bytes());
    }
    Some(Untrusted::from(words))
}

/// The first value of an attribute.
fn first(report: &Report, attribute: &str) -> Option<Untrusted> {
    let named = |section: &crate::report::Section| section.attribute.is_some_and(|known| known.name == attribute);
    let section = report.index.sections.iter().position(|section| named(section) && !section.is_empty())?;
    report.row(section, 0).pieces.into_iter().find_map(|piece| match piece {
        Piece::Value(text) => Some(text),
        Piece::Detail(_) | Piece::Own(_) => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_verdict_is_told_with_its_confidence() {
        let told = |json: &str| of_short(&Body::in_memory(json.as_bytes().to_vec()));
        assert_eq!(told(r#"{"verdicts":["MALWARE","TROJAN"],"verdict_confidence":92}"#), Some("MALWARE 92".into()));
        assert_eq!(told(r#"{"verdicts":["UNKNOWN_VERDICT"]}"#), Some("UNKNOWN".into()));
        assert_eq!((told(r#"{"verdicts":[]}"#), told("no JSON")), (None, None));
    }
}
