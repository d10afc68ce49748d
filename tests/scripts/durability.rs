//! Nothing paid is lost or mixed up: beside other programs, on another service, behind a pipe.

use crate::faults::arm;
use crate::harness::{CliHarness, errors, json, main_file, squeezed, text};
use crate::store::{files, identifiers, records, store, stored};
use behaview::demo::{ListContent, Options};
use std::path::Path;
use std::process::{Child, Output, Stdio};
use std::time::{Duration, Instant};

fn waiting(cli: &CliHarness, arguments: &[&str]) -> Child {
    cli.command(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Waits until something is so.
fn until(what: &str, is_so: impl Fn() -> bool) {
    let began = Instant::now();
    while !is_so() {
        assert!(began.elapsed() < Duration::from_secs(30), "{what} did not come to pass");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn response_of_one_root_is_not_used_for_another() {
    let (cli, other) = (CliHarness::new(), CliHarness::new());
    cli.configure("[budget]\ndaily = 1\n");
    json(&cli.run(&["list", &main_file()]));
    let root = format!("profiles.lab.root={}", other.demo.root());
    let at_other = |arguments: &[&str]| -> Output {
        cli.command(&[arguments, &["--set", &root]].concat()).env("VT_APIKEY", &other.key).output().unwrap()
    };
    let missing = at_other(&["list", "--offline", &main_file()]);
    assert_eq!(missing.status.code(), Some(13), "{missing:?}");
    assert!(
        text(&at_other(&["ledger", "--json"])).contains("\"entries\": []"),
        "{:?}",
        at_other(&["ledger", "--json"])
    );
    // What the first service was asked is no part of the second one's day.
    let listed = at_other(&["list", &main_file()]);
    assert!(listed.status.success(), "{listed:?}");
    let again = at_other(&["list", &main_file()]);
    assert!(again.status.success(), "{again:?}");
    assert_eq!((cli.paid(), other.paid()), (1, 1));
    assert_eq!(json(&at_other(&["ledger", "--json"]))["entries"].as_array().unwrap().len(), 1);
    // The first one's is as it was.
    assert!(cli.run(&["list", "--offline", &main_file()]).status.success());
    assert_eq!(json(&cli.run(&["ledger", "--json"]))["entries"].as_array().unwrap().len(), 1);
    let stored = stored(&cli);
    let of_lab = stored.iter().filter(|thing| thing["profile"] == "lab").count();
    assert_eq!((of_lab, stored.len()), (8, 8), "four reports of each");
}

#[test]
fn paid_report_is_exported_despite_its_deletion() {
    let options =
        Options { listing: ListContent::Identifiers, delay: Duration::from_millis(1500), ..Options::default() };
    let (cli, ids) = (CliHarness::with(options), identifiers());
    let exporting = waiting(&cli, &["export", "--refresh", "--format", "json", &ids[0], &ids[1]]);
    until("the first report", || records(&cli).exists() && stored(&cli).len() == 1);
    assert!(cli.run(&["store", "remove", &ids[0], "--yes"]).status.success());
    let exported = exporting.wait_with_output().unwrap();
    assert!(exported.status.success(), "{exported:?}");
    assert!(ids[..2].iter().all(|id| text(&exported).contains(id)), "{exported:?}");
    assert_eq!((stored(&cli).len(), cli.paid()), (1, 2));
}

#[cfg(unix)]
#[test]
fn irregular_store_file_is_refused_by_name() {
    let cli = CliHarness::new();
    json(&cli.run(&["list", &main_file()]));
    let aim = cli.home.path().join("aim");
    for name in ["records.db-journal", "records.lock", "records.copy.db", "records.db", "values.db", "values.db-wal"] {
        let (place, aside) = (store(&cli).join(name), store(&cli).join("aside"));
        let was_there = std::fs::rename(&place, &aside).is_ok();
        let pipe = |place: &Path| assert!(std::process::Command::new("mkfifo").arg(place).status().unwrap().success());
        let link = |to: &'static str| move |place: &Path| std::os::unix::fs::symlink(to, place).unwrap();
        let to_nothing = |place: &Path| std::os::unix::fs::symlink(&aim, place).unwrap();
        for put in [&pipe as &dyn Fn(&Path), &link("/dev/zero"), &to_nothing] {
            put(&place);
            for command in [&["store"][..], &["list", "--refresh", &main_file()], &["doctor"]] {
                let refused = cli.run(command);
                assert!(!refused.status.success(), "{name}: {refused:?}");
                let printed = errors(&refused) + &squeezed(&text(&refused));
                assert!(
                    printed.contains(name) && (printed.contains("not a regular file") || printed.contains("is a link")),
                    "{printed}"
                );
            }
            std::fs::remove_file(&place).unwrap();
        }
        if was_there {
            std::fs::rename(&aside, &place).unwrap();
        }
    }
    assert!(!aim.exists());
    assert_eq!((stored(&cli).len(), cli.paid()), (4, 1));
}

/// Ends a program by a signal after this many paid calls; returns its output, in time.
#[cfg(unix)]
fn ended_by(cli: &CliHarness, name: &str, arguments: &[&str]) -> Output {
    use std::os::unix::process::ExitStatusExt;
    let asked = cli.paid();
    let child = waiting(cli, arguments);
    until("the call", || cli.paid() > asked);
    // What has come of it so far is here.
    std::thread::sleep(Duration::from_millis(100));
    let began = Instant::now();
    let killed = std::process::Command::new("kill").args(["-s", name, &child.id().to_string()]).status();
    assert!(killed.unwrap().success());
    let output = child.wait_with_output().unwrap();
    assert!(output.status.signal().is_some(), "{output:?}");
    assert!(began.elapsed() < Duration::from_secs(2), "{name}: {:?}", began.elapsed());
    output
}

#[cfg(unix)]
#[test]
fn signal_awaits_a_paid_response() {
    for name in ["TERM", "HUP", "INT"] {
        let cli = CliHarness::new();
        arm(&cli.demo, "list:delay=500*1");
        ended_by(&cli, name, &["list", &main_file()]);
        assert_eq!((cli.paid(), stored(&cli).len()), (1, 4), "{name}");
        let entries = json(&cli.run(&["ledger", "--json"]))["entries"].clone();
        assert_eq!(entries[0]["state"], "charged", "{name}: {entries}");
    }
}

#[cfg(unix)]
#[test]
fn interrupted_download_is_recorded_and_resumed() {
    let cli = CliHarness::with(Options { listing: ListContent::Identifiers, ..Options::default() });
    let ids = identifiers();
    arm(&cli.demo, "artifact:stall=900000*1");
    let fetch = ["download", &ids[0], "memdump", "--even-if-missing", "--output", "memory.bin"];
    let printed = errors(&ended_by(&cli, "TERM", &fetch));
    assert!(printed.contains("it was cancelled"), "{printed}");
    let entries = json(&cli.run(&["ledger", "--json"]))["entries"].clone();
    assert_eq!((&entries[0]["state"], &entries[0]["outcome"]), (&"unknown".into(), &"it was cancelled".into()));
    assert_eq!(files(&store(&cli).join("reports")).len(), 0, "what came of it is no capture");
    let mut command = cli.command(&fetch);
    assert!(command.current_dir(cli.home.path()).status().unwrap().success());
    assert!(std::fs::metadata(cli.home.path().join("memory.bin")).unwrap().len() > 900_000);
}
