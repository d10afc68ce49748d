//! A report of any size, made row by row: the same for the same number of rows, and never held whole.

use std::fmt::Write;

use hyper::body::Bytes;

/// The sandbox that "made" the report.
pub(super) const SANDBOX: &str = "Observatory 11";

/// How many rows become one piece of the body.
const PIECE: u64 = 512;
/// How deep the process tree goes; pieces hold whole roots because it divides [`PIECE`].
const DEPTH: u64 = 8;

/// One list of the report.
struct Section {
    attribute: &'static str,
    /// Its share of all rows, in percent.
    share: u64,
    row: fn(Row, &mut String) -> std::fmt::Result,
}

/// One row: its number, how many its list has, and some digits that look random.
#[derive(Clone, Copy)]
struct Row {
    number: u64,
    count: u64,
    noise: u64,
}

/// Rows of a Windows installation; the last row of each list that holds words says `needle`.
const SECTIONS: [Section; 12] = [
    Section { attribute: "processes_tree", share: 10, row: process },
    Section {
        attribute: "files_opened",
        share: 20,
        row: |row, to| {
            write!(
                to,
                r#""C:\\Windows\\WinSxS\\amd64_component-{:08x}_{}\\{}.dll""#,
                row.noise >> 32,
                row.number,
                row.word()
            )
        },
    },
    Section {
        attribute: "files_written",
        share: 10,
        row: |row, to| {
            write!(to, r#""C:\\Program Files\\Busy\\{}\\{}-{}.dat""#, row.noise % 97, row.word(), row.number)
        },
    },
    Section {
        attribute: "files_dropped",
        share: 5,
        row: |row, to| {
            let (noise, number) = (row.noise, row.number);
            write!(
                to,
                r#"{{"path":"C:\\Program Files\\Busy\\{}-{number}.bin","sha256":"{noise:016x}{noise:016x}{noise:016x}{number:016x}","type":"PE_DLL"}}"#,
                row.word()
            )
        },
    },
    Section {
        attribute: "registry_keys_opened",
        share: 20,
        row: |row, to| {
            write!(to, r#""HKLM\\SOFTWARE\\Classes\\CLSID\\{{{:016X}-{}}}\\{}""#, row.noise, row.number, row.word())
        },
    },
    Section {
        attribute: "registry_keys_set",
        share: 8,
        row: |row, to| {
            write!(to, r#"{{"key":"HKCU\\Software\\Busy\\{}\\{}","value":"{:x}"}}"#, row.word(), row.number, row.noise)
        },
    },
    Section {
        attribute: "modules_loaded",
        share: 8,
        row: |row, to| write!(to, r#""C:\\Windows\\System32\\{}{:04x}.dll""#, row.word(), row.noise & 0xffff),
    },
    Section {
        attribute: "mutexes_created",
        share: 4,
        row: |row, to| write!(to, r#""Local\\Busy.{}.{:08x}.{}""#, row.word(), row.noise >> 32, row.number),
    },
    Section {
        attribute: "text_highlighted",
        share: 6,
        row: |row, to| write!(to, r#""Extracting {} {} of {}""#, row.word(), row.number + 1, row.count),
    },
    Section {
        attribute: "http_conversations",
        share: 3,
        row: |row, to| {
            write!(
                to,
                r#"{{"url":"https://mirror{}.example.com/{}/{}","request_method":"GET","response_status_code":200}}"#,
                row.noise % 9,
                row.word(),
                row.number
            )
        },
    },
    Section {
        attribute: "ip_traffic",
        share: 3,
        row: |row, to| {
            let (last, port) = (row.noise % 256, 1_024 + row.noise % 60_000);
            write!(
                to,
                r#"{{"destination_ip":"198.51.100.{last}","destination_port":{port},"transport_layer_protocol":"TCP"}}"#
            )
        },
    },
    Section {
        attribute: "calls_highlighted",
        share: 3,
        row: |row, to| write!(to, r#""Nt{}File{}""#, row.word(), row.noise % 1_000),
    },
];

impl Row {
    fn new(number: u64, count: u64) -> Self {
        Row { number, count, noise: mix(number) }
    }

    fn is_last(self) -> bool {
        self.number + 1 == self.count
    }

    fn word(self) -> &'static str {
        const WORDS: [&str; 8] = ["kernel", "shell", "print", "crypt", "audio", "theme", "update", "schema"];
        let word = WORDS.get((self.noise % 8) as usize).copied();
        word.filter(|_| !self.is_last()).unwrap_or("needle")
    }
}

/// Spreads the bits of a number so that neighbours look unrelated.
fn mix(number: u64) -> u64 {
    let mixed = number.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed ^ (mixed >> 31)
}

/// A process and, since each is the child of the one before it, the end of its root after the deepest.
fn process(row: Row, to: &mut String) -> std::fmt::Result {
    let depth = row.number % DEPTH;
    write!(
        to,
        r#"{{"process_id":"{}","name":"{}{}.exe","children":["#,
        1_000 + row.noise % 300,
        row.word(),
        row.number % 40
    )?;
    let is_deepest = depth + 1 == DEPTH || row.is_last();
    let closed = if is_deepest { depth + 1 } else { 0 };
    (0..closed).try_for_each(|_| to.write_str("]}"))
}

/// Whether nothing separates a row from the one before it: a child opens inside its parent.
fn opens_inside(section: &Section, number: u64) -> bool {
    section.attribute == "processes_tree" && !number.is_multiple_of(DEPTH)
}

impl Section {
    /// The list as JSON, opening with the comma that separates it from what precedes it.
    fn pieces(&'static self, rows: u64) -> impl Iterator<Item = Bytes> + Send {
        let count = (rows * self.share).div_ceil(100);
        let opening = Bytes::from(format!(r#","{}":["#, self.attribute));
        let body = (0..count).step_by(PIECE as usize).map(move |from| self.piece(from, count));
        std::iter::once(opening).chain(body).chain([Bytes::from_static(b"]")])
    }

    fn piece(&self, from: u64, count: u64) -> Bytes {
        let mut text = String::new();
        for number in from..count.min(from + PIECE) {
            if number > 0 && !opens_inside(self, number) {
                text.push(',');
            }
            // Writing to a string cannot fail.
            let _ = (self.row)(Row::new(number, count), &mut text);
        }
        text.into()
    }
}

/// The attributes of the report as JSON text, with `rows` rows over its lists, or a few more.
pub(super) fn attributes(rows: u64) -> impl Iterator<Item = Bytes> + Send {
    let opening = format!(
        r#"{{"sandbox_name":"{SANDBOX}","analysis_date":1794474845,"behash":"0f1e2d3c4b5a69788796a5b4c3d2e1f0","has_html_report":false,"has_pcap":true,"tags":["LONG_SLEEPS","RUNTIME_MODULES"]"#
    );
    let sections = SECTIONS.iter().flat_map(move |section| section.pieces(rows));
    std::iter::once(Bytes::from(opening)).chain(sections).chain([Bytes::from_static(b"}")])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(rows: u64) -> String {
        attributes(rows).map(|piece| String::from_utf8(piece.to_vec()).unwrap()).collect()
    }

    fn nodes(tree: &serde_json::Value) -> usize {
        tree.as_array().unwrap().iter().map(|node| 1 + nodes(&node["children"])).sum()
    }

    #[test]
    fn any_number_of_rows_is_sound_json_with_at_least_so_many_rows() {
        for rows in [0, 1, 7, 100, 10_243] {
            let report: serde_json::Value = serde_json::from_str(&text(rows)).unwrap();
            let lists = SECTIONS.iter().filter(|section| section.attribute != "processes_tree");
            let flat: usize = lists.map(|section| report[section.attribute].as_array().unwrap().len()).sum();
            let total = (flat + nodes(&report["processes_tree"])) as u64;
            assert!((rows..rows + 12).contains(&total), "{rows} asked, {total} made");
        }
    }

    #[test]
    fn the_shares_add_up_and_every_list_ends_in_a_needle() {
        assert_eq!(SECTIONS.iter().map(|section| section.share).sum::<u64>(), 100);
        let report: serde_json::Value = serde_json::from_str(&text(5_000)).unwrap();
        assert!(report["files_opened"].as_array().unwrap().last().unwrap().to_string().contains("needle"));
        assert_eq!(text(5_000), text(5_000));
    }
}
