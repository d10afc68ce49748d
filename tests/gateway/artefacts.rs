//! Artifacts: paid once, stored when they are whole, and lost as any other answer is.

use crate::faults::arm;
use std::sync::Mutex;

use behaview::gateway::{Gateway, Received};
use behaview::request::Artefact;
use behaview::service::error::Unusable;

use super::*;

const LENGTH: usize = 6 << 20;

fn artefact(artefact: Artefact) -> Request {
    let Request::Behaviour { identifier } = first_report() else { panic!("that is a report") };
    Request::Artefact { identifier, artefact }
}

fn memory() -> Request {
    artefact(Artefact::Memdump)
}

/// Asks, and says at which byte the first piece ended.
async fn ask_from(visit: &Visit, request: &Request) -> (Result<Answer, GatewayError>, u64) {
    let first = Mutex::new(None);
    let progress = |received| {
        let Received::Bytes { bytes, .. } = received else { panic!("an artefact has no rows") };
        first.lock().unwrap().get_or_insert(bytes);
    };
    let quote = request.clone().quote(&visit::licensed());
    let answer = visit.gateway.get(&quote, &progress).await;
    let first = first.into_inner().unwrap().unwrap_or(0);
    (answer, first)
}

pub fn unusable(result: &Result<Answer, GatewayError>) -> &Unusable {
    match result {
        Err(GatewayError::Service { error: ServiceError::Unusable(why), .. }) => why,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn what_breaks_off_is_lost_and_is_not_asked_for_again_by_itself() {
    let visit = Visit::begin().await;
    arm(&visit.demo, "artefact:cut=1000*1");
    let (lost, _) = ask_from(&visit, &memory()).await;
    assert!(matches!(lost, Err(GatewayError::Service { error: ServiceError::Lost(_), .. })), "{lost:?}");
    assert_eq!((visit.calls(), visit.gateway.spent().unwrap()), (1, Spent { unsure: 1, ..Spent::default() }));
    assert_eq!(visit.held(&memory()), None);
    assert_eq!(bytes(&ask_from(&visit, &memory()).await.0.unwrap()).len(), LENGTH);
    assert!(visit.gateway.spent().unwrap().total() >= visit.charged());
}

#[tokio::test]
async fn what_is_no_artefact_is_never_held() {
    for (fault, wanted) in [("portal", Unusable::WebPage), ("empty", Unusable::Cut)] {
        let visit = Visit::begin().await;
        arm(&visit.demo, &format!("artefact:{fault}*1"));
        let (first, _) = ask_from(&visit, &memory()).await;
        assert_eq!(*unusable(&first), wanted, "{fault}");
        assert_eq!(visit.held(&memory()), None);
        assert_eq!(bytes(&ask_from(&visit, &memory()).await.0.unwrap()).len(), LENGTH, "{fault}");
    }
}

#[tokio::test]
async fn refusals_keep_nothing_and_say_what_they_cost() {
    for (fault, wanted) in
        [("503", Reason::Down), ("429-quota", Reason::QuotaSpent), ("redirect=http://127.0.0.1:1/", Reason::Redirected)]
    {
        let visit = Visit::begin().await;
        arm(&visit.demo, &format!("artefact:{fault}*1"));
        let (result, _) = ask_from(&visit, &memory()).await;
        assert_eq!(refusal(result), wanted, "{fault}");
        assert_eq!(bytes(&ask_from(&visit, &memory()).await.0.unwrap()).len(), LENGTH);
    }
}

/// A service that gives a capture bit by bit: of each call it says the head and the body, and hears which bytes were asked for.
fn in_bits(answers: Vec<(String, Vec<u8>)>) -> (String, std::sync::Arc<Mutex<Vec<String>>>) {
    use std::io::{Read, Write};
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let root = format!("http://{}", listener.local_addr().unwrap());
    let heard = std::sync::Arc::new(Mutex::new(Vec::new()));
    let hears = std::sync::Arc::clone(&heard);
    std::thread::spawn(move || {
        for (stream, (head, body)) in listener.incoming().zip(answers) {
            let (mut stream, mut asked) = (stream.unwrap(), vec![0; 8192]);
            let length = stream.read(&mut asked).unwrap();
            let asked = String::from_utf8_lossy(&asked[..length]).into_owned();
            let ranges: Vec<_> = asked.lines().filter(|line| line.contains("range: ")).collect();
            hears.lock().unwrap().push(if ranges.is_empty() { "all".to_owned() } else { ranges.join(", ") });
            let _ =
                stream.write_all(&[format!("HTTP/1.1 {head}\r\nconnection: close\r\n\r\n").as_bytes(), &body].concat());
        }
    });
    (root, heard)
}

const KEY: &str = "Sekrit-0123456789abcdefXYZ_qqqqqqqqqq";

fn capture(answers: Vec<(String, Vec<u8>)>) -> (tempfile::TempDir, Gateway, std::sync::Arc<Mutex<Vec<String>>>) {
    let folder = tempfile::tempdir().unwrap();
    let (root, heard) = in_bits(answers);
    let profile = Profile { user: None, ..Profile::demo(root, String::new()) };
    let gateway = gateway(&folder.path().join("store"), profile, KEY);
    (folder, gateway, heard)
}

#[tokio::test]
async fn a_report_that_ends_within_the_key_is_cut_before_it() {
    let report = format!(r#"{{"data":{{"id":"x","attributes":{{"tags":["{}"#, &KEY[..KEY.len() - 1]).into_bytes();
    let chunked = [format!("{:x}\r\n", report.len()).as_bytes(), &report, b"\r\n0\r\n\r\n"].concat();
    for (head, body) in [
        (format!("200 OK\r\ncontent-length: {}", report.len()), report.clone()),
        ("200 OK\r\ntransfer-encoding: chunked".to_owned(), chunked),
    ] {
        let (folder, gateway, _) = capture(vec![(head.clone(), body)]);
        assert_eq!(*unusable(&visit::ask(&gateway, &first_report()).await), Unusable::Cut, "{head}");
        let kept = std::fs::read_dir(folder.path().join("store/unread")).unwrap().next().unwrap().unwrap();
        let kept = zstd::decode_all(std::fs::File::open(kept.path()).unwrap()).unwrap();
        assert!(memchr::memmem::find(&kept, &KEY.as_bytes()[..4]).is_none(), "{head}");
    }
}

#[tokio::test]
async fn a_part_of_a_capture_is_not_stored() {
    let head = "206 Partial\r\ncontent-range: bytes 0-3/9000\r\ncontent-length: 4".to_owned();
    let (_folder, gateway, _) = capture(vec![(head, b"part".to_vec())]);
    assert_eq!(refusal(visit::ask(&gateway, &memory()).await), Reason::Other);
    assert!(gateway.stored(&memory()).unwrap().is_none() && gateway.spent().unwrap().total() == 1);
}

#[tokio::test]
async fn only_what_begins_as_a_page_is_one_and_no_error_of_the_services_is_a_file() {
    let page = |begin: &str| format!("{begin}<html><title>login</title></html>").into_bytes();
    for (body, wanted) in [
        (page("\u{feff}\r\n <!-- a proxy -->\n"), Some(Unusable::WebPage)),
        (page("<?xml version=\"1.0\"?>\n<!DOCTYPE html>"), Some(Unusable::WebPage)),
        (br#" {"error":{"code":"TransientError","message":"later"}}"#.to_vec(), None),
        (br#"[{"error":{"code":"TransientError"}}]"#.to_vec(), None),
        (page("\u{1}HTTP/1.1 200 OK\r\n\r\n"), None),
        (br#"{"errors": "a note that was in memory"}"#.to_vec(), None),
    ] {
        let head = format!("200 OK\r\ncontent-length: {}", body.len());
        let (_folder, gateway, _) = capture(vec![(head, body.clone())]);
        let taken = visit::ask(&gateway, &artefact(Artefact::Pcap)).await;
        match wanted {
            None if memchr::memmem::find(&body, b"Transient").is_some() => assert_eq!(refusal(taken), Reason::Down),
            Some(wanted) => assert_eq!(*unusable(&taken), wanted),
            None => assert_eq!(bytes(&taken.unwrap()), body),
        }
    }
}
