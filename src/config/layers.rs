//! Flags over variables over the file over what holds without them, put together into one table before it is read.

use super::settings::{Disclosure, SETTINGS, Setting};
use super::{Config, ConfigError, masked, without_values};
use crate::text::Untrusted;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use toml::de::{DeTable, DeValue};
use toml::{Table, Value};

/// The longest part of a name that is repeated, and the most parts.
const LONGEST_NAME: usize = 15;
const DEEPEST_NAME: usize = 6;

/// Fewest bytes of a name that may be a key.
const SHORTEST_LIKE_KEY: usize = 32;

/// What the command line says of settings.
#[derive(Debug, Clone, Default)]
pub struct Overrides {
    /// The service that is asked.
    pub profile: Option<String>,
    /// Settings by name, with their values as typed.
    pub set: Vec<(String, String)>,
}

/// Who says what a setting is.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum SettingOrigin {
    Flag,
    Variable(String),
    /// The file, in this line.
    File(usize),
    Default,
}

impl fmt::Display for SettingOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flag => f.write_str("flag"),
            Self::Variable(name) => write!(f, "variable {name}"),
            Self::File(line) => write!(f, "file, line {line}"),
            Self::Default => f.write_str("default"),
        }
    }
}

/// What a setting is, and who says so. Secrets are left out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Effective {
    pub name: String,
    /// The value as TOML; none where nothing is set.
    pub value: Option<String>,
    #[serde(serialize_with = "in_words")]
    pub from: SettingOrigin,
}

impl Effective {
    /// The same without what has a key in it.
    pub(super) fn without(&self, has_key: impl Fn(&str) -> bool) -> Self {
        let part = |part: &str| if has_key(part) { "…".to_owned() } else { part.to_owned() };
        let name = self.name.split('.').map(part).collect::<Vec<_>>().join(".");
        let value = self.value.clone().map(|value| if has_key(&value) { "(the key, not shown)".into() } else { value });
        Self { name: Some(name).filter(|name| !has_key(name)).unwrap_or_else(|| "…".into()), value, ..self.clone() }
    }
}

fn in_words<S: serde::Serializer>(origin: &SettingOrigin, to: S) -> Result<S::Ok, S::Error> {
    to.collect_str(origin)
}

/// Something wrong in the file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ConfigMistake {
    pub line: usize,
    /// The mistake, without the value: it may be the key.
    pub words: String,
}

/// Settings as they were put together.
#[derive(Debug, Default)]
pub(super) struct Layers {
    table: Table,
    origins: BTreeMap<String, SettingOrigin>,
}

/// The line of a place in a text, from 1.
pub(super) fn line(text: &str, at: usize) -> usize {
    text.get(..at).unwrap_or_default().matches('\n').count() + 1
}

/// A parser's error without the values that it quotes.
pub(super) fn finding(text: &str, error: &toml::de::Error) -> ConfigMistake {
    let at = error.span().map_or(0, |span| span.start);
    ConfigMistake { line: line(text, at), words: without_values(error.message()) }
}

/// Everything in a file that is no setting, or no value that its setting takes; and the rest, which can be used.
pub(super) fn sort_out(text: &str) -> (Vec<ConfigMistake>, Table) {
    let (table, errors) = DeTable::parse_recoverable(text);
    if !errors.is_empty() {
        return (errors.iter().map(|error| finding(text, error)).collect(), Table::new());
    }
    let mut values = match toml::from_str::<Table>(text) {
        Ok(values) => values,
        Err(error) => return (vec![finding(text, &error)], Table::new()),
    };
    let mut found = Vec::new();
    look(text, table.get_ref(), &mut values, &mut Vec::new(), &mut found);
    found.sort_by_key(|finding| finding.line);
    (found, values)
}

/// Tries each member of a table by itself, and then its own members; takes wrong ones out.
fn look(text: &str, spans: &DeTable<'_>, values: &mut Table, path: &mut Vec<String>, found: &mut Vec<ConfigMistake>) {
    for (key, span) in spans {
        let name = key.get_ref().as_ref();
        let Some(value) = values.get_mut(name) else { continue };
        path.push(name.to_owned());
        let is_filled = value.as_table().is_some_and(|table| !table.is_empty());
        let alone = if is_filled { Value::Table(Table::new()) } else { value.clone() };
        match (accepts(path, alone), value.as_table_mut().filter(|_| is_filled), span.get_ref()) {
            (Err(words), _, _) => {
                found.push(ConfigMistake { line: line(text, key.span().start), words });
                values.remove(name);
            }
            (Ok(()), Some(values), DeValue::Table(spans)) => look(text, spans, values, path, found),
            _ => {}
        }
        path.pop();
    }
}

/// Whether the config takes this value under this name.
fn accepts(path: &[String], value: Value) -> Result<(), String> {
    let mut table = Table::new();
    put(&mut table, path, value);
    Config::deserialize(table).map(|_| ()).map_err(|error| {
        let name = path.iter().map(|part| masked(part)).collect::<Vec<_>>().join(".");
        let why = without_values(&in_plain_words(error.message()));
        if why.contains("unknown field") { why } else { format!("{name}: {why}") }
    })
}

/// An unknown name as it was typed, without parts that are as long as a key.
fn named(name: &str) -> String {
    let part =
        |part: &str| if part.len() > LONGEST_NAME { "…".into() } else { Untrusted::from(part).visible().to_string() };
    name.split('.').take(DEEPEST_NAME).map(part).collect::<Vec<_>>().join(".")
}

/// A parser's words, without the names that numbers have in a program.
fn in_plain_words(message: &str) -> String {
    match message.rsplit_once("expected ") {
        Some((before, "u16" | "u32" | "u64")) => format!("{before}expected a whole number, and none below zero"),
        Some((before, "a nonzero u32")) => format!("{before}expected a whole number above zero"),
        _ => message.to_owned(),
    }
}

fn put(table: &mut Table, path: &[String], value: Value) {
    match path {
        [] => {}
        [last] => {
            table.insert(last.clone(), value);
        }
        [first, rest @ ..] => {
            let inner = table.entry(first.clone()).or_insert_with(|| Value::Table(Table::new()));
            if let Value::Table(inner) = inner {
                put(inner, rest, value);
            }
        }
    }
}

fn get<'a>(table: &'a Table, name: &str) -> Option<&'a Value> {
    let mut parts = name.split('.');
    let first = table.get(parts.next()?)?;
    parts.try_fold(first, |value, part| value.as_table()?.get(part))
}

impl Layers {
    /// What can be used of the file by itself.
    pub(super) fn of_file(text: &str, table: Table) -> Self {
        let mut layers = Self { table, origins: BTreeMap::new() };
        let (spans, _) = DeTable::parse_recoverable(text);
        layers.note(text, spans.get_ref(), String::new());
        layers
    }

    fn note(&mut self, text: &str, spans: &DeTable<'_>, before: String) {
        for (key, value) in spans {
            let name = format!("{before}{}", key.get_ref());
            match value.get_ref() {
                DeValue::Table(inner) => self.note(text, inner, format!("{name}.")),
                _ => {
                    self.origins.insert(name, SettingOrigin::File(line(text, key.span().start)));
                }
            }
        }
    }

    /// Lays variables over the file, and flags over them.
    pub(super) fn cover(
        mut self,
        overrides: &Overrides,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<Self, ConfigError> {
        // Which service is asked comes first: others may be settings of it.
        let variables = SETTINGS.iter().filter_map(|setting| {
            let (name, is_key) = (setting.variable()?, setting.name == "api_key");
            let value = variable(&name).filter(|value| !value.is_empty() && !is_key)?;
            Some((setting.of_profile().unwrap_or(&setting.name).to_owned(), value, SettingOrigin::Variable(name)))
        });
        let chosen = overrides.profile.iter().map(|name| ("profile".to_owned(), name.clone(), SettingOrigin::Flag));
        let flags = overrides.set.iter().map(|(name, value)| (name.clone(), value.clone(), SettingOrigin::Flag));
        let (first, second): (Vec<_>, Vec<_>) =
            variables.chain(flags).chain(chosen).partition(|(name, _, _)| name == "profile");
        for (name, value, origin) in first.into_iter().chain(second) {
            self.set(&name, &value, origin)?;
        }
        Ok(self)
    }

    fn set(&mut self, name: &str, text: &str, origin: SettingOrigin) -> Result<(), ConfigError> {
        let unknown = || {
            let like = Setting::like(name).map(|like| format!(", perhaps {like} is meant"));
            ConfigError::UnknownSetting(named(name), like.unwrap_or_default())
        };
        let setting = Setting::named(name).ok_or_else(unknown)?;
        if setting.disclosure() == Disclosure::Hidden && origin == SettingOrigin::Flag {
            return Err(ConfigError::SecretFlag(&setting.name));
        }
        let name = if setting.of_profile() == Some(name) { setting.full(&self.chosen()) } else { name.to_owned() };
        let path: Vec<_> = name.split('.').map(str::to_owned).collect();
        let typed = format!("x = {text}").parse::<Table>().ok().filter(|read| read.len() == 1);
        let typed = typed.and_then(|mut read| read.remove("x")).filter(|value| accepts(&path, value.clone()).is_ok());
        let value = typed.unwrap_or_else(|| Value::String(text.to_owned()));
        accepts(&path, value.clone()).map_err(|why| ConfigError::Override(origin.clone(), why))?;
        put(&mut self.table, &path, value);
        self.origins.insert(name, origin);
        Ok(())
    }

    /// Name of the service that is asked.
    pub(super) fn chosen(&self) -> String {
        let chosen = get(&self.table, "profile").and_then(Value::as_str);
        chosen.unwrap_or("virustotal").to_owned()
    }

    pub(super) fn read(&self) -> Result<Config, toml::de::Error> {
        Config::deserialize(self.table.clone())
    }

    /// The line of a setting in the file.
    pub(super) fn line(&self, name: &str) -> Option<usize> {
        match self.origins.get(name) {
            Some(SettingOrigin::File(line)) => Some(*line),
            _ => None,
        }
    }

    /// The line of the file that has the key, or says how to get it.
    pub(super) fn line_of_key(&self) -> Option<usize> {
        ["api_key", "api_key_command"].iter().find_map(|name| self.line(name))
    }

    /// Who says what a setting is.
    pub(super) fn origin(&self, name: &str) -> SettingOrigin {
        self.origins.get(name).cloned().unwrap_or(SettingOrigin::Default)
    }

    /// Every setting, as it is.
    pub(super) fn effective(&self) -> Vec<Effective> {
        let names = |setting: &Setting| match setting.name.split_once(".*") {
            None => vec![setting.name.clone()],
            Some((before, _)) => self.chosen_names(setting, before).iter().map(|name| setting.full(name)).collect(),
        };
        let mut all = Vec::new();
        for setting in SETTINGS.iter() {
            all.extend(names(setting).into_iter().map(|name| self.one(setting, name)));
        }
        all
    }

    /// The names that the user chose below a table; of services, the one that is asked is among them.
    fn chosen_names(&self, setting: &Setting, table: &str) -> Vec<String> {
        let mut names: Vec<_> =
            get(&self.table, table).and_then(Value::as_table).into_iter().flat_map(Table::keys).cloned().collect();
        let asked = self.chosen();
        if setting.of_profile().is_some() && !names.contains(&asked) {
            names.push(asked);
        }
        names
    }

    fn one(&self, setting: &Setting, name: String) -> Effective {
        let default = Some(setting.default).filter(|default| !default.is_empty()).map(str::to_owned);
        let value = get(&self.table, &name).map(|value| shown(setting.disclosure(), value));
        Effective { value: value.or(default), from: self.origin(&name), name }
    }
}

fn shown(how: Disclosure, value: &Value) -> String {
    match (how, value.as_str()) {
        (Disclosure::Hidden, _) => "(set, not shown)".to_owned(),
        (Disclosure::Address, Some(address)) if address.contains('@') => {
            "(an address with a password, not shown)".to_owned()
        }
        (Disclosure::Name, Some(name)) if name.len() >= SHORTEST_LIKE_KEY && !name.contains(['@', ' ']) => {
            "(as long as a key, not shown)".to_owned()
        }
        // JSON writes what a setting can be as TOML does.
        _ => serde_json::to_string(value).unwrap_or_default(),
    }
}
