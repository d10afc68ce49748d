//! A report's rows, decoded one at a time when they are looked at.

mod pieces;
pub mod records;
pub(super) mod row_set;
pub(super) mod severity;
pub(super) mod stream;
pub(super) mod values;
pub mod verdict;

use super::attributes::{PROCESS_LIST, Pane};
use super::body::Body;
use super::identifier::Identifier;
use super::index::{Batch, Form, Index, Section};
use super::json::{Kind, Raw};
use super::note::Item;
use super::registry::{RegistryValue, ValueMember};
use super::tree::listed;
use crate::order;
use crate::text::Untrusted;
use pieces::{Told, pieces, tell};
use records::Place;
use std::borrow::Cow;
use std::io;
use std::ops::Range;
use std::sync::Arc;
use values::{compact, member_length, named_lines};

pub use values::{Line, lines};

/// How many bytes of a row are read to show it in a line; a longer row is read whole only when it is opened.
pub(super) const PREVIEW: u64 = 16 * 1024;

/// How many bytes of a row are read when it is opened.
pub(super) const WHOLE_ROW: u64 = 8 * 1024 * 1024;

/// A report: its bytes, and where its rows start. Clones share both.
#[derive(Debug, Clone)]
pub struct Report {
    pub body: Body,
    /// Where the rows start, as far as the bytes have been read.
    pub index: Arc<Index>,
    /// What `value` is in the registry values that were set.
    registry: ValueMember,
}

/// One row as it stands in a pane.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Row {
    /// What happened to the thing, or what it is.
    pub label: Label,
    /// The row's text, in pieces.
    pub pieces: Vec<Piece>,
}

/// The word beside a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Label {
    /// From the table of attributes.
    Known(&'static str),
    /// The attribute's own name, where the table has none.
    Named(Untrusted),
}

impl Default for Label {
    fn default() -> Self {
        Self::Known("")
    }
}

impl Section {
    /// The word beside each of its rows.
    pub(super) fn label(&self) -> Label {
        self.attribute.map_or_else(|| Label::Named(self.name.clone()), |known| Label::Known(known.label))
    }
}

/// A piece of a row's text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    /// From the report: what the row is about.
    Value(Untrusted),
    /// From the report: what is said about it.
    Detail(Untrusted),
    Own(Cow<'static, str>),
}

impl Row {
    /// The row's text in one piece.
    pub fn text(&self) -> Vec<u8> {
        let mut text = Vec::new();
        self.push_text(&mut text);
        text
    }

    /// Adds the row's text to `out`.
    pub fn push_text(&self, out: &mut Vec<u8>) {
        for piece in &self.pieces {
            match piece {
                Piece::Value(text) | Piece::Detail(text) => out.extend_from_slice(text.as_bytes()),
                Piece::Own(words) => out.extend_from_slice(words.as_bytes()),
            }
        }
    }

    /// What the row is about, if it begins with that: a process's name.
    pub fn name(&self) -> Option<&Untrusted> {
        match self.pieces.first()? {
            Piece::Value(name) => Some(name),
            Piece::Detail(_) | Piece::Own(_) => None,
        }
    }
}

impl Report {
    /// A report of which no byte has been read.
    pub fn unread(body: Body) -> Self {
        Self::new(body, Index::default())
    }

    /// A report that is held or saved: its rows by the index that is kept of it, or by reading it.
    pub fn open(body: &Body) -> io::Result<Self> {
        Ok(Self::new(body.clone(), Index::open(body)?))
    }

    /// A report whose rows have been found.
    pub fn new(body: Body, index: Index) -> Self {
        let mut report = Self { body, index: Arc::new(index), registry: ValueMember::default() };
        report.complete();
        report
    }

    /// A report whose rows are looked at as they stand in the bytes.
    pub(super) fn shown(body: Body, index: Arc<Index>) -> Self {
        Self { body, index, registry: ValueMember::default() }
    }

    /// The same rows, read from another copy of the body; the own copy stays where it has another order.
    pub fn with_body(self, body: Body) -> Self {
        if self.index.has(PROCESS_LIST) { self } else { Self { body, ..self } }
    }

    /// Makes what depends on several attributes, once all are known: a tree of a list of processes, and the registry's model.
    fn complete(&mut self) {
        if !self.index.is_complete {
            return;
        }
        if self.index.has(PROCESS_LIST) {
            // A body that cannot be read says so in its rows.
            let arranged = listed::arrange(&self.body, Arc::make_mut(&mut self.index));
            self.body = arranged.ok().flatten().unwrap_or_else(|| self.body.clone());
        }
        if self.index.has("registry_keys_set") {
            self.registry = ValueMember::of(&self.sandbox());
        }
    }

    /// The sandbox that made the report; empty where it names none.
    fn sandbox(&self) -> Untrusted {
        let named = self.index.sections.iter().find(|section| section.name.as_bytes() == b"sandbox_name");
        self.header(named.and_then(|section| section.start(0))).unwrap_or_default()
    }

    /// The registry value that a row gives, whole; none for what is no value that was set.
    pub fn registry_value(&self, place: Place) -> io::Result<Option<RegistryValue>> {
        let is_set = self.section(place.section).is_some_and(|section| section.name.as_bytes() == b"registry_keys_set");
        let record = if is_set { Some(self.record(place)?) } else { None };
        Ok(record.and_then(|record| RegistryValue::of(Raw::new(&record.value), self.registry)))
    }

    /// What the member `value` of the registry values is.
    pub(super) fn registry(&self) -> ValueMember {
        self.registry
    }

    /// The same report in memory, its bytes and its index: for who looks at all of it again and again.
    pub fn unpacked(&self) -> io::Result<Self> {
        Ok(Self::new(self.body.unpacked()?, self.index.unpacked()?))
    }

    /// Adds what was found next. An index that somebody else still looks at is left to them as it was.
    pub fn absorb(&mut self, batch: Batch) {
        Arc::make_mut(&mut self.index).absorb(batch);
        self.complete();
    }

    /// Offset of the body up to which rows are known whole, and so can be searched.
    pub fn searchable(&self) -> u64 {
        let last = |section: &Section| section.start(section.len().checked_sub(1)?).map(u64::from);
        match self.index.is_complete {
            true => self.body.len(),
            false => self.index.sections.iter().filter_map(last).max().unwrap_or(0),
        }
    }

    /// The identifier that the report itself gives.
    pub fn identifier(&self) -> Option<Identifier> {
        self.header(self.index.id).and_then(Identifier::new)
    }

    /// The type that the report itself gives.
    pub fn kind(&self) -> Option<Untrusted> {
        self.header(self.index.kind)
    }

    /// Whether anything says that it is a behaviour report: its type, or an attribute of one. What calls itself a file is none: a
    /// file has tags as well.
    pub fn is_behaviour(&self) -> bool {
        let kind = self.kind().unwrap_or_default();
        let is_of = |end: &str| kind.as_bytes().ends_with(end.as_bytes());
        is_of("behaviour") || !is_of("file") && self.has_attribute()
    }

    /// Whether an attribute of a behaviour report is among what it says.
    pub fn has_attribute(&self) -> bool {
        let is_known = |section: &Section| section.attribute.is_some_and(|known| !["id", "type"].contains(&known.name));
        self.index.sections.iter().any(is_known)
    }

    /// Whether it is known whole, and is no behaviour report.
    pub fn is_of_another_kind(&self) -> bool {
        self.index.is_complete && self.index.is_json && !self.index.is_cut && !self.is_behaviour()
    }

    fn header(&self, at: Option<u32>) -> Option<Untrusted> {
        let at = u64::from(at?);
        let bytes = self.body.window(at..at + PREVIEW).ok()?;
        Some(Raw::new(&bytes).text())
    }

    /// The sections of a pane, in the order of the attribute table.
    pub fn sections(&self, pane: Pane) -> Vec<usize> {
        let mut found: Vec<usize> =
            (0..).zip(&self.index.sections).filter(|(_, s)| s.pane() == pane).map(|(n, _)| n).collect();
        order::sort_by_key(&mut found, |n| self.section(*n).map(|section| section.rank));
        found
    }

    /// How many rows a pane has.
    pub fn count(&self, pane: Pane) -> usize {
        self.index.sections.iter().filter(|section| section.pane() == pane).map(Section::len).sum()
    }

    /// A section by its number.
    pub fn section(&self, section: usize) -> Option<&Section> {
        self.index.sections.get(section)
    }

    /// The tree of processes with its section's number, where there is one.
    pub fn tree(&self) -> Option<(usize, &Section)> {
        (0..).zip(&self.index.sections).find(|(_, section)| section.form == Form::Processes)
    }

    /// Decodes a row. A row that cannot be read says so in its own place.
    pub fn row(&self, section: usize, row: usize) -> Row {
        let Some(found) = self.section(section) else { return Row::default() };
        match self.row_bytes(section, row, PREVIEW) {
            Ok(bytes) => self.row_from(section, row, &bytes),
            Err(error) => {
                Row { label: found.label(), pieces: vec![Piece::Own(format!("(unreadable: {error})").into())] }
            }
        }
    }

    /// Decodes a row in a line from up to 8 MiB of it.
    pub fn told_row(&self, place: Place) -> io::Result<Row> {
        Ok(self.row_from(place.section, place.row, &self.row_bytes(place.section, place.row, WHOLE_ROW)?))
    }

    /// Decodes a row with everything that it says, up to 8 MiB of it.
    pub fn whole_row(&self, place: Place) -> io::Result<Row> {
        let Some(found) = self.section(place.section) else { return Ok(Row::default()) };
        let bytes = self.row_bytes(place.section, place.row, WHOLE_ROW)?;
        let mut pieces = match found.form {
            Form::Processes => self.whole_process(place.section, place.row, &bytes),
            _ => pieces(found, &bytes, self.registry, Told::Whole),
        };
        if bytes.len() as u64 == WHOLE_ROW {
            pieces.push(Piece::Own(format!(" {}", goes_on()).into()));
        }
        Ok(Row { label: found.label(), pieces })
    }

    /// Decodes a row from its bytes.
    pub(super) fn row_from(&self, section: usize, row: usize, bytes: &[u8]) -> Row {
        let Some(found) = self.section(section) else { return Row::default() };
        let pieces = match found.form {
            Form::Processes => self.process(section, row, bytes, PREVIEW),
            _ => pieces(found, bytes, self.registry, Told::InALine),
        };
        Row { label: found.label(), pieces }
    }

    /// The thing that a row tells of, as a note knows it.
    pub fn item(&self, section: usize, row: &Row) -> Option<Item> {
        Some(Item::new(self.section(section)?.name.clone(), &row.text()))
    }

    /// A row's value as written, up to 8 MiB.
    pub fn raw_row(&self, section: usize, row: usize) -> io::Result<Vec<u8>> {
        let Some(found) = self.section(section) else { return Ok(Vec::new()) };
        let bytes = self.row_bytes(section, row, WHOLE_ROW)?;
        let length = if matches!(found.form, Form::Object | Form::Loose) {
            member_length(&bytes)
        } else {
            Raw::new(&bytes).bytes().len()
        };
        Ok(bytes.get(..length).unwrap_or(&bytes).to_vec())
    }

    /// A row's value taken apart, a line a leaf.
    pub fn lines(&self, section: usize, row: usize) -> io::Result<Vec<Line>> {
        let Some(found) = self.section(section) else { return Ok(Vec::new()) };
        if self.row_bytes(section, row, WHOLE_ROW)?.len() as u64 == WHOLE_ROW && found.form == Form::Array {
            let mut found = lines(&self.raw_row(section, row)?);
            found.push(Line { depth: 0, name: None, value: Some(Untrusted::from(goes_on())) });
            return Ok(found);
        }
        match found.form {
            Form::Processes => {
                let bytes = self.row_bytes(section, row, WHOLE_ROW)?;
                if Raw::new(&bytes).kind() != Kind::Object {
                    return Ok(lines(Raw::new(&bytes).bytes()));
                }
                let own = self.process_members(section, row, &bytes, WHOLE_ROW);
                Ok(own.into_iter().flat_map(|(name, value)| named_lines(&name, &value)).collect())
            }
            Form::Object | Form::Loose => {
                Ok(lines(&[b"{", &*self.raw_row(section, row)?, b"}"].concat()).into_iter().skip(1).collect())
            }
            Form::Scalar | Form::Array => Ok(lines(&self.raw_row(section, row)?)),
        }
    }

    /// Offset after a section's last row: everything from there on belongs to others.
    pub(super) fn section_end(&self, section: usize) -> u64 {
        let next = || {
            let later = self.index.sections.iter().skip(section + 1);
            later.filter_map(|next| next.start(0)).next().map(u64::from)
        };
        let end = self.section(section).and_then(Section::end).map(u64::from);
        end.or_else(next).unwrap_or_else(|| self.body.len()).min(self.body.len())
    }

    /// The bytes that a row begins in, up to the next row's: of a process those before its first child.
    pub(super) fn extent(&self, section: usize, row: usize) -> Range<u64> {
        let start = |row| self.section(section).and_then(|section| section.start(row)).map(u64::from);
        let end = start(row + 1).unwrap_or_else(|| self.section_end(section));
        start(row).map_or(0..0, |start| start..end.max(start))
    }

    /// The bytes that a process goes on in behind its children; none where it does not.
    pub(super) fn tail(&self, section: usize, row: usize) -> Option<Range<u64>> {
        let found = self.section(section)?;
        let tail = u64::from(found.tail(row)?);
        let next = found.start(found.row_from(tail)).map(u64::from);
        Some(tail..next.unwrap_or_else(|| self.section_end(section)).max(tail))
    }

    /// A row's first bytes, at most `limit`.
    fn row_bytes(&self, section: usize, row: usize, limit: u64) -> io::Result<Vec<u8>> {
        let extent = self.extent(section, row);
        self.body.window(extent.start..extent.end.min(extent.start + limit))
    }

    fn process(&self, section: usize, row: usize, bytes: &[u8], limit: u64) -> Vec<Piece> {
        if Raw::new(bytes).kind() != Kind::Object {
            return vec![Piece::Value(compact(Raw::new(bytes)))];
        }
        let members = self.process_members(section, row, bytes, limit);
        let value = |wanted: &str| {
            let found = members.iter().find(|(name, _)| name.as_bytes() == wanted.as_bytes());
            found.map(|(_, value)| compact(Raw::new(value)))
        };
        if value("name").is_none() && limit == PREVIEW && bytes.len() as u64 == PREVIEW {
            // Something long stands before the name.
            let whole = self.row_bytes(section, row, WHOLE_ROW).unwrap_or_default();
            return self.process(section, row, &whole, WHOLE_ROW);
        }
        let name = value("name");
        // An empty one is a value as well, but nobody sees it.
        let is_seen = name.as_ref().is_some_and(|name| !name.is_empty());
        let mut pieces: Vec<_> = name.map(Piece::Value).into_iter().collect();
        pieces.extend((!is_seen).then(|| Piece::Own("(no name)".into())));
        if let Some(id) = value("process_id") {
            pieces.extend([Piece::Own("  ".into()), Piece::Detail(id)]);
        }
        if let Some(offset) = value("time_offset") {
            // The unit is the sandbox's own.
            pieces.extend([Piece::Own("  +".into()), Piece::Detail(offset)]);
        }
        pieces
    }

    /// A process as a pane shows it, and what else it says.
    fn whole_process(&self, section: usize, row: usize, bytes: &[u8]) -> Vec<Piece> {
        let mut pieces = self.process(section, row, bytes, WHOLE_ROW);
        let is_shown = |name: &Untrusted| matches!(name.as_bytes(), b"name" | b"process_id" | b"time_offset");
        if Raw::new(bytes).kind() == Kind::Object {
            let members = self.process_members(section, row, bytes, WHOLE_ROW).into_iter();
            members
                .filter(|(name, _)| !is_shown(name))
                .for_each(|(name, value)| tell(&mut pieces, name, Raw::new(&value)));
        }
        pieces
    }

    /// A process's members without its children: those before them, and those after.
    fn process_members(&self, section: usize, row: usize, bytes: &[u8], limit: u64) -> Vec<(Untrusted, Vec<u8>)> {
        let tail = self.section(section).and_then(|section| section.tail(row)).map(u64::from);
        let after = tail.and_then(|tail| self.after_children(tail..tail.saturating_add(limit)).ok());
        let is_own =
            |(name, value): &(Untrusted, Raw<'_>)| name.as_bytes() != b"children" || value.kind() != Kind::Array;
        let own = |(name, value): (Untrusted, Raw<'_>)| (name, value.bytes().to_vec());
        let mut members: Vec<_> = match tail {
            Some(_) => Raw::new(bytes).members().take_while(is_own).map(own).collect(),
            None => Raw::new(bytes).members().filter(is_own).map(own).collect(),
        };
        members.extend(after.iter().flat_map(|bytes| Raw::new(bytes).members()).filter(is_own).map(own));
        members
    }
}

/// What stands at the end of a row of which no more is read.
fn goes_on() -> String {
    format!("(the row goes on: only its first {} are shown)", crate::text::bytes(WHOLE_ROW))
}

#[cfg(test)]
mod tests;
