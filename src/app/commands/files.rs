//! Commands on files and their sandboxes: search, list, open, fetch again, watch, submit, delete.

use crate::app::commands::Action::Local;
use crate::app::commands::scans::{WATCH_TITLE, first_poll};
use crate::app::commands::{
    A_REPORT, A_SERVICE, Action, Requirement, chosen_report, first_page, has_report, is_chosen_stored, is_next,
    is_over, next_page,
};
use crate::app::compare::ComparisonList;
use crate::app::keys::{
    BACK_TAB, ENTER, ESC, FIELDS, FILE, FILE_OR_ROW, FORM, KeyContexts, LIST, OPEN, PICKER, SOUGHT, START, TAB, key,
};
use crate::app::list::Next;
use crate::app::overlays::{GroupView, group};
use crate::app::scan::SubmitForm;
use crate::app::spending::last_30_days;
use crate::app::{Command, FileJob, Key, KeyContext, Model, Overlay, ResponseSource, StoreJob, TerminalAction};
use crate::quota::{Kind, Operation};
use crate::request::{GroupList, Request};

const A_HIT: &[Requirement] = &[("a filter or a search", Model::has_hits)];

const SEVERAL_FILES: &[Requirement] = &[("several open files", |m| m.files.are_several())];
const SEVERAL_FIELDS: &[Requirement] = &[("several fields", |m| match m.overlays.top() {
    Some(Overlay::Detail(detail)) => detail.has_values(),
    Some(Overlay::Export(form)) => form.has_choices(),
    overlay => matches!(overlay, Some(Overlay::Submit(_))) && !m.is_form_sent(),
})];
const A_FILE: &[Requirement] = &[("a file from the service", |m| m.file().is_some())];

fn can_follow(model: &Model) -> bool {
    model.file().is_some() && model.following().is_none()
}

fn step_field(model: &mut Model, forward: bool) {
    let height = model.overlay_room().height.into();
    match model.overlays.top_mut() {
        Some(Overlay::Detail(detail)) => detail.step(forward, height),
        Some(Overlay::Submit(form)) => form.step(forward),
        Some(Overlay::Export(form)) => form.step(forward),
        _ => {}
    }
}

fn has_sandboxes(model: &Model) -> bool {
    model.list().is_some_and(|list| !list.entries.is_empty())
}

commands! {
    "apply-filter" [ENTER] "apply", 1, KeyContexts::of(&[KeyContext::Filter, KeyContext::FilterLine]),
        "Apply the filter and end typing" => Local(Model::apply_filter);
    "drop-filter" [ESC] "no filter", 2, KeyContexts::of(&[KeyContext::Pane, KeyContext::Filter]),
        "Remove the filter"
        if &[("a filter", |m| m.filter().is_some())] => Local(Model::drop_filter);
    "expression" [Key::Ctrl('r')] "regex", 2, SOUGHT,
        "Switch the text between a regular expression and plain words"
        => Local(|m| m.change_how(|how| how.is_regex = !how.is_regex));
    "case" [Key::Ctrl('t')] "case", 3, SOUGHT,
        "Distinguish capital and small letters, or not"
        => Local(|m| m.change_how(|how| how.is_case_sensitive = !how.is_case_sensitive));
    "filter" [key('/')] "filter", 4, KeyContexts::of(&[KeyContext::List, KeyContext::Pane, KeyContext::Picker, KeyContext::Rows, KeyContext::Hits, KeyContext::Compare]),
        "Show only the rows that match: in any of their fields or in the word beside them; in the list of sandboxes the rows of all panes"
        if &[("an open report", |m| m.key_context() != KeyContext::List || has_report(m))] => Local(Model::begin_filter);
    "find" [key('F')] "find", 6, FILE,
        "Search all panes of the report" if A_REPORT => Local(|m| m.begin_finding(false));
    "search-stored" [key('S')] "search stored", 8, OPEN,
        "Search every stored report, of all files; nothing is sent to the service"
        if A_SERVICE => Local(|m| m.begin_finding(true));
    "next-hit" [key('n')] "next hit", 4, FILE,
        "Go to the next hit: of the pane's filter, or of the last search, over all its reports"
        if A_HIT => Local(|m| m.step_hit(true));
    "previous-hit" [key('N')] "previous hit", 0, FILE,
        "Go to the previous hit" if A_HIT => Local(|m| m.step_hit(false));
    "list" [ENTER] "list sandboxes", 1, LIST,
        "List the sandboxes of the file; with their reports where the service sends them along"
        if &[("a list that was not requested", |m| is_next(m, |next| matches!(next, Next::Page(None))))]
        => Action::send_or_confirm(next_page);
    "next-page" [ENTER] "next page", 1, LIST,
        "List the next page of sandboxes"
        if &[("the row after the last sandbox", |m| is_next(m, |next| matches!(next, Next::Page(Some(_)))))]
        => Action::send_or_confirm(next_page);
    "open" [ENTER] "open", 1, LIST,
        "Open the sandbox's report; a stored one costs nothing"
        if &[("a sandbox", |m| m.chosen().is_some())]
        => Action::Send { request: chosen_report, is_stored: is_chosen_stored, with_stored: |m| {
            if m.open().is_some() {
                m.files.enter_group();
            }
        }, source: ResponseSource::StoredOrService };
    "refetch" [key('r')] "refetch", 2, FILE,
        "Fetch a stored report once more; it stays until the new one is there"
        if &[("a stored report", |m| is_chosen_stored(m) && chosen_report(m).is_some())]
        => Action::send_again(chosen_report);
    "relist" [key('R')] "relist", 3, FILE,
        "List once more; if the first page changed, further ones cost again"
        if &[("a list that was requested", |m| first_page(m).is_some())]
        => Action::send_again(first_page);
    "open-all" [key('A')] "open all", 4, KeyContexts::of(&[KeyContext::List, KeyContext::Pane, KeyContext::Compare]),
        "Open every report of the list that is not stored, one after another; the total is in the bar, the first failure stops it"
        if &[
            ("the reports that are being opened to be here first", |m| m.calls.batch().is_none()),
            ("reports of the list that are not stored", |m| {
                m.files.missing_reports(&m.calls).len() > usize::from(m.overlays.find::<ComparisonList>().is_none())
            }),
        ]
        => Action::Each { requests: |m| m.files.missing_reports(&m.calls), price: |m| m.quota_state.price_of_reports(&m.files.missing_reports(&m.calls)), begin: Model::open_missing };
    "stop" [key('s')] "stop", 1, KeyContexts::of(&[KeyContext::List, KeyContext::Pane, KeyContext::TextPage, KeyContext::Picker]),
        "Stop opening all, or watching the file's scan: nothing further is sent"
        if &[("reports that are being opened, or a watched scan", |m| {
            let is_there = m.key_context() != KeyContext::TextPage || m.overlays.shows_page(WATCH_TITLE);
            is_there && (m.calls.batch().is_some() || m.following().is_some())
        })] => Local(|m| match m.calls.batch() {
            Some(_) => m.stop_batch("Stopped."),
            None => m.stop_following(),
        });
    "counters" [key('b')] "counters", 9, FILE,
        "Ask for the service's own counters: the quota left to the user and the group; takes no quota"
        if A_SERVICE => Action::send_again(|_| Some(Request::Quotas));
    "usage" [key('u')] "usage", 9, FILE_OR_ROW,
        "Show the usage of the last 30 days, by day and endpoint; takes no quota"
        if A_SERVICE => Action::send_again(|m| Some(last_30_days(m.now)));
    "open-chosen" [ENTER] "open file", 1, KeyContexts::of(&[KeyContext::Start, KeyContext::Hash]),
        "Open the file whose SHA-256 is typed, or the chosen earlier one; its stored reports cost nothing"
        if &[("a typed or pasted SHA-256", |m| {
            !m.start.typed.is_empty() || !m.start.recent.is_empty()
        })] => Local(Model::open_typed);
    "demo" [key('t')] "try the demo", 1, START,
        "Run the embedded service with made-up reports: no key, no network, no cost"
        if &[("a start without an API key", |m| !m.service.has_key)] => Local(|m| m.emit(TerminalAction::Demo));
    "open-file" [key('f')] "files", 5, FILE_OR_ROW,
        "Type or paste another file's SHA-256, or choose an earlier one"
        if A_SERVICE => Local(Model::leave_file);
    "next-file" [key('J')] "next file", 8, FILE,
        "Show the next open file, as it was left"
        if SEVERAL_FILES => Local(|m| m.show_file(m.files.place_at(1)));
    "previous-file" [key('K')] "previous file", 0, FILE,
        "Show the previous open file, as it was left"
        if SEVERAL_FILES => Local(|m| m.show_file(m.files.place_at(-1)));
    "close-file" [key('Q')] "close file", 0, FILE,
        "Close this file, and show another that is open; its reports stay stored"
        if A_FILE => Local(Model::close_file);
    "watch" [key('W')] "watch", 5, FILE,
        "Watch the file's scan: until its reports are there, by polls at an interval, each at a price, up to a limit"
        if &[("a file that is not watched, with no sandbox in its list", |m| {
            can_follow(m) && !has_sandboxes(m)
        })] => Action::Each { requests: first_poll, price: Model::follow_price, begin: Model::confirm_watch };
    "watch-listed" [key('W')] "watch", 5, FILE,
        "Watch the file's scan: though some of its reports are listed; shows the cost first"
        if &[("a file that is not watched, with sandboxes in its list", |m| can_follow(m) && has_sandboxes(m))]
        => Action::OpenPaid { to: Model::confirm_watch, price: Model::follow_price };
    "watch-status" [key('W')] "watch", 3, FILE,
        "Show the progress of the watched scan: each sandbox, the next poll, what it may still cost"
        if &[("a watched scan", |m| m.following().is_some())]
        => Local(|m| m.show_figures(m.watch_page(), true));
    "submit-file" [key('U')] "submit", 7, OPEN,
        "Submit a local file for a private scan: its path and options; nothing is sent before its price is shown"
        if A_SERVICE => Action::OpenPaid {
            to: |m| m.overlays.put(SubmitForm::empty()),
            price: |m| m.quota_state.plan([Operation::once(Kind::PrivateScan)]),
        };
    "private-files" [key('M')] "private files", 6, OPEN,
        "Show the private files that the group has at the service; the pages that are stored cost nothing"
        if A_SERVICE => Action::OpenPaid { to: |m| m.emit(StoreJob::LoadGroup(GroupList::Files)), price: |m| m.quota_state.plan([Operation::once(Kind::PrivateFile)]) };
    "private-analyses" [key('I')] "analyses", 7, OPEN,
        "Show the private analyses of the group, the last one first; the pages that are stored cost nothing"
        if A_SERVICE => Action::OpenPaid { to: |m| m.emit(StoreJob::LoadGroup(GroupList::Analyses)), price: |m| m.quota_state.plan([Operation::once(Kind::PrivateAnalysis)]) };
    "next-listed" [ENTER] "next page", 1, PICKER,
        "List the next page of the group's files or analyses"
        if &[("the row after the last entry", |m| group::next_page(m).is_some())]
        => Action::send_or_confirm(group::next_page);
    "open-listed" [ENTER] "open file", 1, PICKER,
        "Open the chosen file, or the file of the analysis: its stored reports cost nothing; a running analysis can be watched there"
        if &[("an entry that names its file", |m| group::chosen(m).is_some_and(|entry| entry.file.is_some()))]
        => Local(group::open_chosen);
    "relist-group" [key('R')] "relist", 3, PICKER,
        "List the first page once more; further pages cost again"
        if &[("a list of the group that was requested", |m| group::first_page(m).is_some())]
        => Action::send_again(group::first_page);
    "sort-group" [key('O')] "sort", 2, PICKER,
        "Sort by expiry or time, or as the service lists them"
        if &[("a list of the group", is_over::<GroupView>)] => Local(group::sort);
    "next-field" [TAB] "next field", 2, FIELDS,
        "Go to the next field of the form, or the next value of a row" if SEVERAL_FIELDS => Local(|m| step_field(m, true));
    "previous-field" [BACK_TAB] "previous field", 0, FIELDS,
        "Go to the previous field or value" if SEVERAL_FIELDS => Local(|m| step_field(m, false));
    "inspect-file" [ENTER] "inspect", 1, FORM,
        "Inspect the typed file, and show what it would cost; nothing is sent"
        if &[("a file that is not inspected yet", |m| {
            is_over::<SubmitForm>(m) && m.direct_scan().is_none() && m.large_scan().is_none()
        })] => Local(|m| {
            let path = m.overlays.find_mut::<SubmitForm>().and_then(SubmitForm::inspect);
            path.into_iter().for_each(|path| m.emit(FileJob::Inspect(path)));
        });
    "submit" [ENTER] "submit it", 1, FORM,
        "Upload the file for a private scan"
        if &[("an inspected file", |m| m.direct_scan().is_some())]
        => Action::send_again(Model::direct_scan);
    "submit-large" [ENTER] "submit it", 1, FORM,
        "Ask for an address that takes a large file; the file is uploaded there for a private scan"
        if &[("a large inspected file, and no other that is being sent", |m| {
            m.large_scan().is_some() && !m.calls.has(&Request::UploadAddress) && !m.is_form_sent()
        })]
        => Action::Each { requests: |m| m.large_scan().map(|submission| Request::PrivateScan { submission, to: None }).into_iter().collect(), price: Model::large_price, begin: Model::submit_large };
    "delete-at-service" [key('E')] "delete", 8, FILE,
        "Delete the file at the service; with its reports or without, after confirmation; reports stored here stay"
        if A_FILE
        => Action::OpenPaid { to: Model::delete_at_service, price: |m| m.quota_state.plan([Operation::once(Kind::PrivateDelete)]) };
}
