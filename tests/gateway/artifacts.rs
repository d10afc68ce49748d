//! Artifacts: paid once, stored when they are whole, and lost as any other answer is.

use crate::faults::arm;
use behaview::gateway::Gateway;
use behaview::request::Artifact;
use behaview::service::error::InvalidResponse;

use super::answering::answering;
use super::secrets::gateway_to;
use super::*;

const LENGTH: usize = 6 << 20;

pub fn artifact(artifact: Artifact) -> Request {
    let Request::Behaviour { identifier } = first_report() else { panic!("that is a report") };
    Request::Artifact { identifier, artifact }
}

fn memory() -> Request {
    artifact(Artifact::Memdump)
}

pub fn unusable(result: &Result<StoredResponse, GatewayError>) -> &InvalidResponse {
    match result {
        Err(GatewayError::Service { error: ServiceError::Unusable(why), .. }) => why,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn failed_artifact_is_not_stored_and_can_be_retried() {
    for (fault, why) in [
        ("cut=1000", "Lost("),
        ("portal", "Unusable(WebPage)"),
        ("empty", "Unusable(Cut)"),
        ("503", "reason: Down"),
        ("429-quota", "reason: QuotaSpent"),
        ("redirect=http://127.0.0.1:1/", "reason: Redirected"),
    ] {
        let harness = GatewayHarness::begin().await;
        arm(&harness.demo, &format!("artifact:{fault}*1"));
        let error = harness.fetch(&memory()).await.unwrap_err();
        assert!(format!("{error:?}").contains(why), "{fault}: {error:?}");
        assert_eq!(
            (harness.calls(), harness.gateway.spent().unwrap()),
            (1, SpentUnits { unsure: 1, ..SpentUnits::default() })
        );
        assert_eq!(harness.stored(&memory()), None);
        assert_eq!(bytes(&harness.fetch(&memory()).await.unwrap()).len(), LENGTH, "{fault}");
        assert!(harness.gateway.spent().unwrap().total() >= harness.charged());
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
        assert_eq!(*unusable(&harness::fetch(&gateway, &first_report()).await), InvalidResponse::Cut, "{head}");
        let kept = std::fs::read_dir(folder.path().join("store/unread")).unwrap().next().unwrap().unwrap();
        let kept = zstd::decode_all(std::fs::File::open(kept.path()).unwrap()).unwrap();
        assert!(memchr::memmem::find(&kept, &KEY.as_bytes()[..4]).is_none(), "{head}");
    }
}

#[tokio::test]
async fn a_part_of_a_capture_is_not_stored() {
    let head = "206 Partial\r\ncontent-range: bytes 0-3/9000".to_owned();
    let (_folder, gateway) = capture(head, b"part".to_vec());
    assert_eq!(refusal(harness::fetch(&gateway, &memory()).await), ApiErrorKind::Other);
    assert!(gateway.stored(&memory()).unwrap().is_none() && gateway.spent().unwrap().total() == 1);
}

#[tokio::test]
async fn only_web_pages_and_errors_are_no_artifact() {
    let page = |begin: &str| format!("{begin}<html><title>login</title></html>").into_bytes();
    for (body, wanted) in [
        (page("\u{feff}\r\n <!-- a proxy -->\n"), Some(InvalidResponse::WebPage)),
        (page("<?xml version=\"1.0\"?>\n<!DOCTYPE html>"), Some(InvalidResponse::WebPage)),
        (br#" {"error":{"code":"TransientError","message":"later"}}"#.to_vec(), None),
        (br#"[{"error":{"code":"TransientError"}}]"#.to_vec(), None),
        (page("\u{1}HTTP/1.1 200 OK\r\n\r\n"), None),
        (br#"{"errors": "a note that was in memory"}"#.to_vec(), None),
    ] {
        let (_folder, gateway) = capture("200 OK".to_owned(), body.clone());
        let taken = harness::fetch(&gateway, &artifact(Artifact::Pcap)).await;
        match wanted {
            None if memchr::memmem::find(&body, b"Transient").is_some() => {
                assert_eq!(refusal(taken), ApiErrorKind::Down)
            }
            Some(wanted) => assert_eq!(*unusable(&taken), wanted),
            None => assert_eq!(bytes(&taken.unwrap()), body),
        }
    }
}
