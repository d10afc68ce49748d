//! Normalizes Windows paths and registry keys, whatever notation a sandbox uses.
//!
//! | notation | spelled out |
//! |---|---|
//! | `<SYSTEM32>\a`, `%windir%\system32\a` | `C:\Windows\System32\a` |
//! | `\SystemRoot\System32\a`, `C:\Windows\Sysnative\a` | `C:\Windows\System32\a` |
//! | `\??\C:\a`, `\\?\C:\a`, `\Device\HarddiskVolume2\Users\a` | `C:\a`, `C:\Users\a` |
//! | `%APPDATA%\a`, `C:\Users\<USER>\AppData\Roaming\a` | `C:\Users\*\AppData\Roaming\a` |
//! | `C:\Documents and Settings\bob\Application Data\a` | `C:\Users\bob\AppData\Roaming\a` |
//! | `<HKCU>\a`, `HKEY_CURRENT_USER\a`, `HKCU:\a`, `\REGISTRY\MACHINE\a` | `HKCU\a`, `HKLM\a` |
//! | `<PATH_SAMPLE.EXE>`, `<Full path to file>` | `SAMPLE` |
//!
//! `spell_out` keeps case and all that no row names; `fold` derives the key of equal values.

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};
use memchr::memmem::Finder;
use std::borrow::Cow;
use std::ops::Range;
use std::sync::LazyLock;

/// A registry hive with its names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hive {
    pub short: &'static str,
    pub long: &'static str,
    /// Its path in the kernel, if it has a single one.
    pub(crate) kernel: Option<&'static str>,
}

pub const HIVES: [Hive; 5] = [
    Hive { short: "HKLM", long: "HKEY_LOCAL_MACHINE", kernel: Some(r"REGISTRY\MACHINE") },
    Hive { short: "HKCU", long: "HKEY_CURRENT_USER", kernel: None },
    Hive { short: "HKCR", long: "HKEY_CLASSES_ROOT", kernel: None },
    Hive { short: "HKCC", long: "HKEY_CURRENT_CONFIG", kernel: None },
    Hive { short: "HKU", long: "HKEY_USERS", kernel: Some(r"REGISTRY\USER") },
];

/// The sample itself, where a sandbox names it by a placeholder.
pub(crate) const SAMPLE: &str = "<PATH_SAMPLE.EXE>";

/// Folders that identify the system's volume.
const OF_SYSTEM_VOLUME: [&str; 4] = [r"Windows\", r"Users\", "Program Files", "ProgramData"];

struct Notation {
    text: String,
    meaning: Cow<'static, str>,
    /// Whether it matches only at the start of a path or key.
    begins: bool,
    /// Whether it matches only at the end of a folder's or hive's name.
    ends: bool,
}

struct Notations {
    all: Vec<Notation>,
    finder: Option<AhoCorasick>,
}

static NOTATIONS: LazyLock<Notations> = LazyLock::new(|| {
    let mut all = Vec::new();
    let mut add = |text: String, meaning: Cow<'static, str>, begins: bool, ends: bool| {
        all.push(Notation { text: text.to_ascii_lowercase(), meaning, begins, ends });
    };
    for line in include_str!("../../assets/notations.tsv").lines() {
        match line.split('\t').collect::<Vec<_>>().as_slice() {
            ["folder", name, meaning] => {
                add(format!("%{name}%"), (*meaning).into(), false, false);
                for text in [format!("<{name}>"), format!("${{{name}}}"), format!("$env:{name}")] {
                    add(text, (*meaning).into(), false, true);
                }
            }
            [place, text, meaning] => add((*text).to_owned(), (*meaning).into(), *place == "begins", false),
            _ => {}
        }
    }
    for folder in OF_SYSTEM_VOLUME {
        for number in 1..=9 {
            let text = format!(r"\device\harddiskvolume{number}\{folder}");
            add(text, format!(r"C:\{folder}").into(), true, false);
        }
    }
    for hive in HIVES {
        let Hive { short, long, kernel } = hive;
        let of_kernel = kernel.iter().flat_map(|name| [(*name).to_owned(), format!(r"\{name}")]);
        let written = [long.to_owned(), format!(r"Computer\{long}"), format!("<{short}>"), format!("{short}:")];
        for text in written.into_iter().chain([format!("{long}:")]).chain(of_kernel) {
            add(text, short.into(), true, true);
        }
    }
    let mut builder = AhoCorasick::builder();
    builder.ascii_case_insensitive(true).match_kind(MatchKind::LeftmostLongest).kind(Some(AhoCorasickKind::DFA));
    let finder = builder.build(all.iter().map(|notation| &notation.text)).ok();
    Notations { all, finder }
});

/// Spells out every notation in a path, a key or a command line.
///
/// All other text stays, with its case and users' names. `C:` is assumed to be the system's drive.
pub(crate) fn spell_out(text: &[u8]) -> Cow<'_, [u8]> {
    let Notations { all, finder } = &*NOTATIONS;
    let mut spelled = Vec::new();
    let mut done = 0;
    for found in finder.iter().flat_map(|finder| finder.find_iter(text)) {
        let Some(notation) = all.get(found.pattern().as_usize()) else { continue };
        let before = found.start().checked_sub(1).and_then(|at| text.get(at));
        let begins = before.is_none_or(|byte| !byte.is_ascii_alphanumeric() && !br"\/:_.%>".contains(byte));
        let ends = text.get(found.end()).is_none_or(|byte| br#"\/"') ,]"#.contains(byte));
        if (notation.begins && !begins && done != found.start()) || (notation.ends && !ends) {
            continue;
        }
        spelled.extend_from_slice(text.get(done..found.start()).unwrap_or_default());
        spelled.extend_from_slice(notation.meaning.as_bytes());
        done = found.end();
    }
    if done == 0 {
        return Cow::Borrowed(text);
    }
    spelled.extend_from_slice(text.get(done..).unwrap_or_default());
    Cow::Owned(spelled)
}

pub fn spell_out_str(text: &str) -> Cow<'_, str> {
    match spell_out(text.as_bytes()) {
        Cow::Borrowed(_) => Cow::Borrowed(text),
        Cow::Owned(spelled) => String::from_utf8(spelled).map_or(Cow::Borrowed(text), Cow::Owned),
    }
}

/// Turns lower-case text of `out` after `start` into the key of equal paths, keys and command
/// lines: spelled out, `*` for users, `hkcu` for a user's hive, one control set for any.
pub(crate) fn fold(out: &mut Vec<u8>, start: usize) {
    if let Cow::Owned(mut spelled) = spell_out(out.get(start..).unwrap_or_default()) {
        spelled.make_ascii_lowercase();
        out.truncate(start);
        out.append(&mut spelled);
    }
    if out.get(start..).is_some_and(|key| key.starts_with(b"hk")) {
        fold_key(out, start);
    }
    hide_user(out, start);
}

fn fold_key(out: &mut Vec<u8>, start: usize) {
    const USER: &[u8] = br"hku\s-1-5-21-";
    const CLASSES: &[u8] = b"_classes";
    const CONTROL_SET: &[u8] = br"hklm\system\controlset";
    let key = out.get(start..).unwrap_or_default();
    if let Some(rest) = key.strip_prefix(USER) {
        let sid = rest.iter().position(|byte| *byte == b'\\').unwrap_or(rest.len());
        let is_classes = rest.get(..sid).is_some_and(|sid| sid.ends_with(CLASSES));
        let meaning: &[u8] = if is_classes { br"hkcu\software\classes" } else { b"hkcu" };
        put(out, start..start + USER.len() + sid, meaning);
    } else if let Some([b'0', b'0', b'0'..=b'9', ..]) = key.strip_prefix(CONTROL_SET) {
        put(out, start..start + CONTROL_SET.len() + 3, br"hklm\system\currentcontrolset");
    }
    while out.len() > start && out.last() == Some(&b'\\') {
        out.pop();
    }
}

/// Users that are the same on every machine.
const KNOWN_USERS: &[&[u8]] = &[b"public", b"default", b"all users", b"*"];

/// Replaces the name after each `\users\` by `*`.
fn hide_user(out: &mut Vec<u8>, start: usize) {
    static USERS: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(br"\users\"));
    if out.get(start..).and_then(|text| USERS.find(text)).is_none() {
        return;
    }
    let text = out.split_off(start);
    let mut rest = text.as_slice();
    while let Some(found) = USERS.find(rest) {
        let (before, name) = rest.split_at(found + USERS.needle().len());
        let length = name.iter().position(|byte| matches!(byte, b'\\' | b'"')).unwrap_or(name.len());
        let (user, behind) = name.split_at(length);
        out.extend_from_slice(before);
        out.extend_from_slice(if user.is_empty() || KNOWN_USERS.contains(&user) { user } else { b"*" });
        rest = behind;
    }
    out.extend_from_slice(rest);
}

pub(crate) fn put(out: &mut Vec<u8>, place: Range<usize>, other: &[u8]) {
    drop(out.splice(place, other.iter().copied()));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notations_are_spelled_out() {
        for (written, spelled) in [
            (r"<SYSTEM32>\svchost.exe -k a", r"C:\Windows\System32\svchost.exe -k a"),
            (r"%WinDir%\Sysnative\cmd.exe", r"C:\Windows\System32\cmd.exe"),
            (r"\SystemRoot\System32\smss.exe", r"C:\Windows\System32\smss.exe"),
            (r"\??\C:\Windows\a", r"C:\Windows\a"),
            (r"\\?\UNC\host\share", r"\\host\share"),
            (r"\Device\HarddiskVolume3\Program Files (x86)\a", r"C:\Program Files (x86)\a"),
            (r"\Device\HarddiskVolume3\a", r"\Device\HarddiskVolume3\a"),
            (r"\Device\NamedPipe\a", r"\Device\NamedPipe\a"),
            (
                r#""%ComSpec%" /c del $env:TEMP\a"#,
                r#""C:\Windows\System32\cmd.exe" /c del C:\Users\*\AppData\Local\Temp\a"#,
            ),
            (r"C:\Documents and Settings\Bob\Local Settings\Temp\a", r"C:\Users\Bob\AppData\Local\Temp\a"),
            (r"C:\DOCUME~1\ADMINI~1\LOCALS~1\Temp\a", r"C:\Users\ADMINI~1\AppData\Local\Temp\a"),
            (r"C:\Users\<USER>\a", r"C:\Users\*\a"),
            (r"<HKCU>\Software", r"HKCU\Software"),
            (r"\REGISTRY\MACHINE\Software", r"HKLM\Software"),
            (r"REGISTRY\USER\S-1-5-18\a", r"HKU\S-1-5-18\a"),
            (r"Registry::HKEY_CURRENT_USER\a", r"HKCU\a"),
            (r"reg add HKLM:\Software /v a", r"reg add HKLM\Software /v a"),
            (r"Computer\HKEY_USERS", "HKU"),
            (r"<Full path to file>", SAMPLE),
            ("<temp>5</temp><System>\n", "<temp>5</temp><System>\n"),
            ("HKEY_USERS_X", "HKEY_USERS_X"),
            (r"C:\REGISTRY\MACHINE", r"C:\REGISTRY\MACHINE"),
        ] {
            assert_eq!(spell_out_str(written), spelled, "{written}");
        }
    }

    #[test]
    fn folded_values_of_one_thing_are_equal() {
        let folded = |text: &str| {
            let mut key = text.to_ascii_lowercase().into_bytes();
            fold(&mut key, 0);
            key
        };
        let same = |a: &str, b: &str| folded(a) == folded(b);
        assert!(same(r"C:\Users\<USER>\AppData\Roaming\a.DLL", r"%appdata%\A.dll"));
        assert!(same(r#"x "C:\Users\a\b.exe" /q"#, r#"X "C:\Users\Bob\B.exe" /Q"#));
        assert!(!same(r"C:\Users\Public\a", r"C:\Users\admin\a") && !same(r"C:\a", r"D:\a"));
        assert!(same(r"HKLM\Software\Run", r"HKEY_LOCAL_MACHINE\SOFTWARE\Run\"));
        assert!(same(r"HKCU\x", r"\REGISTRY\USER\S-1-5-21-9\X") && same("<HKCU>", r"HKEY_USERS\S-1-5-21-1-2-3-1001"));
        assert!(same(r"HKCU\Software\Classes\x", r"HKU\S-1-5-21-1-2-3-1001_Classes\x"));
        assert!(same(r"HKLM\SYSTEM\ControlSet001\Services", r"\REGISTRY\MACHINE\SYSTEM\CurrentControlSet\Services"));
        assert!(!same(r"HKCU\x", r"HKLM\x"));
    }
}
