//! What is held under odd names, or was changed by hand, is listed and deleted like everything else.

use crate::harness::{Desk, errors, json, main_file, text};
use crate::store::held;

fn import(desk: &Desk, report: &[u8]) {
    let path = desk.home.path().join("report.json");
    std::fs::write(&path, report).unwrap();
    let imported = desk.run(&["store", "import", "--file", &main_file(), path.to_str().unwrap()]);
    assert!(imported.status.success(), "{imported:?}");
}

fn ids(desk: &Desk) -> Vec<String> {
    held(desk).iter().map(|kept| kept["id"].as_str().unwrap().to_owned()).collect()
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
        let shown = text(&desk.run(&["store"]));
        assert!(desk.run(&["store", "remove", &id, "--yes"]).status.success(), "{id}: {shown}");
        assert_eq!(ids(&desk), left, "{id}");
    }
}

#[test]
fn what_is_held_under_an_odd_name_is_shown_by_it_and_what_is_not_is_refused_before_it_is_paid_for() {
    let desk = Desk::new();
    import(&desk, br#"{"data":{"id":"Rising MOVES","attributes":{"tags":["x"]}}}"#);
    assert_eq!(json(&desk.run(&["show", "Rising MOVES"]))["data"]["id"], "Rising MOVES");
    assert!(text(&desk.run(&["export", "--format", "csv", "Rising MOVES"])).contains("\"x\""));
    for command in [&["show"][..], &["export", "--format", "csv"], &["download"]] {
        let artefact = if command == ["download"] { &["pcap"][..] } else { &[] };
        desk.fails(&[command, &["Setting MOVES"], artefact].concat(), 2, &["is not a sandbox identifier"]);
    }
    assert_eq!(desk.paid(), 0);
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
    assert!(says(&["download", &id, "html", "-o"]).contains("wrote"));
    assert!(says(&["download", &id, "html", "-o"]).contains("is there already"));
    for command in [&["show"][..], &["store", "import"], &["submit"]] {
        std::fs::remove_file(&path).ok();
        says(command);
    }
    std::fs::write(&path, "{").unwrap();
    for command in [&["show"][..], &["store", "import"]] {
        says(command);
    }
}
