//! The price of a key right now, in more and in fewer words, and which prices the user has seen; and the figures behind them: the
//! service's counters, what this session has spent, entitlements, the budget.

use crate::app::commands::Act;
use crate::app::spending::counters::when;
use crate::app::spending::{Confirmation, Prompt};
use crate::app::{Command, Key, Model, Overlay, ResponseSource};
use crate::quota::{
    Balances, Budget, Entitlements, Fit, Holder, Kind, Limit, Operation, Period, Plan, Price, Spent, Unit, Units,
    Usage, price,
};
use crate::request::Request;
use crate::text::thousands;
use jiff::Timestamp;
use std::collections::BTreeMap;
use std::fmt;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Tag {
    Free,
    Held,
    Costs(Box<Price>),
    UnderWay,
    /// Nothing, because the quota is spent: when it is worth trying again, as far as that is known.
    Spent(String),
    /// Nothing, because the service refuses: until when.
    Wait(String),
    Together(Together),
    /// Nothing now; what it opens asks for this.
    Later(Together),
    OverBudget(Box<Self>),
    Barred(Barred),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Barred {
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

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Together {
    pub(in crate::app) plan: Plan,
    /// Whether it may end before all of them are asked.
    pub(in crate::app) is_at_most: bool,
}

impl Together {
    pub(in crate::app) fn of(operation: Operation, entitled: &Entitlements) -> Self {
        Self { plan: Plan::of([operation], entitled), is_at_most: false }
    }

    /// The most that it can cost; none if that is unknown.
    pub(in crate::app) fn worst(&self) -> Option<u64> {
        let total = self.plan.totals().into_iter().fold(Units::NOTHING, |sum, (_, total)| sum.plus(total));
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
            Self::Costs(price) if !price.is_free() && price.refusal.is_none() => Some(price.short()),
            Self::Together(together) => Some(together.to_string()),
            Self::OverBudget(tag) => tag.spends(),
            _ => None,
        }
    }

    /// The price in the words of a wide bar.
    pub fn words(&self) -> String {
        match self {
            Self::Free => "0".to_owned(),
            Self::Held => "0, stored".to_owned(),
            Self::Costs(price) => price.short(),
            Self::UnderWay => "in flight".to_owned(),
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
        let forecast = together.plan.clone().forecast(&self.figures.balances_now(self.now)?, self.now);
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
        Together::of(Operation::once(kind), &self.figures.entitlements)
    }

    /// What pressing a command's key would cost, and whether the budget allows that.
    pub fn tag(&self, command: &Command) -> Tag {
        self.in_budget(self.tag_of_any_budget(command))
    }

    pub(in crate::app) fn in_budget(&self, tag: Tag) -> Tag {
        let worst = match &tag {
            Tag::Costs(price) if price.refusal.is_none() => price.units.max,
            Tag::Together(together) | Tag::Later(together) if together.plan.refusal().is_some() => return tag,
            Tag::Together(together) | Tag::Later(together) => together.worst(),
            _ => return tag,
        };
        let is_allowed = self.figures.allowance.allows(worst, self.spent().into_values().sum());
        if is_allowed { tag } else { Tag::OverBudget(Box::new(tag)) }
    }

    pub(in crate::app) fn refuse_several(&mut self, label: &str, tag: &Tag) {
        let way = match tag {
            Tag::OverBudget(tag) if matches!(&**tag, Tag::Together(together) if together.is_at_most) => {
                "fewer polls may fit: [follow] in the config."
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
            let worst = price.units.max;
            let worst = Spent { unsure: worst.unwrap_or(1), is_open: worst.is_none(), ..Spent::default() };
            let sum = spent.entry(price.unit).or_default();
            *sum = sum.and(worst);
        }
        spent
    }

    fn tag_of_any_budget(&self, command: &Command) -> Tag {
        let (request, is_held, is_anew) = match &command.act {
            Act::Local(_) => return Tag::Free,
            Act::Chosen => return self.chosen_item().map_or(Tag::Free, |item| item.tag.clone()),
            Act::Leads { price, .. } => return self.several_tag(price(self), Tag::Later),
            Act::Each { price, .. } => return self.several_tag(price(self), Tag::Together),
            Act::Ask { request, is_held, anew, .. } => (request, is_held, *anew),
        };
        match request(self) {
            None => Tag::Free,
            Some(_) if is_held(self) || self.is_typed_held(command) => Tag::Held,
            Some(request) => {
                let source = if is_anew { ResponseSource::Service } else { ResponseSource::StoredOrService };
                self.tag_of(&request, self.price_from(&request, source))
            }
        }
    }

    /// The price of a request to this source, which may have a part of it already.
    pub fn price_from(&self, request: &Request, source: ResponseSource) -> Price {
        let forms = self.over.all.iter().filter_map(|over| match over {
            Overlay::Prompt(form) if source != ResponseSource::Service => form.source.missing.as_ref(),
            _ => None,
        });
        let quote = request.clone().quote(&self.figures.entitlements);
        let missing = forms.filter(|(asked, _)| asked == request).map(|(_, missing)| missing.clone()).next();
        missing.map_or(quote.clone(), |missing| quote.of_missing(missing)).price().clone()
    }

    pub(super) fn tag_of(&self, request: &Request, price: Price) -> Tag {
        if self.calls.has(request) {
            return Tag::UnderWay;
        }
        if let Some(barred) = self.service.barred() {
            return Tag::Barred(barred);
        }
        self.figures.bar(&price, self.now).unwrap_or_else(|| Tag::Costs(Box::new(price)))
    }

    /// What several questions cost, unless something bars one of them for now.
    pub(super) fn several_tag(&self, together: Together, tag: fn(Together) -> Tag) -> Tag {
        if let Some(barred) = self.service.barred() {
            return Tag::Barred(barred);
        }
        let bar = |price: &Price| self.figures.bar(price, self.now);
        let bar = together.plan.prices.iter().find_map(bar).filter(|_| together.plan.refusal().is_none());
        bar.unwrap_or_else(|| tag(together))
    }

    pub(in crate::app) fn is_typed_held(&self, command: &Command) -> bool {
        let Some(form) = self.over.top_as::<Prompt>() else { return false };
        matches!(command.act, Act::Ask { anew: false, .. }) && form.held_since(self.now).is_some()
    }
}

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
        let is_seen =
            |open: &Confirmation| self.question.is_some_and(|(at, since)| at == open.number && since <= frame);
        model.over.top_as::<Confirmation>().is_none_or(is_seen)
    }

    /// Whether what a key would spend now was on the screen already when the frame of this number was the last one drawn.
    pub(in crate::app) fn has_seen(&self, model: &Model, key: Key, frame: u64) -> bool {
        offer(model, key).is_none_or(|offer| {
            self.priced.iter().any(|shown| shown.key == key && shown.offer == offer && shown.since <= frame)
        })
    }
}

fn asked(model: &Model, frame: u64) -> Option<(u64, u64)> {
    let waits = model.over.top_as::<Confirmation>().filter(|_| model.can_answer())?.number;
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

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RemainingQuota {
    pub limit: Limit,
    /// Whether it was renewed since the counters were asked for: what others have used since is not known.
    pub is_at_most: bool,
}

#[derive(Debug, Default)]
pub struct Figures {
    pub balances: Option<Balances>,
    /// When they were asked for: a period that has begun since is not counted in them.
    asked: Option<Timestamp>,
    pub failure: Option<String>,
    /// Whether the service refused the last call that costs something because the quota is spent.
    pub says_spent: bool,
    /// Until when the service refuses paid calls.
    pub wait_until: Option<Timestamp>,
    pub usage: Option<Usage>,
    /// What the user has bought, as far as it is known.
    pub entitlements: Entitlements,
    pub spent: BTreeMap<Unit, Spent>,
    pub allowance: Allowance,
    /// How often the counters confirmed and contradicted the price of each operation.
    pub record: BTreeMap<String, (u64, u64)>,
    /// Whether the user asked for the counters, and sees them when they arrive.
    pub(in crate::app) announces_balances: bool,
    pub(in crate::app) announces_usage: bool,
    /// Whether something was paid while the counters were on their way: what they say may be from before.
    pub(in crate::app) are_outrun: bool,
}

impl Figures {
    /// Records that the user waits for this; other requests have places of their own.
    pub(in crate::app) fn await_answer(&mut self, request: &Request) {
        self.announces_balances |= *request == Request::Quotas;
        self.announces_usage |= matches!(request, Request::Usage { .. });
    }

    pub(in crate::app) fn take_balances(&mut self, balances: Balances, asked: Timestamp) {
        self.entitlements = self.entitlements.updated(Entitlements::from_balances(&balances));
        (self.balances, self.asked, self.failure) = (Some(balances), Some(asked), None);
    }

    /// What the counters are known to leave now: those that were renewed since they were asked for are full, at most.
    pub fn balances_now(&self, now: Timestamp) -> Option<Balances> {
        let balances = self.balances.as_ref()?;
        Some(balances.as_of(now, self.asked.unwrap_or(now)))
    }

    /// The limit on this unit that leaves a holder the least.
    pub fn scarcest(&self, unit: Unit, holder: Holder, now: Timestamp) -> Option<RemainingQuota> {
        let limit = self.balances_now(now)?.scarcest(unit, holder)?;
        Some(self.left_of(limit, now))
    }

    /// Every limit on this unit, the shortest period first, the user before the group.
    pub fn left(&self, unit: Unit, now: Timestamp) -> Vec<RemainingQuota> {
        let limits = self.balances_now(now).map(|balances| balances.limits(unit)).unwrap_or_default();
        limits.into_iter().map(|limit| self.left_of(limit, now)).collect()
    }

    fn left_of(&self, limit: Limit, now: Timestamp) -> RemainingQuota {
        RemainingQuota { limit, is_at_most: self.asked.is_some_and(|asked| limit.period.is_renewed(asked, now)) }
    }

    pub fn used_up(&self, price: &Price, now: Timestamp) -> Option<Limit> {
        let limits = [Holder::User, Holder::Group].map(|holder| self.scarcest(price.unit, holder, now));
        let mut limits = limits.into_iter().flatten().map(|left| left.limit).filter(|_| !price.is_free());
        limits.find(|limit| limit.remaining == 0)
    }

    pub fn waits(&self, now: Timestamp) -> Option<Timestamp> {
        self.wait_until.filter(|until| *until > now)
    }

    /// What prevents a paid call now: the quota is spent, or the service refuses.
    pub fn bar(&self, price: &Price, now: Timestamp) -> Option<Tag> {
        let spent = self.used_up(price, now).map(|limit| Tag::Spent(limit.period.reset_words(now)));
        let wait = || self.waits(now).filter(|_| !price.is_free());
        spent.or_else(|| Some(Tag::Wait(format!("{} UTC", when(wait()?, now)))))
    }
}

/// The budget, and what others have spent of it.
#[derive(Debug, Default)]
pub struct Allowance {
    budget: Budget,
    /// What all runs had spent of the day when it was counted.
    before: Spent,
    until_then: Spent,
    counted: Timestamp,
}

impl Allowance {
    /// A budget of which all runs of this day have spent so much, before this one has spent anything.
    pub fn new(budget: Budget, today: Spent, now: Timestamp) -> Self {
        Self { budget, before: today, until_then: Spent::default(), counted: now }
    }

    /// Begins a new day, if one has begun: what this run spent before it is of another day's budget.
    pub(in crate::app) fn turn(&mut self, session: Spent, now: Timestamp) {
        if Period::Daily.is_renewed(self.counted, now) {
            *self = Self { budget: self.budget, before: Spent::default(), until_then: session, counted: now };
        }
    }

    /// Whether the budget allows so much at worst, after what this run has spent.
    pub(super) fn allows(&self, worst: Option<u64>, session: Spent) -> bool {
        self.budget.allows(worst, session, self.today(session))
    }

    fn today(&self, session: Spent) -> Spent {
        self.before.and(session.without(self.until_then))
    }

    /// The budget and its use in words; none without a limit.
    pub(in crate::app) fn words(&self, session: Spent) -> Option<String> {
        let limits =
            [("This run", self.budget.session, session), ("All runs today", self.budget.daily, self.today(session))];
        let words = limits.into_iter().filter_map(|(who, limit, spent)| {
            let most = if spent.is_open { "at least " } else { "" };
            let (limit, spent) = (thousands(limit?), thousands(spent.total()));
            Some(format!("{who} may spend {limit}: {most}{spent} spent, or may be."))
        });
        let words: Vec<_> = words.collect();
        (!words.is_empty()).then(|| words.join(" "))
    }
}

#[cfg(test)]
mod tests_figures {
    use super::*;

    fn charged(charged: u64) -> Spent {
        Spent { charged, ..Spent::default() }
    }

    #[test]
    fn a_new_day_has_its_budget_whole_and_a_run_does_not() {
        let evening: Timestamp = "2026-11-20T23:50:00Z".parse().unwrap();
        let mut daily = Allowance::new(Budget { daily: Some(5), ..Budget::default() }, charged(3), evening);
        let allows = |allowance: &Allowance, spent| allowance.allows(Some(1), charged(spent));
        assert!(allows(&daily, 1) && !allows(&daily, 2));
        let morning = "2026-11-21T00:10:00Z".parse().unwrap();
        daily.turn(charged(2), morning);
        assert!(allows(&daily, 6) && !allows(&daily, 7));
        let mut session = Allowance::new(Budget { session: Some(2), ..Budget::default() }, charged(3), evening);
        session.turn(charged(2), morning);
        assert!(allows(&session, 1) && !allows(&session, 2));
    }
}
