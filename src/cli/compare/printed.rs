//! A comparison as JSON.

use super::{Compared, pieces, words};
use crate::report::compare::{Item, Matrix};
use crate::text::Untrusted;
use serde::Serialize;

/// Texts of one sandbox about one item that are printed.
const MOST_TOLD: usize = 50;

#[derive(Serialize)]
pub(super) struct Printed {
    columns: Vec<PrintedColumn>,
    /// Whether further sandboxes may be on pages that are not held.
    more: bool,
    /// Sandboxes beyond the 64 that can be compared at once.
    left_out: usize,
    /// What holding the missing reports would cost.
    missing: Option<String>,
    items: Vec<PrintedItem>,
}

#[derive(Serialize)]
struct PrintedColumn {
    number: usize,
    file: Option<String>,
    /// The name of the document that it stands in.
    document: Option<String>,
    id: String,
    sandbox: String,
    held: bool,
    /// Items of those that are printed.
    items: usize,
}

#[derive(Serialize)]
struct PrintedItem {
    pane: &'static str,
    /// What happened to it.
    what: String,
    item: String,
    /// Numbers of the columns that saw it.
    seen: Vec<usize>,
    /// Numbers of the columns that do not list it, by a list that was perhaps cut by the service.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    perhaps_unlisted: Vec<usize>,
    /// Whether one of them tells something else of it than the first: `item` is what the first tells.
    differs: bool,
    /// Where it differs, what each of them tells.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    told: Vec<Told>,
}

/// What one sandbox tells of an item, at most fifty texts.
#[derive(Clone, Serialize)]
pub(super) struct Told {
    pub(super) number: usize,
    pub(super) items: Vec<String>,
}

pub(super) fn printed(compared: &Compared, matrix: &Matrix, numbers: &[u32]) -> std::io::Result<Printed> {
    let items: Vec<&Item> = numbers.iter().filter_map(|n| matrix.items().get(*n as usize)).collect();
    let columns = compared.columns.iter().enumerate().map(|(n, column)| PrintedColumn {
        number: n + 1,
        file: column.file.as_ref().map(ToString::to_string),
        document: column.document.as_ref().map(Untrusted::unicode),
        id: column.identifier.as_ref().map(|identifier| identifier.text().unicode()).unwrap_or_default(),
        sandbox: column.identifier.as_ref().map(|identifier| identifier.parts().sandbox.unicode()).unwrap_or_default(),
        held: column.body.is_some(),
        items: items.iter().filter(|item| item.seen >> n & 1 == 1).count(),
    });
    let columns_of = |is_meant: &dyn Fn(usize) -> bool| {
        (0..compared.columns.len()).filter(|n| is_meant(*n)).map(|n| n + 1).collect::<Vec<_>>()
    };
    let item = |(item, told): (&&Item, Vec<Told>)| {
        let row = matrix.row(item);
        PrintedItem {
            pane: item.pane.name(),
            what: words(&row, Untrusted::unicode),
            item: pieces(&row, Untrusted::unicode),
            seen: columns_of(&|n| item.seen >> n & 1 == 1),
            perhaps_unlisted: columns_of(&|n| matrix.is_perhaps_unlisted(item, n)),
            differs: item.other != 0,
            told,
        }
    };
    let told = told(matrix, numbers, Untrusted::unicode);
    Ok(Printed {
        columns: columns.collect(),
        more: compared.has_more_pages,
        left_out: compared.left_out,
        missing: compared.missing.clone(),
        items: items.iter().zip(told).map(item).collect(),
    })
}

/// What each sandbox tells of those of these items of which not all tell alike.
pub(super) fn told(matrix: &Matrix, numbers: &[u32], shown: fn(&Untrusted) -> String) -> Vec<Vec<Told>> {
    let mut all = vec![Vec::<Told>::new(); numbers.len()];
    matrix.each_of_differing(&mut |item, column, row| {
        let Some(told) = numbers.binary_search(&item).ok().and_then(|at| all.get_mut(at)) else { return };
        let (number, text) = (column + 1, pieces(&row, shown));
        match told.last_mut().filter(|told| told.number == number) {
            Some(told) if told.items.len() >= MOST_TOLD || told.items.contains(&text) => {}
            Some(told) => told.items.push(text),
            None => told.push(Told { number, items: vec![text] }),
        }
    });
    all
}
