//! The commands for scripts, as processes.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, reason = "a test that cannot go on fails")]

mod cost;
mod counters;
mod desk;
mod keys;
mod ledger;
mod plain;
mod reports;
