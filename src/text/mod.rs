//! A string from outside, and the one way to make it visible.
//!
//! Every string in a report was chosen by malware. It stays an [`Untrusted`], which cannot be printed, until the
//! escaper turns it into a [`Visible`], which is all that screens, exports and errors ever print:
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
//! is, or one thing that is escaped. An escape is written
//! - `\xHH` for a control below U+0080;
//! - `\x{HH}` for a byte that belongs to no character (`HH` from `80`);
//! - `\u{H…}` for any other code point, lone surrogates included;
//! - `\x5c` for a backslash that would otherwise begin what reads as one of these.
//!
//! No two byte strings share a visible form, and reading the escapes back gives the bytes.
//!
//! # Width
//! A width is a number of terminal columns: the sum over the characters of a visible form. Whatever would make a
//! terminal library that measures by graphemes come to another sum is escaped, so the two always agree. The width of
//! the *whole* string in `unicode-width` can be less (it joins an Arabic lam and alef into one column, which a grid of
//! cells does not), so layouts ask [`Visible::width`].

mod defang;
mod escape;
mod json;
mod untrusted;
mod words;

pub use escape::{is_ascii, is_shown, own, show_ascii_alone};
pub use json::escaped_json;
pub use untrusted::{Untrusted, Visible, path, to_visible};
pub(crate) use words::{ColumnWidth, names};
pub use words::{bytes, count, hex, last_part, lasting, moment, nearest, plural, thousands, wrap, wrap_cut};
