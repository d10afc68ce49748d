//! `behaview demo`: the embedded service, with the app or alone.

use super::setup::session;
use super::{Common, app, exit};
use crate::app::model::Settings;
use crate::config::Config;
use crate::demo::{Demo as Service, ListContent, Options};
use crate::files;
use crate::gateway::Gateway;
use crate::report::identifier::Sha256;
use crate::runtime::{self, Backing, Display, Signals};
use crate::service::credential::{Credential, KeySource};
use crate::service::{Client, Profile};
use crate::store::{Store, service_id};
use anyhow::Context;
use clap::builder::PossibleValue;
use clap::{Args, ValueEnum};
use std::io::Write;
use std::sync::Arc;
use std::time::Duration;
use tempfile::TempDir;

#[derive(Debug, Args)]
pub(super) struct DemoArgs {
    /// Run the service alone, for any client; prints its address, a key and the hashes of its files
    #[arg(long)]
    serve: bool,
    /// Port on 127.0.0.1; any free one unless given
    #[arg(long)]
    port: Option<u16>,
    /// Rows of the report that is made on the fly
    #[arg(long, default_value_t = 2_000)]
    rows: u64,
    /// What the list operation answers with
    #[arg(long, value_enum, default_value_t)]
    list: ListContent,
    /// Milliseconds that every answer takes
    #[arg(long, default_value_t = 0, value_name = "MS")]
    delay: u64,
    /// Refuse what needs a private scanning licence
    #[arg(long)]
    no_licence: bool,
    /// Requests a day that the demo user has
    #[arg(long, value_name = "N")]
    daily: Option<u64>,
}

impl ValueEnum for ListContent {
    fn value_variants<'a>() -> &'a [Self] {
        &[Self::Attributes, Self::Identifiers]
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(match self {
            Self::Attributes => PossibleValue::new("reports").help("Whole reports"),
            Self::Identifiers => PossibleValue::new("identifiers").help("Identifiers only"),
        })
    }
}

impl Default for DemoArgs {
    fn default() -> Self {
        let list = ListContent::default();
        Self { serve: false, port: None, rows: 2_000, list, delay: 0, no_licence: false, daily: None }
    }
}

impl DemoArgs {
    pub(super) fn run(self, common: &Common) -> anyhow::Result<()> {
        let threads = runtime::threads(2)?;
        let (_, config) = common.config()?;
        let display = app::display(&config);
        if common.offline {
            let why = "the demo holds nothing yet, and calls a service of its own on this machine alone: leave \
                       --offline out";
            fail!(Usage, "{why}");
        }
        if !self.serve {
            app::need_terminal(display)?;
        }
        let (serve, is_licensed) = (self.serve, !self.no_licence);
        let service = threads.block_on(Service::start(self.options())).context("the demo service cannot start")?;
        if serve { threads.block_on(serve_alone(&service)) } else { browse(&service, &config, display, is_licensed) }
    }

    fn options(self) -> Options {
        let mut options = Options {
            port: self.port,
            rows: self.rows,
            listing: self.list,
            delay: Duration::from_millis(self.delay),
            licence: !self.no_licence,
            ..Options::default()
        };
        options.user_limits.daily = self.daily.unwrap_or(options.user_limits.daily);
        options
    }
}

/// The temporary folder of a run, removed at its end.
struct Scratch(TempDir);

impl Drop for Scratch {
    /// A cancelled call may still write to the folder.
    fn drop(&mut self) {
        files::remove_folder(self.0.path());
    }
}

/// Runs the app on the service with a temporary store: a demo leaves no files behind.
fn browse(service: &Service, config: &Config, display: Display, is_licensed: bool) -> anyhow::Result<()> {
    // From here on a signal ends the program in an orderly way, so that the folder is removed.
    let signals = Signals::listen()?;
    let scratch = Scratch(tempfile::Builder::new().prefix("behaview-demo-").tempdir()?);
    let folder = scratch.0.path();
    signals.leave_nothing_of(folder);
    let store = Arc::new(Store::open(&folder.join("store"))?);
    let client = client(service)?;
    let now = crate::clock::now();
    let mut files = Vec::new();
    for (age, file) in (1..).zip(Service::files()) {
        let sha256 = Sha256::parse(&file.sha256).context("a demo file's hash is no SHA-256")?;
        let opened = now.checked_sub(jiff::SignedDuration::from_secs(age)).unwrap_or(now);
        store.note_file(&service_id(&client.root()), &sha256, Some(file.title), opened)?;
        files.push(sha256);
    }
    let gateway = Gateway::new(store, client, session(), crate::clock::now).with_budget(config.budget());
    let mut model = app::model(&gateway);
    model.settings = Settings { forgets: true, lists_at_once: true, ..app::settings(config) };
    model.open_files(files.into_iter().take(1).collect());
    // A refused call is not charged.
    let lists = if is_licensed { "It lists this file by itself, for 1 of that quota. " } else { "" };
    let (other, keys) = (model.way_to("other-file"), model.way_to("help"));
    model.say(format!(
        "This is the demo: made-up reports, make-believe quota. {lists}{other} shows the other files, {keys} the keys."
    ));
    let backing = Backing::Service(Arc::new(gateway));
    exit::of_app(runtime::run(model, backing, display, signals, crate::clock::now)?.exit)
}

fn client(service: &Service) -> anyhow::Result<Client> {
    let profile = Profile::demo(service.root().to_owned(), service.user().to_owned());
    Ok(Client::new(profile, Some(Credential::new(service.key(), KeySource::Demo)?))?)
}

/// Runs the service alone until it is interrupted.
async fn serve_alone(service: &Service) -> anyhow::Result<()> {
    {
        let mut out = std::io::stdout().lock();
        writeln!(out, "address  {}", service.root())?;
        writeln!(out, "key      {}", service.key())?;
        writeln!(out, "user     {}", service.user())?;
        for file in Service::files() {
            writeln!(out, "file     {}  {}: {}", file.sha256, file.title, file.about)?;
        }
        out.flush()?;
    }
    tokio::signal::ctrl_c().await?;
    Ok(())
}
