//! Derives the techniques and the reasons to block from a report, in the vocabulary of STIX.

use super::opened::OpenedReport;
use crate::report::indicators::{ITSELF, Kind};
use crate::report::json::Raw;
use crate::report::page::SampleVerdict;
use crate::report::rows::Record;
use crate::report::rules::Severity;
use crate::report::{Indicator, Report, RowPlace};
use crate::text::Untrusted;
use std::collections::BTreeSet;

/// Maximum number of verdicts, and of times of analysis, that are read.
const MAX_VERDICTS: usize = 100;

/// Returns the ATT&CK techniques of written rows, each once; empty if the job selects indicators.
pub(super) fn techniques(opened: &OpenedReport<'_>) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for (section, known) in opened.report.index.sections.iter().enumerate() {
        if has_techniques(&known.name) && !opened.job.what.is_choice() {
            for row in opened.rows(section) {
                let record = opened.report.record(RowPlace { section, row: *row as usize });
                found.extend(technique(&record).filter(|_| !record.value.is_empty()));
            }
        }
    }
    found
}

/// Returns whether an attribute lists techniques: a report's as records, a summary's as members.
fn has_techniques(attribute: &Untrusted) -> bool {
    matches!(attribute.as_bytes(), b"mitre_attack_techniques" | b"attack_techniques")
}

pub(super) fn technique(row: &Record<'_>) -> Option<String> {
    let id = row.member.clone().or_else(|| Some(Raw::new(&row.value).member("id")?.text()))?;
    String::from_utf8(id.as_bytes().trim_ascii().to_ascii_uppercase()).ok().filter(|id| is_technique(id))
}

/// Returns whether a row is exported without an indicator: a verdict, a technique, the run's time.
pub(super) fn is_represented(name: &Untrusted, place: RowPlace, report: &Report) -> bool {
    let is_technique = || has_techniques(name) && technique(&report.record(place)).is_some();
    let is_verdict = matches!(name.as_bytes(), b"verdicts" | b"analysis_date") && place.row < MAX_VERDICTS;
    is_verdict || is_technique()
}

/// Returns whether a text is the number of a technique or subtechnique, such as `T1547.001`.
fn is_technique(id: &str) -> bool {
    let digits = |text: &str, count| text.len() == count && text.bytes().all(|byte| byte.is_ascii_digit());
    let (whole, part) = id.split_once('.').unwrap_or((id, "000"));
    whole.strip_prefix('T').is_some_and(|whole| digits(whole, 4)) && digits(part, 3)
}

pub(super) struct BlockReason {
    pub(super) name: String,
    pub(super) explanation: String,
    /// How certain the reason is; 0 is the most certain.
    pub(super) activity: usize,
}

/// Returns the reason to block an indicator, or not to. Blocked are the run file, unless found
/// clean or without verdict and findings, and values in rows of high or medium severity, as malware
/// contacts harmless hosts too. Values common on clean machines are never blocked.
pub(super) fn reason(opened: &OpenedReport<'_>, indicator: &Indicator) -> Result<BlockReason, &'static str> {
    let (name, explanation, activity) = if indicator.kind == Kind::Hash && opened.is_sample(&indicator.value) {
        let activity = match SampleVerdict::of(&opened.report) {
            SampleVerdict::Benign => return Err("its sandbox found it clean"),
            SampleVerdict::Malicious => 0,
            SampleVerdict::Unknown if !opened.findings().any(|(.., rule)| rule.severity <= Severity::Medium) => {
                return Err("it has no verdict, and no finding of high or medium severity");
            }
            _ => 2,
        };
        ("the file that was run".to_owned(), "The file that was run.".to_owned(), activity)
    } else {
        indicator.why_not_public().map_or(Ok(()), Err)?;
        let rule = opened.rule_of(indicator).filter(|rule| rule.severity <= Severity::Medium);
        let rule = rule.ok_or("no finding of high or medium severity is about it")?;
        let label = format!("{}: {}", rule.severity.name(), rule.label());
        (rule.name.clone(), label, usize::from(rule.severity != Severity::High))
    };
    Ok(BlockReason { name, explanation, activity })
}

/// Names the first rows of an indicator, `dns_lookups 1, tls 4`, counted from 1 as on the screen.
pub(super) fn seen_in(report: &Report, indicator: &Indicator) -> String {
    if indicator.places.is_empty() {
        return ITSELF.to_owned();
    }
    let places = indicator.places.iter().map(|place| {
        let name = report.section(place.section).map(|section| section.name.visible().to_string());
        format!("{} {}", name.unwrap_or_default(), place.row + 1)
    });
    let decoded = if indicator.is_decoded { " (decoded)" } else { "" };
    places.collect::<Vec<_>>().join(", ") + decoded
}
