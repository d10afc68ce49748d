//! What a sandbox says of a report as a whole, in the words of others.

use crate::report::json::Raw;
use crate::report::{Place, Report};

/// The most values of an attribute that are read.
const MOST: usize = 100;

/// What the sandbox thought of the sample, in the words of STIX.
pub(super) fn verdict(report: &Report) -> &'static str {
    let words = strings(report, "verdicts");
    let has = |wanted: &[&str]| words.iter().any(|word| wanted.iter().any(|wanted| word.contains(wanted)));
    if has(&["MALWARE", "RANSOM", "TROJAN", "STEALER", "RAT", "PHISHING", "MALICIOUS"]) {
        "malicious"
    } else if has(&["SUSPICIOUS", "GREYWARE"]) {
        "suspicious"
    } else if has(&["CLEAN", "HARMLESS"]) {
        "benign"
    } else {
        "unknown"
    }
}

/// The techniques of MITRE ATT&CK that it names, each once.
pub(super) fn techniques(report: &Report) -> Vec<String> {
    let rows = values(report, "mitre_attack_techniques").into_iter();
    let named = rows.filter_map(|value| Some(Raw::new(&value).member("id")?.text()));
    let named = named.filter_map(|id| String::from_utf8(id.as_bytes().to_ascii_uppercase()).ok());
    let mut found: Vec<_> = named.filter(|id| is_technique(id)).collect();
    found.sort();
    found.dedup();
    found
}

/// Whether it is the number of a technique, or of a part of one: `T1547.001`.
fn is_technique(id: &str) -> bool {
    let digits = |text: &str, count| text.len() == count && text.bytes().all(|byte| byte.is_ascii_digit());
    let (whole, part) = id.split_once('.').unwrap_or((id, "000"));
    whole.strip_prefix('T').is_some_and(|whole| digits(whole, 4)) && digits(part, 3)
}

/// The strings of an attribute, in capitals.
pub(super) fn strings(report: &Report, name: &str) -> Vec<String> {
    let values = values(report, name).into_iter();
    values.map(|value| String::from_utf8_lossy(Raw::new(&value).text().as_bytes()).to_uppercase()).collect()
}

/// The first values of an attribute, as they are written.
fn values(report: &Report, name: &str) -> Vec<Vec<u8>> {
    let sections = (0..).zip(&report.index.sections).filter(|(_, section)| section.name.as_bytes() == name.as_bytes());
    let places = sections
        .flat_map(|(number, section)| (0..section.len().min(MOST)).map(move |row| Place { section: number, row }));
    let found = places.filter_map(|place| report.record(place).ok()).map(|record| record.value);
    found.filter(|value| !value.is_empty()).collect()
}
