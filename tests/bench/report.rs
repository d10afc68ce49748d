//! Reports of any size, made up but shaped like real ones: the same for the same size.

use std::fmt::Write as _;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

/// Stands in the name of the first process.
pub const FIRST: &str = "first-of-all.exe";

/// Stands in the last value, near the end of the file.
pub const NEEDLE: &str = "needle-at-the-end.example";

/// A report that was made.
pub struct Made {
    /// Where it is.
    pub path: PathBuf,
    /// Its size in bytes.
    pub bytes: u64,
    /// How many files it names.
    pub files: usize,
}

impl Made {
    /// Its size in words.
    pub fn size(&self) -> String {
        match self.bytes {
            0..1_000_000 => format!("{} KB", self.bytes / 1_000),
            _ => format!("{} MB", self.bytes / 1_000_000),
        }
    }
}

/// Numbers without a pattern that anybody would notice.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, below: usize) -> usize {
        // Marsaglia's xorshift: plain, and the same everywhere.
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % below as u64).unwrap()
    }

    fn pick<'a>(&mut self, words: &[&'a str]) -> &'a str {
        words[self.roll(words.len())]
    }

    fn word(&mut self) -> String {
        (0..4 + self.roll(8)).map(|_| char::from(b'a' + u8::try_from(self.roll(26)).unwrap())).collect()
    }
}

const FOLDERS: [&str; 7] = [
    r"C:\\Windows\\System32",
    r"C:\\Windows\\WinSxS\\x86_microsoft.windows.common-controls_6595b64144ccf1df",
    r"C:\\Program Files\\Common Files\\Microsoft Shared",
    r"C:\\Users\\user\\AppData\\Local\\Temp",
    r"C:\\Users\\user\\AppData\\Roaming\\Microsoft\\Windows\\Recent",
    r"C:\\Users\\Größe\\Документы",
    r"%TEMP%",
];

const KEYS: [&str; 5] = [
    r"HKEY_LOCAL_MACHINE\\SOFTWARE\\Microsoft\\Windows\\CurrentVersion",
    r"HKEY_LOCAL_MACHINE\\SYSTEM\\CurrentControlSet\\Services",
    r"HKEY_CURRENT_USER\\Software\\Microsoft\\Windows\\CurrentVersion\\Explorer",
    r"HKEY_CLASSES_ROOT\\Interface",
    r"HKEY_LOCAL_MACHINE\\SOFTWARE\\Classes\\CLSID",
];

const ENDINGS: [&str; 6] = [".dll", ".exe", ".tmp", ".xml", ".lnk", ".dll.mui"];

fn path(dice: &mut Dice) -> String {
    format!(r"{}\\{}\\{}{}", dice.pick(&FOLDERS), dice.word(), dice.word(), dice.pick(&ENDINGS))
}

fn key(dice: &mut Dice) -> String {
    format!(r"{}\\{}\\{}", dice.pick(&KEYS), dice.word(), dice.word())
}

/// Makes a report of about this size, as the service would send it.
pub fn make(folder: &Path, bytes: u64) -> Made {
    let path = folder.join(format!("report-{bytes}.json"));
    let mut out = BufWriter::new(std::fs::File::create(&path).unwrap());
    let files = write(&mut out, bytes).unwrap();
    out.flush().unwrap();
    drop(out);
    let bytes = std::fs::metadata(&path).unwrap().len();
    Made { path, bytes, files }
}

fn write(out: &mut impl Write, bytes: u64) -> std::io::Result<usize> {
    let mut dice = Dice(0x9e37_79b9_7f4a_7c15);
    let hash = "5".repeat(64);
    write!(out, r#"{{"data":{{"id":"{hash}_Bench Box-1794474845","type":"private_file_behaviour","attributes":{{"#)?;
    write!(out, r#""sandbox_name":"Bench Box","analysis_date":1794474845,"verdicts":["MALWARE"],"#)?;
    write!(out, r#""tags":["CALLS_WMI","LONG_SLEEPS"],"processes_tree":["#)?;
    processes(out, &mut dice, bytes / 10)?;
    out.write_all(b"],")?;
    let opened = strings(out, &mut dice, "files_opened", bytes * 35 / 100, path)?;
    let written = strings(out, &mut dice, "files_written", bytes * 5 / 100, path)?;
    strings(out, &mut dice, "registry_keys_opened", bytes * 40 / 100, key)?;
    pairs(out, &mut dice, "registry_keys_set", bytes * 5 / 100)?;
    strings(out, &mut dice, "modules_loaded", bytes * 5 / 100, path)?;
    write!(out, r#""dns_lookups":[{{"hostname":"{NEEDLE}","resolved_ips":["203.0.113.254"]}}]}}}}}}"#)?;
    Ok(opened + written)
}

fn strings(
    out: &mut impl Write,
    dice: &mut Dice,
    name: &str,
    bytes: u64,
    make: fn(&mut Dice) -> String,
) -> std::io::Result<usize> {
    write!(out, r#""{name}":["#)?;
    let (mut written, mut count) = (0, 0);
    while written < bytes || count == 0 {
        let text = format!("{}\"{}\"", if count == 0 { "" } else { "," }, make(dice));
        out.write_all(text.as_bytes())?;
        written += text.len() as u64;
        count += 1;
    }
    out.write_all(b"],")?;
    Ok(count)
}

fn pairs(out: &mut impl Write, dice: &mut Dice, name: &str, bytes: u64) -> std::io::Result<()> {
    write!(out, r#""{name}":["#)?;
    let (mut written, mut first) = (0, true);
    while written < bytes || first {
        let comma = if std::mem::take(&mut first) { "" } else { "," };
        let text = format!(r#"{comma}{{"key":"{}","value":"{}"}}"#, key(dice), dice.word());
        out.write_all(text.as_bytes())?;
        written += text.len() as u64;
    }
    out.write_all(b"],")
}

/// Processes with children up to eight deep.
fn processes(out: &mut impl Write, dice: &mut Dice, bytes: u64) -> std::io::Result<()> {
    let (mut written, mut depth, mut text) = (0, 0, String::new());
    write!(text, r#"{{"process_id":"4","name":"{FIRST}","time_offset":0"#).unwrap();
    loop {
        out.write_all(text.as_bytes())?;
        written += text.len() as u64;
        text.clear();
        if written >= bytes {
            break;
        }
        let deeper = depth < 8 && dice.roll(3) > 0;
        if deeper {
            text.push_str(r#","children":["#);
            depth += 1;
        } else {
            text.push('}');
            for _ in 0..dice.roll(depth + 1) {
                text.push_str("]}");
                depth -= 1;
            }
            text.push(',');
        }
        let (id, name, offset) = (dice.roll(60_000), path(dice), dice.roll(300));
        write!(text, r#"{{"process_id":"{id}","name":"{name}","time_offset":{offset}"#).unwrap();
    }
    out.write_all("}".as_bytes())?;
    (0..depth).try_for_each(|_| out.write_all(b"]}"))
}
