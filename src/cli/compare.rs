//! `behaview compare`: shows which sandbox saw which items, for one file or two, from stored
//! reports.

use super::output::{print_json, print_text};
use super::setup::say;
use super::{Common, FailureKind, Setup, document, parse_sha256, search, setup};
use crate::app::Here;
use crate::app::compare::{Only, cut, sides};
use crate::app::list::{Entry, List};
use crate::gateway::Gateway;
use crate::quota::{Entitlements, Plan};
use crate::report::compare::{Item, MOST_COLUMNS, Matrix};
use crate::report::identifier::{Identifier, Sha256};
use crate::report::{Body, Pane};
use crate::request::Request;
use crate::runtime::recall::held_of;
use crate::text::{Untrusted, count};
use clap::builder::PossibleValue;
use clap::{Args, ValueEnum};
use serde::Serialize;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt::Write;

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
struct ComparedColumn {
    side: usize,
    file: Option<Sha256>,
    /// The name of its document.
    document: Option<Untrusted>,
    identifier: Option<Identifier>,
    body: Option<Body>,
}

/// The sandboxes to compare, and the gaps in their stored data.
struct Compared {
    columns: Vec<ComparedColumn>,
    /// Whether further sandboxes may be on pages that are not stored.
    has_more_pages: bool,
    /// Whether a stored list cannot be read.
    is_aside: bool,
    /// Parts of documents that could not be parsed.
    unread: u64,
    /// Sandboxes beyond the maximum of a comparison.
    left_out: usize,
    /// The price of the missing reports.
    missing: Option<String>,
    /// A remark on reports that are stored for other profiles only.
    elsewhere: String,
    /// For pricing missing reports; `None` for documents.
    entitled: Option<Entitlements>,
}

impl CompareArgs {
    pub(super) fn run(self, common: &Common) -> anyhow::Result<()> {
        let compared = self.compared(common)?;
        if compared.columns.iter().all(|column| column.body.is_none()) {
            let missing = compared.missing.map(|price| format!("; its reports cost {price}")).unwrap_or_default();
            let elsewhere = compared.elsewhere;
            fail!(NotFound, "nothing is held of this file{elsewhere}{missing}. behaview list fetches them");
        }
        let bodies: Vec<_> = compared.columns.iter().map(|column| column.body.clone()).collect();
        self.print(&compared, &Matrix::of(&bodies))?;
        match compared {
            Compared { is_aside: true, .. } => {
                Err(FailureKind::Partial.error("what only that list may have is not compared").into())
            }
            Compared { unread: 1.., .. } => {
                Err(FailureKind::Partial.error("what could not be read is not compared").into())
            }
            _ => Ok(()),
        }
    }

    fn print(&self, compared: &Compared, matrix: &Matrix) -> anyhow::Result<()> {
        let known: Vec<_> = compared.columns.iter().map(|column| (column.side, column.body.is_some())).collect();
        let (sides, here) = (sides(&known), self.here(compared)?);
        let numbers = matrix.select(self.pane, self.only, &sides, here);
        let items: Vec<&Item> = numbers.iter().filter_map(|n| matrix.items().get(*n as usize)).collect();
        if self.json {
            print_json(&compare_output(compared, matrix, &numbers)?)
        } else {
            print_text(&text(compared, matrix, &items, &variants(matrix, &numbers, visible)))
        }
    }

    fn compared(&self, common: &Common) -> anyhow::Result<Compared> {
        let Some(file) = document::services(&self.file) else { return self.documents() };
        if !self.others.is_empty() {
            let words = "another file of the service's is named by --with: behaview compare A --with B. Documents are compared \
                         with documents: behaview compare one.json two.json";
            fail!(Usage, "{words}");
        }
        let Setup { gateway, entitled, .. } = setup(common)?;
        let files = [Some(file), self.with.as_deref()].into_iter().flatten();
        let (mut columns, mut has_more_pages, mut is_aside) = (Vec::new(), false, false);
        for (side, file) in files.enumerate() {
            let (found, more) = held(&gateway, &parse_sha256(file)?, side)?;
            columns.extend(found);
            has_more_pages |= more;
            is_aside |= say_if_list_aside(&gateway, &parse_sha256(file)?, &entitled)?;
        }
        let left_out = cut(&mut columns);
        let missing = price(&columns, &entitled);
        let elsewhere = elsewhere(&gateway, &parse_sha256(file)?)?;
        Ok(Compared {
            columns,
            has_more_pages,
            is_aside,
            unread: 0,
            left_out,
            missing,
            elsewhere,
            entitled: Some(entitled),
        })
    }

    /// Compares documents with each other, or the reports of a single one.
    fn documents(&self) -> anyhow::Result<Compared> {
        let all = || std::iter::once(&self.file).chain(&self.others);
        if self.with.is_some() || all().any(|document| document::services(document).is_some()) {
            let words = "documents are compared with documents, one after another: behaview compare one.json two.json";
            fail!(Usage, "{words}");
        }
        let (mut columns, mut unread) = (Vec::new(), 0);
        for (side, path) in all().enumerate() {
            let document = document::read(path)?;
            document.refuse_if_other("leave it out to compare the others")?;
            unread += document.unread_parts();
            let name = Some(Untrusted::from(document.name));
            let column = |(identifier, here): (_, Here)| ComparedColumn {
                side,
                file: None,
                document: name.clone(),
                identifier,
                body: Some(here.body),
            };
            columns.extend(document.reports.into_iter().map(column));
        }
        let left_out = cut(&mut columns);
        Ok(Compared {
            columns,
            has_more_pages: false,
            is_aside: false,
            unread,
            left_out,
            missing: None,
            elsewhere: String::new(),
            entitled: None,
        })
    }

    /// The column meant by "here"; an error if its report is missing and the selection needs it.
    fn here(&self, compared: &Compared) -> anyhow::Result<usize> {
        let here = self.named(&compared.columns)?;
        match compared.columns.get(here).filter(|column| column.body.is_none()) {
            Some(column) if matches!(self.only, Only::Here | Only::NotHere) => {
                let cost =
                    compared.entitled.as_ref().and_then(|entitled| price(std::slice::from_ref(column), entitled));
                let words = column.identifier.as_ref().zip(cost).map(|(identifier, cost)| {
                    format!(". behaview show {} fetches it: {cost}", identifier.text().visible())
                });
                let words = words.unwrap_or_default();
                Err(FailureKind::NotFound.error(format!("what {} saw is not held{words}", name(column))).into())
            }
            _ => Ok(here),
        }
    }

    /// The column of `--sandbox`, or by default the first with a stored report.
    fn named(&self, columns: &[ComparedColumn]) -> anyhow::Result<usize> {
        let Some(wanted) = &self.sandbox else {
            return Ok(columns.iter().position(|column| column.body.is_some()).unwrap_or(0));
        };
        let number = wanted.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
        let is_named = |column: &ComparedColumn| name(column).to_lowercase().starts_with(&wanted.to_lowercase());
        let found = number.filter(|number| *number < columns.len()).or_else(|| columns.iter().position(is_named));
        let known = || columns.iter().map(name).collect::<Vec<_>>().join(", ");
        Ok(found.ok_or_else(|| FailureKind::Usage.error(format!("there is no such sandbox; there are {}", known())))?)
    }
}

/// The known sandboxes of a file in page order, and whether further pages may list more.
fn held(gateway: &Gateway, file: &Sha256, side: usize) -> anyhow::Result<(Vec<ComparedColumn>, bool)> {
    let (pages, reports) = held_of(gateway, file)?;
    let mut list = List::unasked(file.clone());
    list.take_recalled(pages, reports);
    let column = |entry: &Entry| {
        let body = entry.here().map(|here| here.body.clone());
        ComparedColumn { side, file: Some(file.clone()), document: None, identifier: entry.identifier.clone(), body }
    };
    Ok((list.entries().iter().map(column).collect(), list.has_more_pages()))
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
fn price(columns: &[ComparedColumn], entitled: &Entitlements) -> Option<String> {
    let mut plan = Plan::new();
    let missing = columns.iter().filter(|column| column.body.is_none()).filter_map(|column| column.identifier.clone());
    missing.for_each(|identifier| plan.add(Request::Behaviour { identifier }.operation(), entitled));
    let words = plan.totals().into_iter().map(|(unit, total)| total.words(unit)).collect::<Vec<_>>().join(", ");
    Some(words).filter(|words| !words.is_empty())
}

fn name(column: &ComparedColumn) -> String {
    column.identifier.as_ref().map(|identifier| identifier.parts().sandbox.visible().to_string()).unwrap_or_default()
}

fn title(pane: Pane) -> &'static str {
    crate::app::panes::info(pane).map_or("", |info| info.title)
}

fn visible(text: &Untrusted) -> String {
    text.visible().to_string()
}

/// Prints a legend, then one item per line: marks, pane, action, value. Different values of other
/// sandboxes follow, one per line with the sandbox's number.
fn text(compared: &Compared, matrix: &Matrix, items: &[&Item], told: &[Vec<Variants>]) -> String {
    let mut out = String::new();
    for (n, column) in compared.columns.iter().enumerate() {
        let state = if column.body.is_some() { "held" } else { "not held" };
        let document = || column.document.as_ref().map(|name| name.visible_cut(40).to_string());
        let file = column.file.as_ref().map(Sha256::short).or_else(document).unwrap_or_default();
        // Writing to a String does not fail.
        let _ = writeln!(out, "{:>2}  {:<24}  {file:<13}  {state}", n + 1, name(column));
    }
    if let Some(price) = &compared.missing {
        let _ = writeln!(out, "holding what is not held costs {price}: behaview show <identifier>");
    }
    if compared.has_more_pages {
        let _ = writeln!(out, "further sandboxes may be on pages that are not held: behaview list --all <sha256>");
    }
    if compared.left_out > 0 {
        let _ = writeln!(out, "sandboxes left out: {}; {MOST_COLUMNS} are compared at most", compared.left_out);
    }
    if items.iter().any(|item| item.other != 0) {
        out.push_str("≠  tells something else, or less, than the first that saw it: below it, by number\n");
    }
    if (0..compared.columns.len()).any(|n| items.iter().any(|item| matrix.is_perhaps_unlisted(item, n))) {
        out.push_str("?  not listed, by a list that was perhaps cut by the service, or not held\n");
    }
    out.push('\n');
    for (item, told) in items.iter().zip(told) {
        let marks = compared.columns.iter().enumerate().map(|(n, column)| match (&column.body, item.seen >> n & 1) {
            (None, _) => '?',
            (Some(_), 1) if item.other >> n & 1 == 1 => '≠',
            (Some(_), 1) => 'x',
            (Some(_), _) if matrix.is_perhaps_unlisted(item, n) => '?',
            (Some(_), _) => '.',
        });
        let row = matrix.row(item);
        let (what, thing) = (search::label(&row, visible), search::text(&row, visible));
        let _ = writeln!(out, "{}  {:<22}  {what:<14}  {thing}", marks.collect::<String>(), title(item.pane));
        for told in told.iter().filter(|told| item.other >> (told.number - 1) & 1 == 1) {
            for thing in &told.items {
                let _ = writeln!(out, "{:>1$}  {thing}", told.number, compared.columns.len() + 40);
            }
        }
    }
    out
}

/// Maximum number of printed values per sandbox and item.
const MOST_TOLD: usize = 50;

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
}

/// The values of one sandbox for an item, at most 50.
#[derive(Clone, Serialize)]
struct Variants {
    number: usize,
    items: Vec<String>,
}

fn compare_output(compared: &Compared, matrix: &Matrix, numbers: &[u32]) -> std::io::Result<CompareOutput> {
    let items: Vec<&Item> = numbers.iter().filter_map(|n| matrix.items().get(*n as usize)).collect();
    let columns = compared.columns.iter().enumerate().map(|(n, column)| ColumnOutput {
        number: n + 1,
        file: column.file.as_ref().map(ToString::to_string),
        document: column.document.as_ref().map(Untrusted::unicode),
        id: column.identifier.as_ref().map(|identifier| identifier.text().unicode()).unwrap_or_default(),
        sandbox: column.identifier.as_ref().map(|identifier| identifier.parts().sandbox.unicode()).unwrap_or_default(),
        held: column.body.is_some(),
        items: items.iter().filter(|item| item.seen >> n & 1 == 1).count(),
    });
    let columns_of = |is_meant: &dyn Fn(usize) -> bool| {
        (0..compared.columns.len()).filter(|n| is_meant(*n)).map(|n| n + 1).collect::<Vec<_>>()
    };
    let item = |(item, told): (&&Item, Vec<Variants>)| {
        let row = matrix.row(item);
        ItemOutput {
            pane: item.pane.name(),
            what: search::label(&row, Untrusted::unicode),
            item: search::text(&row, Untrusted::unicode),
            seen: columns_of(&|n| item.seen >> n & 1 == 1),
            perhaps_unlisted: columns_of(&|n| matrix.is_perhaps_unlisted(item, n)),
            differs: item.other != 0,
            told,
        }
    };
    let told = variants(matrix, numbers, Untrusted::unicode);
    Ok(CompareOutput {
        columns: columns.collect(),
        more: compared.has_more_pages,
        left_out: compared.left_out,
        missing: compared.missing.clone(),
        items: items.iter().zip(told).map(item).collect(),
    })
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
