//! Reads and writes the store, and files of the user.

use super::{Performer, Work, words};
use crate::app::away::{NotSaved, Save, Saved};
use crate::app::message::{HeldPage, HeldReport, Here};
use crate::app::spending::Deletion;
use crate::app::spending::counters::{LedgerLine, LedgerPage, SHOWN};
use crate::app::{FileEvent, FileJob, Message, StoreEvent, StoreJob};
use crate::export::file::{self, FileError};
use crate::export::{Job, Summary};
use crate::files;
use crate::gateway::{Gateway, GatewayError, look_at};
use crate::quota::{Period, Unit};
use crate::report::identifier::Sha256;
use crate::report::identifier::hashes::Hashes;
use crate::report::note::Note;
use crate::report::page::Page;
use crate::report::rules::Rules;
use crate::report::{Cancel, Holding};
use crate::request::{Listing, Request, ScanOptions, Submission};
use crate::runtime::Outbox;
use crate::store::{Keep, LedgerEntry, Purged, StoreError};
use crate::text::{Untrusted, bytes, count, said};
use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};
use std::slice::from_ref;
use std::sync::Arc;

/// Most earlier files that are offered.
const RECENT: u32 = 50;

/// The largest list of hashes that is read, in bytes: about a million of them.
const LARGEST_LIST: u64 = 64 * 1024 * 1024;

/// Reports the end of a write when it is dropped, however the write ends.
struct WriteGuard(Outbox);

impl Drop for WriteGuard {
    fn drop(&mut self) {
        self.0.send(StoreEvent::WriteFinished);
    }
}

impl Performer {
    pub(super) fn use_store(&self, job: StoreJob) {
        let Some(gateway) = self.gateway().cloned() else { return };
        let done = job.is_write().then(|| WriteGuard(self.outbox.clone()));
        let failed = match job {
            StoreJob::WriteNote { .. } => "The note could not be kept: ",
            StoreJob::DeleteNote(_) => "The note could not be deleted: ",
            StoreJob::RecordScan { .. } => "The scan is not remembered: ",
            _ => "",
        };
        self.spawn(move |work| {
            let _done = done;
            if let Err(error) = run(&gateway, work, job) {
                work.send(Message::Notice(format!("{failed}{}", words(&error))));
            }
        });
    }

    pub(super) fn use_file(&self, job: FileJob) {
        let (gateway, cancel) = (self.gateway().cloned(), self.stopped.clone());
        self.spawn(move |work| match job {
            FileJob::Inspect(path) => inspect(work, path, gateway.as_deref()),
            FileJob::CountHashes(path) => {
                let result = count_hashes(&path);
                work.send(FileEvent::HashesCounted { path, result });
            }
            FileJob::Write(save) => work.send(FileEvent::Written(write(save, gateway.as_deref(), &cancel))),
            // The session does this itself.
            FileJob::Copy(_) => {}
        });
    }
}

fn run(gateway: &Gateway, work: &Work, job: StoreJob) -> Result<(), StoreError> {
    let (store, service) = (&gateway.store, &gateway.service);
    let is_key = |file: &Sha256| gateway.client.has_key(file.as_str().as_bytes());
    match job {
        StoreJob::FindRecent => work.send(StoreEvent::RecentFiles(store.recent_files(service, RECENT)?)),
        StoreJob::LoadFile(file) => {
            let (pages, reports) = held_of(gateway, &file)?;
            let scan = store.pending_scan(service, &file)?;
            work.send(StoreEvent::FileLoaded { file: file.clone(), pages, reports, scan });
            warn_if_list_quarantined(gateway, work, &file);
            work.send(StoreEvent::Notes(store.notes()?));
        }
        StoreJob::LoadCompareFile(file) => {
            let (pages, reports) = held_of(gateway, &file)?;
            work.send(StoreEvent::CompareFileLoaded { file, pages, reports });
        }
        StoreJob::Check(request) => {
            let since = gateway.held(&request).ok().flatten().map(|held| held.received);
            work.send(StoreEvent::Checked { request, since });
        }
        StoreJob::RecordFile(file) if is_key(&file) => work.send(Message::Notice(GatewayError::NamesKey.to_string())),
        StoreJob::RecordFile(file) => store.note_file(service, &file, None, gateway.now())?,
        StoreJob::RecordScan { file, .. } if is_key(&file) => {}
        StoreJob::RecordScan { file, scan } => store.note_scan(service, &file, scan.as_ref())?,
        StoreJob::WriteNote { note, .. } if gateway.client.has_key(note.text.as_bytes()) => work.send(key_in_note()),
        StoreJob::WriteNote { note, known, was_held } => {
            let gone = deleted_meanwhile(gateway, &note, known.is_some(), was_held)?;
            let is_written = store.write_note(&note, known.as_ref())?;
            work.send(StoreEvent::Notes(store.notes()?));
            match gone {
                // One that another program wrote meanwhile is shown instead.
                _ if !is_written => work.send(StoreEvent::NoteConflict(note)),
                Some(words) => work.send(Message::Notice(words.to_owned())),
                None => {}
            }
        }
        StoreJob::DeleteNote(note) => {
            let is_gone = store.delete_note(&note.about, &note.text)?;
            work.send(StoreEvent::Notes(store.notes()?));
            if !is_gone {
                work.send(StoreEvent::NoteConflict(Note { text: Untrusted::from(""), ..note }));
            }
        }
        StoreJob::LoadInventory => work.send(StoreEvent::Inventory(inventory(gateway)?)),
        StoreJob::Delete(deletion) => {
            work.send(delete(gateway, deletion));
            work.send(StoreEvent::Notes(store.notes()?));
        }
        StoreJob::ReadLedger => work.send(StoreEvent::Ledger(ledger(gateway)?)),
        // Without the record a price is explained with less.
        StoreJob::ReadPriceRecord => {
            let record = store.price_record(gateway.whose()).unwrap_or_default().into_iter();
            let record = record.map(|(name, seen)| (name, (seen.confirmed, seen.contradicted))).collect();
            let uploads = store.uploads(gateway.whose()).unwrap_or_default();
            work.send(StoreEvent::PriceRecord { record, uploads });
        }
    }
    Ok(())
}

fn key_in_note() -> Message {
    Message::Notice("The note was not kept: it has the API key in it.".to_owned())
}

/// The warning for a note whose report, or whose earlier text, another program has deleted.
fn deleted_meanwhile(
    gateway: &Gateway,
    note: &Note,
    is_edit: bool,
    was_held: bool,
) -> Result<Option<&'static str>, StoreError> {
    let store = &gateway.store;
    let is_noted = store.notes()?.iter().any(|standing| standing.about == note.about);
    let is_stored = store.report(&gateway.service, &note.about.identifier)?.is_some();
    Ok(match (is_noted, is_stored) {
        (false, false) if is_edit || was_held => {
            Some("The report was deleted meanwhile. The note is kept all the same; behaview held deletes it.")
        }
        (false, true) if is_edit => {
            Some("The note here was deleted meanwhile: what is in the line is kept as a new one.")
        }
        _ => None,
    })
}

/// Says of a list that cannot be read that it was there: to list the file again costs what the bar says.
fn warn_if_list_quarantined(gateway: &Gateway, work: &Work, file: &Sha256) {
    let said = match gateway.list_quarantined(file) {
        Ok(Some(aside)) => Some(format!("{}: {}", file.short(), aside)),
        Ok(None) => {
            let listing = gateway.client.profile().listing;
            let list = Request::Behaviours { file: file.clone(), listing, cursor: None };
            gateway.missing(&list).unwrap_or_else(|error| Some(words(&error)))
        }
        Err(error) => Some(words(&error)),
    };
    said.into_iter().for_each(|said| work.send(Message::Notice(said)));
}

fn ledger(gateway: &Gateway) -> Result<LedgerPage, StoreError> {
    let line = |entry: LedgerEntry| LedgerLine {
        at: entry.at,
        counts_as: entry.careful(),
        is_open: entry.is_open(),
        unit: Unit::named(&entry.unit),
        what: said(entry.what).to_string(),
        predicted_min: entry.predicted_min,
        predicted_max: entry.predicted_max,
        state: entry.state.name(),
        counted: entry.counted,
    };
    let (store, whose) = (&gateway.store, gateway.whose());
    let entries = store.entries(whose)?;
    let older = entries.len().saturating_sub(SHOWN);
    Ok(LedgerPage {
        session: gateway.store.spent(&gateway.session)?,
        today: gateway.spent_in_by_unit(Period::Daily)?,
        month: gateway.spent_in_by_unit(Period::Monthly)?,
        older: older as u64,
        lines: entries.into_iter().skip(older).map(line).collect(),
    })
}

/// Everything that is stored, as the screen shows it.
fn inventory(gateway: &Gateway) -> Result<Vec<Holding>, StoreError> {
    let on_disk = |thing: Holding| match gateway.store.keep {
        Keep::Everything => thing,
        Keep::Nothing => Holding { on_disk: 0, ..thing },
    };
    Ok(gateway.store.inventory()?.into_iter().map(on_disk).collect())
}

/// Deletes what the user confirmed, and nothing where the store differs from that.
fn delete(gateway: &Gateway, deletion: Deletion) -> Message {
    let purged = match gateway.store.purge(from_ref(&deletion.what), None, &|held| deletion.is_still(held)) {
        Ok(purged) => purged,
        Err(error) => {
            return Message::Notice(format!("Not all of it was deleted, and maybe none: {}", words(&error)));
        }
    };
    // The deletion holds, even if reading afterwards fails.
    let failed = |error| format!(" What is left could not be read: {}", words(&error));
    let words = purged.map(|purged| {
        let remarks = gateway.store.remains(from_ref(&deletion.what));
        let remarks = remarks.map(|remarks| remarks.iter().map(|remark| format!(" {remark}.")).collect::<String>());
        gone(purged, &deletion) + &remarks.unwrap_or_else(failed)
    });
    match (words, inventory(gateway)) {
        (Some(words), Ok(lines)) => StoreEvent::Deleted { words, lines }.into(),
        (None, Ok(lines)) => StoreEvent::DeleteConflict { what: deletion.what, lines }.into(),
        (words, Err(error)) => Message::Notice(words.unwrap_or("Nothing was deleted.".to_owned()) + &failed(error)),
    }
}

fn gone(purged: Purged, deletion: &Deletion) -> String {
    let notes = if purged.notes > 0 { format!(", {}", count(purged.notes, "note")) } else { String::new() };
    let what = match purged.reports {
        0 if deletion.bytes() > 0 => count(deletion.things.len() as u64, "answer"),
        reports => count(reports, "report"),
    };
    format!("Deleted: {what}, {}{notes}. The ledger stays.", bytes(purged.bytes))
}

/// Loads a file's stored list pages and reports; no request is sent.
pub fn held_of(gateway: &Gateway, file: &Sha256) -> Result<(Vec<HeldPage>, Vec<HeldReport>), StoreError> {
    let listing = gateway.client.profile().listing;
    // A run that was killed may have left a report that is not read yet.
    gateway.read_unread()?;
    let pages = held_pages(gateway, file, listing)?;
    let mut reports = gateway.store.reports(&gateway.service, file)?;
    let mut known: HashSet<_> = reports.iter().map(|report| report.identifier.clone()).collect();
    let entries = pages.iter().flat_map(|held| &held.page.entries).map(|entry| &entry.identifier);
    let others: Vec<_> = entries.filter(|identifier| known.insert((*identifier).clone())).collect();
    for identifier in others {
        reports.extend(gateway.store.report(&gateway.service, identifier)?);
    }
    // One whose file is damaged is not stored any more.
    let reports = reports.into_iter().filter_map(|stored| {
        let body = stored.body().ok()?;
        let here = Here::new(stored.received, body, None);
        Some(HeldReport { identifier: stored.identifier, here, imported: stored.imported })
    });
    Ok((pages, reports.collect()))
}

/// The stored list pages of a file, as far as each leads to the next.
pub fn held_pages(gateway: &Gateway, file: &Sha256, listing: Listing) -> Result<Vec<HeldPage>, StoreError> {
    let (mut pages, mut cursor, mut asked) = (Vec::new(), None, HashSet::new());
    while asked.insert(cursor.clone()) {
        let request = Request::Behaviours { file: file.clone(), listing, cursor: cursor.clone() };
        let Some(held) = gateway.held(&request)? else { break };
        // A stored page that is no longer readable ends the list.
        let Ok(page) = Page::of_file(&held.body, file) else { break };
        cursor = page.cursor.clone();
        pages.push(HeldPage { received: held.received, page, unkept: None });
        if cursor.is_none() {
            break;
        }
    }
    Ok(pages)
}

/// Hashes a file for its submission, and reads what the store knows of it.
fn inspect(work: &Work, path: PathBuf, gateway: Option<&Gateway>) {
    let largest = gateway.map_or(0, |gateway| gateway.client.profile().largest_upload());
    let result = look_at(&path, largest).map_err(|error| format!("{}: {}", file::shown(&path), words(&error)));
    let found = result.as_ref().ok().zip(gateway);
    let before = found.map(|((file, size), gateway)| {
        // An unreadable store does not keep the user from sending: then the call cannot be written down either.
        let before = gateway.scanned_before(file).ok().flatten();
        let (file, options) = (file.clone(), ScanOptions::default());
        let submission = Arc::new(Submission { path: path.clone(), file, size: *size, options, sent: None });
        (gateway.unanswered(&Request::PrivateScan { submission, to: None }).ok().flatten(), before)
    });
    let (sent, before) = before.unwrap_or_default();
    work.send(FileEvent::Inspected { path, result, sent, before });
}

/// The hashes that a file lists; one that is larger than any list is not read.
fn count_hashes(path: &Path) -> Result<Hashes, String> {
    Hashes::of(&files::read(path, LARGEST_LIST).map_err(|error| error.to_string())?)
}

/// Writes a file; returns where it is and how large.
fn write(save: Save, gateway: Option<&Gateway>, cancel: &Cancel) -> Result<String, NotSaved> {
    let path = file::typed(&save.path);
    let written = file::write(&path, save.may_replace, |out| match &save.what {
        Saved::Report { sources, what, format, rules } => {
            let rules = rules.clone().unwrap_or_else(Rules::shipped);
            format.write(&Job { sources, what: what.clone(), rules: &rules, cancel }, out).map(Some)
        }
        Saved::Value { text, is_raw: true } => out.write_all(text.as_bytes()).map(|()| None),
        Saved::Value { text, is_raw: false } => writeln!(out, "{}", text.visible().disarmed()).map(|()| None),
        Saved::Held(request) => {
            let held = gateway.map(|gateway| gateway.held(request)).transpose().map_err(io::Error::other)?;
            let held = held.flatten().ok_or_else(|| io::Error::other("it is not held any more"))?;
            out.write_all(&held.body).map(|()| None)
        }
    });
    match written {
        Ok((length, summary)) => Ok(written_words(&path, length, summary)),
        Err(FileError::Exists(_)) => {
            let why = format!("{} is there already. A yes writes over it.", file::shown(&path));
            Err(NotSaved::Exists(Box::new(save), why))
        }
        Err(error) => Err(NotSaved::Failed(format!("{error}."))),
    }
}

fn written_words(path: &Path, length: u64, summary: Option<Summary>) -> String {
    let whole = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let rows = summary.map(|summary| format!(", {}", count(summary.rows, "entry"))).unwrap_or_default();
    let cut = match summary {
        Some(summary) if summary.cut > 0 => " The report stops in the middle; what came of it is there.",
        _ => "",
    };
    let missing = summary.and_then(|summary| summary.missing_words());
    let missing = missing.map(|words| format!(" {words}.")).unwrap_or_default();
    format!("Written: {}, {}{rows}, readable by you alone.{missing}{cut}", file::shown(&whole), bytes(length))
}
