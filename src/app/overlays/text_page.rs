//! Pages of text: prices, ledger, counters, process timeline, settings, the manual, which is
//! Markdown that is readable as plain text; the details of a row; a response as a folding tree.

use crate::app::overlays::stored::MARK;
use crate::app::overlays::{OverlayScreen, RowWindow};
use crate::app::panes::moving::scrolled;
use crate::app::panes::{FoldStep, Move, Scroll, facts};
use crate::app::spending::Obstacle;
use crate::app::spending::price::RemainingQuota;
use crate::app::{Command, Key, KeyContext, Model, Size};
use crate::quota::{Holder, Price, RULES, Unit};
use crate::report::attack::Technique;
use crate::report::attributes::PERHAPS_CUT;
use crate::report::command_line::decoded;
use crate::report::rows::Line;
use crate::report::tree::ProcessStart;
use crate::report::{Depths, Folds, Report, Row};
use crate::text::{ColumnWidth, Untrusted, Visible, count, table, thousands, to_visible, wrap};
use jiff::Timestamp;

/// Columns of a paragraph's heading, including the gap.
const HEAD: usize = 14;

/// Columns of one level of a row's members.
const INDENT_COLUMNS: usize = 2;

/// The content of a page; [`PageView`] wraps it to the screen and scrolls it.
pub trait PageSource {
    const CONTEXT: KeyContext;

    /// Returns its rows in this many columns.
    fn rows(&self, columns: usize) -> Vec<PageRow>;
}

/// A page over a [`PageSource`].
#[derive(Debug)]
pub struct PageView<S> {
    pub title: String,
    source: S,
    pub top: usize,
    /// The index of the chosen line, which can be copied.
    chosen: usize,
    columns: usize,
    rows: Vec<PageRow>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PageRow {
    /// Columns before the name, and before the text.
    pub indents: [usize; 2],
    /// The name, on the first row of its line or paragraph.
    pub name: Option<Visible>,
    pub text: Visible,
    /// The index of its line, if there are several to choose from.
    line: Option<usize>,
}

/// A paragraph beside its heading.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextRow {
    pub head: String,
    pub text: String,
}

impl<S: PageSource> PageView<S> {
    /// Creates a page; its rows are laid out once it is on the screen.
    pub(super) fn of(title: impl Into<String>, source: S) -> Self {
        Self { title: title.into(), source, top: 0, chosen: 0, columns: 0, rows: Vec::new() }
    }

    pub fn count(&self) -> usize {
        self.rows.len()
    }

    /// Returns the visible rows, each with whether it belongs to the chosen one of several lines.
    pub fn rows(&self) -> impl Iterator<Item = (&PageRow, bool)> {
        self.rows.iter().skip(self.top).map(|row| (row, row.line == Some(self.chosen)))
    }

    fn scroll_by(&mut self, movement: Move, height: usize) {
        self.top = scrolled(self.top, movement, self.count(), height);
    }
}

impl<S: PageSource> OverlayScreen for PageView<S> {
    fn key_context(&self) -> KeyContext {
        S::CONTEXT
    }

    fn height(&self, _: usize) -> usize {
        self.count()
    }

    fn lay_out(&mut self, columns: usize) {
        if columns != self.columns {
            (self.columns, self.rows) = (columns, self.source.rows(columns));
        }
    }

    fn go(&mut self, movement: Move, room: Size, _: Option<RowWindow>) {
        self.scroll_by(movement, room.height.into());
    }
}

pub type TextPage = PageView<PageText>;

/// Text of the program.
#[derive(Debug)]
pub enum PageText {
    Paragraphs(Vec<TextRow>),
    Manual(&'static Topic),
}

impl PageSource for PageText {
    const CONTEXT: KeyContext = KeyContext::TextPage;

    fn rows(&self, columns: usize) -> Vec<PageRow> {
        match self {
            Self::Paragraphs(paragraphs) => {
                let has_heads = paragraphs.iter().any(|paragraph| !paragraph.head.is_empty());
                let indent = if has_heads { HEAD } else { 0 };
                paragraphs.iter().flat_map(|paragraph| paragraph.rows(indent, columns)).collect()
            }
            Self::Manual(topic) => lay_out(topic.text, columns).lines().map(manual_row).collect(),
        }
    }
}

impl TextPage {
    pub fn new(title: &str, paragraphs: Vec<TextRow>) -> Self {
        Self::of(title, PageText::Paragraphs(paragraphs))
    }

    pub(crate) fn refresh(&mut self, newer: Self) {
        *self = Self { top: self.top, ..newer };
    }

    /// Returns the current prices: of each key, then the remaining quota, then each rule once.
    pub(crate) fn prices(model: &Model) -> Self {
        let priced: Vec<_> = Command::applying(model).filter(|(_, command)| command.can_cost()).collect();
        let mut paragraphs: Vec<_> = priced.iter().map(|(key, command)| price_of(model, *key, command)).collect();
        if paragraphs.is_empty() {
            paragraphs.push(paragraph("every key", "0: no enabled key sends a request."));
        } else {
            paragraphs.push(paragraph("every other", "0: it sends nothing to the service."));
            let reasons = reasons(model, &priced);
            let is_paid = |unit: &Unit| reasons.iter().any(|of| of.price.verdict.unit == *unit && !of.price.is_free());
            let left = Unit::ALL.into_iter().filter(is_paid).flat_map(|unit| {
                [Holder::User, Holder::Group].into_iter().filter_map(move |holder| remaining(model, unit, holder))
            });
            paragraphs.extend(left.map(|words| paragraph("left", words)));
            let session = model.quota_state.spent.values().copied().sum();
            let budget = model.quota_state.allowance.as_of(model.now, session).text(session);
            paragraphs.extend(budget.map(|words| paragraph("budget", words)));
            for PriceReason { keys, sentences, .. } in &reasons {
                let keys = keys.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
                let heads = std::iter::once(keys.as_str()).chain(std::iter::repeat(""));
                paragraphs.push(paragraph("", ""));
                paragraphs.extend(heads.zip(sentences).map(|(head, words)| paragraph(head, words.as_str())));
            }
        }
        paragraphs.push(paragraph("", ""));
        paragraphs.push(paragraph(
            "other rules",
            format!(
                "They price what no key here asks: `behaview cost rules` prints all {}. {} prices any operation, {} every \
                 question that is typed.",
                RULES.len(),
                model.key_label("planner"),
                model.key_label("palette")
            ),
        ));
        Self::new("Prices of the keys here", paragraphs)
    }

    /// Returns all settings, each with its table: value and origin in effect, and its description.
    pub(crate) fn settings(settings: &[(String, String)]) -> Self {
        let ways = "`behaview config init` writes the config file, `config path` prints its path, `config show` the values in effect. \
                    keys.COMMAND in it sets the keys of a command.";
        let mut paragraphs = vec![paragraph("", ways)];
        for table in settings.chunk_by(|(one, _), (other, _)| one == other) {
            paragraphs.push(paragraph("", ""));
            paragraphs.extend(table.iter().map(|(_, shown)| paragraph("", shown.as_str())));
        }
        Self::new("Settings", paragraphs)
    }

    pub(crate) fn timeline(model: &Model, columns: usize) -> Self {
        let report = model.open().map(|open| &open.report);
        let mut starts = report.map(|report| report.starts(MAX_PROCESSES)).unwrap_or_default();
        let all = report.and_then(Report::tree).map_or(0, |(_, tree)| tree.len());
        starts.sort_by(|one, other| one.offset.total_cmp(&other.offset));
        let last = starts.iter().map(|start| start.offset).fold(0.0, f64::max);
        let rows: Vec<_> = starts.iter().map(|start| timeline_row(start, last, columns)).collect();
        // Hidden rows are not counted, so rows of processes are all that count.
        let known = if rows.len() == all { String::new() } else { format!("{} of ", thousands(rows.len() as u64)) };
        let none = paragraph("", "The report does not say when its processes started.");
        let rows = if rows.is_empty() { vec![none] } else { rows };
        Self::new(&format!("{TIMELINE} · {known}{}", count(all as u64, "process")), rows)
    }
}

/// Returns a row of the manual; headings stand out.
fn manual_row(line: &str) -> PageRow {
    match line.strip_prefix('#') {
        Some(heading) => {
            let name = to_visible(heading.trim_start_matches(['#', ' ']));
            PageRow { name: Some(name), ..PageRow::default() }
        }
        None => PageRow { text: to_visible(line), ..PageRow::default() },
    }
}

impl TextRow {
    /// Wraps the text to rows beside the heading.
    fn rows(&self, indent: usize, columns: usize) -> impl Iterator<Item = PageRow> {
        let rows = wrap(&self.text, columns.saturating_sub(indent).max(16)).into_iter();
        rows.enumerate().map(move |(number, text)| PageRow {
            indents: [0, indent],
            name: (number == 0).then(|| to_visible(&self.head)),
            text: to_visible(text),
            line: None,
        })
    }
}

pub(crate) fn paragraph(head: &str, text: impl Into<String>) -> TextRow {
    TextRow { head: head.to_owned(), text: text.into() }
}

fn price_of(model: &Model, key: Key, command: &Command) -> TextRow {
    let tag = model.key_price(command);
    let price = match &tag.obstacle {
        Some(Obstacle::InFlight) => "0, the same request is in flight".to_owned(),
        // An obstacle to a later call does not disable the key that leads to it.
        Some(obstacle) if tag.is_deferred && *obstacle != Obstacle::OverBudget => {
            format!("0; what it leads to: {obstacle}")
        }
        _ => tag.label(),
    };
    paragraph(&key.to_string(), format!("{} · {price}", command.label))
}

struct PriceReason {
    keys: Vec<Key>,
    price: Price,
    sentences: Vec<String>,
}

fn reasons(model: &Model, priced: &[(Key, &'static Command)]) -> Vec<PriceReason> {
    let mut reasons: Vec<PriceReason> = Vec::new();
    for (key, command) in priced {
        let tag = model.key_price(command);
        for price in tag.plan.prices.into_iter().filter(|_| tag.obstacle != Some(Obstacle::InFlight)) {
            let sentences = price.explanation();
            match reasons.iter_mut().find(|known| known.sentences == sentences) {
                Some(known) if known.keys.last() == Some(key) => {}
                Some(known) => known.keys.push(*key),
                None => reasons.push(PriceReason { keys: vec![*key], price, sentences }),
            }
        }
    }
    reasons
}

/// Returns the remaining quota of a unit, without the unit's name for requests.
fn remaining(model: &Model, unit: Unit, holder: Holder) -> Option<String> {
    let left = model.quota_state.scarcest(unit, holder, model.now)?;
    let name = if unit == Unit::Request { String::new() } else { format!("Of {}: ", unit.plural()) };
    Some(format!("{name}The {} has {}.", holder.name(), remaining_label(&left)))
}

pub fn remaining_label(RemainingQuota { limit, is_at_most }: &RemainingQuota) -> String {
    let most = if *is_at_most { "at most " } else { "" };
    format!("{most}{} of {} left {}", thousands(limit.remaining), thousands(limit.allowed), limit.period.current())
}

pub(crate) const TIMELINE: &str = "When processes started";

/// Maximum indent levels and listed processes.
const MAX_INDENT: u16 = 8;
const MAX_PROCESSES: usize = 500;

fn timeline_row(start: &ProcessStart, last: f64, columns: usize) -> TextRow {
    let room = columns.saturating_sub(HEAD).max(16);
    let line = (room * 2 / 5).clamp(6, 60) - 1;
    let share = if last > 0.0 { start.offset / last } else { 0.0 };
    // The value is between 0 and the last column, so the cast is lossless.
    let at = ((share * line as f64).round() as usize).min(line);
    let left = room.saturating_sub(line + 3);
    // A child is indented below its parent, up to a limit that leaves room for its name.
    let indent = (2 * usize::from(start.depth.min(MAX_INDENT))).min(left / 2);
    let name = start.name.visible_cut(left.saturating_sub(indent).max(1));
    let text = format!("{}●{}  {}{name}", "·".repeat(at), " ".repeat(line - at), " ".repeat(indent));
    paragraph(&format!("+{}", start.offset), text)
}

pub type Detail = PageView<RowDetail>;

/// A row with all its members, line by line.
#[derive(Debug)]
pub struct RowDetail {
    lines: Vec<Line>,
    remarks: Vec<TextRow>,
}

impl PageSource for RowDetail {
    const CONTEXT: KeyContext = KeyContext::Detail;

    fn rows(&self, columns: usize) -> Vec<PageRow> {
        let number = |number| Some(number).filter(|_| self.lines.len() > 1);
        let lines = self.lines.iter().enumerate().flat_map(|(at, line)| line_rows(number(at), line, columns));
        let hanging = |remark: &TextRow| (remark.head.columns() + 2).min(columns / 3);
        let remarks = self.remarks.iter().flat_map(|remark| remark.rows(hanging(remark), columns));
        let gap = (!self.remarks.is_empty() && !self.lines.is_empty()).then(PageRow::default);
        lines.chain(gap).chain(remarks).collect()
    }
}

impl Detail {
    fn new(title: String, lines: Vec<Line>, remarks: Vec<TextRow>) -> Self {
        let chosen = lines.iter().position(|line| line.value.is_some()).unwrap_or(0);
        Self { chosen, ..Self::of(title, RowDetail { lines, remarks }) }
    }

    pub(super) fn stay(&mut self, before: &Self) {
        (self.top, self.chosen) = (before.top, before.chosen.min(self.source.lines.len().saturating_sub(1)));
    }

    pub(crate) fn chosen(&self) -> Option<&Line> {
        self.source.lines.get(self.chosen)
    }

    pub(crate) fn has_values(&self) -> bool {
        self.source.lines.iter().filter(|line| line.value.is_some()).nth(1).is_some()
    }

    /// Chooses the next or previous line with a value, and scrolls to it.
    pub(crate) fn step(&mut self, forward: bool, height: usize) {
        let has_value = |(_, line): &(usize, &Line)| line.value.is_some();
        let lines = self.source.lines.iter().enumerate();
        let found = if forward {
            lines.skip(self.chosen + 1).find(has_value)
        } else {
            lines.take(self.chosen).rev().find(has_value)
        };
        let Some((chosen, _)) = found else { return };
        self.chosen = chosen;
        let is_its = |row: &PageRow| row.line == Some(chosen);
        let start = self.rows.iter().position(is_its).unwrap_or(0);
        let last = self.rows.iter().rposition(is_its).unwrap_or(0);
        if start < self.top || last >= self.top + height {
            self.scroll_by(Move::First, height);
            self.scroll_by(Move::Down(start), height);
        }
    }
}

/// Maximum of screen rows of one value; longer values are for export.
const MAX_ROWS: usize = 20_000;

fn line_rows(number: Option<usize>, line: &Line, columns: usize) -> impl Iterator<Item = PageRow> + use<> {
    let mut name = line.name.as_ref().map(|name| name.visible_cut(40));
    let indent = (line.depth * INDENT_COLUMNS).min(40);
    let hanging = indent + name.as_ref().map_or(0, |name| name.width() + 2);
    let room = columns.saturating_sub(hanging).max(8);
    let mut values = line.value.iter().flat_map(|value| value.lines(room)).take(MAX_ROWS).collect::<Vec<_>>();
    if values.len() == MAX_ROWS {
        values.push(to_visible("…"));
    }
    values.resize_with(values.len().max(1), Visible::default);
    values.into_iter().map(move |text| PageRow { indents: [indent, hanging], name: name.take(), text, line: number })
}

/// Returns a line, followed by the ATT&CK technique that it names or the decoded command line.
fn explained(line: Line) -> impl Iterator<Item = Line> {
    let depth = line.depth;
    let name = line.name.as_ref();
    let value = line.value.as_ref();
    let id = if name.is_some_and(|name| name.as_bytes() == b"id") { value } else { name };
    let technique = id.and_then(|id| Technique::of(id.as_bytes()));
    let technique = technique.map(|technique| ("→ ATT&CK", Untrusted::from(technique.label())));
    let hidden = value.map(|value| decoded(value.as_bytes())).unwrap_or_default();
    let hidden = hidden.into_iter().map(|text| ("→ decoded", text));
    let more = technique.into_iter().chain(hidden);
    let more = more.map(move |(name, text)| Line { depth, name: Some(Untrusted::from(name)), value: Some(text) });
    std::iter::once(line).chain(more)
}

/// Returns a remark on what a value does not show: that it is empty, or has blanks at its ends.
fn blanks(line: &Line) -> Option<TextRow> {
    let value = line.value.as_ref()?.as_bytes();
    let remark = match (value.is_empty(), value.starts_with(b" "), value.ends_with(b" ")) {
        (true, _, _) => "is empty",
        (_, true, true) => "begins and ends with a blank",
        (_, true, false) => "begins with a blank",
        (_, false, true) => "ends with a blank",
        _ => return None,
    };
    let head = line.name.as_ref().map_or_else(|| "value".to_owned(), |name| name.visible_cut(40).to_string());
    Some(TextRow { head, text: remark.to_owned() })
}

/// A stored response as a tree of its members.
#[derive(Debug)]
pub struct ResponseTree {
    pub title: String,
    pub received: Timestamp,
    pub(crate) lines: Vec<Line>,
    pub(crate) folds: Folds,
    pub scroll: Scroll,
    depths: Depths,
}

impl ResponseTree {
    pub(crate) fn new(title: String, received: Timestamp, lines: Vec<Line>) -> Self {
        let depths: Vec<_> = lines.iter().map(|line| u16::try_from(line.depth).unwrap_or(u16::MAX)).collect();
        Self { title, received, lines, folds: Folds::default(), scroll: Scroll::default(), depths: Depths(depths) }
    }

    pub fn count(&self) -> usize {
        self.folds.len(&self.depths)
    }

    /// Returns the line at a visible position, and whether its children, if any, are hidden.
    pub fn line(&self, position: usize) -> Option<(&Line, Option<bool>)> {
        let row = self.folds.row(position);
        let children = self.depths.has_children(row).then(|| self.folds.is_folded(row));
        Some((self.lines.get(row)?, children))
    }

    pub(crate) fn fold(&mut self, step: FoldStep) {
        let row = self.folds.row(self.scroll.cursor);
        step.take(&mut self.folds, &mut self.scroll, row, &self.depths);
    }

    pub(crate) fn chosen(&self) -> Option<&Line> {
        self.line(self.scroll.cursor).map(|(line, _)| line)
    }
}

impl OverlayScreen for ResponseTree {
    fn key_context(&self) -> KeyContext {
        KeyContext::Response
    }

    fn choice(&self, _: Size, _: &Model) -> Option<RowWindow> {
        Some(RowWindow { scroll: self.scroll, count: self.count(), ..RowWindow::default() })
    }

    fn scroll(&mut self) -> Option<&mut Scroll> {
        Some(&mut self.scroll)
    }
}

impl Model {
    pub(crate) fn open_value(&mut self) {
        let chosen = self.overlays.top_as::<ResponseTree>().and_then(|response| response.chosen().cloned());
        if let Some(line) = chosen.filter(|line| line.value.is_some()) {
            self.overlays.put(Detail::new("value".to_owned(), vec![Line { depth: 0, ..line }], Vec::new()));
        }
    }

    pub(crate) fn open_detail(&mut self) {
        let Some(open) = self.open() else { return };
        if let Some(id) = self.files.current_rule_row().and_then(Row::name).cloned() {
            let remarks = open.reasons(self.rules.as_deref(), id.visible().as_str());
            let lines = explained(Line { depth: 0, name: Some("id".into()), value: Some(id) }).collect();
            return self.overlays.put(Detail::new("technique by our rules alone".to_owned(), lines, remarks));
        }
        let Some(place) = self.note_target() else { return };
        let section = open.report.section(place.section);
        let name = section.map(|section| section.name.visible_cut(60).to_string()).unwrap_or_default();
        let cut = section.filter(|section| section.is_perhaps_cut());
        let cut = cut.map(|section| format!(" of {}{PERHAPS_CUT}", section.len())).unwrap_or_default();
        let title = format!("{name} · row {}{cut}", thousands(place.row as u64 + 1));
        let lines = open.report.lines(place.section, place.row);
        let remarks = self.reasons(place).into_iter().chain(self.values.remarks(place));
        let remarks = remarks.chain(lines.iter().filter_map(blanks)).collect();
        let lines = lines.into_iter().chain(facts::facts(&open.report, place)).flat_map(explained);
        let note = self.noted().and_then(|(_, about)| Some(self.notes.on(&about)?.text.clone()));
        let note = note.map(|note| Line { depth: 0, name: Some(format!("{MARK} note").into()), value: Some(note) });
        let lines = lines.chain(note).collect();
        self.overlays.put(Detail::new(title, lines, remarks));
    }
}

#[derive(Debug)]
pub struct Topic {
    pub name: &'static str,
    /// The name in the palette.
    pub(crate) label: &'static str,
    pub text: &'static str,
}

macro_rules! topics {
    ($($name:literal)+) => {
        pub const TOPICS: &[Topic] = &[$(Topic {
            name: $name,
            label: concat!("help: ", $name),
            text: include_str!(concat!("../../../assets/help/", $name, ".md")),
        }),+];
    };
}

topics! {
    "keys" "config" "pricing" "store" "team" "export" "findings" "scripts" "json" "examples" "security" "accessibility" "demo" "troubleshooting" "glossary"
}

impl Topic {
    pub(crate) fn title(&self) -> &'static str {
        self.text.lines().next().unwrap_or_default().trim_start_matches("# ")
    }
}

/// Lays out a topic in `columns`: without comments and fences, prose wrapped, tables aligned.
pub fn lay_out(topic: &str, columns: usize) -> String {
    let mut shown = String::new();
    let mut prose = String::new();
    let mut rows = Vec::new();
    let mut is_code = false;
    let is_item = |line: &str| line.starts_with("- ") || line.get(1..3) == Some(". ");
    for line in topic.lines().chain([""]) {
        let is_fence = line.starts_with("```");
        is_code ^= is_fence;
        let is_indented = line.starts_with("  ") && !is_item(&prose);
        let is_fixed = is_code || is_fence || is_indented || line.is_empty() || line.starts_with(['#', '|', '<']);
        if (is_fixed || is_item(line)) && !prose.is_empty() {
            let indent = prose.find(' ').filter(|_| is_item(&prose)).map_or(0, |at| at + 1);
            let rows = wrap(&std::mem::take(&mut prose), columns.saturating_sub(indent).max(1));
            shown += &(rows.join(&format!("\n{:indent$}", "")) + "\n");
        }
        if let Some(row) = line.strip_prefix("| ").filter(|_| !is_code) {
            rows.push(row.trim_end_matches('|').split(" | ").map(|cell| cell.trim().replace("\\|", "|")).collect());
        } else if !rows.is_empty() && !line.starts_with("|-") {
            let heading: Vec<String> = rows.remove(0);
            let heading: Vec<_> = heading.iter().map(String::as_str).collect();
            shown += &table(&heading, std::mem::take(&mut rows), columns).0;
        }
        if !is_fixed {
            prose = [&prose, line.trim()].join(" ").trim_start().to_owned();
        } else if !is_fence && !line.starts_with("<!--") && !line.starts_with('|') {
            shown += &format!("{line}\n");
        }
    }
    shown.trim_end().to_owned() + "\n"
}
