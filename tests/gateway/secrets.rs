//! The key goes to the service and nowhere else: into no file, and into no word.

use crate::faults::arm;
use std::path::Path;
use std::sync::Arc;

use behaview::request::{Artifact, Password, ScanOptions, Submission};

use super::answering::answering;
use super::artifacts::artifact;
use super::*;

/// Faults that end by themselves, of every sort.
const FAULTS: &str = "401-wrong 403 404 429-rate-date 400-argument 503 portal not-json stranger lost reset gzip-lie cut=100 \
    redirect=http://127.0.0.1:9/";

/// Files below a folder that hold a text, in a capital or small spelling.
fn files_with(text: &str, folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in folder.read_dir().unwrap().map(Result::unwrap) {
        if entry.file_type().unwrap().is_dir() {
            found.extend(files_with(text, &entry.path()));
            continue;
        }
        let bytes = std::fs::read(entry.path()).unwrap().to_ascii_lowercase();
        let is_there = memchr::memmem::find(&bytes, text.to_ascii_lowercase().as_bytes()).is_some();
        found.extend(is_there.then(|| entry.path().display().to_string()));
    }
    found
}

#[tokio::test]
async fn a_session_of_faults_leaves_the_key_nowhere() {
    let harness = GatewayHarness::begin().await;
    let key = harness.demo.key().to_owned();
    for fault in FAULTS.split_whitespace() {
        for request in each_operation() {
            arm(&harness.demo, &format!("{fault}*1"));
            if let Err(error) = harness.fetch(&request).await {
                assert!(!words(&error).contains(&key), "{fault}");
            }
            assert!(harness.gateway.spent().unwrap().total() >= harness.charged(), "{fault}");
            super::counted::pass(&harness.demo, 2);
        }
    }
    for request in each_operation() {
        harness.fetch(&request).await.unwrap();
        assert!(harness.stored(&request).is_none_or(|stored| memchr::memmem::find(&stored, key.as_bytes()).is_none()));
    }
    assert!(!format!("{:?}", &harness.gateway.client).contains(&key));
    assert_eq!(files_with(&key, harness.folder()), [""; 0]);
    let file = dropper();
    assert!(!files_with(file.as_str(), harness.folder()).is_empty(), "files are searched in vain");
}

#[tokio::test]
async fn a_service_that_repeats_the_key_is_not_quoted() {
    let (folder, key) = (tempfile::tempdir().unwrap(), "0123456789abcdef".repeat(4));
    let error = |heard: &str| serde_json::json!({ "error": { "code": "NotFoundError", "message": heard } }).to_string();
    let gateway = gateway_to(answering("404 Not Found", error), folder.path(), &key);
    for request in each_operation() {
        let error = harness::fetch(&gateway, &request).await.unwrap_err();
        assert!(words(&error).contains("404"), "what happened is said: {error}");
        assert!(!words(&error).contains(&key), "{error}");
    }
    assert_eq!(files_with(&key, folder.path()), [""; 0]);
}

/// A gateway to this service, with the store in a folder.
pub fn gateway_to(root: String, folder: &Path, key: &str) -> behaview::gateway::Gateway {
    gateway(&folder.join("store"), Profile { user: None, ..Profile::demo(root, String::new()) }, key)
}

/// A gateway to a service that answers so.
pub fn gate_to(answer: String, folder: &Path, key: &str) -> behaview::gateway::Gateway {
    gateway_to(answering("200 OK", move |_| answer.clone()), folder, key)
}

const KEY: &str = "Zq7hT2mXv9LbR4cKw8Np3sYd6fGj5uAe1iQo0xBn4rHt7zMv";

/// What stands where the key stood in a spelling of it.
fn hidden(spelled: &str) -> String {
    "*".repeat(spelled.len())
}

#[tokio::test]
async fn echoed_key_is_redacted_and_response_is_stored() {
    let file = dropper();
    let spelled = |form: fn(u8) -> String| KEY.bytes().map(form).collect::<String>();
    let forms = [
        KEY.to_owned(),
        KEY.to_ascii_uppercase(),
        KEY.to_ascii_lowercase(),
        spelled(|byte| format!("\\u{byte:04x}")),
        spelled(|byte| if byte.is_ascii_digit() { format!("\\u{byte:04X}") } else { char::from(byte).to_string() }),
    ];
    let Request::Behaviour { identifier } = first_report() else { panic!() };
    let report = std::str::from_utf8(identifier.as_bytes()).unwrap();
    for (request, answer) in [
        (
            first_report(),
            r#"{"data":{"id":"REPORT","type":"file_behaviour","attributes":{"KEY":["KEY"],"command_executions":["x KEY"]}}}"#,
        ),
        (list(&file), r#"{"data":[{"id":"FILE_KEY-1700000000","attributes":{"tags":["KEY"]}}]}"#),
        (list(&file), r#"{"data":[{"id":"FILE_Box-1700000000"}],"meta":{"cursor":"KEY"}}"#),
        (Request::PrivateAnalyses { file: file.clone() }, r#"{"data":[{"id":"KEY","type":"private_analysis"}]}"#),
        (Request::Quotas, r#"{"data":{"KEY":{"user":{"allowed":5,"used":1}}}}"#),
        (Request::User, r#"{"data":{"attributes":{"apikey":"KEY"}}}"#),
        (Request::V2Reports { files: Vec::new() }, r#"[{"response_code":1,"KEY":"KEY"}]"#),
        (artifact(Artifact::Pcap), r#"no JSON KEY at all KEY"#),
    ] {
        for form in &forms {
            let folder = tempfile::tempdir().unwrap();
            let with = |key: &str| answer.replace("FILE", file.as_str()).replace("REPORT", report).replace("KEY", key);
            let gateway = gate_to(with(form), folder.path(), KEY);
            let found = harness::fetch(&gateway, &request).await.unwrap();
            assert_eq!(String::from_utf8(bytes(&found)).unwrap(), with(&hidden(form)));
            let stored = gateway.stored(&request).unwrap().map(|stored| stored.body.to_vec());
            assert_eq!(stored.is_some(), request.storage_key().is_some());
            // A list is held with the identifiers of its reports.
            let content = format!(r#""attributes":{{"tags":["{}"]}}"#, hidden(form));
            let bare = with(&hidden(form)).replace(&content, r#""type":"private_file_behaviour""#);
            assert!(stored.is_none_or(|stored| stored == bare.as_bytes()), "{answer}");
            assert_eq!(files_with(KEY, folder.path()), [""; 0]);
            assert_eq!(files_with(form, folder.path()), [""; 0]);
        }
    }
}

#[tokio::test]
async fn key_in_a_url_is_redacted() {
    const ODD: &str = "Zq7+hT2m/Xv9L==bR4cK:@w8Np3sYd6fGj5uAe1";
    let encoded = "Zq7%2BhT2m%2FXv9L%3D%3DbR4cK%3A%40w8Np3sYd6fGj5uAe1";
    let small = encoded.replace("%2B", "%2b").replace("%2F", "%2f").replace("%3D", "%3d").replace("%3A", "%3a");
    let escaped: String = encoded.bytes().map(|byte| format!("\\u{byte:04x}")).collect();
    for form in [encoded.to_owned(), small, encoded.to_ascii_lowercase(), escaped] {
        let folder = tempfile::tempdir().unwrap();
        let with =
            |key: &str| format!(r#"[{{"response_code":1,"permalink":"https://service.example/?apikey={key}&x=1"}}]"#);
        let gateway = gate_to(with(&form), folder.path(), ODD);
        let found = harness::fetch(&gateway, &Request::V2Reports { files: Vec::new() }).await.unwrap();
        assert_eq!(String::from_utf8(bytes(&found)).unwrap(), with(&hidden(&form)));
        assert_eq!(files_with(&form, folder.path()), [""; 0]);
    }
}

#[tokio::test]
async fn an_error_that_repeats_the_password_is_not_quoted() {
    let error = r#"{"error":{"code":"BadRequestError","message":"bad hunter2 KEY"}}"#.replace("KEY", KEY);
    for status in ["400 Bad Request", "200 OK"] {
        let (folder, error) = (tempfile::tempdir().unwrap(), error.clone());
        let gateway = gateway_to(answering(status, move |_| error.clone()), folder.path(), KEY);
        let path = folder.path().join("sample.bin");
        std::fs::write(&path, b"nothing").unwrap();
        let (file, size) = behaview::gateway::hash_file(&path, 100).unwrap();
        let options = ScanOptions::default().with_password(Password::new("hunter2".to_owned()));
        let submission = Arc::new(Submission { path, file, size, options, sent: None });
        let printed = match harness::fetch(&gateway, &Request::PrivateScan { submission, to: None }).await {
            Ok(answer) => String::from_utf8_lossy(&bytes(&answer)).into_owned(),
            Err(error) => words(&error),
        };
        assert!(!printed.contains("hunter2") && !printed.contains(KEY), "{printed}");
        assert_eq!(files_with("hunter2", folder.path()), [""; 0]);
    }
}
