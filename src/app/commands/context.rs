//! Where commands apply, and what they ask: pure functions of the model that the table of commands names.

use crate::app::list::Next;
use crate::app::message::Effect;
use crate::app::model::{Focus, Model, Screen};
use crate::app::overlay::Overlay;
use crate::app::palette::{Confirm, Confirmed};
use crate::app::panes;
use crate::report::Pane;
use crate::request::Request;

pub(super) fn always(_: &Model) -> bool {
    true
}

pub(super) fn never(_: &Model) -> bool {
    false
}

pub(super) fn nothing(_: &mut Model) -> Vec<Effect> {
    Vec::new()
}

pub(super) fn on_start(model: &Model) -> bool {
    model.screen == Screen::Start && model.overlay.is_none()
}

pub(super) fn on_file(model: &Model) -> bool {
    model.screen == Screen::File && model.overlay.is_none() && !model.is_filtering()
}

pub(super) fn in_list(model: &Model) -> bool {
    on_file(model) && model.focus == Focus::List
}

pub(super) fn has_report(model: &Model) -> bool {
    on_file(model) && model.open().is_some()
}

pub(super) fn in_pane(model: &Model) -> bool {
    has_report(model) && model.focus != Focus::List
}

pub(super) fn in_tree(model: &Model) -> bool {
    in_answer(model) || in_pane(model) && model.focus == Focus::Pane(Pane::Processes)
}

pub(super) fn in_answer(model: &Model) -> bool {
    matches!(model.overlay, Some(Overlay::Answer(_)))
}

pub(super) fn form_request(model: &Model) -> Option<Request> {
    match &model.overlay {
        Some(Overlay::Prompt(form)) => form.request(model.now).ok(),
        _ => None,
    }
}

pub(super) fn is_form_held(model: &Model) -> bool {
    matches!(&model.overlay, Some(Overlay::Prompt(form)) if form.held_since(model.now).is_some())
}

pub(super) fn confirmed_request(model: &Model) -> Option<Request> {
    match &model.overlay {
        Some(Overlay::Confirm(Confirm { what: Confirmed::One(request), .. })) => Some(request.clone()),
        _ => None,
    }
}

pub(super) fn can_note(model: &Model) -> bool {
    matches!(model.overlay, None | Some(Overlay::Detail(_))) && model.behind.is_empty() && model.noted().is_some()
}

/// Whether a yes would do this.
pub(super) fn confirms(model: &Model, fits: fn(&Confirmed) -> bool) -> bool {
    matches!(&model.overlay, Some(Overlay::Confirm(confirm)) if fits(&confirm.what))
}

pub(super) fn has_kinds(model: &Model) -> bool {
    let Some((pane, open)) = model.focused().zip(model.open()) else { return false };
    in_pane(model) && !model.pane_state(pane).borders(&open.report, pane).is_empty()
}

pub(super) fn can_go_back(model: &Model) -> bool {
    model.overlay.is_some()
        || model.screen == Screen::File && !(in_list(model) && model.is_document())
        || !model.typed.is_empty()
}

pub(super) fn is_next(model: &Model, fits: fn(&Next) -> bool) -> bool {
    model.list.as_ref().is_some_and(|list| list.chosen().is_none() && fits(&list.next))
}

pub(super) fn next_page(model: &Model) -> Option<Request> {
    model.list.as_ref()?.next_page(model.service.listing)
}

pub(super) fn first_page(model: &Model) -> Option<Request> {
    model.list.as_ref()?.first_page(model.service.listing)
}

pub(super) fn chosen_report(model: &Model) -> Option<Request> {
    model.file()?;
    let identifier = model.chosen()?.identifier.clone()?;
    Some(Request::Behaviour { identifier })
}

pub(super) fn is_chosen_held(model: &Model) -> bool {
    model.chosen().is_some_and(|entry| entry.here().is_some())
}

pub(super) fn enter_report(model: &mut Model) -> Vec<Effect> {
    if model.open().is_some() {
        let first = panes::group(model.group).next();
        first.into_iter().for_each(|pane| model.focus_pane(pane));
    }
    Vec::new()
}
