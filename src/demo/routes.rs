//! Which operation a request asks for: the map of the service's addresses.

use jiff::civil::Date;

use super::answers::Refusal;
use super::asked::{Asked, Upload};

/// One address of the service, as faults and the received calls name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Endpoint {
    Behaviour,
    /// `GET /private/file_behaviours/{id}/html`, `/pcap`, `/evtx`, `/memdump`
    Artefact,
    List,
    Identifiers,
    Summary,
    PrivateFile,
    PrivateDelete,
    /// `POST /private/files`, or to an address that was handed out for a larger file
    Scan,
    UploadUrl,
    PrivateAnalysis,
    PrivateAnalyses,
    User,
    Quotas,
    Usage,
    Analysis,
    File,
    /// `GET /files/analyses/{id}` and its other spelling `GET /files/{sha256}/analyses`
    FileAnalyses,
    Rescan,
    Upload,
    /// v2 `GET` or `POST /file/report`
    V2Report,
    V2Submissions,
    V2Scan,
}

impl Endpoint {
    /// Every endpoint, in the order of its declaration.
    pub const ALL: [Endpoint; 22] = [
        Endpoint::Behaviour,
        Endpoint::Artefact,
        Endpoint::List,
        Endpoint::Identifiers,
        Endpoint::Summary,
        Endpoint::PrivateFile,
        Endpoint::PrivateDelete,
        Endpoint::Scan,
        Endpoint::UploadUrl,
        Endpoint::PrivateAnalysis,
        Endpoint::PrivateAnalyses,
        Endpoint::User,
        Endpoint::Quotas,
        Endpoint::Usage,
        Endpoint::Analysis,
        Endpoint::File,
        Endpoint::FileAnalyses,
        Endpoint::Rescan,
        Endpoint::Upload,
        Endpoint::V2Report,
        Endpoint::V2Submissions,
        Endpoint::V2Scan,
    ];

    /// The name faults are armed by, such as `behaviour` or `v2-report`.
    pub fn name(self) -> &'static str {
        self.names().0
    }

    /// The name under which the usage record counts it.
    pub(super) fn usage_name(self) -> &'static str {
        self.names().1
    }

    /// Whether only holders of a private scanning license may call it (§5).
    pub(super) fn is_private(self) -> bool {
        self.usage_name().starts_with("private_")
    }

    fn names(self) -> (&'static str, &'static str) {
        match self {
            Endpoint::Behaviour => ("behaviour", "private_file_behaviours"),
            Endpoint::Artefact => ("artefact", "private_file_behaviour_artefacts"),
            Endpoint::List => ("list", "private_file_related"),
            Endpoint::Identifiers => ("identifiers", "private_file_relationships"),
            Endpoint::Summary => ("summary", "private_file_behaviour_summary"),
            Endpoint::PrivateFile => ("private-file", "private_files"),
            Endpoint::PrivateDelete => ("private-delete", "private_file_delete"),
            Endpoint::Scan => ("scan", "private_file_upload"),
            Endpoint::UploadUrl => ("upload-url", "private_file_upload_url"),
            Endpoint::PrivateAnalysis => ("private-analysis", "private_analyses"),
            Endpoint::PrivateAnalyses => ("private-analyses", "private_file_analyses"),
            Endpoint::User => ("user", "users"),
            Endpoint::Quotas => ("quotas", "overall_quotas"),
            Endpoint::Usage => ("usage", "api_usage"),
            Endpoint::Analysis => ("analysis", "analyses"),
            Endpoint::File => ("file", "files"),
            Endpoint::FileAnalyses => ("file-analyses", "file_analyses"),
            Endpoint::Rescan => ("rescan", "file_analyse"),
            Endpoint::Upload => ("upload", "file_upload"),
            Endpoint::V2Report => ("v2-report", "v2_file_report"),
            Endpoint::V2Submissions => ("v2-submissions", "v2_file_submissions"),
            Endpoint::V2Scan => ("v2-scan", "v2_file_scan"),
        }
    }
}

/// Which part of a list is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Paging {
    pub limit: usize,
    pub cursor: Option<String>,
}

/// What is asked for: an endpoint with its arguments. Several endpoints can share a shape.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Subject {
    Id(String),
    Page { sha256: String, paging: Paging },
    Artefact { id: String, kind: String, range: Option<String> },
    Days { user: String, first: Option<Date>, last: Option<Date> },
    Hashes(Vec<String>),
    Upload(Upload),
    Scan(Scan),
    Delete { sha256: String, only_from_storage: bool },
    Nothing,
}

/// A private scan that is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Scan {
    pub upload: Upload,
    pub fields: Vec<(String, String)>,
    /// What the address it was sent to says, if it was handed out for it.
    pub ticket: Option<String>,
}

/// A call the service knows how to answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Operation {
    pub endpoint: Endpoint,
    pub subject: Subject,
}

/// How a request presents its key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Version {
    V2,
    V3,
}

/// The API version a path belongs to, and what follows its prefix. Bare paths count as §4.2 writes them.
pub(super) fn version(segments: &[String]) -> (Version, Vec<&str>) {
    let path: Vec<&str> = segments.iter().map(String::as_str).collect();
    match path.as_slice() {
        ["api", "v3", rest @ ..] => (Version::V3, rest.to_vec()),
        ["svcapi" | "vtapi", "v2", rest @ ..] => (Version::V2, rest.to_vec()),
        ["file", ..] => (Version::V2, path),
        _ => (Version::V3, path),
    }
}

/// Finds the endpoint, without looking at its arguments.
pub(super) fn endpoint(asked: &Asked) -> Option<Endpoint> {
    let (version, path) = version(&asked.segments);
    match (version, asked.method.as_str(), path.as_slice()) {
        (Version::V2, "GET" | "POST", ["file", "report"]) => Some(Endpoint::V2Report),
        (Version::V2, "GET", ["file", "submissions"]) => Some(Endpoint::V2Submissions),
        (Version::V2, "POST", ["file", "scan"]) => Some(Endpoint::V2Scan),
        (Version::V3, "GET", path) => reading(path),
        (Version::V3, "POST", ["private", "files"] | ["large", _]) => Some(Endpoint::Scan),
        (Version::V3, "DELETE", ["private", "files", _]) => Some(Endpoint::PrivateDelete),
        (Version::V3, "POST", ["files"]) => Some(Endpoint::Upload),
        (Version::V3, "POST", ["files", _, "analyse"]) => Some(Endpoint::Rescan),
        _ => None,
    }
}

fn reading(path: &[&str]) -> Option<Endpoint> {
    Some(match path {
        ["private", "file_behaviours", _] => Endpoint::Behaviour,
        ["private", "file_behaviours", _, "html" | "pcap" | "evtx" | "memdump"] => Endpoint::Artefact,
        ["private", "files", _, "behaviours"] => Endpoint::List,
        ["private", "files", _, "relationships", "behaviours"] => Endpoint::Identifiers,
        ["private", "files", _, "behaviour_summary"] => Endpoint::Summary,
        ["private", "files", _, "analyses"] => Endpoint::PrivateAnalyses,
        ["private", "files", "upload_url"] => Endpoint::UploadUrl,
        ["private", "files", _] => Endpoint::PrivateFile,
        ["private", "analyses", _] => Endpoint::PrivateAnalysis,
        ["users", _, "overall_quotas"] => Endpoint::Quotas,
        ["users", _, "api_usage"] => Endpoint::Usage,
        ["users", _] => Endpoint::User,
        ["analyses", _] => Endpoint::Analysis,
        ["files", "analyses", _] | ["files", _, "analyses"] => Endpoint::FileAnalyses,
        ["files", _] => Endpoint::File,
        _ => return None,
    })
}

/// Reads the arguments an endpoint takes.
pub(super) fn operation(endpoint: Endpoint, asked: &Asked) -> Result<Operation, Refusal> {
    let (_, path) = version(&asked.segments);
    let subject = match (endpoint, path.as_slice()) {
        (Endpoint::List | Endpoint::Identifiers, [_, _, id, ..]) => {
            Subject::Page { sha256: sha256(id)?, paging: paging(asked)? }
        }
        (Endpoint::Artefact, [_, _, id, kind]) => {
            Subject::Artefact { id: (*id).to_owned(), kind: (*kind).to_owned(), range: asked.range.clone() }
        }
        (Endpoint::Scan, ["large", ticket]) => Subject::Scan(scan(asked, Some((*ticket).to_owned()))?),
        (Endpoint::Scan, _) => Subject::Scan(scan(asked, None)?),
        (Endpoint::UploadUrl, _) => Subject::Nothing,
        (Endpoint::PrivateDelete, [_, _, id]) => {
            let only_from_storage = asked.value("only_from_storage") == Some("true");
            Subject::Delete { sha256: sha256(id)?, only_from_storage }
        }
        (Endpoint::PrivateFile | Endpoint::Summary | Endpoint::PrivateAnalyses, [_, _, id, ..]) => {
            Subject::Id(sha256(id)?)
        }
        (Endpoint::Usage, [_, user, _]) => days(user, asked)?,
        (Endpoint::FileAnalyses, [_, "analyses", id]) => Subject::Id((*id).to_owned()),
        (Endpoint::V2Report | Endpoint::V2Submissions, _) => Subject::Hashes(hashes(asked)?),
        (Endpoint::Upload | Endpoint::V2Scan, _) => Subject::Upload(upload(asked)?),
        (_, ["private", _, id, ..] | [_, id, ..]) => Subject::Id((*id).to_owned()),
        _ => return Err(Refusal::bad_argument("an argument is missing")),
    };
    Ok(Operation { endpoint, subject })
}

/// Private endpoints take SHA-256 only.
fn sha256(id: &str) -> Result<String, Refusal> {
    let valid = id.len() == 64 && id.bytes().all(|byte| byte.is_ascii_hexdigit());
    valid.then(|| id.to_ascii_lowercase()).ok_or_else(|| Refusal::bad_argument(format!("\"{id}\" is not a SHA-256")))
}

fn paging(asked: &Asked) -> Result<Paging, Refusal> {
    let limit = asked.value("limit").unwrap_or("10");
    match limit.parse() {
        Ok(limit @ 1..=40) => Ok(Paging { limit, cursor: asked.value("cursor").map(str::to_owned) }),
        _ => Err(Refusal::bad_argument(format!("invalid limit \"{limit}\""))),
    }
}

fn days(user: &str, asked: &Asked) -> Result<Subject, Refusal> {
    let day = |name| asked.value(name).map(day).transpose();
    Ok(Subject::Days { user: user.to_owned(), first: day("start_date")?, last: day("end_date")? })
}

fn day(written: &str) -> Result<Date, Refusal> {
    Date::strptime("%Y%m%d", written).map_err(|_| Refusal::bad_argument(format!("\"{written}\" is not YYYYMMDD")))
}

/// Hashes come as a list split by commas or spaces, as a repeated parameter, or both.
fn hashes(asked: &Asked) -> Result<Vec<String>, Refusal> {
    let list: Vec<String> = asked
        .values("resource")
        .flat_map(|value| value.split([',', ' ']))
        .filter(|hash| !hash.is_empty())
        .map(str::to_ascii_lowercase)
        .collect();
    if list.is_empty() { Err(Refusal::bad_argument("resource is missing")) } else { Ok(list) }
}

fn upload(asked: &Asked) -> Result<Upload, Refusal> {
    asked.upload.clone().ok_or_else(|| Refusal::new(400, "BadRequestError", "no file in the request"))
}

fn scan(asked: &Asked, ticket: Option<String>) -> Result<Scan, Refusal> {
    Ok(Scan { upload: upload(asked)?, fields: asked.parameters.clone(), ticket })
}
