//! The tables of the config file as they are written.

use super::masked;
use crate::app::Keymap;
use crate::app::keys::keymap::{Change, Mistake};
use crate::app::scan::follow::Pace;
use crate::quota::{Entitlement, Entitlements};
use crate::view::Theme;
use clap::Args;
use clap::builder::BoolishValueParser;
use serde::de::{Error, Unexpected};
use serde::{Deserialize, Deserializer};
use std::collections::BTreeMap;
use std::num::NonZeroU32;

/// How a scan is followed: the seconds between two polls, and the most calls.
#[derive(Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct FollowTable {
    pub(super) interval: NonZeroU32,
    pub(super) looks: NonZeroU32,
}

impl Default for FollowTable {
    fn default() -> Self {
        let Pace { interval, most } = Pace::default();
        let number = |n: u64| u32::try_from(n).ok().and_then(NonZeroU32::new).unwrap_or(NonZeroU32::MIN);
        Self { interval: number(interval.as_secs().unsigned_abs()), looks: number(most) }
    }
}

/// Which answers are stored, and for how long; without a limit for ever.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct StoreTable {
    pub(super) keep: StoreKeep,
    /// Answers that are older are deleted at the start.
    #[serde(deserialize_with = "some")]
    pub(super) days: Option<u64>,
    /// The oldest answers are deleted at the start, down to this size.
    #[serde(deserialize_with = "some")]
    pub(super) megabytes: Option<u64>,
}

/// How much is kept. Nothing at all is not meant by a zero, which other programs take for no limit.
fn some<'de, D: Deserializer<'de>>(from: D) -> Result<Option<u64>, D::Error> {
    let zero = || {
        Error::custom(
            "0 would delete every answer at the next start; to keep none write keep = \"nothing\", to keep all leave it out",
        )
    };
    u64::deserialize(from).and_then(|number| if number == 0 { Err(zero()) } else { Ok(Some(number)) })
}

/// What of the answers is kept on disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum StoreKeep {
    #[default]
    Everything,
    Nothing,
}

/// Limits of spending, in units.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct BudgetTable {
    pub(super) session: Option<u64>,
    pub(super) daily: Option<u64>,
    /// What costs more is asked about first.
    pub(super) confirm_above: Option<u64>,
}

/// Limits of the service that none of its counters shows.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct LimitTable {
    pub(super) per_minute: Option<NonZeroU32>,
}

// What the user has bought, as the config or an option says. No doc comment: clap would show it as a command's help.
#[derive(Debug, Default, PartialEq, Eq, Args, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[command(next_help_heading = "Entitlements, else from the config file or the balances")]
pub struct EntitlementTable {
    /// Premium API
    #[arg(long, value_name = "yes|no", value_parser = BoolishValueParser::new())]
    premium_api: Option<bool>,
    /// Premium intelligence
    #[arg(long, value_name = "yes|no", value_parser = BoolishValueParser::new())]
    premium_intelligence: Option<bool>,
    /// A private scanning licence
    #[arg(long, value_name = "yes|no", value_parser = BoolishValueParser::new())]
    private_scanning: Option<bool>,
}

impl EntitlementTable {
    pub fn entitlements(&self) -> Entitlements {
        let by_hand = |held: Option<bool>| held.map_or(Entitlement::Unknown, Entitlement::by_hand);
        Entitlements {
            premium_api: by_hand(self.premium_api),
            premium_intelligence: by_hand(self.premium_intelligence),
            private_scanning: by_hand(self.private_scanning),
            ..Entitlements::default()
        }
    }
}

/// The table as it is written.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LookTable {
    /// The theme; unless set, the one that fits `COLORFGBG`, else dark.
    #[serde(deserialize_with = "theme")]
    pub theme: Option<Theme>,
    /// Whether ASCII alone is shown.
    pub ascii: bool,
    /// Whether the mouse is the program's.
    pub mouse: bool,
    /// Whether the app prints lines and draws nothing.
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

/// The table as it is written: names of commands, with a key's name or several.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(transparent)]
pub(super) struct KeyTable(BTreeMap<String, KeyNames>);

#[derive(Debug, Clone, Deserialize)]
#[serde(untagged, expecting = "a key such as \"ctrl-x\", several of them in brackets, or \"none\"")]
enum KeyNames {
    One(String),
    Several(Vec<String>),
}

impl KeyNames {
    fn each(&self) -> Vec<&str> {
        match self {
            Self::One(name) => vec![name],
            Self::Several(names) => names.iter().map(String::as_str).collect(),
        }
    }
}

impl KeyTable {
    /// The changed keys, or the mistakes by command, without their values, which may be secrets.
    pub(super) fn read(&self) -> Result<Keymap, Vec<(String, String)>> {
        let changes: Vec<_> = self.0.iter().map(|(command, names)| Change { command, keys: names.each() }).collect();
        let command = |change: usize| changes.get(change).map_or_else(String::new, |change| change.command.to_owned());
        // Only quotes of the file are left out: the other words are the program's own.
        let quoted = |written: &str| format!("`{written}`");
        let shown = |change: Option<&Change<'_>>, words: &str| {
            let written = change.into_iter().flat_map(|change| std::iter::once(&change.command).chain(&change.keys));
            written.fold(words.to_owned(), |words, written| words.replace(&quoted(written), &quoted(masked(written))))
        };
        Keymap::read(&changes).map_err(|mistakes| {
            let told =
                |mistake: &Mistake| (command(mistake.change), shown(changes.get(mistake.change), &mistake.words));
            mistakes.iter().map(told).collect()
        })
    }
}
