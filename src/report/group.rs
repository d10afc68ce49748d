//! Parses a page of the group's private files or analyses.

use super::analysis::Progress;
use super::body::Body;
use super::identifier::{Identifier, Sha256};
use super::json::{Kind, Raw};
use super::page::{MAX_ENTRIES, PageEnd, PageError, list_in};
use crate::text::Untrusted;
use jiff::Timestamp;

/// Attributes with the time of a file's last analysis or submission; the first one present counts.
const TIMES: [&str; 4] = ["date", "last_analysis_date", "last_submission_date", "first_submission_date"];

/// One page of the group's private files, or of its analyses.
#[derive(Debug, Clone, Default)]
pub struct GroupPage {
    pub entries: Vec<GroupEntry>,
    /// Number of omitted entries: they name neither a file nor an analysis.
    pub others: usize,
    pub end: PageEnd,
}

/// A private file, or an analysis of one, as a list of the group describes it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct GroupEntry {
    /// `None` if an analysis does not name its file.
    pub file: Option<Sha256>,
    /// The identifier and the status of an analysis; `None` for a file.
    pub scan: Option<(Identifier, Progress)>,
    pub name: Option<Untrusted>,
    /// Its type, in words.
    pub kind: Option<Untrusted>,
    /// Bytes.
    pub size: Option<u64>,
    /// When it was last analysed or submitted.
    pub at: Option<Timestamp>,
    /// When the service deletes it.
    pub expires: Option<Timestamp>,
}

impl GroupPage {
    /// Parses a page.
    ///
    /// # Errors
    ///
    /// The body is not a list, or was cut short.
    pub fn of(body: &Body) -> Result<Self, PageError> {
        let document = Raw::new(body);
        let list = list_in(document)?;
        let entries: Vec<_> = list.elements().take(MAX_ENTRIES).filter_map(entry).collect();
        let others = list.elements().count() - entries.len();
        Ok(Self { entries, others, end: PageEnd::of(document) })
    }
}

fn entry(entry: Raw<'_>) -> Option<GroupEntry> {
    let is_analysis = entry.member("type").is_some_and(|kind| kind.text().as_bytes().ends_with(b"analysis"));
    let id = entry.member("id").filter(|id| id.kind() == Kind::Text)?.text();
    let attribute = |name: &str| entry.member("attributes")?.member(name).filter(|value| value.bytes() != b"null");
    let text = |name: &str| attribute(name).map(Raw::text).filter(|text| !text.is_empty());
    let moment = |name: &str| Timestamp::from_second(attribute(name)?.integer()?).ok();
    let hash = |text: Untrusted| Sha256::parse(&text.unicode());
    // The file of an analysis is the last step of its link.
    let item = || {
        let link = entry.member("links")?.member("item")?.text().unicode();
        Sha256::parse(link.rsplit('/').next()?)
    };
    let scan = || Some((Identifier::new(id.clone())?, Progress::of(text("status").unwrap_or_default())));
    let (file, scan) = if is_analysis { (item(), Some(scan()?)) } else { (Some(hash(id)?), None) };
    Some(GroupEntry {
        file,
        scan,
        name: text("meaningful_name").or_else(|| attribute("names")?.elements().next().map(Raw::text)),
        kind: text("type_description").or_else(|| text("type_tag")),
        size: attribute("size").and_then(Raw::integer).and_then(|size| size.try_into().ok()),
        at: TIMES.into_iter().find_map(moment),
        expires: moment("expiration"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_and_analyses_are_read_and_odd_ones_left_out() {
        let hash = "ab".repeat(32);
        let text = format!(
            r#"{{"data":[{{"id":"{hash}","type":"private_file","attributes":{{"names":["a\u001b"],"size":5,"expiration":9,
                "last_analysis_date":7}}}},{{"id":"Zm9v","type":"private_analysis","attributes":{{"status":"in-progress","date":8}},
                "links":{{"item":"https://h/api/v3/private/files/{hash}"}}}},{{"id":"no hash"}},7,
                {{"id":"eA","type":"private_analysis"}}],"meta":{{"cursor":"{hash}","count":5}}}}"#
        );
        let page = GroupPage::of(&Body::in_memory(text.into_bytes())).unwrap();
        let [file, scan, bare] = &page.entries[..] else { panic!("{page:?}") };
        let at = |second| Timestamp::from_second(second).ok();
        assert_eq!((file.size, file.at, file.expires, file.scan.is_none()), (Some(5), at(7), at(9), true));
        assert_eq!(file.name, Some(Untrusted::from("a\u{1b}")));
        assert_eq!((&scan.file, &scan.scan.as_ref().unwrap().1, scan.at), (&file.file, &Progress::Running, at(8)));
        assert_eq!((&bare.file, page.others, page.end.count), (&None, 2, Some(5)));
        assert_eq!(page.end.cursor, Some(Untrusted::from(hash.as_str())));
    }
}
