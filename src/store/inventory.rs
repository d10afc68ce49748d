//! Inventory of the store, and deletion of its entries. The ledger always stays.

use super::Result;
use super::records::Store;
use super::report_files::{
    EscapedBytes, IMPORTED, REPORTS, ResponseHeader, UNREAD, digest, folder_of, leftovers, lock_folder, moment, place,
    place_of_unread,
};
use super::reports::key_of;
use crate::report::identifier::{Identifier, Sha256};
use crate::report::{Body, Deletion, DeletionTarget, GroupPage, Note, StoredContent, StoredItem};
use crate::request::{Request, Submission};
use crate::text::Untrusted;
use jiff::{SignedDuration, Timestamp};
use rusqlite::params;
use std::cmp::Reverse;
use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap};

/// A file that was opened before: the service of its start screen, its SHA-256, and when.
pub type EarlierFile = (String, String, Timestamp);

/// Margin of a purge by age: a file that was opened within it before the limit stays.
const OPENED_MARGIN: SignedDuration = SignedDuration::from_hours(24);

impl Store {
    /// Everything that is stored, newest first; a list page only if none of its reports is stored.
    pub fn inventory(&self) -> Result<Vec<StoredItem>> {
        Ok(self.inventory_and_lists()?.0)
    }

    fn inventory_and_lists(&self) -> Result<(Vec<StoredItem>, Vec<StoredItem>)> {
        let names: HashMap<String, String> = self.read(|connection| {
            let select = "SELECT sha256, name FROM file WHERE name IS NOT NULL ORDER BY opened";
            connection.prepare(select)?.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
        })?;
        let mut notes = BTreeMap::<Identifier, Vec<Note>>::new();
        for note in self.notes()?.into_iter().filter(|note| note.author.is_none()) {
            notes.entry(note.about.identifier.clone()).or_default().push(note);
        }
        let mut found = Vec::new();
        let mut lists = Vec::new();
        for folder in [REPORTS, UNREAD] {
            for name in self.stored(self.report_files.names(folder))? {
                let header = self.stored(self.report_files.header(&name))?;
                let Some(mut thing) = self.stored_item(name, header.as_ref()) else { continue };
                let name = thing.file.as_ref().and_then(|file| names.get(file.as_str()));
                thing.name = name.map(|name| Untrusted::from(name.as_str()));
                thing.notes = thing.report().and_then(|report| notes.get(report)).map_or(0, |notes| notes.len() as u64);
                let place_of = |report: &EscapedBytes| place(&thing.service, &key_of(&report.bytes()));
                let mut reports = header.iter().flat_map(|header| &header.reports);
                let is_list =
                    !thing.is_unread() && reports.any(|report| self.report_files.size(&place_of(report)).is_some());
                if is_list { lists.push(thing) } else { found.push(thing) }
            }
        }
        let mut expirations = HashMap::new();
        for thing in found.iter_mut().filter(|thing| thing.report().is_some() && !thing.is_import()) {
            let known = match expirations.entry(thing.service.clone()) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(service) => service.insert(self.expirations(&thing.service)?),
            };
            thing.expires = thing.file.as_ref().and_then(|file| known.get(file)).copied();
        }
        found.iter().filter_map(StoredItem::report).for_each(|report| drop(notes.remove(report)));
        found.extend(notes.into_iter().map(|(identifier, notes)| notes_alone(identifier, &notes)));
        found.sort_by_cached_key(|thing| (Reverse(thing.received), thing.file.clone(), thing.what.clone()));
        Ok((found, lists))
    }

    /// Returns when a service deletes its files, by its stored lists and the answered submissions.
    pub fn expirations(&self, service: &str) -> Result<HashMap<Sha256, Timestamp>> {
        let mut known = Vec::new();
        for name in self.stored(self.report_files.names(&folder_of(service, None)))? {
            let page = if name.contains("/group-list-") { self.stored(self.report_files.load(&name))? } else { None };
            let Some((header, bytes)) = page else { continue };
            let entries = GroupPage::of(&Body::in_memory(bytes)).map(|page| page.entries).unwrap_or_default();
            let files = entries.into_iter().filter(|entry| entry.scan.is_none());
            known.extend(files.filter_map(|entry| Some((moment(header.received), entry.file?, entry.expires))));
        }
        known.extend(self.scans_sent(service)?.into_iter().filter_map(|(sent, claim)| {
            let (file, days) = Submission::of_claim(&claim)?;
            let expires = days.and_then(|days| sent.checked_add(SignedDuration::from_hours(24 * i64::from(days))).ok());
            Some((sent, file, expires))
        }));
        // What was learned last counts: a submission replaces what a list said before.
        known.sort();
        let last: HashMap<_, _> = known.into_iter().map(|(_, file, expires)| (file, expires)).collect();
        Ok(last.into_iter().filter_map(|(file, expires)| Some((file, expires?))).collect())
    }

    /// Returns a stored file's entry of the inventory; `None` if just found damaged.
    fn stored_item(&self, name: String, header: Option<&ResponseHeader>) -> Option<StoredItem> {
        let on_disk = self.report_files.size(&name)?;
        let unread = place_of_unread(&name);
        let place = unread.as_ref().map_or(name.as_str(), |(place, _)| place);
        let mut steps = place.split(['/', '_']).skip(1);
        let service = steps.next().unwrap_or_default().to_owned();
        let file = steps.next().and_then(Sha256::parse);
        let key = header.map(|header| header.key.bytes());
        let received = header.map(|header| moment(header.received));
        let received = received.or(unread.as_ref().map(|(_, when)| *when))?;
        let what = match key.as_deref().and_then(Request::of_storage_key) {
            Some(Request::Behaviour { identifier }) if name.starts_with(REPORTS) => StoredContent::Report(identifier),
            _ => StoredContent::Response {
                id: format!("response-{}", digest(&[name.as_bytes()]).get(..8).unwrap_or_default()),
                beside: key.as_deref().and_then(Request::report_of_artifact_key),
                key: Untrusted::from(key.unwrap_or_else(|| place.as_bytes().to_vec())),
                is_unread: unread.is_some(),
                place: name,
            },
        };
        Some(StoredItem {
            service,
            profile: header.map(|header| header.profile.clone()).unwrap_or_default(),
            what,
            file: header.and_then(ResponseHeader::file).or(file),
            name: None,
            received,
            bytes: header.map_or(0, |header| header.length),
            on_disk,
            imported: header.and_then(ResponseHeader::imported),
            notes: 0,
            expires: None,
        })
    }

    /// Carries out a deletion unless its items have changed; returns whether it did.
    pub fn purge(&self, deletion: &Deletion) -> Result<bool> {
        let (all, lists) = self.inventory_and_lists()?;
        if !deletion.is_still(&all) {
            return Ok(false);
        }
        let forgotten = self.forgotten(deletion)?;
        deletion.things.iter().try_for_each(|thing| self.remove(thing))?;
        let everything = [all.as_slice(), lists.as_slice()].concat();
        let gone = Deletion::of(deletion.what.clone(), deletion.service.as_deref(), &everything).things;
        gone.iter().filter(|thing| lists.contains(thing)).try_for_each(|list| self.remove(list))?;
        // Deletes the rest even if the index cannot be written; the next deletion forgets too.
        let mut forgotten_values = Ok(());
        if deletion.service.is_none() && deletion.what.contains(&DeletionTarget::Everything) {
            self.remove_values();
            let delete = |_lock| leftovers(&self.folder)?.iter().try_for_each(std::fs::remove_file);
            self.stored(lock_folder(&self.folder).and_then(delete))?;
        } else {
            forgotten_values = self.forget_values();
        }
        if !deletion.noted.is_empty() || !forgotten.is_empty() {
            self.write(|transaction| {
                for table in ["note", "team_note", "shared_note"] {
                    let mut notes = transaction.prepare(&format!("DELETE FROM {table} WHERE identifier = ?1"))?;
                    deletion
                        .noted
                        .iter()
                        .try_for_each(|identifier| notes.execute([identifier.as_bytes()]).map(drop))?;
                }
                let mut earlier = transaction.prepare("DELETE FROM file WHERE service = ?1 AND sha256 = ?2")?;
                forgotten.iter().try_for_each(|(service, file, _)| earlier.execute(params![service, file]).map(drop))
            })?;
            self.copy()?;
        }
        forgotten_values.map(|()| true)
    }

    /// Deletes the file of an entry; notes have none.
    fn remove(&self, thing: &StoredItem) -> Result<()> {
        self.stored(match &thing.what {
            StoredContent::Report(identifier) => {
                self.report_files.remove(&place(&thing.service, &key_of(identifier.as_bytes())))
            }
            StoredContent::Response { place, .. } => self.report_files.remove(place),
            StoredContent::Notes(_) => Ok(()),
        })
    }

    /// Returns the earlier files that are forgotten with a deletion.
    pub fn forgotten(&self, deletion: &Deletion) -> Result<Vec<EarlierFile>> {
        let mut files: Vec<EarlierFile> = self.read(|connection| {
            let mut select = connection.prepare("SELECT service, sha256, opened FROM file")?;
            select.query_map([], |row| Ok((row.get(0)?, row.get(1)?, moment(row.get(2)?))))?.collect()
        })?;
        let is_meant = |of: &str| deletion.service.as_ref().is_none_or(|service| service == of);
        let is_left = |file: &str| deletion.left.iter().any(|left| left.as_str() == file);
        files.retain(|(of, file, opened)| {
            deletion.what.iter().any(|what| match what {
                DeletionTarget::Everything => is_meant(of),
                DeletionTarget::File(service, named) => {
                    (of == service || service == IMPORTED) && named.as_str() == file
                }
                DeletionTarget::Before(moment) => is_meant(of) && *opened < *moment - OPENED_MARGIN && !is_left(file),
                DeletionTarget::Report(..) | DeletionTarget::Response(_) | DeletionTarget::DownTo(_) => false,
            })
        });
        Ok(files)
    }
}

/// Notes as an entry of their own, if their report is not stored.
fn notes_alone(identifier: Identifier, notes: &[Note]) -> StoredItem {
    StoredItem {
        service: String::new(),
        profile: String::new(),
        what: StoredContent::Notes(identifier),
        file: notes.iter().find_map(|note| note.file.clone()),
        name: None,
        received: notes.iter().map(|note| note.written).max().unwrap_or_default(),
        bytes: 0,
        on_disk: 0,
        imported: None,
        notes: notes.len() as u64,
        expires: None,
    }
}
