//! Keys in, screens out: the app as an analyst sees it, on the embedded service over real HTTP.
//!
//! A test names its keys and compares the screen with the one that was accepted before
//! (`cargo insta review`, or INSTA_UPDATE=always, accepts a change). Where money is at stake, the calls that the service
//! received are counted as well.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test that cannot go on fails"
)]

mod agreed;
mod arriving;
mod asking;
mod away;
mod beside;
mod comparing;
#[path = "../faults/mod.rs"]
mod faults;
mod files;
mod finding;
mod going_wrong;
mod held;
mod keys;
mod kinds;
mod leaves;
mod list;
mod looks;
mod mouse;
mod notes;
mod noticing;
mod panes;
#[path = "../torture/parrot.rs"]
mod parrot;
mod paying;
mod readme;
mod reopening;
mod returning;
mod sizes;
mod stage;
mod start;
mod submitting;
mod svg;
mod typed;

/// Compares what the keys act on with what was accepted; `above_bar!` compares all but the bar.
macro_rules! screen {
    ($name:literal, $stage:expr) => {
        insta::assert_snapshot!($name, $stage.shown())
    };
}
macro_rules! above_bar {
    ($name:literal, $stage:expr) => {
        insta::assert_snapshot!($name, $stage.without_bar())
    };
}
pub(crate) use {above_bar, screen};
