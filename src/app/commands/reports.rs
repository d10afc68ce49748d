//! Commands on reports, rows and lists: panes, findings, comparison, export, artifacts, notes.

use crate::app::commands::Action::Local;
use crate::app::commands::{
    A_REPORT, Action, Requirement, has_kind, has_report, has_rows_below, has_service, in_tree, is_folded, is_over,
    rows_of_tree,
};
use crate::app::compare::{Comparison, ComparisonList, OtherFileList, OtherFiles, other_file};
use crate::app::export_form::ExportForm;
use crate::app::find::HitList;
use crate::app::keys::{
    BACK_TAB, CHOICE, COMPARE, COPIED, ENTER, FILE, FILE_OR_ROW, FORM, KINDS, KeyContexts, LEFT, PANE, PICKER, RIGHT,
    ROWS, SIDEWAYS, TAB, TREE, UNFOLDED, key,
};
use crate::app::overlays::{FindingList, IndicatorList, NoteForm, ResponseTree, RowPicker, TextPage};
use crate::app::panes::FoldStep;
use crate::app::panes::facts::{is_process, names_process, parent};
use crate::app::{Command, Key, KeyContext, Model, Overlay, ResponseSource, Screen, prevalence};
use crate::quota::{Kind, Operation};

/// The steps of the list's columns and of the upper panes' percentage of rows.
const LIST_STEP_COLUMNS: i16 = 2;
const UPPER_STEP_PERCENT: i16 = 5;

const FOLDED_OR_WIDE: &[Requirement] = &[("a report, or a list that folds or has kinds or columns", |m| {
    if m.overlays.is_empty() { has_report(m) } else { !is_over::<RowPicker>(m) }
})];
const A_STORED_REPORT: &[Requirement] =
    &[("a stored report", |m| m.screen == Screen::File && m.stored_reports().next().is_some())];

fn step_kind(model: &mut Model, forward: bool) {
    match model.overlays.top_mut() {
        Some(Overlay::ComparisonList(list)) => list.change(|compare| compare.step_pane(forward)),
        Some(Overlay::Indicators(list)) => list.step(forward),
        _ => model.files.with_focused(|state, report, pane| state.step_kind(report, pane, forward)),
    }
}

const A_VALUE: &[Requirement] = &[("a value", |m| m.subject().is_some())];
const A_CHOICE: &[Requirement] =
    &[("a line with several choices", |m| m.overlays.top_as().is_some_and(|form: &ExportForm| form.has_choice()))];

commands! {
    "row-details" [ENTER] "details", 4, TREE,
        "Show the details of the row: every field, uncut"
        if &[("a row", |m| match m.overlays.top_as::<ResponseTree>() {
            Some(response) => response.chosen().is_some_and(|line| line.value.is_some()),
            None => (m.note_target().is_some() || m.files.current_rule_row().is_some()) && m.overlays.is_empty(),
        })]
        => Local(|m| if m.overlays.is_empty() { m.open_detail() } else { m.open_value() });
    "findings" [key('!')] "findings", 2, FILE_OR_ROW,
        "List what rules mark, by subject and rule: with techniques, in all stored sandboxes of the file; a row's mark: ! high, * medium, + low, ~ noise"
        if A_STORED_REPORT => Local(Model::list_findings);
    "hide-noise" [key('~')] "hide noise", 7, FILE,
        "Hide what any machine does by itself, or show it again" if A_REPORT => Local(Model::toggle_noise);
    "next-pane" [TAB] "panes", 3, FILE,
        "Go to the next pane; from the list, into the report" if A_REPORT => Local(|m| m.files.step_pane(true));
    "previous-pane" [BACK_TAB] "previous pane", 0, FILE,
        "Go to the previous pane" if A_REPORT => Local(|m| m.files.step_pane(false));
    "next-group" [key(']')] "more panes", 6, FILE,
        "Show the next group of panes" if A_REPORT => Local(|m| m.files.step_group(true));
    "previous-group" [key('[')] "previous panes", 0, FILE,
        "Show the previous group of panes" if A_REPORT => Local(|m| m.files.step_group(false));
    "zoom" [key('z')] "zoom", 6, PANE,
        "Give the pane the whole screen, or its place back" if A_REPORT => Local(|m| m.files.zoom(!m.files.is_zoomed()));
    "timeline" [key('T')] "timeline", 8, FILE,
        "Show when each process started, along a line of time" if A_REPORT => Local(|m| {
            m.overlays.put(TextPage::timeline(m, m.overlay_room().width.into()));
        });
    "list-wider" [key('>')] "wider list", 0, FILE,
        "Give the list of sandboxes more columns" if A_REPORT => Local(|m| m.resize(|sizes, layout| sizes.widen_list(layout, LIST_STEP_COLUMNS)));
    "list-narrower" [key('<')] "narrower list", 0, FILE,
        "Give the list of sandboxes fewer columns" if A_REPORT => Local(|m| m.resize(|sizes, layout| sizes.widen_list(layout, -LIST_STEP_COLUMNS)));
    "upper-taller" [key(')')] "taller upper panes", 0, FILE,
        "Give the upper two panes more rows" if A_REPORT => Local(|m| m.resize(|sizes, _| sizes.grow_upper(UPPER_STEP_PERCENT)));
    "upper-shorter" [key('(')] "shorter upper panes", 0, FILE,
        "Give the upper two panes fewer rows" if A_REPORT => Local(|m| m.resize(|sizes, _| sizes.grow_upper(-UPPER_STEP_PERCENT)));
    "left" [LEFT, key('h')] "left", 0, KeyContexts::of(&[KeyContext::Pane, KeyContext::Response, KeyContext::Compare, KeyContext::Rows]),
        "Fold the process or the rule, or go to the one above it; elsewhere move the text sideways; in a comparison, the previous column; of indicators, the previous kind"
        if FOLDED_OR_WIDE => Local(|m| m.fold(FoldStep::Left));
    "right" [RIGHT, key('l')] "right", 0, SIDEWAYS,
        "Unfold the process or the rule; elsewhere move the text sideways; in a comparison, the next column; of indicators, the next kind; from the list, into the report"
        if FOLDED_OR_WIDE => Local(|m| m.fold(FoldStep::Right));
    "fold" [key(' ')] "unfold or fold", 7, TREE,
        "Fold or unfold the process"
        if &[("a row of a tree that has rows below it", has_rows_below)] => Local(|m| m.fold(FoldStep::Toggle));
    "show-all" [key('+'), key('=')] "show all", 5, UNFOLDED,
        "Unfold the whole process tree, or all findings; in a comparison, show every hidden column again"
        if &[("something folded, or hidden columns", |m| {
            is_folded(m) || m.overlays.top_as::<ComparisonList>().is_some_and(|found| !found.source.without.is_empty())
        })] => Local(|m| match is_over::<ComparisonList>(m) {
            true => m.compare_other_columns(Comparison::bring_back),
            false => m.fold(FoldStep::All(false)),
        });
    "show-less" [key('-')] "show less", 5, UNFOLDED,
        "Fold the process tree down to its roots, or all findings; in a comparison, hide the chosen column: at least two remain"
        if &[("a tree, findings, or two columns beside the chosen one", |m| {
            in_tree(m) || is_over::<FindingList>(m) || m.overlays.top_as::<ComparisonList>().is_some_and(|found| found.source.can_leave_out())
        })] => Local(|m| {
            if is_over::<ComparisonList>(m) {
                return m.compare_other_columns(Comparison::leave_out);
            }
            let before = rows_of_tree(m);
            m.fold(FoldStep::All(true));
            if rows_of_tree(m) == before {
                m.say("Everything is folded already.");
            }
        });
    "isolate" [key('.')] "only this subtree", 8, PANE,
        "Show only the process and those below it, or the whole tree again"
        if &[("a process of the tree", |m| m.files.current_row().is_some_and(|(report, row)| is_process(report, row)))]
        => Local(|m| m.files.with_focused(|state, report, pane| state.isolate(report, pane)));
    "process" [key('^')] "its process", 7, KeyContexts::of(&[KeyContext::Pane, KeyContext::Detail]),
        "Go to the process that started this one, or that the row names; such as the one that dropped the file; list those that it may mean"
        if &[("a process that another one started, or a row that names a process", |m| {
            let row = m.row_in_sight();
            row.is_some_and(|(report, row)| parent(report, row).is_some() || names_process(report, row))
        })] => Local(|m| match m.row_in_sight().and_then(|(report, row)| parent(report, row)) {
            Some(parent) => {
                m.overlays.all.clear();
                m.show_row(parent);
            }
            None => m.go_to_process(),
        });
    "find-named" [key('e')] "where else", 7, PANE,
        "Find in all panes what the row is about: which files, dropped files, memory dumps and alerts name the process, and not another's number"
        if A_REPORT => Local(Model::find_named);
    "next-kind" [key('}')] "next kind", 7, KINDS,
        "Go to the pane's next kind of rows (such as from written to deleted files); in a comparison, show the next pane's only; of indicators those to block, or the next kind"
        if &[("a further kind of rows", |m| has_kind(m, true))] => Local(|m| step_kind(m, true));
    "previous-kind" [key('{')] "previous kind", 0, KINDS,
        "Go to the pane's previous kind of rows; in a comparison, show the previous pane's only; of indicators, the previous kind"
        if &[("an earlier kind of rows", |m| has_kind(m, false))] => Local(|m| step_kind(m, false));
    "compare" [key('c')] "compare", 6, FILE_OR_ROW,
        "Compare the sandboxes: which of them saw what; stored reports only, so it costs nothing; processes are the same by name, and by a folder that says more"
        if A_STORED_REPORT => Local(Model::compare);
    "pivot" [key('V')] "pivot", 0, KeyContexts::of(&[KeyContext::List, KeyContext::Pane, KeyContext::Detail, KeyContext::Rows]),
        "List the other stored files that have the row, the finding or the indicator; of a sandbox the files that did nearly the same; costs nothing"
        if &[("a row of a stored report or of a finding, or an indicator", |m| prevalence::subject(m).is_some())] => Local(prevalence::pivot);
    "compare-files" [key('c')] "compare", 5, ROWS,
        "Compare the file with the chosen other one; costs nothing"
        if &[("a row of another file", |m| other_file(m).is_some())] => Local(Model::compare_with_other);
    "compare-where" [ENTER] "where", 2, COMPARE,
        "Show where the item was seen, to go there" => Local(|m| {
            let picker_rows = m.overlays.find::<ComparisonList>().and_then(ComparisonList::picker_rows);
            picker_rows.into_iter().for_each(|picker_rows| m.overlays.put(picker_rows));
        });
    "compare-with" [key('w')] "compare with", 5, COMPARE,
        "Compare with another file that has stored reports; costs nothing"
        if &[("another file with stored reports", |m| {
            has_service(m) && m.start.others(m.file()).next().is_some()
        })]
        => Local(|m| {
            m.overlays.put(OtherFileList::new(OtherFiles(m.start.others(m.file()).cloned().collect())));
        });
    "compare-with-this" [ENTER] "compare with it", 1, PICKER,
        "Compare with the chosen file"
        if &[("a list of other files", is_over::<OtherFileList>)] => Local(Model::compare_with_chosen);
    "go-to-row" [ENTER] "go there", 1, KeyContexts::of(&[KeyContext::Finder, KeyContext::Hits, KeyContext::Rows]),
        "Go to the row or the hit, in its sandbox and pane; of an indicator to the row that names it, or where several do, to a list of them"
        if &[("a row to go to", |m| {
            is_over::<HitList>(m) || is_over::<IndicatorList>(m) || m.chosen_target().is_some()
        })] => Local(Model::go_to_chosen);
    "unfold-rule" [ENTER, key(' ')] "unfold or fold", 1, ROWS,
        "Show the rows of the rule, or of all rules of the subject; or fold them again"
        if &[("a rule or a subject of the findings", |m| m.overlays.top_as::<FindingList>().is_some_and(FindingList::is_on_heading))]
        => Local(|m| m.fold(FoldStep::Toggle));
    "scope" [key('v')] "view", 3, KeyContexts::of(&[KeyContext::Rows, KeyContext::Compare]),
        "Cover every stored report of the file, or this sandbox's alone; in a comparison, show in turn what every column saw, what differs (≠) or not all saw, what the chosen column alone saw, what it did not, everything"
        if &[("several stored reports of the file, in a list of their rows or in a comparison", |m| {
            m.has_scope() || m.overlays.top_as().is_some_and(|found: &ComparisonList| found.source.sides().len() > 1)
        })] => Local(|m| match is_over::<ComparisonList>(m) {
            true => m.change_comparison(Comparison::step_view),
            false => m.toggle_scope(),
        });
    "copy" [key('y')] "copy", 7, COPIED,
        "Copy the value, defanged and in one line; of a sandbox its identifier"
        if A_VALUE => Local(Model::copy_value);
    "copy-raw" [key('Y')] "copy raw", 0, COPIED,
        "Copy the raw value with its controls; needs confirmation once" if A_VALUE => Local(Model::copy_raw);
    "copy-row" [Key::Ctrl('y')] "copy row", 0, KeyContexts::of(&[KeyContext::List, KeyContext::Pane, KeyContext::Rows, KeyContext::Compare]),
        "Copy the whole row, defanged and in one line; with why it is listed or who saw it; of a sandbox the file's SHA-256"
        if &[("a row, or a file", |m| m.row_line().is_some())] => Local(|m| {
            let line = m.row_line();
            line.into_iter().for_each(|(what, line)| m.copy(what, line.into_bytes()));
        });
    "copy-all" [Key::Ctrl('p')] "copy all rows", 0, KINDS,
        "Copy every row of the pane, or every indicator that is shown; defanged and in one line"
        if &[("rows of a pane, or indicators", |m| m.overlays.is_empty() || is_over::<IndicatorList>(m))] => Local(Model::copy_all);
    "indicators" [key('i')] "indicators", 7, FILE_OR_ROW,
        "Show what others can look for: hashes, hosts, addresses, URLs, paths, keys, mutexes, and where each was seen"
        if A_STORED_REPORT => Local(Model::find_indicators);
    "export" [key('x')] "export", 8, COPIED,
        "Write indicators, the report, pane, row, value or findings to a file: STIX, MISP, ATT&CK Navigator, CSV, JSON, JSON lines, Markdown, text"
        if &[("an open report, or a value", Model::can_write)] => Local(Model::open_export_form);
    "next-choice" [RIGHT, key('l')] "change", 2, CHOICE,
        "Choose the next of the line: what is exported, of which reports, in which format"
        if A_CHOICE => Local(|m| m.overlays.change_top(|form: &mut ExportForm| form.change(true)));
    "previous-choice" [LEFT, key('h')] "previous choice", 0, CHOICE,
        "Choose the previous one" if A_CHOICE => Local(|m| m.overlays.change_top(|form: &mut ExportForm| form.change(false)));
    "save" [ENTER] "write it", 1, KeyContexts::of(&[KeyContext::Form, KeyContext::Choice]),
        "Write the file; an existing one is overwritten only after confirmation"
        if &[("the path of a file", is_over::<ExportForm>)] => Local(Model::save);
    "artifacts" [key('d')] "artifacts", 6, FILE_OR_ROW,
        "Show the artifacts beside the report: HTML report, network capture, event log, memory dump; the list is free, each download is charged"
        if &[("a report with artifacts", |m| {
            has_report(m) && has_service(m) && m.chosen().is_some_and(|entry| entry.identifier.is_some())
                && m.claimed_artifacts().next().is_some()
        })] => Action::OpenPaid { to: Model::show_artifacts, price: |m| m.quota_state.plan([Operation::once(Kind::PrivateArtifact)]) };
    "download" [ENTER] "download", 1, PICKER,
        "Download the artifact; a stored one costs nothing and can be written to a file"
        if &[("a list of artifacts", |m| m.chosen_artifact().is_some())] => Action::Send {
            request: Model::chosen_artifact,
            is_stored: Model::is_chosen_artifact_stored,
            with_stored: Model::save_artifact,
            source: ResponseSource::StoredOrService,
        };
    "note" [key('a')] "note", 8, FILE_OR_ROW,
        "Write a note on the sandbox's report or on the row; it stays with what the row says when the report is fetched again. ✎ marks what it is on, (✎) the sandbox of a row that has one"
        if &[("a stored report, or a row of one (behaview store import stores saved ones)", |m| {
            m.overlays.shows_row() && m.noted().is_some()
        })]
        => Local(Model::write_note);
    "save-note" [ENTER] "save the note", 1, FORM,
        "Write the typed note; an empty line deletes it, after confirmation"
        if &[("a typed note", is_over::<NoteForm>)] => Local(Model::save_note);
}
