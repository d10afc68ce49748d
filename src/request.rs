//! Everything that can be asked of the service, as one value with four uses: its address, its operation (and so its
//! price), the key under which the answer is held, and its identity while it is under way.
//!
//! Because one value has all four, the price on screen cannot disagree with what is sent, and the same question asked twice
//! is one question.

mod held;

use crate::quota::{Entitlements, Kind, Numbers, Operation, Price, price};
use crate::report::identifier::{FileHash, Identifier, Sha256};
use crate::text::Untrusted;
use jiff::civil::Date;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_encode};
use std::path::{Path, PathBuf};

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
    /// What a sandbox kept beside its report; may be large, and is held as it comes.
    Artefact {
        /// The sandbox identifier that a list gave.
        identifier: Identifier,
        /// Which.
        artefact: Artefact,
    },
    /// Quota details of the user and the group; takes no quota (specification §8.3).
    Quotas,
    /// Reports of public files by API v2 (specification §4.2).
    V2Reports {
        /// The files.
        files: Vec<FileHash>,
    },
    /// Uploads of public files by API v2 (specification §4.2).
    V2Submissions {
        /// The files.
        files: Vec<FileHash>,
    },
    /// Upload of a file to the public corpus by API v2 (specification §4.2).
    V2Scan {
        /// The file on this machine.
        path: PathBuf,
    },
    /// An analysis (specification §4.2).
    Analysis {
        /// What the service calls it.
        identifier: Identifier,
    },
    /// A public file (specification §4.2).
    File {
        /// The file.
        file: FileHash,
    },
    /// The analyses of a public file (specification §4.2).
    FileAnalyses {
        /// The file.
        file: FileHash,
    },
    /// Another scan of a public file (specification §4.2).
    Rescan {
        /// The file.
        file: FileHash,
    },
    /// What the user has bought. The answer holds the key itself: it is never held, shown or printed.
    User,
    /// Calls per day and endpoint; takes no quota (specification §8.3).
    Usage {
        /// The first day.
        first: Date,
        /// The last day, at most 29 after the first.
        last: Date,
    },
}

/// What a sandbox kept beside its report (specification §2.1, and what the service adds to it).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Artefact {
    /// The report as a web page.
    Html,
    /// The network capture.
    Pcap,
    /// The event log of Windows.
    Evtx,
    /// The memory dump.
    Memdump,
}

impl Artefact {
    /// Every kind.
    pub const ALL: [Self; 4] = [Self::Html, Self::Pcap, Self::Evtx, Self::Memdump];

    /// Its name in addresses and on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Html => "html",
            Self::Pcap => "pcap",
            Self::Evtx => "evtx",
            Self::Memdump => "memdump",
        }
    }

    /// The kind of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|artefact| artefact.name() == name)
    }

    /// What it is, in words.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::Html => "HTML report",
            Self::Pcap => "network capture",
            Self::Evtx => "event log",
            Self::Memdump => "memory dump",
        }
    }

    /// How its files' names end.
    #[must_use]
    pub fn extension(self) -> &'static str {
        match self {
            Self::Memdump => "memdump.bin",
            other => other.name(),
        }
    }

    /// The attribute of a report that says that it exists.
    #[must_use]
    pub fn attribute(self) -> &'static str {
        match self {
            Self::Html => "has_html_report",
            Self::Pcap => "has_pcap",
            Self::Evtx => "has_evtx",
            Self::Memdump => "has_memdump",
        }
    }
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

/// A question with its price, as it was shown before the key was pressed.
///
/// Only [`Request::quote`] makes one, so a question is never sent at another question's price.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Quote {
    request: Request,
    price: Price,
}

impl Quote {
    /// The question.
    #[must_use]
    pub fn request(&self) -> &Request {
        &self.request
    }

    /// Its price.
    #[must_use]
    pub fn price(&self) -> &Price {
        &self.price
    }
}

/// Where a request goes, below the root of a service, and what it takes along.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    /// Which prefix it is below, and where the key goes.
    pub version: Version,
    /// Whether something is posted.
    pub method: Method,
    /// Path below the prefix, percent-encoded.
    pub path: String,
    /// Parameters as they are: in the address for GET, in the body for POST.
    pub parameters: Vec<(&'static str, String)>,
    /// A file to upload.
    pub upload: Option<PathBuf>,
}

/// A version of the API (specification §9).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Version {
    /// The key is a parameter.
    V2,
    /// The key is a header.
    V3,
}

/// A method of HTTP.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "each is the method of its name")]
pub enum Method {
    Get,
    Post,
}

impl Address {
    fn new(version: Version, method: Method, path: String) -> Self {
        Self { version, method, path, parameters: Vec::new(), upload: None }
    }

    fn get(path: String) -> Self {
        Self::new(Version::V3, Method::Get, path)
    }

    fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.parameters.push((name, value.into()));
        self
    }
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
        let (kind, numbers) = match self {
            Self::Behaviour { .. } => (Kind::PrivateBehaviour, Numbers::default()),
            Self::Behaviours { .. } => (Kind::PrivateBehaviours, Numbers::default()),
            Self::Artefact { .. } => (Kind::PrivateArtefact, Numbers::default()),
            Self::Quotas => (Kind::V3Quotas, Numbers::default()),
            Self::User => (Kind::V3User, Numbers::default()),
            Self::Usage { .. } => (Kind::V3Usage, Numbers::default()),
            Self::V2Reports { files } => {
                (Kind::V2FileReport, Numbers { hashes: files.len() as u64, ..Numbers::default() })
            }
            Self::V2Submissions { .. } => (Kind::V2FileSubmissions, Numbers::default()),
            Self::V2Scan { .. } => (Kind::V2FileScan, Numbers::default()),
            Self::Analysis { .. } => (Kind::V3Analysis, Numbers::default()),
            Self::File { .. } => (Kind::V3File, Numbers::default()),
            Self::FileAnalyses { .. } => (Kind::V3FileAnalyses, Numbers::default()),
            Self::Rescan { .. } => (Kind::V3Rescan, Numbers::default()),
        };
        Operation::with(kind, numbers)
    }

    /// The question with its price for a user with these entitlements.
    #[must_use]
    pub fn quote(self, entitlements: &Entitlements) -> Quote {
        let price = price(&self.operation(), entitlements);
        Quote { request: self, price }
    }

    /// Where it goes.
    #[must_use]
    pub fn address(&self, asker: &impl Asker) -> Address {
        match self {
            Self::Behaviour { identifier } => {
                Address::get(format!("/private/file_behaviours/{}", encode(identifier.as_bytes())))
            }
            Self::Artefact { identifier, artefact } => {
                Address::get(format!("/private/file_behaviours/{}/{}", encode(identifier.as_bytes()), artefact.name()))
            }
            Self::Behaviours { file, listing, cursor } => {
                let address = Address::get(match listing {
                    Listing::Reports => format!("/private/files/{file}/behaviours"),
                    Listing::Identifiers => format!("/private/files/{file}/relationships/behaviours"),
                });
                cursor
                    .iter()
                    .fold(address, |address, cursor| address.with("cursor", String::from_utf8_lossy(cursor.as_bytes())))
            }
            Self::User => Address::get(format!("/users/{}", encode(asker.user().as_bytes()))),
            Self::Quotas => Address::get(format!("/users/{}/overall_quotas", encode(asker.user().as_bytes()))),
            Self::Usage { first, last } => {
                Address::get(format!("/users/{}/api_usage", encode(asker.user().as_bytes())))
                    .with("start_date", compact(*first))
                    .with("end_date", compact(*last))
            }
            Self::V2Reports { files } => {
                Address::new(Version::V2, Method::Post, "/file/report".to_owned()).with("resource", joined(files))
            }
            Self::V2Submissions { files } => {
                Address::new(Version::V2, Method::Get, "/file/submissions".to_owned()).with("resource", joined(files))
            }
            Self::V2Scan { path } => {
                let address = Address::new(Version::V2, Method::Post, "/file/scan".to_owned());
                Address { upload: Some(path.clone()), ..address }
            }
            Self::Analysis { identifier } => Address::get(format!("/analyses/{}", encode(identifier.as_bytes()))),
            Self::File { file } => Address::get(format!("/files/{}", file.as_str())),
            Self::FileAnalyses { file } => Address::get(format!("/files/analyses/{}", file.as_str())),
            Self::Rescan { file } => {
                Address::new(Version::V3, Method::Post, format!("/files/{}/analyse", file.as_str()))
            }
        }
    }

    /// What the answer is held under; none for an answer that is out of date as soon as it is there, and for an action.
    #[must_use]
    pub fn holding_key(&self) -> Option<Vec<u8>> {
        let key = |operation: &str, rest: &[u8]| Some([operation.as_bytes(), b" ", rest].concat());
        match self {
            Self::Behaviour { identifier } => key("behaviour", identifier.as_bytes()),
            Self::Behaviours { file, listing, cursor } => {
                let listing = match listing {
                    Listing::Reports => "behaviours",
                    Listing::Identifiers => "identifiers",
                };
                let cursor = cursor.as_ref().map(Untrusted::as_bytes).unwrap_or_default();
                key(&format!("{listing} {file}"), cursor)
            }
            Self::Artefact { identifier, artefact } => {
                key(&format!("artefact {}", artefact.name()), identifier.as_bytes())
            }
            Self::V2Reports { files } => key("v2-report", in_order(files).as_bytes()),
            Self::V2Submissions { files } => key("v2-submissions", in_order(files).as_bytes()),
            Self::Analysis { identifier } => key("analysis", identifier.as_bytes()),
            Self::File { file } => key("file", file.as_str().as_bytes()),
            Self::FileAnalyses { file } => key("file-analyses", file.as_str().as_bytes()),
            Self::User | Self::Quotas | Self::Usage { .. } | Self::V2Scan { .. } | Self::Rescan { .. } => None,
        }
    }

    /// The request in a few words, safe to show.
    #[must_use]
    pub fn words(&self) -> String {
        match self {
            Self::Behaviour { identifier } => report_words(identifier),
            Self::Artefact { identifier, artefact } => {
                format!("{} of the {}", artefact.words(), report_words(identifier))
            }
            Self::Behaviours { file, cursor: None, .. } => format!("sandboxes of {}", file.short()),
            Self::Behaviours { file, .. } => format!("more sandboxes of {}", file.short()),
            Self::Quotas => "quota details".to_owned(),
            Self::User => "the user's privileges".to_owned(),
            Self::Usage { first, last } => format!("usage from {first} to {last}"),
            Self::V2Reports { files } => format!("v2 reports of {}", counted(files)),
            Self::V2Submissions { files } => format!("v2 submissions of {}", counted(files)),
            Self::V2Scan { path } => format!("public upload of {}", shown(path)),
            Self::Analysis { identifier } => format!("analysis {}", identifier.text().visible_cut(120)),
            Self::File { file } => format!("file {}", file.as_str()),
            Self::FileAnalyses { file } => format!("analyses of {}", file.as_str()),
            Self::Rescan { file } => format!("public re-scan of {}", file.as_str()),
        }
    }

    /// What the request tells people outside of the private realm, if it does.
    #[must_use]
    pub fn publishes(&self) -> Option<String> {
        match self {
            Self::V2Scan { path } => Some(format!(
                "{} becomes part of the public corpus: every customer of the service can find and download it, for ever.",
                shown(path)
            )),
            Self::Rescan { .. } => Some(
                "The public file is analysed again: its public reports change, and everybody who looks sees that somebody asked."
                    .to_owned(),
            ),
            _ => None,
        }
    }
}

/// Several hashes as one parameter.
fn joined(files: &[FileHash]) -> String {
    files.iter().map(FileHash::as_str).collect::<Vec<_>>().join(",")
}

/// The same in one order, whatever the order they are asked about in.
fn in_order(files: &[FileHash]) -> String {
    let mut files = files.to_vec();
    files.sort();
    joined(&files)
}

/// A report by its sandbox and file, or by its whole identifier where that has another shape.
fn report_words(identifier: &Identifier) -> String {
    let parts = identifier.parts();
    match parts.file {
        Some(file) => format!("report by {} of {}", parts.sandbox.visible_cut(60), file.short()),
        None => format!("report {}", identifier.text().visible_cut(120)),
    }
}

fn counted(files: &[FileHash]) -> String {
    match files {
        [one] => one.as_str().to_owned(),
        several => format!("{} files", several.len()),
    }
}

fn shown(path: &Path) -> String {
    Untrusted::from(path.to_string_lossy().as_ref()).visible_cut(60).to_string()
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
        assert_eq!(usage.path, "/users/spell%2Fman/api_usage");
        let days = [("start_date", "20260105".to_owned()), ("end_date", "20260203".to_owned())];
        assert_eq!(usage.parameters, days);
        let cursor = Some(Untrusted::from("a&b=="));
        let page = Request::Behaviours { file: file(), listing: Listing::Reports, cursor };
        assert_eq!(page.address(&Spellman).parameters, [("cursor", "a&b==".to_owned())]);
    }

    #[test]
    fn a_list_of_hashes_costs_one_for_each() {
        let hash = |c: &str| FileHash::parse(&c.repeat(32)).unwrap();
        let request = Request::V2Reports { files: vec![hash("a"), hash("b"), hash("c")] };
        let quote = request.quote(&Entitlements::default());
        assert_eq!((quote.price().short().as_str(), quote.price().rule.number), ("3 requests", "8.2.1"));
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
