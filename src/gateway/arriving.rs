//! Receives an answer into memory, and finds the rows of a report while it arrives.
//!
//! Rows that are found before the end of the answer are only displayed: an answer counts once its
//! bytes are stored and have been read to their end.

use super::flight::GivenUp;
use super::{Gateway, OnProgress};
use crate::report::index::Batch;
use crate::report::{Body, Index, Indexer};
use crate::request::Request;
use crate::service::client::Sink;
use crate::service::error::ServiceError;
use jiff::Timestamp;
use std::ops::Range;
use std::pin::pin;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::JoinHandle;

/// Minimum time between two notifications of new rows.
const PACE: Duration = Duration::from_millis(60);

/// Minimum pause after each step of the reader, as a multiple of the step's duration.
const SHARE: u32 = 10;

const NOTHING_NEW: Duration = Duration::from_secs(3600);

/// Progress of an answer.
#[derive(Debug, Clone)]
pub enum Received {
    /// More bytes of the answer or, during an upload, of the file.
    Bytes {
        /// Number of bytes so far, decompressed.
        bytes: u64,
        /// Total number of bytes, if known.
        total: Option<u64>,
    },
    /// More rows of a report.
    Rows(Rows),
    /// Nothing is sent yet: the limit of requests a minute allows it at this moment.
    NotBefore(Timestamp),
}

/// Rows of a report that is still arriving.
#[derive(Debug, Clone)]
pub struct Rows {
    /// The bytes of the report that have arrived.
    pub body: Body,
    /// The range of the body in which these rows were found; it starts at the end of the previous
    /// one.
    pub read: Range<usize>,
    pub batch: Batch,
}

/// A complete answer.
pub(super) struct GatheredAnswer {
    pub(super) body: Body,
    /// Index of a report's rows.
    pub(super) index: Option<Index>,
    /// A possible defect, in words that follow the name of the answer.
    pub(super) remark: Option<&'static str>,
}

impl Gateway {
    /// Sends a request and receives its answer.
    pub(super) async fn gather(
        &self,
        request: &Request,
        progress: OnProgress<'_>,
        given_up: &GivenUp,
    ) -> Result<GatheredAnswer, ServiceError> {
        let is_report = matches!(request, Request::Behaviour { .. });
        let coming = Arc::<Coming>::default();
        let (news, mut reading) =
            if is_report { BackgroundIndexing::begin(&coming) } else { (None, BackgroundIndexing::nothing()) };
        let mut gatherer = Gatherer { coming: Arc::clone(&coming), total: None, progress, news, is_upload: false };
        if given_up.is_said() {
            return Err(ServiceError::Unsent);
        }
        let remark = {
            let mut sending = pin!(self.client.send(request, &mut gatherer));
            loop {
                tokio::select! {
                    biased;
                    () = given_up.said() => return Err(ServiceError::GivenUp),
                    sent = &mut sending => {
                        self.note_date();
                        break sent?;
                    }
                    Some(rows) = reading.found.recv() => progress(Received::Rows(rows)),
                }
            }
        };
        let body = coming.end();
        // Closes the channel, which ends the reader.
        drop(gatherer);
        while let Some(rows) = reading.found.recv().await {
            progress(Received::Rows(rows));
        }
        Ok(GatheredAnswer { body, index: reading.index().await, remark })
    }
}

/// The bytes received so far: the pieces, or the complete body.
#[derive(Default)]
struct Coming(Mutex<(Vec<u8>, Option<Body>)>);

impl Coming {
    /// Appends a piece; returns the number of bytes so far.
    fn push(&self, piece: &[u8]) -> usize {
        let (bytes, _) = &mut *self.lock();
        bytes.extend_from_slice(piece);
        bytes.len()
    }

    /// A copy of the bytes so far, or the complete body.
    fn body(&self) -> Body {
        let (bytes, whole) = &*self.lock();
        whole.clone().unwrap_or_else(|| Body::in_memory(bytes.clone()))
    }

    /// The complete body, after the last piece.
    fn end(&self) -> Body {
        let (bytes, whole) = &mut *self.lock();
        whole.get_or_insert_with(|| Body::in_memory(std::mem::take(bytes))).clone()
    }

    fn lock(&self) -> MutexGuard<'_, (Vec<u8>, Option<Body>)> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Joins the pieces of an answer, and reports progress.
struct Gatherer<'a> {
    coming: Arc<Coming>,
    total: Option<u64>,
    progress: OnProgress<'a>,
    /// Wakes the reader.
    news: Option<Sender<()>>,
    /// Whether a file was uploaded first: the progress of the upload matters more than that of its
    /// short answer.
    is_upload: bool,
}

impl Gatherer<'_> {
    fn tell(&self, bytes: usize) {
        if !self.is_upload {
            (self.progress)(Received::Bytes { bytes: bytes as u64, total: self.total });
        }
    }
}

impl Sink for Gatherer<'_> {
    fn begin(&mut self, total: Option<u64>) {
        self.total = total;
        self.tell(0);
    }

    fn take(&mut self, piece: &[u8]) {
        let bytes = self.coming.push(piece);
        if let Some(news) = &self.news {
            // If the reader has ended, the complete answer is indexed later instead.
            let _ = news.send(());
        }
        self.tell(bytes);
    }

    fn sent(&mut self, sent: u64, total: u64) {
        self.is_upload = true;
        (self.progress)(Received::Bytes { bytes: sent, total: Some(total) });
    }
}

/// A report that is indexed on another thread while it arrives.
struct BackgroundIndexing {
    found: UnboundedReceiver<Rows>,
    reader: Option<JoinHandle<Index>>,
}

impl BackgroundIndexing {
    fn begin(coming: &Arc<Coming>) -> (Option<Sender<()>>, Self) {
        let ((news, wakes), (tell, found)) = (channel(), unbounded_channel());
        let reader = Reader::new(Arc::clone(coming), tell);
        let reader = tokio::task::spawn_blocking(move || reader.read(&wakes));
        (Some(news), Self { found, reader: Some(reader) })
    }

    fn nothing() -> Self {
        Self { found: unbounded_channel().1, reader: None }
    }

    /// The index of the complete report. `None` if it has no reader, or a bug stopped the reader.
    async fn index(self) -> Option<Index> {
        self.reader?.await.ok()
    }
}

/// Finds rows in the bytes received so far.
struct Reader {
    coming: Arc<Coming>,
    indexer: Indexer,
    index: Index,
    tell: UnboundedSender<Rows>,
    /// Number of bytes read so far.
    read: usize,
}

impl Reader {
    fn new(coming: Arc<Coming>, tell: UnboundedSender<Rows>) -> Self {
        Self { coming, indexer: Indexer::default(), index: Index::default(), tell, read: 0 }
    }

    /// Reads the report until no more pieces can arrive.
    fn read(mut self, news: &Receiver<()>) -> Index {
        let (mut due, mut is_behind) = (Instant::now(), false);
        loop {
            let patience = if is_behind { due.saturating_duration_since(Instant::now()) } else { NOTHING_NEW };
            match news.recv_timeout(patience) {
                Ok(()) if Instant::now() < due => is_behind = true,
                Ok(()) | Err(RecvTimeoutError::Timeout) => {
                    let begun = Instant::now();
                    self.step(Indexer::take);
                    (due, is_behind) = (Instant::now() + PACE.max(begun.elapsed() * SHARE), false);
                }
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        self.step(|indexer| std::mem::take(indexer).finish());
        self.index
    }

    /// Reads the new bytes, and sends the rows in them.
    fn step(&mut self, batch: impl FnOnce(&mut Indexer) -> Batch) {
        let body = self.coming.body();
        let read = self.read..body.len();
        self.indexer.feed(body.window(read.clone()));
        let batch = batch(&mut self.indexer);
        self.index.absorb(batch.clone());
        self.read = read.end;
        // The receiver is gone if the call was cancelled.
        let _ = self.tell.send(Rows { body, read, batch });
    }
}
