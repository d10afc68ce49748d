//! `behaview import`: stores reports that a colleague exported, so that opening them is free. Sends
//! nothing.

use super::output::print_text;
use super::{Common, FailureKind, document, parse_sha256};
use crate::environment::variable;
use crate::gateway::GatewayError;
use crate::gateway::import::{Import as One, ImportError, ImportOutcome, ImportedPage, import, import_page};
use crate::report::document::DocumentValue;
use crate::report::identifier::{Identifier, Sha256};
use crate::report::page::Page;
use crate::report::{Body, Imported};
use crate::request::{Listing, Request};
use crate::service::{Credential, without_keys};
use crate::store::Store;
use crate::text::{Untrusted, Visible, count, said};
use clap::Args;
use std::borrow::Cow;
use std::ffi::{OsStr, OsString};

const EXAMPLES: &str = "\
A colleague who paid for reports writes them to a file, `behaview show IDENTIFIER > report.json`; everybody else has \
them stored from there on, `behaview import report.json`.

Examples:
  file=57874b32c2596f25db81f780cb7ae5bd2277ff9ca0176b87fecf2352ec56938c
  behaview list --format ids $file | behaview show - | behaview import -

A file holds a report, an envelope, a list page, or any of these one a line. What a report is of is read from its \
identifier; one that is held already stays unless --replace is given. A report shows where it was imported from. A list \
page of which nothing is held yet is held as a whole, so that the list costs nothing either.";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct ImportArgs {
    /// Files with reports as JSON; - for standard input
    #[arg(required = true)]
    files: Vec<OsString>,
    /// The file that the reports are of, where their identifiers do not say
    #[arg(long, value_name = "SHA256")]
    file: Option<String>,
    /// Hold them though others of the same identifiers are held
    #[arg(long)]
    replace: bool,
}

/// Counts of the outcomes.
#[derive(Default)]
struct Sums {
    held: u64,
    same: u64,
    refused: u64,
    passed_over: u64,
}

impl ImportArgs {
    pub(super) fn run(self, common: &Common) -> anyhow::Result<()> {
        let (folders, config) = common.config()?;
        if config.keeps_nothing() {
            fail!(Usage, "nothing is kept on disk (store.keep = \"nothing\"), so nothing can be imported",);
        }
        let profile = config.profile(None)?;
        let file = self.file.as_deref().map(parse_sha256).transpose()?;
        let keys = config.known_keys();
        if file.as_ref().is_some_and(|file| keys.iter().any(|key| key.is_in(file.as_str().as_bytes()))) {
            return Err(GatewayError::NamesKey.into());
        }
        let store = super::setup::open_to_look(&folders.store)?;
        let service = super::setup::service_of(&profile);
        let (mut text, mut sums) = (String::new(), Sums::default());
        for path in &self.files {
            let name = document::raw_name(path);
            let from =
                Imported { from: Untrusted::from(&*without_keys(&keys, name.as_bytes())), by: Untrusted::from(user()) };
            let (file, from, replaces) = (file.as_ref(), &from, self.replace);
            let (profile, service) = (profile.name.as_str(), service.as_str());
            let batch = ImportFile { store: &store, profile, service, file, from, keys: &keys, replaces };
            for value in document::all_values(path).unwrap_or_else(|error| vec![Err(error)]) {
                text += &batch.take(path, value, &mut sums);
            }
        }
        print_text(&(text + &sums.words()))?;
        sums.end()
    }
}

/// The import of one file, with its target.
struct ImportFile<'a> {
    store: &'a Store,
    profile: &'a str,
    service: &'a str,
    file: Option<&'a Sha256>,
    from: &'a Imported,
    /// Keys that must not occur in stored data.
    keys: &'a [Credential],
    replaces: bool,
}

impl ImportFile<'_> {
    /// Imports one value of the file, and returns its outcome as text.
    fn take(&self, path: &OsStr, value: anyhow::Result<DocumentValue>, sums: &mut Sums) -> String {
        let value = match value {
            Ok(value) => self.without_keys(value),
            Err(error) => return sums.line(path, Err(error)),
        };
        let page = Some(&value).filter(|value| value.is_page).and_then(|value| Page::of(&value.body).ok());
        if page.is_some()
            && let Ok(Some(imported)) = import_page(self.store, &self.one(&value.body))
        {
            return sums.page(path, &imported)
                + &page.map(|page| sums.passed(path, of(page, &imported))).unwrap_or_default();
        }
        // Stored reports are kept, and a page that does not name its request cannot be stored as
        // its response: import the reports one by one.
        let imported = document::bodies(&value).into_iter();
        let imported = imported.map(|body| body.map(|body| import(self.store, &self.one(&body))));
        let lines: String = imported.map(|outcome| sums.line(path, outcome)).collect();
        lines + &page.map(|page| sums.passed(path, page)).unwrap_or_default()
    }

    /// The value with all keys redacted, because every export and every screen shows stored data.
    fn without_keys(&self, value: DocumentValue) -> DocumentValue {
        match without_keys(self.keys, &value.body) {
            Cow::Borrowed(_) => value,
            Cow::Owned(redacted) => DocumentValue { body: Body::in_memory(redacted), ..value },
        }
    }

    fn one<'b>(&'b self, body: &'b Body) -> One<'b> {
        One {
            body,
            file: self.file,
            from: self.from,
            now: crate::clock::now(),
            replaces: self.replaces,
            service: self.service,
            profile: self.profile,
        }
    }
}

/// The entries of an imported page that count. Those of other files do not; nor do bare identifiers
/// if the page is a list of identifiers, because they are expected there.
fn of(page: Page, held: &ImportedPage) -> Page {
    let Request::Behaviours { file, listing, .. } = &held.request else { return page };
    let mut page = page.without_others(file);
    page.entries.retain(|entry| *listing == Listing::Reports || entry.report.is_some());
    page
}

impl Sums {
    /// Counts the entries of a page that are not reports, and returns their number and the reasons
    /// as a line.
    fn passed(&mut self, path: &OsStr, page: Page) -> String {
        let bare = page.entries.iter().filter(|entry| entry.report.is_none()).count() as u64;
        let (others, why) = page.passed_over().unwrap_or_default();
        let bare_words = (bare > 0).then(|| format!("{} only by identifier", count(bare, "report")));
        let why: Vec<_> = bare_words.into_iter().chain(Some(why).filter(|why| !why.is_empty())).collect();
        self.passed_over += bare + others;
        if why.is_empty() { String::new() } else { format!("{}: passed over: {}\n", shown(path), why.join(", ")) }
    }

    fn words(&self) -> String {
        let passed_over =
            if self.passed_over > 0 { format!(", passed over {}", self.passed_over) } else { String::new() };
        format!("imported {}, held already {}, refused {}{passed_over}\n", self.held, self.same, self.refused)
    }

    /// The outcome of the run. If reports were refused and none is stored now, the files are at
    /// fault; any other problem is a partial failure.
    fn end(&self) -> anyhow::Result<()> {
        let refused = (self.refused > 0).then(|| format!("{} could not be imported", self.refused));
        let passed_over =
            (self.passed_over > 0).then(|| format!("passed over, because they are no reports: {}", self.passed_over));
        let is_any_here = self.held + self.same > 0;
        let why = refused.iter().chain(&passed_over).map(String::as_str).collect::<Vec<_>>().join("; ");
        match refused {
            _ if why.is_empty() => Ok(()),
            Some(_) if !is_any_here => Err(FailureKind::BadAnswer.error(why).into()),
            _ => Err(FailureKind::Partial.error(why).into()),
        }
    }

    /// Counts the reports of a page that was imported as a whole, with one line for each.
    fn page(&mut self, path: &OsStr, page: &ImportedPage) -> String {
        self.held += page.reports.len() as u64;
        let path = shown(path);
        let list = format!("{path}: imported the {}\n", page.request.words());
        let reports = page.reports.iter().map(|id| format!("{path}: imported {}\n", id.text().visible()));
        std::iter::once(list).chain(reports).collect()
    }

    /// Counts the outcome of one report, and returns it as a line.
    fn line(&mut self, path: &OsStr, came: anyhow::Result<Result<ImportOutcome, ImportError>>) -> String {
        let (count, words) = match came {
            Ok(Ok(ImportOutcome::Held(id))) => (&mut self.held, format!("imported {}", id.text().visible())),
            Ok(Ok(ImportOutcome::Same(id))) => {
                (&mut self.same, format!("held already, and the same: {}", id.text().visible()))
            }
            Ok(Ok(ImportOutcome::Other(id, came))) => (&mut self.refused, other(&id, came.as_ref())),
            Ok(Err(error)) => (&mut self.refused, refused(&error.to_string())),
            Err(error) => (&mut self.refused, refused(&format!("{error:#}"))),
        };
        *count += 1;
        format!("{}: {words}\n", shown(path))
    }
}

fn shown(path: &OsStr) -> Visible {
    Untrusted::from(path.as_encoded_bytes()).visible()
}

fn refused(why: &str) -> String {
    format!("refused: {}", said(why))
}

fn other(id: &Identifier, came: Option<&Imported>) -> String {
    let came = came.map_or_else(|| "fetched from the service".to_owned(), |came| format!("imported {}", came.words()));
    format!("refused: another one is held ({came}), and stays; --replace imports this one: {}", id.text().visible())
}

/// The name of the user who imports, if the system provides it.
fn user() -> String {
    let named = ["USER", "LOGNAME", "USERNAME"].iter().find_map(|name| variable(name));
    named.unwrap_or_default()
}
