//! Commands that print or save a response: `behaview show`, reports as received or flat; `api`,
//! `download` and `delete`, which send one request.

use super::document::shown;
use super::export::write_file;
use super::output::{print_report, without_mark};
use super::*;
use crate::app::{AD_HOC_REQUESTS, AdHocRequest};
use crate::export::file;
use crate::report::json::{Kind, Raw};
use crate::request::Artifact;
use std::io::{self, IsTerminal};

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
        let mut printer = Printer { format: self.format, printed: 0 };
        let shown = each(common, reports, |report| match (report, &prepared) {
            (Subject::Saved(document), _) => {
                document.warn_if_other();
                document.reports.iter().try_for_each(|(_, here)| printer.print(&here.body))?;
                document.outcome()
            }
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
    printed: usize,
}

impl Printer {
    fn print(&mut self, body: &Body) -> Result<()> {
        Report::open(body).cut_lists_label(None).iter().for_each(warn);
        match self.format {
            ShowFormat::Json => print_report(body),
            ShowFormat::Vt => self.print_flat(body),
        }
    }

    fn print_flat(&mut self, body: &Body) -> Result<()> {
        let object = flat(&without_mark(body))?;
        let before: &[u8] = if self.printed == 0 { b"[\n" } else { b",\n" };
        self.printed += 1;
        let mut out = Output::new(true);
        out.print(before)?;
        out.print(&object)
    }

    fn end(&self) -> Result<()> {
        match (self.format, self.printed) {
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

const MAX_INPUT_BYTES: u64 = 1 << 20;

#[derive(Debug, Args)]
#[command(after_help = names())]
pub(super) struct ApiArgs {
    /// Name of the operation
    #[arg(value_parser = PossibleValuesParser::new(AD_HOC_REQUESTS.iter().map(|row| row.name)), hide_possible_values = true)]
    name: String,
    /// Its input: hashes, an identifier, a path; - for standard input
    input: Vec<String>,
    /// Send the request even if the response is stored
    #[arg(long)]
    refresh: bool,
    #[command(flatten)]
    agreed: AgreedPrice,
}

fn names() -> String {
    let rows = AD_HOC_REQUESTS.iter().map(|row| {
        format!("  {:<20} {}: {}\n", row.name, row.help, if row.input.is_empty() { "nothing" } else { row.input })
    });
    format!(
        "A file or pipe gets the response as received, with the key redacted.\n\nOperations and their input:\n{}\nExamples:\n  behaview api v3-quotas\n  behaview api v2-file-report --dry-run d41d8cd98f00b204e9800998ecf8427e",
        rows.collect::<String>()
    )
}

impl ApiArgs {
    pub(super) fn run(self, common: &Common) -> Result<()> {
        let Some(row) = AdHocRequest::named(&self.name) else { fail!(Usage, "unknown operation") };
        if row.input.is_empty() && !self.input.is_empty() {
            fail!(Usage, "nothing was sent. {} takes no input: remove the arguments after it", row.name);
        }
        let setup = setup(common, self.agreed.spending)?;
        let request = (row.make)(&self.typed()?, setup.gateway.now());
        let request = request.map_err(|why| FailureKind::Usage.error(format!("{}: {why}", row.name)))?;
        setup.gateway.published_before(&request)?.into_iter().for_each(warn);
        if self.agreed.spending.dry_run {
            return print_dry_run(&setup, vec![request], self.refresh, None);
        }
        self.agreed.check(request.warning().as_deref())?;
        let response = send(&setup, &request, self.refresh)?;
        if request == Request::User {
            // The user object contains the key, so only the privileges are printed.
            let found = Entitlements::parse(&response.body, response.received);
            let found = found.map_err(|why| FailureKind::Malformed.error(why))?;
            return print_json(&json!({
                "premium_api": found.premium_api.is_granted(),
                "premium_intelligence": found.premium_intelligence.is_granted(),
            }));
        }
        print_body(&response.body)?;
        if response.is_partial {
            fail!(Partial, "some hashes have no response");
        }
        Ok(())
    }

    fn typed(&self) -> Result<String> {
        if self.input != ["-"] {
            return Ok(self.input.join(" "));
        }
        Ok(document::read_text("-".as_ref(), MAX_INPUT_BYTES)?.trim().to_owned())
    }
}

#[derive(Debug, Args)]
#[command(after_help = examples("delete"))]
pub(super) struct DeleteArgs {
    /// SHA-256 of the private file
    sha256: String,
    /// Delete the file alone: its reports and scans stay at the service until they expire
    #[arg(long)]
    file_only: bool,
    #[command(flatten)]
    agreed: AgreedPrice,
}

impl DeleteArgs {
    pub(super) fn run(self, common: &Common) -> Result<()> {
        let file = parse_sha256(&self.sha256)?;
        let request = Request::PrivateDelete { file, only_from_storage: self.file_only };
        let setup = setup(common, self.agreed.spending)?;
        if self.agreed.spending.dry_run {
            return print_dry_run(&setup, vec![request], true, None);
        }
        self.agreed.check(request.warning().as_deref())?;
        send(&setup, &request, true)?;
        let deleted: &[_] = if self.file_only { &["file"] } else { &["file", "reports"] };
        print_json(&json!({ "file": self.sha256.trim().to_ascii_lowercase(), "deleted": deleted }))
    }
}

#[derive(Debug, Args)]
#[command(after_help = examples("download"))]
pub(super) struct DownloadArgs {
    /// Sandbox identifier as a list gives it
    identifier: String,
    /// Kind of artifact; the report names those that exist
    #[arg(value_name = "ARTIFACT", value_parser = PossibleValuesParser::new(Artifact::ALL.map(Artifact::name)))]
    artifact: String,
    /// New file, readable by its owner only; - for standard output; without it, a safe name in this
    /// folder
    #[arg(long, short, value_name = "FILE", value_parser = document::path())]
    output: Option<PathBuf>,
    /// Overwrite an existing file
    #[arg(long)]
    force: bool,
    /// Send the request even if the artifact is stored
    #[arg(long)]
    refresh: bool,
    /// Send the request although the stored report denies the artifact
    #[arg(long)]
    even_if_missing: bool,
    #[command(flatten)]
    spending: Spending,
}

impl DownloadArgs {
    pub(super) fn run(self, common: &Common) -> Result<()> {
        let identifier = identifier(&self.identifier, common)?;
        let artifact = Artifact::named(&self.artifact).ok_or_else(|| FailureKind::Usage.error("unknown artifact"))?;
        let name = || PathBuf::from(file::name(Some(&identifier), None, artifact.extension()));
        let path = self.output.clone().unwrap_or_else(name);
        let is_printed = path == Path::new("-");
        // Checked before anything is paid.
        if is_printed && io::stdout().is_terminal() {
            fail!(Usage, "an artifact is not text for a terminal: name a file, or a pipe");
        }
        if !is_printed && !self.spending.dry_run {
            file::check(&path, self.force)?;
        }
        let setup = setup(common, self.spending)?;
        let request = Request::Artifact { identifier, artifact };
        let missing = self.missing(&setup, &request)?;
        if self.spending.dry_run {
            return print_dry_run(&setup, vec![request], self.refresh, missing.map(|none| (none, Units::NOTHING)));
        }
        if let Some(none) = missing {
            fail!(NotFound, "{none}");
        }
        let got = send(&setup, &request, self.refresh)?;
        if is_printed {
            return Output::new(false).print(&got.body);
        }
        write_file(&path, self.force, |out| out.write_all(&got.body))
    }

    /// Explains why no call is made: the stored report states that the artifact does not exist.
    fn missing(&self, setup: &Setup, request: &Request) -> Result<Option<String>> {
        let Request::Artifact { identifier, artifact } = request else { return Ok(None) };
        let gateway = &setup.gateway;
        if self.even_if_missing || !self.refresh && gateway.stored(request)?.is_some() {
            return Ok(None);
        }
        let stored = gateway.store.report(&gateway.service, identifier)?;
        let report = stored.and_then(|stored| Some(Report::open(&stored.body().ok()?)));
        let what = artifact.label();
        let attribute = artifact.attribute();
        Ok(report
            .filter(|report| artifact.is_beside(report) == Some(false))
            .map(|_| format!("the stored report denies a {what} ({attribute}: false); --even-if-missing requests it")))
    }
}
