//! What is done with a report: through its panes, rows and trees.

use super::context::{has_kinds, has_report, in_answer, in_pane, in_tree, nothing};
use super::{Act, Command};
use crate::app::key::{BACK_TAB, ENTER, LEFT, RIGHT, TAB, key};
use crate::app::model::Model;

/// Columns that one sideways step moves.
const SIDEWAYS: usize = 8;

pub(super) static COMMANDS: &[Command] = &[
    Command {
        name: "whole-row",
        keys: &[ENTER],
        label: "whole row",
        help: "Show the row whole, with every field",
        rank: 4,
        applies: in_pane,
        act: Act::Local(Model::open_detail),
    },
    Command {
        name: "notable",
        keys: &[key('!')],
        label: "deserves a look",
        help: "List the rows that rules mark, the most severe first, to go there: ! high, * medium, + low, ~ noise",
        rank: 5,
        applies: has_report,
        act: Act::Local(Model::list_notable),
    },
    Command {
        name: "hide-noise",
        keys: &[key('~')],
        label: "hide noise",
        help: "Hide what any machine does by itself, or show it again",
        rank: 7,
        applies: has_report,
        act: Act::Local(Model::toggle_noise),
    },
    Command {
        name: "next-pane",
        keys: &[TAB],
        label: "next pane",
        help: "Go to the next pane; from the list, into the report",
        rank: 5,
        applies: has_report,
        act: Act::Local(|m| m.step_pane(true)),
    },
    Command {
        name: "previous-pane",
        keys: &[BACK_TAB],
        label: "previous pane",
        help: "Go to the pane before",
        rank: 0,
        applies: has_report,
        act: Act::Local(|m| m.step_pane(false)),
    },
    Command {
        name: "next-group",
        keys: &[key(']')],
        label: "more panes",
        help: "Show the next four panes",
        rank: 6,
        applies: has_report,
        act: Act::Local(|m| m.step_group(true)),
    },
    Command {
        name: "previous-group",
        keys: &[key('[')],
        label: "panes before",
        help: "Show the four panes before",
        rank: 0,
        applies: has_report,
        act: Act::Local(|m| m.step_group(false)),
    },
    Command {
        name: "zoom",
        keys: &[key('z')],
        label: "zoom",
        help: "Give the pane the whole screen, or its place back",
        rank: 6,
        applies: in_pane,
        act: Act::Local(|m| {
            m.is_zoomed = !m.is_zoomed;
            nothing(m)
        }),
    },
    Command {
        name: "left",
        keys: &[LEFT, key('h')],
        label: "fold",
        help: "Fold the process, or go to its parent; elsewhere move the text sideways",
        rank: 0,
        applies: |m| in_pane(m) || in_answer(m),
        act: Act::Local(|m| m.go_left(SIDEWAYS)),
    },
    Command {
        name: "right",
        keys: &[RIGHT, key('l')],
        label: "unfold",
        help: "Unfold the process; elsewhere move the text sideways; from the list, into the report",
        rank: 0,
        applies: |m| has_report(m) || in_answer(m),
        act: Act::Local(|m| m.go_right(SIDEWAYS)),
    },
    Command {
        name: "fold",
        keys: &[key(' ')],
        label: "fold",
        help: "Fold or unfold the process",
        rank: 7,
        applies: in_tree,
        act: Act::Local(Model::toggle_fold),
    },
    Command {
        name: "unfold-all",
        keys: &[key('+'), key('=')],
        label: "whole tree",
        help: "Unfold the whole process tree",
        rank: 8,
        applies: in_tree,
        act: Act::Local(|m| m.fold_all(false)),
    },
    Command {
        name: "fold-all",
        keys: &[key('-')],
        label: "roots only",
        help: "Fold the process tree down to its roots",
        rank: 8,
        applies: in_tree,
        act: Act::Local(|m| m.fold_all(true)),
    },
    Command {
        name: "next-kind",
        keys: &[key('}')],
        label: "next kind",
        help: "Go to the pane's next kind of rows, such as from written to deleted files",
        rank: 7,
        applies: has_kinds,
        act: Act::Local(|m| m.step_kind(true)),
    },
    Command {
        name: "previous-kind",
        keys: &[key('{')],
        label: "kind before",
        help: "Go to the pane's kind of rows before",
        rank: 0,
        applies: has_kinds,
        act: Act::Local(|m| m.step_kind(false)),
    },
    Command {
        name: "whole-value",
        keys: &[ENTER],
        label: "whole value",
        help: "Show the value whole",
        rank: 2,
        applies: in_answer,
        act: Act::Local(Model::open_value),
    },
];
