//! The service's counters for the user and the group, parsed leniently from a response.

use super::{Holder, Period, Price, Unit};
use jiff::Timestamp;
use serde::Serialize;
use serde_json::{Map, Value};
use std::borrow::Cow;

/// A limit from which on a counter is practically unlimited; the service shows such figures for
/// "unlimited".
pub const PRACTICALLY_UNLIMITED: u64 = 1_000_000_000;

/// The counters with a known meaning: name, unit, period (§8.1.3). The name of a minute limit of
/// requests has not been observed; it is formed like the others.
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

/// One holder's side of a counter.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Balance {
    /// Units allowed in the period.
    pub allowed: u64,
    /// Units used in the period; the service allows more than `allowed`.
    pub used: u64,
    /// The group that it comes from: an untrusted string, to be escaped before it is shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inherited_from: Option<String>,
}

impl Balance {
    /// Units left; zero if more are used than allowed.
    pub fn remaining(&self) -> u64 {
        self.allowed.saturating_sub(self.used)
    }

    /// Units used beyond the allowance.
    pub fn excess(&self) -> u64 {
        self.used.saturating_sub(self.allowed)
    }

    /// The share used, in whole per cent rounded down; above 100 if overdrawn, `None` if nothing is
    /// allowed.
    pub fn percent_used(&self) -> Option<u64> {
        let hundredths = u128::from(self.used) * 100;
        let percent = hundredths.checked_div(u128::from(self.allowed))?;
        Some(u64::try_from(percent).unwrap_or(u64::MAX))
    }

    /// Whether the limit is so high that it has no effect.
    pub fn is_practically_unlimited(&self) -> bool {
        self.allowed >= PRACTICALLY_UNLIMITED
    }
}

/// A counter of the service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counter {
    /// The service's name for it: an untrusted string, to be escaped before it is shown.
    pub name: String,
    /// Its unit and period; `None` for an unknown counter.
    pub meaning: Option<(Unit, Period)>,
    /// The user's side, if the service shows one.
    pub user: Option<Balance>,
    /// The group's side, if the service shows one.
    pub group: Option<Balance>,
    /// Whether a side was present but could not be parsed.
    incomplete: bool,
}

impl Counter {
    /// One side of the counter, as the service shows it.
    pub fn side(&self, holder: Holder) -> Option<&Balance> {
        match holder {
            Holder::User => self.user.as_ref(),
            Holder::Group => self.group.as_ref(),
        }
    }

    /// One side of the counter, if it limits anything. A user with an allowance of zero in a group
    /// that has an allowance draws on the group's: such users have been observed to consume, so
    /// their zero is not a limit (inferred). This does not apply to API requests, where it has not
    /// been observed.
    pub fn limit(&self, holder: Holder) -> Option<&Balance> {
        let side = self.side(holder)?;
        let group_pays = self.group.as_ref().is_some_and(|group| group.allowed > 0);
        let is_api = self.meaning.is_some_and(|(unit, _)| unit == Unit::Request);
        let lives_on_group = holder == Holder::User && side.allowed == 0 && group_pays && !is_api;
        (!lives_on_group).then_some(side)
    }

    /// Whether the user or the group is allowed anything; `None` if a side is unreadable and the
    /// other does not decide it.
    pub fn allows_anything(&self) -> Option<bool> {
        let sides = [&self.user, &self.group];
        let allowed = sides.into_iter().flatten().any(|side| side.allowed > 0);
        (allowed || !self.incomplete).then_some(allowed)
    }
}

/// A part of a response that could not be parsed; the rest is still used.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SetAside {
    /// Its position: an untrusted string, to be escaped before it is shown.
    pub name: String,
    /// The reason why it could not be parsed.
    pub why: &'static str,
}

impl SetAside {
    pub(super) fn new(name: impl Into<String>, why: &'static str) -> Self {
        let name = name.into();
        Self { name, why }
    }
}

/// The units that one holder has left in a period.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Limit {
    pub holder: Holder,
    pub period: Period,
    /// Units allowed in a whole period.
    pub allowed: u64,
    pub remaining: u64,
}

/// A limit after a price is paid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Remainder {
    /// The limit before the call.
    #[serde(flatten)]
    pub limit: Limit,
    /// Units left at the lowest price.
    pub at_best: u64,
    /// Units left at the highest price; `None` if that is unknown.
    pub at_worst: Option<u64>,
}

/// All counters of a response to the quota details call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Balances {
    counters: Vec<Counter>,
    set_aside: Vec<SetAside>,
}

impl Balances {
    /// Reads the body of `GET /users/{id}/overall_quotas`.
    pub fn parse(body: &[u8]) -> Result<Self, serde_json::Error> {
        Ok(Self::read(&serde_json::from_slice(body)?))
    }

    /// Reads a response that is parsed as JSON already.
    pub fn read(answer: &Value) -> Self {
        let mut read = Self::default();
        match answer.get("data") {
            Some(Value::Object(counters)) => {
                for (name, sides) in counters {
                    read.add_counter(name, sides);
                }
            }
            _ => read.put_aside("data", "not an object"),
        }
        read.counters.sort_by(|a, b| a.name.cmp(&b.name));
        read.set_aside.sort_by(|a, b| a.name.cmp(&b.name));
        read
    }

    fn add_counter(&mut self, name: &str, sides: &Value) {
        let before = self.set_aside.len();
        let nothing = Map::new();
        let sides = sides.as_object().unwrap_or_else(|| {
            self.put_aside(name, "not an object");
            &nothing
        });
        let user = self.read_side(name, "user", sides);
        let group = self.read_side(name, "group", sides);
        let known_sides = ["user", "group"];
        for other in sides.keys().filter(|key| !known_sides.contains(&key.as_str())) {
            self.put_aside(&format!("{name}/{other}"), "neither user nor group");
        }
        self.counters.push(Counter {
            name: name.to_owned(),
            meaning: meaning(name),
            user,
            group,
            incomplete: self.set_aside.len() > before,
        });
    }

    fn read_side(&mut self, name: &str, holder: &str, sides: &Map<String, Value>) -> Option<Balance> {
        let side = sides.get(holder)?;
        let number = |key: &str| side.get(key).and_then(Value::as_u64);
        let (Some(allowed), Some(used)) = (number("allowed"), number("used")) else {
            self.put_aside(&format!("{name}/{holder}"), "not two whole numbers");
            return None;
        };
        let inherited_from = side.get("inherited_from").and_then(Value::as_str);
        Some(Balance { allowed, used, inherited_from: inherited_from.map(str::to_owned) })
    }

    fn put_aside(&mut self, name: &str, why: &'static str) {
        self.set_aside.push(SetAside::new(name, why));
    }

    /// Projects counters that were read earlier to `now`: those that were reset since then are set
    /// to zero, which assumes no use since the reset.
    pub fn as_of(&self, now: Timestamp, read: Timestamp) -> Cow<'_, Self> {
        let is_renewed = |counter: &Counter| counter.meaning.is_some_and(|(_, period)| period.is_renewed(read, now));
        if !self.counters.iter().any(is_renewed) {
            return Cow::Borrowed(self);
        }
        let mut later = self.clone();
        for counter in later.counters.iter_mut().filter(|counter| is_renewed(counter)) {
            [&mut counter.user, &mut counter.group].into_iter().flatten().for_each(|side| side.used = 0);
        }
        Cow::Owned(later)
    }

    /// The same counters with the service's limit of requests a minute, which it does not show, and
    /// what is used of it.
    pub fn with_minute_limit(mut self, limit: Option<(u64, u64)>) -> Self {
        if let Some((allowed, used)) = limit {
            self.counters.push(Counter {
                name: MINUTE_LIMIT.to_owned(),
                meaning: Some((Unit::Request, Period::Minute)),
                user: Some(Balance { allowed, used, inherited_from: None }),
                group: None,
                incomplete: false,
            });
        }
        self
    }

    /// Every counter, known and unknown, sorted by name.
    pub fn counters(&self) -> &[Counter] {
        &self.counters
    }

    /// The parts that could not be parsed.
    pub fn set_aside(&self) -> &[SetAside] {
        &self.set_aside
    }

    /// Whether the service shows any counter of this holder.
    pub fn has(&self, holder: Holder) -> bool {
        self.counters.iter().any(|counter| counter.side(holder).is_some())
    }

    /// Whether a counter was present but could not be parsed completely.
    pub fn is_incomplete(&self) -> bool {
        self.counters.iter().any(|counter| counter.incomplete)
    }

    /// Whether a counter of this unit could not be parsed, so that a limit may be missing.
    pub fn is_unsure_of(&self, unit: Unit) -> bool {
        let of_unit = |counter: &&Counter| counter.meaning.is_some_and(|(of, _)| of == unit);
        self.counters.iter().filter(of_unit).any(|counter| counter.incomplete)
    }

    /// The counter of a unit over a period.
    pub fn counter(&self, unit: Unit, period: Period) -> Option<&Counter> {
        let meaning = Some((unit, period));
        self.counters.iter().find(|counter| counter.meaning == meaning)
    }

    /// All limits of a unit: the shortest period first, the user before the group.
    pub fn limits(&self, unit: Unit) -> Vec<Limit> {
        let mut limits = Vec::new();
        for &period in unit.periods() {
            // The service may have two counters for one unit and period, and enforce both.
            let counters = || self.counters.iter().filter(|counter| counter.meaning == Some((unit, period)));
            for holder in [Holder::User, Holder::Group] {
                limits.extend(counters().filter_map(|counter| counter.limit(holder)).map(|side| Limit {
                    holder,
                    period,
                    allowed: side.allowed,
                    remaining: side.remaining(),
                }));
            }
        }
        limits
    }

    /// The limit of a unit that is exhausted first for this holder; among exhausted limits the one
    /// that resets last. `None` if no limit is known.
    pub fn scarcest(&self, unit: Unit, holder: Holder) -> Option<Limit> {
        let limits = self.limits(unit).into_iter().filter(|limit| limit.holder == holder);
        limits.reduce(|scarce, longer| if scarce.outlasts(longer) { longer } else { scarce })
    }

    /// Every limit that a price counts against, after the price is paid. Empty if the call is free.
    pub fn after(&self, price: &Price) -> Vec<Remainder> {
        let charged = |limit: &Limit| price.charged.contains(&limit.holder);
        let limits = self.limits(price.unit).into_iter().filter(charged);
        limits.map(|limit| limit.after(price.units.min(), price.units.max())).collect()
    }
}

impl Limit {
    /// Whether a limit of the same or a longer period is exhausted first: a short period resets
    /// soon and then allows the same number again. A minute's limit is compared by what it allows
    /// in an hour.
    fn outlasts(self, longer: Self) -> bool {
        let again = match self.period {
            period if period == longer.period => 0,
            Period::Minute => self.allowed.saturating_mul(60),
            _ => self.allowed,
        };
        longer.remaining == 0 || self.remaining > 0 && longer.remaining < self.remaining.saturating_add(again)
    }

    /// The units left after `min` units at best and, if there is an upper end, `max` at worst.
    pub fn after(self, min: u64, max: Option<u64>) -> Remainder {
        Remainder {
            limit: self,
            at_best: self.remaining.saturating_sub(min),
            at_worst: max.map(|max| self.remaining.saturating_sub(max)),
        }
    }
}

fn meaning(name: &str) -> Option<(Unit, Period)> {
    let row = KNOWN.iter().find(|(known, _, _)| *known == name)?;
    Some((row.1, row.2))
}

#[cfg(test)]
mod tests;
