//! What each operation answers, once a call has passed the door.

mod files;
mod private;
mod scans;
mod stranger;
mod users;
mod v2;

use super::answers::{Answer, Refusal};
use super::routes::{Operation, Subject};
use super::service::{Books, Service};
use super::{Endpoint, FaultKind};

/// What an operation may look at and change.
pub(super) struct Context<'a> {
    pub service: &'a Service,
    pub books: &'a mut Books,
    /// The fault that strikes this call, for those that bend an answer instead of replacing it.
    pub fault: Option<&'a FaultKind>,
}

impl Context<'_> {
    /// An address of the v3 API, as links give it.
    fn link(&self, path: &str) -> String {
        format!("{}/api/v3/{path}", self.service.root)
    }
}

pub(super) fn answer(operation: Operation, context: &mut Context) -> Result<Answer, Refusal> {
    let is_mixed_up = context.fault == Some(&FaultKind::Stranger);
    let operation = if is_mixed_up { stranger::instead_of(operation, context) } else { operation };
    match (operation.endpoint, operation.subject) {
        (Endpoint::Behaviour, Subject::Id(id)) => private::behaviour(&id, context),
        (Endpoint::Artefact, Subject::Artefact { id, kind, range }) => {
            private::artefact(&id, &kind, range.as_deref(), context)
        }
        (Endpoint::List, Subject::Page { sha256, paging }) => private::list(&sha256, &paging, context),
        (Endpoint::Identifiers, Subject::Page { sha256, paging }) => private::identifiers(&sha256, &paging, context),
        (Endpoint::Summary, Subject::Id(id)) => private::summary(&id, context),
        (Endpoint::PrivateFile, Subject::Id(id)) => private::file(&id, context),
        (Endpoint::PrivateAnalysis, Subject::Id(id)) => {
            scans::analysis(&id, context).map_or_else(|| private::analysis(&id, context), Ok)
        }
        (Endpoint::PrivateAnalyses, Subject::Id(id)) => scans::analyses(&id, context),
        (Endpoint::UploadUrl, Subject::Nothing) => Ok(scans::upload_url(context)),
        (Endpoint::Scan, Subject::Scan(scan)) => scans::scan(scan, context),
        (Endpoint::PrivateDelete, Subject::Delete { sha256, only_from_storage }) => {
            scans::delete(&sha256, only_from_storage, context)
        }
        (Endpoint::User, Subject::Id(id)) => users::user(&id, context),
        (Endpoint::Quotas, Subject::Id(id)) => users::quotas(&id, context),
        (Endpoint::Usage, Subject::Days { user, first, last }) => users::usage(&user, first, last, context),
        (Endpoint::Analysis, Subject::Id(id)) => files::analysis(&id, context),
        (Endpoint::File, Subject::Id(id)) => files::file(&id, context),
        (Endpoint::FileAnalyses, Subject::Id(id)) => files::analyses(&id, context),
        (Endpoint::Rescan, Subject::Id(id)) => files::rescan(&id, context),
        (Endpoint::Upload, Subject::Upload(upload)) => Ok(files::upload(&upload, context)),
        (Endpoint::V2Report, Subject::Hashes(hashes)) => Ok(v2::report(&hashes, context)),
        (Endpoint::V2Submissions, Subject::Hashes(hashes)) => Ok(v2::submissions(&hashes, context)),
        (Endpoint::V2Scan, Subject::Upload(upload)) => Ok(v2::scan(&upload, context)),
        _ => Err(Refusal::bad_argument("an argument is missing")),
    }
}
