//! Reports saved by any tool: a bare object, an envelope, a list page, a behaviour summary.

use super::*;
use crate::app::LoadedReport;
use crate::app::message::DocumentReports;
use crate::export::file;
use crate::report::body::{LARGE, LARGEST, WINDOW};
use crate::report::document::{self, DocumentError, FoundReport, decoded, is_encoded};
use clap::builder::{OsStringValueParser, TypedValueParser};
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read};

pub(super) const STANDARD_INPUT: &str = "-";

/// Bytes that are read before checking that they begin like a report.
const FIRST_READ: u64 = 64 * 1024;

pub(super) struct Document {
    pub(super) name: String,
    pub(super) reports: DocumentReports,
    /// Parts that could not be parsed.
    pub(super) unread: u64,
    /// Why these parts could not be parsed, and other remarks.
    pub(super) remarks: Vec<String>,
}

impl Document {
    pub(super) fn refuse_if_other(&self, advice: &str) -> Result<()> {
        let Some(kind) = self.only_kind() else { return Ok(()) };
        let message = format!("{} is not a behaviour report{kind}: {advice}", text::to_visible(&self.name));
        fail!(Malformed, "{}", text::own(&message))
    }

    /// Returns the name, with the first report's kind if none is a behaviour report.
    pub(super) fn titled(&self) -> String {
        // A title is too short for the full text.
        let kind = self.only_kind().map(|kind| format!(" (no report{})", kind.replace(", but of type", ":")));
        format!("{}{}", self.name, kind.unwrap_or_default())
    }

    /// Returns the kind of the first report, as text; `None` if one is a behaviour report.
    fn only_kind(&self) -> Option<String> {
        let kinds = self.reports.iter().map(|(_, here)| other_kind(&here.body)).collect::<Option<Vec<_>>>()?;
        kinds.into_iter().next()
    }

    /// Fails if a part could not be parsed; called after the rest is printed.
    pub(super) fn outcome(&self) -> Result<()> {
        if self.unread > 0 {
            let parts = text::count(self.unread, "part");
            fail!(Partial, "{parts} of {} could not be read", text::to_visible(&self.name));
        }
        Ok(())
    }

    pub(super) fn with_remarks_printed(self) -> Self {
        self.remarks.iter().for_each(warn);
        self
    }

    /// Prints how a document that is not a behaviour report can be used nevertheless.
    pub(super) fn warn_if_other(&self) {
        if let Some(kind) = self.reports.iter().find_map(|(_, here)| other_kind(&here.body)) {
            let message = format!(
                "{} is not a behaviour report{kind}: show prints it as it is, export writes it as the pane other and finds no \
                 indicator in it, and open shows it",
                text::to_visible(&self.name)
            );
            warn(text::own(&message));
        }
    }
}

/// Returns the kind that the document declares, as text; `None` for a behaviour report.
fn other_kind(body: &Body) -> Option<String> {
    let report = document::read_until_known(body);
    let kind = report.kind().filter(|kind| !kind.is_empty());
    let label = kind.map(|kind| format!(", but of type \"{}\"", kind.visible_cut(40))).unwrap_or_default();
    (!report.is_behaviour()).then_some(label)
}

/// Parses a path and expands a quoted `~`, which the shell has not expanded.
pub(super) fn path() -> impl TypedValueParser<Value = PathBuf> {
    OsStringValueParser::new().map(file::from_input)
}

/// Returns the argument as an identifier of the service; `None` if it names a document.
///
/// Samples are often named by their hash. So an argument with the form of an identifier is one;
/// a leading `./` makes it a path. Invalid Unicode can only be a file name.
pub(super) fn as_service_name(argument: &OsStr) -> Option<&str> {
    let text = argument.to_str()?;
    let is_services = text.get(..Sha256::LENGTH).is_some_and(|hash| Sha256::parse(hash).is_some());
    let is_path = || text.contains(std::path::MAIN_SEPARATOR) || text.ends_with(".json");
    let is_file = || Path::new(text).exists() && !Path::new(text).is_dir() || is_path();
    (text != STANDARD_INPUT && (is_services || !is_file())).then_some(text)
}

/// Reads a document. Parses a single report only as far as needed to recognize it.
pub(super) fn read(path: impl AsRef<Path>) -> Result<Document> {
    of(path.as_ref(), &body(path.as_ref())?)
}

/// Begins to read a large report: its first rows show while a thread reads on; `None` otherwise.
pub(super) fn begin(path: &Path) -> Option<(String, DocumentReports)> {
    let path = file::from_input(path);
    let about = std::fs::metadata(&path).ok()?;
    let mut file =
        File::open(&path).ok().filter(|_| about.is_file() && (LARGE..LARGEST as u64).contains(&about.len()))?;
    let mut bytes = Vec::with_capacity(WINDOW);
    file.by_ref().take(WINDOW as u64).read_to_end(&mut bytes).ok()?;
    let identifier = document::begins_as_report(&bytes).filter(|_| is_json(&bytes))?;
    let (body, rest) = Body::begun(bytes.clone());
    std::thread::spawn(move || {
        // What cannot be read is reported as the cut end of the document.
        let _ = file.take(LARGEST as u64).read_to_end(&mut bytes);
        rest.finish(bytes);
    });
    let report = LoadedReport::new(crate::clock::now(), body, None);
    Some((name(&path), vec![(Some(identifier), report)]))
}

/// Reads one of several documents; one that cannot be read is reported, and has no reports.
pub(super) fn read_of(path: &Path, all: usize) -> Result<Document> {
    match read(path) {
        Err(error) if all > 1 => {
            let remarks = vec![text::to_visible(format!("{error:#}")).into()];
            let document = Document { name: name(path), reports: Vec::new(), unread: 1, remarks };
            Ok(document.with_remarks_printed())
        }
        found => found.map(Document::with_remarks_printed),
    }
}

/// Parses a document whose bytes were read already.
pub(super) fn of(path: &Path, body: &Body) -> Result<Document> {
    let name = name(path);
    let received = crate::clock::now();
    let shown = if path == Path::new(STANDARD_INPUT) { name.clone() } else { text::path(path).to_string() };
    let (found, problems) = document::reports(body);
    let loaded = |report: FoundReport| (report.identifier, LoadedReport::new(received, report.body, None));
    let reports: Vec<_> = found.into_iter().map(loaded).collect();
    if reports.is_empty() {
        let why = problems.into_iter().next().unwrap_or(DocumentError::Empty);
        fail!(Malformed, "{shown}: {why}");
    }
    let unread = problems.iter().filter(|problem| !matches!(problem, DocumentError::Invalid)).count() as u64;
    let remarks = problems.iter().map(|problem| format!("{shown}: {problem}")).collect();
    Ok(Document { name, reports, unread, remarks })
}

fn name(path: &Path) -> String {
    if path == Path::new(STANDARD_INPUT) {
        return "standard input".to_owned();
    }
    let name = path.file_name().unwrap_or(path.as_os_str());
    name.to_str().map_or_else(|| text::path(name).into(), str::to_owned)
}

/// Returns the bytes of a document, unpacked.
pub(super) fn body(path: &Path) -> Result<Body> {
    decoded(Body::in_memory(saved(path, 0)?))
        .map_err(|error| FailureKind::Malformed.error(format!("{}: {error}", text::path(path))).into())
}

/// Reads a file, or standard input for `-`, of at most `most` bytes.
pub(super) fn read_bounded(path: &Path, most: u64) -> Result<Vec<u8>> {
    read_input(path, |_, _| most).map_err(|error| FailureKind::Usage.error(format!("{error:#}")).into())
}

pub(super) fn read_text(path: &Path, most: u64) -> Result<String> {
    let text = String::from_utf8(read_bounded(path, most)?);
    text.map_err(|_| FailureKind::Usage.error(format!("{} is not UTF-8", name(path))).into())
}

/// Reads a document. As a pipe may never end, input that is not JSON has at most `most_else` bytes.
pub(super) fn saved(path: &Path, most_else: u64) -> Result<Vec<u8>> {
    read_input(path, |first, is_file| {
        let is_document = first.trim_ascii_start().is_empty() || is_json(first) || is_encoded(first);
        if is_file || is_document { LARGEST as u64 } else { most_else }
    })
}

/// Reads a file, a device or, for `-`, standard input. `most` gives the maximum size by the first
/// bytes, and by whether it is a file that ends soon enough.
fn read_input(path: &Path, most: impl FnOnce(&[u8], bool) -> u64) -> Result<Vec<u8>> {
    let (mut source, name, is_file): (Box<dyn Read>, _, _) = if path == Path::new(STANDARD_INPUT) {
        (Box::new(io::stdin().lock()), name(path), false)
    } else {
        let path = file::from_input(path);
        let name = text::path(&path).to_string();
        let file = File::open(&path).with_context(|| match path.exists() {
            true => format!("{name} cannot be opened"),
            false => {
                format!("{name} cannot be opened as a file (an identifier like a path is named by - on standard input)")
            }
        })?;
        let is_file = file.metadata().is_ok_and(|about| about.is_file() && about.len() <= LARGEST as u64);
        (Box::new(file), name, is_file)
    };
    let mut bytes = Vec::new();
    let unreadable = || format!("{name} cannot be read");
    source.by_ref().take(FIRST_READ).read_to_end(&mut bytes).with_context(unreadable)?;
    let most = most(&bytes, is_file);
    if most == 0 {
        fail!(Malformed, "{name}: it is not JSON, or no report");
    }
    source.take(most).read_to_end(&mut bytes).with_context(unreadable)?;
    if bytes.len() as u64 > most {
        fail!(Malformed, "{name} is larger than {}", text::bytes(most));
    }
    Ok(bytes)
}

/// Returns whether bytes begin like a document; a bracket alone may begin an identifier.
pub(super) fn is_json(bytes: &[u8]) -> bool {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes).trim_ascii_start();
    let next = bytes.get(1..).unwrap_or_default().trim_ascii_start().first();
    match bytes.first() {
        Some(b'{') => matches!(next, None | Some(b'"' | b'}')),
        Some(b'[') => matches!(next, None | Some(b'{' | b'[' | b'"' | b']' | b'0'..=b'9')),
        _ => false,
    }
}
