//! What opens over the screen, and what is done there: palette, questions, planner, ledger, explanations.

use super::Act::{self, Local};
use super::context::{A_SERVICE, can_note, form_request, is_form_held};
use super::{Command, When};
use crate::app::effect::{FileJob, StoreJob};
use crate::app::keys::key::{ENTER, Key, TAB, key};
use crate::app::keys::place::{CONFIRM, FILE, FORM, NOTED, OPEN, PALETTE, READING};
use crate::app::model::Model;
use crate::app::over::overlay::Overlay;
use crate::app::over::palette::Palette;
use crate::app::over::sheet::Sheet;
use crate::app::spending::planner::Planner;

commands! {
    "palette" [key(':')] "all commands", 5, OPEN,
        "Find any command or question by typing some of its letters" => Local(|m| m.over.put(Overlay::Palette(Palette::everything(m))));
    "choose" [ENTER] "choose", 1, PALETTE,
        "Do what is chosen"
        if When::Has("something to choose", |m| m.chosen_item().is_some()) => Act::Chosen;
    "show-off" [TAB] "show or hide what is off", 2, PALETTE,
        "Show also what does not apply right now, with the reason; or hide it again" => Local(|m| {
            if let Some(Overlay::Palette(palette)) = m.over.top_mut() {
                palette.toggle_off();
            }
        });
    "ask" [ENTER] "ask", 1, FORM,
        "Ask the question that is typed; an answer that is held costs nothing"
        if When::Has("the words of the question", |m| form_request(m).is_some()) => Act::ask(form_request);
    "ask-anew" [Key::Ctrl('r')] "ask anew", 2, FORM,
        "Ask the question that is typed though its answer is held"
        if When::Has("an answer that is held", is_form_held) => Act::ask_anew(form_request);
    "confirm" [key('y'), key('Y'), key('f')] "answer", 0, CONFIRM,
        "Answer a question by a key that it names, at the price beside it; any other key closes it, and nothing is done"
        => Local(|m| m.warn("The question names the keys that answer it."));
    "note" [key('a')] "note", 8, NOTED,
        "Write a note on the sandbox's report or on the row; it stays with what the row says when the report is fetched again. ✎ marks what it is on, (✎) the sandbox of a row that has one"
        if When::Has("a report that is held, or a row of one (behaview import holds saved ones)", can_note)
        => Local(Model::write_note);
    "keep-note" [ENTER] "keep the note", 1, FORM,
        "Keep the note that is typed; an empty line deletes it, after a yes"
        if When::Has("a note that is typed", |m| matches!(m.over.top(), Some(Overlay::Note(_)))) => Local(Model::keep_note);
    "ledger" [key('L')] "ledger", 9, OPEN,
        "Show the ledger: what was asked, predicted, settled, and what the service's counters said of it"
        if A_SERVICE => Local(|m| m.emit(StoreJob::ReadLedger));
    "planner" [key('p')] "planner", 8, OPEN,
        "Add operations up before asking any: what they cost, and what they leave to the user and the group"
        if A_SERVICE => Local(|m| m.over.put(Overlay::Planner(Planner::default())));
    "plan" [ENTER] "add to the plan", 1, FORM,
        "Add what is typed to the plan; @ and a file stand for the number of hashes in it; backspace on an empty line takes the last one back"
        if When::Has("the planner", |m| matches!(m.over.top(), Some(Overlay::Planner(_)))) => Local(|m| {
            let Some(Overlay::Planner(planner)) = m.over.top_mut() else { return };
            match planner.add() {
                Ok(None) => {}
                Ok(Some(path)) => m.emit(FileJob::CountHashes(path)),
                Err(missing) => m.warn(format!("Nothing was added: {missing}.")),
            }
        });
    "prices" [key('$')] "why this price", 4, FILE,
        "Explain the prices that apply here: rule, place in the specification, who is charged"
        if A_SERVICE => Local(|m| m.over.put(Overlay::Sheet(Sheet::prices(m, m.overlay_room().width.into()))));
    "help" [key('?')] "help", 3, READING,
        "Show the keys that apply here with their prices; typing finds one, enter does it" => Local(|m| {
            let keys = Palette::keys(m);
            m.over.put(Overlay::Palette(keys));
        });
}
