//! Commands: keys, labels, contexts, prices, actions.
//!
//! Dispatch, bar, help, palette and README read this one table. A command reaches the network only
//! by [`Action::Send`] and [`Action::Each`], whose prices are pure functions of the model.

/// A row per command: name, keys, label, rank, contexts, help, condition, action.
macro_rules! commands {
    ($($name:literal [$($key:expr),+] $label:literal, $rank:literal, $place:expr,
        $help:literal $(if $when:expr)? => $act:expr;)+) => {
        pub(super) static COMMANDS: &[Command] = &[$(Command {
            name: $name,
            keys: &[$($key),+],
            label: $label,
            help: $help,
            rank: $rank,
            contexts: $place,
            when: commands!(@when $($when)?),
            act: $act,
        }),+];
    };
    (@when) => { &[] };
    (@when $when:expr) => { $when };
}

mod copies;
mod everywhere;
mod files;
mod reports;
mod scans;

pub(crate) use scans::WATCH_TITLE;

use crate::app::keys::{CONFIRM, ENTER, KeyContexts, PANED};
use crate::app::list::Next;
use crate::app::overlays::palette::PaletteAction;
use crate::app::overlays::{OverlayKind, ResponseTree};
use crate::app::spending::Prompt;
use crate::app::{Key, KeyContext, Model, Overlay, ResponseSource, Screen};
use crate::quota::Plan;
use crate::report::Pane;
use crate::report::attributes::title;
use crate::request::Request;

/// All commands by subject. Of several with the same key, the first enabled one runs.
pub static COMMANDS: [&[Command]; 3] = [files::COMMANDS, reports::COMMANDS, everywhere::COMMANDS];

macro_rules! pane {
    ($pane:ident, $name:literal, $key:literal) => {
        Command {
            name: $name,
            keys: &[Key::Char($key)],
            label: Pane::$pane.title(),
            help: concat!(
                "Go to the pane ",
                title!($pane),
                "; in a comparison, among hits and in lists of rows, show its rows only, or all again"
            ),
            rank: 0,
            contexts: PANED,
            when: &[("an open report, or rows of several panes", has_panes)],
            act: Action::GoToPane(Pane::$pane),
        }
    };
}

pub static PANES: [Command; 13] = [
    pane!(Processes, "pane-processes", '1'),
    pane!(Tags, "pane-tags", '2'),
    pane!(Registry, "pane-registry", '3'),
    pane!(Files, "pane-files", '4'),
    pane!(Network, "pane-network", '5'),
    pane!(Commands, "pane-commands", '6'),
    pane!(Modules, "pane-modules", '7'),
    pane!(Services, "pane-services", '8'),
    pane!(Techniques, "pane-techniques", '9'),
    pane!(Text, "pane-text", 't'),
    pane!(Mobile, "pane-mobile", 'm'),
    pane!(Other, "pane-other", 'o'),
    pane!(Overview, "pane-overview", '0'),
];

/// A command: its keys, labels, contexts and action.
#[derive(Debug)]
pub struct Command {
    /// Name in the palette, the README and the config's table of keys; unique.
    pub name: &'static str,
    pub keys: &'static [Key],
    pub label: &'static str,
    pub help: &'static str,
    /// Its rank in the bar, 1 first; 0 for commands that are known or rarely used.
    pub rank: u8,
    pub contexts: KeyContexts,
    pub(crate) when: &'static [Requirement],
    pub act: Action,
}

/// A condition; its text follows "it needs".
pub(crate) type Requirement = (&'static str, fn(&Model) -> bool);

/// The action of a command.
#[derive(Debug)]
pub enum Action {
    Local(fn(&mut Model)),
    GoToPane(Pane),
    /// Opens an overlay that sends requests, and shows their price again.
    OpenPaid {
        to: fn(&mut Model),
        price: fn(&Model) -> Plan,
    },
    Chosen,
    /// Sends several requests in sequence, after confirmation of the requests or their subject.
    Each {
        requests: fn(&Model) -> Vec<Request>,
        price: fn(&Model) -> Plan,
        begin: fn(&mut Model),
    },
    /// Sends a request unless its response is stored, or even then, by its source.
    Send {
        request: fn(&Model) -> Option<Request>,
        is_stored: fn(&Model) -> bool,
        with_stored: fn(&mut Model),
        source: ResponseSource,
    },
}

impl Action {
    /// Sends a request unless its response is stored, even unknown to the screen.
    const fn send_or_confirm(request: fn(&Model) -> Option<Request>) -> Self {
        Self::Send { request, is_stored: |_| false, with_stored: |_| {}, source: ResponseSource::StoredOrService }
    }

    const fn send_again(request: fn(&Model) -> Option<Request>) -> Self {
        Self::Send { request, is_stored: |_| false, with_stored: |_| {}, source: ResponseSource::Service }
    }
}

impl Command {
    pub fn all() -> impl Iterator<Item = &'static Self> {
        COMMANDS.iter().copied().flatten().chain(&PANES)
    }

    pub(crate) fn to_pane(pane: Pane) -> Option<&'static Self> {
        PANES.iter().find(|command| matches!(command.act, Action::GoToPane(to) if to == pane))
    }

    pub fn named(name: &str) -> Option<&'static Self> {
        Self::all().find(|command| command.name == name)
    }

    /// Returns the first condition that is not met.
    pub(crate) fn missing(&self, model: &Model) -> Option<&'static str> {
        self.when.iter().find(|(_, is_there)| !is_there(model)).map(|(what, _)| *what)
    }

    /// Explains why it is disabled now; `None` if it is enabled.
    pub fn off(&self, model: &Model) -> Option<String> {
        if !self.contexts.contains(model.key_context()) {
            return Some(format!("it works {}", self.contexts.label()));
        }
        self.missing(model).map(|what| format!("it needs {what}"))
    }

    /// Returns the command of a key right now. In a confirmation, letters are only its answers.
    pub fn of(key: Key, model: &Model) -> Option<&'static Self> {
        let place = model.key_context();
        let is_response = place == KeyContext::Confirm && matches!(key, Key::Char(_));
        let means = |command: &&Self| {
            let can_be = command.contexts.contains(place) && (!is_response || command.contexts == CONFIRM);
            can_be && command.missing(model).is_none()
        };
        if place.types(key) { None } else { model.settings.keys.having(key).find(means) }
    }

    /// Returns the default command of Enter, if the config gave that key to another.
    pub fn of_enter(model: &Model) -> Option<&'static Self> {
        Self::all().find(|command| command.keys.contains(&ENTER) && command.off(model).is_none())
    }

    /// Returns whether it can send requests.
    pub fn sends(&self) -> bool {
        matches!(self.act, Action::Each { .. } | Action::Send { .. })
    }

    /// Returns whether it can send requests or leads to commands that do.
    pub fn can_cost(&self) -> bool {
        self.sends() || matches!(self.act, Action::OpenPaid { .. })
    }

    /// Returns the command that this one runs right now: for the palette's, the chosen one.
    pub(crate) fn resolve(&'static self, model: &Model) -> &'static Self {
        match (&self.act, model.chosen_item().map(|item| item.action)) {
            (Action::Chosen, Some(PaletteAction::Command(command))) => command,
            _ => self,
        }
    }

    pub(crate) fn requests(&self, model: &Model) -> Vec<Request> {
        match &self.act {
            Action::Each { requests, .. } => requests(model),
            Action::Send { request, .. } => request(model).into_iter().collect(),
            Action::Chosen => model.chosen_item().map(|item| item.requests.clone()).unwrap_or_default(),
            Action::Local(_) | Action::GoToPane(_) | Action::OpenPaid { .. } => Vec::new(),
        }
    }

    pub(crate) fn at(place: KeyContext) -> impl Iterator<Item = &'static Self> {
        Self::all().filter(move |command| command.contexts.contains(place))
    }

    /// Returns the commands that the bar shows in a context, the most important first.
    pub fn bar_commands(place: KeyContext) -> impl Iterator<Item = &'static Self> {
        let mut told: Vec<_> = Self::at(place).filter(|command| command.rank > 0).collect();
        told.sort_by_key(|command| command.rank);
        told.into_iter()
    }

    /// Returns the enabled commands, each with its first working key; computed lazily.
    pub fn applying(model: &Model) -> impl Iterator<Item = (Key, &'static Self)> + '_ {
        Self::at(model.key_context()).filter_map(|command| Some((model.key_of(command)?, command)))
    }
}

pub(super) const A_REPORT: &[Requirement] = &[("an open report", has_report)];

pub(super) const A_SERVICE: &[Requirement] = &[("a service", has_service)];

pub(super) fn has_service(model: &Model) -> bool {
    !model.is_document()
}

pub(super) fn has_report(model: &Model) -> bool {
    model.screen == Screen::File && model.open().is_some()
}

fn has_panes(model: &Model) -> bool {
    match model.overlays.top() {
        None => has_report(model),
        Some(Overlay::RowPicker(picker_rows)) => {
            picker_rows.source.picker_rows.iter().any(|picker_row| picker_row.pane.is_some())
        }
        Some(overlay) => matches!(overlay, Overlay::HitList(_) | Overlay::Findings(_) | Overlay::ComparisonList(_)),
    }
}

pub(super) fn in_tree(model: &Model) -> bool {
    is_over::<ResponseTree>(model)
        || model.overlays.is_empty() && has_report(model) && model.focused() == Some(Pane::Processes)
}

pub(super) fn is_over<T: OverlayKind>(model: &Model) -> bool {
    model.overlays.top_as::<T>().is_some()
}

pub(super) fn has_rows_below(model: &Model) -> bool {
    if let Some(response) = model.overlays.top_as::<ResponseTree>() {
        return response.line(response.scroll.cursor).is_some_and(|(_, children)| children.is_some());
    }
    let Some(open) = model.open().filter(|_| in_tree(model)) else { return false };
    let state = model.pane_state(Pane::Processes);
    let place = state.place(&open.report, Pane::Processes, state.scroll.cursor);
    place.is_some_and(|place| {
        let section = open.report.section(place.section);
        section.is_some_and(|found| found.depths().has_children(place.row))
    })
}

pub(super) fn is_folded(model: &Model) -> bool {
    match model.overlays.top() {
        Some(Overlay::Response(response)) => response.folds.any(),
        Some(Overlay::Findings(list)) => list.is_folded(),
        _ => in_tree(model) && model.pane_state(Pane::Processes).folds.any(),
    }
}

pub(super) fn rows_of_tree(model: &Model) -> usize {
    match (model.overlays.top(), model.open()) {
        (Some(Overlay::Response(response)), _) => response.count(),
        (Some(Overlay::Findings(list)), _) => list.counts().0,
        (_, Some(open)) => model.pane_state(Pane::Processes).count(&open.report, Pane::Processes),
        _ => 0,
    }
}

pub(super) fn form_request(model: &Model) -> Option<Request> {
    model.overlays.top_as::<Prompt>().and_then(|form| form.request(model.now).ok())
}

pub(super) fn is_form_stored(model: &Model) -> bool {
    model.overlays.top_as::<Prompt>().is_some_and(|form| form.stored_at(model.now).is_some())
}

pub(super) fn has_kind(model: &Model, forward: bool) -> bool {
    let found = model.focused().zip(model.open()).filter(|_| model.overlays.is_empty());
    found.is_some_and(|(pane, open)| model.pane_state(pane).next_kind(&open.report, pane, forward).is_some())
        || matches!(model.overlays.top(), Some(Overlay::ComparisonList(_) | Overlay::Indicators(_)))
}

pub(super) fn can_go_back(model: &Model) -> bool {
    match (model.overlays.top(), model.screen) {
        (Some(_), _) => true,
        (None, Screen::Start) => !model.start.typed.is_empty() || model.files.shown().is_some(),
        (None, Screen::File) => model.focused().is_some() || model.files.is_zoomed() || model.return_label().is_some(),
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
    Some(Request::Behaviour { identifier: model.chosen()?.identifier.clone()? })
}

pub(super) fn is_chosen_stored(model: &Model) -> bool {
    model.chosen().is_some_and(|entry| entry.report().is_some())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn names_stand_once() {
        let names: HashSet<_> = Command::all().map(|command| command.name).collect();
        assert_eq!(names.len(), Command::all().count());
    }

    #[test]
    fn every_pane_has_a_command_and_a_key() {
        assert!(Pane::ALL.into_iter().all(|pane| Command::to_pane(pane).is_some()));
        let keys: HashSet<_> = PANES.iter().map(|command| command.keys[0].to_string()).collect();
        assert_eq!(keys.len(), Pane::ALL.len());
    }

    /// Keys that mean several things, and why.
    const SEVERAL: [(&str, &str); 13] = [
        ("enter", "the main action of what is chosen, which its label names"),
        ("esc", "one step back: the filter of a pane goes before the pane does"),
        ("q", "leaves: an overlay, or where none is open the program"),
        ("y", "copies; a confirmation has no value to copy; there it confirms"),
        ("Y", "copies raw; in a confirmation of several items it confirms all"),
        ("t", "no report is open on the start screen, where the demo has it"),
        ("tab", "the next pane, or where fields are open the next field"),
        ("shift-tab", "the same, backwards"),
        ("right", "to the right; in a form that is to the next choice, which its label says"),
        ("left", "the same, to the left"),
        ("A", "requests what is missing: the reports of a file, or the lists of a triage first"),
        ("l", "as right"),
        ("h", "as left"),
    ];

    #[test]
    fn a_key_means_one_thing_wherever_it_works() {
        let is_listed = |key: &Key| SEVERAL.iter().any(|(listed, _)| *listed == key.to_string());
        let keys: HashSet<Key> = Command::all().flat_map(|command| command.keys).copied().collect();
        for key in keys.into_iter().filter(|key| !is_listed(key)) {
            let having = Command::all().filter(|command| command.keys.contains(&key));
            let meanings: HashSet<_> = having.map(|command| command.label).collect();
            assert_eq!(meanings.len(), 1, "{key}: {meanings:?}");
        }
    }

    #[test]
    fn every_key_reaches_its_command() {
        for command in Command::all() {
            for key in command.keys {
                assert!(command.contexts.each().any(|place| !place.types(*key)), "{} by {key}", command.name);
            }
        }
    }
}
