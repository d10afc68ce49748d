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
mod form;
mod held;
mod list;
mod list_view;
mod overlay;
mod pane;
pub mod plain;
mod screen;
mod spots;
pub mod theme;

pub use theme::{Depth, Look, Theme};

use crate::app::Model;
use ratatui::buffer::Buffer;

/// Draws the model over the whole of an empty buffer.
pub fn draw(buffer: &mut Buffer, look: Look, model: &Model) {
    screen::draw(&mut canvas::Canvas::new(buffer, look), model);
}
