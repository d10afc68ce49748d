//! `behaview store`: what is held, deleted to the last byte, and taken over from a colleague.

use crate::harness::{CliHarness, errors, json, main_file, squeezed, text};
use crate::store::{files, places_of, store, stored};
use behaview::demo::{ListContent, Options};
use behaview::report::identifier::Identifier;
use behaview::report::{Note, NoteSubject};
use behaview::store::{NewResponse, Store, service_id};
use behaview::text::Untrusted;
use serde_json::Value;
use std::io::Write;
use std::net::TcpStream;
use std::path::Path;

/// Writes a note on a report as a whole.
fn note(cli: &CliHarness, id: &str, text: &str) {
    let about = NoteSubject { identifier: Identifier::from_input(id).unwrap(), item: None };
    let written = jiff::Timestamp::now();
    let note = Note { about, file: None, text: Untrusted::from(text), written, author: None };
    assert!(Store::open(&store(cli)).unwrap().write_note(&note, None).unwrap());
}

/// Which service the desk's demo is.
fn service(cli: &CliHarness) -> String {
    service_id(&format!("{}/", cli.demo.root()))
}

/// A page of the main file's list as the service sends it.
fn page(cli: &CliHarness, is_first: bool) -> Vec<u8> {
    let path = format!("/api/v3/private/files/{}/behaviours?limit=40", main_file());
    let page = |path: &str| {
        let mut service = TcpStream::connect(cli.demo.root().trim_start_matches("http://")).unwrap();
        write!(service, "GET {path} HTTP/1.1\r\nhost: demo\r\nx-apikey: {}\r\nconnection: close\r\n\r\n", cli.key)
            .unwrap();
        let answer = std::io::read_to_string(service).unwrap();
        answer.split_once("\r\n\r\n").unwrap().1.to_owned()
    };
    let first = page(&path);
    let next = serde_json::from_str::<Value>(&first).unwrap()["meta"]["cursor"].as_str().unwrap().to_owned();
    if is_first { first } else { page(&format!("{path}&cursor={next}")) }.into_bytes()
}

/// What a report says, as JSON.
fn saved(cli: &CliHarness, id: &str) -> Vec<u8> {
    let shown = cli.run(&["show", id]);
    assert!(shown.status.success(), "{shown:?}");
    shown.stdout
}

fn file(folder: &Path, name: &str, bytes: &[u8]) -> String {
    let path = folder.join(name);
    std::fs::write(&path, bytes).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn stored_items_are_listed_with_size_and_origin() {
    let cli = CliHarness::new();
    assert_eq!(text(&cli.run(&["store"])), "Nothing is stored.\n");
    json(&cli.run(&["list", &main_file()]));
    let shown = squeezed(&text(&cli.run(&["store"])));
    assert!(shown.starts_with("received (UTC) size on disk notes at service from what id\n"), "{shown}");
    let was_there = ["- seen ", "- to ", "- gone lab "].iter().any(|words| shown.contains(words));
    assert!(was_there && !shown.contains('?'), "{shown}");
    assert!(shown.contains("_CAPE Sandbox-1794474845\n") && shown.contains("\n4 stored: "), "{shown}");
    let id = format!("{}_CAPE Sandbox-1794474845", main_file());
    note(&cli, &id, "why?");
    let stored = stored(&cli);
    let first = stored.iter().find(|row| row["sandbox"] == "CAPE Sandbox").unwrap();
    let note = &first["notes"][0];
    assert_eq!((&note["attribute"], &note["text"]), (&Value::Null, &"why?".into()));
    assert_eq!((&first["file"], &first["profile"]), (&main_file().into(), &"lab".into()));
    assert!(first["bytes"].as_u64() > first["bytes_on_disk"].as_u64());
    assert_eq!(cli.demo.seen().len(), 1);
}

#[test]
fn deletion_erases_all_files_but_the_ledger() {
    let cli = CliHarness::new();
    json(&cli.run(&["list", "--all", &main_file()]));
    note(&cli, &format!("{}_CAPE Sandbox-1794474845", main_file()), "quoted words");
    let asked = cli.fails(&["store", "remove", "--all"], 2, &["nothing was deleted"]);
    assert!(text(&asked).contains("Would be deleted: 6 reports"), "{asked:?}");
    assert_eq!(stored(&cli).len(), 6);
    let gone = text(&cli.run(&["store", "remove", "--all", "--yes"]));
    assert!(gone.contains("\nNothing is stored.\nDeleted: 6 reports") && gone.contains("with 1 note"), "{gone}");
    for folder in ["reports", "unread"] {
        assert!(!store(&cli).join(folder).exists() || files(&store(&cli).join(folder)).is_empty(), "{folder}");
    }
    assert!(places_of(&["quoted words"], &store(&cli)).is_empty(), "a note is left");
    assert_eq!(json(&cli.run(&["ledger", "--all", "--json"]))["entries"].as_array().unwrap().len(), 2);
    json(&cli.run(&["list", &main_file()]));
    assert_eq!(cli.paid(), 3, "what was deleted is paid for again");
}

#[test]
fn old_items_are_deleted_by_age() {
    let cli = CliHarness::with(Options { listing: ListContent::Identifiers, ..Options::default() });
    let listed = json(&cli.run(&["list", &main_file()]));
    let id = |n: usize| listed["sandboxes"][n]["id"].as_str().unwrap().to_owned();
    let reports = [0, 1].map(|n| saved(&cli, &id(n)));
    let key = format!("behaviour {}", id(1)).into_bytes();
    let received = jiff::Timestamp::now() - jiff::SignedDuration::from_hours(40 * 24);
    let (service, bytes) = (service(&cli), &reports[1]);
    let new = NewResponse { service: &service, profile: "lab", key: &key, received, bytes, imported: None };
    let opened = Store::open(&store(&cli)).unwrap();
    opened.write_response(&new).unwrap();
    opened.move_read(&new, &[], true).unwrap();
    let gone = json(&cli.run(&["store", "remove", "--older-than", "30d", "--yes", "--json"]));
    assert_eq!((&gone["deleted"]["items"], gone["stored"].as_array().unwrap().len()), (&1.into(), 2));
    assert_eq!(cli.run(&["store", "remove", "--older-than", "soon"]).status.code(), Some(2));
    let none = text(&cli.run(&["store", "remove", "--older-than", "1d", "--yes"]));
    assert!(none.starts_with("2 stored: ") && none.contains("\nDeleted: nothing"), "only what matches: {none}");
    // A charged run deletes by age as well, what is younger stays.
    opened.write_response(&new).and_then(|()| opened.move_read(&new, &[], true)).unwrap();
    let shown = cli.run(&["show", &id(2), "--set", "store.max_age_days=30"]);
    assert!(errors(&shown).contains("[store] limits deleted the report by"), "{shown:?}");
    assert_eq!(stored(&cli).len(), 3);
}

#[test]
fn deletion_plan_names_the_profiles() {
    let (colleague, cli, folder) = (CliHarness::new(), CliHarness::new(), tempfile::tempdir().unwrap());
    let listed = json(&colleague.run(&["list", &main_file()]));
    let ids: Vec<_> = listed["sandboxes"].as_array().unwrap().iter().map(|one| one["id"].as_str().unwrap()).collect();
    let report = file(folder.path(), "one.json", &saved(&colleague, ids[0]));
    assert!(cli.run(&["store", "import", "--profile", "virustotal", &report]).status.success());
    assert!(cli.run(&["show", ids[1]]).status.success());
    note(&cli, ids[0], "mine");
    // Every profile can open what was imported, so with each it is listed.
    let count = |profile: &str| {
        json(&cli.run(&["store", "list", "--profile", profile, "--json"]))["stored"].as_array().unwrap().len()
    };
    assert_eq!((count("lab"), count("virustotal")), (2, 1));
    let asked = |arguments: &[&str]| text(&cli.run(&[&["store", "remove"], arguments].concat()));
    let all = asked(&["--all"]);
    assert!(all.contains("Would be deleted: 2 reports of lab 1, no service (imported) 1: "), "{all}");
    let one = asked(&["--all", "--profile", "lab"]);
    assert!(one.contains(" of profile lab: ") && !one.contains("imported"), "{one}");
    let import = asked(&[ids[0], "--profile", "lab"]);
    assert!(import.contains(" of no service (imported): "), "{import}");
    assert!(import.contains("with 1 note"), "{import}");
    assert!(cli.run(&["store", "remove", ids[0], "--yes"]).status.success());
    assert_eq!((count("lab"), count("virustotal")), (1, 0));
    assert!(!text(&cli.run(&["search", "mine"])).contains("mine"), "a note goes with the last copy");
    // One on a report that is not stored is listed by itself.
    note(&cli, ids[0], "alone");
    let left = stored(&cli);
    let alone = left.iter().find(|row| row["id"] == ids[0]).unwrap();
    assert_eq!((&alone["kind"], &alone["notes"][0]["text"]), (&"notes".into(), &"alone".into()));
    assert!(cli.run(&["store", "remove", ids[0], "--yes"]).status.success());
    assert_eq!(stored(&cli).len(), 1);
}

#[test]
fn deleting_one_report_preserves_its_list() {
    let cli = CliHarness::new();
    let listed = json(&cli.run(&["list", &main_file()]));
    let id = |n: usize| listed["sandboxes"][n]["id"].as_str().unwrap().to_owned();
    let before: Vec<_> = [0, 1, 3].map(|n| saved(&cli, &id(n))).to_vec();
    let gone = cli.run(&["store", "remove", &id(2), "--yes"]);
    assert!(gone.status.success(), "{gone:?}");
    assert_eq!(stored(&cli).len(), 3);
    assert_eq!([0, 1, 3].map(|n| saved(&cli, &id(n))).to_vec(), before);
    let again = json(&cli.run(&["list", &main_file()]));
    assert_eq!(again["sandboxes"].as_array().unwrap().len(), 4);
    assert_eq!(again["sandboxes"][2]["stored_since"], Value::Null);
    assert_eq!(cli.paid(), 1);
    saved(&cli, &id(2));
    assert_eq!((cli.paid(), stored(&cli).len()), (2, 4));
    cli.fails(&["store", "remove", "nothing", "--yes"], 5, &[]);
    assert!(cli.run(&["store", "remove", &main_file(), "--yes"]).status.success());
    assert!(stored(&cli).is_empty());
}

#[test]
fn a_colleagues_report_is_stored_and_costs_nothing() {
    let (colleague, cli) = (CliHarness::new(), CliHarness::new());
    let listed = json(&colleague.run(&["list", &main_file()]));
    let id = |n: usize| listed["sandboxes"][n]["id"].as_str().unwrap().to_owned();
    let (one, two) = (saved(&colleague, &id(0)), saved(&colleague, &id(1)));
    let compact = |bytes: &[u8]| serde_json::to_vec(&serde_json::from_slice::<Value>(bytes).unwrap()).unwrap();
    let lines = [compact(&two), b"\n".to_vec(), compact(&saved(&colleague, &id(2))), b"\n".to_vec()].concat();
    let folder = tempfile::tempdir().unwrap();
    let (one, lines) = (file(folder.path(), "one.json", &one), file(folder.path(), "lines\u{1b}.jsonl", &lines));
    let import = |of: &[&str]| cli.command(&[&["store", "import"], of].concat()).env("USER", "ann").output().unwrap();
    let imported = import(&[&one, &lines]);
    assert!(imported.status.success(), "{imported:?}");
    assert!(
        text(&imported).ends_with("imported 3, stored already 0, refused 0\n") && !text(&imported).contains('\u{1b}')
    );
    for n in 0..3 {
        assert_eq!(json(&cli.run(&["show", &id(n)]))["data"]["id"], id(n).as_str());
    }
    assert_eq!(cli.demo.seen().len(), 0);
    let shown = cli.run(&["show", &id(0)]);
    assert!(errors(&shown).contains("imported") && errors(&shown).contains("from one.json by ann"), "{shown:?}");
    assert!(text(&cli.run(&["store"])).contains("imported from one.json by ann"));
    assert!(text(&import(&[&one])).contains("stored already, and the same"));
}

#[test]
fn import_is_found_with_every_profile() {
    let (colleague, cli, folder) = (CliHarness::new(), CliHarness::new(), tempfile::tempdir().unwrap());
    let listed = json(&colleague.run(&["list", &main_file()]));
    let id = listed["sandboxes"][0]["id"].as_str().unwrap();
    let report = file(folder.path(), "one.json", &saved(&colleague, id));
    assert!(cli.run(&["store", "import", "--profile", "virustotal", &report]).status.success());
    let hits = text(&cli.run(&["search", "rundll32"]));
    assert!(hits.contains("CAPE Sandbox") && !hits.contains("stored for profile"), "{hits}");
    assert_eq!(json(&cli.run(&["show", "--offline", id]))["data"]["id"], id);
    note(&cli, id, "seen by ann");
    assert!(text(&cli.run(&["search", "SEEN by"])).contains("seen by ann"));
    assert!(cli.run(&["compare", &main_file()]).status.success());
    let again = cli.run(&["store", "import", &report]);
    assert!(text(&again).contains("stored already, and the same"), "{again:?}");
    assert_eq!(stored(&cli).len(), 1);
    // What the service sends with this profile takes the import's place here, and nowhere else.
    assert!(cli.run(&["show", "--refresh", id]).status.success());
    assert!(!errors(&cli.run(&["show", "--offline", id])).contains("imported"));
    let other = cli.run(&["show", "--profile", "virustotal", "--offline", id]);
    assert!(errors(&other).contains("imported"), "{other:?}");
    // The note stays as long as a copy of its report; a setting names the profile like the flag.
    assert!(cli.run(&["store", "remove", "--set", "profile=virustotal", id, "--yes"]).status.success());
    assert!(text(&cli.run(&["search", "SEEN by"])).contains("seen by ann"));
    assert!(cli.run(&["store", "remove", "--profile", "lab", id, "--yes"]).status.success());
    assert!(!text(&cli.run(&["search", "SEEN by"])).contains("seen by ann"));
}

#[test]
fn search_covers_and_names_other_profiles() {
    let cli = CliHarness::new();
    json(&cli.run(&["list", &main_file()]));
    let with_other = |arguments: &[&str]| cli.run(&[arguments, &["--profile", "virustotal"]].concat());
    for named in [&[][..], &[main_file()][..]] {
        let named: Vec<_> = named.iter().map(String::as_str).collect();
        let hits = text(&with_other(&[&["search", "rundll32"][..], &named].concat()));
        assert!(hits.lines().count() > 0 && hits.lines().all(|hit| hit.contains("(stored for profile lab)")), "{hits}");
    }
    let hit = text(&with_other(&["search", "rundll32", "--json"]));
    assert!(hit.lines().all(|hit| hit.contains(r#""stored_for":"lab""#)), "{hit}");
    let compared = with_other(&["compare", &main_file()]);
    assert!(errors(&compared).contains("nothing is stored of this file with this profile"), "{compared:?}");
    let id = json(&cli.run(&["list", &main_file()]))["sandboxes"][0]["id"].as_str().unwrap().to_owned();
    assert_eq!(with_other(&["show", "--offline", &id]).status.code(), Some(13), "it is another service's answer");
}

#[test]
fn a_colleagues_list_is_stored_as_a_list() {
    let (colleague, cli) = (CliHarness::new(), CliHarness::new());
    let folder = tempfile::tempdir().unwrap();
    let first = file(folder.path(), "first.json", &page(&colleague, true));
    let second = file(folder.path(), "second.json", &page(&colleague, false));
    let imported = cli.run(&["store", "import", &first, &second]);
    assert!(imported.status.success(), "{imported:?}");
    assert!(text(&imported).ends_with("imported 6, stored already 0, refused 0\n"), "{imported:?}");
    assert!(text(&imported).contains("imported the sandboxes of 57874b32"), "{imported:?}");
    let listed = json(&cli.run(&["list", "--all", "--offline", &main_file()]));
    assert_eq!(listed["sandboxes"].as_array().unwrap().len(), 6);
    assert!(text(&cli.run(&["store"])).contains("imported from second.json"));
    let again = cli.run(&["store", "import", &first]);
    assert!(text(&again).ends_with("imported 0, stored already 4, refused 0\n"), "{again:?}");
    assert_eq!(cli.demo.seen().len(), 0);
    // Of a page that does not say which it is, the reports are held and the list is not.
    let other = CliHarness::new();
    let nameless = String::from_utf8(page(&colleague, true)).unwrap().replace("\"self\"", "\"me\"");
    let nameless = file(folder.path(), "nameless.json", nameless.as_bytes());
    assert!(text(&other.run(&["store", "import", &nameless])).ends_with("imported 4, stored already 0, refused 0\n"));
    let listed = json(&other.run(&["list", "--offline", &main_file()]));
    assert_eq!((listed["sandboxes"].as_array().unwrap().len(), &listed["more"]), (4, &true.into()));
}

#[test]
fn paid_reports_stay_listed_after_a_list_import() {
    let cli = CliHarness::new();
    let before = json(&cli.run(&["list", "--all", &main_file()]));
    let ids = |listed: &Value| {
        let mut ids: Vec<_> =
            listed["sandboxes"].as_array().unwrap().iter().map(|one| one["id"].as_str().unwrap().to_owned()).collect();
        ids.sort();
        ids
    };
    let mut page: Value = serde_json::from_slice(&page(&CliHarness::new(), true)).unwrap();
    page["data"].as_array_mut().unwrap().truncate(1);
    page["meta"] = Value::Null;
    page["links"].as_object_mut().unwrap().remove("next");
    let folder = tempfile::tempdir().unwrap();
    let short = file(folder.path(), "short.json", page.to_string().as_bytes());
    let imported = cli.run(&["store", "import", "--replace", &short]);
    assert!(text(&imported).contains("imported the sandboxes of"), "{imported:?}");
    for more in [&["--all"][..], &[], &["--offline"]] {
        let listed = json(&cli.run(&[&["list", &main_file()], more].concat()));
        assert_eq!(ids(&listed), ids(&before), "{more:?}");
    }
    assert_eq!(cli.paid(), 2);
}

#[test]
fn import_overwrites_fetched_report_only_by_flag() {
    let cli = CliHarness::new();
    let listed = json(&cli.run(&["list", &main_file()]));
    let id = listed["sandboxes"][0]["id"].as_str().unwrap();
    let fetched = saved(&cli, id);
    let folder = tempfile::tempdir().unwrap();
    let same = file(folder.path(), "same.json", &fetched);
    assert!(text(&cli.run(&["store", "import", &same])).contains("stored already, and the same"));
    // Where it came from is not forgotten for the same once more.
    assert!(text(&cli.run(&["store", "import", "--replace", &same])).contains("stored already, and the same"));
    let known = json(&cli.run(&["list", &main_file()]));
    assert!(known["sandboxes"][0]["imported_from"].is_null(), "{known}");
    let forged =
        format!(r#"{{"data":{{"id":"{id}","type":"private_file_behaviour","attributes":{{"tags":["FORGED"]}}}}}}"#);
    let forged = file(folder.path(), "forged.json", forged.as_bytes());
    let refused = cli.run(&["store", "import", &forged]);
    assert!(
        refused.status.code() == Some(9) && text(&refused).contains("another one is stored (fetched"),
        "{refused:?}"
    );
    assert_eq!(saved(&cli, id), fetched);
    assert!(cli.run(&["store", "import", "--replace", &forged]).status.success());
    assert!(String::from_utf8(saved(&cli, id)).unwrap().contains("FORGED"));
    assert!(cli.run(&["show", "--refresh", id]).status.success());
    assert_eq!(saved(&cli, id), fetched, "what is fetched again takes the place of what was imported");
}

#[test]
fn unusable_import_is_refused_with_a_reason() {
    let cli = CliHarness::new();
    let folder = tempfile::tempdir().unwrap();
    let (hash, other) = ("ab".repeat(32), "cd".repeat(32));
    for (name, bytes, words) in [
        ("page.html", "<html>".to_owned(), "not JSON"),
        ("empty", String::new(), "it is empty"),
        ("summary", r#"{"data":{"tags":["A"]}}"#.to_owned(), "no identifier"),
        ("file", format!(r#"{{"data":{{"id":"{hash}","type":"file","attributes":{{}}}}}}"#), "not a report"),
        ("only", format!(r#"{{"data":{{"id":"{hash}_Box-5","type":"file_behaviour"}}}}"#), "only an identifier"),
        ("list", format!(r#"{{"data":[{{"id":"{hash}_Box-5"}}]}}"#), "only identifiers"),
        ("numbers", "[1,2,3]".to_owned(), "neither reports nor their identifiers"),
        ("nameless", r#"{"data":[1,{"type":"file"}]}"#.to_owned(), "neither reports nor their identifiers"),
        ("others", r#"{"data":[{"type":"file"}]}"#.to_owned(), "neither reports nor their identifiers"),
        ("cut list", r#"{"data":[{"id":"b"#.to_owned(), "cut short"),
        ("empty list", r#"{"data":[],"errors":[{}]}"#.to_owned(), "the list is empty"),
        ("cut", format!(r#"{{"data":{{"id":"{hash}_Box-5","attributes":{{"tags":["A""#), "cut short"),
        ("odd", r#"{"data":{"id":"box","attributes":{"tags":["A"]}}}"#.to_owned(), "--file SHA256"),
    ] {
        let refused = cli.fails(&["store", "import", &file(folder.path(), name, bytes.as_bytes())], 9, &[]);
        assert!(text(&refused).contains(words), "{name} {refused:?}");
    }
    assert!(stored(&cli).is_empty());
    let odd = folder.path().join("odd");
    assert!(cli.run(&["store", "import", "--file", &hash, odd.to_str().unwrap()]).status.success());
    assert_eq!(stored(&cli)[0]["file"], hash.as_str());
    let named = format!(r#"{{"id":"{hash}_Box-5","attributes":{{"tags":["A"]}}}}"#);
    let named = file(folder.path(), "named", named.as_bytes());
    let wrong = cli.run(&["store", "import", "--file", &other, &named]);
    assert!(text(&wrong).contains("of another file"), "{wrong:?}");
    assert_eq!(cli.run(&["store", "import", "/nonexistent/report.json"]).status.code(), Some(9));
}

#[cfg(unix)]
#[test]
fn endless_input_is_refused_early() {
    let (cli, folder) = (CliHarness::new(), tempfile::tempdir().unwrap());
    let (sparse, pipe) = (folder.path().join("terabyte"), folder.path().join("pipe"));
    std::fs::File::create(&sparse).unwrap().set_len(1 << 40).unwrap();
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    // Whoever writes for ever is told to stop once nobody reads.
    let script = "while :; do printf '0123456789abcdef' || exit; done > \"$0\"";
    let mut endless = std::process::Command::new("sh").args(["-c", script]).arg(&pipe).spawn().unwrap();
    for path in [std::path::Path::new("/dev/zero"), &sparse, &pipe] {
        let refused = cli.fails(&["store", "import", path.to_str().unwrap()], 9, &[]);
        assert!(text(&refused).contains("not JSON"), "{refused:?}");
    }
    endless.wait().unwrap();
    assert!(stored(&cli).is_empty() && cli.demo.seen().is_empty());
}
