//! The store as the config wants it: what is kept, how long, and what there is to say of it.

use crate::config::{Config, Folders};
use crate::report::Purge;
use crate::runtime::Tell;
use crate::service::profile::Profile;
use crate::store::{HeldAs, Keep, Outdated, Salvaged, Store, StoreError, tell_of_waits};
use crate::text::{Untrusted, bytes, count};
use jiff::SignedDuration;
use std::io::Write;
use std::ops::ControlFlow;
use std::path::Path;

/// The store, open.
pub(super) struct Opened {
    pub(super) store: Store,
    /// The name that what comes from the profile's service is held under.
    pub(super) held_as: String,
    /// What the user must know of it.
    pub(super) remarks: Vec<String>,
}

/// Opens the store, and deletes what is not to be kept any longer; `tell` hears what is waited for if that takes long.
pub(super) fn open(folders: &Folders, config: &Config, profile: &Profile, tell: Tell<'_>) -> anyhow::Result<Opened> {
    let keep = if config.keeps_nothing() { Keep::Nothing } else { Keep::Everything };
    let store = opened(&folders.store, keep, tell)?;
    note_use(&store);
    let mut remarks: Vec<_> = store.salvaged().map(Salvaged::words).into_iter().collect();
    let outdated = match config.keeps_days() {
        Some(days) => store.outdated(SignedDuration::from_hours(24 * i64::from(days)), crate::clock::now())?,
        None => None,
    };
    remarks.extend(outdated.zip(config.keeps_days()).and_then(|(outdated, days)| doubtful(outdated, days)));
    let before = outdated.map(|outdated| Purge::Before(outdated.before));
    for limit in [before, config.keeps_bytes().map(Purge::DownTo)].into_iter().flatten() {
        let purged = store.purge(&[limit], None)?;
        if purged.bytes > 0 {
            let (reports, size) = (count(purged.reports, "report"), bytes(purged.bytes));
            remarks.push(format!("The config's [store] limits deleted {reports}, {size}."));
        }
    }
    let held_as = held_as(&store, profile, &mut remarks)?;
    Ok(Opened { store, held_as, remarks })
}

/// Notes that the store is used today. Without that, more stays than the config says, and the start tells so.
fn note_use(store: &Store) {
    let _ = store.note_use(crate::clock::now());
}

/// What is not deleted because the clock may be wrong, in words; none where there is no such thing.
fn doubtful(outdated: Outdated, days: u32) -> Option<String> {
    let Outdated { doubtful, jump, until, .. } = outdated;
    let things = count(doubtful, "thing");
    (doubtful > 0).then(|| {
        format!(
            "By this machine's clock {things} came longer ago than [store] days = {days} keeps. That is not deleted: the clock \
             went on by {} to {} while behaview was not used, and may have been set ahead. If it was right all the time, \
             behaview held --older-than {days}d --yes deletes it.",
            count(u64::try_from(jump.as_hours() / 24).unwrap_or(0), "day"),
            until.strftime("%F")
        )
    })
}

/// Opens the store for a command that asks nothing of the service, and says what became of a damaged one.
pub(super) fn open_to_look(path: &Path) -> Result<Store, StoreError> {
    tell_of_waits(say_on_error);
    let store = opened(path, Keep::Everything, &say_on_error)?;
    note_use(&store);
    say(&store.salvaged().map(Salvaged::words).into_iter().collect::<Vec<_>>());
    Ok(store)
}

/// The name that what comes from a profile's service is held under; says so where that is no longer the profile's own.
fn held_as(store: &Store, profile: &Profile, remarks: &mut Vec<String>) -> Result<String, StoreError> {
    let HeldAs { name, before } = store.held_as(&profile.name, &profile.place())?;
    remarks.extend(before.map(|before| {
        let [profile, before, name] =
            [&profile.name, &before, &name].map(|text| Untrusted::from(text.as_str()).visible().to_string());
        format!(
            "Profile {profile} asks another address than before, {before}. What came from there stays held as {profile} and is \
             not shown as this service's; what comes from here, and what it costs, is held as {name}. If both are one service, \
             what behaview show prints with the root from before can be imported."
        )
    }));
    Ok(name)
}

/// The same for a command that asks nothing of the service, said on standard error.
pub(super) fn held_as_to_look(store: &Store, profile: &Profile) -> Result<String, StoreError> {
    let mut remarks = Vec::new();
    let held_as = held_as(store, profile, &mut remarks)?;
    say(&remarks);
    Ok(held_as)
}

/// Opens the store, and says what is waited for if that takes long: no screen is in the way then, and ctrl-c ends the wait.
fn opened(path: &Path, keep: Keep, tell: Tell<'_>) -> Result<Store, StoreError> {
    Store::open_keeping(path, keep, &|why| {
        tell(&format!("Waiting: {why}. ctrl-c ends the wait."));
        ControlFlow::Continue(())
    })
}

/// Says on standard error what there is to say.
pub(super) fn say(remarks: &[String]) {
    remarks.iter().for_each(|remark| say_on_error(remark));
}

/// What was asked for is worth more than the remark.
pub(super) fn say_on_error(remark: &str) {
    let _ = writeln!(std::io::stderr(), "behaview: {remark}");
}
