//! Shortens a text to the part that is most useful.
//!
//! Of a path or a registry key its root and its last parts, of a command the programs without their folders and then as much as
//! fits, of an address of the web its beginning, of anything else both ends.

use crate::report::command_line::{self, ENDINGS};
use crate::report::hives::{HIVES, Hive};
use crate::text::Columns;
use std::ops::Range;

/// The widest root that is kept before a gap: a drive, a hive, a short variable.
const ROOT: usize = 8;

/// Last parts of a path that are worth more than its root.
const LAST: usize = 2;

const SEPARATORS: [char; 2] = ['\\', '/'];

/// The usual name of the hive that a key begins with, and the length of the long one.
pub(super) fn hive(text: &str) -> Option<(&'static str, usize)> {
    // Most texts are no key, and each that is drawn is asked.
    if !text.starts_with(['H', 'h']) {
        return None;
    }
    HIVES.into_iter().find_map(|Hive { short, long, .. }| {
        let is_it = text.get(..long.len()).is_some_and(|start| start.eq_ignore_ascii_case(long));
        let ends = text.get(long.len()..).is_some_and(|rest| rest.is_empty() || rest.starts_with('\\'));
        (is_it && ends).then_some((short, long.len()))
    })
}

/// The spans of a text that are shown in this many columns, in columns of the text; `…` replaces every span
/// that is left out.
pub(super) fn kept(text: &str, columns: usize) -> Vec<Range<usize>> {
    let width = text.columns();
    if width <= columns {
        return alone(0..width);
    }
    let both_ends = || {
        let head = columns.saturating_sub(1) / 3;
        vec![0..head, width + head + 1 - columns.max(1)..width]
    };
    if text.contains("://") {
        // Who is asked stands at the beginning of an address.
        return alone(0..columns.saturating_sub(1));
    }
    command(text, columns).or_else(|| path(text, columns)).unwrap_or_else(both_ends)
}

fn alone(range: Range<usize>) -> Vec<Range<usize>> {
    std::iter::once(range).collect()
}

/// The root of a path, and as many of its last parts as fit; without the root where fewer than two would, but never without the
/// quotation mark that it begins with.
fn path(text: &str, columns: usize) -> Option<Vec<Range<usize>>> {
    let width = text.columns();
    let root = text.find(SEPARATORS).and_then(|end| text.get(..end)).map_or(0, Columns::columns);
    let root = if root > ROOT { 0 } else { root };
    let quote = usize::from(text.starts_with('"'));
    let quoted = |tail: Range<usize>| if quote > 0 { vec![0..quote, tail] } else { alone(tail) };
    let mut ends = Vec::new();
    // From the end, and no further than there is room: a text may be nothing but separators.
    for (at, _) in text.rmatch_indices(SEPARATORS) {
        let tail = text.get(at..).map_or(0, Columns::columns);
        if tail + quote >= columns {
            break;
        }
        ends.push(tail);
    }
    let beside_root = ends.iter().filter(|tail| root + 1 + **tail <= columns).count();
    let bare = ends.len().min(LAST);
    match (beside_root >= bare, ends.get(beside_root.max(1) - 1), ends.get(bare.max(1) - 1)) {
        (true, Some(tail), _) if root > 0 => Some(vec![0..root, width - tail..width]),
        (_, _, Some(tail)) => Some(quoted(width - tail..width)),
        // Not even the last part fits: its end says what kind of thing it is.
        _ if text.contains('\\') => Some(quoted(width + 1 + quote - columns..width)),
        _ => None,
    }
}

/// Whether a text is a command: a program, and something behind it.
fn is_command(text: &str) -> bool {
    let (_, arguments) = command_line::split(text.as_bytes());
    let program = text.get(command_line::program(text.as_bytes())).unwrap_or_default();
    let is_quoted = text.trim_start().starts_with('"');
    !arguments.is_empty() && (is_quoted || !program.contains(SEPARATORS) || is_program(program))
}

/// Whether a word ends like an executable.
fn is_program(word: &str) -> bool {
    let end = word.len().checked_sub(4).and_then(|start| word.as_bytes().get(start..)).unwrap_or_default();
    ENDINGS.iter().any(|ending| end.eq_ignore_ascii_case(ending))
}

/// The part of a folder that is left out to win columns: as little as possible, at most all but its
/// hive.
fn gap(folder: &str, wanted: usize) -> Range<usize> {
    let root = folder.find(SEPARATORS).and_then(|end| folder.get(..end)).unwrap_or(folder);
    let is_hive = HIVES.iter().any(|hive| [hive.short, hive.long].iter().any(|name| root.eq_ignore_ascii_case(name)));
    let least = if is_hive { root.columns() } else { 0 };
    let most = if root.columns() > ROOT { least } else { root.columns() };
    let all = folder.columns();
    let ends = || folder.match_indices(SEPARATORS).filter_map(|(at, _)| folder.get(..at)).map(Columns::columns);
    let enough = |from: usize| ends().chain([all]).find(|end| *end > from + wanted).map(|end| from..end);
    enough(most).or_else(|| enough(least)).unwrap_or(least..all)
}

/// A command with its paths cut down to their last parts, from the left, until it fits; what still does not is cut at its end.
fn command(text: &str, columns: usize) -> Option<Vec<Range<usize>>> {
    if !is_command(text) {
        return None;
    }
    let mut left_out: Vec<Range<usize>> = Vec::new();
    let mut width = text.columns();
    for (start, folder) in folders(text) {
        if width <= columns {
            break;
        }
        let gap = gap(folder, width - columns);
        if gap.len() > 1 {
            width -= gap.len() - 1;
            left_out.push(start + gap.start..start + gap.end);
        }
    }
    let mut kept = Vec::new();
    let (mut at, mut room) = (0, if width > columns { columns.saturating_sub(1) } else { columns });
    for gap in left_out.into_iter().chain(std::iter::once(text.columns()..text.columns())) {
        let length = (gap.start - at).min(room);
        kept.push(at..at + length);
        room = room.saturating_sub(length + 1);
        at = gap.end;
        if room == 0 {
            break;
        }
    }
    kept.retain(|range| !range.is_empty());
    Some(kept)
}

/// The folders of the paths in a command, up to their last separator, each with the column where it starts,
/// without a quotation mark.
fn folders(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut next = Some(command_line::program(text.as_bytes()));
    std::iter::from_fn(move || {
        let word = next.take()?;
        next = next_word(text, word.end);
        Some(word)
    })
    .filter_map(|word| {
        let folder = text.get(word.clone())?;
        let folder = folder.get(..folder.rfind('\\')?)?;
        Some((text.get(..word.start)?.columns(), folder))
    })
}

/// The next word of a command; double quotes are not part of it, blanks between them are.
fn next_word(text: &str, from: usize) -> Option<Range<usize>> {
    let is_open = text.get(..from)?.matches('"').count() % 2 == 1 && text.get(from..)?.starts_with('"');
    let from = from + usize::from(is_open);
    let start = from + text.get(from..)?.find(|letter: char| !letter.is_whitespace())?;
    let word = text.get(start..)?;
    let quotes = word.len() - word.trim_start_matches(['"', '\'']).len();
    let inner = word.get(quotes..)?;
    let is_end = |letter: char| if word.starts_with('"') { letter == '"' } else { letter.is_whitespace() };
    let length = inner.find(is_end).unwrap_or(inner.len());
    Some(start + quotes..start + quotes + length).filter(|word| word.end > from)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn shown(text: &str, columns: usize) -> String {
        let mut shown = String::new();
        let mut at = 0;
        for range in kept(text, columns) {
            shown += if range.start > at { "…" } else { "" };
            shown += &text.chars().skip(range.start).take(range.len()).collect::<String>();
            at = range.end;
        }
        shown + if at < text.chars().count() { "…" } else { "" }
    }

    #[test]
    fn of_a_path_root_and_last_parts_stay() {
        let key = r"HKCU\Software\Microsoft\Windows\CurrentVersion\Run\LumenUpdate";
        assert_eq!(shown(key, 40), r"HKCU…\CurrentVersion\Run\LumenUpdate");
        assert_eq!(shown(key, 22), r"HKCU…\Run\LumenUpdate");
        assert_eq!(shown(key, 20), r"…\Run\LumenUpdate");
        assert_eq!(shown(key, 14), r"…\LumenUpdate");
        assert_eq!(shown(r"C:\Program Files\Vendor\a.dll", 17), r"C:…\Vendor\a.dll");
        assert_eq!(shown(r"C:\a-very-long-file-name-without-end", 13), "…-without-end");
        assert_eq!(shown("no path at all but-long", 12), "no path at …");
    }

    #[test]
    fn of_a_command_the_programs_stay() {
        let line = r#""C:\Windows\System32\cmd.exe" /c %USERPROFILE%\AppData\Local\Temp\svchost64.exe "%SAMPLEPATH%\03bd9a.exe""#;
        assert_eq!(shown(line, 60), r#""…\cmd.exe" /c …\svchost64.exe "%SAMPLEPATH%\03bd9a.exe""#);
        assert_eq!(shown(line, 40), r#""…\cmd.exe" /c …\svchost64.exe "…\03bd9…"#);
        assert_eq!(shown("powershell  -Command Add-MpPreference", 24), "powershell  -Command Ad…");
        assert_eq!(shown(r"%TEMP%\a.exe", 100), r"%TEMP%\a.exe");
        let key = r"reg.exe add HKCU\Software\Microsoft\Windows\CurrentVersion\Run /v X";
        assert_eq!(shown(key, 60), r"reg.exe add HKCU…\Microsoft\Windows\CurrentVersion\Run /v X");
        assert_eq!(shown(key, 30), r"reg.exe add HKCU…\Run /v X");
    }

    #[test]
    fn a_quoted_path_with_blanks_is_shortened_as_one() {
        let line = r#"C:\Program Files (x86)\Adobe\Acrobat Reader DC\Reader\AcroRd32.exe" "C:\Users\user\Desktop\Brochure 20mm.pdf"#;
        assert_eq!(shown(line, 44), r#"…\AcroRd32.exe" "C:…\Brochure 20mm.pdf"#);
        let line = r#""C:\Program Files (x86)\Adobe\Reader\AcroCEF\RdrCEF.exe" --backgroundcolor=16514043"#;
        assert_eq!(shown(line, 40), r#""…\RdrCEF.exe" --backgroundcolor=165140…"#);
        assert_eq!(shown(line, 42), r#""…\RdrCEF.exe" --backgroundcolor=16514043"#);
    }

    #[test]
    fn a_quotation_mark_that_ends_is_one_that_began() {
        let path = r#""C:\Program Files\Vendor\1.3.36.372\GoogleCrashHandler.exe""#;
        assert_eq!(shown(path, 38), r#""…\1.3.36.372\GoogleCrashHandler.exe""#);
        assert_eq!(shown(path, 27), r#""…\GoogleCrashHandler.exe""#);
        assert_eq!(shown(path, 12), r#""…ndler.exe""#);
    }

    #[test]
    fn hives_have_short_names() {
        assert_eq!(hive(r"HKEY_LOCAL_MACHINE\SOFTWARE"), Some(("HKLM", 18)));
        assert_eq!(hive("hkey_users"), Some(("HKU", 10)));
        assert_eq!((hive("HKEY_USERS_X"), hive("HKLM")), (None, None));
    }

    proptest! {
        #[test]
        fn what_is_kept_fits_and_stands_in_order(text in r#"[a-z :\\/."%é日]{0,80}"#, columns in 8_usize..60) {
            let (mut at, mut width) = (0, 0);
            for range in kept(&text, columns) {
                prop_assert!(range.start >= at && range.start <= range.end && range.end <= text.columns());
                width += range.len() + usize::from(range.start > at);
                at = range.end;
            }
            prop_assert!(width + usize::from(at < text.columns()) <= columns, "{width} {columns}");
        }
    }
}
