//! Reads the machine's clock, which may be set to any time.

use jiff::Timestamp;
use std::time::SystemTime;

/// Returns the current time, or the nearest one that [`Timestamp`] can represent.
pub fn now() -> Timestamp {
    nearest(SystemTime::now())
}

fn nearest(time: SystemTime) -> Timestamp {
    let edge = if time < SystemTime::UNIX_EPOCH { Timestamp::MIN } else { Timestamp::MAX };
    Timestamp::try_from(time).unwrap_or(edge)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn an_absurd_clock_is_the_end_of_time() {
        let years = Duration::from_secs(20_000 * 366 * 86_400);
        assert_eq!(nearest(SystemTime::UNIX_EPOCH + years), Timestamp::MAX);
        assert_eq!(nearest(SystemTime::UNIX_EPOCH - years), Timestamp::MIN);
        assert_eq!(nearest(SystemTime::UNIX_EPOCH), Timestamp::UNIX_EPOCH);
    }
}
