//! The state machine behind the screen: no clock, no files, no network, no terminal.
//!
//! ```text
//! Message ──> Model::update ──> Effect (data; the runtime performs it and answers with another Message)
//!                 │
//!             COMMANDS: a key, what it asks of the service (and so its price), what it does
//! ```

pub mod allowance;
pub mod answer;
mod answers;
mod arriving;
pub mod artefacts;
mod asking;
pub mod asks;
pub mod away;
pub mod batch;
pub mod calls;
pub mod commands;
pub mod compare;
mod comparing;
pub mod confirm;
mod counters;
pub mod detail;
pub mod effect;
mod facts;
pub mod figures;
pub mod files;
pub mod finder;
pub mod finding;
pub mod follow;
pub mod held;
pub mod indicators;
pub mod key;
pub mod keymap;
mod large;
pub mod layout;
pub mod ledger;
pub mod list;
pub mod marks;
pub mod message;
pub mod model;
mod moving;
pub mod notes;
mod off;
mod offers;
pub mod order;
pub mod over;
pub mod overlay;
pub mod palette;
pub mod panes;
pub mod place;
pub mod planner;
pub mod pointer;
pub mod price;
pub mod prompt;
pub mod questions;
pub mod remembered;
mod returning;
pub mod saving;
pub mod scroll;
pub mod settings;
pub mod sheet;
pub mod sieve;
pub mod spots;
pub mod start;
pub mod submit;
mod subtree;
mod timeline;
mod typing;
pub mod update;

pub use asks::{ASKS, Ask};
pub use commands::{COMMANDS, Command};
pub use effect::Effect;
pub use key::Key;
pub use keymap::Keymap;
pub use layout::{Area, Layout, Size, Sizes};
pub use message::{Failure, Here, Message};
pub use model::{Focus, Model, Screen};
pub use overlay::Overlay;
pub use panes::PANES;
pub use place::Place;
pub use remembered::Remembered;
