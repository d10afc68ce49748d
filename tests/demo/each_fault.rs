//! Each fault does what it says, and counts as it says.

use super::*;

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
async fn a_fault_strikes_only_where_and_as_often_as_told() {
    let visit = Visit::faulty("list:503*2").await;
    assert_eq!(visit.ask(&first_report()).await.0, 200);
    let mut statuses = Vec::new();
    for _ in 0..3 {
        statuses.push(visit.ask(&list_path(&dropper())).await.0);
    }
    assert_eq!(statuses, [503, 503, 200]);
}
