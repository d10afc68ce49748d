//! Prices of keys, their labels and frames; their state: counters, budget; and the calls in flight.

use crate::app::{Key, ResponseSource};
use crate::quota::{
    Balances, Budget, Entitlements, Fit, GroupBudget, Holder, Kind, Limit, Numbers, Operation, Period, Plan, Price,
    SpentUnits, Unit, Usage, price,
};
use crate::report::identifier::{FileHash, Sha256};
use crate::request::{Request, Submission};
use crate::text::{lasting, thousands};
use jiff::Timestamp;
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::Arc;

/// The current cost of a key, and its obstacle.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KeyPrice {
    /// The operations of the key's requests; empty if it has none.
    pub(crate) plan: Plan,
    /// Whether the request is sent only from the screen that the key opens.
    pub(crate) is_deferred: bool,
    pub obstacle: Option<Obstacle>,
}

/// Why a key may not send now.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Obstacle {
    #[error("stored")]
    Stored,
    /// The team has paid for it: who, and when.
    #[error("stored by the team")]
    Shared(String),
    #[error("in flight")]
    InFlight,
    #[error("offline")]
    Offline,
    #[error("no key")]
    NoApiKey,
    /// When the quota is renewed, as far as known.
    #[error("quota spent until {0}")]
    QuotaSpent(String),
    /// For how long the service refuses.
    #[error("wait {0}")]
    Wait(String),
    #[error("over budget")]
    OverBudget,
    /// The team decides when the call is sent; the user may permit it.
    #[error("over the group's budget")]
    OverGroupBudget,
}

fn is_paid(plan: &Plan) -> bool {
    plan.refusal().is_none() && plan.worst() != Some(0)
}

impl KeyPrice {
    /// Returns the plan that the next press would spend; `None` if nothing.
    pub fn paid_plan(&self) -> Option<&Plan> {
        let is_sent = matches!(self.obstacle, None | Some(Obstacle::OverBudget | Obstacle::OverGroupBudget));
        let is_sent = is_sent && !self.is_deferred;
        (is_sent && is_paid(&self.plan)).then_some(&self.plan)
    }

    /// Returns whether none of it is ever charged.
    pub fn is_free(&self) -> bool {
        let is_free = self.plan.refusal().is_none() && self.plan.worst() == Some(0);
        matches!(self.obstacle, Some(Obstacle::Stored | Obstacle::Shared(_))) || self.obstacle.is_none() && is_free
    }

    /// Returns the label of the price in a wide bar.
    pub fn label(&self) -> String {
        let later = if self.is_deferred && self.plan.refusal().is_none() { "0 now, then " } else { "" };
        match &self.obstacle {
            None => format!("{later}{}", self.plan),
            Some(Obstacle::Stored) => "0, stored".to_owned(),
            Some(Obstacle::Shared(by)) => format!("0, {by}"),
            Some(over @ (Obstacle::OverBudget | Obstacle::OverGroupBudget)) => format!("{later}{}, {over}", self.plan),
            Some(obstacle) => obstacle.to_string(),
        }
    }

    /// Returns a short label: no reason of a refusal, no reset; of a later request, its own price.
    pub fn short(&self) -> String {
        let label = self.obstacle.as_ref().map_or_else(|| self.plan.to_string(), ToString::to_string);
        label.split(" until ").next().and_then(|label| label.split(':').next()).unwrap_or_default().to_owned()
    }
}

/// The prices on the last frames: only a key whose price was shown can spend.
#[derive(Debug, Default)]
pub(crate) struct ShownPrices {
    priced: Vec<ShownPrice>,
    /// The open confirmation, and the first frame that showed it.
    question: Option<(u64, u64)>,
}

#[derive(Debug)]
struct ShownPrice {
    key: Key,
    offer: KeyOffer,
    /// The first frame of those that showed it without interruption.
    since: u64,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct KeyOffer {
    pub(crate) command: &'static str,
    pub(crate) requests: Vec<Request>,
    pub(crate) price: Plan,
}

impl ShownPrices {
    /// Records a frame's offers and confirmation; those shown before keep their first frame.
    pub(crate) fn show(&mut self, frame: u64, offers: Vec<(Key, KeyOffer)>, question: Option<u64>) {
        let shown = offers.into_iter().map(|(key, offer)| {
            let before = self.priced.iter().find(|before| before.key == key && before.offer == offer);
            ShownPrice { key, offer, since: before.map_or(frame, |before| before.since) }
        });
        let before = self.question.filter(|(before, _)| Some(*before) == question);
        *self = Self { priced: shown.collect(), question: before.or(question.map(|question| (question, frame))) };
    }

    pub(crate) fn was_confirmation_shown(&self, question: u64, frame: u64) -> bool {
        self.question.is_some_and(|(at, since)| at == question && since <= frame)
    }

    pub(crate) fn was_price_shown(&self, key: Key, offer: &KeyOffer, frame: u64) -> bool {
        self.priced.iter().any(|shown| shown.key == key && shown.offer == *offer && shown.since <= frame)
    }
}

/// The rest of a limit, projected to now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RemainingQuota {
    pub limit: Limit,
    /// Whether the period began after the last reading: usage by others since then is unknown.
    pub is_at_most: bool,
}

/// The service's counters, units spent, and the user's entitlements.
#[derive(Debug, Default)]
pub struct QuotaState {
    pub balances: Option<Balances>,
    /// When the counters were requested: they do not cover periods that began later.
    sent: Option<Timestamp>,
    pub failure: Option<String>,
    /// Whether the service refused the last paid call as over quota.
    pub is_over_quota: bool,
    /// Until when the service, or the limit per minute, refuses paid calls.
    pub wait_until: Option<Timestamp>,
    pub(crate) usage: Option<Usage>,
    /// The user's entitlements, as far as known.
    pub entitlements: Entitlements,
    /// What the team has paid for, as it said last: who, and when.
    pub(crate) shared: HashMap<Request, String>,
    pub(crate) spent: BTreeMap<Unit, SpentUnits>,
    pub allowance: BudgetState,
    pub(crate) group_budgets: Vec<GroupBudget>,
    /// Whether this run may spend the group's reserve for incidents.
    pub(crate) is_incident: bool,
    /// Whether the user requested the counters, and a message announces them.
    pub(crate) announces_balances: bool,
    pub(crate) announces_usage: bool,
    /// Whether a paid call ended while the counters were in flight: they may not include it.
    pub(crate) may_be_stale: bool,
}

impl QuotaState {
    /// Returns the price of a request for the known entitlements.
    pub fn price(&self, request: &Request) -> Price {
        price(&request.operation(), &self.entitlements)
    }

    /// Returns the price of a request to this source; `missing` lists hashes that are not stored.
    pub fn price_from(&self, request: &Request, source: ResponseSource, missing: Option<&[FileHash]>) -> Price {
        let quote = request.clone().quote(&self.entitlements);
        match missing.filter(|_| source != ResponseSource::Service) {
            Some(missing) => quote.of_missing(missing.to_vec()).price().clone(),
            None => quote.price().clone(),
        }
    }

    pub(crate) fn plan(&self, operations: impl IntoIterator<Item = Operation>) -> Plan {
        Plan::of(operations, &self.entitlements)
    }

    /// Whether the team has paid for a response that is not stored here.
    pub(super) fn is_shared(&self, request: &Request, source: ResponseSource) -> bool {
        source == ResponseSource::StoredOrService && self.shared.contains_key(request)
    }

    /// The price of reports, or of lists, that are not stored: the team may have paid for some.
    pub fn price_of_reports(&self, requests: &[Request]) -> Plan {
        let mut paid = BTreeMap::<Kind, u64>::new();
        let kinds = requests.iter().filter(|request| !self.shared.contains_key(request));
        kinds.for_each(|request| *paid.entry(request.operation().kind).or_default() += 1);
        let numbers = |calls| Numbers { calls, ..Numbers::default() };
        self.plan(paid.into_iter().map(|(kind, calls)| Operation { kind, numbers: numbers(calls) }))
    }

    /// Returns units spent by this run; calls in flight count at their worst price.
    pub fn spent_with(&self, calls: &Calls) -> BTreeMap<Unit, SpentUnits> {
        let mut spent = self.spent.clone();
        for call in calls.paid() {
            let price = self.price(&call.request);
            let worst = price.verdict.units.max;
            let worst = SpentUnits { unsure: worst.unwrap_or(1), is_open: worst.is_none(), ..SpentUnits::default() };
            let sum = spent.entry(price.verdict.unit).or_default();
            *sum = sum.and(worst);
        }
        spent
    }

    /// Returns the obstacle to a plan beside the calls in flight: quota or budget.
    pub(super) fn obstacle(&self, plan: &Plan, calls: &Calls, now: Timestamp) -> Option<Obstacle> {
        let allowance = || self.allowance.as_of(now, self.spent.values().copied().sum());
        let is_over = || !allowance().allows(plan.worst(), self.spent_with(calls).into_values().sum());
        let quota_obstacle = || plan.prices.iter().find_map(|price| self.quota_obstacle(price, now));
        let exceeds = |budget: &GroupBudget| budget.exceeded(Unit::Request, plan.worst(), self.is_incident).is_some();
        let is_over_group = || self.group_budgets.iter().any(exceeds);
        let over_group = || is_over_group().then_some(Obstacle::OverGroupBudget);
        let over = || is_over().then_some(Obstacle::OverBudget).or_else(over_group);
        is_paid(plan).then(|| quota_obstacle().or_else(over)).flatten()
    }

    /// Returns the remaining quota, if it is known to be less than the plan's price.
    pub(super) fn insufficient_quota(&self, plan: &Plan, now: Timestamp) -> Option<String> {
        let forecast = plan.clone().forecast(&self.balances_now(now)?, now);
        let short = forecast.lines.iter().filter(|line| line.fit == Fit::Short);
        let limit = short.map(|line| line.limit).min_by_key(|limit| limit.remaining)?;
        let left = thousands(limit.remaining);
        let period = limit.period.current();
        Some(match limit.holder {
            Holder::User => format!("only {left} left {period}"),
            Holder::Group => format!("only {left} left to the group {period}"),
        })
    }

    /// Records that the user waits for the response; only counters need this.
    pub(crate) fn announce_response(&mut self, request: &Request) {
        self.announces_balances |= *request == Request::Quotas;
        self.announces_usage |= matches!(request, Request::Usage { .. });
    }

    pub(crate) fn take_balances(&mut self, balances: Balances, sent: Timestamp) {
        self.entitlements = self.entitlements.updated(Entitlements::from_balances(&balances));
        (self.balances, self.sent, self.failure) = (Some(balances), Some(sent), None);
    }

    /// Returns the counters at a time: those of a period that has begun since are full, at most.
    pub(crate) fn balances_now(&self, now: Timestamp) -> Option<Balances> {
        let balances = self.balances.as_ref()?;
        Some(balances.as_of(now, self.sent.unwrap_or(now)))
    }

    /// Returns the limit on a unit that runs out first for a holder.
    pub(crate) fn scarcest(&self, unit: Unit, holder: Holder, now: Timestamp) -> Option<RemainingQuota> {
        let limit = self.balances_now(now)?.scarcest(unit, holder)?;
        Some(self.left_of(limit, now))
    }

    /// Returns the limit on a unit that runs out first for user and group.
    pub fn least_left(&self, unit: Unit, now: Timestamp) -> Option<RemainingQuota> {
        let scarcest = [Holder::User, Holder::Group].map(|holder| self.scarcest(unit, holder, now));
        scarcest.into_iter().flatten().min_by_key(|left| left.limit.remaining)
    }

    /// Returns all limits on a unit, the shortest period first, the user before the group.
    pub fn left(&self, unit: Unit, now: Timestamp) -> Vec<RemainingQuota> {
        let limits = self.balances_now(now).map(|balances| balances.limits(unit)).unwrap_or_default();
        limits.into_iter().map(|limit| self.left_of(limit, now)).collect()
    }

    fn left_of(&self, limit: Limit, now: Timestamp) -> RemainingQuota {
        RemainingQuota { limit, is_at_most: self.sent.is_some_and(|sent| limit.period.is_renewed(sent, now)) }
    }

    pub(crate) fn waits(&self, now: Timestamp) -> Option<Timestamp> {
        self.wait_until.filter(|until| *until > now)
    }

    /// Returns the obstacle to any paid call: spent quota, or refusal by the service.
    pub(crate) fn quota_obstacle(&self, price: &Price, now: Timestamp) -> Option<Obstacle> {
        if price.is_free() {
            return None;
        }
        let first = self.least_left(price.verdict.unit, now).filter(|left| left.limit.remaining == 0);
        let spent = first.map(|left| Obstacle::QuotaSpent(left.limit.period.reset_label(now)));
        spent.or_else(|| {
            let milliseconds = u64::try_from(now.duration_until(self.waits(now)?).as_millis()).unwrap_or_default();
            Some(Obstacle::Wait(lasting(milliseconds.div_ceil(1000))))
        })
    }
}

/// The budget, and what other runs have spent of it.
#[derive(Debug, Clone, Default)]
pub struct BudgetState {
    pub budget: Budget,
    /// Units spent today by all runs, this one included, at the last reading.
    today_at_reading: SpentUnits,
    session_at_reading: SpentUnits,
    read_at: Timestamp,
}

impl BudgetState {
    /// Records units spent by all runs of this day, and by this run.
    pub fn count(&mut self, today: SpentUnits, session: SpentUnits, now: Timestamp) {
        *self = Self { budget: self.budget, today_at_reading: today, session_at_reading: session, read_at: now };
    }

    /// Moves to the day of `now`: what the run spent before belongs to the previous day's budget.
    pub(crate) fn as_of(&self, now: Timestamp, session: SpentUnits) -> Self {
        let mut state = self.clone();
        if Period::Daily.is_renewed(self.read_at, now) {
            state.count(SpentUnits::default(), session, now);
        }
        state
    }

    /// Returns whether the budget allows this worst price after what this run has spent.
    pub(super) fn allows(&self, worst: Option<u64>, session: SpentUnits) -> bool {
        self.budget.allows(worst, session, self.today(session))
    }

    fn today(&self, session: SpentUnits) -> SpentUnits {
        self.today_at_reading.and(session.without(self.session_at_reading))
    }

    /// Returns the budget and its use, as text; `None` without a limit.
    pub(crate) fn text(&self, session: SpentUnits) -> Option<String> {
        let limits =
            [("This run", self.budget.session, session), ("All runs today", self.budget.daily, self.today(session))];
        let sentences = limits.into_iter().filter_map(|(who, limit, spent)| {
            let at_least = if spent.is_open { "at least " } else { "" };
            let limit = thousands(limit?);
            let spent = thousands(spent.total());
            Some(format!("{who} may spend {limit}: {at_least}{spent} spent, or may be."))
        });
        let sentences: Vec<_> = sentences.collect();
        (!sentences.is_empty()).then(|| sentences.join(" "))
    }
}

#[cfg(test)]
mod tests_figures {
    use super::*;

    fn charged(charged: u64) -> SpentUnits {
        SpentUnits { charged, ..SpentUnits::default() }
    }

    #[test]
    fn a_new_day_has_its_budget_whole_and_a_run_does_not() {
        let evening: Timestamp = "2026-11-20T23:50:00Z".parse().unwrap();
        let of = |budget| BudgetState {
            budget,
            today_at_reading: charged(3),
            session_at_reading: charged(0),
            read_at: evening,
        };
        let mut daily = of(Budget { daily: Some(5), ..Budget::default() });
        let allows = |allowance: &BudgetState, spent| allowance.allows(Some(1), charged(spent));
        assert!(allows(&daily, 1) && !allows(&daily, 2));
        let morning = "2026-11-21T00:10:00Z".parse().unwrap();
        daily = daily.as_of(morning, charged(2));
        assert!(allows(&daily, 6) && !allows(&daily, 7));
        let mut session = of(Budget { session: Some(2), ..Budget::default() });
        session = session.as_of(morning, charged(2));
        assert!(allows(&session, 1) && !allows(&session, 2));
    }
}

#[derive(Debug, Clone)]
pub struct InFlightCall {
    pub request: Request,
    pub since: Timestamp,
    pub bytes: u64,
    /// The announced length in bytes, if any.
    pub total: Option<u64>,
    pub(crate) is_paid: bool,
    /// The confirmed file for the upload address that this call requests.
    pub(crate) uploads: Option<Arc<Submission>>,
}

impl InFlightCall {
    pub(crate) fn sends(&self, file: &Submission) -> bool {
        match &self.request {
            Request::PrivateScan { submission, .. } => **submission == *file,
            _ => self.uploads.as_deref() == Some(file),
        }
    }
}

/// The calls in flight, in order of sending, and the queued reports.
#[derive(Debug, Default)]
pub struct Calls {
    in_flight: Vec<InFlightCall>,
    batch: Option<OpenAllBatch>,
}

/// The reports of a file that are opened in sequence.
#[derive(Debug)]
pub struct OpenAllBatch {
    pub(crate) file: Option<Sha256>,
    waiting: VecDeque<Request>,
    pub total: usize,
}

impl OpenAllBatch {
    /// Returns the number of reports that were requested.
    pub fn sent(&self) -> usize {
        self.total - self.waiting.len()
    }
}

impl Calls {
    pub fn iter(&self) -> impl Iterator<Item = &InFlightCall> {
        self.in_flight.iter()
    }

    pub fn len(&self) -> usize {
        self.in_flight.len()
    }

    pub fn is_empty(&self) -> bool {
        self.in_flight.is_empty()
    }

    pub fn of_request(&self, request: &Request) -> Option<&InFlightCall> {
        self.iter().find(|call| call.request == *request)
    }

    /// Returns the call that lists the sandboxes of a file.
    pub fn listing(&self, file: Option<&Sha256>) -> Option<&InFlightCall> {
        self.iter().find(|call| matches!(&call.request, Request::Behaviours { file: of, .. } if Some(of) == file))
    }

    pub fn has(&self, request: &Request) -> bool {
        self.of_request(request).is_some()
    }

    /// Returns whether a paid response is pending: the program does not end before it is stored.
    pub(crate) fn awaits_paid(&self) -> bool {
        self.paid().next().is_some()
    }

    /// Returns the calls in flight that may cost something.
    pub fn paid(&self) -> impl Iterator<Item = &InFlightCall> {
        self.iter().filter(|call| call.is_paid)
    }

    pub(crate) fn begin(&mut self, request: Request, is_paid: bool, since: Timestamp) {
        self.in_flight.push(InFlightCall { request, since, bytes: 0, total: None, is_paid, uploads: None });
    }

    /// Attaches a file to the call that requests its upload address.
    pub(crate) fn upload_after(&mut self, request: &Request, file: &Arc<Submission>) {
        for call in self.in_flight.iter_mut().filter(|call| call.request == *request) {
            call.uploads = Some(Arc::clone(file));
        }
    }

    pub(crate) fn receive(&mut self, request: &Request, bytes: u64, total: Option<u64>) {
        for call in self.in_flight.iter_mut().filter(|call| call.request == *request) {
            (call.bytes, call.total) = (bytes, total.or(call.total));
        }
    }

    pub(crate) fn end(&mut self, request: &Request) -> Option<InFlightCall> {
        let at = self.in_flight.iter().position(|call| call.request == *request)?;
        Some(self.in_flight.remove(at))
    }

    pub fn batch(&self) -> Option<&OpenAllBatch> {
        self.batch.as_ref()
    }

    pub(super) fn begin_batch(&mut self, file: Option<Sha256>, reports: Vec<Request>) {
        let waiting = VecDeque::from(reports);
        self.batch = Some(OpenAllBatch { file, total: waiting.len(), waiting });
    }

    pub(super) fn end_batch(&mut self) -> Option<OpenAllBatch> {
        self.batch.take()
    }

    pub(super) fn next_in_batch(&mut self) -> Option<Request> {
        self.batch.as_mut()?.waiting.pop_front()
    }
}
