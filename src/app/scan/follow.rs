//! A scan that is followed: how far it is, and what the next look asks.

use crate::app::over::{Sheet, SheetRow};
use crate::app::spending::{Consent, KeyedAnswer};
use crate::app::{Failure, Model, ResponseSource, StoreJob};
use crate::quota::{Kind, Numbers, Operation, Plan, Price};
use crate::report::identifier::{Identifier, Sha256};
use crate::report::{Analysis, PendingScan};
use crate::request::{Listing, Request};
use crate::text::{count, lasting, thousands};
use jiff::SignedDuration;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pace {
    pub interval: SignedDuration,
    /// The most calls that one following makes.
    pub most: u64,
}

impl Default for Pace {
    fn default() -> Self {
        Self { interval: SignedDuration::from_secs(30), most: 20 }
    }
}

#[derive(Debug)]
pub struct Follow {
    pub file: Sha256,
    pub seen: Option<Analysis>,
    pub made: u64,
    pub pace: Pace,
    /// When the next look is, in time that has passed: the clock may be set back meanwhile.
    pub(super) next: SignedDuration,
    pub(super) scan: Option<Identifier>,
    pub(super) step: WatchStep,
    /// Sandboxes that were done when the reports were last listed.
    listed: usize,
    /// Reports that were listed then.
    reports: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WatchStep {
    /// Which scan there is of the file.
    Find,
    Look,
    List,
    NextPage,
}

impl Follow {
    /// Follows this scan, or the file's last one. Times count from any moment and never go back.
    pub fn new(file: Sha256, scan: Option<Identifier>, pace: Pace, now: SignedDuration) -> Self {
        let step = if scan.is_some() { WatchStep::Look } else { WatchStep::Find };
        Self { file, seen: None, made: 0, pace, next: now, scan, step, listed: 0, reports: 0 }
    }

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

    pub fn count(&mut self, now: SignedDuration) {
        self.made += 1;
        self.put_off(now);
    }

    /// Takes in that a call was not made after all: another program makes the same. It is made when the next is due.
    pub fn put_off(&mut self, now: SignedDuration) {
        self.next = now.saturating_add(self.pace.interval);
    }

    /// Takes in how far the scan is; none where the service knows of no scan. The list is asked for as soon as there is more in it.
    pub fn looked(&mut self, seen: Option<Analysis>, now: SignedDuration) {
        let has_more = seen.as_ref().is_none_or(|seen| seen.is_done() || seen.done() > self.listed);
        self.scan = seen.as_ref().map(|seen| seen.identifier.clone()).or(self.scan.take());
        self.seen = seen;
        self.step = if has_more { WatchStep::List } else { WatchStep::Look };
        if has_more {
            self.next = now;
        }
    }

    /// Takes in that a page of the list came; says whether that was all.
    pub fn listed(&mut self, reports: usize, has_next_page: bool, now: SignedDuration) -> bool {
        // A service could send pages without an end: after the first only one with new reports has a next.
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

    /// How many calls it still makes at most, and for how long it does: lists are asked for at once and take less.
    pub fn words_left(&self, now: SignedDuration) -> String {
        let pauses = i64::try_from(self.left()).unwrap_or(i64::MAX).saturating_sub(1).max(0);
        let longest = self.pace.interval.as_secs().saturating_mul(pauses).saturating_add(self.seconds(now));
        let longest = lasting(u64::try_from(longest).unwrap_or_default());
        format!("at most {} more, for {longest} at most", thousands(self.left()))
    }

    pub fn seconds(&self, now: SignedDuration) -> i64 {
        let left = self.next.saturating_sub(now).max(SignedDuration::ZERO);
        left.as_secs().saturating_add(i64::from(left.subsec_nanos() > 0))
    }
}

pub(in crate::app) fn looks(calls: u64) -> Operation {
    Operation { kind: Kind::PrivateAnalysis, numbers: Numbers { calls, ..Numbers::default() } }
}

pub(in crate::app) fn followed(model: &Model) -> Vec<Request> {
    model.file().map(|file| Request::PrivateAnalyses { file: file.clone() }).into_iter().collect()
}

const FOLLOWING: &str = "Following the scan";

impl Model {
    /// The following of the file that is shown.
    pub fn following(&self) -> Option<&Follow> {
        let file = self.file()?;
        self.follows.iter().find(|follow| follow.file == *file)
    }

    /// Whether the shown file has a scan without a known end.
    pub fn awaits_scan(&self) -> bool {
        self.file().is_some_and(|file| self.scans.contains_key(file))
    }

    pub fn followed_price(&self) -> Price {
        let made = self.follows.iter().fold(0_u64, |sum, follow| sum.saturating_add(follow.made));
        crate::quota::price(&looks(made), &self.figures.entitlements)
    }

    pub fn follow_price(&self) -> Plan {
        let mut plan = self.plan([looks(self.settings.pace.most)]);
        // It ends as soon as the scan does.
        plan.prices.iter_mut().for_each(|price| price.verdict.units.min = price.verdict.units.min.min(1));
        plan
    }

    /// Asks before the scan of a file with reports is followed; the budget refuses at once, not after confirmation.
    pub(in crate::app) fn ask_to_follow(&mut self) {
        if !self.refuse(&self.tag_of(self.follow_price())) {
            self.ask_why_follow("Reports of the file are listed already. ")
        }
    }

    fn ask_why_follow(&mut self, why: &str) {
        let why = format!("{why}To follow its scan costs {}.", self.follow_price());
        self.ask_first(why, KeyedAnswer::yes("yes, follow", Consent::Follow))
    }

    pub(in crate::app) fn follow_if_cheap(&mut self) {
        if self.is_dear(self.follow_price().worst()) { self.ask_why_follow("") } else { self.follow() }
    }

    /// Begins to follow the scan of the file that is shown; its price was on the screen.
    pub(in crate::app) fn follow(&mut self) {
        let Some(file) = self.file().cloned() else { return };
        let scan = self.scans.get(&file).cloned();
        self.note_pending(&file);
        self.files.of_mut(&file).into_iter().for_each(|file| file.is_scanned = false);
        self.follows.push(Follow::new(file, scan, self.settings.pace, self.passed));
        self.next_look();
    }

    /// Stops following the shown file, and forgets its scan.
    pub(in crate::app) fn stop_following(&mut self) {
        let Some(file) = self.file().cloned() else { return };
        self.end_following(&file, "Stopped following.");
        self.emit(StoreJob::RecordScan { file, scan: None });
    }

    /// Notes for the next run of the program that the end of a file's scan is still to be seen.
    pub(super) fn note_pending(&mut self, file: &Sha256) {
        let scan = PendingScan { identifier: self.scans.get(file).cloned(), since: self.now };
        self.emit(StoreJob::RecordScan { file: file.clone(), scan: Some(scan) });
    }

    /// Takes in that the end of a file's scan was not seen when it was left, and offers to go on; nothing is asked.
    pub(in crate::app) fn recall_scan(&mut self, file: &Sha256, scan: Option<PendingScan>) {
        let is_followed = self.follows.iter().any(|follow| follow.file == *file);
        let Some(scan) = scan.filter(|scan| !is_followed && scan.is_pending(self.now)) else { return };
        if let Some(identifier) = scan.identifier {
            self.scans.entry(file.clone()).or_insert(identifier);
        }
        if self.file() == Some(file) && self.notice.is_none() && self.service.barred().is_none() {
            let (follow, price) = (self.way_to("follow"), self.follow_price());
            self.say(format!("Its scan had not ended when the file was left. {follow} follows it further: {price}."));
        }
    }

    /// How to open a scan's reports where its list brings identifiers only.
    fn way_to_missing(&self, file: &Sha256) -> String {
        let missing = if self.file() == Some(file) { self.missing_reports().len() } else { 0 };
        match missing {
            0 => String::new(),
            1 => format!(" {} opens the report, for {}.", self.way_to("open"), self.missing_price()),
            count => format!(" {} opens the {count} reports, for {}.", self.way_to("open-all"), self.missing_price()),
        }
    }

    fn end_following(&mut self, file: &Sha256, why: &str) {
        let Some(at) = self.follows.iter().position(|follow| follow.file == *file) else { return };
        let follow = self.follows.remove(at);
        let calls = count(follow.made, "call");
        self.warn(format!("{why} {}: {calls} made, nothing further is sent.", file.short()));
    }

    /// Makes the next call of a following whose time has come, one at a time.
    pub(in crate::app) fn next_look(&mut self) {
        if self.is_quitting || self.calls.awaits_paid() {
            return;
        }
        let now = self.passed;
        let Some(at) = self.follows.iter().position(|follow| follow.next <= now) else { return };
        let Some(follow) = self.follows.get(at) else { return };
        if follow.left() == 0 {
            let file = follow.file.clone();
            let again = format!("{} follows it further, for {}.", self.way_to("follow"), self.follow_price());
            let why = "The scan is not done, and the confirmed polls are used up.";
            self.end_following(&file, &format!("{why} {again}"));
            return;
        }
        let listing = self.service.listing;
        let next_page = self.files.list_of(&follow.file).and_then(|list| list.next_page(listing));
        let (request, file) = (follow.request(listing, next_page), follow.file.clone());
        if self.figures.waits(self.now).is_some() {
            return;
        }
        let is_sent = self.ask_agreed(request, ResponseSource::Service);
        match self.follows.get_mut(at) {
            Some(follow) if is_sent => follow.count(now),
            // Refused before it was sent, with its reason on the screen.
            _ => self.follows.retain(|follow| follow.file != file),
        }
    }

    pub(in crate::app) fn followed_by(&mut self, request: &Request) -> Option<&mut Follow> {
        self.follows.iter_mut().find(|follow| match request {
            Request::PrivateAnalysis { identifier } => follow.scan.as_ref() == Some(identifier),
            Request::PrivateAnalyses { file } => follow.file == *file,
            _ => false,
        })
    }

    /// Takes in the progress of a scan; none where the service knows no scan.
    pub(in crate::app) fn on_scan_polled(&mut self, request: &Request, seen: Option<Analysis>) {
        let now = self.passed;
        let Some(follow) = self.followed_by(request) else { return };
        follow.looked(seen, now);
        let (file, scan) = (follow.file.clone(), follow.scan.clone());
        if let Some(scan) = scan
            && self.scans.insert(file.clone(), scan.clone()) != Some(scan)
        {
            self.note_pending(&file);
        }
        self.next_look();
    }

    /// A failure ends following, except while another program polls the same.
    pub(in crate::app) fn failed_to_follow(&mut self, file: &Sha256, failure: &Failure) {
        match self.follows.iter_mut().find(|follow| follow.file == *file).filter(|_| failure.is_elsewhere) {
            Some(follow) => follow.made = follow.made.saturating_sub(1),
            None => self.end_following(file, &format!("{} Stopped following", failure.words())),
        }
    }

    pub(in crate::app) fn on_page_while_following(&mut self, file: &Sha256, failure: Option<&Failure>) {
        let (now, listing) = (self.passed, self.service.listing);
        let list = self.files.list_of(file);
        let reports = list.map_or(0, |list| list.entries.len());
        let has_next = list.is_some_and(|list| list.next_page(listing).is_some() && list.since.is_some());
        let Some(follow) = self.follows.iter_mut().find(|follow| follow.file == *file) else { return };
        if let Some(failure) = failure {
            self.failed_to_follow(file, failure);
            return;
        }
        if !matches!(follow.step, WatchStep::List | WatchStep::NextPage) {
            return;
        }
        if follow.listed(reports, has_next, now) {
            let calls = count(follow.made, "call");
            self.follows.retain(|follow| follow.file != *file);
            let open = self.way_to_missing(file);
            self.scans.remove(file);
            self.files.of_mut(file).into_iter().for_each(|file| file.is_scanned = true);
            let listed = if reports > 0 { "its reports are listed" } else { "no report of it is listed" };
            self.say(format!("The scan of {} is done, and {listed}: {calls} made.{open}", file.short()));
            self.emit(StoreJob::RecordScan { file: file.clone(), scan: None });
        }
        self.next_look();
    }

    /// What the next look may cost, in words: a list follows it as soon as there is more in it, page by page.
    pub fn next_look_price(&self, follow: &Follow) -> String {
        let request = follow.request(self.service.listing, None);
        let look = self.price(&request);
        if matches!(follow.step, WatchStep::List | WatchStep::NextPage) || look.verdict.refusal.is_some() {
            return look.short();
        }
        let list = Request::Behaviours { file: follow.file.clone(), listing: self.service.listing, cursor: None };
        self.price(&list).verdict.units.max.map_or_else(
            || look.short(),
            |page| format!("{}, +{} a page once a sandbox reported", look.short(), thousands(page)),
        )
    }

    pub(in crate::app) fn shows_following(&self) -> bool {
        self.over.top_as::<Sheet>().is_some_and(|sheet| sheet.title == FOLLOWING)
    }

    pub(in crate::app) fn following_sheet(&self) -> Sheet {
        Sheet::new(FOLLOWING, self.following_rows(), usize::from(self.overlay_room().width))
    }

    pub fn following_rows(&self) -> Vec<SheetRow> {
        let row = |head: &str, text: String| SheetRow { head: head.to_owned(), text };
        let Some(follow) = self.following() else {
            let is_done = self.files.shown().is_some_and(|file| file.is_scanned);
            let has_reports = self.list().is_some_and(|list| !list.entries.is_empty());
            let ended = match (is_done, has_reports) {
                (true, true) => "done, and its reports are listed",
                (true, false) => "done, and no report of it is listed",
                (false, _) => "not followed any more",
            };
            return vec![row("scan", format!("{ended}: nothing further is sent"))];
        };
        let (seconds, price) = (follow.seconds(self.passed), self.next_look_price(follow));
        let mut rows = vec![
            row("next poll", format!("in {seconds} s · {price}; {} stops", self.way_to("stop-following"))),
            row("calls", format!("{} made, {}", follow.made, follow.words_left(self.passed))),
        ];
        match &follow.seen {
            None => rows.push(row("scan", "nothing is known of it yet".to_owned())),
            Some(seen) => {
                let began =
                    seen.began.map_or_else(String::new, |when| format!(", begun {}", crate::text::moment(when)));
                rows.push(row("scan", format!("{}{began}", seen.progress.words())));
                let runs = seen.sandboxes.iter();
                rows.extend(runs.map(|run| row("", format!("{}: {}", run.sandbox().visible_cut(40), run.words()))));
            }
        }
        rows
    }
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
    fn the_list_is_asked_for_only_when_there_is_more_in_it() {
        let file = Sha256::parse(&"ab".repeat(32)).unwrap();
        let now = SignedDuration::ZERO;
        let mut follow = Follow::new(file, None, Pace::default(), now);
        let kind = |follow: &Follow| follow.request(Listing::Reports, None).operation().kind;
        assert_eq!(kind(&follow), Kind::PrivateRelated);
        follow.count(now);
        follow.looked(seen("queued", 0), now);
        assert_eq!((kind(&follow), follow.seconds(now)), (Kind::PrivateAnalysis, 30));
        follow.looked(seen("in-progress", 1), now);
        assert_eq!((kind(&follow), follow.seconds(now)), (Kind::PrivateBehaviours, 0));
        assert!(!follow.listed(1, false, now));
        follow.looked(seen("in-progress", 1), now);
        assert_eq!(kind(&follow), Kind::PrivateAnalysis);
        follow.looked(seen("completed", 3), now);
        assert!(!follow.listed(1, true, now));
        assert!(follow.listed(1, false, now));
    }
}

#[cfg(test)]
mod following_tests {
    use super::*;
    use crate::app::scan::follow::Pace;
    use jiff::SignedDuration;

    #[test]
    fn a_look_that_another_program_makes_is_not_counted_and_ends_nothing() {
        let file = Sha256::parse(&"ab".repeat(32)).unwrap();
        let mut model = Model::new(Default::default(), jiff::Timestamp::UNIX_EPOCH);
        let mut follow = Follow::new(file.clone(), None, Pace::default(), SignedDuration::ZERO);
        follow.count(SignedDuration::ZERO);
        model.follows.push(follow);
        let request = Request::PrivateAnalyses { file };
        let failed = |is_elsewhere| Err(Failure { is_elsewhere, ..Failure::default() });
        model.call_ended(&request, failed(true));
        assert_eq!(
            model.follows.iter().map(|follow| (follow.made, follow.seconds(SignedDuration::ZERO))).collect::<Vec<_>>(),
            [(0, 30)]
        );
        model.call_ended(&request, failed(false));
        assert!(model.follows.is_empty());
    }
}
