//! Private scans: what is uploaded and where to, what it counts as, how far it is, and its end.

use crate::faults::arm;
use std::io::{ErrorKind, Read, Write};
use std::net::TcpListener;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use behaview::gateway::{Received, hash_file};
use behaview::quota::Entitlements;
use behaview::report::analysis::{submitted, upload_address};
use behaview::request::{ScanOption, ScanOptions, Submission, UploadAddress};

use super::*;

/// A file of so many bytes that say nothing, in the visit's folder.
fn file(harness: &GatewayHarness, name: &str, size: usize) -> PathBuf {
    let path = harness.folder().join(name);
    std::fs::write(&path, (0..size).map(|n| (n * 7 % 251) as u8).collect::<Vec<_>>()).unwrap();
    path
}

fn submission(path: PathBuf, options: ScanOptions) -> Arc<Submission> {
    let (file, size) = hash_file(&path, u64::MAX).unwrap();
    Arc::new(Submission { path, file, size, options, sent: None })
}

fn scan(submission: &Arc<Submission>, to: Option<UploadAddress>) -> Request {
    Request::PrivateScan { submission: Arc::clone(submission), to }
}

fn small(harness: &GatewayHarness) -> Arc<Submission> {
    submission(file(harness, "sample.bin", 70_000), ScanOptions::default())
}

/// Private scans that the service counted, and those that its calls say.
fn counted(harness: &GatewayHarness) -> u64 {
    let counted = harness.demo.used().scans - behaview::demo::SCANS_SPENT;
    assert_eq!(counted, harness.demo.seen().iter().map(|call| call.scans).sum::<u64>());
    counted
}

/// An address that the service hands out.
async fn address(harness: &GatewayHarness) -> UploadAddress {
    let answer = harness.fetch(&Request::UploadAddress).await.unwrap();
    UploadAddress::new(upload_address(&bytes(&answer)).unwrap())
}

#[tokio::test]
async fn upload_arrives_intact_with_its_options() {
    let harness = GatewayHarness::begin().await;
    let values = ["CAPE", "no", "7", "-a \"b c\"", "hunter2-hunter2", "eu", "yes", "ES_ES", "60", "off"];
    let mut options = ScanOptions::default();
    ScanOption::ALL.into_iter().zip(values).for_each(|(option, value)| options.set(option, value).unwrap());
    let submission = submission(file(&harness, "a sample.bin", 700_000), options);
    let told = Mutex::new(Vec::new());
    let progress = |received| match received {
        Received::Bytes { bytes, total } => told.lock().unwrap().push((bytes, total)),
        other => panic!("{other:?} is no part of an upload"),
    };
    let quote = scan(&submission, None).quote(&Entitlements::default());
    assert_eq!((quote.price().short().as_str(), quote.price().basis.name()), ("1 scan", "documented"));
    let answer = harness.gateway.fetch(&quote, &progress).await.unwrap();
    assert!(submitted(&bytes(&answer)).is_some());
    let taken = harness.demo.submitted();
    assert_eq!((taken[0].sha256.as_str(), taken[0].size), (submission.file.as_str(), 700_000));
    assert_eq!(taken[0].name, "a sample.bin");
    let expected = [
        ("interaction_sandbox", "CAPE"),
        ("enable_internet", "false"),
        ("retention_period_days", "7"),
        ("command_line", "-a \"b c\""),
        ("password", "hunter2-hunter2"),
        ("storage_region", "EU"),
        ("intercept_tls", "true"),
        ("locale", "ES_ES"),
        ("interaction_timeout", "60"),
        ("disable_sandbox", "false"),
    ];
    assert_eq!(taken[0].fields, expected.map(|(name, value)| (name.to_owned(), value.to_owned())));
    let told = told.into_inner().unwrap();
    assert_eq!((told[0], told[told.len() - 1]), ((0, Some(700_000)), (700_000, Some(700_000))));
    assert!(told.is_sorted() && told.len() > 2, "{told:?}");
    assert_eq!((counted(&harness), harness.charged()), (1, 0));
    assert_eq!(harness.gateway.spent().unwrap().charged, 1);
    // The password is in no file of this machine's.
    let store = std::fs::read(harness.gateway.store.path()).unwrap();
    assert!(memchr::memmem::find(&store, b"hunter2-hunter2").is_none());
    assert_eq!(harness.count("SELECT COUNT(*) FROM ledger WHERE what LIKE '%hunter2%'"), 0);
}

#[tokio::test]
async fn file_name_cannot_break_the_multipart_form() {
    for name in ["a\r\nX-Evil: 1\r\n\r\nb", "a\nb", "a\"; name=\"command_line", "a\x1b]0;b\x07"] {
        let harness = GatewayHarness::begin().await;
        let submission = submission(file(&harness, name, 70_000), ScanOptions::default());
        harness.fetch(&scan(&submission, None)).await.unwrap();
        let taken = harness.demo.submitted();
        assert_eq!((taken[0].sha256.as_str(), taken[0].size), (submission.file.as_str(), 70_000), "{name:?}");
        assert!(!taken[0].name.chars().any(|letter| letter.is_control() || letter == '"'), "{:?}", taken[0].name);
        assert!(taken[0].fields.is_empty(), "{:?}", taken[0].fields);
    }
}

#[tokio::test]
async fn foreign_upload_host_gets_neither_file_nor_key() {
    let harness = GatewayHarness::begin().await;
    let submission = small(&harness);
    let canary = TcpListener::bind("127.0.0.1:0").unwrap();
    canary.set_nonblocking(true).unwrap();
    let port = canary.local_addr().unwrap().port();
    arm(&harness.demo, "upload-url:stranger*1");
    let stranger = address(&harness).await;
    let own = harness.demo.root().trim_start_matches("http://").to_owned();
    let others = [
        format!("http://127.0.0.1:{port}/large/x"),
        format!("http://{own}@127.0.0.1:{port}/large/x"),
        format!("https://{own}/large/x"),
        format!("http://user:secret@{own}/large/x"),
        "file:///etc/passwd".to_owned(),
        "no address".to_owned(),
    ];
    let others = others.iter().map(|text| UploadAddress::new(Untrusted::from(text.as_str())));
    for to in others.chain([stranger]) {
        let calls = harness.calls();
        let error = harness.fetch(&scan(&submission, Some(to.clone()))).await.unwrap_err();
        assert!(words(&error).contains("nothing was uploaded"), "{to:?}: {error}");
        assert_eq!(error.cost().state, State::Unsent, "{error:?}");
        assert_eq!(harness.calls(), calls);
    }
    assert_eq!(canary.accept().map(drop).map_err(|error| error.kind()), Err(ErrorKind::WouldBlock));
    assert_eq!((counted(&harness), harness.gateway.spent().unwrap().charged), (0, 1));
}

#[tokio::test]
async fn configured_upload_host_gets_file_without_key() {
    let files = TcpListener::bind("127.0.0.1:0").unwrap();
    let root = format!("http://{}", files.local_addr().unwrap());
    let harness = GatewayHarness::begin().await;
    let profile = Profile { upload_host: Some(root.clone()), ..GatewayHarness::profile(&harness.demo) };
    let gateway = gateway(&harness.folder().join("other.db"), profile, harness.demo.key());
    let submission = submission(file(&harness, "s.bin", 900), ScanOptions::default());
    let heard = std::thread::spawn(move || {
        let (mut stream, _) = files.accept().unwrap();
        let (mut heard, mut piece) = (Vec::new(), [0; 4096]);
        while !heard.ends_with(b"--\r\n") {
            let read = stream.read(&mut piece).unwrap();
            assert!(read > 0, "it ended early");
            heard.extend_from_slice(&piece[..read]);
        }
        let body = r#"{"data":{"id":"scan-1","type":"private_analysis"}}"#;
        write!(stream, "HTTP/1.1 200 OK\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}", body.len()).unwrap();
        heard
    });
    let to = UploadAddress::new(Untrusted::from(format!("{root}/put/here").as_str()));
    let answer = harness::fetch(&gateway, &scan(&submission, Some(to))).await.unwrap();
    assert_eq!(submitted(&bytes(&answer)).unwrap().as_bytes(), b"scan-1");
    let heard = heard.join().unwrap();
    assert!(heard.starts_with(b"POST /put/here ") && memchr::memmem::find(&heard, b"s.bin").is_some());
    let lower = heard.to_ascii_lowercase();
    assert!(memchr::memmem::find(&lower, b"x-apikey").is_none(), "the key went to another host");
    assert!(memchr::memmem::find(&heard, harness.demo.key().as_bytes()).is_none());
}

#[tokio::test]
async fn a_file_that_has_changed_is_not_sent() {
    let harness = GatewayHarness::begin().await;
    let changes = [
        ("longer", 70_000, 70_001),
        ("shorter", 70_000, 10),
        ("other", 70_000, 70_000),
        ("larger", 700_000, 700_001),
        ("pieces", 700_000, 700_000),
    ];
    for (name, before, size) in changes {
        let submission = submission(file(&harness, name, before), ScanOptions::default());
        std::fs::write(&submission.path, vec![7; size]).unwrap();
        let error = harness.fetch(&scan(&submission, None)).await.unwrap_err();
        assert!(words(&error).contains("changed since it was inspected"), "{name}: {error}");
        assert_eq!(error.cost().state, State::Unsent, "{name}: {error:?}");
    }
    assert_eq!((harness.calls(), harness.gateway.spent().unwrap().total()), (0, 0));
}

#[tokio::test]
async fn file_modified_while_sent_arrives_unchanged() {
    let harness = GatewayHarness::begin().await;
    let path = file(&harness, "written", 20_000_000);
    let submission = submission(path.clone(), ScanOptions::default());
    let quote = scan(&submission, None).quote(&Entitlements::default());
    let is_written = std::sync::atomic::AtomicBool::new(false);
    let write = |received: Received| {
        let is_in_progress = matches!(received, Received::Bytes { bytes, .. } if bytes > 0);
        if is_in_progress && !is_written.swap(true, std::sync::atomic::Ordering::Relaxed) {
            let mut file = std::fs::File::options().write(true).open(&path).unwrap();
            std::io::Seek::seek(&mut file, std::io::SeekFrom::End(-10)).unwrap();
            std::io::Write::write_all(&mut file, b"other data").unwrap();
        }
    };
    harness.gateway.fetch(&quote, &write).await.unwrap();
    assert!(is_written.into_inner());
    assert_eq!(harness.demo.submitted()[0].sha256, submission.file.as_str());
}

#[tokio::test]
async fn an_address_with_the_key_in_it_is_not_used() {
    for told in ["Sekrit-0123456789abcdefXYZ_", "Sekrit-01%32345678%39abcdefX%59Z_"] {
        let heard = Arc::new(Mutex::new(0));
        let hears = Arc::clone(&heard);
        let root = super::answering::answering("200 OK", move |call| {
            *hears.lock().unwrap() += 1;
            let own = call.lines().find_map(|line| line.strip_prefix("host: ")).unwrap();
            format!(r#"{{"data":"http://{own}/up?apikey={told}"}}"#)
        });
        let harness = GatewayHarness::begin().await;
        let gateway = super::secrets::gateway_to(root, &harness.folder().join("other"), "Sekrit-0123456789abcdefXYZ_");
        let answer = harness::fetch(&gateway, &Request::UploadAddress).await.unwrap();
        let to = UploadAddress::new(upload_address(&bytes(&answer)).unwrap());
        let error = harness::fetch(&gateway, &scan(&small(&harness), Some(to))).await.unwrap_err();
        assert!(words(&error).contains("with your key in it"), "{error}");
        assert_eq!(error.cost().state, State::Unsent, "{error:?}");
        assert_eq!((*heard.lock().unwrap(), gateway.spent().unwrap().charged), (1, 1));
    }
}

#[tokio::test]
async fn file_in_submission_elsewhere_is_not_resubmitted() {
    let harness = GatewayHarness::begin().await;
    let small = small(&harness);
    let request = scan(&small, None);
    let third = crate::counted::run("a third", &harness.store(), &harness.demo);
    in_flight::while_another_asks(&harness, &request, async {
        let result = harness::fetch(&third, &request).await;
        assert!(matches!(result, Err(GatewayError::InFlight)), "{result:?}");
    })
    .await;
    // That one ended without an answer: whoever sends it again has to know.
    let refused = harness::fetch(&third, &request).await;
    assert!(matches!(refused, Err(GatewayError::SentBefore(_))), "{refused:?}");
    let sent = Some(jiff::Timestamp::now());
    let knowing = Arc::new(Submission { sent, ..Arc::unwrap_or_clone(small) });
    assert!(harness::fetch(&third, &scan(&knowing, None)).await.is_ok());
}
