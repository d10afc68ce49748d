//! The rows of the table of commands. Where two have the same key, the first that applies is meant.

use super::commands::{Act, Command};
use super::context::{
    always, can_go_back, chosen_report, confirmed_request, enter_report, first_page, form_request, has_kinds,
    has_report, in_answer, in_list, in_pane, in_tree, is_chosen_held, is_form_held, is_next, never, next_page, nothing,
    on_file, on_start,
};
use super::key::{Key, Named};
use super::list::Next;
use super::message::Effect;
use super::model::{Model, Overlay};
use super::palette::Palette;
use super::panes::Move;
use super::planner::Planner;
use super::sheet::Sheet;
use crate::request::Request;

const fn key(c: char) -> Key {
    Key::Char(c)
}

const ENTER: Key = Key::Named(Named::Enter);
const ESC: Key = Key::Named(Named::Esc);
const TAB: Key = Key::Named(Named::Tab);
const BACK_TAB: Key = Key::Named(Named::BackTab);
const UP: Key = Key::Named(Named::Up);
const DOWN: Key = Key::Named(Named::Down);
const LEFT: Key = Key::Named(Named::Left);
const RIGHT: Key = Key::Named(Named::Right);
const HOME: Key = Key::Named(Named::Home);
const END: Key = Key::Named(Named::End);
const PAGE_UP: Key = Key::Named(Named::PageUp);
const PAGE_DOWN: Key = Key::Named(Named::PageDown);

/// Columns that one sideways step moves.
const SIDEWAYS: usize = 8;

/// Every command. Where two have the same key, the first that applies is meant.
pub static COMMANDS: &[Command] = &[
    Command {
        name: "list",
        keys: &[ENTER],
        label: "list sandboxes",
        help: "List the sandboxes of the file, with their reports where the service sends them along",
        rank: 1,
        applies: |m| in_list(m) && is_next(m, |next| matches!(next, Next::Page(None))),
        act: Act::Ask { request: next_page, is_held: never, with_held: nothing, anew: false },
    },
    Command {
        name: "next-page",
        keys: &[ENTER],
        label: "next page",
        help: "List the next page of sandboxes",
        rank: 1,
        applies: |m| in_list(m) && is_next(m, |next| matches!(next, Next::Page(Some(_)))),
        act: Act::Ask { request: next_page, is_held: never, with_held: nothing, anew: false },
    },
    Command {
        name: "open",
        keys: &[ENTER],
        label: "open",
        help: "Open the sandbox's report; held reports cost nothing",
        rank: 1,
        applies: |m| in_list(m) && m.chosen().is_some(),
        act: Act::Ask { request: chosen_report, is_held: is_chosen_held, with_held: enter_report, anew: false },
    },
    Command {
        name: "refresh",
        keys: &[key('r')],
        label: "refetch",
        help: "Fetch a report once more that is held already; the held one stays until the new one is there",
        rank: 2,
        applies: |m| on_file(m) && is_chosen_held(m) && chosen_report(m).is_some(),
        act: Act::Ask { request: chosen_report, is_held: never, with_held: nothing, anew: true },
    },
    Command {
        name: "refresh-list",
        keys: &[key('R')],
        label: "list again",
        help: "List the sandboxes once more, from the first page; held reports stay",
        rank: 3,
        applies: |m| in_list(m) && first_page(m).is_some(),
        act: Act::Ask { request: first_page, is_held: never, with_held: nothing, anew: true },
    },
    Command {
        name: "open-all",
        keys: &[key('A')],
        label: "open all",
        help: "Open every report of the list that is not held, one after another; the total is in the bar, the first failure stops it",
        rank: 4,
        applies: |m| in_list(m) && m.batch.is_none() && m.missing_reports().len() > 1,
        act: Act::Each(Model::missing_price, Model::open_missing),
    },
    Command {
        name: "stop",
        keys: &[key('s')],
        label: "stop",
        help: "Stop opening all: nothing further is sent",
        rank: 1,
        applies: |m| on_file(m) && m.batch.is_some(),
        act: Act::Local(|m| {
            m.stop_batch("Stopped.");
            nothing(m)
        }),
    },
    Command {
        name: "balances",
        keys: &[key('b')],
        label: "counters",
        help: "Show the service's own counters, asked for anew: what is left to the user and the group; takes no quota",
        rank: 9,
        applies: |m| in_list(m) && !m.is_document(),
        act: Act::Ask { request: |_| Some(Request::Quotas), is_held: never, with_held: nothing, anew: true },
    },
    Command {
        name: "open-file",
        keys: &[ENTER],
        label: "open file",
        help: "Open the file whose SHA-256 is typed, or the chosen earlier one; what is held of it costs nothing",
        rank: 1,
        applies: on_start,
        act: Act::Local(Model::open_typed),
    },
    Command {
        name: "demo",
        keys: &[key('t')],
        label: "try the demo",
        help: "Run the embedded service with made-up reports: no key, no network, no cost",
        rank: 2,
        applies: |m| on_start(m) && !m.service.has_key,
        act: Act::Local(|_| vec![Effect::Demo]),
    },
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
        name: "choose",
        keys: &[ENTER],
        label: "choose",
        help: "Do what is chosen",
        rank: 1,
        applies: |m| matches!(m.overlay, Some(Overlay::Palette(_))),
        act: Act::Local(Model::choose),
    },
    Command {
        name: "ask",
        keys: &[ENTER],
        label: "ask",
        help: "Ask the question that is typed; an answer that is held costs nothing",
        rank: 1,
        applies: |m| form_request(m).is_some(),
        act: Act::Ask { request: form_request, is_held: never, with_held: nothing, anew: false },
    },
    Command {
        name: "ask-anew",
        keys: &[Key::Ctrl('r')],
        label: "ask anew",
        help: "Ask the question that is typed though its answer is held",
        rank: 2,
        applies: |m| is_form_held(m),
        act: Act::Ask { request: form_request, is_held: never, with_held: nothing, anew: true },
    },
    Command {
        name: "confirm",
        keys: &[key('y')],
        label: "yes, send it",
        help: "Send what waits for a yes",
        rank: 1,
        applies: |m| confirmed_request(m).is_some(),
        act: Act::Ask { request: confirmed_request, is_held: never, with_held: nothing, anew: true },
    },
    Command {
        name: "confirm-all",
        keys: &[key('y')],
        label: "yes, open all",
        help: "Open every report of the list that is not held",
        rank: 1,
        applies: |m| matches!(&m.overlay, Some(Overlay::Confirm(_))) && confirmed_request(m).is_none(),
        act: Act::Each(Model::missing_price, Model::open_missing),
    },
    Command {
        name: "ledger",
        keys: &[key('L')],
        label: "ledger",
        help: "Show the ledger: what was asked, predicted, settled, and what the service's counters said of it",
        rank: 9,
        applies: |m| m.overlay.is_none() && !m.is_document(),
        act: Act::Local(|_| vec![Effect::ReadLedger]),
    },
    Command {
        name: "planner",
        keys: &[key('p')],
        label: "planner",
        help: "Add operations up before asking any: what they cost, and what they leave to the user and the group",
        rank: 8,
        applies: |m| m.overlay.is_none() && !m.is_document(),
        act: Act::Local(|m| {
            m.overlay = Some(Overlay::Planner(Planner::default()));
            nothing(m)
        }),
    },
    Command {
        name: "plan",
        keys: &[ENTER],
        label: "add to the plan",
        help: "Add what is typed to the plan; backspace on an empty line takes the last one back",
        rank: 1,
        applies: |m| matches!(m.overlay, Some(Overlay::Planner(_))),
        act: Act::Local(|m| {
            if let Some(Overlay::Planner(planner)) = &mut m.overlay {
                planner.add();
            }
            nothing(m)
        }),
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
    Command {
        name: "palette",
        keys: &[key(':')],
        label: "all commands",
        help: "Find any command or question by typing some of its letters",
        rank: 5,
        applies: |m| m.overlay.is_none(),
        act: Act::Local(|m| {
            m.overlay = Some(Overlay::Palette(Palette::of(m)));
            nothing(m)
        }),
    },
    Command {
        name: "down",
        keys: &[DOWN, key('j')],
        label: "down",
        help: "One row down",
        rank: 0,
        applies: always,
        act: Act::Local(|m| m.go(Move::Down(1))),
    },
    Command {
        name: "up",
        keys: &[UP, key('k')],
        label: "up",
        help: "One row up",
        rank: 0,
        applies: always,
        act: Act::Local(|m| m.go(Move::Up(1))),
    },
    Command {
        name: "page-down",
        keys: &[PAGE_DOWN, Key::Ctrl('f')],
        label: "page down",
        help: "One page down",
        rank: 0,
        applies: always,
        act: Act::Local(|m| m.go_page(Move::Down)),
    },
    Command {
        name: "page-up",
        keys: &[PAGE_UP, Key::Ctrl('b')],
        label: "page up",
        help: "One page up",
        rank: 0,
        applies: always,
        act: Act::Local(|m| m.go_page(Move::Up)),
    },
    Command {
        name: "first",
        keys: &[key('g'), HOME],
        label: "first",
        help: "To the first row",
        rank: 0,
        applies: always,
        act: Act::Local(|m| m.go(Move::First)),
    },
    Command {
        name: "last",
        keys: &[key('G'), END],
        label: "last",
        help: "To the last row",
        rank: 0,
        applies: always,
        act: Act::Local(|m| m.go(Move::Last)),
    },
    Command {
        name: "other-file",
        keys: &[key('f')],
        label: "other file",
        help: "Type or paste another file's SHA-256, or choose an earlier one",
        rank: 9,
        applies: |m| on_file(m) && !m.is_document(),
        act: Act::Local(Model::leave_file),
    },
    Command {
        name: "prices",
        keys: &[key('$')],
        label: "why this price",
        help: "Explain the prices that apply here: rule, place in the specification, who is charged",
        rank: 4,
        applies: |m| on_file(m) && !m.is_document(),
        act: Act::Local(|m| {
            m.overlay = Some(Overlay::Sheet(Sheet::prices(m, m.overlay_room().width.into())));
            nothing(m)
        }),
    },
    Command {
        name: "help",
        keys: &[key('?')],
        label: "help",
        help: "Show the keys that apply here",
        rank: 3,
        applies: |m| m.overlay.is_none(),
        act: Act::Local(|m| {
            m.overlay = Some(Overlay::Sheet(Sheet::help(m, m.overlay_room().width.into())));
            nothing(m)
        }),
    },
    Command {
        name: "back",
        keys: &[ESC],
        label: "back",
        help: "Go back one step: close, shrink, to the list, to the start",
        rank: 5,
        applies: can_go_back,
        act: Act::Local(Model::go_back),
    },
    Command {
        name: "quit",
        keys: &[key('q'), Key::Ctrl('c')],
        label: "quit",
        help: "Quit; a paid answer that is under way is waited for, pressing it again leaves at once",
        rank: 6,
        applies: always,
        act: Act::Local(Model::quit),
    },
];
