//! Beyond a budget nothing is sent.

use crate::faults::arm;
use behaview::quota::{Budget, BudgetPeriod, Period};

use super::counted::{jump, pass, run};
use super::*;

fn limit(session: Option<u64>, daily: Option<u64>) -> Budget {
    Budget { session, daily }
}

fn span(result: Result<StoredResponse, GatewayError>) -> Option<BudgetPeriod> {
    match result {
        Err(GatewayError::OverBudget(over)) => Some(over.span),
        Ok(_) => None,
        Err(other) => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn unsure_charges_count_and_open_prices_never_fit() {
    let harness = GatewayHarness::begin().await;
    let gateway = run("rich", &harness.store(), &harness.demo).with_budget(limit(Some(1_000), None));
    let result = harness::fetch(&gateway, &Request::V2Submissions { files: vec![super::by_hash::hash(0)] }).await;
    assert_eq!((span(result), harness.calls()), (Some(BudgetPeriod::Session), 0));
    let gateway = run("frugal", &harness.store(), &harness.demo).with_budget(limit(Some(1), None));
    arm(&harness.demo, "reset*1");
    assert!(harness::fetch(&gateway, &first_report()).await.is_err());
    let error = harness::fetch(&gateway, &first_report()).await.unwrap_err();
    let wanted =
        "nothing was sent: over the budget: it may cost 1 request, and 0 of the 1 that this run may spend is left";
    assert_eq!((error.to_string().as_str(), harness.charged()), (wanted, 0));
}

#[tokio::test]
async fn a_day_is_shared_by_all_runs_and_ends_at_midnight() {
    let harness = GatewayHarness::begin().await;
    let runs = ["one", "two"].map(|name| run(name, &harness.store(), &harness.demo).with_budget(limit(None, Some(3))));
    for (n, over) in [(0, None), (1, None), (0, None), (1, Some(BudgetPeriod::Day)), (0, Some(BudgetPeriod::Day))] {
        assert_eq!(span(harness::fetch(&runs[n], &first_report()).await), over);
    }
    pass(&harness.demo, 24 * 60);
    assert_eq!(span(harness::fetch(&runs[1], &first_report()).await), None);
}

#[tokio::test]
async fn two_names_of_one_service_and_key_share_a_day() {
    let harness = GatewayHarness::begin().await;
    let named = |name: &str, key: &str| {
        let profile = Profile { name: name.to_owned(), ..GatewayHarness::profile(&harness.demo) };
        gateway(&harness.store(), profile, key).with_budget(limit(None, Some(2)))
    };
    let (one, twin, stranger) =
        (named("one", harness.demo.key()), named("twin", harness.demo.key()), named("other", &"f".repeat(64)));
    for (asks, over) in [(&one, None), (&twin, None), (&one, Some(BudgetPeriod::Day)), (&twin, Some(BudgetPeriod::Day))]
    {
        assert_eq!(span(harness::fetch(asks, &first_report()).await), over);
    }
    let spent = [&one, &twin, &stranger].map(|gateway| gateway.spent_in(Period::Daily).unwrap().total());
    assert_eq!(spent, [2, 2, 0]);
    // Another key is another account.
    let sent = harness::fetch(&stranger, &first_report()).await;
    assert!(matches!(sent, Err(GatewayError::Service { .. })), "{sent:?}");
    // Where no key is read, that of what the name asked last tells.
    let store = &harness.gateway.store;
    let unread = |profile| {
        let payer = behaview::store::Payer { profile, service: &harness.gateway.service, key_digest: None };
        store.spent_in(payer, Period::Daily, harness.gateway.now()).unwrap().into_values().sum::<SpentUnits>().total()
    };
    assert_eq!([unread("twin"), unread("new")], [2, 0]);
}

#[tokio::test]
async fn a_wrong_clock_opens_no_second_day() {
    let harness = GatewayHarness::begin().await;
    let run = |name| run(name, &harness.store(), &harness.demo).with_budget(limit(None, Some(1)));
    let first = run("one");
    assert_eq!(span(harness::fetch(&first, &first_report()).await), None);
    jump(24 * 60);
    for gateway in [&first, &run("two")] {
        assert_eq!(span(harness::fetch(gateway, &first_report()).await), Some(BudgetPeriod::Day));
    }
    // Without any date of the service the day is not known.
    crate::faults::arm(&harness.demo, "quotas:lost*1");
    assert!(matches!(harness::fetch(&run("blind"), &first_report()).await, Err(GatewayError::DayUnknown(_))));
    let folder = tempfile::tempdir().unwrap();
    let dateless = super::secrets::gate_to("{}".to_owned(), folder.path(), "a-key").with_budget(limit(None, Some(1)));
    assert!(matches!(harness::fetch(&dateless, &first_report()).await, Err(GatewayError::DayUnknown(_))));
    // The service's own day ends.
    harness.demo.advance(std::time::Duration::from_secs(24 * 3_600));
    assert_eq!(span(harness::fetch(&run("three"), &first_report()).await), None);
    assert_eq!(harness.charged(), 2);
}

#[tokio::test]
async fn two_programs_at_once_do_not_spend_the_same_rest() {
    let harness = GatewayHarness::begin().await;
    let runs = ["one", "two"].map(|name| run(name, &harness.store(), &harness.demo).with_budget(limit(None, Some(1))));
    let (report, page) = (first_report(), list(&dropper()));
    let (one, two) = tokio::join!(harness::fetch(&runs[0], &report), harness::fetch(&runs[1], &page));
    assert_eq!([one, two].into_iter().filter(Result::is_ok).count(), 1);
    assert_eq!(harness.charged(), 1);
}
