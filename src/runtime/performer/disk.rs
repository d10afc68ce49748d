//! Reads and writes files of the analyst's, and hands text to the clipboard.

use super::{Performer, Work, words};
use crate::app::Message;
use crate::app::away::Copied;
use crate::app::away::saving::{NotSaved, Save};
use crate::export::file;
use crate::files;
use crate::gate::submission;
use crate::report::identifier::hashes::Hashes;
use crate::request::{Request, ScanOptions, Submission};
use crate::runtime::{clipboard, saver};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The largest list of hashes that is read, in bytes: about a million of them.
const LARGEST_LIST: u64 = 64 * 1024 * 1024;

impl Performer {
    pub(super) fn save(&self, save: Save) {
        let (gate, cancel) = (self.gate().cloned(), self.stopped.clone());
        let writing = Writing::begin(&self.writing);
        let write = move |work: Work| {
            let result = saver::save(save, gate.as_deref(), &cancel);
            drop(writing);
            work.send(Message::Saved(result));
        };
        self.blocking(write, |why| Message::Saved(Err(NotSaved::Failed(why))));
    }

    /// Looks at a file that is to be submitted.
    pub(super) fn look_at_file(&self, path: PathBuf) {
        let largest = self.gate().map_or(0, |gate| gate.client().profile().largest_upload());
        let (cancel, gate) = (self.stopped.clone(), self.gate().cloned());
        self.reading(move |work| {
            let result = submission::look_at(&path, largest, &|| !cancel.is_cancelled())
                .map_err(|error| format!("{}: {}", file::shown(&path), words(&error)));
            let found = result.as_ref().ok().zip(gate);
            let before = found.map(|((file, size), gate)| {
                // What cannot be read of the store keeps nobody from sending it: then the call cannot be written down either.
                let before = gate.scanned_before(file).ok().flatten();
                let (file, options) = (file.clone(), ScanOptions::default());
                let submission = Arc::new(Submission { path: path.clone(), file, size: *size, options, sent: None });
                (gate.unanswered(&Request::PrivateScan { submission, to: None }).ok().flatten(), before)
            });
            let (sent, before) = before.unwrap_or_default();
            work.send(Message::LookedAtFile { path, result, sent, before });
        });
    }

    /// Counts the hashes that a file lists.
    pub(super) fn count_hashes(&self, path: PathBuf) {
        self.reading(move |work| {
            let result = count_hashes(&path);
            work.send(Message::Counted { path, result });
        });
    }

    /// Hands text to the clipboard of the terminal multiplexer.
    pub(super) fn copy(&self, copied: Copied) {
        self.reading(move |work| {
            let result = clipboard::by_tmux(&copied);
            work.send(Message::Copied { what: copied.what, result });
        });
    }
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
