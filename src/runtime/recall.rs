//! What is held of a file: its list pages, one after another, and its reports.

use crate::app::message::{HeldPage, HeldReport, Here};
use crate::gate::Gate;
use crate::report::identifier::Sha256;
use crate::report::page::Page;
use crate::request::{Listing, Request};
use crate::store::StoreError;
use std::collections::HashSet;

/// A file's list pages and reports that are held; nothing is asked of the service.
///
/// # Errors
/// When the store cannot be read.
pub fn held_of(gate: &Gate, file: &Sha256) -> Result<(Vec<HeldPage>, Vec<HeldReport>), StoreError> {
    let listing = gate.client().profile().listing;
    let pages = held_pages(gate, file, listing)?;
    let mut reports = gate.store().reports(gate.profile(), file)?;
    // A run that was killed may have left a report that nobody has read yet: asking for it reads it.
    let known: HashSet<_> = reports.iter().map(|report| report.identifier.clone()).collect();
    for entry in pages.iter().flat_map(|held| &held.page.entries) {
        if !known.contains(&entry.identifier) {
            gate.held(&Request::Behaviour { identifier: entry.identifier.clone() })?;
            reports.extend(gate.store().report(gate.profile(), &entry.identifier)?);
        }
    }
    let reports = reports.into_iter().map(|held| HeldReport {
        identifier: held.identifier,
        here: Here { received: held.received, body: held.body, unkept: None },
        imported: held.imported,
    });
    Ok((pages, reports.collect()))
}

fn held_pages(gate: &Gate, file: &Sha256, listing: Listing) -> Result<Vec<HeldPage>, StoreError> {
    let (mut pages, mut cursor, mut asked) = (Vec::new(), None, HashSet::new());
    while asked.insert(cursor.clone()) {
        let request = Request::Behaviours { file: file.clone(), listing, cursor: cursor.clone() };
        let Some(held) = gate.held(&request)? else { break };
        // A page that was readable when it was kept, and is not now, ends what is held.
        let Ok(page) = Page::of(&held.body) else { break };
        cursor = page.cursor.clone();
        pages.push(HeldPage { received: held.received, page, unkept: None });
        if cursor.is_none() {
            break;
        }
    }
    Ok(pages)
}
