//! Commands on reports, comparisons, overlays and the store; then those that work everywhere.

use crate::app::commands::Action::Local;
use crate::app::commands::{
    A_REPORT, A_SERVICE, Action, Requirement, can_go_back, form_request, has_kind, has_report, has_rows_below,
    has_service, in_tree, is_folded, is_form_stored, is_over, rows_of_tree,
};
use crate::app::compare::{Comparison, ComparisonList, OtherFileList, OtherFiles, other_file};
use crate::app::export_form::ExportForm;
use crate::app::find::HitList;
use crate::app::keys::{
    BACK_TAB, CHOICE, CHOSEN, COMPARE, CONFIRM, COPIED, DELETE, DOWN, END, ENTER, ESC, EVERYWHERE, FILE, FILE_OR_ROW,
    FORM, HOME, KINDS, KeyContexts, LEFT, OPEN, OVERLAYS, PAGE_DOWN, PAGE_UP, PANE, PICKER, READING, RIGHT, ROWS,
    SIDEWAYS, TAB, TREE, UNFOLDED, UP, key,
};
use crate::app::overlays::{
    AgeForm, AgeInDays, FindingList, GroupView, IndicatorList, NoteForm, ResponseTree, RowPicker, StoredList, TextPage,
    TriageList, group, palette, triage,
};
use crate::app::panes::facts::{is_process, names_process, parent};
use crate::app::panes::{FoldStep, Move};
use crate::app::prevalence;
use crate::app::spending::Planner;
use crate::app::{Command, FileJob, Key, KeyContext, Model, Overlay, ResponseSource, Screen, ServiceCall, StoreJob};
use crate::quota::{Kind, Operation};
use crate::report::StoredItem;

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

fn has_stored(model: &Model) -> bool {
    model.chosen_stored().is_some()
}

const ANY_STORED: &[Requirement] = &[("something stored", has_stored)];

/// Deleting more than the visible rows is disabled while a filter hides some.
const ALL_SHOWN: &[Requirement] = &[
    ("something stored", has_stored),
    ("all rows shown, for it deletes others as well", |m| {
        m.overlays.top_as::<StoredList>().is_some_and(|stored| stored.filter.typed.is_empty())
    }),
];

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
    "palette" [key(':')] "commands", 5, READING,
        "Find any command or request by typing words of its name or help" => Local(|m| palette::open(m, false));
    "choose" [ENTER] "choose", 1, CHOSEN,
        "Run the chosen command"
        if &[("something to choose", |m| m.chosen_item().is_some())] => Action::Chosen;
    "send" [ENTER] "send", 1, FORM,
        "Send the typed request; a stored response costs nothing"
        if &[("valid input for the request", |m| form_request(m).is_some())] => Action::Send {
            request: form_request,
            is_stored: is_form_stored,
            with_stored: |m| form_request(m).into_iter().for_each(|request| m.load_stored(request, ResponseSource::Stored)),
            source: ResponseSource::StoredOrService,
        };
    "refetch-typed" [Key::Ctrl('a')] "send again", 2, FORM,
        "Send the typed request though its response is stored"
        if &[("a stored response", is_form_stored)] => Action::send_again(form_request);
    "confirm" [key('y'), key('Y')] "confirm", 0, CONFIRM,
        "Confirm by a key that the confirmation shows, at the price beside it; any other key closes it, and nothing is done"
        => Local(|m| m.warn("The confirmation shows its keys."));
    "note" [key('a')] "note", 8, FILE_OR_ROW,
        "Write a note on the sandbox's report or on the row; it stays with what the row says when the report is fetched again. ✎ marks what it is on, (✎) the sandbox of a row that has one"
        if &[("a stored report, or a row of one (behaview store import stores saved ones)", |m| {
            m.overlays.shows_row() && m.noted().is_some()
        })]
        => Local(Model::write_note);
    "save-note" [ENTER] "save the note", 1, FORM,
        "Write the typed note; an empty line deletes it, after confirmation"
        if &[("a typed note", is_over::<NoteForm>)] => Local(Model::save_note);
    "ledger" [key('L')] "ledger", 9, OPEN,
        "Show the ledger: each call, its predicted and settled cost, and whether the service's counters confirm it"
        if A_SERVICE => Local(|m| m.emit(StoreJob::ReadLedger));
    "spenders" [key('B')] "who spends", 9, OPEN,
        "Show who spent the quota this month: by user, project, operation and day, from the team's ledger or this machine's; and where the pace leads"
        if A_SERVICE => Local(|m| m.emit(ServiceCall::ReadCosts));
    "planner" [key('p')] "planner", 8, OPEN,
        "Add operations up before sending any: what they cost, and what they leave to the user and the group"
        if A_SERVICE => Local(|m| m.overlays.put(Planner::empty()));
    "plan" [ENTER] "add to the plan", 1, FORM,
        "Add the typed operation to the plan; @ and a file count the hashes in it; backspace on an empty line takes the last one back"
        if &[("the planner", is_over::<Planner>)] => Local(|m| {
            let Some(planner) = m.overlays.top_as_mut::<Planner>() else { return };
            match planner.add() {
                Ok(None) => {}
                Ok(Some(path)) => m.emit(FileJob::CountHashes(path)),
                // The form's rows show the reason.
                Err(_) => m.warn("Nothing was added."),
            }
        });
    "prices" [key('$')] "prices", 6, KeyContexts::of(&[KeyContext::List, KeyContext::Pane, KeyContext::Picker]),
        "Explain the prices that apply here: rule, place in the specification, who is charged"
        if &[("a file from the service, or its artifacts", |m| {
            has_service(m) && (m.overlays.is_empty() || m.chosen_artifact().is_some())
        })] => Local(|m| m.overlays.put(TextPage::prices(m)));
    "help" [key('?')] "help", 1, READING,
        "Show the keys that apply here with their prices; / finds one, enter does it" => Local(|m| palette::open(m, true));
    "settings" [key(',')] "settings", 0, OPEN,
        "Show every setting, and what it is set with: theme, keys, budget, mouse and others"
        => Local(|m| m.overlays.put(TextPage::settings(&m.settings.in_effect)));
    "store" [key('H')] "stored reports", 8, OPEN,
        "Show everything stored: size, age, expiry at the service, notes, where it came from; and delete it"
        if A_SERVICE => Local(|m| m.emit(StoreJob::LoadInventory));
    "open-stored" [ENTER] "open file", 1, PICKER,
        "Open the file of the chosen report"
        if &[("a report of a known file, imported or stored for this service", |m| {
            let is_here = |line: &StoredItem| line.service == m.service.id || line.imported.is_some();
            m.chosen_stored().is_some_and(|line| line.file.is_some() && is_here(line))
        })] => Local(Model::open_stored);
    "triage" [key('#')] "triage", 7, KeyContexts::of(&[KeyContext::Start, KeyContext::Picker]),
        "Rank all stored files, or those of the group's list: verdict, findings, sandboxes, and the price of what is not stored; pasting several hashes ranks those; costs nothing"
        if &[("the start screen, the list of what is stored or that of the group, and a service", |m| {
            has_service(m) && (m.overlays.is_empty() || is_over::<StoredList>(m) || is_over::<GroupView>(m))
        })] => Local(|m| triage::triage(m, group::shown_files(m)));
    "open-triaged" [ENTER] "open file", 1, PICKER,
        "Open the file; going back returns to the triage"
        if &[("a file of the triage", |m| {
            m.overlays.top_as::<TriageList>().is_some_and(|list| list.chosen().is_some())
        })] => Local(triage::open_triaged);
    "fetch-triaged" [key('A')] "request missing", 2, PICKER,
        "Request what is missing of the files shown: their lists, and once these are stored their reports; after confirmation of the total, one after another"
        if &[("a triage with something to request, and no other requests in sequence", |m| {
            m.calls.batch().is_none() && !triage::cheapest(m).is_empty()
        })] => Action::Each { requests: triage::cheapest, price: triage::price_of_cheapest, begin: triage::confirm_fetch };
    "sort-stored" [key('O')] "sort", 2, PICKER,
        "Sort by age, size, file or expiry" if ANY_STORED => Local(Model::sort_stored);
    "delete-stored" [key('D'), DELETE] "delete", 2, PICKER,
        "Delete the chosen report from the store; or everything stored of its file; after confirmation"
        if ANY_STORED => Local(Model::delete_chosen);
    "delete-old" [key('P')] "purge by age", 3, PICKER,
        "Delete everything older than a number of days, after confirmation" if ALL_SHOWN => Local(|m| m.overlays.put(AgeForm::with_fields(AgeInDays, 1)));
    "delete-everything" [key('X')] "delete all", 4, PICKER,
        "Delete everything stored, after confirmation; the ledger stays"
        if ALL_SHOWN => Local(|m| m.confirm_deletion(vec![crate::report::DeletionTarget::Everything]));
    "apply-age" [ENTER] "how many go", 1, FORM,
        "List everything older than the typed days, for confirmation"
        if &[("a typed age", is_over::<AgeForm>)] => Local(Model::delete_old);
    "down" [DOWN, key('j')] "down", 0, EVERYWHERE,
        "One row down" => Local(|m| m.go(Move::Down(1)));
    "up" [UP, key('k')] "up", 0, EVERYWHERE,
        "One row up" => Local(|m| m.go(Move::Up(1)));
    "page-down" [PAGE_DOWN, Key::Ctrl('f')] "page down", 0, EVERYWHERE,
        "One page down; ▐ on a border is the part of the rows in sight" => Local(|m| m.go_page(Move::PageDown));
    "page-up" [PAGE_UP, Key::Ctrl('b')] "page up", 0, EVERYWHERE,
        "One page up" => Local(|m| m.go_page(Move::PageUp));
    "first" [key('g'), HOME] "first", 0, EVERYWHERE,
        "To the first row" => Local(|m| m.go(Move::First));
    "last" [key('G'), END] "last", 0, EVERYWHERE,
        "To the last row" => Local(|m| m.go(Move::Last));
    "back" [ESC] "back", 4, EVERYWHERE,
        "Go back one step: empty the filter of a list, close, shrink, to the list of sandboxes; open-file leaves the file"
        if &[("something to go back from", can_go_back)] => Local(Model::go_back);
    "cancel" [Key::Ctrl('x')] "cancel", 2, EVERYWHERE,
        "Stop waiting for the calls in flight; they may be charged, and the ledger counts them"
        if &[("a call in flight", |m| !m.calls.is_empty())] => Local(Model::cancel_or_quit);
    "suspend" [Key::Ctrl('z')] "suspend", 0, EVERYWHERE,
        "Suspend the app and return to the shell; `fg` resumes it"
        if &[("a terminal that can suspend a program", |m| m.settings.has_shell)]
        => Local(Model::suspend_app);
    "close" [key('q')] "close", 0, OVERLAYS,
        "Close the overlay, whatever filters it" => Local(Model::close_overlay);
    "quit" [key('q'), Key::Ctrl('c')] "quit", 6, EVERYWHERE,
        "Quit; over an overlay by ctrl-c alone; a paid response in flight is waited for, pressing it again leaves at once"
        => Local(Model::quit);
}
