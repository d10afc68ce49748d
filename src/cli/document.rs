//! Reports saved by any tool: a bare object, an envelope, a list page, a behaviour summary.

use super::FailureKind;
use crate::app::Here;
use crate::export::file;
use crate::report::Body;
use crate::report::body::LARGEST;
use crate::report::document::{self, DocumentError, DocumentValue, decoded, is_encoded};
use crate::report::identifier::{Identifier, Sha256};
use crate::text::{self, Untrusted};
use anyhow::Context;
use clap::builder::{OsStringValueParser, TypedValueParser};
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

/// The argument that means standard input.
pub(super) const STANDARD_INPUT: &str = "-";

/// Bytes that are read before checking that they begin like a report.
const FIRST_LOOK: u64 = 64 * 1024;

/// A document's reports.
pub(super) struct Document {
    /// Its name, for the title.
    pub(super) name: String,
    /// Each report with its own identifier, if any.
    pub(super) reports: Vec<(Option<Identifier>, Here)>,
    /// Parts that could not be parsed; the reasons have been printed already.
    unread: u64,
    /// JSON pointers of reports that were found in other places than the service puts them.
    places: Vec<Untrusted>,
}

impl Document {
    /// The kind of the document, if it contains no behaviour report.
    fn other(&self) -> Option<String> {
        let kinds = self.reports.iter().map(|(_, here)| other_kind(&here.body));
        kinds.collect::<Option<Vec<_>>>()?.into_iter().next()
    }

    /// Fails if the document contains no behaviour report.
    pub(super) fn refuse_if_other(&self, advice: &str) -> anyhow::Result<()> {
        let Some(kind) = self.other() else { return Ok(()) };
        let words = format!("{} is no behaviour report{kind}: {advice}", text::said(&self.name));
        Err(FailureKind::BadAnswer.error(text::own(&words)).into())
    }

    /// The name, followed by the kind if it is not a behaviour report.
    pub(super) fn titled(&self) -> String {
        // A title is too short for the full text.
        let short = |kind: String| kind.replace(", but of type", ":");
        match (self.other(), &*self.places) {
            (Some(kind), _) => format!("{} (no report{})", self.name, short(kind)),
            (None, []) => self.name.clone(),
            (None, [place]) => format!("{} (at /{})", self.name, place.visible_cut(60)),
            (None, [first, ..]) => {
                format!("{} ({} reports, the first at /{})", self.name, self.places.len(), first.visible_cut(60))
            }
        }
    }

    /// Fails if a part could not be parsed; called after the rest is printed.
    pub(super) fn outcome(&self) -> anyhow::Result<()> {
        match self.unread {
            0 => Ok(()),
            unread => {
                let parts = text::count(unread, "part");
                Err(FailureKind::Partial
                    .error(format!("{parts} of {} could not be read", text::said(&self.name)))
                    .into())
            }
        }
    }

    /// The number of parts that could not be parsed.
    pub(super) fn unread_parts(&self) -> u64 {
        self.unread
    }

    /// Prints the kind of a document that is not a behaviour report, and how it can be used
    /// nevertheless.
    pub(super) fn say_if_other(&self) {
        for (_, here) in &self.reports {
            let Some(kind) = other_kind(&here.body) else { continue };
            let words = format!(
                "{} is no behaviour report{kind}: show prints it as it is, export writes it as the pane other and finds no \
                 indicator in it, and open shows it",
                text::said(&self.name)
            );
            // Errors are ignored: the requested output matters more than this remark.
            let _ = writeln!(std::io::stderr(), "behaview: {}", text::own(&words));
            break;
        }
    }
}

/// The kind that the document declares, as text; `None` for a behaviour report.
fn other_kind(body: &Body) -> Option<String> {
    let report = document::read_until_known(body);
    let kind = report.kind().filter(|kind| !kind.is_empty());
    let words = kind.map(|kind| format!(", but of type \"{}\"", kind.visible_cut(40))).unwrap_or_default();
    (!report.is_behaviour()).then_some(words)
}

/// Parses a path and expands a quoted `~`, which the shell has not expanded.
pub(super) fn path() -> impl TypedValueParser<Value = PathBuf> {
    OsStringValueParser::new().map(file::typed)
}

/// The argument as an identifier of the service; `None` if it names a document. Invalid Unicode can
/// only be a file name.
pub(super) fn services(argument: &OsStr) -> Option<&str> {
    argument.to_str().filter(|text| !is_document(text))
}

/// Whether an argument names a document rather than an object of the service.
///
/// Samples are often named by their hash. So an argument with the form of an identifier is one;
/// a leading `./` makes it a path.
fn is_document(argument: &str) -> bool {
    let is_services = argument.get(..Sha256::LENGTH).is_some_and(|hash| Sha256::parse(hash).is_some());
    argument == STANDARD_INPUT
        || !is_services && (Path::new(argument).exists() && !Path::new(argument).is_dir() || is_path(argument))
}

/// Whether an argument can only be a path, even if the file does not exist.
fn is_path(argument: &str) -> bool {
    argument.contains(std::path::MAIN_SEPARATOR) || argument.ends_with(".json")
}

/// Reads a document. Parses a single report only as far as needed to recognize it.
pub(super) fn read(path: impl AsRef<Path>) -> anyhow::Result<Document> {
    document(path.as_ref(), &body(path.as_ref())?)
}

/// Parses a document whose bytes were read already.
pub(super) fn of(path: impl AsRef<Path>, bytes: Vec<u8>) -> anyhow::Result<Document> {
    document(path.as_ref(), &Body::in_memory(bytes))
}

fn document(path: &Path, body: &Body) -> anyhow::Result<Document> {
    let shown = if path == Path::new(STANDARD_INPUT) { name(path) } else { text::path(path).to_string() };
    let received = crate::clock::now();
    let (mut reports, mut problems, mut places) = (Vec::new(), Vec::new(), Vec::new());
    for value in document::values(body) {
        let (found, errors) = value.map_or_else(|error| (Vec::new(), vec![error]), |value| value.reports());
        problems.extend(errors);
        for report in found {
            places.extend(Some(report.pointer).filter(|pointer| !pointer.is_empty()));
            reports.push((report.identifier, Here::new(received, report.body, None)));
        }
    }
    if reports.is_empty() {
        let why = problems.into_iter().next().unwrap_or(DocumentError::Empty);
        fail!(BadAnswer, "{shown}: {why}");
    }
    let problems: Vec<_> = problems.iter().map(|problem| format!("{shown}: {problem}")).collect();
    problems.iter().for_each(super::setup::say);
    Ok(Document { name: name(path), reports, unread: problems.len() as u64, places })
}

/// Every value of a document; an error for each that is not JSON.
pub(super) fn all_values(path: impl AsRef<Path>) -> anyhow::Result<Vec<anyhow::Result<DocumentValue>>> {
    let values = document::values(&body(path.as_ref())?).into_iter();
    let values: Vec<_> = values.map(|value| value.map_err(bad_answer)).collect();
    if values.is_empty() { Err(bad_answer(DocumentError::Empty)) } else { Ok(values) }
}

/// The reports of a value, and an error for each that could not be parsed.
pub(super) fn bodies(value: &DocumentValue) -> Vec<anyhow::Result<Body>> {
    let (reports, mut errors) = value.reports();
    // The import itself reports that a single report is truncated.
    errors.retain(|error| value.is_page || !matches!(error, DocumentError::Cut));
    let reports = reports.into_iter().map(|report| Ok(report.body));
    reports.chain(errors.into_iter().map(|error| Err(bad_answer(error)))).collect()
}

fn bad_answer(error: DocumentError) -> anyhow::Error {
    FailureKind::BadAnswer.error(error.to_string()).into()
}

pub(super) fn name(path: impl AsRef<Path>) -> String {
    let path = path.as_ref();
    if path == Path::new(STANDARD_INPUT) {
        return "standard input".to_owned();
    }
    let name = path.file_name().unwrap_or(path.as_os_str());
    name.to_str().map_or_else(|| text::path(name).into(), str::to_owned)
}

/// The file name unchanged, with any bytes.
pub(super) fn raw_name(path: impl AsRef<Path>) -> Untrusted {
    match path.as_ref().file_name().filter(|name| *name != STANDARD_INPUT) {
        Some(name) => Untrusted::from(name.as_encoded_bytes()),
        None => Untrusted::from(name(path)),
    }
}

fn body(path: &Path) -> anyhow::Result<Body> {
    let bytes = saved(path, 0)?;
    decoded(Body::in_memory(bytes))
        .map_err(|error| FailureKind::BadAnswer.error(format!("{}: {error}", text::path(path))).into())
}

/// What a document is read from.
struct Input {
    source: Box<dyn Read>,
    /// Its name for messages.
    name: String,
    /// Whether it is a file that ends soon enough.
    is_file: bool,
}

/// Opens a file, a device or, for `-`, standard input.
fn open(path: &Path) -> anyhow::Result<Input> {
    if path == Path::new(STANDARD_INPUT) {
        return Ok(Input { source: Box::new(io::stdin().lock()), name: name(path), is_file: false });
    }
    let path = file::typed(path);
    // What does not exist may be an identifier in the form of a path.
    let way = match path.exists() {
        true => "",
        false => " as a file (an identifier that looks like a path is named on standard input, by -)",
    };
    let file = File::open(&path).with_context(|| format!("{} cannot be opened{way}", text::path(&path)))?;
    let is_file = file.metadata().is_ok_and(|about| about.is_file() && about.len() <= LARGEST as u64);
    Ok(Input { source: Box::new(file), name: text::path(&path).to_string(), is_file })
}

/// Reads what a path, or `-`, names, up to this many bytes.
pub(super) fn read_bounded(path: &Path, most: u64) -> anyhow::Result<Vec<u8>> {
    let Input { source, name, .. } = open(path).map_err(|error| FailureKind::Usage.error(format!("{error:#}")))?;
    let mut bytes = Vec::new();
    let read = source.take(most + 1).read_to_end(&mut bytes);
    read.map_err(|error| FailureKind::Usage.error(format!("{name} cannot be read: {error}")))?;
    if bytes.len() as u64 > most {
        fail!(Usage, "{name} is larger than {}", text::bytes(most));
    }
    Ok(bytes)
}

/// Reads a document. A pipe may never end: input that is not JSON has at most `most_else` bytes there.
pub(super) fn saved(path: &Path, most_else: u64) -> anyhow::Result<Vec<u8>> {
    let Input { mut source, name, is_file } = open(path)?;
    let (mut bytes, unreadable) = (Vec::new(), || format!("{name} cannot be read"));
    source.by_ref().take(FIRST_LOOK).read_to_end(&mut bytes).with_context(unreadable)?;
    let is_document = bytes.trim_ascii_start().is_empty() || is_json(&bytes) || is_encoded(&bytes);
    let most = if is_file || is_document { LARGEST as u64 } else { most_else };
    if most == 0 {
        fail!(BadAnswer, "{name}: it is not JSON, or no report");
    }
    source.take(most).read_to_end(&mut bytes).with_context(unreadable)?;
    if bytes.len() as u64 > most {
        fail!(BadAnswer, "{name} is larger than {}", text::bytes(most));
    }
    Ok(bytes)
}

/// Whether bytes begin like a document: a bracket alone may be the first character of an
/// identifier.
pub(super) fn is_json(bytes: &[u8]) -> bool {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes).trim_ascii_start();
    let next = bytes.get(1..).unwrap_or_default().trim_ascii_start().first();
    match bytes.first() {
        Some(b'{') => matches!(next, None | Some(b'"' | b'}')),
        Some(b'[') => matches!(next, None | Some(b'{' | b'[' | b'"' | b']' | b'0'..=b'9')),
        _ => false,
    }
}
