//! What a forecast says, in the words that the planner and the command line share.

use super::{Fit, Forecast, Line, Plan};
use crate::quota::Unit;
use crate::text::{count, thousands};
use jiff::Timestamp;

impl Fit {
    /// It in words.
    #[must_use]
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
    /// What it takes in all: "600 requests and 3 rules".
    #[must_use]
    pub fn totals_words(&self) -> String {
        let totals: Vec<_> = self.totals().into_iter().map(|(unit, total)| total.words(unit)).collect();
        if totals.is_empty() { "free".to_owned() } else { totals.join(" and ") }
    }
}

impl Line {
    /// What is left after, at worst and at best where they differ.
    #[must_use]
    pub fn after_words(&self) -> String {
        match self.at_worst {
            Some(worst) if worst == self.at_best => thousands(worst),
            Some(worst) => format!("{} to {}", thousands(worst), thousands(self.at_best)),
            None => format!("at most {}", thousands(self.at_best)),
        }
    }

    /// Whether it fits, and how much is missing where it certainly does not.
    #[must_use]
    pub fn fit_words(&self) -> String {
        match self.fit {
            Fit::Short => format!("{} short", thousands(self.short.min)),
            fit => fit.words().to_owned(),
        }
    }
}

impl Forecast {
    /// Whether it fits, and what decides.
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

    /// A number of a unit, which is named where there are several.
    fn many(&self, n: u64, unit: Unit) -> String {
        if self.totals.len() == 1 { thousands(n) } else { unit.count(n) }
    }

    fn short_words(&self, line: &Line, now: Timestamp) -> String {
        let many = |n: u64| self.many(n, line.unit);
        let short = many(line.short.min);
        let reset = line.reset_words(now);
        let rest = match line.further_periods() {
            None => "nothing is allowed".to_owned(),
            Some(1) => {
                let fits_at_once = self.rest_fits_at_once(line);
                let last = match (line.short.min, fits_at_once) {
                    (1, true) => "the last one fits".to_owned(),
                    (1, false) => "the last one can start".to_owned(),
                    (n, true) => format!("the last {} fit", thousands(n)),
                    (n, false) => format!("the last {} can start", thousands(n)),
                };
                format!("{last} after {reset}")
            }
            Some(more) => {
                let periods = count(more, line.limit.period.noun());
                format!("they take {periods} more, from {reset}")
            }
        };
        let first =
            self.first_wall(line).map(|wall| format!("{} more than {} and ", many(wall.short.min), wall.left_words()));
        format!("{}{short} more than {}; {rest}", first.unwrap_or_default(), line.left_words())
    }
}

fn paced_words(line: &Line) -> String {
    let most = line.needed.max.unwrap_or(line.needed.min);
    let minutes = most.div_ceil(line.limit.allowed.max(1));
    let pace = thousands(line.limit.allowed);
    format!("fits at {pace} a minute: about {}", count(minutes, "minute"))
}
