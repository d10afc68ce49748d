//! Where the program of a command line ends and its arguments begin.

use memchr::memmem;
use std::ops::Range;

/// How the name of a program's file ends.
pub(crate) const ENDINGS: [&[u8]; 6] = [b".exe", b".com", b".scr", b".tmp", b".bat", b".cmd"];

/// The program of a command line, without quotation marks.
///
/// A path with blanks need not be quoted, and may have lost its opening quote. It ends where a
/// program's file name ends. Without such an ending it extends to the first option or quoted word,
/// if there is one, or else to the end.
pub fn program(line: &[u8]) -> Range<usize> {
    let start = line.len() - line.trim_ascii_start().len();
    let end = line.trim_ascii_end().len().max(start);
    let text = line.get(start..end).unwrap_or_default();
    if let Some(quoted) = text.strip_prefix(b"\"") {
        return start + 1..start + 1 + memchr::memchr(b'"', quoted).unwrap_or(quoted.len());
    }
    let word = text.iter().position(|byte| byte.is_ascii_whitespace() || *byte == b'"').unwrap_or(text.len());
    let is_path = text.get(..word).is_some_and(|word| word.contains(&b'\\'));
    // A file's bare name may have blanks.
    let ending = text.get(text.len().saturating_sub(4)..).unwrap_or_default();
    let is_name = ENDINGS.iter().any(|known| ending.eq_ignore_ascii_case(known))
        && !text.iter().any(|byte| matches!(byte, b'\\' | b'/' | b'-' | b'"' | b'%'))
        && !text.get(..word).is_some_and(|word| word.contains(&b'.'));
    if is_name {
        return start..end;
    }
    if word == text.len() || !is_path {
        return start..start + word;
    }
    let ends = memchr::memchr2_iter(b' ', b'"', text).chain([text.len()]);
    let is_end = |end: &usize| {
        let ending = text.get(end.saturating_sub(4)..*end).unwrap_or_default();
        ENDINGS.iter().any(|known| ending.eq_ignore_ascii_case(known))
    };
    let argument = || [&b" -"[..], b" /", b"\""].iter().filter_map(|mark| memmem::find(text, mark)).min();
    let is_option = |end: usize| argument().is_none_or(|argument| end <= argument);
    let length = match ends.clone().find(is_end).filter(|end| is_option(*end)) {
        Some(end) => end,
        None => argument().map_or(text.len(), |_| word),
    };
    start..start + length
}

/// The program of a command line and its arguments, without the blanks and the mark between them.
pub fn split(line: &[u8]) -> (&[u8], &[u8]) {
    let program = program(line);
    let rest = line.get(program.end..).unwrap_or_default();
    let rest = rest.strip_prefix(b"\"").filter(|rest| rest.first().is_none_or(u8::is_ascii_whitespace)).unwrap_or(rest);
    (line.get(program).unwrap_or_default(), rest.trim_ascii())
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
}
