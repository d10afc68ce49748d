//! Response files, on disk or in memory: zstd frames of header and bytes, each with a checksum.

use crate::files;
use crate::report::ImportOrigin;
use crate::report::identifier::Sha256 as FileHash;
use crate::request::Request;
use crate::text::Untrusted;
use jiff::Timestamp;
use percent_encoding::{AsciiSet, CONTROLS, percent_decode_str, percent_encode};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fs;
use std::io::{self, BufRead, BufReader, Cursor, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Name in place of a service for imports, which do not belong to one.
pub const IMPORTED: &str = "imported";

pub(super) const REPORTS: &str = "reports";
pub(super) const UNREAD: &str = "unread";

/// Folder of responses whose request names no file.
const OTHER: &str = "other";
const ENDING: &str = ".zst";

/// The zstd level; it compresses about 300 MB/s.
const LEVEL: i32 = 3;

/// Characters to escape; `%` itself must be distinguishable from an escape.
const UNSAFE: &AsciiSet = &CONTROLS.add(b'%');

/// Named files, each complete or absent.
pub(super) enum ReportFiles {
    Folder(PathBuf),
    Memory(Mutex<BTreeMap<String, Arc<[u8]>>>),
}

/// Bytes as text that JSON can hold.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct EscapedBytes(String);

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct ResponseHeader {
    pub(super) key: EscapedBytes,
    /// Name of the profile that sent the request; it is only shown.
    pub(super) profile: String,
    pub(super) file: Option<String>,
    /// Milliseconds since 1970.
    pub(super) received: i64,
    pub(super) length: u64,
    /// The file that it was imported from, and the user.
    pub(super) imported: Option<[EscapedBytes; 2]>,
    /// The identifiers of the reports that came with a list page.
    pub(super) reports: Vec<EscapedBytes>,
}

/// Identifier of the service at an address: a digest, so that it can name a folder.
pub fn service_id(address: &str) -> String {
    digest(&[address.as_bytes()])
}

/// Returns the first half of a SHA-256 in hexadecimal digits.
pub(super) fn digest(parts: &[&[u8]]) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    crate::text::hex(hash.finalize().get(..16).unwrap_or_default())
}

pub(super) fn place(service: &str, key: &[u8]) -> String {
    let folder = folder_of(service, Request::file_of_key(key).as_ref());
    // The first word of the key, reduced to characters that are safe in a file name.
    let word = key.split(|byte| *byte == b' ').next().unwrap_or_default().iter().map(|byte| char::from(*byte));
    let word: String = word.filter(|letter| letter.is_ascii_alphanumeric() || *letter == '-').collect();
    format!("{folder}/{word}-{}{ENDING}", digest(&[key]))
}

pub(super) fn folder_of(service: &str, file: Option<&FileHash>) -> String {
    format!("{REPORTS}/{service}/{}", file.map_or(OTHER, FileHash::as_str))
}

/// Returns the name of an unread file, which contains its place and the time of its receipt.
pub(super) fn unread(place: &str, received: Timestamp) -> String {
    let name = place.strip_prefix(REPORTS).unwrap_or(place).trim_matches('/').replace('/', "_");
    format!("{UNREAD}/{}_{}{ENDING}", name.trim_end_matches(ENDING), received.as_millisecond())
}

/// Returns the place and the time of an unread file of this name.
pub(super) fn place_of_unread(name: &str) -> Option<(String, Timestamp)> {
    let name = name.strip_prefix(UNREAD)?.trim_start_matches('/').strip_suffix(ENDING)?;
    let (place, when) = name.rsplit_once('_')?;
    Some((format!("{REPORTS}/{}{ENDING}", place.replace('_', "/")), moment(when.parse().ok()?)))
}

/// Converts a stored time; one out of range becomes the UNIX epoch or the maximum.
pub(super) fn moment(milliseconds: i64) -> Timestamp {
    let edge = if milliseconds > 0 { Timestamp::MAX } else { Timestamp::UNIX_EPOCH };
    Timestamp::from_millisecond(milliseconds).unwrap_or(edge)
}

impl ReportFiles {
    /// Returns a file's header and bytes; `None` if missing, or damaged and moved to the unread.
    pub(super) fn load(&self, name: &str) -> io::Result<Option<(ResponseHeader, Vec<u8>)>> {
        self.read(name, whole)
    }

    /// Returns the header of a file, without its bytes; otherwise like `load`.
    pub(super) fn header(&self, name: &str) -> io::Result<Option<ResponseHeader>> {
        Ok(self.read(name, |reader| header(reader).map(|(header, _)| (header, ())))?.map(|(header, ())| header))
    }

    /// Returns a file's first bytes, which no checksum has confirmed yet; otherwise like `load`.
    pub(super) fn first(&self, name: &str, most: usize) -> io::Result<Option<(ResponseHeader, Vec<u8>)>> {
        self.read(name, |reader| {
            let (header, reader) = header(reader)?;
            let mut bytes = Vec::with_capacity(most);
            let decoder = zstd::Decoder::with_buffer(reader)?;
            decoder.take(most as u64).read_to_end(&mut bytes)?;
            Ok((header, bytes))
        })
    }

    fn read<T>(
        &self,
        name: &str,
        read: impl FnOnce(Box<dyn BufRead>) -> io::Result<(ResponseHeader, T)>,
    ) -> io::Result<Option<(ResponseHeader, T)>> {
        let open = || -> io::Result<Box<dyn BufRead>> {
            Ok(match self {
                Self::Memory(files) => {
                    Box::new(Cursor::new(lock(files).get(name).cloned().ok_or(io::ErrorKind::NotFound)?))
                }
                Self::Folder(folder) if folder.join(name).is_symlink() => return Err(io::ErrorKind::InvalidData.into()),
                Self::Folder(folder) => Box::new(BufReader::new(files::open_ordinary(&folder.join(name))?.0)),
            })
        };
        // The file of another response, in the place of this one, counts as damaged.
        let is_own = |(header, _): &(ResponseHeader, T)| name.contains(&digest(&[&header.key.bytes()]));
        match open().and_then(read) {
            Ok(read) if is_own(&read) => Ok(Some(read)),
            Err(why) if why.kind() == io::ErrorKind::NotFound => Ok(None),
            // An error with an OS code is one of the disk, any other of the file's bytes or kind.
            Err(why) if why.raw_os_error().is_some() => Err(why),
            _ if name.starts_with(UNREAD) => Ok(None),
            _ => self.quarantine(name).map(|()| None),
        }
    }

    /// Moves a damaged file to the unread ones.
    fn quarantine(&self, name: &str) -> io::Result<()> {
        if let Self::Folder(folder) = self
            && let path = folder.join(name)
            && path.symlink_metadata().is_ok_and(|about| about.is_file())
        {
            present(files::set_mode(&path, 0o600))?;
        }
        self.rename(name, &unread(name, crate::clock::now()))
    }

    /// Writes a file, unless one exists and `replaces` is not set; returns whether it did.
    pub(super) fn write(&self, name: &str, header: &ResponseHeader, bytes: &[u8], replaces: bool) -> io::Result<bool> {
        let packed = [frame(&serde_json::to_vec(header)?)?, frame(bytes)?].concat();
        match self {
            Self::Memory(files) => {
                let mut files = lock(files);
                let is_free = replaces || !files.contains_key(name);
                if is_free {
                    files.insert(name.to_owned(), packed.into());
                }
                Ok(is_free)
            }
            Self::Folder(folder) => write(folder, name, &packed, replaces),
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
                let _lock = lock_folder(folder)?;
                let parent = Path::new(to).parent().unwrap_or(Path::new(""));
                files::make_folder_in(folder, parent)?;
                present(fs::rename(folder.join(from), folder.join(to)))?;
                sync(&folder.join(parent))
            }
        }
    }

    pub(super) fn remove(&self, name: &str) -> io::Result<()> {
        match self {
            Self::Memory(files) => drop(lock(files).remove(name)),
            Self::Folder(folder) => {
                let _lock = lock_folder(folder)?;
                let path = folder.join(name);
                let is_folder = path.is_dir() && !path.is_symlink();
                present(if is_folder { fs::remove_dir_all(&path) } else { fs::remove_file(&path) })?;
                // A folder that is not empty stays.
                let _ = path.parent().map(fs::remove_dir);
            }
        }
        Ok(())
    }

    /// Size of a file in bytes; `None` if it does not exist.
    pub(super) fn size(&self, name: &str) -> Option<u64> {
        match self {
            Self::Memory(files) => lock(files).get(name).map(|bytes| bytes.len() as u64),
            Self::Folder(folder) => fs::metadata(folder.join(name)).ok().map(|about| about.len()),
        }
    }

    /// Returns a number that differs once the file has other bytes; `None` if it does not exist.
    pub(super) fn stamp(&self, name: &str) -> Option<i64> {
        match self {
            Self::Memory(files) => lock(files).get(name).map(|bytes| bytes.as_ptr() as i64 ^ bytes.len() as i64),
            Self::Folder(folder) => {
                let about = fs::metadata(folder.join(name)).ok()?;
                let written = Timestamp::try_from(about.modified().ok()?).ok()?.as_nanosecond();
                Some(written as i64 ^ about.len() as i64)
            }
        }
    }

    /// Returns the files in a folder and below it. Removes what killed programs left there.
    pub(super) fn names(&self, folder: &str) -> io::Result<Vec<String>> {
        let within = format!("{folder}/");
        let mut found = Vec::new();
        match self {
            Self::Memory(files) => found.extend(lock(files).keys().filter(|name| name.starts_with(&within)).cloned()),
            Self::Folder(root) => {
                let mut left = Vec::new();
                gather(root, folder, &mut found, &mut left)?;
                let age = |path: &PathBuf| fs::metadata(path).ok()?.modified().ok()?.elapsed().ok();
                // No program writes a file for an hour.
                left.retain(|path| age(path).is_some_and(|age| age.as_secs() >= 3600));
                left.iter().for_each(|path| drop(fs::remove_file(path)));
            }
        }
        Ok(found)
    }
}

impl EscapedBytes {
    pub(super) fn bytes(&self) -> Vec<u8> {
        percent_decode_str(&self.0).collect()
    }
}

impl From<&[u8]> for EscapedBytes {
    fn from(bytes: &[u8]) -> Self {
        Self(percent_encode(bytes, UNSAFE).to_string())
    }
}

impl ResponseHeader {
    pub(super) fn file(&self) -> Option<FileHash> {
        FileHash::parse(self.file.as_deref()?)
    }

    pub(super) fn imported(&self) -> Option<ImportOrigin> {
        let [from, by] = self.imported.as_ref()?;
        Some(ImportOrigin { from: Untrusted::from(from.bytes()), by: Untrusted::from(by.bytes()) })
    }
}

fn frame(bytes: &[u8]) -> io::Result<Vec<u8>> {
    let mut encoder = zstd::Encoder::new(Vec::new(), LEVEL)?;
    encoder.include_checksum(true)?;
    encoder.write_all(bytes)?;
    encoder.finish()
}

/// Reads the header of a response; the returned reader is at the start of the second frame.
fn header<R: BufRead>(reader: R) -> io::Result<(ResponseHeader, R)> {
    let (json, reader) = unpack(reader, 0)?;
    Ok((serde_json::from_slice(&json)?, reader))
}

fn whole(reader: impl BufRead) -> io::Result<(ResponseHeader, Vec<u8>)> {
    let (header, reader) = header(reader)?;
    let (bytes, mut rest) = unpack(reader, usize::try_from(header.length).unwrap_or(0))?;
    if bytes.len() as u64 != header.length || !rest.fill_buf()?.is_empty() {
        return Err(io::ErrorKind::InvalidData.into());
    }
    Ok((header, bytes))
}

fn unpack<R: BufRead>(reader: R, length: usize) -> io::Result<(Vec<u8>, R)> {
    let mut decoder = zstd::Decoder::with_buffer(reader)?.single_frame();
    // A damaged file may state any length, so the allocation is limited.
    let mut bytes = Vec::with_capacity(length.min(1 << 28));
    decoder.read_to_end(&mut bytes)?;
    Ok((bytes, decoder.finish()))
}

/// Writes a temporary file, syncs it to disk, and renames it to its place.
fn write(folder: &Path, name: &str, bytes: &[u8], replaces: bool) -> io::Result<bool> {
    let _lock = lock_folder(folder)?;
    let below = Path::new(name).parent().unwrap_or(Path::new(""));
    files::make_folder_in(folder, below)?;
    let path = folder.join(name);
    let parent = &folder.join(below);
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

/// Locks the store's files against other programs: a deletion removes empty folders too.
pub(super) fn lock_folder(folder: &Path) -> io::Result<fs::File> {
    let lock = files::append(&folder.join("records.lock"))?;
    // If locks are unsupported, no other program has one either.
    let _ = lock.lock();
    Ok(lock)
}

/// Returns the temporary files of the store, and its damaged records.
pub(super) fn leftovers(root: &Path) -> io::Result<Vec<PathBuf>> {
    let mut left = Vec::new();
    gather(root, ".", &mut Vec::new(), &mut left).map(|()| left)
}

fn gather(root: &Path, folder: &str, found: &mut Vec<String>, left: &mut Vec<PathBuf>) -> io::Result<()> {
    let entries = match fs::read_dir(root.join(folder)) {
        Err(why) if why.kind() == io::ErrorKind::NotFound => return Ok(()),
        entries => entries?,
    };
    for entry in entries {
        let entry = entry?;
        let Ok(name) = entry.file_name().into_string() else { continue };
        let is_left = name.starts_with(".tmp") || name.starts_with("records.damaged-");
        let name = format!("{folder}/{name}");
        // A temporary file has another extension; this is in a response's place, whatever it is.
        if name.ends_with(ENDING) {
            found.push(name);
        } else if entry.file_type()?.is_dir() {
            gather(root, &name, found, left)?;
        } else if is_left {
            left.push(entry.path());
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

pub(super) fn sync(folder: &Path) -> io::Result<()> {
    #[cfg(unix)]
    fs::File::open(folder)?.sync_all()?;
    let _ = folder;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flipped_bit_is_an_error_and_never_other_bytes() {
        let key: &[u8] = b"behaviour a%20\xff\x1b";
        let header = ResponseHeader {
            key: key.into(),
            profile: "p".to_owned(),
            file: None,
            received: 5,
            length: 11,
            imported: None,
            reports: Vec::new(),
        };
        let packed = [frame(&serde_json::to_vec(&header).unwrap()).unwrap(), frame(b"hello world").unwrap()].concat();
        let (found, bytes) = whole(packed.as_slice()).unwrap();
        assert_eq!((found.key.bytes().as_slice(), bytes.as_slice()), (key, &b"hello world"[..]));
        for (at, bit) in (0..packed.len()).flat_map(|at| (0..8).map(move |bit| (at, bit))) {
            let mut changed = packed.clone();
            changed[at] ^= 1 << bit;
            if let Ok((found, bytes)) = whole(changed.as_slice()) {
                assert!(found.key == header.key && found.received == 5 && bytes == b"hello world", "{at}.{bit}");
            }
        }
        for end in 0..packed.len() {
            assert!(whole(&packed[..end]).is_err(), "{end}");
        }
    }
}
