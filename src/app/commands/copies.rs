//! Copies and exports what has the focus: defanged and in one line, except raw bytes.

use crate::app::compare::{ComparisonList, difference};
use crate::app::export_form::{
    ClipboardCopy, ExportChoice, ExportForm, ExportPart, MAX_COPY_BYTES, SaveContent, SaveError, SaveJob,
};
use crate::app::list::ListOrigin;
use crate::app::overlays::findings::MarkedRow;
use crate::app::overlays::{IndicatorList, PickerRow, Target};
use crate::app::spending::{Consent, KeyChoice};
use crate::app::{Failure, FileJob, ListEntry, Model, Overlay, Screen};
use crate::export::{self, ExportSource, Part};
use crate::report::json::{Kind, Raw};
use crate::report::{Pane, Piece, Report, Row, RowPlace, RowSet};
use crate::text::{Untrusted, count, thousands};
use std::sync::Arc;

const ROW_SEPARATOR: &str = " · ";

impl Model {
    pub(super) fn copy_value(&mut self) {
        let Some((what, text)) = self.subject() else { return };
        let indicator = self.overlays.top_as::<IndicatorList>().and_then(|list| list.chosen());
        let line = indicator.map(|found| found.defanged().to_string());
        let pane = || listed_row(self).map(|(pane, _)| pane).or(self.focused()).unwrap_or(Pane::Other);
        let line = line.unwrap_or_else(|| export::harmless(pane(), &text).into());
        self.copy(what, line.into_bytes())
    }

    /// Copies the raw value under the cursor, after confirmation.
    pub(super) fn copy_raw(&mut self) {
        let Some((what, text)) = self.subject() else { return };
        let raw = ClipboardCopy { what: format!("{what}, raw"), bytes: text.as_bytes().to_vec() };
        if !self.copies_raw && raw.bytes.len() <= MAX_COPY_BYTES {
            let details = format!(
                "Copy {what} raw: {}? Raw text may hold controls and live addresses: pasted into a shell it may run, pasted into a browser it may open. \
                 After confirmation, {} copies raw for the rest of this session.",
                text.visible_cut(80),
                self.key_label("copy-raw")
            );
            return self.confirm_first(details, [KeyChoice::yes("yes, copy it raw", Consent::CopyRaw(raw))]);
        }
        self.copy(raw.what, raw.bytes);
    }

    /// Returns the row under the cursor in one line, with its label; for a sandbox the file's hash.
    pub(super) fn row_line(&self) -> Option<(String, String)> {
        if let Some(top) = self.overlays.top() {
            let (pane, row) = listed_row(self)?;
            let before = match top {
                Overlay::RowPicker(picker_rows) => picker_rows.chosen()?.head.to_string(),
                Overlay::Findings(list) => list.chosen()?.finding()?.summary(self.rules.as_deref()),
                Overlay::ComparisonList(compare) => compare.seen_label()?,
                _ => String::new(),
            };
            let gap = if before.is_empty() { "" } else { ROW_SEPARATOR };
            return Some(("the row".to_owned(), format!("{before}{gap}{}", export::line(pane, &row))));
        }
        let Some(pane) = self.focused() else {
            return Some(("the file's SHA-256".to_owned(), self.file()?.to_string()));
        };
        let reported = || Some(self.open()?.report.whole_row(self.note_target()?));
        let row = self.files.current_rule_row().cloned().or_else(reported)?;
        Some((format!("a row of {}", pane.name()), export::line(pane, &row)))
    }

    pub(super) fn copy_all(&mut self) {
        let (what, line) = match self.overlays.top() {
            Some(Overlay::Indicators(list)) => {
                let values = list.shown(0).map(|indicator| indicator.defanged().to_string());
                (count(list.counts().0 as u64, "indicator"), joined(values))
            }
            _ => {
                let Some((pane, open)) = self.focused().zip(self.open()) else { return };
                let state = self.pane_state(pane);
                let rows = state.count(&open.report, pane);
                let places = state.places(&open.report, pane, 0..rows);
                let row =
                    |place| state.own_row(place).map_or_else(|| open.report.whole_row(place), |(_, row)| row.clone());
                let lines = places.map(|place| export::line(pane, &row(place)));
                (format!("{} of {}", count(rows as u64, "row"), pane.name()), joined(lines))
            }
        };
        self.copy(what, line.into_bytes())
    }

    pub(super) fn copy(&mut self, what: String, bytes: Vec<u8>) {
        if bytes.len() > MAX_COPY_BYTES {
            let most = crate::text::bytes(MAX_COPY_BYTES as u64);
            let way = self.key_label("export");
            return self.warn(format!(
                "It is longer than {most}, the most that a terminal's clipboard surely takes: nothing was copied. {way} \
                 writes it to a file."
            ));
        }
        self.emit(FileJob::Copy(ClipboardCopy { what, bytes }));
    }

    pub(crate) fn copied(&mut self, what: &str, result: Result<String, String>) {
        match result {
            Ok(how) => self.say(format!("Copied {what} {how}.")),
            Err(why) => self.warn(format!("Nothing was copied: {why}. {} writes to a file.", self.key_label("export"))),
        }
    }

    pub(super) fn subject(&self) -> Option<(String, Untrusted)> {
        let subject = |what: &str, text: Untrusted| (what.to_owned(), text);
        match self.overlays.top() {
            Some(Overlay::Indicators(list)) => {
                let chosen = list.chosen()?;
                return Some(subject(&format!("a {}", chosen.kind().name()), chosen.value().clone()));
            }
            Some(Overlay::Detail(detail)) => return Some(subject("a value", detail.chosen()?.value.clone()?)),
            Some(Overlay::Response(response)) => {
                let line = response.chosen()?;
                return Some(subject("a value", line.value.clone().or_else(|| line.name.clone())?));
            }
            Some(_) => return Some(subject("a value", first_value(&listed_row(self)?.1)?)),
            None => {}
        }
        if self.screen != Screen::File {
            return None;
        }
        match self.focused() {
            None => Some(subject("the report's identifier", self.chosen()?.identifier.as_ref()?.text().clone())),
            Some(_) => {
                let reported = || value(&self.open()?.report, self.note_target()?);
                Some(subject("a value", self.files.current_rule_row().map_or_else(reported, first_value)?))
            }
        }
    }

    pub(crate) fn source_of(&self, entry: &ListEntry) -> Option<ExportSource> {
        let report = entry.report()?;
        let origin = match self.list().map(|list| &list.origin) {
            Some(ListOrigin::Document(name)) => {
                entry.document.as_ref().map_or_else(|| name.clone(), |document| document.visible().to_string())
            }
            _ => self.service.name.clone(),
        };
        let received = (!self.is_document()).then_some(report.received);
        let identifier = entry.identifier.clone();
        let notes = identifier.as_ref().and_then(|identifier| self.notes_on(identifier)).cloned().unwrap_or_default();
        let file = self.file().cloned();
        Some(ExportSource { body: report.body.clone(), identifier, file, origin, received, notes })
    }

    pub(super) fn open_export_form(&mut self) {
        let difference = shown_difference(self).map(|(sources, _)| sources);
        let sized = |part: ExportPart| (part.clone(), size(self, &part));
        let parts: Vec<_> = self.parts().into_iter().map(sized).collect();
        // The overlay's row, or the rows that pass a filter or a subtree.
        let is_suggested = |(part, _): &(ExportPart, Option<String>)| match (self.overlays.top(), part) {
            (Some(Overlay::Indicators(_)), ExportPart::Of(Part::Listed(_))) => true,
            (Some(Overlay::Indicators(list)), ExportPart::Of(what)) => !list.is_filtered() && list.source.what == *what,
            (Some(Overlay::Findings(_)), ExportPart::Of(Part::Findings(rows))) => rows.is_some(),
            (Some(Overlay::Detail(_) | Overlay::Response(_)), ExportPart::Value(_)) => true,
            (None, ExportPart::Of(Part::Shown(pane, _))) => {
                let state = self.pane_state(*pane);
                state.filter.is_some() || state.is_subtree()
            }
            _ => false,
        };
        let part = parts.iter().position(is_suggested).unwrap_or(0);
        self.overlays.put(ExportForm::export(ExportChoice {
            file: self.file().cloned(),
            here: self.chosen().filter(|_| difference.is_none()).and_then(|entry| self.source_of(entry)),
            all: difference
                .unwrap_or_else(|| self.stored_reports().filter_map(|(_, entry)| self.source_of(entry)).collect()),
            parts,
            part,
            covered: self.scope(),
            last: self.last_format,
            ..ExportChoice::default()
        }));
    }

    pub(crate) fn can_write(&self) -> bool {
        self.writes_report() || self.written_value().is_some() || shown_difference(self).is_some()
    }

    fn writes_report(&self) -> bool {
        let is_over_it = matches!(self.overlays.top(), None | Some(Overlay::Detail(_)));
        self.is_listed() == Some(true) || is_over_it && self.open().is_some() && self.screen == Screen::File
    }

    fn written_value(&self) -> Option<ExportPart> {
        let value = self.subject().filter(|_| self.focused().is_some() || !self.overlays.is_empty());
        value.map(|(_, text)| ExportPart::Value(text))
    }

    /// Returns the parts that can be exported: focused ones first, then those of the whole report.
    fn parts(&self) -> Vec<ExportPart> {
        let here = self.focused().zip(self.note_target()).filter(|_| self.screen == Screen::File);
        let row = here.map(|(_, place)| Part::Row(place));
        let mut near = Vec::new();
        let mut far = Vec::new();
        if self.writes_report() {
            near.push(Some(Part::ToBlock));
            match (self.overlays.top(), here) {
                (Some(Overlay::Indicators(list)), _) => {
                    let listed = [list.source.what.clone(), list.listed()].into_iter();
                    let is_new = |what: &Part| matches!(what, Part::OfKind(_) | Part::Listed(_));
                    near.extend(listed.filter(is_new).map(Some));
                    near.dedup();
                }
                (Some(Overlay::Findings(_)), _) => near.push(self.listed_findings()),
                (Some(_), _) => near.push(row),
                (None, Some((pane, _))) => {
                    let shown = self.open().and_then(|open| self.pane_state(pane).shown_rows(&open.report, pane));
                    let shown = shown.map(|rows| Part::Shown(pane, Arc::new(rows)));
                    near.extend([shown, Some(Part::Pane(pane)), row]);
                }
                (None, None) => {}
            }
            far = vec![Part::All, Part::Findings(None), Part::Indicators];
        }
        near.extend(shown_difference(self).map(|(_, part)| Some(part)));
        let near = near.into_iter().flatten().map(ExportPart::Of).chain(self.written_value());
        near.chain(far.into_iter().map(ExportPart::Of)).collect()
    }

    pub(crate) fn write(&mut self, save: SaveJob) {
        self.emit(FileJob::Write { save, cancel: self.writing.ticket().cancel });
    }

    pub(super) fn save(&mut self) {
        let marking = self.rules_or_file();
        let Some(form) = self.overlays.top_as_mut::<ExportForm>() else { return };
        match form.save() {
            Ok(mut save) => {
                form.failure = None;
                form.source.is_in_progress = true;
                self.remembered.scope = form.source.choice.scope.unwrap_or(self.remembered.scope);
                if let SaveContent::Report { rules, what, format, .. } = &mut save.what {
                    *rules = marking;
                    self.last_format = Some((format, what.is_indicators()));
                }
                self.write(save);
            }
            Err(why) => form.failure = Some(Failure::new(why)),
        }
    }

    pub(crate) fn saved(&mut self, result: Result<String, SaveError>) {
        // A form that was closed since must not affect another one.
        let form = self.overlays.top_as_mut::<ExportForm>();
        let form = form.and_then(|form| std::mem::take(&mut form.source.is_in_progress).then_some(form));
        match (result, form) {
            (Ok(words), form) => {
                if form.is_some() {
                    self.overlays.close();
                }
                self.say(words);
                self.follow_scope()
            }
            (Err(SaveError::Exists(save, why)), Some(_)) => {
                self.confirm_first(why, [KeyChoice::yes("yes, write over it", Consent::Overwrite(*save))])
            }
            (Err(SaveError::Failed(why)), Some(form)) => form.failure = Some(Failure::new(why)),
            (Err(SaveError::Exists(_, why) | SaveError::Failed(why)), None) => self.warn(why),
        }
    }
}

/// Returns the techniques of the shown comparison's sides, with their reports.
fn shown_difference(model: &Model) -> Option<(Vec<ExportSource>, Part)> {
    let compare = &model.overlays.top_as::<ComparisonList>()?.source;
    difference(&compare.columns, compare.here)
}

/// Returns the value that a row is about: its whole text, or the first of its parts.
fn value(report: &Report, place: RowPlace) -> Option<Untrusted> {
    let record = report.record(place);
    let raw = Raw::new(&record.value);
    if matches!(raw.kind(), Kind::Text | Kind::Word) && !record.value.is_empty() {
        return Some(raw.text());
    }
    first_value(&report.row(place.section, place.row))
}

/// Returns the row chosen in an overlay list, and the pane whose rules defang it.
fn listed_row(model: &Model) -> Option<(Pane, Row)> {
    match model.overlays.top()? {
        Overlay::Findings(list) => {
            let MarkedRow { pane, row, target, .. } = list.chosen()?.finding()?;
            Some(whole_row(model, target).unwrap_or_else(|| (*pane, row.clone())))
        }
        Overlay::RowPicker(picker_rows) => {
            let PickerRow { row, target, .. } = picker_rows.chosen()?;
            // A row of another report is defanged as a host: every dot.
            whole_row(model, target.as_ref()?).or_else(|| Some((Pane::Network, row.clone()?)))
        }
        Overlay::ComparisonList(compare) => compare.chosen_row(),
        _ => None,
    }
}

fn whole_row(model: &Model, target: &Target) -> Option<(Pane, Row)> {
    let here = model.list()?.scroll.cursor;
    let place = target.place.filter(|_| target.file.is_none() && target.entry == here)?;
    let report = &model.open()?.report;
    Some((report.section(place.section)?.pane(), report.whole_row(place)))
}

/// Returns the size of a part, if the list or pane shows it.
fn size(model: &Model, part: &ExportPart) -> Option<String> {
    let ExportPart::Of(what) = part else { return None };
    let choice = |list: &IndicatorList| list.source.choices.iter().find(|(choice, _)| choice == what).map(|it| it.1);
    let (some, all) = match (model.overlays.top(), what) {
        (Some(Overlay::Indicators(list)), Part::Listed(listed)) => (listed.len(), list.counts().1),
        (Some(Overlay::Indicators(list)), _) => (choice(list)?, list.counts().1),
        (Some(Overlay::Findings(list)), Part::Findings(Some(rows))) => {
            (rows.iter().map(RowSet::len).sum(), list.marked_rows(false).values().map(RowSet::len).sum())
        }
        (None, Part::Shown(pane, rows)) => (rows.len(), model.open()?.count(*pane)),
        _ => return None,
    };
    let noun = if what.is_indicators() { "indicator" } else { "row" };
    Some(format!("{} of {}", thousands(some as u64), count(all as u64, noun)))
}

fn first_value(row: &Row) -> Option<Untrusted> {
    row.pieces.iter().find_map(Piece::value).cloned()
}

/// Joins lines up to just beyond the maximum of a clipboard.
fn joined(lines: impl Iterator<Item = String>) -> String {
    let mut all = String::new();
    for line in lines {
        if !all.is_empty() {
            all.push_str(ROW_SEPARATOR);
        }
        all.push_str(&line);
        if all.len() > MAX_COPY_BYTES {
            break;
        }
    }
    all
}
