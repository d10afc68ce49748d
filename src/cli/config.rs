//! `behaview config`: settings with their origins, paths, and errors; `behaview keys`: the keys of all commands, with the
//! config's changes applied.

use super::*;
use crate::app::{Command, Key, Keymap};
use crate::config::{Config, ConfigMistake, Effective, Folders, TEMPLATE};
use clap::Subcommand;
use std::io::{ErrorKind, Write as _};

#[derive(Debug, Subcommand)]
pub(super) enum ConfigCommand {
    /// Print the paths of config, store, cache, state and logs
    #[command(after_help = "Example:\n  behaview config path --json")]
    Path(FormatFlags),
    /// Print every setting with its value and who says so: flag, variable, file or default; secrets are left out
    #[command(after_help = "Examples:\n  behaview config show\n  behaview config show --set budget.session=5 --json")]
    Show(FormatFlags),
    /// Write a config file to start from, with every setting commented out; never over an existing one
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

fn paths(form: &FormatFlags) -> anyhow::Result<()> {
    let folders = Folders::find()?;
    let words = |path: &Path| text::path(path).to_string();
    let (state, logs) = (words(&folders.state_file()), words(&folders.logs()));
    let [config, store, cache] = [&folders.config, &folders.store, &folders.cache].map(|path| words(path));
    let shown = json!({"config": config, "store": store, "cache": cache, "state": state, "logs": logs});
    print(form.json, &shown, || {
        format!("config  {config}\nstore   {store}\ncache   {cache}\nstate   {state}\nlogs    {logs}\n")
    })
}

fn show(form: &FormatFlags, common: &Common) -> anyhow::Result<()> {
    let (folders, config) = common.config()?;
    let settings = &config.effective();
    let shown = json!({"file": text::path(&folders.config).to_string(), "settings": settings});
    print(form.json, &shown, || {
        let visible = |text: &str| Untrusted::from(text).visible().to_string();
        let rows = settings.iter().map(|Effective { name, value, from }| {
            [visible(name), value.as_deref().map_or_else(|| "-".to_owned(), visible), from.clone()]
        });
        table(["setting", "value", "from"], rows)
    })
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

fn check(form: &FormatFlags) -> anyhow::Result<()> {
    let folders = Folders::find()?;
    let path = folders.to_read()?;
    let (place, found) = (text::path(path).to_string(), &Config::check(path)?);
    print(form.json, &json!({"file": place, "found": found}), || {
        let lines = found.iter().map(|ConfigMistake { line, words }| {
            format!("{place}:{line}: {}\n", Untrusted::from(words.as_str()).visible())
        });
        if found.is_empty() { format!("{place}: nothing is wrong\n") } else { lines.collect() }
    })?;
    match found.len() {
        0 => Ok(()),
        1 => fail!(Config, "the config has 1 mistake"),
        n => fail!(Config, "the config has {n} mistakes"),
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

#[derive(Serialize)]
struct KeyRow {
    command: &'static str,
    keys: Vec<String>,
    usual_keys: Vec<String>,
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
        let rows: Vec<_> = Command::all().map(|command| key_row(command, &map)).collect();
        print(self.json, &rows, || if self.markdown { keys_markdown(&rows) } else { keys_text(&rows) })
    }
}

fn key_row(command: &'static Command, map: &Keymap) -> KeyRow {
    let names = |keys: &[Key]| keys.iter().map(ToString::to_string).collect();
    KeyRow {
        command: command.name,
        keys: names(map.of(command)),
        usual_keys: names(command.keys),
        place: command.place.words(),
        does: command.help,
        asks: command.asks(),
        leads: command.can_cost() && !command.asks(),
    }
}

fn keys_text(rows: &[KeyRow]) -> String {
    let rows = rows.iter().map(|row| {
        let price = match (row.asks, row.leads) {
            (true, _) => "; asks the service, at the price in the bar",
            (_, true) => "; what it opens asks the service, at the price in the bar",
            _ => "",
        };
        let keys = if row.keys.is_empty() { "none".to_owned() } else { row.keys.join(" ") };
        [keys, row.command.to_owned(), row.place.clone(), format!("{}{price}", row.does)]
    });
    table(["keys", "command", "where it works", "what it does"], rows)
}

fn keys_markdown(rows: &[KeyRow]) -> String {
    let heading = "| keys | command | where it works | what it does | asks the service |\n|---|---|---|---|---|\n";
    let rows = rows.iter().map(|row| {
        let keys: Vec<_> = row.keys.iter().map(|key| format!("`{}`", key.replace('|', "\\|"))).collect();
        let asks = match (row.asks, row.leads) {
            (true, _) => "at the price in the bar",
            (_, true) => "in what it opens, at the price in the bar",
            _ => "",
        };
        format!("| {} | {} | {} | {} | {asks} |\n", keys.join(" "), row.command, row.place, row.does)
    });
    std::iter::once(heading.to_owned()).chain(rows).collect()
}
