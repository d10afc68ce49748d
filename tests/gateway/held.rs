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
