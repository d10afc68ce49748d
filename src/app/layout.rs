//! Where everything stands, as a pure function of the screen's size and what has the focus.
//!
//! ```text
//! wide                                        narrow (pane)          small
//! ┌ title ─────────────────────────────────┐  ┌ title ───────────┐  ┌ title ─┐
//! │ strip                                  │  │ strip            │  │        │
//! │ list      │ pane 1       │ pane 2      │  │ pane 1  │ pane 2 │  │ list   │
//! │           │              │             │  │         │        │  │  or    │
//! ├ overview ─┤──────────────┼─────────────┤  │─────────┼────────│  │ pane   │
//! │           │ pane 3       │ pane 4      │  │ pane 3  │ pane 4 │  │        │
//! └ bar ───────────────────────────────────┘  └ bar ─────────────┘  └ bar ───┘
//! ```

use crate::app::panes::PaneGroup;
use crate::report::Pane;
use serde::{Deserialize, Serialize};

/// Columns and rows of the terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Size {
    pub width: u16,
    pub height: u16,
}

/// A rectangle on the screen, in columns and rows from the top left.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Area {
    pub x: u16,
    pub y: u16,
    pub width: u16,
    pub height: u16,
}

pub const SMALLEST: Size = Size { width: 40, height: 10 };

/// The width from which the list and the overview have places beside the panes.
const WIDE: u16 = 100;

/// The width from which four panes share the screen.
const NARROW: u16 = 60;

/// Fewest columns in which four panes say anything.
const TOO_NARROW: u16 = 46;

/// From this height on four panes stand above each other.
const LOW: u16 = 16;

/// Rows of the bar: prices of keys, and the remaining quota.
const BAR: u16 = 2;

/// Rows of a list of one report, the border included.
const ONE: u16 = 3;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct View {
    pub has_report: bool,
    /// The pane that has the focus; none while the list has it.
    pub pane: Option<Pane>,
    pub group: PaneGroup,
    pub is_zoomed: bool,
    /// Whether one thing is shown at a time, however large the screen.
    pub is_plain: bool,
    /// Whether there is one report alone, so that the list needs no more than its row.
    pub is_single: bool,
    pub message: u16,
    pub sizes: Sizes,
}

/// Sizes that the analyst has set, where the screen has room for them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Sizes {
    pub list: Option<u16>,
    /// Percent of the columns right of it that the left panes take.
    pub middle: Option<u16>,
    /// Percent of the rows that the upper panes take.
    pub upper: Option<u16>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Edge {
    List,
    Middle,
    Upper,
}

/// Fewest columns of the list.
const NARROWEST: u16 = 18;

/// Fewest columns that the list leaves to the panes.
const LEFT_OVER: u16 = 40;

/// Percent that a side of a pair of panes has at least, and at most.
const SHARE: (u16, u16) = (15, 85);

impl Sizes {
    pub(super) fn drag(&mut self, edge: Edge, layout: &Layout, x: u16, y: u16) {
        let percent = |part: u16, whole: u16| {
            let percent = u32::from(part) * 100 / u32::from(whole.max(1));
            u16::try_from(percent).unwrap_or(100).clamp(SHARE.0, SHARE.1)
        };
        let Some(right) = layout.four_area() else { return };
        match edge {
            Edge::List => self.list = Some((x + 1).saturating_sub(layout.content.x).max(NARROWEST)),
            Edge::Middle => self.middle = Some(percent((x + 1).saturating_sub(right.x), right.width)),
            Edge::Upper => self.upper = Some(percent((y + 1).saturating_sub(right.y), right.height)),
        }
    }

    pub(super) fn widen_list(&mut self, layout: &Layout, by: i16) {
        if let Some(list) = layout.list {
            self.list = Some(list.width.saturating_add_signed(by).clamp(NARROWEST, layout.content.width));
        }
    }

    /// Changes the share of the upper panes, in percent.
    pub(super) fn grow_upper(&mut self, by: i16) {
        self.upper = Some(self.upper.unwrap_or(50).saturating_add_signed(by).clamp(SHARE.0, SHARE.1));
    }

    fn list_columns(self, usual: u16, width: u16) -> u16 {
        let most = width.saturating_sub(LEFT_OVER).max(usual);
        self.list.map_or(usual, |columns| columns.clamp(NARROWEST, most))
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Layout {
    pub title: Area,
    pub content: Area,
    pub list: Option<Area>,
    /// Panes with their places, borders included.
    pub panes: Vec<(Pane, Area)>,
    /// One row that names every pane with its count, where there is room.
    pub strip: Area,
    pub message: Area,
    pub bar: Area,
}

impl Area {
    pub fn inside(self) -> Self {
        Self {
            x: self.x.saturating_add(1),
            y: self.y.saturating_add(1),
            width: self.width.saturating_sub(2),
            height: self.height.saturating_sub(2),
        }
    }

    pub fn contains(self, x: u16, y: u16) -> bool {
        (self.x..self.x.saturating_add(self.width)).contains(&x)
            && (self.y..self.y.saturating_add(self.height)).contains(&y)
    }

    /// The row inside of its border that a cell lies in, from 0.
    pub fn row_at(self, x: u16, y: u16) -> Option<usize> {
        let inside = self.inside();
        (self.contains(x, y) && inside.contains(inside.x, y)).then(|| usize::from(y - inside.y))
    }

    fn rows(self, first: u16) -> (Self, Self) {
        let first = first.min(self.height);
        let rest = Self { y: self.y.saturating_add(first), height: self.height - first, ..self };
        (Self { height: first, ..self }, rest)
    }

    fn columns(self, first: u16) -> (Self, Self) {
        let first = first.min(self.width);
        let rest = Self { x: self.x.saturating_add(first), width: self.width - first, ..self };
        (Self { width: first, ..self }, rest)
    }
}

impl Size {
    pub fn is_enough(self) -> bool {
        self.width >= SMALLEST.width && self.height >= SMALLEST.height
    }
}

impl Layout {
    pub fn of(size: Size, view: View) -> Self {
        let screen = Area { x: 0, y: 0, width: size.width, height: size.height };
        let (title, rest) = screen.rows(1);
        let (strip, rest) =
            rest.rows(u16::from(!view.is_plain && view.has_report && size.width >= NARROW && size.height >= LOW));
        let (rest, bar) = rest.rows(rest.height.saturating_sub(BAR));
        let (content, message) = rest.rows(rest.height.saturating_sub(view.message));
        let layout = Self { title, strip, content, message, bar, ..Self::default() };
        match view.pane {
            Some(pane) if view.is_zoomed || view.is_plain => Self { panes: vec![(pane, content)], ..layout },
            None if view.is_plain => Self { list: Some(content), ..layout },
            _ if size.width >= WIDE && size.height >= LOW => layout.wide(view),
            _ if size.width >= NARROW && size.height >= LOW => layout.narrow(view),
            Some(pane) => Self { panes: vec![(pane, content)], ..layout },
            None => Self { list: Some(content), ..layout },
        }
    }

    fn wide(mut self, view: View) -> Self {
        let (left, right) =
            self.content.columns(view.sizes.list_columns((self.content.width / 4).clamp(28, 44), self.content.width));
        let (list, overview) = left.rows(if view.is_single { ONE } else { left.height.div_ceil(2).max(6) });
        self.list = Some(list);
        self.panes.push((Pane::Overview, overview));
        self.panes.extend(four(right, view));
        self
    }

    fn narrow(mut self, view: View) -> Self {
        match view.pane {
            // The overview belongs to no group of four: it has the place to itself.
            Some(Pane::Overview) => self.panes.push((Pane::Overview, self.content)),
            Some(_) => self.panes.extend(four(self.content, view)),
            None => {
                let (list, right) = self
                    .content
                    .columns(view.sizes.list_columns((self.content.width / 3).clamp(24, 30), self.content.width));
                self.list = Some(list);
                // Beside the list one pane says more than four of which each has a few columns.
                let alone = [view.group.first().copied().flatten(), None, None, None];
                let group = if right.width < TOO_NARROW { alone } else { view.group };
                self.panes.extend(four(right, View { group, ..view }));
            }
        }
        self
    }

    pub fn edge_at(&self, x: u16, y: u16) -> Option<Edge> {
        let right = self.four_area()?;
        let first = self.panes.iter().map(|(_, area)| *area).find(|area| (area.x, area.y) == (right.x, right.y))?;
        let is_at = |at: u16, edge: u16| at + 1 == edge || at == edge;
        match self.content.contains(x, y) {
            true if right.x > self.content.x && is_at(x, right.x) => Some(Edge::List),
            true if first.width < right.width && right.contains(x, y) && is_at(x, first.x + first.width) => {
                Some(Edge::Middle)
            }
            true if first.height < right.height && right.contains(x, y) && is_at(y, first.y + first.height) => {
                Some(Edge::Upper)
            }
            _ => None,
        }
    }

    /// What the panes beside the overview take together.
    pub fn four_area(&self) -> Option<Area> {
        let mut areas = self.panes.iter().filter(|(pane, _)| *pane != Pane::Overview).map(|(_, area)| *area);
        let first = areas.next()?;
        let last = areas.next_back().unwrap_or(first);
        Some(Area { width: last.x + last.width - first.x, height: last.y + last.height - first.y, ..first })
    }

    pub fn pane(&self, wanted: Pane) -> Option<Area> {
        self.panes.iter().find(|(pane, _)| *pane == wanted).map(|(_, area)| *area)
    }
}

fn four(area: Area, view: View) -> impl Iterator<Item = (Pane, Area)> {
    let share = |percent: Option<u16>, whole: u16| match percent {
        None => whole.div_ceil(2),
        Some(percent) => u16::try_from(u32::from(whole) * u32::from(percent) / 100).unwrap_or(whole).max(3),
    };
    // Each keeps a row of its own inside of its border.
    let panes: Vec<Pane> = view.group.into_iter().flatten().collect();
    let (top, bottom) = match panes.len() {
        0..=2 => (area, Area::default()),
        _ => area.rows(share(view.sizes.upper, area.height).min(area.height.saturating_sub(3))),
    };
    let half = share(view.sizes.middle, area.width);
    // A pane that stands alone in its row has all of it.
    let places = match panes.len() {
        1 => vec![top],
        3 => vec![top.columns(half).0, top.columns(half).1, bottom],
        _ => [top, bottom].into_iter().flat_map(|row| <[Area; 2]>::from(row.columns(half))).collect(),
    };
    panes.into_iter().zip(places)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::panes::GROUP;
    use crate::app::panes::PaneOrder;
    use proptest::prelude::*;

    fn view() -> impl Strategy<Value = View> {
        let pane = prop::option::of(prop::sample::select(&Pane::ALL[..]));
        let size = |most| prop::option::of(0_u16..most);
        let sizes = (size(300), size(100), size(100)).prop_map(|(list, middle, upper)| Sizes { list, middle, upper });
        let rest = (0_usize..3, any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>(), 0_u16..4);
        (pane, rest, sizes).prop_map(|(pane, (group, is_zoomed, is_plain, has_report, is_single, message), sizes)| {
            let order = PaneOrder::of(None);
            let group = order.group(pane.and_then(|pane| order.group_of(pane)).unwrap_or(group));
            assert_eq!(group.len(), GROUP);
            View { has_report, pane, group, is_zoomed, is_plain, is_single, message, sizes }
        })
    }

    proptest! {
        #[test]
        fn places_fill_the_content_and_never_overlap(width in 0_u16..300, height in 0_u16..100, view in view()) {
            let layout = Layout::of(Size { width, height }, view);
            let mut seen = vec![0_u8; usize::from(width) * usize::from(height)];
            let all = [layout.title, layout.strip, layout.message, layout.bar];
            for area in all.into_iter().chain(layout.list).chain(layout.panes.iter().map(|(_, area)| *area)) {
                for y in area.y..area.y + area.height {
                    for x in area.x..area.x + area.width {
                        seen[usize::from(y) * usize::from(width) + usize::from(x)] += 1;
                    }
                }
            }
            prop_assert!(seen.iter().all(|times| *times == 1));
        }

        #[test]
        fn what_has_the_focus_is_shown(width in 40_u16..300, height in 10_u16..100, view in view()) {
            let layout = Layout::of(Size { width, height }, view);
            match view.pane {
                Some(pane) => prop_assert!(layout.pane(pane).is_some_and(|area| area.inside().height > 0)),
                None => prop_assert!(layout.list.is_some_and(|area| area.inside().height > 0)),
            }
        }
    }
}
