//! What a command works with: the gate to the service that config and command line name.

use super::Common;
use super::arguments::Spending;
use super::store::{self, Opened};
use crate::app::scan::follow::Pace;
use crate::config::{Config, Folders};
use crate::gate::{Gate, GateError};
use crate::log::{Level, Log};
use crate::quota::{Budget, Entitlements};
use crate::service::Client;
use std::sync::Arc;

/// The service that is asked, and what the user has bought there.
pub(super) struct Setup {
    pub(super) gate: Gate,
    /// As the config file says; the service's counters may add to it.
    pub(super) entitled: Entitlements,
    /// How a scan is followed.
    pub(super) pace: Pace,
    /// What the user must know of the store.
    pub(super) remarks: Vec<String>,
}

/// The same before the store is open.
pub(super) struct Prepared {
    pub(super) client: Client,
    pub(super) is_offline: bool,
    pub(super) budget: Budget,
    /// As the config file says.
    pub(super) entitled: Entitlements,
    session: String,
    log: Log,
    pace: Pace,
}

/// The service for a script, which hears of the store on standard error.
pub(super) fn setup(common: &Common) -> anyhow::Result<Setup> {
    setup_to_spend(common, Spending::default())
}

/// The same, with what the command line says of spending.
pub(super) fn setup_to_spend(common: &Common, spending: Spending) -> anyhow::Result<Setup> {
    let (folders, config) = common.config()?;
    let prepared = Prepared::of(common, &folders, &config, spending)?;
    let opened = store::open(&folders, &config)?;
    let setup = prepared.with(opened);
    store::say(&setup.remarks);
    Ok(setup)
}

impl Prepared {
    /// What config and command line name. A dry run sends nothing, whatever happens.
    pub(super) fn of(common: &Common, folders: &Folders, config: &Config, spending: Spending) -> anyhow::Result<Self> {
        let (profile, session) = (config.profile(None)?, session());
        let log = common.open_log(folders, config, &session);
        log.write(
            Level::Info,
            "run",
            &[("version", &env!("CARGO_PKG_VERSION")), ("profile", &profile.name), ("session", &session)],
        );
        // What is sent nowhere needs no key, and a command that prints it may ask for a password.
        let is_offline = config.offline || spending.dry_run;
        let credential = if is_offline { None } else { config.credential()? };
        let client = Client::new(profile, credential)?;
        // Nothing notes what was typed before this.
        if std::env::args_os().any(|argument| client.has_key(argument.as_encoded_bytes())) {
            return Err(GateError::NamesKey.into());
        }
        let budget = config.budget().at_most(spending.max_cost);
        let (entitled, pace) = (config.entitlements(), config.pace());
        Ok(Self { client, is_offline, budget, session, log, entitled, pace })
    }

    /// What is worked with, now that the store is open.
    pub(super) fn with(self, opened: Opened) -> Setup {
        let Opened { store, remarks } = opened;
        let gate = Gate::new(Arc::new(store), self.client, self.session, crate::clock::now)
            .with_budget(self.budget)
            .with_offline(self.is_offline)
            .with_log(self.log);
        Setup { gate, entitled: self.entitled, pace: self.pace, remarks }
    }
}

/// A name for this run of the program in the ledger.
pub(super) fn session() -> String {
    format!("{}-{}", crate::clock::now().as_microsecond(), std::process::id())
}
