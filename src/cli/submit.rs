//! `behaview submit`: uploads a file of this machine for a private scan.

use super::query::check_budget;
use super::watch::{Polls, max_cost, note, watch};
use super::*;
use crate::gateway::hash_file;
use crate::report::analysis::{submitted, upload_address};
use crate::request::{Password, ScanOption, ScanOptions, Submission, UploadAddress, UploadLimit};
use crate::runtime::prompt_hidden;

const MAX_PASSWORD_BYTES: u64 = 4096;

#[derive(Debug, Args)]
#[command(after_help = examples("submit"))]
pub(super) struct SubmitArgs {
    /// The file; up to 650 MB, unless the profile has another limit
    #[arg(value_parser = document::path())]
    file: PathBuf,
    /// The sandbox that runs it
    #[arg(long, value_name = "NAME", value_parser = value_of(ScanOption::Sandbox))]
    sandbox: Option<OptionValue>,
    /// Whether it has access to the internet; with it, its servers can see that it is run
    #[arg(long, value_name = "yes|no", value_parser = value_of(ScanOption::Internet))]
    internet: Option<OptionValue>,
    /// Retention of the file and its reports, in days: 1 to 28
    #[arg(long, value_name = "N", value_parser = value_of(ScanOption::Retention))]
    keep_days: Option<OptionValue>,
    /// The command line that it is run with
    #[arg(long, value_name = "WORDS", value_parser = value_of(ScanOption::CommandLine))]
    command_line: Option<OptionValue>,
    /// Where it is stored: US, CA, EU or GB
    #[arg(long, value_name = "REGION", value_parser = value_of(ScanOption::Region))]
    region: Option<OptionValue>,
    /// Whether the sandbox reads its encrypted connections
    #[arg(long, value_name = "yes|no", value_parser = value_of(ScanOption::InterceptTls))]
    intercept_tls: Option<OptionValue>,
    /// Language and country of the machine that runs it, such as EN_US
    #[arg(long, value_name = "LOCALE", value_parser = value_of(ScanOption::Locale))]
    locale: Option<OptionValue>,
    /// Length of an interactive run, in seconds: 60 to 1800
    #[arg(long, value_name = "N", value_parser = value_of(ScanOption::InteractionTimeout))]
    interaction_timeout: Option<OptionValue>,
    /// Whether no sandbox runs it: only its static properties are analysed
    #[arg(long, value_name = "yes|no", value_parser = value_of(ScanOption::DisableSandbox))]
    disable_sandbox: Option<OptionValue>,
    /// A file whose first line is the archive's password; - for standard input
    #[arg(long, value_name = "FILE", value_parser = document::path())]
    password_file: Option<PathBuf>,
    /// Read the archive's password at the terminal, without showing it
    #[arg(long, conflicts_with = "password_file")]
    ask_password: bool,
    /// Watch the scan until its reports are there; each poll costs one request, each page of the
    /// list one more
    #[arg(long)]
    watch: bool,
    #[command(flatten)]
    polls: Polls,
    #[command(flatten)]
    agreed: AgreedPrice,
}

/// An option of a scan, and its value as it is sent.
type OptionValue = (ScanOption, String);

fn value_of(option: ScanOption) -> impl Fn(&str) -> Result<OptionValue, String> + Clone + Send + Sync + 'static {
    move |typed| Ok((option, option.parse(typed)?))
}

impl SubmitArgs {
    pub(super) fn run(self, common: &Common) -> Result<()> {
        let setup = setup(common, self.agreed.spending)?;
        let (submission, limit) = self.submission(&setup)?;
        let file = &submission.file;
        let gateway = &setup.gateway;
        let scan = |to| Request::PrivateScan { submission: Arc::clone(&submission), to };
        let repeats = scan(None).warning();
        let repeats = repeats.map(|why| format!("{why} Before sending it again, {}.", upload_check_hint(&setup, file)));
        gateway.scanned_before(file)?.into_iter().for_each(warn);
        let address = (limit == UploadLimit::Large).then_some(Request::UploadAddress);
        let requests: Vec<_> = address.into_iter().chain([scan(None)]).collect();
        if self.agreed.spending.dry_run {
            let remark = self.watch.then(|| max_cost(self.polls.pace(&setup), 0));
            repeats.iter().for_each(warn);
            return print_dry_run(&setup, requests, true, remark);
        }
        self.agreed.check(repeats.as_deref())?;
        if limit == UploadLimit::Large {
            // An upload address is charged even if the upload would then exceed the budget.
            check_budget(&setup, &requests)?;
        }
        let response = runtime()?.block_on(async {
            let mut to = None;
            if limit == UploadLimit::Large {
                let address = upload_address(&fetch(&setup, &Request::UploadAddress, true).await?.body);
                let address = address.ok_or_else(|| FailureKind::Malformed.error("the response has no address"))?;
                to = Some(UploadAddress::new(address));
            }
            anyhow::Ok(fetch(&setup, &scan(to), true).await?)
        });
        if response.is_err() || !self.watch {
            print_cost(&setup)?;
        }
        let response = response.map_err(|error| with_upload_check(&setup, file, error))?;
        let scan = submitted(&response.body).ok_or_else(|| FailureKind::Malformed.error("the response has no scan"))?;
        let noted = gateway.store.record_file(&gateway.service, file, Some(&submission.name()), gateway.now());
        let noted = noted.map_err(anyhow::Error::from).and_then(|()| note(&setup, file, Some(Some(scan.clone()))));
        if self.watch {
            return watch(&setup, file.clone(), Some(scan), self.polls.pace(&setup)).and(noted);
        }
        print_json(&json!({
            "file": file.as_str(),
            "bytes": submission.size,
            "scan": scan.text().unicode(),
            "cost": cost(gateway)?,
        }))?;
        noted
    }

    fn submission(&self, setup: &Setup) -> Result<(Arc<Submission>, UploadLimit)> {
        let profile = setup.gateway.client.profile();
        // Before the file is read, because typing a password takes time.
        let password = self.password()?;
        let unsendable = |why: &dyn std::fmt::Display| {
            FailureKind::Usage.error(format!("{} cannot be sent: {why}", crate::text::path(&self.file)))
        };
        let (file, size) = hash_file(&self.file, profile.largest_upload()).map_err(|error| unsendable(&error))?;
        let limit = profile.fitting(size).ok_or_else(|| unsendable(&"it is too large"))?;
        let options = self.options().map_err(|why| FailureKind::Usage.error(why))?.with_password(password);
        let submission = Arc::new(Submission { path: self.file.clone(), file, size, options, sent: None });
        let sent =
            setup.gateway.unanswered(&Request::PrivateScan { submission: Arc::clone(&submission), to: None }, None)?;
        Ok((Arc::new(Submission { sent, ..Arc::unwrap_or_clone(submission) }), limit))
    }

    fn options(&self) -> Result<ScanOptions, String> {
        let mut options = ScanOptions::default();
        let machine = [&self.sandbox, &self.internet, &self.command_line, &self.intercept_tls, &self.locale];
        let others = [&self.keep_days, &self.region, &self.interaction_timeout, &self.disable_sandbox];
        let given = machine.into_iter().chain(others).flatten();
        given.into_iter().try_for_each(|(option, value)| options.set(*option, value))?;
        Ok(options)
    }

    /// Reads the password from a file or the terminal; a dry run needs none.
    fn password(&self) -> Result<Option<Password>> {
        if self.agreed.spending.dry_run {
            return Ok(None);
        }
        let text = match &self.password_file {
            Some(path) => {
                let text = document::read_text(path, MAX_PASSWORD_BYTES)?;
                text.lines().next().unwrap_or_default().to_owned()
            }
            None if self.ask_password => prompt_hidden("Password of the file: ").map_err(password_error)?,
            None => return Ok(None),
        };
        Ok(Some(Password::new(text).ok_or_else(|| FailureKind::Usage.error("the password is empty"))?))
    }
}

/// Explains after a lost response how to check whether the file has arrived.
fn with_upload_check(setup: &Setup, file: &Sha256, error: anyhow::Error) -> anyhow::Error {
    if error.downcast_ref::<GatewayError>().is_some_and(GatewayError::may_have_arrived) {
        // Informs later runs of the possible scan; a failure to record it matters less.
        let _ = note(setup, file, Some(None));
        warn(format!("the file may have arrived. Before sending it again, {}", upload_check_hint(setup, file)));
    }
    error
}

/// Returns how to check, for less than another upload, whether the file has arrived.
fn upload_check_hint(setup: &Setup, file: &Sha256) -> String {
    let poll = Request::PrivateAnalyses { file: file.clone() }.quote(&setup.entitled);
    format!("behaview watch --max-polls 1 {file} finds its scan: {}", poll.price().short())
}

fn password_error(error: std::io::Error) -> anyhow::Error {
    match error.kind() {
        std::io::ErrorKind::NotConnected => {
            FailureKind::Usage.error("no terminal for the password; --password-file reads it from a file").into()
        }
        // Ctrl-c as a key of the raw terminal.
        std::io::ErrorKind::Interrupted => exit::SignalExit(2).into(),
        _ => anyhow::Error::from(error).context("the password could not be read"),
    }
}
