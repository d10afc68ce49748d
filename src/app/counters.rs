//! The service's own counters on the screen: what is left, with bars and countdowns, and what was used, day by day.

use super::sheet::{Paragraph, Sheet, paragraph};
use crate::quota::{Balance, Balances, Counter, Holder, Usage};
use crate::text::{Untrusted, thousands};
use jiff::Timestamp;

/// Columns of a bar that shows how much is used.
const BAR: u64 = 20;

impl Sheet {
    /// The service's own counters, for the user and the group.
    #[must_use]
    pub fn counters(balances: &Balances, now: Timestamp, columns: usize) -> Self {
        let mut counters: Vec<_> = balances.counters().iter().collect();
        // What requests take comes first, then what private scanning has of its own.
        let is_private = |counter: &Counter| counter.name.as_bytes().starts_with(b"private");
        counters.sort_by_key(|counter| (counter.meaning.is_none(), counter.meaning, !is_private(counter)));
        let mut paragraphs: Vec<Paragraph> =
            counters.into_iter().flat_map(|counter| counter_rows(counter, now)).collect();
        if !balances.has(Holder::Group) {
            paragraphs.push(paragraph("group", "The service shows no group: only the user is charged."));
        }
        let odd = balances.set_aside().iter();
        paragraphs.extend(odd.map(|odd| paragraph("odd", format!("{}: {}", safe(&odd.name), odd.why))));
        Self::new("What the service's counters say", paragraphs, columns)
    }
}

fn counter_rows(counter: &Counter, now: Timestamp) -> Vec<Paragraph> {
    let title = match counter.meaning {
        Some((unit, period)) => {
            let guess = if period.reset_is_assumed() { ", as far as is known" } else { "" };
            let wait = wait_words(period.until_reset(now).as_secs());
            let reset = format!("full again at {}, in {wait}{guess}", period.reset_words(now));
            format!("{} {}; {reset}", unit.plural(), period.current())
        }
        None => safe(&counter.name),
    };
    let mut rows = vec![paragraph("", title)];
    for holder in [Holder::User, Holder::Group] {
        if let Some(balance) = counter.side(holder) {
            rows.push(paragraph(holder.name(), balance_words(balance)));
        }
    }
    rows.push(paragraph("", ""));
    rows
}

/// A wait in its two largest units.
fn wait_words(seconds: i64) -> String {
    let (minutes, hours) = (seconds / 60 % 60, seconds / 3600);
    match hours {
        0 => format!("{} min", minutes.max(1)),
        1..48 => format!("{hours} h {minutes:02} min"),
        _ => format!("{} d {} h", hours / 24, hours % 24),
    }
}

fn balance_words(balance: &Balance) -> String {
    let (used, allowed) = (thousands(balance.used), thousands(balance.allowed));
    let inherited = balance.inherited_from.as_ref().map(|from| format!(" · from {}", safe(from))).unwrap_or_default();
    match balance.percent_used() {
        _ if balance.is_practically_unlimited() => format!("{used} used, no limit in practice{inherited}"),
        None => format!("{used} used; nothing of its own, it draws on the group's{inherited}"),
        Some(percent) => {
            let full = usize::try_from((percent * BAR / 100).min(BAR)).unwrap_or(0);
            let bar = "█".repeat(full) + &"░".repeat(usize::try_from(BAR).unwrap_or(0) - full);
            let left = thousands(balance.remaining());
            format!("{bar} {percent} % · {used} of {allowed} used · {left} left{inherited}")
        }
    }
}

/// A name from the service, made visible.
fn safe(name: &str) -> String {
    Untrusted::from(name).visible_cut(60).to_string()
}

impl Sheet {
    /// What was used, the last day first: a bar a day, and the endpoints that were called most.
    #[must_use]
    pub fn usage(usage: &Usage, columns: usize) -> Self {
        let most = usage.by_day().map(|(_, count)| count).max().unwrap_or(0).max(1);
        let days: Vec<_> = usage.daily.iter().rev().collect();
        let rows = days.into_iter().map(|(day, endpoints)| {
            let all = usage.on(*day);
            let length = usize::try_from(u128::from(all) * u128::from(BAR) / u128::from(most)).unwrap_or(0);
            let mut named: Vec<_> = endpoints.iter().collect();
            named.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
            let named: Vec<_> =
                named.into_iter().map(|(name, count)| format!("{} {}", safe(name), thousands(*count))).collect();
            let bar = "█".repeat(length.max(usize::from(all > 0)));
            paragraph(&day.to_string(), format!("{bar} {} · {}", thousands(all), named.join(" · ")))
        });
        let mut paragraphs: Vec<Paragraph> = rows.collect();
        if paragraphs.is_empty() {
            paragraphs.push(paragraph("", "Nothing was used in these days."));
        }
        let odd = usage.set_aside.iter();
        paragraphs.extend(odd.map(|odd| paragraph("odd", format!("{}: {}", safe(&odd.name), odd.why))));
        Self::new("What was used, in requests by day", paragraphs, columns)
    }
}
