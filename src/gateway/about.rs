//! Checks that an answer is about the requested file or analysis, and rejects it otherwise.

use crate::report::Body;
use crate::report::identifier::FileHash;
use crate::report::json::{Kind, Raw};
use crate::request::Request;
use crate::service::error::{ServiceError, Unusable};
use crate::text::Untrusted;
use std::ops::Range;

/// The members of a file's object that name the file.
const NAMES: [&str; 5] = ["resource", "sha256", "sha1", "md5", "id"];

/// Rejects an answer that names another file or analysis than the request. An answer that names
/// none is accepted: not every installation repeats the parameters of a request.
pub(super) fn check(request: &Request, body: &Body) -> Result<(), ServiceError> {
    let answer = Raw::new(body);
    let data = answer.member("data");
    let instead = match request {
        Request::V2Reports { files } | Request::V2Submissions { files } if answer.kind() == Kind::Array => {
            answer.elements().find_map(|one| another(&names(one), files))
        }
        Request::V2Reports { files } | Request::V2Submissions { files } => another(&names(answer), files),
        Request::V2Scan { file: Some((file, _)), .. } => {
            another(&names(answer), &FileHash::parse(file.as_str()).into_iter().collect::<Vec<_>>())
        }
        Request::File { file } => data.and_then(|data| another(&names(data), std::slice::from_ref(file))),
        Request::FileAnalyses { file } => another(&in_address(answer), std::slice::from_ref(file)),
        Request::Analysis { identifier } => {
            let found = data.and_then(|data| data.member("id")).filter(|id| id.kind() == Kind::Text).map(Raw::text);
            found.filter(|found| found != identifier.text())
        }
        _ => None,
    };
    instead.map_or(Ok(()), |found| Err(ServiceError::Unusable(Unusable::Other(found))))
}

/// The parts of an answer about several hashes, each with the key under which it is stored. `None`
/// for other requests.
pub(super) fn by_hash(request: &Request, body: &Body) -> Option<Vec<(Vec<u8>, Range<usize>)>> {
    let answer = Raw::new(body);
    let elements: Vec<_> = match answer.kind() {
        Kind::Array => answer.elements().collect(),
        _ => vec![answer],
    };
    let part = |(file, one): (FileHash, Request)| {
        let of = elements.iter().find(|element| names(**element).contains(&file))?;
        let start = body.len().checked_sub(of.length_to_end())?;
        Some((one.holding_key()?, start..start + of.bytes().len()))
    };
    Some(request.by_hash()?.into_iter().filter_map(part).collect())
}

/// The hashes by which an object of the service names its file.
fn names(object: Raw<'_>) -> Vec<FileHash> {
    let attributes = object.member("attributes");
    let within =
        |object: Raw<'_>| NAMES.into_iter().filter_map(|name| hash(object.member(name)?.text())).collect::<Vec<_>>();
    [Some(object), attributes].into_iter().flatten().flat_map(within).collect()
}

/// The hashes in an answer's own address (`links.self`).
fn in_address(answer: Raw<'_>) -> Vec<FileHash> {
    let address = answer.member("links").and_then(|links| links.member("self")).map(Raw::text).unwrap_or_default();
    let parts = address.as_bytes().split(|byte| !byte.is_ascii_alphanumeric());
    parts.filter_map(|part| hash(Untrusted::from(part))).collect()
}

fn hash(text: Untrusted) -> Option<FileHash> {
    FileHash::parse(std::str::from_utf8(text.as_bytes()).ok()?)
}

/// The hash that an answer names instead of these files. Hashes of different kinds may belong to
/// one file, so a mismatch counts only if all are of one kind.
fn another(named: &[FileHash], files: &[FileHash]) -> Option<Untrusted> {
    let is_like = |hash: &&FileHash| files.iter().all(|file| file.as_str().len() == hash.as_str().len());
    let first = named.iter().find(is_like)?;
    let is_asked = named.iter().any(|hash| files.contains(hash));
    (!is_asked).then(|| Untrusted::from(first.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::Identifier;

    #[test]
    fn only_what_names_something_else_is_refused() {
        let (a, b, md5) = ("a".repeat(64), "b".repeat(64), "c".repeat(32));
        let hash = |text: &str| FileHash::parse(text).unwrap();
        let analysis = Request::Analysis { identifier: Identifier::new(Untrusted::from("f-1")).unwrap() };
        let file = |text: &str| Request::File { file: hash(text) };
        let reports = |files: &[&str]| Request::V2Reports { files: files.iter().map(|file| hash(file)).collect() };
        for (request, answer, is_refused) in [
            (file(&a), format!(r#"{{"data":{{"id":"{a}"}}}}"#), false),
            (file(&a), format!(r#"{{"data":{{"id":"{b}"}}}}"#), true),
            (file(&md5), format!(r#"{{"data":{{"id":"{b}"}}}}"#), false),
            (file(&md5), format!(r#"{{"data":{{"id":"{b}","attributes":{{"md5":"{}"}}}}}}"#, "d".repeat(32)), true),
            (file(&md5), format!(r#"{{"data":{{"id":"{b}","attributes":{{"md5":"{md5}"}}}}}}"#), false),
            (file(&a), r#"{"data":{}}"#.to_owned(), false),
            (reports(&[&a]), format!(r#"{{"resource":"{a}","sha256":"{a}"}}"#), false),
            (reports(&[&a]), format!(r#"{{"resource":"{b}"}}"#), true),
            (reports(&[&a, &md5]), format!(r#"[{{"sha256":"{b}","resource":"{md5}"}},{{"sha256":"{a}"}}]"#), false),
            (reports(&[&a, &md5]), format!(r#"[{{"resource":"{a}"}},{{"sha256":"{b}"}}]"#), false),
            (reports(&[&a, &a]), format!(r#"[{{"resource":"{a}"}},{{"sha256":"{b}"}}]"#), true),
            (analysis.clone(), r#"{"data":{"id":"f-1"}}"#.to_owned(), false),
            (analysis.clone(), r#"{"data":{"id":"f-2"}}"#.to_owned(), true),
            (analysis, "[]".to_owned(), false),
        ] {
            let checked = check(&request, &Body::in_memory(answer.clone().into_bytes()));
            assert_eq!(checked.is_err(), is_refused, "{request:?}: {answer}");
        }
    }
}
