//! Reports that came with an answer: where each stands in its bytes. What is lost of that is found again in the bytes.

use super::blocks;
use super::held::{AnswerId, HERE, found};
use super::seal;
use crate::report::Body;
use crate::report::identifier::{Identifier, Sha256};
use crate::report::page::{Page, is_abstract};
use crate::request::Request;
use crate::text::Untrusted;
use rusqlite::{ToSql, Transaction, params};
use std::collections::HashSet;
use std::ops::Range;

/// A report that an answer brought.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Brought {
    pub identifier: Identifier,
    /// The file it is of, if that is known.
    pub file: Option<Sha256>,
    /// Its place in the answer's bytes.
    pub range: Range<u64>,
}

impl Brought {
    /// A report that is an answer by itself, of so many bytes.
    pub fn whole(identifier: Identifier, length: u64) -> Self {
        Self { file: identifier.parts().file, identifier, range: 0..length }
    }

    /// The reports that a page of a list brought along; where it names one twice, the first.
    pub fn of_page(page: Page, file: &Sha256) -> Vec<Self> {
        let mut known = HashSet::new();
        let reports = page.without_others(file).entries.into_iter().filter_map(|entry| {
            let range = entry.report?.range();
            if !known.insert(entry.identifier.clone()) {
                return None;
            }
            Some(Self { identifier: entry.identifier, file: Some(file.clone()), range })
        });
        reports.collect()
    }

    /// Writes down that an answer, which is there, brought it.
    pub(super) fn insert(
        &self,
        transaction: &Transaction<'_>,
        profile: &str,
        answer: AnswerId,
    ) -> rusqlite::Result<usize> {
        let offset = |at: u64| i64::try_from(at).unwrap_or(i64::MAX);
        let (identifier, file) = (self.identifier.as_bytes(), self.file.as_ref().map(Sha256::as_str));
        let (first, after) = (offset(self.range.start), offset(self.range.end));
        let seal = seal::Report { profile, identifier, file, answer: answer.0, first, after }.seal();
        transaction.execute(
            "INSERT INTO report (profile, identifier, file, answer, first, after, seal, received)
             SELECT ?1, ?2, ?3, id, ?4, ?5, ?6, received FROM answer WHERE id = ?7",
            params![profile, identifier, file, first, after, seal, answer.0],
        )
    }

    /// Whether a list, which this answer is, tells less of it than is held, so that it must not take the place of that.
    pub(super) fn is_abstract(
        &self,
        transaction: &Transaction<'_>,
        profile: &str,
        answer: AnswerId,
    ) -> rusqlite::Result<bool> {
        // What is asked for by itself is the whole of its answer.
        if self.range.start == 0 {
            return Ok(false);
        }
        let identifier: &dyn ToSql = &self.identifier.as_bytes();
        let held = found(transaction, "", profile, ("r.identifier = ?2", &[identifier]), HERE)?;
        let held = held.iter().find(|held| held.is_whole && held.answer != answer);
        let length = |range: &Range<u64>| range.end.saturating_sub(range.start);
        Ok(held.is_some_and(|held| is_abstract(length(&self.range), length(&held.range))))
    }

    /// Whether it is known that the answer brought it.
    fn is_known(&self, transaction: &Transaction<'_>, answer: AnswerId) -> rusqlite::Result<bool> {
        let first = i64::try_from(self.range.start).unwrap_or(i64::MAX);
        let known = "SELECT 1 FROM report NOT INDEXED WHERE answer = ?1 AND first = ?2 AND identifier = ?3";
        transaction.prepare_cached(known)?.exists(params![answer.0, first, self.identifier.as_bytes()])
    }
}

/// Reports that are held again.
pub(super) struct Again {
    pub(super) count: u64,
    /// Those of them that were imported, with words on which file they are of that are lost.
    pub(super) fileless: Vec<Identifier>,
}

/// Holds the reports again that sound answers brought and of which nothing is known any more.
pub(super) fn find_again(transaction: &Transaction<'_>) -> rusqlite::Result<Again> {
    let mut select = transaction
        .prepare("SELECT id, profile, key, length, imported_from IS NOT NULL FROM answer WHERE usable IN (1, 3)")?;
    let answers = select.query_map([], |row| {
        let (answer, profile) = (AnswerId(row.get(0)?), row.get::<_, String>(1)?);
        Ok((answer, profile, row.get::<_, Vec<u8>>(2)?, row.get::<_, i64>(3)?, row.get::<_, bool>(4)?))
    })?;
    let mut again = Again { count: 0, fileless: Vec::new() };
    for (answer, profile, key, length, is_imported) in answers.collect::<rusqlite::Result<Vec<_>>>()? {
        for report in brought_by(transaction, answer, &key, u64::try_from(length).unwrap_or(0))? {
            if report.is_known(transaction, answer)? || report.is_abstract(transaction, &profile, answer)? {
                continue;
            }
            again.count += report.insert(transaction, &profile, answer)? as u64;
            if is_imported && report.file.is_none() {
                again.fileless.push(report.identifier);
            }
        }
    }
    Ok(again)
}

/// The reports that an answer brought, by what it was the answer to.
fn brought_by(
    transaction: &Transaction<'_>,
    answer: AnswerId,
    key: &[u8],
    length: u64,
) -> rusqlite::Result<Vec<Brought>> {
    if let Some(identifier) = key.strip_prefix(b"behaviour ") {
        let identifier = Identifier::new(Untrusted::from(identifier));
        return Ok(identifier.map(|identifier| Brought::whole(identifier, length)).into_iter().collect());
    }
    let file = key.starts_with(b"behaviours ").then(|| Request::holding_file(key)).flatten();
    let Some((file, bytes)) = file.zip(blocks::read_all(transaction, answer)?) else { return Ok(Vec::new()) };
    Ok(Page::of(&Body::in_memory(bytes)).map(|page| Brought::of_page(page, &file)).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Store;

    #[test]
    fn a_list_that_tells_less_hides_nothing_neither_at_once_nor_where_reports_are_found_again() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&folder.path().join("behaview.db")).unwrap();
        let file = Sha256::parse(&"ab".repeat(32)).unwrap();
        let id = format!("{file}_Box-1794474845");
        let identifier = Identifier::new(Untrusted::from(id.as_str())).unwrap();
        let report = |tags: &str| format!(r#"{{"id":"{id}","type":"private_file_behaviour","attributes":{{{tags}}}}}"#);
        let whole = report(&format!(r#""tags":["{}"]"#, "A".repeat(2_000)));
        let whole = Body::in_memory(format!(r#"{{"data":{whole}}}"#).into_bytes());
        let list = Body::in_memory(format!(r#"{{"data":[{}]}}"#, report(r#""tags":["B"]"#)).into_bytes());
        let listed = Brought::of_page(Page::of(&list).unwrap(), &file);
        let keep = |request: Request, body: &Body, brought: &[Brought]| {
            let (key, now) = (request.holding_key().unwrap(), jiff::Timestamp::UNIX_EPOCH);
            let answer = store.keep("p", &key, now, body).unwrap();
            store.accept("p", answer, brought).unwrap();
        };
        let asked = Request::Behaviour { identifier: identifier.clone() };
        keep(asked, &whole, &[Brought::whole(identifier.clone(), whole.len())]);
        let listing = crate::request::Listing::Reports;
        keep(Request::Behaviours { file, listing, cursor: None }, &list, &listed);
        let held = || store.report("p", &identifier).unwrap().unwrap().body.len();
        assert_eq!(held(), whole.len());
        let again = store.with(|connection| {
            let transaction = connection.transaction()?;
            transaction.execute("DELETE FROM report", [])?;
            let again = find_again(&transaction)?.count;
            transaction.commit().map(|()| again)
        });
        assert_eq!((again.unwrap(), held()), (1, whole.len()));
    }

    #[test]
    fn of_two_reports_with_one_name_the_first_is_brought() {
        let file = Sha256::parse(&"ab".repeat(32)).unwrap();
        let entry = |tag: &str| {
            format!(
                r#"{{"id":"{file}_Box-1794474845","type":"private_file_behaviour","attributes":{{"tags":["{tag}"]}}}}"#
            )
        };
        let body = Body::in_memory(format!(r#"{{"data":[{},{}]}}"#, entry("FIRST"), entry("SECOND")).into_bytes());
        let brought = Brought::of_page(Page::of(&body).unwrap(), &file);
        let found: Vec<_> = brought.iter().map(|one| body.window(one.range.clone()).unwrap()).collect();
        assert_eq!(found, [entry("FIRST").into_bytes()]);
    }
}
