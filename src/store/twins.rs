//! Files that did nearly the same, by their stored reports.

use super::value_index::{ReportTable, ValueIndex, each_value, holder};
use crate::prevalence::Twin;
use crate::report::Identifier;
use crate::report::compare::ReportValue;
use crate::report::identifier::Sha256;
use rusqlite::Connection;
use std::collections::{BTreeMap, HashMap, HashSet};

/// Part of a report's values that a twin shares, in per cent: names that a sample invents differ.
const TWIN_PERCENT: usize = 60;

/// The number of shared values below which a likeness may be chance.
const FEWEST_SHARED: usize = 5;

/// Most values of a report that are compared: the first ones of a large report show its likeness.
const MAX_VALUES: usize = 20_000;

impl ValueIndex {
    /// Returns other files with a report of the same `behash`, or with most of the unusual values
    /// in the same sandbox; the likest first, each file once.
    pub fn twins(
        &self,
        values: &[ReportValue],
        behash: Option<u64>,
        (file, identifier): (Option<&Sha256>, &Identifier),
    ) -> rusqlite::Result<Vec<Twin>> {
        let connection = self.connection();
        let table = ReportTable::read(&connection)?;
        let own = file.map(Sha256::as_str);
        let mut found = BTreeMap::<i64, (usize, usize, bool)>::new();
        each_value(&connection, behash.into_iter().collect(), |_, reports| {
            found.extend(reports.into_iter().map(|id| (id, (0, 0, true))));
        })?;
        if let Some((sandbox, files)) = table.sandbox(&identifier.parts().sandbox) {
            let (shared, of) = shared(&connection, &table, values, (sandbox, files))?;
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
        twins.sort_by_key(|twin| std::cmp::Reverse((twin.has_same_behash, twin.shared, twin.holder.received)));
        let mut known = HashSet::new();
        twins.retain(|twin| twin.holder.file.clone().is_some_and(|file| known.insert(file)));
        Ok(twins)
    }
}

/// Counts the values that each other report of a sandbox shares, of those that at most half of the
/// sandbox's files have; and the latter.
fn shared(
    connection: &Connection,
    table: &ReportTable,
    values: &[ReportValue],
    (sandbox, files): (usize, usize),
) -> rusqlite::Result<(HashMap<i64, usize>, usize)> {
    let mut shared = HashMap::new();
    let mut of = 0;
    // Of two files both may have everything that is usual.
    let most = if files > 2 { (files / 2).max(2) } else { 0 };
    let hashes = values.iter().map(|value| value.hash).take(MAX_VALUES);
    each_value(connection, hashes.collect(), |_, reports| {
        let here: Vec<_> = reports.iter().filter(|id| table.of.get(id).is_some_and(|of| of.1 == sandbox)).collect();
        let distinct: HashSet<_> = here.iter().filter_map(|id| table.of.get(id)).map(|of| of.0).collect();
        if distinct.len() <= most {
            of += 1;
            here.into_iter().for_each(|id| *shared.entry(*id).or_default() += 1);
        }
    })?;
    Ok((shared, of))
}
