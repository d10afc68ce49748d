//! A list of hundreds of pages: no run fetches them without an end, and the next one goes on.

use crate::desk::{Desk, errors, json, main_file, text};
use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Pages of the list.
const PAGES: usize = 130;

/// A service that lists two sandboxes a page; how often it was asked for one.
fn begin() -> (String, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let root = format!("http://{}", listener.local_addr().unwrap());
    let calls = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&calls);
    std::thread::spawn(move || {
        for mut stream in listener.incoming().map_while(Result::ok) {
            let mut asked = vec![0; 8192];
            let length = stream.read(&mut asked).unwrap_or(0);
            let asked = String::from_utf8_lossy(&asked[..length]).into_owned();
            let path = asked.split(' ').nth(1).unwrap_or_default();
            counted.fetch_add(usize::from(path.contains("/behaviours")), Ordering::SeqCst);
            let body = page(path);
            let head = format!("HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: {}\r\n\r\n", body.len());
            let _ = stream.write_all((head + &body).as_bytes());
        }
    });
    (root, calls)
}

fn page(path: &str) -> String {
    let number: usize = path.split_once("cursor=").map_or(0, |(_, cursor)| cursor.parse().unwrap());
    let entry = |n: usize| format!(r#"{{"id":"{}_Box {number} {n}-1794474845"}}"#, main_file());
    let cursor = if number + 1 < PAGES { format!(r#","meta":{{"cursor":"{}"}}"#, number + 1) } else { String::new() };
    format!(r#"{{"data":[{},{}]{cursor}}}"#, entry(1), entry(2))
}

#[test]
fn a_list_of_more_pages_than_one_run_fetches_is_gone_on_with_by_the_next() {
    let (desk, (root, calls)) = (Desk::new(), begin());
    let more = format!("[profiles.many]\nroot = \"{root}\"\nlisting = \"identifiers\"\n");
    desk.configure(&more);
    let file = main_file();
    let list = |more: &[&str]| {
        let mut command = desk.command(&[&["list", "--all", &file], more].concat());
        command.env("BEHAVIEW_PROFILE", "many").output().unwrap()
    };
    let first = list(&[]);
    assert!(errors(&first).contains("100 pages were fetched, and there are more"), "{first:?}");
    let first = json(&first);
    assert_eq!((first["sandboxes"].as_array().unwrap().len(), &first["more"]), (200, &true.into()));
    assert_eq!(calls.load(Ordering::SeqCst), 100);
    let dry = text(&list(&["--dry-run"]));
    assert!(dry.contains("In all: 1 request or more."), "{dry}");
    let next = json(&list(&[]));
    assert_eq!((next["sandboxes"].as_array().unwrap().len(), &next["more"]), (2 * PAGES, &false.into()));
    assert_eq!(calls.load(Ordering::SeqCst), PAGES);
    assert_eq!(json(&list(&[])), next);
    assert_eq!(calls.load(Ordering::SeqCst), PAGES, "what is held is not asked for");
}
