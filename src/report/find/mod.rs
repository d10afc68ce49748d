//! Finds rows by what stands in them, or in the word beside them: over the raw bytes in windows, decoding only what may be a hit.
//!
//! ```text
//! words ──> Pattern ──> Anchor: a rare piece of the words, or of what an expression must match, in every way JSON can write it;
//!                          │     where there is none, the expression as JSON most often writes it
//!                          │ bytes in pieces, two at a time
//!                          v
//!           candidate ──> its row (by the index) ──> compared where it stands, or the row's leaves decoded ──> RowSet
//!                                                                                                          │
//!                                     one more letter: only the rows that held the words before <──────────┘
//! ```

mod anchor;
mod fold;
mod glance;
mod leaves;
mod literals;
mod pattern;
mod search;
mod sought;
#[cfg(test)]
mod tests;
mod written;

pub use pattern::{BadPattern, How, Pattern, Scratch};
pub use search::{Scope, search};
