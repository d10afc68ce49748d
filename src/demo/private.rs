//! Private files, their reports (§4.1, §4.2) and scans: each poll takes an analysis a step further.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::ListContent;
use super::http::{DemoResponse, DemoResult, SubmittedFile, set};
use super::reports::{self, DemoReport, PrivateFile, digest};
use super::service::Context;

/// Lines of a memory image: six mebibytes.
const MEMORY_LINES: usize = 6 * 65_536;

/// A capture without packets: header of version 2.4, Ethernet.
const EMPTY_PCAP: [u8; 24] = [0xd4, 0xc3, 0xb2, 0xa1, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0, 0, 1, 0, 0, 0];

/// Longest retention of an embedded file from the start, in seconds: twenty days.
const RETENTION: i64 = 20 * DAY;

const DAY: i64 = 86_400;

/// Number of polls until an analysis's first sandbox is done; each further one takes one more.
const FIRST_DONE: u64 = 2;

/// Parses the identifier of a private file, which is its SHA-256 only.
fn sha256(id: &str) -> Result<String, DemoResponse> {
    let is_valid = id.len() == 64 && id.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_valid
        .then(|| id.to_ascii_lowercase())
        .ok_or_else(|| DemoResponse::bad_argument(format!("\"{id}\" is not a SHA-256")))
}

pub(super) fn behaviour(id: &str, context: &mut Context) -> DemoResult {
    let (_, report) = find_report(id, context)?;
    Ok(DemoResponse::json(format!("{{\"data\":{}}}", entry(report, ListContent::Attributes, context))))
}

/// Returns a report in the form of a list or of an envelope.
fn entry(report: &DemoReport, listing: ListContent, context: &Context) -> String {
    let link = context.link(&format!("private/file_behaviours/{}", report.id));
    let rest = json!({ "id": report.id, "links": { "self": link }, "type": report.kind }).to_string();
    match listing {
        ListContent::Identifiers => rest,
        ListContent::Attributes => {
            format!("{{\"attributes\":{}{}", report.attributes.get(), rest.replacen('{', ",", 1))
        }
    }
}

pub(super) fn list(id: &str, context: &mut Context) -> DemoResult {
    collection(id, "behaviours", context.service.options.listing, context)
}

pub(super) fn identifiers(id: &str, context: &mut Context) -> DemoResult {
    collection(id, "relationships/behaviours", ListContent::Identifiers, context)
}

fn collection(id: &str, path: &str, listing: ListContent, context: &Context) -> DemoResult {
    let sha256 = &sha256(id)?;
    let reports = &find_file(sha256, context)?.reports;
    let one = |row: usize| reports.get(row).map(|report| entry(report, listing, context)).unwrap_or_default();
    page(&format!("private/files/{sha256}/{path}"), "", reports.len(), one, context)
}

/// Answers with one page of a list of `count` objects at a path.
fn page(path: &str, order: &str, count: usize, object: impl Fn(usize) -> String, context: &Context) -> DemoResult {
    let limit = context.call.value("limit").unwrap_or("10");
    let limit = limit.parse().ok().filter(|limit| (1..=40).contains(limit));
    let limit: usize = limit.ok_or_else(|| DemoResponse::bad_argument("invalid limit"))?;
    let cursor = context.call.value("cursor");
    let start = match cursor {
        None => 0,
        Some(cursor) => (0..=count)
            .find(|row| cursor_at(path, *row) == cursor)
            .ok_or_else(|| DemoResponse::bad_argument("Invalid cursor"))?,
    };
    let end = count.min(start + limit.min(context.service.options.page).max(1));
    let first = format!("{path}?limit={limit}{order}");
    let link = |cursor: &str| context.link(&format!("{first}&cursor={cursor}"));
    let mut meta = json!({ "count": count });
    let mut links = json!({ "self": cursor.map_or_else(|| context.link(&first), link) });
    if end < count {
        let next = cursor_at(path, end);
        set(&mut links, "next", link(&next));
        set(&mut meta, "cursor", next);
    }
    let entries: Vec<_> = (start..end).map(object).collect();
    Ok(DemoResponse::json(format!("{{\"data\":[{}],\"meta\":{meta},\"links\":{links}}}", entries.join(","))))
}

/// Returns the cursor of the page that starts at a row, opaque to prevent calculations.
fn cursor_at(path: &str, row: usize) -> String {
    digest(format!("{row} of {path}")).split_off(40)
}

/// Answers with the files that were not deleted, ordered by their hash.
pub(super) fn files(_: &str, context: &mut Context) -> DemoResult {
    let scans = &context.state.scans;
    let all = every_file(context).rev().map(|file| (&file.sha256, file));
    let all: BTreeMap<_, _> = all.filter(|(sha256, _)| !scans.deleted.contains_key(*sha256)).collect();
    let all: Vec<_> = all.into_values().collect();
    let object = |row: usize| all.get(row).map(|file| file_object(file, context).to_string()).unwrap_or_default();
    page("private/files", "", all.len(), object, context)
}

/// Answers with the analyses of the group, the last one first.
pub(super) fn group_analyses(_: &str, context: &mut Context) -> DemoResult {
    let order = context.call.value("order").map(|order| format!("&order={order}"));
    let own = context.state.scans.analyses.iter().rev();
    let own = own.map(|analysis| (analysis.id.clone(), analysis.file.clone(), analysis.attributes()));
    let embedded = context.service.archive.iter();
    let embedded = embedded.map(|file| (analysis_id(file), file.sha256.clone(), analysis_attributes(file)));
    let all: Vec<_> = own.chain(embedded).collect();
    let object = |row: usize| {
        let Some((id, file, attributes)) = all.get(row) else { return String::new() };
        let link = |path: &str| context.link(&format!("private/{path}"));
        let links = json!({ "self": link(&format!("analyses/{id}")), "item": link(&format!("files/{file}")) });
        json!({ "id": id, "type": "private_analysis", "attributes": attributes, "links": links }).to_string()
    };
    page("private/analyses", &order.unwrap_or_default(), all.len(), object, context)
}

pub(super) fn file(id: &str, context: &mut Context) -> DemoResult {
    let object = file_object(find_file(&sha256(id)?, context)?, context);
    Ok(DemoResponse::json(json!({ "data": object }).to_string()))
}

/// Builds the object of a file, with its links and its expiration.
fn file_object(file: &PrivateFile, context: &Context) -> Value {
    let mut object = file.object.clone();
    let submitted = context.state.scans.expirations.get(&file.sha256).copied();
    if let Some(attributes) = object.get_mut("attributes") {
        // The first embedded file stays longest, so that something always expires soon.
        let place = context.service.archive.iter().position(|other| other.sha256 == file.sha256).unwrap_or(0) as i64;
        let embedded = context.service.started + RETENTION / (place * place + 1);
        set(attributes, "expiration", submitted.unwrap_or(embedded));
    }
    set(&mut object, "links", json!({ "self": context.link(&format!("private/files/{}", file.sha256)) }));
    object
}

/// Returns the state of an embedded file's analysis, which never changes.
fn analysis_attributes(file: &PrivateFile) -> Value {
    let status = if file.reports.is_empty() { "in-progress" } else { "completed" };
    let done = |report: &DemoReport| (report.id.clone(), json!({ "status": "completed" }));
    let mut sandboxes: Map<String, Value> = file.reports.iter().map(done).collect();
    if file.reports.is_empty() {
        sandboxes.insert("Zenbox".to_owned(), json!({ "status": "queued", "message": "Waiting for a machine" }));
    }
    json!({ "date": 1_794_474_845, "status": status, "sandbox_status": sandboxes })
}

fn analysis_id(file: &PrivateFile) -> String {
    format!("{}-private", file.sha256.get(..32).unwrap_or_default())
}

/// Serves a report's page, capture, event log or memory image: made up, harmless.
pub(super) fn artifact(id: &str, context: &mut Context) -> DemoResult {
    let (_, report) = find_report(id, context)?;
    let kind = context.call.segments.last().map_or("", String::as_str);
    let (attribute, content_type, bytes) = match kind {
        "html" => (
            "has_html_report",
            "text/html; charset=utf-8",
            b"<!doctype html><title>Report</title><p>A made-up report.</p>".to_vec(),
        ),
        "pcap" => ("has_pcap", "application/vnd.tcpdump.pcap", EMPTY_PCAP.to_vec()),
        "evtx" => ("has_evtx", "application/octet-stream", [b"ElfFile\0".as_slice(), &[0; 4_088]].concat()),
        _ => {
            // Lines of sixteen bytes that name their offset: no two are the same.
            let lines = (0..MEMORY_LINES).flat_map(|line| format!("{:08x} memory\n", line * 16).into_bytes());
            ("has_memdump", "application/octet-stream", lines.collect())
        }
    };
    let attributes: BTreeMap<String, &RawValue> = serde_json::from_str(report.attributes.get()).unwrap_or_default();
    if attributes.get(attribute).is_none_or(|value| value.get() != "true") {
        return Err(DemoResponse::not_found("File", &format!("{id}/{kind}")));
    }
    Ok(DemoResponse::new(content_type, bytes))
}

/// Returns the submitted files, then the embedded ones, deleted or not.
fn every_file<'a>(context: &'a Context) -> impl DoubleEndedIterator<Item = &'a PrivateFile> {
    context.state.scans.files.iter().chain(&context.service.archive)
}

fn known_file<'a>(sha256: &str, context: &'a Context) -> Result<&'a PrivateFile, DemoResponse> {
    every_file(context).find(|file| file.sha256 == sha256).ok_or_else(|| DemoResponse::not_found("File", sha256))
}

/// Returns a file whose reports were not deleted; they can outlive it.
fn find_file<'a>(sha256: &str, context: &'a Context) -> Result<&'a PrivateFile, DemoResponse> {
    let are_reports_deleted = context.state.scans.deleted.get(sha256) == Some(&false);
    if are_reports_deleted { Err(DemoResponse::not_found("File", sha256)) } else { known_file(sha256, context) }
}

fn find_report<'a>(id: &str, context: &'a Context) -> Result<(&'a PrivateFile, &'a DemoReport), DemoResponse> {
    let mut reports = every_file(context).flat_map(|file| file.reports.iter().map(move |report| (file, report)));
    let found = reports.find(|(_, report)| report.id == id);
    let (file, report) = found.ok_or_else(|| DemoResponse::not_found("File behaviour", id))?;
    find_file(&file.sha256, context)?;
    Ok((file, report))
}

/// Issues the upload address of a large file.
pub(super) fn upload_url(_: &str, context: &mut Context) -> DemoResult {
    let scans = &mut context.state.scans;
    scans.handed_out += 1;
    let ticket = digest(format!("{} {}", context.service.key, scans.handed_out));
    scans.tickets.insert(ticket.clone());
    Ok(DemoResponse::json(json!({ "data": format!("{}/large/{ticket}", context.service.root) }).to_string()))
}

/// Accepts a file; the ticket is that of an upload address, or empty.
pub(super) fn scan(ticket: &str, context: &mut Context) -> DemoResult {
    let submitted = SubmittedFile { fields: context.call.parameters.clone(), ..context.call.upload()?.clone() };
    let SubmittedFile { sha256, name, size, .. } = submitted.clone();
    let now = context.state.clock.seconds();
    let scans = &mut context.state.scans;
    if !ticket.is_empty() && !scans.tickets.remove(ticket) {
        return Err(DemoResponse::error(403, "ForbiddenError", "This address was not handed out, or was used"));
    }
    scans.deleted.remove(&sha256);
    if scans.files.iter().all(|file| file.sha256 != sha256) {
        let object = json!({
            "id": sha256,
            "type": "private_file",
            "attributes": { "sha256": sha256, "size": size, "names": [name], "meaningful_name": name },
        });
        scans.files.push(PrivateFile { object, sha256: sha256.clone(), reports: Vec::new() });
    }
    let id = format!("{}-scan{}", sha256.get(..32).unwrap_or_default(), scans.analyses.len() + 1);
    let reports = reports::made_for(&sha256, &context.service.archive, now);
    let days = context.call.value("retention_period_days").and_then(|days| days.parse::<u8>().ok());
    scans.expirations.insert(sha256.clone(), now + i64::from(days.unwrap_or(1)) * DAY);
    scans.submitted.push(submitted);
    scans.analyses.push(DemoAnalysis { id: id.clone(), file: sha256, size, begun: now, polls: 0, reports });
    let link = context.link(&format!("private/analyses/{id}"));
    Ok(DemoResponse::object("private_analysis", &id, &link, None))
}

/// Returns the last analysis of a file; a list, as relationships are.
pub(super) fn analyses(id: &str, context: &mut Context) -> DemoResult {
    let sha256 = &sha256(id)?;
    let last = context.state.scans.analyses.iter().rfind(|analysis| analysis.file == *sha256);
    let body = if let Some(id) = last.map(|analysis| analysis.id.clone()) {
        let polled = context.state.scans.poll(&id).unwrap_or_default();
        json!({ "data": [polled.get("data")], "meta": polled.get("meta") })
    } else {
        let file = known_file(sha256, context)?;
        let attributes = analysis_attributes(file);
        json!({ "data": [{ "id": analysis_id(file), "type": "private_analysis", "attributes": attributes }] })
    };
    Ok(DemoResponse::json(body.to_string()))
}

/// Returns an analysis of a submitted file, or of an embedded one.
pub(super) fn analysis(id: &str, context: &mut Context) -> DemoResult {
    if let Some(polled) = context.state.scans.poll(id) {
        return Ok(DemoResponse::json(polled.to_string()));
    }
    let file = context.service.archive.iter().find(|file| analysis_id(file) == id);
    let file = file.ok_or_else(|| DemoResponse::not_found("Analysis", id))?;
    let link = context.link(&format!("private/analyses/{id}"));
    Ok(DemoResponse::object("private_analysis", id, &link, Some(analysis_attributes(file))))
}

pub(super) fn delete(id: &str, context: &mut Context) -> DemoResult {
    let sha256 = &sha256(id)?;
    let file = known_file(sha256, context).map(drop);
    let scans = &mut context.state.scans;
    file.and(if scans.deleted.contains_key(sha256) { Err(DemoResponse::not_found("File", sha256)) } else { Ok(()) })?;
    let only_from_storage = context.call.value("only_from_storage") == Some("true");
    scans.deleted.insert(sha256.clone(), only_from_storage);
    if !only_from_storage {
        scans.files.retain(|file| file.sha256 != *sha256);
        scans.analyses.retain(|analysis| analysis.file != *sha256);
    }
    Ok(DemoResponse::json(""))
}

struct DemoAnalysis {
    id: String,
    file: String,
    size: u64,
    begun: i64,
    polls: u64,
    /// The reports of the sandboxes, in the order of completion.
    reports: Vec<DemoReport>,
}

#[derive(Default)]
pub(super) struct Scans {
    pub(crate) submitted: Vec<SubmittedFile>,
    files: Vec<PrivateFile>,
    analyses: Vec<DemoAnalysis>,
    /// When submitted files expire, in Unix seconds.
    expirations: BTreeMap<String, i64>,
    /// Number of issued tickets, each for one upload, and the unused ones.
    handed_out: usize,
    tickets: BTreeSet<String>,
    /// The deletions by file: whether the reports stay.
    deleted: BTreeMap<String, bool>,
}

impl Scans {
    /// Polls an analysis and lists finished sandboxes.
    fn poll(&mut self, id: &str) -> Option<Value> {
        let analysis = self.analyses.iter_mut().find(|analysis| analysis.id == id)?;
        analysis.polls += 1;
        if let Some(file) = self.files.iter_mut().find(|file| file.sha256 == analysis.file) {
            for (_, report) in (FIRST_DONE..).zip(&analysis.reports).filter(|(done_at, _)| analysis.polls >= *done_at) {
                if file.reports.iter().all(|known| known.id != report.id) {
                    file.reports.push(report.clone());
                }
            }
        }
        Some(json!({
            "data": { "id": id, "type": "private_analysis", "attributes": analysis.attributes() },
            "meta": { "file_info": { "sha256": analysis.file, "size": analysis.size } },
        }))
    }
}

impl DemoAnalysis {
    /// Returns the attributes after the polls so far; to list it is no poll.
    fn attributes(&self) -> Value {
        let polls = self.polls;
        let status = match polls {
            _ if polls + 1 >= FIRST_DONE + self.reports.len() as u64 => "completed",
            1 => "queued",
            _ => "in-progress",
        };
        let runs = (FIRST_DONE..).zip(&self.reports).map(|(done_at, report)| (report.id.clone(), run(polls, done_at)));
        let sandboxes: Map<String, Value> = runs.collect();
        json!({ "date": self.begun, "status": status, "sandbox_status": sandboxes })
    }
}

/// Returns the state of a sandbox after `polls` polls, if it is done at poll `done_at`.
fn run(polls: u64, done_at: u64) -> Value {
    match polls {
        _ if polls >= done_at => json!({ "status": "completed" }),
        0 | 1 => json!({ "status": "queued" }),
        _ => {
            let percent = 100 * (polls - 1) / done_at.saturating_sub(1).max(1);
            json!({ "status": "in-progress", "in_progress_percent": percent, "message": "Watching what it does" })
        }
    }
}
