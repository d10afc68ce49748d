//! Deleting what is held, so that its bytes are gone from the disk and not only from the index. The ledger always stays.

use super::connection::{PATIENCE, empty_log};
use super::database::Store;
use super::error::{StoreError, is_full};
use super::forget;
use super::held::AnswerId;
use super::inventory::{self, ON_DISK};
use super::salvage;
use crate::report::{EARLIEST, Held, Holding, Purge};
use crate::request::Request;
use crate::text::Untrusted;
use rusqlite::{Connection, OptionalExtension, Transaction, TransactionBehavior, params};
use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::time::Duration;

mod cut;

/// Bytes of a store of the time before it could shrink, up to which it is written anew to let go of its empty pages.
const SMALL: i64 = 64 * 1024 * 1024;

/// Blocks that go in one step where there is hardly any room.
const STEP: usize = 4;

/// Empty pages that are given back in one such step.
const PAGES: usize = 32;

/// What was deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Purged {
    /// Reports of which no version is left.
    pub reports: u64,
    pub bytes: u64,
    pub notes: u64,
    /// Whether something was deleted whose bytes may still be in the write-ahead file, because another program is reading, or there
    /// is no room to give back what it took: they go later.
    pub is_pending: bool,
}

impl Purged {
    fn and(self, next: Self) -> Self {
        Self {
            reports: self.reports + next.reports,
            bytes: self.bytes + next.bytes,
            notes: self.notes + next.notes,
            is_pending: self.is_pending || next.is_pending,
        }
    }
}

impl Store {
    /// Deletes what is held, all of these together, for one profile or for all of them, and overwrites its bytes.
    ///
    /// Notes on a report go with the last of its versions, for they quote it.
    ///
    /// Where there is no room to do so at once, one answer goes after another.
    pub fn purge(&self, what: &[Purge], profile: Option<&str>) -> Result<Purged, StoreError> {
        Ok(self.purge_asked(&Asked { what, profile, agreed: None })?.unwrap_or_default())
    }

    /// As [`Self::purge`], where what is held is still what a yes was given for: nobody else writes between the
    /// look and the deletion. None where it is not; then nothing is deleted.
    pub fn purge_as_agreed(
        &self,
        what: &[Purge],
        profile: Option<&str>,
        agreed: Agreed<'_>,
    ) -> Result<Option<Purged>, StoreError> {
        self.purge_asked(&Asked { what, profile, agreed: Some(agreed) })
    }

    /// What may still hold some of what was deleted, as remarks: answers that are set aside because nobody knows what stands in them,
    /// and stores that were.
    pub fn still_holding(&self, what: &[Purge]) -> Result<Vec<String>, StoreError> {
        let held = self.inventory()?;
        let may_hold = |thing: &&Holding| what.iter().any(|what| what.may_be_in(thing));
        let answers = held.iter().filter(may_hold).filter_map(|thing| match thing.what {
            Held::Answer { number, .. } => Some(format!(
                "answer-{number}, set aside as damaged, is of the same file and may hold some of it: delete that as well"
            )),
            Held::Report(_) | Held::Notes(_) => None,
        });
        let stores = salvage::asides(self.path()).into_iter().map(|name| {
            let name = Untrusted::from(name).visible();
            format!("{name}, set aside as damaged beside the store, still holds what it held then: delete it by hand")
        });
        Ok(answers.chain(stores).collect())
    }

    fn purge_asked(&self, asked: &Asked<'_>) -> Result<Option<Purged>, StoreError> {
        // Behind a log that cannot be taken over, what is written now would take whatever room was made for that.
        self.reach().shorten_log()?;
        match self.with(|connection| delete_all(connection, asked, Pace::AtOnce, None)) {
            Err(StoreError::Database { why, .. }) if is_full(&why) => {
                let in_steps = || self.with(|connection| one_by_one(connection, asked));
                match self.spare() {
                    Some(spare) => spare.lend(in_steps),
                    None => in_steps(),
                }
            }
            purged => purged,
        }
    }
}

/// Says of everything that is held whether a yes still stands.
pub type Agreed<'a> = &'a dyn Fn(&[Holding]) -> bool;

/// What is asked to be deleted.
struct Asked<'a> {
    what: &'a [Purge],
    profile: Option<&'a str>,
    /// Whether what is held is still what a yes was given for.
    agreed: Option<Agreed<'a>>,
}

impl Asked<'_> {
    fn is_agreed(&self, connection: &Connection) -> rusqlite::Result<bool> {
        self.agreed.map_or(Ok(true), |agreed| Ok(agreed(&inventory::all(connection)?)))
    }
}

/// How much is written before it is taken over into the database.
#[derive(Clone, Copy)]
enum Pace {
    AtOnce,
    /// So little that there is room for it where hardly any is.
    InSteps,
}

fn delete_all(
    connection: &mut Connection,
    asked: &Asked<'_>,
    pace: Pace,
    since: Option<Reports>,
) -> rusqlite::Result<Option<Purged>> {
    let Asked { what, profile, .. } = *asked;
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    if since.is_none() && !asked.is_agreed(&transaction)? {
        return Ok(None);
    }
    let is_last = since.is_some();
    // What was written of reports that went before this step was looked at when it all began.
    let (before, mut notes) = match since {
        Some(before) => (before, 0),
        None => (held(&transaction)?, forget::alone(&transaction, what)?),
    };
    let mut bytes = 0;
    for what in what {
        if let Purge::Report { profile, identifier, is_import } = what {
            bytes += cut::out(&transaction, profile, identifier, *is_import)?;
        }
    }
    // Those that were to go one after another are gone.
    let doomed = if is_last { Vec::new() } else { doomed(&transaction, what, profile)? };
    for answer in doomed {
        bytes += match pace {
            Pace::AtOnce => delete(&transaction, answer)?,
            Pace::InSteps => take_off(&transaction, answer)?,
        };
    }
    let after = held(&transaction)?;
    let gone: Vec<_> = before.difference(&after).collect();
    notes += forget::gone(&transaction, &gone)?;
    for what in what {
        notes += forget::rest(&transaction, what, profile)?;
    }
    transaction.commit()?;
    let mut purged = Purged { reports: gone.len() as u64, bytes, notes, is_pending: false };
    if purged != Purged::default() || what.iter().any(|what| matches!(what, Purge::Everything | Purge::File { .. })) {
        // It is deleted, whatever becomes of the room that it took.
        purged.is_pending = !let_go(connection, pace).unwrap_or(false);
    }
    Ok(Some(purged))
}

/// Deletes the oldest first, and gives the room back that each part of it has taken, in the database and in its log, before the
/// next one goes.
fn one_by_one(connection: &mut Connection, asked: &Asked<'_>) -> rusqlite::Result<Option<Purged>> {
    let Asked { what, profile, .. } = *asked;
    // All in one look: what comes later was not agreed to.
    let look = connection.transaction()?;
    if !asked.is_agreed(&look)? {
        return Ok(None);
    }
    let (before, mut doomed) = (held(&look)?, doomed(&look, what, profile)?);
    look.commit()?;
    // A log that cannot be taken over would take what was lent, and be as long as before.
    let_go(connection, Pace::InSteps)?;
    let mut purged = Purged { notes: forget::alone(connection, what)?, ..Purged::default() };
    while let Some(oldest) = doomed.pop() {
        let one = Asked { what: &[Purge::Answer(oldest.0)], profile: None, agreed: None };
        purged = purged.and(delete_all(connection, &one, Pace::InSteps, None)?.unwrap_or_default());
        wear_away(connection, oldest)?;
    }
    let last = delete_all(connection, asked, Pace::InSteps, Some(before))?.unwrap_or_default();
    // Its reports are those that went before it, and those that went with it.
    Ok(Some(Purged { reports: last.reports, ..purged.and(last) }))
}

/// Deletes an answer that is set aside, a few of its blocks at a time, and of the heads of its indexes.
fn wear_away(connection: &mut Connection, answer: AnswerId) -> rusqlite::Result<()> {
    let of_index = "row_index IN (SELECT id FROM row_index WHERE answer = ?1)";
    let mut is_left = true;
    while is_left {
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let few = |table: &str, which: &str| {
            let few = format!("SELECT rowid FROM {table} WHERE {which} LIMIT {STEP}");
            transaction.execute(&format!("DELETE FROM {table} WHERE rowid IN ({few})"), [answer.0])
        };
        is_left = few("index_block", of_index)? > 0
            || few("row_index", "answer = ?1")? > 0
            || few("block", "answer = ?1")? > 0;
        if !is_left {
            delete(&transaction, answer)?;
        }
        transaction.commit()?;
        let_go(connection, Pace::InSteps)?;
    }
    Ok(())
}

/// Reports, each with its profile, and whether it was imported.
type Reports = BTreeSet<(String, Vec<u8>, bool)>;

/// Every report that is held in any version.
fn held(connection: &Connection) -> rusqlite::Result<Reports> {
    let mut select = connection.prepare(
        "SELECT DISTINCT r.profile, r.identifier, a.imported_from IS NOT NULL FROM report r LEFT JOIN answer a ON a.id = r.answer",
    )?;
    let (mut rows, mut held) = (select.query([])?, Reports::new());
    while let Some(row) = rows.next()? {
        held.insert((row.get(0)?, row.get(1)?, row.get(2)?));
    }
    Ok(held)
}

/// The answers that go whole, what came first last.
fn doomed(connection: &Connection, what: &[Purge], profile: Option<&str>) -> rusqlite::Result<Vec<AnswerId>> {
    let mut found = BTreeSet::new();
    for what in what {
        found.extend(doomed_by(connection, what, profile)?);
    }
    Ok(found.into_iter().map(|(_, id)| id).collect())
}

/// An answer behind what orders it: what came last comes first.
type Dated = (Reverse<(i64, i64)>, AnswerId);

/// The answers that go whole with one of them.
fn doomed_by(connection: &Connection, what: &Purge, profile: Option<&str>) -> rusqlite::Result<Vec<Dated>> {
    let mut select = connection.prepare(&format!(
        "SELECT id, profile, key, received, {ON_DISK},
                EXISTS (SELECT 1 FROM report r WHERE r.answer = a.id AND r.file = ?2),
                EXISTS (SELECT 1 FROM report r WHERE r.answer = a.id AND r.identifier = ?3 AND r.after - r.first = a.length),
                a.imported_from IS NOT NULL,
                EXISTS (SELECT 1 FROM report r JOIN answer f ON f.id = r.answer
                        WHERE r.profile = a.profile AND r.identifier = ?3 AND f.imported_from IS NULL)
         FROM answer a WHERE ?1 IS NULL OR profile = ?1 ORDER BY received DESC, id DESC"
    ))?;
    let (file, report) = match what {
        Purge::File { file, .. } => (Some(file.as_str()), None),
        Purge::Report { identifier, .. } => (None, Some(identifier.as_bytes())),
        _ => (None, None),
    };
    let mut rows = select.query(params![profile, file, report])?;
    let (mut found, mut sum) = (Vec::new(), 0_u64);
    while let Some(row) = rows.next()? {
        let id = AnswerId(row.get(0)?);
        sum = sum.saturating_add(u64::try_from(row.get::<_, i64>(4)?).unwrap_or(0));
        let goes = match what {
            Purge::Report { profile, identifier, is_import } => {
                let is_beside = Request::holding_beside(&row.get::<_, Vec<u8>>(2)?).as_ref() == Some(identifier);
                let is_report = row.get(6)? && row.get::<_, bool>(7)? == *is_import;
                // What was fetched beside a report that stays, stays.
                let is_left = *is_import && row.get(8)?;
                (is_report || is_beside && !is_left) && row.get::<_, String>(1)? == *profile
            }
            Purge::Answer(number) => id.0 == *number,
            Purge::File { profile, file } => {
                let is_of_file =
                    row.get(5)? || Request::holding_file(&row.get::<_, Vec<u8>>(2)?).as_ref() == Some(file);
                is_of_file && row.get::<_, String>(1)? == *profile
            }
            Purge::Before(moment) => {
                (EARLIEST.as_millisecond()..moment.as_millisecond()).contains(&row.get::<_, i64>(3)?)
            }
            Purge::DownTo(most) => sum > *most,
            Purge::Everything => true,
        };
        found.extend(goes.then_some((Reverse((row.get(3)?, id.0)), id)));
    }
    Ok(found)
}

fn delete(transaction: &Transaction<'_>, answer: AnswerId) -> rusqlite::Result<u64> {
    // Another program may have deleted it meanwhile.
    let select = "SELECT length FROM answer WHERE id = ?1";
    let length = transaction.query_row(select, [answer.0], |row| row.get(0)).optional()?.unwrap_or(0_i64);
    transaction.execute("DELETE FROM block WHERE answer = ?1", [answer.0])?;
    transaction.execute("DELETE FROM report WHERE answer = ?1", [answer.0])?;
    transaction.execute("DELETE FROM answer WHERE id = ?1", [answer.0])?;
    Ok(u64::try_from(length).unwrap_or(0))
}

/// Sets an answer aside that goes piece by piece: from here on nothing of it is held, wherever that ends.
fn take_off(transaction: &Transaction<'_>, answer: AnswerId) -> rusqlite::Result<u64> {
    transaction.execute("DELETE FROM report WHERE answer = ?1", [answer.0])?;
    let length = "UPDATE answer SET usable = 0 WHERE id = ?1 RETURNING length";
    let length = transaction.query_row(length, [answer.0], |row| row.get(0)).optional()?.unwrap_or(0_i64);
    Ok(u64::try_from(length).unwrap_or(0))
}

/// Gives empty pages back and empties the write-ahead file; says whether that file is empty now.
///
/// Pages were overwritten with zeros when they were given up (`secure_delete`).
fn let_go(connection: &mut Connection, pace: Pace) -> rusqlite::Result<bool> {
    // Before, for to give pages back is to write as well, and there may be room for one of the two. Nobody is waited for yet.
    empty_log(connection, Duration::ZERO)?;
    let number = |pragma: &str| connection.pragma_query_value(None, pragma, |row| row.get::<_, i64>(0));
    let (pages, empty, size) = (number("page_count")?, number("freelist_count")?, number("page_size")?);
    let is_whole = number("auto_vacuum")? == 0;
    match (is_whole, pace) {
        (true, Pace::AtOnce) if (pages - empty).saturating_mul(size) <= SMALL => {
            connection.execute_batch("PRAGMA auto_vacuum = INCREMENTAL; VACUUM")?;
        }
        (false, Pace::InSteps) => {
            let (mut before, mut left) = (i64::MAX, empty);
            while (1..before).contains(&left) {
                (before, left) = (left, shrink(connection, &format!("({PAGES})"))?);
                empty_log(connection, PATIENCE)?;
            }
        }
        _ => {
            shrink(connection, "")?;
        }
    }
    empty_log(connection, PATIENCE)
}

/// Gives empty pages back, all or so many; says how many are left.
fn shrink(connection: &Connection, by: &str) -> rusqlite::Result<i64> {
    let mut shrink = connection.prepare(&format!("PRAGMA incremental_vacuum{by}"))?;
    let mut steps = shrink.query([])?;
    while steps.next()?.is_some() {}
    connection.pragma_query_value(None, "freelist_count", |row| row.get(0))
}

#[cfg(test)]
mod tests;
