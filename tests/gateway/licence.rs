//! Without the licence for private scans the service says no, and who knows of it does not ask.

use behaview::quota::Entitlements;

use super::*;

#[tokio::test]
async fn quota_is_read_before_the_first_private_call() {
    for (licence, calls) in [(false, [1, 1]), (true, [2, 3])] {
        let harness = GatewayHarness::with(Options { licence, ..Options::default() }).await;
        for calls in calls {
            let quote = first_report().quote(&Entitlements::default());
            let result = harness.gateway.fetch(&quote, &|_| {}).await;
            assert_eq!(matches!(result, Err(GatewayError::NotEntitled(_))), !licence, "{result:?}");
            assert_eq!(harness.calls(), calls);
        }
        assert_eq!(harness.count("SELECT COUNT(*) FROM ledger"), if licence { 2 } else { 0 });
    }
}

#[tokio::test]
async fn privileges_are_stored_with_their_date() {
    let harness = GatewayHarness::begin().await;
    assert_eq!(harness.gateway.store.privileges(harness.gateway.payer()).unwrap(), Entitlements::default());
    let received = harness.fetch(&Request::User).await.unwrap().received;
    let next = gateway(&harness.store(), GatewayHarness::profile(&harness.demo), harness.demo.key());
    for owner in [next.payer().key_digest, None] {
        let payer = behaview::store::Payer { key_digest: owner, ..next.payer() };
        let known = next.store.privileges(payer).unwrap();
        assert_eq!((known.premium_api.is_granted(), known.premium_intelligence.is_granted()), (Some(true), Some(true)));
        assert_eq!(known.user_read.unwrap().as_millisecond(), received.as_millisecond());
    }
    let stranger = behaview::store::Payer { key_digest: Some(1), ..next.payer() };
    assert_eq!(next.store.privileges(stranger).unwrap(), Entitlements::default());
}
