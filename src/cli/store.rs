//! The store as the config wants it: what is kept, how long, and what there is to say of it.

use crate::config::{Config, Folders};
use crate::report::Purge;
use crate::service::Profile;
use crate::store::{Keep, Store, StoreError, service_id};
use crate::text::{bytes, count};
use jiff::SignedDuration;
use std::io::Write;
use std::path::Path;

/// The store, open.
pub(super) struct Opened {
    pub(super) store: Store,
    /// What the user must know of it.
    pub(super) remarks: Vec<String>,
}

/// Opens the store, and deletes what is not to be kept any longer.
pub(super) fn open(folders: &Folders, config: &Config) -> anyhow::Result<Opened> {
    let keep = if config.keeps_nothing() { Keep::Nothing } else { Keep::Everything };
    let store = Store::open_keeping(&folders.store, keep)?;
    let mut remarks: Vec<_> = store.notice().map(str::to_owned).into_iter().collect();
    let before = config.keeps_days().map(|days| outdated(&store, days, &mut remarks)).transpose()?.flatten();
    for limit in [before, config.keeps_bytes().map(Purge::DownTo)].into_iter().flatten() {
        let purged = store.purge(&[limit], None, &|_| true)?.unwrap_or_default();
        if purged.bytes > 0 {
            let (reports, size) = (count(purged.reports, "report"), bytes(purged.bytes));
            remarks.push(format!("The config's [store] limits deleted {reports}, {size}."));
        }
    }
    Ok(Opened { store, remarks })
}

/// What came more than so many days ago; nothing where all did, for the clock may have been set ahead.
fn outdated(store: &Store, days: u32, remarks: &mut Vec<String>) -> Result<Option<Purge>, StoreError> {
    let age = SignedDuration::from_hours(24 * i64::from(days));
    let Ok(before) = crate::clock::now().checked_sub(age) else { return Ok(None) };
    let newest = store.inventory()?.iter().map(|thing| thing.received).max();
    if newest.is_some_and(|newest| newest < before) {
        remarks.push(format!(
            "Everything stored is older than [store] days = {days}, by this machine's clock. It was not deleted; \
             behaview held --older-than {days}d --yes does."
        ));
        return Ok(None);
    }
    Ok(newest.map(|_| Purge::Before(before)))
}

/// Opens the store for a command that asks nothing of the service, and says what became of damaged records.
pub(super) fn open_to_look(folder: &Path) -> Result<Store, StoreError> {
    let store = Store::open(folder)?;
    say(&store.notice().map(str::to_owned).into_iter().collect::<Vec<_>>());
    Ok(store)
}

/// Which service a profile asks, as the store knows it.
pub(super) fn service_of(profile: &Profile) -> String {
    service_id(&profile.place())
}

/// Says on standard error what there is to say.
pub(super) fn say(remarks: &[String]) {
    remarks.iter().for_each(|remark| say_on_error(remark));
}

/// What was asked for is worth more than the remark.
pub(super) fn say_on_error(remark: &str) {
    let _ = writeln!(std::io::stderr(), "behaview: {remark}");
}
