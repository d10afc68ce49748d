//! Stored items with odd names, or changed by hand, are listed and deleted like all others.

use crate::harness::{CliHarness, errors, json, main_file, text};
use crate::store::stored;

fn import(cli: &CliHarness, report: &[u8]) {
    let path = cli.home.path().join("report.json");
    std::fs::write(&path, report).unwrap();
    let imported = cli.run(&["store", "import", "--file", &main_file(), path.to_str().unwrap()]);
    assert!(imported.status.success(), "{imported:?}");
}

fn ids(cli: &CliHarness) -> Vec<String> {
    stored(cli).iter().map(|kept| kept["id"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn invalid_utf8_name_is_deleted_as_it_is_shown() {
    let cli = CliHarness::new();
    for name in [&b"odd\\ud800-1700000000"[..], b"odd\xff-1700000000", b"odd\\\\xff-1700000000"] {
        import(&cli, &[br#"{"data":{"id":""#, name, br#"","attributes":{"tags":["x"]}}}"#].concat());
    }
    let mut left = ids(&cli);
    assert_eq!(left.len(), 3);
    while let Some(id) = left.pop() {
        let shown = text(&cli.run(&["store"]));
        assert!(cli.run(&["store", "remove", &id, "--yes"]).status.success(), "{id}: {shown}");
        assert_eq!(ids(&cli), left, "{id}");
    }
}

#[test]
fn odd_name_is_shown_if_stored_else_refused_unpaid() {
    let cli = CliHarness::new();
    import(&cli, br#"{"data":{"id":"Rising MOVES","attributes":{"tags":["x"]}}}"#);
    assert_eq!(json(&cli.run(&["show", "Rising MOVES"]))["data"]["id"], "Rising MOVES");
    assert!(text(&cli.run(&["export", "--format", "csv", "Rising MOVES"])).contains("\"x\""));
    for command in [&["show"][..], &["export", "--format", "csv"], &["download"]] {
        let artifact = if command == ["download"] { &["pcap"][..] } else { &[] };
        cli.fails(&[command, &["Setting MOVES"], artifact].concat(), 2, &["is not a sandbox identifier"]);
    }
    assert_eq!(cli.paid(), 0);
}

#[cfg(unix)]
#[test]
fn a_path_is_escaped_once_whatever_it_is_made_of() {
    use std::os::unix::ffi::OsStrExt;
    let cli = CliHarness::new();
    let odd = std::ffi::OsStr::from_bytes(b"odd\xff\x1b.html");
    let path = cli.home.path().join(odd);
    let shown = r"odd\x{ff}\x1b.html";
    let says = |arguments: &[&str]| {
        let output = cli.command(arguments).arg(&path).output().unwrap();
        let printed = errors(&output) + &text(&output);
        assert!(printed.contains(shown), "{arguments:?}: {printed}");
        printed
    };
    let listed = text(&cli.run(&["list", "--format", "ids", &main_file()]));
    let id = listed.lines().next().unwrap().to_owned();
    assert!(says(&["download", &id, "html", "-o"]).contains("wrote"));
    assert!(says(&["download", &id, "html", "-o"]).contains("already exists"));
    for command in [&["show"][..], &["store", "import"], &["submit"]] {
        std::fs::remove_file(&path).ok();
        says(command);
    }
    std::fs::write(&path, "{").unwrap();
    for command in [&["show"][..], &["store", "import"]] {
        says(command);
    }
}
