//! What a command would cost: every question that it would ask, priced, and none sent.

use super::Setup;
use super::asking::{say_if_aside, say_if_missing};
use super::output::{print_json, print_text};
use super::table::Table;
use crate::quota::{Allowed, Period, Price, Spent, Unit};
use crate::request::{Quote, Request};
use crate::text::thousands;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// What a dry run prints.
#[derive(Serialize)]
struct Shown {
    calls: Vec<Call>,
    /// Units in all, by what they are counted in; none where nobody knows the most.
    total: BTreeMap<Unit, Total>,
    /// What cannot be known before it is asked.
    remark: Option<String>,
}

#[derive(Serialize)]
struct Call {
    what: String,
    /// Whether the answer is held, so that nothing is asked.
    held: bool,
    /// The price; none for what is held.
    price: Option<Price>,
}

/// What cannot be known before it is asked.
pub(super) struct Remark {
    /// In words.
    pub(super) words: String,
    /// Requests that it stands for, beside those that are named: at least, and at most where that is known.
    pub(super) further: (u64, Option<u64>),
}

impl Remark {
    /// One that stands for no request.
    pub(super) fn only(words: String) -> Self {
        Self { words, further: (0, Some(0)) }
    }
}

#[derive(Serialize, Default)]
struct Total {
    min: u64,
    max: Option<u64>,
}

/// Prints what questions would cost.
pub(super) fn print(
    setup: &Setup,
    requests: Vec<Request>,
    refresh: bool,
    remark: Option<Remark>,
    as_json: bool,
) -> anyhow::Result<()> {
    let mut kept = BTreeSet::new();
    let calls = requests
        .into_iter()
        .map(|request| {
            // What was asked a line before is held by then.
            let is_repeated = request.holding_key().is_some_and(|key| !kept.insert(key));
            call(setup, request, refresh, is_repeated)
        })
        .collect::<anyhow::Result<Vec<_>>>()?;
    let prices = || calls.iter().filter_map(|call| call.price.as_ref());
    let verdict = verdict(setup, prices());
    let mut total = total(prices());
    if let Some(Remark { further: (min, max), .. }) = remark.as_ref().filter(|remark| remark.further != (0, Some(0))) {
        total.entry(Unit::Request).or_insert(Total { min: 0, max: Some(0) }).add(*min, *max);
    }
    let shown = Shown { total, calls, remark: remark.map(|remark| remark.words) };
    if as_json {
        print_json(&shown)?
    } else {
        print_text(&text(&shown))?
    }
    verdict
}

fn call(setup: &Setup, request: Request, refresh: bool, is_repeated: bool) -> anyhow::Result<Call> {
    let held = !refresh && (is_repeated || setup.gate.held(&request)?.is_some());
    let quote = request.quote(&setup.entitled);
    if !held && !refresh {
        say_if_aside(&setup.gate, &quote)?;
    }
    if !held {
        say_if_missing(&setup.gate, &quote)?;
    }
    Ok(Call { what: quote.request().words(), held, price: (!held).then(|| quote.price().clone()) })
}

fn total<'a>(prices: impl Iterator<Item = &'a Price>) -> BTreeMap<Unit, Total> {
    let mut total: BTreeMap<Unit, Total> = BTreeMap::new();
    for price in prices {
        let sum = total.entry(price.unit).or_insert(Total { min: 0, max: Some(0) });
        sum.add(price.units.min(), price.units.max());
    }
    total
}

/// Refuses what would not all be sent, before any of it is.
pub(super) fn check(setup: &Setup, requests: &[Request]) -> anyhow::Result<()> {
    let quotes: Vec<_> = requests.iter().map(|request| request.clone().quote(&setup.entitled)).collect();
    verdict(setup, quotes.iter().map(Quote::price))
}

/// Whether all of it would be sent, one after another, after what was spent today.
fn verdict<'a>(setup: &Setup, prices: impl Iterator<Item = &'a Price>) -> anyhow::Result<()> {
    let (mut run, mut today) = (Spent::default(), setup.gate.spent_in(Period::Daily)?);
    for price in prices {
        if let Allowed::Refused(reason) = price.allowed {
            fail!(Refused, "it would be refused: {reason}");
        }
        if let Some(over) = setup.gate.budget().exceeded(price, run, today) {
            fail!(OverBudget, "{over}");
        }
        for sum in [&mut run, &mut today] {
            sum.charged = sum.charged.saturating_add(price.units.max().unwrap_or(0));
            sum.is_open |= price.units.max().is_none();
        }
    }
    Ok(())
}

fn text(shown: &Shown) -> String {
    let mut table = Table::new(&["price", "rule", "what"], &[]);
    for call in &shown.calls {
        let price = call.price.as_ref();
        let (words, rule) = price.map_or(("0, held".to_owned(), ""), |price| (price.short(), price.rule.number));
        table.row([words, rule.to_owned(), call.what.clone()]);
    }
    let mut text = table.to_string();
    let sums: Vec<_> = shown.total.iter().map(|(unit, sum)| sum.words(*unit)).collect();
    let sums = if sums.is_empty() { "nothing".to_owned() } else { sums.join(", ") };
    text += &format!("\nIn all: {sums}. Nothing was sent.\n");
    shown.remark.iter().for_each(|remark| text += &format!("{remark}\n"));
    text
}

impl Total {
    fn add(&mut self, min: u64, max: Option<u64>) {
        self.min = self.min.saturating_add(min);
        self.max = self.max.zip(max).map(|(sum, more)| sum.saturating_add(more));
    }

    fn words(&self, unit: Unit) -> String {
        match self.max {
            Some(max) if max == self.min => unit.count(max),
            Some(max) => format!("{} to {}", thousands(self.min), unit.count(max)),
            None => format!("{} or more", unit.count(self.min)),
        }
    }
}
