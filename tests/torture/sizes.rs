//! Strings x sizes: no text at any size panics, or pushes a border from its place.

use super::is_long;
use super::wire::{Stage, shown};
use behaview::app::{Area, Layout, Size};
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

/// Fails unless each place's border is whole on both sides and, where no title is, at its bottom.
fn assert_whole_borders(bytes: &[u8], size: Size, layout: &Layout) {
    let cells = |count: u16| NonZero::new(count).unwrap();
    let mut parser = vt100::Parser::new(cells(size.height), cells(size.width), 0);
    parser.process(bytes);
    let screen = parser.screen();
    // The mark of the chosen row and that of what is in sight stand on a border.
    let is_border = |x: u16, y: u16| {
        let cell = screen.cell(y, x).map(|cell| cell.contents().to_owned()).unwrap_or_default();
        cell.chars().all(|c| ('\u{2500}'..='\u{257f}').contains(&c) || "›▐".contains(c)) && !cell.is_empty()
    };
    // A long row covers the lowest rows of the panes, and their lower border moves up.
    let Area { x: left, y: top, width, height } = layout.content;
    let end = top + height - 1;
    let is_whole = |y: &u16| (left..left + width).all(|x| is_border(x, *y));
    let lowest = (end.saturating_sub(3).max(top)..=end).rev().find(is_whole).unwrap_or(end);
    let framed = layout.list.into_iter().chain(layout.panes.iter().map(|(_, area)| *area));
    for area in framed.filter(|area| area.height > 1 && area.y < lowest) {
        let (last, bottom) = (area.x + area.width - 1, (area.y + area.height - 1).min(lowest));
        let sides = (area.y..=bottom).flat_map(|y| [(area.x, y), (last, y)]);
        let sides = sides.chain((area.x..=last).map(|x| (x, bottom)).filter(|_| bottom == lowest));
        // A message covers what stands there.
        for (x, y) in sides.filter(|(_, y)| *y < layout.message.y || layout.message.height == 0) {
            assert!(is_border(x, y), "{size:?}: no border at {x},{y}\n{}", screen.contents());
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
            let model = &stage.session.model;
            if model.size.is_enough() {
                assert_whole_borders(&bytes, model.size, &model.layout());
            }
            screens += 1;
        }
    }
    println!("strings x sizes: {} strings, {screens} sizes", strings().len());
}
