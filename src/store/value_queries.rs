//! The questions to the index of values: how many files have a value, and which reports; which
//! files are twins; what a sandbox brings.

use super::value_index::{REPORT, ValueIndex, first_key};
use crate::prevalence::{Prevalence, ReportFigures, SandboxYield, Twin, ValueHolder};
use crate::report::compare::{EVERY_LIST, ReportValue, ValueHashes};
use crate::report::identifier::Sha256;
use crate::report::{Cancel, Identifier, RowPlace};
use crate::text::Untrusted;
use jiff::Timestamp;
use rusqlite::{Connection, Row};
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap, HashSet};

/// Part of a report's values that a twin shares, in per cent: names that a sample invents differ.
const TWIN_PERCENT: usize = 60;

/// The number of shared values below which a likeness may be chance.
const FEWEST_SHARED: usize = 5;

/// Most values of a report that are compared: the first ones of a large report show its likeness.
const MAX_VALUES: usize = 20_000;

/// The files and sandboxes of the indexed reports, as numbers.
#[derive(Default)]
struct ReportTable {
    /// By report: its file and its sandbox.
    of: HashMap<i64, (usize, usize)>,
    files: usize,
    sandboxes: HashMap<Vec<u8>, usize>,
}

impl ReportTable {
    fn read(connection: &Connection) -> rusqlite::Result<Self> {
        let mut table = Self::default();
        let mut files = HashMap::<String, usize>::new();
        let mut select = connection.prepare_cached("SELECT id, file, sandbox FROM report")?;
        let mut rows = select.query([])?;
        while let Some(row) = rows.next()? {
            let next = files.len();
            let file = *files.entry(row.get(1)?).or_insert(next);
            let next = table.sandboxes.len();
            let sandbox = *table.sandboxes.entry(row.get(2)?).or_insert(next);
            table.of.insert(row.get(0)?, (file, sandbox));
        }
        table.files = files.len();
        Ok(table)
    }

    /// Returns the number of a sandbox, and of its files.
    fn sandbox(&self, name: &Untrusted) -> Option<(usize, usize)> {
        let number = *self.sandboxes.get(name.as_bytes())?;
        let files: HashSet<_> = self.of.values().filter(|of| of.1 == number).map(|of| of.0).collect();
        Some((number, files.len()))
    }
}

impl ValueIndex {
    /// Counts values as a sandbox sees them.
    pub fn prevalence(&self, values: &[ValueHashes], sandbox: &Untrusted) -> rusqlite::Result<Vec<Prevalence>> {
        let connection = self.connection();
        let table = ReportTable::read(&connection)?;
        let (here, of_sandbox) = table.sandbox(sandbox).unwrap_or((usize::MAX, 0));
        let hashes = values.iter().flat_map(|of| [of.value, of.list]).chain([EVERY_LIST]);
        let mut reports = HashMap::new();
        each_value(&connection, hashes.collect(), &Cancel::default(), |hash, found| drop(reports.insert(hash, found)))?;
        let of = |hash: u64| reports.get(&hash).into_iter().flatten().filter_map(|id| table.of.get(id));
        let count = |hashes: &ValueHashes| {
            let seen: HashSet<_> = of(hashes.value).map(|(file, _)| file).collect();
            let seen_here: HashSet<_> = of(hashes.value).filter(|of| of.1 == here).map(|(file, _)| file).collect();
            let perhaps = of(hashes.list).chain(of(EVERY_LIST)).map(|(file, _)| file);
            let unlisted: HashSet<_> = perhaps.filter(|file| !seen.contains(file)).collect();
            Prevalence {
                files: seen.len(),
                of_files: table.files,
                in_sandbox: seen_here.len(),
                of_sandbox,
                perhaps_unlisted: unlisted.len(),
                is_of_team: false,
            }
        };
        Ok(values.iter().map(count).collect())
    }

    /// Returns the reports that have a value, newest first, at most `most` of them.
    pub fn holders(&self, hash: u64, most: usize) -> rusqlite::Result<Vec<ValueHolder>> {
        let connection = self.connection();
        let mut select = connection.prepare_cached(
            "SELECT report.identifier, file, received, service, profile, hashes, places FROM value JOIN report
             ON report.id = value.id & ?3 WHERE value.id BETWEEN ?1 AND ?2",
        )?;
        let first = first_key(hash);
        let mut rows = select.query([first, first | REPORT, REPORT])?;
        let mut found = Vec::new();
        while let Some(row) = rows.next()? {
            let Ok(at) = numbers(row, 5)?.binary_search(&hash.to_be_bytes()) else { continue };
            let place = numbers(row, 6)?.get(at).map_or(0, |place| u64::from_be_bytes(*place));
            found.extend(holder(row, place)?);
        }
        found.sort_by_key(|holder| Reverse(holder.received));
        found.truncate(most);
        Ok(found)
    }

    /// Returns what each sandbox brought in its stored reports.
    pub fn yields(&self) -> rusqlite::Result<Vec<SandboxYield>> {
        let connection = self.connection();
        let mut select =
            connection.prepare_cached("SELECT sandbox, processes, network, has_capture, findings FROM report")?;
        let mut by_sandbox = HashMap::<Vec<u8>, Vec<ReportFigures>>::new();
        let mut rows = select.query([])?;
        while let Some(row) = rows.next()? {
            by_sandbox.entry(row.get(0)?).or_default().push(ReportFigures {
                processes: row.get(1)?,
                network: row.get(2)?,
                has_capture: row.get(3)?,
                findings: row.get(4)?,
            });
        }
        Ok(by_sandbox.into_iter().map(|(name, all)| SandboxYield::of(Untrusted::from(name), &all)).collect())
    }

    /// Returns other files with a report of the same `behash`, or with most of the unusual values
    /// in the same sandbox; the likest first, each file once; not all if it is cancelled.
    pub fn twins(
        &self,
        values: &[ReportValue],
        behash: Option<u64>,
        (file, identifier): (Option<&Sha256>, &Identifier),
        cancel: &Cancel,
    ) -> rusqlite::Result<Vec<Twin>> {
        let connection = self.connection();
        let table = ReportTable::read(&connection)?;
        let own = file.map(Sha256::as_str);
        let mut found = BTreeMap::<i64, (usize, usize, bool)>::new();
        each_value(&connection, behash.into_iter().collect(), cancel, |_, reports| {
            found.extend(reports.into_iter().map(|id| (id, (0, 0, true))));
        })?;
        if let Some((sandbox, files)) = table.sandbox(&identifier.parts().sandbox) {
            let (shared, of) = shared(&connection, &table, values, (sandbox, files), cancel)?;
            let is_alike = |shared: usize| shared >= FEWEST_SHARED && shared * 100 >= of * TWIN_PERCENT;
            for (id, shared) in shared.into_iter().filter(|(_, shared)| is_alike(*shared)) {
                let twin = found.entry(id).or_default();
                (twin.0, twin.1) = (shared, of);
            }
        }
        let mut twins = Vec::new();
        let mut select = connection.prepare_cached(
            "SELECT identifier, file, received, service, profile FROM report WHERE id = ?1 AND file IS NOT ?2",
        )?;
        for (id, (shared, of, has_same_behash)) in found {
            let mut rows = select.query((id, own))?;
            let holder = rows.next()?.map(|row| holder(row, 0)).transpose()?.flatten();
            let other = holder.filter(|holder| holder.identifier != *identifier);
            twins.extend(other.map(|holder| Twin { holder, shared, of, has_same_behash }));
        }
        twins.sort_by_key(|twin| Reverse((twin.has_same_behash, twin.shared, twin.holder.received)));
        let mut known = HashSet::new();
        twins.retain(|twin| twin.holder.file.clone().is_some_and(|file| known.insert(file)));
        Ok(twins)
    }
}

/// Calls `found` for each of these hashes with the reports that have it; not all if cancelled.
fn each_value(
    connection: &Connection,
    mut hashes: Vec<u64>,
    cancel: &Cancel,
    mut found: impl FnMut(u64, Vec<i64>),
) -> rusqlite::Result<()> {
    hashes.sort();
    hashes.dedup();
    let mut select = connection.prepare_cached("SELECT id & ?3, hashes FROM value WHERE id BETWEEN ?1 AND ?2")?;
    for wanted in hashes.chunk_by(|one, other| first_key(*one) == first_key(*other)) {
        let first = wanted.first().map_or(0, |hash| first_key(*hash));
        let mut reports = vec![Vec::new(); wanted.len()];
        let mut rows = select.query([first, first | REPORT, REPORT])?;
        while let Some(row) = rows.next()?.filter(|_| !cancel.is_cancelled()) {
            let id = row.get(0)?;
            let mut all = numbers(row, 1)?;
            for (wanted, reports) in wanted.iter().zip(&mut reports) {
                all = all.get(all.partition_point(|hash| hash < &wanted.to_be_bytes())..).unwrap_or_default();
                if all.first() == Some(&wanted.to_be_bytes()) {
                    reports.push(id);
                }
            }
        }
        wanted.iter().zip(reports).for_each(|(hash, reports)| found(*hash, reports));
    }
    Ok(())
}

/// Returns a column of numbers, in the order of their bytes.
fn numbers<'a>(row: &'a Row<'_>, column: usize) -> rusqlite::Result<&'a [[u8; 8]]> {
    Ok(row.get_ref(column)?.as_blob()?.as_chunks().0)
}

/// Reads columns `identifier, file, received, service, profile`, and a row as a number.
fn holder(row: &Row<'_>, place: u64) -> rusqlite::Result<Option<ValueHolder>> {
    let Some(identifier) = Identifier::new(Untrusted::from(row.get::<_, Vec<u8>>(0)?)) else { return Ok(None) };
    Ok(Some(ValueHolder {
        file: Sha256::parse(&row.get::<_, String>(1)?),
        identifier,
        received: Timestamp::from_millisecond(row.get(2)?).unwrap_or_default(),
        service: row.get(3)?,
        profile: row.get(4)?,
        place: RowPlace { section: (place >> 32) as usize, row: (place & 0xffff_ffff) as usize },
        person: None,
    }))
}

/// Counts the values that each other report of a sandbox shares, of those that at most half of the
/// sandbox's files have; and the latter.
fn shared(
    connection: &Connection,
    table: &ReportTable,
    values: &[ReportValue],
    (sandbox, files): (usize, usize),
    cancel: &Cancel,
) -> rusqlite::Result<(HashMap<i64, usize>, usize)> {
    let mut shared = HashMap::new();
    let mut of = 0;
    // Of two files both may have everything that is usual.
    let most = if files > 2 { (files / 2).max(2) } else { 0 };
    let hashes = values.iter().map(|value| value.hashes.value).take(MAX_VALUES);
    each_value(connection, hashes.collect(), cancel, |_, reports| {
        let here: Vec<_> = reports.iter().filter(|id| table.of.get(id).is_some_and(|of| of.1 == sandbox)).collect();
        let distinct: HashSet<_> = here.iter().filter_map(|id| table.of.get(id)).map(|of| of.0).collect();
        if distinct.len() <= most {
            of += 1;
            here.into_iter().for_each(|id| *shared.entry(*id).or_default() += 1);
        }
    })?;
    Ok((shared, of))
}

#[cfg(test)]
mod tests;
