//! What can be read of a damaged database is carried over to a new one: all of that in one step, or nothing.
//!
//! What is damaged costs itself. Where the system fails, such as a disk that is full, the step is not taken: less would be carried
//! over than there is, and the ledger would be too low.

use super::{Salvaged, answers, is_of_system};
use crate::store::{brought, seal, sent};
use rusqlite::types::Value;
use rusqlite::{Connection, ErrorCode, Statement, params_from_iter};
use std::collections::HashMap;
use std::path::Path;

/// Carries over what can be read of a database, which may be nothing.
pub(super) fn over(aside: &Path, old: Option<&Connection>, new: &mut Connection) -> rusqlite::Result<Salvaged> {
    let aside = aside.to_owned();
    let (entries, answers, left_out, fileless) = (0, 0, 0, Vec::new());
    let mut salvaged = Salvaged { aside, entries, is_ledger_whole: false, answers, made_anew: 0, left_out, fileless };
    let transaction = new.transaction()?;
    let Some(old) = old else {
        sent::note_lost(&transaction)?;
        return transaction.commit().map(|()| salvaged);
    };
    // Rows come in any order.
    transaction.pragma_update(None, "defer_foreign_keys", true)?;
    for table in tables(&transaction)? {
        let Carried { rows, is_whole } = carry_table(old, &transaction, &table)?;
        match table.as_str() {
            // Another tree in its place can be read to its end as well; its indexes know of other entries then.
            "ledger" => (salvaged.entries, salvaged.is_ledger_whole) = (rows, is_whole && is_as_indexed(old, &table)),
            "answer" => salvaged.answers = rows,
            _ => {}
        }
    }
    let is_sealed = |table| {
        let columns = unless_damaged(columns(old, table))?.unwrap_or_default();
        Ok::<_, rusqlite::Error>(columns.iter().any(|column| column == "seal"))
    };
    if is_sealed("answer")? {
        salvaged.left_out = leave_out_what_is_broken(&transaction, &mut salvaged.made_anew)?;
    } else {
        seal::all_held(&transaction)?;
    }
    if !is_sealed("ledger")? {
        seal::entries(&transaction, "TRUE", &[])?;
    } else if !salvaged.is_ledger_whole {
        salvaged.entries += entries_elsewhere(old, &transaction)?;
    }
    if !salvaged.is_ledger_whole {
        sent::note_lost(&transaction)?;
    }
    salvaged.left_out += leave_out_what_is_cut(&transaction)?;
    leave_out_what_belongs_to_nothing(&transaction)?;
    let again = brought::find_again(&transaction)?;
    salvaged.left_out = salvaged.left_out.saturating_sub(again.count);
    salvaged.fileless = again.fileless;
    transaction.commit()?;
    Ok(salvaged)
}

/// Takes out what no seal vouches for; says how much is not held any more by that. An answer whose own row is lost or damaged is held
/// all the same where its blocks and its reports say what it is.
fn leave_out_what_is_broken(new: &Connection, made_anew: &mut u64) -> rusqlite::Result<u64> {
    let mut out = seal::leave_out_broken_parts(new)?;
    let broken = seal::broken_answers(new)?;
    let lost = [broken.clone(), answers::without_row(new)?].concat();
    let made = answers::make_anew(new, &lost)?;
    *made_anew = made.len() as u64;
    for answer in broken.into_iter().filter(|answer| !made.contains(answer)) {
        out += seal::leave_out_answer(new, answer)?;
    }
    Ok(out)
}

/// What was read of a damaged database, or nothing where that is damaged.
fn unless_damaged<T>(read: rusqlite::Result<T>) -> rusqlite::Result<Option<T>> {
    match read {
        Err(error) if !is_of_system(&error) => Ok(None),
        read => read.map(Some),
    }
}

fn tables(connection: &Connection) -> rusqlite::Result<Vec<String>> {
    let mut select =
        connection.prepare("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")?;
    let names = select.query_map([], |row| row.get(0))?;
    names.collect()
}

fn columns(connection: &Connection, table: &str) -> rusqlite::Result<Vec<String>> {
    let mut select = connection.prepare("SELECT name FROM pragma_table_info(?1)")?;
    let names = select.query_map([table], |row| row.get(0))?;
    names.collect()
}

/// What was carried over of a table.
#[derive(Default)]
struct Carried {
    rows: u64,
    is_whole: bool,
}

/// Carries over the rows of a table from both ends, as far as they can be read.
fn carry_table(old: &Connection, new: &Connection, table: &str) -> rusqlite::Result<Carried> {
    let Some(known) = unless_damaged(columns(old, table))? else { return Ok(Carried::default()) };
    let kinds = kinds(new, table)?;
    let columns: Vec<_> = columns(new, table)?.into_iter().filter(|column| known.contains(column)).collect();
    if columns.is_empty() {
        return Ok(Carried::default());
    }
    let fits = |values: &[Value]| {
        let each = columns.iter().zip(values.iter().skip(1));
        each.into_iter().all(|(column, value)| kinds.get(column).is_none_or(|kind| kind.takes(value)))
    };
    let (names, places) = (columns.join(", "), vec!["?"; columns.len() + 1].join(", "));
    let mut insert = new.prepare(&format!("INSERT OR IGNORE INTO {table} (rowid, {names}) VALUES ({places})"))?;
    let mut carried = Carried::default();
    for order in ["ASC", "DESC"] {
        let select = format!("SELECT rowid, {names} FROM {table} ORDER BY rowid {order}");
        let Some(mut select) = unless_damaged(old.prepare(&select))? else { break };
        let is_whole = carry_rows(&mut select, &mut insert, fits, &mut carried.rows)?;
        carried.is_whole = is_whole && order == "ASC";
        if carried.is_whole {
            break;
        }
    }
    Ok(carried)
}

/// Carries over rows up to the first that cannot be got at; says whether that was all, and none of them was odd.
fn carry_rows(
    select: &mut Statement<'_>,
    insert: &mut Statement<'_>,
    fits: impl Fn(&[Value]) -> bool,
    carried: &mut u64,
) -> rusqlite::Result<bool> {
    let (width, mut is_whole) = (select.column_count(), true);
    let Some(mut rows) = unless_damaged(select.query([]))? else { return Ok(false) };
    loop {
        let row = match unless_damaged(rows.next())? {
            Some(Some(row)) => row,
            Some(None) => return Ok(is_whole),
            None => return Ok(false),
        };
        let values = (0..width).map(|column| row.get::<_, Value>(column)).collect::<rusqlite::Result<Vec<_>>>();
        // A row that cannot be read, or not be kept, costs itself.
        let Some(values) = values.ok().filter(|values| fits(values)) else {
            is_whole = false;
            continue;
        };
        match insert.execute(params_from_iter(values)) {
            Err(error) if is_of_row(&error) => is_whole = false,
            kept => *carried += kept? as u64,
        }
    }
}

/// Carries over entries of the ledger that stand where another table is to begin, as pages may come to stand in each other's places:
/// the seal of each says that it is one.
fn entries_elsewhere(old: &Connection, new: &Connection) -> rusqlite::Result<u64> {
    let begin = "SELECT rootpage FROM sqlite_master WHERE type = 'table' AND name <> 'ledger' ORDER BY rootpage";
    let begin = old.prepare(begin).and_then(|mut select| {
        let pages = select.query_map([], |row| row.get::<_, i64>(0))?;
        pages.collect::<rusqlite::Result<Vec<_>>>()
    });
    let mut carried = 0;
    for page in unless_damaged(begin)?.unwrap_or_default() {
        let found = as_ledger(old, page).and_then(|()| sealed_entries(old, new));
        // Nothing of it is written: what was set aside stays as it was found. An error may have taken it back already.
        let _ = old.execute_batch("ROLLBACK");
        let is_back = old.execute_batch("PRAGMA writable_schema = RESET");
        carried += unless_damaged(found.and_then(|found| is_back.map(|()| found)))?.unwrap_or_default();
    }
    Ok(carried)
}

/// Reads the ledger from this page on, until that is taken back.
fn as_ledger(old: &Connection, page: i64) -> rusqlite::Result<()> {
    old.execute_batch("PRAGMA writable_schema = TRUE; BEGIN")?;
    old.execute("UPDATE sqlite_master SET rootpage = ?1 WHERE name = 'ledger'", [page])?;
    old.execute_batch("PRAGMA writable_schema = RESET")
}

/// Carries over the entries that their seals vouch for, up to the first that cannot be got at; says how many.
fn sealed_entries(old: &Connection, new: &Connection) -> rusqlite::Result<u64> {
    let names = format!("{}, seal", seal::ENTRY);
    // An earlier version did not note whose key asked.
    let is_noted = columns(old, "ledger")?.iter().any(|name| name == "owner");
    let of_old = if is_noted { names.clone() } else { names.replace("owner", "NULL") };
    let mut select = old.prepare(&format!("SELECT {of_old} FROM ledger"))?;
    let places = vec!["?"; select.column_count()].join(", ");
    let mut insert = new.prepare(&format!("INSERT OR IGNORE INTO ledger ({names}) VALUES ({places})"))?;
    let (width, mut carried) = (select.column_count(), 0);
    let mut rows = select.query([])?;
    while let Some(row) = unless_damaged(rows.next())?.flatten() {
        if seal::is_whole_entry(row)? {
            let values = (0..width).map(|column| row.get::<_, Value>(column)).collect::<rusqlite::Result<Vec<_>>>()?;
            carried += insert.execute(params_from_iter(values))? as u64;
        }
    }
    Ok(carried)
}

/// Whether a row cannot be kept for what it says.
fn is_of_row(error: &rusqlite::Error) -> bool {
    let of_row = [ErrorCode::ConstraintViolation, ErrorCode::TypeMismatch, ErrorCode::TooBig];
    error.sqlite_error_code().is_some_and(|code| of_row.contains(&code))
}

/// Whether the database finds nothing wrong with a table beside its indexes.
fn is_as_indexed(connection: &Connection, table: &str) -> bool {
    let check = format!("PRAGMA integrity_check({table})");
    connection.query_row(&check, [], |row| row.get::<_, String>(0)).is_ok_and(|words| words == "ok")
}

/// What a column takes.
struct Kind {
    name: String,
    takes_nothing: bool,
}

impl Kind {
    fn takes(&self, value: &Value) -> bool {
        match value {
            Value::Null => self.takes_nothing,
            Value::Integer(_) => self.name == "INTEGER",
            Value::Text(_) => self.name == "TEXT",
            Value::Blob(_) => self.name == "BLOB",
            Value::Real(_) => false,
        }
    }
}

fn kinds(connection: &Connection, table: &str) -> rusqlite::Result<HashMap<String, Kind>> {
    let mut select = connection.prepare("SELECT name, type, \"notnull\" = 0 FROM pragma_table_info(?1)")?;
    let kinds =
        select.query_map([table], |row| Ok((row.get(0)?, Kind { name: row.get(1)?, takes_nothing: row.get(2)? })))?;
    kinds.collect()
}

/// Answers whose bytes were not carried over whole do not count as held, nor does what stood in the blocks that are missing; says
/// how many are left out by that. The other reports of such an answer are as sound as they were.
fn leave_out_what_is_cut(new: &Connection) -> rusqlite::Result<u64> {
    let lost = "SELECT COUNT(DISTINCT answer) FROM block WHERE answer NOT IN (SELECT id FROM answer)";
    let lost: u32 = new.query_row(lost, [], |row| row.get(0))?;
    let cut = "UPDATE answer SET usable = 0 WHERE usable IS NOT 0 AND length > 0
        AND (SELECT COUNT(*) FROM block b WHERE b.answer = answer.id) < (length + block - 1) / block";
    let without = "DELETE FROM report WHERE answer NOT IN (SELECT id FROM answer) OR EXISTS (
        SELECT 1 FROM answer a WHERE a.id = report.answer
            AND (SELECT COUNT(*) FROM block b WHERE b.answer = a.id AND b.number BETWEEN first / block AND (after - 1) / block)
                <= (after - 1) / block - first / block)";
    let out = new.execute(cut, [])? + new.execute(without, [])?;
    Ok(u64::from(lost) + out as u64)
}

/// Takes out every row that belongs to one that was not carried over, of whichever table.
fn leave_out_what_belongs_to_nothing(new: &Connection) -> rusqlite::Result<()> {
    loop {
        let mut select =
            new.prepare("SELECT \"table\", rowid FROM pragma_foreign_key_check WHERE rowid IS NOT NULL")?;
        let rows = select.query_map([], |row| Ok((row.get::<_, String>(0)?, row.get::<_, i64>(1)?)))?;
        let rows = rows.collect::<rusqlite::Result<Vec<_>>>()?;
        // What belongs to these is next.
        if rows.is_empty() {
            return Ok(());
        }
        for (table, row) in rows {
            new.execute(&format!("DELETE FROM {table} WHERE rowid = ?1"), [row])?;
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::report::Body;
    use crate::report::identifier::Identifier;
    use crate::store::{BLOCK, Brought, Store};
    use crate::text::Untrusted;
    use jiff::Timestamp;

    #[test]
    fn a_block_that_is_lost_costs_what_stood_in_it() {
        for damage in ["UPDATE block SET seal = seal + 4 WHERE number = 3", "DELETE FROM block WHERE number = 3"] {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("behaview.db");
            let store = Store::open(&path).unwrap();
            let bytes: Vec<u8> = (0..160_000_u32).flat_map(|n| n.to_le_bytes()).collect();
            let answer = store.keep("p", b"list", Timestamp::UNIX_EPOCH, &Body::in_memory(bytes.clone())).unwrap();
            // Two blocks each.
            let range = |n: usize| 2 * n * BLOCK..(2 * n + 2) * BLOCK;
            let id = |n: usize| Identifier::new(Untrusted::from(format!("B{n}"))).unwrap();
            let brought =
                |n| Brought { identifier: id(n), file: None, range: range(n).start as u64..range(n).end as u64 };
            store.accept("p", answer, &[0, 1, 2, 3].map(brought)).unwrap();
            store.with(|connection| connection.execute_batch(damage)).unwrap();
            assert!(store.report("p", &id(1)).unwrap().unwrap().body.whole().is_err());
            super::super::mark(&path);
            drop(store);
            let store = Store::open(&path).unwrap();
            assert!(store.salvaged().is_some() && store.report("p", &id(1)).unwrap().is_none());
            assert!(store.answer("p", b"list").unwrap().is_none());
            for n in [0, 2, 3] {
                let held = store.report("p", &id(n)).unwrap().unwrap_or_else(|| panic!("{damage}: {n} is gone"));
                assert_eq!(held.body.whole().unwrap(), bytes[range(n)], "{damage}");
            }
        }
    }
}
