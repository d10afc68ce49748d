//! A report that is being written: which of its rows, and how the rules mark them.

use super::verdict::{self, strings};
use super::{ExportSource, Job, What};
use crate::report::attributes::PERHAPS_CUT;
use crate::report::body;
use crate::report::identifier::is_moment;
use crate::report::indicators::Kind;
use crate::report::rules::{Marks, Rule, Rules};
use crate::report::{Identifier, Indicator, Indicators, Pane, Place, Report, RowSet};
use crate::text::Untrusted;
use jiff::Timestamp;
use sha2::{Digest, Sha256};
use std::io;
use std::ops::Range;

/// A report of a job, opened and judged.
pub(super) struct OpenedReport<'a> {
    pub(super) job: &'a Job<'a>,
    pub(super) source: &'a ExportSource,
    pub(super) report: Report,
    /// What it is asked for by: the identifier that it was asked for by, or the one it gives itself.
    pub(super) identifier: Option<Identifier>,
    rules: &'a Rules,
    marks: Marks,
    /// The findings that are exported, where only findings are.
    notable: RowSet,
}

impl<'a> OpenedReport<'a> {
    /// Opens a report, and judges it by these rules; where none are wanted no row is marked.
    pub(super) fn new(job: &'a Job<'_>, source: &'a ExportSource, rules: Option<&'a Rules>) -> io::Result<Self> {
        let report = source.open()?;
        let judged = |rules: &Rules| rules.judge(&report, job.cancel);
        let marks = rules.map(judged).transpose()?.unwrap_or_default();
        let notable = match &job.what {
            What::Notable(None) => {
                // The user's own rules decide the findings as well.
                let is_job = rules.is_some_and(|rules| std::ptr::eq(rules, job.rules));
                let marks = if is_job { &marks } else { &judged(job.rules)? };
                let rows = marks.notable().filter_map(|(section, row, _)| Some((section, u32::try_from(row).ok()?)));
                rows.collect()
            }
            What::Notable(Some(listed)) => {
                let number = job.sources.iter().position(|of_job| std::ptr::eq(of_job, source));
                number.and_then(|number| listed.get(number)).cloned().unwrap_or_default()
            }
            _ => RowSet::EMPTY,
        };
        let identifier = source.identifier.clone().or_else(|| report.identifier());
        Ok(Self { job, source, report, identifier, rules: rules.unwrap_or(job.rules), marks, notable })
    }

    /// Whether it is known to be of the service's private ones: it came from there, or says so. A file may have come from anywhere.
    pub(super) fn is_private(&self) -> bool {
        let says_so = || self.report.kind().is_some_and(|kind| kind.as_bytes().starts_with(b"private"));
        self.source.received.is_some() || says_so()
    }

    /// When the sandbox ran, or else when the report came.
    pub(super) fn analysed(&self) -> Timestamp {
        self.ran().or(self.source.received).unwrap_or(Timestamp::UNIX_EPOCH)
    }

    /// When the sandbox ran: as the report says, or else its identifier.
    pub(super) fn ran(&self) -> Option<Timestamp> {
        let said = strings(&self.report, "analysis_date").first().and_then(|seconds| seconds.parse().ok());
        let said = said.filter(|seconds| is_moment(*seconds));
        let named = || self.identifier.as_ref().and_then(|identifier| identifier.parts().when);
        said.or_else(named).and_then(|seconds| Timestamp::from_second(seconds).ok())
    }

    /// The places of the rows that are to be written, pane by pane, in the order of the screen.
    pub(super) fn places(&self) -> impl Iterator<Item = (Pane, Place)> + use<'_> {
        Pane::ALL.into_iter().flat_map(move |pane| {
            let sections = self.report.sections(pane).into_iter();
            sections.flat_map(move |section| self.arranged(section).map(move |row| (pane, Place { section, row })))
        })
    }

    /// The rows of a section that are meant, in the order in which its pane shows them.
    fn arranged(&self, section: usize) -> impl Iterator<Item = usize> + use<'_> {
        let (rows, shown) = (self.rows(section).unwrap_or_default(), self.marks.order());
        let has_own = shown.sections().any(|known| known == section);
        let mut own: Vec<_> = rows.iter().filter(|_| has_own).collect();
        own.sort_by_key(|row| shown.position(section, *row));
        own.into_iter().chain(rows.iter().filter(move |_| !has_own))
    }

    /// The heading of a pane: its title, and how many of its rows are written.
    pub(super) fn heading(&self, pane: Pane) -> String {
        let written = |section| self.rows(section).map_or(0, |rows| rows.len());
        let written: usize = self.report.sections(pane).into_iter().map(written).sum();
        let sections = self.report.sections(pane).into_iter().filter_map(|section| self.report.section(section));
        let cut = sections.filter(|section| section.is_perhaps_cut()).map(|section| {
            let name = section.attribute.map_or("", |known| known.name);
            format!(" · {name} {}{PERHAPS_CUT}", section.len())
        });
        let cut: String = cut.collect();
        match self.report.count(pane) {
            all if all == written => format!("{} {all}{cut}", pane.title()),
            all => format!("{} {written} of {all}{cut}", pane.title()),
        }
    }

    /// The rows of a section that are meant; none where the section is not.
    pub(super) fn rows(&self, section: usize) -> Option<SelectedRows<'_>> {
        let found = self.report.section(section)?;
        let all = 0..found.len();
        match &self.job.what {
            What::All | What::Indicators | What::OfKind(_) => Some(SelectedRows::Range(all)),
            What::Pane(pane) => (found.pane() == *pane).then_some(SelectedRows::Range(all)),
            What::Shown(pane, rows) => these(rows, section).filter(|_| found.pane() == *pane),
            What::Notable(_) => these(&self.notable, section),
            What::Row(place) => {
                (place.section == section).then(|| SelectedRows::Range(place.row..all.end.min(place.row + 1)))
            }
        }
    }

    /// The rule that makes a row a finding.
    pub(super) fn rule(&self, place: Place) -> Option<&'a Rule> {
        self.rules.rule(self.marks.rule(place.section, place.row)?)
    }

    /// The rule that matters most of those that mark the rows which name an indicator.
    pub(super) fn rule_of(&self, indicator: &Indicator) -> Option<&'a Rule> {
        self.rule(indicator.marked()?)
    }

    /// The indicators that are meant: those in the rows, and the file itself.
    pub(super) fn indicators(&self) -> io::Result<Indicators> {
        let rows = |section| self.rows(section).unwrap_or_default().iter();
        let mark = |place| self.rule(place).map(|rule| rule.severity);
        let found = Indicators::among(&self.report, &rows, &mark, self.job.cancel)?;
        let sample = self.identifier.as_ref().and_then(|identifier| identifier.parts().file);
        let all = found.with_sample(sample.as_ref());
        Ok(match &self.job.what {
            What::OfKind(kind) => all.only(*kind),
            _ => all,
        })
    }

    /// The indicators that STIX and MISP carry, strings from memory only where they are asked for; and how many rows lead to none.
    pub(super) fn carried(&self) -> io::Result<(Indicators, u64)> {
        let found = self.indicators()?;
        let left_out = self.left_out(&found);
        if self.job.what == What::OfKind(Kind::Memory) {
            return Ok((found, left_out));
        }
        let alone: u64 = found.of_kind(Kind::Memory).iter().map(|indicator| indicator.alone).sum();
        let alone = if self.job.what.is_indicators() { 0 } else { alone };
        Ok((found.except(Kind::Memory), left_out + alone))
    }

    /// How many of the rows that are meant lead to nothing where indicators are written; none where no more than these is wanted.
    pub(super) fn left_out(&self, found: &Indicators) -> u64 {
        if self.job.what.is_indicators() {
            return 0;
        }
        let sections = self.report.index.sections.iter().enumerate();
        let told = sections.map(|(section, known)| {
            let rows = self.rows(section).unwrap_or_default().iter().take(verdict::MOST);
            rows.filter(|row| verdict::is_told(&known.name, Place { section, row: *row }, &self.report)).count() as u64
        });
        found.without.saturating_sub(told.sum())
    }

    /// A name that is unique to the report: its identifier, or a digest of its bytes where it has none.
    pub(super) fn name(&self) -> io::Result<String> {
        match &self.identifier {
            Some(identifier) => Ok(identifier.text().visible().into()),
            None => self.digest(),
        }
    }

    /// A digest of the report's bytes.
    pub(super) fn digest(&self) -> io::Result<String> {
        let mut hash = Sha256::new();
        for window in self.report.body.chunks(body::WINDOW) {
            self.go_on()?;
            hash.update(window);
        }
        Ok(crate::text::hex(hash.finalize()))
    }

    /// Whether an indicator is the file that was run.
    pub(super) fn is_sample(&self, value: &Untrusted) -> bool {
        let sample = self.identifier.as_ref().and_then(|identifier| identifier.parts().file);
        sample.is_some_and(|sample| sample.as_str().as_bytes() == value.as_bytes())
    }

    /// Whether anybody still wants it.
    pub(super) fn go_on(&self) -> io::Result<()> {
        Ok(self.job.cancel.check()?)
    }
}

fn these(rows: &RowSet, section: usize) -> Option<SelectedRows<'_>> {
    Some(rows.rows(section)).filter(|rows| !rows.is_empty()).map(SelectedRows::These)
}

/// Rows of a section, in order.
#[derive(Clone)]
pub(super) enum SelectedRows<'a> {
    Range(Range<usize>),
    These(&'a [u32]),
}

impl Default for SelectedRows<'_> {
    fn default() -> Self {
        Self::Range(0..0)
    }
}

impl<'a> SelectedRows<'a> {
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Range(rows) => rows.len(),
            Self::These(rows) => rows.len(),
        }
    }

    pub(super) fn contains(&self, row: usize) -> bool {
        match self {
            Self::Range(rows) => rows.contains(&row),
            Self::These(rows) => u32::try_from(row).is_ok_and(|row| rows.binary_search(&row).is_ok()),
        }
    }

    /// The row behind the last.
    pub(super) fn end(&self) -> usize {
        match self {
            Self::Range(rows) => rows.end,
            Self::These(rows) => rows.last().map_or(0, |row| *row as usize + 1),
        }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = usize> + use<'a> {
        let (range, these) = match self {
            Self::Range(rows) => (rows.clone(), &[][..]),
            Self::These(rows) => (0..0, *rows),
        };
        range.chain(these.iter().map(|row| *row as usize))
    }
}
