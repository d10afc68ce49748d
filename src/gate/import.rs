//! Reports that a colleague exported, held as if they had been fetched: a group pays once for all of its members.

use super::reading;
use crate::report::identifier::{Identifier, Sha256};
use crate::report::json::Raw;
use crate::report::{Body, Imported, Index, Report};
use crate::request::Request;
use crate::service::error::{ServiceError, Unusable};
use crate::store::{self, Brought, Standing, Store, StoreError};
use jiff::Timestamp;

/// A report to be imported.
#[derive(Debug)]
pub struct Import<'a> {
    pub body: &'a Body,
    /// The file it is of, where its identifier does not say.
    pub file: Option<&'a Sha256>,
    pub from: &'a Imported,
    pub now: Timestamp,
    /// Whether it is held though another one is.
    pub replaces: bool,
}

/// What became of a report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    Held(Identifier),
    /// The same is held already.
    Same(Identifier),
    /// Another one is held, and stays; how that one came here.
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
    /// It cannot be read, or not be kept.
    #[error("{0}")]
    Unreadable(#[from] std::io::Error),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Holds a report, unless one of its identifier is held. The same bytes replace nothing: where the held ones came from would be
/// forgotten.
pub fn import(store: &Store, profile: &str, import: &Import<'_>) -> Result<Outcome, ImportError> {
    let report = Report::new(import.body.clone(), Index::of(import.body)?);
    let identifier = report.identifier().ok_or_else(|| no_report(&report))?;
    let request = Request::Behaviour { identifier: identifier.clone() };
    reading::read(&request, import.body, None)?;
    let is_flat = !report.index.is_attributed && !report.index.is_enveloped && report.has_attribute();
    if !report.index.is_attributed && !is_flat {
        return Err(ImportError::Empty);
    }
    let Some(key) = request.holding_key() else { return Err(ImportError::Nameless) };
    let (file, bytes) = (file(&identifier, import.file)?, import.body.whole()?);
    let reports = [Brought { identifier: identifier.clone(), file: Some(file), range: 0..import.body.len() }];
    loop {
        let seen = store.standing(profile, &key, &reports)?;
        if let Some(outcome) = held_already(store, profile, import, &identifier)? {
            return Ok(outcome);
        }
        if import.hold(store, profile, (&key, &bytes), &reports, seen)? {
            return Ok(Outcome::Held(identifier));
        }
    }
}

/// What is held already in the place of a report, where that is to stay.
fn held_already(
    store: &Store,
    profile: &str,
    import: &Import<'_>,
    identifier: &Identifier,
) -> Result<Option<Outcome>, ImportError> {
    let Some(held) = store.report(profile, identifier)? else { return Ok(None) };
    let is_same = held.body.whole().is_ok_and(|held| import.body.whole().is_ok_and(|new| is_same(&held, &new)));
    Ok(match is_same {
        true if !import.replaces || held.file.is_some() => Some(Outcome::Same(identifier.clone())),
        false if !import.replaces => Some(Outcome::Other(identifier.clone(), held.imported)),
        _ => None,
    })
}

impl Import<'_> {
    /// Holds it, unless something else is held of it than was seen; says whether it is held.
    fn hold(
        &self,
        store: &Store,
        profile: &str,
        (key, bytes): (&[u8], &[u8]),
        reports: &[Brought],
        seen: Standing,
    ) -> Result<bool, StoreError> {
        let (now, from) = (self.now, self.from);
        store.import(&store::Import { profile, key, now, bytes, from, reports, seen }).map(|held| held.is_some())
    }
}

/// A page of a list that is held now.
#[derive(Debug)]
pub struct ImportedPage {
    /// The question that it answers.
    pub request: Request,
    /// The reports that it brought.
    pub reports: Vec<Identifier>,
}

/// Holds a page of a list with the reports in it; none where it does not say which page it is, or something of it is held.
pub fn import_page(store: &Store, profile: &str, import: &Import<'_>) -> Result<Option<ImportedPage>, ImportError> {
    let bytes = import.body.whole()?;
    let Some(request) = Request::of_page(&bytes) else { return Ok(None) };
    let Some(key) = request.holding_key() else { return Ok(None) };
    let (brought, _) = reading::read(&request, import.body, None)?;
    let is_held = |one: &Brought| store.report(profile, &one.identifier).map(|held| held.is_some());
    loop {
        let seen = store.standing(profile, &key, &brought)?;
        let any_held = brought.iter().map(is_held).collect::<Result<Vec<_>, _>>()?.contains(&true);
        if !import.replaces && (any_held || store.answer(profile, &key)?.is_some()) {
            return Ok(None);
        }
        if import.hold(store, profile, (&key, &bytes), &brought, seen)? {
            return Ok(Some(ImportedPage {
                request,
                reports: brought.into_iter().map(|one| one.identifier).collect(),
            }));
        }
    }
}

/// Why something without an identifier is no report.
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

/// Whether two reports are one, be they in an envelope or not.
fn is_same(one: &[u8], other: &[u8]) -> bool {
    let inner = |bytes: &[u8]| {
        let raw = Raw::new(bytes);
        raw.member("data").map_or_else(|| raw.bytes().to_vec(), |data| data.bytes().to_vec())
    };
    inner(one) == inner(other)
}
