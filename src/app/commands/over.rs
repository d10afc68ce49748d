//! What opens over the screen, and what is done there: palette, questions, planner, ledger, explanations.

use super::context::{can_note, confirmed_request, confirms, form_request, is_form_held, never, nothing, on_file};
use super::{Act, Command};
use crate::app::key::{ENTER, Key, key};
use crate::app::message::Effect;
use crate::app::model::Model;
use crate::app::overlay::Overlay;
use crate::app::palette::{Confirmed, Palette};
use crate::app::planner::Planner;
use crate::app::sheet::Sheet;

pub(super) static COMMANDS: &[Command] = &[
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
        applies: |m| confirms(m, |what| matches!(what, Confirmed::All)),
        act: Act::Each(Model::missing_price, Model::open_missing),
    },
    Command {
        name: "note",
        keys: &[key('a')],
        label: "note",
        help: "Write a note on the sandbox's report or on the row; it stays with what the row says when the report is fetched again",
        rank: 8,
        applies: can_note,
        act: Act::Local(Model::write_note),
    },
    Command {
        name: "keep-note",
        keys: &[ENTER],
        label: "keep the note",
        help: "Keep the note that is typed; an empty line deletes it, after a yes",
        rank: 1,
        applies: |m| matches!(m.overlay, Some(Overlay::Note(_))),
        act: Act::Local(Model::keep_note),
    },
    Command {
        name: "confirm-no-note",
        keys: &[key('y')],
        label: "yes, delete it",
        help: "Delete the note whose line was emptied",
        rank: 1,
        applies: |m| confirms(m, |what| matches!(what, Confirmed::NoNote)),
        act: Act::Local(Model::delete_note),
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
        help: "Add what is typed to the plan; @ and a file stand for the number of hashes in it; backspace on an empty line takes the last one back",
        rank: 1,
        applies: |m| matches!(m.overlay, Some(Overlay::Planner(_))),
        act: Act::Local(|m| {
            let Some(Overlay::Planner(planner)) = &mut m.overlay else { return Vec::new() };
            planner.add().map(Effect::CountHashes).into_iter().collect()
        }),
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
];
