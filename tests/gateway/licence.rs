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
