//! A report's rows, decoded one at a time when they are looked at.

use super::attributes::{Field, Pane, Role, Shape};
use super::body::Body;
use super::identifier::Identifier;
use super::index::{Batch, Form, Index, Section};
use super::json::{Event, Kind, Raw, Scanner};
use super::note::Item;
use super::severity;
use crate::text::Untrusted;
use std::borrow::Cow;
use std::io;
use std::sync::Arc;

/// How many bytes of a row are read to show it in a line; a longer row is read whole only when it is opened.
pub(super) const PREVIEW: u64 = 16 * 1024;

/// How many bytes of a row are read when it is opened.
pub(super) const WHOLE_ROW: u64 = 8 * 1024 * 1024;

/// How many nested values are joined in a line before the rest is counted.
const JOINED: usize = 8;

/// A report: its bytes, and where its rows start. Clones share both.
#[derive(Debug, Clone)]
pub struct Report {
    /// The bytes as received.
    pub body: Body,
    /// Where the rows start, as far as the bytes have been read.
    pub index: Arc<Index>,
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

/// A piece of a row's text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    /// From the report: what the row is about.
    Value(Untrusted),
    /// From the report: what is said about it.
    Detail(Untrusted),
    /// Our own words.
    Own(Cow<'static, str>),
}

/// One line of a value that is shown whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// How deep it is nested.
    pub depth: usize,
    /// Name of the member; none for an element.
    pub name: Option<Untrusted>,
    /// The value; none for an object or array, whose content follows.
    pub value: Option<Untrusted>,
}

impl Row {
    /// The row's text in one piece.
    #[must_use]
    pub fn text(&self) -> Vec<u8> {
        let bytes = self.pieces.iter().flat_map(|piece| match piece {
            Piece::Value(text) | Piece::Detail(text) => text.as_bytes(),
            Piece::Own(text) => text.as_bytes(),
        });
        bytes.copied().collect()
    }
}

impl Report {
    /// A report of which no byte has been read.
    #[must_use]
    pub fn unread(body: Body) -> Self {
        Self::new(body, Index::default())
    }

    /// A report whose rows have been found.
    #[must_use]
    pub fn new(body: Body, index: Index) -> Self {
        Self { body, index: Arc::new(index) }
    }

    /// Adds what was found next. An index that somebody else still looks at is left to them as it was.
    pub fn absorb(&mut self, batch: Batch) {
        Arc::make_mut(&mut self.index).absorb(batch);
    }

    /// Offset of the body up to which rows are known whole, and so can be searched.
    #[must_use]
    pub fn searchable(&self) -> u64 {
        let last = |section: &Section| section.start(section.len().checked_sub(1)?).map(u64::from);
        match self.index.is_complete {
            true => self.body.len(),
            false => self.index.sections.iter().filter_map(last).max().unwrap_or(0),
        }
    }

    /// The identifier that the report itself gives.
    #[must_use]
    pub fn identifier(&self) -> Option<Identifier> {
        self.header(self.index.id).and_then(Identifier::new)
    }

    /// The type that the report itself gives.
    #[must_use]
    pub fn kind(&self) -> Option<Untrusted> {
        self.header(self.index.kind)
    }

    fn header(&self, at: Option<u32>) -> Option<Untrusted> {
        let at = u64::from(at?);
        let bytes = self.body.window(at..at + PREVIEW).ok()?;
        Some(Raw::new(&bytes).text())
    }

    /// The sections of a pane, in the order of the attribute table.
    #[must_use]
    pub fn sections(&self, pane: Pane) -> Vec<usize> {
        let mut found: Vec<usize> =
            (0..).zip(&self.index.sections).filter(|(_, s)| s.pane() == pane).map(|(n, _)| n).collect();
        found.sort_by_key(|n| self.section(*n).map(|section| section.rank));
        found
    }

    /// How many rows a pane has.
    #[must_use]
    pub fn count(&self, pane: Pane) -> usize {
        self.index.sections.iter().filter(|section| section.pane() == pane).map(Section::len).sum()
    }

    /// A section by its number.
    #[must_use]
    pub fn section(&self, section: usize) -> Option<&Section> {
        self.index.sections.get(section)
    }

    /// The tree of processes with its section's number, where there is one.
    #[must_use]
    pub fn tree(&self) -> Option<(usize, &Section)> {
        (0..).zip(&self.index.sections).find(|(_, section)| section.form == Form::Processes)
    }

    /// Decodes a row. A row that cannot be read says so in its own place.
    #[must_use]
    pub fn row(&self, section: usize, row: usize) -> Row {
        let Some(found) = self.section(section) else { return Row::default() };
        match self.row_bytes(found, row, PREVIEW) {
            Ok(bytes) => self.row_from(section, row, &bytes),
            Err(error) => {
                Row { label: label(found), pieces: vec![Piece::Own(format!("(unreadable: {error})").into())] }
            }
        }
    }

    /// Decodes a row from its bytes.
    pub fn row_from(&self, section: usize, row: usize, bytes: &[u8]) -> Row {
        let Some(found) = self.section(section) else { return Row::default() };
        let pieces = match found.form {
            Form::Processes => self.process(found, row, bytes, PREVIEW),
            _ => pieces(found, bytes),
        };
        Row { label: label(found), pieces }
    }

    /// A process as an object without its children, wherever its members stand.
    pub(super) fn process_without_children(&self, section: usize, row: usize) -> Vec<u8> {
        let Some(found) = self.section(section) else { return Vec::new() };
        let bytes = self.row_bytes(found, row, WHOLE_ROW).unwrap_or_default();
        let mut object = b"{".to_vec();
        for (name, value) in self.process_members(found, row, &bytes, WHOLE_ROW) {
            // Only plain names are looked for: one that needs escapes may be left as it is.
            object.extend([b"\"", name.as_bytes(), b"\":", &value, b","].concat());
        }
        object.push(b'}');
        object
    }

    /// The thing that a row tells of, as a note knows it.
    #[must_use]
    pub fn item(&self, section: usize, row: &Row) -> Option<Item> {
        Some(Item::new(self.section(section)?.name.clone(), &row.text()))
    }

    /// A row's value as written, up to 8 MiB.
    ///
    /// # Errors
    /// When the body cannot be read.
    pub fn raw_row(&self, section: usize, row: usize) -> io::Result<Vec<u8>> {
        let Some(found) = self.section(section) else { return Ok(Vec::new()) };
        let bytes = self.row_bytes(found, row, WHOLE_ROW)?;
        let length = if matches!(found.form, Form::Object | Form::Loose) {
            member_length(&bytes)
        } else {
            Raw::new(&bytes).bytes().len()
        };
        Ok(bytes.get(..length).unwrap_or(&bytes).to_vec())
    }

    /// A row's value taken apart, a line a leaf.
    ///
    /// # Errors
    /// When the body cannot be read.
    pub fn lines(&self, section: usize, row: usize) -> io::Result<Vec<Line>> {
        let Some(found) = self.section(section) else { return Ok(Vec::new()) };
        if self.row_bytes(found, row, WHOLE_ROW)?.len() as u64 == WHOLE_ROW && found.form == Form::Array {
            let mut found = lines(&self.raw_row(section, row)?);
            let remark = format!("(the row goes on: only its first {} are shown)", crate::text::bytes(WHOLE_ROW));
            found.push(Line { depth: 0, name: None, value: Some(Untrusted::from(remark)) });
            return Ok(found);
        }
        match found.form {
            Form::Processes => {
                let bytes = self.row_bytes(found, row, WHOLE_ROW)?;
                if Raw::new(&bytes).kind() != Kind::Object {
                    return Ok(lines(Raw::new(&bytes).bytes()));
                }
                let own = self.process_members(found, row, &bytes, WHOLE_ROW);
                Ok(own.into_iter().flat_map(|(name, value)| named_lines(&name, &value)).collect())
            }
            Form::Object | Form::Loose => {
                Ok(lines(&[b"{", &*self.raw_row(section, row)?, b"}"].concat()).into_iter().skip(1).collect())
            }
            Form::Scalar | Form::Array => Ok(lines(&self.raw_row(section, row)?)),
        }
    }

    /// The bytes from a row's start to the next row's, at most `limit`.
    fn row_bytes(&self, section: &Section, row: usize, limit: u64) -> io::Result<Vec<u8>> {
        let Some(start) = section.start(row).map(u64::from) else { return Ok(Vec::new()) };
        let end = match (section.form, section.start(row + 1)) {
            (Form::Array | Form::Object | Form::Loose, Some(next)) => u64::from(next),
            (Form::Scalar | Form::Loose, _) => u64::MAX,
            _ => section.end().map_or(u64::MAX, u64::from),
        };
        self.body.window(start..end.min(start + limit))
    }

    fn process(&self, section: &Section, row: usize, bytes: &[u8], limit: u64) -> Vec<Piece> {
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
        let mut pieces = vec![value("name").map_or(Piece::Own("(no name)".into()), Piece::Value)];
        if let Some(id) = value("process_id") {
            pieces.extend([Piece::Own("  ".into()), Piece::Detail(id)]);
        }
        if let Some(offset) = value("time_offset") {
            pieces.extend([Piece::Own("  +".into()), Piece::Detail(offset), Piece::Own(" s".into())]);
        }
        pieces
    }

    /// A process's members without its children: those before them, and those after.
    fn process_members(&self, section: &Section, row: usize, bytes: &[u8], limit: u64) -> Vec<(Untrusted, Vec<u8>)> {
        let tail = section.tail(row).map(u64::from);
        let after = tail.and_then(|tail| self.body.window(tail..tail + limit).ok());
        let after = after.map(|bytes| [b"{", &*bytes].concat());
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

fn label(section: &Section) -> Label {
    section.attribute.map_or_else(|| Label::Named(section.name.clone()), |known| Label::Known(known.label))
}

fn pieces(section: &Section, bytes: &[u8]) -> Vec<Piece> {
    if matches!(section.form, Form::Object | Form::Loose) {
        return member_pieces(bytes);
    }
    let raw = Raw::new(bytes);
    match section.attribute.map(|attribute| &attribute.shape) {
        Some(Shape::Moment) => {
            raw.integer().and_then(moment).map_or_else(|| vec![Piece::Value(compact(raw))], |when| vec![when])
        }
        Some(Shape::Records(fields)) if raw.kind() == Kind::Object => record_pieces(raw, fields),
        _ => vec![Piece::Value(compact(raw))],
    }
}

fn moment(seconds: i64) -> Option<Piece> {
    let when = jiff::Timestamp::from_second(seconds).ok()?;
    Some(Piece::Own(when.strftime("%Y-%m-%d %H:%M:%S UTC").to_string().into()))
}

/// The fields that the table names, in its order; the others are counted.
fn record_pieces(raw: Raw<'_>, fields: &'static [Field]) -> Vec<Piece> {
    let members: Vec<_> = raw.members().collect();
    let (mut pieces, mut has_value) = (Vec::new(), false);
    for field in fields {
        let Some((_, value)) = members.iter().find(|(name, _)| name.as_bytes() == field.name.as_bytes()) else {
            continue;
        };
        let is_said = |piece: &Piece| matches!(piece, Piece::Value(said) if *said == compact(*value));
        // A signature is often called by its identifier: once is enough.
        if field.name == "id" && pieces.iter().any(is_said) {
            continue;
        }
        if !pieces.is_empty() {
            pieces.push(Piece::Own(field.before.into()));
        }
        pieces.push(match field.role {
            Role::Severity => Piece::Detail(severity::word(compact(*value))),
            Role::Evidence => Piece::Detail(severity::evidence(*value)),
            // What the row is about is the first that is said.
            Role::Said if has_value => Piece::Detail(compact(*value)),
            Role::Said => Piece::Value(compact(*value)),
        });
        has_value |= field.role == Role::Said;
    }
    let named = |name: &Untrusted| fields.iter().any(|field| field.name.as_bytes() == name.as_bytes());
    if pieces.is_empty() {
        return vec![Piece::Value(compact(raw))];
    }
    match members.iter().filter(|(name, _)| !named(name)).count() {
        0 => {}
        more => pieces.push(Piece::Own(format!(" · {more} more").into())),
    }
    pieces
}

/// `name: value` of an object that is no record.
fn member_pieces(bytes: &[u8]) -> Vec<Piece> {
    let (name, value) = split_member(bytes);
    vec![Piece::Detail(name.text()), Piece::Own(": ".into()), Piece::Value(compact(value))]
}

pub(super) fn split_member(bytes: &[u8]) -> (Raw<'_>, Raw<'_>) {
    let name = Raw::new(bytes);
    (name, Raw::new(bytes.get(name.bytes().len()..).unwrap_or_default()))
}

/// Length of `"name": value` from the name's first byte to the value's last.
pub(super) fn member_length(bytes: &[u8]) -> usize {
    let (_, value) = split_member(bytes);
    bytes.len() - value.length_to_end() + value.bytes().len()
}

/// A value in one line: strings as they are, flat arrays joined, everything deeper as written.
pub(super) fn compact(raw: Raw<'_>) -> Untrusted {
    let elements: Vec<_> = raw.elements().take(JOINED + 1).collect();
    let is_flat = elements.iter().all(|element| matches!(element.kind(), Kind::Text | Kind::Word));
    match raw.kind() {
        Kind::Array if is_flat && !elements.is_empty() => {}
        Kind::Array | Kind::Object => return Untrusted::from(squeezed(raw.bytes())),
        Kind::Text | Kind::Word => return raw.text(),
    }
    let mut joined = Vec::new();
    for element in elements.iter().take(JOINED) {
        if !joined.is_empty() {
            joined.extend_from_slice(b", ");
        }
        joined.extend_from_slice(element.text().as_bytes());
    }
    if elements.len() > JOINED {
        joined.extend_from_slice(format!(", +{}", raw.elements().count() - JOINED).as_bytes());
    }
    Untrusted::from(joined)
}

/// JSON without the blanks between its values.
fn squeezed(bytes: &[u8]) -> Vec<u8> {
    let (mut in_text, mut is_escaped) = (false, false);
    let keep = |byte: &&u8| {
        let is_blank = !in_text && byte.is_ascii_whitespace();
        in_text ^= **byte == b'"' && !is_escaped;
        is_escaped = in_text && **byte == b'\\' && !is_escaped;
        !is_blank
    };
    bytes.iter().filter(keep).copied().collect()
}

fn named_lines(name: &Untrusted, value: &[u8]) -> Vec<Line> {
    let mut found = lines(value);
    if let Some(first) = found.first_mut() {
        first.name = Some(name.clone());
    }
    found
}

/// A value taken apart, a line a leaf, a line for each object and array.
#[must_use]
pub fn lines(bytes: &[u8]) -> Vec<Line> {
    let (mut found, mut name, mut depth) = (Vec::new(), None, 0_usize);
    let mut scanner = Scanner::default();
    scanner.feed(bytes, &mut |at, event| {
        let leaf = |at: u64| usize::try_from(at).ok().and_then(|at| bytes.get(at..)).map(|rest| Raw::new(rest).text());
        match event {
            Event::Name(raw) => name = Some(Untrusted::from_json(raw)),
            Event::Open { .. } => {
                found.push(Line { depth, name: name.take(), value: None });
                depth += 1;
            }
            Event::Close => depth = depth.saturating_sub(1),
            Event::Text | Event::Word => found.push(Line { depth, name: name.take(), value: leaf(at) }),
        }
    });
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(json: &str) -> Report {
        let body = Body::in_memory(json.as_bytes().to_vec());
        let index = Index::of(&body).unwrap();
        Report::new(body, index)
    }

    /// Label and text of every row of a pane.
    fn pane(json: &str, pane: Pane) -> Vec<String> {
        let report = report(json);
        let rows = |n: usize| (0..report.section(n).unwrap().len()).map(move |row| (n, row));
        report.sections(pane).into_iter().flat_map(rows).map(|(n, row)| text(&report.row(n, row))).collect()
    }

    fn text(row: &Row) -> String {
        let label = match &row.label {
            Label::Known(word) => (*word).to_owned(),
            Label::Named(name) => name.visible().to_string(),
        };
        let pieces = row.pieces.iter().map(|piece| match piece {
            Piece::Value(text) | Piece::Detail(text) => text.visible().to_string(),
            Piece::Own(text) => text.to_string(),
        });
        format!("{label}|{}", pieces.collect::<String>())
    }

    #[test]
    fn rows_stand_in_the_order_of_the_table_with_what_happened() {
        let json = r#"{"files_opened":["C:\\a"],"files_dropped":[{"sha256":"ff","path":"C:\\b","extra":1}],"files_copied":[{"source":"s","destination":"d"}]}"#;
        assert_eq!(pane(json, Pane::Files), [r"dropped|C:\b · ff · 1 more", "copied|s → d", r"opened|C:\a"]);
    }

    #[test]
    fn records_of_every_kind_have_a_line() {
        let json = r#"{"ip_traffic":[{"destination_ip":"192.0.2.1","destination_port":443,"transport_layer_protocol":"TCP"},{"destination_port":"53"}],
            "dns_lookups":[{"hostname":"h","resolved_ips":["1","2"]},{"resolved_ips":null}],"http_conversations":["no object", null]}"#;
        let found = pane(json, Pane::Network);
        assert_eq!(
            found,
            ["name|h → 1, 2", "name|null", "http|no object", "http|null", "address|192.0.2.1:443 TCP", "address|53"]
        );
    }

    #[test]
    fn unnamed_attributes_land_in_other_by_their_own_name() {
        let json = r#"{"new_thing":{"a":1,"b":{ "c": [2] }},"word":true,"list":[[1,[2]],{"k" : "v \" x"}]}"#;
        let found = pane(json, Pane::Other);
        assert_eq!(
            found,
            ["new_thing|a: 1", "new_thing|b: {\"c\":[2]}", "|word: true", "list|[1,[2]]", "list|{\"k\":\"v \\\" x\"}"]
        );
    }

    #[test]
    fn a_process_is_read_wherever_its_name_stands() {
        let json = r#"{"processes_tree":[{"children":[{"name":"b","process_id":7,"time_offset":3}],"name":"a","process_id":"7"},{"name":"c","children":[null]},{}]}"#;
        let twice = r#"{"processes_tree":[{"name":"X","children":[{"name":"y"}],"mid":"M","children":[],"end":"E"}]}"#;
        assert_eq!(report(twice).lines(0, 0).unwrap().len(), 3);
        let long = format!(r#"{{"processes_tree":[{{"cmd":"{}","name":"behind"}}]}}"#, "c".repeat(20_000));
        assert_eq!(pane(&long, Pane::Processes), ["|behind"]);
        assert_eq!(pane(json, Pane::Processes), ["|a  7", "|b  7  +3 s", "|c", "|null", "|(no name)"]);
        let found = report(json);
        let own: Vec<_> = found.lines(0, 0).unwrap().into_iter().map(|line| line.name.unwrap()).collect();
        assert_eq!(own, [Untrusted::from("name"), Untrusted::from("process_id")]);
    }

    #[test]
    fn moments_are_dates_where_they_can_be() {
        let json = r#"{"analysis_date":1753002092,"last_modification_date":"never"}"#;
        assert_eq!(pane(json, Pane::Overview), ["analysed|2025-07-20 09:01:32 UTC", "modified|never"]);
    }

    #[test]
    fn lines_take_a_value_apart_without_losing_a_leaf() {
        let found = lines(br#"{"a":[1,{"b":"x"}],"a":null}"#);
        let shape: Vec<_> = found.iter().map(|l| (l.depth, l.name.is_some(), l.value.is_some())).collect();
        assert_eq!(
            shape,
            [
                (0, false, false),
                (1, true, false),
                (2, false, true),
                (2, false, false),
                (3, true, true),
                (1, true, true)
            ]
        );
    }

    #[test]
    fn a_member_row_is_cut_at_its_own_end() {
        let found = report(r#"{"thing":{"a" : 1 , "b": [2, 3] }, "z": 1}"#);
        assert_eq!(found.raw_row(0, 0).unwrap(), br#""a" : 1"#);
        assert_eq!(found.raw_row(0, 1).unwrap(), br#""b": [2, 3]"#);
    }
}
