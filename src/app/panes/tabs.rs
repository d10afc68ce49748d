//! The tab bar: every pane with its key and its number of rows, and where each tab stands.

use crate::app::{Area, Command, Model};
use crate::report::Pane;
use crate::text::{Columns, thousands};

/// The text of a document without a behaviour report.
pub const NO_REPORT: &str = "no behaviour report";

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tab {
    pub pane: Pane,
    pub key: String,
    /// The number of rows; empty where there is none, or no room for it.
    pub count: String,
    pub is_empty: bool,
    /// Blanks on either side.
    pub padding: u16,
    pub area: Area,
}

/// What tabs show, from the widest form to the narrowest; a sign stands between two of them.
struct TabForm {
    padding: u16,
    has_counts: bool,
    has_empty: bool,
}

const FORMS: [TabForm; 5] = [
    TabForm { padding: 1, has_counts: true, has_empty: true },
    TabForm { padding: 0, has_counts: true, has_empty: true },
    TabForm { padding: 0, has_counts: true, has_empty: false },
    TabForm { padding: 0, has_counts: false, has_empty: true },
    TabForm { padding: 0, has_counts: false, has_empty: false },
];

impl Tab {
    /// The tabs of the open report in the widest form that fits.
    pub fn all(model: &Model, area: Area) -> Vec<Self> {
        let Some(open) = model.open().filter(|_| area.height > 0) else { return Vec::new() };
        // A pane without rows would read as if something had looked and seen nothing.
        let is_of_another_kind = open.report.is_of_another_kind();
        let indent = if is_of_another_kind { columns(NO_REPORT) + 3 } else { 0 };
        let end = area.y.saturating_add(area.height);
        let mut all = Vec::new();
        for form in &FORMS {
            let has_empty = form.has_empty && !is_of_another_kind;
            let tabs = Pane::ALL.into_iter().map(|pane| Self::of(pane, open.report.count(pane), form, model));
            let tabs = tabs.filter(|tab| has_empty || !tab.is_empty || model.focused() == Some(tab.pane));
            all = placed(tabs, area, indent, form.padding);
            if all.iter().all(|tab: &Self| tab.area.y < end) {
                break;
            }
        }
        all.retain(|tab| tab.area.y < end);
        all
    }

    fn of(pane: Pane, rows: usize, form: &TabForm, model: &Model) -> Self {
        // The rows of the overview are facts: their number says nothing.
        let is_counted = form.has_counts && rows > 0 && pane != Pane::Overview;
        let count = if is_counted { rounded(rows as u64) } else { String::new() };
        let (key, padding) = (key(pane, model), form.padding);
        let parts = [&*key, pane.short(), &*count].into_iter().filter(|part| !part.is_empty());
        let width = parts.map(|part| columns(part) + 1).sum::<u16>() - 1 + 2 * padding;
        Self { pane, key, count, is_empty: rows == 0, padding, area: Area { width, height: 1, ..Area::default() } }
    }
}

/// Gives tabs their places in as many rows as they need.
fn placed(tabs: impl Iterator<Item = Tab>, area: Area, indent: u16, padding: u16) -> Vec<Tab> {
    let margin = area.x.saturating_add(1 - padding.min(1));
    let (mut x, mut y, end) = (margin.saturating_add(indent), area.y, area.x.saturating_add(area.width));
    let place = |mut tab: Tab| {
        if x > margin && x.saturating_add(tab.area.width) > end {
            (x, y) = (margin, y.saturating_add(1));
        }
        (tab.area.x, tab.area.y) = (x, y);
        x = x.saturating_add(tab.area.width).saturating_add(1);
        tab
    };
    tabs.map(place).collect()
}

/// The key that goes to a pane; empty where it has none.
pub fn key(pane: Pane, model: &Model) -> String {
    let keys = Command::to_pane(pane).map(|command| model.settings.keys.of(command));
    keys.and_then(<[_]>::first).map(ToString::to_string).unwrap_or_default()
}

fn columns(text: &str) -> u16 {
    u16::try_from(text.columns()).unwrap_or(u16::MAX)
}

/// A number in few columns: `9,999`, `35k`, `1.2M`.
fn rounded(number: u64) -> String {
    match number {
        0..10_000 => thousands(number),
        10_000..1_000_000 => format!("{}k", number / 1000),
        _ => format!("{}.{}M", number / 1_000_000, number % 1_000_000 / 100_000),
    }
}
