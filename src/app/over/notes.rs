//! Notes on the screen: which there are of the open file, and the line that one is typed into.

use crate::app::over::{Detail, Form, FormSource};
use crate::app::spending::{Consent, KeyedAnswer};
use crate::app::{Focus, Model, Overlay, Screen, StoreJob};
use crate::report::identifier::{Identifier, Sha256};
use crate::report::note::{self, About, Item, Note, Notes};
use crate::report::{Place, rows::Line};
use crate::text::{Untrusted, thousands};
use std::collections::HashMap;

/// The sign of a note, wherever one is.
pub const MARK: &str = "✎";

/// All notes of the profile. They belong to reports, whichever files list these.
#[derive(Debug, Default)]
pub struct AllNotes {
    reports: HashMap<Identifier, Notes>,
}

impl AllNotes {
    pub fn new(notes: Vec<Note>) -> Self {
        let mut reports = HashMap::<Identifier, Notes>::new();
        notes.into_iter().for_each(|note| reports.entry(note.about.identifier.clone()).or_default().add(note));
        Self { reports }
    }

    /// The notes on a report and on the items in it.
    pub fn of(&self, identifier: &Identifier) -> Option<&Notes> {
        self.reports.get(identifier)
    }

    pub fn on(&self, about: &About) -> Option<&Note> {
        let notes = self.of(&about.identifier)?;
        about.item.as_ref().map_or_else(|| notes.on_report(), |item| notes.on_item(item))
    }
}

pub type NoteForm = Form<TypedNote>;

#[derive(Debug)]
pub struct TypedNote {
    pub about: About,
    /// The file whose report it is.
    pub file: Sha256,
    /// The existing note, which the new one replaces.
    pub standing: Option<Untrusted>,
    /// Whether that one was written after the line was begun.
    pub is_late: bool,
}

impl FormSource for TypedNote {}

impl Model {
    /// The notes on a report and on the items in it. A document's reports are of no profile, and have none.
    pub fn notes_on(&self, identifier: &Identifier) -> Option<&Notes> {
        self.notes.of(identifier).filter(|_| !self.is_document())
    }

    /// What a note would be about here: the sandbox in the list, the row in a pane. A document has nowhere to keep one.
    pub fn noted(&self) -> Option<(Sha256, About)> {
        let file = self.file().filter(|_| self.screen == Screen::File)?.clone();
        let identifier = self.chosen()?.identifier.clone()?;
        if self.focus() == Focus::List {
            return Some((file, About::report(identifier)));
        }
        let item = self.item_here()?;
        Some((file, About { identifier, item: Some(item) }))
    }

    /// The row under the cursor, as a note knows it.
    fn item_here(&self) -> Option<Item> {
        let (place, open) = (self.place_here()?, self.open()?);
        open.report.item(place.section, &open.report.row(place.section, place.row))
    }

    pub(in crate::app) fn place_here(&self) -> Option<Place> {
        let (pane, open) = self.focused().zip(self.open())?;
        let state = self.pane_state(pane);
        state.place(&open.report, pane, state.scroll.cursor)
    }

    /// The note on the row under the cursor, as a line of its detail.
    pub(in crate::app) fn note_line(&self) -> Option<Line> {
        let (_, about) = self.noted()?;
        let value = Some(self.notes.on(&about)?.text.clone());
        Some(Line { depth: 0, name: Some(Untrusted::from(format!("{MARK} note"))), value })
    }

    /// Opens the line for a note on what has the focus.
    pub(in crate::app) fn write_note(&mut self) {
        let Some((file, about)) = self.noted() else { return };
        let standing = self.notes.on(&about).map(|note| note.text.clone());
        let typed = standing.as_ref().map(words).unwrap_or_default();
        self.over.put(NoteForm::new(TypedNote { about, file, standing, is_late: false }, typed));
    }

    /// Writes the note; an empty line deletes the existing one, after confirmation.
    pub(in crate::app) fn keep_note(&mut self) {
        let Some(form) = self.over.top_as::<NoteForm>() else { return };
        let typed = form.text().trim();
        if let Some(text) = form.source.standing.clone().filter(|_| typed.is_empty()) {
            let note = Note {
                about: form.source.about.clone(),
                file: Some(form.source.file.clone()),
                text,
                written: self.now,
            };
            let details = "The line is empty: the note is deleted.".to_owned();
            return self.ask_first(details, KeyedAnswer::yes("yes, delete it", Consent::DeleteNote(note)));
        }
        if typed.len() > note::LONGEST {
            let (found, most) = (thousands(typed.len() as u64), thousands(note::LONGEST as u64));
            self.warn(format!("A note has at most {most} bytes, and this one {found}: it is not written yet."));
            return;
        }
        let note = (!typed.is_empty()).then(|| Note {
            about: form.source.about.clone(),
            file: Some(form.source.file.clone()),
            text: Untrusted::from(typed),
            written: self.now,
        });
        let known = form.source.standing.clone();
        let was_held = self.chosen().is_some_and(|entry| entry.here().is_some());
        self.over.close();
        if let Some(note) = note {
            self.emit(StoreJob::WriteNote { note, known, was_held });
        }
    }

    /// Gives words back to their line that were not written, because another note was meanwhile: that one is shown below them.
    pub(in crate::app) fn keep_words(&mut self, note: &Note) {
        let Some(file) = note.file.clone() else { return };
        let standing = self.notes.on(&note.about).map(|note| note.text.clone());
        let way = self.way_to("keep-note");
        self.warn(format!(
            "Not written: another note was written here meanwhile. {way} puts what is typed in its place."
        ));
        let (about, typed) = (note.about.clone(), words(&note.text));
        self.over.put(NoteForm::new(TypedNote { about, file, standing, is_late: true }, typed));
    }

    /// Takes in the notes of the profile, as the store has them.
    pub(in crate::app) fn take_notes(&mut self, notes: Vec<Note>) {
        self.notes = AllNotes::new(notes);
        // A row that is looked at whole shows its note as it is now.
        if self.over.top_as::<Detail>().is_some() && self.views_row() && self.place_here().is_some() {
            let before = self.over.close();
            self.open_detail();
            if let (Some(Overlay::Detail(detail)), Some(Overlay::Detail(before))) = (self.over.top_mut(), before) {
                detail.stay(&before);
            }
        }
    }
}

/// A note's words, to be typed on.
fn words(text: &Untrusted) -> String {
    String::from_utf8_lossy(text.as_bytes()).into_owned()
}
