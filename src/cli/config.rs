//! `behaview config`: settings with their origins, paths, and errors; `behaview keys`: the keys of all commands, with the
//! config's changes applied.

use super::output::{Table, print_json, print_text};
use super::{Common, FailureKind};
use crate::app::{Command, Keymap};
use crate::config::{self, ConfigMistake, Effective, Folders, TEMPLATE};
use crate::files;
use crate::text::{self, Untrusted};
use anyhow::Context;
use clap::{Args, Subcommand};
use serde::Serialize;
use std::fmt::Write as _;
use std::io::{ErrorKind, Write as _};

#[derive(Debug, Subcommand)]
pub(super) enum ConfigCommand {
    /// Print the paths of config, store, cache, state and logs
    #[command(after_help = "Example:\n  behaview config path --json")]
    Path(FormatFlags),
    /// Print every setting with its value and who says so: flag, variable, file or default; secrets are left out
    #[command(after_help = "Examples:\n  behaview config show\n  behaview config show --set budget.session=5 --json")]
    Show(FormatFlags),
    /// Write a config file to start from, with every setting commented out; never over one that is there
    Init,
    /// Name everything in the config file that is no setting, or no value that its setting takes
    #[command(after_help = "Example:\n  behaview config check\n\nThe exit code is 14 where something is wrong.")]
    Check(FormatFlags),
}

// The output format.
#[derive(Debug, Args)]
pub(super) struct FormatFlags {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl ConfigCommand {
    pub(super) fn run(&self, common: &Common) -> anyhow::Result<()> {
        match self {
            Self::Path(form) => paths(form),
            Self::Show(form) => show(form, common),
            Self::Init => init(),
            Self::Check(form) => check(form),
        }
    }
}

#[derive(Serialize)]
struct PathsOutput {
    config: String,
    store: String,
    cache: String,
    state: String,
    logs: String,
}

fn paths(form: &FormatFlags) -> anyhow::Result<()> {
    let folders = Folders::find()?;
    let words = |path: &std::path::Path| text::path(path).to_string();
    let paths = PathsOutput {
        config: words(&folders.config),
        store: words(&folders.store),
        cache: words(&folders.cache),
        state: words(&folders.state_file()),
        logs: words(&folders.logs()),
    };
    if form.json {
        return print_json(&paths);
    }
    let rows = [
        ("config", paths.config),
        ("store", paths.store),
        ("cache", paths.cache),
        ("state", paths.state),
        ("logs", paths.logs),
    ];
    let lines = rows.map(|(name, path)| format!("{name:<8}{}\n", Untrusted::from(path).visible()));
    print_text(&lines.concat())
}

/// The output of `config show --json`.
#[derive(Serialize)]
struct ConfigOutput<'a> {
    file: String,
    settings: &'a [Effective],
}

fn show(form: &FormatFlags, common: &Common) -> anyhow::Result<()> {
    let (folders, config) = common.config()?;
    let settings = config.effective();
    if form.json {
        return print_json(&ConfigOutput { file: text::path(&folders.config).to_string(), settings: &settings });
    }
    let mut table = Table::new(&["setting", "value", "from"], &[]);
    let visible = |text: &str| Untrusted::from(text).visible().to_string();
    for Effective { name, value, from } in &settings {
        let value = value.as_deref().map_or_else(|| "-".to_owned(), visible);
        table.row([visible(name), value, from.to_string()]);
    }
    print_text(&table.to_string())
}

fn init() -> anyhow::Result<()> {
    let path = Folders::find()?.config;
    let shown = text::path(&path).to_string();
    let mut file = files::make_new(&path).map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => anyhow::anyhow!("{shown} is there already, and is left as it is"),
        _ => anyhow::anyhow!("{shown} cannot be made: {error}"),
    })?;
    file.write_all(TEMPLATE.as_bytes()).with_context(|| format!("{shown} cannot be written"))?;
    print_text(&format!("{shown}\n"))
}

/// The output of `config check --json`.
#[derive(Serialize)]
struct CheckOutput<'a> {
    file: String,
    found: &'a [ConfigMistake],
}

fn check(form: &FormatFlags) -> anyhow::Result<()> {
    let folders = Folders::find()?;
    let path = folders.to_read()?;
    let found = config::Config::check(path)?;
    if form.json {
        print_json(&CheckOutput { file: text::path(path).to_string(), found: &found })?;
    } else {
        let place = text::path(path);
        let lines = found.iter().map(|ConfigMistake { line, words }| {
            format!("{place}:{line}: {}\n", Untrusted::from(words.as_str()).visible())
        });
        let fine = if found.is_empty() { format!("{place}: nothing is wrong\n") } else { String::new() };
        print_text(&(lines.collect::<String>() + &fine))?;
    }
    match found.len() {
        0 => Ok(()),
        1 => Err(FailureKind::Config.error("the config has 1 mistake").into()),
        n => Err(FailureKind::Config.error(format!("the config has {n} mistakes")).into()),
    }
}

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
            return print_json(&key_rows(&map));
        }
        print_text(&if self.markdown { keys_markdown(&map) } else { keys_text(&map) })
    }
}

fn key_rows(map: &Keymap) -> Vec<KeyRow> {
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

fn keys_text(map: &Keymap) -> String {
    let mut table = Table::new(&["keys", "command", "where it works", "what it does"], &[]);
    for row in key_rows(map) {
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

fn keys_markdown(map: &Keymap) -> String {
    let mut table =
        "| keys | command | where it works | what it does | asks the service |\n|---|---|---|---|---|\n".to_owned();
    for row in key_rows(map) {
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
