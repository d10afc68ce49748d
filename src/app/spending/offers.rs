//! What the screen offered for a price, and what it asked, when a key was read: quota is spent only on what the analyst can have
//! seen, and a yes is one to a question that stood there.

use super::questions::Questions;
use crate::app::commands::{Act, Command};
use crate::app::keys::key::Key;
use crate::app::model::Model;

/// What the last frame offered for a price, by key, and what it asked.
#[derive(Debug, Default)]
pub struct Offers {
    priced: Vec<Shown>,
    /// The question that waits for a yes, and the frame from which on it has been there.
    question: Option<(u64, u64)>,
}

/// An offer on the screen.
#[derive(Debug)]
struct Shown {
    key: Key,
    offer: Offer,
    /// The frame from which on it has been there without a break.
    since: u64,
}

/// What a key would spend quota on.
#[derive(Debug, Clone, PartialEq)]
struct Offer {
    command: &'static str,
    requests: Questions,
    price: String,
}

impl Offers {
    /// What the frame of this number offers, now that it has been drawn.
    pub(in crate::app) fn of(model: &Model, frame: u64) -> Self {
        // Where there is no room for the bar, nothing was offered.
        if !model.size.is_enough() {
            return Self::default();
        }
        let can_spend = |command: &&Command| command.asks() || command.name == "choose";
        let keys = Command::at(model.place()).filter(can_spend).flat_map(|command| model.settings.keys.of(command));
        let shown = keys.copied().chain(model.answers().iter().map(|answer| answer.key)).filter_map(|key| {
            let offer = offer(model, key)?;
            let before = model.offers.priced.iter().find(|before| before.key == key && before.offer == offer);
            Some(Shown { key, offer, since: before.map_or(frame, |before| before.since) })
        });
        Self { priced: shown.collect(), question: asked(model, frame) }
    }

    /// Whether the question that waits for a yes, if one does, was on the screen already when the frame of this number was the last
    /// one drawn.
    pub(in crate::app) fn has_asked(&self, model: &Model, frame: u64) -> bool {
        model
            .over
            .question()
            .is_none_or(|waits| self.question.is_some_and(|(asked, since)| asked == waits && since <= frame))
    }

    /// Whether what a key would spend now was on the screen already when the frame of this number was the last one drawn.
    pub(in crate::app) fn has_seen(&self, model: &Model, key: Key, frame: u64) -> bool {
        offer(model, key).is_none_or(|offer| {
            self.priced.iter().any(|shown| shown.key == key && shown.offer == offer && shown.since <= frame)
        })
    }
}

/// The question that a frame asks, if there is room for it and its keys, and since when it does.
fn asked(model: &Model, frame: u64) -> Option<(u64, u64)> {
    let waits = model.over.question().filter(|_| model.can_answer())?;
    let before = model.offers.question.filter(|(before, _)| *before == waits);
    Some(before.unwrap_or((waits, frame)))
}

/// What pressing a key would spend; none where it spends nothing.
fn offer(model: &Model, key: Key) -> Option<Offer> {
    if let Some(answer) = model.answer(key) {
        let (requests, price) = (answer.consent.requests(model), model.price_tag(answer).spends()?);
        return Some(Offer { command: answer.label, requests, price });
    }
    let command = Command::of(key, model)?;
    let price = model.tag(command).spends()?;
    let requests = match &command.act {
        Act::Chosen => model.chosen_item().map(|item| item.requests.clone()).unwrap_or_default(),
        _ => command.requests(model),
    };
    Some(Offer { command: command.meant(model).name, requests, price })
}
