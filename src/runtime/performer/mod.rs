//! Performs effects beside the loop, and answers with messages; each kind of effect has a file.
//!
//! Until the first frame what it needs is read on the spot, as starting threads takes longer: there are none before it, unless it
//! is to show a report whose index has to be made.

mod disk;
mod report;
mod seeking;
mod service;
mod store;

pub(crate) use report::read_rules;

use super::Outbox;
use crate::app::{Effect, Message, ReportJob, StoreEvent, StoreJob};
use crate::gateway::{Gateway, GatewayError};
use crate::report::Cancel;
use crate::text::said;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::runtime::Runtime;

/// Threads that wait for the network.
const WORKERS: usize = 1;

/// How often the loop hears of bytes that come, or of rows that are found.
const PACE: Duration = Duration::from_millis(60);

/// Bytes of a report that is indexed sooner than a thread starts.
const AT_ONCE: usize = 64 * 1024;

/// How long a file that is half written has to take itself away.
const LAST_MOMENT: Duration = Duration::from_millis(500);

/// What the app can reach.
#[derive(Clone)]
pub enum Backing {
    /// A service, by way of the gateway.
    Service(Arc<Gateway>),
    /// Nothing: a document is open, or it is not known yet.
    Nothing,
}

/// Performs effects on threads of its own.
pub struct Performer {
    backing: Backing,
    pub(super) outbox: Outbox,
    /// What effects are performed on, once they have been started.
    threads: Option<Runtime>,
    /// Whether the user knows that threads cannot be started.
    is_said: bool,
    /// Whether the first frame is still to come.
    awaits_frame: bool,
    /// Effects that the next frame does not need.
    later: Vec<Effect>,
    pending: Arc<AtomicUsize>,
    /// Files that are being written.
    writing: Arc<AtomicUsize>,
    /// Cancels all work beside the loop.
    stopped: Cancel,
    /// Cancels the last search through a comparison, and the last reading of a report: a later one takes its place.
    sifting: Mutex<Cancel>,
    indexing: Mutex<Cancel>,
}

/// One piece of work; it counts as pending until it is dropped.
struct Work {
    outbox: Outbox,
    pending: Arc<AtomicUsize>,
}

impl Work {
    /// Sends a message; a loop that has ended needs none.
    fn send(&self, message: impl Into<Message>) {
        self.outbox.send(message);
    }
}

impl Drop for Work {
    fn drop(&mut self) {
        self.pending.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Reports the end of a write when it is dropped, however the write ends.
struct WriteGuard(Outbox);

impl Drop for WriteGuard {
    fn drop(&mut self) {
        self.0.send(StoreEvent::WriteFinished);
    }
}

impl Performer {
    /// A performer that answers to `outbox`.
    pub fn new(backing: Backing, outbox: Outbox) -> Self {
        Self {
            backing,
            outbox,
            threads: None,
            is_said: false,
            awaits_frame: true,
            later: Vec::new(),
            pending: Arc::default(),
            writing: Arc::default(),
            stopped: Cancel::default(),
            sifting: Mutex::default(),
            indexing: Mutex::default(),
        }
    }

    /// What the app can reach from now on.
    pub fn reach(&mut self, backing: Backing) {
        self.backing = backing;
    }

    /// Performs deferred effects. Where the system has no threads to give they stay deferred, with a message:
    /// the next call tries again.
    pub fn begin_later(&mut self) {
        if !self.has_threads() {
            return;
        }
        self.awaits_frame = false;
        for effect in std::mem::take(&mut self.later) {
            self.begin(effect);
        }
    }

    /// Starts the threads, unless there are some.
    pub fn start(&mut self) -> std::io::Result<()> {
        if self.threads.is_none() {
            self.threads = Some(crate::runtime::threads(WORKERS)?);
        }
        Ok(())
    }

    /// Starts the threads, unless there are some; says whether there are, and says it on the screen where there are none.
    fn has_threads(&mut self) -> bool {
        let Err(error) = self.start() else { return true };
        if !std::mem::replace(&mut self.is_said, true) {
            self.outbox.send(Message::Notice(format!("Nothing is read or sent: {error}.")));
        }
        false
    }

    /// Whether nothing is being performed, and nothing waits to be.
    pub fn is_idle(&self) -> bool {
        self.later.is_empty() && !self.is_busy()
    }

    /// Whether something is being performed.
    pub fn is_busy(&self) -> bool {
        self.pending.load(Ordering::SeqCst) > 0
    }

    /// Performs an effect behind the next frame.
    pub fn put_off(&mut self, effect: Effect) {
        self.later.push(effect);
    }

    /// Performs an effect without waiting for it; without a store or a service, effects on these do nothing.
    pub fn perform(&mut self, effect: Effect) {
        let is_now = match &effect {
            Effect::Report(ReportJob::Evaluate { .. }) | Effect::Store(StoreJob::RecordFile(_)) => false,
            _ if !self.awaits_frame => true,
            Effect::Store(StoreJob::LoadFile(_) | StoreJob::FindRecent) => true,
            Effect::Report(ReportJob::StopIndexing) => true,
            // The first rows of a long report come sooner from a thread than its last ones from here.
            Effect::Report(ReportJob::Index { body, .. }) => body.len() < AT_ONCE || self.has_threads(),
            _ => false,
        };
        if is_now { self.begin(effect) } else { self.put_off(effect) }
    }

    /// Performs an effect on the threads, or on the spot while there are none.
    fn begin(&self, effect: Effect) {
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

    /// Cancels the last job of this place; the result cancels the next one.
    fn renew(place: &Mutex<Cancel>) -> Cancel {
        let mut place = place.lock().unwrap_or_else(PoisonError::into_inner);
        place.cancel();
        *place = Cancel::default();
        place.clone()
    }

    fn work(&self) -> Work {
        self.pending.fetch_add(1, Ordering::SeqCst);
        Work { outbox: self.outbox.clone(), pending: Arc::clone(&self.pending) }
    }

    /// Runs a job that waits for the disk, on the spot while there are no threads. A panic in it becomes the message that `bug`
    /// makes of its words, so that nothing waits forever.
    fn spawn(&self, job: impl FnOnce(&Work) + Send + 'static, bug: impl FnOnce(String) -> Message + Send + 'static) {
        let (work, outbox) = (self.work(), self.outbox.clone());
        let Some(runtime) = &self.threads else { return job(&work) };
        let done = runtime.spawn_blocking(move || job(&work));
        runtime.spawn(async move {
            if let Err(error) = done.await {
                outbox.send(bug(GatewayError::bug(&error).to_string()));
            }
        });
    }

    /// Runs a job on the gateway; nothing where there is none.
    fn with_gate(&self, job: impl FnOnce(&Gateway, &Work) + Send + 'static) {
        let Some(gateway) = self.gateway().cloned() else { return };
        self.spawn(move |work| job(&gateway, work), Message::Notice);
    }
}

impl Drop for Performer {
    /// Paid responses are stored, or the user cancelled them: nothing else is worth a wait.
    fn drop(&mut self) {
        self.stopped.cancel();
        let Some(runtime) = self.threads.take() else { return };
        if self.writing.load(Ordering::SeqCst) > 0 {
            // A file that is half written takes itself away.
            runtime.shutdown_timeout(LAST_MOMENT);
        } else {
            runtime.shutdown_background();
        }
    }
}

/// An error's words, made visible.
pub(super) fn words(error: &dyn std::fmt::Display) -> String {
    said(error.to_string()).cut(400).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runtime::Outbox;

    #[test]
    fn a_bug_beside_the_loop_is_a_message() {
        let (sender, inbox) = std::sync::mpsc::channel();
        let mut performer = Performer::new(Backing::Nothing, Outbox(sender));
        performer.start().unwrap();
        performer.spawn(|_| panic!("a bug"), Message::Notice);
        let message = inbox.recv_timeout(Duration::from_secs(10)).ok();
        assert!(matches!(&message, Some(Message::Notice(words)) if words.contains("internal error")), "{message:?}");
    }
}
