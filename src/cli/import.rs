//! `behaview import`: stores reports that a colleague exported, so that opening them is free. Sends
//! nothing.

use super::document::{STANDARD_INPUT, body};
use super::*;
use crate::gateway::{Import as One, ImportError, ImportOutcome, ImportedPage, import, import_page};
use crate::report::document::{DocumentError, DocumentValue, values};
use crate::report::page::Page;
use crate::report::{Body, Imported};
use crate::request::Listing;
use crate::service::{Credential, without_keys};
use crate::store::Store;
use std::borrow::Cow;

const EXAMPLES: &str = "\
A colleague who paid for reports writes them to a file, `behaview show IDENTIFIER > report.json`; everybody else has \
them stored from there on, `behaview import report.json`.

Examples:
  file=57874b32c2596f25db81f780cb7ae5bd2277ff9ca0176b87fecf2352ec56938c
  behaview list --format ids $file | behaview show - | behaview import -

A file holds a report, an envelope, a list page, or any of these one a line. What a report is of is read from its \
identifier; one that is stored already stays unless --replace is given. A report shows where it was imported from. A list \
page of which nothing is stored yet is stored as a whole, so that the list costs nothing either.";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct ImportArgs {
    /// Files with reports as JSON; - for standard input
    #[arg(required = true)]
    files: Vec<OsString>,
    /// The file that the reports are of, where their identifiers do not say
    #[arg(long, value_name = "SHA256")]
    file: Option<String>,
    /// Store them although others of the same identifiers are stored
    #[arg(long)]
    replace: bool,
}

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
            fail!(Usage, "nothing is stored on disk (store.keep = \"nothing\"), so nothing can be imported");
        }
        let profile = config.profile()?;
        let file = self.file.as_deref().map(parse_sha256).transpose()?;
        let keys = config.known_keys();
        if file.as_ref().is_some_and(|file| keys.iter().any(|key| key.is_in(file.as_str().as_bytes()))) {
            return Err(GatewayError::NamesKey.into());
        }
        let (store, service) = (open_to_look(&folders.store)?, service_of(&profile));
        let (mut text, mut sums) = (String::new(), Sums::default());
        for path in self.files.iter().map(Path::new) {
            let name = path.file_name().filter(|name| *name != STANDARD_INPUT).map(|name| name.as_encoded_bytes());
            let from = Untrusted::from(&*without_keys(&keys, name.unwrap_or(b"standard input")));
            let batch = ImportFile {
                store: &store,
                profile: &profile.name,
                service: &service,
                file: file.as_ref(),
                from: &Imported { from, by: Untrusted::from(user()) },
                keys: &keys,
                replaces: self.replace,
            };
            let shown = crate::text::path(path);
            for line in batch.lines(path, &mut sums) {
                text += &format!("{shown}: {line}\n");
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
    fn lines(&self, path: &Path, sums: &mut Sums) -> Vec<String> {
        let values = match body(path) {
            Ok(body) => values(&body),
            Err(error) => return vec![sums.refuse(format!("{error:#}"))],
        };
        if values.is_empty() {
            return vec![sums.refuse(DocumentError::Empty)];
        }
        let mut lines = Vec::new();
        for value in values {
            match value {
                Ok(value) => self.take(value, sums, &mut lines),
                Err(error) => lines.push(sums.refuse(error)),
            }
        }
        lines
    }

    fn take(&self, value: DocumentValue, sums: &mut Sums, lines: &mut Vec<String>) {
        // Every export and every screen shows stored data.
        let value = match without_keys(self.keys, &value.body) {
            Cow::Borrowed(_) => value,
            Cow::Owned(redacted) => DocumentValue { body: Body::in_memory(redacted), ..value },
        };
        let mut page = Some(&value).filter(|value| value.is_page).and_then(|value| Page::of(&value.body).ok());
        let whole = page.as_ref().and_then(|_| import_page(self.store, &self.one(&value.body)).ok().flatten());
        if let Some(imported) = whole {
            sums.held += imported.reports.len() as u64;
            lines.push(format!("imported the {}", imported.request.words()));
            lines.extend(imported.reports.iter().map(|id| format!("imported {}", id.text().visible())));
            page = page.map(|page| counted_entries(page, &imported));
        } else {
            // Stored reports are kept, and a page that does not name its request cannot be stored as
            // its response: import the reports one by one.
            let (reports, errors) = value.reports();
            let imported = reports.iter().map(|report| import(self.store, &self.one(&report.body)));
            lines.extend(imported.map(|outcome| sums.count(outcome)));
            // The import itself reports that a single report is truncated.
            let errors = errors.into_iter().filter(|error| value.is_page || !matches!(error, DocumentError::Cut));
            lines.extend(errors.map(|error| match error {
                DocumentError::Invalid => error.to_string(),
                error => sums.refuse(error),
            }));
        }
        lines.extend(page.and_then(|page| sums.pass_over(&page)));
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
fn counted_entries(page: Page, held: &ImportedPage) -> Page {
    let Request::Behaviours { file, listing, .. } = &held.request else { return page };
    let mut page = page.without_others(file);
    page.entries.retain(|entry| *listing == Listing::Reports || entry.report.is_some());
    page
}

impl Sums {
    /// Counts the entries of a page that are not reports; returns their number and the reasons.
    fn pass_over(&mut self, page: &Page) -> Option<String> {
        let bare = page.entries.iter().filter(|entry| entry.report.is_none()).count() as u64;
        let (others, why) = page.passed_over().unwrap_or_default();
        self.passed_over += bare + others;
        let bare = (bare > 0).then(|| format!("{} only by identifier", count(bare, "report")));
        let why: Vec<_> = bare.into_iter().chain(Some(why).filter(|why| !why.is_empty())).collect();
        (!why.is_empty()).then(|| format!("passed over: {}", why.join(", ")))
    }

    fn words(&self) -> String {
        let Self { held, same, refused, passed_over } = self;
        let passed_over = if *passed_over > 0 { format!(", passed over {passed_over}") } else { String::new() };
        format!("imported {held}, stored already {same}, refused {refused}{passed_over}\n")
    }

    /// The outcome of the run. If reports were refused and none is stored now, the files are at
    /// fault; any other problem is a partial failure.
    fn end(&self) -> anyhow::Result<()> {
        let Self { held, same, refused, passed_over } = self;
        let refused_words = (*refused > 0).then(|| format!("{refused} could not be imported"));
        let passed_over =
            (*passed_over > 0).then(|| format!("passed over, because they are no reports: {passed_over}"));
        let why = refused_words.into_iter().chain(passed_over).collect::<Vec<_>>().join("; ");
        if why.is_empty() {
            return Ok(());
        }
        let is_useless = *refused > 0 && held + same == 0;
        let kind = if is_useless { FailureKind::BadAnswer } else { FailureKind::Partial };
        Err(kind.error(why).into())
    }

    /// Counts a refusal, and returns it as a line.
    fn refuse(&mut self, why: impl ToString) -> String {
        self.refused += 1;
        format!("refused: {}", said(why.to_string()))
    }

    /// Counts the outcome of one report, and returns it as a line.
    fn count(&mut self, outcome: Result<ImportOutcome, ImportError>) -> String {
        match outcome {
            Ok(ImportOutcome::Held(id)) => {
                self.held += 1;
                format!("imported {}", id.text().visible())
            }
            Ok(ImportOutcome::Same(id)) => {
                self.same += 1;
                format!("stored already, and the same: {}", id.text().visible())
            }
            Ok(ImportOutcome::Other(id, came)) => {
                let came =
                    came.map_or("fetched from the service".to_owned(), |came| format!("imported {}", came.words()));
                let id = id.text().visible();
                self.refuse(format!("another one is stored ({came}), and stays; --replace imports this one: {id}"))
            }
            Err(error) => self.refuse(error),
        }
    }
}

fn user() -> String {
    ["USER", "LOGNAME", "USERNAME"].iter().find_map(|name| variable(name)).unwrap_or_default()
}
