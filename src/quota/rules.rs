//! Section 8 of the specification as a table: one row is one rule, in the specification's order.
//!
//! 8.1.2 is the general rule; the rows below it are exceptions. The first exception that applies
//! prices an operation; if several apply, they agree.

use super::price::{ChargedItem, Units};
use super::{Entitlements, Holder, Kind, Numbers, Operation, Pool, Unit};
use serde::Serialize;

/// A rule on prices; in JSON its `basis` is always "documented".
#[derive(Debug, Eq, Serialize)]
#[serde(tag = "basis", rename = "documented")]
pub struct PriceRule {
    /// Its number in the specification, a table's row by its position; `A.` if it is not in there.
    pub number: &'static str,
    pub text: &'static str,
    pub operations: &'static [Kind],
    /// The pool that it covers; [`Pool::None`] if it makes operations free or covers all pools.
    pub pool: Pool,
    /// Prices an operation that it covers; `None` if the rule does not apply to this case.
    #[serde(skip)]
    price: fn(Kind, &Numbers, &Entitlements) -> Option<Verdict>,
}

impl PriceRule {
    pub fn pool_label(&self) -> &'static str {
        let is_general = self.pool == Pool::None && self.operations == Kind::ALL;
        if is_general { "every quota" } else { self.pool.label() }
    }
}

/// The decision of a rule on an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// The pool it draws from; [`Pool::None`] if it is free or refused.
    pub pool: Pool,
    /// The unit in which it is, or would be, counted.
    pub unit: Unit,
    pub units: Units,
    /// The item that is charged one by one, if the response decides how many.
    pub each: Option<ChargedItem>,
    /// The condition of a range, as a sentence.
    pub(crate) why: Option<&'static str>,
    /// Why the user is not entitled to it; then it must not be sent.
    pub refusal: Option<&'static str>,
}

impl PriceRule {
    /// Returns the verdict on an operation; `None` if the rule does not apply to this case.
    pub(crate) fn verdict(&self, operation: &Operation, entitled: &Entitlements) -> Option<Verdict> {
        let is_covered = self.operations.contains(&operation.kind);
        is_covered.then(|| (self.price)(operation.kind, &operation.numbers, entitled)).flatten()
    }
}

/// One row is one rule: its number, its words, the operations, the pool, and what it decides.
macro_rules! rules {
    ($($number:literal $text:literal $operations:expr => $pool:ident, $price:expr;)*) => {
        /// The rules of section 8.
        pub static RULES: [PriceRule; 22] = {
            use super::Kind::*;
            [$(PriceRule { number: $number, text: $text, operations: &$operations, pool: Pool::$pool, price: $price }),*]
        };
    };
}

rules! {
    // 8.1 General rules
    "8.1.1" "A group shares its quota: what a user consumes counts for the user and for the group."
        Kind::ALL => None, |_, _, _| None;
    "8.1.2" "One API call takes one request, unless a rule below says otherwise."
        [
            PrivateBehaviours, PrivateBehaviour, PrivateSummary, PrivateArtifact, PrivateFile, PrivateRelated, PrivateDelete,
            PrivateAnalysis, PrivateUploadUrl, V2FileScan, V3FileUpload, V3File, V3FileAnalyses, V3Analysis, V3User, V3GroupUsage, V3GroupUsers,
        ] => Api, |kind, numbers, entitled| Some(general(Operation { kind, numbers: *numbers }, entitled));
    "8.1.3" "API quota is limited by minute, day and month; intelligence, hunting and graph quota by month."
        Kind::ALL => None, |_, _, _| None;

    // 8.2 API v2 consumption
    "8.2.1" "A v2 file report for a list of hashes takes one request for each hash."
        [V2FileReport] => Api, |_, n, _| (n.after_new_upload != Some(true)).then(|| requests(n.hashes));
    "8.2.2" "V2 submissions take one request for each submission returned, summed over all its files."
        [V2FileSubmissions] => Api, |_, n, _| Some(n.submissions.map_or(each(ChargedItem::Submission), requests));
    "8.2.3" "Uploading by v2 a file that the service does not know takes nothing."
        [V2FileScan] => None, |_, n, _| free_if_new(n.known);
    "8.2.4" "A v2 file report that checks on such an upload takes its requests as usual."
        [V2FileReport] => Api, |_, n, _| (n.after_new_upload == Some(true)).then(|| requests(n.hashes));

    // 8.3 API v3 consumption
    "8.3.1" "Searches by a user with intelligence quota and without premium API are taken from intelligence quota."
        [V3Search] => Intelligence, search_by_intelligence;
    "8.3.2" "Searches by a user with premium API are taken from API quota as usual."
        [V3Search] => Api, |_, n, entitled| (paying_pool(entitled) == Pool::Api).then(|| requests(n.calls));
    "8.3.3" "Quota details and usage details take nothing."
        [V3Quotas, V3Usage] => None, |_, _, _| Some(free(Unit::Request));
    "8.3.4" "Feeds take nothing, nor do file downloads by links that a feed gave."
        [V3Feed] => None, |_, _, _| Some(free(Unit::Request));
    "8.3.5" "Asking for an analysis by an invalid identifier takes nothing."
        [V3Analysis] => None, |_, n, _| match n.exists {
            Some(true) => None,
            Some(false) => Some(free(Unit::Request)),
            None => Some(up_to(1, "Nothing if the identifier is invalid: a 400 or 404 with the service's own code.")),
        };
    "8.3.6" "Uploading a file that the service does not know takes nothing, nor do later look-ups of that file and of its analyses."
        [V3FileUpload, V3File, V3FileAnalyses] => None, |kind, n, _| match (kind, n.after_new_upload) {
            (V3FileUpload, _) => free_if_new(n.known),
            (_, Some(true)) => Some(free(Unit::Request)),
            (_, Some(false)) => None,
            (_, None) => Some(up_to(
                n.calls,
                "Nothing if the file was new to the service when it was uploaded; that response was lost.",
            )),
        };
    "8.3.7" "Scanning a public file again takes one request, as any call."
        [V3Rescan] => Api, |_, n, _| Some(requests(n.calls));

    // 8.4 Intelligence consumption
    "8.4.1" "On the website each search, each pivot to another search and each further page takes one search, with many hashes or not."
        [WebSearch] => Intelligence, |_, n, entitled| Some(match entitled.premium_intelligence.is_granted() {
            Some(false) => refused(Unit::Search, "no premium intelligence"),
            _ => takes(Unit::Search, n.calls),
        });
    "8.4.2" "By v3, with premium intelligence and without premium API, each request takes one search, and so does each step of a cursor."
        [V3Search] => Intelligence, search_by_intelligence;
    "8.4.3" "Enterprise endpoints take API quota where premium API is bought, otherwise intelligence quota."
        [V3Search, V3Download] => Intelligence, |kind, n, entitled| {
            let unit = if kind == V3Search { Unit::Search } else { Unit::Download };
            Some(match paying_pool(entitled) {
                Pool::Api => requests(n.calls),
                Pool::Intelligence => takes(unit, n.calls),
                _ => refused(unit, "neither premium API nor premium intelligence"),
            })
        };

    // 8.5 Hunting consumption
    "8.5.1" "Each live hunting rule created takes one rule, except in an inactive ruleset."
        [LivehuntRules] => Hunting, |_, n, _| Some(if n.active { takes(Unit::Rule, n.rules) } else { free(Unit::Rule) });
    "8.5.2" "Each retrospective job created takes one job, whether it succeeds and finds anything or not."
        [Retrohunt] => Hunting, |_, n, _| Some(takes(Unit::Job, n.jobs));

    // 8.6 Graph consumption
    "8.6.1" "Creating a private graph takes one graph and nothing else."
        [GraphPrivate] => Graph, |_, n, _| Some(takes(Unit::Graph, n.graphs));
    "8.6.2" "Creating a public graph takes one request for each call that loads its items."
        [GraphPublic] => Api, |_, n, _| match n.loads {
            Some(loads) => Some(requests(n.graphs.saturating_mul(loads))),
            None if n.graphs == 0 => Some(requests(0)),
            None => Some(each(ChargedItem::Load)),
        };

    // Beyond the specification
    "A.1" "Each private scan takes one private scan and no API request: the service's consumption page counts private scans of files and URLs in columns of their own."
        [PrivateScan] => PrivateScans, |_, n, entitled| Some(match entitled.private_scanning.is_granted() {
            Some(false) => refused(Unit::Scan, NO_LICENCE),
            _ => takes(Unit::Scan, n.scans),
        });
}

fn search_by_intelligence(_: Kind, numbers: &Numbers, entitled: &Entitlements) -> Option<Verdict> {
    (paying_pool(entitled) == Pool::Intelligence).then(|| takes(Unit::Search, numbers.calls))
}

pub(super) static GENERAL: &PriceRule = &RULES[1];

/// Why an operation under `/private` is refused (§4.1).
pub const NO_LICENCE: &str = "no private scanning licence";

/// Returns the price without an exception (§8.1.2).
pub(super) fn general(operation: Operation, entitled: &Entitlements) -> Verdict {
    if operation.kind.is_private() && entitled.private_scanning.is_granted() == Some(false) {
        return refused(Unit::Request, NO_LICENCE);
    }
    requests(operation.calls())
}

/// Returns the holders that are charged (§8.1.1).
pub(super) fn charged(entitled: &Entitlements) -> &'static [Holder] {
    // The user may have a group that the service has not shown yet: count against it to be safe.
    if entitled.group.is_granted() == Some(false) { &[Holder::User] } else { &Holder::ALL }
}

/// Returns the pool that pays for enterprise endpoints (§8.4.3). An unknown premium API counts as
/// not bought, because intelligence quota is the smaller of the two pools; except if the user has
/// no premium intelligence to pay from.
fn paying_pool(entitled: &Entitlements) -> Pool {
    match (entitled.premium_api.is_granted(), entitled.premium_intelligence.is_granted()) {
        (Some(true), _) | (None, Some(false)) => Pool::Api,
        (Some(false), Some(false)) => Pool::None,
        (Some(false) | None, Some(true) | None) => Pool::Intelligence,
    }
}

fn takes(unit: Unit, n: u64) -> Verdict {
    Verdict { pool: unit.pool(), unit, units: Units::exactly(n), each: None, why: None, refusal: None }
}

fn requests(n: u64) -> Verdict {
    takes(Unit::Request, n)
}

fn free(unit: Unit) -> Verdict {
    Verdict { pool: Pool::None, ..takes(unit, 0) }
}

fn each(item: ChargedItem) -> Verdict {
    Verdict { units: Units { min: 0, max: None }, each: Some(item), ..requests(0) }
}

fn up_to(most: u64, why: &'static str) -> Verdict {
    Verdict { units: Units { min: 0, max: Some(most) }, why: Some(why), ..requests(0) }
}

/// Makes an upload free if the file is new to the service.
fn free_if_new(is_known: Option<bool>) -> Option<Verdict> {
    match is_known {
        Some(true) => None,
        Some(false) => Some(free(Unit::Request)),
        None => Some(up_to(1, "Nothing if the file is new to the service.")),
    }
}

fn refused(unit: Unit, reason: &'static str) -> Verdict {
    Verdict { refusal: Some(reason), ..free(unit) }
}

impl PartialEq for PriceRule {
    fn eq(&self, other: &Self) -> bool {
        self.number == other.number
    }
}
