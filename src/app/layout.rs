//! The layout of the screen, a pure function of its size and the focus.
//!
//! ```text
//! wide                                        narrow                 small
//! ┌ title ─────────────────────────────────┐  ┌ title ───────────┐  ┌ title ─┐
//! │ tabs                                   │  │ tabs             │  │        │
//! │ list      │ pane 1       │ pane 2      │  │ list, as one row │  │ list   │
//! │           │              │─────────────│  │──────────────────│  │  or    │
//! ├ overview ─┤              │ pane 3      │  │ pane             │  │ pane   │
//! │           │              │─────────────│  │                  │  │        │
//! │           │              │ pane 4      │  │                  │  │        │
//! │ detail                                 │  │ detail           │  │        │
//! └ bar ───────────────────────────────────┘  └ bar ─────────────┘  └ bar ───┘
//! ```
//! A large screen has a third column of panes. Neighbours share their border.

use crate::app::Size;
use crate::report::Pane;
use serde::{Deserialize, Serialize};

/// A rectangle on the screen, in columns and rows from the top left.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Area {
    pub x: u16,
    pub y: u16,
    pub width: u16,
    pub height: u16,
}

/// The width from which the list and the overview are beside several panes.
const WIDE_COLUMNS: u16 = 100;

/// The width from which the list and the tabs have rows above a pane.
const NARROW_COLUMNS: u16 = 60;

/// The height from which more than one list or pane fits.
const LOW_ROWS: u16 = 16;

/// The height from which the tabs have rows.
const TABBED_ROWS: u16 = 14;

/// The height from which a list entry and the row detail have two rows.
const HIGH_ROWS: u16 = 24;

/// The width from which all tabs fit in one row.
const ALL_TABS_COLUMNS: u16 = 160;

/// Rows of the bar: prices of keys, and the remaining quota.
const BAR_ROWS: u16 = 2;

/// The inputs of the layout besides the size.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct View {
    pub(crate) has_report: bool,
    /// The focused pane; `None` while the list has the focus.
    pub(crate) pane: Option<Pane>,
    pub(crate) group: Vec<PaneNeed>,
    pub(crate) is_zoomed: bool,
    /// Whether plain mode shows one pane at a time.
    pub(crate) is_plain: bool,
    pub(crate) listed: usize,
    /// Rows of the message, which covers other rows.
    pub(crate) message: u16,
    pub(crate) sizes: Sizes,
}

/// The width and rows that a pane needs to show everything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PaneNeed {
    pub(crate) pane: Pane,
    pub(crate) rows: usize,
    pub(crate) columns: u16,
}

impl PaneNeed {
    /// Returns its rows, at least one, with the upper border.
    fn height(&self) -> u16 {
        u16::try_from(self.rows.max(1)).unwrap_or(u16::MAX).saturating_add(1)
    }
}

/// Sizes set by the user, applied where the screen has room.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Sizes {
    pub list: Option<u16>,
    /// Percent of the columns right of the list for the first pane.
    pub(crate) middle: Option<u16>,
    /// Percent of the rows for the upper pane of a column.
    pub(crate) upper: Option<u16>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Edge {
    List,
    Middle,
    Upper,
}

/// The minimum of the list's columns, and of those that it leaves to the panes.
const MIN_LIST_COLUMNS: u16 = 18;
const MIN_PANE_COLUMNS: u16 = 40;

/// The minimum and maximum share of one of two panes, in percent.
const SHARE_PERCENT: (u16, u16) = (15, 85);

impl Sizes {
    pub(super) fn drag(&mut self, edge: Edge, layout: &Layout, x: u16, y: u16) {
        let percent = |part: u16, whole: u16| {
            let percent = u32::from(part) * 100 / u32::from(whole.max(1));
            u16::try_from(percent).unwrap_or(100).clamp(SHARE_PERCENT.0, SHARE_PERCENT.1)
        };
        let right = layout.beside_list;
        match edge {
            Edge::List => self.list = Some((x + 1).saturating_sub(layout.content.x).max(MIN_LIST_COLUMNS)),
            Edge::Middle => self.middle = Some(percent((x + 1).saturating_sub(right.x), right.width)),
            Edge::Upper => self.upper = Some(percent((y + 1).saturating_sub(right.y), right.height)),
        }
    }

    pub(super) fn widen_list(&mut self, layout: &Layout, by: i16) {
        if let Some(list) = layout.list {
            self.list = Some(list.width.saturating_add_signed(by).clamp(MIN_LIST_COLUMNS, layout.content.width));
        }
    }

    /// Changes the share of the upper pane by a percentage.
    pub(super) fn grow_upper(&mut self, by: i16) {
        self.upper = Some(self.upper.unwrap_or(33).saturating_add_signed(by).clamp(SHARE_PERCENT.0, SHARE_PERCENT.1));
    }

    fn list_columns(self, usual: u16, width: u16) -> u16 {
        let most = width.saturating_sub(MIN_PANE_COLUMNS).max(usual);
        self.list.map_or(usual, |columns| columns.clamp(MIN_LIST_COLUMNS, most))
    }
}

/// The areas of the screen; they share borders.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Layout {
    pub title: Area,
    /// The rows with all panes and their counts, where they fit.
    pub tabs: Area,
    pub content: Area,
    /// The list with its border, or its one row without.
    pub list: Option<Area>,
    /// Panes with their areas; neighbours share a border.
    pub panes: Vec<(Pane, Area)>,
    /// The area of all panes except the overview.
    pub beside_list: Area,
    /// The area of an overlay: content and detail, less the rows of the message.
    pub(crate) overlay: Area,
    /// The rows that show the whole row under the cursor, where they fit.
    pub detail: Area,
    pub message: Area,
    pub bar: Area,
    /// Borders that can be dragged, with their cells.
    pub(crate) edges: Vec<(Edge, Area)>,
}

impl Area {
    /// Returns the area without a border of one cell.
    pub fn inside(self) -> Self {
        Self {
            x: self.x.saturating_add(1),
            y: self.y.saturating_add(1),
            width: self.width.saturating_sub(2),
            height: self.height.saturating_sub(2),
        }
    }

    pub(crate) fn contains(self, x: u16, y: u16) -> bool {
        (self.x..self.x.saturating_add(self.width)).contains(&x)
            && (self.y..self.y.saturating_add(self.height)).contains(&y)
    }

    /// Returns the index of the row at a cell, inside the border.
    pub(crate) fn row_at(self, x: u16, y: u16) -> Option<usize> {
        let inside = self.inside();
        (self.contains(x, y) && inside.contains(inside.x, y)).then(|| usize::from(y - inside.y))
    }

    fn rows(self, first: u16) -> (Self, Self) {
        let first = first.min(self.height);
        let rest = Self { y: self.y.saturating_add(first), height: self.height - first, ..self };
        (Self { height: first, ..self }, rest)
    }

    /// Splits off the first columns.
    pub fn columns(self, first: u16) -> (Self, Self) {
        let first = first.min(self.width);
        let rest = Self { x: self.x.saturating_add(first), width: self.width - first, ..self };
        (Self { width: first, ..self }, rest)
    }

    /// Splits into two areas above each other with a shared border; the first has this many rows.
    fn stacked(self, first: u16) -> (Self, Self) {
        let (upper, _) = self.rows(first);
        (upper, self.rows(first.saturating_sub(1)).1)
    }

    /// Splits into two areas side by side with a shared border; the first has this many columns.
    fn beside(self, first: u16) -> (Self, Self) {
        let first = first.min(self.width);
        (self.columns(first).0, self.columns(first.saturating_sub(1)).1)
    }
}

impl Size {
    fn is_wide(self) -> bool {
        self.width >= WIDE_COLUMNS && self.height >= LOW_ROWS
    }

    pub(crate) fn entry_rows(self) -> u16 {
        if self.is_wide() && self.height >= HIGH_ROWS { 2 } else { 1 }
    }
}

impl Layout {
    pub(crate) fn of(size: Size, view: &View) -> Self {
        let screen = Area { x: 0, y: 0, width: size.width, height: size.height };
        let has_room = !view.is_plain && size.width >= NARROW_COLUMNS && size.height >= LOW_ROWS;
        let has_tabs = !view.is_plain && size.width >= NARROW_COLUMNS && size.height >= TABBED_ROWS && view.has_report;
        let tabs = if size.width >= ALL_TABS_COLUMNS { 1 } else { 2 };
        let detail = if size.height >= HIGH_ROWS { 2 } else { 1 };
        let (title, rest) = screen.rows(1);
        let (tabs, rest) = rest.rows(if has_tabs { tabs } else { 0 });
        let (rest, bar) = rest.rows(rest.height.saturating_sub(BAR_ROWS));
        let (content, detail) = rest.rows(rest.height.saturating_sub(if has_room { detail } else { 0 }));
        let (overlay, message) = rest.rows(rest.height.saturating_sub(view.message));
        let layout =
            Self { title, tabs, content, overlay, detail, message, bar, beside_list: content, ..Self::default() };
        match view.pane {
            Some(pane) if view.is_zoomed || view.is_plain => Self { panes: vec![(pane, content)], ..layout },
            None if view.is_plain => Self { list: Some(content), ..layout },
            _ if size.is_wide() => layout.wide(size, view),
            _ if has_room => layout.narrow(view),
            Some(pane) => Self { panes: vec![(pane, content)], ..layout },
            None => Self { list: Some(content), ..layout },
        }
    }

    fn wide(mut self, size: Size, view: &View) -> Self {
        let usual = (self.content.width / 4).clamp(28, 44);
        let (left, right) = self.content.beside(view.sizes.list_columns(usual, self.content.width));
        let wanted = u16::try_from(view.listed).unwrap_or(u16::MAX).saturating_mul(size.entry_rows());
        let most = left.height.div_ceil(2).max(6);
        let (list, overview) = left.stacked(wanted.saturating_add(2).clamp(3, most));
        self.list = Some(list);
        self.panes.push((Pane::Overview, overview));
        self.edges.push((Edge::List, Area { width: 1, ..right }));
        self.beside_list = right;
        self.place(right, view, size.is_large());
        self
    }

    /// Arranges columns of panes, each as wide as its rows need.
    fn place(&mut self, mut area: Area, view: &View, is_large: bool) {
        let (_, columns) = in_columns(&view.group, if is_large { 3 } else { 2 }, area.height.saturating_sub(1));
        let count = u16::try_from(columns.len()).unwrap_or(1);
        let free = area.width.saturating_add(count - 1);
        let least = free / (2 * count);
        let wanted = |panes: &&[PaneNeed]| panes.iter().map(|need| need.columns).fold(least, u16::max);
        let first = view.sizes.middle.map(|middle| percent(middle, area.width));
        let widths = divide(&columns.iter().map(wanted).collect::<Vec<_>>(), free, first);
        for (at, (panes, width)) in columns.into_iter().zip(widths).enumerate() {
            let placed = self.panes.len();
            let (column, rest) = area.beside(width);
            self.stack(column, panes, view.sizes.upper.filter(|_| at == 1));
            if at == 1 {
                self.edges.push((Edge::Middle, Area { width: 1, ..column }));
                let next = self.panes.get(placed + 1).map(|(_, next)| (Edge::Upper, Area { height: 1, ..*next }));
                self.edges.extend(next);
            }
            area = rest;
        }
    }

    /// Stacks panes; the one with the most rows gets the spare rows.
    fn stack(&mut self, mut area: Area, panes: &[PaneNeed], upper: Option<u16>) {
        let wanted: Vec<u16> = panes.iter().map(PaneNeed::height).collect();
        // Each pane keeps one row below its border.
        let most = area.height.saturating_sub(2 * u16::try_from(panes.len()).unwrap_or(0)).saturating_add(1);
        let first = upper.map(|upper| percent(upper, area.height).saturating_sub(1).clamp(2, most.max(2)));
        for (need, height) in panes.iter().zip(divide(&wanted, area.height.saturating_sub(1), first)) {
            let (place, rest) = area.stacked(height.saturating_add(1));
            self.panes.push((need.pane, place));
            area = rest;
        }
    }

    fn narrow(mut self, view: &View) -> Self {
        let wanted = u16::try_from(view.listed).unwrap_or(u16::MAX).saturating_add(2);
        let (list, below) = match view.pane {
            Some(_) => self.content.rows(1),
            None => self.content.stacked(wanted.clamp(3, self.content.height.div_ceil(2))),
        };
        self.list = Some(list);
        self.beside_list = below;
        self.panes.extend(view.pane.or(view.group.first().map(|need| need.pane)).map(|pane| (pane, below)));
        self
    }

    /// Returns a pane's area; `None` if it is not on the screen.
    pub fn pane(&self, wanted: Pane) -> Option<Area> {
        self.panes.iter().find(|(pane, _)| *pane == wanted).map(|(_, area)| *area)
    }
}

fn percent(part: u16, whole: u16) -> u16 {
    u16::try_from(u32::from(whole) * u32::from(part) / 100).unwrap_or(whole)
}

/// Splits panes into columns with the fewest hidden rows; returns that number and the columns.
fn in_columns(panes: &[PaneNeed], columns: usize, free: u16) -> (u32, Vec<&[PaneNeed]>) {
    if columns < 2 || panes.len() < 2 {
        let wanted: u32 = panes.iter().map(|need| u32::from(need.height())).sum();
        return (wanted.saturating_sub(free.into()), vec![panes]);
    }
    // The process tree has a column of its own unless others need it.
    let is_tree = panes.first().is_some_and(|need| need.pane == Pane::Processes);
    let usual = if is_tree { 1 } else { (panes.len() / columns).max(1) };
    let mut splits: Vec<usize> = (1..=panes.len() + 1 - columns.min(panes.len())).collect();
    splits.sort_by_key(|first| first.abs_diff(usual));
    let each = splits.into_iter().map(|first| {
        let (left, right) = panes.split_at(first);
        let (lost, others) = in_columns(right, columns - 1, free);
        (lost + in_columns(left, 1, free).0, std::iter::once(left).chain(others).collect())
    });
    each.min_by_key(|(lost, _)| *lost).unwrap_or_default()
}

/// Divides columns or rows: small needs are met, others share equally, the largest gets the rest.
fn divide(wanted: &[u16], mut free: u16, first: Option<u16>) -> Vec<u16> {
    let mut shares = vec![0; wanted.len()];
    // A size set by the user has priority if there are other panes.
    let mut order: Vec<(usize, u16)> = wanted.iter().copied().enumerate().collect();
    order.sort_by_key(|(at, wanted)| if *at == 0 && first.is_some() { 0 } else { *wanted });
    let mut sharing = u16::try_from(order.len()).unwrap_or(u16::MAX);
    for (at, wanted) in order {
        let share = match first {
            _ if sharing == 1 => free,
            Some(first) if at == 0 => first.min(free),
            _ => wanted.min(free / sharing),
        };
        (free, sharing) = (free - share, sharing - 1);
        shares.get_mut(at).into_iter().for_each(|found| *found = share);
    }
    shares
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::panes::PaneOrder;
    use proptest::prelude::*;

    fn view() -> impl Strategy<Value = View> {
        let pane = prop::option::of(prop::sample::select(&Pane::ALL[..]));
        let size = |most| prop::option::of(0_u16..most);
        let sizes = (size(300), size(100), size(100)).prop_map(|(list, middle, upper)| Sizes { list, middle, upper });
        let rows = prop::collection::vec(0_usize..60, 6);
        let rest = (0_usize..3, any::<[bool; 4]>(), 0_usize..40, rows, 0_u16..4);
        (pane, rest, sizes).prop_map(
            |(pane, (group, [is_zoomed, is_plain, has_report, is_large], listed, rows, message), sizes)| {
                let order = PaneOrder::of(|_| true, is_large);
                let group = order.group(pane.and_then(|pane| order.group_of(pane)).unwrap_or(group));
                let need = |(pane, rows): (&Pane, usize)| PaneNeed { pane: *pane, rows, columns: 3 * rows as u16 };
                let group = group.iter().zip(rows).map(need).collect();
                View { has_report, pane, group, is_zoomed, is_plain, listed, message, sizes }
            },
        )
    }

    proptest! {
        #[test]
        fn layout_fills_the_screen_without_overlap(width in 0_u16..300, height in 0_u16..100, view in view()) {
            let layout = Layout::of(Size { width, height }, &view);
            let mut seen = vec![(0_u8, 0_u8); usize::from(width) * usize::from(height)];
            let bare = [layout.title, layout.tabs, layout.detail, layout.bar].map(|area| (area, area));
            let framed = layout.list.into_iter().chain(layout.panes.iter().map(|(_, area)| *area));
            let framed = framed.map(|area| (area, if area.height > 1 { area.inside() } else { area }));
            for (at, (whole, inside)) in bare.into_iter().chain(framed).flat_map(|(whole, inside)| {
                (whole.y..whole.y + whole.height)
                    .flat_map(move |y| (whole.x..whole.x + whole.width).map(move |x| (x, y)))
                    .map(move |at| (at, (whole, inside)))
            }) {
                let cell = &mut seen[usize::from(at.1) * usize::from(width) + usize::from(at.0)];
                cell.0 += u8::from(whole.contains(at.0, at.1));
                cell.1 += u8::from(inside.contains(at.0, at.1));
            }
            prop_assert!(seen.iter().all(|(whole, inside)| *whole >= 1 && *inside <= 1 && (*inside == 0 || *whole == 1)));
        }

        #[test]
        fn focused_area_is_shown(width in 40_u16..300, height in 10_u16..100, view in view()) {
            let layout = Layout::of(Size { width, height }, &view);
            match view.pane {
                Some(pane) => prop_assert!(layout.pane(pane).is_some_and(|area| area.inside().height > 0)),
                None => prop_assert!(layout.list.is_some_and(|area| area.inside().height > 0)),
            }
        }
    }
}
