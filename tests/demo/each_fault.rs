//! Each fault does what it says, and counts as it says.

use std::time::{Duration, Instant};

use tokio::time::timeout;

use super::*;

/// Long enough for anything on loopback, short enough to wait for what never comes.
const SOON: Duration = Duration::from_secs(20);
const NEVER: Duration = Duration::from_millis(300);

#[tokio::test]
async fn every_error_of_the_service_comes_with_its_code() {
    for (fault, status, code, charged) in [
        ("401-missing", 401, "AuthenticationRequiredError", 0),
        ("401-wrong", 401, "WrongCredentialsError", 0),
        ("401-inactive", 401, "UserNotActiveError", 0),
        ("403", 403, "ForbiddenError", 0),
        ("404", 404, "NotFoundError", 1),
        ("409", 409, "AlreadyExistsError", 1),
        ("424", 424, "FailedDependencyError", 1),
        ("429-quota", 429, "QuotaExceededError", 0),
        ("429-rate", 429, "TooManyRequestsError", 0),
        ("400", 400, "BadRequestError", 0),
        ("400-argument", 400, "InvalidArgumentError", 0),
        ("400-not-yet", 400, "NotAvailableYet", 0),
        ("503", 503, "TransientError", 1),
        ("504", 504, "DeadlineExceededError", 1),
    ] {
        let visit = Visit::faulty(fault).await;
        let (actual, body) = visit.ask(&first_report()).await;
        assert_eq!((actual, body["error"]["code"].as_str()), (status, Some(code)), "{fault}");
        assert!(body["error"]["message"].is_string());
        assert_eq!(visit.spent(), charged, "{fault}");
    }
}

#[tokio::test]
async fn retry_after_comes_in_three_kinds_and_not_at_all() {
    for (fault, expected) in [
        ("429-rate", None),
        ("429-rate-seconds", Some("120")),
        ("429-rate-date", Some("Thu, 12 Nov 2026 09:15:35 GMT")),
        ("429-rate-nonsense", Some("soon, perhaps -1")),
    ] {
        let response = Visit::faulty(fault).await.get(&first_report()).send().await.unwrap();
        let header = response.headers().get("retry-after").map(|value| value.to_str().unwrap().to_owned());
        assert_eq!(header.as_deref(), expected, "{fault}");
    }
}

#[tokio::test]
async fn bodies_come_in_the_wrong_shape() {
    for (fault, status, body, charged) in [
        ("429-html", 429, "<title>429</title>429 Too Many Requests", 0),
        ("empty", 200, "", 1),
        ("not-json", 200, "{\"data\": {\"id\": oops", 1),
        ("array", 200, "[1, 2, 3]", 1),
        ("number", 200, "42", 1),
        ("string", 200, "\"data\"", 1),
        ("null", 200, "null", 1),
    ] {
        let visit = Visit::faulty(fault).await;
        let response = visit.get(&first_report()).send().await.unwrap();
        assert_eq!((response.status().as_u16(), response.text().await.unwrap().as_str()), (status, body), "{fault}");
        assert_eq!(visit.spent(), charged, "{fault}");
    }
}

#[tokio::test]
async fn a_portal_answers_before_the_service_counts() {
    let visit = Visit::faulty("portal").await;
    let response = visit.get(&first_report()).send().await.unwrap();
    assert_eq!(response.status(), 200);
    assert!(response.headers()["content-type"].to_str().unwrap().starts_with("text/html"));
    assert_eq!(visit.spent(), 0);
}

#[tokio::test]
async fn a_redirect_leads_where_it_was_told_to() {
    let visit = Visit::faulty("redirect=http://192.0.2.1/api/v3/a").await;
    let response = visit.get(&first_report()).send().await.unwrap();
    assert_eq!(
        (response.status().as_u16(), &response.headers()["location"]),
        (302, &"http://192.0.2.1/api/v3/a".parse().unwrap())
    );
    assert_eq!(visit.spent(), 0);
}

#[tokio::test]
async fn a_stranger_is_a_sound_answer_to_another_question() {
    let visit = Visit::faulty("stranger").await;
    for path in [first_report(), list_path(&dropper())] {
        let body = visit.json(&path).await;
        let entry = body["data"].get(0).unwrap_or(&body["data"]);
        let id = entry["id"].as_str().unwrap();
        assert!(id.starts_with(&sha256("Parcel tracker.apk")), "{id}");
    }
    let other = visit.json(&format!("/files/{}", sha256("lumen32.dll"))).await;
    assert_ne!(other["data"]["id"], sha256("lumen32.dll").as_str());
    assert_eq!(visit.spent(), 3);
    let visit = Visit::faulty("mixed").await;
    let body = visit.json(&list_path(&dropper())).await;
    let ids = body["data"].as_array().unwrap().iter().map(|entry| entry["id"].as_str().unwrap());
    let own: Vec<_> = ids.map(|id| id.starts_with(&dropper())).collect();
    assert_eq!(own, [false, true, true, true, true]);
}

#[tokio::test]
async fn cursors_repeat_or_run_in_a_circle() {
    for (fault, repeats) in [("list:cursor-same", [false, true, true]), ("list:cursor-cycle", [false, false, false])] {
        let visit = Visit::faulty(fault).await;
        let mut cursor = String::new();
        let mut seen = Vec::new();
        for repeat in repeats {
            let path = list_path(&dropper());
            let body = visit.json(&if cursor.is_empty() { path } else { format!("{path}?cursor={cursor}") }).await;
            let next = body["meta"]["cursor"].as_str().unwrap().to_owned();
            assert_eq!(next == cursor, repeat, "{fault}");
            cursor = next;
            seen.push(cursor.clone());
        }
        assert_eq!(seen[0], seen[2], "{fault}");
    }
}

#[tokio::test]
async fn a_lost_call_is_charged_and_a_reset_one_is_not() {
    for (fault, charged) in [("lost", 1), ("reset", 0)] {
        let visit = Visit::faulty(fault).await;
        assert!(visit.get(&first_report()).send().await.is_err(), "{fault}");
        assert!(visit.spent() == charged, "{fault}");
        let seen = visit.demo.seen();
        assert_eq!((seen.len(), seen[0].charged), (1, charged), "{fault}");
    }
}

#[tokio::test]
async fn an_announced_body_is_cut_short() {
    let visit = Visit::faulty("behaviour:cut=100*1").await;
    let mut response = visit.get(&first_report()).send().await.unwrap();
    assert!(response.content_length().unwrap() > 100);
    let mut received = 0;
    let end = loop {
        match response.chunk().await {
            Ok(Some(chunk)) => received += chunk.len(),
            end => break end,
        }
    };
    assert!(end.is_err());
    assert_eq!((received, visit.spent()), (100, 1));
    assert_eq!(visit.ask(&first_report()).await.0, 200, "it strikes once");
}

#[tokio::test]
async fn an_unannounced_body_is_cut_without_a_trace() {
    let visit = Visit::faulty("cut-bare=100").await;
    let response = visit.get(&first_report()).send().await.unwrap();
    assert_eq!(response.content_length(), None);
    assert_eq!(response.bytes().await.unwrap().len(), 100);
}

#[tokio::test]
async fn a_generated_body_is_cut_too() {
    let visit = Visit::faulty("cut=5000").await;
    let response = visit.get(&list_path(&sha256("Busy installer.exe"))).send().await.unwrap();
    assert!(response.bytes().await.is_err());
}

#[tokio::test]
async fn a_stalled_body_stays_open() {
    let visit = Visit::faulty("stall=64").await;
    let mut response = visit.get(&first_report()).send().await.unwrap();
    let mut received = 0;
    while received < 64 {
        received += response.chunk().await.unwrap().unwrap().len();
    }
    assert_eq!(received, 64);
    assert!(timeout(NEVER, response.chunk()).await.is_err());
}

#[tokio::test]
async fn a_dripping_body_arrives_whole_and_late() {
    let visit = Visit::faulty("drip=20000").await;
    let started = Instant::now();
    let body = visit.json(&behaviour_path(&format!("{}_Lynxbox-1794475602", dropper()))).await;
    assert_eq!(body["data"]["attributes"]["sandbox_name"], "Lynxbox");
    assert!(started.elapsed() >= Duration::from_millis(200), "{:?}", started.elapsed());
}

#[tokio::test]
async fn a_delayed_call_is_charged_before_it_is_answered() {
    let visit = Visit::faulty("delay=60000").await;
    let call = tokio::spawn(visit.get(&first_report()).send());
    while visit.demo.seen().is_empty() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert_eq!((visit.spent(), call.is_finished()), (1, false));
    visit.demo.remove_hooks();
    assert_eq!(visit.ask(&first_report()).await.0, 200);
}

#[tokio::test]
async fn gzip_is_claimed_in_vain() {
    let visit = Visit::faulty("gzip-lie").await;
    let response = visit.get(&first_report()).send().await.unwrap();
    assert!(response.bytes().await.is_err());
}

#[tokio::test]
async fn a_small_bomb_unpacks_to_more_than_any_report() {
    let visit = Visit::faulty("gzip-bomb").await;
    let mut response = visit.get(&first_report()).send().await.unwrap();
    let mut unpacked = 0;
    while unpacked < 32 << 20 {
        let chunk = response.chunk().await.unwrap().unwrap();
        assert!(chunk.iter().all(|byte| *byte == b' '));
        unpacked += chunk.len();
    }
}

#[tokio::test]
async fn some_bodies_never_end() {
    let visit = Visit::faulty("endless-body").await;
    let mut response = visit.get(&first_report()).send().await.unwrap();
    let mut received = 0;
    while received < 8 << 20 {
        received += response.chunk().await.unwrap().unwrap().len();
    }
    drop(response);
    visit.demo.remove_hooks();
    assert_eq!(visit.ask(&first_report()).await.0, 200);
}

#[tokio::test]
async fn some_headers_never_end() {
    let visit = Visit::faulty("endless-headers").await;
    let answer = timeout(SOON, visit.get(&first_report()).send()).await.expect("the client gives up by itself");
    assert!(answer.is_err());
    assert_eq!(visit.spent(), 1);
}

#[tokio::test]
async fn a_fault_strikes_only_where_and_as_often_as_told() {
    let visit = Visit::faulty("list:503*2").await;
    assert_eq!(visit.ask(&first_report()).await.0, 200);
    let mut statuses = Vec::new();
    for _ in 0..3 {
        statuses.push(visit.ask(&list_path(&dropper())).await.0);
    }
    assert_eq!(statuses, [503, 503, 200]);
}
