//! Everything that sends a request: its price, its budget, its place in flight; and the question that waits for a clear answer.

pub mod calls;
pub mod counters;
pub mod price;
pub mod typed;

use crate::app::away::{Copied, Save, SaveForm};
use crate::app::keys::key;
use crate::app::over::{OverlayScreen, SMALL, pieces_in_rows};
use crate::app::scan::{SubmitForm, price_of, unsent};
use crate::app::{Failure, FileJob, Key, Model, Overlay, Place, ResponseSource, ServiceCall, StoreJob};
use crate::quota::Plan;
use crate::report::identifier::Sha256;
use crate::report::note::Note;
use crate::report::{Doomed, Holding, Purge};
use crate::request::{Quote, Request, Submission, UploadAddress, UploadLimit};
use crate::text::words_in_rows;
pub use calls::{Calls, InFlightCall, OpenAllBatch};
use jiff::Timestamp;
pub use price::{Obstacle, Tag};
use std::collections::BTreeSet;
use std::slice::from_ref;
use std::sync::Arc;
pub(super) use typed::last_days;
pub use typed::{ASKS, Ask, PlannedOperations, Planner, Prompt, TypedQuestion};

impl Model {
    /// Sends a request, after confirmation where needed; not one in flight or one that cannot be sent.
    pub(in crate::app) fn ask(&mut self, request: Request, source: ResponseSource) {
        let quote = request.quote(&self.figures.entitlements);
        if self.refuse_barred(&quote) {
            return;
        }
        let request = quote.request();
        let price = self.price_from(request, source);
        let words = || format!("{} costs {}.", request.words(), price.short());
        let dear = || self.is_dear(price.verdict.units.max).then(words);
        if let Some(why) = request.warning().or_else(dear) {
            return self.ask_first(why, KeyedAnswer::yes("yes, send it", Consent::Send(request.clone(), source)));
        }
        if !self.refuse_for_now(&quote) {
            self.send(quote, source)
        }
    }

    pub(in crate::app) fn ask_agreed(&mut self, request: Request, source: ResponseSource) -> bool {
        let quote = request.quote(&self.figures.entitlements);
        let is_sent = !self.refuse_barred(&quote) && !self.refuse_for_now(&quote);
        if is_sent {
            self.send(quote, source);
        }
        is_sent
    }

    /// Loads a response that the screen shows as stored; nothing is sent, though it may be deleted by now.
    pub(in crate::app) fn ask_held(&mut self, request: Request) {
        if self.is_quitting {
            return;
        }
        let quote = request.quote(&self.figures.entitlements);
        self.calls.begin(quote.request().clone(), false, self.now);
        self.emit(ServiceCall::Send { quote: Box::new(quote), source: ResponseSource::Stored });
    }

    fn refuse_barred(&mut self, quote: &Quote) -> bool {
        self.is_quitting || self.calls.has(quote.request()) || self.refuse_unsendable(quote.price().verdict.refusal)
    }

    /// Refuses what cannot be sent at all, and says why; whether it did.
    pub(in crate::app) fn refuse_unsendable(&mut self, refusal: Option<&'static str>) -> bool {
        let why = match (self.service.barred(), refusal) {
            (Some(Obstacle::Offline), _) => {
                "Nothing was sent: this run is offline. Start again without --offline, and without `offline` in the \
                 config file."
                    .to_owned()
            }
            (Some(_), _) => {
                "Nothing was sent: no API key. Set BEHAVIEW_API_KEY and start again, or run `behaview demo`.".to_owned()
            }
            (None, Some(reason)) => {
                format!("Nothing was sent: {reason}. {} explains.", self.way_to("prices"))
            }
            (None, None) => return false,
        };
        self.warn(why);
        true
    }

    fn refuse_for_now(&mut self, quote: &Quote) -> bool {
        let obstacle = self.figures.bar(quote.price(), self.now);
        self.refuse(&Tag { obstacle, ..Tag::default() })
    }

    fn send(&mut self, quote: Quote, source: ResponseSource) {
        let request = quote.request().clone();
        self.forget_failure(&request);
        let is_paid = !quote.price().is_free();
        self.calls.begin(request, is_paid, self.now);
        self.emit(ServiceCall::Send { quote: Box::new(quote), source });
    }

    pub(in crate::app) fn says_in_flight(&mut self, request: &Request) -> bool {
        let is_in_flight = self.calls.has(request) && !self.is_quitting;
        if is_in_flight {
            self.say("It is in flight already: one response serves, and is paid for once.");
        }
        is_in_flight
    }

    /// Whether the worst price needs confirmation; an unknown one does.
    pub(in crate::app) fn is_dear(&self, worst: Option<u64>) -> bool {
        self.settings.confirm_above.is_some_and(|most| worst.is_none_or(|worst| worst > most))
    }

    fn forget_failure(&mut self, request: &Request) {
        match request {
            Request::Behaviours { file, .. } => {
                self.files.list_of_mut(file).into_iter().for_each(|list| list.failure = None);
            }
            Request::PrivateScan { .. } | Request::UploadAddress => {
                self.over.find_mut::<SubmitForm>().into_iter().for_each(|form| form.failure = None);
            }
            Request::Behaviour { identifier } => {
                self.files.each_entry_mut(identifier).for_each(|entry| entry.failure = None);
            }
            _ => {}
        }
    }
}

impl Model {
    pub fn large_price(&self) -> Plan {
        let price = |submission| price_of(&submission, UploadLimit::Large, &self.figures.entitlements);
        self.large_scan().map(price).unwrap_or_default()
    }

    pub(in crate::app) fn submit_large(&mut self) {
        let Some(submission) = self.large_scan() else { return };
        let (scan, price) =
            (Request::PrivateScan { submission: Arc::clone(&submission), to: None }, self.large_price());
        let dear = || self.is_dear(price.worst()).then(|| format!("{} costs {price}.", scan.words()));
        if let Some(why) = scan.warning().or_else(dear) {
            return self.ask_first(why, KeyedAnswer::yes("yes, submit it", Consent::SubmitLarge(submission)));
        }
        self.look_again(&submission)
    }

    pub(super) fn look_again(&mut self, submission: &Arc<Submission>) {
        let Some(form) = self.form_of(submission) else { return };
        (form.source.agreed, form.failure) = (Some(Arc::clone(submission)), None);
        form.source.looked_at = Some(submission.path.clone());
        self.emit(FileJob::Inspect(submission.path.clone()));
    }

    /// Sends the large file if it has not changed since the user confirmed.
    pub(in crate::app) fn looked_again(
        &mut self,
        agreed: &Arc<Submission>,
        found: Result<(Sha256, u64), String>,
        sent: Option<Timestamp>,
    ) {
        let why = match found {
            Ok((file, size)) if file == agreed.file && size == agreed.size && sent <= agreed.sent => {
                // The call keeps which file was agreed to.
                if self.ask_agreed(Request::UploadAddress, ResponseSource::Service) {
                    self.calls.upload_after(&Request::UploadAddress, agreed);
                }
                return;
            }
            Ok((file, _)) if file == agreed.file && sent > agreed.sent => "it was sent meanwhile".to_owned(),
            Ok(_) => "it has changed since it was inspected".to_owned(),
            Err(why) => why,
        };
        self.scan_failed(agreed, Failure { is_of_file: true, ..unsent(why) });
    }

    /// Uploads the file that the user agreed to, unless its form was closed.
    pub(in crate::app) fn on_upload_url(&mut self, agreed: Option<Arc<Submission>>, to: UploadAddress) {
        let Some(submission) = agreed else { return };
        if self.form_of(&submission).is_none() {
            return self.warn("The form was closed: nothing was uploaded. The address it asked for was paid.");
        }
        self.ask_agreed(Request::PrivateScan { submission, to: Some(to) }, ResponseSource::Service);
    }
}

/// Rows that the keys of a question take where there is little room.
const KEYS: usize = 2;

/// A question about what becomes public, costs more than is let pass without, or may do harm.
#[derive(Debug)]
pub struct Confirmation {
    /// A number that no other confirmation has.
    pub(super) number: u64,
    pub details: String,
    pub answers: Vec<KeyedAnswer>,
}

#[derive(Debug, Clone)]
pub struct KeyedAnswer {
    pub key: Key,
    pub label: &'static str,
    pub consent: Consent,
}

#[derive(Debug, Clone)]
pub enum Consent {
    Send(Request, ResponseSource),
    OpenAll(Vec<Request>),
    SubmitLarge(Arc<Submission>),
    /// To follow the scan of this file.
    Follow(Sha256),
    CopyRaw(Copied),
    Overwrite(Save),
    DeleteNote(Note),
    DeleteStored(Deletion),
}

impl Confirmation {
    pub fn key_rows(&self, model: &Model, columns: usize) -> Vec<String> {
        let answers = self.answers.iter().map(|answer| format!("{} {}", answer.key, answer.label));
        let keys: Vec<_> = answers.chain([format!("{} no", model.way_to("back"))]).collect();
        pieces_in_rows(&keys, columns)
    }
}

impl KeyedAnswer {
    pub fn yes(label: &'static str, consent: Consent) -> Self {
        Self { key: key('y'), label, consent }
    }

    /// The answer for more than one item has another key, so that it is not pressed by habit.
    pub fn yes_to_all(label: &'static str, consent: Consent) -> Self {
        Self { key: key('Y'), label, consent }
    }
}

impl Consent {
    pub(super) fn requests(&self) -> Vec<Request> {
        match self {
            Self::Send(request, _) => vec![request.clone()],
            Self::OpenAll(reports) => reports.clone(),
            Self::SubmitLarge(submission) => {
                vec![Request::PrivateScan { submission: Arc::clone(submission), to: None }]
            }
            Self::Follow(file) => vec![Request::PrivateAnalyses { file: file.clone() }],
            _ => Vec::new(),
        }
    }

    pub fn asks(&self) -> bool {
        matches!(self, Self::Send(..) | Self::OpenAll(_) | Self::SubmitLarge(_) | Self::Follow(_))
    }
}

impl Model {
    pub fn answers(&self) -> &[KeyedAnswer] {
        self.over.top_as::<Confirmation>().map_or(&[], |question| &question.answers)
    }

    pub fn answer(&self, key: Key) -> Option<&KeyedAnswer> {
        self.answers().iter().find(|answer| answer.key == key)
    }

    /// What an answer would cost, and whether the budget allows that.
    pub fn price_tag(&self, answer: &KeyedAnswer) -> Tag {
        match &answer.consent {
            Consent::Send(request, source) => self.tag_of_request(request, *source),
            Consent::OpenAll(reports) => self.tag_of(self.price_of(reports)),
            Consent::SubmitLarge(submission) => {
                self.tag_of(price_of(submission, UploadLimit::Large, &self.figures.entitlements))
            }
            Consent::Follow(_) => self.tag_of(self.follow_price()),
            _ => Tag::default(),
        }
    }

    pub(in crate::app) fn ask_first(&mut self, details: String, answer: KeyedAnswer) {
        self.confirm_first(details, vec![answer]);
    }

    /// Puts a question whose answers each have a key.
    pub(in crate::app) fn confirm_first(&mut self, details: String, answers: Vec<KeyedAnswer>) {
        let number = self.next_number();
        self.over.put(Confirmation { number, details, answers });
    }

    /// Whether the question that has the keys can be answered: its keys are on the screen, and some of its words.
    pub fn can_answer(&self) -> bool {
        let Some(overlay @ Overlay::Confirm(question)) = self.over.top() else { return true };
        let rows = overlay.area(self.layout().content).inside().height;
        let columns = usize::from(self.overlay_room().width).max(10);
        self.size.is_enough() && question.key_rows(self, columns).len() < usize::from(rows)
    }

    pub(in crate::app) fn confirm(&mut self, answer: KeyedAnswer) {
        if !self.can_answer() {
            self.warn("No room here for the question and its keys: nothing was done.");
            return;
        }
        let tag = self.price_tag(&answer);
        match answer.consent {
            Consent::Send(request, source) => {
                if self.says_in_flight(&request) {
                    return;
                }
                self.figures.await_answer(&request);
                if self.ask_agreed(request, source) {
                    self.over.all.pop_if(|top| matches!(top, Overlay::Confirm(_)));
                }
                return;
            }
            _ if answer.consent.asks() && self.refuse(&tag) => return,
            _ => {}
        }
        self.over.close();
        match answer.consent {
            Consent::Send(..) => {}
            Consent::OpenAll(reports) => self.open_each(reports),
            Consent::SubmitLarge(submission) => self.look_again(&submission),
            Consent::Follow(file) => self.follow(file),
            Consent::CopyRaw(copied) => {
                self.copies_raw = true;
                self.emit(FileJob::Copy(copied));
            }
            Consent::Overwrite(save) => {
                self.with_over(|form: &mut SaveForm| form.source.is_under_way = true);
                self.emit(FileJob::Write(Save { may_replace: true, ..save }));
            }
            Consent::DeleteNote(note) => {
                // The question stood over the line that was emptied.
                self.over.close();
                self.emit(StoreJob::DeleteNote(note));
            }
            Consent::DeleteStored(deletion) => self.emit(StoreJob::Delete(deletion)),
        }
    }
}

impl OverlayScreen for Confirmation {
    fn place(&self) -> Place {
        Place::Confirm
    }

    /// All of its words, and its keys.
    fn height(&self, columns: usize) -> usize {
        (words_in_rows(&self.details, columns).len() + KEYS).max(SMALL)
    }
}

/// What to delete, and what the confirmation named.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Deletion {
    pub what: Purge,
    pub things: Vec<Holding>,
    pub notes: u64,
}

impl Deletion {
    pub fn of(what: Purge, held: &[Holding]) -> Self {
        let Doomed { things, notes, .. } = Doomed::of(from_ref(&what), held, None);
        Self { things: things.into_iter().cloned().collect(), notes, what }
    }

    pub fn bytes(&self) -> u64 {
        self.things.iter().map(|thing| thing.bytes).fold(0, u64::saturating_add)
    }

    /// Whether these are the same things with as many notes.
    pub fn is_still(&self, held: &[Holding]) -> bool {
        let (things, left) = (self.things.iter().collect(), Vec::new());
        let asked = Doomed { things, left, noted: BTreeSet::new(), notes: self.notes };
        asked.named() == Doomed::of(from_ref(&self.what), held, None).named()
    }
}
