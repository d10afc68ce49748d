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
    let purged = match gate.store().purge(from_ref(&deletion.what), None, &|held| deletion.is_still(held)) {
        Ok(purged) => purged,
        Err(error) => {
            return Message::Notice(format!("Not all of it was deleted, and maybe none: {}", words(&error)));
        }
    };
    // What is deleted is deleted, whatever cannot be read afterwards.
    let failed = |error| format!(" What is left could not be read: {}", words(&error));
    let words = purged.map(|purged| {
        let remarks = gate.store().remains(from_ref(&deletion.what));
        let remarks = remarks.map(|remarks| remarks.iter().map(|remark| format!(" {remark}.")).collect::<String>());
        gone(purged, &deletion) + &remarks.unwrap_or_else(failed)
    });
    match (words, lines(gate)) {
        (Some(words), Ok(lines)) => Message::Purged { words, lines },
        (None, Ok(lines)) => Message::PurgeDiffers { what: deletion.what, lines },
        (words, Err(error)) => Message::Notice(words.unwrap_or("Nothing was deleted.".to_owned()) + &failed(error)),
    }
}

/// What was deleted.
fn gone(purged: Purged, deletion: &Deletion) -> String {
    let notes = if purged.notes > 0 { format!(", {}", count(purged.notes, "note")) } else { String::new() };
    let what = match purged.reports {
        0 if deletion.bytes() > 0 => count(deletion.things.len() as u64, "answer"),
        reports => count(reports, "report"),
    };
    format!("Deleted: {what}, {}{notes}. The ledger stays.", bytes(purged.bytes))
}
