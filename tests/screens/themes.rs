//! Every theme as it looks, styles and all; and that nothing is said by colour alone.

use crate::harness::TuiHarness;
use behaview::view::{Appearance, ColorDepth, Theme};
use ratatui::style::{Color, Modifier};
use std::collections::BTreeMap;
use std::fmt::Write;

fn in_pane(look: Appearance) -> TuiHarness {
    let mut tui = TuiHarness::listed();
    tui.session.look = look;
    tui.size(100, 18).keys("enter j");
    tui
}

/// The screen's letters, then the same cells with a letter for each style, then the styles.
fn styled(tui: &TuiHarness) -> String {
    let buffer = tui.session.terminal.backend().buffer();
    let mut known: BTreeMap<String, char> = BTreeMap::new();
    let mut map = String::new();
    for row in buffer.content().chunks(usize::from(buffer.area.width)) {
        for cell in row {
            let style = format!("{:?} on {:?} {:?}", cell.fg, cell.bg, cell.modifier);
            let next = char::from(b'a' + u8::try_from(known.len()).unwrap());
            let letter = *known.entry(style).or_insert(next);
            map.push(if letter == 'a' { '.' } else { letter });
        }
        map = map.trim_end_matches('.').to_owned() + "\n";
    }
    let mut styles: Vec<_> = known.into_iter().map(|(style, letter)| (letter, style)).collect();
    styles.sort();
    let mut text = tui.screen() + "\n" + &map + "\n";
    for (letter, style) in styles {
        writeln!(text, "{} {style}", if letter == 'a' { '.' } else { letter }).unwrap();
    }
    text
}

#[test]
fn every_theme_at_every_depth() {
    for theme in Theme::ALL {
        let tui = in_pane(Appearance { theme, depth: ColorDepth::True });
        insta::assert_snapshot!(format!("look_{}", theme.name()), styled(&tui));
    }
    for (name, depth) in [("none", ColorDepth::None), ("16", ColorDepth::Sixteen), ("256", ColorDepth::Indexed)] {
        insta::assert_snapshot!(
            format!("look_dark_{name}"),
            styled(&in_pane(Appearance { theme: Theme::Dark, depth }))
        );
    }
}

#[test]
fn text_is_equal_in_all_themes_and_never_blinks() {
    let letters = in_pane(Appearance::default()).screen();
    for theme in Theme::ALL {
        for depth in [ColorDepth::None, ColorDepth::True] {
            let tui = in_pane(Appearance { theme, depth });
            assert_eq!(tui.screen(), letters, "{theme:?} {depth:?}");
            for cell in tui.session.terminal.backend().buffer().content() {
                assert!(!cell.modifier.intersects(Modifier::SLOW_BLINK | Modifier::RAPID_BLINK));
                assert!(depth == ColorDepth::True || (cell.fg, cell.bg) == (Color::Reset, Color::Reset));
            }
        }
    }
    assert!(letters.contains("›"), "the chosen row has a mark:\n{letters}");
}
