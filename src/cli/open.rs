//! `behaview open`: reports that were saved in files, in the app, without any service.

use super::document;
use super::left::Left;
use super::{Common, app, display, exit};
use crate::app::model::Service;
use crate::app::settings::Settings;
use crate::app::{Here, Model};
use crate::report::Identifier;
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
    let first = model.open_documents(documents);
    if !remarks.is_empty() {
        model.warn(remarks.join(" "));
    }
    let start = Start::Ready(Beginning { backing: Backing::Nothing, first });
    let ended = runtime::run(model, start, display, Signals::listen()?)?;
    left.note(&ended);
    exit::of_app(ended.exit)
}

/// The title of a document, and its reports.
type Opened = (String, Vec<(Option<Identifier>, Here)>);

/// The documents that can be read, and a remark about each that cannot: one keeps nobody from the others.
fn documents(files: &[OsString]) -> anyhow::Result<(Vec<Opened>, Vec<String>)> {
    let (mut read, mut remarks, mut first) = (Vec::new(), Vec::new(), None);
    for file in files {
        let document = document::read(file);
        match document.and_then(|document| Ok((document.titled()?, document.reports))) {
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
