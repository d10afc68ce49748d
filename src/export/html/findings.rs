//! What the file did: the rules that mark rows, by subject, each with its rows of all reports.

use super::inert::{Inert, pieces};
use super::{HtmlReport, HtmlSection, anchor, badge, decoded_lines, note_mark};
use crate::report::rules::{Rule, Severity};
use crate::report::{Pane, RowPlace, Section};
use crate::text::{count, thousands};
use maud::{Markup, html};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::hash::{BuildHasher, RandomState};
use std::io;

/// Maximum rows of a rule; the others are counted.
const MAX_OF_RULE: usize = 20;

struct RuleRows<'a> {
    number: u16,
    rule: &'a Rule,
    /// Numbers of rows by a hash of their texts.
    known: HashMap<u64, usize>,
    /// The first rows, each with the numbers of the reports that have it.
    rows: Vec<(RowPlace, BTreeSet<usize>)>,
}

impl HtmlReport<'_> {
    pub(super) fn findings(&self) -> io::Result<HtmlSection> {
        let found = self.rule_rows()?;
        let rows = found.iter().map(|found| found.known.len() as u64).sum();
        let subjects = found.chunk_by(|one, other| one.rule.subject_place() == other.rule.subject_place());
        let subjects: Vec<_> = subjects.filter_map(|rules| Some((rules.first()?.rule, rules))).collect();
        let body = html! {
            p.chips { @for (first, rules) in &subjects {
                a class={ "chip " (first.severity.name()) } href={ "#s" (first.subject_place()) } {
                    (Inert::words(first.subject_name())) " "
                    small { (thousands(rules.iter().map(|found| found.known.len() as u64).sum())) }
                } " "
            } }
            @for (first, rules) in &subjects {
                h3.subject id={ "s" (first.subject_place()) } { (Inert::words(first.subject_name())) }
                @for found in *rules { (self.rule(found)) }
            }
        };
        let size = format!("{} by {}", count(rows, "finding"), count(found.len() as u64, "rule"));
        Ok(("findings", "What it did", size, body))
    }

    /// Returns the rules by subject, the most severe first, then the rarest.
    fn rule_rows(&self) -> io::Result<Vec<RuleRows<'_>>> {
        let state = RandomState::new();
        let mut found = BTreeMap::<(usize, Severity, &str), RuleRows<'_>>::new();
        for (report, opened) in self.merged.opened.iter().enumerate() {
            for (place, number, rule) in opened.findings() {
                opened.check_cancel()?;
                let new = || RuleRows { number, rule, known: HashMap::new(), rows: Vec::new() };
                let of_rule = found.entry((rule.subject_place(), rule.severity, &rule.name)).or_insert_with(new);
                let next = of_rule.known.len();
                let text = state.hash_one(opened.report.row(place.section, place.row).text());
                let at = *of_rule.known.entry(text).or_insert(next);
                match of_rule.rows.get_mut(at) {
                    Some((_, reports)) => drop(reports.insert(report)),
                    None if at < MAX_OF_RULE => of_rule.rows.push((place, BTreeSet::from([report]))),
                    None => {}
                }
            }
        }
        let mut found: Vec<_> = found.into_values().collect();
        found.sort_by_key(|found| (found.rule.subject_place(), found.rule.severity, found.known.len()));
        Ok(found)
    }

    fn rule(&self, RuleRows { number, rule, known, rows }: &RuleRows<'_>) -> Markup {
        html! {
            details.rule open[rule.severity <= Severity::Medium] {
                summary {
                    (badge(rule.severity)) " " b { (Inert::words(&rule.name)) }
                    " " small { (count(known.len() as u64, "row")) }
                    @for technique in rule.techniques() { " " span.technique { (Inert::words(technique)) } }
                }
                p.why { (Inert::words(&rule.why)) }
                ul.list { @for (place, seen_by) in rows { (self.finding(*number, *place, seen_by)) } }
                (self.rest(rows.len(), known.len(), "row", &self.command(None, "--findings --format csv")))
            } "\n"
        }
    }

    fn finding(&self, rule: u16, place: RowPlace, seen_by: &BTreeSet<usize>) -> Markup {
        let reports = || seen_by.iter().filter_map(|report| Some((report, self.merged.opened.get(*report)?)));
        let Some((report, opened)) = reports().next() else { return Markup::default() };
        let pane = opened.report.section(place.section).map_or(Pane::Other, Section::pane);
        let id = format!("f{rule}.{report}.{}.{}", place.section, place.row);
        let sandboxes: Vec<_> = reports().map(|(_, opened)| self.merged.label(opened)).collect();
        html! {
            li id=(id) {
                (anchor(&id, "#")) " " (pieces(pane, &opened.report.row(place.section, place.row)))
                (note_mark(opened.notes.get(&place).copied())) " "
                small.where {
                    (pane.title()) " " (thousands(place.row as u64 + 1)) " "
                    @if self.merged.opened.len() > 1 { (Inert::words(sandboxes.join(", "))) }
                }
                (decoded_lines(opened, place))
            } "\n"
        }
    }
}
