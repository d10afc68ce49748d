//! The line that says where something is written, and in which format.

use crate::export::{FORMATS, Format, Source, What, file};
use crate::report::Pane;
use crate::request::Request;

/// Something that is to be written to a file.
#[derive(Debug, Clone)]
pub struct Save {
    /// What.
    pub what: Saved,
    /// Where, as it was typed.
    pub path: String,
    /// Whether a file that is there may be written over.
    pub may_replace: bool,
}

/// What is written.
#[derive(Debug, Clone)]
pub enum Saved {
    /// A report, or a part of it.
    Report {
        /// The report.
        source: Source,
        /// Which part.
        what: What,
        /// In which format.
        format: &'static Format,
    },
    /// The answer to a question, which is held: the bytes as they came.
    Held(Request),
}

/// Why nothing was written.
#[derive(Debug)]
pub enum NotSaved {
    /// A file is there already; a yes writes over it.
    Exists(Box<Save>, String),
    /// Anything else, in words.
    Failed(String),
}

/// The line that is typed into.
#[derive(Debug)]
pub struct SaveForm {
    /// The path, with the format's name before it where the end of the path does not say.
    pub typed: String,
    /// Why it was not written.
    pub failure: Option<String>,
    /// Whether it is being written.
    pub is_under_way: bool,
    subject: Subject,
}

#[derive(Debug)]
enum Subject {
    Report { source: Source, parts: Vec<What>, chosen: usize },
    Held(Request),
}

impl SaveForm {
    /// A report is to be written: whole, a pane of it, or its indicators.
    #[must_use]
    pub fn export(source: Source, pane: Option<Pane>, is_indicators: bool) -> Self {
        let parts: Vec<_> =
            [Some(What::All), pane.map(What::Pane), Some(What::Indicators)].into_iter().flatten().collect();
        let chosen = if is_indicators { parts.len() - 1 } else { 0 };
        let typed = file::name(source.identifier.as_ref(), if is_indicators { "csv" } else { "jsonl" });
        Self { typed, failure: None, is_under_way: false, subject: Subject::Report { source, parts, chosen } }
    }

    /// An answer that is held is to be written, under this name unless another is typed.
    #[must_use]
    pub fn held(request: Request, name: String) -> Self {
        Self { typed: name, failure: None, is_under_way: false, subject: Subject::Held(request) }
    }

    /// Chooses the next part.
    pub fn step(&mut self) {
        if let Subject::Report { parts, chosen, .. } = &mut self.subject {
            *chosen = (*chosen + 1) % parts.len().max(1);
        }
    }

    /// Whether there is more than one part to choose from.
    #[must_use]
    pub fn has_parts(&self) -> bool {
        matches!(self.subject, Subject::Report { .. })
    }

    /// What is written, in words.
    #[must_use]
    pub fn words(&self) -> String {
        match &self.subject {
            Subject::Report { parts, chosen, .. } => match parts.get(*chosen) {
                Some(What::Pane(pane)) => format!("the pane {}", pane.name()),
                Some(What::Indicators) => "the indicators".to_owned(),
                Some(What::All) | None => "the whole report".to_owned(),
            },
            Subject::Held(request) => request.words(),
        }
    }

    /// What the line says.
    ///
    /// # Errors
    /// Says what is missing.
    pub fn save(&self) -> Result<Save, String> {
        let typed = self.typed.trim();
        let (first, rest) = typed.split_once(' ').unwrap_or(("", typed));
        let named = Format::named(first).filter(|_| self.has_parts());
        let path = if named.is_some() { rest.trim() } else { typed };
        if path.is_empty() {
            return Err("no path yet".to_owned());
        }
        let what = match &self.subject {
            Subject::Held(request) => Saved::Held(request.clone()),
            Subject::Report { source, parts, chosen } => {
                let what = parts.get(*chosen).copied().unwrap_or_default();
                let format = named.or_else(|| Format::of_file(path)).ok_or_else(formats)?;
                if !format.can_write(what) {
                    return Err(format!("{} holds whole reports only", format.name));
                }
                Saved::Report { source: source.clone(), what, format }
            }
        };
        Ok(Save { what, path: path.to_owned(), may_replace: false })
    }
}

/// How a format is said.
#[must_use]
pub fn formats() -> String {
    let rows = FORMATS
        .iter()
        .filter(|format| format.name != "raw")
        .map(|format| format!(".{} {}", format.extension, format.about));
    format!(
        "the end of the name says the format: {}; raw before the name writes the bytes as received",
        rows.collect::<Vec<_>>().join(", ")
    )
}
