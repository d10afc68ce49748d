//! Jobs on reports: indexing, indicators, rules, comparison.

use super::triage::triage_all;
use super::values::{count_all, note_findings};
use super::{Performer, SendPace, Task};
use crate::app::overlays::FindingRow;
use crate::app::overlays::indicators::MergedIndicators;
use crate::app::{LoadedReport, Message, ReportEvent, ReportJob, RulesOrFile, Ticket};
use crate::export::{Export, ExportContext, Part};
use crate::files;
use crate::gateway::Gateway;
use crate::prevalence::StableBuildHasher;
use crate::report::compare::Matrix;
use crate::report::document::{self, FoundReport};
use crate::report::indicators::MergedIndicator;
use crate::report::rules::Rules;
use crate::report::{Body, Indexer, Report, body};
use std::collections::{HashMap, HashSet};
use std::io::ErrorKind;
use std::path::Path;
use std::sync::Arc;

const MAX_RULES_BYTES: u64 = 16 << 20;

impl Performer {
    pub(super) fn read_report(&self, job: ReportJob) {
        let gateway = self.gateway.clone();
        self.spawn(move |work| run(work, gateway.as_deref(), job));
    }
}

fn run(work: &Task, gateway: Option<&Gateway>, job: ReportJob) {
    match job {
        ReportJob::Index(ticket, body) => index(work, &ticket, body),
        ReportJob::Evaluate(Ticket { number, cancel }, report, rules) => {
            if let Ok(marks) = load_rules(work, rules).evaluate(&report, &cancel) {
                let findings: HashSet<_> = marks.notable().map(|(section, row, _)| (section, row)).collect();
                work.send(ReportEvent::Evaluated(number, marks));
                if let Some((gateway, identifier)) = gateway.zip(report.identifier()) {
                    note_findings(gateway, work, &identifier, findings.len());
                }
            }
        }
        ReportJob::EvaluateAll(Ticket { number, cancel }, reports, rules) => {
            if let Ok(mut found) = FindingRow::find_all(&reports, &load_rules(work, rules), &cancel) {
                FindingRow::count_all(&mut found.0, &|values| count_all(gateway, values));
                work.send(ReportEvent::AllEvaluated(number, found));
            }
        }
        ReportJob::Triage(ticket, files, length, rules) => {
            let rules = load_rules(work, rules);
            let triaged = gateway.map(|gateway| triage_all(gateway, work, &ticket, (files, length), &rules));
            if let Some(Err(error)) = triaged {
                work.send(Message::Notice(error.to_string()));
            }
        }
        ReportJob::FindIndicators(Ticket { number, cancel }, sources, rules) => {
            let rules = load_rules(work, rules);
            let what = Part::Indicators;
            // The same data as in exports.
            let result =
                Export { sources: &sources, what, rules: &rules, context: &ExportContext::default(), cancel: &cancel }
                    .merged();
            let result = result.map(|(found, reports)| counted(gateway, found, reports));
            work.send(ReportEvent::Indicators(number, result.map_err(|error| error.to_string())));
        }
        ReportJob::CheckDocument(body, received) => {
            let (found, problems) = document::reports(&body);
            let loaded = |report: FoundReport| (report.identifier, LoadedReport::new(received, report.body, None));
            let reports = found.into_iter().map(loaded).collect();
            let problems = problems.iter().map(|problem| format!("{problem}. ")).collect();
            work.send(ReportEvent::DocumentRead(reports, problems));
        }
        ReportJob::Compare(Ticket { number, cancel }, bodies, rules) => {
            let matrix = Matrix::of(&bodies);
            work.send(ReportEvent::Compared(number, Arc::new(matrix.clone())));
            if let Ok(matrix) = matrix.with_techniques(&load_rules(work, rules), &cancel) {
                work.send(ReportEvent::Compared(number, Arc::new(matrix)));
            }
        }
    }
}

/// Counts indicators among stored files; the rarest come first among those that are alike.
fn counted(gateway: Option<&Gateway>, mut found: Vec<MergedIndicator>, reports: Vec<Report>) -> MergedIndicators {
    let sandbox = |found: &MergedIndicator| reports.get(found.first.report)?.identifier().map(|id| id.parts().sandbox);
    let hashes = |found: &MergedIndicator| found.first.indicator.hashes(&StableBuildHasher);
    let values: Vec<_> = found.iter().map(|found| (sandbox(found).unwrap_or_default(), hashes(found))).collect();
    let counted = values.iter().map(|(_, hashes)| hashes.value).zip(count_all(gateway, &values));
    let counted: HashMap<_, _> = counted.filter(|(_, counted)| counted.of_files > 0).collect();
    if !counted.is_empty() {
        let rarity = |found: &MergedIndicator| counted.get(&hashes(found).value).copied().unwrap_or_default().rarity();
        found.sort_by_cached_key(|found| (found.kind(), !found.is_to_block(), rarity(found)));
    }
    (found, reports, counted)
}

fn load_rules(work: &Task, rules: RulesOrFile) -> Arc<Rules> {
    rules.unwrap_or_else(|own| {
        let (rules, problems) = read_rules(own.as_deref());
        work.send(ReportEvent::RulesLoaded(Arc::clone(&rules), problems));
        rules
    })
}

/// Indexes a report and sends its rows, while more of its bytes may still arrive.
fn index(work: &Task, ticket: &Ticket, mut body: Body) {
    let job = ticket.number;
    let mut indexer = Indexer::default();
    let mut pace = SendPace::default();
    loop {
        let read = usize::try_from(indexer.position()).unwrap_or(usize::MAX);
        body = body.wait_for(read.saturating_add(1)).clone();
        // A larger report is cut at the maximum.
        let more = body.window(read..body::LARGEST);
        if more.is_empty() {
            return work.send(ReportEvent::Indexed(job, indexer.finish()));
        }
        for window in more.chunks(body::WINDOW) {
            indexer.feed(window);
            if ticket.cancel.is_cancelled() {
                return;
            }
            if pace.is_due() {
                work.send(ReportEvent::Indexed(job, indexer.take()));
            }
        }
        if !body.is_whole() {
            work.send(ReportEvent::Indexed(job, indexer.take()));
        }
    }
}

/// Reads the shipped rules and the user's, with the errors in these; a missing file is no error.
pub(crate) fn read_rules(own: Option<&Path>) -> (Arc<Rules>, Vec<String>) {
    let text = own.map(|own| files::read_text(own, MAX_RULES_BYTES));
    match text {
        Some(Ok(text)) => Rules::read(Some(("rules.toml", &text))),
        Some(Err(error)) if error.kind() != ErrorKind::NotFound => {
            let (rules, mut problems) = Rules::read(None);
            problems.push(format!("rules.toml cannot be read: {error}; only the built-in rules are used."));
            (rules, problems)
        }
        _ => Rules::read(None),
    }
}
