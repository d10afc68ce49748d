//! What is done with everything that is held: looked at, sorted, deleted.

use super::Act::Local;
use super::context::A_STORE;
use super::{Command, When};
use crate::app::effect::StoreJob;
use crate::app::keys::key::{ENTER, key};
use crate::app::keys::place::{FORM, OPEN, PICKER};
use crate::app::model::Model;
use crate::app::over::held::{AgeForm, AgeInDays};
use crate::app::over::overlay::Overlay;
use crate::report::Holding;

fn has_held(model: &Model) -> bool {
    model.chosen_held().is_some()
}

const SOMETHING_HELD: When = When::Has("something that is held", has_held);

/// What deletes rows that a search does not show is off while one is on.
const ALL_SHOWN: When = When::HasAll(&[
    ("something that is held", has_held),
    ("all rows shown, for it deletes others as well", |m| match m.over.top() {
        Some(Overlay::Held(held)) => held.filter.typed.is_empty(),
        _ => false,
    }),
]);

commands! {
    "held" [key('H')] "held reports", 8, OPEN,
        "Show everything that is held: size, age, expiry at the service, notes, where it came from; and delete it"
        if A_STORE => Local(|m| m.emit(StoreJob::LoadInventory));
    "open-held" [ENTER] "open file", 1, PICKER,
        "Open the file of the chosen report"
        if When::Has("a report of a known file, imported or held for the service that is asked now", |m| {
            let is_here = |line: &Holding| line.service == m.service.id || line.imported.is_some();
            m.chosen_held().is_some_and(|line| line.file.is_some() && is_here(line))
        }) => Local(Model::open_held);
    "sort-held" [key('s')] "sort", 2, PICKER,
        "Sort by age, size, file or expiry" if SOMETHING_HELD => Local(Model::sort_held);
    "delete-held" [key('d')] "delete", 2, PICKER,
        "Delete the chosen report from this machine, after a yes"
        if SOMETHING_HELD => Local(Model::delete_chosen);
    "delete-file" [key('D')] "delete file", 3, PICKER,
        "Delete everything that is held of the chosen report's file, after a yes"
        if When::Has("a report of a known file", |m| m.chosen_held().is_some_and(|line| line.file.is_some()))
        => Local(Model::delete_file);
    "delete-old" [key('p')] "purge by age", 3, PICKER,
        "Delete what is older than so many days, after a yes" if ALL_SHOWN => Local(|m| m.over.put(Overlay::Age(AgeForm::with_fields(AgeInDays, 1))));
    "delete-everything" [key('X')] "delete all", 4, PICKER,
        "Delete everything that is held, after a yes; the ledger stays"
        if ALL_SHOWN => Local(|m| m.confirm_purge(crate::report::Purge::Everything));
    "take-age" [ENTER] "how many go", 1, FORM,
        "Say what is older than the days that are typed, and ask"
        if When::Has("an age that is typed", |m| matches!(m.over.top(), Some(Overlay::Age(_)))) => Local(Model::delete_old);
}
