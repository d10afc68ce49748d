//! The ledger on the screen: what was asked, what it was to cost and did, and what the service's counters said of it.

use crate::app::over::sheet::{Sheet, paragraph};
use crate::quota::{Period, Spent};
use crate::text::thousands;
use jiff::Timestamp;

/// Entries that are shown: the latest.
pub const SHOWN: u32 = 500;

/// The ledger as it is shown: its last entries, and what all of them add up to.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LedgerPage {
    /// The last entries, the oldest first.
    pub lines: Vec<LedgerLine>,
    /// Units of this session, carefully.
    pub session: Spent,
    /// Units of this day.
    pub today: Spent,
    /// Units of this month.
    pub month: Spent,
    /// Entries before those that are shown.
    pub older: u64,
}

/// One call as the ledger has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LedgerLine {
    /// When it was written down, just before it was sent.
    pub at: Timestamp,
    /// What was asked, in words that are safe to show.
    pub what: String,
    /// Units that it was to cost at least.
    pub predicted_min: u64,
    /// Units that it was to cost at most; none where no limit was known.
    pub predicted_max: Option<u64>,
    /// What it counts as, carefully.
    pub counts_as: u64,
    /// Whether it may have cost any number of units, so that what it counts as is a least.
    pub is_open: bool,
    /// What is known of it, in a word.
    pub state: &'static str,
    /// What the service's counters said of it.
    pub counted: Option<String>,
}

impl Sheet {
    /// The ledger, the latest entry first, below the sums of this session, this day and this month.
    #[must_use]
    pub fn ledger(page: &LedgerPage, now: Timestamp, columns: usize) -> Self {
        let sums = format!(
            "this session {} · today {} · this month {} (what is not known counts as charged)",
            amount(page.session.total(), page.session.is_open),
            amount(page.today.total(), page.today.is_open),
            amount(page.month.total(), page.month.is_open),
        );
        let mut paragraphs = vec![paragraph("units", sums), paragraph("", "")];
        paragraphs.extend(page.lines.iter().rev().map(|line| paragraph(&when(line.at, now), words(line))));
        if page.lines.is_empty() {
            paragraphs.push(paragraph("", "Nothing has been asked yet."));
        }
        if page.older > 0 {
            let older = thousands(page.older);
            paragraphs.push(paragraph("", format!("{older} older entries: behaview ledger --all")));
        }
        Self::new("The ledger: predicted, settled, counted", paragraphs, columns)
    }
}

fn when(at: Timestamp, now: Timestamp) -> String {
    let is_today = Period::Daily.meets(now, at, at);
    at.strftime(if is_today { "%H:%M:%S" } else { "%m-%d %H:%M" }).to_string()
}

fn words(line: &LedgerLine) -> String {
    let predicted = match line.predicted_max {
        Some(max) if max == line.predicted_min => thousands(max),
        Some(max) => format!("{} to {}", thousands(line.predicted_min), thousands(max)),
        None => amount(line.predicted_min, true),
    };
    let counted = line.counted.as_ref().map(|counted| format!(" · {counted}")).unwrap_or_default();
    let counts_as = amount(line.counts_as, line.is_open);
    format!("{} · predicted {predicted} · {} {counts_as}{counted}", line.what, line.state)
}

fn amount(units: u64, is_open: bool) -> String {
    format!("{}{}", if is_open { "at least " } else { "" }, thousands(units))
}
