//! What a command has to work with: the service that is asked, by the one gate, and what config and command line say of it.

use super::left::Left;
use super::{Common, Spending, store};
use crate::app::Keymap;
use crate::app::model::Service;
use crate::app::scan::follow::Pace;
use crate::app::spending::allowance::Allowance;
use crate::config::{Config, Folders};
use crate::gate::{Gate, GateError};
use crate::log::Level;
use crate::quota::{Entitlements, Period};
use crate::request::UploadLimit;
use crate::service::Client;
use jiff::Timestamp;
use std::sync::Arc;

/// What the app shows of the service behind a gate.
#[must_use]
pub fn service(gate: &Gate) -> Service {
    let client = gate.client();
    Service {
        name: gate.profile().to_owned(),
        has_key: client.credential().is_some(),
        is_offline: gate.is_offline(),
        listing: client.profile().listing,
        upload_direct: client.profile().largest(UploadLimit::Direct),
        upload_largest: client.profile().largest(UploadLimit::Large),
    }
}

/// What may be spent. What has been spent of the day is counted only where that has a limit.
pub(super) fn allowance(gate: &Gate, now: Timestamp) -> Allowance {
    let spent = gate.budget().daily.and_then(|_| gate.spent_in(Period::Daily).ok());
    Allowance::new(gate.budget(), spent.unwrap_or_default(), now)
}

/// The service that is asked, and what the user has bought there.
pub(super) struct Setup {
    pub(super) gate: Gate,
    /// As the config file says; the service's counters may add to it.
    pub(super) entitled: Entitlements,
    /// The price above which the app wants a yes.
    pub(super) confirm_above: Option<u64>,
    /// Which keys do which command.
    pub(super) keys: Keymap,
    /// How a scan is followed.
    pub(super) pace: Pace,
    /// Whether what is held is gone when the run ends.
    pub(super) forgets: bool,
    /// How the screen was left.
    pub(super) left: Left,
    /// What the user must know of the store.
    pub(super) remarks: Vec<String>,
}

/// The service for a script, which hears of the store on standard error.
pub(super) fn setup(common: &Common) -> anyhow::Result<Setup> {
    setup_to_spend(common, Spending::default())
}

/// The same, with what the command line says of spending.
pub(super) fn setup_to_spend(common: &Common, spending: Spending) -> anyhow::Result<Setup> {
    let (folders, config) = common.config()?;
    let setup = Setup::of(common, &folders, &config, spending)?;
    store::say(&setup.remarks);
    Ok(setup)
}

/// The same for a command that prints what comes, one answer after another.
pub(super) fn setup_to_print(common: &Common, spending: Spending) -> anyhow::Result<Setup> {
    let setup = setup_to_spend(common, spending)?;
    Ok(Setup { gate: setup.gate.with_answers_at_hand(), ..setup })
}

impl Setup {
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
        let is_offline = config.is_offline() || spending.dry_run;
        let credential = if is_offline { None } else { config.credential()? };
        let client = Client::new(profile, credential)?;
        // Nothing notes what was typed before this.
        if std::env::args_os().any(|argument| client.has_key(argument.as_encoded_bytes())) {
            return Err(GateError::NamesKey.into());
        }
        let (store, mut remarks) = store::open(folders, config)?;
        let held_as = store::held_as(&store, client.profile(), &mut remarks)?;
        let gate = Gate::new(Arc::new(store), client, session, crate::clock::now)
            .held_as(held_as)
            .with_budget(config.budget().at_most(spending.max_cost))
            .with_offline(is_offline)
            .with_log(log);
        let (entitled, confirm_above) = (config.entitlements(), config.confirm_above());
        let left = Left::of(folders, config);
        let (keys, pace, forgets) = (config.keymap(), config.pace(), config.keeps_nothing());
        Ok(Self { gate, entitled, confirm_above, keys, pace, forgets, left, remarks })
    }
}

/// A name for this run of the program in the ledger.
pub(super) fn session() -> String {
    format!("{}-{}", crate::clock::now().as_microsecond(), std::process::id())
}
