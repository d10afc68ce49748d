//! Finds rows by their text or by their label: each row's leaves are decoded and matched.
//!
//! ```text
//! words ──> Pattern ─┐
//! rows in batches ───┴──> leaves of each row, decoded ──> matched, on several threads ──> RowSet, batch after batch
//! ```

mod leaves;
mod pattern;
mod search;
#[cfg(test)]
mod tests;

pub use pattern::{BadPattern, How, Pattern};
pub use search::{Scope, search};
