//! `behaview store`: lists and removes stored items; stores a colleague's exports, free to open
//! from then on. Sends nothing.

use super::document::body;
use super::*;
use crate::app::overlays::stored::{describe_deletion, origin, title};
use crate::gateway::find_parts;
use crate::report::document::{DocumentError, DocumentValue, values};
use crate::report::page::Page;
use crate::report::{Deletion, DeletionTarget, ImportOrigin, StoredContent as Thing, StoredItem};
use crate::request::{Listing, again};
use crate::service::error::InvalidResponse;
use crate::service::{Credential, ServiceError, without_keys};
use crate::store::{IMPORTED, NewResponse, ResponsePart, StoreError, bare};
use clap::ArgGroup;
use std::borrow::Cow;

#[derive(Debug, Args)]
#[command(mut_subcommands(short_help), after_help = examples("store"))]
pub(super) struct StoreArgs {
    #[command(subcommand)]
    command: Option<StoreCommand>,
}

#[derive(Debug, Subcommand)]
enum StoreCommand {
    /// List the stored items: age, size, notes, expiry at the service, origin
    #[command(after_help = examples("store list"))]
    List(FormatFlags),
    /// Remove stored items
    Remove(RemoveArgs),
    /// Store reports that a colleague exported, so that a group pays once for all
    Import(ImportArgs),
}

#[derive(Debug, Default, Args)]
#[command(after_help = examples("store remove"), group = ArgGroup::new("items").required(true).args(["id", "older_than", "all"]))]
struct RemoveArgs {
    /// Remove this: a sandbox identifier, a file's SHA-256 (all of its reports), or an id that the
    /// list shows
    id: Option<String>,
    /// Remove everything older, such as 30d or 12h
    #[arg(long, value_name = "AGE", value_parser = age)]
    older_than: Option<SignedDuration>,
    /// Remove everything
    #[arg(long)]
    all: bool,
    #[command(flatten)]
    form: FormatFlags,
    /// Delete the listed items; without it nothing is deleted
    #[arg(long)]
    yes: bool,
}

impl StoreArgs {
    pub(super) fn run(self, common: &Common) -> Result<()> {
        match self.command {
            None => RemoveArgs::default().run(common),
            Some(StoreCommand::List(form)) => RemoveArgs { form, ..RemoveArgs::default() }.run(common),
            Some(StoreCommand::Remove(command)) => command.run(common),
            Some(StoreCommand::Import(command)) => command.run(common),
        }
    }
}

impl RemoveArgs {
    /// Deletes the selected items; if none are selected, lists everything.
    fn run(self, common: &Common) -> Result<()> {
        let (folders, config) = common.config()?;
        let store = open_for_reading(&folders.store)?;
        let all = store.inventory()?;
        let service = common.profile.as_deref().map(|name| service_named(name, &config, &all)).transpose()?;
        let stored = of_service(&all, service.as_deref());
        let Some(what) = self.purge(&stored, crate::clock::now())? else {
            return self.print(&store, &stored, &stored, None);
        };
        // An id or a hash already selects the items of one service.
        let deletion = Deletion::of(what, service.as_deref().filter(|_| self.id.is_none()), &all);
        let files = store.forgotten(&deletion)?.len() as u64;
        let is_none = deletion.things.is_empty() && (deletion.notes, files) == (0, 0);
        let (items, gone): (Vec<_>, _) = (deletion.things.iter().collect(), Some((&deletion, files)));
        if !self.yes {
            self.print(&store, &items, if is_none { &stored } else { &items }, gone)?;
            if is_none {
                return Ok(());
            }
            fail!(Usage, "nothing was deleted: --yes deletes the listed items");
        }
        if !store.purge(&deletion)? {
            fail!(Other, "nothing was deleted: another program has changed the store in the meantime; try again");
        }
        self.print(&store, &items, &of_service(&store.inventory()?, service.as_deref()), gone)
    }

    fn purge(&self, items: &[&StoredItem], now: Timestamp) -> Result<Option<Vec<DeletionTarget>>> {
        if self.all {
            return Ok(Some(vec![DeletionTarget::Everything]));
        }
        if let Some(age) = self.older_than {
            let before = now.checked_sub(age);
            let before = before.map_err(|_| FailureKind::Usage.error("the age is too large"))?;
            return Ok(Some(vec![DeletionTarget::Before(before)]));
        }
        let Some(id) = &self.id else { return Ok(None) };
        let found: Vec<_> = items.iter().filter_map(|item| one(item, id)).collect();
        if found.is_empty() {
            fail!(NotFound, "nothing is stored with this id; behaview store lists the ids");
        }
        Ok(Some(found))
    }

    /// Prints the selected items, the size of the store, and the deletion.
    fn print(
        &self,
        store: &Store,
        rows: &[&StoredItem],
        all: &[&StoredItem],
        gone: Option<(&Deletion, u64)>,
    ) -> Result<()> {
        let now = crate::clock::now();
        let sum = |of: fn(&StoredItem) -> u64| all.iter().map(|item| of(item)).fold(0, u64::saturating_add);
        let size = sum(|item| item.bytes);
        let on_disk = sum(|item| item.on_disk);
        if self.form.json {
            let rows = all.iter().map(|item| row(store, item, now)).collect::<Result<Vec<_>, StoreError>>()?;
            let deleted = gone.map(|(deletion, files)| self.deleted(deletion, files));
            return print_json(&json!({"stored": rows, "bytes": size, "bytes_on_disk": on_disk, "deleted": deleted}));
        }
        let heading = ["received (UTC)", ">size", "->on disk", ">notes", "at service", "from", "what", "-id"];
        let cells = rows.iter().map(|item| cells(item, now));
        let mut text = if rows.is_empty() { String::new() } else { table(heading, cells) };
        text += &match all.len() as u64 {
            0 => "Nothing is stored.\n".to_owned(),
            items => format!("{} stored: {}, {} on disk\n", thousands(items), bytes(size), bytes(on_disk)),
        };
        if let Some((deletion, files)) = gone {
            let verb = if self.yes { "Deleted" } else { "Would be deleted" };
            let files = if files > 0 { format!(", {}", count(files, "earlier file")) } else { String::new() };
            let again = again(&deletion.things, &Entitlements::default(), now);
            let again = if self.yes || again.is_empty() { String::new() } else { again + "\n" };
            text += &format!("{verb}: {}{files}\n{again}", describe_deletion(deletion));
        }
        print_text(&text)
    }

    fn deleted(&self, deletion: &Deletion, files: u64) -> Value {
        let mut profiles = BTreeMap::<&str, u64>::new();
        deletion.things.iter().for_each(|item| *profiles.entry(&item.profile).or_default() += 1);
        let (size, on_disk) = deletion.sizes();
        json!({
            "done": self.yes,
            "items": deletion.things.len(),
            "bytes": size,
            "bytes_on_disk": on_disk,
            "notes": deletion.notes,
            // Records of files that were opened, listed or imported, which are deleted too.
            "files": files,
            "profiles": profiles,
        })
    }
}

/// Returns the deletion for an id as the list shows it, if it names this item.
fn one(item: &StoredItem, named: &str) -> Option<DeletionTarget> {
    if let Some(file) = Sha256::parse(named) {
        return (item.file.as_ref() == Some(&file)).then(|| DeletionTarget::File(item.service.clone(), file));
    }
    (id(item) == named).then(|| item.purge())
}

/// Names a profile's service; of a profile removed from the config, that of its stored items.
fn service_named(name: &str, config: &Config, items: &[StoredItem]) -> Result<String> {
    let fetched = || items.iter().find(|item| item.profile == name && !item.is_import());
    match config.profile() {
        Ok(profile) => Ok(service_of(&profile)),
        Err(error) => fetched().map(|item| item.service.clone()).ok_or(error.into()),
    }
}

/// Returns the items that a profile of this service can open: its own responses, imports and notes.
fn of_service<'a>(items: &'a [StoredItem], service: Option<&str>) -> Vec<&'a StoredItem> {
    let is_here = |item: &&StoredItem| {
        service.is_none_or(|service| item.service == service || item.is_import() || !item.is_response())
    };
    items.iter().filter(is_here).collect()
}

fn row(store: &Store, item: &StoredItem, now: Timestamp) -> Result<Value, StoreError> {
    let mut notes = if item.notes > 0 { store.notes()? } else { Vec::new() };
    notes.retain(|note| item.noted() == Some(&note.about.identifier));
    // Attribute and item are null for a note on the whole report.
    let note = |note: &Note| {
        let item = note.about.item.as_ref();
        json!({
            "attribute": item.map(|item| item.attribute.unicode()),
            "item": item.map(|item| item.text.unicode()),
            "text": note.text.unicode(),
            "written_at": note.written,
        })
    };
    let kind = match item.what {
        Thing::Report(_) => "report",
        Thing::Notes(_) => "notes",
        Thing::Response { .. } => "response",
    };
    Ok(json!({
        "id": id(item),
        "kind": kind,
        "label": label(item),
        "profile": item.profile,
        "file": item.file.as_ref().map(ToString::to_string),
        "name": item.name.as_ref().map(Untrusted::unicode),
        "sandbox": item.noted().map(|identifier| identifier.parts().sandbox.unicode()),
        "received_at": item.received,
        "bytes": item.bytes,
        "bytes_on_disk": item.on_disk,
        "notes": notes.iter().map(note).collect::<Vec<_>>(),
        "quarantined": item.is_unread(),
        "at_service": item.retention(now),
        "imported_from": item.imported.as_ref().map(|imported| imported.from.unicode()),
        "imported_by": item.imported.as_ref().map(|imported| imported.by.unicode()),
    }))
}

fn cells(item: &StoredItem, now: Timestamp) -> [String; 8] {
    [
        item.received.strftime("%F %H:%M").to_string(),
        bytes(item.bytes),
        bytes(item.on_disk),
        if item.notes == 0 { "-".to_owned() } else { item.notes.to_string() },
        item.retention(now).map_or_else(|| "-".to_owned(), |found| found.short(now)),
        origin(item),
        label(item),
        to_visible(id(item)).to_string(),
    ]
}

fn label(item: &StoredItem) -> String {
    let file = item.file.as_ref().map(|file| format!(" of {}", file.short())).unwrap_or_default();
    match &item.what {
        Thing::Report(_) | Thing::Notes(_) => format!("{}{file}", title(item).cut(40)),
        Thing::Response { key, .. } => match Request::of_storage_key(key.as_bytes()) {
            // Its reports are separate items, or were deleted.
            Some(Request::Behaviours { .. }) => format!("{}{file}, without reports", title(item)),
            _ => title(item).cut(120).to_string(),
        },
    }
}

fn id(item: &StoredItem) -> String {
    match &item.what {
        Thing::Report(identifier) | Thing::Notes(identifier) => {
            // Identifiers with invalid Unicode are named by their visible form, which is unique.
            let text = std::str::from_utf8(identifier.as_bytes()).map(str::to_owned);
            text.unwrap_or_else(|_| identifier.text().visible().to_string())
        }
        Thing::Response { id, .. } => id.clone(),
    }
}

/// Parses an age such as `30d` or `12h`.
pub(super) fn age(text: &str) -> Result<SignedDuration, &'static str> {
    let read = |unit: char, seconds: i64| {
        let number = text.strip_suffix(unit)?.parse::<u32>().ok()?;
        Some(SignedDuration::from_secs(seconds * i64::from(number)))
    };
    read('d', 86_400).or_else(|| read('h', 3600)).ok_or("an age is a number of days or hours, such as 30d or 12h")
}

#[derive(Debug, Args)]
#[command(after_help = examples("store import"))]
struct ImportArgs {
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
    fn run(self, common: &Common) -> Result<()> {
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
        let user = ["USER", "LOGNAME", "USERNAME"].iter().find_map(|name| variable(name)).unwrap_or_default();
        for path in self.files.iter().map(Path::new) {
            let name = path.file_name().filter(|name| *name != STANDARD_INPUT).map(|name| name.as_encoded_bytes());
            let from = Untrusted::from(&*without_keys(&keys, name.unwrap_or(b"standard input")));
            let batch = ImportFile {
                store: &store,
                profile: &profile.name,
                service: &service,
                file: file.as_ref(),
                from: &ImportOrigin { from, by: Untrusted::from(user.as_str()) },
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
            let why = match (index.is_json, index.is_cut) {
                (false, _) => InvalidResponse::NotJson,
                (true, true) => InvalidResponse::Cut,
                (true, false) => fail!(Malformed, "it has no identifier, so no request would find it"),
            };
            fail!(Malformed, "it is not a report: {}", ServiceError::Unusable(why));
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
