//! File format of a response: a zstd frame with its header, and one with its bytes, each with a
//! checksum.

use crate::report::Imported;
use crate::report::identifier::Sha256;
use crate::text::Untrusted;
use jiff::Timestamp;
use percent_encoding::{AsciiSet, CONTROLS, percent_decode_str, percent_encode};
use serde::{Deserialize, Serialize};
use std::io::{self, BufRead, Read, Write};

/// The zstd level; it compresses about 300 MB/s.
const LEVEL: i32 = 3;

/// Characters to escape; `%` itself must be distinguishable from an escape.
const UNSAFE: &AsciiSet = &CONTROLS.add(b'%');

/// Bytes as text that JSON can hold.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Escaped(String);

impl Escaped {
    pub(super) fn bytes(&self) -> Vec<u8> {
        percent_decode_str(&self.0).collect()
    }
}

impl From<&[u8]> for Escaped {
    fn from(bytes: &[u8]) -> Self {
        Self(percent_encode(bytes, UNSAFE).to_string())
    }
}

/// Metadata of a response.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Header {
    /// The key under which the response is stored.
    pub(super) key: Escaped,
    /// Name of the profile that asked; it is only shown.
    pub(super) profile: String,
    pub(super) file: Option<String>,
    /// Milliseconds since 1970.
    pub(super) received: i64,
    /// Number of bytes, uncompressed.
    pub(super) length: u64,
    /// From which file it was imported, and by whom.
    pub(super) imported: Option<[Escaped; 2]>,
    /// The reports that were taken out of a list page, with the offset where each belongs.
    pub(super) parts: Vec<(u64, Escaped)>,
}

impl Header {
    pub(super) fn file(&self) -> Option<Sha256> {
        Sha256::parse(self.file.as_deref()?)
    }

    pub(super) fn received(&self) -> Timestamp {
        moment(self.received)
    }

    pub(super) fn imported(&self) -> Option<Imported> {
        let [from, by] = self.imported.as_ref()?;
        Some(Imported { from: Untrusted::from(from.bytes()), by: Untrusted::from(by.bytes()) })
    }

    /// Encodes a file with this header and these bytes.
    pub(super) fn pack(&self, bytes: &[u8]) -> io::Result<Vec<u8>> {
        let mut packed = frame(&serde_json::to_vec(self)?)?;
        packed.append(&mut frame(bytes)?);
        Ok(packed)
    }
}

fn frame(bytes: &[u8]) -> io::Result<Vec<u8>> {
    let mut encoder = zstd::stream::write::Encoder::new(Vec::new(), LEVEL)?;
    encoder.include_checksum(true)?;
    encoder.write_all(bytes)?;
    encoder.finish()
}

/// Reads the header of a response; the returned reader is at the start of the second frame.
pub(super) fn header<R: BufRead>(reader: R) -> io::Result<(Header, R)> {
    let (json, reader) = unpack(reader, 0)?;
    Ok((serde_json::from_slice(&json)?, reader))
}

/// Reads a whole file.
pub(super) fn whole(reader: impl BufRead) -> io::Result<(Header, Vec<u8>)> {
    let (header, reader) = header(reader)?;
    let (bytes, mut rest) = unpack(reader, usize::try_from(header.length).unwrap_or(0))?;
    if bytes.len() as u64 != header.length || !rest.fill_buf()?.is_empty() {
        return Err(io::ErrorKind::InvalidData.into());
    }
    Ok((header, bytes))
}

fn unpack<R: BufRead>(reader: R, length: usize) -> io::Result<(Vec<u8>, R)> {
    let mut decoder = zstd::stream::read::Decoder::with_buffer(reader)?.single_frame();
    // A damaged file may state any length, so the allocation is limited.
    let mut bytes = Vec::with_capacity(length.min(1 << 28));
    decoder.read_to_end(&mut bytes)?;
    Ok((bytes, decoder.finish()))
}

/// Converts a stored time; one out of range becomes the UNIX epoch or the maximum.
pub(super) fn moment(milliseconds: i64) -> Timestamp {
    let edge = if milliseconds > 0 { Timestamp::MAX } else { Timestamp::UNIX_EPOCH };
    Timestamp::from_millisecond(milliseconds).unwrap_or(edge)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flipped_bit_is_an_error_and_never_other_bytes() {
        let key: &[u8] = b"behaviour a%20\xff\x1b";
        let header = Header {
            key: key.into(),
            profile: "p".to_owned(),
            file: None,
            received: 5,
            length: 11,
            imported: None,
            parts: Vec::new(),
        };
        let packed = header.pack(b"hello world").unwrap();
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
