//! The line that says where something is written, and in which format.

use crate::export::{FORMATS, Format, Source, What, file};
use crate::report::Pane;
use crate::request::Request;
use crate::text::Untrusted;

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
        // What is looked at comes first.
        let chosen = if is_indicators { parts.len() - 1 } else { usize::from(pane.is_some()) };
        let subject = Subject::Report { source, parts, chosen };
        let typed = subject.name();
        Self { typed, failure: None, is_under_way: false, subject }
    }

    /// An answer that is held is to be written, under this name unless another is typed.
    #[must_use]
    pub fn held(request: Request, name: String) -> Self {
        Self { typed: name, failure: None, is_under_way: false, subject: Subject::Held(request) }
    }

    /// Chooses the next part; a name that nobody has changed goes with it.
    pub fn step(&mut self) {
        let is_offered = self.typed == self.subject.name();
        if let Subject::Report { parts, chosen, .. } = &mut self.subject {
            *chosen = (*chosen + 1) % parts.len().max(1);
        }
        if is_offered {
            self.typed = self.subject.name();
        }
        self.failure = None;
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
                let format = named.or_else(|| Format::of_file(path)).ok_or_else(|| unknown(path))?;
                if !format.can_write(what) {
                    return Err(format!("{} holds whole reports only", format.name));
                }
                Saved::Report { source: source.clone(), what, format }
            }
        };
        Ok(Save { what, path: path.to_owned(), may_replace: false })
    }
}

impl Subject {
    /// The name that is offered: another for each part, so that one is not written over the other.
    fn name(&self) -> String {
        match self {
            Self::Held(_) => String::new(),
            Self::Report { source, parts, chosen } => match parts.get(*chosen) {
                Some(What::Pane(pane)) => file::name(source.identifier.as_ref(), Some(pane.name()), "csv"),
                Some(What::Indicators) => file::name(source.identifier.as_ref(), Some("indicators"), "csv"),
                Some(What::All) | None => file::name(source.identifier.as_ref(), None, "jsonl"),
            },
        }
    }
}

/// The formats that the end of a name says.
fn by_ending() -> impl Iterator<Item = &'static Format> {
    FORMATS.iter().filter(|format| format.name != "raw")
}

/// Why a name says no format.
fn unknown(path: &str) -> String {
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
    let endings: Vec<_> = by_ending().map(|format| format!(".{}", format.extension)).collect();
    let endings = endings.join(" ");
    match name.rsplit_once('.') {
        Some((_, ending)) => {
            let ending = Untrusted::from(ending).visible_cut(20);
            format!("Nothing was written: .{ending} is no format. The name ends in one of {endings}")
        }
        None => format!("Nothing was written: the end of the name says the format. It is one of {endings}"),
    }
}

/// How each format is asked for, and what it is.
pub fn formats() -> impl Iterator<Item = (String, &'static str)> {
    by_ending()
        .map(|format| (format!(".{}", format.extension), format.about))
        .chain([("raw NAME".to_owned(), "the bytes as received")])
}
