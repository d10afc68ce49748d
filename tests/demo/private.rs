//! Private files and their reports answer in their shapes.

use behaview::demo::{ListContent, Options};

use super::*;

#[tokio::test]
async fn a_behaviour_comes_in_its_envelope_through_an_encoded_identifier() {
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
async fn an_identifier_of_an_odd_shape_is_found() {
    let visit = Visit::begin().await;
    let body = visit.json(&behaviour_path("reader/7?view=full&note=50%25 #Räume")).await;
    assert_eq!(body["data"]["attributes"]["sandbox_name"], "Reader's own");
}

#[tokio::test]
async fn a_list_is_read_page_by_page_with_full_attributes() {
    let visit = Visit::begin().await;
    let first = visit.json(&list_path(&dropper())).await;
    assert_eq!(first["data"].as_array().unwrap().len(), 4);
    assert_eq!(first["meta"]["count"], 6);
    let next = first["links"]["next"].as_str().unwrap().strip_prefix(visit.demo.root()).unwrap();
    assert!(next.contains(first["meta"]["cursor"].as_str().unwrap()));
    let second = visit.json(next).await;
    assert_eq!(second["data"].as_array().unwrap().len(), 2);
    assert!(second["meta"].get("cursor").is_none() && second["links"].get("next").is_none());
    assert_eq!(first["data"][0], visit.json(&first_report()).await["data"]);
}

#[tokio::test]
async fn limit_and_cursor_are_obeyed_and_checked() {
    let visit = Visit::begin().await;
    let path = list_path(&dropper());
    assert_eq!(visit.json(&format!("{path}?limit=1")).await["data"].as_array().unwrap().len(), 1);
    assert_eq!(visit.ask(&format!("{path}?limit=0")).await.0, 400);
    assert_eq!(visit.ask(&format!("{path}?limit=41")).await.0, 400);
    assert_eq!(visit.ask(&format!("{path}?cursor=mine")).await.0, 400);
    assert_eq!(visit.spent(), 1);
}

#[tokio::test]
async fn identifiers_come_without_attributes() {
    let visit = Visit::with(Options { listing: ListContent::Identifiers, ..Options::default() }).await;
    let list = visit.json(&list_path(&dropper())).await;
    let related = format!("/api/v3/private/files/{}/relationships/behaviours", dropper());
    let identifiers = visit.json(&related).await;
    assert_eq!(list["data"], identifiers["data"]);
    let entry = list["data"][0].as_object().unwrap();
    assert_eq!(entry.keys().collect::<Vec<_>>(), ["id", "links", "type"]);
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
async fn a_summary_joins_the_reports() {
    let visit = Visit::begin().await;
    let body = visit.json(&format!("/api/v3/private/files/{}/behaviour_summary", dropper())).await;
    let tags = body["data"]["tags"].as_array().unwrap();
    assert!(tags.contains(&"PERSISTENCE".into()) && tags.contains(&"TLS_BEACON".into()));
    assert_eq!(tags.iter().filter(|tag| **tag == "PERSISTENCE").count(), 1);
}

#[tokio::test]
async fn artefacts_are_served_in_ranges() {
    let visit = Visit::begin().await;
    let path = format!("{}/memdump", first_report());
    let whole = visit.get(&path).send().await.unwrap().bytes().await.unwrap();
    let end = 6 << 20;
    let (from, last) = (format!("bytes={}-", end - 36), format!("bytes={end}-"));
    for (range, expected) in [("bytes=16-31", 16..32), (&from, end - 36..end), ("bytes=-10", end - 10..end)] {
        let part = visit.get(&path).header("range", range).send().await.unwrap();
        assert_eq!(part.status(), 206);
        let described = format!("bytes {}-{}/{end}", expected.start, expected.end - 1);
        assert_eq!(part.headers()["content-range"], described.as_str());
        assert_eq!(part.bytes().await.unwrap(), whole.slice(expected));
    }
    assert_eq!(visit.get(&path).header("range", last).send().await.unwrap().status(), 416);
    let html = visit.get(&format!("{}/html", first_report())).send().await.unwrap();
    assert!(html.text().await.unwrap().contains("made-up"));
    assert_eq!(visit.ask(&format!("{}/pcap", first_report())).await.0, 404);
}

#[tokio::test]
async fn private_analyses_tell_of_each_sandbox() {
    let visit = Visit::begin().await;
    let status = async |title: &str| {
        let id = format!("{}-private", &sha256(title)[..32]);
        visit.json(&format!("/api/v3/private/analyses/{id}")).await["data"]["attributes"]["status"].clone()
    };
    assert_eq!(status("Quarterly statement viewer.exe").await, "completed");
    assert_eq!(status("Still in the queue.iso").await, "in-progress");
}

#[tokio::test]
async fn the_generated_report_has_the_rows_asked_for() {
    let visit = Visit::with(Options { rows: 40_000, ..Options::default() }).await;
    let body = visit.json(&list_path(&sha256("Busy installer.exe"))).await;
    assert_eq!(body["data"][0]["attributes"]["files_opened"].as_array().unwrap().len(), 8_000);
    let again = visit.json(&behaviour_path(body["data"][0]["id"].as_str().unwrap())).await;
    assert_eq!(again["data"], body["data"][0]);
}
