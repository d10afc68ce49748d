//! How fast a monthly limit is used, and where that leads.
//!
//! Two paces make a range: that of the month so far, and that since an earlier reading.

use super::{Balances, Holder, Period, Unit, Units};
use crate::text::thousands;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use serde::Serialize;
use std::fmt;

/// The shortest time that shows a pace.
const SHORTEST: SignedDuration = SignedDuration::from_hours(24);

const DAY_SECONDS: u64 = 24 * 60 * 60;

/// The use of a holder's monthly requests, projected to the end of the month (UTC).
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
mod tests {
    use super::*;

    #[test]
    fn two_paces_make_a_range() {
        let at = |text: &str| text.parse::<Timestamp>().unwrap();
        let balances = |used: u64| {
            let body = format!(r#"{{"data":{{"api_requests_monthly":{{"user":{{"allowed":3000,"used":{used}}}}}}}}}"#);
            Balances::parse(body.as_bytes()).unwrap()
        };
        let now = at("2026-11-11T00:00:00Z");
        let words = |used, earlier: Option<(Timestamp, u64)>| {
            let earlier = earlier.map(|(at, before)| (Holder::User, at, before)).into_iter().collect();
            Projection::new(&Balances { earlier, ..balances(used) }, Holder::User, now).unwrap().to_string()
        };
        let month = "user: 1,000 of 3,000 requests this month, 100 a day, 3,000 by 1 December";
        assert_eq!(words(1000, None), month);
        // Too late, of another month, or of another account.
        for earlier in [("2026-11-10T12:00:00Z", 900), ("2026-10-30T00:00:00Z", 1), ("2026-11-05T00:00:00Z", 1001)] {
            assert_eq!(words(1000, Some((at(earlier.0), earlier.1))), month);
        }
        let faster = words(1000, Some((at("2026-11-09T00:00:00Z"), 600)));
        assert!(
            faster.ends_with(
                "100 to 200 a day, 3,000 to 5,000 by 1 December; runs out on 21 November at the faster pace"
            ),
            "{faster}"
        );
        let both = words(2000, Some((at("2026-11-09T00:00:00Z"), 1500)));
        assert!(
            both.ends_with(
                "200 to 250 a day, 6,000 to 7,000 by 1 December; runs out on 15 November at the faster pace"
            ),
            "{both}"
        );
        assert!(words(3100, None).ends_with("runs out on 11 November at this pace"));
        assert!(words(0, None).ends_with("0 a day, 0 by 1 December"));
        let start = Projection::new(&balances(0), Holder::User, at("2026-11-01T00:00:00Z"));
        assert_eq!((start.unwrap().at_end, Projection::new(&balances(0), Holder::Group, now)), (Units::NOTHING, None));
    }
}
