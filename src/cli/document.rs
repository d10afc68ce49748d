//! The inputs of commands. Arguments that they share: spending, confirmation, pane, hashes; and
//! reports saved by any tool: a bare object, an envelope, a list page, a behaviour summary.

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

/// Maximum number of characters of an argument that are shown: it may be the key.
const MAX_SHOWN_CHARS: usize = 15;

// Arguments that may cost something. No doc comment: clap would use it as command description.
#[derive(Debug, Clone, Copy, Default, Args)]
pub(super) struct Spending {
    /// Send nothing that may bring the cost of this run above N
    #[arg(long, value_name = "N")]
    pub(super) max_cost: Option<u64>,
    /// Spend what the group's budget reserves for incidents, too
    #[arg(long)]
    pub(super) incident: bool,
    /// Print the price, and send nothing
    #[arg(long)]
    pub(super) dry_run: bool,
    /// Print JSON; without it a dry run prints text
    #[arg(long)]
    pub(super) json: bool,
}

// The output format.
#[derive(Debug, Clone, Copy, Default, Args)]
pub(super) struct FormatFlags {
    /// Print JSON
    #[arg(long)]
    pub(super) json: bool,
}

// Arguments of commands that may need a confirmation.
#[derive(Debug, Clone, Copy, Args)]
pub(super) struct AgreedPrice {
    /// Send it even where others can see it, it cannot be undone, or it may have been done before
    #[arg(long)]
    yes: bool,
    #[command(flatten)]
    pub(super) spending: Spending,
}

impl AgreedPrice {
    /// Fails if there is a warning and `--yes` is missing.
    pub(super) fn check(self, warning: Option<&str>) -> Result<(), CliError> {
        match warning {
            Some(why) if !self.yes => Err(FailureKind::Usage.error(format!("nothing was sent. {why} --yes sends it"))),
            _ => Ok(()),
        }
    }
}

/// Parses a pane by its name in exports or its title on screen; the error lists them all.
pub(super) fn pane(text: &str) -> Result<Pane, String> {
    let is_meant = |name: &str| name.eq_ignore_ascii_case(text);
    let by_name = Pane::ALL.into_iter().find(|pane| is_meant(pane.name()));
    let by_title = || Pane::ALL.into_iter().find(|pane| is_meant(pane.title()) || is_meant(pane.short()));
    by_name.or_else(by_title).ok_or_else(|| format!("the panes are {}", Pane::ALL.map(Pane::name).join(", ")))
}

/// Parses a file's SHA-256, for the commands for scripts.
pub(super) fn parse_sha256(text: &str) -> Result<Sha256> {
    Sha256::parse(text).ok_or_else(|| FailureKind::Usage.error(format!("{} {}", shown(text), not_a_hash(text))).into())
}

pub(super) fn shown(text: &str) -> String {
    let text = masked(text);
    match text.char_indices().nth(MAX_SHOWN_CHARS) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text,
    }
}

fn not_a_hash(text: &str) -> String {
    let is_hexadecimal = text.trim().bytes().all(|byte| byte.is_ascii_hexdigit());
    let other = match text.trim().len() {
        32 if is_hexadecimal => "an MD5",
        40 if is_hexadecimal => "a SHA-1",
        _ => return "is not a SHA-256 of 64 hexadecimal digits, the only hash that names a private file".to_owned(),
    };
    format!("looks like {other}: private files are known by their SHA-256 alone, 64 hexadecimal digits")
}

/// Maximum size of a list of identifiers, in bytes; a million identifiers are smaller.
const MAX_LIST_BYTES: u64 = 128 << 20;

pub(super) enum Subject<T, S = Document> {
    Saved(S),
    Service(T),
}

impl<T, S> Subject<T, S> {
    pub(super) fn service(&self) -> Option<&T> {
        match self {
            Self::Service(named) => Some(named),
            Self::Saved(_) => None,
        }
    }
}

/// Parses the arguments with `typed`, and the lines of standard input (`-`) with `piped`; a `#`
/// begins a comment. Standard input may be a document instead. Omits duplicates.
pub(super) fn read_subjects<T>(
    arguments: &[OsString],
    typed: impl Fn(&str) -> Result<T>,
    piped: impl Fn(&str) -> Result<T>,
) -> Result<Vec<Subject<T>>> {
    let mut subjects = Vec::new();
    let mut known = HashSet::new();
    for argument in arguments {
        match as_service_name(argument) {
            _ if argument == STANDARD_INPUT => match standard_input()? {
                Subject::Saved(document) => subjects.push(Subject::Saved(document)),
                Subject::Service(text) => {
                    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
                    for line in lines.filter(|line| known.insert(in_lower_case(line))) {
                        subjects.push(Subject::Service(piped(line)?));
                    }
                }
            },
            Some(name) if known.insert(in_lower_case(name)) => subjects.push(Subject::Service(typed(name)?)),
            Some(_) => {}
            None => subjects.push(Subject::Saved(read_of(argument.as_ref(), arguments.len())?)),
        }
    }
    if subjects.is_empty() {
        fail!(Usage, "standard input names nothing: it has one identifier a line, or a document");
    }
    Ok(subjects)
}

fn in_lower_case(text: &str) -> String {
    match text.split_at_checked(64) {
        Some((hash, rest)) => hash.to_ascii_lowercase() + rest,
        None => text.to_owned(),
    }
}

/// Reads a document, or text, from standard input.
fn standard_input() -> Result<Subject<String>> {
    let path = Path::new(STANDARD_INPUT);
    let bytes = saved(path, MAX_LIST_BYTES)?;
    if is_json(&bytes) {
        return Ok(Subject::Saved(of(path, &Body::in_memory(bytes))?.with_remarks_printed()));
    }
    Ok(Subject::Service(String::from_utf8(bytes).map_err(|_| FailureKind::Usage.error("standard input is not UTF-8"))?))
}

/// Runs an action for each subject; prints a failure, and stops if it would repeat at a cost.
pub(super) fn each<T>(common: &Common, subjects: Vec<T>, mut work: impl FnMut(T) -> Result<()>) -> Result<()> {
    let all = subjects.len();
    let mut tried = 0;
    let mut failed = Vec::new();
    for subject in subjects {
        tried += 1;
        if all > 1 {
            show_progress(&format!("{tried} of {all}"), "\r");
        }
        let Err(error) = work(subject) else { continue };
        if all > 1 {
            output::print_error(&error, common.log());
        }
        let is_item_error = output::is_item_error(&error);
        failed.push(error);
        if !is_item_error {
            break;
        }
    }
    let done = tried - failed.len();
    match failed.pop() {
        None => Ok(()),
        Some(error) if all == 1 => Err(error),
        Some(error) if done == 0 => Err(output::kind_of(&error).error(format!("none of {all} is there")).into()),
        Some(_) => fail!(Partial, "{done} of {all} are there"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_of_a_pane_means_it() {
        for meant in Pane::ALL {
            for name in [meant.name(), meant.title(), meant.short(), &meant.title().to_uppercase()] {
                assert_eq!(pane(name), Ok(meant));
            }
        }
        assert!(pane("nowhere").is_err_and(|words| words.contains("techniques")));
    }
}
