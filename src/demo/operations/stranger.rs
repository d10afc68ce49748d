//! The fault that answers soundly, but for another file or report than the one asked for.

use super::Context;
use crate::demo::Endpoint;
use crate::demo::routes::{Operation, Subject};

/// The operation a mixed-up service would perform instead; where nothing can be mixed up, the same.
pub(super) fn instead_of(operation: Operation, context: &Context) -> Operation {
    let subject = other_subject(&operation, context).unwrap_or(operation.subject);
    Operation { endpoint: operation.endpoint, subject }
}

fn other_subject(operation: &Operation, context: &Context) -> Option<Subject> {
    let private = |id: &str| context.service.archive.stranger_to(id);
    let report = |id: &str| private(id)?.reports.first().map(|report| report.id.clone());
    let public = |id: &str| context.books.corpus.stranger_to(id);
    Some(match (operation.endpoint, &operation.subject) {
        (Endpoint::Behaviour, Subject::Id(id)) => Subject::Id(report(id)?),
        (Endpoint::Artefact, Subject::Artefact { id, kind, range }) => {
            Subject::Artefact { id: report(id)?, kind: kind.clone(), range: range.clone() }
        }
        (Endpoint::PrivateFile | Endpoint::Summary, Subject::Id(id)) => Subject::Id(private(id)?.sha256.clone()),
        (Endpoint::List | Endpoint::Identifiers, Subject::Page { sha256, paging }) => {
            Subject::Page { sha256: private(sha256)?.sha256.clone(), paging: paging.clone() }
        }
        (Endpoint::File | Endpoint::FileAnalyses, Subject::Id(id)) => Subject::Id(public(id)?.sha256.clone()),
        (Endpoint::Analysis, Subject::Id(id)) => Subject::Id(public(id)?.analysis()),
        _ => return None,
    })
}
