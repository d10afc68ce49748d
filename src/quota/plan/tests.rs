//! Plans against balances: what fits, what is short, until when.

use super::*;
use crate::quota::Kind;
use proptest::prelude::*;
use serde_json::{Value, json};

fn now() -> Timestamp {
    "2026-11-20T08:38:47Z".parse().unwrap()
}

fn report(hashes: u64) -> Operation {
    Operation::V2FileReport { hashes, after_new_upload: Some(false) }
}

fn plan(operations: &[Operation]) -> Plan {
    let mut plan = Plan::new();
    for operation in operations {
        plan.add(operation.clone(), &Entitlements::default());
    }
    plan
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

fn words(operations: &[Operation], rows: &[Row]) -> String {
    plan(operations).forecast(&balances(rows), now()).words
}

#[test]
fn six_hundred_hashes_are_two_more_than_the_limit_of_the_day() {
    let rows = [(DAILY, Some((1000, 402)), None), (MONTHLY, Some((31_000, 402)), None)];
    let forecast = plan(&[report(600)]).forecast(&balances(&rows), now());
    assert_eq!(forecast.words, "600 hashes: 2 more than are left today; the last 2 fit after 00:00 UTC");
    assert_eq!((forecast.fit, forecast.fits()), (Fit::Short, false));
    let binding = forecast.binding().unwrap();
    assert_eq!(binding.limit.period, Period::Daily);
    assert_eq!(binding.resets_at, "2026-11-21T00:00:00Z".parse().unwrap());
}

#[test]
fn what_fits_says_what_it_leaves_and_to_whom() {
    let rows = [(DAILY, Some((1000, 0)), Some((5000, 4300))), (MONTHLY, Some((31_000, 0)), None)];
    let forecast = plan(&[report(598)]).forecast(&balances(&rows), now());
    assert_eq!(forecast.words, "598 hashes: fits; 102 left to the group today");
    assert!(forecast.fits());
    assert_eq!(forecast.lines.len(), 3);
}

#[test]
fn the_last_unit_fits_and_one_more_does_not() {
    let rows = [(DAILY, Some((10, 4)), None)];
    assert!(plan(&[report(6)]).forecast(&balances(&rows), now()).fits());
    assert!(!plan(&[report(7)]).forecast(&balances(&rows), now()).fits());
}

#[test]
fn the_group_can_be_what_binds() {
    let rows = [(DAILY, Some((1000, 0)), Some((500, 499)))];
    assert_eq!(
        words(&[report(3)], &rows),
        "3 hashes: 2 more than are left to the group today; the last 2 fit after 00:00 UTC"
    );
}

#[test]
fn the_longest_period_that_is_short_binds() {
    let rows = [(DAILY, Some((10, 0)), None), (MONTHLY, Some((100, 99)), None)];
    assert_eq!(
        words(&[report(11)], &rows),
        "11 hashes: 10 more than are left this month; the last 10 fit after 1 December 00:00 UTC"
    );
    assert_eq!(
        words(&[report(12)], &rows),
        "12 hashes: 11 more than are left this month; the last 11 can start after 1 December 00:00 UTC"
    );
}

#[test]
fn the_first_wall_is_named_beside_the_one_that_takes_longest() {
    let rows = [("api_requests_hourly", Some((240, 1)), None), (DAILY, Some((1000, 402)), None)];
    assert_eq!(
        words(&[report(700)], &rows),
        "700 hashes: 461 more than are left this hour and 102 more than are left today; the last 102 fit after 00:00 UTC"
    );
    assert_eq!(
        words(&[report(300)], &rows),
        "300 hashes: 61 more than are left this hour; the last 61 fit after about 09:00 UTC"
    );
}

#[test]
fn what_is_missing_of_a_range_is_a_range_and_without_an_upper_end_the_least() {
    let hourly = "api_requests_hourly";
    let rows = [(hourly, Some((240, 0)), None), (DAILY, Some((1000, 500)), None)];
    let unsure = Operation::V3Analysis { exists: None };
    let told = |hashes, rows: &[Row]| words(&[report(hashes), unsure.clone()], rows);
    assert_eq!(
        told(900, &rows),
        "900 hashes and 1 call: 660 or 661 more than are left this hour and 400 or 401 more than are left today; \
         the last 400 or 401 can start after 00:00 UTC"
    );
    assert_eq!(
        told(960, &rows[..1]),
        "960 hashes and 1 call: 720 or 721 more than are left this hour; they take 3 or 4 hours more, from about 09:00 UTC"
    );
    let open = [report(241), Operation::V2FileSubmissions { submissions: None }];
    assert_eq!(
        words(&open, &rows[..1]),
        "241 hashes and submissions: at least 1 more than are left this hour; they take at least 1 hour more, from about 09:00 UTC"
    );
    let paced = [("api_requests_minute", Some((4, 0)), None)];
    assert!(words(&open, &paced).ends_with("fits at 4 a minute: at least 61 minutes"));
    let forecast = plan(&[report(900), unsure]).forecast(&balances(&rows), now());
    assert_eq!(forecast.lines[0].fit_words(), "660 or 661 short");
}

#[test]
fn more_than_one_day_is_counted_in_days() {
    let rows = [(DAILY, Some((100, 100)), None)];
    assert_eq!(
        words(&[report(250)], &rows),
        "250 hashes: 250 more than are left today; they take 3 days more, from 00:00 UTC"
    );
}

#[test]
fn where_nothing_is_allowed_nothing_is_promised() {
    let rows = [(DAILY, Some((0, 0)), None), (MONTHLY, Some((5, 5)), None)];
    assert_eq!(words(&[report(1)], &rows), "1 hash: 1 more than are left today; nothing is allowed");
}

#[test]
fn an_hour_resets_at_a_guessed_moment() {
    let rows = [("api_requests_hourly", Some((4, 4)), None)];
    assert_eq!(
        words(&[report(1)], &rows),
        "1 hash: 1 more than are left this hour; the last one fits after about 09:00 UTC"
    );
}

#[test]
fn a_minute_limit_paces_and_does_not_refuse() {
    let rows = [("api_requests_minute", Some((4, 1)), None), (DAILY, Some((1000, 0)), None)];
    let forecast = plan(&[report(600)]).forecast(&balances(&rows), now());
    assert_eq!(forecast.words, "600 hashes: fits at 4 a minute: about 150 minutes");
    assert_eq!((forecast.fit, forecast.fits()), (Fit::Paced, true));
    let nothing = [("api_requests_minute", Some((0, 0)), None)];
    assert!(!plan(&[report(1)]).forecast(&balances(&nothing), now()).fits());
}

#[test]
fn a_range_fits_perhaps() {
    let rows = [(DAILY, Some((1000, 1000)), None)];
    let analysis = Operation::V3Analysis { exists: None };
    let forecast = plan(&[analysis]).forecast(&balances(&rows), now());
    assert_eq!((forecast.fit, forecast.fits()), (Fit::Perhaps, false));
    assert_eq!(forecast.words, "1 call: up to 1 more than are left today");
}

#[test]
fn what_is_charged_by_the_item_fits_up_to_what_is_left() {
    let rows = [(DAILY, Some((1000, 400)), None)];
    let submissions = Operation::V2FileSubmissions { submissions: None };
    assert_eq!(words(&[submissions], &rows), "submissions: fits if it takes no more than 600 requests");
}

#[test]
fn several_operations_draw_on_several_pools() {
    let operations = [Operation::LivehuntRules { rules: 3, active: true }, Operation::Retrohunt { jobs: 1 }];
    let rows = [
        ("intelligence_hunting_rules", Some((10, 9)), None),
        ("intelligence_retrohunt_jobs_monthly", Some((5, 0)), None),
    ];
    assert_eq!(
        words(&operations, &rows),
        "3 rules and 1 job: 2 rules more than are left this month; the last 2 fit after 1 December 00:00 UTC"
    );
    let forecast = plan(&operations).forecast(&balances(&rows), now());
    assert_eq!(forecast.totals.len(), 2);
}

#[test]
fn every_pool_that_is_short_is_named_and_so_is_the_one_that_nobody_knows() {
    let operations = [report(600), Operation::LivehuntRules { rules: 3, active: true }];
    let rows = [
        ("api_requests_hourly", Some((240, 21)), None),
        (DAILY, Some((500, 24)), None),
        ("intelligence_hunting_rules", Some((10, 9)), None),
    ];
    assert_eq!(
        words(&operations, &rows),
        "600 hashes and 3 rules: 2 rules more than are left this month; the last 2 fit after 1 December 00:00 UTC; \
         and 381 requests more than are left this hour and 124 requests more than are left today; the last 124 fit after 00:00 UTC"
    );
    let unknown = "how many requests are left is not known";
    assert!(words(&operations, &rows[2..]).ends_with(&format!("after 1 December 00:00 UTC; and {unknown}")));
    let fitting = [("intelligence_hunting_rules", Some((10, 0)), None)];
    assert_eq!(words(&operations, &fitting), format!("600 hashes and 3 rules: {unknown}"));
}

#[test]
fn operations_of_one_pool_are_added_up() {
    let rows = [(DAILY, Some((10, 0)), None)];
    let seven = [report(4), Operation::V3Rescan { calls: 3 }];
    let forecast = plan(&seven).forecast(&balances(&rows), now());
    assert_eq!(forecast.totals, [(Unit::Request, Total { min: 7, max: Some(7) })]);
    assert_eq!(forecast.lines[0].at_worst, Some(3));
    let eleven = [&seven[..], &seven[..1]].concat();
    assert_eq!(words(&eleven, &rows), "3 operations: 1 more than are left today; the last one fits after 00:00 UTC");
}

#[test]
fn a_range_that_fits_leaves_what_is_left_at_worst() {
    let rows = [(DAILY, Some((1000, 0)), None)];
    let analysis = Operation::V3Analysis { exists: None };
    assert_eq!(words(&[analysis], &rows), "1 call: fits; 999 left to the user today");
}

#[test]
fn what_is_free_fits_whatever_is_left() {
    let spent = [(DAILY, Some((1, 9)), None)];
    let quotas = Operation::once(Kind::V3Quotas);
    let forecast = plan(&[quotas]).forecast(&balances(&spent), now());
    assert_eq!((forecast.words.as_str(), forecast.fit), ("1 call: free", Fit::Fits));
    assert_eq!(words(&[], &spent), "nothing: free");
}

#[test]
fn what_is_refused_does_not_fit() {
    let unlicensed =
        Entitlements { private_scanning: crate::quota::Entitlement::by_hand(false), ..Entitlements::default() };
    let mut plan = plan(&[report(1)]);
    plan.add(Operation::once(Kind::PrivateBehaviour), &unlicensed);
    let forecast = plan.forecast(&balances(&[(DAILY, Some((9, 0)), None)]), now());
    assert_eq!(forecast.fit, Fit::Refused);
    assert_eq!(forecast.words, "1 hash and 1 call: refused: no private scanning licence");
}

#[test]
fn without_balances_nobody_knows() {
    let forecast = plan(&[report(1)]).forecast(&Balances::default(), now());
    assert_eq!(forecast.fit, Fit::Unknown);
    assert_eq!(forecast.words, "1 hash: what is left is not known");
}

#[test]
fn a_counter_that_cannot_be_read_leaves_doubt_but_not_about_a_shortage() {
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
    let plan = Plan::of(report(3), &alone);
    assert_eq!(plan.total_of(Unit::Request, Holder::Group), Total::NOTHING);
    let rows = [(DAILY, Some((9, 0)), Some((0, 0)))];
    assert!(plan.forecast(&balances(&rows), now()).fits());
}

#[test]
fn the_form_for_machines() {
    let rows = [(DAILY, Some((1000, 402)), None)];
    let forecast = plan(&[report(600)]).forecast(&balances(&rows), now());
    let json = serde_json::to_value(&forecast).unwrap();
    assert_eq!(json["fits"], false);
    assert_eq!(json["fit"], "short");
    assert_eq!(json["totals"], json!([{"unit": "request", "min": 600, "max": 600}]));
    assert_eq!(
        json["limits"][0],
        json!({"unit": "request", "needed": {"min": 600, "max": 600}, "holder": "user",
            "period": "daily", "allowed": 1000, "remaining": 598, "at_best": 0, "at_worst": 0,
            "short": {"min": 2, "max": 2}, "resets_at": "2026-11-21T00:00:00Z", "ready_at": "2026-11-21T00:00:00Z",
            "reset_is_assumed": false, "fit": "short"})
    );
    assert_eq!(json["prices"][0]["rule"], "8.2.1");
}

#[test]
fn a_sum_beyond_what_can_be_counted_says_so() {
    let most = Total { min: u64::MAX, max: Some(u64::MAX) };
    let words = most.plus(Total { min: 1, max: Some(1) }).words(Unit::Request);
    assert_eq!(words, "at least 18,446,744,073,709,551,615 requests");
}

fn any_total() -> impl Strategy<Value = Total> {
    (any::<u64>(), any::<Option<u64>>()).prop_map(|(min, max)| Total { min, max })
}

fn any_plan() -> impl Strategy<Value = Plan> {
    let operation = (0..Kind::ALL.len(), crate::quota::tests::any_numbers())
        .prop_map(|(at, numbers)| Operation::with(Kind::ALL[at], numbers));
    prop::collection::vec(operation, 0..4).prop_map(|operations| plan(&operations))
}

proptest! {
    #[test]
    fn adding_totals_is_associative_and_commutative(a in any_total(), b in any_total(), c in any_total()) {
        prop_assert_eq!(a.plus(b).plus(c), a.plus(b.plus(c)));
        prop_assert_eq!(a.plus(b), b.plus(a));
        prop_assert_eq!(a.plus(Total::NOTHING), a);
    }

    #[test]
    fn adding_plans_is_associative_and_adds_their_totals(a in any_plan(), b in any_plan(), c in any_plan()) {
        let left = a.clone().plus(b.clone()).plus(c.clone());
        let right = a.clone().plus(b.clone().plus(c.clone()));
        prop_assert_eq!(&left, &right);
        for unit in Unit::ALL {
            for holder in [Holder::User, Holder::Group] {
                let sum = a.total_of(unit, holder).plus(b.total_of(unit, holder)).plus(c.total_of(unit, holder));
                prop_assert_eq!(left.total_of(unit, holder), sum);
            }
        }
    }

    #[test]
    fn a_forecast_never_panics_and_a_bigger_plan_never_fits_better(
        a in any_plan(), b in any_plan(), allowed in any::<u64>(), used in any::<u64>(), second in any::<i32>(),
    ) {
        let rows = [(DAILY, Some((allowed, used)), Some((used, allowed))), (MONTHLY, Some((used, 0)), None)];
        let balances = balances(&rows);
        let now = Timestamp::from_second(i64::from(second)).unwrap();
        let small = a.clone().forecast(&balances, now);
        let big = a.plus(b).forecast(&balances, now);
        prop_assert!(small.fit <= big.fit, "{:?} {:?}", small.words, big.words);
    }
}

#[test]
fn a_total_is_said_in_units() {
    for (min, max, words) in [
        (1, Some(1), "1 request"),
        (600, Some(600), "600 requests"),
        (0, Some(1), "0 or 1 request"),
        (2, Some(5), "2 to 5 requests"),
        (3, None, "at least 3 requests"),
    ] {
        assert_eq!(Total { min, max }.words(Unit::Request), words);
    }
}

#[test]
fn forecast_names_the_limit_that_waits_longest() {
    let rows = [(DAILY, Some((100, 0)), None), (MONTHLY, Some((10_000, 0)), None)];
    let forecast = plan(&[report(100_000)]).forecast(&balances(&rows), now());
    assert_eq!(
        forecast.words,
        "100,000 hashes: 99,900 more than are left today; they take 999 days more, from 00:00 UTC"
    );
    let rows = [(DAILY, Some((1_000, 0)), None), (MONTHLY, Some((10_000, 0)), None)];
    let forecast = plan(&[report(100_000)]).forecast(&balances(&rows), now());
    assert!(forecast.words.ends_with("they take 9 months more, from 1 December 00:00 UTC"), "{}", forecast.words);
    let rows = [(DAILY, Some((1, 0)), None)];
    assert!(words(&[report(10_000)], &rows).ends_with("they take more than 10 years"));
}

/// The day on which the last unit fits, spending a day at a time.
fn simulated(daily: (u64, u64), monthly: (u64, u64), mut needed: u64) -> jiff::civil::Date {
    let mut day = now().to_zoned(jiff::tz::TimeZone::UTC).date();
    let (mut today, mut this_month) = (daily.0 - daily.1, monthly.0 - monthly.1);
    loop {
        let spent = needed.min(today).min(this_month);
        needed -= spent;
        if needed == 0 {
            return day;
        }
        let next = day.tomorrow().unwrap();
        this_month = if next.month() == day.month() { this_month - spent } else { monthly.0 };
        (day, today) = (next, daily.0);
    }
}

proptest! {
    #[test]
    fn forecast_waits_as_long_as_a_simulation(
        (daily, daily_used) in (50..500_u64).prop_flat_map(|allowed| (Just(allowed), 0..=allowed)),
        (monthly, monthly_used) in (500..9_000_u64).prop_flat_map(|allowed| (Just(allowed), 0..=allowed)),
        needed in 1..20_000_u64,
    ) {
        let rows = [(DAILY, Some((daily, daily_used)), None), (MONTHLY, Some((monthly, monthly_used)), None)];
        let forecast = plan(&[report(needed)]).forecast(&balances(&rows), now());
        let ready = forecast.ready_at(Unit::Request, needed, now()).unwrap();
        let day = ready.to_zoned(jiff::tz::TimeZone::UTC).date();
        prop_assert_eq!(day, simulated((daily, daily_used), (monthly, monthly_used), needed));
    }
}
