//! The embedded reports hold their story, and every attribute the service is known to send.

use std::collections::BTreeSet;

use super::*;

/// Every behaviour attribute that is known by name.
const ATTRIBUTES: &str = "
    analysis_date last_modification_date verdict_confidence behash sandbox_name hosts_file
    has_html_report has_pcap has_evtx has_memdump html_report_link pcap_link evtx_link memdump_link
    files_opened files_written files_deleted files_attribute_changed processes_created processes_terminated
    processes_killed processes_injected command_executions modules_loaded registry_keys_opened registry_keys_deleted
    mutexes_created mutexes_opened services_opened services_created services_started services_stopped
    services_deleted services_bound windows_searched windows_hidden text_highlighted text_decoded calls_highlighted
    crypto_algorithms_observed crypto_keys crypto_plain_text encoding_algorithms_observed permissions_requested
    signals_observed signals_hooked invokes activities_started content_model_observers databases_opened
    databases_deleted shared_preferences_lookups system_property_lookups tags verdicts verdict_labels ja3_digests
    memory_pattern_domains memory_pattern_urls memory_pattern_ips mbc
    processes_tree files_dropped files_copied registry_keys_set shared_preferences_sets dns_lookups ip_traffic
    http_conversations tls signature_matches mitre_attack_techniques sigma_analysis_results ids_alerts ids_results
    memory_dumps permissions_checked sms_sent";

/// The attributes of all reports of a file, by sandbox, where the JSON is sound enough for `Value`.
async fn reports(visit: &Visit, title: &str) -> Vec<Value> {
    let mut path = list_path(&sha256(title));
    let mut reports = Vec::new();
    loop {
        let page = visit.json(&path).await;
        reports.extend(page["data"].as_array().unwrap().iter().map(|entry| entry["attributes"].clone()));
        match page["links"]["next"].as_str() {
            Some(next) => path = next.strip_prefix(visit.demo.root()).unwrap().to_owned(),
            None => return reports,
        }
    }
}

async fn dropper_reports() -> Vec<Value> {
    reports(&Visit::begin().await, "Quarterly statement viewer.exe").await
}

#[tokio::test]
async fn six_sandboxes_saw_six_different_things() {
    let reports = dropper_reports().await;
    let names: BTreeSet<_> = reports.iter().map(|report| report["sandbox_name"].to_string()).collect();
    let shapes: BTreeSet<Vec<&String>> =
        reports.iter().map(|report| report.as_object().unwrap().keys().collect()).collect();
    assert_eq!((reports.len(), names.len(), shapes.len()), (6, 6, 6));
}

#[tokio::test]
async fn every_known_attribute_occurs_and_no_other() {
    let reports = dropper_reports().await;
    let used: BTreeSet<&str> =
        reports.iter().flat_map(|report| report.as_object().unwrap().keys().map(String::as_str)).collect();
    assert_eq!(used, ATTRIBUTES.split_whitespace().collect());
}

#[tokio::test]
async fn the_story_answers_an_analyst() {
    let reports = dropper_reports().await;
    let saw_network: Vec<_> = reports.iter().filter(|report| report.get("http_conversations").is_some()).collect();
    assert_eq!(saw_network.len(), 1);
    assert_eq!(saw_network[0]["sandbox_name"], "Lynxbox");
    let run_key = reports[0]["registry_keys_set"].to_string();
    assert!(run_key.contains(r"CurrentVersion\\Run\\LumenUpdate"), "{run_key}");
    assert!(reports[0]["command_executions"].to_string().contains("schtasks.exe /create"));
    assert_eq!(reports[3]["services_created"], serde_json::json!(["LumenSvc"]));
    let lumen = sha256("lumen32.dll");
    let dropped = reports[0]["files_dropped"].as_array().unwrap();
    let second_stage = dropped.iter().find(|file| file["sha256"] == lumen.as_str()).unwrap();
    assert_eq!(second_stage["process_name"], "wscript.exe");
}

#[tokio::test]
async fn the_other_files_are_what_they_say() {
    let visit = Visit::begin().await;
    assert_eq!(reports(&visit, "Blank reader.exe").await[0], serde_json::json!({}));
    assert!(reports(&visit, "Still in the queue.iso").await.is_empty());
    assert!(reports(&visit, "Parcel tracker.apk").await[0]["permissions_requested"].is_array());
    let document = reports(&visit, "Delivery note 20261109.docm").await;
    assert_eq!(document[0]["processes_tree"][0]["name"], "WINWORD.EXE");
}

#[tokio::test]
async fn unfriendly_reports_are_served_as_written() {
    let visit = Visit::begin().await;
    let text = visit.get(&list_path(&sha256("Unfriendly strings.bin"))).send().await.unwrap().text().await.unwrap();
    assert!(serde_json::from_str::<Value>(&text).is_err(), "no strict reader takes it");
    assert!(serde_json::from_str::<&serde_json::value::RawValue>(&text).is_ok(), "yet its grammar is sound");
    for part in [r"\ud800", r"\u001b]52;c;", r"\u202e", r#""files_written": ["the second"#, "1e400"] {
        assert!(text.contains(part), "{part}");
    }
    assert!(text.matches(r#"{"deeper":["#).count() == 200 && text.contains(&"A".repeat(100_000)));
    assert!(text.bytes().all(|byte| byte >= b' ' || byte.is_ascii_whitespace()), "controls are escaped");
}

#[test]
fn hosts_and_addresses_are_for_documentation_only() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/demo");
    for file in ["dropper", "parcel", "document"].iter().flat_map(|name| folder.join(name).read_dir().unwrap()) {
        let text = std::fs::read_to_string(file.unwrap().path()).unwrap();
        for host in text.split("://").skip(1).map(|rest| rest.split(['/', '"', '?', ':', '\'']).next().unwrap()) {
            assert!(host.ends_with(".example") || host.ends_with("example.com") || host == "sms", "{host}");
        }
        assert!(text.len() < 60_000);
    }
}
