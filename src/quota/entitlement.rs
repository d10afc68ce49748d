//! The licences and features that the user has, and how each is known.

use super::{Balances, Counter, Holder, Period, Unit};
use jiff::Timestamp;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The source of an entitlement; later sources are stronger.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum EntitlementSource {
    /// Inferred from a response whose documentation does not say so.
    Inferred,
    Service,
    /// Set by the user; overrides every other source.
    ByHand,
}

/// Whether the user has bought something, and how that is known; unknown by default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Entitlement(Option<(bool, EntitlementSource)>);

impl Entitlement {
    /// Returns an entitlement set by the user.
    pub fn by_hand(is_granted: bool) -> Self {
        Self::read(Some(is_granted), EntitlementSource::ByHand)
    }

    /// Returns an entitlement of this source; unknown if the source does not mention it.
    pub(super) fn read(is_granted: Option<bool>, source: EntitlementSource) -> Self {
        Self(is_granted.map(|is_granted| (is_granted, source)))
    }

    /// `Some(true)` if the user has it, `Some(false)` if not, `None` if unknown.
    pub fn is_granted(self) -> Option<bool> {
        self.0.map(|(is_granted, _)| is_granted)
    }

    pub(crate) fn is_inferred(self) -> bool {
        self.0.is_some_and(|(_, source)| source == EntitlementSource::Inferred)
    }

    /// Returns the one with the stronger source; `newer` if both are equal.
    pub(crate) fn updated(self, newer: Self) -> Self {
        let is_stronger = |(_, new): (bool, EntitlementSource)| self.0.is_none_or(|(_, old)| new >= old);
        if newer.0.is_some_and(is_stronger) { newer } else { self }
    }
}

/// Files uploaded by the public API with this key, from the ledger: their SHA-256, and whether each
/// was certainly new to the service. Later look-ups of new files are free (§8.3.6).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Uploads(Arc<BTreeMap<String, bool>>);

impl Uploads {
    /// Returns whether a file was new when it was uploaded; `None` if that response was lost.
    pub fn has_new(&self, sha256: &str) -> Option<bool> {
        match self.0.get(sha256) {
            None => Some(false),
            Some(true) => Some(true),
            Some(false) => None,
        }
    }
}

impl FromIterator<(String, bool)> for Uploads {
    fn from_iter<I: IntoIterator<Item = (String, bool)>>(uploads: I) -> Self {
        Self(Arc::new(uploads.into_iter().collect()))
    }
}

/// Every fact about the user that changes a price.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Entitlements {
    /// The premium API: searches draw on API quota (§8.3.2).
    pub premium_api: Entitlement,
    /// Premium intelligence: searches can draw on intelligence quota (§8.3.1, §8.4.2).
    pub premium_intelligence: Entitlement,
    /// The private scanning licence, required for everything under `/private` (§4.1).
    pub private_scanning: Entitlement,
    /// Whether a group shares its quota with the user (§8.1.1).
    pub group: Entitlement,
    pub uploads: Uploads,
    /// When the user object was read, if the first two come from it.
    pub user_read: Option<Timestamp>,
}

impl Entitlements {
    /// Takes `intelligence` for premium intelligence and `private`, by inference, for the premium
    /// API. `at` is when the user object was received.
    pub fn from_privileges(private: Option<bool>, intelligence: Option<bool>, at: Timestamp) -> Self {
        Self {
            premium_api: Entitlement::read(private, EntitlementSource::Inferred),
            premium_intelligence: Entitlement::read(intelligence, EntitlementSource::Service),
            user_read: Some(at),
            ..Self::default()
        }
    }

    /// Reads the privileges from `GET /users/{id}`, a body that also contains the key.
    pub fn parse(body: &[u8], at: Timestamp) -> Result<Self, &'static str> {
        let user = serde_json::from_slice(body).map_err(|_| "the response is not a user object")?;
        Ok(Self::of_user(&user, at))
    }

    /// Reads the privileges of a user object.
    pub fn of_user(user: &Value, at: Timestamp) -> Self {
        let granted = |name: &str| {
            let privilege = user.pointer(&format!("/data/attributes/privileges/{name}"))?;
            let ends = privilege.get("expiration_date").and_then(Value::as_i64);
            let has_ended = ends.is_some_and(|end| (1..=at.as_second()).contains(&end));
            Some(privilege.get("granted")?.as_bool()? && !has_ended)
        };
        Self::from_privileges(granted("private"), granted("intelligence"), at)
    }

    /// Infers entitlements from the service's counters: a monthly allowance of private scans shows
    /// their licence, one of searches shows intelligence, and any counter of the group a group.
    pub fn from_balances(balances: &Balances) -> Self {
        let allowance = |unit: Unit, source: EntitlementSource| {
            Entitlement::read(balances.counter(unit, Period::Monthly).and_then(Counter::allows_anything), source)
        };
        let has_group = balances.has(Holder::Group);
        let is_silent = balances.counters.is_empty() || !balances.unparsed.is_empty();
        Self {
            premium_intelligence: allowance(Unit::Search, EntitlementSource::Inferred),
            private_scanning: allowance(Unit::Scan, EntitlementSource::Service),
            group: Entitlement::read((has_group || !is_silent).then_some(has_group), EntitlementSource::Service),
            ..Self::default()
        }
    }

    /// Returns the entitlements of the user, as a sentence.
    pub fn label(&self) -> String {
        let word = |entitlement: Entitlement| match entitlement.is_granted() {
            Some(true) => "yes",
            Some(false) => "no",
            None => "not known",
        };
        let [api, intelligence, scanning] =
            [self.premium_api, self.premium_intelligence, self.private_scanning].map(word);
        let read = self.user_read.map(|at| format!(" The user object was read {}.", crate::text::moment(at)));
        let read = read.unwrap_or_default();
        format!("Premium API: {api} · premium intelligence: {intelligence} · private scanning: {scanning}.{read}")
    }

    /// Merges both; the stronger source wins, or `newer` if both are equal.
    pub fn updated(&self, newer: Self) -> Self {
        Self {
            premium_api: self.premium_api.updated(newer.premium_api),
            premium_intelligence: self.premium_intelligence.updated(newer.premium_intelligence),
            private_scanning: self.private_scanning.updated(newer.private_scanning),
            group: self.group.updated(newer.group),
            uploads: if newer.uploads.0.is_empty() { self.uploads.clone() } else { newer.uploads },
            user_read: newer.user_read.or(self.user_read),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn privileges_are_read_and_silence_stays_unknown() {
        let user = json!({"data": {"attributes": {"privileges": {
            "intelligence": {"granted": true, "inherited_from": "team"},
            "private": {"granted": true, "expiration_date": 1_600_000_000},
        }}}});
        let at = Timestamp::from_second(1_700_000_000).unwrap();
        let read = Entitlements::of_user(&user, at);
        assert!(read.label().ends_with("The user object was read 2023-11-14 22:13 UTC."), "{}", read.label());
        assert_eq!(read.premium_intelligence, Entitlement::read(Some(true), EntitlementSource::Service));
        assert_eq!(read.premium_api, Entitlement::read(Some(false), EntitlementSource::Inferred));
        assert_eq!(read.private_scanning, Entitlement::default());
        for odd in [json!(null), json!({"data": []}), json!({"privileges": {"private": {"granted": "yes"}}})] {
            assert_eq!(Entitlements::of_user(&odd, at), Entitlements::from_privileges(None, None, at));
        }
    }

    #[test]
    fn a_licence_shows_as_an_allowance_of_user_or_group() {
        let side = |allowed: serde_json::Value| json!({"allowed": allowed, "used": 0});
        let read = |body| Entitlements::from_balances(&Balances::read(&json!({ "data": body })));
        for (user, group, licence) in
            [(5, json!(0), Some(true)), (0, json!(5), Some(true)), (0, json!(0), Some(false)), (0, json!("many"), None)]
        {
            let body = json!({"private_scans_monthly": {"user": side(user.into()), "group": side(group)}});
            assert_eq!(read(body).private_scanning.is_granted(), licence);
        }
        let by_minute = read(json!({"private_scans_per_minute": {"user": side(9.into())}}));
        assert_eq!((by_minute.private_scanning, by_minute.group.is_granted()), (Entitlement::default(), Some(false)));
    }

    #[test]
    fn manual_overrides_service_overrides_inferred() {
        let hand = Entitlement::by_hand(true);
        let service = Entitlement::read(Some(false), EntitlementSource::Service);
        let inferred = Entitlement::read(Some(true), EntitlementSource::Inferred);
        assert_eq!(hand.updated(service), hand);
        assert_eq!(service.updated(hand), hand);
        assert_eq!(service.updated(inferred), service);
        assert_eq!(inferred.updated(service), service);
        assert_eq!(inferred.updated(Entitlement::default()), inferred);
        assert_eq!(service.updated(Entitlement::read(Some(true), EntitlementSource::Service)).is_granted(), Some(true));
    }
}
