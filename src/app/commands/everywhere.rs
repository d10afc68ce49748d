//! Commands of no report: palette, ledger, planner, prices, settings, store, triage; then moving,
//! going back and quitting.

use crate::app::commands::Action::Local;
use crate::app::commands::{
    A_SERVICE, Action, Requirement, can_go_back, form_request, has_service, is_form_stored, is_over,
};
use crate::app::keys::{
    CHOSEN, CONFIRM, DELETE, DOWN, END, ENTER, ESC, EVERYWHERE, FORM, HOME, KeyContexts, OPEN, OVERLAYS, PAGE_DOWN,
    PAGE_UP, PICKER, READING, UP, key,
};
use crate::app::overlays::{AgeForm, AgeInDays, GroupView, StoredList, TextPage, TriageList, group, palette, triage};
use crate::app::panes::Move;
use crate::app::spending::Planner;
use crate::app::{Command, FileJob, Key, KeyContext, Model, ResponseSource, ServiceCall, StoreJob};
use crate::report::StoredItem;

const STORED: Requirement = ("something stored", |m| m.chosen_stored().is_some());
const ANY_STORED: &[Requirement] = &[STORED];

/// Deleting more than the visible rows is disabled while a filter hides some.
const ALL_SHOWN: &[Requirement] = &[
    STORED,
    ("all rows shown, for it deletes others as well", |m| {
        m.overlays.top_as::<StoredList>().is_some_and(|stored| stored.filter.typed.is_empty())
    }),
];

commands! {
    "palette" [key(':')] "commands", 5, READING,
        "Find any command or request by typing words of its name or help" => Local(|m| palette::open(m, false));
    "choose" [ENTER] "choose", 1, CHOSEN,
        "Run the chosen command"
        if &[("something to choose", |m| m.chosen_item().is_some())] => Action::Chosen;
    "send" [ENTER] "send", 1, FORM,
        "Send the typed request; a stored response costs nothing"
        if &[("valid input for the request", |m| form_request(m).is_some())] => Action::Send {
            request: form_request,
            is_stored: is_form_stored,
            with_stored: |m| form_request(m).into_iter().for_each(|request| m.load_stored(request, ResponseSource::Stored)),
            source: ResponseSource::StoredOrService,
        };
    "refetch-typed" [Key::Ctrl('a')] "send again", 2, FORM,
        "Send the typed request though its response is stored"
        if &[("a stored response", is_form_stored)] => Action::send_again(form_request);
    "confirm" [key('y'), key('Y')] "confirm", 0, CONFIRM,
        "Confirm by a key that the confirmation shows, at the price beside it; any other key closes it, and nothing is done"
        => Local(|m| m.warn("The confirmation shows its keys."));
    "ledger" [key('L')] "ledger", 9, OPEN,
        "Show the ledger: each call, its predicted and settled cost, and whether the service's counters confirm it"
        if A_SERVICE => Local(|m| m.emit(StoreJob::ReadLedger));
    "spenders" [key('B')] "who spends", 9, OPEN,
        "Show who spent the quota this month: by user, project, operation and day, from the team's ledger or this machine's; and where the pace leads"
        if A_SERVICE => Local(|m| m.emit(ServiceCall::ReadCosts));
    "planner" [key('p')] "planner", 8, OPEN,
        "Add operations up before sending any: what they cost, and what they leave to the user and the group"
        if A_SERVICE => Local(|m| m.overlays.put(Planner::empty()));
    "plan" [ENTER] "add to the plan", 1, FORM,
        "Add the typed operation to the plan; @ and a file count the hashes in it; backspace on an empty line takes the last one back"
        if &[("the planner", is_over::<Planner>)] => Local(|m| {
            let Some(planner) = m.overlays.top_as_mut::<Planner>() else { return };
            match planner.add() {
                Ok(None) => {}
                Ok(Some(path)) => m.emit(FileJob::CountHashes(path)),
                // The form's rows show the reason.
                Err(_) => m.warn("Nothing was added."),
            }
        });
    "prices" [key('$')] "prices", 6, KeyContexts::of(&[KeyContext::List, KeyContext::Pane, KeyContext::Picker]),
        "Explain the prices that apply here: rule, place in the specification, who is charged"
        if &[("a file from the service, or its artifacts", |m| {
            has_service(m) && (m.overlays.is_empty() || m.chosen_artifact().is_some())
        })] => Local(|m| m.overlays.put(TextPage::prices(m)));
    "help" [key('?')] "help", 1, READING,
        "Show the keys that apply here with their prices; / finds one, enter does it" => Local(|m| palette::open(m, true));
    "settings" [key(',')] "settings", 0, OPEN,
        "Show every setting, and what it is set with: theme, keys, budget, mouse and others"
        => Local(|m| m.overlays.put(TextPage::settings(&m.settings.in_effect)));
    "store" [key('H')] "stored reports", 8, OPEN,
        "Show everything stored: size, age, expiry at the service, notes, where it came from; and delete it"
        if A_SERVICE => Local(|m| m.emit(StoreJob::LoadInventory));
    "open-stored" [ENTER] "open file", 1, PICKER,
        "Open the file of the chosen report"
        if &[("a report of a known file, imported or stored for this service", |m| {
            let is_here = |line: &StoredItem| line.service == m.service.id || line.imported.is_some();
            m.chosen_stored().is_some_and(|line| line.file.is_some() && is_here(line))
        })] => Local(Model::open_stored);
    "triage" [key('#')] "triage", 6, KeyContexts::of(&[KeyContext::Start, KeyContext::List, KeyContext::Pane, KeyContext::Picker]),
        "Rank all stored files, or those of the group's list: verdict, rules that match, sandboxes, and the price of what is not stored; pasting several hashes ranks those; costs nothing"
        if &[("no open list but that of what is stored or of the group, and a service", |m| {
            has_service(m) && (m.overlays.is_empty() || is_over::<StoredList>(m) || is_over::<GroupView>(m))
        })] => Local(|m| triage::triage(m, group::shown_files(m)));
    "open-triaged" [ENTER] "open file", 1, PICKER,
        "Open the file; going back returns to the triage"
        if &[("a file of the triage", |m| {
            m.overlays.top_as::<TriageList>().is_some_and(|list| list.chosen().is_some())
        })] => Local(triage::open_triaged);
    "fetch-triaged" [key('A')] "fetch missing", 2, PICKER,
        "Request what is missing of the files shown: their lists, and once these are stored their reports; after confirmation of the total, one after another"
        if &[("a complete triage with something to request, and no other requests in sequence", |m| {
            m.calls.batch().is_none() && !triage::cheapest(m).is_empty()
        })] => Action::Each { requests: triage::cheapest, price: triage::price_of_cheapest, begin: triage::confirm_fetch };
    "sort-stored" [key('O')] "sort", 2, PICKER,
        "Sort by age, size, file or expiry" if ANY_STORED => Local(Model::sort_stored);
    "delete-stored" [key('D'), DELETE] "delete", 2, PICKER,
        "Delete the chosen report from the store; or everything stored of its file; after confirmation"
        if ANY_STORED => Local(Model::delete_chosen);
    "delete-old" [key('P')] "purge by age", 3, PICKER,
        "Delete everything older than a number of days, after confirmation" if ALL_SHOWN => Local(|m| m.overlays.put(AgeForm::with_fields(AgeInDays, 1)));
    "delete-everything" [key('X')] "delete all", 4, PICKER,
        "Delete everything stored, after confirmation; the ledger stays"
        if ALL_SHOWN => Local(|m| m.confirm_deletion(vec![crate::report::DeletionTarget::Everything]));
    "apply-age" [ENTER] "how many go", 1, FORM,
        "List everything older than the typed days, for confirmation"
        if &[("a typed age", is_over::<AgeForm>)] => Local(Model::delete_old);
    "down" [DOWN, key('j')] "down", 0, EVERYWHERE,
        "One row down" => Local(|m| m.go(Move::Down(1)));
    "up" [UP, key('k')] "up", 0, EVERYWHERE,
        "One row up" => Local(|m| m.go(Move::Up(1)));
    "page-down" [PAGE_DOWN, Key::Ctrl('f')] "page down", 0, EVERYWHERE,
        "One page down; ▐ on a border is the part of the rows in sight" => Local(|m| m.go_page(Move::PageDown));
    "page-up" [PAGE_UP, Key::Ctrl('b')] "page up", 0, EVERYWHERE,
        "One page up" => Local(|m| m.go_page(Move::PageUp));
    "first" [key('g'), HOME] "first", 0, EVERYWHERE,
        "To the first row" => Local(|m| m.go(Move::First));
    "last" [key('G'), END] "last", 0, EVERYWHERE,
        "To the last row" => Local(|m| m.go(Move::Last));
    "back" [ESC] "back", 4, EVERYWHERE,
        "Go back one step: empty the filter of a list, close, shrink, to the list of sandboxes; open-file leaves the file"
        if &[("something to go back from", can_go_back)] => Local(Model::go_back);
    "cancel" [Key::Ctrl('x')] "cancel", 2, EVERYWHERE,
        "Stop waiting for the calls in flight; they may be charged, and the ledger counts them"
        if &[("a call in flight", |m| !m.calls.is_empty())] => Local(Model::cancel_or_quit);
    "suspend" [Key::Ctrl('z')] "suspend", 0, EVERYWHERE,
        "Suspend the app and return to the shell; `fg` resumes it"
        if &[("a terminal that can suspend a program", |m| m.settings.has_shell)]
        => Local(Model::suspend_app);
    "close" [key('q')] "close", 0, OVERLAYS,
        "Close the overlay, whatever filters it" => Local(Model::close_overlay);
    "quit" [key('q'), Key::Ctrl('c')] "quit", 6, EVERYWHERE,
        "Quit; over an overlay by ctrl-c alone; a paid response in flight is waited for, pressing it again leaves at once"
        => Local(Model::quit);
}
