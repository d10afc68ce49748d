//! Prices an operation by the rule that applies, explains the price, and settles it after the call.

use super::rules::{GENERAL, Verdict, charged, general};
use super::{Entitlements, Holder, Kind, Operation, Pool, PriceRule, RULES, Unit};
use crate::text::{moment, names, thousands};
use jiff::Timestamp;
use serde::{Serialize, Serializer};
use serde_json::json;
use std::fmt;

/// An amount of one unit: of a price, of a sum of prices, or of the cost of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Units {
    pub min: u64,
    /// `None` if unknown.
    pub max: Option<u64>,
}

impl Units {
    pub const NOTHING: Self = Self::exactly(0);

    pub const fn exactly(n: u64) -> Self {
        Self { min: n, max: Some(n) }
    }

    /// Returns the amount, if it is certain.
    pub(crate) fn exact(self) -> Option<u64> {
        self.max.filter(|max| *max == self.min)
    }

    /// Returns the sum of both. A sum beyond `u64` becomes "at least the maximum".
    pub fn plus(self, other: Self) -> Self {
        let max = self.max.zip(other.max);
        Self { min: self.min.saturating_add(other.min), max: max.and_then(|(one, two)| one.checked_add(two)) }
    }

    pub(crate) fn beyond(self, remaining: u64) -> Self {
        let beyond = |n: u64| n.saturating_sub(remaining);
        Self { min: beyond(self.min), max: self.max.map(beyond) }
    }

    /// Returns the number with its unit: "3 rules", "0 or 1 request", "at least 2 requests".
    pub fn label(self, unit: Unit) -> String {
        let is_one = self.max == Some(1) || self == Self { min: 1, max: None };
        format!("{self} {}", if is_one { unit.name().to_owned() } else { unit.plural() })
    }
}

/// The number without its unit: "4", "0 or 1", "2 to 5", "at least 3", "0 or more".
impl fmt::Display for Units {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let least = thousands(self.min);
        match self.max {
            None if self.min == 0 => f.write_str("0 or more"),
            None => write!(f, "at least {least}"),
            Some(max) if max <= self.min => f.write_str(&least),
            Some(max) if max - self.min == 1 => write!(f, "{least} or {}", thousands(max)),
            Some(max) => write!(f, "{least} to {}", thousands(max)),
        }
    }
}

names! {
    /// An item that is charged one by one.
    ChargedItem label {
        /// An upload of a file (§8.2.2).
        Submission "submission" "submission that is returned",
        /// A call that loads items of a graph (§8.6.2).
        Load "call" "call that loads its items",
    }
}

names! {
    /// Whether a price is documented or assumed.
    Basis {
        Documented "documented",
        /// The specification is silent; one of its rules is applied, or a fact is inferred.
        Assumed "assumed",
    }
}

/// The cost of an operation, before it is sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Price {
    pub operation: Operation,
    pub rule: &'static PriceRule,
    /// The decision of the rule.
    pub verdict: Verdict,
    /// The holders whose quota is charged (§8.1.1); empty if it is free or refused.
    pub charged: &'static [Holder],
    pub basis: Basis,
    /// Assumptions and conclusions, as sentences.
    pub(crate) notes: Vec<&'static str>,
    /// Numbers of further rules that result in the same price.
    pub(crate) agreeing: Vec<&'static str>,
    /// When the user object was read, if the price depends on it.
    pub(crate) user_read: Option<Timestamp>,
}

/// Returns the price of an operation for a user with these entitlements.
pub fn price(operation: &Operation, entitled: &Entitlements) -> Price {
    let verdict = |rule: &'static PriceRule| Some((rule, rule.verdict(operation, entitled)?));
    let mut exceptions = RULES.iter().filter(|rule| *rule != GENERAL).filter_map(verdict);
    let (rule, verdict) = exceptions.next().unwrap_or_else(|| (GENERAL, general(*operation, entitled)));
    let agreeing = exceptions.map(|(rule, _)| rule.number).collect();
    let charged = if verdict.pool == Pool::None { &[] } else { charged(entitled) };
    let mut notes = assumptions(operation.kind, entitled);
    let basis = if notes.is_empty() { Basis::Documented } else { Basis::Assumed };
    notes.extend(remark(operation.kind, entitled));
    let is_of_user = matches!(operation.kind, Kind::V3Search | Kind::V3Download | Kind::WebSearch);
    let user_read = entitled.user_read.filter(|_| is_of_user);
    Price { operation: *operation, rule, verdict, charged, basis, notes, agreeing, user_read }
}

impl Price {
    /// Returns whether it cannot be charged.
    pub fn is_free(&self) -> bool {
        self.verdict.units.max == Some(0)
    }

    /// Formats it in short: "1 request", "0 or 1 request", "refused: no private scanning licence".
    pub fn short(&self) -> String {
        let Verdict { unit, units, each, refusal, .. } = self.verdict;
        match (refusal, each) {
            (Some(reason), _) => format!("refused: {reason}"),
            (None, Some(item)) => format!("{} per {}", unit.count(1), item.name()),
            (None, None) if units == Units::NOTHING => "0".to_owned(),
            (None, None) => units.label(unit),
        }
    }

    /// Returns the units that it takes, as part of a sentence.
    pub(crate) fn amount(&self) -> String {
        match self.verdict.each {
            Some(item) => format!("{} for each {}", self.verdict.unit.count(1), item.label()),
            None => self.verdict.units.label(self.verdict.unit),
        }
    }

    /// Explains it in sentences: the rule, units and holders, the facts that decide, assumptions.
    pub fn explanation(&self) -> Vec<String> {
        let holders: Vec<_> = self.charged.iter().map(|holder| holder.name()).collect();
        let pool = self.verdict.pool.label();
        let holders = holders.join(" and ");
        let drawn = match self.verdict.refusal {
            Some(reason) => format!("It is refused: {reason}. Nothing is sent and nothing is charged."),
            None if self.verdict.pool == Pool::None => "It takes no quota.".to_owned(),
            None => format!("It takes {} from the {pool} of {holders} (8.1.1).", self.amount()),
        };
        let mut sentences = vec![format!("Rule {}: {}", self.rule.number, self.rule.text), drawn];
        sentences.extend(self.verdict.why.iter().chain(&self.notes).map(|note| (*note).to_owned()));
        sentences.extend(self.user_read.map(|at| format!("The user object was read {}.", moment(at))));
        if !self.agreeing.is_empty() {
            sentences.push(format!("The same follows from {}.", self.agreeing.join(" and ")));
        }
        let not = if self.basis == Basis::Assumed { ", not documented" } else { "" };
        sentences.push(format!("This price is {}{not}.", self.basis.name()));
        sentences
    }

    /// Derives the cost of a call from its outcome: within the price, or zero if it was never sent.
    pub fn settle(&self, outcome: Outcome) -> Settlement {
        let Units { min, max } = self.verdict.units;
        let units = match outcome {
            Outcome::Unsent => Units::NOTHING,
            Outcome::Unknown | Outcome::Failed => Units { min: 0, max },
            Outcome::Items(items) if self.verdict.each.is_some() => items,
            Outcome::Existed(false) if self.verdict.why.is_some() => Units::exactly(min),
            Outcome::Existed(true) => Units { min: max.unwrap_or(min), max },
            _ => self.verdict.units,
        };
        let state = match (units.exact(), outcome) {
            (_, Outcome::Unsent) => State::Unsent,
            (Some(0), Outcome::Existed(false) | Outcome::Failed | Outcome::Unknown) => State::Free,
            (Some(_), _) => State::Charged,
            (None, _) => State::Unknown,
        };
        Settlement { state, unit: self.verdict.unit, units }
    }
}

impl Serialize for Price {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        json!({
            "operation": self.operation.kind,
            "rule": self.rule.number,
            "pool": self.verdict.pool,
            "unit": self.verdict.unit,
            "units": self.verdict.units,
            "holders": self.charged,
            "basis": self.basis,
            "allowed": self.verdict.refusal.is_none(),
            "explanation": self.explanation().join(" "),
        })
        .serialize(serializer)
    }
}

names! {
    /// State of a call in the ledger.
    State {
        /// It cost the settled units, by its response or by the counters.
        Charged "charged",
        Free "free",
        Unsent "unsent",
        /// It may have been charged.
        Unknown "unknown",
        /// It is in flight, or its outcome could not be written.
        Reserved "reserved",
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It was never sent.
    Unsent,
    /// It was answered, and the response does not narrow the price.
    Received,
    /// Items in the response, charged one by one; without a maximum if it omits some numbers.
    Items(Units),
    /// It was answered; its subject (analysis or uploaded file) existed before (`true`) or did not.
    Existed(bool),
    /// Its response was an error, which may be charged: the specification does not say.
    Failed,
    /// No response was received; the service may have processed the call nevertheless.
    Unknown,
}

/// The cost of a call, as far as its outcome shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settlement {
    pub state: State,
    pub unit: Unit,
    /// From the certain to the possible units.
    pub units: Units,
}

impl Settlement {
    /// A call that did not leave this machine.
    pub const UNSENT: Self = Self { state: State::Unsent, unit: Unit::Request, units: Units::NOTHING };

    /// A call with an unknown outcome.
    pub const UNKNOWN: Self = Self { state: State::Unknown, units: Units { min: 0, max: None }, ..Self::UNSENT };
}

impl fmt::Display for Settlement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.state, self.units.max) {
            (State::Reserved, _) => f.write_str("It may have been charged; the ledger could not be written."),
            (_, Some(0)) => f.write_str("It cost nothing."),
            (State::Charged, _) => f.write_str("Its price was paid."),
            (_, None) => f.write_str("It may have been charged."),
            (_, Some(most)) => {
                let units = self.unit.count(most);
                write!(f, "It may have cost {units}; the ledger counts it until the service's counters say otherwise.")
            }
        }
    }
}

fn assumptions(kind: Kind, entitled: &Entitlements) -> Vec<&'static str> {
    let mut notes = Vec::new();
    match (kind, entitled.premium_intelligence.is_granted()) {
        (Kind::V3Download, _) => notes.push("Section 8 of the service's consumption rules counts downloads as intelligence quota; that a download is an enterprise endpoint is concluded from that."),
        (Kind::V3User, _) => notes.push("Section 8 of the service's consumption rules is silent on the user object; the general rule is applied."),
        (Kind::V3GroupUsage | Kind::V3GroupUsers, _) => notes.push("Section 8 of the service's consumption rules is silent on groups; the general rule is applied."),
        (Kind::WebSearch, None) => notes.push("Whether there is premium intelligence is not known; it is assumed."),
        (Kind::WebSearch, Some(false)) => notes.push("Section 8 of the service's consumption rules is silent on searches without premium intelligence; that there are none is concluded."),
        _ if kind.is_private() && kind != Kind::PrivateScan => notes.push("Section 8 of the service's consumption rules is silent on private endpoints; the general rule is applied to them."),
        _ => {}
    }
    if matches!(kind, Kind::V3Search | Kind::V3Download) {
        notes.extend(enterprise_assumptions(entitled));
    }
    notes
}

/// Returns a remark about a price that does not make it less certain.
fn remark(kind: Kind, entitled: &Entitlements) -> Option<&'static str> {
    match kind {
        Kind::LivehuntRules | Kind::Retrohunt => Some(
            "Section 8 of the service's consumption rules does not say whether the API call that creates it takes a request as well.",
        ),
        _ if kind.is_private() && entitled.private_scanning.is_granted().is_none() => {
            Some("Whether there is a private scanning licence is not known; without one the call is refused.")
        }
        _ => None,
    }
}

/// Returns the assumption about which pool pays for an enterprise endpoint.
fn enterprise_assumptions(entitled: &Entitlements) -> Option<&'static str> {
    let api = entitled.premium_api;
    let intelligence = entitled.premium_intelligence;
    match (api.is_granted(), intelligence.is_granted()) {
        (None, Some(true)) => Some("Premium API is not known; with it, as much is taken from API quota instead."),
        (None, Some(false)) => Some("Premium API is not known; it is assumed, for without it the call is refused."),
        (Some(false), None) => Some(
            "Whether there is premium intelligence is not known; it is assumed, for without it the call is refused.",
        ),
        (None, None) => Some(
            "Neither premium API nor premium intelligence is known; intelligence is assumed, the smaller of the two quotas.",
        ),
        (Some(false), Some(false)) => Some(
            "Section 8 of the service's consumption rules is silent on users with neither premium API nor premium intelligence; that the call is refused is concluded.",
        ),
        _ if api.is_inferred() => Some("Premium API is inferred from a privilege of the user."),
        _ if api.is_granted() != Some(true) && intelligence.is_inferred() => {
            Some("Premium intelligence is inferred from the allowance of searches.")
        }
        _ => None,
    }
}
