//! The price of a key right now, in more and in fewer words, and which prices the user has seen; and the figures behind them: the
//! service's counters, what this session has spent, entitlements, the budget.

use crate::app::commands::Act;
use crate::app::spending::{Confirmation, Prompt};
use crate::app::{Command, Key, Model, Overlay, ResponseSource};
use crate::quota::{
    Balances, Budget, Entitlements, Fit, Holder, Limit, Operation, Period, Plan, Price, Spent, Unit, Usage, price,
};
use crate::request::Request;
use crate::text::{lasting, thousands};
use jiff::Timestamp;
use std::collections::BTreeMap;
use std::fmt;

/// What a key costs right now, and what keeps it from asking.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tag {
    /// What it asks of the service; nothing for a key that costs nothing.
    pub plan: Plan,
    /// Whether that is asked only on the screen that the key opens.
    pub is_later: bool,
    pub obstacle: Option<Obstacle>,
}

/// Why a key sends nothing now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Obstacle {
    Stored,
    InFlight,
    Offline,
    NoKey,
    /// When it is worth trying again, as far as that is known.
    QuotaSpent(String),
    /// For how long the service refuses.
    Wait(String),
    OverBudget,
}

impl fmt::Display for Obstacle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stored => f.write_str("stored"),
            Self::InFlight => f.write_str("in flight"),
            Self::Offline => f.write_str("offline"),
            Self::NoKey => f.write_str("no key"),
            Self::QuotaSpent(until) => write!(f, "quota spent until {until}"),
            Self::Wait(time) => write!(f, "wait {time}"),
            Self::OverBudget => f.write_str("over budget"),
        }
    }
}

impl Tag {
    /// What the next press would spend, in words; none where it is nothing.
    pub fn spends(&self) -> Option<String> {
        let is_sent = !self.is_later && matches!(self.obstacle, None | Some(Obstacle::OverBudget));
        let is_paid = self.plan.refusal().is_none() && self.plan.worst() != Some(0);
        (is_sent && is_paid).then(|| self.plan.to_string())
    }

    pub fn is_over_budget(&self) -> bool {
        self.obstacle == Some(Obstacle::OverBudget)
    }

    /// The price in the words of a wide bar.
    pub fn words(&self) -> String {
        let later = if self.is_later && self.plan.refusal().is_none() { "0 now, then " } else { "" };
        match &self.obstacle {
            None => format!("{later}{}", self.plan),
            Some(Obstacle::Stored) => "0, stored".to_owned(),
            Some(Obstacle::OverBudget) => format!("{later}{}, over budget", self.plan),
            Some(obstacle) => obstacle.to_string(),
        }
    }

    /// The price where there is little room; of what a key leads to, the price that is asked there.
    pub fn short(&self) -> String {
        match &self.obstacle {
            None => self.plan.brief(),
            Some(Obstacle::Stored) => "0".to_owned(),
            Some(Obstacle::InFlight) => "…".to_owned(),
            Some(Obstacle::QuotaSpent(_)) => "quota spent".to_owned(),
            Some(obstacle) => obstacle.to_string(),
        }
    }
}

impl Model {
    pub fn price(&self, request: &Request) -> Price {
        price(&request.operation(), &self.figures.entitlements)
    }

    /// How little the service's counters leave, where that is known not to pay for all of this.
    pub(super) fn too_little_left(&self, plan: &Plan) -> Option<String> {
        let forecast = plan.clone().forecast(&self.figures.balances_now(self.now)?, self.now);
        let short = forecast.lines.iter().filter(|line| line.fit == Fit::Short);
        let limit = short.map(|line| line.limit).min_by_key(|limit| limit.remaining)?;
        let (left, period) = (thousands(limit.remaining), limit.period.current());
        Some(match limit.holder {
            Holder::User => format!("only {left} left {period}"),
            Holder::Group => format!("only {left} left to the group {period}"),
        })
    }

    /// What these operations cost together.
    pub(in crate::app) fn plan(&self, operations: impl IntoIterator<Item = Operation>) -> Plan {
        Plan::of(operations, &self.figures.entitlements)
    }

    /// What pressing a command's key would cost, and what keeps it from that.
    pub fn tag(&self, command: &Command) -> Tag {
        let (request, is_held, is_anew) = match &command.act {
            Act::Local(_) | Act::GoToPane(_) => return Tag::default(),
            Act::Chosen => return self.chosen_item().map(|item| item.tag.clone()).unwrap_or_default(),
            Act::Leads { price, .. } => return Tag { is_later: true, ..self.tag_of(price(self)) },
            Act::Each { price, .. } => return self.tag_of(price(self)),
            Act::Ask { request, is_held, anew, .. } => (request, is_held, *anew),
        };
        match request(self) {
            None => Tag::default(),
            Some(_) if is_held(self) || self.is_typed_held(command) => {
                Tag { obstacle: Some(Obstacle::Stored), ..Tag::default() }
            }
            Some(request) => {
                let source = if is_anew { ResponseSource::Service } else { ResponseSource::StoredOrService };
                self.tag_of_request(&request, source)
            }
        }
    }

    /// The tag of one request to this source.
    pub fn tag_of_request(&self, request: &Request, source: ResponseSource) -> Tag {
        let tag = self.tag_of(Plan { prices: vec![self.price_from(request, source)] });
        if self.calls.has(request) { Tag { obstacle: Some(Obstacle::InFlight), ..tag } } else { tag }
    }

    /// What asking all of this costs, and what keeps it from being asked.
    pub(in crate::app) fn tag_of(&self, plan: Plan) -> Tag {
        let is_paid = plan.refusal().is_none() && plan.worst() != Some(0);
        let is_over = || !self.figures.allowance.allows(plan.worst(), self.spent().into_values().sum());
        let bar = || plan.prices.iter().find_map(|price| self.figures.bar(price, self.now));
        let paid = || bar().or_else(|| is_over().then_some(Obstacle::OverBudget));
        let obstacle = self.service.barred().or_else(|| if is_paid { paid() } else { None });
        Tag { plan, is_later: false, obstacle }
    }

    /// Refuses what something keeps from being sent now, and says why; whether it did.
    pub fn refuse(&mut self, tag: &Tag) -> bool {
        if self.refuse_unsendable(tag.plan.refusal()) {
            return true;
        }
        let way = match &tag.obstacle {
            None | Some(Obstacle::Stored | Obstacle::InFlight) => return false,
            Some(Obstacle::QuotaSpent(_)) => {
                format!(" {} asks the counters again, for nothing.", self.way_to("counters"))
            }
            Some(Obstacle::OverBudget) => " `behaview config show` says what sets the budget.".to_owned(),
            Some(_) => String::new(),
        };
        self.warn(format!("Nothing was sent: {}.{way}", tag.words()));
        true
    }

    /// What this run has spent of each unit, with calls in flight at their worst, as the gateway counts.
    pub fn spent(&self) -> BTreeMap<Unit, Spent> {
        let mut spent = self.figures.spent.clone();
        for call in self.calls.paid() {
            let price = self.price(&call.request);
            let worst = price.verdict.units.max;
            let worst = Spent { unsure: worst.unwrap_or(1), is_open: worst.is_none(), ..Spent::default() };
            let sum = spent.entry(price.verdict.unit).or_default();
            *sum = sum.and(worst);
        }
        spent
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
        let (requests, price) = (answer.consent.requests(), model.price_tag(answer).spends()?);
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
    /// Until when the service refuses paid calls, or the limit of a minute holds one back.
    pub wait_until: Option<Timestamp>,
    pub usage: Option<Usage>,
    /// What the user has bought, as far as it is known.
    pub entitlements: Entitlements,
    pub spent: BTreeMap<Unit, Spent>,
    pub allowance: Allowance,
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

    /// The limit on this unit that runs out first for a holder.
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

    fn used_up(&self, price: &Price, now: Timestamp) -> Option<Limit> {
        let limits = [Holder::User, Holder::Group].map(|holder| self.scarcest(price.verdict.unit, holder, now));
        limits.into_iter().flatten().map(|left| left.limit).find(|limit| limit.remaining == 0)
    }

    pub fn waits(&self, now: Timestamp) -> Option<Timestamp> {
        self.wait_until.filter(|until| *until > now)
    }

    /// What prevents a paid call now: the quota is spent, or the service refuses.
    pub fn bar(&self, price: &Price, now: Timestamp) -> Option<Obstacle> {
        if price.is_free() {
            return None;
        }
        let spent = self.used_up(price, now).map(|limit| Obstacle::QuotaSpent(limit.period.reset_words(now)));
        spent.or_else(|| {
            let milliseconds = u64::try_from(now.duration_until(self.waits(now)?).as_millis()).unwrap_or_default();
            Some(Obstacle::Wait(lasting(milliseconds.div_ceil(1000))))
        })
    }
}

/// The budget, and what others have spent of it.
#[derive(Debug, Default)]
pub struct Allowance {
    pub budget: Budget,
    /// What all runs had spent of the day when it was counted.
    before: Spent,
    until_then: Spent,
    counted: Timestamp,
}

impl Allowance {
    /// Takes what all runs have spent of this day, and this run in all.
    pub fn count(&mut self, today: Spent, session: Spent, now: Timestamp) {
        *self = Self { budget: self.budget, before: today, until_then: session, counted: now };
    }

    /// Begins a new day, if one has begun: what this run spent before it is of another day's budget.
    pub(in crate::app) fn turn(&mut self, session: Spent, now: Timestamp) {
        if Period::Daily.is_renewed(self.counted, now) {
            self.count(Spent::default(), session, now);
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
        let of = |budget| Allowance { budget, before: charged(3), until_then: charged(0), counted: evening };
        let mut daily = of(Budget { daily: Some(5), ..Budget::default() });
        let allows = |allowance: &Allowance, spent| allowance.allows(Some(1), charged(spent));
        assert!(allows(&daily, 1) && !allows(&daily, 2));
        let morning = "2026-11-21T00:10:00Z".parse().unwrap();
        daily.turn(charged(2), morning);
        assert!(allows(&daily, 6) && !allows(&daily, 7));
        let mut session = of(Budget { session: Some(2), ..Budget::default() });
        session.turn(charged(2), morning);
        assert!(allows(&session, 1) && !allows(&session, 2));
    }
}
