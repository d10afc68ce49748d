//! Whether words stand at a place of raw JSON, told where they stand: letter by letter, without decoding the text around them.

use super::fold::fold;
use super::pattern::Words;
use crate::report::json::text_end;

/// What stands at a place of raw text.
enum Letter {
    /// A letter that takes so many bytes.
    Is(char, usize),
    Ends,
    Unsure,
}

impl Words {
    /// Whether these words stand where their anchor was found plainly, in a text that begins at `start`; none where only
    /// decoding tells.
    #[inline(always)]
    pub(super) fn stand_at(&self, bytes: &[u8], start: usize, at: usize, is_case_sensitive: bool) -> Option<bool> {
        let is_equal = |found: char, wanted: char| {
            let folded = if found.is_ascii() { found.to_ascii_lowercase() } else { fold(found) };
            found == wanted || !is_case_sensitive && folded == wanted
        };
        if let Some(begin) = self.as_written(bytes, start, at, is_case_sensitive) {
            return is_between_escapes(bytes.get(start..begin)?).then_some(true);
        }
        let mut end = at;
        for wanted in &self.after {
            match letter(bytes.get(end..)?) {
                Letter::Is(found, length) if is_equal(found, *wanted) => end += length,
                Letter::Unsure => return None,
                _ => return Some(false),
            }
        }
        let mut begin = at;
        for wanted in &self.before {
            match letter_before(bytes.get(start..begin)?) {
                Letter::Is(found, length) if is_equal(found, *wanted) => begin -= length,
                Letter::Unsure => return None,
                _ => return Some(false),
            }
        }
        is_between_escapes(bytes.get(start..begin)?).then_some(true)
    }
}

impl Words {
    /// Where these words begin, if they stand there in letters that JSON writes as they are: nearly all that is sought does.
    #[inline(always)]
    fn as_written(&self, bytes: &[u8], start: usize, at: usize, is_case_sensitive: bool) -> Option<usize> {
        let sought = self.plain()?;
        let begin = at.checked_sub(self.anchor.offset).filter(|begin| *begin >= start)?;
        let found = bytes.get(begin..begin + sought.len())?;
        let is_it = if is_case_sensitive { found == sought } else { found.eq_ignore_ascii_case(sought) };
        is_it.then_some(begin)
    }
}

/// The letter that raw text begins with.
#[inline(always)]
fn letter(bytes: &[u8]) -> Letter {
    match bytes {
        [b'"', ..] => Letter::Ends,
        [b'\\', escaped @ (b'"' | b'\\' | b'/'), ..] => Letter::Is(char::from(*escaped), 2),
        [b'\\', ..] | [] => Letter::Unsure,
        [plain, ..] if plain.is_ascii() => Letter::Is(char::from(*plain), 1),
        [0xc2..=0xdf, ..] => one(bytes.get(..2)),
        [0xe0..=0xef, ..] => one(bytes.get(..3)),
        _ => one(bytes.get(..4)),
    }
}

/// The letter that raw text ends with, where another one follows.
#[inline(always)]
fn letter_before(bytes: &[u8]) -> Letter {
    let Some((last, before)) = bytes.split_last() else { return Letter::Ends };
    if !last.is_ascii() {
        let length =
            bytes.iter().rev().take(4).position(|byte| byte & 0xc0 != 0x80).map_or(bytes.len(), |back| back + 1);
        return one(bytes.get(bytes.len() - length..));
    }
    let is_escaped = before.iter().rev().take_while(|byte| **byte == b'\\').count() % 2 == 1;
    let is_number = matches!(before, [.., b'\\', b'u', _, _, _]);
    match (last, is_escaped) {
        (b'"' | b'\\' | b'/', true) => Letter::Is(char::from(*last), 2),
        (b'"', false) => Letter::Ends,
        (b'\\', false) | (_, true) => Letter::Unsure,
        (plain, false) if !is_number => Letter::Is(char::from(*plain), 1),
        _ => Letter::Unsure,
    }
}

fn one(bytes: Option<&[u8]>) -> Letter {
    let text = bytes.and_then(|bytes| str::from_utf8(bytes).ok());
    text.and_then(|text| text.chars().next()).map_or(Letter::Unsure, |found| Letter::Is(found, found.len_utf8()))
}

/// Whether what comes after these bytes of a string is the begin of a character, and not the inside of an escape.
#[inline(always)]
fn is_between_escapes(before: &[u8]) -> bool {
    let near = before.last_chunk::<5>().map_or(before, |near| near);
    let Some(back) = near.iter().rev().position(|byte| *byte == b'\\') else { return true };
    let backslash = before.len() - back;
    let run = before.get(..backslash).unwrap_or_default().iter().rev().take_while(|byte| **byte == b'\\').count();
    run % 2 == 0 || back > 0 && before.get(backslash) != Some(&b'u')
}

/// What a place in a row stands in.
pub(super) enum Around {
    /// A value, or a name that is data: a text that begins at this offset.
    Text(usize),
    /// A name of the format's own.
    Name,
    Unsure,
}

/// A walk through the strings of a record, from left to right.
#[derive(Default)]
pub(super) struct Walk {
    row: usize,
    at: usize,
    depth: u32,
    /// A bit for each value that is open, the innermost lowest: whether it is an object.
    open: u64,
    expects_name: bool,
}

impl Walk {
    /// What a place stands in, of the record that begins at `row`.
    pub(super) fn around(&mut self, bytes: &[u8], row: usize, place: usize) -> Around {
        if self.row != row || self.at > place {
            *self = Self { row, at: row, ..Self::default() };
        }
        while self.at < place {
            let Some(byte) = bytes.get(self.at) else { break };
            let mut length = 1;
            match byte {
                b'{' | b'[' if self.depth >= u64::BITS => break,
                b'{' | b'[' => {
                    self.depth += 1;
                    self.expects_name = *byte == b'{';
                    self.open = self.open << 1 | u64::from(self.expects_name);
                }
                // What comes after the record is another's.
                b'}' | b']' if self.depth <= 1 => break,
                b'}' | b']' => {
                    self.depth -= 1;
                    (self.open, self.expects_name) = (self.open >> 1, false);
                }
                b',' => self.expects_name = self.open & 1 == 1,
                b'"' => {
                    let Some(end) = bytes.get(self.at..).and_then(text_end) else { break };
                    if self.at + end > place {
                        let is_name = self.expects_name && self.depth <= 1;
                        return if is_name { Around::Name } else { Around::Text(self.at + 1) };
                    }
                    (length, self.expects_name) = (end, false);
                }
                _ => {}
            }
            self.at += length;
        }
        Around::Unsure
    }
}
