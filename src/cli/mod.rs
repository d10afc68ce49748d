//! The command line: app, demo, and commands for scripts; all use one gateway and store.

#[macro_use]
mod output;

mod about;
mod app;
mod compare;
mod cost;
mod counters;
mod document;
mod export;
mod list;
mod pivot;
mod query;
mod search;
mod show;
mod statement;
mod store;
mod team;
mod triage;
mod watch;

use crate::config::{Config, Folders};
use crate::log::Log;
use clap::{Arg, CommandFactory, FromArgMatches, Parser, Subcommand};
use sha2::Digest;
use std::process::ExitCode;
use std::sync::OnceLock;

pub use app::service;
pub use output::exit_codes;

// Shared by the commands; each begins with `use super::*`.
use crate::environment::variable;
use crate::files;
use crate::gateway::{Gateway, GatewayError};
use crate::quota::{Entitlements, Plan, Units};
use crate::report::identifier::{Identifier, Sha256};
use crate::report::{Body, Cancel, Note, Pane, Report};
use crate::request::Request;
use crate::runtime;
use crate::store::{Store, StoredReport};
use crate::text::{self, Untrusted, bytes, count, thousands, to_visible};
use crate::view::Theme;
use anyhow::{Context, Result};
use app::own_rules;
use clap::builder::PossibleValuesParser;
use clap::{Args, ValueEnum};
use document::{AgreedPrice, FormatFlags, STANDARD_INPUT, Spending, Subject, each, parse_sha256, read_subjects};
use jiff::{SignedDuration, Timestamp};
use output::{CliError, FailureKind};
use output::{Output, json_line, or_end, print, print_body, print_json, print_text, room, table, visible, wrapped};
use query::{
    OpenCost, Setup, check_budget, cost, fetch, hint, open_for_reading, print_cost, print_dry_run, runtime, send,
    service_of, setup, show_progress, store_and_service, warn,
};
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Browse private sandbox behaviour reports, and know what every call costs before it is made.
#[derive(Debug, Parser)]
#[command(version, bin_name = NAME, override_usage = USAGE, disable_help_subcommand = true, after_help = START, after_long_help = more_help())]
struct Cli {
    #[command(subcommand)]
    command: Option<CliCommand>,
    #[command(flatten)]
    common: Common,
}

const NAME: &str = "behaview";

const START: &str = "Start with: behaview demo";

const USAGE: &str = "behaview [OPTIONS] [SHA256]...\n       behaview [OPTIONS] <COMMAND>";

/// Returns the end of a command's help: its section of the manual's examples.
fn examples(command: &str) -> &'static str {
    let mut sections = include_str!("../../assets/help/examples.md").split("\n## ");
    let found = sections.find_map(|section| section.strip_prefix(command)?.strip_prefix('\n'));
    found.unwrap_or_default().trim_end()
}

/// Name of the arguments in place of a command.
const FILES: &str = "sha256";

const ABOUT_FILES: &str = "SHA-256 of privately scanned files, or identifiers of stored reports; \
    a SHA-256 can also be typed or pasted in the app";

fn more_help() -> String {
    let codes = exit_codes().map(|(code, words)| format!("  {code:>2}  {words}\n"));
    format!("{START}\n\nExit codes:\n{}", codes.collect::<String>())
}

// The options of every command.
#[derive(Debug, Args)]
#[command(next_help_heading = "Options of every command")]
struct Common {
    /// Service profile from the config file
    #[arg(long, global = true, value_name = "NAME")]
    profile: Option<String>,
    /// Theme: auto, dark, light, contrast or mono
    #[arg(long, global = true, value_name = "THEME", value_parser = PossibleValuesParser::new(Theme::names()))]
    theme: Option<String>,
    /// Show ASCII only, as with a locale without UTF-8
    #[arg(long, global = true)]
    ascii: bool,
    /// Use the mouse: click, wheel, drag a border; with Shift it still selects text
    #[arg(long, global = true)]
    mouse: bool,
    /// Print lines instead of drawing: for screen readers and simple terminals
    #[arg(long, global = true)]
    plain: bool,
    /// Override any setting, such as budget.daily=20; config show lists all
    #[arg(long = "set", global = true, value_name = "NAME=VALUE", value_parser = assignment)]
    set: Vec<(String, String)>,
    /// Send nothing: only stored responses are shown
    #[arg(long, global = true)]
    offline: bool,
    /// Log level: off, error, warn, info or debug
    #[arg(long, global = true, value_name = "LEVEL")]
    log_level: Option<String>,
    /// Print the result, warnings and errors only: no progress, costs or hints
    #[arg(long, short, global = true)]
    quiet: bool,
    /// Opened when its folder is known.
    #[arg(skip)]
    log: OnceLock<Log>,
}

fn assignment(text: &str) -> Result<(String, String), &'static str> {
    let (name, value) = text.split_once('=').ok_or("expected NAME=VALUE")?;
    Ok((name.trim().to_owned(), value.trim().to_owned()))
}

/// Declares the commands: what each is for, and the arguments that run it.
macro_rules! commands {
    ($($(#[$about:meta])* $name:ident($arguments:ty),)+) => {
        #[derive(Debug, Subcommand)]
        // For speed, only the command that is run is built completely.
        #[command(defer = true)]
        enum CliCommand {
            $($(#[$about])* $name($arguments),)+
        }

        impl CliCommand {
            fn run(self, common: &Common) -> Result<()> {
                match self {
                    $(Self::$name(command) => command.run(common),)+
                }
            }
        }
    };
}

commands! {
    /// Run the app on the embedded service with made-up reports: no key, no network, no cost
    Demo(app::DemoArgs),
    /// Open reports that were saved by any tool, or are stored: no network, no key
    Open(app::OpenArgs),
    /// Print a file's sandboxes, a table on a terminal and JSON elsewhere; each page that is not
    /// stored costs one request
    List(list::ListArgs),
    /// Print the group's private files, or its analyses; each page that is not stored costs one
    /// request
    Files(list::FilesArgs),
    /// Print one behaviour report as JSON; a report that is not stored costs one request
    Show(show::ShowArgs),
    /// Write reports for others: HTML, Markdown, CSV, JSON, STIX 2.1, MISP, ATT&CK Navigator; a
    /// report that is not stored costs one request
    Export(export::ExportArgs),
    /// Download an artifact of a sandbox: HTML report, network capture, event log, memory dump;
    /// costs one request
    Download(show::DownloadArgs),
    /// Submit a file of this machine for a private scan; costs one private scan
    Submit(Box<watch::SubmitArgs>),
    /// Watch a file's scan until its reports are there; each poll costs one request, each page of
    /// the list one more
    Watch(watch::WatchArgs),
    /// Delete a private file at the service; costs one request
    Delete(show::DeleteArgs),
    /// Rank many files by what is stored of them, with the price of what is missing; costs nothing,
    /// and with --fetch that price
    Triage(triage::TriageArgs),
    /// Compare what sandboxes saw, in one file, in two or in documents, from stored reports; costs
    /// nothing
    Compare(compare::CompareArgs),
    /// Print the price of operations, its rules, and whether the quota allows them; costs nothing
    Cost(Box<cost::CostArgs>),
    /// Print the service's quota counters: allowed, used and left; costs nothing
    Quota(counters::QuotaArgs),
    /// Print the used requests by day and endpoint; costs nothing
    Usage(counters::UsageArgs),
    /// Search every stored report, or those named, for words or a regular expression; costs nothing
    Search(search::SearchArgs),
    /// List the stored files that have a value: a host, a hash, a path, a key, a command, a mutex;
    /// costs nothing
    Pivot(pivot::PivotArgs),
    /// Call any other operation of the service, and print the response as JSON; costs the
    /// operation's price
    Api(show::ApiArgs),
    /// Print each call with its cost, and the service's counters for comparison; costs nothing
    Ledger(counters::LedgerArgs),
    /// Print the keys of commands, with the config's changes applied; costs nothing
    Keys(about::KeysArgs),
    /// List, remove and import stored reports; costs nothing
    Store(store::StoreArgs),
    /// Set up, check and show the team store, by which a group pays once; costs nothing
    Team(team::TeamArgs),
    /// Print the settings, their origins, and where the files are
    #[command(subcommand)]
    Config(about::ConfigCommand),
    /// Check key, config, store and terminal, and give advice; costs nothing
    Doctor(about::DoctorArgs),
    /// Print completions for a shell
    Completions(about::CompletionsArgs),
    /// Print the man page
    Man(about::ManArgs),
    /// Show the manual by topic, or the help of a command
    Help(about::HelpArgs),
}

pub fn main() -> ExitCode {
    keep_key_private();
    runtime::install_panic_hook();
    let (Cli { command, common }, sha256) = match parse() {
        Ok(parsed) => parsed,
        Err(error) => return output::usage(&error),
    };
    match run(command, &sha256, &common) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => output::report(&error, common.log()),
    }
}

/// Returns a message that quotes arguments, without any key of the config or the environment.
fn masked(message: &str) -> String {
    let config = || Config::load(Folders::find().ok()?.to_read().ok()?, &[], &variable).ok();
    let keys = config().unwrap_or_default().known_keys();
    String::from_utf8_lossy(&crate::service::without_keys(&keys, message.as_bytes())).into_owned()
}

/// Protects the key from core dumps and other programs; errors are ignored.
fn keep_key_private() {
    #[cfg(unix)]
    {
        use rustix::process::{Resource, Rlimit, setrlimit};
        let _ = setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) });
    }
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{DumpableBehavior, set_dumpable_behavior};
        let _ = set_dumpable_behavior(DumpableBehavior::NotDumpable);
    }
}

fn run(command: Option<CliCommand>, sha256: &[String], common: &Common) -> Result<()> {
    runtime::survive_file_limit()?;
    app::choose_charset(common);
    query::IS_QUIET.store(common.quiet, Ordering::Relaxed);
    match command {
        None => app::run(sha256, common),
        Some(command) => command.run(common),
    }
}

/// Returns every command with its one-sentence description.
pub fn commands() -> Vec<(String, String)> {
    let about = |command: &clap::Command| command.get_about().map(ToString::to_string).unwrap_or_default();
    Cli::command().get_subcommands().map(|command| (command.get_name().to_owned(), about(command))).collect()
}

/// Builds a grammar for help, where only the program's own help lists every command's options.
fn grammar_for_help() -> clap::Command {
    Cli::command().mut_subcommands(short_help)
}

/// Returns a command whose help has the options of every command in a line.
fn short_help(command: clap::Command) -> clap::Command {
    let shared = Common::augment_args(clap::Command::default());
    let hidden = shared.get_arguments().map(|option| option.clone().hide(true));
    let names: String = shared.get_arguments().filter_map(Arg::get_long).map(|name| format!(" --{name}")).collect();
    let names = text::wrap(&format!("Options of every command, see behaview --help:{names}"), 80).join("\n");
    let template = "{about-with-newline}\n{usage-heading} {usage}\n\n{all-args}\n\n";
    command.args(hidden).help_template(format!("{template}{names}{{after-help}}"))
}

/// Returns the grammar in which a first word may also name a file or a report.
fn grammar_with_files() -> clap::Command {
    grammar_for_help().arg(Arg::new(FILES).value_name("SHA256").num_args(0..).help(ABOUT_FILES).help_heading(None))
}

fn parse() -> Result<(Cli, Vec<String>), clap::Error> {
    let mut matches = grammar_with_files().try_get_matches()?;
    let files = matches.remove_many(FILES).into_iter().flatten().collect();
    let mut cli = Cli::from_arg_matches(&matches)?;
    // clap forgets an option before a command if the option is repeated after it.
    let words: Vec<_> = std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect();
    let options = words.iter().zip(words.iter().skip(1)).take_while(|(_, word)| *word != "--");
    let given =
        options.filter_map(|(name, word)| if name == "--set" { Some(&**word) } else { word.strip_prefix("--set=") });
    cli.common.set = given.filter_map(|given| assignment(given).ok()).collect();
    let profile = cli.common.set.iter().rfind(|(name, _)| name == "profile").map(|(_, name)| name.clone());
    cli.common.profile = cli.common.profile.or(profile);
    Ok((cli, files))
}

/// clap's output for arguments that name a command: its help, or an error with a suggestion.
fn clap_output(words: &[&str]) -> anyhow::Error {
    match grammar_for_help().try_get_matches_from([&[NAME], words].concat()) {
        Err(error) => error.into(),
        Ok(_) => FailureKind::Usage.error(format!("{} is a command: put it before files", words.concat())).into(),
    }
}

impl Common {
    /// Returns the folders, and the config with flags and variables applied.
    fn config(&self) -> Result<(Folders, Config)> {
        let folders = Folders::find()?;
        let on = |is_set: bool| is_set.then(|| "true".to_owned());
        let flags = [
            ("ui.theme", self.theme.clone()),
            ("ui.ascii", on(self.ascii)),
            ("ui.mouse", on(self.mouse)),
            ("ui.plain", on(self.plain)),
            ("log_level", self.log_level.clone()),
            ("offline", on(self.offline)),
            ("profile", self.profile.clone()),
        ];
        let flags = flags.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
        let set: Vec<_> = self.set.iter().cloned().chain(flags).collect();
        let config = Config::load(folders.to_read()?, &set, &variable)?;
        Ok((folders, config))
    }

    /// Returns the log; one without a file if no command has opened it.
    fn log(&self) -> &Log {
        self.log.get_or_init(Log::default)
    }

    /// Opens the log. The command also runs without one.
    fn open_log(&self, folders: &Folders, config: &Config, session: &str) -> Log {
        // Short, and practically unique within a day.
        let run = sha2::Sha256::digest(session).get(..3).map(crate::text::hex).unwrap_or_default();
        let log = Log::open(&folders.logs(), config.log_level, &run, !config.is_persistent()).unwrap_or_else(|error| {
            warn(format!("no log is written: {error}"));
            Log::default()
        });
        self.log.get_or_init(|| log).clone()
    }
}
