//! Pages that come one after another, and again.

use super::*;
use crate::report::body::Body;

fn page(json: &str) -> HeldPage {
    let body = Body::in_memory(json.as_bytes().to_vec());
    HeldPage { received: Timestamp::UNIX_EPOCH, page: Page::of(&body).unwrap(), unkept: None }
}

fn names(list: &List) -> Vec<String> {
    list.entries.iter().map(|e| e.identifier.as_ref().unwrap().text().visible().to_string()).collect()
}

fn list() -> List {
    List::unasked(Sha256::parse(&"ab".repeat(32)).unwrap())
}

#[test]
fn pages_add_up_and_repeats_are_passed_over() {
    let mut list = list();
    list.take_page(None, page(r#"{"data":[{"id":"a"},{"id":"b"}],"meta":{"cursor":"2"}}"#));
    list.take_page(Some(&"2".into()), page(r#"{"data":[{"id":"b"},{"id":"c"}],"meta":{"cursor":"3"}}"#));
    assert_eq!(names(&list), ["a", "b", "c"]);
    assert_eq!(list.count(), 4);
    list.take_page(Some(&"3".into()), page(r#"{"data":[]}"#));
    assert_eq!((list.next.clone(), list.count()), (Next::Nothing, 3));
}

#[test]
fn a_refreshed_list_stays_on_the_sandbox_that_was_chosen() {
    let mut list = list();
    list.take_page(None, page(r#"{"data":[{"id":"a"},{"id":"b"}]}"#));
    list.scroll.cursor = 1;
    list.take_page(None, page(r#"{"data":[{"id":"c"},{"id":"b"},{"id":"a"}]}"#));
    assert_eq!((names(&list), list.scroll.cursor), (["c", "b", "a"].map(str::to_owned).to_vec(), 1));
    list.take_page(None, page(r#"{"data":[{"id":"b"},{"id":"c"}]}"#));
    assert_eq!(list.scroll.cursor, 0);
}

#[test]
fn a_refreshed_list_loses_no_report() {
    let mut list = list();
    list.take_page(None, page(r#"{"data":[{"id":"a","attributes":{"tags":["x"]}},{"id":"b"}]}"#));
    list.take_page(None, page(r#"{"data":[{"id":"c"}]}"#));
    assert_eq!(names(&list), ["c", "a"]);
    assert!(list.entries[1].here().is_some());
}

#[test]
fn a_report_of_a_page_that_could_not_be_kept_stays_when_what_is_held_goes() {
    let mut list = list();
    let lost = page(r#"{"data":[{"id":"a","attributes":{"tags":["x"]}}]}"#);
    list.take_page(None, HeldPage { unkept: Some("could not be kept".to_owned()), ..lost });
    assert!(!list.let_go(&HashSet::new()) && list.entries[0].here().is_some());
}
