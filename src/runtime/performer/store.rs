//! Reads and writes the store: reports, notes, the ledger.

use super::{Performer, Work, WriteGuard, words};
use crate::app::spending::confirm::Deletion;
use crate::app::spending::counters::{LedgerLine, LedgerPage, SHOWN};
use crate::app::{Message, StoreEvent, StoreJob};
use crate::gate::{Gate, GateError};
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
    gate: &Gate,
    note: &Note,
    known: Option<&Untrusted>,
    was_held: bool,
) -> Result<Option<&'static str>, StoreError> {
    let identifier = &note.about.identifier;
    if gate.store().notes()?.iter().any(|standing| standing.about == note.about) {
        return Ok(None);
    }
    Ok(Some(match (gate.store().report(gate.service(), identifier)?, known) {
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
        self.with_gate(move |gate, work| {
            let _done = done;
            run(gate, work, job);
        });
    }
}

fn run(gate: &Gate, work: &Work, job: StoreJob) {
    match job {
        StoreJob::FindRecent => send_or_warn(work, recent(gate)),
        StoreJob::LoadFile(file) => {
            send_or_warn(work, load(gate, &file));
            warn_if_list_quarantined(gate, work, &file);
            work.send(notes(gate));
        }
        StoreJob::LoadCompareFile(file) => {
            let loaded = held_of(gate, &file);
            let event = |(pages, reports)| StoreEvent::CompareFileLoaded { file, pages, reports }.into();
            work.send(loaded.map_or_else(|error| Message::Notice(error.to_string()), event));
        }
        StoreJob::Check(request) => {
            let since = gate.held(&request).ok().flatten().map(|held| held.received);
            work.send(StoreEvent::Checked { request, since });
        }
        StoreJob::RecordFile(file) if gate.client().has_key(file.as_str().as_bytes()) => {
            work.send(Message::Notice(GateError::NamesKey.to_string()));
        }
        StoreJob::RecordFile(file) => {
            if let Err(error) = gate.store().note_file(gate.service(), &file, None, gate.now()) {
                work.send(Message::Notice(words(&error)));
            }
        }
        StoreJob::RecordScan { file, .. } if gate.client().has_key(file.as_str().as_bytes()) => {}
        StoreJob::RecordScan { file, scan } => {
            if let Err(error) = gate.store().note_scan(gate.service(), &file, scan.as_ref()) {
                work.send(Message::Notice(format!("The scan is not remembered: {}", words(&error))));
            }
        }
        StoreJob::WriteNote { note, known, was_held } => write_note(gate, work, note, known.as_ref(), was_held),
        StoreJob::DeleteNote(note) => delete_note(gate, work, note),
        StoreJob::LoadInventory => {
            send_or_warn(work, inventory(gate).map(|lines| StoreEvent::Inventory(lines).into()));
        }
        StoreJob::Delete(deletion) => {
            work.send(delete(gate, deletion));
            work.send(notes(gate));
        }
        StoreJob::ReadLedger => send_or_warn(work, ledger(gate)),
        // Without the record a price is explained with less.
        StoreJob::ReadPriceRecord => {
            let record = gate.store().price_record(gate.whose()).unwrap_or_default().into_iter();
            let record = record.map(|(name, seen)| (name, (seen.confirmed, seen.contradicted))).collect();
            let uploads = gate.store().uploads(gate.whose()).unwrap_or_default();
            work.send(StoreEvent::PriceRecord { record, uploads });
        }
    }
}

/// Writes a note; one that another program wrote meanwhile is shown instead.
fn write_note(gate: &Gate, work: &Work, note: Note, known: Option<&Untrusted>, was_held: bool) {
    let gone = deleted_meanwhile(gate, &note, known, was_held);
    match gone.and_then(|gone| Ok((gone, gate.store().write_note(&note, known)?))) {
        Ok((gone, is_written)) => {
            work.send(notes(gate));
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
fn delete_note(gate: &Gate, work: &Work, note: Note) {
    match gate.store().delete_note(&note.about, &note.text) {
        Ok(is_gone) => {
            work.send(notes(gate));
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
fn warn_if_list_quarantined(gate: &Gate, work: &Work, file: &Sha256) {
    let said = match gate.list_quarantined(file) {
        Ok(Some(aside)) => Some(format!("{}: {}", file.short(), aside.words())),
        Ok(None) => {
            let listing = gate.client().profile().listing;
            let list = Request::Behaviours { file: file.clone(), listing, cursor: None };
            gate.missing(&list).unwrap_or_else(|error| Some(words(&error)))
        }
        Err(error) => Some(words(&error)),
    };
    said.into_iter().for_each(|said| work.send(Message::Notice(said)));
}

fn ledger(gate: &Gate) -> Result<Message, StoreError> {
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
    let (store, whose) = (gate.store(), gate.whose());
    let lines: Vec<_> = store.latest_entries(whose, SHOWN)?.into_iter().map(line).collect();
    let page = LedgerPage {
        session: gate.spent_by_unit()?,
        today: gate.spent_in_by_unit(Period::Daily)?,
        month: gate.spent_in_by_unit(Period::Monthly)?,
        older: store.count_entries(whose)?.saturating_sub(lines.len() as u64),
        lines,
    };
    Ok(StoreEvent::Ledger(page).into())
}

fn recent(gate: &Gate) -> Result<Message, StoreError> {
    gate.store().recent_files(gate.service(), RECENT).map(|files| StoreEvent::RecentFiles(files).into())
}

fn notes(gate: &Gate) -> Message {
    match gate.store().notes() {
        Ok(notes) => StoreEvent::Notes(notes).into(),
        Err(error) => Message::Notice(error.to_string()),
    }
}

/// What the store has of a file: its list pages in order, and its reports.
fn load(gate: &Gate, file: &Sha256) -> Result<Message, StoreError> {
    let (pages, reports) = held_of(gate, file)?;
    let scan = gate.store().pending_scan(gate.service(), file)?;
    Ok(StoreEvent::FileLoaded { file: file.clone(), pages, reports, scan }.into())
}

/// Everything that is stored, as the screen shows it.
fn inventory(gate: &Gate) -> Result<Vec<Holding>, StoreError> {
    let on_disk = |thing: Holding| match gate.store().keeps() {
        Keep::Everything => thing,
        Keep::Nothing => Holding { on_disk: 0, ..thing },
    };
    Ok(gate.store().inventory()?.into_iter().map(on_disk).collect())
}

/// Deletes what the user confirmed, and nothing where the store differs from that.
fn delete(gate: &Gate, deletion: Deletion) -> Message {
    let purged = match gate.store().purge(from_ref(&deletion.what), None, &|held| deletion.is_still(held)) {
        Ok(purged) => purged,
        Err(error) => {
            return Message::Notice(format!("Not all of it was deleted, and maybe none: {}", words(&error)));
        }
    };
    // The deletion holds, even if reading afterwards fails.
    let failed = |error| format!(" What is left could not be read: {}", words(&error));
    let words = purged.map(|purged| {
        let remarks = gate.store().remains(from_ref(&deletion.what));
        let remarks = remarks.map(|remarks| remarks.iter().map(|remark| format!(" {remark}.")).collect::<String>());
        gone(purged, &deletion) + &remarks.unwrap_or_else(failed)
    });
    match (words, inventory(gate)) {
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
