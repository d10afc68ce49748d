//! API v2 about several hashes at once: each is stored, priced and settled by itself.

use super::*;
use behaview::quota::Entitlements;
use behaview::report::identifier::FileHash;

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
    assert_eq!(visit.charged(), 5);
}
