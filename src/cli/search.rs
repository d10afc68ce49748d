//! `behaview search`: finds rows of stored reports or documents by pattern. Sends nothing.

use super::*;
use crate::app::find::{Hit, HitGroup, HitSource};
use crate::report::attributes::cut_lists_label;
use crate::report::find::{MatchOptions, Pattern};
use crate::runtime::search::{matching_notes, search_each};
use std::ops::ControlFlow;

#[derive(Debug, Args)]
#[command(after_help = examples("search"))]
pub(super) struct SearchArgs {
    /// The text to search, in every field of every row; case is ignored
    pattern: String,
    /// Take it as a regular expression
    #[arg(long)]
    regex: bool,
    /// Match case
    #[arg(long)]
    case_sensitive: bool,
    /// Print a JSON object a line
    #[arg(long)]
    json: bool,
    /// Only rows of this pane
    #[arg(long, value_name = "NAME", value_parser = super::document::pane)]
    pane: Option<Pane>,
    /// Only these: files by SHA-256, reports by identifier, or saved reports (- for standard input)
    what: Vec<OsString>,
}

/// Returns the result of a search, by its numbers of hits and of reports.
fn outcome(hits: u64, searched: u64, unread: u64) -> Result<()> {
    match (hits, searched) {
        _ if unread > 0 => fail!(Partial, "{} could not be searched", count(unread, "report")),
        (1.., _) => Ok(()),
        (0, 0) => fail!(NotFound, "nothing is stored yet, so there is nothing to search"),
        (0, _) => fail!(NotFound, "no hit in {}", count(searched, "report")),
    }
}

#[derive(Serialize)]
struct FoundRow {
    file: Option<String>,
    id: Option<String>,
    sandbox: Option<String>,
    /// The other profile whose report this is, if this profile cannot open it.
    stored_for: Option<String>,
    pane: &'static str,
    label: String,
    text: String,
}

impl SearchArgs {
    pub(super) fn run(self, common: &Common) -> Result<()> {
        let how = MatchOptions { is_regex: self.regex, is_case_sensitive: self.case_sensitive };
        let pattern = Pattern::new(&self.pattern, how);
        let pattern = pattern.map_err(|bad| FailureKind::Usage.error(format!("invalid pattern: {bad}")))?;
        let mut hits = 0_u64;
        let mut searched = 0;
        let mut unread = 0;
        let mut cut_lists = 0;
        let mut print = |group: &HitGroup, document: Option<(&str, Option<&Identifier>)>| {
            let is_meant = |hit: &&Hit| self.pane.is_none() || self.pane == hit.pane();
            group.hits.iter().filter(is_meant).try_for_each(|hit| {
                hits += 1;
                self.print(&found_row(&group.source, document, hit), hit)
            })
        };
        let mut names = Vec::new();
        for what in &self.what {
            if let Some(name) = document::as_service_name(what) {
                names.push(name);
                continue;
            }
            let document = document::read_of(what.as_ref(), self.what.len())?;
            for (identifier, here) in &document.reports {
                let report = Report::open(&here.body);
                cut_lists += report.cut_lists(None).count() as u64;
                let of = HitSource::Pane(Pane::Other);
                let found = HitGroup::of_report(&report, of, &pattern, usize::MAX, &Cancel::default());
                let of = Some((document.name.as_str(), identifier.as_ref()));
                found.iter().try_for_each(|group| print(group, of))?;
            }
            searched += document.reports.len();
            unread += document.unread;
        }
        if !names.is_empty() || self.what.is_empty() {
            let setup = setup(common, Spending::default())?;
            let reports = stored_reports(&setup.gateway, &names)?;
            let notes = matching_notes(notes(&setup.gateway, &names)?, &pattern, &[]);
            notes.iter().try_for_each(|group| print(group, None))?;
            searched += reports.len();
            let mut result = Ok(());
            search_each(&reports, &pattern, usize::MAX, &Cancel::default(), &mut |found| {
                match found {
                    Ok((found, cut)) => {
                        cut_lists += cut;
                        result = found.iter().try_for_each(|group| print(group, None));
                    }
                    Err(why) => {
                        unread += 1;
                        warn(why);
                    }
                }
                if result.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
            });
            result?;
        }
        cut_lists_label(cut_lists).iter().for_each(|cut| warn(format!("of what was searched, {cut}")));
        outcome(hits, searched as u64, unread)
    }

    fn print(&self, row: &FoundRow, hit: &Hit) -> Result<()> {
        if self.json {
            return print_body(json_line(row)?.as_bytes());
        }
        let file = row.file.as_ref().map(|file| Sha256::parse(file).map_or_else(|| visible(file), |file| file.short()));
        let other = row.stored_for.as_deref().map(Untrusted::from);
        let other = other.map(|name| format!("(stored for profile {})", name.visible_cut(40)));
        let sandbox: Vec<_> = row.sandbox.iter().map(|name| visible(name)).chain(other).collect();
        let title = hit.pane().map_or("Notes", Pane::title);
        let label = visible(&row.label);
        let text = visible(&row.text);
        let cells = [file.unwrap_or_default(), sandbox.join(" "), title.to_owned(), label, text];
        let cells: Vec<_> = cells.into_iter().filter(|cell| !cell.is_empty()).collect();
        print_text(&(cells.join("  ") + "\n"))
    }
}

/// Returns the stored reports of these files and identifiers, or all of them.
fn stored_reports(gateway: &Gateway, names: &[&str]) -> Result<Vec<StoredReport>> {
    let mut reports = gateway.store.every_report(&gateway.service)?;
    let is_of = |stored: &StoredReport, name: &str| is_named(name, stored.file.as_ref(), &stored.identifier);
    for name in names {
        if !reports.iter().any(|stored| is_of(stored, name)) {
            fail!(NotFound, "nothing is stored of {name}; behaview show fetches a report");
        }
    }
    reports.retain(|stored| names.is_empty() || names.iter().any(|name| is_of(stored, name)));
    Ok(reports)
}

/// Returns the notes on these files and identifiers, or all of them.
fn notes(gateway: &Gateway, names: &[&str]) -> Result<Vec<Note>> {
    let mut notes = gateway.store.notes()?;
    notes.retain(|note| {
        let identifier = &note.about.identifier;
        let file = note.file.clone().or_else(|| identifier.parts().file);
        names.is_empty() || names.iter().any(|name| is_named(name, file.as_ref(), identifier))
    });
    Ok(notes)
}

/// Returns whether a name, of a file or a report, means this one.
fn is_named(name: &str, file: Option<&Sha256>, identifier: &Identifier) -> bool {
    match Sha256::parse(name) {
        Some(named) => file == Some(&named),
        None => Identifier::from_input(name).as_ref() == Some(identifier),
    }
}

/// Returns a hit; one of a document has the document's name, and the identifier of its report.
fn found_row(of: &HitSource, document: Option<(&str, Option<&Identifier>)>, hit: &Hit) -> FoundRow {
    let (file, identifier, stored_for) = match of {
        HitSource::Report(file, identifier, elsewhere) => (file.as_ref(), Some(identifier), elsewhere.clone()),
        HitSource::Notes(file, identifier) => (file.as_ref(), Some(identifier), None),
        HitSource::Pane(_) => (None, document.and_then(|(_, identifier)| identifier), None),
    };
    let (label, text) = hit.row.label_and_text(Untrusted::unicode);
    FoundRow {
        file: file.map(ToString::to_string).or_else(|| document.map(|(name, _)| name.to_owned())),
        id: identifier.map(|identifier| identifier.text().unicode()),
        sandbox: identifier.map(|identifier| identifier.parts().sandbox.unicode()),
        stored_for,
        pane: hit.pane().map_or("notes", Pane::name),
        label,
        text,
    }
}
