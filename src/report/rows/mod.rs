//! A report's rows, decoded one at a time when they are shown.

mod pieces;

use super::attack;
use super::attributes::{Attribute, PERHAPS_CUT, PROCESS_LIST, Pane, TREE_TECHNIQUES};
use super::body::Body;
use super::identifier::Identifier;
use super::index::{Batch, Index, Section, SectionForm};
use super::json::{Kind, Raw, members};
use super::note::Item;
use super::tree;
use crate::text::{ColumnWidth, Untrusted};
use pieces::{RowLength, pieces, push_member};
use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

pub use pieces::{Line, Record, Step, ValueMember, leaves, lines, pointer};
pub(super) use pieces::{compact, severity_rank, split_member};

/// Maximum of bytes that are read after the children of a process, which may be listed twice.
const MAX_AFTER_CHILDREN: usize = 16 * 1024;

/// Maximum bytes of a row that are decoded for one line; a longer row is decoded when opened.
const PREVIEW: usize = 16 * 1024;

/// Maximum of bytes of a row that are decoded when it is opened.
const WHOLE_ROW: usize = 8 * 1024 * 1024;

/// A report: its bytes, and where its rows start. Clones share both.
#[derive(Debug, Clone)]
pub struct Report {
    pub body: Body,
    /// Where the rows start, as far as the bytes have been read.
    pub index: Arc<Index>,
    /// The meaning of `value` in the registry values that were set.
    pub registry: ValueMember,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct RowPlace {
    pub section: usize,
    pub row: usize,
}

/// The bytes of a row, when all rows of a section are read.
#[derive(Clone, Copy)]
pub struct RowBytes<'a> {
    report: &'a Report,
    pub place: RowPlace,
    /// Its first bytes, up to 8 MiB; of a process those before its first child.
    pub bytes: &'a [u8],
}

impl<'a> RowBytes<'a> {
    /// Returns the row as its pane shows it.
    pub fn decoded(&self) -> Row {
        self.report.decode(self.place, self.bytes.get(..PREVIEW).unwrap_or(self.bytes), RowLength::InALine)
    }

    /// Returns the row in one line, from all of these bytes.
    pub(crate) fn in_line(&self) -> Row {
        self.report.decode(self.place, self.bytes, RowLength::InALine)
    }

    /// Returns the row as JSON without children: members of a process may follow them.
    pub fn own(&self) -> Cow<'a, [u8]> {
        let section = self.report.section(self.place.section);
        match section.and_then(|section| section.tail(self.place.row)) {
            None => Cow::Borrowed(self.bytes),
            Some(_) => self.report.record(self.place).value,
        }
    }
}

/// One row, as shown in a pane.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Row {
    /// What happened to the item, or its kind.
    pub label: Label,
    /// The row's text, in pieces.
    pub pieces: Vec<Piece>,
}

/// The label beside a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Label {
    Known(&'static str),
    /// The attribute's name, if the table has no label.
    Named(Untrusted),
}

impl Label {
    pub fn width(&self) -> usize {
        match self {
            Self::Known(word) => word.columns(),
            Self::Named(name) => name.visible().width(),
        }
    }
}

impl Default for Label {
    fn default() -> Self {
        Self::Known("")
    }
}

impl Section {
    pub(super) fn label(&self) -> Label {
        self.attribute.map_or_else(|| Label::Named(self.name.clone()), |known| Label::Known(known.label))
    }
}

/// A piece of a row's text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    /// From the report: the subject of the row.
    Value(Untrusted),
    /// From the report: a detail of the subject.
    Detail(Untrusted),
    Own(Cow<'static, str>),
    /// From our tables, not the row's text, so that notes still match when a table changes.
    Known(Cow<'static, str>),
}

impl Piece {
    pub fn width(&self) -> usize {
        match self {
            Self::Value(text) | Self::Detail(text) => text.visible().width(),
            Self::Own(text) | Self::Known(text) => text.columns(),
        }
    }

    /// Returns the subject of the row, if this piece is that.
    pub fn value(&self) -> Option<&Untrusted> {
        match self {
            Self::Value(text) => Some(text),
            Self::Detail(_) | Self::Own(_) | Self::Known(_) => None,
        }
    }
}

impl Row {
    pub fn text(&self) -> Vec<u8> {
        let mut text = Vec::new();
        self.push_text(&mut text);
        text
    }

    /// Returns its label and its text, with outside text converted by `shown`.
    pub fn label_and_text(&self, shown: impl Fn(&Untrusted) -> String) -> (String, String) {
        let label = match &self.label {
            Label::Known(word) => (*word).to_owned(),
            Label::Named(name) => shown(name),
        };
        let text = |piece: &Piece| match piece {
            Piece::Value(text) | Piece::Detail(text) => shown(text),
            Piece::Own(text) | Piece::Known(text) => text.to_string(),
        };
        (label, self.pieces.iter().map(text).collect())
    }

    pub(crate) fn push_text(&self, out: &mut Vec<u8>) {
        for piece in &self.pieces {
            match piece {
                Piece::Value(text) | Piece::Detail(text) => out.extend_from_slice(text.as_bytes()),
                Piece::Own(words) => out.extend_from_slice(words.as_bytes()),
                Piece::Known(_) => {}
            }
        }
    }

    /// Returns the subject, if the row begins with it: a process's name.
    pub fn name(&self) -> Option<&Untrusted> {
        self.pieces.first()?.value()
    }
}

impl Report {
    /// Returns a report whose index has no rows yet.
    pub fn unread(body: Body) -> Self {
        Self::new(body, Index::default())
    }

    pub fn open(body: &Body) -> Self {
        Self::new(body.clone(), Index::of(body))
    }

    /// Creates a report with a complete index.
    pub fn new(body: Body, index: Index) -> Self {
        let mut report = Self { body, index: Arc::new(index), registry: ValueMember::default() };
        report.complete();
        report
    }

    /// Derives data of several attributes: the tree of a process list, and the registry's model.
    fn complete(&mut self) {
        if !self.index.is_complete {
            return;
        }
        if self.index.has(PROCESS_LIST) {
            let arranged = tree::arrange(&self.body, Arc::make_mut(&mut self.index));
            self.body = arranged.unwrap_or_else(|| self.body.clone());
        }
        attack::arrange(&self.body, Arc::make_mut(&mut self.index));
        if self.index.has("registry_keys_set") {
            let sandbox = self.values("sandbox_name").next();
            self.registry = ValueMember::of(&sandbox.unwrap_or_default());
        }
    }

    /// Returns the values of an attribute, one per row.
    pub fn values(&self, attribute: &str) -> impl Iterator<Item = Untrusted> {
        let sections = (0..).zip(&self.index.sections);
        let sections =
            sections.filter(move |(_, section)| section.attribute.is_some_and(|known| known.name == attribute));
        let places = sections.flat_map(|(section, found)| (0..found.len()).map(move |row| RowPlace { section, row }));
        places.map(|place| compact(Raw::new(&self.record(place).value)))
    }

    /// Adds the next batch. Clones of the index stay unchanged.
    pub fn absorb(&mut self, batch: Batch) {
        self.body = self.body.wait_for(0).clone();
        Arc::make_mut(&mut self.index).absorb(batch);
        self.complete();
    }

    /// Returns the offset of the body up to which rows are complete, so that they can be searched.
    pub fn searchable(&self) -> usize {
        let last = |section: &Section| section.starts.last().map(|start| *start as usize);
        match self.index.is_complete {
            true => self.body.so_far().len(),
            false => self.index.sections.iter().filter_map(last).max().unwrap_or(0),
        }
    }

    pub fn identifier(&self) -> Option<Identifier> {
        self.header(self.index.id).and_then(Identifier::new)
    }

    pub fn kind(&self) -> Option<Untrusted> {
        self.header(self.index.kind)
    }

    /// Returns whether it is a behaviour report, by type or attribute; not a file, with its tags.
    pub fn is_behaviour(&self) -> bool {
        let kind = self.kind().unwrap_or_default();
        let is_of = |end: &str| kind.as_bytes().ends_with(end.as_bytes());
        is_of("behaviour") || !is_of("file") && self.has_attribute()
    }

    /// Returns whether it has an attribute of a behaviour report.
    pub fn has_attribute(&self) -> bool {
        let is_known = |section: &Section| section.attribute.is_some_and(|known| !["id", "type"].contains(&known.name));
        self.index.sections.iter().any(is_known)
    }

    /// Returns whether it has no readable content: it is not JSON, or a list.
    pub fn is_unread(&self) -> bool {
        self.index.is_complete && (!self.index.is_json || self.index.is_page && self.index.sections.is_empty())
    }

    /// Returns whether it was read to its end.
    pub fn is_sound(&self) -> bool {
        !self.is_unread() && !self.index.is_cut
    }

    /// Returns whether it is complete, and not a behaviour report.
    pub fn is_of_another_kind(&self) -> bool {
        self.index.is_complete && self.index.is_json && !self.index.is_cut && !self.is_behaviour()
    }

    fn header(&self, at: Option<u32>) -> Option<Untrusted> {
        let at = at? as usize;
        Some(Raw::new(self.body.window(at..at + PREVIEW)).text())
    }

    /// Returns the sections of a pane, in the order of the attribute table.
    pub fn sections(&self, pane: Pane) -> Vec<usize> {
        let mut found: Vec<usize> =
            (0..).zip(&self.index.sections).filter(|(_, s)| s.pane() == pane).map(|(n, _)| n).collect();
        found.sort_by_key(|n| self.section(*n).map(Section::rank));
        found
    }

    pub fn count(&self, pane: Pane) -> usize {
        self.index.sections.iter().filter(|section| section.pane() == pane).map(Section::len).sum()
    }

    /// Returns the lists of a pane, or of all panes, that the service may have cut.
    pub fn cut_lists(&self, pane: Option<Pane>) -> impl Iterator<Item = &Section> {
        let sections = self.index.sections.iter().filter(move |section| pane.is_none_or(|pane| section.pane() == pane));
        sections.filter(|section| section.is_perhaps_cut())
    }

    /// Names them with lengths: `files_opened 300, perhaps cut by the service`; `None` for none.
    pub fn cut_lists_label(&self, pane: Option<Pane>) -> Option<String> {
        let name = |list: &Section| list.attribute.map_or(Pane::Other.name(), |known| known.name);
        let lists = self.cut_lists(pane).map(|list| format!("{} {}", name(list), list.len()));
        let lists = lists.collect::<Vec<_>>().join(", ");
        (!lists.is_empty()).then(|| lists + PERHAPS_CUT)
    }

    pub fn section(&self, section: usize) -> Option<&Section> {
        self.index.sections.get(section)
    }

    /// Returns the tree of processes with its section's number, if any.
    pub fn tree(&self) -> Option<(usize, &Section)> {
        (0..).zip(&self.index.sections).find(|(_, section)| section.form == SectionForm::Processes)
    }

    pub fn row(&self, section: usize, row: usize) -> Row {
        self.decode(RowPlace { section, row }, self.row_bytes(section, row, PREVIEW), RowLength::InALine)
    }

    /// Decodes a row with all of its members, up to 8 MiB of it.
    pub fn whole_row(&self, place: RowPlace) -> Row {
        let bytes = self.row_bytes(place.section, place.row, WHOLE_ROW);
        let mut row = self.decode(place, bytes, RowLength::Whole);
        if bytes.len() == WHOLE_ROW {
            row.pieces.push(Piece::Own(format!(" {}", truncation_mark()).into()));
        }
        row
    }

    fn decode(&self, place: RowPlace, bytes: &[u8], length: RowLength) -> Row {
        let Some(found) = self.section(place.section) else { return Row::default() };
        let pieces = match found.form {
            SectionForm::Processes => self.process(place, bytes, length),
            _ => pieces(found, bytes, self.registry, length),
        };
        let mut row = Row { label: found.label(), pieces };
        if found.attribute.is_some_and(Attribute::is_technique) {
            attack::annotate(&mut row);
            if found.attribute.is_some_and(|known| known.name == TREE_TECHNIQUES) {
                row.pieces.extend([Piece::Own(" · by ".into()), Piece::Detail(found.name.clone())]);
            }
        }
        row
    }

    pub fn each_row(&self, section: usize) -> impl Iterator<Item = RowBytes<'_>> {
        let rows = 0..self.section(section).map_or(0, Section::len);
        let end = self.section_end(section);
        rows.map(move |row| {
            let extent = self.extent_before(section, row, end);
            let bytes = self.body.window(extent.start..extent.end.min(extent.start + WHOLE_ROW));
            RowBytes { report: self, place: RowPlace { section, row }, bytes }
        })
    }

    /// Returns the bytes of one row, as [`Self::each_row`] has them.
    pub(super) fn row_bytes_of(&self, place: RowPlace) -> RowBytes<'_> {
        RowBytes { report: self, place, bytes: self.row_bytes(place.section, place.row, WHOLE_ROW) }
    }

    /// Returns the item that a row shows, as notes refer to it.
    pub fn item(&self, section: usize, row: &Row) -> Option<Item> {
        Some(Item::new(self.section(section)?.name.clone(), &row.text()))
    }

    /// Returns the leaves of a row's value, a line each.
    pub fn lines(&self, section: usize, row: usize) -> Vec<Line> {
        let Some(found) = self.section(section) else { return Vec::new() };
        let bytes = self.row_bytes(section, row, WHOLE_ROW);
        match found.form {
            SectionForm::Processes if Raw::new(bytes).kind() == Kind::Object => {
                let member = |(name, value): (Raw<'_>, Raw<'_>)| {
                    let mut found = lines(value.bytes());
                    found.first_mut().into_iter().for_each(|first| first.name = Some(name.text()));
                    found
                };
                self.own_members(RowPlace { section, row }, bytes).flat_map(member).collect()
            }
            SectionForm::Processes => lines(Raw::new(bytes).bytes()),
            SectionForm::Object | SectionForm::Loose => {
                let (name, value) = split_member(bytes);
                let member = [b"{", name.bytes(), b":", value.bytes(), b"}"].concat();
                lines(&member).into_iter().skip(1).collect()
            }
            SectionForm::Scalar | SectionForm::Array => {
                let mut lines = lines(Raw::new(bytes).bytes());
                if bytes.len() == WHOLE_ROW && found.form == SectionForm::Array {
                    lines.push(Line { depth: 0, name: None, value: Some(Untrusted::from(truncation_mark())) });
                }
                lines
            }
        }
    }

    pub(super) fn section_end(&self, section: usize) -> usize {
        let next = || self.index.sections.iter().skip(section + 1).find_map(|next| next.start(0));
        let end = self.section(section).and_then(Section::end).or_else(next);
        let here = self.body.so_far().len();
        end.map_or(here, |end| (end as usize).min(here))
    }

    /// Offsets of a row up to the next one; of a process up to its first child.
    pub(super) fn extent(&self, section: usize, row: usize) -> Range<usize> {
        self.extent_before(section, row, self.section_end(section))
    }

    fn extent_before(&self, section: usize, row: usize, end: usize) -> Range<usize> {
        let start = |row| self.section(section).and_then(|section| section.start(row)).map(|start| start as usize);
        start(row).map_or(0..0, |at| at..start(row + 1).unwrap_or(end).max(at))
    }

    /// Returns the bytes after a process's children, and some more; empty if it ends there.
    fn tail(&self, section: usize, row: usize) -> &[u8] {
        let Some(found) = self.section(section) else { return &[] };
        let Some(tail) = found.tail(row).map(|tail| tail as usize) else { return &[] };
        let end = self.section_end(section);
        let next = found.start(found.row_from(tail)).map_or(end, |next| next as usize);
        // If it lists its children twice, more members follow them.
        self.body.window(tail..next.max(tail + MAX_AFTER_CHILDREN).min(end))
    }

    fn row_bytes(&self, section: usize, row: usize, limit: usize) -> &[u8] {
        let extent = self.extent(section, row);
        self.body.window(extent.start..extent.end.min(extent.start + limit))
    }

    fn process(&self, place: RowPlace, bytes: &[u8], length: RowLength) -> Vec<Piece> {
        if Raw::new(bytes).kind() != Kind::Object {
            return vec![Piece::Value(compact(Raw::new(bytes)))];
        }
        let members: Vec<_> = self.own_members(place, bytes).collect();
        let value = |wanted: &str| {
            let found = members.iter().find(|(name, _)| name.text().as_bytes() == wanted.as_bytes());
            found.map(|(_, value)| compact(*value))
        };
        let name = value("name");
        if name.is_none() && bytes.len() == PREVIEW {
            // A long member precedes the name.
            return self.process(place, self.row_bytes(place.section, place.row, WHOLE_ROW), length);
        }
        // An empty name is a value as well, but is not visible.
        let is_seen = name.as_ref().is_some_and(|name| !name.is_empty());
        let mut pieces: Vec<_> = name.map(Piece::Value).into_iter().collect();
        pieces.extend((!is_seen).then(|| Piece::Own("(no name)".into())));
        // The unit of the offset depends on the sandbox.
        for (before, member) in [("  ", "process_id"), ("  +", "time_offset")] {
            pieces
                .extend(value(member).into_iter().flat_map(|value| [Piece::Own(before.into()), Piece::Detail(value)]));
        }
        for (name, value) in members.into_iter().filter(|_| length == RowLength::Whole) {
            let name = name.text();
            if !matches!(name.as_bytes(), b"name" | b"process_id" | b"time_offset") {
                push_member(&mut pieces, name, value);
            }
        }
        pieces
    }

    /// Returns a process's members before and after its children.
    pub(super) fn own_members<'a>(
        &'a self,
        place: RowPlace,
        bytes: &'a [u8],
    ) -> impl Iterator<Item = (Raw<'a>, Raw<'a>)> {
        let is_own =
            |(name, value): &(Raw<'_>, Raw<'_>)| value.kind() != Kind::Array || name.text().as_bytes() != b"children";
        let after = members(self.tail(place.section, place.row)).filter(is_own);
        Raw::new(bytes).pairs().take_while(is_own).chain(after)
    }
}

/// Returns the text at the end of a truncated row.
fn truncation_mark() -> String {
    format!("(the row is longer: only its first {} are shown)", crate::text::bytes(WHOLE_ROW as u64))
}

#[cfg(test)]
mod tests;
