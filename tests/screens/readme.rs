//! The README's pictures and the manual's tables are compared with the program.
//!
//! `BEHAVIEW_UPDATE=1 cargo test --test screens readme` updates them.

use crate::harness::{TuiHarness, identifiers, main_file};
use crate::svg::svg;
use behaview::export::{FORMATS, Format};
use behaview::quota::{Kind, OPTIONS, RULES};
use behaview::view::{Appearance, ColorDepth, Theme};
use std::path::Path;

/// Compares a file, or its part after `<!-- name:`, with the wanted text, or writes it.
fn keep_current(path: &str, part: Option<&str>, wanted: &str) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    let text = std::fs::read_to_string(&file).unwrap_or_default();
    let (before, rest) = part.map_or(("", &*text), |name| {
        let start = text.find(&format!("<!-- {name}:")).expect("the topic has such a part");
        text.split_at(start + text[start..].find('\n').unwrap() + 1)
    });
    let (found, after) = rest.split_at(part.map_or(rest.len(), |_| rest.find("<!-- end -->").unwrap()));
    if std::env::var_os("BEHAVIEW_UPDATE").is_some() {
        std::fs::write(&file, [before, wanted, after].concat()).unwrap();
    } else if found != wanted {
        let same = found.lines().zip(wanted.lines()).take_while(|(found, wanted)| found == wanted).count();
        let line = |text: &str| text.lines().nth(same).unwrap_or("(no such line)").to_owned();
        panic!(
            "{path} is out of date, first in line {}:\n  has    {}\n  wanted {}\nto update it: {UPDATE}",
            before.lines().count() + same + 1,
            line(found),
            line(wanted)
        );
    }
}

const UPDATE: &str = "BEHAVIEW_UPDATE=1 cargo test --test screens readme";

#[test]
fn manual_tables_are_current() {
    // One after another: some are in the same file.
    for (topic, name, wanted) in [
        ("keys", "keys", keys()),
        ("pricing", "prices", prices()),
        ("pricing", "options", options()),
        ("config", "config", format!("```toml\n{}```\n", behaview::config::TEMPLATE)),
        ("scripts", "exit codes", exit_codes()),
        ("scripts", "commands", commands()),
    ] {
        keep_current(&format!("assets/help/{topic}.md"), Some(name), &wanted);
    }
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

#[test]
fn manual_names_every_export_format() {
    let names: Vec<_> = FORMATS.iter().map(|format| format.name).collect();
    assert!(include_str!("../../assets/help/scripts.md").contains(&names.join(", ")), "{names:?}");
    for format @ Format { name, extension, .. } in FORMATS {
        assert!(include_str!("../../assets/help/export.md").contains(&format!("\n| `{name}` | ")), "{name}");
        let selected = Format::of_file(&format!("report.{extension}")).map(|format| format.name);
        assert!(format.is_raw() || selected == Some(name), "{name}: .{extension} selects {selected:?}");
    }
}

/// The pictures that the README shows or names, each with the keys that lead to its screen.
const PICTURES: [(&str, &str); 5] =
    [("screen", "j j"), ("findings", "!"), ("indicators", "i"), ("comparison", "c"), ("prices", "A")];

#[test]
fn the_pictures_are_current() {
    let readme = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md")).unwrap();
    for (name, keys) in PICTURES {
        let mut tui = if name == "prices" { TuiHarness::at(main_file(), identifiers()) } else { TuiHarness::listed() };
        tui.session.look = Appearance { theme: Theme::Dark, depth: ColorDepth::True };
        tui.size(132, 36).keys("enter").keys(keys);
        let path = format!("assets/{name}.svg");
        keep_current(&path, None, &svg(&tui, "behaview demo"));
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
    let mut table = "| rule | what it says | pool | basis |\n|---|---|---|---|\n".to_owned();
    for rule in &RULES {
        table += &format!("| {} | {} | {} | documented |\n", rule.number, rule.text, rule.pool_label());
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
