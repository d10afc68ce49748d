//! Prevalence: how common a row is, other files with it, twins, and which sandbox to open next.

use crate::harness::{TuiHarness, file, identifiers, main_file, options};
use crate::multiple_files::chosen;
use crate::screen;
use behaview::app::TerminalEvent;
use behaview::report::ImportOrigin;
use behaview::report::identifier::{Identifier, Sha256};
use behaview::store::{IMPORTED, NewResponse, ResponsePart, Store};
use behaview::text::Untrusted;
use serde_json::{Value, json};

fn sha256(n: usize) -> Sha256 {
    Sha256::parse(&format!("{:064x}", 0xabc000 + n)).unwrap()
}

/// The app on a store with reports of files by one sandbox; two of the files are of one family.
fn stored(files: usize) -> TuiHarness {
    let tui = TuiHarness::new(identifiers());
    let store = Store::open(&tui.folder.path().join("store")).unwrap();
    for n in 0..files {
        let own = (0..4).map(|own| format!("own{n}-{own}"));
        let family = (0..12).filter(|_| [3, 7].contains(&n)).map(|shared| format!("family{shared}"));
        let mutexes: Vec<_> = family.chain(own).chain((0..20).map(|noise| format!("noise{noise}"))).collect();
        let id = format!("{}_CAPE Sandbox-{}", sha256(n), 1_794_474_840 + n);
        let keys: Vec<_> = (0..300).filter(|_| n == 9).map(|key| format!(r"HKLM\K{key}")).collect();
        let attributes = json!({
            "sandbox_name": "CAPE Sandbox", "mutexes_created": mutexes, "has_pcap": true, "registry_keys_opened": keys,
            "command_executions": ["vssadmin.exe delete shadows /all"],
        });
        import(&store, n, &id, &attributes);
    }
    drop(store);
    tui.restart()
}

fn import(store: &Store, n: usize, id: &str, attributes: &Value) {
    let bytes = json!({"id": id, "type": "private_file_behaviour", "attributes": attributes}).to_string();
    let part = ResponsePart::report(&Identifier::from_input(id).unwrap(), Some(sha256(n)), 0..bytes.len());
    let origin = ImportOrigin { from: Untrusted::from("x"), by: Untrusted::from("y") };
    let (key, bytes) = (&part.key, bytes.as_bytes());
    let received = jiff::Timestamp::from_second(1_794_474_845).unwrap();
    let new = NewResponse { service: IMPORTED, profile: "x", key, received, bytes, imported: Some(&origin) };
    assert!(store.import(&new, std::slice::from_ref(&part), false).unwrap());
}

#[test]
fn rows_tell_how_common_they_are_and_lead_to_others() {
    let mut tui = stored(10);
    tui.open(&sha256(3));
    tui.keys("8");
    tui.assert_shows("family0 · in 2 of 10 stored files · 2 of 10 of this sandbox (V lists them)");
    tui.keys("V");
    tui.assert_shows("Pivot: 1 other stored report");
    insta::assert_snapshot!("prevalence_pivot", tui.shown());
    tui.keys("enter");
    tui.assert_shows("family0 · in 2 of 10");
    tui.assert_shows(&sha256(7).short());
    tui.keys("esc");
    tui.assert_shows("Pivot: 1 other stored report");
    // The other file is one key away from a comparison, and the list one from that.
    tui.keys("c");
    tui.assert_shows("Compare with 00000000…c007");
    tui.keys("esc");
    tui.assert_shows("Pivot: 1 other stored report");
    tui.keys("esc");
    tui.open_other(&sha256(5));
    tui.keys("V");
    tui.assert_shows("No other stored file did nearly the same.");
    tui.keys("8 V");
    tui.assert_shows("No other stored file has it.");
    assert_eq!(tui.paid_calls(), 0);
}

#[test]
fn twins_and_the_best_sandbox_are_told_in_the_list() {
    let mut tui = stored(10);
    tui.open(&sha256(7));
    tui.assert_shows("did nearly the same: 1 file, 12 November (V lists them)");
    tui.keys("V");
    tui.assert_shows("24 of 32 values that are not usual in this sandbox");
    tui.keys("esc");
    tui.open_other(&main_file());
    tui.keys("enter");
    tui.assert_shows("usually capture, 1 finding");
    tui.assert_shows("best to open next");
    insta::assert_snapshot!("prevalence_next", tui.shown());
}

#[test]
fn stored_files_are_ranked_and_returned_to() {
    let mut tui = stored(10);
    tui.keys("#");
    tui.assert_shows("Triage · 10 files · missing: at least 10 requests");
    screen!("triage_stored", tui);
    tui.keys("j j j");
    let before = chosen(&tui);
    assert!(before.contains("c003") && before.contains("1      1 request+"), "{before}");
    tui.keys("enter");
    tui.assert_gone("Triage · ");
    tui.keys("esc");
    assert_eq!(chosen(&tui), before);
    tui.keys("/ c 0 0 7 enter");
    tui.assert_shows("Triage · 1 of 10 files");
    tui.keys("esc esc");
    tui.open(&sha256(3));
    tui.keys("#");
    tui.assert_shows("Triage · 10 files");
    tui.keys("esc");
    tui.assert_gone("Triage · ");
    tui.keys("f S q q q");
    tui.assert_shows("10 of 10 reports · 1 list, perhaps cut by the service");
    assert_eq!(tui.paid_calls(), 0);
}

/// The number in the column "alike" of a file.
fn alike(tui: &TuiHarness, file: &Sha256) -> String {
    let shown = tui.shown();
    let line = |word: &str| shown.lines().find(|line| line.contains(word)).unwrap();
    let column = line("alike").split("alike").next().unwrap().chars().count();
    line(&file.short()).chars().skip(column).take(5).collect::<String>().trim().to_owned()
}

#[test]
fn a_file_is_compared_again_like_its_whole_list() {
    let mut tui = stored(101);
    tui.keys("# / c 0 0 7 enter");
    tui.assert_shows("Triage · 1 of 101 files");
    assert_eq!(alike(&tui, &sha256(7)), "0", "of more than 100 files those with the same behash are alike");
    tui.keys("enter r y");
    assert_eq!(tui.paid_calls(), 1);
    tui.keys("esc");
    tui.assert_shows("Triage · 1 of 101 files");
    assert_eq!(alike(&tui, &sha256(7)), "0", "{}", tui.screen());
}

#[test]
fn files_are_alike_whichever_was_stored_first() {
    let tui = TuiHarness::new(options());
    let store = Store::open(&tui.folder.path().join("store")).unwrap();
    let report: Value = serde_json::from_str(include_str!("../../assets/demo/dropper/1-cape.json")).unwrap();
    let attributes = &report["attributes"];
    import(&store, 0, &format!("{}_CAPE Sandbox-1794474840", sha256(0)), attributes);
    drop(store);
    let mut tui = tui.restart();
    tui.session.take(TerminalEvent::Paste(format!("{} {}", sha256(0), main_file())));
    tui.rest();
    tui.assert_shows("Triage · 2 files");
    tui.keys("A Y");
    tui.rest();
    for file in [sha256(0), main_file()] {
        assert_eq!(alike(&tui, &file), "1", "{}", tui.screen());
    }
}

#[test]
fn pasted_files_are_requested_for_one_total() {
    let mut tui = TuiHarness::new(options());
    let unknown = "f".repeat(64);
    tui.session.take(TerminalEvent::Paste(format!("{unknown} {} {}", main_file(), file("Parcel"))));
    tui.rest();
    tui.assert_shows("Triage · 3 files · missing: at least 3 requests");
    tui.assert_shows("3 requests: A fetch missing");
    tui.keys("A");
    tui.assert_shows("To be requested: 3 lists, for 3 requests.");
    tui.keys("y");
    assert_eq!(tui.paid_calls(), 0, "the answer for several has a key of its own");
    tui.keys("A Y");
    tui.assert_shows("All 3 responses are here.");
    assert_eq!(tui.paid_calls(), 3);
    screen!("triage_requested", tui);
}
