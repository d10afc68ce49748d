//! A scan that is followed: how far it is, and what the next look asks.

use crate::quota::{Kind, Numbers, Operation};
use crate::report::Analysis;
use crate::report::identifier::{Identifier, Sha256};
use crate::request::{Listing, Request};
use crate::text::{lasting, thousands};
use jiff::SignedDuration;

/// How a scan is followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pace {
    /// The time between two looks.
    pub interval: SignedDuration,
    /// The most calls that one following makes.
    pub most: u64,
}

impl Default for Pace {
    fn default() -> Self {
        Self { interval: SignedDuration::from_secs(30), most: 20 }
    }
}

/// A scan that is followed.
#[derive(Debug)]
pub struct Follow {
    pub file: Sha256,
    /// How far the scan was at the last look.
    pub seen: Option<Analysis>,
    pub made: u64,
    pub pace: Pace,
    /// When the next look is, in time that has passed: the clock may be set back meanwhile.
    pub(super) next: SignedDuration,
    pub(super) scan: Option<Identifier>,
    pub(super) step: Step,
    /// Sandboxes that were done when the reports were last listed.
    listed: usize,
}

/// What the next call asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    /// Which scan there is of the file.
    Find,
    Look,
    /// The list, from its first page.
    List,
    NextPage,
}

/// What becomes of a following.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Turn {
    On,
    Done,
}

impl Follow {
    /// Follows the scan of this name, or the last one of the file. `now` is the time that has passed since any one moment, here as
    /// in what goes on from here: it never goes back.
    pub fn new(file: Sha256, scan: Option<Identifier>, pace: Pace, now: SignedDuration) -> Self {
        let step = if scan.is_some() { Step::Look } else { Step::Find };
        Self { file, seen: None, made: 0, pace, next: now, scan, step, listed: 0 }
    }

    /// Calls that it may still make.
    pub fn left(&self) -> u64 {
        self.pace.most.saturating_sub(self.made)
    }

    /// The next question; `next_page` is that for the next page of the file's list.
    pub fn request(&self, listing: Listing, next_page: Option<Request>) -> Request {
        let file = self.file.clone();
        let first_page = Request::Behaviours { file: file.clone(), listing, cursor: None };
        match (self.step, &self.scan) {
            (Step::Look, Some(identifier)) => Request::PrivateAnalysis { identifier: identifier.clone() },
            (Step::Find | Step::Look, _) => Request::PrivateAnalyses { file },
            (Step::List, _) => first_page,
            (Step::NextPage, _) => next_page.unwrap_or(first_page),
        }
    }

    /// Counts a call that is made now.
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
        self.step = if has_more { Step::List } else { Step::Look };
        if has_more {
            self.next = now;
        }
    }

    /// Takes in that a page of the list came; says whether that was all.
    pub fn listed(&mut self, has_reports: bool, has_next_page: bool, now: SignedDuration) -> Turn {
        let is_over = self.seen.as_ref().map_or(has_reports, Analysis::is_done);
        self.listed = self.seen.as_ref().map_or(0, Analysis::done);
        self.step = match (is_over && has_next_page, &self.seen) {
            (true, _) => Step::NextPage,
            (false, Some(_)) => Step::Look,
            (false, None) => Step::List,
        };
        if self.step == Step::NextPage {
            self.next = now;
        }
        if is_over && !has_next_page { Turn::Done } else { Turn::On }
    }

    /// How many calls it still makes at most, and for how long it does: lists are asked for at once and take less.
    pub fn words_left(&self, now: SignedDuration) -> String {
        let pauses = i64::try_from(self.left()).unwrap_or(i64::MAX).saturating_sub(1).max(0);
        let longest = self.pace.interval.as_secs().saturating_mul(pauses).saturating_add(self.seconds(now));
        let longest = lasting(u64::try_from(longest).unwrap_or_default());
        format!("at most {} more, for {longest} at most", thousands(self.left()))
    }

    /// Seconds until the next look.
    pub fn seconds(&self, now: SignedDuration) -> i64 {
        let left = self.next.saturating_sub(now).max(SignedDuration::ZERO);
        left.as_secs().saturating_add(i64::from(left.subsec_nanos() > 0))
    }
}

/// So many looks, as the rules price them.
pub(in crate::app) fn looks(calls: u64) -> Operation {
    Operation::with(Kind::PrivateAnalysis, Numbers { calls, ..Numbers::default() })
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
        let kind = |follow: &Follow| follow.request(Listing::Reports, None).operation().kind();
        assert_eq!(kind(&follow), Kind::PrivateRelated);
        follow.count(now);
        follow.looked(seen("queued", 0), now);
        assert_eq!((kind(&follow), follow.seconds(now)), (Kind::PrivateAnalysis, 30));
        follow.looked(seen("in-progress", 1), now);
        assert_eq!((kind(&follow), follow.seconds(now)), (Kind::PrivateBehaviours, 0));
        assert_eq!(follow.listed(true, false, now), Turn::On);
        follow.looked(seen("in-progress", 1), now);
        assert_eq!(kind(&follow), Kind::PrivateAnalysis);
        follow.looked(seen("completed", 3), now);
        assert_eq!(follow.listed(true, true, now), Turn::On);
        assert_eq!(follow.listed(true, false, now), Turn::Done);
    }

    #[test]
    fn without_a_scan_the_list_alone_is_looked_at() {
        let now = SignedDuration::ZERO;
        let mut follow = Follow::new(Sha256::parse(&"ab".repeat(32)).unwrap(), None, Pace::default(), now);
        follow.looked(None, now);
        assert_eq!(follow.listed(false, false, now), Turn::On);
        assert_eq!(follow.request(Listing::Reports, None).operation().kind(), Kind::PrivateBehaviours);
        assert_eq!(follow.listed(true, false, now), Turn::Done);
    }
}
