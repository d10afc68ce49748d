//! `behaview compare`: which sandbox saw which items, of one file or two, from stored reports.

use super::*;
use crate::app::compare::{MatrixColumn, SeenFilter, cut, difference, sides};
use crate::app::list::List;
use crate::export::{Export, ExportContext, FORMATS};
use crate::quota::Price;
use crate::report::compare::{BY_RULES_SIGN, ComparedItem, MAX_COLUMNS, Matrix, NOT_LISTED};
use crate::report::rules::Rules;
use crate::runtime::load_file;
use crate::text::ColumnWidth;
use clap::builder::PossibleValue;
use std::fmt::Write as _;

#[derive(Debug, Args)]
#[command(after_help = examples("compare"))]
pub(super) struct CompareArgs {
    /// SHA-256 of a privately scanned file, or a saved report or list page (- for standard input)
    file: OsString,
    /// Further saved reports or list pages, each compared with the others
    #[arg(value_name = "DOCUMENT")]
    others: Vec<OsString>,
    /// SHA-256 of another file, compared with the first as a whole
    #[arg(long, value_name = "SHA256")]
    with: Option<String>,
    /// Only items of this pane
    #[arg(long, value_name = "NAME", value_parser = super::document::pane)]
    pane: Option<Pane>,
    /// Only items that were seen so
    #[arg(long, value_enum, value_name = "WHICH", default_value_t = SeenFilter::Any)]
    only: SeenFilter,
    /// The sandbox that "here" means, by its number or the start of its name; the first stored one
    /// unless given
    #[arg(long, value_name = "NAME")]
    sandbox: Option<String>,
    #[command(flatten)]
    form: FormatFlags,
    /// Print an ATT&CK Navigator layer: techniques only of the file (of several sandboxes or
    /// documents, of the one that --sandbox names), only of the others, and of both
    #[arg(long, conflicts_with_all = ["json", "pane", "only"])]
    navigator: bool,
}

impl ValueEnum for SeenFilter {
    fn value_variants<'a>() -> &'a [Self] {
        &Self::ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        let help = match self {
            Self::Any => "Everything",
            Self::All => "Seen in all",
            Self::Some => "Seen in some, not in all, or with other values",
            Self::Here => "Seen only here, or with other values",
            Self::NotHere => "Seen elsewhere, not here, or with other values",
        };
        Some(PossibleValue::new(self.name()).help(help))
    }
}

#[derive(Default, Serialize)]
struct CompareOutput {
    columns: Vec<ColumnOutput>,
    /// Whether further sandboxes may be on pages that are not stored.
    more: bool,
    /// Sandboxes beyond the maximum of 64.
    left_out: usize,
    /// The price of the reports that are not stored.
    missing_price: Option<Price>,
    items: Vec<ItemOutput>,
}

#[derive(Default, Serialize)]
struct ColumnOutput {
    number: usize,
    file: Option<String>,
    document: Option<String>,
    id: String,
    sandbox: String,
    stored: bool,
    items_seen: usize,
    /// The lists that the service may have cut.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    perhaps_cut: Vec<String>,
}

#[derive(Serialize)]
struct ItemOutput {
    pane: &'static str,
    label: String,
    text: String,
    seen: Vec<usize>,
    /// Numbers of the columns of `seen` where rules alone find it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    by_rules: Vec<usize>,
    /// Numbers of the columns whose list lacks it, but may have been truncated by the service.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    unknown: Vec<usize>,
    /// Whether another sandbox has a different value; `text` is the first one's.
    differs: bool,
    /// The values of each sandbox, if they differ.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    details: Vec<ItemValues>,
    /// Numbers of the columns with another value than the first.
    #[serde(skip)]
    others: Vec<usize>,
    /// Signs that show how each column saw the item, one per column.
    #[serde(skip)]
    signs: String,
    /// The pane as it is named on the screen.
    #[serde(skip)]
    title: &'static str,
}

/// The values of one sandbox for an item, at most [`MAX_VALUES`].
#[derive(Serialize)]
struct ItemValues {
    number: usize,
    texts: Vec<String>,
}

const MIXED: &str = "files are compared by --with, and documents with documents: behaview compare one.json two.json";

const MAX_VALUES: usize = 50;

/// Maximum columns of the names of kinds and tactics: those of "Command and Control".
const MAX_LABEL: usize = 19;

impl CompareArgs {
    pub(super) fn run(self, common: &Common) -> Result<()> {
        let mut shown = CompareOutput::default();
        let mut gap = Ok(());
        let (mut columns, files, entitled) = match document::as_service_name(&self.file) {
            Some(file) => self.files(file, common, (&mut shown.more, &mut gap))?,
            None => (self.documents(&mut gap)?, Vec::new(), Entitlements::default()),
        };
        shown.left_out = cut(&mut columns);
        if shown.left_out > 0 {
            warn(format!("sandboxes left out: {}; {MAX_COLUMNS} are compared at most", shown.left_out));
        }
        shown.missing_price = price(&columns, &entitled);
        if !columns.iter().any(MatrixColumn::is_compared) {
            let missing =
                shown.missing_price.map(|price| format!("; its reports cost {}", price.short())).unwrap_or_default();
            fail!(NotFound, "nothing is stored of this file with this profile{missing}. behaview list fetches them");
        }
        let here = self.here(&columns, &entitled)?;
        let bodies: Vec<_> = columns.iter().map(|column| column.body.clone()).collect();
        let rules = own_rules();
        if self.navigator {
            print_layer(&columns, here, &rules)?;
            return gap;
        }
        let matrix = Matrix::of(&bodies).with_techniques(&rules, &Cancel::default())?;
        let numbers = matrix.select(self.pane, self.only, &sides(&columns), here);
        shown.columns = columns.iter().map(|column| ColumnOutput::of(column, files.get(column.side))).collect();
        shown.fill(&matrix, &numbers, if self.form.json { Untrusted::unicode } else { |text| text.visible().into() });
        print(self.form.json, &shown, || shown.text())?;
        if shown.items.is_empty() {
            hint(match matrix.items() {
                [] => "nothing is left to compare: the reports have no items",
                _ => "nothing is left: no item matches --only and --pane",
            });
        }
        gap
    }

    fn files(
        &self,
        file: &str,
        common: &Common,
        (more, gap): (&mut bool, &mut Result<()>),
    ) -> Result<(Vec<MatrixColumn>, Vec<Sha256>, Entitlements)> {
        if !self.others.is_empty() {
            fail!(Usage, "{MIXED}");
        }
        let Setup { gateway, entitled, .. } = setup(common, Spending::default())?;
        let mut files = vec![parse_sha256(file)?];
        files.extend(self.with.as_deref().map(parse_sha256).transpose()?);
        let mut columns = Vec::new();
        for (side, file) in files.iter().enumerate() {
            let (loaded, unread) = load_file(&gateway, file)?;
            unread.into_iter().try_for_each(|(report, rest)| report.finish(rest).map(drop))?;
            let mut list = List::not_requested(file.clone());
            list.take_loaded(loaded);
            columns.extend(MatrixColumn::of(&list, side));
            *more |= list.has_more_pages();
            let list = gateway.list_of(file);
            if let Some(aside) = gateway.unreadable(&list)? {
                let price = list.quote(&entitled).price().short();
                warn(format!("{}: {}. behaview list fetches it again: {price}", file.short(), aside));
                *gap = Err(FailureKind::Partial.error("items that only that list may have are not compared").into());
            }
        }
        Ok((columns, files, entitled))
    }

    /// Returns reports of documents, each against the others, or those of a single one.
    fn documents(&self, gap: &mut Result<()>) -> Result<Vec<MatrixColumn>> {
        let all = || std::iter::once(&self.file).chain(&self.others);
        if self.with.is_some() || all().any(|document| document::as_service_name(document).is_some()) {
            fail!(Usage, "{MIXED}");
        }
        let mut columns = Vec::new();
        for (side, path) in all().enumerate() {
            let document = document::read_of(path.as_ref(), 1 + self.others.len())?;
            document.refuse_if_other("leave it out to compare the others")?;
            if document.unread > 0 {
                *gap = Err(FailureKind::Partial.error("unreadable documents are not compared").into());
            }
            columns.extend(document.reports.into_iter().enumerate().map(|(entry, (identifier, here))| MatrixColumn {
                name: identifier.as_ref().map_or_else(|| Untrusted::from(""), |named| named.parts().sandbox),
                document: Some(Untrusted::from(document.name.as_str())),
                side,
                identifier,
                entry,
                body: Some(here.body),
            }));
        }
        Ok(columns)
    }

    /// Returns the column of "here"; an error if the selection needs its report, which is missing.
    fn here(&self, columns: &[MatrixColumn], entitled: &Entitlements) -> Result<usize> {
        let name = |column: &MatrixColumn| column.name.visible().to_string();
        let Some(wanted) = &self.sandbox else {
            return Ok(columns.iter().position(MatrixColumn::is_compared).unwrap_or(0));
        };
        let number = wanted.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
        let is_named = |column: &MatrixColumn| name(column).to_lowercase().starts_with(&wanted.to_lowercase());
        let found = number.filter(|number| *number < columns.len()).or_else(|| columns.iter().position(is_named));
        let Some((here, column)) = found.and_then(|here| Some((here, columns.get(here)?))) else {
            let known: Vec<_> = columns.iter().map(name).collect();
            fail!(Usage, "unknown sandbox; known are {}", known.join(", "));
        };
        if matches!(self.only, SeenFilter::Here | SeenFilter::NotHere) && !column.is_compared() {
            let cost = price(std::slice::from_ref(column), entitled).zip(column.identifier.as_ref());
            let cost =
                cost.map(|(cost, id)| format!(". behaview show {} fetches it: {}", id.text().visible(), cost.short()));
            fail!(NotFound, "the report of {} is not stored{}", name(column), cost.unwrap_or_default());
        }
        Ok(here)
    }
}

/// Prints the layer of the side of this column against all others.
fn print_layer(columns: &[MatrixColumn], here: usize, rules: &Rules) -> Result<()> {
    let Some((sources, what)) = difference(columns, here) else {
        fail!(NotFound, "a single report is stored: there is nothing to compare it with; --with names another file");
    };
    let job = Export { sources: &sources, what, rules, context: &ExportContext::default(), cancel: &Cancel::default() };
    let format = FORMATS.iter().find(|format| format.can_write(&job.what));
    let mut out = Output::new(false);
    let summary = format.map(|format| format.write(&job, &mut out)).transpose();
    or_end(summary)?.and_then(|summary| summary.missing_label()).iter().for_each(warn);
    Ok(())
}

impl ColumnOutput {
    fn of(column: &MatrixColumn, file: Option<&Sha256>) -> Self {
        let identifier = column.identifier.as_ref();
        Self {
            file: file.map(ToString::to_string),
            document: column.document.as_ref().map(Untrusted::unicode),
            id: identifier.map(|identifier| identifier.text().unicode()).unwrap_or_default(),
            sandbox: identifier.map(|identifier| identifier.parts().sandbox.unicode()).unwrap_or_default(),
            stored: column.is_compared(),
            ..Self::default()
        }
    }
}

/// Returns the total price of the missing reports; `None` if none is missing.
fn price(columns: &[MatrixColumn], entitled: &Entitlements) -> Option<Price> {
    let missing = columns.iter().filter(|column| column.identifier.is_some() && !column.is_compared()).count();
    Plan::of_reports(missing, entitled).prices.pop().filter(|_| missing > 0)
}

impl CompareOutput {
    fn fill(&mut self, matrix: &Matrix, numbers: &[u32], converted: fn(&Untrusted) -> String) {
        let columns = self.columns.len();
        let columns_of = |is_it: &dyn Fn(usize) -> bool| (0..columns).filter(|n| is_it(*n)).map(|n| n + 1).collect();
        let items: Vec<&ComparedItem> = numbers.iter().filter_map(|n| matrix.items().get(*n as usize)).collect();
        for (n, column) in self.columns.iter_mut().enumerate() {
            column.number = n + 1;
            column.perhaps_cut = matrix.cut_lists(n, None).map(|list| list.name.unicode()).collect();
            column.items_seen = items.iter().filter(|item| item.seen >> n & 1 == 1).count();
        }
        self.items.extend(items.iter().map(|item| {
            let (label, text) = matrix.row(item).label_and_text(converted);
            ItemOutput {
                pane: item.pane.name(),
                label,
                text,
                seen: columns_of(&|n| item.seen >> n & 1 == 1),
                by_rules: columns_of(&|n| matrix.technique(item, Some(n)).is_some()),
                unknown: columns_of(&|n| matrix.is_perhaps_unlisted(item, n)),
                differs: item.other != 0,
                details: Vec::new(),
                others: columns_of(&|n| item.other >> n & 1 == 1),
                signs: (0..columns).map(|n| matrix.sign(item, n)).collect(),
                title: item.pane.title(),
            }
        }));
        matrix.each_of_differing(&mut |item, column, row| {
            let Some(item) = numbers.binary_search(&item).ok().and_then(|at| self.items.get_mut(at)) else { return };
            let number = column + 1;
            let text = row.label_and_text(converted).1;
            match item.details.last_mut().filter(|details| details.number == number) {
                Some(details) if details.texts.len() >= MAX_VALUES || details.texts.contains(&text) => {}
                Some(details) => details.texts.push(text),
                None => item.details.push(ItemValues { number, texts: vec![text] }),
            }
        });
    }

    /// Returns a legend, then items: marks, pane, action, value, differing values by number.
    fn text(&self) -> String {
        let mut text = String::new();
        // Writing to a string cannot fail.
        for ColumnOutput { number, sandbox, stored, file, document, .. } in &self.columns {
            let file = file.as_deref().and_then(Sha256::parse).map(|file| file.short());
            let document = || document.as_deref().map(|name| Untrusted::from(name).visible_cut(40).to_string());
            let title = file.or_else(document).unwrap_or_default();
            let sandbox = visible(sandbox);
            let stored = if *stored { "stored" } else { "not stored" };
            let _ = writeln!(text, "{number:>2}  {sandbox:<24}  {title:<13}  {stored}");
        }
        let is_any = |is: fn(&ItemOutput) -> bool| self.items.iter().any(is);
        let price = self.missing_price.as_ref().map(Price::short).unwrap_or_default();
        let remarks = [
            (!self.items.is_empty(), "● seen, · not seen".to_owned()),
            (self.missing_price.is_some(), format!("the missing reports cost {price}: behaview show <identifier>")),
            (self.more, "further sandboxes may be on pages not stored: behaview list --all <sha256>".to_owned()),
            (is_any(|item| item.differs), "≠  differs from the first that saw it: below it, by number".to_owned()),
            (is_any(|item| !item.unknown.is_empty()), format!("?  {NOT_LISTED}, or not stored")),
            (is_any(|item| !item.by_rules.is_empty()), format!("{BY_RULES_SIGN}  by our rules alone")),
        ];
        remarks.into_iter().filter(|(is_so, _)| *is_so).for_each(|(_, words)| text += &(words + "\n"));
        text.push('\n');
        let label = self.items.iter().map(|item| item.label.columns()).max().unwrap_or(0).min(MAX_LABEL);
        for item in &self.items {
            let _ = writeln!(text, "{}  {:<22}  {:<label$}  {}", item.signs, item.title, item.label, item.text);
            for details in item.details.iter().filter(|details| item.others.contains(&details.number)) {
                for value in &details.texts {
                    let _ = writeln!(text, "{:>1$}  {2}", details.number, self.columns.len() + 26 + label, value);
                }
            }
        }
        text
    }
}
