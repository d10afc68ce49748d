//! The sentences of section 8 that no row of the table in the tests of `behaview cost` shows, each in a test that names it.

use super::*;

// §8.1 General rules

#[test]
fn rule_8_1_1_a_member_of_a_group_consumes_from_both_and_others_alone() {
    let alone = Entitlements { group: no(), ..entitled() };
    let both = [Holder::User, Holder::Group];
    for (kind, entitled, charged) in [
        (Kind::V3File, entitled(), &both[..]),
        (Kind::V3File, alone, &both[..1]),
        // A group that is not known is counted for.
        (Kind::V3File, Entitlements::default(), &both),
        (Kind::V3Quotas, entitled(), &[]),
    ] {
        assert_eq!(price(&Operation::once(kind), &entitled).charged, charged, "{kind:?}");
    }
}

#[test]
fn rule_8_1_2_private_reads_take_a_request_by_assumption() {
    let reads = Kind::ALL.iter().filter(|kind| kind.is_private());
    for kind in reads.filter(|kind| **kind != Kind::PrivateScan) {
        let price = priced(&Operation::once(*kind));
        assert_price(&price, "8.1.2", Pool::Api, "1 request");
        assert_eq!(price.basis, Basis::Assumed);
        let why = price.explanation().join(" ");
        assert!(why.contains("silent on private endpoints"), "{why}");
    }
}

#[test]
fn rule_8_1_2_private_reads_without_a_licence_are_refused() {
    let unlicensed = Entitlements { private_scanning: no(), ..entitled() };
    for kind in Kind::ALL.iter().filter(|kind| kind.is_private()) {
        let price = price(&Operation::once(*kind), &unlicensed);
        assert_eq!(price.short(), "refused: no private scanning licence");
        assert!(price.verdict.refusal.is_some() && price.is_free() && price.charged.is_empty());
    }
}

#[test]
fn rule_8_1_2_an_unknown_licence_is_no_refusal_and_is_named() {
    let price = price(&Operation::once(Kind::PrivateBehaviour), &Entitlements::default());
    assert_price(&price, "8.1.2", Pool::Api, "1 request");
    assert!(price.explanation().join(" ").contains("licence is not known"));
}

#[test]
fn rule_8_1_3_api_quota_is_limited_by_minute_day_and_month() {
    let periods = Unit::Request.periods();
    for period in [Period::Minute, Period::Daily, Period::Monthly] {
        assert!(periods.contains(&period), "{period:?}");
    }
}

#[test]
fn rule_8_1_3_intelligence_hunting_and_graph_quota_are_limited_by_month() {
    for unit in [Unit::Search, Unit::Download, Unit::Rule, Unit::Job, Unit::Graph] {
        assert_eq!(unit.periods(), [Period::Monthly], "{unit:?}");
    }
}

// §8.2 API v2 consumption

#[test]
fn rule_8_2_2_unknown_submissions_take_a_request_each() {
    let price = priced(&Operation::once(Kind::V2FileSubmissions));
    assert_price(&price, "8.2.2", Pool::Api, "1 request per submission");
    assert_eq!(price.settle(Outcome::Items(Units::exactly(10))).units, Units::exactly(10));
    assert_eq!(price.settle(Outcome::Items(Units::exactly(0))).units, Units::exactly(0));
    assert_eq!(price.settle(Outcome::Unknown).units, Units { min: 0, max: None });
}

#[test]
fn rule_8_2_3_the_upload_of_perhaps_a_new_file_is_nothing_or_one() {
    let price = priced(&of(Kind::V2FileScan, Numbers { known: None, ..Numbers::default() }));
    assert_price(&price, "8.2.3", Pool::Api, "0 or 1 request");
    assert_eq!(price.settle(Outcome::Existed(false)).units, Units::exactly(0));
    assert_eq!(price.settle(Outcome::Existed(true)).units, Units::exactly(1));
}

// §8.3 API v3 consumption

#[test]
fn rule_8_3_1_searches_without_premium_api_take_intelligence_quota() {
    let price = price(&of(Kind::V3Search, Numbers { calls: 1, ..Numbers::default() }), &searcher(no(), yes()));
    assert_price(&price, "8.3.1", Pool::Intelligence, "1 search");
    assert_eq!(price.agreeing, ["8.4.2", "8.4.3"]);
    assert_eq!(price.basis, Basis::Documented);
}

#[test]
fn rule_8_3_2_searches_with_premium_api_take_api_quota() {
    for intelligence in [yes(), no(), Entitlement::Unknown] {
        let price =
            price(&of(Kind::V3Search, Numbers { calls: 2, ..Numbers::default() }), &searcher(yes(), intelligence));
        assert_price(&price, "8.3.2", Pool::Api, "2 requests");
        assert_eq!(price.agreeing, ["8.4.3"]);
        assert_eq!(price.basis, Basis::Documented);
    }
}

#[test]
fn rule_8_3_5_an_analysis_not_yet_seen_is_nothing_or_one() {
    let price = priced(&of(Kind::V3Analysis, Numbers { exists: None, ..Numbers::default() }));
    assert_price(&price, "8.3.5", Pool::Api, "0 or 1 request");
    assert_eq!(price.settle(Outcome::Existed(false)).units, Units::exactly(0));
    assert_eq!(price.settle(Outcome::Existed(true)).units, Units::exactly(1));
    let why = price.explanation().join(" ");
    assert!(why.contains("Nothing if the identifier is invalid"), "{why}");
}

// §8.4 Intelligence consumption

#[test]
fn rule_8_4_2_each_step_of_a_cursor_takes_one_search() {
    let four_pages = of(Kind::V3Search, Numbers { calls: 4, ..Numbers::default() });
    let entitled = searcher(no(), yes());
    let price = price(&four_pages, &entitled);
    assert_eq!((price.verdict.pool, price.short().as_str()), (Pool::Intelligence, "4 searches"));
    assert_eq!(
        rule("8.4.2").verdict(&four_pages, &entitled).map(|takes| (takes.unit, takes.units)),
        Some((Unit::Search, Units::exactly(4)))
    );
}

#[test]
fn rule_8_4_3_enterprise_endpoints_take_premium_api_where_it_is_bought() {
    let download = |premium_api| {
        price(&of(Kind::V3Download, Numbers { calls: 2, ..Numbers::default() }), &searcher(premium_api, yes()))
    };
    assert_price(&download(yes()), "8.4.3", Pool::Api, "2 requests");
    assert_price(&download(no()), "8.4.3", Pool::Intelligence, "2 downloads");
}

#[test]
fn rule_8_4_3_enterprise_endpoints_are_refused_to_who_has_neither() {
    for kind in [Kind::V3Search, Kind::V3Download] {
        let price = price(&Operation::once(kind), &searcher(no(), no()));
        assert_eq!(price.rule.number, "8.4.3");
        assert_eq!(price.short(), "refused: neither premium API nor premium intelligence");
        assert_eq!((price.verdict.pool, price.is_free()), (Pool::None, true));
    }
}

#[test]
fn rule_8_4_3_what_is_not_known_of_the_user_is_assumed_and_said() {
    let unknown = Entitlement::Unknown;
    for (api, intelligence, pool) in [
        (unknown, yes(), Pool::Intelligence),
        (unknown, no(), Pool::Api),
        (no(), unknown, Pool::Intelligence),
        (unknown, unknown, Pool::Intelligence),
    ] {
        let price =
            price(&of(Kind::V3Search, Numbers { calls: 3, ..Numbers::default() }), &searcher(api, intelligence));
        assert_eq!((price.verdict.pool, price.verdict.units), (pool, Units::exactly(3)));
        assert_eq!((price.basis, price.notes.len()), (Basis::Assumed, 1));
        assert!(price.notes[0].contains("known"));
    }
}

#[test]
fn rule_8_4_3_an_inferred_entitlement_makes_an_assumed_price() {
    let inferred = Entitlement::known(true, EntitlementSource::Inferred);
    for entitled in [searcher(inferred, yes()), searcher(no(), inferred)] {
        let price = price(&of(Kind::V3Search, Numbers { calls: 1, ..Numbers::default() }), &entitled);
        assert_eq!(price.basis, Basis::Assumed);
        assert!(price.notes[0].contains("inferred"));
    }
}

// §8.5 Hunting consumption

#[test]
fn rule_8_5_2_jobs_that_fail_or_match_nothing_take_one_all_the_same() {
    // The job fails, not the call that creates it: that one is answered.
    let price = priced(&of(Kind::Retrohunt, Numbers { jobs: 1, ..Numbers::default() }));
    for outcome in [Outcome::Items(Units::exactly(0)), Outcome::Answered, Outcome::Existed(false)] {
        assert_eq!(price.settle(outcome).units, Units::exactly(1));
    }
    assert_eq!(price.settle(Outcome::Failed).units.max, Some(1));
}

// §8.6 Graph consumption

#[test]
fn rule_8_6_1_a_private_graph_takes_one_graph_and_nothing_else() {
    let of = |graphs| of(Kind::GraphPrivate, Numbers { graphs, ..Numbers::default() });
    let plan = Plan::of([of(1), of(2)], &entitled());
    assert_price(&plan.prices[0], "8.6.1", Pool::Graph, "1 graph");
    assert_eq!(plan.totals(), [UnitTotal { unit: Unit::Graph, units: Units::exactly(3) }]);
}

#[test]
fn rule_8_6_2_a_public_graph_of_unknown_size_takes_a_request_a_call() {
    let price = priced(&Operation::once(Kind::GraphPublic));
    assert_price(&price, "8.6.2", Pool::Api, "1 request per call");
    assert_eq!(price.settle(Outcome::Items(Units::exactly(5))).units, Units::exactly(5));
}

// Beyond the specification

#[test]
fn rules_8_5_hunting_calls_have_a_remark_on_requests() {
    for kind in [Kind::LivehuntRules, Kind::Retrohunt] {
        let price = priced(&Operation::once(kind));
        assert!(price.notes.iter().any(|note| note.contains("takes a request as well")), "{kind:?}");
        assert_eq!(price.basis, Basis::Documented);
    }
}
