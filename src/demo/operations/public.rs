//! The public files: API v3 (§4.2), and the flat answers with a `response_code` of API v2 (§8.2).

use jiff::civil::DateTime;
use serde_json::{Value, json};

use super::Context;
use crate::demo::answers::{Answer, AnswerResult, set};
use crate::demo::call::DemoCall;
use crate::demo::corpus::{ENGINES, PublicFile};
use crate::demo::counters::utc;

pub(super) fn file(id: &str, context: &Context) -> AnswerResult {
    let file = context.state.corpus.find(id).ok_or_else(|| Answer::not_found("File", id))?;
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
    Ok(Answer::object("file", id, &context.link(&format!("files/{id}")), &attributes))
}

fn stats(file: &PublicFile) -> Value {
    json!({ "malicious": file.detections, "undetected": ENGINES - file.detections })
}

pub(super) fn analysis(id: &str, context: &Context) -> AnswerResult {
    let file = context.state.corpus.by_analysis(id).ok_or_else(|| Answer::not_found("Analysis", id))?;
    Ok(Answer::object("analysis", id, &context.link(&format!("analyses/{id}")), &analysis_attributes(file)))
}

fn analysis_attributes(file: &PublicFile) -> Value {
    json!({ "status": "completed", "date": file.first_submitted(), "stats": stats(file), "results": {} })
}

/// The analyses of a file, which is named by its hash or by an analysis.
pub(super) fn analyses(id: &str, context: &Context) -> AnswerResult {
    let file = context.state.corpus.by_any_id(id).ok_or_else(|| Answer::not_found("File", id))?;
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
    Ok(Answer::json(body.to_string()))
}

pub(super) fn rescan(id: &str, context: &Context) -> AnswerResult {
    let file = context.state.corpus.find(id).ok_or_else(|| Answer::not_found("File", id))?;
    Ok(started(&file.analysis(), context))
}

pub(super) fn upload(context: &mut Context) -> AnswerResult {
    let now = context.state.clock.seconds();
    let analysis = context.state.corpus.submit(context.call.upload()?, now);
    Ok(started(&analysis, context))
}

fn started(analysis: &str, context: &Context) -> Answer {
    let link = context.link(&format!("analyses/{analysis}"));
    let data = json!({ "type": "analysis", "id": analysis, "links": { "self": link } });
    Answer::json(json!({ "data": data }).to_string())
}

/// Hashes come as a list split by commas or spaces, as a repeated parameter, or both.
pub(in crate::demo) fn hashes(call: &DemoCall) -> Vec<String> {
    let listed = call.values("resource").flat_map(|value| value.split([',', ' ']));
    listed.filter(|hash| !hash.is_empty()).map(str::to_ascii_lowercase).collect()
}

/// One report for each hash: alone for one hash, in a list for several.
pub(super) fn v2_report(context: &Context) -> AnswerResult {
    each(context, |file| {
        json!({
            "scan_id": file.analysis(),
            "sha256": file.sha256,
            "scan_date": timestamp(file.last_submitted()),
            "positives": file.detections,
            "total": ENGINES,
            "scans": {},
            "permalink": format!("{}/gui/file/{}", context.service.root, file.sha256),
        })
    })
}

/// The submissions of each file.
pub(super) fn v2_submissions(context: &Context) -> AnswerResult {
    each(context, |file| {
        let entry =
            |date: &i64| json!({ "date": timestamp(*date), "name": file.name, "interface": "api", "country": "ZZ" });
        json!({ "sha256": file.sha256, "submissions": file.submissions.iter().map(entry).collect::<Vec<_>>() })
    })
}

fn each(context: &Context, about: impl Fn(&PublicFile) -> Value) -> AnswerResult {
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
        [] => Err(Answer::bad_argument("resource is missing")),
        [hash] => Ok(Answer::json(one(hash).to_string())),
        several => Ok(Answer::json(several.iter().map(one).collect::<Value>().to_string())),
    }
}

pub(super) fn v2_scan(context: &mut Context) -> AnswerResult {
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
    Ok(Answer::json(body.to_string()))
}

/// A Unix time as v2 writes it: `2026-11-02 08:00:00`.
fn timestamp(seconds: i64) -> String {
    DateTime::strftime(&utc(seconds), "%Y-%m-%d %H:%M:%S").to_string()
}
