//! The log: lines with identifiers, in files of limited size that only their owner can read.
//!
//! Lines contain no secret, and text from outside only in its visible form.

use crate::files;
use crate::text::Untrusted;
use serde::Deserialize;
use std::fmt::{Display, Write as _};
use std::fs::File;
use std::io::{self, Write as _};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

pub const FILE: &str = "behaview.log";

/// Size in bytes from which the next start renames the file, and replaces the one before it.
const MAX_BYTES: u64 = 1 << 20;

/// How much is logged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    Off,
    Error,
    Warn,
    /// Calls to the service, too.
    #[default]
    Info,
    /// Responses from the store, too.
    Debug,
}

/// A log file, or none by default.
#[derive(Debug, Clone, Default)]
pub struct Log(Option<Arc<LogFile>>);

#[derive(Debug)]
struct LogFile {
    level: Level,
    run: String,
    is_terse: bool,
    lines: AtomicU64,
    file: File,
}

impl Log {
    /// Returns a log in this folder; `run` names this run in its lines. A terse log names no files.
    pub fn open(folder: &Path, level: Level, run: &str, is_terse: bool) -> io::Result<Self> {
        if level == Level::Off {
            return Ok(Self::default());
        }
        files::own_folder(folder)?;
        let path = folder.join(FILE);
        if path.metadata().is_ok_and(|about| about.is_file() && about.len() > MAX_BYTES) {
            files::set_mode(&path, 0o600)?;
            std::fs::rename(&path, path.with_extension("1.log"))?;
        }
        let file = files::append(&path)?;
        Ok(Self(Some(Arc::new(LogFile { level, run: run.to_owned(), is_terse, lines: AtomicU64::new(0), file }))))
    }

    /// Writes a line with details; returns its identifier, the run and the line's number in it.
    pub fn write(&self, level: Level, what: &str, details: &[(&str, &dyn Display)]) -> Option<String> {
        let open = self.0.as_ref().filter(|open| level <= open.level && level != Level::Off)?;
        let id = format!("{}-{}", open.run, open.lines.fetch_add(1, Ordering::Relaxed) + 1);
        let name = format!("{level:?}").to_lowercase();
        let mut line = format!("{:.3} {name:<5} {id} {what}", crate::clock::now());
        for (name, value) in details {
            let _ = write!(line, " {name}={}", quoted(&value.to_string()));
        }
        line.push('\n');
        // One write keeps two programs' lines apart. Errors are ignored: responses matter more.
        (&open.file).write_all(line.as_bytes()).ok().map(|()| id)
    }

    pub fn is_terse(&self) -> bool {
        self.0.as_ref().is_some_and(|open| open.is_terse)
    }
}

/// Quotes a value's visible form, unless it is a plain word; does not escape escaped text again.
fn quoted(value: &str) -> String {
    let visible = Untrusted::from(value).visible().to_string();
    // Only the backslashes of its escapes would change.
    let visible = if visible.replace(r"\x5c", r"\") == value { value.to_owned() } else { visible };
    let is_plain = |c: char| !c.is_whitespace() && !['"', '=', '\\'].contains(&c);
    if !visible.is_empty() && visible.chars().all(is_plain) {
        return visible;
    }
    format!("\"{}\"", visible.replace('"', "'"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_have_identifiers_and_cannot_be_forged() {
        let folder = tempfile::tempdir().unwrap();
        let log = Log::open(folder.path(), Level::Info, "run", false).unwrap();
        let forged = "x\n2026-01-01 error run-9 call \u{1b}[2J\"";
        let id = log.write(Level::Error, "call", &[("what", &forged), ("ms", &7)]).unwrap();
        assert_eq!(id, "run-1");
        assert_eq!(log.write(Level::Debug, "more", &[]), None);
        assert_eq!(log.write(Level::Info, "end", &[]).unwrap(), "run-2");
        let text = std::fs::read_to_string(folder.path().join(FILE)).unwrap();
        assert_eq!(text.lines().count(), 2);
        assert!(text.contains(" error run-1 call what=\"x") && text.contains(" ms=7\n"), "{text}");
        assert!(!text.contains('\u{1b}') && text.lines().nth(1).unwrap().ends_with(" info  run-2 end"), "{text}");
        assert_eq!(Log::open(folder.path(), Level::Off, "run", false).unwrap().write(Level::Error, "x", &[]), None);
    }

    #[test]
    fn a_long_file_gives_way_and_one_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let long = "x".repeat(200_000);
        for _ in 0..25 {
            let log = Log::open(folder.path(), Level::Info, "run", false).unwrap();
            log.write(Level::Info, "long", &[("text", &long)]).unwrap();
        }
        let sizes: Vec<_> =
            std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().metadata().unwrap().len()).collect();
        assert_eq!(sizes.len(), 2);
        assert!(sizes.iter().all(|size| *size <= MAX_BYTES + 300_000), "{sizes:?}");
        #[cfg(unix)]
        assert!(!files::is_open_to_others(&folder.path().join(FILE)));
    }
}
