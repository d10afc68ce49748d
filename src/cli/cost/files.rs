//! Files that the command line names.

use crate::cli::Failed;
use crate::cli::document::{STANDARD_INPUT, opened};
use std::io::Read;

/// The largest file that is read whole, in bytes: a million hashes are less.
const LARGEST: u64 = 128 << 20;

/// Reads files, and standard input once.
#[derive(Debug, Default)]
pub(super) struct Files {
    is_input_read: bool,
}

impl Files {
    /// The whole of a file, or of standard input.
    pub(super) fn read(&mut self, path: &str) -> Result<Vec<u8>, Failed> {
        let unreadable = |error| Failed::usage(format!("{path} cannot be read: {error}"));
        if path != STANDARD_INPUT {
            return bounded(opened(&crate::export::file::typed(path)).map_err(unreadable)?, path);
        }
        if std::mem::replace(&mut self.is_input_read, true) {
            return Err(Failed::usage("standard input can be read once only; name a file in one of the places"));
        }
        bounded(std::io::stdin().lock(), "standard input")
    }
}

/// All that a file gives, which may be a device without an end.
fn bounded(source: impl Read, name: &str) -> Result<Vec<u8>, Failed> {
    let mut bytes = Vec::new();
    source
        .take(LARGEST + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| Failed::usage(format!("{name} cannot be read: {error}")))?;
    if bytes.len() as u64 > LARGEST {
        return Err(Failed::usage(format!("{name} is larger than {}", crate::text::bytes(LARGEST))));
    }
    Ok(bytes)
}
