//! `behaview held`: lists and deletes what is stored on this machine. Sends nothing.

use super::output::{Table, print_json, print_text};
use super::setup::{say, service_of};
use super::{Common, FailureKind};
use crate::app::over::held::title;
use crate::config::Config;
use crate::quota::Entitlements;
use crate::report::identifier::Sha256;
use crate::report::{Doomed, Held as Thing, Holding, Purge, Retention, whose};
use crate::request::{Request, again};
use crate::store::{Store, StoreError};
use crate::text::{Untrusted, bytes, count, said, thousands};
use clap::Args;
use jiff::{SignedDuration, Timestamp};
use serde::Serialize;
use std::collections::BTreeMap;

const EXAMPLES: &str = "\
Examples:
  behaview held
  behaview held --json
  behaview held --older-than 30d
  behaview held --all --yes

What is deleted is deleted from the disk, notes on it included; its bytes are not overwritten. The ledger \
always stays. Fetching a report again costs one request, if the service still has it. Without --yes it is \
only said what would be deleted, whose it is, and what fetching it again would cost.

Without --profile this is about everything; with it about what that profile can open: what its service sent, \
and what was imported. Of that --all and --older-than delete what the service sent. A note goes with the last \
stored copy of its report. With --older-than an earlier file is forgotten only if nothing of it is stored any \
more, and it was opened a day before that.";

/// Seconds of each unit of age.
const UNITS: [(char, i64); 2] = [('d', 86_400), ('h', 3600)];

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct HeldArgs {
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    which: Selection,
    /// Delete what is listed; without it nothing is deleted
    #[arg(long)]
    yes: bool,
}

#[derive(Debug, Args)]
#[group(multiple = false)]
struct Selection {
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

/// The output of `held --json`.
#[derive(Serialize)]
struct HeldOutput {
    held: Vec<HeldRow>,
    bytes: u64,
    on_disk: u64,
    /// The result of a deletion, or its preview without `--yes`.
    deleted: Option<Deleted>,
}

#[derive(Serialize)]
struct HeldRow {
    id: String,
    /// A description.
    what: String,
    profile: String,
    file: Option<String>,
    name: Option<String>,
    /// `None` except for reports.
    sandbox: Option<String>,
    received: Timestamp,
    bytes: u64,
    on_disk: u64,
    notes: Vec<NoteOutput>,
    is_quarantined: bool,
    at_service: Option<String>,
    imported_from: Option<String>,
    imported_by: Option<String>,
}

/// A note; attribute and item are `None` for a note on the whole report.
#[derive(Serialize)]
struct NoteOutput {
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
    /// Records of files that were opened, listed or imported, which are deleted too.
    files: u64,
    /// The number of items by profile.
    profiles: BTreeMap<String, u64>,
    /// The profiles as text.
    #[serde(skip)]
    whose: String,
    /// The cost of fetching the items again, as text.
    #[serde(skip)]
    again: String,
}

impl HeldArgs {
    pub(super) fn run(self, common: &Common) -> anyhow::Result<()> {
        let (folders, config) = common.config()?;
        let store = super::setup::open_to_look(&folders.store)?;
        let now = crate::clock::now();
        let all = store.inventory()?;
        let service = common.profile.as_deref().map(|name| service_named(name, &config, &all)).transpose()?;
        let kept = of_service(all.clone(), service.as_deref());
        let what = self.which.purge(&kept, now)?;
        let Some(what) = what else { return self.print(&store, [&kept; 2], None, now) };
        // An id or a hash already selects the items of one service.
        let only = service.as_deref().filter(|_| self.which.delete.is_none());
        let doomed = Doomed::of(&what, &all, only);
        let files = store.forgotten_files(&what, only, &all)?;
        let things: Vec<_> = doomed.things.iter().copied().cloned().collect();
        if !self.yes {
            let is_none = things.is_empty() && (doomed.notes, files) == (0, 0);
            let shown: [&[Holding]; 2] = if is_none { [&things, &kept] } else { [&things; 2] };
            self.print(&store, shown, Some(deleted(&doomed, files, now, false)), now)?;
            if is_none {
                return Ok(());
            }
            fail!(Usage, "nothing was deleted: --yes deletes what is listed");
        }
        let asked = doomed.named();
        let is_still = |held: &[Holding]| Doomed::of(&what, held, only).named() == asked;
        if store.purge(&what, only, &is_still)?.is_none() {
            let why =
                "nothing was deleted: another program has changed what is held since this one looked at it; try again";
            return Err(anyhow::anyhow!(why));
        }
        for remark in store.remains(&what)? {
            say(&remark);
        }
        let left = of_service(store.inventory()?, service.as_deref());
        self.print(&store, [&things, &left], Some(deleted(&doomed, files, now, true)), now)
    }

    /// Prints the items that the command selects, and the size of the store.
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
            return print_json(&HeldOutput { held, bytes: raw, on_disk, deleted });
        }
        let mut text = if listed.is_empty() { String::new() } else { table(listed, now).to_string() };
        text += &match held.len() {
            0 => "Nothing is held.\n".to_owned(),
            things => format!("{} held: {}, {} on disk\n", thousands(things as u64), bytes(raw), bytes(on_disk)),
        };
        if let Some(gone) = deleted {
            let verb = if gone.is_done { "Deleted" } else { "Would be deleted" };
            let (things, notes) = (count(gone.things as u64, "thing"), count(gone.notes, "note"));
            let more = (gone.files > 0).then(|| format!(", {}", count(gone.files, "earlier file")));
            let more = more.unwrap_or_default();
            text += &format!("{verb}: {things}{}, {}, with {notes}{more}\n", gone.whose, bytes(gone.bytes));
            let again = Some(gone.again).filter(|words| !gone.is_done && !words.is_empty());
            text += &again.map(|words| words + "\n").unwrap_or_default();
        }
        print_text(&text)
    }
}

impl Selection {
    /// The deletions that the options select.
    fn purge(&self, kept: &[Holding], now: Timestamp) -> anyhow::Result<Option<Vec<Purge>>> {
        if self.all {
            return Ok(Some(vec![Purge::Everything]));
        }
        if let Some(age) = self.older_than {
            let before =
                now.checked_sub(age).map_err(|_| FailureKind::Usage.error("that is longer ago than time goes"))?;
            return Ok(Some(vec![Purge::Before(before)]));
        }
        let Some(id) = &self.delete else { return Ok(None) };
        let found: Vec<_> = kept.iter().filter_map(|kept| one(kept, id)).collect();
        if found.is_empty() {
            fail!(NotFound, "nothing of this id is held; behaview held lists the ids");
        }
        Ok(Some(found))
    }
}

/// The deletion for an id as the list shows it, if it names this item.
fn one(kept: &Holding, named: &str) -> Option<Purge> {
    let service = kept.service.clone();
    if let Some(file) = Sha256::parse(named) {
        return (kept.file.as_ref() == Some(&file)).then_some(Purge::File { service, file });
    }
    (id(kept) == named).then(|| match &kept.what {
        Thing::Report(identifier) | Thing::Notes(identifier) => {
            Purge::Report { service, identifier: identifier.clone() }
        }
        Thing::Answer { place, .. } => Purge::Answer(place.clone()),
    })
}

fn deleted(doomed: &Doomed<'_>, files: u64, now: Timestamp, is_done: bool) -> Deleted {
    let things = &doomed.things;
    let mut profiles = BTreeMap::new();
    things.iter().for_each(|kept| *profiles.entry(kept.profile.clone()).or_default() += 1);
    let sum = |of: fn(&Holding) -> u64| things.iter().map(|thing| of(thing)).fold(0, u64::saturating_add);
    Deleted {
        is_done,
        things: things.len(),
        bytes: sum(|thing| thing.bytes),
        on_disk: sum(|thing| thing.on_disk),
        notes: doomed.notes,
        files,
        profiles,
        whose: if things.is_empty() { String::new() } else { format!(" {}", whose(things.iter().copied())) },
        again: again(things, &Entitlements::default(), now),
    }
}

/// The service of a profile. For a profile that was removed from the config: the service of its
/// stored items.
fn service_named(name: &str, config: &Config, kept: &[Holding]) -> anyhow::Result<String> {
    let fetched = || kept.iter().find(|kept| kept.profile == name && !kept.is_import());
    match config.profile(None) {
        Ok(profile) => Ok(service_of(&profile)),
        Err(error) => fetched().map(|kept| kept.service.clone()).ok_or(error.into()),
    }
}

/// The items that a profile of this service can open: its own responses, imports and notes.
fn of_service(kept: Vec<Holding>, service: Option<&str>) -> Vec<Holding> {
    let is_here =
        |kept: &Holding| service.is_none_or(|service| kept.service == service || kept.is_import() || !kept.is_answer());
    kept.into_iter().filter(is_here).collect()
}

/// The notes on a report and on its rows.
fn notes(store: &Store, kept: &Holding) -> Result<Vec<NoteOutput>, StoreError> {
    let Some(identifier) = kept.noted().filter(|_| kept.notes > 0) else { return Ok(Vec::new()) };
    let notes = store.notes()?.into_iter().filter(|note| note.about.identifier == *identifier);
    let written = notes.map(|note| NoteOutput {
        attribute: note.about.item.as_ref().map(|item| item.attribute.unicode()),
        item: note.about.item.as_ref().map(|item| item.text.unicode()),
        text: note.text.unicode(),
        written: note.written,
    });
    Ok(written.collect())
}

fn row(store: &Store, kept: &Holding, now: Timestamp) -> Result<HeldRow, StoreError> {
    Ok(HeldRow {
        id: id(kept),
        what: what(kept),
        profile: kept.profile.clone(),
        file: kept.file.as_ref().map(ToString::to_string),
        name: kept.name.as_ref().map(Untrusted::unicode),
        sandbox: kept.noted().map(|identifier| identifier.parts().sandbox.unicode()),
        received: kept.received,
        bytes: kept.bytes,
        on_disk: kept.on_disk,
        notes: notes(store, kept)?,
        is_quarantined: kept.is_quarantined(),
        at_service: kept.retention(now).map(Retention::words),
        imported_from: kept.imported.as_ref().map(|imported| imported.from.unicode()),
        imported_by: kept.imported.as_ref().map(|imported| imported.by.unicode()),
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
            match kept.what {
                Thing::Report(_) | Thing::Notes(_) => said(id(kept)).to_string(),
                Thing::Answer { .. } => format!("{} ({})", id(kept), what(kept)),
            },
        ]);
    }
    table
}

fn from(kept: &Holding) -> String {
    match &kept.imported {
        Some(imported) => format!("imported {}", imported.words()),
        None if matches!(kept.what, Thing::Notes(_)) => "notes alone".to_owned(),
        None if kept.is_quarantined() => "quarantined".to_owned(),
        None => Untrusted::from(kept.profile.as_str()).visible_cut(40).to_string(),
    }
}

/// A description of an item.
fn what(kept: &Holding) -> String {
    let file = || kept.file.as_ref().map(|file| format!(" of {}", file.short())).unwrap_or_default();
    match &kept.what {
        Thing::Report(_) => "report".to_owned(),
        Thing::Notes(_) => "notes".to_owned(),
        // Its reports are separate items, or were deleted.
        Thing::Answer { key, .. } if is_list(key) => format!("{}{}, without reports", title(kept), file()),
        Thing::Answer { .. } => title(kept).cut(120).to_string(),
    }
}

fn is_list(key: &Untrusted) -> bool {
    matches!(Request::of_holding_key(key.as_bytes()), Some(Request::Behaviours { .. }))
}

fn id(kept: &Holding) -> String {
    match &kept.what {
        Thing::Report(identifier) | Thing::Notes(identifier) => {
            // Identifiers with invalid Unicode are named by their visible form, which is unique.
            let text = std::str::from_utf8(identifier.as_bytes()).map(str::to_owned);
            text.unwrap_or_else(|_| identifier.text().visible().to_string())
        }
        Thing::Answer { id, .. } => id.clone(),
    }
}

/// Parses an age such as `30d` or `12h`.
fn age(text: &str) -> Result<SignedDuration, String> {
    let read = UNITS.iter().find_map(|(unit, seconds)| {
        let number: i64 = text.strip_suffix(*unit)?.parse().ok()?;
        Some(SignedDuration::from_secs(number.checked_mul(*seconds).filter(|_| number >= 0)?))
    });
    read.ok_or_else(|| "an age is a number of days or hours, such as 30d or 12h".to_owned())
}
