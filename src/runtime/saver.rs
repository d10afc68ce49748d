//! Files that are written beside the loop.

use crate::app::away::saving::{NotSaved, Save, Saved};
use crate::export::file::{self, FileError, Fresh};
use crate::export::{Job, Summary};
use crate::gate::Gate;
use crate::report::Cancel;
use crate::report::rules::Rules;
use crate::text::{bytes, thousands};
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::Arc;

/// Writes a file, and says where it is and how large.
pub(super) fn save(save: Save, gate: Option<&Gate>, cancel: &Cancel) -> Result<String, NotSaved> {
    let path = file::typed(&save.path);
    match write(&save, path.clone(), gate, cancel) {
        Ok((length, summary)) => Ok(words(&path, length, summary)),
        Err(FileError::Exists(_)) => {
            let why = format!("{} is there already. A yes writes over it.", file::shown(&path));
            Err(NotSaved::Exists(Box::new(save), why))
        }
        Err(error) => Err(NotSaved::Failed(format!("{error}."))),
    }
}

fn write(
    save: &Save,
    path: PathBuf,
    gate: Option<&Gate>,
    cancel: &Cancel,
) -> Result<(u64, Option<Summary>), FileError> {
    let mut fresh = Fresh::begin(&path, save.may_replace)?;
    let written = match &save.what {
        Saved::Report { sources, what, format, rules } => {
            let rules = rules.clone().unwrap_or_else(|| Arc::new(Rules::shipped()));
            let job = Job { sources, what: what.clone(), rules: &rules, cancel };
            format.write(&job, &mut fresh).map(Some)
        }
        Saved::Value { text, is_raw: true } => fresh.write_all(text.as_bytes()).map(|()| None),
        Saved::Value { text, is_raw: false } => writeln!(fresh, "{}", text.visible().disarmed()).map(|()| None),
        Saved::Held(request) => {
            let held = gate.map(|gate| gate.held(request)).transpose().map_err(io::Error::other);
            held.and_then(|held| held.flatten().ok_or_else(|| io::Error::other("it is not held any more")))
                .and_then(|held| fresh.write_all(&held.body))
                .map(|()| None)
        }
    };
    let summary = written.map_err(|why| FileError::Io { path, why })?;
    Ok((fresh.keep()?, summary))
}

fn words(path: &std::path::Path, length: u64, summary: Option<Summary>) -> String {
    let whole = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let rows = summary
        .map(|summary| match summary.rows {
            1 => ", 1 entry".to_owned(),
            rows => format!(", {} entries", thousands(rows)),
        })
        .unwrap_or_default();
    let cut = if summary.is_some_and(|summary| summary.cut > 0) {
        " The report stops in the middle; what came of it is there."
    } else {
        ""
    };
    let missing = summary.and_then(|summary| summary.missing_words());
    let missing = missing.map(|words| format!(" {words}.")).unwrap_or_default();
    format!("Written: {}, {}{rows}, readable by you alone.{missing}{cut}", file::shown(&whole), bytes(length))
}
