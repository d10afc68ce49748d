//! The indicators: those to block first, then the others by kind.

use super::inert::Inert;
use super::{HtmlReport, HtmlSection, MAX_LISTED, anchor, badge, copy_button, note_mark};
use crate::report::indicators::MergedIndicator;
use crate::text::{count, thousands};
use maud::{Markup, html};
use std::io;

type Numbered<'a> = (usize, &'a MergedIndicator);

impl HtmlReport<'_> {
    pub(super) fn indicators(&self) -> io::Result<Option<HtmlSection>> {
        if self.merged.found.is_empty() {
            return Ok(None);
        }
        self.merged.check_cancel()?;
        let numbered = self.merged.found.iter().enumerate();
        let (to_block, others): (Vec<_>, Vec<_>) = numbered.partition(|(_, found)| found.is_to_block());
        let as_they_are = self.command(None, "--to-block --format csv");
        let body = html! {
            @if !to_block.is_empty() {
                h3 { "To block " small { (to_block.len()) } button.copy-all type="button" hidden { "Copy all" } }
                p.why { "Defanged; as they are: " code { (Inert::words(&as_they_are)) } }
                (self.indicator_table(&to_block, &as_they_are))
            }
            @for kind in others.chunk_by(|(_, one), (_, other)| one.kind() == other.kind()) {
                @let name = kind.first().map_or("", |(_, found)| found.kind().name());
                details {
                    summary { "Other: " b { (name) } " " small { (thousands(kind.len() as u64)) } }
                    (self.indicator_table(kind, &self.command(None, &format!("--kind {name} --format csv"))))
                } "\n"
            }
        };
        Ok(Some(("indicators", "Indicators", count(self.merged.found.len() as u64, "indicator"), body)))
    }

    fn indicator_table(&self, listed: &[Numbered<'_>], command: &str) -> Markup {
        html! {
            div.wide { table.indicators {
                thead { tr { th { "Kind" } th { "Value" } th { "Why" } th { "Seen in" } } }
                tbody { @for indicator in listed.iter().take(MAX_LISTED) { (self.indicator(indicator)) } }
            } }
            (self.rest(listed.len().min(MAX_LISTED), listed.len(), "indicator", command))
        }
    }

    fn indicator(&self, (number, found): &Numbered<'_>) -> Markup {
        let id = format!("i{}", number + 1);
        let reason = self.merged.reason(found).map(|(reason, _)| reason.name);
        let rule = self.merged.rule_of(found);
        html! {
            tr id=(id) {
                td { (anchor(&id, found.kind().name())) }
                td { code.indicator { (Inert(found.defanged())) } (copy_button()) }
                td {
                    @if let Some(rule) = rule { (badge(rule.severity)) " " }
                    @if let Some(words) = reason.as_ref().or(rule.map(|rule| &rule.name)) { (Inert::words(words)) }
                    @for note in self.merged.notes_about(found) { (note_mark(Some(note))) }
                }
                td.where { (Inert::words(self.merged.seen_in(found))) }
            } "\n"
        }
    }
}
