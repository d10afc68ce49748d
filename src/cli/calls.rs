//! Commands that send one request: `behaview api`, `behaview delete` and `behaview download`.

use super::export::write_file;
use super::show::identifier;
use super::*;
use crate::app::{AD_HOC_REQUESTS, AdHocRequest};
use crate::export::file;
use crate::request::Artifact;
use std::io::{self, IsTerminal};

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
