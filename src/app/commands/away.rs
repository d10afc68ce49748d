//! What is taken away: copies, indicators, files.

use super::context::{always, confirms, has_report, has_service, nothing};
use super::{Act, Command};
use crate::app::artefacts;
use crate::app::key::{BACK_TAB, ENTER, Key, TAB, key};
use crate::app::model::{Focus, Model};
use crate::app::overlay::Overlay;
use crate::app::palette::Confirmed;
use crate::app::place::{ARTEFACTS, CONFIRM, FILE, INDICATORS, PAGE, ROWS, SAVE, VALUED};

fn has_values(model: &Model) -> bool {
    matches!(&model.overlay, Some(Overlay::Detail(detail)) if detail.has_values())
}

fn has_parts(model: &Model) -> bool {
    matches!(&model.overlay, Some(Overlay::Save(form)) if form.has_parts())
}

fn step_part(model: &mut Model, forward: bool) {
    if let Some(Overlay::Save(form)) = &mut model.overlay {
        form.step(forward);
    }
}

pub(super) static COMMANDS: &[Command] = &[
    Command {
        name: "copy",
        keys: &[key('y')],
        label: "copy",
        help: "Copy the value, defanged and in one line; of a sandbox its identifier",
        rank: 7,
        place: VALUED,
        applies: Model::can_copy,
        needs: "a value",
        act: Act::Local(Model::copy_value),
    },
    Command {
        name: "copy-raw",
        keys: &[key('Y')],
        label: "copy raw",
        help: "Copy the value as it is, controls and all; asks once",
        rank: 0,
        place: VALUED,
        applies: Model::can_copy,
        needs: "a value",
        act: Act::Local(Model::copy_raw),
    },
    Command {
        name: "copy-row",
        keys: &[Key::Ctrl('y')],
        label: "copy row",
        help: "Copy the whole row, defanged and in one line; of a sandbox the file's SHA-256",
        rank: 0,
        place: FILE,
        applies: |m| m.focus != Focus::List || m.file().is_some(),
        needs: "a file",
        act: Act::Local(Model::copy_row),
    },
    Command {
        name: "copy-all",
        keys: &[Key::Ctrl('p')],
        label: "copy all rows",
        help: "Copy every row of the pane, or every indicator that is shown, defanged and in one line",
        rank: 0,
        place: ROWS,
        applies: always,
        needs: "",
        act: Act::Local(Model::copy_all),
    },
    Command {
        name: "confirm-copy",
        keys: &[key('y')],
        label: "yes, copy it raw",
        help: "Copy raw, now and for the rest of this session",
        rank: 1,
        place: CONFIRM,
        applies: |m| confirms(m, |what| matches!(what, Confirmed::Raw)),
        needs: "a raw copy to confirm",
        act: Act::Local(Model::confirm_raw),
    },
    Command {
        name: "next-value",
        keys: &[TAB],
        label: "next value",
        help: "Choose the row's next value, to be copied",
        rank: 2,
        place: PAGE,
        applies: has_values,
        needs: "a row with several values",
        act: Act::Local(|m| m.step_value(true)),
    },
    Command {
        name: "previous-value",
        keys: &[BACK_TAB],
        label: "value before",
        help: "Choose the row's value before",
        rank: 0,
        place: PAGE,
        applies: has_values,
        needs: "a row with several values",
        act: Act::Local(|m| m.step_value(false)),
    },
    Command {
        name: "indicators",
        keys: &[key('i')],
        label: "indicators",
        help: "Show what others can look for: hashes, hosts, addresses, URLs, paths, keys, mutexes, and where each was seen",
        rank: 7,
        place: FILE,
        applies: has_report,
        needs: "an open report",
        act: Act::Local(Model::find_indicators),
    },
    Command {
        name: "go-to-indicator",
        keys: &[ENTER],
        label: "go to its row",
        help: "Go to the first row that names the indicator",
        rank: 2,
        place: INDICATORS,
        applies: always,
        needs: "",
        act: Act::Local(Model::go_to_indicator),
    },
    Command {
        name: "next-indicators",
        keys: &[TAB, key('}')],
        label: "next kind",
        help: "Show the next kind of indicators only",
        rank: 3,
        place: INDICATORS,
        applies: always,
        needs: "",
        act: Act::Local(|m| m.step_indicators(true)),
    },
    Command {
        name: "previous-indicators",
        keys: &[BACK_TAB, key('{')],
        label: "kind before",
        help: "Show the kind of indicators before",
        rank: 0,
        place: INDICATORS,
        applies: always,
        needs: "",
        act: Act::Local(|m| m.step_indicators(false)),
    },
    Command {
        name: "export",
        keys: &[key('x')],
        label: "export",
        help: "Write the report, the pane, the row, the value or the indicators to a file: JSON, JSON lines, CSV, Markdown, text, STIX, MISP",
        rank: 8,
        place: VALUED,
        applies: Model::can_write,
        needs: "an open report, or a value",
        act: Act::Local(Model::ask_where),
    },
    Command {
        name: "next-part",
        keys: &[TAB],
        label: "another part",
        help: "Write another part: the whole report, the pane, the row, the indicators, the value",
        rank: 2,
        place: SAVE,
        applies: has_parts,
        needs: "a report to write a part of",
        act: Act::Local(|m| {
            step_part(m, true);
            nothing(m)
        }),
    },
    Command {
        name: "previous-part",
        keys: &[BACK_TAB],
        label: "part before",
        help: "Write the part before",
        rank: 0,
        place: SAVE,
        applies: has_parts,
        needs: "a report to write a part of",
        act: Act::Local(|m| {
            step_part(m, false);
            nothing(m)
        }),
    },
    Command {
        name: "save",
        keys: &[ENTER],
        label: "write it",
        help: "Write the file; one that is there is written over only after a yes",
        rank: 1,
        place: SAVE,
        applies: always,
        needs: "",
        act: Act::Local(Model::save),
    },
    Command {
        name: "save-over",
        keys: &[key('y')],
        label: "yes, write over it",
        help: "Write over the file that is there",
        rank: 1,
        place: CONFIRM,
        applies: |m| confirms(m, |what| matches!(what, Confirmed::Replace(_))),
        needs: "a file to write over",
        act: Act::Local(Model::save_over),
    },
    Command {
        name: "artefacts",
        keys: &[key('d')],
        label: "downloads",
        help: "Show what the sandbox kept beside the report: HTML report, network capture, event log, memory dump",
        rank: 8,
        place: FILE,
        applies: |m| has_report(m) && has_service(m) && artefacts::any(m),
        needs: "a report that tells of something to download",
        act: Act::Local(Model::show_artefacts),
    },
    Command {
        name: "fetch",
        keys: &[ENTER],
        label: "fetch",
        help: "Fetch the artefact; one that is held costs nothing and can be written to a file",
        rank: 1,
        place: ARTEFACTS,
        applies: always,
        needs: "",
        act: Act::Ask {
            request: artefacts::chosen,
            is_held: artefacts::is_chosen_held,
            with_held: Model::save_artefact,
            anew: false,
        },
    },
];
