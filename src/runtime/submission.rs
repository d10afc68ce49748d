//! What a file is that is to be submitted: its hash and its size, read in bounded memory.

use crate::report::identifier::Sha256;
use sha2::{Digest, Sha256 as Hash};
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// Bytes that are read at once.
const PIECE: usize = 256 * 1024;

/// The hash and the size in bytes of an ordinary file.
///
/// # Errors
/// When it cannot be read, is no ordinary file, or is empty; and where the program ends meanwhile.
pub fn look_at(path: &Path, is_stopped: &dyn Fn() -> bool) -> io::Result<(Sha256, u64)> {
    // Before it is opened: a pipe would wait for its other end.
    if !std::fs::metadata(path)?.is_file() {
        return Err(io::Error::other("it is no ordinary file"));
    }
    let (mut file, mut hash, mut size) = (File::open(path)?, Hash::new(), 0_u64);
    let mut piece = vec![0; PIECE];
    loop {
        let read = file.read(&mut piece)?;
        if read == 0 {
            break;
        }
        if is_stopped() {
            return Err(io::Error::from(io::ErrorKind::Interrupted));
        }
        hash.update(piece.get(..read).unwrap_or_default());
        size += read as u64;
    }
    if size == 0 {
        return Err(io::Error::other("it is empty"));
    }
    let digits: String = hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
    Sha256::parse(&digits).map(|file| (file, size)).ok_or_else(|| io::Error::other("it has no hash"))
}
