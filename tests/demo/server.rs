//! Tests every operation: keys, licence, compression, records of calls, start and end.

use behaview::demo::{Endpoint, Options};

use super::*;

#[tokio::test]
async fn key_is_required_where_each_version_expects_it() {
    let visit = Visit::begin().await;
    let bare =
        async |path: &str| read(visit.client.get(format!("{}{path}", visit.demo.root())).send().await.unwrap()).await;
    let (status, body) = bare(&first_report()).await;
    assert_eq!((status, body["error"]["code"].as_str()), (401, Some("AuthenticationRequiredError")));
    let (status, body) = bare("/svcapi/v2/file/report?resource=a&apikey=wrong").await;
    assert_eq!((status, body["error"]["code"].as_str()), (401, Some("WrongCredentialsError")));
    let wrong = visit.client.get(format!("{}{}", visit.demo.root(), first_report())).header("x-apikey", "wrong");
    assert_eq!(wrong.send().await.unwrap().status(), 401);
    assert_eq!(visit.spent(), 0);
}

#[tokio::test]
async fn without_a_licence_private_endpoints_are_forbidden() {
    let visit = Visit::with(Options { licence: false, ..Options::default() }).await;
    for path in [first_report(), list_path(&dropper()), format!("/private/files/{}", dropper())] {
        let (status, body) = visit.ask(&path).await;
        assert_eq!((status, body["error"]["code"].as_str()), (403, Some("ForbiddenError")));
    }
    let quotas = visit.json(&format!("/users/{}/overall_quotas", visit.demo.user())).await;
    assert_eq!(quotas["data"]["private_scans_monthly"]["user"]["allowed"], 0);
    assert_eq!(visit.spent(), 0);
}

#[tokio::test]
async fn responses_are_gzip_on_request_errors_never() {
    let visit = Visit::begin().await;
    let plain = crate::client().no_gzip().build().unwrap();
    let ask = async |path: &str, encoding: &str| {
        let address = format!("{}{path}", visit.demo.root());
        let request = plain.get(address).header("x-apikey", visit.demo.key()).header("accept-encoding", encoding);
        let response = request.send().await.unwrap();
        (response.headers().get("content-encoding").cloned(), response.bytes().await.unwrap())
    };
    let (encoding, packed) = ask(&first_report(), "gzip").await;
    assert_eq!((encoding.unwrap().as_bytes(), &packed[..2]), (b"gzip".as_slice(), [0x1f, 0x8b].as_slice()));
    let (encoding, whole) = ask(&first_report(), "identity").await;
    assert!(encoding.is_none() && whole.len() > 2 * packed.len());
    assert!(ask("/api/v3/private/file_behaviours/none", "gzip").await.0.is_none());
}

#[tokio::test]
async fn received_calls_are_listed_without_the_key() {
    let visit = Visit::begin().await;
    let key = visit.demo.key();
    let encoded: String = key.bytes().map(|byte| format!("%{byte:02x}")).collect();
    visit.json(&format!("/api/v3/users/{key}/overall_quotas")).await;
    visit.json(&format!("/svcapi/v2/file/report?apikey={key}&resource=1,2")).await;
    visit.ask(&format!("/api/v3/users/{encoded}?a=1&b={encoded}")).await;
    visit.ask("/api/v3/nowhere?apikey=mistyped").await;
    let seen = visit.demo.seen();
    let paths: Vec<_> = seen.iter().map(|call| call.path.as_str()).collect();
    let expected = [
        "/api/v3/users/<key>/overall_quotas",
        "/svcapi/v2/file/report?apikey=<key>&resource=1,2",
        "/api/v3/users/<key>?a=1&b=<key>",
        "/api/v3/nowhere?apikey=<key>",
    ];
    assert_eq!(paths, expected);
    assert_eq!((seen[1].charged, seen[1].endpoint), (2, Some(Endpoint::V2Report)));
    assert_eq!((seen[3].charged, seen[3].endpoint), (0, None));
}
