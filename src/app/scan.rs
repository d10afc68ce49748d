//! Scans: the form that submits a file, its options and price; the progress of a watched scan.

use crate::app::overlays::{FormSource, InputForm};
use crate::app::spending::{Calls, InFlightCall};
use crate::app::{Effect, Failure, StoreJob};
use crate::export::file;
use crate::quota::{Entitlements, Kind, Numbers, Operation, Plan, price};
use crate::report::identifier::{Identifier, Sha256};
use crate::report::{Analysis, PendingScan};
use crate::request::{Listing, Request, ScanOption, ScanOptions, Submission, UploadLimit};
use crate::text::{lasting, thousands};
use jiff::{SignedDuration, Timestamp};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

/// The form of a submission, one line per [`FIELDS`] entry.
pub type SubmitForm = InputForm<FileToScan>;

#[derive(Debug, Default)]
pub struct FileToScan {
    /// The inspected file: only the same bytes are sent.
    pub found: Option<InspectedFile>,
    pub(crate) looked_at: Option<PathBuf>,
    /// The confirmed large file during its second inspection, as an upload address is paid.
    pub(crate) agreed: Option<Arc<Submission>>,
}

/// A file as inspected before a price is shown; its size is in bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InspectedFile {
    pub(crate) path: PathBuf,
    pub file: Sha256,
    pub size: u64,
    pub limit: UploadLimit,
    /// When an earlier upload got no response: it may have arrived.
    pub sent: Option<Timestamp>,
    pub before: Option<String>,
}

#[derive(Debug)]
pub struct ScanField {
    pub label: &'static str,
    pub hint: &'static str,
    pub option: Option<ScanOption>,
}

pub static FIELDS: [ScanField; 11] = [
    ScanField { label: "File", hint: "path of the file", option: None },
    field("Sandbox", "its name; empty for all that the service likes", ScanOption::Sandbox),
    field("Internet", "yes or no; empty for the service's default", ScanOption::Internet),
    field("Keep days", "1 to 28; empty for the service's default", ScanOption::Retention),
    field("Command line", "what it is run with", ScanOption::CommandLine),
    field("Password", "what it is encrypted with; never shown, stored or logged", ScanOption::Password),
    field("Region", "where it is stored: US, CA, EU or GB; empty for the group's", ScanOption::Region),
    field("Intercept TLS", "yes or no; empty for the service's default", ScanOption::InterceptTls),
    field("Locale", "such as EN_US; empty for the service's default", ScanOption::Locale),
    field("Interaction", "60 to 1800 seconds; empty for the service's default", ScanOption::InteractionTimeout),
    field("No sandbox", "yes to run it in none; empty for no", ScanOption::DisableSandbox),
];

const fn field(label: &'static str, hint: &'static str, option: ScanOption) -> ScanField {
    ScanField { label, hint, option: Some(option) }
}

impl SubmitForm {
    pub(crate) fn empty() -> Self {
        Self::with_fields(FileToScan::default(), FIELDS.len())
    }

    pub fn is_inspected(&self) -> bool {
        self.source.looked_at.as_ref().is_some_and(|path| *path == self.path())
    }

    /// Returns the file to inspect before sending; `None` while inspecting or for an invalid path.
    pub(crate) fn inspect(&mut self) -> Option<PathBuf> {
        let path = self.path();
        let no_path = path.as_os_str().is_empty().then(|| "no path yet".to_owned());
        self.failure = no_path.or_else(|| self.options().err()).map(unsent);
        if self.failure.is_some() || self.is_inspected() {
            return None;
        }
        self.source.looked_at = Some(path.clone());
        Some(path)
    }

    pub fn path(&self) -> PathBuf {
        file::from_input(self.text().trim())
    }

    pub(crate) fn options(&self) -> Result<ScanOptions, String> {
        let mut options = ScanOptions::default();
        for (field, typed) in FIELDS.iter().zip(self.fields.iter().map(|field| &field.text)) {
            field.option.map_or(Ok(()), |option| options.set(option, typed))?;
        }
        Ok(options)
    }

    /// Returns the submission, if its size permits this kind of upload.
    pub(crate) fn submission_by(&self, limit: UploadLimit) -> Option<Arc<Submission>> {
        self.source.found.as_ref().filter(|found| found.limit == limit)?;
        self.submission()
    }

    /// Returns the call that uploads it or requests its upload address.
    pub fn call<'a>(&self, calls: &'a Calls) -> Option<&'a InFlightCall> {
        let submission = self.submission()?;
        calls.iter().find(|call| call.sends(&submission))
    }

    /// Returns the submission, once the file is inspected and the options are valid.
    pub fn submission(&self) -> Option<Arc<Submission>> {
        let InspectedFile { path, file, size, sent, .. } = self.source.found.clone()?;
        let options = self.options().ok()?;
        Some(Arc::new(Submission { path, file, size, options, sent }))
    }
}

impl FormSource for FileToScan {
    fn on_typed(form: &mut SubmitForm, _: Timestamp) -> Option<Effect> {
        form.source.found.take_if(|_| form.chosen == 0);
        None
    }
}

/// Returns the total price of a submission; a large file needs an upload address first.
pub fn price_of(submission: &Arc<Submission>, limit: UploadLimit, entitled: &Entitlements) -> Plan {
    let scan = Request::PrivateScan { submission: Arc::clone(submission), to: None };
    let address = (limit == UploadLimit::Large).then(|| Request::UploadAddress.operation());
    Plan::of([scan.operation()].into_iter().chain(address), entitled)
}

pub(crate) fn unsent(why: String) -> Failure {
    Failure::new(format!("Nothing was sent: {why}."))
}

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
    use crate::request::Password;

    #[test]
    fn what_is_typed_becomes_what_the_sandboxes_are_told() {
        let mut form = SubmitForm::empty();
        for (field, text) in ["/a b", "CAPE", "Yes", "28", "-x 1", " hunter2 "].into_iter().enumerate() {
            form.fields[field].paste(text);
        }
        let options = form.options().unwrap();
        let mut expected = ScanOptions::default().with_password(Password::new(" hunter2 ".to_owned()));
        let set = [("CAPE", ScanOption::Sandbox), ("true", ScanOption::Internet), ("28", ScanOption::Retention)];
        set.into_iter()
            .chain([("-x 1", ScanOption::CommandLine)])
            .for_each(|(text, option)| expected.set(option, text).unwrap());
        assert_eq!(options, expected);
        assert!(!format!("{form:?}").contains("hunter2"));
        assert_eq!(form.path(), PathBuf::from("/a b"));
        form.fields[3].text = "29".to_owned();
        assert!(form.options().unwrap_err().contains("1 to 28"));
        form.fields[2].text = "perhaps".to_owned();
        assert!(form.options().is_err() && form.submission().is_none());
        form.fields[2].text.clear();
        form.fields[3].text.clear();
        for (field, text) in (6..).zip(["eu", "no", "ES_ES", "59", ""]) {
            form.fields[field].paste(text);
        }
        assert!(form.options().unwrap_err().contains("60 to 1800"));
        form.fields[9].text = "60".to_owned();
        assert!(form.options().is_ok());
        form.fields[6].text = "DE".to_owned();
        assert_eq!(form.options().unwrap_err(), "the regions are US, CA, EU, GB");
    }

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
