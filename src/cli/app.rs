//! The app on a service.

use super::arguments::{Spending, parse_first};
use super::setup::{Prepared, Setup};
use super::{Common, FailureKind, demo, display, exit, show, store};
use crate::app::Model;
use crate::app::model::Service;
use crate::app::settings::Settings;
use crate::app::spending::allowance::Allowance;
use crate::config::{Config, Folders};
use crate::gate::Gate;
use crate::quota::{Period, Spent};
use crate::report::identifier::{Identifier, Sha256};
use crate::request::UploadLimit;
use crate::runtime::{self, Backing, Exit, Signals, Start, Tell};
use crate::service::Client;
use crate::store::service_id;
use jiff::Timestamp;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Runs the app on the service that config and command line name, at a stored report or the first file that is named.
pub(super) fn run(sha256: &[String], common: &Common) -> anyhow::Result<()> {
    let named = sha256.iter().map(|text| named(text, common)).collect::<anyhow::Result<Vec<_>>>()?;
    let report = named.iter().find_map(|(file, report)| Some((file.clone(), report.clone()?)));
    let is_beside = |file: &Sha256| report.as_ref().is_none_or(|(shown, _)| shown != file);
    let files: Vec<_> = named.into_iter().map(|(file, _)| file).filter(is_beside).collect();
    let (folders, config) = common.config()?;
    let display = display::display(&config);
    runtime::attended(display)?;
    let prepared = Prepared::of(common, &folders, &config, Spending::default())?;
    let mut model = prepared.model();
    model.settings = settings(&config);
    let mut left = UiStateFile::of(&folders, &config);
    let remark = left.resume(&mut model);
    let is_empty = files.is_empty() && report.is_none();
    model.open_files(files);
    if let Some((file, report)) = report {
        model.open_report(file, report);
    }
    let begin = move |model: &mut Model, _: Tell<'_>| {
        let opened = store::open(&folders, &config)?;
        let Setup { gate, remarks, .. } = prepared.with(opened);
        let remarks: Vec<_> = remarks.into_iter().chain(remark).collect();
        if !remarks.is_empty() {
            model.warn(remarks.join(" "));
        }
        Ok(reach(gate, model))
    };
    // A file is shown at once with what is held of it.
    let start =
        if is_empty { Start::Awaited(Box::new(begin)) } else { Start::Ready(begin(&mut model, &store::say_on_error)?) };
    let ended = runtime::run(model, start, display, Signals::listen()?)?;
    left.note(&ended);
    match ended.exit {
        Exit::Demo => demo::Demo::default().run(common),
        other => exit::of_app(other),
    }
}

/// What an argument names: a file, or a stored report of it.
fn named(text: &str, common: &Common) -> anyhow::Result<(Sha256, Option<Identifier>)> {
    // A word of small letters is a command that is misspelt.
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

impl Prepared {
    /// The first state, as far as it needs no store.
    fn model(&self) -> Model {
        let service = service_of(&self.client, self.is_offline);
        let mut model = Model::new(service, crate::clock::now());
        model.figures.entitlements = self.entitled;
        model.figures.allowance = Allowance::new(self.budget, Spent::default(), model.now);
        model
    }
}

/// What the config says of the app.
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

/// The user's own rules; where the system has no home folder there are none.
pub(super) fn rules_file() -> Option<PathBuf> {
    Folders::find().ok().map(|folders| folders.config.with_file_name("rules.toml"))
}

/// What the app reaches from now on, shown by its state.
pub(super) fn reach(gate: Gate, model: &mut Model) -> Backing {
    model.service = service(&gate);
    model.figures.allowance = allowance(&gate, model.now);
    Backing::Service(Arc::new(gate))
}

/// What the app shows of the service behind a gate.
pub fn service(gate: &Gate) -> Service {
    service_of(gate.client(), gate.is_offline())
}

fn service_of(client: &Client, is_offline: bool) -> Service {
    Service {
        name: client.profile().name.clone(),
        id: service_id(&client.root()),
        has_key: client.credential().is_some(),
        is_offline,
        listing: client.profile().listing,
        upload_direct: client.profile().largest(UploadLimit::Direct),
        upload_largest: client.profile().largest(UploadLimit::Large),
    }
}

/// What may be spent. What has been spent of the day is counted only where that has a limit.
fn allowance(gate: &Gate, now: Timestamp) -> Allowance {
    let spent = gate.budget().daily.and_then(|_| gate.spent_in(Period::Daily).ok());
    Allowance::new(gate.budget(), spent.unwrap_or_default(), now)
}

/// The file that remembers it, and what that said at the start.
#[derive(Debug, Default)]
pub(super) struct UiStateFile {
    /// None where nothing is to be kept.
    path: Option<PathBuf>,
    before: crate::app::Remembered,
}

impl UiStateFile {
    /// Where it is remembered, as folders and config say.
    pub(super) fn of(folders: &Folders, config: &Config) -> Self {
        Self {
            path: (!config.keeps_nothing()).then(|| folders.state_file()),
            before: crate::app::Remembered::default(),
        }
    }

    /// Brings the screen back as it was left, and says what went wrong with that.
    pub(super) fn resume(&mut self, model: &mut Model) -> Option<String> {
        let (remembered, remark) = crate::state::read(self.path.as_deref()?);
        self.before = remembered.clone();
        model.resume(remembered);
        remark
    }

    /// Remembers how the screen is left now.
    pub(super) fn note(self, ended: &runtime::Ended) {
        let Some(path) = self.path.filter(|_| ended.remembered != self.before) else { return };
        if let Err(error) = crate::state::write(&ended.remembered, &path) {
            let _ = writeln!(std::io::stderr(), "behaview: how the screen was left cannot be remembered: {error}");
        }
    }
}
