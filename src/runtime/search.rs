//! Searches beside the loop: one report's panes, or every stored report, several at a time.

use crate::app::find::{Hit, HitGroup, HitSource, MOST_HITS};
use crate::report::Place;
use crate::report::find::{Pattern, Scope, search};
use crate::report::rows::Label;
use crate::report::rows::records::{leaves, pointer};
use crate::report::work::in_rounds;
use crate::report::{About, Cancel, Note, Pane, Piece, Report, Row, RowSet, Section};
use crate::request::Request;
use crate::store::StoredReport;
use crate::text::Untrusted;
use std::collections::BTreeMap;
use std::io;
use std::ops::ControlFlow;

/// Bytes that are shown of a field that is in no line.
const LONGEST_FIELD: usize = 200;

/// Reports that are searched at a time.
const TOGETHER: usize = 2;

/// Searches a report and hands over hits by pane, `most` of each decoded; `keep` decides which rows count.
pub fn by_pane(
    report: &Report,
    pattern: &Pattern,
    (threads, most): (usize, usize),
    cancel: &Cancel,
    keep: &dyn Fn(Place) -> bool,
    tell: &mut dyn FnMut(Vec<HitGroup>) -> ControlFlow<()>,
) {
    let mut decoded = BTreeMap::<Pane, usize>::new();
    search(report, pattern, &Scope::default(), threads, cancel, &mut |rows| {
        let mut groups = Vec::<HitGroup>::new();
        for (section, rows) in rows.sections() {
            let Some(pane) = report.section(section).map(Section::pane) else { continue };
            let known = decoded.entry(pane).or_default();
            let room = most.saturating_sub(*known);
            let mut kept = rows.iter().filter(|row| keep(Place { section, row: **row as usize }));
            let hits: Vec<_> = kept.by_ref().take(room).map(|row| hit(report, pane, section, *row, pattern)).collect();
            *known += hits.len();
            let count = hits.len() + kept.count();
            if count > 0 {
                groups.push(HitGroup { of: HitSource::Pane(pane), count: count as u64, hits });
            }
        }
        if groups.is_empty() { ControlFlow::Continue(()) } else { tell(groups) }
    });
}

fn hit(report: &Report, pane: Pane, section: usize, row: u32, pattern: &Pattern) -> Hit {
    let place = Place { section, row: row as usize };
    let mut row = report.row(section, place.row);
    let field = field(report, place, &row, pattern);
    row.pieces.extend(field.into_iter().flatten());
    let rank = report.section(section).map_or(0, |section| section.rank);
    Hit { at: Some((pane, place)), rank, row }
}

/// The field with the match, where the row's line does not show it.
fn field(report: &Report, place: Place, row: &Row, pattern: &Pattern) -> Option<[Piece; 4]> {
    if pattern.is_match(&row.text()) {
        return None;
    }
    let record = report.record(place);
    let mut found = None;
    leaves(&record.value, &mut |way, value| {
        let text = value.text();
        if found.is_none() && pattern.is_match(text.as_bytes()) {
            let start = text.as_bytes().get(..LONGEST_FIELD).unwrap_or(text.as_bytes());
            found = Some((pointer(way.iter().skip(1)), Untrusted::from(start)));
        }
    });
    let (name, text) = found.filter(|(name, _)| !name.is_empty())?;
    Some([Piece::Own("  ".into()), Piece::Detail(name), Piece::Own(": ".into()), Piece::Detail(text)])
}

/// The result of searching one report.
#[derive(Debug)]
pub struct SearchOutcome {
    /// Its hits, if it has any.
    pub found: Result<Option<ReportHits>, Unreadable>,
    /// How many reports have been searched with it.
    pub searched: u64,
}

/// A report that could not be searched: it is damaged, or another program deleted it meanwhile.
#[derive(Debug, thiserror::Error)]
#[error("the {report} cannot be searched: {why}")]
pub struct Unreadable {
    report: String,
    why: io::Error,
}

/// The hits in one report.
#[derive(Debug)]
pub struct ReportHits {
    /// All of them counted, the first of them decoded.
    pub group: HitGroup,
    report: Report,
    rows: RowSet,
}

impl ReportHits {
    /// The hits that are not decoded yet, each as it is asked for.
    pub fn others(&self, pattern: &Pattern) -> impl Iterator<Item = Hit> {
        hits(&self.report, &self.rows, pattern).skip(self.group.hits.len())
    }
}

fn hits(report: &Report, rows: &RowSet, pattern: &Pattern) -> impl Iterator<Item = Hit> {
    let sections = Pane::ALL.into_iter().flat_map(|pane| report.sections(pane).into_iter().map(move |n| (pane, n)));
    let places = sections.flat_map(|(pane, n)| rows.rows(n).iter().map(move |row| (pane, n, *row)));
    places.map(|(pane, section, row)| hit(report, pane, section, row, pattern))
}

/// The matching notes by report, each with its row where one of these reports still
/// has it.
pub fn notes(notes: Vec<Note>, pattern: &Pattern, reports: &[StoredReport]) -> Vec<HitGroup> {
    let mut groups = Vec::<HitGroup>::new();
    for note in notes {
        if !pattern.is_match(note.text.as_bytes()) {
            continue;
        }
        let at = row_of(&note.about, reports);
        let About { identifier, item } = note.about;
        let mut pieces = vec![Piece::Value(note.text)];
        pieces.extend(item.into_iter().flat_map(|item| [Piece::Own("  on ".into()), Piece::Detail(item.text)]));
        let hit = Hit { at, rank: 0, row: Row { label: Label::Known("note"), pieces } };
        let file = note.file.or_else(|| identifier.parts().file);
        let of = HitSource::Notes { file, identifier };
        match groups.iter_mut().find(|group| group.of == of) {
            Some(group) => group.hits.push(hit),
            None => groups.push(HitGroup { of, count: 0, hits: vec![hit] }),
        }
    }
    groups.iter_mut().for_each(|group| group.count = group.hits.len() as u64);
    groups
}

/// The row of a note; none for one on a whole report, or on an item that is gone.
fn row_of(about: &About, reports: &[StoredReport]) -> Option<(Pane, Place)> {
    let item = about.item.as_ref()?;
    let stored = reports.iter().find(|report| report.identifier == about.identifier)?;
    let report = Report::open(&stored.body().ok()?);
    let place = report.find_item(item)?;
    Some((report.section(place.section)?.pane(), place))
}

/// Searches reports, several at a time, and hands over their results in order, at most [`MOST_HITS`] of each
/// decoded.
pub fn every_report(
    reports: &[StoredReport],
    pattern: &Pattern,
    cancel: &Cancel,
    tell: &mut dyn FnMut(SearchOutcome) -> ControlFlow<()>,
) {
    let mut searched = 0;
    in_rounds(reports, TOGETHER, |report| one_report(report, pattern, cancel), &mut |found| {
        searched += 1;
        tell(SearchOutcome { found, searched })
    });
}

fn one_report(stored: &StoredReport, pattern: &Pattern, cancel: &Cancel) -> Result<Option<ReportHits>, Unreadable> {
    let body = stored.body().map_err(|why| {
        let report = Request::Behaviour { identifier: stored.identifier.clone() }.words();
        Unreadable { report, why }
    })?;
    let report = Report::open(&body);
    let mut rows = RowSet::default();
    search(&report, pattern, &Scope::default(), 1, cancel, &mut |more| {
        rows.extend(&more);
        ControlFlow::Continue(())
    });
    if rows.is_empty() {
        return Ok(None);
    }
    let StoredReport { file, identifier, received, elsewhere, .. } = stored.clone();
    let of = HitSource::Report { file, identifier, received, elsewhere };
    let (count, hits) = (rows.len() as u64, hits(&report, &rows, pattern).take(MOST_HITS).collect());
    Ok(Some(ReportHits { group: HitGroup { of, count, hits }, report, rows }))
}
