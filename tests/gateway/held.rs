//! What was paid for once is held, byte for byte, and served for nothing.

use crate::faults::arm;
use behaview::report::Purge;
use serde_json::Value;

use behaview::gateway::Gateway;
use behaview::service::Client;
use behaview::service::credential::{Credential, Source};
use behaview::store::{Keep, Store};
use std::sync::Arc;

use super::*;

fn identifiers(file: &Sha256) -> Request {
    Request::Behaviours { file: file.clone(), listing: Listing::Identifiers, cursor: None }
}

/// Every list of every file, and every report on its first page.
async fn all_requests(visit: &Visit) -> Vec<Request> {
    let mut requests = Vec::new();
    for file in files() {
        let page = Page::of(&Body::in_memory(visit.reference(&list(&file)).await)).unwrap();
        requests.extend([list(&file), identifiers(&file)]);
        requests.extend(page.entries.into_iter().map(|entry| Request::Behaviour { identifier: entry.identifier }));
    }
    requests
}

#[tokio::test]
async fn an_answer_is_held_as_the_service_sent_it_and_outlives_service_and_program() {
    let visit = Visit::with(Options { rows: 20_000, ..Options::default() }).await;
    let mut sent = Vec::new();
    for request in all_requests(&visit).await {
        let expected = visit.reference(&request).await;
        let answer = visit.ask(&request).await.unwrap();
        assert!(bytes(&answer) == expected && answer.unkept.is_none(), "{}", request.words());
        sent.push((request, expected));
    }
    assert_eq!(visit.gateway.spent().unwrap(), Spent { charged: sent.len() as u64, ..Spent::default() });
    let later_run = gateway(&visit.store(), Visit::profile(&visit.demo), visit.demo.key());
    visit.demo.stop();
    for (request, expected) in &sent {
        let held = later_run.held(request).unwrap().unwrap();
        assert!(held.body.to_vec() == *expected, "{}", request.words());
    }
}

#[tokio::test]
async fn what_was_offered_as_held_is_not_sent_for_when_it_is_gone() {
    let visit = Visit::begin().await;
    let quote = first_report().quote(&visit::licensed());
    assert!(matches!(visit.gateway.get_held(&quote), Err(GatewayError::NotHeld)));
    assert_eq!((visit.demo.seen().len(), visit.gateway.spent().unwrap()), (0, Spent::default()));
    let answer = visit.ask(&first_report()).await.unwrap();
    assert_eq!(bytes(&visit.gateway.get_held(&quote).unwrap()), bytes(&answer));
    assert_eq!(visit.demo.seen().len(), 1);
}

#[tokio::test]
async fn the_reports_of_a_list_page_are_held_by_themselves() {
    let visit = Visit::begin().await;
    let page = Page::of(&visit.ask(&list(&dropper())).await.unwrap().body).unwrap();
    assert_eq!(page.entries.len(), 4);
    for entry in &page.entries {
        let request = Request::Behaviour { identifier: entry.identifier.clone() };
        let held = visit.held(&request).unwrap();
        assert_eq!(held, entry.report.as_ref().unwrap().to_vec());
        let read = |bytes: &[u8]| serde_json::from_slice::<Value>(bytes).unwrap();
        assert_eq!(read(&held)["id"], String::from_utf8_lossy(entry.identifier.as_bytes()).as_ref());
        assert_eq!(visit.calls(), 1, "looking at it sent something");
    }
    for entry in &page.entries {
        let request = Request::Behaviour { identifier: entry.identifier.clone() };
        let alone: Value = serde_json::from_slice(&visit.reference(&request).await).unwrap();
        assert_eq!(alone["data"], serde_json::from_slice::<Value>(&visit.held(&request).unwrap()).unwrap());
    }
    assert_eq!(visit.gateway.spent().unwrap(), Spent { charged: 1, ..Spent::default() });
}

#[tokio::test]
async fn a_list_of_identifiers_holds_no_report() {
    let visit = Visit::begin().await;
    let page = Page::of(&visit.ask(&identifiers(&dropper())).await.unwrap().body).unwrap();
    assert!(page.entries.iter().all(|entry| entry.report.is_none()) && !page.entries.is_empty());
    assert_eq!(visit.held(&first_report()), None);
    assert_eq!(visit.held(&list(&dropper())), None, "a list with reports is another question");
}

#[tokio::test]
async fn quota_details_are_never_held() {
    let visit = Visit::begin().await;
    let answer = visit.ask(&Request::Quotas).await.unwrap();
    assert_eq!(bytes(&answer), visit.reference(&Request::Quotas).await);
    assert_eq!(visit.held(&Request::Quotas), None);
    assert_eq!(visit.gateway.spent().unwrap(), Spent::default());
}

/// Each service writes its own address into its answers, so two of them never answer alike.
#[tokio::test]
async fn asking_again_asks_and_the_newest_answer_is_held() {
    let (old, new) = (Visit::begin().await, Visit::begin().await);
    for request in [first_report(), list(&dropper())] {
        let before = bytes(&old.ask(&request).await.unwrap());
        assert_eq!(old.held(&request).unwrap(), before);
        // The other demo stands for the same service later: what is stored of the one is taken for the other's.
        let again = gateway(&old.store(), Visit::profile(&new.demo), new.demo.key());
        let (one, other) =
            [&old.gateway, &again].map(|gateway| old.store().join("reports").join(gateway.service())).into();
        std::fs::rename(&one, &other).unwrap();
        let after = bytes(&visit::ask(&again, &request).await.unwrap());
        std::fs::rename(&other, &one).unwrap();
        assert!(after != before && old.held(&request) == Some(after), "{}", request.words());
    }
    let report = old.held(&first_report()).unwrap();
    let is_newest = memchr::memmem::find(&report, new.demo.root().as_bytes()).is_some();
    assert!(is_newest, "the report that came with the newest list is the newest report");
    assert_eq!((old.calls(), new.calls()), (2, 2));
    assert_eq!(old.gateway.spent().unwrap(), Spent { charged: 4, ..Spent::default() });
}

#[tokio::test]
async fn a_refresh_that_fails_leaves_the_old_answer_held() {
    for request in [first_report(), list(&dropper())] {
        let visit = Visit::begin().await;
        let old = bytes(&visit.ask(&request).await.unwrap());
        let faults = ["503", "404", "lost", "reset", "portal", "empty", "null", "stranger", "cut=100", "cut-bare=100"];
        for fault in faults {
            arm(&visit.demo, &format!("{fault}*1"));
            assert!(visit.ask(&request).await.is_err(), "{fault}");
            assert!(visit.held(&request).as_ref() == Some(&old), "{fault} on {}", request.words());
        }
        assert_eq!(visit.calls(), 1 + faults.len());
    }
}

#[tokio::test]
async fn where_nothing_is_kept_an_answer_is_held_until_the_program_ends() {
    let visit = Visit::begin().await;
    let path = visit.folder().join("nothing");
    let open = || {
        let store = Store::open_keeping(&path, Keep::Nothing).unwrap();
        let credential = Credential::new(visit.demo.key(), Source::Demo).unwrap();
        let client = Client::new(Visit::profile(&visit.demo), Some(credential)).unwrap();
        Gateway::new(Arc::new(store), client, "a run".to_owned(), jiff::Timestamp::now)
    };
    let first = open();
    let sent = bytes(&visit::ask(&first, &list(&dropper())).await.unwrap());
    for request in [list(&dropper()), first_report()] {
        let quote = request.clone().quote(&visit::licensed());
        let held = first.get(&quote, &|_| {}).await.unwrap();
        assert!(held.unkept.is_none() && !held.body.is_empty(), "{}", request.words());
    }
    assert!(first.held(&list(&dropper())).unwrap().unwrap().body.to_vec() == sent);
    assert_eq!((visit.calls(), first.spent().unwrap().charged), (1, 1));
    drop(first);
    let second = open();
    assert!(second.held(&list(&dropper())).unwrap().is_none());
    assert_eq!(second.spent().unwrap().charged, 1, "the ledger stays");
}

#[tokio::test]
async fn services_share_nothing_and_profiles_of_one_service_everything() {
    let (visit, elsewhere) = (Visit::begin().await, Visit::begin().await);
    visit.ask(&list(&dropper())).await.unwrap();
    let profile = Profile { name: "other".to_owned(), ..Visit::profile(&visit.demo) };
    let twin = gateway(&visit.store(), profile, visit.demo.key());
    let other = gateway(&visit.store(), Visit::profile(&elsewhere.demo), elsewhere.demo.key());
    for request in [first_report(), list(&dropper())] {
        assert!(visit.gateway.held(&request).unwrap().is_some() && twin.held(&request).unwrap().is_some());
        assert!(other.held(&request).unwrap().is_none());
    }
}

#[tokio::test]
async fn what_arrives_is_what_is_held() {
    let visit = Visit::begin().await;
    let answer = visit.ask(&first_report()).await.unwrap();
    let held = visit.gateway.held(&first_report()).unwrap().unwrap();
    // The store keeps milliseconds.
    assert_eq!(answer.received.as_millisecond(), held.received.as_millisecond());
    let same = |one: &Body, other: &Body| one.to_vec() == other.to_vec();
    assert!(same(&answer.body, &held.body));
}

#[tokio::test]
async fn a_damaged_report_costs_itself_alone_and_is_quarantined() {
    let visit = Visit::begin().await;
    let page = bytes(&visit.ask(&list(&dropper())).await.unwrap());
    let stored =
        visit.files("reports").into_iter().find(|file| file.to_string_lossy().contains("/behaviour-")).unwrap();
    let mut packed = std::fs::read(&stored).unwrap();
    let last = packed.len() - 9;
    packed[last] ^= 1;
    std::fs::write(&stored, packed).unwrap();
    let entries = Page::of(&Body::in_memory(page.clone())).unwrap().entries;
    let requests = entries.iter().map(|entry| Request::Behaviour { identifier: entry.identifier.clone() });
    let (sound, lost): (Vec<_>, Vec<_>) = requests.partition(|request| visit.held(request).is_some());
    assert_eq!((sound.len(), lost.len(), visit.files("quarantine").len()), (3, 1, 1));
    let words = visit.gateway.quarantined(&lost[0]).unwrap().unwrap().words();
    assert!(words.contains("is in quarantine"), "{words}");
    // The list is there, with that one by its identifier alone; to fetch it again makes it whole.
    let again = Page::of(&Body::in_memory(visit.held(&list(&dropper())).unwrap())).unwrap();
    assert_eq!(again.entries.iter().filter(|entry| entry.report.is_none()).count(), 1);
    visit.ask(&lost[0]).await.unwrap();
    assert!(visit.held(&list(&dropper())) == Some(page));
    assert_eq!((visit.calls(), visit.gateway.quarantined(&lost[0]).unwrap()), (2, None));
}

#[tokio::test]
async fn a_refetched_report_does_not_outdate_the_pages_of_its_list() {
    let visit = Visit::begin().await;
    let first = Page::of(&visit.ask(&list(&dropper())).await.unwrap().body).unwrap();
    let Request::Behaviours { file, listing, .. } = list(&dropper()) else { panic!("that is a list") };
    let second = Request::Behaviours { file, listing, cursor: first.cursor };
    let page = bytes(&visit.ask(&second).await.unwrap());
    visit.ask(&first_report()).await.unwrap();
    visit.ask(&list(&dropper())).await.unwrap();
    assert!(visit.held(&second) == Some(page), "the list begins as it did");
}

#[tokio::test]
async fn what_is_deleted_is_gone_and_the_list_keeps_its_order() {
    let visit = Visit::begin().await;
    let page = Page::of(&visit.ask(&list(&dropper())).await.unwrap().body).unwrap();
    let (service, identifier) = (visit.gateway.service().to_owned(), page.entries[0].identifier.clone());
    let purge = [Purge::Report { service, identifier: identifier.clone() }];
    visit.gateway.store().purge(&purge, None, &|_| true).unwrap().unwrap();
    assert_eq!(visit.held(&Request::Behaviour { identifier }), None);
    let left = Page::of(&Body::in_memory(visit.held(&list(&dropper())).unwrap())).unwrap();
    let names = |page: &Page| page.entries.iter().map(|entry| entry.identifier.clone()).collect::<Vec<_>>();
    assert_eq!(names(&left), names(&page));
    let whole: Vec<_> = left.entries.iter().map(|entry| entry.report.is_some()).collect();
    assert_eq!(whole, [false, true, true, true]);
}

#[tokio::test]
async fn what_is_deleted_while_it_is_printed_is_printed_all_the_same() {
    let visit = Visit::begin().await;
    let answer = visit.ask(&list(&dropper())).await.unwrap();
    visit.gateway.store().purge(&[Purge::Everything], None, &|_| true).unwrap();
    assert!(visit.held(&list(&dropper())).is_none());
    assert!(answer.body.to_vec().starts_with(b"{"));
}

#[tokio::test]
async fn a_list_that_is_set_aside_is_told_of_where_lists_are_of_identifiers() {
    let visit = Visit::begin().await;
    let profile = behaview::service::Profile { listing: Listing::Identifiers, ..Visit::profile(&visit.demo) };
    let gateway = gateway(&visit.store(), profile, visit.demo.key());
    arm(&visit.demo, "portal*1");
    assert!(visit::ask(&gateway, &identifiers(&dropper())).await.is_err());
    assert!(gateway.list_quarantined(&dropper()).unwrap().is_some());
    assert!(gateway.quarantined(&first_report()).unwrap().unwrap().words().starts_with("a list of"));
}
