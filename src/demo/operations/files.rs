//! The public files of API v3 (§4.2).

use serde_json::{Value, json};

use super::Context;
use crate::demo::answers::{Answer, Outcome};
use crate::demo::corpus::{ENGINES, PublicFile};

pub(super) fn file(id: &str, context: &Context) -> Outcome {
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

pub(super) fn analysis(id: &str, context: &Context) -> Outcome {
    let file = context.state.corpus.by_analysis(id).ok_or_else(|| Answer::not_found("Analysis", id))?;
    Ok(Answer::object("analysis", id, &context.link(&format!("analyses/{id}")), &analysis_attributes(file)))
}

fn analysis_attributes(file: &PublicFile) -> Value {
    json!({ "status": "completed", "date": file.first_submitted(), "stats": stats(file), "results": {} })
}

/// The analyses of a file, which is named by its hash or by an analysis.
pub(super) fn analyses(id: &str, context: &Context) -> Outcome {
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

pub(super) fn rescan(id: &str, context: &Context) -> Outcome {
    let file = context.state.corpus.find(id).ok_or_else(|| Answer::not_found("File", id))?;
    Ok(started(&file.analysis(), context))
}

pub(super) fn upload(context: &mut Context) -> Outcome {
    let now = context.state.clock.seconds();
    let analysis = context.state.corpus.submit(context.call.upload()?, now);
    Ok(started(&analysis, context))
}

fn started(analysis: &str, context: &Context) -> Answer {
    let link = context.link(&format!("analyses/{analysis}"));
    let data = json!({ "type": "analysis", "id": analysis, "links": { "self": link } });
    Answer::json(json!({ "data": data }).to_string())
}
