//! What was paid for once is held, byte for byte, and served for nothing.

use crate::faults::arm;

use super::*;

fn identifiers(file: &Sha256) -> Request {
    Request::Behaviours { file: file.clone(), listing: Listing::Identifiers, cursor: None }
}

#[tokio::test]
async fn missing_stored_response_is_not_fetched() {
    let harness = GatewayHarness::begin().await;
    let quote = first_report().quote(&harness::licensed());
    assert!(matches!(harness.gateway.get_stored(&quote), Err(GatewayError::NotStored)));
    assert_eq!((harness.demo.seen().len(), harness.gateway.spent().unwrap()), (0, SpentUnits::default()));
    let answer = harness.fetch(&first_report()).await.unwrap();
    assert_eq!(bytes(&harness.gateway.get_stored(&quote).unwrap()), bytes(&answer));
    assert_eq!(harness.demo.seen().len(), 1);
}

#[tokio::test]
async fn refetched_report_leaves_list_pages_valid() {
    let harness = GatewayHarness::begin().await;
    let first = Page::of(&harness.fetch(&list(&dropper())).await.unwrap().body).unwrap();
    let Request::Behaviours { file, listing, .. } = list(&dropper()) else { panic!("that is a list") };
    let second = Request::Behaviours { file, listing, cursor: first.end.cursor };
    harness.fetch(&second).await.unwrap();
    let page = harness.stored(&second);
    assert!(page.is_some());
    harness.fetch(&first_report()).await.unwrap();
    harness.fetch(&list(&dropper())).await.unwrap();
    assert!(harness.stored(&second) == page, "the list begins as it did");
}

#[tokio::test]
async fn unreadable_identifier_list_is_reported() {
    let harness = GatewayHarness::begin().await;
    let profile =
        behaview::service::Profile { listing: Listing::Identifiers, ..GatewayHarness::profile(&harness.demo) };
    let gateway = gateway(&harness.store(), profile, harness.demo.key());
    arm(&harness.demo, "portal*1");
    assert!(harness::fetch(&gateway, &identifiers(&dropper())).await.is_err());
    assert!(gateway.unreadable(&list(&dropper())).unwrap().is_some());
    assert!(gateway.unreadable(&first_report()).unwrap().unwrap().starts_with("an unreadable list of"));
}

#[tokio::test]
async fn a_full_report_stays_and_is_dated_by_this_clock() {
    let Request::Behaviour { identifier } = first_report() else { panic!("that is a report") };
    let report = move |attributes| {
        format!(r#"{{"data":{{"id":"{}","attributes":{{{attributes}}}}}}}"#, identifier.text().unicode())
    };
    let full = report(r#""tags":["A"],"verdicts":["CLEAN"],"files_opened":["a"]"#);
    let mut answers = vec![report(r#""error":"x""#), report(r#""tags":[]"#), full.clone()];
    let head = "200 OK\r\ndate: Mon, 01 Jun 2015 00:00:00 GMT";
    let root = super::answering::answering(head, move |_| answers.pop().unwrap());
    let folder = tempfile::tempdir().unwrap();
    let gateway = super::secrets::gateway_to(root, folder.path(), "a-key");
    for _ in 0..3 {
        harness::fetch(&gateway, &first_report()).await.unwrap();
        let stored = gateway.stored(&first_report()).unwrap().unwrap();
        assert_eq!(String::from_utf8(bytes(&stored)).unwrap(), full);
        assert!(super::counted::tick().duration_since(stored.received).as_secs().abs() < 60);
    }
}

#[test]
fn a_response_is_stored_while_everything_is_deleted() {
    use behaview::report::{Deletion, DeletionTarget::Everything};
    use behaview::store::{NewResponse, Store};
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path()).unwrap();
    let (is_over, key) = (std::sync::atomic::AtomicBool::new(false), first_report().storage_key().unwrap());
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let store = Store::open(folder.path()).unwrap();
            while !is_over.load(std::sync::atomic::Ordering::Relaxed) {
                let deletion = Deletion::of(vec![Everything], None, &store.inventory().unwrap());
                store.purge(&deletion).unwrap();
            }
        });
        let (profile, bytes, received) = ("lab", &b"{}"[..], super::counted::tick());
        let new = NewResponse { service: "s", profile, key: &key, received, bytes, imported: None };
        let stored =
            (0..60).try_for_each(|_| store.write_response(&new).and_then(|()| store.move_read(&new, &[], true)));
        is_over.store(true, std::sync::atomic::Ordering::Relaxed);
        stored.unwrap();
    });
}
