//! Private files and their reports answer in their shapes.

use super::*;

#[tokio::test]
async fn behaviour_is_returned_in_its_envelope() {
    let visit = Visit::begin().await;
    let body = visit.json(&first_report()).await;
    let data = &body["data"];
    assert_eq!(data["type"], "private_file_behaviour");
    let id = data["id"].as_str().unwrap();
    assert_eq!(id, format!("{}_CAPE Sandbox-1794474845", dropper()));
    let link = format!("{}/api/v3/private/file_behaviours/{id}", visit.demo.root());
    assert_eq!(data["links"]["self"], link.as_str());
    assert_eq!(data["attributes"]["sandbox_name"], "CAPE Sandbox");
    let bare = first_report().replace("/api/v3", "");
    assert_eq!(visit.json(&bare).await, body);
}

#[tokio::test]
async fn private_files_take_sha256_only() {
    let visit = Visit::begin().await;
    let body = visit.json(&format!("/api/v3/private/files/{}", dropper())).await;
    assert_eq!(body["data"]["type"], "private_file");
    assert!(body["data"]["attributes"]["expiration"].as_i64().unwrap() > 1_794_474_845);
    let (status, body) = visit.ask("/api/v3/private/files/7d1f0c6e5b4a39281706f5e4d3c2b1a0").await;
    assert_eq!((status, body["error"]["code"].as_str()), (400, Some("InvalidArgumentError")));
}

#[tokio::test]
async fn group_lists_are_paged_for_one_request_each() {
    let visit = Visit::begin().await;
    let before = visit.demo.used().user.daily;
    for (path, count) in [("private/files", 7), ("private/analyses", 7)] {
        let first = visit.json(&format!("/api/v3/{path}?limit=40")).await;
        let cursor = first["meta"]["cursor"].as_str().unwrap();
        let second = visit.json(&format!("/api/v3/{path}?limit=40&cursor={cursor}")).await;
        let entries = |page: &serde_json::Value| page["data"].as_array().unwrap().clone();
        assert_eq!((entries(&first).len() + entries(&second).len(), first["meta"]["count"].as_u64()), (7, Some(count)));
        assert!(second["meta"]["cursor"].is_null() && second["links"]["next"].is_null());
    }
    assert_eq!(visit.demo.used().user.daily, before + 4);
    assert_eq!(visit.ask("/api/v3/private/files?limit=41").await.0, 400);
}

#[tokio::test]
async fn artifacts_are_those_that_the_report_names() {
    let visit = Visit::begin().await;
    let whole = visit.get(&format!("{}/memdump", first_report())).send().await.unwrap().bytes().await.unwrap();
    assert_eq!(whole.len(), 6 << 20);
    let html = visit.get(&format!("{}/html", first_report())).send().await.unwrap();
    assert!(html.text().await.unwrap().contains("made-up"));
    assert_eq!(visit.ask(&format!("{}/pcap", first_report())).await.0, 404);
}

#[tokio::test]
async fn private_analysis_has_its_status() {
    let visit = Visit::begin().await;
    let status = async |title: &str| {
        let id = format!("{}-private", &sha256(title)[..32]);
        visit.json(&format!("/api/v3/private/analyses/{id}")).await["data"]["attributes"]["status"].clone()
    };
    assert_eq!(status("Quarterly statement viewer.exe").await, "completed");
    assert_eq!(status("Still in the queue.iso").await, "in-progress");
}
