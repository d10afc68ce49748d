//! What is done with a file and its sandboxes: listing, opening, asking once more.

use super::Act::{self, Local};
use super::context::{A_SERVICE, chosen_report, enter_report, first_page, is_chosen_held, is_next, next_page};
use super::{Command, When};
use crate::app::effect::TerminalAction;
use crate::app::keys::key::{ENTER, key};
use crate::app::keys::place::{FILE, LIST, LISTED, NAMED, START};
use crate::app::list::Next;
use crate::app::model::Model;
use crate::app::spending::asks::last_days;
use crate::request::Request;

commands! {
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
