//! `behaview open`: reports that were saved in files, in the app, without any service.

use super::document::{self, Document};
use super::left::Left;
use super::{Common, app, display, exit};
use crate::app::Model;
use crate::app::model::Service;
use crate::app::settings::Settings;
use crate::runtime::{self, Backing, Beginning, Signals, Start};
use crate::text::said;
use std::ffi::OsString;

pub(super) fn open(files: &[OsString], common: &Common) -> anyhow::Result<()> {
    let (folders, config) = common.config()?;
    let display = display::display(&config);
    runtime::attended(display)?;
    let (documents, mut remarks) = documents(files)?;
    let mut model = Model::new(Service::default(), crate::clock::now());
    model.settings = Settings { keys: config.keymap(), rules_file: app::rules_file(), ..Settings::default() };
    let mut left = Left::of(&folders, &config);
    remarks.extend(left.resume(&mut model));
    let first = model.open_documents(documents.into_iter().map(|document| (document.name, document.reports)).collect());
    if !remarks.is_empty() {
        model.warn(remarks.join(" "));
    }
    let start = Start::Ready(Beginning { backing: Backing::Nothing, first });
    let ended = runtime::run(model, start, display, Signals::listen()?)?;
    left.note(&ended);
    exit::of_app(ended.exit)
}

/// The documents that can be read, and a remark about each that cannot: one keeps nobody from the others.
fn documents(files: &[OsString]) -> anyhow::Result<(Vec<Document>, Vec<String>)> {
    let (mut read, mut remarks, mut first) = (Vec::new(), Vec::new(), None);
    for file in files {
        match document::read(file) {
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
