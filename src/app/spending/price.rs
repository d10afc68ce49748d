//! The price of a key right now, in more and in fewer words, and which prices the user has seen.

use crate::app::commands::Act;
use crate::app::spending::Prompt;
use crate::app::{Command, Key, Model};
use crate::quota::{Entitlements, Fit, Holder, Item, Kind, Numbers, Operation, Plan, Price, Spent, Total, Unit, price};
use crate::request::Request;
use crate::text::thousands;
use std::collections::BTreeMap;
use std::fmt;

/// What pressing a key would cost.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Tag {
    /// Nothing: the service is not asked.
    Free,
    /// Nothing: the response is stored.
    Held,
    Costs(Price),
    /// Nothing now: the same request is in flight.
    UnderWay,
    /// Nothing, because the quota is spent: when it is worth trying again, as far as that is known.
    Spent(String),
    /// Nothing, because the service refuses: until when.
    Wait(String),
    /// Several questions together cost this.
    Together(Together),
    /// Nothing now; what it opens asks for this.
    Later(Together),
    /// It would cost this, and the budget does not allow it.
    OverBudget(Box<Self>),
    /// The service cannot be asked at all.
    Barred(Barred),
}

/// Why the service cannot be asked at all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Barred {
    /// Nothing is to be sent.
    Offline,
    NoKey,
}

impl Barred {
    pub fn words(self) -> &'static str {
        match self {
            Self::Offline => "offline",
            Self::NoKey => "no key",
        }
    }
}

/// What several questions cost together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Together {
    pub(in crate::app) plan: Plan,
    /// Whether it may end before all of them are asked.
    pub(in crate::app) is_at_most: bool,
}

impl Together {
    pub(in crate::app) fn of(operation: Operation, entitled: &Entitlements) -> Self {
        Self { plan: Plan::of(operation, entitled), is_at_most: false }
    }

    /// The most that it can cost; none if that is unknown.
    pub(in crate::app) fn worst(&self) -> Option<u64> {
        let total = self.plan.totals().into_iter().fold(Total::NOTHING, |sum, (_, total)| sum.plus(total));
        total.max
    }

    /// It where there is hardly any room, each unit by its name.
    fn brief(&self) -> String {
        if self.plan.refusal().is_some() {
            return "refused".to_owned();
        }
        let totals: Vec<_> = self.plan.totals().into_iter().map(|(unit, total)| total.brief(unit)).collect();
        format!("{}{}", if self.is_at_most { "≤" } else { "" }, totals.join(" + "))
    }
}

impl fmt::Display for Together {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(reason) = self.plan.refusal() {
            return write!(f, "refused: {reason}");
        }
        let totals: Vec<_> = self.plan.totals().into_iter().map(|(unit, total)| total.words(unit)).collect();
        write!(f, "{}{}", if self.is_at_most { "at most " } else { "" }, totals.join(" and "))
    }
}

impl Tag {
    /// What would be spent, in words; none where it is nothing.
    pub fn spends(&self) -> Option<String> {
        match self {
            Self::Costs(price) if !price.is_free() && price.is_allowed() => Some(price.short()),
            Self::Together(together) => Some(together.to_string()),
            Self::OverBudget(tag) => tag.spends(),
            _ => None,
        }
    }

    /// The price in the words of a wide bar.
    pub fn words(&self) -> String {
        match self {
            Self::Free => "0".to_owned(),
            Self::Held => "0, held".to_owned(),
            Self::Costs(price) => price.short(),
            Self::UnderWay => "under way".to_owned(),
            Self::Spent(until) => format!("quota spent until {until}"),
            Self::Wait(until) => format!("wait until {until}"),
            Self::Barred(barred) => barred.words().to_owned(),
            Self::Together(together) | Self::Later(together) if together.plan.refusal().is_some() => {
                together.to_string()
            }
            Self::Together(together) => format!("{together} in all"),
            Self::Later(together) => format!("0 now, then {together}"),
            Self::OverBudget(tag) => format!("{}, over budget", tag.words()),
        }
    }

    /// The price where there is little room; of what a key leads to, the price that is asked there.
    pub fn short(&self) -> String {
        match self {
            Self::Costs(price) => price.brief(),
            Self::Free | Self::Held => "0".to_owned(),
            Self::UnderWay => "…".to_owned(),
            Self::Spent(_) => "spent".to_owned(),
            Self::Wait(_) => "wait".to_owned(),
            Self::Barred(barred) => barred.words().to_owned(),
            Self::Together(together) | Self::Later(together) => together.brief(),
            Self::OverBudget(tag) => format!("{}, over budget", tag.short()),
        }
    }
}

impl Model {
    pub fn price(&self, request: &Request) -> Price {
        price(&request.operation(), &self.figures.entitlements)
    }

    /// How little the service's counters leave, where that is known not to pay for all of this.
    pub(super) fn too_little_left(&self, together: &Together) -> Option<String> {
        let forecast = together.plan.forecast(self.figures.balances_now(self.now)?.as_ref(), self.now);
        let short = forecast.lines.iter().filter(|line| line.fit == Fit::Short);
        let limit = short.map(|line| line.limit).min_by_key(|limit| limit.remaining)?;
        let (left, period) = (thousands(limit.remaining), limit.period.current());
        Some(match limit.holder {
            Holder::User => format!("only {left} left {period}"),
            Holder::Group => format!("only {left} left to the group {period}"),
        })
    }

    /// What one call of a kind would cost.
    pub(in crate::app) fn price_of_one(&self, kind: Kind) -> Together {
        let one = Numbers { calls: 1, scans: 1, ..Numbers::default() };
        Together::of(Operation::with(kind, one), &self.figures.entitlements)
    }

    /// What pressing a command's key would cost, and whether the budget allows that.
    pub fn tag(&self, command: &Command) -> Tag {
        self.in_budget(self.tag_of_any_budget(command))
    }

    /// A price, and whether the budget allows it.
    pub(in crate::app) fn in_budget(&self, tag: Tag) -> Tag {
        let worst = match &tag {
            Tag::Costs(price) if price.is_allowed() => price.units.max(),
            Tag::Together(together) | Tag::Later(together) if together.plan.refusal().is_some() => return tag,
            Tag::Together(together) | Tag::Later(together) => together.worst(),
            _ => return tag,
        };
        let is_allowed = self.figures.allowance.allows(worst, self.spent().into_values().sum());
        if is_allowed { tag } else { Tag::OverBudget(Box::new(tag)) }
    }

    /// Says that the budget does not allow several questions together, and what it may still allow.
    pub(in crate::app) fn refuse_several(&mut self, label: &str, tag: &Tag) {
        let way = match tag {
            Tag::OverBudget(tag) if matches!(&**tag, Tag::Together(together) if together.is_at_most) => {
                "fewer looks may fit: [follow] in the config."
            }
            _ => "one by one the budget may allow some of them.",
        };
        self.warn(format!("{label}: {}. Nothing was sent; {way}", tag.words()));
    }

    /// What this run has spent of each unit, with calls in flight at their worst, as the gateway counts.
    pub fn spent(&self) -> BTreeMap<Unit, Spent> {
        let mut spent = self.figures.spent.clone();
        for call in self.calls.paid() {
            let price = self.price(&call.request);
            let worst = price.units.max();
            let worst = Spent { unsure: worst.unwrap_or(1), is_open: worst.is_none(), ..Spent::default() };
            let sum = spent.entry(price.unit).or_default();
            *sum = sum.and(worst);
        }
        spent
    }

    fn tag_of_any_budget(&self, command: &Command) -> Tag {
        let (request, is_held) = match &command.act {
            Act::Local(_) => return Tag::Free,
            Act::Chosen => return self.chosen_item().map_or(Tag::Free, |item| item.tag.clone()),
            Act::Leads { price, .. } => return self.several_tag(price(self), Tag::Later),
            Act::Each { price, .. } => return self.several_tag(price(self), Tag::Together),
            Act::Ask { request, is_held, .. } => (request, is_held),
        };
        match request(self) {
            None => Tag::Free,
            Some(_) if is_held(self) || self.is_typed_held(command) => Tag::Held,
            Some(request) => self.request_tag(&request),
        }
    }

    /// What it costs to ask the service this.
    pub(super) fn request_tag(&self, request: &Request) -> Tag {
        if self.calls.has(request) {
            return Tag::UnderWay;
        }
        if let Some(barred) = self.service.barred() {
            return Tag::Barred(barred);
        }
        let price = self.price(request);
        self.figures.bar(&price, self.now).unwrap_or(Tag::Costs(price))
    }

    /// What several questions cost, unless something bars one of them for now.
    pub(super) fn several_tag(&self, together: Together, tag: fn(Together) -> Tag) -> Tag {
        if let Some(barred) = self.service.barred() {
            return Tag::Barred(barred);
        }
        let bar = |item: &Item| self.figures.bar(&item.price, self.now);
        let bar = together.plan.items().iter().find_map(bar).filter(|_| together.plan.refusal().is_none());
        bar.unwrap_or_else(|| tag(together))
    }

    /// Whether the response to the typed request is stored, and the command does not refresh it.
    pub(in crate::app) fn is_typed_held(&self, command: &Command) -> bool {
        let Some(form) = self.over.top_as::<Prompt>() else { return false };
        matches!(command.act, Act::Ask { anew: false, .. }) && form.held_since(self.now).is_some()
    }
}

/// What the last frame offered for a price, by key, and what it asked.
#[derive(Debug, Default)]
pub struct Offers {
    priced: Vec<ShownPrice>,
    /// The open confirmation, and the first frame that showed it.
    question: Option<(u64, u64)>,
}

#[derive(Debug)]
struct ShownPrice {
    key: Key,
    offer: Offer,
    /// The frame from which on it has been there without a break.
    since: u64,
}

/// What a key would spend quota on.
#[derive(Debug, Clone, PartialEq)]
struct Offer {
    command: &'static str,
    requests: Vec<Request>,
    price: String,
}

impl Offers {
    /// What the frame of this number offers, now that it has been drawn.
    pub(in crate::app) fn of(model: &Model, frame: u64) -> Self {
        // A screen without a bar showed no price.
        if !model.size.is_enough() {
            return Self::default();
        }
        let can_spend = |command: &&Command| command.asks() || command.name == "choose";
        let keys = Command::at(model.place()).filter(can_spend).flat_map(|command| model.settings.keys.of(command));
        let shown = keys.copied().chain(model.answers().iter().map(|answer| answer.key)).filter_map(|key| {
            let offer = offer(model, key)?;
            let before = model.offers.priced.iter().find(|before| before.key == key && before.offer == offer);
            Some(ShownPrice { key, offer, since: before.map_or(frame, |before| before.since) })
        });
        Self { priced: shown.collect(), question: asked(model, frame) }
    }

    /// Whether the open confirmation was on the screen when this frame was the last one.
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
