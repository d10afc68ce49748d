//! A disk on which nothing is free: what is held is looked at there, and deleted, which makes room.
#![cfg(target_os = "linux")]

use crate::desk::{Desk, json, main_file, text};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What no disk of this size can be had with: then there is nothing to see.
const NO_DISK: i32 = 99;

/// Reports for the disk, each of which takes so many kilobytes there.
fn reports(folder: &Path, kilobytes: &[usize]) -> Vec<PathBuf> {
    let mut state = 1_u64;
    let mut word = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        format!("\"{:016x}{:016x}\"", state, state.rotate_left(23))
    };
    let write = |(n, kilobytes): (usize, &usize)| {
        let rows: Vec<_> = std::iter::repeat_with(&mut word).take(kilobytes * 64).collect();
        let id = format!("{}_Box-1700000000", format!("{:02x}", n + 1).repeat(32));
        let json = format!(r#"{{"data":{{"id":"{id}","attributes":{{"files_opened":[{}]}}}}}}"#, rows.join(","));
        let path = folder.join(format!("{n}.json"));
        std::fs::write(&path, json).unwrap();
        path
    };
    kilobytes.iter().enumerate().map(write).collect()
}

/// Runs a script with the data folder on a disk of eight megabytes, where `fill` takes all that is free; none where no such disk is
/// to be had.
fn on_a_small_disk(desk: &Desk, reports: &[PathBuf], script: &str) -> Option<String> {
    let program = env!("CARGO_BIN_EXE_behaview");
    let script = format!(
        "disk=\"$HOME/.local\"; mkdir \"$disk\" && mount -t tmpfs -o size=8m none \"$disk\" || exit {NO_DISK}
         store=\"$disk/share/behaview/behaview.db\"
         fill() {{ dd if=/dev/zero bs=1k >> \"$disk/fill\"; }} 2>/dev/null
         free() {{ df -k \"$disk\" | awk 'END {{ print $4 }}'; }}
         behaview() {{ {program} \"$@\" || echo \"exit code $?\"; }}
         set -- {}
         {script}",
        reports.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(" ")
    );
    let run = Command::new("unshare")
        .args(["--mount", "--map-root-user", "sh", "-c", &script])
        .env("HOME", desk.home.path())
        .env("VT_APIKEY", &desk.key)
        .stdin(Stdio::null())
        .output()
        .ok()?;
    let is_there = run.status.code() != Some(NO_DISK) && !text(&run).is_empty();
    if !is_there {
        let _ = writeln!(
            std::io::stderr(),
            "not tested: this machine gives no disk of eight megabytes: {}",
            String::from_utf8_lossy(&run.stderr)
        );
    }
    is_there.then(|| format!("{}{}", text(&run), String::from_utf8_lossy(&run.stderr)))
}

#[test]
fn where_nothing_is_free_what_is_held_is_listed_and_deleted() {
    let (desk, folder) = (Desk::new(), tempfile::tempdir().unwrap());
    let reports = reports(folder.path(), &[20, 3000, 100]);
    // Twice, for what was lent is there again the next time.
    let script = "for few in \"$*\" \"$1\"; do
            behaview import $few >/dev/null
            fill; echo free $(free); behaview held
            behaview held --all --yes; echo then $(free)
        done";
    let Some(said) = on_a_small_disk(&desk, &reports, script) else { return };
    assert_eq!(said.matches("free 0\n").count(), 2, "{said}");
    assert!(said.contains("\n3 held: ") && said.contains("\nDeleted: 3 things"), "{said}");
    assert!(said.contains("\n1 held: ") && said.contains("\nDeleted: 1 thing of no service"), "{said}");
    let free: Vec<u64> = said.lines().filter_map(|line| line.strip_prefix("then ")?.parse().ok()).collect();
    assert!(free.len() == 2 && free[0] > 1000 && free[1] > 0, "{free:?}: {said}");
    assert!(!said.contains("exit code") && !said.contains("behaview: "), "{said}");
}

#[test]
fn where_nothing_is_free_one_report_is_deleted_and_the_others_stay() {
    let (desk, folder) = (Desk::new(), tempfile::tempdir().unwrap());
    let reports = reports(folder.path(), &[2000, 20, 100]);
    let id = format!("{}_Box-1700000000", "01".repeat(32));
    let script = format!(
        "behaview import \"$@\" >/dev/null; fill; behaview held --delete {id} --yes >/dev/null; behaview held --json"
    );
    let Some(said) = on_a_small_disk(&desk, &reports, &script) else { return };
    let held: serde_json::Value = serde_json::from_str(&said).unwrap_or_else(|why| panic!("{why}: {said}"));
    assert!(held["held"].as_array().is_some_and(|held| held.len() == 2), "{said}");
    // Elsewhere it is the same, with nothing to lend.
    let imported = desk.command(&["import"]).args(&reports).output().unwrap();
    assert!(imported.status.success());
    assert!(desk.run(&["held", "--delete", &id, "--yes"]).status.success());
    assert_eq!(json(&desk.run(&["held", "--json"]))["held"].as_array().unwrap().len(), 2);
}

#[test]
fn a_store_that_has_filled_the_disk_itself_can_be_emptied() {
    let (desk, folder) = (Desk::new(), tempfile::tempdir().unwrap());
    // The last one has room in the log, and none in the database.
    let reports = reports(folder.path(), &[1500, 1500, 20, 1500, 1500]);
    let id = format!("{}_Box-1700000000", "01".repeat(32));
    let script = format!(
        "for report; do behaview import \"$report\" >/dev/null; done
         echo log $(cat \"$store-wal\" 2>&- | wc -c) spare $(wc -c < \"$store-spare\"); fill; behaview held
         behaview held --delete {id} --yes; behaview held --all --yes; echo then $(free)"
    );
    let Some(said) = on_a_small_disk(&desk, &reports, &script) else { return };
    // It is refused before anything is stuck; what was there is there.
    assert!(said.contains("behaview: 1 could not be imported") && said.contains("\n4 held: "), "{said}");
    assert!(said.contains("log 0 spare 524288\n"), "{said}");
    assert!(said.contains("\nDeleted: 1 thing of no service") && said.contains("\nDeleted: 3 things"), "{said}");
    assert!(!said.contains("exit code"), "{said}");
    let free: u64 = said.lines().find_map(|line| line.strip_prefix("then ")?.parse().ok()).unwrap();
    assert!(free > 4000, "{said}");
}

#[test]
fn a_call_that_no_room_was_left_to_write_down_leaves_nothing() {
    let (desk, folder) = (Desk::new(), tempfile::tempdir().unwrap());
    let reports = reports(folder.path(), &[20]);
    let file = crate::desk::main_file();
    let script = format!("behaview import \"$@\" >/dev/null; fill; behaview list {file}; ls \"$store\"*");
    let Some(said) = on_a_small_disk(&desk, &reports, &script) else { return };
    assert!(said.contains("exit code") && said.contains("behaview.db-spare") && !said.contains("-call-"), "{said}");
    assert_eq!(desk.paid(), 0);
}

#[test]
fn what_has_many_indexes_is_deleted_where_nothing_is_free() {
    let (desk, folder) = (Desk::new(), tempfile::tempdir().unwrap());
    let reports = reports(folder.path(), &[20]);
    assert!(desk.command(&["import"]).args(&reports).output().unwrap().status.success());
    let paths = text(&desk.run(&["config", "path"]));
    let store = paths.lines().find_map(|line| line.strip_prefix("store")).unwrap().trim().to_owned();
    let heads = "WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 80)
                 INSERT INTO row_index (answer, first, after, head, length)
                 SELECT (SELECT id FROM answer), n, n, randomblob(32000), 0 FROM n";
    rusqlite::Connection::open(&store).unwrap().execute(heads, []).unwrap();
    let held = json(&desk.run(&["held", "--json"]));
    assert!(held["on_disk"].as_u64().unwrap() > 80 * 32_000, "{held}");
    let before = folder.path().join("before.db");
    std::fs::rename(store, &before).unwrap();
    std::fs::remove_dir_all(desk.home.path().join(".local")).unwrap();
    let script = format!(
        "mkdir -p \"$(dirname \"$store\")\"; cp {} \"$store\"; chmod 600 \"$store\"; behaview held >/dev/null
         fill; behaview held --all --yes; echo then $(free)",
        before.display()
    );
    let Some(said) = on_a_small_disk(&desk, &reports, &script) else { return };
    assert!(said.contains("Deleted: 1 thing") && !said.contains("exit code"), "{said}");
    let free: u64 = said.lines().find_map(|line| line.strip_prefix("then ")?.parse().ok()).unwrap();
    assert!(free > 2000, "{said}");
}

#[test]
fn an_artefact_that_the_store_has_no_room_for_is_written_where_it_was_asked_to_be() {
    let (desk, other) = (Desk::new(), Desk::new());
    let listed = json(&other.run(&["list", &main_file()]));
    let id = listed["sandboxes"][0]["id"].as_str().unwrap().to_owned();
    let script = format!(
        "behaview quota >/dev/null 2>&1; fill; dd if=/dev/null of=\"$disk/fill\" bs=1k seek=$(( $(stat -c %s \"$disk/fill\") / 1024 - 400 )) 2>/dev/null
         behaview fetch '{id}' memdump --anyway --output \"$HOME/memory\" 2>&1; wc -c < \"$HOME/memory\"; behaview held"
    );
    let Some(said) = on_a_small_disk(&desk, &[], &script) else { return };
    assert!(said.contains("could not be kept") && !said.contains("exit code"), "{said}");
    assert!(said.contains("\n6291456\n"), "{said}");
}
