//! Judging rows by the rules.

use super::Severity;
use super::file::{Rule, Rules, Use};
use crate::report::canonical;
use crate::report::command_line;
use crate::report::index::Form;
use crate::report::indicators::is_of_the_internet;
use crate::report::work::{Cancel, Cancelled};
use crate::report::{Order, Place, Report, Row, RowSet, Section};
use crate::text::{Untrusted, last_part};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::hash::{BuildHasher, RandomState};
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

/// What the rules make of a report.
#[derive(Debug, Default)]
pub struct Marks {
    /// Notable rows, in order, each with the number of the rule that matters most.
    notable: Vec<(u32, u32, u16)>,
    /// Rows that are noise, and nothing else.
    noise: RowSet,
    /// The order of rows that say themselves how severe they are.
    order: Arc<Order>,
    /// Rows that are marked for what other rows say, with the numbers of the rules.
    across: BTreeSet<(u32, u32, u16)>,
    /// The programs that ran of those that a rule names.
    ran: BTreeSet<Vec<u8>>,
}

impl Marks {
    /// The number of the rule that marks a row.
    pub fn rule(&self, section: usize, row: usize) -> Option<u16> {
        let place = (u32::try_from(section).ok()?, u32::try_from(row).ok()?);
        let at = self.notable.binary_search_by_key(&place, |(section, row, _)| (*section, *row)).ok()?;
        self.notable.get(at).map(|(_, _, rule)| *rule)
    }

    /// Every notable row: section, row, rule.
    pub fn notable(&self) -> impl Iterator<Item = (usize, usize, u16)> + '_ {
        self.notable.iter().map(|(section, row, rule)| (*section as usize, *row as usize, *rule))
    }

    /// The order of rows that say themselves how severe they are.
    pub fn order(&self) -> &Arc<Order> {
        &self.order
    }

    pub fn noise(&self) -> &RowSet {
        &self.noise
    }
}

/// The values of one row that rules are evaluated on.
struct RowValues<'a> {
    /// The row's text, as [`spell`] writes it.
    text: &'a [u8],
    /// The parent's file name in lower case; none if the row is not a process.
    parent: Option<&'a [u8]>,
    /// The programs that ran of those that a rule names.
    ran: &'a BTreeSet<Vec<u8>>,
}

/// Which texts of a rule were found in a row.
#[derive(Clone, Default)]
struct Found {
    any: bool,
    program: bool,
    none: bool,
    all: u64,
}

/// The work on one row, kept for the next.
struct Judge<'a> {
    rules: &'a Rules,
    /// Rules for the section that is looked at.
    applies: Vec<bool>,
    /// Those of them that no text calls.
    uncalled: Vec<usize>,
    found: Vec<Found>,
    touched: Vec<usize>,
}

impl Rules {
    /// Judges every row of a report.
    pub fn judge(&self, report: &Report, cancel: &Cancel) -> Result<Marks, Cancelled> {
        let order = Arc::new(Order::of(report, cancel)?);
        let mut marks = Marks { order, ran: self.ran(report, cancel)?, ..Marks::default() };
        let sample = sample(report);
        let (mut crowd, mut trail) = (Crowd::default(), Trail::default());
        for (number, section) in report.index.sections.iter().enumerate() {
            cancel.check()?;
            let mut judge = Judge::of(self, section);
            let name = section.attribute.map_or("", |attribute| attribute.name);
            let (mut text, mut above) = (Vec::new(), Vec::new());
            for found in report.each_row(number) {
                cancel.check()?;
                let (row, decoded) = (found.place.row, found.told());
                text.clear();
                decoded.push_text(&mut text);
                spell(&mut text, sample.as_deref());
                let parent = (section.form == Form::Processes).then(|| {
                    let depth = usize::from(section.depths().get(row).unwrap_or_default());
                    above.truncate(depth);
                    above.push(program(&decoded));
                    depth.checked_sub(1).and_then(|up| above.get(up)).cloned().unwrap_or_default()
                });
                let rules = judge.rules(&RowValues { text: &text, parent: parent.as_deref(), ran: &marks.ran });
                if let Some(place) = u32::try_from(number).ok().zip(u32::try_from(row).ok()) {
                    let best = self.mark(&rules, place, &text, &mut marks, &mut crowd);
                    trail.add(name, best, place, &text, || found.own());
                }
            }
        }
        cancel.check()?;
        marks.add(self, crowd.rows(self).chain(trail.rows()).collect());
        Ok(marks)
    }

    /// Marks a row by the rule that matters most, and counts it for the rules that want many rows.
    fn mark(&self, rules: &[usize], place: (u32, u32), text: &[u8], marks: &mut Marks, crowd: &mut Crowd) -> Best {
        let (mut best, (section, row)) = (None, place);
        for (number, rule) in rules.iter().filter_map(|number| Some((*number, self.rules.get(*number)?))) {
            match rule.many {
                0 if best.is_none_or(|(severity, _)| rule.severity < severity) => best = Some((rule.severity, number)),
                0 => {}
                _ => crowd.add(number, rule, place, text),
            }
        }
        match best {
            Some((Severity::Noise, _)) => marks.noise.insert(section as usize, row),
            Some((_, rule)) => marks.notable.push((section, row, u16::try_from(rule).unwrap_or(u16::MAX))),
            None => {}
        }
        best
    }

    /// The programs that ran of those that a rule names.
    fn ran(&self, report: &Report, cancel: &Cancel) -> Result<BTreeSet<Vec<u8>>, Cancelled> {
        let named: BTreeSet<&[u8]> =
            self.rules.iter().flat_map(|rule| rule.unless_runs.iter().map(String::as_bytes)).collect();
        let mut ran = BTreeSet::new();
        for (number, section) in report.index.sections.iter().enumerate() {
            let name = section.attribute.map_or("", |attribute| attribute.name);
            if !named.is_empty() && ["processes_tree", "processes_created"].contains(&name) {
                for found in report.each_row(number) {
                    cancel.check()?;
                    let program = program(&found.told());
                    if named.contains(program.as_slice()) {
                        ran.insert(program);
                    }
                }
            }
        }
        Ok(ran)
    }

    /// Every rule that marks one row, the one that matters most first.
    pub fn of_row(&self, report: &Report, marks: &Marks, section: usize, row: usize) -> Vec<&Rule> {
        let Some(found) = report.section(section) else { return Vec::new() };
        let mut text = report.told_row(Place { section, row }).text();
        spell(&mut text, sample(report).as_deref());
        let parent = (found.form == Form::Processes).then(|| {
            let parent = found.depths().parent(row);
            parent.map(|parent| program(&report.row(section, parent))).unwrap_or_default()
        });
        let seen = RowValues { text: &text, parent: parent.as_deref(), ran: &marks.ran };
        let mut numbers = Judge::of(self, found).rules(&seen);
        numbers.retain(|number| self.rules.get(*number).is_some_and(|rule| rule.many == 0));
        if let Some((section, row)) = u32::try_from(section).ok().zip(u32::try_from(row).ok()) {
            let across = marks.across.range((section, row, 0)..=(section, row, u16::MAX));
            numbers.extend(across.map(|(.., number)| usize::from(*number)));
        }
        let mut rules: Vec<&Rule> = numbers.into_iter().filter_map(|number| self.rules.get(number)).collect();
        rules.sort_by_key(|rule| rule.severity);
        rules
    }
}

/// The sample's own hash in small letters, as the report's identifier has it.
fn sample(report: &Report) -> Option<Vec<u8>> {
    let file = report.identifier()?.parts().file?;
    Some(file.as_str().as_bytes().to_ascii_lowercase())
}

/// Brings a row to the form that the rules are written for: small letters, one notation for folders and hives, and one name for
/// the sample.
fn spell(text: &mut Vec<u8>, sample: Option<&[u8]>) {
    text.make_ascii_lowercase();
    if let Cow::Owned(spelled) = canonical::spell_out(text) {
        *text = spelled;
        text.make_ascii_lowercase();
    }
    let found = sample.map(|hash| memchr::memmem::find_iter(text, hash).collect::<Vec<_>>()).unwrap_or_default();
    if let Some(length) = sample.map(<[u8]>::len).filter(|_| !found.is_empty()) {
        let (mut spelled, mut done) = (Vec::with_capacity(text.len()), 0);
        for at in found {
            spelled.extend_from_slice(text.get(done..at).unwrap_or_default());
            spelled.extend_from_slice(canonical::SAMPLE.to_ascii_lowercase().as_bytes());
            done = at + length;
        }
        spelled.extend_from_slice(text.get(done..).unwrap_or_default());
        *text = spelled;
    }
}

/// The rule that matters most for a row.
type Best = Option<(Severity, usize)>;

/// Rows that count only if there are many of their kind: digests of the common part (`same`) and of
/// the distinct parts (`each`), with their places.
#[derive(Default)]
struct Crowd {
    groups: BTreeMap<(usize, u64), Group>,
    hasher: RandomState,
}

#[derive(Default)]
struct Group {
    each: BTreeSet<u64>,
    places: Vec<(u32, u32)>,
}

impl Crowd {
    fn add(&mut self, number: usize, rule: &Rule, place: (u32, u32), text: &[u8]) {
        let Some(found) = rule.regex.as_ref().and_then(|regex| regex.captures(text)) else { return };
        let digest = |name| found.name(name).map(|part| self.hasher.hash_one(part.as_bytes()));
        if let Some((same, each)) = digest("same").zip(digest("each")) {
            let group = self.groups.entry((number, same)).or_default();
            group.each.insert(each);
            group.places.push(place);
        }
    }

    /// The rows of which there are enough, each with its rule.
    fn rows(self, rules: &Rules) -> impl Iterator<Item = ((u32, u32), usize)> {
        let is_enough =
            |number: usize, group: &Group| rules.rules.get(number).is_some_and(|rule| group.each.len() >= rule.many);
        let groups = self.groups.into_iter().filter(move |((number, _), group)| is_enough(*number, group));
        groups.flat_map(|((number, _), group)| group.places.into_iter().map(move |place| (place, number)))
    }
}

/// Attributes whose rows begin with an address that was reached, or was to be.
const CONNECTIONS: [&str; 2] = ["ip_traffic", "memory_pattern_ips"];

/// Connections, and the addresses that marked rows name or whose names are marked.
#[derive(Default)]
struct Trail {
    named: BTreeMap<IpAddr, (Severity, usize)>,
    /// Addresses that were asked for by names; none where one of the names is not marked.
    asked: BTreeMap<IpAddr, Best>,
    connections: Vec<(IpAddr, (u32, u32))>,
}

impl Trail {
    /// Takes the address of a connection, and those in the JSON of a marked row or of a name that
    /// was asked for.
    fn add<'a>(
        &mut self,
        attribute: &str,
        best: Best,
        place: (u32, u32),
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
        for address in words.filter_map(address).filter(|address| is_of_the_internet(*address)) {
            if attribute == "dns_lookups" {
                let asked = self.asked.entry(address).or_insert(best);
                *asked = asked.zip(best).map(|(one, other)| one.min(other));
            } else if let Some(best) = best {
                self.named.entry(address).and_modify(|named| *named = best.min(*named)).or_insert(best);
            }
        }
    }

    /// The connections to one of the addresses, each with the rule that marks it.
    fn rows(self) -> impl Iterator<Item = ((u32, u32), usize)> {
        let Self { named, asked, connections } = self;
        let rule =
            move |address: &IpAddr| named.get(address).or_else(|| asked.get(address)?.as_ref()).map(|(_, rule)| *rule);
        connections.into_iter().filter_map(move |(address, place)| Some((place, rule(&address)?)))
    }
}

impl Marks {
    /// Marks further rows, each by the rule that matters most.
    fn add(&mut self, rules: &Rules, rows: Vec<((u32, u32), usize)>) {
        if rows.is_empty() {
            return;
        }
        let mut best: BTreeMap<(u32, u32), u16> =
            self.notable.iter().map(|(section, row, rule)| ((*section, *row), *rule)).collect();
        let severity = |rule: u16| rules.rule(rule).map(|rule| rule.severity);
        for ((section, row), number) in rows {
            let Ok(number) = u16::try_from(number) else { continue };
            self.across.insert((section, row, number));
            let rule = best.entry((section, row)).or_insert(number);
            if severity(number) < severity(*rule) {
                *rule = number;
            }
        }
        self.notable = best.into_iter().map(|((section, row), rule)| (section, row, rule)).collect();
    }
}

impl<'a> Judge<'a> {
    fn of(rules: &'a Rules, section: &Section) -> Self {
        let name = section.attribute.map_or("", |attribute| attribute.name);
        let is_for = |rule: &Rule| rule.attributes.is_empty() || rule.attributes.iter().any(|wanted| wanted == name);
        let applies: Vec<bool> = rules.rules.iter().map(is_for).collect();
        let is_uncalled = |rule: &Rule| !rule.wants.any && !rule.wants.program && rule.wants.all == 0;
        let uncalled =
            (0..).zip(&rules.rules).zip(&applies).filter(|((_, rule), applies)| **applies && is_uncalled(rule));
        let uncalled = uncalled.map(|((number, _), _)| number).collect();
        Self { rules, applies, uncalled, found: vec![Found::default(); rules.rules.len()], touched: Vec::new() }
    }

    /// The rules that mark a row.
    fn rules(&mut self, seen: &RowValues<'_>) -> Vec<usize> {
        self.touched.clone_from(&self.uncalled);
        for hit in self.rules.texts.find_overlapping_iter(seen.text) {
            let Some((rule, purpose)) = self.rules.uses.get(hit.pattern().as_usize()).copied() else { continue };
            if !self.applies.get(rule).copied().unwrap_or(false) {
                continue;
            }
            let Some(found) = self.found.get_mut(rule) else { continue };
            match purpose {
                Use::Any => found.any = true,
                Use::None => found.none = true,
                Use::All(n) => found.all |= 1 << n,
                Use::Program => found.program |= is_program(seen.text, hit.range()),
            }
            if let Err(place) = self.touched.binary_search(&rule) {
                self.touched.insert(place, rule);
            }
        }
        let mut agreed = Vec::new();
        for number in &self.touched {
            let found = self.found.get_mut(*number).map(std::mem::take).unwrap_or_default();
            if self.rules.rules.get(*number).is_some_and(|rule| rule.agrees(&found, seen)) {
                agreed.push(*number);
            }
        }
        agreed
    }
}

impl Rule {
    fn agrees(&self, found: &Found, seen: &RowValues<'_>) -> bool {
        let is_parent =
            |wanted: &String| seen.parent.is_some_and(|parent| parent.eq_ignore_ascii_case(wanted.as_bytes()));
        !found.none
            && (found.any || !self.wants.any)
            && (found.program || !self.wants.program)
            && found.all.count_ones() as usize == self.wants.all
            && (self.parent.is_empty() || self.parent.iter().any(is_parent))
            && (self.parent_not.is_empty() || seen.parent.is_some() && !self.parent_not.iter().any(is_parent))
            && (self.near.is_empty() || is_near(seen.text, &self.near))
            && !self.unless_runs.iter().any(|program| seen.ran.contains(program.as_bytes()))
            && self.regex.as_ref().is_none_or(|regex| regex.is_match(seen.text))
            && !self.unless.as_ref().is_some_and(|regex| regex.is_match(seen.text))
    }
}

/// Whether a text is a whole word in another, such as a program's name among folders and arguments.
fn is_program(text: &[u8], place: std::ops::Range<usize>) -> bool {
    let before = place.start.checked_sub(1).and_then(|at| text.get(at));
    let is_start =
        before.is_none_or(|byte| matches!(byte, b'\\' | b'/' | b'"' | b'\'' | b' ' | b'=' | b'(' | b'&' | b'|'));
    let is_end =
        text.get(place.end).is_none_or(|byte| matches!(byte, b' ' | b'"' | b'\'' | b',' | b';' | b')' | b'&' | b'|'));
    is_start && is_end
}

/// Whether a text contains a program, with or without a folder, whose name differs from one of
/// `names` by one letter, or by digits that look like letters.
fn is_near(text: &[u8], names: &[String]) -> bool {
    let words = text.split(|byte| br#"\/"' =(),;&|"#.contains(byte)).filter(|word| !word.is_empty());
    words.enumerate().any(|(place, word)| {
        let name = word.strip_suffix(b".exe").or_else(|| Some(word).filter(|_| place == 0));
        let name = name.filter(|name| !names.iter().any(|other| other.as_bytes() == *name));
        let read = |byte: &u8| match byte {
            b'0' => b'o',
            b'1' => b'l',
            other => *other,
        };
        name.is_some_and(|name| {
            let name: Vec<u8> = name.iter().map(read).collect();
            names.iter().any(|other| other.as_bytes() == name || is_one_off(&name, other.as_bytes()))
        })
    })
}

/// Whether two names differ by one letter: added, left out, another, or in the place of the next.
fn is_one_off(one: &[u8], other: &[u8]) -> bool {
    let (short, long) = if one.len() <= other.len() { (one, other) } else { (other, one) };
    let same = short.iter().zip(long).take_while(|(one, other)| one == other).count();
    match (short.get(same..).unwrap_or_default(), long.get(same..).unwrap_or_default()) {
        (short, [_, long @ ..]) if short == long => true,
        ([_, short @ ..], [_, long @ ..]) if short == long => true,
        ([a, b, short @ ..], [c, d, long @ ..]) => (a, b, short) == (d, c, long),
        _ => false,
    }
}

/// The program that a process runs: its name without its folder, in small letters.
fn program(process: &Row) -> Vec<u8> {
    let line = process.name().map(Untrusted::as_bytes).unwrap_or_default();
    last_part(command_line::split(line).0).to_ascii_lowercase()
}
