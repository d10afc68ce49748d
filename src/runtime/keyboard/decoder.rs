//! Takes the bytes that a terminal sends apart: every control sequence is read to its end, and what is no key is no typing.
//!
//! ```text
//! ESC ] … BEL, ESC ] … ESC \              an answer (OSC)
//! ESC P …, ESC X …, ESC ^ …, ESC _ …      an answer (DCS, SOS, PM, APC), to ESC \
//! ESC [ parameters last                   a key, the mouse, a paste, or an answer (CSI)
//! ESC O letter                            a key (SS3)
//! ESC character                           alt with that character
//! ```

use super::Input;
use crate::app::Key;
use crate::app::keys::key::Named;
use crate::app::keys::pointer::{Does, Pointer};
use std::time::Duration;

/// How long what may be one key by itself is given to turn out as the start of more.
const BRIEF: Duration = Duration::from_millis(30);

/// How long the rest of what has begun is waited for.
const LONG: Duration = Duration::from_secs(1);

/// The most bytes of a control sequence that are remembered; the rest is swallowed all the same.
const MOST: usize = 4096;

/// The most bytes of a paste that are taken: far more than anybody can mean.
const MOST_PASTED: usize = 64 << 20;

/// What ends a paste.
const END_OF_PASTE: &[u8] = b"\x1b[201~";

const ESC: u8 = 0x1b;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum State {
    #[default]
    Ground,
    /// Inside of a character of several bytes, of which so many are still to come.
    Character(usize),
    Escape,
    Sequence,
    Single,
    /// Behind `ESC [ [`, as a Linux console begins its first function keys.
    Console,
    /// The three bytes of an old mouse report, of which so many are still to come.
    OldMouse(u8),
    /// Behind the introducer of a string, which the byte names.
    Text(u8),
    /// Behind an escape inside of a string, which ends it.
    EndOfText,
    Paste,
    /// Inside of a paste that was silent for long: one key that comes alone is a key again, more is more of the paste.
    Stalled,
}

/// Takes bytes in one by one.
#[derive(Debug, Default)]
pub(super) struct Decoder {
    state: State,
    /// What has come of the sequence that is open.
    bytes: Vec<u8>,
    /// Whether an escape stood before the character that is open.
    is_alt: bool,
}

impl Decoder {
    /// Takes the next byte in; says what is complete with it.
    pub(super) fn feed(&mut self, byte: u8) -> Option<Input> {
        match (self.state, byte) {
            (State::Ground, _) => self.ground(byte),
            (State::Character(left), 0x80..=0xbf) => self.character(left, byte),
            (State::Escape, _) => self.escape(byte),
            (State::Sequence, _) => self.sequence(byte),
            // Some terminals put parameters here.
            (State::Single, b'0'..=b';') => {
                self.go(State::Sequence);
                self.sequence(byte)
            }
            (State::Single, _) => self.end_with(single(byte)),
            (State::Console, b'A'..=b'E') => self.end_with(Some(Key::F(byte - b'A' + 1))),
            (State::OldMouse(left @ 2..), _) => self.go(State::OldMouse(left - 1)),
            (State::Text(_) | State::EndOfText, _) => self.text(byte),
            (State::Paste | State::Stalled, _) => self.paste(byte),
            // A character that is cut short costs itself.
            (State::Character(_), _) => {
                self.go(State::Ground);
                self.ground(byte)
            }
            (State::Console | State::OldMouse(_), _) => self.go(State::Ground),
        }
    }

    /// How long the next byte is waited for before [`Decoder::silence`]; none where it may take for ever.
    pub(super) fn patience(&self) -> Option<Duration> {
        match self.state {
            State::Ground => None,
            State::Stalled if self.bytes.is_empty() => None,
            State::Stalled => Some(BRIEF),
            State::Escape | State::Single => Some(BRIEF),
            State::Sequence | State::Text(_) if self.bytes.is_empty() => Some(BRIEF),
            _ => Some(LONG),
        }
    }

    /// Nothing came any more: what looked like a start was a key, or is given up.
    pub(super) fn silence(&mut self) -> Option<Input> {
        match self.state {
            State::Paste => return self.pasted(State::Stalled),
            State::Stalled => return self.resume(),
            _ => {}
        }
        let is_bare = self.bytes.is_empty();
        let key = match std::mem::take(&mut self.state) {
            State::Escape => Some(Key::Named(Named::Esc)),
            State::Sequence if is_bare => Some(Key::Alt('[')),
            State::Single => Some(Key::Alt('O')),
            State::Text(introducer) if is_bare => Some(Key::Alt(char::from(introducer))),
            _ => None,
        };
        self.end_with(key)
    }

    fn go(&mut self, state: State) -> Option<Input> {
        self.state = state;
        self.bytes.clear();
        self.is_alt = false;
        None
    }

    fn end_with(&mut self, key: Option<Key>) -> Option<Input> {
        self.go(State::Ground);
        key.map(Input::Key)
    }

    fn ground(&mut self, byte: u8) -> Option<Input> {
        let is_alt = self.is_alt;
        let (state, left) = match byte {
            ESC => (State::Escape, 0),
            0xc2..=0xdf => (State::Character(1), 1),
            0xe0..=0xef => (State::Character(2), 2),
            0xf0..=0xf4 => (State::Character(3), 3),
            0x80.. => return self.of_c1(u32::from(byte)),
            _ => return self.end_with(Some(plain(byte, is_alt))),
        };
        self.go(state);
        if left > 0 {
            (self.is_alt, self.bytes) = (is_alt, vec![byte]);
        }
        None
    }

    fn character(&mut self, left: usize, byte: u8) -> Option<Input> {
        self.bytes.push(byte);
        if left > 1 {
            self.state = State::Character(left - 1);
            return None;
        }
        let found = std::str::from_utf8(&self.bytes).ok().and_then(|text| text.chars().next());
        match found {
            Some(c @ '\u{80}'..='\u{9f}') => self.of_c1(u32::from(c)),
            Some(c) => {
                let key = if self.is_alt { Key::Alt(c) } else { Key::Char(c) };
                self.end_with(Some(key))
            }
            None => self.go(State::Ground),
        }
    }

    /// A control of eight bits stands for an escape and a letter; alone it is no key.
    fn of_c1(&mut self, control: u32) -> Option<Input> {
        let state = match control {
            0x9b => State::Sequence,
            0x90 | 0x98 | 0x9d..=0x9f => State::Text(u8::try_from(control - 0x40).unwrap_or(b']')),
            _ => State::Ground,
        };
        self.go(state)
    }

    fn escape(&mut self, byte: u8) -> Option<Input> {
        match byte {
            ESC => Some(Input::Key(Key::Named(Named::Esc))),
            b'[' => self.go(State::Sequence),
            b'O' => self.go(State::Single),
            b']' | b'P' | b'X' | b'^' | b'_' => self.go(State::Text(byte)),
            _ => {
                self.is_alt = true;
                self.ground(byte)
            }
        }
    }

    fn sequence(&mut self, byte: u8) -> Option<Input> {
        match byte {
            ESC => self.go(State::Escape),
            0x20..=0x3f => {
                self.remember(byte);
                None
            }
            b'[' if self.bytes.is_empty() => self.go(State::Console),
            b'M' if self.bytes.is_empty() => self.go(State::OldMouse(3)),
            b'~' if self.bytes == b"200" => self.go(State::Paste),
            0x40..=0x7e => {
                let parameters = std::mem::take(&mut self.bytes);
                self.go(State::Ground);
                sequence(&parameters, byte)
            }
            // A control inside of a sequence ends it, and is none by itself.
            _ => self.go(State::Ground),
        }
    }

    fn text(&mut self, byte: u8) -> Option<Input> {
        let answer = || Some(Input::Answer(self.bytes.clone()));
        match (self.state, byte) {
            (State::EndOfText, b'\\') | (State::Text(b']'), 0x07) => {
                let answer = answer();
                self.go(State::Ground);
                answer
            }
            // Anything else behind an escape begins something new.
            (State::EndOfText, _) => {
                self.go(State::Escape);
                self.escape(byte)
            }
            (_, ESC) => {
                self.state = State::EndOfText;
                None
            }
            // The standard's two ways to give up a sequence.
            (_, 0x18 | 0x1a) => self.go(State::Ground),
            _ => {
                self.remember(byte);
                None
            }
        }
    }

    fn paste(&mut self, byte: u8) -> Option<Input> {
        if self.bytes.len() >= MOST_PASTED {
            // Of what goes beyond, only what may be its end is remembered, to be known by.
            let begun = |length: &usize| {
                let (begun, rest) = END_OF_PASTE.split_at(*length);
                rest.first() == Some(&byte) && self.bytes.ends_with(begun)
            };
            let begun = (0..END_OF_PASTE.len()).rev().find(begun);
            if begun.is_none_or(|begun| begun == 0) {
                self.bytes.truncate(MOST_PASTED);
            }
            begun?;
        }
        self.bytes.push(byte);
        if byte != b'~' || !self.bytes.ends_with(END_OF_PASTE) {
            return None;
        }
        self.bytes.truncate(self.bytes.len() - END_OF_PASTE.len());
        self.pasted(State::Ground)
    }

    /// What has come of a paste.
    fn pasted(&mut self, state: State) -> Option<Input> {
        let bytes = std::mem::take(&mut self.bytes);
        self.go(state);
        (!bytes.is_empty()).then(|| Input::Paste(String::from_utf8_lossy(&bytes).into_owned()))
    }

    /// Tells a key behind a paste without an end from the rest of one whose way is slow.
    fn resume(&mut self) -> Option<Input> {
        let mut fresh = Self::default();
        let inputs: Vec<_> = self.bytes.iter().filter_map(|byte| fresh.feed(*byte)).take(2).collect();
        if inputs.len() + usize::from(fresh.state != State::Ground) > 1 {
            self.state = State::Paste;
            return None;
        }
        *self = fresh;
        inputs.into_iter().next()
    }

    fn remember(&mut self, byte: u8) {
        if self.bytes.len() < MOST {
            self.bytes.push(byte);
        }
    }
}

/// The key of a byte by itself.
fn plain(byte: u8, is_alt: bool) -> Key {
    match byte {
        0 => Key::Ctrl(' '),
        b'\r' => Key::Named(Named::Enter),
        b'\t' => Key::Named(Named::Tab),
        0x7f => Key::Named(Named::Backspace),
        0x01..=0x1a => Key::Ctrl(char::from(byte - 1 + b'a')),
        0x1c..=0x1f => Key::Ctrl(char::from(byte - 0x1c + b'4')),
        _ if is_alt => Key::Alt(char::from(byte)),
        _ => Key::Char(char::from(byte)),
    }
}

/// Keys that end in a letter.
fn lettered(letter: u8) -> Option<Key> {
    let named = match letter {
        b'A' => Named::Up,
        b'B' => Named::Down,
        b'C' => Named::Right,
        b'D' => Named::Left,
        b'H' => Named::Home,
        b'F' => Named::End,
        b'Z' => Named::BackTab,
        _ => return None,
    };
    Some(Key::Named(named))
}

fn single(letter: u8) -> Option<Key> {
    match letter {
        b'P'..=b'S' => Some(Key::F(letter - b'P' + 1)),
        b'M' => Some(Key::Named(Named::Enter)),
        _ => lettered(letter),
    }
}

/// What a sequence says by its parameters and its last letter.
fn sequence(parameters: &[u8], last: u8) -> Option<Input> {
    if let Some(mouse) = parameters.strip_prefix(b"<") {
        let is_release = last == b'm';
        return pointer(&numbers(mouse)?, is_release).filter(|_| is_release || last == b'M').map(Input::Pointer);
    }
    if parameters.first().is_some_and(|first| (b'<'..=b'?').contains(first)) {
        return Some(Input::Answer([parameters, &[last]].concat()));
    }
    let numbers = numbers(parameters)?;
    let first = numbers.first().copied().unwrap_or(1);
    let key = match last {
        b'~' => numbered(first),
        b'u' => modern(&numbers),
        b'M' => {
            let numbers = [numbers.first()?.checked_sub(32)?, *numbers.get(1)?, *numbers.get(2)?];
            return pointer(&numbers, false).map(Input::Pointer);
        }
        // A cursor's place ends like the third function key, and is never asked for: neither counts.
        b'P' | b'Q' | b'S' if first == 1 => single(last),
        _ if first == 1 => lettered(last),
        _ => None,
    };
    key.map(Input::Key)
}

/// The numbers between semicolons, each without what stands behind a colon; none where something else stands there.
fn numbers(parameters: &[u8]) -> Option<Vec<u16>> {
    if parameters.is_empty() {
        return Some(Vec::new());
    }
    let number = |part: &str| match part.split(':').next().unwrap_or_default() {
        "" => Some(1),
        digits => digits.parse().ok(),
    };
    std::str::from_utf8(parameters).ok()?.split(';').map(number).collect()
}

fn numbered(number: u16) -> Option<Key> {
    let named = match number {
        1 | 7 => Named::Home,
        2 => Named::Insert,
        3 => Named::Delete,
        4 | 8 => Named::End,
        5 => Named::PageUp,
        6 => Named::PageDown,
        _ => {
            // The numbers skip one now and then.
            let skipped = match number {
                11..=15 => 10,
                17..=21 => 11,
                23..=26 => 12,
                28 | 29 => 13,
                31..=34 => 14,
                _ => return None,
            };
            return u8::try_from(number - skipped).ok().map(Key::F);
        }
    };
    Some(Key::Named(named))
}

/// A key by its character and what was held with it, as newer terminals say it.
fn modern(numbers: &[u16]) -> Option<Key> {
    let held = numbers.get(1).map_or(0, |held| held.saturating_sub(1));
    let (is_shift, is_alt, is_ctrl) = (held & 1 > 0, held & 2 > 0, held & 4 > 0);
    let named = match numbers.first()? {
        13 => Named::Enter,
        27 => Named::Esc,
        9 if is_shift => Named::BackTab,
        9 => Named::Tab,
        127 => Named::Backspace,
        code => {
            let c =
                char::from_u32((*code).into()).filter(|c| !c.is_control() && !('\u{e000}'..='\u{f8ff}').contains(c))?;
            return Some(match (is_ctrl, is_alt, is_shift) {
                (true, _, _) => Key::Ctrl(c.to_ascii_lowercase()),
                (false, true, _) => Key::Alt(c),
                (false, false, true) => Key::Char(c.to_ascii_uppercase()),
                (false, false, false) => Key::Char(c),
            });
        }
    };
    Some(Key::Named(named))
}

/// What the mouse did: the button with what it does, column and row from 1.
fn pointer(numbers: &[u16], is_release: bool) -> Option<Pointer> {
    let [button, column, row] = numbers.first_chunk().copied()?;
    // What is held with the button counts for nothing.
    let does = match (button & !0b1_1100, is_release) {
        (0, true) => Does::Release,
        (0, false) => Does::Press,
        (32, _) => Does::Drag,
        (3, _) => Does::Release,
        (64, _) => Does::Up,
        (65, _) => Does::Down,
        _ => return None,
    };
    Some(Pointer { x: column.saturating_sub(1), y: row.saturating_sub(1), does })
}
