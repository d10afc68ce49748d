//! The key goes to the service and nowhere else: into no file, and into no word.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::Path;

use super::*;

/// Faults that end by themselves, of every sort.
const FAULTS: [&str; 14] = [
    "401-wrong",
    "403",
    "404",
    "429-rate-date",
    "400-argument",
    "503",
    "portal",
    "not-json",
    "stranger",
    "lost",
    "reset",
    "gzip-lie",
    "cut=100",
    "redirect=http://127.0.0.1:9/",
];

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
    let visit = Visit::begin().await;
    let key = visit.demo.key().to_owned();
    for fault in FAULTS {
        for request in each_operation() {
            visit.demo.arm(format!("{fault}*1").parse().unwrap());
            if let Err(error) = visit.ask(&request).await {
                assert!(!words(&error).contains(&key), "{fault}");
            }
            assert!(visit.gate.spent().unwrap().total() >= visit.charged(), "{fault}");
        }
    }
    for request in each_operation() {
        visit.ask(&request).await.unwrap();
        assert!(visit.held(&request).is_none_or(|held| memchr::memmem::find(&held, key.as_bytes()).is_none()));
    }
    assert!(!format!("{:?}", visit.gate.client()).contains(&key));
    assert_eq!(files_with(&key, visit.folder()), [""; 0]);
    let file = dropper();
    assert!(!files_with(file.as_str(), visit.folder()).is_empty(), "files are searched in vain");
}

/// A service that answers every call with an error that repeats all it was sent.
fn parrot() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let root = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for mut stream in listener.incoming().map_while(Result::ok) {
            let mut asked = vec![0; 4096];
            let length = stream.read(&mut asked).unwrap_or(0);
            let heard = String::from_utf8_lossy(&asked[..length]).into_owned();
            let error = serde_json::json!({ "error": { "code": "NotFoundError", "message": heard } }).to_string();
            let head =
                format!("HTTP/1.1 404 Not Found\r\nconnection: close\r\ncontent-length: {}\r\n\r\n", error.len());
            let _ = stream.write_all((head + &error).as_bytes());
        }
    });
    root
}

#[tokio::test]
async fn a_service_that_repeats_the_key_is_not_quoted() {
    let folder = tempfile::tempdir().unwrap();
    let key = "0123456789abcdef".repeat(4);
    let profile = Profile { user: None, ..Profile::demo(parrot(), String::new()) };
    let gate = gate(&folder.path().join("behaview.db"), profile, &key);
    for request in each_operation() {
        let error = visit::ask(&gate, &request).await.unwrap_err();
        assert!(words(&error).contains("404"), "what happened is said: {error}");
        assert!(!words(&error).contains(&key), "{error}");
    }
    assert_eq!(files_with(&key, folder.path()), [""; 0]);
}

/// A service that answers every call with the same bytes.
fn repeating(answer: String) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let root = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for mut stream in listener.incoming().map_while(Result::ok) {
            let _ = stream.read(&mut [0; 4096]);
            let head = format!("HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: {}\r\n\r\n", answer.len());
            let _ = stream.write_all((head + &answer).as_bytes());
        }
    });
    root
}

/// A gate to a service that answers so, with the store in a folder.
fn gate_to(answer: String, folder: &Path, key: &str) -> behaview::gate::Gate {
    let profile = Profile { user: None, ..Profile::demo(repeating(answer), String::new()) };
    gate(&folder.join("behaview.db"), profile, key)
}

const KEY: &str = "Zq7hT2mXv9LbR4cKw8Np3sYd6fGj5uAe1iQo0xBn4rHt7zMv";

#[tokio::test]
async fn an_answer_that_repeats_the_key_in_its_words_is_refused() {
    let file = dropper();
    let spelled = |form: fn(u8) -> String| KEY.bytes().map(form).collect::<String>();
    let forms = [
        KEY.to_owned(),
        KEY.to_ascii_uppercase(),
        spelled(|byte| format!("%{byte:02X}")),
        spelled(|byte| format!("\\u{byte:04x}")),
        spelled(|byte| format!("{byte:02x}")),
    ];
    for (request, answer) in [
        (first_report(), r#"{"data":{"id":"KEY","type":"file_behaviour","attributes":{"tags":["T"]}}}"#),
        (list(&file), r#"{"data":[{"id":"FILE_KEY-1700000000","attributes":{"tags":["T"]}}]}"#),
        (list(&file), r#"{"data":[{"id":"FILE_Box-1700000000"}],"meta":{"cursor":"KEY"}}"#),
        (Request::UploadAddress, r#"{"data":"http://KEY.example/up"}"#),
        (Request::PrivateAnalyses { file: file.clone() }, r#"{"data":[{"id":"KEY","type":"private_analysis"}]}"#),
        (Request::Quotas, r#"{"data":{"KEY":{"user":{"allowed":5,"used":1}}}}"#),
    ] {
        for form in &forms {
            let folder = tempfile::tempdir().unwrap();
            let gate = gate_to(answer.replace("FILE", file.as_str()).replace("KEY", form), folder.path(), KEY);
            let error = visit::ask(&gate, &request).await.unwrap_err();
            let words = words(&error);
            assert!(words.contains("it repeats the key"), "{answer}: {words}");
            for form in [form, KEY] {
                assert!(!words.to_ascii_lowercase().contains(&form.to_ascii_lowercase()), "{answer}: {words}");
                assert_eq!(files_with(form, folder.path()), [""; 0]);
            }
            assert!(gate.held(&request).unwrap().is_none(), "{answer}");
        }
    }
}

#[tokio::test]
async fn a_report_of_what_a_file_knew_is_kept_as_it_is() {
    let Request::Behaviour { identifier } = first_report() else { panic!() };
    let id = std::str::from_utf8(identifier.as_bytes()).unwrap();
    let answer = format!(
        r#"{{"data":{{"id":"{id}","type":"file_behaviour","attributes":{{"command_executions":["tool --key {KEY}"]}}}}}}"#
    );
    let folder = tempfile::tempdir().unwrap();
    let gate = gate_to(answer.clone(), folder.path(), KEY);
    visit::ask(&gate, &first_report()).await.unwrap();
    assert_eq!(gate.held(&first_report()).unwrap().unwrap().body.whole().unwrap(), answer.as_bytes());
}
