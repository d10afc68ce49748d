//! Plans against balances: what fits, what is short, until when.

use super::*;
use crate::quota::tests::of;
use crate::quota::{Kind, Numbers};
use proptest::prelude::*;
use serde_json::{Value, json};

fn now() -> Timestamp {
    "2026-11-20T08:38:47Z".parse().unwrap()
}

fn report(hashes: u64) -> Operation {
    of(Kind::V2FileReport, Numbers { hashes, after_new_upload: Some(false), ..Numbers::default() })
}

fn plan(operations: &[Operation]) -> Plan {
    Plan::of(operations.iter().copied(), &Entitlements::default())
}

/// A counter, and what is allowed and used of it: the user's side, the group's side.
type Row = (&'static str, Option<(u64, u64)>, Option<(u64, u64)>);

fn balances(rows: &[Row]) -> Balances {
    let side = |side: &Option<(u64, u64)>| side.map(|(allowed, used)| json!({"allowed": allowed, "used": used}));
    let data: serde_json::Map<String, Value> = rows
        .iter()
        .map(|(name, user, group)| {
            let sides = [("user", side(user)), ("group", side(group))];
            let sides = sides.into_iter().filter_map(|(name, side)| Some((name.to_owned(), side?)));
            ((*name).to_owned(), Value::Object(sides.collect()))
        })
        .collect();
    Balances::read(&json!({"data": data}))
}

const DAILY: &str = "api_requests_daily";
const MONTHLY: &str = "api_requests_monthly";

fn summary(operations: &[Operation], rows: &[Row]) -> String {
    plan(operations).forecast(&balances(rows), now()).summary
}

#[test]
fn forecast_label_names_fit_and_reset() {
    let hourly = "api_requests_hourly";
    let analysis = of(Kind::V3Analysis, Numbers { exists: None, ..Numbers::default() });
    let walls = [(hourly, Some((240, 1)), None), (DAILY, Some((1000, 402)), None)];
    let month = [(DAILY, Some((10, 0)), None), (MONTHLY, Some((100, 99)), None)];
    for (operation, rows, told) in [
        (
            report(3),
            &[(DAILY, Some((1000, 0)), Some((500, 499)))][..],
            "3 hashes: 2 requests more than are left to the group today; complete after 2026-11-21 00:00 UTC",
        ),
        (
            report(12),
            &month,
            "12 hashes: 2 requests more than are left to the user today, 11 requests more than are left to the user \
             this month; complete after 2026-12-02 00:00 UTC",
        ),
        (
            report(700),
            &walls,
            "700 hashes: 461 requests more than are left to the user this hour, 102 requests more than are left to \
             the user today; complete after 2026-11-21 00:00 UTC",
        ),
        (
            report(300),
            &walls,
            "300 hashes: 61 requests more than are left to the user this hour; complete after about 2026-11-20 09:00 UTC",
        ),
        (
            report(250),
            &[(DAILY, Some((100, 100)), None)],
            "250 hashes: 250 requests more than are left to the user today; complete after 2026-11-23 00:00 UTC",
        ),
        (
            report(1),
            &[(DAILY, Some((0, 0)), None)],
            "1 hash: 1 request more than are left to the user today; not complete within 10 years",
        ),
        (
            report(100_000),
            &[("api_requests_per_minute", Some((1, 0)), None), (DAILY, Some((5000, 0)), None)],
            "100,000 hashes: 95,000 requests more than are left to the user today; complete after 2027-01-28 19:17 UTC",
        ),
        (analysis, &[(DAILY, Some((1000, 0)), None)], "1 call: fits; 999 requests left to the user today"),
    ] {
        assert_eq!(summary(&[operation], rows), told);
    }
}

#[test]
fn a_range_fits_perhaps() {
    let rows = [(DAILY, Some((1000, 1000)), None)];
    let analysis = of(Kind::V3Analysis, Numbers { exists: None, ..Numbers::default() });
    let forecast = plan(&[analysis]).forecast(&balances(&rows), now());
    assert_eq!((forecast.fit, forecast.fits), (Fit::Perhaps, false));
    assert_eq!(forecast.summary, "1 call: fits if it takes no more than the 0 requests left to the user today");
}

#[test]
fn every_short_or_unknown_pool_is_named() {
    let operations = [report(600), of(Kind::LivehuntRules, Numbers { rules: 3, active: true, ..Numbers::default() })];
    let rows = [
        ("api_requests_hourly", Some((240, 21)), None),
        (DAILY, Some((500, 24)), None),
        ("intelligence_hunting_rules", Some((10, 9)), None),
    ];
    assert_eq!(
        summary(&operations, &rows),
        "600 hashes and 3 rules: 381 requests more than are left to the user this hour, 124 requests more than are left \
         to the user today; complete after 2026-11-21 00:00 UTC; 2 rules more than are left to the user this month; \
         complete after 2026-12-01 00:00 UTC"
    );
    let unknown = "the remaining requests are not known";
    assert!(summary(&operations, &rows[2..]).contains(&format!(": {unknown}; 2 rules more")));
    let fitting = [("intelligence_hunting_rules", Some((10, 0)), None)];
    assert_eq!(summary(&operations, &fitting), format!("600 hashes and 3 rules: {unknown}"));
}

#[test]
fn unreadable_counter_is_unknown_unless_short() {
    let odd = |left: u64| {
        Balances::read(&json!({"data": {
            "api_requests_daily": {"user": {"allowed": left, "used": 0}},
            "api_requests_monthly": {"user": {"allowed": null, "used": 0}}}}))
    };
    assert_eq!(plan(&[report(2)]).forecast(&odd(5), now()).fit, Fit::Unknown);
    assert_eq!(plan(&[report(2)]).forecast(&odd(1), now()).fit, Fit::Short);
}

#[test]
fn a_user_without_a_group_draws_on_no_group() {
    let alone = Entitlements { group: crate::quota::Entitlement::by_hand(false), ..Entitlements::default() };
    let plan = Plan::of([report(3)], &alone);
    assert_eq!(plan.total(Unit::Request, |price| price.charged.contains(&crate::quota::Holder::Group)), Units::NOTHING);
    let rows = [(DAILY, Some((9, 0)), Some((0, 0)))];
    assert!(plan.clone().forecast(&balances(&rows), now()).fits);
}

fn any_plan() -> impl Strategy<Value = Plan> {
    let operation =
        (0..Kind::ALL.len(), crate::quota::tests::any_numbers()).prop_map(|(at, numbers)| of(Kind::ALL[at], numbers));
    prop::collection::vec(operation, 0..4).prop_map(|operations| plan(&operations))
}

proptest! {
    #[test]
    fn forecast_never_panics_nor_improves_with_size(
        a in any_plan(), b in any_plan(), allowed in any::<u64>(), used in any::<u64>(), second in any::<i32>(),
    ) {
        let rows = [(DAILY, Some((allowed, used)), Some((used, allowed))), (MONTHLY, Some((used, 0)), None)];
        let balances = balances(&rows);
        let now = Timestamp::from_second(i64::from(second)).unwrap();
        let small = a.clone().forecast(&balances, now);
        let both = Plan { prices: [a.prices, b.prices].concat() };
        let big = both.forecast(&balances, now);
        prop_assert!(small.fit <= big.fit, "{:?} {:?}", small.summary, big.summary);
    }
}

#[test]
fn total_is_labelled_in_units() {
    for (min, max, words) in [
        (1, Some(1), "1 request"),
        (600, Some(600), "600 requests"),
        (0, Some(1), "0 or 1 request"),
        (2, Some(5), "2 to 5 requests"),
        (3, None, "at least 3 requests"),
    ] {
        assert_eq!(Units { min, max }.label(Unit::Request), words);
    }
    let beyond = Units { min: u64::MAX, max: Some(u64::MAX) }.plus(Units::exactly(1)).label(Unit::Request);
    assert_eq!(beyond, "at least 18,446,744,073,709,551,615 requests");
}

/// The day on which the last unit fits, spending a day at a time, at most a number a minute.
fn simulated(minute: u64, daily: (u64, u64), monthly: (u64, u64), mut needed: u64) -> jiff::civil::Date {
    let mut day = now().to_zoned(jiff::tz::TimeZone::UTC).date();
    let mut today = daily.0 - daily.1;
    let mut this_month = monthly.0 - monthly.1;
    // 8 hours and 38 minutes of the first day are over.
    let mut paced = minute * (24 * 60 - 518);
    loop {
        let spent = needed.min(today).min(this_month).min(paced);
        needed -= spent;
        if needed == 0 {
            return day;
        }
        let next = day.tomorrow().unwrap();
        this_month = if next.month() == day.month() { this_month - spent } else { monthly.0 };
        (day, today, paced) = (next, daily.0, minute * 24 * 60);
    }
}

proptest! {
    #[test]
    fn forecast_waits_as_long_as_a_simulation(
        minute in prop_oneof![1..3_u64, 1000..1001_u64],
        (daily, daily_used) in (50..5_000_u64).prop_flat_map(|allowed| (Just(allowed), 0..=allowed)),
        (monthly, monthly_used) in (500..90_000_u64).prop_flat_map(|allowed| (Just(allowed), 0..=allowed)),
        needed in 1..20_000_u64,
    ) {
        let by_minute = ("api_requests_per_minute", Some((minute, 0)), None);
        let rows = [by_minute, (DAILY, Some((daily, daily_used)), None), (MONTHLY, Some((monthly, monthly_used)), None)];
        let limits = balances(&rows).limits(Unit::Request);
        let ready = ready_at(&limits, needed, now()).unwrap();
        let day = ready.to_zoned(jiff::tz::TimeZone::UTC).date();
        prop_assert_eq!(day, simulated(minute, (daily, daily_used), (monthly, monthly_used), needed));
    }
}
