//! Calls in flight, and the reports of a file that wait to be opened after them.

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
    pub(in crate::app) fn upload_after(&mut self, request: &Request, file: &Arc<Submission>) {
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
