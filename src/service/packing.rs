//! How an answer is packed for its way: unpacked as it comes, or named where this program cannot.

use super::error::{ServiceError, Unusable};
use crate::text::Untrusted;
use flate2::write::GzDecoder;
use reqwest::Response;
use reqwest::header::CONTENT_ENCODING;
use std::borrow::Cow;
use std::io::{self, Write};

/// Packed bytes that are unpacked at once: they may become a thousand times as many.
const AT_ONCE: usize = 8 * 1024;

/// What each part of what is packed so begins with.
const FIRST: u8 = 0x1f;

/// How the bytes of an answer are packed, and what of them is open.
pub(super) enum Packing {
    None,
    /// They are one part after another, each packed by itself.
    Gzip(Gzip),
    /// They are of an error, whose label is not to be trusted: the first byte tells.
    Untold,
}

/// What has come of an answer that is packed in parts.
#[derive(Default)]
pub(super) struct Gzip {
    part: Option<Box<GzDecoder<Vec<u8>>>>,
    parts: usize,
}

impl Packing {
    /// How an answer says that it is packed.
    pub(super) fn of(response: &Response) -> Result<Self, ServiceError> {
        if !response.status().is_success() {
            return Ok(Self::Untold);
        }
        match ways(response).as_slice() {
            [] => Ok(Self::None),
            [one] if [&b"gzip"[..], b"x-gzip"].iter().any(|known| one.eq_ignore_ascii_case(known)) => {
                Ok(Self::Gzip(Gzip::default()))
            }
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
            *self = if *first == FIRST { Self::Gzip(Gzip::default()) } else { Self::None };
        }
        match self {
            Self::None | Self::Untold => Ok(Cow::Borrowed(piece)),
            Self::Gzip(gzip) => gzip.take(piece).map(Cow::Owned).map_err(|_| damaged()),
        }
    }

    /// The rest, after the last piece.
    pub(super) fn end(self) -> Result<Vec<u8>, ServiceError> {
        match self {
            Self::Gzip(Gzip { part: Some(part), .. }) => part.finish().map_err(|_| damaged()),
            Self::None | Self::Gzip(_) | Self::Untold => Ok(Vec::new()),
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

impl Gzip {
    fn take(&mut self, mut rest: &[u8]) -> io::Result<Vec<u8>> {
        let mut unpacked = Vec::new();
        while let Some(first) = rest.first() {
            // What fills up the room behind the last part is none.
            if self.part.is_none() && self.parts > 0 && *first != FIRST {
                break;
            }
            let part = self.part.get_or_insert_with(|| {
                self.parts += 1;
                Box::new(GzDecoder::new(Vec::new()))
            });
            match part.write(rest)? {
                // The part is over.
                0 => unpacked.extend(self.part.take().map_or(Ok(Vec::new()), |part| part.finish())?),
                taken => rest = rest.get(taken..).unwrap_or_default(),
            }
        }
        if let Some(part) = &mut self.part {
            part.flush()?;
            unpacked.append(part.get_mut());
        }
        Ok(unpacked)
    }
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
        let (mut packing, mut all) = (Packing::Gzip(Gzip::default()), Vec::new());
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
            assert!(unpacked(&[&one[..], &two, &[0; 300]].concat(), step).unwrap() == whole, "{step}: filled up");
            for cut in [1, 9, two.len() - 1] {
                assert!(unpacked(&[&one[..], &two[..two.len() - cut]].concat(), step).is_err(), "{step}: {cut}");
            }
            assert!(unpacked(b"no such thing", step).is_err());
        }
        assert_eq!(unpacked(b"", 1).unwrap(), b"");
    }
}
