//! Section 8 of the specification as a table: one row is one rule, in the specification's order.
//!
//! 8.1.2 is the general rule; the rows below it are exceptions. The first exception that applies
//! prices an operation; if several apply, they agree. Without an exception, the general rule
//! applies.

use super::{
    Basis, Entitlements, Holder, Kind, Operation, Period, Pool, Returned, Unit, Units, Verdict, operation::total,
};
use Basis::Documented;
use RuleEffect::{Charges, Limits, Prices};
use Verdict::{Free, Refused, Takes};
use serde::{Serialize, Serializer, ser::SerializeStruct};
use std::fmt;

/// One rule of consumption.
pub struct PriceRule {
    /// Its number in the specification; rows of tables by their position; `A.` if it is not in the
    /// specification.
    pub number: &'static str,
    pub words: &'static str,
    /// The operations that it covers.
    pub operations: &'static [Kind],
    /// The pool that it covers; [`Pool::None`] if it makes operations free or covers all pools.
    pub pool: Pool,
    /// Whether the specification states it.
    pub basis: Basis,
    pub effect: RuleEffect,
}

/// The effect of a rule.
pub enum RuleEffect {
    /// Prices an operation; `None` if the rule does not apply to this case.
    Prices(fn(&Operation, &Entitlements) -> Option<Verdict>),
    /// Determines whose quota is charged.
    Charges(fn(&Entitlements) -> &'static [Holder]),
    /// Determines the periods over which a unit is limited.
    Limits(fn(Unit) -> &'static [Period]),
}

impl PriceRule {
    /// The periods over which the pool it draws from is limited (§8.1.3), shortest first.
    pub fn periods(&self) -> &'static [Period] {
        Unit::ALL.iter().find(|unit| unit.pool() == self.pool).map_or(&[], |unit| limits(*unit))
    }

    /// The verdict on an operation; `None` if the rule does not apply to this case.
    pub fn verdict(&self, operation: &Operation, entitled: &Entitlements) -> Option<Verdict> {
        match self.effect {
            Prices(price) => price(operation, entitled),
            Charges(_) | Limits(_) => None,
        }
    }
}

/// The rules of section 8.
pub static RULES: [&PriceRule; 22] = [
    // 8.1 General rules
    &CHARGED,
    &GENERAL,
    &PERIODS,
    // 8.2 API v2 consumption
    &PriceRule {
        number: "8.2.1",
        words: "A v2 file report asked with a list of hashes takes one request for each hash.",
        operations: &[Kind::V2FileReport],
        pool: Pool::Api,
        basis: Documented,
        effect: Prices(|operation, _| match operation {
            Operation::V2FileReport { hashes, after_new_upload: Some(false) | None } => requests(*hashes),
            _ => None,
        }),
    },
    &PriceRule {
        number: "8.2.2",
        words: "V2 submissions take one request for each submission returned, summed over all files asked about.",
        operations: &[Kind::V2FileSubmissions],
        pool: Pool::Api,
        basis: Documented,
        effect: Prices(|operation, _| match operation {
            Operation::V2FileSubmissions { submissions: Some(of_each_file) } => requests(total(of_each_file)),
            Operation::V2FileSubmissions { submissions: None } => takes(Unit::Request, one_per(Returned::Submission)),
            _ => None,
        }),
    },
    &PriceRule {
        number: "8.2.3",
        words: "Uploading by v2 a file that the service does not know takes nothing.",
        operations: &[Kind::V2FileScan],
        pool: Pool::None,
        basis: Documented,
        effect: Prices(|operation, _| match operation {
            Operation::V2FileScan { known: Some(false) } => free(),
            Operation::V2FileScan { known: None } => nothing_or_one("Nothing if the file is new to the service."),
            _ => None,
        }),
    },
    &PriceRule {
        number: "8.2.4",
        words: "A v2 file report that checks on such an upload takes its requests as usual.",
        operations: &[Kind::V2FileReport],
        pool: Pool::Api,
        basis: Documented,
        effect: Prices(|operation, _| match operation {
            Operation::V2FileReport { hashes, after_new_upload: Some(true) } => requests(*hashes),
            _ => None,
        }),
    },
    // 8.3 API v3 consumption
    &PriceRule {
        number: "8.3.1",
        words: "Searches by a user with intelligence quota and without premium API are taken from intelligence quota.",
        operations: &[Kind::V3Search],
        pool: Pool::Intelligence,
        basis: Documented,
        effect: Prices(|operation, entitled| match (operation, purse(entitled)) {
            (Operation::V3Search { calls }, Purse::Intelligence) => searches(*calls),
            _ => None,
        }),
    },
    &PriceRule {
        number: "8.3.2",
        words: "Searches by a user with premium API are taken from API quota as usual.",
        operations: &[Kind::V3Search],
        pool: Pool::Api,
        basis: Documented,
        effect: Prices(|operation, entitled| match (operation, purse(entitled)) {
            (Operation::V3Search { calls }, Purse::Api) => requests(*calls),
            _ => None,
        }),
    },
    &PriceRule {
        number: "8.3.3",
        words: "Quota details and usage details take nothing.",
        operations: &[Kind::V3Quotas, Kind::V3Usage],
        pool: Pool::None,
        basis: Documented,
        effect: Prices(|operation, _| match operation {
            Operation::V3Quotas { .. } | Operation::V3Usage { .. } => free(),
            _ => None,
        }),
    },
    &PriceRule {
        number: "8.3.4",
        words: "Feeds take nothing, nor do file downloads by links that a feed gave.",
        operations: &[Kind::V3Feed],
        pool: Pool::None,
        basis: Documented,
        effect: Prices(|operation, _| match operation {
            Operation::V3Feed { .. } => free(),
            _ => None,
        }),
    },
    &PriceRule {
        number: "8.3.5",
        words: "Asking for an analysis by an invalid identifier takes nothing.",
        operations: &[Kind::V3Analysis],
        pool: Pool::None,
        basis: Documented,
        effect: Prices(|operation, _| match operation {
            Operation::V3Analysis { exists: Some(false) } => free(),
            Operation::V3Analysis { exists: None } => {
                nothing_or_one("Nothing if the identifier is invalid: the service answers 400 or 404.")
            }
            _ => None,
        }),
    },
    &PriceRule {
        number: "8.3.6",
        words: "Uploading a file that the service does not know takes nothing, nor do later look-ups of that file and of its analyses.",
        operations: &[Kind::V3FileUpload, Kind::V3File, Kind::V3FileAnalyses],
        pool: Pool::None,
        basis: Documented,
        effect: Prices(|operation, _| match operation {
            Operation::V3FileUpload { known: Some(false) }
            | Operation::V3File { after_new_upload: Some(true), .. }
            | Operation::V3FileAnalyses { after_new_upload: Some(true), .. } => free(),
            Operation::V3File { calls, after_new_upload: None }
            | Operation::V3FileAnalyses { calls, after_new_upload: None } => takes(
                Unit::Request,
                Units::Range {
                    min: 0,
                    max: Some(*calls),
                    why: "Nothing if the file was new to the service when it was uploaded; the answer to that was lost.",
                },
            ),
            Operation::V3FileUpload { known: None } => nothing_or_one("Nothing if the file is new to the service."),
            _ => None,
        }),
    },
    &PriceRule {
        number: "8.3.7",
        words: "Scanning a public file again takes one request, as any call.",
        operations: &[Kind::V3Rescan],
        pool: Pool::Api,
        basis: Documented,
        effect: Prices(|operation, _| match operation {
            Operation::V3Rescan { calls } => requests(*calls),
            _ => None,
        }),
    },
    // 8.4 Intelligence consumption
    &PriceRule {
        number: "8.4.1",
        words: "On the website each search, each pivot to another search and each further page takes one search, with many hashes or not.",
        operations: &[Kind::WebSearch],
        pool: Pool::Intelligence,
        basis: Documented,
        effect: Prices(|operation, entitled| match operation {
            Operation::WebSearch { .. } if entitled.premium_intelligence.held() == Some(false) => {
                refused(Unit::Search, "no premium intelligence")
            }
            Operation::WebSearch { calls } => searches(*calls),
            _ => None,
        }),
    },
    &PriceRule {
        number: "8.4.2",
        words: "By v3, with premium intelligence and without premium API, each request takes one search, and so does each step of a cursor.",
        operations: &[Kind::V3Search],
        pool: Pool::Intelligence,
        basis: Documented,
        effect: Prices(|operation, entitled| match (operation, purse(entitled)) {
            (Operation::V3Search { calls }, Purse::Intelligence) => searches(*calls),
            _ => None,
        }),
    },
    &PriceRule {
        number: "8.4.3",
        words: "Enterprise endpoints take API quota where premium API is bought, otherwise intelligence quota.",
        operations: &[Kind::V3Search, Kind::V3Download],
        pool: Pool::Intelligence,
        basis: Documented,
        effect: Prices(|operation, entitled| {
            let (unit, calls) = match operation {
                Operation::V3Search { calls } => (Unit::Search, *calls),
                Operation::V3Download { calls } => (Unit::Download, *calls),
                _ => return None,
            };
            match purse(entitled) {
                Purse::Api => requests(calls),
                Purse::Intelligence => takes(unit, Units::Exact(calls)),
                Purse::Neither => refused(unit, "neither premium API nor premium intelligence"),
            }
        }),
    },
    // 8.5 Hunting consumption
    &PriceRule {
        number: "8.5.1",
        words: "Each live hunting rule created takes one rule, except in an inactive ruleset.",
        operations: &[Kind::LivehuntRules],
        pool: Pool::Hunting,
        basis: Documented,
        effect: Prices(|operation, _| match operation {
            Operation::LivehuntRules { active: false, .. } => Some(Free(Unit::Rule)),
            Operation::LivehuntRules { rules, .. } => takes(Unit::Rule, Units::Exact(*rules)),
            _ => None,
        }),
    },
    &PriceRule {
        number: "8.5.2",
        words: "Each retrospective job created takes one job, whether it succeeds and finds anything or not.",
        operations: &[Kind::Retrohunt],
        pool: Pool::Hunting,
        basis: Documented,
        effect: Prices(|operation, _| match operation {
            Operation::Retrohunt { jobs } => takes(Unit::Job, Units::Exact(*jobs)),
            _ => None,
        }),
    },
    // 8.6 Graph consumption
    &PriceRule {
        number: "8.6.1",
        words: "Creating a private graph takes one graph and nothing else.",
        operations: &[Kind::GraphPrivate],
        pool: Pool::Graph,
        basis: Documented,
        effect: Prices(|operation, _| match operation {
            Operation::GraphPrivate { graphs, .. } => takes(Unit::Graph, Units::Exact(*graphs)),
            _ => None,
        }),
    },
    &PriceRule {
        number: "8.6.2",
        words: "Creating a public graph takes one request for each call that loads its items.",
        operations: &[Kind::GraphPublic],
        pool: Pool::Api,
        basis: Documented,
        effect: Prices(|operation, _| match operation {
            Operation::GraphPublic { graphs, loads: Some(loads) } => requests(graphs.saturating_mul(*loads)),
            Operation::GraphPublic { graphs: 0, .. } => requests(0),
            Operation::GraphPublic { loads: None, .. } => takes(Unit::Request, one_per(Returned::Call)),
            _ => None,
        }),
    },
    // Beyond the specification
    &PriceRule {
        number: "A.1",
        words: "Each private scan takes one private scan and no API request: the service's consumption page counts private scans of files and URLs in columns of their own.",
        operations: &[Kind::PrivateScan],
        pool: Pool::PrivateScans,
        basis: Documented,
        effect: Prices(|operation, entitled| match operation {
            Operation::PrivateScan { .. } if unlicensed(operation, entitled) => refused(Unit::Scan, NO_LICENCE),
            Operation::PrivateScan { scans } => takes(Unit::Scan, Units::Exact(*scans)),
            _ => None,
        }),
    },
];

/// The holders that are charged.
static CHARGED: PriceRule = PriceRule {
    number: "8.1.1",
    words: "A group shares its quota: what a user consumes counts for the user and for the group.",
    operations: Kind::ALL,
    pool: Pool::None,
    basis: Documented,
    effect: Charges(charged),
};

/// The rule for everything without an exception.
pub(super) static GENERAL: PriceRule = PriceRule {
    number: "8.1.2",
    words: "One API call takes one request, unless a rule below says otherwise.",
    operations: &[
        Kind::PrivateBehaviours,
        Kind::PrivateBehaviour,
        Kind::PrivateSummary,
        Kind::PrivateArtefact,
        Kind::PrivateFile,
        Kind::PrivateRelated,
        Kind::PrivateDelete,
        Kind::PrivateAnalysis,
        Kind::PrivateUploadUrl,
        Kind::V2FileScan,
        Kind::V3FileUpload,
        Kind::V3File,
        Kind::V3FileAnalyses,
        Kind::V3Analysis,
        Kind::V3User,
    ],
    pool: Pool::Api,
    basis: Documented,
    effect: Prices(general),
};

/// The periods over which each unit is limited.
static PERIODS: PriceRule = PriceRule {
    number: "8.1.3",
    words: "API quota is limited by minute, day and month; intelligence, hunting and graph quota by month.",
    operations: Kind::ALL,
    pool: Pool::None,
    basis: Documented,
    effect: Limits(limits),
};

/// Why an operation under `/private` is refused (§4.1).
pub const NO_LICENCE: &str = "no private scanning licence";

pub(super) fn charged(entitled: &Entitlements) -> &'static [Holder] {
    match entitled.group.held() {
        Some(false) => &[Holder::User],
        // The user may have a group that the service has not shown yet, so count against it to be
        // safe.
        Some(true) | None => &[Holder::User, Holder::Group],
    }
}

fn general(operation: &Operation, entitled: &Entitlements) -> Option<Verdict> {
    if unlicensed(operation, entitled) {
        return refused(Unit::Request, NO_LICENCE);
    }
    requests(operation.calls())
}

fn limits(unit: Unit) -> &'static [Period] {
    unit.periods()
}

/// Whether the operation needs a licence that the user is known not to hold (§4.1).
fn unlicensed(operation: &Operation, entitled: &Entitlements) -> bool {
    operation.kind().is_private() && entitled.private_scanning.held() == Some(false)
}

/// The pool that pays for enterprise endpoints (§8.4.3).
#[derive(Clone, Copy, PartialEq, Eq)]
enum Purse {
    Api,
    Intelligence,
    Neither,
}

/// Treats an unknown premium API as not bought, because intelligence quota is the smaller of the
/// two pools; except if the user has no premium intelligence to pay from.
fn purse(entitled: &Entitlements) -> Purse {
    match (entitled.premium_api.held(), entitled.premium_intelligence.held()) {
        (Some(true), _) | (None, Some(false)) => Purse::Api,
        (Some(false), Some(false)) => Purse::Neither,
        (Some(false) | None, Some(true) | None) => Purse::Intelligence,
    }
}

fn takes(unit: Unit, units: Units) -> Option<Verdict> {
    Some(Takes(unit, units))
}

fn requests(n: u64) -> Option<Verdict> {
    takes(Unit::Request, Units::Exact(n))
}

fn searches(n: u64) -> Option<Verdict> {
    takes(Unit::Search, Units::Exact(n))
}

fn one_per(item: Returned) -> Units {
    Units::PerItem { item, each: 1 }
}

fn nothing_or_one(why: &'static str) -> Option<Verdict> {
    let (min, max) = (0, Some(1));
    takes(Unit::Request, Units::Range { min, max, why })
}

fn free() -> Option<Verdict> {
    Some(Free(Unit::Request))
}

fn refused(unit: Unit, reason: &'static str) -> Option<Verdict> {
    Some(Refused(unit, reason))
}

pub fn rule(number: &str) -> Option<&'static PriceRule> {
    RULES.into_iter().find(|rule| rule.number == number)
}

impl PartialEq for PriceRule {
    fn eq(&self, other: &Self) -> bool {
        self.number == other.number
    }
}

impl Eq for PriceRule {}

impl fmt::Debug for PriceRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Rule({})", self.number)
    }
}

/// The JSON form, a row with number, words, operations, pool and basis.
impl Serialize for PriceRule {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut row = serializer.serialize_struct("Rule", 5)?;
        row.serialize_field("number", self.number)?;
        row.serialize_field("words", self.words)?;
        row.serialize_field("operations", self.operations)?;
        row.serialize_field("pool", &self.pool)?;
        row.serialize_field("basis", &self.basis)?;
        row.end()
    }
}
