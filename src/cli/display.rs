//! What the user wants of the screen: by flags, by variables, by the config file.

use crate::config::Config;
use crate::environment::variable;
use crate::runtime::Display;
use crate::text;
use crate::view::{Depth, Theme};
use clap::Args;
use clap::builder::PossibleValuesParser;

// Flags about the screen.
#[derive(Debug, Default, Args)]
pub(super) struct Flags {
    /// Theme: auto, dark, light, contrast or mono
    #[arg(long, global = true, value_name = "THEME", value_parser = PossibleValuesParser::new(Theme::names()))]
    theme: Option<String>,
    /// Show ASCII alone; a locale without UTF-8 says so, too
    #[arg(long, global = true)]
    ascii: bool,
    /// Take the mouse: click, wheel, drag a border; with Shift it still selects text
    #[arg(long, global = true)]
    mouse: bool,
    /// Say it all in lines, and draw nothing: for screen readers and simple terminals
    #[arg(long, global = true)]
    plain: bool,
}

impl Flags {
    /// What they set, by the names of the settings.
    pub(super) fn settings(&self) -> impl Iterator<Item = (String, String)> + '_ {
        let theme = self.theme.iter().map(|name| ("theme", name.as_str()));
        let others = [("ascii", self.ascii), ("mouse", self.mouse), ("plain", self.plain)];
        let others = others.into_iter().filter(|(_, is_set)| *is_set).map(|(name, _)| (name, "true"));
        theme.chain(others).map(|(name, value)| (format!("look.{name}"), value.to_owned()))
    }

    /// Settles which characters are shown, before anything is.
    pub(super) fn settle_charset(&self) {
        if self.ascii || is_without_utf8(variable) {
            text::show_ascii_alone();
        }
    }
}

/// What the screen is to be like.
pub(super) fn display(config: &Config) -> Display {
    let look = config.look;
    if look.ascii {
        text::show_ascii_alone();
    }
    let is_dumb = variable("TERM").is_some_and(|term| term == "dumb");
    Display { theme: look.theme, depth: Depth::of(variable), takes_mouse: look.mouse, is_plain: look.plain || is_dumb }
}

/// Whether the locale has another encoding than UTF-8. One that says nothing is taken to have it.
fn is_without_utf8(variable: impl Fn(&str) -> Option<String>) -> bool {
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(variable);
    locale.is_some_and(|locale| !locale.to_lowercase().replace('-', "").contains("utf8"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_variable_that_is_set_tells_the_encoding() {
        let locale = |pairs: &[(&str, &str)]| {
            is_without_utf8(|name| pairs.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned()))
        };
        assert!(!locale(&[]) && !locale(&[("LANG", "de_DE.UTF-8")]) && !locale(&[("LC_ALL", "C.utf8"), ("LANG", "C")]));
        assert!(locale(&[("LANG", "C")]) && locale(&[("LC_CTYPE", "de_DE.ISO-8859-1"), ("LANG", "en_GB.UTF-8")]));
    }
}
