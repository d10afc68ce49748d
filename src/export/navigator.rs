//! Writes layers of the ATT&CK Navigator (format 4.5): how many sandboxes or files show each
//! technique, with its rows; or a difference, which colours techniques by the side showing them.

use super::opened::{OpenedReport, technique};
use super::{Export, Part, Summary, line};
use crate::report::attack::{AttackDomain, Technique, named_tactics};
use crate::report::attributes::TREE_TECHNIQUES;
use crate::report::compare::NOT_LISTED;
use crate::report::identifier::Sha256;
use crate::report::{Attribute, Pane, RowPlace, Section};
use crate::text::{Untrusted, count, plural, to_visible};
use regex::bytes::Regex;
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};
use std::sync::LazyLock;

/// Maximum number of techniques in a file; ATT&CK has half as many.
const MAX_TECHNIQUES: usize = 2_000;

/// Maximum number of rows of one sandbox in the comment of a technique.
const MAX_ROWS: u64 = 8;

/// Maximum number of columns of a row in a comment.
const MAX_COLUMNS: usize = 200;

/// Maximum number of sandboxes that the metadata name.
const MAX_NAMED: usize = 100;

/// Colours of a difference layer, by score: only in the first reports, only in the others, in both.
const SIDES: [&str; 3] = ["#fd8d3c", "#6baed6", "#bdbdbd"];

/// Identifiers of techniques in text: `T1055.012`, `attack.t1055.012`, `techniques/T1055/012`.
static NAMED: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"(?i-u)\b(T1\d{3})(?:[./](\d{3}))?\b").ok());

/// The place where a technique was seen: file, sandbox, and side of the difference.
type Place = (String, String, usize);

#[derive(Default)]
struct LayerTechnique {
    /// The places with the number of their rows.
    seen: BTreeMap<Place, u64>,
    /// The tactics that the service names.
    tactics: BTreeSet<String>,
    /// The first rows of each place, after its name.
    rows: Vec<String>,
}

/// The techniques of all reports.
#[derive(Default)]
struct NavigatorLayers {
    techniques: BTreeMap<String, LayerTechnique>,
    /// Every report, even one without a technique.
    places: BTreeSet<Place>,
    /// The lists that the service may have cut, by side.
    cut: [Vec<String>; 2],
    /// The notes on the reports and their rows.
    notes: Vec<String>,
    /// Number of rows in the place of a technique that name none.
    left_out: u64,
}

/// Writes the layer of a domain, or a list of layers if techniques of both are seen.
pub(super) fn write(job: &Export<'_>, out: &mut dyn Write) -> io::Result<Summary> {
    let mut layers = NavigatorLayers::default();
    let mut summary = Summary::default();
    // A report is on the other side of a difference, or on the only side.
    let is_there = |number: usize| match &job.what {
        Part::Difference(here, _) => !u32::try_from(number).is_ok_and(|number| here.unbounded_shr(number) & 1 == 1),
        _ => false,
    };
    for (number, opened) in job.opened().enumerate() {
        let opened = opened?;
        summary.add_report(&opened.report);
        layers.add_report(&opened, usize::from(is_there(number)))?;
    }
    let mut domains: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for (id, found) in &layers.techniques {
        let domain = Technique::of(id.as_bytes()).map(|known| known.domain).unwrap_or_default();
        domains.entry(domain).or_default().push((id.as_str(), found));
    }
    if domains.is_empty() {
        domains.insert(AttackDomain::default(), Vec::new());
    }
    let scale = layers.scale(job);
    let written: Vec<_> = domains.iter().map(|(domain, found)| layers.layer(&scale, *domain, found)).collect();
    match written.as_slice() {
        [layer] => writeln!(out, "{layer}")?,
        _ => writeln!(out, "{}", Value::from(written))?,
    }
    Ok(Summary { rows: layers.techniques.len() as u64, left_out: layers.left_out, ..summary })
}

impl NavigatorLayers {
    fn add_report(&mut self, opened: &OpenedReport<'_>, side: usize) -> io::Result<()> {
        let file = opened.sample().map_or_else(|| opened.source.origin.clone(), |file| file.to_string());
        let is_tree = |found: &Section| found.attribute.is_some_and(|known| known.name == TREE_TECHNIQUES);
        let place = |section: Option<&Section>| {
            // A document of all sandboxes has a tree of each.
            let tree = section.filter(|found| is_tree(found)).map(|found| found.name.visible_cut(100).into());
            (file.clone(), to_visible(tree.unwrap_or_else(|| opened.sandbox())).disarmed().into(), side)
        };
        match opened.report.index.sections.iter().any(is_tree) {
            true => {
                let trees = opened.report.index.sections.iter().filter(|found| is_tree(found));
                self.places.extend(trees.map(Some).map(place));
            }
            false => _ = self.places.insert(place(None)),
        }
        let cut = opened.report.cut_lists_label(None).map(|cut| format!("{}: {cut}", opened.sandbox()));
        self.cut.get_mut(side).into_iter().for_each(|lists| lists.extend(cut.clone()));
        for (number, section) in opened.report.index.sections.iter().enumerate().filter(|(_, found)| can_name(found)) {
            opened.job.cancel.check()?;
            let is_listed = section.attribute.is_some_and(Attribute::is_technique);
            let tactics = if is_tree(section) { named_tactics(&opened.report, &section.name) } else { BTreeMap::new() };
            for row in opened.rows(number) {
                opened.job.cancel.check()?;
                let at = RowPlace { section: number, row: *row as usize };
                let record = opened.report.record(at);
                let ids = match is_listed {
                    true => technique(&record).into_iter().collect(),
                    false => named_in(&record.value),
                };
                self.left_out += u64::from(is_listed && ids.is_empty());
                for id in ids {
                    let found = self.add(&id, place(Some(section)), || row_text(opened, at));
                    let named = tactics.get(&Untrusted::from(id.as_str())).into_iter().flatten().cloned();
                    found.into_iter().for_each(|found| found.tactics.extend(named.clone()));
                }
            }
        }
        self.notes.extend(opened.notes().map(|(_, note)| {
            let on =
                note.about.item.as_ref().map(|item| format!("{}: ", item.text.visible_cut(MAX_COLUMNS).disarmed()));
            format!("{}{}", on.unwrap_or_default(), note.text.visible().disarmed())
        }));
        for (at, _, rule) in opened.findings() {
            opened.job.cancel.check()?;
            for id in rule.attack.iter().filter(|id| id.starts_with("T1")) {
                let name = Untrusted::from(rule.name.as_str()).visible().disarmed();
                let text = || format!("{} by rule, {name}: {}", rule.severity.name(), row_text(opened, at));
                self.add(id, place(opened.report.section(at.section)), text);
            }
        }
        Ok(())
    }

    /// Adds a row that shows a technique.
    fn add(&mut self, id: &str, place: Place, text: impl Fn() -> String) -> Option<&mut LayerTechnique> {
        if self.techniques.len() >= MAX_TECHNIQUES && !self.techniques.contains_key(id) {
            self.left_out += 1;
            return None;
        }
        let found = self.techniques.entry(id.to_owned()).or_default();
        let rows = found.seen.entry(place.clone()).or_default();
        *rows += 1;
        if *rows <= MAX_ROWS {
            found.rows.push(to_visible(format!("{}: {}", place.1, text())).cut(MAX_COLUMNS).into());
        }
        Some(found)
    }

    fn files(&self) -> BTreeSet<&str> {
        self.places.iter().map(|(file, ..)| file.as_str()).collect()
    }

    /// Returns the number of files, or of sandboxes of a single file, among places.
    fn count<'p>(&self, places: impl Iterator<Item = &'p Place>) -> u64 {
        let is_of_files = self.files().len() > 1;
        let names = places.map(|(file, sandbox, _)| if is_of_files { file } else { sandbox });
        names.collect::<BTreeSet<_>>().len() as u64
    }

    fn scale(&self, job: &Export<'_>) -> LayerScale {
        let files: Vec<_> = self.files().into_iter().map(short).collect();
        if let Part::Difference(_, sides) = &job.what {
            let [here, there] = sides.each_ref().map(|side| to_visible(side).disarmed().to_string());
            let labels = [format!("only in {here}"), format!("only in {there}"), "in both".to_owned()];
            let about = format!("Score 1: only in {here}; 2: only in {there}; 3: in both.");
            let colours = SIDES.map(str::to_owned).to_vec();
            let legend = labels.into_iter().zip(colours.clone()).collect();
            return LayerScale { name: format!("{here} against {there}"), about, colours, range: [1, 3], legend };
        }
        let noun = if files.len() > 1 { "file" } else { "sandbox" };
        let seen = self.techniques.values().flat_map(|found| found.seen.keys());
        let most = self.count(seen.chain(&self.places)).max(1);
        let all = job.known_reports().filter(|_| files.len() < 2);
        let all = all.map(|all| format!("; the service has at least {}", count(all, "report"))).unwrap_or_default();
        let about = format!("The score is the number of {} that show a technique, of {most}{all}.", plural(noun));
        let legend = BTreeSet::from([1, most]).into_iter();
        let legend = legend.map(|score| (format!("{score} of {}", count(most, noun)), shade(score, most))).collect();
        let name = if files.len() > 2 { count(files.len() as u64, "file") } else { files.join(", ") };
        LayerScale { name, about, colours: vec![shade(0, most), shade(most, most)], range: [0, most], legend }
    }

    fn layer(&self, scale: &LayerScale, domain: AttackDomain, techniques: &[(&str, &LayerTechnique)]) -> Value {
        let LayerScale { name, about, colours, range: [least, most], legend } = scale;
        let techniques = techniques.iter().flat_map(|(id, found)| self.technique(id, found, scale));
        let sandboxes: BTreeSet<_> = self.places.iter().map(|(_, sandbox, _)| sandbox.clone()).collect();
        let files = self.files().into_iter().map(|file| Untrusted::from(file).visible().disarmed().into());
        let files = files.map(|file: String| ("file", file)).take(MAX_NAMED);
        let sandboxes = sandboxes.into_iter().map(|sandbox| ("sandbox", sandbox)).take(MAX_NAMED);
        let cut = self.cut.iter().flatten().map(|cut| ("lists", cut.clone()));
        let notes = self.notes.iter().map(|note| ("note", note.clone()));
        let known = files.chain(sandboxes).chain(cut).chain(notes).filter(|(_, value)| !value.is_empty());
        json!({
            "name": to_visible(name).cut(MAX_COLUMNS).as_str(),
            "versions": {"attack": domain.version(), "navigator": "5.0.0", "layer": "4.5"},
            "domain": domain.name(),
            "description": format!("ATT&CK techniques in behaviour reports, by behaview. {about} TLP:AMBER+STRICT."),
            "sorting": 3,
            "layout": {"layout": "side", "showID": true, "showName": true, "expandedSubtechniques": "annotated"},
            "techniques": techniques.collect::<Vec<_>>(),
            "gradient": {"colors": colours, "minValue": least, "maxValue": most},
            "legendItems": legend.iter().map(|(label, colour)| json!({"label": label, "color": colour})).collect::<Vec<_>>(),
            "metadata": known.map(|(name, value)| json!({"name": name, "value": value})).collect::<Vec<_>>(),
        })
    }

    /// Returns a technique, once for each tactic that the service names, or once for all.
    fn technique(&self, id: &str, found: &LayerTechnique, scale: &LayerScale) -> Vec<Value> {
        let sides = [0, 1].map(|side| found.seen.keys().any(|(.., seen)| *seen == side));
        let is_difference = scale.range == [1, 3];
        let (score, colour) = match sides {
            _ if !is_difference => (self.count(found.seen.keys()), None),
            [_, false] => (1, scale.colours.first()),
            [false, _] => (2, scale.colours.get(1)),
            [true, true] => (3, scale.colours.get(2)),
        };
        let more = found.seen.iter().filter(|(_, rows)| **rows > MAX_ROWS);
        let more = more.map(|((_, sandbox, _), rows)| format!("{sandbox}: and {} more", count(rows - MAX_ROWS, "row")));
        let may_be_unlisted =
            is_difference && sides.iter().zip(&self.cut).any(|(is_seen, cut)| !is_seen && !cut.is_empty());
        let unlisted = may_be_unlisted.then(|| format!("the other side: {NOT_LISTED}"));
        let comment: Vec<_> = found.rows.iter().cloned().chain(more).chain(unlisted).collect();
        let tactics: Vec<_> = found.tactics.iter().map(|tactic| Some(tactic.as_str())).collect();
        let tactics = if tactics.is_empty() { vec![None] } else { tactics };
        let comment = comment.join("\n");
        let color = colour.map(String::as_str);
        let each = tactics.into_iter().map(|tactic| ScoredTechnique { id, tactic, score, color, comment: &comment });
        each.map(|technique| json!(technique)).collect()
    }
}

/// A technique as a layer has it, for one tactic or for all.
#[derive(Serialize)]
struct ScoredTechnique<'a> {
    #[serde(rename = "techniqueID")]
    id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    tactic: Option<&'a str>,
    score: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    color: Option<&'a str>,
    comment: &'a str,
}

/// The scores of a layer and their colours.
struct LayerScale {
    name: String,
    /// What a score means.
    about: String,
    colours: Vec<String>,
    /// The lowest and the highest score of the gradient.
    range: [u64; 2],
    /// Labels with their colours.
    legend: Vec<(String, String)>,
}

/// Returns the colour of a score between the ends of the gradient.
fn shade(score: u64, most: u64) -> String {
    let mix = |low: u64, high: u64| (low * most.saturating_sub(score) + high * score) / most.max(1);
    format!("#{:02x}{:02x}{:02x}", mix(0xfd, 0xd7), mix(0xd4, 0x30), mix(0x9e, 0x1f))
}

/// Returns a file by its shortened hash, or its origin.
fn short(file: &str) -> String {
    Sha256::parse(file).map_or_else(|| Untrusted::from(file).visible_cut(60).disarmed().into(), |file| file.short())
}

/// Returns whether rows of a section may name techniques: those of ATT&CK, signatures, and alerts.
fn can_name(section: &Section) -> bool {
    section.pane() == Pane::Techniques || section.name.as_bytes().starts_with(b"ids_")
}

fn named_in(text: &[u8]) -> BTreeSet<String> {
    let named = NAMED.iter().flat_map(|named| named.captures_iter(text)).map(|found| {
        let part = |number| found.get(number).map(|part| String::from_utf8_lossy(part.as_bytes()).to_uppercase());
        [part(1), part(2)].into_iter().flatten().collect::<Vec<_>>().join(".")
    });
    named.filter(|id| Technique::of(id.as_bytes()).is_some()).collect()
}

/// Returns a row as its pane shows it, defanged.
fn row_text(opened: &OpenedReport<'_>, RowPlace { section, row }: RowPlace) -> String {
    let pane = opened.report.section(section).map_or(Pane::Other, Section::pane);
    line(pane, &opened.report.row(section, row))
}
