//! `behaview watch`: polls a file's scan until its reports are listed.

use super::*;
use crate::app::scan::{PollPace, ScanWatch};
use crate::quota::Unit;
use crate::report::analysis::SandboxRun;
use crate::report::page::Page;
use crate::report::{Analysis, PendingScan};
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
pub(super) struct Polls {
    /// Seconds between two polls; else from the config
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u32).range(1..))]
    interval: Option<u32>,
    /// Maximum number of calls; else from the config
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    max_polls: Option<u32>,
}

impl Polls {
    pub(super) fn pace(self, setup: &Setup) -> PollPace {
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
pub(super) fn note(setup: &Setup, file: &Sha256, scan: Option<Option<Identifier>>) -> Result<()> {
    let scan = scan.map(|identifier| PendingScan { identifier, since: setup.gateway.now() });
    Ok(setup.gateway.store.record_scan(&setup.gateway.service, file, scan.as_ref())?)
}

/// Returns the maximum cost of watching, in addition to the `named` calls of a dry run.
pub(super) fn max_cost(pace: PollPace, named: u64) -> OpenCost {
    let calls = count(pace.most, "call");
    let seconds = pace.interval.as_secs();
    let remark = format!(
        "Watching makes at most {calls}, each at the price of a poll: one every {seconds} s, and once a sandbox has reported one for \
         each page of the list."
    );
    (remark, Units { min: 1_u64.saturating_sub(named), max: Some(pace.most.saturating_sub(named)) })
}

pub(super) fn watch(setup: &Setup, file: Sha256, scan: Option<Identifier>, pace: PollPace) -> Result<()> {
    let mut watched = ScanWatch::new(file.clone(), scan, pace, SignedDuration::ZERO);
    let mut reports = BTreeSet::new();
    let result = runtime()?.block_on(poll_to_the_end(setup, &mut watched, &mut reports));
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

async fn poll_to_the_end(setup: &Setup, watched: &mut ScanWatch, reports: &mut BTreeSet<Identifier>) -> Result<bool> {
    let listing = setup.gateway.client.profile().listing;
    let began = Instant::now();
    let mut next_page = None;
    let passed = || SignedDuration::try_from(began.elapsed()).unwrap_or(SignedDuration::MAX);
    while watched.left() > 0 {
        let request = watched.request(listing, next_page.take());
        wait(watched, &request.clone().quote(&setup.entitled).price().short(), passed).await;
        let asked_at = passed();
        let response = fetch(setup, &request, true).await;
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

async fn wait(watched: &ScanWatch, price: &str, passed: impl Fn() -> SignedDuration) {
    loop {
        let seconds = watched.seconds(passed());
        let left = watched.remaining_label(passed());
        if seconds <= 0 {
            return;
        }
        show_progress(&format!("next poll in {seconds} s: {price}; {left}; ctrl-c stops"), "\r");
        tokio::time::sleep(Duration::from_millis(500)).await;
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
