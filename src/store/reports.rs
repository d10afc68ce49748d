//! Responses, one file each: stored on receipt, moved once read, and found by their request.

use super::records::Store;
use super::report_files::{
    EscapedBytes, IMPORTED, REPORTS, ReportFiles, ResponseHeader, UNREAD, folder_of, moment, place, place_of_unread,
    unread,
};
use super::{Result, StoreError};
use crate::report::body::{BodyFiller, LARGE, WINDOW};
use crate::report::identifier::{Identifier, Sha256};
use crate::report::json::{Kind, Raw};
use crate::report::page::{Page, is_abstract};
use crate::report::{Body, ImportOrigin};
use crate::request::Request;
use crate::text::Untrusted;
use jiff::Timestamp;
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::io;
use std::ops::Range;
use std::sync::Arc;

/// Start of the key of a report; its identifier follows.
const REPORT: &[u8] = b"behaviour ";

/// A response as received.
#[derive(Debug, Clone, Copy)]
pub struct NewResponse<'a> {
    pub service: &'a str,
    /// Name of the profile that sent the request.
    pub profile: &'a str,
    pub key: &'a [u8],
    pub received: Timestamp,
    pub bytes: &'a [u8],
    pub imported: Option<&'a ImportOrigin>,
}

/// A response that was paid for, or was free.
#[derive(Debug, Clone)]
pub struct StoredResponse {
    pub received: Timestamp,
    pub body: Body,
    /// Why it may be lost when the program ends, or incomplete: text that follows its name.
    pub remark: Option<String>,
    /// Whether it lacks some of the requested hashes, each of which has a call of its own.
    pub is_partial: bool,
}

/// A report of the store with its origin.
#[derive(Clone)]
pub struct StoredReport {
    pub identifier: Identifier,
    pub file: Option<Sha256>,
    pub received: Timestamp,
    pub imported: Option<ImportOrigin>,
    /// The profile that fetched it, if from another service.
    pub elsewhere: Option<String>,
    length: u64,
    name: String,
    report_files: Arc<ReportFiles>,
}

/// A part of a response that has a place of its own: a report, alone or in a list page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResponsePart {
    pub key: Vec<u8>,
    /// Its file, if known.
    pub file: Option<Sha256>,
    pub(crate) range: Range<usize>,
}

impl StoredResponse {
    pub fn new(received: Timestamp, body: Body) -> Self {
        Self { received, body, remark: None, is_partial: false }
    }
}

impl StoredReport {
    /// Whether no other file lists it: an identifier of unusual shape does not name its file.
    pub fn is_of(&self, file: &Sha256) -> bool {
        self.file.as_ref().is_none_or(|of| of == file)
    }

    /// Returns its bytes. Fails if its file was deleted or damaged meanwhile.
    pub fn body(&self) -> io::Result<Body> {
        self.bytes().map(Body::in_memory)
    }

    /// Returns the unpacked bytes; an error if they are damaged or were deleted.
    pub fn bytes(&self) -> io::Result<Vec<u8>> {
        self.report_files.load(&self.name)?.map(|(_, bytes)| bytes).ok_or_else(deleted_error)
    }

    /// Loads [`Self::body`]; of a large report only the first bytes, and a filler for the rest.
    pub fn begin(&self) -> io::Result<(Body, Option<BodyFiller>)> {
        if self.length <= LARGE {
            return Ok((self.body()?, None));
        }
        let (body, rest) = Body::begun(self.report_files.first(&self.name, WINDOW)?.ok_or_else(deleted_error)?.1);
        Ok((body, Some(rest)))
    }

    /// Reads the bytes that [`Self::begin`] has left.
    pub fn finish(&self, rest: BodyFiller) -> io::Result<Body> {
        self.bytes().map(|bytes| rest.finish(bytes))
    }
}

fn deleted_error() -> io::Error {
    io::Error::new(io::ErrorKind::NotFound, "it was deleted, or its file is damaged")
}

impl ResponsePart {
    /// Returns a report within these bytes of a response.
    pub fn report(identifier: &Identifier, file: Option<Sha256>, range: Range<usize>) -> Self {
        Self { key: key_of(identifier.as_bytes()), file, range }
    }

    /// Returns the reports of a page; of duplicates, the first.
    pub fn of_page(page: Page, file: &Sha256) -> Vec<Self> {
        let mut known = HashSet::new();
        let reports = page.without_others(file).entries.into_iter().filter_map(|entry| {
            entry.report?;
            let is_first = known.insert(entry.identifier.clone());
            is_first.then(|| Self::report(&entry.identifier, Some(file.clone()), entry.range))
        });
        reports.collect()
    }

    pub fn identifier(&self) -> Option<Identifier> {
        identifier_of(&self.key)
    }

    pub(crate) fn of<'a>(&self, response: &'a [u8]) -> &'a [u8] {
        response.get(self.range.clone()).unwrap_or_default()
    }
}

impl Store {
    /// Stores the bytes of a response before they are read.
    pub fn write_response(&self, new: &NewResponse<'_>) -> Result<()> {
        // An identifier of unusual shape does not name its file; the list that contained it did.
        let known = || self.report_files.header(&place(new.service, new.key)).ok().flatten()?.file();
        let file = Request::file_of_key(new.key).or_else(known);
        self.stored(self.report_files.write(&unread_name(new), &header(new, file.as_ref()), new.bytes, true)).map(drop)
    }

    /// Reads the unread responses perhaps about a file, oldest first, and moves the usable ones.
    pub fn read_again(
        &self,
        service: &str,
        file: Option<&Sha256>,
        find_parts: impl Fn(&NewResponse<'_>) -> Option<Vec<ResponsePart>>,
    ) -> Result<()> {
        for (name, place, received) in self.find_unread(&[file, None].map(|file| folder_of(service, file) + "/"))? {
            let newer =
                self.stored(self.report_files.header(&place))?.filter(|stored| moment(stored.received) > received);
            let unread = if newer.is_none() { self.stored(self.report_files.load(&name))? } else { None };
            let Some((ResponseHeader { key, profile, .. }, bytes)) = unread else { continue };
            let key = &key.bytes();
            let new = NewResponse { service, profile: &profile, key, received, bytes: &bytes, imported: None };
            if let Some(parts) = find_parts(&new) {
                self.move_read(&new, &parts, true)?;
            }
        }
        Ok(())
    }

    /// Name, place and time of the unread files whose places begin like one of these, oldest first.
    fn find_unread(&self, starts: &[String]) -> Result<Vec<(String, String, Timestamp)>> {
        let read = |name: String| place_of_unread(&name).map(|(place, when)| (name, place, when));
        let mut found: Vec<_> = self.stored(self.report_files.names(UNREAD))?.into_iter().filter_map(read).collect();
        found.retain(|(_, place, _)| starts.iter().any(|start| place.starts_with(start)));
        found.sort_by_key(|(.., when)| *when);
        Ok(found)
    }

    /// Moves a response and its parts to their places, unless it is an abstract of a stored report.
    /// Without `replaces`, as with a colleague's copy, a stored part stays as it is.
    pub fn move_read(&self, new: &NewResponse<'_>, parts: &[ResponsePart], replaces: bool) -> Result<()> {
        let mut is_usable = true;
        let mut separate = parts.to_vec();
        for part in parts {
            match (part.key == new.key, self.may_replace(new, part)?) {
                (true, may_replace) => is_usable &= may_replace == Some(true),
                (false, Some(true)) => drop(self.put_part(new, part, replaces)?),
                (false, Some(false)) => {}
                (false, None) => separate.retain(|other| other != part),
            }
        }
        let unread = unread_name(new);
        self.stored(match Request::of_storage_key(new.key) {
            _ if !is_usable => Ok(()),
            Some(Request::Behaviours { .. }) => {
                self.put_page(new, &separate, true)?;
                self.report_files.remove(&unread)
            }
            _ => self.report_files.rename(&unread, &place(new.service, new.key)),
        })
    }

    /// Stores a part; returns whether it did. Unless `replaces` is set, a stored one stays.
    fn put_part(&self, of: &NewResponse<'_>, part: &ResponsePart, replaces: bool) -> Result<bool> {
        let one = NewResponse { key: &part.key, bytes: part.of(of.bytes), ..*of };
        let header = header(&one, part.file.as_ref());
        self.stored(self.report_files.write(&place(of.service, &part.key), &header, one.bytes, replaces))
    }

    /// Stores a list page with the identifiers of its reports, which have places of their own.
    fn put_page(&self, new: &NewResponse<'_>, reports: &[ResponsePart], replaces: bool) -> Result<()> {
        let place = place(new.service, new.key);
        let page = without_reports(new.bytes, reports);
        let is_same = || Ok(self.stored(self.report_files.load(&place))?.is_some_and(|(_, before)| before == page));
        let is_first = matches!(Request::of_storage_key(new.key), Some(Request::Behaviours { cursor: None, .. }));
        if is_first && new.imported.is_none() && !is_same()? {
            self.delete_further_pages(&place)?;
        }
        let identifiers = reports.iter().filter_map(|report| report.key.strip_prefix(REPORT));
        let new = NewResponse { bytes: &page, ..*new };
        let header = ResponseHeader { reports: identifiers.map(EscapedBytes::from).collect(), ..header(&new, None) };
        self.stored(self.report_files.write(&place, &header, &page, replaces)).map(drop)
    }

    /// Returns whether a part may replace the stored one: an abstract of a report may not. `None`
    /// if another file lists it under the same identifier: then the part stays within its page.
    fn may_replace(&self, new: &NewResponse<'_>, part: &ResponsePart) -> Result<Option<bool>> {
        let Some(identifier) = part.identifier() else { return Ok(Some(true)) };
        let Some(found) = self.report(new.service, &identifier)? else { return Ok(Some(true)) };
        if part.file.as_ref().is_some_and(|file| !found.is_of(file)) {
            return Ok(None);
        }
        let bytes = part.of(new.bytes);
        let is_less = || found.body().is_ok_and(|stored| is_abstract(bytes, &stored));
        Ok(Some((bytes.len() as u64) >= found.length || !is_less()))
    }

    /// Deletes further pages of a list whose first changed, as entries have moved; reports stay.
    fn delete_further_pages(&self, place: &str) -> Result<()> {
        let (folder, first) = place.rsplit_once('/').unwrap_or_default();
        let pages = format!("{folder}/{}-", first.split('-').next().unwrap_or_default());
        for name in self.stored(self.report_files.names(folder))? {
            if name.starts_with(&pages) && name != place {
                self.stored(self.report_files.remove(&name))?;
            }
        }
        Ok(())
    }

    /// Returns whether a response is stored under a key, by its name alone: it may be damaged.
    pub fn is_stored(&self, service: &str, key: &[u8]) -> bool {
        [service, IMPORTED].iter().any(|of| self.report_files.size(&place(of, key)).is_some())
    }

    /// Returns the response under a key, from service or import; a list page without its reports.
    pub fn response(&self, service: &str, key: &[u8]) -> Result<Option<StoredResponse>> {
        for of in [service, IMPORTED] {
            if let Some((header, bytes)) = self.stored(self.report_files.load(&place(of, key)))? {
                return Ok(Some(StoredResponse::new(moment(header.received), Body::in_memory(bytes))));
            }
        }
        Ok(None)
    }

    /// Returns the report of a sandbox, fetched from a service or imported, whichever is newer.
    pub fn report(&self, service: &str, identifier: &Identifier) -> Result<Option<StoredReport>> {
        let key = key_of(identifier.as_bytes());
        let found = self.newest(service, vec![place(service, &key), place(IMPORTED, &key)])?;
        Ok(found.into_iter().find(|report| report.identifier == *identifier))
    }

    /// Returns the report of every sandbox of a file, newest first.
    pub fn reports(&self, service: &str, file: &Sha256) -> Result<Vec<StoredReport>> {
        let mut names = Vec::new();
        for of in [service, IMPORTED] {
            names.extend(self.stored(self.report_files.names(&folder_of(of, Some(file))))?);
            names.extend(self.stored(self.report_files.names(&folder_of(of, None)))?);
        }
        let mut found = self.newest(service, names)?;
        found.retain(|report| report.file.as_ref() == Some(file));
        Ok(found)
    }

    /// Counts each file's stored reports by their names alone: some may be damaged.
    pub fn count_reports(&self, service: &str) -> Result<HashMap<Sha256, u64>> {
        let mut known = HashSet::new();
        for of in [service, IMPORTED] {
            let names = self.stored(self.report_files.names(&format!("{REPORTS}/{of}")))?;
            known.extend(names.iter().filter_map(|name| {
                let (folder, name) = name.rsplit_once('/')?;
                let file = Sha256::parse(folder.rsplit('/').next()?)?;
                name.starts_with("behaviour-").then(|| (file, name.to_owned()))
            }));
        }
        let mut counts = HashMap::<_, u64>::new();
        known.into_iter().for_each(|(file, _)| *counts.entry(file).or_default() += 1);
        Ok(counts)
    }

    /// Returns the reports of all files, also those of other services.
    pub fn every_report(&self, service: &str) -> Result<Vec<StoredReport>> {
        self.newest(service, self.stored(self.report_files.names(REPORTS))?)
    }

    /// Returns the newest report of each sandbox and service among these files, newest first.
    fn newest(&self, service: &str, names: Vec<String>) -> Result<Vec<StoredReport>> {
        let mut newest = BTreeMap::<_, StoredReport>::new();
        for name in names.into_iter().filter(|name| name.contains("/behaviour-")) {
            let Some(header) = self.stored(self.report_files.header(&name))? else { continue };
            let identifier = identifier_of(&header.key.bytes());
            let (Some(identifier), Some(of)) = (identifier, name.split('/').nth(1)) else { continue };
            let other = Some(of.to_owned()).filter(|of| of != service && of != IMPORTED);
            let report = StoredReport {
                file: header.file().or_else(|| identifier.parts().file),
                received: moment(header.received),
                imported: header.imported(),
                elsewhere: other.is_some().then_some(header.profile),
                length: header.length,
                report_files: Arc::clone(&self.report_files),
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

    /// Stores a colleague's export; returns whether. Without `replaces` an earlier one stays.
    pub fn import(&self, new: &NewResponse<'_>, reports: &[ResponsePart], replaces: bool) -> Result<bool> {
        for report in reports {
            if !self.put_part(new, report, replaces)? {
                return Ok(false);
            }
        }
        if let Some(Request::Behaviours { .. }) = Request::of_storage_key(new.key) {
            self.put_page(new, reports, replaces)?;
        }
        Ok(true)
    }

    /// Returns the time of the newest unread response without a place, to a request or its pages.
    pub fn unreadable(&self, service: &str, key: &[u8]) -> Result<Option<Timestamp>> {
        let mut found = self.find_unread(&match Request::of_storage_key(key) {
            Some(Request::Behaviours { file, .. }) => {
                ["behaviours", "identifiers"].map(|list| format!("{}/{list}-", folder_of(service, Some(&file)))).into()
            }
            _ => vec![place(service, key)],
        })?;
        found.retain(|(_, place, _)| self.report_files.size(place).is_none());
        Ok(found.pop().map(|(.., when)| when))
    }

    pub(super) fn stored<T>(&self, done: io::Result<T>) -> Result<T> {
        done.map_err(|why| StoreError::File { path: self.folder.clone(), why })
    }
}

pub(super) fn key_of(identifier: &[u8]) -> Vec<u8> {
    [REPORT, identifier].concat()
}

pub(super) fn identifier_of(key: &[u8]) -> Option<Identifier> {
    key.strip_prefix(REPORT).map(Untrusted::from).and_then(Identifier::new)
}

fn unread_name(new: &NewResponse<'_>) -> String {
    unread(&place(new.service, new.key), new.received)
}

fn header(new: &NewResponse<'_>, file: Option<&Sha256>) -> ResponseHeader {
    ResponseHeader {
        key: new.key.into(),
        profile: new.profile.to_owned(),
        file: file.map(|file| file.as_str().to_owned()),
        received: new.received.as_millisecond(),
        length: new.bytes.len() as u64,
        imported: new.imported.map(|imported| [imported.from.as_bytes().into(), imported.by.as_bytes().into()]),
        reports: Vec::new(),
    }
}

/// Replaces these reports in a page, sorted by range, by their identifiers.
fn without_reports(page: &[u8], reports: &[ResponsePart]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut at = 0;
    for report in reports {
        let mut members = Raw::new(report.of(page)).pairs();
        let identifier = members.find(|(name, _)| matches!(name.content(), b"id" | b"_id"));
        bytes.extend_from_slice(page.get(at..report.range.start).unwrap_or_default());
        bytes.extend_from_slice(br#"{"id":"#);
        bytes.extend_from_slice(identifier.map_or(b"null", |(_, identifier)| identifier.bytes()));
        bytes.extend_from_slice(br#","type":"private_file_behaviour"}"#);
        at = report.range.end;
    }
    bytes.extend_from_slice(page.get(at..).unwrap_or_default());
    bytes
}

/// Returns a report without the envelope of a response to a request for it alone.
pub fn bare(report: &[u8]) -> &[u8] {
    let raw = Raw::new(report);
    match raw.member("data") {
        Some(data) if data.kind() == Kind::Object && raw.member("id").is_none() => data.bytes(),
        _ => raw.bytes(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::Body;

    #[test]
    fn a_page_is_stored_without_its_reports() {
        let file = Sha256::parse(&"ab".repeat(32)).unwrap();
        let entry = |tag: &str, sandbox: &str| {
            format!(
                r#"{{"_id":"{file}_{sandbox}\u0021-17","type":"private_file_behaviour","attributes":{{"tags":["{tag}"]}}}}"#
            )
        };
        let first = entry("A", "Box");
        let second = entry("B", "Box");
        let other = entry("C", "Tub");
        let text = format!(r#" {{"data":[{first}, {second},{{"id":"x"}},{other}],"meta":{{"cursor":"n"}}}} "#);
        let reports = ResponsePart::of_page(Page::of(&Body::in_memory(text.clone().into_bytes())).unwrap(), &file);
        let bytes: Vec<_> = reports.iter().map(|report| report.of(text.as_bytes())).collect();
        assert_eq!(bytes, [first.as_bytes(), other.as_bytes()], "of two with one name the first");
        let bare = |sandbox| format!(r#"{{"id":"{file}_{sandbox}\u0021-17","type":"private_file_behaviour"}}"#);
        let wanted = text.replace(&first, &bare("Box")).replace(&other, &bare("Tub"));
        assert_eq!(String::from_utf8(without_reports(text.as_bytes(), &reports)).unwrap(), wanted);
    }
}
