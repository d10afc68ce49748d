//! Rules that mark rows: what deserves a look, and what any machine does by itself.
//!
//! ```text
//! assets/rules/*.toml + the user's rules.toml ──> Rules: one automaton over every text that a rule names
//! a row, decoded, in small letters ── automaton ──> texts that stand in it ──> rules that all agree ──> Marks
//! ```
//! Each row is passed over once, so a report costs time by its bytes, whatever the number of rules.

mod file;
mod judge;

pub use file::{Rule, Rules};
pub use judge::Marks;

/// How much a row deserves a look.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    High,
    Medium,
    Low,
    /// Not at all: any machine does so by itself.
    Noise,
}

impl Severity {
    pub fn word(self) -> &'static str {
        match self {
            Self::High => "high",
            Self::Medium => "medium",
            Self::Low => "low",
            Self::Noise => "noise",
        }
    }

    /// In a sign, so that it does not rest on colour.
    pub fn sign(self) -> &'static str {
        match self {
            Self::High => "!",
            Self::Medium => "*",
            Self::Low => "+",
            Self::Noise => "~",
        }
    }
}

#[cfg(test)]
mod tests;
