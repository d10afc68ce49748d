//! Reports that were saved by any tool: a bare object, an envelope, a list page, a behaviour summary.

use super::Failed;
use crate::app::Here;
use crate::export::file;
use crate::files;
use crate::report::body::{LARGEST, WINDOW};
use crate::report::identifier::{Identifier, Sha256};
use crate::report::json::{Event, Scanner};
use crate::report::page::{Page, PageError};
use crate::report::{Body, Index, Indexer, Report};
use crate::text::{self, Untrusted};
use anyhow::Context;
use clap::builder::{OsStringValueParser, TypedValueParser};
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

/// The name that stands for standard input.
pub(super) const STANDARD_INPUT: &str = "-";

/// How much of a pipe is read before it is known to begin like a report, in bytes.
const FIRST_LOOK: u64 = 64 * 1024;

/// The most that is taken from a pipe, in bytes: it is kept in memory.
const LARGEST_PIPED: u64 = 1 << 30;

/// How long somebody may take to write to a pipe before it is said that it is waited for.
const SOON: Duration = Duration::from_secs(1);

/// A document's reports.
pub(super) struct Document {
    /// Its name, for the title.
    pub(super) name: String,
    /// Each report with what it calls itself.
    pub(super) reports: Vec<(Option<Identifier>, Here)>,
}

impl Document {
    /// What it calls itself where nothing in it is a behaviour report.
    fn other(&self) -> Option<String> {
        let kinds = self.reports.iter().map(|(_, here)| other_kind(&here.body));
        kinds.collect::<Option<Vec<_>>>()?.into_iter().next()
    }

    /// Refuses it where nothing in it is a behaviour report.
    pub(super) fn refuse_if_other(&self) -> anyhow::Result<()> {
        let Some(kind) = self.other() else { return Ok(()) };
        let words =
            format!("{} is no behaviour report{kind}: leave it out to compare the others", text::said(&self.name));
        Err(Failed::bad_answer(text::own(&words)).into())
    }

    /// Its name, and what it is where it is no behaviour report.
    pub(super) fn titled(&self) -> String {
        // A title has no room for more.
        let short = |kind: String| kind.replace(", but of type", ":");
        self.other().map_or_else(|| self.name.clone(), |kind| format!("{} (no report{})", self.name, short(kind)))
    }

    /// Says of a document that is no behaviour report what it is, and what can be done with it all the same.
    pub(super) fn say_if_other(&self) {
        for (_, here) in &self.reports {
            let Some(kind) = other_kind(&here.body) else { continue };
            let words = format!(
                "{} is no behaviour report{kind}: show prints it as it is, export writes it as the pane other and finds no \
                 indicator in it, and open shows it",
                text::said(&self.name)
            );
            // What was asked for is worth more than the remark about it.
            let _ = writeln!(std::io::stderr(), "behaview: {}", text::own(&words));
            break;
        }
    }
}

/// What a document that is no behaviour report calls itself, in words; none for a report, which is read no further than to what
/// says that it is one.
fn other_kind(body: &Body) -> Option<String> {
    let (mut indexer, mut report) = (Indexer::default(), Report::unread(body.clone()));
    for window in body.chunks(WINDOW) {
        indexer.feed(window);
        report.absorb(indexer.take());
        if report.is_behaviour() {
            return None;
        }
    }
    report.absorb(indexer.finish());
    let kind = report.kind().filter(|kind| !kind.is_empty());
    let words = kind.map(|kind| format!(", but of type \"{}\"", kind.visible_cut(40))).unwrap_or_default();
    (!report.is_behaviour()).then_some(words)
}

/// Takes a path from the command line as it is typed anywhere: a quoted `~` has been told to no shell.
pub(super) fn path() -> impl TypedValueParser<Value = PathBuf> {
    OsStringValueParser::new().map(file::typed)
}

/// What an argument names of the service's; none where it names a document. What is no text can only be a file's name.
pub(super) fn services(argument: &OsStr) -> Option<&str> {
    argument.to_str().filter(|text| !is_document(text))
}

/// Whether an argument names a document rather than something of the service's.
///
/// Samples are often named by their hash: what looks like the service's is the service's, and `./` before it says otherwise.
fn is_document(argument: &str) -> bool {
    let is_services = argument.get(..Sha256::LENGTH).is_some_and(|hash| Sha256::parse(hash).is_some());
    argument == STANDARD_INPUT
        || !is_services && (Path::new(argument).exists() && !Path::new(argument).is_dir() || is_path(argument))
}

/// Whether an argument can only be a path, be there such a file or not.
fn is_path(argument: &str) -> bool {
    argument.contains(std::path::MAIN_SEPARATOR) || argument.ends_with(".json")
}

/// Reads a document. A single report is looked at only as far as is needed to know that it is one.
pub(super) fn read(path: impl AsRef<Path>) -> anyhow::Result<Document> {
    document(path.as_ref(), &body(path.as_ref())?)
}

/// A document whose bytes are here already.
pub(super) fn of(path: impl AsRef<Path>, bytes: Vec<u8>) -> anyhow::Result<Document> {
    document(path.as_ref(), &Body::in_memory(bytes))
}

fn document(path: &Path, body: &Body) -> anyhow::Result<Document> {
    let told = if path == Path::new(STANDARD_INPUT) { name(path) } else { text::path(path).to_string() };
    let (mut all, mut problems) = (Vec::new(), Vec::new());
    let values = values(body);
    let is_one = values.len() == 1;
    for value in values {
        // The bytes of a document that is one value stay as they are, with what stands around it.
        let body = if is_one { body.clone() } else { body.slice(value) };
        match reports(&body) {
            Ok(found) if found.is_empty() => problems.push(Failed::bad_answer(format!("{told}: {}", no_report(&body)))),
            Ok(found) => all.extend(found),
            Err(error) => problems.push(Failed::like(&error, format!("{told}: {error:#}"))),
        }
    }
    if all.is_empty() {
        let why = problems.into_iter().next();
        return Err(why.unwrap_or_else(|| Failed::bad_answer(format!("{told}: it is empty"))).into());
    }
    problems.iter().for_each(|problem| super::store::say(&[problem.to_string()]));
    Ok(Document { name: name(path), reports: all })
}

/// One value of a document that may hold several, one after another.
pub(super) struct Value {
    /// Its bytes.
    pub(super) body: Body,
    /// Whether it is a page of a list.
    pub(super) is_page: bool,
}

/// Every value of a document; what is no JSON says so.
pub(super) fn all_values(path: impl AsRef<Path>) -> anyhow::Result<Vec<anyhow::Result<Value>>> {
    let body = body(path.as_ref())?;
    let parts = values(&body).into_iter().map(|part| body.slice(part));
    Ok(parts.map(|body| is_page(&body).map(|is_page| Value { body, is_page })).collect())
}

/// The reports of a value, each by itself.
pub(super) fn bodies(value: &Value) -> anyhow::Result<Vec<Body>> {
    let reports = reports(&value.body)?;
    if reports.is_empty() {
        return Err(Failed::bad_answer(no_report(&value.body)).into());
    }
    Ok(reports.into_iter().map(|(_, here)| here.body).collect())
}

/// Where the values of a document stand: one, or several one after another. What ends in the middle goes to the end, and so does
/// what is no value behind the last, such as a bracket that closes nothing.
fn values(body: &Body) -> Vec<Range<usize>> {
    let (mut scanner, mut depth) = (Scanner::default(), 0_u64);
    let (mut found, mut start) = (Vec::new(), None);
    for window in body.chunks(WINDOW) {
        scanner.feed(window, &mut |at, event| {
            let at = usize::try_from(at).unwrap_or(usize::MAX);
            match event {
                Event::Open { .. } => {
                    start.get_or_insert(at);
                    depth += 1;
                }
                Event::Close => {
                    depth = depth.saturating_sub(1);
                    if depth == 0 {
                        found.extend(start.take().map(|start| start..at));
                    }
                }
                Event::Name(_) | Event::Text | Event::Word => {
                    start.get_or_insert(at);
                }
            }
        });
        // What is neither object nor array is no report, nor is anything behind it.
        if depth == 0 && start.is_some() {
            break;
        }
    }
    if start.is_none() {
        let end = found.last().map_or(0, |last| last.end);
        let is_said = |byte: &u8| !byte.is_ascii_whitespace() && *byte != b',';
        let is_more = body.window(end..body.len()).iter().any(is_said);
        start = Some(end).filter(|_| is_more || found.is_empty());
    }
    found.extend(start.map(|start| start..body.len()));
    found
}

pub(super) fn name(path: impl AsRef<Path>) -> String {
    let path = path.as_ref();
    if path == Path::new(STANDARD_INPUT) {
        return "standard input".to_owned();
    }
    let name = path.file_name().unwrap_or(path.as_os_str());
    name.to_str().map_or_else(|| text::path(name).into(), str::to_owned)
}

/// The same as it is, whatever it is made of.
pub(super) fn raw_name(path: impl AsRef<Path>) -> Untrusted {
    match path.as_ref().file_name().filter(|name| *name != STANDARD_INPUT) {
        Some(name) => Untrusted::from(name.as_encoded_bytes()),
        None => Untrusted::from(name(path)),
    }
}

fn body(path: &Path) -> anyhow::Result<Body> {
    let named = |error| Failed::like(&error, format!("{}: {error:#}", text::path(path))).into();
    unpacked(as_saved(path)?).map_err(named)
}

/// Whether bytes begin as a document does that is packed, or UTF-16: [`unpacked`] reads it.
fn is_encoded(bytes: &[u8]) -> bool {
    matches!(bytes, [0x1f, 0x8b, ..] | [0x28, 0xb5, 0x2f, 0xfd, ..] | [0xff, 0xfe, ..] | [0xfe, 0xff, ..])
}

/// A document's JSON: what is packed by gzip or zstd is unpacked, UTF-16 becomes UTF-8; both are known by their first bytes.
fn unpacked(body: Body) -> anyhow::Result<Body> {
    let unpack = |packed: Box<dyn Read + '_>| {
        let mut bytes = Vec::new();
        packed.take(LARGEST_PIPED).read_to_end(&mut bytes).context("it is packed, and damaged")?;
        match u64::try_from(bytes.len()) {
            Ok(length) if length < LARGEST_PIPED => Ok(Body::in_memory(bytes)),
            _ => Err(Failed::bad_answer(format!("it is {} or more unpacked", text::bytes(LARGEST_PIPED))).into()),
        }
    };
    match &*body {
        [0x1f, 0x8b, ..] => unpack(Box::new(flate2::read::MultiGzDecoder::new(&*body))),
        [0x28, 0xb5, 0x2f, 0xfd, ..] => unpack(Box::new(zstd::stream::read::Decoder::new(&*body)?)),
        [b'B', b'Z', b'h', ..] => Err(Failed::bad_answer("it is packed by bzip2: unpack it by bunzip2 first").into()),
        [0xff, 0xfe, ..] => Ok(utf8(&body, u16::from_le_bytes)),
        [0xfe, 0xff, ..] => Ok(utf8(&body, u16::from_be_bytes)),
        [b'-', b' ', b'_', ..] | [b'_', b'i', b'd', ..] => {
            Err(Failed::bad_answer("it is YAML: save it as JSON (vt ... --format json)").into())
        }
        _ => Ok(body),
    }
}

/// UTF-16 as UTF-8, without its byte order mark; a unit that stands for no character becomes U+FFFD.
fn utf8(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> Body {
    let units = bytes.chunks_exact(2).skip(1).filter_map(|pair| pair.first_chunk().copied()).map(unit);
    let text: String = char::decode_utf16(units).map(|read| read.unwrap_or(char::REPLACEMENT_CHARACTER)).collect();
    Body::in_memory(text.into_bytes())
}

/// A document as it is saved.
fn as_saved(path: &Path) -> anyhow::Result<Body> {
    if path == Path::new(STANDARD_INPUT) {
        return Ok(Body::in_memory(piped(std::io::stdin().lock(), "standard input", 0)?));
    }
    let path = &file::typed(path);
    let mut file = opened(path).with_context(|| unopened(path))?;
    let length = file.metadata().ok().filter(|about| about.is_file()).map(|about| about.len());
    if let Some(length) = length {
        let (mut bytes, unreadable) = (Vec::new(), || format!("{} cannot be read", text::path(path)));
        if length > LARGEST as u64 {
            Read::by_ref(&mut file).take(FIRST_LOOK).read_to_end(&mut bytes).with_context(unreadable)?;
            let why = match is_json(&bytes) {
                true => format!("it is larger than {}", text::bytes(LARGEST as u64)),
                false => "it is not JSON, or no report".to_owned(),
            };
            return Err(Failed::bad_answer(why).into());
        }
        file.read_to_end(&mut bytes).with_context(unreadable)?;
        return Ok(Body::in_memory(bytes));
    }
    Ok(Body::in_memory(piped(file, text::path(path).as_str(), 0)?))
}

/// Says of a path that it cannot be opened; what is no file may be an identifier that looks like a path.
fn unopened(path: &Path) -> String {
    let way = match path.exists() {
        true => "",
        false => " as a file (an identifier that looks like a path is named on standard input, by -)",
    };
    format!("{} cannot be opened{way}", text::path(path))
}

/// Opens what is to be read. To open a pipe is to wait for whoever writes to it: where nobody comes soon, that is said.
pub(super) fn opened(path: &Path) -> io::Result<File> {
    if !files::is_special(path) {
        return File::open(path);
    }
    let (open, waits) = mpsc::channel::<()>();
    let words = format!("Waiting: nobody writes to {} yet. ctrl-c ends the wait.", text::path(path));
    let say = move || {
        if waits.recv_timeout(SOON) == Err(RecvTimeoutError::Timeout) {
            // What is waited for is worth more than the remark.
            let _ = writeln!(io::stderr(), "behaview: {words}");
        }
    };
    // Where no thread is to be had, nothing is said.
    let _ = thread::Builder::new().spawn(say);
    let file = File::open(path);
    drop(open);
    file
}

/// What a pipe or device gives: it can be read once only, and need not end. What is no JSON may be so many bytes long.
pub(super) fn piped(mut source: impl Read, name: &str, most_else: u64) -> anyhow::Result<Vec<u8>> {
    let (mut bytes, unreadable) = (Vec::new(), || format!("{name} cannot be read"));
    source.by_ref().take(FIRST_LOOK).read_to_end(&mut bytes).with_context(unreadable)?;
    let most = if bytes.trim_ascii_start().is_empty() || is_json(&bytes) || is_encoded(&bytes) {
        LARGEST_PIPED
    } else {
        most_else
    };
    if most == 0 {
        return Err(Failed::bad_answer(format!("{name}: it is not JSON, or no report")).into());
    }
    source.take(most).read_to_end(&mut bytes).with_context(unreadable)?;
    if bytes.len() as u64 > most {
        let most = crate::text::bytes(most);
        return Err(
            Failed::bad_answer(format!("{name} gives more than {most}: save it in a file and name that")).into()
        );
    }
    Ok(bytes)
}

/// Whether bytes begin like a document: a bracket alone may be the first letter of an identifier.
pub(super) fn is_json(bytes: &[u8]) -> bool {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes).trim_ascii_start();
    let next = bytes.get(1..).unwrap_or_default().trim_ascii_start().first();
    match bytes.first() {
        Some(b'{') => matches!(next, None | Some(b'"' | b'}')),
        Some(b'[') => matches!(next, None | Some(b'{' | b'[' | b'"' | b']' | b'0'..=b'9')),
        _ => false,
    }
}

fn reports(body: &Body) -> anyhow::Result<Vec<(Option<Identifier>, Here)>> {
    let received = crate::clock::now();
    let here = |body: Body| Here { received, body, unkept: None };
    if is_page(body)? {
        let page = Page::of(body).context("the list cannot be read")?;
        let entries = page.entries.into_iter().filter_map(|entry| Some((Some(entry.identifier), here(entry.report?))));
        return Ok(entries.collect());
    }
    Ok(vec![(identifier(body), here(body.clone()))])
}

/// Why a list has no report.
fn no_report(body: &Body) -> &'static str {
    match Page::of(body) {
        Ok(page) if !page.entries.is_empty() => "the list holds no report, only identifiers",
        Ok(page) if page.passed_over().is_some() => "the list holds neither reports nor their identifiers",
        Ok(_) => "the list is empty",
        Err(PageError::Cut) => "it was cut short before its first report",
        Err(_) => "it is JSON, but neither a report nor a list of reports",
    }
}

/// Looks as far as the first attribute or list entry.
fn is_page(body: &Body) -> anyhow::Result<bool> {
    let mut indexer = Indexer::default();
    let mut index = Index::default();
    for window in body.chunks(WINDOW) {
        indexer.feed(window);
        index.absorb(indexer.take());
        if !index.is_json && !window.iter().all(u8::is_ascii_whitespace) {
            break;
        }
        if index.is_enveloped || index.is_attributed {
            return Ok(index.is_page);
        }
    }
    if index.is_json { Ok(index.is_page) } else { Err(Failed::bad_answer("it is not JSON").into()) }
}

/// What the report calls itself: its identifier may stand behind everything else.
fn identifier(body: &Body) -> Option<Identifier> {
    let (mut indexer, mut index) = (Indexer::default(), Index::default());
    for window in body.chunks(WINDOW) {
        indexer.feed(window);
        index.absorb(indexer.take());
        if index.id.is_some() {
            break;
        }
    }
    Report::new(body.clone(), index).identifier()
}
