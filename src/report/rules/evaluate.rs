//! Evaluates the rules on the rows of a report.

use super::{FoundTechnique, Rule, Rules, Severity};
use crate::report::index::SectionForm;
use crate::report::indicators::is_public_target;
use crate::report::work::{Cancel, Cancelled};
use crate::report::{Order, Pane, Report, Row, RowPlace, RowSet, Section, canonical, command_line};
use crate::text::{Untrusted, last_part};
use regex::bytes::{NoExpand, Regex};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::hash::{BuildHasher, RandomState};
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

/// The result of the rules for a report.
#[derive(Debug, Default)]
pub struct Marks {
    /// Notable rows with their rules, the most severe first in each row.
    notable: BTreeSet<(RowPlace, Mark)>,
    /// Rows that are only noise.
    pub noise: RowSet,
    /// The order of rows with a severity.
    pub order: Arc<Order>,
    /// The programs named by rules that ran.
    ran: BTreeSet<Vec<u8>>,
    /// The techniques of the rules that mark rows, by tactic, the most severe first in each.
    pub techniques: Vec<FoundTechnique>,
}

impl Marks {
    /// Returns the rules that mark a row, the most severe first.
    fn of(&self, place: RowPlace) -> impl Iterator<Item = Mark> {
        let marks = self.notable.range((place, (Severity::High, 0))..=(place, (Severity::Noise, u16::MAX)));
        marks.map(|(_, mark)| *mark)
    }

    /// Returns the number of the most severe rule that marks a row.
    pub fn rule(&self, section: usize, row: usize) -> Option<u16> {
        self.of(RowPlace { section, row }).next().map(|(_, rule)| rule)
    }

    /// Returns every notable row with each rule that marks it: section, row, rule.
    pub fn notable(&self) -> impl Iterator<Item = (usize, usize, u16)> + '_ {
        self.notable.iter().map(|(place, (_, rule))| (place.section, place.row, *rule))
    }
}

/// A rule that marks a row, by severity and number; the least is the most severe.
pub(super) type Mark = (Severity, u16);

/// The rows that a rule marks in several reports; those of equal text are one.
#[derive(Debug)]
pub struct RuleRows<'a, T> {
    pub number: u16,
    pub rule: &'a Rule,
    /// The index of each distinct row by the hash of its text.
    pub known: HashMap<u64, usize>,
    /// The first distinct rows.
    pub rows: Vec<T>,
}

/// Collects rows by rule; rules of equal subject, severity and name are one for the user.
#[derive(Debug)]
pub struct RowsByRule<'a, T> {
    found: BTreeMap<(usize, Severity, &'a str), RuleRows<'a, T>>,
    hasher: RandomState,
    most: usize,
}

impl<'a, T> RowsByRule<'a, T> {
    /// Creates a collection of at most `most` rows of a rule; others are counted.
    pub fn new(most: usize) -> Self {
        Self { found: BTreeMap::new(), hasher: RandomState::new(), most }
    }

    /// Adds a row by its text: calls `make` with the rule's number and the text's hash if it is
    /// new, `extend` for its first occurrence if not; returns the number.
    pub fn add(
        &mut self,
        (number, rule): (u16, &'a Rule),
        text: &[u8],
        make: impl FnOnce(u16, u64) -> T,
        extend: impl FnOnce(&mut T),
    ) -> u16 {
        let new = || RuleRows { number, rule, known: HashMap::new(), rows: Vec::new() };
        let found = self.found.entry((rule.subject_place(), rule.severity, &rule.name)).or_insert_with(new);
        let hash = self.hasher.hash_one(text);
        let next = found.known.len();
        let at = *found.known.entry(hash).or_insert(next);
        match found.rows.get_mut(at) {
            Some(row) => extend(row),
            None if at < self.most => found.rows.push(make(found.number, hash)),
            None => {}
        }
        found.number
    }

    /// Returns the rules by subject, the most severe first, then the rarest.
    pub fn into_rules(self) -> Vec<RuleRows<'a, T>> {
        let mut rules: Vec<_> = self.found.into_values().collect();
        rules.sort_by_key(|of| (of.rule.subject_place(), of.rule.severity, of.known.len()));
        rules
    }
}

struct RowValues<'a> {
    /// The row's text, as [`spell`] writes it.
    text: &'a [u8],
    /// The hidden texts of the row, in the same spelling.
    decoded: &'a [Vec<u8>],
    /// The parent's file name in lower case; `None` if the row is not a process.
    parent: Option<&'a [u8]>,
    /// The programs named by rules that ran.
    ran: &'a BTreeSet<Vec<u8>>,
}

impl Rules {
    /// Evaluates every row of a report.
    pub fn evaluate(&self, report: &Report, cancel: &Cancel) -> Result<Marks, Cancelled> {
        let order = Arc::new(Order::of(report, cancel)?);
        let mut marks = Marks { order, ran: self.ran(report, cancel)?, ..Marks::default() };
        let sample = sample(report);
        let mut crowd = CountedRows::new();
        let mut trail = RelatedRows::default();
        for (number, section) in report.index.sections.iter().enumerate() {
            let mut evaluator = RuleEvaluator::new(self, section);
            let name = section.attribute.map_or("", |attribute| attribute.name);
            let mut text = Vec::new();
            let mut above = Vec::new();
            for found in report.each_row(number) {
                cancel.check()?;
                let place = found.place;
                let row = found.in_line();
                text.clear();
                row.push_text(&mut text);
                let hidden = decoded(section, &text, sample.as_ref());
                spell(&mut text, sample.as_ref());
                let parent = (section.form == SectionForm::Processes).then(|| {
                    let depth = usize::from(section.depths().get(place.row).unwrap_or_default());
                    above.truncate(depth);
                    above.push(program(&row));
                    depth.checked_sub(1).and_then(|up| above.get(up)).cloned().unwrap_or_default()
                });
                let parent = parent.as_deref();
                let rules = evaluator.rules(&RowValues { text: &text, decoded: &hidden, parent, ran: &marks.ran });
                rules.iter().for_each(|(mark, rule)| add_to_crowd(&mut crowd, *mark, rule, place, &text));
                let single = rules.into_iter().filter(|(_, rule)| rule.many == 0).map(|(mark, _)| mark);
                let best = single.clone().min();
                if best.is_some_and(|(severity, _)| severity == Severity::Noise) {
                    marks.noise.insert(number, u32::try_from(place.row).unwrap_or(u32::MAX));
                }
                let notable = single.filter(|(severity, _)| *severity < Severity::Noise);
                marks.notable.extend(notable.map(|mark| (place, mark)));
                trail.add(name, best, place, &text, || match hidden.as_slice() {
                    [] => found.own(),
                    hidden => Cow::Owned([&*found.own(), &hidden.join(&b' ')].join(&b' ')),
                });
            }
        }
        cancel.check()?;
        let is_enough = |number: u16, each: usize| self.rule(number).is_some_and(|rule| each >= rule.many);
        let crowd = crowd.into_iter().filter(|(((_, number), _), (each, _))| is_enough(*number, each.len()));
        let crowd = crowd.flat_map(|((mark, _), (_, places))| places.into_iter().map(move |place| (place, mark)));
        marks.notable.extend(crowd.chain(trail.rows()));
        // Rows with the same text count once, as among the findings.
        let mut rows = BTreeMap::<Mark, HashSet<u64>>::new();
        let state = RandomState::new();
        for (place, mark) in &marks.notable {
            rows.entry(*mark).or_default().insert(state.hash_one(report.row(place.section, place.row).text()));
        }
        marks.techniques = self.techniques(report, &rows);
        Ok(marks)
    }

    /// Finds the programs named by rules that ran.
    fn ran(&self, report: &Report, cancel: &Cancel) -> Result<BTreeSet<Vec<u8>>, Cancelled> {
        let named: BTreeSet<&[u8]> =
            self.rules.iter().flat_map(|rule| rule.unless_runs.iter().map(String::as_bytes)).collect();
        let mut ran = BTreeSet::new();
        for (number, section) in report.index.sections.iter().enumerate() {
            if section.attribute.is_some_and(|known| ["processes_tree", "processes_created"].contains(&known.name)) {
                for found in report.each_row(number) {
                    cancel.check()?;
                    ran.extend(Some(program(&found.in_line())).filter(|program| named.contains(program.as_slice())));
                }
            }
        }
        Ok(ran)
    }

    /// Returns every rule that marks one row, the most severe first.
    pub fn of_row(&self, report: &Report, marks: &Marks, section: usize, row: usize) -> Vec<&Rule> {
        let Some(found) = report.section(section) else { return Vec::new() };
        let place = RowPlace { section, row };
        let mut text = report.row_bytes_of(place).in_line().text();
        let sample = sample(report);
        let hidden = decoded(found, &text, sample.as_ref());
        spell(&mut text, sample.as_ref());
        let parent = (found.form == SectionForm::Processes).then(|| {
            let parent = found.depths().parent(row);
            parent.map(|parent| program(&report.row(section, parent))).unwrap_or_default()
        });
        let values = RowValues { text: &text, decoded: &hidden, parent: parent.as_deref(), ran: &marks.ran };
        let single = RuleEvaluator::new(self, found).rules(&values).into_iter().filter(|(_, rule)| rule.many == 0);
        let found: BTreeSet<Mark> = single.map(|(mark, _)| mark).chain(marks.of(place)).collect();
        found.into_iter().filter_map(|(_, number)| self.rule(number)).collect()
    }
}

/// Returns the sample's hash from the report's identifier.
fn sample(report: &Report) -> Option<Regex> {
    Regex::new(report.identifier()?.parts().file?.as_str()).ok()
}

/// Returns the hidden texts of a command line, as [`spell`] writes them.
fn decoded(section: &Section, text: &[u8], sample: Option<&Regex>) -> Vec<Vec<u8>> {
    if !matches!(section.pane(), Pane::Commands | Pane::Processes) {
        return Vec::new();
    }
    let mut found: Vec<_> = command_line::decoded(text).iter().map(|text| text.as_bytes().to_vec()).collect();
    found.iter_mut().for_each(|text| spell(text, sample));
    found
}

/// Spells a row as rules do: lower case, one notation of folders and hives, one name of the sample.
fn spell(text: &mut Vec<u8>, sample: Option<&Regex>) {
    text.make_ascii_lowercase();
    if let Cow::Owned(spelled) = canonical::spell_out(text) {
        *text = spelled;
        text.make_ascii_lowercase();
    }
    let named = canonical::SAMPLE.to_ascii_lowercase();
    if let Some(Cow::Owned(named)) = sample.map(|hash| hash.replace_all(text, NoExpand(named.as_bytes()))) {
        *text = named;
    }
}

/// Rows that count only in numbers: by rule and common part (`same`), distinct parts, and places.
type CountedRows = BTreeMap<(Mark, Vec<u8>), (BTreeSet<Vec<u8>>, Vec<RowPlace>)>;

fn add_to_crowd(crowd: &mut CountedRows, mark: Mark, rule: &Rule, place: RowPlace, text: &[u8]) {
    let captures = rule.regex.as_ref().filter(|_| rule.many > 0).and_then(|regex| regex.regex().ok()?.captures(text));
    let part = |name| Some(captures.as_ref()?.name(name)?.as_bytes().to_vec());
    if let Some((same, each)) = part("same").zip(part("each")) {
        let (parts, places) = crowd.entry((mark, same)).or_default();
        parts.insert(each);
        places.push(place);
    }
}

/// Attributes whose rows begin with the address of a connection, real or planned.
const CONNECTIONS: [&str; 2] = ["ip_traffic", "memory_pattern_ips"];

/// Connections, and the addresses in marked rows or of marked names.
#[derive(Default)]
struct RelatedRows {
    named: BTreeMap<IpAddr, Mark>,
    /// Addresses with the mark of their names; `None` if one of the names is not marked.
    asked: BTreeMap<IpAddr, Option<Mark>>,
    connections: Vec<(IpAddr, RowPlace)>,
}

impl RelatedRows {
    /// Adds the address of a connection, and those in the JSON of a marked row or of a DNS lookup.
    fn add<'a>(
        &mut self,
        attribute: &str,
        best: Option<Mark>,
        place: RowPlace,
        text: &[u8],
        own: impl FnOnce() -> Cow<'a, [u8]>,
    ) {
        if CONNECTIONS.contains(&attribute) {
            let text = String::from_utf8_lossy(text);
            let end = text.split(' ').next().unwrap_or_default();
            let address = end.rsplit_once(':').and_then(|(address, _)| address.parse().ok());
            self.connections.extend(address.or_else(|| end.parse().ok()).map(|address| (address, place)));
            return;
        }
        let best = best.filter(|(severity, _)| *severity <= Severity::Medium);
        if best.is_none() && attribute != "dns_lookups" {
            return;
        }
        let address = |word: &str| word.parse().ok().or_else(|| word.parse::<SocketAddr>().ok().map(|at| at.ip()));
        let own = own();
        let text = String::from_utf8_lossy(&own);
        let words = text.split(|c: char| c.is_whitespace() || ",\"\\/[]()<>".contains(c));
        for address in words.filter_map(address).filter(|address| is_public_target(*address)) {
            if attribute == "dns_lookups" {
                let asked = self.asked.entry(address).or_insert(best);
                *asked = asked.zip(best).map(|(one, other)| one.min(other));
            } else if let Some(best) = best {
                self.named.entry(address).and_modify(|named| *named = best.min(*named)).or_insert(best);
            }
        }
    }

    /// Returns the connections to one of the addresses, each with the rule that marks it.
    fn rows(self) -> impl Iterator<Item = (RowPlace, Mark)> {
        let Self { named, asked, connections } = self;
        let mark = move |address: &IpAddr| named.get(address).or_else(|| asked.get(address)?.as_ref()).copied();
        connections.into_iter().filter_map(move |(address, place)| Some((place, mark(&address)?)))
    }
}

struct RuleEvaluator<'a> {
    rules: &'a Rules,
    applies: Vec<bool>,
    /// Rules without texts, which are evaluated on every row.
    uncalled: Vec<u16>,
    /// Numbers of the texts in the row, in order; a buffer that is reused.
    hits: Vec<usize>,
}

impl<'a> RuleEvaluator<'a> {
    fn new(rules: &'a Rules, section: &Section) -> Self {
        let name = section.attribute.map_or("", |attribute| attribute.name);
        let is_for = |rule: &Rule| rule.attributes.is_empty() || rule.attributes.iter().any(|wanted| wanted == name);
        let is_uncalled = |rule: &Rule| rule.any.is_empty() && rule.program.is_empty() && rule.all.is_empty();
        let uncalled = rules.rules.iter().zip(0..).filter(|(rule, _)| is_for(rule) && is_uncalled(rule));
        let uncalled = uncalled.map(|(_, number)| number).collect();
        Self { rules, applies: rules.rules.iter().map(is_for).collect(), uncalled, hits: Vec::new() }
    }

    /// Returns the rules that mark a row by its text or by its hidden texts, in order.
    fn rules(&mut self, row: &RowValues<'_>) -> Vec<(Mark, &'a Rule)> {
        let mut found = self.rules_of_text(row);
        for text in row.decoded {
            found.extend(self.rules_of_text(&RowValues { text, ..*row }));
            found.sort_unstable_by_key(|(mark, _)| *mark);
            found.dedup_by_key(|(mark, _)| *mark);
        }
        found
    }

    fn rules_of_text(&mut self, row: &RowValues<'_>) -> Vec<(Mark, &'a Rule)> {
        let mut called = self.uncalled.clone();
        self.hits.clear();
        for hit in self.rules.texts.find_overlapping_iter(row.text) {
            let text = hit.pattern().as_usize();
            let Some((rule, is_program)) = self.rules.uses.get(text).copied() else { continue };
            let applies = self.applies.get(usize::from(rule)).copied().unwrap_or(false);
            if applies && (!is_program || is_whole_word(row.text, hit.range())) {
                self.hits.push(text);
                called.push(rule);
            }
        }
        self.hits.sort_unstable();
        called.sort_unstable();
        called.dedup();
        let rules = called.into_iter().filter_map(|number| Some((number, self.rules.rule(number)?)));
        let rules = rules.map(|(number, rule)| ((rule.severity, number), rule));
        rules.filter(|(_, rule)| rule.holds(&self.hits, row)).collect()
    }
}

impl Rule {
    /// Returns whether all conditions of the rule hold for a row with these texts.
    fn holds(&self, hits: &[usize], row: &RowValues<'_>) -> bool {
        let mut first = self.first;
        let mut is_there = |texts: &[String]| {
            let numbers = first..first + texts.len();
            first = numbers.end;
            numbers.map(|number| hits.binary_search(&number).is_ok()).collect::<Vec<_>>()
        };
        let [any, all, none, program] = [&self.any, &self.all, &self.none, &self.program].map(|texts| is_there(texts));
        let is_parent =
            |wanted: &String| row.parent.is_some_and(|parent| parent.eq_ignore_ascii_case(wanted.as_bytes()));
        (any.is_empty() || any.contains(&true))
            && !all.contains(&false)
            && !none.contains(&true)
            && (program.is_empty() || program.contains(&true))
            && (self.parent.is_empty() || self.parent.iter().any(is_parent))
            && (self.parent_not.is_empty() || row.parent.is_some() && !self.parent_not.iter().any(is_parent))
            && (self.near.is_empty() || is_near(row.text, &self.near))
            && !self.unless_runs.iter().any(|program| row.ran.contains(program.as_bytes()))
            && self.regex.as_ref().is_none_or(|regex| regex.is_match(row.text))
            && !self.unless.as_ref().is_some_and(|regex| regex.is_match(row.text))
    }
}

/// Returns whether a text is a whole word in another, as a program's name in a command line.
fn is_whole_word(text: &[u8], place: std::ops::Range<usize>) -> bool {
    let before = place.start.checked_sub(1).and_then(|at| text.get(at));
    let is_start = before.is_none_or(|byte| br#"\/"' =(&|"#.contains(byte));
    is_start && text.get(place.end).is_none_or(|byte| br#" "',;)&|"#.contains(byte))
}

/// Returns whether a program's name is one letter, or look-alike digits, off one of `names`.
fn is_near(text: &[u8], names: &[String]) -> bool {
    let words = text.split(|byte| br#"\/"' =(),;&|"#.contains(byte)).filter(|word| !word.is_empty());
    let mut words = words.enumerate().filter_map(|(place, word)| {
        let name = word.strip_suffix(b".exe").or_else(|| Some(word).filter(|_| place == 0));
        name.and_then(|name| str::from_utf8(name).ok())
    });
    words.any(|name| {
        let read = name.replace('0', "o").replace('1', "l");
        let is_one_off =
            |other: &String| other.len().abs_diff(read.len()) <= 1 && strsim::osa_distance(&read, other) <= 1;
        !names.iter().any(|other| other == name) && names.iter().any(is_one_off)
    })
}

/// Returns the program of a process: its name without folder, in lower case.
fn program(process: &Row) -> Vec<u8> {
    let line = process.name().map(Untrusted::as_bytes).unwrap_or_default();
    last_part(command_line::split(line).0).to_ascii_lowercase()
}
