//! The pools of quota, their units, and the periods after which they reset.

use crate::text::{count, names, plural};
use jiff::civil::Date;
use jiff::{SignedDuration, Timestamp, ToSpan, tz::TimeZone};

names! {
    /// A kind of quota (§8.1.3).
    Pool label {
        /// API quota, in requests per minute, hour, day and month.
        Api "api" "API quota",
        /// Intelligence quota, in searches and downloads per month.
        Intelligence "intelligence" "intelligence quota",
        /// Hunting quota, in live rules and retrospective jobs per month.
        Hunting "hunting" "hunting quota",
        Graph "graph" "graph quota",
        /// Quota of private scans per minute and month; not in the specification.
        PrivateScans "private-scans" "private scan quota",
        /// No quota at all: the operation is free.
        None "none" "no quota",
    }
}

names! {
    /// The unit in which a pool is counted (§8.1.3).
    Unit {
        Request "request",
        Search "search",
        /// A file download paid from intelligence quota.
        Download "download",
        Rule "rule",
        Job "job",
        Graph "graph",
        Scan "scan",
    }
}

names! {
    /// The period of a limit, after which its counter resets to zero.
    Period noun {
        /// A minute. Its start is not documented: the clock's minute is assumed.
        Minute "minute" "minute",
        /// An hour. Its start is not documented: the clock's hour is assumed.
        Hourly "hourly" "hour",
        /// A day, from 00:00 UTC.
        Daily "daily" "day",
        /// A month, from the 1st, 00:00 UTC.
        Monthly "monthly" "month",
    }
}

names! {
    /// The owner of a quota (§8.1.1).
    Holder {
        User "user",
        /// The group that the user shares a quota with.
        Group "group",
    }
}

impl Unit {
    pub fn pool(self) -> Pool {
        match self {
            Self::Request => Pool::Api,
            Self::Search | Self::Download => Pool::Intelligence,
            Self::Rule | Self::Job => Pool::Hunting,
            Self::Graph => Pool::Graph,
            Self::Scan => Pool::PrivateScans,
        }
    }

    /// Returns periods that limit this unit, shortest first (§8.1.3); the hour is only observed.
    pub(crate) fn periods(self) -> &'static [Period] {
        match self {
            Self::Request => &Period::ALL,
            Self::Scan => &[Period::Minute, Period::Monthly],
            Self::Search | Self::Download | Self::Rule | Self::Job | Self::Graph => &[Period::Monthly],
        }
    }

    pub fn plural(self) -> String {
        plural(self.name())
    }

    /// `n` of this unit in words: "1 request", "2 searches".
    pub fn count(self, n: u64) -> String {
        count(n, self.name())
    }
}

impl Period {
    /// Returns the current period: "today", "this month".
    pub fn current(self) -> &'static str {
        match self {
            Self::Minute => "this minute",
            Self::Hourly => "this hour",
            Self::Daily => "today",
            Self::Monthly => "this month",
        }
    }

    /// Returns whether the moment of the reset is a guess rather than a documented fact.
    pub fn reset_is_assumed(self) -> bool {
        matches!(self, Self::Minute | Self::Hourly)
    }

    /// Returns its length in seconds, aligned to the epoch; `None` for months.
    fn seconds(self) -> Option<i64> {
        match self {
            Self::Minute => Some(60),
            Self::Hourly => Some(60 * 60),
            Self::Daily => Some(24 * 60 * 60),
            Self::Monthly => None,
        }
    }

    /// Returns the first reset after `now`; the last representable instant if none follows.
    pub fn next_reset(self, now: Timestamp) -> Timestamp {
        let began = self.began(now);
        let next = match self.seconds() {
            Some(seconds) => Timestamp::from_second(began.as_second() + seconds).ok(),
            None => first_of_month(now).checked_add(1.month()).ok().and_then(midnight),
        };
        next.unwrap_or(Timestamp::MAX)
    }

    /// Returns when the period that contains `now` began.
    pub fn began(self, now: Timestamp) -> Timestamp {
        // The second before the epoch has a negative fraction: floor by the nanosecond.
        let second = now.as_nanosecond().div_euclid(1_000_000_000) as i64;
        let began = match self.seconds() {
            Some(seconds) => Timestamp::from_second(second - second.rem_euclid(seconds)).ok(),
            None => midnight(first_of_month(now)),
        };
        began.unwrap_or(Timestamp::MIN)
    }

    /// Returns whether `now` is in a later period than `read`; false if the clock was set back.
    pub fn is_renewed(self, read: Timestamp, now: Timestamp) -> bool {
        self.began(read) < self.began(now)
    }

    /// Returns whether the time from `first` to `last` overlaps the period that contains `now`. The
    /// last representable instant belongs to the last period.
    pub fn meets(self, now: Timestamp, first: Timestamp, last: Timestamp) -> bool {
        let ends = self.next_reset(now);
        self.began(now) <= last && (first < ends || ends == Timestamp::MAX)
    }

    /// Returns the time from `now` to the next reset; never negative.
    pub fn until_reset(self, now: Timestamp) -> SignedDuration {
        now.duration_until(self.next_reset(now))
    }

    /// Returns the next reset as a time in UTC: "00:00 UTC", "1 December 00:00 UTC".
    pub fn reset_label(self, now: Timestamp) -> String {
        let reset = self.next_reset(now).to_zoned(TimeZone::UTC);
        let form = if self == Self::Monthly { "%-d %B %H:%M UTC" } else { "%H:%M UTC" };
        reset.strftime(form).to_string()
    }
}

fn first_of_month(now: Timestamp) -> Date {
    now.to_zoned(TimeZone::UTC).date().first_of_month()
}

fn midnight(day: Date) -> Option<Timestamp> {
    day.to_zoned(TimeZone::UTC).ok().map(|midnight| midnight.timestamp())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    #[test]
    fn periods_are_contiguous_and_end_by_utc() {
        let now = at("2026-11-20T08:38:47.5Z");
        for (period, began, resets) in [
            (Period::Minute, "2026-11-20T08:38:00Z", "2026-11-20T08:39:00Z"),
            (Period::Hourly, "2026-11-20T08:00:00Z", "2026-11-20T09:00:00Z"),
            (Period::Daily, "2026-11-20T00:00:00Z", "2026-11-21T00:00:00Z"),
            (Period::Monthly, "2026-11-01T00:00:00Z", "2026-12-01T00:00:00Z"),
        ] {
            assert_eq!(
                [began, began, resets].map(at),
                [period.began(now), period.began(at(began)), period.next_reset(now)]
            );
        }
    }

    #[test]
    fn counter_resets_at_period_end_only() {
        let read = at("2026-11-20T10:59:50Z");
        let later = at("2026-11-20T11:00:00Z");
        assert_eq!(Period::ALL.map(|period| period.is_renewed(read, later)), [true, true, false, false]);
        assert_eq!(Period::ALL.map(|period| period.is_renewed(later, read)), [false; 4]);
        assert!(!Period::Hourly.is_renewed(read, at("2026-11-20T10:00:00Z")));
        assert!(Period::Daily.is_renewed(read, at("2026-11-21T00:00:00Z")));
    }

    #[test]
    fn a_reset_is_always_later_even_on_the_instant_of_one() {
        for (now, next) in [
            ("2026-12-31T23:59:59.999999999Z", "2027-01-01T00:00:00Z"),
            ("2028-02-29T00:00:00Z", "2028-03-01T00:00:00Z"),
            ("1969-12-31T23:59:59.5Z", "1970-01-01T00:00:00Z"),
        ] {
            assert_eq!(Period::Daily.next_reset(at(now)), at(next), "{now}");
            assert_eq!(Period::Monthly.next_reset(at(now)), at(next), "{now}");
        }
        let midnight = at("2026-12-01T00:00:00Z");
        assert_eq!(Period::Daily.next_reset(midnight), at("2026-12-02T00:00:00Z"));
        assert_eq!(Period::Monthly.next_reset(midnight), at("2027-01-01T00:00:00Z"));
    }

    #[test]
    fn the_ends_of_time_are_survived() {
        for period in Period::ALL {
            assert!(period.next_reset(Timestamp::MAX) >= Timestamp::MAX);
            assert!(period.next_reset(Timestamp::MIN) > Timestamp::MIN);
            assert!(!period.until_reset(Timestamp::MAX).is_negative());
        }
    }

    #[test]
    fn resets_in_words() {
        let now = at("2026-11-20T08:38:47Z");
        assert_eq!(Period::Daily.reset_label(now), "00:00 UTC");
        assert_eq!(Period::Monthly.reset_label(now), "1 December 00:00 UTC");
        assert_eq!(Period::Hourly.reset_label(now), "09:00 UTC");
        assert!(Period::Hourly.reset_is_assumed() && !Period::Daily.reset_is_assumed());
    }
}
