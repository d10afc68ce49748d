//! Responses, one file each: stored on receipt, moved to their place once read, and found by their
//! request.

use super::error::StoreError;
use super::format::{self, Escaped, Header};
use super::page::{self, PageReport};
use super::records::Store;
use super::shelf::{IMPORTED, INCOMING, QUARANTINE, REPORTS, Shelf, flat, folder_of, operation, place};
use crate::report::identifier::{Identifier, Sha256};
use crate::report::page::is_abstract;
use crate::report::{Body, Imported};
use crate::request::Request;
use crate::text::Untrusted;
use jiff::Timestamp;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::io;
use std::ops::Range;
use std::sync::Arc;

/// The first word of the key of a report.
const REPORT: &str = "behaviour";

/// A response as received.
#[derive(Debug, Clone, Copy)]
pub struct NewAnswer<'a> {
    pub service: &'a str,
    /// Name of the profile that asked.
    pub profile: &'a str,
    pub key: &'a [u8],
    pub received: Timestamp,
    pub bytes: &'a [u8],
}

/// A response that is stored and not read yet.
#[derive(Debug, Clone)]
pub struct Incoming {
    profile: String,
    key: Vec<u8>,
    received: Timestamp,
    bytes: Vec<u8>,
}

/// A whole response that is stored.
#[derive(Debug, Clone)]
pub struct StoredAnswer {
    pub received: Timestamp,
    pub body: Body,
}

/// A report that is stored.
#[derive(Clone)]
pub struct StoredReport {
    pub identifier: Identifier,
    /// Its file, if known.
    pub file: Option<Sha256>,
    pub received: Timestamp,
    /// Its origin, if it was imported.
    pub imported: Option<Imported>,
    /// The profile that fetched it, if from another service.
    pub elsewhere: Option<String>,
    length: u64,
    name: String,
    shelf: Arc<Shelf>,
}

/// An export of a colleague, to be stored.
#[derive(Debug)]
pub struct NewImport<'a> {
    /// The service whose start screen shows its file.
    pub service: &'a str,
    pub profile: &'a str,
    pub key: &'a [u8],
    pub now: Timestamp,
    pub bytes: &'a [u8],
    pub from: &'a Imported,
    pub reports: &'a [PageReport],
    /// Whether it replaces an earlier import.
    pub replaces: bool,
}

impl Incoming {
    /// The response as received from this service.
    pub fn as_new<'a>(&'a self, service: &'a str) -> NewAnswer<'a> {
        let Self { profile, key, received, bytes } = self;
        NewAnswer { service, profile, key, received: *received, bytes }
    }
}

impl StoredReport {
    /// Its bytes. Fails if its file was deleted or damaged meanwhile.
    pub fn body(&self) -> io::Result<Body> {
        let gone = || io::Error::new(io::ErrorKind::NotFound, "it was deleted meanwhile, or its file was damaged");
        let (_, bytes) = self.shelf.load(&self.name)?.ok_or_else(gone)?;
        Ok(Body::in_memory(bytes))
    }

    fn from_header(shelf: &Arc<Shelf>, name: String, header: &Header) -> Option<Self> {
        let key = header.key.bytes();
        let identifier = key.strip_prefix(REPORT.as_bytes()).and_then(|rest| rest.strip_prefix(b" "))?;
        let identifier = Identifier::new(Untrusted::from(identifier))?;
        let file = header.file().or_else(|| identifier.parts().file);
        let (received, imported, length) = (header.received(), header.imported(), header.length);
        let shelf = Arc::clone(shelf);
        Some(Self { identifier, file, received, imported, elsewhere: None, length, name, shelf })
    }
}

impl std::fmt::Debug for StoredReport {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "StoredReport({})", self.name)
    }
}

impl Shelf {
    /// Header and bytes of a file; `None` if it is missing or damaged. A damaged file is moved to
    /// the quarantine.
    fn load(&self, name: &str) -> io::Result<Option<(Header, Vec<u8>)>> {
        let Some(reader) = self.open(name)? else { return Ok(None) };
        self.sound(name, format::whole(reader))
    }

    /// The header of a file, without its bytes; otherwise like `load`.
    pub(super) fn header(&self, name: &str) -> io::Result<Option<Header>> {
        let Some(reader) = self.open(name)? else { return Ok(None) };
        self.sound(name, format::header(reader).map(|(header, _)| header))
    }

    fn sound<T>(&self, name: &str, read: io::Result<T>) -> io::Result<Option<T>> {
        match read {
            Ok(read) => Ok(Some(read)),
            // An error with an OS code concerns the disk, any other one the bytes.
            Err(why) if why.raw_os_error().is_some() => Err(why),
            Err(_) if name.starts_with(QUARANTINE) => Ok(None),
            Err(_) => self.quarantine(name, crate::clock::now()).map(|()| None),
        }
    }

    fn quarantine(&self, name: &str, when: Timestamp) -> io::Result<()> {
        let name_there = name.strip_prefix(INCOMING).unwrap_or(name);
        self.rename(name, &flat(QUARANTINE, name_there, &format!("_{}", when.as_millisecond())))
    }
}

impl Store {
    /// Stores a response's bytes before anything reads them.
    pub fn keep(&self, new: &NewAnswer<'_>) -> Result<(), StoreError> {
        let place = place(new.service, new.key);
        // An identifier of unusual shape does not name its file; the list that contained it did.
        let known = || self.shelf.header(&place).ok().flatten().and_then(|header| header.file());
        let file = Request::holding_file(new.key).or_else(known);
        let packed = header(new, file.as_ref()).pack(new.bytes);
        self.stored(packed.and_then(|packed| self.shelf.write(&flat(INCOMING, &place, ""), &packed, true))).map(drop)
    }

    /// The unread response to a request, as left by a program that was killed.
    pub fn incoming(&self, service: &str, key: &[u8]) -> Result<Option<Incoming>, StoreError> {
        let found = self.stored(self.shelf.load(&flat(INCOMING, &place(service, key), "")))?;
        Ok(found.map(|(header, bytes)| Incoming {
            profile: header.profile.clone(),
            key: header.key.bytes(),
            received: header.received(),
            bytes,
        }))
    }

    /// The keys of responses of a service that are not read yet.
    pub fn unread(&self, service: &str) -> Result<Vec<Vec<u8>>, StoreError> {
        let names = self.stored(self.shelf.names(INCOMING))?;
        let start = format!("{INCOMING}/{service}_");
        let names = names.iter().filter(|name| name.starts_with(&start));
        let headers = names.map(|name| self.stored(self.shelf.header(name)));
        headers.map(|header| Ok(header?.map(|header| header.key.bytes()))).filter_map(Result::transpose).collect()
    }

    /// Moves a response that was read and is valid to its place, a list page together with its
    /// reports: it is stored from now on.
    pub fn accept(&self, new: &NewAnswer<'_>, reports: &[PageReport]) -> Result<(), StoreError> {
        let place = place(new.service, new.key);
        let incoming = flat(INCOMING, &place, "");
        if !is_list(new.key) {
            return match reports.first() {
                Some(report) if !self.may_replace(new.service, report, new.bytes)? => self.reject(new),
                _ => self.stored(self.shelf.rename(&incoming, &place)),
            };
        }
        for report in reports {
            if self.may_replace(new.service, report, report.of(new.bytes))? {
                self.put(new, report, &None, true)?;
            }
        }
        let (skeleton, parts) = page::split(new.bytes, reports);
        self.outdate_pages(new, &skeleton, &parts)?;
        let header = Header { parts, length: skeleton.len() as u64, ..header(new, None) };
        self.stored(header.pack(&skeleton).and_then(|packed| self.shelf.write(&place, &packed, true)))?;
        self.stored(self.shelf.remove(&incoming))
    }

    /// Whether a report may replace the stored one: not an abstract of it, nor one that another file
    /// lists under the same identifier.
    fn may_replace(&self, service: &str, report: &PageReport, bytes: &[u8]) -> Result<bool, StoreError> {
        let Some(found) = self.report(service, &report.identifier)? else { return Ok(true) };
        let is_of_another = found.file.is_some() && report.file.is_some() && found.file != report.file;
        let is_less = || found.body().is_ok_and(|stored| is_abstract(bytes, &stored));
        let is_shorter = (bytes.len() as u64) < found.length;
        Ok(!(is_of_another || is_shorter && is_less()))
    }

    /// Stores each part of a response that was read in its own place, under its key.
    pub fn put_parts(&self, new: &NewAnswer<'_>, parts: &[(Vec<u8>, Range<usize>)]) -> Result<(), StoreError> {
        for (key, range) in parts {
            let bytes = new.bytes.get(range.clone()).unwrap_or_default();
            let one = NewAnswer { key, bytes, ..*new };
            let packed = header(&one, Request::holding_file(key).as_ref()).pack(bytes);
            self.stored(packed.and_then(|packed| self.shelf.write(&place(new.service, key), &packed, true)))?;
        }
        Ok(())
    }

    /// Removes a response whose parts are stored.
    pub fn drop_incoming(&self, new: &NewAnswer<'_>) -> Result<(), StoreError> {
        self.stored(self.shelf.remove(&flat(INCOMING, &place(new.service, new.key), "")))
    }

    /// Moves a response that was read and is unusable to the quarantine.
    pub fn reject(&self, new: &NewAnswer<'_>) -> Result<(), StoreError> {
        let incoming = flat(INCOMING, &place(new.service, new.key), "");
        self.stored(self.shelf.quarantine(&incoming, new.received))
    }

    /// The response that is stored under a key, from the service or imported.
    pub fn answer(&self, service: &str, key: &[u8]) -> Result<Option<StoredAnswer>, StoreError> {
        for of in [service, IMPORTED] {
            let Some((header, bytes)) = self.stored(self.shelf.load(&place(of, key)))? else { continue };
            let report = |identifier: &[u8]| {
                let identifier = Identifier::new(Untrusted::from(identifier))?;
                self.report(service, &identifier).ok()??.body().ok().map(|body| body.to_vec())
            };
            let bytes = if header.parts.is_empty() { bytes } else { page::join(&bytes, &header.parts, report) };
            return Ok(Some(StoredAnswer { received: header.received(), body: Body::in_memory(bytes) }));
        }
        Ok(None)
    }

    /// The report of a sandbox, fetched from a service or imported, whichever is newer.
    pub fn report(&self, service: &str, identifier: &Identifier) -> Result<Option<StoredReport>, StoreError> {
        let key = [REPORT.as_bytes(), b" ", identifier.as_bytes()].concat();
        let found = self.newest(vec![place(service, &key), place(IMPORTED, &key)])?;
        Ok(found.into_iter().find(|report| report.identifier == *identifier))
    }

    /// The reports of these sandboxes that are stored.
    pub fn reports_of(&self, service: &str, identifiers: &[&Identifier]) -> Result<Vec<StoredReport>, StoreError> {
        identifiers.iter().filter_map(|identifier| self.report(service, identifier).transpose()).collect()
    }

    /// The report of every sandbox of a file, newest first.
    pub fn reports(&self, service: &str, file: &Sha256) -> Result<Vec<StoredReport>, StoreError> {
        let mut names = Vec::new();
        for (of, folder) in [service, IMPORTED].into_iter().flat_map(|of| [(of, Some(file)), (of, None)]) {
            names.extend(self.stored(self.shelf.names(&folder_of(of, folder)))?);
        }
        let mut found = self.newest(names)?;
        found.retain(|report| report.file.as_ref() == Some(file));
        Ok(found)
    }

    /// The reports of all sandboxes of all files: fetched from this service, imported, or fetched
    /// from another service.
    pub fn every_report(&self, service: &str) -> Result<Vec<StoredReport>, StoreError> {
        let names = self.stored(self.shelf.names(REPORTS))?;
        let is_here =
            |name: &String| [service, IMPORTED].iter().any(|of| name.starts_with(&format!("{REPORTS}/{of}/")));
        let (here, elsewhere): (Vec<_>, Vec<_>) = names.into_iter().partition(is_here);
        let mut found = self.newest(here)?;
        for name in elsewhere {
            let Some(header) = self.stored(self.shelf.header(&name))? else { continue };
            let report = StoredReport::from_header(&self.shelf, name, &header);
            found.extend(report.map(|report| StoredReport { elsewhere: Some(header.profile), ..report }));
        }
        found.sort_by_key(|report| Reverse(report.received));
        Ok(found)
    }

    /// The newest report of each sandbox among these files, newest first.
    fn newest(&self, names: Vec<String>) -> Result<Vec<StoredReport>, StoreError> {
        let mut newest = BTreeMap::<Identifier, StoredReport>::new();
        for name in names.into_iter().filter(|name| name.contains(&format!("/{REPORT}-"))) {
            let Some(header) = self.stored(self.shelf.header(&name))? else { continue };
            let Some(report) = StoredReport::from_header(&self.shelf, name, &header) else { continue };
            let known = newest.get(&report.identifier);
            if known.is_none_or(|known| known.received < report.received) {
                newest.insert(report.identifier.clone(), report);
            }
        }
        let mut found: Vec<_> = newest.into_values().collect();
        found.sort_by_key(|report| Reverse(report.received));
        Ok(found)
    }

    /// Stores an export of a colleague, a report or a page of them. Returns whether it was stored:
    /// unless `replaces` is set, an earlier import stays.
    pub fn import(&self, import: &NewImport<'_>) -> Result<bool, StoreError> {
        let NewImport { profile, key, now: received, bytes, from, reports, replaces, .. } = *import;
        let new = NewAnswer { service: IMPORTED, profile, key, received, bytes };
        let imported = Some([from.from.as_bytes().into(), from.by.as_bytes().into()]);
        for report in reports {
            if !self.put(&new, report, &imported, replaces)? {
                return Ok(false);
            }
            if let Some(file) = &report.file {
                self.note_import(import.service, file, received)?;
            }
        }
        if is_list(key) {
            let (skeleton, parts) = page::split(bytes, reports);
            let header = Header { parts, length: skeleton.len() as u64, imported, ..header(&new, None) };
            let packed = header.pack(&skeleton);
            self.stored(packed.and_then(|packed| self.shelf.write(&place(IMPORTED, key), &packed, replaces)))?;
        }
        Ok(true)
    }

    /// The time of the newest quarantined response to a request, if no other is in its place.
    pub fn quarantined(&self, service: &str, key: &[u8]) -> Result<Option<Timestamp>, StoreError> {
        self.quarantined_where(service, |place_there| place_there == place(service, key))
    }

    /// The same for the list of a file's sandboxes, and its further pages.
    pub fn list_quarantined(&self, service: &str, file: &Sha256) -> Result<Option<Timestamp>, StoreError> {
        let folder = folder_of(service, Some(file));
        let lists = ["behaviours", "identifiers"].map(|operation| format!("{folder}/{operation}-"));
        self.quarantined_where(service, |place| lists.iter().any(|list| place.starts_with(list)))
    }

    fn quarantined_where(&self, service: &str, fits: impl Fn(&str) -> bool) -> Result<Option<Timestamp>, StoreError> {
        let start = format!("{QUARANTINE}/{service}_");
        let names = self.stored(self.shelf.names(QUARANTINE))?;
        let found = names.iter().filter(|name| name.starts_with(&start)).filter_map(|name| unflat(name));
        let found = found.filter(|(place, _)| fits(place) && self.shelf.size(place).is_none());
        Ok(found.map(|(_, when)| when).max())
    }

    /// Deletes the further pages of a list whose first page has changed: they would hide entries
    /// that moved between pages. The reports of the deleted pages stay.
    fn outdate_pages(
        &self,
        first: &NewAnswer<'_>,
        skeleton: &[u8],
        parts: &[(u64, Escaped)],
    ) -> Result<(), StoreError> {
        let Some(Request::Behaviours { cursor: None, file, .. }) = Request::of_holding_key(first.key) else {
            return Ok(());
        };
        let before = self.stored(self.shelf.load(&place(first.service, first.key)))?;
        if before.is_some_and(|(header, bytes)| bytes == skeleton && header.parts == parts) {
            return Ok(());
        }
        let start = format!("/{}-", operation(first.key));
        for name in self.stored(self.shelf.names(&folder_of(first.service, Some(&file))))? {
            if name.contains(&start) && name != place(first.service, first.key) {
                self.stored(self.shelf.remove(&name))?;
            }
        }
        Ok(())
    }

    /// Stores a report in its place.
    fn put(
        &self,
        of: &NewAnswer<'_>,
        report: &PageReport,
        imported: &Option<[Escaped; 2]>,
        replaces: bool,
    ) -> Result<bool, StoreError> {
        let key = [REPORT.as_bytes(), b" ", report.identifier.as_bytes()].concat();
        let bytes = report.of(of.bytes);
        let one = NewAnswer { key: &key, bytes, ..*of };
        let header = Header { imported: imported.clone(), ..header(&one, report.file.as_ref()) };
        let packed = header.pack(bytes);
        self.stored(packed.and_then(|packed| self.shelf.write(&place(of.service, &key), &packed, replaces)))
    }

    pub(super) fn stored<T>(&self, done: io::Result<T>) -> Result<T, StoreError> {
        done.map_err(|why| self.file_error(why))
    }
}

fn header(new: &NewAnswer<'_>, file: Option<&Sha256>) -> Header {
    Header {
        key: new.key.into(),
        profile: new.profile.to_owned(),
        file: file.map(|file| file.as_str().to_owned()),
        received: new.received.as_millisecond(),
        length: new.bytes.len() as u64,
        imported: None,
        parts: Vec::new(),
    }
}

fn is_list(key: &[u8]) -> bool {
    matches!(Request::of_holding_key(key), Some(Request::Behaviours { .. }))
}

/// The original place of a file in quarantine, and the time in its name.
pub(super) fn unflat(name: &str) -> Option<(String, Timestamp)> {
    let (place, when) =
        name.strip_prefix(QUARANTINE)?.trim_start_matches('/').strip_suffix(".zst")?.rsplit_once('_')?;
    Some((format!("{REPORTS}/{}.zst", place.replace('_', "/")), format::moment(when.parse().ok()?)))
}
