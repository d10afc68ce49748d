//! Receives an answer into memory, and finds the rows of a report while it arrives.
//!
//! Rows that are found before the end of the answer are only displayed: an answer counts once its
//! bytes are stored and have been read to their end.

use super::{Gateway, OnProgress};
use crate::report::index::Batch;
use crate::report::{Body, Index, Indexer};
use crate::request::Request;
use crate::service::client::Sink;
use crate::service::error::ServiceError;
use jiff::Timestamp;
use std::ops::Range;
use std::pin::pin;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// Pause between two searches for new rows.
const PACE: Duration = Duration::from_millis(60);

/// Progress of an answer.
#[derive(Debug, Clone)]
pub enum Received {
    /// More bytes of the answer or, during an upload, of the file.
    Bytes {
        /// So far, decompressed.
        bytes: u64,
        total: Option<u64>,
    },
    /// More rows of a report that is still arriving.
    Rows {
        /// The bytes that have arrived.
        body: Body,
        /// The range in which these rows were found; it starts at the end of the previous one.
        read: Range<usize>,
        batch: Batch,
    },
    /// Nothing is sent yet: the limit of requests a minute allows it at this moment.
    NotBefore(Timestamp),
}

impl Gateway {
    /// Sends a request and receives its answer, the index of a report, and a possible defect.
    pub(super) async fn gather(
        &self,
        request: &Request,
        progress: OnProgress<'_>,
        cancel: &CancellationToken,
    ) -> Result<(Body, Option<Index>, Option<&'static str>), ServiceError> {
        let is_report = matches!(request, Request::Behaviour { .. });
        let gatherer = Gatherer { progress, arrived: Mutex::default() };
        let mut sink = &gatherer;
        let mut sending = pin!(self.client.send(request, &mut sink));
        if cancel.is_cancelled() {
            return Err(ServiceError::Unsent);
        }
        let remark = loop {
            tokio::select! {
                biased;
                () = cancel.cancelled() => return Err(ServiceError::GivenUp),
                sent = &mut sending => {
                    self.note_date();
                    break sent?;
                }
                () = tokio::time::sleep(PACE), if is_report => {
                    let body = Body::in_memory(gatherer.arrived().bytes.clone());
                    gatherer.find_rows(&body, Indexer::take);
                }
            }
        };
        let body = Body::in_memory(std::mem::take(&mut gatherer.arrived().bytes));
        if is_report {
            gatherer.find_rows(&body, |indexer| std::mem::take(indexer).finish());
        }
        let index = is_report.then(|| std::mem::take(&mut gatherer.arrived().index));
        Ok((body, index, remark))
    }
}

/// Joins the pieces of an answer, and reports progress.
struct Gatherer<'a> {
    progress: OnProgress<'a>,
    arrived: Mutex<Arrived>,
}

/// What has arrived so far of an answer.
#[derive(Default)]
struct Arrived {
    bytes: Vec<u8>,
    total: Option<u64>,
    /// The progress of an upload matters more than that of its short answer.
    is_upload: bool,
    indexer: Indexer,
    index: Index,
    /// How many bytes were searched for rows.
    read: usize,
}

impl Gatherer<'_> {
    fn arrived(&self) -> MutexGuard<'_, Arrived> {
        self.arrived.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Finds the rows in the new bytes, and reports them.
    fn find_rows(&self, body: &Body, batch: impl FnOnce(&mut Indexer) -> Batch) {
        let mut arrived = self.arrived();
        let read = arrived.read..body.len();
        arrived.indexer.feed(body.window(read.clone()));
        let batch = batch(&mut arrived.indexer);
        arrived.index.absorb(batch.clone());
        arrived.read = read.end;
        (self.progress)(Received::Rows { body: body.clone(), read, batch });
    }
}

impl Sink for &Gatherer<'_> {
    fn begin(&mut self, total: Option<u64>) {
        self.arrived().total = total;
        self.take(&[]);
    }

    fn take(&mut self, piece: &[u8]) {
        let mut arrived = self.arrived();
        arrived.bytes.extend_from_slice(piece);
        if !arrived.is_upload {
            (self.progress)(Received::Bytes { bytes: arrived.bytes.len() as u64, total: arrived.total });
        }
    }

    fn sent(&mut self, bytes: u64, total: u64) {
        self.arrived().is_upload = true;
        (self.progress)(Received::Bytes { bytes, total: Some(total) });
    }
}
