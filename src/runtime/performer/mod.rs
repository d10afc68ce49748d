//! Performs effects beside the loop, and answers with messages; each kind of effect has a file.

mod disk;
mod report;
pub mod search;
mod service;

pub(crate) use disk::{held_of, held_pages};
pub(crate) use report::read_rules;

use super::Outbox;
use crate::app::{Effect, Message};
use crate::gateway::{Gateway, GatewayError};
use crate::report::Cancel;
use crate::text::said;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::runtime::Runtime;

/// Threads that wait for the network.
const WORKERS: usize = 1;

/// How often the loop hears of bytes that come, or of rows that are found.
const PACE: Duration = Duration::from_millis(60);

/// How long unfinished writes may take at the end of the app.
const LAST_MOMENT: Duration = Duration::from_millis(500);

/// What the app can reach.
#[derive(Clone)]
pub enum Backing {
    /// A service, by way of the gateway.
    Service(Arc<Gateway>),
    /// Nothing: a document is open.
    Nothing,
}

/// Performs effects on threads of its own.
pub(super) struct Performer {
    backing: Backing,
    pub(super) outbox: Outbox,
    /// None once the app ends.
    threads: Option<Runtime>,
    pending: Arc<AtomicUsize>,
    /// Cancels all work beside the loop.
    stopped: Cancel,
    /// Cancels the last search through a comparison, and the last reading of a report: a later one takes its place.
    sifting: Cancel,
    indexing: Cancel,
}

/// One piece of work; it counts as pending until it is dropped.
struct Work {
    outbox: Outbox,
    pending: Arc<AtomicUsize>,
}

impl Work {
    fn send(&self, message: impl Into<Message>) {
        self.outbox.send(message);
    }
}

impl Drop for Work {
    fn drop(&mut self) {
        self.pending.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Performer {
    /// A performer that answers to `outbox`.
    pub(super) fn new(backing: Backing, outbox: Outbox) -> std::io::Result<Self> {
        Ok(Self {
            backing,
            outbox,
            threads: Some(super::threads(WORKERS)?),
            pending: Arc::default(),
            stopped: Cancel::default(),
            sifting: Cancel::default(),
            indexing: Cancel::default(),
        })
    }

    /// Whether nothing is being performed.
    pub(super) fn is_idle(&self) -> bool {
        self.pending.load(Ordering::SeqCst) == 0
    }

    /// Performs an effect without waiting for it; without a service, effects on it or its store do nothing.
    pub(super) fn perform(&mut self, effect: Effect) {
        match effect {
            Effect::Service(call) => self.call_service(call),
            Effect::Store(job) => self.use_store(job),
            Effect::Report(job) => self.read_report(job),
            Effect::Search(job) => self.search(job),
            Effect::File(job) => self.use_file(job),
            // The session performs these itself.
            Effect::Terminal(_) => {}
        }
    }

    /// The way to the service, where there is one.
    fn gateway(&self) -> Option<&Arc<Gateway>> {
        match &self.backing {
            Backing::Service(gateway) => Some(gateway),
            Backing::Nothing => None,
        }
    }

    fn work(&self) -> Work {
        self.pending.fetch_add(1, Ordering::SeqCst);
        Work { outbox: self.outbox.clone(), pending: Arc::clone(&self.pending) }
    }

    /// Runs a job that waits for the disk or calculates. A panic in it becomes a notice.
    fn spawn(&self, job: impl FnOnce(&Work) + Send + 'static) {
        let Some(threads) = &self.threads else { return };
        let (work, outbox) = (self.work(), self.outbox.clone());
        let done = threads.spawn_blocking(move || job(&work));
        threads.spawn(async move {
            if let Err(error) = done.await {
                outbox.send(Message::Notice(GatewayError::bug(&error).to_string()));
            }
        });
    }
}

impl Drop for Performer {
    /// Paid responses are stored, or the user cancelled them: nothing else is worth more than a moment.
    fn drop(&mut self) {
        self.stopped.cancel();
        if let Some(threads) = self.threads.take() {
            threads.shutdown_timeout(LAST_MOMENT);
        }
    }
}

/// Cancels the last job of this place; the result cancels the next one.
fn renew(place: &mut Cancel) -> Cancel {
    std::mem::take(place).cancel();
    place.clone()
}

/// An error's words, made visible.
fn words(error: &dyn std::fmt::Display) -> String {
    said(error.to_string()).cut(400).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bug_beside_the_loop_is_a_message() {
        let (sender, inbox) = std::sync::mpsc::channel();
        let performer = Performer::new(Backing::Nothing, Outbox(sender)).unwrap();
        performer.spawn(|_| panic!("a bug"));
        let message = inbox.recv_timeout(Duration::from_secs(10)).ok();
        assert!(matches!(&message, Some(Message::Notice(words)) if words.contains("internal error")), "{message:?}");
    }
}
