//! Commands on a file and its sandboxes: search, list, open, fetch again.

use crate::app::commands::Act::Local;
use crate::app::commands::context::{
    A_REPORT, A_SERVICE, A_STORE, chosen_report, enter_report, first_page, is_chosen_held, is_next, next_page,
};
use crate::app::commands::{Act, When};
use crate::app::keys::place::{FILE, FILTER, FILTERED, FOUND, HITS, LIST, LISTED, NAMED, OPEN, PANE, SOUGHT, START};
use crate::app::keys::{ENTER, ESC, key};
use crate::app::list::Next;
use crate::app::spending::last_days;
use crate::app::{Command, Key, Model, TerminalAction};
use crate::request::Request;

const A_HIT: When = When::Has("a filter or a search", Model::has_hits);

commands! {
    "keep-filter" [ENTER] "keep", 1, FILTER,
        "Keep the filter and give the keys back" => Local(Model::keep_filter);
    "drop-filter" [ESC] "no filter", 2, FILTERED,
        "Take the filter away"
        if When::Has("a filter", |m| m.filter().is_some()) => Local(Model::drop_filter);
    "go-to-hit" [ENTER] "go there", 1, FOUND,
        "Go to the chosen hit, in its report and pane" => Local(Model::go_to_hit);
    "change-search" [key('/')] "change the words", 2, HITS,
        "Go on typing what is sought" => Local(Model::type_search);
    "expression" [Key::Ctrl('r')] "regex", 2, SOUGHT,
        "Take what is typed as a regular expression, or as plain words again"
        => Local(|m| m.change_how(|how| how.is_regex = !how.is_regex));
    "case" [Key::Ctrl('t')] "case", 3, SOUGHT,
        "Tell capital from small letters, or not"
        => Local(|m| m.change_how(|how| how.is_case_sensitive = !how.is_case_sensitive));
    "filter" [key('/')] "filter", 5, PANE,
        "Show only the pane's rows that hold what is typed, in any of their fields or in the word beside them"
        => Local(Model::begin_filter);
    "find" [key('F')] "find", 6, FILE,
        "Search all panes of the report" if A_REPORT => Local(|m| m.begin_finding(false));
    "find-from-list" [key('/')] "find", 0, LIST,
        "Find in all panes of the report, with the key that filters inside of one"
        if A_REPORT => Local(|m| m.begin_finding(false));
    "find-held" [key('S')] "search held", 8, OPEN,
        "Search every report that is held, of all files; nothing is asked of the service"
        if A_STORE => Local(|m| m.begin_finding(true));
    "next-hit" [key('n')] "next hit", 4, FILE,
        "Go to the next hit: of the pane's filter, or of the last search, over all its reports"
        if A_HIT => Local(|m| m.step_hit(true));
    "previous-hit" [key('N')] "hit before", 0, FILE,
        "Go to the hit before" if A_HIT => Local(|m| m.step_hit(false));
    "list" [ENTER] "list sandboxes", 1, LIST,
        "List the sandboxes of the file, with their reports where the service sends them along"
        if When::Has("a list that has not been asked for", |m| is_next(m, |next| matches!(next, Next::Page(None))))
        => Act::ask(next_page);
    "next-page" [ENTER] "next page", 1, LIST,
        "List the next page of sandboxes"
        if When::Has("the row after the last sandbox", |m| is_next(m, |next| matches!(next, Next::Page(Some(_)))))
        => Act::ask(next_page);
    "open" [ENTER] "open", 1, LIST,
        "Open the sandbox's report; held reports cost nothing"
        if When::Has("a sandbox", |m| m.chosen().is_some())
        => Act::Ask { request: chosen_report, is_held: is_chosen_held, with_held: enter_report, anew: false };
    "refresh" [key('r')] "refetch", 2, FILE,
        "Fetch a report once more that is held already; the held one stays until the new one is there"
        if When::Has("a report that is held", |m| is_chosen_held(m) && chosen_report(m).is_some())
        => Act::ask_anew(chosen_report);
    "refresh-list" [key('R')] "relist", 3, LIST,
        "List once more; if the first page changed, further ones cost again"
        if When::Has("a list that has been asked for", |m| first_page(m).is_some())
        => Act::ask_anew(first_page);
    "open-all" [key('A')] "open all", 4, LISTED,
        "Open every report of the list that is not held, one after another; the total is in the bar, the first failure stops it"
        if When::HasAll(&[
            ("the reports that are being opened to be here first", |m| m.batch.is_none()),
            ("reports of the list that are not held", |m| {
                m.missing_reports().len() > usize::from(m.comparing().is_none())
            }),
        ])
        => Act::Each { requests: Model::missing_reports, price: Model::missing_price, begin: Model::open_missing };
    "stop" [key('s')] "stop", 1, FILE,
        "Stop opening all: nothing further is sent"
        if When::Has("reports that are being opened", |m| m.batch.is_some()) => Local(|m| m.stop_batch("Stopped."));
    "balances" [key('b')] "counters", 9, LIST,
        "Show the service's own counters, asked for anew: what is left to the user and the group; takes no quota"
        if A_SERVICE => Act::ask_anew(|_| Some(Request::Quotas));
    "usage" [key('u')] "usage", 9, LIST,
        "Show what was used in the last 30 days, by day and endpoint; takes no quota"
        if A_SERVICE => Act::ask_anew(|m| Some(last_days(m.now)));
    "open-file" [ENTER] "open file", 1, NAMED,
        "Open the file whose SHA-256 is typed, or the chosen earlier one; what is held of it costs nothing"
        if When::Has("a SHA-256 that is typed or pasted", |m| {
            !m.start.typed.is_empty() || !m.start.recent.is_empty()
        }) => Local(Model::open_typed);
    "demo" [key('t')] "try the demo", 2, START,
        "Run the embedded service with made-up reports: no key, no network, no cost"
        if When::Has("that there is no key yet", |m| !m.service.has_key) => Local(|m| m.emit(TerminalAction::Demo));
    "other-file" [key('f')] "other file", 5, FILE,
        "Type or paste another file's SHA-256, or choose an earlier one"
        if A_SERVICE => Local(Model::leave_file);
}
