//! What the report says elsewhere of a process: who started it, what it dropped, its command line; and the way to it.

use crate::app::effect::Effect;
use crate::app::model::Model;
use crate::app::over::overlay::Overlay;
use crate::app::over::spots::Spots;
use crate::report::json::Raw;
use crate::report::rows::Line;
use crate::report::{Place, Report};
use crate::text::{Untrusted, Visible, last_part, thousands};

/// Rows of an attribute that are looked through for one process.
const FAR: usize = 100_000;

/// Lines of a kind that are shown.
const MOST: usize = 8;

/// Processes that are kept of those that a row may mean.
const MOST_MEANT: usize = 50;

/// A process as a row names it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Named {
    /// Its number, as it is written.
    id: Vec<u8>,
    /// Its name, without its folder, in small letters.
    name: Vec<u8>,
}

impl Named {
    /// The process that a record names by these members; none where it names none.
    fn of(record: Raw<'_>, names: &[&str]) -> Option<Self> {
        let id = record.member("process_id").map(Raw::text).unwrap_or_default();
        let name = names.iter().find_map(|name| record.member(name)).map(Raw::text).unwrap_or_default();
        let named = Self { id: id.as_bytes().to_vec(), name: base(name.as_bytes()) };
        (named != Self::default()).then_some(named)
    }

    /// Whether a row that names this one means that one: numbers are used again, so both must fit where both are there.
    fn is(&self, process: &Self) -> bool {
        let fits = |one: &[u8], other: &[u8]| one.is_empty() || other.is_empty() || one == other;
        fits(&self.id, &process.id) && fits(&self.name, &process.name)
    }

    /// Whether a row names another process than this one: one of another number.
    #[must_use]
    pub fn is_other_than(&self, report: &Report, place: Place) -> bool {
        let record = report.record(place).ok();
        let named = record.and_then(|record| Self::of(Raw::new(&record.value), &[]));
        named.is_some_and(|named| !self.id.is_empty() && named.id != self.id)
    }

    /// The number of a process.
    #[must_use]
    pub fn number(&self) -> Visible {
        Untrusted::from(self.id.as_slice()).visible_cut(20)
    }
}

/// The last part of a path, in small letters.
fn base(path: &[u8]) -> Vec<u8> {
    last_part(path).to_ascii_lowercase()
}

/// A program's name as a command line may have it as well: without its ending.
fn stem(name: &[u8]) -> &[u8] {
    name.strip_suffix(b".exe").unwrap_or(name)
}

/// The program that a command line runs, in small letters and without its folder.
fn program(command: &[u8]) -> Vec<u8> {
    let trimmed = command.trim_ascii_start();
    let word = match trimmed.strip_prefix(b"\"") {
        Some(quoted) => quoted.split(|byte| *byte == b'"').next(),
        None => trimmed.split(u8::is_ascii_whitespace).next(),
    };
    base(word.unwrap_or_default())
}

impl Model {
    /// Goes to the process that the row under the cursor names; where several may be meant, lists them.
    pub(in crate::app) fn go_to_process(&mut self) -> Vec<Effect> {
        let found = self.named_process().zip(self.open()).map(|(named, open)| processes(&open.report, &named));
        match found.unwrap_or_default().as_slice() {
            [] => self.say("The process tree has no process of this name and number."),
            [place] => {
                self.over.clear();
                self.show_row(*place);
            }
            several => {
                let spots = self.spots_at(several, several.len() as u64);
                self.over.put(Overlay::Spots(Spots::new("Processes that the row may mean", spots)));
            }
        }
        Vec::new()
    }

    /// The process under the cursor, where others of the tree have its name.
    pub(in crate::app) fn namesake(&self) -> Option<Named> {
        let (place, open) = (self.place_here().filter(|_| self.is_on_process())?, self.open()?);
        let named = Named::of(Raw::new(&open.report.record(place).ok()?.value), &["name"])?;
        let by_name = Named { id: Vec::new(), ..named.clone() };
        (!named.id.is_empty() && processes(&open.report, &by_name).len() > 1).then_some(named)
    }

    /// Whether the row under the cursor names a process, and there is a tree to find it in.
    #[must_use]
    pub fn names_process(&self) -> bool {
        self.open().is_some_and(|open| open.report.tree().is_some()) && self.named_process().is_some()
    }

    /// Whether the row under the cursor is in sight: in its pane, or whole.
    pub(in crate::app) fn views_row(&self) -> bool {
        matches!(self.over.all(), [] | [Overlay::Detail(_)])
    }

    fn named_process(&self) -> Option<Named> {
        let (place, open) = (self.place_here().filter(|_| self.views_row())?, self.open()?);
        if open.report.tree().is_some_and(|(section, _)| section == place.section) {
            return None;
        }
        let record = open.report.record(place).ok()?;
        Named::of(Raw::new(&record.value), &["process_name", "process"])
    }

    /// What the report says elsewhere of a process of the tree; nothing of any other row.
    pub(in crate::app) fn facts(&self, place: Place) -> Vec<Line> {
        let Some(report) = self.open().map(|open| &open.report) else { return Vec::new() };
        let Some((_, tree)) = report.tree().filter(|(section, _)| *section == place.section) else { return Vec::new() };
        let Some(named) = report.record(place).ok().and_then(|record| Named::of(Raw::new(&record.value), &["name"]))
        else {
            return Vec::new();
        };
        let parent = tree.depths().parent(place.row).map(|row| fact("parent", text(report, Place { row, ..place })));
        let children = (place.row + 1..tree.len())
            .take_while(|row| tree.depths().get(*row) > tree.depths().get(place.row))
            .filter(|row| tree.depths().parent(*row) == Some(place.row))
            .map(|row| fact("started", text(report, Place { row, ..place })));
        let dropped = rows(report, "files_dropped", |record| {
            Named::of(record, &["process_name"]).is_some_and(|by| !by.id.is_empty() && by.is(&named))
        });
        let dropped = dropped.into_iter().map(|place| fact("dropped", text(report, place)));
        let commands = rows(report, "command_executions", |record| {
            let command = record.text();
            !named.name.is_empty() && stem(&program(command.as_bytes())) == stem(&named.name)
        });
        // A command names no process: it is this one's only where there is no other of either.
        let by_name = Named { id: Vec::new(), ..named.clone() };
        let is_one = commands.len() == 1 && processes(report, &by_name).len() == 1;
        let word = if is_one { "command line" } else { "may be its command line" };
        let commands = commands.into_iter().map(|place| fact(word, text(report, place)));
        let time = report.record(place).ok().and_then(|record| {
            let after = Raw::new(&record.value).member("time_offset").map(Raw::text)?;
            Some(fact("begins", Untrusted::from([b"+".as_slice(), after.as_bytes(), b" s"].concat())))
        });
        let kinds = [
            time.into_iter().collect(),
            parent.into_iter().collect(),
            children.collect(),
            commands.collect(),
            dropped.collect(),
        ];
        kinds.into_iter().flat_map(few).collect()
    }
}

/// The first of them, and how many more there are.
fn few(mut lines: Vec<Line>) -> Vec<Line> {
    let more = lines.len().saturating_sub(MOST);
    lines.truncate(MOST);
    let word = lines.first().and_then(|line| line.name.clone()).filter(|_| more > 0);
    let value = Some(Untrusted::from(format!("… and {} more", thousands(more as u64))));
    lines.extend(word.map(|name| Line { depth: 0, name: Some(name), value }));
    lines
}

fn fact(name: &str, value: Untrusted) -> Line {
    Line { depth: 0, name: Some(Untrusted::from(format!("→ {name}"))), value: Some(value) }
}

fn text(report: &Report, place: Place) -> Untrusted {
    Untrusted::from(report.row(place.section, place.row).text())
}

/// The rows of an attribute that a record fits, as far as they are looked through.
fn rows(report: &Report, attribute: &str, fits: impl Fn(Raw<'_>) -> bool) -> Vec<Place> {
    let sections = (0..).zip(&report.index.sections);
    let is_it = |section: &crate::report::Section| section.attribute.is_some_and(|known| known.name == attribute);
    let mut found = Vec::new();
    for (section, _) in sections.filter(|(_, section)| is_it(section)) {
        let read = report.each_row(section, |row| {
            if fits(Raw::new(row.bytes)) {
                found.push(row.place);
            }
            row.place.row < FAR
        });
        // What cannot be read is said where it stands.
        drop(read);
    }
    found
}

/// The processes of the tree that a row may mean, the first of them.
fn processes(report: &Report, named: &Named) -> Vec<Place> {
    let mut found = Vec::new();
    if let Some((section, _)) = report.tree() {
        let read = report.each_row(section, |row| {
            let process = row.own().ok().and_then(|own| Named::of(Raw::new(&own), &["name"]));
            found.extend(process.filter(|process| named.is(process)).map(|_| row.place));
            found.len() < MOST_MEANT
        });
        // What cannot be read is said where it stands.
        drop(read);
    }
    found
}
