//! The clipboard, by way of the terminal: copied bytes travel in base64, so the terminal obeys none.

use crate::text;
use crossterm::Command as _;
use crossterm::clipboard::CopyToClipboard;
use std::io::{self, Write};
use std::process::{Command, Stdio};

/// How a clipboard is reached.
#[derive(Default)]
pub enum Clipboard {
    #[default]
    None,
    /// By OSC 52, which reaches the user's terminal through ssh as well.
    Terminal(Box<dyn Write + Send>),
    /// By tmux's own buffer, which it hands on to its terminal: by default it takes no OSC 52 from a program.
    Tmux,
    /// By OSC 52 inside of what GNU screen passes on as it is.
    Screen(Box<dyn Write + Send>),
}

impl Clipboard {
    /// The way from in here, as the variables of the environment say; `out` is the terminal.
    pub(super) fn of_environment(out: Box<dyn Write + Send>) -> Self {
        let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        match (is_set("TMUX"), is_set("STY")) {
            (true, _) => Self::Tmux,
            (false, true) => Self::Screen(out),
            (false, false) => Self::Terminal(out),
        }
    }

    /// Hands bytes to the terminal; says by which way. Whether it takes them, no terminal says.
    pub(super) fn copy(&mut self, bytes: &[u8]) -> Result<String, String> {
        let length = text::bytes(bytes.len() as u64);
        match self {
            Self::None => return Err("this terminal has no clipboard".to_owned()),
            Self::Tmux if load_buffer(bytes, &["-w"]).is_ok() => {
                return Ok(format!("by tmux, {length}: into its buffer and its terminal's clipboard"));
            }
            // An old tmux keeps it to itself.
            Self::Tmux => {
                load_buffer(bytes, &[])?;
                return Ok(format!("into tmux's buffer, {length}; prefix ] pastes it"));
            }
            Self::Terminal(out) => send(out, &osc_52(bytes)),
            Self::Screen(out) => send(out, &in_pieces(&osc_52(bytes))),
        }
        .map_err(|error| error.to_string())?;
        Ok(format!("by OSC 52, {length}; a terminal that does not take it says nothing"))
    }
}

fn osc_52(bytes: &[u8]) -> String {
    let mut sequence = String::new();
    // Writing to a string does not fail.
    let _ = CopyToClipboard::to_clipboard_from(bytes).write_ansi(&mut sequence);
    sequence
}

fn send(out: &mut dyn Write, sequence: &str) -> io::Result<()> {
    out.write_all(sequence.as_bytes())?;
    out.flush()
}

/// Bytes of a piece that screen passes on.
const PIECE: usize = 256;

/// A sequence in pieces that screen passes on, each in an envelope of its own.
fn in_pieces(sequence: &str) -> String {
    let mut whole = String::new();
    for piece in sequence.as_bytes().chunks(PIECE) {
        // The escape ends a piece, so that the sequence's own end never completes an envelope.
        for part in String::from_utf8_lossy(piece).split_inclusive('\u{1b}') {
            whole.push_str("\u{1b}P");
            whole.push_str(part);
            whole.push_str("\u{1b}\\");
        }
    }
    whole
}

fn load_buffer(bytes: &[u8], options: &[&str]) -> Result<(), String> {
    let failed = |error: io::Error| format!("tmux could not be asked: {error}");
    let mut tmux = Command::new("tmux");
    tmux.arg("load-buffer").args(options).arg("-");
    tmux.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut tmux = tmux.spawn().map_err(failed)?;
    if let Some(mut input) = tmux.stdin.take() {
        // A tmux that does not read says so by how it ends.
        let _ = input.write_all(bytes);
    }
    let ended = tmux.wait().map_err(failed)?;
    if ended.success() { Ok(()) } else { Err("tmux refused it".to_owned()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_but_base64_reaches_the_terminal() {
        for bytes in [&b"\x1b[2J\x07\x1b\\\x9c; rm -rf ~\n"[..], b"", b"plain", &[0xff; 300]] {
            let found = osc_52(bytes);
            let inside = found.strip_prefix("\u{1b}]52;c;").and_then(|rest| rest.strip_suffix("\u{1b}\\")).unwrap();
            assert!(inside.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/' | b'=')), "{inside}");
        }
    }

    #[test]
    fn screen_passes_the_whole_sequence_on() {
        let plain = osc_52(&[7; 1000]);
        let mut passed = String::new();
        for part in in_pieces(&plain).split("\u{1b}P").skip(1) {
            passed += part.strip_suffix("\u{1b}\\").unwrap();
        }
        assert_eq!(passed, plain);
    }
}
