//! Answers that lie set aside, because they are damaged or of no use: their bytes stay, and nothing is answered by them.

use super::database::Store;
use super::error::StoreError;
use super::held::{AnswerId, moment};
use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, params};

impl Store {
    /// Sets an answer aside: its bytes stay, but it does not count as held.
    pub fn set_aside(&self, answer: AnswerId) -> Result<(), StoreError> {
        self.with(|connection| connection.execute("UPDATE answer SET usable = 0 WHERE id = ?1", [answer.0])).map(|_| ())
    }

    /// When the answer came that lies set aside under a key and came last before another one.
    pub fn aside_before(&self, profile: &str, key: &[u8], answer: AnswerId) -> Result<Option<Timestamp>, StoreError> {
        let select = "SELECT received FROM answer
                      WHERE profile = ?1 AND key = ?2 AND usable = 0 AND length > 0 AND id < ?3 ORDER BY id DESC LIMIT 1";
        self.read(|connection| received(connection, select, params![profile, key, answer.0]))
    }

    /// When the newest answer came that lies set aside under a key, with no newer one held there.
    pub fn aside(&self, profile: &str, key: &[u8]) -> Result<Option<Timestamp>, StoreError> {
        self.aside_where(profile, "a.key = ?2", key)
    }

    /// The same of keys that begin so.
    pub fn aside_behind(&self, profile: &str, start: &[u8]) -> Result<Option<Timestamp>, StoreError> {
        self.aside_where(profile, "a.key >= ?2 AND substr(a.key, 1, length(?2)) = ?2", start)
    }

    fn aside_where(&self, profile: &str, which: &str, value: &[u8]) -> Result<Option<Timestamp>, StoreError> {
        let select = format!(
            "SELECT a.received FROM answer a WHERE a.profile = ?1 AND {which} AND a.usable = 0 AND a.length > 0
             AND NOT EXISTS (SELECT 1 FROM answer b
                             WHERE b.profile = a.profile AND b.key = a.key AND b.id > a.id AND b.usable IN (1, 3))
             ORDER BY a.id DESC LIMIT 1"
        );
        self.read(|connection| received(connection, &select, params![profile, value]))
    }
}

fn received(
    connection: &Connection,
    select: &str,
    values: &[&dyn rusqlite::ToSql],
) -> rusqlite::Result<Option<Timestamp>> {
    let found = connection.prepare_cached(select)?.query_row(values, |row| row.get(0)).optional()?;
    Ok(found.map(moment))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::Body;

    #[test]
    fn what_lies_before_an_answer_is_told_by_its_number_whatever_comes_after() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&folder.path().join("behaview.db")).unwrap();
        let keep = |key: &[u8], second| {
            let now = Timestamp::from_second(second).unwrap();
            store.keep("p", key, now, &Body::in_memory(b"page".to_vec())).unwrap()
        };
        let [first, second, third] = [1, 2, 3].map(|second| keep(b"key", second));
        let before = |answer| store.aside_before("p", b"key", answer).unwrap().map(|when| when.as_second());
        assert_eq!([first, second, third].map(before), [None; 3]);
        // Another program sets aside what came after, before this one does what it got.
        store.set_aside(third).unwrap();
        store.set_aside(second).unwrap();
        assert_eq!([first, second, third].map(before), [None, None, Some(2)]);
        store.set_aside(first).unwrap();
        assert_eq!([first, second, third].map(before), [None, Some(1), Some(2)]);
    }

    #[test]
    fn what_a_newer_answer_stands_in_for_is_not_said_to_be_set_aside() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&folder.path().join("behaview.db")).unwrap();
        let keep = |second| {
            let now = Timestamp::from_second(second).unwrap();
            store.keep("p", b"list a more", now, &Body::in_memory(b"page".to_vec())).unwrap()
        };
        store.set_aside(keep(1)).unwrap();
        let second = |found: Option<Timestamp>| found.map(|when| when.as_second());
        let aside = || second(store.aside("p", b"list a more").unwrap());
        let behind = |start: &[u8]| second(store.aside_behind("p", start).unwrap());
        assert_eq!((aside(), behind(b"list a"), behind(b"list b")), (Some(1), Some(1), None));
        let newer = keep(2);
        store.accept("p", newer, &[]).unwrap();
        assert_eq!((aside(), behind(b"list a")), (None, None));
    }
}
