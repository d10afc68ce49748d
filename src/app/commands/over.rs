//! What opens over the screen, and what is done there: palette, questions, planner, ledger, explanations.

use super::context::{A_SERVICE, can_note, form_request, is_form_held, nothing};
use super::{Act, Command, When};
use crate::app::effect::Effect;
use crate::app::keys::key::{ENTER, Key, TAB, key};
use crate::app::keys::place::{CONFIRM, FILE, NOTE, NOTED, OPEN, PALETTE, PLANNER, PROMPT, READING};
use crate::app::model::Model;
use crate::app::over::overlay::Overlay;
use crate::app::over::palette::Palette;
use crate::app::over::sheet::Sheet;
use crate::app::spending::planner::Planner;

pub(super) static COMMANDS: &[Command] = &[
    Command {
        name: "palette",
        keys: &[key(':')],
        label: "all commands",
        help: "Find any command or question by typing some of its letters",
        rank: 5,
        place: OPEN,
        when: When::Always,
        act: Act::Local(|m| {
            m.over.put(Overlay::Palette(Palette::everything(m)));
            nothing(m)
        }),
    },
    Command {
        name: "choose",
        keys: &[ENTER],
        label: "choose",
        help: "Do what is chosen",
        rank: 1,
        place: PALETTE,
        when: When::Has("something to choose", |m| m.chosen_item().is_some()),
        act: Act::Chosen,
    },
    Command {
        name: "show-off",
        keys: &[TAB],
        label: "show or hide what is off",
        help: "Show also what does not apply right now, with the reason; or hide it again",
        rank: 2,
        place: PALETTE,
        when: When::Always,
        act: Act::Local(|m| {
            if let Some(Overlay::Palette(palette)) = m.over.top_mut() {
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
        place: PROMPT,
        when: When::Has("the words of the question", |m| form_request(m).is_some()),
        act: Act::ask(form_request),
    },
    Command {
        name: "ask-anew",
        keys: &[Key::Ctrl('r')],
        label: "ask anew",
        help: "Ask the question that is typed though its answer is held",
        rank: 2,
        place: PROMPT,
        when: When::Has("an answer that is held", is_form_held),
        act: Act::ask_anew(form_request),
    },
    Command {
        name: "confirm",
        keys: &[key('y'), key('Y'), key('f')],
        label: "answer",
        help: "Answer a question by a key that it names, at the price beside it; any other key closes it, and nothing is done",
        rank: 0,
        place: CONFIRM,
        when: When::Always,
        act: Act::Local(|m| {
            m.warn("The question names the keys that answer it.");
            nothing(m)
        }),
    },
    Command {
        name: "note",
        keys: &[key('a')],
        label: "note",
        help: "Write a note on the sandbox's report or on the row; it stays with what the row says when the report is fetched again. ✎ marks what it is on, (✎) the sandbox of a row that has one",
        rank: 8,
        place: NOTED,
        when: When::Has("a report that is held, or a row of one (behaview import holds saved ones)", can_note),
        act: Act::Local(Model::write_note),
    },
    Command {
        name: "keep-note",
        keys: &[ENTER],
        label: "keep the note",
        help: "Keep the note that is typed; an empty line deletes it, after a yes",
        rank: 1,
        place: NOTE,
        when: When::Always,
        act: Act::Local(Model::keep_note),
    },
    Command {
        name: "ledger",
        keys: &[key('L')],
        label: "ledger",
        help: "Show the ledger: what was asked, predicted, settled, and what the service's counters said of it",
        rank: 9,
        place: OPEN,
        when: A_SERVICE,
        act: Act::Local(|_| vec![Effect::ReadLedger]),
    },
    Command {
        name: "planner",
        keys: &[key('p')],
        label: "planner",
        help: "Add operations up before asking any: what they cost, and what they leave to the user and the group",
        rank: 8,
        place: OPEN,
        when: A_SERVICE,
        act: Act::Local(|m| {
            m.over.put(Overlay::Planner(Planner::default()));
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
        when: When::Always,
        act: Act::Local(|m| {
            let Some(Overlay::Planner(planner)) = m.over.top_mut() else { return Vec::new() };
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
        when: A_SERVICE,
        act: Act::Local(|m| {
            m.over.put(Overlay::Sheet(Sheet::prices(m, m.overlay_room().width.into())));
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
        when: When::Always,
        act: Act::Local(|m| {
            let keys = Palette::keys(m);
            m.over.put(Overlay::Palette(keys));
            nothing(m)
        }),
    },
];
