//! Each call is in the ledger before it is sent, and no response is lost when it cannot be stored.

use crate::faults::arm;

use super::artifacts::unusable;
use super::secrets::gate_to;
use super::*;

/// A trigger that makes a write fail as a full disk would.
fn failing(name: &str, write: &str) -> String {
    format!("CREATE TRIGGER {name} BEFORE {write} BEGIN SELECT RAISE(ABORT, 'the disk is full'); END")
}

#[tokio::test]
async fn unrecorded_call_is_not_sent() {
    for damage in ["DROP TABLE ledger".to_owned(), failing("full", "INSERT ON ledger")] {
        let harness = GatewayHarness::begin().await;
        harness.meddle(&damage);
        for request in [first_report(), list(&dropper())] {
            let result = harness.fetch(&request).await;
            assert!(matches!(result, Err(GatewayError::Ledger(_))), "{result:?}");
            assert_eq!((harness.calls(), harness.stored(&request)), (0, None));
        }
        assert!(harness.fetch(&Request::Quotas).await.is_ok(), "what is free needs no ledger");
    }
}

#[tokio::test]
async fn unstorable_response_is_returned_or_refused() {
    for is_usable in [true, false] {
        let harness = GatewayHarness::begin().await;
        harness.block("unread");
        if !is_usable {
            arm(&harness.demo, "stranger");
        }
        for (calls, request) in [(1, first_report()), (2, list(&dropper()))] {
            let (result, spent) = (harness.fetch(&request).await, harness.gateway.spent().unwrap());
            if is_usable {
                let answer = result.unwrap();
                assert!(bytes(&answer) == harness.reference(&request).await && answer.remark.is_some());
                assert_eq!(spent, SpentUnits { charged: calls, ..SpentUnits::default() });
            } else {
                unusable(&result);
                assert_eq!(spent, SpentUnits { unsure: calls, ..SpentUnits::default() });
            }
            assert!(!matches!(harness.gateway.stored(&request), Ok(Some(_))));
        }
    }
}

/// What a run leaves that ends between storing an answer and reading it.
#[tokio::test]
async fn unread_response_is_parsed_on_request() {
    for request in [first_report(), list(&dropper())] {
        let harness = GatewayHarness::begin().await;
        harness.block("reports");
        let answer = harness.fetch(&request).await.unwrap();
        assert!(answer.remark.is_some() && harness.files("unread").len() == 1);
        harness.unblock("reports");
        assert!(harness.holds(&request, &bytes(&answer)) && harness.files("unread").is_empty());
        assert!(harness.stored(&first_report()).is_some(), "what the list brought is stored");
        assert_eq!(harness.calls(), 1);
    }
}

#[tokio::test]
async fn unread_junk_does_not_hide_stored_responses() {
    for request in [first_report(), list(&dropper())] {
        let harness = GatewayHarness::begin().await;
        let old = bytes(&harness.fetch(&request).await.unwrap());
        for fault in ["empty", "portal", "stranger", "array"] {
            arm(&harness.demo, &format!("{fault}*1"));
            assert!(harness.fetch(&request).await.is_err(), "{fault}");
        }
        assert!(harness.holds(&request, &old), "{}", request.label());
    }
}

#[tokio::test]
async fn a_call_that_cannot_be_settled_counts_as_charged() {
    for (fault, is_answered) in [("delay=0", true), ("503", false), ("lost", false)] {
        let harness = GatewayHarness::begin().await;
        harness.meddle(&failing("full", "UPDATE OF state ON ledger"));
        arm(&harness.demo, fault);
        let sent = harness.fetch(&first_report()).await.map(|answer| answer.remark.unwrap_or_default());
        assert_eq!(sent.is_ok(), is_answered, "{fault}");
        let printed = sent.unwrap_or_else(|error| error.to_string());
        assert!(printed.contains("ledger") && printed.contains("could not be written"), "{fault}: {printed}");
        assert_eq!(harness.gateway.spent().unwrap(), SpentUnits { unsure: 1, ..SpentUnits::default() }, "{fault}");
        assert!(harness.gateway.spent().unwrap().total() >= harness.charged());
    }
}

#[tokio::test]
async fn unsettled_call_counts_among_the_finished() {
    let harness = GatewayHarness::begin().await;
    harness.meddle(&failing("full", "UPDATE ON ledger WHEN NEW.state <> 'reserved'"));
    harness.fetch(&first_report()).await.unwrap();
    let unsure = SpentUnits { unsure: 1, ..SpentUnits::default() };
    assert_eq!(
        (harness.gateway.spent().unwrap(), harness.gateway.store.settled("session").unwrap().into_values().sum()),
        (unsure, unsure)
    );
    harness.meddle("DROP TRIGGER full");
    harness.fetch(&list(&dropper())).await.unwrap();
    assert_eq!(
        harness.gateway.store.settled("session").unwrap().into_values().sum::<SpentUnits>(),
        SpentUnits { charged: 1, ..unsure }
    );
}

#[tokio::test]
async fn uncounted_submissions_are_not_free() {
    for (answer, state) in [
        ("{}", State::Unknown),
        ("[]", State::Unknown),
        (r#"{"submissions":[1,2],"submissions":[1,2,3,4,5]}"#, State::Unknown),
        (r#"{"submissions":[1,2]} {"submissions":[1,2,3,4,5]}"#, State::Unknown),
        (r#"[{"submissions":[1,2],"submissions":[]}]"#, State::Unknown),
        ("{\"submissions\":[1,2]}\n", State::Charged),
        (r#"{"response_code":0,"resource":"x","verbose_msg":"not known"}"#, State::Charged),
        (r#"{"response_code":0,"response_code":1}"#, State::Unknown),
        (r#"[{"response_code":"0","submissions":null},{"response_code":-2}]"#, State::Charged),
        (r#"{"response_code":1,"submissions":{"a":1}}"#, State::Unknown),
        (r#"{"data":[{"submissions":[1,2,3]}]}"#, State::Unknown),
        (r#"[{"submissions":[1,2]},{"sha256":"x"}]"#, State::Unknown),
        (r#"[{"submissions":[1,2]},{"submissions":[]}]"#, State::Charged),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let gateway = gate_to(answer.to_owned(), folder.path(), "AKeyOfAServiceThatCountsNothing0123456789");
        drop(harness::fetch(&gateway, &Request::V2Submissions { files: Vec::new() }).await);
        let entries = gateway.store.entries(gateway.payer()).unwrap();
        assert_eq!(entries.iter().map(|entry| entry.state).collect::<Vec<_>>(), [state], "{answer}");
    }
}
