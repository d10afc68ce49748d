//! Commands for overlays and the store, and those that work everywhere.

use crate::app::commands::Act::Local;
use crate::app::commands::{A_SERVICE, A_STORE, can_go_back, can_note, form_request, is_form_held};
use crate::app::commands::{Act, When};
use crate::app::keys::{CONFIRM, EVERYWHERE, FILE, FORM, NOTED, OPEN, PALETTE, PICKER, READING};
use crate::app::keys::{DOWN, END, ENTER, ESC, HOME, PAGE_DOWN, PAGE_UP, TAB, UP, key};
use crate::app::over::{AgeForm, AgeInDays, HeldScreen, NoteForm, Palette, Sheet};
use crate::app::panes::Move;
use crate::app::spending::Planner;
use crate::app::{Command, FileJob, Key, Model, StoreJob};
use crate::report::Holding;

fn has_held(model: &Model) -> bool {
    model.chosen_held().is_some()
}

const SOMETHING_HELD: When = When::Has("something that is held", has_held);

/// What deletes rows that a search does not show is off while one is on.
const ALL_SHOWN: When = When::HasAll(&[
    ("something that is held", has_held),
    ("all rows shown, for it deletes others as well", |m| {
        m.over.top_as::<HeldScreen>().is_some_and(|held| held.filter.typed.is_empty())
    }),
]);

commands! {
    "palette" [key(':')] "all commands", 5, OPEN,
        "Find any command or question by typing some of its letters" => Local(|m| m.over.put(Palette::everything(m)));
    "choose" [ENTER] "choose", 1, PALETTE,
        "Do what is chosen"
        if When::Has("something to choose", |m| m.chosen_item().is_some()) => Act::Chosen;
    "show-off" [TAB] "show or hide what is off", 2, PALETTE,
        "Show also what does not apply right now, with the reason; or hide it again" => Local(|m| m.with_over(Palette::toggle_off));
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
        if When::Has("a note that is typed", |m| m.over.top_as::<NoteForm>().is_some()) => Local(Model::keep_note);
    "ledger" [key('L')] "ledger", 9, OPEN,
        "Show the ledger: what was asked, predicted, settled, and what the service's counters said of it"
        if A_SERVICE => Local(|m| m.emit(StoreJob::ReadLedger));
    "planner" [key('p')] "planner", 8, OPEN,
        "Add operations up before asking any: what they cost, and what they leave to the user and the group"
        if A_SERVICE => Local(|m| m.over.put(Planner::empty()));
    "plan" [ENTER] "add to the plan", 1, FORM,
        "Add what is typed to the plan; @ and a file stand for the number of hashes in it; backspace on an empty line takes the last one back"
        if When::Has("the planner", |m| m.over.top_as::<Planner>().is_some()) => Local(|m| {
            let Some(planner) = m.over.top_as_mut::<Planner>() else { return };
            match planner.add() {
                Ok(None) => {}
                Ok(Some(path)) => m.emit(FileJob::CountHashes(path)),
                Err(missing) => m.warn(format!("Nothing was added: {missing}.")),
            }
        });
    "prices" [key('$')] "why this price", 4, FILE,
        "Explain the prices that apply here: rule, place in the specification, who is charged"
        if A_SERVICE => Local(|m| m.over.put(Sheet::prices(m, m.overlay_room().width.into())));
    "help" [key('?')] "help", 3, READING,
        "Show the keys that apply here with their prices; typing finds one, enter does it" => Local(|m| {
            let keys = Palette::keys(m);
            m.over.put(keys);
        });
    "held" [key('H')] "held reports", 8, OPEN,
        "Show everything that is held: size, age, expiry at the service, notes, where it came from; and delete it"
        if A_STORE => Local(|m| m.emit(StoreJob::LoadInventory));
    "open-held" [ENTER] "open file", 1, PICKER,
        "Open the file of the chosen report"
        if When::Has("a report of a known file, imported or held for the service that is asked now", |m| {
            let is_here = |line: &Holding| line.service == m.service.id || line.imported.is_some();
            m.chosen_held().is_some_and(|line| line.file.is_some() && is_here(line))
        }) => Local(Model::open_held);
    "sort-held" [key('s')] "sort", 2, PICKER,
        "Sort by age, size, file or expiry" if SOMETHING_HELD => Local(Model::sort_held);
    "delete-held" [key('d')] "delete", 2, PICKER,
        "Delete the chosen report from this machine, after a yes"
        if SOMETHING_HELD => Local(Model::delete_chosen);
    "delete-file" [key('D')] "delete file", 3, PICKER,
        "Delete everything that is held of the chosen report's file, after a yes"
        if When::Has("a report of a known file", |m| m.chosen_held().is_some_and(|line| line.file.is_some()))
        => Local(Model::delete_file);
    "delete-old" [key('p')] "purge by age", 3, PICKER,
        "Delete what is older than so many days, after a yes" if ALL_SHOWN => Local(|m| m.over.put(AgeForm::with_fields(AgeInDays, 1)));
    "delete-everything" [key('X')] "delete all", 4, PICKER,
        "Delete everything that is held, after a yes; the ledger stays"
        if ALL_SHOWN => Local(|m| m.confirm_purge(crate::report::Purge::Everything));
    "take-age" [ENTER] "how many go", 1, FORM,
        "Say what is older than the days that are typed, and ask"
        if When::Has("an age that is typed", |m| m.over.top_as::<AgeForm>().is_some()) => Local(Model::delete_old);
    "down" [DOWN, key('j')] "down", 0, EVERYWHERE,
        "One row down" => Local(|m| m.go(Move::Down(1)));
    "up" [UP, key('k')] "up", 0, EVERYWHERE,
        "One row up" => Local(|m| m.go(Move::Up(1)));
    "page-down" [PAGE_DOWN, Key::Ctrl('f')] "page down", 0, EVERYWHERE,
        "One page down" => Local(|m| m.go_page(Move::Down));
    "page-up" [PAGE_UP, Key::Ctrl('b')] "page up", 0, EVERYWHERE,
        "One page up" => Local(|m| m.go_page(Move::Up));
    "first" [key('g'), HOME] "first", 0, EVERYWHERE,
        "To the first row" => Local(|m| m.go(Move::First));
    "last" [key('G'), END] "last", 0, EVERYWHERE,
        "To the last row" => Local(|m| m.go(Move::Last));
    "back" [ESC] "back", 5, EVERYWHERE,
        "Go back one step: close, shrink, to the list of sandboxes; the file itself is left by other-file"
        if When::Has("something to go back from", can_go_back) => Local(Model::go_back);
    "give-up" [Key::Ctrl('x')] "give up", 2, EVERYWHERE,
        "Wait no longer for what is under way; what was sent may be charged, and the ledger counts it"
        if When::Has("something under way", |m| !m.calls.is_empty()) => Local(Model::give_up);
    "shell" [Key::Ctrl('z')] "shell", 0, EVERYWHERE,
        "Give the terminal to the shell; `fg` brings the app back"
        if When::Has("a terminal that can stop a program", |m| m.settings.has_shell)
        => Local(Model::make_way);
    "quit" [key('q'), Key::Ctrl('c')] "quit", 6, EVERYWHERE,
        "Quit; a paid answer that is under way is waited for, pressing it again leaves at once"
        => Local(Model::quit);
}
