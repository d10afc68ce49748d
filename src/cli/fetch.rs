//! `behaview fetch`: what a sandbox kept beside its report, to a new file.

use super::asking::{get, runtime, say_cost};
use super::export::write_file;
use super::show::identifier;
use super::{Common, FailureKind, Spending, document, dry, setup_to_spend};
use crate::export::file;
use crate::gate::Gate;
use crate::report::Report;
use crate::request::{Artefact, Request};
use clap::Args;
use clap::builder::PossibleValuesParser;
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};

#[derive(Debug, Args)]
#[command(
    after_help = "A fetch that is cut off is lost, and may be charged: fetching again costs a request, and begins anew."
)]
pub(super) struct Fetch {
    /// Sandbox identifier as a list gives it
    identifier: String,
    /// Which artefact; the report says which of them exist
    #[arg(value_name = "ARTEFACT", value_parser = PossibleValuesParser::new(Artefact::ALL.map(Artefact::name)))]
    artefact: String,
    /// The file that is made, which its owner alone can read; - for standard output; without it, a safe name in this folder
    #[arg(long, short, value_name = "FILE", value_parser = document::path())]
    output: Option<PathBuf>,
    /// Write over the file if it is there
    #[arg(long)]
    force: bool,
    /// Ask the service even if the artefact is held
    #[arg(long)]
    refresh: bool,
    /// Ask the service though the report that is held says that there is none
    #[arg(long)]
    anyway: bool,
    /// Print JSON where a dry run says what it would cost
    #[arg(long, requires = "dry_run")]
    json: bool,
    #[command(flatten)]
    spending: Spending,
}

impl Fetch {
    pub(super) fn run(self, common: &Common) -> anyhow::Result<()> {
        let identifier = identifier(&self.identifier, common)?;
        let artefact =
            Artefact::named(&self.artefact).ok_or_else(|| FailureKind::Usage.error("there is no such artefact"))?;
        let name = || PathBuf::from(file::name(Some(&identifier), None, artefact.extension()));
        let path = self.output.clone().unwrap_or_else(name);
        let is_printed = path == Path::new("-");
        let request = Request::Artefact { identifier, artefact };
        if self.spending.dry_run {
            let setup = setup_to_spend(common, self.spending)?;
            let none = self.none_beside(&setup.gate, &request)?;
            return dry::print(&setup, vec![request], self.refresh, none.map(dry::Remark::only), self.json);
        }
        // Before anything is paid.
        if is_printed && io::stdout().is_terminal() {
            fail!(Usage, "that is no text for a terminal: name a file, or a pipe");
        }
        if !is_printed {
            file::check(&path, self.force)?;
        }
        let setup = setup_to_spend(common, self.spending)?;
        if let Some(none) = self.none_beside(&setup.gate, &request)? {
            fail!(NotFound, "{none}");
        }
        let got = runtime()?.block_on(get(&setup, &request, self.refresh))?;
        say_cost(&setup.gate)?;
        let copy = |out: &mut dyn Write| out.write_all(&got.body);
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

    /// Why nothing is to be asked: the report that is held says that there is no such artefact, and none is held.
    fn none_beside(&self, gate: &Gate, request: &Request) -> anyhow::Result<Option<String>> {
        let Request::Artefact { identifier, artefact } = request else { return Ok(None) };
        let is_held = !self.refresh && gate.held(request)?.is_some();
        let report = gate.store().report(gate.service(), identifier)?.filter(|_| !self.anyway && !is_held);
        let report = report.and_then(|stored| Some(Report::open(&stored.body().ok()?)));
        let (what, attribute) = (artefact.words(), artefact.attribute());
        Ok(report.filter(|report| artefact.is_beside(report) == Some(false)).map(|_| {
            format!(
                "the report that is held says that there is no {what} ({attribute}: false); --anyway asks all the same"
            )
        }))
    }
}
