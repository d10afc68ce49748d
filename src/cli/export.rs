//! `behaview export`: a report, or what others can look for in it, in one of the formats; to standard output or a new file.

use super::asking::{get, runtime, say_cost};
use super::document::{self, is_document};
use super::output::Output;
use super::show::identifier;
use super::{Common, Failed, Spending, dry, pane, setup_to_spend};
use crate::app::Here;
use crate::export::file::{self, Fresh};
use crate::export::{FORMATS, Format, Job, Source, Summary, What};
use crate::report::{Identifier, Pane};
use crate::request::Request;
use clap::Args;
use clap::builder::PossibleValuesParser;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

const EXPORT_EXAMPLES: &str = "\
Examples:
  file=57874b32c2596f25db81f780cb7ae5bd2277ff9ca0176b87fecf2352ec56938c
  behaview export \"$(behaview list --format ids $file | head -n 1)\" --format csv --pane network
  behaview export \"$(behaview list --format ids $file | head -n 1)\" --format stix --indicators";

/// `behaview export`
#[derive(Debug, Args)]
#[command(after_help = about())]
pub(super) struct Export {
    /// Sandbox identifier as a list gives it, or a saved report or list (- for standard input)
    identifier: String,
    /// Format of what is written
    #[arg(long, value_name = "FORMAT", value_parser = PossibleValuesParser::new(FORMATS.iter().map(|format| format.name)))]
    format: Option<String>,
    /// Write the rows of one pane only
    #[arg(long, value_name = "NAME", conflicts_with = "indicators", value_parser = pane::named)]
    pane: Option<Pane>,
    /// Write what others can look for: hashes, hosts, addresses, URLs, paths, keys, mutexes, with where each was seen
    #[arg(long)]
    indicators: bool,
    /// Write a new file, for the owner's eyes only, instead of standard output
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Write over the file if it is there
    #[arg(long, requires = "output")]
    force: bool,
    /// Ask the service even if the report is held
    #[arg(long)]
    refresh: bool,
    /// Print JSON where a dry run says what it would cost
    #[arg(long, requires = "dry_run")]
    json: bool,
    #[command(flatten)]
    spending: Spending,
}

/// The formats, for the help.
fn about() -> String {
    let rows = FORMATS.iter().map(|format| format!("  {:<6} {}\n", format.name, format.about));
    format!(
        "Formats; without --format the end of the file's name says which:\n{}\n{EXPORT_EXAMPLES}",
        rows.collect::<String>()
    )
}

impl Export {
    pub(super) fn run(self, common: &Common) -> anyhow::Result<()> {
        let (format, what) = (self.format()?, self.what());
        if !format.can_write(what) {
            return Err(Failed::usage(format!("{} holds whole reports only", format.name)).into());
        }
        // Before anything is paid.
        self.output.iter().try_for_each(|path| file::check(path, self.force))?;
        let Some(sources) = self.sources(common)? else { return Ok(()) };
        let job = Job { sources: &sources, what, is_stopped: &|| false };
        let summary = match &self.output {
            Some(path) => write_file(path, self.force, |out| format.write(&job, out))?,
            None => print(format, &job)?,
        };
        if summary.cut > 0 {
            return Err(Failed::bad_answer("the report stops in the middle: what came of it was written").into());
        }
        Ok(())
    }

    fn format(&self) -> anyhow::Result<&'static Format> {
        let by_name = || Format::of_file(self.output.as_ref()?.file_name()?.to_str()?);
        let found = match &self.format {
            Some(name) => Format::named(name),
            None => by_name(),
        };
        found.ok_or_else(|| Failed::usage("which format? --format says, or the end of the file's name").into())
    }

    fn what(&self) -> What {
        match self.pane {
            Some(pane) => What::Pane(pane),
            None if self.indicators => What::Indicators,
            None => What::All,
        }
    }

    /// What is written; none where it was said what it would cost.
    fn sources(&self, common: &Common) -> anyhow::Result<Option<Vec<Source>>> {
        if is_document(&self.identifier) {
            let found = document::read(&self.identifier)?;
            let origin = found.name;
            let source = |(identifier, here): (Option<Identifier>, Here)| Source {
                body: here.body,
                identifier,
                origin: origin.clone(),
                received: None,
            };
            return Ok(Some(found.reports.into_iter().map(source).collect()));
        }
        let identifier = identifier(&self.identifier)?;
        let setup = setup_to_spend(common, self.spending)?;
        let request = Request::Behaviour { identifier: identifier.clone() };
        if self.spending.dry_run {
            return dry::print(&setup, vec![request], self.refresh, None, self.json).map(|()| None);
        }
        let got = runtime()?.block_on(get(&setup, &request, self.refresh))?;
        say_cost(&setup.gate)?;
        let (origin, received) = (setup.gate.profile().to_owned(), Some(got.received));
        Ok(Some(vec![Source { body: got.body, identifier: Some(identifier), origin, received }]))
    }
}

/// Writes a new file and says where it is.
pub(super) fn write_file<T>(
    path: &Path,
    may_replace: bool,
    write: impl FnOnce(&mut dyn Write) -> io::Result<T>,
) -> anyhow::Result<T> {
    let mut fresh = Fresh::begin(path, may_replace)?;
    let written = write(&mut fresh).map_err(|why| file::FileError::Io { path: path.to_owned(), why })?;
    let length = crate::text::bytes(fresh.keep()?);
    // What was written is worth more than the remark about it.
    let _ = writeln!(io::stderr(), "behaview: wrote {length} to {}", file::shown(path));
    Ok(written)
}

fn print(format: &Format, job: &Job<'_>) -> anyhow::Result<Summary> {
    let mut out = BufWriter::with_capacity(64 * 1024, Output::new(format.name == "raw"));
    let written = format.write(job, &mut out).and_then(|summary| out.flush().map(|()| summary));
    match written {
        // A reader that has seen enough is no failure.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => std::process::exit(0),
        other => Ok(other?),
    }
}
