//! What each operation answers, once a call has passed the door.

mod private;
mod public;
mod users;

use super::Endpoint;
use super::answers::{Answer, AnswerResult};
use super::call::DemoCall;
use super::service::{DemoService, ServerState};

pub(super) use public::hashes;

/// What an operation may read and change.
pub(super) struct Context<'a> {
    pub service: &'a DemoService,
    pub state: &'a mut ServerState,
    pub call: &'a DemoCall,
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

pub(super) fn answer(endpoint: Endpoint, id: &str, context: &mut Context) -> AnswerResult {
    match endpoint {
        Endpoint::Behaviour => private::behaviour(id, context),
        Endpoint::Artefact => private::artefact(id, context),
        Endpoint::List => private::list(&sha256(id)?, context),
        Endpoint::Identifiers => private::identifiers(&sha256(id)?, context),
        Endpoint::Summary => private::summary(&sha256(id)?, context),
        Endpoint::PrivateFile => private::file(&sha256(id)?, context),
        Endpoint::PrivateDelete => private::delete(&sha256(id)?, context),
        Endpoint::PrivateAnalysis => private::analysis(id, context),
        Endpoint::PrivateAnalyses => private::analyses(&sha256(id)?, context),
        Endpoint::UploadUrl => Ok(private::upload_url(context)),
        Endpoint::Scan => private::scan(id, context),
        Endpoint::User => users::user(id, context),
        Endpoint::Quotas => users::quotas(id, context),
        Endpoint::Usage => users::usage(id, context),
        Endpoint::Analysis => public::analysis(id, context),
        Endpoint::File => public::file(id, context),
        Endpoint::FileAnalyses => public::analyses(id, context),
        Endpoint::Rescan => public::rescan(id, context),
        Endpoint::Upload => public::upload(context),
        Endpoint::V2Report => public::v2_report(context),
        Endpoint::V2Submissions => public::v2_submissions(context),
        Endpoint::V2Scan => public::v2_scan(context),
    }
}
