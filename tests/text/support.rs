//! Hostile strings, and a reader of the visible form.

use behaview::text::Visible;
use proptest::prelude::*;
use ratatui::buffer::CellWidth;
use unicode_segmentation::UnicodeSegmentation;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Sequences whose width as a whole is not the sum of their characters, in one library or
/// another, and things that look like escapes; `~` stands between them.
const TRICKS: &str = "\
    \u{644}\u{627}~\u{644}\u{64b}\u{627}~\u{17d2}\u{1780}~\u{915}\u{94d}\u{937}~\
    \u{1100}\u{1161}\u{11a8}~\u{ac00}\u{11a8}~\u{1100}\u{1100}~\u{16d63}\u{16d67}\u{16d67}~\
    \u{1f1e9}\u{1f1ea}~\u{1f44d}\u{1f3fd}~\u{1f468}\u{200d}\u{1f469}~\u{2764}\u{fe0f}~\
    1\u{fe0f}\u{20e3}~\u{231a}\u{fe0e}~\u{ff76}\u{ff9e}~\u{2d4f}\u{2d7f}\u{2d3e}~\
    \u{a4f9}\u{a4fc}~\u{e19}\u{e49}\u{e33}~\u{5d0}\u{200d}\u{5dc}~\u{10c32}\u{200d}\u{10c03}~\
    \u{1a15}\u{1a17}\u{200d}\u{1a10}~\u{17d8}~<\u{338}~\u{2018}\u{fe01}~\u{600}1~\
    \u{d4e}\u{d15}~e\u{301}\u{302}\u{303}\u{304}~\r\n~\u{1b}[2J~\u{202e}~\u{e0041}~\\~\\x41~\
    \\x4~\\u{202e}~\\u{01f600}~\\u{1234567}~\\u{~\\u{}~x1b~}";

/// Ranges of code points in which shaping, joining and hiding happen.
const RANGES: &[(u32, u32)] = &[
    (0x00, 0xff),
    (0x300, 0x36f),
    (0x5d0, 0x6ff),
    (0x900, 0xdff),
    (0xe30, 0xe4f),
    (0x1000, 0x11ff),
    (0x1780, 0x17df),
    (0x2000, 0x20ff),
    (0x3040, 0x30ff),
    (0xa960, 0xa97f),
    (0xac00, 0xac40),
    (0xd7b0, 0xdfff),
    (0xfe00, 0xffff),
    (0x11000, 0x11fff),
    (0x16d40, 0x16d7f),
    (0x1f100, 0x1f6ff),
    (0xe0000, 0xe01ff),
    (0, 0x10ffff),
];

/// A code point in UTF-8, surrogates included.
pub fn generalised_utf8(code: u32) -> Vec<u8> {
    match char::from_u32(code) {
        Some(character) => character.to_string().into_bytes(),
        None => vec![0xe0 | (code >> 12) as u8, 0x80 | (code >> 6 & 0x3f) as u8, 0x80 | (code & 0x3f) as u8],
    }
}

fn piece() -> impl Strategy<Value = Vec<u8>> {
    let code_point = prop::sample::select(RANGES).prop_flat_map(|(first, last)| first..=last);
    prop_oneof![
        3 => code_point.prop_map(generalised_utf8),
        3 => prop::sample::select(TRICKS.split('~').collect::<Vec<_>>()).prop_map(|trick| trick.as_bytes().to_vec()),
        1 => any::<u8>().prop_map(|byte| vec![byte]),
        1 => "[ -~]{0,12}".prop_map(String::into_bytes),
        1 => r"[\\xu{}0-9a-f]{1,4}".prop_map(String::into_bytes),
    ]
}

/// Bytes that are as troublesome as they can be.
pub fn hostile() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(piece(), 0..24).prop_map(|pieces| pieces.concat())
}

/// Reads a visible form back: the left inverse that makes escaping injective.
pub fn read_back(visible: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut rest = visible;
    while let Some(character) = rest.chars().next() {
        let (read, len) = escape(rest).unwrap_or_else(|| {
            let text = character.to_string().into_bytes();
            (text, character.len_utf8())
        });
        bytes.extend(read);
        rest = &rest[len..];
    }
    bytes
}

fn escape(text: &str) -> Option<(Vec<u8>, usize)> {
    if let Some(digits) = text.strip_prefix(r"\x{") {
        let byte = hex(digits.split_once('}').filter(|(digits, _)| digits.len() == 2)?.0)?;
        return (byte >= 0x80).then(|| (vec![byte as u8], 6));
    }
    if let Some(digits) = text.strip_prefix(r"\x") {
        let byte = hex(digits.get(..2)?)?;
        let is_escape = byte < 0x20 || byte == 0x7f || byte == 0x5c || byte == 0x20 && text.len() == 4;
        return is_escape.then(|| (vec![byte as u8], 4));
    }
    let (digits, _) = text.strip_prefix(r"\u{")?.split_once('}')?;
    let code = hex(digits).filter(|_| digits.len() <= 6)?;
    Some((generalised_utf8(code), digits.len() + 4))
}

fn hex(digits: &str) -> Option<u32> {
    let all = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    all.then(|| u32::from_str_radix(digits, 16).ok()).flatten()
}

/// Asserts that the characters, the graphemes and the cells of a terminal come to one width.
pub fn check_width(visible: &Visible) {
    let text = visible.as_str();
    let characters = text.chars().map(|c| c.width().unwrap_or_default());
    let graphemes = text.graphemes(true).map(UnicodeWidthStr::width);
    let cells = text.graphemes(true).map(|g| usize::from(g.cell_width()));
    assert_eq!(characters.sum::<usize>(), visible.width(), "{text:?}");
    assert_eq!(graphemes.sum::<usize>(), visible.width(), "{text:?}");
    assert_eq!(cells.sum::<usize>(), visible.width(), "{text:?}");
}
