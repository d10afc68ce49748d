//! `behaview ledger`: what was asked of the service, what it cost, and what the service's counters say of it. Nothing is sent.

mod compared;
mod forms;

use super::Common;
use super::output::{print_json, print_text};
use crate::quota::Period;
use crate::store::{LedgerEntry, Whose};
use clap::{Args, ValueEnum};
use compared::Compared;
use forms::{Row, Total};
use jiff::Timestamp;
use serde::Serialize;

const EXAMPLES: &str = "\
Examples:
  behaview ledger --month
  behaview ledger --all --format csv

An entry is charged, free, unsent, unknown (lost or refused) or reserved (under way, or its program was \
killed: the next call makes that unknown). What is unknown or reserved counts at its highest price until the service's counters say \
otherwise: behaview quota looks at them, and costs nothing.";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Ledger {
    #[command(flatten)]
    time: Time,
    /// Print JSON, with totals and the comparison
    #[arg(long, conflicts_with = "format")]
    json: bool,
    /// Print only the entries, one a line
    #[arg(long, value_enum, value_name = "FORMAT")]
    format: Option<Format>,
}

#[derive(Debug, Args)]
#[group(multiple = false)]
struct Time {
    /// The last run that asked anything
    #[arg(long)]
    session: bool,
    /// Today, from 00:00 UTC; this is what is shown unless told otherwise
    #[arg(long)]
    today: bool,
    /// This month, from the 1st, 00:00 UTC
    #[arg(long)]
    month: bool,
    /// Everything
    #[arg(long)]
    all: bool,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Format {
    /// Comma-separated, with a heading
    Csv,
    /// One JSON object a line
    Jsonl,
}

/// What `ledger --json` prints.
#[derive(Serialize)]
struct Shown<'a> {
    profile: &'a str,
    time: &'static str,
    entries: Vec<Row>,
    totals: Vec<Total>,
    /// None where the counters were not looked at before and after.
    compared: Option<Compared>,
}

impl Ledger {
    pub(super) fn run(self, common: &Common) -> anyhow::Result<()> {
        let (folders, config) = common.config()?;
        let profile = config.profile(None)?;
        let store = super::store::open_to_look(&folders.store)?;
        let service = super::store::service_of(&profile);
        let whose = Whose { profile: &profile.name, service: &service, owner: None };
        let entries = self.time.of(store.entries(whose)?, crate::clock::now());
        let compared = Compared::of(&entries, &store.windows(whose)?);
        let rows = entries.iter().map(Row::of).collect::<Vec<_>>();
        match self.format {
            Some(Format::Csv) => print_text(&String::from_utf8_lossy(&forms::csv(&rows)?)),
            Some(Format::Jsonl) => print_text(&forms::lines(&rows)?),
            None if self.json => {
                let (time, totals) = (self.time.name(), forms::totals(&rows));
                print_json(&Shown { profile: &profile.name, time, entries: rows, totals, compared })
            }
            None => print_text(&forms::text(&rows, compared.as_ref())),
        }
    }
}

impl Time {
    fn name(&self) -> &'static str {
        match self {
            Self { session: true, .. } => "session",
            Self { month: true, .. } => "month",
            Self { all: true, .. } => "all",
            _ => "today",
        }
    }

    fn of(&self, entries: Vec<LedgerEntry>, now: Timestamp) -> Vec<LedgerEntry> {
        let last = entries.last().map(|entry| entry.session.clone());
        let fits = |entry: &LedgerEntry| match self {
            Self { session: true, .. } => Some(&entry.session) == last.as_ref(),
            Self { month: true, .. } => entry.is_in(Period::Monthly, now),
            Self { all: true, .. } => true,
            _ => entry.is_in(Period::Daily, now),
        };
        entries.into_iter().filter(fits).collect()
    }
}
