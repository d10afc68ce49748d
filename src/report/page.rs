//! Parses a page of a list: its entries, the reports in it, and the cursor of the next page.
//!
//! The list of a file promises identifiers (§4.1), and often contains whole reports; reads both. A
//! list of the group has private files or analyses. Has a report's summary and its verdict.

use super::analysis::Progress;
use super::attributes::Attribute;
use super::body::Body;
use super::identifier::{Identifier, Sha256, is_moment};
use super::json::{Kind, Raw};
use super::rows::Report;
use crate::text::{Untrusted, count, names};
use jiff::Timestamp;
use percent_encoding::{NON_ALPHANUMERIC, percent_decode, percent_encode};
use std::ops::Range;

/// Maximum length of a cursor in an address, in percent-encoded bytes.
const MAX_CURSOR: usize = 56 * 1024;

/// Maximum of entries that are read from a page: a service sends tens.
const MAX_ENTRIES: usize = 100_000;

/// Attributes with the time of a file's last analysis or submission; the first one present counts.
const TIMES: [&str; 4] = ["date", "last_analysis_date", "last_submission_date", "first_submission_date"];

/// Maximum number of verdicts that are read.
const MAX_VERDICTS: usize = 100;

/// Returns whether it is an abstract of the stored report: runs keep attributes and most content.
pub fn is_abstract(received: &[u8], stored: &[u8]) -> bool {
    let attributes = |report: &[u8]| {
        let document = Raw::new(report);
        let attributes = document.member("data").unwrap_or(document).member("attributes");
        attributes.map_or(0, |attributes| attributes.pairs().count())
    };
    let is_shorter = received.len() < stored.len();
    is_shorter && (received.len() < stored.len() / 4 || attributes(received) < attributes(stored))
}

/// The members of an object that identify it as a report, or as a response without one.
#[derive(Default)]
pub(super) struct Envelope<'a> {
    id: Option<Raw<'a>>,
    kind: Option<Raw<'a>>,
    attributes: Option<Raw<'a>>,
    error: Option<Raw<'a>>,
    has_sandbox: bool,
    /// Whether an attribute is a sibling of the identifier, as the official command line prints it.
    has_attribute: bool,
}

impl<'a> Envelope<'a> {
    pub(super) fn of(object: Raw<'a>) -> Self {
        let mut found = Self::default();
        for (name, value) in object.pairs() {
            let is_object = value.kind() == Kind::Object;
            match name.content() {
                b"id" | b"_id" => found.id = found.id.or(Some(value)),
                b"type" | b"_type" if value.kind() == Kind::Text => found.kind = found.kind.or(Some(value)),
                b"attributes" if is_object => found.attributes = found.attributes.or(Some(value)),
                b"error" if is_object => found.error = found.error.or(Some(value)),
                b"sandbox_name" => found.has_sandbox = true,
                name => found.has_attribute |= Attribute::named(name).is_some(),
            }
        }
        found
    }

    pub(super) fn identifier(&self) -> Option<Identifier> {
        let id = self.id.filter(|id| matches!(id.kind(), Kind::Text | Kind::Word));
        id.map(Raw::text).and_then(Identifier::new)
    }

    /// Returns whether it is a behaviour report by its type; or, without a type, by its attributes.
    pub(super) fn is_report(&self) -> bool {
        let is_known =
            |attributes: Raw<'_>| attributes.pairs().any(|(name, _)| Attribute::named(name.content()).is_some());
        match (self.kind, self.attributes) {
            (Some(kind), attributes) => {
                is_behaviour(&kind.text()) && (attributes.is_some() || self.has_attribute || self.has_sandbox)
            }
            (None, Some(attributes)) => self.id.is_some() || is_known(attributes),
            (None, None) => self.has_attribute && (self.has_sandbox || self.id.is_some()),
        }
    }

    /// Returns the service's error as text: an object of `code` and `message`.
    pub(super) fn error_text(&self) -> Option<String> {
        let word = |name| Some(self.error?.member(name)?.text().visible_cut(200).to_string());
        let parts: Vec<_> = ["code", "message"].into_iter().filter_map(word).collect();
        (!parts.is_empty()).then(|| parts.join(": "))
    }
}

/// Summary of a report in a list.
#[derive(Debug, Default)]
pub struct ReportSummary {
    pub sandbox: Option<Untrusted>,
    /// When it ran, in seconds since 1970, for identifiers without a time.
    pub ran: Option<i64>,
    /// The first verdict, without the suffix `_VERDICT`.
    pub verdict: Option<Untrusted>,
    /// The confidence of the sandbox, from 0 to 100.
    pub score: Option<u64>,
    pub labels: Vec<Untrusted>,
    pub tags: Vec<Untrusted>,
}

impl ReportSummary {
    /// Returns the verdict, score, labels and tags of a report.
    pub fn of(report: &Report) -> Self {
        let first = |attribute| report.values(attribute).next();
        let number = |attribute| first(attribute)?.unicode().parse::<i64>().ok();
        let verdict = first("verdicts").map(|verdict| match verdict.as_bytes().strip_suffix(b"_VERDICT") {
            Some(word) => Untrusted::from(word),
            None => verdict,
        });
        Self {
            sandbox: first("sandbox_name"),
            ran: number("analysis_date").filter(|seconds| is_moment(*seconds)),
            verdict,
            score: number("verdict_confidence").and_then(|score| score.try_into().ok()),
            labels: report.values("verdict_labels").collect(),
            tags: report.values("tags").collect(),
        }
    }

    /// Returns the verdict, and its confidence.
    pub fn label(&self) -> Option<Untrusted> {
        let score = self.score.map(|score| format!(" {score}")).unwrap_or_default();
        self.verdict.as_ref().map(|verdict| Untrusted::from([verdict.as_bytes(), score.as_bytes()].concat()))
    }
}

names! {
    /// The verdict on a file; the least is the worst. A file without a verdict may be anything.
    SampleVerdict terms {
        Malicious "malicious" "MALWARE MALICIOUS RANSOM RANSOMWARE TROJAN STEALER RAT PHISHING BANKER EXPLOIT SPREADER WORM VIRUS",
        Suspicious "suspicious" "SUSPICIOUS GREYWARE ADWARE EVADER",
        Unknown "unknown" "",
        Benign "benign" "CLEAN HARMLESS BENIGN",
    }
}

impl SampleVerdict {
    /// Returns the worst verdict of a report.
    pub fn of(report: &Report) -> Self {
        let verdicts = report.values("verdicts").take(MAX_VERDICTS);
        let verdicts: Vec<_> =
            verdicts.map(|verdict| String::from_utf8_lossy(verdict.as_bytes()).to_uppercase()).collect();
        let is_given = |found: &Self| verdicts.iter().any(|verdict| has_word(verdict, found.terms()));
        Self::ALL.into_iter().find(is_given).unwrap_or(Self::Unknown)
    }
}

/// Returns whether a verdict contains one of these words and no negation.
fn has_word(verdict: &str, wanted: &str) -> bool {
    let words: Vec<_> = verdict.split(|c: char| !c.is_ascii_alphabetic()).filter(|word| !word.is_empty()).collect();
    !words.iter().any(|word| matches!(*word, "NOT" | "NO" | "NON"))
        && words.iter().any(|word| wanted.split(' ').any(|wanted| wanted == *word))
}

/// One page of a file's sandbox reports.
#[derive(Debug, Clone, Default)]
pub struct Page {
    pub entries: Vec<PageEntry>,
    /// Entries without an identifier, which cannot be requested.
    pub(crate) nameless: usize,
    /// Number of omitted entries of another type.
    pub others: usize,
    /// Number of omitted entries of another file.
    pub foreign: usize,
    /// Errors of the service in place of reports, by entry.
    pub(crate) errors: Vec<String>,
    pub end: PageEnd,
}

/// One report that a list page names.
#[derive(Debug, Clone)]
pub struct PageEntry {
    pub identifier: Identifier,
    /// Its byte range in the page's body.
    pub range: Range<usize>,
    /// The report, if the page contains it: it is paid for.
    pub report: Option<Body>,
    pub verdict: Option<Untrusted>,
}

/// Why a body is not a page.
#[derive(Debug, thiserror::Error)]
pub enum PageError {
    #[error("it is not JSON")]
    NotJson,
    #[error("it is JSON, but no list: `data` is not an array")]
    NotAList,
    #[error("it was cut short")]
    Cut,
}

/// Returns the list in a document: its `data`, or the document itself.
fn list_in(document: Raw<'_>) -> Result<Raw<'_>, PageError> {
    let list = match document.kind() {
        Kind::Text | Kind::Word => return Err(PageError::NotJson),
        _ if !document.is_whole() => return Err(PageError::Cut),
        Kind::Object => document.member("data"),
        Kind::Array => Some(document),
    };
    list.filter(|list| list.kind() == Kind::Array).ok_or(PageError::NotAList)
}

/// What follows a page.
#[derive(Debug, Clone, Default)]
pub struct PageEnd {
    /// Opaque token for the next page; `None` on the last.
    pub cursor: Option<Untrusted>,
    /// Whether more pages cannot be requested: a cursor is too long, the key, or missing.
    pub is_lost: bool,
    /// Number of entries on all pages, by the service.
    pub count: Option<u64>,
}

impl PageEnd {
    fn of(document: Raw<'_>) -> Self {
        let described = |object: &str, name: &str| {
            let value = document.member(object)?.member(name).filter(|value| value.bytes() != b"null")?;
            Some(value.text()).filter(|text| !text.is_empty())
        };
        let cursor = described("meta", "cursor").map(Some);
        let cursor = cursor.or_else(|| described("links", "next").map(|next| cursor_of(&next)));
        let cursor = cursor.map(|cursor| cursor.filter(is_carried));
        let count = described("meta", "count").and_then(|count| count.unicode().parse().ok());
        Self { is_lost: cursor == Some(None), cursor: cursor.flatten(), count }
    }
}

impl Page {
    /// Parses a list page; an error if it is none.
    pub fn of(body: &Body) -> Result<Self, PageError> {
        let document = Raw::new(body);
        let list = list_in(document)?;
        let nameless = list.elements().skip(MAX_ENTRIES).count();
        let mut page = Self { nameless, end: PageEnd::of(document), ..Self::default() };
        list.elements().take(MAX_ENTRIES).for_each(|entry| page.add(body, entry));
        Ok(page)
    }

    fn add(&mut self, body: &Body, entry: Raw<'_>) {
        let envelope = Envelope::of(entry);
        if envelope.kind.is_some_and(|kind| !is_behaviour(&kind.text())) {
            self.others += 1;
            return;
        }
        let has_content = envelope.attributes.is_some_and(|attributes| attributes.pairs().next().is_some());
        let has_report = has_content || envelope.has_attribute || envelope.has_sandbox;
        self.errors.extend(envelope.error_text().filter(|_| !has_report));
        // An entry that is a string is an identifier; a number is not.
        let alone = Some(entry).filter(|entry| entry.kind() == Kind::Text).map(Raw::text).and_then(Identifier::new);
        let Some(identifier) = alone.or_else(|| envelope.identifier()) else {
            self.nameless += 1;
            return;
        };
        let start = body.len() - entry.length_to_end();
        let range = start..start + entry.bytes().len();
        let report = has_report.then(|| body.slice(range.clone()));
        let verdict = report.as_ref().and_then(|report| ReportSummary::of(&Report::open(report)).label());
        self.entries.push(PageEntry { identifier, range, report, verdict });
    }

    /// Parses a page of this file's list.
    pub fn of_file(body: &Body, file: &Sha256) -> Result<Self, PageError> {
        Ok(Self::of(body)?.without_others(file))
    }

    /// Removes the entries of another file; the other entries of the page stay usable.
    pub fn without_others(mut self, file: &Sha256) -> Self {
        let listed = self.entries.len();
        self.entries.retain(|entry| entry.identifier.parts().file.is_none_or(|named| named == *file));
        self.foreign += listed - self.entries.len();
        self
    }

    /// Returns a message about omitted entries and errors, if any.
    pub fn left_out(&self) -> Option<String> {
        let left_out = self.passed_over().map(|(_, why)| format!("Left out of the list: {why}."));
        let failed = self.errors.first().map(|first| {
            let reports = count(self.errors.len() as u64, "report");
            format!("In place of {reports} the service sent an error: {first}.")
        });
        let all: Vec<_> = left_out.into_iter().chain(failed).collect();
        (!all.is_empty()).then(|| all.join(" "))
    }

    /// Returns the number of entries that are not shown, and why; `None` without any.
    pub fn passed_over(&self) -> Option<(u64, String)> {
        let left_out = [
            (self.nameless, "entry", "without an identifier"),
            (self.others, "entry", "of another type than a behaviour report"),
            (self.foreign, "report", "of another file"),
        ];
        let described = left_out.into_iter().filter(|(entries, ..)| *entries > 0);
        let described: Vec<_> = described.map(|(n, what, why)| format!("{} {why}", count(n as u64, what))).collect();
        let entries = self.nameless + self.others + self.foreign;
        (entries > 0).then(|| (entries as u64, described.join(", ")))
    }
}

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
    /// Parses a page; an error if the body is not a list, or was cut short.
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

/// Returns whether a `type` is that of a behaviour report: the service has two names for it.
pub fn is_behaviour(kind: &Untrusted) -> bool {
    kind.as_bytes().ends_with(b"file_behaviour")
}

/// Message for a page without a usable cursor.
pub const NO_WAY_ON: &str = "There are more pages, but no usable cursor: no further page is requested.";

/// Returns the cursor in a page address's query; the rest is ignored and never requested.
pub(crate) fn cursor_of(address: &Untrusted) -> Option<Untrusted> {
    let address = address.as_bytes().split(|byte| *byte == b'#').next()?;
    let query = address.splitn(2, |byte| *byte == b'?').nth(1)?;
    let found = query.split(|byte| *byte == b'&').find_map(|pair| pair.strip_prefix(b"cursor="))?;
    let spaced: Vec<u8> = found.iter().map(|byte| if *byte == b'+' { b' ' } else { *byte }).collect();
    let cursor: Vec<u8> = percent_decode(&spaced).collect();
    Some(Untrusted::from(cursor)).filter(|cursor| !cursor.is_empty())
}

/// Returns whether a cursor fits in an address, percent-encoded, and is not a redacted key.
fn is_carried(cursor: &Untrusted) -> bool {
    let is_redacted = memchr::memmem::find(cursor.as_bytes(), &[b'*'; 16]).is_some();
    !is_redacted && percent_encode(cursor.as_bytes(), NON_ALPHANUMERIC).map(str::len).sum::<usize>() <= MAX_CURSOR
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(json: &str) -> Result<Page, PageError> {
        Page::of(&Body::in_memory(json.as_bytes().to_vec()))
    }

    #[test]
    fn entries_with_and_without_reports_are_read() {
        let found = page(
            r#"{"data":[{"id":"a b-1","attributes":{"tags":["T"]}},{"id":"c"},"d",{"type":"file_behaviour"}],"meta":{"count":9,"cursor":"n=="}}"#,
        )
        .unwrap();
        let entries: Vec<_> = found.entries.iter().map(|e| (e.identifier.as_bytes(), e.report.is_some())).collect();
        assert_eq!(entries, [(&b"a b-1"[..], true), (b"c", false), (b"d", false)]);
        assert_eq!((found.nameless, found.end.count), (1, Some(9)));
        assert_eq!(found.end.cursor, Some(Untrusted::from("n==")));
        assert_eq!(found.left_out().unwrap(), "Left out of the list: 1 entry without an identifier.");
        let report = found.entries[0].report.clone().unwrap();
        assert_eq!(ReportSummary::of(&Report::open(&report)).tags, ["T".into()]);
    }

    #[test]
    fn error_for_a_report_is_named_and_its_id_listed() {
        let error = r#""error":{"code":"NotFoundError","message":"gone"}"#;
        let found = page(&format!(r#"{{"data":[{{"id":"a",{error}}},{{"type":"file_behaviour",{error}}}]}}"#)).unwrap();
        let entries = found.entries.iter().map(|entry| (entry.identifier.as_bytes(), entry.report.is_some()));
        assert_eq!(entries.collect::<Vec<_>>(), [(&b"a"[..], false)]);
        assert_eq!(
            found.left_out().unwrap(),
            "Left out of the list: 1 entry without an identifier. \
             In place of 2 reports the service sent an error: NotFoundError: gone."
        );
    }

    #[test]
    fn the_last_page_has_no_cursor() {
        for meta in ["", r#","meta":{}"#, r#","meta":{"cursor":null}"#, r#","meta":{"cursor":""}"#, r#","meta":[]"#] {
            assert_eq!(page(&format!(r#"{{"data":[]{meta}}}"#)).unwrap().end.cursor, None, "{meta}");
        }
    }

    #[test]
    fn next_link_is_read_for_its_cursor_only() {
        let next = |links: &str| {
            let page =
                page(&format!(r#"{{"data":[],"links":{{"self":"http://h/?cursor=s",{links}}},"meta":{{"count":9}}}}"#))
                    .unwrap();
            (page.end.cursor, page.end.is_lost)
        };
        let found = |word: &str| (Some(Untrusted::from(word)), false);
        assert_eq!(next(r#""next":"https://elsewhere/x?limit=10&cursor=a%2Bb%3D%3D#c""#), found("a+b=="));
        assert_eq!(next(r#""next":"?cursor=a+b&limit=1""#), found("a b"));
        for lost in ["https://h/x?limit=1", "https://h/x?cursor=", "https://h/cursor=x", "n"] {
            assert_eq!(next(&format!(r#""next":"{lost}""#)), (None, true), "{lost}");
        }
        for none in [r#""next":null"#, r#""prev":"?cursor=x""#, r#""next":"""#] {
            assert_eq!(next(none), (None, false), "{none}");
        }
        let both = r#"{"data":[],"links":{"next":"?cursor=other"},"meta":{"cursor":"this"}}"#;
        assert_eq!(page(both).unwrap().end.cursor, Some(Untrusted::from("this")));
    }

    #[test]
    fn invalid_page_has_a_reason() {
        assert!(matches!(page("<html>"), Err(PageError::NotJson)));
        assert!(matches!(page(r#"{"data":{"id":"x"}}"#), Err(PageError::NotAList)));
        assert!(matches!(page(r#"{"data":[{"id":"x"}"#), Err(PageError::Cut)));
    }

    #[test]
    fn verdict_label_has_its_confidence() {
        let told = |json: &str| ReportSummary::of(&Report::of_json(json)).label();
        assert_eq!(told(r#"{"verdicts":["MALWARE","TROJAN"],"verdict_confidence":92}"#), Some("MALWARE 92".into()));
        assert_eq!(told(r#"{"verdicts":["UNKNOWN_VERDICT"]}"#), Some("UNKNOWN".into()));
        assert_eq!((told(r#"{"verdicts":[]}"#), told("no JSON")), (None, None));
    }

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

    #[test]
    fn a_verdict_is_read_word_by_word() {
        for (printed, wanted) in [
            ("MALWARE", "malicious"),
            ("rat", "malicious"),
            ("Known_Ransomware", "malicious"),
            ("BANKER", "malicious"),
            ("ADWARE", "suspicious"),
            ("CLEAN", "benign"),
            ("MODERATE", "unknown"),
            ("UNRATED", "unknown"),
            ("NOT_MALICIOUS", "unknown"),
            ("NOT CLEAN", "unknown"),
            ("UNKNOWN_VERDICT", "unknown"),
        ] {
            let report = Report::of_json(&format!(r#"{{"verdicts":["{printed}"]}}"#));
            assert_eq!(SampleVerdict::of(&report).name(), wanted, "{printed}");
        }
    }
}
