//! API v2 (§8.2): flat answers with a `response_code`.

use jiff::civil::DateTime;
use serde_json::{Value, json};

use super::Context;
use crate::demo::answers::{Answer, Outcome, set};
use crate::demo::call::Call;
use crate::demo::corpus::{ENGINES, PublicFile};
use crate::demo::counters::utc;

/// Hashes come as a list split by commas or spaces, as a repeated parameter, or both.
pub(in crate::demo) fn hashes(call: &Call) -> Vec<String> {
    let listed = call.values("resource").flat_map(|value| value.split([',', ' ']));
    listed.filter(|hash| !hash.is_empty()).map(str::to_ascii_lowercase).collect()
}

/// One report for each hash: alone for one hash, in a list for several.
pub(super) fn report(context: &Context) -> Outcome {
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
pub(super) fn submissions(context: &Context) -> Outcome {
    each(context, |file| {
        let entry =
            |date: &i64| json!({ "date": timestamp(*date), "name": file.name, "interface": "api", "country": "ZZ" });
        json!({ "sha256": file.sha256, "submissions": file.submissions.iter().map(entry).collect::<Vec<_>>() })
    })
}

fn each(context: &Context, about: impl Fn(&PublicFile) -> Value) -> Outcome {
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

pub(super) fn scan(context: &mut Context) -> Outcome {
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
