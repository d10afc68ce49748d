//! What is done with everything that is held: looked at, sorted, deleted.

use super::context::{A_STORE, nothing};
use super::{Act, Command, When};
use crate::app::effect::Effect;
use crate::app::keys::key::{ENTER, key};
use crate::app::keys::place::{AGE, HELD, OPEN};
use crate::app::model::Model;
use crate::app::over::held::AgeForm;
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
        Some(Overlay::Held(held)) => held.line.typed.is_empty(),
        _ => false,
    }),
]);

pub(super) static COMMANDS: &[Command] = &[
    Command {
        name: "held",
        keys: &[key('H')],
        label: "held reports",
        help: "Show everything that is held: size, age, expiry at the service, notes, where it came from; and delete it",
        rank: 8,
        place: OPEN,
        when: A_STORE,
        act: Act::Local(|_| vec![Effect::ReadHeld]),
    },
    Command {
        name: "open-held",
        keys: &[ENTER],
        label: "open file",
        help: "Open the file of the chosen report",
        rank: 1,
        place: HELD,
        when: When::Has("a report of a known file, imported or held for the service that is asked now", |m| {
            let is_here = |line: &Holding| line.service == m.service.id || line.imported.is_some();
            m.chosen_held().is_some_and(|line| line.file.is_some() && is_here(line))
        }),
        act: Act::Local(Model::open_held),
    },
    Command {
        name: "sort-held",
        keys: &[key('s')],
        label: "sort",
        help: "Sort by age, size, file or expiry",
        rank: 2,
        place: HELD,
        when: SOMETHING_HELD,
        act: Act::Local(Model::sort_held),
    },
    Command {
        name: "delete-held",
        keys: &[key('d')],
        label: "delete",
        help: "Delete the chosen report from this machine, after a yes",
        rank: 2,
        place: HELD,
        when: SOMETHING_HELD,
        act: Act::Local(Model::delete_chosen),
    },
    Command {
        name: "delete-file",
        keys: &[key('D')],
        label: "delete file",
        help: "Delete everything that is held of the chosen report's file, after a yes",
        rank: 3,
        place: HELD,
        when: When::Has("a report of a known file", |m| m.chosen_held().is_some_and(|line| line.file.is_some())),
        act: Act::Local(Model::delete_file),
    },
    Command {
        name: "delete-old",
        keys: &[key('p')],
        label: "purge by age",
        help: "Delete what is older than so many days, after a yes",
        rank: 3,
        place: HELD,
        when: ALL_SHOWN,
        act: Act::Local(|m| {
            m.over.put(Overlay::Age(AgeForm::default()));
            nothing(m)
        }),
    },
    Command {
        name: "delete-everything",
        keys: &[key('X')],
        label: "delete all",
        help: "Delete everything that is held, after a yes; the ledger stays",
        rank: 4,
        place: HELD,
        when: ALL_SHOWN,
        act: Act::Local(|m| m.confirm_purge(crate::report::Purge::Everything)),
    },
    Command {
        name: "take-age",
        keys: &[ENTER],
        label: "how many go",
        help: "Say what is older than the days that are typed, and ask",
        rank: 1,
        place: AGE,
        when: When::Always,
        act: Act::Local(Model::delete_old),
    },
];
