//! An answer on its way: it is gathered in memory, and the rows of a report are found while the rest still comes.
//!
//! What is found before the whole is here is only shown: an answer counts once its bytes are kept and have been read to their
//! end.

use super::flight::GivenUp;
use super::{Gate, Progress};
use crate::report::index::Batch;
use crate::report::{Arriving, Body, Index, Indexer, body};
use crate::request::Request;
use crate::service::client::{Sink, Taken};
use crate::service::error::ServiceError;
use std::io;
use std::ops::Range;
use std::pin::pin;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::JoinHandle;

/// How often somebody hears of rows that are found.
const PACE: Duration = Duration::from_millis(60);

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
    pub read: Range<u64>,
    pub batch: Batch,
}

/// An answer that has come whole.
pub(super) struct Gathered {
    pub(super) body: Body,
    /// Where a report's rows start.
    pub(super) index: Option<Index>,
    /// What may be wrong with it, in words that follow its name.
    pub(super) remark: Option<String>,
}

impl Gate {
    /// Sends a request, and gathers its answer.
    pub(super) async fn gather(
        &self,
        request: &Request,
        progress: Progress<'_>,
        given_up: &GivenUp,
    ) -> Result<Gathered, ServiceError> {
        let is_report = matches!(request, Request::Behaviour { .. });
        let (news, mut reading) = if is_report { Reading::begin() } else { (None, Reading::nothing()) };
        let mut gatherer = Gatherer { arriving: Arriving::default(), total: None, progress, news, is_upload: false };
        if given_up.is_said() {
            return Err(ServiceError::Unsent);
        }
        let remark = {
            let mut sending = pin!(self.exchange(request, &mut gatherer));
            loop {
                tokio::select! {
                    biased;
                    () = given_up.said() => return Err(ServiceError::GivenUp),
                    sent = &mut sending => break sent?,
                    Some(rows) = reading.found.recv() => progress(Received::Rows(rows)),
                }
            }
        };
        let body = gatherer.arriving.body();
        // The reader ends when it hears no more.
        drop(gatherer);
        while let Some(rows) = reading.found.recv().await {
            progress(Received::Rows(rows));
        }
        Ok(Gathered { body, index: reading.index().await, remark })
    }

    /// Sends a request; says what may be wrong with what comes. An artifact may be longer than any other answer.
    async fn exchange(&self, request: &Request, gatherer: &mut Gatherer<'_>) -> Result<Option<String>, ServiceError> {
        if matches!(request, Request::Artefact { .. }) {
            let is_sure = self.client.fetch(request, (0, None), gatherer).await?;
            let cut = "may have been cut short: the service did not say how long it is";
            return Ok((!is_sure).then(|| cut.to_owned()));
        }
        let is_part = self.client.send(request, gatherer).await?;
        let part = "is a part by the service's word, though nobody asked for one (206)";
        Ok(is_part.then(|| part.to_owned()))
    }
}

/// Puts the pieces of an answer together, and tells of each.
struct Gatherer<'a> {
    arriving: Arriving,
    total: Option<u64>,
    progress: Progress<'a>,
    /// Who reads what has come.
    news: Option<Sender<Body>>,
    /// Whether a file went before: how much of that has gone says more than how much of a few words has come.
    is_upload: bool,
}

impl Gatherer<'_> {
    fn tell(&self) {
        if !self.is_upload {
            (self.progress)(Received::Bytes { bytes: self.arriving.len(), total: self.total });
        }
    }
}

impl Sink for Gatherer<'_> {
    fn begin(&mut self, _: u64, total: Option<u64>, _: Option<String>) -> Taken<'_> {
        self.total = total;
        self.tell();
        Box::pin(std::future::ready(Ok(())))
    }

    fn take<'a>(&'a mut self, piece: &'a [u8]) -> Taken<'a> {
        if let Err(why) = self.arriving.push(piece) {
            return Box::pin(std::future::ready(Err(ServiceError::Lost(why.to_string()))));
        }
        if let Some(news) = &self.news {
            // A reader that has ended is missed at the end: then the whole is read once more.
            let _ = news.send(self.arriving.body());
        }
        self.tell();
        Box::pin(std::future::ready(Ok(())))
    }

    fn sent(&mut self, sent: u64, total: u64) {
        self.is_upload = true;
        (self.progress)(Received::Bytes { bytes: sent, total: Some(total) });
    }
}

/// A report that is read beside what brings it.
struct Reading {
    found: UnboundedReceiver<Rows>,
    reader: Option<JoinHandle<io::Result<Index>>>,
}

impl Reading {
    fn begin() -> (Option<Sender<Body>>, Self) {
        let ((news, bodies), (tell, found)) = (channel(), unbounded_channel());
        let reader = tokio::task::spawn_blocking(move || Reader::new(tell).read(&bodies));
        (Some(news), Self { found, reader: Some(reader) })
    }

    fn nothing() -> Self {
        Self { found: unbounded_channel().1, reader: None }
    }

    /// The rows of the whole; none where nobody has read it, or a bug stopped the reader.
    async fn index(self) -> Option<Index> {
        self.reader?.await.ok()?.ok()
    }
}

/// Finds rows in what has come.
struct Reader {
    indexer: Indexer,
    index: Index,
    body: Body,
    window: Vec<u8>,
    tell: UnboundedSender<Rows>,
    /// When it told last, and how far it had read by then.
    told: Option<Instant>,
    told_to: u64,
}

impl Reader {
    fn new(tell: UnboundedSender<Rows>) -> Self {
        let (indexer, index, body) = (Indexer::default(), Index::default(), Body::in_memory(Vec::new()));
        Self { indexer, index, body, window: Vec::new(), tell, told: None, told_to: 0 }
    }

    /// Reads what comes until nothing more can come.
    fn read(mut self, bodies: &Receiver<Body>) -> io::Result<Index> {
        loop {
            let patience = if self.is_behind() { Duration::ZERO } else { self.patience() };
            match bodies.recv_timeout(patience) {
                Ok(body) => self.body = bodies.try_iter().last().unwrap_or(body),
                Err(RecvTimeoutError::Disconnected) if !self.is_behind() => break,
                Err(_) => {}
            }
            self.step()?;
            if self.patience().is_zero() {
                let (end, batch) = (self.indexer.position(), self.indexer.take());
                self.tell(end, batch);
            }
        }
        let end = self.indexer.position();
        let batch = std::mem::take(&mut self.indexer).finish();
        self.tell(end, batch);
        Ok(self.index)
    }

    /// Whether more has come than is read.
    fn is_behind(&self) -> bool {
        self.indexer.position() < self.body.len()
    }

    /// Reads a further window.
    fn step(&mut self) -> io::Result<()> {
        let at = self.indexer.position();
        self.body.read(at..at + body::WINDOW, &mut self.window)?;
        self.indexer.feed(&self.window);
        Ok(())
    }

    /// How long there is nothing to tell of: nothing of it where rows are due.
    fn patience(&self) -> Duration {
        const NOTHING_NEW: Duration = Duration::from_secs(3600);
        match self.told {
            _ if self.indexer.position() == self.told_to => NOTHING_NEW,
            None => Duration::ZERO,
            Some(told) => PACE.saturating_sub(told.elapsed()),
        }
    }

    /// Tells of the rows before a byte.
    fn tell(&mut self, end: u64, batch: Batch) {
        self.index.absorb(batch.clone());
        let read = self.told_to..end;
        (self.told, self.told_to) = (Some(Instant::now()), end);
        // Whoever asked may have given up.
        let _ = self.tell.send(Rows { body: self.body.clone(), read, batch });
    }
}
