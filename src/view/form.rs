//! Draws forms: fields, options and the text below them; and the form that submits a file.

use super::canvas::{Canvas, LineWriter, StyledText, fitting, wrapped};
use super::list::progress;
use super::overlay::inside;
use super::theme::Role;
use crate::app::field::TextField;
use crate::app::overlays::generic::{ChoiceLine, FormSource, InputForm};
use crate::app::overlays::text_page::remaining_label;
use crate::app::scan::{FIELDS, FileToScan, ScanField, SubmitForm};
use crate::app::{Area, Model};
use crate::request::{Request, ScanOption, UploadLimit};
use crate::text::bytes;

pub(super) trait DrawForm: FormSource {
    const LABEL: usize = 14;

    fn title(form: &InputForm<Self>, model: &Model) -> String;

    const FIELDS: &'static [ScanField] = &[];

    fn text(_: &InputForm<Self>, _: &Model) -> Vec<StyledText> {
        Vec::new()
    }

    fn draw_rest(_: &InputForm<Self>, _: &mut Canvas<'_>, _: Area, _: &Model) {}
}

pub(super) fn rows<S: DrawForm>(form: &InputForm<S>, columns: usize, model: &Model) -> usize {
    S::choices(form).len() + form.fields.len() + 1 + wrapped(S::text(form, model), columns).len()
}

pub(super) fn draw<S: DrawForm>(buffer: &mut Canvas<'_>, area: Area, form: &InputForm<S>, model: &Model) {
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
