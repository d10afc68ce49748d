//! What the commands for scripts share, and `behaview call`: JSON on standard output, what it cost on standard error.

use super::{Common, Failed, Setup, Spending, dry, setup_to_spend};
use crate::app::{ASKS, Ask};
use crate::gate::{Answer, Gate, GateError};
use crate::quota::Entitlements;
use crate::report::{Body, Index, Indexer};
use crate::request::Request;
use crate::service::Received;
use crate::text::Untrusted;
use clap::Args;
use serde::Serialize;
use std::io::{IsTerminal, Read, Write};
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// `behaview call`
#[derive(Debug, Args)]
#[command(after_help = names())]
pub(super) struct Call {
    /// Name of the question
    name: String,
    /// What it asks about: hashes, an identifier, a path; - for standard input
    input: Vec<String>,
    /// Ask the service even if the answer is held
    #[arg(long)]
    refresh: bool,
    /// Send what makes something public without asking back
    #[arg(long)]
    yes: bool,
    /// Print JSON, as it is always done; a dry run prints it too
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    spending: Spending,
}

/// The questions by name, for the help.
fn names() -> String {
    let rows = ASKS.iter().map(|ask| {
        format!("  {:<20} {}: {}\n", ask.name, ask.help, if ask.input.is_empty() { "nothing" } else { ask.input })
    });
    format!(
        "Questions, with what each is asked about:\n{}\nExamples:\n  behaview call v3-quotas\n  behaview call v2-file-report --dry-run d41d8cd98f00b204e9800998ecf8427e",
        rows.collect::<String>()
    )
}

impl Call {
    pub(super) fn run(self, common: &Common) -> anyhow::Result<()> {
        let known = || ASKS.iter().map(|ask| ask.name).collect::<Vec<_>>().join(", ");
        let ask = Ask::named(&self.name)
            .ok_or_else(|| Failed::usage(format!("there is no such question; there are {}", known())))?;
        let setup = setup_to_spend(common, self.spending)?;
        let request = (ask.make)(&self.typed()?, setup.gate.now());
        let request = request.map_err(|why| Failed::usage(format!("{}: {why}", ask.name)))?;
        if self.spending.dry_run {
            return dry::print(&setup, vec![request], self.refresh, None, self.json);
        }
        if let (Some(publishes), false) = (request.warning(), self.yes) {
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

impl Call {
    /// What was typed behind the name.
    fn typed(&self) -> anyhow::Result<String> {
        if self.input != ["-"] {
            return Ok(self.input.join(" "));
        }
        let mut text = String::new();
        std::io::stdin().lock().read_to_string(&mut text)?;
        Ok(text.trim().to_owned())
    }
}

/// The answer that is held, or the service's; where there is none, what it cost is said.
pub(super) async fn get(setup: &Setup, request: &Request, refresh: bool) -> anyhow::Result<Answer> {
    let answer = ask(setup, request, refresh).await;
    if answer.is_err() {
        say_cost(&setup.gate)?;
    }
    Ok(answer?)
}

/// The answer that is held, or the service's.
pub(super) async fn ask(setup: &Setup, request: &Request, refresh: bool) -> Result<Answer, GateError> {
    let Setup { gate, entitled, .. } = setup;
    let quote = request.clone().quote(entitled);
    let meter = Meter::default();
    let progress = |received| meter.tell(received);
    let answer = if refresh { gate.ask(&quote, &progress).await } else { gate.get(&quote, &progress).await };
    drop(meter);
    if let Some(why) = answer.as_ref().ok().and_then(|answer| answer.unkept.as_ref()) {
        let why = Untrusted::from(why.as_str()).visible();
        // An answer that was paid for is worth more than the remark about it.
        let _ =
            writeln!(std::io::stderr(), "behaview: the answer could not be kept, so asking again costs again: {why}");
    }
    answer
}

/// Tells people at a terminal how much of an answer has come; a file or pipe hears nothing.
#[derive(Default)]
struct Meter(Mutex<Option<Instant>>);

impl Meter {
    /// How often it tells.
    const PACE: Duration = Duration::from_millis(200);

    fn tell(&self, received: Received) {
        let mut to = std::io::stderr();
        let Ok(mut told) = self.0.lock() else { return };
        if !to.is_terminal() || told.is_some_and(|told| told.elapsed() < Self::PACE) {
            return;
        }
        *told = Some(Instant::now());
        let total = received.total.map(|total| format!(" of {}", crate::text::bytes(total))).unwrap_or_default();
        let _ = write!(to, "\r{}{total}\x1b[K\r", crate::text::bytes(received.bytes));
    }
}

impl Drop for Meter {
    fn drop(&mut self) {
        if self.0.lock().is_ok_and(|told| told.is_some()) {
            let _ = write!(std::io::stderr(), "\x1b[K");
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
    Output::new(false).print(crate::text::own(text).as_bytes())
}

/// Prints a report as received, in the envelope of the service (specification §2.1) whether it came in one or not.
pub(super) fn print_report(body: &Body) -> anyhow::Result<()> {
    let is_bare = !is_enveloped(body)?;
    let (mut out, mut indexer) = (Output::new(true), Indexer::default());
    if is_bare {
        out.print(b"{\"data\":")?;
    }
    for window in without_mark(body)?.windows() {
        let window = window?;
        indexer.feed(&window);
        out.print(&window)?;
    }
    out.print(if is_bare { b"}\n" } else { b"\n" })?;
    let mut index = Index::default();
    index.absorb(indexer.finish());
    if index.is_cut {
        return Err(Failed::bad_answer("the report stops in the middle: what came of it was printed").into());
    }
    Ok(())
}

/// A document without the byte order mark that some tools put before it.
pub(super) fn without_mark(body: &Body) -> anyhow::Result<Body> {
    let is_marked = body.window(0..3)? == b"\xef\xbb\xbf";
    Ok(if is_marked { body.slice(3..body.len()) } else { body.clone() })
}

/// Prints an answer as received.
fn print_body(body: &Body) -> anyhow::Result<()> {
    let mut out = Output::new(true);
    for window in body.windows() {
        out.print(&window?)?;
    }
    out.print(b"\n")
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

pub(super) fn print_lines(bytes: &[u8]) -> anyhow::Result<()> {
    let mut out = Output::new(true);
    out.print(bytes)?;
    out.print(b"\n")
}

/// Standard output: bytes as they are into a file or pipe, escaped onto a terminal.
pub(super) struct Output {
    is_escaped: bool,
}

impl Output {
    /// Standard output; text that is safe by itself need not be escaped.
    pub(super) fn new(needs_escaping: bool) -> Self {
        Self { is_escaped: needs_escaping && std::io::stdout().is_terminal() }
    }

    pub(super) fn print(&mut self, bytes: &[u8]) -> anyhow::Result<()> {
        match self.write_all(bytes).and_then(|()| self.flush()) {
            // A reader that has seen enough is no failure.
            Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => std::process::exit(0),
            other => Ok(other?),
        }
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let mut out = std::io::stdout().lock();
        if self.is_escaped {
            let lines = bytes.split_inclusive(|byte| *byte == b'\n');
            lines.map(escaped).try_for_each(|line| out.write_all(line.as_bytes()))?;
        } else {
            out.write_all(bytes)?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        std::io::stdout().lock().flush()
    }
}

fn escaped(line: &[u8]) -> String {
    match line.strip_suffix(b"\n") {
        Some(line) => format!("{}\n", Untrusted::from(line).visible()),
        None => Untrusted::from(line).visible().to_string(),
    }
}
