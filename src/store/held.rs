//! What is held: answers under the key of their request, and the reports that came with them.

use super::blocks::{self, BLOCK, Blocks, Shelf};
use super::brought::Brought;
use super::connection::rows;
use super::database::Store;
use super::error::StoreError;
use super::inventory::imported;
use super::numbers;
use super::seal;
use crate::report::identifier::{Identifier, Sha256};
use crate::report::{Body, Imported};
use crate::request::Request;
use crate::text::Untrusted;
use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, Row, ToSql, TransactionBehavior, params};
use std::collections::HashSet;
use std::ops::Range;

/// Number of an answer in the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AnswerId(pub i64);

/// A whole answer that is held.
#[derive(Debug, Clone)]
pub struct HeldAnswer {
    pub id: AnswerId,
    pub received: Timestamp,
    /// Its bytes, read block by block.
    pub body: Body,
    /// Whether it was found to answer its question; a run that was killed leaves some unread.
    pub is_read: bool,
    /// Where it came from, if not from the service.
    pub imported: Option<Imported>,
}

/// A behaviour report that is held, be it an answer by itself or part of a list page.
#[derive(Debug, Clone)]
pub struct HeldReport {
    pub identifier: Identifier,
    /// Its file, if the answer that it came with said so.
    pub file: Option<Sha256>,
    /// The answer that it came with.
    pub answer: AnswerId,
    pub received: Timestamp,
    /// Its bytes, read block by block.
    pub body: Body,
    /// Where it came from, if not from the service.
    pub imported: Option<Imported>,
    /// The other profile that holds it, where that is the only way to it.
    pub elsewhere: Option<String>,
}

/// The profiles of which anything is held, each found by one step in the index.
pub(super) const PROFILES: &str = "RECURSIVE known (name) AS (
    SELECT MIN(profile) FROM answer
    UNION ALL SELECT (SELECT MIN(profile) FROM answer WHERE profile > name) FROM known WHERE name IS NOT NULL)";

/// What a profile can open: its own, and what was imported, which belongs to no service.
pub(super) const HERE: &str = "r.profile = ?1 OR a.imported_from IS NOT NULL";

impl HeldReport {
    /// The report as the answer it would be if it were asked for by itself.
    pub fn into_answer(self) -> HeldAnswer {
        let Self { answer: id, received, body, imported, .. } = self;
        HeldAnswer { id, received, body, is_read: true, imported }
    }
}

impl Store {
    /// Keeps an answer's bytes as they came, before anything reads them.
    pub fn keep(&self, profile: &str, key: &[u8], received: Timestamp, bytes: &Body) -> Result<AnswerId, StoreError> {
        self.reach().with_room(|transaction| {
            let length = i64::try_from(bytes.len()).unwrap_or(i64::MAX);
            let insert = format!(
                "INSERT INTO answer (id, profile, key, received, length, block) VALUES ({}, ?1, ?2, ?3, ?4, ?5)",
                numbers::next("answer")
            );
            transaction.execute(&insert, params![profile, key, received.as_millisecond(), length, BLOCK as i64])?;
            let answer = AnswerId(transaction.last_insert_rowid());
            blocks::write_body(transaction, Shelf::Answer(answer), bytes)?;
            seal::renew(transaction, answer)?;
            Ok(answer)
        })
    }

    /// Notes that an answer was read and is sound, together with the reports it brought: from now on they are held.
    ///
    /// One that says what is held already, byte for byte, is no further version: what is held came with it once more.
    pub fn accept(&self, profile: &str, answer: AnswerId, reports: &[Brought]) -> Result<(), StoreError> {
        self.with(|connection| {
            // What is read first and written after may be written by nobody else in between.
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            // Another program may have read it at the same time, and noted it, or dropped it as what is held already.
            let is_unread = "SELECT id FROM answer WHERE id = ?1 AND usable IS NULL";
            if transaction.query_row(is_unread, [answer.0], |_| Ok(())).optional()?.is_none() {
                return Ok(());
            }
            let mut brought = Vec::with_capacity(reports.len());
            for report in reports {
                if !report.is_abstract(&transaction, profile, answer)? {
                    brought.push(report);
                }
            }
            if let Some(held) = the_same(&transaction, answer)?
                && seal::is_whole(&transaction, held, brought.len())?
            {
                let came = "received = (SELECT received FROM answer WHERE id = ?1)";
                transaction
                    .execute(&format!("UPDATE answer SET usable = 1, {came} WHERE id = ?2"), [answer.0, held.0])?;
                transaction.execute(&format!("UPDATE report SET {came} WHERE answer = ?2"), [answer.0, held.0])?;
                transaction.execute("DELETE FROM block WHERE answer = ?1", [answer.0])?;
                transaction.execute("DELETE FROM answer WHERE id = ?1", [answer.0])?;
                return transaction.commit();
            }
            for report in brought {
                report.insert(&transaction, profile, answer)?;
            }
            transaction.execute("UPDATE answer SET usable = 1 WHERE id = ?1", [answer.0])?;
            outdate_pages(&transaction, answer)?;
            transaction.commit()
        })
    }

    /// The newest answer under a key that is not set aside: of the profile, or imported, which belongs to no service.
    pub fn answer(&self, profile: &str, key: &[u8]) -> Result<Option<HeldAnswer>, StoreError> {
        let own = |connection: &Connection, how: &str| newest_answer(connection, how, "profile = ?1", (profile, key));
        let mut found = self.reach().look_up(own)?;
        if found.is_empty() {
            // No index has what was imported without its profile.
            let imported = "profile <> ?1 AND imported_from IS NOT NULL";
            found = self.read(|connection| newest_answer(connection, "NOT INDEXED", imported, (profile, key)))?;
        }
        let Some(FoundAnswer { id, received, is_read, lengths, is_whole }) = found.into_iter().next() else {
            return Ok(None);
        };
        if !is_whole {
            return Err(self.reach().damaged(&format!("answer {}", id.0)));
        }
        // Where it came from is asked of reports only.
        Ok(Some(HeldAnswer { id, received, body: self.body(id, lengths), is_read, imported: None }))
    }

    /// The newest report of a sandbox.
    pub fn report(&self, profile: &str, identifier: &Identifier) -> Result<Option<HeldReport>, StoreError> {
        let (reports, damage) = self.reports_where(profile, "r.identifier = ?2", &identifier.as_bytes(), HERE)?;
        let found = reports.into_iter().find(|report| report.identifier == *identifier);
        // An older version is no answer to what the newest one says.
        match damage {
            Some(damage) => Err(damage),
            None => Ok(found),
        }
    }

    /// The newest report of every sandbox of a file, newest first.
    pub fn reports(&self, profile: &str, file: &Sha256) -> Result<Vec<HeldReport>, StoreError> {
        Ok(self.reports_where(profile, "r.file = ?2", &file.as_str(), HERE)?.0)
    }

    /// The newest report of every sandbox of every file, with the file where it is known: what this profile can open, and what
    /// only other profiles can.
    pub fn every_report(&self, profile: &str) -> Result<Vec<(Option<Sha256>, HeldReport)>, StoreError> {
        let (reports, _) = self.reports_where(profile, "?2 IS NULL", &rusqlite::types::Null, "1")?;
        let file = |held: &HeldReport| held.file.clone().or_else(|| held.identifier.parts().file);
        Ok(reports.into_iter().map(|held| (file(&held), held)).collect())
    }

    /// The reports that a condition takes, those of the profile first and then the newest, as far as their rows are what was
    /// written; and the damage where one of the profile's is not.
    fn reports_where(
        &self,
        profile: &str,
        which: &str,
        value: &dyn ToSql,
        whose: &str,
    ) -> Result<(Vec<HeldReport>, Option<StoreError>), StoreError> {
        let look = |connection: &Connection, how: &str| found(connection, how, profile, (which, &[value]), whose);
        Ok(self.newest(profile, self.reach().look_up(look)?))
    }

    /// The newest of each of these reports, as far as their rows are what was written; and the damage where one of the profile's
    /// is not.
    pub(super) fn newest(&self, profile: &str, found: Vec<FoundReport>) -> (Vec<HeldReport>, Option<StoreError>) {
        // Numbers grow, whatever the clock does in between.
        let (mut newest, mut known, mut damage) = (Vec::new(), HashSet::new(), None);
        for report in found {
            let Some(identifier) = Identifier::new(Untrusted::from(report.identifier)) else { continue };
            let is_own = report.profile == profile;
            if !report.is_whole {
                if is_own {
                    damage = Some(self.reach().damaged(identifier.text().visible_cut(200).as_str()));
                }
                continue;
            }
            let elsewhere = Some(report.profile).filter(|_| !is_own && report.imported.is_none());
            if known.insert((elsewhere.clone(), identifier.clone())) {
                let body = self.body(report.answer, report.lengths).slice(report.range);
                let file = report.file.as_deref().and_then(Sha256::parse);
                let FoundReport { answer, received, imported, .. } = report;
                newest.push(HeldReport { identifier, file, answer, received, body, imported, elsewhere });
            }
        }
        (newest, damage)
    }

    pub(super) fn body(&self, answer: AnswerId, lengths: Lengths) -> Body {
        Body::new(Blocks::new(self.reach(), Shelf::Answer(answer), lengths.whole, lengths.block))
    }
}

/// An answer as it was found, and whether its row is what was written.
struct FoundAnswer {
    id: AnswerId,
    received: Timestamp,
    is_read: bool,
    lengths: Lengths,
    is_whole: bool,
}

/// The newest answer under a key that is not set aside, of those whose profile is as wanted.
fn newest_answer(
    connection: &Connection,
    how: &str,
    whose: &str,
    (profile, key): (&str, &[u8]),
) -> rusqlite::Result<Vec<FoundAnswer>> {
    let select = format!(
        "SELECT id, received, usable, length, block, seal, profile FROM answer {how}
         WHERE {whose} AND key = ?2 AND (usable IS NULL OR usable = 1) ORDER BY id DESC LIMIT 1"
    );
    let read = |row: &Row<'_>| {
        let is_read = row.get::<_, Option<i64>>(2)?.is_some();
        let (owner, length, block): (String, _, _) = (row.get(6)?, row.get(3)?, row.get(4)?);
        let answer = seal::Answer { id: row.get(0)?, profile: &owner, key, length, block };
        let is_whole = row.get::<_, Option<i64>>(5)? == Some(answer.seal());
        let (id, received, lengths) = (AnswerId(answer.id), moment(row.get(1)?), Lengths::read(row, 3)?);
        Ok(FoundAnswer { id, received, is_read, lengths, is_whole })
    };
    rows(connection, &select, params![profile, key], read)
}

/// Where an answer begins a list that is another one now, the pages behind the one before are of no use to it: they would hide what
/// moved in between. In the table their `usable` is 3: no question finds them, and the reports that they brought stay held.
pub(super) fn outdate_pages(connection: &Connection, first: AnswerId) -> rusqlite::Result<()> {
    let select = "SELECT profile, key FROM answer WHERE id = ?1";
    let (profile, key) =
        connection.query_row(select, [first.0], |row| Ok((row.get::<_, String>(0)?, row.get::<_, Vec<u8>>(1)?)))?;
    if !matches!(Request::of_holding_key(&key), Some(Request::Behaviours { cursor: None, .. })) {
        return Ok(());
    }
    // A page's key is that of the first one with the service's word behind it.
    let update = "UPDATE answer SET usable = 3 WHERE profile = ?1 AND key > ?2 AND substr(key, 1, length(?2)) = ?2
                  AND id < ?3 AND usable = 1 AND imported_from IS NULL";
    connection.execute(update, params![profile, key, first.0]).map(|_| ())
}

/// What is held under the same key as an answer, if that is the newest there, packs the same bytes, and no other answer has brought
/// one of its reports since.
fn the_same(connection: &Connection, answer: AnswerId) -> rusqlite::Result<Option<AnswerId>> {
    let select = "SELECT o.id FROM answer n JOIN answer o ON o.profile = n.profile AND o.key = n.key AND o.id < n.id
                  WHERE n.id = ?1 AND o.imported_from IS NULL AND o.usable IN (1, 3) AND o.length = n.length AND o.block = n.block
                    AND NOT EXISTS (SELECT 1 FROM answer b WHERE b.profile = n.profile AND b.key = n.key
                                    AND b.id > o.id AND b.id < n.id AND b.usable IN (1, 3))
                    AND NOT EXISTS (SELECT 1 FROM report r JOIN report s ON s.profile = r.profile
                                    AND s.identifier = r.identifier AND s.answer > r.answer WHERE r.answer = o.id)
                    AND NOT EXISTS (SELECT 1 FROM block p LEFT JOIN block q ON q.answer = o.id AND q.number = p.number
                                    WHERE p.answer = n.id AND q.bytes IS NOT p.bytes)";
    connection.query_row(select, [answer.0], |row| row.get(0).map(AnswerId)).optional()
}

/// The reports that a condition with these values takes, those of the profile first and then the newest.
pub(super) fn found(
    connection: &Connection,
    how: &str,
    profile: &str,
    (which, values): (&str, &[&dyn ToSql]),
    whose: &str,
) -> rusqlite::Result<Vec<FoundReport>> {
    // A report whose answer is not there is not what was written.
    let select = format!(
        "WITH {PROFILES}
         SELECT r.identifier, r.received, r.answer, r.first, r.after, COALESCE(a.length, 0), COALESCE(a.block, 0),
                a.imported_from, a.imported_by, r.file, r.seal, COALESCE(a.profile, ''), COALESCE(a.key, x''), a.seal,
                r.profile
         FROM report r {how} LEFT JOIN answer a ON a.id = r.answer
         WHERE r.profile IN (SELECT ?1 UNION SELECT name FROM known) AND {which} AND ({whose})
         ORDER BY r.profile = ?1 DESC, r.answer DESC, r.rowid DESC"
    );
    let values: Vec<_> = std::iter::once(&profile as &dyn ToSql).chain(values.iter().copied()).collect();
    rows(connection, &select, values.as_slice(), FoundReport::read)
}

/// How many bytes an answer has, and how many each of its blocks.
pub(super) struct Lengths {
    whole: u64,
    block: u64,
}

impl Lengths {
    pub(super) fn read(row: &Row<'_>, column: usize) -> rusqlite::Result<Self> {
        let length = |column: usize| row.get::<_, i64>(column).map(|length| u64::try_from(length).unwrap_or(0));
        Ok(Self { whole: length(column)?, block: length(column + 1)? })
    }
}

/// A row of a report, with that of its answer.
pub(super) struct FoundReport {
    profile: String,
    identifier: Vec<u8>,
    received: Timestamp,
    pub(super) answer: AnswerId,
    pub(super) range: Range<u64>,
    imported: Option<Imported>,
    lengths: Lengths,
    file: Option<String>,
    /// Whether the row, and that of its answer, are what was written.
    pub(super) is_whole: bool,
}

impl FoundReport {
    fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        let offset = |at: i64| u64::try_from(at).unwrap_or(0);
        let profile: String = row.get(14)?;
        let (identifier, file): (Vec<u8>, Option<String>) = (row.get(0)?, row.get(9)?);
        let (answer, first, after) = (row.get(2)?, row.get(3)?, row.get(4)?);
        let report =
            seal::Report { profile: &profile, identifier: &identifier, file: file.as_deref(), answer, first, after };
        let (owner, key): (String, Vec<u8>) = (row.get(11)?, row.get(12)?);
        let whole = seal::Answer { id: answer, profile: &owner, key: &key, length: row.get(5)?, block: row.get(6)? };
        let (of_report, of_answer): (Option<i64>, Option<i64>) = (row.get(10)?, row.get(13)?);
        let is_whole = of_report == Some(report.seal()) && of_answer == Some(whole.seal()) && owner == profile;
        Ok(Self {
            received: moment(row.get(1)?),
            answer: AnswerId(answer),
            range: offset(first)..offset(after),
            lengths: Lengths::read(row, 5)?,
            imported: imported(row, 7)?,
            is_whole,
            profile,
            identifier,
            file,
        })
    }
}

/// A moment from the database; one that cannot be is the beginning or the end of time. The last thousandths of a second of all time
/// are such: they can be told, and not be made.
pub(super) fn moment(milliseconds: i64) -> Timestamp {
    let edge = if milliseconds > 0 { Timestamp::MAX } else { Timestamp::UNIX_EPOCH };
    Timestamp::from_millisecond(milliseconds).unwrap_or(edge)
}

#[cfg(test)]
mod tests;
