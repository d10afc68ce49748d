//! Private scans: uploads, the address for large ones, analyses, deletion.

use serde_json::json;

use super::Context;
use super::private::{analysis_id, check_there, known_file};
use crate::demo::FaultKind;
use crate::demo::answers::{self, Answer, Refusal};
use crate::demo::routes::Scan;

/// A host that no client should send a file to.
const ANOTHER_HOST: &str = "http://files.example.net";

/// Where a large file goes; a mixed-up service names another host.
pub(super) fn upload_url(context: &mut Context) -> Answer {
    let ticket = context.books.scans.ticket(context.service.key());
    let host = if context.fault == Some(&FaultKind::Stranger) { ANOTHER_HOST } else { &context.service.root };
    answers::json(&json!({ "data": format!("{host}/large/{ticket}") }))
}

pub(super) fn scan(scan: Scan, context: &mut Context) -> Result<Answer, Refusal> {
    if let Some(ticket) = &scan.ticket
        && !context.books.scans.redeem(ticket)
    {
        return Err(Refusal::new(403, "ForbiddenError", "This address was not handed out, or was used"));
    }
    let now = context.books.clock.seconds();
    let reports = context.service.archive.made_for(&scan.upload.sha256, now);
    let id = context.books.scans.begin(scan, reports, now);
    let link = context.link(&format!("private/analyses/{id}"));
    Ok(answers::json(&json!({ "data": { "id": id, "type": "private_analysis", "links": { "self": link } } })))
}

/// The last analysis of a file; a list, as relationships are.
pub(super) fn analyses(sha256: &str, context: &mut Context) -> Result<Answer, Refusal> {
    let first = context.service.options.looks;
    if let Some(id) = context.books.scans.last_of(sha256) {
        let looked = context.books.scans.look(&id, first).unwrap_or_default();
        return Ok(answers::json(&json!({ "data": [looked.get("data")], "meta": looked.get("meta") })));
    }
    let file = known_file(sha256, context)?;
    let (id, attributes) = (analysis_id(file), super::private::analysis_attributes(file));
    Ok(answers::json(&json!({ "data": [{ "id": id, "type": "private_analysis", "attributes": attributes }] })))
}

/// An analysis of a submitted file, if it is one.
pub(super) fn analysis(id: &str, context: &mut Context) -> Option<Answer> {
    let first = context.service.options.looks;
    context.books.scans.look(id, first).map(|looked| answers::json(&looked))
}

pub(super) fn delete(sha256: &str, only_from_storage: bool, context: &mut Context) -> Result<Answer, Refusal> {
    check_there(sha256, false, context)?;
    known_file(sha256, context)?;
    context.books.scans.delete(sha256, only_from_storage);
    Ok(answers::json_text(""))
}
