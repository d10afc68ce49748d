//! Writes an HTML page for a ticket or a mail: readable in any browser, without network or script.
//! It has what the reports mean, findings first; other formats have the rows of every pane.
//!
//! Text from outside reaches the page as [`Inert`] only. The page's policy allows its own style and
//! script by their hashes, and no request, frame or form. Elements are identified by own numbers.

mod sections;

use super::opened::{MergedReports, OpenedReport, decoded};
use super::{Export, Summary, harmless};
use crate::report::attributes::PERHAPS_CUT;
use crate::report::identifier::Sha256;
use crate::report::page::{ReportSummary, SampleVerdict};
use crate::report::rows::Label;
use crate::report::rules::Severity;
use crate::report::{Note, Pane, Piece, Row, RowPlace, command_line};
use crate::text::{Untrusted, Visible, count, last_part, moment, thousands, to_visible};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use maud::{DOCTYPE, Markup, PreEscaped, Render, html};
use sha2::Digest;
use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

const STYLE: &str = include_str!("../../../assets/html/report.css");
const SCRIPT: &str = include_str!("../../../assets/html/report.js");

/// Maximum items of a list: with 100,000 a page opens slowly, with a million not at all.
const MAX_LISTED: usize = 500;

struct HtmlReport<'a> {
    merged: MergedReports<'a>,
    /// Numbers of the rows and indicators on the page, and of items that it only counts.
    listed: Cell<u64>,
    unlisted: Cell<u64>,
}

/// Maximum columns of a row; the rest of a longer one is left out.
const MAX_ROW_COLUMNS: usize = 2_000;

/// A text without markup, links and live addresses: defanged before it is wrapped.
struct Inert(Visible);

impl Inert {
    /// Returns a text from outside.
    fn of(text: &Untrusted) -> Self {
        Self(harmless(Pane::Other, text))
    }

    /// Words of this program, in which text from outside has its visible form already.
    fn words(words: impl AsRef<str>) -> Self {
        Self(to_visible(words).disarmed())
    }
}

/// The only way of outside text into a page, between tags or in a quoted attribute.
impl Render for Inert {
    fn render_to(&self, page: &mut String) {
        for character in self.0.as_str().chars() {
            match character {
                '&' => page.push_str("&amp;"),
                '<' => page.push_str("&lt;"),
                '>' => page.push_str("&gt;"),
                '"' => page.push_str("&quot;"),
                '\'' => page.push_str("&#39;"),
                other => page.push(other),
            }
        }
    }
}

/// Returns a row as its pane shows it: its label, and its text with the subject emphasised.
fn pieces(pane: Pane, row: &Row) -> Markup {
    let mut left = MAX_ROW_COLUMNS;
    let mut cut = |text: &Untrusted| {
        let shown = text.visible_cut(left);
        left -= shown.width();
        Inert(shown.disarmed_where(pane == Pane::Network))
    };
    html! {
        @match &row.label {
            Label::Known("") => {},
            Label::Known(word) => span.label { (word) " " },
            Label::Named(name) => span.label { (cut(name)) " " },
        }
        code { @for piece in &row.pieces { @match piece {
            Piece::Value(text) => b { (cut(text)) },
            Piece::Detail(text) => (cut(text)),
            Piece::Own(words) | Piece::Known(words) => span.own { (Inert::words(words)) },
        } } }
    }
}

/// A section of the page: identifier, title, size and content.
type HtmlSection = (&'static str, &'static str, String, Markup);

pub(super) fn write(job: &Export<'_>, out: &mut dyn Write) -> io::Result<Summary> {
    let merged = MergedReports::of(job, job.opened().collect::<io::Result<_>>()?)?;
    let page = HtmlReport { merged, listed: Cell::default(), unlisted: Cell::default() };
    out.write_all(page.markup()?.into_string().as_bytes())?;
    let mut summary = Summary { rows: page.listed.get(), left_out: page.unlisted.get(), ..Summary::default() };
    page.merged.opened.iter().for_each(|opened| summary.add_report(&opened.report));
    Ok(summary)
}

/// Returns the page's head, whose policy allows our style and script alone.
fn head(title: &str) -> Markup {
    let [style, script] = [STYLE, SCRIPT].map(|own| STANDARD.encode(sha2::Sha256::digest(own)));
    let sources = format!("default-src 'none'; style-src 'sha256-{style}'; script-src 'sha256-{script}'");
    html! {
        head {
            meta charset="utf-8";
            meta http-equiv="Content-Security-Policy" content={ (sources) "; base-uri 'none'; form-action 'none'" };
            meta name="viewport" content="width=device-width, initial-scale=1";
            meta name="referrer" content="no-referrer";
            title { (Inert::words(title)) }
            style { (PreEscaped(STYLE)) }
        }
    }
}

/// Returns a button that copies the text before it, as it is shown; only the script shows it.
fn copy_button() -> Markup {
    html! { button.copy type="button" hidden { "Copy" } }
}

fn badge(severity: Severity) -> Markup {
    html! { span class={ "severity " (severity.name()) } { (severity.name()) } }
}

/// Returns a link of a row or an indicator to itself.
fn anchor(id: &str, words: &str) -> Markup {
    html! { a.anchor href={ "#" (id) } { (words) } }
}

/// Returns a note, behind what it is about.
fn note_mark(note: Option<&Note>) -> Markup {
    html! { @if let Some(note) = note { " " span.note { "note: " (Inert::of(&note.text)) } } }
}

fn decoded_lines(opened: &OpenedReport<'_>, place: RowPlace) -> Markup {
    html! { @for text in decoded(&opened.report.record(place)) { div.decoded { "decoded " code { (Inert::of(&text)) } } } }
}

impl HtmlReport<'_> {
    /// Returns the page; one of indicators has no other section.
    fn markup(&self) -> io::Result<Markup> {
        let mut sections: Vec<_> = self.indicators()?.into_iter().collect();
        if !self.merged.job.what.is_indicators() {
            sections.insert(0, self.findings()?);
            sections.extend(self.processes()?);
            sections.extend(self.techniques()?);
            sections.extend(self.sandboxes()?);
            sections.extend(self.paid());
        }
        let files = self.merged.files();
        let named = files.iter().map(|(_, file)| file.short()).collect::<Vec<_>>().join(", ");
        Ok(html! {
            (DOCTYPE) "\n"
            html lang="en" {
                (head(&format!("{named} · {} · behaviour report", self.verdict().0))) "\n"
                body {
                    header { (self.header(&files)) } "\n"
                    nav {
                        @for (id, title, ..) in &sections { a href={ "#" (id) } { (title) } " " }
                        input #filter type="search" placeholder="Filter" aria-label="Show only rows with this text" hidden;
                    } "\n"
                    main { @for (id, title, size, body) in &sections {
                        section id=(id) { h2 { (title) " " small { (size) } } "\n" (body) } "\n"
                    } }
                    footer {
                        "Written by behaview " (env!("CARGO_PKG_VERSION")) ". Text from the reports is shown, never run: "
                        "control characters are escaped, addresses defanged. The page loads nothing."
                    } "\n"
                    script { (PreEscaped(SCRIPT)) } "\n"
                }
            } "\n"
        })
    }

    /// Returns the result of the worst verdict, and how many reports have it.
    fn verdict(&self) -> (&'static str, usize) {
        let all = || self.merged.opened.iter().map(|opened| SampleVerdict::of(&opened.report));
        let worst = all().min().unwrap_or(SampleVerdict::Unknown);
        (worst.name(), all().filter(|verdict| *verdict == worst).count())
    }

    /// Returns the programs that the sandboxes started first, those of most reports first.
    fn names(&self) -> Vec<Untrusted> {
        let first = |opened: &OpenedReport<'_>| opened.report.row(opened.report.tree()?.0, 0).name().cloned();
        let mut names = BTreeMap::<Untrusted, usize>::new();
        for name in self.merged.opened.iter().filter_map(first) {
            *names.entry(last_part(command_line::split(name.as_bytes()).0).into()).or_default() += 1;
        }
        let mut names: Vec<_> = names.into_iter().filter(|(name, _)| !name.is_empty()).collect();
        names.sort_by_key(|(_, reports)| std::cmp::Reverse(*reports));
        names.into_iter().map(|(name, _)| name).take(5).collect()
    }

    fn header(&self, files: &[(SampleVerdict, Sha256)]) -> Markup {
        let names = self.names();
        let opened = &self.merged.opened;
        let (verdict, by) = self.verdict();
        let is_private = opened.iter().all(OpenedReport::is_private);
        html! {
            p.kind {
                (if is_private { "Private behaviour report" } else { "Behaviour report of unknown origin" })
                " " span.tlp { "TLP:AMBER+STRICT" }
            }
            h1 {
                @if files.len() > 1 { (count(files.len() as u64, "file")) }
                @else if let Some(name) = names.first() { (Inert::of(name)) }
                @else { "Behaviour report" }
            }
            @for (verdict, file) in files { p.hash {
                "SHA-256 " code { (file) } (copy_button())
                @if files.len() > 1 { " " strong class={ "word " (verdict.name()) } { (verdict.name()) } }
            } }
            @if names.len() > 1 && files.len() < 2 { p.why { "First process in other reports: " @for name in names.iter().skip(1) { code { (Inert::of(name)) } " " } } }
            p.verdict {
                strong class={ "word " (verdict) } { (verdict) }
                " by " (by) " of " (count(opened.len() as u64, "sandbox report"))
                @if let Some(all) = self.merged.job.known_reports() { ", of at least " (all) " that the service has" }
            }
            div.wide { table.reports {
                thead { tr {
                    @for title in ["#", "Sandbox", "Verdict", "Labels", "Ran"] { th { (title) } }
                    @for title in ["High", "Medium", "Low", "Rows"] { th.number { (title) } }
                    th { "From" }
                } }
                tbody { @for (number, opened) in opened.iter().enumerate() { (self.report_row(number, opened)) } }
            } }
            @for opened in opened { (self.remarks(opened)) }
        }
    }

    /// Returns a report among the others: verdict, time, rows by their highest severity, origin.
    fn report_row(&self, number: usize, opened: &OpenedReport<'_>) -> Markup {
        let summary = ReportSummary::of(&opened.report);
        let found: BTreeSet<_> = opened.findings().map(|(place, ..)| place).collect();
        let severities: Vec<_> = found.into_iter().filter_map(|place| Some(opened.rule(place)?.severity)).collect();
        let marked = |severity| severities.iter().filter(|found| **found == severity).count() as u64;
        html! {
            tr {
                td.number { (number + 1) }
                td { (Inert::words(self.merged.label(opened))) }
                td { @if let Some(verdict) = summary.label() { b { (Inert::of(&verdict)) } } }
                td { @for label in summary.labels.iter().take(5) { (Inert::of(label)) " " } }
                td.time { @if let Some(ran) = opened.ran() { (moment(ran)) } }
                @for severity in [Severity::High, Severity::Medium, Severity::Low] {
                    td.number { (thousands(marked(severity))) }
                }
                td.number { (thousands(opened.rows.len() as u64)) }
                td.time {
                    (Inert::of(&Untrusted::from(opened.source.origin.as_str())))
                    @if let Some(received) = opened.source.received { ", " (moment(received)) }
                }
            } "\n"
        }
    }

    /// Returns what a report lacks, and the notes on it.
    fn remarks(&self, opened: &OpenedReport<'_>) -> Markup {
        let index = &opened.report.index;
        let sandbox = Inert::words(self.merged.label(opened));
        html! {
            @if index.is_cut { p.warning { (sandbox) ": the report stops in the middle; its beginning is here" } }
            @if opened.report.is_unread() { p.warning { (sandbox) ": the report could not be read" } }
            @for list in index.sections.iter().filter(|section| section.is_perhaps_cut()) {
                p.warning { (sandbox) ": " (Inert::of(&list.name)) " " (list.len()) (PERHAPS_CUT) }
            }
            @for (place, note) in opened.notes() {
                p { (sandbox) (note_mark(Some(note))) @if let Some(item) = &note.about.item {
                    " on " (Inert::of(&item.attribute)) " " (Inert::of(&item.text))
                    @if place.is_none() { ", which is no longer in this report" }
                } }
            }
        }
    }

    /// Counts the items left out of the page, with the command that writes all; empty without any.
    fn rest(&self, shown: usize, all: usize, noun: &str, command: &str) -> Markup {
        let left = all.saturating_sub(shown) as u64;
        self.unlisted.update(|unlisted| unlisted + left);
        html! { @if left > 0 { p.rest { (count(left, noun)) " more: " code { (Inert::words(command)) } } } }
    }

    /// Returns a command that exports all of these reports, or one, with these options.
    fn command(&self, of: Option<&OpenedReport<'_>>, options: &str) -> String {
        let files = self.merged.files();
        let opened = &self.merged.opened;
        let is_stored = files.len() == 1 && opened.len() > 1 && opened.iter().all(|one| one.source.received.is_some());
        let subjects: Vec<_> = match (of, files.first().filter(|_| is_stored)) {
            (Some(one), _) => vec![argument(one)],
            (None, Some((_, file))) => vec![file.to_string()],
            (None, None) => opened.iter().map(argument).collect(),
        };
        format!("behaview export {} {options}", subjects.join(" "))
    }
}

/// Quotes a report as a shell argument; a placeholder if it cannot be quoted as shown.
fn argument(opened: &OpenedReport<'_>) -> String {
    let stored = opened.identifier.as_ref().filter(|_| opened.source.received.is_some());
    let text = stored.map_or_else(|| opened.source.origin.as_str().into(), |identifier| identifier.text().clone());
    let shown = text.visible().to_string();
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "._-/ ".contains(c);
    match shown.as_bytes() == text.as_bytes() && shown.chars().all(is_plain) && !shown.starts_with('-') {
        true if shown.contains(' ') => format!("'{shown}'"),
        true => shown,
        false => "REPORT".to_owned(),
    }
}
