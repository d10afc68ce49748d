//! `behaview store import`: stores a colleague's exports, free to open from then on. Sends nothing.

use super::document::{STANDARD_INPUT, body};
use super::*;
use crate::gateway::find_parts;
use crate::report::ImportOrigin;
use crate::report::document::{DocumentError, DocumentValue, values};
use crate::report::page::Page;
use crate::request::Listing;
use crate::service::error::InvalidResponse;
use crate::service::{Credential, ServiceError, without_keys};
use crate::store::{IMPORTED, NewResponse, ResponsePart, bare};
use std::borrow::Cow;

#[derive(Debug, Args)]
#[command(after_help = examples("store import"))]
pub(super) struct ImportArgs {
    /// Files with reports as JSON; - for standard input
    #[arg(required = true)]
    files: Vec<OsString>,
    /// The file of the reports, if their identifiers do not name it
    #[arg(long, value_name = "SHA256")]
    file: Option<String>,
    /// Replace stored reports with the same identifiers
    #[arg(long)]
    replace: bool,
    #[command(flatten)]
    form: FormatFlags,
}

#[derive(Default, Serialize)]
struct ImportSummary {
    imported: u64,
    same: u64,
    refused: u64,
    passed_over: u64,
    /// A line about each report.
    remarks: Vec<String>,
}

impl ImportArgs {
    pub(super) fn run(self, common: &Common) -> Result<()> {
        let (folders, config) = common.config()?;
        if !config.is_persistent() {
            fail!(Usage, "nothing is stored on disk (store.persist = false), so nothing can be imported");
        }
        let profile = config.profile()?;
        let file = self.file.as_deref().map(parse_sha256).transpose()?;
        let keys = config.known_keys();
        if file.as_ref().is_some_and(|file| keys.iter().any(|key| key.is_in(file.as_str().as_bytes()))) {
            return Err(GatewayError::NamesKey.into());
        }
        let store = open_for_reading(&folders.store)?;
        let service = service_of(&profile);
        let mut sums = ImportSummary::default();
        for path in self.files.iter().map(Path::new) {
            let name = path.file_name().filter(|name| *name != STANDARD_INPUT).map(|name| name.as_encoded_bytes());
            let from = Untrusted::from(&*without_keys(&keys, name.unwrap_or(b"standard input")));
            let batch = ImportFile {
                store: &store,
                profile: &profile.name,
                service: &service,
                file: file.as_ref(),
                from: &ImportOrigin { from, by: Untrusted::from(user()) },
                keys: &keys,
                replaces: self.replace,
            };
            let shown = crate::text::path(path);
            let lines = batch.lines(path, &mut sums);
            sums.remarks.extend(lines.into_iter().map(|line| format!("{shown}: {line}")));
        }
        // The reports are imported; `pivot` and the next start try again.
        if let Err(error) = store.index_values(&Cancel::default()) {
            warn(error.to_string());
        }
        print(self.form.json, &sums, || sums.label())?;
        sums.end()
    }
}

/// The import of one file, with its target.
struct ImportFile<'a> {
    store: &'a Store,
    profile: &'a str,
    service: &'a str,
    file: Option<&'a Sha256>,
    from: &'a ImportOrigin,
    /// Keys that must not occur in stored data.
    keys: &'a [Credential],
    replaces: bool,
}

impl ImportFile<'_> {
    fn lines(&self, path: &Path, sums: &mut ImportSummary) -> Vec<String> {
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

    fn take(&self, value: DocumentValue, sums: &mut ImportSummary, lines: &mut Vec<String>) {
        // Every export and every screen shows stored data.
        let value = match without_keys(self.keys, &value.body) {
            Cow::Borrowed(_) => value,
            Cow::Owned(redacted) => DocumentValue { body: Body::in_memory(redacted), ..value },
        };
        let mut page = Some(&value).filter(|value| value.is_page).and_then(|value| Page::of(&value.body).ok());
        let whole = page.as_ref().and_then(|_| self.import_page(&value.body).ok().flatten());
        if let Some((request, reports)) = whole {
            sums.imported += reports.len() as u64;
            lines.push(format!("imported the {}", request.label()));
            let identifiers = reports.iter().filter_map(ResponsePart::identifier);
            lines.extend(identifiers.map(|id| format!("imported {}", id.text().visible())));
            page = page.map(|page| counted_entries(page, &request));
        } else {
            // Stored reports stay; a page that does not name its request becomes single reports.
            let (reports, errors) = value.reports();
            for report in &reports {
                let line = self.import_report(&report.body, sums);
                lines.push(line.unwrap_or_else(|error| sums.refuse(error)));
            }
            // The import itself reports that a single report is truncated.
            let errors = errors.into_iter().filter(|error| value.is_page || !matches!(error, DocumentError::Cut));
            lines.extend(errors.map(|error| match error {
                DocumentError::Invalid => error.to_string(),
                error => sums.refuse(error),
            }));
        }
        lines.extend(page.and_then(|page| sums.pass_over(&page)));
    }

    /// Imports a list page and its reports, unless it is nameless or partly stored already.
    fn import_page(&self, body: &Body) -> Result<Option<(Request, Vec<ResponsePart>)>> {
        let Some(request) = Request::of_page(body) else { return Ok(None) };
        let reports = find_parts(&request, body)?;
        let mut keys = request.storage_key().into_iter().chain(reports.iter().map(|report| report.key.clone()));
        let is_new = self.replaces || !keys.any(|key| self.store.is_stored(self.service, &key));
        Ok((is_new && self.store(&request, body, &reports)?).then_some((request, reports)))
    }

    /// Imports a report, unless one with its identifier is stored; returns a line about it. Equal
    /// bytes replace nothing, so that the origin of stored ones is not lost.
    fn import_report(&self, body: &Body, sums: &mut ImportSummary) -> Result<String> {
        let report = Report::open(body);
        let index = &report.index;
        let Some(identifier) = report.identifier() else {
            match (index.is_json, index.is_cut) {
                (false, _) => {
                    fail!(Malformed, "it is not a report: {}", ServiceError::Unusable(InvalidResponse::NotJson))
                }
                (true, true) => {
                    fail!(Malformed, "it is not a report: {}", ServiceError::Unusable(InvalidResponse::Cut))
                }
                (true, false) => fail!(Malformed, "it has no identifier, so no request would find it"),
            }
        };
        let request = Request::Behaviour { identifier: identifier.clone() };
        let shown = identifier.text().visible();
        let mut parts = find_parts(&request, body).map_err(|why| anyhow::anyhow!("it is not a report: {why}"))?;
        if !index.is_attributed && (index.is_enveloped || !report.has_attribute()) {
            fail!(Malformed, "it is only an identifier: the report did not come with it");
        }
        let file = match (identifier.parts().file, self.file) {
            (Some(found), Some(named)) if found != *named => fail!(Malformed, "it is of another file: {found}"),
            (found, named) => found.or(named.cloned()),
        };
        if file.is_none() {
            fail!(Malformed, "its identifier names no file: --file SHA256 names it");
        }
        parts.iter_mut().for_each(|part| part.file = file.clone());
        let other = |imported: Option<ImportOrigin>| {
            let from =
                imported.map_or("fetched from the service".to_owned(), |from| format!("imported {}", from.label()));
            anyhow::anyhow!("another one is stored ({from}), and stays; --replace imports this one: {shown}")
        };
        let stored = self.store.report(self.service, &identifier)?;
        // A damaged file has just been moved to the unread ones.
        if let Some((stored, found)) = stored.and_then(|stored| stored.body().ok().map(|body| (stored, body))) {
            match bare(&found) == bare(body) {
                true if !self.replaces || stored.file.is_some() => {
                    sums.same += 1;
                    return Ok(format!("stored already, and the same: {shown}"));
                }
                false if !self.replaces => return Err(other(stored.imported)),
                _ => {}
            }
        }
        if !self.store(&request, body, &parts)? {
            // Another program has imported one meanwhile.
            return Err(other(None));
        }
        sums.imported += 1;
        Ok(format!("imported {shown}"))
    }

    /// Stores it, and adds its files to the opened ones; returns whether it was stored.
    fn store(&self, request: &Request, body: &Body, parts: &[ResponsePart]) -> Result<bool> {
        let key = request.storage_key().unwrap_or_default();
        let received = crate::clock::now();
        let profile = self.profile;
        let imported = Some(self.from);
        let new = NewResponse { service: IMPORTED, profile, key: &key, received, bytes: body, imported };
        if !self.store.import(&new, parts, self.replaces)? {
            return Ok(false);
        }
        for file in parts.iter().filter_map(|part| part.file.as_ref()) {
            self.store.record_file(self.service, file, None, received)?;
        }
        Ok(true)
    }
}

/// Drops the entries of an imported page that do not count: those of other files, and bare
/// identifiers in a list of identifiers, because they are expected there.
fn counted_entries(page: Page, request: &Request) -> Page {
    let Request::Behaviours { file, listing, .. } = request else { return page };
    let mut page = page.without_others(file);
    page.entries.retain(|entry| *listing == Listing::Reports || entry.report.is_some());
    page
}

impl ImportSummary {
    /// Counts the entries of a page that are not reports; returns their number and the reasons.
    fn pass_over(&mut self, page: &Page) -> Option<String> {
        let bare = page.entries.iter().filter(|entry| entry.report.is_none()).count() as u64;
        let (others, why) = page.passed_over().unwrap_or_default();
        self.passed_over += bare + others;
        let bare = (bare > 0).then(|| format!("{} only by identifier", count(bare, "report")));
        let why: Vec<_> = bare.into_iter().chain(Some(why).filter(|why| !why.is_empty())).collect();
        (!why.is_empty()).then(|| format!("passed over: {}", why.join(", ")))
    }

    fn label(&self) -> String {
        let Self { imported, same, refused, passed_over, remarks } = self;
        let lines: String = remarks.iter().map(|line| format!("{line}\n")).collect();
        let passed_over = if *passed_over > 0 { format!(", passed over {passed_over}") } else { String::new() };
        format!("{lines}imported {imported}, stored already {same}, refused {refused}{passed_over}\n")
    }

    /// Returns the outcome: the files' fault if some were refused and none is stored, else partial.
    fn end(&self) -> Result<()> {
        let refused = (self.refused, format!("{} could not be imported", self.refused));
        let passed_over = format!("passed over, because they are not reports: {}", self.passed_over);
        let why = [refused, (self.passed_over, passed_over)].into_iter().filter(|(count, _)| *count > 0);
        let why = why.map(|(_, why)| why).collect::<Vec<_>>().join("; ");
        match self {
            _ if why.is_empty() => Ok(()),
            Self { refused: 1.., imported: 0, same: 0, .. } => fail!(Malformed, "{why}"),
            _ => fail!(Partial, "{why}"),
        }
    }

    /// Counts a refusal, and returns it as a line.
    fn refuse(&mut self, why: impl ToString) -> String {
        self.refused += 1;
        format!("refused: {}", to_visible(why.to_string()))
    }
}

fn user() -> String {
    ["USER", "LOGNAME", "USERNAME"].iter().find_map(|name| variable(name)).unwrap_or_default()
}
