//! Public files in API v3 (§4.2) and, as flat responses with a `response_code`, in API v2 (§8.2);
//! and the key's user, with quotas and usage (§8.3).

use jiff::ToSpan;
use jiff::civil::Date;
use serde_json::{Value, json};

use super::counters::{GROUP, USER, utc};
use super::http::{DemoCall, DemoResponse, DemoResult, SubmittedFile, set};
use super::reports::digest;
use super::service::Context;

/// When the embedded files were first submitted: 2026-11-02 08:00 UTC.
const FIRST_SUBMISSION: i64 = 1_793_606_400;
/// The seconds between two submissions of the same embedded file.
const BETWEEN_SUBMISSIONS: i64 = 90_000;

const ENGINES: u64 = 70;

#[derive(Debug)]
pub(super) struct PublicFile {
    pub(crate) sha256: String,
    pub(crate) name: String,
    pub(crate) size: u64,
    /// Times of submission in Unix seconds, ascending; never empty.
    pub(crate) submissions: Vec<i64>,
    pub(crate) detections: u64,
    /// Whether its first upload was to this service, after its start (§8.3).
    pub(crate) was_new: bool,
}

impl PublicFile {
    pub(crate) fn analysis(&self) -> String {
        let start = self.sha256.get(..32).unwrap_or_default();
        format!("{start}-{}", self.first_submitted())
    }

    pub(crate) fn first_submitted(&self) -> i64 {
        self.submissions.first().copied().unwrap_or_default()
    }

    pub(crate) fn last_submitted(&self) -> i64 {
        self.submissions.last().copied().unwrap_or_default()
    }
}

/// Embedded files: title, description, number of submissions, number of detections.
pub(super) const EMBEDDED: [(&str, &str, i64, u64); 3] = [
    ("lumen32.dll", "the dropper's second stage, submitted 4 times", 4, 41),
    ("Delivery note updater.ps1", "the script behind the macro, submitted 6 times", 6, 17),
    ("harmless-notepad.exe", "a clean file, submitted once", 1, 0),
];

#[derive(Debug)]
pub(super) struct Corpus {
    files: Vec<PublicFile>,
}

impl Corpus {
    pub(crate) fn new() -> Self {
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

    pub(crate) fn find(&self, sha256: &str) -> Option<&PublicFile> {
        self.files.iter().find(|file| file.sha256 == sha256)
    }

    pub(crate) fn by_analysis(&self, id: &str) -> Option<&PublicFile> {
        self.files.iter().find(|file| file.analysis() == id)
    }

    pub(crate) fn by_any_id(&self, id: &str) -> Option<&PublicFile> {
        self.find(id).or_else(|| self.by_analysis(id))
    }

    /// Records an upload, and returns the identifier of its analysis.
    pub(crate) fn submit(&mut self, upload: &SubmittedFile, now: i64) -> String {
        if let Some(known) = self.files.iter_mut().find(|file| file.sha256 == upload.sha256) {
            known.submissions.push(now);
            return known.analysis();
        }
        let SubmittedFile { sha256, name, size, .. } = upload.clone();
        let file = PublicFile { sha256, name, size, submissions: vec![now], detections: 0, was_new: true };
        let analysis = file.analysis();
        self.files.push(file);
        analysis
    }
}

pub(super) fn file(id: &str, context: &mut Context) -> DemoResult {
    let file = context.state.corpus.find(id).ok_or_else(|| DemoResponse::not_found("File", id))?;
    let attributes = json!({
        "sha256": file.sha256,
        "meaningful_name": file.name,
        "names": [file.name],
        "size": file.size,
        "times_submitted": file.submissions.len(),
        "first_submission_date": file.first_submitted(),
        "last_submission_date": file.last_submitted(),
        "last_analysis_date": file.last_submitted(),
        "last_analysis_stats": stats(file),
    });
    Ok(DemoResponse::object("file", id, &context.link(&format!("files/{id}")), Some(attributes)))
}

fn stats(file: &PublicFile) -> Value {
    json!({ "malicious": file.detections, "undetected": ENGINES - file.detections })
}

pub(super) fn analysis(id: &str, context: &mut Context) -> DemoResult {
    let file = context.state.corpus.by_analysis(id).ok_or_else(|| DemoResponse::not_found("Analysis", id))?;
    Ok(DemoResponse::object("analysis", id, &context.link(&format!("analyses/{id}")), Some(analysis_attributes(file))))
}

fn analysis_attributes(file: &PublicFile) -> Value {
    json!({ "status": "completed", "date": file.first_submitted(), "stats": stats(file), "results": {} })
}

/// Returns the analyses of a file, which is named by its hash or by an analysis.
pub(super) fn analyses(id: &str, context: &mut Context) -> DemoResult {
    let file = context.state.corpus.by_any_id(id).ok_or_else(|| DemoResponse::not_found("File", id))?;
    let analysis = file.analysis();
    let body = json!({
        "data": [{
            "type": "analysis",
            "id": analysis,
            "links": { "self": context.link(&format!("analyses/{analysis}")) },
            "attributes": analysis_attributes(file),
        }],
        "meta": { "count": 1 },
        "links": { "self": context.link(&format!("files/{}/analyses?limit=10", file.sha256)) },
    });
    Ok(DemoResponse::json(body.to_string()))
}

pub(super) fn rescan(id: &str, context: &mut Context) -> DemoResult {
    let file = context.state.corpus.find(id).ok_or_else(|| DemoResponse::not_found("File", id))?;
    Ok(started(&file.analysis(), context))
}

pub(super) fn upload(_: &str, context: &mut Context) -> DemoResult {
    let now = context.state.clock.seconds();
    Ok(started(&context.state.corpus.submit(context.call.upload()?, now), context))
}

fn started(analysis: &str, context: &Context) -> DemoResponse {
    DemoResponse::object("analysis", analysis, &context.link(&format!("analyses/{analysis}")), None)
}

/// Returns a call's hashes: lists, with commas or spaces, in one or several parameters.
pub(super) fn hashes(call: &DemoCall) -> Vec<String> {
    let values = call.parameters.iter().filter(|(name, _)| name == "resource");
    let listed = values.flat_map(|(_, value)| value.split([',', ' ']));
    listed.filter(|hash| !hash.is_empty()).map(str::to_ascii_lowercase).collect()
}

/// Returns one report for each hash: alone for one hash, in a list for several.
pub(super) fn v2_report(_: &str, context: &mut Context) -> DemoResult {
    each(context, |file| {
        json!({
            "scan_id": file.analysis(),
            "sha256": file.sha256,
            "scan_date": date(file.last_submitted()),
            "positives": file.detections,
            "total": ENGINES,
            "scans": {},
            "permalink": format!("{}/gui/file/{}", context.service.root, file.sha256),
        })
    })
}

pub(super) fn v2_submissions(_: &str, context: &mut Context) -> DemoResult {
    each(context, |file| {
        let entry = |at: &i64| json!({ "date": date(*at), "name": file.name, "interface": "api", "country": "ZZ" });
        json!({ "sha256": file.sha256, "submissions": file.submissions.iter().map(entry).collect::<Vec<_>>() })
    })
}

fn each(context: &Context, about: impl Fn(&PublicFile) -> Value) -> DemoResult {
    let hashes = hashes(context.call);
    let one = |hash: &String| match context.state.corpus.find(hash) {
        None => json!({ "response_code": 0, "resource": hash, "verbose_msg": "Not among the scans" }),
        Some(file) => {
            let mut entry = about(file);
            set(&mut entry, "response_code", 1);
            set(&mut entry, "resource", hash.as_str());
            set(&mut entry, "verbose_msg", "Scan finished, information embedded");
            entry
        }
    };
    match hashes.as_slice() {
        [] => Err(DemoResponse::bad_argument("resource is missing")),
        [hash] => Ok(DemoResponse::json(one(hash).to_string())),
        several => Ok(DemoResponse::json(several.iter().map(one).collect::<Value>().to_string())),
    }
}

pub(super) fn v2_scan(_: &str, context: &mut Context) -> DemoResult {
    let upload = context.call.upload()?;
    let now = context.state.clock.seconds();
    let analysis = context.state.corpus.submit(upload, now);
    let body = json!({
        "response_code": 1,
        "resource": upload.sha256,
        "scan_id": analysis,
        "sha256": upload.sha256,
        "verbose_msg": "Scan request successfully queued, come back later for the report",
    });
    Ok(DemoResponse::json(body.to_string()))
}

/// Returns a Unix time as v2 writes it: `2026-11-02 08:00:00`.
fn date(seconds: i64) -> String {
    utc(seconds).strftime("%Y-%m-%d %H:%M:%S").to_string()
}

/// Maximum number of days of a usage call, and number of past days that have a record.
const MAX_DAYS: i32 = 30;
const DAYS_RECORDED: i32 = 60;

/// The user object, without the key and the licence.
const USER_OBJECT: &str = include_str!("../../assets/demo/user.json");

pub(super) fn user(id: &str, context: &mut Context) -> DemoResult {
    check(id, context)?;
    let mut attributes: Value = serde_json::from_str(USER_OBJECT).unwrap_or_default();
    // As the service does: a client that reads this object has the key already.
    set(&mut attributes, "apikey", context.service.key.as_str());
    if let Some(privileges) = attributes.get_mut("privileges") {
        set(privileges, "privatescan", json!({ "granted": context.service.options.licence }));
    }
    Ok(DemoResponse::object("user", USER, &context.link(&format!("users/{USER}")), Some(attributes)))
}

pub(super) fn quotas(id: &str, context: &mut Context) -> DemoResult {
    check(id, context)?;
    Ok(DemoResponse::json(context.state.counters.quotas(context.service.options.licence).to_string()))
}

pub(super) fn usage(id: &str, context: &mut Context) -> DemoResult {
    check(id, context)?;
    let today = context.state.clock.now().date();
    let last = day("end_date", context)?.unwrap_or(today);
    let first = day("start_date", context)?.unwrap_or_else(|| last.saturating_sub((MAX_DAYS - 1).days()));
    let days = (last - first).get_days() + 1;
    if !(1..=MAX_DAYS).contains(&days) {
        return Err(DemoResponse::bad_argument(format!("a call covers 1 to {MAX_DAYS} days")));
    }
    let earliest = today.saturating_sub(DAYS_RECORDED.days());
    Ok(DemoResponse::json(context.state.counters.usage(first.max(earliest), last).to_string()))
}

fn day(name: &str, context: &Context) -> Result<Option<Date>, DemoResponse> {
    let parse = |text: &str| {
        Date::strptime("%Y%m%d", text).map_err(|_| DemoResponse::bad_argument(format!("\"{text}\" is not YYYYMMDD")))
    };
    context.call.value(name).map(parse).transpose()
}

/// The shape is not documented: each user with its requests.
pub(super) fn group_users(id: &str, context: &mut Context) -> DemoResult {
    check(id, context)?;
    let used = context.state.counters.user.used.monthly;
    Ok(DemoResponse::json(json!({"data": {USER: used}}).to_string()))
}

/// Checks that a user, identified by name or by key, requests its own data or its group's.
fn check(id: &str, context: &Context) -> Result<(), DemoResponse> {
    let is_self = id == USER || id == context.service.key || id == GROUP;
    if is_self { Ok(()) } else { Err(DemoResponse::error(404, "NotFoundError", "User not found")) }
}
