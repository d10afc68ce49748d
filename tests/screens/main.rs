//! Keys in, screens out: the app as an analyst sees it, on the embedded service over real HTTP.
//!
//! A test names its keys and compares the screen with the accepted one (`cargo insta review`, or
//! INSTA_UPDATE=always, accepts a change). Where money is at stake, it counts the calls that the
//! service received.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test that cannot go on fails"
)]

mod arriving;
mod asking;
mod comparing;
mod completeness;
mod confirmation;
mod errors;
mod export;
#[path = "../faults/mod.rs"]
mod faults;
mod files;
mod finding;
mod findings;
mod group;
mod harness;
#[path = "../torture/key_echo.rs"]
mod key_echo;
mod keys;
mod list;
mod mouse;
mod multiple_files;
mod notes;
mod panes;
mod prevalence;
mod pricing;
mod readme;
mod reopening;
mod report_kinds;
mod returning;
mod sizes;
mod start;
mod stored;
mod submitting;
mod svg;
mod themes;
mod type_ahead;

/// Compares what the keys act on with what was accepted; `above_bar!` compares all but the bar.
macro_rules! screen {
    ($name:literal, $tui:expr) => {
        insta::assert_snapshot!($name, $tui.shown())
    };
}
macro_rules! above_bar {
    ($name:literal, $tui:expr) => {
        insta::assert_snapshot!($name, $tui.without_bar())
    };
}
pub(crate) use {above_bar, screen};
