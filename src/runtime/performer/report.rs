//! Jobs on reports: indexing, indicators, rules and comparison.

use super::{Performer, SendPace, Task};
use crate::app::overlays::FindingRow;
use crate::app::{LoadedReport, ReportEvent, ReportJob, RulesOrFile, Ticket};
use crate::export::{Export, Part};
use crate::files;
use crate::report::compare::Matrix;
use crate::report::document::{self, FoundReport};
use crate::report::rules::Rules;
use crate::report::{Body, Indexer, body};
use std::io::ErrorKind;
use std::path::Path;
use std::sync::Arc;

/// The maximum size of a rules file in bytes.
const MAX_RULES_BYTES: u64 = 16 << 20;

impl Performer {
    pub(super) fn read_report(&self, job: ReportJob) {
        self.spawn(move |work| run(work, job));
    }
}

fn run(work: &Task, job: ReportJob) {
    match job {
        ReportJob::Index(ticket, body) => index(work, &ticket, body),
        ReportJob::Evaluate(Ticket { number: job, cancel }, report, rules) => {
            if let Ok(marks) = loaded(work, rules).evaluate(&report, &cancel) {
                work.send(ReportEvent::Evaluated(job, marks));
            }
        }
        ReportJob::EvaluateAll(Ticket { number: job, cancel }, reports, rules) => {
            if let Ok(found) = FindingRow::find_all(&reports, &loaded(work, rules), &cancel) {
                work.send(ReportEvent::AllEvaluated(job, found));
            }
        }
        ReportJob::FindIndicators(Ticket { number: job, cancel }, sources, rules) => {
            let (rules, what) = (loaded(work, rules), Part::Indicators);
            // The same data as in exports.
            let result = Export { sources: &sources, what, rules: &rules, paid: &[], cancel: &cancel }.merged();
            work.send(ReportEvent::Indicators(job, result.map_err(|error| error.to_string())));
        }
        ReportJob::CheckDocument(body, received) => {
            let (found, problems) = document::reports(&body);
            let loaded = |report: FoundReport| (report.identifier, LoadedReport::new(received, report.body, None));
            let reports = found.into_iter().map(loaded).collect();
            let problems = problems.iter().map(|problem| format!("{problem}. ")).collect();
            work.send(ReportEvent::DocumentRead(reports, problems));
        }
        ReportJob::Compare(Ticket { number: job, cancel }, bodies, rules) => {
            let matrix = Matrix::of(&bodies);
            work.send(ReportEvent::Compared(job, Arc::new(matrix.clone())));
            if let Ok(matrix) = matrix.with_techniques(&loaded(work, rules), &cancel) {
                work.send(ReportEvent::Compared(job, Arc::new(matrix)));
            }
        }
    }
}

/// The rules, read unless they are loaded.
fn loaded(work: &Task, rules: RulesOrFile) -> Arc<Rules> {
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

/// The shipped rules and the user's own, with the errors in the user's; a missing file is not an error.
pub(crate) fn read_rules(own: Option<&Path>) -> (Arc<Rules>, Vec<String>) {
    let text = own.map(|own| files::read_text(own, MAX_RULES_BYTES));
    match text {
        Some(Ok(text)) => Rules::read(Some(("rules.toml", &text))),
        Some(Err(error)) if error.kind() != ErrorKind::NotFound => {
            let (rules, mut problems) = Rules::read(None);
            problems.push(format!("rules.toml cannot be read: {error}; the rules that are shipped work."));
            (rules, problems)
        }
        _ => Rules::read(None),
    }
}
