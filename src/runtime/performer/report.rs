//! Jobs on reports: indexing, indicators, rules, comparison, triage; and on the index of values.

use super::disk::stored_reports_of;
use super::{Performer, SendPace, Task, load_list};
use crate::app::overlays::FindingRow;
use crate::app::overlays::indicators::MergedIndicators;
use crate::app::prevalence::{CountedValue, HolderGroup, PivotSubject, ReportOrigin, ValueEvent, ValueJob};
use crate::app::{LoadedReport, Message, ReportEvent, ReportJob, RulesOrFile, StoreEvent, Ticket};
use crate::export::{Export, Part};
use crate::files;
use crate::gateway::Gateway;
use crate::prevalence::{Prevalence, SandboxValue, StableBuildHasher, Twin, ValueHolder};
use crate::report::compare::Matrix;
use crate::report::compare::{ReportValue, ValueKind};
use crate::report::document::{self, FoundReport};
use crate::report::identifier::Sha256;
use crate::report::indicators::MergedIndicator;
use crate::report::rules::Rules;
use crate::report::{Body, Cancel, Identifier, Indexer, Report, RowPlace, Section, body};
use crate::request::{Artifact, Request};
use crate::store::{IMPORTED, StoreError};
use crate::text::{Untrusted, count};
use crate::triage::TriagedFile;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::ErrorKind;
use std::path::Path;
use std::sync::Arc;
use tokio::runtime::Handle;

const MAX_RULES_BYTES: u64 = 16 << 20;

impl Performer {
    pub(super) fn read_report(&self, job: ReportJob) {
        let gateway = self.gateway.clone();
        self.spawn(move |work| run(work, gateway.as_deref(), job));
    }
}

fn run(work: &Task, gateway: Option<&Gateway>, job: ReportJob) {
    match job {
        ReportJob::Index(ticket, body) => index(work, &ticket, body),
        ReportJob::Evaluate(Ticket { number, cancel }, report, rules) => {
            if let Ok(marks) = load_rules(work, rules).evaluate(&report, &cancel) {
                let findings: HashSet<_> = marks.notable().map(|(section, row, _)| (section, row)).collect();
                work.send(ReportEvent::Evaluated(number, marks));
                if let Some((gateway, identifier)) = gateway.zip(report.identifier()) {
                    note_findings(gateway, work, &identifier, findings.len());
                }
            }
        }
        ReportJob::EvaluateAll(Ticket { number, cancel }, reports, rules) => {
            if let Ok(mut found) = FindingRow::find_all(&reports, &load_rules(work, rules), &cancel) {
                FindingRow::count_all(&mut found.0, &|values| count_all(gateway, values));
                work.send(ReportEvent::AllEvaluated(number, found));
            }
        }
        ReportJob::Triage(ticket, files, rules) => {
            let rules = load_rules(work, rules);
            let triaged = gateway.map(|gateway| triage_all(gateway, work, &ticket, files, &rules));
            if let Some(Err(error)) = triaged {
                work.send(Message::Notice(error.to_string()));
            }
        }
        ReportJob::FindIndicators(Ticket { number, cancel }, sources, rules) => {
            let rules = load_rules(work, rules);
            let what = Part::Indicators;
            // The same data as in exports.
            let result = Export { sources: &sources, what, rules: &rules, paid: &[], cancel: &cancel }.merged();
            let result = result.map(|(found, reports)| counted(gateway, found, reports));
            work.send(ReportEvent::Indicators(number, result.map_err(|error| error.to_string())));
        }
        ReportJob::CheckDocument(body, received) => {
            let (found, problems) = document::reports(&body);
            let loaded = |report: FoundReport| (report.identifier, LoadedReport::new(received, report.body, None));
            let reports = found.into_iter().map(loaded).collect();
            let problems = problems.iter().map(|problem| format!("{problem}. ")).collect();
            work.send(ReportEvent::DocumentRead(reports, problems));
        }
        ReportJob::Compare(Ticket { number, cancel }, bodies, rules) => {
            let matrix = Matrix::of(&bodies);
            work.send(ReportEvent::Compared(number, Arc::new(matrix.clone())));
            if let Ok(matrix) = matrix.with_techniques(&load_rules(work, rules), &cancel) {
                work.send(ReportEvent::Compared(number, Arc::new(matrix)));
            }
        }
    }
}

/// Counts indicators among stored files; the rarest come first among those that are alike.
fn counted(gateway: Option<&Gateway>, mut found: Vec<MergedIndicator>, reports: Vec<Report>) -> MergedIndicators {
    let sandbox = |found: &MergedIndicator| reports.get(found.first.report)?.identifier().map(|id| id.parts().sandbox);
    let hashes = |found: &MergedIndicator| found.first.indicator.hashes(&StableBuildHasher);
    let values: Vec<_> = found.iter().map(|found| (sandbox(found).unwrap_or_default(), hashes(found))).collect();
    let counted = values.iter().map(|(_, (hash, _))| *hash).zip(count_all(gateway, &values));
    let counted: HashMap<_, _> = counted.filter(|(_, counted)| counted.of_files > 0).collect();
    if !counted.is_empty() {
        let rarity = |found: &MergedIndicator| counted.get(&hashes(found).0).copied().unwrap_or_default().rarity();
        found.sort_by_cached_key(|found| (found.kind(), !found.is_to_block(), rarity(found)));
    }
    (found, reports, counted)
}

fn load_rules(work: &Task, rules: RulesOrFile) -> Arc<Rules> {
    rules.unwrap_or_else(|own| {
        let (rules, problems) = read_rules(own.as_deref());
        work.send(ReportEvent::RulesLoaded(Arc::clone(&rules), problems));
        rules
    })
}

/// Indexes a report and sends its rows, while more of its bytes may still arrive.
fn index(work: &Task, ticket: &Ticket, mut body: Body) {
    let job = ticket.number;
    let mut indexer = Indexer::default();
    let mut pace = SendPace::default();
    loop {
        let read = usize::try_from(indexer.position()).unwrap_or(usize::MAX);
        body = body.wait_for(read.saturating_add(1)).clone();
        // A larger report is cut at the maximum.
        let more = body.window(read..body::LARGEST);
        if more.is_empty() {
            return work.send(ReportEvent::Indexed(job, indexer.finish()));
        }
        for window in more.chunks(body::WINDOW) {
            indexer.feed(window);
            if ticket.cancel.is_cancelled() {
                return;
            }
            if pace.is_due() {
                work.send(ReportEvent::Indexed(job, indexer.take()));
            }
        }
        if !body.is_whole() {
            work.send(ReportEvent::Indexed(job, indexer.take()));
        }
    }
}

/// Reads the shipped rules and the user's, with the errors in these; a missing file is no error.
pub(crate) fn read_rules(own: Option<&Path>) -> (Arc<Rules>, Vec<String>) {
    let text = own.map(|own| files::read_text(own, MAX_RULES_BYTES));
    match text {
        Some(Ok(text)) => Rules::read(Some(("rules.toml", &text))),
        Some(Err(error)) if error.kind() != ErrorKind::NotFound => {
            let (rules, mut problems) = Rules::read(None);
            problems.push(format!("rules.toml cannot be read: {error}; only the built-in rules are used."));
            (rules, problems)
        }
        _ => Rules::read(None),
    }
}

/// Files of a triage above which only those with the same `behash` count as alike: to compare the
/// values of each takes a pass over the whole index.
const MAX_COMPARED_FILES: usize = 100;

/// Returns what the store has of one of `of` files; sends nothing. `None` if it was cancelled.
pub fn triage(
    gateway: &Gateway,
    (file, of): (&Sha256, usize),
    rules: &Rules,
    cancel: &Cancel,
) -> Result<Option<TriagedFile>, StoreError> {
    let listing = gateway.client.profile().listing;
    gateway.read_unread(Some(file))?;
    let pages = load_list(gateway, file)?;
    let (stored, unstored) = stored_reports_of(gateway, file, &pages)?;
    let pages: Vec<_> = pages.into_iter().map(|(_, page)| page).collect();
    let mut found = TriagedFile::new(file.clone(), listing, &pages, unstored);
    for request in std::mem::take(&mut found.missing) {
        match gateway.why_useless(&request)? {
            Some(why) => found.unavailable = Some(why),
            // A page that names itself as the next one is stored.
            None if gateway.stored(&request)?.is_none() => found.missing.push(request),
            None => {}
        }
    }
    let mut artifacts = Vec::new();
    let mut alike = HashSet::new();
    // A damaged report is not stored; the next look says so.
    let reports = stored.iter().filter_map(|stored| {
        let report = Report::open(&stored.body().ok()?);
        let origin = ReportOrigin { file: Some(file.clone()), identifier: stored.identifier.clone() };
        let twins = twins(gateway, &report, &origin, of <= MAX_COMPARED_FILES, cancel).unwrap_or_default();
        alike.extend(twins.into_iter().filter_map(|twin| twin.holder.file));
        // The service may not have what an imported report names.
        let is_named = |artifact: &Artifact| stored.imported.is_none() && artifact.is_beside(&report) == Some(true);
        artifacts.extend(Artifact::ALL.into_iter().filter(is_named).map(|artifact| (artifact, &stored.identifier)));
        Some(report)
    });
    let Ok(mut found) = found.with_reports(reports, rules, cancel) else { return Ok(None) };
    found.alike = alike.len();
    artifacts.sort();
    for (artifact, identifier) in artifacts {
        let request = Request::Artifact { identifier: identifier.clone(), artifact };
        let is_stored = |key: Vec<u8>| gateway.store.is_stored(&gateway.service, &key);
        match gateway.why_useless(&request)? {
            Some(why) => found.unavailable = Some(why),
            None if !request.storage_key().is_some_and(is_stored) => found.artifacts.push(request),
            None => {}
        }
    }
    Ok(Some(found))
}

/// Sends what is stored of files, or of all, as each is evaluated; first how many they are.
fn triage_all(
    gateway: &Gateway,
    work: &Task,
    Ticket { number, cancel }: &Ticket,
    files: Option<Vec<Sha256>>,
    rules: &Rules,
) -> Result<(), StoreError> {
    let store = &gateway.store;
    let files = match files {
        Some(files) => files,
        None => {
            let mut known = HashSet::new();
            let own = store.every_report(&gateway.service)?.into_iter().filter(|report| report.elsewhere.is_none());
            own.filter_map(|report| report.file).filter(|file| known.insert(file.clone())).collect()
        }
    };
    work.send(ReportEvent::Triaged(*number, Vec::new(), files.len()));
    store.index_values(cancel)?;
    let mut pace = SendPace::default();
    let mut found = Vec::new();
    for (at, file) in files.iter().enumerate() {
        let Some(triaged) = triage(gateway, (file, files.len()), rules, cancel)? else { return Ok(()) };
        found.push(triaged);
        if at + 1 == files.len() || pace.is_due() {
            work.send(ReportEvent::Triaged(*number, std::mem::take(&mut found), files.len()));
        }
    }
    Ok(())
}

/// The most reports that a pivot lists of a value, and values of one list that are counted.
const MAX_HOLDERS: usize = 1_000;
const MAX_COUNTED: usize = 2_000;

pub(super) fn use_values(gateway: &Gateway, work: &Task, job: ValueJob) -> Result<(), StoreError> {
    let store = &gateway.store;
    work.send(StoreEvent::Values(match job {
        ValueJob::Index(file) => {
            match file {
                Some(file) => {
                    [Some(&file), None].into_iter().try_for_each(|file| store.index_file(&gateway.service, file))?
                }
                None => store.index_values(&Cancel::default())?,
            }
            ValueEvent::Indexed(store.with_values(|index| index.yields())?)
        }
        ValueJob::Count(Ticket { number, cancel }, report, place, origin) => {
            let (kinds, values): (Vec<_>, Vec<_>) = values(&report, Some(place), &cancel)
                .into_iter()
                .map(|(kind, value)| (kind, (value.hash, value.list)))
                .unzip();
            let counted = kinds.into_iter().zip(counts(gateway, &values, &origin.identifier.parts().sandbox)?);
            let counted = counted.map(|(kind, prevalence)| CountedValue { kind, prevalence });
            ValueEvent::Counted(number, counted.collect())
        }
        ValueJob::FindTwins(Ticket { number, cancel }, report, origin) => {
            ValueEvent::TwinsFound(number, twins(gateway, &report, &origin, true, &cancel)?)
        }
        ValueJob::FindHolders(Ticket { number, cancel }, subject, origin) => {
            let groups = match subject {
                PivotSubject::Twins(report) => {
                    vec![twin_group(gateway, twins(gateway, &report, &origin, true, &cancel)?)]
                }
                PivotSubject::Value(kind, value) => vec![group(gateway, kind, value, &origin)?],
                PivotSubject::Row(report, place) => {
                    let values = values(&report, Some(place), &cancel).into_iter();
                    let groups = values.map(|(kind, value)| group(gateway, kind, (value.hash, value.list), &origin));
                    groups.collect::<Result<_, StoreError>>()?
                }
            };
            ValueEvent::HoldersFound(number, groups)
        }
    }));
    Ok(())
}

/// Records how many findings a report has; what sandboxes usually bring changes with that.
fn note_findings(gateway: &Gateway, work: &Task, identifier: &Identifier, findings: usize) {
    let noted = gateway.store.note_findings(&gateway.service, identifier, findings);
    let yields = noted.and_then(|()| gateway.store.with_values(|index| index.yields()));
    // The index can be made again: what it could not take is not worth a message.
    yields.into_iter().for_each(|yields| work.send(StoreEvent::Values(ValueEvent::Noted(yields))));
}

/// The values of a row or of a report, each once, with their kinds.
fn values(report: &Report, place: Option<RowPlace>, cancel: &Cancel) -> Vec<(String, ReportValue)> {
    let mut known = HashSet::new();
    let found = report.values_of(place, &StableBuildHasher, cancel).unwrap_or_default();
    let found = found.into_iter().filter(|value| known.insert(value.hash));
    found.map(|value| (value.label(report), value)).collect()
}

fn counts(gateway: &Gateway, values: &[(u64, u64)], sandbox: &Untrusted) -> Result<Vec<Prevalence>, StoreError> {
    Handle::current().block_on(gateway.prevalence(values, sandbox))
}

/// Counts values, each as its sandbox sees it, if too many the first; empty without a store.
fn count_all(gateway: Option<&Gateway>, values: &[SandboxValue]) -> Vec<Prevalence> {
    let Some(gateway) = gateway else { return Vec::new() };
    let mut by_sandbox = BTreeMap::<&[u8], (&Untrusted, Vec<(usize, (u64, u64))>)>::new();
    for (at, (sandbox, value)) in values.iter().take(MAX_COUNTED).enumerate() {
        by_sandbox.entry(sandbox.as_bytes()).or_insert((sandbox, Vec::new())).1.push((at, *value));
    }
    let mut all = vec![Prevalence::default(); values.len()];
    for (sandbox, values) in by_sandbox.into_values() {
        let hashes: Vec<_> = values.iter().map(|(_, value)| *value).collect();
        let counted = counts(gateway, &hashes, sandbox).unwrap_or_default();
        for ((at, _), counted) in values.into_iter().zip(counted) {
            all.get_mut(at).into_iter().for_each(|slot| *slot = counted);
        }
    }
    all
}

fn twins(
    gateway: &Gateway,
    report: &Report,
    ReportOrigin { file, identifier }: &ReportOrigin,
    compares_values: bool,
    cancel: &Cancel,
) -> Result<Vec<Twin>, StoreError> {
    let values_of = |place| values(report, place, cancel).into_iter().map(|(_, value)| value);
    let is_behash = |section: &Section| section.attribute.is_some_and(|known| known.name == "behash");
    let behash = report.index.sections.iter().position(is_behash).map(|section| RowPlace { section, row: 0 });
    let behash = behash.and_then(|place| values_of(Some(place)).find(|value| value.kind == ValueKind::Row));
    let values: Vec<_> = if compares_values { values_of(None).collect() } else { Vec::new() };
    let behash = behash.map(|value| value.hash);
    gateway.store.with_values(|index| index.twins(&values, behash, (file.as_ref(), identifier)))
}

/// The other reports with a value.
fn group(gateway: &Gateway, head: String, value: (u64, u64), origin: &ReportOrigin) -> Result<HolderGroup, StoreError> {
    let counted = counts(gateway, &[value], &origin.identifier.parts().sandbox)?;
    let holders = Handle::current().block_on(gateway.value_holders(value.0, MAX_HOLDERS))?;
    let others = holders.into_iter().filter(|holder| holder.identifier != origin.identifier);
    let label = counted.first().and_then(Prevalence::label).unwrap_or_default();
    Ok(HolderGroup { head, label, holders: others.map(|other| opened(gateway, other, String::new())).collect() })
}

fn twin_group(gateway: &Gateway, twins: Vec<Twin>) -> HolderGroup {
    let label = count(twins.len() as u64, "file");
    let holders = twins.into_iter().map(|twin| (twin.label(), twin.holder));
    let holders = holders.map(|(label, holder)| opened(gateway, holder, label)).collect();
    HolderGroup { head: "did nearly the same".to_owned(), label, holders }
}

/// A report with its description, and whether this profile can open it.
fn opened(gateway: &Gateway, holder: ValueHolder, about: String) -> (ValueHolder, String, bool) {
    let is_open = holder.service == gateway.service || holder.service == IMPORTED;
    let other = Untrusted::from(holder.profile.as_str()).visible_cut(40);
    let about = match &holder.person {
        _ if !is_open => format!("stored for profile {other}"),
        Some(person) => format!("shared by {}", person.visible_cut(40)),
        None => about,
    };
    (holder, about, is_open)
}
