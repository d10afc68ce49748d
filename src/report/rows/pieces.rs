//! The pieces of a row's text: the fields that the table names for a record, or else a value.

use super::Piece;
use super::severity;
use super::values::{compact, joined, split_member};
use crate::report::attributes::{Field, HIDDEN, NAMED_VALUE, PASSWORD, Role, Shape};
use crate::report::identifier::is_moment;
use crate::report::index::{Form, Section};
use crate::report::json::{Kind, Raw};
use crate::report::registry::ValueMember;
use crate::text::Untrusted;

/// The most values of evidence that a line shows; further ones are counted.
const EVIDENCE: usize = 8;

/// What stands before a field that is one of several.
const BETWEEN: &str = " · ";

/// How much of a row is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Told {
    /// What a line has room for; the rest is counted.
    InALine,
    Whole,
}

impl Told {
    fn value(self, raw: Raw<'_>) -> Untrusted {
        if self == Self::Whole { joined(raw, usize::MAX) } else { compact(raw) }
    }
}

/// Adds a member with its name.
pub(super) fn tell(pieces: &mut Vec<Piece>, name: Untrusted, value: Raw<'_>) {
    let is_secret = name.as_bytes() == PASSWORD.as_bytes();
    let value = if is_secret { Piece::Own(HIDDEN.into()) } else { Piece::Detail(Told::Whole.value(value)) };
    pieces.extend([Piece::Own(BETWEEN.into()), Piece::Detail(name), Piece::Own(" ".into()), value]);
}

/// The pieces of a row that is not a process.
pub(super) fn pieces(section: &Section, bytes: &[u8], registry: ValueMember, told: Told) -> Vec<Piece> {
    let shape = section.attribute.map(|attribute| &attribute.shape);
    if let (Some(technique), Some(Shape::Records(fields))) = (section.technique(bytes), shape) {
        return record_pieces(Raw::new(&technique), fields, told);
    }
    if matches!(section.form, Form::Object | Form::Loose) {
        return member_pieces(bytes, told);
    }
    let raw = Raw::new(bytes);
    match shape {
        Some(Shape::Moment) => {
            // Some sandboxes write another number where they have no date.
            let no_date = || vec![Piece::Own("no date given: ".into()), Piece::Value(told.value(raw))];
            let shown = raw.integer().map(|seconds| moment(seconds).map_or_else(no_date, |when| vec![when]));
            shown.unwrap_or_else(|| vec![Piece::Value(told.value(raw))])
        }
        Some(Shape::Records(_)) if registry == ValueMember::Name && section.name.as_bytes() == b"registry_keys_set" => {
            record_pieces(raw, &NAMED_VALUE, told)
        }
        Some(Shape::Records(fields)) if raw.kind() == Kind::Object => record_pieces(raw, fields, told),
        _ => vec![Piece::Value(told.value(raw))],
    }
}

fn moment(seconds: i64) -> Option<Piece> {
    let when = jiff::Timestamp::from_second(seconds).ok().filter(|_| is_moment(seconds))?;
    Some(Piece::Own(when.strftime("%Y-%m-%d %H:%M:%S UTC").to_string().into()))
}

/// The fields that the table names, in its order; the others behind them, or their number.
fn record_pieces(raw: Raw<'_>, fields: &'static [Field], told: Told) -> Vec<Piece> {
    // A member that is null says nothing.
    let members: Vec<_> = raw.members().filter(|(_, value)| value.bytes() != b"null").collect();
    let said = |field: &Field| {
        let found = members.iter().find(|(name, _)| name.as_bytes() == field.name.as_bytes());
        found.map(|(_, value)| *value)
    };
    let about =
        fields.iter().find(|field| field.role == Role::About && said(field).is_some_and(|value| !is_empty(value)));
    let (mut pieces, mut has_value) = (Vec::new(), about.is_some());
    for (n, field) in fields.iter().enumerate() {
        let Some(value) = said(field) else { continue };
        // Skip an empty first value, unless the separator before the next shows that one is
        // missing.
        let next = || fields.iter().skip(n + 1).find(|next| said(next).is_some());
        if pieces.is_empty() && is_empty(value) && next().is_none_or(|next| next.before == BETWEEN) {
            continue;
        }
        let is_said = |piece: &Piece| matches!(piece, Piece::Value(said) if *said == compact(value));
        // A signature is often called by its identifier: once is enough.
        if field.name == "id" && pieces.iter().any(is_said) {
            continue;
        }
        if !pieces.is_empty() {
            let words = before(&mut pieces, field);
            pieces.push(Piece::Own(words.into()));
        }
        pieces.push(match field.role {
            Role::Severity => Piece::Detail(severity::word(compact(value))),
            Role::Evidence => {
                Piece::Detail(severity::evidence(value, if told == Told::Whole { usize::MAX } else { EVIDENCE }))
            }
            // The first shown value is the row's subject, unless a field has that role.
            _ if about.map_or(has_value, |about| about != field) => Piece::Detail(told.value(value)),
            Role::Said | Role::About => Piece::Value(told.value(value)),
        });
        has_value |= matches!(field.role, Role::Said | Role::About);
    }
    let named = |name: &Untrusted| fields.iter().any(|field| field.name.as_bytes() == name.as_bytes());
    if pieces.is_empty() {
        return vec![Piece::Value(told.value(raw))];
    }
    let others = members.iter().filter(|(name, _)| !named(name));
    match others.clone().count() {
        0 => {}
        _ if told == Told::Whole => others.for_each(|(name, value)| tell(&mut pieces, name.clone(), *value)),
        more => pieces.push(Piece::Own(format!(" · {more} more").into())),
    }
    pieces
}

/// Whether a value is an empty text.
fn is_empty(value: Raw<'_>) -> bool {
    value.bytes() == b"\"\""
}

/// The separator before a field. An address that contains colons gets brackets, which separate it
/// from the port.
fn before(pieces: &mut Vec<Piece>, field: &Field) -> &'static str {
    let has_colons = matches!(pieces.as_slice(), [Piece::Value(address)] if address.as_bytes().contains(&b':'));
    if field.before == ":" && has_colons {
        pieces.insert(0, Piece::Own("[".into()));
        return "]:";
    }
    field.before
}

/// `name: value` of an object that is no record.
fn member_pieces(bytes: &[u8], told: Told) -> Vec<Piece> {
    let (name, value) = split_member(bytes);
    vec![Piece::Detail(name.text()), Piece::Own(": ".into()), Piece::Value(told.value(value))]
}
