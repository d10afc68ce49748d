//! `behaview pivot`: stored files that have a value; nothing is left of them once deleted.

use crate::harness::{CliHarness, text};
use crate::store::store;
use behaview::prevalence::StableBuildHasher;
use behaview::report::{Cancel, Report};
use serde_json::Value;

/// A store with two reports of one file, and one of another.
fn stored() -> (CliHarness, [String; 2]) {
    let cli = CliHarness::new();
    let files = ["ab".repeat(32), "cd".repeat(32)];
    let report = |file: &str, sandbox: &str, host: &str, mutexes: usize| {
        let mutexes: Vec<_> = (0..mutexes).map(|n| format!("\"m{n}\"")).collect();
        format!(
            r#"{{"type":"file_behaviour","id":"{file}_{sandbox}-1794474840","attributes":{{"mutexes_created":[{}],
            "dns_lookups":[{{"hostname":"{host}"}}],"files_written":["C:\\Users\\me\\x.dll"]}}}}"#,
            mutexes.join(",")
        )
    };
    let one = [report(&files[0], "Box", "c2.example", 1), report(&files[0], "Tub", "c2.example", 1)].join("\n");
    for (name, json) in [("one", one), ("two", report(&files[1], "Box\\u001b[2J", "b.example", 300))] {
        let path = cli.home.path().join(name);
        std::fs::write(&path, json).unwrap();
        let imported = cli.run(&["store", "import", path.to_str().unwrap()]);
        assert!(imported.status.success() && store(&cli).join("values.db").exists(), "{imported:?}");
    }
    (cli, files)
}

#[test]
fn values_lead_to_the_files_that_have_them() {
    let (cli, [one, two]) = stored();
    let paid = cli.paid();
    let host = text(&cli.run(&["pivot", "C2.example"]));
    assert!(
        host.contains("c2.example  Network name  in 1 of 2 stored files\n")
            || host.contains("C2.example  Network name  in 1 of 2 stored files\n"),
        "{host}"
    );
    assert!(host.contains(&format!("  {}…{}  Tub  ", &one[..8], &one[60..])), "{host}");
    let path = cli.run(&["pivot", r"c:\users\YOU\X.dll", "--json"]);
    let found: Vec<Value> = text(&path).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let of = |kind: &str| found.iter().filter(|found| found["kind"] == kind).collect::<Vec<_>>();
    let written = of("Files written");
    assert_eq!((written.len(), &written[0]["files"], &written[0]["of_files"]), (3, &2.into(), &2.into()));
    assert!(written.iter().any(|found| found["file"] == two.as_str() && found["stored_for"].is_null()), "{found:?}");
    assert!(text(&path).is_ascii());
    // A list of 300 may have been cut; no name of a sandbox reaches the terminal.
    let mutex = cli.run(&["pivot", "m7", "absent"]);
    assert!(text(&mutex).contains("Services mutex made  in 1 of 2 stored files\n") && !text(&mutex).contains('\u{1b}'));
    let unlisted = text(&cli.run(&["pivot", "m0", "--json"]));
    assert!(unlisted.contains(r#""unknown":0"#), "{unlisted}");
    cli.fails(&["pivot", "absent"], 5, &["not in 2 stored files", "search finds a part"]);
    // A value as exports write it, and the hash of a stored file.
    for defanged in ["c2[.]example", "hxxps[:]//c2[.]example[:]8080/a"] {
        assert!(text(&cli.run(&["pivot", defanged])).contains("c2.example"), "{defanged}");
    }
    cli.fails(&["pivot", &one], 5, &["is a stored file itself"]);
    cli.fails(&["pivot", " "], 2, &["without text"]);
    // The index is a cache: one that is damaged is made again.
    std::fs::write(store(&cli).join("values.db"), "no database".repeat(500)).unwrap();
    let find = || assert!(text(&cli.run(&["pivot", "c2.example"])).contains("in 1 of 2 stored files"));
    find();
    for damage in ["DROP TABLE value", "UPDATE report SET file = x'ff00'"] {
        rusqlite::Connection::open(store(&cli).join("values.db")).unwrap().execute_batch(damage).unwrap();
        find();
    }
    assert_eq!(cli.paid(), paid);
}

#[test]
fn reports_that_cannot_be_listed_are_an_error() {
    let (cli, _) = stored();
    let reports = store(&cli).join("reports");
    std::fs::rename(&reports, store(&cli).join("away")).unwrap();
    std::fs::write(&reports, "").unwrap();
    cli.fails(&["pivot", "c2.example"], 1, &["values.db", "Check the disk"]);
    // Without the folder nothing is stored.
    std::fs::remove_file(&reports).unwrap();
    cli.fails(&["pivot", "c2.example"], 5, &["nothing is stored yet"]);
}

#[test]
fn deleted_reports_leave_no_hash_behind() {
    let (cli, [one, _]) = stored();
    let values = Report::of_text("c2.example").values_of(None, &StableBuildHasher, &Cancel::default()).unwrap();
    let is_left = |folder: &std::path::Path| {
        ["values.db", "values.db-wal"].iter().filter_map(|name| std::fs::read(folder.join(name)).ok()).any(|bytes| {
            values.iter().any(|value| bytes.windows(8).any(|window| window == value.hashes.value.to_be_bytes()))
        })
    };
    assert!(cli.run(&["pivot", "c2.example"]).status.success() && is_left(&store(&cli)));
    // While another program writes to the index, all else is deleted; its next reader forgets.
    let writer = rusqlite::Connection::open(store(&cli).join("values.db")).unwrap();
    writer.execute_batch("BEGIN IMMEDIATE").unwrap();
    cli.fails(&["store", "remove", &one, "--yes"], 1, &["values.db", "locked"]);
    drop(writer);
    cli.fails(&["pivot", "c2.example"], 5, &["not in 1 stored file"]);
    assert!(!is_left(&store(&cli)));
    cli.run(&["store", "remove", "--all", "--yes"]);
    cli.fails(&["pivot", "c2.example"], 5, &["nothing is stored yet"]);
}
