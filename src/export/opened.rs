//! A report opened for export: its selected rows, their findings, and the notes on them; and what
//! several mean in the vocabulary of STIX: techniques, indicators, and the reasons to block these.

use super::{Export, ExportSource, Part};
use crate::report::attributes::ValueMeaning;
use crate::report::indicators::{ITSELF, Kind, MergedIndicator, Merger, Sighting, hash, same};
use crate::report::json::{Kind as JsonKind, Raw};
use crate::report::page::{ReportSummary, SampleVerdict};
use crate::report::rows::{Record, ValueMember, leaves};
use crate::report::rules::{Marks, Rule, Severity};
use crate::report::tree::Parents;
use crate::report::{
    Identifier, Indicator, Indicators, Note, Pane, Report, RowPlace, RowSet, Section, body, command_line, identifier,
};
use crate::text::{Untrusted, hex, thousands};
use jiff::Timestamp;
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io;

pub(super) struct OpenedReport<'a> {
    pub(super) job: &'a Export<'a>,
    pub(super) source: &'a ExportSource,
    pub(super) report: Report,
    /// The identifier of the request, or else the one in the report.
    pub(super) identifier: Option<Identifier>,
    pub(super) marks: Marks,
    /// The rows to write.
    pub(super) rows: RowSet,
    pub(super) notes: BTreeMap<RowPlace, &'a Note>,
    /// The note on the whole report, then those on items that the report no longer has.
    pub(super) loose: Vec<&'a Note>,
}

pub(super) struct ExportRow<'a> {
    pub(super) pane: Pane,
    pub(super) place: RowPlace,
    pub(super) record: Record<'a>,
    /// The name of its attribute: the section's, or the member's where the section has none.
    pub(super) attribute: Untrusted,
    pub(super) member: Option<Untrusted>,
    /// The level of a process in its tree, and the row of its parent.
    pub(super) depth: Option<u16>,
    pub(super) parent: Option<usize>,
    /// Number of its ancestors that are written before it.
    pub(super) steps: usize,
    /// Whether its parent is not written before it.
    pub(super) is_orphan: bool,
    pub(super) rule: Option<&'a Rule>,
    pub(super) note: Option<&'a Note>,
    /// Whether its list is one that the service may have cut.
    pub(super) is_perhaps_cut: bool,
}

/// Returns the texts decoded from the command lines among a row's values.
pub(super) fn decoded(row: &Record<'_>) -> Vec<Untrusted> {
    let mut found = Vec::new();
    leaves(&row.value, &mut |_, value| found.extend(command_line::decoded(value.text().as_bytes())));
    found
}

impl<'a> OpenedReport<'a> {
    /// Opens the report of this number, and applies the job's rules.
    pub(super) fn new(job: &'a Export<'_>, number: usize, source: &'a ExportSource) -> io::Result<Self> {
        let report = source.open(job.sources.len() == 1)?;
        let marks = job.rules.evaluate(&report, job.cancel)?;
        let is_written = |section: usize, found: &Section, row: usize| match &job.what {
            Part::All | Part::Difference(..) => true,
            Part::Indicators | Part::ToBlock | Part::OfKind(_) | Part::Listed(_) => true,
            Part::Pane(pane) => found.pane() == *pane,
            Part::Shown(pane, rows) => found.pane() == *pane && rows.contains(section, row),
            Part::Row(place) => *place == RowPlace { section, row },
            Part::Findings(None) => marks.rule(section, row).is_some(),
            Part::Findings(Some(listed)) => listed.get(number).is_some_and(|rows| rows.contains(section, row)),
        };
        let mut rows = RowSet::default();
        for (section, found) in report.index.sections.iter().enumerate() {
            let written: Vec<_> =
                (0..).take(found.len()).filter(|row| is_written(section, found, *row as usize)).collect();
            rows.append(section, &written);
        }
        let identifier = source.identifier.clone().or_else(|| report.identifier());
        let notes = BTreeMap::new();
        let mut opened = Self { job, source, report, identifier, marks, rows, notes, loose: Vec::new() };
        opened.find_notes()?;
        Ok(opened)
    }

    /// Finds the notes on the written rows; an export of the whole report has all its notes.
    fn find_notes(&mut self) -> io::Result<()> {
        let source = self.source;
        let notes = &source.notes;
        for (number, section) in self.report.index.sections.iter().enumerate() {
            let end = self.rows(number).last().map_or(0, |last| *last as usize + 1);
            if !notes.items().any(|(item, _)| item.attribute == section.name) {
                continue;
            }
            for row in self.report.each_row(number).take(end) {
                self.job.cancel.check()?;
                let item = self.report.item(number, &row.decoded());
                let note = item.and_then(|item| notes.on_item(&item));
                if let Some(note) = note.filter(|_| self.rows.contains(number, row.place.row)) {
                    self.notes.insert(row.place, note);
                }
            }
        }
        let found: BTreeSet<_> = self.notes.values().map(|note| &note.about).collect();
        let is_all = self.job.what == Part::All || self.job.what.is_indicators();
        let lost = notes.items().map(|(_, note)| note).filter(|note| is_all && !found.contains(&note.about));
        let whole = notes.on_report().filter(|_| !matches!(self.job.what, Part::Row(_)));
        self.loose = whole.into_iter().chain(lost).collect();
        Ok(())
    }

    /// Returns every note once, with its first row: on the report, its rows, and items it lost.
    pub(super) fn notes(&self) -> impl Iterator<Item = (Option<RowPlace>, &'a Note)> {
        let mut known = BTreeSet::new();
        let rows = self.notes.iter().filter(move |(_, note)| known.insert(&note.about));
        let (whole, lost) = self.loose.split_at(self.loose.partition_point(|note| note.about.item.is_none()));
        let [whole, lost] = [whole, lost].map(|notes| notes.iter().map(|note| (None, *note)));
        whole.chain(rows.map(|(place, note)| (Some(*place), *note))).chain(lost)
    }

    /// Returns the notes on an indicator's own rows, each once; other rows only name it.
    pub(super) fn notes_about(&self, indicator: &Indicator) -> Vec<&'a Note> {
        let mut known = BTreeSet::new();
        let notes = indicator.own.iter().filter_map(|place| self.notes.get(place).copied());
        notes.filter(|note| known.insert(&note.about)).collect()
    }

    /// Returns whether origin or content prove the report private; a document has any origin.
    pub(super) fn is_private(&self) -> bool {
        let says_so = || self.report.kind().is_some_and(|kind| kind.as_bytes().starts_with(b"private"));
        self.source.received.is_some() || says_so()
    }

    /// Returns the time of the sandbox's run, or else of receipt.
    pub(super) fn analysed(&self) -> Timestamp {
        self.ran().or(self.source.received).unwrap_or(Timestamp::UNIX_EPOCH)
    }

    /// Returns the time of the sandbox's run, from the report or else from its identifier.
    pub(super) fn ran(&self) -> Option<Timestamp> {
        let named = || self.identifier.as_ref().and_then(|identifier| identifier.parts().when);
        ReportSummary::of(&self.report).ran.or_else(named).and_then(|seconds| Timestamp::from_second(seconds).ok())
    }

    /// Passes the rows to `write` pane by pane, in the order of the screen; returns their number.
    pub(super) fn each_row(&self, write: &mut dyn FnMut(ExportRow<'_>) -> io::Result<()>) -> io::Result<u64> {
        let order = &self.marks.order;
        for section in Pane::ALL.into_iter().flat_map(|pane| self.report.sections(pane)) {
            let Some(found) = self.report.section(section) else { continue };
            let mut rows: Vec<_> = self.rows(section).iter().map(|row| *row as usize).collect();
            rows.sort_by_key(|row| order.position(section, *row));
            let depths = found.depths();
            let mut parents = Parents::default();
            let mut next = 0;
            // The depths of the processes that were written and whose children may follow.
            let mut above = Vec::new();
            for row in rows {
                self.job.cancel.check()?;
                let place = RowPlace { section, row };
                let depth = depths.get(row).unwrap_or_default();
                // Rows that are left out end their siblings' subtrees as well.
                let lowest = (next..=row).filter_map(|row| depths.get(row)).min().unwrap_or_default();
                above.retain(|above| *above < lowest);
                let steps = above.len();
                let is_orphan = depth > 0 && above.last().is_none_or(|above| above + 1 < depth);
                above.push(depth);
                next = row + 1;
                let record = self.report.record(place);
                let (attribute, member) = match record.member.clone() {
                    Some(member) if found.name.is_empty() => (member, None),
                    member => (found.name.clone(), member),
                };
                write(ExportRow {
                    pane: found.pane(),
                    place,
                    record,
                    attribute,
                    member,
                    depth: depths.get(row),
                    parent: parents.of(row, depths),
                    steps,
                    is_orphan,
                    rule: self.rule(place),
                    note: self.notes.get(&place).copied(),
                    is_perhaps_cut: found.is_perhaps_cut(),
                })?;
            }
        }
        Ok(self.rows.len() as u64)
    }

    /// Returns the heading of a pane: its title and the number of its written rows.
    pub(super) fn heading(&self, pane: Pane) -> String {
        let written: usize = self.report.sections(pane).into_iter().map(|number| self.rows(number).len()).sum();
        let cut = self.report.cut_lists_label(Some(pane)).map(|cut| format!(" · {cut}")).unwrap_or_default();
        match self.report.count(pane) {
            all if all == written => format!("{} {}{cut}", pane.title(), thousands(all as u64)),
            all => format!("{} {written} of {all}{cut}", pane.title()),
        }
    }

    pub(super) fn rows(&self, section: usize) -> &[u32] {
        self.rows.rows(section)
    }

    /// Returns whether all rows of a section are written, even if it has none.
    pub(super) fn is_whole(&self, section: &Section) -> bool {
        match &self.job.what {
            Part::All => true,
            Part::Pane(pane) => section.pane() == *pane,
            _ => false,
        }
    }

    /// Returns every written row that rules mark, with each of these rules and its number.
    pub(super) fn findings(&self) -> impl Iterator<Item = (RowPlace, u16, &'a Rule)> {
        let written = self.marks.notable().filter(|(section, row, _)| self.rows.contains(*section, *row));
        written.filter_map(|(section, row, rule)| Some((RowPlace { section, row }, rule, self.job.rules.rule(rule)?)))
    }

    pub(super) fn rule(&self, place: RowPlace) -> Option<&'a Rule> {
        self.job.rules.rule(self.marks.rule(place.section, place.row)?)
    }

    /// Returns the most severe rule among those that mark the rows of an indicator.
    pub(super) fn rule_of(&self, indicator: &Indicator) -> Option<&'a Rule> {
        self.rule(indicator.marked()?)
    }

    fn indicators(&self) -> io::Result<Indicators> {
        let rows = |section| self.rows(section).iter().map(|row| *row as usize);
        let mark = |place| self.rule(place).map(|rule| rule.severity);
        let found = Indicators::among(&self.report, &rows, &mark, self.job.cancel)?;
        Ok(found.with_sample(self.sample().as_ref()))
    }

    fn sighting(&self, report: usize, indicator: Indicator) -> Sighting {
        let is_noise = |place: &RowPlace| self.marks.noise.contains(place.section, place.row);
        let is_noise = !indicator.places.is_empty() && indicator.places.iter().all(is_noise);
        let rule = indicator.marked().and_then(|place| self.marks.rule(place.section, place.row));
        let severity = rule.and_then(|rule| self.job.rules.rule(rule)).map(|rule| rule.severity);
        let severity = severity.or(is_noise.then_some(Severity::Noise));
        Sighting { report, rule, severity, not_to_block: reason(self, &indicator).err(), indicator }
    }

    /// Returns the number of its rows without an indicator that STIX and MISP cannot represent.
    fn left_out(&self, found: &Indicators) -> u64 {
        let sections = self.report.index.sections.iter().enumerate();
        let places = sections.flat_map(|(section, known)| {
            self.rows(section).iter().map(move |row| (&known.name, RowPlace { section, row: *row as usize }))
        });
        let written = places.filter(|(name, place)| is_represented(name, *place, &self.report)).count() as u64;
        let alone: u64 = found.of_kind(Kind::Memory).iter().map(|indicator| indicator.alone).sum();
        found.without.saturating_sub(written) + alone
    }

    /// Returns the sandbox, or the origin if the report names none.
    pub(super) fn sandbox(&self) -> String {
        let sandbox = self.identifier.as_ref().map(|identifier| identifier.parts().sandbox);
        sandbox.unwrap_or_else(|| Untrusted::from(self.source.origin.as_str())).visible_cut(100).to_string()
    }

    /// Returns a name unique to the report: its identifier, or else a digest of its bytes.
    pub(super) fn name(&self) -> io::Result<String> {
        self.identifier.as_ref().map_or_else(|| self.digest(), |identifier| Ok(identifier.text().visible().into()))
    }

    pub(super) fn digest(&self) -> io::Result<String> {
        let mut hash = Sha256::new();
        for window in self.report.body.chunks(body::WINDOW) {
            self.job.cancel.check()?;
            hash.update(window);
        }
        Ok(hex(hash.finalize()))
    }

    /// Returns the file that was run.
    pub(super) fn sample(&self) -> Option<identifier::Sha256> {
        self.source.file.clone().or_else(|| self.identifier.as_ref()?.parts().file)
    }

    /// Returns whether an indicator is the file that was run.
    pub(super) fn is_sample(&self, value: &Untrusted) -> bool {
        self.sample().is_some_and(|sample| sample.as_str().as_bytes() == value.as_bytes())
    }
}

pub(super) struct MergedReports<'a> {
    pub(super) job: &'a Export<'a>,
    pub(super) opened: Vec<OpenedReport<'a>>,
    pub(super) found: Vec<MergedIndicator>,
    /// Number of rows that STIX and MISP cannot represent.
    pub(super) left_out: u64,
}

impl<'a> MergedReports<'a> {
    pub(super) fn of(job: &'a Export<'_>, opened: Vec<OpenedReport<'a>>) -> io::Result<Self> {
        let is_whole = !job.what.is_indicators();
        let mut merging = Merger::default();
        let mut left_out = 0;
        for (number, report) in opened.iter().enumerate() {
            let found = report.indicators()?;
            left_out += if is_whole { report.left_out(&found) } else { 0 };
            merging.add(found, job.cancel, |indicator| report.sighting(number, indicator))?;
        }
        let mut found = merging.sorted();
        found.retain(|found| job.what.has(found));
        Ok(Self { job, opened, found, left_out })
    }

    /// Opens indicators for STIX and MISP: without strings from memory, unless selected.
    pub(super) fn carried(job: &'a Export<'_>, opened: Vec<OpenedReport<'a>>) -> io::Result<Self> {
        let mut merged = Self::of(job, opened)?;
        let selects_memory = matches!(job.what, Part::OfKind(Kind::Memory) | Part::Listed(_));
        merged.found.retain(|found| selects_memory || found.kind() != Kind::Memory);
        Ok(merged)
    }

    /// Each report that names an indicator, with the indicator as found there.
    pub(super) fn reports_of<'m>(
        &'m self,
        found: &'m MergedIndicator,
    ) -> impl Iterator<Item = (&'m OpenedReport<'a>, &'m Indicator)> {
        found.sightings().filter_map(|sighting| Some((self.opened.get(sighting.report)?, &sighting.indicator)))
    }

    /// Returns the most severe rule among those that mark an indicator.
    pub(super) fn rule_of(&self, found: &MergedIndicator) -> Option<&'a Rule> {
        self.job.rules.rule(found.rule()?)
    }

    /// Returns the most certain reason to block an indicator, with its rows and its report.
    pub(super) fn reason<'m>(&'m self, found: &'m MergedIndicator) -> Option<(BlockReason, &'m OpenedReport<'a>)> {
        let reasons =
            self.reports_of(found).filter_map(|(report, indicator)| Some((reason(report, indicator).ok()?, report)));
        let (reason, report) = reasons.min_by_key(|(reason, _)| reason.activity)?;
        let explanation = format!("{} Seen in {}.", reason.explanation, self.seen_in(found));
        Some((BlockReason { explanation, ..reason }, report))
    }

    pub(super) fn notes_about(&self, found: &MergedIndicator) -> Vec<&'a Note> {
        self.reports_of(found).flat_map(|(report, indicator)| report.notes_about(indicator)).collect()
    }

    /// Names an indicator's rows; for several reports, after the name of each sandbox.
    pub(super) fn seen_in(&self, found: &MergedIndicator) -> String {
        let seen = self.reports_of(found).map(|(report, indicator)| match self.opened.len() {
            1 => seen_in(&report.report, indicator),
            _ => format!("{}: {}", self.label(report), seen_in(&report.report, indicator)),
        });
        seen.collect::<Vec<_>>().join("; ")
    }

    /// Returns the files that were run, each once, the one with the worst verdict first.
    pub(super) fn files(&self) -> Vec<(SampleVerdict, identifier::Sha256)> {
        let mut verdicts = BTreeMap::new();
        for opened in &self.opened {
            let verdict = SampleVerdict::of(&opened.report);
            let worst = opened.sample().map(|file| verdicts.entry(file).or_insert(verdict));
            worst.into_iter().for_each(|worst| *worst = verdict.min(*worst));
        }
        let mut files: Vec<_> = verdicts.into_iter().map(|(file, verdict)| (verdict, file)).collect();
        files.sort();
        files
    }

    /// Names a report among the others: its sandbox, after its file if there are several.
    pub(super) fn label(&self, report: &OpenedReport<'_>) -> String {
        let file = report.sample().filter(|file| self.opened.iter().any(|other| other.sample().as_ref() != Some(file)));
        file.map_or_else(String::new, |file| file.short() + " ") + &report.sandbox()
    }

    /// Returns the values of `word` for the reports that name an indicator, each once.
    pub(super) fn each_word(&self, found: &MergedIndicator, word: impl Fn(&OpenedReport<'a>) -> String) -> String {
        let mut names: Vec<_> = self.reports_of(found).map(|(report, _)| word(report)).collect();
        let mut known = BTreeSet::new();
        names.retain(|name| known.insert(name.clone()));
        names.join("; ")
    }
}

/// Members of records that belong together: one with values of this kind, and its property.
const JOINED_MEMBERS: [(Kind, &str, &str); 2] = [(Kind::Path, "path", "sha256"), (Kind::Key, "key", "value")];

/// Values that records join: hashes of a path, paths of a hash, data of a registry value.
#[derive(Debug, Default)]
pub(super) struct Correlations(HashMap<(Kind, Untrusted), Vec<Untrusted>>);

impl Correlations {
    /// Joins the values of the written rows; empty if the job selects some of the indicators.
    pub(super) fn of(reports: &[OpenedReport<'_>]) -> io::Result<Self> {
        let mut joined = Self::default();
        let mut reports = reports.iter().filter(|opened| !opened.job.what.is_choice());
        reports.try_for_each(|opened| joined.add_report(opened)).map(|()| joined)
    }

    fn add_report(&mut self, opened: &OpenedReport<'_>) -> io::Result<()> {
        for (number, section) in opened.report.index.sections.iter().enumerate() {
            let holds = section.attribute.map_or(&[][..], |known| known.holds.as_slice());
            for (kind, name, beside) in JOINED_MEMBERS {
                let is_known =
                    holds.iter().any(|source| source.member == name && source.meaning == ValueMeaning::Is(kind));
                // Leaves out a member that may be the name of the value.
                let is_name = kind == Kind::Key && opened.report.registry != ValueMember::Data;
                if !is_known || is_name {
                    continue;
                }
                for row in opened.rows(number) {
                    opened.job.cancel.check()?;
                    let place = RowPlace { section: number, row: *row as usize };
                    let record = opened.report.record(place);
                    let raw = Raw::new(&record.value);
                    let is_text =
                        |raw: &Raw<'_>| matches!(raw.kind(), JsonKind::Text | JsonKind::Word) && raw.bytes() != b"null";
                    let text = |member| raw.member(member).filter(is_text);
                    if let Some((name, beside)) = text(name).zip(text(beside)) {
                        self.add(kind, name.text(), beside.text());
                    }
                }
            }
        }
        Ok(())
    }

    fn add(&mut self, kind: Kind, name: Untrusted, beside: Untrusted) {
        if name.is_empty() || beside.is_empty() {
            return;
        }
        let name = same(kind, &name);
        let beside = match kind {
            Kind::Key => Some(beside),
            _ => hash(&beside).inspect(|hash| self.put(Kind::Hash, hash.clone(), name.clone())),
        };
        beside.into_iter().for_each(|beside| self.put(kind, name.clone(), beside));
    }

    fn put(&mut self, kind: Kind, key: Untrusted, value: Untrusted) {
        let values = self.0.entry((kind, key)).or_default();
        if !values.contains(&value) {
            values.push(value);
        }
    }

    /// Returns values joined with a value, in report order; paths in the form of [`same`].
    pub(super) fn of_value(&self, kind: Kind, value: &Untrusted) -> &[Untrusted] {
        self.0.get(&(kind, same(kind, value))).map_or(&[], Vec::as_slice)
    }
}

/// Maximum number of verdicts, and of times of analysis, that are read.
const MAX_VERDICTS: usize = 100;

/// Returns the ATT&CK techniques of written rows, each once; empty if the job selects indicators.
pub(super) fn techniques(opened: &OpenedReport<'_>) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for (section, known) in opened.report.index.sections.iter().enumerate() {
        if has_techniques(&known.name) && !opened.job.what.is_choice() {
            for row in opened.rows(section) {
                let record = opened.report.record(RowPlace { section, row: *row as usize });
                found.extend(technique(&record).filter(|_| !record.value.is_empty()));
            }
        }
    }
    found
}

/// Returns whether an attribute lists techniques: a report's as records, a summary's as members.
fn has_techniques(attribute: &Untrusted) -> bool {
    matches!(attribute.as_bytes(), b"mitre_attack_techniques" | b"attack_techniques")
}

pub(super) fn technique(row: &Record<'_>) -> Option<String> {
    let id = row.member.clone().or_else(|| Some(Raw::new(&row.value).member("id")?.text()))?;
    String::from_utf8(id.as_bytes().trim_ascii().to_ascii_uppercase()).ok().filter(|id| is_technique(id))
}

/// Returns whether a row is exported without an indicator: a verdict, a technique, the run's time.
fn is_represented(name: &Untrusted, place: RowPlace, report: &Report) -> bool {
    let is_technique = || has_techniques(name) && technique(&report.record(place)).is_some();
    let is_verdict = matches!(name.as_bytes(), b"verdicts" | b"analysis_date") && place.row < MAX_VERDICTS;
    is_verdict || is_technique()
}

/// Returns whether a text is the number of a technique or subtechnique, such as `T1547.001`.
fn is_technique(id: &str) -> bool {
    let digits = |text: &str, count| text.len() == count && text.bytes().all(|byte| byte.is_ascii_digit());
    let (whole, part) = id.split_once('.').unwrap_or((id, "000"));
    whole.strip_prefix('T').is_some_and(|whole| digits(whole, 4)) && digits(part, 3)
}

pub(super) struct BlockReason {
    pub(super) name: String,
    pub(super) explanation: String,
    /// How certain the reason is; 0 is the most certain.
    pub(super) activity: usize,
}

/// Returns the reason to block an indicator, or not to. Blocked are the run file, unless found
/// clean or without verdict and findings, and values in rows of high or medium severity, as malware
/// contacts harmless hosts too. Values common on clean machines are never blocked.
fn reason(opened: &OpenedReport<'_>, indicator: &Indicator) -> Result<BlockReason, &'static str> {
    let (name, explanation, activity) = if indicator.kind == Kind::Hash && opened.is_sample(&indicator.value) {
        let activity = match SampleVerdict::of(&opened.report) {
            SampleVerdict::Benign => return Err("its sandbox found it clean"),
            SampleVerdict::Malicious => 0,
            SampleVerdict::Unknown if !opened.findings().any(|(.., rule)| rule.severity <= Severity::Medium) => {
                return Err("it has no verdict, and no finding of high or medium severity");
            }
            _ => 2,
        };
        ("the file that was run".to_owned(), "The file that was run.".to_owned(), activity)
    } else {
        indicator.why_not_public().map_or(Ok(()), Err)?;
        let rule = opened.rule_of(indicator).filter(|rule| rule.severity <= Severity::Medium);
        let rule = rule.ok_or("no finding of high or medium severity is about it")?;
        let label = format!("{}: {}", rule.severity.name(), rule.label());
        (rule.name.clone(), label, usize::from(rule.severity != Severity::High))
    };
    Ok(BlockReason { name, explanation, activity })
}

/// Names the first rows of an indicator, `dns_lookups 1, tls 4`, counted from 1 as on the screen.
pub(super) fn seen_in(report: &Report, indicator: &Indicator) -> String {
    if indicator.places.is_empty() {
        return ITSELF.to_owned();
    }
    let places = indicator.places.iter().map(|place| {
        let name = report.section(place.section).map(|section| section.name.visible().to_string());
        format!("{} {}", name.unwrap_or_default(), place.row + 1)
    });
    let decoded = if indicator.is_decoded { " (decoded)" } else { "" };
    places.collect::<Vec<_>>().join(", ") + decoded
}
