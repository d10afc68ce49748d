//! Responses, one file each: stored on receipt, moved to their place once read, and found by their
//! request.

use super::StoreError;
use super::records::Store;
use super::shelf::{
    Escaped, Header, IMPORTED, INCOMING, QUARANTINE, REPORTS, Shelf, flat, folder_of, moment, place, unflat,
};
use crate::report::body::{LARGE, Rest, WINDOW};
use crate::report::identifier::{Identifier, Sha256};
use crate::report::json::{Kind, Raw};
use crate::report::page::{Page, is_abstract};
use crate::report::{Body, Imported};
use crate::request::Request;
use crate::text::Untrusted;
use jiff::Timestamp;
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashSet};
use std::io;
use std::ops::Range;
use std::sync::Arc;

/// Start of the key of a report; its identifier follows.
const REPORT: &[u8] = b"behaviour ";

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

/// An answer that was paid for, or was free.
#[derive(Debug, Clone)]
pub struct Answer {
    pub received: Timestamp,
    pub body: Body,
    /// Why it may be lost when the program ends, or incomplete, in words that follow its name.
    pub unkept: Option<String>,
}

/// A report that is stored.
#[derive(Clone)]
pub struct StoredReport {
    pub identifier: Identifier,
    pub file: Option<Sha256>,
    pub received: Timestamp,
    pub imported: Option<Imported>,
    /// The profile that fetched it, if from another service.
    pub elsewhere: Option<String>,
    length: u64,
    name: String,
    shelf: Arc<Shelf>,
}

/// A report within the bytes of a list page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageReport {
    pub identifier: Identifier,
    /// The file it is of, if that is known.
    pub file: Option<Sha256>,
    pub range: Range<usize>,
}

impl StoredReport {
    /// Its bytes. Fails if its file was deleted or damaged meanwhile.
    pub fn body(&self) -> io::Result<Body> {
        self.bytes().map(Body::in_memory)
    }

    pub fn bytes(&self) -> io::Result<Vec<u8>> {
        self.shelf.load(&self.name)?.map(|(_, bytes)| bytes).ok_or_else(gone)
    }

    /// Like [`Self::body`]; of a large report only the first bytes, and what takes the rest.
    pub fn begin(&self) -> io::Result<(Body, Option<Rest>)> {
        if self.length <= LARGE {
            return Ok((self.body()?, None));
        }
        let (body, rest) = Body::begun(self.shelf.first(&self.name, WINDOW)?.ok_or_else(gone)?.1);
        Ok((body, Some(rest)))
    }
}

fn gone() -> io::Error {
    io::Error::new(io::ErrorKind::NotFound, "it was deleted meanwhile, or its file was damaged")
}

impl PageReport {
    /// The reports of a page; of duplicates, the first.
    pub fn of_page(page: Page, file: &Sha256) -> Vec<Self> {
        let mut known = HashSet::new();
        let reports = page.without_others(file).entries.into_iter().filter_map(|entry| {
            entry.report?;
            known.insert(entry.identifier.clone()).then(|| Self {
                identifier: entry.identifier,
                file: Some(file.clone()),
                range: entry.range,
            })
        });
        reports.collect()
    }

    /// Its bytes.
    pub(super) fn of<'a>(&self, page: &'a [u8]) -> &'a [u8] {
        page.get(self.range.clone()).unwrap_or_default()
    }
}

impl Store {
    /// Stores a response's bytes before anything reads them.
    pub fn keep(&self, new: &NewAnswer<'_>) -> Result<(), StoreError> {
        // An identifier of unusual shape does not name its file; the list that contained it did.
        let known = || self.shelf.header(&place(new.service, new.key)).ok().flatten()?.file();
        let file = Request::holding_file(new.key).or_else(known);
        self.put(&incoming(new.service, new.key), &header(new, file.as_ref()), new.bytes, true).map(drop)
    }

    /// Profile, time and bytes of a response that a killed program left unread.
    pub fn incoming(&self, service: &str, key: &[u8]) -> Result<Option<(String, Timestamp, Vec<u8>)>, StoreError> {
        let found = self.stored(self.shelf.load(&incoming(service, key)))?;
        Ok(found.map(|(header, bytes)| (header.profile, moment(header.received), bytes)))
    }

    /// The keys of responses of a service that are not read yet.
    pub fn unread(&self, service: &str) -> Result<Vec<Vec<u8>>, StoreError> {
        let start = format!("{INCOMING}/{service}_");
        let mut keys = Vec::new();
        for name in self.stored(self.shelf.names(INCOMING))?.iter().filter(|name| name.starts_with(&start)) {
            keys.extend(self.stored(self.shelf.header(name))?.map(|header| header.key.bytes()));
        }
        Ok(keys)
    }

    /// Moves a response that was read and is valid to its place. The reports of a list page, and the
    /// parts of an answer about several hashes, go to places of their own.
    pub fn accept(
        &self,
        new: &NewAnswer<'_>,
        reports: &[PageReport],
        parts: &[(Vec<u8>, Range<usize>)],
    ) -> Result<(), StoreError> {
        self.put_parts(new, parts)?;
        let (place, incoming) = (place(new.service, new.key), incoming(new.service, new.key));
        match Request::of_holding_key(new.key) {
            Some(Request::Behaviours { cursor, .. }) => {
                for report in reports {
                    if self.may_replace(new.service, report, report.of(new.bytes), is_abstract)? {
                        self.put_report(new, report, &None, true)?;
                    }
                }
                let (skeleton, parts) = split(new.bytes, reports);
                let before = self.stored(self.shelf.load(&place))?;
                let is_same = before.is_some_and(|(header, bytes)| bytes == skeleton && header.parts == parts);
                if cursor.is_none() && !is_same {
                    self.delete_further_pages(&place)?;
                }
                let header = Header { parts, length: skeleton.len() as u64, ..header(new, None) };
                self.put(&place, &header, &skeleton, true)?;
            }
            // A set of hashes is put together from the answers about each.
            Some(request) if request.by_hash().is_some() && !parts.is_empty() => {}
            Some(request) if request.by_hash().is_some() => return self.reject(new, &[]),
            _ => {
                return match reports.first() {
                    Some(report) if !self.may_replace(new.service, report, new.bytes, |new, _| is_empty(new))? => {
                        self.reject(new, &[])
                    }
                    _ => self.stored(self.shelf.rename(&incoming, &place)),
                };
            }
        }
        self.stored(self.shelf.remove(&incoming))
    }

    /// Moves a response that is unusable to the quarantine; its usable parts are stored.
    pub fn reject(&self, new: &NewAnswer<'_>, parts: &[(Vec<u8>, Range<usize>)]) -> Result<(), StoreError> {
        let parts = self.put_parts(new, parts);
        self.stored(self.shelf.quarantine(&incoming(new.service, new.key), new.received)).and(parts)
    }

    fn put_parts(&self, new: &NewAnswer<'_>, parts: &[(Vec<u8>, Range<usize>)]) -> Result<(), StoreError> {
        for (key, range) in parts {
            let one = NewAnswer { key, bytes: new.bytes.get(range.clone()).unwrap_or_default(), ..*new };
            let header = header(&one, Request::holding_file(key).as_ref());
            self.put(&place(new.service, key), &header, one.bytes, true)?;
        }
        Ok(())
    }

    fn put_report(
        &self,
        of: &NewAnswer<'_>,
        report: &PageReport,
        imported: &Option<[Escaped; 2]>,
        replaces: bool,
    ) -> Result<bool, StoreError> {
        let key = key_of(report.identifier.as_bytes());
        let one = NewAnswer { key: &key, bytes: report.of(of.bytes), ..*of };
        let header = Header { imported: imported.clone(), ..header(&one, report.file.as_ref()) };
        self.put(&place(of.service, &key), &header, one.bytes, replaces)
    }

    /// Whether a report may replace the stored one: not one that is less, nor one that another file
    /// lists under the same identifier.
    fn may_replace(
        &self,
        service: &str,
        report: &PageReport,
        bytes: &[u8],
        is_less: impl Fn(&[u8], &[u8]) -> bool,
    ) -> Result<bool, StoreError> {
        let Some(found) = self.report(service, &report.identifier)? else { return Ok(true) };
        let is_of_another = found.file.is_some() && report.file.is_some() && found.file != report.file;
        let is_less = || found.body().is_ok_and(|stored| is_less(bytes, &stored));
        let is_shorter = (bytes.len() as u64) < found.length;
        Ok(!(is_of_another || is_shorter && is_less()))
    }

    /// Deletes the further pages of a list whose first page has changed: they would hide entries
    /// that moved between pages. The reports of the deleted pages stay.
    fn delete_further_pages(&self, place: &str) -> Result<(), StoreError> {
        let (folder, first) = place.rsplit_once('/').unwrap_or_default();
        let pages = format!("{folder}/{}-", first.split('-').next().unwrap_or_default());
        for name in self.stored(self.shelf.names(folder))? {
            if name.starts_with(&pages) && name != place {
                self.stored(self.shelf.remove(&name))?;
            }
        }
        Ok(())
    }

    /// The response that is stored under a key, from the service or imported.
    pub fn answer(&self, service: &str, key: &[u8]) -> Result<Option<Answer>, StoreError> {
        for of in [service, IMPORTED] {
            let Some((header, bytes)) = self.stored(self.shelf.load(&place(of, key)))? else { continue };
            let report = |identifier: &[u8]| {
                let identifier = Identifier::new(Untrusted::from(identifier))?;
                self.report(service, &identifier).ok()??.body().ok().map(|body| body.to_vec())
            };
            let bytes = if header.parts.is_empty() { bytes } else { join(&bytes, &header.parts, report) };
            let (received, body) = (moment(header.received), Body::in_memory(bytes));
            return Ok(Some(Answer { received, body, unkept: None }));
        }
        Ok(None)
    }

    /// The report of a sandbox, fetched from a service or imported, whichever is newer.
    pub fn report(&self, service: &str, identifier: &Identifier) -> Result<Option<StoredReport>, StoreError> {
        let key = key_of(identifier.as_bytes());
        let found = self.newest(service, vec![place(service, &key), place(IMPORTED, &key)])?;
        Ok(found.into_iter().find(|report| report.identifier == *identifier))
    }

    /// The report of every sandbox of a file, newest first.
    pub fn reports(&self, service: &str, file: &Sha256) -> Result<Vec<StoredReport>, StoreError> {
        let mut names = Vec::new();
        for (of, folder) in [service, IMPORTED].into_iter().flat_map(|of| [(of, Some(file)), (of, None)]) {
            names.extend(self.stored(self.shelf.names(&folder_of(of, folder)))?);
        }
        let mut found = self.newest(service, names)?;
        found.retain(|report| report.file.as_ref() == Some(file));
        Ok(found)
    }

    /// The reports of all files, also those of other services.
    pub fn every_report(&self, service: &str) -> Result<Vec<StoredReport>, StoreError> {
        self.newest(service, self.stored(self.shelf.names(REPORTS))?)
    }

    /// The newest report of each sandbox and service among these files, newest first.
    fn newest(&self, service: &str, names: Vec<String>) -> Result<Vec<StoredReport>, StoreError> {
        let mut newest = BTreeMap::<_, StoredReport>::new();
        for name in names.into_iter().filter(|name| name.contains("/behaviour-")) {
            let Some(header) = self.stored(self.shelf.header(&name))? else { continue };
            let key = header.key.bytes();
            let identifier = key.strip_prefix(REPORT).map(Untrusted::from).and_then(Identifier::new);
            let (Some(identifier), Some(of)) = (identifier, name.split('/').nth(1)) else { continue };
            let other = Some(of.to_owned()).filter(|of| of != service && of != IMPORTED);
            let report = StoredReport {
                file: header.file().or_else(|| identifier.parts().file),
                received: moment(header.received),
                imported: header.imported(),
                elsewhere: other.is_some().then_some(header.profile),
                length: header.length,
                shelf: Arc::clone(&self.shelf),
                identifier: identifier.clone(),
                name,
            };
            let known = newest.entry((other, identifier)).or_insert_with(|| report.clone());
            if known.received < report.received {
                *known = report;
            }
        }
        let mut found: Vec<_> = newest.into_values().collect();
        found.sort_by_key(|report| Reverse(report.received));
        Ok(found)
    }

    /// Stores an export of a colleague, and adds its file to the opened files of `service`. Returns
    /// whether it was stored: unless `replaces` is set, an earlier import stays.
    pub fn import(
        &self,
        service: &str,
        new: &NewAnswer<'_>,
        from: &Imported,
        reports: &[PageReport],
        replaces: bool,
    ) -> Result<bool, StoreError> {
        let new = NewAnswer { service: IMPORTED, ..*new };
        let imported = Some([from.from.as_bytes().into(), from.by.as_bytes().into()]);
        for report in reports {
            if !self.put_report(&new, report, &imported, replaces)? {
                return Ok(false);
            }
            if let Some(file) = &report.file {
                self.note_file(service, file, None, new.received)?;
            }
        }
        if let Some(Request::Behaviours { .. }) = Request::of_holding_key(new.key) {
            let (skeleton, parts) = split(new.bytes, reports);
            let header = Header { parts, length: skeleton.len() as u64, imported, ..header(&new, None) };
            self.put(&place(IMPORTED, new.key), &header, &skeleton, replaces)?;
        }
        Ok(true)
    }

    /// The time of the newest quarantined response to a request, if no other is in its place.
    pub fn quarantined(&self, service: &str, key: &[u8]) -> Result<Option<Timestamp>, StoreError> {
        self.newest_quarantined(service, &[place(service, key)])
    }

    /// The same for the list of a file's sandboxes, and its further pages.
    pub fn list_quarantined(&self, service: &str, file: &Sha256) -> Result<Option<Timestamp>, StoreError> {
        let folder = folder_of(service, Some(file));
        self.newest_quarantined(service, &["behaviours", "identifiers"].map(|list| format!("{folder}/{list}-")))
    }

    fn newest_quarantined(&self, service: &str, starts: &[String]) -> Result<Option<Timestamp>, StoreError> {
        let within = format!("{QUARANTINE}/{service}_");
        let names = self.stored(self.shelf.names(QUARANTINE))?;
        let found = names.iter().filter(|name| name.starts_with(&within)).filter_map(|name| unflat(name));
        let found = found.filter(|(place, _)| starts.iter().any(|start| place.starts_with(start)));
        Ok(found.filter(|(place, _)| self.shelf.size(place).is_none()).map(|(_, when)| when).max())
    }

    fn put(&self, name: &str, header: &Header, bytes: &[u8], replaces: bool) -> Result<bool, StoreError> {
        self.stored(self.shelf.write(name, header, bytes, replaces))
    }

    pub(super) fn stored<T>(&self, done: io::Result<T>) -> Result<T, StoreError> {
        done.map_err(|why| self.file_error(why))
    }
}

/// Whether a report has no attributes.
fn is_empty(report: &[u8]) -> bool {
    Raw::new(bare(report)).member("attributes").is_none_or(|attributes| attributes.members().next().is_none())
}

/// The key of a report.
pub(super) fn key_of(identifier: &[u8]) -> Vec<u8> {
    [REPORT, identifier].concat()
}

/// The file of a response that is not read yet.
fn incoming(service: &str, key: &[u8]) -> String {
    flat(INCOMING, &place(service, key), "")
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

/// Splits a page into its skeleton and the offsets of these reports, which are sorted by range.
pub(super) fn split(page: &[u8], reports: &[PageReport]) -> (Vec<u8>, Vec<(u64, Escaped)>) {
    let (mut skeleton, mut parts, mut at) = (Vec::new(), Vec::new(), 0);
    for report in reports {
        skeleton.extend_from_slice(page.get(at..report.range.start).unwrap_or_default());
        parts.push((skeleton.len() as u64, report.identifier.as_bytes().into()));
        at = report.range.end;
    }
    skeleton.extend_from_slice(page.get(at..).unwrap_or_default());
    (skeleton, parts)
}

/// Rebuilds a page; a report that is not stored becomes an entry with only its identifier.
pub(super) fn join(skeleton: &[u8], parts: &[(u64, Escaped)], stored: impl Fn(&[u8]) -> Option<Vec<u8>>) -> Vec<u8> {
    let (mut page, mut at) = (Vec::new(), 0);
    for (offset, identifier) in parts {
        let offset = usize::try_from(*offset).unwrap_or(usize::MAX);
        page.extend_from_slice(skeleton.get(at..offset).unwrap_or_default());
        let identifier = identifier.bytes();
        match stored(&identifier) {
            Some(report) => page.extend_from_slice(bare(&report)),
            None => page.append(&mut entry(&identifier)),
        }
        at = offset;
    }
    page.extend_from_slice(skeleton.get(at..).unwrap_or_default());
    page
}

/// A report without the envelope of a response to a request for it alone.
pub fn bare(report: &[u8]) -> &[u8] {
    let raw = Raw::new(report);
    match raw.member("data") {
        Some(data) if data.kind() == Kind::Object && raw.member("id").is_none() => data.bytes(),
        _ => raw.bytes(),
    }
}

/// A list entry that names its report without the content.
fn entry(identifier: &[u8]) -> Vec<u8> {
    let identifier = serde_json::Value::from(String::from_utf8_lossy(identifier));
    format!(r#"{{"id":{identifier},"type":"private_file_behaviour"}}"#).into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::Body;

    #[test]
    fn a_page_is_the_same_bytes_again() {
        let file = Sha256::parse(&"ab".repeat(32)).unwrap();
        let entry = |tag: &str, sandbox: &str| {
            format!(
                r#"{{"id":"{file}_{sandbox}-17","type":"private_file_behaviour","attributes":{{"tags":["{tag}"]}}}}"#
            )
        };
        let (first, second, other) = (entry("A", "Box"), entry("B", "Box"), entry("C", "Tub"));
        let text = format!(r#" {{"data":[{first}, {second},{{"id":"x"}},{other}],"meta":{{"cursor":"n"}}}} "#);
        let reports = PageReport::of_page(Page::of(&Body::in_memory(text.clone().into_bytes())).unwrap(), &file);
        let bytes: Vec<_> = reports.iter().map(|report| report.of(text.as_bytes())).collect();
        assert_eq!(bytes, [first.as_bytes(), other.as_bytes()], "of two with one name the first");
        let (skeleton, parts) = split(text.as_bytes(), &reports);
        let stored = |id: &[u8]| {
            let report = if id.ends_with(b"Box-17") { format!(r#"{{"data":{first}}}"#) } else { other.clone() };
            Some(report.into_bytes())
        };
        assert_eq!(join(&skeleton, &parts, stored), text.as_bytes());
        let without = join(&skeleton, &parts, |_| None);
        let page = Page::of(&Body::in_memory(without)).unwrap();
        let names: Vec<_> = page.entries.iter().map(|entry| entry.report.is_some()).collect();
        assert_eq!(names, [false, true, false, false]);
    }
}
