//! Answers whose rows are lost or damaged, made anew from what is left: their blocks, whose seals say which answer they are of, and
//! their reports, whose seals say whose they are and where they stand.
//!
//! What nobody says any more is where such an answer came from, and of one without reports whose it is.

use crate::report::identifier::{Identifier, Sha256};
use crate::request::Request;
use crate::store::blocks::{self, BLOCK};
use crate::store::held::{AnswerId, outdate_pages};
use crate::store::seal;
use crate::text::Untrusted;
use rusqlite::{Connection, OptionalExtension, params};

/// The first word of the key of a list that does not say which page it is: no question is answered by it, but its reports are held.
const NO_QUESTION: &str = "salvaged";

/// Makes the rows of answers anew that these are to be tried of; says which are made. Only what is sound was carried over of blocks
/// and reports.
pub(super) fn make_anew(connection: &Connection, lost: &[AnswerId]) -> rusqlite::Result<Vec<AnswerId>> {
    let mut made = Vec::new();
    for answer in lost {
        made.extend(one(connection, *answer)?.then_some(*answer));
    }
    if !made.is_empty() {
        // Which of them a newer list has left behind is not said either.
        let mut select = connection.prepare("SELECT id FROM answer WHERE usable = 1 ORDER BY id")?;
        let all = select.query_map([], |row| row.get(0).map(AnswerId))?.collect::<rusqlite::Result<Vec<_>>>()?;
        all.into_iter().try_for_each(|answer| outdate_pages(connection, answer))?;
    }
    Ok(made)
}

/// The answers of which there are blocks, and no row.
pub(super) fn without_row(connection: &Connection) -> rusqlite::Result<Vec<AnswerId>> {
    let lost = "SELECT DISTINCT answer FROM block WHERE answer NOT IN (SELECT id FROM answer) ORDER BY answer";
    connection.prepare(lost)?.query_map([], |row| row.get(0).map(AnswerId))?.collect()
}

fn one(connection: &Connection, answer: AnswerId) -> rusqlite::Result<bool> {
    let Some(known) = Known::by_reports(connection, answer)? else { return Ok(false) };
    let Some((size, length)) = lengths(connection, answer, known.after)? else { return Ok(false) };
    connection.execute(
        "INSERT INTO answer (id, profile, key, received, length, block, usable) VALUES (?1, ?2, x'', ?3, ?4, ?5, 1)
         ON CONFLICT (id) DO UPDATE SET profile = ?2, received = ?3, length = ?4, block = ?5",
        params![answer.0, known.profile, known.received, length, size],
    )?;
    let key = known.key(connection, answer, length)?;
    connection.execute("UPDATE answer SET key = ?1 WHERE id = ?2", params![key, answer.0])?;
    seal::renew(connection, answer)?;
    Ok(true)
}

/// What the reports of an answer say of it.
struct Known {
    profile: String,
    received: i64,
    identifier: Vec<u8>,
    file: Option<String>,
    /// The bytes that they stand in.
    first: i64,
    after: i64,
    reports: i64,
}

impl Known {
    fn by_reports(connection: &Connection, answer: AnswerId) -> rusqlite::Result<Option<Self>> {
        let select = "SELECT profile, MIN(received), identifier, file, MIN(first), MAX(after), COUNT(*)
                      FROM report NOT INDEXED WHERE answer = ?1 HAVING COUNT(DISTINCT profile) = 1";
        connection
            .query_row(select, [answer.0], |row| {
                let (profile, received, identifier, file) = (row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?);
                let (first, after, reports) = (row.get(4)?, row.get(5)?, row.get(6)?);
                Ok(Self { profile, received, identifier, file, first, after, reports })
            })
            .optional()
    }

    fn key(&self, connection: &Connection, answer: AnswerId, length: i64) -> rusqlite::Result<Vec<u8>> {
        if (self.first, self.after, self.reports) == (0, length, 1) {
            let identifier = Identifier::new(Untrusted::from(self.identifier.as_slice()));
            let key = identifier.and_then(|identifier| Request::Behaviour { identifier }.holding_key());
            return Ok(key.unwrap_or_default());
        }
        let bytes = blocks::read_all(connection, answer)?;
        let file = self.file.as_deref().and_then(Sha256::parse);
        let request = bytes.and_then(|bytes| Request::of_page(&bytes));
        let is_of_file = |request: &Request| Request::holding_file(&request.holding_key().unwrap_or_default()) == file;
        let key = request.filter(is_of_file).and_then(|request| request.holding_key());
        Ok(key.unwrap_or_else(|| format!("{NO_QUESTION} {}", self.file.as_deref().unwrap_or_default()).into_bytes()))
    }
}

/// How many bytes a block of an answer has, and all of it, where all say the same; of what is missing behind the last of them only
/// the reports tell.
fn lengths(connection: &Connection, answer: AnswerId, after: i64) -> rusqlite::Result<Option<(i64, i64)>> {
    let mut found = blocks::unpacked(connection, answer)?;
    let Some((last, end)) = found.pop() else { return Ok(None) };
    let in_table = |length: usize| i64::try_from(length).unwrap_or(i64::MAX);
    let size = found.first().map_or_else(|| in_table(end.max(BLOCK)), |(_, length)| in_table(*length));
    let is_even = found.iter().all(|(_, length)| in_table(*length) == size) && in_table(end) <= size;
    let length = last.saturating_mul(size).saturating_add(in_table(end)).max(after);
    Ok((is_even && size > 0).then_some((size, length)))
}
