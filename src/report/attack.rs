//! MITRE ATT&CK: names in `assets/attack.tsv`, and the service's response of techniques by tactic.

use super::attributes::{Attribute, TREE_TECHNIQUES};
use super::body::Body;
use super::index::{Index, Section, SectionForm};
use super::json::{Kind, Raw};
use super::rows::{Label, Piece, Report, Row, split_member};
use crate::text::{Untrusted, names};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::LazyLock;

names! {
    /// A domain of ATT&CK by its name in layers, with the version of `assets/attack.tsv`.
    #[derive(Default)]
    AttackDomain version {
        #[default]
        Enterprise "enterprise-attack" "18",
        Mobile "mobile-attack" "15",
    }
}

/// A technique or sub-technique, or a tactic in its place.
#[derive(Debug, PartialEq, Eq)]
pub struct Technique {
    pub(crate) domain: AttackDomain,
    pub(crate) name: &'static str,
    tactics: &'static str,
}

/// Techniques by identifier, and tactics in the order of the matrix, each with a subject of rules.
struct Table {
    techniques: HashMap<&'static str, Technique>,
    tactics: Vec<(&'static str, &'static str)>,
}

static TABLE: LazyLock<Table> = LazyLock::new(|| {
    let mut table = Table { techniques: HashMap::new(), tactics: Vec::new() };
    for line in include_str!("../../assets/attack.tsv").lines().filter(|line| !line.starts_with('#')) {
        match line.split('\t').collect::<Vec<_>>().as_slice() {
            [id, name, tactics, rest @ ..] => {
                let domain = if rest.is_empty() { AttackDomain::Enterprise } else { AttackDomain::Mobile };
                table.techniques.insert(id, Technique { domain, name, tactics });
            }
            [tactic, subject] => table.tactics.push((tactic, subject)),
            _ => {}
        }
    }
    table
});

impl Technique {
    /// Returns the technique of `T1547.001`, the tactic of `TA0003`; `None` if the table has none.
    pub fn of(id: &[u8]) -> Option<&'static Self> {
        TABLE.techniques.get(std::str::from_utf8(id).ok()?.trim())
    }

    /// Returns its name and all its tactics.
    pub fn label(&self) -> String {
        let Self { name, tactics, .. } = self;
        if name == tactics { format!("the tactic {name}") } else { format!("{name} · {tactics}") }
    }

    /// Returns its most important tactic.
    pub(crate) fn tactic(&self) -> &'static str {
        self.tactics.split(',').next().unwrap_or_default()
    }

    fn place(&self) -> Option<usize> {
        TABLE.tactics.iter().position(|(tactic, _)| *tactic == self.tactic())
    }
}

/// Returns a technique's identifier and its name.
pub(super) fn title(id: &str) -> String {
    match Technique::of(id.as_bytes()) {
        Some(technique) => format!("{id} {}", technique.name),
        None => id.to_owned(),
    }
}

/// Returns a rule's subject by the first known technique; process injection has its own.
pub(super) fn subject(attack: &[String]) -> Option<&'static str> {
    if attack.iter().any(|id| id.starts_with("T1055")) {
        return Some("injection");
    }
    let place = attack.iter().find_map(|id| Technique::of(id.as_bytes())?.place())?;
    TABLE.tactics.get(place).map(|(_, subject)| *subject)
}

/// Returns the position of a technique's tactic in the matrix; unknown techniques come last.
pub(crate) fn rank(id: &Untrusted) -> usize {
    Technique::of(id.as_bytes()).and_then(Technique::place).unwrap_or(usize::MAX)
}

/// Labels a technique's row with its tactic, and adds the name after the identifier.
pub(super) fn annotate(row: &mut Row) {
    let mut values = row.pieces.iter().enumerate();
    let named = values.find_map(|(at, piece)| Some((at + 1, Technique::of(piece.value()?.as_bytes())?)));
    let Some((at, technique)) = named else { return };
    row.label = Label::Known(technique.tactic());
    let gap = if row.pieces.get(at).is_some() { " ·" } else { "" };
    row.pieces.insert(at, Piece::Known(format!(" {}{gap}", technique.name).into()));
}

/// Makes rows of the techniques in a response to `behaviour_mitre_trees`: a section for each
/// sandbox, which lists a technique once, even if it has several tactics.
pub(super) fn arrange(body: &Body, index: &mut Index) {
    let bytes = body.so_far();
    let is_tree =
        |section: &Section| section.attribute.is_none() && section.form == SectionForm::Object && section.len() == 1;
    for section in index.sections.iter_mut().filter(|section| is_tree(section)) {
        let Some(rest) = section.start(0).and_then(|start| bytes.get(start as usize..)) else { continue };
        let (name, tactics) = split_member(rest);
        if name.text().as_bytes() != b"tactics" || tactics.kind() != Kind::Array {
            continue;
        }
        let mut known = HashSet::new();
        let techniques = tactics.elements().filter_map(|tactic| tactic.member("techniques")).flat_map(Raw::elements);
        let new = techniques.filter(|technique| technique.member("id").is_some_and(|id| known.insert(id.text())));
        let starts = new.filter_map(|technique| u32::try_from(bytes.len() - technique.length_to_end()).ok());
        let starts: Vec<u32> = starts.collect();
        if starts.is_empty() {
            continue;
        }
        let attribute = Attribute::named(TREE_TECHNIQUES.as_bytes());
        let name = std::mem::take(&mut section.name);
        let Section { is_beside, end, .. } = *section;
        *section = Section { name, attribute, form: SectionForm::Array, is_beside, starts, end, ..Section::default() };
    }
}

/// Returns the tactics by technique, `defense-evasion`, in a sandbox's `behaviour_mitre_trees`.
pub(crate) fn named_tactics(report: &Report, sandbox: &Untrusted) -> BTreeMap<Untrusted, BTreeSet<String>> {
    let whole = Raw::new(report.body.so_far());
    let mut sandboxes = whole.member("data").unwrap_or(whole).members();
    let tree = sandboxes.find(|(name, _)| name == sandbox).and_then(|(_, tree)| tree.member("tactics"));
    let mut named = BTreeMap::<_, BTreeSet<_>>::new();
    for tactic in tree.into_iter().flat_map(Raw::elements) {
        let text = |member| tactic.member(member).map(Raw::text).unwrap_or_default();
        let name = Technique::of(text("id").as_bytes()).map_or(text("name"), |known| known.name.into());
        let known = TABLE.tactics.iter().find(|(known, _)| known.as_bytes().eq_ignore_ascii_case(name.as_bytes()));
        let Some((known, _)) = known else { continue };
        for technique in tactic.member("techniques").into_iter().flat_map(Raw::elements) {
            let id = technique.member("id").map(Raw::text).unwrap_or_default();
            named.entry(id).or_default().insert(known.to_lowercase().replace(' ', "-"));
        }
    }
    named
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_technique_has_a_name_and_a_tactic() {
        assert!(TABLE.techniques.len() > 900);
        for (id, technique) in &TABLE.techniques {
            assert!(id.starts_with('T') && !technique.name.is_empty() && technique.place().is_some(), "{id}");
        }
        let words = |id: &[u8]| Technique::of(id).unwrap().label();
        assert_eq!(words(b"T1053.005"), "Scheduled Task · Persistence, Execution, Privilege Escalation");
        assert_eq!(words(b"T1055"), "Process Injection · Defense Evasion, Privilege Escalation");
        assert_eq!(words(b"T1430"), "Location Tracking · Discovery, Collection");
        assert_eq!(
            (words(b"TA0003"), title("TA0011")),
            ("the tactic Persistence".into(), "TA0011 Command and Control".into())
        );
    }
}
