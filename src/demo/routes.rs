//! Which operation a request asks for: the map of the service's addresses.

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

/// How a request presents its key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ApiVersion {
    V2,
    V3,
}

/// An address: `{}` matches any segment, `a|b` one of several; with its name in the usage record.
pub(super) struct Route {
    pub endpoint: Endpoint,
    version: ApiVersion,
    method: &'static str,
    path: &'static str,
    pub usage: &'static str,
}

const fn v3(endpoint: Endpoint, method: &'static str, path: &'static str, usage: &'static str) -> Route {
    Route { endpoint, version: ApiVersion::V3, method, path, usage }
}

const fn v2(endpoint: Endpoint, method: &'static str, path: &'static str, usage: &'static str) -> Route {
    Route { endpoint, version: ApiVersion::V2, method, path, usage }
}

/// The first that fits is taken.
const ROUTES: [Route; 24] = [
    v3(Endpoint::Behaviour, "GET", "private/file_behaviours/{}", "private_file_behaviours"),
    v3(
        Endpoint::Artefact,
        "GET",
        "private/file_behaviours/{}/html|pcap|evtx|memdump",
        "private_file_behaviour_artefacts",
    ),
    v3(Endpoint::List, "GET", "private/files/{}/behaviours", "private_file_related"),
    v3(Endpoint::Identifiers, "GET", "private/files/{}/relationships/behaviours", "private_file_relationships"),
    v3(Endpoint::Summary, "GET", "private/files/{}/behaviour_summary", "private_file_behaviour_summary"),
    v3(Endpoint::PrivateAnalyses, "GET", "private/files/{}/analyses", "private_file_analyses"),
    v3(Endpoint::UploadUrl, "GET", "private/files/upload_url", "private_file_upload_url"),
    v3(Endpoint::PrivateFile, "GET", "private/files/{}", "private_files"),
    v3(Endpoint::PrivateDelete, "DELETE", "private/files/{}", "private_file_delete"),
    v3(Endpoint::PrivateAnalysis, "GET", "private/analyses/{}", "private_analyses"),
    v3(Endpoint::Scan, "POST", "private/files", "private_file_upload"),
    v3(Endpoint::Scan, "POST", "large/{}", "private_file_upload"),
    v3(Endpoint::Quotas, "GET", "users/{}/overall_quotas", "overall_quotas"),
    v3(Endpoint::Usage, "GET", "users/{}/api_usage", "api_usage"),
    v3(Endpoint::User, "GET", "users/{}", "users"),
    v3(Endpoint::Analysis, "GET", "analyses/{}", "analyses"),
    v3(Endpoint::FileAnalyses, "GET", "files/analyses/{}", "file_analyses"),
    v3(Endpoint::FileAnalyses, "GET", "files/{}/analyses", "file_analyses"),
    v3(Endpoint::File, "GET", "files/{}", "files"),
    v3(Endpoint::Rescan, "POST", "files/{}/analyse", "file_analyse"),
    v3(Endpoint::Upload, "POST", "files", "file_upload"),
    v2(Endpoint::V2Report, "GET|POST", "file/report", "v2_file_report"),
    v2(Endpoint::V2Submissions, "GET", "file/submissions", "v2_file_submissions"),
    v2(Endpoint::V2Scan, "POST", "file/scan", "v2_file_scan"),
];

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
