//! Sending requests: prices, budget, calls in flight, and confirmations.

pub mod ad_hoc;
pub mod counters;
pub mod price;
mod sending;

use crate::app::export_form::{ClipboardCopy, SaveJob};
use crate::app::keys::key;
use crate::app::overlays::{OverlayScreen, OverlayStack, pieces_in_rows};
use crate::app::{Key, KeyContext, ResponseSource};
use crate::quota::TeamOverride;
use crate::report::Deletion;
use crate::report::identifier::{FileHash, Sha256};
use crate::report::note::Note;
use crate::request::{Request, Submission};
use crate::text::wrap;
pub(super) use ad_hoc::last_30_days;
pub use ad_hoc::{AD_HOC_REQUESTS, AdHocPrompt, AdHocRequest, PlannedOperations, Planner, Prompt};
pub use counters::CostView;
pub(super) use counters::show_costs;
pub use price::{Calls, InFlightCall, KeyPrice, Obstacle};
pub(super) use sending::{ask_to_permit, find_shared};
use std::sync::Arc;

/// A confirmation before something becomes public, costs more than the limit, or does harm.
#[derive(Debug)]
pub struct Confirmation {
    pub(super) number: u64,
    pub details: String,
    pub(crate) choices: Vec<KeyChoice>,
    pub(crate) back: String,
}

/// A key that answers a confirmation.
#[derive(Debug, Clone)]
pub struct KeyChoice {
    pub key: Key,
    pub label: &'static str,
    pub consent: Consent,
}

/// What a confirmation allows, once.
#[derive(Debug, Clone)]
pub enum Consent {
    /// Perhaps against the team's rules.
    Send(Request, ResponseSource, Option<TeamOverride>),
    OpenAll(Vec<Request>),
    SubmitLarge(Arc<Submission>),
    Follow(Sha256),
    CopyRaw(ClipboardCopy),
    Overwrite(SaveJob),
    DeleteNote(Note),
    DeleteStored(Deletion),
}

impl Confirmation {
    /// Returns the keys in rows, the declining one last.
    pub fn key_rows(&self, columns: usize) -> Vec<String> {
        let choices = self.choices.iter().map(|choice| format!("{} {}", choice.key, choice.label));
        let keys: Vec<_> = choices.chain([format!("{} no", self.back)]).collect();
        pieces_in_rows(&keys, columns)
    }
}

impl KeyChoice {
    pub(crate) fn yes(label: &'static str, consent: Consent) -> Self {
        Self { key: key('y'), label, consent }
    }

    /// Returns the answer for several items, by another key, so that habit does not confirm it.
    pub(crate) fn yes_to_all(label: &'static str, consent: Consent) -> Self {
        Self { key: key('Y'), label, consent }
    }
}

impl Consent {
    pub(super) fn requests(&self) -> Vec<Request> {
        match self {
            Self::Send(request, ..) => vec![request.clone()],
            Self::OpenAll(reports) => reports.clone(),
            Self::SubmitLarge(submission) => vec![Request::PrivateScan { submission: submission.clone(), to: None }],
            Self::Follow(file) => vec![Request::PrivateAnalyses { file: file.clone() }],
            _ => Vec::new(),
        }
    }

    pub fn sends(&self) -> bool {
        matches!(self, Self::Send(..) | Self::OpenAll(_) | Self::SubmitLarge(_) | Self::Follow(_))
    }
}

impl OverlayStack {
    /// Returns the answers of the open confirmation, if any.
    pub fn choices(&self) -> &[KeyChoice] {
        self.top_as::<Confirmation>().map_or(&[], |question| &question.choices)
    }

    /// Returns the hashes of a batch request without a stored response.
    pub fn missing(&self, request: &Request) -> Option<&[FileHash]> {
        let asked = self.find::<Prompt>()?.source.missing.as_ref();
        asked.filter(|(asked, _)| asked == request).map(|(_, missing)| &**missing)
    }

    pub(crate) fn choice(&self, key: Key) -> Option<&KeyChoice> {
        self.choices().iter().find(|choice| choice.key == key)
    }
}

impl OverlayScreen for Confirmation {
    fn key_context(&self) -> KeyContext {
        KeyContext::Confirm
    }

    /// Returns rows of its whole text and its keys.
    fn height(&self, columns: usize) -> usize {
        wrap(&self.details, columns).len() + self.key_rows(columns).len()
    }
}
