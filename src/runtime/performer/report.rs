//! Reads reports: their rows, their indicators, what the rules make of them, and how they differ.

use super::{PACE, Performer, Work};
use crate::app::Message;
use crate::app::message::Opening;
use crate::app::over::marks::Judged;
use crate::files;
use crate::report::compare::Matrix;
use crate::report::identifier::Sha256;
use crate::report::rules::{Marks, Rules};
use crate::report::{Body, Cancel, Indexer, Indicators, Place, Report, body};
use crate::runtime::notable;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

/// The longest file of rules that is read, in bytes.
const LONGEST_RULES: u64 = 16 << 20;

impl Performer {
    /// Indexes a report's bytes; an earlier one is cancelled.
    pub(super) fn index(&self, opening: Opening, body: Body) {
        let cancel = Self::renew(&self.indexing);
        self.blocking(
            move |work| index(&work, opening, &body, &cancel),
            move |why| Message::Unreadable { opening, why },
        );
    }

    pub(super) fn stop_indexing(&self) {
        Self::renew(&self.indexing);
    }

    /// Applies the rules to a report.
    pub(super) fn judge(&self, opening: Opening, report: Report, rules: Option<Arc<Rules>>, own: Option<PathBuf>) {
        // A report that was left stays open, and nothing asks for this a second time.
        let cancel = self.stopped.clone();
        self.reading(move |work| judge(&work, opening, &report, rules, own.as_deref(), &cancel));
    }

    /// Applies the rules to several reports.
    pub(super) fn judge_held(&self, number: u64, reports: Vec<Judged>, rules: Arc<Rules>) {
        let cancel = self.stopped.clone();
        self.reading(move |work| {
            if let Ok(found) = notable::of(&reports, &rules, &cancel) {
                work.send(Message::JudgedHeld { number, found });
            }
        });
    }

    /// Finds the indicators of a report, and how much each deserves a look: by the judgement of its rows, as exports do.
    pub(super) fn find_indicators(
        &self,
        opening: Opening,
        report: Report,
        sample: Option<Sha256>,
        rules: Option<Arc<Rules>>,
        marks: Option<Arc<Marks>>,
    ) {
        let cancel = self.stopped.clone();
        self.blocking(
            move |work| {
                let judged = match (&rules, marks) {
                    (Some(rules), None) => rules.judge(&report, &cancel).map(|marks| Some(Arc::new(marks))),
                    (_, marks) => Ok(marks),
                };
                let found = judged.map_err(std::io::Error::from).and_then(|marks| {
                    let mark = |place: Place| {
                        let rule = marks.as_ref()?.rule(place.section, place.row)?;
                        rules.as_ref()?.rule(rule).map(|rule| rule.severity)
                    };
                    Indicators::of(&report, &mark, &cancel)
                });
                let result = found.map(|found| found.with_sample(sample.as_ref())).map_err(|error| error.to_string());
                work.send(Message::Indicators { opening, result });
            },
            move |why| Message::Indicators { opening, result: Err(why) },
        );
    }

    pub(super) fn compare(&self, number: u64, bodies: Vec<Option<Body>>) {
        self.blocking(
            move |work| {
                work.send(Message::Compared { number, result: Ok(Arc::new(Matrix::of(&bodies))) });
            },
            move |why| Message::Compared { number, result: Err(why) },
        );
    }

    /// Searches a comparison; an earlier search is cancelled.
    pub(super) fn sift(&self, number: u64, matrix: Arc<Matrix>, sought: String) {
        let cancel = Self::renew(&self.sifting);
        self.reading(move |work| {
            if let Ok(found) = matrix.find(sought.as_bytes(), &cancel) {
                work.send(Message::Sifted { number, sought, found });
            }
        });
    }
}

/// Finds a report's rows, and tells of them as they are found.
fn index(work: &Work, opening: Opening, body: &Body, cancel: &Cancel) {
    if body.len() > body::LARGEST {
        let why = format!("it is larger than {}", crate::text::bytes(body::LARGEST as u64));
        return work.send(Message::Unreadable { opening, why });
    }
    let (mut indexer, mut told) = (Indexer::default(), None::<Instant>);
    for window in body.chunks(body::WINDOW) {
        indexer.feed(window);
        if cancel.is_cancelled() {
            return;
        }
        // The first rows at once, the others at a pace that leaves the loop free.
        if told.is_none_or(|told| told.elapsed() >= PACE) {
            told = Some(Instant::now());
            work.send(Message::Indexed { opening, batch: indexer.take() });
        }
    }
    work.send(Message::Indexed { opening, batch: indexer.finish() });
}

/// Applies the rules to a report, after reading them where that has not been done.
fn judge(
    work: &Work,
    opening: Opening,
    report: &Report,
    rules: Option<Arc<Rules>>,
    own: Option<&Path>,
    cancel: &Cancel,
) {
    let rules = rules.unwrap_or_else(|| {
        let (rules, problems) = read_rules(own);
        let rules = Arc::new(rules);
        work.send(Message::Ruled { rules: Arc::clone(&rules), problems });
        rules
    });
    if let Ok(marks) = rules.judge(report, cancel) {
        work.send(Message::Judged { opening, marks });
    }
}

/// The rules that are shipped and the user's own, with what is wrong with those; a file that is not there says nothing.
pub(crate) fn read_rules(own: Option<&Path>) -> (Rules, Vec<String>) {
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
