//! Pages of text on quota: the service's counters, usage by day, the ledger.

use crate::app::over::{Sheet, SheetRow, paragraph};
use crate::quota::{Balance, Balances, Counter, Holder, Usage};
use crate::text::{Untrusted, lasting, thousands};
use jiff::Timestamp;
use std::collections::BTreeSet;

/// Columns of a bar that shows how much is used.
const BAR: u64 = 20;

impl Sheet {
    pub fn counters(balances: &Balances, now: Timestamp, columns: usize) -> Self {
        let mut counters: Vec<_> = balances.counters.iter().collect();
        // What requests take comes first, then what private scanning has of its own.
        let is_private = |counter: &Counter| counter.name.as_bytes().starts_with(b"private");
        counters.sort_by_key(|counter| (counter.meaning.is_none(), counter.meaning, !is_private(counter)));
        let groups = counters.iter().filter_map(|counter| counter.side(Holder::Group)?.inherited_from.as_ref());
        let lenders: BTreeSet<_> = groups.map(|from| safe(from)).collect();
        let mut paragraphs: Vec<SheetRow> =
            counters.into_iter().flat_map(|counter| counter_rows(counter, now)).collect();
        let limits = |lender: String| paragraph("group", format!("Its limits are those of {lender}."));
        paragraphs.extend(lenders.into_iter().map(limits));
        if !balances.has(Holder::Group) {
            paragraphs.push(paragraph("group", "The service shows no group: only the user is charged."));
        }
        let odd = balances.set_aside.iter();
        paragraphs.extend(odd.map(|odd| paragraph("odd", format!("{}: {}", safe(&odd.name), odd.why))));
        Self::new("What the service's counters say", paragraphs, columns)
    }
}

fn counter_rows(counter: &Counter, now: Timestamp) -> Vec<SheetRow> {
    let title = match counter.meaning {
        Some((unit, period)) => {
            let about = if period.reset_is_assumed() { "about " } else { "" };
            let wait = lasting(u64::try_from(period.until_reset(now).as_secs()).unwrap_or_default());
            let reset = format!("full again in {about}{wait}, {}", period.reset_words(now));
            format!("{} {} · {reset}", unit.plural(), period.current())
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

fn balance_words(balance: &Balance) -> String {
    let (used, allowed) = (thousands(balance.used), thousands(balance.allowed));
    match balance.percent_used() {
        _ if balance.is_practically_unlimited() => format!("{used} of {allowed} used, no limit in practice"),
        None => format!("{used} used; nothing of its own, it draws on the group's"),
        Some(percent) => {
            let full = usize::try_from((percent * BAR / 100).min(BAR)).unwrap_or(0);
            let bar = "█".repeat(full) + &"░".repeat(usize::try_from(BAR).unwrap_or(0) - full);
            let left = thousands(balance.remaining());
            format!("{bar} {percent:>3} % · {used} of {allowed} · {left} left")
        }
    }
}

fn safe(name: &str) -> String {
    Untrusted::from(name).visible_cut(60).to_string()
}

impl Sheet {
    /// Usage, the last day first: a bar a day, and the endpoints with the most calls.
    pub fn usage(usage: &Usage, columns: usize) -> Self {
        let most = usage.daily.keys().map(|day| usage.on(*day)).max().unwrap_or(0).max(1);
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
        let mut paragraphs: Vec<SheetRow> = rows.collect();
        if paragraphs.is_empty() {
            paragraphs.push(paragraph("", "Nothing was used in these days."));
        }
        let odd = usage.set_aside.iter();
        paragraphs.extend(odd.map(|odd| paragraph("odd", format!("{}: {}", safe(&odd.name), odd.why))));
        Self::new("Usage, in requests by day", paragraphs, columns)
    }
}
