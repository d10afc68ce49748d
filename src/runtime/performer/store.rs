//! Reads and writes the store: reports, notes, the ledger.

use super::{Performer, Work, WriteGuard, words};
use crate::app::spending::confirm::Deletion;
use crate::app::spending::counters::{LedgerLine, LedgerPage, SHOWN};
use crate::app::{Message, StoreEvent, StoreJob};
use crate::gateway::{Gateway, GatewayError};
use crate::quota::{Period, Unit};
use crate::report::Holding;
use crate::report::identifier::Sha256;
use crate::report::note::Note;
use crate::request::Request;
use crate::runtime::recall::held_of;
use crate::store::{Keep, LedgerEntry, Purged, StoreError};
use crate::text::{Untrusted, bytes, count, said};
use std::slice::from_ref;

/// Most earlier files that are offered.
const RECENT: u32 = 50;

/// The warning for a note whose report, or whose earlier note, another program
fn deleted_meanwhile(
    gateway: &Gateway,
    note: &Note,
    known: Option<&Untrusted>,
    was_held: bool,
) -> Result<Option<&'static str>, StoreError> {
    let identifier = &note.about.identifier;
    if gateway.store().notes()?.iter().any(|standing| standing.about == note.about) {
        return Ok(None);
    }
    Ok(Some(match (gateway.store().report(gateway.service(), identifier)?, known) {
        (None, None) if was_held => {
            "The report was deleted meanwhile, and is not held any more. The note is kept all the same; behaview held deletes it."
        }
        (_, None) => return Ok(None),
        (Some(_), Some(_)) => "The note here was deleted meanwhile: what is in the line is kept as a new one.",
        (None, Some(_)) => {
            "The note here was deleted meanwhile, and its report is not held any more. What is in the line is kept all the \
             same; behaview held deletes it."
        }
    }))
}

impl Performer {
    pub(super) fn use_store(&self, job: StoreJob) {
        let done = job.is_write().then(|| WriteGuard(self.outbox.clone()));
        self.with_gate(move |gateway, work| {
            let _done = done;
            run(gateway, work, job);
        });
    }
}

fn run(gateway: &Gateway, work: &Work, job: StoreJob) {
    match job {
        StoreJob::FindRecent => send_or_warn(work, recent(gateway)),
        StoreJob::LoadFile(file) => {
            send_or_warn(work, load(gateway, &file));
            warn_if_list_quarantined(gateway, work, &file);
            work.send(notes(gateway));
        }
        StoreJob::LoadCompareFile(file) => {
            let loaded = held_of(gateway, &file);
            let event = |(pages, reports)| StoreEvent::CompareFileLoaded { file, pages, reports }.into();
            work.send(loaded.map_or_else(|error| Message::Notice(error.to_string()), event));
        }
        StoreJob::Check(request) => {
            let since = gateway.held(&request).ok().flatten().map(|held| held.received);
            work.send(StoreEvent::Checked { request, since });
        }
        StoreJob::RecordFile(file) if gateway.client().has_key(file.as_str().as_bytes()) => {
            work.send(Message::Notice(GatewayError::NamesKey.to_string()));
        }
        StoreJob::RecordFile(file) => {
            if let Err(error) = gateway.store().note_file(gateway.service(), &file, None, gateway.now()) {
                work.send(Message::Notice(words(&error)));
            }
        }
        StoreJob::RecordScan { file, .. } if gateway.client().has_key(file.as_str().as_bytes()) => {}
        StoreJob::RecordScan { file, scan } => {
            if let Err(error) = gateway.store().note_scan(gateway.service(), &file, scan.as_ref()) {
                work.send(Message::Notice(format!("The scan is not remembered: {}", words(&error))));
            }
        }
        StoreJob::WriteNote { note, known, was_held } => write_note(gateway, work, note, known.as_ref(), was_held),
        StoreJob::DeleteNote(note) => delete_note(gateway, work, note),
        StoreJob::LoadInventory => {
            send_or_warn(work, inventory(gateway).map(|lines| StoreEvent::Inventory(lines).into()));
        }
        StoreJob::Delete(deletion) => {
            work.send(delete(gateway, deletion));
            work.send(notes(gateway));
        }
        StoreJob::ReadLedger => send_or_warn(work, ledger(gateway)),
        // Without the record a price is explained with less.
        StoreJob::ReadPriceRecord => {
            let record = gateway.store().price_record(gateway.whose()).unwrap_or_default().into_iter();
            let record = record.map(|(name, seen)| (name, (seen.confirmed, seen.contradicted))).collect();
            let uploads = gateway.store().uploads(gateway.whose()).unwrap_or_default();
            work.send(StoreEvent::PriceRecord { record, uploads });
        }
    }
}

/// Writes a note; one that another program wrote meanwhile is shown instead.
fn write_note(gateway: &Gateway, work: &Work, note: Note, known: Option<&Untrusted>, was_held: bool) {
    let gone = deleted_meanwhile(gateway, &note, known, was_held);
    match gone.and_then(|gone| Ok((gone, gateway.store().write_note(&note, known)?))) {
        Ok((gone, is_written)) => {
            work.send(notes(gateway));
            match gone {
                _ if !is_written => work.send(StoreEvent::NoteConflict(note)),
                Some(words) => work.send(Message::Notice(words.to_owned())),
                None => {}
            }
        }
        Err(error) => work.send(Message::Notice(format!("The note could not be kept: {}", words(&error)))),
    }
}

/// Deletes a note; one that another program wrote meanwhile is shown instead.
fn delete_note(gateway: &Gateway, work: &Work, note: Note) {
    match gateway.store().delete_note(&note.about, &note.text) {
        Ok(is_gone) => {
            work.send(notes(gateway));
            if !is_gone {
                work.send(StoreEvent::NoteConflict(Note { text: Untrusted::from(""), ..note }));
            }
        }
        Err(error) => work.send(Message::Notice(format!("The note could not be deleted: {}", words(&error)))),
    }
}

/// Sends the result of a read, or its failure.
fn send_or_warn(work: &Work, read: Result<Message, StoreError>) {
    work.send(read.unwrap_or_else(|error| Message::Notice(words(&error))));
}

/// Says of a list that cannot be read that it was there: to list the file again costs what the bar says.
fn warn_if_list_quarantined(gateway: &Gateway, work: &Work, file: &Sha256) {
    let said = match gateway.list_quarantined(file) {
        Ok(Some(aside)) => Some(format!("{}: {}", file.short(), aside.words())),
        Ok(None) => {
            let listing = gateway.client().profile().listing;
            let list = Request::Behaviours { file: file.clone(), listing, cursor: None };
            gateway.missing(&list).unwrap_or_else(|error| Some(words(&error)))
        }
        Err(error) => Some(words(&error)),
    };
    said.into_iter().for_each(|said| work.send(Message::Notice(said)));
}

fn ledger(gateway: &Gateway) -> Result<Message, StoreError> {
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
    let (store, whose) = (gateway.store(), gateway.whose());
    let lines: Vec<_> = store.latest_entries(whose, SHOWN)?.into_iter().map(line).collect();
    let page = LedgerPage {
        session: gateway.spent_by_unit()?,
        today: gateway.spent_in_by_unit(Period::Daily)?,
        month: gateway.spent_in_by_unit(Period::Monthly)?,
        older: store.count_entries(whose)?.saturating_sub(lines.len() as u64),
        lines,
    };
    Ok(StoreEvent::Ledger(page).into())
}

fn recent(gateway: &Gateway) -> Result<Message, StoreError> {
    gateway.store().recent_files(gateway.service(), RECENT).map(|files| StoreEvent::RecentFiles(files).into())
}

fn notes(gateway: &Gateway) -> Message {
    match gateway.store().notes() {
        Ok(notes) => StoreEvent::Notes(notes).into(),
        Err(error) => Message::Notice(error.to_string()),
    }
}

/// What the store has of a file: its list pages in order, and its reports.
fn load(gateway: &Gateway, file: &Sha256) -> Result<Message, StoreError> {
    let (pages, reports) = held_of(gateway, file)?;
    let scan = gateway.store().pending_scan(gateway.service(), file)?;
    Ok(StoreEvent::FileLoaded { file: file.clone(), pages, reports, scan }.into())
}

/// Everything that is stored, as the screen shows it.
fn inventory(gateway: &Gateway) -> Result<Vec<Holding>, StoreError> {
    let on_disk = |thing: Holding| match gateway.store().keeps() {
        Keep::Everything => thing,
        Keep::Nothing => Holding { on_disk: 0, ..thing },
    };
    Ok(gateway.store().inventory()?.into_iter().map(on_disk).collect())
}

/// Deletes what the user confirmed, and nothing where the store differs from that.
fn delete(gateway: &Gateway, deletion: Deletion) -> Message {
    let purged = match gateway.store().purge(from_ref(&deletion.what), None, &|held| deletion.is_still(held)) {
        Ok(purged) => purged,
        Err(error) => {
            return Message::Notice(format!("Not all of it was deleted, and maybe none: {}", words(&error)));
        }
    };
    // The deletion holds, even if reading afterwards fails.
    let failed = |error| format!(" What is left could not be read: {}", words(&error));
    let words = purged.map(|purged| {
        let remarks = gateway.store().remains(from_ref(&deletion.what));
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
