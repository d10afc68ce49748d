//! The embedded private files with their reports.

use std::io;

use serde::Deserialize;
use serde_json::value::RawValue;
use sha2::{Digest, Sha256};

use super::generated;

/// A file of the demo.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DemoFile {
    /// The SHA-256 that identifies the file: the hash of its title.
    pub sha256: String,
    pub title: &'static str,
    /// The purpose of the file, in one sentence.
    pub about: &'static str,
}

type EmbeddedFile = (&'static str, &'static str, &'static str, &'static [&'static str]);

/// The file whose report is generated.
const BUSY: &str = "Busy installer.exe";
/// Number of sandboxes that run a submitted file.
const SANDBOXES: usize = 3;
/// The file of unfriendly strings; its folder also gets [`generated::extreme_report`].
const HOSTILE: &str = "Unfriendly strings.bin";

/// Declares files by their folder, with the names of their reports.
macro_rules! embedded {
    ($($title:expr, $about:literal, $folder:literal: $($report:literal)*;)*) => {
        const EMBEDDED: &[EmbeddedFile] = &[$((
            $title, $about, include_str!(concat!("../../assets/demo/", $folder, "/file.json")),
            &[$(include_str!(concat!("../../assets/demo/", $folder, "/", $report, ".json"))),*],
        )),*];
    };
}

embedded! {
    "Quarterly statement viewer.exe", "a Windows dropper, run in six sandboxes that each saw something else",
        "dropper": "1-cape" "2-zenbox" "3-lynxbox" "4-quiet-harbour" "5-observatory" "6-lantern-mobile";
    "Parcel tracker.apk", "an Android app that reads and sends text messages", "parcel": "1-lantern-mobile" "2-droidyard";
    "Delivery note 20261109.docm", "a document whose macro starts PowerShell; one report has an identifier of an odd shape",
        "document": "1-zenbox" "2-odd-identifier";
    "Blank reader.exe", "reports with nothing, or next to nothing, in them", "blank": "1-nothing" "2-next-to-nothing";
    HOSTILE, "strings that attack the program that shows them, and attributes of the wrong type",
        "hostile": "1-strings" "2-wrong-types";
    BUSY, "a report made on the fly, of any size", "busy":;
    "Still in the queue.iso", "a file that no sandbox ever finishes with: watching it ends when the polls are used up",
        "queued":;
}

pub(super) fn private_files() -> Vec<DemoFile> {
    EMBEDDED.iter().map(|(title, about, ..)| DemoFile { sha256: digest(title), title, about }).collect()
}

pub(super) fn digest(bytes: impl AsRef<[u8]>) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A report's own object, without its links. The attributes are unchanged, with any errors.
#[derive(Clone, Deserialize)]
pub(super) struct DemoReport {
    pub(crate) id: String,
    #[serde(rename = "type")]
    pub(crate) kind: String,
    pub(crate) attributes: Box<RawValue>,
}

#[derive(Clone)]
pub(super) struct PrivateFile {
    pub(crate) sha256: String,
    pub(crate) object: serde_json::Value,
    pub(crate) reports: Vec<DemoReport>,
}

pub(super) fn find_file<'a>(files: &'a [PrivateFile], sha256: &str) -> Option<&'a PrivateFile> {
    files.iter().find(|file| file.sha256 == sha256)
}

pub(super) fn find_report<'a>(files: &'a [PrivateFile], id: &str) -> Option<(&'a PrivateFile, &'a DemoReport)> {
    let mut reports = files.iter().flat_map(|file| file.reports.iter().map(move |report| (file, report)));
    reports.find(|(_, report)| report.id == id)
}

/// Reads the embedded files; the generated report has `rows` rows.
pub(super) fn read_embedded(rows: u64) -> io::Result<Vec<PrivateFile>> {
    Ok(EMBEDDED.iter().map(|file| read(file, rows)).collect::<Result<_, _>>()?)
}

/// Returns a submitted file's reports: the first embedded file's, with this file's identifiers.
pub(super) fn made_for(sha256: &str, files: &[PrivateFile], now: i64) -> Vec<DemoReport> {
    let named = |model: &DemoReport| {
        let sandbox = model.id.split_once('_').and_then(|(_, rest)| rest.rsplit_once('-'));
        DemoReport { id: format!("{sha256}_{}-{now}", sandbox.map_or("Sandbox", |(name, _)| name)), ..model.clone() }
    };
    files.iter().take(1).flat_map(|file| &file.reports).take(SANDBOXES).map(named).collect()
}

fn read((title, _, object, reports): &EmbeddedFile, rows: u64) -> Result<PrivateFile, serde_json::Error> {
    let sha256 = digest(title);
    let mut reports = reports.iter().map(|text| serde_json::from_str(text)).collect::<Result<Vec<DemoReport>, _>>()?;
    match *title {
        BUSY => {
            let attributes = RawValue::from_string(generated::attributes(rows))?;
            let id = format!("{sha256}_{}-1794474845", generated::SANDBOX);
            reports.push(DemoReport { id, kind: "private_file_behaviour".to_owned(), attributes });
        }
        HOSTILE => reports.push(serde_json::from_str(&generated::extreme_report(&sha256))?),
        _ => {}
    }
    Ok(PrivateFile { sha256, object: serde_json::from_str(object)?, reports })
}
