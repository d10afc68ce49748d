//! What is done with a comparison, and with lists of rows to go to.

use super::context::on_file;
use super::{Act, Command};
use crate::app::compare::Only;
use crate::app::key::{BACK_TAB, ENTER, LEFT, RIGHT, TAB, key};
use crate::app::model::Model;
use crate::app::overlay::Overlay;

fn in_matrix(model: &Model) -> bool {
    model.comparing().is_some_and(|compare| !compare.is_typing)
}

pub(super) static COMMANDS: &[Command] = &[
    Command {
        name: "compare",
        keys: &[key('c')],
        label: "compare",
        help: "Compare the sandboxes: which of them saw what; held reports only, so it costs nothing",
        rank: 6,
        applies: |m| on_file(m) && m.can_compare(),
        act: Act::Local(Model::compare),
    },
    Command {
        name: "compare-where",
        keys: &[ENTER],
        label: "where",
        help: "Show where the item was seen, to go there",
        rank: 2,
        applies: in_matrix,
        act: Act::Local(Model::compare_where),
    },
    Command {
        name: "compare-all",
        keys: &[key('a')],
        label: "in all",
        help: "Show only what every held sandbox saw, or everything again",
        rank: 3,
        applies: in_matrix,
        act: Act::Local(|m| m.compare_only(Only::All)),
    },
    Command {
        name: "compare-some",
        keys: &[key('d')],
        label: "differs",
        help: "Show only what some saw and others did not, or everything again",
        rank: 3,
        applies: in_matrix,
        act: Act::Local(|m| m.compare_only(Only::Some)),
    },
    Command {
        name: "compare-here",
        keys: &[key('u')],
        label: "only here",
        help: "Show only what the chosen column alone saw, or everything again",
        rank: 3,
        applies: in_matrix,
        act: Act::Local(|m| m.compare_only(Only::Here)),
    },
    Command {
        name: "compare-not-here",
        keys: &[key('x')],
        label: "not here",
        help: "Show only what others saw and the chosen column did not, or everything again",
        rank: 3,
        applies: in_matrix,
        act: Act::Local(|m| m.compare_only(Only::NotHere)),
    },
    Command {
        name: "compare-next-column",
        keys: &[RIGHT, key('l')],
        label: "column",
        help: "Choose the next held column",
        rank: 4,
        applies: in_matrix,
        act: Act::Local(|m| m.compare_column(true)),
    },
    Command {
        name: "compare-previous-column",
        keys: &[LEFT, key('h')],
        label: "column before",
        help: "Choose the held column before",
        rank: 0,
        applies: in_matrix,
        act: Act::Local(|m| m.compare_column(false)),
    },
    Command {
        name: "compare-next-pane",
        keys: &[TAB],
        label: "next pane",
        help: "Compare the items of the next pane; after the last one, of all",
        rank: 4,
        applies: in_matrix,
        act: Act::Local(|m| m.compare_pane(true)),
    },
    Command {
        name: "compare-previous-pane",
        keys: &[BACK_TAB],
        label: "pane before",
        help: "Compare the items of the pane before",
        rank: 0,
        applies: in_matrix,
        act: Act::Local(|m| m.compare_pane(false)),
    },
    Command {
        name: "compare-find",
        keys: &[key('/')],
        label: "find",
        help: "Show only items that hold what is typed, capitals apart",
        rank: 4,
        applies: in_matrix,
        act: Act::Local(Model::compare_find),
    },
    Command {
        name: "compare-found",
        keys: &[ENTER],
        label: "done",
        help: "End typing; what was found stays until the line is emptied",
        rank: 1,
        applies: |m| m.comparing().is_some_and(|compare| compare.is_typing),
        act: Act::Local(Model::compare_found),
    },
    Command {
        name: "compare-with",
        keys: &[key('w')],
        label: "other file",
        help: "Compare with another file of which reports are held; costs nothing",
        rank: 5,
        applies: |m| in_matrix(m) && !m.is_document(),
        act: Act::Local(Model::compare_with),
    },
    Command {
        name: "compare-with-this",
        keys: &[ENTER],
        label: "compare with it",
        help: "Compare with the chosen file",
        rank: 1,
        applies: |m| matches!(m.overlay, Some(Overlay::OtherFile(_))),
        act: Act::Local(Model::compare_with_chosen),
    },
    Command {
        name: "go-to-row",
        keys: &[ENTER],
        label: "go there",
        help: "Go to the row, in its sandbox and pane",
        rank: 1,
        applies: |m| matches!(&m.overlay, Some(Overlay::Places(places)) if places.chosen().is_some()),
        act: Act::Local(Model::go_to_place),
    },
];
