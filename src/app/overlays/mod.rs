//! The stack of overlays: the top one has the keys, and "back" closes it.

pub mod findings;
pub mod generic;
pub mod group;
pub mod indicators;
pub mod palette;
pub mod picker;
pub mod stored;
pub mod text_page;
pub mod triage;

pub use findings::{FindingList, FindingRow, Findings, ReportToEvaluate, Scope};
pub use generic::{ChoiceLine, FormSource, InputForm, ListSource, ListView, TextField};
pub use group::{GroupRows, GroupView};
pub use indicators::{ArtifactList, FoundIndicators, IndicatorList, SandboxArtifacts};
pub use palette::{CommandList, Palette};
pub(crate) use picker::text_of;
pub use picker::{PickerRow, PickerRows, RowPicker, Target};
pub use stored::{AgeForm, AgeInDays, AllNotes, NoteForm, StoreContents, StoredList, TypedNote};
pub(super) use text_page::paragraph;
pub use text_page::{Detail, ResponseTree, TextPage, TextRow};
pub use triage::{TriageList, TriagedFiles};

use crate::app::compare::{ComparisonList, OtherFileList};
use crate::app::export_form::ExportForm;
use crate::app::find::{HitList, SearchQuery};
use crate::app::panes::{Move, Scroll};
use crate::app::scan::SubmitForm;
use crate::app::spending::{Confirmation, CostView, Planner, Prompt};
use crate::app::{Area, Effect, Key, KeyContext, Layout, Model, OpenReport, Size};
use crate::request::Request;
use crate::text::ColumnWidth;
use jiff::Timestamp;

/// The open overlays, the lowest first.
#[derive(Debug, Default)]
pub struct OverlayStack {
    pub all: Vec<Overlay>,
}

impl OverlayStack {
    /// The overlay that has the keys.
    pub fn top(&self) -> Option<&Overlay> {
        self.all.last()
    }

    pub(super) fn top_mut(&mut self) -> Option<&mut Overlay> {
        self.all.last_mut()
    }

    pub(crate) fn top_as<T: OverlayKind>(&self) -> Option<&T> {
        self.top().and_then(T::of)
    }

    pub(super) fn top_as_mut<T: OverlayKind>(&mut self) -> Option<&mut T> {
        self.top_mut().and_then(T::of_mut)
    }

    /// The top overlay if it is the form of this request.
    pub(super) fn prompt_of(&mut self, request: &Request, now: Timestamp) -> Option<&mut Prompt> {
        self.top_as_mut::<Prompt>().filter(|form| form.is_for(request, now))
    }

    /// Whether the top overlay is a text page whose title has this prefix.
    pub(super) fn shows_page(&self, title: &str) -> bool {
        self.top_as::<TextPage>().is_some_and(|text_page| text_page.title.starts_with(title))
    }

    pub(super) fn change_top<T: OverlayKind>(&mut self, change: impl FnOnce(&mut T)) {
        self.top_as_mut().map(change);
    }

    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Whether the row under the cursor is visible: in its pane, or in its details.
    pub(super) fn shows_row(&self) -> bool {
        matches!(self.all.as_slice(), [] | [Overlay::Detail(_)])
    }

    pub(super) fn find<T: OverlayKind>(&self) -> Option<&T> {
        self.all.iter().rev().find_map(T::of)
    }

    pub(super) fn find_mut<T: OverlayKind>(&mut self) -> Option<&mut T> {
        self.all.iter_mut().rev().find_map(T::of_mut)
    }

    pub(super) fn put(&mut self, overlay: impl Into<Overlay>) {
        self.all.push(overlay.into());
    }

    pub(super) fn close(&mut self) -> Option<Overlay> {
        self.all.pop()
    }
}

/// A kind of overlay, by which [`OverlayStack`] finds it.
pub(crate) trait OverlayKind: Into<Overlay> {
    fn of(overlay: &Overlay) -> Option<&Self>;
    fn of_mut(overlay: &mut Overlay) -> Option<&mut Self>;
}

/// A row per overlay: its variant and its type, which implements [`OverlayScreen`].
macro_rules! overlays {
    ($($(#[$about:meta])* $variant:ident($kind:ty),)*) => {
        #[derive(Debug)]
        pub enum Overlay {
            $($(#[$about])* $variant($kind),)*
        }

        impl Overlay {
            pub(crate) fn screen(&self) -> &dyn OverlayScreen {
                match self {
                    $(Self::$variant(screen) => screen,)*
                }
            }

            pub(crate) fn screen_mut(&mut self) -> &mut dyn OverlayScreen {
                match self {
                    $(Self::$variant(screen) => screen,)*
                }
            }
        }

        $(impl From<$kind> for Overlay {
            fn from(screen: $kind) -> Self {
                Self::$variant(screen)
            }
        }

        impl OverlayKind for $kind {
            fn of(overlay: &Overlay) -> Option<&Self> {
                if let Overlay::$variant(screen) = overlay { Some(screen) } else { None }
            }

            fn of_mut(overlay: &mut Overlay) -> Option<&mut Self> {
                if let Overlay::$variant(screen) = overlay { Some(screen) } else { None }
            }
        })*
    };
}

overlays! {
    /// Text of the program, row by row: prices, counters, usage, ledger, a scan's progress.
    TextPage(TextPage),
    Detail(Detail),
    Palette(Palette),
    Prompt(Prompt),
    Confirm(Confirmation),
    Response(ResponseTree),
    HitList(HitList),
    Planner(Planner),
    Indicators(IndicatorList),
    SandboxArtifacts(ArtifactList),
    Export(ExportForm),
    ComparisonList(ComparisonList),
    OtherFileList(OtherFileList),
    RowPicker(RowPicker),
    Findings(FindingList),
    Note(NoteForm),
    Stored(StoredList),
    Triage(TriageList),
    Age(AgeForm),
    Group(GroupView),
    Costs(CostView),
    Submit(SubmitForm),
}

pub(crate) trait OverlayScreen {
    fn key_context(&self) -> KeyContext;

    /// Rows inside its frame at a width; all available rows unless it needs fewer.
    fn height(&self, _: usize) -> usize {
        usize::MAX
    }

    /// The window of rows with a cursor; `None` without a cursor.
    fn choice(&self, _: Size, _: &Model) -> Option<RowWindow> {
        None
    }

    fn scroll(&mut self) -> Option<&mut Scroll> {
        None
    }

    fn go(&mut self, movement: Move, room: Size, rows: Option<RowWindow>) {
        if let Some((rows, scroll)) = rows.zip(self.scroll()) {
            scroll.go(movement, rows.count, rows.height(room));
        }
    }

    fn lay_out(&mut self, _: usize) {}

    /// Clamps the cursor and the window after the rows or the room have changed.
    fn fit(&mut self, room: Size, rows: Option<RowWindow>) {
        self.lay_out(room.width.into());
        self.go(Move::Up(0), room, rows);
    }

    fn filter(&mut self) -> Option<&mut SearchQuery> {
        None
    }

    /// Empties the filter and ends typing; returns whether there was a filter.
    fn clear_filter(&mut self) -> bool {
        let is_filter = !matches!(self.key_context(), KeyContext::Palette | KeyContext::Finder | KeyContext::Hits);
        is_filter && self.filter().is_some_and(|filter| std::mem::take(filter).rows() > 0)
    }

    fn field(&mut self) -> Option<&mut TextField> {
        self.filter().filter(|filter| filter.is_typing).map(|filter| &mut filter.typed)
    }

    /// Processes a key of its own before the field; returns whether it did.
    fn press(&mut self, _: Key) -> bool {
        false
    }

    /// Follows a change of the field; returns the job that it needs.
    fn on_typed(&mut self, _: Option<&OpenReport>, _: Timestamp) -> Option<Effect> {
        None
    }
}

/// The visible part of an overlay's rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RowWindow {
    pub scroll: Scroll,
    pub count: usize,
    /// Screen rows above the first visible one.
    pub above: usize,
    /// Screen rows below the last visible one.
    pub below: usize,
}

impl RowWindow {
    /// Screen rows left for the rows.
    pub(crate) fn height(&self, room: Size) -> usize {
        usize::from(room.height).saturating_sub(self.above + self.below).max(1)
    }

    /// The index of the row at a screen row inside the frame, from 0.
    pub fn at(&self, row: usize, room: Size) -> Option<usize> {
        let row = row.checked_sub(self.above).filter(|row| *row < self.height(room))?;
        Some(self.scroll.top + row).filter(|row| *row < self.count)
    }
}

impl Overlay {
    pub(crate) fn key_context(&self) -> KeyContext {
        self.screen().key_context()
    }

    /// Its area; for a form, whose height depends on its text, the maximum.
    pub fn area(&self, layout: &Layout) -> Area {
        let columns = usize::from(layout.overlay.width).saturating_sub(4).max(10);
        Self::area_of(self.screen().height(columns), layout)
    }

    /// Returns the area for some rows, low to show those behind; a high one covers the detail too.
    pub fn area_of(rows: usize, layout: &Layout) -> Area {
        let content = layout.content;
        let whole = layout.overlay;
        let rows = u16::try_from(rows).unwrap_or(u16::MAX).saturating_add(2);
        let room = if rows > content.height { whole.height } else { content.height.min(whole.height) };
        let height = rows.min(room);
        Area { y: whole.y + room - height, height, ..whole }
    }
}

/// Joins text pieces with dots, wrapped to a width.
pub(crate) fn pieces_in_rows(pieces: &[String], columns: usize) -> Vec<String> {
    let mut rows: Vec<String> = Vec::new();
    for piece in pieces {
        match rows.last_mut() {
            Some(row) if row.columns() + piece.columns() + 3 <= columns => {
                row.push_str(" · ");
                row.push_str(piece);
            }
            _ => rows.push(piece.clone()),
        }
    }
    rows
}

impl Model {
    /// Columns and rows inside an overlay's frame.
    pub fn overlay_room(&self) -> Size {
        let area = self.layout().overlay;
        Size { width: area.width.saturating_sub(4), height: area.height.saturating_sub(2) }
    }

    /// The window of the top overlay's rows.
    pub fn rows_over(&self) -> Option<RowWindow> {
        self.overlays.top()?.screen().choice(self.overlay_room(), self)
    }
}
