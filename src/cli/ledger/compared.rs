//! Predicted beside counted, over all the windows between looks that the shown entries touch.

use crate::quota::audit::Window;
use crate::store::LedgerEntry;
use jiff::Timestamp;
use serde::Serialize;

/// What the service counted, beside what this program accounts for.
#[derive(Debug, Serialize)]
pub(super) struct Compared {
    /// When the first of the looks was.
    since: Timestamp,
    /// When the last one was.
    until: Timestamp,
    /// Requests by which the user's counter rose between looks.
    counted: u64,
    /// Requests that this program's calls cost for certain.
    certain: u64,
    /// Requests that others of its calls may have cost; none where no limit is known.
    unsure: Option<u64>,
    /// The same in words.
    words: String,
}

impl Compared {
    /// The comparison for these entries, the oldest first; none if no two looks are around any of them.
    pub(super) fn of(entries: &[LedgerEntry], windows: &[Window]) -> Option<Self> {
        let (first, last) = (entries.first()?.at, entries.last()?.at);
        let mut touched = windows.iter().filter(|window| window.until >= first && window.since <= last).peekable();
        let since = touched.peek()?.since;
        let (mut until, mut counted, mut certain, mut unsure) = (since, 0_u64, 0_u64, Some(0_u64));
        for window in touched {
            until = until.max(window.until);
            counted = counted.saturating_add(window.rose);
            certain = certain.saturating_add(window.certain);
            unsure = unsure.zip(window.unsure).map(|(sum, more)| sum.saturating_add(more));
        }
        let words = words(counted, certain, unsure);
        Some(Self { since, until, counted, certain, unsure, words })
    }

    /// The last line of the text.
    pub(super) fn line(&self) -> String {
        let time = crate::text::moment;
        format!("from {} to {}: {}", time(self.since), time(self.until), self.words)
    }
}

fn words(counted: u64, certain: u64, unsure: Option<u64>) -> String {
    let rest = counted.saturating_sub(certain);
    let start = format!("the counters rose by {counted}, this program accounts for {certain}");
    match (counted.checked_sub(certain), unsure) {
        (Some(0), Some(0)) => format!("{start}: they agree"),
        (Some(0), _) => format!("{start}: calls whose outcome is not known seem to have cost nothing"),
        (None, _) => format!("{start}: a price is too high, or the counters lag"),
        (Some(_), Some(0)) => format!("{start}: {rest} by others with the same key, or a price is too low"),
        _ => format!("{start}: {rest} by others with the same key, or by calls whose outcome is not known"),
    }
}

#[cfg(test)]
mod tests {
    use super::words;

    #[test]
    fn a_difference_is_explained() {
        for (counted, certain, unsure, end) in [
            (3, 3, Some(0), "they agree"),
            (3, 3, Some(1), "seem to have cost nothing"),
            (2, 3, Some(0), "or the counters lag"),
            (5, 3, Some(0), "2 by others with the same key, or a price is too low"),
            (5, 3, Some(1), "2 by others with the same key, or by calls whose outcome is not known"),
            (5, 3, None, "or by calls whose outcome is not known"),
        ] {
            let words = words(counted, certain, unsure);
            let start = format!("the counters rose by {counted}, this program accounts for {certain}: ");
            assert!(words.starts_with(&start) && words.ends_with(end), "{words}");
        }
    }
}
