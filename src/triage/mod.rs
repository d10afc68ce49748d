//! Triage of many files: what is stored of each, the worst first; the price of what is missing.
//!
//! ```text
//! hashes ── stored list pages and reports, rules ──> TriagedFile ── sorted ──> a table, the screen
//!                                                        └── missing: the cheapest question first
//! ```
//! Nothing is sent to find this out.

use crate::report::attributes::AT_LEAST;
use crate::report::identifier::Sha256;
use crate::report::page::SampleVerdict;
use crate::report::page::{Page, ReportSummary};
use crate::report::rules::{Rules, Severity};
use crate::report::{Cancel, Cancelled, Identifier, Report};
use crate::request::{Artifact, Listing, Request};
use crate::text::Untrusted;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// The headings of [`TriagedFile::cells`].
pub const HEADINGS: [&str; 11] = [
    "file",
    "verdict",
    "labels",
    "sandboxes",
    "expires",
    "artifacts",
    "high",
    "medium",
    "top rules",
    "alike",
    "missing",
];

/// Maximum number of findings that a file names; all are counted.
const MAX_TOP: usize = 3;

/// The subject of rules that repeat the verdict.
const VERDICT: &str = "verdict";

/// What is known of a file from what is stored, and what is missing.
#[derive(Debug, Clone)]
pub struct TriagedFile {
    pub file: Sha256,
    /// The worst verdict among its stored reports.
    pub verdict: SampleVerdict,
    /// The labels of its stored reports, each once.
    pub labels: BTreeSet<Untrusted>,
    /// Number of stored reports.
    pub stored: usize,
    /// Number of sandboxes that stored list pages name; `None` if no page is stored.
    pub listed: Option<usize>,
    /// Number of sandboxes on all pages, if the service gives it; it tells no number of pages.
    total: Option<usize>,
    /// Whether further sandboxes may be on pages that are not stored.
    pub more: bool,
    /// Number of rules that match, by severity.
    pub high: usize,
    pub medium: usize,
    /// The names of the most severe of them, those that most sandboxes saw first.
    pub top: Vec<String>,
    /// Number of lists in its reports that the service may have cut.
    pub cut_lists: u64,
    /// Number of other stored files that did nearly the same.
    pub alike: usize,
    /// Requests for what is not stored, the cheapest answer first.
    pub missing: Vec<Request>,
    /// Requests for artifacts that stored reports name and that are not stored, small kinds first.
    pub artifacts: Vec<Request>,
    /// Why something is not among them: lacking at the service within an hour, or unreadable.
    pub unavailable: Option<String>,
}

impl TriagedFile {
    /// Creates a file of which only these list pages are known, and listed reports not stored.
    pub fn new(file: Sha256, listing: Listing, pages: &[Page], unstored: Vec<Identifier>) -> Self {
        let listed: BTreeSet<_> = pages.iter().flat_map(|page| &page.entries).map(|entry| &entry.identifier).collect();
        let cursor = pages.last().and_then(|page| page.end.cursor.clone());
        let is_complete = pages.last().is_some_and(|page| page.end.cursor.is_none() && !page.end.is_lost);
        let needs_page = pages.is_empty() || cursor.is_some();
        let page = needs_page.then(|| Request::Behaviours { file: file.clone(), listing, cursor });
        let reports = unstored.into_iter().map(|identifier| Request::Behaviour { identifier });
        Self {
            missing: page.into_iter().chain(reports).collect(),
            file,
            verdict: SampleVerdict::Unknown,
            labels: BTreeSet::new(),
            stored: 0,
            listed: (!pages.is_empty()).then_some(listed.len()),
            total: pages.iter().rev().find_map(|page| page.end.count).and_then(|total| total.try_into().ok()),
            more: !is_complete,
            high: 0,
            medium: 0,
            top: Vec::new(),
            cut_lists: 0,
            alike: 0,
            artifacts: Vec::new(),
            unavailable: None,
        }
    }

    /// Adds what the stored reports say.
    ///
    /// # Errors
    ///
    /// The work was cancelled.
    pub fn with_reports(
        mut self,
        reports: impl Iterator<Item = Report>,
        rules: &Rules,
        cancel: &Cancel,
    ) -> Result<Self, Cancelled> {
        let mut found = BTreeMap::<(Severity, &str), usize>::new();
        let mut worst = None;
        for report in reports {
            self.stored += 1;
            self.cut_lists += report.cut_lists(None).count() as u64;
            self.labels.extend(ReportSummary::of(&report).labels);
            worst = worst.into_iter().chain([SampleVerdict::of(&report)]).min();
            let marks = rules.evaluate(&report, cancel)?;
            let numbers: BTreeSet<_> = marks.notable().map(|(_, _, rule)| rule).collect();
            let matching = numbers.into_iter().filter_map(|number| rules.rule(number));
            for rule in matching.filter(|rule| rule.subject_name() != VERDICT) {
                *found.entry((rule.severity, rule.name.as_str())).or_default() += 1;
            }
        }
        let count = |wanted| found.keys().filter(|(severity, _)| *severity == wanted).count();
        (self.high, self.medium) = (count(Severity::High), count(Severity::Medium));
        let mut top: Vec<_> = found.iter().collect();
        top.sort_by_key(|((severity, _), sandboxes)| (*severity, Reverse(**sandboxes)));
        self.top = top.into_iter().take(MAX_TOP).map(|((_, name), _)| (*name).to_owned()).collect();
        self.verdict = worst.unwrap_or(SampleVerdict::Unknown);
        Ok(self)
    }

    /// Whether more may be missing: an unread page may name any number of reports.
    pub fn is_open(&self) -> bool {
        let is_page = |request: &Request| matches!(request, Request::Behaviours { .. });
        self.missing.iter().any(is_page) || self.more && (self.listed.is_some() || self.unavailable.is_none())
    }

    /// Counts the artifacts that are not stored, by kind.
    pub fn missing_artifacts(&self) -> BTreeMap<Artifact, usize> {
        let mut counts = BTreeMap::new();
        for request in &self.artifacts {
            if let Request::Artifact { artifact, .. } = request {
                *counts.entry(*artifact).or_default() += 1;
            }
        }
        counts
    }

    /// Returns the cells of a table; its reader knows the expiration and the price.
    pub fn cells(&self, expires: String, price: String) -> [Untrusted; 11] {
        let known = |cell: String| if self.stored > 0 { cell } else { String::new() };
        let more = if self.cut_lists > 0 { AT_LEAST } else { "" };
        let artifacts = self.missing_artifacts().into_iter().map(|(artifact, n)| format!("{n} {}", artifact.name()));
        let labels: Vec<_> = self.labels.iter().map(Untrusted::as_bytes).collect();
        [
            self.file.as_str().into(),
            known(self.verdict.name().to_owned()).into(),
            labels.join(&b", "[..]).into(),
            self.sandboxes_label().into(),
            expires.into(),
            artifacts.collect::<Vec<_>>().join(", ").into(),
            known(format!("{}{more}", self.high)).into(),
            known(format!("{}{more}", self.medium)).into(),
            self.top.join("; ").into(),
            known(self.alike.to_string()).into(),
            price.into(),
        ]
    }

    /// How many sandboxes are stored, of those that the list names.
    fn sandboxes_label(&self) -> String {
        let total = self.total.filter(|total| self.more && Some(*total) > self.listed);
        let more = if self.more && total.is_none() { AT_LEAST } else { "" };
        // An imported report is in no list.
        match (self.stored, total.or(self.listed)) {
            (0, Some(0)) => "no report yet".to_owned(),
            (stored, Some(all)) => format!("{stored} of {}{more}", all.max(stored)),
            (0, None) if self.unavailable.is_some() => "unavailable".to_owned(),
            (stored, None) => format!("{stored} of ?"),
        }
    }
}

/// Sorts files by the worst verdict, then the most severe findings; else keeps their order.
pub fn rank(files: &mut [TriagedFile]) {
    files.sort_by_key(|file| (file.verdict, Reverse(file.high), Reverse(file.medium)));
}
