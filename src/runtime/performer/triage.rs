//! Reads what the store has of the files of a triage.

use super::load_pages;
use crate::gateway::Gateway;
use crate::report::identifier::Sha256;
use crate::report::rules::Rules;
use crate::report::{Cancel, Report};
use crate::store::StoreError;
use crate::triage::TriagedFile;

/// What the store has of a file; sends nothing. `None` if the work was cancelled.
pub fn triage(
    gateway: &Gateway,
    file: &Sha256,
    rules: &Rules,
    cancel: &Cancel,
) -> Result<Option<TriagedFile>, StoreError> {
    gateway.read_unread(Some(file))?;
    let listing = gateway.client.profile().listing;
    let pages: Vec<_> = load_pages(gateway, file, listing)?.into_iter().map(|(_, page)| page).collect();
    let stored = gateway.store.reports(&gateway.service, file)?;
    let is_stored = |identifier: &_| stored.iter().any(|stored| stored.identifier == *identifier);
    let mut found = TriagedFile::new(file.clone(), listing, &pages, is_stored);
    if pages.is_empty() {
        found.not_found = gateway.missing(&gateway.list_of(file))?;
    }
    if found.not_found.is_some() {
        found.missing.clear();
    }
    // A damaged report is not stored; the next look says so.
    let reports = stored.iter().filter_map(|stored| stored.body().ok()).map(|body| Report::open(&body));
    Ok(found.with_reports(reports, rules, cancel).ok())
}
