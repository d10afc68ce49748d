//! Words of our own that stand over the screen: the prices explained, the ledger, the counters.

use super::commands::{Act, Command};
use super::key::Key;
use super::model::Model;
use super::panes::{Move, Scroll};
use super::price::Tag;
use crate::quota::{Holder, Limit};
use crate::text::{thousands, words_in_rows};

/// Columns of the head of a paragraph, the gap included.
pub const HEAD: usize = 14;

/// A page of paragraphs, laid out for a width.
#[derive(Debug)]
pub struct Sheet {
    /// What it is about.
    pub title: String,
    /// The first row that is shown.
    pub top: usize,
    paragraphs: Vec<Paragraph>,
    columns: usize,
    rows: Vec<SheetRow>,
}

/// A paragraph beside its head.
#[derive(Debug, Clone)]
pub(super) struct Paragraph {
    head: String,
    text: String,
}

/// One row of a sheet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SheetRow {
    /// The paragraph's head, on its first row.
    pub head: String,
    /// The text.
    pub text: String,
}

impl Sheet {
    pub(super) fn new(title: &str, paragraphs: Vec<Paragraph>, columns: usize) -> Self {
        let mut sheet = Self { title: title.to_owned(), top: 0, paragraphs, columns: 0, rows: Vec::new() };
        sheet.fit(columns);
        sheet
    }

    /// A page of these rows, each a paragraph with its head.
    pub(super) fn of(title: &str, rows: Vec<SheetRow>, columns: usize) -> Self {
        let paragraphs = rows.into_iter().map(|SheetRow { head, text }| Paragraph { head, text });
        Self::new(title, paragraphs.collect(), columns)
    }

    /// Lays the sheet out again for another width.
    pub fn fit(&mut self, columns: usize) {
        if columns != self.columns {
            self.columns = columns;
            self.rows = self.paragraphs.iter().flat_map(|paragraph| paragraph.rows(columns)).collect();
        }
    }

    /// Takes newer words in the place of its own.
    pub(super) fn refresh(&mut self, newer: Self) {
        let top = self.top.min(newer.count().saturating_sub(1));
        *self = Self { top, ..newer };
    }

    /// The rows from the first one shown on.
    pub fn rows(&self) -> impl Iterator<Item = &SheetRow> {
        self.rows.iter().skip(self.top)
    }

    /// Rows in all.
    #[must_use]
    pub fn count(&self) -> usize {
        self.rows.len()
    }

    /// Scrolls.
    pub fn go(&mut self, movement: Move, height: usize) {
        self.top = scrolled(self.top, movement, self.count(), height);
    }

    /// The prices that apply right now, explained.
    #[must_use]
    pub fn prices(model: &Model, columns: usize) -> Self {
        let mut paragraphs: Vec<Paragraph> =
            Command::applying(model).flat_map(|(key, command)| price_of(model, key, command)).collect();
        if paragraphs.is_empty() {
            paragraphs.push(paragraph("0", "No key that applies here asks the service: nothing costs anything."));
        } else {
            paragraphs.push(paragraph("others", "Every other key costs nothing: it asks the service for nothing."));
        }
        Self::new("What keys cost here, and why", paragraphs, columns)
    }
}

/// Where a window of so many rows stands after a movement; it shows no row past the last.
pub(super) fn scrolled(top: usize, movement: Move, count: usize, height: usize) -> usize {
    // A cursor in a window of one row moves as the window itself does.
    let mut scroll = Scroll { cursor: top, top };
    scroll.go(movement, count.saturating_sub(height) + 1, 1);
    scroll.cursor
}

pub(super) fn paragraph(head: &str, text: impl Into<String>) -> Paragraph {
    Paragraph { head: head.to_owned(), text: text.into() }
}

fn price_of(model: &Model, key: Key, command: &Command) -> Vec<Paragraph> {
    let request = match &command.act {
        Act::Local(_) | Act::Chosen => return Vec::new(),
        Act::Each(price, _) => {
            let text = format!("{}: {}; each by the rule of a single report", command.label, price(model));
            return vec![paragraph(&key.to_string(), text), paragraph("", "")];
        }
        Act::Ask { request, .. } => request,
    };
    let Some(request) = request(model) else { return Vec::new() };
    let tag = model.tag(command);
    let mut found =
        vec![paragraph(&key.to_string(), format!("{}: {} · {}", command.label, request.words(), tag.words()))];
    match &tag {
        Tag::Held => found.push(paragraph("", "The answer is held, so the service is not asked.")),
        Tag::UnderWay => found.push(paragraph("", "The same question is under way; its answer serves.")),
        Tag::Free | Tag::Together(_) => {}
        Tag::NoKey | Tag::Offline | Tag::Costs(_) | Tag::Spent(_) => {
            let price = model.price(&request);
            found.extend(price.explanation().into_iter().map(|sentence| paragraph("", sentence)));
            if !price.is_free() {
                found.push(paragraph("", seen(model, price.operation.name())));
                let left = [Holder::User, Holder::Group].into_iter().filter_map(|holder| left(model, holder));
                found.extend(left.map(|words| paragraph("", words)));
            }
        }
    }
    found.push(paragraph("", ""));
    found
}

/// How often the service's counters have confirmed the price of an operation.
fn seen(model: &Model, operation: &str) -> String {
    match model.record.get(operation) {
        None => "The counters have not been seen to confirm or contradict it yet.".to_owned(),
        Some((confirmed, contradicted)) => {
            format!(
                "The counters have been seen to confirm it {confirmed} times, to contradict it {contradicted} times."
            )
        }
    }
}

fn left(model: &Model, holder: Holder) -> Option<String> {
    let limit = model.scarcest(holder)?;
    Some(format!("{} has {}.", holder_name(holder), limit_words(&limit)))
}

fn holder_name(holder: Holder) -> &'static str {
    match holder {
        Holder::User => "The user",
        Holder::Group => "The group",
    }
}

/// What is left of a limit, with its period.
#[must_use]
pub fn limit_words(limit: &Limit) -> String {
    format!("{} of {} left {}", thousands(limit.remaining), thousands(limit.allowed), limit.period.current())
}

impl Paragraph {
    fn rows(&self, columns: usize) -> Vec<SheetRow> {
        let room = columns.saturating_sub(HEAD).max(16);
        let text = words_in_rows(&self.text, room).into_iter();
        let mut rows: Vec<SheetRow> = text.map(|text| SheetRow { head: String::new(), text }).collect();
        if let Some(first) = rows.first_mut() {
            first.head.clone_from(&self.head);
        }
        rows
    }
}
