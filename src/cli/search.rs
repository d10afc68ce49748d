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
use crate::runtime::search::{every_report, hits_of, matching_notes};
use crate::store::StoredReport;
use crate::text::Untrusted;
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
            return print_json_line(&FoundRow::new(of, name, hit, Untrusted::unicode));
        }
        let row = FoundRow::new(of, name, hit, |text| text.visible().to_string());
        let title = hit.pane().and_then(panes::info).map_or("Notes", |info| info.title);
        let whose = row.held_for.map(|name| format!("(held for profile {})", Untrusted::from(name).visible_cut(40)));
        let file = row.file.map(|file| Sha256::parse(&file).map_or(file, |file| file.short()));
        let sandbox = row.sandbox.into_iter().chain(whose).collect::<Vec<_>>().join(" ");
        let cells = [file.unwrap_or_default(), sandbox, title.to_owned(), row.label, row.text];
        let cells: Vec<_> = cells.into_iter().filter(|cell| !cell.is_empty()).collect();
        print_text(&(cells.join("  ") + "\n"))
    }
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
    matching_notes(notes, pattern, &[]).iter().try_for_each(|group| print_group(group, None, print))
}

/// Searches stored reports; returns the number of unreadable ones and prints each on standard
/// error.
fn search_held(reports: &[StoredReport], pattern: &Pattern, print: &mut Print<'_>) -> anyhow::Result<u64> {
    let (mut result, mut unreadable) = (Ok(()), 0);
    every_report(reports, pattern, usize::MAX, &Cancel::default(), &mut |found| {
        match found {
            Ok(found) => result = found.iter().try_for_each(|group| print_group(group, None, print)),
            Err(why) => {
                unreadable += 1;
                say(why);
            }
        }
        if result.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    result.map(|()| unreadable)
}

/// Searches a document; returns the number of its reports and of its unreadable parts.
fn search_document(path: &OsStr, pattern: &Pattern, print: &mut Print<'_>) -> anyhow::Result<(usize, u64)> {
    let document = document::read(path)?;
    for (_, here) in &document.reports {
        let (report, of) = (Report::open(&here.body), HitSource::Pane(Pane::Other));
        let found = hits_of(&report, of, pattern, usize::MAX, (1, &Cancel::default()));
        found.iter().try_for_each(|group| print_group(group, Some(&document.name), print))?;
    }
    Ok((document.reports.len(), document.unread_parts()))
}

fn print_group(group: &HitGroup, name: Option<&str>, print: &mut Print<'_>) -> anyhow::Result<()> {
    group.hits.iter().try_for_each(|hit| print(&group.of, name, hit))
}

impl FoundRow {
    /// A hit, of which `shown` prepares the untrusted parts for the output; those of a document have its name.
    fn new(of: &HitSource, name: Option<&str>, hit: &Hit, shown: fn(&Untrusted) -> String) -> Self {
        let (file, id, sandbox) = match of {
            HitSource::Report { file, identifier, .. } | HitSource::Notes { file, identifier } => (
                file.as_ref().map(ToString::to_string),
                Some(shown(identifier.text())),
                Some(shown(&identifier.parts().sandbox)),
            ),
            HitSource::Pane(_) => (name.map(|name| shown(&Untrusted::from(name))), None, None),
        };
        let held_for = match of {
            HitSource::Report { elsewhere, .. } => elsewhere.clone(),
            HitSource::Pane(_) | HitSource::Notes { .. } => None,
        };
        let (label, text) = (label(&hit.row, shown), text(&hit.row, shown));
        Self { file, id, sandbox, held_for, pane: hit.pane().map_or("notes", Pane::name), label, text }
    }
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
