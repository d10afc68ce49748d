//! A whole row as JSON, and the leaves of JSON.

use super::pieces::split_member;
use super::{Report, RowPlace};
use crate::report::index::SectionForm;
use crate::report::json::{Event, Kind, Raw, Scanner};
use crate::text::Untrusted;
use std::borrow::Cow;

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
