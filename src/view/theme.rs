//! Colours by meaning: each theme gives a meaning its style, each terminal shows as much of it as it can.

use ratatui::style::{Color, Modifier, Style};
use serde::Deserialize;

/// What a piece of the screen means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Meaning {
    Text,
    /// Details of a thing, beside it.
    Detail,
    /// Less important text: labels, guides, hints.
    Faint,
    /// Frames of what has no focus.
    Frame,
    /// What has the focus: borders and titles.
    Focus,
    /// The chosen row of what has the focus.
    Cursor,
    Price,
    Free,
    Problem,
    Key,
    /// What something is about: a name, a title.
    Strong,
    /// A match of a search or filter.
    Found,
}

/// A theme. No meaning rests on its colour alone: keys, prices and problems are words, the chosen row has a mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Theme {
    #[default]
    Dark,
    Light,
    /// Few and strong colours on the terminal's own background.
    Contrast,
    /// No colours: bold, faint, underlined and reversed.
    Mono,
}

/// How many colours the terminal shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Depth {
    None,
    /// The sixteen that the user's own palette names.
    Sixteen,
    /// Those and a cube of 216, and greys.
    Indexed,
    True,
}

/// The theme and the colours of the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Look {
    pub theme: Theme,
    /// The colours that it may use.
    pub depth: Depth,
}

impl Default for Look {
    fn default() -> Self {
        Self { theme: Theme::Dark, depth: Depth::Sixteen }
    }
}

/// The meaning of a piece of text within the meaning of its row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Tone {
    pub(super) meaning: Meaning,
    /// The meaning of the whole row, if it has one.
    pub(super) base: Option<Meaning>,
    /// Whether the tone replaces the style of the cell instead of adding to it.
    pub(super) is_opaque: bool,
}

impl From<Meaning> for Tone {
    fn from(meaning: Meaning) -> Self {
        Self { meaning, base: None, is_opaque: false }
    }
}

/// The style of one meaning: its colour on terminals with true colour, with 256 and with sixteen, and its letters.
#[derive(Debug, Clone, Copy)]
struct Ink {
    front: Option<(u32, u8, Color)>,
    back: Option<(u32, u8)>,
    letters: Modifier,
}

const fn plain(letters: Modifier) -> Ink {
    Ink { front: None, back: None, letters }
}

const fn ink(rgb: u32, indexed: u8, sixteen: Color, letters: Modifier) -> Ink {
    Ink { front: Some((rgb, indexed, sixteen)), back: None, letters }
}

const NONE: Modifier = Modifier::empty();
const BOLD: Modifier = Modifier::BOLD;
const DIM: Modifier = Modifier::DIM;

impl Theme {
    /// Every theme.
    pub const ALL: [Self; 4] = [Self::Dark, Self::Light, Self::Contrast, Self::Mono];

    /// Its name in the config.
    pub fn name(self) -> &'static str {
        match self {
            Self::Dark => "dark",
            Self::Light => "light",
            Self::Contrast => "contrast",
            Self::Mono => "mono",
        }
    }

    /// What a theme can be called where one is chosen: `auto` is the one that fits the terminal.
    pub fn names() -> impl Iterator<Item = &'static str> {
        std::iter::once("auto").chain(Self::ALL.map(Self::name))
    }

    /// The theme of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|theme| theme.name() == name)
    }

    fn ink(self, meaning: Meaning) -> Ink {
        match self {
            Self::Dark => dark(meaning),
            Self::Light => light(meaning),
            Self::Contrast => contrast(meaning),
            Self::Mono => mono(meaning),
        }
    }
}

fn dark(meaning: Meaning) -> Ink {
    match meaning {
        Meaning::Text => plain(NONE),
        Meaning::Detail => ink(0x8f_bcbb, 109, Color::Cyan, NONE),
        Meaning::Faint => ink(0x8b_93a7, 103, Color::DarkGray, NONE),
        Meaning::Frame => ink(0x4c_5670, 240, Color::DarkGray, NONE),
        Meaning::Focus => ink(0x7a_a8f0, 111, Color::Cyan, BOLD),
        Meaning::Cursor => Ink { back: Some((0x2c_3a55, 237)), ..plain(BOLD) },
        Meaning::Price => ink(0xeb_bc5c, 179, Color::Yellow, BOLD),
        Meaning::Free => ink(0x94_c97a, 114, Color::Green, NONE),
        Meaning::Problem => ink(0xf0_7178, 204, Color::LightRed, BOLD),
        Meaning::Key => ink(0x7f_c8ff, 117, Color::Cyan, NONE),
        Meaning::Strong => plain(BOLD),
        Meaning::Found => ink(0xeb_bc5c, 179, Color::Yellow, BOLD.union(Modifier::UNDERLINED)),
    }
}

fn light(meaning: Meaning) -> Ink {
    match meaning {
        Meaning::Text => plain(NONE),
        Meaning::Detail => ink(0x1f_6f78, 24, Color::Blue, NONE),
        Meaning::Faint => ink(0x5c_6370, 241, Color::DarkGray, NONE),
        Meaning::Frame => ink(0xa4_abb8, 145, Color::DarkGray, NONE),
        Meaning::Focus => ink(0x1a_56b0, 25, Color::Blue, BOLD),
        Meaning::Cursor => Ink { back: Some((0xd5_e3f7, 189)), ..plain(BOLD) },
        Meaning::Price => ink(0x8f_5a00, 94, Color::Magenta, BOLD),
        Meaning::Free => ink(0x2c_6e1f, 22, Color::Green, NONE),
        Meaning::Problem => ink(0xb3_1d28, 124, Color::Red, BOLD),
        Meaning::Key => ink(0x1a_56b0, 25, Color::Blue, NONE),
        Meaning::Strong => plain(BOLD),
        Meaning::Found => ink(0x8f_5a00, 94, Color::Magenta, BOLD.union(Modifier::UNDERLINED)),
    }
}

fn contrast(meaning: Meaning) -> Ink {
    match meaning {
        Meaning::Text | Meaning::Detail | Meaning::Faint | Meaning::Frame => plain(NONE),
        Meaning::Focus | Meaning::Strong | Meaning::Free => plain(BOLD),
        Meaning::Cursor => plain(Modifier::REVERSED),
        Meaning::Price | Meaning::Key | Meaning::Found => plain(BOLD.union(Modifier::UNDERLINED)),
        Meaning::Problem => plain(BOLD.union(Modifier::REVERSED)),
    }
}

fn mono(meaning: Meaning) -> Ink {
    match meaning {
        Meaning::Text | Meaning::Detail | Meaning::Free => plain(NONE),
        Meaning::Faint | Meaning::Frame => plain(DIM),
        Meaning::Focus | Meaning::Strong | Meaning::Key => plain(BOLD),
        Meaning::Cursor => plain(Modifier::REVERSED),
        Meaning::Price | Meaning::Problem | Meaning::Found => plain(BOLD.union(Modifier::UNDERLINED)),
    }
}

impl Look {
    pub fn style(self, meaning: Meaning) -> Style {
        let ink = if self.depth == Depth::None { mono(meaning) } else { self.theme.ink(meaning) };
        let mut style = Style::new().add_modifier(ink.letters);
        if let Some((rgb, indexed, sixteen)) = ink.front {
            style = style.fg(self.colour(rgb, indexed).unwrap_or(sixteen));
        }
        match ink.back.map(|(rgb, indexed)| self.colour(rgb, indexed)) {
            None => style,
            Some(Some(colour)) => style.bg(colour),
            // Sixteen colours have none that is quiet behind every other.
            Some(None) => style.add_modifier(Modifier::REVERSED),
        }
    }

    pub(super) fn tone(self, tone: Tone) -> Style {
        let base = tone.base.map(|base| self.style(base)).unwrap_or_default();
        // A reversed row is marked as one: the rows around it show what its pieces mean.
        let is_reversed = base.add_modifier.contains(Modifier::REVERSED);
        let style = if is_reversed { base } else { base.patch(self.style(tone.meaning)) };
        if tone.is_opaque { Style::reset().patch(style) } else { style }
    }

    fn colour(self, rgb: u32, indexed: u8) -> Option<Color> {
        let [_, red, green, blue] = rgb.to_be_bytes();
        match self.depth {
            Depth::True => Some(Color::Rgb(red, green, blue)),
            Depth::Indexed => Some(Color::Indexed(indexed)),
            Depth::Sixteen | Depth::None => None,
        }
    }
}

impl Depth {
    /// How many colours the variables around the program promise.
    pub fn of(variable: impl Fn(&str) -> Option<String>) -> Self {
        let set = |name: &str| variable(name).filter(|value| !value.is_empty());
        let (term, more) = (set("TERM").unwrap_or_default(), set("COLORTERM").unwrap_or_default());
        let forced = set("CLICOLOR_FORCE").is_some_and(|value| value != "0");
        let refused = set("NO_COLOR").is_some() || set("CLICOLOR").is_some_and(|value| value == "0");
        let promised = if more == "truecolor" || more == "24bit" || term.ends_with("-direct") {
            Self::True
        } else if term.contains("256color") {
            Self::Indexed
        } else if term.is_empty()
            || term == "dumb"
            || term.starts_with("vt1")
            || term.starts_with("vt2")
            || term.ends_with("-mono")
            || term.ends_with("-m")
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

    impl Meaning {
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

    /// How bright a colour is to the eye, from 0 to 1, by WCAG.
    fn luminance(rgb: u32) -> f64 {
        let [_, red, green, blue] = rgb.to_be_bytes().map(|part| {
            let part = f64::from(part) / 255.0;
            if part <= 0.04045 { part / 12.92 } else { ((part + 0.055) / 1.055).powf(2.4) }
        });
        0.2126 * red + 0.7152 * green + 0.0722 * blue
    }

    fn contrast_of(one: u32, other: u32) -> f64 {
        let (one, other) = (luminance(one) + 0.05, luminance(other) + 0.05);
        one.max(other) / one.min(other)
    }

    #[test]
    fn words_can_be_read_on_the_background_and_on_the_chosen_row() {
        for (theme, background) in [(Theme::Dark, 0x1e_2230), (Theme::Light, 0xff_ffff)] {
            let row = theme.ink(Meaning::Cursor).back.unwrap().0;
            for meaning in Meaning::ALL.into_iter().filter(|meaning| *meaning != Meaning::Frame) {
                let Some((rgb, ..)) = theme.ink(meaning).front else { continue };
                for behind in [background, row] {
                    let contrast = contrast_of(rgb, behind);
                    assert!(contrast >= 3.5, "{theme:?} {meaning:?} on {behind:06x}: {contrast:.1}");
                }
            }
        }
    }

    #[test]
    fn without_colours_no_style_has_one() {
        let looks = Theme::ALL.map(|theme| Look { theme, depth: Depth::None });
        let looks =
            looks.into_iter().chain([Theme::Mono, Theme::Contrast].map(|theme| Look { theme, depth: Depth::True }));
        for look in looks {
            assert!(
                Meaning::ALL
                    .iter()
                    .all(|meaning| look.style(*meaning).fg.is_none() && look.style(*meaning).bg.is_none())
            );
        }
    }

    #[test]
    fn what_costs_and_what_went_wrong_stand_out_in_every_theme_without_colour() {
        for look in
            Theme::ALL.into_iter().flat_map(|theme| [Depth::None, Depth::Sixteen].map(|depth| Look { theme, depth }))
        {
            for meaning in [Meaning::Price, Meaning::Problem, Meaning::Cursor] {
                assert_ne!(
                    look.style(meaning).add_modifier,
                    look.style(Meaning::Text).add_modifier,
                    "{look:?} {meaning:?}"
                );
            }
        }
        // Nothing blinks.
        for look in Theme::ALL.map(|theme| Look { theme, depth: Depth::True }) {
            let blink = Modifier::SLOW_BLINK | Modifier::RAPID_BLINK;
            assert!(Meaning::ALL.iter().all(|meaning| !look.style(*meaning).add_modifier.intersects(blink)));
        }
    }

    #[test]
    fn the_variables_say_how_many_colours_there_are() {
        let depth = |pairs: &[(&str, &str)]| {
            Depth::of(|name| pairs.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned()))
        };
        assert_eq!(depth(&[("TERM", "xterm-256color"), ("COLORTERM", "truecolor")]), Depth::True);
        assert_eq!(depth(&[("TERM", "xterm-256color")]), Depth::Indexed);
        assert_eq!(depth(&[("TERM", "linux")]), Depth::Sixteen);
        assert_eq!(depth(&[("TERM", "dumb")]), Depth::None);
        assert_eq!(depth(&[("TERM", "xterm"), ("NO_COLOR", "1")]), Depth::None);
        assert_eq!(depth(&[("TERM", "xterm"), ("NO_COLOR", "")]), Depth::Sixteen);
        assert_eq!(depth(&[("TERM", "xterm"), ("CLICOLOR", "0")]), Depth::None);
        assert_eq!(depth(&[("TERM", "dumb"), ("NO_COLOR", "1"), ("CLICOLOR_FORCE", "1")]), Depth::Sixteen);
    }
}
