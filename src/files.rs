//! Files and folders that are the owner's alone, whatever the umask says.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io;
use std::path::Path;

/// Makes a folder and those above it, as far as they are not there; what is made is the owner's alone.
///
/// # Errors
/// What the system said.
pub fn make_folder(folder: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// Makes a new file, and its folder; never over a file or link that is there.
///
/// # Errors
/// What the system said; [`io::ErrorKind::AlreadyExists`] where something is there.
pub fn make_new(path: &Path) -> io::Result<File> {
    open(path, OpenOptions::new().write(true).create_new(true))
}

/// Opens a file to write behind what it holds, making it and its folder if they are not there; never through a link.
///
/// # Errors
/// What the system said.
pub fn append(path: &Path) -> io::Result<File> {
    if path.is_symlink() {
        return Err(io::Error::new(io::ErrorKind::AlreadyExists, "it is a link, which is not followed"));
    }
    open(path, OpenOptions::new().append(true).create(true))
}

fn open(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    path.parent().map_or(Ok(()), make_folder)?;
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600);
    options.open(path)
}

/// Puts a file in the place of what is there, whole or not at all.
///
/// # Errors
/// What the system said; then what was there is still there.
pub fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    make_folder(folder)?;
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    io::Write::write_all(&mut file, bytes)?;
    file.persist(path).map(|_| ()).map_err(|error| error.error)
}

/// Whether others than the owner may read or write it; never where the system has no such modes.
#[must_use]
pub fn is_open_to_others(path: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        std::fs::metadata(path).is_ok_and(|about| about.permissions().mode() & 0o077 != 0)
    }
    #[cfg(not(unix))]
    {
        let _ = path;
        false
    }
}

/// Bytes that are free where a file is, for those who own it; none where the system does not say.
#[must_use]
pub fn free_space(path: &Path) -> Option<u64> {
    #[cfg(unix)]
    {
        let about = rustix::fs::statvfs(path).ok()?;
        Some(about.f_bavail.saturating_mul(about.f_frsize))
    }
    #[cfg(not(unix))]
    {
        let _ = path;
        None
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};

    #[test]
    fn what_is_made_is_the_owners_and_nothing_is_written_through_a_link() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("deep/file");
        let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        drop(make_new(&path).unwrap());
        assert_eq!((mode(&path), mode(path.parent().unwrap()), is_open_to_others(&path)), (0o600, 0o700, false));
        assert!(make_new(&path).is_err());
        replace(&path, b"new").unwrap();
        assert_eq!((mode(&path), std::fs::read(&path).unwrap()), (0o600, b"new".to_vec()));
        let link = folder.path().join("link");
        symlink(&path, &link).unwrap();
        assert!(append(&link).is_err() && make_new(&link).is_err());
        replace(&link, b"beside").unwrap();
        assert!(!link.is_symlink() && std::fs::read(&path).unwrap() == b"new");
    }
}
