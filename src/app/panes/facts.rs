//! Facts about a process from other rows: its parent, dropped files, command line; rows naming it.

use crate::report::attributes::{PERHAPS_CUT, PROCESS_LIST};
use crate::report::json::{Kind, Raw};
use crate::report::rows::Line;
use crate::report::{Pane, Piece, Report, RowPlace, Section, command_line};
use crate::text::{Untrusted, Visible, last_part, thousands};
use std::collections::HashSet;

/// Maximum rows of an attribute that are searched for one process.
const MAX_ROWS: usize = 100_000;

const MAX_LINES: usize = 8;

const MAX_CANDIDATES: usize = 50;

/// A process by number, name and path, each empty if unknown.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProcessRef {
    id: Vec<u8>,
    /// Its name in lower case, without folder and extension.
    name: Vec<u8>,
    path: Vec<u8>,
}

impl ProcessRef {
    fn of(record: Raw<'_>, names: &[&str]) -> Option<Self> {
        let id = record.member("process_id").map(Raw::text).unwrap_or_default();
        let name = names.iter().find_map(|name| record.member(name)).map(Raw::text).unwrap_or_default();
        let named = Self { id: id.as_bytes().to_vec(), ..Self::run(name.as_bytes().to_vec()) };
        (named != Self::default()).then_some(named)
    }

    fn run(path: Vec<u8>) -> Self {
        Self { id: Vec::new(), name: program(&path), path }
    }

    /// Returns whether number and name match, where both have them: numbers are reused.
    fn is(&self, process: &Self) -> bool {
        let fits = |one: &[u8], other: &[u8]| one.is_empty() || other.is_empty() || one == other;
        fits(&self.id, &process.id) && fits(&self.name, &process.name)
    }

    /// Returns whether a row names another process: one with another number.
    pub fn is_other_than(&self, report: &Report, place: RowPlace) -> bool {
        let named = Self::of(Raw::new(&report.record(place).value), &[]);
        named.is_some_and(|named| !self.id.is_empty() && named.id != self.id)
    }

    pub fn number(&self) -> Visible {
        Untrusted::from(self.id.as_slice()).visible_cut(20)
    }
}

/// Returns the last part of a path in lower case, without an optional extension.
fn program(path: &[u8]) -> Vec<u8> {
    let name = last_part(path).to_ascii_lowercase();
    name.strip_suffix(b".exe").map(<[u8]>::to_vec).unwrap_or(name)
}

/// Returns the processes that a row may name, the likeliest first.
fn candidates(report: &Report, place: RowPlace) -> Vec<ProcessRef> {
    let record = report.record(place);
    let pane = report.index.sections.get(place.section).map(Section::pane);
    let raw = Raw::new(&record.value);
    // A record may be a JSON text inside a string.
    let text = if raw.kind() == Kind::Text { raw.text() } else { Untrusted::default() };
    let name = (pane == Some(Pane::Processes)).then_some("name");
    let names: Vec<_> = ["process_name", "process"].into_iter().chain(name).collect();
    let own = [raw, Raw::new(text.as_bytes())].into_iter().find_map(|raw| ProcessRef::of(raw, &names));
    let is_run = matches!(pane, Some(Pane::Processes | Pane::Commands)) && own.is_none();
    let run = command_line::split(text.as_bytes()).0;
    own.into_iter().chain((is_run && !run.is_empty()).then(|| ProcessRef::run(run.to_vec()))).collect()
}

/// Returns the processes of the tree that a row outside it may name, the likeliest first.
pub(crate) fn named_by(report: &Report, place: RowPlace) -> Vec<RowPlace> {
    let each = named_beside(report, place).map(|named| processes(report, &named));
    each.into_iter().find(|found| !found.is_empty()).unwrap_or_default()
}

/// Returns whether a row outside the process tree names a process.
pub(crate) fn names_process(report: &Report, place: RowPlace) -> bool {
    report.tree().is_some() && named_beside(report, place).next().is_some()
}

fn named_beside(report: &Report, place: RowPlace) -> impl Iterator<Item = ProcessRef> {
    let is_beside = !is_process(report, place);
    is_beside.then(|| candidates(report, place)).into_iter().flatten()
}

pub(crate) fn is_process(report: &Report, place: RowPlace) -> bool {
    report.tree().is_some_and(|(section, _)| section == place.section)
}

/// Returns a fact that distinguishes a process from others of its name: its start, or its parent.
pub(crate) fn distinguishing_fact(report: &Report, place: RowPlace) -> Option<String> {
    let Line { name, value, .. } = origin(report, place).into_iter().next()?;
    let name = name?.visible();
    let value = value?;
    let value = Untrusted::from(last_part(value.as_bytes())).visible_cut(20);
    Some(format!("{} {value}", name.as_str().trim_start_matches("→ ")))
}

/// Returns the process of a tree row, if others have its name.
pub(crate) fn ambiguous_process(report: &Report, place: RowPlace) -> Option<ProcessRef> {
    let named = process_at(report, place)?;
    let by_name = ProcessRef { id: Vec::new(), ..named.clone() };
    (!named.id.is_empty() && processes(report, &by_name).len() > 1).then_some(named)
}

/// Returns the parent of a process in the tree, if any.
pub(crate) fn parent(report: &Report, place: RowPlace) -> Option<RowPlace> {
    let (section, tree) = report.tree().filter(|(section, _)| *section == place.section)?;
    tree.depths().parent(place.row).map(|row| RowPlace { section, row })
}

fn process_at(report: &Report, place: RowPlace) -> Option<ProcessRef> {
    let record = is_process(report, place).then(|| report.record(place))?;
    ProcessRef::of(Raw::new(&record.value), &["name"])
}

/// Returns a row's subject as other rows name it: processes and files by their path's last part.
pub(crate) fn subject(report: &Report, place: RowPlace) -> Option<String> {
    let row = report.row(place.section, place.row);
    let value = String::from_utf8_lossy(row.pieces.iter().find_map(Piece::value)?.as_bytes());
    let is_path = is_process(report, place) || report.section(place.section)?.pane() == Pane::Files;
    let name = if is_path { value.rsplit(['\\', '/']).next() } else { None };
    Some(name.filter(|name| !name.is_empty()).unwrap_or(&value).to_owned())
}

/// Facts from other rows about a process of the tree; empty for other rows.
pub(crate) fn facts(report: &Report, place: RowPlace) -> Vec<Line> {
    let Some(((_, tree), named)) = report.tree().zip(process_at(report, place)) else { return Vec::new() };
    let children = (place.row + 1..tree.len())
        .take_while(|row| tree.depths().get(*row) > tree.depths().get(place.row))
        .filter(|row| tree.depths().parent(*row) == Some(place.row))
        .map(|row| fact("started", text(report, RowPlace { row, ..place })));
    let dropped = rows(report, "files_dropped", |record| {
        ProcessRef::of(record, &["process_name"]).is_some_and(|by| !by.id.is_empty() && by.is(&named))
    });
    let dropped = dropped.into_iter().map(|place| fact("dropped", text(report, place)));
    let facts = [origin(report, place), children.collect(), commands(report, &named), dropped.collect()];
    let sources = report.cut_lists(None).filter(|list| {
        list.attribute
            .is_some_and(|known| [PROCESS_LIST, "files_dropped", COMMANDS[0], COMMANDS[1]].contains(&known.name))
    });
    let cut = sources.map(|list| {
        let words = format!("{} {}{PERHAPS_CUT}", list.attribute.map_or("", |known| known.name), list.len());
        fact("from", Untrusted::from(words))
    });
    facts.into_iter().flat_map(few).chain(cut).collect()
}

/// The lists of command lines.
const COMMANDS: [&str; 2] = ["command_executions", "processes_created"];

fn origin(report: &Report, place: RowPlace) -> Vec<Line> {
    let time = Raw::new(&report.record(place).value).member("time_offset").map(Raw::text);
    let time = time.map(|after| fact("begins", Untrusted::from([b"+".as_slice(), after.as_bytes()].concat())));
    let parent = report.section(place.section).and_then(|tree| tree.depths().parent(place.row));
    let parent = parent.map(|row| fact("parent", text(report, RowPlace { row, ..place })));
    time.into_iter().chain(parent).collect()
}

/// Returns the command lines that run a program of a process's name, without duplicates.
fn commands(report: &Report, named: &ProcessRef) -> Vec<Line> {
    let runs = |record: Raw<'_>| {
        !named.name.is_empty() && program(command_line::split(record.text().as_bytes()).0) == named.name
    };
    let places = COMMANDS.map(|attribute| rows(report, attribute, runs));
    let mut known = HashSet::new();
    let texts = places.into_iter().flatten().map(|place| text(report, place));
    let texts: Vec<_> = texts.filter(|text| known.insert(text.clone())).collect();
    // A command has no process number: it is certain only if both are unique.
    let by_name = ProcessRef { id: Vec::new(), ..named.clone() };
    let is_one = texts.len() == 1 && processes(report, &by_name).len() == 1;
    let word = if is_one { "command line" } else { "may be its command line" };
    texts.into_iter().map(|text| fact(word, text)).collect()
}

fn few(mut lines: Vec<Line>) -> Vec<Line> {
    let more = lines.len().saturating_sub(MAX_LINES);
    lines.truncate(MAX_LINES);
    let word = lines.first().and_then(|line| line.name.clone()).filter(|_| more > 0);
    let value = Some(Untrusted::from(format!("… and {} more", thousands(more as u64))));
    lines.extend(word.map(|name| Line { depth: 0, name: Some(name), value }));
    lines
}

fn fact(name: &str, value: Untrusted) -> Line {
    Line { depth: 0, name: Some(Untrusted::from(format!("→ {name}"))), value: Some(value) }
}

fn text(report: &Report, place: RowPlace) -> Untrusted {
    Untrusted::from(report.row(place.section, place.row).text())
}

fn rows(report: &Report, attribute: &str, fits: impl Fn(Raw<'_>) -> bool) -> Vec<RowPlace> {
    let sections = (0..).zip(&report.index.sections);
    let is_it = |section: &crate::report::Section| section.attribute.is_some_and(|known| known.name == attribute);
    let rows = sections.filter(|(_, section)| is_it(section)).flat_map(|(n, _)| report.each_row(n).take(MAX_ROWS + 1));
    rows.filter(|row| fits(Raw::new(row.bytes))).map(|row| row.place).collect()
}

/// Returns rows of the tree that may be this process; those with the exact path first.
fn processes(report: &Report, named: &ProcessRef) -> Vec<RowPlace> {
    let mut found = Vec::new();
    let mut others = Vec::new();
    if let Some((section, _)) = report.tree() {
        for row in report.each_row(section) {
            let process = ProcessRef::of(Raw::new(&row.own()), &["name"]);
            if let Some(process) = process.filter(|process| named.is(process)) {
                let is_same = process.path.eq_ignore_ascii_case(&named.path);
                if is_same { &mut found } else { &mut others }.push(row.place);
            }
            if found.len() + others.len() >= MAX_CANDIDATES {
                break;
            }
        }
    }
    found.append(&mut others);
    found
}
