//! Draws the model; changes nothing.
//!
//! Text from outside comes here as [`Untrusted`](crate::text::Untrusted) and leaves as [`Visible`](crate::text::Visible);
//! nothing else from outside is ever put into a cell.

mod away;
mod bar;
mod canvas;
mod compare;
mod elide;
mod finder;
pub(crate) mod glyph;
mod held;
mod line;
mod list;
mod memo;
mod overlay;
mod pane;
mod picture;
pub mod plain;
mod screen;
mod spots;
mod strokes;
mod submit;
pub mod theme;

pub use glyph::{Glyph, Glyphs, Shade};
pub use picture::Picture;
pub use theme::{Depth, Look, Theme};
