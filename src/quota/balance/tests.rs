//! Answers to the quota details call: documented, real and odd shapes.

use super::*;
use jiff::civil::date;
use serde_json::json;

/// Shaped like the service's documented example: a user without limits in a limited group.
fn documented() -> Balances {
    Balances::read(&json!({"data": {
        "api_requests_hourly": {
            "group": {"allowed": 2_000_000, "inherited_from": "acme", "used": 500},
            "user": {"allowed": 60_000_000_000u64, "used": 0}},
        "api_requests_daily": {
            "group": {"allowed": 9_000_000, "inherited_from": "acme", "used": 40_000},
            "user": {"allowed": 1_000_000_000, "used": 17}},
        "api_requests_monthly": {
            "group": {"allowed": 100_000_000, "inherited_from": "acme", "used": 90_000},
            "user": {"allowed": 1_000_000_000, "used": 137}},
    }}))
}

#[test]
fn both_sides_and_the_inherited_group_are_read() {
    let balances = documented();
    let daily = balances.counter(Unit::Request, Period::Daily).unwrap();
    let group = daily.side(Holder::Group).unwrap();
    assert_eq!((group.remaining(), group.inherited_from.as_deref()), (8_960_000, Some("acme")));
    assert_eq!(daily.user.as_ref().unwrap().remaining(), 999_999_983);
    assert!(balances.unparsed.is_empty());
    assert!(balances.has(Holder::Group));
}

#[test]
fn the_scarcest_limit_is_found_for_each_holder() {
    let balances = documented();
    let user = balances.scarcest(Unit::Request, Holder::User).unwrap();
    assert_eq!((user.period, user.remaining), (Period::Monthly, 999_999_863));
    let group = balances.scarcest(Unit::Request, Holder::Group).unwrap();
    assert_eq!((group.period, group.remaining), (Period::Hourly, 1_999_500));
    assert_eq!(balances.scarcest(Unit::Job, Holder::User), None);
}

#[test]
fn the_scarcest_limit_runs_out_first() {
    let side = |(allowed, left): (u64, u64)| json!({"user": {"allowed": allowed, "used": allowed - left}});
    let scarcest = |minute, hour, day, month| {
        let balances = Balances::read(&json!({"data": {
            "api_requests_per_minute": side(minute), "api_requests_hourly": side(hour),
            "api_requests_daily": side(day), "api_requests_monthly": side(month)}}));
        balances.scarcest(Unit::Request, Holder::User).unwrap().period
    };
    assert_eq!(scarcest((4, 1), (240, 200), (500, 480), (9_000, 10)), Period::Monthly);
    assert_eq!(scarcest((4, 3), (240, 5), (500, 480), (9_000, 6)), Period::Monthly);
    assert_eq!(scarcest((60, 60), (240, 239), (500, 499), (9_000, 8_000)), Period::Hourly);
    assert_eq!(scarcest((60, 60), (240, 240), (500, 0), (9_000, 8_000)), Period::Daily);
    assert_eq!(scarcest((4, 0), (240, 200), (500, 480), (9_000, 10)), Period::Monthly);
    assert_eq!(scarcest((4, 0), (240, 0), (500, 480), (9_000, 0)), Period::Monthly);
}

#[test]
fn a_user_of_nothing_lives_on_the_group() {
    let balances = Balances::read(&json!({"data": {"intelligence_searches_monthly": {
        "group": {"allowed": 100_000, "inherited_from": "acme", "used": 16_000},
        "user": {"allowed": 0, "used": 12}}}}));
    let searches = balances.limits(Unit::Search);
    assert_eq!(searches.len(), 1);
    assert_eq!((searches[0].holder, searches[0].remaining), (Holder::Group, 84_000));
}

#[test]
fn invalid_counters_are_named_and_the_rest_read() {
    let body = br#"{"data": {
        "api_requests_hourly": {"user": {"allowed": 1e30, "used": 0}, "group": {"allowed": 9, "used": 1}},
        "api_requests_daily": {"user": {"allowed": "500", "used": 1}},
        "api_requests_monthly": {"user": {"allowed": 18446744073709551616, "used": 0}},
        "intelligence_searches_monthly": {"user": {"allowed": 5.5, "used": 0}},
        "intelligence_downloads_monthly": {"user": {"allowed": -1, "used": 0}},
        "intelligence_hunting_rules": {"user": null, "group": {"allowed": 4}},
        "intelligence_graphs_private": [],
        "private_scans_monthly": {"team": {"allowed": 1, "used": 0}, "user": {"allowed": 2, "used": 1}}
    }}"#;
    let balances = Balances::parse(body).unwrap();
    let names: Vec<_> = balances.unparsed.iter().map(|aside| aside.name.as_str()).collect();
    assert_eq!(
        names,
        [
            "api_requests_daily/user",
            "api_requests_hourly/user",
            "api_requests_monthly/user",
            "intelligence_downloads_monthly/user",
            "intelligence_graphs_private",
            "intelligence_hunting_rules/group",
            "intelligence_hunting_rules/user",
            "intelligence_searches_monthly/user",
            "private_scans_monthly/team",
        ]
    );
    assert_eq!(balances.scarcest(Unit::Request, Holder::Group).unwrap().remaining, 8);
    assert_eq!(balances.scarcest(Unit::Scan, Holder::User).unwrap().remaining, 1);
}

#[test]
fn the_highest_numbers_do_not_overflow() {
    let balances = Balances::read(&json!({"data": {
        "api_requests_daily": {"user": {"allowed": u64::MAX, "used": 0}, "group": {"allowed": 1, "used": u64::MAX}}}}));
    let daily = balances.counter(Unit::Request, Period::Daily).unwrap();
    assert_eq!(daily.user.as_ref().unwrap().remaining(), u64::MAX);
    assert_eq!(daily.group.as_ref().unwrap().percent_used(), Some(u64::MAX));
}

#[test]
fn every_known_counter_lies_in_a_period_of_its_unit() {
    for (name, unit, period) in KNOWN {
        assert!(unit.periods().contains(period), "{name}");
    }
    for unit in Unit::ALL {
        for period in unit.periods() {
            assert!(KNOWN.iter().any(|row| row.1 == unit && row.2 == *period), "{unit:?} {period:?}");
        }
    }
}

#[test]
fn balance_is_full_after_its_reset() {
    let used = json!({"user": {"allowed": 5, "used": 5}});
    let balances = Balances::read(&json!({"data": {
        "api_requests_hourly": used, "api_requests_daily": {"user": {"allowed": 9, "used": 6}}, "unlisted": used}}));
    let at = |text: &str| text.parse().unwrap();
    let read = at("2026-11-20T10:59:50Z");
    let left =
        |now| balances.as_of(at(now), read).limits(Unit::Request).iter().map(|l| l.remaining).collect::<Vec<_>>();
    assert_eq!(left("2026-11-20T10:59:59Z"), [0, 3]);
    assert_eq!(left("2026-11-20T11:00:00Z"), [5, 3]);
    assert_eq!(left("2026-11-21T11:00:00Z"), [5, 9]);
    assert_eq!(balances.as_of(at("2026-11-21T11:00:00Z"), read).counters.len(), 3);
}

#[test]
fn two_counters_of_one_meaning_both_limit() {
    let balances = Balances::read(&json!({"data": {
        "api_requests_minute": {"user": {"allowed": 600, "used": 0}},
        "api_requests_per_minute": {"user": {"allowed": 4, "used": 1}},
    }}));
    let least = balances.limits(Unit::Request).into_iter().min_by_key(|limit| limit.remaining).unwrap();
    assert_eq!((least.period, least.remaining), (Period::Minute, 3));
}

// Usage

#[test]
fn invalid_usage_is_named_and_the_rest_read() {
    let usage = Usage::read(&json!({"data": {
        "daily": {
            "yesterday": {"files": 1},
            "2026-11-18": 7,
            "2026-11-19": {"files": 3, "urls": "many", "graphs": -1},
        },
        "total": null,
    }}));
    assert_eq!(usage.on(date(2026, 11, 19)), 3);
    let names: Vec<_> = usage.unparsed.iter().map(|aside| aside.name.as_str()).collect();
    assert_eq!(names, ["2026-11-18", "2026-11-19/graphs", "2026-11-19/urls", "yesterday", "total"]);
}

#[test]
fn usage_responses_merge_and_name_mismatches() {
    let half = |day: &str, files: u64, total: u64| {
        let daily = json!({day: {"files": files}});
        Usage::read(&json!({"data": {"daily": daily, "total": {"files": total, "urls": 0}}}))
    };
    let whole = half("2026-11-18", 3, 3).plus(half("2026-11-19", 4, 4));
    assert_eq!((whole.daily.len(), whole.total["files"]), (2, 7));
    assert!(whole.disagreements().is_empty());
    let odd = half("2026-11-18", 3, 3).plus(half("2026-11-19", 4, 5));
    assert_eq!(odd.disagreements(), [("files", 8, 7)]);
}

#[test]
fn sums_saturate() {
    let usage = Usage::read(&json!({"data": {"total": {}, "daily": {
        "2026-11-18": {"a": 2},
        "2026-11-19": {"a": u64::MAX, "b": 1},
    }}}));
    assert_eq!(usage.on(date(2026, 11, 19)), u64::MAX);
    assert_eq!(usage.by_endpoint()["a"], u64::MAX);
}

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
        faster.ends_with("100 to 200 a day, 3,000 to 5,000 by 1 December; runs out on 21 November at the faster pace"),
        "{faster}"
    );
    let both = words(2000, Some((at("2026-11-09T00:00:00Z"), 1500)));
    assert!(
        both.ends_with("200 to 250 a day, 6,000 to 7,000 by 1 December; runs out on 15 November at the faster pace"),
        "{both}"
    );
    assert!(words(3100, None).ends_with("runs out on 11 November at this pace"));
    assert!(words(0, None).ends_with("0 a day, 0 by 1 December"));
    let start = Projection::new(&balances(0), Holder::User, at("2026-11-01T00:00:00Z"));
    assert_eq!((start.unwrap().at_end, Projection::new(&balances(0), Holder::Group, now)), (Units::NOTHING, None));
}
