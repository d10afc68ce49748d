//! What a sandbox holds the file to be, in the few words that a list has room for.

use crate::report::identifier::is_moment;
use crate::report::json::{Kind, Raw};
use crate::report::{Body, Piece, Report, Section};
use crate::text::Untrusted;

/// What stands behind the service's words for verdicts, and says nothing.
const ENDING: &[u8] = b"_VERDICT";

/// What a list says of a report.
#[derive(Debug, Default)]
pub struct ReportSummary {
    /// The sandbox by its own name.
    pub sandbox: Option<Untrusted>,
    /// When it ran, in seconds since 1970, for identifiers that do not say.
    pub ran: Option<i64>,
    pub verdict: Option<Untrusted>,
    /// How sure the sandbox is of it, as a number from 0 to 100.
    pub score: Option<u64>,
    pub tags: Vec<Untrusted>,
}

impl ReportSummary {
    /// Reads a report for its summary.
    pub fn of(body: &Body) -> Self {
        let report = Report::open(body);
        let score = first(&report, "verdict_confidence").and_then(|score| score.unicode().parse().ok());
        Self {
            sandbox: first(&report, "sandbox_name"),
            ran: ran(&report),
            verdict: word(&report),
            score,
            tags: values(&report, "tags").collect(),
        }
    }
}

/// When a sandbox ran, by the report's own `analysis_date`.
fn ran(report: &Report) -> Option<i64> {
    let number = report
        .index
        .sections
        .iter()
        .position(|section| section.attribute.is_some_and(|known| known.name == "analysis_date"))?;
    let start = report.section(number)?.start(0)? as usize;
    Raw::new(report.body.window(start..start + 64)).integer().filter(|seconds| is_moment(*seconds))
}

/// The verdict of a report that is not indexed.
pub fn of_body(body: &Body) -> Option<Untrusted> {
    let document = Raw::new(body.trim_ascii_start());
    let report = document.member("data").unwrap_or(document);
    let attributes = report.member("attributes").unwrap_or(report);
    let first = |name: &str| {
        let value = attributes.member(name)?;
        match value.kind() {
            Kind::Array => value.elements().next(),
            _ => Some(value),
        }
    };
    Some(words(first("verdicts")?.text(), first("verdict_confidence").map(Raw::text)))
}

/// A verdict without its ending, and how sure the sandbox is of it.
fn words(verdict: Untrusted, sure: Option<Untrusted>) -> Untrusted {
    let mut words = without_ending(&verdict).to_vec();
    if let Some(sure) = sure {
        words.push(b' ');
        words.extend_from_slice(sure.as_bytes());
    }
    Untrusted::from(words)
}

fn without_ending(verdict: &Untrusted) -> &[u8] {
    verdict.as_bytes().strip_suffix(ENDING).unwrap_or(verdict.as_bytes())
}

/// The first verdict.
fn word(report: &Report) -> Option<Untrusted> {
    Some(Untrusted::from(without_ending(&first(report, "verdicts")?)))
}

/// The first value of an attribute.
fn first(report: &Report, attribute: &'static str) -> Option<Untrusted> {
    values(report, attribute).next()
}

/// The values of an attribute, one a row.
fn values<'r>(report: &'r Report, attribute: &'static str) -> impl Iterator<Item = Untrusted> + 'r {
    let is_named = move |section: &Section| section.attribute.is_some_and(|known| known.name == attribute);
    let sections = report.index.sections.iter().enumerate().filter(move |(_, section)| is_named(section));
    let rows = sections.flat_map(move |(number, section)| (0..section.len()).map(move |row| report.row(number, row)));
    rows.filter_map(|row| {
        row.pieces.into_iter().find_map(|piece| if let Piece::Value(text) = piece { Some(text) } else { None })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_verdict_is_told_with_its_confidence() {
        let told = |json: &str| of_body(&Body::in_memory(json.as_bytes().to_vec()));
        assert_eq!(told(r#"{"verdicts":["MALWARE","TROJAN"],"verdict_confidence":92}"#), Some("MALWARE 92".into()));
        assert_eq!(told(r#"{"verdicts":["UNKNOWN_VERDICT"]}"#), Some("UNKNOWN".into()));
        assert_eq!((told(r#"{"verdicts":[]}"#), told("no JSON")), (None, None));
    }
}
