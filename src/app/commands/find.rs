//! Finding: the filter of a pane, hits over all panes and over everything that is held.

use super::context::{A_REPORT, A_SERVICE};
use super::{Act, Command, When};
use crate::app::key::{ENTER, ESC, Key, key};
use crate::app::model::Model;
use crate::app::place::{FILE, FILTER, FILTERED, FINDER, OPEN, PANE, SOUGHT};

const HITS: When = When::Has("a filter or a search", Model::has_hits);

pub(super) static COMMANDS: &[Command] = &[
    Command {
        name: "keep-filter",
        keys: &[ENTER],
        label: "keep",
        help: "Keep the filter and give the keys back",
        rank: 1,
        place: FILTER,
        when: When::Always,
        act: Act::Local(Model::keep_filter),
    },
    Command {
        name: "drop-filter",
        keys: &[ESC],
        label: "no filter",
        help: "Take the filter away",
        rank: 2,
        place: FILTERED,
        when: When::Has("a filter", |m| m.filter().is_some()),
        act: Act::Local(Model::drop_filter),
    },
    Command {
        name: "go-to-hit",
        keys: &[ENTER],
        label: "go there",
        help: "Go to the chosen hit, in its report and pane",
        rank: 1,
        place: FINDER,
        when: When::Always,
        act: Act::Local(Model::go_to_hit),
    },
    Command {
        name: "expression",
        keys: &[Key::Ctrl('r')],
        label: "regex",
        help: "Take what is typed as a regular expression, or as plain words again",
        rank: 2,
        place: SOUGHT,
        when: When::Always,
        act: Act::Local(|m| m.change_how(|how| how.is_regex = !how.is_regex)),
    },
    Command {
        name: "case",
        keys: &[Key::Ctrl('t')],
        label: "case",
        help: "Tell capital from small letters, or not",
        rank: 3,
        place: SOUGHT,
        when: When::Always,
        act: Act::Local(|m| m.change_how(|how| how.is_case_sensitive = !how.is_case_sensitive)),
    },
    Command {
        name: "filter",
        keys: &[key('/')],
        label: "filter",
        help: "Show only the pane's rows that hold what is typed, in any of their fields",
        rank: 5,
        place: PANE,
        when: When::Always,
        act: Act::Local(Model::begin_filter),
    },
    Command {
        name: "find",
        keys: &[key('F')],
        label: "find",
        help: "Find in all panes of the report",
        rank: 6,
        place: FILE,
        when: A_REPORT,
        act: Act::Local(|m| m.begin_finding(false)),
    },
    Command {
        name: "find-held",
        keys: &[key('S')],
        label: "search held",
        help: "Search every report that is held, of all files; nothing is asked of the service",
        rank: 8,
        place: OPEN,
        when: A_SERVICE,
        act: Act::Local(|m| m.begin_finding(true)),
    },
    Command {
        name: "next-hit",
        keys: &[key('n')],
        label: "next hit",
        help: "Go to the next hit: of the pane's filter, or of the last search, over all its reports",
        rank: 4,
        place: FILE,
        when: HITS,
        act: Act::Local(|m| m.step_hit(true)),
    },
    Command {
        name: "previous-hit",
        keys: &[key('N')],
        label: "hit before",
        help: "Go to the hit before",
        rank: 0,
        place: FILE,
        when: HITS,
        act: Act::Local(|m| m.step_hit(false)),
    },
];
