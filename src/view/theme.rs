//! Themes: the style of each role, reduced to the colours of the terminal.

use crate::text::names;
use ratatui::style::Color::{self, Blue, Cyan, DarkGray, Green, LightRed, Magenta, Red, Reset, Yellow};
use ratatui::style::{Modifier, Style};

/// The role of a piece of text, which has a style in each theme.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    Text,
    Detail,
    Faint,
    Frame,
    Focus,
    Cursor,
    Price,
    Free,
    Problem,
    Key,
    Strong,
    Found,
}

names! {
    /// A theme. No meaning is colour alone: keys, prices and problems have text, the row a mark.
    #[derive(Default)]
    Theme {
        #[default]
        Dark "dark",
        Light "light",
        /// Few and strong colours on the terminal's own background.
        Contrast "contrast",
        /// No colours: bold, faint, underlined and reversed.
        Mono "mono",
    }
}

/// The number of colours that the terminal shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum ColorDepth {
    None,
    /// The sixteen colours of the terminal's own palette.
    #[default]
    Sixteen,
    /// Those, a cube of 216 colours, and greys.
    Indexed,
    True,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Appearance {
    pub theme: Theme,
    pub depth: ColorDepth,
}

const NONE: Modifier = Modifier::empty();
const BOLD: Modifier = Modifier::BOLD;
const DIM: Modifier = Modifier::DIM;
const REVERSED: Modifier = Modifier::REVERSED;

impl Theme {
    /// Returns the config's names of themes: `auto` selects the one that fits the terminal.
    pub fn names() -> impl Iterator<Item = &'static str> {
        std::iter::once("auto").chain(Self::ALL.map(Self::name))
    }
}

/// A colour on terminals with true colour, with 256 and with sixteen.
type ThemeColor = (u32, u8, Color);

/// Returns a role's style: modifiers with colours, dark and light colours, contrast's, mono's.
fn ink(meaning: Role) -> (Modifier, Option<[ThemeColor; 2]>, Modifier, Modifier) {
    let marked = BOLD.union(Modifier::UNDERLINED);
    match meaning {
        Role::Text => (NONE, None, NONE, NONE),
        Role::Detail => (NONE, Some([(0x8f_bcbb, 109, Cyan), (0x1f_6f78, 24, Blue)]), NONE, NONE),
        Role::Faint => (NONE, Some([(0x8b_93a7, 103, DarkGray), (0x5c_6370, 241, DarkGray)]), NONE, DIM),
        Role::Frame => (NONE, Some([(0x4c_5670, 240, DarkGray), (0xa4_abb8, 145, DarkGray)]), NONE, DIM),
        Role::Focus => (BOLD, Some([(0x7a_a8f0, 111, Cyan), (0x1a_56b0, 25, Blue)]), BOLD, BOLD),
        // Behind the text.
        Role::Cursor => (BOLD, Some([(0x2c_3a55, 237, Reset), (0xd5_e3f7, 189, Reset)]), REVERSED, REVERSED),
        Role::Price => (BOLD, Some([(0xeb_bc5c, 179, Yellow), (0x8f_5a00, 94, Magenta)]), marked, marked),
        Role::Free => (NONE, Some([(0x94_c97a, 114, Green), (0x2c_6e1f, 22, Green)]), BOLD, NONE),
        Role::Problem => {
            (BOLD, Some([(0xf0_7178, 204, LightRed), (0xb3_1d28, 124, Red)]), BOLD.union(REVERSED), marked)
        }
        Role::Key => (NONE, Some([(0x7f_c8ff, 117, Cyan), (0x1a_56b0, 25, Blue)]), marked, BOLD),
        Role::Strong => (BOLD, None, BOLD, BOLD),
        Role::Found => (marked, Some([(0xeb_bc5c, 179, Yellow), (0x8f_5a00, 94, Magenta)]), marked, marked),
    }
}

impl Appearance {
    pub(crate) fn style(self, meaning: Role) -> Style {
        let (letters, hues, contrast, mono) = ink(meaning);
        let style = Style::new();
        let hue = match (self.depth, self.theme) {
            (ColorDepth::None, _) | (_, Theme::Mono) => return style.add_modifier(mono),
            (_, Theme::Contrast) => return style.add_modifier(contrast),
            (_, Theme::Dark) => hues.map(|[dark, _]| dark),
            (_, Theme::Light) => hues.map(|[_, light]| light),
        };
        let style = style.add_modifier(letters);
        let Some((rgb, indexed, sixteen)) = hue else { return style };
        let [_, red, green, blue] = rgb.to_be_bytes();
        match (meaning, self.depth) {
            // Sixteen colours include none that is suitable behind all others.
            (Role::Cursor, ColorDepth::Sixteen) => style.add_modifier(REVERSED),
            (Role::Cursor, ColorDepth::Indexed) => style.bg(Color::Indexed(indexed)),
            (Role::Cursor, _) => style.bg(Color::Rgb(red, green, blue)),
            (_, ColorDepth::Sixteen) => style.fg(sixteen),
            (_, ColorDepth::Indexed) => style.fg(Color::Indexed(indexed)),
            _ => style.fg(Color::Rgb(red, green, blue)),
        }
    }
}

/// Starts of `TERM` with true colour, as Windows' consoles have: ssh and sudo drop `COLORTERM`.
const TRUE_COLOR: [&str; 7] = ["alacritty", "contour", "foot", "rio", "wezterm", "xterm-ghostty", "xterm-kitty"];

impl ColorDepth {
    pub fn of(variable: impl Fn(&str) -> Option<String>) -> Self {
        let set = |name: &str| variable(name).filter(|value| !value.is_empty());
        let term = set("TERM").unwrap_or_default();
        let more = set("COLORTERM").unwrap_or_default();
        let forced = set("CLICOLOR_FORCE").is_some_and(|value| value != "0");
        let refused = set("NO_COLOR").is_some() || set("CLICOLOR").is_some_and(|value| value == "0");
        let is_modern = cfg!(windows) && term.is_empty() || TRUE_COLOR.iter().any(|name| term.starts_with(name));
        let promised = if is_modern || more == "truecolor" || more == "24bit" || term.ends_with("-direct") {
            Self::True
        } else if term.contains("256color") {
            Self::Indexed
        } else if ["", "dumb"].contains(&term.as_str())
            || ["vt1", "vt2"].iter().any(|start| term.starts_with(start))
            || ["-mono", "-m"].iter().any(|end| term.ends_with(end))
        {
            Self::None
        } else {
            Self::Sixteen
        };
        match (forced, refused) {
            (true, _) => promised.max(Self::Sixteen),
            (false, true) => Self::None,
            (false, false) => promised,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Role {
        const ALL: [Self; 12] = [
            Self::Text,
            Self::Detail,
            Self::Faint,
            Self::Frame,
            Self::Focus,
            Self::Cursor,
            Self::Price,
            Self::Free,
            Self::Problem,
            Self::Key,
            Self::Strong,
            Self::Found,
        ];
    }

    /// Returns how bright a colour is to the eye, from 0 to 1, by WCAG.
    fn luminance(rgb: u32) -> f64 {
        let [_, red, green, blue] = rgb.to_be_bytes().map(|part| {
            let part = f64::from(part) / 255.0;
            if part <= 0.04045 { part / 12.92 } else { ((part + 0.055) / 1.055).powf(2.4) }
        });
        0.2126 * red + 0.7152 * green + 0.0722 * blue
    }

    fn contrast_of(one: u32, other: u32) -> f64 {
        let one = luminance(one) + 0.05;
        let other = luminance(other) + 0.05;
        one.max(other) / one.min(other)
    }

    #[test]
    fn text_contrasts_with_background_and_cursor_row() {
        for (theme, background) in [0x1e_2230, 0xff_ffff].into_iter().enumerate() {
            let row = ink(Role::Cursor).1.unwrap()[theme].0;
            for meaning in Role::ALL.into_iter().filter(|meaning| !matches!(meaning, Role::Frame | Role::Cursor)) {
                let Some((rgb, ..)) = ink(meaning).1.map(|hues| hues[theme]) else { continue };
                for behind in [background, row] {
                    let contrast = contrast_of(rgb, behind);
                    assert!(contrast >= 3.5, "{theme:?} {meaning:?} on {behind:06x}: {contrast:.1}");
                }
            }
        }
    }

    #[test]
    fn prices_and_problems_are_marked_without_colour() {
        let looks = |theme| [ColorDepth::None, ColorDepth::Sixteen].map(|depth| Appearance { theme, depth });
        for look in Theme::ALL.into_iter().flat_map(looks) {
            for meaning in [Role::Price, Role::Problem, Role::Cursor] {
                assert_ne!(
                    look.style(meaning).add_modifier,
                    look.style(Role::Text).add_modifier,
                    "{look:?} {meaning:?}"
                );
            }
        }
        // Nothing blinks.
        for look in Theme::ALL.map(|theme| Appearance { theme, depth: ColorDepth::True }) {
            let blink = Modifier::SLOW_BLINK | Modifier::RAPID_BLINK;
            assert!(Role::ALL.iter().all(|meaning| !look.style(*meaning).add_modifier.intersects(blink)));
        }
    }

    #[test]
    fn environment_determines_the_colour_depth() {
        let depth = |pairs: &[(&str, &str)]| {
            ColorDepth::of(|name| pairs.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned()))
        };
        assert_eq!(depth(&[("TERM", "xterm-256color"), ("COLORTERM", "truecolor")]), ColorDepth::True);
        assert_eq!(depth(&[("TERM", "xterm-256color")]), ColorDepth::Indexed);
        for term in ["xterm-kitty", "alacritty", "foot-extra", "xterm-ghostty", "tmux-direct"] {
            assert_eq!(depth(&[("TERM", term)]), ColorDepth::True);
        }
        assert_eq!(depth(&[("TERM", "linux")]), ColorDepth::Sixteen);
        assert_eq!(depth(&[("TERM", "dumb")]), ColorDepth::None);
        assert_eq!(depth(&[("TERM", "xterm"), ("NO_COLOR", "1")]), ColorDepth::None);
        assert_eq!(depth(&[("TERM", "xterm"), ("NO_COLOR", "")]), ColorDepth::Sixteen);
        assert_eq!(depth(&[("TERM", "xterm"), ("CLICOLOR", "0")]), ColorDepth::None);
        assert_eq!(depth(&[("TERM", "dumb"), ("NO_COLOR", "1"), ("CLICOLOR_FORCE", "1")]), ColorDepth::Sixteen);
    }
}
