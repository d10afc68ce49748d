//! API v2 about several hashes at once: each is stored, priced and settled by itself.

use super::secrets::gate_to;
use super::*;
use crate::faults::arm;
use behaview::quota::Entitlements;
use behaview::report::identifier::FileHash;
use behaview::store::NewResponse;

pub fn hash(number: usize) -> FileHash {
    FileHash::parse(&Demo::public_files()[number].sha256).unwrap()
}

async fn charged_for(harness: &GatewayHarness, request: &Request) -> (u64, serde_json::Value) {
    let before = harness.charged();
    let quote = request.clone().quote(&Entitlements::default());
    let answer = harness.gateway.get(&quote, &|_| {}).await.unwrap();
    let spent = harness.gateway.spent().unwrap().total();
    assert!(spent >= harness.charged(), "{spent} {}", harness.charged());
    (harness.charged() - before, serde_json::from_slice(&answer.body).unwrap())
}

#[tokio::test]
async fn stored_hash_is_not_requested_in_another_set() {
    let harness = GatewayHarness::begin().await;
    let reports = |numbers: &[usize]| Request::V2Reports { files: numbers.iter().map(|n| hash(*n)).collect() };
    let (charged, first) = charged_for(&harness, &reports(&[0, 1])).await;
    assert_eq!((charged, first.as_array().map(Vec::len)), (2, Some(2)));
    // What is not final comes from the service each time, beside what is stored.
    for spent in [3, 4] {
        arm(&harness.demo, "v2-report:queued*1");
        let (charged, found) = charged_for(&harness, &reports(&[0, 2])).await;
        assert_eq!((charged, found.as_array().unwrap().len(), harness.charged()), (1, 2, spent));
    }
    for (numbers, price) in [(&[1, 0][..], 0), (&[0], 0), (&[0, 1, 2], 1), (&[2, 1, 0], 0)] {
        let (charged, found) = charged_for(&harness, &reports(numbers)).await;
        assert_eq!(charged, price, "{numbers:?}");
        let found = if numbers.len() == 1 { vec![found] } else { found.as_array().unwrap().clone() };
        let resources = found.iter().map(|one| one["resource"].as_str().unwrap().to_owned());
        let sent: Vec<_> = numbers.iter().map(|n| hash(*n).as_str().to_owned()).collect();
        assert_eq!(resources.collect::<Vec<_>>(), sent);
    }
    assert_eq!(harness.gateway.spent().unwrap().total(), harness.charged());
    // Asked once more on purpose, all of it is.
    let quote = reports(&[0, 1]).quote(&Entitlements::default());
    harness.gateway.fetch(&quote, &|_| {}).await.unwrap();
    assert_eq!(harness.charged(), 7);
}

#[tokio::test]
async fn final_responses_are_stored_and_all_are_charged() {
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
        let found = harness::fetch(&gateway, &request).await.unwrap();
        assert_eq!(
            (bytes(&found), gateway.stored(&request).unwrap().is_some()),
            (answer.clone().into_bytes(), is_stored)
        );
        assert!(found.remark.unwrap_or_default().starts_with(remark), "{answer}");
        assert_eq!(gateway.spent().unwrap().to_string(), spent, "{answer}");
    }
}

#[tokio::test]
async fn hash_skipped_by_the_service_is_named() {
    let (folder, [one, two]) = (tempfile::tempdir().unwrap(), [0, 1].map(hash));
    let element = |file: &FileHash| format!(r#"{{"resource":"{}"}}"#, file.as_str());
    let gateway = gate_to("[]".to_owned(), folder.path(), "AKeyOfAServiceThatPassesOver0123456789");
    let (key, stored) = (format!("v2-report {}", one.as_str()).into_bytes(), element(&one).into_bytes());
    let (service, received) = (&*gateway.service, gateway.now());
    let new = NewResponse { service, profile: "lab", key: &key, received, bytes: &stored, imported: None };
    gateway.store.write_response(&new).and_then(|()| gateway.store.move_read(&new, &[], true)).unwrap();
    let quote = Request::V2Reports { files: vec![two.clone(), one.clone()] }.quote(&harness::licensed());
    let answer = gateway.get(&quote, &|_| {}).await.unwrap();
    assert_eq!(String::from_utf8(bytes(&answer)).unwrap(), format!("[{}]", element(&one)));
    assert!(answer.is_partial && answer.remark.unwrap().contains(two.as_str()));
}

#[tokio::test]
async fn more_hashes_than_confirmed_are_not_requested() {
    let harness = GatewayHarness::begin().await;
    let all = || Request::V2Reports { files: (0..3).map(hash).collect() };
    charged_for(&harness, &Request::V2Reports { files: vec![hash(0), hash(1)] }).await;
    let quote = all().quote(&harness::licensed());
    let missing = harness.gateway.missing_hashes(&all()).unwrap();
    let agreed = quote.clone().at(quote.clone().of_missing(missing).price().clone());
    assert_eq!(agreed.price().verdict.units.max, Some(1));
    // Between price and key they become unreadable, or another program deletes them.
    harness.files("reports").iter().for_each(|path| std::fs::write(path, "damaged").unwrap());
    assert!(matches!(harness.gateway.get(&agreed, &|_| {}).await, Err(GatewayError::NotStored)));
    assert!(harness.gateway.unreadable(&all()).unwrap().unwrap().starts_with("an unreadable response of"));
    assert_eq!((harness.gateway.missing_hashes(&all()), harness.charged()), (None, 2));
    assert!(harness.gateway.get(&quote, &|_| {}).await.is_ok() && harness.charged() == 5);
}

#[tokio::test]
async fn wrong_subject_is_charged_and_quarantined() {
    let (other, report) = ("b".repeat(64), first_report());
    let Request::Behaviour { identifier } = &report else { panic!("that is a report") };
    let data = format!(r#""data":{{"id":"{}","attributes":{{"tags":["A"]}}"#, identifier.text().unicode());
    let analysis = Request::Analysis { identifier: Identifier::new(Untrusted::from("i")).unwrap() };
    let by_hash = |answer: &str| answer.replace('B', &other);
    for (request, answer) in [
        (Request::File { file: hash(0) }, by_hash(r#"{"data":{"id":"B","type":"file"}}"#)),
        (Request::File { file: hash(0) }, by_hash(r#"{"data":{"id":"x","attributes":{"sha256":"B"}}}"#)),
        (Request::V2Reports { files: vec![hash(0)] }, by_hash(r#"{"response_code":1,"resource":"B"}"#)),
        (Request::V2Submissions { files: vec![hash(0)] }, by_hash(r#"[{"sha256":"B","submissions":[1]}]"#)),
        (analysis, r#"{"data":{"id":"j","attributes":{"status":"completed"}}}"#.to_owned()),
        (report.clone(), format!(r#"{{{data}}},"error":{{"code":"QuotaExceededError"}}}}"#)),
        (report.clone(), format!(r#"{{{data},"error":{{"code":"QuotaExceededError"}}}}}}"#)),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let gateway = gate_to(answer.clone(), folder.path(), "a-key-of-this-test");
        super::artifacts::unusable(&harness::fetch(&gateway, &request).await);
        assert!(gateway.stored(&request).unwrap().is_none(), "{answer}");
        assert_eq!(
            gateway.store.inventory().unwrap().iter().filter(|stored| stored.is_unread()).count(),
            1,
            "{answer}"
        );
        assert_eq!(gateway.spent().unwrap().total(), 1, "{answer}");
    }
    let (folder, error) = (tempfile::tempdir().unwrap(), r#""error":{"code":"QuotaExceededError"}}}"#);
    let gateway = gate_to(format!(r#"{{"data":{{"id":"x",{error}"#), folder.path(), "a-key-of-this-test");
    assert_eq!(refusal(harness::fetch(&gateway, &report).await), ApiErrorKind::QuotaSpent);
    assert_eq!(gateway.spent().unwrap().total(), 1);
}
