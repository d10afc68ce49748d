//! `behaview export`: writes reports or indicators in a format, to standard output or new files.

use super::show::{identifier, listed};
use super::*;
use crate::export::file::{self, FileError};
use crate::export::{Export, ExportSource, FORMATS, Format, Part};
use crate::report::indicators::Kind;
use crate::report::note::Notes;
use crate::runtime::{BlockedSignals, export_context};
use std::cell::RefCell;
use std::io::{self, BufWriter, Write};

#[derive(Debug, Args)]
#[command(after_help = about())]
pub(super) struct ExportArgs {
    /// Sandbox identifiers as a list gives them, the SHA-256 of a file for all its stored reports,
    /// or saved reports or lists; - for standard input, one identifier a line or a report
    #[arg(required = true, value_name = "IDENTIFIER")]
    identifiers: Vec<OsString>,
    /// Format of the output
    #[arg(long, value_name = "FORMAT", value_parser = PossibleValuesParser::new(FORMATS.iter().map(|format| format.name)))]
    format: Option<String>,
    /// Write the rows of one pane only
    #[arg(long, value_name = "NAME", conflicts_with = "indicators", value_parser = super::document::pane)]
    pane: Option<Pane>,
    /// Write the findings: rows that rules mark, with severity and reason
    #[arg(long, conflicts_with_all = ["indicators", "pane"])]
    findings: bool,
    /// Write the indicators: hashes, hosts, addresses, URLs, paths, keys, mutexes, with where each
    /// was seen
    #[arg(long)]
    indicators: bool,
    /// Write the indicators to block only: the file itself, and what findings of high or medium
    /// severity name
    #[arg(long, conflicts_with_all = ["indicators", "kind", "pane", "findings"])]
    to_block: bool,
    /// Write the indicators of one kind only; strings from memory go to STIX and MISP only by this
    #[arg(long, value_name = "KIND", conflicts_with_all = ["indicators", "pane", "findings"],
        value_parser = PossibleValuesParser::new(Kind::ALL.iter().map(|kind| kind.name())))]
    kind: Option<String>,
    /// Write a new file, which its owner alone can read, instead of standard output; a folder takes
    /// a file for each report
    #[arg(long, short, value_name = "FILE", value_parser = document::path())]
    output: Option<PathBuf>,
    /// Overwrite existing files
    #[arg(long, requires = "output")]
    force: bool,
    /// Send the request even if the report is stored
    #[arg(long)]
    refresh: bool,
    #[command(flatten)]
    spending: Spending,
}

/// A saved report, or one of the service with its file if the store knows it.
type ExportInput = Subject<(Identifier, Option<Sha256>), Box<ExportSource>>;

fn about() -> String {
    let width = FORMATS.iter().map(|format| format.name.len()).max().unwrap_or_default();
    let row = |format: &Format| format!("  {:<width$}  {}\n", format.name, format.about);
    let rows: String = FORMATS.iter().map(row).collect();
    format!("Formats; without --format the extension of the file selects one:\n{rows}\n{}", examples("export"))
}

impl ExportArgs {
    pub(super) fn run(self, common: &Common) -> Result<()> {
        let format = self.format()?;
        if !format.can_write(&self.what()) {
            fail!(Usage, "{}", format.refusal());
        }
        let (wanted, unread) = wanted(&self.identifiers, format, common)?;
        // Checked before anything is paid.
        let files = self.files(&wanted, format)?;
        let to_send: Vec<_> =
            wanted.iter().filter_map(Subject::service).map(|(identifier, _)| identifier.clone()).collect();
        let setup = (!to_send.is_empty()).then(|| setup(common, self.spending)).transpose()?;
        if let Some(setup) = setup.as_ref().filter(|_| self.spending.dry_run) {
            let requests = to_send.into_iter().map(|identifier| Request::Behaviour { identifier }).collect();
            return print_dry_run(setup, requests, self.refresh, None);
        }
        let mut sources = Vec::new();
        let fetched = each(common, wanted.into_iter().zip(files).collect(), |(wanted, file)| {
            let source = match (wanted, &setup) {
                (Subject::Saved(source), _) => *source,
                (Subject::Service((identifier, file)), Some(setup)) => {
                    ExportSource { file, ..self.fetch(setup, identifier)? }
                }
                (Subject::Service(_), None) => return Ok(()),
            };
            match file {
                Some(file) => self.write(format, &[source], Some(&file), setup.as_ref()),
                None => {
                    sources.push(source);
                    Ok(())
                }
            }
        });
        setup.as_ref().map_or(Ok(()), print_cost)?;
        let written = if sources.is_empty() {
            Ok(())
        } else {
            self.write(format, &sources, self.output.as_deref(), setup.as_ref())
        };
        fetched.and(written).and(unread)
    }

    fn format(&self) -> Result<&'static Format> {
        let by_name = || Format::of_file(self.output.as_ref()?.file_name()?.to_str()?);
        let found = self.format.as_ref().map_or_else(by_name, |name| Format::named(name));
        if let Some(found) = found {
            return Ok(found);
        }
        let known: Vec<_> = FORMATS.iter().map(|format| format.name).collect();
        fail!(Usage, "no format: name it by --format or the file's extension; known are {}", known.join(", "))
    }

    fn what(&self) -> Part {
        let kind = Kind::ALL.into_iter().find(|kind| self.kind.as_deref() == Some(kind.name()));
        match (kind, self.pane) {
            (Some(kind), _) => Part::OfKind(kind),
            (None, Some(pane)) => Part::Pane(pane),
            _ if self.indicators => Part::Indicators,
            _ if self.to_block => Part::ToBlock,
            _ if self.findings => Part::Findings(None),
            _ => Part::All,
        }
    }

    /// Returns each report's own output file; `None` for reports that are written together.
    fn files(&self, wanted: &[ExportInput], format: &Format) -> Result<Vec<Option<PathBuf>>> {
        let is_folder = |path: &&PathBuf| path.is_dir() || path.to_string_lossy().ends_with(std::path::is_separator);
        let Some(folder) = self.output.as_ref().filter(is_folder) else {
            if format.is_raw() && wanted.len() > 1 {
                fail!(Usage, "raw writes one report as received: --output FOLDER/ writes a file for each of several");
            }
            self.output.iter().try_for_each(|path| file::check(path, self.force))?;
            return Ok(vec![None; wanted.len()]);
        };
        // With a trailing separator, the path of a link refers to its target.
        if folder.components().as_path().is_symlink() {
            let link = crate::text::path(folder);
            fail!(Usage, "nothing was written: {link} is a link, which is not followed; name the folder itself");
        }
        crate::files::make_folder(folder)?;
        let mut files = Vec::new();
        let mut known = HashSet::new();
        for wanted in wanted {
            let identifier = match wanted {
                Subject::Saved(source) => source.identifier.as_ref(),
                Subject::Service((identifier, _)) => Some(identifier),
            };
            let name = |end: &str| folder.join(file::name(identifier, None, end));
            let others = (2_u64..).map(|number| name(&format!("{number}.{}", format.extension)));
            let mut names = std::iter::once(name(format.extension)).chain(others);
            let path = names.find(|path| known.insert(path.clone()));
            path.iter().try_for_each(|path| file::check(path, self.force))?;
            files.push(path);
        }
        Ok(files)
    }

    fn fetch(&self, setup: &Setup, identifier: Identifier) -> Result<ExportSource> {
        let got = fetch(setup, &Request::Behaviour { identifier: identifier.clone() }, self.refresh)?;
        let notes = setup.gateway.store.notes_on(&identifier)?;
        let origin = setup.gateway.client.profile().name.to_owned();
        let received = Some(got.received);
        Ok(ExportSource { body: got.body, identifier: Some(identifier), file: None, origin, received, notes })
    }

    fn write(
        &self,
        format: &Format,
        sources: &[ExportSource],
        path: Option<&Path>,
        setup: Option<&Setup>,
    ) -> Result<()> {
        let context = setup.map(|setup| export_context(&setup.gateway, sources)).transpose()?.unwrap_or_default();
        let rules = own_rules();
        let job = |cancel| Export { sources, what: self.what(), rules: &rules, context: &context, cancel };
        let summary = match path {
            Some(path) => {
                // After a signal no part of the report remains.
                let signals = BlockedSignals::begin()?;
                let cancel = signals.cancel.clone();
                let written = write_file(path, self.force, |out| format.write(&job(&cancel), out));
                signals.unblock()?;
                written?
            }
            None => {
                let mut out = BufWriter::with_capacity(64 * 1024, Output::new(format.is_raw()));
                let written = format.write(&job(&Cancel::default()), &mut out);
                or_end(written.and_then(|summary| out.flush().map(|()| summary)))?
            }
        };
        summary.missing_label().iter().for_each(warn);
        match summary.cut {
            0 if summary.unread > 0 => fail!(Malformed, "not every report could be read; the others were written"),
            0 => Ok(()),
            1 => fail!(Malformed, "a report stops in the middle; its beginning was written"),
            cut => fail!(Malformed, "{cut} reports stop in the middle; their beginnings were written"),
        }
    }
}

/// Returns the reports named by the arguments; documents are split into their reports.
fn wanted(identifiers: &[OsString], format: &Format, common: &Common) -> Result<(Vec<ExportInput>, Result<()>)> {
    let mut wanted = Vec::new();
    let mut unread = Ok(());
    let unstored = RefCell::new(Vec::new());
    let all_of = |text: &str, one: &dyn Fn(&str) -> Result<Identifier>| match Sha256::parse(text) {
        Some(file) => {
            let reports = stored(&file, common)?;
            unstored.borrow_mut().extend(reports.is_empty().then_some(file));
            Ok(reports)
        }
        None => Ok(vec![(one(text)?, None)]),
    };
    let typed = |text: &str| all_of(text, &|text| identifier(text, common));
    for subject in read_subjects(identifiers, typed, |text| all_of(text, &listed))? {
        match subject {
            Subject::Service(identifiers) => wanted.extend(identifiers.into_iter().map(Subject::Service)),
            Subject::Saved(document) => {
                match format.is_to_share() {
                    true => document.refuse_if_other("it has nothing to share; csv and json write it as it is")?,
                    false => document.warn_if_other(),
                }
                unread = unread.and(document.outcome());
                wanted.extend(document.reports.into_iter().map(|(identifier, here)| {
                    let body = here.body;
                    let origin = document.name.clone();
                    let notes = Notes::default();
                    let source = ExportSource { body, identifier, file: None, origin, received: None, notes };
                    Subject::Saved(Box::new(source))
                }));
            }
        }
    }
    let unstored: Vec<_> = unstored.take().iter().map(Sha256::to_string).collect();
    if !unstored.is_empty() {
        let kind = if wanted.is_empty() { FailureKind::NotFound } else { FailureKind::Partial };
        let why = format!("no report is stored of {}: behaview triage --fetch requests it", unstored.join(", "));
        unread = unread.and(Err(kind.error(why).into()));
    }
    // A file may be named in addition to its reports.
    let mut known = HashSet::new();
    wanted.retain(|wanted| wanted.service().is_none_or(|(identifier, _)| known.insert(identifier.clone())));
    Ok((wanted, unread))
}

/// Returns the stored reports of a file, the newest of each sandbox, without a call.
fn stored(file: &Sha256, common: &Common) -> Result<Vec<(Identifier, Option<Sha256>)>> {
    let (store, service) = store_and_service(common)?;
    let reports = store.reports(&service, file)?;
    Ok(reports.into_iter().map(|report| (report.identifier, report.file)).collect())
}

/// Writes a new file and prints its path.
pub(super) fn write_file<T>(
    path: &Path,
    may_replace: bool,
    write: impl FnOnce(&mut dyn Write) -> io::Result<T>,
) -> Result<T> {
    let (length, written) = file::write(path, may_replace, write).map_err(|error| match error {
        // The report is damaged, not the file.
        FileError::Io { why, .. } if why.kind() == io::ErrorKind::InvalidData => why.into(),
        other => anyhow::Error::from(other),
    })?;
    hint(format!("wrote {} to {}", crate::text::bytes(length), crate::text::path(path)));
    Ok(written)
}
