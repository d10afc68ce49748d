//! What is imported: every entry of a file is held or told of, and no key is in what is held.

use crate::harness::{CliHarness, errors, main_file, text};
use crate::store::places_of;

fn import(cli: &CliHarness, name: &str, json: &str) -> std::process::Output {
    let path = cli.home.path().join(name);
    std::fs::write(&path, json).unwrap();
    cli.run(&["store", "import", path.to_str().unwrap()])
}

fn report(file: &str, n: usize, tag: &str) -> String {
    format!(r#"{{"type":"file_behaviour","id":"{file}_Box-179447484{n}","attributes":{{"tags":["{tag}"]}}}}"#)
}

#[test]
fn entries_that_are_no_reports_are_counted_with_why() {
    let (cli, file) = (CliHarness::new(), main_file());
    let others = format!(r#"{{"id":"{file}_Other-1"}},{{"type":"file_behaviour"}},{{"type":"analysis","id":"x"}},7"#);
    let why = "passed over: 1 report only by identifier, 2 entries without an identifier, 1 entry of another type than a behaviour report";
    let page = |n: usize, more: &str| format!(r#"{{"data":[{},{others}]{more}}}"#, report(&file, n, "T"));
    let of_list = format!(r#","links":{{"self":"https://x.example/api/v3/private/files/{file}/behaviours"}}"#);
    // One that says which list it is of is held as a whole.
    for (n, more) in [(1, ""), (2, &of_list)] {
        let imported = import(&cli, "page.json", &page(n, more));
        assert_eq!(imported.status.code(), Some(12), "{imported:?}");
        assert!(text(&imported).contains(why), "{imported:?}");
        assert!(text(&imported).ends_with("imported 1, stored already 0, refused 0, passed over 4\n"), "{imported:?}");
        assert!(errors(&imported).contains("passed over, because they are not reports: 4"), "{imported:?}");
    }
    let whole = import(&cli, "one.json", &report(&file, 3, "T"));
    assert!(whole.status.success() && !text(&whole).contains("passed over"), "{whole:?}");
}

#[test]
fn key_in_an_import_is_stored_nowhere() {
    let (cli, file) = (CliHarness::new(), main_file());
    let key = cli.key.clone();
    let (first, rest) = key.split_at(1);
    let escaped = format!("\\u{:04x}{rest}", first.as_bytes()[0]);
    let spelled = [key.clone(), key.to_uppercase(), escaped.clone()];
    let inside = tempfile::tempdir().unwrap();
    for (n, tag) in spelled.iter().enumerate() {
        let path = inside.path().join(format!("{key}.json"));
        std::fs::write(&path, format!(r#"{{"data":[{}]}}"#, report(&file, n, tag))).unwrap();
        let imported = cli.run(&["store", "import", path.to_str().unwrap()]);
        assert!(text(&imported).ends_with("imported 1, stored already 0, refused 0\n"), "{imported:?}");
        let shown = cli.run(&["show", "--offline", &format!("{file}_Box-179447484{n}")]);
        assert!(shown.status.success() && text(&shown).contains("****************"), "{shown:?}");
    }
    assert!(cli.run(&["store"]).status.success());
    let digits = "ab".repeat(32);
    let mut named = cli.command(&["store", "import", "--file", &digits, "/dev/null"]);
    let named = named.env("BEHAVIEW_API_KEY", &digits).output().unwrap();
    assert!(named.status.code() == Some(2) && errors(&named).contains("contains the API key"), "{named:?}");
    for arguments in [["cost", &digits], ["store", &digits], ["--theme", &digits], ["list", &digits[1..]]] {
        let typed = cli.command(&arguments).env("BEHAVIEW_API_KEY", &digits[1..]).output().unwrap();
        assert!(typed.status.code() == Some(2) && !errors(&typed).contains("abab"), "{typed:?}");
    }
    assert!(places_of(&spelled, cli.home.path()).is_empty(), "the key was written");
}

#[test]
fn trailing_text_after_the_last_value_is_refused() {
    let (cli, file) = (CliHarness::new(), main_file());
    for (n, rest) in [(1, "]"), (2, "\n} \n"), (3, " ]}")] {
        let imported = import(&cli, "more.json", &(report(&file, n, "T") + rest));
        assert_eq!(imported.status.code(), Some(12), "{rest}: {imported:?}");
        assert!(text(&imported).ends_with("imported 1, stored already 0, refused 1\n"), "{rest}: {imported:?}");
    }
    for (n, rest) in [(4, "\r\n \t"), (5, ",\n")] {
        assert!(import(&cli, "one.json", &(report(&file, n, "T") + rest)).status.success(), "{rest}");
    }
}
