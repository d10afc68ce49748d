//! Imports reports that a colleague exported, stored as if fetched: a group pays once for all of
//! its members.

use super::reading;
use crate::report::identifier::{Identifier, Sha256};
use crate::report::json::Raw;
use crate::report::{Body, Imported, Report};
use crate::request::Request;
use crate::service::error::{ServiceError, Unusable};
use crate::store::{NewAnswer, PageReport, Store, StoreError};
use jiff::Timestamp;

/// A report to be imported.
#[derive(Debug)]
pub struct Import<'a> {
    pub body: &'a Body,
    /// Its file, if its identifier does not name one.
    pub file: Option<&'a Sha256>,
    pub from: &'a Imported,
    pub now: Timestamp,
    /// Whether it replaces a report that is stored already.
    pub replaces: bool,
    /// The service whose start screen shows its file, and the profile that imports.
    pub service: &'a str,
    pub profile: &'a str,
}

/// Outcome of an import.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ImportOutcome {
    Held(Identifier),
    /// The same report is stored already.
    Same(Identifier),
    /// Another report is stored, and stays; with its origin, if it was imported.
    Other(Identifier, Option<Imported>),
}

/// Why a report is not imported.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// It gives no identifier, so it answers no question.
    #[error("it gives no identifier, so it answers no question")]
    Nameless,
    /// Its identifier does not name a file.
    #[error("its identifier names no file: --file SHA256 says which it is of")]
    Fileless,
    /// Its identifier names another file.
    #[error("it is of another file: {0}")]
    OtherFile(Sha256),
    #[error("it is no report: {0}")]
    Unusable(#[from] ServiceError),
    /// It is only an identifier.
    #[error("it is only an identifier: the report did not come with it")]
    Empty,
    /// It cannot be read or stored.
    #[error("{0}")]
    Unreadable(#[from] std::io::Error),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Imports a report, unless one with its identifier is stored. The same bytes replace nothing: the
/// origin of the stored ones would be lost.
pub fn import(store: &Store, import: &Import<'_>) -> Result<ImportOutcome, ImportError> {
    let report = Report::open(import.body);
    let identifier = report.identifier().ok_or_else(|| no_report(&report))?;
    let request = Request::Behaviour { identifier: identifier.clone() };
    reading::read(&request, import.body, None)?;
    let is_flat = !report.index.is_attributed && !report.index.is_enveloped && report.has_attribute();
    if !report.index.is_attributed && !is_flat {
        return Err(ImportError::Empty);
    }
    let Some(key) = request.holding_key() else { return Err(ImportError::Nameless) };
    let file = file(&identifier, import.file)?;
    if let Some(outcome) = stored_already(store, import, &identifier)? {
        return Ok(outcome);
    }
    let reports = [PageReport { identifier: identifier.clone(), file: Some(file), range: 0..import.body.len() }];
    match import.store(store, &key, &reports)? {
        true => Ok(ImportOutcome::Held(identifier)),
        // Another program has imported one meanwhile.
        false => Ok(stored_already(store, import, &identifier)?.unwrap_or(ImportOutcome::Other(identifier, None))),
    }
}

/// The outcome if a report with this identifier is stored already, and stays.
fn stored_already(
    store: &Store,
    import: &Import<'_>,
    identifier: &Identifier,
) -> Result<Option<ImportOutcome>, ImportError> {
    let Some(stored) = store.report(import.service, identifier)? else { return Ok(None) };
    // A damaged file has just been moved to the quarantine.
    let Ok(body) = stored.body() else { return Ok(None) };
    let is_same = is_same(&body, import.body);
    Ok(match is_same {
        true if !import.replaces || stored.file.is_some() => Some(ImportOutcome::Same(identifier.clone())),
        false if !import.replaces => Some(ImportOutcome::Other(identifier.clone(), stored.imported)),
        _ => None,
    })
}

impl Import<'_> {
    /// Stores it, unless another program has imported the same; returns whether it was stored.
    fn store(&self, store: &Store, key: &[u8], reports: &[PageReport]) -> Result<bool, StoreError> {
        let Self { now: received, from, service, profile, replaces, body: bytes, .. } = *self;
        let new = NewAnswer { service, profile, key, received, bytes };
        store.import(service, &new, from, reports, replaces)
    }
}

/// A list page that was imported.
#[derive(Debug)]
pub struct ImportedPage {
    /// The request that it answers.
    pub request: Request,
    /// The reports in it.
    pub reports: Vec<Identifier>,
}

/// Imports a list page with its reports. `None` if the page does not say which page it is, or a
/// part of it is stored already.
pub fn import_page(store: &Store, import: &Import<'_>) -> Result<Option<ImportedPage>, ImportError> {
    let Some(request) = Request::of_page(import.body) else { return Ok(None) };
    let Some(key) = request.holding_key() else { return Ok(None) };
    let brought = reading::read(&request, import.body, None)?;
    let is_stored = |one: &PageReport| store.report(import.service, &one.identifier).map(|stored| stored.is_some());
    let any_stored = brought.iter().map(is_stored).collect::<Result<Vec<_>, _>>()?.contains(&true);
    if !import.replaces && (any_stored || store.answer(import.service, &key)?.is_some()) {
        return Ok(None);
    }
    let is_stored = import.store(store, &key, &brought)?;
    let reports = brought.into_iter().map(|one| one.identifier).collect();
    Ok(is_stored.then_some(ImportedPage { request, reports }))
}

/// The error for a report without an identifier.
fn no_report(report: &Report) -> ImportError {
    match (report.index.is_json, report.index.is_cut) {
        (false, _) => ServiceError::Unusable(Unusable::NotJson).into(),
        (true, true) => ServiceError::Unusable(Unusable::Cut).into(),
        (true, false) => ImportError::Nameless,
    }
}

/// The file that a report is of.
fn file(identifier: &Identifier, said: Option<&Sha256>) -> Result<Sha256, ImportError> {
    match (identifier.parts().file, said) {
        (Some(found), Some(said)) if found != *said => Err(ImportError::OtherFile(found)),
        (Some(found), _) => Ok(found),
        (None, said) => said.cloned().ok_or(ImportError::Fileless),
    }
}

/// Whether two reports are equal, with or without an envelope.
fn is_same(one: &[u8], other: &[u8]) -> bool {
    let inner = |bytes: &[u8]| {
        let raw = Raw::new(bytes);
        raw.member("data").map_or_else(|| raw.bytes().to_vec(), |data| data.bytes().to_vec())
    };
    inner(one) == inner(other)
}
