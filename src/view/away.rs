//! Indicators, downloads and the form that writes a file.

use super::canvas::{Canvas, LineWriter};
use super::form::DrawForm;
use super::list::{progress, since};
use super::list_view::DrawList;
use super::theme::Meaning;
use crate::app::away::saving::{SaveForm, SaveTarget};
use crate::app::keys::{Key, KeyName};
use crate::app::over::artefacts::{ArtefactList, Artefacts};
use crate::app::over::indicators::{FoundIndicators, IndicatorList};
use crate::app::{Area, Model, panes};
use crate::report::indicators::ITSELF;
use crate::report::rules::Severity;
use crate::report::{Indicator, Place};
use crate::text::{Columns, thousands, words_in_rows_cut};

/// Columns of the mark and a kind's name, the gaps included.
const KIND: usize = 11;

/// Columns of a format's ending, the gap included.
const ENDING: usize = 12;

/// Columns from which on an indicator's rows are shown beside it.
const WIDE: usize = 80;

impl DrawList for FoundIndicators {
    /// Where it says where it was seen.
    type Columns = usize;

    fn title(list: &IndicatorList, model: &Model) -> String {
        let kind = list.source.kind.map_or("all kinds", |kind| kind.name());
        let (shown, all) = list.counts();
        let of = if list.filter.rows() > 0 { format!(" of {}", thousands(all as u64)) } else { String::new() };
        let identifier = model.chosen().and_then(|entry| entry.identifier.as_ref());
        let whose = identifier.map_or_else(String::new, |one| format!(" of {}", one.parts().sandbox.visible_cut(40)));
        format!("Indicators{whose} · {kind} {}{of}", thousands(shown as u64))
    }

    fn columns(&self, rows: &[&Indicator], room: usize, model: &Model) -> usize {
        let widest = rows.iter().map(|indicator| seen(indicator, model).columns()).max().unwrap_or(0);
        if room >= WIDE { room.saturating_sub(widest + 1) } else { room }
    }

    /// Kinds with their counts.
    fn draw_head(&self, line: LineWriter<'_, '_>, _: &usize) {
        draw_kinds(line, self);
    }

    /// An indicator with its mark, and where it was seen.
    fn draw_row(&self, mut line: LineWriter<'_, '_>, end: &usize, indicator: &Indicator, model: &Model) {
        let mark = mark(indicator, model);
        line.own(mark.map_or(" ", Severity::sign), Meaning::Price);
        line.own(" ", Meaning::Text);
        line.own(indicator.kind.name(), Meaning::Faint);
        line.tab(KIND);
        let meaning = if mark == Some(Severity::Noise) { Meaning::Faint } else { Meaning::Text };
        line.within(*end, |line| line.visible(&indicator.defanged(), meaning));
        line.tab(end + 1);
        if line.room() > 0 {
            line.own(&seen(indicator, model), Meaning::Detail);
        }
    }
}

fn draw_kinds(mut line: LineWriter<'_, '_>, list: &FoundIndicators) {
    let all = std::iter::once(("all".to_owned(), list.kind.is_none()));
    let kinds = list.kinds().into_iter();
    let kinds =
        kinds.map(|(kind, count)| (format!("{} {}", kind.name(), thousands(count as u64)), list.kind == Some(kind)));
    // Brackets mark the kind that is shown, for terminals without colour.
    let words = all.chain(kinds).map(|(text, is_shown)| match is_shown {
        true => (format!("[{text}]"), Meaning::Focus),
        false => (format!(" {text} "), Meaning::Text),
    });
    let words: Vec<_> = words.collect();
    let mut words = words.iter().peekable();
    while let Some((text, meaning)) = words.next() {
        // A figure that is cut is another figure.
        let needs = text.columns() + if words.peek().is_some() { 2 } else { 0 };
        if line.room() < needs {
            line.own("…", Meaning::Faint);
            break;
        }
        line.own(text, *meaning);
    }
}

/// The severity of an indicator, by the rules that exports use; noise only where all its rows are.
fn mark(indicator: &Indicator, model: &Model) -> Option<Severity> {
    let (open, rules) = model.open().zip(model.rules.as_ref())?;
    let mark = |place: Place| open.mark(rules, place);
    let is_noise = || indicator.places.iter().all(|place| mark(*place) == Some(Severity::Noise));
    let noise = Some(Severity::Noise).filter(|_| !indicator.places.is_empty() && is_noise());
    indicator.marked().and_then(mark).or(noise)
}

/// Where an indicator was seen first, and how often in all.
fn seen(indicator: &Indicator, model: &Model) -> String {
    let place = indicator.places.first();
    let section = place.and_then(|place| model.open()?.report.section(place.section));
    let Some((place, section)) = place.zip(section) else { return ITSELF.to_owned() };
    let pane = panes::info(section.pane()).map_or("", |info| info.short);
    let label = match section.attribute {
        Some(attribute) => attribute.label.to_owned(),
        None => section.name.visible_cut(20).to_string(),
    };
    let gap = if label.is_empty() { "" } else { " " };
    let more = match indicator.seen {
        0 | 1 => String::new(),
        several => format!(" +{}", thousands(several - 1)),
    };
    format!("{pane} {label}{gap}{}{more}", thousands(place.row as u64 + 1))
}

impl DrawList for Artefacts {
    type Columns = ();

    fn title(_: &ArtefactList, _: &Model) -> String {
        "Downloads".to_owned()
    }

    fn columns(&self, _: &[&Self::Row], _: usize, _: &Model) {}

    /// An artefact with what it costs, or since when it is stored.
    fn draw_row(&self, mut line: LineWriter<'_, '_>, (): &(), row: &Self::Row, model: &Model) {
        let (artefact, stored) = row;
        let request = self.request(*artefact);
        line.own(artefact.words(), Meaning::Text);
        line.tab(18);
        match (stored, model.calls.asking(&request)) {
            (_, Some(call)) => line.own(&format!("◌ {}", progress(call, model.now)), Meaning::Strong),
            (Some(when), None) => {
                let (since, key) = (since(*when, model.now), model.way_to("fetch"));
                line.own(&format!("held {since}, 0: {key} writes it to a file"), Meaning::Free);
            }
            (None, None) => line.own(&format!("not held · {}", model.price(&request).short()), Meaning::Price),
        }
    }

    fn words_below(&self, _: Option<&Self::Row>, _: &Model) -> Option<(String, Meaning)> {
        self.failure.as_ref().map(|failure| (failure.words(), Meaning::Problem))
    }
}

impl DrawForm for SaveTarget {
    fn title(form: &SaveForm, _: &Model) -> String {
        format!("Write {} to a file", form.words())
    }

    fn words(form: &SaveForm, _: &Model) -> Vec<(String, Meaning)> {
        let (words, meaning) = match (form.source.is_under_way, &form.failure, form.is_held()) {
            (true, ..) => return vec![("◌ writing …".to_owned(), Meaning::Strong)],
            (false, Some(failure), _) => return vec![(failure.words(), Meaning::Problem)],
            (false, None, false) => ("the end of the name says the format:", Meaning::Faint),
            (false, None, true) => ("the bytes as they came; nothing opens the file", Meaning::Faint),
        };
        let words = match form.is_suggested() {
            true => format!("typing replaces the name, {} changes its end; {words}", Key::Named(KeyName::Backspace)),
            false => words.to_owned(),
        };
        vec![(words, meaning)]
    }

    fn draw_rest(form: &SaveForm, buffer: &mut Canvas<'_>, area: Area, _: &Model) {
        if !form.is_held() {
            draw_formats(buffer, area, &form.formats());
        }
    }
}

/// Each format by its ending, a row each where there is room, or else the endings alone.
fn draw_formats(buffer: &mut Canvas<'_>, area: Area, formats: &[(String, &'static str)]) {
    if formats.len() > usize::from(area.height) {
        let endings: Vec<_> = formats.iter().map(|(ending, _)| ending.as_str()).collect();
        let rows = words_in_rows_cut(&endings.join("  "), usize::from(area.width).max(10), area.height.into());
        return buffer.write_rows(area, 0, rows.into_iter().map(|row| (row, Meaning::Key)));
    }
    for (row, (ending, about)) in (0..area.height).zip(formats) {
        let mut line = LineWriter::new(buffer, area, row);
        line.own(ending, Meaning::Key);
        line.tab(ENDING);
        line.own(about, Meaning::Faint);
    }
}
