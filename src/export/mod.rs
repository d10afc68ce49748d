//! Writes reports with their notes as JSON, JSON lines, CSV, Markdown, text, HTML, STIX 2.1, MISP
//! or an ATT&CK Navigator layer. Each file is valid by its standard and safe to open.
//!
//! ```text
//! ExportSource (bytes, origin, notes) ── OpenedReport ── row by row ──> FORMATS ──> file, stdout
//! ```
//! Rows are read and written one by one: a report of a million rows needs memory for its index and
//! its longest row. STIX and MISP remember the written indicators, to write none twice.

pub(crate) mod csv;
pub mod file;
mod html;
mod json;
pub(crate) mod markdown;
mod misp;
mod navigator;
mod opened;
mod stix;

pub use markdown::{harmless, line};

use self::opened::{MergedReports, OpenedReport};
use crate::report::attributes::PERHAPS_CUT;
use crate::report::identifier::Sha256;
use crate::report::indicators::{Kind, MergedIndicator};
use crate::report::note::Notes;
use crate::report::rules::Rules;
use crate::report::{Body, Cancel, Identifier, Pane, Report, RowPlace, RowSet, body};
use crate::text::{Untrusted, count};
use jiff::Timestamp;
use std::collections::HashSet;
use std::io::{self, Write};
use std::sync::Arc;

/// A report and its origin.
#[derive(Debug, Clone)]
pub struct ExportSource {
    pub body: Body,
    /// The identifier; `None` if the report has none.
    pub identifier: Option<Identifier>,
    /// The file that was run, where a list or the store knows it: not every identifier names it.
    pub file: Option<Sha256>,
    /// Name of the service profile or of the document.
    pub origin: String,
    /// Time of receipt; `None` for a document.
    pub received: Option<Timestamp>,
    pub notes: Notes,
}

/// What the store and the ledger know of the files of reports; of a document nothing.
#[derive(Debug, Default)]
pub struct ExportContext {
    /// The calls about the files.
    pub paid: Vec<PaidCall>,
    /// Minimum number of reports that the service has of them.
    pub reports: u64,
}

/// A call that was sent about a file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct PaidCall {
    pub sent: Timestamp,
    /// The request, safe to show.
    pub what: String,
    /// What it counts as, in units with this name.
    pub units: u64,
    pub unit: String,
    /// Whether that is known; otherwise it is the maximum.
    pub is_certain: bool,
}

/// The part of a report that is written.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Part {
    #[default]
    All,
    Pane(Pane),
    Shown(Pane, Arc<RowSet>),
    Row(RowPlace),
    /// The findings: all, or these rows of each report, in the order of the reports.
    Findings(Option<Arc<Vec<RowSet>>>),
    Indicators,
    /// The indicators to block, as STIX and MISP share them.
    ToBlock,
    OfKind(Kind),
    Listed(Arc<HashSet<(Kind, Untrusted)>>),
    /// Techniques of some reports, a bit for each, against those of others, each side with a name.
    Difference(u64, [String; 2]),
}

impl Part {
    /// Returns whether the part consists of indicators, not of rows.
    pub fn is_indicators(&self) -> bool {
        *self == Self::Indicators || self.is_choice()
    }

    /// Returns whether the part contains this indicator.
    pub fn has(&self, found: &MergedIndicator) -> bool {
        match self {
            Self::OfKind(kind) => found.kind() == *kind,
            Self::ToBlock => found.is_to_block(),
            Self::Listed(listed) => listed.contains(&(found.kind(), found.value().clone())),
            _ => true,
        }
    }

    /// Returns whether the part is a selection of the indicators.
    fn is_choice(&self) -> bool {
        matches!(self, Self::ToBlock | Self::OfKind(_) | Self::Listed(_))
    }
}

/// The size of an export.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Summary {
    /// Number of rows or indicators.
    pub rows: u64,
    /// Number of STIX objects, several of which may be of one indicator; 0 in other formats.
    pub objects: u64,
    /// Number of truncated reports, whose rows were written as far as they go.
    pub cut: u64,
    /// Number of reports that could not be read at all.
    pub unread: u64,
    /// Number of rows that the format cannot represent.
    pub(crate) left_out: u64,
    /// Number of lists that the service perhaps truncated: their length is exactly its limit.
    pub(crate) cut_lists: u64,
}

/// An export format, one row of [`FORMATS`].
#[derive(Debug)]
pub struct Format {
    /// Name on the command line.
    pub name: &'static str,
    pub extension: &'static str,
    reach: FormatReach,
    /// A short description.
    pub about: &'static str,
    /// Descriptions of the content that it leaves out of rows and of indicators; empty for none.
    left_out: [&'static str; 2],
    write: fn(&Export<'_>, &mut dyn Write) -> io::Result<Summary>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum FormatReach {
    Bytes,
    Rows,
    /// Rows for the techniques that they show.
    Techniques,
    Indicators,
    /// Reports, findings and indicators, without the rows of a pane.
    Page,
    /// Only indicators, to share with other programs.
    Shared,
}

macro_rules! formats {
    ($($name:literal, $extension:literal, $reach:ident, $write:path, $about:literal, $left_out:expr;)+) => {
        pub static FORMATS: &[Format] = &[$(Format {
            name: $name,
            extension: $extension,
            reach: FormatReach::$reach,
            about: $about,
            left_out: $left_out,
            write: $write,
        }),+];
    };
}

formats! {
    "raw", "json", Bytes, raw, "the bytes as received, the key redacted", ["notes and findings", ""];
    "json", "json", Rows, json::write, "JSON that any strict reader takes", ["findings", ""];
    "jsonl", "jsonl", Indicators, json::write_lines, "JSON lines, one a row", ["", ""];
    "csv", "csv", Indicators, csv::write, "a table, one line a value", ["", ""];
    "md", "md", Indicators, markdown::write, "Markdown, for people", ["passwords and live addresses", "live addresses"];
    "txt", "txt", Indicators, markdown::write_plain, "plain text, defanged, one line a row as it is copied, or an indicator",
        ["fields that no pane shows", "where each was seen, findings and notes"];
    "html", "html", Page, html::write, "one HTML page for a ticket or a mail",
        ["rows without a finding or an indicator, live addresses", "indicators past the first 500 of a kind, live addresses"];
    "stix", "stix.json", Shared, stix::write, "a STIX 2.1 bundle of indicators",
        ["rows without an indicator, devices and pipes", "strings from memory, devices and pipes"];
    "misp", "misp.json", Shared, misp::write, "a MISP event of indicators",
        ["rows without an indicator", "strings from memory"];
    "navigator", "navigator.json", Techniques, navigator::write, "an ATT&CK Navigator layer of techniques",
        ["rows that show no technique", ""];
}

/// The reports, the part of them to write, and the rules.
#[derive(Clone)]
pub struct Export<'a> {
    pub sources: &'a [ExportSource],
    pub what: Part,
    /// The rules that mark rows.
    pub rules: &'a Rules,
    pub context: &'a ExportContext,
    pub cancel: &'a Cancel,
}

impl<'a> Export<'a> {
    fn opened(&'a self) -> impl Iterator<Item = io::Result<OpenedReport<'a>>> {
        let open = move |(number, source)| OpenedReport::new(self, number, source);
        self.sources.iter().enumerate().map(open)
    }

    /// Returns how many reports the service has at least, if more than these.
    fn known_reports(&self) -> Option<u64> {
        Some(self.context.reports).filter(|known| *known > self.sources.len() as u64)
    }

    /// Returns the indicators of all reports, and the reports themselves.
    pub fn merged(&'a self) -> io::Result<(Vec<MergedIndicator>, Vec<Report>)> {
        let MergedReports { found, opened, .. } = MergedReports::of(self, self.opened().collect::<io::Result<_>>()?)?;
        Ok((found, opened.into_iter().map(|opened| opened.report).collect()))
    }

    /// Writes each report's part before the indicators, then all indicators, each once.
    fn each_indicator(
        &self,
        out: &mut dyn Write,
        mut write_report: impl FnMut(&OpenedReport<'_>, &mut dyn Write) -> io::Result<()>,
        mut write: impl FnMut(&MergedReports<'_>, &MergedIndicator, &mut dyn Write) -> io::Result<()>,
    ) -> io::Result<Summary> {
        let merged = MergedReports::of(self, self.opened().collect::<io::Result<_>>()?)?;
        let mut summary = Summary { rows: merged.found.len() as u64, ..Summary::default() };
        for opened in &merged.opened {
            write_report(opened, out)?;
            summary.add_report(&opened.report);
        }
        for found in &merged.found {
            self.cancel.check()?;
            write(&merged, found, out)?;
        }
        Ok(summary)
    }

    /// Opens the reports, and counts the rows that `write` has written of each.
    fn each_report(&'a self, mut write: impl FnMut(&OpenedReport<'a>) -> io::Result<u64>) -> io::Result<Summary> {
        let mut summary = Summary::default();
        for opened in self.opened() {
            let opened = opened?;
            summary.rows += write(&opened)?;
            summary.add_report(&opened.report);
        }
        Ok(summary)
    }
}

impl Format {
    pub fn named(name: &str) -> Option<&'static Self> {
        FORMATS.iter().find(|format| format.name == name)
    }

    /// Returns the format of a file name's longest extension; of several such, the last.
    pub fn of_file(name: &str) -> Option<&'static Self> {
        let fits = |format: &&Self| name.strip_suffix(format.extension).is_some_and(|rest| rest.ends_with('.'));
        FORMATS.iter().filter(fits).max_by_key(|format| format.extension.len())
    }

    pub fn can_write(&self, what: &Part) -> bool {
        match what {
            Part::All => true,
            Part::Difference(..) => self.reach == FormatReach::Techniques,
            Part::Findings(_) => self.reach >= FormatReach::Techniques,
            what if what.is_indicators() => self.reach >= FormatReach::Indicators,
            _ => self.reach >= FormatReach::Rows && self.reach != FormatReach::Page,
        }
    }

    /// Describes what it leaves out of a part; STIX and MISP write selected indicators in full.
    pub fn left_out(&self, what: &Part) -> &'static str {
        let [rows, indicators] = self.left_out;
        match what {
            what if what.is_choice() && self.is_of_indicators() => "",
            what if what.is_indicators() => indicators,
            _ => rows,
        }
    }

    /// Explains why the format cannot write a part that other formats can.
    pub fn refusal(&self) -> String {
        let takes = match self.reach {
            FormatReach::Bytes => "whole reports",
            FormatReach::Techniques => "whole reports, panes, findings and rows",
            FormatReach::Page => "whole reports, findings and indicators",
            _ => "whole reports, panes and rows",
        };
        format!("{} writes {takes} only", self.name)
    }

    /// Returns whether it writes only indicators, to share with other programs.
    pub fn is_of_indicators(&self) -> bool {
        self.reach == FormatReach::Shared
    }

    /// Returns whether it writes only what other programs share: techniques or indicators.
    pub fn is_to_share(&self) -> bool {
        matches!(self.reach, FormatReach::Techniques | FormatReach::Shared)
    }

    /// Returns whether it writes the bytes as received, of one report, under any file name.
    pub fn is_raw(&self) -> bool {
        self.reach == FormatReach::Bytes
    }

    /// Writes a job; an error of kind `InvalidData` means a damaged report.
    pub fn write(&self, job: &Export<'_>, out: &mut dyn Write) -> io::Result<Summary> {
        (self.write)(job, out)
    }
}

/// Writes the bytes as received, of one report only: several would run into each other.
fn raw(job: &Export<'_>, out: &mut dyn Write) -> io::Result<Summary> {
    let mut summary = Summary::default();
    for source in job.sources {
        for window in source.body.chunks(body::WINDOW) {
            job.cancel.check()?;
            out.write_all(window)?;
        }
        summary.add_report(&source.open(false)?);
    }
    Ok(summary)
}

impl ExportSource {
    /// Parses the report. Without JSON it is an error if alone, and has no rows among several.
    pub(crate) fn open(&self, is_alone: bool) -> io::Result<Report> {
        if self.body.len() > body::LARGEST {
            return Err(io::Error::other("the report is too large to parse; raw writes it as received"));
        }
        let report = Report::open(&self.body);
        if is_alone && !report.index.is_json {
            return Err(io::Error::other("it is not JSON; raw writes it as received"));
        }
        Ok(report)
    }
}

impl Summary {
    /// Describes the rows and lists that are missing in the export, if any are.
    pub fn missing_label(&self) -> Option<String> {
        let left_out = format!("Left out: {} that this format does not carry", count(self.left_out, "row"));
        let unread = format!("{} that could not be read", count(self.unread, "report"));
        let cut = format!("{} of exactly 300 or 500 rows{PERHAPS_CUT}", count(self.cut_lists, "list"));
        let remarks = [(self.left_out, left_out), (self.unread, unread), (self.cut_lists, cut)];
        let remarks: Vec<_> = remarks.into_iter().filter(|(n, _)| *n > 0).map(|(_, remark)| remark).collect();
        (!remarks.is_empty()).then(|| remarks.join("; "))
    }

    fn add_report(&mut self, report: &Report) {
        self.cut += u64::from(report.index.is_cut);
        self.unread += u64::from(report.is_unread());
        self.cut_lists += report.cut_lists(None).count() as u64;
    }
}

/// Returns a JSON literal of any bytes; those that are not Unicode are in their visible form.
fn literal(text: &Untrusted) -> String {
    text.json().unwrap_or_else(|| text.visible().json())
}

/// Returns a JSON literal of text that the user or this program gave.
fn own_literal(text: &str) -> String {
    literal(&Untrusted::from(text))
}

/// A member of a JSON object: its name, and its value as JSON if it has one.
type Member<'a> = (&'a str, Option<String>);

/// Returns an object of literals that are JSON already; members without a value are left out.
fn object<'a>(members: impl IntoIterator<Item = Member<'a>>) -> String {
    let members = members.into_iter().filter_map(|(name, value)| Some(format!("\"{name}\":{}", value?)));
    format!("{{{}}}", members.collect::<Vec<_>>().join(","))
}

/// Returns a list of literals that are JSON already.
fn list(values: impl IntoIterator<Item = String>) -> String {
    format!("[{}]", values.into_iter().collect::<Vec<_>>().join(","))
}
