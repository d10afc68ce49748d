//! Copying a value, a row, a pane, defanged and in one line unless raw bytes are asked for; and the form that writes a file.

use crate::app::over::{FormSource, IndicatorList, InputForm, NotableScope, SMALL, Shows, TextField};
use crate::app::spending::{Consent, KeyedAnswer};
use crate::app::{Failure, FileJob, Focus, ListEntry, Model, Overlay, Screen};
use crate::export::{self, ExportSource, FORMATS, Format, What, file};
use crate::report::json::{Kind, Raw};
use crate::report::rules::Rules;
use crate::report::{Pane, Piece, Place, Row, RowSet, Section};
use crate::request::Request;
use crate::text::{Untrusted, count};
use std::sync::Arc;

/// The longest text that is handed to a terminal's clipboard, in bytes: many take no more.
pub const LONGEST_COPY: usize = 64 * 1024;

const BETWEEN: &str = " · ";

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Copied {
    pub what: String,
    /// The bytes; only when they were asked for raw are they other than one visible line.
    pub bytes: Vec<u8>,
}

impl Model {
    pub(super) fn copy_value(&mut self) {
        let Some((what, text)) = self.subject() else { return };
        let line = self
            .over
            .top_as::<IndicatorList>()
            .and_then(|list| list.chosen().map(|chosen| chosen.defanged().to_string()));
        let pane = || self.listed_row().map(|(pane, _)| pane).or(self.focused()).unwrap_or(Pane::Other);
        let line = line.unwrap_or_else(|| export::harmless(pane(), &text).into());
        self.copy(what, line.into_bytes())
    }

    /// Copies the value under the cursor as it is; asks once.
    pub(super) fn copy_raw(&mut self) {
        let Some((what, text)) = self.subject() else { return };
        let raw = Copied { what: format!("{what}, raw"), bytes: text.as_bytes().to_vec() };
        if !self.copies_raw && raw.bytes.len() <= LONGEST_COPY {
            let details = format!(
                "Copy {what} raw: {}? Raw text may hold controls and live addresses: pasted into a shell it may run, pasted into a browser it may open. \
                 It is asked once; after a yes, this session copies raw whenever {} is pressed.",
                text.visible_cut(80),
                self.way_to("copy-raw")
            );
            return self.ask_first(details, [KeyedAnswer::yes("yes, copy it raw", Consent::CopyRaw(raw))]);
        }
        self.copy(raw.what, raw.bytes);
    }

    pub(super) fn copy_row(&mut self) {
        if let Some((what, line)) = self.listed_line() {
            return self.copy(what, line.into_bytes());
        }
        if let Some(file) = self.file().filter(|_| self.focus() == Focus::List) {
            let file = file.to_string();
            return self.copy("the file's SHA-256".to_owned(), file.into_bytes());
        }
        let Some((pane, place)) = self.focused().zip(self.place_here()) else { return };
        let Some(line) = self.line(place) else { return };
        self.copy(format!("a row of {}", pane.name()), line.into_bytes())
    }

    pub(super) fn copy_all(&mut self) {
        let (what, line) = match self.over.top() {
            Some(Overlay::Indicators(list)) => {
                let values = list.shown(0).map(|indicator| indicator.defanged().to_string());
                (count(list.counts().0 as u64, "indicator"), joined(values))
            }
            _ => {
                let Some((pane, open)) = self.focused().zip(self.open()) else { return };
                let state = self.pane_state(pane);
                let rows = state.count(&open.report, pane);
                let lines = (0..rows).filter_map(|at| self.line(state.place(&open.report, pane, at)?));
                (format!("{} of {}", count(rows as u64, "row"), pane.name()), joined(lines))
            }
        };
        self.copy(what, line.into_bytes())
    }

    fn copy(&mut self, what: String, bytes: Vec<u8>) {
        if bytes.len() > LONGEST_COPY {
            let (most, way) = (crate::text::bytes(LONGEST_COPY as u64), self.way_to("export"));
            return self.warn(format!(
                "It is longer than {most}, the most that a terminal's clipboard surely takes: nothing was copied. {way} \
                 writes it to a file."
            ));
        }
        self.emit(FileJob::Copy(Copied { what, bytes }));
    }

    pub(super) fn copied(&mut self, what: &str, result: Result<String, String>) {
        match result {
            Ok(how) => self.say(format!("Copied {what} {how}.")),
            Err(why) => self.warn(format!("Nothing was copied: {why}. {} writes to a file.", self.way_to("export"))),
        }
    }

    pub(super) fn subject(&self) -> Option<(String, Untrusted)> {
        let subject = |what: &str, text: Untrusted| (what.to_owned(), text);
        match self.over.top() {
            Some(Overlay::Indicators(list)) => {
                let chosen = list.chosen()?;
                return Some(subject(&format!("a {}", chosen.kind.name()), chosen.value.clone()));
            }
            Some(Overlay::Detail(detail)) => return Some(subject("a value", detail.chosen()?.value.clone()?)),
            Some(Overlay::Answer(answer)) => {
                let line = answer.chosen()?;
                return Some(subject("a value", line.value.clone().or_else(|| line.name.clone())?));
            }
            Some(_) => return Some(subject("a value", first_value(&self.listed_row()?.1)?)),
            None => {}
        }
        if self.screen != Screen::File {
            return None;
        }
        match self.focus() {
            Focus::List => Some(subject("the report's identifier", self.chosen()?.identifier.as_ref()?.text().clone())),
            Focus::Pane(_) => Some(subject("a value", self.value(self.place_here()?)?)),
        }
    }

    /// What a row is about: the text itself, or the first of its parts.
    fn value(&self, place: Place) -> Option<Untrusted> {
        let report = &self.open()?.report;
        let record = report.record(place);
        let raw = Raw::new(&record.value);
        if matches!(raw.kind(), Kind::Text | Kind::Word) && !record.value.is_empty() {
            return Some(raw.text());
        }
        first_value(&report.row(place.section, place.row))
    }

    fn listed_row(&self) -> Option<(Pane, Row)> {
        match self.over.top()? {
            Overlay::Spots(spots) => {
                let spot = spots.chosen()?;
                let report = self.open().map(|open| &open.report);
                let place = spot.target.as_ref()?.place;
                let pane = place.and_then(|place| Some(report?.section(place.section)?.pane()));
                let row = match &spot.shows {
                    Shows::Row(row) => row.clone(),
                    Shows::Open(place) => report?.whole_row(*place),
                    Shows::Words(_) => return None,
                };
                // What another report names is made harmless as hosts are: no dot of an address stays as it was.
                let pane = pane.filter(|_| matches!(spot.shows, Shows::Open(_))).unwrap_or(Pane::Network);
                Some((pane, row))
            }
            Overlay::Compare(compare) => compare.chosen_row(),
            _ => None,
        }
    }

    fn listed_line(&self) -> Option<(String, String)> {
        let (pane, row) = self.listed_row()?;
        let line = export::line(pane, &row);
        let before = match self.over.top()? {
            Overlay::Spots(spots) => spots.chosen()?.said(),
            Overlay::Compare(compare) => compare.seen_words()?,
            _ => String::new(),
        };
        let gap = if before.is_empty() { "" } else { BETWEEN };
        Some(("the row".to_owned(), format!("{before}{gap}{line}")))
    }

    pub(super) fn can_copy_row(&self) -> bool {
        match self.over.is_empty() {
            true => self.focus() != Focus::List || self.file().is_some(),
            false => self.listed_row().is_some(),
        }
    }

    fn line(&self, place: Place) -> Option<String> {
        let pane = self.focused().unwrap_or(Pane::Other);
        Some(export::line(pane, &self.open()?.report.whole_row(place)))
    }

    pub(super) fn source(&self) -> Option<ExportSource> {
        self.source_of(self.chosen()?)
    }

    /// The reports to export: the open one, or every stored one where a list covers them all.
    fn sources(&self) -> Vec<ExportSource> {
        match self.leads_back_to_one() {
            true => self.held_here().filter_map(|(_, entry)| self.source_of(entry)).collect(),
            false => self.source().into_iter().collect(),
        }
    }

    fn source_of(&self, entry: &ListEntry) -> Option<ExportSource> {
        let report = entry.report()?;
        let origin = match self.list().map(|list| &list.origin) {
            Some(super::list::ListOrigin::Document(name)) => {
                entry.document.as_ref().map_or_else(|| name.clone(), |document| document.visible().to_string())
            }
            _ => self.service.name.clone(),
        };
        let received = (!self.is_document()).then_some(report.received);
        let identifier = entry.identifier.clone();
        let notes = identifier.as_ref().and_then(|identifier| self.notes_on(identifier)).cloned().unwrap_or_default();
        Some(ExportSource { body: report.body.clone(), identifier, origin, received, notes })
    }

    pub(super) fn ask_where(&mut self) {
        let (sources, parts) = (self.sources(), self.parts());
        let chosen = parts.iter().position(|part| self.suggests(part)).unwrap_or(0);
        if !parts.is_empty() {
            self.over.put(SaveForm::export(sources, parts, chosen));
        }
    }

    pub fn can_write(&self) -> bool {
        self.writes_report() || self.listed_reach().is_some() || self.written_value().is_some()
    }

    fn writes_report(&self) -> bool {
        let is_over_it = matches!(self.over.top(), None | Some(Overlay::Detail(_) | Overlay::Indicators(_)))
            || self.listed_reach() == Some(NotableScope::Open);
        is_over_it && self.open().is_some() && self.screen == Screen::File
    }

    fn written_value(&self) -> Option<Part> {
        let value = self.subject().filter(|_| self.focus() != Focus::List || !self.over.is_empty());
        value.map(|(_, text)| Part::Value(text))
    }

    /// The parts that can be written: all, the visible part, indicators, the value under the cursor.
    fn parts(&self) -> Vec<Part> {
        let here = self.focused().zip(self.place_here()).filter(|_| self.screen == Screen::File);
        let row = here.map(|(_, place)| What::Row(place));
        let mut whats = Vec::new();
        if self.writes_report() {
            whats.push(Some(What::All));
            match (self.over.top(), here) {
                (Some(Overlay::Indicators(list)), _) => whats.push(list.source.kind.map(What::OfKind)),
                (Some(Overlay::Spots(_)), _) => whats.push(self.listed_notable()),
                (Some(_), _) => whats.push(row),
                (None, Some((pane, _))) => {
                    let shown = self.shown_rows(pane).map(|rows| What::Shown(pane, rows));
                    whats.extend([Some(What::Pane(pane)), shown, row]);
                }
                (None, None) => {}
            }
            whats.push(Some(What::Indicators));
        }
        if self.leads_back_to_one() {
            whats.push(self.listed_notable());
        }
        whats.into_iter().flatten().map(Part::Of).chain(self.written_value()).collect()
    }

    /// The rows of a pane that it shows; none where it shows all.
    fn shown_rows(&self, pane: Pane) -> Option<Arc<RowSet>> {
        let sieve = Some(&self.pane_state(pane).sieve).filter(|sieve| !sieve.is_open())?;
        let report = &self.open()?.report;
        let mut shown = RowSet::EMPTY;
        for section in report.sections(pane) {
            match sieve.rows(section) {
                Some(rows) => shown.append(section, rows),
                None => {
                    let length = report.section(section).map_or(0, Section::len);
                    shown.append(section, &(0_u32..).take(length).collect::<Vec<_>>());
                }
            }
        }
        Some(Arc::new(shown))
    }

    /// Whether a part is the one that is suggested: that of the overlay, or the rows that a filter or a subtree leaves.
    fn suggests(&self, part: &Part) -> bool {
        match (self.over.top(), part) {
            (Some(Overlay::Indicators(list)), Part::Of(What::Indicators)) => list.source.kind.is_none(),
            (Some(Overlay::Indicators(_)), Part::Of(What::OfKind(_))) => true,
            (Some(Overlay::Spots(_)), Part::Of(What::Notable(_))) => true,
            (Some(Overlay::Detail(_) | Overlay::Answer(_)), Part::Value(_)) => true,
            (None, Part::Of(What::Shown(pane, _))) => {
                let state = self.pane_state(*pane);
                state.filter.is_some() || state.is_subtree()
            }
            _ => false,
        }
    }

    pub(super) fn write(&mut self, save: Save) {
        let cancel = self.writing.ticket().cancel;
        self.emit(FileJob::Write { save, cancel });
    }

    pub(super) fn save(&mut self) {
        let Some(form) = self.over.top_as_mut::<SaveForm>() else { return };
        match form.save() {
            Ok(mut save) => {
                if let Saved::Report { rules, .. } = &mut save.what {
                    rules.clone_from(&self.rules);
                }
                form.failure = None;
                form.source.is_under_way = true;
                self.write(save);
            }
            Err(why) => {
                form.failure = Some(Failure::new(why));
            }
        }
    }

    pub(super) fn saved(&mut self, result: Result<String, NotSaved>) {
        // One that was closed meanwhile has no say in another that is typed into.
        let form = self.over.top_as_mut::<SaveForm>();
        let form = form.and_then(|form| std::mem::take(&mut form.source.is_under_way).then_some(form));
        match (result, form) {
            (Ok(words), form) => {
                if form.is_some() {
                    self.over.close();
                }
                self.say(words);
            }
            (Err(NotSaved::Exists(save, why)), Some(_)) => {
                self.ask_first(why, [KeyedAnswer::yes("yes, write over it", Consent::Overwrite(*save))])
            }
            (Err(NotSaved::Failed(why)), Some(form)) => form.failure = Some(Failure::new(why)),
            (Err(NotSaved::Exists(_, why) | NotSaved::Failed(why)), None) => self.warn(why),
        }
    }
}

fn first_value(row: &Row) -> Option<Untrusted> {
    let value = |piece: &Piece| match piece {
        Piece::Value(text) => Some(text.clone()),
        Piece::Detail(_) | Piece::Own(_) => None,
    };
    row.pieces.iter().find_map(value)
}

/// Lines as one, up to just beyond what a clipboard takes.
fn joined(lines: impl Iterator<Item = String>) -> String {
    let mut all = String::new();
    for line in lines {
        if !all.is_empty() {
            all.push_str(BETWEEN);
        }
        all.push_str(&line);
        if all.len() > LONGEST_COPY {
            break;
        }
    }
    all
}

#[derive(Debug, Clone)]
pub struct Save {
    pub what: Saved,
    pub path: String,
    pub may_replace: bool,
}

#[derive(Debug, Clone)]
pub enum Saved {
    Report {
        sources: Vec<ExportSource>,
        what: What,
        format: &'static Format,
        /// The rules that mark its rows; those that are shipped where none have been read yet.
        rules: Option<Arc<Rules>>,
    },
    Value {
        text: Untrusted,
        /// Whether its bytes are written as they are, and not as one line without teeth.
        is_raw: bool,
    },
    /// The bytes of a stored response as received.
    Held(Request),
}

#[derive(Debug)]
pub enum NotSaved {
    Exists(Box<Save>, String),
    Failed(String),
}

/// A form for the path of a file, with the format's name before it where the end of the path does not say.
pub type SaveForm = InputForm<SaveTarget>;

#[derive(Debug)]
pub struct SaveTarget {
    pub is_under_way: bool,
    subject: ExportSubject,
}

#[derive(Debug)]
enum ExportSubject {
    /// Parts of a report, or of several; without one there are only values.
    Report {
        sources: Vec<ExportSource>,
        parts: Vec<Part>,
        chosen: usize,
    },
    Held(Request),
}

#[derive(Debug, Clone)]
pub enum Part {
    Of(What),
    Value(Untrusted),
}

impl Part {
    /// Its words, its part of the suggested name, and that name's ending; no two parts share a name.
    fn described(&self) -> (String, Option<String>, &'static str) {
        let named = |words: String, name: &str, ending: &'static str| (words, Some(name.to_owned()), ending);
        match self {
            Self::Of(What::All) => ("the whole report".to_owned(), None, "jsonl"),
            Self::Of(What::Pane(pane)) => named(format!("all rows of the pane {}", pane.name()), pane.name(), "jsonl"),
            Self::Of(What::Shown(pane, rows)) => {
                let above = if *pane == Pane::Processes { ", without what only stands above them" } else { "" };
                let rows = count(rows.len() as u64, "row");
                let words = format!("the {rows} that the pane {} shows (in its order{above})", pane.name());
                named(words, &format!("{}-shown", pane.name()), "jsonl")
            }
            Self::Of(What::Row(_)) => named("the row".to_owned(), "row", "txt"),
            Self::Of(What::Notable(None)) => named("the findings".to_owned(), "notable", "csv"),
            Self::Of(What::Notable(Some(rows))) => {
                let rows = count(rows.iter().map(RowSet::len).sum::<usize>() as u64, "row");
                named(format!("the {rows} that are listed, with the reasons"), "notable", "csv")
            }
            Self::Of(What::Indicators) => named("the indicators of all kinds".to_owned(), "indicators", "csv"),
            Self::Of(What::OfKind(kind)) => {
                let words = format!("the {} indicators that are shown", kind.name());
                named(words, &format!("indicators-{}", kind.name()), "csv")
            }
            Self::Value(text) => named(format!("the value {}", text.visible_cut(40)), "value", "txt"),
        }
    }

    fn saved(&self, sources: &[ExportSource], format: &'static Format) -> Result<Saved, String> {
        match (self, sources) {
            (Self::Value(text), _) if format.is_raw() || format.extension == self.described().2 => {
                Ok(Saved::Value { text: text.clone(), is_raw: format.is_raw() })
            }
            (Self::Of(what), [_, ..]) if format.can_write(what) => {
                Ok(Saved::Report { sources: sources.to_vec(), what: what.clone(), format, rules: None })
            }
            (Self::Value(_), _) => Err(
                "a value is written as .txt, in one line without teeth; raw before the name writes its bytes as they are"
                    .to_owned(),
            ),
            (Self::Of(_), _) => Err(format.refusal()),
        }
    }
}

impl SaveForm {
    pub fn export(sources: Vec<ExportSource>, parts: Vec<Part>, chosen: usize) -> Self {
        let subject = ExportSubject::Report { sources, parts, chosen };
        let mut form = Self::new(SaveTarget { is_under_way: false, subject }, String::new());
        form.suggest();
        form
    }

    pub fn held(request: Request, name: String) -> Self {
        let subject = ExportSubject::Held(request);
        let mut form = Self::new(SaveTarget { is_under_way: false, subject }, name);
        form.fields.iter_mut().for_each(|field| field.is_suggested = true);
        form
    }

    pub fn is_suggested(&self) -> bool {
        self.fields.iter().any(|field| field.is_suggested)
    }

    fn suggest(&mut self) {
        if let ExportSubject::Report { sources, parts, chosen } = &self.source.subject
            && let Some(part) = parts.get(*chosen)
        {
            // The name of several reports has no identifier.
            let identifier = if let [one] = sources.as_slice() { one.identifier.as_ref() } else { None };
            let (_, name, ending) = part.described();
            let text = file::name(identifier, name.as_deref(), ending);
            self.fields = vec![TextField { text, is_suggested: true }];
        }
    }

    pub fn step_part(&mut self, forward: bool) {
        if let ExportSubject::Report { parts, chosen, .. } = &mut self.source.subject {
            let count = parts.len().max(1);
            *chosen = (*chosen + if forward { 1 } else { count - 1 }) % count;
        }
        self.failure = None;
        if self.is_suggested() {
            self.suggest();
        }
    }

    pub fn has_parts(&self) -> bool {
        matches!(&self.source.subject, ExportSubject::Report { parts, .. } if parts.len() > 1)
    }

    pub fn is_held(&self) -> bool {
        matches!(self.source.subject, ExportSubject::Held(_))
    }

    /// How each format that takes it is asked for, and what it is.
    pub fn formats(&self) -> Vec<(String, &'static str)> {
        let ExportSubject::Report { parts, chosen, .. } = &self.source.subject else { return Vec::new() };
        let takes = |format: &&Format| match parts.get(*chosen) {
            Some(Part::Of(what)) => format.can_write(what),
            Some(Part::Value(_)) | None => format.is_raw() || format.extension == "txt",
        };
        let by_ending = by_ending().filter(takes).map(|format| (format!(".{}", format.extension), format.about));
        let raw = FORMATS.iter().filter(|format| format.is_raw()).filter(takes);
        by_ending.chain(raw.map(|format| (format!("{} NAME", format.name), format.about))).collect()
    }

    pub fn words(&self) -> String {
        match &self.source.subject {
            ExportSubject::Report { sources, parts, chosen } => {
                let Some(part) = parts.get(*chosen) else { return String::new() };
                let of = match (sources.len(), part) {
                    (several @ 2.., Part::Of(_)) => format!(" in all {several} reports that are here"),
                    _ => String::new(),
                };
                part.described().0 + &of
            }
            ExportSubject::Held(Request::Artefact { identifier, artefact }) => {
                format!("the {} by {}", artefact.words(), identifier.parts().sandbox.visible_cut(40))
            }
            ExportSubject::Held(request) => request.words(),
        }
    }

    pub fn save(&self) -> Result<Save, String> {
        let typed = self.text().trim();
        let (first, rest) = typed.split_once(' ').unwrap_or(("", typed));
        let named = Format::named(first).filter(|_| !self.is_held());
        let path = if named.is_some() { rest.trim() } else { typed };
        if path.is_empty() {
            return Err("no path yet".to_owned());
        }
        let what = match &self.source.subject {
            ExportSubject::Held(request) => Saved::Held(request.clone()),
            ExportSubject::Report { sources, parts, chosen } => {
                let format = named.or_else(|| Format::of_file(path)).ok_or_else(|| unknown(path, &self.formats()))?;
                let part = parts.get(*chosen).ok_or_else(|| "nothing to write".to_owned())?;
                part.saved(sources, format)?
            }
        };
        Ok(Save { what, path: path.to_owned(), may_replace: false })
    }
}

impl FormSource for SaveTarget {
    fn height(form: &SaveForm, _: usize) -> usize {
        if form.has_parts() { SMALL + 5 } else { SMALL }
    }
}

fn by_ending() -> impl Iterator<Item = &'static Format> {
    FORMATS.iter().filter(|format| !format.is_raw())
}

fn unknown(path: &str, formats: &[(String, &'static str)]) -> String {
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
    let endings = formats.iter().map(|(ending, _)| ending.as_str()).filter(|ending| ending.starts_with('.'));
    let endings = endings.collect::<Vec<_>>().join(" ");
    match name.rsplit_once('.') {
        Some((_, ending)) => {
            let ending = Untrusted::from(ending).visible_cut(20);
            format!("Nothing was written: .{ending} is no format. The name ends in one of {endings}")
        }
        None => format!("Nothing was written: the end of the name says the format. It is one of {endings}"),
    }
}
