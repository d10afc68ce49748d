//! Clipboard copies, and the export form, which writes a file.

use crate::app::find::in_circle;
use crate::app::overlays::generic::TextField;
use crate::app::overlays::{ChoiceLine, FormSource, InputForm, Scope};
use crate::app::{Effect, RulesOrFile};
use crate::export::{ExportSource, FORMATS, Format, Part, file};
use crate::report::identifier::Sha256;
use crate::report::{Identifier, RowSet};
use crate::request::Request;
use crate::text::{Untrusted, count};
use jiff::Timestamp;

/// The maximum of a clipboard copy in bytes: many terminals take no more.
pub(crate) const MAX_COPY_BYTES: usize = 64 * 1024;

/// What a key copies to the clipboard.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClipboardCopy {
    pub what: String,
    /// One visible line, unless the user chose the raw bytes.
    pub bytes: Vec<u8>,
}

/// One file to write, and whether it may replace an existing file.
#[derive(Debug, Clone)]
pub struct SaveJob {
    pub what: SaveContent,
    pub path: String,
    pub may_replace: bool,
}

/// The content of a file to write.
#[derive(Debug, Clone)]
pub enum SaveContent {
    Report {
        sources: Vec<ExportSource>,
        what: Part,
        format: &'static Format,
        /// The rules that annotate its rows.
        rules: RulesOrFile,
    },
    Value {
        text: Untrusted,
        /// Whether the raw bytes are written instead of one defanged, escaped line.
        is_raw: bool,
    },
    /// The bytes of a stored response as received.
    Stored(Request),
}

/// Why a file was not written: it exists and must be confirmed, or writing failed.
#[derive(Debug)]
pub enum SaveError {
    Exists(Box<SaveJob>, String),
    Failed(String),
}

/// The export form: part, reports, format and path.
pub type ExportForm = InputForm<ExportTarget>;

/// What the export form writes: a part of reports, or a stored response.
#[derive(Debug)]
pub struct ExportTarget {
    pub is_in_progress: bool,
    /// A stored response, written as received: only its path can be chosen.
    pub stored: Option<Request>,
    pub(crate) choice: ExportChoice,
}

/// All options of the form, and the chosen ones.
#[derive(Debug, Default)]
pub(crate) struct ExportChoice {
    pub(crate) file: Option<Sha256>,
    pub(crate) here: Option<ExportSource>,
    pub(crate) all: Vec<ExportSource>,
    /// The parts, each with its size where the list below shows that number.
    pub(crate) parts: Vec<(ExportPart, Option<String>)>,
    pub(crate) part: usize,
    /// The reports that the lists cover: listed indicators and findings are exported from these.
    pub(crate) covered: Scope,
    pub(crate) last: Option<LastFormat>,
    /// The scope that the user chose; without it, the part decides.
    pub(crate) scope: Option<Scope>,
    pub(crate) format: Option<&'static Format>,
}

/// The last written format, and whether it was for indicators.
pub(crate) type LastFormat = (&'static Format, bool);

/// A part that can be exported: content of reports, or a single value.
#[derive(Debug, Clone)]
pub(crate) enum ExportPart {
    Of(Part),
    Value(Untrusted),
}

impl ExportPart {
    /// Returns its label, its suffix of the file name (unique), and the suggested format.
    fn labels(&self) -> (String, String, &'static str) {
        let known = |words: &str, name: &str, format| (words.to_owned(), name.to_owned(), format);
        match self {
            Self::Of(Part::All) => known("whole report", "report", "json"),
            Self::Of(Part::Pane(pane)) => known(&format!("pane {}", pane.name()), pane.name(), "csv"),
            Self::Of(Part::Shown(pane, rows)) => {
                let words = format!("{} shown in pane {}", count(rows.len() as u64, "row"), pane.name());
                known(&words, &format!("{}-shown", pane.name()), "csv")
            }
            Self::Of(Part::Row(_)) => known("this row", "row", "txt"),
            Self::Of(Part::Findings(None)) => known("findings", "findings", "csv"),
            Self::Of(Part::Findings(Some(rows))) => {
                let rows = count(rows.iter().map(RowSet::len).sum::<usize>() as u64, "row");
                known(&format!("findings as listed, {rows}"), "findings-listed", "csv")
            }
            Self::Of(Part::Indicators) => known("all indicators", "indicators", "stix"),
            Self::Of(Part::ToBlock) => known("indicators to block", "to-block", "stix"),
            Self::Of(Part::Listed(listed)) => {
                let words = format!("{} as listed", count(listed.len() as u64, "indicator"));
                known(&words, "indicators-listed", "stix")
            }
            Self::Of(Part::OfKind(kind)) => {
                known(&format!("{} indicators", kind.name()), &format!("indicators-{}", kind.name()), "stix")
            }
            Self::Of(Part::Difference(_, [here, there])) => {
                known(&format!("techniques of {here} against {there}"), "difference", "navigator")
            }
            Self::Value(text) => known(&format!("value {}", text.visible_cut(40)), "value", "txt"),
        }
    }

    fn is_indicators(&self) -> bool {
        matches!(self, Self::Of(what) if what.is_indicators())
    }

    /// Returns whether the part is a list as shown, from the reports that the list covers.
    fn is_listed(&self) -> bool {
        matches!(self, Self::Of(Part::Findings(Some(_)) | Part::Listed(_)))
    }
}

impl ExportChoice {
    fn part(&self) -> Option<&ExportPart> {
        self.parts.get(self.part).map(|(part, _)| part)
    }

    /// Returns whether the scope can change: a row has one report, a list those it covers.
    fn has_scope(&self) -> bool {
        let is_one = matches!(self.part(), Some(ExportPart::Value(_) | ExportPart::Of(Part::Row(_) | Part::Shown(..))));
        !is_one && !self.part().is_some_and(ExportPart::is_listed) && self.here.is_some() && self.all.len() > 1
    }

    fn scope(&self) -> Scope {
        match self.part() {
            _ if self.here.is_none() => Scope::File,
            Some(part) if part.is_listed() => self.covered,
            Some(part) if self.has_scope() => {
                let is_listed = part.is_indicators() || matches!(part, ExportPart::Of(Part::Findings(_)));
                self.scope.unwrap_or(if is_listed { self.covered } else { Scope::Sandbox })
            }
            _ => Scope::Sandbox,
        }
    }

    fn sources(&self) -> &[ExportSource] {
        if self.scope() == Scope::File { &self.all } else { self.here.as_slice() }
    }

    /// Returns whether a format can write the part; the raw format takes one report.
    fn can_carry(&self, format: &Format) -> bool {
        match self.part() {
            Some(ExportPart::Of(what)) => format.can_write(what) && (!format.is_raw() || self.sources().len() < 2),
            Some(ExportPart::Value(_)) => format.is_raw() || format.name == "txt",
            None => false,
        }
    }

    /// Returns the chosen format, the last one, or the first that can write the part.
    fn format(&self) -> Option<&'static Format> {
        let part = self.part()?;
        let fits = |last: &LastFormat| last.1 == part.is_indicators() && !matches!(part, ExportPart::Of(Part::Row(_)));
        let last = self.last.filter(fits).map(|last| last.0);
        let wanted = [self.format, last, Format::named(part.labels().2)];
        wanted.into_iter().flatten().find(|format| self.can_carry(format))
    }

    fn name(&self) -> Option<String> {
        let parts =
            self.here.as_ref().and_then(|here| here.identifier.as_ref()).map(Identifier::parts).unwrap_or_default();
        let sandbox = if self.scope() == Scope::File { Untrusted::from("all") } else { parts.sandbox };
        let file = parts.file.as_ref().or(self.file.as_ref());
        Some(file::name_of(file, &sandbox, Some(&self.part()?.labels().1), self.format()?.extension))
    }

    /// Chooses the next or previous option of a line.
    fn change(&mut self, line: usize, forward: bool) {
        match self.lines().get(line).map(|line| line.label) {
            Some("What") => self.part = in_circle(self.part, self.parts.len(), forward).next().unwrap_or(0),
            Some("Scope") => self.scope = Some(self.scope().other()),
            _ => {
                let name = self.format().map(|format| format.name);
                let here = FORMATS.iter().position(|format| Some(format.name) == name).unwrap_or(0);
                let mut next = in_circle(here, FORMATS.len(), forward).filter_map(|next| FORMATS.get(next));
                self.format = next.find(|format| self.can_carry(format));
            }
        }
    }

    fn lines(&self) -> Vec<ChoiceLine> {
        let Some((part, format)) = self.part().zip(self.format()) else { return Vec::new() };
        let sandbox = self.here.as_ref().and_then(|here| here.identifier.as_ref()).map(Identifier::parts);
        let about = match self.scope() {
            Scope::File => count(self.all.len() as u64, "stored report"),
            Scope::Sandbox => sandbox.map(|parts| parts.sandbox.visible_cut(40).to_string()).unwrap_or_default(),
        };
        let has_formats = FORMATS.iter().filter(|format| self.can_carry(format)).nth(1).is_some();
        let line = |label, chosen, about, has_other| ChoiceLine { label, chosen, about, has_other };
        let mut lines = vec![
            line("What", part.labels().0, String::new(), self.parts.len() > 1),
            line("Scope", self.scope().label().to_owned(), about, self.has_scope()),
            line("Format", format.name.to_owned(), format.about.to_owned(), has_formats),
        ];
        let has_scope = !matches!(part, ExportPart::Value(_) | ExportPart::Of(Part::Difference(..)));
        lines.retain(|line| line.label != "Scope" || has_scope);
        lines
    }

    /// Returns the other format that a path's extension selects; raw bytes take any extension.
    fn named(&self, path: &str) -> Option<&'static Format> {
        let format = self.format()?;
        Format::of_file(path).filter(|named| !format.is_raw() && named.extension != format.extension)
    }

    fn saved(&self, path: &str) -> Result<SaveContent, String> {
        let (part, format) = self.part().zip(self.format()).ok_or_else(|| "nothing to write".to_owned())?;
        match (part, self.named(path)) {
            (ExportPart::Of(_), Some(named)) => Err(named.refusal()),
            (ExportPart::Value(_), Some(_)) => Err("a value is written as txt, or raw as its bytes are".to_owned()),
            (ExportPart::Value(text), None) => Ok(SaveContent::Value { text: text.clone(), is_raw: format.is_raw() }),
            (ExportPart::Of(what), None) => Ok(SaveContent::Report {
                sources: self.sources().to_vec(),
                what: what.clone(),
                format,
                rules: Err(None),
            }),
        }
    }
}

impl ExportForm {
    pub(crate) fn export(choice: ExportChoice) -> Self {
        let mut form = Self::of(None, choice, String::new());
        form.suggest("");
        form.go_to_name();
        form.step(true);
        form
    }

    /// Moves from the options to the path, where typed text goes.
    pub(crate) fn go_to_name(&mut self) {
        self.chosen = self.chosen.max(ExportTarget::choices(self).len());
    }

    pub(crate) fn stored(request: Request, name: String) -> Self {
        Self::of(Some(request), ExportChoice::default(), name)
    }

    fn of(stored: Option<Request>, choice: ExportChoice, name: String) -> Self {
        let source = ExportTarget { is_in_progress: false, stored, choice };
        Self { fields: vec![TextField::suggested(name)], ..Self::with_fields(source, 0) }
    }

    fn is_suggested(&self) -> bool {
        self.fields.iter().all(|field| field.is_suggested || field.is_empty())
    }

    /// Returns whether the next letter replaces the suggested name.
    pub fn replaces_name(&self) -> bool {
        self.is_suggested() && self.chosen == ExportTarget::choices(self).len()
    }

    /// Suggests a path; a typed path keeps its stem and gets the format's extension.
    fn suggest(&mut self, ending: &str) {
        let choice = &self.source.choice;
        let Some((name, format)) = choice.name().zip(choice.format()) else { return };
        if self.is_suggested() {
            self.fields = vec![TextField::suggested(name)];
        } else if let Some(stem) = self.text().strip_suffix(ending) {
            self.fields = vec![TextField::from(format!("{stem}{}", format.extension))];
        }
    }

    pub(crate) fn has_choices(&self) -> bool {
        ExportTarget::choices(self).iter().any(|line| line.has_other)
    }

    /// Returns whether the line under the cursor has another option.
    pub(crate) fn has_choice(&self) -> bool {
        ExportTarget::choices(self).get(self.chosen).is_some_and(|line| line.has_other)
    }

    /// Chooses the next or previous option of the line under the cursor.
    pub(crate) fn change(&mut self, forward: bool) {
        let ending = self.source.choice.format().map_or("", |format| format.extension);
        self.source.choice.change(self.chosen, forward);
        self.failure = None;
        self.suggest(ending);
    }

    /// Returns the size of the part, and what the format omits.
    pub fn left_out(&self) -> String {
        let choice = &self.source.choice;
        let Some(part) = choice.part() else { return "The bytes as they came; nothing opens the file.".to_owned() };
        // A listed part covers the same reports as its list.
        let size = choice.parts.get(choice.part).filter(|_| !choice.has_scope() || choice.scope() == choice.covered);
        let size = size.and_then(|(_, size)| Some((format!("{}; the", size.as_ref()?), " of them")));
        let (lead, of) = size.unwrap_or_else(|| ("The".to_owned(), ""));
        let left_out = match (part, choice.format()) {
            (ExportPart::Of(what), Some(format)) => format.left_out(what),
            (ExportPart::Value(_), Some(format)) if !format.is_raw() => "control characters and live addresses",
            _ => "",
        };
        let left_out = if left_out.is_empty() { format!("nothing{of} out") } else { format!("out {left_out}") };
        format!("{lead} format leaves {left_out}.")
    }

    pub(crate) fn save(&self) -> Result<SaveJob, String> {
        let path = self.text().trim();
        if path.is_empty() {
            return Err("no path yet".to_owned());
        }
        let stored = self.source.stored.clone().map(SaveContent::Stored);
        let what = stored.map_or_else(|| self.source.choice.saved(path), Ok)?;
        Ok(SaveJob { what, path: path.to_owned(), may_replace: false })
    }
}

impl FormSource for ExportTarget {
    fn choices(form: &ExportForm) -> Vec<ChoiceLine> {
        form.source.choice.lines()
    }

    fn on_typed(form: &mut ExportForm, _: Timestamp) -> Option<Effect> {
        let path = form.text().trim().to_owned();
        let choice = &mut form.source.choice;
        choice.format = choice.named(&path).or(choice.format);
        None
    }
}
