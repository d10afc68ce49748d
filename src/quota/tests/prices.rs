//! Prices in words, as JSON, and settled.

use super::*;

#[test]
fn a_price_is_explained_in_sentences() {
    let price = enterprise(Kind::V3Search, 3, no(), yes());
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
        match price.settle(outcome).units.max {
            Some(n) => {
                prop_assert!(n >= price.verdict.units.min);
                prop_assert!(price.verdict.units.max.is_none_or(|max| n <= max));
            }
            None => prop_assert_eq!(price.verdict.units.max, None),
        }
    }

    #[test]
    fn a_doubtful_outcome_is_never_below_a_certain_one(
        operation in any_operation(), entitled in any_entitlements(), outcome in any_outcome(),
    ) {
        let price = price(&operation, &entitled);
        let certain = price.settle(outcome).units.max.unwrap_or(u64::MAX);
        let doubtful = price.settle(Outcome::Unknown).units.max.unwrap_or(u64::MAX);
        prop_assert!(certain <= doubtful);
    }
}
