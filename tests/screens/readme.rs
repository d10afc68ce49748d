//! What the README shows is what the program does: its picture and its tables are compared with the code.
//!
//! `BEHAVIEW_UPDATE=1 cargo test --test screens readme` writes them anew.

use crate::stage::Stage;
use behaview::app::{Command, PANES};
use behaview::quota::RULES;
use std::path::Path;

/// Compares the part of the README that begins with `<!-- name:` with what it should be, or writes it.
fn keep_current(name: &str, wanted: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md");
    let text = std::fs::read_to_string(&path).unwrap();
    let start = text.find(&format!("<!-- {name}:")).expect("the README has such a part");
    let start = start + text[start..].find('\n').unwrap() + 1;
    let end = start + text[start..].find("<!-- end -->").unwrap();
    if std::env::var_os("BEHAVIEW_UPDATE").is_some() {
        std::fs::write(&path, format!("{}{wanted}{}", &text[..start], &text[end..])).unwrap();
    } else {
        assert_eq!(&text[start..end], wanted, "the README's {name} are out of date");
    }
}

#[test]
fn readme_parts_are_current() {
    // One after another: each writes the same file.
    keep_current("screen", &format!("```text\n{}```\n", picture()));
    keep_current("keys", &keys());
    keep_current("prices", &prices());
    keep_current("config", &format!("```toml\n{}```\n", behaview::config::commented()));
    keep_current("exit codes", &exit_codes());
}

fn picture() -> String {
    let mut stage = Stage::listed();
    stage.size(112, 32);
    stage.screen()
}

fn keys() -> String {
    let mut table = "| key | command | what it does | asks the service |\n|---|---|---|---|\n".to_owned();
    for command in Command::all() {
        let keys: Vec<_> = command.keys.iter().map(|key| format!("`{key}`")).collect();
        let asks = if command.asks() { "yes, at the price in the bar" } else { "" };
        table += &format!("| {} | {} | {} | {asks} |\n", keys.join(" "), command.name, command.help);
    }
    for info in &PANES {
        table += &format!("| `{}` | | Go to the pane {} | |\n", info.key, info.title);
    }
    table
}

fn prices() -> String {
    let mut table = "| rule | | pool | |\n|---|---|---|---|\n".to_owned();
    for rule in RULES {
        table += &format!("| {} | {} | {} | {} |\n", rule.number, rule.words, rule.pool.words(), rule.basis.name());
    }
    table
}

fn exit_codes() -> String {
    let rows = behaview::cli::exit_codes().map(|(code, words)| format!("| {code} | {words} |\n"));
    format!("| exit code | meaning |\n|---|---|\n{}", rows.collect::<String>())
}
