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

use super::panes::{self, GROUP};
use crate::report::Pane;

/// Columns and rows of the terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Size {
    /// Columns.
    pub width: u16,
    /// Rows.
    pub height: u16,
}

/// A rectangle on the screen, in columns and rows from the top left.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Area {
    /// First column.
    pub x: u16,
    /// First row.
    pub y: u16,
    /// Columns.
    pub width: u16,
    /// Rows.
    pub height: u16,
}

/// The smallest screen that shows anything but a message.
pub const SMALLEST: Size = Size { width: 40, height: 10 };

/// From this width on the list and the overview stand beside the panes.
const WIDE: u16 = 100;

/// From this width on four panes stand beside each other.
const NARROW: u16 = 60;

/// From this height on four panes stand above each other.
const LOW: u16 = 16;

/// Rows of the bar: what keys cost, and what is left.
const BAR: u16 = 2;

/// What decides about the places, besides the size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct View {
    /// Whether there is a report to show.
    pub has_report: bool,
    /// The pane that has the focus; none while the list has it.
    pub pane: Option<Pane>,
    /// The group of four panes that is shown.
    pub group: usize,
    /// Whether the pane that has the focus fills the screen.
    pub is_zoomed: bool,
    /// Whether one thing is shown at a time, however large the screen.
    pub is_plain: bool,
}

/// Where everything stands.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Layout {
    /// One row at the top.
    pub title: Area,
    /// Everything between title and bar.
    pub content: Area,
    /// The list of sandboxes, if it is shown.
    pub list: Option<Area>,
    /// Panes with their places, borders included.
    pub panes: Vec<(Pane, Area)>,
    /// One row that names every pane with its count, where there is room.
    pub strip: Area,
    /// The status bar.
    pub bar: Area,
}

impl Area {
    /// The inside of a border.
    #[must_use]
    pub fn inside(self) -> Self {
        Self {
            x: self.x.saturating_add(1),
            y: self.y.saturating_add(1),
            width: self.width.saturating_sub(2),
            height: self.height.saturating_sub(2),
        }
    }

    /// The first rows, and the rest.
    #[must_use]
    fn rows(self, first: u16) -> (Self, Self) {
        let first = first.min(self.height);
        let rest = Self { y: self.y.saturating_add(first), height: self.height - first, ..self };
        (Self { height: first, ..self }, rest)
    }

    /// The first columns, and the rest.
    #[must_use]
    fn columns(self, first: u16) -> (Self, Self) {
        let first = first.min(self.width);
        let rest = Self { x: self.x.saturating_add(first), width: self.width - first, ..self };
        (Self { width: first, ..self }, rest)
    }
}

impl Size {
    /// Whether there is room for more than a message.
    #[must_use]
    pub fn is_enough(self) -> bool {
        self.width >= SMALLEST.width && self.height >= SMALLEST.height
    }
}

impl Layout {
    /// The places for a screen of this size.
    #[must_use]
    pub fn of(size: Size, view: View) -> Self {
        let screen = Area { x: 0, y: 0, width: size.width, height: size.height };
        let (title, rest) = screen.rows(1);
        let (strip, rest) =
            rest.rows(u16::from(!view.is_plain && view.has_report && size.width >= NARROW && size.height >= LOW));
        let (content, bar) = rest.rows(rest.height.saturating_sub(BAR));
        let layout = Self { title, strip, content, bar, ..Self::default() };
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
        let (left, right) = self.content.columns((self.content.width / 4).clamp(28, 44));
        let (list, overview) = left.rows((left.height / 2).max(6));
        self.list = Some(list);
        self.panes.push((Pane::Overview, overview));
        self.panes.extend(four(right, view.group));
        self
    }

    fn narrow(mut self, view: View) -> Self {
        match view.pane {
            // The overview belongs to no group of four: it has the place to itself.
            Some(Pane::Overview) => self.panes.push((Pane::Overview, self.content)),
            Some(_) => self.panes.extend(four(self.content, view.group)),
            None => {
                let (list, right) = self.content.columns((self.content.width / 3).clamp(24, 30));
                self.list = Some(list);
                self.panes.extend(four(right, view.group));
            }
        }
        self
    }

    /// The place of a pane, if it is shown.
    #[must_use]
    pub fn pane(&self, wanted: Pane) -> Option<Area> {
        self.panes.iter().find(|(pane, _)| *pane == wanted).map(|(_, area)| *area)
    }
}

fn four(area: Area, group: usize) -> impl Iterator<Item = (Pane, Area)> {
    let (top, bottom) = area.rows(area.height.div_ceil(2));
    let half = area.width.div_ceil(2);
    let ((a, b), (c, d)) = (top.columns(half), bottom.columns(half));
    panes::group(group).take(GROUP).zip([a, b, c, d])
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const LIST: View = View { has_report: true, pane: None, group: 0, is_zoomed: false, is_plain: false };

    fn view() -> impl Strategy<Value = View> {
        let pane = prop::option::of(prop::sample::select(&Pane::ALL[..]));
        (pane, 0_usize..3, any::<bool>(), any::<bool>(), any::<bool>()).prop_map(
            |(pane, group, is_zoomed, is_plain, has_report)| {
                let group = pane.and_then(panes::group_of).unwrap_or(group);
                View { has_report, pane, group, is_zoomed, is_plain }
            },
        )
    }

    proptest! {
        #[test]
        fn places_fill_the_content_and_never_overlap(width in 0_u16..300, height in 0_u16..100, view in view()) {
            let layout = Layout::of(Size { width, height }, view);
            let mut seen = vec![0_u8; usize::from(width) * usize::from(height)];
            let all = [layout.title, layout.strip, layout.bar];
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

    #[test]
    fn four_panes_stand_at_80_by_24() {
        let four = View { pane: Some(Pane::Files), ..LIST };
        assert_eq!(Layout::of(Size { width: 80, height: 24 }, four).panes.len(), 4);
        assert_eq!(Layout::of(Size { width: 80, height: 24 }, LIST).panes.len(), 4);
        assert_eq!(Layout::of(Size { width: 40, height: 10 }, four).panes.len(), 1);
    }
}
