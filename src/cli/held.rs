//! `behaview held`: what is held on this machine, and how it is deleted. Nothing is sent.

use super::output::{print_json, print_text};
use super::table::Table;
use super::{Common, Failed};
use crate::app::held::title;
use crate::config::Folders;
use crate::report::identifier::Sha256;
use crate::report::{Held as Thing, Holding, Purge, Retention};
use crate::store::{Purged, Store, StoreError};
use crate::text::{Untrusted, bytes, count, thousands};
use clap::Args;
use jiff::{SignedDuration, Timestamp};
use serde::Serialize;
use std::io::Write;

const EXAMPLES: &str = "\
Examples:
  behaview held
  behaview held --json
  behaview held --older-than 30d
  behaview held --all --yes

What is deleted is overwritten on disk, notes on it included. The ledger always stays. Fetching a report again \
costs one request, if the service still has it. Without --yes it is only said what would be deleted.";

/// The word before the number of an answer that is no report.
const ANSWER: &str = "answer-";

/// Seconds of a day and of an hour.
const UNITS: [(char, i64); 2] = [('d', 86_400), ('h', 3600)];

/// `behaview held`
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Held {
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    which: Which,
    /// Delete it without asking back
    #[arg(long)]
    yes: bool,
}

#[derive(Debug, Args)]
#[group(multiple = false)]
struct Which {
    /// Delete this: a sandbox identifier, a file's SHA-256 (all of its reports), or an id that the list shows
    #[arg(long, value_name = "ID")]
    delete: Option<String>,
    /// Delete what came longer ago, such as 30d or 12h
    #[arg(long, value_name = "AGE", value_parser = age)]
    older_than: Option<SignedDuration>,
    /// Delete everything
    #[arg(long)]
    all: bool,
}

/// What `held --json` prints.
#[derive(Serialize)]
struct Shown {
    held: Vec<Row>,
    bytes: u64,
    on_disk: u64,
    /// What was deleted, or would be without `--yes`; none where nothing was to be.
    deleted: Option<Deleted>,
}

#[derive(Serialize)]
struct Row {
    id: String,
    profile: String,
    file: Option<String>,
    name: Option<String>,
    /// None for what is no report.
    sandbox: Option<String>,
    received: Timestamp,
    bytes: u64,
    on_disk: u64,
    versions: u64,
    notes: Vec<Written>,
    is_set_aside: bool,
    /// Whether only a part of it is here.
    is_coming: bool,
    at_service: Option<String>,
    imported_from: Option<String>,
    imported_by: Option<String>,
}

/// A note; attribute and item are none for one on the report as a whole.
#[derive(Serialize)]
struct Written {
    attribute: Option<String>,
    item: Option<String>,
    text: String,
    written: Timestamp,
}

#[derive(Serialize)]
struct Deleted {
    is_done: bool,
    things: usize,
    bytes: u64,
    on_disk: u64,
    notes: u64,
}

impl Held {
    pub(super) fn run(self, common: &Common) -> anyhow::Result<()> {
        let store = super::store::open_to_look(&Folders::find()?.store)?;
        let (now, profile) = (crate::clock::now(), common.profile.as_deref());
        let kept = of_profile(store.inventory()?, profile);
        let what = self.which.purge(&kept, now)?;
        let Some(what) = what else { return self.print(&store, [&kept; 2], None, now) };
        let doomed: Vec<_> = kept.iter().filter(|kept| what.iter().any(|what| what.takes(kept))).cloned().collect();
        if !self.yes && !doomed.is_empty() {
            self.print(&store, [&doomed; 2], Some(deleted(&doomed, false)), now)?;
            return Err(Failed::usage("nothing was deleted: --yes deletes what is listed").into());
        }
        let mut purged = Purged::default();
        for what in &what {
            let one = store.purge(what, profile)?;
            purged = Purged { is_pending: purged.is_pending | one.is_pending, ..one };
        }
        if purged.is_pending {
            // The list is worth more than the remark about it.
            let _ = writeln!(
                std::io::stderr(),
                "behaview: another program is reading the store: the last of the bytes go when it ends"
            );
        }
        let left = of_profile(store.inventory()?, profile);
        self.print(&store, [&doomed, &left], Some(deleted(&doomed, true)), now)
    }

    /// Prints what the command is about, and how much is held.
    fn print(
        &self,
        store: &Store,
        [listed, held]: [&[Holding]; 2],
        deleted: Option<Deleted>,
        now: Timestamp,
    ) -> anyhow::Result<()> {
        let sum = |of: fn(&Holding) -> u64| held.iter().map(of).fold(0, u64::saturating_add);
        let (raw, on_disk) = (sum(|k| k.bytes), sum(|k| k.on_disk));
        if self.json {
            let held = held.iter().map(|kept| row(store, kept, now)).collect::<Result<_, StoreError>>()?;
            return print_json(&Shown { held, bytes: raw, on_disk, deleted });
        }
        let mut text = if listed.is_empty() { String::new() } else { table(listed, now).to_string() };
        text += &match held.len() {
            0 => "Nothing is held.\n".to_owned(),
            things => format!("{} held: {}, {} on disk\n", thousands(things as u64), bytes(raw), bytes(on_disk)),
        };
        if let Some(gone) = deleted {
            let verb = if gone.is_done { "Deleted" } else { "Would be deleted" };
            let (things, notes) = (count(gone.things as u64, "thing"), count(gone.notes, "note"));
            text += &format!("{verb}: {things}, {}, with {notes}\n", bytes(gone.bytes));
        }
        print_text(&text)
    }
}

impl Which {
    /// What is to be deleted; none where nothing is.
    fn purge(&self, kept: &[Holding], now: Timestamp) -> anyhow::Result<Option<Vec<Purge>>> {
        if self.all {
            return Ok(Some(vec![Purge::Everything]));
        }
        if let Some(age) = self.older_than {
            let before = now.checked_sub(age).map_err(|_| Failed::usage("that is longer ago than time goes"))?;
            return Ok(Some(vec![Purge::Before(before)]));
        }
        let Some(id) = &self.delete else { return Ok(None) };
        let found: Vec<_> = kept.iter().filter_map(|kept| one(kept, id)).collect();
        if found.is_empty() {
            return Err(Failed::not_found("nothing of this id is held; behaview held lists the ids").into());
        }
        Ok(Some(found))
    }
}

/// The deletion that an id asks for, if it means this thing.
fn one(kept: &Holding, id: &str) -> Option<Purge> {
    let file = Sha256::parse(id);
    let profile = kept.profile.clone();
    match &kept.what {
        _ if file.is_some() => {
            file.filter(|file| kept.file.as_ref() == Some(file)).map(|file| Purge::File { profile, file })
        }
        Thing::Report(identifier) if identifier.as_bytes() == id.as_bytes() => {
            Some(Purge::Report { profile, identifier: identifier.clone() })
        }
        Thing::Answer { number, .. } if id == answer_name(*number) => Some(Purge::Answer(*number)),
        _ => None,
    }
}

fn answer_name(number: i64) -> String {
    format!("{ANSWER}{number}")
}

fn deleted(doomed: &[Holding], is_done: bool) -> Deleted {
    let sum = |of: fn(&Holding) -> u64| doomed.iter().map(of).fold(0, u64::saturating_add);
    Deleted {
        is_done,
        things: doomed.len(),
        bytes: sum(|k| k.bytes),
        on_disk: sum(|k| k.on_disk),
        notes: sum(|k| k.notes),
    }
}

fn of_profile(kept: Vec<Holding>, profile: Option<&str>) -> Vec<Holding> {
    kept.into_iter().filter(|kept| profile.is_none_or(|profile| kept.profile == profile)).collect()
}

fn plain(text: &Untrusted) -> String {
    String::from_utf8_lossy(text.as_bytes()).into_owned()
}

/// The notes on a report and on what is in it.
fn notes(store: &Store, kept: &Holding) -> Result<Vec<Written>, StoreError> {
    let Some(identifier) = kept.report().filter(|_| kept.notes > 0) else { return Ok(Vec::new()) };
    let notes = store.notes(&kept.profile, None)?.into_iter().filter(|note| note.about.identifier == *identifier);
    let written = notes.map(|note| Written {
        attribute: note.about.item.as_ref().map(|item| plain(&item.attribute)),
        item: note.about.item.as_ref().map(|item| plain(&item.text)),
        text: plain(&note.text),
        written: note.written,
    });
    Ok(written.collect())
}

fn row(store: &Store, kept: &Holding, now: Timestamp) -> Result<Row, StoreError> {
    let report = kept.report();
    Ok(Row {
        id: id(kept),
        profile: kept.profile.clone(),
        file: kept.file.as_ref().map(ToString::to_string),
        name: kept.name.as_ref().map(plain),
        sandbox: report.map(|identifier| plain(&identifier.parts().sandbox)),
        received: kept.received,
        bytes: kept.bytes,
        on_disk: kept.on_disk,
        versions: kept.versions,
        notes: notes(store, kept)?,
        is_set_aside: kept.is_set_aside(),
        is_coming: kept.is_coming(),
        at_service: kept.retention(now).map(Retention::words),
        imported_from: kept.imported.as_ref().map(|imported| plain(&imported.from)),
        imported_by: kept.imported.as_ref().map(|imported| plain(&imported.by)),
    })
}

fn table(kept: &[Holding], now: Timestamp) -> Table {
    let mut table = Table::new(&["received (UTC)", "size", "on disk", "notes", "at service", "from", "id"], &[1, 2, 3]);
    for kept in kept {
        let notes = if kept.notes == 0 { "-".to_owned() } else { kept.notes.to_string() };
        let at_service = kept.retention(now).map_or_else(|| "-".to_owned(), Retention::short);
        table.row([
            kept.received.strftime("%F %H:%M").to_string(),
            bytes(kept.bytes),
            bytes(kept.on_disk),
            notes,
            at_service,
            from(kept),
            named(kept),
        ]);
    }
    table
}

fn from(kept: &Holding) -> String {
    match &kept.imported {
        Some(imported) => format!("imported {}", imported.words()),
        None if kept.is_set_aside() => "set aside".to_owned(),
        None if kept.is_coming() => "a part of it".to_owned(),
        None => Untrusted::from(kept.profile.as_str()).visible_cut(40).to_string(),
    }
}

/// The id, and what it is where that does not say it.
fn named(kept: &Holding) -> String {
    let id = Untrusted::from(id(kept)).visible().to_string();
    match &kept.what {
        Thing::Report(_) => id,
        Thing::Answer { .. } => format!("{id} ({})", title(kept).visible_cut(120)),
    }
}

fn id(kept: &Holding) -> String {
    match &kept.what {
        Thing::Report(identifier) => String::from_utf8_lossy(identifier.as_bytes()).into_owned(),
        Thing::Answer { number, .. } => answer_name(*number),
    }
}

/// An age such as `30d` or `12h`.
fn age(text: &str) -> Result<SignedDuration, String> {
    let read = UNITS.iter().find_map(|(unit, seconds)| {
        let number: i64 = text.strip_suffix(*unit)?.parse().ok()?;
        Some(SignedDuration::from_secs(number.checked_mul(*seconds).filter(|_| number >= 0)?))
    });
    read.ok_or_else(|| "an age is a number of days or hours, such as 30d or 12h".to_owned())
}
