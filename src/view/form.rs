//! A form over the screen: its lines, and the words below them.

use super::canvas::{Canvas, LineWriter, fitting};
use super::overlay::{draw_line_as, inside};
use super::theme::Meaning;
use crate::app::over::form::{Form, FormSource, TextField};
use crate::app::scan::submit::Field;
use crate::app::{Area, Model};
use crate::request::ScanOption;
use crate::text::words_in_rows;

/// Columns of a line's name.
const LABEL: usize = 14;

/// How a form of one kind is drawn.
pub(super) trait DrawForm: FormSource {
    fn title(form: &Form<Self>, model: &Model) -> String;

    /// What a line is called, where there are several.
    fn label(_: usize) -> Option<&'static Field> {
        None
    }

    /// The words below the lines.
    fn words(form: &Form<Self>, model: &Model) -> Vec<(String, Meaning)>;

    /// Draws what stands below the words.
    fn draw_rest(_: &Form<Self>, _: &mut Canvas<'_>, _: Area) {}
}

pub(super) fn draw<S: DrawForm>(buffer: &mut Canvas<'_>, area: Area, form: &Form<S>, model: &Model) {
    let inside = inside(buffer, area, model, &S::title(form, model), 0, 0);
    let room = usize::from(inside.width).max(10);
    let words = S::words(form, model).into_iter();
    let words: Vec<_> = words
        .flat_map(|(text, meaning)| words_in_rows(&text, room).into_iter().map(move |row| (row, meaning)))
        .collect();
    // The words have precedence: they may keep the user from paying twice.
    let said = u16::try_from(words.len()).unwrap_or(u16::MAX);
    let all = u16::try_from(form.fields.len()).unwrap_or(u16::MAX);
    let fields = all.min(inside.height.saturating_sub(said).max(1));
    // Where there is little room, the line that has the keys is the last that is shown.
    let top = (form.chosen + 1).saturating_sub(fields.into());
    for (row, (number, field)) in (0..fields).zip(form.fields.iter().enumerate().skip(top)) {
        match S::label(number) {
            Some(label) => draw_field(buffer, inside, row, label, field, number == form.chosen),
            None => {
                let meaning = if field.is_suggested { Meaning::Cursor } else { Meaning::Strong };
                draw_line_as(buffer, inside, row, (">", meaning), &field.text, true);
            }
        }
    }
    let first = fields + u16::from(fields > 0 && inside.height > fields.saturating_add(said));
    let words = fitting(words, inside.height.saturating_sub(first));
    let end = first.saturating_add(u16::try_from(words.len()).unwrap_or(0)).min(inside.height);
    for (row, (text, meaning)) in (first..inside.height).zip(words) {
        LineWriter::new(buffer, inside, row).own(&text, meaning);
    }
    S::draw_rest(form, buffer, Area { y: inside.y + end, height: inside.height - end, ..inside });
}

fn draw_field(buffer: &mut Canvas<'_>, inside: Area, row: u16, label: &Field, field: &TextField, is_chosen: bool) {
    // A password is seen as long as it is, and no more.
    let shown = match label.option {
        Some(ScanOption::Password) => "*".repeat(field.text.chars().count()),
        _ => field.text.clone(),
    };
    let mut line = LineWriter::new(buffer, inside, row);
    line.own(label.label, if is_chosen { Meaning::Focus } else { Meaning::Key });
    line.tab(LABEL);
    line.typed(&shown, usize::from(inside.width).saturating_sub(LABEL + 2), Meaning::Strong);
    if is_chosen {
        line.own("▏", Meaning::Focus);
    }
    if field.text.is_empty() {
        line.own(if is_chosen { " " } else { "" }, Meaning::Faint);
        line.own(label.hint, Meaning::Faint);
    }
}
