//! Starts the app on a service, or on reports saved in files.

use super::inputs::{Spending, parse_first};
use super::setup::{Setup, say};
use super::{Common, FailureKind, demo, document, exit, show};
use crate::app::model::Service;
use crate::app::model::Settings;
use crate::app::spending::price::Allowance;
use crate::app::{Here, Model};
use crate::config::{Config, Folders};
use crate::environment::variable;
use crate::gateway::Gateway;
use crate::quota::Period;
use crate::report::identifier::{Identifier, Sha256};
use crate::request::UploadLimit;
use crate::runtime::{self, Backing, Display, Exit, Signals};
use crate::store::service_id;
use crate::text;
use crate::text::said;
use crate::view::{Depth, Theme};
use clap::Args;
use clap::builder::PossibleValuesParser;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Runs the app on the service of config and command line, opened at a stored report or the first
/// file named.
pub(super) fn run(sha256: &[String], common: &Common) -> anyhow::Result<()> {
    let named = sha256.iter().map(|text| named(text, common)).collect::<anyhow::Result<Vec<_>>>()?;
    let report = named.iter().find_map(|(file, report)| Some((file.clone(), report.clone()?)));
    let is_beside = |file: &Sha256| report.as_ref().is_none_or(|(shown, _)| shown != file);
    let files: Vec<_> = named.into_iter().map(|(file, _)| file).filter(is_beside).collect();
    let (folders, config) = common.config()?;
    let display = display(&config);
    need_terminal(display)?;
    let Setup { gateway, entitled, mut remarks, .. } = Setup::new(common, &folders, &config, Spending::default())?;
    let mut model = model(&gateway);
    model.figures.entitlements = entitled;
    model.settings = settings(&config);
    let mut left = UiStateFile::of(&folders, &config);
    remarks.extend(left.resume(&mut model));
    model.open_files(files);
    if let Some((file, report)) = report {
        model.open_report(file, report);
    }
    if !remarks.is_empty() {
        model.warn(remarks.join(" "));
    }
    let backing = Backing::Service(Arc::new(gateway));
    let ended = runtime::run(model, backing, display, Signals::listen()?, crate::clock::now)?;
    left.note(&ended);
    match ended.exit {
        Exit::Demo => demo::DemoArgs::default().run(common),
        other => exit::of_app(other),
    }
}

/// Parses an argument: a file, or a stored report of it.
fn named(text: &str, common: &Common) -> anyhow::Result<(Sha256, Option<Identifier>)> {
    // A word of lowercase letters is a misspelt command.
    let is_word = text.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-');
    let is_other = Sha256::parse(text).is_some() || is_word || Path::new(text).is_file();
    let Some(identifier) = Identifier::typed(text).filter(|_| !is_other) else { return Ok((parse_first(text)?, None)) };
    match show::stored(&identifier, common)? {
        Some(stored) => match stored.file.or_else(|| identifier.parts().file) {
            Some(file) => Ok((file, Some(identifier))),
            None => Err(FailureKind::Usage
                .error("the file of this report is not known: behaview open shows it by itself")
                .into()),
        },
        None if identifier.is_documented() => Err(show::not_stored(&identifier).into()),
        None => Ok((parse_first(text)?, None)),
    }
}

/// The app's settings from the config.
pub(super) fn settings(config: &Config) -> Settings {
    Settings {
        keys: config.keymap.clone(),
        confirm_above: config.confirm_above(),
        pace: config.pace(),
        forgets: config.keeps_nothing(),
        rules_file: rules_file(),
        ..Settings::default()
    }
}

/// The path of the user's own rules; `None` if the system has no home folder.
pub(super) fn rules_file() -> Option<PathBuf> {
    Folders::find().ok().map(|folders| folders.config.with_file_name("rules.toml"))
}

/// The model of a gateway. Today's spending is read only if it is limited.
pub(super) fn model(gateway: &Gateway) -> Model {
    let mut model = Model::new(service(gateway), crate::clock::now());
    let spent = gateway.budget().daily.and_then(|_| gateway.spent_in(Period::Daily).ok());
    model.figures.allowance = Allowance::new(gateway.budget(), spent.unwrap_or_default(), model.now);
    model
}

/// The service's state for the model.
pub fn service(gateway: &Gateway) -> Service {
    let client = gateway.client();
    Service {
        name: client.profile().name.clone(),
        id: service_id(&client.root()),
        has_key: client.credential().is_some(),
        is_offline: gateway.is_offline(),
        listing: client.profile().listing,
        upload_direct: client.profile().largest(UploadLimit::Direct),
        upload_largest: client.profile().largest(UploadLimit::Large),
    }
}

/// The file of the saved UI state, and its content at the start.
#[derive(Debug, Default)]
pub(super) struct UiStateFile {
    /// `None` if nothing is to be stored.
    path: Option<PathBuf>,
    before: crate::app::Remembered,
}

impl UiStateFile {
    /// The file, from folders and config.
    pub(super) fn of(folders: &Folders, config: &Config) -> Self {
        Self {
            path: (!config.keeps_nothing()).then(|| folders.state_file()),
            before: crate::app::Remembered::default(),
        }
    }

    /// Restores the saved state of the screen; returns a remark if that failed.
    pub(super) fn resume(&mut self, model: &mut Model) -> Option<String> {
        let (remembered, remark) = crate::state::read(self.path.as_deref()?);
        self.before = remembered.clone();
        model.resume(remembered);
        remark
    }

    /// Saves the state of the screen.
    pub(super) fn note(self, ended: &runtime::SessionResult) {
        let Some(path) = self.path.filter(|_| ended.remembered != self.before) else { return };
        if let Err(error) = crate::state::write(&ended.remembered, &path) {
            say(format!("how the screen was left cannot be remembered: {error}"));
        }
    }
}

pub(super) fn open(files: &[OsString], common: &Common) -> anyhow::Result<()> {
    let (folders, config) = common.config()?;
    let display = display(&config);
    need_terminal(display)?;
    let (documents, mut remarks) = documents(files, common)?;
    let mut model = Model::new(Service::default(), crate::clock::now());
    model.settings = Settings { keys: config.keymap.clone(), rules_file: rules_file(), ..Settings::default() };
    let mut left = UiStateFile::of(&folders, &config);
    remarks.extend(left.resume(&mut model));
    model.open_documents(documents);
    if !remarks.is_empty() {
        model.warn(remarks.join(" "));
    }
    let ended = runtime::run(model, Backing::Nothing, display, Signals::listen()?, crate::clock::now)?;
    left.note(&ended);
    exit::of_app(ended.exit)
}

/// The title of a document, and its reports.
type OpenedDocument = (String, Vec<(Option<Identifier>, Here)>);

/// Reads a document, or the stored report of an identifier as `behaview show` prints it.
fn opened(file: &OsStr, common: &Common) -> anyhow::Result<OpenedDocument> {
    let name = document::services(file).filter(|name| Sha256::parse(name).is_none());
    if let Some(identifier) = name.and_then(Identifier::typed) {
        match show::stored(&identifier, common)? {
            Some(stored) => {
                let here = Here::new(stored.received, stored.body()?, None);
                return Ok((identifier.text().unicode(), vec![(Some(identifier), here)]));
            }
            None if identifier.is_documented() => return Err(show::not_stored(&identifier).into()),
            None => {}
        }
    }
    let document = document::read(file)?;
    Ok((document.titled(), document.reports))
}

/// Reads the documents; returns those that are readable, and a remark about each other one.
fn documents(files: &[OsString], common: &Common) -> anyhow::Result<(Vec<OpenedDocument>, Vec<String>)> {
    let (mut read, mut remarks, mut first) = (Vec::new(), Vec::new(), None);
    for file in files {
        match opened(file, common) {
            Ok(document) => read.push(document),
            Err(why) => {
                remarks.push(format!("Not opened: {}.", said(format!("{why:#}"))));
                first = first.or(Some(why));
            }
        }
    }
    match first {
        Some(why) if read.is_empty() => Err(why),
        _ => Ok((read, remarks)),
    }
}

// Flags about the screen.
#[derive(Debug, Args)]
pub(super) struct ScreenFlags {
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

impl ScreenFlags {
    /// The settings of these flags, by their config names.
    pub(super) fn settings(&self) -> impl Iterator<Item = (String, String)> + '_ {
        let theme = self.theme.iter().map(|name| ("theme", name.as_str()));
        let others = [("ascii", self.ascii), ("mouse", self.mouse), ("plain", self.plain)];
        let others = others.into_iter().filter(|(_, is_set)| *is_set).map(|(name, _)| (name, "true"));
        theme.chain(others).map(|(name, value)| (format!("look.{name}"), value.to_owned()))
    }

    /// Selects the character set before anything is shown.
    pub(super) fn settle_charset(&self) {
        if self.ascii || is_without_utf8(variable) {
            text::show_ascii_alone();
        }
    }
}

/// Fails where there is no terminal for the screens.
pub(super) fn need_terminal(display: Display) -> anyhow::Result<()> {
    if !runtime::is_attended(display) {
        fail!(
            Usage,
            "behaview needs a terminal for its screens. Without one, use the commands for scripts: behaview list <sha256>, \
             behaview show <identifier>, behaview demo --serve; behaview --help names them all"
        );
    }
    Ok(())
}

/// The display options from the config.
pub(super) fn display(config: &Config) -> Display {
    let look = config.look;
    if look.ascii {
        text::show_ascii_alone();
    }
    let is_dumb = variable("TERM").is_some_and(|term| term == "dumb");
    Display { theme: look.theme, depth: Depth::of(variable), takes_mouse: look.mouse, is_plain: look.plain || is_dumb }
}

/// Whether the locale's encoding is not UTF-8. A locale without an encoding counts as UTF-8.
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
