//! Rows on a page that has lost what says where they are: each says how long it is, and of what kinds its values are.
//!
//! ```text
//! length · number of the row │ length of the kinds · kind · kind · … │ value · value · …
//! ```
//! What is no row passes for one about never; where it does, its seal is none.

use super::heads::{Kind, PAGE, Page};
use crate::order;

/// The head of a page of rows whose head is of no use, up to where it says where each row is; none where there are no rows.
pub(super) fn head(page: &Page) -> Option<Vec<u8>> {
    let mut found = if page.is_sound() { Vec::new() } else { rows(page) };
    // What seems to be a row where the head has to be is none.
    let begin = loop {
        let begin = found.iter().map(|row| row.at).min()?;
        if Kind::Leaf.head() + 2 * found.len() <= begin {
            break begin;
        }
        found.retain(|row| row.at != begin);
    };
    let size: usize = found.iter().map(|row| row.size).sum();
    let short = |number: usize| u16::try_from(number).ok().map(u16::to_be_bytes);
    // What lies between rows is of no use to anybody who only reads.
    let lost = u8::try_from(PAGE - begin - size).unwrap_or(0);
    let mut head = [&[Kind::Leaf as u8, 0, 0][..], &short(found.len())?, &short(begin)?, &[lost]].concat();
    for row in &found {
        head.extend(short(row.at)?);
    }
    Some(head)
}

/// A row on a page.
#[derive(Clone, Copy)]
struct Row {
    number: i64,
    at: usize,
    size: usize,
}

/// The rows that take most of the page together and do not lie over each other, in the order of their numbers.
fn rows(page: &Page) -> Vec<Row> {
    let mut best = vec![(0, None); PAGE + 1];
    for at in (0..PAGE).rev() {
        let behind = |at: usize| best.get(at).map_or(0, |(taken, _): &(usize, Option<Row>)| *taken);
        let without = behind(at + 1);
        let with = row(page, at).map(|row| (row.size + behind(at + row.size), Some(row)));
        let chosen = with.filter(|(taken, _)| *taken > without).unwrap_or((without, None));
        if let Some(place) = best.get_mut(at) {
            *place = chosen;
        }
    }
    let (mut found, mut at) = (Vec::<Row>::new(), 0);
    while let Some((_, chosen)) = best.get(at) {
        found.extend(chosen);
        at += chosen.map_or(1, |row| row.size);
    }
    order::sort_by_key(&mut found, |row| row.number);
    found.dedup_by_key(|row| row.number);
    found
}

/// The row that begins here, if one can.
fn row(page: &Page, at: usize) -> Option<Row> {
    let (number, size) = page.cell(Kind::Leaf, at).filter(|(_, size)| at + size <= PAGE)?;
    let (length, first) = page.number(at)?;
    let (_, second) = page.number(at + first)?;
    let start = at + first + second;
    let (kinds, own) = page.number(start)?;
    let (kinds, mut next) = (usize::try_from(kinds).ok()?, start + own);
    let end = start.checked_add(kinds).filter(|end| *end > next && *end <= at + size)?;
    let mut values = 0_i64;
    while next < end {
        let (kind, taken) = page.number(next)?;
        values = values.checked_add(value(kind)?)?;
        next += taken;
    }
    (next == end && i64::try_from(kinds).ok()?.checked_add(values)? == length).then_some(Row { number, at, size })
}

/// How long a value of a kind is.
fn value(kind: i64) -> Option<i64> {
    match kind {
        0 | 8 | 9 => Some(0),
        1..=4 => Some(kind),
        5 => Some(6),
        6 | 7 => Some(8),
        12.. => Some((kind - 12) / 2),
        _ => None,
    }
}
