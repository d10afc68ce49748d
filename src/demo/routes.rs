//! Maps the addresses of the service to operations and their handlers.

use super::http::{DemoCall, DemoResult};
use super::service::{DemoService, ServerState};
use super::{private, public};

/// The data that an operation may read and change.
pub(super) struct Context<'a> {
    pub(crate) service: &'a DemoService,
    pub(crate) state: &'a mut ServerState,
    pub(crate) call: &'a DemoCall,
}

impl Context<'_> {
    /// Returns an address of the v3 API, as links give it.
    pub(crate) fn link(&self, path: &str) -> String {
        format!("{}/api/v3/{path}", self.service.root)
    }
}

/// Handles an admitted call, with the identifier in its address.
type Handler = fn(&str, &mut Context) -> DemoResult;

/// An address: `{}` matches any segment, `a|b` one of several; with its name in the usage record.
pub(super) struct Route {
    pub(crate) endpoint: Endpoint,
    method: &'static str,
    path: &'static str,
    pub(crate) usage: &'static str,
    pub(crate) handler: Handler,
}

macro_rules! routes {
    ($($endpoint:ident, $handler:path, $usage:literal: $($method:literal $path:literal)+;)+) => {
        /// An operation of the service.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Endpoint { $($endpoint),+ }

        /// The first match counts.
        const ROUTES: &[Route] = &[$($(Route {
            endpoint: Endpoint::$endpoint, method: $method, path: $path, usage: $usage, handler: $handler,
        }),+),+];
    };
}

routes! {
    Behaviour, private::behaviour, "private_file_behaviours": "GET" "v3/private/file_behaviours/{}";
    Artifact, private::artifact, "private_file_behaviour_artifacts": "GET" "v3/private/file_behaviours/{}/html|pcap|evtx|memdump";
    List, private::list, "private_file_related": "GET" "v3/private/files/{}/behaviours";
    Identifiers, private::identifiers, "private_file_relationships": "GET" "v3/private/files/{}/relationships/behaviours";
    Summary, private::summary, "private_file_behaviour_summary": "GET" "v3/private/files/{}/behaviour_summary";
    PrivateAnalyses, private::analyses, "private_file_analyses": "GET" "v3/private/files/{}/analyses";
    UploadUrl, private::upload_url, "private_file_upload_url": "GET" "v3/private/files/upload_url";
    PrivateFile, private::file, "private_files": "GET" "v3/private/files/{}";
    PrivateDelete, private::delete, "private_file_delete": "DELETE" "v3/private/files/{}";
    PrivateAnalysis, private::analysis, "private_analyses": "GET" "v3/private/analyses/{}";
    GroupFiles, private::files, "private_files_list": "GET" "v3/private/files";
    GroupAnalyses, private::group_analyses, "private_analyses_list": "GET" "v3/private/analyses";
    Scan, private::scan, "private_file_upload": "POST" "v3/private/files" "POST" "v3/large/{}";
    Quotas, public::quotas, "overall_quotas": "GET" "v3/users/{}/overall_quotas";
    Usage, public::usage, "api_usage": "GET" "v3/users/{}/api_usage";
    GroupUsage, public::usage, "group_api_usage": "GET" "v3/groups/{}/api_usage";
    GroupUsers, public::group_users, "group_users": "GET" "v3/groups/{}/users_consuming_quota/api_requests_monthly";
    User, public::user, "users": "GET" "v3/users/{}";
    Analysis, public::analysis, "analyses": "GET" "v3/analyses/{}";
    FileAnalyses, public::analyses, "file_analyses": "GET" "v3/files/analyses/{}" "GET" "v3/files/{}/analyses";
    File, public::file, "files": "GET" "v3/files/{}";
    Rescan, public::rescan, "file_analyse": "POST" "v3/files/{}/analyse";
    Upload, public::upload, "file_upload": "POST" "v3/files";
    V2Report, public::v2_report, "v2_file_report": "GET|POST" "v2/file/report";
    V2Submissions, public::v2_submissions, "v2_file_submissions": "GET" "v2/file/submissions";
    V2Scan, public::v2_scan, "v2_file_scan": "POST" "v2/file/scan";
}

impl Route {
    /// Returns a request's route, and the identifier in its address; empty if it has none.
    pub(crate) fn find(method: &str, segments: &[String]) -> Option<(&'static Route, String)> {
        let path = versioned(segments);
        let is_one_of = |pattern: &str, part: &str| pattern == "{}" || pattern.split('|').any(|each| each == part);
        ROUTES.iter().find_map(|route| {
            let parts: Vec<_> = route.path.split('/').zip(&path).collect();
            let is_as_long = route.path.split('/').count() == path.len();
            let fits =
                is_as_long && is_one_of(route.method, method) && parts.iter().all(|(each, part)| is_one_of(each, part));
            let id = parts.iter().find(|(each, _)| *each == "{}").map(|(_, part)| (**part).to_owned());
            fits.then(|| (route, id.unwrap_or_default()))
        })
    }

    /// Returns whether the call needs a private scanning license (§5).
    pub(crate) fn is_private(&self) -> bool {
        self.usage.starts_with("private_")
    }
}

/// Returns the path after the version of its API. A path without a prefix is as in §4.2.
pub(super) fn versioned(segments: &[String]) -> Vec<&str> {
    let path: Vec<&str> = segments.iter().map(String::as_str).collect();
    match path.as_slice() {
        ["api", "v3", rest @ ..] => [&["v3"], rest].concat(),
        ["svcapi" | "vtapi", "v2", rest @ ..] => [&["v2"], rest].concat(),
        ["file", ..] => [&["v2"], path.as_slice()].concat(),
        _ => [&["v3"], path.as_slice()].concat(),
    }
}
