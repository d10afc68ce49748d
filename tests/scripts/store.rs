//! The store under a disk that is full, flipped, read-only or not to be written to at all; and a program that is killed.

use crate::desk::{Desk, errors, json, main_file, squeezed, text};
use behaview::demo::{Listing, Options};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

pub fn store(desk: &Desk) -> PathBuf {
    let paths = text(&desk.run(&["config", "path"]));
    PathBuf::from(paths.lines().find_map(|line| line.strip_prefix("store")).unwrap().trim())
}

pub fn ledger(desk: &Desk) -> Vec<Value> {
    json(&desk.run(&["ledger", "--all", "--json"]))["entries"].as_array().unwrap().clone()
}

/// The database's file with everything in it that was written beside it.
pub fn settled(desk: &Desk) -> (PathBuf, Vec<u8>) {
    let path = store(desk);
    let connection = rusqlite::Connection::open(&path).unwrap();
    connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).unwrap();
    drop(connection);
    let bytes = std::fs::read(&path).unwrap();
    (path, bytes)
}

/// What the ledger counts, carefully.
pub fn counted(desk: &Desk) -> u64 {
    ledger(desk).iter().map(|entry| entry["counts_as"].as_u64().unwrap()).sum()
}

/// Every file below a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

/// The identifiers of the main file's sandboxes, as the demo lists them.
pub fn identifiers() -> Vec<String> {
    let desk = Desk::new();
    let listed = json(&desk.run(&["list", "--all", &main_file()]));
    let of = |sandbox: &Value| sandbox["id"].as_str().unwrap().to_owned();
    listed["sandboxes"].as_array().unwrap().iter().map(of).collect()
}

/// A run that ended in words, not in a panic.
pub fn is_civil(output: &Output) -> bool {
    let words = errors(output);
    output.status.code().is_some_and(|code| code != 101)
        && !words.contains("panicked")
        && !words.contains("RUST_BACKTRACE")
}

#[test]
fn nothing_of_a_report_is_on_disk_where_nothing_is_kept() {
    let desk = Desk::new();
    desk.configure("[store]\nkeep = \"nothing\"\n");
    let listed = json(&desk.run(&["list", "--all", &main_file()]));
    assert_eq!((listed["sandboxes"].as_array().unwrap().len(), desk.paid()), (6, 2));
    for file in files(desk.home.path()).iter().filter(|path| !path.ends_with("config.toml")) {
        let bytes = std::fs::read(file).unwrap();
        for word in [&main_file()[..8], "CAPE", "Sandbox", "viewer.exe", "RUNTIME_MODULES"] {
            assert!(memchr::memmem::find(&bytes, word.as_bytes()).is_none(), "{word} in {}", file.display());
        }
    }
    let entries = ledger(&desk);
    assert_eq!((entries.len(), counted(&desk)), (2, 2));
    assert!(entries[0]["what"].as_str().unwrap().starts_with("private-behaviours #"), "{entries:?}");
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("x.json");
    std::fs::write(&file, "{}").unwrap();
    assert_eq!(desk.run(&["import", file.to_str().unwrap()]).status.code(), Some(2));
}

#[test]
fn what_was_kept_before_is_said_and_not_paid_for_again_unheard() {
    let desk = Desk::new();
    json(&desk.run(&["list", &main_file()]));
    desk.configure("[store]\nkeep = \"nothing\"\n");
    let refused = desk.run(&["list", &main_file()]);
    assert!(!refused.status.success() && errors(&refused).contains("behaview held --all --yes"), "{refused:?}");
    assert_eq!(desk.paid(), 1);
    assert!(desk.run(&["held", "--all", "--yes"]).status.success());
    json(&desk.run(&["list", &main_file()]));
    assert_eq!(desk.paid(), 2);
}

#[test]
fn limits_of_the_config_are_kept_at_the_start() {
    let desk = Desk::new();
    json(&desk.run(&["list", &main_file()]));
    desk.configure("[store]\nmegabytes = 1\n");
    // As if more had come, of which nothing can be packed.
    let more = "WITH RECURSIVE n (n) AS (SELECT 1000 UNION ALL SELECT n + 1 FROM n WHERE n < 1039)
                INSERT INTO block (answer, number, bytes) SELECT (SELECT MAX(id) FROM answer), n, randomblob(32000) FROM n";
    rusqlite::Connection::open(store(&desk)).unwrap().execute_batch(more).unwrap();
    let listed = desk.run(&["list", "--all", &main_file()]);
    assert!(errors(&listed).contains("[store] limits deleted 4 reports"), "{listed:?}");
    assert_eq!(desk.paid(), 3);
}

/// Byte by byte over the whole file: each flip is survived, nothing wrong is shown as right, and the ledger is saved.
#[test]
fn a_flipped_byte_costs_no_more_than_what_it_hit() {
    let desk = Desk::new();
    let ids = identifiers();
    json(&desk.run(&["list", "--all", &main_file()]));
    let paid = desk.paid();
    let whole: Vec<_> = ids.iter().map(|id| desk.run(&["show", id]).stdout).collect();
    let (path, sound) = settled(&desk);
    let offline = |arguments: &[&str]| desk.command(arguments).env_remove("VT_APIKEY").output().unwrap();
    let (mut served, mut named) = (0, 0);
    let places = (0..sound.len()).step_by((sound.len() / 24).max(1)).chain([18, 100]);
    for (n, place) in places.enumerate() {
        for file in files(path.parent().unwrap()) {
            std::fs::remove_file(file).unwrap();
        }
        let mut flipped = sound.clone();
        flipped[place] ^= 0x55;
        std::fs::write(&path, &flipped).unwrap();
        let shown = offline(&["show", &ids[n % ids.len()]]);
        assert!(is_civil(&shown), "{place}: {shown:?}");
        if shown.status.success() {
            assert_eq!(shown.stdout, whole[n % ids.len()], "{place}: something else was shown");
            served += 1;
        } else {
            named += 1;
        }
        let told = offline(&["ledger", "--all", "--json"]);
        assert!(is_civil(&told), "{place}: {told:?}");
    }
    assert!(served > named, "{served} served, {named} named");
    assert_eq!(desk.paid(), paid, "nothing was asked");
}

/// A desk that holds the first two of these reports, each by itself.
fn holding_two() -> (Desk, Vec<String>) {
    let desk = Desk::with(Options { listing: Listing::Identifiers, ..Options::default() });
    let ids = identifiers();
    for id in &ids[..2] {
        assert!(desk.run(&["show", id]).status.success());
    }
    (desk, ids)
}

#[test]
fn a_damaged_report_is_named_set_aside_and_fetched_again_and_the_others_stay() {
    let (desk, ids) = holding_two();
    let damage = "UPDATE block SET bytes = CAST(substr(bytes, 1, 100) || x'00' || substr(bytes, 102) AS BLOB)
         WHERE answer = (SELECT MIN(id) FROM answer)";
    rusqlite::Connection::open(store(&desk)).unwrap().execute(damage, []).unwrap();
    let named = desk.run(&["show", &ids[0]]);
    assert!(
        !named.status.success() && errors(&named).contains("is damaged in the store: what stood in it is set aside"),
        "{named:?}"
    );
    assert!(desk.run(&["show", &ids[1]]).status.success());
    assert_eq!(desk.paid(), 2);
    assert!(desk.run(&["show", &ids[0]]).status.success());
    assert_eq!(desk.paid(), 3);
    assert!(text(&desk.run(&["held"])).contains("set aside"));
}

#[test]
fn what_is_damaged_is_an_answer_of_no_use_to_whichever_command_meets_it_first() {
    let (desk, ids) = holding_two();
    let [first, second] = [&*ids[0], &*ids[1]];
    let folder = desk.home.path().join("exported.csv");
    let file = folder.to_str().unwrap();
    let sound = std::fs::read(store(&desk)).unwrap();
    let damage = "UPDATE block SET bytes = CAST(substr(bytes, 1, 100) || x'00' || substr(bytes, 102) AS BLOB)
         WHERE answer = (SELECT MIN(id) FROM answer)";
    for (arguments, code) in [
        (&["show", first][..], 9),
        (&["show", "--format", "vt", first], 9),
        (&["show", first, second], 12),
        (&["export", "--format", "csv", first], 9),
        (&["export", "--output", file, first], 9),
        (&["search", "exe", first], 12),
        (&["compare", &main_file()], 12),
    ] {
        rusqlite::Connection::open(store(&desk)).unwrap().execute(damage, []).unwrap();
        let met = desk.run(arguments);
        assert_eq!(met.status.code(), Some(code), "{arguments:?}: {met:?}");
        let words = errors(&met);
        assert!(words.contains("damaged in the store: what stood in it is set aside"), "{words}");
        assert!(!words.contains("could not be written") && !words.contains("[log"), "{words}");
        std::fs::write(store(&desk), &sound).unwrap();
    }
    assert_eq!(desk.paid(), 2);
}

#[test]
fn a_search_names_a_damaged_report_and_goes_through_the_others() {
    let (desk, ids) = holding_two();
    let sound = text(&desk.run(&["search", "exe", &ids[1]]));
    let damage = "UPDATE block SET bytes = zeroblob(100) WHERE answer = (SELECT MIN(id) FROM answer)";
    rusqlite::Connection::open(store(&desk)).unwrap().execute(damage, []).unwrap();
    let found = desk.run(&["search", "exe"]);
    assert_eq!((found.status.code(), text(&found)), (Some(12), sound), "{found:?}");
    let words = errors(&found);
    assert!(words.contains("the report by ") && words.contains(" cannot be searched: "), "{words}");
    assert!(words.contains("1 report could not be searched"), "{words}");
}

#[test]
fn a_database_that_is_damaged_as_a_whole_is_set_aside_and_its_ledger_saved() {
    let desk = Desk::new();
    json(&desk.run(&["list", "--all", &main_file()]));
    let (path, mut bytes) = settled(&desk);
    bytes[..16].fill(b'x');
    std::fs::write(&path, &bytes).unwrap();
    let listed = desk.run(&["list", "--all", &main_file()]);
    assert!(errors(&listed).contains("The store was damaged, and was set aside as"), "{listed:?}");
    assert!(errors(&listed).contains("Its ledger was saved: 2 calls. Saved with it: 2 answers."), "{listed:?}");
    assert_eq!((json(&listed)["sandboxes"].as_array().unwrap().len(), desk.paid()), (6, 2));
    assert_eq!(counted(&desk), 2);
    assert!(path.with_file_name("behaview.db-damaged-1").exists());
    settled(&desk);
    std::fs::write(&path, vec![7; 9000]).unwrap();
    let lost = desk.run(&["ledger", "--all"]);
    assert!(lost.status.success() && errors(&lost).contains("some may be lost"), "{lost:?}");
}

#[cfg(unix)]
#[test]
fn a_disk_that_is_full_costs_nothing_twice() {
    let ids = identifiers();
    for kilobytes in [0, 4, 16, 40, 60, 100, 140, 200] {
        let desk = Desk::with(Options { listing: Listing::Identifiers, ..Options::default() });
        // In blocks of 512 bytes; the signal is ignored, so that writing fails as on a disk that is full.
        let limit = format!("trap '' XFSZ; ulimit -f {}; exec \"$0\" \"$@\"", kilobytes * 2);
        let mut shell = Command::new("sh");
        shell.args(["-c", &limit, env!("CARGO_BIN_EXE_behaview"), "show", &ids[0]]).env_clear();
        shell.env("HOME", desk.home.path()).env("VT_APIKEY", &desk.key).stdin(Stdio::null());
        let shown = shell.output().unwrap();
        assert!(is_civil(&shown), "{kilobytes}: {shown:?}");
        if !shown.status.success() {
            assert!(desk.demo.seen().is_empty(), "{kilobytes}: it was asked and not shown: {shown:?}");
            assert!(errors(&shown).contains("store"), "{kilobytes}: {shown:?}");
        }
        assert!(counted(&desk) >= desk.demo.used().user.daily, "{kilobytes}: the ledger is too low");
    }
}

/// Killed at many moments of its life: whatever it got done is kept whole, and what it asked stands in the ledger.
#[test]
fn a_program_that_is_killed_leaves_a_store_that_is_whole() {
    let desk = Desk::new();
    let mut runs = 0;
    for delay in (0..60).map(|n| Duration::from_micros(n * 900)) {
        let refresh = ["list", "--all", "--refresh", &main_file()];
        let mut child = desk.command(&refresh).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(delay);
        // One that has ended by itself cannot be killed any more.
        let _ = child.kill();
        child.wait().unwrap();
        runs += 1;
    }
    assert_eq!(runs, 60);
    let connection = rusqlite::Connection::open(store(&desk)).unwrap();
    let check: String = connection.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
    assert_eq!(check, "ok");
    drop(connection);
    assert!(counted(&desk) >= desk.demo.used().user.daily, "the ledger is too low");
    let paid = desk.paid();
    // What nobody waits for any more can be asked at once.
    json(&desk.run(&["list", "--all", "--refresh", &main_file()]));
    let again = desk.paid() - paid;
    assert!(again > 0);
    json(&desk.run(&["list", "--all", &main_file()]));
    assert_eq!(desk.paid(), paid + again, "what is held is not paid for again");
    let is_left = |file: &PathBuf| file.to_string_lossy().contains("-call-");
    assert!(!files(store(&desk).parent().unwrap()).iter().any(is_left), "nothing is left of killed calls");
}

#[cfg(unix)]
#[test]
fn what_the_store_is_made_of_is_the_owners_alone_under_any_umask() {
    use std::os::unix::fs::PermissionsExt;
    let desk = Desk::new();
    let command = "umask 0; exec \"$0\" \"$@\"";
    let mut shell = Command::new("sh");
    shell.args(["-c", command, env!("CARGO_BIN_EXE_behaview"), "list", &main_file()]).env_clear();
    shell.env("HOME", desk.home.path()).env("VT_APIKEY", &desk.key).stdin(Stdio::null());
    assert!(shell.output().unwrap().status.success());
    let folder = store(&desk).parent().unwrap().to_owned();
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&folder), 0o700);
    assert!(files(&folder).iter().all(|file| mode(file) == 0o600));
}

#[cfg(unix)]
#[test]
fn a_file_that_may_not_grow_loses_no_answer_that_was_paid_for() {
    let desk = Desk::new();
    // Blocks of 512 bytes: the store takes a few answers, but none of this length.
    let id = identifiers().into_iter().find(|id| id.contains("CAPE")).unwrap();
    let limited = |blocks: u32, arguments: &[&str]| {
        let mut shell = Command::new("sh");
        let program = desk.command(arguments);
        shell.env_clear().envs(program.get_envs().filter_map(|(name, value)| Some((name, value?))));
        shell.arg("-c").arg(format!("ulimit -f {blocks}; exec \"$0\" \"$@\"")).arg(program.get_program());
        shell.args(program.get_args()).stdin(Stdio::null()).output().unwrap()
    };
    drop(desk.run(&["held"]));
    let output = limited(0, &["show", &id]);
    assert!(is_civil(&output) && !errors(&output).is_empty(), "{output:?}");
    for blocks in [8, 64, 120, 200] {
        let output = limited(blocks, &["show", "--refresh", &id]);
        assert!(is_civil(&output), "{output:?}");
        assert!(output.status.success() || !errors(&output).is_empty(), "{output:?}");
    }
    assert!(counted(&desk) >= desk.paid() as u64);
}

#[cfg(unix)]
#[test]
fn a_store_that_may_only_be_read_is_read() {
    use std::os::unix::fs::PermissionsExt;
    // Whom no mode keeps from writing becomes somebody whom it does.
    const NOBODY: u32 = 65534;
    let desk = Desk::new();
    let listed = json(&desk.run(&["list", &main_file()]));
    let id = listed["sandboxes"][0]["id"].as_str().unwrap();
    let shown = desk.run(&["show", id]).stdout;
    let (path, paid) = (store(&desk), desk.paid());
    let is_root = std::fs::metadata("/proc/self").is_ok_and(|own| std::os::unix::fs::MetadataExt::uid(&own) == 0);
    if is_root {
        let all = Command::new("chown").arg("-R").arg(NOBODY.to_string()).arg(desk.home.path()).status();
        assert!(all.unwrap().success());
    }
    let mode = |path: &Path, mode| std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    mode(&path, 0o400);
    mode(path.parent().unwrap(), 0o500);
    let run = |arguments: &[&str]| {
        let mut command = desk.command(arguments);
        if is_root {
            std::os::unix::process::CommandExt::uid(&mut command, NOBODY);
        }
        command.output().unwrap()
    };
    assert_eq!(run(&["show", id, "--offline"]).stdout, shown);
    assert_eq!(run(&["show", id]).stdout, shown);
    assert_eq!(json(&run(&["list", &main_file(), "--offline"])), listed);
    let held = run(&["held"]);
    assert!(held.status.success() && text(&held).contains("CAPE"), "{held:?}");
    let asked = run(&["list", "--refresh", &main_file()]);
    assert!(errors(&asked).contains("nothing was sent"), "{asked:?}");
    assert_eq!(desk.paid(), paid);
    mode(path.parent().unwrap(), 0o700);
}

/// Exchanges the pages on which two tables begin; says where they stand.
fn exchange(desk: &Desk, tables: [&str; 2]) -> (PathBuf, [usize; 2]) {
    let (path, mut bytes) = settled(desk);
    let connection = rusqlite::Connection::open(&path).unwrap();
    let [one, other] = tables.map(|table| {
        let first = format!("SELECT rootpage FROM sqlite_master WHERE name = '{table}'");
        let first: u32 = connection.query_row(&first, [], |row| row.get(0)).unwrap();
        (first as usize - 1) * 4096
    });
    drop(connection);
    (0..4096).for_each(|at| bytes.swap(one + at, other + at));
    std::fs::write(&path, &bytes).unwrap();
    (path, [one, other])
}

#[test]
fn a_ledger_that_stands_in_the_place_of_another_table_is_found_there() {
    for other in ["file", "report", "note", "answer", "service", "used"] {
        let desk = Desk::new();
        json(&desk.run(&["list", "--all", &main_file()]));
        let entries = || json(&desk.run(&["ledger", "--json"]))["entries"].clone();
        let before = entries();
        let (path, _) = exchange(&desk, ["ledger", other]);
        std::fs::write(path.with_file_name("behaview.db-damaged"), "").unwrap();
        let mended = desk.run(&["held"]);
        assert!(errors(&mended).contains("Of its ledger 2 calls were saved"), "{other}: {mended:?}");
        assert_eq!(entries(), before, "{other}");
        assert_eq!(behaview::store::Store::open(&path).unwrap().damages().unwrap(), [""; 0], "{other}");
    }
}

#[test]
fn a_ledger_that_is_lost_is_not_said_to_be_saved() {
    let desk = Desk::new();
    json(&desk.run(&["list", "--all", &main_file()]));
    let (path, [_, note]) = exchange(&desk, ["ledger", "note"]);
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[note..][..4096].fill(0);
    std::fs::write(&path, &bytes).unwrap();
    std::fs::write(path.with_file_name("behaview.db-damaged"), "").unwrap();
    let lost = desk.run(&["ledger", "--all"]);
    assert!(errors(&lost).contains("Of its ledger 0 calls were saved, and some may be lost"), "{lost:?}");
}

#[test]
fn entries_that_their_index_does_not_lead_to_are_shown_all_the_same() {
    let desk = Desk::new();
    json(&desk.run(&["list", "--all", &main_file()]));
    let entries = || json(&desk.run(&["ledger", "--all", "--json"]))["entries"].clone();
    let before = entries();
    let (path, mut bytes) = settled(&desk);
    let first = "SELECT rootpage FROM sqlite_master WHERE name = 'ledger_by_profile'";
    let first: u32 = rusqlite::Connection::open(&path).unwrap().query_row(first, [], |row| row.get(0)).unwrap();
    let page = &mut bytes[(first as usize - 1) * 4096..][..4096];
    page.fill(0);
    // A page of an index without cells, which begin at the end of it.
    page[..8].copy_from_slice(&[10, 0, 0, 0, 0, 0x10, 0, 0]);
    std::fs::write(&path, &bytes).unwrap();
    assert!(!before.as_array().unwrap().is_empty() && entries() == before);
}

#[test]
fn what_can_be_no_price_is_counted_as_none() {
    let desk = Desk::with(Options { listing: Listing::Identifiers, ..Options::default() });
    for id in &identifiers() {
        assert!(desk.run(&["show", id]).status.success());
    }
    // With the same numbers as an earlier version gave, one row is taken for the other.
    let numbers = "PRAGMA foreign_keys = OFF;
        UPDATE answer SET id = (SELECT COUNT(*) FROM answer other WHERE other.id <= answer.id)";
    rusqlite::Connection::open(store(&desk)).unwrap().execute_batch(numbers).unwrap();
    exchange(&desk, ["ledger", "answer"]);
    let told = json(&desk.run(&["ledger", "--all", "--json"]));
    let counts: u64 = told["totals"].as_array().unwrap().iter().map(|total| total["counts_as"].as_u64().unwrap()).sum();
    assert!((6..100).contains(&counts), "{told}");
}

/// The lock of whoever mends the store.
fn mender(store: &Path) -> std::fs::File {
    let mut path = store.as_os_str().to_owned();
    path.push("-open");
    let lock = std::fs::File::options().write(true).open(path).unwrap();
    lock.lock().unwrap();
    lock
}

#[test]
fn who_waits_for_a_store_that_is_mended_says_so_and_doctor_does_not_wait() {
    let desk = Desk::new();
    assert!(desk.run(&["ledger"]).status.success());
    let (path, _) = settled(&desk);
    let lock = mender(&path);
    let doctor = desk.run(&["doctor", "--json"]);
    assert!(!doctor.status.success() && squeezed(&text(&doctor)).contains("is being mended by another"), "{doctor:?}");
    let commands: [&[&str]; 3] = [&["ledger"], &["held"], &["list", "--dry-run", &main_file()]];
    let waiting = commands.map(|command| {
        let mut child = desk.command(command).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let (mut said, mut errors) = (String::new(), std::io::BufReader::new(child.stderr.take().unwrap()));
        std::io::BufRead::read_line(&mut errors, &mut said).unwrap();
        assert!(said.starts_with("behaview: Waiting: ") && said.contains("is being mended by another"), "{said}");
        (child, errors)
    });
    drop(lock);
    for (mut child, _errors) in waiting {
        assert!(child.wait().unwrap().success());
    }
}

#[test]
fn a_log_that_has_lost_its_index_is_left_to_the_program_that_has_it_open() {
    let desk = Desk::new();
    json(&desk.run(&["list", &main_file()]));
    let path = store(&desk);
    let open = behaview::store::Store::open(&path).unwrap();
    let keep = |key: &[u8]| {
        open.keep("lab", key, jiff::Timestamp::UNIX_EPOCH, &behaview::report::Body::in_memory(b"x".to_vec()))
    };
    keep(b"before").unwrap();
    let index = path.with_file_name("behaview.db-shm");
    std::fs::remove_file(&index).unwrap();
    for command in [&["ledger"][..], &["list", "--refresh", &main_file()]] {
        let refused = desk.run(command);
        assert!(!refused.status.success() && errors(&refused).contains("end that one, and start again"), "{refused:?}");
    }
    assert!(!index.exists(), "somebody made an index of his own");
    assert!(keep(b"after").is_err());
    drop(open);
    assert_eq!((ledger(&desk).len(), desk.paid()), (1, 1));
    let again = behaview::store::Store::open(&path).unwrap();
    assert!(again.answer("lab", b"before").unwrap().is_some() && again.damages().unwrap().is_empty());
}
