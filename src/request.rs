//! Everything that can be asked of the service, as one value with four uses: its address, its operation (and so its
//! price), the key under which the answer is held, and its identity while it is under way.
//!
//! Because one value has all four, the price on screen cannot disagree with what is sent, and the same question asked twice
//! is one question.

use crate::quota::{Kind, Operation};
use crate::report::identifier::{Identifier, Sha256};
use crate::text::Untrusted;
use jiff::civil::Date;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_encode};

/// Characters of a path segment or parameter that stand for themselves (RFC 3986, unreserved).
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// A question to the service.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Request {
    /// One behaviour report (specification §4.1).
    Behaviour {
        /// The sandbox identifier that a list gave.
        identifier: Identifier,
    },
    /// One page of a file's sandbox reports (specification §4.2).
    Behaviours {
        /// The private file.
        file: Sha256,
        /// Whole reports, or their identifiers only: the price is the same.
        listing: Listing,
        /// The word that the page before gave; none for the first page.
        cursor: Option<Untrusted>,
    },
    /// Quota details of the user and the group; takes no quota (specification §8.3).
    Quotas,
    /// Calls per day and endpoint; takes no quota (specification §8.3).
    Usage {
        /// The first day.
        first: Date,
        /// The last day, at most 29 after the first.
        last: Date,
    },
}

/// What a list brings along.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Listing {
    /// Each sandbox with its whole report.
    #[default]
    Reports,
    /// Identifiers only.
    Identifiers,
}

/// Where a request goes, below the root of a service.
#[derive(Clone, PartialEq, Eq)]
pub struct Address {
    /// Path below the prefix of API v3, percent-encoded.
    pub path: String,
    /// Parameters, encoded.
    pub query: String,
}

/// Who is asking: the user's name, or the key in its place.
///
/// The service takes either in the addresses of quota details; an address with the key is a secret.
pub trait Asker {
    /// What stands for `{id}` in `/users/{id}/…`.
    fn user(&self) -> &str;
}

impl Request {
    /// What the request does, for the consumption rules.
    #[must_use]
    pub fn operation(&self) -> Operation {
        match self {
            Self::Behaviour { .. } => Operation::once(Kind::PrivateBehaviour),
            Self::Behaviours { .. } => Operation::once(Kind::PrivateBehaviours),
            Self::Quotas => Operation::once(Kind::V3Quotas),
            Self::Usage { .. } => Operation::once(Kind::V3Usage),
        }
    }

    /// Where it goes.
    #[must_use]
    pub fn address(&self, asker: &impl Asker) -> Address {
        let path = |path: String| Address { path, query: String::new() };
        match self {
            Self::Behaviour { identifier } => {
                path(format!("/private/file_behaviours/{}", encode(identifier.as_bytes())))
            }
            Self::Behaviours { file, listing, cursor } => Address {
                path: match listing {
                    Listing::Reports => format!("/private/files/{file}/behaviours"),
                    Listing::Identifiers => format!("/private/files/{file}/relationships/behaviours"),
                },
                query: cursor
                    .as_ref()
                    .map(|cursor| format!("cursor={}", encode(cursor.as_bytes())))
                    .unwrap_or_default(),
            },
            Self::Quotas => path(format!("/users/{}/overall_quotas", encode(asker.user().as_bytes()))),
            Self::Usage { first, last } => Address {
                path: format!("/users/{}/api_usage", encode(asker.user().as_bytes())),
                query: format!("start_date={}&end_date={}", compact(*first), compact(*last)),
            },
        }
    }

    /// What the answer is held under; none for an answer that is out of date as soon as it is there.
    #[must_use]
    pub fn holding_key(&self) -> Option<Vec<u8>> {
        match self {
            Self::Behaviour { identifier } => Some([b"behaviour ", identifier.as_bytes()].concat()),
            Self::Behaviours { file, listing, cursor } => {
                let listing = match listing {
                    Listing::Reports => "behaviours",
                    Listing::Identifiers => "identifiers",
                };
                let cursor = cursor.as_ref().map(Untrusted::as_bytes).unwrap_or_default();
                Some([format!("{listing} {file} ").as_bytes(), cursor].concat())
            }
            Self::Quotas | Self::Usage { .. } => None,
        }
    }

    /// The request in a few words, safe to show.
    #[must_use]
    pub fn words(&self) -> String {
        match self {
            Self::Behaviour { identifier } => format!("report {}", identifier.text().visible_cut(120)),
            Self::Behaviours { file, cursor: None, .. } => format!("sandboxes of {}", file.short()),
            Self::Behaviours { file, .. } => format!("more sandboxes of {}", file.short()),
            Self::Quotas => "quota details".to_owned(),
            Self::Usage { first, last } => format!("usage from {first} to {last}"),
        }
    }
}

/// A day as the service's parameters write it: `20261120`.
fn compact(day: Date) -> String {
    format!("{:04}{:02}{:02}", day.year(), day.month(), day.day())
}

fn encode(bytes: &[u8]) -> String {
    percent_encode(bytes, ENCODED).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::civil::date;

    struct Spellman;

    impl Asker for Spellman {
        fn user(&self) -> &str {
            "spell/man"
        }
    }

    fn file() -> Sha256 {
        Sha256::parse(&"ab".repeat(32)).unwrap()
    }

    fn named(text: &str) -> Identifier {
        Identifier::new(Untrusted::from(text)).unwrap()
    }

    #[test]
    fn every_part_of_an_address_is_encoded() {
        let request = Request::Behaviour { identifier: named("ff_C2 AE/../é?x#-1") };
        assert_eq!(request.address(&Spellman).path, "/private/file_behaviours/ff_C2%20AE%2F..%2F%C3%A9%3Fx%23-1");
        assert_eq!(Request::Quotas.address(&Spellman).path, "/users/spell%2Fman/overall_quotas");
        let (first, last) = (date(2026, 1, 5), date(2026, 2, 3));
        let usage = Request::Usage { first, last }.address(&Spellman);
        assert_eq!(
            (usage.path.as_str(), usage.query.as_str()),
            ("/users/spell%2Fman/api_usage", "start_date=20260105&end_date=20260203")
        );
        let cursor = Some(Untrusted::from("a&b=="));
        let page = Request::Behaviours { file: file(), listing: Listing::Reports, cursor };
        assert_eq!(page.address(&Spellman).query, "cursor=a%26b%3D%3D");
    }

    #[test]
    fn different_questions_are_held_apart() {
        let page = |listing, cursor: Option<&str>| {
            Request::Behaviours { file: file(), listing, cursor: cursor.map(Untrusted::from) }.holding_key()
        };
        let keys = [
            page(Listing::Reports, None),
            page(Listing::Reports, Some("x")),
            page(Listing::Identifiers, None),
            Request::Behaviour { identifier: named("x") }.holding_key(),
        ];
        for (n, key) in keys.iter().enumerate() {
            assert!(!keys[..n].contains(key));
        }
    }
}
