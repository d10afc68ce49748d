//! The embedded private files with their reports: written ones; and generated ones, of any size,
//! deterministic for a number of rows, or of extreme values.

use std::fmt::{self, Write};

use serde::Deserialize;
use serde_json::value::RawValue;
use sha2::{Digest, Sha256};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DemoFile {
    /// The SHA-256 that identifies the file: the hash of its title.
    pub sha256: String,
    pub title: &'static str,
    /// The purpose of the file, in one sentence.
    pub about: &'static str,
}

type EmbeddedFile = (&'static str, &'static str, &'static str, &'static [&'static str]);

/// The file whose report is generated.
const BUSY: &str = "Busy installer.exe";
/// Number of sandboxes that run a submitted file.
const SANDBOXES: usize = 3;
/// The file of unfriendly strings; its folder also gets [`extreme_report`].
const HOSTILE: &str = "Unfriendly strings.bin";

/// Declares files by their folder, with the names of their reports.
macro_rules! embedded {
    ($($title:expr, $about:literal, $folder:literal: $($report:literal)*;)*) => {
        pub(super) const EMBEDDED: &[EmbeddedFile] = &[$((
            $title, $about, include_str!(concat!("../../assets/demo/", $folder, "/file.json")),
            &[$(include_str!(concat!("../../assets/demo/", $folder, "/", $report, ".json"))),*],
        )),*];
    };
}

embedded! {
    "Quarterly statement viewer.exe", "a Windows dropper, run in six sandboxes that each saw something else",
        "dropper": "1-cape" "2-zenbox" "3-lynxbox" "4-quiet-harbour" "5-observatory" "6-lantern-mobile";
    "Parcel tracker.apk", "an Android app that reads and sends text messages", "parcel": "1-lantern-mobile" "2-droidyard";
    "Delivery note 20261109.docm", "a document whose macro starts PowerShell; one report has an identifier of an odd shape",
        "document": "1-zenbox" "2-odd-identifier";
    "Blank reader.exe", "reports with nothing, or next to nothing, in them", "blank": "1-nothing" "2-next-to-nothing";
    HOSTILE, "strings that attack the program that shows them, and attributes of the wrong type",
        "hostile": "1-strings" "2-wrong-types";
    BUSY, "a report made on the fly, of any size", "busy":;
    "Still in the queue.iso", "a file that no sandbox ever finishes with: watching it ends when the polls are used up",
        "queued":;
}

pub(super) fn digest(bytes: impl AsRef<[u8]>) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A report's own object, without its links. The attributes are unchanged, with any errors.
#[derive(Clone, Deserialize)]
pub(super) struct DemoReport {
    pub(crate) id: String,
    #[serde(rename = "type")]
    pub(crate) kind: String,
    pub(crate) attributes: Box<RawValue>,
}

#[derive(Clone)]
pub(super) struct PrivateFile {
    pub(crate) sha256: String,
    pub(crate) object: serde_json::Value,
    pub(crate) reports: Vec<DemoReport>,
}

/// Returns a submitted file's reports: the first embedded file's, with this file's identifiers.
pub(super) fn made_for(sha256: &str, files: &[PrivateFile], now: i64) -> Vec<DemoReport> {
    let named = |model: &DemoReport| {
        let sandbox = model.id.split_once('_').and_then(|(_, rest)| rest.rsplit_once('-'));
        DemoReport { id: format!("{sha256}_{}-{now}", sandbox.map_or("Sandbox", |(name, _)| name)), ..model.clone() }
    };
    files.iter().take(1).flat_map(|file| &file.reports).take(SANDBOXES).map(named).collect()
}

/// Reads an embedded file; the generated report has `rows` rows.
pub(super) fn read((title, _, object, reports): &EmbeddedFile, rows: u64) -> Result<PrivateFile, serde_json::Error> {
    let sha256 = digest(title);
    let mut reports = reports.iter().map(|text| serde_json::from_str(text)).collect::<Result<Vec<DemoReport>, _>>()?;
    match *title {
        BUSY => {
            let attributes = RawValue::from_string(attributes(rows))?;
            let id = format!("{sha256}_{}-1794474845", SANDBOX);
            reports.push(DemoReport { id, kind: "private_file_behaviour".to_owned(), attributes });
        }
        HOSTILE => reports.push(serde_json::from_str(&extreme_report(&sha256))?),
        _ => {}
    }
    Ok(PrivateFile { sha256, object: serde_json::from_str(object)?, reports })
}

const SANDBOX: &str = "Observatory 11";

const DEPTH: u64 = 8;

/// Lists of the report, with their share of rows in per cent. Rows resemble those of a Windows
/// installation; each text list's last row contains `needle`.
const LISTS: [(&str, u64); 12] = [
    ("processes_tree", 10),
    ("files_opened", 20),
    ("files_written", 10),
    ("files_dropped", 5),
    ("registry_keys_opened", 20),
    ("registry_keys_set", 8),
    ("modules_loaded", 8),
    ("mutexes_created", 4),
    ("text_highlighted", 6),
    ("http_conversations", 3),
    ("ip_traffic", 3),
    ("calls_highlighted", 3),
];

/// Writes row `n` of a list with `count` rows.
fn row(list: &str, n: u64, count: u64, to: &mut String) -> fmt::Result {
    let noise = mix(n);
    let high = noise >> 32;
    let word = if n + 1 == count { "needle" } else { word(noise) };
    match list {
        "processes_tree" => process(n, count, word, to),
        "files_opened" => write!(to, r#""C:\\Windows\\WinSxS\\amd64_component-{high:08x}_{n}\\{word}.dll""#),
        "files_written" => write!(to, r#""C:\\Program Files\\Busy\\{}\\{word}-{n}.dat""#, noise % 97),
        "files_dropped" => {
            write!(to, r#"{{"path":"C:\\Program Files\\Busy\\{word}-{n}.bin","#)?;
            write!(to, r#""sha256":"{noise:016x}{noise:016x}{noise:016x}{n:016x}","type":"PE_DLL"}}"#)
        }
        "registry_keys_opened" => write!(to, r#""HKLM\\SOFTWARE\\Classes\\CLSID\\{{{noise:016X}-{n}}}\\{word}""#),
        "registry_keys_set" => write!(to, r#"{{"key":"HKCU\\Software\\Busy\\{word}\\{n}","value":"{noise:x}"}}"#),
        "modules_loaded" => write!(to, r#""C:\\Windows\\System32\\{word}{:04x}.dll""#, noise & 0xffff),
        "mutexes_created" => write!(to, r#""Local\\Busy.{word}.{high:08x}.{n}""#),
        "text_highlighted" => write!(to, r#""Extracting {word} {} of {count}""#, n + 1),
        "http_conversations" => {
            write!(to, r#"{{"url":"https://mirror{}.example.com/{word}/{n}","#, noise % 9)?;
            to.write_str(r#""request_method":"GET","response_status_code":200}"#)
        }
        "ip_traffic" => {
            write!(to, r#"{{"destination_ip":"198.51.100.{}","#, noise % 256)?;
            write!(to, r#""destination_port":{},"transport_layer_protocol":"TCP"}}"#, 1_024 + noise % 60_000)
        }
        _ => write!(to, r#""Nt{word}File{}""#, noise % 1_000),
    }
}

fn word(noise: u64) -> &'static str {
    const WORDS: [&str; 8] = ["kernel", "shell", "print", "crypt", "audio", "theme", "update", "schema"];
    WORDS.get((noise % 8) as usize).copied().unwrap_or_default()
}

/// Spreads the bits of a number so that neighbours look unrelated.
fn mix(number: u64) -> u64 {
    let mixed = number.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed ^ (mixed >> 31)
}

/// Writes a process as the child of the one before; the deepest also closes its ancestors.
fn process(n: u64, count: u64, word: &str, to: &mut String) -> fmt::Result {
    let id = 1_000 + mix(n) % 300;
    let depth = n % DEPTH;
    write!(to, r#"{{"process_id":"{id}","name":"{word}{}.exe","children":["#, n % 40)?;
    let is_deepest = depth + 1 == DEPTH || n + 1 == count;
    let closed = if is_deepest { depth + 1 } else { 0 };
    (0..closed).try_for_each(|_| to.write_str("]}"))
}

/// Returns the attributes of the report as JSON, with `rows` rows, or a few more, in all lists.
fn attributes(rows: u64) -> String {
    let mut text = format!(
        r#"{{"sandbox_name":"{SANDBOX}","analysis_date":1794474845,"behash":"0f1e2d3c4b5a69788796a5b4c3d2e1f0","has_html_report":false,"has_pcap":true,"tags":["LONG_SLEEPS","RUNTIME_MODULES"]"#
    );
    for (list, share) in LISTS {
        text += &format!(r#","{list}":["#);
        let count = (rows * share).div_ceil(100);
        for n in 0..count {
            // A process opens inside its parent, so nothing separates the two.
            if n > 0 && (list != "processes_tree" || n.is_multiple_of(DEPTH)) {
                text.push(',');
            }
            // Writing to a string cannot fail.
            let _ = row(list, n, count, &mut text);
        }
        text.push(']');
    }
    text + "}"
}

/// Returns a report of extreme numbers, depths and lengths: valid JSON, some strings not Unicode.
fn extreme_report(sha256: &str) -> String {
    let mut attributes = String::from(r#"{"sandbox_name":"Extremes","analysis_date":1794474845"#);
    for (name, value) in [
        ("text_highlighted", strings()),
        ("tags", r#"["A_TAG","A_TAG","A_TAG"]"#.to_owned()),
        ("processes_tree", descent(200, r#"{"process_id":"4","name":"deeper.exe","children":["#, "]}")),
        ("an_attribute_without_a_name", descent(200, r#"{"deeper":["#, "]}")),
        ("registry_keys_set", wide_object(400)),
        (r"\udc00 a name of half a character", r#"["\ud800"]"#.to_owned()),
    ] {
        // Writing to a string cannot fail.
        let _ = write!(attributes, r#","{name}":{value}"#);
    }
    format!(r#"{{"id":"{sha256}_Extremes-1794474999","type":"file_behaviour","attributes":{attributes}}}}}"#)
}

/// Long and hostile strings, with the escapes of JSON.
fn strings() -> String {
    let strings = [
        "A".repeat(100_000),
        format!("Z{}", r"\u0353".repeat(3_000)),
        r"\u001b[31m".repeat(500),
        r"\u202e\u2066".repeat(300),
        r"\u200b".repeat(2_000),
        format!("lone {} surrogates {}", r"\ud83d", r"\udc00\ud800"),
        r"\udb40\udc41\udb40\udc42\ufe0f\udb40\udd00".repeat(50),
        format!(r"{}\r\n{}\u0000", r"line one\n".repeat(40), r"tab\t".repeat(40)),
        format!(r"\u001b]52;c;{}\u0007", "QUFB".repeat(1_000)),
        r"\u5bbd\u5b57".repeat(400),
        r"\ud83d\udc68\u200d\ud83d\udc69\u200d\ud83d\udc67".repeat(60),
        String::new(),
        " ".repeat(500),
    ];
    let quoted: Vec<String> = strings.iter().map(|string| format!("\"{string}\"")).collect();
    format!("[{}]", quoted.join(","))
}

/// `depth` openings, each inside the one before it, and as many closings.
fn descent(depth: usize, open: &str, close: &str) -> String {
    format!("[{}{}]", open.repeat(depth), close.repeat(depth))
}

/// Returns a row that is an object of many keys instead of a string, with every key twice.
fn wide_object(keys: usize) -> String {
    let pairs: Vec<String> = (0..keys).map(|key| format!(r#""k{0}":{key},"k{0}":null"#, key / 2)).collect();
    format!(r#"[{{"key":"HKCU\\Software\\Wide","value":{{{}}}}}]"#, pairs.join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nodes(tree: &serde_json::Value) -> usize {
        tree.as_array().unwrap().iter().map(|node| 1 + nodes(&node["children"])).sum()
    }

    #[test]
    fn generated_report_is_json_of_the_requested_size() {
        for rows in [0, 1, 7, 100, 10_243] {
            let report: serde_json::Value = serde_json::from_str(&attributes(rows)).unwrap();
            let lists = LISTS.iter().filter(|(list, _)| *list != "processes_tree");
            let flat: usize = lists.map(|(list, _)| report[list].as_array().unwrap().len()).sum();
            let total = (flat + nodes(&report["processes_tree"])) as u64;
            assert!((rows..rows + 12).contains(&total), "{rows} asked, {total} made");
        }
    }
}
