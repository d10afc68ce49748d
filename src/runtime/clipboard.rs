//! The clipboard, by way of the terminal: copied bytes travel in base64, so the terminal obeys none.

use crate::app::away::Copied;
use crossterm::Command as _;
use crossterm::clipboard::CopyToClipboard;
use std::io::{self, Write};
use std::process::{Command, Stdio};

/// How a clipboard is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ClipboardRoute {
    /// By OSC 52, which reaches the user's terminal through ssh as well.
    #[default]
    Terminal,
    /// By tmux's own buffer, which it hands on to its terminal: by default it takes no OSC 52 from a program.
    Tmux,
    /// By OSC 52 inside of what GNU screen passes on as it is.
    Screen,
}

impl ClipboardRoute {
    /// The way from in here, as the variables of the environment say.
    pub fn from_here() -> Self {
        let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        match (is_set("TMUX"), is_set("STY")) {
            (true, _) => Self::Tmux,
            (false, true) => Self::Screen,
            (false, false) => Self::Terminal,
        }
    }
}

/// Hands text to the terminal. Whether it takes it, no terminal says.
pub(super) fn by_terminal(copied: &Copied, way: ClipboardRoute, out: &mut dyn Write) -> io::Result<String> {
    let mut sequence = String::new();
    CopyToClipboard::to_clipboard_from(&copied.bytes).write_ansi(&mut sequence).map_err(io::Error::other)?;
    if way == ClipboardRoute::Screen {
        sequence = in_pieces(&sequence);
    }
    out.write_all(sequence.as_bytes())?;
    out.flush()?;
    Ok(format!(
        "by OSC 52, {}; a terminal that does not take it says nothing",
        crate::text::bytes(copied.bytes.len() as u64)
    ))
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

/// Hands text to tmux; an old one keeps it to itself.
pub(super) fn by_tmux(copied: &Copied) -> Result<String, String> {
    let length = crate::text::bytes(copied.bytes.len() as u64);
    if load(copied, &["load-buffer", "-w", "-"]).is_ok() {
        return Ok(format!("by tmux, {length}: into its buffer and its terminal's clipboard"));
    }
    load(copied, &["load-buffer", "-"]).map(|()| format!("into tmux's buffer, {length}; prefix ] pastes it"))
}

fn load(copied: &Copied, arguments: &[&str]) -> Result<(), String> {
    let failed = |error: io::Error| format!("tmux could not be asked: {error}");
    let mut tmux = Command::new("tmux");
    tmux.args(arguments).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut tmux = tmux.spawn().map_err(failed)?;
    if let Some(mut input) = tmux.stdin.take() {
        // A tmux that does not read says so by how it ends.
        let _ = input.write_all(&copied.bytes);
    }
    let ended = tmux.wait().map_err(failed)?;
    if ended.success() { Ok(()) } else { Err("tmux refused it".to_owned()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sequence(bytes: &[u8], way: ClipboardRoute) -> String {
        let mut out = Vec::new();
        by_terminal(&Copied { what: String::new(), bytes: bytes.to_vec() }, way, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn nothing_but_base64_reaches_the_terminal() {
        for bytes in [&b"\x1b[2J\x07\x1b\\\x9c; rm -rf ~\n"[..], b"", b"plain", &[0xff; 300]] {
            let found = sequence(bytes, ClipboardRoute::Terminal);
            let inside = found.strip_prefix("\u{1b}]52;c;").and_then(|rest| rest.strip_suffix("\u{1b}\\")).unwrap();
            assert!(inside.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/' | b'=')), "{inside}");
        }
    }

    #[test]
    fn screen_passes_the_whole_sequence_on() {
        let plain = sequence(&[7; 1000], ClipboardRoute::Terminal);
        let mut passed = String::new();
        for part in sequence(&[7; 1000], ClipboardRoute::Screen).split("\u{1b}P").skip(1) {
            passed += part.strip_suffix("\u{1b}\\").unwrap();
        }
        assert_eq!(passed, plain);
    }
}
