use super::*;
use crate::report::page::Page;
use crate::request::{Listing, Request};

fn report(id: &str, tags: &str) -> String {
    format!(r#"{{"id":"{id}","type":"private_file_behaviour","attributes":{{{tags}}}}}"#)
}

#[test]
fn a_list_that_says_less_of_a_report_takes_nothing_from_it() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path()).unwrap();
    let file = Sha256::parse(&"ab".repeat(32)).unwrap();
    let id = format!("{file}_Box-1794474845");
    let identifier = Identifier::new(Untrusted::from(id.as_str())).unwrap();
    let whole = report(&id, &format!(r#""tags":["{}"]"#, "A".repeat(2_000)));
    let whole = format!(r#"{{"data":{whole}}}"#).into_bytes();
    let list = format!(r#"{{"data":[{}]}}"#, report(&id, r#""tags":["B"]"#)).into_bytes();
    let listed = PageReport::of_page(Page::of(&Body::in_memory(list.clone())).unwrap(), &file);
    let keep = |request: &Request, bytes: &[u8], reports: &[PageReport]| {
        let key = request.holding_key().unwrap();
        let received = Timestamp::UNIX_EPOCH;
        let new = NewAnswer { service: "s", profile: "p", key: &key, received, bytes };
        store.keep(&new).unwrap();
        assert_eq!(store.unread("s").unwrap(), std::slice::from_ref(&key));
        store.accept(&new, reports).unwrap();
        assert!(store.unread("s").unwrap().is_empty());
    };
    keep(&Request::Behaviour { identifier: identifier.clone() }, &whole, &[]);
    let listing = Request::Behaviours { file: file.clone(), listing: Listing::Reports, cursor: None };
    keep(&listing, &list, &listed);
    let found = store.report("s", &identifier).unwrap().unwrap();
    assert_eq!(found.body().unwrap().to_vec(), whole);
    assert_eq!(store.reports("s", &file).unwrap().len(), 1);
    assert!(store.report("another", &identifier).unwrap().is_none());
}

#[test]
fn an_import_is_open_to_every_service_and_hides_nothing_newer() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path()).unwrap();
    let identifier = Identifier::typed("x").unwrap();
    let key = Request::Behaviour { identifier: identifier.clone() }.holding_key().unwrap();
    let from = Imported { from: Untrusted::from("a.json"), by: Untrusted::from("ann") };
    let import = |second, bytes: &[u8], replaces| {
        let range = 0..bytes.len();
        let reports = [PageReport { identifier: identifier.clone(), file: Sha256::parse(&"a".repeat(64)), range }];
        let now = Timestamp::from_second(second).unwrap();
        let (service, profile) = ("s", "p");
        let import = Import { service, profile, key: &key, now, bytes, from: &from, reports: &reports, replaces };
        store.import(&import).unwrap()
    };
    let found = |service| {
        let found = store.report(service, &identifier).unwrap().unwrap();
        (found.body().unwrap().to_vec(), found.imported.is_some())
    };
    assert!(import(1, b"one", false) && !import(2, b"two", false) && import(3, b"three", true));
    assert_eq!((found("s"), found("another")), ((b"three".to_vec(), true), (b"three".to_vec(), true)));
    let received = Timestamp::from_second(4).unwrap();
    let new = NewAnswer { service: "s", profile: "p", key: &key, received, bytes: b"fetched" };
    store.keep(&new).unwrap();
    store.accept(&new, &[]).unwrap();
    assert_eq!((found("s"), found("another").1), ((b"fetched".to_vec(), false), true));
    let recent = store.recent_files("s", 9).unwrap();
    assert_eq!((recent.len(), recent[0].opened.as_second(), recent[0].reports), (1, 1, 0));
}
