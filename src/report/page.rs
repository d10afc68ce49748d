//! A page of a list: its entries, those that came with their report, and where the next page is.
//!
//! The list operation promises identifiers (specification §4.1) and brings whole reports along when it can; both are read,
//! entry by entry.

use super::body::Body;
use super::identifier::{Identifier, Sha256};
use super::index::{Form, Index};
use super::json::Raw;
use super::rows::verdict;
use crate::text::{Untrusted, count};
use percent_encoding::{NON_ALPHANUMERIC, percent_decode, percent_encode};
use std::ops::Range;

/// How many bytes of an identifier or cursor are read at first.
const WORD: usize = 512;

/// The longest identifier or cursor that is taken; half a word would be another word.
const LONGEST_WORD: usize = 1024 * 1024;

/// The longest cursor that an address can carry, in percent-encoded bytes.
const LONGEST_CURSOR: usize = 56 * 1024;

/// Whether a report is only an abstract of the stored one: a run never loses attributes, nor most
/// of their content.
pub fn is_abstract(brought: &[u8], stored: &[u8]) -> bool {
    let is_shorter = brought.len() < stored.len();
    is_shorter && (brought.len() < stored.len() / 4 || attributes(brought) < attributes(stored))
}

/// The number of a report's attributes.
fn attributes(report: &[u8]) -> usize {
    let document = Raw::new(report.trim_ascii_start());
    let report = document.member("data").unwrap_or(document);
    report.member("attributes").map_or(0, |attributes| attributes.members().count())
}

/// One page of a file's sandbox reports.
#[derive(Debug, Clone, Default)]
pub struct Page {
    /// The entries in the order of the page.
    pub entries: Vec<PageEntry>,
    /// Entries that gave no identifier, and so cannot be asked for.
    pub nameless: usize,
    /// Entries whose type is that of something else than a behaviour report, and were left out.
    pub others: usize,
    /// Entries that name another file than the one asked about, and were left out.
    pub foreign: usize,
    /// What the service says in place of reports that it could not send, by entry.
    pub errors: Vec<String>,
    /// Opaque word that asks for the next page; none on the last.
    pub cursor: Option<Untrusted>,
    /// Whether there are more pages, and no way to them: such a word is longer than any that is taken, or there is an address of
    /// the next page without one.
    pub is_lost: bool,
    /// How many entries the service says there are over all pages.
    pub count: Option<u64>,
}

/// One sandbox of a page.
#[derive(Debug, Clone)]
pub struct PageEntry {
    /// What the report is asked for by.
    pub identifier: Identifier,
    /// Its byte range in the page's body.
    pub range: Range<usize>,
    /// The report, if it came with the page: it is paid for already.
    pub report: Option<Body>,
    pub verdict: Option<Untrusted>,
}

/// Why a body is no page.
#[derive(Debug, thiserror::Error)]
pub enum PageError {
    #[error("it is not JSON")]
    NotJson,
    /// It is JSON of another kind.
    #[error("it is JSON, but no list: `data` is not an array")]
    NotAList,
    /// It stops in the middle.
    #[error("it was cut short")]
    Cut,
}

impl Page {
    /// Reads a page.
    pub fn of(body: &Body) -> Result<Self, PageError> {
        Self::from_index(body, &Index::of(body))
    }

    /// Reads a page whose index is there already.
    pub fn from_index(body: &Body, index: &Index) -> Result<Self, PageError> {
        if !index.is_json {
            return Err(PageError::NotJson);
        }
        if index.is_cut {
            return Err(PageError::Cut);
        }
        if !index.is_page {
            return Err(PageError::NotAList);
        }
        let mut page = Self { nameless: index.left_out, ..Self::default() };
        for entry in &index.entries {
            let kind = entry.kind.map(|at| at as usize).filter(|at| is_text(body, *at)).map(|at| word(body, at));
            if kind.is_some_and(|kind| !kind.is_some_and(|kind| is_behaviour(&kind))) {
                page.others += 1;
                continue;
            }
            let error = entry.error.filter(|_| !entry.has_attributes);
            page.errors.extend(error.and_then(|at| error_words(Raw::new(body.window(at as usize..body.len())))));
            // An entry that is a word by itself is an identifier; one that is a number names nothing.
            let is_alone = entry.id == Some(entry.range.start);
            let id = entry.id.map(|at| at as usize).filter(|at| !is_alone || is_text(body, *at));
            let id = id.map(|at| word(body, at));
            let Some(identifier) = id.flatten().and_then(Identifier::new) else {
                page.nameless += 1;
                continue;
            };
            let range = entry.range.start as usize..entry.range.end as usize;
            let report = entry.has_attributes.then(|| body.slice(range.clone()));
            let verdict = report.as_ref().and_then(verdict::of_body);
            page.entries.push(PageEntry { identifier, range, report, verdict });
        }
        let is_said = |word: &Option<Untrusted>| word.as_ref().is_none_or(|word| !word.is_empty());
        let cursor = match member(body, index, "meta", "cursor").filter(is_said) {
            None => member(body, index, "links", "next").filter(is_said).map(|next| cursor_of(&next?)),
            cursor => cursor,
        };
        let cursor = cursor.map(|cursor| cursor.filter(is_carried));
        page.is_lost = cursor == Some(None);
        page.cursor = cursor.flatten();
        let count = member(body, index, "meta", "count").flatten();
        page.count = count.and_then(|count| std::str::from_utf8(count.as_bytes()).ok()?.parse().ok());
        Ok(page)
    }

    /// Reads a page that was asked for as one of this file's.
    pub fn of_file(body: &Body, file: &Sha256) -> Result<Self, PageError> {
        Ok(Self::of(body)?.without_others(file))
    }

    /// The same page without what names another file: a service that mixes files up costs its mistakes, and not the page.
    pub fn without_others(mut self, file: &Sha256) -> Self {
        let listed = self.entries.len();
        self.entries.retain(|entry| entry.identifier.parts().file.is_none_or(|named| named == *file));
        self.foreign += listed - self.entries.len();
        self
    }

    /// Says which entries are not shown, if there are any.
    pub fn left_out(&self) -> Option<String> {
        let left_out = self.passed_over().map(|(_, why)| format!("Left out of the list: {why}."));
        let failed = self.errors.first().map(|first| {
            let reports = count(self.errors.len() as u64, "report");
            format!("In place of {reports} the service sent an error: {first}.")
        });
        let all: Vec<_> = left_out.into_iter().chain(failed).collect();
        (!all.is_empty()).then(|| all.join(" "))
    }

    /// How many entries are no reports that can be shown, and why, in words; none where there are none.
    pub fn passed_over(&self) -> Option<(u64, String)> {
        let left_out = [
            (self.nameless, "entry", "without an identifier"),
            (self.others, "entry", "of another type than a behaviour report"),
            (self.foreign, "report", "of another file"),
        ];
        let said = left_out.into_iter().filter(|(entries, ..)| *entries > 0);
        let said: Vec<_> = said.map(|(n, what, why)| format!("{} {why}", count(n as u64, what))).collect();
        let entries = self.nameless + self.others + self.foreign;
        (entries > 0).then(|| (entries as u64, said.join(", ")))
    }
}

/// The words of the service's error object, of `code` and `message`.
pub(super) fn error_words(error: Raw<'_>) -> Option<String> {
    let word = |name| error.member(name).map(|word| word.text().visible_cut(200).to_string());
    match (word("code"), word("message")) {
        (Some(code), Some(message)) => Some(format!("{code}: {message}")),
        (code, message) => code.or(message),
    }
}

/// Whether a `type` is that of a behaviour report: the service has two words for it.
pub fn is_behaviour(kind: &Untrusted) -> bool {
    kind.as_bytes().ends_with(b"file_behaviour")
}

/// Why no page is asked for behind one that leads nowhere.
pub fn no_way_on() -> String {
    format!(
        "There are more pages, but the service's word for the next one is longer than {}, which no address carries back, or it gives none: no further page is asked for.",
        crate::text::bytes(LONGEST_CURSOR as u64)
    )
}

/// The cursor in the query of a page's address. The rest of the address is ignored and never
/// requested.
pub(crate) fn cursor_of(address: &Untrusted) -> Option<Untrusted> {
    let address = address.as_bytes().split(|byte| *byte == b'#').next()?;
    let query = address.splitn(2, |byte| *byte == b'?').nth(1)?;
    let found = query.split(|byte| *byte == b'&').find_map(|pair| pair.strip_prefix(b"cursor="))?;
    let spaced: Vec<u8> = found.iter().map(|byte| if *byte == b'+' { b' ' } else { *byte }).collect();
    let cursor: Vec<u8> = percent_decode(&spaced).collect();
    Some(Untrusted::from(cursor)).filter(|cursor| !cursor.is_empty())
}

/// Whether a cursor fits in an address, where each byte may take three.
fn is_carried(cursor: &Untrusted) -> bool {
    percent_encode(cursor.as_bytes(), NON_ALPHANUMERIC).map(str::len).sum::<usize>() <= LONGEST_CURSOR
}

/// Whether what stands here is a string.
fn is_text(body: &Body, at: usize) -> bool {
    body.get(at) == Some(&b'"')
}

/// A word, if it is not longer than any word can be.
fn word(body: &Body, at: usize) -> Option<Untrusted> {
    let raw = Raw::new(body.window(at..at + LONGEST_WORD));
    let is_whole = raw.bytes().len() < raw.length_to_end() || at + LONGEST_WORD >= body.len();
    is_whole.then(|| raw.text())
}

/// A member of an object beside the page's entries, if it is there, and its word, if that is not too long; null counts as absent.
fn member(body: &Body, index: &Index, of: &str, name: &str) -> Option<Option<Untrusted>> {
    let objects = index.sections.iter().filter(|s| s.name.as_bytes() == of.as_bytes() && s.form == Form::Object);
    for start in objects.flat_map(|section| (0..section.len()).filter_map(|row| section.start(row))) {
        let start = start as usize;
        let bytes = body.window(start..start + WORD);
        let found = Raw::new(bytes);
        if found.text().as_bytes() == name.as_bytes() {
            let after = start + bytes.len() - found.length_to_end() + found.bytes().len();
            let word = word(body, after);
            let is_null = word.as_ref().is_some_and(|text| text.as_bytes() == b"null");
            return if is_null { None } else { Some(word) };
        }
    }
    None
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
        assert_eq!((found.nameless, found.count), (1, Some(9)));
        assert_eq!(found.cursor, Some(Untrusted::from("n==")));
        assert_eq!(found.left_out().unwrap(), "Left out of the list: 1 entry without an identifier.");
        let report = found.entries[0].report.clone().unwrap();
        let sections = Index::of(&report).sections;
        assert!(sections.iter().any(|section| section.name == Untrusted::from("tags")));
    }

    #[test]
    fn an_error_in_place_of_a_report_is_named_and_its_identifier_listed() {
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
            assert_eq!(page(&format!(r#"{{"data":[]{meta}}}"#)).unwrap().cursor, None, "{meta}");
        }
    }

    #[test]
    fn the_address_of_the_next_page_is_read_for_its_cursor_only() {
        let next = |links: &str| {
            let page =
                page(&format!(r#"{{"data":[],"links":{{"self":"http://h/?cursor=s",{links}}},"meta":{{"count":9}}}}"#))
                    .unwrap();
            (page.cursor, page.is_lost)
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
        assert_eq!(page(both).unwrap().cursor, Some(Untrusted::from("this")));
    }

    #[test]
    fn what_is_no_page_says_why() {
        assert!(matches!(page("<html>"), Err(PageError::NotJson)));
        assert!(matches!(page(r#"{"data":{"id":"x"}}"#), Err(PageError::NotAList)));
        assert!(matches!(page(r#"{"data":[{"id":"x"}"#), Err(PageError::Cut)));
    }
}
