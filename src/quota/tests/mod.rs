//! The rules, the prices and what they settle to, with what these tests share.

use super::*;
use proptest::prelude::*;

mod cells;
mod prices;
mod table;

fn yes() -> Entitlement {
    Entitlement::by_hand(true)
}

fn no() -> Entitlement {
    Entitlement::by_hand(false)
}

/// A user who holds everything and shares a group.
fn entitled() -> Entitlements {
    Entitlements {
        premium_api: yes(),
        premium_intelligence: yes(),
        private_scanning: yes(),
        group: yes(),
        ..Entitlements::default()
    }
}

/// A search or a download for a user with these entitlements, in a number of calls.
fn enterprise(kind: Kind, calls: u64, premium_api: Entitlement, premium_intelligence: Entitlement) -> Price {
    let entitled = Entitlements { premium_api, premium_intelligence, ..entitled() };
    price(&of(kind, Numbers { calls, ..Numbers::default() }), &entitled)
}

fn priced(operation: &Operation) -> Price {
    price(operation, &entitled())
}

/// Asserts what an operation costs, by which rule, from which pool.
#[track_caller]
fn assert_price(price: &Price, rule: &str, pool: Pool, short: &str) {
    let found = (price.rule.number, price.verdict.pool, price.short());
    assert_eq!(found, (rule, pool, short.to_owned()));
    assert!(price.verdict.refusal.is_none());
}

pub(super) fn of(kind: Kind, numbers: Numbers) -> Operation {
    Operation { kind, numbers }
}

fn rule(number: &str) -> &'static PriceRule {
    RULES.iter().find(|rule| rule.number == number).unwrap()
}

/// Every entitlement in every state, a group or none.
fn every_entitlement() -> Vec<Entitlements> {
    let state = |number: usize| [yes(), no(), Entitlement::default()][number % 3];
    let all = (0..81).map(|number| Entitlements {
        premium_api: state(number),
        premium_intelligence: state(number / 3),
        private_scanning: state(number / 9),
        group: state(number / 27),
        ..Entitlements::default()
    });
    all.collect()
}

/// Every kind with every combination of what may be known of it.
fn every_operation() -> Vec<Operation> {
    let facts = [None, Some(true), Some(false)];
    let combinations = Kind::ALL.into_iter().flat_map(|kind| facts.map(|fact| (kind, fact)));
    let numbers = |(kind, known): (Kind, Option<bool>)| {
        facts.map(|after_new_upload| {
            let loads = known.map(|_| 3);
            let submissions = known.map(|_| 10);
            let active = known != Some(false);
            let numbers = Numbers { calls: 3, loads, submissions, known, exists: known, active, ..Numbers::default() };
            of(kind, Numbers { after_new_upload, ..numbers })
        })
    };
    combinations.flat_map(numbers).collect()
}

pub(super) fn any_numbers() -> impl Strategy<Value = Numbers> {
    let count = || prop_oneof![any::<u64>(), 0..9u64];
    let counts = (count(), count(), count(), count(), count(), count());
    let facts = (any::<Option<bool>>(), any::<Option<bool>>(), any::<bool>(), any::<Option<bool>>());
    let returned = (prop::option::of(count()), prop::option::of(count()));
    (counts, facts, returned).prop_map(|(counts, facts, returned)| Numbers {
        calls: counts.0,
        hashes: counts.1,
        rules: counts.2,
        jobs: counts.3,
        graphs: counts.4,
        scans: counts.5,
        known: facts.0,
        exists: facts.1,
        active: facts.2,
        after_new_upload: facts.3,
        submissions: returned.0,
        loads: returned.1,
    })
}

fn any_operation() -> impl Strategy<Value = Operation> {
    (0..Kind::ALL.len(), any_numbers()).prop_map(|(at, numbers)| of(Kind::ALL[at], numbers))
}

fn any_entitlements() -> impl Strategy<Value = Entitlements> {
    prop::sample::select(every_entitlement())
}

fn any_outcome() -> impl Strategy<Value = Outcome> {
    prop_oneof![
        Just(Outcome::Received),
        Just(Outcome::Failed),
        Just(Outcome::Unknown),
        any::<u64>().prop_map(|n| Outcome::Items(Units::exactly(n))),
        any::<bool>().prop_map(Outcome::Existed),
    ]
}
