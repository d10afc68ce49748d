//! `[look]`: what the analyst wants of the screen.

use crate::view::Theme;
use serde::de::{Error, Unexpected};
use serde::{Deserialize, Deserializer};

/// The table as it is written.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Look {
    /// The theme; unless set, the one that fits `COLORFGBG`, else dark.
    #[serde(deserialize_with = "theme")]
    pub theme: Option<Theme>,
    /// Whether ASCII alone is shown.
    pub ascii: bool,
    /// Whether the mouse is the program's.
    pub mouse: bool,
    /// Whether it is all said in lines.
    pub plain: bool,
}

fn theme<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Theme>, D::Error> {
    let name = String::deserialize(from)?;
    match (name.as_str(), Theme::named(&name)) {
        ("auto", _) => Ok(None),
        (_, Some(theme)) => Ok(Some(theme)),
        (_, None) => {
            let wanted = format!("one of `{}`", Theme::names().collect::<Vec<_>>().join("`, `"));
            Err(D::Error::invalid_value(Unexpected::Other("no theme's name"), &&*wanted))
        }
    }
}
