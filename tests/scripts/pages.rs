//! A list of hundreds of pages: no run fetches them without an end, and the next one goes on.

use crate::harness::{CliHarness, FakeService, errors, json, main_file, text};

/// Pages of the list.
const PAGES: usize = 130;

fn page(path: &str) -> String {
    let number: usize = path.split_once("cursor=").map_or(0, |(_, cursor)| cursor.parse().unwrap());
    let entry = |n: usize| format!(r#"{{"id":"{}_Box {number} {n}-1794474845"}}"#, main_file());
    let cursor = if number + 1 < PAGES { format!(r#","meta":{{"cursor":"{}"}}"#, number + 1) } else { String::new() };
    format!(r#"{{"data":[{},{}]{cursor}}}"#, entry(1), entry(2))
}

#[test]
fn long_list_is_continued_by_the_next_run() {
    let (cli, service) = (CliHarness::new(), FakeService::new(|path| ("200 OK", "", page(path))));
    let calls = || service.asked().iter().filter(|call| call.contains("/behaviours")).count();
    let more = format!("[profiles.many]\nroot = \"{}\"\nlisting = \"identifiers\"\n", service.root);
    cli.configure(&more);
    let file = main_file();
    let list = |more: &[&str]| {
        let mut command = cli.command(&[&["list", "--all", &file], more].concat());
        command.env("BEHAVIEW_PROFILE", "many").output().unwrap()
    };
    let first = list(&[]);
    assert!(errors(&first).contains("100 pages were fetched, and there are more"), "{first:?}");
    let first = json(&first);
    assert_eq!((first["sandboxes"].as_array().unwrap().len(), &first["more"]), (200, &true.into()));
    assert_eq!(calls(), 100);
    let dry = text(&list(&["--dry-run"]));
    assert!(dry.contains("In all: at least 1 request"), "{dry}");
    let next = json(&list(&[]));
    assert_eq!((next["sandboxes"].as_array().unwrap().len(), &next["more"]), (2 * PAGES, &false.into()));
    assert_eq!(calls(), PAGES);
    assert_eq!(json(&list(&[])), next);
    assert_eq!(calls(), PAGES, "what is held is not asked for");
}

#[test]
fn one_identifier_of_two_files_is_a_report_of_each() {
    let other = "ab".repeat(32);
    let of = |path: &str| if path.contains("abab") { "OF_SECOND" } else { "OF_FIRST" };
    let page = move |path: &str| format!(r#"{{"data":[{{"id":"CAPE-1","attributes":{{"tags":["{}"]}}}}]}}"#, of(path));
    let (cli, service) = (CliHarness::new(), FakeService::new(move |path| ("200 OK", "", page(path))));
    let run = |arguments: &[&str]| {
        text(&cli.run(&[arguments, &["--set", &format!("profiles.lab.{}", service.set)]].concat()))
    };
    for _ in 0..2 {
        for (file, tag) in [(&main_file(), "OF_FIRST"), (&other, "OF_SECOND")] {
            for command in ["list", "compare"] {
                let shown = run(&[command, file]);
                assert!(shown.contains(tag) && shown.matches("OF_").count() == 1, "{command}: {shown}");
            }
        }
    }
    assert_eq!(service.asked().iter().filter(|call| call.contains("/behaviours")).count(), 2);
}
