//! Parses the service's counters of user and group, and usage by day and endpoint, leniently; and
//! projects where the use of a monthly limit leads.

use super::{Holder, Period, Unit, Units};
use crate::text::thousands;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use serde::Serialize;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// Limit from which a counter counts as unlimited; the service shows such numbers for it.
const PRACTICALLY_UNLIMITED: u64 = 1_000_000_000;

/// Counters with a known meaning (§8.1.3); the minute's name is formed alike, but never observed.
const KNOWN: &[(&str, Unit, Period)] = &[
    ("api_requests_minute", Unit::Request, Period::Minute),
    ("api_requests_per_minute", Unit::Request, Period::Minute),
    ("api_requests_hourly", Unit::Request, Period::Hourly),
    ("api_requests_daily", Unit::Request, Period::Daily),
    ("api_requests_monthly", Unit::Request, Period::Monthly),
    ("intelligence_searches_monthly", Unit::Search, Period::Monthly),
    ("intelligence_downloads_monthly", Unit::Download, Period::Monthly),
    ("intelligence_hunting_rules", Unit::Rule, Period::Monthly),
    ("intelligence_retrohunt_jobs_monthly", Unit::Job, Period::Monthly),
    ("intelligence_graphs_private", Unit::Graph, Period::Monthly),
    ("private_scans_per_minute", Unit::Scan, Period::Minute),
    ("private_scans_monthly", Unit::Scan, Period::Monthly),
];

/// The name of the setting that is shown like a counter.
pub const MINUTE_LIMIT: &str = "limits.per_minute";

/// The shortest time that shows a pace.
const SHORTEST: SignedDuration = SignedDuration::from_hours(24);

const DAY_SECONDS: u64 = 24 * 60 * 60;

/// One holder's side of a counter.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Balance {
    pub allowed: u64,
    /// Units used in the period; the service allows more than `allowed`.
    pub used: u64,
    /// The group that it comes from: an untrusted string, to be escaped before it is shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inherited_from: Option<String>,
}

impl Balance {
    /// Returns units left; zero if more are used than allowed.
    pub fn remaining(&self) -> u64 {
        self.allowed.saturating_sub(self.used)
    }

    /// Returns whole per cent used, rounded down; above 100 if overdrawn, `None` without allowance.
    pub fn percent_used(&self) -> Option<u64> {
        let hundredths = u128::from(self.used) * 100;
        let percent = hundredths.checked_div(u128::from(self.allowed))?;
        Some(u64::try_from(percent).unwrap_or(u64::MAX))
    }

    /// Returns whether the limit is so high that it has no effect.
    pub fn is_practically_unlimited(&self) -> bool {
        self.allowed >= PRACTICALLY_UNLIMITED
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counter {
    /// The service's name for it: an untrusted string, to be escaped before it is shown.
    pub name: String,
    /// Its unit and period; `None` for an unknown counter.
    pub meaning: Option<(Unit, Period)>,
    pub(crate) user: Option<Balance>,
    pub(crate) group: Option<Balance>,
    /// Whether a side was present but could not be parsed.
    is_incomplete: bool,
}

impl Counter {
    pub fn side(&self, holder: Holder) -> Option<&Balance> {
        match holder {
            Holder::User => self.user.as_ref(),
            Holder::Group => self.group.as_ref(),
        }
    }

    /// Returns one side of the counter, if it limits anything. A user with an allowance of zero
    /// draws on the group's, if any: such users were seen to consume, though not API requests.
    pub fn limit(&self, holder: Holder) -> Option<&Balance> {
        let side = self.side(holder)?;
        let group_pays = self.group.as_ref().is_some_and(|group| group.allowed > 0);
        let is_api = self.meaning.is_some_and(|(unit, _)| unit == Unit::Request);
        let lives_on_group = holder == Holder::User && side.allowed == 0 && group_pays && !is_api;
        (!lives_on_group).then_some(side)
    }

    /// Returns whether user or group are allowed anything; `None` if an unreadable side decides it.
    pub(crate) fn allows_anything(&self) -> Option<bool> {
        let sides = [&self.user, &self.group];
        let allowed = sides.into_iter().flatten().any(|side| side.allowed > 0);
        (allowed || !self.is_incomplete).then_some(allowed)
    }
}

/// A part of a response that could not be parsed; the rest is still used.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct UnparsedPart {
    /// Its position: an untrusted string, escaped before it is shown.
    pub name: String,
    pub why: &'static str,
}

/// The units that one holder has left in a period.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Limit {
    pub holder: Holder,
    pub period: Period,
    pub allowed: u64,
    pub remaining: u64,
}

/// All counters of a response to the quota details call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Balances {
    /// Every counter, known and unknown, sorted by name.
    pub counters: Vec<Counter>,
    pub unparsed: Vec<UnparsedPart>,
    /// Earlier readings of the requests of this month: when, and how many were used.
    pub earlier: Vec<(Holder, Timestamp, u64)>,
}

impl Balances {
    /// Parses a response with at least one counter; otherwise names its defect.
    pub fn parse(body: &[u8]) -> Result<Self, &'static str> {
        let read = serde_json::from_slice(body).ok().map(|response| Self::read(&response));
        read.filter(|read| !read.counters.is_empty()).ok_or("the response has no quota details")
    }

    pub fn read(response: &Value) -> Self {
        let mut read = Self::default();
        match response.get("data") {
            Some(Value::Object(counters)) => counters.iter().for_each(|(name, sides)| read.add_counter(name, sides)),
            _ => read.reject("data", "not an object"),
        }
        read.counters.sort_by(|a, b| a.name.cmp(&b.name));
        read.unparsed.sort_by(|a, b| a.name.cmp(&b.name));
        read
    }

    fn add_counter(&mut self, name: &str, sides: &Value) {
        let before = self.unparsed.len();
        let nothing = Map::new();
        let sides = sides.as_object().unwrap_or_else(|| {
            self.reject(name, "not an object");
            &nothing
        });
        let user = self.read_side(name, "user", sides);
        let group = self.read_side(name, "group", sides);
        let known_sides = ["user", "group"];
        for other in sides.keys().filter(|key| !known_sides.contains(&key.as_str())) {
            self.reject(&format!("{name}/{other}"), "neither user nor group");
        }
        self.counters.push(Counter {
            name: name.to_owned(),
            meaning: KNOWN.iter().find(|known| known.0 == name).map(|known| (known.1, known.2)),
            user,
            group,
            is_incomplete: self.unparsed.len() > before,
        });
    }

    fn read_side(&mut self, name: &str, holder: &str, sides: &Map<String, Value>) -> Option<Balance> {
        let side = sides.get(holder)?;
        let number = |key: &str| side.get(key).and_then(Value::as_u64);
        let (Some(allowed), Some(used)) = (number("allowed"), number("used")) else {
            self.reject(&format!("{name}/{holder}"), "not two whole numbers");
            return None;
        };
        let inherited_from = side.get("inherited_from").and_then(Value::as_str);
        Some(Balance { allowed, used, inherited_from: inherited_from.map(str::to_owned) })
    }

    fn reject(&mut self, name: &str, why: &'static str) {
        self.unparsed.push(UnparsedPart { name: name.to_owned(), why });
    }

    /// Projects counters to `now`: those reset since then become zero, which assumes no use since.
    pub fn as_of(&self, now: Timestamp, read: Timestamp) -> Self {
        let mut later = self.clone();
        for counter in &mut later.counters {
            if counter.meaning.is_some_and(|(_, period)| period.is_renewed(read, now)) {
                [&mut counter.user, &mut counter.group].into_iter().flatten().for_each(|side| side.used = 0);
            }
        }
        later
    }

    /// Adds the limit of requests a minute, which the service does not show, and its use.
    pub fn with_minute_limit(mut self, limit: Option<(u64, u64)>) -> Self {
        if let Some((allowed, used)) = limit {
            self.counters.push(Counter {
                name: MINUTE_LIMIT.to_owned(),
                meaning: Some((Unit::Request, Period::Minute)),
                user: Some(Balance { allowed, used, inherited_from: None }),
                group: None,
                is_incomplete: false,
            });
        }
        self
    }

    /// Returns whether the service shows any counter of this holder.
    pub(crate) fn has(&self, holder: Holder) -> bool {
        self.counters.iter().any(|counter| counter.side(holder).is_some())
    }

    /// Returns whether a counter of this unit could not be parsed, so that a limit may be missing.
    pub(crate) fn is_unsure_of(&self, unit: Unit) -> bool {
        self.of_unit(unit).any(|(_, counter)| counter.is_incomplete)
    }

    pub fn counter(&self, unit: Unit, period: Period) -> Option<&Counter> {
        let meaning = Some((unit, period));
        self.counters.iter().find(|counter| counter.meaning == meaning)
    }

    fn of_unit(&self, unit: Unit) -> impl Iterator<Item = (Period, &Counter)> {
        let period = move |counter: &Counter| counter.meaning.filter(|(of, _)| *of == unit);
        self.counters.iter().filter_map(move |counter| Some((period(counter)?.1, counter)))
    }

    /// Returns all limits of a unit: the shortest period first, the user before the group.
    pub fn limits(&self, unit: Unit) -> Vec<Limit> {
        let mut limits = Vec::new();
        // The service may have two counters for one unit and period, and enforce both.
        for (period, counter) in self.of_unit(unit) {
            for holder in [Holder::User, Holder::Group] {
                let Some(side) = counter.limit(holder) else { continue };
                limits.push(Limit { holder, period, allowed: side.allowed, remaining: side.remaining() });
            }
        }
        limits.sort_by_key(|limit| (limit.period, limit.holder));
        limits
    }

    /// Returns the limit of a unit that this holder exhausts first; of exhausted ones, the last to
    /// reset. Ignores limits of a minute: beyond them, calls wait. `None` if no limit is known.
    pub fn scarcest(&self, unit: Unit, holder: Holder) -> Option<Limit> {
        let is_one = |limit: &Limit| limit.holder == holder && (limit.period != Period::Minute || limit.allowed == 0);
        let limits = self.limits(unit).into_iter().filter(is_one);
        limits.reduce(|scarce, longer| if scarce.outlasts(longer) { longer } else { scarce })
    }
}

impl Limit {
    /// Returns whether a limit of this or a longer period is exhausted first: a short period resets
    /// soon and then allows the same number again.
    fn outlasts(self, longer: Self) -> bool {
        let again = if self.period == longer.period { 0 } else { self.allowed };
        longer.remaining == 0 || self.remaining > 0 && longer.remaining < self.remaining.saturating_add(again)
    }
}

/// A response to the usage details call, whose endpoint names are untrusted: escape them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Usage {
    /// Calls per endpoint, for each day with any.
    pub daily: BTreeMap<Date, BTreeMap<String, u64>>,
    /// Calls per endpoint over all days, as the service sums them.
    pub(crate) total: BTreeMap<String, u64>,
    pub unparsed: Vec<UnparsedPart>,
}

impl Usage {
    /// Parses a response that has days or a total; days without calls are omitted.
    pub fn parse(body: &[u8]) -> Result<Self, &'static str> {
        let read: Option<Self> = serde_json::from_slice(body).ok().map(|response| Self::read(&response));
        let is_usage = |read: &Self| read.unparsed.len() < 2 || !read.daily.is_empty() || !read.total.is_empty();
        read.filter(is_usage).ok_or("the response has no usage details")
    }

    pub fn read(response: &Value) -> Self {
        let mut usage = Self::default();
        let data = response.get("data").unwrap_or(&Value::Null);
        let days = usage.object("daily", data.get("daily"));
        for (day, endpoints) in days.into_iter().flatten() {
            let Ok(date) = day.parse::<Date>() else {
                usage.reject(day.clone(), "not a date");
                continue;
            };
            if let Some(endpoints) = usage.object(day, Some(endpoints)) {
                let counts = usage.counts(day, endpoints);
                usage.daily.insert(date, counts);
            }
        }
        if let Some(total) = usage.object("total", data.get("total")) {
            usage.total = usage.counts("total", total);
        }
        usage
    }

    fn object<'a>(&mut self, name: &str, value: Option<&'a Value>) -> Option<&'a Map<String, Value>> {
        let object = value.and_then(Value::as_object);
        if object.is_none() {
            self.reject(name.to_owned(), "not an object");
        }
        object
    }

    fn counts(&mut self, place: &str, endpoints: &Map<String, Value>) -> BTreeMap<String, u64> {
        let mut counts = BTreeMap::new();
        for (endpoint, count) in endpoints {
            match count.as_u64() {
                Some(count) => drop(counts.insert(endpoint.clone(), count)),
                None => self.reject(format!("{place}/{endpoint}"), "not a whole number"),
            }
        }
        counts
    }

    fn reject(&mut self, name: String, why: &'static str) {
        self.unparsed.push(UnparsedPart { name, why });
    }

    /// Merges two responses; `other` wins for a day in both.
    pub fn plus(mut self, other: Self) -> Self {
        self.daily.extend(other.daily);
        for (endpoint, count) in other.total {
            let sum = self.total.entry(endpoint).or_default();
            *sum = sum.saturating_add(count);
        }
        self.unparsed.extend(other.unparsed);
        self
    }

    /// Endpoints whose total differs from the sum of their days: endpoint, total, sum.
    pub fn disagreements(&self) -> Vec<(&str, u64, u64)> {
        let sums = self.by_endpoint();
        let named: BTreeSet<_> = sums.keys().copied().chain(self.total.keys().map(String::as_str)).collect();
        let of =
            |endpoint: &str| (self.total.get(endpoint).copied().unwrap_or(0), sums.get(endpoint).copied().unwrap_or(0));
        let pairs = named.into_iter().map(|endpoint| (endpoint, of(endpoint)));
        pairs.filter(|(_, (total, sum))| total != sum).map(|(endpoint, (total, sum))| (endpoint, total, sum)).collect()
    }

    /// Requests of a day, over all endpoints.
    pub fn on(&self, day: Date) -> u64 {
        self.daily.get(&day).into_iter().flatten().fold(0, |sum, (_, count)| sum.saturating_add(*count))
    }

    /// Calls per endpoint summed over the days; may differ from `total`.
    pub fn by_endpoint(&self) -> BTreeMap<&str, u64> {
        let mut endpoints = BTreeMap::new();
        for (endpoint, count) in self.daily.values().flatten() {
            let sum: &mut u64 = endpoints.entry(endpoint.as_str()).or_default();
            *sum = sum.saturating_add(*count);
        }
        endpoints
    }
}

/// The use of a holder's monthly requests, projected to the end of the month (UTC). Two paces make
/// a range: that of the month so far, and that since an earlier reading.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Projection {
    pub holder: Holder,
    pub used: u64,
    pub allowed: u64,
    pub per_day: Units,
    pub at_end: Units,
    /// When the limit is reached, at the faster pace; `None` if not in this month.
    pub runs_out: Option<Timestamp>,
    #[serde(skip)]
    end: Timestamp,
}

impl Projection {
    /// Projects the counter of a month by itself, and by an earlier reading if there is one.
    pub fn new(balances: &Balances, holder: Holder, now: Timestamp) -> Option<Self> {
        let side = balances.counter(Unit::Request, Period::Monthly)?.limit(holder)?;
        let (used, allowed) = (side.used, side.allowed);
        let began = Period::Monthly.began(now);
        let end = Period::Monthly.next_reset(now);
        let is_usable = |(_, at, before): &&(Holder, Timestamp, u64)| {
            *at >= began && at.duration_until(now) >= SHORTEST && *before <= used
        };
        let earlier = balances.earlier.iter().filter(|(of, ..)| *of == holder).find(is_usable);
        let pace = |since: Timestamp, before: u64| (used.saturating_sub(before), seconds(since, now).max(1));
        let paces = [Some(pace(began, 0)), earlier.map(|(_, at, before)| pace(*at, *before))];
        let range = |of: &dyn Fn(u64, u64) -> u64| {
            let values = || paces.iter().flatten().map(|(units, time)| of(*units, *time));
            Units { min: values().min().unwrap_or(0), max: values().max() }
        };
        let left = seconds(now, end);
        let wait = range(&|units, time| scaled(allowed.saturating_sub(used), time, units)).min;
        let runs_out = now.checked_add(SignedDuration::from_secs(i64::try_from(wait).unwrap_or(i64::MAX))).ok();
        Some(Self {
            holder,
            used,
            allowed,
            per_day: range(&|units, time| scaled(units, DAY_SECONDS, time)),
            at_end: range(&|units, time| used.saturating_add(scaled(units, left, time))),
            runs_out: runs_out.filter(|at| *at < end),
            end,
        })
    }
}

fn seconds(from: Timestamp, to: Timestamp) -> u64 {
    u64::try_from(from.duration_until(to).as_secs()).unwrap_or(0)
}

/// Multiplies and divides, rounded up; the maximum if the divisor is zero.
fn scaled(units: u64, by: u64, of: u64) -> u64 {
    let product = u128::from(units) * u128::from(by);
    let share = if of == 0 { u128::MAX } else { product.div_ceil(of.into()) };
    u64::try_from(share).unwrap_or(u64::MAX)
}

impl fmt::Display for Projection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let day = |at: Timestamp| at.to_zoned(TimeZone::UTC).strftime("%-d %B").to_string();
        let [used, allowed] = [self.used, self.allowed].map(thousands);
        let holder = self.holder.name();
        let Self { per_day, at_end, end, .. } = self;
        write!(f, "{holder}: {used} of {allowed} requests this month, {per_day} a day, {at_end} by {}", day(*end))?;
        let pace = if per_day.exact().is_some() { "this" } else { "the faster" };
        self.runs_out.map_or(Ok(()), |at| write!(f, "; runs out on {} at {pace} pace", day(at)))
    }
}

#[cfg(test)]
mod tests;
