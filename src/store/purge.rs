//! Deleting what is held, so that its bytes are gone from the disk and not only from the index. The ledger always stays.

use super::blocks::{self, BLOCK, Shelf};
use super::connection::PATIENCE;
use super::database::Store;
use super::error::StoreError;
use super::held::AnswerId;
use super::inventory::ON_DISK;
use super::seal;
use crate::report::Purge;
use crate::report::identifier::Identifier;
use crate::report::json::Raw;
use crate::request::Request;
use rusqlite::{Connection, ErrorCode, Transaction, TransactionBehavior, params};
use std::collections::BTreeSet;
use std::time::Duration;

/// Bytes of a store of the time before it could shrink, up to which it is written anew to let go of its empty pages.
const SMALL: i64 = 64 * 1024 * 1024;

/// What was deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Purged {
    /// Reports of which no version is left.
    pub reports: u64,
    /// Bytes as received.
    pub bytes: u64,
    /// Notes on those reports.
    pub notes: u64,
    /// Whether something was deleted whose bytes may still be in the write-ahead file, because another program is reading:
    /// they go when it ends.
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
    /// Deletes what is held, for one profile or for all of them, and overwrites its bytes.
    ///
    /// Notes on a report go with the last of its versions, for they quote it.
    ///
    /// Where there is no room to do so at once, one answer goes after another.
    ///
    /// # Errors
    /// When it cannot be written; then nothing is deleted, or what there was room for.
    pub fn purge(&self, what: &Purge, profile: Option<&str>) -> Result<Purged, StoreError> {
        match self.with(|connection| at_once(connection, what, profile)) {
            Err(StoreError::Database { why, .. }) if is_full(&why) => {
                self.with(|connection| one_by_one(connection, what, profile))
            }
            purged => purged,
        }
    }
}

/// Whether there may be no room on the disk.
fn is_full(why: &rusqlite::Error) -> bool {
    matches!(why.sqlite_error_code(), Some(ErrorCode::DiskFull | ErrorCode::SystemIoFailure))
}

fn at_once(connection: &mut Connection, what: &Purge, profile: Option<&str>) -> rusqlite::Result<Purged> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let before = held(&transaction)?;
    let mut bytes = 0;
    if let Purge::Report { profile, identifier } = what {
        bytes += cut_out(&transaction, profile, identifier)?;
    }
    for answer in doomed(&transaction, what, profile)? {
        bytes += delete(&transaction, answer)?;
    }
    let after = held(&transaction)?;
    let gone: Vec<_> = before.difference(&after).collect();
    let notes = forget(&transaction, what, profile, &gone)?;
    transaction.commit()?;
    let mut purged = Purged { reports: gone.len() as u64, bytes, notes, is_pending: false };
    if purged != Purged::default() || matches!(what, Purge::Everything | Purge::File { .. }) {
        purged.is_pending = !let_go(connection)?;
    }
    Ok(purged)
}

/// Deletes the oldest first, and gives the room back that each has taken, in the database and in its log, before the next one goes.
fn one_by_one(connection: &mut Connection, what: &Purge, profile: Option<&str>) -> rusqlite::Result<Purged> {
    // A log that could not be taken over is in the way, if it still cannot be.
    let _ = let_go(connection);
    let mut purged = Purged::default();
    while let Some(AnswerId(oldest)) = doomed(connection, what, profile)?.pop() {
        purged = purged.and(at_once(connection, &Purge::Answer(oldest), None)?);
    }
    Ok(purged.and(at_once(connection, what, profile)?))
}

/// Every report that is held in any version.
fn held(connection: &Connection) -> rusqlite::Result<BTreeSet<(String, Vec<u8>)>> {
    let mut select = connection.prepare("SELECT DISTINCT profile, identifier FROM report")?;
    let rows = select.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    rows.collect()
}

/// The answers that go whole.
fn doomed(connection: &Connection, what: &Purge, profile: Option<&str>) -> rusqlite::Result<Vec<AnswerId>> {
    let mut select = connection.prepare(&format!(
        "SELECT id, profile, key, received, {ON_DISK},
                EXISTS (SELECT 1 FROM report r WHERE r.answer = a.id AND r.file = ?2)
         FROM answer a WHERE ?1 IS NULL OR profile = ?1 ORDER BY received DESC, id DESC"
    ))?;
    let file = match what {
        Purge::File { file, .. } => Some(file.as_str()),
        _ => None,
    };
    let mut rows = select.query(params![profile, file])?;
    let (mut found, mut sum) = (Vec::new(), 0_u64);
    while let Some(row) = rows.next()? {
        let id = AnswerId(row.get(0)?);
        sum = sum.saturating_add(u64::try_from(row.get::<_, i64>(4)?).unwrap_or(0));
        let goes = match what {
            Purge::Report { profile, identifier } => {
                Request::holding_beside(&row.get::<_, Vec<u8>>(2)?).as_ref() == Some(identifier)
                    && row.get::<_, String>(1)? == *profile
            }
            Purge::Answer(number) => id.0 == *number,
            Purge::File { profile, file } => {
                let is_of_file =
                    row.get(5)? || Request::holding_file(&row.get::<_, Vec<u8>>(2)?).as_ref() == Some(file);
                is_of_file && row.get::<_, String>(1)? == *profile
            }
            Purge::Before(moment) => row.get::<_, i64>(3)? < moment.as_millisecond(),
            Purge::DownTo(most) => sum > *most,
            Purge::Everything => true,
        };
        found.extend(goes.then_some(id));
    }
    Ok(found)
}

fn delete(transaction: &Transaction<'_>, answer: AnswerId) -> rusqlite::Result<u64> {
    let length: i64 = transaction.query_row("SELECT length FROM answer WHERE id = ?1", [answer.0], |row| row.get(0))?;
    transaction.execute("DELETE FROM block WHERE answer = ?1", [answer.0])?;
    transaction.execute("DELETE FROM report WHERE answer = ?1", [answer.0])?;
    transaction.execute("DELETE FROM answer WHERE id = ?1", [answer.0])?;
    Ok(u64::try_from(length).unwrap_or(0))
}

/// Takes every version of a report out of the answers that it came with; says how many bytes went.
fn cut_out(transaction: &Transaction<'_>, profile: &str, identifier: &Identifier) -> rusqlite::Result<u64> {
    let mut select = transaction.prepare(
        "SELECT r.answer, r.first, r.after, a.length, r.rowid FROM report r JOIN answer a ON a.id = r.answer
         WHERE r.profile = ?1 AND r.identifier = ?2",
    )?;
    let rows = select.query_map(params![profile, identifier.as_bytes()], |row| {
        Ok((AnswerId(row.get(0)?), row.get::<_, i64>(1)?, row.get::<_, i64>(2)?, row.get::<_, i64>(3)?, row.get(4)?))
    })?;
    let found = rows.collect::<rusqlite::Result<Vec<(_, _, _, _, i64)>>>()?;
    let mut gone = 0;
    for (answer, first, after, length, report) in found {
        let is_alone = (first, after) == (0, length);
        if is_alone || !shorten(transaction, answer, first, after, report)? {
            gone += delete(transaction, answer)?;
        } else {
            gone += u64::try_from(after - first).unwrap_or(0);
        }
    }
    Ok(gone)
}

/// Leaves of a report in a list no more than its identifier: the list stays whole, and need not be asked for again.
///
/// Says whether that could be done; a list that is damaged cannot be written anew.
fn shorten(
    transaction: &Transaction<'_>,
    answer: AnswerId,
    first: i64,
    after: i64,
    report: i64,
) -> rusqlite::Result<bool> {
    let Some(bytes) = blocks::read_all(transaction, answer)? else { return Ok(false) };
    let place = usize::try_from(first).ok().zip(usize::try_from(after).ok());
    let Some((first, after)) = place.filter(|(first, after)| first <= after && *after <= bytes.len()) else {
        return Ok(false);
    };
    let (head, rest) = bytes.split_at(first);
    let (entry, tail) = rest.split_at(after - first);
    let id = Raw::new(entry).member("id").map(|id| [b"{\"id\":", id.bytes(), b"}"].concat());
    let Some(stub) = id.filter(|stub| stub.len() <= entry.len()) else { return Ok(false) };
    let whole = [head, &stub, tail].concat();
    let shift = i64::try_from(entry.len() - stub.len()).unwrap_or(0);
    transaction.execute("DELETE FROM block WHERE answer = ?1", [answer.0])?;
    // Rows are elsewhere now: an index is made anew.
    transaction.execute("DELETE FROM row_index WHERE answer = ?1", [answer.0])?;
    let blocks = "UPDATE answer SET length = length - ?1, block = ?2 WHERE id = ?3";
    transaction.execute(blocks, params![shift, BLOCK as i64, answer.0])?;
    blocks::write(transaction, Shelf::Answer(answer), 0, &whole)?;
    transaction.execute("DELETE FROM report WHERE rowid = ?1", [report])?;
    let first = i64::try_from(first).unwrap_or(i64::MAX);
    transaction.execute(
        "UPDATE report SET first = first - ?1, after = after - ?1 WHERE answer = ?2 AND first > ?3",
        params![shift, answer.0, first],
    )?;
    seal::renew(transaction, answer)?;
    Ok(true)
}

/// Deletes the notes on what is gone, and the files of which nothing is left; says how many notes. They go with their own
/// profile's report, unless another one's import still stands under them: nobody's deleting takes what another profile wrote.
fn forget(
    transaction: &Transaction<'_>,
    what: &Purge,
    profile: Option<&str>,
    gone: &[&(String, Vec<u8>)],
) -> rusqlite::Result<u64> {
    let mut notes = 0;
    for (profile, identifier) in gone {
        let delete = "DELETE FROM note WHERE profile = ?1 AND identifier = ?2 AND NOT EXISTS (
            SELECT 1 FROM report r JOIN answer a ON a.id = r.answer
            WHERE r.identifier = note.identifier AND (r.profile = note.profile OR a.imported_from IS NOT NULL))";
        notes += transaction.execute(delete, params![profile, identifier])?;
    }
    match what {
        Purge::Everything => {
            notes += transaction.execute("DELETE FROM note WHERE ?1 IS NULL OR profile = ?1", [profile])?;
            transaction.execute("DELETE FROM file WHERE ?1 IS NULL OR profile = ?1", [profile])?;
        }
        Purge::File { profile, file } => {
            let of_file = params![profile, file.as_str()];
            notes += transaction.execute("DELETE FROM note WHERE profile = ?1 AND file = ?2", of_file)?;
            transaction.execute("DELETE FROM file WHERE profile = ?1 AND sha256 = ?2", of_file)?;
        }
        Purge::Before(moment) => {
            let opened = "DELETE FROM file WHERE opened < ?1 AND (?2 IS NULL OR profile = ?2)
                          AND NOT EXISTS (SELECT 1 FROM report r WHERE r.profile = file.profile AND r.file = sha256)";
            transaction.execute(opened, params![moment.as_millisecond(), profile])?;
        }
        Purge::Report { .. } | Purge::Answer(_) | Purge::DownTo(_) => {}
    }
    Ok(notes as u64)
}

/// Gives empty pages back and empties the write-ahead file; says whether that file is empty now.
///
/// Pages were overwritten with zeros when they were given up (`secure_delete`).
fn let_go(connection: &Connection) -> rusqlite::Result<bool> {
    let number = |pragma: &str| connection.pragma_query_value(None, pragma, |row| row.get::<_, i64>(0));
    // A temporary store of what is never kept has no such file.
    let empty_log = || connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get::<_, i64>(0));
    // Before, for to give pages back is to write as well, and there may be room for one of the two. Nobody is waited for yet.
    connection.busy_timeout(Duration::ZERO)?;
    let emptied = empty_log();
    connection.busy_timeout(PATIENCE)?;
    emptied?;
    let (pages, empty, size) = (number("page_count")?, number("freelist_count")?, number("page_size")?);
    if number("auto_vacuum")? == 0 && (pages - empty).saturating_mul(size) <= SMALL {
        connection.execute_batch("PRAGMA auto_vacuum = INCREMENTAL; VACUUM")?;
    } else {
        let mut shrink = connection.prepare("PRAGMA incremental_vacuum")?;
        let mut steps = shrink.query([])?;
        while steps.next()?.is_some() {}
    }
    let is_busy = empty_log()?;
    Ok(is_busy == 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::Body;
    use crate::report::identifier::Sha256;
    use crate::text::Untrusted;
    use jiff::Timestamp;

    #[test]
    fn a_store_of_the_time_before_lets_go_of_its_pages_too() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("behaview.db");
        // A file that has pages already cannot be told to give them back, except by writing it anew.
        Connection::open(&path).unwrap().execute_batch("CREATE TABLE before (x); DROP TABLE before").unwrap();
        let store = Store::open(&path).unwrap();
        let noise: Vec<u8> = (0..400_000_u32).flat_map(|n| n.wrapping_mul(2_654_435_761).to_le_bytes()).collect();
        for _ in 0..2 {
            store.keep("p", b"key", Timestamp::UNIX_EPOCH, &Body::in_memory(noise.clone())).unwrap();
            let purged = store.purge(&Purge::Everything, None).unwrap();
            assert_eq!(purged, Purged { bytes: 1_600_000, ..Purged::default() });
            let sizes = std::fs::read_dir(folder.path()).unwrap().map(|file| file.unwrap().metadata().unwrap().len());
            assert!(sizes.sum::<u64>() < 300_000, "the pages are still there");
        }
    }

    #[test]
    fn artefacts_go_with_their_report_and_their_file_whole_or_not() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&folder.path().join("behaview.db")).unwrap();
        let name = |sandbox: &str| format!("{}_{sandbox}", "ab".repeat(32));
        let identifier = |sandbox: &str| Identifier::new(Untrusted::from(name(sandbox))).unwrap();
        let begin = |kind: &str, sandbox: &str| {
            let key = format!("artefact {kind} {}", name(sandbox));
            store.begin_growing("p", key.as_bytes(), Timestamp::UNIX_EPOCH).unwrap()
        };
        let (whole, part, other) = (begin("html", "one"), begin("pcap", "one"), begin("pcap", "two"));
        [whole, part, other].iter().for_each(|id| store.grow(*id, 0, 0, &[7; 5000]).unwrap());
        store.grown(whole, 5000, Timestamp::UNIX_EPOCH).unwrap();
        let left = || store.inventory().unwrap().into_iter().map(|kept| kept.bytes).collect::<Vec<_>>();
        assert_eq!(left(), [5000; 3]);
        let profile = "p".to_owned();
        let report = Purge::Report { profile: profile.clone(), identifier: identifier("one") };
        assert_eq!(store.purge(&report, None).unwrap().bytes, 10_000);
        assert!(store.grow(part, 5000, 5000, &[7; 10]).is_err(), "what was deleted is here again");
        store.purge(&Purge::File { profile, file: Sha256::parse(&"ab".repeat(32)).unwrap() }, None).unwrap();
        assert_eq!(left(), [0; 0]);
    }

    #[test]
    fn what_came_first_goes_until_no_more_is_left_than_may_be() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&folder.path().join("behaview.db")).unwrap();
        let at = |second| Timestamp::from_second(second).unwrap();
        for second in 1..=4 {
            store.keep("p", &[second as u8], at(second), &Body::in_memory(vec![0; 5000])).unwrap();
        }
        let each = store.inventory().unwrap()[0].on_disk;
        store.purge(&Purge::DownTo(each * 2), None).unwrap();
        let left: Vec<_> = store.inventory().unwrap().into_iter().map(|kept| kept.received).collect();
        assert_eq!(left, [at(4), at(3)]);
        store.purge(&Purge::Before(at(4)), Some("another profile")).unwrap();
        assert_eq!(store.inventory().unwrap().len(), 2);
    }
}
