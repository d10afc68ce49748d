//! Prices in words, as JSON, and settled.

use super::*;
use serde_json::json;

#[test]
fn a_price_is_explained_in_sentences() {
    let price = price(&Operation::V3Search { calls: 3 }, &searcher(no(), yes()));
    assert_eq!(
        price.explanation(),
        [
            "Rule 8.3.1: Searches by a user with intelligence quota and without premium API are taken from intelligence quota.",
            "It takes 3 searches from the intelligence quota of user and group (8.1.1).",
            "The same follows from 8.4.2 and 8.4.3.",
            "This price is documented.",
        ]
    );
}

#[test]
fn the_form_for_machines_of_an_exact_price() {
    let json = serde_json::to_value(priced(&report(600, false))).unwrap();
    assert_eq!(
        json,
        json!({
            "operation": "v2-file-report", "rule": "8.2.1", "pool": "api", "unit": "request",
            "units": 600, "charged": ["user", "group"], "basis": "documented", "allowed": true,
            "why": "Rule 8.2.1: A v2 file report asked with a list of hashes takes one request for each hash. It takes 600 requests from the API quota of user and group (8.1.1). This price is documented.",
        })
    );
}

#[test]
fn the_form_for_machines_of_ranges_and_refusals() {
    let range = serde_json::to_value(priced(&Operation::once(Kind::V3Analysis))).unwrap();
    assert_eq!(range["units"], json!({"min": 0, "max": 1}));
    let open = serde_json::to_value(priced(&Operation::once(Kind::V2FileSubmissions))).unwrap();
    assert_eq!(open["units"], json!({"min": 0, "max": null}));
    let refused = price(&Operation::once(Kind::V3Search), &searcher(no(), no()));
    let refused = serde_json::to_value(refused).unwrap();
    assert_eq!((&refused["allowed"], &refused["units"]), (&json!(false), &json!(0)));
    assert_eq!((&refused["pool"], &refused["charged"]), (&json!("none"), &json!([])));
    assert!(refused["why"].as_str().unwrap().contains("neither premium API"));
}

#[test]
fn ranges_in_words() {
    let range = |min, max| Units::Range { min, max, why: "" }.to_string();
    assert_eq!(range(0, Some(1)), "0 or 1");
    assert_eq!(range(2, Some(5)), "2 to 5");
    assert_eq!(range(2, Some(2)), "2");
    assert_eq!((range(2, None), range(0, None)), ("at least 2".to_owned(), "0 or more".to_owned()));
}

// Settling

#[test]
fn what_was_never_sent_costs_nothing() {
    for operation in every_operation() {
        assert_eq!(priced(&operation).settle(Outcome::Unsent), Settled::Exactly(0));
    }
}

#[test]
fn a_lost_or_failed_call_counts_as_charged() {
    for outcome in [Outcome::Failed, Outcome::Unknown] {
        let settled = priced(&Operation::once(Kind::PrivateBehaviour)).settle(outcome);
        assert_eq!(settled, Settled::AtMost(1));
        let free = priced(&Operation::once(Kind::V3Quotas)).settle(outcome);
        assert_eq!(free, Settled::Exactly(0));
    }
}

#[test]
fn a_range_without_a_deciding_answer_settles_to_its_upper_end() {
    let settled = priced(&Operation::once(Kind::V3Analysis)).settle(Outcome::Answered);
    assert_eq!((settled, settled.careful()), (Settled::AtMost(1), Some(1)));
}

proptest! {
    #[test]
    fn a_price_can_always_be_named_and_explained(operation in any_operation(), entitled in any_entitlements()) {
        let price = price(&operation, &entitled);
        prop_assert!(!price.short().is_empty());
        prop_assert!(price.explanation().len() >= 3);
        prop_assert!(serde_json::to_value(&price).is_ok());
    }

    #[test]
    fn a_price_settles_within_its_range(
        operation in any_operation(), entitled in any_entitlements(), outcome in any_outcome(),
    ) {
        let price = price(&operation, &entitled);
        match price.settle(outcome).careful() {
            Some(n) => {
                prop_assert!(n >= price.units.min());
                prop_assert!(price.units.max().is_none_or(|max| n <= max));
            }
            None => prop_assert_eq!(price.units.max(), None),
        }
    }

    #[test]
    fn a_doubtful_outcome_is_never_below_a_certain_one(
        operation in any_operation(), entitled in any_entitlements(), outcome in any_outcome(),
    ) {
        let price = price(&operation, &entitled);
        let certain = price.settle(outcome).careful().unwrap_or(u64::MAX);
        let doubtful = price.settle(Outcome::Unknown).careful().unwrap_or(u64::MAX);
        prop_assert!(certain <= doubtful);
    }
}
