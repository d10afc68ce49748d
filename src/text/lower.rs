//! Capitals of ASCII made small, eight bytes at a time: for who compares many texts, and shows none.

/// A bit or a byte for each byte of a word.
const ONES: u64 = 0x0101_0101_0101_0101;
const HIGH: u64 = 0x80 * ONES;

/// Bytes of a word.
pub(super) const WORD: usize = size_of::<u64>();

/// The first eight bytes; zeros for those that are not there.
#[inline(always)]
pub(super) fn first(bytes: &[u8]) -> u64 {
    u64::from_le_bytes(bytes.first_chunk().copied().unwrap_or_else(|| {
        let mut padded = [0; WORD];
        padded.iter_mut().zip(bytes).for_each(|(place, byte)| *place = *byte);
        padded
    }))
}

/// Appends bytes with the capitals of ASCII made small.
pub(crate) fn push_lower(text: &[u8], to: &mut Vec<u8>) {
    let start = to.len();
    to.extend_from_slice(text);
    let (words, rest) = to.get_mut(start..).unwrap_or_default().as_chunks_mut();
    for bytes in words {
        *bytes = word(u64::from_le_bytes(*bytes)).to_le_bytes();
    }
    rest.make_ascii_lowercase();
}

/// The same for eight bytes.
#[inline(always)]
pub(super) fn word(word: u64) -> u64 {
    let low = word & !HIGH;
    // A carry into the high bit says that a byte is not below the letter.
    let (from_a, past_z) = (low + u64::from(0x80 - b'A') * ONES, low + u64::from(0x7f - b'Z') * ONES);
    word | ((from_a ^ past_z) & !word & HIGH) >> 2
}

/// How many bytes stand before the first backslash of eight.
#[inline(always)]
pub(super) fn before_backslash(word: u64) -> usize {
    let other = word ^ (u64::from(b'\\') * ONES);
    (other.wrapping_sub(ONES) & !other & HIGH).trailing_zeros() as usize / 8
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn words_are_made_small_as_their_bytes_are(bytes: [u8; 8], letters in "[@-\\[`-{\\\\]{8}") {
            for bytes in [bytes, letters.as_bytes().try_into().unwrap()] {
                let made = word(u64::from_le_bytes(bytes)).to_le_bytes();
                prop_assert_eq!(made, bytes.map(|byte| byte.to_ascii_lowercase()));
                let before = bytes.iter().position(|byte| *byte == b'\\').unwrap_or(8);
                prop_assert_eq!(before_backslash(u64::from_le_bytes(bytes)), before);
            }
        }
    }
}
