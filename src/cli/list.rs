//! `behaview list` and `behaview files`: a file's sandboxes, and what the group has, page by page.

use super::query::warn_if_quarantined;
use super::*;
use crate::report::page::{NO_WAY_ON, Page, PageEnd, PageEntry, PageError, ReportSummary};
use crate::report::{GroupEntry, GroupPage, Retention};
use crate::request::GroupList;
use crate::runtime::{load_group, load_list};

#[derive(Debug, Args)]
#[command(after_help = examples("list"))]
pub(super) struct ListArgs {
    /// SHA-256 of privately scanned files, or saved list pages; - for standard input, one hash a
    /// line or a page
    #[arg(required = true, value_name = "SHA256")]
    files: Vec<OsString>,
    /// Fetch every page that is not stored, not only the first; each costs one request, 100 at most
    #[arg(long)]
    all: bool,
    /// Send the request even if the list is stored
    #[arg(long)]
    refresh: bool,
    /// Format of the output; text on a terminal and json elsewhere, unless given
    #[arg(long, value_enum, value_name = "FORMAT", conflicts_with = "json")]
    format: Option<ListFormat>,
    #[command(flatten)]
    spending: Spending,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ListFormat {
    /// One JSON object a file
    Json,
    /// One JSON object a sandbox, each in a line
    Jsonl,
    /// Identifiers alone, one a line, as show takes them
    Ids,
    /// A table for people, as wide as the terminal
    Text,
}

/// The remark on the price of pages that are not known yet.
const FURTHER_PAGES: &str =
    "Each further page costs the same; how many there are is known when the one before it is there.";

const MORE_PAGES: &str = "There are more pages: --all fetches them, each for one request.";

/// Maximum number of pages that `--all` fetches in one run.
const MAX_PAGES: usize = 100;

/// Prices the first page of each list, or its stored pages and the first that is not stored.
fn print_dry_run_of_lists(setup: &Setup, lists: Vec<(Request, Vec<PageEnd>)>, all: bool, refresh: bool) -> Result<()> {
    let is_open = all && lists.iter().any(|(_, ends)| ends.last().is_none_or(|end| end.cursor.is_some()));
    let requests = lists.into_iter().flat_map(|(first, ends)| {
        let cursors = ends.into_iter().filter_map(|end| end.cursor).take(if all { usize::MAX } else { 0 });
        let further: Vec<_> = cursors.map(|cursor| first.at_page(Some(cursor))).collect();
        std::iter::once(first).chain(further)
    });
    let remark = is_open.then(|| (FURTHER_PAGES.to_owned(), Units { min: 0, max: None }));
    print_dry_run(setup, requests.collect(), refresh, remark)
}

#[derive(Default, Serialize)]
struct ListOutput {
    file: Option<String>,
    sandboxes: Vec<ListedSandbox>,
    more: bool,
    #[serde(skip)]
    seen: HashSet<Identifier>,
    /// The price of a report that is not stored.
    #[serde(skip)]
    price: String,
}

#[derive(Serialize)]
struct ListedSandbox {
    /// The identifier; null for a report of a document without one.
    id: Option<String>,
    /// Whether `id` is the identifier itself, not the visible form of invalid Unicode.
    #[serde(skip)]
    is_unicode: bool,
    sandbox: String,
    ran_at: Option<Timestamp>,
    /// The first verdict, if the report is stored.
    verdict: Option<String>,
    score: Option<u64>,
    labels: Vec<String>,
    tags: Vec<String>,
    /// When the report was stored; it is free from then on.
    stored_at: Option<Timestamp>,
    /// The file that the report was imported from; `None` if it came from the service.
    imported_from: Option<String>,
}

impl ListArgs {
    pub(super) fn run(self, common: &Common) -> anyhow::Result<()> {
        // All arguments are checked before any call.
        let files = read_subjects(&self.files, parse_sha256, parse_sha256)?;
        let is_asking = files.iter().any(|file| matches!(file, Subject::Service(_)));
        let asking = is_asking.then(|| setup(common, self.spending)).transpose()?;
        if let Some(setup) = asking.as_ref().filter(|_| self.spending.dry_run) {
            return self.dry_run(setup, &files);
        }
        let listed = each(common, files, |file| match (file, &asking) {
            (Subject::Service(file), Some(setup)) => self.list(setup, &file),
            (Subject::Service(_), None) => Ok(()),
            (Subject::Saved(document), _) => {
                let reports = document.reports.iter();
                let sandboxes = reports.map(|(id, here)| sandbox(id.as_ref(), None, Some(&here.body), None));
                self.print(&ListOutput { sandboxes: sandboxes.collect(), ..ListOutput::default() })?;
                document.outcome()
            }
        });
        asking.as_ref().map_or(Ok(()), print_cost)?;
        listed
    }

    /// Prints also paid pages before a failure, and stored reports that no page lists.
    fn list(&self, setup: &Setup, file: &Sha256) -> anyhow::Result<()> {
        let store = &setup.gateway.store;
        let service = &setup.gateway.service;
        let price = Plan::of_reports(1, &setup.entitled).to_string();
        let mut listed = ListOutput { file: Some(file.to_string()), more: true, price, ..ListOutput::default() };
        let mut pages = self.pages(setup, file, &mut listed);
        // A refresh that fails must not print the old list instead.
        if self.refresh && pages.is_err() && listed.sandboxes.is_empty() {
            return pages;
        }
        let stored = store.reports(service, file)?;
        let others = stored.iter().filter(|stored| !listed.seen.contains(&stored.identifier));
        let others: Vec<_> = others.map(|stored| sandbox(Some(&stored.identifier), Some(stored), None, None)).collect();
        if listed.sandboxes.is_empty() && !others.is_empty() {
            pages = unlisted(setup, file, pages);
        }
        listed.sandboxes.extend(others);
        if pages.is_err() && listed.sandboxes.is_empty() {
            return pages;
        }
        let noted = store.record_file(service, file, None, setup.gateway.now());
        let printed = self.print(&listed);
        noted?;
        pages.and(printed)
    }

    fn pages(&self, setup: &Setup, file: &Sha256, listed: &mut ListOutput) -> anyhow::Result<()> {
        let gateway = &setup.gateway;
        let listing = gateway.client.profile().listing;
        let mut cursor = None;
        let mut fetched = 0;
        loop {
            let is_first = cursor.is_none();
            // Only `--all` requests pages after the first; stored ones are always read.
            let may_send = self.all || is_first;
            let request = Request::Behaviours { file: file.clone(), listing, cursor };
            let refresh = self.refresh && may_send;
            let quote = request.clone().quote(&setup.entitled);
            let stored = if refresh { Err(GatewayError::NotStored) } else { gateway.get_stored(&quote) };
            let got = match stored {
                Err(GatewayError::NotStored) if !may_send => return Ok(()),
                Err(GatewayError::NotStored) => {
                    fetched += 1;
                    fetch(setup, &request, refresh)?
                }
                stored => stored?,
            };
            let page = match Page::of_file(&got.body, file) {
                Ok(page) => page,
                Err(error) => {
                    warn_if_quarantined(gateway, &quote)?;
                    return Err(error.into());
                }
            };
            let lost = page.end.is_lost.then(|| NO_WAY_ON.to_owned());
            page.left_out().into_iter().chain(lost).for_each(|remark| warn(format!("{}: {remark}", file.short())));
            let is_new = |entry: &&PageEntry| listed.seen.insert(entry.identifier.clone());
            let new: Vec<_> = page.entries.iter().filter(is_new).collect();
            // A service could send endless pages: a later one without new sandboxes is the last.
            let is_barren = !is_first && new.is_empty();
            for PageEntry { identifier, report, .. } in &new {
                let stored = gateway.store.report(&gateway.service, identifier)?.filter(|stored| stored.is_of(file));
                listed.sandboxes.push(sandbox(Some(identifier), stored.as_ref(), report.as_ref(), Some(got.received)));
            }
            cursor = page.end.cursor;
            listed.more = cursor.is_some() || page.end.is_lost;
            let is_enough = self.all && fetched >= MAX_PAGES;
            if is_enough && listed.more {
                let remark = "pages were fetched, and there are more: --all once more continues behind the stored ones";
                warn(format!("{}: {fetched} {remark}", file.short()));
            }
            if page.end.is_lost && self.all {
                fail!(Partial, "the list has another page, but its cursor cannot be requested");
            }
            if cursor.is_none() || is_enough {
                return Ok(());
            }
            if is_barren {
                fail!(Partial, "further pages repeat or have nothing new: no further page is requested");
            }
        }
    }

    fn dry_run(&self, setup: &Setup, files: &[Subject<Sha256>]) -> anyhow::Result<()> {
        let lists = files.iter().filter_map(Subject::service).map(|file| {
            let pages = if self.refresh { Vec::new() } else { load_list(&setup.gateway, file)? };
            Ok((setup.gateway.list_of(file), pages.into_iter().map(|(_, page)| page.end).collect()))
        });
        print_dry_run_of_lists(setup, lists.collect::<Result<_>>()?, self.all, self.refresh)
    }

    fn print(&self, listed: &ListOutput) -> anyhow::Result<()> {
        let lines = || listed.sandboxes.iter().map(|sandbox| SandboxLine { file: listed.file.as_deref(), sandbox });
        let usual = if room().is_some() && !self.spending.json { ListFormat::Text } else { ListFormat::Json };
        let format = self.format.unwrap_or(usual);
        if listed.more && !self.all && format != ListFormat::Text {
            warn(MORE_PAGES);
        }
        match format {
            ListFormat::Json => print_json(listed),
            ListFormat::Jsonl => lines().try_for_each(|line| print_body(json_line(&line)?.as_bytes())),
            ListFormat::Ids => print_ids(listed),
            ListFormat::Text => {
                if self.files.len() > 1 {
                    print_text(&listed.file.iter().map(|file| format!("{file}\n")).collect::<String>())?;
                }
                listed.print_table()
            }
        }
    }
}

/// Prints the identifiers that can be parsed back from a line; the others on standard error.
fn print_ids(listed: &ListOutput) -> anyhow::Result<()> {
    let named = listed.sandboxes.iter().map(|sandbox| (sandbox.id.as_deref().unwrap_or_default(), sandbox.is_unicode));
    let (clear, odd): (Vec<_>, Vec<_>) = named.partition(|(id, is_unicode)| *is_unicode && is_clear(id));
    clear.iter().try_for_each(|(id, _)| print_body(id.as_bytes()))?;
    if odd.is_empty() {
        return Ok(());
    }
    for (id, is_unicode) in odd {
        let id = if is_unicode { Untrusted::from(id).visible() } else { to_visible(id) };
        let id = if id.is_empty() { to_visible("a report without an identifier") } else { id.cut(120) };
        warn(format!("left out, because it would be read as something else: {id}; --format json has it"));
    }
    fail!(Partial, "{} of {} are printed", clear.len(), listed.sandboxes.len())
}

/// Returns whether an identifier is unambiguous on a line or as an argument.
fn is_clear(id: &str) -> bool {
    !id.is_empty()
        && id.trim() == id
        && !id.starts_with(['#', '-', '[', '{'])
        && !id.contains(char::is_control)
        && document::as_service_name(id.as_ref()).is_some()
}

/// Returns the outcome if reports are stored, but no page of their list is.
fn unlisted(setup: &Setup, file: &Sha256, pages: anyhow::Result<()>) -> anyhow::Result<()> {
    let beside = "its list is unreadable, and only stored reports are printed";
    match pages {
        Err(why) if why.is::<PageError>() => Err(FailureKind::Partial.error(format!("{why:#}; {beside}")).into()),
        Err(why) if why.is::<GatewayError>() && super::service(&setup.gateway).barred().is_some() => {
            match setup.gateway.unreadable(&setup.gateway.list_of(file))? {
                Some(_) => Err(FailureKind::Partial.error(beside).into()),
                // Nothing more is available here.
                None => Ok(()),
            }
        }
        pages => pages,
    }
}

#[derive(Serialize)]
struct SandboxLine<'a> {
    file: Option<&'a str>,
    #[serde(flatten)]
    sandbox: &'a ListedSandbox,
}

impl ListOutput {
    fn print_table(&self) -> anyhow::Result<()> {
        let heading = ["sandbox", "verdict", ">score", "when", "price", "-labels", "-tags", "-identifier"];
        let shown = table(heading, self.sandboxes.iter().map(|sandbox| sandbox.cells(&self.price)));
        let none = "No sandbox has reported yet. behaview watch polls until one has.\n".to_owned();
        let shown = if self.sandboxes.is_empty() { none } else { shown };
        let more = if self.more { MORE_PAGES } else { "" };
        print_text(&wrapped(&(shown + more)))?;
        if !self.sandboxes.is_empty() {
            hint("--format ids prints the identifiers that behaview show takes");
        }
        Ok(())
    }
}

impl ListedSandbox {
    fn cells(&self, price: &str) -> [String; 8] {
        [
            visible(&self.sandbox),
            self.verdict.as_deref().map(visible).unwrap_or_default(),
            self.score.map(|score| score.to_string()).unwrap_or_default(),
            self.ran_at.map(|time| time.strftime("%F %R").to_string()).unwrap_or_default(),
            if self.stored_at.is_some() { "0, stored".to_owned() } else { price.to_owned() },
            visible(&self.labels.join(" ")),
            visible(&self.tags.join(" ")),
            visible(self.id.as_deref().unwrap_or("-")),
        ]
    }
}

/// Returns a sandbox with its stored report, or else with the report of a page or document.
fn sandbox(
    identifier: Option<&Identifier>,
    stored: Option<&StoredReport>,
    report: Option<&Body>,
    received: Option<Timestamp>,
) -> ListedSandbox {
    let parts = identifier.map(Identifier::parts);
    let body = stored.and_then(|stored| stored.body().ok());
    let ReportSummary { sandbox, ran, verdict, score, labels, tags } =
        body.as_ref().or(report).map(|body| ReportSummary::of(&Report::open(body))).unwrap_or_default();
    let named = parts.as_ref().map(|parts| parts.sandbox.clone()).or(sandbox);
    let ran = parts.and_then(|parts| parts.when).or(ran);
    let imported = stored.and_then(|stored| stored.imported.as_ref());
    ListedSandbox {
        id: identifier.map(|identifier| identifier.text().unicode()),
        is_unicode: identifier.is_none_or(|identifier| str::from_utf8(identifier.text().as_bytes()).is_ok()),
        sandbox: named.map(|name| name.unicode()).unwrap_or_default(),
        ran_at: ran.and_then(|ran| Timestamp::from_second(ran).ok()),
        verdict: verdict.map(|verdict| verdict.unicode()),
        score,
        labels: labels.iter().map(Untrusted::unicode).collect(),
        tags: tags.iter().map(Untrusted::unicode).collect(),
        stored_at: stored.map(|stored| stored.received).or(received.filter(|_| report.is_some())),
        imported_from: imported.map(|imported| imported.from.unicode()),
    }
}

#[derive(Debug, Args)]
#[command(after_help = examples("files"))]
pub(super) struct FilesArgs {
    /// List the analyses instead, the last one first
    #[arg(long)]
    analyses: bool,
    /// Fetch every page that is not stored, not only the first; each costs one request, 100 at most
    #[arg(long)]
    all: bool,
    /// List once more, though the list is stored; its further pages then cost again
    #[arg(long)]
    refresh: bool,
    #[command(flatten)]
    spending: Spending,
}

impl FilesArgs {
    pub(super) fn run(self, common: &Common) -> Result<()> {
        let setup = setup(common, self.spending)?;
        let list = if self.analyses { GroupList::Analyses } else { GroupList::Files };
        let mut pages = if self.refresh { Vec::new() } else { load_group(&setup.gateway, list)? };
        if self.spending.dry_run {
            let ends = pages.into_iter().map(|(_, page)| page.end).collect();
            let lists = vec![(Request::GroupList { list, cursor: None }, ends)];
            return print_dry_run_of_lists(&setup, lists, self.all, self.refresh);
        }
        let fetched = self.fetch(&setup, list, &mut pages);
        print_cost(&setup)?;
        let printed = if pages.is_empty() { Ok(()) } else { self.print(&setup, &pages) };
        fetched.and(printed)
    }

    /// Fetches the first page, or all that are not stored; those before a failure stay.
    fn fetch(&self, setup: &Setup, list: GroupList, pages: &mut Vec<(Timestamp, GroupPage)>) -> Result<()> {
        for _ in 0..MAX_PAGES {
            let cursor = pages.last().map(|(_, page)| page.end.cursor.clone());
            let is_repeated = pages.iter().rev().skip(1).any(|(_, page)| Some(&page.end.cursor) == cursor.as_ref());
            if cursor == Some(None) || is_repeated || cursor.is_some() && !self.all {
                break;
            }
            let request = Request::GroupList { list, cursor: cursor.flatten() };
            let response = fetch(setup, &request, self.refresh && pages.is_empty())?;
            pages.push((response.received, GroupPage::of(&response.body)?));
        }
        Ok(())
    }

    fn print(&self, setup: &Setup, pages: &[(Timestamp, GroupPage)]) -> Result<()> {
        let reports = setup.gateway.store.count_reports(&setup.gateway.service)?;
        let reports = |entry: &GroupEntry| entry.file.as_ref().and_then(|file| reports.get(file)).copied().unwrap_or(0);
        let entries = pages.iter().flat_map(|(_, page)| &page.entries);
        let end = pages.last().map(|(_, page)| page.end.clone()).unwrap_or_default();
        let more = end.cursor.is_some() || end.is_lost;
        if more {
            warn(MORE_PAGES);
        }
        if room().is_none() || self.spending.json {
            let entry = |entry: &GroupEntry| {
                json!({
                    "file": entry.file.as_ref().map(ToString::to_string),
                    "analysis": entry.scan.as_ref().map(|(identifier, _)| identifier.text().unicode()),
                    "status": entry.scan.as_ref().map(|(_, progress)| progress.label()),
                    "name": entry.name.as_ref().map(Untrusted::unicode),
                    "type": entry.kind.as_ref().map(Untrusted::unicode),
                    "bytes": entry.size,
                    "analysed_at": entry.at,
                    "expires_at": entry.expires,
                    "reports_stored": reports(entry),
                })
            };
            let entries: Vec<_> = entries.map(entry).collect();
            let listed_at = pages.first().map(|(received, _)| *received);
            return print_json(&json!({"listed_at": listed_at, "total": end.count, "more": more, "entries": entries}));
        }
        let now = setup.gateway.now();
        let text = |text: &Option<Untrusted>| text.as_ref().map(|text| text.visible_cut(60).to_string());
        let cells = entries.map(|entry| {
            [
                entry.file.as_ref().map_or_else(|| "-".to_owned(), ToString::to_string),
                text(&entry.name).unwrap_or_default(),
                text(&entry.kind).unwrap_or_default(),
                entry.size.map(bytes).unwrap_or_default(),
                entry.at.map(|at| at.strftime("%F %R").to_string()).unwrap_or_default(),
                entry.expires.map(|expires| Retention::until(expires, now).short(now)).unwrap_or_default(),
                entry.scan.as_ref().map(|(_, progress)| progress.label()).unwrap_or_default(),
                reports(entry).to_string(),
            ]
        });
        print_text(&table(
            ["file", "--name", "---type", ">---size", "---analysed (UTC)", "expires", "-status", ">--reports"],
            cells,
        ))
    }
}
