//! A question that waits for a clear answer, and what each of its keys does.

use crate::app::away::{Copied, Save};
use crate::app::keys::key;
use crate::app::over::{OverlayScreen, SMALL, pieces_in_rows};
use crate::app::scan::follow::followed;
use crate::app::spending::Tag;
use crate::app::{FileJob, Key, Model, Overlay, Place, ResponseSource, StoreJob};
use crate::report::note::Note;
use crate::report::{Doomed, Holding, Purge};
use crate::request::{Request, Submission};
use crate::text::words_in_rows;
use std::collections::BTreeSet;
use std::slice::from_ref;
use std::sync::Arc;

/// Rows that the keys of a question take where there is little room.
const KEYS: usize = 2;

/// A question about what becomes public, costs more than is let pass without, or may do harm.
#[derive(Debug)]
pub struct Confirmation {
    pub details: String,
    pub answers: Vec<KeyedAnswer>,
}

/// A key that answers a question.
#[derive(Debug, Clone)]
pub struct KeyedAnswer {
    pub key: Key,
    pub label: &'static str,
    pub consent: Consent,
}

/// What the user agrees to.
#[derive(Debug, Clone)]
pub enum Consent {
    Send(Request),
    /// These reports, which are not stored, are asked for.
    OpenAll(Vec<Request>),
    SubmitLarge(Arc<Submission>),
    /// The scan of a file is followed that has reports already.
    Follow,
    CopyRaw(Copied),
    Overwrite(Save),
    DeleteNote(Note),
    DeleteStored(Deletion),
}

impl Confirmation {
    /// A question that one key answers.
    pub fn new(details: String, answer: KeyedAnswer) -> Self {
        Self { details, answers: vec![answer] }
    }

    /// Its keys with their labels, wrapped.
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
    /// What the service is asked, or what it is asked for.
    pub(super) fn requests(&self, model: &Model) -> Vec<Request> {
        match self {
            Self::Send(request) => vec![request.clone()],
            Self::OpenAll(reports) => reports.clone(),
            Self::SubmitLarge(submission) => {
                vec![Request::PrivateScan { submission: Arc::clone(submission), to: None }]
            }
            Self::Follow => followed(model),
            _ => Vec::new(),
        }
    }

    /// Whether it asks the service.
    pub fn asks(&self) -> bool {
        matches!(self, Self::Send(_) | Self::OpenAll(_) | Self::SubmitLarge(_) | Self::Follow)
    }
}

impl Model {
    /// The answers to the question that has the keys.
    pub fn answers(&self) -> &[KeyedAnswer] {
        self.over.top_as::<Confirmation>().map_or(&[], |question| &question.answers)
    }

    /// The answer that a key gives to the question that has the keys.
    pub fn answer(&self, key: Key) -> Option<&KeyedAnswer> {
        self.answers().iter().find(|answer| answer.key == key)
    }

    /// What an answer would cost, and whether the budget allows that.
    pub fn price_tag(&self, answer: &KeyedAnswer) -> Tag {
        self.in_budget(match &answer.consent {
            Consent::Send(request) => self.request_tag(request),
            Consent::OpenAll(reports) => self.several_tag(self.price_of(reports), Tag::Together),
            Consent::SubmitLarge(submission) => self.several_tag(self.price_of_large(Some(submission)), Tag::Together),
            Consent::Follow => self.several_tag(self.follow_price(), Tag::Together),
            _ => Tag::Free,
        })
    }

    /// Puts a question that one key answers.
    pub(in crate::app) fn ask_first(&mut self, details: String, answer: KeyedAnswer) {
        self.over.put(Confirmation::new(details, answer));
    }

    /// Whether the question that has the keys can be answered: its keys are on the screen, and some of its words.
    pub fn can_answer(&self) -> bool {
        let Some(overlay @ Overlay::Confirm(question)) = self.over.top() else { return true };
        let rows = overlay.area(self.layout().content).inside().height;
        let columns = usize::from(self.overlay_room().width).max(10);
        self.size.is_enough() && question.key_rows(self, columns).len() < usize::from(rows)
    }

    /// Does what the user agrees to by an answer.
    pub(in crate::app) fn confirm(&mut self, answer: KeyedAnswer) {
        if !self.can_answer() {
            self.warn("There is no room here for the question and its keys: nothing was done.");
            return;
        }
        let tag = self.price_tag(&answer);
        match answer.consent {
            Consent::Send(request) => {
                if self.says_in_flight(&request) {
                    return;
                }
                self.figures.await_answer(&request);
                if self.ask_agreed(request, ResponseSource::Service) {
                    self.over.close_question();
                }
                return;
            }
            _ if matches!(tag, Tag::OverBudget(_)) => {
                self.refuse_several(answer.label, &tag);
                return;
            }
            _ => {}
        }
        self.over.close_question();
        match answer.consent {
            Consent::Send(_) => {}
            Consent::OpenAll(reports) => self.open_each(reports),
            Consent::SubmitLarge(submission) => self.look_again(&submission),
            Consent::Follow => self.follow(),
            Consent::CopyRaw(copied) => {
                self.copies_raw = true;
                self.emit(FileJob::Copy(copied));
            }
            Consent::Overwrite(save) => {
                self.mark_written();
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
    /// What goes with it, as it was counted.
    pub things: Vec<Holding>,
    /// How many notes go with it.
    pub notes: u64,
}

impl Deletion {
    pub fn of(what: Purge, held: &[Holding]) -> Self {
        let Doomed { things, notes, .. } = Doomed::of(from_ref(&what), held, None);
        Self { things: things.into_iter().cloned().collect(), notes, what }
    }

    pub fn is_empty(&self) -> bool {
        self.things.is_empty()
    }

    pub fn is_of_several(&self) -> bool {
        self.things.len() > 1
    }

    /// How many bytes go, as received.
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
