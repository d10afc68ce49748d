//! How old what is held is, by a clock that may have been set ahead.
//!
//! Nothing here knows the right time. But whoever uses the store leaves moments in it, and a clock that is set ahead jumps over some
//! that nobody has seen. What it jumped over makes nothing older. And what the service sent says when a sandbox ran, by the service's
//! own clock: by then that time had come.

use super::connection::unless_busy;
use super::database::Store;
use super::error::StoreError;
use super::held::moment;
use crate::report::EARLIEST;
use crate::report::identifier::Identifier;
use crate::text::Untrusted;
use jiff::{SignedDuration, Timestamp};
use rusqlite::{Connection, params};

/// The longest time without a moment that is believed, and the shortest that never is.
const LONGEST: SignedDuration = SignedDuration::from_hours(7 * 24);
const SHORTEST: SignedDuration = SignedDuration::from_hours(24);

/// Every moment that the store was used at.
const MOMENTS: &str = "SELECT received AS at FROM answer UNION SELECT opened FROM file UNION SELECT written FROM note
    UNION SELECT at FROM ledger UNION SELECT settled_at FROM ledger UNION SELECT at FROM counters UNION SELECT at FROM used UNION SELECT ?1";

/// What came too long ago, if so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Outdated {
    /// What came before this is too old by any clock that may be right.
    pub before: Timestamp,
    /// How many answers and earlier files are too old by this machine's clock alone.
    pub doubtful: u64,
    /// The longest time since then that nobody has seen.
    pub jump: SignedDuration,
    pub until: Timestamp,
}

impl Store {
    /// Notes that the store is used, once on each day: who only looks at what is held leaves no other moment.
    pub fn note_use(&self, now: Timestamp) -> Result<(), StoreError> {
        let day = now.as_second().div_euclid(24 * 60 * 60);
        let noted = "SELECT 1 FROM used WHERE day = ?1";
        if self.is_read_only() || self.read(|connection| connection.prepare_cached(noted)?.exists([day]))? {
            return Ok(());
        }
        let insert = "INSERT OR IGNORE INTO used (day, at) VALUES (?1, ?2)";
        let note = |connection: &mut Connection| connection.execute(insert, params![day, now.as_millisecond()]);
        // The next run notes it as well; whoever only looks waits for nobody.
        self.with(|connection| unless_busy(connection, note)).map(|_| ())
    }

    /// What came longer ago than this; none where nothing did, by whichever clock.
    pub fn outdated(&self, age: SignedDuration, now: Timestamp) -> Result<Option<Outdated>, StoreError> {
        let Ok(oldest) = now.checked_sub(age) else { return Ok(None) };
        self.read(|connection| {
            if count(connection, EARLIEST, oldest)? == 0 {
                return Ok(None);
            }
            let believed = LONGEST.min(age / 2).max(SHORTEST);
            let by_itself = Seen { here: EARLIEST, lag: SignedDuration::ZERO };
            let Believed { mut before, longest } = Believed::since(connection, by_itself, believed, (oldest, now))?;
            if let Some(seen) = ran(connection, now)? {
                before = before.max(Believed::since(connection, seen, believed, (oldest, now))?.before);
            }
            if let Some(younger) = younger_than_dated(connection, before, now)? {
                before = before.min(younger);
            }
            let doubtful = count(connection, before.max(EARLIEST), oldest)?;
            Ok(Some(Outdated { before, doubtful, jump: longest.long, until: longest.until }))
        })
    }
}

/// A moment of this machine's clock, and how far that may have been ahead.
struct Seen {
    here: Timestamp,
    lag: SignedDuration,
}

/// A time that nobody has seen, and when it was over.
#[derive(Clone, Copy)]
struct Jump {
    long: SignedDuration,
    until: Timestamp,
}

/// What is old by all of the time that somebody has seen.
struct Believed {
    before: Timestamp,
    /// The longest time after that which nobody has.
    longest: Jump,
}

impl Believed {
    /// By the moments after one: what came before `oldest` is so much older than it has to be as the clock has jumped since then.
    fn since(
        connection: &Connection,
        seen: Seen,
        believed: SignedDuration,
        (oldest, now): (Timestamp, Timestamp),
    ) -> rusqlite::Result<Self> {
        let earlier = |at: Timestamp, by| at.checked_sub(by).unwrap_or(Timestamp::MIN);
        let mut found = Self { before: oldest, longest: Jump { long: SignedDuration::ZERO, until: now } };
        for jump in jumps(connection, &seen, believed, now)? {
            // What came after it is no younger for it, nor is anything that is old enough without.
            if jump.until <= found.before {
                break;
            }
            found.before = earlier(found.before, jump.long);
            if jump.long > found.longest.long {
                found.longest = jump;
            }
        }
        if found.before < seen.here {
            found.before = earlier(found.before, seen.lag);
        }
        Ok(found)
    }
}

/// The times after a moment that are longer than is believed, the last one first.
fn jumps(
    connection: &Connection,
    seen: &Seen,
    believed: SignedDuration,
    now: Timestamp,
) -> rusqlite::Result<Vec<Jump>> {
    let mut select = connection.prepare(&format!(
        "SELECT jump, at FROM (SELECT at, at - LAG(at) OVER (ORDER BY at) AS jump
         FROM ({MOMENTS}) WHERE at BETWEEN ?2 AND ?1) WHERE jump > ?3 ORDER BY at DESC"
    ))?;
    let believed = i64::try_from(believed.as_millis()).unwrap_or(i64::MAX);
    let values = params![now.as_millisecond(), seen.here.as_millisecond(), believed];
    let jumps = select.query_map(values, |row| {
        Ok(Jump { long: SignedDuration::from_millis(row.get(0)?), until: moment(row.get(1)?) })
    })?;
    jumps.collect()
}

/// How many answers came, and files were opened, in a time.
fn count(connection: &Connection, from: Timestamp, until: Timestamp) -> rusqlite::Result<u64> {
    let count = "SELECT (SELECT COUNT(*) FROM answer WHERE received >= ?1 AND received < ?2)
                      + (SELECT COUNT(*) FROM file WHERE opened >= ?1 AND opened < ?2)";
    let moments = params![from.as_millisecond(), until.as_millisecond()];
    connection.query_row(count, moments, |row| row.get::<_, u32>(0)).map(u64::from)
}

/// The first date before a moment of what came after something of a later date: the clock had been set back, and it is no older than
/// that. What the clock of another machine dated says nothing of this one's.
fn younger_than_dated(
    connection: &Connection,
    before: Timestamp,
    now: Timestamp,
) -> rusqlite::Result<Option<Timestamp>> {
    let first = "SELECT MIN(received) FROM
        (SELECT received, MAX(received) FILTER (WHERE received <= ?3) OVER (ORDER BY id) AS latest
         FROM answer WHERE imported_from IS NULL)
        WHERE received >= ?1 AND received < ?2 AND latest >= ?2";
    let moments = params![EARLIEST.as_millisecond(), before.as_millisecond(), now.as_millisecond()];
    let first = connection.query_row(first, moments, |row| row.get::<_, Option<i64>>(0))?;
    Ok(first.map(moment))
}

/// When the last sandbox ran of which the service sent a report. One that ran after its report came did not.
fn ran(connection: &Connection, now: Timestamp) -> rusqlite::Result<Option<Seen>> {
    let mut select = connection.prepare(
        "SELECT r.identifier, r.received FROM report r JOIN answer a ON a.id = r.answer
         WHERE a.imported_from IS NULL AND r.received <= ?1",
    )?;
    let rows = select.query_map([now.as_millisecond()], |row| {
        let identifier = Identifier::new(Untrusted::from(row.get::<_, Vec<u8>>(0)?));
        let when = identifier.and_then(|identifier| identifier.parts().when);
        Ok((when.and_then(|when| Timestamp::from_second(when).ok()), moment(row.get(1)?)))
    })?;
    let mut last = None;
    for row in rows {
        let (ran, here) = row?;
        last = last.max(ran.filter(|ran| *ran <= here).map(|ran| (ran, here)));
    }
    Ok(last.map(|(ran, here)| Seen { here, lag: here.duration_since(ran) }))
}
