//! Draws overlays: frames, filtered lists, forms, text pages, response trees, confirmations.

use super::canvas::{Canvas, LineWriter, StyledText, fitting, wrapped};
use super::list::progress;
use super::pane::{draw_labelled, draw_pieces, frame};
use super::theme::Role;
use crate::app::overlays::OverlayScreen;
use crate::app::overlays::generic::{ChoiceLine, FormSource, InputForm, ListSource, ListView, TextField};
use crate::app::overlays::stored::{AgeForm, AgeInDays, NoteForm, TypedNote};
use crate::app::overlays::text_page::{PageSource, PageView, ResponseTree, TextPage, remaining_label};
use crate::app::scan::{FIELDS, FileToScan, ScanField, SubmitForm};
use crate::app::spending::Confirmation;
use crate::app::spending::ad_hoc::{AdHocPrompt, PlannedOperations, Planner, Prompt};
use crate::app::{Area, KeyContext, Layout, List, Model, Overlay, ResponseSource};
use crate::report::Row;
use crate::request::{Request, ScanOption, UploadLimit};
use crate::text::{ColumnWidth, Visible, bytes, count, thousands, wrap_cut};

/// The area of an overlay; a form's height depends on its text.
pub(super) fn area(overlay: &Overlay, layout: &Layout, model: &Model) -> Area {
    let columns = overlay.area(layout).inside().width.saturating_sub(2).into();
    let rows = match overlay {
        Overlay::Prompt(form) => form_rows(form, columns, model).max(4),
        Overlay::Export(form) => form_rows(form, columns, model),
        Overlay::Note(form) => form_rows(form, columns, model),
        Overlay::Submit(form) => form_rows(form, columns, model),
        Overlay::Age(form) => form_rows(form, columns, model),
        _ => return overlay.area(layout),
    };
    Overlay::area_of(rows, layout)
}

pub(super) fn draw(buffer: &mut Canvas<'_>, layout: &Layout, overlay: &Overlay, model: &Model) {
    let area = area(overlay, layout, model);
    buffer.clear(area);
    // No match pattern can bind lists of several types.
    macro_rules! draw_each {
        (lists $($list:ident)*; forms $($form:ident)*) => {
            match overlay {
                $(Overlay::$list(list) => draw_list(buffer, area, list, model),)*
                $(Overlay::$form(form) => draw_form(buffer, area, form, model),)*
                Overlay::Detail(page) => draw_page(buffer, area, page, model),
                Overlay::TextPage(page) => draw_page(buffer, area, page, model),
                Overlay::Confirm(question) => draw_confirm(buffer, area, question, model),
                Overlay::Response(response) => draw_response(buffer, area, response, model),
            }
        };
    }
    draw_each!(lists Palette HitList Indicators SandboxArtifacts ComparisonList OtherFileList RowPicker Findings Stored Group Costs Triage;
        forms Prompt Planner Export Note Submit Age);
}

impl DrawForm for PlannedOperations {
    fn title(_: &Planner, _: &Model) -> String {
        "What would it cost?".to_owned()
    }

    fn draw_rest(form: &Planner, buffer: &mut Canvas<'_>, area: Area, model: &Model) {
        let mut text_page = TextPage::new("", form.rows(&model.quota_state, model.now));
        text_page.lay_out(area.width.into());
        text_page.top = form.source.top.min(text_page.count().saturating_sub(area.height.into()));
        let is_cut = text_page.count() - text_page.top > area.height.into();
        let height = area.height.saturating_sub(u16::from(is_cut));
        draw_rows(buffer, Area { height, ..area }, &text_page);
        if is_cut {
            LineWriter::new(buffer, area, height).own("…", Role::Faint);
        }
    }
}

impl DrawForm for AdHocPrompt {
    fn title(form: &Prompt, _: &Model) -> String {
        form.source.entry.help.to_owned()
    }

    fn text(form: &Prompt, model: &Model) -> Vec<StyledText> {
        let request = form.request(model.now);
        let input = || (form.source.entry.input.to_owned(), Role::Text);
        match (&form.failure, request) {
            (Some(failure), _) => failure.sentences().zip([Role::Problem, Role::Text, Role::Text]).collect(),
            (None, Err(_)) if form.text().is_empty() => vec![input()],
            (None, Err(missing)) => vec![input(), (missing, Role::Faint)],
            (None, Ok(request)) => {
                if let Some(call) = model.calls.of_request(&request) {
                    return vec![(format!("◌ asking … {}", progress(call, model.now)), Role::Strong)];
                }
                let missing = model.overlays.missing(&request);
                let price = match form.stored_at(model.now) {
                    Some(since) => format!("0, stored since {}", super::list::since(since, model.now)),
                    None => model.quota_state.price_from(&request, ResponseSource::StoredOrService, missing).short(),
                };
                vec![(format!("{} · {price}", request.label()), Role::Price)]
            }
        }
    }
}

impl DrawForm for AgeInDays {
    fn title(_: &AgeForm, _: &Model) -> String {
        "Delete items older than how many days?".to_owned()
    }

    fn text(_: &AgeForm, model: &Model) -> Vec<StyledText> {
        vec![(format!("{} lists these items for confirmation.", model.key_label("apply-age")), Role::Faint)]
    }
}

impl DrawForm for TypedNote {
    fn title(form: &NoteForm, _: &Model) -> String {
        match &form.source.about.item {
            Some(item) => format!("Note on {}", item.text.visible_cut(60)),
            None => format!("Note on the report of {}", form.source.about.identifier.parts().sandbox.visible_cut(40)),
        }
    }

    fn text(form: &NoteForm, model: &Model) -> Vec<StyledText> {
        let TypedNote { standing, is_late, .. } = &form.source;
        let emptied = if standing.is_some() { "An empty line deletes the note. " } else { "" };
        let standing = standing.as_ref().filter(|_| *is_late).map(|note| note.visible_cut(200));
        let standing = standing.map(|note| format!("There now: {note}. ")).unwrap_or_default();
        let kept = match model.settings.forgets {
            Some(why) => format!("{why}: the note is deleted when this run ends"),
            None if model.service.has_team => "The note is shared with the team".to_owned(),
            None => "The note is stored on this machine only".to_owned(),
        };
        let all = model.notes.on(&form.source.about).filter(|all| Some(&all.text) != form.source.standing.as_ref());
        let shared = all.map(|all| (all.text.visible_cut(1_000).to_string(), Role::Text));
        let own = (format!("{standing}{emptied}{kept}, and costs nothing."), Role::Faint);
        shared.into_iter().chain([own]).collect()
    }
}

fn draw_confirm(buffer: &mut Canvas<'_>, area: Area, question: &Confirmation, model: &Model) {
    let inside = inside(buffer, area, model, "Are you sure?", (0, 0), 0);
    let room = usize::from(inside.width).max(10);
    let keys = question.key_rows(room);
    // A confirmation needs its keys: its text gives way to them.
    let words = wrap_cut(&question.details, room, usize::from(inside.height).saturating_sub(keys.len()));
    let words = words.iter().map(|row| (row, Role::Problem)).chain(keys.iter().map(|row| (row, Role::Text)));
    buffer.write_rows(inside, 0, words);
}

fn draw_response(buffer: &mut Canvas<'_>, area: Area, response: &ResponseTree, model: &Model) {
    let since = super::list::since(response.received, model.now);
    let title = format!("{} · stored since {since}", response.title);
    let inside = inside(buffer, area, model, &title, (response.scroll.top, response.count()), 0);
    for row in 0..inside.height {
        let position = response.scroll.top + usize::from(row);
        let Some((found, children)) = response.line(position) else { break };
        let mut line = LineWriter::of_list(buffer, inside, row, position == response.scroll.cursor);
        line.tab((found.depth * 2).min(40));
        line.own(children.map_or("  ", |is_folded| if is_folded { "▸ " } else { "▾ " }), Role::Faint);
        draw_name(&mut line, found.name.as_ref().map(|name| name.visible_cut(40)).as_ref(), ": ");
        if let Some(value) = &found.value {
            line.outside(value, Role::Text);
        }
    }
}

/// Draws an overlay's frame; `beside` rows inside do not count as visible rows.
pub(super) fn inside(
    buffer: &mut Canvas<'_>,
    area: Area,
    model: &Model,
    title: &str,
    (top, count): (usize, usize),
    beside: u16,
) -> Area {
    let height = area.inside().height.saturating_sub(beside);
    let window = window(top, height.into(), count);
    let closes = if buffer.has_keys { format!("{} closes", model.key_label("back")) } else { String::new() };
    let right: Vec<_> = [window, closes].into_iter().filter(|words| !words.is_empty()).collect();
    let right = if right.is_empty() { String::new() } else { format!(" {} ", right.join(" · ")) };
    let inside = frame(buffer, area, &format!(" {title} "), &right, buffer.has_keys);
    Area { x: inside.x + 1, width: inside.width.saturating_sub(2), ..inside }
}

/// The range of visible rows, if not all are visible.
pub(super) fn window(top: usize, height: usize, count: usize) -> String {
    let first = thousands(top as u64 + 1);
    let last = thousands((top + height).min(count) as u64);
    if count > height { format!("{first}–{last} of {}", thousands(count as u64)) } else { String::new() }
}

fn draw_page<S: PageSource>(buffer: &mut Canvas<'_>, area: Area, page: &PageView<S>, model: &Model) {
    let inside = inside(buffer, area, model, &page.title, (page.top, page.count()), 0);
    draw_rows(buffer, inside, page);
}

fn draw_rows<S: PageSource>(buffer: &mut Canvas<'_>, inside: Area, page: &PageView<S>) {
    for (number, (row, is_chosen)) in (0..inside.height).zip(page.rows()) {
        let mut line = LineWriter::of_list(buffer, inside, number, is_chosen);
        let [indent, text] = row.indents;
        line.tab(indent);
        draw_name(&mut line, row.name.as_ref(), if S::CONTEXT == KeyContext::Detail { ": " } else { "" });
        line.tab(text);
        line.visible(&row.text, Role::Text);
    }
}

fn draw_name(line: &mut LineWriter<'_>, name: Option<&Visible>, separator: &str) {
    if let Some(name) = name {
        line.visible(name, Role::Key);
        line.own(separator, Role::Faint);
    }
}

/// The start columns of a list's cells; `None` for a cell that does not fit.
#[derive(Default)]
pub(super) struct ListTable {
    pub(super) starts: Vec<Option<usize>>,
    /// Columns of the labels of report rows.
    pub(super) labels: usize,
}

impl ListTable {
    /// Creates columns of these widths, including the gaps; a zero width hides a column.
    pub(super) fn of(widths: impl IntoIterator<Item = usize>) -> Self {
        let mut end = 0_usize;
        let starts = widths.into_iter().map(|width| {
            end = end.saturating_add(width);
            (width > 0).then_some(end - width)
        });
        Self { starts: starts.collect(), labels: 0 }
    }

    /// Calls `draw` for a cell, limited to the gap before the next one.
    pub(super) fn cell(&self, line: &mut LineWriter<'_>, number: usize, draw: impl FnOnce(&mut LineWriter<'_>, usize)) {
        let mut starts = self.starts.iter().copied().skip(number);
        let Some(start) = starts.next().flatten() else { return };
        line.tab(start);
        line.within(starts.flatten().next().map_or(usize::MAX, |next| next - 1), |line| draw(line, start));
    }

    pub(super) fn text(&self, line: &mut LineWriter<'_>, number: usize, words: &str, meaning: Role) {
        self.cell(line, number, |line, _| line.own(words, meaning));
    }

    /// Draws a row of a report, its label as wide as those around it.
    pub(super) fn row(&self, line: &mut LineWriter<'_>, number: usize, row: &Row, value: Role) {
        self.cell(line, number, |line, start| {
            draw_labelled(line, start, self.labels, &row.label);
            draw_pieces(line, &row.pieces, value, None, None);
        });
    }
}

pub(super) trait DrawList: ListSource + Sized {
    const HEADS: &'static [&'static str] = &[];

    /// Whether the frame shows the range of visible rows.
    const COUNTS_ROWS: bool = true;

    /// The text in place of rows if there are none.
    const EMPTY: &'static str = "no match";

    /// A hint for an empty filter line.
    const HINT: &'static str = "";

    fn title(list: &ListView<Self>, model: &Model) -> String;

    /// The activity while the rows are incomplete.
    fn progress_text(_: &ListView<Self>) -> Option<&'static str> {
        None
    }

    /// The label before the typed text.
    fn prompt(_: &ListView<Self>) -> String {
        "/".to_owned()
    }

    /// The text in place of rows if none is shown.
    fn absent(list: &ListView<Self>, _: &Model) -> String {
        if list.counts().1 == 0 { Self::EMPTY } else { "no match" }.to_owned()
    }

    fn columns(_: &ListView<Self>, _: &[&Self::Row], _: usize, _: &Model) -> ListTable {
        ListTable::default()
    }

    fn draw_head(_: &ListView<Self>, _: &mut Canvas<'_>, _: Area, _: &Model) {}

    fn draw_row<'a>(list: &'a ListView<Self>, line: LineWriter<'a>, at: &ListTable, row: &Self::Row, model: &Model);

    fn text_below(_: &ListView<Self>, _: &Model) -> Option<StyledText> {
        None
    }
}

/// Names a list's coverage: one sandbox, or the number of stored ones; and unreadable reports.
pub(super) fn covered(name: Option<Visible>, reports: usize, unread: usize, model: &Model) -> String {
    let is_partial = |list: &List| list.has_more_pages() || list.entries.iter().any(|entry| entry.report().is_none());
    let others = if model.list().is_some_and(is_partial) { ", not all" } else { "" };
    let scope = name.map_or_else(|| format!("{reports} sandboxes{others}"), |name| name.to_string());
    match unread {
        0 => scope,
        _ => format!("{scope}, {unread} of {reports} could not be read whole"),
    }
}

/// The number of visible rows, and of all if that differs.
pub(super) fn shown_of((shown, all): (usize, usize), noun: &str) -> String {
    let of = if shown == all { String::new() } else { format!("{} of ", thousands(shown as u64)) };
    format!("{of}{}", count(all as u64, noun))
}

pub(super) fn draw_list<S: DrawList>(buffer: &mut Canvas<'_>, area: Area, list: &ListView<S>, model: &Model) {
    let rows = list.window(model.overlay_room(), model);
    let part = |rows: usize| u16::try_from(rows).unwrap_or(u16::MAX);
    let shown = (list.scroll.top, if S::COUNTS_ROWS { rows.count } else { 0 });
    let progress_text = S::progress_text(list).map(|words| format!("{words} …"));
    // A narrow frame cuts the end of its title.
    let pane = list.pane.map_or(String::new(), |pane| format!(" · {} only", pane.title()));
    let title = S::title(list, model).replacen(" · ", &format!("{pane} · "), 1);
    let title = [Some(title), progress_text.clone()].into_iter().flatten().collect::<Vec<_>>().join(" · ");
    let inside = inside(buffer, area, model, &title, shown, part(rows.above + rows.below));
    let filter = part(list.filter.rows());
    if filter > 0 {
        let mut line = LineWriter::new(buffer, inside, 0);
        line.own(&format!("{} ", S::prompt(list)), Role::Key);
        line.field(&list.filter.typed, S::HINT, list.filter.is_typing);
    }
    let above = part(rows.above).min(inside.height);
    let below = part(rows.below);
    let body = Area { y: inside.y + above, height: inside.height.saturating_sub(above + below), ..inside };
    let window: Vec<_> = list.shown(list.scroll.top).take(body.height.into()).collect();
    let columns = S::columns(list, &window, body.width.into(), model);
    let head = Area { y: inside.y + filter, height: above.saturating_sub(filter), ..inside };
    S::draw_head(list, buffer, head, model);
    for (number, name) in (0..).zip(S::HEADS).filter(|_| list.counts().1 > 0) {
        let mut line = LineWriter::new(buffer, head, 0);
        columns.cell(&mut line, number, |line, _| {
            if name.columns() <= line.room() {
                line.own(name, Role::Faint);
            }
        });
    }
    if window.is_empty() {
        let words = progress_text.unwrap_or_else(|| S::absent(list, model));
        LineWriter::new(buffer, body, 0).own(&words, Role::Faint);
    }
    for (at, (position, row)) in (0..body.height).zip((list.scroll.top..).zip(&window)) {
        let line = LineWriter::of_list(buffer, body, at, position == list.scroll.cursor);
        S::draw_row(list, line, &columns, row, model);
    }
    let Some((words, meaning)) = S::text_below(list, model).filter(|_| below > 0) else { return };
    // An empty row precedes the text if it fits.
    let told = wrap_cut(&words, usize::from(inside.width).max(10), below.into());
    let first = inside.height - below.min(inside.height) + u16::from(told.len() < below.into() && below > 2);
    buffer.write_rows(inside, first, told.into_iter().map(|row| (row, meaning)));
}

pub(super) trait DrawForm: FormSource {
    const LABEL: usize = 14;

    fn title(form: &InputForm<Self>, model: &Model) -> String;

    const FIELDS: &'static [ScanField] = &[];

    fn text(_: &InputForm<Self>, _: &Model) -> Vec<StyledText> {
        Vec::new()
    }

    fn draw_rest(_: &InputForm<Self>, _: &mut Canvas<'_>, _: Area, _: &Model) {}
}

fn form_rows<S: DrawForm>(form: &InputForm<S>, columns: usize, model: &Model) -> usize {
    S::choices(form).len() + form.fields.len() + 1 + wrapped(S::text(form, model), columns).len()
}

fn draw_form<S: DrawForm>(buffer: &mut Canvas<'_>, area: Area, form: &InputForm<S>, model: &Model) {
    let inside = inside(buffer, area, model, &S::title(form, model), (0, 0), 0);
    let words = wrapped(S::text(form, model), inside.width.into());
    // The text has priority: it may prevent a second payment.
    let text_rows = u16::try_from(words.len()).unwrap_or(u16::MAX);
    let choices = S::choices(form);
    let all = u16::try_from(choices.len() + form.fields.len()).unwrap_or(u16::MAX);
    let fields = all.min(inside.height.saturating_sub(text_rows).max(1));
    // In little room, the focused line is the last one shown.
    let top = (form.chosen + 1).saturating_sub(fields.into());
    for (row, number) in (0..fields).zip(top..) {
        let mut line = LineWriter::new(buffer, inside, row);
        let is_chosen = number == form.chosen;
        let number = number.checked_sub(choices.len());
        match (number.and_then(|number| S::FIELDS.get(number)), number.and_then(|number| form.fields.get(number))) {
            (Some(label), Some(field)) => draw_field(line, (label, S::LABEL), field, is_chosen),
            (None, Some(field)) => {
                line.own("> ", Role::Key);
                line.field(field, "", true);
            }
            (_, None) => choices.get(top + usize::from(row)).into_iter().for_each(|choice| {
                draw_choice(&mut line, (choice, S::LABEL), is_chosen);
            }),
        }
    }
    let first = fields + u16::from(fields > 0 && inside.height > fields.saturating_add(text_rows));
    let words = fitting(words, inside.height.saturating_sub(first));
    let end = first.saturating_add(u16::try_from(words.len()).unwrap_or(0)).min(inside.height);
    buffer.write_rows(inside, first, words);
    S::draw_rest(form, buffer, Area { y: inside.y + end, height: inside.height - end, ..inside }, model);
}

fn draw_choice(line: &mut LineWriter<'_>, (choice, column): (&ChoiceLine, usize), is_chosen: bool) {
    line.own(choice.label, if is_chosen { Role::Focus } else { Role::Key });
    line.tab(column);
    let [before, after] = if is_chosen { ["‹ ", " ›"] } else { ["  ", "  "] };
    line.own(before, Role::Focus);
    line.own(&choice.chosen, if choice.has_other { Role::Strong } else { Role::Text });
    line.own(after, Role::Focus);
    line.own(&format!("  {}", choice.about), Role::Faint);
}

fn draw_field(mut line: LineWriter<'_>, (label, column): (&ScanField, usize), field: &TextField, is_chosen: bool) {
    // A password shows only its length.
    let shown = match label.option {
        Some(ScanOption::Password) => TextField::from("*".repeat(field.text.chars().count())),
        _ => field.clone(),
    };
    line.own(label.label, if is_chosen { Role::Focus } else { Role::Key });
    line.tab(column);
    line.field(&shown, label.hint, is_chosen);
}

impl DrawForm for FileToScan {
    const FIELDS: &'static [ScanField] = &FIELDS;

    fn title(_: &SubmitForm, _: &Model) -> String {
        "Submit a file for a private scan".to_owned()
    }

    fn text(form: &SubmitForm, model: &Model) -> Vec<StyledText> {
        if let Some(call) = form.call(&model.calls) {
            return vec![(format!("◌ {} · {}", call.request.label(), progress(call, model.now)), Role::Strong)];
        }
        if let Some(failure) = &form.failure {
            return vec![(failure.label(), Role::Problem)];
        }
        if form.is_inspected() {
            return vec![("◌ reading the file …".to_owned(), Role::Strong)];
        }
        let (Some(found), Some(submission)) = (&form.source.found, form.submission()) else {
            let words = "reads the file and says what it costs; nothing is sent before that.";
            return vec![Role::Faint.of(format!("{} {words}", model.key_label("inspect-file")))];
        };
        let price = crate::app::scan::price_of(&submission, found.limit, &model.quota_state.entitlements);
        let is_large = found.limit == UploadLimit::Large;
        let way = if is_large { ", by way of an address for large files" } else { "" };
        let waits = is_large && model.calls.has(&Request::UploadAddress);
        let after = if waits { " once another file has its address" } else { "" };
        let basis = model.quota_state.price(&Request::PrivateScan { submission, to: None });
        let sent = found.sent.map(|sent| {
            let when = crate::text::moment(sent);
            let look = model.upload_check_hint(&found.file);
            Role::Problem.of(format!("Perhaps uploaded already on {when}, without a response. {look}"))
        });
        let rule = basis.rule.number;
        let why = basis.basis.name();
        let key = model.key_label("submit");
        let mut text_rows = vec![
            Role::Strong.of(format!("{} · {}{way}", found.file.short(), bytes(found.size))),
            Role::Price.of(format!("{price}, {rule} {why}; {key} submits it{after}")),
        ];
        // The quota left of each limit that a scan is charged to.
        let limits = model.quota_state.left(basis.verdict.unit, model.now);
        let left = limits.iter().map(|left| format!("{} {}", left.limit.holder.name(), remaining_label(left)));
        let left = left.collect::<Vec<_>>().join(" · ");
        text_rows.extend((!left.is_empty()).then(|| (format!("{}: {left}", basis.verdict.pool.label()), Role::Detail)));
        text_rows.extend(found.before.clone().map(|before| (before, Role::Strong)));
        text_rows.extend(sent);
        text_rows
    }
}
