//! Creates, reads and replaces files and folders that are their owner's alone, whatever the umask.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io;
use std::path::Path;

/// Creates a folder and its missing parents, with mode 0700.
pub fn make_folder(folder: &Path) -> io::Result<()> {
    if folder.is_dir() || folder.as_os_str().is_empty() {
        return Ok(());
    }
    folder.parent().map_or(Ok(()), make_folder)?;
    make_one(folder)
}

/// Creates the missing folders of a path below an existing one, which is never created: after its
/// removal, a call that is still running does not restore it.
pub fn make_folder_in(root: &Path, below: &Path) -> io::Result<()> {
    let mut folder = root.to_owned();
    for name in below {
        folder.push(name);
        make_one(&folder)?;
    }
    Ok(())
}

fn make_one(folder: &Path) -> io::Result<()> {
    match DirBuilder::new().create(folder) {
        // The umask may have removed bits of the mode.
        Ok(()) => set_mode(folder, 0o700),
        // It exists, or another program has created it in the meantime.
        Err(_) if folder.is_dir() => Ok(()),
        Err(error) => Err(error),
    }
}

/// Creates a folder for files of the program itself, writable only for this user.
///
/// Follows links of the user and of the system; rejects another user's link or folder.
pub fn own_folder(folder: &Path) -> io::Result<()> {
    let anothers = |words: &str| Err(io::Error::new(io::ErrorKind::PermissionDenied, words));
    // Its owner can change the target of a link.
    let is_anothers_link = |about: std::fs::Metadata| about.is_symlink() && is_anothers(&about);
    if folder.ancestors().any(|part| std::fs::symlink_metadata(part).is_ok_and(is_anothers_link)) {
        return anothers("its path has another user's link, which is not followed");
    }
    make_folder(folder)?;
    if is_anothers(&std::fs::metadata(folder)?) {
        return anothers("its folder is another user's");
    }
    if is_open_to_others(folder) { set_mode(folder, 0o700) } else { Ok(()) }
}

#[cfg_attr(not(unix), expect(unused_variables))]
fn is_anothers(about: &std::fs::Metadata) -> bool {
    #[cfg(unix)]
    {
        let owner = std::os::unix::fs::MetadataExt::uid(about);
        owner != 0 && owner != rustix::process::geteuid().as_raw()
    }
    #[cfg(not(unix))]
    false
}

/// Sets the permission bits of a file, on systems that have them.
pub fn set_mode(path: &Path, mode: u32) -> io::Result<()> {
    #[cfg(unix)]
    std::fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(mode))?;
    let _ = (path, mode);
    Ok(())
}

/// Reads a regular file of at most `most` bytes.
pub fn read(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let (file, size) = open_ordinary(path)?;
    let mut bytes = Vec::new();
    if size <= most {
        io::Read::read_to_end(&mut io::Read::take(file, most.saturating_add(1)), &mut bytes)?;
    }
    if size.max(bytes.len() as u64) > most { Err(io::ErrorKind::FileTooLarge.into()) } else { Ok(bytes) }
}

/// Reads a regular UTF-8 file of at most `most` bytes.
pub fn read_text(path: &Path, most: u64) -> io::Result<String> {
    // The original error would contain the file's content.
    let no_text = |_| io::Error::new(io::ErrorKind::InvalidData, "it is not UTF-8 text");
    String::from_utf8(read(path, most)?).map_err(no_text)
}

/// Returns whether the path exists and is not a regular file, such as a pipe, a device or a folder.
pub fn is_special(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|about| !about.is_file())
}

/// Rejects pipes, whose opening blocks, devices and folders.
fn not_special(path: &Path) -> io::Result<()> {
    if is_special(path) { Err(io::Error::other("it is not a regular file")) } else { Ok(()) }
}

/// Opens a regular file and returns its length; rejects pipes and devices without blocking.
pub fn open_ordinary(path: &Path) -> io::Result<(File, u64)> {
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    {
        // Without this flag, opening a pipe would block until its other end is opened.
        let nonblocking = i32::try_from(rustix::fs::OFlags::NONBLOCK.bits()).unwrap_or_default();
        std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, nonblocking);
    }
    not_special(path)?;
    let file = options.open(path)?;
    let about = file.metadata()?;
    if about.is_file() { Ok((file, about.len())) } else { Err(io::Error::other("it is not a regular file")) }
}

/// Creates a new file and its folder; fails if a file or link exists.
pub fn make_new(path: &Path) -> io::Result<File> {
    path.parent().map_or(Ok(()), make_folder)?;
    open(path, OpenOptions::new().write(true).create_new(true))
}

/// Opens or creates a file for appending in an existing folder; never follows a link.
pub fn append(path: &Path) -> io::Result<File> {
    if path.is_symlink() {
        return Err(io::Error::new(io::ErrorKind::AlreadyExists, "it is a link, which is not followed"));
    }
    not_special(path)?;
    open(path, OpenOptions::new().append(true).create(true))
}

fn open(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600);
    let is_there = path.exists();
    let file = options.open(path)?;
    if !is_there {
        set_mode(path, 0o600)?;
    }
    Ok(file)
}

/// Replaces a file atomically.
pub fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    make_folder(folder)?;
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    io::Write::write_all(&mut file, bytes)?;
    file.persist(path).map(|_| ()).map_err(|error| error.error)
}

/// Returns whether others may read or write it, on systems with permission bits.
pub fn is_open_to_others(path: &Path) -> bool {
    #[cfg(unix)]
    if let Ok(about) = std::fs::metadata(path) {
        return std::os::unix::fs::MetadataExt::mode(&about) & 0o077 != 0;
    }
    let _ = path;
    false
}

/// Returns whether files can be created in a folder or, if missing, its nearest parent.
pub fn may_write_in(folder: &Path) -> bool {
    let there = folder.ancestors().find(|folder| folder.exists());
    #[cfg(unix)]
    if let Some(folder) = there {
        use rustix::fs::{Access, AtFlags, CWD, accessat};
        return accessat(CWD, folder, Access::WRITE_OK | Access::EXEC_OK, AtFlags::EACCESS).is_ok();
    }
    there.is_none_or(|folder| std::fs::metadata(folder).is_ok_and(|about| !about.permissions().readonly()))
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};

    #[test]
    fn files_are_private_and_links_are_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("deep/file");
        let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        drop(make_new(&path).unwrap());
        assert_eq!((mode(&path), mode(path.parent().unwrap()), is_open_to_others(&path)), (0o600, 0o700, false));
        assert!(make_new(&path).is_err());
        replace(&path, b"new").unwrap();
        assert_eq!((mode(&path), std::fs::read(&path).unwrap()), (0o600, b"new".to_vec()));
        let pipe = folder.path().join("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        assert!(append(&pipe).is_err());
        for other in [&pipe, folder.path(), Path::new("/dev/zero")] {
            assert!(open_ordinary(other).is_err(), "{}", other.display());
        }
        assert_eq!(open_ordinary(&path).unwrap().1, 3);
        assert!(read_text(Path::new("/dev/zero"), 1000).is_err() && read_text(&path, 3).is_ok());
        let arranged = folder.path().join("arranged");
        std::fs::create_dir(folder.path().join("real")).unwrap();
        set_mode(&folder.path().join("real"), 0o777).unwrap();
        symlink(folder.path().join("real"), &arranged).unwrap();
        own_folder(&arranged.join("log")).unwrap();
        own_folder(&arranged).unwrap();
        assert_eq!((mode(&arranged), mode(&arranged.join("log"))), (0o700, 0o700));
        // Only root can give a file to another user.
        if std::os::unix::fs::lchown(&arranged, Some(4_711), None).is_ok() {
            let message = own_folder(&arranged.join("new")).unwrap_err().to_string();
            assert!(message.contains("another user's link") && !folder.path().join("real/new").exists(), "{message}");
            std::os::unix::fs::lchown(&arranged, Some(0), None).unwrap();
            std::os::unix::fs::chown(folder.path().join("real"), Some(4_711), None).unwrap();
            assert!(own_folder(&arranged).is_err());
        }
        let link = folder.path().join("link");
        symlink(&path, &link).unwrap();
        assert!(append(&link).is_err() && make_new(&link).is_err());
        replace(&link, b"beside").unwrap();
        assert!(!link.is_symlink() && std::fs::read(&path).unwrap() == b"new");
    }
}
