//! `behaview compare`: shows which sandbox saw which items, for one file or two, from stored
//! reports.

use super::output::{print_json, print_text};
use super::setup::say;
use super::{Common, FailureKind, Setup, document, parse_sha256, search, setup};
use crate::app::compare::{Only, cut, sides};
use crate::app::list::List;
use crate::gateway::Gateway;
use crate::quota::{Entitlements, Plan};
use crate::report::compare::{ComparedItem, MOST_COLUMNS, Matrix};
use crate::report::identifier::{Identifier, Sha256};
use crate::report::{Body, Pane};
use crate::request::Request;
use crate::runtime::held_of;
use crate::text::{Untrusted, count};
use clap::builder::PossibleValue;
use clap::{Args, ValueEnum};
use serde::Serialize;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;

const EXAMPLES: &str = "\
Examples:
  file=57874b32c2596f25db81f780cb7ae5bd2277ff9ca0176b87fecf2352ec56938c
  behaview compare $file                             # what each sandbox saw
  behaview compare --only all --pane network $file   # what all of them saw
  behaview compare --only here --sandbox 2 $file     # the second sandbox alone
  behaview compare --only all --with $file $file     # two files in common
  behaview compare --json $file                      # the same for programs";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct CompareArgs {
    /// SHA-256 of a privately scanned file, or a saved report or list page (- for standard input)
    file: OsString,
    /// Further saved reports or list pages, each held against the others
    #[arg(value_name = "DOCUMENT")]
    others: Vec<OsString>,
    /// SHA-256 of another file, held against the first as a whole
    #[arg(long, value_name = "SHA256")]
    with: Option<String>,
    /// Only items of this pane
    #[arg(long, value_name = "NAME", value_parser = super::inputs::pane)]
    pane: Option<Pane>,
    /// Only items that were seen so
    #[arg(long, value_enum, value_name = "WHICH", default_value_t = Only::Any)]
    only: Only,
    /// The sandbox that "here" means, by its number or the start of its name; the first held one unless given
    #[arg(long, value_name = "NAME")]
    sandbox: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl ValueEnum for Only {
    fn value_variants<'a>() -> &'a [Self] {
        &[Self::Any, Self::All, Self::Some, Self::Here, Self::NotHere]
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        let (name, help) = match self {
            Self::Any => ("any", "Everything"),
            Self::All => ("all", "Seen in all"),
            Self::Some => ("some", "Seen in some, not in all, or told otherwise by some"),
            Self::Here => ("here", "Seen only here, or told otherwise"),
            Self::NotHere => ("not-here", "Seen elsewhere, not here, or told otherwise"),
        };
        Some(PossibleValue::new(name).help(help))
    }
}

/// One sandbox in the comparison.
struct ComparedSandbox {
    side: usize,
    file: Option<Sha256>,
    /// The name of its document.
    document: Option<Untrusted>,
    identifier: Option<Identifier>,
    body: Option<Body>,
}

impl ComparedSandbox {
    fn sandbox(&self) -> Option<Untrusted> {
        self.identifier.as_ref().map(|identifier| identifier.parts().sandbox)
    }
}

/// The sandboxes to compare, and the gaps in their stored data.
#[derive(Default)]
struct Compared {
    columns: Vec<ComparedSandbox>,
    /// Whether further sandboxes may be on pages that are not stored.
    has_more_pages: bool,
    /// Why not everything is compared.
    gap: Option<&'static str>,
    /// Sandboxes beyond the maximum of a comparison.
    left_out: usize,
    /// The price of the missing reports.
    missing: Option<String>,
    /// A remark on reports that are stored for other profiles only.
    elsewhere: String,
    /// For pricing missing reports.
    entitled: Entitlements,
}

impl CompareArgs {
    pub(super) fn run(self, common: &Common) -> anyhow::Result<()> {
        let compared = match document::services(&self.file) {
            Some(file) => self.files(file, common)?,
            None => self.documents()?,
        };
        if compared.columns.iter().all(|column| column.body.is_none()) {
            let missing = compared.missing.map(|price| format!("; its reports cost {price}")).unwrap_or_default();
            let elsewhere = compared.elsewhere;
            fail!(NotFound, "nothing is held of this file{elsewhere}{missing}. behaview list fetches them");
        }
        let bodies: Vec<_> = compared.columns.iter().map(|column| column.body.clone()).collect();
        let known: Vec<_> = compared.columns.iter().map(|column| (column.side, column.body.is_some())).collect();
        let (matrix, here) = (Matrix::of(&bodies), self.here(&compared)?);
        let numbers = matrix.select(self.pane, self.only, &sides(&known), here);
        if self.json {
            print_json(&CompareOutput::new(&compared, &matrix, &numbers, Untrusted::unicode))?;
        } else {
            print_text(&CompareOutput::new(&compared, &matrix, &numbers, visible).to_string())?;
        }
        compared.gap.map_or(Ok(()), |gap| Err(FailureKind::Partial.error(gap).into()))
    }

    /// The known sandboxes of one file or two.
    fn files(&self, file: &str, common: &Common) -> anyhow::Result<Compared> {
        if !self.others.is_empty() {
            let words = "another file of the service's is named by --with: behaview compare A --with B. Documents are compared \
                         with documents: behaview compare one.json two.json";
            fail!(Usage, "{words}");
        }
        let Setup { gateway, entitled, .. } = setup(common)?;
        let mut compared = Compared { entitled, ..Compared::default() };
        let mut files = vec![parse_sha256(file)?];
        files.extend(self.with.as_deref().map(parse_sha256).transpose()?);
        for (side, file) in files.iter().enumerate() {
            let (pages, reports) = held_of(&gateway, file)?;
            let mut list = List::unasked(file.clone());
            list.take_recalled(pages, reports);
            compared.columns.extend(list.entries().iter().map(|entry| ComparedSandbox {
                side,
                file: Some(file.clone()),
                document: None,
                identifier: entry.identifier.clone(),
                body: entry.here().map(|here| here.body.clone()),
            }));
            compared.has_more_pages |= list.has_more_pages();
            if say_if_list_aside(&gateway, file, &compared.entitled)? {
                compared.gap = Some("what only that list may have is not compared");
            }
            if side == 0 {
                compared.elsewhere = elsewhere(&gateway, file)?;
            }
        }
        compared.left_out = cut(&mut compared.columns);
        compared.missing = price(&compared.columns, &compared.entitled);
        Ok(compared)
    }

    /// The reports of documents, each document against the others, or the reports of a single one.
    fn documents(&self) -> anyhow::Result<Compared> {
        let all = || std::iter::once(&self.file).chain(&self.others);
        if self.with.is_some() || all().any(|document| document::services(document).is_some()) {
            let words = "documents are compared with documents, one after another: behaview compare one.json two.json";
            fail!(Usage, "{words}");
        }
        let mut compared = Compared::default();
        for (side, path) in all().enumerate() {
            let document = document::read(path)?;
            document.refuse_if_other("leave it out to compare the others")?;
            if document.unread_parts() > 0 {
                compared.gap = Some("what could not be read is not compared");
            }
            let name = Some(Untrusted::from(document.name));
            compared.columns.extend(document.reports.into_iter().map(|(identifier, here)| ComparedSandbox {
                side,
                file: None,
                document: name.clone(),
                identifier,
                body: Some(here.body),
            }));
        }
        compared.left_out = cut(&mut compared.columns);
        Ok(compared)
    }

    /// The column meant by "here"; an error if its report is missing and the selection needs it.
    fn here(&self, compared: &Compared) -> anyhow::Result<usize> {
        let here = self.named(&compared.columns)?;
        let missing = compared.columns.get(here).filter(|column| column.body.is_none());
        let Some(column) = missing.filter(|_| matches!(self.only, Only::Here | Only::NotHere)) else { return Ok(here) };
        let cost = price(std::slice::from_ref(column), &compared.entitled);
        let way =
            column.identifier.as_ref().zip(cost).map(|(identifier, cost)| {
                format!(". behaview show {} fetches it: {cost}", identifier.text().visible())
            });
        let way = way.unwrap_or_default();
        fail!(NotFound, "what {} saw is not held{way}", name(column));
    }

    /// The column of `--sandbox`, or by default the first with a stored report.
    fn named(&self, columns: &[ComparedSandbox]) -> anyhow::Result<usize> {
        let Some(wanted) = &self.sandbox else {
            return Ok(columns.iter().position(|column| column.body.is_some()).unwrap_or(0));
        };
        let number = wanted.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
        let is_named = |column: &ComparedSandbox| name(column).to_lowercase().starts_with(&wanted.to_lowercase());
        let found = number.filter(|number| *number < columns.len()).or_else(|| columns.iter().position(is_named));
        let known = || columns.iter().map(name).collect::<Vec<_>>().join(", ");
        Ok(found.ok_or_else(|| FailureKind::Usage.error(format!("there is no such sandbox; there are {}", known())))?)
    }
}

/// Reports that the file's stored list is unreadable, with the price of listing the file again.
/// Returns whether that is the case.
fn say_if_list_aside(gateway: &Gateway, file: &Sha256, entitled: &Entitlements) -> anyhow::Result<bool> {
    let Some(aside) = gateway.list_quarantined(file)? else { return Ok(false) };
    let listing = gateway.client().profile().listing;
    let list = Request::Behaviours { file: file.clone(), listing, cursor: None }.quote(entitled);
    let price = list.price().short();
    say(format!("{}: {}. behaview list fetches it again: {price}", file.short(), aside.words()));
    Ok(true)
}

/// A remark on a file's reports that are stored for other profiles only, possibly from other
/// services.
fn elsewhere(gateway: &Gateway, file: &Sha256) -> anyhow::Result<String> {
    let mut profiles = BTreeMap::<String, u64>::new();
    for held in gateway.store().every_report(gateway.service())? {
        if let Some(profile) = held.elsewhere.filter(|_| held.file.as_ref() == Some(file)) {
            *profiles.entry(profile).or_default() += 1;
        }
    }
    let said = profiles.into_iter().map(|(profile, reports)| {
        let name = Untrusted::from(profile).visible_cut(40);
        format!(" with this profile, but {} with --profile {name}", count(reports, "report"))
    });
    Ok(said.collect::<Vec<_>>().join(","))
}

/// The total price of the missing reports; `None` if none is missing.
fn price(columns: &[ComparedSandbox], entitled: &Entitlements) -> Option<String> {
    let mut plan = Plan::new();
    let missing = columns.iter().filter(|column| column.body.is_none()).filter_map(|column| column.identifier.clone());
    missing.for_each(|identifier| plan.add(Request::Behaviour { identifier }.operation(), entitled));
    let words = plan.totals().into_iter().map(|(unit, total)| total.words(unit)).collect::<Vec<_>>().join(", ");
    Some(words).filter(|words| !words.is_empty())
}

fn name(column: &ComparedSandbox) -> String {
    column.sandbox().as_ref().map(visible).unwrap_or_default()
}

fn visible(text: &Untrusted) -> String {
    text.visible().to_string()
}

/// Maximum number of values that one sandbox has of an item.
const MOST_TOLD: usize = 50;

/// The output of `compare`; its untrusted text is prepared for JSON or for a terminal.
#[derive(Serialize)]
struct CompareOutput {
    columns: Vec<ColumnOutput>,
    /// Whether further sandboxes may be on pages that are not stored.
    more: bool,
    /// Sandboxes beyond the maximum of 64.
    left_out: usize,
    /// The price of the missing reports.
    missing: Option<String>,
    items: Vec<ItemOutput>,
}

#[derive(Serialize)]
struct ColumnOutput {
    number: usize,
    file: Option<String>,
    /// The name of its document.
    document: Option<String>,
    id: String,
    sandbox: String,
    held: bool,
    /// The number of printed items that it saw.
    items: usize,
    /// The file in short, or the document.
    #[serde(skip)]
    title: String,
}

#[derive(Serialize)]
struct ItemOutput {
    pane: &'static str,
    /// The action.
    what: String,
    item: String,
    /// Numbers of the columns that saw it.
    seen: Vec<usize>,
    /// Numbers of the columns whose list lacks it, but may have been truncated by the service.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    perhaps_unlisted: Vec<usize>,
    /// Whether another sandbox has a different value; `item` is the first one's.
    differs: bool,
    /// The values of each sandbox, if they differ.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    told: Vec<Variants>,
    /// The pane as it is named on the screen.
    #[serde(skip)]
    title: &'static str,
    /// Numbers of the columns with another value than the first.
    #[serde(skip)]
    others: Vec<usize>,
}

/// The values of one sandbox for an item, at most [`MOST_TOLD`].
#[derive(Clone, Serialize)]
struct Variants {
    number: usize,
    items: Vec<String>,
}

impl CompareOutput {
    /// The items of these numbers; `shown` prepares untrusted text.
    fn new(compared: &Compared, matrix: &Matrix, numbers: &[u32], shown: fn(&Untrusted) -> String) -> Self {
        let items: Vec<&ComparedItem> = numbers.iter().filter_map(|n| matrix.items().get(*n as usize)).collect();
        let columns = compared.columns.iter().enumerate().map(|(n, column)| {
            let document = || column.document.as_ref().map(|name| name.visible_cut(40).to_string());
            ColumnOutput {
                number: n + 1,
                file: column.file.as_ref().map(ToString::to_string),
                document: column.document.as_ref().map(shown),
                id: column.identifier.as_ref().map(|identifier| shown(identifier.text())).unwrap_or_default(),
                sandbox: column.sandbox().as_ref().map(shown).unwrap_or_default(),
                held: column.body.is_some(),
                items: items.iter().filter(|item| item.seen >> n & 1 == 1).count(),
                title: column.file.as_ref().map(Sha256::short).or_else(document).unwrap_or_default(),
            }
        });
        let columns_of = |is_meant: &dyn Fn(usize) -> bool| {
            (0..compared.columns.len()).filter(|n| is_meant(*n)).map(|n| n + 1).collect::<Vec<_>>()
        };
        let item = |(item, told): (&&ComparedItem, Vec<Variants>)| {
            let row = matrix.row(item);
            ItemOutput {
                pane: item.pane.name(),
                what: search::label(&row, shown),
                item: search::text(&row, shown),
                seen: columns_of(&|n| item.seen >> n & 1 == 1),
                perhaps_unlisted: columns_of(&|n| matrix.is_perhaps_unlisted(item, n)),
                differs: item.other != 0,
                told,
                title: crate::app::panes::info(item.pane).map_or("", |info| info.title),
                others: columns_of(&|n| item.other >> n & 1 == 1),
            }
        };
        Self {
            columns: columns.collect(),
            more: compared.has_more_pages,
            left_out: compared.left_out,
            missing: compared.missing.clone(),
            items: items.iter().zip(variants(matrix, numbers, shown)).map(item).collect(),
        }
    }
}

impl fmt::Display for CompareOutput {
    /// A legend, then one item per line: marks, pane, action, value. Different values of other
    /// sandboxes follow, one per line with the sandbox's number.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for ColumnOutput { number, sandbox, title, held, .. } in &self.columns {
            writeln!(f, "{number:>2}  {sandbox:<24}  {title:<13}  {}", if *held { "held" } else { "not held" })?;
        }
        if let Some(price) = &self.missing {
            writeln!(f, "holding what is not held costs {price}: behaview show <identifier>")?;
        }
        if self.more {
            writeln!(f, "further sandboxes may be on pages that are not held: behaview list --all <sha256>")?;
        }
        if self.left_out > 0 {
            writeln!(f, "sandboxes left out: {}; {MOST_COLUMNS} are compared at most", self.left_out)?;
        }
        if self.items.iter().any(|item| item.differs) {
            writeln!(f, "≠  tells something else, or less, than the first that saw it: below it, by number")?;
        }
        if self.items.iter().any(|item| !item.perhaps_unlisted.is_empty()) {
            writeln!(f, "?  not listed, by a list that was perhaps cut by the service, or not held")?;
        }
        writeln!(f)?;
        for item in &self.items {
            let mark = |column: &ColumnOutput| match &column.number {
                number if !column.held || item.perhaps_unlisted.contains(number) => '?',
                number if item.others.contains(number) => '≠',
                number if item.seen.contains(number) => 'x',
                _ => '.',
            };
            let marks: String = self.columns.iter().map(mark).collect();
            writeln!(f, "{marks}  {:<22}  {:<14}  {}", item.title, item.what, item.item)?;
            for told in item.told.iter().filter(|told| item.others.contains(&told.number)) {
                for thing in &told.items {
                    writeln!(f, "{:>1$}  {thing}", told.number, self.columns.len() + 40)?;
                }
            }
        }
        Ok(())
    }
}

/// The values of each sandbox, for those of these items that differ.
fn variants(matrix: &Matrix, numbers: &[u32], shown: fn(&Untrusted) -> String) -> Vec<Vec<Variants>> {
    let mut all = vec![Vec::<Variants>::new(); numbers.len()];
    matrix.each_of_differing(&mut |item, column, row| {
        let Some(told) = numbers.binary_search(&item).ok().and_then(|at| all.get_mut(at)) else { return };
        let (number, text) = (column + 1, search::text(&row, shown));
        match told.last_mut().filter(|told| told.number == number) {
            Some(told) if told.items.len() >= MOST_TOLD || told.items.contains(&text) => {}
            Some(told) => told.items.push(text),
            None => told.push(Variants { number, items: vec![text] }),
        }
    });
    all
}
