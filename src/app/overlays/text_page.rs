//! Pages of text: prices, ledger, counters, process timeline, settings, the manual.

use crate::app::manual::{self, Topic};
use crate::app::overlays::{OverlayScreen, RowWindow};
use crate::app::panes::Move;
use crate::app::panes::moving::scrolled;
use crate::app::spending::Obstacle;
use crate::app::spending::price::RemainingQuota;
use crate::app::{Command, Key, KeyContext, Model, Size};
use crate::quota::{Holder, Price, RULES, Unit};
use crate::report::Report;
use crate::report::tree::ProcessStart;
use crate::text::{count, thousands, wrap};

/// Columns of a paragraph's heading, including the gap.
const HEAD: usize = 14;

#[derive(Debug)]
pub struct TextPage {
    pub title: String,
    pub top: usize,
    paragraphs: Vec<TextRow>,
    /// In place of paragraphs.
    topic: Option<&'static Topic>,
    columns: usize,
    rows: Vec<TextRow>,
}

/// A paragraph beside its heading, or one wrapped row of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextRow {
    pub head: String,
    pub text: String,
}

impl TextPage {
    pub fn new(title: &str, paragraphs: Vec<TextRow>, columns: usize) -> Self {
        Self { title: title.to_owned(), top: 0, paragraphs, topic: None, columns: 0, rows: Vec::new() }
            .laid_out(columns)
    }

    pub(crate) fn manual(topic: &'static Topic, columns: usize) -> Self {
        Self { topic: Some(topic), ..Self::new(topic.label, Vec::new(), 0) }.laid_out(columns)
    }

    fn laid_out(mut self, columns: usize) -> Self {
        self.lay_out(columns);
        self
    }

    /// Returns columns before the text of each row.
    pub fn indent(&self) -> usize {
        if self.paragraphs.iter().all(|paragraph| paragraph.head.is_empty()) { 0 } else { HEAD }
    }

    pub(crate) fn refresh(&mut self, newer: Self) {
        *self = Self { top: self.top.min(newer.count().saturating_sub(1)), ..newer };
    }

    pub fn rows(&self) -> impl Iterator<Item = &TextRow> {
        self.rows.iter().skip(self.top)
    }

    pub fn count(&self) -> usize {
        self.rows.len()
    }

    /// Returns the current prices: of each key, then the remaining quota, then each rule once.
    pub(crate) fn prices(model: &Model, columns: usize) -> Self {
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
        Self::new("Prices of the keys here", paragraphs, columns)
    }

    /// Returns all settings, each with its table: value and origin in effect, and its description.
    pub(crate) fn settings(settings: &[(String, String)], columns: usize) -> Self {
        let ways = "`behaview config init` writes the config file, `config path` prints its path, `config show` the values in effect. \
                    keys.COMMAND in it sets the keys of a command.";
        let mut paragraphs = vec![paragraph("", ways)];
        for table in settings.chunk_by(|(one, _), (other, _)| one == other) {
            paragraphs.push(paragraph("", ""));
            paragraphs.extend(table.iter().map(|(_, shown)| paragraph("", shown.as_str())));
        }
        Self::new("Settings", paragraphs, columns)
    }
}

impl OverlayScreen for TextPage {
    fn key_context(&self) -> KeyContext {
        KeyContext::TextPage
    }

    fn height(&self, _: usize) -> usize {
        self.count()
    }

    fn lay_out(&mut self, columns: usize) {
        if columns != self.columns {
            self.columns = columns;
            let room = columns.saturating_sub(self.indent());
            self.rows = match self.topic {
                Some(topic) => manual::lay_out(topic.text, columns).lines().map(manual_row).collect(),
                None => self.paragraphs.iter().flat_map(|paragraph| paragraph.rows(room)).collect(),
            };
        }
    }

    fn go(&mut self, movement: Move, room: Size, _: Option<RowWindow>) {
        self.top = scrolled(self.top, movement, self.count(), room.height.into());
    }
}

/// Returns a row of the manual; headings stand out.
fn manual_row(line: &str) -> TextRow {
    if line.starts_with('#') { paragraph(line.trim_start_matches(['#', ' ']), "") } else { paragraph("", line) }
}

pub(crate) fn paragraph(head: &str, text: impl Into<String>) -> TextRow {
    TextRow { head: head.to_owned(), text: text.into() }
}

fn price_of(model: &Model, key: Key, command: &Command) -> TextRow {
    let tag = model.key_price(command);
    let price = match &tag.obstacle {
        Some(Obstacle::InFlight) => "0, the same request is in flight".to_owned(),
        // An obstacle to a later call does not disable the key that leads to it.
        Some(obstacle) if tag.is_deferred && !tag.is_over_budget() => format!("0; what it leads to: {obstacle}"),
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

impl TextRow {
    fn rows(&self, columns: usize) -> Vec<Self> {
        let rows = wrap(&self.text, columns.max(16)).into_iter();
        let head = std::iter::once(self.head.as_str()).chain(std::iter::repeat(""));
        rows.zip(head).map(|(text, head)| Self { head: head.to_owned(), text }).collect()
    }
}

pub(crate) const TIMELINE: &str = "When processes started";

/// Maximum indent levels and listed processes.
const MAX_INDENT: u16 = 8;
const MAX_PROCESSES: usize = 500;

impl TextPage {
    pub(crate) fn timeline(model: &Model, columns: usize) -> Self {
        let report = model.open().map(|open| &open.report);
        let mut starts = report.map(|report| report.starts(MAX_PROCESSES)).unwrap_or_default();
        let all = report.and_then(Report::tree).map_or(0, |(_, tree)| tree.len());
        starts.sort_by(|one, other| one.offset.total_cmp(&other.offset));
        let last = starts.iter().map(|start| start.offset).fold(0.0, f64::max);
        let rows: Vec<_> = starts.iter().map(|start| row(start, last, columns)).collect();
        // Hidden rows are not counted, so rows of processes are all that count.
        let known = if rows.len() == all { String::new() } else { format!("{} of ", thousands(rows.len() as u64)) };
        let none = paragraph("", "The report does not say when its processes started.");
        let rows = if rows.is_empty() { vec![none] } else { rows };
        Self::new(&format!("{TIMELINE} · {known}{}", count(all as u64, "process")), rows, columns)
    }
}

fn row(start: &ProcessStart, last: f64, columns: usize) -> TextRow {
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
