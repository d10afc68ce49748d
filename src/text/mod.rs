//! Strings from outside, and the only way to make them visible.
//!
//! Every string in a report was chosen by malware. It stays an [`Untrusted`], which cannot be
//! printed, until the escaper makes it a [`Visible`]; screens, exports and errors print only that:
//!
//! ```
//! use behaview::text::Untrusted;
//!
//! let name = Untrusted::from("invoice\u{202e}fdp.exe\u{1b}[2J");
//! assert_eq!(name.visible().as_str(), r"invoice\u{202e}fdp.exe\x1b[2J");
//! assert_eq!(name.visible_cut(10).as_str(), "invoice…");
//! ```
//!
//! # The visible form
//! A string is read as *units*: a base character with up to three combining marks, shown as it
//! is, or one code point or byte that is escaped. An escape is written
//! - `\xHH` for a control below U+0080;
//! - `\x{HH}` for a byte outside of any character (`HH` from `80`);
//! - `\u{H…}` for any other code point, lone surrogates included;
//! - `\x5c` for a backslash that would otherwise read as the start of one of these.
//!
//! No two byte strings share a visible form, and reading the escapes back gives the bytes.
//!
//! # Width
//! A width is a number of terminal columns: the sum over the characters of a visible form.
//! Characters of which a terminal library that measures graphemes returns another sum are escaped.
//! For a *whole* string `unicode-width` may return less (it joins an Arabic lam and alef into one
//! column; a grid of cells does not), so layouts use [`Visible::width`].

mod defang;
mod escape;
mod format;
mod untrusted;

pub use defang::refanged;
pub(crate) use escape::decode_json;
pub use escape::{escaped_json, is_ascii, is_shown, own, show_ascii_alone};
pub(crate) use format::{ColumnWidth, names};
pub use format::{bytes, count, hex, last_part, lasting, moment, nearest, plural, table, thousands, wrap, wrap_cut};
pub use untrusted::{Untrusted, Visible, path, to_visible};
