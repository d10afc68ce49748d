//! Without the licence for private scans the service says no, and who knows of it does not ask.

use behaview::quota::{Allowed, Balances, Entitlement, Entitlements};

use super::*;

async fn without_licence() -> Visit {
    Visit::with(Options { licence: false, ..Options::default() }).await
}

#[tokio::test]
async fn without_a_licence_the_service_forbids() {
    let visit = without_licence().await;
    for request in [first_report(), list(&dropper())] {
        let result = visit.ask(&request).await;
        assert_eq!(refusal(result), Reason::Forbidden);
        assert_eq!(visit.held(&request), None);
    }
    // Nobody documents that a refusal is free.
    assert_eq!((visit.charged(), visit.gateway.spent().unwrap()), (0, Spent { unsure: 2, ..Spent::default() }));
}

#[tokio::test]
async fn the_counters_are_read_before_the_first_private_call() {
    for (licence, calls) in [(false, [1, 1]), (true, [2, 3])] {
        let visit = Visit::with(Options { licence, ..Options::default() }).await;
        for calls in calls {
            let quote = first_report().quote(&Entitlements::default());
            let result = visit.gateway.ask(&quote, &|_| {}).await;
            assert_eq!(matches!(result, Err(GatewayError::NotEntitled(_))), !licence, "{result:?}");
            assert_eq!(visit.calls(), calls);
        }
        assert_eq!(visit.count("SELECT COUNT(*) FROM ledger"), if licence { 2 } else { 0 });
    }
}

#[tokio::test]
async fn privileges_are_kept_with_their_date() {
    let visit = Visit::begin().await;
    assert_eq!(visit.gateway.store().privileges(visit.gateway.whose()).unwrap(), Entitlements::default());
    let received = visit.ask(&Request::User).await.unwrap().received;
    let next = gateway(&visit.store(), Visit::profile(&visit.demo), visit.demo.key());
    for owner in [next.whose().owner, None] {
        let whose = behaview::store::Whose { owner, ..next.whose() };
        let known = next.store().privileges(whose).unwrap();
        assert_eq!((known.premium_api.held(), known.premium_intelligence.held()), (Some(true), Some(true)));
        assert_eq!(known.user_read.unwrap().as_millisecond(), received.as_millisecond());
    }
    let stranger = behaview::store::Whose { owner: Some(1), ..next.whose() };
    assert_eq!(next.store().privileges(stranger).unwrap(), Entitlements::default());
}

#[tokio::test]
async fn a_call_that_the_user_is_not_entitled_to_is_not_sent() {
    let visit = without_licence().await;
    let quotas = bytes(&visit.ask(&Request::Quotas).await.unwrap());
    let told = Entitlements::from_balances(&Balances::parse(&quotas).unwrap());
    let by_hand = Entitlements { private_scanning: Entitlement::by_hand(false), ..Entitlements::default() };
    for entitlements in [told, by_hand] {
        for request in [first_report(), list(&dropper())] {
            let quote = request.clone().quote(&entitlements);
            assert!(matches!(quote.price().allowed, Allowed::Refused(_)));
            let result = visit.gateway.ask(&quote, &|_| panic!("something came")).await;
            assert!(matches!(result, Err(GatewayError::NotEntitled(_))), "{result:?}");
        }
    }
    assert_eq!((visit.calls(), visit.gateway.spent().unwrap()), (1, Spent::default()));
    assert_eq!(visit.count("SELECT COUNT(*) FROM ledger"), 0);
}
