//! Private scans: uploads, the address for large ones, analyses, deletion.

use serde_json::json;

use super::Context;
use super::private::{analysis_attributes, analysis_id, check_exists, known_file};
use crate::demo::answers::{Answer, Outcome};

/// Where a large file goes.
pub(super) fn upload_url(context: &mut Context) -> Answer {
    let ticket = context.state.scans.ticket(&context.service.key);
    Answer::json(json!({ "data": format!("{}/large/{ticket}", context.service.root) }).to_string())
}

/// Takes a file in; the ticket is empty unless an address was handed out for it.
pub(super) fn scan(ticket: &str, context: &mut Context) -> Outcome {
    let upload = context.call.upload()?;
    if !ticket.is_empty() && !context.state.scans.redeem(ticket) {
        return Err(Answer::error(403, "ForbiddenError", "This address was not handed out, or was used"));
    }
    let now = context.state.clock.seconds();
    let reports = context.service.archive.made_for(&upload.sha256, now);
    let id = context.state.scans.begin(upload, &context.call.parameters, reports, now);
    let link = context.link(&format!("private/analyses/{id}"));
    let data = json!({ "id": id, "type": "private_analysis", "links": { "self": link } });
    Ok(Answer::json(json!({ "data": data }).to_string()))
}

/// The last analysis of a file; a list, as relationships are.
pub(super) fn analyses(sha256: &str, context: &mut Context) -> Outcome {
    let polls = context.service.options.polls;
    let body = if let Some(id) = context.state.scans.last_of(sha256) {
        let polled = context.state.scans.poll(&id, polls).unwrap_or_default();
        json!({ "data": [polled.get("data")], "meta": polled.get("meta") })
    } else {
        let file = known_file(sha256, context)?;
        let (id, attributes) = (analysis_id(file), analysis_attributes(file));
        json!({ "data": [{ "id": id, "type": "private_analysis", "attributes": attributes }] })
    };
    Ok(Answer::json(body.to_string()))
}

/// An analysis of a submitted file, or of an embedded one.
pub(super) fn analysis(id: &str, context: &mut Context) -> Outcome {
    if let Some(polled) = context.state.scans.poll(id, context.service.options.polls) {
        return Ok(Answer::json(polled.to_string()));
    }
    let file = context.service.archive.files.iter().find(|file| analysis_id(file) == id);
    let file = file.ok_or_else(|| Answer::not_found("Analysis", id))?;
    let link = context.link(&format!("private/analyses/{id}"));
    Ok(Answer::object("private_analysis", id, &link, &analysis_attributes(file)))
}

pub(super) fn delete(sha256: &str, context: &mut Context) -> Outcome {
    check_exists(sha256, false, context)?;
    known_file(sha256, context)?;
    let only_from_storage = context.call.value("only_from_storage") == Some("true");
    context.state.scans.delete(sha256, only_from_storage);
    Ok(Answer::json(""))
}
