//! Computes how long a plan waits if its units are spent as soon as every limit allows, period by
//! period.

use super::{Limit, Period};
use jiff::{SignedDuration, Timestamp, tz::TimeZone};

/// How far ahead the plan is computed.
const HORIZON: SignedDuration = SignedDuration::from_hours(10 * 366 * 24);

/// When the last of `needed` units fits within all of these limits; `None` after more than ten
/// years.
///
/// Ignores limits by the minute: they delay a plan by minutes only.
pub(super) fn ready_at<'a>(
    limits: impl Iterator<Item = &'a Limit>,
    mut needed: u64,
    now: Timestamp,
) -> Option<Timestamp> {
    let limits = limits.filter(|limit| limit.period > Period::Minute);
    let mut left: Vec<_> = limits.map(|limit| (limit.period, limit.allowed, limit.remaining)).collect();
    let step = left.iter().map(|(period, ..)| *period).min().unwrap_or(Period::Monthly);
    let mut at = now;
    while now.duration_until(at) < HORIZON {
        let fits = left.iter().map(|(.., left)| *left).min().unwrap_or(u64::MAX);
        if needed <= fits {
            return Some(at);
        }
        needed -= fits;
        let next = step.next_reset(at);
        for (period, allowed, left) in &mut left {
            *left = if period.is_renewed(at, next) { *allowed } else { *left - fits };
        }
        at = next;
    }
    None
}

/// The number of resets of a period after `from` and up to `to`.
pub(super) fn resets(period: Period, from: Timestamp, to: Timestamp) -> u64 {
    let day = |at: Timestamp| at.to_zoned(TimeZone::UTC).date();
    let count = match period {
        Period::Minute => to.as_second().div_euclid(60) - from.as_second().div_euclid(60),
        Period::Hourly => to.as_second().div_euclid(3_600) - from.as_second().div_euclid(3_600),
        Period::Daily => to.as_second().div_euclid(86_400) - from.as_second().div_euclid(86_400),
        Period::Monthly => {
            let month = |at: Timestamp| i64::from(day(at).year()) * 12 + i64::from(day(at).month());
            month(to) - month(from)
        }
    };
    u64::try_from(count).unwrap_or_default()
}
