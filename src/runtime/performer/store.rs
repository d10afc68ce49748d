//! Reads and writes what is held: reports, notes, the ledger.

use super::{Performer, Work, words};
use crate::app::Message;
use crate::app::spending::confirm::Deletion;
use crate::app::spending::ledger::{LedgerLine, LedgerPage, SHOWN};
use crate::gate::{Gate, GateError};
use crate::quota::{Period, Unit};
use crate::report::PendingScan;
use crate::report::identifier::Sha256;
use crate::report::note::Note;
use crate::request::Request;
use crate::runtime::held;
use crate::runtime::recall::held_of;
use crate::store::{LedgerEntry, StoreError};
use crate::text::{Untrusted, said};

/// Most earlier files that are offered.
const RECENT: u32 = 50;

/// What is said of a note whose report was held, or that is to take the place of another, where either was deleted meanwhile.
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
    /// Finds what is held of a file.
    pub(super) fn recall(&self, file: Sha256) {
        self.with_gate(move |gate, work| {
            send_or_say(work, recall(gate, &file));
            say_if_list_quarantined(gate, work, &file);
            work.send(notes(gate));
        });
    }

    /// Notes that a file was opened.
    pub(super) fn note_opened(&self, file: Sha256) {
        self.with_gate(move |gate, work| {
            if gate.client().has_key(file.as_str().as_bytes()) {
                return work.send(Message::Notice(GateError::NamesKey.to_string()));
            }
            if let Err(error) = gate.store().note_file(gate.service(), &file, None, gate.now()) {
                work.send(Message::Notice(words(&error)));
            }
        });
    }

    /// Notes that a scan of a file is under way, or that none is.
    pub(super) fn note_scan(&self, file: Sha256, scan: Option<PendingScan>) {
        self.with_gate(move |gate, work| {
            if gate.client().has_key(file.as_str().as_bytes()) {
                return;
            }
            if let Err(error) = gate.store().note_scan(gate.service(), &file, scan.as_ref()) {
                work.send(Message::Notice(format!("The scan is not remembered: {}", words(&error))));
            }
        });
    }

    /// Finds what is held of a file that is compared with.
    pub(super) fn recall_beside(&self, file: Sha256) {
        self.with_gate(move |gate, work| {
            let held = held_of(gate, &file);
            work.send(match held {
                Ok((pages, reports)) => Message::RecalledBeside { file, pages, reports },
                Err(error) => Message::Notice(error.to_string()),
            });
        });
    }

    /// Finds the files that were opened before.
    pub(super) fn find_recent(&self) {
        self.with_gate(|gate, work| send_or_say(work, recent(gate)));
    }

    /// Keeps a note; where another was written meanwhile, that one is shown.
    pub(super) fn write_note(&self, note: Note, known: Option<Untrusted>, was_held: bool) {
        self.taking_in(move |gate, work| {
            let gone = deleted_meanwhile(gate, &note, known.as_ref(), was_held);
            match gone.and_then(|gone| Ok((gone, gate.store().write_note(&note, known.as_ref())?))) {
                Ok((gone, is_written)) => {
                    work.send(notes(gate));
                    let said = if is_written {
                        gone.map(|words| Message::Notice(words.to_owned()))
                    } else {
                        Some(Message::Unwritten(note))
                    };
                    said.into_iter().for_each(|message| work.send(message));
                }
                Err(error) => work.send(Message::Notice(format!("The note could not be kept: {}", words(&error)))),
            }
        });
    }

    /// Deletes a note; where another was written meanwhile, that one is shown.
    pub(super) fn delete_note(&self, note: Note) {
        self.taking_in(move |gate, work| match gate.store().delete_note(&note.about, &note.text) {
            Ok(is_gone) => {
                work.send(notes(gate));
                let stays = (!is_gone).then(|| Message::Unwritten(Note { text: Untrusted::from(""), ..note }));
                stays.into_iter().for_each(|message| work.send(message));
            }
            Err(error) => work.send(Message::Notice(format!("The note could not be deleted: {}", words(&error)))),
        });
    }

    pub(super) fn read_ledger(&self) {
        self.with_gate(|gate, work| send_or_say(work, ledger(gate)));
    }

    /// Reads how often prices were confirmed; without it a price is explained with less.
    pub(super) fn read_record(&self) {
        self.with_gate(|gate, work| {
            let record = gate.store().price_record(gate.whose()).unwrap_or_default().into_iter();
            work.send(Message::Record(
                record.map(|(name, seen)| (name, (seen.confirmed, seen.contradicted))).collect(),
            ));
        });
    }

    /// Finds everything that is held.
    pub(super) fn read_held(&self) {
        self.with_gate(|gate, work| send_or_say(work, held::lines(gate).map(Message::Held)));
    }

    pub(super) fn purge(&self, deletion: Deletion) {
        self.taking_in(move |gate, work| {
            work.send(held::purge(gate, deletion));
            work.send(notes(gate));
        });
    }
}

/// Sends what was read, or says why it could not be.
fn send_or_say(work: &Work, read: Result<Message, StoreError>) {
    work.send(read.unwrap_or_else(|error| Message::Notice(words(&error))));
}

/// Says of a list that cannot be read that it was there: to list the file again costs what the bar says.
fn say_if_list_quarantined(gate: &Gate, work: &Work, file: &Sha256) {
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
    Ok(Message::Ledger(LedgerPage {
        session: gate.spent_by_unit()?,
        today: gate.spent_in_by_unit(Period::Daily)?,
        month: gate.spent_in_by_unit(Period::Monthly)?,
        older: store.count_entries(whose)?.saturating_sub(lines.len() as u64),
        lines,
    }))
}

fn recent(gate: &Gate) -> Result<Message, StoreError> {
    gate.store().recent_files(gate.service(), RECENT).map(Message::Recent)
}

/// All notes.
fn notes(gate: &Gate) -> Message {
    match gate.store().notes() {
        Ok(notes) => Message::Notes(notes),
        Err(error) => Message::Notice(error.to_string()),
    }
}

/// Everything that is held of a file: its list pages, one after another, and its reports.
fn recall(gate: &Gate, file: &Sha256) -> Result<Message, StoreError> {
    let (pages, reports) = held_of(gate, file)?;
    let scan = gate.store().pending_scan(gate.service(), file)?;
    Ok(Message::Recalled { file: file.clone(), pages, reports, scan })
}
