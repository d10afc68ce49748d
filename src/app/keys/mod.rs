//! Keys and what they do where the analyst is: their names, the keymap, places, what is typed, the mouse.

pub mod key;
pub mod keymap;
pub(super) mod off;
pub mod place;
pub mod pointer;
pub(super) mod typing;
