//! The files of the public operations: a few embedded ones, and those uploaded since the start.

use super::call::UploadedFile;
use super::reports::{DemoFile, digest};

/// When the embedded files were first submitted: 2026-11-02 08:00 UTC.
const FIRST_SUBMISSION: i64 = 1_793_606_400;
/// The seconds between two submissions of the same embedded file.
const BETWEEN_SUBMISSIONS: i64 = 90_000;

/// How many engines look at a file.
pub(super) const ENGINES: u64 = 70;

/// One file of the public operations.
#[derive(Debug)]
pub(super) struct PublicFile {
    pub sha256: String,
    pub name: String,
    pub size: u64,
    /// When it was submitted, in Unix seconds, first to last; never empty.
    pub submissions: Vec<i64>,
    /// How many engines detect it.
    pub detections: u64,
    /// Whether its first upload was to this service, after its start (§8.3).
    pub was_new: bool,
}

impl PublicFile {
    /// The identifier of its analysis.
    pub fn analysis(&self) -> String {
        let start = self.sha256.get(..32).unwrap_or_default();
        format!("{start}-{}", self.first_submitted())
    }

    pub fn first_submitted(&self) -> i64 {
        self.submissions.first().copied().unwrap_or_default()
    }

    pub fn last_submitted(&self) -> i64 {
        self.submissions.last().copied().unwrap_or_default()
    }
}

/// An embedded file: its title, what it shows, how often it was submitted, how many engines detect it.
const EMBEDDED: [(&str, &str, i64, u64); 3] = [
    ("lumen32.dll", "the dropper's second stage, submitted 4 times", 4, 41),
    ("Delivery note updater.ps1", "the script behind the macro, submitted 6 times", 6, 17),
    ("harmless-notepad.exe", "a clean file, submitted once", 1, 0),
];

pub(super) fn embedded() -> Vec<DemoFile> {
    EMBEDDED.iter().map(|(title, about, ..)| DemoFile { sha256: digest(title), title, about }).collect()
}

/// All files of the public operations.
#[derive(Debug)]
pub(super) struct Corpus {
    files: Vec<PublicFile>,
}

impl Corpus {
    pub fn new() -> Self {
        let files = EMBEDDED.iter().map(|&(title, _, submissions, detections)| PublicFile {
            sha256: digest(title),
            name: title.to_owned(),
            size: 48_128,
            submissions: (0..submissions).map(|n| FIRST_SUBMISSION + n * BETWEEN_SUBMISSIONS).collect(),
            detections,
            was_new: false,
        });
        Corpus { files: files.collect() }
    }

    pub fn find(&self, sha256: &str) -> Option<&PublicFile> {
        self.files.iter().find(|file| file.sha256 == sha256)
    }

    pub fn by_analysis(&self, id: &str) -> Option<&PublicFile> {
        self.files.iter().find(|file| file.analysis() == id)
    }

    pub fn by_any_id(&self, id: &str) -> Option<&PublicFile> {
        self.find(id).or_else(|| self.by_analysis(id))
    }

    /// Takes an upload in, and gives the identifier of its analysis.
    pub fn submit(&mut self, upload: &UploadedFile, now: i64) -> String {
        if let Some(known) = self.files.iter_mut().find(|file| file.sha256 == upload.sha256) {
            known.submissions.push(now);
            return known.analysis();
        }
        let UploadedFile { sha256, name, size } = upload.clone();
        let file = PublicFile { sha256, name, size, submissions: vec![now], detections: 0, was_new: true };
        let analysis = file.analysis();
        self.files.push(file);
        analysis
    }
}
