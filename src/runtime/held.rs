//! What is held, between the store and the screen.

use super::performer::words;
use crate::app::Message;
use crate::app::spending::confirm::Deletion;
use crate::gate::Gate;
use crate::report::Holding;
use crate::store::{Keep, Purged, StoreError};
use crate::text::{bytes, count};
use std::slice::from_ref;

/// Everything that is held, as the screen shows it.
pub(super) fn lines(gate: &Gate) -> Result<Vec<Holding>, StoreError> {
    let on_disk = |thing: Holding| match gate.store().keeps() {
        Keep::Everything => thing,
        Keep::Nothing => Holding { on_disk: 0, ..thing },
    };
    Ok(gate.store().inventory()?.into_iter().map(on_disk).collect())
}

/// Deletes what a yes was given for, and nothing where that is not what would go.
pub(super) fn purge(gate: &Gate, deletion: Deletion) -> Message {
    let purged = match gate.store().purge_as_agreed(from_ref(&deletion.what), None, &|held| deletion.is_still(held)) {
        Ok(purged) => purged,
        Err(error) => {
            return Message::Notice(format!("Not all of it was deleted, and maybe none: {}", words(&error)));
        }
    };
    // What is deleted is deleted, whatever cannot be read afterwards.
    let failed = |error| format!(" What is left could not be read: {}", words(&error));
    let words = purged.map(|purged| {
        let remarks = gate.store().still_holding(from_ref(&deletion.what));
        let remarks = remarks.map(|remarks| remarks.iter().map(|remark| format!(" {remark}.")).collect::<String>());
        gone(purged, &deletion) + &remarks.unwrap_or_else(failed)
    });
    match (words, lines(gate)) {
        (Some(words), Ok(lines)) => Message::Purged { words, lines },
        (None, Ok(lines)) => Message::PurgeDiffers { what: deletion.what, lines },
        (words, Err(error)) => Message::Notice(words.unwrap_or("Nothing was deleted.".to_owned()) + &failed(error)),
    }
}

/// What was deleted; beside the bytes that the question named go those of the lists that the reports came with.
fn gone(purged: Purged, deletion: &Deletion) -> String {
    let (named, old) = (deletion.bytes(), deletion.versions.len() as u64);
    let pending = if purged.is_pending {
        " The last of the bytes go when no other behaview reads them, and the disk has room."
    } else {
        " Their bytes are overwritten. The ledger stays."
    };
    let notes = if purged.notes > 0 { format!(", {}", count(purged.notes, "note")) } else { String::new() };
    let around = match purged.bytes.saturating_sub(named) {
        0 => String::new(),
        around => format!(" and {} around them, of the lists they came with", bytes(around)),
    };
    let size = bytes(purged.bytes.min(named));
    let mut what = match purged.reports {
        0 if deletion.things.is_empty() && old > 0 => String::new(),
        0 if named > 0 => count(deletion.things.len() as u64, "answer"),
        reports => count(reports, "report"),
    };
    if old > 0 {
        let and = if what.is_empty() { "" } else { " and " };
        what += &format!("{and}{} of what stays", count(old, "older version"));
    }
    format!("Deleted: {what}, {size}{around}{notes}.{pending}")
}
