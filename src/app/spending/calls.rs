//! Calls in flight, and the queued reports of a file.

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
    /// The announced length in bytes, if any.
    pub total: Option<u64>,
    pub(crate) is_paid: bool,
    /// The confirmed file for the upload address that this call requests.
    pub(crate) uploads: Option<Arc<Submission>>,
}

impl InFlightCall {
    pub(crate) fn sends(&self, file: &Submission) -> bool {
        match &self.request {
            Request::PrivateScan { submission, .. } => **submission == *file,
            _ => self.uploads.as_deref() == Some(file),
        }
    }
}

/// The calls in flight, in order of sending, and the queued reports.
#[derive(Debug, Default)]
pub struct Calls {
    in_flight: Vec<InFlightCall>,
    batch: Option<OpenAllBatch>,
}

impl Calls {
    pub fn iter(&self) -> impl Iterator<Item = &InFlightCall> {
        self.in_flight.iter()
    }

    pub fn len(&self) -> usize {
        self.in_flight.len()
    }

    pub fn is_empty(&self) -> bool {
        self.in_flight.is_empty()
    }

    pub fn of_request(&self, request: &Request) -> Option<&InFlightCall> {
        self.iter().find(|call| call.request == *request)
    }

    /// Returns the call that lists the sandboxes of a file.
    pub fn listing(&self, file: Option<&Sha256>) -> Option<&InFlightCall> {
        self.iter().find(|call| matches!(&call.request, Request::Behaviours { file: of, .. } if Some(of) == file))
    }

    pub fn has(&self, request: &Request) -> bool {
        self.of_request(request).is_some()
    }

    /// Returns whether a paid response is pending: the program does not end before it is stored.
    pub(crate) fn awaits_paid(&self) -> bool {
        self.paid().next().is_some()
    }

    /// Returns the calls in flight that may cost something.
    pub fn paid(&self) -> impl Iterator<Item = &InFlightCall> {
        self.iter().filter(|call| call.is_paid)
    }

    pub(crate) fn begin(&mut self, request: Request, is_paid: bool, since: Timestamp) {
        self.in_flight.push(InFlightCall { request, since, bytes: 0, total: None, is_paid, uploads: None });
    }

    /// Attaches a file to the call that requests its upload address.
    pub(crate) fn upload_after(&mut self, request: &Request, file: &Arc<Submission>) {
        for call in self.in_flight.iter_mut().filter(|call| call.request == *request) {
            call.uploads = Some(Arc::clone(file));
        }
    }

    pub(crate) fn receive(&mut self, request: &Request, bytes: u64, total: Option<u64>) {
        for call in self.in_flight.iter_mut().filter(|call| call.request == *request) {
            (call.bytes, call.total) = (bytes, total.or(call.total));
        }
    }

    pub(crate) fn end(&mut self, request: &Request) -> Option<InFlightCall> {
        let at = self.in_flight.iter().position(|call| call.request == *request)?;
        Some(self.in_flight.remove(at))
    }
}

/// The reports of a file that are opened in sequence.
#[derive(Debug)]
pub struct OpenAllBatch {
    pub(crate) file: Option<Sha256>,
    waiting: VecDeque<Request>,
    pub total: usize,
}

impl OpenAllBatch {
    /// Returns the number of reports that were requested.
    pub fn sent(&self) -> usize {
        self.total - self.waiting.len()
    }
}

impl Calls {
    pub fn batch(&self) -> Option<&OpenAllBatch> {
        self.batch.as_ref()
    }

    pub(super) fn begin_batch(&mut self, file: Option<Sha256>, reports: Vec<Request>) {
        let waiting = VecDeque::from(reports);
        self.batch = Some(OpenAllBatch { file, total: waiting.len(), waiting });
    }

    pub(super) fn end_batch(&mut self) -> Option<OpenAllBatch> {
        self.batch.take()
    }

    pub(super) fn next_in_batch(&mut self) -> Option<Request> {
        self.batch.as_mut()?.waiting.pop_front()
    }
}
