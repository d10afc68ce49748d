//! The stored list pages and reports of a file.

use crate::app::message::{HeldPage, HeldReport, Here};
use crate::gateway::Gateway;
use crate::report::identifier::Sha256;
use crate::report::page::Page;
use crate::request::{Listing, Request};
use crate::store::StoreError;
use std::collections::HashSet;

/// Loads a file's stored list pages and reports; no request is sent.
pub fn held_of(gateway: &Gateway, file: &Sha256) -> Result<(Vec<HeldPage>, Vec<HeldReport>), StoreError> {
    let listing = gateway.client().profile().listing;
    // A run that was killed may have left a report that is not read yet.
    gateway.read_unread()?;
    let pages = held_pages(gateway, file, listing)?;
    let mut reports = gateway.store().reports(gateway.service(), file)?;
    let mut known: HashSet<_> = reports.iter().map(|report| report.identifier.clone()).collect();
    let entries = pages.iter().flat_map(|held| &held.page.entries).map(|entry| &entry.identifier);
    let others: Vec<_> = entries.filter(|identifier| known.insert((*identifier).clone())).collect();
    if !others.is_empty() {
        reports.extend(gateway.store().reports_of(gateway.service(), &others)?);
    }
    // One whose file is damaged is not stored any more.
    let reports = reports.into_iter().filter_map(|stored| {
        let body = stored.body().ok()?;
        let here = Here::new(stored.received, body, None);
        Some(HeldReport { identifier: stored.identifier, here, imported: stored.imported })
    });
    Ok((pages, reports.collect()))
}

fn held_pages(gateway: &Gateway, file: &Sha256, listing: Listing) -> Result<Vec<HeldPage>, StoreError> {
    let (mut pages, mut cursor, mut asked) = (Vec::new(), None, HashSet::new());
    while asked.insert(cursor.clone()) {
        let request = Request::Behaviours { file: file.clone(), listing, cursor: cursor.clone() };
        let Some(held) = gateway.held(&request)? else { break };
        // A stored page that is no longer readable ends the list.
        let Ok(page) = Page::of_file(&held.body, file) else { break };
        cursor = page.cursor.clone();
        pages.push(HeldPage { received: held.received, page, unkept: None });
        if cursor.is_none() {
            break;
        }
    }
    Ok(pages)
}
