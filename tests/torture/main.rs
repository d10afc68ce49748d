//! Attacks on the program: hostile text in every place at every size, values of every wrong type, a
//! network that lies, a kill at any step, noise for every parser of outside bytes.
//!
//! The ordinary test takes a constant sample. `BEHAVIEW_TORTURE=1 cargo test --release --test
//! torture --test terminal --test gateway -- --nocapture` takes all, and prints how much.
//! `BEHAVIEW_FUZZ=600 cargo test --release --test torture noise -- --nocapture` fuzzes for 600 s.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test that cannot go on fails, and a long one says what it did"
)]

mod code_points;
#[path = "../faults/mod.rs"]
mod faults;
mod fuzz;
mod json;
mod key;
mod key_echo;
#[cfg(target_os = "linux")]
mod kills;
mod markup;
mod network;
#[cfg(unix)]
mod printed;
mod sizes;
mod visible;
mod wire;

/// Whether everything is taken.
fn is_long() -> bool {
    std::env::var_os("BEHAVIEW_TORTURE").is_some()
}
