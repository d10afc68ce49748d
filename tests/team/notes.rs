//! Notes of colleagues on the same report: shown with author and time, and never overwritten.

use super::*;
use std::io::{BufRead, BufReader, Write};

/// Writes a note on the first sandbox in the app in lines; an empty one deletes it.
fn note(person: &Colleague, typed: &str) {
    let mut command = person.command(&["--plain", &main_file()]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut keys = child.stdin.take().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut until = |words: &str| assert!(lines.any(|line| line.unwrap().contains(words)), "{words} is not shown");
    until("1: ● CAPE Sandbox");
    // A control character replaces the line by nothing.
    keys.write_all(format!("note\n{}\n\n", if typed.is_empty() { "\u{1}" } else { typed }).as_bytes()).unwrap();
    if typed.is_empty() {
        // Only what is typed after the question answers it.
        until("yes, delete it");
        keys.write_all(b"y\n").unwrap();
    }
    // The page is shown once the note is shared.
    until("1: ● CAPE Sandbox");
    keys.write_all(b"quit\n").unwrap();
    assert!(child.wait().unwrap().success());
}

#[test]
fn notes_of_two_people_are_both_shown() {
    let Some((cli, database, ana, ben)) = team("notes") else { return };
    let report = &identifiers(&ana.run(&["list", &main_file(), "--format", "ids"]))[0];
    let exported = |person: &Colleague| {
        // Notes come with the copies when a file is opened.
        let said = piped(&mut person.command(&["--plain", &main_file()]), "list\nquit\n");
        let output = person.run(&["export", report, "--offline", "--format", "txt"]);
        assert!(output.status.success(), "{output:?} {}", text(&said));
        text(&output)
    };
    note(&ana, "#ransom seen by ana");
    assert_eq!(database.ask("SELECT count(*) FROM behaview.note"), "1");
    let shown = exported(&ben);
    assert!(shown.contains("note: “#ransom seen by ana” (ana, 20"), "{shown}");
    let found = text(&ben.run(&["search", "#ransom"]));
    assert!(found.contains("“#ransom seen by ana” (ana, 20"), "{found}");
    note(&ben, "x” (ana, 2020-01-01 00:00) · “forged");
    let both = exported(&ana);
    assert!(both.contains("note: “#ransom seen by ana” (you, 20") && both.contains(") · “x"), "{both}");
    assert!(both.contains("“x\" (ana, 2020-01-01 00:00) · \"forged” (ben, 20"), "{both}");
    // Who deletes a note deletes no other; nothing is deleted in the database.
    note(&ana, "");
    let left = exported(&ben);
    assert!(left.contains("forged") && !left.contains("#ransom"), "{left}");
    assert!(exported(&ana).contains("(ben, 20"));
    assert_eq!(database.ask("SELECT count(*) FROM behaview.note"), "3");
    // The database refuses a forged name, a change, and what is too long.
    let add = |columns: &str, values: &str| {
        format!(
            "INSERT INTO behaview.note (service, machine, number, identifier, text{columns}) VALUES ('s', 'm', 1, 'i', {values})"
        )
    };
    for statement in [
        add(", person", "'x', 'ana'"),
        add("", "repeat('x', 4097)::bytea"),
        "UPDATE behaview.note SET text = 'x'".to_owned(),
        "DELETE FROM behaview.note".to_owned(),
    ] {
        assert!(database.refusal("ben", &statement).is_some(), "{statement}");
    }
    assert_eq!(database.refusal("ben", &add("", "'x'")), None);
    assert!(database.refusal("carl", &add("", "'x'")).is_some());
    assert_eq!(cli.paid(), 1);
}

#[test]
fn lead_removes_the_oldest_responses() {
    let Some((cli, database, ana, _ben)) = team("retention") else { return };
    assert!(ana.run(&["list", &main_file()]).status.success());
    database.run("UPDATE behaview.response SET pushed = now() - interval '100 days' WHERE id <= 2");
    let dora = Colleague::new(&cli, &database.url("dora"), PATIENT);
    let remove = |person: &Colleague, more: &[&str]| person.run(&[&["team", "remove", "--json"], more].concat());
    let planned = remove(&dora, &["--older-than", "90d"]);
    assert_eq!(planned.status.code(), Some(2));
    let members = ["\"done\": false", "\"responses\": 2", "\"bytes\": "];
    assert!(members.iter().all(|member| text(&planned).contains(member)), "{planned:?}");
    assert!(errors(&planned).contains("--yes"), "{planned:?}");
    let denied = remove(&ana, &["--older-than", "90d", "--yes"]);
    assert_eq!(
        (denied.status.code(), database.ask("SELECT count(*) FROM behaview.response")),
        (Some(4), "5".to_owned())
    );
    assert_eq!(json(&remove(&dora, &["--older-than", "90d", "--yes"]))["responses"], 2);
    assert_eq!(json(&remove(&dora, &["--down-to-mib", "1", "--yes"]))["responses"], 0);
    assert_eq!(database.ask("SELECT count(*) FROM behaview.response"), "3");
    assert_eq!(json(&remove(&dora, &["--down-to-mib", "0", "--yes"]))["responses"], 3);
}
