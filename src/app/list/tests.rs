//! Pages that come one after another, and again.

use super::*;
use crate::report::body::Body;

fn page(json: &str) -> Page {
    let body = Body::in_memory(json.as_bytes().to_vec());
    Page::of(&body).unwrap()
}

fn take(list: &mut List, cursor: Option<&Untrusted>, json: &str) {
    list.take_page(cursor, page(json), Timestamp::UNIX_EPOCH, None);
}

fn names(list: &List) -> Vec<String> {
    list.entries.iter().map(|e| e.identifier.as_ref().unwrap().text().visible().to_string()).collect()
}

fn list() -> List {
    List::not_requested(Sha256::parse(&"ab".repeat(32)).unwrap())
}

#[test]
fn pages_are_appended_without_repeats() {
    let mut list = list();
    take(&mut list, None, r#"{"data":[{"id":"a"},{"id":"b"}],"meta":{"cursor":"2"}}"#);
    take(&mut list, Some(&"2".into()), r#"{"data":[{"id":"b"},{"id":"c"}],"meta":{"cursor":"3"}}"#);
    assert_eq!(names(&list), ["a", "b", "c"]);
    assert_eq!(list.count(), 4);
    take(&mut list, Some(&"3".into()), r#"{"data":[]}"#);
    assert_eq!((list.next.clone(), list.count()), (Next::Nothing, 3));
}

#[test]
fn refreshed_list_preserves_the_selected_sandbox() {
    let mut list = list();
    take(&mut list, None, r#"{"data":[{"id":"a"},{"id":"b"}]}"#);
    list.scroll.cursor = 1;
    take(&mut list, None, r#"{"data":[{"id":"c"},{"id":"b"},{"id":"a"}]}"#);
    assert_eq!((names(&list), list.scroll.cursor), (["c", "b", "a"].map(str::to_owned).to_vec(), 1));
    take(&mut list, None, r#"{"data":[{"id":"b"},{"id":"c"}]}"#);
    assert_eq!(list.scroll.cursor, 0);
}

#[test]
fn a_refreshed_list_loses_no_report() {
    let mut list = list();
    take(&mut list, None, r#"{"data":[{"id":"a","attributes":{"tags":["x"]}},{"id":"b"}]}"#);
    take(&mut list, None, r#"{"data":[{"id":"c"}]}"#);
    assert_eq!(names(&list), ["c", "a"]);
    assert!(list.entries[1].report().is_some());
}

#[test]
fn report_of_an_unstored_page_survives_deletion() {
    let mut list = list();
    let lost = page(r#"{"data":[{"id":"a","attributes":{"tags":["x"]}}]}"#);
    list.take_page(None, lost, Timestamp::UNIX_EPOCH, Some("could not be kept".to_owned()));
    assert!(!list.drop_deleted(&HashSet::new()) && list.entries[0].report().is_some());
}

#[test]
fn a_document_of_several_reports_keeps_the_first_open() {
    let named = |name: &str| {
        let body = Body::in_memory(format!(r#"{{"id":"{name}"}}"#).into_bytes());
        (Identifier::new(name.into()), LoadedReport::new(Timestamp::UNIX_EPOCH, body, None))
    };
    let (identifier, report) = named("a");
    let mut list = List::document("d".to_owned(), vec![ListEntry::with(identifier, report)]);
    list.entries[0].open(&[]);
    list.take_document(vec![named("a"), named("b")]);
    assert!(names(&list) == ["a", "b"] && list.entries[0].open.is_some());
}
