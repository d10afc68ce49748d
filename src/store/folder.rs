//! The folder and the file of the store, which are the owner's alone, reached through no link that somebody else can turn.

use super::error::StoreError;
use super::{salvage, spare, used};
use crate::files;
use std::fs::{File, OpenOptions};
use std::path::{Path, PathBuf};

/// The ending of the database's log.
pub(super) const LOG: &str = "-wal";

/// The ending of the index of that log, and of what the database looks for that was not taken back when a program ended.
pub(super) const INDEX: &str = "-shm";
const JOURNAL: &str = "-journal";

/// What the database writes beside its file.
pub(super) const BESIDE: [&str; 2] = [LOG, INDEX];

/// Makes the folder and the file, the owner's alone to read, whatever the umask says; takes from others what an earlier
/// umask gave them.
pub(super) fn prepare(path: &Path) -> Result<(), StoreError> {
    check(path)?;
    let failed = |why| StoreError::File { path: path.to_owned(), why };
    if let Some(folder) = path.parent() {
        make_folder(folder).map_err(failed)?;
    }
    create(path).and_then(|_| create(&beside(path, used::FILE))).map_err(failed)?;
    own_files(path).try_for_each(|file| close_to_others(&file, 0o600)).map_err(failed)
}

/// Refuses a store that is reached through a link that somebody else can turn, or of whose files one is no file.
pub(super) fn check(path: &Path) -> Result<(), StoreError> {
    let link = |part: &Path| Err(StoreError::Link(part.to_owned()));
    // The files and their folder are no links, whoever made them.
    if let Some(part) =
        path.parent().map(Path::to_owned).into_iter().chain(own_files(path)).find(|part| part.is_symlink())
    {
        return link(&part);
    }
    if let Some(part) = path.ancestors().skip(2).find(|part| files::is_anothers_link(part)) {
        return link(part);
    }
    // To open a pipe is to wait for its other end. The spare room says nothing, and what is no room is made anew.
    match own_files(path).chain([spare::file_of(path)]).find(|file| files::is_special(file)) {
        Some(other) => Err(StoreError::NoFile(other)),
        None => Ok(()),
    }
}

/// Each file that the store or its database opens by its name, and says something.
fn own_files(path: &Path) -> impl Iterator<Item = PathBuf> + '_ {
    [path.to_owned()]
        .into_iter()
        .chain([LOG, INDEX, JOURNAL, used::FILE, salvage::MARK].map(|ending| beside(path, ending)))
}

/// Opens a file to write, making it if it is not there; what is made is the owner's alone.
pub(super) fn create(path: &Path) -> std::io::Result<File> {
    files::not_special(path)?;
    open(path, OpenOptions::new().write(true).create(true).truncate(false))
}

/// Opens a file to write behind what it holds, making it if it is not there, never through a link. Its folder is not made: where
/// that is gone, the store is.
pub(super) fn append(path: &Path) -> std::io::Result<File> {
    if path.is_symlink() {
        return Err(std::io::ErrorKind::AlreadyExists.into());
    }
    let file = create(path).and_then(|_| OpenOptions::new().append(true).open(path))?;
    close_to_others(path, 0o600)?;
    Ok(file)
}

/// Makes a file where nothing is, neither a file nor a link.
pub(super) fn create_new(path: &Path) -> std::io::Result<File> {
    open(path, OpenOptions::new().write(true).create_new(true))
}

fn open(path: &Path, options: &mut OpenOptions) -> std::io::Result<File> {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600);
    options.open(path)
}

/// A name beside the file's.
pub(super) fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    PathBuf::from(name)
}

/// The names of all files of a database.
pub(super) fn all_files(path: &Path) -> impl Iterator<Item = (PathBuf, &'static str)> + '_ {
    // The file itself goes last: as long as it is there, nobody makes a new one.
    BESIDE.into_iter().chain([""]).map(|ending| (beside(path, ending), ending))
}

fn make_folder(folder: &Path) -> std::io::Result<()> {
    files::make_folder(folder)?;
    close_to_others(folder, 0o700)
}

/// Takes from others what they may do with a file, and gives its owner what a umask took away, if it is there.
#[cfg(unix)]
fn close_to_others(path: &Path, mode: u32) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    match std::fs::metadata(path) {
        // What the owner may not write is left alone: somebody has seen to that.
        Ok(about) if about.permissions().mode() & 0o077 != 0 || about.permissions().mode() & 0o777 == 0 => {
            files::set_mode(path, mode)
        }
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

#[cfg(not(unix))]
fn close_to_others(_: &Path, _: u32) -> std::io::Result<()> {
    Ok(())
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};

    fn mode(path: &Path) -> u32 {
        std::fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn what_an_earlier_umask_gave_to_others_is_taken_back() {
        let folder = tempfile::tempdir().unwrap();
        let inner = folder.path().join("deep/er");
        std::fs::create_dir_all(&inner).unwrap();
        let path = inner.join("behaview.db");
        for file in [path.clone(), beside(&path, "-wal")] {
            std::fs::write(&file, b"").unwrap();
            std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o666)).unwrap();
        }
        std::fs::set_permissions(&inner, std::fs::Permissions::from_mode(0o777)).unwrap();
        prepare(&path).unwrap();
        assert_eq!([mode(&inner), mode(&path), mode(&beside(&path, "-wal"))], [0o700, 0o600, 0o600]);
    }

    #[test]
    fn no_link_is_followed_that_stands_for_the_file_or_its_folder() {
        let folder = tempfile::tempdir().unwrap();
        let (real, link) = (folder.path().join("real"), folder.path().join("link"));
        std::fs::create_dir(&real).unwrap();
        symlink(&real, &link).unwrap();
        assert!(matches!(prepare(&link.join("behaview.db")), Err(StoreError::Link(found)) if found == link));
        std::fs::write(real.join("victim"), b"").unwrap();
        std::fs::set_permissions(real.join("victim"), std::fs::Permissions::from_mode(0o644)).unwrap();
        symlink(real.join("victim"), real.join("behaview.db-wal")).unwrap();
        assert!(matches!(prepare(&real.join("behaview.db")), Err(StoreError::Link(_))));
        assert_eq!(mode(&real.join("victim")), 0o644);
        std::fs::remove_file(real.join("behaview.db-wal")).unwrap();
        symlink(real.join("other"), real.join("behaview.db")).unwrap();
        assert!(matches!(prepare(&real.join("behaview.db")), Err(StoreError::Link(_))));
        assert!(!real.join("other").exists());
        // The user's own arrangement above them is the user's own business.
        std::fs::create_dir(real.join("data")).unwrap();
        prepare(&link.join("data/behaview.db")).unwrap();
    }
}
