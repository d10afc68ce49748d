//! Defines a request as one value: its address, its operation (and so its price), the key of its
//! stored response, and its identity in flight. So the price shown is that of the call sent.

mod address;
mod key;

pub use address::{
    Address, Method, Password, RequestContext, ScanOption, ScanOptions, Submission, Upload, UploadAddress, UploadLimit,
    Version,
};
pub use key::Artifact;

use crate::quota::{Entitlements, Kind, Operation, Price, Units, price};
use crate::report::identifier::{FileHash, Identifier, Sha256};
use crate::report::{Retention, StoredContent, StoredItem};
use crate::text::{Untrusted, count, names};
pub(crate) use address::encode;
use jiff::Timestamp;
use jiff::civil::Date;
use std::path::{Path, PathBuf};
use std::sync::Arc;

#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Request {
    /// One behaviour report (specification §4.1).
    Behaviour { identifier: Identifier },
    /// One page of a file's sandbox reports (specification §4.2); `cursor` is from the page before.
    Behaviours { file: Sha256, listing: Listing, cursor: Option<Untrusted> },
    /// A file that a sandbox stored beside its report; may be large.
    Artifact { identifier: Identifier, artifact: Artifact },
    /// Quota details of the user and the group; takes no quota (specification §8.3).
    Quotas,
    /// Reports of public files by API v2 (specification §4.2).
    V2Reports { files: Vec<FileHash> },
    /// Uploads of public files by API v2 (specification §4.2).
    V2Submissions { files: Vec<FileHash> },
    /// Upload to the public corpus by API v2 (§4.2); once read, only bytes of this hash and size.
    V2Scan { path: PathBuf, file: Option<(Sha256, u64)> },
    /// A public analysis (specification §4.2).
    Analysis { identifier: Identifier },
    /// A public file (specification §4.2).
    File { file: FileHash },
    /// The analyses of a public file (specification §4.2).
    FileAnalyses { file: FileHash },
    /// Another scan of a public file (specification §4.2).
    Rescan { file: FileHash },
    /// A private scan; `to` is `None` if the file is part of the call itself.
    PrivateScan { submission: Arc<Submission>, to: Option<UploadAddress> },
    /// Requests an upload address for a file that is too large for one call.
    UploadAddress,
    /// The progress of a private scan.
    PrivateAnalysis { identifier: Identifier },
    /// The scans of a private file, the latest first.
    PrivateAnalyses { file: Sha256 },
    /// Deletes a private file at the service; its reports and scans stay if `only_from_storage`.
    PrivateDelete { file: Sha256, only_from_storage: bool },
    /// The use of a group's quota, for its administrators.
    GroupQuota { group: Identifier, part: GroupQuotaPart },
    /// One page of a list of the group; `cursor` is from the page before.
    GroupList { list: GroupList, cursor: Option<Untrusted> },
    /// The user's privileges. The response contains the key itself: it is never stored or shown.
    User,
    /// Calls per day and endpoint, for at most 30 days; takes no quota (specification §8.3).
    Usage { first: Date, last: Date },
}

/// Prefix of the claim of an upload by the public API; the file's SHA-256 follows.
pub const PUBLIC_UPLOAD: &str = "public-upload ";

names! {
    /// The content of a list page, whole reports or only identifiers, by its place in addresses.
    #[derive(Default, serde::Deserialize)]
    Listing place {
        #[default]
        Reports "reports" "behaviours",
        Identifiers "identifiers" "relationships/behaviours",
    }
}

names! {
    /// A list of what the group has at the service, by its name in addresses.
    GroupList label {
        Files "files" "private files",
        Analyses "analyses" "private analyses",
    }
}

names! {
    /// A count of the use of a group's quota, by its place in addresses.
    GroupQuotaPart { Usage "api_usage", Users "users_consuming_quota/api_requests_monthly", }
}

/// A request with its price, as shown before the key was pressed.
///
/// Only [`Request::quote`] creates one, so a request is never sent at the price of another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Quote {
    request: Request,
    price: Price,
    /// Whether it needs a licence that the user may not have.
    needs_licence: bool,
}

impl Quote {
    pub fn request(&self) -> &Request {
        &self.request
    }

    pub fn price(&self) -> &Price {
        &self.price
    }

    /// Returns whether it needs the private scanning licence, and the user is not known to have it.
    pub fn needs_licence(&self) -> bool {
        self.needs_licence
    }

    /// Returns the file to upload that has not been read yet, if there is one.
    pub fn unseen(&self) -> Option<&Path> {
        match &self.request {
            Request::V2Scan { path, file: None } => Some(path),
            _ => None,
        }
    }

    /// Returns the same quote for a file that was read.
    pub fn of_seen(mut self, found: (Sha256, u64)) -> Self {
        if let Request::V2Scan { file, .. } = &mut self.request {
            *file = Some(found);
        }
        self
    }

    /// Returns the same quote at the price that was shown, which limits the number of hashes.
    pub fn at(self, price: Price) -> Self {
        Self { price, ..self }
    }

    /// Returns the quote for the hashes that are not stored, at most at the price that was shown.
    pub fn of_missing(mut self, missing: Vec<FileHash>) -> Self {
        match &mut self.request {
            Request::V2Reports { files } => {
                self.price.verdict.units = Units::exactly(missing.len() as u64);
                *files = missing;
            }
            Request::V2Submissions { files } => *files = missing,
            _ => {}
        }
        self
    }
}

impl Request {
    /// Returns the request split by hash, if each hash is charged and stored separately.
    pub fn by_hash(&self) -> Option<Vec<(FileHash, Self)>> {
        let of_one = match self {
            Self::V2Reports { .. } => |file| Self::V2Reports { files: vec![file] },
            Self::V2Submissions { .. } => |file| Self::V2Submissions { files: vec![file] },
            _ => return None,
        };
        let (Self::V2Reports { files } | Self::V2Submissions { files }) = self else { return None };
        let each = files.iter().map(|file| (file.clone(), of_one(file.clone())));
        (files.len() > 1).then(|| each.collect())
    }

    /// Returns the request for the page of this cursor in the same list.
    pub fn at_page(&self, cursor: Option<Untrusted>) -> Self {
        match self.clone() {
            Self::Behaviours { file, listing, .. } => Self::Behaviours { file, listing, cursor },
            Self::GroupList { list, .. } => Self::GroupList { list, cursor },
            other => other,
        }
    }

    pub fn operation(&self) -> Operation {
        let kind = match self {
            Self::Behaviour { .. } => Kind::PrivateBehaviour,
            Self::Behaviours { .. } => Kind::PrivateBehaviours,
            Self::Artifact { .. } => Kind::PrivateArtifact,
            Self::Quotas => Kind::V3Quotas,
            Self::User => Kind::V3User,
            Self::Usage { .. } => Kind::V3Usage,
            Self::V2Reports { .. } => Kind::V2FileReport,
            Self::V2Submissions { .. } => Kind::V2FileSubmissions,
            Self::V2Scan { .. } => Kind::V2FileScan,
            Self::Analysis { .. } => Kind::V3Analysis,
            Self::File { .. } => Kind::V3File,
            Self::FileAnalyses { .. } => Kind::V3FileAnalyses,
            Self::Rescan { .. } => Kind::V3Rescan,
            Self::PrivateScan { .. } => Kind::PrivateScan,
            Self::UploadAddress => Kind::PrivateUploadUrl,
            Self::PrivateAnalysis { .. } => Kind::PrivateAnalysis,
            Self::PrivateAnalyses { .. } => Kind::PrivateRelated,
            Self::PrivateDelete { .. } => Kind::PrivateDelete,
            Self::GroupQuota { part: GroupQuotaPart::Usage, .. } => Kind::V3GroupUsage,
            Self::GroupQuota { part: GroupQuotaPart::Users, .. } => Kind::V3GroupUsers,
            Self::GroupList { list: GroupList::Files, .. } => Kind::PrivateFile,
            Self::GroupList { list: GroupList::Analyses, .. } => Kind::PrivateAnalysis,
        };
        let mut operation = Operation::once(kind);
        if let Self::V2Reports { files } = self {
            operation.numbers.hashes = files.len() as u64;
        }
        operation
    }

    /// Returns the request with its price for a user with these entitlements.
    pub fn quote(self, entitlements: &Entitlements) -> Quote {
        let mut operation = self.operation();
        if let Self::File { file } | Self::FileAnalyses { file } = &self {
            operation.numbers.after_new_upload = entitlements.uploads.has_new(file.as_str());
        }
        let price = price(&operation, entitlements);
        let needs_licence = operation.kind.is_private() && entitlements.private_scanning.is_granted().is_none();
        Quote { request: self, price, needs_licence }
    }

    /// Returns where and how it is sent, with all parameters.
    pub fn address(&self, context: &RequestContext<'_>) -> Address {
        let with_id = |path: &str, id: &Identifier| Address::get(format!("{path}/{}", encode(id.as_bytes())));
        let post = |version, path| Address::new(version, Method::Post, path);
        let of_user = |path: &str| Address::get(format!("/users/{}{path}", encode(context.user.as_bytes())));
        match self {
            Self::Behaviour { identifier } => with_id("/private/file_behaviours", identifier),
            Self::Artifact { identifier, artifact } => {
                Address::get(format!("/private/file_behaviours/{}/{}", encode(identifier.as_bytes()), artifact.name()))
            }
            Self::Behaviours { file, listing, cursor } => {
                let address = Address::get(format!("/private/files/{file}/{}", listing.place()));
                address.with("limit", context.page_size.to_string()).with_cursor(cursor.as_ref())
            }
            Self::GroupList { list, cursor } => {
                let address = Address::get(format!("/private/{}", list.name()));
                let address = address.with("limit", context.page_size.to_string());
                // The files are ordered by their hash, whatever the parameter.
                let is_ordered = *list == GroupList::Analyses;
                let address = if is_ordered { address.with("order", "date-") } else { address };
                address.with_cursor(cursor.as_ref())
            }
            Self::GroupQuota { group, part } => {
                Address::get(format!("/groups/{}/{}", encode(group.as_bytes()), part.name()))
            }
            Self::User => of_user(""),
            Self::Quotas => of_user("/overall_quotas"),
            Self::Usage { first, last } => of_user("/api_usage")
                .with("start_date", first.strftime("%Y%m%d").to_string())
                .with("end_date", last.strftime("%Y%m%d").to_string()),
            Self::V2Reports { files } => post(Version::V2, "/file/report".to_owned()).with("resource", joined(files)),
            Self::V2Submissions { files } => {
                Address::new(Version::V2, Method::Get, "/file/submissions".to_owned()).with("resource", joined(files))
            }
            Self::V2Scan { path, file } => {
                let upload = Upload { path: path.clone(), file: file.clone(), to: None };
                Address { upload: Some(upload), ..post(Version::V2, "/file/scan".to_owned()) }
            }
            Self::PrivateScan { submission, to } => scan_address(submission, to.clone(), context),
            Self::UploadAddress => Address::get("/private/files/upload_url".to_owned()),
            Self::PrivateAnalysis { identifier } => with_id("/private/analyses", identifier),
            Self::PrivateAnalyses { file } => {
                Address::get(format!("/private/files/{file}/analyses")).with("limit", "1")
            }
            Self::PrivateDelete { file, only_from_storage } => {
                let address = Address::new(Version::V3, Method::Delete, format!("/private/files/{file}"));
                if *only_from_storage { address.with("only_from_storage", "true") } else { address }
            }
            Self::Analysis { identifier } => with_id("/analyses", identifier),
            Self::File { file } => Address::get(format!("/files/{}", file.as_str())),
            Self::FileAnalyses { file } => {
                let address = Address::get(format!("/files/analyses/{}", file.as_str()));
                address.with("limit", context.page_size.to_string())
            }
            Self::Rescan { file } => post(Version::V3, format!("/files/{}/analyse", file.as_str())),
        }
    }

    /// Returns the key of the stored response; `None` for actions, progress and counters.
    pub fn storage_key(&self) -> Option<Vec<u8>> {
        let key = |operation: &str, rest: &[u8]| Some([operation.as_bytes(), b" ", rest].concat());
        let page = |list: &str, cursor: &Option<Untrusted>| {
            key(list, cursor.as_ref().map(Untrusted::as_bytes).unwrap_or_default())
        };
        match self {
            Self::Behaviour { identifier } => key("behaviour", identifier.as_bytes()),
            Self::Behaviours { file, listing: Listing::Reports, cursor } => page(&format!("behaviours {file}"), cursor),
            Self::Behaviours { file, cursor, .. } => page(&format!("identifiers {file}"), cursor),
            Self::Artifact { identifier, artifact } => {
                key(&format!("artifact {}", artifact.name()), identifier.as_bytes())
            }
            // The cursor may be the hash of a file, to which the page does not belong.
            Self::GroupList { list, cursor } => page(&format!("group-list {}", list.name()), cursor),
            Self::V2Reports { files } => key("v2-report", joined(files).as_bytes()),
            Self::V2Submissions { files } => key("v2-submissions", joined(files).as_bytes()),
            Self::Analysis { identifier } => key("analysis", identifier.as_bytes()),
            Self::File { file } => key("file", file.as_str().as_bytes()),
            Self::FileAnalyses { file } => key("file-analyses", file.as_str().as_bytes()),
            _ => None,
        }
    }

    /// Returns the password of the uploaded file, as it is sent; it must not appear anywhere else.
    pub(crate) fn password(&self) -> Option<&Password> {
        let Self::PrivateScan { submission, .. } = self else { return None };
        submission.options.password()
    }

    /// Returns the identity of a request in flight, for other programs: the storage key of its
    /// response, or else the action or poll that would be charged twice. Excludes the password and
    /// the file's name. `None` for an upload whose file was not read yet.
    pub fn claim(&self) -> Option<Vec<u8>> {
        let action = match self {
            Self::PrivateScan { submission, .. } => submission.claim(),
            Self::V2Scan { file, .. } => format!("{PUBLIC_UPLOAD}{}", file.as_ref()?.0),
            Self::Rescan { file } => format!("public-rescan {}", file.as_str()),
            Self::PrivateDelete { file, only_from_storage } => format!("delete {file} {only_from_storage}"),
            Self::PrivateAnalysis { identifier } => return Some([&b"look "[..], identifier.as_bytes()].concat()),
            Self::PrivateAnalyses { file } => format!("scans {file}"),
            _ => return self.storage_key(),
        };
        Some(action.into_bytes())
    }

    /// Names the request's irreversible or repeatable effects, which need a confirmation.
    pub fn warning(&self) -> Option<String> {
        let own = match self {
            Self::PrivateDelete { file, only_from_storage: false } => Some(format!(
                "The service deletes the file {} with all its reports and scans for ever, for the whole group. \
                 The stored reports stay.",
                file.short()
            )),
            Self::PrivateDelete { file, .. } => Some(format!(
                "The service deletes the file {} for ever: it cannot be scanned or fetched again. Its reports stay until \
                 they expire.",
                file.short()
            )),
            Self::PrivateScan { submission, .. } => submission.sent.map(|sent| {
                format!(
                    "{} may have been sent for a scan on {} already, without a response: it may have arrived, and been charged.",
                    submission.name(),
                    crate::text::moment(sent)
                )
            }),
            _ => None,
        };
        let all: Vec<_> = self.publishes().into_iter().chain(own).collect();
        (!all.is_empty()).then(|| all.join(" "))
    }

    /// Returns what the request publishes outside of the private corpus, if anything.
    pub fn publishes(&self) -> Option<String> {
        match self {
            Self::V2Scan { path, .. } => Some(format!(
                "{} becomes part of the public corpus: every customer of the service can find and download it, for ever.",
                shown(path)
            )),
            Self::Rescan { .. } => Some(
                "The public file is analysed again: its public reports change, and other customers can see the request."
                    .to_owned(),
            ),
            Self::PrivateScan { submission, .. } if submission.options.has_internet() => Some(format!(
                "{} runs with access to the internet: the hosts that it contacts can see that it runs.",
                submission.name()
            )),
            _ => None,
        }
    }

    /// Names it in messages, such as `quota details`.
    pub fn label(&self) -> String {
        match self {
            Self::Behaviour { identifier } => report_label(identifier),
            Self::Artifact { identifier, artifact } => {
                format!("{} of the {}", artifact.label(), report_label(identifier))
            }
            Self::Behaviours { file, cursor: None, .. } => format!("sandboxes of {}", file.short()),
            Self::Behaviours { file, .. } => format!("more sandboxes of {}", file.short()),
            Self::Quotas => "quota details".to_owned(),
            Self::User => "the user's privileges".to_owned(),
            Self::GroupQuota { group, .. } => format!("the quota use of group {}", group.text().visible_cut(60)),
            Self::Usage { first, last } => format!("usage from {first} to {last}"),
            Self::V2Reports { files } => format!("v2 reports of {}", counted(files)),
            Self::V2Submissions { files } => format!("v2 submissions of {}", counted(files)),
            Self::V2Scan { path, .. } => format!("public upload of {}", shown(path)),
            Self::Analysis { identifier } => format!("analysis {}", identifier.text().visible_cut(120)),
            Self::File { file } => format!("file {}", file.as_str()),
            Self::FileAnalyses { file } => format!("analyses of {}", file.as_str()),
            Self::Rescan { file } => format!("public re-scan of {}", file.as_str()),
            Self::PrivateScan { submission, .. } => {
                format!("private scan of {} ({})", submission.name(), submission.file.short())
            }
            Self::UploadAddress => "an address to upload to".to_owned(),
            Self::PrivateAnalysis { identifier } => {
                format!("status of private scan {}", identifier.text().visible_cut(60))
            }
            Self::PrivateAnalyses { file } => format!("private scans of {}", file.short()),
            Self::GroupList { list, cursor: None } => format!("{} of the group", list.label()),
            Self::GroupList { list, .. } => format!("more {} of the group", list.label()),
            Self::PrivateDelete { file, only_from_storage: false } => {
                format!("deletion of {} and its reports at the service", file.short())
            }
            Self::PrivateDelete { file, .. } => format!("deletion of the file {} at the service", file.short()),
        }
    }
}

/// Returns the cost of fetching these items again: reports are fetched one by one.
pub fn again(things: &[StoredItem], entitlements: &Entitlements, now: Timestamp) -> String {
    let (imported, fetched): (Vec<_>, Vec<_>) =
        things.iter().filter(|thing| thing.report().is_some()).partition(|thing| thing.is_import());
    let has_others = things.iter().any(|thing| matches!(thing.what, StoredContent::Response { .. }));
    let fetching = (!fetched.is_empty()).then(|| fetching(&fetched, entitlements, now));
    let asking = has_others.then(|| "Other responses cost their price again.".to_owned());
    let importing = "Imported reports can be imported again without a request.".to_owned();
    let words = fetching.into_iter().chain(asking).chain((!imported.is_empty()).then_some(importing));
    words.collect::<Vec<_>>().join(" ")
}

fn fetching(reports: &[&StoredItem], entitlements: &Entitlements, now: Timestamp) -> String {
    if reports.iter().all(|thing| matches!(thing.retention(now), Some(Retention::DeletedBy(_)))) {
        return "The service has deleted all of it: it cannot be fetched again.".to_owned();
    }
    let each = price(&Operation::once(Kind::PrivateBehaviour), entitlements).verdict.units.max.unwrap_or(1);
    // One list may return several of them.
    let most = if reports.len() > 1 { "at most " } else { "" };
    let requests = count(each.saturating_mul(reports.len() as u64), "request");
    format!("To fetch again: {most}{requests}, if the service still has it.")
}

/// Returns the address of an upload, with the options in the fields of the installation.
fn scan_address(submission: &Submission, to: Option<UploadAddress>, context: &RequestContext<'_>) -> Address {
    let address = Address::new(Version::V3, Method::Post, "/private/files".to_owned());
    let file = Some((submission.file.clone(), submission.size));
    let address = Address { upload: Some(Upload { path: submission.path.clone(), file, to }), ..address };
    let field = |option| context.fields.get(&option).cloned().unwrap_or_else(|| ScanOption::field(option).to_owned());
    submission.options.values().into_iter().fold(address, |address, (option, value)| address.with(field(option), value))
}

fn joined(files: &[FileHash]) -> String {
    files.iter().map(FileHash::as_str).collect::<Vec<_>>().join(",")
}

/// Names a report by sandbox and file, or by an identifier of another shape.
fn report_label(identifier: &Identifier) -> String {
    let parts = identifier.parts();
    match parts.file {
        Some(file) => format!("report by {} of {}", parts.sandbox.visible_cut(60), file.short()),
        None => format!("report {}", identifier.text().visible_cut(120)),
    }
}

fn counted(files: &[FileHash]) -> String {
    match files {
        [one] => one.as_str().to_owned(),
        several => format!("{} files", several.len()),
    }
}

fn shown(path: &Path) -> String {
    crate::text::path(path).cut(60).to_string()
}

#[cfg(test)]
mod tests;
