//! `behaview fetch`: what a sandbox kept beside its report, to a new file.

use super::asking::{get, runtime, say_cost};
use super::export::write_file;
use super::show::identifier;
use super::{Common, Failed, Spending, dry, setup_to_spend};
use crate::export::file;
use crate::request::{Artefact, Request};
use clap::Args;
use clap::builder::PossibleValuesParser;
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};

/// `behaview fetch`
#[derive(Debug, Args)]
#[command(
    after_help = "What came of a fetch that was cut off is kept: fetching again costs a request, and goes on where it ended."
)]
pub(super) struct Fetch {
    /// Sandbox identifier as a list gives it
    identifier: String,
    /// Which artefact; the report says which of them exist
    #[arg(value_name = "ARTEFACT", value_parser = PossibleValuesParser::new(Artefact::ALL.map(Artefact::name)))]
    artefact: String,
    /// The file that is made, which its owner alone can read; - for standard output; without it, a safe name in this folder
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Write over the file if it is there
    #[arg(long)]
    force: bool,
    /// Ask the service even if the artefact is held
    #[arg(long)]
    refresh: bool,
    /// Print JSON where a dry run says what it would cost
    #[arg(long, requires = "dry_run")]
    json: bool,
    #[command(flatten)]
    spending: Spending,
}

impl Fetch {
    pub(super) fn run(self, common: &Common) -> anyhow::Result<()> {
        let identifier = identifier(&self.identifier)?;
        let artefact = Artefact::named(&self.artefact).ok_or_else(|| Failed::usage("there is no such artefact"))?;
        let name = || PathBuf::from(file::name(Some(&identifier), None, artefact.extension()));
        let path = self.output.clone().unwrap_or_else(name);
        let is_printed = path == Path::new("-");
        let request = Request::Artefact { identifier, artefact };
        if self.spending.dry_run {
            return dry::print(&setup_to_spend(common, self.spending)?, vec![request], self.refresh, None, self.json);
        }
        // Before anything is paid.
        if is_printed && io::stdout().is_terminal() {
            return Err(Failed::usage("that is no text for a terminal: name a file, or a pipe").into());
        }
        if !is_printed {
            file::check(&path, self.force)?;
        }
        let setup = setup_to_spend(common, self.spending)?;
        let got = runtime()?.block_on(get(&setup, &request, self.refresh))?;
        say_cost(&setup.gate)?;
        let copy = |out: &mut dyn Write| got.body.copy_to(out);
        if !is_printed {
            return write_file(&path, self.force, copy);
        }
        let mut out = io::stdout().lock();
        match copy(&mut out).and_then(|()| out.flush()) {
            // A reader that has seen enough is no failure.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => std::process::exit(0),
            other => Ok(other?),
        }
    }
}
