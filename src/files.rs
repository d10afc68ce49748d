//! Files and folders that are the owner's alone, whatever the umask says.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io;
use std::path::Path;
use std::time::Duration;

/// Attempts to remove a folder into which something is still written, and the time between two.
const REMOVALS: usize = 50;
const BETWEEN_REMOVALS: Duration = Duration::from_millis(10);

/// Makes a folder and the missing ones above it, with mode 0700.
pub fn make_folder(folder: &Path) -> io::Result<()> {
    if folder.is_dir() || folder.as_os_str().is_empty() {
        return Ok(());
    }
    folder.parent().map_or(Ok(()), make_folder)?;
    match DirBuilder::new().create(folder) {
        // Whatever the umask has left of the mode.
        Ok(()) => set_mode(folder, 0o700),
        // Another program has made it meanwhile.
        Err(_) if folder.is_dir() => Ok(()),
        Err(error) => Err(error),
    }
}

/// Removes a folder with all that is in it; a cancelled call may still write there.
pub fn remove_folder(folder: &Path) {
    let mut aside = folder.as_os_str().to_owned();
    aside.push("-gone");
    let both = [folder, Path::new(&aside)];
    for _ in 0..REMOVALS {
        // Whether they are gone says more than what was in the way. It is moved first: by its name nothing more is put into it.
        let _ = std::fs::rename(folder, &aside);
        both.iter().for_each(|folder| _ = std::fs::remove_dir_all(folder));
        if both.iter().all(|folder| std::fs::symlink_metadata(folder).is_err()) {
            return;
        }
        std::thread::sleep(BETWEEN_REMOVALS);
    }
}

/// Makes a folder for files that are written without asking, in which only this user can write.
///
/// A link on the way that the user made, or the system, is followed: it is how they arranged their folders. Another's is not, nor
/// one that leads to another's folder.
pub fn own_folder(folder: &Path) -> io::Result<()> {
    let anothers = |words: &str| Err(io::Error::new(io::ErrorKind::PermissionDenied, words));
    if folder.ancestors().any(is_anothers_link) {
        return anothers("another user's link is on the way to it, which is not followed");
    }
    make_folder(folder)?;
    if is_anothers(&std::fs::metadata(folder)?) {
        return anothers("its folder is another user's");
    }
    if is_open_to_others(folder) { set_mode(folder, 0o700) } else { Ok(()) }
}

/// Whether a part of a path is a link of another user, who can change where it leads.
pub fn is_anothers_link(part: &Path) -> bool {
    std::fs::symlink_metadata(part).is_ok_and(|about| about.is_symlink() && is_anothers(&about))
}

#[cfg(unix)]
fn is_anothers(about: &std::fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    about.uid() != 0 && about.uid() != rustix::process::geteuid().as_raw()
}

#[cfg(not(unix))]
fn is_anothers(_: &std::fs::Metadata) -> bool {
    false
}

/// Says who may do what with a file, where the system knows such modes.
pub fn set_mode(path: &Path, mode: u32) -> io::Result<()> {
    #[cfg(unix)]
    {
        std::fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(mode))
    }
    #[cfg(not(unix))]
    {
        let _ = (path, mode);
        Ok(())
    }
}

/// Reads an ordinary file, which is no longer than `most` bytes.
pub fn read(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let (file, size) = open_ordinary(path)?;
    let mut bytes = Vec::new();
    if size <= most {
        io::Read::read_to_end(&mut io::Read::take(file, most.saturating_add(1)), &mut bytes)?;
    }
    if size.max(bytes.len() as u64) > most { Err(io::ErrorKind::FileTooLarge.into()) } else { Ok(bytes) }
}

/// Reads an ordinary file of text, which is no longer than `most` bytes.
pub fn read_text(path: &Path, most: u64) -> io::Result<String> {
    // The error by itself would hold what the file does.
    let no_text = |_| io::Error::new(io::ErrorKind::InvalidData, "it is no text in UTF-8");
    String::from_utf8(read(path, most)?).map_err(no_text)
}

/// Whether something is there that is no ordinary file, such as a pipe, a device or a folder.
pub fn is_special(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|about| !about.is_file())
}

/// Refuses pipes, devices and folders: opening a pipe waits for its other end, opening some devices acts on them.
pub fn not_special(path: &Path) -> io::Result<()> {
    if is_special(path) { Err(io::Error::other("it is no ordinary file")) } else { Ok(()) }
}

/// Opens an ordinary file to read, and says how long it is. What is none, such as a pipe or a device, is refused and never
/// waited for.
pub fn open_ordinary(path: &Path) -> io::Result<(File, u64)> {
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    {
        // Were it a pipe, opening would wait for its other end.
        let at_once = i32::try_from(rustix::fs::OFlags::NONBLOCK.bits()).unwrap_or_default();
        std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, at_once);
    }
    not_special(path)?;
    let file = options.open(path)?;
    let about = file.metadata()?;
    if about.is_file() { Ok((file, about.len())) } else { Err(io::Error::other("it is no ordinary file")) }
}

/// Makes a new file, and its folder; never over an existing file or link.
pub fn make_new(path: &Path) -> io::Result<File> {
    open(path, OpenOptions::new().write(true).create_new(true))
}

/// Opens a file to write behind what it holds, making it and its folder if they are not there; never through a link.
pub fn append(path: &Path) -> io::Result<File> {
    if path.is_symlink() {
        return Err(io::Error::new(io::ErrorKind::AlreadyExists, "it is a link, which is not followed"));
    }
    not_special(path)?;
    open(path, OpenOptions::new().append(true).create(true))
}

fn open(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    path.parent().map_or(Ok(()), make_folder)?;
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600);
    let is_there = path.exists();
    let file = options.open(path)?;
    if !is_there {
        set_mode(path, 0o600)?;
    }
    Ok(file)
}

/// Replaces a file, whole or not at all.
pub fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    make_folder(folder)?;
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    io::Write::write_all(&mut file, bytes)?;
    file.persist(path).map(|_| ()).map_err(|error| error.error)
}

/// Whether others than the owner may read or write it; never where the system has no such modes.
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

/// Whether files can be made and removed in a folder, or in the one above it that it can be made in.
pub fn may_write_in(folder: &Path) -> bool {
    let there = folder.ancestors().find(|folder| folder.exists());
    #[cfg(unix)]
    {
        use rustix::fs::{Access, AtFlags, CWD, accessat};
        let wanted = Access::WRITE_OK | Access::EXEC_OK;
        there.is_none_or(|folder| accessat(CWD, folder, wanted, AtFlags::EACCESS).is_ok())
    }
    #[cfg(not(unix))]
    {
        there.is_none_or(|folder| std::fs::metadata(folder).is_ok_and(|about| !about.permissions().readonly()))
    }
}

/// Bytes that are free where a file is, for those who own it; none where the system does not say.
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
        // Only who may give things away can try it with another's.
        if std::os::unix::fs::lchown(&arranged, Some(4_711), None).is_ok() {
            let said = own_folder(&arranged.join("new")).unwrap_err().to_string();
            assert!(said.contains("another user's link") && !folder.path().join("real/new").exists(), "{said}");
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
