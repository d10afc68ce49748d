//! What is held, between the store and the screen.

use crate::app::Message;
use crate::app::held::{HeldLine, HeldWhat, Purging};
use crate::gate::Gate;
use crate::store::{AnswerId, Keep, Kept, KeptWhat, Purge, Purged, StoreError};
use crate::text::{bytes, count};

/// Everything that is held, as the screen shows it.
pub(super) fn lines(gate: &Gate) -> Result<Vec<HeldLine>, StoreError> {
    let on_disk = |line: HeldLine| match gate.store().keeps() {
        Keep::Everything => line,
        Keep::Nothing => HeldLine { on_disk: 0, ..line },
    };
    Ok(gate.store().inventory()?.into_iter().map(line).map(on_disk).collect())
}

fn line(kept: Kept) -> HeldLine {
    let what = match kept.what {
        KeptWhat::Report(identifier) => HeldWhat::Report(identifier),
        KeptWhat::Answer { id, key, is_set_aside, is_coming, beside } => {
            HeldWhat::Answer { number: id.0, key, is_set_aside, is_coming, beside }
        }
    };
    HeldLine {
        profile: kept.profile,
        what,
        file: kept.file,
        name: kept.name,
        received: kept.received,
        versions: kept.versions,
        bytes: kept.bytes,
        on_disk: kept.on_disk,
        imported: kept.imported,
        notes: kept.notes,
    }
}

/// Deletes what a yes was given for.
pub(super) fn purge(gate: &Gate, what: Purging) -> Result<Message, StoreError> {
    let what = match what {
        Purging::Report { profile, identifier } => Purge::Report { profile, identifier },
        Purging::Answer(number) => Purge::Answer(AnswerId(number)),
        Purging::File { profile, file } => Purge::File { profile, file },
        Purging::Before(moment) => Purge::Before(moment),
        Purging::Everything => Purge::Everything,
    };
    let purged = gate.store().purge(&what, None)?;
    Ok(Message::Purged { words: words(purged), lines: lines(gate)? })
}

fn words(purged: Purged) -> String {
    let pending = if purged.is_pending {
        " Another behaview is reading: the last of the bytes go when it ends."
    } else {
        " Their bytes are overwritten. The ledger stays."
    };
    format!("Deleted: {}, {}.{pending}", count(purged.reports, "report"), bytes(purged.bytes))
}
