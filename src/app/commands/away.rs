//! Commands that copy and export.

use crate::app::away::SaveForm;
use crate::app::commands::Act::Local;
use crate::app::commands::context::{A_REPORT, has_report, has_service};
use crate::app::commands::{Act, When};
use crate::app::keys::place::{COPIED, DETAIL, FILE, FORM, PICKER, ROW, ROWS, VALUED};
use crate::app::keys::{BACK_TAB, ENTER, TAB, key};
use crate::app::over::{Detail, IndicatorList, artefacts};
use crate::app::{Command, Key, Model};
use crate::quota::Kind;

fn has_values(model: &Model) -> bool {
    model.over.top_as::<Detail>().is_some_and(|detail| detail.has_values())
}

fn has_indicators(model: &Model) -> bool {
    model.over.top_as::<IndicatorList>().is_some()
}

fn has_parts(model: &Model) -> bool {
    model.over.top_as::<SaveForm>().is_some_and(|form| form.has_parts())
}

const INDICATORS: When = When::Has("a list of indicators", has_indicators);
const SEVERAL_VALUES: When = When::Has("a row with several values", has_values);
const A_VALUE: When = When::Has("a value", Model::can_copy);
const SEVERAL_PARTS: When = When::Has("a report to write a part of", has_parts);

commands! {
    "copy" [key('y')] "copy", 7, COPIED,
        "Copy the value, defanged and in one line; of a sandbox its identifier"
        if A_VALUE => Local(Model::copy_value);
    "copy-raw" [key('Y')] "copy raw", 0, COPIED,
        "Copy the value as it is, controls and all; asks once" if A_VALUE => Local(Model::copy_raw);
    "copy-row" [Key::Ctrl('y')] "copy row", 0, ROW,
        "Copy the whole row, defanged and in one line, with why it is listed or who saw it; of a sandbox the file's SHA-256"
        if When::Has("a row, or a file", Model::can_copy_row) => Local(Model::copy_row);
    "copy-all" [Key::Ctrl('p')] "copy all rows", 0, ROWS,
        "Copy every row of the pane, or every indicator that is shown, defanged and in one line"
        if When::Has("rows of a pane, or indicators", |m| m.over.is_empty() || has_indicators(m)) => Local(Model::copy_all);
    "next-value" [TAB] "next value", 2, DETAIL,
        "Choose the row's next value, to be copied" if SEVERAL_VALUES => Local(|m| m.step_value(true));
    "previous-value" [BACK_TAB] "value before", 0, DETAIL,
        "Choose the row's value before" if SEVERAL_VALUES => Local(|m| m.step_value(false));
    "indicators" [key('i')] "indicators", 7, FILE,
        "Show what others can look for: hashes, hosts, addresses, URLs, paths, keys, mutexes, and where each was seen"
        if A_REPORT => Local(Model::find_indicators);
    "go-to-indicator" [ENTER] "go to its row", 2, PICKER,
        "Go to the row that names the indicator; where several do, list them"
        if INDICATORS => Local(Model::go_to_indicator);
    "next-indicators" [TAB, key('}')] "next kind", 3, PICKER,
        "Show the next kind of indicators only"
        if INDICATORS => Local(|m| m.with_over(|list: &mut IndicatorList| list.step(true)));
    "previous-indicators" [BACK_TAB, key('{')] "kind before", 0, PICKER,
        "Show the kind of indicators before"
        if INDICATORS => Local(|m| m.with_over(|list: &mut IndicatorList| list.step(false)));
    "export" [key('x')] "export", 8, VALUED,
        "Write the report, the pane, the row, the value, the indicators or what deserves a look to a file: JSON, JSON lines, CSV, Markdown, text, STIX, MISP"
        if When::Has("an open report, or a value", Model::can_write) => Local(Model::ask_where);
    "next-part" [TAB] "another part", 2, FORM,
        "Write another part: the whole report, the pane, the row, the indicators, the value"
        if SEVERAL_PARTS => Local(|m| m.with_over(|form: &mut SaveForm| form.step_part(true)));
    "previous-part" [BACK_TAB] "part before", 0, FORM,
        "Write the part before" if SEVERAL_PARTS => Local(|m| m.with_over(|form: &mut SaveForm| form.step_part(false)));
    "save" [ENTER] "write it", 1, FORM,
        "Write the file; one that is there is written over only after a yes"
        if When::Has("the path of a file", |m| m.over.top_as::<SaveForm>().is_some()) => Local(Model::save);
    "artefacts" [key('d')] "downloads", 6, FILE,
        "Show what the sandbox kept beside the report: HTML report, network capture, event log, memory dump; the list is free, each that is fetched is charged"
        if When::Has("a report that tells of something to download", |m| {
            has_report(m) && has_service(m) && artefacts::any(m)
        }) => Act::Leads { to: Model::show_artefacts, price: |m| m.price_of_one(Kind::PrivateArtefact) };
    "fetch" [ENTER] "fetch", 1, PICKER,
        "Fetch the artefact; one that is held costs nothing and can be written to a file"
        if When::Has("a list of downloads", |m| artefacts::chosen(m).is_some()) => Act::Ask {
            request: artefacts::chosen,
            is_held: artefacts::is_chosen_held,
            with_held: Model::save_artefact,
            anew: false,
        };
}
