//! A list of hashes as people keep them in files.

use super::FileHash;
use crate::text::Untrusted;
use std::collections::HashSet;

/// Bad lines that are named; the others are counted.
const NAMED: usize = 5;

/// How many hashes there are in a list.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Hashes {
    /// All of them: each is charged, repeated or not (§8.2).
    pub count: u64,
    /// Those that stood in the list before.
    pub repeated: u64,
}

impl Hashes {
    /// Counts hashes that are apart by line ends, blanks or commas.
    pub fn of(list: &[u8]) -> Result<Self, String> {
        let list = list.strip_prefix(b"\xef\xbb\xbf").unwrap_or(list);
        let (mut found, mut seen, mut wrong) = (Self::default(), HashSet::new(), Vec::new());
        for (number, line) in (1..).zip(list.split(|byte| *byte == b'\n')) {
            let words = line.split(|byte| byte.is_ascii_whitespace() || *byte == b',');
            for word in words.filter(|word| !word.is_empty()) {
                if str::from_utf8(word).ok().and_then(FileHash::parse).is_none() {
                    wrong.push((number, word));
                    continue;
                }
                found.count += 1;
                found.repeated += u64::from(!seen.insert(word.to_ascii_lowercase()));
            }
        }
        if wrong.is_empty() { Ok(found) } else { Err(complaint(&wrong)) }
    }
}

fn complaint(wrong: &[(u64, &[u8])]) -> String {
    let named = wrong.iter().take(NAMED);
    let named = named.map(|(line, word)| format!("line {line} ({})", Untrusted::from(*word).visible_cut(40)));
    let more = match wrong.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("no MD5, SHA-1 or SHA-256: {}{more}", named.collect::<Vec<_>>().join(", "))
}
