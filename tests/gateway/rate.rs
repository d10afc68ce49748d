//! The service's limit of requests a minute paces calls, and a refusal teaches it.

use super::by_hash::hash;
use super::counted::{jump, pass, run, start_clock};
use super::*;
use crate::faults::arm;
use behaview::demo::DemoResponse;
use behaview::gateway::{Gateway, Received};
use std::cell::Cell;

/// A run of the program with a configured limit.
pub fn paced(session: &str, harness: &GatewayHarness, per_minute: u64) -> Gateway {
    let mut gateway = run(session, &harness.store(), &harness.demo);
    gateway.per_minute = Some(per_minute);
    gateway
}

/// Asks, and lets a minute pass whenever the call waits. Returns how often it waited.
async fn ask_pacing(
    harness: &GatewayHarness,
    gateway: &Gateway,
    request: &Request,
) -> (usize, Result<StoredResponse, GatewayError>) {
    let waits = std::sync::Mutex::new(Vec::new());
    let progress = |received| {
        if let Received::NotBefore(at) = received {
            waits.lock().unwrap().push(at);
        }
    };
    let quote = request.clone().quote(&harness::licensed());
    let mut call = std::pin::pin!(gateway.fetch(&quote, &progress));
    let seen = Cell::new(0);
    loop {
        tokio::select! {
            biased;
            reply = &mut call => return (seen.get(), reply),
            () = tokio::time::sleep(std::time::Duration::from_millis(5)) => {
                let waited = waits.lock().unwrap().len();
                if waited > seen.get() {
                    seen.set(waited);
                    pass(&harness.demo, 1);
                }
            }
        }
    }
}

#[tokio::test]
async fn calls_beyond_the_limit_of_a_minute_wait_for_it() {
    let harness = GatewayHarness::begin().await;
    let [one, two] = ["one", "two"].map(|name| paced(name, &harness, 2));
    for (gateway, waits) in [(&one, 0), (&two, 0), (&one, 1), (&two, 0), (&one, 1)] {
        let (waited, reply) = ask_pacing(&harness, gateway, &first_report()).await;
        assert!(reply.is_ok() && waited == waits, "{waited} {reply:?}");
    }
    // Free calls do not wait.
    let (waited, reply) = ask_pacing(&harness, &one, &Request::Quotas).await;
    assert!(reply.is_ok() && waited == 0);
    assert_eq!(one.minute_limit().unwrap(), Some((2, 1)));
}

#[tokio::test]
async fn waiting_call_is_cancelled_at_no_cost() {
    let harness = GatewayHarness::begin().await;
    let gateway = paced("one", &harness, 1);
    harness::fetch(&gateway, &first_report()).await.unwrap();
    let (request, second) = (first_report(), list(&dropper()));
    let quote = second.clone().quote(&harness::licensed());
    let progress = |received| {
        assert!(matches!(received, Received::NotBefore(_)));
        gateway.cancel(&second);
    };
    let reply = gateway.fetch(&quote, &progress).await;
    assert!(matches!(&reply, Err(error) if error.is_unsent()), "{reply:?}");
    assert_eq!((harness.charged(), gateway.spent().unwrap().total()), (1, 1));
    assert!(gateway.stored(&request).unwrap().is_some());
}

#[tokio::test]
async fn a_refusal_teaches_the_limit_for_an_hour() {
    // With a pause that the service names, that alone is waited for.
    for (fault, pause, waits) in [("429-rate", 0, 1), ("429-rate-seconds", 2, 0)] {
        let harness = GatewayHarness::begin().await;
        let gateway = run("one", &harness.store(), &harness.demo);
        for _ in 0..3 {
            harness::fetch(&gateway, &first_report()).await.unwrap();
        }
        arm(&harness.demo, &format!("{fault}*1"));
        assert_eq!(refusal(harness::fetch(&gateway, &first_report()).await), ApiErrorKind::TooFast);
        pass(&harness.demo, pause);
        assert_eq!(gateway.minute_limit().unwrap(), Some((3, if pause > 0 { 0 } else { 4 })));
        for (waits, about) in [(waits, "the next"), (0, "a third in this minute")] {
            let (waited, reply) = ask_pacing(&harness, &gateway, &first_report()).await;
            assert!(reply.is_ok() && waited == waits, "{fault}: {about}: {waited} {reply:?}");
        }
        pass(&harness.demo, 61);
        assert_eq!(gateway.minute_limit().unwrap(), None);
    }
    let harness = GatewayHarness::begin().await;
    let gateway = run("one", &harness.store(), &harness.demo);
    arm(&harness.demo, "429-rate-seconds*1");
    assert_eq!(refusal(harness::fetch(&gateway, &first_report()).await), ApiErrorKind::TooFast);
    let (waited, reply) = ask_pacing(&harness, &gateway, &first_report()).await;
    assert!(reply.is_ok() && waited == 2, "the service wants two minutes: {waited} {reply:?}");
}

#[tokio::test]
async fn hashes_beyond_the_rate_limit_are_split() {
    let harness = GatewayHarness::begin().await;
    let gateway = paced("one", &harness, 1);
    let files: Vec<_> = (0..3).map(hash).collect();
    let request = Request::V2Reports { files: files.clone() };
    let (waited, reply) = ask_pacing(&harness, &gateway, &request).await;
    let found: serde_json::Value = serde_json::from_slice(&reply.unwrap().body).unwrap();
    let resources: Vec<_> = found.as_array().unwrap().iter().map(|one| one["resource"].as_str().unwrap()).collect();
    assert_eq!(resources, files.iter().map(|file| file.as_str()).collect::<Vec<_>>());
    assert_eq!((waited, harness.charged(), gateway.spent().unwrap().total()), (2, 3, 3));
    assert!(gateway.stored(&request).unwrap().is_some());
    // What came before a failure is handed over, and the rest is named.
    let mut calls = 0;
    harness.demo.intercept(Box::new(move |_, change| {
        calls += 1;
        change.reply = (calls > 2).then(|| Box::new(|_| DemoResponse::error(503, "TransientError", "later")) as _);
    }));
    let reply = ask_pacing(&harness, &gateway, &request).await.1.unwrap();
    assert!(reply.is_partial && reply.remark.unwrap().starts_with(&format!("lacks {}: ", files[2].as_str())));
}

#[tokio::test]
async fn a_pause_without_measure_ends_within_an_hour() {
    let head = "429 Too Many Requests\r\nretry-after: 99999999\r\ndate: Thu, 31 Dec 9998 23:00:00 GMT";
    let (folder, root) = (tempfile::tempdir().unwrap(), super::answering::answering(head, |_| "{}"));
    start_clock();
    let run = || super::secrets::gateway_to(root.clone(), folder.path(), "a-key");
    for _ in 0..2 {
        assert_eq!(refusal(harness::fetch(&run(), &first_report()).await), ApiErrorKind::TooFast);
        let (quote, gateway) = (first_report().quote(&harness::licensed()), run());
        let progress = |_| gateway.cancel(&first_report());
        assert!(gateway.fetch(&quote, &progress).await.unwrap_err().is_unsent());
        jump(61);
    }
    // A clock that was set back waits for nothing.
    jump(-24 * 60);
    assert_eq!(refusal(harness::fetch(&run(), &first_report()).await), ApiErrorKind::TooFast);
}
