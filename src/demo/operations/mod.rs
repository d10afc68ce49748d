//! What each operation answers, once a call has passed the door.

mod files;
mod private;
mod scans;
mod users;
mod v2;

use super::Endpoint;
use super::answers::{Answer, Outcome};
use super::call::Call;
use super::service::{ServerState, Service};

pub(super) use v2::hashes;

/// What an operation may read and change.
pub(super) struct Context<'a> {
    pub service: &'a Service,
    pub state: &'a mut ServerState,
    pub call: &'a Call,
}

impl Context<'_> {
    /// An address of the v3 API, as links give it.
    fn link(&self, path: &str) -> String {
        format!("{}/api/v3/{path}", self.service.root)
    }
}

/// Private endpoints that name a file take its SHA-256 only.
fn sha256(id: &str) -> Result<String, Answer> {
    let is_valid = id.len() == 64 && id.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_valid.then(|| id.to_ascii_lowercase()).ok_or_else(|| Answer::bad_argument(format!("\"{id}\" is not a SHA-256")))
}

pub(super) fn answer(endpoint: Endpoint, id: &str, context: &mut Context) -> Outcome {
    match endpoint {
        Endpoint::Behaviour => private::behaviour(id, context),
        Endpoint::Artefact => private::artefact(id, context),
        Endpoint::List => private::list(&sha256(id)?, context),
        Endpoint::Identifiers => private::identifiers(&sha256(id)?, context),
        Endpoint::Summary => private::summary(&sha256(id)?, context),
        Endpoint::PrivateFile => private::file(&sha256(id)?, context),
        Endpoint::PrivateDelete => scans::delete(&sha256(id)?, context),
        Endpoint::PrivateAnalysis => scans::analysis(id, context),
        Endpoint::PrivateAnalyses => scans::analyses(&sha256(id)?, context),
        Endpoint::UploadUrl => Ok(scans::upload_url(context)),
        Endpoint::Scan => scans::scan(id, context),
        Endpoint::User => users::user(id, context),
        Endpoint::Quotas => users::quotas(id, context),
        Endpoint::Usage => users::usage(id, context),
        Endpoint::Analysis => files::analysis(id, context),
        Endpoint::File => files::file(id, context),
        Endpoint::FileAnalyses => files::analyses(id, context),
        Endpoint::Rescan => files::rescan(id, context),
        Endpoint::Upload => files::upload(context),
        Endpoint::V2Report => v2::report(context),
        Endpoint::V2Submissions => v2::submissions(context),
        Endpoint::V2Scan => v2::scan(context),
    }
}
