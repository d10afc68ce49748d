//! Triage: what the store has of each of many files.

use super::disk::stored_reports_of;
use super::values::twins;
use super::{SendPace, Task, load_list};
use crate::app::prevalence::ReportOrigin;
use crate::app::{ReportEvent, Ticket};
use crate::gateway::Gateway;
use crate::report::identifier::Sha256;
use crate::report::rules::Rules;
use crate::report::{Cancel, Report};
use crate::request::{Artifact, Request};
use crate::store::StoreError;
use crate::triage::TriagedFile;
use std::collections::HashSet;

/// Files of a triage above which only those with the same `behash` count as alike: to compare the
/// values of each takes a pass over the whole index.
const MAX_COMPARED_FILES: usize = 100;

/// Returns what the store has of one of `of` files; sends nothing. `None` if it was cancelled.
pub fn triage(
    gateway: &Gateway,
    (file, of): (&Sha256, usize),
    rules: &Rules,
    cancel: &Cancel,
) -> Result<Option<TriagedFile>, StoreError> {
    let listing = gateway.client.profile().listing;
    gateway.read_unread(Some(file))?;
    let pages = load_list(gateway, file)?;
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
    let mut alike = HashSet::new();
    let mut compared = Ok(());
    // A damaged report is not stored; the next look says so.
    let reports = stored.iter().filter_map(|stored| {
        let report = Report::open(&stored.body().ok()?);
        let origin = ReportOrigin { file: Some(file.clone()), identifier: stored.identifier.clone() };
        match twins(gateway, &report, &origin, of <= MAX_COMPARED_FILES, cancel) {
            Ok(twins) => alike.extend(twins.into_iter().filter_map(|twin| twin.holder.file)),
            Err(error) => compared = Err(error),
        }
        // The service may not have what an imported report names.
        let is_named = |artifact: &Artifact| stored.imported.is_none() && artifact.is_beside(&report) == Some(true);
        artifacts.extend(Artifact::ALL.into_iter().filter(is_named).map(|artifact| (artifact, &stored.identifier)));
        Some(report)
    });
    let Ok(mut found) = found.with_reports(reports, rules, cancel) else { return Ok(None) };
    compared?;
    found.alike = alike.len();
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

/// Sends what is stored of files, or of all, as each is evaluated; first how many they are.
pub(super) fn triage_all(
    gateway: &Gateway,
    work: &Task,
    Ticket { number, cancel }: &Ticket,
    (files, length): (Option<Vec<Sha256>>, usize),
    rules: &Rules,
) -> Result<(), StoreError> {
    let store = &gateway.store;
    let files = match files {
        Some(files) => files,
        None => {
            let mut known = HashSet::new();
            let own = store.every_report(&gateway.service)?.into_iter().filter(|report| report.elsewhere.is_none());
            own.filter_map(|report| report.file).filter(|file| known.insert(file.clone())).collect()
        }
    };
    let length = length.max(files.len());
    work.send(ReportEvent::Triaged(*number, Vec::new(), length));
    store.index_values(cancel)?;
    let mut pace = SendPace::default();
    let mut found = Vec::new();
    for (at, file) in files.iter().enumerate() {
        let Some(triaged) = triage(gateway, (file, length), rules, cancel)? else { return Ok(()) };
        found.push(triaged);
        if at + 1 == files.len() || pace.is_due() {
            work.send(ReportEvent::Triaged(*number, std::mem::take(&mut found), length));
        }
    }
    Ok(())
}
