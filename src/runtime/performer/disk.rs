//! Store jobs, and reading and writing the user's files.

use super::values::use_values;
use super::{Performer, Task, read_rules, sentence, visible_text};
use crate::app::export_form::{SaveContent, SaveError, SaveJob};
use crate::app::overlays::stored::describe_deletion;
use crate::app::spending::counters::{LedgerPage, MAX_ENTRIES};
use crate::app::{FileEvent, FileJob, LoadedFile, LoadedReport, Message, StoreEvent, StoreJob};
use crate::export::file::{self, FileError};
use crate::export::{Export, ExportContext, ExportSource, PaidCall, Summary};
use crate::files;
use crate::gateway::{Gateway, GatewayError, hash_file};
use crate::quota::{Period, State};
use crate::report::body::BodyFiller;
use crate::report::identifier::{Hashes, Identifier, Sha256};
use crate::report::note::Note;
use crate::report::page::{Page, PageEnd, PageError};
use crate::report::{Body, Cancel, Deletion, GroupPage, StoredItem};
use crate::request::{GroupList, Request, ScanOptions, Submission};
use crate::store::{StoreError, StoredReport};
use crate::text::{self, Untrusted, bytes, count};
use jiff::Timestamp;
use std::collections::{BTreeSet, HashSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

const MAX_RECENT_FILES: u32 = 50;

/// The maximum size of a list of hashes in bytes: about a million hashes.
const MAX_LIST_BYTES: u64 = 64 * 1024 * 1024;

impl Performer {
    pub(super) fn use_store(&self, job: StoreJob) {
        let Some(gateway) = self.gateway.clone() else { return };
        let is_write = job.is_write();
        let failed = match job {
            StoreJob::WriteNote(..) => "The note could not be stored: ",
            StoreJob::Delete(_) => "It was deleted. What is left could not be read: ",
            StoreJob::DeleteNote(_) => "The note could not be deleted: ",
            StoreJob::RecordScan(..) => "The scan could not be recorded: ",
            _ => "",
        };
        self.spawn(move |work| {
            if let Err(error) = run(&gateway, work, job) {
                work.send(Message::Notice(format!("{failed}{}", visible_text(&error))));
            }
            if is_write {
                work.send(StoreEvent::WriteFinished);
            }
        });
    }

    pub(super) fn use_file(&self, job: FileJob) {
        let gateway = self.gateway.clone();
        self.spawn(move |work| match job {
            FileJob::Inspect(path) => inspect(work, path, gateway.as_deref()),
            FileJob::CountHashes(path) => {
                let list = files::read(&path, MAX_LIST_BYTES).map_err(|error| error.to_string());
                work.send(FileEvent::HashesCounted(path, list.and_then(|list| Hashes::of(&list))));
            }
            FileJob::Write { save, cancel } => {
                work.send(FileEvent::Written(write(save, gateway.as_deref(), &cancel)));
            }
            // The loop does this itself.
            FileJob::Copy(_) => {}
        });
    }
}

fn run(gateway: &Gateway, work: &Task, job: StoreJob) -> Result<(), StoreError> {
    let Gateway { store, service, .. } = gateway;
    let is_key = |file: &Sha256| gateway.client.has_key(file.as_str().as_bytes());
    match job {
        StoreJob::FindRecent => work.send(StoreEvent::RecentFiles(store.recent_files(service, MAX_RECENT_FILES)?)),
        StoreJob::LoadFile(file) => send_file(gateway, work, &file)?,
        StoreJob::LoadCompareFile(file) => {
            let (loaded, unread) = load_file(gateway, &file)?;
            work.send(StoreEvent::CompareFileLoaded(file, loaded));
            send_rest(gateway, work, unread)?;
        }
        StoreJob::Check(request) => {
            let since = gateway.stored(&request).ok().flatten().map(|stored| stored.received);
            let missing = gateway.missing_hashes(&request);
            let remarks = [gateway.missing(&request)?, gateway.published_before(&request)?];
            work.send(StoreEvent::Checked(request, since, missing));
            remarks.into_iter().flatten().for_each(|remark| work.send(Message::Notice(sentence(&remark))));
        }
        StoreJob::RecordFile(file) if is_key(&file) => work.send(Message::Notice(GatewayError::NamesKey.to_string())),
        StoreJob::RecordFile(file) => store.record_file(service, &file, None, gateway.now())?,
        StoreJob::RecordScan(file, ..) if is_key(&file) => {}
        StoreJob::RecordScan(file, scan) => store.record_scan(service, &file, scan.as_ref())?,
        StoreJob::WriteNote(note, ..) if gateway.client.has_key(note.text.as_bytes()) => {
            work.send(Message::Notice("The note was not stored: it contains the API key.".to_owned()));
        }
        StoreJob::WriteNote(note, known) => {
            let is_written = store.write_note(&note, known.as_ref())?;
            if is_written {
                gateway.record_unshared_note(&note)?;
            }
            work.send(StoreEvent::Notes(store.notes()?));
            if !is_written {
                work.send(StoreEvent::NoteConflict(note));
            }
        }
        StoreJob::DeleteNote(note) => {
            let is_gone = store.delete_note(&note.about, &note.text)?;
            let deletion = Note { text: Untrusted::default(), ..note };
            if is_gone {
                gateway.record_unshared_note(&deletion)?;
            }
            work.send(StoreEvent::Notes(store.notes()?));
            if !is_gone {
                work.send(StoreEvent::NoteConflict(deletion));
            }
        }
        StoreJob::LoadGroup(list) => {
            work.send(StoreEvent::Group(list, load_group(gateway, list)?, store.count_reports(service)?));
        }
        StoreJob::LoadInventory => work.send(StoreEvent::Inventory(inventory(gateway)?)),
        StoreJob::Delete(deletion) => {
            work.send(delete(gateway, deletion)?);
            work.send(StoreEvent::Notes(store.notes()?));
        }
        StoreJob::ReadLedger => work.send(StoreEvent::Ledger(ledger(gateway)?)),
        StoreJob::Values(job) => use_values(gateway, work, job)?,
        StoreJob::ReadUploads => work.send(StoreEvent::Uploads(store.uploads(gateway.payer()).unwrap_or_default())),
    }
    Ok(())
}

/// Sends what the store has of a file, then the rest of its large reports.
fn send_file(gateway: &Gateway, work: &Task, file: &Sha256) -> Result<(), StoreError> {
    let (loaded, unread) = load_file(gateway, file)?;
    let scan = gateway.store.pending_scan(&gateway.service, file)?;
    work.send(StoreEvent::FileLoaded(file.clone(), loaded, scan));
    let why = why_unlisted(gateway, file).unwrap_or_else(|error| Some(visible_text(&error)));
    why.into_iter().for_each(|why| work.send(Message::Notice(why)));
    work.send(StoreEvent::Notes(gateway.store.notes()?));
    send_rest(gateway, work, unread)
}

/// Explains why a list cannot be shown; listing the file again costs what the bar shows.
fn why_unlisted(gateway: &Gateway, file: &Sha256) -> Result<Option<String>, StoreError> {
    let list = gateway.list_of(file);
    if let Some(aside) = gateway.unreadable(&list)? {
        return Ok(Some(format!("{}: {}", file.short(), aside)));
    }
    let why = gateway.missing(&list)?;
    if why.is_some() { Ok(why) } else { gateway.missing(&Request::PrivateAnalyses { file: file.clone() }) }
}

fn ledger(gateway: &Gateway) -> Result<LedgerPage, StoreError> {
    let entries = gateway.store.entries(gateway.payer())?;
    let older = entries.len().saturating_sub(MAX_ENTRIES);
    let spent = |period| gateway.store.spent_in(gateway.payer(), period, gateway.now());
    Ok(LedgerPage {
        rows: entries.into_iter().skip(older).collect(),
        sums: [
            ("this session", gateway.store.spent(&gateway.session)?),
            ("today", spent(Period::Daily)?),
            ("this month", spent(Period::Monthly)?),
        ],
        older: older as u64,
    })
}

fn inventory(gateway: &Gateway) -> Result<Vec<StoredItem>, StoreError> {
    let mut things = gateway.store.inventory()?;
    if !gateway.store.is_persistent {
        things.iter_mut().for_each(|thing| thing.on_disk = 0);
    }
    Ok(things)
}

/// Deletes what the user confirmed; nothing if the store differs from that.
fn delete(gateway: &Gateway, deletion: Deletion) -> Result<Message, StoreError> {
    let message = match gateway.store.purge(&deletion) {
        Ok(true) => format!("Deleted: {}. The ledger stays.", describe_deletion(&deletion)),
        Ok(false) => "Nothing was deleted: the store changed before the confirmation.".to_owned(),
        Err(error) => {
            return Ok(Message::Notice(format!("Not all of it was deleted, and maybe none: {}", visible_text(&error))));
        }
    };
    Ok(StoreEvent::Deleted(message, inventory(gateway)?).into())
}

/// Loads a file's stored pages and reports, large ones as first rows with fillers; sends nothing.
pub fn load_file(
    gateway: &Gateway,
    file: &Sha256,
) -> Result<(LoadedFile, Vec<(StoredReport, BodyFiller)>), StoreError> {
    gateway.read_unread(Some(file))?;
    let pages = load_list(gateway, file)?;
    let (reports, unstored) = stored_reports_of(gateway, file, &pages)?;
    let mut absent = Vec::new();
    for identifier in unstored {
        if let Some(why) = gateway.missing(&Request::Behaviour { identifier: identifier.clone() })? {
            absent.push((identifier, sentence(&why)));
        }
    }
    // A report with a damaged file is no longer stored.
    let mut unread = Vec::new();
    let reports = reports.into_iter().filter_map(|stored| {
        let (body, rest) = stored.begin().ok()?;
        unread.extend(rest.map(|rest| (stored.clone(), rest)));
        let report = LoadedReport::new(stored.received, body, None);
        Some((stored.identifier, LoadedReport { imported: stored.imported, ..report }))
    });
    Ok((LoadedFile { reports: reports.collect(), pages, absent }, unread))
}

/// Returns a file's stored reports, and others named by its list pages. An identifier of unusual
/// shape does not name its file: only a page does.
pub(super) fn stored_reports_of(
    gateway: &Gateway,
    file: &Sha256,
    pages: &[(Timestamp, Page)],
) -> Result<(Vec<StoredReport>, Vec<Identifier>), StoreError> {
    let mut reports = gateway.store.reports(&gateway.service, file)?;
    let mut known: HashSet<_> = reports.iter().map(|report| report.identifier.clone()).collect();
    let mut unstored = Vec::new();
    for entry in pages.iter().flat_map(|(_, page)| &page.entries).filter(|entry| known.insert(entry.identifier.clone()))
    {
        match gateway.store.report(&gateway.service, &entry.identifier)?.filter(|found| found.is_of(file)) {
            Some(found) => reports.push(found),
            None => unstored.push(entry.identifier.clone()),
        }
    }
    Ok((reports, unstored))
}

/// Reads the rest of large reports; a damaged one is removed from the store.
fn send_rest(gateway: &Gateway, work: &Task, unread: Vec<(StoredReport, BodyFiller)>) -> Result<(), StoreError> {
    for (report, rest) in unread {
        let body = report.finish(rest);
        let StoredReport { identifier, received, .. } = report;
        work.send(match body {
            Ok(body) => StoreEvent::ReportRead(identifier, LoadedReport::new(received, body, None).verdict),
            Err(why) => {
                let message = format!("{} cannot be read: {why}", identifier.text().visible_cut(100));
                StoreEvent::Deleted(message, inventory(gateway)?)
            }
        });
    }
    Ok(())
}

/// Returns the stored list pages of a file.
pub fn load_list(gateway: &Gateway, file: &Sha256) -> Result<Vec<(Timestamp, Page)>, StoreError> {
    load_pages(gateway, gateway.list_of(file), |body| Page::of_file(body, file), |page| &page.end)
}

/// Returns the stored pages of a list of the group.
pub fn load_group(gateway: &Gateway, list: GroupList) -> Result<Vec<(Timestamp, GroupPage)>, StoreError> {
    load_pages(gateway, Request::GroupList { list, cursor: None }, GroupPage::of, |page| &page.end)
}

/// Returns the stored pages of a list, in an unbroken sequence from this one.
fn load_pages<T>(
    gateway: &Gateway,
    mut request: Request,
    parse: impl Fn(&Body) -> Result<T, PageError>,
    end: fn(&T) -> &PageEnd,
) -> Result<Vec<(Timestamp, T)>, StoreError> {
    let mut pages = Vec::new();
    let mut asked = HashSet::new();
    while asked.insert(request.clone()) {
        let Some(stored) = gateway.stored(&request)? else { break };
        // A stored page that is no longer readable ends the list.
        let Ok(page) = parse(&stored.body) else { break };
        let cursor = end(&page).cursor.clone();
        pages.push((stored.received, page));
        let Some(cursor) = cursor else { break };
        request = request.at_page(Some(cursor));
    }
    Ok(pages)
}

/// Adds the reports of a stored page, which are stored separately.
pub(super) fn load_reports(gateway: &Gateway, file: &Sha256, page: &mut Page) {
    for entry in page.entries.iter_mut().filter(|entry| entry.report.is_none()) {
        let stored = gateway.store.report(&gateway.service, &entry.identifier).ok().flatten();
        let stored = stored.filter(|stored| stored.is_of(file));
        if let Some((stored, body)) = stored.and_then(|stored| stored.body().ok().map(|body| (stored, body))) {
            let loaded = LoadedReport::new(stored.received, body, None);
            entry.report = Some(loaded.body);
            entry.verdict = loaded.verdict;
        }
    }
}

/// Hashes a file for its submission, and reads the store's data on it.
fn inspect(work: &Task, path: PathBuf, gateway: Option<&Gateway>) {
    let largest = gateway.map_or(0, |gateway| gateway.client.profile().largest_upload());
    let result = hash_file(&path, largest).map_err(|error| format!("{}: {}", text::path(&path), visible_text(&error)));
    let mut sent = None;
    let mut before = None;
    if let (Ok((file, size)), Some(gateway)) = (&result, gateway) {
        let file = file.clone();
        let options = ScanOptions::default();
        // An unreadable store does not stop it here: without a ledger, the gateway refuses it.
        before = gateway.scanned_before(&file).ok().flatten();
        let submission = Arc::new(Submission { path: path.clone(), file, size: *size, options, sent: None });
        sent = gateway.unanswered(&Request::PrivateScan { submission, to: None }, None).ok().flatten();
    }
    work.send(FileEvent::Inspected(path, result, sent, before));
}

/// Returns what is known of the files of reports, or of reports of unknown files.
pub fn export_context(gateway: &Gateway, sources: &[ExportSource]) -> Result<ExportContext, StoreError> {
    let fetched =
        sources.iter().filter(|source| source.received.is_some()).filter_map(|source| source.identifier.as_ref());
    let subject =
        |of: &Identifier| of.parts().file.map_or(of.as_bytes().into(), |file| file.as_str().as_bytes().to_vec());
    let mut calls = BTreeSet::new();
    let mut reports = 0_u64;
    for (subject, file) in fetched.map(|of| (subject(of), of.parts().file)).collect::<BTreeSet<_>>() {
        let pages = file.map_or_else(|| Ok(Vec::new()), |file| load_list(gateway, &file))?;
        let listed: HashSet<_> =
            pages.iter().flat_map(|(_, page)| &page.entries).map(|entry| &entry.identifier).collect();
        let total = pages.iter().rev().find_map(|(_, page)| page.end.count);
        reports = reports.saturating_add(total.unwrap_or(0).max(listed.len() as u64));
        calls.extend(gateway.store.calls_about(gateway.payer(), &subject)?.into_iter().map(|entry| {
            let is_certain = matches!(entry.state, State::Charged | State::Free | State::Unsent);
            PaidCall { sent: entry.at, what: entry.what, units: entry.counts_as, unit: entry.unit, is_certain }
        }));
    }
    Ok(ExportContext { paid: calls.into_iter().collect(), reports })
}

/// Writes a file; returns its path and size.
fn write(save: SaveJob, gateway: Option<&Gateway>, cancel: &Cancel) -> Result<String, SaveError> {
    let path = file::from_input(&save.path);
    let written = file::write(&path, save.may_replace, |out| match &save.what {
        SaveContent::Report { sources, what, format, rules } => {
            let rules = rules.clone().unwrap_or_else(|own| read_rules(own.as_deref()).0);
            let context = gateway.and_then(|gateway| export_context(gateway, sources).ok()).unwrap_or_default();
            let what = what.clone();
            format.write(&Export { sources, what, rules: &rules, context: &context, cancel }, out).map(Some)
        }
        SaveContent::Value { text, is_raw: true } => out.write_all(text.as_bytes()).map(|()| None),
        SaveContent::Value { text, is_raw: false } => writeln!(out, "{}", text.visible().disarmed()).map(|()| None),
        SaveContent::Stored(request) => {
            let stored = gateway.map(|gateway| gateway.stored(request)).transpose().map_err(io::Error::other)?;
            let stored = stored.flatten().ok_or_else(|| io::Error::other("the response is no longer stored"))?;
            out.write_all(&stored.body).map(|()| None)
        }
    });
    match written {
        Ok((length, summary)) => Ok(written_text(&path, length, summary.map(|summary| (summary, &save.what)))),
        Err(FileError::Exists(_)) => {
            let why = format!("{} exists already. Confirm to overwrite it.", text::path(&path));
            Err(SaveError::Exists(Box::new(save), why))
        }
        Err(error) => Err(SaveError::Failed(format!("{error}."))),
    }
}

fn written_text(path: &Path, length: u64, summary: Option<(Summary, &SaveContent)>) -> String {
    let whole = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let written = format!("Written: {}, {}", text::path(&whole), bytes(length));
    let Some((summary, saved)) = summary else { return format!("{written}, readable by you alone.") };
    let missing = summary.missing_label().map(|missing| format!(" {missing}.")).unwrap_or_default();
    let cut = if summary.cut > 0 { " The report stops in the middle; what came of it is there." } else { "" };
    let noun = match saved {
        SaveContent::Report { format, .. } if format.is_raw() => None,
        SaveContent::Report { format, what, .. } if format.is_of_indicators() || what.is_indicators() => {
            Some("indicator")
        }
        SaveContent::Report { format, .. } if format.is_to_share() => Some("technique"),
        _ => Some("row"),
    };
    let rows = noun.map(|noun| format!(", {}", count(summary.rows, noun))).unwrap_or_default();
    let objects = match summary.objects {
        0 => String::new(),
        objects => format!(" in {} (with observables and analyses)", count(objects, "STIX object")),
    };
    format!("{written}{rows}{objects}, readable by you alone.{missing}{cut}")
}
