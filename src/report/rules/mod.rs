//! Rules that mark rows as notable, or as noise that any machine produces.
//!
//! ```text
//! assets/rules/*.toml + the user's rules.toml ──> Rules: one automaton over every text that a rule names
//! a row, decoded, in lower case ── automaton ──> matching texts ──> rules that hold ──> Marks
//! ```
//! Each row is read once, so the time depends on the report's bytes, not on the number of rules.

mod file;
mod judge;

pub use file::{Rule, Rules};
pub use judge::Marks;

/// How notable a row is.
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
