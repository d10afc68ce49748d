//! Sentences of section 8 that the tests of `behaview cost` do not show, each in its own test.

use super::*;

// §8.1 General rules

#[test]
fn rule_8_1_1_group_members_consume_from_both() {
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
fn rule_8_1_2_private_reads_assume_one_request() {
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
fn rule_8_1_2_unlicensed_private_reads_are_refused() {
    let unlicensed = Entitlements { private_scanning: no(), ..entitled() };
    for kind in Kind::ALL.iter().filter(|kind| kind.is_private()) {
        let price = price(&Operation::once(*kind), &unlicensed);
        assert_eq!(price.short(), "refused: no private scanning licence");
        assert!(price.verdict.refusal.is_some() && price.is_free() && price.charged.is_empty());
    }
}

#[test]
fn rule_8_1_2_unknown_licence_is_named_not_refused() {
    let price = price(&Operation::once(Kind::PrivateBehaviour), &Entitlements::default());
    assert_price(&price, "8.1.2", Pool::Api, "1 request");
    assert!(price.explanation().join(" ").contains("licence is not known"));
}

#[test]
fn rule_8_1_3_only_api_quota_has_short_periods() {
    let periods = Unit::Request.periods();
    assert!([Period::Minute, Period::Daily, Period::Monthly].iter().all(|period| periods.contains(period)));
    for unit in [Unit::Search, Unit::Download, Unit::Rule, Unit::Job, Unit::Graph] {
        assert_eq!(unit.periods(), [Period::Monthly], "{unit:?}");
    }
}

// §8.2 API v2 consumption

/// What becomes of a price once the outcome is known.
#[track_caller]
fn assert_settles<const N: usize>(price: &Price, outcomes: [(Outcome, u64); N]) {
    for (outcome, units) in outcomes {
        assert_eq!(price.settle(outcome).units, Units::exactly(units), "{outcome:?}");
    }
}

#[test]
fn rule_8_2_2_unknown_submissions_take_a_request_each() {
    let price = priced(&Operation::once(Kind::V2FileSubmissions));
    assert_price(&price, "8.2.2", Pool::Api, "1 request per submission");
    assert_settles(&price, [10, 0].map(|count| (Outcome::Items(Units::exactly(count)), count)));
    assert_eq!(price.settle(Outcome::Unknown).units, Units { min: 0, max: None });
}

#[test]
fn rules_8_2_3_and_8_3_5_unknown_is_0_or_1_request() {
    let upload = priced(&of(Kind::V2FileScan, Numbers { known: None, ..Numbers::default() }));
    let analysis = priced(&of(Kind::V3Analysis, Numbers { exists: None, ..Numbers::default() }));
    for (price, rule) in [(&upload, "8.2.3"), (&analysis, "8.3.5")] {
        assert_price(price, rule, Pool::Api, "0 or 1 request");
        assert_settles(price, [(Outcome::Existed(false), 0), (Outcome::Existed(true), 1)]);
    }
    let why = analysis.explanation().join(" ");
    assert!(why.contains("Nothing if the identifier is invalid"), "{why}");
}

// §8.3 API v3 consumption

#[test]
fn rules_8_3_1_and_8_3_2_searches_prefer_premium_api() {
    let price = enterprise(Kind::V3Search, 1, no(), yes());
    assert_price(&price, "8.3.1", Pool::Intelligence, "1 search");
    assert_eq!((price.agreeing, price.basis), (vec!["8.4.2", "8.4.3"], Basis::Documented));
    for intelligence in [yes(), no(), Entitlement::default()] {
        let price = enterprise(Kind::V3Search, 2, yes(), intelligence);
        assert_price(&price, "8.3.2", Pool::Api, "2 requests");
        assert_eq!((price.agreeing, price.basis), (vec!["8.4.3"], Basis::Documented));
    }
}

// §8.4 Intelligence consumption

#[test]
fn rule_8_4_2_each_step_of_a_cursor_takes_one_search() {
    let four_pages = of(Kind::V3Search, Numbers { calls: 4, ..Numbers::default() });
    let entitled = Entitlements { premium_api: no(), ..entitled() };
    let price = price(&four_pages, &entitled);
    assert_eq!((price.verdict.pool, price.short().as_str()), (Pool::Intelligence, "4 searches"));
    let takes = rule("8.4.2").verdict(&four_pages, &entitled).map(|takes| (takes.unit, takes.units));
    assert_eq!(takes, Some((Unit::Search, Units::exactly(4))));
}

#[test]
fn rule_8_4_3_enterprise_prefers_api_or_is_refused() {
    assert_price(&enterprise(Kind::V3Download, 2, yes(), yes()), "8.4.3", Pool::Api, "2 requests");
    assert_price(&enterprise(Kind::V3Download, 2, no(), yes()), "8.4.3", Pool::Intelligence, "2 downloads");
    for kind in [Kind::V3Search, Kind::V3Download] {
        let price = enterprise(kind, 1, no(), no());
        assert_eq!(price.short(), "refused: neither premium API nor premium intelligence");
        assert_eq!((price.rule.number, price.verdict.pool, price.is_free()), ("8.4.3", Pool::None, true));
    }
}

#[test]
fn rule_8_4_3_unknown_entitlement_is_assumed() {
    let unknown = Entitlement::default();
    let inferred = Entitlement::read(Some(true), EntitlementSource::Inferred);
    for (api, intelligence, pool, why) in [
        (unknown, yes(), Pool::Intelligence, "known"),
        (unknown, no(), Pool::Api, "known"),
        (no(), unknown, Pool::Intelligence, "known"),
        (unknown, unknown, Pool::Intelligence, "known"),
        (inferred, yes(), Pool::Api, "inferred"),
        (no(), inferred, Pool::Intelligence, "inferred"),
    ] {
        let price = enterprise(Kind::V3Search, 3, api, intelligence);
        assert_eq!((price.verdict.pool, price.verdict.units), (pool, Units::exactly(3)));
        assert_eq!((price.basis, price.notes.len()), (Basis::Assumed, 1));
        assert!(price.notes[0].contains(why), "{:?}", price.notes);
    }
}

// §8.5 Hunting consumption

#[test]
fn rule_8_5_2_failed_or_empty_jobs_take_one() {
    // The job fails, not the call that creates it: that one is answered.
    let price = priced(&of(Kind::Retrohunt, Numbers { jobs: 1, ..Numbers::default() }));
    assert_settles(&price, [Outcome::Items(Units::exactly(0)), Outcome::Received].map(|outcome| (outcome, 1)));
    assert_settles(&price, [(Outcome::Existed(false), 1)]);
    assert_eq!(price.settle(Outcome::Failed).units.max, Some(1));
}

// §8.6 Graph consumption

#[test]
fn rule_8_6_1_private_graph_takes_one_graph_only() {
    let of = |graphs| of(Kind::GraphPrivate, Numbers { graphs, ..Numbers::default() });
    let plan = Plan::of([of(1), of(2)], &entitled());
    assert_price(&plan.prices[0], "8.6.1", Pool::Graph, "1 graph");
    assert_eq!(plan.totals(), [UnitTotal { unit: Unit::Graph, units: Units::exactly(3) }]);
}

#[test]
fn rule_8_6_2_unknown_graph_is_priced_per_call() {
    let price = priced(&Operation::once(Kind::GraphPublic));
    assert_price(&price, "8.6.2", Pool::Api, "1 request per call");
    assert_settles(&price, [(Outcome::Items(Units::exactly(5)), 5)]);
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
