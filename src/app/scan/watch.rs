//! A watched scan: its progress, and the request of the next poll.

use crate::app::StoreJob;
use crate::quota::{Entitlements, Kind, Numbers, Operation, price};
use crate::report::identifier::{Identifier, Sha256};
use crate::report::{Analysis, PendingScan};
use crate::request::{Listing, Request};
use crate::text::{lasting, thousands};
use jiff::{SignedDuration, Timestamp};
use std::collections::BTreeMap;

/// How often and how many times a scan is polled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PollPace {
    pub interval: SignedDuration,
    /// Maximum number of calls for one scan.
    pub most: u64,
}

impl Default for PollPace {
    fn default() -> Self {
        Self { interval: SignedDuration::from_secs(30), most: 20 }
    }
}

/// A scan that is polled until its reports are listed.
#[derive(Debug)]
pub struct ScanWatch {
    pub file: Sha256,
    pub seen: Option<Analysis>,
    pub made: u64,
    pub(crate) pace: PollPace,
    /// When the next poll is due, in monotonic time: the clock may be set back.
    next: SignedDuration,
    scan: Option<Identifier>,
    step: WatchStep,
    /// Sandboxes that were done at the last listing of reports.
    listed: usize,
    reports: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum WatchStep {
    /// Finds the file's last scan.
    Find,
    Look,
    List,
    NextPage,
}

impl ScanWatch {
    /// Watches this scan, or the file's last one. `now` is monotonic time.
    pub fn new(file: Sha256, scan: Option<Identifier>, pace: PollPace, now: SignedDuration) -> Self {
        let step = if scan.is_some() { WatchStep::Look } else { WatchStep::Find };
        Self { file, seen: None, made: 0, pace, next: now, scan, step, listed: 0, reports: 0 }
    }

    /// Calls that it may still make.
    pub fn left(&self) -> u64 {
        self.pace.most.saturating_sub(self.made)
    }

    pub fn request(&self, listing: Listing, next_page: Option<Request>) -> Request {
        let file = self.file.clone();
        let first_page = Request::Behaviours { file: file.clone(), listing, cursor: None };
        match (self.step, &self.scan) {
            (WatchStep::Look, Some(identifier)) => Request::PrivateAnalysis { identifier: identifier.clone() },
            (WatchStep::Find | WatchStep::Look, _) => Request::PrivateAnalyses { file },
            (WatchStep::List, _) => first_page,
            (WatchStep::NextPage, _) => next_page.unwrap_or(first_page),
        }
    }

    /// Counts a call that was sent, and schedules the next one.
    pub fn count(&mut self, now: SignedDuration) {
        self.made += 1;
        self.defer(now);
    }

    /// Postpones a poll that another program is sending too; retries at the next interval.
    pub fn defer(&mut self, now: SignedDuration) {
        self.next = now.saturating_add(self.pace.interval);
    }

    /// Records a scan's progress (`None`: the service has no scan); new reports are listed at once.
    pub fn on_poll(&mut self, seen: Option<Analysis>, now: SignedDuration) {
        let has_more = seen.as_ref().is_none_or(|seen| seen.is_done() || seen.done() > self.listed);
        self.scan = seen.as_ref().map(|seen| seen.identifier.clone()).or(self.scan.take());
        self.seen = seen;
        self.step = if has_more { WatchStep::List } else { WatchStep::Look };
        if has_more {
            self.next = now;
        }
    }

    /// Records a page of the list; returns whether it was the last.
    pub fn listed(&mut self, reports: usize, has_next_page: bool, now: SignedDuration) -> bool {
        // A service could send pages without end: only the first and those with new reports go on.
        let has_next_page = has_next_page && (reports > self.reports || self.step != WatchStep::NextPage);
        self.reports = reports;
        let is_over = self.seen.as_ref().map_or(reports > 0, Analysis::is_done);
        self.listed = self.seen.as_ref().map_or(0, Analysis::done);
        self.step = match (is_over && has_next_page, &self.seen) {
            (true, _) => WatchStep::NextPage,
            (false, Some(_)) => WatchStep::Look,
            (false, None) => WatchStep::List,
        };
        if self.step == WatchStep::NextPage {
            self.next = now;
        }
        is_over && !has_next_page
    }

    pub(crate) fn awaits_page(&self) -> bool {
        matches!(self.step, WatchStep::List | WatchStep::NextPage)
    }

    /// Returns the maximum price of the next poll: new reports add their list, page by page.
    pub(crate) fn next_price(&self, listing: Listing, entitled: &Entitlements) -> String {
        let poll = price(&self.request(listing, None).operation(), entitled);
        if self.awaits_page() || poll.verdict.refusal.is_some() {
            return poll.short();
        }
        let list = Request::Behaviours { file: self.file.clone(), listing, cursor: None };
        let page = price(&list.operation(), entitled).verdict.units.max;
        let more = page.map(|page| format!(", +{} a page once a sandbox reported", thousands(page)));
        poll.short() + &more.unwrap_or_default()
    }

    /// Returns the most remaining calls and their duration; listing follows at once.
    pub fn remaining_label(&self, now: SignedDuration) -> String {
        let pauses = i64::try_from(self.left()).unwrap_or(i64::MAX).saturating_sub(1).max(0);
        let longest = self.pace.interval.as_secs().saturating_mul(pauses).saturating_add(self.seconds(now));
        let longest = lasting(u64::try_from(longest).unwrap_or_default());
        format!("at most {} more, for {longest} at most", thousands(self.left()))
    }

    /// Seconds until the next call, rounded up; 0 if it is due.
    pub fn seconds(&self, now: SignedDuration) -> i64 {
        let left = self.next.saturating_sub(now).max(SignedDuration::ZERO);
        left.as_secs().saturating_add(i64::from(left.subsec_nanos() > 0))
    }
}

/// The watched scans, at most one per file; the identifier of each last scan.
#[derive(Debug, Default)]
pub struct ScanWatches {
    all: Vec<ScanWatch>,
    scans: BTreeMap<Sha256, Identifier>,
}

impl ScanWatches {
    pub fn len(&self) -> usize {
        self.all.len()
    }

    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    pub(crate) fn of(&self, file: &Sha256) -> Option<&ScanWatch> {
        self.all.iter().find(|follow| follow.file == *file)
    }

    pub(crate) fn of_mut(&mut self, file: &Sha256) -> Option<&mut ScanWatch> {
        self.all.iter_mut().find(|follow| follow.file == *file)
    }

    /// Returns whether the file has a scan without a known end.
    pub fn has_scan(&self, file: &Sha256) -> bool {
        self.scans.contains_key(file)
    }

    /// Returns the calls of all watches.
    pub fn made(&self) -> Operation {
        polls(self.all.iter().fold(0, |sum, follow| sum.saturating_add(follow.made)))
    }

    pub(crate) fn begin(&mut self, file: Sha256, pace: PollPace, now: SignedDuration) {
        let scan = self.scans.get(&file).cloned();
        self.all.push(ScanWatch::new(file, scan, pace, now));
    }

    pub(crate) fn end(&mut self, file: &Sha256) -> Option<ScanWatch> {
        let at = self.all.iter().position(|follow| follow.file == *file)?;
        Some(self.all.remove(at))
    }

    pub(crate) fn finish(&mut self, file: &Sha256) {
        self.end(file);
        self.scans.remove(file);
    }

    /// Records the identifier of a file's last scan; returns whether it is new.
    pub(crate) fn record_scan(&mut self, file: &Sha256, scan: Identifier) -> bool {
        let before = self.scans.insert(file.clone(), scan);
        before.as_ref() != self.scans.get(file)
    }

    /// Restores a scan that an earlier run left unfinished; returns whether to offer it.
    pub(crate) fn recall(&mut self, file: &Sha256, scan: Option<PendingScan>, now: Timestamp) -> bool {
        let is_followed = self.of(file).is_some();
        let Some(scan) = scan.filter(|scan| !is_followed && scan.is_pending(now)) else { return false };
        if let Some(identifier) = scan.identifier {
            self.scans.entry(file.clone()).or_insert(identifier);
        }
        true
    }

    /// Returns the job that records a running scan for the next run of the program.
    pub(crate) fn record(&self, file: &Sha256, since: Timestamp) -> StoreJob {
        StoreJob::RecordScan(file.clone(), Some(PendingScan { identifier: self.scans.get(file).cloned(), since }))
    }

    pub(crate) fn due(&self, now: SignedDuration) -> Option<&ScanWatch> {
        self.all.iter().find(|follow| follow.next <= now)
    }

    pub(crate) fn of_request(&mut self, request: &Request) -> Option<&mut ScanWatch> {
        self.all.iter_mut().find(|follow| match request {
            Request::PrivateAnalysis { identifier } => follow.scan.as_ref() == Some(identifier),
            Request::PrivateAnalyses { file } => follow.file == *file,
            _ => false,
        })
    }
}

pub(crate) fn polls(calls: u64) -> Operation {
    Operation { kind: Kind::PrivateAnalysis, numbers: Numbers { calls, ..Numbers::default() } }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(status: &str, done: usize) -> Option<Analysis> {
        let runs: Vec<_> = (0..3)
            .map(|n| format!(r#""s{n}":{{"status":"{}"}}"#, if n < done { "completed" } else { "in-progress" }))
            .collect();
        let text = format!(
            r#"{{"data":{{"id":"x","attributes":{{"status":"{status}","sandbox_status":{{{}}}}}}}}}"#,
            runs.join(",")
        );
        Analysis::of(text.as_bytes())
    }

    #[test]
    fn list_is_requested_only_after_new_reports() {
        let file = Sha256::parse(&"ab".repeat(32)).unwrap();
        let now = SignedDuration::ZERO;
        let mut follow = ScanWatch::new(file, None, PollPace::default(), now);
        let kind = |follow: &ScanWatch| follow.request(Listing::Reports, None).operation().kind;
        assert_eq!(kind(&follow), Kind::PrivateRelated);
        follow.count(now);
        follow.on_poll(seen("queued", 0), now);
        assert_eq!((kind(&follow), follow.seconds(now)), (Kind::PrivateAnalysis, 30));
        follow.on_poll(seen("in-progress", 1), now);
        assert_eq!((kind(&follow), follow.seconds(now)), (Kind::PrivateBehaviours, 0));
        assert!(!follow.listed(1, false, now));
        follow.on_poll(seen("in-progress", 1), now);
        assert_eq!(kind(&follow), Kind::PrivateAnalysis);
        follow.on_poll(seen("completed", 3), now);
        assert!(!follow.listed(1, true, now));
        assert!(follow.listed(1, false, now));
    }
}
