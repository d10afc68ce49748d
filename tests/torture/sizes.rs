//! Strings x sizes: no text at any size panics, or pushes a border from its place.

use super::is_long;
use super::wire::{Stage, shown};
use std::num::NonZero;

/// Text that programs lay out wrongly.
fn strings() -> Vec<String> {
    let family = "\u{1f468}\u{200d}\u{1f469}\u{200d}\u{1f467}";
    vec![
        "漢字かな交じり文".repeat(40),
        format!("{family}\u{1f1e9}\u{1f1ea}\u{1f44d}\u{1f3fd}").repeat(20),
        "e\u{301}\u{302}\u{303}\u{304}\u{305}".repeat(60),
        format!("z{}", "\u{336}".repeat(5000)),
        "שלום עולם \u{202e}gpj.exe مرحبا".repeat(10),
        "C:\\Users\\x\\AppData\\Local\\Temp\\".repeat(8),
        "w".repeat(70_000),
        "\u{ff76}\u{ff9e}\u{1100}\u{1161}\u{11a8}\u{0e33}\u{0600}1".repeat(20),
        "\u{0}\u{1b}[2J\u{7f}\u{85}\u{2028}\u{feff}\u{e0041}\u{fe0f}".repeat(30),
        "漢\u{200d}\u{fe0f}字\u{ad}".repeat(50),
        String::new(),
    ]
}

fn report() -> Vec<u8> {
    let strings = strings();
    let objects = |field: &str| strings.iter().map(|text| serde_json::json!({ field: text })).collect::<Vec<_>>();
    let tree = strings.iter().rev().fold(serde_json::json!([]), |children, name| {
        serde_json::json!([{ "name": name, "process_id": "1", "children": children }, { "name": name }])
    });
    let wide = strings[0].clone();
    serde_json::to_vec(&serde_json::json!({ "data": { "id": format!("{wide}-1"), "attributes": {
        "sandbox_name": strings[1], "files_opened": strings, "tags": strings, "processes_tree": tree,
        "dns_lookups": objects("hostname"), "signature_matches": objects("name"), "verdicts": strings,
        "registry_keys_set": objects("key"), strings[3].clone(): strings,
    } } }))
    .unwrap()
}

/// Fails unless each box on the screen is whole: from its upper left corner along every edge.
fn assert_whole_boxes(bytes: &[u8], width: u16, height: u16, about: &str) {
    let size = |count: u16| NonZero::new(count).unwrap();
    let mut parser = vt100::Parser::new(size(height), size(width), 0);
    parser.process(bytes);
    let screen = parser.screen();
    let at =
        |row: u16, column: u16| screen.cell(row, column).map(|cell| cell.contents().to_owned()).unwrap_or_default();
    for row in 0..height {
        for column in 0..width {
            let [right, across, below] = match at(row, column).as_str() {
                "╭" => ["╮", "│", "╰"],
                "┏" => ["┓", "┃", "┗"],
                _ => continue,
            };
            let end = (column + 1..width).find(|end| at(row, *end) == right);
            let end = end.unwrap_or_else(|| {
                panic!("{about}: the box at {row},{column} has no right corner\n{}", screen.contents())
            });
            // The chosen row's mark stands on the edge.
            let bottom = (row + 1..height).find(|row| ![across, "›"].contains(&at(*row, column).as_str()));
            let bottom = bottom.unwrap_or_else(|| panic!("{about}: the box at {row},{column} has no bottom"));
            assert_eq!(at(bottom, column), below, "{about}: left edge at {bottom},{column}\n{}", screen.contents());
            for row in row + 1..bottom {
                assert_eq!(at(row, end), across, "{about}: right edge at {row},{end}\n{}", screen.contents());
            }
        }
    }
}

/// Keys that put nothing over the panes: what is covered has no whole border.
const KEYS: [&str; 22] = [
    "j", "k", "G", "g", "tab", "]", "[", "z", "right", "left", "space", "-", "+", "}", "pgdn", "1", "2", "5", "9", "o",
    "0", "4",
];

#[test]
fn every_size_has_whole_borders() {
    let mut stage = Stage::with_report("漢字\u{202e}.json", &report(), 120, 40);
    let step = if is_long() { 1 } else { 19 };
    let mut screens = 0;
    for height in (0..=100).step_by(if is_long() { 1 } else { 13 }) {
        for width in (0..=300).step_by(step) {
            stage.resize(width, height);
            stage.keys(KEYS[usize::from(width + height) % KEYS.len()]);
            let bytes = stage.draw();
            shown(&bytes).unwrap_or_else(|foreign| panic!("{width}x{height}: {foreign}"));
            if width > 0 && height > 0 {
                assert_whole_boxes(&bytes, width, height, &format!("{width}x{height}"));
            }
            screens += 1;
        }
    }
    println!("strings x sizes: {} strings, {screens} sizes", strings().len());
}
