//! Draws the model; changes nothing.
//!
//! Text from outside comes here as [`Untrusted`](crate::text::Untrusted) and leaves as [`Visible`](crate::text::Visible);
//! nothing else from outside is ever put into a cell.

mod bar;
mod finder;
mod line;
mod list;
mod overlay;
mod pane;
mod screen;
pub mod theme;

pub use screen::draw;
