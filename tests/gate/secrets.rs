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
