//! The service's own counters: what user and group have spent in each period, and the usage record.

use std::collections::BTreeMap;
use std::time::Duration;

use jiff::Timestamp;
use jiff::civil::{Date, DateTime};
use jiff::tz::Offset;
use serde_json::{Map, Value, json};

use super::Endpoint;

/// The most API requests allowed in each period.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Requests a minute; beyond it comes TooManyRequestsError. No quota record shows it.
    pub minute: u64,
    /// Requests an hour; beyond this and the longer ones comes QuotaExceededError.
    pub hourly: u64,
    /// Requests a day, which ends at 00:00 UTC.
    pub daily: u64,
    /// Requests a month, which ends on the 1st at 00:00 UTC.
    pub monthly: u64,
}

/// Requests spent in the current periods.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    pub minute: u64,
    pub hourly: u64,
    pub daily: u64,
    pub monthly: u64,
}

/// What user and group have spent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Used {
    pub user: Tally,
    /// The group's, the user's included (§8.1).
    pub group: Tally,
    /// Private scans of the user's in this month.
    pub scans: u64,
}

/// The most private scans that the user may have made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScanLimits {
    /// Scans a minute; beyond it comes TooManyRequestsError.
    pub minute: u64,
    /// Scans a month; beyond it comes QuotaExceededError.
    pub monthly: u64,
    /// Scans that were made this month before the start.
    pub spent: u64,
}

/// The machine's clock, or one that stands still; either can be moved forward.
#[derive(Debug)]
pub(super) struct Clock {
    still: Option<i64>,
    ahead: i64,
}

impl Clock {
    pub fn new(still: Option<i64>) -> Self {
        Clock { still, ahead: 0 }
    }

    pub fn advance(&mut self, by: Duration) {
        self.ahead = self.ahead.saturating_add_unsigned(by.as_secs());
    }

    /// The time in Unix seconds.
    pub fn seconds(&self) -> i64 {
        self.still.unwrap_or_else(|| Timestamp::now().as_second()).saturating_add(self.ahead)
    }

    pub fn now(&self) -> DateTime {
        utc(self.seconds())
    }
}

/// The date and time of a Unix time in seconds, in UTC.
pub(super) fn utc(seconds: i64) -> DateTime {
    Offset::UTC.to_datetime(Timestamp::from_second(seconds).unwrap_or(Timestamp::MAX))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Period {
    Minute,
    Hour,
    Day,
    Month,
}

impl Period {
    /// When the period that holds `now` began.
    fn start(self, now: DateTime) -> DateTime {
        let day = now.date();
        match self {
            Period::Minute => day.at(now.hour(), now.minute(), 0, 0),
            Period::Hour => day.at(now.hour(), 0, 0, 0),
            Period::Day => day.at(0, 0, 0, 0),
            Period::Month => day.first_of_month().at(0, 0, 0, 0),
        }
    }
}

/// A limit over one period.
#[derive(Clone, Copy, Debug)]
struct Window {
    period: Period,
    start: DateTime,
    used: u64,
    allowed: u64,
}

impl Window {
    fn turn(&mut self, now: DateTime) {
        let start = self.period.start(now);
        if start != self.start {
            (self.start, self.used) = (start, 0);
        }
    }

    /// A quota record's entry: `{allowed, used}`.
    fn record(&self) -> Map<String, Value> {
        Map::from_iter([("allowed".to_owned(), self.allowed.into()), ("used".to_owned(), self.used.into())])
    }
}

/// The limits of a user or a group, and what is spent of them.
#[derive(Debug)]
struct Purse {
    minute: Window,
    hour: Window,
    day: Window,
    month: Window,
}

impl Purse {
    fn new(limits: Limits, spent: u64, now: DateTime) -> Self {
        let window = |period: Period, allowed, used| Window { period, start: period.start(now), used, allowed };
        Purse {
            minute: window(Period::Minute, limits.minute, 0),
            hour: window(Period::Hour, limits.hourly, 0),
            day: window(Period::Day, limits.daily, spent),
            month: window(Period::Month, limits.monthly, spent),
        }
    }

    fn windows(&self) -> [&Window; 4] {
        [&self.minute, &self.hour, &self.day, &self.month]
    }

    fn spend(&mut self, requests: u64) {
        for window in [&mut self.minute, &mut self.hour, &mut self.day, &mut self.month] {
            window.used = window.used.saturating_add(requests);
        }
    }

    fn turn(&mut self, now: DateTime) {
        for window in [&mut self.minute, &mut self.hour, &mut self.day, &mut self.month] {
            window.turn(now);
        }
    }

    /// The first period that has no room for `requests` more.
    fn lacking(&self, requests: u64) -> Option<Period> {
        let full = |window: &&Window| window.used.saturating_add(requests) > window.allowed;
        self.windows().into_iter().find(full).map(|window| window.period)
    }

    fn tally(&self) -> Tally {
        let [minute, hourly, daily, monthly] = self.windows().map(|window| window.used);
        Tally { minute, hourly, daily, monthly }
    }
}

/// Quotas the demo shows but nothing in it spends: name, what the user may spend and has spent,
/// and the group likewise.
/// The user's own number of a kind sold to groups is zero, as the service shows it.
type Fixed = (&'static str, (u64, u64), Option<(u64, u64)>);
const FIXED: [Fixed; 8] = [
    ("intelligence_searches_monthly", (0, 12), Some((1_000, 163))),
    ("intelligence_downloads_monthly", (0, 5), Some((300, 62))),
    ("intelligence_hunting_rules", (0, 3), Some((25, 18))),
    ("intelligence_retrohunt_jobs_monthly", (0, 0), Some((10, 2))),
    ("intelligence_graphs_private", (0, 1), Some((20, 21))),
    ("intelligence_vtdiff_creation_monthly", (0, 0), Some((100, 7))),
    ("cases_creation_monthly", (20, 0), None),
    ("collections_creation_monthly", (100, 2), None),
];

/// The group every demo user belongs to.
pub(super) const GROUP: &str = "demo_response_team";

/// Everything the service counts.
#[derive(Debug)]
pub(super) struct Counters {
    user: Purse,
    group: Purse,
    scans: [Window; 2],
    usage: BTreeMap<Date, BTreeMap<&'static str, u64>>,
}

impl Counters {
    pub fn new(user: Limits, group: Limits, group_spent: u64, scans: ScanLimits, now: DateTime) -> Self {
        let (user, group) = (Purse::new(user, 0, now), Purse::new(group, group_spent, now));
        let scans = [(Period::Minute, scans.minute, 0), (Period::Month, scans.monthly, scans.spent)]
            .map(|(period, allowed, used)| Window { period, start: period.start(now), used, allowed });
        Counters { user, group, scans, usage: BTreeMap::new() }
    }

    /// Ends the periods that are over.
    pub fn turn(&mut self, now: DateTime) {
        self.user.turn(now);
        self.group.turn(now);
        self.scans.iter_mut().for_each(|window| window.turn(now));
    }

    /// The first period with no room for so many private scans more.
    pub fn lacking_scans(&self, scans: u64) -> Option<Period> {
        let full = |window: &&Window| scans > 0 && window.used.saturating_add(scans) > window.allowed;
        self.scans.iter().find(full).map(|window| window.period)
    }

    /// Counts private scans.
    pub fn count_scans(&mut self, scans: u64) {
        self.scans.iter_mut().for_each(|window| window.used = window.used.saturating_add(scans));
    }

    /// The first period of user or group with no room for a call that costs `requests`.
    pub fn lacking(&self, requests: u64) -> Option<Period> {
        if requests == 0 { None } else { self.user.lacking(requests).or_else(|| self.group.lacking(requests)) }
    }

    /// Charges user and group, and writes the usage down.
    pub fn charge(&mut self, endpoint: Endpoint, requests: u64, today: Date) {
        if requests > 0 {
            self.user.spend(requests);
            self.group.spend(requests);
            *self.usage.entry(today).or_default().entry(endpoint.usage_name()).or_default() += requests;
        }
    }

    /// Charges the group alone.
    pub fn charge_colleague(&mut self, requests: u64) {
        self.group.spend(requests);
    }

    /// Leaves the user nothing today.
    pub fn spend_the_day(&mut self) {
        self.user.day.used = self.user.day.used.max(self.user.day.allowed);
    }

    pub fn used(&self) -> Used {
        let [_, month] = self.scans;
        Used { user: self.user.tally(), group: self.group.tally(), scans: month.used }
    }

    /// The body of `overall_quotas`.
    pub fn quotas(&self, licence: bool) -> Value {
        let inherited = |mut record: Map<String, Value>| {
            record.insert("inherited_from".to_owned(), GROUP.into());
            record
        };
        let api = [("hourly", &self.user.hour, &self.group.hour), ("daily", &self.user.day, &self.group.day)]
            .into_iter()
            .chain([("monthly", &self.user.month, &self.group.month)])
            .map(|(name, user, group)| {
                let entry = json!({ "user": user.record(), "group": inherited(group.record()) });
                (format!("api_requests_{name}"), entry)
            });
        let [minute, month] = self.scans;
        let month = if licence { month } else { Window { allowed: 0, ..month } };
        let private = [("private_scans_monthly", month), ("private_scans_per_minute", minute)]
            .map(|(name, window)| (name.to_owned(), json!({ "user": window.record() })));
        json!({ "data": api.chain(FIXED.iter().map(fixed)).chain(private).collect::<Map<_, _>>() })
    }

    /// The body of `api_usage` for the days from `first` to `last`.
    pub fn usage(&self, first: Date, last: Date) -> Value {
        let (mut daily, mut total) = (Map::new(), BTreeMap::<&str, u64>::new());
        for (day, endpoints) in self.usage.range(first..=last) {
            daily.insert(day.to_string(), json!(endpoints));
            for (endpoint, requests) in endpoints {
                *total.entry(endpoint).or_default() += requests;
            }
        }
        json!({ "data": { "daily": daily, "total": total } })
    }
}

fn fixed((name, user, group): &Fixed) -> (String, Value) {
    let mut entry = json!({ "user": { "allowed": user.0, "used": user.1 } });
    if let (Some((allowed, used)), Some(entry)) = (group, entry.as_object_mut()) {
        let record = json!({ "allowed": allowed, "used": used, "inherited_from": GROUP });
        entry.insert("group".to_owned(), record);
    }
    ((*name).to_owned(), entry)
}
