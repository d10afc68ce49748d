//! The store, a row an item, with the facts of the chosen one below.

use super::canvas::LineWriter;
use super::list::since;
use super::list_view::DrawList;
use super::theme::Meaning;
use crate::app::Model;
use crate::app::over::held::{self, HeldScreen, StoreContents};
use crate::app::over::notes::MARK;
use crate::report::{Held, Holding, Retention};
use crate::text::{bytes, thousands};

/// Where the columns begin, by how wide the screen is: file, what, received, raw, on disk, at the service, from.
pub(super) struct HeldColumns {
    what: usize,
    received: usize,
    raw: Option<usize>,
    on_disk: usize,
    service: Option<usize>,
    from: Option<usize>,
}

impl HeldColumns {
    fn of(width: usize) -> Self {
        match width {
            0..60 => Self { what: 0, received: 17, raw: None, on_disk: 28, service: None, from: None },
            60..100 => Self { what: 15, received: 35, raw: None, on_disk: 47, service: Some(58), from: None },
            _ => Self { what: 15, received: 42, raw: Some(59), on_disk: 71, service: Some(82), from: Some(94) },
        }
    }
}

impl DrawList for StoreContents {
    type Columns = HeldColumns;

    const EMPTY: &'static str = "Nothing is held.";

    /// How much there is.
    fn title(list: &HeldScreen, _: &Model) -> String {
        let StoreContents { lines, order } = &list.source;
        let sum = |of: fn(&Holding) -> u64| bytes(lines.iter().map(of).fold(0, u64::saturating_add));
        let all = thousands(lines.len() as u64);
        let count = match list.filter.typed.is_empty() {
            true => all,
            false => format!("{} of {all}", thousands(list.counts().0 as u64)),
        };
        format!("Held: {count} · {} · {} on disk · {}", sum(|l| l.bytes), sum(|l| l.on_disk), order.name())
    }

    fn columns(&self, _: &[&Holding], room: usize, _: &Model) -> HeldColumns {
        HeldColumns::of(room)
    }

    fn draw_head(&self, mut line: LineWriter<'_, '_>, columns: &HeldColumns) {
        let mut head = |column: Option<usize>, text: &str| {
            if let Some(column) = column {
                line.tab(column);
                line.own(text, Meaning::Strong);
            }
        };
        head(Some(0).filter(|_| columns.what > 0), "file");
        head(Some(columns.what), "sandbox");
        head(Some(columns.received), "received");
        head(columns.raw, "size");
        head(Some(columns.on_disk), "on disk");
        head(columns.service, "at service");
        head(columns.from, "from");
    }

    fn draw_row(&self, mut line: LineWriter<'_, '_>, columns: &HeldColumns, thing: &Holding, model: &Model) {
        if columns.what > 0 {
            let file = thing.file.as_ref().map_or_else(|| "-".to_owned(), |file| file.short());
            line.own(&file, Meaning::Text);
        }
        line.tab(columns.what);
        let notes = if thing.notes > 0 { format!(" {MARK}{}", thing.notes) } else { String::new() };
        let room = columns.received.saturating_sub(columns.what + 2 + notes.chars().count());
        line.visible(&held::title(thing).cut(room), Meaning::Strong);
        line.own(&notes, Meaning::Key);
        let all = [Some(columns.received), columns.raw, Some(columns.on_disk), columns.service, columns.from];
        let mut cell = |column: Option<usize>, text: &str, meaning| {
            if let Some(column) = column {
                line.tab(column);
                // Two numbers that touch are read as one.
                let next =
                    all.iter().flatten().find(|next| **next > column).map_or(usize::MAX, |next| next - column - 1);
                line.own_cut(text, line.room().min(next), meaning);
            }
        };
        let received = since(thing.received, model.now);
        let received = match columns.raw {
            // A narrow screen shows dates without the year.
            None => received.get(5..).filter(|short| !short.is_empty()).unwrap_or(&received),
            Some(_) => &received,
        };
        cell(Some(columns.received), received, Meaning::Text);
        cell(columns.raw, &bytes(thing.bytes), Meaning::Text);
        cell(Some(columns.on_disk), &bytes(thing.on_disk), Meaning::Text);
        cell(columns.service, &thing.retention(model.now).map(Retention::short).unwrap_or_default(), Meaning::Text);
        cell(columns.from, &from(thing), Meaning::Text);
    }

    fn words_below(&self, chosen: Option<&Holding>, model: &Model) -> Option<(String, Meaning)> {
        Some((about(chosen?, model), Meaning::Faint))
    }
}

fn from(thing: &Holding) -> String {
    match &thing.imported {
        Some(imported) => format!("file {}", imported.from.visible_cut(24)),
        None if matches!(thing.what, Held::Notes(_)) => "notes alone".to_owned(),
        None if thing.is_quarantined() => "quarantined".to_owned(),
        None => own(&thing.profile),
    }
}

/// All that is known of a thing, in sentences.
fn about(thing: &Holding, model: &Model) -> String {
    let name = thing.name.as_ref().map(|name| format!("{} · ", name.visible_cut(40))).unwrap_or_default();
    let from = match &thing.imported {
        Some(imported) => format!("imported {}", imported.words()),
        None if matches!(thing.what, Held::Notes(_)) => "notes alone, on a report that is not stored".to_owned(),
        None => format!("asked of {}", own(&thing.profile)),
    };
    let service = thing.retention(model.now).map(|found| format!(" · {}", found.words())).unwrap_or_default();
    let when = crate::text::moment(thing.received);
    let size = format!("{}, {} on disk", bytes(thing.bytes), bytes(thing.on_disk));
    format!("{name}{from} on {when} · {size}{service}")
}

/// A profile's name, made harmless.
fn own(name: &str) -> String {
    crate::text::Untrusted::from(name).visible_cut(24).to_string()
}
