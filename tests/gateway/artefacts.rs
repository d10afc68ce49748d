//! Artifacts: paid once, stored when they are whole, and lost as any other answer is.

use crate::faults::arm;
use behaview::gateway::Gateway;
use behaview::request::Artefact;
use behaview::service::error::Unusable;

use super::answering::answering;
use super::secrets::gateway_to;
use super::*;

const LENGTH: usize = 6 << 20;

pub fn artefact(artefact: Artefact) -> Request {
    let Request::Behaviour { identifier } = first_report() else { panic!("that is a report") };
    Request::Artefact { identifier, artefact }
}

fn memory() -> Request {
    artefact(Artefact::Memdump)
}

pub fn unusable(result: &Result<Answer, GatewayError>) -> &Unusable {
    match result {
        Err(GatewayError::Service { error: ServiceError::Unusable(why), .. }) => why,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn what_is_lost_refused_or_no_artefact_is_not_held_and_can_be_asked_again() {
    for (fault, why) in [
        ("cut=1000", "Lost("),
        ("portal", "Unusable(WebPage)"),
        ("empty", "Unusable(Cut)"),
        ("503", "reason: Down"),
        ("429-quota", "reason: QuotaSpent"),
        ("redirect=http://127.0.0.1:1/", "reason: Redirected"),
    ] {
        let visit = Visit::begin().await;
        arm(&visit.demo, &format!("artefact:{fault}*1"));
        let error = visit.ask(&memory()).await.unwrap_err();
        assert!(format!("{error:?}").contains(why), "{fault}: {error:?}");
        assert_eq!((visit.calls(), visit.gateway.spent().unwrap()), (1, Spent { unsure: 1, ..Spent::default() }));
        assert_eq!(visit.held(&memory()), None);
        assert_eq!(bytes(&visit.ask(&memory()).await.unwrap()).len(), LENGTH, "{fault}");
        assert!(visit.gateway.spent().unwrap().total() >= visit.charged());
    }
}

const KEY: &str = "Sekrit-0123456789abcdefXYZ_qqqqqqqqqq";

/// A gateway to a service that answers so, whatever it is asked.
fn capture(head: String, body: Vec<u8>) -> (tempfile::TempDir, Gateway) {
    let folder = tempfile::tempdir().unwrap();
    let gateway = gateway_to(answering(head, move |_| body.clone()), folder.path(), KEY);
    (folder, gateway)
}

#[tokio::test]
async fn a_report_that_ends_within_the_key_is_cut_before_it() {
    let report = format!(r#"{{"data":{{"id":"x","attributes":{{"tags":["{}"#, &KEY[..KEY.len() - 1]).into_bytes();
    let chunked = [format!("{:x}\r\n", report.len()).as_bytes(), &report, b"\r\n0\r\n\r\n"].concat();
    for (head, body) in
        [("200 OK".to_owned(), report.clone()), ("200 OK\r\ntransfer-encoding: chunked".to_owned(), chunked)]
    {
        let (folder, gateway) = capture(head.clone(), body);
        assert_eq!(*unusable(&visit::ask(&gateway, &first_report()).await), Unusable::Cut, "{head}");
        let kept = std::fs::read_dir(folder.path().join("store/unread")).unwrap().next().unwrap().unwrap();
        let kept = zstd::decode_all(std::fs::File::open(kept.path()).unwrap()).unwrap();
        assert!(memchr::memmem::find(&kept, &KEY.as_bytes()[..4]).is_none(), "{head}");
    }
}

#[tokio::test]
async fn a_part_of_a_capture_is_not_stored() {
    let head = "206 Partial\r\ncontent-range: bytes 0-3/9000".to_owned();
    let (_folder, gateway) = capture(head, b"part".to_vec());
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
        let (_folder, gateway) = capture("200 OK".to_owned(), body.clone());
        let taken = visit::ask(&gateway, &artefact(Artefact::Pcap)).await;
        match wanted {
            None if memchr::memmem::find(&body, b"Transient").is_some() => assert_eq!(refusal(taken), Reason::Down),
            Some(wanted) => assert_eq!(*unusable(&taken), wanted),
            None => assert_eq!(bytes(&taken.unwrap()), body),
        }
    }
}
