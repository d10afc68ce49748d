//! The store on a disk that is full, has flipped bits or is read-only; and a killed program.

use crate::harness::{CliHarness, errors, json, main_file, text};
use behaview::demo::{ListContent, Options};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

/// The folder of the store.
pub fn store(cli: &CliHarness) -> PathBuf {
    let paths = text(&cli.run(&["config", "path"]));
    PathBuf::from(paths.lines().find_map(|line| line.strip_prefix("store")).unwrap().trim())
}

pub fn records(cli: &CliHarness) -> PathBuf {
    store(cli).join("records.db")
}

/// The file of a report.
pub fn report_file(cli: &CliHarness, id: &str) -> PathBuf {
    let is_of = |path: &PathBuf| {
        path.to_string_lossy().contains("/behaviour-") && {
            let header = zstd::decode_all(std::fs::File::open(path).unwrap()).unwrap_or_default();
            memchr::memmem::find(&header, format!("behaviour {id}\"").as_bytes()).is_some()
        }
    };
    files(&store(cli).join("reports")).into_iter().find(is_of).unwrap()
}

/// Flips a bit in the file of a report.
pub fn damage(cli: &CliHarness, id: &str) {
    let path = report_file(cli, id);
    let mut bytes = std::fs::read(&path).unwrap();
    let last = bytes.len() - 20;
    bytes[last] ^= 4;
    std::fs::write(&path, bytes).unwrap();
}

pub fn ledger(cli: &CliHarness) -> Vec<Value> {
    json(&cli.run(&["ledger", "--all", "--json"]))["entries"].as_array().unwrap().clone()
}

/// What the ledger counts, carefully.
pub fn counted(cli: &CliHarness) -> u64 {
    ledger(cli).iter().map(|entry| entry["counts_as"].as_u64().unwrap()).sum()
}

/// Every file below a folder.
pub fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

/// The files and folders below a folder that have one of these words in them or in their name.
pub fn places_of<W: AsRef<[u8]>>(words: &[W], folder: &Path) -> Vec<PathBuf> {
    let is_in = |bytes: &[u8]| words.iter().any(|word| memchr::memmem::find(bytes, word.as_ref()).is_some());
    let found = |path: PathBuf| {
        let below = if path.is_dir() { places_of(words, &path) } else { Vec::new() };
        let is_it =
            is_in(path.as_os_str().as_encoded_bytes()) || path.is_file() && is_in(&std::fs::read(&path).unwrap());
        below.into_iter().chain(is_it.then_some(path))
    };
    std::fs::read_dir(folder).unwrap().flat_map(|entry| found(entry.unwrap().path())).collect()
}

/// What is stored, as the program tells it.
pub fn stored(cli: &CliHarness) -> Vec<Value> {
    json(&cli.run(&["store", "list", "--json"]))["stored"].as_array().unwrap().clone()
}

/// The identifiers of the main file's sandboxes, as the demo lists them.
pub fn identifiers() -> Vec<String> {
    let cli = CliHarness::new();
    let listed = json(&cli.run(&["list", "--all", &main_file()]));
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
fn memory_mode_is_refused_while_items_are_stored() {
    let cli = CliHarness::new();
    json(&cli.run(&["list", &main_file()]));
    cli.configure("[store]\npersist = false\n");
    let refused = cli.run(&["list", &main_file()]);
    assert!(!refused.status.success() && errors(&refused).contains("behaview store remove --all --yes"), "{refused:?}");
    assert_eq!(cli.paid(), 1);
    assert!(cli.run(&["store", "remove", "--all", "--yes"]).status.success());
    json(&cli.run(&["list", &main_file()]));
    assert_eq!(cli.paid(), 2);
}

#[test]
fn limits_of_the_config_delete_after_a_charged_run_alone() {
    let cli = CliHarness::new();
    json(&cli.run(&["list", &main_file()]));
    cli.configure("[store]\nmax_size_mib = 1\n");
    // More than that came last, of which nothing can be packed.
    let mut state = 1_u64;
    let noise = std::iter::repeat_with(|| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()
    });
    let (bytes, received) = (noise.take(200_000).flatten().collect::<Vec<_>>(), jiff::Timestamp::now());
    let new = behaview::store::NewResponse {
        service: "s",
        profile: "lab",
        key: b"file x",
        received,
        bytes: &bytes,
        imported: None,
    };
    let opened = behaview::store::Store::open(&store(&cli)).unwrap();
    opened.write_response(&new).unwrap();
    opened.move_read(&new, &[], true).unwrap();
    drop(opened);
    assert!(cli.run(&["list", "--offline", &main_file()]).status.success());
    cli.fails(&["list", "--refresh", "--max-cost", "0", &main_file()], 11, &[]);
    assert_eq!(stored(&cli).len(), 5);
    let listed = cli.run(&["list", "--all", &main_file()]);
    assert!(errors(&listed).contains("[store] limits deleted 4 reports"), "{listed:?}");
    assert_eq!((cli.paid(), stored(&cli).len()), (2, 2));
}

/// Flips a bit in each file of the store: no wrong data, one report lost at most, no cost lost.
#[test]
fn a_flipped_bit_costs_no_more_than_one_report() {
    let cli = CliHarness::new();
    let ids = identifiers();
    json(&cli.run(&["list", "--all", &main_file()]));
    let paid = cli.paid();
    let whole: Vec<_> = ids.iter().map(|id| cli.run(&["show", id]).stdout).collect();
    let offline = |arguments: &[&str]| cli.command(arguments).env_remove("VT_APIKEY").output().unwrap();
    let sound: Vec<_> =
        files(&store(&cli)).into_iter().map(|path| (path.clone(), std::fs::read(path).unwrap())).collect();
    for (n, (path, bytes)) in sound.iter().enumerate().filter(|(_, (_, bytes))| !bytes.is_empty()) {
        let place = if n % 2 == 0 { bytes.len() / 3 } else { bytes.len() - 2 };
        std::fs::remove_dir_all(store(&cli)).unwrap();
        for (path, bytes) in &sound {
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, bytes).unwrap();
        }
        let mut flipped = bytes.clone();
        flipped[place] ^= 1 << (n % 8);
        std::fs::write(path, &flipped).unwrap();
        let shown: Vec<_> = ids.iter().map(|id| offline(&["show", "--offline", id])).collect();
        let about = format!("{} at {place}", path.display());
        assert!(shown.iter().all(is_civil), "{about}: {shown:?}");
        let wrong = |(shown, whole): &(&Output, &Vec<u8>)| shown.status.success() && shown.stdout != **whole;
        assert_eq!(shown.iter().zip(&whole).find(wrong), None, "{about}: something else was shown");
        assert!(shown.iter().filter(|shown| !shown.status.success()).count() <= 1, "{about}");
        let message = offline(&["ledger", "--all", "--json"]);
        let entries = json(&message)["entries"].as_array().unwrap().clone();
        let count: u64 = entries.iter().map(|entry| entry["counts_as"].as_u64().unwrap()).sum();
        let is_open = entries.iter().any(|entry| entry["request"].as_str().unwrap().starts_with("calls that may be"));
        assert!(count >= paid as u64 || is_open, "{about}: the ledger is too low: {entries:?}");
    }
    assert_eq!(cli.paid(), paid, "nothing was asked");
}

/// A desk that holds the first two of these reports, each by itself.
fn with_two_stored() -> (CliHarness, Vec<String>) {
    let cli = CliHarness::with(Options { listing: ListContent::Identifiers, ..Options::default() });
    let ids = identifiers();
    for id in &ids[..2] {
        assert!(cli.run(&["show", id]).status.success());
    }
    (cli, ids)
}

#[cfg(unix)]
#[test]
fn a_damaged_report_is_unread_and_fetched_again() {
    use std::os::unix::fs::PermissionsExt;
    let (cli, ids) = with_two_stored();
    let (path, aside) = (report_file(&cli, &ids[0]), cli.home.path().join("aside"));
    std::fs::rename(&path, &aside).unwrap();
    let linked = cli.home.path().join("linked");
    std::fs::write(&linked, "not of the store").unwrap();
    std::fs::set_permissions(&linked, PermissionsExt::from_mode(0o644)).unwrap();
    // A folder, another report, and a link in the place of this one.
    let folder = || std::fs::create_dir(&path);
    let another = || std::fs::copy(report_file(&cli, &ids[1]), &path).map(drop);
    let link = || std::os::unix::fs::symlink(&linked, &path);
    for put in [&folder as &dyn Fn() -> std::io::Result<()>, &another, &link] {
        put().unwrap();
        cli.fails(&["show", "--offline", &ids[0]], 13, &["an unreadable response of"]);
    }
    assert_eq!(std::fs::metadata(&linked).unwrap().permissions().mode() & 0o777, 0o644, "a link is not followed");
    std::fs::rename(&aside, &path).unwrap();
    damage(&cli, &ids[0]);
    cli.fails(&["show", "--offline", &ids[0]], 13, &["an unreadable response of"]);
    assert!(cli.run(&["show", "--offline", &ids[1]]).status.success());
    let stored = text(&cli.run(&["store"]));
    assert!(stored.contains("quarantined") && stored.contains("response-"), "{stored}");
    let fetched = cli.run(&["show", &ids[0]]);
    assert!(fetched.status.success() && errors(&fetched).contains("an unreadable response of"), "{fetched:?}");
    assert_eq!(cli.paid(), 3);
    let found = cli.run(&["search", "exe"]);
    assert!(found.status.success(), "{found:?}");
    assert!(cli.run(&["store", "remove", "--all", "--yes"]).status.success());
    assert_eq!(files(&store(&cli).join("unread")).len(), 0);
}

#[test]
fn search_and_comparison_skip_a_damaged_report() {
    let (cli, ids) = with_two_stored();
    let sound = text(&cli.run(&["search", "exe", &ids[1]]));
    json(&cli.run(&["list", &main_file()]));
    damage(&cli, &ids[0]);
    let found = cli.run(&["search", "exe"]);
    assert!(text(&found).contains(&sound), "{found:?}");
    let compared = cli.run(&["compare", "--json", &main_file()]);
    let printed: Value = serde_json::from_slice(&compared.stdout).unwrap();
    assert_eq!([&printed["columns"][0]["stored"], &printed["columns"][1]["stored"]], [false, true]);
}

#[test]
fn damaged_records_are_restored_from_the_copy() {
    let cli = CliHarness::new();
    json(&cli.run(&["list", "--all", &main_file()]));
    std::fs::write(records(&cli), vec![7; 9000]).unwrap();
    let listed = cli.run(&["list", "--all", &main_file()]);
    let message = errors(&listed);
    assert!(
        message.contains("were damaged and are kept as records.damaged-") && message.contains("the copy of "),
        "{message}"
    );
    assert_eq!((json(&listed)["sandboxes"].as_array().unwrap().len(), cli.paid()), (6, 2));
    let entries = ledger(&cli);
    assert!(entries.iter().any(|entry| entry["state"] == "unknown"), "{entries:?}");
    assert!(errors(&cli.run(&["ledger"])).is_empty(), "it is said once");
    // Everything that is deleted has the damaged records with it, and what killed programs left.
    let [new, old] = ["reports/.tmpNew", "reports/.tmpOld"].map(|name| store(&cli).join(name));
    let ago = std::time::SystemTime::now() - Duration::from_secs(2 * 60 * 60);
    for path in [&new, &old] {
        std::fs::write(path, "paid").unwrap();
    }
    std::fs::File::options().write(true).open(&old).unwrap().set_modified(ago).unwrap();
    cli.run(&["store"]);
    assert!(new.exists() && !old.exists());
    let nothing = ["list", &main_file(), "--set", "store.persist=false"];
    cli.run(&["store", "remove", "--all", "--yes", "--profile", "lab"]);
    cli.fails(&nothing, 1, &["still has 2 entries"]);
    assert!(cli.run(&["store", "remove", "--all", "--yes"]).status.success());
    let left = files(&store(&cli));
    assert!(!new.exists() && left.len() == 3, "{left:?}");
    assert!(cli.run(&nothing).status.success());
}

#[cfg(unix)]
#[test]
fn a_disk_that_is_full_costs_nothing_twice() {
    let ids = identifiers();
    for kilobytes in [0, 16, 60, 140] {
        let cli = CliHarness::with(Options { listing: ListContent::Identifiers, ..Options::default() });
        // In blocks of 512 bytes; ignoring the signal makes writes fail as on a full disk.
        let limit = format!("trap '' XFSZ; ulimit -f {}; exec \"$0\" \"$@\"", kilobytes * 2);
        let mut shell = Command::new("sh");
        shell.args(["-c", &limit, env!("CARGO_BIN_EXE_behaview"), "show", &ids[0]]).env_clear();
        shell.env("HOME", cli.home.path()).env("VT_APIKEY", &cli.key).stdin(Stdio::null());
        let shown = shell.output().unwrap();
        assert!(is_civil(&shown), "{kilobytes}: {shown:?}");
        if !shown.status.success() {
            assert!(cli.demo.seen().is_empty(), "{kilobytes}: it was asked and not shown: {shown:?}");
            assert!(errors(&shown).contains("store"), "{kilobytes}: {shown:?}");
        }
        assert!(counted(&cli) >= cli.demo.used().user.daily, "{kilobytes}: the ledger is too low");
    }
}

/// Kills at many moments: what was done stays whole, and each call is in the ledger.
#[test]
fn killed_program_leaves_an_intact_store() {
    let cli = CliHarness::new();
    let refresh = ["list", "--all", "--refresh", &main_file()];
    let begun = Instant::now();
    json(&cli.run(&refresh));
    let whole = begun.elapsed();
    for delay in (0..20).map(|n| whole * n / 20) {
        let mut child = cli.command(&refresh).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(delay);
        // One that has ended by itself cannot be killed any more.
        let _ = child.kill();
        child.wait().unwrap();
    }
    let connection = rusqlite::Connection::open(records(&cli)).unwrap();
    let check: String = connection.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
    assert_eq!(check, "ok");
    drop(connection);
    assert!(counted(&cli) >= cli.demo.used().user.daily, "the ledger is too low");
    let paid = cli.paid();
    // What nobody waits for any more can be asked at once.
    json(&cli.run(&["list", "--all", "--refresh", &main_file()]));
    let again = cli.paid() - paid;
    assert!(again > 0);
    json(&cli.run(&["list", "--all", &main_file()]));
    assert_eq!(cli.paid(), paid + again, "what is held is not paid for again");
    assert!(files(&store(&cli).join("calls")).is_empty(), "nothing is left of killed calls");
}

#[cfg(unix)]
#[test]
fn store_files_are_private_under_any_umask() {
    use std::os::unix::fs::PermissionsExt;
    let cli = CliHarness::new();
    let command = "umask 0; exec \"$0\" \"$@\"";
    let mut shell = Command::new("sh");
    shell.args(["-c", command, env!("CARGO_BIN_EXE_behaview"), "list", &main_file()]).env_clear();
    shell.env("HOME", cli.home.path()).env("VT_APIKEY", &cli.key).stdin(Stdio::null());
    assert!(shell.output().unwrap().status.success());
    let folder = store(&cli);
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&folder), 0o700);
    assert!(files(&folder).iter().all(|file| mode(file) == 0o600));
}
