//! Decodes the `Content-Encoding` of a response as it arrives. reqwest itself would drop all but
//! the first member of a gzip stream.

use super::error::ServiceError;
use flate2::write::MultiGzDecoder;
use reqwest::Response;
use reqwest::header::CONTENT_ENCODING;
use std::borrow::Cow;
use std::io::Write;

/// Compressed bytes decoded per step; they may expand a thousandfold.
const AT_ONCE: usize = 8 * 1024;

/// The names of gzip.
const GZIP: [&[u8]; 2] = [b"gzip", b"x-gzip"];

/// The first byte of gzip.
const FIRST: u8 = 0x1f;

/// Decodes the bytes of an answer.
pub(super) enum ContentDecoder {
    None,
    Gzip(Box<MultiGzDecoder<Vec<u8>>>),
    /// The label is not trusted: the first byte decides.
    Unlabelled,
}

impl ContentDecoder {
    fn gzip() -> Self {
        Self::Gzip(Box::new(MultiGzDecoder::new(Vec::new())))
    }

    /// The decoder for the headers of a response: a proxy may have unpacked it and left the label.
    /// Other encodings were not asked for, and are passed on as they are.
    pub(super) fn of(response: &Response) -> Self {
        let is_gzip = |one: &&[u8]| GZIP.iter().any(|known| one.eq_ignore_ascii_case(known));
        match encodings(response).as_slice() {
            [] if response.status().is_success() => Self::None,
            [] => Self::Unlabelled,
            all if all.iter().all(is_gzip) => Self::Unlabelled,
            _ => Self::None,
        }
    }

    /// The length of an answer, unless it is encoded: `Content-Length` counts encoded bytes.
    pub(super) fn length_of(response: &Response) -> Option<u64> {
        response.content_length().filter(|_| !response.headers().contains_key(CONTENT_ENCODING))
    }

    /// The number of bytes to pass in one step.
    pub(super) fn at_once(&self) -> usize {
        match self {
            Self::None => usize::MAX,
            Self::Gzip(_) | Self::Unlabelled => AT_ONCE,
        }
    }

    pub(super) fn take<'a>(&mut self, piece: &'a [u8]) -> Result<Cow<'a, [u8]>, ServiceError> {
        if let (Self::Unlabelled, Some(first)) = (&self, piece.first()) {
            *self = if *first == FIRST { Self::gzip() } else { Self::None };
        }
        match self {
            Self::None | Self::Unlabelled => Ok(Cow::Borrowed(piece)),
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
            Self::None | Self::Unlabelled => Ok(Vec::new()),
        }
    }
}

/// The encodings of an answer, in the order in which they were applied.
fn encodings(response: &Response) -> Vec<&[u8]> {
    let values = response.headers().get_all(CONTENT_ENCODING).iter();
    let words = values.flat_map(|value| value.as_bytes().split(|byte| *byte == b',').map(<[u8]>::trim_ascii));
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

    fn decoded(bytes: &[u8], step: usize) -> Result<Vec<u8>, ServiceError> {
        let (mut decoder, mut all) = (ContentDecoder::gzip(), Vec::new());
        for piece in bytes.chunks(step) {
            all.extend_from_slice(&decoder.take(piece)?);
        }
        all.extend(decoder.end()?);
        Ok(all)
    }

    #[test]
    fn every_gzip_member_is_decoded_however_it_comes() {
        let (one, two) = (packed(b"one, "), packed(&b"two ".repeat(30_000)));
        let whole = [&b"one, "[..], &b"two ".repeat(30_000)].concat();
        for step in [1, 7, 10, 1_000_000] {
            assert!(decoded(&[&one[..], &two].concat(), step).unwrap() == whole, "{step}");
            for cut in [1, 9, two.len() - 1] {
                assert!(decoded(&[&one[..], &two[..two.len() - cut]].concat(), step).is_err(), "{step}: {cut}");
            }
            assert!(decoded(b"no such thing", step).is_err());
        }
    }
}
