//! A row as the JSON that it is made of, whole; and JSON taken apart into its leaves.

use super::Report;
use super::values::{member_length, split_member};
use crate::report::index::{Form, Section};
use crate::report::json::{Event, Kind, Raw, Scanner};
use crate::text::Untrusted;
use std::io;
use std::ops::Range;

/// How many bytes are read at first of a row whose end is not known.
const FIRST_READ: u64 = 64 * 1024;

/// How many bytes are read at first of what a process says after its children: nearly always it is a bracket.
const FIRST_TAIL: u64 = 256;

/// How much is read of a process that lists its children more than once.
const MOST_AFTER_CHILDREN: u64 = 16 * 1024;

/// A row's place in its report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Place {
    pub section: usize,
    pub row: usize,
}

/// A row, whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// Name of the member, where the row is one of an object.
    pub member: Option<Untrusted>,
    /// The value as written; of a process all but its children.
    pub value: Vec<u8>,
    /// Level of a process in its tree, 0 for a root and for every other row.
    pub depth: u16,
}

/// One step from a value to a part of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// To a member of an object.
    Member(Untrusted),
    /// To an element of an array, counted from 0.
    Element(usize),
}

impl Report {
    /// A row, whole, whatever its length.
    pub fn record(&self, place: Place) -> io::Result<Record> {
        let empty = Record { member: None, value: Vec::new(), depth: 0 };
        let Some(section) = self.section(place.section) else { return Ok(empty) };
        let extent = self.extent(place.section, place.row);
        match section.form {
            Form::Processes => self.process_record(place, section),
            Form::Object | Form::Loose => {
                let bytes = self.read_up_to(extent, FIRST_READ, |bytes| member_length(bytes) < bytes.len())?;
                let (name, value) = split_member(&bytes);
                Ok(Record { member: Some(name.text()), value: value.bytes().to_vec(), depth: 0 })
            }
            Form::Scalar | Form::Array => {
                let bytes = self.read_up_to(extent, FIRST_READ, |bytes| {
                    let raw = Raw::new(bytes);
                    raw.bytes().len() < raw.length_to_end()
                })?;
                Ok(Record { value: Raw::new(&bytes).bytes().to_vec(), ..empty })
            }
        }
    }

    /// As many bytes of a range as it takes until they are enough, beginning with `first` of them.
    fn read_up_to(&self, range: Range<u64>, first: u64, is_enough: impl Fn(&[u8]) -> bool) -> io::Result<Vec<u8>> {
        let mut length = first;
        loop {
            let end = range.start.saturating_add(length).min(range.end);
            let bytes = self.body.window(range.start..end)?;
            if (bytes.len() as u64) < length || is_enough(&bytes) {
                return Ok(bytes);
            }
            length = length.saturating_mul(4);
        }
    }

    /// A process with what stands before its children and after them.
    fn process_record(&self, place: Place, section: &Section) -> io::Result<Record> {
        let depth = section.depths().get(place.row).unwrap_or_default();
        let head = self.read_up_to(self.extent(place.section, place.row), FIRST_READ, closes)?;
        if Raw::new(&head).kind() != Kind::Object {
            return Ok(Record { member: None, value: Raw::new(&head).bytes().to_vec(), depth });
        }
        let mut value = vec![b'{'];
        let has_tail = push_own(&head, &mut value);
        if let Some(tail) = self.tail(place.section, place.row).filter(|_| has_tail) {
            let start = tail.start;
            let mut rest = self.after_children(tail)?;
            if !closes(&rest) {
                // Another list of children stands there: what follows it belongs to this process as well.
                rest = self.after_children(start..start.saturating_add(MOST_AFTER_CHILDREN))?;
            }
            push_own(&rest, &mut value);
        }
        value.push(b'}');
        Ok(Record { member: None, value, depth })
    }

    /// What a process says after its children, as the object that it is a part of; what encloses the process ends behind it, and
    /// may do so at great length, so no more of the range is read than it takes.
    pub(super) fn after_children(&self, range: Range<u64>) -> io::Result<Vec<u8>> {
        let opened = |bytes: &[u8]| [b"{", bytes].concat();
        self.read_up_to(range, FIRST_TAIL, |bytes| closes(&opened(bytes))).map(|bytes| opened(&bytes))
    }
}

/// Adds a process's members but its children; says whether it stopped at the first list of them.
fn push_own(bytes: &[u8], value: &mut Vec<u8>) -> bool {
    let is_tail = bytes.starts_with(b"{,") || bytes.starts_with(b"{}");
    for (name, member) in Raw::new(bytes).pairs() {
        if name.text().as_bytes() == b"children" && member.kind() == Kind::Array {
            if is_tail {
                continue;
            }
            return true;
        }
        if value.len() > 1 {
            value.push(b',');
        }
        value.extend_from_slice(name.bytes());
        value.push(b':');
        value.extend_from_slice(member.bytes());
    }
    false
}

/// Whether the container that bytes start with ends in them.
fn closes(bytes: &[u8]) -> bool {
    let (mut open, mut has_closed) = (0_usize, false);
    Scanner::default().feed(bytes, &mut |_, event| match event {
        Event::Open { .. } => open += 1,
        Event::Close => {
            open = open.saturating_sub(1);
            has_closed |= open == 0;
        }
        Event::Name(_) | Event::Text | Event::Word => {}
    });
    has_closed
}

/// Takes a value apart: each string, number and word, and each empty object and array, with the way to it.
///
/// No recursion, and nothing is left out: names that stand twice lead to two leaves.
pub fn leaves(bytes: &[u8], sink: &mut impl FnMut(&[Step], Raw<'_>)) {
    let mut way: Vec<Step> = Vec::new();
    let mut open: Vec<Open> = Vec::new();
    Scanner::default().feed(bytes, &mut |at, event| match event {
        Event::Name(name) => {
            if let Some(container) = open.last_mut() {
                container.name = Some(Untrusted::from_json(name));
            }
        }
        Event::Open { object } => {
            enter(&mut way, &mut open);
            open.push(Open { object, count: 0, name: None });
        }
        Event::Close => {
            if open.pop().is_some_and(|closed| closed.count == 0) {
                let end = usize::try_from(at).unwrap_or(usize::MAX);
                let start = bytes.get(..end).and_then(|before| before.iter().rposition(|b| matches!(b, b'{' | b'[')));
                sink(&way, Raw::new(start.and_then(|start| bytes.get(start..end)).unwrap_or_default()));
            }
            way.pop();
        }
        Event::Text | Event::Word => {
            enter(&mut way, &mut open);
            let start = usize::try_from(at).unwrap_or(usize::MAX);
            sink(&way, Raw::new(bytes.get(start..).unwrap_or_default()));
            way.pop();
        }
    });
}

/// A container that is open.
struct Open {
    object: bool,
    count: usize,
    name: Option<Untrusted>,
}

/// Takes the step to the next value of the innermost container; at the top it is no step, but keeps the balance.
fn enter(way: &mut Vec<Step>, open: &mut [Open]) {
    let step = match open.last_mut() {
        None => return way.push(Step::Element(0)),
        Some(container) => {
            container.count += 1;
            let place = container.count - 1;
            if container.object {
                Step::Member(container.name.take().unwrap_or_default())
            } else {
                Step::Element(place)
            }
        }
    };
    way.push(step);
}

/// A way as one text, such as `resolved_ips/0`: steps with `/` between them; `~` and `/` inside of a name stand as `~0` and
/// `~1` (RFC 6901).
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
    use crate::report::body::Body;
    use crate::report::index::Index;

    fn report(json: &str) -> Report {
        let body = Body::in_memory(json.as_bytes().to_vec());
        let index = Index::of(&body).unwrap();
        Report::new(body, index)
    }

    fn records(json: &str) -> Vec<String> {
        let report = report(json);
        let places = report
            .index
            .sections
            .iter()
            .enumerate()
            .flat_map(|(section, found)| (0..found.len()).map(move |row| Place { section, row }));
        places
            .map(|place| {
                let record = report.record(place).unwrap();
                let name = record.member.map(|name| format!("{} ", name.visible())).unwrap_or_default();
                format!("{}{name}{}", "> ".repeat(record.depth.into()), String::from_utf8(record.value).unwrap())
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
    fn a_process_keeps_all_of_its_own_members_and_none_of_its_childrens() {
        let json = r#"{"processes_tree":[{"children":[{"name":"b","process_id":7}],"name":"a","n":[{}]},{"name":"c","children":[null]},{},
            {"name":"X","children":[{"name":"y"}],"mid":"M","children":[{"name":"z"}],"end":"E"},{"children":7,"q":1,"children":[]}]}"#;
        let found = records(json);
        assert_eq!(
            found,
            [
                r#"{"name":"a","n":[{}]}"#,
                r#"> {"name":"b","process_id":7}"#,
                r#"{"name":"c"}"#,
                "> null",
                "{}",
                r#"{"name":"X","mid":"M","end":"E"}"#,
                r#"> {"name":"y"}"#,
                r#"> {"name":"z"}"#,
                r#"{"children":7,"q":1}"#,
            ]
        );
    }

    #[test]
    fn leaves_have_a_way_each() {
        let mut found = Vec::new();
        leaves(br#"{"a":[1,{"b/c":"x"},[]],"a":{},"d":null}"#, &mut |way, raw| {
            found.push(format!("{}={}", pointer(way.iter().skip(1)).visible(), String::from_utf8_lossy(raw.bytes())));
        });
        assert_eq!(found, ["a/0=1", r#"a/1/b~1c="x""#, "a/2=[]", "a={}", "d=null"]);
    }
}
