//! The members of every command's JSON are those of the manual.

use crate::harness::{CliHarness, main_file};
use jiff::Timestamp;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// The table of the manual, and a command; `~` is a blank within an argument.
const RUNS: &str = "dry run: list --dry-run --json --all FILE
    list: list --json --all FILE
    files: files --json --all
    files: files --analyses --json --all
    entry: ledger --format jsonl
    dry run: list --dry-run --json --all FILE
    compare: compare --json FILE
    search: search --json temp
    pivot: pivot --json cmd.exe
    triage: triage --json FILE
    price: cost v2-file-report --hashes 600 --json
    cost plan: cost plan v2-file-report~600 --balances --json
    cost rules: cost rules --json
    quota: quota --json
    quota by: quota --by day --json
    usage: usage --json
    store import: store import report.json --json
    store list: store list --json
    store list: store remove --all --json
    api v3-user: api v3-user
    config path: config path --json
    config show: config show --json
    doctor: doctor --json --online
    keys: keys --json
    submit: submit sample.exe
    watch: watch --yes --interval 1 FILE
    delete: delete --yes FILE
    ledger: ledger --json
    config check: config check --json";

type Members = BTreeMap<String, BTreeSet<String>>;

/// The paths and types of a value's members.
fn walk(value: &Value, path: &str, seen: &mut Members) {
    let mut add = |path: &str, kind: &str| seen.entry(path.to_owned()).or_default().insert(kind.to_owned());
    match value {
        Value::Null => drop(add(path, "null")),
        Value::Bool(_) => drop(add(path, "boolean")),
        Value::Number(_) => drop(add(path, "number")),
        Value::String(text) => {
            let is_time =
                ["_at", "at", "since", "until"].iter().any(|name| path.rsplit('.').next().unwrap().ends_with(name));
            let _ = add(path, if is_time && text.parse::<Timestamp>().is_ok() { "time" } else { "text" });
        }
        Value::Array(values) if values.is_empty() => drop(add(&format!("{path}[]"), "empty")),
        Value::Array(values) => values.iter().for_each(|value| walk(value, &format!("{path}[]"), seen)),
        Value::Object(members) => members.iter().for_each(|(name, value)| {
            walk(value, &if path.is_empty() { name.clone() } else { format!("{path}.{name}") }, seen);
        }),
    }
}

/// The tables of the manual: rows of path, type and meaning.
fn tables() -> BTreeMap<&'static str, Vec<[&'static str; 3]>> {
    let (mut tables, mut section, mut table) = (BTreeMap::<_, Vec<_>>::new(), "", "");
    for line in include_str!("../../assets/help/json.md").lines() {
        section = line.strip_prefix("## ").unwrap_or(section);
        let cells: Vec<_> = line.trim_matches('|').splitn(3, '|').map(|cell| cell.trim().trim_matches('`')).collect();
        match cells[..] {
            [name, "type", _] => table = if name == "member" { section } else { name },
            [path, kind, meaning] if kind != "---" => tables.entry(table).or_default().push([path, kind, meaning]),
            _ => {}
        }
    }
    tables
}

/// Whether a path is the documented one, where a name in capitals means any.
fn is_path(documented: &str, path: &str) -> bool {
    let any = |name: &str| name.chars().all(|c| c.is_ascii_uppercase());
    let (ours, theirs): (Vec<_>, Vec<_>) = (documented.split('.').collect(), path.split('.').collect());
    ours.len() == theirs.len() && ours.iter().zip(theirs).all(|(one, other)| any(one) || *one == other)
}

#[test]
fn json_has_the_members_that_the_manual_has() {
    let cli = CliHarness::new();
    let tables = tables();
    let mut seen = BTreeMap::<&str, Members>::new();
    std::fs::write(cli.home.path().join("sample.exe"), "MZ").unwrap();
    for (table, command) in RUNS.lines().map(|line| line.trim().split_once(": ").unwrap()) {
        match table {
            "store import" => {
                let id = format!("{}_CAPE Sandbox-1794474845", main_file());
                std::fs::write(cli.home.path().join("report.json"), cli.run(&["show", &id]).stdout).unwrap();
            }
            "config check" => cli.configure("nonsense = 1\n"),
            _ => {}
        }
        let words: Vec<_> = command.split(' ').map(|w| w.replace("FILE", &main_file()).replace('~', " ")).collect();
        let words: Vec<_> = words.iter().map(String::as_str).collect();
        let output = cli.command(&words).current_dir(cli.home.path()).output().unwrap();
        let values = serde_json::Deserializer::from_slice(&output.stdout).into_iter::<Value>();
        let seen = seen.entry(table).or_default();
        values.for_each(|value| walk(&value.unwrap(), "", seen));
        assert!(!seen.is_empty(), "{command}: {output:?}");
    }
    for (table, seen) in &seen {
        let mut rows = Vec::new();
        for [path, kind, _] in &tables[table] {
            rows.push(((*path).to_owned(), *kind));
            let shape = tables.get(kind.split(' ').next().unwrap()).into_iter().flatten();
            rows.extend(shape.map(|[name, kind, _]| (format!("{path}.{name}"), *kind)));
        }
        for (path, kinds) in seen {
            let row = rows.iter().find(|(documented, _)| is_path(documented, path));
            let is_inside =
                rows.iter().any(|(documented, _)| documented.starts_with(&format!("{path}.")) || documented == path);
            let is_empty = kinds.iter().all(|kind| kind == "empty") && is_inside;
            let is_right = |(_, types): &(String, &str)| {
                *types == "any"
                    || kinds.iter().all(|kind| kind == "empty" || types.split(" or ").any(|one| one == kind))
            };
            assert!(is_empty || row.is_some_and(is_right), "{table}: {path} is {kinds:?}, documented as {row:?}");
        }
        for [path, _, meaning] in &tables[table] {
            let is_seen = seen.iter().any(|(found, kinds)| {
                let is_gap = kinds.contains("empty") || kinds.contains("null");
                is_path(path, found)
                    || found.starts_with(&format!("{path}."))
                    || is_gap && path.starts_with(found.as_str())
            });
            assert!(is_seen || meaning.contains("absent"), "{table}: {path} is documented, not printed");
        }
    }
    // Those of the team store need a database: tests/team has them.
    let elsewhere = ["side", "cost", "team status", "team budget", "team remove", "ledger team"];
    let is_untried = |table: &&&str| !seen.contains_key(**table) && !elsewhere.contains(*table);
    let untried: Vec<_> = tables.keys().filter(is_untried).collect();
    assert!(untried.is_empty(), "{untried:?}");
}
