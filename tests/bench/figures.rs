//! Medians, spreads and ratios, and the tables they are printed in.

use crate::growth::Growth;
use crate::report::Made;
use std::fmt;
use std::time::Duration;

/// What was measured several times.
#[derive(Clone, Default)]
pub struct Figure(Vec<f64>);

impl Figure {
    /// One more measurement.
    pub fn add(&mut self, value: f64) {
        self.0.push(value);
        self.0.sort_by(f64::total_cmp);
    }

    /// One more measurement of time, kept in milliseconds.
    pub fn time(&mut self, time: Duration) {
        self.add(time.as_secs_f64() * 1_000.0);
    }

    /// The value below which this part of the measurements lies.
    pub fn quantile(&self, part: f64) -> f64 {
        let last = self.0.len().saturating_sub(1);
        self.0.get((last as f64 * part).round() as usize).copied().unwrap_or(f64::NAN)
    }

    /// The middle one.
    pub fn median(&self) -> f64 {
        self.quantile(0.5)
    }

    /// Median, lowest and highest.
    pub fn words(&self) -> String {
        format!("{:.1} ({:.1} to {:.1})", self.median(), self.quantile(0.0), self.quantile(1.0))
    }
}

/// A table of figures and of ratios.
pub struct Table {
    name: String,
    rows: Vec<[String; 3]>,
    growth: Growth,
    ratios: Vec<String>,
}

impl Table {
    /// An empty table.
    pub fn new(name: &str) -> Self {
        Self { name: name.to_owned(), rows: Vec::new(), growth: Growth::default(), ratios: Vec::new() }
    }

    /// A row: what was measured, of which program, and the figure.
    pub fn row(&mut self, what: &str, program: &str, figure: impl Into<String>) {
        self.rows.push([what.to_owned(), program.to_owned(), figure.into()]);
    }

    /// A figure that is compared over the sizes of reports.
    pub fn grows(&mut self, what: &str, report: &Made, figure: &Figure) {
        self.growth.note(what, report.bytes, figure.median());
    }

    /// A ratio, beside the most that it should be.
    pub fn ratio(&mut self, what: &str, ours: f64, theirs: f64, most: f64) {
        let ratio = ours / theirs;
        let verdict = if ratio <= most { "holds" } else { "FALLS SHORT" };
        self.ratios.push(format!("{what}: {ratio:.3} (at most {most}): {verdict}"));
    }

    /// A time that should be no longer than so many milliseconds, told as it is and as it would be at the pace of the machine that
    /// the limit was set on.
    pub fn limit(&mut self, what: &str, ours: f64, most: f64, pace: Option<f64>) {
        let ratio = ours / most;
        let verdict = if ratio <= 1.0 { "holds" } else { "FALLS SHORT" };
        let paced = pace.map(|pace| format!("; {:.3} at the pace of the machine that this was set on", ratio / pace));
        self.ratios.push(format!("{what} against {most:.0} ms: {ratio:.3}: {verdict}{}", paced.unwrap_or_default()));
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "\n## {}", self.name)?;
        let width = |column: usize| self.rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
        let (first, second) = (width(0), width(1));
        for [what, program, figure] in &self.rows {
            writeln!(f, "{what:first$}  {program:second$}  {figure}")?;
        }
        write!(f, "{}", self.growth)?;
        self.ratios.iter().try_for_each(|ratio| writeln!(f, "- {ratio}"))
    }
}

/// How busy the machine is.
pub fn load() -> String {
    std::fs::read_to_string("/proc/loadavg").map_or_else(|_| "not known".to_owned(), |load| load.trim().to_owned())
}
