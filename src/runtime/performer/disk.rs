//! Reads and writes files of the user, and hands text to the clipboard.

use super::{Performer, Work, words};
use crate::app::away::saving::{NotSaved, Save, Saved};
use crate::app::{FileEvent, FileJob, Message};
use crate::export::file::{self, FileError, Fresh};
use crate::export::{Job, Summary};
use crate::files;
use crate::gateway::{Gateway, submission};
use crate::report::Cancel;
use crate::report::identifier::hashes::Hashes;
use crate::report::rules::Rules;
use crate::request::{Request, ScanOptions, Submission};
use crate::runtime::clipboard;
use crate::text::{bytes, thousands};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The largest list of hashes that is read, in bytes: about a million of them.
const LARGEST_LIST: u64 = 64 * 1024 * 1024;

impl Performer {
    pub(super) fn use_file(&self, job: FileJob) {
        let (gateway, cancel) = (self.gateway().cloned(), self.stopped.clone());
        match job {
            FileJob::Inspect(path) => {
                self.spawn(move |work| inspect(work, path, gateway.as_deref(), &cancel), Message::Notice)
            }
            FileJob::CountHashes(path) => self.spawn(
                move |work| {
                    let result = count_hashes(&path);
                    work.send(FileEvent::HashesCounted { path, result });
                },
                Message::Notice,
            ),
            FileJob::Write(save) => {
                let writing = Writing::begin(&self.writing);
                self.spawn(
                    move |work| {
                        let result = write(save, gateway.as_deref(), &cancel);
                        drop(writing);
                        work.send(FileEvent::Written(result));
                    },
                    |why| FileEvent::Written(Err(NotSaved::Failed(why))).into(),
                );
            }
            FileJob::Copy(copied) => self.spawn(
                move |work| {
                    let result = clipboard::by_tmux(&copied);
                    work.send(FileEvent::Copied { what: copied.what, result });
                },
                Message::Notice,
            ),
        }
    }
}

/// Hashes a file for its submission, and reads what the store knows of it.
fn inspect(work: &Work, path: PathBuf, gateway: Option<&Gateway>, cancel: &Cancel) {
    let largest = gateway.map_or(0, |gateway| gateway.client().profile().largest_upload());
    let result = submission::look_at(&path, largest, &|| !cancel.is_cancelled())
        .map_err(|error| format!("{}: {}", file::shown(&path), words(&error)));
    let found = result.as_ref().ok().zip(gateway);
    let before = found.map(|((file, size), gateway)| {
        // An unreadable store does not keep the user from sending: then the call cannot be written down either.
        let before = gateway.scanned_before(file).ok().flatten();
        let (file, options) = (file.clone(), ScanOptions::default());
        let submission = Arc::new(Submission { path: path.clone(), file, size: *size, options, sent: None });
        (gateway.unanswered(&Request::PrivateScan { submission, to: None }).ok().flatten(), before)
    });
    let (sent, before) = before.unwrap_or_default();
    work.send(FileEvent::Inspected { path, result, sent, before });
}

/// A file that is being written, until it is dropped: whatever ends the writing.
struct Writing(Arc<AtomicUsize>);

impl Writing {
    fn begin(count: &Arc<AtomicUsize>) -> Self {
        count.fetch_add(1, Ordering::SeqCst);
        Self(Arc::clone(count))
    }
}

impl Drop for Writing {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

/// The hashes that a file lists; one that is larger than any list is not read.
fn count_hashes(path: &Path) -> Result<Hashes, String> {
    let mut list = Vec::new();
    let (file, _) = files::open_ordinary(path).map_err(|error| error.to_string())?;
    file.take(LARGEST_LIST + 1).read_to_end(&mut list).map_err(|error| error.to_string())?;
    if list.len() as u64 > LARGEST_LIST {
        return Err(format!("it is larger than {}", crate::text::bytes(LARGEST_LIST)));
    }
    Hashes::of(&list)
}

/// Writes a file; returns where it is and how large.
fn write(save: Save, gateway: Option<&Gateway>, cancel: &Cancel) -> Result<String, NotSaved> {
    let path = file::typed(&save.path);
    match write_new(&save, path.clone(), gateway, cancel) {
        Ok((length, summary)) => Ok(written_words(&path, length, summary)),
        Err(FileError::Exists(_)) => {
            let why = format!("{} is there already. A yes writes over it.", file::shown(&path));
            Err(NotSaved::Exists(Box::new(save), why))
        }
        Err(error) => Err(NotSaved::Failed(format!("{error}."))),
    }
}

fn write_new(
    save: &Save,
    path: PathBuf,
    gateway: Option<&Gateway>,
    cancel: &Cancel,
) -> Result<(u64, Option<Summary>), FileError> {
    let mut fresh = Fresh::begin(&path, save.may_replace)?;
    let written = match &save.what {
        Saved::Report { sources, what, format, rules } => {
            let rules = rules.clone().unwrap_or_else(|| Arc::new(Rules::shipped()));
            let job = Job { sources, what: what.clone(), rules: &rules, cancel };
            format.write(&job, &mut fresh).map(Some)
        }
        Saved::Value { text, is_raw: true } => fresh.write_all(text.as_bytes()).map(|()| None),
        Saved::Value { text, is_raw: false } => writeln!(fresh, "{}", text.visible().disarmed()).map(|()| None),
        Saved::Held(request) => {
            let held = gateway.map(|gateway| gateway.held(request)).transpose().map_err(io::Error::other);
            held.and_then(|held| held.flatten().ok_or_else(|| io::Error::other("it is not held any more")))
                .and_then(|held| fresh.write_all(&held.body))
                .map(|()| None)
        }
    };
    let summary = written.map_err(|why| FileError::Io { path, why })?;
    Ok((fresh.keep()?, summary))
}

fn written_words(path: &Path, length: u64, summary: Option<Summary>) -> String {
    let whole = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let rows = summary
        .map(|summary| match summary.rows {
            1 => ", 1 entry".to_owned(),
            rows => format!(", {} entries", thousands(rows)),
        })
        .unwrap_or_default();
    let cut = if summary.is_some_and(|summary| summary.cut > 0) {
        " The report stops in the middle; what came of it is there."
    } else {
        ""
    };
    let missing = summary.and_then(|summary| summary.missing_words());
    let missing = missing.map(|words| format!(" {words}.")).unwrap_or_default();
    format!("Written: {}, {}{rows}, readable by you alone.{missing}{cut}", file::shown(&whole), bytes(length))
}
