//! What is held under odd names, or was changed by hand, is listed and deleted like everything else.

use crate::desk::{Desk, errors, json, main_file, text};

fn import(desk: &Desk, report: &[u8]) {
    let path = desk.home.path().join("report.json");
    std::fs::write(&path, report).unwrap();
    let imported = desk.run(&["import", "--file", &main_file(), path.to_str().unwrap()]);
    assert!(imported.status.success(), "{imported:?}");
}

fn ids(desk: &Desk) -> Vec<String> {
    let held = json(&desk.run(&["held", "--json"]));
    held["held"].as_array().unwrap().iter().map(|kept| kept["id"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn what_is_no_text_is_deleted_by_the_name_that_it_is_shown_with() {
    let desk = Desk::new();
    for name in [&b"odd\\ud800-1700000000"[..], b"odd\xff-1700000000", b"odd\\\\xff-1700000000"] {
        import(&desk, &[br#"{"data":{"id":""#, name, br#"","attributes":{"tags":["x"]}}}"#].concat());
    }
    let mut left = ids(&desk);
    assert_eq!(left.len(), 3);
    while let Some(id) = left.pop() {
        let shown = text(&desk.run(&["held"]));
        assert!(desk.run(&["held", "--delete", &id, "--yes"]).status.success(), "{id}: {shown}");
        assert_eq!(ids(&desk), left, "{id}");
    }
}

#[test]
fn what_is_held_under_an_odd_name_is_shown_by_it_and_what_is_not_is_refused_before_it_is_paid_for() {
    let desk = Desk::new();
    import(&desk, br#"{"data":{"id":"Rising MOVES","attributes":{"tags":["x"]}}}"#);
    assert_eq!(json(&desk.run(&["show", "Rising MOVES"]))["data"]["id"], "Rising MOVES");
    assert!(text(&desk.run(&["export", "--format", "csv", "Rising MOVES"])).contains("\"x\""));
    for command in [&["show"][..], &["export", "--format", "csv"], &["fetch"]] {
        let artefact = if command == ["fetch"] { &["pcap"][..] } else { &[] };
        desk.fails(&[command, &["Setting MOVES"], artefact].concat(), 2, &["is no sandbox identifier"]);
    }
    assert_eq!(desk.paid(), 0);
}

#[test]
fn identifiers_that_cannot_be_piped_are_named_and_missed() {
    let desk = Desk::new();
    import(&desk, br#"{"data":{"id":"one-1700000000","attributes":{"tags":["x"]}}}"#);
    let list = || desk.run(&["list", "--offline", "--format", "ids", &main_file()]);
    assert!(list().status.success());
    import(&desk, br#"{"data":{"id":"two\nlines-1700000000","attributes":{"tags":["x"]}}}"#);
    let listed = list();
    assert_eq!((text(&listed).as_str(), listed.status.code()), ("one-1700000000\n", Some(12)));
    assert!(errors(&listed).contains(r"two\x0alines-1700000000; --format json has it"), "{listed:?}");
    assert!(errors(&listed).contains("1 of 2 are printed"), "{listed:?}");
}

#[test]
fn a_note_that_was_edited_by_hand_is_listed_and_goes_with_its_report() {
    let desk = Desk::new();
    import(&desk, br#"{"data":{"id":"one-1700000000","attributes":{"tags":["x"]}}}"#);
    let paths = text(&desk.run(&["config", "path"]));
    let store = paths.lines().find_map(|line| line.strip_prefix("store")).unwrap().trim().to_owned();
    let store = rusqlite::Connection::open(std::path::Path::new(&store).join("records.db")).unwrap();
    let note = "INSERT INTO note (identifier, is_item, attribute, item, text, written)
                VALUES ('one-1700000000', 1, 'tags', 'x', 'why?', 0)";
    store.execute(note, []).unwrap();
    let held = json(&desk.run(&["held", "--json"]));
    assert_eq!(held["held"][0]["notes"][0]["text"], "why?", "{held}");
    let deleted = json(&desk.run(&["held", "--delete", "one-1700000000", "--yes", "--json"]));
    assert_eq!(deleted["deleted"]["notes"], 1, "{deleted}");
    assert!(ids(&desk).is_empty());
    assert_eq!(store.query_row("SELECT COUNT(*) FROM note", [], |row| row.get::<_, i64>(0)), Ok(0));
}

#[cfg(unix)]
#[test]
fn a_path_is_escaped_once_whatever_it_is_made_of() {
    use std::os::unix::ffi::OsStrExt;
    let desk = Desk::new();
    let odd = std::ffi::OsStr::from_bytes(b"odd\xff\x1b.html");
    let path = desk.home.path().join(odd);
    let shown = r"odd\x{ff}\x1b.html";
    let says = |arguments: &[&str]| {
        let output = desk.command(arguments).arg(&path).output().unwrap();
        let said = errors(&output) + &text(&output);
        assert!(said.contains(shown), "{arguments:?}: {said}");
        said
    };
    let listed = text(&desk.run(&["list", "--format", "ids", &main_file()]));
    let id = listed.lines().next().unwrap().to_owned();
    assert!(says(&["fetch", &id, "html", "-o"]).contains("wrote"));
    assert!(says(&["fetch", &id, "html", "-o"]).contains("is there already"));
    for command in ["show", "import", "submit"] {
        std::fs::remove_file(&path).ok();
        says(&[command]);
    }
    std::fs::write(&path, "{").unwrap();
    for command in ["show", "import"] {
        says(&[command]);
    }
}
