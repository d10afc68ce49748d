//! The README's pictures and the manual's tables are compared with the program.
//!
//! `BEHAVIEW_UPDATE=1 cargo test --test screens readme` updates them.

use crate::stage::{Stage, identifiers, main_file};
use crate::svg::svg;
use behaview::quota::{Kind, OPTIONS, RULES};
use behaview::view::{Appearance, Depth, Theme};
use std::path::Path;

/// Compares the part of a topic that begins with `<!-- name:` with what it should be, or writes it.
fn keep_current(topic: &str, name: &str, wanted: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("assets/help/{topic}.md"));
    let text = std::fs::read_to_string(&path).unwrap();
    let start = text.find(&format!("<!-- {name}:")).expect("the topic has such a part");
    let start = start + text[start..].find('\n').unwrap() + 1;
    let end = start + text[start..].find("<!-- end -->").unwrap();
    if std::env::var_os("BEHAVIEW_UPDATE").is_some() {
        std::fs::write(&path, format!("{}{wanted}{}", &text[..start], &text[end..])).unwrap();
        return;
    }
    let mut lines = text[start..end].lines().zip(wanted.lines());
    let differs = lines.find(|(found, wanted)| found != wanted);
    assert!(
        text[start..end] == *wanted,
        "{topic}.md: {name} are out of date, first at {differs:?}; BEHAVIEW_UPDATE=1 cargo test --test screens readme"
    );
}

#[test]
fn manual_tables_are_current() {
    keep_current("keys", "keys", &keys());
    // One after another: the two write the same file.
    keep_current("pricing", "prices", &prices());
    keep_current("pricing", "options", &options());
    keep_current("config", "config", &format!("```toml\n{}```\n", behaview::config::TEMPLATE));
    keep_current("scripts", "exit codes", &exit_codes());
    keep_current("scripts", "commands", &commands());
}

#[test]
fn readme_names_every_topic() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let readme = std::fs::read_to_string(folder.join("README.md")).unwrap();
    assert!(readme.len() <= 8_000, "{} bytes", readme.len());
    for topic in std::fs::read_dir(folder.join("assets/help")).unwrap() {
        let topic = topic.unwrap().file_name().into_string().unwrap();
        assert!(readme.contains(&format!("`{}`", topic.trim_end_matches(".md"))), "{topic}");
    }
}

/// The pictures that the README shows or names, each with the keys that lead to its screen.
const PICTURES: [(&str, &str); 5] =
    [("screen", "j j"), ("findings", "!"), ("indicators", "i"), ("comparison", "c"), ("prices", "A")];

#[test]
fn the_pictures_are_current() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let readme = std::fs::read_to_string(folder.join("README.md")).unwrap();
    for (name, keys) in PICTURES {
        let mut stage = if name == "prices" { Stage::at(main_file(), identifiers()) } else { Stage::listed() };
        stage.session.look = Appearance { theme: Theme::Dark, depth: Depth::True };
        stage.size(132, 36).keys("enter").keys(keys);
        let (path, wanted) = (format!("assets/{name}.svg"), svg(&stage, "behaview demo"));
        if std::env::var_os("BEHAVIEW_UPDATE").is_some() {
            std::fs::write(folder.join(&path), &wanted).unwrap();
        }
        assert!(std::fs::read_to_string(folder.join(&path)).unwrap() == wanted, "{path} is out of date");
        assert!(readme.contains(&format!("]({path})")), "the README names {path}");
    }
}

/// What the program itself prints.
fn keys() -> String {
    let home = tempfile::tempdir().unwrap();
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_behaview"));
    let output = command.args(["keys", "--markdown"]).env_clear().env("HOME", home.path()).output().unwrap();
    assert!(output.status.success());
    String::from_utf8(output.stdout).unwrap()
}

fn prices() -> String {
    let mut table = "| rule | | pool | |\n|---|---|---|---|\n".to_owned();
    for rule in &RULES {
        table += &format!("| {} | {} | {} | documented |\n", rule.number, rule.words, rule.pool.words());
    }
    table
}

fn options() -> String {
    let mut table = "| option | what it says | of |\n|---|---|---|\n".to_owned();
    for choice in OPTIONS {
        let takes = |kind: &&Kind| kind.options().any(|taken| taken.name == choice.name);
        let names: Vec<_> = Kind::ALL.iter().filter(takes).map(|kind| format!("`{}`", kind.name())).collect();
        let value = choice.value_name().map(|value| format!(" `{}`", value.replace('|', "\\|"))).unwrap_or_default();
        table += &format!("| `{}`{value} | {} | {} |\n", choice.name, choice.about, names.join(", "));
    }
    table
}

fn commands() -> String {
    let rows = behaview::cli::commands().into_iter().map(|(name, about)| format!("| `{name}` | {about} |\n"));
    format!("| command | what it does |\n|---|---|\n{}", rows.collect::<String>())
}

fn exit_codes() -> String {
    let rows = behaview::cli::exit_codes().map(|(code, words)| format!("| {code} | {words} |\n"));
    format!("| exit code | meaning |\n|---|---|\n{}", rows.collect::<String>())
}
