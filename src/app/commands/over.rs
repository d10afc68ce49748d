//! What opens over the screen, and what is done there: palette, questions, planner, ledger, explanations.

use super::context::{
    always, can_note, confirmed_request, confirms, form_request, has_service, is_form_held, never, nothing,
};
use super::{Act, Command};
use crate::app::effect::Effect;
use crate::app::key::{ENTER, Key, TAB, key};
use crate::app::model::Model;
use crate::app::overlay::Overlay;
use crate::app::palette::{Confirmed, Palette};
use crate::app::place::{CONFIRM, FILE, FINDER, NOTE, NOTED, OPEN, PLANNER, QUESTION, READING};
use crate::app::planner::Planner;
use crate::app::sheet::Sheet;

pub(super) static COMMANDS: &[Command] = &[
    Command {
        name: "palette",
        keys: &[key(':')],
        label: "all commands",
        help: "Find any command or question by typing some of its letters",
        rank: 5,
        place: OPEN,
        applies: always,
        needs: "",
        act: Act::Local(|m| {
            m.overlay = Some(Overlay::Palette(Palette::everything(m)));
            nothing(m)
        }),
    },
    Command {
        name: "choose",
        keys: &[ENTER],
        label: "choose",
        help: "Do what is chosen",
        rank: 1,
        place: FINDER,
        applies: |m| m.chosen_item().is_some(),
        needs: "something to choose",
        act: Act::Chosen,
    },
    Command {
        name: "show-off",
        keys: &[TAB],
        label: "show or hide what is off",
        help: "Show also what does not apply right now, with the reason; or hide it again",
        rank: 2,
        place: FINDER,
        applies: always,
        needs: "",
        act: Act::Local(|m| {
            if let Some(Overlay::Palette(palette)) = &mut m.overlay {
                palette.toggle_off();
            }
            nothing(m)
        }),
    },
    Command {
        name: "ask",
        keys: &[ENTER],
        label: "ask",
        help: "Ask the question that is typed; an answer that is held costs nothing",
        rank: 1,
        place: QUESTION,
        applies: |m| form_request(m).is_some(),
        needs: "the words of the question",
        act: Act::Ask { request: form_request, is_held: never, with_held: nothing, anew: false },
    },
    Command {
        name: "ask-anew",
        keys: &[Key::Ctrl('r')],
        label: "ask anew",
        help: "Ask the question that is typed though its answer is held",
        rank: 2,
        place: QUESTION,
        applies: |m| is_form_held(m),
        needs: "an answer that is held",
        act: Act::Ask { request: form_request, is_held: never, with_held: nothing, anew: true },
    },
    Command {
        name: "confirm",
        keys: &[key('y')],
        label: "yes, send it",
        help: "Send what waits for a yes",
        rank: 1,
        place: CONFIRM,
        applies: |m| confirmed_request(m).is_some(),
        needs: "one question",
        act: Act::Ask { request: confirmed_request, is_held: never, with_held: nothing, anew: true },
    },
    Command {
        name: "confirm-all",
        keys: &[key('y')],
        label: "yes, open all",
        help: "Open every report of the list that is not held",
        rank: 1,
        place: CONFIRM,
        applies: |m| confirms(m, |what| matches!(what, Confirmed::All)),
        needs: "several questions",
        act: Act::Each(Model::missing_price, Model::open_missing),
    },
    Command {
        name: "note",
        keys: &[key('a')],
        label: "note",
        help: "Write a note on the sandbox's report or on the row; it stays with what the row says when the report is fetched again",
        rank: 8,
        place: NOTED,
        applies: can_note,
        needs: "a report, or a row of one, of a file that a service was asked about",
        act: Act::Local(Model::write_note),
    },
    Command {
        name: "keep-note",
        keys: &[ENTER],
        label: "keep the note",
        help: "Keep the note that is typed; an empty line deletes it, after a yes",
        rank: 1,
        place: NOTE,
        applies: always,
        needs: "",
        act: Act::Local(Model::keep_note),
    },
    Command {
        name: "confirm-no-note",
        keys: &[key('y')],
        label: "yes, delete it",
        help: "Delete the note whose line was emptied",
        rank: 1,
        place: CONFIRM,
        applies: |m| confirms(m, |what| matches!(what, Confirmed::NoNote)),
        needs: "a note whose line was emptied",
        act: Act::Local(Model::delete_note),
    },
    Command {
        name: "ledger",
        keys: &[key('L')],
        label: "ledger",
        help: "Show the ledger: what was asked, predicted, settled, and what the service's counters said of it",
        rank: 9,
        place: OPEN,
        applies: has_service,
        needs: "a service",
        act: Act::Local(|_| vec![Effect::ReadLedger]),
    },
    Command {
        name: "planner",
        keys: &[key('p')],
        label: "planner",
        help: "Add operations up before asking any: what they cost, and what they leave to the user and the group",
        rank: 8,
        place: OPEN,
        applies: has_service,
        needs: "a service",
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
        place: PLANNER,
        applies: always,
        needs: "",
        act: Act::Local(|m| {
            let Some(Overlay::Planner(planner)) = &mut m.overlay else { return Vec::new() };
            match planner.add() {
                Ok(to_count) => to_count.map(Effect::CountHashes).into_iter().collect(),
                Err(missing) => {
                    m.warn(format!("Nothing was added: {missing}."));
                    nothing(m)
                }
            }
        }),
    },
    Command {
        name: "prices",
        keys: &[key('$')],
        label: "why this price",
        help: "Explain the prices that apply here: rule, place in the specification, who is charged",
        rank: 4,
        place: FILE,
        applies: has_service,
        needs: "a service",
        act: Act::Local(|m| {
            m.overlay = Some(Overlay::Sheet(Sheet::prices(m, m.overlay_room().width.into())));
            nothing(m)
        }),
    },
    Command {
        name: "help",
        keys: &[key('?')],
        label: "help",
        help: "Show the keys that apply here with their prices; typing finds one, enter does it",
        rank: 3,
        place: READING,
        applies: always,
        needs: "",
        act: Act::Local(|m| {
            let keys = Palette::keys(m);
            m.put_over(Overlay::Palette(keys));
            nothing(m)
        }),
    },
];
