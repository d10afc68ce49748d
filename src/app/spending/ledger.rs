//! The ledger on the screen: what was asked, what it was to cost and did, and what the service's counters said of it.

use crate::app::over::sheet::{Sheet, paragraph};
use crate::quota::{Period, Spent, Unit};
use crate::text::thousands;
use jiff::Timestamp;
use std::collections::BTreeMap;

/// Entries that are shown: the latest.
pub const SHOWN: u32 = 500;

/// The ledger as it is shown: its last entries, and what all of them add up to.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LedgerPage {
    /// The last entries, the oldest first.
    pub lines: Vec<LedgerLine>,
    /// What this session has spent of each unit, carefully.
    pub session: BTreeMap<Unit, Spent>,
    pub today: BTreeMap<Unit, Spent>,
    pub month: BTreeMap<Unit, Spent>,
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
    /// What it is counted in; none where the ledger does not say.
    pub unit: Option<Unit>,
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
    pub fn ledger(page: &LedgerPage, now: Timestamp, columns: usize) -> Self {
        let sums = format!(
            "this session {} · today {} · this month {} (what is not known counts as charged)",
            amounts(&page.session),
            amounts(&page.today),
            amounts(&page.month),
        );
        let mut paragraphs = vec![paragraph("in all", sums), paragraph("", "")];
        paragraphs.extend(page.lines.iter().rev().map(|line| paragraph(&when(line.at, now), words(line))));
        if page.lines.is_empty() {
            paragraphs.push(paragraph("", "Nothing has been asked yet."));
        }
        if page.older > 0 {
            let older = thousands(page.older);
            paragraphs.push(paragraph("", format!("{older} older entries: behaview ledger --all")));
        }
        Self::new("The ledger: predicted, settled, counted; times in UTC", paragraphs, columns)
    }
}

pub(super) fn when(at: Timestamp, now: Timestamp) -> String {
    let is_today = Period::Daily.meets(now, at, at);
    at.strftime(if is_today { "%H:%M:%S" } else { "%m-%d %H:%M" }).to_string()
}

fn words(line: &LedgerLine) -> String {
    let predicted = match line.predicted_max {
        Some(max) if max == line.predicted_min => thousands(max),
        Some(max) => format!("{} to {}", thousands(line.predicted_min), thousands(max)),
        None => amount(line.predicted_min, true),
    };
    let predicted = match line.unit {
        Some(unit) if line.predicted_max == Some(1) => format!("{predicted} {}", unit.name()),
        Some(unit) => format!("{predicted} {}", unit.plural()),
        None => predicted,
    };
    let counted = line.counted.as_ref().map(|counted| format!(" · {counted}")).unwrap_or_default();
    let counts_as = amount(line.counts_as, line.is_open);
    format!("{} · predicted {predicted} · {} {counts_as}{counted}", line.what, line.state)
}

/// Sums of units, each by itself: a scan is no request.
fn amounts(spent: &BTreeMap<Unit, Spent>) -> String {
    let spent = spent.iter().filter(|(_, spent)| spent.total() > 0 || spent.is_open);
    let words = |(unit, spent): (&Unit, &Spent)| match spent.is_open {
        true => format!("at least {}", unit.count(spent.total())),
        false => unit.count(spent.total()),
    };
    let each: Vec<_> = spent.map(words).collect();
    if each.is_empty() { "0".to_owned() } else { each.join(" and ") }
}

fn amount(units: u64, is_open: bool) -> String {
    format!("{}{}", if is_open { "at least " } else { "" }, thousands(units))
}
