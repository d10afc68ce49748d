//! The store as the config wants it: what is kept, how long, and what there is to say of it.

use crate::config::{Config, Folders};
use crate::report::Purge;
use crate::store::{Keep, Salvaged, Store, StoreError};
use crate::text::{bytes, count};
use jiff::SignedDuration;
use std::io::Write;
use std::ops::ControlFlow;
use std::path::Path;

/// Opens the store, deletes what is not to be kept any longer, and says what the user must know.
pub(super) fn open(folders: &Folders, config: &Config) -> anyhow::Result<(Store, Vec<String>)> {
    let keep = if config.keeps_nothing() { Keep::Nothing } else { Keep::Everything };
    let store = opened(&folders.store, keep)?;
    let mut remarks: Vec<_> = store.salvaged().map(Salvaged::words).into_iter().collect();
    let age = config.keeps_days().map(|days| SignedDuration::from_hours(24 * i64::from(days)));
    let before = age.and_then(|age| crate::clock::now().checked_sub(age).ok());
    let limits = [before.map(Purge::Before), config.keeps_bytes().map(Purge::DownTo)];
    for limit in limits.into_iter().flatten() {
        let purged = store.purge(&[limit], None)?;
        if purged.bytes > 0 {
            let (reports, size) = (count(purged.reports, "report"), bytes(purged.bytes));
            remarks.push(format!("The config's [store] limits deleted {reports}, {size}."));
        }
    }
    Ok((store, remarks))
}

/// Opens the store for a command that asks nothing of the service, and says what became of a damaged one.
pub(super) fn open_to_look(path: &Path) -> Result<Store, StoreError> {
    let store = opened(path, Keep::Everything)?;
    say(&store.salvaged().map(Salvaged::words).into_iter().collect::<Vec<_>>());
    Ok(store)
}

/// Opens the store, and says what is waited for if that takes long: no screen has been drawn yet, and ctrl-c ends the wait.
fn opened(path: &Path, keep: Keep) -> Result<Store, StoreError> {
    Store::open_keeping(path, keep, &|why| {
        say(&[format!("Waiting: {why}. ctrl-c ends the wait.")]);
        ControlFlow::Continue(())
    })
}

/// Says on standard error what there is to say.
pub(super) fn say(remarks: &[String]) {
    for remark in remarks {
        // What was asked for is worth more than the remark.
        let _ = writeln!(std::io::stderr(), "behaview: {remark}");
    }
}
