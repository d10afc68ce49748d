//! The files that were submitted since the start, and how far their analyses are: each look takes them one step further.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::asked::Upload;
use super::reports::{PrivateFile, Report, digest};
use super::routes;

/// A file that was taken in for a private scan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Submitted {
    /// The SHA-256 of what came.
    pub sha256: String,
    pub name: String,
    pub size: u64,
    pub fields: Vec<(String, String)>,
}

struct Analysis {
    id: String,
    file: String,
    begun: i64,
    looks: u64,
    /// What the sandboxes will have made, in the order in which they are done.
    reports: Vec<Report>,
}

/// Everything about submitted files.
#[derive(Default)]
pub(super) struct Scans {
    submitted: Vec<Submitted>,
    files: Vec<PrivateFile>,
    analyses: Vec<Analysis>,
    tickets: Vec<String>,
    /// What was deleted: whether the reports stay, by file.
    deleted: BTreeMap<String, bool>,
}

impl Scans {
    pub fn submitted(&self) -> Vec<Submitted> {
        self.submitted.clone()
    }

    /// A word that is good for one upload.
    pub fn ticket(&mut self, seed: &str) -> String {
        let ticket = digest(&format!("{seed} {}", self.tickets.len()));
        self.tickets.push(ticket.clone());
        ticket
    }

    /// Whether a word is good for an upload; from now on it is not.
    pub fn redeem(&mut self, ticket: &str) -> bool {
        let at = self.tickets.iter().position(|known| known == ticket);
        at.is_some_and(|at| !std::mem::take(self.tickets.get_mut(at).unwrap_or(&mut String::new())).is_empty())
    }

    /// Takes a file in, and begins its analysis; gives the analysis's identifier.
    pub fn begin(&mut self, scan: routes::Scan, reports: Vec<Report>, now: i64) -> String {
        let routes::Scan { upload: Upload { sha256, name, size }, fields, .. } = scan;
        self.deleted.remove(&sha256);
        if !self.files.iter().any(|file| file.sha256 == sha256) {
            self.files.push(PrivateFile {
                object: object(&sha256, &name, size),
                sha256: sha256.clone(),
                reports: Vec::new(),
            });
        }
        let id = format!("{}-scan{}", sha256.get(..32).unwrap_or_default(), self.analyses.len() + 1);
        self.submitted.push(Submitted { sha256: sha256.clone(), name, size, fields });
        self.analyses.push(Analysis { id: id.clone(), file: sha256, begun: now, looks: 0, reports });
        id
    }

    pub fn file(&self, sha256: &str) -> Option<&PrivateFile> {
        self.files.iter().find(|file| file.sha256 == sha256)
    }

    pub fn report(&self, id: &str) -> Option<(&PrivateFile, &Report)> {
        self.files.iter().find_map(|file| Some((file, file.reports.iter().find(|report| report.id == id)?)))
    }

    /// Whether a file is there no more; with its reports, or by itself.
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

    /// Looks at an analysis: what is done by now is listed from now on. `first` looks pass until the first sandbox is done.
    pub fn look(&mut self, id: &str, first: u64) -> Option<Value> {
        let analysis = self.analyses.iter_mut().find(|analysis| analysis.id == id)?;
        analysis.looks += 1;
        let looks = analysis.looks;
        let is_done = |n: usize| looks >= first + n as u64;
        if let Some(file) = self.files.iter_mut().find(|file| file.sha256 == analysis.file) {
            let done = analysis.reports.iter().enumerate().filter(|(n, _)| is_done(*n)).map(|(_, report)| report);
            for report in done {
                if !file.reports.iter().any(|known| known.id == report.id) {
                    file.reports.push(report.clone());
                }
            }
        }
        let all = (0..analysis.reports.len()).all(is_done);
        let status = if all {
            "completed"
        } else if looks > 1 {
            "in-progress"
        } else {
            "queued"
        };
        let runs = analysis.reports.iter().enumerate();
        let runs = runs.map(|(n, report)| (report.id.clone(), run(looks, first + n as u64)));
        let sandboxes: Map<String, Value> = runs.collect();
        let size = self.submitted.iter().rev().find(|file| file.sha256 == analysis.file).map_or(0, |file| file.size);
        Some(json!({
            "data": {
                "id": id,
                "type": "private_analysis",
                "attributes": { "date": analysis.begun, "status": status, "sandbox_status": sandboxes },
            },
            "meta": { "file_info": { "sha256": analysis.file, "size": size } },
        }))
    }
}

/// How far a sandbox is at a look, if it is done at another.
fn run(looks: u64, done_at: u64) -> Value {
    match looks {
        _ if looks >= done_at => json!({ "status": "completed" }),
        0 | 1 => json!({ "status": "queued" }),
        _ => {
            let percent = 100 * (looks - 1) / done_at.saturating_sub(1).max(1);
            json!({ "status": "in-progress", "in_progress_percent": percent, "message": "Watching what it does" })
        }
    }
}

fn object(sha256: &str, name: &str, size: u64) -> Value {
    json!({
        "id": sha256,
        "type": "private_file",
        "attributes": { "sha256": sha256, "size": size, "names": [name], "meaningful_name": name },
    })
}
