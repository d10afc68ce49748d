//! The items in the store, what a deletion removes, and the files that were opened before.

use super::analysis::PendingScan;
use super::identifier::{Identifier, Sha256};
use crate::text::{Untrusted, thousands};
use jiff::{SignedDuration, Timestamp};
use std::collections::{BTreeMap, BTreeSet};

/// A file that was opened before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecentFile {
    pub file: Sha256,
    pub name: Option<Untrusted>,
    pub opened: Timestamp,
    /// How many of its reports are stored.
    pub reports: u64,
    pub notes: u64,
    /// Its scan, if the end of one has not been seen.
    pub scan: Option<PendingScan>,
    /// When the service deletes it, if that is known.
    pub expires: Option<Timestamp>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredItem {
    /// The service that sent it. Imports have a value of their own; notes alone have an empty one.
    pub service: String,
    /// The profile that sent the request or imported; it is only shown.
    pub profile: String,
    pub what: StoredContent,
    pub file: Option<Sha256>,
    pub name: Option<Untrusted>,
    pub received: Timestamp,
    pub bytes: u64,
    /// Bytes in the store, compressed.
    pub on_disk: u64,
    /// The file that it was imported from, if it was. Imports are open to every profile.
    pub imported: Option<ImportOrigin>,
    pub notes: u64,
    /// When the service deletes its file, if known.
    pub expires: Option<Timestamp>,
}

/// Names the owners of these items: `of profile lab`, or `of lab 4, no service (imported) 2`.
pub fn label_owners<'a>(things: impl IntoIterator<Item = &'a StoredItem>) -> String {
    let mut counts = BTreeMap::<_, u64>::new();
    for thing in things.into_iter().filter(|thing| thing.is_response()) {
        *counts.entry((thing.is_import(), if thing.is_import() { "" } else { &thing.profile })).or_default() += 1;
    }
    let name = |(is_import, profile): &(bool, &str)| match is_import {
        true => "no service (imported)".to_owned(),
        false => Untrusted::from(*profile).visible_cut(40).to_string(),
    };
    let owners: Vec<_> = counts.iter().collect();
    match owners.as_slice() {
        [] => "of no service".to_owned(),
        [(owner @ (true, _), _)] => format!("of {}", name(owner)),
        [(owner, _)] => format!("of profile {}", name(owner)),
        several => {
            let each = several.iter().map(|(owner, count)| format!("{} {}", name(owner), thousands(**count)));
            format!("of {}", each.collect::<Vec<_>>().join(", "))
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum StoredContent {
    Report(Identifier),
    /// Notes on a report that is not stored: it was deleted by hand, or never fetched.
    Notes(Identifier),
    /// Another response: a list, an artifact, a response to another request, or one not read.
    Response {
        /// A short name, to delete it by.
        id: String,
        place: String,
        key: Untrusted,
        /// Whether it does not count as stored: damaged, not of its request, or just received.
        is_unread: bool,
        /// Its report, if it is an artifact.
        beside: Option<Identifier>,
    },
}

impl StoredItem {
    /// Returns the report; `None` for any other response.
    pub fn report(&self) -> Option<&Identifier> {
        match &self.what {
            StoredContent::Report(identifier) => Some(identifier),
            StoredContent::Notes(_) | StoredContent::Response { .. } => None,
        }
    }

    /// Returns the target that deletes only this item.
    pub fn purge(&self) -> DeletionTarget {
        match &self.what {
            StoredContent::Report(report) | StoredContent::Notes(report) => {
                DeletionTarget::Report(self.service.clone(), report.clone())
            }
            StoredContent::Response { place, .. } => DeletionTarget::Response(place.clone()),
        }
    }

    /// Returns whether it was imported, so that it is open to every profile.
    pub fn is_import(&self) -> bool {
        self.imported.is_some()
    }

    pub fn is_response(&self) -> bool {
        !matches!(self.what, StoredContent::Notes(_))
    }

    /// Returns the report of its notes; `None` for any other response.
    pub fn noted(&self) -> Option<&Identifier> {
        match &self.what {
            StoredContent::Report(identifier) | StoredContent::Notes(identifier) => Some(identifier),
            StoredContent::Response { .. } => None,
        }
    }

    /// Returns whether the service still has it; `None` if it is not a report.
    pub fn retention(&self, now: Timestamp) -> Option<Retention> {
        let sent = Some(self.received).filter(|_| !self.is_import());
        let report = self.report()?;
        // A report that was sent later shows that the file was submitted again.
        let expires = self.expires.filter(|expires| sent.is_some_and(|sent| sent < *expires));
        Some(expires.map_or_else(|| Retention::of(report, sent, now), |expires| Retention::until(expires, now)))
    }

    pub fn is_unread(&self) -> bool {
        matches!(self.what, StoredContent::Response { is_unread: true, .. })
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DeletionTarget {
    /// A report with its artifacts that a service sent, or an imported one, or notes alone.
    Report(String, Identifier),
    Response(String),
    /// All responses of a service about a file.
    File(String, Sha256),
    Before(Timestamp),
    /// The oldest items, until at most this many bytes are left in the store.
    DownTo(u64),
    Everything,
}

impl DeletionTarget {
    /// Returns whether an item is deleted. `bytes` is the size of this item and all newer ones.
    fn takes(&self, thing: &StoredItem, bytes: u64) -> bool {
        match (self, &thing.what) {
            (Self::Everything, _) => true,
            (Self::Before(_) | Self::DownTo(_), StoredContent::Notes(_)) => false,
            (Self::Before(moment), _) => thing.received < *moment,
            (Self::DownTo(most), _) => bytes > *most,
            (Self::File(_, file), StoredContent::Notes(_)) => thing.file.as_ref() == Some(file),
            (Self::File(service, file), _) => thing.service == *service && thing.file.as_ref() == Some(file),
            (Self::Report(_, report), StoredContent::Notes(found)) => found == report,
            (Self::Report(service, report), StoredContent::Report(found)) => {
                thing.service == *service && found == report
            }
            (Self::Report(service, report), StoredContent::Response { beside, .. }) => {
                thing.service == *service && beside.as_ref() == Some(report)
            }
            (Self::Response(wanted), StoredContent::Response { place, .. }) => wanted == place,
            (Self::Response(_), StoredContent::Report(_) | StoredContent::Notes(_)) => false,
        }
    }
}

/// A deletion: its targets, and its effects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Deletion {
    pub what: Vec<DeletionTarget>,
    /// The only service whose items are deleted; `None` for all.
    pub service: Option<String>,
    pub things: Vec<StoredItem>,
    /// The files with remaining items.
    pub left: BTreeSet<Sha256>,
    /// The reports without remaining items, whose notes are deleted.
    pub noted: BTreeSet<Identifier>,
    pub notes: u64,
}

impl Deletion {
    /// Selects the items to delete among all stored ones, newest first.
    pub fn of(what: Vec<DeletionTarget>, service: Option<&str>, stored: &[StoredItem]) -> Self {
        let mut by_age: Vec<_> = stored.iter().collect();
        by_age.sort_by_key(|thing| std::cmp::Reverse(thing.received));
        let is_meant = |thing: &StoredItem| service.is_none_or(|service| thing.service == service);
        let mut bytes = 0_u64;
        let (things, left): (Vec<_>, Vec<_>) = by_age.into_iter().cloned().partition(|thing| {
            bytes = bytes.saturating_add(thing.on_disk);
            is_meant(thing) && what.iter().any(|what| what.takes(thing, bytes))
        });
        let standing: BTreeSet<_> = left.iter().filter_map(StoredItem::noted).collect();
        let gone = things.iter().filter_map(|thing| Some((thing.noted()?.clone(), thing.notes)));
        let gone: BTreeMap<_, _> = gone.filter(|(report, _)| !standing.contains(report)).collect();
        Self {
            service: service.map(str::to_owned),
            left: left.iter().filter_map(|thing| thing.file.clone()).collect(),
            notes: gone.values().sum(),
            noted: gone.into_keys().collect(),
            things,
            what,
        }
    }

    /// Returns bytes of the deleted items, and those on disk.
    pub fn sizes(&self) -> (u64, u64) {
        let sum = |of: fn(&StoredItem) -> u64| self.things.iter().map(of).fold(0, u64::saturating_add);
        (sum(|thing| thing.bytes), sum(|thing| thing.on_disk))
    }

    /// Returns whether it has the same effects now: no item was added, deleted or changed since.
    pub fn is_still(&self, stored: &[StoredItem]) -> bool {
        let named = |deletion: &Self| {
            let each = |thing: &StoredItem| {
                (thing.service.clone(), thing.what.clone(), thing.received, thing.bytes, thing.notes)
            };
            let mut things: Vec<_> = deletion.things.iter().map(each).collect();
            things.sort();
            (things, deletion.notes)
        };
        named(self) == named(&Self::of(self.what.clone(), self.service.as_deref(), stored))
    }
}

/// A file that a user imported a report from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportOrigin {
    pub from: Untrusted,
    pub by: Untrusted,
}

impl ImportOrigin {
    /// Returns the origin as text that is safe to show.
    pub fn label(&self) -> String {
        let from = self.from.visible_cut(60);
        if self.by.is_empty() { format!("from {from}") } else { format!("from {from} by {}", self.by.visible_cut(30)) }
    }
}

/// How long the service stores private files and their reports, by default.
///
/// A report does not contain the retention chosen at upload, so only these two bounds are known.
const DEFAULT_RETENTION: SignedDuration = SignedDuration::from_hours(24);

/// Maximum retention that can be chosen at upload.
const MAX_RETENTION: SignedDuration = SignedDuration::from_hours(28 * 24);

/// Whether the service still has a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(tag = "state", content = "at", rename_all = "snake_case")]
pub enum Retention {
    /// The identifier does not say when the sandbox ran.
    Unknown,
    /// Deleted by then at the latest.
    DeletedBy(Timestamp),
    /// Deleted then, unless a longer retention was chosen.
    PerhapsDeleted(Timestamp),
    /// The service still had it then, longer than by default.
    LastSeen(Timestamp),
    /// Available until then at least, unless it is deleted by hand.
    AvailableUntil(Timestamp),
    /// Deleted then, by the file's own expiration.
    Expires(Timestamp),
}

impl Retention {
    /// Returns the retention of a file whose expiration is known.
    pub fn until(expires: Timestamp, now: Timestamp) -> Self {
        if now < expires { Self::Expires(expires) } else { Self::DeletedBy(expires) }
    }

    /// Computes the retention by the identifier's time and the time when the service sent it.
    pub(crate) fn of(identifier: &Identifier, sent: Option<Timestamp>, now: Timestamp) -> Self {
        let ran = identifier.parts().when;
        let Some(ran) = ran.and_then(|when| Timestamp::from_second(when).ok()) else { return Self::Unknown };
        let after = |time| ran.checked_add(time).unwrap_or(Timestamp::MAX);
        let had = |time| sent.is_some_and(|sent| sent >= after(time));
        match now {
            // An installation may store longer.
            now if now >= after(MAX_RETENTION) && !had(MAX_RETENTION) => Self::DeletedBy(after(MAX_RETENTION)),
            // A report that was sent later has a longer, unknown retention.
            now if now >= after(DEFAULT_RETENTION) => match sent {
                Some(sent) if had(DEFAULT_RETENTION) => Self::LastSeen(sent),
                _ => Self::PerhapsDeleted(after(DEFAULT_RETENTION)),
            },
            _ => Self::AvailableUntil(after(DEFAULT_RETENTION)),
        }
    }

    pub fn label(self) -> String {
        let at = crate::text::moment;
        match self {
            Self::DeletedBy(when) => format!("the service deleted it by {}: the stored copy is the only one", at(when)),
            Self::PerhapsDeleted(end) => {
                format!("unless a longer retention was chosen the service deleted it on {}", at(end))
            }
            Self::LastSeen(when) => format!("the service still had it on {}: it keeps it longer than usual", at(when)),
            Self::AvailableUntil(when) => format!("the service has it until {} at least", at(when)),
            Self::Expires(when) => format!("the service deletes it on {}", at(when)),
            Self::Unknown => "its retention at the service is not known".to_owned(),
        }
    }

    /// Returns the sort key: what is deleted next is first, what is gone or unknown last.
    pub fn urgency(self) -> (u8, Timestamp) {
        match self {
            Self::Expires(at) | Self::AvailableUntil(at) => (0, at),
            Self::PerhapsDeleted(at) | Self::LastSeen(at) => (1, at),
            Self::DeletedBy(at) => (2, at),
            Self::Unknown => (3, Timestamp::MAX),
        }
    }

    /// Returns the label for a column; an exact time counts from `now`.
    pub fn short(self, now: Timestamp) -> String {
        let at = |when: Timestamp| when.strftime("%m-%d").to_string();
        match self {
            Self::DeletedBy(_) => "gone".to_owned(),
            Self::PerhapsDeleted(when) => format!("gone {}?", at(when)),
            Self::LastSeen(when) => format!("seen {}", at(when)),
            Self::AvailableUntil(when) => format!("to {}", at(when)),
            Self::Expires(when) => match when.as_second() - now.as_second() {
                seconds @ ..3600 => format!("in {}m", seconds / 60),
                seconds @ ..172_800 => format!("in {}h", seconds / 3600),
                seconds => format!("in {}d", seconds / 86_400),
            },
            Self::Unknown => "?".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::Untrusted;

    #[test]
    fn a_day_is_usual_and_28_days_are_the_longest() {
        let identifier = |text: &str| Identifier::new(Untrusted::from(text)).unwrap();
        let ran = 1_794_474_845;
        let at = |seconds: i64| Timestamp::from_second(ran + seconds).unwrap();
        let since =
            |sent: Option<i64>, seconds| Retention::of(&identifier(&format!("Box-{ran}")), sent.map(at), at(seconds));
        let of = |seconds| since(None, seconds);
        assert_eq!([of(0), of(86_399)], [Retention::AvailableUntil(at(86_400)); 2]);
        assert_eq!([of(86_400), of(28 * 86_400 - 1)], [Retention::PerhapsDeleted(at(86_400)); 2]);
        assert_eq!(since(Some(86_399), 86_400), Retention::PerhapsDeleted(at(86_400)));
        assert_eq!(since(Some(86_400), 86_401), Retention::LastSeen(at(86_400)));
        assert_eq!(since(Some(86_400), 28 * 86_400), Retention::DeletedBy(at(28 * 86_400)));
        assert_eq!(since(Some(29 * 86_400), 30 * 86_400), Retention::LastSeen(at(29 * 86_400)));
        assert_eq!(of(28 * 86_400), Retention::DeletedBy(at(28 * 86_400)));
        assert_eq!(Retention::of(&identifier("Box-7"), None, at(0)), Retention::Unknown);
    }
}
