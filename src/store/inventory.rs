//! Inventory of the store, and deletion of its entries. The ledger always stays.

use super::answers::unflat;
use super::error::StoreError;
use super::format::{Escaped, Header, moment};
use super::records::Store;
use super::shelf::{IMPORTED, INCOMING, QUARANTINE, REPORTS, digest, place};
use crate::report::identifier::{Identifier, Sha256};
use crate::report::{Doomed, Held, Holding, Purge};
use crate::request::Request;
use crate::text::Untrusted;
use jiff::{SignedDuration, Timestamp};
use rusqlite::{Transaction, params};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Number of deleted reports, bytes and notes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Purged {
    pub reports: u64,
    pub bytes: u64,
    pub notes: u64,
}

/// Whether the user's confirmation still applies to this inventory.
type StillWanted<'a> = &'a dyn Fn(&[Holding]) -> bool;

/// The notes on a report.
struct NotesOn {
    notes: u64,
    last: Timestamp,
    file: Option<Sha256>,
}

/// A file that was opened before: the service of its start screen, and its SHA-256.
type Earlier = (String, String);

/// Margin of a purge by age: a file that was opened within it before the limit is in use, and
/// stays.
const WORKED_ON: SignedDuration = SignedDuration::from_hours(24);

impl Store {
    /// Everything that is stored, newest first. The skeleton of a list is an entry of its own only
    /// if none of its reports is stored.
    pub fn inventory(&self) -> Result<Vec<Holding>, StoreError> {
        Ok(self.inventory_and_skeletons()?.0)
    }

    fn inventory_and_skeletons(&self) -> Result<(Vec<Holding>, Vec<Holding>), StoreError> {
        let (names, mut notes) = (self.names_of_files()?, self.notes_by_report()?);
        let (mut found, mut skeletons) = (Vec::new(), Vec::new());
        for folder in [REPORTS, INCOMING, QUARANTINE] {
            for name in self.stored(self.shelf.names(folder))? {
                let header = self.stored(self.shelf.header(&name))?;
                let parts = header.as_ref().map(|header| header.parts.clone()).unwrap_or_default();
                let Some(thing) = self.holding(name, header) else { continue };
                let is_stored = |identifier: &Escaped| {
                    let key = [&b"behaviour "[..], &identifier.bytes()].concat();
                    self.shelf.size(&place(&thing.service, &key)).is_some()
                };
                let is_skeleton = !thing.is_quarantined() && parts.iter().any(|(_, report)| is_stored(report));
                if is_skeleton { skeletons.push(thing) } else { found.push(thing) }
            }
        }
        for thing in &mut found {
            thing.name = thing.file.as_ref().and_then(|file| names.get(file).cloned());
            let written = thing.report().and_then(|report| notes.get(report));
            thing.notes = written.map_or(0, |written| written.notes);
        }
        let reports: BTreeSet<_> = found.iter().filter_map(Holding::report).cloned().collect();
        notes.retain(|report, _| !reports.contains(report));
        found.extend(notes.into_iter().map(|(identifier, written)| alone(identifier, written)));
        found.sort_by(|one, other| {
            let order = |thing: &Holding| (Reverse(thing.received), thing.file.clone(), thing.what.clone());
            order(one).cmp(&order(other))
        });
        Ok((found, skeletons))
    }

    /// A stored file as an entry of the inventory; `None` if it has just been found damaged.
    fn holding(&self, name: String, header: Option<Header>) -> Option<Holding> {
        let (on_disk, quarantined) = (self.shelf.size(&name)?, unflat(&name));
        if header.is_none() && quarantined.is_none() {
            return None;
        }
        let place = quarantined.as_ref().map_or(name.as_str(), |(place, _)| place);
        let mut steps = place.trim_start_matches(REPORTS).trim_start_matches(INCOMING).split(['/', '_']).skip(1);
        let (service, file) = (steps.next().unwrap_or_default().to_owned(), steps.next().and_then(Sha256::parse));
        let key = header.as_ref().map(|header| header.key.bytes());
        let (received, bytes) = match (&header, &quarantined) {
            (Some(header), _) => (header.received(), header.length),
            (None, Some((_, when))) => (*when, 0),
            (None, None) => return None,
        };
        let report = key.as_deref().and_then(Request::of_holding_key);
        let what = match report {
            Some(Request::Behaviour { identifier }) if name.starts_with(REPORTS) => Held::Report(identifier),
            _ => Held::Answer {
                id: format!("answer-{}", digest(&[name.as_bytes()]).get(..8).unwrap_or_default()),
                beside: key.as_deref().and_then(Request::holding_beside),
                key: Untrusted::from(key.unwrap_or_else(|| place.as_bytes().to_vec())),
                is_quarantined: quarantined.is_some(),
                place: name,
            },
        };
        Some(Holding {
            service,
            profile: header.as_ref().map(|header| header.profile.clone()).unwrap_or_default(),
            what,
            file: header.as_ref().and_then(Header::file).or(file),
            name: None,
            received,
            bytes,
            on_disk,
            imported: header.as_ref().and_then(Header::imported),
            notes: 0,
        })
    }

    /// Deletes stored entries, of one service or of all, if `agreed` accepts the current inventory.
    /// Otherwise deletes nothing and returns `None`.
    pub fn purge(
        &self,
        what: &[Purge],
        service: Option<&str>,
        agreed: StillWanted<'_>,
    ) -> Result<Option<Purged>, StoreError> {
        let (all, skeletons) = self.inventory_and_skeletons()?;
        if !agreed(&all) {
            return Ok(None);
        }
        let doomed = Doomed::of(what, &all, service);
        let forgotten = self.forgotten(what, service, &doomed.left)?;
        let mut purged = Purged { notes: doomed.notes, ..Purged::default() };
        for thing in &doomed.things {
            match &thing.what {
                Held::Report(identifier) => {
                    let key = Request::Behaviour { identifier: identifier.clone() }.holding_key().unwrap_or_default();
                    self.stored(self.shelf.remove(&place(&thing.service, &key)))?;
                    purged.reports += 1;
                }
                Held::Answer { place, .. } => self.stored(self.shelf.remove(place))?,
                Held::Notes(_) => {}
            }
            purged.bytes = purged.bytes.saturating_add(thing.bytes);
        }
        let everything = [all.as_slice(), skeletons.as_slice()].concat();
        let gone = Doomed::of(what, &everything, service).things;
        for skeleton in gone.into_iter().filter(|thing| skeletons.contains(thing)) {
            if let Held::Answer { place, .. } = &skeleton.what {
                self.stored(self.shelf.remove(place))?;
            }
        }
        if !(doomed.noted.is_empty() && forgotten.is_empty()) {
            self.write(|transaction| forget(transaction, &doomed.noted, &forgotten))?;
            self.copy()?;
        }
        Ok(Some(purged))
    }

    /// Number of earlier files that are forgotten with a purge.
    pub fn forgotten_files(&self, what: &[Purge], service: Option<&str>, held: &[Holding]) -> Result<u64, StoreError> {
        Ok(self.forgotten(what, service, &Doomed::of(what, held, service).left)?.len() as u64)
    }

    fn forgotten(
        &self,
        what: &[Purge],
        service: Option<&str>,
        left: &[&Holding],
    ) -> Result<BTreeSet<Earlier>, StoreError> {
        let files = self.read(|connection| {
            let mut select = connection.prepare("SELECT service, sha256, opened FROM file")?;
            let rows = select.query_map([], |row| Ok(((row.get(0)?, row.get(1)?), moment(row.get(2)?))))?;
            rows.collect::<rusqlite::Result<Vec<(Earlier, Timestamp)>>>()
        })?;
        let is_meant = |of: &str| service.is_none_or(|service| service == of);
        let is_left = |file: &str| left.iter().any(|thing| thing.file.as_ref().is_some_and(|of| of.as_str() == file));
        let goes = |(of, file): &Earlier, opened: Timestamp| {
            what.iter().any(|what| match what {
                Purge::Everything => is_meant(of),
                Purge::File { service, file: named } => {
                    (of == service || service == IMPORTED) && named.as_str() == file
                }
                Purge::Before(moment) => is_meant(of) && opened < *moment - WORKED_ON && !is_left(file),
                Purge::Report { .. } | Purge::Answer(_) | Purge::DownTo(_) => false,
            })
        };
        Ok(files.into_iter().filter(|(file, opened)| goes(file, *opened)).map(|(file, _)| file).collect())
    }

    /// Remarks on files that may still contain deleted data: the content of damaged files is
    /// unknown.
    pub fn remains(&self, what: &[Purge]) -> Result<Vec<String>, StoreError> {
        let held = self.inventory()?;
        let may_have = |thing: &&Holding| what.iter().any(|what| what.may_be_in(thing));
        let answers = held.iter().filter(may_have).filter_map(|thing| match &thing.what {
            Held::Answer { id, .. } => {
                Some(format!("{id}, in quarantine, is of the same file and may have some of it: delete that as well"))
            }
            Held::Report(_) | Held::Notes(_) => None,
        });
        let names = self.folder().read_dir().into_iter().flatten().flatten();
        let records = names.filter_map(|entry| entry.file_name().into_string().ok()).filter_map(|name| {
            let is_damaged = name.starts_with("records.damaged-");
            is_damaged.then(|| format!("{name} beside the records still has notes of then: delete it by hand"))
        });
        Ok(answers.chain(records).collect())
    }

    fn names_of_files(&self) -> Result<HashMap<Sha256, Untrusted>, StoreError> {
        let named = self.read(|connection| {
            let mut select =
                connection.prepare("SELECT sha256, name FROM file WHERE name IS NOT NULL ORDER BY opened")?;
            let rows = select.query_map([], |row| Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?)))?;
            rows.collect::<rusqlite::Result<Vec<_>>>()
        })?;
        Ok(named.into_iter().filter_map(|(file, name)| Some((Sha256::parse(&file)?, Untrusted::from(name)))).collect())
    }

    fn notes_by_report(&self) -> Result<BTreeMap<Identifier, NotesOn>, StoreError> {
        let mut found = BTreeMap::new();
        for note in self.notes()? {
            let on = found.entry(note.about.identifier).or_insert(NotesOn { notes: 0, last: note.written, file: None });
            on.notes += 1;
            on.last = on.last.max(note.written);
            on.file = on.file.take().or(note.file);
        }
        Ok(found)
    }
}

/// Notes as an entry of their own, if their report is not stored.
fn alone(identifier: Identifier, written: NotesOn) -> Holding {
    Holding {
        service: String::new(),
        profile: String::new(),
        what: Held::Notes(identifier),
        file: written.file,
        name: None,
        received: written.last,
        bytes: 0,
        on_disk: 0,
        imported: None,
        notes: written.notes,
    }
}

fn forget(
    transaction: &Transaction<'_>,
    noted: &BTreeSet<&Identifier>,
    files: &BTreeSet<Earlier>,
) -> rusqlite::Result<()> {
    let mut notes = transaction.prepare("DELETE FROM note WHERE identifier IN (?1, CAST(?1 AS TEXT))")?;
    noted.iter().try_for_each(|identifier| notes.execute([identifier.as_bytes()]).map(drop))?;
    let mut earlier = transaction.prepare("DELETE FROM file WHERE service = ?1 AND sha256 = ?2")?;
    files.iter().try_for_each(|(service, file)| earlier.execute(params![service, file]).map(drop))
}
