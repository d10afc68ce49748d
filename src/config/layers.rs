//! The settings, and the layers that give their values: flags, variables, config file and defaults,
//! in this order of precedence.
//!
//! The file's template has each setting below its description: a comment that ends with its default
//! ("; default 30"), and its variable.

use super::{Config, ConfigError};
use crate::environment::Variables;
use crate::text::{nearest, to_visible};
use serde::{Deserialize, Serialize, Serializer};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::LazyLock;
use toml::de::{DeTable, DeValue};
use toml::{Table, Value};

/// Where a setting comes from.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(tag = "source", rename_all = "lowercase")]
pub enum SettingOrigin {
    Flag,
    Variable { variable: String },
    File { line: usize },
    Default,
}

impl fmt::Display for SettingOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flag => f.write_str("flag"),
            Self::Variable { variable } => write!(f, "variable {variable}"),
            Self::File { line } => write!(f, "file, line {line}"),
            Self::Default => f.write_str("default"),
        }
    }
}

/// A setting with its value and origin, without secrets.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct EffectiveSetting {
    pub name: String,
    /// As JSON, which is also TOML; otherwise why it is not shown.
    #[serde(serialize_with = "as_json")]
    pub value: Option<String>,
    #[serde(flatten)]
    pub origin: SettingOrigin,
    #[serde(skip)]
    pub(super) about: &'static str,
}

impl EffectiveSetting {
    /// Returns its table, and a text for the screen: `budget.session = 5 (flag). The maximum …`.
    pub fn label(&self) -> (String, String) {
        let name = to_visible(&self.name);
        let value = self.value.as_ref().map(|value| format!("{name} = {} ({})", to_visible(value), self.origin));
        let value = value.unwrap_or_else(|| format!("{name}: not set"));
        let table = self.name.split_once('.').map_or("", |(table, _)| table);
        (table.to_owned(), format!("{value}. {}", self.about))
    }
}

fn as_json<S: Serializer>(value: &Option<String>, serializer: S) -> Result<S::Ok, S::Error> {
    let text = value.as_deref().unwrap_or("null");
    serde_json::from_str(text).unwrap_or_else(|_| serde_json::Value::from(text)).serialize(serializer)
}

/// An error in the config file, with its line from 1.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ConfigProblem {
    pub line: usize,
    /// Without the value, which may be the key.
    pub message: String,
}

/// The merged settings, with the origin of each.
#[derive(Debug, Default)]
pub(super) struct Layers {
    table: Table,
    origins: BTreeMap<String, SettingOrigin>,
}

fn line(text: &str, at: usize) -> usize {
    text.get(..at).unwrap_or_default().matches('\n').count() + 1
}

/// Returns a parser's error without the values that it quotes.
pub(super) fn finding(text: &str, error: &toml::de::Error) -> ConfigProblem {
    let at = error.span().map_or(0, |span| span.start);
    ConfigProblem { line: line(text, at), message: without_values(error.message()) }
}

/// Checks that the config accepts this value for this setting.
fn accepts(path: &[String], value: Value) -> Result<(), String> {
    let mut table = Table::new();
    put(&mut table, path, value);
    Config::deserialize(table).map(|_| ()).map_err(|error| {
        let name = masked_name(path.iter().map(String::as_str));
        let why = without_values(&in_plain_language(error.message()));
        if why.contains("unknown field") { why } else { format!("{name}: {why}") }
    })
}

fn masked_name<'a>(parts: impl Iterator<Item = &'a str>) -> String {
    parts.map(masked).collect::<Vec<_>>().join(".")
}

/// Returns a parser's message, with types of numbers in plain language.
fn in_plain_language(message: &str) -> String {
    match message.rsplit_once("expected ") {
        Some((before, "u16" | "u32" | "u64")) => format!("{before}expected a whole number, and none below zero"),
        Some((before, "a nonzero u32")) => format!("{before}expected a whole number above zero"),
        _ => message.to_owned(),
    }
}

fn put(mut table: &mut Table, path: &[String], value: Value) {
    let Some((last, parents)) = path.split_last() else { return };
    for part in parents {
        let inner = table.entry(part.clone()).or_insert_with(|| Value::Table(Table::new()));
        let Value::Table(inner) = inner else { return };
        table = inner;
    }
    table.insert(last.clone(), value);
}

fn get<'a>(table: &'a Table, name: &str) -> Option<&'a Value> {
    let mut parts = name.split('.');
    let first = table.get(parts.next()?)?;
    parts.try_fold(first, |value, part| value.as_table()?.get(part))
}

impl Layers {
    /// Parses a file: the unknown settings and invalid values in it, and the usable rest.
    pub(super) fn of_file(text: &str) -> (Vec<ConfigProblem>, Self) {
        let (spans, errors) = DeTable::parse_recoverable(text);
        if !errors.is_empty() {
            return (errors.iter().map(|error| finding(text, error)).collect(), Self::default());
        }
        let table = match toml::from_str::<Table>(text) {
            Ok(table) => table,
            Err(error) => return (vec![finding(text, &error)], Self::default()),
        };
        let mut found = Vec::new();
        let mut layers = Self::default();
        layers.try_each(text, spans.get_ref(), &table, &mut Vec::new(), &mut found);
        found.sort_by_key(|finding| finding.line);
        (found, layers)
    }

    /// Tries each member of a table alone, then its own members; adds the valid settings.
    fn try_each(
        &mut self,
        text: &str,
        spans: &DeTable<'_>,
        values: &Table,
        path: &mut Vec<String>,
        found: &mut Vec<ConfigProblem>,
    ) {
        for (key, span) in spans {
            let Some(value) = values.get(key.get_ref().as_ref()) else { continue };
            path.push(key.get_ref().to_string());
            let inner = value.as_table().filter(|table| !table.is_empty());
            let alone = if inner.is_some() { Value::Table(Table::new()) } else { value.clone() };
            let line = line(text, key.span().start);
            match (accepts(path, alone.clone()), inner, span.get_ref()) {
                (Err(message), _, _) => found.push(ConfigProblem { line, message }),
                (Ok(()), Some(values), DeValue::Table(spans)) => {
                    put(&mut self.table, path, alone);
                    self.try_each(text, spans, values, path, found);
                }
                (Ok(()), _, _) => {
                    put(&mut self.table, path, alone);
                    self.origins.insert(path.join("."), SettingOrigin::File { line });
                }
            }
            path.pop();
        }
    }

    /// Overrides the file by variables, and both by flags as they were typed.
    pub(super) fn cover(&mut self, flags: &[(String, String)], variable: Variables<'_>) -> Result<(), ConfigError> {
        let variables = SETTINGS.iter().filter_map(|setting| {
            let name = setting.variable()?;
            let is_key = setting.name == "api_key";
            let value = variable(&name).filter(|value| !value.is_empty() && !is_key)?;
            Some((
                setting.of_profile().unwrap_or(&setting.name).to_owned(),
                value,
                SettingOrigin::Variable { variable: name },
            ))
        });
        let flags = flags.iter().cloned().map(|(name, value)| (name, value, SettingOrigin::Flag));
        let mut all: Vec<_> = variables.chain(flags).collect();
        // The profile comes first: others may be settings of it.
        all.sort_by_key(|(name, ..)| name != "profile");
        all.into_iter().try_for_each(|(name, value, origin)| self.set(&name, &value, origin))
    }

    fn set(&mut self, name: &str, text: &str, origin: SettingOrigin) -> Result<(), ConfigError> {
        let unknown = || {
            let like = Setting::like(name).map(|like| format!(", perhaps {like}"));
            ConfigError::UnknownSetting(masked_name(name.split('.')), like.unwrap_or_default())
        };
        let setting = Setting::named(name).ok_or_else(unknown)?;
        if setting.is_secret() && origin == SettingOrigin::Flag {
            return Err(ConfigError::SecretFlag(&setting.name));
        }
        let name = if setting.of_profile() == Some(name) { setting.full(&self.chosen()) } else { name.to_owned() };
        let path: Vec<_> = name.split('.').map(str::to_owned).collect();
        // Parsed as TOML, or else taken as a text without quotes.
        let typed = format!("x = {text}").parse::<Table>().ok().filter(|read| read.len() == 1);
        let typed = typed.and_then(|mut read| read.remove("x"));
        let accepted = |value: &Value| accepts(&path, value.clone());
        let values: Vec<_> = typed.into_iter().chain([Value::String(text.to_owned())]).collect();
        let Some(value) = values.iter().find(|value| accepted(value).is_ok()) else {
            let why = values.first().and_then(|value| accepted(value).err()).unwrap_or_default();
            return Err(ConfigError::Override(origin, why));
        };
        put(&mut self.table, &path, value.clone());
        self.origins.insert(name, origin);
        Ok(())
    }

    pub(super) fn chosen(&self) -> String {
        let chosen = get(&self.table, "profile").and_then(Value::as_str);
        chosen.unwrap_or("virustotal").to_owned()
    }

    pub(super) fn read(&self) -> Result<Config, toml::de::Error> {
        Config::deserialize(self.table.clone())
    }

    /// Returns the line of the file with the key, the command that prints it, or a password.
    pub(super) fn line_of_key(&self) -> Option<usize> {
        let is_secret = |name: &&&str| match get(&self.table, name).and_then(Value::as_str) {
            Some(url) => **name != "team.url" || has_password(url),
            None => true,
        };
        ["api_key", "api_key_command", "team.url"].iter().filter(is_secret).find_map(|name| match self.origin(name) {
            SettingOrigin::File { line } => Some(line),
            _ => None,
        })
    }

    pub(super) fn origin(&self, name: &str) -> SettingOrigin {
        self.origins.get(name).cloned().unwrap_or(SettingOrigin::Default)
    }

    /// Returns every setting in effect; in tables with names by the user, for each name.
    pub(super) fn effective(&self) -> Vec<EffectiveSetting> {
        let in_use = self.chosen();
        let mut all = Vec::new();
        for setting in SETTINGS.iter() {
            let names = match setting.name.split_once(".*") {
                None => vec![setting.name.clone()],
                Some((before, _)) => {
                    let table = get(&self.table, before).and_then(Value::as_table);
                    let mut chosen: Vec<_> = table.into_iter().flat_map(Table::keys).collect();
                    if setting.of_profile().is_some() && !chosen.contains(&&in_use) {
                        chosen.push(&in_use);
                    }
                    chosen.into_iter().map(|name| setting.full(name)).collect()
                }
            };
            all.extend(names.into_iter().map(|name| {
                let default = Some(setting.default).filter(|default| !default.is_empty()).map(str::to_owned);
                let value = get(&self.table, &name).map(|value| setting.shown(value));
                EffectiveSetting { value: value.or(default), origin: self.origin(&name), name, about: setting.about }
            }));
        }
        all
    }
}

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
    about: &'static str,
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
    fn like(name: &str) -> Option<&'static str> {
        let names = SETTINGS.iter().flat_map(|setting| [Some(setting.name.as_str()), setting.of_profile()]).flatten();
        nearest(name, names.filter(|known| !known.contains('*')))
    }

    /// Returns whether a full dotted name is this setting's.
    pub(crate) fn is(&self, name: &str) -> bool {
        self.name.split_once('*').map_or(self.name == name, |(before, after)| {
            let chosen = name.strip_prefix(before).and_then(|rest| rest.strip_suffix(after));
            chosen.is_some_and(|chosen| !chosen.is_empty())
        })
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
    fn is_secret(&self) -> bool {
        matches!(self.name.as_str(), "api_key" | "api_key_command" | "team.url")
    }

    /// Returns its value for `config show`, as TOML, without secrets.
    fn shown(&self, value: &Value) -> String {
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
fn has_password(address: &str) -> bool {
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
fn without_values(message: &str) -> String {
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
