//! Room for bytes that are written over next.

/// What is given at a time.
static ZEROS: [u8; 4096] = [0; 4096];

/// Makes a buffer this long; what is added is zeros.
///
/// `Vec::resize` adds them byte by byte where a program is built small, which for a large buffer takes longer than filling it.
pub(crate) fn set_length(buffer: &mut Vec<u8>, length: usize) {
    buffer.truncate(length);
    if buffer.is_empty() && buffer.capacity() < length {
        // The system has them at hand.
        *buffer = vec![0; length];
    }
    while let missing @ 1.. = length - buffer.len() {
        buffer.extend_from_slice(ZEROS.get(..missing).unwrap_or(&ZEROS));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_there_stays_and_zeros_follow() {
        for (before, length) in [(0, 0), (0, 5), (3, 3), (3, 2), (3, 5000), (3, 9000), (5000, 1), (0, 100_000)] {
            let mut buffer = vec![7; before];
            set_length(&mut buffer, length);
            let mut expected = vec![7; before];
            expected.resize(length, 0);
            assert_eq!(buffer, expected);
        }
    }
}
