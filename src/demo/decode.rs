//! Percent-encoding as addresses and forms use it.

/// The pairs of a query string or form body, decoded, in the order sent.
pub(super) fn pairs(encoded: &str) -> Vec<(String, String)> {
    encoded.split('&').filter(|pair| !pair.is_empty()).map(pair).collect()
}

fn pair(encoded: &str) -> (String, String) {
    let (name, value) = encoded.split_once('=').unwrap_or((encoded, ""));
    let decode = |part: &str| percent(&part.replace('+', " "));
    (decode(name), decode(value))
}

/// Decodes `%41` to `A`; what is not an escape stays as it is, and what is not UTF-8 is replaced.
pub(super) fn percent(encoded: &str) -> String {
    let mut decoded = Vec::with_capacity(encoded.len());
    let mut rest = encoded.as_bytes();
    while let Some((&first, tail)) = rest.split_first() {
        let (byte, tail) = escape(first, tail).unwrap_or((first, tail));
        decoded.push(byte);
        rest = tail;
    }
    String::from_utf8_lossy(&decoded).into_owned()
}

fn escape(first: u8, tail: &[u8]) -> Option<(u8, &[u8])> {
    let (digits, tail) = tail.split_at_checked(2).filter(|_| first == b'%')?;
    let digits = std::str::from_utf8(digits).ok().filter(|text| !text.starts_with('+'))?;
    Some((u8::from_str_radix(digits, 16).ok()?, tail))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_are_decoded_and_nothing_else_is() {
        assert_eq!(percent("a%20b%2Fc%"), "a b/c%");
        assert_eq!(percent("%zz%+1%e2%82%ac%41"), "%zz%+1€A");
        assert_eq!(percent("%ff"), "\u{fffd}");
    }

    #[test]
    fn a_form_keeps_order_repeats_and_empty_values() {
        let expected = [("a", "1 2"), ("a", "&"), ("b", "")].map(|(name, value)| (name.to_owned(), value.to_owned()));
        assert_eq!(pairs("a=1+2&a=%26&b"), expected);
    }
}
