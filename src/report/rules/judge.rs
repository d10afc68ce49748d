//! Judging rows by the rules.

use super::Severity;
use super::file::{Rule, Rules, Use};
use crate::order;
use crate::report::command_line;
use crate::report::index::Form;
use crate::report::wanted::still_wanted;
use crate::report::{Order, Place, Report, Row, RowSet, Section};
use crate::text::{Untrusted, last_part};
use std::io;
use std::sync::Arc;

/// What the rules make of a report.
#[derive(Debug, Default)]
pub struct Marks {
    /// Rows that deserve a look, in order, each with the number of the rule that matters most.
    notable: Vec<(u32, u32, u16)>,
    /// Rows that are noise, and nothing else.
    noise: RowSet,
    /// The order of rows that say themselves how severe they are.
    order: Arc<Order>,
}

impl Marks {
    /// The number of the rule that marks a row.
    #[must_use]
    pub fn rule(&self, section: usize, row: usize) -> Option<u16> {
        let place = (u32::try_from(section).ok()?, u32::try_from(row).ok()?);
        let at = self.notable.binary_search_by_key(&place, |(section, row, _)| (*section, *row)).ok()?;
        self.notable.get(at).map(|(_, _, rule)| *rule)
    }

    /// Every row that deserves a look: section, row, rule.
    pub fn notable(&self) -> impl Iterator<Item = (usize, usize, u16)> + '_ {
        self.notable.iter().map(|(section, row, rule)| (*section as usize, *row as usize, *rule))
    }

    /// The order of rows that say themselves how severe they are.
    #[must_use]
    pub fn order(&self) -> &Arc<Order> {
        &self.order
    }

    /// The rows that are noise.
    #[must_use]
    pub fn noise(&self) -> &RowSet {
        &self.noise
    }
}

/// What one row is held to.
struct Seen<'a> {
    /// The row's text in small letters.
    text: &'a [u8],
    /// The parent's file name in small letters; none for what is no process.
    parent: Option<&'a [u8]>,
}

/// Which texts of a rule were found in a row.
#[derive(Clone, Default)]
struct Found {
    any: bool,
    program: bool,
    none: bool,
    all: u64,
}

/// The work on one row, kept for the next.
struct Judge<'a> {
    rules: &'a Rules,
    /// Rules for the section that is looked at.
    applies: Vec<bool>,
    /// Those of them that no text calls.
    uncalled: Vec<usize>,
    found: Vec<Found>,
    touched: Vec<usize>,
}

impl Rules {
    /// Judges every row of a report.
    ///
    /// # Errors
    /// When the body cannot be read, and when nobody wants to know any more.
    pub fn judge(&self, report: &Report, is_wanted: &dyn Fn() -> bool) -> io::Result<Marks> {
        let mut marks = Marks { order: Arc::new(Order::of(report, is_wanted)?), ..Marks::default() };
        for (number, section) in report.index.sections.iter().enumerate() {
            still_wanted(is_wanted)?;
            let mut judge = Judge::of(self, section);
            let (mut text, mut above) = (Vec::new(), Vec::new());
            report.each_row(number, |found| {
                let (row, decoded) = (found.place.row, found.told());
                text.clear();
                decoded.push_text(&mut text);
                text.make_ascii_lowercase();
                let parent = (section.form == Form::Processes).then(|| {
                    let depth = usize::from(section.depths().get(row).unwrap_or_default());
                    above.truncate(depth);
                    above.push(program(&decoded));
                    depth.checked_sub(1).and_then(|up| above.get(up)).cloned().unwrap_or_default()
                });
                let rules = judge.rules(&Seen { text: &text, parent: parent.as_deref() });
                let best = rules.into_iter().min_by_key(|rule| self.rules.get(*rule).map(|rule| rule.severity));
                if let Some((rule, row)) = best.zip(u32::try_from(row).ok()) {
                    match self.rules.get(rule).map(|rule| rule.severity) {
                        Some(Severity::Noise) => marks.noise.insert(number, row),
                        _ => marks.notable.push((
                            u32::try_from(number).unwrap_or(u32::MAX),
                            row,
                            u16::try_from(rule).unwrap_or(u16::MAX),
                        )),
                    }
                }
                is_wanted()
            })?;
        }
        still_wanted(is_wanted)?;
        Ok(marks)
    }

    /// Every rule that marks one row, the one that matters most first.
    #[must_use]
    pub fn of_row(&self, report: &Report, section: usize, row: usize) -> Vec<&Rule> {
        let Some(found) = report.section(section) else { return Vec::new() };
        let mut text = report.told_row(Place { section, row }).unwrap_or_default().text();
        text.make_ascii_lowercase();
        let parent = (found.form == Form::Processes).then(|| {
            let parent = found.depths().parent(row);
            parent.map(|parent| program(&report.row(section, parent))).unwrap_or_default()
        });
        let numbers = Judge::of(self, found).rules(&Seen { text: &text, parent: parent.as_deref() });
        let mut rules: Vec<&Rule> = numbers.into_iter().filter_map(|rule| self.rules.get(rule)).collect();
        order::sort_by_key(&mut rules, |rule| rule.severity);
        rules
    }
}

impl<'a> Judge<'a> {
    fn of(rules: &'a Rules, section: &Section) -> Self {
        let name = section.attribute.map_or("", |attribute| attribute.name);
        let is_for = |rule: &Rule| rule.attributes.is_empty() || rule.attributes.iter().any(|wanted| wanted == name);
        let applies: Vec<bool> = rules.rules.iter().map(is_for).collect();
        let is_uncalled = |rule: &Rule| !rule.wants.any && !rule.wants.program && rule.wants.all == 0;
        let uncalled =
            (0..).zip(&rules.rules).zip(&applies).filter(|((_, rule), applies)| **applies && is_uncalled(rule));
        let uncalled = uncalled.map(|((number, _), _)| number).collect();
        Self { rules, applies, uncalled, found: vec![Found::default(); rules.rules.len()], touched: Vec::new() }
    }

    /// The rules that mark a row.
    fn rules(&mut self, seen: &Seen<'_>) -> Vec<usize> {
        self.touched.clone_from(&self.uncalled);
        for hit in self.rules.texts.find_overlapping_iter(seen.text) {
            let Some((rule, purpose)) = self.rules.uses.get(hit.pattern().as_usize()).copied() else { continue };
            if !self.applies.get(rule).copied().unwrap_or(false) {
                continue;
            }
            let Some(found) = self.found.get_mut(rule) else { continue };
            match purpose {
                Use::Any => found.any = true,
                Use::None => found.none = true,
                Use::All(n) => found.all |= 1 << n,
                Use::Program => found.program |= is_program(seen.text, hit.range()),
            }
            if let Err(place) = self.touched.binary_search(&rule) {
                self.touched.insert(place, rule);
            }
        }
        let mut agreed = Vec::new();
        for number in &self.touched {
            let found = self.found.get_mut(*number).map(std::mem::take).unwrap_or_default();
            if self.rules.rules.get(*number).is_some_and(|rule| rule.agrees(&found, seen)) {
                agreed.push(*number);
            }
        }
        agreed
    }
}

impl Rule {
    fn agrees(&self, found: &Found, seen: &Seen<'_>) -> bool {
        let is_parent =
            |wanted: &String| seen.parent.is_some_and(|parent| parent.eq_ignore_ascii_case(wanted.as_bytes()));
        !found.none
            && (found.any || !self.wants.any)
            && (found.program || !self.wants.program)
            && found.all.count_ones() as usize == self.wants.all
            && (self.parent.is_empty() || self.parent.iter().any(is_parent))
            && (self.parent_not.is_empty() || seen.parent.is_some() && !self.parent_not.iter().any(is_parent))
            && self.regex.as_ref().is_none_or(|regex| regex.is_match(seen.text))
    }
}

/// Whether a text stands in another as a whole word: a program's name among folders and arguments.
fn is_program(text: &[u8], place: std::ops::Range<usize>) -> bool {
    let before = place.start.checked_sub(1).and_then(|at| text.get(at));
    let is_start =
        before.is_none_or(|byte| matches!(byte, b'\\' | b'/' | b'"' | b'\'' | b' ' | b'=' | b'(' | b'&' | b'|'));
    let is_end =
        text.get(place.end).is_none_or(|byte| matches!(byte, b' ' | b'"' | b'\'' | b',' | b';' | b')' | b'&' | b'|'));
    is_start && is_end
}

/// The program that a process runs: its name without its folder, in small letters.
fn program(process: &Row) -> Vec<u8> {
    let line = process.name().map(Untrusted::as_bytes).unwrap_or_default();
    last_part(command_line::split(line).0).to_ascii_lowercase()
}
