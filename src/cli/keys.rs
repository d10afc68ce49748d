//! `behaview keys`: lists the keys of all commands, with the config's changes applied.

use super::Common;
use super::output::{Table, print_json, print_text};
use crate::app::{Command, Keymap};
use clap::Args;
use serde::Serialize;
use std::fmt::Write;

#[derive(Debug, Args)]
#[command(after_help = "Example:\n  behaview keys --markdown")]
pub(super) struct KeysArgs {
    /// Print JSON
    #[arg(long, conflicts_with = "markdown")]
    json: bool,
    /// Print a table in Markdown
    #[arg(long)]
    markdown: bool,
}

/// One command in the output of `keys --json`.
#[derive(Serialize)]
struct KeyRow {
    command: &'static str,
    keys: Vec<String>,
    /// The default keys.
    usual_keys: Vec<String>,
    /// The context in which it works.
    place: String,
    does: &'static str,
    /// Whether it sends a request, and so may cost something.
    asks: bool,
    /// Whether the screen that it opens sends requests.
    leads: bool,
}

impl KeysArgs {
    pub(super) fn run(&self, common: &Common) -> anyhow::Result<()> {
        let map = common.config()?.1.keymap;
        if self.json {
            return print_json(&rows(&map));
        }
        print_text(&if self.markdown { markdown(&map) } else { text(&map) })
    }
}

fn rows(map: &Keymap) -> Vec<KeyRow> {
    let names = |keys: &[crate::app::Key]| keys.iter().map(ToString::to_string).collect();
    let row = |command: &'static Command| KeyRow {
        command: command.name,
        keys: names(map.of(command)),
        usual_keys: names(command.keys),
        place: command.place.words(),
        does: command.help,
        asks: command.asks(),
        leads: command.can_cost() && !command.asks(),
    };
    Command::all().map(row).collect()
}

fn text(map: &Keymap) -> String {
    let mut table = Table::new(&["keys", "command", "where it works", "what it does"], &[]);
    for row in rows(map) {
        let price = match (row.asks, row.leads) {
            (true, _) => "; asks the service, at the price in the bar",
            (_, true) => "; what it opens asks the service, at the price in the bar",
            _ => "",
        };
        let keys = if row.keys.is_empty() { "none".to_owned() } else { row.keys.join(" ") };
        table.row([keys, row.command.to_owned(), row.place, format!("{}{price}", row.does)]);
    }
    table.to_string()
}

fn markdown(map: &Keymap) -> String {
    let mut table =
        "| keys | command | where it works | what it does | asks the service |\n|---|---|---|---|---|\n".to_owned();
    for row in rows(map) {
        let keys: Vec<_> = row.keys.iter().map(|key| format!("`{}`", key.replace('|', "\\|"))).collect();
        let asks = match (row.asks, row.leads) {
            (true, _) => "at the price in the bar",
            (_, true) => "in what it opens, at the price in the bar",
            _ => "",
        };
        // Writing to a String does not fail.
        let _ = writeln!(table, "| {} | {} | {} | {} | {asks} |", keys.join(" "), row.command, row.place, row.does);
    }
    table
}
