//! The commands for scripts, as processes.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, reason = "a test that cannot go on fails")]

mod compare;
mod cost;
mod counters;
mod desk;
mod ledger;
mod reports;
mod search;
