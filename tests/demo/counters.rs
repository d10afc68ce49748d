//! The service's own counters follow §8.

use std::time::Duration;

use behaview::demo::{Options, PeriodAmounts};
use reqwest::multipart::{Form, Part};

use super::*;

const WIDE: PeriodAmounts = PeriodAmounts { minute: 1_000, hourly: 1_000, daily: 1_000, monthly: 1_000 };

async fn scan(visit: &Visit, path: &str, content: &[u8]) -> u16 {
    let part = Part::bytes(content.to_vec()).file_name("new.bin");
    let form = Form::new().text("apikey", visit.demo.key().to_owned()).part("file", part);
    visit.post(path).multipart(form).send().await.unwrap().status().as_u16()
}

/// What one GET costs.
async fn cost(visit: &Visit, path: &str) -> u64 {
    let before = visit.spent();
    visit.ask(path).await;
    visit.spent() - before
}

#[tokio::test]
async fn private_calls_cost_one_each() {
    let visit = Visit::begin().await;
    let dropper = dropper();
    for path in [
        first_report(),
        list_path(&dropper),
        format!("{}?limit=1", list_path(&dropper)),
        format!("/private/files/{dropper}/relationships/behaviours"),
        format!("/private/files/{dropper}"),
    ] {
        assert_eq!(cost(&visit, &path).await, 1, "{path}");
    }
    let used = visit.demo.used();
    assert_eq!((used.user.daily, used.group.daily), (5, 12_480 + 5));
}

#[tokio::test]
async fn v2_cost_is_per_hash_and_per_submission() {
    let visit = Visit::begin().await;
    let (four, six) = (sha256("lumen32.dll"), sha256("Delivery note updater.ps1"));
    let v2 = |operation: &str, resource: &str| {
        format!("/svcapi/v2/file/{operation}?apikey={}&resource={resource}", visit.demo.key())
    };
    assert_eq!(cost(&visit, &v2("report", &four)).await, 1);
    assert_eq!(cost(&visit, &v2("report", &format!("{four},{six},{four},unknown"))).await, 4);
    assert_eq!(cost(&visit, &v2("submissions", &format!("{four},{six}"))).await, 10);
    assert_eq!(cost(&visit, &v2("submissions", "unknown")).await, 0);
    assert_eq!(cost(&visit, "/svcapi/v2/file/report?resource=no-key").await, 0);
}

#[tokio::test]
async fn a_new_upload_and_its_later_look_ups_are_free_in_v3() {
    let visit = Visit::begin().await;
    let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    assert_eq!(scan(&visit, "/api/v3/files", b"abc").await, 200);
    assert_eq!(cost(&visit, &format!("/api/v3/files/{abc}")).await, 0);
    let analyses = visit.json(&format!("/api/v3/files/{abc}/analyses")).await;
    let id = analyses["data"][0]["id"].as_str().unwrap();
    assert_eq!(cost(&visit, &format!("/api/v3/files/analyses/{id}")).await, 0);
    assert_eq!(visit.spent(), 0);
    assert_eq!(cost(&visit, &format!("/api/v3/analyses/{id}")).await, 1);
    let report = format!("/svcapi/v2/file/report?apikey={}&resource={abc}", visit.demo.key());
    assert_eq!(cost(&visit, &report).await, 1);
    assert_eq!(scan(&visit, "/api/v3/files", b"abc").await, 200);
    assert_eq!(visit.spent(), 3, "the file is known by now");
}

#[tokio::test]
async fn v2_scans_are_free_for_new_files_only() {
    let visit = Visit::begin().await;
    for (path, content, spent) in
        [("/file/scan", b"one", 0), ("/svcapi/v2/file/scan", b"one", 1), ("/vtapi/v2/file/scan", b"two", 1)]
    {
        assert_eq!(scan(&visit, path, content).await, 200);
        assert_eq!(visit.spent(), spent);
    }
}

#[tokio::test]
async fn documented_exceptions_are_free() {
    let visit = Visit::begin().await;
    for path in ["/users/demo-analyst/overall_quotas", "/users/demo-analyst/api_usage", "/api/v3/analyses/invalid"] {
        assert_eq!(cost(&visit, path).await, 0, "{path}");
    }
    let lumen = sha256("lumen32.dll");
    assert_eq!(cost(&visit, &format!("/api/v3/files/{lumen}")).await, 1);
    assert_eq!(cost(&visit, &format!("/api/v3/files/{lumen}/analyses")).await, 1);
    visit.post(&format!("/api/v3/files/{lumen}/analyse")).send().await.unwrap();
    assert_eq!(visit.spent(), 3);
}

#[tokio::test]
async fn failed_calls_are_charged_only_after_validation() {
    let visit = Visit::begin().await;
    for (path, status, charged) in [
        ("/private/file_behaviours/none", 404, 1),
        ("/private/files/short/behaviours", 400, 0),
        ("/api/v3/unknown", 404, 0),
        ("/files/none", 404, 1),
    ] {
        let before = visit.spent();
        assert_eq!(visit.ask(path).await.0, status, "{path}");
        assert_eq!(visit.spent() - before, charged, "{path}");
    }
}

#[tokio::test]
async fn spent_quota_refuses_paid_calls_only() {
    let limits = PeriodAmounts { daily: 2, ..WIDE };
    let visit = Visit::with(Options { user_limits: limits, ..Options::default() }).await;
    let key = visit.demo.key();
    let three = format!("/svcapi/v2/file/report?apikey={key}&resource=1,2,3");
    let (status, body) = visit.ask(&three).await;
    assert_eq!((status, body["error"]["code"].as_str()), (429, Some("QuotaExceededError")));
    assert_eq!(visit.spent(), 0, "a call that does not fit is not charged in part");
    visit.json(&first_report()).await;
    visit.json(&first_report()).await;
    assert_eq!(visit.ask(&first_report()).await.0, 429);
    let quotas = visit.json("/users/demo-analyst/overall_quotas").await;
    assert_eq!(quotas["data"]["api_requests_daily"]["user"], serde_json::json!({ "allowed": 2, "used": 2 }));
}

#[tokio::test]
async fn colleagues_spend_the_group_but_not_the_user() {
    let group_limits = PeriodAmounts { daily: 900, ..WIDE };
    let options = Options { user_limits: WIDE, group_limits, group_spent: 0, ..Options::default() };
    let visit = Visit::with(options).await;
    visit.json(&first_report()).await;
    visit.demo.colleague_spends(898);
    assert_eq!((visit.demo.used().user.daily, visit.demo.used().group.daily), (1, 899));
    assert_eq!(visit.ask(&first_report()).await.0, 200);
    let (status, body) = visit.ask(&first_report()).await;
    assert_eq!((status, body["error"]["code"].as_str()), (429, Some("QuotaExceededError")));
    assert_eq!(visit.spent(), 2);
}

#[tokio::test]
async fn periods_end_in_their_time() {
    let limits = PeriodAmounts { minute: 1, hourly: 2, daily: 3, monthly: 4 };
    let visit = Visit::with(Options { user_limits: limits, ..Options::default() }).await;
    let code = async || visit.ask(&first_report()).await.1["error"]["code"].as_str().map(str::to_owned);
    let steps = [
        (0, None),
        (0, Some("TooManyRequestsError")),
        (60, None),
        (60, Some("QuotaExceededError")),
        (3_600, None),
        (3_600, Some("QuotaExceededError")),
        (86_400, None),
        (86_400, Some("QuotaExceededError")),
        (31 * 86_400, None),
    ];
    for (seconds, expected) in steps {
        visit.demo.advance(Duration::from_secs(seconds));
        assert_eq!(code().await.as_deref(), expected, "after {seconds} seconds");
    }
}
