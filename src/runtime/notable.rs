//! The findings of several reports at once; a row that several sandboxes saw is listed once.

use crate::app::over::marks::{NotableRow, ReportToEvaluate};
use crate::app::over::spots::Target;
use crate::report::rules::{Rules, Severity};
use crate::report::{Cancel, Cancelled, Pane, Place, Report, Row};
use crate::text::{Untrusted, Visible, said};
use std::collections::HashMap;

/// Most rows of one report: a list is read, and this is more than anybody reads.
const MOST: usize = 5_000;

/// Columns of a sandbox's name.
const NAME: usize = 16;

/// A row, and the first report that has it.
struct MarkedRow<'a> {
    severity: Severity,
    rule: u16,
    row: Row,
    first: &'a ReportToEvaluate,
    place: Place,
    /// Its pane, and its attribute's place there: rows stand as they do in the list of one report.
    place_of: Option<(Pane, usize)>,
    /// Reports that have it beside the first.
    others: usize,
    last: usize,
    /// Every row beside the first, with the place of its report.
    also: Vec<(usize, Place)>,
}

/// The rows that the rules mark, the most severe first.
pub(super) fn of(reports: &[ReportToEvaluate], rules: &Rules, cancel: &Cancel) -> Result<Vec<NotableRow>, Cancelled> {
    let mut found: Vec<MarkedRow<'_>> = Vec::new();
    let mut known: HashMap<(u16, Vec<u8>), usize> = HashMap::new();
    for judged in reports {
        let report = Report::open(&judged.body);
        let marks = rules.judge(&report, cancel)?;
        for (section, row, rule) in marks.notable().take(MOST) {
            let Some(severity) = rules.rule(rule).map(|rule| rule.severity) else { continue };
            let (place, row) = (Place { section, row }, report.row(section, row));
            let at = *known.entry((rule, row.text())).or_insert(found.len());
            match found.get_mut(at) {
                Some(before) => before.add(judged.entry, place),
                None => found.push(MarkedRow {
                    place_of: place_of(&report, section),
                    ..MarkedRow::new(severity, rule, row, judged, place)
                }),
            }
        }
    }
    found.sort_by_key(|found| (found.severity, found.place_of, found.first.entry, found.place.row));
    Ok(found.into_iter().map(MarkedRow::noted).collect())
}

/// The pane of a section, and its attribute's place there.
fn place_of(report: &Report, section: usize) -> Option<(Pane, usize)> {
    report.section(section).map(|found| (found.pane(), found.rank))
}

impl<'a> MarkedRow<'a> {
    fn new(severity: Severity, rule: u16, row: Row, first: &'a ReportToEvaluate, place: Place) -> Self {
        Self { severity, rule, row, first, place, place_of: None, others: 0, last: first.entry, also: Vec::new() }
    }

    /// Another row that says the same, of the same report or of a further one.
    fn add(&mut self, entry: usize, place: Place) {
        self.others += usize::from(self.last != entry);
        self.last = entry;
        self.also.push((entry, place));
    }

    fn noted(self) -> NotableRow {
        let (identifier, entry) = (self.first.identifier.clone(), self.first.entry);
        let target = Target { file: None, identifier, entry, place: Some(self.place) };
        NotableRow {
            rule: self.rule,
            row: self.row,
            seen_by: seen_by(&self.first.name, self.others),
            target,
            also: self.also,
        }
    }
}

/// The first sandbox by its name, the others by their number.
fn seen_by(name: &Untrusted, others: usize) -> Visible {
    let name = name.visible_cut(NAME);
    match others {
        0 => name,
        others => said(format!("{name} +{others}")),
    }
}
