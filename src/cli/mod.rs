//! The command line: the app, the demo, and the commands for scripts. All come through the same gate and store.

mod cost;
mod demo;
mod display;
mod document;
mod exit;
mod keys;
mod ledger;
mod quota;
mod scripts;
mod table;
mod usage;

use crate::app::model::Service;
use crate::app::{Keymap, Model};
use crate::config::{Config, Folders};
use crate::gate::Gate;
use crate::quota::Entitlements;
use crate::report::identifier::Sha256;
use crate::runtime::{self, Backing, Display, Exit};
use crate::service::Client;
use crate::store::Store;
use clap::{Args, Parser, Subcommand};
use std::process::ExitCode;
use std::sync::Arc;

pub use exit::Failed;

/// Browse private sandbox behaviour reports, and know what every call costs before it is made.
#[derive(Debug, Parser)]
#[command(version, args_conflicts_with_subcommands = true, after_help = "Start with: behaview demo")]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
    /// SHA-256 of a privately scanned file; can also be typed or pasted in the app
    sha256: Option<String>,
    #[command(flatten)]
    common: Common,
}

/// What every command takes.
#[derive(Debug, Args)]
struct Common {
    /// Service profile from the config file
    #[arg(long, global = true, value_name = "NAME")]
    profile: Option<String>,
    #[command(flatten)]
    screen: display::Flags,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run the app on the embedded service with made-up reports: no key, no network, no cost
    Demo(demo::Demo),
    /// Open reports that were saved by any tool: no network, no key
    Open {
        /// A report, an envelope, a list page or a summary as JSON; - for standard input
        file: String,
    },
    /// Print a file's sandboxes as JSON; each page that is not held costs one request
    List(scripts::List),
    /// Print one behaviour report as JSON; a report that is not held costs one request
    Show(scripts::Show),
    /// Say what operations cost, by which rule, and whether they fit; costs nothing
    Cost(Box<cost::Cost>),
    /// Print what the service's counters allow, and what is used of it; costs nothing
    Quota(quota::Quota),
    /// Print what was used, by day and endpoint; costs nothing
    Usage(usage::Usage),
    /// Ask any other question that the specification names, and print the answer as JSON
    Call(scripts::Call),
    /// Print what was asked of the service, what it cost, and what the service's counters say of it; costs nothing
    Ledger(ledger::Ledger),
    /// Print which keys do what, with the config's changes applied
    Keys(keys::Keys),
    /// Say where the config file is
    Config {
        #[command(subcommand)]
        what: ConfigCommand,
    },
}

#[derive(Debug, Subcommand)]
enum ConfigCommand {
    /// Print the paths of config, store, cache and state
    Path,
}

/// Runs the command line.
///
/// # Errors
/// When it cannot be done; the exit code of [`Failed`] says of what kind the failure is.
pub fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return exit::usage(&error),
    };
    match run(cli) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => exit::report(&error),
    }
}

fn run(cli: Cli) -> anyhow::Result<()> {
    cli.common.screen.settle_charset();
    match cli.command {
        None => app(cli.sha256.as_deref(), &cli.common),
        Some(Command::Demo(demo)) => demo.run(&cli.common),
        Some(Command::Open { file }) => open(&file, &cli.common),
        Some(Command::List(list)) => list.run(&cli.common),
        Some(Command::Show(show)) => show.run(&cli.common),
        Some(Command::Call(call)) => call.run(&cli.common),
        Some(Command::Cost(cost)) => cost.run(&cli.common),
        Some(Command::Quota(quota)) => quota.run(&cli.common),
        Some(Command::Usage(usage)) => usage.run(&cli.common),
        Some(Command::Ledger(ledger)) => ledger.run(&cli.common),
        Some(Command::Keys(keys)) => keys.run(),
        Some(Command::Config { what: ConfigCommand::Path }) => scripts::paths(),
    }
}

fn app(sha256: Option<&str>, common: &Common) -> anyhow::Result<()> {
    let file = sha256.map(parse_sha256).transpose()?;
    let setup = setup(common)?;
    match run_app(setup, file, false)? {
        Exit::Done => Ok(()),
        Exit::Demo => demo::Demo::default().run(common),
    }
}

fn parse_sha256(text: &str) -> anyhow::Result<Sha256> {
    Sha256::parse(text).ok_or_else(|| {
        Failed::usage("that is no SHA-256: it has 64 hexadecimal digits. Private files are known by nothing else")
            .into()
    })
}

/// Runs the app on a service, at a file if there is one; the demo says that it is one, and lists the file at once.
fn run_app(setup: Setup, file: Option<Sha256>, is_demo: bool) -> anyhow::Result<Exit> {
    let Setup { gate, entitled, confirm_above, keys, display } = setup;
    runtime::attended(display)?;
    let mut model = Model::new(service(&gate), jiff::Timestamp::now());
    (model.entitlements, model.confirm_above, model.keys) = (entitled, confirm_above, keys);
    let first = file.map(|file| model.open_file(file)).unwrap_or_default();
    model.lists_at_once = is_demo;
    if is_demo {
        let (files, keys) = (model.way_to("other-file"), model.way_to("help"));
        model.say(format!(
            "This is the demo: made-up reports, make-believe quota. It lists this file by itself, for 1 of that quota. \
             {files} shows the other files, {keys} the keys."
        ));
    }
    runtime::run(model, Backing::Service(Arc::new(gate)), first, display)
}

fn open(file: &str, common: &Common) -> anyhow::Result<()> {
    let config = Config::read(&Folders::find()?.config)?;
    let display = common.screen.display(&config);
    runtime::attended(display)?;
    let document = document::read(file)?;
    let mut model = Model::new(Service::default(), jiff::Timestamp::now());
    model.keys = config.keymap();
    let first = model.open_document(document.name, document.reports);
    runtime::run(model, Backing::Document, first, display).map(|_| ())
}

/// What the app shows of the service behind a gate.
#[must_use]
pub fn service(gate: &Gate) -> Service {
    let client = gate.client();
    Service {
        name: gate.profile().to_owned(),
        has_key: client.credential().is_some(),
        listing: client.profile().listing,
    }
}

/// The service that is asked, and what the user has bought there.
struct Setup {
    gate: Gate,
    /// As the config file says; the service's counters may add to it.
    entitled: Entitlements,
    /// The price above which the app wants a yes.
    confirm_above: Option<u64>,
    /// Which keys do which command.
    keys: Keymap,
    /// What is wanted of the screen.
    display: Display,
}

/// The gate to the service that config and arguments name.
fn setup(common: &Common) -> anyhow::Result<Setup> {
    let folders = Folders::find()?;
    let config = Config::read(&folders.config)?;
    let profile = config.profile(common.profile.as_deref())?;
    let client = Client::new(profile, config.credential()?)?;
    let store = Store::open(&folders.store)?;
    let gate = Gate::new(Arc::new(store), client, session(), jiff::Timestamp::now).with_budget(config.budget());
    Ok(Setup {
        gate,
        entitled: config.entitlements(),
        confirm_above: config.confirm_above(),
        keys: config.keymap(),
        display: common.screen.display(&config),
    })
}

impl Setup {
    /// The same with one more limit to what this run may spend.
    fn at_most(self, most: Option<u64>) -> Self {
        let budget = self.gate.budget().at_most(most);
        Self { gate: self.gate.with_budget(budget), ..self }
    }
}

/// A name for this run of the program in the ledger.
fn session() -> String {
    format!("{}-{}", jiff::Timestamp::now().as_microsecond(), std::process::id())
}
