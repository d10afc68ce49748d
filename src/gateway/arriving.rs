//! An answer on its way: it is gathered in memory, and the rows of a report are found while the rest still comes.
//!
//! What is found before the whole is here is only shown: an answer counts once its bytes are kept and have been read to their
//! end.

use super::flight::GivenUp;
use super::{Gateway, Progress};
use crate::report::index::Batch;
use crate::report::{Body, Index, Indexer};
use crate::request::Request;
use crate::service::client::Sink;
use crate::service::error::ServiceError;
use std::ops::Range;
use std::pin::pin;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::JoinHandle;

/// How often somebody hears of rows that are found.
const PACE: Duration = Duration::from_millis(60);

/// To read what has come takes at most one part in so many of the time.
const SHARE: u32 = 10;

const NOTHING_NEW: Duration = Duration::from_secs(3600);

/// What has come of an answer.
#[derive(Debug, Clone)]
pub enum Received {
    /// More bytes; where a file is uploaded, of that.
    Bytes {
        /// How many there are so far, decompressed.
        bytes: u64,
        /// How many there will be, where that is known.
        total: Option<u64>,
    },
    /// More rows of a report.
    Rows(Rows),
}

/// Rows of a report that is still coming.
#[derive(Debug, Clone)]
pub struct Rows {
    /// What has come of the report.
    pub body: Body,
    /// The part of it in which these rows were found: it begins where the part before ended.
    pub read: Range<usize>,
    pub batch: Batch,
}

/// An answer that has come whole.
pub(super) struct Gathered {
    pub(super) body: Body,
    /// Where a report's rows start.
    pub(super) index: Option<Index>,
    /// What may be wrong with it, in words that follow its name.
    pub(super) remark: Option<&'static str>,
}

impl Gateway {
    /// Sends a request, and gathers its answer.
    pub(super) async fn gather(
        &self,
        request: &Request,
        progress: Progress<'_>,
        given_up: &GivenUp,
    ) -> Result<Gathered, ServiceError> {
        let is_report = matches!(request, Request::Behaviour { .. });
        let coming = Arc::<Coming>::default();
        let (news, mut reading) = if is_report { Reading::begin(&coming) } else { (None, Reading::nothing()) };
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
                    sent = &mut sending => break sent?,
                    Some(rows) = reading.found.recv() => progress(Received::Rows(rows)),
                }
            }
        };
        let body = coming.end();
        // The reader ends when it hears no more.
        drop(gatherer);
        while let Some(rows) = reading.found.recv().await {
            progress(Received::Rows(rows));
        }
        Ok(Gathered { body, index: reading.index().await, remark })
    }
}

/// What has come of an answer: its pieces, or the whole.
#[derive(Default)]
struct Coming(Mutex<(Vec<u8>, Option<Body>)>);

impl Coming {
    /// Adds what came next; says how much there is.
    fn push(&self, piece: &[u8]) -> usize {
        let (bytes, _) = &mut *self.lock();
        bytes.extend_from_slice(piece);
        bytes.len()
    }

    /// A copy of what has come, or the whole.
    fn body(&self) -> Body {
        let (bytes, whole) = &*self.lock();
        whole.clone().unwrap_or_else(|| Body::in_memory(bytes.clone()))
    }

    /// The whole, after the last piece.
    fn end(&self) -> Body {
        let (bytes, whole) = &mut *self.lock();
        whole.get_or_insert_with(|| Body::in_memory(std::mem::take(bytes))).clone()
    }

    fn lock(&self) -> MutexGuard<'_, (Vec<u8>, Option<Body>)> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Puts the pieces of an answer together, and tells of each.
struct Gatherer<'a> {
    coming: Arc<Coming>,
    total: Option<u64>,
    progress: Progress<'a>,
    /// Wakes the reader.
    news: Option<Sender<()>>,
    /// Whether a file went before: how much of that has gone says more than how much of a few words has come.
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
            // A reader that has ended is missed at the end: then the whole is read once more.
            let _ = news.send(());
        }
        self.tell(bytes);
    }

    fn sent(&mut self, sent: u64, total: u64) {
        self.is_upload = true;
        (self.progress)(Received::Bytes { bytes: sent, total: Some(total) });
    }
}

/// A report that is read beside what brings it.
struct Reading {
    found: UnboundedReceiver<Rows>,
    reader: Option<JoinHandle<Index>>,
}

impl Reading {
    fn begin(coming: &Arc<Coming>) -> (Option<Sender<()>>, Self) {
        let ((news, wakes), (tell, found)) = (channel(), unbounded_channel());
        let reader = Reader::new(Arc::clone(coming), tell);
        let reader = tokio::task::spawn_blocking(move || reader.read(&wakes));
        (Some(news), Self { found, reader: Some(reader) })
    }

    fn nothing() -> Self {
        Self { found: unbounded_channel().1, reader: None }
    }

    /// The rows of the whole; none where nobody has read it, or a bug stopped the reader.
    async fn index(self) -> Option<Index> {
        self.reader?.await.ok()
    }
}

/// Finds rows in what has come.
struct Reader {
    coming: Arc<Coming>,
    indexer: Indexer,
    index: Index,
    tell: UnboundedSender<Rows>,
    /// How far it has read.
    read: usize,
}

impl Reader {
    fn new(coming: Arc<Coming>, tell: UnboundedSender<Rows>) -> Self {
        Self { coming, indexer: Indexer::default(), index: Index::default(), tell, read: 0 }
    }

    /// Reads what comes until nothing more can come.
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

    /// Reads what has come, and tells of the rows in it.
    fn step(&mut self, batch: impl FnOnce(&mut Indexer) -> Batch) {
        let body = self.coming.body();
        let read = self.read..body.len();
        self.indexer.feed(body.window(read.clone()));
        let batch = batch(&mut self.indexer);
        self.index.absorb(batch.clone());
        self.read = read.end;
        // Whoever asked may have given up.
        let _ = self.tell.send(Rows { body, read, batch });
    }
}
