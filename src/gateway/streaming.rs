//! Receives a response into memory, and hands over the bytes of a report while they arrive.
//!
//! Bytes before the end are only displayed: a response counts once it is stored and read whole.

use super::{Gateway, OnProgress};
use crate::report::Body;
use crate::report::body::{BodyFiller, LARGE};
use crate::request::Request;
use crate::service::client::Sink;
use crate::service::error::ServiceError;
use jiff::Timestamp;
use std::pin::pin;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

const PROGRESS_INTERVAL: Duration = Duration::from_millis(60);

/// Progress of a response.
#[derive(Debug, Clone)]
pub enum Received {
    /// More bytes of the response or, during an upload, of the file.
    Bytes {
        /// So far, decompressed.
        bytes: u64,
        total: Option<u64>,
    },
    /// A report whose first bytes have arrived; the others follow in this body.
    Begun(Body),
    /// Nothing is sent yet: the limit of requests a minute allows it at this moment.
    NotBefore(Timestamp),
    /// A message about the team store, for the user.
    Notice(String),
}

impl Gateway {
    /// Sends a request and receives its response.
    pub(super) async fn gather(
        &self,
        request: &Request,
        progress: OnProgress<'_>,
        cancel: &CancellationToken,
    ) -> Result<Body, ServiceError> {
        let gatherer = Gatherer { gateway: self, progress, arrived: Mutex::default() };
        let mut sink = &gatherer;
        let mut sending = pin!(self.client.send(request, &mut sink));
        if cancel.is_cancelled() {
            return Err(ServiceError::Unsent);
        }
        loop {
            tokio::select! {
                biased;
                () = cancel.cancelled() => return Err(ServiceError::Cancelled),
                sent = &mut sending => {
                    sent?;
                    break;
                }
                () = tokio::time::sleep(PROGRESS_INTERVAL) => {
                    gatherer.report();
                    if matches!(request, Request::Behaviour { .. }) {
                        gatherer.show();
                    }
                }
            }
        }
        gatherer.report();
        let Arrived { bytes, rest, .. } = std::mem::take(&mut *gatherer.arrived());
        Ok(match rest {
            Some(rest) => rest.finish(bytes),
            None => Body::in_memory(bytes),
        })
    }
}

/// Joins the chunks of a response, and reports progress.
struct Gatherer<'a> {
    gateway: &'a Gateway,
    progress: OnProgress<'a>,
    arrived: Mutex<Arrived>,
}

#[derive(Default)]
struct Arrived {
    bytes: Vec<u8>,
    total: Option<u64>,
    /// Sent bytes of an upload and its length, more telling than its short response.
    sent: Option<(u64, u64)>,
    /// The progress that was reported last.
    reported: (u64, Option<u64>),
    /// How many bytes were handed over, and the body that takes the others.
    shown: usize,
    rest: Option<BodyFiller>,
}

impl Gatherer<'_> {
    fn arrived(&self) -> MutexGuard<'_, Arrived> {
        self.arrived.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn report(&self) {
        let mut arrived = self.arrived();
        let sent = arrived.sent.map(|(bytes, total)| (bytes, Some(total)));
        let now = sent.unwrap_or((arrived.bytes.len() as u64, arrived.total));
        if std::mem::replace(&mut arrived.reported, now) != now {
            (self.progress)(Received::Bytes { bytes: now.0, total: now.1 });
        }
    }

    /// Hands over a copy of all received bytes; large reports have to grow by an eighth first.
    fn show(&self) {
        let mut arrived = self.arrived();
        let Arrived { bytes, shown, rest, .. } = &mut *arrived;
        if bytes.len() - *shown <= shown.saturating_sub(LARGE as usize) / 8 {
            return;
        }
        *shown = bytes.len();
        match rest {
            Some(rest) => rest.grow(bytes.clone()),
            None => {
                let (body, begun) = Body::begun(bytes.clone());
                *rest = Some(begun);
                (self.progress)(Received::Begun(body));
            }
        }
    }
}

impl Sink for &Gatherer<'_> {
    fn note_date(&mut self, date: Timestamp) {
        self.gateway.note_date(date);
    }

    fn begin(&mut self, total: Option<u64>) {
        self.arrived().total = total;
        self.report();
    }

    fn take(&mut self, chunk: &[u8]) {
        self.arrived().bytes.extend_from_slice(chunk);
    }

    fn sent(&mut self, bytes: u64, total: u64) {
        self.arrived().sent = Some((bytes, total));
        self.report();
    }
}
