//! The commands for scripts, as processes.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test that cannot go on fails"
)]

mod answers;
mod compare;
mod config;
mod cost;
mod counters;
mod durability;
mod environment;
mod examples;
mod exit_codes;
mod export_formats;
mod exports;
#[path = "../faults/mod.rs"]
mod faults;
mod group;
mod harness;
mod html;
mod imports;
mod ledger;
mod malformed_store;
#[path = "../torture/markup.rs"]
mod markup;
mod models;
mod navigator;
mod pages;
mod pivot;
mod plain;
mod refusals;
mod reports;
mod rules;
mod search;
mod shapes;
mod spending;
mod store;
mod store_command;
mod submit;
mod tls;
mod triage;
