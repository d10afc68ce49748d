//! The archive: private files with their reports, and the files the public operations know.

use std::io;

use serde::Deserialize;
use serde_json::value::RawValue;
use sha2::{Digest, Sha256};

use super::generated;
use super::{extremes, pieces::Pieces};

/// A file the demo holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DemoFile {
    /// The SHA-256 it is asked for by; it is the hash of its title.
    pub sha256: String,
    pub title: &'static str,
    /// What it is there to show, in one sentence.
    pub about: &'static str,
}

/// One private file as embedded: its title, what it shows, its object, its reports.
struct Shelf {
    title: &'static str,
    about: &'static str,
    object: &'static str,
    reports: &'static [&'static str],
}

macro_rules! asset {
    ($path:literal) => {
        include_str!(concat!("../../assets/demo/", $path))
    };
}

/// The file whose report is made on the fly.
pub(super) const BUSY: &str = "Busy installer.exe";
/// How many sandboxes run a file that is submitted.
const SANDBOXES: usize = 3;
/// The file of unfriendly strings; [`extremes`] adds a report to those in its folder.
const HOSTILE: &str = "Unfriendly strings.bin";

const SHELVES: [Shelf; 7] = [
    Shelf {
        title: "Quarterly statement viewer.exe",
        about: "a Windows dropper, run in six sandboxes that each saw something else",
        object: asset!("dropper/file.json"),
        reports: &[
            asset!("dropper/1-cape.json"),
            asset!("dropper/2-zenbox.json"),
            asset!("dropper/3-lynxbox.json"),
            asset!("dropper/4-quiet-harbour.json"),
            asset!("dropper/5-observatory.json"),
            asset!("dropper/6-lantern-mobile.json"),
        ],
    },
    Shelf {
        title: "Parcel tracker.apk",
        about: "an Android app that reads and sends text messages",
        object: asset!("parcel/file.json"),
        reports: &[asset!("parcel/1-lantern-mobile.json"), asset!("parcel/2-droidyard.json")],
    },
    Shelf {
        title: "Delivery note 20261109.docm",
        about: "a document whose macro starts PowerShell; one report has an identifier of an odd shape",
        object: asset!("document/file.json"),
        reports: &[asset!("document/1-zenbox.json"), asset!("document/2-odd-identifier.json")],
    },
    Shelf {
        title: "Blank reader.exe",
        about: "reports with nothing, or next to nothing, in them",
        object: asset!("blank/file.json"),
        reports: &[asset!("blank/1-nothing.json"), asset!("blank/2-next-to-nothing.json")],
    },
    Shelf {
        title: HOSTILE,
        about: "strings that attack whoever shows them, and attributes of the wrong type",
        object: asset!("hostile/file.json"),
        reports: &[asset!("hostile/1-strings.json"), asset!("hostile/2-wrong-types.json")],
    },
    Shelf {
        title: BUSY,
        about: "a report made on the fly, of any size",
        object: asset!("busy/file.json"),
        reports: &[],
    },
    Shelf {
        title: "Still in the queue.iso",
        about: "a file that no sandbox ever finishes with: following it ends when the looks are used up",
        object: asset!("queued/file.json"),
        reports: &[],
    },
];

pub(super) fn private_files() -> Vec<DemoFile> {
    let file = |shelf: &Shelf| DemoFile { sha256: digest(shelf.title), title: shelf.title, about: shelf.about };
    SHELVES.iter().map(file).collect()
}

/// The SHA-256 of a string, in hexadecimal.
pub(super) fn digest(text: &str) -> String {
    hex(&Sha256::digest(text))
}

pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A report's own object, without its links.
#[derive(Clone, Deserialize)]
pub(super) struct Report {
    pub id: String,
    #[serde(rename = "type")]
    pub kind: String,
    pub attributes: Attributes,
}

/// Where a report's attributes come from. Embedded ones are kept as written, faults and all.
#[derive(Clone, Deserialize)]
#[serde(from = "Box<RawValue>")]
pub(super) enum Attributes {
    Embedded(Box<RawValue>),
    Generated(u64),
}

impl From<Box<RawValue>> for Attributes {
    fn from(raw: Box<RawValue>) -> Self {
        Attributes::Embedded(raw)
    }
}

impl Attributes {
    /// The attributes as JSON text, piece by piece.
    pub fn pieces(&self) -> Pieces {
        match self {
            Attributes::Embedded(raw) => Pieces::whole(raw.get().to_owned()),
            Attributes::Generated(rows) => Pieces::made(generated::attributes(*rows)),
        }
    }
}

/// A private file with its reports.
#[derive(Clone)]
pub(super) struct PrivateFile {
    pub sha256: String,
    pub object: serde_json::Value,
    pub reports: Vec<Report>,
}

/// All private files, read and ready.
pub(super) struct Archive {
    pub files: Vec<PrivateFile>,
}

impl Archive {
    /// Reads what is embedded; the report made on the fly gets `rows` rows.
    pub fn open(rows: u64) -> io::Result<Archive> {
        let files = SHELVES.iter().map(|shelf| open(shelf, rows)).collect::<Result<_, _>>()?;
        Ok(Archive { files })
    }

    pub fn file(&self, sha256: &str) -> Option<&PrivateFile> {
        self.files.iter().find(|file| file.sha256 == sha256)
    }

    /// Any file with reports but the one with this hash or with this report.
    pub fn stranger_to(&self, id: &str) -> Option<&PrivateFile> {
        let own = self.report(id).map_or(id, |(file, _)| &file.sha256);
        self.files.iter().find(|file| file.sha256 != own && !file.reports.is_empty())
    }

    /// The report with this identifier, and its file.
    pub fn report(&self, id: &str) -> Option<(&PrivateFile, &Report)> {
        let in_file = |file: &'_ PrivateFile| file.reports.iter().position(|report| report.id == id);
        self.files.iter().find_map(|file| Some((file, file.reports.get(in_file(file)?)?)))
    }

    /// Reports that sandboxes make of any file that is submitted: what some of the embedded ones saw, under its own name.
    pub fn made_for(&self, sha256: &str, now: i64) -> Vec<Report> {
        let models = self.files.first().map(|file| file.reports.as_slice()).unwrap_or_default();
        let named = |report: &Report| {
            let sandbox = report
                .id
                .split_once('_')
                .and_then(|(_, rest)| rest.rsplit_once('-'))
                .map_or("Sandbox", |(name, _)| name);
            let id = format!("{sha256}_{sandbox}-{now}");
            Report { id, kind: report.kind.clone(), attributes: report.attributes.clone() }
        };
        models.iter().take(SANDBOXES).map(named).collect()
    }
}

fn open(shelf: &Shelf, rows: u64) -> Result<PrivateFile, serde_json::Error> {
    let sha256 = digest(shelf.title);
    let mut reports =
        shelf.reports.iter().map(|text| serde_json::from_str(text)).collect::<Result<Vec<Report>, _>>()?;
    match shelf.title {
        BUSY => reports.push(generated_report(&sha256, rows)),
        HOSTILE => reports.push(serde_json::from_str(&extremes::report(&sha256))?),
        _ => {}
    }
    Ok(PrivateFile { sha256, object: serde_json::from_str(shelf.object)?, reports })
}

fn generated_report(sha256: &str, rows: u64) -> Report {
    let id = format!("{sha256}_{}-1794474845", generated::SANDBOX);
    Report { id, kind: "private_file_behaviour".to_owned(), attributes: Attributes::Generated(rows) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_and_identifiers_name_the_hash_of_the_title() {
        for file in Archive::open(100).unwrap().files {
            assert_eq!(file.object["id"], file.sha256.as_str());
            assert_eq!(file.object["attributes"]["sha256"], file.sha256.as_str());
            let odd = file.reports.iter().filter(|report| !report.id.starts_with(&file.sha256));
            assert!(odd.count() <= usize::from(file.sha256 == digest("Delivery note 20261109.docm")));
        }
    }
}
