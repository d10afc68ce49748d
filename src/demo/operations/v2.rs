//! API v2 (§8.2): flat answers with a `response_code`.

use jiff::civil::DateTime;
use serde_json::{Value, json};

use super::Context;
use crate::demo::answers::{self, Answer};
use crate::demo::asked::Upload;
use crate::demo::corpus::{Corpus, ENGINES, Known};
use crate::demo::counters::utc;

/// One report for each hash: alone for one hash, in a list for several.
pub(super) fn report(hashes: &[String], context: &Context) -> Answer {
    each(hashes, &context.books.corpus, |file| {
        json!({
            "scan_id": file.analysis(),
            "sha256": file.sha256,
            "scan_date": written(file.last_submitted()),
            "positives": file.detections,
            "total": ENGINES,
            "scans": {},
            "permalink": format!("{}/gui/file/{}", context.service.root, file.sha256),
        })
    })
}

/// The submissions of each file.
pub(super) fn submissions(hashes: &[String], context: &Context) -> Answer {
    each(hashes, &context.books.corpus, |file| {
        let entry =
            |date: &i64| json!({ "date": written(*date), "name": file.name, "interface": "api", "country": "ZZ" });
        json!({ "sha256": file.sha256, "submissions": file.submissions.iter().map(entry).collect::<Vec<_>>() })
    })
}

fn each(hashes: &[String], corpus: &Corpus, about: impl Fn(&Known) -> Value) -> Answer {
    let one = |hash: &String| match corpus.find(hash) {
        None => {
            json!({ "response_code": 0, "resource": hash, "verbose_msg": "Not among the scans" })
        }
        Some(file) => answered(hash, about(file)),
    };
    let mut answers: Vec<Value> = hashes.iter().map(one).collect();
    let body = if answers.len() == 1 { answers.pop().unwrap_or_default() } else { Value::Array(answers) };
    answers::json(&body)
}

fn answered(resource: &str, mut about: Value) -> Value {
    if let Some(entry) = about.as_object_mut() {
        entry.insert("response_code".to_owned(), 1.into());
        entry.insert("resource".to_owned(), resource.into());
        entry.insert("verbose_msg".to_owned(), "Scan finished, information embedded".into());
    }
    about
}

pub(super) fn scan(upload: &Upload, context: &mut Context) -> Answer {
    let now = context.books.clock.seconds();
    let analysis = context.books.corpus.submit(upload, now);
    answers::json(&json!({
        "response_code": 1,
        "resource": upload.sha256,
        "scan_id": analysis,
        "sha256": upload.sha256,
        "verbose_msg": "Scan request successfully queued, come back later for the report",
    }))
}

/// A Unix time as v2 writes it: `2026-11-02 08:00:00`.
fn written(seconds: i64) -> String {
    DateTime::strftime(&utc(seconds), "%Y-%m-%d %H:%M:%S").to_string()
}
