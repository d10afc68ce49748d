//! Storage of response files: in the data folder, or in memory if nothing is kept.

use crate::files;
use crate::report::identifier::Sha256 as FileHash;
use crate::request::Request;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Cursor, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Name in place of a service for imports, which belong to none.
pub const IMPORTED: &str = "imported";

/// Folder of responses that are sound.
pub(super) const REPORTS: &str = "reports";

/// Folder of responses that are not read yet.
pub(super) const INCOMING: &str = "incoming";

/// Folder of responses that are damaged or unusable.
pub(super) const QUARANTINE: &str = "quarantine";

/// Folder of responses whose request names no file.
pub(super) const OTHER: &str = "other";

const ENDING: &str = ".zst";

/// Named files, each complete or absent.
pub(super) enum Shelf {
    Folder(PathBuf),
    Memory(Mutex<BTreeMap<String, Arc<[u8]>>>),
}

/// Identifier of the service at an address: a digest, so that it can name a folder.
pub fn service_id(address: &str) -> String {
    digest(&[address.as_bytes()])
}

/// The first half of a SHA-256 in hexadecimal digits.
pub(super) fn digest(parts: &[&[u8]]) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    crate::text::hex(hash.finalize().get(..16).unwrap_or_default())
}

/// The file of the response that is stored under a key.
pub(super) fn place(service: &str, key: &[u8]) -> String {
    let file = Request::holding_file(key).map_or_else(|| OTHER.to_owned(), |file| file.as_str().to_owned());
    format!("{REPORTS}/{service}/{file}/{}-{}{ENDING}", operation(key), digest(&[key]))
}

/// The folder of the responses about a file.
pub(super) fn folder_of(service: &str, file: Option<&FileHash>) -> String {
    format!("{REPORTS}/{service}/{}", file.map_or(OTHER, FileHash::as_str))
}

/// The first word of a key, reduced to characters that are safe in a file name.
pub(super) fn operation(key: &[u8]) -> String {
    let word = key.split(|byte| *byte == b' ').next().unwrap_or_default();
    word.iter().filter(|byte| byte.is_ascii_alphanumeric() || **byte == b'-').map(|byte| char::from(*byte)).collect()
}

/// A name within another folder that encodes the place of a file.
pub(super) fn flat(folder: &str, place: &str, more: &str) -> String {
    let name = place.strip_prefix(REPORTS).unwrap_or(place).trim_matches('/').replace('/', "_");
    format!("{folder}/{}{more}{ENDING}", name.trim_end_matches(ENDING))
}

impl Shelf {
    /// A reader of a file; `None` if the file does not exist.
    pub(super) fn open(&self, name: &str) -> io::Result<Option<Box<dyn BufRead>>> {
        match self {
            Self::Memory(files) => {
                let found = lock(files).get(name).cloned();
                Ok(found.map(|bytes| Box::new(Cursor::new(bytes)) as Box<dyn BufRead>))
            }
            Self::Folder(folder) => match files::open_ordinary(&folder.join(name)) {
                Ok((file, _)) => Ok(Some(Box::new(BufReader::new(file)))),
                Err(why) if why.kind() == io::ErrorKind::NotFound => Ok(None),
                Err(why) => Err(why),
            },
        }
    }

    /// Writes a file to its place. Returns whether it did: unless `replaces` is set, an existing
    /// file stays.
    pub(super) fn write(&self, name: &str, bytes: &[u8], replaces: bool) -> io::Result<bool> {
        let folder = match self {
            Self::Folder(folder) => folder,
            Self::Memory(files) => {
                let mut files = lock(files);
                let is_free = replaces || !files.contains_key(name);
                if is_free {
                    files.insert(name.to_owned(), bytes.into());
                }
                return Ok(is_free);
            }
        };
        // Another program may remove the empty folder before the file is in it.
        match write(folder, name, bytes, replaces) {
            Err(why) if why.kind() == io::ErrorKind::NotFound => write(folder, name, bytes, replaces),
            written => written,
        }
    }

    /// Moves a file. A missing one counts as moved: another program has done it already.
    pub(super) fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        match self {
            Self::Memory(files) => {
                let mut files = lock(files);
                if let Some(bytes) = files.remove(from) {
                    files.insert(to.to_owned(), bytes);
                }
                Ok(())
            }
            Self::Folder(folder) => {
                let parent = Path::new(to).parent().unwrap_or(Path::new(""));
                files::make_folder_in(folder, parent)?;
                present(fs::rename(folder.join(from), folder.join(to)))?;
                sync(&folder.join(parent))
            }
        }
    }

    /// Deletes a file if it exists.
    pub(super) fn remove(&self, name: &str) -> io::Result<()> {
        match self {
            Self::Memory(files) => {
                lock(files).remove(name);
                Ok(())
            }
            Self::Folder(folder) => {
                let path = folder.join(name);
                present(fs::remove_file(&path))?;
                // A folder that is not empty stays.
                let _ = path.parent().map(fs::remove_dir);
                Ok(())
            }
        }
    }

    /// Size of a file in bytes; `None` if it does not exist.
    pub(super) fn size(&self, name: &str) -> Option<u64> {
        match self {
            Self::Memory(files) => lock(files).get(name).map(|bytes| bytes.len() as u64),
            Self::Folder(folder) => fs::metadata(folder.join(name)).ok().map(|about| about.len()),
        }
    }

    /// The files in a folder and below it.
    pub(super) fn names(&self, folder: &str) -> io::Result<Vec<String>> {
        let mut found = Vec::new();
        match self {
            Self::Memory(files) => {
                let within = format!("{folder}/");
                found.extend(lock(files).keys().filter(|name| name.starts_with(&within)).cloned());
            }
            Self::Folder(root) => gather(root, folder, &mut found)?,
        }
        Ok(found)
    }
}

/// Writes a temporary file, syncs it to disk, and renames it to its place.
fn write(folder: &Path, name: &str, bytes: &[u8], replaces: bool) -> io::Result<bool> {
    let below = Path::new(name).parent().unwrap_or(Path::new(""));
    files::make_folder_in(folder, below)?;
    let (path, parent) = (folder.join(name), &folder.join(below));
    let mut file = tempfile::NamedTempFile::new_in(parent)?;
    file.write_all(bytes)?;
    file.as_file().sync_all()?;
    let placed = if replaces { file.persist(&path) } else { file.persist_noclobber(&path) };
    match placed {
        Ok(_) => sync(parent).map(|()| true),
        Err(error) if !replaces && error.error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
        Err(error) => Err(error.error),
    }
}

fn lock(files: &Mutex<BTreeMap<String, Arc<[u8]>>>) -> MutexGuard<'_, BTreeMap<String, Arc<[u8]>>> {
    files.lock().unwrap_or_else(PoisonError::into_inner)
}

fn gather(root: &Path, folder: &str, found: &mut Vec<String>) -> io::Result<()> {
    let entries = match fs::read_dir(root.join(folder)) {
        Err(why) if why.kind() == io::ErrorKind::NotFound => return Ok(()),
        entries => entries?,
    };
    for entry in entries {
        let entry = entry?;
        let Ok(name) = entry.file_name().into_string() else { continue };
        let name = format!("{folder}/{name}");
        match entry.file_type()? {
            kind if kind.is_dir() => gather(root, &name, found)?,
            // The temporary file of a killed program has another extension.
            kind if kind.is_file() && name.ends_with(ENDING) => found.push(name),
            _ => {}
        }
    }
    Ok(())
}

/// Accepts a missing file: another program has moved or deleted it.
fn present(done: io::Result<()>) -> io::Result<()> {
    match done {
        Err(why) if why.kind() == io::ErrorKind::NotFound => Ok(()),
        done => done,
    }
}

/// Syncs the entries of a folder to disk.
pub(super) fn sync(folder: &Path) -> io::Result<()> {
    #[cfg(unix)]
    File::open(folder)?.sync_all()?;
    let _ = folder;
    Ok(())
}
