//! `behaview search`: finds rows of stored reports or of documents that match a pattern. Sends
//! nothing.

use super::output::{print_json_line, print_text};
use super::setup::say;
use super::{Common, FailureKind, document, setup};
use crate::app::find::{Hit, HitGroup, HitSource};
use crate::app::panes;
use crate::gateway::Gateway;
use crate::report::find::{How, Pattern};
use crate::report::identifier::{Identifier, Sha256};
use crate::report::rows::Label;
use crate::report::{Cancel, Note, Pane, Piece, Report, Row};
use crate::runtime::search::{self, by_pane, every_report};
use crate::store::StoredReport;
use crate::text::{Untrusted, Visible};
use clap::Args;
use serde::Serialize;
use std::ffi::{OsStr, OsString};
use std::ops::ControlFlow;

const EXAMPLES: &str = "\
Examples:
  file=57874b32c2596f25db81f780cb7ae5bd2277ff9ca0176b87fecf2352ec56938c
  behaview search 'CurrentVersion\\Run'
  behaview search --regex '\\.(exe|dll)$' --pane files --json $file";

#[derive(Debug, Args)]
#[command(
    after_help = EXAMPLES
)]
pub(super) struct SearchArgs {
    /// What is sought, in every field of every row; capital and small letters are alike
    pattern: String,
    /// Take it as a regular expression
    #[arg(long)]
    regex: bool,
    /// Tell capital from small letters
    #[arg(long)]
    case_sensitive: bool,
    /// Print a JSON object a line
    #[arg(long)]
    json: bool,
    /// Only rows of this pane
    #[arg(long, value_name = "NAME", value_parser = super::inputs::pane)]
    pane: Option<Pane>,
    /// Only these: files by SHA-256, reports by identifier, or saved reports (- for standard input)
    what: Vec<OsString>,
}

/// A matching row.
#[derive(Serialize)]
struct FoundRow {
    file: Option<String>,
    id: Option<String>,
    sandbox: Option<String>,
    /// The other profile whose report this is, if this profile cannot open it.
    held_for: Option<String>,
    pane: &'static str,
    label: String,
    text: String,
}

impl SearchArgs {
    pub(super) fn run(self, common: &Common) -> anyhow::Result<()> {
        let how = How { is_regex: self.regex, is_case_sensitive: self.case_sensitive };
        let pattern = Pattern::new(&self.pattern, how);
        let pattern = pattern.map_err(|bad| FailureKind::Usage.error(format!("that cannot be sought: {bad}")))?;
        let pane = self.pane;
        let is_document = |what: &&OsString| document::services(what).is_none();
        let names: Vec<_> = self.what.iter().filter_map(|what| document::services(what)).collect();
        let mut hits = 0_u64;
        let mut print = |of: &HitSource, name: Option<&str>, hit: &Hit| {
            if pane.is_none() || pane == hit.pane() {
                hits += 1;
                self.print(of, name, hit)
            } else {
                Ok(())
            }
        };
        let (mut searched, mut unreadable) = (0, 0);
        for document in self.what.iter().filter(is_document) {
            let (reports, missing) = search_document(document, &pattern, &mut print)?;
            searched += reports;
            unreadable += missing;
        }
        if !names.is_empty() || self.what.is_empty() {
            let setup = setup(common)?;
            let reports = held(&setup.gateway, &names)?;
            search_notes(&setup.gateway, &names, &pattern, &mut print)?;
            searched += reports.len();
            unreadable += search_held(&reports, &pattern, &mut print)?;
        }
        match (hits, searched) {
            _ if unreadable > 0 => {
                let reports = crate::text::count(unreadable, "report");
                Err(FailureKind::Partial.error(format!("{reports} could not be searched")).into())
            }
            (1.., _) => Ok(()),
            (0, 0) => Err(FailureKind::NotFound.error("nothing is held yet, so there is nothing to search").into()),
            (0, _) => {
                let reports = crate::text::count(searched as u64, "report");
                Err(FailureKind::NotFound.error(format!("no hit in {reports}")).into())
            }
        }
    }

    fn print(&self, of: &HitSource, name: Option<&str>, hit: &Hit) -> anyhow::Result<()> {
        if self.json {
            let pane = hit.pane().map_or("notes", Pane::name);
            return print_json_line(&found(of, name, hit, pane));
        }
        let title = hit.pane().and_then(panes::info).map_or("Notes", |info| info.title);
        let (file, sandbox) = match of {
            HitSource::Report { file, identifier, .. } | HitSource::Notes { file, identifier } => {
                let sandbox = identifier.parts().sandbox.visible().to_string();
                let whose = elsewhere(of).map(|profile| format!(" (held for profile {})", plain_name(profile)));
                (file.as_ref().map(Sha256::short), sandbox + &whose.unwrap_or_default())
            }
            HitSource::Pane(_) => (name.map(|name| Untrusted::from(name).visible().to_string()), String::new()),
        };
        let label = label(&hit.row, |name| name.visible_cut(40).to_string());
        let cells = [
            file.unwrap_or_default(),
            sandbox,
            title.to_owned(),
            label,
            text(&hit.row, |text| text.visible().to_string()),
        ];
        let cells: Vec<_> = cells.into_iter().filter(|cell| !cell.is_empty()).collect();
        print_text(&(cells.join("  ") + "\n"))
    }
}

/// The other profile whose report or note matches, if this profile cannot open it.
fn elsewhere(of: &HitSource) -> Option<&str> {
    match of {
        HitSource::Report { elsewhere, .. } => elsewhere.as_deref(),
        HitSource::Pane(_) | HitSource::Notes { .. } => None,
    }
}

fn plain_name(name: &str) -> Visible {
    Untrusted::from(name).visible_cut(40)
}

type Print<'a> = dyn FnMut(&HitSource, Option<&str>, &Hit) -> anyhow::Result<()> + 'a;

/// The stored reports of these files and identifiers, or all of them.
fn held(gateway: &Gateway, names: &[&str]) -> anyhow::Result<Vec<StoredReport>> {
    let (store, service) = (gateway.store(), gateway.service());
    let all = store.every_report(service)?;
    if names.is_empty() {
        return Ok(all);
    }
    let mut elsewhere: Vec<_> = all.into_iter().filter(|stored| stored.elsewhere.is_some()).collect();
    let mut reports = Vec::new();
    for name in names {
        let found = match (Sha256::parse(name), Identifier::typed(name)) {
            (Some(file), _) => store.reports(service, &file)?,
            (None, Some(identifier)) => store.report(service, &identifier)?.into_iter().collect(),
            (None, None) => Vec::new(),
        };
        let is_meant = |searched: &mut StoredReport| match Sha256::parse(name) {
            Some(file) => searched.file == Some(file),
            None => searched.identifier.as_bytes() == name.as_bytes(),
        };
        let others: Vec<_> = elsewhere.extract_if(.., is_meant).collect();
        if found.is_empty() && others.is_empty() {
            fail!(NotFound, "nothing is held of {name}; behaview show fetches a report");
        }
        reports.extend(found);
        reports.extend(others);
    }
    Ok(reports)
}

/// Searches the notes on these files and identifiers, or all of them.
fn search_notes(gateway: &Gateway, names: &[&str], pattern: &Pattern, print: &mut Print<'_>) -> anyhow::Result<()> {
    let mut notes = gateway.store().notes()?;
    let is_named = |note: &Note| {
        let file = note.file.clone().or_else(|| note.about.identifier.parts().file);
        let identifier = note.about.identifier.as_bytes();
        names
            .iter()
            .any(|name| name.as_bytes() == identifier || Sha256::parse(name).is_some_and(|name| Some(name) == file))
    };
    notes.retain(|note| names.is_empty() || is_named(note));
    let groups = search::notes(notes, pattern, &[]);
    let mut hits = groups.iter().flat_map(|group| group.hits.iter().map(move |hit| (&group.of, hit)));
    hits.try_for_each(|(of, hit)| print(of, None, hit))
}

/// Searches stored reports; returns the number of unreadable ones and prints each on standard
/// error.
fn search_held(reports: &[StoredReport], pattern: &Pattern, print: &mut Print<'_>) -> anyhow::Result<u64> {
    let (mut result, mut unreadable) = (Ok(()), 0);
    every_report(reports, pattern, &Cancel::default(), &mut |outcome| {
        result = match outcome.found {
            Ok(None) => Ok(()),
            Ok(Some(found)) => {
                let of = &found.group.of;
                let mut first = found.group.hits.iter();
                let first = first.try_for_each(|hit| print(of, None, hit));
                first.and_then(|()| found.others(pattern).try_for_each(|hit| print(of, None, &hit)))
            }
            Err(why) => {
                unreadable += 1;
                say(why.to_string());
                Ok(())
            }
        };
        if result.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    result.map(|()| unreadable)
}

/// Searches a document; returns the number of its reports and of its unreadable parts.
fn search_document(path: &OsStr, pattern: &Pattern, print: &mut Print<'_>) -> anyhow::Result<(usize, u64)> {
    let document = document::read(path)?;
    let counts = (document.reports.len(), document.unread_parts());
    for (_, here) in document.reports {
        let report = Report::open(&here.body);
        let mut result = Ok(());
        let (limits, cancel) = ((1, usize::MAX), Cancel::default());
        by_pane(&report, pattern, limits, &cancel, &|_| true, &mut |groups: Vec<HitGroup>| {
            let mut hits = groups.iter().flat_map(|group| group.hits.iter().map(move |hit| (&group.of, hit)));
            result = hits.try_for_each(|(of, hit)| print(of, Some(&document.name), hit));
            if result.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        result?;
    }
    Ok(counts)
}

fn found(of: &HitSource, name: Option<&str>, hit: &Hit, pane: &'static str) -> FoundRow {
    let (file, id, sandbox) = match of {
        HitSource::Report { file, identifier, .. } | HitSource::Notes { file, identifier } => (
            file.as_ref().map(ToString::to_string),
            Some(identifier.text().unicode()),
            Some(identifier.parts().sandbox.unicode()),
        ),
        HitSource::Pane(_) => (name.map(str::to_owned), None, None),
    };
    let (label, text) = (label(&hit.row, Untrusted::unicode), text(&hit.row, Untrusted::unicode));
    let held_for = elsewhere(of).map(str::to_owned);
    FoundRow { file, id, sandbox, held_for, pane, label, text }
}

/// The action of a row, in this program's words or by its name in the report.
pub(super) fn label(row: &Row, shown: impl Fn(&Untrusted) -> String) -> String {
    match &row.label {
        Label::Known(word) => (*word).to_owned(),
        Label::Named(name) => shown(name),
    }
}

/// The text of a row; `shown` escapes its untrusted parts for the output.
pub(super) fn text(row: &Row, shown: impl Fn(&Untrusted) -> String) -> String {
    let pieces = row.pieces.iter().map(|piece| match piece {
        Piece::Value(text) | Piece::Detail(text) => shown(text),
        Piece::Own(words) => words.to_string(),
    });
    pieces.collect()
}
