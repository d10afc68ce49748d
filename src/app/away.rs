//! What leaves the program: what is copied, and the form that writes a file.

use crate::app::field::TextField;
use crate::app::over::{FormSource, InputForm, SMALL};
use crate::export::{ExportSource, FORMATS, Format, What, file};
use crate::report::rules::Rules;
use crate::report::{Pane, RowSet};
use crate::request::Request;
use crate::text::{Untrusted, count};
use std::sync::Arc;

/// The longest text that is handed to a terminal's clipboard, in bytes: many take no more.
pub const LONGEST_COPY: usize = 64 * 1024;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Copied {
    pub what: String,
    /// The bytes; only when they were asked for raw are they other than one visible line.
    pub bytes: Vec<u8>,
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
            Self::Of(What::ToBlock) => named("the indicators to block".to_owned(), "to-block", "csv"),
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
        let mut form = Self::new(SaveTarget { is_under_way: false, subject }, String::new());
        form.fields = vec![TextField::suggested(name)];
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
            self.fields = vec![TextField::suggested(file::name(identifier, name.as_deref(), ending))];
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
