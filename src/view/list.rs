//! Draws the list of sandboxes, and the text in place of a missing report.

use super::canvas::{Canvas, LineWriter, StyledText, fitting, wrapped};
use super::overlay::window;
use super::pane::frame;
use super::theme::Role::{self, Strong, Text};
use crate::app::commands::Command;
use crate::app::list::{List, ListEntry, Next};
use crate::app::overlays::TextRow;
use crate::app::overlays::stored::MARK;
use crate::app::prevalence::why_next;
use crate::app::spending::InFlightCall;
use crate::app::{Area, Failure, Model, ResponseSource};
use crate::report::identifier::IdentifierParts;
use crate::report::page::NO_WAY_ON;
use crate::request::Request;
use crate::text::{ColumnWidth, Untrusted, bytes, count, thousands};
use jiff::Timestamp;

/// The maximum columns of a verdict; the columns after a name that its document needs.
const MAX_VERDICT_COLUMNS: usize = 18;
const MIN_DOCUMENT_COLUMNS: usize = 12;

pub(super) fn draw(buffer: &mut Canvas<'_>, area: Area, list: &List, model: &Model) {
    let has_focus = model.focused().is_none();
    let is_other = |entry: &&ListEntry| entry.report().is_some_and(|report| report.is_other_kind);
    let others = list.entries.iter().filter(is_other).count();
    let all = list.entries.len();
    let count = thousands((all - others) as u64);
    let title = match (list.total, &list.next) {
        (Some(total), Next::Page(Some(_))) => format!(" Sandboxes {count} of {} ", thousands(total)),
        (None, Next::Page(Some(_))) => format!(" Sandboxes {count}, more to come "),
        _ if others > 0 => format!(" Sandboxes {count} · others {} ", thousands(others as u64)),
        _ => format!(" Sandboxes {count} "),
    };
    if area.height == 1 {
        return draw_in_a_row(buffer, area, list, model);
    }
    let height = u16::try_from(model.list_row_height()).unwrap_or(1);
    let fit = usize::from(area.inside().height / height);
    let window = window(list.scroll.top, fit, list.count());
    let room = usize::from(area.inside().width).saturating_sub(title.columns() + 2);
    // The counts of the title have priority over the visible rows.
    let is_room = !window.is_empty() && window.columns() + 2 <= room;
    let right = if is_room { format!(" {window} ") } else { String::new() };
    let inside = frame(buffer, area, &title, &right, has_focus);
    for (row, position) in (0..).zip(list.scroll.top..list.count().min(list.scroll.top + fit)) {
        let is_chosen = position == list.scroll.cursor;
        let meaning = match (is_chosen, has_focus) {
            (true, true) => Role::Cursor,
            (true, false) => Role::Strong,
            _ => Role::Text,
        };
        let place = Area { y: inside.y + row * height, height, ..inside };
        match list.entries.get(position) {
            Some(entry) => draw_entry(buffer, place, entry, model, meaning),
            None => draw_next(buffer, place, list, model, meaning),
        }
    }
    if fit < list.count() && fit > 0 {
        buffer.scroll_mark(area, (list.scroll.top * usize::from(height), list.count() * usize::from(height)));
    }
}

/// Returns the full text of the chosen sandbox, or of the next page and its price.
pub(super) fn chosen_text(list: &List, model: &Model) -> String {
    let Some(entry) = list.chosen() else { return next_price(list, model) };
    let [sandbox, verdict, ran] = known(entry, 80);
    let identifier = entry.identifier.as_ref().map(|identifier| identifier.text().visible_cut(200).to_string());
    let document = entry.document.as_ref().map(|document| document.visible_cut(200).to_string());
    let state = Some(state(entry, model)).filter(|state| !state.is_empty());
    let next = entry.identifier.as_ref().filter(|_| entry.report().is_none() && entry.document.is_none());
    let next = next.and_then(|identifier| why_next(model, identifier));
    let twins = entry.report().and_then(|_| model.values.twins_label(&model.key_label("pivot")));
    let words = [sandbox, verdict, ran, state, next, twins, document, identifier];
    words.into_iter().flatten().collect::<Vec<_>>().join(" · ")
}

/// Returns its sandbox, its verdict, and when it ran.
pub(super) fn known(entry: &ListEntry, columns: usize) -> [Option<String>; 3] {
    let parts = entry.parts.as_ref();
    let verdict = entry.report().and_then(|report| report.verdict.as_ref());
    let cut = |text: &Untrusted| text.visible_cut(columns).to_string();
    [
        parts.map(|parts| cut(&parts.sandbox)),
        verdict.map(cut),
        parts.and_then(when).map(|when| format!("ran {when} UTC")),
    ]
}

/// Draws only the chosen sandbox, and the number of sandboxes.
fn draw_in_a_row(buffer: &mut Canvas<'_>, area: Area, list: &List, model: &Model) {
    let at = list.scroll.cursor + 1;
    let count = list.entries.len();
    let place = if at <= count { format!("{at}/{count} ") } else { format!("{count} ") };
    let head = format!(" Sandbox {place}");
    LineWriter::new(buffer, area, 0).own(&head, Role::Faint);
    let (_, rest) = area.columns(u16::try_from(head.columns()).unwrap_or(u16::MAX));
    match list.chosen() {
        Some(entry) => draw_entry(buffer, rest, entry, model, Role::Text),
        None => draw_next(buffer, rest, list, model, Role::Text),
    }
}

/// Returns the role of a verdict, whose text has the same meaning.
pub(super) fn verdict_tint(verdict: &str) -> Role {
    let is = |words: &[&str]| words.iter().any(|word| verdict.starts_with(word));
    match verdict {
        _ if is(&["CLEAN", "HARMLESS", "UNDETECTED"]) => Role::Free,
        _ if is(&["UNKNOWN"]) => Role::Faint,
        _ if is(&["GREYWARE", "ADWARE", "SUSPICIOUS", "EVADER"]) => Role::Price,
        _ => Role::Problem,
    }
}

fn draw_entry(buffer: &mut Canvas<'_>, area: Area, entry: &ListEntry, model: &Model, meaning: Role) {
    let state = state(entry, model);
    let mut line = LineWriter::new(buffer, area, 0).base(meaning);
    line.own(mark(entry, model), Role::Text);
    match &entry.parts {
        Some(parts) => line.outside(&parts.sandbox, Role::Text),
        None => line.own("(no identifier)", Role::Text),
    }
    line.own(&notes(entry, model), Role::Key);
    let verdict = entry.report().and_then(|report| report.verdict.as_ref());
    let verdict = verdict.map(|verdict| verdict.visible_cut(MAX_VERDICT_COLUMNS));
    let (beside, below): (Option<_>, Option<_>) = match verdict {
        Some(verdict) if verdict.width() < line.room() => (Some(verdict), None),
        verdict => (None, verdict.filter(|_| area.height > 1)),
    };
    if let Some(verdict) = beside {
        line.tab(usize::from(area.width) - if area.height < 2 { line.room() - 1 } else { verdict.width() });
        line.visible(&verdict, verdict_tint(verdict.as_str()));
    }
    let needs = entry.document.as_ref().map_or(state.columns() + 2, |_| MIN_DOCUMENT_COLUMNS);
    if area.height < 2 && line.room() < needs {
        // Its mark shows that it is stored.
        let age = state.strip_prefix("stored ").filter(|age| line.room() > age.columns() + 1);
        return age.into_iter().for_each(|age| line.own(&format!("  {age}"), Role::Faint));
    }
    let mut line = if area.height < 2 { line } else { LineWriter::new(buffer, area, 1).under(meaning) };
    line.own("  ", Role::Text);
    if let Some(document) = &entry.document {
        return line.elided(document, line.room().saturating_sub(1), Role::Faint);
    }
    if let Some(verdict) = below {
        line.visible(&verdict, verdict_tint(verdict.as_str()));
        line.own(" · ", Role::Faint);
    }
    let when = entry.parts.as_ref().and_then(when).filter(|_| area.height > 1).unwrap_or_default();
    if let Some(usual) = entry.identifier.as_ref().filter(|_| entry.report().is_none() && entry.failure.is_none()) {
        let usual = model.values.usual(usual).map(|usual| format!("{state} · {}", usual.label()));
        if let Some(words) = usual.filter(|words| words.columns() <= line.room()) {
            return line.own(&words, Role::Faint);
        }
    }
    // The whole time, or without year or verb: as much as fits.
    let short = when.get(5..).unwrap_or_default();
    let forms = [format!("{state} · ran {when}"), format!("{state} · ran {short}"), format!("{state} · {short}")];
    let words =
        forms.into_iter().filter(|_| !when.is_empty()).find(|words| words.columns() <= line.room()).unwrap_or(state);
    line.own(&words, Role::Faint);
}

fn notes(entry: &ListEntry, model: &Model) -> String {
    let Some(notes) = entry.identifier.as_ref().and_then(|identifier| model.notes_on(identifier)) else {
        return String::new();
    };
    let own = notes.on_report().map(|_| format!(" {MARK}")).unwrap_or_default();
    match notes.items().count() {
        0 => own,
        1 => format!("{own} ({MARK})"),
        several => format!("{own} ({MARK}{several})"),
    }
}

fn mark(entry: &ListEntry, model: &Model) -> &'static str {
    match (entry.report(), in_flight(entry, model), &entry.failure) {
        (_, Some(_), _) => "◌ ",
        (Some(_), None, _) => "● ",
        (None, None, Some(_)) => "! ",
        (None, None, None) => "○ ",
    }
}

fn state(entry: &ListEntry, model: &Model) -> String {
    match (entry.report(), in_flight(entry, model), &entry.failure) {
        (_, Some(call), _) => progress(call, model.now),
        (None, None, Some(_)) => "failed".to_owned(),
        (Some(_), None, Some(_)) => "stored, refetch failed".to_owned(),
        (Some(_), None, None) if entry.document.is_some() => String::new(),
        (Some(_), None, None) if model.is_document() => "open".to_owned(),
        (Some(report), None, None) => {
            let how = if report.imported.is_some() { "imported" } else { "stored" };
            format!("{how} {}", age(report.received, model.now))
        }
        (None, None, None) => {
            let request = entry.identifier.clone().map(|identifier| Request::Behaviour { identifier });
            request.map_or_else(String::new, |request| price_text(model, &request))
        }
    }
}

fn in_flight<'a>(entry: &ListEntry, model: &'a Model) -> Option<&'a InFlightCall> {
    let is_this = |call: &&InFlightCall| matches!(&call.request, Request::Behaviour { identifier } if entry.identifier.as_ref() == Some(identifier));
    model.calls.iter().find(is_this)
}

fn draw_next(buffer: &mut Canvas<'_>, area: Area, list: &List, model: &Model, meaning: Role) {
    let (words, detail) = match (model.calls.listing(model.file()), &list.failure, &list.next) {
        (Some(call), _, _) => ("◌ listing …".to_owned(), progress(call, model.now)),
        (None, Some(_), _) => ("! listing failed".to_owned(), format!("{} tries again", model.key_label("list"))),
        (None, None, Next::Page(None)) => ("+ list the sandboxes".to_owned(), next_price(list, model)),
        (None, None, Next::Page(Some(_))) => ("+ next page".to_owned(), next_price(list, model)),
        (None, None, Next::Lost) => ("no way to the next page".to_owned(), "its cursor is unusable".to_owned()),
        (None, None, Next::Nothing) => ("no sandbox listed".to_owned(), String::new()),
    };
    LineWriter::new(buffer, area, 0).base(meaning).own(&words, Role::Text);
    if area.height > 1 {
        LineWriter::new(buffer, area, 1).under(meaning).own(&format!("  {detail}"), Role::Faint);
    }
}

fn next_price(list: &List, model: &Model) -> String {
    list.next_page(model.service.listing).map_or_else(String::new, |request| price_text(model, &request))
}

pub(super) fn price_text(model: &Model, request: &Request) -> String {
    let tag = model.price_of_request(request, ResponseSource::StoredOrService);
    if tag.obstacle.is_some() { tag.short() } else { tag.label() }
}

/// Returns the duration of a call so far, and the received bytes.
pub(super) fn progress(call: &InFlightCall, now: Timestamp) -> String {
    let seconds = (now.as_millisecond() - call.since.as_millisecond()).max(0) / 1000;
    match (call.bytes, call.total) {
        (0, _) => format!("{seconds} s"),
        (got, Some(total)) if total >= got => format!("{seconds} s · {} of {}", bytes(got), bytes(total)),
        (got, _) => format!("{seconds} s · {}", bytes(got)),
    }
}

/// Returns when a sandbox ran, in UTC.
fn when(parts: &IdentifierParts) -> Option<String> {
    Some(Timestamp::from_second(parts.when?).ok()?.strftime("%Y-%m-%d %H:%M").to_string())
}

pub(super) fn age(then: Timestamp, now: Timestamp) -> String {
    let seconds = (now.as_second() - then.as_second()).max(0);
    match seconds {
        0..60 => "<1m".to_owned(),
        60..3600 => format!("{}m", seconds / 60),
        3600..86_400 => format!("{}h", seconds / 3600),
        _ => format!("{}d", seconds / 86_400),
    }
}

/// Returns the time of an event in UTC: the clock time for today, else with its date.
pub(super) fn since(then: Timestamp, now: Timestamp) -> String {
    let is_today = then.strftime("%F").to_string() == now.strftime("%F").to_string();
    then.strftime(if is_today { "%H:%M" } else { "%F %H:%M" }).to_string()
}

/// Draws the text in place of a missing report: the reason, and the next key.
pub(super) fn draw_absent(buffer: &mut Canvas<'_>, area: Area, model: &Model) {
    let inside = frame(buffer, area, " Report ", "", false);
    let rows = wrapped(absent(model), inside.width.saturating_sub(4).into());
    let top = (inside.height / 3).min(inside.height.saturating_sub(u16::try_from(rows.len()).unwrap_or(u16::MAX)));
    let rows = fitting(rows, inside.height - top).into_iter();
    buffer.write_rows(inside, top, rows.map(|(text, meaning)| (format!("  {text}"), meaning)));
}

fn absent(model: &Model) -> Vec<StyledText> {
    let Some(list) = model.list() else { return Vec::new() };
    match (list.chosen(), model.calls.listing(model.file()), &list.failure) {
        (Some(entry), _, _) => match (in_flight(entry, model), &entry.failure) {
            (Some(call), _) => vec![Strong.of(format!("Fetching the report … {}", progress(call, model.now)))],
            (None, Some(failure)) => failed("The report could not be fetched.", failure, model),
            (None, None) => [Strong.of("This report is not stored.")].into_iter().chain(next_key(model)).collect(),
        },
        (None, Some(call), _) => vec![Strong.of(format!("Listing the sandboxes … {}", progress(call, model.now)))],
        (None, None, Some(failure)) => failed("The sandboxes could not be listed.", failure, model),
        (None, None, None) if list.entries.is_empty() && model.following().is_some() => followed(model),
        (None, None, None) => unlisted(list, model),
    }
}

fn unlisted(list: &List, model: &Model) -> Vec<StyledText> {
    let mut words = match (&list.next, list.entries.is_empty()) {
        (Next::Page(None), true) if list.file().is_some_and(|file| model.follows.has_scan(file)) => {
            let follow = model.key_label("watch");
            let price = model.follow_price();
            vec![
                Strong.of("Its scan was not seen to its end: there may be nothing to list yet."),
                Text.of(format!("{follow} watches the scan until its reports are listed, for {price}.")),
            ]
        }
        (Next::Page(next), _) => vec![
            Strong.of(match (next, list.stored() as u64) {
                (Some(_), _) => "The file has more sandboxes than are listed.".to_owned(),
                (None, 0) => "Nothing is stored of this file.".to_owned(),
                (None, stored) => {
                    format!("Stored of this file: {}, but not the list of its sandboxes.", count(stored, "report"))
                }
            }),
            Text.of("A page of the list brings its sandboxes, and their reports where the service sends them along."),
        ],
        (Next::Lost, _) => vec![Text.of(NO_WAY_ON)],
        (Next::Nothing, true) => {
            let again = model.key_label("relist");
            let why = "The analysis may still be running, or the reports have expired.";
            vec![
                Strong.of("The service lists no sandbox for this file."),
                Text.of(format!("{why} {again} lists again.")),
            ]
        }
        (Next::Nothing, false) => Vec::new(),
    };
    if matches!(list.next, Next::Page(_)) {
        words.extend(next_key(model));
        words.push(Text.of(format!("{}  explains the price", model.key_label("prices"))));
    }
    words
}

fn followed(model: &Model) -> Vec<StyledText> {
    let row = |TextRow { head, text }| Text.of(format!("{head}{}{text}", if head.is_empty() { "" } else { ": " }));
    let head = Strong.of("The scan is watched until its reports are there.");
    std::iter::once(head).chain(model.following_rows().into_iter().map(row)).collect()
}

fn failed(what: &str, failure: &Failure, model: &Model) -> Vec<StyledText> {
    let sentences = failure.sentences().map(|words| Text.of(words));
    [Role::Problem.of(what)].into_iter().chain(sentences).chain(next_key(model)).collect()
}

/// Returns the key that sends the request, with its price.
fn next_key(model: &Model) -> Option<StyledText> {
    let (key, command) =
        Command::applying(model).find(|(_, command)| command.rank == 1 && model.overlays.is_empty())?;
    Some((format!("{key}  {} · {}", command.label, model.key_price(command).label()), Role::Price))
}
