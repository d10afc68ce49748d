//! Which operation a request asks for: the map of the service's addresses, and what answers each.

use super::http::{AnswerResult, DemoCall};
use super::service::{DemoService, ServerState};
use super::{private, public};

/// One address of the service, as the received calls name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Endpoint {
    Behaviour,
    Artefact,
    List,
    Identifiers,
    Summary,
    PrivateFile,
    PrivateDelete,
    Scan,
    UploadUrl,
    PrivateAnalysis,
    PrivateAnalyses,
    User,
    Quotas,
    Usage,
    Analysis,
    File,
    FileAnalyses,
    Rescan,
    Upload,
    V2Report,
    V2Submissions,
    V2Scan,
}

/// What an operation may read and change.
pub(super) struct Context<'a> {
    pub service: &'a DemoService,
    pub state: &'a mut ServerState,
    pub call: &'a DemoCall,
}

impl Context<'_> {
    /// An address of the v3 API, as links give it.
    pub fn link(&self, path: &str) -> String {
        format!("{}/api/v3/{path}", self.service.root)
    }
}

/// How a request presents its key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ApiVersion {
    V2,
    V3,
}

/// Answers a call that has passed the door, by the identifier in its address.
type Handler = fn(&str, &mut Context) -> AnswerResult;

/// An address: `{}` matches any segment, `a|b` one of several; with its name in the usage record.
pub(super) struct Route {
    pub endpoint: Endpoint,
    version: ApiVersion,
    method: &'static str,
    path: &'static str,
    pub usage: &'static str,
    pub handler: Handler,
}

macro_rules! routes {
    ($(($version:ident, $method:literal, $path:literal) => $endpoint:ident, $handler:path, $usage:literal;)+) => {
        /// The first that fits is taken.
        const ROUTES: &[Route] = &[$(Route {
            endpoint: Endpoint::$endpoint,
            version: ApiVersion::$version,
            method: $method,
            path: $path,
            usage: $usage,
            handler: $handler,
        }),+];
    };
}

routes! {
    (V3, "GET", "private/file_behaviours/{}") => Behaviour, private::behaviour, "private_file_behaviours";
    (V3, "GET", "private/file_behaviours/{}/html|pcap|evtx|memdump") => Artefact, private::artefact, "private_file_behaviour_artefacts";
    (V3, "GET", "private/files/{}/behaviours") => List, private::list, "private_file_related";
    (V3, "GET", "private/files/{}/relationships/behaviours") => Identifiers, private::identifiers, "private_file_relationships";
    (V3, "GET", "private/files/{}/behaviour_summary") => Summary, private::summary, "private_file_behaviour_summary";
    (V3, "GET", "private/files/{}/analyses") => PrivateAnalyses, private::analyses, "private_file_analyses";
    (V3, "GET", "private/files/upload_url") => UploadUrl, private::upload_url, "private_file_upload_url";
    (V3, "GET", "private/files/{}") => PrivateFile, private::file, "private_files";
    (V3, "DELETE", "private/files/{}") => PrivateDelete, private::delete, "private_file_delete";
    (V3, "GET", "private/analyses/{}") => PrivateAnalysis, private::analysis, "private_analyses";
    (V3, "POST", "private/files") => Scan, private::scan, "private_file_upload";
    (V3, "POST", "large/{}") => Scan, private::scan, "private_file_upload";
    (V3, "GET", "users/{}/overall_quotas") => Quotas, public::quotas, "overall_quotas";
    (V3, "GET", "users/{}/api_usage") => Usage, public::usage, "api_usage";
    (V3, "GET", "users/{}") => User, public::user, "users";
    (V3, "GET", "analyses/{}") => Analysis, public::analysis, "analyses";
    (V3, "GET", "files/analyses/{}") => FileAnalyses, public::analyses, "file_analyses";
    (V3, "GET", "files/{}/analyses") => FileAnalyses, public::analyses, "file_analyses";
    (V3, "GET", "files/{}") => File, public::file, "files";
    (V3, "POST", "files/{}/analyse") => Rescan, public::rescan, "file_analyse";
    (V3, "POST", "files") => Upload, public::upload, "file_upload";
    (V2, "GET|POST", "file/report") => V2Report, public::v2_report, "v2_file_report";
    (V2, "GET", "file/submissions") => V2Submissions, public::v2_submissions, "v2_file_submissions";
    (V2, "POST", "file/scan") => V2Scan, public::v2_scan, "v2_file_scan";
}

impl Route {
    /// The address that a request names, and the identifier in it, empty where it takes none.
    pub fn find(method: &str, segments: &[String]) -> Option<(&'static Route, String)> {
        let (version, path) = version(segments);
        ROUTES.iter().find_map(|route| {
            let fits = route.version == version && is_one_of(route.method, method);
            Some((route, captured(route.path, &path).filter(|_| fits)?))
        })
    }

    /// Whether only holders of a private scanning license may call it (§5).
    pub fn is_private(&self) -> bool {
        self.usage.starts_with("private_")
    }
}

/// The API version a path belongs to, and what follows its prefix. Bare paths count as §4.2 writes them.
pub(super) fn version(segments: &[String]) -> (ApiVersion, Vec<&str>) {
    let path: Vec<&str> = segments.iter().map(String::as_str).collect();
    match path.as_slice() {
        ["api", "v3", rest @ ..] => (ApiVersion::V3, rest.to_vec()),
        ["svcapi" | "vtapi", "v2", rest @ ..] => (ApiVersion::V2, rest.to_vec()),
        ["file", ..] => (ApiVersion::V2, path),
        _ => (ApiVersion::V3, path),
    }
}

fn is_one_of(pattern: &str, part: &str) -> bool {
    pattern == "{}" || pattern.split('|').any(|each| each == part)
}

/// The segment that `{}` matches, if a path fits a pattern.
fn captured(pattern: &str, path: &[&str]) -> Option<String> {
    let patterns: Vec<&str> = pattern.split('/').collect();
    let fits = patterns.len() == path.len() && patterns.iter().zip(path).all(|(each, part)| is_one_of(each, part));
    let capture = patterns.iter().zip(path).find(|(each, _)| **each == "{}");
    fits.then(|| capture.map(|(_, part)| (*part).to_owned()).unwrap_or_default())
}
