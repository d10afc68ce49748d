//! How figures grow with the size of a report: a line a figure, a column a size.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// Medians by what was measured and by the size of the report in bytes.
#[derive(Default)]
pub struct Growth(BTreeMap<String, BTreeMap<u64, f64>>);

impl Growth {
    /// Notes a figure.
    pub fn note(&mut self, what: &str, bytes: u64, median: f64) {
        self.0.entry(what.to_owned()).or_default().insert(bytes, median);
    }
}

impl fmt::Display for Growth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sizes: BTreeSet<u64> = self.0.values().flat_map(BTreeMap::keys).copied().collect();
        if sizes.len() < 2 {
            return Ok(());
        }
        let width = self.0.keys().map(String::len).max().unwrap_or(0);
        write!(f, "{:width$}", "by the size of the report, KB")?;
        sizes.iter().try_for_each(|size| write!(f, " {:>9}", size / 1_000))?;
        writeln!(f)?;
        for (what, figures) in &self.0 {
            write!(f, "{what:width$}")?;
            for size in &sizes {
                let words = figures.get(size).map_or_else(|| "-".to_owned(), |figure| format!("{figure:.1}"));
                write!(f, " {words:>9}")?;
            }
            writeln!(f)?;
        }
        Ok(())
    }
}
