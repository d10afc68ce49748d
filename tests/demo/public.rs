//! Users, quotas, public files and API v2 answer in their shapes.

use reqwest::multipart::{Form, Part};

use super::*;

#[tokio::test]
async fn the_user_is_named_by_name_or_key() {
    let visit = Visit::begin().await;
    for id in [visit.demo.user(), visit.demo.key()] {
        let user = visit.json(&format!("/api/v3/users/{id}")).await;
        assert_eq!(user["data"]["id"], visit.demo.user());
        let quotas = visit.json(&format!("/api/v3/users/{id}/overall_quotas")).await;
        assert_eq!(quotas["data"]["api_requests_daily"]["user"]["allowed"], 500);
        assert_eq!(quotas["data"]["api_requests_daily"]["group"]["inherited_from"], "demo_response_team");
        assert!(quotas["data"]["private_scans_monthly"]["user"]["allowed"].as_u64().unwrap() > 0);
    }
    assert_eq!(visit.ask("/api/v3/users/somebody-else/overall_quotas").await.0, 404);
}

#[tokio::test]
async fn usage_covers_the_days_asked_for() {
    let visit = Visit::begin().await;
    visit.json(&first_report()).await;
    let path = format!("/api/v3/users/{}/api_usage", visit.demo.user());
    let usage = visit.json(&path).await;
    assert_eq!(usage["data"]["daily"]["2026-11-12"]["private_file_behaviours"], 1);
    assert_eq!(usage["data"]["total"]["private_file_behaviours"], 1);
    let earlier = visit.json(&format!("{path}?start_date=20261001&end_date=20261030")).await;
    assert_eq!(earlier["data"]["total"], serde_json::json!({}));
    for wrong in ["start_date=20261001&end_date=20261031", "start_date=20261113&end_date=20261112", "start_date=soon"] {
        assert_eq!(visit.ask(&format!("{path}?{wrong}")).await.0, 400, "{wrong}");
    }
}

#[tokio::test]
async fn public_files_and_their_analyses_are_found() {
    let visit = Visit::begin().await;
    let lumen = sha256("lumen32.dll");
    let body = visit.json(&format!("/api/v3/files/{lumen}")).await;
    assert_eq!(body["data"]["attributes"]["times_submitted"], 4);
    let analyses = visit.json(&format!("/api/v3/files/{lumen}/analyses")).await;
    let id = analyses["data"][0]["id"].as_str().unwrap();
    assert_eq!(visit.json(&format!("/files/analyses/{id}")).await, analyses);
    assert_eq!(visit.json(&format!("/api/v3/analyses/{id}")).await["data"]["type"], "analysis");
    let (status, rescan) = read(visit.post(&format!("/api/v3/files/{lumen}/analyse")).send().await.unwrap()).await;
    assert_eq!((status, rescan["data"]["id"].as_str()), (200, Some(id)));
}

#[tokio::test]
async fn v2_answers_one_hash_alone_and_several_in_a_list() {
    let visit = Visit::begin().await;
    let (key, lumen, unknown) = (visit.demo.key(), sha256("lumen32.dll"), "0".repeat(64));
    let one = visit.json(&format!("/svcapi/v2/file/report?apikey={key}&resource={lumen}")).await;
    assert_eq!((one["response_code"].as_i64(), one["positives"].as_i64()), (Some(1), Some(41)));
    for resource in
        [format!("{lumen},{unknown}"), format!("{lumen}%20{unknown}"), format!("{lumen}&resource={unknown}")]
    {
        let list = visit.json(&format!("/vtapi/v2/file/report?apikey={key}&resource={resource}")).await;
        assert_eq!((list[0]["response_code"].as_i64(), list[1]["response_code"].as_i64()), (Some(1), Some(0)));
    }
    let form = [("apikey", key), ("resource", &lumen)];
    let posted = visit.client.post(format!("{}/file/report", visit.demo.root())).form(&form).send().await.unwrap();
    assert_eq!(read(posted).await.1, one);
    let submissions = visit.json(&format!("/svcapi/v2/file/submissions?apikey={key}&resource={lumen}")).await;
    assert_eq!(submissions["submissions"].as_array().unwrap().len(), 4);
}

#[tokio::test]
async fn an_upload_is_told_by_its_hash() {
    let visit = Visit::begin().await;
    let form = Form::new().part("file", Part::bytes(b"abc".to_vec()).file_name("abc.txt"));
    let (status, body) = read(visit.post("/api/v3/files").multipart(form).send().await.unwrap()).await;
    assert_eq!((status, body["data"]["type"].as_str()), (200, Some("analysis")));
    let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    let file = visit.json(&format!("/api/v3/files/{abc}")).await;
    assert_eq!(
        (file["data"]["attributes"]["meaningful_name"].as_str(), file["data"]["attributes"]["size"].as_u64()),
        (Some("abc.txt"), Some(3))
    );
    let empty = visit.post("/api/v3/files").multipart(Form::new().text("note", "no file")).send().await.unwrap();
    assert_eq!(empty.status(), 400);
}
