//! Seals: a checksum of what a row says. A row that was damaged, or that a damaged index leads to, is not believed.
//!
//! The bytes of blocks have checksums of their own; seals guard the rows that say which bytes are whose.

use super::held::AnswerId;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, Row, params};
use sha2::{Digest, Sha256};

/// What an entry of the ledger says.
pub(super) const ENTRY: &str = "id, at, session, profile, operation, what, key, unit, predicted_min, predicted_max, account, \
    state, settled, settled_at, outcome, counted, owner";

/// How many columns that is.
pub(super) const ENTRY_COLUMNS: usize = 17;

/// How many of a block's last bytes are sealed: its own checksum is among them.
const END_OF_BLOCK: usize = 32;

/// A seal in the making.
struct Seal(Sha256);

impl Seal {
    fn of(table: &str) -> Self {
        Self(Sha256::new()).bytes(table.as_bytes())
    }

    fn bytes(self, bytes: &[u8]) -> Self {
        let Self(mut hash) = self.number(i64::try_from(bytes.len()).unwrap_or(i64::MAX));
        hash.update(bytes);
        Self(hash)
    }

    fn number(mut self, number: i64) -> Self {
        self.0.update(number.to_le_bytes());
        self
    }

    fn end(self) -> i64 {
        self.0.finalize().first_chunk().map_or(0, |first| i64::from_le_bytes(*first))
    }
}

/// What an answer's row says, but for what changes by itself.
#[derive(Debug, Clone, Copy)]
pub(super) struct Answer<'a> {
    pub(super) id: i64,
    pub(super) profile: &'a str,
    pub(super) key: &'a [u8],
    pub(super) length: i64,
    pub(super) block: i64,
}

impl Answer<'_> {
    pub(super) fn seal(self) -> i64 {
        let Self { id, profile, key, length, block } = self;
        Seal::of("answer").number(id).bytes(profile.as_bytes()).bytes(key).number(length).number(block).end()
    }
}

/// What a report's row says.
#[derive(Debug, Clone, Copy)]
pub(super) struct Report<'a> {
    pub(super) profile: &'a str,
    pub(super) identifier: &'a [u8],
    pub(super) file: Option<&'a str>,
    pub(super) answer: i64,
    pub(super) first: i64,
    pub(super) after: i64,
}

impl Report<'_> {
    pub(super) fn seal(self) -> i64 {
        let Self { profile, identifier, file, answer, first, after } = self;
        let place = Seal::of("report").bytes(profile.as_bytes()).bytes(identifier).bytes(file.unwrap_or("").as_bytes());
        place.number(answer).number(first).number(after).end()
    }
}

/// What tells a block from every other one: where it stands, how long it is, and its checksum.
pub(super) fn of_block(table: &str, shelf: i64, number: i64, packed: &[u8]) -> i64 {
    let end = packed.len().saturating_sub(END_OF_BLOCK);
    let length = i64::try_from(packed.len()).unwrap_or(i64::MAX);
    Seal::of(table).number(shelf).number(number).number(length).bytes(packed.get(end..).unwrap_or_default()).end()
}

/// What binds the head of an index to the part of an answer that it is of.
pub(super) fn of_head((answer, first, after): (i64, i64, i64), head: &[u8]) -> i64 {
    let end = head.get(..END_OF_BLOCK).unwrap_or(head);
    Seal::of("row_index").number(answer).number(first).number(after).bytes(end).end()
}

/// Whether an entry of the ledger is what was written, from a row that begins with [`ENTRY`] and its seal. Earlier versions sealed
/// all of it but whose key had asked, which stands last.
pub(super) fn is_whole_entry(row: &Row<'_>) -> rusqlite::Result<bool> {
    let seal = row.get_ref(ENTRY_COLUMNS)?.as_i64();
    Ok(seal == Ok(of_entry(row, ENTRY_COLUMNS)?) || seal == Ok(of_entry(row, ENTRY_COLUMNS - 1)?))
}

/// The seal of an entry of the ledger, from a row that begins with so many columns of [`ENTRY`].
pub(super) fn of_entry(row: &Row<'_>, columns: usize) -> rusqlite::Result<i64> {
    let add = |seal: Seal, column| {
        Ok(match row.get_ref(column)? {
            ValueRef::Null => seal.number(0),
            ValueRef::Integer(number) => seal.number(1).number(number),
            ValueRef::Real(number) => seal.number(2).bytes(&number.to_le_bytes()),
            ValueRef::Text(text) => seal.number(3).bytes(text),
            ValueRef::Blob(bytes) => seal.number(4).bytes(bytes),
        })
    };
    (0..columns).try_fold(Seal::of("ledger"), add).map(Seal::end)
}

/// Seals entries of the ledger as they stand.
pub(super) fn entries(
    connection: &Connection,
    condition: &str,
    values: &[&dyn rusqlite::ToSql],
) -> rusqlite::Result<()> {
    let mut select = connection.prepare_cached(&format!("SELECT {ENTRY} FROM ledger WHERE {condition}"))?;
    let seals = select.query_map(values, |row| Ok((row.get::<_, i64>(0)?, of_entry(row, ENTRY_COLUMNS)?)))?;
    for (id, seal) in seals.collect::<rusqlite::Result<Vec<_>>>()? {
        connection.prepare_cached("UPDATE ledger SET seal = ?1 WHERE id = ?2")?.execute([seal, id])?;
    }
    Ok(())
}

/// Seals an answer as it stands. Its reports have their own.
pub(super) fn renew(connection: &Connection, answer: AnswerId) -> rusqlite::Result<()> {
    seal_answers(connection, "id = ?1", &[&answer.0])
}

/// Says of the reports of an answer that stand from a byte on that they stand so many bytes before that. Of a row that is not what
/// was written nothing is known: with a new seal it would be believed.
pub(super) fn move_reports(connection: &Connection, answer: AnswerId, from: i64, by: i64) -> rusqlite::Result<()> {
    let behind = seals_of_reports(connection, "answer = ?1 AND first >= ?2", &[&answer.0, &from])?;
    for (row, _) in behind.into_iter().filter(|(_, seal)| seal.is_whole()) {
        connection.execute("UPDATE report SET first = first - ?1, after = after - ?1 WHERE rowid = ?2", [by, row])?;
        seal_reports(connection, "rowid = ?1", &[&row])?;
    }
    Ok(())
}

/// Seals all that is held as it stands: what an earlier version wrote is believed.
pub(super) fn all_held(connection: &Connection) -> rusqlite::Result<()> {
    seal_answers(connection, "TRUE", &[])?;
    seal_reports(connection, "TRUE", &[])
}

fn seal_answers(connection: &Connection, which: &str, values: &[&dyn rusqlite::ToSql]) -> rusqlite::Result<()> {
    for (row, seal) in seals_of_answers(connection, which, values)? {
        connection.execute("UPDATE answer SET seal = ?1 WHERE id = ?2", params![seal.made, row])?;
    }
    Ok(())
}

fn seal_reports(connection: &Connection, which: &str, values: &[&dyn rusqlite::ToSql]) -> rusqlite::Result<()> {
    for (row, seal) in seals_of_reports(connection, which, values)? {
        connection.execute("UPDATE report SET seal = ?1 WHERE rowid = ?2", params![seal.made, row])?;
    }
    Ok(())
}

/// Takes out blocks and reports that no seal vouches for, after everything was carried over; says how many reports. An answer without
/// one of its blocks is set aside as one that was cut.
pub(super) fn leave_out_broken_parts(connection: &Connection) -> rusqlite::Result<u64> {
    for (table, shelf) in [("block", "answer"), ("index_block", "row_index")] {
        for row in broken_blocks(connection, (table, shelf), "NOT INDEXED WHERE TRUE", &[])? {
            connection.execute(&format!("DELETE FROM {table} WHERE rowid = ?1"), [row])?;
        }
    }
    let reports = seals_of_reports(connection, "TRUE", &[])?.into_iter().filter(|(_, seal)| !seal.is_whole());
    reports
        .map(|(row, _)| connection.execute("DELETE FROM report WHERE rowid = ?1", [row]))
        .try_fold(0, |out, gone| Ok(out + gone? as u64))
}

pub(super) fn broken_answers(connection: &Connection) -> rusqlite::Result<Vec<AnswerId>> {
    let answers = seals_of_answers(connection, "TRUE", &[])?.into_iter();
    Ok(answers.filter(|(_, seal)| !seal.is_whole()).map(|(row, _)| AnswerId(row)).collect())
}

/// Sets an answer aside that is not what it is said to be; says how much is not held any more.
pub(super) fn leave_out_answer(connection: &Connection, answer: AnswerId) -> rusqlite::Result<u64> {
    let out = connection.execute("UPDATE answer SET usable = 0 WHERE id = ?1 AND usable IS NOT 0", [answer.0])?;
    // Where its reports stand is known no better.
    let reports = connection.execute("DELETE FROM report WHERE answer = ?1", [answer.0])?;
    renew(connection, answer)?;
    Ok((out + reports) as u64)
}

/// Whether everything that is said of an answer is what was written: its row, those of its blocks, and of so many reports.
pub(super) fn is_whole(connection: &Connection, answer: AnswerId, reports: usize) -> rusqlite::Result<bool> {
    let answers = seals_of_answers(connection, "id = ?1", &[&answer.0])?;
    let of_reports = seals_of_reports(connection, "answer = ?1", &[&answer.0])?;
    let mut all = answers.iter().chain(&of_reports);
    let is_there = answers.len() == 1 && of_reports.len() == reports;
    Ok(is_there
        && all.all(|(_, seal)| seal.is_whole())
        && broken_blocks(connection, ("block", "answer"), "WHERE answer = ?1", &[&answer.0])?.is_empty())
}

/// Blocks that are sound in themselves, but of something else.
fn broken_blocks(
    connection: &Connection,
    (table, shelf): (&str, &str),
    which: &str,
    values: &[&dyn rusqlite::ToSql],
) -> rusqlite::Result<Vec<i64>> {
    let sql = format!("SELECT rowid, {shelf}, number, bytes, seal FROM {table} {which} AND seal IS NOT NULL");
    let mut select = connection.prepare(&sql)?;
    let (mut rows, mut broken) = (select.query(values)?, Vec::new());
    while let Some(row) = rows.next()? {
        let made = of_block(table, row.get(1)?, row.get(2)?, &row.get::<_, Vec<u8>>(3)?);
        if row.get::<_, i64>(4)? != made {
            broken.push(row.get(0)?);
        }
    }
    Ok(broken)
}

/// The seal that a row has, and the one that is made from what it says.
struct Pair {
    found: Option<i64>,
    made: i64,
}

impl Pair {
    fn is_whole(&self) -> bool {
        self.found == Some(self.made)
    }
}

fn seals_of_answers(
    connection: &Connection,
    condition: &str,
    values: &[&dyn rusqlite::ToSql],
) -> rusqlite::Result<Vec<(i64, Pair)>> {
    let sql = format!("SELECT id, profile, key, length, block, seal FROM answer WHERE {condition}");
    let mut select = connection.prepare_cached(&sql)?;
    let rows = select.query_map(values, |row| {
        let (id, profile, key): (i64, String, Vec<u8>) = (row.get(0)?, row.get(1)?, row.get(2)?);
        let answer = Answer { id, profile: &profile, key: &key, length: row.get(3)?, block: row.get(4)? };
        Ok((id, Pair { found: row.get(5)?, made: answer.seal() }))
    })?;
    rows.collect()
}

fn seals_of_reports(
    connection: &Connection,
    condition: &str,
    values: &[&dyn rusqlite::ToSql],
) -> rusqlite::Result<Vec<(i64, Pair)>> {
    let sql = format!(
        "SELECT rowid, profile, identifier, file, answer, first, after, seal FROM report NOT INDEXED WHERE {condition}"
    );
    let mut select = connection.prepare_cached(&sql)?;
    let rows = select.query_map(values, |row| {
        let (profile, identifier): (String, Vec<u8>) = (row.get(1)?, row.get(2)?);
        let file: Option<String> = row.get(3)?;
        let (answer, first, after) = (row.get(4)?, row.get(5)?, row.get(6)?);
        let report = Report { profile: &profile, identifier: &identifier, file: file.as_deref(), answer, first, after };
        Ok((row.get(0)?, Pair { found: row.get(7)?, made: report.seal() }))
    })?;
    rows.collect()
}
