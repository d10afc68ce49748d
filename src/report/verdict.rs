//! The verdict of a sandbox on the file that it ran, in the vocabulary of STIX.

use super::Report;
use crate::text::names;

/// Maximum number of verdicts that are read.
const MAX_VERDICTS: usize = 100;

names! {
    /// The verdict on a file; the least is the worst. A file without a verdict may be anything.
    SampleVerdict terms {
        Malicious "malicious" "MALWARE MALICIOUS RANSOM RANSOMWARE TROJAN STEALER RAT PHISHING BANKER EXPLOIT SPREADER WORM VIRUS",
        Suspicious "suspicious" "SUSPICIOUS GREYWARE ADWARE EVADER",
        Unknown "unknown" "",
        Benign "benign" "CLEAN HARMLESS BENIGN",
    }
}

impl SampleVerdict {
    /// Returns the worst verdict of a report.
    pub fn of(report: &Report) -> Self {
        let verdicts = report.values("verdicts").take(MAX_VERDICTS);
        let verdicts: Vec<_> =
            verdicts.map(|verdict| String::from_utf8_lossy(verdict.as_bytes()).to_uppercase()).collect();
        let is_given = |found: &Self| verdicts.iter().any(|verdict| has_word(verdict, found.terms()));
        Self::ALL.into_iter().find(is_given).unwrap_or(Self::Unknown)
    }
}

/// Returns whether a verdict contains one of these words and no negation.
fn has_word(verdict: &str, wanted: &str) -> bool {
    let words: Vec<_> = verdict.split(|c: char| !c.is_ascii_alphabetic()).filter(|word| !word.is_empty()).collect();
    !words.iter().any(|word| matches!(*word, "NOT" | "NO" | "NON"))
        && words.iter().any(|word| wanted.split(' ').any(|wanted| wanted == *word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_verdict_is_read_word_by_word() {
        for (printed, wanted) in [
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
            let report = Report::of_json(&format!(r#"{{"verdicts":["{printed}"]}}"#));
            assert_eq!(SampleVerdict::of(&report).name(), wanted, "{printed}");
        }
    }
}
