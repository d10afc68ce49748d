//! A sandbox identifier, shown by its parts without trusting its shape (specification §2.1).

use crate::text::Untrusted;
use std::collections::HashSet;

/// Maximum of invalid lines that an error names; the others are counted.
const MAX_NAMED: usize = 5;

/// A sandbox report's identifier: `<file_sha256>_<sandbox_name>-<integer_timestamp>`, or any text.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Identifier(Untrusted);

/// The parts of an identifier, as far as it has the documented shape.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct IdentifierParts {
    /// SHA-256 of the file, in lower case.
    pub file: Option<Sha256>,
    /// Name of the sandbox; the whole identifier if it has another shape.
    pub sandbox: Untrusted,
    /// When it ran, in seconds since 1970; `None` if its number is not a time.
    pub when: Option<i64>,
}

/// Returns whether seconds since 1970 can be the time of a run: from 2001 until 2100.
pub(crate) fn is_moment(seconds: i64) -> bool {
    (1_000_000_000..4_102_444_800).contains(&seconds)
}

impl Identifier {
    /// Accepts any segment of a path; `None` for "", `.` and `..`, which name other operations.
    pub fn new(text: Untrusted) -> Option<Self> {
        (!matches!(text.as_bytes(), b"" | b"." | b"..")).then_some(Self(text))
    }

    pub fn text(&self) -> &Untrusted {
        &self.0
    }

    pub fn as_bytes(&self) -> &[u8] {
        self.0.as_bytes()
    }

    /// Returns whether it has the documented shape (specification §2.1).
    pub fn has_documented_format(&self) -> bool {
        let (file, rest) = split_file(self.0.as_bytes());
        file.is_some() && split_number(rest).is_some()
    }

    /// Splits the identifier from both ends; the middle is the sandbox.
    pub fn parts(&self) -> IdentifierParts {
        let (file, rest) = split_file(self.0.as_bytes());
        let (sandbox, number) = split_number(rest).unzip();
        let when = number.filter(|seconds| is_moment(*seconds));
        IdentifierParts { file, sandbox: Untrusted::from(sandbox.unwrap_or(rest)), when }
    }

    /// Maximum length of a typed one, in bytes: percent-encoded, it still fits in an address.
    pub const LONGEST: usize = 16 * 1024;

    /// Parses user input, whose hash may be in upper case; `None` if too long for an address.
    pub fn from_input(text: &str) -> Option<Self> {
        let split = text.split_at_checked(Sha256::LENGTH).and_then(|(hash, rest)| Some((Sha256::parse(hash)?, rest)));
        let text = split.map_or_else(|| text.to_owned(), |(hash, rest)| format!("{hash}{rest}"));
        Some(text).filter(|text| text.len() <= Self::LONGEST).map(Untrusted::from).and_then(Self::new)
    }
}

fn split_file(bytes: &[u8]) -> (Option<Sha256>, &[u8]) {
    let found = bytes.split_at_checked(Sha256::LENGTH).and_then(|(hash, rest)| {
        let hash = Sha256::parse(std::str::from_utf8(hash).ok()?)?;
        Some((hash, rest.strip_prefix(b"_")?))
    });
    found.map_or((None, bytes), |(hash, rest)| (Some(hash), rest))
}

fn split_number(bytes: &[u8]) -> Option<(&[u8], i64)> {
    let (name, digits) = bytes.split_at_checked(bytes.iter().rposition(|byte| *byte == b'-')?)?;
    let digits = digits.get(1..).filter(|digits| digits.iter().all(u8::is_ascii_digit))?;
    Some((name, std::str::from_utf8(digits).ok()?.parse().ok()?))
}

fn hash(text: &str, lengths: &[usize]) -> Option<String> {
    let text = text.trim();
    let fits = lengths.contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    fits.then(|| text.to_ascii_lowercase())
}

/// A file's SHA-256, in lower case: the only hash that private endpoints take.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Sha256(String);

impl Sha256 {
    /// Hexadecimal digits of a SHA-256.
    pub const LENGTH: usize = 64;

    /// Parses a hash as typed by a user: without blanks around it, in lower case.
    pub fn parse(text: &str) -> Option<Self> {
        hash(text, &[Self::LENGTH]).map(Self)
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// First and last digits, for narrow places.
    pub fn short(&self) -> String {
        format!("{}…{}", self.0.get(..8).unwrap_or_default(), self.0.get(60..).unwrap_or_default())
    }
}

impl std::fmt::Display for Sha256 {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// An API key has the same form, and must not be in a panic's message.
impl std::fmt::Debug for Sha256 {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.short())
    }
}

/// A file's MD5, SHA-1 or SHA-256, in lower case, as the public operations take it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FileHash(String);

impl FileHash {
    /// Parses a hash as typed by a user: without blanks around it, in lower case.
    pub fn parse(text: &str) -> Option<Self> {
        hash(text, &[32, 40, 64]).map(Self)
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The number of hashes in a list, such as a file.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Hashes {
    /// All of them: each is charged, repeated or not (§8.2).
    pub count: u64,
    /// Those that repeat an earlier one.
    pub repeated: u64,
}

impl Hashes {
    /// Counts hashes separated by line ends, blanks or commas.
    pub fn of(list: &[u8]) -> Result<Self, String> {
        let list = list.strip_prefix(b"\xef\xbb\xbf").unwrap_or(list);
        let mut found = Self::default();
        let mut seen = HashSet::new();
        let mut wrong = Vec::new();
        for (number, line) in (1..).zip(list.split(|byte| *byte == b'\n')) {
            let words = line.split(|byte| byte.is_ascii_whitespace() || *byte == b',');
            for word in words.filter(|word| !word.is_empty()) {
                let Some(hash) = str::from_utf8(word).ok().and_then(FileHash::parse) else {
                    wrong.push(format!("line {number} ({})", Untrusted::from(word).visible_cut(40)));
                    continue;
                };
                found.count += 1;
                found.repeated += u64::from(!seen.insert(hash));
            }
        }
        if wrong.is_empty() {
            return Ok(found);
        }
        let more = wrong.split_off(wrong.len().min(MAX_NAMED)).len();
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        Err(format!("no MD5, SHA-1 or SHA-256: {}{more}", wrong.join(", ")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HASH: &str = "30d1125d95914b55119a55b4105027b592065853e95eb7d5adb5e6b523548891";

    fn parts(text: &str) -> IdentifierParts {
        Identifier::new(Untrusted::from(text)).unwrap().parts()
    }

    #[test]
    fn what_would_name_another_operation_is_no_identifier() {
        for text in ["", ".", ".."] {
            assert_eq!(Identifier::new(Untrusted::from(text)), None);
        }
    }

    #[test]
    fn the_documented_shape_is_taken_apart() {
        let parts = parts(&format!("{HASH}_VirusTotal Jujubox-1794474845"));
        assert_eq!(parts.file.unwrap().as_str(), HASH);
        assert_eq!(parts.sandbox, Untrusted::from("VirusTotal Jujubox"));
        assert_eq!(parts.when, Some(1_794_474_845));
    }

    #[test]
    fn other_shapes_keep_all_their_text() {
        for (text, sandbox, when) in [
            ("odd", "odd", None),
            ("a-b_c", "a-b_c", None),
            ("C2AE-99999999999999999999", "C2AE-99999999999999999999", None),
            ("sand-box-7", "sand-box", None),
            ("sand-box-999999999", "sand-box", None),
            ("sand-box-1000000000", "sand-box", Some(1_000_000_000)),
            ("sand-box-1794474845000", "sand-box", None),
            ("x-", "x-", None),
        ] {
            let parts = parts(text);
            assert_eq!((parts.file, parts.sandbox, parts.when), (None, Untrusted::from(sandbox), when), "{text}");
        }
        let unnamed = parts(&format!("{HASH}-5"));
        assert_eq!(unnamed.file, None);
    }

    #[test]
    fn only_a_sha256_is_a_hash() {
        assert!(Sha256::parse(&format!("  {}\n", HASH.to_uppercase())).is_some());
        assert!(Sha256::parse("d41d8cd98f00b204e9800998ecf8427e").is_none());
        assert!(Sha256::parse(&"g".repeat(64)).is_none());
        assert!(FileHash::parse("D41D8CD98F00B204E9800998ECF8427E").is_some());
        assert!(FileHash::parse("d41d8cd9").is_none());
    }
}
