//! Jobs on the index of values: how many stored files have one, which, and which did the same.

use super::Task;
use crate::app::prevalence::{
    CountedValue, HolderGroup, NEARLY_THE_SAME, PivotSubject, ReportOrigin, ValueEvent, ValueJob,
};
use crate::app::{StoreEvent, Ticket};
use crate::gateway::Gateway;
use crate::prevalence::{Prevalence, SandboxValue, StableBuildHasher, Twin, ValueHolder};
use crate::report::compare::{ReportValue, ValueHashes, ValueKind};
use crate::report::{Cancel, Identifier, Report, RowPlace, Section};
use crate::store::{IMPORTED, StoreError};
use crate::text::{Untrusted, count};
use std::collections::{BTreeMap, HashSet};
use tokio::runtime::Handle;

/// The most reports that a pivot lists of a value, and values of one list that are counted.
const MAX_HOLDERS: usize = 1_000;
const MAX_COUNTED: usize = 2_000;

pub(super) fn use_values(gateway: &Gateway, work: &Task, job: ValueJob) -> Result<(), StoreError> {
    let store = &gateway.store;
    if let ValueJob::Count(ticket, ..) | ValueJob::FindTwins(ticket, ..) | ValueJob::FindHolders(ticket, ..) = &job
        && ticket.cancel.is_cancelled()
    {
        return Ok(());
    }
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
            let values = values(&report, Some(place), &cancel);
            let hashes: Vec<_> = values.iter().map(|value| value.hashes).collect();
            let counted = values.iter().zip(counts(gateway, &hashes, &origin.identifier.parts().sandbox)?);
            let counted = counted.map(|(value, prevalence)| CountedValue { kind: value.label(&report), prevalence });
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
                    let groups = values.map(|of| group(gateway, of.label(&report), of.hashes, &origin));
                    groups.collect::<Result<_, StoreError>>()?
                }
            };
            ValueEvent::HoldersFound(number, groups)
        }
    }));
    Ok(())
}

/// Records how many findings a report has; what sandboxes usually bring changes with that.
pub(super) fn note_findings(gateway: &Gateway, work: &Task, identifier: &Identifier, findings: usize) {
    let noted = gateway.store.note_findings(&gateway.service, identifier, findings);
    let yields = noted.and_then(|()| gateway.store.with_values(|index| index.yields()));
    // The index can be made again: what it could not take is not worth a message.
    yields.into_iter().for_each(|yields| work.send(StoreEvent::Values(ValueEvent::Noted(yields))));
}

/// The values of a row or of a report, each once; none if it was cancelled.
fn values(report: &Report, place: Option<RowPlace>, cancel: &Cancel) -> Vec<ReportValue> {
    let mut known = HashSet::new();
    let mut found = report.values_of(place, &StableBuildHasher, cancel).unwrap_or_default();
    found.retain(|value| known.insert(value.hashes.value));
    found
}

fn counts(gateway: &Gateway, values: &[ValueHashes], sandbox: &Untrusted) -> Result<Vec<Prevalence>, StoreError> {
    values.first().map_or(Ok(Vec::new()), |_| Handle::current().block_on(gateway.prevalence(values, sandbox)))
}

/// Counts values, each as its sandbox sees it, if too many the first; empty without a store.
pub(super) fn count_all(gateway: Option<&Gateway>, values: &[SandboxValue]) -> Vec<Prevalence> {
    let Some(gateway) = gateway else { return Vec::new() };
    let mut by_sandbox = BTreeMap::<&[u8], (&Untrusted, Vec<(usize, ValueHashes)>)>::new();
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

pub(super) fn twins(
    gateway: &Gateway,
    report: &Report,
    ReportOrigin { file, identifier }: &ReportOrigin,
    compares_values: bool,
    cancel: &Cancel,
) -> Result<Vec<Twin>, StoreError> {
    let is_behash = |section: &Section| section.attribute.is_some_and(|known| known.name == "behash");
    let behash = report.index.sections.iter().position(is_behash).map(|section| RowPlace { section, row: 0 });
    // An empty text is that of a sandbox that computed none.
    let behash = behash.filter(|_| report.values("behash").next().is_some_and(|text| !text.is_empty()));
    let behash = behash
        .and_then(|place| values(report, Some(place), cancel).into_iter().find(|value| value.kind == ValueKind::Row));
    let values = if compares_values { values(report, None, cancel) } else { Vec::new() };
    let behash = behash.map(|value| value.hashes.value);
    gateway.store.with_values(|index| index.twins(&values, behash, (file.as_ref(), identifier), cancel))
}

/// The other reports with a value.
fn group(
    gateway: &Gateway,
    head: String,
    value: ValueHashes,
    origin: &ReportOrigin,
) -> Result<HolderGroup, StoreError> {
    let counted = counts(gateway, &[value], &origin.identifier.parts().sandbox)?;
    let holders = Handle::current().block_on(gateway.value_holders(value.value, MAX_HOLDERS))?;
    let is_other = |holder: &ValueHolder| match &origin.file {
        Some(file) => holder.file.as_ref() != Some(file),
        None => holder.identifier != origin.identifier,
    };
    let others = holders.into_iter().filter(is_other);
    let counted = counted.first().copied().unwrap_or_default();
    let label = counted.label().unwrap_or_default();
    let holders = others.map(|other| opened(gateway, other, String::new())).collect();
    Ok(HolderGroup { head, label, files: counted.files, holders })
}

fn twin_group(gateway: &Gateway, twins: Vec<Twin>) -> HolderGroup {
    let files = twins.len();
    let label = count(files as u64, "file");
    let holders = twins.into_iter().map(|twin| (twin.label(), twin.holder));
    let holders = holders.map(|(label, holder)| opened(gateway, holder, label)).collect();
    HolderGroup { head: NEARLY_THE_SAME.to_owned(), label, files, holders }
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
