//! What is done with a report: through its panes, rows and trees.

use super::context::{
    A_REPORT, has_kind_before, has_next_kind, has_report, has_rows_below, has_value, in_answer, in_tree, is_folded,
    nothing, rows_of_tree,
};
use super::{Act, Command, When};
use crate::app::keys::key::{BACK_TAB, ENTER, LEFT, RIGHT, TAB, key};
use crate::app::keys::place::{ANSWER, FILE, PANE, Place, Places, TREE, VIEWED};
use crate::app::model::Model;
use crate::app::over::overlay::Overlay;
use crate::app::over::sheet::Sheet;

/// Columns that one press gives the list, or takes from it.
const WIDER: i16 = 2;

/// Percent of the rows that one press gives the upper panes, or takes from them.
const TALLER: i16 = 5;

/// Columns that one sideways step moves.
const SIDEWAYS: usize = 8;

const REPORT_OR_ANSWER: When = When::Has("a report that is open", |m| has_report(m) || in_answer(m));

pub(super) static COMMANDS: &[Command] = &[
    Command {
        name: "whole-row",
        keys: &[ENTER],
        label: "whole row",
        help: "Show the row whole, with every field",
        rank: 4,
        place: PANE,
        when: When::Has("a row", |m| m.place_here().is_some()),
        act: Act::Local(Model::open_detail),
    },
    Command {
        name: "notable",
        keys: &[key('!')],
        label: "deserves a look",
        help: "List the rows that rules mark, the most severe first, to go there: ! high, * medium, + low, ~ noise",
        rank: 5,
        place: FILE,
        when: A_REPORT,
        act: Act::Local(Model::list_notable),
    },
    Command {
        name: "hide-noise",
        keys: &[key('~')],
        label: "hide noise",
        help: "Hide what any machine does by itself, or show it again",
        rank: 7,
        place: FILE,
        when: A_REPORT,
        act: Act::Local(Model::toggle_noise),
    },
    Command {
        name: "next-pane",
        keys: &[TAB],
        label: "next pane",
        help: "Go to the next pane; from the list, into the report",
        rank: 5,
        place: FILE,
        when: A_REPORT,
        act: Act::Local(|m| m.step_pane(true)),
    },
    Command {
        name: "previous-pane",
        keys: &[BACK_TAB],
        label: "previous pane",
        help: "Go to the pane before",
        rank: 0,
        place: FILE,
        when: A_REPORT,
        act: Act::Local(|m| m.step_pane(false)),
    },
    Command {
        name: "next-group",
        keys: &[key(']')],
        label: "more panes",
        help: "Show the next four panes",
        rank: 6,
        place: FILE,
        when: A_REPORT,
        act: Act::Local(|m| m.step_group(true)),
    },
    Command {
        name: "previous-group",
        keys: &[key('[')],
        label: "panes before",
        help: "Show the four panes before",
        rank: 0,
        place: FILE,
        when: A_REPORT,
        act: Act::Local(|m| m.step_group(false)),
    },
    Command {
        name: "zoom",
        keys: &[key('z')],
        label: "zoom",
        help: "Give the pane the whole screen, or its place back",
        rank: 6,
        place: PANE,
        when: A_REPORT,
        act: Act::Local(|m| {
            m.zoom(!m.is_zoomed());
            nothing(m)
        }),
    },
    Command {
        name: "timeline",
        keys: &[key('T')],
        label: "timeline",
        help: "Show when each process started, along a line of time",
        rank: 8,
        place: FILE,
        when: A_REPORT,
        act: Act::Local(|m| {
            let sheet = Sheet::timeline(m, m.overlay_room().width.into());
            m.over.put(Overlay::Sheet(sheet));
            nothing(m)
        }),
    },
    Command {
        name: "list-wider",
        keys: &[key('>')],
        label: "wider list",
        help: "Give the list of sandboxes more columns",
        rank: 0,
        place: FILE,
        when: A_REPORT,
        act: Act::Local(|m| m.widen_list(WIDER)),
    },
    Command {
        name: "list-narrower",
        keys: &[key('<')],
        label: "narrower list",
        help: "Give the list of sandboxes fewer columns",
        rank: 0,
        place: FILE,
        when: A_REPORT,
        act: Act::Local(|m| m.widen_list(-WIDER)),
    },
    Command {
        name: "upper-taller",
        keys: &[key(')')],
        label: "taller upper panes",
        help: "Give the upper two panes more rows",
        rank: 0,
        place: FILE,
        when: A_REPORT,
        act: Act::Local(|m| m.grow_upper(TALLER)),
    },
    Command {
        name: "upper-shorter",
        keys: &[key('(')],
        label: "shorter upper panes",
        help: "Give the upper two panes fewer rows",
        rank: 0,
        place: FILE,
        when: A_REPORT,
        act: Act::Local(|m| m.grow_upper(-TALLER)),
    },
    Command {
        name: "left",
        keys: &[LEFT, key('h')],
        label: "fold",
        help: "Fold the process, or go to its parent; elsewhere move the text sideways",
        rank: 0,
        place: TREE,
        when: REPORT_OR_ANSWER,
        act: Act::Local(|m| m.go_left(SIDEWAYS)),
    },
    Command {
        name: "right",
        keys: &[RIGHT, key('l')],
        label: "unfold",
        help: "Unfold the process; elsewhere move the text sideways; from the list, into the report",
        rank: 0,
        place: Places::of(&[Place::List, Place::Pane, Place::Answer]),
        when: REPORT_OR_ANSWER,
        act: Act::Local(|m| m.go_right(SIDEWAYS)),
    },
    Command {
        name: "fold",
        keys: &[key(' ')],
        label: "fold",
        help: "Fold or unfold the process",
        rank: 7,
        place: TREE,
        when: When::Has("a row of a tree that has rows below it", has_rows_below),
        act: Act::Local(Model::toggle_fold),
    },
    Command {
        name: "unfold-all",
        keys: &[key('+'), key('=')],
        label: "whole tree",
        help: "Unfold the whole process tree",
        rank: 8,
        place: TREE,
        when: When::Has("a tree of which something is folded", is_folded),
        act: Act::Local(|m| m.fold_all(false)),
    },
    Command {
        name: "fold-all",
        keys: &[key('-')],
        label: "roots only",
        help: "Fold the process tree down to its roots",
        rank: 8,
        place: TREE,
        when: When::Has("a tree", in_tree),
        act: Act::Local(|m| {
            let before = rows_of_tree(m);
            let effects = m.fold_all(true);
            if rows_of_tree(m) == before {
                m.say("Everything is folded already.");
            }
            effects
        }),
    },
    Command {
        name: "isolate",
        keys: &[key('.')],
        label: "only this subtree",
        help: "Show only the process and those below it, or the whole tree again",
        rank: 8,
        place: PANE,
        when: When::Has("a process of the tree", Model::is_on_process),
        act: Act::Local(Model::isolate),
    },
    Command {
        name: "parent",
        keys: &[key('^')],
        label: "parent",
        help: "Go to the process that started this one",
        rank: 8,
        place: VIEWED,
        when: When::Has("a process that another one started", |m| m.parent_process().is_some()),
        act: Act::Local(Model::go_to_parent),
    },
    Command {
        name: "process",
        keys: &[key('^')],
        label: "its process",
        help: "Go to the process that the row names, such as the one that dropped the file; list those that it may mean, where it is not plain",
        rank: 7,
        place: VIEWED,
        when: When::Has("a row that names a process", Model::names_process),
        act: Act::Local(Model::go_to_process),
    },
    Command {
        name: "find-named",
        keys: &[key('e')],
        label: "where else",
        help: "Find in all panes what the row is about: which files, dropped files, memory dumps and alerts name the process, and not another's number",
        rank: 7,
        place: PANE,
        when: A_REPORT,
        act: Act::Local(Model::find_named),
    },
    Command {
        name: "next-kind",
        keys: &[key('}')],
        label: "next kind",
        help: "Go to the pane's next kind of rows, such as from written to deleted files",
        rank: 7,
        place: PANE,
        when: When::Has("a further kind of rows", has_next_kind),
        act: Act::Local(|m| m.step_kind(true)),
    },
    Command {
        name: "previous-kind",
        keys: &[key('{')],
        label: "kind before",
        help: "Go to the pane's kind of rows before",
        rank: 0,
        place: PANE,
        when: When::Has("an earlier kind of rows", has_kind_before),
        act: Act::Local(|m| m.step_kind(false)),
    },
    Command {
        name: "whole-value",
        keys: &[ENTER],
        label: "whole value",
        help: "Show the value whole",
        rank: 2,
        place: ANSWER,
        when: When::Has("a row with a value", has_value),
        act: Act::Local(Model::open_value),
    },
];
