//! The text of a row: the fields that the table names, or else its value in one line or by leaf;
//! the whole row as JSON, and the leaves of JSON.

use super::{Piece, Report, RowPlace};
use crate::report::attributes::{FieldRole, HIDDEN, NAMED_VALUE, PASSWORD, RecordField, TREE_TECHNIQUES, ValueShape};
use crate::report::identifier::is_moment;
use crate::report::index::{Section, SectionForm};
use crate::report::json::{Event, Kind, Raw, Scanner};
use crate::text::Untrusted;
use std::borrow::Cow;

/// The meaning of the member `value` of `registry_keys_set`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ValueMember {
    /// The report names no sandbox, or is of several.
    #[default]
    Unclear,
    /// The data; the key ends with the value's name.
    Data,
    /// The value's name, under the key; the data is missing.
    Name,
}

impl ValueMember {
    pub(super) fn of(sandbox: &Untrusted) -> Self {
        let sandbox = String::from_utf8_lossy(sandbox.as_bytes()).to_lowercase();
        let gives_name = ["lastline", "sndbox", "orcas"].iter().any(|name| sandbox.contains(name));
        match sandbox.trim() {
            "" => Self::Unclear,
            _ if gives_name => Self::Name,
            _ => Self::Data,
        }
    }
}

/// Maximum of values of a list in a line; further ones are counted.
const MAX_JOINED: usize = 8;

const SEPARATOR: &str = " · ";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RowLength {
    /// As much as fits in a line; the rest is counted.
    InALine,
    Whole,
}

impl RowLength {
    fn value(self, raw: Raw<'_>) -> Untrusted {
        if self == Self::Whole { joined(raw, usize::MAX) } else { compact(raw) }
    }
}

pub(super) fn push_member(pieces: &mut Vec<Piece>, name: Untrusted, value: Raw<'_>) {
    let is_secret = name.as_bytes() == PASSWORD.as_bytes();
    let value = if is_secret { Piece::Own(HIDDEN.into()) } else { Piece::Detail(RowLength::Whole.value(value)) };
    pieces.extend([Piece::Own(SEPARATOR.into()), Piece::Detail(name), Piece::Own(" ".into()), value]);
}

pub(super) fn pieces(section: &Section, bytes: &[u8], registry: ValueMember, length: RowLength) -> Vec<Piece> {
    let shape = section.attribute.map(|attribute| &attribute.shape);
    if let (Some(technique), Some(ValueShape::Records(fields))) = (section.technique(bytes), shape) {
        return record_pieces(Raw::new(&technique), fields, length);
    }
    if matches!(section.form, SectionForm::Object | SectionForm::Loose) {
        let (name, value) = split_member(bytes);
        return vec![Piece::Detail(name.text()), Piece::Own(": ".into()), Piece::Value(length.value(value))];
    }
    let raw = Raw::new(bytes);
    match shape {
        Some(ValueShape::Moment) => {
            // Some sandboxes write another number where they have no date.
            let no_date = || vec![Piece::Own("no date given: ".into()), Piece::Value(length.value(raw))];
            let shown = raw.integer().map(|seconds| moment(seconds).map_or_else(no_date, |when| vec![when]));
            shown.unwrap_or_else(|| vec![Piece::Value(length.value(raw))])
        }
        Some(ValueShape::Records(_))
            if registry == ValueMember::Name && section.name.as_bytes() == b"registry_keys_set" =>
        {
            record_pieces(raw, &NAMED_VALUE, length)
        }
        Some(ValueShape::Records(fields)) if raw.kind() == Kind::Object => record_pieces(raw, fields, length),
        _ => vec![Piece::Value(length.value(raw))],
    }
}

fn moment(seconds: i64) -> Option<Piece> {
    let when = jiff::Timestamp::from_second(seconds).ok().filter(|_| is_moment(seconds))?;
    Some(Piece::Own(when.strftime("%Y-%m-%d %H:%M:%S UTC").to_string().into()))
}

/// Returns the fields that the table names, in its order, then the others or their number.
fn record_pieces(raw: Raw<'_>, fields: &'static [RecordField], length: RowLength) -> Vec<Piece> {
    // Members that are null are not shown.
    let members: Vec<_> = raw.members().filter(|(_, value)| value.bytes() != b"null").collect();
    let field_text = |field: &RecordField| {
        let found = members.iter().find(|(name, _)| name.as_bytes() == field.name.as_bytes());
        found.map(|(_, value)| *value)
    };
    let mut subjects = fields.iter().filter(|field| field.role == FieldRole::About);
    let about = subjects.find(|field| field_text(field).is_some_and(|value| !is_empty(value)));
    let mut pieces = Vec::new();
    let mut has_value = about.is_some();
    for (n, field) in fields.iter().enumerate() {
        let Some(value) = field_text(field) else { continue };
        // Skip an empty first value, unless the separator before the next shows the gap.
        let next = || fields.iter().skip(n + 1).find(|next| field_text(next).is_some());
        if pieces.is_empty() && is_empty(value) && next().is_none_or(|next| next.before == SEPARATOR) {
            continue;
        }
        let is_shown = |piece: &Piece| matches!(piece, Piece::Value(field_text) if *field_text == compact(value));
        // The name of a signature is often its identifier, which is then shown once.
        if field.name == "id" && pieces.iter().any(is_shown) {
            continue;
        }
        if !pieces.is_empty() {
            let words = before(&mut pieces, field);
            pieces.push(Piece::Own(words.into()));
        }
        pieces.push(match field.role {
            FieldRole::Severity => Piece::Detail(severity_word(compact(value))),
            FieldRole::Evidence => {
                Piece::Detail(evidence(value, if length == RowLength::Whole { usize::MAX } else { MAX_JOINED }))
            }
            // The first shown value is the row's subject, unless a field has that role.
            _ if about.map_or(has_value, |about| about != field) => Piece::Detail(length.value(value)),
            FieldRole::Plain | FieldRole::About => Piece::Value(length.value(value)),
        });
        has_value |= matches!(field.role, FieldRole::Plain | FieldRole::About);
    }
    let named = |name: &Untrusted| fields.iter().any(|field| field.name.as_bytes() == name.as_bytes());
    if pieces.is_empty() {
        return vec![Piece::Value(length.value(raw))];
    }
    let others = members.iter().filter(|(name, _)| !named(name));
    match others.clone().count() {
        0 => {}
        _ if length == RowLength::Whole => {
            others.for_each(|(name, value)| push_member(&mut pieces, name.clone(), *value))
        }
        more => pieces.push(Piece::Own(format!(" · {more} more").into())),
    }
    pieces
}

fn is_empty(value: Raw<'_>) -> bool {
    value.bytes() == b"\"\""
}

/// Returns the separator before a field; an address with colons gets brackets before its port.
fn before(pieces: &mut Vec<Piece>, field: &RecordField) -> &'static str {
    let has_colons = matches!(pieces.as_slice(), [Piece::Value(address)] if address.as_bytes().contains(&b':'));
    if field.before == ":" && has_colons {
        pieces.insert(0, Piece::Own("[".into()));
        return "]:";
    }
    field.before
}

const PREFIX: &[u8] = b"IMPACT_SEVERITY_";

/// The severity words, the most severe first; several mean the same. Unknown words come last.
const SEVERITIES: [&[&str]; 5] =
    [&["critical"], &["high"], &["medium", "moderate"], &["low"], &["info", "informational", "information"]];

fn severity_word(text: Untrusted) -> Untrusted {
    text.as_bytes().strip_prefix(PREFIX).map(Untrusted::from).unwrap_or(text)
}

/// Rank of a severity, the most severe first.
pub(crate) fn severity_rank(text: Untrusted) -> usize {
    let word = severity_word(text);
    let is_one = |words: &&[&str]| words.iter().any(|known| word.as_bytes().eq_ignore_ascii_case(known.as_bytes()));
    SEVERITIES.iter().position(is_one).unwrap_or(SEVERITIES.len())
}

impl Section {
    /// Returns a technique of a summary or of the service's trees as a record: number, highest
    /// severity, all descriptions and references; `None` for other rows. In a summary the row is a
    /// member: the number with a list of observations.
    pub(crate) fn technique(&self, row: &[u8]) -> Option<Vec<u8>> {
        let (id, seen) = match (self.attribute?.name, self.form) {
            ("attack_techniques", SectionForm::Object) => split_member(row),
            (TREE_TECHNIQUES, SectionForm::Array) => (Raw::new(row).member("id")?, Raw::new(row).member("signatures")?),
            _ => return None,
        };
        let seen = seen.each();
        let all = |name| seen.iter().filter_map(move |one| one.member(name));
        let severity = all("severity").min_by_key(|severity| severity_rank(severity.text()));
        let texts = all("description").map(Raw::content).filter(|text| !text.is_empty());
        let description = texts.collect::<Vec<_>>().join(&b"; "[..]);
        let refs = all("refs").flat_map(Raw::elements).map(Raw::bytes).collect::<Vec<_>>().join(&b","[..]);
        let mut record = [br#"{"id":"#, id.bytes()].concat();
        record.extend(severity.iter().flat_map(|severity| [br#","severity":"#, severity.bytes()].concat()));
        record.extend([br#","description":""#, &description[..], br#"""#].concat());
        if !refs.is_empty() {
            record.extend([br#","refs":["#, &refs[..], b"]"].concat());
        }
        record.push(b'}');
        Some(record)
    }
}

/// Formats evidence in one line: values with names, a reference's `value`; counts past `most`.
fn evidence(raw: Raw<'_>, most: usize) -> Untrusted {
    let mut joined = Vec::new();
    let mut count = 0_usize;
    leaves(raw.bytes(), &mut |way, value| {
        let name = match way.last() {
            Some(Step::Member(name)) => name.as_bytes(),
            Some(Step::Element(_)) | None => b"",
        };
        if name == b"ref" {
            return;
        }
        count += 1;
        if count > most {
            return;
        }
        let before: &[u8] = if joined.is_empty() { b"" } else { b", " };
        joined.extend_from_slice(before);
        if !matches!(name, b"" | b"value") {
            joined.extend([name, b"="].concat());
        }
        joined.extend_from_slice(value.text().as_bytes());
    });
    if count > most {
        joined.extend_from_slice(format!(", +{}", count - most).as_bytes());
    }
    Untrusted::from(joined)
}

/// One line of a value that is shown whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    pub depth: usize,
    pub name: Option<Untrusted>,
    /// The value; `None` for an object or array, whose content follows.
    pub value: Option<Untrusted>,
}

/// Returns a member's name and its value.
pub(crate) fn split_member(bytes: &[u8]) -> (Raw<'_>, Raw<'_>) {
    let name = Raw::new(bytes);
    (name, Raw::new(bytes.get(name.bytes().len()..).unwrap_or_default()))
}

/// Returns a value in one line: strings decoded, flat arrays joined, deeper values as written.
pub(crate) fn compact(raw: Raw<'_>) -> Untrusted {
    joined(raw, MAX_JOINED)
}

/// Writes a value as [`compact`] does, with at most `most` of a flat array, the rest counted.
fn joined(raw: Raw<'_>, most: usize) -> Untrusted {
    match raw.kind() {
        Kind::Text | Kind::Word => raw.text(),
        Kind::Array => side_by_side(raw, most).unwrap_or_else(|| Untrusted::from(squeezed(raw.bytes()))),
        Kind::Object => Untrusted::from(squeezed(raw.bytes())),
    }
}

/// Returns the elements of a flat array, the rest counted; `None` if it is empty or not flat.
fn side_by_side(raw: Raw<'_>, most: usize) -> Option<Untrusted> {
    let elements: Vec<_> = raw.elements().take(most.saturating_add(1)).collect();
    let is_flat = elements.iter().all(|element| matches!(element.kind(), Kind::Text | Kind::Word));
    if elements.is_empty() || !is_flat {
        return None;
    }
    let mut joined = Vec::new();
    for element in elements.iter().take(most) {
        if !joined.is_empty() {
            joined.extend_from_slice(b", ");
        }
        joined.extend_from_slice(element.text().as_bytes());
    }
    if elements.len() > most {
        joined.extend_from_slice(format!(", +{}", raw.elements().count() - most).as_bytes());
    }
    Some(Untrusted::from(joined))
}

/// JSON without the blanks between its values.
fn squeezed(bytes: &[u8]) -> Vec<u8> {
    let mut in_text = false;
    let mut is_escaped = false;
    let keep = |byte: &&u8| {
        let is_blank = !in_text && byte.is_ascii_whitespace();
        in_text ^= **byte == b'"' && !is_escaped;
        is_escaped = in_text && **byte == b'\\' && !is_escaped;
        !is_blank
    };
    bytes.iter().filter(keep).copied().collect()
}

/// Returns the leaves of a value, a line each, and a line for each object and array.
pub fn lines(bytes: &[u8]) -> Vec<Line> {
    let mut found = Vec::new();
    let mut name = None;
    let mut depth = 0_usize;
    Scanner::default().feed(bytes, &mut |at, event| {
        let leaf = |at: u64| usize::try_from(at).ok().and_then(|at| bytes.get(at..)).map(|rest| Raw::new(rest).text());
        match event {
            Event::Name(raw) => name = Some(Untrusted::from_json(raw)),
            Event::Open { .. } => {
                found.push(Line { depth, name: name.take(), value: None });
                depth += 1;
            }
            Event::Close => depth = depth.saturating_sub(1),
            Event::Text | Event::Word { .. } => {
                let is_secret = name.as_ref().is_some_and(|name: &Untrusted| name.as_bytes() == PASSWORD.as_bytes());
                let value = if is_secret { Some(Untrusted::from(HIDDEN)) } else { leaf(at) };
                found.push(Line { depth, name: name.take(), value });
            }
        }
    });
    found
}

/// The JSON of a row.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Record<'a> {
    /// Name of the member, if the row is a member of an object.
    pub member: Option<Untrusted>,
    /// The value as written; of a process without its children.
    pub value: Cow<'a, [u8]>,
}

/// One step from a value to a part of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    Member(Untrusted),
    /// To an element of an array, counted from 0.
    Element(usize),
}

impl Report {
    /// Returns the JSON of a row, of any length.
    pub fn record(&self, place: RowPlace) -> Record<'_> {
        let Some(section) = self.section(place.section) else { return Record::default() };
        let bytes = self.body.window(self.extent(place.section, place.row));
        match section.form {
            // Members of a process precede its children and follow them.
            SectionForm::Processes if Raw::new(bytes).kind() == Kind::Object => {
                let own = self.own_members(place, bytes);
                let own: Vec<_> = own.map(|(name, value)| [name.bytes(), value.bytes()].join(&b':')).collect();
                Record { member: None, value: [b"{", &*own.join(&b','), b"}"].concat().into() }
            }
            SectionForm::Object | SectionForm::Loose => {
                let (name, value) = split_member(bytes);
                Record { member: Some(name.text()), value: value.bytes().into() }
            }
            _ => Record { member: None, value: Raw::new(bytes).bytes().into() },
        }
    }
}

/// Visits each string, number and word, and each empty object and array, with its path.
///
/// Does not recurse, and visits every leaf: two members of one name are two leaves.
pub fn leaves(bytes: &[u8], sink: &mut impl FnMut(&[Step], Raw<'_>)) {
    let mut way = Vec::new();
    let mut name = Untrusted::default();
    // For each open container: whether it is an object, its number of values, and its offset.
    let mut open: Vec<(bool, usize, usize)> = Vec::new();
    Scanner::default().feed(bytes, &mut |at, event| {
        let at = usize::try_from(at).unwrap_or(usize::MAX);
        match event {
            Event::Name(raw) => name = Untrusted::from_json(raw),
            Event::Close => {
                if let Some((_, 0, start)) = open.pop() {
                    sink(&way, Raw::new(bytes.get(start..at).unwrap_or_default()));
                }
                way.pop();
            }
            Event::Open { .. } | Event::Text | Event::Word { .. } => {
                // The top value has a step too, so that steps and containers match.
                let count = open.last_mut().map_or(0, |(_, count, _)| std::mem::replace(count, *count + 1));
                way.push(match open.last() {
                    Some((true, ..)) => Step::Member(std::mem::take(&mut name)),
                    _ => Step::Element(count),
                });
                if let Event::Open { object } = event {
                    open.push((object, 0, at));
                } else {
                    sink(&way, Raw::new(bytes.get(at..).unwrap_or_default()));
                    way.pop();
                }
            }
        }
    });
}

/// Formats a path such as `resolved_ips/0`; `~` and `/` in a name become `~0` and `~1` (RFC 6901).
pub fn pointer<'a>(way: impl IntoIterator<Item = &'a Step>) -> Untrusted {
    let mut text = Vec::new();
    for (place, step) in way.into_iter().enumerate() {
        if place > 0 {
            text.push(b'/');
        }
        match step {
            Step::Element(place) => text.extend_from_slice(place.to_string().as_bytes()),
            Step::Member(name) => {
                for byte in name.as_bytes() {
                    match byte {
                        b'~' => text.extend_from_slice(b"~0"),
                        b'/' => text.extend_from_slice(b"~1"),
                        other => text.push(*other),
                    }
                }
            }
        }
    }
    Untrusted::from(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn records(json: &str) -> Vec<String> {
        let report = Report::of_json(json);
        let places = report
            .index
            .sections
            .iter()
            .enumerate()
            .flat_map(|(section, found)| (0..found.len()).map(move |row| RowPlace { section, row }));
        places
            .map(|place| {
                let record = report.record(place);
                let name = record.member.map(|name| format!("{} ", name.visible())).unwrap_or_default();
                let depth = report.index.sections[place.section].depths().get(place.row).unwrap_or_default();
                let value = String::from_utf8(record.value.into_owned()).unwrap();
                format!("{}{name}{value}", "> ".repeat(depth.into()))
            })
            .collect()
    }

    #[test]
    fn rows_of_every_form_are_whole() {
        let found = records(r#"{"tags":["A" , "B"],"behash":"ab","new":{"x" : 1,"y":[2, 3] },"z":true,"w": null}"#);
        assert_eq!(found, [r#""A""#, r#""B""#, r#""ab""#, "x 1", "y [2, 3]", "z true", "w null"]);
        let long = "c".repeat(300_000);
        assert_eq!(records(&format!(r#"{{"behash":"{long}","z":"{long}"}}"#)).concat().len(), 600_000 + 6);
    }

    #[test]
    fn process_record_has_its_own_members_only() {
        let json = r#"{"processes_tree":[{"children":[{"name":"b","process_id":7}],"name":"a","n":[{}]},{"name":"c","children":[null]},{},
            {"name":"X","children":[{"name":"y"}],"mid":"M","children":[{"name":"z"}],"end":"E"},{"children":7,"q":1,"children":[]}]}"#;
        let found = records(json);
        assert_eq!(
            found,
            [
                r#"{"name":"a","n":[{}]}"#,
                r#"> {"name":"b","process_id":7}"#,
                r#"{"name":"c"}"#,
                "{}",
                r#"{"name":"X","mid":"M","end":"E"}"#,
                r#"> {"name":"y"}"#,
                r#"> {"name":"z"}"#,
                r#"{"children":7,"q":1}"#,
            ]
        );
    }
}
