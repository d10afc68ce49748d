//! The commands for scripts, as processes.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test that cannot go on fails"
)]

mod answers;
mod around;
mod away;
mod codes;
mod compare;
mod config;
mod cost;
mod counters;
mod desk;
mod examples;
mod exports;
#[path = "../faults/mod.rs"]
mod faults;
mod held;
mod imports;
mod kept;
mod ledger;
mod marked;
mod models;
mod odd;
mod pages;
mod plain;
mod refusals;
mod reports;
mod search;
mod spending;
mod store;
mod submit;
mod tls;
