//! `behaview triage`: ranks files by what is stored of them, with the price of what is missing.

use super::*;
use crate::export::{csv, markdown};
use crate::report::Retention;
use crate::report::attributes::AT_LEAST;
use crate::request::Artifact;
use crate::runtime::triage;
use crate::triage::{HEADINGS, TriagedFile, rank};
use std::collections::HashMap;

/// Maximum size of a file with hashes, in bytes.
const MAX_INPUT_BYTES: u64 = 16 << 20;

/// Maximum columns of a cell of the table: a report may have labels of any length.
const MAX_CELL: usize = 60;

/// Maximum number of files in one run: each takes a look into the store.
const MAX_FILES: usize = 10_000;

#[derive(Debug, Args)]
#[command(after_help = examples("triage"))]
pub(super) struct TriageArgs {
    /// SHA-256 of privately scanned files, or files of any text with hashes; - for standard input
    #[arg(value_name = "SHA256")]
    what: Vec<OsString>,
    /// Only files that the service deletes within this time, such as 3d; without a hash, all that
    /// are known to. What is missing counts artifacts too
    #[arg(long, value_name = "AGE", value_parser = super::store::age)]
    within: Option<SignedDuration>,
    /// Request what is missing: the list of each file without one, every listed report, or
    /// artifacts too
    #[arg(long, value_enum, value_name = "WHAT", num_args = 0..=1, require_equals = true, default_missing_value = "lists")]
    fetch: Option<FetchScope>,
    /// Format of the output
    #[arg(long, value_enum, value_name = "FORMAT", default_value = "text", conflicts_with = "json")]
    format: TriageFormat,
    #[command(flatten)]
    spending: Spending,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
enum FetchScope {
    /// The first page of each list; by default it has the reports too
    Lists,
    /// Lists, further pages, and each listed report
    Reports,
    /// The same, and the artifacts that stored reports name, without memory dumps
    Captures,
    /// The same, and memory dumps
    Artifacts,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum TriageFormat {
    /// A table for people
    Text,
    Json,
    Csv,
    /// Markdown
    Md,
}

/// The files as they are printed.
struct TriageOutput<'a> {
    rows: Vec<TriageRow<'a>>,
    /// The price of everything that is missing.
    price: Plan,
    has_artifacts: bool,
    now: Timestamp,
}

struct TriageRow<'a> {
    file: &'a TriagedFile,
    expires: Option<Timestamp>,
    /// What is not stored, the cheapest answer first, and its price.
    missing: Vec<&'a Request>,
    price: Plan,
    /// Whether more may be missing: an unread page may name any number of reports.
    is_open: bool,
}

impl TriageArgs {
    pub(super) fn run(self, common: &Common) -> Result<()> {
        let named = if self.what.is_empty() && self.within.is_some() { None } else { Some(read_hashes(&self.what)?) };
        let setup = setup(common, self.spending)?;
        let expirations = setup.gateway.store.expirations(&setup.gateway.service)?;
        let files = self.files(named, &expirations, setup.gateway.now())?;
        let rules = own_rules();
        let look = |file: &Sha256| {
            let found = triage(&setup.gateway, (file, files.len()), &rules, &Cancel::default())?;
            anyhow::Ok(found.with_context(|| format!("{file} could not be read"))?)
        };
        let look_at_all = || {
            setup.gateway.store.index_values(&Cancel::default())?;
            files.iter().map(look).collect::<Result<Vec<_>>>()
        };
        let mut found = look_at_all()?;
        // Two files may list the same report.
        let mut known = HashSet::new();
        let requests = found.iter().flat_map(|file| self.meant(file)).filter(|request| known.insert(request.clone()));
        let requests: Vec<_> = requests.collect();
        if self.spending.dry_run {
            return print_dry_run(&setup, requests, false, None);
        }
        let mut fetched = Ok(());
        if self.fetch.is_some() && !requests.is_empty() {
            check_budget(&setup, &requests)?;
            let plan = Plan::of(requests.iter().map(Request::operation), &setup.entitled);
            hint(format!("sends {}, for {plan}", text::count(requests.len() as u64, "request")));
            fetched = each(common, requests, |request| Ok(fetch(&setup, &request, false).map(drop)?));
            found = look_at_all()?;
        }
        if self.within.is_none() {
            rank(&mut found);
        }
        let printed = self.print(&setup, &found, &expirations);
        print_cost(&setup)?;
        fetched.and(printed)
    }

    /// Returns the named files; with `--within` those that expire within it, the first one first.
    fn files(
        &self,
        named: Option<Vec<Sha256>>,
        expirations: &HashMap<Sha256, Timestamp>,
        now: Timestamp,
    ) -> Result<Vec<Sha256>> {
        let mut files = named.unwrap_or_else(|| expirations.keys().cloned().collect());
        let Some(within) = self.within else { return Ok(files) };
        let end = now.checked_add(within).unwrap_or(Timestamp::MAX);
        files.retain(|file| expirations.get(file).is_some_and(|expires| now < *expires && *expires <= end));
        files.sort_by_key(|file| (expirations.get(file).copied(), file.clone()));
        if files.is_empty() {
            fail!(NotFound, "no file is known to expire within this time; behaview files --all lists when each does");
        }
        Ok(files)
    }

    /// Returns the requests that `--fetch` sends for a file; without it, those of the lists.
    fn meant(&self, file: &TriagedFile) -> Vec<Request> {
        let is_first = |request: &&Request| matches!(request, Request::Behaviours { cursor: None, .. });
        let is_meant = |request: &&Request| self.fetch >= Some(FetchScope::Reports) || is_first(request);
        let artifacts = file.artifacts.iter().filter(|request| match request {
            Request::Artifact { artifact: Artifact::Memdump, .. } => self.fetch >= Some(FetchScope::Artifacts),
            _ => self.fetch >= Some(FetchScope::Captures),
        });
        file.missing.iter().filter(is_meant).chain(artifacts).cloned().collect()
    }

    fn print(&self, setup: &Setup, found: &[TriagedFile], expirations: &HashMap<Sha256, Timestamp>) -> Result<()> {
        let has_artifacts = self.within.is_some() || self.fetch >= Some(FetchScope::Captures);
        let rows = found.iter().map(|file| {
            let TriagedFile { missing, artifacts, .. } = file;
            let is_open = file.is_open() || has_artifacts && !missing.is_empty();
            let missing: Vec<_> = missing.iter().chain(artifacts.iter().filter(|_| has_artifacts)).collect();
            let price = Plan::of(missing.iter().map(|request| request.operation()), &setup.entitled);
            TriageRow { file, expires: expirations.get(&file.file).copied(), missing, price, is_open }
        });
        let rows: Vec<_> = rows.collect();
        let price = Plan { prices: rows.iter().flat_map(|row| row.price.prices.clone()).collect() };
        let output = TriageOutput { rows, price, has_artifacts, now: setup.gateway.now() };
        let format = if self.spending.json { TriageFormat::Json } else { self.format };
        match format {
            TriageFormat::Json => print_json(&output.json()),
            TriageFormat::Csv => output.print_csv(),
            TriageFormat::Md => print_text(&output.markdown()),
            TriageFormat::Text => output.print_table(),
        }
    }
}

/// Reads every SHA-256 in the arguments, their files and standard input, each once, in order.
fn read_hashes(arguments: &[OsString]) -> Result<Vec<Sha256>> {
    let mut found = Vec::new();
    let mut known = HashSet::new();
    let mut others = 0;
    for argument in arguments {
        let text = match argument.to_str().and_then(Sha256::parse) {
            Some(hash) => hash.to_string(),
            None if argument == STANDARD_INPUT || Path::new(argument).exists() => {
                let mut bytes = document::read_bounded(argument.as_ref(), MAX_INPUT_BYTES)?;
                // Hashes are ASCII, also in UTF-16 and in encodings of one byte.
                bytes.retain(|byte| *byte != 0);
                String::from_utf8_lossy(&bytes).into_owned()
            }
            None => parse_sha256(&argument.to_string_lossy())?.to_string(),
        };
        for word in text.split(|c: char| !c.is_ascii_alphanumeric()) {
            match Sha256::parse(word) {
                Some(hash) if known.insert(hash.clone()) => found.push(hash),
                None if matches!(word.len(), 32 | 40) && word.bytes().all(|byte| byte.is_ascii_hexdigit()) => {
                    others += 1
                }
                _ => {}
            }
        }
    }
    if others > 0 {
        let words = text::count(others, "MD5 or SHA-1");
        warn(format!("left out {words}: private files are known by their SHA-256 alone"));
    }
    match found.len() {
        0 if !arguments.is_empty() => fail!(Usage, "no SHA-256 in it: 64 hexadecimal digits"),
        0 => fail!(Usage, "name a SHA-256, - or --within; all stored: behaview store list --json | behaview triage -"),
        all if all > MAX_FILES => {
            fail!(Usage, "{} files are more than {}", thousands(all as u64), thousands(MAX_FILES as u64))
        }
        _ => Ok(found),
    }
}

impl TriageOutput<'_> {
    fn json(&self) -> Value {
        let row = |TriageRow { file, expires, missing, price, .. }: &TriageRow<'_>| {
            json!({
                "file": file.file.as_str(),
                "expires_at": expires,
                "verdict": file.verdict,
                "labels": file.labels.iter().map(Untrusted::unicode).collect::<Vec<_>>(),
                "reports_stored": file.stored,
                "sandboxes_listed": file.listed,
                "more": file.more,
                "findings_high": file.high,
                "findings_medium": file.medium,
                "top_findings": file.top,
                "cut_lists": file.cut_lists,
                "alike": file.alike,
                "missing": missing.iter().map(|request| request.label()).collect::<Vec<_>>(),
                "missing_artifacts": file.missing_artifacts(),
                "missing_totals": price.totals(),
                "unavailable": file.unavailable,
            })
        };
        json!({"files": self.rows.iter().map(row).collect::<Vec<_>>(), "missing_totals": self.price.totals()})
    }

    /// Returns [`HEADINGS`]; the last one says whether artifacts are counted.
    fn headings(&self) -> [&'static str; 11] {
        HEADINGS.map(|name| if name == "missing" && self.has_artifacts { "missing with artifacts" } else { name })
    }

    /// Returns the cells of [`HEADINGS`], uncut.
    fn cells(&self) -> impl Iterator<Item = [Untrusted; 11]> {
        self.rows.iter().map(|TriageRow { file, expires, price, is_open, .. }| {
            let expires = expires.map(|at| Retention::until(at, self.now).short(self.now)).unwrap_or_default();
            file.cells(expires, format!("{price}{}", if *is_open { AT_LEAST } else { "" }))
        })
    }

    fn print_table(&self) -> Result<()> {
        let heading = self.headings().map(|name| match name {
            "labels" => "--labels",
            "artifacts" => "--artifacts",
            "high" => ">high",
            "medium" => ">medium",
            "top rules" => "-top rules",
            "alike" => ">alike",
            name => name,
        });
        let rows = self.rows.iter().zip(self.cells()).map(|(row, mut cells)| {
            let [file, ..] = &mut cells;
            *file = row.file.file.short().into();
            cells.map(|cell| cell.visible_cut(MAX_CELL).to_string())
        });
        print_text(&wrapped(&format!("{}\n{}\n", table(heading, rows), self.total())))
    }

    /// The sum below the table, and the option that requests the cheapest of what is missing.
    fn total(&self) -> String {
        let files = text::count(self.rows.len() as u64, "file");
        let unavailable = self.rows.iter().filter(|row| row.file.unavailable.is_some()).count() as u64;
        let unavailable = match unavailable {
            0 => String::new(),
            some => {
                format!(" Left out of {}: what the service did not have, or is unreadable.", text::count(some, "file"))
            }
        };
        if self.price.prices.is_empty() {
            let all = if unavailable.is_empty() { "all that their lists name is stored" } else { "nothing to request" };
            return format!("{files}; {all}.{unavailable}");
        }
        let lists = self.rows.iter().filter(|row| row.file.listed.is_none() && row.is_open).count();
        let next = match lists {
            0 if self.has_artifacts => "--fetch=artifacts requests it".to_owned(),
            0 => "--fetch=reports requests it".to_owned(),
            lists => format!("--fetch requests {} first", text::count(lists as u64, "list")),
        };
        let least = if self.rows.iter().any(|row| row.is_open) { "at least " } else { "" };
        format!("{files}; what is missing costs {least}{} in all: {next}.{unavailable}", self.price)
    }

    fn print_csv(&self) -> Result<()> {
        let mut out = Vec::new();
        csv::line(&mut out, self.headings())?;
        for cells in self.cells() {
            csv::line(&mut out, cells.each_ref().map(csv::cell))?;
        }
        print_text(&String::from_utf8_lossy(&out))
    }

    /// Writes a table with outside text in code spans, and so never markup or a link.
    fn markdown(&self) -> String {
        let row = |cells: [String; 11]| format!("| {} |\n", cells.join(" | "));
        let mut text = row(self.headings().map(str::to_owned)) + "|---|---|---|---|---|---|--:|--:|---|--:|---|\n";
        for cells in self.cells() {
            let mut headings = HEADINGS.into_iter();
            text += &row(cells.map(|cell| match headings.next() {
                Some("file" | "labels" | "top rules") if !cell.is_empty() => markdown::cell(&cell),
                _ => cell.visible().to_string(),
            }));
        }
        format!("{text}\n{}\n", self.total())
    }
}
