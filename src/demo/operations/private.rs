//! Private files and their reports (§4.1, §4.2).

use std::collections::BTreeMap;
use std::ops::Range;

use hyper::header::{CONTENT_RANGE, HeaderValue};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::Context;
use crate::demo::answers::{self, Answer, Refusal};
use crate::demo::pieces::Pieces;
use crate::demo::reports::{Attributes, PrivateFile, Report, digest};
use crate::demo::routes::Paging;
use crate::demo::{FaultKind, Listing};

/// Lines of a memory image: six mebibytes.
const MEMORY_LINES: usize = 6 * 65_536;

/// How long a private file is kept after the start, in seconds: twenty days.
const RETENTION: i64 = 20 * 86_400;

pub(super) fn behaviour(id: &str, context: &Context) -> Result<Answer, Refusal> {
    let (_, report) = find_report(id, context)?;
    let parts = vec![Pieces::whole("{\"data\":"), entry(report, Listing::Attributes, context), Pieces::whole("}")];
    Ok(answers::typed("application/json", Pieces::joined(parts)))
}

/// A report as a list or an envelope holds it.
fn entry(report: &Report, listing: Listing, context: &Context) -> Pieces {
    let link = context.link(&format!("private/file_behaviours/{}", report.id));
    let rest = json!({ "id": report.id, "links": { "self": link }, "type": report.kind }).to_string();
    match listing {
        Listing::Identifiers => Pieces::whole(rest),
        Listing::Attributes => {
            let rest = rest.replacen('{', ",", 1);
            Pieces::joined(vec![Pieces::whole("{\"attributes\":"), report.attributes.pieces(), Pieces::whole(rest)])
        }
    }
}

pub(super) fn list(sha256: &str, paging: &Paging, context: &Context) -> Result<Answer, Refusal> {
    collection(sha256, "behaviours", paging, context.service.options.listing, context)
}

pub(super) fn identifiers(sha256: &str, paging: &Paging, context: &Context) -> Result<Answer, Refusal> {
    collection(sha256, "relationships/behaviours", paging, Listing::Identifiers, context)
}

fn collection(
    sha256: &str,
    path: &str,
    paging: &Paging,
    listing: Listing,
    context: &Context,
) -> Result<Answer, Refusal> {
    let file = find_file(sha256, context)?;
    let page = Page::of(file, paging, context)?;
    let first = format!("private/files/{sha256}/{path}?limit={}", paging.limit);
    let link = |cursor: &Option<String>| match cursor {
        None => context.link(&first),
        Some(cursor) => context.link(&format!("{first}&cursor={cursor}")),
    };
    let mut meta = json!({ "count": file.reports.len() });
    let mut links = json!({ "self": link(&paging.cursor) });
    if page.next.is_some() {
        insert(&mut meta, "cursor", json!(page.next));
        insert(&mut links, "next", json!(link(&page.next)));
    }
    let mut parts = vec![Pieces::whole("{\"data\":[")];
    let mixed_in = (context.fault == Some(&FaultKind::Mixed)).then(|| context.service.archive.stranger_to(sha256));
    let mixed_in = mixed_in.flatten().and_then(|stranger| stranger.reports.first());
    let own = file.reports.get(page.rows).unwrap_or_default();
    for (number, report) in mixed_in.into_iter().chain(own).enumerate() {
        parts.push(Pieces::whole(if number > 0 { "," } else { "" }));
        parts.push(entry(report, listing, context));
    }
    parts.push(Pieces::whole(format!("],\"meta\":{meta},\"links\":{links}}}")));
    Ok(answers::typed("application/json", Pieces::joined(parts)))
}

fn insert(object: &mut Value, name: &str, value: Value) {
    if let Some(object) = object.as_object_mut() {
        object.insert(name.to_owned(), value);
    }
}

/// One page of a list of reports.
struct Page {
    rows: Range<usize>,
    next: Option<String>,
}

impl Page {
    fn of(file: &PrivateFile, paging: &Paging, context: &Context) -> Result<Page, Refusal> {
        let count = file.reports.len();
        let start = match &paging.cursor {
            None => 0,
            Some(cursor) => (0..=count)
                .find(|row| cursor_at(file, *row) == *cursor)
                .ok_or_else(|| Refusal::bad_argument("Invalid cursor"))?,
        };
        let end = count.min(start + paging.limit.min(context.service.options.page).max(1));
        let next = match context.fault {
            Some(FaultKind::SameCursor) => Some(if start == 0 { end } else { start }),
            Some(FaultKind::CyclicCursor) => Some(if start == 0 { end } else { 0 }),
            _ => Some(end).filter(|end| *end < count),
        };
        Ok(Page { rows: start..end, next: next.map(|row| cursor_at(file, row)) })
    }
}

/// The cursor of the page that starts at a row: opaque, so that nobody is tempted to count with it.
fn cursor_at(file: &PrivateFile, row: usize) -> String {
    digest(&format!("{row} of {}", file.sha256)).split_off(40)
}

pub(super) fn file(sha256: &str, context: &Context) -> Result<Answer, Refusal> {
    let file = find_file(sha256, context)?;
    let mut object = file.object.clone();
    if let Some(attributes) = object.get_mut("attributes") {
        insert(attributes, "expiration", json!(context.service.started + RETENTION));
    }
    let link = context.link(&format!("private/files/{sha256}"));
    insert(&mut object, "links", json!({ "self": link }));
    Ok(answers::json(&json!({ "data": object })))
}

/// All reports of a file in one: lists are joined, of scalars the first is kept, and a report that
/// no strict reader takes is left out.
pub(super) fn summary(sha256: &str, context: &Context) -> Result<Answer, Refusal> {
    let file = find_file(sha256, context)?;
    let mut summary = Map::new();
    for report in &file.reports {
        match &report.attributes {
            Attributes::Generated(_) => {
                let parts = vec![Pieces::whole("{\"data\":"), report.attributes.pieces(), Pieces::whole("}")];
                return Ok(answers::typed("application/json", Pieces::joined(parts)));
            }
            Attributes::Embedded(raw) => merge(&mut summary, serde_json::from_str(raw.get()).unwrap_or_default()),
        }
    }
    Ok(answers::json(&json!({ "data": summary })))
}

fn merge(summary: &mut Map<String, Value>, attributes: Map<String, Value>) {
    for (name, value) in attributes {
        match (summary.get_mut(&name), value) {
            (Some(Value::Array(held)), Value::Array(more)) => {
                for item in more {
                    if !held.contains(&item) {
                        held.push(item);
                    }
                }
            }
            (None, value) => drop(summary.insert(name, value)),
            _ => {}
        }
    }
}

pub(super) fn analysis(id: &str, context: &Context) -> Result<Answer, Refusal> {
    let file = context.service.archive.files.iter().find(|file| analysis_id(file) == id);
    let file = file.ok_or_else(|| Refusal::not_found("Analysis", id))?;
    let link = context.link(&format!("private/analyses/{id}"));
    Ok(answers::object("private_analysis", id, &link, &analysis_attributes(file)))
}

/// How far the analysis of an embedded file is; it stays there.
pub(super) fn analysis_attributes(file: &PrivateFile) -> Value {
    let status = if file.reports.is_empty() { "in-progress" } else { "completed" };
    let mut sandboxes: Map<String, Value> =
        file.reports.iter().map(|report| (report.id.clone(), json!({ "status": "completed" }))).collect();
    if file.reports.is_empty() {
        let waiting = json!({ "status": "queued", "message": "Waiting for a machine" });
        sandboxes.insert("Zenbox".to_owned(), waiting);
    }
    json!({ "date": 1_794_474_845, "status": status, "sandbox_status": sandboxes })
}

/// The identifier of a private file's analysis.
pub(super) fn analysis_id(file: &PrivateFile) -> String {
    format!("{}-private", file.sha256.get(..32).unwrap_or_default())
}

/// A report's HTML page, capture, event log or memory image: made up, harmless, and served in ranges.
pub(super) fn artefact(id: &str, kind: &str, range: Option<&str>, context: &Context) -> Result<Answer, Refusal> {
    let (_, report) = find_report(id, context)?;
    let (attribute, content_type, bytes) = match kind {
        "html" => (
            "has_html_report",
            "text/html; charset=utf-8",
            b"<!doctype html><title>Report</title><p>A made-up report.</p>".to_vec(),
        ),
        "pcap" => ("has_pcap", "application/vnd.tcpdump.pcap", pcap()),
        "evtx" => ("has_evtx", "application/octet-stream", padded(b"ElfFile\0", 4_096)),
        _ => ("has_memdump", "application/octet-stream", memory()),
    };
    if !claims(report, attribute) {
        return Err(Refusal::not_found("File", &format!("{id}/{kind}")));
    }
    ranged(range, content_type, bytes)
}

/// Whether a report says `"attribute": true`.
fn claims(report: &Report, attribute: &str) -> bool {
    match &report.attributes {
        Attributes::Generated(_) => attribute == "has_pcap",
        Attributes::Embedded(raw) => {
            let attributes: BTreeMap<String, &RawValue> = serde_json::from_str(raw.get()).unwrap_or_default();
            attributes.get(attribute).is_some_and(|value| value.get() == "true")
        }
    }
}

/// A capture with no packets in it: header of version 2.4, Ethernet.
fn pcap() -> Vec<u8> {
    [0xd4, 0xc3, 0xb2, 0xa1, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0, 0, 1, 0, 0, 0].to_vec()
}

/// Lines of sixteen bytes that say where they stand: no two are the same.
fn memory() -> Vec<u8> {
    (0..MEMORY_LINES).flat_map(|line| format!("{:08x} memory\n", line * 16).into_bytes()).collect()
}

fn padded(start: &[u8], length: usize) -> Vec<u8> {
    let mut bytes = start.to_vec();
    bytes.resize(length, 0);
    bytes
}

fn ranged(range: Option<&str>, content_type: &'static str, bytes: Vec<u8>) -> Result<Answer, Refusal> {
    let total = bytes.len();
    let Some(wanted) = range.and_then(|range| byte_range(range, total)) else {
        return Ok(answers::typed(content_type, Pieces::whole(bytes)));
    };
    let Some(part) = bytes.get(wanted.clone()).filter(|part| !part.is_empty()) else {
        return Err(Refusal::new(416, "InvalidArgumentError", "Range not satisfiable"));
    };
    let answer = answers::with_status(206, answers::typed(content_type, Pieces::whole(part.to_vec())));
    let described = format!("bytes {}-{}/{total}", wanted.start, wanted.end - 1);
    let value = HeaderValue::from_str(&described).unwrap_or(HeaderValue::from_static("bytes"));
    Ok(answers::with_header(CONTENT_RANGE, value, answer))
}

/// Reads `bytes=0-99`, `bytes=100-` and `bytes=-100`; anything else is ignored, as HTTP allows.
fn byte_range(header: &str, total: usize) -> Option<Range<usize>> {
    let (first, last) = header.strip_prefix("bytes=")?.split_once('-')?;
    match (first, last) {
        ("", last) => Some(total.saturating_sub(last.parse().ok()?)..total),
        (first, "") => Some(first.parse().ok()?..total),
        (first, last) => Some(first.parse().ok()?..total.min(last.parse::<usize>().ok()?.checked_add(1)?)),
    }
}

/// A file that is embedded or was submitted, deleted or not.
pub(super) fn known_file<'a>(sha256: &str, context: &'a Context) -> Result<&'a PrivateFile, Refusal> {
    let found = context.books.scans.file(sha256).or_else(|| context.service.archive.file(sha256));
    found.ok_or_else(|| Refusal::not_found("File", sha256))
}

/// Refuses what was deleted; a file's reports can outlive it.
pub(super) fn check_there(sha256: &str, with_reports: bool, context: &Context) -> Result<(), Refusal> {
    let is_deleted = context.books.scans.is_deleted(sha256, with_reports);
    if is_deleted { Err(Refusal::not_found("File", sha256)) } else { Ok(()) }
}

fn find_file<'a>(sha256: &str, context: &'a Context) -> Result<&'a PrivateFile, Refusal> {
    check_there(sha256, true, context)?;
    known_file(sha256, context)
}

fn find_report<'a>(id: &str, context: &'a Context) -> Result<(&'a PrivateFile, &'a Report), Refusal> {
    let found = context.books.scans.report(id).or_else(|| context.service.archive.report(id));
    let (file, report) = found.ok_or_else(|| Refusal::not_found("File behaviour", id))?;
    check_there(&file.sha256, true, context)?;
    Ok((file, report))
}
