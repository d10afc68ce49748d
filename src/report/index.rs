//! Finds the starts of a report's rows in one pass, while the bytes arrive.
//!
//! Distinguishes envelopes, bare objects, summaries and list pages (specification §2.1). Grows by
//! batches: first rows show while last bytes are read. A row costs four bytes, a process ten.

use super::attributes::{ATTRIBUTES, Attribute, PROCESS_LIST, Pane, ValueShape};
use super::body::LARGEST;
use super::json::{Event, Scanner};
use super::tree::Depths;
use crate::text::{Untrusted, decode_json};

/// The structure of a body: its sections and members, with their offsets.
#[derive(Debug, Clone, Default)]
pub struct Index {
    /// The report's attributes and their sibling members, in the order of the bytes.
    pub sections: Vec<Section>,
    pub(crate) id: Option<u32>,
    pub(crate) kind: Option<u32>,
    /// Whether the body is a page of a list: its `data` is an array.
    pub(crate) is_page: bool,
    /// Whether the report or the list is in an envelope, under `data`.
    pub is_enveloped: bool,
    /// Whether `attributes` of a bare report have been seen.
    pub is_attributed: bool,
    pub is_complete: bool,
    /// Whether the bytes stop inside of a value: the body was cut short.
    pub is_cut: bool,
    /// Whether the body begins like JSON at all.
    pub is_json: bool,
}

/// One attribute's rows.
#[derive(Debug, Clone, Default)]
pub struct Section {
    pub name: Untrusted,
    pub attribute: Option<&'static Attribute>,
    pub form: SectionForm,
    /// Whether it is a sibling of `attributes`, like `links`; without that member all sections are.
    pub is_beside: bool,
    /// Offset of each row's first byte.
    pub(super) starts: Vec<u32>,
    /// Depth of each process; empty for other forms.
    pub(super) depths: Depths,
    /// Offset where each process continues after its children, else 0; empty for other forms.
    pub(super) tails: Vec<u32>,
    /// Offset after the last row, 0 while unknown.
    pub(super) end: u32,
}

/// The actual form of an attribute's value, which may differ from the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SectionForm {
    /// One string, number or word: one row.
    #[default]
    Scalar,
    Array,
    Object,
    /// Consecutive single values of unknown attributes: a row a member.
    Loose,
    /// An array of processes with children: a row a process, at any depth, parents first.
    Processes,
}

impl Section {
    /// Returns the position of its attribute in the table; after all of them if it is unknown.
    pub fn rank(&self) -> usize {
        self.attribute.map_or(ATTRIBUTES.len(), |attribute| attribute.rank)
    }

    pub fn pane(&self) -> Pane {
        self.attribute.map_or(Pane::Other, |attribute| attribute.pane)
    }

    pub fn len(&self) -> usize {
        self.starts.len()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns whether it has as many rows as a cut list; a list of processes is a tree by then.
    pub fn is_perhaps_cut(&self) -> bool {
        let is_list = self.form == SectionForm::Array || self.name.as_bytes() == PROCESS_LIST.as_bytes();
        is_list && self.end().is_some() && matches!(self.len(), 300 | 500)
    }

    pub fn start(&self, row: usize) -> Option<u32> {
        self.starts.get(row).copied()
    }

    /// Returns the first row at or after an offset of the body; the number of rows if none.
    pub(crate) fn row_from(&self, at: usize) -> usize {
        self.starts.partition_point(|start| (*start as usize) < at)
    }

    /// Returns the offset after the last row; `None` while unknown.
    pub fn end(&self) -> Option<u32> {
        Some(self.end).filter(|end| *end > 0)
    }

    /// Returns the depth of each process; empty for other forms.
    pub fn depths(&self) -> &Depths {
        &self.depths
    }

    /// Returns where a process continues after its children: its name may follow there.
    pub(crate) fn tail(&self, row: usize) -> Option<u32> {
        self.tails.get(row).copied().filter(|tail| *tail > 0)
    }
}

/// The new sections and rows of an index since the last batch, and all that is known of its head.
#[derive(Debug, Clone)]
pub struct Batch {
    /// Whether the first section continues the last section of the previous batch.
    continues: bool,
    /// Processes continued after their children, with offsets; rows may be in earlier batches.
    tails: Vec<ResumedProcess>,
    found: Index,
}

#[derive(Debug, Clone, Copy)]
struct ResumedProcess {
    section: usize,
    row: u32,
    at: u32,
}

impl Index {
    pub(super) fn has(&self, name: &str) -> bool {
        self.sections.iter().any(|section| section.name.as_bytes() == name.as_bytes())
    }

    pub fn absorb(&mut self, batch: Batch) {
        let Batch { continues, tails, found } = batch;
        let mut sections = found.sections.into_iter();
        if continues && let (Some(open), Some(more)) = (self.sections.last_mut(), sections.next()) {
            open.starts.extend(more.starts);
            open.depths.0.extend(more.depths.0);
            open.tails.extend(more.tails);
            open.end = more.end;
        }
        self.sections.extend(sections);
        for ResumedProcess { section, row, at } in tails {
            let known = self.sections.get_mut(section).and_then(|found| found.tails.get_mut(row as usize));
            known.filter(|known| **known == 0).into_iter().for_each(|known| *known = at);
        }
        *self = Self { sections: std::mem::take(&mut self.sections), ..found };
    }

    /// Indexes a whole body, or the beginning of one that is too large.
    pub fn of(bytes: &[u8]) -> Self {
        let mut indexer = Indexer::default();
        indexer.feed(bytes.get(..LARGEST).unwrap_or(bytes));
        let mut index = Self::default();
        index.absorb(indexer.finish());
        index
    }
}

/// Maximum number of sections, of about a hundred in a report; further attributes are raw rows.
const MAX_SECTIONS: usize = 1_024;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ContainerRole {
    Root,
    Data,
    Attributes,
    Elements,
    Members,
    Processes,
    Process,
    Deep,
}

/// Builds an index from bytes that come in pieces.
#[derive(Debug, Default)]
pub struct Indexer {
    scanner: Scanner,
    layout: SectionBuilder,
}

#[derive(Debug, Default)]
struct SectionBuilder {
    places: Vec<ContainerRole>,
    name: Vec<u8>,
    name_at: u32,
    /// Rows of the processes that are open, innermost last.
    ancestors: Vec<u32>,
    /// Rows of the section that is open, those of earlier batches included.
    rows: u32,
    /// Whether the document, its `data` and its attributes have started; only the first counts.
    has_document: bool,
    has_data: bool,
    has_attributes: bool,
    /// Whether the open section is part of the last batch.
    continues: bool,
    /// Number of sections in earlier batches, without the open one.
    taken: usize,
    tails: Vec<ResumedProcess>,
    found: Index,
}

impl Indexer {
    /// Indexes the next bytes of the body.
    pub fn feed(&mut self, bytes: &[u8]) {
        let layout = &mut self.layout;
        self.scanner.feed(bytes, &mut |at, event| layout.on(offset(at), event));
    }

    pub fn position(&self) -> u64 {
        self.scanner.position()
    }

    /// Returns the sections and rows that were found since the last call.
    pub fn take(&mut self) -> Batch {
        self.layout.take()
    }

    /// Returns the rest; marks the report as cut if its end is missing.
    pub fn finish(mut self) -> Batch {
        self.layout.found.is_complete = true;
        self.layout.found.is_cut = !self.scanner.is_balanced();
        self.layout.take()
    }
}

/// Bodies are cut at [`LARGEST`] before they are indexed, so nothing is lost here.
fn offset(at: u64) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

impl SectionBuilder {
    fn take(&mut self) -> Batch {
        let is_open = |section: &&Section| section.end == 0 && section.form != SectionForm::Scalar;
        let open = self.found.sections.last().filter(is_open);
        let next = open.map(|open| Section { form: open.form, is_beside: open.is_beside, ..Section::default() });
        let continues = std::mem::replace(&mut self.continues, next.is_some());
        self.taken += self.found.sections.len() - usize::from(next.is_some());
        let sections = std::mem::replace(&mut self.found.sections, next.into_iter().collect());
        Batch { continues, tails: std::mem::take(&mut self.tails), found: Index { sections, ..self.found } }
    }

    fn on(&mut self, at: u32, event: Event<'_>) {
        match event {
            Event::Name(name) => self.named(at, name),
            Event::Open { object } => {
                let place = self.enter(at, Some(object));
                self.places.push(place);
            }
            Event::Close => self.leave(at),
            Event::Word { is_null: true } if self.has_nothing() => {}
            Event::Text | Event::Word { .. } => {
                self.enter(at, None);
            }
        }
    }

    /// Returns whether `null` means absence: in a list, and as the value of a known attribute.
    fn has_nothing(&self) -> bool {
        match self.places.last() {
            Some(ContainerRole::Elements | ContainerRole::Processes) => true,
            Some(ContainerRole::Root | ContainerRole::Data | ContainerRole::Attributes) => {
                Attribute::named(&self.name).is_some()
            }
            _ => false,
        }
    }

    fn named(&mut self, at: u32, name: &[u8]) {
        match self.places.last() {
            Some(ContainerRole::Members) => self.push_row(at),
            Some(ContainerRole::Deep) | None => {}
            Some(_) => {
                self.name.clear();
                // A name may be written with escapes.
                decode_json(name, &mut self.name);
                self.name_at = at;
            }
        }
    }

    /// Records a value's start; returns its container's role. `object` is `None` for scalars.
    #[inline(always)]
    fn enter(&mut self, at: u32, object: Option<bool>) -> ContainerRole {
        match self.places.last() {
            None if self.has_document => ContainerRole::Deep,
            None => self.enter_document(object),
            Some(ContainerRole::Root) if self.name == b"data" && !self.has_data => self.enter_data(at, object),
            Some(ContainerRole::Root | ContainerRole::Data) => self.enter_member(at, object),
            Some(ContainerRole::Attributes) => self.open_section(at, object),
            Some(ContainerRole::Elements) => {
                self.push_row(at);
                ContainerRole::Deep
            }
            Some(ContainerRole::Processes) => self.enter_process(at, object),
            Some(ContainerRole::Process) if self.name == b"children" && object == Some(false) => {
                ContainerRole::Processes
            }
            Some(ContainerRole::Members | ContainerRole::Process | ContainerRole::Deep) => ContainerRole::Deep,
        }
    }

    fn enter_document(&mut self, object: Option<bool>) -> ContainerRole {
        self.found.is_json |= object.is_some();
        self.has_document |= object.is_some();
        self.found.is_page |= object == Some(false);
        if object == Some(true) { ContainerRole::Root } else { ContainerRole::Deep }
    }

    fn enter_data(&mut self, at: u32, object: Option<bool>) -> ContainerRole {
        self.found.is_enveloped |= object.is_some();
        self.has_data = true;
        self.found.is_page |= object == Some(false);
        match object {
            Some(true) => ContainerRole::Data,
            Some(false) => ContainerRole::Deep,
            None => self.open_section(at, object),
        }
    }

    fn enter_member(&mut self, at: u32, object: Option<bool>) -> ContainerRole {
        match (self.name.as_slice(), object) {
            (b"attributes", Some(true)) if !self.has_attributes => {
                self.found.is_attributed = true;
                self.has_attributes = true;
                return ContainerRole::Attributes;
            }
            // The official command line writes `_id` and `_type`, with the attributes beside them.
            (b"id" | b"_id", None) => self.found.id = self.found.id.or(Some(at)),
            (b"type" | b"_type", None) => self.found.kind = self.found.kind.or(Some(at)),
            _ => {}
        }
        self.open_section(at, object)
    }

    fn open_section(&mut self, at: u32, object: Option<bool>) -> ContainerRole {
        let attribute = Attribute::named(&self.name);
        if attribute.is_none() && object.is_none() || self.taken + self.found.sections.len() >= MAX_SECTIONS {
            return self.push_loose();
        }
        let is_tree = attribute.is_some_and(|found| found.shape == ValueShape::ProcessTree);
        let (form, place) = match object {
            None => (SectionForm::Scalar, ContainerRole::Deep),
            Some(false) if is_tree => (SectionForm::Processes, ContainerRole::Processes),
            Some(false) => (SectionForm::Array, ContainerRole::Elements),
            Some(true) => (SectionForm::Object, ContainerRole::Members),
        };
        self.rows = 0;
        self.ancestors.clear();
        let name = Untrusted::from(self.name.as_slice());
        self.found.sections.push(Section { name, attribute, form, is_beside: self.is_beside(), ..Section::default() });
        if form == SectionForm::Scalar {
            self.push_row(at);
        }
        place
    }

    fn is_beside(&self) -> bool {
        matches!(self.places.last(), Some(ContainerRole::Root | ContainerRole::Data))
    }

    /// Adds a row for an unknown attribute's single value, or an attribute past [`MAX_SECTIONS`].
    /// They share a section, so a million of them cost no more than a million rows.
    fn push_loose(&mut self) -> ContainerRole {
        let is_beside = self.is_beside();
        let is_open = |last: &Section| last.form == SectionForm::Loose && last.is_beside == is_beside;
        if !self.found.sections.last().is_some_and(is_open) {
            self.found.sections.push(Section { form: SectionForm::Loose, is_beside, ..Section::default() });
        }
        self.push_row(self.name_at);
        ContainerRole::Deep
    }

    fn enter_process(&mut self, at: u32, object: Option<bool>) -> ContainerRole {
        let depth = u16::try_from(self.ancestors.len()).unwrap_or(u16::MAX);
        if let Some(section) = self.found.sections.last_mut() {
            section.depths.0.push(depth);
            section.tails.push(0);
        }
        if object == Some(true) {
            self.ancestors.push(self.rows);
        }
        self.push_row(at);
        if object == Some(true) { ContainerRole::Process } else { ContainerRole::Deep }
    }

    #[inline(always)]
    fn push_row(&mut self, at: u32) {
        self.rows = self.rows.saturating_add(1);
        if let Some(section) = self.found.sections.last_mut() {
            section.starts.push(at);
        }
    }

    fn leave(&mut self, at: u32) {
        match self.places.pop() {
            Some(ContainerRole::Process) => {
                self.ancestors.pop();
            }
            Some(ContainerRole::Processes) => match self.ancestors.last() {
                Some(row) => {
                    let section = (self.taken + self.found.sections.len()).saturating_sub(1);
                    self.tails.push(ResumedProcess { section, row: *row, at });
                }
                None => self.close_section(at),
            },
            Some(ContainerRole::Elements | ContainerRole::Members) => self.close_section(at),
            _ => {}
        }
    }

    fn close_section(&mut self, at: u32) {
        if let Some(section) = self.found.sections.last_mut() {
            section.end = at;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    fn index(json: &str) -> Index {
        Index::of(json.as_bytes())
    }

    /// Sections as `name:form:rows`.
    fn picture(index: &Index) -> Vec<String> {
        let one = |s: &Section| format!("{}:{:?}:{}", s.name.visible(), s.form, s.len());
        index.sections.iter().map(one).collect()
    }

    /// Offset, depth and tail of every row, and the end.
    fn rows(section: &Section) -> Vec<[Option<u32>; 4]> {
        let depth = |row| section.depths().get(row).map(u32::from);
        (0..section.len()).map(|row| [section.start(row), depth(row), section.tail(row), section.end()]).collect()
    }

    const ATTRIBUTES: &str =
        r#"{"tags":["A","B"],"behash":"ab","registry_keys_set":[{"key":"k","value":"v"}],"new_thing":{"x":1,"y":[2]}}"#;
    const SECTIONS: [&str; 4] = ["tags:Array:2", "behash:Scalar:1", "registry_keys_set:Array:1", "new_thing:Object:2"];

    #[test]
    fn every_kind_of_document_gives_the_same_attributes() {
        for json in [
            format!(r#"{{"data":{{"id":"i","type":"t","attributes":{ATTRIBUTES}}}}}"#),
            format!(r#"{{"id":"i","type":"t","attributes":{ATTRIBUTES}}}"#),
            format!(r#"{{"data":{ATTRIBUTES}}}"#),
            ATTRIBUTES.to_owned(),
        ] {
            let index = index(&json);
            let found = picture(&index);
            let rows: Vec<_> =
                found.iter().filter(|s| !["id:Scalar:1", "type:Scalar:1"].contains(&s.as_str())).collect();
            assert_eq!(rows, SECTIONS, "{json}");
            assert!(index.is_complete && !index.is_cut && index.is_json && !index.is_page);
            assert_eq!(index.id.is_some(), json.contains("\"i\""));
        }
    }

    #[test]
    fn a_page_is_told_apart_by_its_array() {
        let index = index(r#"{"data":[{"id":"a","attributes":{"tags":["T"]}},"c",7,[]],"meta":{"cursor":"x"}}"#);
        assert!(index.is_page);
        assert_eq!(picture(&index), ["meta:Object:1"]);
    }

    #[test]
    fn processes_are_rows_with_depths_whatever_their_ids() {
        let json = r#"{"processes_tree":[{"process_id":"1","children":[{"process_id":"1","name":"n","children":[{}]},3]},{"children":7}]}"#;
        let index = index(json);
        assert_eq!(index.sections[0].depths().after(0), [0, 1, 2, 1, 0]);
        assert_eq!(index.sections[0].len(), 5);
    }

    #[test]
    fn null_is_no_row() {
        let json = r#"{"processes_tree":[null,{"children":[null,{}]}],"tags":[null,"A",null],"behash":null,"files_opened":null,"new":null}"#;
        assert_eq!(picture(&index(json)), ["processes_tree:Processes:2", "tags:Array:1", ":Loose:1"]);
    }

    #[test]
    fn batches_add_up_to_the_whole() {
        let json = format!(
            r#"{{"data":{{"id":"i","attributes":{{"processes_tree":[{{"children":[{{}},{{}}]}}],"files_opened":["a","b","c"],"x":{ATTRIBUTES}}}}}}}"#
        );
        let whole = index(&json);
        for step in 1..json.len() {
            let mut indexer = Indexer::default();
            let mut index = Index::default();
            for piece in json.as_bytes().chunks(step) {
                indexer.feed(piece);
                index.absorb(indexer.take());
            }
            index.absorb(indexer.finish());
            assert_eq!(picture(&index), picture(&whole), "{step}");
            for (a, b) in index.sections.iter().zip(&whole.sections) {
                assert_eq!(rows(a), rows(b), "{step}");
            }
        }
    }
}
