//! The commands for scripts: JSON on standard output, what it cost on standard error.

use super::document::{self, is_document};
use super::{Common, Failed, Setup, parse_sha256, setup};
use crate::app::{ASKS, Ask};
use crate::config::Folders;
use crate::gate::{Answer, Gate};
use crate::quota::Entitlements;
use crate::report::identifier::{Identifier, Sha256};
use crate::report::page::{Page, PageEntry};
use crate::report::{Body, Index, Indexer};
use crate::request::Request;
use crate::text::Untrusted;
use clap::Args;
use jiff::Timestamp;
use serde::Serialize;
use std::collections::HashSet;
use std::io::{IsTerminal, Write};

/// `behaview list`
#[derive(Debug, Args)]
pub(super) struct List {
    /// SHA-256 of a privately scanned file, or a saved list page (- for standard input)
    file: String,
    /// Fetch every page that is not held, not only the first; each costs one request, 100 at most
    #[arg(long)]
    all: bool,
    /// Ask the service even if the list is held
    #[arg(long)]
    refresh: bool,
    /// Send nothing that may bring the cost of this run above N
    #[arg(long, value_name = "N")]
    max_cost: Option<u64>,
}

/// `behaview show`
#[derive(Debug, Args)]
pub(super) struct Show {
    /// Sandbox identifier as a list gives it, or a saved report (- for standard input)
    identifier: String,
    /// Ask the service even if the report is held
    #[arg(long)]
    refresh: bool,
    /// Send nothing that may bring the cost of this run above N
    #[arg(long, value_name = "N")]
    max_cost: Option<u64>,
}

/// `behaview call`
#[derive(Debug, Args)]
#[command(after_help = names())]
pub(super) struct Call {
    /// Name of the question
    name: String,
    /// What it asks about: hashes, an identifier, a path
    input: Vec<String>,
    /// Ask the service even if the answer is held
    #[arg(long)]
    refresh: bool,
    /// Send what makes something public without asking back
    #[arg(long)]
    yes: bool,
}

/// The questions by name, for the help.
fn names() -> String {
    let rows = ASKS.iter().map(|ask| {
        format!("  {:<20} {}: {}\n", ask.name, ask.help, if ask.input.is_empty() { "nothing" } else { ask.input })
    });
    format!("Questions, with what each is asked about:\n{}\nExample: behaview call v3-quotas", rows.collect::<String>())
}

/// The most pages that `--all` fetches in one run; the next run goes on behind those that are held.
const MOST_PAGES: usize = 100;

/// What `list` prints.
#[derive(Serialize)]
struct Listed {
    file: Option<String>,
    sandboxes: Vec<Sandbox>,
    /// Whether there are pages that were not fetched.
    more: bool,
}

#[derive(Serialize)]
struct Sandbox {
    id: String,
    sandbox: String,
    when: Option<Timestamp>,
    /// Since when the report is held, and costs nothing.
    held_since: Option<Timestamp>,
}

impl List {
    pub(super) fn run(self, common: &Common) -> anyhow::Result<()> {
        if is_document(&self.file) {
            let found = document::read(&self.file)?;
            let sandboxes =
                found.reports.into_iter().map(|(id, here)| sandbox(id.as_ref(), Some(here.received))).collect();
            return print_json(&Listed { file: None, sandboxes, more: false });
        }
        let file = parse_sha256(&self.file)?;
        let setup = setup(common)?.at_most(self.max_cost);
        let gate = &setup.gate;
        let runtime = runtime()?;
        let mut listed = Listed { file: Some(file.to_string()), sandboxes: Vec::new(), more: true };
        let (mut cursor, mut seen, mut pages) = (None, HashSet::new(), 0);
        loop {
            let listing = gate.client().profile().listing;
            let request = Request::Behaviours { file: file.clone(), listing, cursor };
            let got = runtime.block_on(get(&setup, &request, self.refresh))?;
            let page = Page::of(&got.body)?;
            let known = seen.len();
            for entry in &page.entries {
                if seen.insert(entry.identifier.clone()) {
                    listed.sandboxes.push(listed_entry(gate, entry, got.received)?);
                }
            }
            cursor = page.cursor;
            listed.more = cursor.is_some();
            // A service that brings nothing new goes in circles, and would be paid for ever.
            pages += 1;
            if !(self.all && listed.more && seen.len() > known && pages < MOST_PAGES) {
                break;
            }
        }
        gate.store().note_file(gate.profile(), &file, None, gate.now())?;
        say_cost(gate)?;
        print_json(&listed)
    }
}

fn listed_entry(gate: &Gate, entry: &PageEntry, received: Timestamp) -> anyhow::Result<Sandbox> {
    let held = gate.store().report(gate.profile(), &entry.identifier)?.map(|held| held.received);
    Ok(sandbox(Some(&entry.identifier), held.or(entry.report.as_ref().map(|_| received))))
}

fn sandbox(identifier: Option<&Identifier>, held_since: Option<Timestamp>) -> Sandbox {
    let plain = |text: &Untrusted| String::from_utf8_lossy(text.as_bytes()).into_owned();
    let parts = identifier.map(Identifier::parts);
    Sandbox {
        id: identifier.map(|identifier| plain(identifier.text())).unwrap_or_default(),
        sandbox: parts.as_ref().map(|parts| plain(&parts.sandbox)).unwrap_or_default(),
        when: parts.and_then(|parts| Timestamp::from_second(parts.when.filter(|when| *when >= 1_000_000_000)?).ok()),
        held_since,
    }
}

impl Show {
    pub(super) fn run(self, common: &Common) -> anyhow::Result<()> {
        if is_document(&self.identifier) {
            let found = document::read(&self.identifier)?;
            return found.reports.iter().try_for_each(|(_, here)| print_report(&here.body));
        }
        let identifier = Identifier::new(Untrusted::from(self.identifier.as_str()));
        let identifier =
            identifier.ok_or_else(|| Failed::usage("that is no sandbox identifier; behaview list prints them"))?;
        if Sha256::parse(&self.identifier).is_some() {
            return Err(
                Failed::usage("that is a file's hash; behaview list prints the identifiers of its reports").into()
            );
        }
        let setup = setup(common)?.at_most(self.max_cost);
        let got = runtime()?.block_on(get(&setup, &Request::Behaviour { identifier }, self.refresh))?;
        say_cost(&setup.gate)?;
        print_report(&got.body)
    }
}

impl Call {
    pub(super) fn run(self, common: &Common) -> anyhow::Result<()> {
        let known = || ASKS.iter().map(|ask| ask.name).collect::<Vec<_>>().join(", ");
        let ask = Ask::named(&self.name)
            .ok_or_else(|| Failed::usage(format!("there is no such question; there are {}", known())))?;
        let setup = setup(common)?;
        let request = (ask.make)(&self.input.join(" "), setup.gate.now());
        let request = request.map_err(|why| Failed::usage(format!("{}: {why}", ask.name)))?;
        if let (Some(publishes), false) = (request.publishes(), self.yes) {
            return Err(Failed::usage(format!("nothing was sent. {publishes} --yes sends it")).into());
        }
        let answer = runtime()?.block_on(get(&setup, &request, self.refresh))?;
        say_cost(&setup.gate)?;
        if request == Request::User {
            // The user object holds the key: nothing but the privileges is printed.
            let user = serde_json::from_slice(&answer.body.whole()?);
            let user = user.map_err(|_| Failed::bad_answer("the answer is no user object"))?;
            let found = Entitlements::from_user(&user);
            return print_json(&serde_json::json!({
                "premium_api": found.premium_api.held(),
                "premium_intelligence": found.premium_intelligence.held(),
            }));
        }
        print_body(&answer.body)
    }
}

/// The answer that is held, or the service's.
pub(super) async fn get(setup: &Setup, request: &Request, refresh: bool) -> anyhow::Result<Answer> {
    let Setup { gate, entitled, .. } = setup;
    let quote = request.clone().quote(entitled);
    let answer = if refresh { gate.ask(&quote, &|_| {}).await } else { gate.get(&quote, &|_| {}).await };
    match answer {
        Ok(answer) => {
            if let Some(why) = &answer.unkept {
                let why = Untrusted::from(why.as_str()).visible();
                // An answer that was paid for is worth more than the remark about it.
                let _ = writeln!(
                    std::io::stderr(),
                    "behaview: the answer could not be kept, so asking again costs again: {why}"
                );
            }
            Ok(answer)
        }
        Err(error) => {
            say_cost(gate)?;
            Err(error.into())
        }
    }
}

/// What this run has cost, for people; standard output stays clean.
pub(super) fn say_cost(gate: &Gate) -> anyhow::Result<()> {
    let spent = gate.spent()?;
    let words = match (spent.charged, spent.unsure) {
        (0, 0) => "nothing was charged".to_owned(),
        (charged, 0) => format!("charged: {charged}"),
        (charged, unsure) => {
            let or = if spent.is_open { " or" } else { "" };
            format!("charged: {charged}, perhaps {unsure}{or} more")
        }
    };
    // What was paid for is worth more than the remark about it.
    let _ = writeln!(std::io::stderr(), "behaview: {words}");
    Ok(())
}

pub(super) fn runtime() -> std::io::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()
}

pub(super) fn print_json(value: &impl Serialize) -> anyhow::Result<()> {
    let text = serde_json::to_string_pretty(value)?;
    print_lines(text.as_bytes())
}

/// Prints text of this program's own, in which everything from outside is visible already.
pub(super) fn print_text(text: &str) -> anyhow::Result<()> {
    Output { is_terminal: false }.write(crate::text::own(text).as_bytes())
}

/// Prints a report as received, in the envelope of the service (specification §2.1) whether it came in one or not.
fn print_report(body: &Body) -> anyhow::Result<()> {
    let is_bare = !is_enveloped(body)?;
    let (mut out, mut indexer) = (Output::new(), Indexer::default());
    if is_bare {
        out.write(b"{\"data\":")?;
    }
    for window in without_mark(body)?.windows() {
        let window = window?;
        indexer.feed(&window);
        out.write(&window)?;
    }
    out.write(if is_bare { b"}\n" } else { b"\n" })?;
    let mut index = Index::default();
    index.absorb(indexer.finish());
    if index.is_cut {
        return Err(Failed::bad_answer("the report stops in the middle: what came of it was printed").into());
    }
    Ok(())
}

/// A document without the byte order mark that some tools put before it.
fn without_mark(body: &Body) -> anyhow::Result<Body> {
    let is_marked = body.window(0..3)? == b"\xef\xbb\xbf";
    Ok(if is_marked { body.slice(3..body.len()) } else { body.clone() })
}

/// Prints an answer as received.
fn print_body(body: &Body) -> anyhow::Result<()> {
    let mut out = Output::new();
    for window in body.windows() {
        out.write(&window?)?;
    }
    out.write(b"\n")
}

/// Whether the bytes are an envelope, be `data` its first member or not.
fn is_enveloped(body: &Body) -> anyhow::Result<bool> {
    let (mut indexer, mut index) = (Indexer::default(), Index::default());
    for window in body.windows() {
        indexer.feed(&window?);
        index.absorb(indexer.take());
        if index.is_enveloped || index.is_attributed {
            break;
        }
    }
    Ok(index.is_enveloped)
}

fn print_lines(bytes: &[u8]) -> anyhow::Result<()> {
    let mut out = Output::new();
    out.write(bytes)?;
    out.write(b"\n")
}

/// Standard output: bytes as they are into a file or pipe, escaped onto a terminal.
struct Output {
    is_terminal: bool,
}

impl Output {
    fn new() -> Self {
        Self { is_terminal: std::io::stdout().is_terminal() }
    }

    fn write(&mut self, bytes: &[u8]) -> anyhow::Result<()> {
        let mut out = std::io::stdout().lock();
        let written = if self.is_terminal {
            let lines = bytes.split_inclusive(|byte| *byte == b'\n');
            lines.map(escaped).try_for_each(|line| out.write_all(line.as_bytes()))
        } else {
            out.write_all(bytes)
        };
        match written.and_then(|()| out.flush()) {
            // A reader that has seen enough is no failure.
            Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => std::process::exit(0),
            other => Ok(other?),
        }
    }
}

fn escaped(line: &[u8]) -> String {
    match line.strip_suffix(b"\n") {
        Some(line) => format!("{}\n", Untrusted::from(line).visible()),
        None => Untrusted::from(line).visible().to_string(),
    }
}

/// Prints where things are.
pub(super) fn paths() -> anyhow::Result<()> {
    let folders = Folders::find()?;
    let mut out = std::io::stdout().lock();
    for (name, path) in
        [("config", folders.config), ("store", folders.store), ("cache", folders.cache), ("state", folders.state)]
    {
        writeln!(out, "{name:<8}{}", path.display())?;
    }
    Ok(())
}
