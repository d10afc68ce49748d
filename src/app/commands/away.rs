//! What is taken away: copies, indicators, files.

use super::context::{has_report, in_pane, nothing, on_file};
use super::{Act, Command};
use crate::app::artefacts;
use crate::app::key::{BACK_TAB, ENTER, Key, TAB, key};
use crate::app::model::{Focus, Model};
use crate::app::overlay::Overlay;
use crate::app::palette::{Confirm, Confirmed};

fn in_indicators(model: &Model) -> bool {
    matches!(model.overlay, Some(Overlay::Indicators(_)))
}

fn in_detail(model: &Model) -> bool {
    matches!(model.overlay, Some(Overlay::Detail(_)))
}

fn in_save(model: &Model) -> bool {
    matches!(model.overlay, Some(Overlay::Save(_)))
}

fn in_artefacts(model: &Model) -> bool {
    matches!(model.overlay, Some(Overlay::Artefacts(_)))
}

pub(super) static COMMANDS: &[Command] = &[
    Command {
        name: "copy",
        keys: &[key('y')],
        label: "copy",
        help: "Copy the value, defanged and in one line; of a sandbox its identifier",
        rank: 7,
        applies: Model::can_copy,
        act: Act::Local(Model::copy_value),
    },
    Command {
        name: "copy-raw",
        keys: &[key('Y')],
        label: "copy raw",
        help: "Copy the value as it is, controls and all; asks once",
        rank: 0,
        applies: Model::can_copy,
        act: Act::Local(Model::copy_raw),
    },
    Command {
        name: "copy-row",
        keys: &[Key::Ctrl('y')],
        label: "copy row",
        help: "Copy the whole row, defanged and in one line; of a sandbox the file's SHA-256",
        rank: 0,
        applies: |m| in_pane(m) || on_file(m) && m.focus == Focus::List && m.file().is_some(),
        act: Act::Local(Model::copy_row),
    },
    Command {
        name: "copy-all",
        keys: &[Key::Ctrl('p')],
        label: "copy all rows",
        help: "Copy every row of the pane, or every indicator that is shown, defanged and in one line",
        rank: 0,
        applies: |m| in_pane(m) || in_indicators(m),
        act: Act::Local(Model::copy_all),
    },
    Command {
        name: "confirm-copy",
        keys: &[key('y')],
        label: "yes, copy it raw",
        help: "Copy raw, now and for the rest of this session",
        rank: 1,
        applies: |m| matches!(m.overlay, Some(Overlay::Confirm(Confirm { what: Confirmed::Raw, .. }))),
        act: Act::Local(Model::confirm_raw),
    },
    Command {
        name: "next-value",
        keys: &[TAB],
        label: "next value",
        help: "Choose the row's next value, to be copied",
        rank: 2,
        applies: in_detail,
        act: Act::Local(|m| m.step_value(true)),
    },
    Command {
        name: "previous-value",
        keys: &[BACK_TAB],
        label: "value before",
        help: "Choose the row's value before",
        rank: 0,
        applies: in_detail,
        act: Act::Local(|m| m.step_value(false)),
    },
    Command {
        name: "indicators",
        keys: &[key('i')],
        label: "indicators",
        help: "Show what others can look for: hashes, hosts, addresses, URLs, paths, keys, mutexes, and where each was seen",
        rank: 7,
        applies: has_report,
        act: Act::Local(Model::find_indicators),
    },
    Command {
        name: "go-to-indicator",
        keys: &[ENTER],
        label: "go to its row",
        help: "Go to the first row that names the indicator",
        rank: 2,
        applies: in_indicators,
        act: Act::Local(Model::go_to_indicator),
    },
    Command {
        name: "next-indicators",
        keys: &[TAB, key('}')],
        label: "next kind",
        help: "Show the next kind of indicators only",
        rank: 3,
        applies: in_indicators,
        act: Act::Local(|m| m.step_indicators(true)),
    },
    Command {
        name: "previous-indicators",
        keys: &[BACK_TAB, key('{')],
        label: "kind before",
        help: "Show the kind of indicators before",
        rank: 0,
        applies: in_indicators,
        act: Act::Local(|m| m.step_indicators(false)),
    },
    Command {
        name: "export",
        keys: &[key('x')],
        label: "export",
        help: "Write the report, the pane or the indicators to a file: JSON, JSON lines, CSV, Markdown, STIX, MISP",
        rank: 8,
        applies: |m| has_report(m) || in_indicators(m),
        act: Act::Local(Model::ask_where),
    },
    Command {
        name: "next-part",
        keys: &[TAB],
        label: "another part",
        help: "Write another part: the whole report, the pane, the indicators",
        rank: 2,
        applies: |m| matches!(&m.overlay, Some(Overlay::Save(form)) if form.has_parts()),
        act: Act::Local(|m| {
            if let Some(Overlay::Save(form)) = &mut m.overlay {
                form.step();
            }
            nothing(m)
        }),
    },
    Command {
        name: "save",
        keys: &[ENTER],
        label: "write it",
        help: "Write the file; one that is there is written over only after a yes",
        rank: 1,
        applies: in_save,
        act: Act::Local(Model::save),
    },
    Command {
        name: "save-over",
        keys: &[key('y')],
        label: "yes, write over it",
        help: "Write over the file that is there",
        rank: 1,
        applies: |m| matches!(m.overlay, Some(Overlay::Confirm(Confirm { what: Confirmed::Replace(_), .. }))),
        act: Act::Local(Model::save_over),
    },
    Command {
        name: "artefacts",
        keys: &[key('d')],
        label: "downloads",
        help: "Show what the sandbox kept beside the report: HTML report, network capture, event log, memory dump",
        rank: 8,
        applies: |m| has_report(m) && !m.is_document() && artefacts::any(m),
        act: Act::Local(Model::show_artefacts),
    },
    Command {
        name: "fetch",
        keys: &[ENTER],
        label: "fetch",
        help: "Fetch the artefact; one that is held costs nothing and can be written to a file",
        rank: 1,
        applies: |m| in_artefacts(m),
        act: Act::Ask {
            request: artefacts::chosen,
            is_held: artefacts::is_chosen_held,
            with_held: Model::save_artefact,
            anew: false,
        },
    },
];
