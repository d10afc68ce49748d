//! The table of rules as a whole: complete, and of one mind.

use super::*;

#[test]
fn rules_are_numbered_as_in_section_8() {
    let numbers: Vec<_> = RULES.iter().map(|rule| rule.number).collect();
    let expected = "8.1.1 8.1.2 8.1.3 8.2.1 8.2.2 8.2.3 8.2.4 8.3.1 8.3.2 8.3.3 8.3.4 8.3.5 8.3.6 \
        8.3.7 8.4.1 8.4.2 8.4.3 8.5.1 8.5.2 8.6.1 8.6.2 A.1";
    assert_eq!(numbers.join(" "), expected);
}

#[test]
fn every_operation_is_priced_by_its_own_rule() {
    for operation in every_operation() {
        for entitled in every_entitlement() {
            let rule = price(&operation, &entitled).rule;
            assert!(rule.operations.contains(&operation.kind), "{operation:?} by {rule:?}");
        }
    }
}

#[test]
fn every_rule_applies_to_its_operations_only() {
    for rule in RULES.iter().filter(|rule| rule.operations != Kind::ALL) {
        let speaks = |operation: &Operation| {
            every_entitlement().iter().any(|entitled| {
                let price = price(operation, entitled);
                price.rule == rule || price.agreeing.contains(&rule.number)
            })
        };
        let mut kinds: Vec<_> =
            every_operation().iter().filter(|operation| speaks(operation)).map(|operation| operation.kind).collect();
        kinds.dedup();
        let mut listed = rule.operations.to_vec();
        listed.sort();
        assert_eq!(kinds, listed, "{rule:?}");
    }
}

#[test]
fn rules_for_the_same_case_agree() {
    for operation in every_operation() {
        for entitled in every_entitlement() {
            let price = price(&operation, &entitled);
            for number in &price.agreeing {
                let verdict = rule(number).verdict(&operation, &entitled);
                assert_eq!(verdict, price.rule.verdict(&operation, &entitled), "{operation:?} {number}");
            }
        }
    }
}

#[test]
fn price_draws_from_the_pool_of_its_unit() {
    for operation in every_operation() {
        let price = priced(&operation);
        assert!([price.verdict.unit.pool(), Pool::None].contains(&price.verdict.pool), "{operation:?}");
        assert_eq!(price.verdict.pool == Pool::None, price.charged.is_empty(), "{operation:?}");
    }
}

#[test]
fn undocumented_prices_are_assumed() {
    for operation in every_operation() {
        let documented = priced(&operation).basis == Basis::Documented;
        let kind = operation.kind;
        // Private scans are priced by the service's consumption page, beside the specification.
        let is_silent = kind.is_private() && kind != Kind::PrivateScan;
        let is_priced =
            !is_silent && !matches!(kind, Kind::V3User | Kind::V3GroupUsage | Kind::V3GroupUsers | Kind::V3Download);
        assert_eq!(documented, is_priced, "{operation:?}");
    }
}
