//! The price of a call before it is sent, as text and as JSON, and its settlement afterwards.

use super::{Holder, Kind, Pool, PriceRule, Unit};
use crate::text::thousands;
use serde::{Serialize, Serializer, ser::SerializeStruct};
use std::fmt;

/// Whether a price is documented or assumed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Basis {
    Documented,
    /// The specification is silent; one of its rules is applied, or a fact is inferred.
    Assumed,
}

impl Basis {
    /// "documented" or "assumed".
    pub fn name(self) -> &'static str {
        match self {
            Self::Documented => "documented",
            Self::Assumed => "assumed",
        }
    }
}

/// Items of a response that are charged one by one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Returned {
    /// One upload of a file (§8.2.2).
    Submission,
    /// One call that loads items of a graph (§8.6.2).
    Call,
}

impl Returned {
    /// The item's name, singular.
    pub fn name(self) -> &'static str {
        match self {
            Self::Submission => "submission",
            Self::Call => "call",
        }
    }

    pub fn words(self) -> &'static str {
        match self {
            Self::Submission => "submission that is returned",
            Self::Call => "call that loads its items",
        }
    }
}

/// The units of a price, before the response is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Units {
    Exact(u64),
    /// From `min` to `max`, inclusive; without `max` the upper end is unknown.
    Range {
        /// The lower end.
        min: u64,
        /// The upper end, if known.
        max: Option<u64>,
        why: &'static str,
    },
    /// `each` for every item in the response.
    PerItem {
        item: Returned,
        /// Units for one item.
        each: u64,
    },
}

impl Units {
    /// The lower end.
    pub fn min(self) -> u64 {
        match self {
            Self::Exact(n) => n,
            Self::Range { min, .. } => min,
            Self::PerItem { .. } => 0,
        }
    }

    /// The upper end; `None` if unknown.
    pub fn max(self) -> Option<u64> {
        match self {
            Self::Exact(n) => Some(n),
            Self::Range { max, .. } => max,
            Self::PerItem { each, .. } => (each == 0).then_some(0),
        }
    }

    /// The number with its unit: "3 rules", "0 or 1 request", "at least 2 requests", "1 request per
    /// submission".
    pub fn words(self, unit: Unit) -> String {
        match self {
            Self::Exact(n) => unit.count(n),
            Self::Range { max: Some(1), .. } => format!("{self} {}", unit.name()),
            Self::Range { .. } => format!("{self} {}", unit.plural()),
            Self::PerItem { item, each } => format!("{} per {}", unit.count(each), item.name()),
        }
    }

    /// Like [`Self::words`], but short: "3 rules", "0 or 1 req", "1 req per submission".
    pub fn brief(self, unit: Unit) -> String {
        match self {
            Self::PerItem { item, each } => format!("{each} {} per {}", unit.brief(each == 1), item.name()),
            Self::Exact(1) | Self::Range { max: Some(1), .. } => format!("{self} {}", unit.brief(true)),
            _ => format!("{self} {}", unit.brief(false)),
        }
    }
}

/// The number without its unit: "4", "0 or 1", "2 to 5", "at least 3", "0 or more", "1 per
/// submission".
impl fmt::Display for Units {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Exact(n) => f.write_str(&thousands(n)),
            Self::Range { min, max, .. } => match (thousands(min), max) {
                (_, None) if min == 0 => f.write_str("0 or more"),
                (least, None) => write!(f, "at least {least}"),
                (least, Some(max)) if max <= min => f.write_str(&least),
                (least, Some(max)) if max - min == 1 => write!(f, "{least} or {}", thousands(max)),
                (least, Some(max)) => write!(f, "{least} to {}", thousands(max)),
            },
            Self::PerItem { item, each } => write!(f, "{each} per {}", item.name()),
        }
    }
}

impl Serialize for Units {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if let Self::Exact(n) = self {
            return serializer.serialize_u64(*n);
        }
        let mut range = serializer.serialize_struct("Units", 2)?;
        range.serialize_field("min", &self.min())?;
        range.serialize_field("max", &self.max())?;
        range.end()
    }
}

/// The result of a rule for an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The operation draws units from the unit's pool.
    Takes(Unit, Units),
    /// The operation is free; the unit is the one that would be counted otherwise.
    Free(Unit),
    /// The user may not use the operation; the unit is the one that it would draw.
    Refused(Unit, &'static str),
}

/// Whether the user may send the operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Allowed {
    /// Nothing known forbids it.
    Allowed,
    /// The user is not entitled to it, for this reason; it must not be sent.
    Refused(&'static str),
}

/// The cost of an operation, before it is sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Price {
    pub operation: Kind,
    /// The rule that prices it.
    pub rule: &'static PriceRule,
    /// The pool it draws from; [`Pool::None`] if it is free or refused.
    pub pool: Pool,
    /// The unit in which it is, or would be, counted.
    pub unit: Unit,
    pub units: Units,
    /// The holders whose quota is charged (§8.1.1); empty if it is free or refused.
    pub charged: &'static [Holder],
    /// Whether this price is documented or assumed.
    pub basis: Basis,
    /// Whether the user may send it.
    pub allowed: Allowed,
    /// Assumptions and conclusions, as sentences.
    pub notes: Vec<&'static str>,
    /// Numbers of further rules that result in the same price.
    pub agreeing: Vec<&'static str>,
}

impl Price {
    /// Whether it cannot be charged.
    pub fn is_free(&self) -> bool {
        self.units.max() == Some(0)
    }

    /// Whether the user may send it.
    pub fn is_allowed(&self) -> bool {
        self.allowed == Allowed::Allowed
    }

    /// The price in short: "1 request", "0", "0 or 1 request", "1 request per submission",
    /// "refused: no private scanning licence".
    pub fn short(&self) -> String {
        match (self.allowed, self.units) {
            (Allowed::Refused(reason), _) => format!("refused: {reason}"),
            (Allowed::Allowed, Units::Exact(0)) => "0".to_owned(),
            (Allowed::Allowed, units) => units.words(self.unit),
        }
    }

    /// An even shorter form for narrow places: it drops words, but never the unit.
    pub fn brief(&self) -> String {
        match (self.allowed, self.units) {
            (Allowed::Refused(_), _) => "refused".to_owned(),
            (Allowed::Allowed, Units::Exact(0)) => "0".to_owned(),
            (Allowed::Allowed, units) => units.brief(self.unit),
        }
    }

    /// The explanation, one sentence per entry: the rule, the units and holders charged, the facts
    /// that decide, the assumptions.
    pub fn explanation(&self) -> Vec<String> {
        let mut sentences = vec![format!("Rule {}: {}", self.rule.number, self.rule.words), self.drawn()];
        if let Units::Range { why, .. } = self.units {
            sentences.push(why.to_owned());
        }
        sentences.extend(self.notes.iter().map(|note| (*note).to_owned()));
        if !self.agreeing.is_empty() {
            let numbers = self.agreeing.join(" and ");
            sentences.push(format!("The same follows from {numbers}."));
        }
        sentences.push(match self.basis {
            Basis::Documented => "This price is documented.".to_owned(),
            Basis::Assumed => "This price is assumed, not documented.".to_owned(),
        });
        sentences
    }

    /// The units, their pool and its holders, as a sentence.
    fn drawn(&self) -> String {
        if let Allowed::Refused(reason) = self.allowed {
            return format!("It is refused: {reason}. Nothing is sent and nothing is charged.");
        }
        if self.pool == Pool::None {
            return "It takes no quota.".to_owned();
        }
        let holders: Vec<_> = self.charged.iter().map(|holder| holder.name()).collect();
        let amount = match self.units {
            Units::PerItem { item, each } => format!("{} for each {}", self.unit.count(each), item.words()),
            units => units.words(self.unit),
        };
        format!("It takes {amount} from the {} of {} (8.1.1).", self.pool.words(), holders.join(" and "))
    }

    /// Settles the price by the outcome of the call: within the predicted range, or zero if the
    /// call was never sent.
    pub fn settle(&self, outcome: Outcome) -> Settled {
        let (min, max) = (self.units.min(), self.units.max());
        let at_most =
            max.map_or(Settled::Open, |most| if most == min { Settled::Exactly(most) } else { Settled::AtMost(most) });
        match (outcome, self.units) {
            (Outcome::Unsent, _) => Settled::Exactly(0),
            (Outcome::Unknown | Outcome::Failed, _) if !self.is_free() => max.map_or(Settled::Open, Settled::AtMost),
            (Outcome::Items(n), Units::PerItem { each, .. }) => Settled::Exactly(each.saturating_mul(n)),
            (Outcome::Existed(false), Units::Range { .. }) => Settled::Exactly(min),
            (Outcome::Existed(true), Units::Range { .. }) => max.map_or(Settled::Open, Settled::Exactly),
            _ => at_most,
        }
    }
}

/// The JSON form. `units` is a number, or an object with `min` and `max`.
impl Serialize for Price {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut price = serializer.serialize_struct("Price", 9)?;
        price.serialize_field("operation", &self.operation)?;
        price.serialize_field("rule", self.rule.number)?;
        price.serialize_field("pool", &self.pool)?;
        price.serialize_field("unit", &self.unit)?;
        price.serialize_field("units", &self.units)?;
        price.serialize_field("charged", self.charged)?;
        price.serialize_field("basis", &self.basis)?;
        price.serialize_field("allowed", &self.is_allowed())?;
        price.serialize_field("why", &self.explanation().join(" "))?;
        price.end()
    }
}

/// The outcome of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It was never sent.
    Unsent,
    /// It was answered, and the response does not narrow the price.
    Answered,
    /// The response contains this many of the items that are charged one by one.
    Items(u64),
    /// It was answered, and its subject (the analysis requested or the file uploaded) existed
    /// before (`true`) or did not.
    Existed(bool),
    /// It was answered with an error. The specification does not say whether errors are charged;
    /// they may be.
    Failed,
    /// No response was received; the service may have processed the call nevertheless.
    Unknown,
}

/// The cost of a call after it was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Settled {
    Exactly(u64),
    /// At most this much; counted as this much until the service's counters say otherwise.
    AtMost(u64),
    /// Unknown until the service's counters show it.
    Open,
}

impl Settled {
    /// The amount to record so that it is never too low; `None` if only the counters can show it.
    pub fn careful(self) -> Option<u64> {
        match self {
            Self::Exactly(n) | Self::AtMost(n) => Some(n),
            Self::Open => None,
        }
    }
}
