//! The files that were submitted since the start, and how far their analyses are: each poll takes them one step further.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use super::call::UploadedFile;
use super::reports::{DemoReport, PrivateFile, digest};

/// A file that was taken in for a private scan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Submitted {
    /// The SHA-256 of the uploaded file.
    pub sha256: String,
    pub name: String,
    pub size: u64,
    pub fields: Vec<(String, String)>,
}

struct DemoAnalysis {
    id: String,
    file: String,
    size: u64,
    begun: i64,
    polls: u64,
    /// What the sandboxes will have made, in the order in which they are done.
    reports: Vec<DemoReport>,
}

/// Everything about submitted files.
#[derive(Default)]
pub(super) struct Scans {
    pub submitted: Vec<Submitted>,
    files: Vec<PrivateFile>,
    analyses: Vec<DemoAnalysis>,
    /// How many words for one upload were handed out, and those that are not used yet.
    handed_out: usize,
    tickets: BTreeSet<String>,
    /// The deletions by file: whether the reports stay.
    deleted: BTreeMap<String, bool>,
}

impl Scans {
    /// A word that is good for one upload.
    pub fn ticket(&mut self, seed: &str) -> String {
        let ticket = digest(format!("{seed} {}", self.handed_out));
        self.handed_out += 1;
        self.tickets.insert(ticket.clone());
        ticket
    }

    /// Whether a word is good for an upload; from now on it is not.
    pub fn redeem(&mut self, ticket: &str) -> bool {
        self.tickets.remove(ticket)
    }

    /// Takes a file in, and begins its analysis; gives the analysis's identifier.
    pub fn begin(
        &mut self,
        upload: &UploadedFile,
        fields: &[(String, String)],
        reports: Vec<DemoReport>,
        now: i64,
    ) -> String {
        let UploadedFile { sha256, name, size } = upload.clone();
        self.deleted.remove(&sha256);
        if self.file(&sha256).is_none() {
            let object = json!({
                "id": sha256,
                "type": "private_file",
                "attributes": { "sha256": sha256, "size": size, "names": [name], "meaningful_name": name },
            });
            self.files.push(PrivateFile { object, sha256: sha256.clone(), reports: Vec::new() });
        }
        let id = format!("{}-scan{}", sha256.get(..32).unwrap_or_default(), self.analyses.len() + 1);
        self.submitted.push(Submitted { sha256: sha256.clone(), name, size, fields: fields.to_vec() });
        self.analyses.push(DemoAnalysis { id: id.clone(), file: sha256, size, begun: now, polls: 0, reports });
        id
    }

    pub fn file(&self, sha256: &str) -> Option<&PrivateFile> {
        self.files.iter().find(|file| file.sha256 == sha256)
    }

    pub fn report(&self, id: &str) -> Option<(&PrivateFile, &DemoReport)> {
        self.files.iter().find_map(|file| file.report(id))
    }

    /// Whether a file no longer exists; with its reports, or by itself.
    pub fn is_deleted(&self, sha256: &str, with_reports: bool) -> bool {
        self.deleted.get(sha256).is_some_and(|stay| !with_reports || !stay)
    }

    pub fn delete(&mut self, sha256: &str, only_from_storage: bool) {
        self.deleted.insert(sha256.to_owned(), only_from_storage);
        if !only_from_storage {
            self.files.retain(|file| file.sha256 != sha256);
            self.analyses.retain(|analysis| analysis.file != sha256);
        }
    }

    /// The identifier of the last analysis of a file.
    pub fn last_of(&self, sha256: &str) -> Option<String> {
        self.analyses.iter().rev().find(|analysis| analysis.file == sha256).map(|analysis| analysis.id.clone())
    }

    /// Polls an analysis: finished sandboxes are listed from now on. The first is finished at poll `first`.
    pub fn poll(&mut self, id: &str, first: u64) -> Option<Value> {
        let analysis = self.analyses.iter_mut().find(|analysis| analysis.id == id)?;
        analysis.polls += 1;
        let polls = analysis.polls;
        if let Some(file) = self.files.iter_mut().find(|file| file.sha256 == analysis.file) {
            for (_, report) in (first..).zip(&analysis.reports).filter(|(done_at, _)| polls >= *done_at) {
                if file.report(&report.id).is_none() {
                    file.reports.push(report.clone());
                }
            }
        }
        let status = match polls {
            _ if polls + 1 >= first + analysis.reports.len() as u64 => "completed",
            1 => "queued",
            _ => "in-progress",
        };
        let runs = (first..).zip(&analysis.reports).map(|(done_at, report)| (report.id.clone(), run(polls, done_at)));
        let sandboxes: Map<String, Value> = runs.collect();
        Some(json!({
            "data": {
                "id": id,
                "type": "private_analysis",
                "attributes": { "date": analysis.begun, "status": status, "sandbox_status": sandboxes },
            },
            "meta": { "file_info": { "sha256": analysis.file, "size": analysis.size } },
        }))
    }
}

/// How far a sandbox is at a poll, if it is done at another.
fn run(polls: u64, done_at: u64) -> Value {
    match polls {
        _ if polls >= done_at => json!({ "status": "completed" }),
        0 | 1 => json!({ "status": "queued" }),
        _ => {
            let percent = 100 * (polls - 1) / done_at.saturating_sub(1).max(1);
            json!({ "status": "in-progress", "in_progress_percent": percent, "message": "Watching what it does" })
        }
    }
}
