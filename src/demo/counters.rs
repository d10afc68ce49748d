//! The service's own counters: amounts of user and group in each period, and the usage record.

use std::collections::BTreeMap;

use jiff::Timestamp;
use jiff::civil::{Date, DateTime};
use jiff::tz::Offset;
use serde_json::{Map, Value, json};

use super::Options;
use super::http::set;

/// An amount for each period: a limit, or the amount spent. Periods are in UTC.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PeriodAmounts {
    /// Beyond it TooManyRequestsError, beyond others QuotaExceededError; not in quota records.
    pub minute: u64,
    pub hourly: u64,
    pub daily: u64,
    pub monthly: u64,
}

impl PeriodAmounts {
    fn each(&mut self) -> [&mut u64; 4] {
        [&mut self.minute, &mut self.hourly, &mut self.daily, &mut self.monthly]
    }
}

/// The amounts spent by the user and by the group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UsedAmounts {
    pub user: PeriodAmounts,
    /// Includes the user's amounts (§8.1).
    pub group: PeriodAmounts,
    /// Private scans of the user in this month.
    pub scans: u64,
}

/// Private scans of this month before the start of the service.
pub const SCANS_SPENT: u64 = 3;

/// The machine's clock, or a stopped one, moved forward by `ahead` seconds.
#[derive(Debug)]
pub(super) struct DemoClock {
    pub(crate) still: Option<i64>,
    pub(crate) ahead: i64,
}

impl DemoClock {
    pub(crate) fn seconds(&self) -> i64 {
        self.still.unwrap_or_else(|| Timestamp::now().as_second()).saturating_add(self.ahead)
    }

    pub(crate) fn now(&self) -> DateTime {
        utc(self.seconds())
    }
}

pub(super) fn timestamp(seconds: i64) -> Timestamp {
    Timestamp::from_second(seconds).unwrap_or(Timestamp::MAX)
}

/// Returns the date and time of a Unix time in seconds, in UTC.
pub(super) fn utc(seconds: i64) -> DateTime {
    Offset::UTC.to_datetime(timestamp(seconds))
}

/// Returns the starts of the minute, hour, day and month of a time.
fn starts(now: DateTime) -> [DateTime; 4] {
    let day = now.date();
    let month = day.first_of_month();
    [day.at(now.hour(), now.minute(), 0, 0), day.at(now.hour(), 0, 0, 0), day.at(0, 0, 0, 0), month.at(0, 0, 0, 0)]
}

/// The limits of a user or a group, with the amounts spent.
#[derive(Debug)]
pub(super) struct SpendingAccount {
    allowed: PeriodAmounts,
    pub(crate) used: PeriodAmounts,
    now: DateTime,
}

impl SpendingAccount {
    pub(crate) fn spend(&mut self, amount: u64) {
        self.used.each().into_iter().for_each(|used| *used = used.saturating_add(amount));
    }

    fn turn(&mut self, now: DateTime) {
        let periods = starts(now).into_iter().zip(starts(self.now));
        for (used, (start, before)) in self.used.each().into_iter().zip(periods) {
            *used = if start == before { *used } else { 0 };
        }
        self.now = now;
    }

    /// Returns the first period whose limit this exceeds: 0 for the minute to 3 for the month.
    fn lacking(&self, amount: u64) -> Option<usize> {
        let mut used = self.used;
        let mut allowed = self.allowed;
        let mut periods = used.each().into_iter().zip(allowed.each());
        periods.position(|(used, allowed)| used.saturating_add(amount) > *allowed).filter(|_| amount > 0)
    }
}

/// Quotas that the demo shows but never spends. As at the service, the user's limit of a quota sold
/// to groups is zero.
const FIXED: &str = include_str!("../../assets/demo/quotas.json");

pub(super) const GROUP: &str = "demo_response_team";

/// Name of the user of the key.
pub(super) const USER: &str = "demo-analyst";

#[derive(Debug)]
pub(super) struct Counters {
    pub(crate) user: SpendingAccount,
    pub(crate) group: SpendingAccount,
    pub(crate) scans: SpendingAccount,
    usage: BTreeMap<Date, BTreeMap<&'static str, u64>>,
}

impl Counters {
    pub(crate) fn new(options: &Options, now: DateTime) -> Self {
        let Options { user_limits, group_limits, group_spent, .. } = *options;
        let account = |allowed, used| SpendingAccount { allowed, used, now };
        let spent = PeriodAmounts { daily: group_spent, monthly: group_spent, ..PeriodAmounts::default() };
        let limits = PeriodAmounts { minute: 5, hourly: u64::MAX, daily: u64::MAX, monthly: 50 };
        let scanned = PeriodAmounts { monthly: SCANS_SPENT, ..PeriodAmounts::default() };
        Counters {
            user: account(user_limits, PeriodAmounts::default()),
            group: account(group_limits, spent),
            scans: account(limits, scanned),
            usage: BTreeMap::new(),
        }
    }

    pub(crate) fn turn(&mut self, now: DateTime) {
        [&mut self.user, &mut self.group, &mut self.scans].into_iter().for_each(|account| account.turn(now));
    }

    /// Returns the first period whose limit this cost exceeds: 0 for the minute to 3 for the month.
    pub(crate) fn lacking(&self, requests: u64, scans: u64) -> Option<usize> {
        let [user, group] = [&self.user, &self.group].map(|account| account.lacking(requests));
        user.or(group).or_else(|| self.scans.lacking(scans))
    }

    /// Charges user and group, and records the usage.
    pub(crate) fn charge(&mut self, usage: &'static str, requests: u64, scans: u64, today: Date) {
        self.scans.spend(scans);
        if requests > 0 {
            self.user.spend(requests);
            self.group.spend(requests);
            *self.usage.entry(today).or_default().entry(usage).or_default() += requests;
        }
    }

    pub(crate) fn quotas(&self, licence: bool) -> Value {
        let mut quotas: Map<String, Value> = serde_json::from_str(FIXED).unwrap_or_default();
        let amounts = |all: &PeriodAmounts| [all.hourly, all.daily, all.monthly];
        let pairs = |account: &SpendingAccount| amounts(&account.allowed).into_iter().zip(amounts(&account.used));
        let both = pairs(&self.user).zip(pairs(&self.group));
        for (name, (user, group)) in ["hourly", "daily", "monthly"].into_iter().zip(both) {
            quotas.insert(format!("api_requests_{name}"), quota(user, Some(group)));
        }
        let SpendingAccount { allowed, used, .. } = &self.scans;
        let monthly = if licence { allowed.monthly } else { 0 };
        quotas.insert("private_scans_monthly".to_owned(), quota((monthly, used.monthly), None));
        quotas.insert("private_scans_per_minute".to_owned(), quota((allowed.minute, used.minute), None));
        json!({ "data": quotas })
    }

    /// Returns the body of `api_usage` for the days from `first` to `last`.
    pub(crate) fn usage(&self, first: Date, last: Date) -> Value {
        let mut daily = Map::new();
        let mut total = BTreeMap::<&str, u64>::new();
        for (day, endpoints) in self.usage.range(first..=last) {
            daily.insert(day.to_string(), json!(endpoints));
            for (endpoint, requests) in endpoints {
                *total.entry(endpoint).or_default() += requests;
            }
        }
        json!({ "data": { "daily": daily, "total": total } })
    }
}

/// Returns an entry of a quota record, from limits and amounts spent.
fn quota(user: (u64, u64), group: Option<(u64, u64)>) -> Value {
    let mut entry = json!({ "user": { "allowed": user.0, "used": user.1 } });
    if let Some((allowed, used)) = group {
        set(&mut entry, "group", json!({ "allowed": allowed, "used": used, "inherited_from": GROUP }));
    }
    entry
}
