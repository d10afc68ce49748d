//! Parses the settings from the config file's template, which has each below its description.
//!
//! The comment before a setting ends with its default ("; default 30"), and its variable.

use crate::text::nearest;
use std::sync::LazyLock;
use toml::Value;

/// The template of the config file: every setting with its description, commented out.
pub const TEMPLATE: &str = include_str!("../../assets/config.toml");

pub static SETTINGS: LazyLock<Vec<Setting>> = LazyLock::new(|| settings_of(TEMPLATE));

const PROFILE: &str = "profiles.*.";

/// Text of at most this many bytes cannot be a key, and is quoted.
const SHORTEST_KEY: usize = 4;

/// Minimum length, in bytes, of a user's name that may be a key.
const SHORTEST_LIKE_KEY: usize = 32;

/// A setting of the config file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setting {
    /// Dotted name in the file; `*` is a name that the user chooses.
    pub(crate) name: String,
    /// Value in effect without the setting, as TOML; empty for none.
    pub(crate) default: &'static str,
    /// Its description in the template.
    pub(super) about: &'static str,
}

fn settings_of(template: &'static str) -> Vec<Setting> {
    let mut table = String::new();
    let mut comment = "";
    let mut settings = Vec::new();
    for line in template.lines() {
        if let Some(name) = line.strip_prefix("#[") {
            table = format!("{}.", name.trim_end_matches(']'));
        } else if let Some(text) = line.strip_prefix("# ") {
            comment = text;
        } else if let Some((name, _)) = line.strip_prefix('#').and_then(|line| line.split_once(" = ")) {
            // The user chooses the names of these two.
            let name = format!("{table}{name}").replace("profiles.lab.", PROFILE).replace("keys.zoom", "keys.*");
            let end = comment.rsplit_once("; default ").and_then(|(_, end)| end.rsplit_once(" ("));
            let default = end.map_or("", |(default, _)| default);
            settings.push(Setting { name, default, about: comment });
        }
    }
    settings
}

impl Setting {
    /// Returns the setting of a dotted name, or of a name among those of the profile in use.
    pub(crate) fn named(name: &str) -> Option<&'static Self> {
        SETTINGS.iter().find(|setting| setting.is(name) || setting.of_profile() == Some(name))
    }

    /// Returns the known name that is most similar to an unknown one.
    pub(super) fn like(name: &str) -> Option<&'static str> {
        let names = SETTINGS.iter().flat_map(|setting| [Some(setting.name.as_str()), setting.of_profile()]).flatten();
        nearest(name, names.filter(|known| !known.contains('*')))
    }

    /// Returns whether a full dotted name is this setting's.
    pub(crate) fn is(&self, name: &str) -> bool {
        match self.name.split_once(".*") {
            None => self.name == name,
            Some((before, after)) => name
                .strip_prefix(before)
                .and_then(|rest| rest.strip_prefix('.'))
                .and_then(|rest| rest.strip_suffix(after))
                .is_some_and(|chosen| !chosen.is_empty()),
        }
    }

    /// Returns its name among a profile's settings.
    pub(crate) fn of_profile(&self) -> Option<&str> {
        self.name.strip_prefix(PROFILE)
    }

    pub(crate) fn full(&self, chosen: &str) -> String {
        self.name.replacen('*', chosen, 1)
    }

    /// Returns the variable that sets it; a profile's setting applies to the profile in use.
    pub(crate) fn variable(&self) -> Option<String> {
        let name = self.of_profile().unwrap_or(&self.name);
        (!name.contains('*')).then(|| format!("BEHAVIEW_{}", name.to_ascii_uppercase().replace('.', "_")))
    }

    /// Returns whether its value may be secret, and is never given as a flag.
    pub(super) fn is_secret(&self) -> bool {
        matches!(self.name.as_str(), "api_key" | "api_key_command" | "team.url")
    }

    /// Returns its value for `config show`, as TOML, without secrets.
    pub(super) fn shown(&self, value: &Value) -> String {
        let text = value.as_str().unwrap_or_default();
        match self.name.as_str() {
            "team.url" if !has_password(text) => serde_json::to_string(value).unwrap_or_default(),
            _ if self.is_secret() => "(set, not shown)".to_owned(),
            "profiles.*.root" | "profiles.*.proxy" | "profiles.*.upload_host" if text.contains('@') => {
                "(an address with a password, not shown)".to_owned()
            }
            // The service accepts the key in place of a user's name.
            "profiles.*.user" if text.len() >= SHORTEST_LIKE_KEY && !text.contains(['@', ' ']) => {
                "(as long as a key, not shown)".to_owned()
            }
            // The values of settings are the same in JSON and TOML.
            _ => serde_json::to_string(value).unwrap_or_default(),
        }
    }
}

/// Returns whether a database's address may have a password, and so is not shown.
pub(super) fn has_password(address: &str) -> bool {
    url::Url::parse(address).map_or(true, |url| {
        url.password().is_some() || !url.has_host() || url.query().is_some_and(|query| query.contains("pass"))
    })
}

/// Masks a name unless it is short, a plain word or a setting: it may be the key by mistake.
pub(super) fn masked(written: &str) -> &str {
    let is_plain = written.len() <= 24 && written.bytes().all(|b| b.is_ascii_lowercase() || b == b'_' || b == b'-');
    let is_own = || SETTINGS.iter().any(|setting| setting.name.split('.').any(|part| part == written));
    if is_plain || written.len() <= SHORTEST_KEY || is_own() { written } else { "…" }
}

/// Returns a parser's message without its quotes from the file, unless they may be shown.
pub(super) fn without_values(message: &str) -> String {
    let (found, expected) = message.rfind(", expected ").map_or((message, ""), |at| message.split_at(at));
    let is_quote = |c: char| matches!(c, '`' | '"');
    // The quoted text may contain quotes: all between the first and the last is from the file.
    let quoted = found.find(is_quote).zip(found.rfind(is_quote)).filter(|(first, last)| first < last);
    let parts =
        quoted.and_then(|(first, last)| Some((found.get(..=first)?, found.get(first + 1..last)?, found.get(last..)?)));
    let digits = |text: &str| text.chars().map(|c| if c.is_ascii_digit() { '#' } else { c }).collect::<String>();
    let found = match parts {
        Some((before, written, behind)) => format!("{}{}{}", digits(before), masked(written), digits(behind)),
        None => digits(found),
    };
    found + expected
}
