//! `behaview show`: prints reports as received, or flat.

use super::document::Document;
use super::inputs::shown;
use super::output::{print_report, without_mark};
use super::*;
use crate::report::json::{Kind, Raw};
use std::cell::Cell;

#[derive(Debug, Args)]
#[command(after_help = examples("show"))]
pub(super) struct ShowArgs {
    /// Sandbox identifiers as a list gives them, or saved reports; - for standard input, one
    /// identifier a line or a report
    #[arg(required = true, value_name = "IDENTIFIER")]
    identifiers: Vec<OsString>,
    /// Send the request even if the report is stored
    #[arg(long)]
    refresh: bool,
    /// Format of the output
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = ShowFormat::Json, conflicts_with = "json")]
    format: ShowFormat,
    #[command(flatten)]
    spending: Spending,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ShowFormat {
    /// Each report as it was received, the key redacted, in the envelope of the service; of a
    /// document unchanged
    Json,
    /// One array of flat objects with `_id` and `_type`, as the official command line prints with
    /// --format json; into a file or pipe each value as it was received, the key redacted; of a
    /// document unchanged
    Vt,
}

impl ShowArgs {
    pub(super) fn run(self, common: &Common) -> Result<()> {
        let reports = read_subjects(&self.identifiers, |text| identifier(text, common), listed)?;
        let requested = || reports.iter().filter_map(Subject::service).cloned();
        let prepared = requested().next().map(|_| setup(common, self.spending)).transpose()?;
        if let Some(setup) = prepared.as_ref().filter(|_| self.spending.dry_run) {
            let requests = requested().map(|identifier| Request::Behaviour { identifier }).collect();
            return print_dry_run(setup, requests, self.refresh, None);
        }
        let printer = Printer { format: self.format, printed: Cell::new(0) };
        let shown = each(common, reports, |report| match (report, &prepared) {
            (Subject::Saved(document), _) => printer.print_saved(&document),
            (Subject::Service(_), None) => Ok(()),
            (Subject::Service(identifier), Some(setup)) => {
                let store = &setup.gateway.store;
                let service = &setup.gateway.service;
                let stored = if self.refresh { None } else { store.report(service, &identifier)? };
                let got = fetch(setup, &Request::Behaviour { identifier }, self.refresh)?;
                if let Some((imported, received)) = stored.and_then(|stored| Some((stored.imported?, stored.received)))
                {
                    hint(format!("imported on {} {}", crate::text::moment(received), imported.label()));
                }
                printer.print(&got.body)
            }
        });
        let ended = printer.end();
        prepared.as_ref().map_or(Ok(()), print_cost)?;
        ended.and(shown)
    }
}

/// Parses a typed identifier. Rejects what is neither stored nor perhaps the service's, such as
/// half of an unquoted one with a blank: the call would be charged.
pub(super) fn identifier(text: &str, common: &Common) -> Result<Identifier> {
    let identifier = listed(text)?;
    if identifier.has_documented_format() || stored(&identifier, common)?.is_some() {
        return Ok(identifier);
    }
    let what = if Path::new(text).is_dir() { "a folder, and " } else { "" };
    fail!(
        Usage,
        "{} is {what}not a sandbox identifier (FILE_SANDBOX-TIME): nothing was sent. Quote one with a blank; where the service \
         gives others, pipe them: echo IDENTIFIER | behaview show -",
        shown(text)
    )
}

fn stored(identifier: &Identifier, common: &Common) -> Result<Option<StoredReport>> {
    let (store, service) = store_and_service(common)?;
    Ok(store.report(&service, identifier)?)
}

/// Returns a report for the app, which opens only stored ones; `None` if it may be something else.
pub(super) fn stored_only(identifier: &Identifier, common: &Common) -> Result<Option<StoredReport>> {
    let stored = stored(identifier, common)?;
    if stored.is_none() && identifier.has_documented_format() {
        let report = Request::Behaviour { identifier: identifier.clone() }.label();
        fail!(NotFound, "{report} is not stored: nothing was sent; behaview show fetches it, for 1 request");
    }
    Ok(stored)
}

/// Parses an identifier as listed, whatever its shape.
pub(super) fn listed(text: &str) -> Result<Identifier> {
    if Sha256::parse(text).is_some() {
        fail!(Usage, "that is a file's hash; behaview list prints the identifiers of its reports");
    }
    if text.len() > Identifier::LONGEST {
        fail!(Usage, "that is longer than any identifier; behaview list prints those of a file");
    }
    Identifier::from_input(text)
        .ok_or_else(|| FailureKind::Usage.error("that is not a sandbox identifier; behaview list prints them").into())
}

struct Printer {
    format: ShowFormat,
    printed: Cell<usize>,
}

impl Printer {
    fn print(&self, body: &Body) -> Result<()> {
        Report::open(body).cut_lists_label(None).iter().for_each(warn);
        match self.format {
            ShowFormat::Json => print_report(body),
            ShowFormat::Vt => self.print_flat(body),
        }
    }

    fn print_flat(&self, body: &Body) -> Result<()> {
        let object = flat(&without_mark(body))?;
        let before: &[u8] = if self.printed.replace(self.printed.get() + 1) == 0 { b"[\n" } else { b",\n" };
        let mut out = Output::new(true);
        out.print(before)?;
        out.print(&object)
    }

    fn print_saved(&self, document: &Document) -> Result<()> {
        document.warn_if_other();
        document.reports.iter().try_for_each(|(_, here)| self.print(&here.body))?;
        document.outcome()
    }

    fn end(&self) -> Result<()> {
        match (self.format, self.printed.get()) {
            (ShowFormat::Vt, 1..) => Output::new(true).print(b"\n]\n"),
            _ => Ok(()),
        }
    }
}

/// Flattens a report: attributes beside `_id` and `_type`, and related identifiers, as received.
fn flat(bytes: &[u8]) -> Result<Vec<u8>> {
    let whole = Raw::new(bytes);
    let report = whole.member("data").filter(|data| data.kind() == Kind::Object).unwrap_or(whole);
    if report.kind() != Kind::Object {
        fail!(Malformed, "that is not a report");
    }
    if report.member("_id").is_some() {
        // The report is flat already.
        return Ok(report.bytes().to_vec());
    }
    let mut members: Vec<Vec<u8>> = Vec::new();
    let mut add = |name: &[u8], value: &[u8]| members.push([b"\"", name, b"\":", value].concat());
    for (name, member) in [("_id", "id"), ("_type", "type")] {
        add(name.as_bytes(), report.member(member).map_or(b"null", Raw::bytes));
    }
    for (name, related) in report.member("relationships").iter().flat_map(|all| all.members()) {
        let Ok(name) = serde_json::to_string(&String::from_utf8_lossy(name.as_bytes())) else { continue };
        let data = related.member("data").unwrap_or(related);
        let identifier = |one: Raw<'_>| one.member("id").map_or(b"null".to_vec(), |id| id.bytes().to_vec());
        let value = match data.kind() {
            Kind::Array => {
                [&b"["[..], &data.elements().map(identifier).collect::<Vec<_>>().join(&b","[..]), b"]"].concat()
            }
            _ => identifier(data),
        };
        add(name.strip_prefix('"').and_then(|name| name.strip_suffix('"')).unwrap_or_default().as_bytes(), &value);
    }
    if let Some(attributes) = report.member("attributes").filter(|found| found.kind() == Kind::Object) {
        let inside = attributes.bytes().strip_prefix(b"{").and_then(|rest| rest.strip_suffix(b"}"));
        let inside = inside.ok_or_else(|| FailureKind::Malformed.error("the report stops in the middle"))?.trim_ascii();
        members.extend((!inside.is_empty()).then(|| inside.to_vec()));
    }
    Ok([&b"{"[..], &members.join(&b","[..]), b"}"].concat())
}
