//! Prepares a command: the gateway to the service of config and command line, and the store.

use super::Common;
use super::inputs::Spending;
use super::wrapped;
use crate::app::overlays::stored::describe_deletion;
use crate::app::scan::PollPace;
use crate::config::{Config, Folders, StoreTable};
use crate::gateway::{Gateway, GatewayError};
use crate::log::Level;
use crate::quota::{Entitlements, TeamOverride};
use crate::report::{Deletion, DeletionTarget};
use crate::service::{Client, Profile};
use crate::store::{Store, StoreError, service_id};
use anyhow::Result;
use jiff::SignedDuration;
use std::io::{IsTerminal, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The service and the user's entitlements there.
pub(super) struct Setup {
    pub(super) gateway: Gateway,
    /// From the config file; the service's counters may add further ones.
    pub(super) entitled: Entitlements,
    pub(super) pace: PollPace,
    pub(super) spending: Spending,
    limits: StoreTable,
    pub(super) remarks: Vec<String>,
}

/// Returns the setup for a script; prints the remarks on the store on standard error.
pub(super) fn setup(common: &Common, spending: Spending) -> Result<Setup> {
    let (folders, config) = common.config()?;
    let setup = Setup::new(common, &folders, &config, spending)?;
    setup.remarks.iter().for_each(warn);
    Ok(setup)
}

impl Setup {
    /// Returns the setup from config and command line. A dry run never sends anything.
    pub(super) fn new(common: &Common, folders: &Folders, config: &Config, spending: Spending) -> Result<Self> {
        let profile = config.profile()?;
        let session = session();
        let log = common.open_log(folders, config, &session);
        log.write(
            Level::Info,
            "run",
            &[("version", &env!("CARGO_PKG_VERSION")), ("profile", &profile.name), ("session", &session)],
        );
        let is_offline = config.offline || spending.dry_run;
        let known = config.known_keys();
        // `api_key_command` may prompt for a password: a run that sends nothing does not run it,
        // but knows another key, so that it never stores it.
        let credential = if is_offline { known.first().cloned() } else { config.credential()? };
        let client = Client::new(profile, credential)?;
        let project = config.project.clone();
        // Nothing has stored the arguments before this check.
        let has_key = |text: &[u8]| client.has_key(text) || known.iter().any(|key| key.is_in(text));
        let is_in_project = project.as_ref().is_some_and(|project| has_key(project.as_bytes()));
        if is_in_project || std::env::args_os().any(|argument| has_key(argument.as_encoded_bytes())) {
            return Err(GatewayError::NamesKey.into());
        }
        let store = Store::open_with(&folders.store, config.is_persistent())?;
        let remarks = store.notice.clone().into_iter().collect();
        let budget = config.budget().at_most(spending.max_cost);
        let mut gateway = Gateway::new(Arc::new(store), client, session, crate::clock::now).with_budget(budget);
        gateway.is_offline = is_offline;
        gateway.project = project;
        gateway.per_minute = config.per_minute();
        gateway.log = log;
        // A dry run may ask for prices there; a store that forgets shares nothing either.
        if !config.offline && gateway.client.profile().share && config.is_persistent() {
            gateway.team = config.team()?.map(Arc::new);
        }
        if spending.incident {
            gateway.permit(TeamOverride::Incident);
        }
        // Without the uploads, later look-ups are priced like any other.
        let uploads = gateway.store.uploads(gateway.payer()).unwrap_or_default();
        let read = gateway.store.privileges(gateway.payer()).unwrap_or_default();
        let entitled = Entitlements { uploads, ..read.updated(config.entitlements.known()) };
        Ok(Self { gateway, entitled, pace: config.pace(), spending, limits: config.store, remarks })
    }

    /// Deletes by the limits of the config; returns remarks for the user.
    pub(super) fn apply_retention(&self) -> Result<Vec<String>, StoreError> {
        let StoreTable { max_age_days, max_size_mib, .. } = self.limits;
        let store = &self.gateway.store;
        let mut limits = Vec::new();
        let mut remarks = Vec::new();
        if max_age_days.is_none() && max_size_mib.is_none() {
            return Ok(remarks);
        }
        let stored = store.inventory()?;
        limits.extend(max_size_mib.map(|most| DeletionTarget::DownTo(u64::from(most.get()) << 20)));
        if let Some(days) = max_age_days
            && let Ok(before) = crate::clock::now().checked_sub(SignedDuration::from_hours(24 * i64::from(days.get())))
        {
            // The clock may have been set ahead.
            if !stored.is_empty() && stored.iter().all(|thing| thing.received < before) {
                remarks.push(format!(
                    "Everything stored is older than store.max_age_days = {days}, by this machine's clock. It was not deleted; \
                     behaview store remove --older-than {days}d --yes does."
                ));
            } else {
                limits.push(DeletionTarget::Before(before));
            }
        }
        let deletion = Deletion::of(limits, None, &stored);
        if store.purge(&deletion)? && deletion.sizes().0 > 0 {
            remarks.push(format!("The config's [store] limits deleted {}.", describe_deletion(&deletion)));
        }
        Ok(remarks)
    }
}

pub(super) fn session() -> String {
    format!("{}-{}", crate::clock::now().as_microsecond(), std::process::id())
}

/// Opens the store for a command without requests, and prints the outcome of repairs.
pub(super) fn open_for_reading(folder: &Path) -> Result<Store, StoreError> {
    let store = Store::open(folder)?;
    store.notice.as_deref().into_iter().for_each(warn);
    Ok(store)
}

/// Opens the store of a command without requests; returns it with its id of the service.
pub(super) fn store_and_service(common: &Common) -> Result<(Store, String)> {
    let (folders, config) = common.config()?;
    Ok((open_for_reading(&folders.store)?, service_of(&config.profile()?)))
}

pub(super) fn service_of(profile: &Profile) -> String {
    service_id(&profile.place())
}

/// Whether progress, costs and hints are left out.
pub(super) static IS_QUIET: AtomicBool = AtomicBool::new(false);

/// Shows progress in the terminal's last line; with `"\r"` at its end the next text replaces it.
pub(super) fn show_progress(words: &str, end: &str) {
    if !IS_QUIET.load(Ordering::Relaxed) && std::io::stderr().is_terminal() {
        let _ = write!(std::io::stderr(), "\r{}\x1b[K{end}", crate::text::own(words));
    }
}

/// Prints a cost or a hint on standard error, unless `--quiet` leaves it out.
pub(super) fn hint(words: impl AsRef<str>) {
    if !IS_QUIET.load(Ordering::Relaxed) {
        warn(words);
    }
}

/// Prints a warning on standard error; ignores errors, as the result matters more.
pub(super) fn warn(remark: impl AsRef<str>) {
    let name = if remark.as_ref().starts_with("behaview") { "" } else { "behaview: " };
    let _ = write!(std::io::stderr(), "{}", wrapped(&format!("{name}{}", remark.as_ref())));
}
