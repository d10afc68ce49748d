//! What deserves a look in several reports at once: each is judged by itself, and what several saw stands once.

use crate::app::over::marks::{Judged, Noted};
use crate::app::over::spots::Target;
use crate::report::rules::{Rules, Severity};
use crate::report::{Place, Report, Row};
use crate::text::{Untrusted, Visible};
use std::collections::HashMap;

/// Most rows of one report: a list is read, and this is more than anybody reads.
const MOST: usize = 5_000;

/// Columns of a sandbox's name.
const NAME: usize = 16;

/// A row, and the first report that has it.
struct Found<'a> {
    severity: Severity,
    rule: u16,
    row: Row,
    first: &'a Judged,
    place: Place,
    /// Reports that have it beside the first.
    others: usize,
    last: usize,
}

/// The rows that the rules mark, the most severe first; a report that cannot be read has been said to be so.
pub(super) fn of(reports: &[Judged], rules: &Rules) -> Vec<Noted> {
    let mut found: Vec<Found<'_>> = Vec::new();
    let mut known: HashMap<(u16, Vec<u8>), usize> = HashMap::new();
    for judged in reports {
        let Ok(report) = Report::open(&judged.body) else { continue };
        let Ok(marks) = rules.judge(&report, &|| true) else { continue };
        for (section, row, rule) in marks.notable().take(MOST) {
            let Some(severity) = rules.rule(rule).map(|rule| rule.severity) else { continue };
            let (place, row) = (Place { section, row }, report.row(section, row));
            let at = *known.entry((rule, row.text())).or_insert(found.len());
            match found.get_mut(at) {
                Some(before) if before.last != judged.entry => {
                    before.others += 1;
                    before.last = judged.entry;
                }
                Some(_) => {}
                None => found.push(Found { severity, rule, row, first: judged, place, others: 0, last: judged.entry }),
            }
        }
    }
    found.sort_by_key(|found| (found.severity, found.rule, found.first.entry));
    found.into_iter().map(Found::noted).collect()
}

impl Found<'_> {
    fn noted(self) -> Noted {
        let (identifier, entry) = (self.first.identifier.clone(), self.first.entry);
        let target = Target { file: None, identifier, entry, place: Some(self.place) };
        Noted { rule: self.rule, row: self.row, seen_by: seen_by(&self.first.name, self.others), target }
    }
}

/// The first sandbox by its name, the others by their number.
fn seen_by(name: &Untrusted, others: usize) -> Visible {
    let name = name.visible_cut(NAME);
    match others {
        0 => name,
        others => Untrusted::from(format!("{name} +{others}")).visible(),
    }
}
