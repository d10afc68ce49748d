//! Where commands apply, and what they ask: pure functions of the model that the table of commands names.

use crate::app::commands::When;
use crate::app::list::Next;
use crate::app::over::AnswerTree;
use crate::app::spending::Prompt;
use crate::app::{Focus, Model, Overlay, Screen};
use crate::report::Pane;
use crate::request::Request;

/// When the report of the chosen sandbox is open.
pub(in crate::app) const A_REPORT: When = When::Has("a report that is open", has_report);

pub(super) const A_SERVICE: When = When::Has("a service", has_service);

/// A document is opened without a store.
pub(super) const A_STORE: When = When::Has(
    "a run that was not begun with `open`: `behaview held` and `behaview search` work at any time",
    has_service,
);

pub(super) fn never(_: &Model) -> bool {
    false
}

pub(super) fn has_service(model: &Model) -> bool {
    !model.is_document()
}

pub(super) fn has_report(model: &Model) -> bool {
    model.screen == Screen::File && model.open().is_some()
}

pub(super) fn in_tree(model: &Model) -> bool {
    in_answer(model) || has_report(model) && model.focus() == Focus::Pane(Pane::Processes)
}

pub(super) fn in_answer(model: &Model) -> bool {
    model.over.top_as::<AnswerTree>().is_some()
}

/// Whether the chosen row of a tree has rows below it.
pub(super) fn has_rows_below(model: &Model) -> bool {
    if let Some(answer) = model.over.top_as::<AnswerTree>() {
        return answer.line(answer.scroll.cursor).is_some_and(|(_, children)| children.is_some());
    }
    let Some(open) = model.open().filter(|_| in_tree(model)) else { return false };
    let state = model.pane_state(Pane::Processes);
    let place = state.place(&open.report, Pane::Processes, state.scroll.cursor);
    place.is_some_and(|place| {
        let section = open.report.section(place.section);
        section.is_some_and(|found| found.depths().has_children(place.row))
    })
}

/// Whether something of the tree is folded.
pub(super) fn is_folded(model: &Model) -> bool {
    match model.over.top() {
        Some(Overlay::Answer(answer)) => answer.folds.any(),
        _ => in_tree(model) && model.pane_state(Pane::Processes).folds().any(),
    }
}

/// How many rows of a tree are visible.
pub(super) fn rows_of_tree(model: &Model) -> usize {
    match (model.over.top(), model.open()) {
        (Some(Overlay::Answer(answer)), _) => answer.count(),
        (_, Some(open)) => model.pane_state(Pane::Processes).count(&open.report, Pane::Processes),
        _ => 0,
    }
}

pub(super) fn has_value(model: &Model) -> bool {
    model.over.top_as::<AnswerTree>().is_some_and(|answer| answer.chosen().is_some_and(|line| line.value.is_some()))
}

pub(super) fn form_request(model: &Model) -> Option<Request> {
    model.over.top_as::<Prompt>().and_then(|form| form.request(model.now).ok())
}

pub(super) fn is_form_held(model: &Model) -> bool {
    model.over.top_as::<Prompt>().is_some_and(|form| form.held_since(model.now).is_some())
}

pub(super) fn can_note(model: &Model) -> bool {
    model.views_row() && model.noted().is_some()
}

/// Whether the pane's rows go on with another kind below the cursor.
pub(super) fn has_next_kind(model: &Model) -> bool {
    let Some((pane, open)) = model.focused().zip(model.open()) else { return false };
    let state = model.pane_state(pane);
    state.borders(&open.report, pane).last().is_some_and(|border| *border > state.scroll.cursor)
}

pub(super) fn has_kind_before(model: &Model) -> bool {
    let Some((pane, open)) = model.focused().zip(model.open()) else { return false };
    let state = model.pane_state(pane);
    state.scroll.cursor > 0 && !state.borders(&open.report, pane).is_empty()
}

pub(super) fn can_go_back(model: &Model) -> bool {
    match (model.over.top(), model.screen) {
        (Some(_), _) => true,
        (None, Screen::Start) => !model.start.typed.is_empty() || model.shown().is_some(),
        (None, Screen::File) => model.focus() != Focus::List || model.is_zoomed() || model.way_back().is_some(),
    }
}

pub(super) fn is_next(model: &Model, fits: fn(&Next) -> bool) -> bool {
    model.list().is_some_and(|list| list.chosen().is_none() && fits(&list.next))
}

pub(super) fn next_page(model: &Model) -> Option<Request> {
    model.list()?.next_page(model.service.listing)
}

pub(super) fn first_page(model: &Model) -> Option<Request> {
    model.list()?.first_page(model.service.listing)
}

pub(super) fn chosen_report(model: &Model) -> Option<Request> {
    model.file()?;
    let identifier = model.chosen()?.identifier.clone()?;
    Some(Request::Behaviour { identifier })
}

pub(super) fn is_chosen_held(model: &Model) -> bool {
    model.chosen().is_some_and(|entry| entry.here().is_some())
}

pub(super) fn enter_report(model: &mut Model) {
    if model.open().is_some() {
        model.enter_group();
    }
}
