//! Rows of lists: palette, store, triage, group, costs, targets, indicators, artifacts, export.

use super::canvas::{Canvas, LineWriter, StyledText};
use super::list::{age, price_text, progress, since};
use super::overlay::{DrawForm, DrawList, ListTable, covered, shown_of};
use super::pane::{columns_of, severity_tint, width_of};
use super::theme::Role;
use crate::app::export_form::{ExportForm, ExportTarget};
use crate::app::list::Next;
use crate::app::overlays::group::{GroupRows, GroupView};
use crate::app::overlays::indicators::{
    ArtifactList, FoundIndicators, IndicatorList, Part, SandboxArtifacts, TO_BLOCK,
};
use crate::app::overlays::palette::{CommandList, Palette, PaletteItem};
use crate::app::overlays::picker::{PickerRow, PickerRows, RowPicker};
use crate::app::overlays::stored::{self, MARK, StoreContents, StoredList, origin};
use crate::app::overlays::triage::{TriageList, TriagedFiles};
use crate::app::scan::ScanField;
use crate::app::spending::counters::{CostRows, CostView, CountersView};
use crate::app::{Area, Model};
use crate::prevalence::Rarity;
use crate::report::attributes::{AT_LEAST, cut_lists_label};
use crate::report::indicators::{ITSELF, MergedIndicator, Sighting};
use crate::report::rules::Severity;
use crate::report::{Retention, StoredItem};
use crate::request::{GroupList, Request};
use crate::text::{ColumnWidth, Untrusted, bytes, count, thousands, wrap_cut};
use crate::triage::{HEADINGS, TriagedFile};
use jiff::Timestamp;

/// The most columns of a text from outside in a cell.
const MAX_CELL: usize = 60;

/// The width from which the store list has sizes and origins.
const SIZED_COLUMNS: usize = 100;

impl DrawList for StoreContents {
    const HEADS: &'static [&'static str] = &["file", "sandbox", "received", "size", "on disk", "at service", "from"];

    const EMPTY: &'static str = "The store is empty.";

    fn title(list: &StoredList, _: &Model) -> String {
        let sum = |of: fn(&StoredItem) -> u64| bytes(list.shown(0).map(of).fold(0, u64::saturating_add));
        let count = shown_of(list.counts(), "item");
        let order = list.source.order_name();
        format!("Stored · {count} · {} · {} on disk · {order}", sum(|l| l.bytes), sum(|l| l.on_disk))
    }

    fn columns(_: &StoredList, _: &[&StoredItem], room: usize, _: &Model) -> ListTable {
        ListTable::of(match room {
            0..60 => [0, 17, 11, 0, room, 0, 0],
            60..SIZED_COLUMNS => [15, 20, 12, 0, 11, room, 0],
            _ => [15, 27, 17, 12, 11, 12, room],
        })
    }

    fn draw_row(_: &StoredList, mut line: LineWriter<'_>, at: &ListTable, thing: &StoredItem, model: &Model) {
        let cells = [
            thing.file.as_ref().map_or_else(|| "-".to_owned(), |file| file.short()),
            stored::title(thing).to_string(),
            dated(thing.received, line.room(), model),
            bytes(thing.bytes),
            bytes(thing.on_disk),
            thing.retention(model.now).map(|found| found.short(model.now)).unwrap_or_default(),
            origin(thing),
        ];
        let notes = if thing.notes > 0 { format!(" {MARK}{}", thing.notes) } else { String::new() };
        for (number, cell) in cells.iter().enumerate() {
            let (notes, meaning) = if number == 1 { (notes.as_str(), Role::Strong) } else { ("", Role::Text) };
            at.cell(&mut line, number, |line, _| {
                line.own_cut(cell, line.room().saturating_sub(notes.columns()), meaning);
                line.own(notes, Role::Key);
            });
        }
    }

    fn text_below(list: &StoredList, model: &Model) -> Option<StyledText> {
        Some((about(list.chosen()?, model), Role::Faint))
    }
}

impl DrawList for TriagedFiles {
    const HEADS: &'static [&'static str] = &HEADINGS;

    fn title(list: &TriageList, _: &Model) -> String {
        format!("Triage · {} · missing: {}", shown_of(list.counts(), "file"), list.source.total)
    }

    fn progress_text(list: &TriageList) -> Option<&'static str> {
        (!list.source.is_complete()).then_some("looking")
    }

    fn absent(list: &TriageList, _: &Model) -> String {
        if list.source.of == Some(0) { "No report is stored." } else { "" }.to_owned()
    }

    fn columns(_: &TriageList, _: &[&TriagedFile], room: usize, _: &Model) -> ListTable {
        ListTable::of(match room {
            0..60 => [15, 11, 0, 10, 0, 0, 0, 0, 0, 0, room],
            60..SIZED_COLUMNS => [15, 11, 0, 10, 0, 0, 5, 0, room.saturating_sub(60), 6, room],
            _ => [15, 11, (room - 76) / 3, 14, 0, 0, 5, 7, (room - 76) / 3 * 2, 7, room],
        })
    }

    fn draw_row(_: &TriageList, mut line: LineWriter<'_>, at: &ListTable, file: &TriagedFile, model: &Model) {
        let more = if file.is_open() { AT_LEAST } else { "" };
        let price = format!("{}{more}", model.quota_state.price_of_reports(&file.missing));
        let cells = file.cells(String::new(), price);
        let roles = HEADINGS.map(|name| match name {
            "file" => Role::Strong,
            "missing" => Role::Price,
            _ => Role::Text,
        });
        at.text(&mut line, 0, &file.file.short(), Role::Strong);
        for (number, (cell, meaning)) in cells.iter().zip(roles).enumerate().skip(1) {
            at.text(&mut line, number, cell.visible_cut(MAX_CELL).as_str(), meaning);
        }
    }

    fn text_below(list: &TriageList, model: &Model) -> Option<StyledText> {
        let file = list.chosen()?;
        let name = model.start.name_of(&file.file).cloned();
        let counts = [(file.high, "high rule"), (file.medium, "medium rule")].into_iter().filter(|(n, _)| *n > 0);
        let rules = counts.map(|(n, what)| count(n as u64, what)).chain(file.top.iter().cloned()).map(Untrusted::from);
        let parts = name.into_iter().chain(file.labels.clone()).chain(rules).map(|text| text.visible_cut(MAX_CELL));
        let parts = parts.map(|part| part.to_string()).chain(file.unavailable.clone());
        Some((parts.collect::<Vec<_>>().join(" · "), Role::Detail))
    }
}

impl DrawList for CostRows {
    const HEADS: &'static [&'static str] = &["by", "name", "calls", "spent", "saved", "unit"];

    fn title(list: &CostView, _: &Model) -> String {
        format!("Who spends · this month · {}", shown_of(list.counts(), "sum"))
    }

    fn columns(_: &CostView, _: &[&Self::Row], room: usize, _: &Model) -> ListTable {
        ListTable::of([10, room.saturating_sub(44).max(12), 8, 9, 8, 9])
    }

    fn draw_row(_: &CostView, mut line: LineWriter<'_>, at: &ListTable, (by, sum): &Self::Row, _: &Model) {
        at.text(&mut line, 0, by.name(), Role::Faint);
        (1..).zip(sum.cells()).for_each(|(number, cell)| at.text(&mut line, number, &cell, Role::Text));
    }

    fn text_below(_: &CostView, model: &Model) -> Option<StyledText> {
        let balances = model.quota_state.balances_now(model.now)?;
        let projections = CountersView::new(&balances, model.now).projections;
        Some((projections.iter().map(ToString::to_string).collect::<Vec<_>>().join(" · "), Role::Detail))
    }
}

/// Returns a time since which something is so; without the year on a narrow screen.
fn dated(at: Timestamp, room: usize, model: &Model) -> String {
    let mut shown = since(at, model.now);
    if room < SIZED_COLUMNS && shown.len() > 5 {
        shown.drain(..5);
    }
    shown
}

fn about(thing: &StoredItem, model: &Model) -> String {
    let name = thing.name.as_ref().map(|name| format!("{} · ", name.visible_cut(40))).unwrap_or_default();
    let service = thing.retention(model.now).map(|found| format!(" · {}", found.label())).unwrap_or_default();
    let when = crate::text::moment(thing.received);
    let size = format!("{}, {} on disk", bytes(thing.bytes), bytes(thing.on_disk));
    format!("{name}{}, {when} · {size}{service}", origin(thing))
}

impl DrawList for GroupRows {
    const HEADS: &'static [&'static str] =
        &["file", "name", "type", "size", "analysed", "expires", "status", "reports"];

    fn title(list: &GroupView, model: &Model) -> String {
        let rows = &list.source;
        let (shown, all) = list.counts();
        let after = usize::from(rows.next != Next::Nothing);
        let count = shown_of((shown - after.min(shown), all - after.min(all)), "entry");
        let total = rows.total.map(|total| format!(" of {} listed", thousands(total))).unwrap_or_default();
        let since = rows.since.map(|at| format!(" · listed {} ago", age(at, model.now))).unwrap_or_default();
        format!("Group's {} · {count}{total}{since} · {}", rows.list.label(), rows.order_name())
    }

    /// Leaves out type and size of analyses.
    fn columns(list: &GroupView, _: &[&Self::Row], room: usize, _: &Model) -> ListTable {
        let [expires, status] = if list.source.list == GroupList::Files { [12, 0] } else { [0, 12] };
        ListTable::of(match (room, list.source.list) {
            (0..60, _) => [15, room.saturating_sub(27), 0, 0, 0, expires, status, 0],
            (SIZED_COLUMNS.., GroupList::Files) => [15, room.saturating_sub(81), 18, 11, 17, expires, status, 8],
            (SIZED_COLUMNS.., _) => [15, room.saturating_sub(52), 0, 0, 17, expires, status, 8],
            _ => [15, room.saturating_sub(47), 0, 0, 12, expires, status, 8],
        })
    }

    fn draw_row(list: &GroupView, mut line: LineWriter<'_>, at: &ListTable, entry: &Self::Row, model: &Model) {
        let Some(entry) = entry else {
            let (text, meaning) = next_row(&list.source, model);
            return line.own(&text, meaning);
        };
        let text = |text: &Option<Untrusted>| text.as_ref().map(|text| text.visible_cut(120).to_string());
        let reports = entry.file.as_ref().and_then(|file| list.source.reports.get(file));
        let known = entry.file.as_ref().and_then(|file| model.start.name_of(file)).cloned();
        let cells = [
            entry.file.as_ref().map_or_else(|| "-".to_owned(), |file| file.short()),
            text(&entry.name).or_else(|| text(&known)).unwrap_or_default(),
            text(&entry.kind).unwrap_or_default(),
            entry.size.map(bytes).unwrap_or_default(),
            entry.at.map(|at| dated(at, line.room(), model)).unwrap_or_default(),
            entry.expires.map(|at| Retention::until(at, model.now).short(model.now)).unwrap_or_default(),
            entry.scan.as_ref().map(|(_, progress)| progress.label()).unwrap_or_default(),
            reports.map_or_else(|| "-".to_owned(), |count| thousands(*count)),
        ];
        for (number, cell) in cells.iter().enumerate() {
            let meaning = if number == 1 { Role::Strong } else { Role::Text };
            at.cell(&mut line, number, |line, _| line.own_cut(cell, line.room(), meaning));
        }
    }

    fn text_below(list: &GroupView, model: &Model) -> Option<StyledText> {
        let Some(entry) = list.chosen()? else { return Some(next_row(&list.source, model)) };
        let texts = [&entry.name, &entry.kind].into_iter().flatten().map(|text| text.visible_cut(80).to_string());
        let expiry = entry.expires.map(|expires| Retention::until(expires, model.now).label());
        let status = entry
            .scan
            .as_ref()
            .map(|(id, progress)| format!("analysis {}: {}", id.text().visible_cut(60), progress.label()));
        let file = entry.file.as_ref().map(ToString::to_string);
        let words = texts.chain(status).chain(expiry).chain(file).collect::<Vec<_>>().join(" · ");
        Some((words, Role::Faint))
    }
}

/// Describes the row after the entries: the next page and its price.
fn next_row(rows: &GroupRows, model: &Model) -> StyledText {
    let Some(request) = rows.next_page() else {
        return ("no way to the next page: its cursor is unusable".to_owned(), Role::Problem);
    };
    match model.calls.of_request(&request) {
        Some(call) => (format!("◌ listing … {}", progress(call, model.now)), Role::Strong),
        None => {
            let which = if rows.since.is_some() { "next page" } else { "first page" };
            (format!("+ {which} · {}", price_text(model, &request)), Role::Price)
        }
    }
}

/// The minimum columns of a long row beside its heading.
const MIN_ROW_COLUMNS: usize = 44;

impl DrawList for PickerRows {
    fn title(list: &RowPicker, _: &Model) -> String {
        format!("{} · {}", list.source.title, shown_of(list.counts(), "row"))
    }

    /// Columns as wide as the visible rows need.
    fn columns(_: &RowPicker, rows: &[&PickerRow], room: usize, _: &Model) -> ListTable {
        let shown: Vec<_> = rows.iter().filter_map(|picker_row| picker_row.row.as_ref()).collect();
        let labels = columns_of(shown.iter().map(|row| &row.label));
        // Headings get what the widest visible row leaves; a long row is cut for them.
        let row = shown.iter().map(|row| width_of(&row.pieces)).max().unwrap_or(0).min(MIN_ROW_COLUMNS);
        let spare = room.saturating_sub(1 + labels + row).max(room * 2 / 5);
        let heads = rows.iter().map(|picker_row| picker_row.head.columns()).max().unwrap_or(0);
        ListTable { labels, ..ListTable::of([heads.min(spare) + 1, room]) }
    }

    fn draw_row(_: &RowPicker, mut line: LineWriter<'_>, at: &ListTable, picker_row: &PickerRow, _: &Model) {
        let meaning = if picker_row.target.is_some() { Role::Strong } else { Role::Faint };
        at.text(&mut line, 0, &picker_row.head, meaning);
        at.text(&mut line, 1, &picker_row.text, Role::Faint);
        picker_row.row.iter().for_each(|row| at.row(&mut line, 1, row, Role::Text));
    }
}

const KIND_COLUMNS: usize = 11;

/// Widths from which indicators show "to block", and where they were seen.
const NARROW_COLUMNS: usize = 44;
const WIDE_COLUMNS: usize = 64;

/// The part of the width for names of sandboxes, as a divisor.
const NAMES_DIVISOR: usize = 4;

impl DrawList for FoundIndicators {
    const HINT: &'static str = "a value, a kind, to block";

    const EMPTY: &'static str = "No report names a hash, host, address, URL, path, key or mutex.";

    fn title(list: &IndicatorList, model: &Model) -> String {
        let FoundIndicators { sandboxes, what, .. } = &list.source;
        let name = (sandboxes.len() == 1).then(|| sandboxes.first().map(|(name, _)| name.visible_cut(40)));
        let scope = covered(name.flatten(), sandboxes.len(), list.source.unread(), model);
        let what = if *what == Part::Indicators { String::new() } else { format!("{} · ", choice_name(what)) };
        let cut = cut_lists_label(list.source.cut_lists()).map(|cut| format!(" · {cut}")).unwrap_or_default();
        format!("Indicators · {scope} · {what}{}{cut}", shown_of(list.counts(), "indicator"))
    }

    fn progress_text(list: &IndicatorList) -> Option<&'static str> {
        (!list.source.is_complete()).then_some("looking")
    }

    fn columns(list: &IndicatorList, rows: &[&MergedIndicator], room: usize, _: &Model) -> ListTable {
        let widest = rows.iter().map(|found| seen(list, found, room / NAMES_DIVISOR).columns()).max().unwrap_or(0);
        let seen = if room >= WIDE_COLUMNS { widest } else { 0 };
        let to_block = if room >= NARROW_COLUMNS { TO_BLOCK.len() + 1 } else { 0 };
        ListTable::of([KIND_COLUMNS, room.saturating_sub(KIND_COLUMNS + to_block + seen), to_block, seen])
    }

    fn draw_head(list: &IndicatorList, buffer: &mut Canvas<'_>, area: Area, _: &Model) {
        let mut line = LineWriter::new(buffer, area, 0);
        // Brackets mark the shown kind, for terminals without colour.
        for (what, count) in &list.source.choices {
            let text = format!("{} {}", choice_name(what), thousands(*count as u64));
            match *what == list.source.what {
                true => line.own(&format!("[{text}]"), Role::Focus),
                false => line.own(&format!(" {text} "), Role::Text),
            }
        }
    }

    fn draw_row(list: &IndicatorList, mut line: LineWriter<'_>, at: &ListTable, found: &Self::Row, _: &Model) {
        let mark = found.severity();
        let names = line.room() / NAMES_DIVISOR;
        line.own(mark.map_or(" ", Severity::sign), mark.map_or(Role::Faint, severity_tint));
        line.own(&format!(" {} ", found.kind().name()), Role::Faint);
        let is_noise = mark == Some(Severity::Noise) || list.source.prevalence(found).rarity() == Rarity::Noise;
        let meaning = if is_noise { Role::Faint } else { Role::Text };
        at.cell(&mut line, 1, |line, _| line.visible(&found.defanged(), meaning));
        at.text(&mut line, 2, if found.is_to_block() { TO_BLOCK } else { "" }, Role::Strong);
        at.text(&mut line, 3, &seen(list, found, names), Role::Detail);
    }

    /// Why the indicator is to block or not; its whole value and sightings.
    fn text_below(list: &IndicatorList, model: &Model) -> Option<StyledText> {
        let found = list.chosen()?;
        let rule = model.rules.as_ref().zip(found.rule()).and_then(|(rules, rule)| rules.rule(rule));
        let rule = rule.map(|rule| format!("{} ({})", rule.name, rule.severity.name()));
        let why = match (found.not_to_block(), rule) {
            (None, rule) => format!("{TO_BLOCK}: {}", rule.as_deref().unwrap_or(ITSELF)),
            (Some(why), None) => format!("not {TO_BLOCK}: {why}"),
            (Some(why), Some(rule)) => format!("not {TO_BLOCK}: {why}; {rule}"),
        };
        let seen = found.sightings().map(|sighting| match list.source.sandboxes.get(sighting.report) {
            Some((name, _)) if list.source.sandboxes.len() > 1 => {
                format!("{}: {}", name.visible_cut(40), first_place(list, sighting))
            }
            _ => first_place(list, sighting),
        });
        let common = list.source.prevalence(found).label().map(|label| format!("{label} · ")).unwrap_or_default();
        Some((format!("{why} · {common}{} · {}", found.defanged(), seen.collect::<Vec<_>>().join(", ")), Role::Detail))
    }
}

fn choice_name(what: &Part) -> &'static str {
    match what {
        Part::OfKind(kind) => kind.name(),
        Part::ToBlock => TO_BLOCK,
        _ => "all",
    }
}

/// The sandboxes that saw an indicator with their number of rows; for one sandbox the first row.
fn seen(list: &IndicatorList, found: &MergedIndicator, names: usize) -> String {
    let all = &list.source.sandboxes;
    if all.len() == 1 {
        return first_place(list, &found.first);
    }
    let by: Vec<_> = found.sightings().filter_map(|sighting| all.get(sighting.report)).collect();
    let words = by.iter().map(|(name, _)| name.visible_cut(names).to_string()).collect::<Vec<_>>().join(", ");
    let words = match words.columns() <= names {
        true => words,
        false if by.len() == all.len() => format!("all {}", all.len()),
        false => format!("{} of {}", by.len(), all.len()),
    };
    let rows = if found.seen() == 0 { ITSELF.to_owned() } else { count(found.seen(), "row") };
    format!("{words} · {rows}")
}

/// The first row where a report names an indicator, and the number of further rows.
fn first_place(list: &IndicatorList, sighting: &Sighting) -> String {
    let place = sighting.indicator.places.first();
    let section = place.and_then(|place| list.source.section(sighting.report, *place));
    let Some((place, section)) = place.zip(section) else { return ITSELF.to_owned() };
    let pane = section.pane().short();
    let name = || section.name.visible_cut(20).to_string();
    let label = section.attribute.map_or_else(name, |attribute| attribute.label.to_owned());
    let gap = if label.is_empty() { "" } else { " " };
    let more = sighting.indicator.seen.checked_sub(1).filter(|more| *more > 0);
    let more = more.map(|more| format!(" +{}", thousands(more))).unwrap_or_default();
    let decoded = if sighting.indicator.is_decoded { "decoded · " } else { "" };
    format!("{decoded}{pane} {label}{gap}{}{more}", thousands(place.row as u64 + 1))
}

impl DrawList for SandboxArtifacts {
    fn title(_: &ArtifactList, _: &Model) -> String {
        "Artifacts".to_owned()
    }

    fn draw_row(list: &ArtifactList, mut line: LineWriter<'_>, _: &ListTable, row: &Self::Row, model: &Model) {
        let (artifact, stored) = row;
        let request = list.source.request(*artifact);
        line.own(artifact.label(), Role::Text);
        line.tab(18);
        match (stored, model.calls.of_request(&request)) {
            (_, Some(call)) => line.own(&format!("◌ {}", progress(call, model.now)), Role::Strong),
            (Some(when), None) => {
                let since = since(*when, model.now);
                let key = model.key_label("download");
                line.own(&format!("stored {since}, 0: {key} writes it to a file"), Role::Free);
            }
            (None, None) => {
                line.own(&format!("not stored · {}", model.quota_state.price(&request).short()), Role::Price)
            }
        }
    }

    fn text_below(list: &ArtifactList, _: &Model) -> Option<StyledText> {
        list.source.failure.as_ref().map(|failure| (failure.label(), Role::Problem))
    }
}

/// The width from which commands have their subjects beside them.
const ROOMY_COLUMNS: usize = 90;

impl DrawList for CommandList {
    fn title(list: &Palette, _: &Model) -> String {
        let subject = list.chosen().filter(|_| list.filter.typed.is_empty()).map(|item| format!(" · {}", item.subject));
        format!("Keys and commands{}", subject.unwrap_or_default())
    }

    fn prompt(_: &Palette) -> String {
        ":".to_owned()
    }

    fn columns(list: &Palette, _: &[&PaletteItem], room: usize, _: &Model) -> ListTable {
        let widest = |cell: fn(&PaletteItem) -> &str| list.shown(0).map(|item| cell(item).columns()).max().unwrap_or(0);
        let subjects =
            if room >= ROOMY_COLUMNS && list.filter.typed.is_empty() { widest(|item| item.subject) + 2 } else { 0 };
        // Labels give way to keys and names, which must not be cut.
        let keys = widest(|item| &item.keys).clamp(4, (room / 5).max(4)) + 1;
        ListTable::of([subjects, keys, widest(|item| item.name).min(room / 4) + 1, room])
    }

    fn draw_row(list: &Palette, mut line: LineWriter<'_>, at: &ListTable, item: &PaletteItem, _: &Model) {
        let is_first = list.shown(list.scroll.top).next().is_some_and(|first| std::ptr::eq(first, item));
        if item.is_head || is_first {
            at.text(&mut line, 0, item.subject, Role::Strong);
        }
        let (key, name) = if item.off.is_some() { (Role::Faint, Role::Faint) } else { (Role::Key, Role::Strong) };
        at.text(&mut line, 1, &item.keys, key);
        at.text(&mut line, 2, item.name, name);
        let whole = |words: &str, room| wrap_cut(words, room, 1).concat();
        at.cell(&mut line, 3, |line, _| {
            if let Some(why) = &item.off {
                return line.own(&whole(&format!("off: {why}"), line.room()), Role::Faint);
            }
            let price = item.price(line.room()).map(|price| format!("{price} · "));
            line.own(&price.unwrap_or_default(), Role::Price);
            // The full text of the chosen command is below the list.
            let clause = item.help.split([';', ':', '(', '.']).next().filter(|_| item.help.columns() > line.room());
            line.own(&whole(clause.unwrap_or(item.help).trim_end(), line.room()), Role::Text);
        });
    }

    fn text_below(list: &Palette, _: &Model) -> Option<StyledText> {
        let item = list.chosen()?;
        let off = item.off.as_ref().map(|why| format!(" Off now: {why}.")).unwrap_or_default();
        Some((format!("{}.{off}", item.help), Role::Detail))
    }
}

impl DrawForm for ExportTarget {
    const LABEL: usize = 8;
    const FIELDS: &'static [ScanField] = &[ScanField { label: "Name", hint: "path of the file", option: None }];

    fn title(form: &ExportForm, _: &Model) -> String {
        match &form.source.stored {
            None => "Export to a file".to_owned(),
            Some(Request::Artifact { identifier, artifact }) => {
                let sandbox = identifier.parts().sandbox;
                format!("Write the {} by {} to a file", artifact.label(), sandbox.visible_cut(40))
            }
            Some(request) => format!("Write {} to a file", request.label()),
        }
    }

    fn text(form: &ExportForm, _: &Model) -> Vec<StyledText> {
        if form.source.is_in_progress {
            return vec![("◌ writing …".to_owned(), Role::Strong)];
        }
        if let Some(failure) = &form.failure {
            return vec![(failure.label(), Role::Problem)];
        }
        let typing = if form.replaces_name() { " Typing replaces the name." } else { "" };
        vec![(form.left_out() + typing, Role::Detail)]
    }
}
