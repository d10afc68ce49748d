//! Opening all sandboxes of a file: the total is shown first, the calls go one after another at the pace of the minute limit,
//! and the first failure stops them.

use crate::app::spending::{Consent, KeyedAnswer, Questions, Together};
use crate::app::{List, Model, ResponseSource};
use crate::quota::{Kind, Numbers, Operation, Period, Plan, Unit};
use crate::report::identifier::Sha256;
use crate::request::Request;
use jiff::SignedDuration;
use std::collections::VecDeque;

#[derive(Debug)]
pub struct OpenAllBatch {
    /// The file whose reports are opened.
    pub(in crate::app) file: Option<Sha256>,
    pub waiting: VecDeque<Request>,
    pub total: usize,
    /// When the next may be asked, in time that has passed: the clock may be set back meanwhile.
    not_before: SignedDuration,
}

impl Model {
    /// The reports of the list that are not stored.
    pub fn missing_reports(&self) -> Questions {
        let Some(list) = self.list() else { return Questions::default() };
        let asked = self.calls.iter().map(|call| &call.request).filter(|request| is_missing(list, request));
        Questions::without(list.missing(), asked.cloned().collect())
    }

    /// What all the missing reports would cost together.
    pub fn missing_price(&self) -> Together {
        self.price_of(&self.missing_reports())
    }

    /// The price of many reports, computed at once: each frame shows it.
    pub(super) fn price_of(&self, reports: &Questions) -> Together {
        let numbers = Numbers { calls: reports.len() as u64, ..Numbers::default() };
        let operation = Operation::with(Kind::PrivateBehaviour, numbers);
        let plan = if reports.is_empty() { Plan::new() } else { Plan::of(operation, &self.figures.entitlements) };
        Together { plan, is_at_most: false }
    }

    /// Starts to open every report that is not stored, after confirmation where needed.
    pub(in crate::app) fn open_missing(&mut self) {
        let missing = self.missing_reports();
        let price = self.price_of(&missing);
        let only = self.too_little_left(&price);
        if only.is_some() || self.is_dear(price.worst()) {
            let only = only.map(|only| format!(", and {only}: what comes after those fails")).unwrap_or_default();
            let why = format!("Opening all costs {price}{only}.");
            return self.ask_first(why, KeyedAnswer::yes("yes, open all", Consent::OpenAll(missing)));
        }
        self.open_each(&missing)
    }

    /// Begins to open these reports, whatever the list has got meanwhile.
    pub(super) fn open_each(&mut self, reports: &Questions) {
        let waiting: VecDeque<_> = reports.iter().cloned().collect();
        let file = self.file().cloned();
        self.batch = Some(OpenAllBatch { file, total: waiting.len(), waiting, not_before: self.passed });
        self.next_in_batch()
    }

    /// Stops before the next call; one in flight ends normally.
    pub(in crate::app) fn stop_batch(&mut self, why: &str) {
        if let Some(batch) = self.batch.take() {
            let asked = batch.total - batch.waiting.len();
            self.warn(format!("{why} {asked} of {} were asked for, nothing further is sent.", batch.total));
        }
    }

    /// Asks the next question of the batch, if it is time and the last one is answered.
    pub(in crate::app) fn next_in_batch(&mut self) {
        let is_free = !self.calls.awaits_paid();
        let (pace, passed) = (self.pace(), self.passed);
        let next = self.batch.as_ref().and_then(|batch| batch.waiting.front());
        if next.is_some_and(|next| self.awaits_minute(next)) {
            return;
        }
        let Some(batch) = self.batch.as_mut().filter(|batch| is_free && batch.not_before <= passed) else {
            return;
        };
        let Some(request) = batch.waiting.pop_front() else {
            let total = batch.total;
            self.batch = None;
            self.say(if total == 1 {
                "The report is here.".to_owned()
            } else {
                format!("All {total} reports are here.")
            });
            return;
        };
        batch.not_before = passed.saturating_add(pace);
        if !self.ask_agreed(request, ResponseSource::HeldOrService) && !self.calls.awaits_paid() {
            // Refused before it was sent, with its reason on the screen.
            self.batch = None;
        }
    }

    /// The time between two calls that keeps within the minute limit, where there is one.
    fn pace(&self) -> SignedDuration {
        let limits = self.figures.balances.iter().flat_map(|balances| balances.limits(Unit::Request));
        let least = limits.filter(|limit| limit.period == Period::Minute).map(|limit| limit.allowed).min();
        let milliseconds = least.filter(|allowed| *allowed > 0).map_or(0, |allowed| 60_000 / allowed);
        SignedDuration::from_millis(i64::try_from(milliseconds).unwrap_or(0))
    }
}

/// Whether a question is for a report of the list that is not here.
fn is_missing(list: &List, request: &Request) -> bool {
    let Request::Behaviour { identifier } = request else { return false };
    let place = list.place_of(identifier);
    place.and_then(|place| list.entries().get(place)).is_some_and(|entry| entry.here().is_none())
}
