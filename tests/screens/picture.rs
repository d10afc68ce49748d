//! A screen as a picture: cells in, SVG out, the same at every run.

use crate::stage::Stage;
use ratatui::buffer::{Buffer, Cell};
use ratatui::style::{Color, Modifier};
use std::fmt::Write;
use unicode_width::UnicodeWidthStr;

/// Width and height of a cell, in the picture's units.
const CELL: (f32, f32) = (8.4, 18.0);

/// Room around the screen, and above it for the window's bar.
const MARGIN: (f32, f32) = (14.0, 40.0);

/// Colours of the picture: background, window bar, text.
const PAPER: (&str, &str, &str) = ("#1e2230", "#2a2f40", "#d7dbe6");

/// The screen in a window.
pub fn picture(stage: &Stage) -> String {
    let cells = stage.session.terminal().backend().buffer();
    let (width, height) = (f32::from(cells.area.width) * CELL.0, f32::from(cells.area.height) * CELL.1);
    let (whole, tall) = (width + 2.0 * MARGIN.0, height + MARGIN.0 + MARGIN.1);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {whole:.1} {tall:.1}\" width=\"{whole:.0}\" role=\"img\" \
         aria-label=\"behaview in a terminal\">\n\
         <style>text{{font:14px ui-monospace,'DejaVu Sans Mono',Menlo,Consolas,monospace;white-space:pre;fill:{}}}\
         .b{{font-weight:bold}}.d{{opacity:.6}}.u{{text-decoration:underline}}</style>\n\
         <rect width=\"{whole:.1}\" height=\"{tall:.1}\" rx=\"9\" fill=\"{}\"/>\n\
         <path d=\"M0 30V9a9 9 0 0 1 9-9H{:.1}a9 9 0 0 1 9 9V30z\" fill=\"{}\"/>\n",
        PAPER.2,
        PAPER.0,
        whole - 9.0,
        PAPER.1
    );
    for (number, colour) in ["#f0655a", "#e8b84a", "#5fbf5a"].iter().enumerate() {
        writeln!(svg, "<circle cx=\"{}\" cy=\"15\" r=\"5.5\" fill=\"{colour}\"/>", 18 + 18 * number).unwrap();
    }
    for y in 0..cells.area.height {
        row(&mut svg, cells, y);
    }
    svg + "</svg>\n"
}

/// How a stretch of a row looks.
#[derive(PartialEq, Clone)]
struct Ink {
    front: String,
    back: Option<String>,
    class: String,
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
            text += symbol;
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
    if text.trim().is_empty() {
        return;
    }
    let front = if look.front == PAPER.2 { String::new() } else { format!(" fill=\"{}\"", look.front) };
    let class = if look.class.is_empty() { String::new() } else { format!(" class=\"{}\"", look.class) };
    let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    // Every stretch has the width of its cells, whatever the font.
    writeln!(
        svg,
        "<text x=\"{x:.1}\" y=\"{:.1}\" textLength=\"{width:.1}\" lengthAdjust=\"spacingAndGlyphs\" xml:space=\"preserve\"{front}{class}>{text}</text>",
        top + 13.5
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
    let classes = [(Modifier::BOLD, "b"), (Modifier::DIM, "d"), (Modifier::UNDERLINED, "u")];
    let class =
        classes.into_iter().filter(|(modifier, _)| has(*modifier)).map(|(_, name)| name).collect::<Vec<_>>().join(" ");
    Ink { front, back: Some(back).filter(|back| back != PAPER.0), class }
}
