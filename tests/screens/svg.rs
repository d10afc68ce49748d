//! A screen as a picture: cells in, SVG out, the same at every run.
//!
//! Borders are lines, not letters: they meet in any font. Looks are attributes, which more programs
//! understand than style sheets.

use crate::harness::TuiHarness;
use ratatui::buffer::{Buffer, Cell};
use ratatui::style::{Color, Modifier};
use std::collections::BTreeMap;
use std::fmt::Write;
use unicode_width::UnicodeWidthStr;

/// Width and height of a cell, in the picture's units.
const CELL: (f32, f32) = (8.4, 18.0);

/// Room around the screen, and above it for the window's bar.
const MARGIN: (f32, f32) = (16.0, 42.0);

/// Colours of the picture: background, window bar, text, faint text.
const PAPER: (&str, &str, &str, &str) = ("#1e2230", "#2a2f40", "#d7dbe6", "#8b93a7");

/// How the picture is lettered.
const FONT: &str = "ui-monospace,SFMono-Regular,Menlo,'DejaVu Sans Mono',Consolas,monospace";

/// Radius of a round corner.
const CORNER: f32 = 4.2;

/// The screen in a window.
pub fn svg(tui: &TuiHarness, title: &str) -> String {
    let cells = tui.session.terminal.backend().buffer();
    let (width, height) = (f32::from(cells.area.width) * CELL.0, f32::from(cells.area.height) * CELL.1);
    let (whole, tall) = (width + 2.0 * MARGIN.0, height + MARGIN.0 + MARGIN.1);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {whole:.1} {tall:.1}\" width=\"{whole:.0}\" \
         height=\"{tall:.0}\" role=\"img\" aria-label=\"{title} in a terminal\">\n\
         <rect x=\".5\" y=\".5\" width=\"{:.1}\" height=\"{:.1}\" rx=\"10\" fill=\"{}\" stroke=\"#3b4257\"/>\n\
         <path d=\"M1 30V11a10 10 0 0 1 10-10H{:.1}a10 10 0 0 1 10 10V30z\" fill=\"{}\"/>\n",
        whole - 1.0,
        tall - 1.0,
        PAPER.0,
        whole - 11.0,
        PAPER.1
    );
    for (number, colour) in ["#f0655a", "#e8b84a", "#5fbf5a"].iter().enumerate() {
        writeln!(svg, "<circle cx=\"{}\" cy=\"15.5\" r=\"5.5\" fill=\"{colour}\"/>", 20 + 19 * number).unwrap();
    }
    writeln!(
        svg,
        "<g font-family=\"{FONT}\" font-size=\"14\" fill=\"{}\">\n<text x=\"{:.1}\" y=\"20\" text-anchor=\"middle\" \
         font-size=\"13\" fill=\"{}\">{title}</text>",
        PAPER.2,
        whole / 2.0,
        PAPER.3
    )
    .unwrap();
    for y in 0..cells.area.height {
        row(&mut svg, cells, y);
    }
    svg + "</g>\n" + &borders(cells) + "</svg>\n"
}

/// How a stretch of a row looks.
#[derive(PartialEq, Clone)]
struct Ink {
    front: String,
    back: Option<String>,
    more: String,
}

fn row(svg: &mut String, cells: &Buffer, y: u16) {
    let top = MARGIN.1 + f32::from(y) * CELL.1;
    let mut x = 0;
    while x < cells.area.width {
        let start = x;
        let look = ink(&cells[(x, y)]);
        let mut text = String::new();
        while x < cells.area.width && ink(&cells[(x, y)]) == look {
            let symbol = cells[(x, y)].symbol();
            text += if arms(symbol).is_some() { " " } else { symbol };
            x += u16::try_from(symbol.width().max(1)).unwrap();
        }
        stretch(svg, &text, MARGIN.0 + f32::from(start) * CELL.0, top, f32::from(x - start) * CELL.0, &look);
    }
}

fn stretch(svg: &mut String, text: &str, x: f32, top: f32, width: f32, look: &Ink) {
    if let Some(back) = &look.back {
        writeln!(svg, "<rect x=\"{x:.1}\" y=\"{top:.1}\" width=\"{width:.1}\" height=\"{}\" fill=\"{back}\"/>", CELL.1)
            .unwrap();
    }
    let left = text.chars().take_while(|letter| *letter == ' ').count();
    let inside = text.trim_matches(' ');
    if inside.is_empty() {
        return;
    }
    let front = if look.front == PAPER.2 { String::new() } else { format!(" fill=\"{}\"", look.front) };
    let (x, width) = (x + left as f32 * CELL.0, inside.width() as f32 * CELL.0);
    let inside = inside.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    // Every stretch has the width of its cells, whatever the font.
    writeln!(
        svg,
        "<text x=\"{x:.1}\" y=\"{:.1}\" textLength=\"{width:.1}\" lengthAdjust=\"spacingAndGlyphs\" xml:space=\"preserve\"{front}{}>{inside}</text>",
        top + 13.5,
        look.more
    )
    .unwrap();
}

fn ink(cell: &Cell) -> Ink {
    let hex = |colour: Color, usual: &str| match colour {
        Color::Rgb(red, green, blue) => format!("#{red:02x}{green:02x}{blue:02x}"),
        Color::Reset => usual.to_owned(),
        other => panic!("the picture is drawn in true colour, not in {other:?}"),
    };
    let has = |modifier| cell.modifier.contains(modifier);
    let (mut front, mut back) = (hex(cell.fg, PAPER.2), hex(cell.bg, PAPER.0));
    if has(Modifier::REVERSED) {
        std::mem::swap(&mut front, &mut back);
    }
    let more = [
        (Modifier::BOLD, " font-weight=\"bold\""),
        (Modifier::DIM, " opacity=\".6\""),
        (Modifier::UNDERLINED, " text-decoration=\"underline\""),
    ];
    let more = more.into_iter().filter(|(modifier, _)| has(*modifier)).map(|(_, words)| words).collect();
    Ink { front, back: Some(back).filter(|back| back != PAPER.0), more }
}

/// Lines from the middle of a border's cell up, right, down and left: 1 is thin, 2 is thick.
fn arms(symbol: &str) -> Option<[u8; 4]> {
    Some(match symbol {
        "─" => [0, 1, 0, 1],
        "│" => [1, 0, 1, 0],
        "╭" | "┌" => [0, 1, 1, 0],
        "╮" | "┐" => [0, 0, 1, 1],
        "╰" | "└" => [1, 1, 0, 0],
        "╯" | "┘" => [1, 0, 0, 1],
        "├" => [1, 1, 1, 0],
        "━" => [0, 2, 0, 2],
        "┃" => [2, 0, 2, 0],
        "┏" => [0, 2, 2, 0],
        "┓" => [0, 0, 2, 2],
        "┗" => [2, 2, 0, 0],
        "┛" => [2, 0, 0, 2],
        _ => return None,
    })
}

/// Every border, a path for each colour and width.
fn borders(cells: &Buffer) -> String {
    let mut paths: BTreeMap<(String, u8), String> = BTreeMap::new();
    for y in 0..cells.area.height {
        for x in 0..cells.area.width {
            let cell = &cells[(x, y)];
            let Some(arms) = arms(cell.symbol()) else { continue };
            let weight = arms.into_iter().max().unwrap();
            let path = paths.entry((ink(cell).front, weight)).or_default();
            let is_alike = |x: u16, y: u16| cells[(x, y)].symbol() == cell.symbol() && ink(&cells[(x, y)]) == ink(cell);
            match cell.symbol() {
                // A straight line is drawn once, from its first cell.
                "─" | "━" if x > 0 && is_alike(x - 1, y) => {}
                "│" | "┃" if y > 0 && is_alike(x, y - 1) => {}
                "─" | "━" => {
                    let cells = (x..cells.area.width).take_while(|x| is_alike(*x, y)).count();
                    let (left, middle) = (MARGIN.0 + f32::from(x) * CELL.0, MARGIN.1 + (f32::from(y) + 0.5) * CELL.1);
                    write!(path, "M{left:.1} {middle:.1}h{:.1}", cells as f32 * CELL.0).unwrap();
                }
                "│" | "┃" => {
                    let cells = (y..cells.area.height).take_while(|y| is_alike(x, *y)).count();
                    let (middle, top) = (MARGIN.0 + (f32::from(x) + 0.5) * CELL.0, MARGIN.1 + f32::from(y) * CELL.1);
                    write!(path, "M{middle:.1} {top:.1}v{:.1}", cells as f32 * CELL.1).unwrap();
                }
                symbol => joint(path, symbol, arms, x, y),
            }
        }
    }
    let path = |((colour, weight), path): ((String, u8), String)| {
        format!(
            "<path d=\"{path}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"{:.1}\"/>\n",
            f32::from(weight) * 1.1
        )
    };
    paths.into_iter().map(path).collect()
}

/// A cell in which lines meet, or turn round a corner.
fn joint(path: &mut String, symbol: &str, arms: [u8; 4], x: u16, y: u16) {
    let (left, top) = (MARGIN.0 + f32::from(x) * CELL.0, MARGIN.1 + f32::from(y) * CELL.1);
    let (middle, centre) = (left + CELL.0 / 2.0, top + CELL.1 / 2.0);
    let ends = [(middle, top), (left + CELL.0, centre), (middle, top + CELL.1), (left, centre)];
    if "╭╮╰╯".contains(symbol) {
        let upright = if arms[0] > 0 { 0 } else { 2 };
        let level = if arms[1] > 0 { 1 } else { 3 };
        let turn = centre + if upright == 0 { -CORNER } else { CORNER };
        let (end, aside) = (ends[upright], ends[level]);
        write!(path, "M{:.1} {:.1}V{turn:.1}Q{middle:.1} {centre:.1} {:.1} {:.1}", end.0, end.1, aside.0, aside.1)
            .unwrap();
        return;
    }
    for (end, _) in ends.iter().zip(arms).filter(|(_, arm)| *arm > 0) {
        write!(path, "M{middle:.1} {centre:.1}L{:.1} {:.1}", end.0, end.1).unwrap();
    }
}
