//! `behaview open`: reports that were saved in files, in the app, without any service.

use super::app::UiStateFile;
use super::document;
use super::{Common, app, display, exit, show};
use crate::app::model::Service;
use crate::app::settings::Settings;
use crate::app::{Here, Model};
use crate::report::Identifier;
use crate::report::identifier::Sha256;
use crate::runtime::{self, Backing, Signals, Start};
use crate::text::said;
use std::ffi::{OsStr, OsString};

pub(super) fn open(files: &[OsString], common: &Common) -> anyhow::Result<()> {
    let (folders, config) = common.config()?;
    let display = display::display(&config);
    runtime::attended(display)?;
    let (documents, mut remarks) = documents(files, common)?;
    let mut model = Model::new(Service::default(), crate::clock::now());
    model.settings = Settings { keys: config.keymap.clone(), rules_file: app::rules_file(), ..Settings::default() };
    let mut left = UiStateFile::of(&folders, &config);
    remarks.extend(left.resume(&mut model));
    model.open_documents(documents);
    if !remarks.is_empty() {
        model.warn(remarks.join(" "));
    }
    let start = Start::Ready(Backing::Nothing);
    let ended = runtime::run(model, start, display, Signals::listen()?)?;
    left.note(&ended);
    exit::of_app(ended.exit)
}

/// The title of a document, and its reports.
type Opened = (String, Vec<(Option<Identifier>, Here)>);

/// A document, or the stored report of an identifier, as `behaview show` prints it.
fn opened(file: &OsStr, common: &Common) -> anyhow::Result<Opened> {
    let name = document::services(file).filter(|name| Sha256::parse(name).is_none());
    if let Some(identifier) = name.and_then(Identifier::typed) {
        match show::stored(&identifier, common)? {
            Some(stored) => {
                let here = Here { received: stored.received, body: stored.body()?, unkept: None };
                return Ok((identifier.text().unicode(), vec![(Some(identifier), here)]));
            }
            None if identifier.is_documented() => return Err(show::not_stored(&identifier).into()),
            None => {}
        }
    }
    let document = document::read(file)?;
    Ok((document.titled(), document.reports))
}

/// The documents that can be read, and a remark about each that cannot: one keeps nobody from the others.
fn documents(files: &[OsString], common: &Common) -> anyhow::Result<(Vec<Opened>, Vec<String>)> {
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
