//! What is taken away: copies, indicators, files.

use super::context::{A_REPORT, has_report, has_service, nothing};
use super::{Act, Command, When};
use crate::app::keys::key::{BACK_TAB, ENTER, Key, TAB, key};
use crate::app::keys::place::{ARTEFACTS, COPIED, DETAIL, FILE, INDICATORS, ROW, ROWS, SAVE, VALUED};
use crate::app::model::Model;
use crate::app::over::artefacts;
use crate::app::over::overlay::Overlay;
use crate::quota::Kind;

fn has_values(model: &Model) -> bool {
    matches!(model.over.top(), Some(Overlay::Detail(detail)) if detail.has_values())
}

fn has_parts(model: &Model) -> bool {
    matches!(model.over.top(), Some(Overlay::Save(form)) if form.has_parts())
}

fn step_part(model: &mut Model, forward: bool) {
    if let Some(Overlay::Save(form)) = model.over.top_mut() {
        form.step(forward);
    }
}

const SEVERAL_VALUES: When = When::Has("a row with several values", has_values);
const A_VALUE: When = When::Has("a value", Model::can_copy);
const SEVERAL_PARTS: When = When::Has("a report to write a part of", has_parts);

pub(super) static COMMANDS: &[Command] = &[
    Command {
        name: "copy",
        keys: &[key('y')],
        label: "copy",
        help: "Copy the value, defanged and in one line; of a sandbox its identifier",
        rank: 7,
        place: COPIED,
        when: A_VALUE,
        act: Act::Local(Model::copy_value),
    },
    Command {
        name: "copy-raw",
        keys: &[key('Y')],
        label: "copy raw",
        help: "Copy the value as it is, controls and all; asks once",
        rank: 0,
        place: COPIED,
        when: A_VALUE,
        act: Act::Local(Model::copy_raw),
    },
    Command {
        name: "copy-row",
        keys: &[Key::Ctrl('y')],
        label: "copy row",
        help: "Copy the whole row, defanged and in one line, with why it is listed or who saw it; of a sandbox the file's SHA-256",
        rank: 0,
        place: ROW,
        when: When::Has("a row, or a file", Model::can_copy_row),
        act: Act::Local(Model::copy_row),
    },
    Command {
        name: "copy-all",
        keys: &[Key::Ctrl('p')],
        label: "copy all rows",
        help: "Copy every row of the pane, or every indicator that is shown, defanged and in one line",
        rank: 0,
        place: ROWS,
        when: When::Always,
        act: Act::Local(Model::copy_all),
    },
    Command {
        name: "next-value",
        keys: &[TAB],
        label: "next value",
        help: "Choose the row's next value, to be copied",
        rank: 2,
        place: DETAIL,
        when: SEVERAL_VALUES,
        act: Act::Local(|m| m.step_value(true)),
    },
    Command {
        name: "previous-value",
        keys: &[BACK_TAB],
        label: "value before",
        help: "Choose the row's value before",
        rank: 0,
        place: DETAIL,
        when: SEVERAL_VALUES,
        act: Act::Local(|m| m.step_value(false)),
    },
    Command {
        name: "indicators",
        keys: &[key('i')],
        label: "indicators",
        help: "Show what others can look for: hashes, hosts, addresses, URLs, paths, keys, mutexes, and where each was seen",
        rank: 7,
        place: FILE,
        when: A_REPORT,
        act: Act::Local(Model::find_indicators),
    },
    Command {
        name: "go-to-indicator",
        keys: &[ENTER],
        label: "go to its row",
        help: "Go to the row that names the indicator; where several do, list them",
        rank: 2,
        place: INDICATORS,
        when: When::Always,
        act: Act::Local(Model::go_to_indicator),
    },
    Command {
        name: "next-indicators",
        keys: &[TAB, key('}')],
        label: "next kind",
        help: "Show the next kind of indicators only",
        rank: 3,
        place: INDICATORS,
        when: When::Always,
        act: Act::Local(|m| m.step_indicators(true)),
    },
    Command {
        name: "previous-indicators",
        keys: &[BACK_TAB, key('{')],
        label: "kind before",
        help: "Show the kind of indicators before",
        rank: 0,
        place: INDICATORS,
        when: When::Always,
        act: Act::Local(|m| m.step_indicators(false)),
    },
    Command {
        name: "export",
        keys: &[key('x')],
        label: "export",
        help: "Write the report, the pane, the row, the value, the indicators or what deserves a look to a file: JSON, JSON lines, CSV, Markdown, text, STIX, MISP",
        rank: 8,
        place: VALUED,
        when: When::Has("an open report, or a value", Model::can_write),
        act: Act::Local(Model::ask_where),
    },
    Command {
        name: "next-part",
        keys: &[TAB],
        label: "another part",
        help: "Write another part: the whole report, the pane, the row, the indicators, the value",
        rank: 2,
        place: SAVE,
        when: SEVERAL_PARTS,
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
        when: SEVERAL_PARTS,
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
        when: When::Always,
        act: Act::Local(Model::save),
    },
    Command {
        name: "artefacts",
        keys: &[key('d')],
        label: "downloads",
        help: "Show what the sandbox kept beside the report: HTML report, network capture, event log, memory dump; the list is free, each that is fetched is charged",
        rank: 6,
        place: FILE,
        when: When::Has("a report that tells of something to download", |m| {
            has_report(m) && has_service(m) && artefacts::any(m)
        }),
        act: Act::Leads { to: Model::show_artefacts, price: |m| m.price_of_one(Kind::PrivateArtefact) },
    },
    Command {
        name: "fetch",
        keys: &[ENTER],
        label: "fetch",
        help: "Fetch the artefact; one that is held costs nothing and can be written to a file",
        rank: 1,
        place: ARTEFACTS,
        when: When::Always,
        act: Act::Ask {
            request: artefacts::chosen,
            is_held: artefacts::is_chosen_held,
            with_held: Model::save_artefact,
            anew: false,
        },
    },
];
