//! What was paid for once is held, byte for byte, and served for nothing.

use crate::faults::arm;

use super::*;

fn identifiers(file: &Sha256) -> Request {
    Request::Behaviours { file: file.clone(), listing: Listing::Identifiers, cursor: None }
}

#[tokio::test]
async fn what_was_offered_as_held_is_not_sent_for_when_it_is_gone() {
    let visit = Visit::begin().await;
    let quote = first_report().quote(&visit::licensed());
    assert!(matches!(visit.gateway.get_stored(&quote), Err(GatewayError::NotStored)));
    assert_eq!((visit.demo.seen().len(), visit.gateway.spent().unwrap()), (0, Spent::default()));
    let answer = visit.ask(&first_report()).await.unwrap();
    assert_eq!(bytes(&visit.gateway.get_stored(&quote).unwrap()), bytes(&answer));
    assert_eq!(visit.demo.seen().len(), 1);
}

#[tokio::test]
async fn a_refetched_report_does_not_outdate_the_pages_of_its_list() {
    let visit = Visit::begin().await;
    let first = Page::of(&visit.ask(&list(&dropper())).await.unwrap().body).unwrap();
    let Request::Behaviours { file, listing, .. } = list(&dropper()) else { panic!("that is a list") };
    let second = Request::Behaviours { file, listing, cursor: first.cursor };
    visit.ask(&second).await.unwrap();
    let page = visit.held(&second);
    assert!(page.is_some());
    visit.ask(&first_report()).await.unwrap();
    visit.ask(&list(&dropper())).await.unwrap();
    assert!(visit.held(&second) == page, "the list begins as it did");
}

#[tokio::test]
async fn a_list_that_is_unreadable_is_told_of_where_lists_are_of_identifiers() {
    let visit = Visit::begin().await;
    let profile = behaview::service::Profile { listing: Listing::Identifiers, ..Visit::profile(&visit.demo) };
    let gateway = gateway(&visit.store(), profile, visit.demo.key());
    arm(&visit.demo, "portal*1");
    assert!(visit::ask(&gateway, &identifiers(&dropper())).await.is_err());
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
        visit::ask(&gateway, &first_report()).await.unwrap();
        let stored = gateway.stored(&first_report()).unwrap().unwrap();
        assert_eq!(String::from_utf8(bytes(&stored)).unwrap(), full);
        assert!(super::counted::tick().duration_since(stored.received).as_secs().abs() < 60);
    }
}
