//! Reads what the store has of the files of a triage.

use super::disk::stored_reports_of;
use super::load_pages;
use crate::gateway::Gateway;
use crate::report::identifier::Sha256;
use crate::report::rules::Rules;
use crate::report::{Cancel, Report};
use crate::request::{Artifact, Request};
use crate::store::StoreError;
use crate::triage::TriagedFile;

/// What the store has of a file; sends nothing. `None` if the work was cancelled.
pub fn triage(
    gateway: &Gateway,
    file: &Sha256,
    rules: &Rules,
    cancel: &Cancel,
) -> Result<Option<TriagedFile>, StoreError> {
    let listing = gateway.client.profile().listing;
    gateway.read_unread(Some(file))?;
    let pages = load_pages(gateway, file, listing)?;
    let (stored, unstored) = stored_reports_of(gateway, file, &pages)?;
    let pages: Vec<_> = pages.into_iter().map(|(_, page)| page).collect();
    let mut found = TriagedFile::new(file.clone(), listing, &pages, unstored);
    for request in std::mem::take(&mut found.missing) {
        match gateway.why_useless(&request)? {
            Some(why) => found.unavailable = Some(why),
            // A page that names itself as the next one is stored.
            None if gateway.stored(&request)?.is_none() => found.missing.push(request),
            None => {}
        }
    }
    let mut artifacts = Vec::new();
    // A damaged report is not stored; the next look says so.
    let reports = stored.iter().filter_map(|stored| {
        let report = Report::open(&stored.body().ok()?);
        // The service may not have what an imported report names.
        let is_named = |artifact: &Artifact| stored.imported.is_none() && artifact.is_beside(&report) == Some(true);
        artifacts.extend(Artifact::ALL.into_iter().filter(is_named).map(|artifact| (artifact, &stored.identifier)));
        Some(report)
    });
    let Ok(mut found) = found.with_reports(reports, rules, cancel) else { return Ok(None) };
    artifacts.sort();
    for (artifact, identifier) in artifacts {
        let request = Request::Artifact { identifier: identifier.clone(), artifact };
        let is_stored = |key: Vec<u8>| gateway.store.is_stored(&gateway.service, &key);
        match gateway.why_useless(&request)? {
            Some(why) => found.unavailable = Some(why),
            None if !request.storage_key().is_some_and(is_stored) => found.artifacts.push(request),
            None => {}
        }
    }
    Ok(Some(found))
}
