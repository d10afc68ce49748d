//! Prices, forecasts and rules as text.

use crate::cli::table::Table;
use crate::quota::{Allowed, Fit, Forecast, Holder, Item, Kind, Plan, Pool, Price, RULES, Rule, Units};
use crate::text::thousands;
use std::fmt::Write;

/// Every rule: number and words, and what it speaks of.
pub(super) fn rules() -> String {
    RULES.iter().map(|rule| rule_words(rule)).collect()
}

fn rule_words(rule: &Rule) -> String {
    let names: Vec<_> = rule.operations.iter().map(|kind| kind.name()).collect();
    let operations = if rule.operations == Kind::ALL { "every operation".to_owned() } else { names.join(", ") };
    let (number, words) = (rule.number, rule.words);
    format!("{number:<7}{words}\n       {} · {} · {operations}\n", rule.pool.words(), rule.basis.name())
}

/// What is asked about, its price and, where the balances are known, what it leaves.
pub(super) fn forecast(plan: &Plan, forecast: &Forecast, is_balanced: bool) -> String {
    let mut text = match plan.items() {
        [one] => price(one),
        several => prices(several),
    };
    if is_balanced && !forecast.lines.is_empty() {
        text += &format!("\n{}", limits(forecast));
    }
    if is_balanced || forecast.fit == Fit::Refused {
        text += &format!("\n{}\n", forecast.words);
    } else if plan.items().len() > 1 {
        text += &format!("\n{}: {}\n", plan.words(), plan.totals_words());
    }
    text
}

/// One operation, explained.
fn price(item: &Item) -> String {
    let Price { rule, pool, charged, basis, notes, agreeing, .. } = &item.price;
    let mut text = format!("{}: {}\n", item.price.operation.about(), item.operation.words());
    let mut line = |name: &str, words: &str| {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{name:<9}{words}");
    };
    line("price", &price_words(&item.price));
    line("rule", &format!("{}: {}", rule.number, rule.words));
    if !agreeing.is_empty() {
        line("", &format!("the same follows from {}", agreeing.join(" and ")));
    }
    line("pool", pool.words());
    line("charged", &holders(charged));
    line("basis", basis.name());
    notes.iter().for_each(|note| line("note", note));
    if let Some(settled) = settled(item) {
        line("exactly", &settled);
    }
    text
}

/// The option that would tell the price exactly, where it is not told yet.
fn settled(item: &Item) -> Option<String> {
    let is_open = matches!(item.price.units, Units::PerItem { .. });
    let how_many = item.operation.kind().settled_by().filter(|_| is_open)?;
    Some(format!("with {}: {}", how_many.words(), phrase(how_many.about)))
}

fn price_words(price: &Price) -> String {
    match (price.allowed, price.units) {
        (Allowed::Allowed, Units::Range { why, .. }) => format!("{}: {}", price.short(), phrase(why)),
        (Allowed::Allowed, Units::PerItem { item, each }) => {
            format!("{} for each {}", price.unit.count(each), item.words())
        }
        (Allowed::Allowed, _) if price.pool == Pool::None => "nothing".to_owned(),
        _ => price.short(),
    }
}

/// A sentence as a part of another.
fn phrase(sentence: &str) -> String {
    let mut letters = sentence.trim_end_matches('.').chars();
    letters.next().into_iter().flat_map(char::to_lowercase).chain(letters.as_str().chars()).collect()
}

fn holders(charged: &[Holder]) -> String {
    let names: Vec<_> = charged.iter().map(|holder| holder.name()).collect();
    if names.is_empty() { "nobody".to_owned() } else { names.join(" and ") }
}

/// Several operations, a line each.
fn prices(items: &[Item]) -> String {
    let mut table = Table::new(&["operation", "asked", "price", "rule", "pool", "charged", "basis"], &[]);
    for Item { operation, price } in items {
        table.row([
            price.operation.name().to_owned(),
            operation.words(),
            price.short(),
            price.rule.number.to_owned(),
            price.pool.name().to_owned(),
            holders(price.charged),
            price.basis.name().to_owned(),
        ]);
    }
    let exactly = |item: &Item| Some(format!("exactly  {} {}\n", item.price.operation.name(), settled(item)?));
    let mut told: Vec<_> = items.iter().filter_map(exactly).collect();
    told.dedup();
    format!("{table}{}", told.concat())
}

/// Every limit that is drawn on: what is left now, and after.
fn limits(forecast: &Forecast) -> String {
    let mut table = Table::new(&["whose", "period", "counts", "left", "of", "after", "fit", "resets at"], &[3, 4, 5]);
    for line in &forecast.lines {
        let limit = line.limit;
        let guess = if line.reset_is_assumed { "about " } else { "" };
        table.row([
            limit.holder.name().to_owned(),
            limit.period.current().to_owned(),
            line.unit.name().to_owned(),
            thousands(limit.remaining),
            thousands(limit.allowed),
            line.after_words(),
            line.fit_words(),
            format!("{guess}{}", crate::text::moment(line.resets_at)),
        ]);
    }
    table.to_string()
}
