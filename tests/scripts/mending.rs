//! A store that is damaged is mended, also on a full disk: all that can be read is carried over, or the mending is begun again.
//! What is deleted makes room there.

use crate::desk::{Desk, errors, json, main_file, text};
use crate::store::{counted, identifiers, is_civil, ledger, settled, store};
use behaview::demo::Demo;
use behaview::report::{Body, Index};
use behaview::store::Store;
use jiff::Timestamp;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

/// Has the next start mend the store.
fn mark(desk: &Desk) {
    std::fs::write(store(desk).with_file_name("behaview.db-damaged"), "").unwrap();
}

/// Overwrites the page on which a table begins.
fn lose(desk: &Desk, table: &str) -> PathBuf {
    let (path, mut bytes) = settled(desk);
    let first = first_page(&rusqlite::Connection::open(&path).unwrap(), table);
    bytes[(first - 1) * 4096..][..4096].fill(0);
    std::fs::write(&path, &bytes).unwrap();
    mark(desk);
    path
}

#[test]
fn a_store_of_less_than_a_page_is_set_aside_in_words_and_begun_anew() {
    for length in [0, 1, 50, 100, 512, 4095] {
        let desk = Desk::new();
        json(&desk.run(&["list", &main_file()]));
        std::fs::OpenOptions::new().write(true).open(store(&desk)).unwrap().set_len(length).unwrap();
        let began = desk.run(&["ledger"]);
        assert!(began.status.success(), "{length}: {began:?}");
        assert!(
            errors(&began).contains("Of its ledger 0 calls were saved, and some may be lost"),
            "{length}: {began:?}"
        );
        let next = desk.run(&["ledger"]);
        assert!(next.status.success() && errors(&next).is_empty(), "{length}: {next:?}");
    }
    // One that was removed by hand is nobody's loss.
    let desk = Desk::new();
    json(&desk.run(&["list", &main_file()]));
    std::fs::remove_file(store(&desk)).unwrap();
    let began = desk.run(&["ledger"]);
    assert!(began.status.success() && errors(&began).is_empty(), "{began:?}");
}

/// Bytes that cannot be packed, another 60 kB for each seed.
fn noise(seed: u32) -> Vec<u8> {
    let mut state = u64::from(seed) + 1;
    let next = || {
        // xorshift64
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()
    };
    std::iter::repeat_with(next).take(7_500).flatten().collect()
}

/// The program where no file can be longer than so many blocks of 512 bytes, as on a disk that is full.
#[cfg(unix)]
fn limited(desk: &Desk, blocks: u32, arguments: &[&str]) -> Output {
    let mut shell = Command::new("sh");
    let limit = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$0\" \"$@\"");
    shell.args(["-c", &limit, env!("CARGO_BIN_EXE_behaview")]).args(arguments).env_clear();
    shell.env("HOME", desk.home.path()).env("PATH", std::env::var_os("PATH").unwrap_or_default());
    shell.stdin(Stdio::null()).output().unwrap()
}

#[cfg(unix)]
#[test]
fn a_mending_that_did_not_end_is_begun_again_from_what_was_damaged() {
    let desk = Desk::new();
    json(&desk.run(&["list", "--all", &main_file()]));
    let (path, paid) = (store(&desk), desk.paid());
    let filled = Store::open(&path).unwrap();
    for seed in 0..60_u32 {
        filled.keep("lab", &seed.to_le_bytes(), Timestamp::UNIX_EPOCH, &Body::in_memory(noise(seed))).unwrap();
    }
    drop(filled);
    mark(&desk);
    // The log is full before all is carried over.
    for blocks in [5000, 2000, 5000, 400, 5000] {
        let stopped = limited(&desk, blocks, &["held"]);
        assert!(is_civil(&stopped) && !stopped.status.success(), "{blocks}: {stopped:?}");
        assert!(errors(&stopped).contains("the next start begins again"), "{blocks}: {stopped:?}");
    }
    let mended = desk.run(&["ledger", "--all"]);
    assert!(errors(&mended).contains("Its ledger was saved: 2 calls. Saved with it: 62 answers."), "{mended:?}");
    assert_eq!((ledger(&desk).len(), counted(&desk)), (2, 2));
    let whole = Store::open(&path).unwrap();
    for seed in 0..60_u32 {
        let held = whole.answer("lab", &seed.to_le_bytes()).unwrap().unwrap();
        assert!(held.body.whole().unwrap() == noise(seed), "{seed}");
    }
    json(&desk.run(&["list", "--all", &main_file()]));
    assert_eq!(desk.paid(), paid, "what is held is not paid for again");
    assert!(!path.with_file_name("behaview.db-damaged-2").exists(), "what was half carried over was set aside");
}

#[test]
fn a_lost_page_costs_what_stood_on_it_and_no_more() {
    for table in ["answer", "row_index", "block", "report", "index_block", "ledger", "file"] {
        let desk = Desk::new();
        json(&desk.run(&["list", "--all", &main_file()]));
        let path = store(&desk);
        let filled = Store::open(&path).unwrap();
        let rows = format!(r#"{{"data":{{"attributes":{{"files_opened":[{}7]}}}}}}"#, "7,".repeat(100_000));
        filled.keep("lab", b"rows", Timestamp::UNIX_EPOCH, &Body::in_memory(rows.into_bytes())).unwrap();
        let rows = filled.answer("lab", b"rows").unwrap().unwrap().body;
        Index::of(&rows).unwrap().keep(&rows).unwrap();
        drop((filled, rows));
        lose(&desk, table);
        let mended = desk.run(&["held"]);
        assert!(mended.status.success() && errors(&mended).contains("was set aside as"), "{table}: {mended:?}");
        assert!(errors(&mended).contains("Its ledger was saved: 2 calls") || table == "ledger", "{table}: {mended:?}");
        if table == "answer" {
            assert!(errors(&mended).contains("Not held any more, because it was damaged"), "{mended:?}");
        }
        assert!(desk.run(&["held", "--all", "--yes"]).status.success(), "{table}");
        assert!(desk.run(&["list", &main_file()]).status.success(), "{table}");
        assert_eq!(Store::open(&path).unwrap().damages().unwrap(), [""; 0], "{table}");
    }
}

/// The page on which a table begins.
fn first_page(connection: &rusqlite::Connection, table: &str) -> usize {
    let first = format!("SELECT rootpage FROM sqlite_master WHERE name = '{table}'");
    connection.query_row(&first, [], |row| row.get::<_, u32>(0)).unwrap() as usize
}

#[test]
fn what_stands_below_a_page_is_found_whatever_stands_on_that_page() {
    // The page after it, one of another table, and each in the other's place.
    for (other, is_exchanged) in [(None, false), (Some("report"), false), (Some("answer"), true)] {
        let desk = Desk::new();
        let ids = identifiers();
        json(&desk.run(&["list", "--all", &main_file()]));
        let filled = Store::open(&store(&desk)).unwrap();
        for seed in 0..20_u32 {
            filled.keep("lab", &seed.to_le_bytes(), Timestamp::UNIX_EPOCH, &Body::in_memory(noise(seed))).unwrap();
        }
        drop(filled);
        let shown: Vec<_> = ids.iter().map(|id| desk.run(&["show", id]).stdout).collect();
        let (path, mut bytes) = settled(&desk);
        let connection = rusqlite::Connection::open(&path).unwrap();
        let lost = first_page(&connection, "block");
        let other = other.map_or(lost + 1, |table| first_page(&connection, table));
        drop(connection);
        let [lost, other] = [lost, other].map(|page| (page - 1) * 4096);
        assert_eq!(bytes[lost], 5, "it leads to others");
        let whole = bytes[lost..][..4096].to_vec();
        bytes.copy_within(other..other + 4096, lost);
        if is_exchanged {
            bytes[other..][..4096].copy_from_slice(&whole);
        }
        std::fs::write(&path, &bytes).unwrap();
        mark(&desk);
        let mended = desk.run(&["held"]);
        assert!(errors(&mended).contains("Saved with it: 22 answers."), "{mended:?}");
        assert!(!errors(&mended).contains("Not held any more"), "{mended:?}");
        for (id, shown) in ids.iter().zip(shown) {
            assert_eq!(desk.run(&["show", id, "--offline"]).stdout, shown, "{id}");
        }
    }
}

#[test]
fn a_list_that_is_damaged_is_named_with_what_it_costs_and_the_rest_is_served() {
    let desk = Desk::new();
    let ids = identifiers();
    json(&desk.run(&["list", "--all", &main_file()]));
    let damage = "UPDATE block SET bytes = CAST(substr(bytes, 1, 100) || x'00' || substr(bytes, 102) AS BLOB)
         WHERE answer = (SELECT MIN(id) FROM answer)";
    rusqlite::Connection::open(store(&desk)).unwrap().execute(damage, []).unwrap();
    let (paid, file) = (desk.paid(), main_file());
    let named = desk.run(&["list", "--offline", "--format", "ids", &file]);
    assert_eq!(named.status.code(), Some(12), "{named:?}");
    assert_eq!(text(&named).lines().count(), ids.len() - 4, "what came with the other page is served");
    let aside = "is set aside, because it is damaged or of no use; behaview held has it.";
    let costs = format!("{aside} To ask for it again costs 1 request");
    for told in [named, desk.run(&["list", "--offline", &file]), desk.run(&["list", "--dry-run", &file])] {
        assert!(errors(&told).contains(&costs), "{told:?}");
    }
    for arguments in [&["list", "--offline", &file][..], &["list", "--offline", "--all", &file], &["compare", &file]] {
        let in_part = desk.run(arguments);
        assert_eq!(in_part.status.code(), Some(12), "{in_part:?}");
        assert!(text(&in_part).contains(ids.last().unwrap().split('_').nth(1).unwrap().split('-').next().unwrap()));
    }
    for arguments in [["show", &ids[0], "--offline"], ["show", &ids[0], "--dry-run"]] {
        let told = desk.run(&arguments);
        assert!(errors(&told).contains(" that may have it ") && errors(&told).contains(&costs), "{told:?}");
    }
    let compared = desk.run(&["compare", &file]);
    assert!(errors(&compared).contains(&format!("{aside} behaview list fetches it again: 1 request")), "{compared:?}");
    assert!(desk.run(&["show", ids.last().unwrap(), "--offline"]).status.success());
    assert_eq!(desk.paid(), paid);
    let again = desk.run(&["list", &file]);
    assert!(again.status.success() && errors(&again).contains(&costs), "{again:?}");
    assert_eq!(desk.paid(), paid + 1);
    for told in [desk.run(&["list", &file]), desk.run(&["compare", &file]), desk.run(&["show", &ids[0], "--offline"])] {
        assert!(told.status.success() && !errors(&told).contains("set aside"), "{told:?}");
    }
}

#[test]
fn reports_whose_bytes_are_held_are_found_again() {
    let desk = Desk::new();
    let ids = identifiers();
    json(&desk.run(&["list", "--all", &main_file()]));
    let shown: Vec<_> = ids.iter().map(|id| desk.run(&["show", id]).stdout).collect();
    let (held, paid) = (text(&desk.run(&["held"])), desk.paid());
    lose(&desk, "report");
    let mended = desk.run(&["held"]);
    assert!(!errors(&mended).contains("Not held any more"), "{mended:?}");
    assert_eq!(text(&mended), held);
    for (id, shown) in ids.iter().zip(shown) {
        let again = desk.run(&["show", id, "--offline"]);
        assert_eq!(again.stdout, shown, "{id}: {again:?}");
    }
    assert_eq!(desk.paid(), paid);
}

#[test]
fn answers_whose_rows_are_lost_are_found_again_by_what_is_in_them() {
    let desk = Desk::new();
    let ids = identifiers();
    json(&desk.run(&["list", "--all", &main_file()]));
    assert!(desk.run(&["show", "--refresh", &ids[0]]).status.success());
    let listed = text(&desk.run(&["list", "--all", &main_file()]));
    assert!(desk.run(&["call", "v3-file", &Demo::public_files()[0].sha256]).status.success());
    let shown: Vec<_> = ids.iter().map(|id| desk.run(&["show", id]).stdout).collect();
    let paid = desk.paid();
    lose(&desk, "answer");
    let mended = desk.run(&["held"]);
    assert!(errors(&mended).contains("Found again by what is in it: 3 answers."), "{mended:?}");
    assert!(errors(&mended).contains("Not held any more, because it was damaged: 1 thing."), "{mended:?}");
    for (id, shown) in ids.iter().zip(shown) {
        let again = desk.run(&["show", id, "--offline"]);
        assert_eq!(again.stdout, shown, "{id}: {again:?}");
    }
    assert_eq!(text(&desk.run(&["list", "--all", "--offline", &main_file()])), listed);
    assert_eq!(desk.paid(), paid);
    assert_eq!(Store::open(&store(&desk)).unwrap().damages().unwrap(), [""; 0]);
}

#[test]
fn a_report_that_was_deleted_out_of_a_list_stays_deleted() {
    let desk = Desk::new();
    let listed = json(&desk.run(&["list", &main_file()]));
    let ids: Vec<_> = listed["sandboxes"].as_array().unwrap().iter().map(|one| one["id"].as_str().unwrap()).collect();
    assert!(desk.run(&["held", "--delete", ids[1], "--yes"]).status.success());
    let paid = desk.paid();
    lose(&desk, "report");
    let mended = desk.run(&["held"]);
    assert!(errors(&mended).contains("was set aside as"), "{mended:?}");
    for (n, id) in ids.iter().enumerate() {
        let shown = desk.run(&["show", id, "--offline"]);
        assert_eq!(shown.status.success(), n != 1, "{n}: {shown:?}");
        assert_eq!(text(&mended).contains(id), n != 1, "{mended:?}");
    }
    assert_eq!(json(&desk.run(&["list", &main_file()]))["sandboxes"].as_array().unwrap().len(), ids.len());
    assert_eq!(desk.paid(), paid);
}

#[test]
fn an_imported_report_whose_file_only_the_lost_page_named_is_said_to_have_none() {
    let (desk, folder) = (Desk::new(), tempfile::tempdir().unwrap());
    let path = folder.path().join("odd.json");
    std::fs::write(&path, r#"{"data":{"id":"box\u001b7","attributes":{"tags":["A"]}}}"#).unwrap();
    let import = ["import", "--file", &main_file(), path.to_str().unwrap()];
    assert!(desk.run(&import).status.success());
    lose(&desk, "report");
    let mended = desk.run(&["held"]);
    let said = errors(&mended);
    assert!(said.contains("not known any more of which file: box") && !said.contains('\u{1b}'), "{mended:?}");
    assert!(text(&mended).contains("\n1 held: "), "{mended:?}");
    let again = desk.run(&[&["import", "--replace"], &import[1..]].concat());
    assert!(again.status.success(), "{again:?}");
    assert_eq!(json(&desk.run(&["held", "--json"]))["held"][0]["file"], main_file());
    assert!(!errors(&desk.run(&["held"])).contains("which file"));
}

#[cfg(unix)]
#[test]
fn everything_is_deleted_where_there_is_room_for_the_log_of_a_part() {
    let desk = Desk::new();
    json(&desk.run(&["list", "--all", &main_file()]));
    let filled = Store::open(&store(&desk)).unwrap();
    for seed in 0..60_u32 {
        filled.keep("lab", &seed.to_le_bytes(), Timestamp::UNIX_EPOCH, &Body::in_memory(noise(seed))).unwrap();
    }
    drop(filled);
    // The log of all at once has each page of the database, and says of each which it is.
    let blocks = std::fs::metadata(store(&desk)).unwrap().len() / 512 + 1;
    let deleted = limited(&desk, u32::try_from(blocks).unwrap(), &["held", "--all", "--yes"]);
    assert!(deleted.status.success(), "{deleted:?}");
    assert!(std::fs::metadata(store(&desk)).unwrap().len() < 300_000);
    assert_eq!((Store::open(&store(&desk)).unwrap().inventory().unwrap().len(), ledger(&desk).len()), (0, 2));
}
