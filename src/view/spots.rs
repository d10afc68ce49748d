//! A list of rows to go to: why each is there, and what it says.

use super::canvas::LineWriter;
use super::list_view::DrawList;
use super::pane::{columns_of, draw_labelled, draw_pieces};
use super::theme::Meaning;
use crate::app::Model;
use crate::app::over::spots::{RowPicker, Shows, Spot, Spots};
use crate::report::Row;
use crate::report::rules::Severity;
use crate::text::{Columns as _, Untrusted, count, thousands};
use std::borrow::Cow;

/// The most columns that our own words before a row take.
const HEAD: usize = 46;

/// Columns of a sign, the gap included.
const SIGN: usize = 2;

/// Where the parts of a row begin.
pub(super) struct SpotColumns {
    seen_by: usize,
    label: usize,
    /// Columns of the labels, the gap included.
    labels: usize,
    /// Whether only the chosen row says why it is there, below the list.
    tells_below: bool,
}

impl DrawList for RowPicker {
    type Columns = SpotColumns;

    const HINT: &'static str = "words of a row or of its reason, such as persistence";

    fn title(list: &Spots, _: &Model) -> String {
        let (shown, all) = list.counts();
        let RowPicker { title, is_complete, .. } = &list.source;
        let more = if *is_complete { "" } else { " · looking …" };
        match (list.source.is_notable(), shown == all) {
            (false, true) => format!("{title}{more}"),
            (true, true) => format!("{title} · {} · ! high · * medium · + low{more}", count(all as u64, "row")),
            (_, false) => format!("{title} · {} of {}{more}", thousands(shown as u64), count(all as u64, "row")),
        }
    }

    /// The columns are as wide as the rows in sight need.
    fn columns(&self, rows: &[&Spot], room: usize, model: &Model) -> SpotColumns {
        let shown: Vec<_> = rows.iter().filter_map(|spot| row_of(spot, model)).collect();
        let labels = columns_of(shown.iter().map(|row| &row.label));
        let widest = |width: fn(&Spot) -> usize| rows.iter().map(|spot| width(spot)).max().unwrap_or(0);
        let tells_below = self.tells_below(u16::try_from(room).unwrap_or(u16::MAX));
        if tells_below {
            return SpotColumns { seen_by: SIGN, label: SIGN, labels, tells_below };
        }
        let sign = if self.is_notable() { SIGN } else { 0 };
        let seen_by = sign + widest(|spot| spot.head.columns()).min(HEAD.min(room * 2 / 5)) + 1;
        let by = widest(|spot| spot.seen_by.as_ref().map_or(0, |by| by.width())).min(20);
        let label = if by == 0 { seen_by } else { seen_by + by + 1 };
        SpotColumns { seen_by, label, labels, tells_below }
    }

    fn draw_row(&self, line: LineWriter<'_, '_>, columns: &SpotColumns, spot: &Spot, model: &Model) {
        draw_spot(line, columns, spot, row_of(spot, model).as_deref());
    }

    /// Who saw the chosen row and why it is there, and the row itself where that is cut above.
    fn words_below(&self, chosen: Option<&Spot>, model: &Model) -> Option<(String, Meaning)> {
        let spot = chosen?;
        let is_reason_only = self.tells_below(model.overlay_room().width);
        let by = spot.seen_by.as_ref().map(|by| format!("{by}: ")).unwrap_or_default();
        let words = match row_of(spot, model).filter(|_| !is_reason_only) {
            Some(row) => format!("{by}{}: {}", spot.head, Untrusted::from(row.text()).visible()),
            None => format!("{by}{}", spot.head),
        };
        Some((words, Meaning::Detail))
    }
}

/// The row that a spot shows; none where it has words of our own.
fn row_of<'a>(spot: &'a Spot, model: &Model) -> Option<Cow<'a, Row>> {
    match &spot.shows {
        Shows::Words(_) => None,
        Shows::Row(row) => Some(Cow::Borrowed(row)),
        Shows::Open(place) => {
            Some(Cow::Owned(model.open().map(|open| open.report.row(place.section, place.row)).unwrap_or_default()))
        }
    }
}

fn draw_spot(mut line: LineWriter<'_, '_>, columns: &SpotColumns, spot: &Spot, row: Option<&Row>) {
    if let Some(severity) = spot.severity {
        let meaning = if severity == Severity::High { Meaning::Problem } else { Meaning::Price };
        line.own(severity.sign(), meaning);
        line.tab(SIGN);
    }
    if !columns.tells_below {
        let meaning = if spot.target.is_some() { Meaning::Strong } else { Meaning::Faint };
        let before = if spot.severity.is_some() { SIGN } else { 0 };
        line.own_cut(&spot.head, columns.seen_by.saturating_sub(before + 1), meaning);
        line.tab(columns.seen_by);
        if let Some(by) = &spot.seen_by {
            line.visible(by, Meaning::Detail);
        }
        line.tab(columns.label);
    }
    if let Shows::Words(words) = &spot.shows {
        line.own(words, Meaning::Faint);
    }
    if let Some(row) = row {
        // Where it is narrow, words stand close together.
        let own = columns_of(std::iter::once(&row.label));
        draw_labelled(&mut line, columns.label, if columns.tells_below { own } else { columns.labels }, &row.label);
        draw_pieces(&mut line, &row.pieces, Meaning::Text, true, None);
    }
}
