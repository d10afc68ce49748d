//! Performs effects beside the loop, and answers with messages.

use super::recall::held_of;
use super::{clipboard, held, saver, search};
use crate::app::finder::{HitGroup, MOST_HITS, Ticket};
use crate::app::ledger::{LedgerLine, LedgerPage, SHOWN};
use crate::app::message::{Failure, HeldPage, Here, Opening, Recent};
use crate::app::{Effect, Message};
use crate::gate::{Answer, Cost, Gate, GateError};
use crate::quota::{Balances, Entitlements, Period, Usage};
use crate::report::compare::Matrix;
use crate::report::find::{Pattern, Scope};
use crate::report::hashes::Hashes;
use crate::report::identifier::Sha256;
use crate::report::index::Batch;
use crate::report::page::Page;
use crate::report::rows::{Line, lines};
use crate::report::rules::Rules;
use crate::report::{Body, Index, Indexer, Indicators, Report, RowSet};
use crate::request::{Quote, Request};
use crate::service::Received;
use crate::store::{LedgerEntry, StoreError};
use crate::text::Untrusted;
use jiff::Timestamp;
use std::fs::File;
use std::io::Read;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::Sender;
use std::time::{Duration, Instant};
use tokio::runtime::{Builder, Runtime};

/// Threads that wait for the network.
const WORKERS: usize = 1;

/// How often the loop hears of bytes that come, or of rows that are found.
const PACE: Duration = Duration::from_millis(60);

/// The largest answer that is looked at as a tree, in bytes: a line of it takes tens.
const LARGEST_TREE: u64 = 32 * 1024 * 1024;

/// How long a file that is half written has to take itself away.
const LAST_MOMENT: Duration = Duration::from_millis(500);
/// The largest list of hashes that is read, in bytes: about a million of them.
const LARGEST_LIST: u64 = 64 * 1024 * 1024;

/// Most earlier files that are offered.
const RECENT: u32 = 50;

/// What the app can reach.
#[derive(Clone)]
pub enum Backing {
    /// A service, by way of the gate.
    Service(Arc<Gate>),
    /// Nothing: a document is open.
    Document,
}

/// Performs effects on threads of its own.
pub struct Performer {
    backing: Backing,
    pub(super) outbox: Sender<Message>,
    pub(super) runtime: Option<Runtime>,
    pending: Arc<AtomicUsize>,
    /// Files that are being written.
    writing: Arc<AtomicUsize>,
    /// Whether what is beside the loop is to end.
    stopped: Arc<AtomicBool>,
    /// Searches through a comparison so far.
    searches: Arc<AtomicUsize>,
    /// The opening of a report that is wanted; an earlier one need not be gone on with.
    opened: Arc<AtomicU64>,
}

/// One piece of work; it counts as pending until it is dropped.
struct Work {
    outbox: Sender<Message>,
    pending: Arc<AtomicUsize>,
}

impl Work {
    /// Sends a message; a loop that has ended needs none.
    fn send(&self, message: Message) {
        let _ = self.outbox.send(message);
    }
}

impl Drop for Work {
    fn drop(&mut self) {
        self.pending.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Performer {
    /// A performer that answers to `outbox`.
    ///
    /// # Errors
    /// When the system cannot start the threads.
    pub fn new(backing: Backing, outbox: Sender<Message>) -> std::io::Result<Self> {
        let runtime = Builder::new_multi_thread().worker_threads(WORKERS).enable_all().build()?;
        let (pending, searches, opened) = (Arc::default(), Arc::default(), Arc::default());
        let (writing, stopped) = (Arc::default(), Arc::default());
        Ok(Self { backing, outbox, runtime: Some(runtime), pending, searches, opened, writing, stopped })
    }

    /// Whether nothing is being performed.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.pending.load(Ordering::SeqCst) == 0
    }

    /// Performs an effect, without waiting for it.
    pub fn perform(&self, effect: Effect) {
        match (effect, &self.backing) {
            (Effect::Compare { number, bodies }, _) => self.blocking(
                move |work| {
                    let result = Matrix::of(&bodies).map(Arc::new).map_err(|error| error.to_string());
                    work.send(Message::Compared { number, result });
                },
                move |why| Message::Compared { number, result: Err(why) },
            ),
            (Effect::Judge { opening, body, rules, own }, _) => {
                let opened = Arc::clone(&self.opened);
                self.reading(move |work| {
                    let is_wanted = || opened.load(Ordering::SeqCst) == opening.0;
                    judge(&work, opening, &body, rules, own.as_deref(), is_wanted);
                });
            }
            (Effect::JudgeHeld { number, reports, rules }, _) => self.reading(move |work| {
                work.send(Message::JudgedHeld { number, found: super::notable::of(&reports, &rules) });
            }),
            (Effect::Sift { number, matrix, sought }, _) => self.sift(number, matrix, sought),
            (Effect::RecallBeside(file), Backing::Service(gate)) => {
                let gate = Arc::clone(gate);
                self.reading(move |work| {
                    let held = held_of(&gate, &file);
                    work.send(match held {
                        Ok((pages, reports)) => Message::RecalledBeside { file, pages, reports },
                        Err(error) => Message::Notice(error.to_string()),
                    });
                });
            }
            (Effect::Index { opening, body }, _) => {
                let opened = Arc::clone(&self.opened);
                opened.store(opening.0, Ordering::SeqCst);
                self.blocking(
                    move |work| open(&work, opening, &body, || opened.load(Ordering::SeqCst) == opening.0),
                    move |why| Message::Unreadable { opening, why },
                );
            }
            (Effect::Filter { ticket, report, pattern, scope }, _) => {
                let search = ticket.number;
                let bug = move |why| Message::Found { search, rows: RowSet::EMPTY, ended: Some(Err(why)) };
                self.blocking(move |work| filter(&work, &ticket, &report, &pattern, scope), bug);
            }
            (Effect::Search { ticket, report, pattern }, _) => {
                let bug = search_bug(&ticket);
                self.blocking(move |work| find(&work, &ticket, &report, &pattern), bug);
            }
            (Effect::SearchHeld { ticket, pattern }, Backing::Service(gate)) => {
                let gate = Arc::clone(gate);
                let bug = search_bug(&ticket);
                self.blocking(move |work| search_held(&work, &ticket, &gate, &pattern), bug);
            }
            (Effect::StopIndexing, _) => self.opened.store(0, Ordering::SeqCst),
            (Effect::Ask { quote, anew }, Backing::Service(gate)) => self.ask(Arc::clone(gate), quote, anew),
            (Effect::GiveUp(request), Backing::Service(gate)) => gate.give_up(&request),
            (Effect::Copy(copied), _) => self.reading(move |work| {
                let result = clipboard::by_tmux(&copied);
                work.send(Message::Copied { what: copied.what, result });
            }),
            (Effect::FindIndicators { opening, body }, _) => {
                let is_stopped = self.is_stopped();
                self.blocking(
                    move |work| {
                        let result = indicators(&body, &is_stopped).map_err(|error| error.to_string());
                        work.send(Message::Indicators { opening, result });
                    },
                    move |why| Message::Indicators { opening, result: Err(why) },
                );
            }
            (Effect::Save(save), backing) => {
                let (backing, is_stopped) = (backing.clone(), self.is_stopped());
                self.writing.fetch_add(1, Ordering::SeqCst);
                let writing = Arc::clone(&self.writing);
                self.reading(move |work| {
                    let gate = match &backing {
                        Backing::Service(gate) => Some(gate.as_ref()),
                        Backing::Document => None,
                    };
                    let result = saver::save(save, gate, &is_stopped);
                    writing.fetch_sub(1, Ordering::SeqCst);
                    work.send(Message::Saved(result));
                });
            }
            (Effect::CountHashes(path), _) => self.reading(move |work| {
                let result = count_hashes(&path);
                work.send(Message::Counted { path, result });
            }),
            (Effect::Recall(file), Backing::Service(gate)) => {
                let gate = Arc::clone(gate);
                self.reading(move |work| {
                    work.send(recall(&gate, &file).unwrap_or_else(|error| Message::Notice(words(&error))));
                    // After what is shown: a write waits for the disk.
                    if let Err(error) = gate.store().note_file(gate.profile(), &file, None, gate.now()) {
                        work.send(Message::Notice(words(&error)));
                    }
                    work.send(notes(&gate, file));
                });
            }
            (Effect::WriteNote(note), Backing::Service(gate)) => {
                let gate = Arc::clone(gate);
                self.reading(move |work| match (gate.store().write_note(gate.profile(), &note), note.file) {
                    (Ok(()), file) => file.into_iter().for_each(|file| work.send(notes(&gate, file))),
                    (Err(error), _) => {
                        work.send(Message::Notice(format!("The note could not be kept: {}", words(&error))));
                    }
                });
            }
            (Effect::DeleteNote { file, about }, Backing::Service(gate)) => {
                let gate = Arc::clone(gate);
                self.reading(move |work| match gate.store().delete_note(gate.profile(), &about) {
                    Ok(()) => work.send(notes(&gate, file)),
                    Err(error) => {
                        work.send(Message::Notice(format!("The note could not be deleted: {}", words(&error))));
                    }
                });
            }
            (Effect::LookUp(request), Backing::Service(gate)) => {
                let gate = Arc::clone(gate);
                self.reading(move |work| {
                    let since = gate.held(&request).ok().flatten().map(|held| held.received);
                    work.send(Message::LookedUp { request, since });
                });
            }
            (Effect::ReadLedger, Backing::Service(gate)) => {
                let gate = Arc::clone(gate);
                self.reading(move |work| {
                    work.send(ledger(&gate).unwrap_or_else(|error| Message::Notice(words(&error))))
                });
            }
            (Effect::ReadHeld, Backing::Service(gate)) => {
                let gate = Arc::clone(gate);
                self.reading(move |work| {
                    let lines = held::lines(&gate).map(Message::Held);
                    work.send(lines.unwrap_or_else(|error| Message::Notice(words(&error))));
                });
            }
            (Effect::Purge(what), Backing::Service(gate)) => {
                let gate = Arc::clone(gate);
                self.reading(move |work| {
                    let purged = held::purge(&gate, what);
                    let failed = |error| Message::Notice(format!("Nothing was deleted: {}", words(&error)));
                    work.send(purged.unwrap_or_else(failed));
                });
            }
            (Effect::ReadRecord, Backing::Service(gate)) => {
                let gate = Arc::clone(gate);
                self.reading(move |work| {
                    // Without it a price is explained with less.
                    let record = gate.store().price_record(gate.profile()).unwrap_or_default().into_iter();
                    work.send(Message::Record(
                        record.map(|(name, seen)| (name, (seen.confirmed, seen.contradicted))).collect(),
                    ));
                });
            }
            (Effect::FindRecent, Backing::Service(gate)) => {
                let gate = Arc::clone(gate);
                self.reading(move |work| {
                    work.send(recent(&gate).unwrap_or_else(|error| Message::Notice(words(&error))))
                });
            }
            // A document asks nothing, and the session itself ends.
            (
                Effect::Ask { .. }
                | Effect::GiveUp(_)
                | Effect::Recall(_)
                | Effect::RecallBeside(_)
                | Effect::FindRecent
                | Effect::WriteNote(_)
                | Effect::DeleteNote { .. }
                | Effect::ReadHeld
                | Effect::Purge(_)
                | Effect::ReadLedger
                | Effect::ReadRecord
                | Effect::SearchHeld { .. }
                | Effect::LookUp(_),
                Backing::Document,
            )
            | (Effect::Quit | Effect::Demo | Effect::Aside | Effect::TakeBack, _) => {}
        }
    }

    /// Whether the program ends, as something long asks now and then.
    fn is_stopped(&self) -> impl Fn() -> bool + Send + 'static {
        let stopped = Arc::clone(&self.stopped);
        move || stopped.load(Ordering::Relaxed)
    }

    /// Looks through a comparison; a later search makes an earlier one stop.
    fn sift(&self, number: u64, matrix: Arc<Matrix>, sought: String) {
        let (searches, this) = (Arc::clone(&self.searches), self.searches.fetch_add(1, Ordering::SeqCst) + 1);
        self.reading(move |work| {
            let is_latest = || searches.load(Ordering::SeqCst) == this;
            match matrix.find(sought.as_bytes(), is_latest) {
                Ok(found) if is_latest() => work.send(Message::Sifted { number, sought, found }),
                Ok(_) => {}
                Err(error) => work.send(Message::Notice(format!("What was compared cannot be read: {error}"))),
            }
        });
    }

    fn work(&self) -> Work {
        self.pending.fetch_add(1, Ordering::SeqCst);
        Work { outbox: self.outbox.clone(), pending: Arc::clone(&self.pending) }
    }

    /// Performs something that waits for the disk; a bug in it is told, in `bug`'s words, rather than waited for for ever.
    fn blocking(
        &self,
        perform: impl FnOnce(Work) + Send + 'static,
        bug: impl FnOnce(String) -> Message + Send + 'static,
    ) {
        let (work, outbox) = (self.work(), self.outbox.clone());
        let Some(runtime) = &self.runtime else { return };
        let done = runtime.spawn_blocking(move || perform(work));
        runtime.spawn(async move {
            if let Err(error) = done.await {
                let _ = outbox.send(bug(GateError::bug(&error).to_string()));
            }
        });
    }

    /// Reads or writes something of the store's.
    fn reading(&self, perform: impl FnOnce(Work) + Send + 'static) {
        self.blocking(perform, Message::Notice);
    }

    fn ask(&self, gate: Arc<Gate>, quote: Quote, anew: bool) {
        let (work, request) = (self.work(), quote.request().clone());
        let Some(runtime) = &self.runtime else { return };
        let (outbox, call) = (self.outbox.clone(), runtime.spawn(async move { ask(&work, &gate, &quote, anew).await }));
        // A bug in the call must not leave it under way for ever.
        runtime.spawn(async move {
            if let Err(error) = call.await {
                let _ = outbox.send(message(request, Err(GateError::bug(&error))));
            }
        });
    }
}

impl Drop for Performer {
    /// Paid answers are in, or were given up by the analyst: nothing else is worth waiting for.
    fn drop(&mut self) {
        self.stopped.store(true, Ordering::Relaxed);
        let Some(runtime) = self.runtime.take() else { return };
        if self.writing.load(Ordering::SeqCst) > 0 {
            // A file that is half written takes itself away.
            runtime.shutdown_timeout(LAST_MOMENT);
        } else {
            runtime.shutdown_background();
        }
    }
}

async fn ask(work: &Work, gate: &Gate, quote: &Quote, anew: bool) {
    let request = quote.request().clone();
    let told = Mutex::new(Instant::now());
    let progress = |Received { bytes, total }| {
        let Ok(mut told) = told.lock() else { return };
        if told.elapsed() >= PACE {
            *told = Instant::now();
            work.send(Message::Received { request: request.clone(), bytes, total });
        }
    };
    let result = if anew { gate.ask(quote, &progress).await } else { gate.get(quote, &progress).await };
    // Before the answer, so that the screen never shows one without the other.
    if let Ok(spent) = gate.spent() {
        work.send(Message::Spent(spent));
    }
    work.send(message(request, result));
}

fn message(request: Request, result: Result<Answer, GateError>) -> Message {
    match request {
        Request::Quotas => Message::Balances(balances(result)),
        Request::Behaviours { .. } => {
            Message::Listed { request, result: result.map_err(|error| failure(&error)).and_then(page) }
        }
        Request::User => Message::Entitled {
            request,
            result: result.map_err(|error| failure(&error)).and_then(|answer| entitled(&answer)),
        },
        Request::Usage { .. } => {
            Message::Used { request, result: result.map_err(|error| failure(&error)).and_then(|answer| used(&answer)) }
        }
        Request::Artefact { .. } => {
            let result = result.map(|answer| (answer.received, answer.body.len())).map_err(|error| failure(&error));
            Message::Fetched { request, result }
        }
        Request::Behaviour { .. } => {
            Message::Answered { request, result: result.map(here).map_err(|error| failure(&error)) }
        }
        _ => Message::Told { request, result: result.map_err(|error| failure(&error)).and_then(told) },
    }
}

fn balances(result: Result<Answer, GateError>) -> Result<Balances, String> {
    let body = result.map_err(|error| error.to_string())?.body;
    let bytes = body.whole().map_err(|error| error.to_string())?;
    let balances = Balances::parse(&bytes).ok().filter(|balances| !balances.counters().is_empty());
    balances.ok_or_else(|| "the answer is no quota details".to_owned())
}

fn here(answer: Answer) -> Here {
    Here { received: answer.received, body: answer.body, unkept: answer.unkept }
}

/// Nothing but the privileges: the user object holds the key.
fn entitled(answer: &Answer) -> Result<Entitlements, Failure> {
    let user = answer.body.whole().ok().and_then(|bytes| serde_json::from_slice(&bytes).ok());
    user.map(|user| Entitlements::from_user(&user)).ok_or_else(|| Failure {
        what: "The answer is no user object.".to_owned(),
        cost: "Its price was paid.".to_owned(),
        advice: String::new(),
    })
}

fn used(answer: &Answer) -> Result<Usage, Failure> {
    let usage = answer.body.whole().ok().and_then(|bytes| Usage::parse(&bytes).ok());
    usage.ok_or_else(|| Failure {
        what: "The answer is no usage details.".to_owned(),
        cost: Cost::Nothing.to_string(),
        advice: String::new(),
    })
}

/// An answer taken apart, a line a leaf.
fn told(answer: Answer) -> Result<(Timestamp, Vec<Line>), Failure> {
    let unreadable = |why: String| Failure {
        what: sentence(&why),
        cost: "Its price was paid, and it is held.".to_owned(),
        advice: String::new(),
    };
    if answer.body.len() > LARGEST_TREE {
        return Err(unreadable(format!("the answer is larger than {}", crate::text::bytes(LARGEST_TREE))));
    }
    let bytes = answer.body.whole().map_err(|error| unreadable(error.to_string()))?;
    Ok((answer.received, lines(&bytes)))
}

fn page(answer: Answer) -> Result<HeldPage, Failure> {
    let page = Page::of(&answer.body).map_err(|error| Failure {
        what: sentence(&error.to_string()),
        cost: "Its price was paid.".to_owned(),
        advice: String::new(),
    })?;
    Ok(HeldPage { received: answer.received, page, unkept: answer.unkept })
}

fn failure(error: &GateError) -> Failure {
    let (cost, advice) = match error {
        GateError::Service { error, cost, line } => {
            let logged = line.as_ref().map(|line| format!("Log line {line}."));
            let advice = [Some(error.advice()).filter(|advice| !advice.is_empty()), logged];
            (*cost, advice.into_iter().flatten().collect::<Vec<_>>().join(" "))
        }
        GateError::Offline => (Cost::Nothing, "Leave --offline out, and `offline` in the config file.".to_owned()),
        GateError::Ledger(_) | GateError::Store(_) => {
            (Cost::Nothing, "Check the disk's free space and the data folder's permissions.".to_owned())
        }
        GateError::NotEntitled(_) | GateError::UnderWay | GateError::UnderWayElsewhere(_) => {
            (Cost::Nothing, String::new())
        }
        GateError::OverBudget(_) => (Cost::Nothing, "The config file's [budget] sets the limits.".to_owned()),
        GateError::Internal(_) => (Cost::Perhaps(None), String::new()),
    };
    Failure { what: sentence(&error.to_string()), cost: cost.to_string(), advice }
}

/// An error's words, made visible: a path may stand in them.
fn words(error: &dyn std::fmt::Display) -> String {
    Untrusted::from(error.to_string()).visible_cut(400).to_string()
}

/// An error's words as a sentence.
fn sentence(words: &str) -> String {
    let mut letters = words.chars();
    let first = letters.next().map(|first| first.to_uppercase().to_string()).unwrap_or_default();
    format!("{first}{}.", letters.as_str().trim_end_matches('.'))
}

fn ledger(gate: &Gate) -> Result<Message, StoreError> {
    let line = |entry: LedgerEntry| LedgerLine {
        at: entry.at,
        counts_as: entry.careful(),
        is_open: entry.is_open(),
        what: Untrusted::from(entry.what).visible().to_string(),
        predicted_min: entry.predicted_min,
        predicted_max: entry.predicted_max,
        state: entry.state.name(),
        counted: entry.counted,
    };
    let (store, profile) = (gate.store(), gate.profile());
    let lines: Vec<_> = store.latest_entries(profile, SHOWN)?.into_iter().map(line).collect();
    let since = |period: Period| store.spent_since(profile, period.began(gate.now()));
    Ok(Message::Ledger(LedgerPage {
        session: gate.spent()?,
        today: since(Period::Daily)?,
        month: since(Period::Monthly)?,
        older: store.count_entries(profile)?.saturating_sub(lines.len() as u64),
        lines,
    }))
}

fn recent(gate: &Gate) -> Result<Message, StoreError> {
    let files = gate.store().recent_files(gate.profile(), RECENT)?;
    let recent = files.into_iter().map(|f| Recent {
        file: f.sha256,
        name: f.name,
        opened: f.opened,
        reports: f.reports,
        notes: f.notes,
    });
    Ok(Message::Recent(recent.collect()))
}

/// What was written of a file's reports.
fn notes(gate: &Gate, file: Sha256) -> Message {
    match gate.store().notes(gate.profile(), Some(&file)) {
        Ok(notes) => Message::Notes { file, notes },
        Err(error) => Message::Notice(error.to_string()),
    }
}

/// Everything that is held of a file: its list pages, one after another, and its reports.
fn recall(gate: &Gate, file: &Sha256) -> Result<Message, StoreError> {
    let (pages, reports) = held_of(gate, file)?;
    Ok(Message::Recalled { file: file.clone(), pages, reports })
}

/// Finds a report's indicators in its bytes.
fn indicators(body: &Body, is_stopped: &dyn Fn() -> bool) -> std::io::Result<Indicators> {
    let index = Index::open(body)?;
    Indicators::of(&Report::new(body.clone(), index), is_stopped)
}

/// The hashes that a file lists; one that is larger than any list is not read.
fn count_hashes(path: &Path) -> Result<Hashes, String> {
    let mut list = Vec::new();
    let file = File::open(path).map_err(|error| error.to_string())?;
    if !file.metadata().is_ok_and(|found| found.is_file()) {
        return Err("it is no ordinary file".to_owned());
    }
    file.take(LARGEST_LIST + 1).read_to_end(&mut list).map_err(|error| error.to_string())?;
    if list.len() as u64 > LARGEST_LIST {
        return Err(format!("it is larger than {}", crate::text::bytes(LARGEST_LIST)));
    }
    Hashes::of(&list)
}

/// Finds a report's rows: by the index that is kept of it, or by reading it.
fn open(work: &Work, opening: Opening, body: &Body, is_wanted: impl Fn() -> bool) {
    if body.len() > crate::report::body::LARGEST {
        let why = format!("it is larger than {}", crate::text::bytes(crate::report::body::LARGEST));
        return work.send(Message::Unreadable { opening, why });
    }
    if let Some(index) = Index::kept(body) {
        work.send(Message::Indexed { opening, batch: index.clone().into() });
        // The screen comes first: what it shows is checked as it is read, and the rest can wait.
        std::thread::sleep(PACE);
        if index.verify().is_ok() {
            return;
        }
        work.send(Message::IndexLost { opening });
    }
    match index(work, opening, body, is_wanted) {
        // One that cannot be kept is made again when it is wanted.
        Ok(found) => found.into_iter().for_each(|index| drop(index.keep(body))),
        Err(error) => work.send(Message::Unreadable { opening, why: words(&error) }),
    }
}

/// Applies the rules to a report, after reading them where that has not been done.
fn judge(
    work: &Work,
    opening: Opening,
    body: &Body,
    rules: Option<Arc<Rules>>,
    own: Option<&Path>,
    is_wanted: impl Fn() -> bool,
) {
    let rules = rules.unwrap_or_else(|| {
        let (rules, problems) = read_rules(own);
        let rules = Arc::new(rules);
        work.send(Message::Ruled { rules: Arc::clone(&rules), problems });
        rules
    });
    let report = Index::open(body).map(|index| Report::new(body.clone(), index));
    match report.and_then(|report| rules.judge(&report, &is_wanted)) {
        Ok(marks) if is_wanted() => work.send(Message::Judged { opening, marks }),
        // A report that cannot be read has been said to be so.
        Ok(_) | Err(_) => {}
    }
}

/// The rules that are shipped and the user's own; a file that is not there says nothing.
fn read_rules(own: Option<&Path>) -> (Rules, Vec<String>) {
    let text = own.map(std::fs::read_to_string);
    match text {
        Some(Ok(text)) => Rules::read(Some(("rules.toml", &text))),
        Some(Err(error)) if error.kind() != std::io::ErrorKind::NotFound => {
            let (rules, mut problems) = Rules::read(None);
            problems.push(format!("rules.toml cannot be read: {error}; the rules that are shipped work."));
            (rules, problems)
        }
        _ => Rules::read(None),
    }
}

/// Reads a report, and tells of its rows as they are found; gives back its index, if that can be kept.
fn index(work: &Work, opening: Opening, body: &Body, is_wanted: impl Fn() -> bool) -> std::io::Result<Option<Index>> {
    let (mut indexer, mut told) = (Indexer::default(), None::<Instant>);
    let mut whole = body.keeps_index().then(Index::default);
    let mut tell = |batch: Batch| {
        whole.iter_mut().for_each(|index| index.absorb(batch.clone()));
        work.send(Message::Indexed { opening, batch });
    };
    for window in body.windows() {
        indexer.feed(&window?);
        if !is_wanted() {
            return Ok(None);
        }
        // The first rows at once, the others at a pace that leaves the loop free.
        if told.is_none_or(|told| told.elapsed() >= PACE) {
            told = Some(Instant::now());
            tell(indexer.take());
        }
    }
    tell(indexer.finish());
    Ok(whole)
}

/// Tells the loop of what is found, the first at once and the rest at a pace that leaves it free.
struct Teller<'a, T> {
    work: &'a Work,
    ticket: &'a Ticket,
    found: T,
    told: Option<Instant>,
}

impl<'a, T: Default> Teller<'a, T> {
    fn new(work: &'a Work, ticket: &'a Ticket) -> Self {
        Self { work, ticket, found: T::default(), told: None }
    }

    /// Tells what has been found when it is time; says whether to go on.
    fn tell(&mut self, is_first: bool, message: impl FnOnce(u64, T) -> Message) -> ControlFlow<()> {
        if !self.ticket.is_wanted() {
            return ControlFlow::Break(());
        }
        let is_time = self.told.map_or(is_first, |told| told.elapsed() >= PACE);
        if is_time {
            self.told = Some(Instant::now());
            self.work.send(message(self.ticket.number, std::mem::take(&mut self.found)));
        }
        ControlFlow::Continue(())
    }
}

/// How a search ends that a bug has stopped.
fn search_bug(ticket: &Ticket) -> impl FnOnce(String) -> Message + Send + 'static {
    let search = ticket.number;
    move |why| Message::Hits { search, groups: Vec::new(), searched: (0, 0), ended: Some(Err(why)) }
}

fn filter(work: &Work, ticket: &Ticket, report: &Report, pattern: &Pattern, scope: Scope) {
    let mut teller = Teller::<RowSet>::new(work, ticket);
    let result = crate::report::find::search(report, pattern, scope, &mut |rows| {
        teller.found.extend(&rows);
        let is_first = !teller.found.is_empty();
        teller.tell(is_first, |search, rows| Message::Found { search, rows, ended: None })
    });
    let ended = Some(result.map_err(|error| format!("cannot be read: {error}")));
    work.send(Message::Found { search: ticket.number, rows: teller.found, ended });
}

fn find(work: &Work, ticket: &Ticket, report: &Report, pattern: &Pattern) {
    let mut teller = Teller::<Vec<HitGroup>>::new(work, ticket);
    let result = search::by_pane(report, pattern, 2, MOST_HITS, &mut |groups| {
        teller.found.extend(groups);
        teller.tell(true, |search, groups| Message::Hits { search, groups, searched: (0, 0), ended: None })
    });
    let ended = Some(result.map_err(|error| format!("cannot be read: {error}")));
    work.send(Message::Hits { search: ticket.number, groups: teller.found, searched: (0, 0), ended });
}

fn search_held(work: &Work, ticket: &Ticket, gate: &Gate, pattern: &Pattern) {
    let mut teller = Teller::<Vec<HitGroup>>::new(work, ticket);
    let (store, profile) = (gate.store(), gate.profile());
    let read = store.notes(profile, None).and_then(|notes| Ok((notes, store.every_report(profile)?)));
    let reports = match read {
        Ok((notes, reports)) => {
            teller.found = search::notes(notes, pattern);
            reports
        }
        Err(error) => {
            let ended = Some(Err(error.to_string()));
            return work.send(Message::Hits { search: ticket.number, groups: Vec::new(), searched: (0, 0), ended });
        }
    };
    let reports: Vec<_> = reports.into_iter().map(|(file, held)| search::Searched { file, held }).collect();
    let (all, mut done, mut unreadable) = (reports.len() as u64, 0, None);
    search::every_report(&reports, pattern, MOST_HITS, &mut |outcome| {
        done = outcome.searched;
        match outcome.found {
            Ok(found) => teller.found.extend(found.map(|found| found.group)),
            Err(error) => unreadable = Some(format!("a report cannot be read: {error}")),
        }
        let is_first = !teller.found.is_empty();
        teller.tell(is_first, |search, groups| Message::Hits { search, groups, searched: (done, all), ended: None })
    });
    let ended = Some(unreadable.map_or(Ok(()), Err));
    work.send(Message::Hits { search: ticket.number, groups: teller.found, searched: (done, all), ended });
}
