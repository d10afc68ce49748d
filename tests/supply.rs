//! Dependencies against `deny.toml`, offline: sources, licences, banned crates, the lock file.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, reason = "a test that cannot go on fails")]

use std::path::Path;
use std::process::Command;

fn read(name: &str) -> toml::Table {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(name);
    std::fs::read_to_string(path).unwrap().parse().unwrap()
}

fn words(list: &toml::Value) -> Vec<String> {
    list.as_array().unwrap().iter().map(|word| word.as_str().unwrap().to_owned()).collect()
}

/// Every package that is built into the program on this machine, as cargo knows it.
fn packages() -> Vec<serde_json::Value> {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    let rustc = Command::new("rustc").arg("-vV").output().unwrap().stdout;
    let rustc = String::from_utf8(rustc).unwrap();
    let host = rustc.lines().find_map(|line| line.strip_prefix("host: ")).unwrap();
    let output = Command::new(cargo)
        .args(["metadata", "--format-version", "1", "--locked", "--offline", "--filter-platform", host])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    metadata["packages"].as_array().unwrap().clone()
}

/// Whether a licence expression can be met: of `AND` each part, of `OR` any. Without brackets `AND`
/// joins more here than by the standard, which allows less.
fn is_allowed(expression: &str, allowed: &[String]) -> bool {
    let expression = expression.replace('/', " OR ");
    let is_one = |one: &str| allowed.iter().any(|allowed| allowed == one.trim());
    expression.split(" AND ").all(|part| part.trim_matches(['(', ')']).split(" OR ").any(is_one))
}

#[test]
fn packages_are_from_the_registry_with_checksum() {
    let lock = read("Cargo.lock");
    for package in lock["package"].as_array().unwrap() {
        let name = package["name"].as_str().unwrap();
        if name != env!("CARGO_PKG_NAME") {
            let source = package.get("source").and_then(|source| source.as_str());
            assert_eq!(source, Some("registry+https://github.com/rust-lang/crates.io-index"), "{name}");
            assert!(package.get("checksum").is_some(), "{name}");
        }
    }
}

#[test]
fn every_licence_is_allowed_and_no_crate_is_banned() {
    let policy = read("deny.toml");
    let allowed = words(&policy["licenses"]["allow"]);
    let banned: Vec<_> =
        policy["bans"]["deny"].as_array().unwrap().iter().map(|ban| ban["crate"].as_str().unwrap()).collect();
    for package in packages() {
        let name = package["name"].as_str().unwrap();
        let licence = package["license"].as_str().unwrap_or_default();
        assert!(is_allowed(licence, &allowed), "{name}: {licence:?}");
        assert!(!banned.contains(&name), "{name} is banned");
    }
}

#[test]
fn manifest_forbids_unsafe_and_default_features() {
    let manifest = read("Cargo.toml");
    assert!(manifest["package"].get("rust-version").is_some());
    assert_eq!(manifest["lints"]["rust"]["unsafe_code"].as_str(), Some("forbid"));
    let (packages, text) = (packages(), include_str!("../Cargo.toml"));
    for (name, dependency) in every_dependency(&manifest) {
        let (before, _) = text.split_once(&format!("\n{name} = ")).unwrap();
        assert!(before.lines().next_back().unwrap().starts_with("# "), "why is {name} here?");
        if dependency.get("default-features").and_then(toml::Value::as_bool) != Some(false) {
            let of_name = packages.iter().filter(|package| package["name"] == name);
            let defaults = of_name.filter_map(|package| package["features"]["default"].as_array()).flatten();
            let other: Vec<_> = defaults.filter(|feature| !DEFAULTS.iter().any(|known| *feature == *known)).collect();
            assert!(other.is_empty(), "{name} brings {other:?} unasked");
        }
    }
}

/// Default features that a library may have: the standard library, the one inflater, names of
/// temporary files that cannot be guessed, widths of ideographs.
const DEFAULTS: [&str; 5] = ["std", "rust_backend", "runtime_detection", "getrandom", "cjk"];

/// What the program is built with, on every system.
fn every_dependency(manifest: &toml::Table) -> Vec<(String, toml::Value)> {
    let of_systems = manifest["target"].as_table().unwrap().values().map(|system| &system["dependencies"]);
    let tables = of_systems.chain([&manifest["dependencies"]]).map(|table| table.as_table().unwrap());
    tables.flat_map(|table| table.iter().map(|(name, dependency)| (name.clone(), dependency.clone()))).collect()
}
