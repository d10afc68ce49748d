//! Commands that send one request: `behaview call`, `behaview delete` and `behaview fetch`.

use super::export::write_file;
use super::output::{Output, print_body, print_json};
use super::query::{DryRunRemark, print_dry_run, send};
use super::setup::say;
use super::show::identifier;
use super::{Agreed, Common, FailureKind, Setup, Spending, document, parse_sha256, setup_to_spend};
use crate::app::{ASKS, Ask};
use crate::export::file;
use crate::gateway::Gateway;
use crate::gateway::submission::look_at;
use crate::quota::Privileges;
use crate::report::Report;
use crate::request::{Artefact, Request, UploadLimit};
use crate::text::moment;
use clap::Args;
use clap::builder::PossibleValuesParser;
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};

/// Maximum size of the input, in bytes.
const LONGEST_INPUT: u64 = 1 << 20;

#[derive(Debug, Args)]
#[command(after_help = names())]
pub(super) struct CallArgs {
    /// Name of the question
    name: String,
    /// What it asks about: hashes, an identifier, a path; - for standard input
    input: Vec<String>,
    /// Ask the service even if the answer is held
    #[arg(long)]
    refresh: bool,
    #[command(flatten)]
    agreed: Agreed,
}

/// The list of queries for the help.
fn names() -> String {
    let rows = ASKS.iter().map(|ask| {
        format!("  {:<20} {}: {}\n", ask.name, ask.help, if ask.input.is_empty() { "nothing" } else { ask.input })
    });
    format!(
        "Into a file or pipe goes the answer as it was received, the key redacted.\n\nQuestions, with what each is asked about:\n{}\nExamples:\n  behaview call v3-quotas\n  behaview call v2-file-report --dry-run d41d8cd98f00b204e9800998ecf8427e",
        rows.collect::<String>()
    )
}

impl CallArgs {
    pub(super) fn run(self, common: &Common) -> anyhow::Result<()> {
        let known = || ASKS.iter().map(|ask| ask.name).collect::<Vec<_>>().join(", ");
        let ask = Ask::named(&self.name)
            .ok_or_else(|| FailureKind::Usage.error(format!("there is no such question; there are {}", known())))?;
        if ask.input.is_empty() && !self.input.is_empty() {
            fail!(Usage, "nothing was sent. {} is asked about nothing: leave out what stands behind it", ask.name);
        }
        let setup = setup_to_spend(common, self.agreed.spending)?;
        let request = (ask.make)(&self.typed()?, setup.gateway.now());
        let request = request.map_err(|why| FailureKind::Usage.error(format!("{}: {why}", ask.name)))?;
        let request = looked_at(&setup, request);
        if let Some(when) = request.publishes().map(|_| setup.gateway.unanswered(&request)).transpose()?.flatten() {
            let when = moment(when);
            say(format!(
                "the same was sent on {when} already: it may have arrived, and been charged. This sends it again."
            ));
        }
        if self.agreed.spending.dry_run {
            return print_dry_run(&setup, vec![request], self.refresh, None, self.agreed.json);
        }
        self.agreed.check(&request)?;
        let answer = send(&setup, &request, self.refresh)?;
        if request == Request::User {
            // The user object contains the key, so only the privileges are printed.
            let user = serde_json::from_slice(&answer.body);
            let user = user.map_err(|_| FailureKind::BadAnswer.error("the answer is no user object"))?;
            let found = Privileges::of_user(&user, answer.received);
            return print_json(&serde_json::json!({
                "premium_api": found.premium_api,
                "premium_intelligence": found.premium_intelligence,
            }));
        }
        print_body(&answer.body)
    }

    /// The words after the name.
    fn typed(&self) -> anyhow::Result<String> {
        if self.input != ["-"] {
            return Ok(self.input.join(" "));
        }
        let text = document::read_bounded("-".as_ref(), LONGEST_INPUT)?;
        let text = String::from_utf8(text).map_err(|_| FailureKind::Usage.error("standard input is not UTF-8"))?;
        Ok(text.trim().to_owned())
    }
}

/// Adds a file's current hash and size to an upload, to find out whether it was sent before. The
/// gateway reports why a file cannot be sent.
fn looked_at(setup: &Setup, request: Request) -> Request {
    let Request::V2Scan { path, file: None } = request else { return request };
    let file = look_at(&path, setup.gateway.client().profile().largest(UploadLimit::Direct), &|| true).ok();
    Request::V2Scan { path, file }
}

const EXAMPLES: &str = "\
Examples:
  file=57874b32c2596f25db81f780cb7ae5bd2277ff9ca0176b87fecf2352ec56938c
  behaview delete --dry-run $file
  behaview delete --yes --file-only $file

What is held on this machine stays; behaview held deletes that.";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct DeleteArgs {
    /// SHA-256 of the private file
    sha256: String,
    /// Delete the file alone: its reports and scans stay at the service until they expire
    #[arg(long)]
    file_only: bool,
    #[command(flatten)]
    agreed: Agreed,
}

impl DeleteArgs {
    pub(super) fn run(self, common: &Common) -> anyhow::Result<()> {
        let (file, only_from_storage) = (parse_sha256(&self.sha256)?, self.file_only);
        let request = Request::PrivateDelete { file, only_from_storage };
        let setup = setup_to_spend(common, self.agreed.spending)?;
        if self.agreed.spending.dry_run {
            return print_dry_run(&setup, vec![request], true, None, self.agreed.json);
        }
        self.agreed.check(&request)?;
        send(&setup, &request, true)?;
        let deleted = if only_from_storage { "file" } else { "file and reports" };
        print_json(&serde_json::json!({ "file": self.sha256.trim().to_ascii_lowercase(), "deleted": deleted }))
    }
}

#[derive(Debug, Args)]
#[command(
    after_help = "A fetch that is cut off is lost, and may be charged: fetching again costs a request, and begins anew."
)]
pub(super) struct FetchArgs {
    /// Sandbox identifier as a list gives it
    identifier: String,
    /// Which artefact; the report says which of them exist
    #[arg(value_name = "ARTEFACT", value_parser = PossibleValuesParser::new(Artefact::ALL.map(Artefact::name)))]
    artefact: String,
    /// The file that is made, which its owner alone can read; - for standard output; without it, a safe name in this folder
    #[arg(long, short, value_name = "FILE", value_parser = document::path())]
    output: Option<PathBuf>,
    /// Write over the file if it is there
    #[arg(long)]
    force: bool,
    /// Ask the service even if the artefact is held
    #[arg(long)]
    refresh: bool,
    /// Ask the service though the report that is held says that there is none
    #[arg(long)]
    anyway: bool,
    /// Print JSON where a dry run says what it would cost
    #[arg(long, requires = "dry_run")]
    json: bool,
    #[command(flatten)]
    spending: Spending,
}

impl FetchArgs {
    pub(super) fn run(self, common: &Common) -> anyhow::Result<()> {
        let identifier = identifier(&self.identifier, common)?;
        let artefact =
            Artefact::named(&self.artefact).ok_or_else(|| FailureKind::Usage.error("there is no such artefact"))?;
        let name = || PathBuf::from(file::name(Some(&identifier), None, artefact.extension()));
        let path = self.output.clone().unwrap_or_else(name);
        let is_printed = path == Path::new("-");
        let request = Request::Artefact { identifier, artefact };
        if self.spending.dry_run {
            let setup = setup_to_spend(common, self.spending)?;
            let none = self.none_beside(&setup.gateway, &request)?;
            return print_dry_run(&setup, vec![request], self.refresh, none.map(DryRunRemark::only), self.json);
        }
        // Checked before anything is paid.
        if is_printed && io::stdout().is_terminal() {
            fail!(Usage, "that is no text for a terminal: name a file, or a pipe");
        }
        if !is_printed {
            file::check(&path, self.force)?;
        }
        let setup = setup_to_spend(common, self.spending)?;
        if let Some(none) = self.none_beside(&setup.gateway, &request)? {
            fail!(NotFound, "{none}");
        }
        let got = send(&setup, &request, self.refresh)?;
        if is_printed {
            return Output::new(false).print(&got.body);
        }
        write_file(&path, self.force, |out| out.write_all(&got.body))
    }

    /// Why no call is made: the stored report states that the artefact does not exist, and none is
    /// stored.
    fn none_beside(&self, gateway: &Gateway, request: &Request) -> anyhow::Result<Option<String>> {
        let Request::Artefact { identifier, artefact } = request else { return Ok(None) };
        let is_held = !self.refresh && gateway.held(request)?.is_some();
        let report = gateway.store().report(gateway.service(), identifier)?.filter(|_| !self.anyway && !is_held);
        let report = report.and_then(|stored| Some(Report::open(&stored.body().ok()?)));
        let (what, attribute) = (artefact.words(), artefact.attribute());
        Ok(report.filter(|report| artefact.is_beside(report) == Some(false)).map(|_| {
            format!(
                "the report that is held says that there is no {what} ({attribute}: false); --anyway asks all the same"
            )
        }))
    }
}
