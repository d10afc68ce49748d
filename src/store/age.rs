//! How old what is held is, by a clock that may have been set ahead.
//!
//! Nothing here knows the right time. But whoever uses the store leaves moments in it, and a clock that is set ahead jumps over some
//! that nobody has seen. What it jumped over makes nothing older. And what the service sent says when a sandbox ran, by the service's
//! own clock: by then that time had come.

use super::database::Store;
use super::error::StoreError;
use super::held::moment;
use crate::report::identifier::Identifier;
use crate::text::Untrusted;
use jiff::{SignedDuration, Timestamp};
use rusqlite::{Connection, params};

/// The longest time without a moment that is believed, and the shortest that never is.
const LONGEST: SignedDuration = SignedDuration::from_hours(7 * 24);
const SHORTEST: SignedDuration = SignedDuration::from_hours(24);

/// No clock was right that showed an earlier time: there was no such program.
const FIRST: Timestamp = Timestamp::constant(1_735_689_600, 0);

/// Every moment that the store was used at.
const MOMENTS: &str = "SELECT received AS at FROM answer UNION SELECT opened FROM file UNION SELECT written FROM note
    UNION SELECT at FROM ledger UNION SELECT settled_at FROM ledger UNION SELECT at FROM counters UNION SELECT ?1";

/// What came too long ago, if so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Outdated {
    /// What came before this is too old by any clock that may be right.
    pub before: Timestamp,
    /// How many answers and earlier files are too old by this machine's clock alone.
    pub doubtful: u64,
    /// The longest time that nobody has seen.
    pub jump: SignedDuration,
    /// When that was over.
    pub until: Timestamp,
}

impl Store {
    /// What came longer ago than this; none where nothing did, by whichever clock.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn outdated(&self, age: SignedDuration, now: Timestamp) -> Result<Option<Outdated>, StoreError> {
        let Ok(oldest) = now.checked_sub(age) else { return Ok(None) };
        self.read(|connection| {
            if count(connection, Timestamp::MIN, oldest)? == 0 {
                return Ok(None);
            }
            let believed = LONGEST.min(age / 2).max(SHORTEST);
            let by_itself = Seen { here: FIRST, lag: SignedDuration::ZERO };
            let all = Jumps::since(connection, by_itself, believed, now)?;
            let by_service = match ran(connection, now)? {
                Some(seen) => Jumps::since(connection, seen, believed, now)?.sum,
                None => all.sum,
            };
            let before = oldest.checked_sub(all.sum.min(by_service)).unwrap_or(Timestamp::MIN);
            let doubtful = count(connection, before, oldest)?;
            Ok(Some(Outdated { before, doubtful, jump: all.longest, until: all.until }))
        })
    }
}

/// A moment of this machine's clock, and how far that may have been ahead.
struct Seen {
    here: Timestamp,
    lag: SignedDuration,
}

/// How far the clock may be ahead.
struct Jumps {
    sum: SignedDuration,
    longest: SignedDuration,
    until: Timestamp,
}

impl Jumps {
    /// By the times after a moment that are longer than is believed.
    fn since(connection: &Connection, seen: Seen, believed: SignedDuration, now: Timestamp) -> rusqlite::Result<Self> {
        let longest = format!(
            "SELECT SUM(jump), MAX(jump), at FROM (SELECT at, at - LAG(at) OVER (ORDER BY at) AS jump
             FROM ({MOMENTS}) WHERE at BETWEEN ?2 AND ?1) WHERE jump > ?3"
        );
        let believed = i64::try_from(believed.as_millis()).unwrap_or(i64::MAX);
        let values = params![now.as_millisecond(), seen.here.as_millisecond(), believed];
        connection.query_row(&longest, values, |row| {
            let number = |column| row.get::<_, Option<i64>>(column).map(|number| number.unwrap_or(0));
            let sum = seen.lag.saturating_add(SignedDuration::from_millis(number(0)?));
            Ok(Self { sum, longest: SignedDuration::from_millis(number(1)?), until: moment(number(2)?) })
        })
    }
}

/// How many answers came, and files were opened, in a time.
fn count(connection: &Connection, from: Timestamp, until: Timestamp) -> rusqlite::Result<u64> {
    let count = "SELECT (SELECT COUNT(*) FROM answer WHERE received >= ?1 AND received < ?2)
                      + (SELECT COUNT(*) FROM file WHERE opened >= ?1 AND opened < ?2)";
    let moments = params![from.as_millisecond(), until.as_millisecond()];
    connection.query_row(count, moments, |row| row.get::<_, u32>(0)).map(u64::from)
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
