//! Reads a saved document, and finds the reports at any place in it.
//!
//! A document is one or more JSON values. Each is a report (specification §2.1: bare, in an
//! envelope, or flat as the official command line prints it), a page of a list, or something that
//! contains reports a few levels down. Words that are not JSON are refused with their place; lone
//! surrogates, control characters and any depth are accepted, because reports contain them.

use super::body::{Body, LARGEST, WINDOW};
use super::identifier::Identifier;
use super::json::{Event, Kind, Raw, Scanner, is_delimiter, is_valid};
use super::page::{Envelope, Page};
use super::{Indexer, Report};
use crate::text::bytes;
use memchr::{memchr_iter, memrchr};
use std::io::{self, Read};
use std::ops::Range;

/// Maximum depth of reports: integrations wrap them in two or three levels.
const MAX_DEPTH: usize = 8;

/// Largest size of a document once unpacked, in bytes.
pub(crate) const LARGEST_UNPACKED: u64 = 1 << 30;

/// Maximum size, in bytes, of a value strictly validated as JSON, which takes longer than reading.
const LARGEST_CHECKED: usize = 16 << 20;

#[derive(Debug, Clone)]
pub struct FoundReport {
    pub identifier: Option<Identifier>,
    pub body: Body,
}

/// Why a document, or a part of it, contains no report.
#[derive(Debug, thiserror::Error)]
pub enum DocumentError {
    #[error("it is empty")]
    Empty,
    #[error("it is not JSON")]
    NotJson,
    #[error("line {line}, column {column}: not JSON")]
    BadWord { line: usize, column: usize },
    #[error("it is packed, and damaged: {0}")]
    Packed(io::Error),
    #[error("it is {} or more unpacked", bytes(LARGEST_UNPACKED))]
    TooLarge,
    #[error("it is packed by bzip2: unpack it by bunzip2 first")]
    Bzip2,
    #[error("it is YAML: save it as JSON (vt ... --format json)")]
    Yaml,
    /// The service's error object, saved in place of a response.
    #[error("an error response of the service, no report: {0}")]
    ErrorResponse(String),
    #[error("the report {0} is cut short, and left out")]
    CutReport(String),
    #[error("it is cut short: only the part before the cut is read")]
    Cut,
    /// A remark: the whole document is read.
    #[error("it is not valid JSON: it is read as far as possible")]
    Invalid,
    #[error("it is cut short before its first report")]
    CutBeforeReports,
    #[error("the list contains no report, only identifiers")]
    OnlyIdentifiers,
    #[error("the list contains neither reports nor their identifiers")]
    NoReports,
    #[error("the list is empty")]
    EmptyList,
}

/// Decodes a document to JSON: gzip, zstd and UTF-16 are recognized by their first bytes.
pub fn decoded(body: Body) -> Result<Body, DocumentError> {
    match &*body {
        [0x1f, 0x8b, ..] => unpacked(flate2::read::MultiGzDecoder::new(&*body)),
        [0x28, 0xb5, 0x2f, 0xfd, ..] => unpacked(zstd::Decoder::new(&*body).map_err(DocumentError::Packed)?),
        [b'B', b'Z', b'h', ..] => Err(DocumentError::Bzip2),
        [0xff, 0xfe, ..] => Ok(from_utf16(&body, u16::from_le_bytes)),
        [0xfe, 0xff, ..] => Ok(from_utf16(&body, u16::from_be_bytes)),
        [b'-', b' ', b'_', ..] | [b'_', b'i', b'd', ..] => Err(DocumentError::Yaml),
        _ => Ok(body),
    }
}

/// Returns whether bytes begin like a document that [`decoded`] unpacks or converts.
pub fn is_encoded(bytes: &[u8]) -> bool {
    matches!(bytes, [0x1f, 0x8b, ..] | [0x28, 0xb5, 0x2f, 0xfd, ..] | [0xff, 0xfe, ..] | [0xfe, 0xff, ..])
}

fn unpacked(source: impl Read) -> Result<Body, DocumentError> {
    let mut bytes = Vec::new();
    source.take(LARGEST_UNPACKED).read_to_end(&mut bytes).map_err(DocumentError::Packed)?;
    match bytes.len() as u64 >= LARGEST_UNPACKED {
        true => Err(DocumentError::TooLarge),
        false => Ok(Body::in_memory(bytes)),
    }
}

/// Converts UTF-16 to UTF-8, without the byte order mark; an unpaired surrogate becomes U+FFFD.
fn from_utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> Body {
    let units = bytes.chunks_exact(2).skip(1).filter_map(|pair| pair.first_chunk().copied()).map(unit);
    let text: String = char::decode_utf16(units).map(|read| read.unwrap_or(char::REPLACEMENT_CHARACTER)).collect();
    Body::in_memory(text.into_bytes())
}

#[derive(Debug)]
pub struct DocumentValue {
    pub body: Body,
    /// Whether it is a page of a list.
    pub is_page: bool,
    /// Whether the document ends inside of it.
    pub is_cut: bool,
}

/// Returns the values of a document, in order; a single value has all of the bytes.
pub fn values(body: &Body) -> Vec<Result<DocumentValue, DocumentError>> {
    let spans = spans(body);
    let is_single = spans.len() == 1;
    let value = |span: ValueSpan| {
        if let Some(at) = span.bad_word {
            return Err(bad_word(body, at));
        }
        let part = if is_single { body.clone() } else { body.slice(span.range) };
        let is_page = is_page(&part).ok_or(DocumentError::NotJson)?;
        Ok(DocumentValue { body: part, is_page, is_cut: span.is_cut })
    };
    spans.into_iter().map(value).collect()
}

/// Returns the reports of all values of a document, and the errors of the others.
pub fn reports(body: &Body) -> (Vec<FoundReport>, Vec<DocumentError>) {
    let mut reports = Vec::new();
    let mut problems = Vec::new();
    for value in values(body) {
        let (found, errors) = value.map_or_else(|error| (Vec::new(), vec![error]), |value| value.reports());
        reports.extend(found);
        problems.extend(errors);
    }
    (reports, problems)
}

/// Returns the identifier if a large document begins like a report; the rest is checked later.
pub fn begins_as_report(first: &[u8]) -> Option<Identifier> {
    let report = read_until_known(&Body::in_memory(first.to_vec()));
    report.identifier().filter(|_| report.is_behaviour() && !report.index.is_page)
}

struct ValueSpan {
    range: Range<usize>,
    is_cut: bool,
    /// Offset of the first word inside of it that is not JSON.
    bad_word: Option<usize>,
}

/// Finds the values; a truncated one, or invalid text after the last, extends to the body's end.
fn spans(body: &Body) -> Vec<ValueSpan> {
    let mut scanner = Scanner::default();
    let mut depth = 0_u64;
    let mut bad_word = None;
    let mut found: Vec<ValueSpan> = Vec::new();
    let mut start = None;
    for window in body.chunks(WINDOW) {
        scanner.feed(window, &mut |at, event| {
            let at = usize::try_from(at).unwrap_or(usize::MAX);
            if event != Event::Close {
                start.get_or_insert(at);
            }
            match event {
                Event::Open { .. } => depth += 1,
                Event::Close => {
                    depth = depth.saturating_sub(1);
                    if depth == 0
                        && let Some(start) = start.take()
                    {
                        found.push(ValueSpan { range: start..at, is_cut: false, bad_word: bad_word.take() });
                    }
                }
                Event::Word { .. } if depth > 0 && bad_word.is_none() => {
                    bad_word = Some(at).filter(|at| !is_json_word(body, *at));
                }
                Event::Word { .. } | Event::Name(_) | Event::Text => {}
            }
        });
        // A value that is neither object nor array is not a report, and nothing after it is read.
        if depth == 0 && start.is_some() {
            break;
        }
    }
    if start.is_none() {
        let end = found.last().map_or(0, |last| last.range.end);
        let is_content = |byte: &u8| !byte.is_ascii_whitespace() && *byte != b',';
        let is_more = body.window(end..body.len()).iter().any(is_content);
        start = Some(end).filter(|_| is_more);
    }
    found.extend(start.map(|start| ValueSpan { range: start..body.len(), is_cut: depth > 0, bad_word }));
    found
}

/// Returns whether a word is a JSON literal, or one of the three that common writers add.
fn is_json_word(body: &Body, at: usize) -> bool {
    let bytes = body.window(at..at + 64);
    let end = bytes.iter().position(|byte| is_delimiter(*byte)).unwrap_or(bytes.len());
    let word = str::from_utf8(bytes.get(..end).unwrap_or_default()).unwrap_or_default();
    // A word at the very end may be cut.
    at + end == body.len() || ["true", "false", "null"].contains(&word) || word.parse::<f64>().is_ok()
}

fn bad_word(body: &[u8], at: usize) -> DocumentError {
    let before = body.get(..at).unwrap_or_default();
    let start = memrchr(b'\n', before).map_or(0, |end| end + 1);
    let column = String::from_utf8_lossy(before.get(start..).unwrap_or_default()).chars().count() + 1;
    DocumentError::BadWord { line: memchr_iter(b'\n', before).count() + 1, column }
}

/// Returns whether a value is a page, by its first attribute or entry; `None` if it is not JSON.
fn is_page(body: &Body) -> Option<bool> {
    let index = read_until(body, |report| report.index.is_enveloped || report.index.is_attributed).index;
    index.is_json.then_some(index.is_page)
}

impl DocumentValue {
    /// Returns reports, and the others' errors; any other value is a report with pane "Other".
    pub fn reports(&self) -> (Vec<FoundReport>, Vec<DocumentError>) {
        let is_report = !self.is_page && read_until_known(&self.body).is_behaviour();
        let mut search = Search { value: self, found: Vec::new(), errors: Vec::new() };
        if !is_report {
            search.enter(Raw::new(self.body.get(..LARGEST).unwrap_or(&self.body)), 0);
        }
        let Search { mut found, mut errors, .. } = search;
        if errors.is_empty() {
            let is_empty = found.is_empty() && !is_report && (self.is_page || self.is_cut);
            errors.extend(if is_empty { Some(self.without_reports()) } else { self.problem() });
            found.extend((found.is_empty() && !is_empty).then(|| self.whole()));
        }
        (found, errors)
    }

    fn problem(&self) -> Option<DocumentError> {
        if self.is_cut {
            return Some(DocumentError::Cut);
        }
        (self.body.len() <= LARGEST_CHECKED && !is_valid(&self.body)).then_some(DocumentError::Invalid)
    }

    fn whole(&self) -> FoundReport {
        // The identifier may be the last member.
        let identifier = read_until(&self.body, |report| report.index.id.is_some()).identifier();
        FoundReport { identifier, body: self.body.clone() }
    }

    fn without_reports(&self) -> DocumentError {
        match Page::of(&self.body) {
            Ok(page) if !page.entries.is_empty() => DocumentError::OnlyIdentifiers,
            Ok(page) if page.passed_over().is_some() => DocumentError::NoReports,
            _ if self.is_cut => DocumentError::CutBeforeReports,
            _ => DocumentError::EmptyList,
        }
    }
}

/// Reads a value as a report until its kind is known.
pub fn read_until_known(body: &Body) -> Report {
    read_until(body, Report::is_behaviour)
}

/// Reads a value as a report until enough of it is known.
fn read_until(body: &Body, is_enough: impl Fn(&Report) -> bool) -> Report {
    let mut indexer = Indexer::default();
    let mut report = Report::unread(body.clone());
    for window in body.chunks(WINDOW) {
        indexer.feed(window);
        report.absorb(indexer.take());
        if is_enough(&report) {
            return report;
        }
    }
    report.absorb(indexer.finish());
    report
}

struct Search<'a> {
    value: &'a DocumentValue,
    found: Vec<FoundReport>,
    errors: Vec<DocumentError>,
}

impl Search<'_> {
    fn enter(&mut self, value: Raw<'_>, depth: usize) {
        match value.kind() {
            Kind::Object => self.enter_object(value, depth),
            Kind::Array if depth < MAX_DEPTH => value.elements().for_each(|element| self.enter(element, depth + 1)),
            _ => {}
        }
    }

    fn enter_object(&mut self, object: Raw<'_>, depth: usize) {
        let envelope = Envelope::of(object);
        if envelope.is_report() {
            self.push(object, envelope.identifier());
        } else if let Some(error) = envelope.error_text() {
            self.errors.push(DocumentError::ErrorResponse(error));
        } else if depth < MAX_DEPTH {
            object.pairs().for_each(|(_, value)| self.enter(value, depth + 1));
        }
    }

    fn push(&mut self, object: Raw<'_>, identifier: Option<Identifier>) {
        if !object.is_whole() {
            let name = identifier.map(|identifier| identifier.text().visible().to_string());
            return self.errors.push(DocumentError::CutReport(name.unwrap_or_else(|| "without a name".to_owned())));
        }
        let start = self.value.body.len().min(LARGEST) - object.length_to_end();
        let body = self.value.body.slice(start..start + object.bytes().len());
        self.found.push(FoundReport { identifier, body });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Identifiers of the reports, and the errors in words.
    fn read(json: &str) -> (Vec<String>, Vec<String>) {
        let mut reports = Vec::new();
        let mut errors = Vec::new();
        for value in values(&Body::in_memory(json.as_bytes().to_vec())) {
            match value {
                Ok(value) => {
                    let (found, failed) = value.reports();
                    reports.extend(found);
                    errors.extend(failed);
                }
                Err(error) => errors.push(error),
            }
        }
        let name =
            |found: FoundReport| found.identifier.map(|identifier| identifier.text().unicode()).unwrap_or_default();
        (reports.into_iter().map(name).collect(), errors.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn a_document_of_another_kind_is_handed_over_whole() {
        assert_eq!(read(r#"{"hello":[{"world":1}]}"#), (vec![String::new()], Vec::new()));
    }

    proptest! {
        /// One report with members in any order, of any size near window edges, in any wrapping.
        #[test]
        fn a_report_keeps_its_identifier_and_bytes(
            order in Just(vec![0, 1, 2]).prop_shuffle(),
            padding in prop_oneof![0..200_usize, WINDOW - 150..WINDOW + 150, 2 * WINDOW - 150..2 * WINDOW + 150],
            wrapping in 0..4,
        ) {
            let members = [
                r#""id":"f_S-1""#.to_owned(),
                r#""type":"file_behaviour""#.to_owned(),
                format!(r#""attributes":{{"text":["{}"]}}"#, "x".repeat(padding)),
            ];
            let members: Vec<_> = order.iter().map(|place: &usize| members[*place].clone()).collect();
            let report = format!("{{{}}}", members.join(","));
            let json = match wrapping {
                0 => report.clone(),
                1 => format!(r#"{{"data":{report}}}"#),
                2 => format!(r#"{{"data":[{report}]}}"#),
                _ => format!(r#"{{"x":[{report}]}}"#),
            };
            let read = values(&Body::in_memory(json.into_bytes()));
            let [Ok(value)] = &*read else { panic!("{read:?}") };
            let (found, errors) = value.reports();
            prop_assert!(errors.is_empty());
            prop_assert_eq!(found.len(), 1);
            let identifier = found[0].identifier.as_ref().map(|identifier| identifier.as_bytes().to_vec());
            prop_assert_eq!(identifier.as_deref(), Some(&b"f_S-1"[..]));
            if wrapping > 1 {
                prop_assert_eq!(&*found[0].body, report.as_bytes());
            }
        }
    }
}
