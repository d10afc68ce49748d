//! Files that the command line names.

use crate::cli::Failed;
use crate::cli::document::STANDARD_INPUT;
use std::io::Read;

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
            return std::fs::read(path).map_err(unreadable);
        }
        if std::mem::replace(&mut self.is_input_read, true) {
            return Err(Failed::usage("standard input can be read once only; name a file in one of the places"));
        }
        let mut bytes = Vec::new();
        std::io::stdin().lock().read_to_end(&mut bytes).map_err(unreadable)?;
        Ok(bytes)
    }
}
