//! The form of a file that is submitted: its fields, and what it would cost or how far it is.

use super::canvas::Canvas;
use super::line::{LineWriter, fitting};
use super::list::progress;
use super::overlay::inside;
use super::theme::Meaning;
use crate::app::over::sheet::left_words;
use crate::app::scan::submit::{FIELDS, SubmitForm};
use crate::app::{Area, Model};
use crate::quota::Price;
use crate::request::{Request, ScanOption, UploadLimit};
use crate::text::{bytes, words_in_rows};

/// Columns of a field's name.
const LABEL: usize = 14;

pub(super) fn draw(buffer: &mut Canvas<'_>, area: Area, form: &SubmitForm, model: &Model) {
    let inside = inside(buffer, area, model, "Submit a file for a private scan", 0, 0);
    let room = usize::from(inside.width).max(10);
    let rows: Vec<_> = said(form, model)
        .into_iter()
        .flat_map(|(text, meaning)| words_in_rows(&text, room).into_iter().map(move |row| (row, meaning)))
        .collect();
    // All that is said is seen first: it may be what keeps somebody from paying twice.
    let said = u16::try_from(rows.len()).unwrap_or(u16::MAX);
    let fields = u16::try_from(FIELDS.len()).unwrap_or(u16::MAX).min(inside.height.saturating_sub(said).max(1));
    // Where there is little room, the chosen field is the last that is shown.
    let top = (form.chosen + 1).saturating_sub(fields.into());
    for row in 0..fields {
        draw_field(buffer, inside, row, top + usize::from(row), form);
    }
    let gap = u16::from(inside.height > fields.saturating_add(said));
    let first = fields + gap;
    for (row, (text, meaning)) in (first..inside.height).zip(fitting(rows, inside.height.saturating_sub(first))) {
        LineWriter::new(buffer, inside, row).own(&text, meaning);
    }
}

fn draw_field(buffer: &mut Canvas<'_>, inside: Area, row: u16, position: usize, form: &SubmitForm) {
    let (Some(field), Some(typed)) = (FIELDS.get(position), form.typed.get(position)) else { return };
    let is_chosen = position == form.chosen;
    // A password is seen as long as it is, and no more.
    let shown =
        if field.option == Some(ScanOption::Password) { "*".repeat(typed.chars().count()) } else { typed.clone() };
    let mut line = LineWriter::new(buffer, inside, row);
    line.own(field.label, if is_chosen { Meaning::Focus } else { Meaning::Key });
    line.tab(inside.x, LABEL);
    line.typed(&shown, usize::from(inside.width).saturating_sub(LABEL + 2), Meaning::Strong);
    if is_chosen {
        line.own("▏", Meaning::Focus);
    }
    if typed.is_empty() {
        line.own(if is_chosen { " " } else { "" }, Meaning::Faint);
        line.own(field.hint, Meaning::Faint);
    }
}

/// What is said below the fields.
fn said(form: &SubmitForm, model: &Model) -> Vec<(String, Meaning)> {
    if let Some(call) = model.call_of(form) {
        let words = match call.request {
            Request::UploadAddress => "◌ asking for an address that takes a large file …".to_owned(),
            _ => format!("◌ {} · {}", call.request.words(), progress(call, model.now)),
        };
        return vec![(words, Meaning::Strong)];
    }
    if let Some(failure) = &form.failure {
        return vec![(failure.words(), Meaning::Problem)];
    }
    if form.is_looked_at() {
        return vec![("◌ reading the file …".to_owned(), Meaning::Strong)];
    }
    let (Some(found), Some(submission)) = (&form.found, form.submission()) else {
        let words = format!(
            "{} reads the file and says what it costs; nothing is sent before that.",
            model.way_to("look-at-file")
        );
        return vec![(words, Meaning::Faint)];
    };
    let price = crate::app::scan::submit::price_of(&submission, found.limit, &model.figures.entitlements);
    let way = match found.limit {
        UploadLimit::Direct => String::new(),
        UploadLimit::Large => ", by way of an address for large files".to_owned(),
    };
    let waits = found.limit == UploadLimit::Large && model.calls.has(&Request::UploadAddress);
    let after = if waits { " once another file has its address" } else { "" };
    let basis = model.price(&Request::PrivateScan { submission, to: None });
    let sent = found.sent.map(|sent| {
        let when = crate::text::moment(sent);
        (
            format!("Perhaps sent already on {when}, and no answer came. {}", model.way_to_look(&found.file)),
            Meaning::Problem,
        )
    });
    let mut said = vec![
        (format!("{} · {}{way}", found.file.short(), bytes(found.size)), Meaning::Strong),
        (
            format!(
                "{price}, {} {}; {} submits it{after}",
                basis.rule.number,
                basis.basis.name(),
                model.way_to("submit")
            ),
            Meaning::Price,
        ),
    ];
    said.extend(left(model, &basis).map(|left| (left, Meaning::Detail)));
    said.extend(found.before.clone().map(|before| (before, Meaning::Strong)));
    said.extend(sent);
    said
}

/// What the counters leave of each limit that a scan is charged to; none where they count none.
fn left(model: &Model, price: &Price) -> Option<String> {
    let limits = model.figures.left(price.unit, model.now);
    let words = limits.iter().map(|left| format!("{} {}", left.limit.holder.name(), left_words(left)));
    let words = words.collect::<Vec<_>>().join(" · ");
    (!words.is_empty()).then(|| format!("{}: {words}", price.pool.words()))
}
