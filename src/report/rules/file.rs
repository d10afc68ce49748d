//! Parses rules: those that are shipped, and those of the user.

use super::Severity;
use crate::report::Attribute;
use crate::text::Untrusted;
use aho_corasick::AhoCorasick;
use regex::bytes::{Regex, RegexBuilder};
use serde::Deserialize;
use std::sync::{Arc, LazyLock};

/// The most texts that a rule can want all at once: a bit each.
const MOST_TEXTS: usize = 64;

/// The most regular expressions of a file. A rule without texts runs its expression on every row,
/// and compiling an expression takes time.
const MOST_REGEXES: usize = 1_000;

/// Why a rule exceeds a limit, and what to do instead. Further such rules are only counted.
const TOO_MANY: [&str; 2] = [
    "there are more than 65,535 rules",
    "there are more than 1,000 regular expressions; what any, all or program can say costs nothing more",
];

/// Names for several attributes: everything that is started, and everything that is left on the
/// disk.
const SEVERAL: [(&str, &[&str]); 2] = [
    ("commands", &["command_executions", "processes_created", "processes_tree", "processes_injected"]),
    ("files", &["files_written", "files_dropped", "files_copied"]),
];

/// The rules that are shipped.
const SHIPPED: &[(&str, &str)] = &[
    ("notable.toml", include_str!("../../../assets/rules/notable.toml")),
    ("noise.toml", include_str!("../../../assets/rules/noise.toml")),
];

/// Rules, ready to judge rows by.
#[derive(Debug)]
pub struct Rules {
    pub(super) rules: Vec<Rule>,
    /// Every text that a rule names.
    pub(super) texts: AhoCorasick,
    /// For each text the rule that names it, and what for.
    pub(super) uses: Vec<(usize, Use)>,
}

#[derive(Debug)]
pub struct Rule {
    pub id: String,
    pub severity: Severity,
    /// What it sees, in a few words.
    pub name: String,
    pub why: String,
    pub attack: Vec<String>,
    pub(super) attributes: Vec<String>,
    /// How many texts a row must contain, by purpose.
    pub(super) wants: Wants,
    pub(super) parent: Vec<String>,
    pub(super) parent_not: Vec<String>,
    /// Program names; the row must contain a name that differs from one of them by one letter.
    pub(super) near: Vec<String>,
    /// Programs of which none runs in the report.
    pub(super) unless_runs: Vec<String>,
    pub(super) regex: Option<Regex>,
    pub(super) unless: Option<Regex>,
    /// How many different `each` of the regular expression a report has with one `same`, for these rows to be marked.
    pub(super) many: usize,
}

/// What a rule wants of its texts.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Wants {
    pub(super) any: bool,
    pub(super) program: bool,
    pub(super) all: usize,
}

/// What a text is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Use {
    Any,
    /// One of several that must all be there, by its number.
    All(usize),
    None,
    Program,
}

impl Rule {
    /// What it sees and why that matters, in a sentence or two.
    pub fn words(&self) -> String {
        let attack = self.attack.iter().map(|id| format!(" · {id}")).collect::<String>();
        format!("{}. {} (rule {}{attack})", self.name, self.why, self.id)
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    rule: Vec<toml::Spanned<toml::Table>>,
}

/// A rule as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    id: String,
    severity: Severity,
    name: String,
    why: String,
    #[serde(default)]
    attack: Vec<String>,
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
    regex: Option<String>,
    unless: Option<String>,
    #[serde(default)]
    many: usize,
}

impl Written {
    /// How many regular expressions it has.
    fn regexes(&self) -> usize {
        usize::from(self.regex.is_some()) + usize::from(self.unless.is_some())
    }
}

fn compiled(regex: Option<&str>) -> Result<Option<Regex>, String> {
    let built = regex.map(|regex| RegexBuilder::new(regex).case_insensitive(true).build());
    built.transpose().map_err(|error| format!("the regular expression is wrong: {error}"))
}

/// Rules that are being read.
#[derive(Default)]
struct RuleParser {
    rules: Vec<Rule>,
    texts: Vec<String>,
    uses: Vec<(usize, Use)>,
    problems: Vec<String>,
    /// How many the file has so far.
    regexes: usize,
}

impl Rules {
    /// The rules that are shipped, and those of the user's file; with the errors in that file, if
    /// any.
    ///
    /// An invalid rule is left out and reported with its line; the others work.
    pub fn read(own: Option<(&str, &str)>) -> (Arc<Self>, Vec<String>) {
        // Compiling the shipped regular expressions takes longer than evaluating most reports.
        static SHIPPED_RULES: LazyLock<(Arc<Rules>, Vec<String>)> = LazyLock::new(|| Rules::parse(None));
        if own.is_none() { SHIPPED_RULES.clone() } else { Self::parse(own) }
    }

    fn parse(own: Option<(&str, &str)>) -> (Arc<Self>, Vec<String>) {
        let mut reading = RuleParser::default();
        SHIPPED.iter().copied().chain(own).for_each(|(name, text)| reading.file(name, text));
        let texts = AhoCorasick::new(&reading.texts);
        let texts = texts.unwrap_or_else(|error| {
            reading.problems.push(format!("the rules are too large to be used: {error}"));
            reading.uses.clear();
            AhoCorasick::new([""; 0]).unwrap_or_else(|_| unreachable!("no text is not too large"))
        });
        (Arc::new(Self { rules: reading.rules, texts, uses: reading.uses }), reading.problems)
    }

    /// The rules that are shipped, alone: what goes to others is the same on every machine.
    pub fn shipped() -> Arc<Self> {
        Self::read(None).0
    }

    pub fn rule(&self, number: u16) -> Option<&Rule> {
        self.rules.get(usize::from(number))
    }

    /// How many rules there are.
    pub fn len(&self) -> usize {
        self.rules.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }
}

impl RuleParser {
    fn file(&mut self, name: &str, text: &str) {
        self.regexes = 0;
        let file: File = match toml::from_str(text) {
            Ok(file) => file,
            Err(error) => {
                let at = error.span().map_or(0, |span| span.start);
                return self.problem(name, text, at, error.message(), "none of its rules is used");
            }
        };
        let mut beyond = TOO_MANY.map(|why| (why, 0, 0));
        for written in file.rule {
            let at = written.span().start;
            let rule = written.into_inner().try_into().map_err(|error: toml::de::Error| error.message().to_owned());
            let Err(why) = rule.and_then(|rule| self.rule(rule)) else { continue };
            match beyond.iter_mut().find(|(limit, ..)| *limit == why) {
                Some((_, first, count)) => (*first, *count) = (if *count == 0 { at } else { *first }, *count + 1),
                None => self.problem(name, text, at, &why, "that rule is not used, the others are"),
            }
        }
        for (why, first, count) in beyond.into_iter().filter(|(.., count)| *count > 0) {
            let so = format!("from here on {count} of them are not used, the others are");
            self.problem(name, text, first, why, &so);
        }
    }

    fn problem(&mut self, name: &str, text: &str, at: usize, why: &str, so: &str) {
        let line = text.get(..at).unwrap_or_default().matches('\n').count() + 1;
        let why = Untrusted::from(why.lines().collect::<Vec<_>>().join(" ")).visible_cut(300);
        self.problems.push(format!("{name}, line {line}: {why}; {so}."));
    }

    /// Refuses a rule that is one too many, before any work is done for it.
    fn check_room(&self, written: &Written) -> Result<(), String> {
        let [rules, regexes] = TOO_MANY;
        match written.regexes() {
            _ if self.rules.len() >= usize::from(u16::MAX) => Err(rules.to_owned()),
            1.. if self.regexes >= MOST_REGEXES => Err(regexes.to_owned()),
            _ => Ok(()),
        }
    }

    fn rule(&mut self, mut written: Written) -> Result<(), String> {
        for (name, several) in SEVERAL {
            if written.attributes.iter().any(|written| written == name) {
                written.attributes.retain(|written| written != name);
                written.attributes.extend(several.iter().map(|name| (*name).to_owned()));
            }
        }
        if let Some(unknown) = written.attributes.iter().find(|name| Attribute::named(name.as_bytes()).is_none()) {
            return Err(format!("there is no attribute {unknown}"));
        }
        self.check_room(&written)?;
        let (regex, unless) = (compiled(written.regex.as_deref())?, compiled(written.unless.as_deref())?);
        let names = |wanted: &str| regex.iter().flat_map(Regex::capture_names).flatten().any(|name| name == wanted);
        if written.many > 0 && !(names("each") && names("same")) {
            return Err("many needs a regular expression with (?P<each>...) and (?P<same>...)".to_owned());
        }
        let texts = [&written.any, &written.all, &written.program, &written.near];
        let is_empty = texts.iter().all(|texts| texts.is_empty()) && regex.is_none();
        if written.all.len() > MOST_TEXTS {
            return Err(format!("{} texts are wanted at once, and a rule may want {MOST_TEXTS}", written.all.len()));
        }
        if is_empty && written.attributes.is_empty() {
            return Err("the rule says nothing of what it looks for".to_owned());
        }
        let number = self.rules.len();
        self.regexes += written.regexes();
        // Every row contains the empty text.
        let is_any = !written.any.is_empty() && !written.any.iter().any(String::is_empty);
        let wants = Wants { any: is_any, program: !written.program.is_empty(), all: written.all.len() };
        let any = written.any.into_iter().filter(|_| is_any).map(|text| (text, Use::Any));
        let all = written.all.into_iter().enumerate().map(|(n, text)| (text, Use::All(n)));
        let none = written.none.into_iter().map(|text| (text, Use::None));
        let program = written.program.into_iter().map(|text| (text, Use::Program));
        for (text, purpose) in any.chain(all).chain(none).chain(program) {
            self.texts.push(text.to_ascii_lowercase());
            self.uses.push((number, purpose));
        }
        let Written {
            id, severity, name, why, attack, attributes, parent, parent_not, near, unless_runs, many, ..
        } = written;
        self.rules.push(Rule {
            id,
            severity,
            name,
            why,
            attack,
            attributes,
            wants,
            parent,
            parent_not,
            near,
            unless_runs,
            regex,
            unless,
            many,
        });
        Ok(())
    }
}
