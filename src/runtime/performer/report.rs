//! Reads reports: their rows, their indicators, what the rules make of them, and how they differ.

use super::{PACE, Performer, Work, words};
use crate::app::Message;
use crate::app::message::Opening;
use crate::app::over::marks::Judged;
use crate::files;
use crate::report::compare::Matrix;
use crate::report::identifier::Sha256;
use crate::report::index::Batch;
use crate::report::rules::{Marks, Rules};
use crate::report::{Body, Index, Indexer, Indicators, Place, Report};
use crate::runtime::notable;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

/// The longest file of rules that is read, in bytes.
const LONGEST_RULES: u64 = 16 << 20;

impl Performer {
    /// Indexes a report's bytes; an earlier one need not be gone on with.
    pub(super) fn index(&self, opening: Opening, body: Body) {
        self.opened.store(opening.0, Ordering::SeqCst);
        self.let_go();
        let is_wanted = self.is_wanted(opening);
        self.blocking(
            move |work| open(&work, opening, &body, is_wanted),
            move |why| Message::Unreadable { opening, why },
        );
    }

    /// Shows a report by its index, which is to be checked later.
    pub(super) fn show(&self, opening: Opening, index: Index) {
        self.opened.store(opening.0, Ordering::SeqCst);
        self.work().send(Message::Indexed { opening, batch: index.into() });
    }

    /// Checks the index that a report is shown by; where it is damaged it is made again.
    pub(super) fn check(&self, opening: Opening, body: Body, index: Index) {
        let is_wanted = self.is_wanted(opening);
        self.blocking(
            move |work| check(&work, opening, &body, &index, is_wanted),
            move |why| Message::Unreadable { opening, why },
        );
    }

    pub(super) fn stop_indexing(&self) {
        self.opened.store(0, Ordering::SeqCst);
        self.let_go();
    }

    /// Applies the rules to a report.
    pub(super) fn judge(&self, opening: Opening, report: Report, rules: Option<Arc<Rules>>, own: Option<PathBuf>) {
        // A report that was left stays open, and nobody asks for this a second time.
        let is_wanted = self.goes_on_aside();
        self.reading(move |work| judge(&work, opening, &report, rules, own.as_deref(), is_wanted));
    }

    /// Applies the rules to several reports.
    pub(super) fn judge_held(&self, number: u64, reports: Vec<Judged>, rules: Arc<Rules>) {
        let is_wanted = self.goes_on_aside();
        self.reading(move |work| {
            let (found, unread) = notable::of(&reports, &rules, &is_wanted);
            work.send(Message::JudgedHeld { number, found, unread });
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
        let is_wanted = self.goes_on();
        self.blocking(
            move |work| {
                let judged = match (&rules, marks) {
                    (Some(rules), None) => rules.judge(&report, &is_wanted).map(|marks| Some(Arc::new(marks))),
                    (_, marks) => Ok(marks),
                };
                let found = judged.and_then(|marks| {
                    let mark = |place: Place| {
                        let rule = marks.as_ref()?.rule(place.section, place.row)?;
                        rules.as_ref()?.rule(rule).map(|rule| rule.severity)
                    };
                    Indicators::of(&report, &mark, &is_wanted)
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
                let (matrix, unreadable) = Matrix::of_readable(&bodies);
                let unreadable = unreadable.into_iter().map(|(column, _)| column).collect();
                work.send(Message::Compared { number, result: Ok((Arc::new(matrix), unreadable)) });
            },
            move |why| Message::Compared { number, result: Err(why) },
        );
    }

    /// Looks through a comparison; a later search makes an earlier one stop.
    pub(super) fn sift(&self, number: u64, matrix: Arc<Matrix>, sought: String) {
        let (searches, this) = (Arc::clone(&self.searches), self.searches.fetch_add(1, Ordering::SeqCst) + 1);
        self.reading(move |work| {
            let is_latest = || searches.load(Ordering::SeqCst) == this;
            match matrix.find(sought.as_bytes(), &is_latest) {
                Ok(found) => work.send(Message::Sifted { number, sought, found }),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => work.send(Message::Notice(format!("What was compared cannot be read: {error}"))),
            }
        });
    }

    /// Whether this opening is the one that is looked at.
    fn is_wanted(&self, opening: Opening) -> impl Fn() -> bool + Send + 'static {
        let opened = Arc::clone(&self.opened);
        move || opened.load(Ordering::SeqCst) == opening.0
    }
}

/// Finds a report's rows: by the index that is kept of it, or by reading it.
fn open(work: &Work, opening: Opening, body: &Body, is_wanted: impl Fn() -> bool) {
    if body.len() > crate::report::body::LARGEST {
        let why = format!("it is larger than {}", crate::text::bytes(crate::report::body::LARGEST));
        return work.send(Message::Unreadable { opening, why });
    }
    if let Some(index) = Index::kept(body) {
        work.send(Message::Indexed { opening, batch: index.clone().into() });
        return check(work, opening, body, &index, is_wanted);
    }
    read(work, opening, body, is_wanted);
}

/// Checks an index that a report is shown by; where it is damaged it is made again.
fn check(work: &Work, opening: Opening, body: &Body, index: &Index, is_wanted: impl Fn() -> bool) {
    // The screen comes first: what it shows is checked as it is read, and the rest can wait.
    std::thread::sleep(PACE);
    if index.verify().is_err() {
        work.send(Message::IndexLost { opening });
        read(work, opening, body, is_wanted);
    }
}

/// Finds a report's rows by reading it, and keeps the index that comes of it.
fn read(work: &Work, opening: Opening, body: &Body, is_wanted: impl Fn() -> bool) {
    match index(work, opening, body, is_wanted) {
        // One that cannot be kept is made again when it is wanted.
        Ok(found) => found.into_iter().for_each(|index| drop(index.keep(body))),
        Err(error) => work.send(Message::Unreadable { opening, why: words(&error) }),
    }
}

/// Reads a report, and tells of its rows as they are found; gives back its index, if that can be kept.
fn index(work: &Work, opening: Opening, body: &Body, is_wanted: impl Fn() -> bool) -> std::io::Result<Option<Index>> {
    let (mut indexer, mut told) = (Indexer::default(), None::<Instant>);
    let mut whole = body.keeps_index().then(Index::default);
    let mut tell = |batch: Batch| {
        whole.iter_mut().for_each(|index| index.absorb(batch.clone()));
        work.send(Message::Indexed { opening, batch });
    };
    let mut windows = body.windows();
    while let Some(window) = windows.read()? {
        indexer.feed(window);
        if !is_wanted() {
            return Ok(None);
        }
        // The first rows at once, the others at a pace that leaves the loop free.
        if told.is_none_or(|told| told.elapsed() >= PACE) {
            told = Some(Instant::now());
            tell(indexer.take());
        }
    }
    tell(indexer.finish());
    Ok(whole)
}

/// Applies the rules to a report, after reading them where that has not been done, and finds what folding its tree hides.
fn judge(
    work: &Work,
    opening: Opening,
    report: &Report,
    rules: Option<Arc<Rules>>,
    own: Option<&Path>,
    is_wanted: impl Fn() -> bool,
) {
    report.tree().into_iter().for_each(|(_, tree)| tree.depths().look_ahead());
    let rules = rules.unwrap_or_else(|| {
        let (rules, problems) = read_rules(own);
        let rules = Arc::new(rules);
        work.send(Message::Ruled { rules: Arc::clone(&rules), problems });
        rules
    });
    // A report that cannot be read has been said to be so.
    if let Ok(marks) = rules.judge(report, &is_wanted) {
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
