//! `behaview submit` and `behaview watch`: uploads a file of this machine for a private scan, and
//! polls a scan until its reports are listed.

use super::*;
use crate::app::scan::{PollPace, ScanWatch};
use crate::gateway::hash_file;
use crate::quota::Unit;
use crate::report::analysis::{SandboxRun, submitted, upload_address};
use crate::report::page::Page;
use crate::report::{Analysis, PendingScan};
use crate::request::{Password, ScanOption, ScanOptions, Submission, UploadAddress, UploadLimit};
use crate::runtime::prompt_hidden;
use std::collections::BTreeSet;
use std::time::{Duration, Instant};

#[derive(Debug, Args)]
#[command(after_help = examples("watch"))]
pub(super) struct WatchArgs {
    /// SHA-256 of the private file
    sha256: String,
    /// Identifier of the scan; without it, the one that was begun from here, else the last one of
    /// the file
    #[arg(long, value_name = "ID")]
    scan: Option<String>,
    #[command(flatten)]
    polls: Polls,
    #[command(flatten)]
    agreed: AgreedPrice,
}

// The interval and number of polls.
#[derive(Debug, Clone, Copy, Args)]
struct Polls {
    /// Seconds between two polls; else from the config
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u32).range(1..))]
    interval: Option<u32>,
    /// Maximum number of calls; else from the config
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    max_polls: Option<u32>,
}

impl Polls {
    fn pace(self, setup: &Setup) -> PollPace {
        let interval = self.interval.map_or(setup.pace.interval, |seconds| SignedDuration::from_secs(seconds.into()));
        PollPace { interval, most: self.max_polls.map_or(setup.pace.most, u64::from) }
    }
}

impl WatchArgs {
    pub(super) fn run(self, common: &Common) -> Result<()> {
        let file = parse_sha256(&self.sha256)?;
        let name = |text: String| {
            Identifier::new(Untrusted::from(text)).ok_or_else(|| FailureKind::Usage.error("not a scan's identifier"))
        };
        let typed = self.scan.map(name).transpose()?;
        let setup = setup(common, self.agreed.spending)?;
        let gateway = &setup.gateway;
        let is_typed = typed.is_some();
        // The scan that this machine started saves the call that would find it.
        let pending = gateway.store.pending_scan(&gateway.service, &file)?;
        let pending = pending.filter(|scan| scan.is_pending(gateway.now())).and_then(|scan| scan.identifier);
        let scan = typed.or(pending);
        let pace = self.polls.pace(&setup);
        if self.agreed.spending.dry_run {
            let request = match scan {
                Some(identifier) => Request::PrivateAnalysis { identifier },
                None => Request::PrivateAnalyses { file },
            };
            return print_dry_run(&setup, vec![request], true, Some(max_cost(pace, 1)));
        }
        let is_done = scan.is_none() && !gateway.store.reports(&gateway.service, &file)?.is_empty();
        self.agreed.check(is_done.then(|| done_already(pace)).as_deref())?;
        // A typed identifier may be misspelt: records it only once the service confirms it.
        if !is_typed {
            note(&setup, &file, Some(scan.clone()))?;
        }
        watch(&setup, file, scan, pace)
    }
}

/// Explains why a scan that is probably done is not watched without `--yes`.
fn done_already(pace: PollPace) -> String {
    let price = Units { min: 1, max: Some(pace.most) }.label(Unit::Request);
    format!("Reports of this file are stored, and no scan of it is pending; watching it costs {price}.")
}

/// Records for later runs whether the scan of a file is still pending.
fn note(setup: &Setup, file: &Sha256, scan: Option<Option<Identifier>>) -> Result<()> {
    let scan = scan.map(|identifier| PendingScan { identifier, since: setup.gateway.now() });
    Ok(setup.gateway.store.record_scan(&setup.gateway.service, file, scan.as_ref())?)
}

/// Returns the maximum cost of watching, in addition to the `named` calls of a dry run.
fn max_cost(pace: PollPace, named: u64) -> OpenCost {
    let calls = count(pace.most, "call");
    let seconds = pace.interval.as_secs();
    let remark = format!(
        "Watching makes at most {calls}, each at the price of a poll: one every {seconds} s, and once a sandbox has reported one for \
         each page of the list."
    );
    (remark, Units { min: 1_u64.saturating_sub(named), max: Some(pace.most.saturating_sub(named)) })
}

fn watch(setup: &Setup, file: Sha256, scan: Option<Identifier>, pace: PollPace) -> Result<()> {
    let mut watched = ScanWatch::new(file.clone(), scan, pace, SignedDuration::ZERO);
    let mut reports = BTreeSet::new();
    let result = poll_to_the_end(setup, &mut watched, &mut reports);
    print_cost(setup)?;
    let seen = watched.seen.as_ref();
    let is_unlisted = seen.is_some_and(Analysis::is_done) && matches!(result, Ok(false));
    let sandbox = |run: &SandboxRun| {
        json!({
            "sandbox": run.sandbox().unicode(),
            "status": run.progress.label(),
            "percent": run.percent,
            "message": run.message.as_ref().map(Untrusted::unicode),
        })
    };
    print_json(&json!({
        "file": file.to_string(),
        "scan": seen.map(|seen| seen.identifier.text().unicode()),
        "began_at": seen.and_then(|seen| seen.began),
        "status": seen.map(|seen| if is_unlisted { "listing".to_owned() } else { seen.progress.label() }),
        "sandboxes": seen.iter().flat_map(|seen| seen.sandboxes.iter().map(sandbox)).collect::<Vec<_>>(),
        "reports": reports.iter().map(|identifier| identifier.text().unicode()).collect::<Vec<_>>(),
        "calls_made": watched.made,
        "cost": cost(&setup.gateway)?,
        "done": matches!(result, Ok(true)),
    }))?;
    if result? {
        note(setup, &file, None)?;
        if reports.is_empty() {
            fail!(NotFound, "the scan is done, and no report of it is listed; behaview list --refresh tries again");
        }
        return Ok(());
    }
    let why = match seen.map(|seen| seen.began) {
        None => "the service knows of no scan of this file and lists no report of it".to_owned(),
        Some(_) if is_unlisted => "the scan is done, its list is incomplete".to_owned(),
        Some(Some(began)) => format!("the scan that began on {} is not done", crate::text::moment(began)),
        Some(None) => "the scan is not done".to_owned(),
    };
    fail!(Partial, "{why}, and its polls are used up: behaview watch {file} continues, for as many calls again")
}

fn poll_to_the_end(setup: &Setup, watched: &mut ScanWatch, reports: &mut BTreeSet<Identifier>) -> Result<bool> {
    let listing = setup.gateway.client.profile().listing;
    let began = Instant::now();
    let mut next_page = None;
    let passed = || SignedDuration::try_from(began.elapsed()).unwrap_or(SignedDuration::MAX);
    while watched.left() > 0 {
        let request = watched.request(listing, next_page.take());
        wait(watched, &request.clone().quote(&setup.entitled).price().short(), passed);
        let asked_at = passed();
        let response = fetch(setup, &request, true);
        match &response {
            // Another program has the same request in flight.
            Err(GatewayError::InFlight) => {
                watched.defer(asked_at);
                next_page = Some(request).filter(|request| matches!(request, Request::Behaviours { .. }));
                continue;
            }
            Err(error) if error.is_unsent() => {}
            _ => watched.count(asked_at),
        }
        let body = response?.body;
        let now = passed();
        let Request::Behaviours { file, listing, .. } = request else {
            let seen = Analysis::of(&body);
            if seen.iter().filter_map(|seen| seen.file.as_ref()).any(|file| *file != watched.file) {
                fail!(Malformed, "the response is about the scan of another file");
            }
            watched.on_poll(seen, now);
            if let Some(seen) = &watched.seen {
                note(setup, &watched.file, Some(Some(seen.identifier.clone())))?;
            }
            show_poll(watched);
            continue;
        };
        let page = Page::of_file(&body, &file)?;
        let is_cut = page.end.is_lost || page.end.cursor.is_some();
        reports.extend(page.entries.into_iter().map(|entry| entry.identifier));
        next_page = page.end.cursor.map(|cursor| Request::Behaviours { file, listing, cursor: Some(cursor) });
        if watched.listed(reports.len(), next_page.is_some(), now) {
            if is_cut {
                hint("the list has further pages: behaview list --all fetches them");
            }
            return Ok(true);
        }
    }
    Ok(false)
}

fn wait(watched: &ScanWatch, price: &str, passed: impl Fn() -> SignedDuration) {
    loop {
        let seconds = watched.seconds(passed());
        let left = watched.remaining_label(passed());
        if seconds <= 0 {
            return;
        }
        show_progress(&format!("next poll in {seconds} s: {price}; {left}; ctrl-c stops"), "\r");
        std::thread::sleep(Duration::from_millis(500));
    }
}

fn show_poll(watched: &ScanWatch) {
    let Some(seen) = &watched.seen else {
        return show_progress("the service knows of no scan: its list is fetched", "\n");
    };
    let run = |run: &SandboxRun| format!("{}: {}", run.sandbox().visible_cut(40), run.label());
    let runs: Vec<_> = seen.sandboxes.iter().map(run).collect();
    show_progress(&format!("{} · {}", seen.progress.label(), runs.join(" · ")), "\n");
}

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
        let send = || {
            let mut to = None;
            if limit == UploadLimit::Large {
                let address = upload_address(&fetch(&setup, &Request::UploadAddress, true)?.body);
                let address = address.ok_or_else(|| FailureKind::Malformed.error("the response has no address"))?;
                to = Some(UploadAddress::new(address));
            }
            anyhow::Ok(fetch(&setup, &scan(to), true)?)
        };
        let response = send();
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
        std::io::ErrorKind::Interrupted => output::SignalExit(2).into(),
        _ => anyhow::Error::from(error).context("the password could not be read"),
    }
}
