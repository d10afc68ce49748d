//! Stores the state of the user interface between runs, in a file that only the program writes.

use crate::app::start::SavedScreen;
use crate::files;
use std::io;
use std::path::Path;

pub const FILE: &str = "state.json";

/// Maximum size of the file, in bytes.
const MAX_BYTES: u64 = 16 << 20;

/// Reads the saved state; the defaults if there is none that can be read.
pub fn read(path: &Path) -> SavedScreen {
    let bytes = files::read(path, MAX_BYTES).unwrap_or_default();
    serde_json::from_slice(&bytes).unwrap_or_default()
}

/// Writes the state to a file that only its owner can read.
pub fn write(remembered: &SavedScreen, path: &Path) -> io::Result<()> {
    path.parent().map_or(Ok(()), files::own_folder)?;
    files::replace(path, &serde_json::to_vec_pretty(remembered)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn state_that_cannot_be_read_is_the_default() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state").join(FILE);
        assert_eq!(read(&path), SavedScreen::default());
        let mut remembered = SavedScreen::default();
        remembered.sizes.list = Some(30);
        write(&remembered, &path).unwrap();
        assert_eq!(read(&path), remembered);
        std::fs::write(&path, "{\"sizes\": 7}").unwrap();
        assert_eq!(read(&path), SavedScreen::default());
        write(&remembered, &path).unwrap();
        assert!(read(&path) == remembered && !files::is_open_to_others(&path));
    }
}
