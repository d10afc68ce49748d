//! Prices an operation: finds the rule that applies and states the assumptions.

use super::{
    Allowed, Basis, Entitlements, Holder, Kind, Operation, Pool, Price, PriceRule, RULES, Unit, Units, Verdict,
    rules::{GENERAL, charged},
};

/// The rule that prices an operation for a user with these entitlements.
pub fn rule_for(operation: &Operation, entitled: &Entitlements) -> &'static PriceRule {
    exceptions(operation, entitled).map(|(rule, _)| rule).next().unwrap_or(&GENERAL)
}

/// The exceptions that apply, with their verdicts.
fn exceptions<'a>(
    operation: &'a Operation,
    entitled: &'a Entitlements,
) -> impl Iterator<Item = (&'static PriceRule, Verdict)> + 'a {
    let particular = RULES.into_iter().filter(|rule| *rule != &GENERAL);
    particular.filter_map(|rule| Some((rule, rule.verdict(operation, entitled)?)))
}

/// The price of an operation for a user with these entitlements.
pub fn price(operation: &Operation, entitled: &Entitlements) -> Price {
    let rule = rule_for(operation, entitled);
    let fallback = Verdict::Takes(Unit::Request, Units::Exact(operation.calls()));
    let verdict = rule.verdict(operation, entitled).unwrap_or(fallback);
    let (pool, unit, units, allowed) = match verdict {
        Verdict::Takes(unit, units) => (unit.pool(), unit, units, Allowed::Allowed),
        Verdict::Free(unit) => (Pool::None, unit, Units::Exact(0), Allowed::Allowed),
        Verdict::Refused(unit, reason) => (Pool::None, unit, Units::Exact(0), Allowed::Refused(reason)),
    };
    let agreeing = exceptions(operation, entitled).skip(1);
    let agreeing = agreeing.map(|(rule, _)| rule.number).collect();
    let mut notes = assumptions(operation, entitled);
    let charged: &[Holder] = match pool {
        Pool::None => &[],
        _ => charged(entitled),
    };
    let basis = if notes.is_empty() { rule.basis } else { Basis::Assumed };
    notes.extend(remark(operation.kind(), entitled));
    let operation = operation.kind();
    Price { operation, rule, pool, unit, units, charged, basis, allowed, notes, agreeing }
}

/// The assumptions behind a price, as sentences.
fn assumptions(operation: &Operation, entitled: &Entitlements) -> Vec<&'static str> {
    let mut notes = Vec::new();
    let kind = operation.kind();
    match kind {
        Kind::V3Download => notes.push("Section 8 of the service's consumption rules counts downloads as intelligence quota; that a download is an enterprise endpoint is concluded from that."),
        Kind::V3User => notes.push("Section 8 of the service's consumption rules is silent on the user object; the general rule is applied."),
        _ if kind.is_private() && kind != Kind::PrivateScan => notes.push("Section 8 of the service's consumption rules is silent on private endpoints; the general rule is applied to them."),
        _ => {}
    }
    if matches!(kind, Kind::V3Search | Kind::V3Download) {
        notes.extend(enterprise_assumptions(entitled));
    }
    if kind == Kind::WebSearch && entitled.premium_intelligence.held().is_none() {
        notes.push("Whether there is premium intelligence is not known; it is assumed.");
    }
    if kind == Kind::WebSearch && entitled.premium_intelligence.held() == Some(false) {
        notes.push("Section 8 of the service's consumption rules is silent on searches without premium intelligence; that there are none is concluded.");
    }
    notes
}

/// A remark about a price that does not make it less certain.
fn remark(kind: Kind, entitled: &Entitlements) -> Option<&'static str> {
    match kind {
        Kind::LivehuntRules | Kind::Retrohunt => Some(
            "Section 8 of the service's consumption rules does not say whether the API call that creates it takes a request as well.",
        ),
        _ if kind.is_private() && entitled.private_scanning.held().is_none() => {
            Some("Whether there is a private scanning licence is not known; without one the call is refused.")
        }
        _ => None,
    }
}

/// The assumption about which pool pays for an enterprise endpoint.
fn enterprise_assumptions(entitled: &Entitlements) -> Option<&'static str> {
    let api = entitled.premium_api;
    let intelligence = entitled.premium_intelligence;
    match (api.held(), intelligence.held()) {
        (None, Some(true)) => {
            Some("Whether premium API is bought is not known; if it is, as much is taken from API quota instead.")
        }
        (None, Some(false)) => {
            Some("Whether premium API is bought is not known; it is assumed, for without it the call is refused.")
        }
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
        _ if api.held() != Some(true) && intelligence.is_inferred() => {
            Some("Premium intelligence is inferred from the allowance of searches.")
        }
        _ => None,
    }
}
