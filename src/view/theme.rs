//! Styles by meaning, never by colour.

use ratatui::style::{Color, Modifier, Style};

/// What a piece of the screen means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Meaning {
    /// Ordinary text.
    Text,
    /// What is said about a thing, beside it.
    Detail,
    /// Less important text: labels, guides, hints.
    Faint,
    /// What has the focus: borders and titles.
    Focus,
    /// The chosen row of what has the focus.
    Cursor,
    /// What costs quota.
    Price,
    /// What costs nothing.
    Free,
    /// Something went wrong.
    Problem,
    /// A key.
    Key,
    /// What something is about: a name, a title.
    Strong,
    /// What was sought and is found.
    Found,
}

/// The style of a meaning. No meaning rests on its colour alone: keys, prices and problems are words as well.
#[must_use]
pub fn style(meaning: Meaning) -> Style {
    let plain = Style::new();
    match meaning {
        Meaning::Text => plain,
        Meaning::Detail => plain.fg(Color::Cyan),
        Meaning::Faint => plain.add_modifier(Modifier::DIM),
        Meaning::Focus => plain.fg(Color::Cyan).add_modifier(Modifier::BOLD),
        Meaning::Cursor => plain.add_modifier(Modifier::REVERSED),
        Meaning::Price => plain.fg(Color::Yellow).add_modifier(Modifier::BOLD),
        Meaning::Free => plain.fg(Color::Green),
        Meaning::Problem => plain.fg(Color::Red).add_modifier(Modifier::BOLD),
        Meaning::Key => plain.fg(Color::Cyan),
        Meaning::Strong => plain.add_modifier(Modifier::BOLD),
        Meaning::Found => plain.fg(Color::Yellow).add_modifier(Modifier::BOLD.union(Modifier::UNDERLINED)),
    }
}
