//! The text of a forecast, shared by the planner and the command line.

use super::wait::resets;
use super::{Fit, Forecast, ForecastLine, Plan, Total};
use crate::quota::Unit;
use crate::text::thousands;
use jiff::Timestamp;

impl Fit {
    pub fn words(self) -> &'static str {
        match self {
            Self::Fits => "fits",
            Self::Paced => "fits, paced",
            Self::Perhaps => "perhaps",
            Self::Unknown => "not known",
            Self::Short => "too much",
            Self::Refused => "refused",
        }
    }
}

impl Plan {
    /// The totals as text: "600 requests and 3 rules".
    pub fn totals_words(&self) -> String {
        let totals: Vec<_> = self.totals().into_iter().map(|(unit, total)| total.words(unit)).collect();
        if totals.is_empty() { "free".to_owned() } else { totals.join(" and ") }
    }
}

impl ForecastLine {
    /// The units left afterwards, at worst and also at best if they differ.
    pub fn after_words(&self) -> String {
        match self.at_worst {
            Some(worst) if worst == self.at_best => thousands(worst),
            Some(worst) => format!("{} to {}", thousands(worst), thousands(self.at_best)),
            None => format!("at most {}", thousands(self.at_best)),
        }
    }

    /// Whether it fits, and the missing units if it certainly does not.
    pub fn fit_words(&self) -> String {
        match self.fit {
            Fit::Short => format!("{} short", self.short.number()),
            fit => fit.words().to_owned(),
        }
    }
}

impl Forecast {
    /// Whether it fits, and the limit that decides.
    pub(super) fn verdict(&self, refusal: Option<&str>, now: Timestamp) -> String {
        if let Some(reason) = refusal {
            return format!("refused: {reason}");
        }
        match (self.fit, self.binding()) {
            _ if self.totals.is_empty() => "free".to_owned(),
            (Fit::Unknown, _) | (_, None) => {
                self.unknown_words().unwrap_or_else(|| "what is left is not known".to_owned())
            }
            (Fit::Short, Some(line)) => {
                let others = self.totals.iter().filter(|(unit, _)| *unit != line.unit);
                let others = others.filter_map(|(unit, _)| self.longest_wall(Some(*unit)));
                let each = std::iter::once(line).chain(others).map(|line| self.short_words(line, now));
                each.chain(self.unknown_words()).collect::<Vec<_>>().join("; and ")
            }
            (Fit::Perhaps, Some(line)) => match line.short.max {
                Some(short) => format!("up to {} more than {}", thousands(short), line.left_words()),
                None => format!("fits if it takes no more than {}", line.unit.count(line.limit.remaining)),
            },
            (Fit::Paced, Some(line)) => paced_words(line),
            (Fit::Fits | Fit::Refused, Some(line)) => format!(
                "fits; {} left to the {} {}",
                self.many(line.at_worst.unwrap_or(line.at_best), line.unit),
                line.limit.holder.name(),
                line.limit.period.current()
            ),
        }
    }

    /// A number of units; names the unit if the plan has several.
    fn many(&self, n: u64, unit: Unit) -> String {
        if self.totals.len() == 1 { thousands(n) } else { unit.count(n) }
    }

    fn short_words(&self, line: &ForecastLine, now: Timestamp) -> String {
        let more = |line: &ForecastLine| {
            let short = if self.totals.len() == 1 { line.short.number() } else { line.short.words(line.unit) };
            format!("{short} more than {}", line.left_words())
        };
        let reset = line.reset_words(now);
        let (short, allowed) = (line.short, line.limit.allowed);
        let rest = if allowed == 0 {
            "nothing is allowed".to_owned()
        } else if short.max.is_some_and(|short| short <= allowed) {
            let last = if short.max == Some(1) { "one".to_owned() } else { short.number() };
            let ready = line.needed.max.and_then(|most| self.ready_at(line.unit, most, now));
            let does = match short.max {
                _ if ready != Some(line.resets_at) => "can start",
                Some(1) => "fits",
                _ => "fit",
            };
            format!("the last {last} {does} after {reset}")
        } else {
            self.several_words(line, now)
        };
        let first = self.first_wall(line).map(|wall| format!("{} and ", more(wall)));
        format!("{}{}; {rest}", first.unwrap_or_default(), more(line))
    }
}

impl Forecast {
    /// The number of further periods that the missing units take, and their start.
    fn several_words(&self, line: &ForecastLine, now: Timestamp) -> String {
        let periods = |needed: u64| {
            let ready = self.ready_at(line.unit, needed, now)?;
            Some(resets(line.limit.period, now, ready))
        };
        let Some(min) = periods(line.needed.min) else { return "they take more than 10 years".to_owned() };
        let periods = Total { min, max: line.needed.max.and_then(periods) };
        format!("they take {} more, from {}", periods.named(line.limit.period.noun()), line.reset_words(now))
    }
}

fn paced_words(line: &ForecastLine) -> String {
    // A price without an upper end is described by its lower end.
    let most = line.needed.max.map_or(line.needed, |max| Total { min: max, max: Some(max) });
    let about = if most.max.is_some() { "about " } else { "" };
    let minutes = most.map(|n| n.div_ceil(line.limit.allowed.max(1))).named("minute");
    format!("fits at {} a minute: {about}{minutes}", thousands(line.limit.allowed))
}
