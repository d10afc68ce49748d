//! Stores the state of the user interface between runs, in a file that only the program writes.

use crate::app::start::SavedScreen;
use crate::files;
use crate::text;
use std::io;
use std::path::Path;

pub const FILE: &str = "state.json";

/// Maximum size of the file, in bytes.
const MAX_BYTES: u64 = 16 << 20;

/// Reads the saved state, or defaults and a remark; a damaged file is renamed.
pub fn read(path: &Path) -> (SavedScreen, Option<String>) {
    let bytes = match files::read(path, MAX_BYTES) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return (SavedScreen::default(), None),
        Err(error) => return (SavedScreen::default(), Some(format!("{} cannot be read: {error}", text::path(path)))),
    };
    if let Ok(remembered) = serde_json::from_slice(&bytes) {
        return (remembered, None);
    }
    let aside = path.with_extension("damaged");
    let problem = match files::set_mode(path, 0o600).and_then(|()| std::fs::rename(path, &aside)) {
        Ok(()) => format!("The state file was damaged; it was renamed to {}.", text::path(&aside)),
        Err(error) => format!("{} is damaged, and cannot be renamed: {error}", text::path(path)),
    };
    (SavedScreen::default(), Some(problem))
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
    fn state_damaged_is_renamed_and_defaults_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state").join(FILE);
        assert_eq!(read(&path), (SavedScreen::default(), None));
        let mut remembered = SavedScreen::default();
        remembered.sizes.list = Some(30);
        write(&remembered, &path).unwrap();
        assert_eq!(read(&path), (remembered, None));
        std::fs::write(&path, "{\"sizes\": 7}").unwrap();
        files::set_mode(&path, 0o644).unwrap();
        let (found, words) = read(&path);
        assert!(found == SavedScreen::default() && words.unwrap().contains("damaged"));
        assert!(!path.exists() && !files::is_open_to_others(&path.with_extension("damaged")));
        assert_eq!(std::fs::read(path.with_extension("damaged")).unwrap(), b"{\"sizes\": 7}");
    }

    #[cfg(unix)]
    #[test]
    fn state_folder_with_invalid_unicode_is_escaped() {
        use std::os::unix::ffi::OsStrExt;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(std::ffi::OsStr::from_bytes(b"st\xffte\x1b")).join(FILE);
        let mut remembered = SavedScreen::default();
        remembered.sizes.list = Some(30);
        write(&remembered, &path).unwrap();
        assert_eq!(read(&path), (remembered, None));
        std::fs::write(&path, "no state").unwrap();
        let words = read(&path).1.unwrap();
        assert!(words.contains(r"st\x{ff}te\x1b") && !words.contains(char::REPLACEMENT_CHARACTER), "{words}");
        assert!(path.with_extension("damaged").exists());
    }
}
