//! What is held of a file: its list pages, one after another, and its reports.

use crate::app::message::{HeldPage, HeldReport, Here};
use crate::gate::Gate;
use crate::report::identifier::{Identifier, Sha256};
use crate::report::page::Page;
use crate::request::{Listing, Request};
use crate::store::StoreError;
use std::collections::HashSet;

/// A file's list pages and reports that are held; nothing is asked of the service.
pub fn held_of(gate: &Gate, file: &Sha256) -> Result<(Vec<HeldPage>, Vec<HeldReport>), StoreError> {
    let listing = gate.client().profile().listing;
    let pages = held_pages(gate, file, listing)?;
    let mut reports = gate.store().reports(gate.profile(), file)?;
    // A run that was killed may have left a report that nobody has read yet: asking for it reads it.
    let mut known: HashSet<_> = reports.iter().map(|report| report.identifier.clone()).collect();
    let entries = pages.iter().flat_map(|held| &held.page.entries).map(|entry| &entry.identifier);
    let others: Vec<_> = entries.filter(|identifier| known.insert((*identifier).clone())).collect();
    if !others.is_empty() {
        read_unread(gate, &others)?;
        reports.extend(gate.store().reports_of(gate.profile(), &others)?);
    }
    let reports = reports.into_iter().map(|held| HeldReport {
        identifier: held.identifier,
        here: Here { received: held.received, body: held.body, unkept: None },
        imported: held.imported,
    });
    Ok((pages, reports.collect()))
}

fn read_unread(gate: &Gate, reports: &[&Identifier]) -> Result<(), StoreError> {
    let unread = gate.store().unread(gate.profile())?;
    if unread.is_empty() {
        return Ok(());
    }
    let requests = reports.iter().map(|identifier| Request::Behaviour { identifier: (*identifier).clone() });
    let is_unread = |request: &Request| request.holding_key().is_some_and(|key| unread.contains(&key));
    requests.filter(is_unread).try_for_each(|request| gate.held(&request).map(drop))
}

fn held_pages(gate: &Gate, file: &Sha256, listing: Listing) -> Result<Vec<HeldPage>, StoreError> {
    let (mut pages, mut cursor, mut asked) = (Vec::new(), None, HashSet::new());
    while asked.insert(cursor.clone()) {
        let request = Request::Behaviours { file: file.clone(), listing, cursor: cursor.clone() };
        let Some(held) = gate.held(&request)? else { break };
        // A page that was readable when it was kept, and is not now, ends what is held.
        let Ok(page) = Page::of_file(&held.body, file) else { break };
        cursor = page.cursor.clone();
        pages.push(HeldPage { received: held.received, page, unkept: None });
        if cursor.is_none() {
            break;
        }
    }
    Ok(pages)
}
