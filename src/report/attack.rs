//! MITRE ATT&CK: techniques and tactics by their names, from the table in `assets/attack.tsv`, and the service's answer that has
//! the techniques of a file by their tactics.

use super::attributes::{Attribute, TREE_TECHNIQUES};
use super::body::Body;
use super::index::{Form, Index, Section};
use super::json::{Kind, Raw};
use super::rows::{Label, Piece, Row, split_member};
use crate::text::Untrusted;
use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

/// A goal of an adversary, by the names that ATT&CK gives it.
#[derive(Debug, PartialEq, Eq)]
pub struct Tactic {
    /// In the table.
    pub name: &'static str,
    /// For people.
    pub title: &'static str,
    /// The subject of a rule whose technique serves it.
    pub subject: &'static str,
}

const fn tactic(name: &'static str, title: &'static str, subject: &'static str) -> Tactic {
    Tactic { name, title, subject }
}

/// Every tactic, in the order of the matrix; the last ones are of mobile devices.
pub static TACTICS: [Tactic; 16] = [
    tactic("reconnaissance", "Reconnaissance", "discovery"),
    tactic("resource-development", "Resource Development", "discovery"),
    tactic("initial-access", "Initial Access", "execution"),
    tactic("execution", "Execution", "execution"),
    tactic("persistence", "Persistence", "persistence"),
    tactic("privilege-escalation", "Privilege Escalation", "execution"),
    tactic("defense-evasion", "Defense Evasion", "evasion"),
    tactic("credential-access", "Credential Access", "credential access"),
    tactic("discovery", "Discovery", "discovery"),
    tactic("lateral-movement", "Lateral Movement", "command and control"),
    tactic("collection", "Collection", "credential access"),
    tactic("command-and-control", "Command and Control", "command and control"),
    tactic("exfiltration", "Exfiltration", "command and control"),
    tactic("impact", "Impact", "impact"),
    tactic("network-effects", "Network Effects", "impact"),
    tactic("remote-service-effects", "Remote Service Effects", "impact"),
];

/// Tactics that say less of a technique than another one that it serves.
const GENERAL: [&str; 3] = ["initial-access", "execution", "privilege-escalation"];

/// A technique or sub-technique.
#[derive(Debug, PartialEq, Eq)]
pub struct Technique {
    pub id: &'static str,
    pub name: &'static str,
    /// Places of its tactics in [`TACTICS`], that which says most first.
    pub tactics: Vec<usize>,
}

static TECHNIQUES: LazyLock<HashMap<&'static str, Technique>> = LazyLock::new(|| {
    let lines = include_str!("../../assets/attack.tsv").lines().filter(|line| !line.starts_with('#'));
    let technique = |line: &'static str| {
        let (id, rest) = line.split_once('\t')?;
        let (name, tactics) = rest.split_once('\t')?;
        let place = |name: &str| TACTICS.iter().position(|tactic| tactic.name == name);
        let mut tactics: Vec<usize> = tactics.split(',').filter_map(place).collect();
        tactics.sort_by_key(|tactic| TACTICS.get(*tactic).is_some_and(|tactic| GENERAL.contains(&tactic.name)));
        Some((id, Technique { id, name, tactics }))
    };
    lines.filter_map(technique).collect()
});

impl Technique {
    /// The technique of an identifier such as `T1547.001`; none that the table does not know.
    pub fn of(id: &[u8]) -> Option<&'static Self> {
        TECHNIQUES.get(std::str::from_utf8(id).ok()?.trim())
    }

    /// Its name and all its tactics.
    pub fn words(&self) -> String {
        let tactics = self.tactics.iter().filter_map(|tactic| TACTICS.get(*tactic)).map(|tactic| tactic.title);
        format!("{} · {}", self.name, tactics.collect::<Vec<_>>().join(", "))
    }

    /// The tactic that says most of it.
    pub fn tactic(&self) -> Option<&'static Tactic> {
        TACTICS.get(*self.tactics.first()?)
    }
}

/// The subject of a rule with these techniques, by the first that is known; process injection is one of its own.
pub(super) fn subject(attack: &[String]) -> Option<&'static str> {
    let injects = attack.iter().any(|id| id.starts_with("T1055")).then_some("injection");
    injects.or_else(|| attack.iter().find_map(|id| Some(Technique::of(id.as_bytes())?.tactic()?.subject)))
}

/// The place of a technique's tactic in the order of the matrix; techniques that are not known come last.
pub(super) fn rank(id: &Untrusted) -> usize {
    Technique::of(id.as_bytes()).and_then(|technique| technique.tactics.first().copied()).unwrap_or(TACTICS.len())
}

/// Says beside a row of a technique which tactic it serves, and behind its identifier what it is called.
pub(super) fn annotate(row: &mut Row) {
    let named = row.pieces.iter().enumerate().find_map(|(at, piece)| match piece {
        Piece::Value(id) => Some((at, Technique::of(id.as_bytes())?)),
        _ => None,
    });
    let Some((at, technique)) = named else { return };
    row.label = technique.tactic().map_or(Label::default(), |tactic| Label::Known(tactic.title));
    let gap = if row.pieces.get(at + 1).is_some() { " ·" } else { "" };
    row.pieces.insert(at + 1, Piece::Known(format!(" {}{gap}", technique.name).into()));
}

/// Makes rows of the techniques in an answer of the service to `behaviour_mitre_trees`: a section for each sandbox, in which a
/// technique stands once, however many tactics it serves.
pub(super) fn arrange(body: &Body, index: &mut Index) {
    let bytes = body.so_far();
    let is_tree = |section: &Section| section.attribute.is_none() && section.form == Form::Object && section.len() == 1;
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
        let end = section.end;
        *section = Section::new(section.name.clone(), attribute, Form::Array, section.is_beside);
        (section.starts, section.end) = (starts, end);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_technique_of_the_table_has_a_name_and_a_tactic() {
        assert!(TECHNIQUES.len() > 900);
        for (id, technique) in TECHNIQUES.iter() {
            assert!(id.starts_with('T') && !technique.name.is_empty() && technique.tactic().is_some(), "{id}");
        }
        let words = |id: &[u8]| Technique::of(id).unwrap().words();
        assert_eq!(words(b"T1053.005"), "Scheduled Task · Persistence, Execution, Privilege Escalation");
        assert_eq!(words(b"T1055"), "Process Injection · Defense Evasion, Privilege Escalation");
        assert_eq!(words(b"T1430"), "Location Tracking · Discovery, Collection");
    }
}
