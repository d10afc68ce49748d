//! How an answer is packed for its way: unpacked as it comes, or named where this program cannot.

use super::error::{ServiceError, Unusable};
use crate::text::Untrusted;
use flate2::write::MultiGzDecoder;
use reqwest::Response;
use reqwest::header::CONTENT_ENCODING;
use std::borrow::Cow;
use std::io::Write;

/// Packed bytes that are unpacked at once: they may become a thousand times as many.
const AT_ONCE: usize = 8 * 1024;

/// The first byte of gzip.
const FIRST: u8 = 0x1f;

/// How the bytes of an answer are packed, and what of them is open.
pub(super) enum Packing {
    None,
    Gzip(Box<MultiGzDecoder<Vec<u8>>>),
    /// They are of an error, whose label is not to be trusted: the first byte tells.
    Untold,
}

impl Packing {
    fn gzip() -> Self {
        Self::Gzip(Box::new(MultiGzDecoder::new(Vec::new())))
    }

    /// How an answer says that it is packed.
    pub(super) fn of(response: &Response) -> Result<Self, ServiceError> {
        if !response.status().is_success() {
            return Ok(Self::Untold);
        }
        match ways(response).as_slice() {
            [] => Ok(Self::None),
            [one] if [&b"gzip"[..], b"x-gzip"].iter().any(|known| one.eq_ignore_ascii_case(known)) => Ok(Self::gzip()),
            _ => Err(Self::named(response)),
        }
    }

    /// Whether an answer is packed in any way.
    pub(super) fn is_of(response: &Response) -> bool {
        !ways(response).is_empty()
    }

    /// An answer that is of no use as it is packed.
    pub(super) fn named(response: &Response) -> ServiceError {
        ServiceError::Unusable(Unusable::Packed(Untrusted::from(ways(response).join(&b", "[..]))))
    }

    /// How long what comes says that the whole is; nobody says how long it is once it is unpacked.
    pub(super) fn length_of(response: &Response) -> Option<u64> {
        response.content_length().filter(|_| !response.headers().contains_key(CONTENT_ENCODING))
    }

    /// How many bytes are taken at once.
    pub(super) fn at_once(&self) -> usize {
        match self {
            Self::None => usize::MAX,
            Self::Gzip(_) | Self::Untold => AT_ONCE,
        }
    }

    pub(super) fn take<'a>(&mut self, piece: &'a [u8]) -> Result<Cow<'a, [u8]>, ServiceError> {
        if let (Self::Untold, Some(first)) = (&self, piece.first()) {
            *self = if *first == FIRST { Self::gzip() } else { Self::None };
        }
        match self {
            Self::None | Self::Untold => Ok(Cow::Borrowed(piece)),
            Self::Gzip(gzip) => match gzip.write_all(piece).and_then(|()| gzip.flush()) {
                Ok(()) => Ok(Cow::Owned(std::mem::take(gzip.get_mut()))),
                Err(_) => Err(damaged()),
            },
        }
    }

    /// The rest, after the last piece.
    pub(super) fn end(self) -> Result<Vec<u8>, ServiceError> {
        match self {
            Self::Gzip(gzip) => gzip.finish().map_err(|_| damaged()),
            Self::None | Self::Untold => Ok(Vec::new()),
        }
    }
}

/// The ways in which an answer says that it is packed, one over the other.
fn ways(response: &Response) -> Vec<&[u8]> {
    let said = response.headers().get_all(CONTENT_ENCODING).iter();
    let words = said.flat_map(|value| value.as_bytes().split(|byte| *byte == b',').map(<[u8]>::trim_ascii));
    words.filter(|word| !word.is_empty() && !word.eq_ignore_ascii_case(b"identity")).collect()
}

fn damaged() -> ServiceError {
    ServiceError::Lost("it was packed, and is damaged or was cut short".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::Compression;
    use flate2::write::GzEncoder;

    fn packed(text: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

    fn unpacked(bytes: &[u8], step: usize) -> Result<Vec<u8>, ServiceError> {
        let (mut packing, mut all) = (Packing::gzip(), Vec::new());
        for piece in bytes.chunks(step) {
            all.extend_from_slice(&packing.take(piece)?);
        }
        all.extend(packing.end()?);
        Ok(all)
    }

    #[test]
    fn every_part_is_unpacked_however_it_comes() {
        let (one, two) = (packed(b"one, "), packed(&b"two ".repeat(30_000)));
        let whole = [&b"one, "[..], &b"two ".repeat(30_000)].concat();
        for step in [1, 7, 10, 1_000_000] {
            assert!(unpacked(&[&one[..], &two].concat(), step).unwrap() == whole, "{step}");
            for cut in [1, 9, two.len() - 1] {
                assert!(unpacked(&[&one[..], &two[..two.len() - cut]].concat(), step).is_err(), "{step}: {cut}");
            }
            assert!(unpacked(b"no such thing", step).is_err());
        }
    }
}
