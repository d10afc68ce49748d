//! Rules that mark rows as notable, or as noise that any machine produces.
//!
//! ```text
//! assets/rules/*.toml + the user's rules.toml ──> Rules: one automaton over all texts of rules
//! a row, decoded, in lower case ── automaton ──> matching texts ──> rules that hold ──> Marks
//! ```
//! Each row is read once, so the time depends on the report's bytes, not on the number of rules.

mod evaluate;

use super::attack::{self, Technique};
use super::{Attribute, Piece, Report, Row};
use crate::text::{Untrusted, count, names};
use aho_corasick::AhoCorasick;
use evaluate::Mark;
use regex::bytes::{Regex, RegexBuilder};
use serde::Deserialize;
use std::collections::{BTreeMap, HashSet};
use std::sync::{Arc, LazyLock, OnceLock};

pub use evaluate::{Marks, RowsByRule, RuleRows};

/// Maximum number of rules; their numbers have 16 bits.
const MAX_RULES: usize = u16::MAX as usize;

/// Maximum number of regular expressions in a file: compiling one takes time.
const MAX_REGEXES: usize = 1_000;

/// Names of groups of attributes: all that start programs, and all that leave files on the disk.
const GROUPS: [(&str, &[&str]); 2] = [
    ("commands", &["command_executions", "processes_created", "processes_tree", "processes_injected"]),
    ("files", &["files_written", "files_dropped", "files_copied"]),
];

const SHIPPED: &[(&str, &str)] = &[
    ("notable.toml", include_str!("../../../assets/rules/notable.toml")),
    ("noise.toml", include_str!("../../../assets/rules/noise.toml")),
];

names! {
    /// How notable a row is, with a sign for terminals without colour.
    #[derive(Deserialize)]
    Severity sign {
        High "high" "!",
        Medium "medium" "*",
        Low "low" "+",
        /// Not notable: every machine does it.
        Noise "noise" "~",
    }
}

pub(crate) const SUBJECTS: [&str; 9] = [
    "persistence",
    "injection",
    "execution",
    "evasion",
    "credential access",
    "discovery",
    "command and control",
    "impact",
    // The verdict of the sandbox.
    "verdict",
];

/// A rule, as its file writes it; `assets/rules/notable.toml` explains the fields.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    pub(crate) id: String,
    pub severity: Severity,
    pub name: String,
    pub(crate) why: String,
    #[serde(default)]
    pub attack: Vec<String>,
    /// One of [`SUBJECTS`], from its file or its techniques; empty if unknown.
    #[serde(default)]
    pub(crate) subject: String,
    #[serde(default)]
    attributes: Vec<String>,
    #[serde(default)]
    any: Vec<String>,
    #[serde(default)]
    all: Vec<String>,
    #[serde(default)]
    none: Vec<String>,
    #[serde(default)]
    program: Vec<String>,
    #[serde(default)]
    parent: Vec<String>,
    #[serde(default)]
    parent_not: Vec<String>,
    #[serde(default)]
    near: Vec<String>,
    #[serde(default)]
    unless_runs: Vec<String>,
    regex: Option<Expression>,
    unless: Option<Expression>,
    #[serde(default)]
    many: usize,
    /// Number of the first of its texts.
    #[serde(skip)]
    first: usize,
}

/// A regular expression, compiled on first use: to compile all takes as long as a report.
#[derive(Debug, Deserialize)]
#[serde(transparent)]
struct Expression {
    source: String,
    #[serde(skip)]
    compiled: OnceLock<Result<Regex, String>>,
}

impl Expression {
    /// Compiles it, or returns its error; [`Rule::check`] has refused such a rule.
    fn regex(&self) -> Result<&Regex, String> {
        let compile = || RegexBuilder::new(&self.source).case_insensitive(true).build();
        let compiled = self.compiled.get_or_init(|| compile().map_err(|error| error.to_string()));
        compiled.as_ref().map_err(|error| format!("the regular expression is wrong: {error}"))
    }

    fn is_match(&self, text: &[u8]) -> bool {
        self.regex().is_ok_and(|regex| regex.is_match(text))
    }
}

impl Rule {
    /// Returns its name and its reason, in a sentence or two.
    pub fn label(&self) -> String {
        let attack = self.attack.iter().map(|id| format!(" · {id}")).collect::<String>();
        let subject = if self.subject.is_empty() { String::new() } else { format!(" · {}", self.subject) };
        format!("{}. {} (rule {}{subject}{attack})", self.name, self.why, self.id)
    }

    pub fn subject_name(&self) -> &str {
        if self.subject.is_empty() { "other" } else { &self.subject }
    }

    pub fn subject_place(&self) -> usize {
        SUBJECTS.iter().position(|subject| *subject == self.subject).unwrap_or(SUBJECTS.len())
    }

    /// Returns its techniques with their names, such as `T1055 Process Injection`.
    pub fn techniques(&self) -> impl Iterator<Item = String> {
        self.attack.iter().map(|id| attack::title(id))
    }

    pub fn filter_text(&self) -> String {
        let persists = if self.subject == "persistence" { "survives a reboot" } else { "" };
        let techniques = self.techniques().collect::<Vec<_>>().join(" ");
        format!("{} {} {persists} {techniques}", self.severity.name(), self.label())
    }

    /// Expands groups of attributes, finds the subject, and refuses a rule that cannot mark a row.
    /// A shipped rule's expressions are compiled on first use; a test compiles all.
    fn check(&mut self, is_shipped: bool) -> Result<(), String> {
        for expression in self.regex.iter().chain(&self.unless).filter(|_| !is_shipped) {
            expression.regex()?;
        }
        if self.subject.is_empty() {
            self.subject = attack::subject(&self.attack).unwrap_or_default().to_owned();
        } else if !SUBJECTS.contains(&self.subject.as_str()) {
            return Err(format!("unknown subject {}; known are {}", self.subject, SUBJECTS.join(", ")));
        }
        for (name, several) in GROUPS {
            if self.attributes.iter().any(|written| written == name) {
                self.attributes.retain(|written| written != name);
                self.attributes.extend(several.iter().map(|name| (*name).to_owned()));
            }
        }
        if let Some(unknown) = self.attributes.iter().find(|name| Attribute::named(name.as_bytes()).is_none()) {
            return Err(format!("unknown attribute {unknown}"));
        }
        let names = || self.regex.iter().filter_map(|it| it.regex().ok()).flat_map(Regex::capture_names).flatten();
        let has = |wanted: &str| names().any(|name| name == wanted);
        if self.many > 0 && !(has("each") && has("same")) {
            return Err("many needs a regular expression with (?P<each>...) and (?P<same>...)".to_owned());
        }
        let texts = [&self.attributes, &self.any, &self.all, &self.program, &self.near];
        if texts.iter().all(|texts| texts.is_empty()) && self.regex.is_none() {
            return Err("the rule has no condition: add any, all, program or regex".to_owned());
        }
        // Every row contains the empty text.
        if self.any.iter().any(String::is_empty) {
            self.any.clear();
        }
        Ok(())
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RuleFile {
    #[serde(default)]
    rule: Vec<toml::Spanned<toml::Table>>,
}

#[derive(Debug)]
pub struct FoundTechnique {
    pub(crate) id: Untrusted,
    /// The highest severity of its rules.
    pub severity: Severity,
    /// The names of rules that mark rows, the most severe first; rows are hashes of their texts.
    rules: Vec<String>,
    pub(crate) rows: HashSet<u64>,
    /// Whether the sandbox names it as well.
    pub is_named: bool,
}

impl FoundTechnique {
    /// Returns the technique as a row beside those of the sandbox.
    pub fn row(&self) -> Row {
        let by = format!(" {} ({})", self.label(), count(self.rows.len() as u64, "row"));
        let mut row = Row { pieces: vec![Piece::Value(self.id.clone()), Piece::Own(by.into())], ..Row::default() };
        attack::annotate(&mut row);
        row
    }

    /// Names its rules in the sandbox's row of the same technique.
    pub fn credit(&self, row: &mut Row) {
        let is_it = |piece: &Piece| matches!(piece, Piece::Value(id) if id.as_bytes() == self.id.as_bytes());
        let Some(at) = row.pieces.iter().position(is_it) else { return };
        // After the technique's name.
        let label =
            if row.pieces.len() > at + 2 { format!(" {} ·", self.label()) } else { format!(" · {}", self.label()) };
        row.pieces.insert(row.pieces.len().min(at + 2), Piece::Own(label.into()));
    }

    fn label(&self) -> String {
        format!("by rule: {}", self.rules.join(", "))
    }
}

/// Rules, ready to be evaluated.
#[derive(Debug)]
pub struct Rules {
    rules: Vec<Rule>,
    /// Every text that a rule names: those of `any`, `all`, `none` and `program`, rule after rule.
    texts: AhoCorasick,
    /// For each text the rule that names it, and whether it is a program.
    uses: Vec<(u16, bool)>,
}

impl Rules {
    /// Returns the shipped rules and the user's (name and text), with the errors in that file.
    ///
    /// An invalid rule is left out and reported with its line; the others work.
    pub fn read(own: Option<(&str, &str)>) -> (Arc<Self>, Vec<String>) {
        static SHIPPED_RULES: LazyLock<(Arc<Rules>, Vec<String>)> = LazyLock::new(|| Rules::parse(None));
        if own.is_none() { SHIPPED_RULES.clone() } else { Self::parse(own) }
    }

    fn parse(own: Option<(&str, &str)>) -> (Arc<Self>, Vec<String>) {
        let mut rules: Vec<Rule> = Vec::new();
        let mut problems = Vec::new();
        for (name, text) in SHIPPED {
            read(name, text, true, &mut rules, &mut problems);
        }
        own.into_iter().for_each(|(name, text)| read(name, text, false, &mut rules, &mut problems));
        let mut texts = Vec::new();
        let mut uses = Vec::new();
        for (rule, number) in rules.iter_mut().zip(0_u16..) {
            rule.first = texts.len();
            let others = rule.any.iter().chain(&rule.all).chain(&rule.none).map(|text| (text, false));
            for (text, is_program) in others.chain(rule.program.iter().map(|text| (text, true))) {
                texts.push(text.to_ascii_lowercase());
                uses.push((number, is_program));
            }
        }
        let texts = AhoCorasick::new(texts).unwrap_or_else(|error| {
            problems.push(format!("the rules are too large to be used: {error}"));
            uses.clear();
            AhoCorasick::new([""; 0]).unwrap_or_else(|_| unreachable!("no text is not too large"))
        });
        (Arc::new(Self { rules, texts, uses }), problems)
    }

    pub fn rule(&self, number: u16) -> Option<&Rule> {
        self.rules.get(usize::from(number))
    }

    /// Returns the techniques of rules that mark a report's rows, by tactic, most severe first.
    fn techniques(&self, report: &Report, rows: &BTreeMap<Mark, HashSet<u64>>) -> Vec<FoundTechnique> {
        let mut found = BTreeMap::<&str, FoundTechnique>::new();
        for ((severity, number), rows) in rows {
            let Some(rule) = self.rule(*number) else { continue };
            for id in rule.attack.iter().filter(|id| id.starts_with("T1") && Technique::of(id.as_bytes()).is_some()) {
                let technique = found.entry(id).or_insert_with(|| FoundTechnique {
                    id: id.as_str().into(),
                    severity: *severity,
                    rules: Vec::new(),
                    rows: HashSet::new(),
                    is_named: false,
                });
                technique.rows.extend(rows);
                if !technique.rules.contains(&rule.name) {
                    technique.rules.push(rule.name.clone());
                }
            }
        }
        for (number, section) in report.index.sections.iter().enumerate() {
            let is_technique = section.attribute.is_some_and(Attribute::is_technique);
            for row in report.each_row(number).filter(|_| is_technique) {
                let row = row.in_line();
                let id = row.pieces.iter().find_map(Piece::value).map(|id| String::from_utf8_lossy(id.as_bytes()));
                let technique = id.and_then(|id| found.get_mut(id.trim()));
                technique.into_iter().for_each(|technique| technique.is_named = true);
            }
        }
        let mut found: Vec<_> = found.into_values().collect();
        found.sort_by_key(|technique| (attack::rank(&technique.id), technique.severity));
        found
    }
}

/// Adds the valid rules of a file, and the errors of the others.
fn read(name: &str, text: &str, is_shipped: bool, rules: &mut Vec<Rule>, problems: &mut Vec<String>) {
    let mut problem = |at: usize, why: &str, so: &str| {
        let line = text.get(..at).unwrap_or_default().matches('\n').count() + 1;
        let why = Untrusted::from(why.lines().collect::<Vec<_>>().join(" ")).visible_cut(300);
        problems.push(format!("{name}, line {line}: {why}; {so}."));
    };
    let file: RuleFile = match toml::from_str(text) {
        Ok(file) => file,
        Err(error) => {
            let at = error.span().map_or(0, |span| span.start);
            return problem(at, error.message(), "none of its rules is used");
        }
    };
    let mut regexes = 0;
    let mut is_full = false;
    for written in file.rule {
        let at = written.span().start;
        let table = written.into_inner();
        let more = ["regex", "unless"].into_iter().filter(|name| table.contains_key(*name)).count();
        if rules.len() >= MAX_RULES || more > 0 && regexes + more > MAX_REGEXES {
            if !std::mem::replace(&mut is_full, true) {
                let why = "there are more than 65,535 rules or 1,000 regular expressions";
                problem(at, why, "from here on such rules are not used, the others are");
            }
            continue;
        }
        regexes += more;
        let rule = table.try_into().map_err(|error: toml::de::Error| error.message().to_owned());
        match rule.and_then(|mut rule: Rule| rule.check(is_shipped).map(|()| rule)) {
            Ok(rule) => rules.push(rule),
            Err(why) => problem(at, &why, "that rule is not used, the others are"),
        }
    }
}

#[cfg(test)]
mod tests;
