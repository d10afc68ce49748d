//! API v2 about several hashes at once: each is stored, priced and settled by itself.

use super::secrets::gate_to;
use super::*;
use crate::faults::arm;
use behaview::quota::Entitlements;
use behaview::report::identifier::FileHash;
use behaview::store::NewAnswer;

pub fn hash(number: usize) -> FileHash {
    FileHash::parse(&Demo::public_files()[number].sha256).unwrap()
}

async fn charged_for(visit: &Visit, request: &Request) -> (u64, serde_json::Value) {
    let before = visit.charged();
    let quote = request.clone().quote(&Entitlements::default());
    let answer = visit.gateway.get(&quote, &|_| {}).await.unwrap();
    let spent = visit.gateway.spent().unwrap().total();
    assert!(spent >= visit.charged(), "{spent} {}", visit.charged());
    (visit.charged() - before, serde_json::from_slice(&answer.body).unwrap())
}

#[tokio::test]
async fn a_hash_whose_report_is_stored_is_not_asked_for_in_another_set() {
    let visit = Visit::begin().await;
    let reports = |numbers: &[usize]| Request::V2Reports { files: numbers.iter().map(|n| hash(*n)).collect() };
    let (charged, first) = charged_for(&visit, &reports(&[0, 1])).await;
    assert_eq!((charged, first.as_array().map(Vec::len)), (2, Some(2)));
    // What is not final comes from the service each time, beside what is stored.
    for spent in [3, 4] {
        arm(&visit.demo, "v2-report:queued*1");
        let (charged, found) = charged_for(&visit, &reports(&[0, 2])).await;
        assert_eq!((charged, found.as_array().unwrap().len(), visit.charged()), (1, 2, spent));
    }
    for (numbers, price) in [(&[1, 0][..], 0), (&[0], 0), (&[0, 1, 2], 1), (&[2, 1, 0], 0)] {
        let (charged, found) = charged_for(&visit, &reports(numbers)).await;
        assert_eq!(charged, price, "{numbers:?}");
        let found = if numbers.len() == 1 { vec![found] } else { found.as_array().unwrap().clone() };
        let resources = found.iter().map(|one| one["resource"].as_str().unwrap().to_owned());
        let asked: Vec<_> = numbers.iter().map(|n| hash(*n).as_str().to_owned()).collect();
        assert_eq!(resources.collect::<Vec<_>>(), asked);
    }
    assert_eq!(visit.gateway.spent().unwrap().total(), visit.charged());
    // Asked once more on purpose, all of it is.
    let quote = reports(&[0, 1]).quote(&Entitlements::default());
    visit.gateway.ask(&quote, &|_| {}).await.unwrap();
    assert_eq!(visit.charged(), 7);
}

#[tokio::test]
async fn only_a_final_answer_is_stored_and_what_came_is_counted() {
    let analysis = || Request::Analysis { identifier: Identifier::new(Untrusted::from("i")).unwrap() };
    let reports = || Request::V2Reports { files: vec![hash(0)] };
    for (request, answer, is_stored, remark, spent) in [
        (reports(), r#"{"response_code":-2}"#, false, "is not final", "1"),
        (analysis(), r#"{"data":{"id":"i","attributes":{"status":"queued"}}}"#, false, "is not final", "1"),
        (analysis(), r#"{"data":{"id":"i","attributes":{"status":"completed"}}}"#, true, "", "1"),
        (analysis(), r#"{"data":{"id":"i","n":01}}"#, true, "is not valid JSON", "1"),
        (Request::V2Submissions { files: vec![hash(0)] }, r#"[{"resource":"A","submissions":[1,2,3]}]"#, true, "", "3"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let answer = answer.replace('A', hash(0).as_str());
        let gateway = super::secrets::gate_to(answer.clone(), folder.path(), "a-key-of-this-test");
        let found = visit::ask(&gateway, &request).await.unwrap();
        assert_eq!(
            (bytes(&found), gateway.stored(&request).unwrap().is_some()),
            (answer.clone().into_bytes(), is_stored)
        );
        assert!(found.remark.unwrap_or_default().starts_with(remark), "{answer}");
        assert_eq!(gateway.spent().unwrap().to_string(), spent, "{answer}");
    }
}

#[tokio::test]
async fn a_hash_that_the_service_passes_over_is_named() {
    let (folder, [one, two]) = (tempfile::tempdir().unwrap(), [0, 1].map(hash));
    let element = |file: &FileHash| format!(r#"{{"resource":"{}"}}"#, file.as_str());
    let gateway = gate_to("[]".to_owned(), folder.path(), "AKeyOfAServiceThatPassesOver0123456789");
    let (key, stored) = (format!("v2-report {}", one.as_str()).into_bytes(), element(&one).into_bytes());
    let (service, received) = (&*gateway.service, gateway.now());
    let new = NewAnswer { service, profile: "lab", key: &key, received, bytes: &stored, imported: None };
    gateway.store.keep(&new).and_then(|()| gateway.store.move_read(&new, &[], true)).unwrap();
    let quote = Request::V2Reports { files: vec![two.clone(), one.clone()] }.quote(&visit::licensed());
    let answer = gateway.get(&quote, &|_| {}).await.unwrap();
    assert_eq!(String::from_utf8(bytes(&answer)).unwrap(), format!("[{}]", element(&one)));
    assert!(answer.is_partial && answer.remark.unwrap().contains(two.as_str()));
}
