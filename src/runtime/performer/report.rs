//! Reads reports: their rows, their indicators, what the rules make of them, and how they differ.

use super::{Performer, SendPace, Work, renew};
use crate::app::message::Opening;
use crate::app::over::spots::NotableRow;
use crate::app::{ReportEvent, ReportJob};
use crate::files;
use crate::report::compare::Matrix;
use crate::report::rules::{Marks, Rules};
use crate::report::{Body, Cancel, Indexer, Indicators, Place, Report, body};
use crate::text::bytes;
use std::io::ErrorKind;
use std::path::Path;
use std::sync::Arc;

/// The longest file of rules that is read, in bytes.
const LONGEST_RULES: u64 = 16 << 20;

impl Performer {
    pub(super) fn read_report(&mut self, job: ReportJob) {
        let cancel = match job {
            // A newer report takes the place of one that is being read.
            ReportJob::Index { .. } | ReportJob::StopIndexing => renew(&mut self.indexing),
            // A report that was left stays open, and nothing asks for this a second time.
            _ => self.stopped.clone(),
        };
        self.spawn(move |work| run(work, job, &cancel));
    }
}

fn run(work: &Work, job: ReportJob, cancel: &Cancel) {
    match job {
        ReportJob::Index { opening, body } => index(work, opening, &body, cancel),
        ReportJob::StopIndexing => {}
        ReportJob::Evaluate { opening, report, rules, own } => {
            evaluate(work, opening, &report, rules, own.as_deref(), cancel);
        }
        ReportJob::EvaluateAll { number, reports, rules } => {
            if let Ok(found) = NotableRow::find_all(&reports, &rules, cancel) {
                work.send(ReportEvent::AllEvaluated { number, found });
            }
        }
        ReportJob::FindIndicators { opening, report, sample, rules, marks } => {
            let found = find_indicators(&report, rules.as_deref(), marks, cancel);
            let result = found.map(|found| found.with_sample(sample.as_ref())).map_err(|error| error.to_string());
            work.send(ReportEvent::Indicators { opening, result });
        }
        ReportJob::Compare { number, bodies } => {
            work.send(ReportEvent::Compared { number, result: Ok(Arc::new(Matrix::of(&bodies))) });
        }
    }
}

/// Finds the indicators of a report, with the severity of their rows, as exports do.
fn find_indicators(
    report: &Report,
    rules: Option<&Rules>,
    marks: Option<Arc<Marks>>,
    cancel: &Cancel,
) -> std::io::Result<Indicators> {
    let marks = match (rules, marks) {
        (Some(rules), None) => Some(Arc::new(rules.judge(report, cancel)?)),
        (_, marks) => marks,
    };
    let mark = |place: Place| {
        let rule = marks.as_ref()?.rule(place.section, place.row)?;
        rules?.rule(rule).map(|rule| rule.severity)
    };
    Indicators::of(report, &mark, cancel)
}

/// Finds a report's rows, and sends them as they are found.
fn index(work: &Work, opening: Opening, body: &Body, cancel: &Cancel) {
    if body.len() > body::LARGEST {
        let why = format!("it is larger than {}", bytes(body::LARGEST as u64));
        return work.send(ReportEvent::Unreadable { opening, why });
    }
    let (mut indexer, mut pace) = (Indexer::default(), SendPace::default());
    for window in body.chunks(body::WINDOW) {
        indexer.feed(window);
        if cancel.is_cancelled() {
            return;
        }
        if pace.is_due() {
            work.send(ReportEvent::Indexed { opening, batch: indexer.take() });
        }
    }
    work.send(ReportEvent::Indexed { opening, batch: indexer.finish() });
}

/// Applies the rules to a report, after reading them where that has not been done.
fn evaluate(
    work: &Work,
    opening: Opening,
    report: &Report,
    rules: Option<Arc<Rules>>,
    own: Option<&Path>,
    cancel: &Cancel,
) {
    let rules = rules.unwrap_or_else(|| {
        let (rules, problems) = read_rules(own);
        work.send(ReportEvent::RulesLoaded { rules: Arc::clone(&rules), problems });
        rules
    });
    if let Ok(marks) = rules.judge(report, cancel) {
        work.send(ReportEvent::Evaluated { opening, marks });
    }
}

/// The shipped rules and the user's own, with the mistakes in those; a missing file is no mistake.
pub(crate) fn read_rules(own: Option<&Path>) -> (Arc<Rules>, Vec<String>) {
    let text = own.map(|own| files::read_text(own, LONGEST_RULES));
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
