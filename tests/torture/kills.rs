//! Kills the program between any two system calls that change a file or speak to another program.
//! Its calls are in the ledger, stored items stay stored, and the next run continues.

use super::is_long;
use super::key::{CANARY, Trial, files};
use behaview::demo::Demo;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Output};

/// Calls to the system before which it is killed; those that a system has not are passed over.
const CALLS: &str = "?open,openat,close,?creat,?mkdir,mkdirat,?unlink,unlinkat,?rename,?renameat,?renameat2,?link,linkat,\
                     write,pwrite64,writev,ftruncate,fallocate,fsync,fdatasync,fcntl,flock,fchmod,fchown,sendto,recvfrom";

/// What somebody does whose program is killed.
struct Scene {
    name: &'static str,
    /// What is done before.
    first: &'static [&'static [&'static str]],
    /// In the course of this it is killed; `FILE` is the demo's main file.
    killed: &'static [&'static str],
    /// Fails if what is left is not whole. The ledger has been read by then.
    check: fn(&Trial, &[Vec<u8>]),
}

const SCENES: [Scene; 4] = [
    Scene { name: "the first run", first: &[], killed: &["list", "--all", "FILE"], check: all_can_be_listed },
    Scene {
        name: "asking anew",
        first: &[&["list", "--all", "FILE"]],
        killed: &["list", "--all", "--refresh", "FILE"],
        check: what_was_stored_is_stored,
    },
    Scene {
        name: "deleting",
        first: &[&["list", "--all", "FILE"]],
        killed: &["store", "remove", "--all", "--yes"],
        check: the_rest_is_deleted,
    },
    Scene {
        name: "writing a file",
        first: &[&["list", "--all", "FILE"]],
        killed: &["export", "REPORT", "--offline", "--format", "md", "--force", "--output", "out.md"],
        check: the_file_is_the_old_or_the_new_one,
    },
];

fn file() -> String {
    Demo::files()[0].sha256.clone()
}

fn report() -> String {
    format!("{}_CAPE Sandbox-1794474845", file())
}

fn filled(arguments: &[&str]) -> Vec<String> {
    arguments.iter().map(|word| word.replace("FILE", &file()).replace("REPORT", &report())).collect()
}

fn run(trial: &Trial, arguments: &[&str]) -> Output {
    let arguments = filled(arguments);
    trial.run(&arguments.iter().map(String::as_str).collect::<Vec<_>>(), Some(CANARY))
}

fn json(output: &Output) -> serde_json::Value {
    assert!(output.status.success(), "{output:?}");
    serde_json::from_slice(&output.stdout).unwrap()
}

/// The reports of the main file as they are held.
fn stored(trial: &Trial) -> Vec<Vec<u8>> {
    let listed = json(&run(trial, &["list", "--all", "--offline", "FILE"]));
    let ids = listed["sandboxes"].as_array().unwrap().iter().map(|sandbox| sandbox["id"].as_str().unwrap());
    ids.map(|id| run(trial, &["show", "--offline", id]).stdout).collect()
}

fn all_can_be_listed(trial: &Trial, _: &[Vec<u8>]) {
    assert_eq!(json(&run(trial, &["list", "--all", "FILE"]))["sandboxes"].as_array().unwrap().len(), 6);
    assert!(counted(trial) >= trial.demo.used().user.daily);
}

fn what_was_stored_is_stored(trial: &Trial, before: &[Vec<u8>]) {
    let calls = trial.demo.seen().len();
    assert!(before.len() == 6 && stored(trial) == before);
    assert_eq!(trial.demo.seen().len(), calls, "what is held is not asked for");
}

fn the_rest_is_deleted(trial: &Trial, _: &[Vec<u8>]) {
    let ledger = counted(trial);
    let deleted = run(trial, &["store", "remove", "--all", "--yes"]);
    assert!(deleted.status.success(), "{deleted:?}");
    assert_eq!(json(&run(trial, &["store", "list", "--json"]))["stored"].as_array().unwrap().len(), 0);
    assert_eq!(counted(trial), ledger, "the ledger stays");
}

fn the_file_is_the_old_or_the_new_one(trial: &Trial, _: &[Vec<u8>]) {
    let found = std::fs::read(trial.home.path().join("out.md")).unwrap();
    let new = run(trial, &["export", "REPORT", "--offline", "--format", "md"]).stdout;
    assert!(new.len() > 1000 && (found == OLD || found == new), "{} bytes are neither", found.len());
}

/// What stands where a file is written.
const OLD: &[u8] = b"what stood there";

/// What the ledger counts, carefully.
fn counted(trial: &Trial) -> u64 {
    let ledger = run(trial, &["ledger", "--all", "--json"]);
    let words = String::from_utf8_lossy(&ledger.stderr).into_owned();
    assert!(words.is_empty(), "{words}");
    json(&ledger)["entries"].as_array().unwrap().iter().map(|entry| entry["counts_as"].as_u64().unwrap()).sum()
}

/// Plays a scene, killed before the call of this number; whether it was.
fn play(scene: &Scene, number: usize) -> bool {
    let trial = Trial::begin();
    std::fs::write(trial.home.path().join("out.md"), OLD).unwrap();
    scene.first.iter().for_each(|arguments| assert!(run(&trial, arguments).status.success()));
    let before = if scene.first.is_empty() { Vec::new() } else { stored(&trial) };
    let inject = format!("inject={CALLS}:signal=KILL:when={number}");
    let mut tracer = Command::new("strace");
    tracer.args(["-f", "-qq", "-o", "/dev/null", "-e", &format!("trace={CALLS}"), "-e", &inject]);
    let killed = filled(scene.killed);
    let output = trial.run_under(tracer, &killed.iter().map(String::as_str).collect::<Vec<_>>(), Some(CANARY));
    let is_killed = output.status.signal() == Some(9) || output.status.code() == Some(137);
    assert!(is_killed || output.status.success(), "{}, {number}: {output:?}", scene.name);
    let about = format!("{}, killed before call {number}", scene.name);
    let charged = trial.demo.used().user.daily;
    assert!(counted(&trial) >= charged, "{about}: the ledger is too low");
    let left = files(trial.home.path());
    assert!(!left.iter().any(|path| path.to_string_lossy().contains("damaged")), "{about}: {left:?}");
    if let Some(store) = left.iter().find(|path| path.ends_with("records.db")) {
        let store = rusqlite::Connection::open(store).unwrap();
        let check: String = store.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
        assert_eq!(check, "ok", "{about}");
    }
    (scene.check)(&trial, &before);
    is_killed
}

#[test]
fn kill_at_any_step_loses_no_paid_response() {
    if !Command::new("strace").args(["-qq", "-o", "/dev/null", "true"]).status().is_ok_and(|status| status.success()) {
        println!("there is no strace here that may trace: kills between two calls to the system were NOT tried");
        return;
    }
    for scene in &SCENES {
        let step = if is_long() { 1 } else { 37 };
        let kills = (1..).step_by(step).take_while(|number| play(scene, *number)).count();
        assert!(kills > 0, "{} was never killed", scene.name);
        println!("kills x steps: {}, {kills} kills", scene.name);
    }
}
