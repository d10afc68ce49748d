//! Artifacts, and the parser of the key under which a response is stored.

use super::{GroupList, Listing, Request};
use crate::report::identifier::{FileHash, Identifier, Sha256};
use crate::report::json::Raw;
use crate::report::page::cursor_of;
use crate::report::{Report, RowPlace};
use crate::text::{Untrusted, Visible, names, to_visible};

names! {
    /// A file that a sandbox stores beside its report (§2.1), by its name in addresses.
    Artifact label {
        Html "html" "HTML report",
        Pcap "pcap" "network capture",
        /// Of Windows.
        Evtx "evtx" "event log",
        Memdump "memdump" "memory dump",
    }
}

impl Artifact {
    pub fn extension(self) -> &'static str {
        match self {
            Self::Memdump => "memdump.bin",
            other => other.name(),
        }
    }

    /// Returns whether a report states that it exists; `None` if the report does not mention it.
    pub fn is_beside(self, report: &Report) -> Option<bool> {
        let section = report.index.sections.iter().position(|s| s.name.as_bytes() == self.attribute().as_bytes())?;
        let record = report.record(RowPlace { section, row: 0 });
        match Raw::new(&record.value).bytes() {
            b"true" => Some(true),
            b"false" => Some(false),
            _ => None,
        }
    }

    /// Returns the report's attribute that states whether it exists.
    pub fn attribute(self) -> &'static str {
        match self {
            Self::Html => "has_html_report",
            Self::Pcap => "has_pcap",
            Self::Evtx => "has_evtx",
            Self::Memdump => "has_memdump",
        }
    }
}

impl Request {
    /// Returns the request whose response is stored under this key, if this version knows it.
    pub fn of_storage_key(key: &[u8]) -> Option<Self> {
        let (operation, rest) = split(key);
        let identifier = |bytes: &[u8]| Identifier::new(Untrusted::from(bytes));
        let found = match operation {
            b"behaviour" => Self::Behaviour { identifier: identifier(rest)? },
            b"behaviours" => page(Listing::Reports, rest)?,
            b"identifiers" => page(Listing::Identifiers, rest)?,
            b"group-list" => {
                let (list, cursor) = split(rest);
                let list = GroupList::named(std::str::from_utf8(list).ok()?)?;
                Self::GroupList { list, cursor: cursor_of_key(cursor) }
            }
            b"artifact" => {
                let artifact = Artifact::named(std::str::from_utf8(split(rest).0).ok()?)?;
                Self::Artifact { identifier: Self::report_of_artifact_key(key)?, artifact }
            }
            b"v2-report" => Self::V2Reports { files: hashes(rest)? },
            b"v2-submissions" => Self::V2Submissions { files: hashes(rest)? },
            b"analysis" => Self::Analysis { identifier: identifier(rest)? },
            b"file" => Self::File { file: hash(rest)? },
            b"file-analyses" => Self::FileAnalyses { file: hash(rest)? },
            _ => return None,
        };
        // A key has only one valid spelling.
        Some(found).filter(|found| found.storage_key().as_deref() == Some(key))
    }

    /// Returns the request of a list page, from the page's own link (specification §4.2).
    pub fn of_page(bytes: &[u8]) -> Option<Self> {
        let links = Raw::new(bytes).member("links")?.member("self")?.text();
        let address = std::str::from_utf8(links.as_bytes()).ok()?;
        let path = address.split(['?', '#']).next()?;
        let (_, rest) = path.split_once("/private/files/")?;
        let (file, what) = rest.split_once('/')?;
        let listing = Listing::ALL.into_iter().find(|listing| listing.place() == what)?;
        Some(Self::Behaviours { file: Sha256::parse(file)?, listing, cursor: cursor_of(&links) })
    }

    /// Returns the report of the artifact stored under this key, even of an unknown kind.
    pub fn report_of_artifact_key(key: &[u8]) -> Option<Identifier> {
        let (operation, rest) = split(key);
        let identifier = || Identifier::new(Untrusted::from(split(rest).1));
        (operation == b"artifact").then(identifier).flatten()
    }

    /// Returns the file in a response's key, the second word of most keys, even of newer versions.
    pub fn file_of_key(key: &[u8]) -> Option<Sha256> {
        let of_report = match Self::of_storage_key(key) {
            Some(Self::Behaviour { identifier }) => Some(identifier),
            _ => Self::report_of_artifact_key(key),
        };
        match of_report {
            Some(report) => report.parts().file,
            None => Sha256::parse(std::str::from_utf8(split(split(key).1).0).ok()?),
        }
    }

    /// Returns a short description of the stored response, without its file.
    pub fn stored_label(key: &[u8]) -> Visible {
        match Self::of_storage_key(key) {
            Some(Self::Behaviours { cursor: None, .. }) => to_visible("list of sandboxes"),
            Some(Self::Behaviours { .. }) => to_visible("list, further page"),
            Some(Self::Artifact { identifier, artifact }) => {
                to_visible(format!("{} · {}", artifact.label(), identifier.parts().sandbox.visible_cut(60)))
            }
            Some(other) => to_visible(other.label()),
            None => Untrusted::from(key).visible_cut(120),
        }
    }
}

/// Returns the text before and after the first blank.
fn split(key: &[u8]) -> (&[u8], &[u8]) {
    let mut parts = key.splitn(2, |byte| *byte == b' ');
    (parts.next().unwrap_or_default(), parts.next().unwrap_or_default())
}

fn page(listing: Listing, rest: &[u8]) -> Option<Request> {
    let (file, cursor) = split(rest);
    let file = Sha256::parse(std::str::from_utf8(file).ok()?)?;
    Some(Request::Behaviours { file, listing, cursor: cursor_of_key(cursor) })
}

/// Reads the cursor of a page; the first page has none.
fn cursor_of_key(bytes: &[u8]) -> Option<Untrusted> {
    Some(Untrusted::from(bytes)).filter(|cursor| !cursor.is_empty())
}

fn hash(bytes: &[u8]) -> Option<FileHash> {
    FileHash::parse(std::str::from_utf8(bytes).ok()?)
}

fn hashes(bytes: &[u8]) -> Option<Vec<FileHash>> {
    bytes.split(|byte| *byte == b',').map(hash).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_is_read_back_into_its_question() {
        let file = Sha256::parse(&"ab".repeat(32)).unwrap();
        let hash = FileHash::parse(&"cd".repeat(16)).unwrap();
        let identifier = Identifier::new(Untrusted::from("an odd  name\u{1b}\u{202e}")).unwrap();
        let page = |listing, cursor: Option<&str>| Request::Behaviours {
            file: file.clone(),
            listing,
            cursor: cursor.map(Untrusted::from),
        };
        let mut asked = vec![
            Request::Behaviour { identifier: identifier.clone() },
            page(Listing::Reports, None),
            page(Listing::Identifiers, Some("a b==")),
            Request::V2Reports { files: vec![hash.clone(), hash.clone()] },
            Request::V2Submissions { files: vec![hash.clone()] },
            Request::Analysis { identifier: identifier.clone() },
            Request::File { file: hash.clone() },
            Request::FileAnalyses { file: hash },
            Request::GroupList { list: GroupList::Files, cursor: Some(Untrusted::from(file.as_str())) },
            Request::GroupList { list: GroupList::Analyses, cursor: None },
        ];
        asked.extend(Artifact::ALL.map(|artifact| Request::Artifact { identifier: identifier.clone(), artifact }));
        for request in asked {
            let key = request.storage_key().unwrap();
            let is_of_group = matches!(request, Request::GroupList { .. });
            assert!(!is_of_group || Request::file_of_key(&key).is_none(), "a cursor is no file");
            assert_eq!(Request::of_storage_key(&key), Some(request));
            assert!(!Request::stored_label(&key).as_str().chars().any(char::is_control));
        }
        for odd in [&b""[..], b"behaviours nothing", b"artifact x y", b"file \xff", b"something new"] {
            assert_eq!(Request::of_storage_key(odd), None);
        }
        assert_eq!(Request::stored_label(b"something \x1b new").as_str(), r"something \x1b new");
    }
}
