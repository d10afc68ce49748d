//! Calls in flight, and opening all sandboxes of a file: the total is shown first, the calls go one after another, and
//! the first failure stops them.

use crate::app::spending::{Consent, KeyedAnswer};
use crate::app::{Model, ResponseSource};
use crate::quota::{Kind, Numbers, Operation, Plan};
use crate::report::identifier::Sha256;
use crate::request::{Request, Submission};
use jiff::Timestamp;
use std::collections::VecDeque;
use std::sync::Arc;

#[derive(Debug, Clone)]
pub struct InFlightCall {
    pub request: Request,
    pub since: Timestamp,
    pub bytes: u64,
    /// Bytes in all, where they were announced.
    pub total: Option<u64>,
    pub is_paid: bool,
    /// The file that was agreed to be uploaded to the address that it asks for.
    pub uploads: Option<Arc<Submission>>,
}

impl InFlightCall {
    pub fn sends(&self, file: &Submission) -> bool {
        match &self.request {
            Request::PrivateScan { submission, .. } => **submission == *file,
            _ => self.uploads.as_deref() == Some(file),
        }
    }
}

/// All of them, in the order in which they were asked.
#[derive(Debug, Default)]
pub struct Calls(Vec<InFlightCall>);

impl Calls {
    pub fn iter(&self) -> impl Iterator<Item = &InFlightCall> {
        self.0.iter()
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn asking(&self, request: &Request) -> Option<&InFlightCall> {
        self.iter().find(|call| call.request == *request)
    }

    pub fn has(&self, request: &Request) -> bool {
        self.asking(request).is_some()
    }

    /// Whether a paid answer is still to come: the program does not end before it is kept.
    pub fn awaits_paid(&self) -> bool {
        self.paid().next().is_some()
    }

    pub fn paid(&self) -> impl Iterator<Item = &InFlightCall> {
        self.iter().filter(|call| call.is_paid)
    }

    pub(in crate::app) fn begin(&mut self, request: Request, is_paid: bool, since: Timestamp) {
        self.0.push(InFlightCall { request, since, bytes: 0, total: None, is_paid, uploads: None });
    }

    /// Keeps with a call the file that goes to the address it asks for.
    pub(super) fn upload_after(&mut self, request: &Request, file: &Arc<Submission>) {
        for call in self.0.iter_mut().filter(|call| call.request == *request) {
            call.uploads = Some(Arc::clone(file));
        }
    }

    pub(in crate::app) fn receive(&mut self, request: &Request, bytes: u64, total: Option<u64>) {
        for call in self.0.iter_mut().filter(|call| call.request == *request) {
            (call.bytes, call.total) = (bytes, total.or(call.total));
        }
    }

    pub(in crate::app) fn end(&mut self, request: &Request) -> Option<InFlightCall> {
        let at = self.0.iter().position(|call| call.request == *request)?;
        Some(self.0.remove(at))
    }
}

#[derive(Debug)]
pub struct OpenAllBatch {
    pub(in crate::app) file: Option<Sha256>,
    pub waiting: VecDeque<Request>,
    pub total: usize,
}

impl Model {
    /// The reports of the list that are neither stored nor in flight.
    pub fn missing_reports(&self) -> Vec<Request> {
        let missing = self.list().into_iter().flat_map(|list| &list.entries).filter(|entry| entry.report().is_none());
        let requests = missing.filter_map(|entry| Some(Request::Behaviour { identifier: entry.identifier.clone()? }));
        requests.filter(|request| !self.calls.has(request)).collect()
    }

    pub fn missing_price(&self) -> Plan {
        self.price_of(&self.missing_reports())
    }

    pub(super) fn price_of(&self, reports: &[Request]) -> Plan {
        let numbers = Numbers { calls: reports.len() as u64, ..Numbers::default() };
        self.plan([Operation { kind: Kind::PrivateBehaviour, numbers }])
    }

    pub(in crate::app) fn open_missing(&mut self) {
        let missing = self.missing_reports();
        let price = self.price_of(&missing);
        let only = self.too_little_left(&price);
        if only.is_some() || self.is_dear(price.worst()) {
            let only = only.map(|only| format!(", and {only}: what comes after those fails")).unwrap_or_default();
            let why = format!("Opening all costs {price}{only}.");
            return self.ask_first(why, KeyedAnswer::yes("yes, open all", Consent::OpenAll(missing)));
        }
        self.open_each(missing)
    }

    /// Begins to open these reports, whatever the list has got meanwhile.
    pub(super) fn open_each(&mut self, reports: Vec<Request>) {
        let waiting = VecDeque::from(reports);
        let file = self.file().cloned();
        self.batch = Some(OpenAllBatch { file, total: waiting.len(), waiting });
        self.next_in_batch()
    }

    /// Stops before the next call; one in flight ends normally.
    pub(in crate::app) fn stop_batch(&mut self, why: &str) {
        if let Some(batch) = self.batch.take() {
            let asked = batch.total - batch.waiting.len();
            self.warn(format!("{why} {asked} of {} were asked for, nothing further is sent.", batch.total));
        }
    }

    /// Sends the next request of the batch once the last one is answered and nothing makes it wait.
    pub(in crate::app) fn next_in_batch(&mut self) {
        let has_to_wait = self.calls.awaits_paid() || self.figures.waits(self.now).is_some();
        let Some(batch) = self.batch.as_mut().filter(|batch| !has_to_wait || batch.waiting.is_empty()) else { return };
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
        if !self.ask_agreed(request, ResponseSource::StoredOrService) && !self.calls.awaits_paid() {
            // Refused before it was sent, with its reason on the screen.
            self.batch = None;
        }
    }
}
