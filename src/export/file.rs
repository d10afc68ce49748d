//! Creates output files: for their owner only, never through a link, over a file only if allowed.

use crate::report::Identifier;
use crate::report::identifier::Sha256;
use crate::text::{self, Untrusted};
use std::ffi::OsStr;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

#[derive(Debug, thiserror::Error)]
pub enum FileError {
    #[error("{} already exists and was not changed", text::path(.0))]
    Exists(PathBuf),
    /// Something that is not a file exists at the path.
    #[error("{} is not a file and was not changed", text::path(.0))]
    NoFile(PathBuf),
    #[error("no file is named: the path is empty")]
    Unnamed,
    #[error("there is no folder {}", text::path(.0))]
    NoFolder(PathBuf),
    #[error("{} could not be written: {why}", text::path(.path))]
    Io { path: PathBuf, why: io::Error },
}

/// Expands `~` as a shell does; a file `~` here has precedence: completion passes it unchanged.
pub fn from_input(path: impl AsRef<OsStr>) -> PathBuf {
    let path = Path::new(path.as_ref());
    let in_home = path.strip_prefix("~").ok().filter(|_| Path::new("~").symlink_metadata().is_err());
    let in_home = in_home.and_then(|rest| Some(directories::BaseDirs::new()?.home_dir().join(rest)));
    in_home.unwrap_or_else(|| path.to_owned())
}

/// Writes a file atomically, by a temporary one beside it; returns its bytes and `write`'s result.
pub fn write<T>(
    path: &Path,
    may_replace: bool,
    write: impl FnOnce(&mut dyn Write) -> io::Result<T>,
) -> Result<(u64, T), FileError> {
    let failed = |why| FileError::Io { path: path.to_owned(), why };
    let mut out = BufWriter::new(begin(path, may_replace)?);
    let written = write(&mut out).map_err(failed)?;
    let file = out.into_inner().map_err(|error| failed(error.into_error()))?;
    file.as_file().sync_all().map_err(failed)?;
    let length = file.as_file().metadata().map_err(failed)?.len();
    may_stand(path, may_replace)?;
    // Replaces a link itself, never its target.
    let placed = if may_replace { file.persist(path) } else { file.persist_noclobber(path) };
    match placed.map_err(|failed| failed.error) {
        Ok(_) => Ok((length, written)),
        Err(why) if why.kind() == io::ErrorKind::AlreadyExists => Err(FileError::Exists(path.to_owned())),
        Err(why) => Err(failed(why)),
    }
}

/// Checks that a file can be created at this path, by creating a temporary one beside it.
pub fn check(path: &Path, may_replace: bool) -> Result<(), FileError> {
    begin(path, may_replace).map(drop)
}

fn begin(path: &Path, may_replace: bool) -> Result<NamedTempFile, FileError> {
    may_stand(path, may_replace)?;
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    // The system's error names the temporary file, which the user did not name.
    let file = tempfile::Builder::new().prefix(".behaview-").tempfile_in(folder);
    file.map_err(|why| match why.kind() {
        io::ErrorKind::NotFound => FileError::NoFolder(folder.to_owned()),
        kind => FileError::Io { path: path.to_owned(), why: kind.into() },
    })
}

/// Returns whether a file may be created at this path, given what exists there.
fn may_stand(path: &Path, may_replace: bool) -> Result<(), FileError> {
    let text = path.to_string_lossy();
    let last = text.rsplit(std::path::is_separator).next().unwrap_or_default();
    match path.symlink_metadata() {
        Err(_) if text.is_empty() => Err(FileError::Unnamed),
        // Such a path can only name a folder.
        Err(_) if ["", ".", ".."].contains(&last) => Err(FileError::NoFolder(path.to_owned())),
        Err(why) if why.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(why) => Err(FileError::Io { path: path.to_owned(), why: why.kind().into() }),
        Ok(_) if !may_replace => Err(FileError::Exists(path.to_owned())),
        Ok(about) if about.is_file() => Ok(()),
        Ok(_) => Err(FileError::NoFile(path.to_owned())),
    }
}

/// Returns a file name for an export or artifact of a report; see [`name_of`].
pub fn name(identifier: Option<&Identifier>, part: Option<&str>, end: &str) -> String {
    let parts = identifier.map(Identifier::parts).unwrap_or_default();
    name_of(parts.file.as_ref(), &parts.sandbox, part, end)
}

/// Returns a safe file name: first digits of the SHA-256, sandbox, part, and extension.
pub fn name_of(file: Option<&Sha256>, sandbox: &Untrusted, part: Option<&str>, end: &str) -> String {
    let file = file.and_then(|file| file.as_str().get(..12)).map(str::to_owned);
    let sandbox = Some(safe(sandbox)).filter(|name| !name.is_empty());
    let stem = file.into_iter().chain(sandbox).chain(part.map(str::to_owned)).collect::<Vec<_>>().join("-");
    if stem.is_empty() { format!("report.{end}") } else { format!("{stem}.{end}") }
}

/// At most forty ASCII letters, digits, and single dashes between them.
fn safe(text: &Untrusted) -> String {
    let text = String::from_utf8_lossy(text.as_bytes()).into_owned();
    let words = text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let mut name = words.collect::<Vec<_>>().join("-");
    name.truncate(40);
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write_text(path: &Path, may_replace: bool, text: &str) -> Result<u64, FileError> {
        write(path, may_replace, |out| out.write_all(text.as_bytes())).map(|(length, ())| length)
    }

    #[test]
    fn what_came_meanwhile_is_left_as_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out.csv");
        let written = write(&path, false, |_| std::fs::write(&path, "theirs"));
        assert!(matches!(written, Err(FileError::Exists(_))));
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "theirs");
    }

    #[cfg(unix)]
    #[test]
    fn files_are_the_owners_and_links_are_not_followed() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out.csv");
        write_text(&path, false, "x").unwrap();
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        let aim = folder.path().join("aim");
        let link = folder.path().join("link");
        std::fs::write(&aim, "precious").unwrap();
        symlink(&aim, &link).unwrap();
        assert!(matches!(write_text(&link, false, "x"), Err(FileError::Exists(_))));
        assert!(matches!(write_text(&link, true, "x"), Err(FileError::NoFile(_))));
        let dangling = folder.path().join("dangling");
        symlink(folder.path().join("nowhere"), &dangling).unwrap();
        assert!(matches!(write_text(&dangling, false, "x"), Err(FileError::Exists(_))));
        assert_eq!(std::fs::read_to_string(&aim).unwrap(), "precious");
    }

    #[test]
    fn names_are_made_of_safe_characters() {
        let identifier = |text: String| Identifier::new(Untrusted::from(text)).unwrap();
        let plain = identifier(format!("{}_CAPE Sandbox-12", "ab".repeat(32)));
        assert_eq!(name(Some(&plain), Some("tags"), "csv"), "abababababab-CAPE-Sandbox-tags.csv");
        let odd = identifier("../../etc/p\u{202e}asswd\n;rm -rf ~-9".to_owned());
        assert_eq!(name(Some(&odd), None, "pcap"), "etc-p-asswd-rm-rf.pcap");
        assert_eq!(name(None, None, "md"), "report.md");
    }
}
