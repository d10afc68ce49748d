//! What is done with a file and its sandboxes: listing, opening, asking once more.

use super::context::{A_SERVICE, chosen_report, enter_report, first_page, is_chosen_held, is_next, next_page, nothing};
use super::{Act, Command, When};
use crate::app::effect::Effect;
use crate::app::keys::key::{ENTER, key};
use crate::app::keys::place::{FILE, LIST, LISTED, NAMED, START};
use crate::app::list::Next;
use crate::app::model::Model;
use crate::app::spending::asks::last_days;
use crate::request::Request;

pub(super) static COMMANDS: &[Command] = &[
    Command {
        name: "list",
        keys: &[ENTER],
        label: "list sandboxes",
        help: "List the sandboxes of the file, with their reports where the service sends them along",
        rank: 1,
        place: LIST,
        when: When::Has("a list that has not been asked for", |m| is_next(m, |next| matches!(next, Next::Page(None)))),
        act: Act::ask(next_page),
    },
    Command {
        name: "next-page",
        keys: &[ENTER],
        label: "next page",
        help: "List the next page of sandboxes",
        rank: 1,
        place: LIST,
        when: When::Has("the row after the last sandbox", |m| is_next(m, |next| matches!(next, Next::Page(Some(_))))),
        act: Act::ask(next_page),
    },
    Command {
        name: "open",
        keys: &[ENTER],
        label: "open",
        help: "Open the sandbox's report; held reports cost nothing",
        rank: 1,
        place: LIST,
        when: When::Has("a sandbox", |m| m.chosen().is_some()),
        act: Act::Ask { request: chosen_report, is_held: is_chosen_held, with_held: enter_report, anew: false },
    },
    Command {
        name: "refresh",
        keys: &[key('r')],
        label: "refetch",
        help: "Fetch a report once more that is held already; the held one stays until the new one is there",
        rank: 2,
        place: FILE,
        when: When::Has("a report that is held", |m| is_chosen_held(m) && chosen_report(m).is_some()),
        act: Act::ask_anew(chosen_report),
    },
    Command {
        name: "refresh-list",
        keys: &[key('R')],
        label: "relist",
        help: "List once more; if the first page changed, further ones cost again",
        rank: 3,
        place: LIST,
        when: When::Has("a list that has been asked for", |m| first_page(m).is_some()),
        act: Act::ask_anew(first_page),
    },
    Command {
        name: "open-all",
        keys: &[key('A')],
        label: "open all",
        help: "Open every report of the list that is not held, one after another; the total is in the bar, the first failure stops it",
        rank: 4,
        place: LISTED,
        when: When::HasAll(&[
            ("the reports that are being opened to be here first", |m| m.batch.is_none()),
            ("reports of the list that are not held", |m| {
                m.missing_reports().len() > usize::from(m.comparing().is_none())
            }),
        ]),
        act: Act::Each { requests: Model::missing_reports, price: Model::missing_price, begin: Model::open_missing },
    },
    Command {
        name: "stop",
        keys: &[key('s')],
        label: "stop",
        help: "Stop opening all: nothing further is sent",
        rank: 1,
        place: FILE,
        when: When::Has("reports that are being opened", |m| m.batch.is_some()),
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
        place: LIST,
        when: A_SERVICE,
        act: Act::ask_anew(|_| Some(Request::Quotas)),
    },
    Command {
        name: "usage",
        keys: &[key('u')],
        label: "usage",
        help: "Show what was used in the last 30 days, by day and endpoint; takes no quota",
        rank: 9,
        place: LIST,
        when: A_SERVICE,
        act: Act::ask_anew(|m| Some(last_days(m.now))),
    },
    Command {
        name: "open-file",
        keys: &[ENTER],
        label: "open file",
        help: "Open the file whose SHA-256 is typed, or the chosen earlier one; what is held of it costs nothing",
        rank: 1,
        place: NAMED,
        when: When::Has("a SHA-256 that is typed or pasted", |m| {
            !m.start.typed.is_empty() || !m.start.recent.is_empty()
        }),
        act: Act::Local(Model::open_typed),
    },
    Command {
        name: "demo",
        keys: &[key('t')],
        label: "try the demo",
        help: "Run the embedded service with made-up reports: no key, no network, no cost",
        rank: 2,
        place: START,
        when: When::Has("that there is no key yet", |m| !m.service.has_key),
        act: Act::Local(|_| vec![Effect::Demo]),
    },
    Command {
        name: "other-file",
        keys: &[key('f')],
        label: "other file",
        help: "Type or paste another file's SHA-256, or choose an earlier one",
        rank: 5,
        place: FILE,
        when: A_SERVICE,
        act: Act::Local(Model::leave_file),
    },
];
