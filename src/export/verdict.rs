//! What a sandbox says of a report as a whole, in the words of others.

use super::What;
use super::opened::OpenedReport;
use crate::report::json::Raw;
use crate::report::rows::records::Record;
use crate::report::{Place, Report};
use crate::text::Untrusted;

/// The most values of an attribute that are read.
pub(super) const MOST: usize = 100;

/// What the sandbox thought of the sample, in the words of STIX.
pub(super) fn verdict(report: &Report) -> &'static str {
    let verdicts = strings(report, "verdicts");
    let says = |wanted: &[&str]| verdicts.iter().any(|verdict| says_one_of(verdict, wanted));
    if says(MALICIOUS) {
        "malicious"
    } else if says(SUSPICIOUS) {
        "suspicious"
    } else if says(BENIGN) {
        "benign"
    } else {
        "unknown"
    }
}

/// Words of verdicts, each with the one of STIX that they come to.
const MALICIOUS: &[&str] = &[
    "MALWARE",
    "MALICIOUS",
    "RANSOM",
    "RANSOMWARE",
    "TROJAN",
    "STEALER",
    "RAT",
    "PHISHING",
    "BANKER",
    "EXPLOIT",
    "SPREADER",
    "WORM",
    "VIRUS",
];
const SUSPICIOUS: &[&str] = &["SUSPICIOUS", "GREYWARE", "ADWARE", "EVADER"];
const BENIGN: &[&str] = &["CLEAN", "HARMLESS", "BENIGN"];

/// Whether a verdict says one of these words, and does not say that it is none.
fn says_one_of(verdict: &str, wanted: &[&str]) -> bool {
    let words: Vec<_> = verdict.split(|c: char| !c.is_ascii_alphabetic()).filter(|word| !word.is_empty()).collect();
    !words.iter().any(|word| matches!(*word, "NOT" | "NO" | "NON")) && words.iter().any(|word| wanted.contains(word))
}

/// The techniques of MITRE ATT&CK that the rows which are meant name, each once; none where one kind of indicator is wanted alone.
pub(super) fn techniques(opened: &OpenedReport<'_>) -> Vec<String> {
    if matches!(opened.job.what, What::OfKind(_)) {
        return Vec::new();
    }
    let is_meant = |place: &Place| opened.rows(place.section).is_some_and(|rows| rows.contains(place.row));
    let rows = TECHNIQUES.into_iter().flat_map(|name| records(&opened.report, name, is_meant));
    let mut found: Vec<_> = rows.filter_map(|row| technique(&row)).collect();
    found.sort();
    found.dedup();
    found
}

/// A report's techniques are records; a summary's are members, by their numbers.
const TECHNIQUES: [&str; 2] = ["mitre_attack_techniques", "attack_techniques"];

fn technique(row: &Record<'_>) -> Option<String> {
    let id = row.member.clone().or_else(|| Some(Raw::new(&row.value).member("id")?.text()))?;
    String::from_utf8(id.as_bytes().to_ascii_uppercase()).ok().filter(|id| is_technique(id))
}

/// Whether a row counts as exported without an indicator: a verdict, a technique, the time of the run.
pub(super) fn is_told(name: &Untrusted, place: Place, report: &Report) -> bool {
    let is_technique = || technique(&report.record(place)).is_some();
    place.row < MOST
        && match name.as_bytes() {
            b"verdicts" | b"analysis_date" => true,
            b"mitre_attack_techniques" | b"attack_techniques" => is_technique(),
            _ => false,
        }
}

/// Whether it is the number of a technique, or of a part of one: `T1547.001`.
fn is_technique(id: &str) -> bool {
    let digits = |text: &str, count| text.len() == count && text.bytes().all(|byte| byte.is_ascii_digit());
    let (whole, part) = id.split_once('.').unwrap_or((id, "000"));
    whole.strip_prefix('T').is_some_and(|whole| digits(whole, 4)) && digits(part, 3)
}

/// The strings of an attribute, in capitals.
pub(super) fn strings(report: &Report, name: &str) -> Vec<String> {
    let values = records(report, name, |_| true).into_iter().map(|record| record.value);
    values.map(|value| String::from_utf8_lossy(Raw::new(&value).text().as_bytes()).to_uppercase()).collect()
}

/// The first rows of an attribute.
fn records<'a>(report: &'a Report, name: &str, is_meant: impl Fn(&Place) -> bool) -> Vec<Record<'a>> {
    let sections = (0..).zip(&report.index.sections).filter(|(_, section)| section.name.as_bytes() == name.as_bytes());
    let places = sections
        .flat_map(|(number, section)| (0..section.len().min(MOST)).map(move |row| Place { section: number, row }));
    let found = places.filter(is_meant).map(|place| report.record(place));
    found.filter(|record| !record.value.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::Body;

    #[test]
    fn a_verdict_is_read_word_by_word() {
        for (said, wanted) in [
            ("MALWARE", "malicious"),
            ("rat", "malicious"),
            ("Known_Ransomware", "malicious"),
            ("BANKER", "malicious"),
            ("ADWARE", "suspicious"),
            ("CLEAN", "benign"),
            ("MODERATE", "unknown"),
            ("UNRATED", "unknown"),
            ("NOT_MALICIOUS", "unknown"),
            ("NOT CLEAN", "unknown"),
            ("UNKNOWN_VERDICT", "unknown"),
        ] {
            let body = Body::in_memory(format!(r#"{{"verdicts":["{said}"]}}"#).into_bytes());
            assert_eq!(verdict(&Report::open(&body)), wanted, "{said}");
        }
    }
}
