//! What the report says elsewhere of a process: who started it, what it dropped, its command line; and the way to it.

use crate::app::find::{Finder, Quest};
use crate::app::over::{RowPicker, Spots};
use crate::app::{Model, Overlay};
use crate::report::command_line;
use crate::report::json::{Kind, Raw};
use crate::report::rows::Line;
use crate::report::{Pane, Piece, Place, Report, RowSet, Section};
use crate::text::{Untrusted, Visible, last_part, thousands};
use std::borrow::Cow;
use std::collections::HashSet;

/// Rows of an attribute that are looked through for one process.
const FAR: usize = 100_000;

const MOST: usize = 8;

const MOST_MEANT: usize = 50;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProcessRef {
    /// Its number, as it is written.
    id: Vec<u8>,
    /// Its name, without its folder and its ending, in small letters.
    name: Vec<u8>,
    path: Vec<u8>,
}

impl ProcessRef {
    /// The process that a record names by these members; none where it names none.
    fn of(record: Raw<'_>, names: &[&str]) -> Option<Self> {
        let id = record.member("process_id").map(Raw::text).unwrap_or_default();
        let name = names.iter().find_map(|name| record.member(name)).map(Raw::text).unwrap_or_default();
        let named = Self { id: id.as_bytes().to_vec(), ..Self::run(name.as_bytes().to_vec()) };
        (named != Self::default()).then_some(named)
    }

    fn run(path: Vec<u8>) -> Self {
        Self { id: Vec::new(), name: program(&path), path }
    }

    /// Whether a row that names this one means that one: numbers are used again, so both must fit where both are there.
    fn is(&self, process: &Self) -> bool {
        let fits = |one: &[u8], other: &[u8]| one.is_empty() || other.is_empty() || one == other;
        fits(&self.id, &process.id) && fits(&self.name, &process.name)
    }

    /// Whether a row names another process than this one: one of another number.
    pub fn is_other_than(&self, report: &Report, place: Place) -> bool {
        let named = Self::of(Raw::new(&report.record(place).value), &[]);
        named.is_some_and(|named| !self.id.is_empty() && named.id != self.id)
    }

    pub fn number(&self) -> Visible {
        Untrusted::from(self.id.as_slice()).visible_cut(20)
    }
}

/// The last part of a path, in small letters, without the ending that a command line may leave out.
fn program(path: &[u8]) -> Vec<u8> {
    let name = last_part(path).to_ascii_lowercase();
    name.strip_suffix(b".exe").map(<[u8]>::to_vec).unwrap_or(name)
}

/// The processes that a row may name, the likeliest first.
fn meant(report: &Report, place: Place) -> Vec<ProcessRef> {
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

impl Model {
    /// Goes to the process that the row under the cursor names; where several may be meant, lists them.
    pub(in crate::app) fn go_to_process(&mut self) {
        let found = self.open().map(|open| {
            let each = self.named_processes().into_iter().map(|named| processes(&open.report, &named));
            each.into_iter().find(|found| !found.is_empty()).unwrap_or_default()
        });
        match found.unwrap_or_default().as_slice() {
            [] => self.say("The process tree has no process that the row names."),
            [place] => {
                self.over.all.clear();
                self.show_row(*place);
            }
            several => {
                let mut spots = self.spots_at(several, several.len() as u64);
                for (spot, place) in spots.iter_mut().zip(several) {
                    // One word before all of them would not distinguish them.
                    spot.head = self.apart(*place).map_or_else(|| spot.head.clone(), Cow::from);
                }
                self.over.put(Spots::new(RowPicker::new("Processes that the row may mean", spots)));
            }
        }
    }

    /// What distinguishes a process from others of its name: its start, or its parent.
    fn apart(&self, place: Place) -> Option<String> {
        let Line { name, value, .. } = origin(&self.open()?.report, place).into_iter().next()?;
        let (name, value) = (name?.visible(), value?);
        let value = Untrusted::from(last_part(value.as_bytes())).visible_cut(20);
        Some(format!("{} {value}", name.as_str().trim_start_matches("→ ")))
    }

    /// The process under the cursor, where others of the tree have its name.
    pub(in crate::app) fn namesake(&self) -> Option<ProcessRef> {
        let (place, open) = (self.place_here().filter(|_| self.is_on_process())?, self.open()?);
        let named = ProcessRef::of(Raw::new(&open.report.record(place).value), &["name"])?;
        let by_name = ProcessRef { id: Vec::new(), ..named.clone() };
        (!named.id.is_empty() && processes(&open.report, &by_name).len() > 1).then_some(named)
    }

    pub fn names_process(&self) -> bool {
        self.open().is_some_and(|open| open.report.tree().is_some()) && !self.named_processes().is_empty()
    }

    /// Whether the row under the cursor is in sight: in its pane, or whole.
    pub(in crate::app) fn views_row(&self) -> bool {
        matches!(self.over.all.as_slice(), [] | [Overlay::Detail(_)])
    }

    fn named_processes(&self) -> Vec<ProcessRef> {
        let here = self.place_here().filter(|_| self.views_row()).zip(self.open());
        let here = here.filter(|(place, open)| open.report.tree().is_none_or(|(tree, _)| tree != place.section));
        here.map(|(place, open)| meant(&open.report, place)).unwrap_or_default()
    }

    /// What the report says elsewhere of a process of the tree; nothing of any other row.
    pub(in crate::app) fn facts(&self, place: Place) -> Vec<Line> {
        let Some(report) = self.open().map(|open| &open.report) else { return Vec::new() };
        let Some((_, tree)) = report.tree().filter(|(section, _)| *section == place.section) else { return Vec::new() };
        let Some(named) = ProcessRef::of(Raw::new(&report.record(place).value), &["name"]) else { return Vec::new() };
        let children = (place.row + 1..tree.len())
            .take_while(|row| tree.depths().get(*row) > tree.depths().get(place.row))
            .filter(|row| tree.depths().parent(*row) == Some(place.row))
            .map(|row| fact("started", text(report, Place { row, ..place })));
        let dropped = rows(report, "files_dropped", |record| {
            ProcessRef::of(record, &["process_name"]).is_some_and(|by| !by.id.is_empty() && by.is(&named))
        });
        let dropped = dropped.into_iter().map(|place| fact("dropped", text(report, place)));
        let commands = commands(report, &named);
        let kinds = [origin(report, place), children.collect(), commands, dropped.collect()];
        kinds.into_iter().flat_map(few).collect()
    }
}

fn origin(report: &Report, place: Place) -> Vec<Line> {
    let time = Raw::new(&report.record(place).value).member("time_offset").map(Raw::text);
    let time = time.map(|after| fact("begins", Untrusted::from([b"+".as_slice(), after.as_bytes()].concat())));
    let parent = report.section(place.section).and_then(|tree| tree.depths().parent(place.row));
    let parent = parent.map(|row| fact("parent", text(report, Place { row, ..place })));
    time.into_iter().chain(parent).collect()
}

/// The command lines that run a program of a process's name, each once.
fn commands(report: &Report, named: &ProcessRef) -> Vec<Line> {
    let runs = |record: Raw<'_>| {
        !named.name.is_empty() && program(command_line::split(record.text().as_bytes()).0) == named.name
    };
    let places = ["command_executions", "processes_created"].map(|attribute| rows(report, attribute, runs));
    let mut known = HashSet::new();
    let texts = places.into_iter().flatten().map(|place| text(report, place));
    let texts: Vec<_> = texts.filter(|text| known.insert(text.clone())).collect();
    // A command has no process number: it is certain only where both are unique.
    let by_name = ProcessRef { id: Vec::new(), ..named.clone() };
    let is_one = texts.len() == 1 && processes(report, &by_name).len() == 1;
    let word = if is_one { "command line" } else { "may be its command line" };
    texts.into_iter().map(|text| fact(word, text)).collect()
}

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

fn rows(report: &Report, attribute: &str, fits: impl Fn(Raw<'_>) -> bool) -> Vec<Place> {
    let sections = (0..).zip(&report.index.sections);
    let is_it = |section: &crate::report::Section| section.attribute.is_some_and(|known| known.name == attribute);
    let rows = sections.filter(|(_, section)| is_it(section)).flat_map(|(n, _)| report.each_row(n).take(FAR + 1));
    rows.filter(|row| fits(Raw::new(row.bytes))).map(|row| row.place).collect()
}

/// The processes of the tree that a row may mean, the first of them: those of the very path that it names before those of its name.
fn processes(report: &Report, named: &ProcessRef) -> Vec<Place> {
    let (mut found, mut others) = (Vec::new(), Vec::new());
    if let Some((section, _)) = report.tree() {
        for row in report.each_row(section) {
            let process = ProcessRef::of(Raw::new(&row.own()), &["name"]);
            if let Some(process) = process.filter(|process| named.is(process)) {
                let is_same = process.path.eq_ignore_ascii_case(&named.path);
                if is_same { &mut found } else { &mut others }.push(row.place);
            }
            if found.len() + others.len() >= MOST_MEANT {
                break;
            }
        }
    }
    found.append(&mut others);
    found
}

impl Model {
    /// Shows only the process under the cursor and those below it, or the whole tree again; a filter stays.
    pub(in crate::app) fn isolate(&mut self) {
        let height = self.height();
        self.with_tree(|state, report| {
            let is_alone = state.is_subtree();
            let here = state.place(report, Pane::Processes, state.scroll.cursor);
            let subtree = report.tree().zip(here).filter(|((section, _), place)| *section == place.section);
            let rows = match subtree {
                _ if is_alone => None,
                Some(((section, tree), place)) => {
                    let rows = (place.row..tree.depths().end_of(place.row)).filter_map(|row| u32::try_from(row).ok());
                    Some(rows.map(|row| (section, row)).collect::<RowSet>())
                }
                None => return,
            };
            state.sift(report, Pane::Processes, |sieve| sieve.alone = rows);
            let count = state.count(report, Pane::Processes);
            state.scroll.settle(count, height);
        });
    }

    pub(in crate::app) fn is_on_process(&self) -> bool {
        let tree = self.open().and_then(|open| open.report.tree()).map(|(section, _)| section);
        self.place_here().is_some_and(|here| Some(here.section) == tree)
    }

    /// The process that started the one under the cursor; none for a root, and elsewhere.
    pub fn parent_process(&self) -> Option<Place> {
        let (open, state) = (self.open().filter(|_| self.views_row())?, self.pane_state(Pane::Processes));
        let here = state.place(&open.report, self.focused()?, state.scroll.cursor)?;
        let (section, tree) = open.report.tree().filter(|(section, _)| *section == here.section)?;
        tree.depths().parent(here.row).map(|row| Place { section, row })
    }

    /// Finds in all panes what the row is about; of several processes of one name, not another's number.
    pub(in crate::app) fn find_named(&mut self) {
        let Some(name) = self.named() else { return };
        let quest = Quest { typed: name, ..Quest::default() };
        let process = self.namesake();
        let mut finder = Finder::of(quest, false);
        finder.source.process = process;
        self.over.put(finder);
        self.seek_hits()
    }

    fn named(&self) -> Option<String> {
        let (pane, open) = self.focused().zip(self.open())?;
        let place = self.place_here()?;
        let is_value = |piece: &Piece| match piece {
            Piece::Value(text) => Some(String::from_utf8_lossy(text.as_bytes()).into_owned()),
            Piece::Detail(_) | Piece::Own(_) => None,
        };
        let value = open.report.row(place.section, place.row).pieces.iter().find_map(is_value)?;
        let is_path = self.is_on_process() || pane == Pane::Files;
        let name = if is_path { value.rsplit(['\\', '/']).next() } else { None };
        Some(name.filter(|name| !name.is_empty()).unwrap_or(&value).to_owned())
    }
}
