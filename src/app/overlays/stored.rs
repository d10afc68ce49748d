//! The list of stored items by size, age and origin, and their deletion; and notes.

use crate::app::overlays::{Detail, FormSource, InputForm, ListSource, ListView};
use crate::app::spending::{Consent, KeyChoice};
use crate::app::{Model, Overlay, Screen, Size, StoreJob};
use crate::report::identifier::{Identifier, Sha256};
use crate::report::note::{self, Note, NoteSubject, Notes};
use crate::report::{Deletion, DeletionTarget, Retention, RowPlace, StoredContent, StoredItem, label_owners};
use crate::request::{Request, again};
use crate::text::{Untrusted, Visible, bytes, count, thousands};
use jiff::{SignedDuration, Timestamp};
use std::cmp::Reverse;
use std::collections::HashMap;

const DAY_SECONDS: i64 = 86_400;

/// An order of the list: its name, and its sort function at a given time.
type StoredOrder = (&'static str, fn(&mut [StoredItem], Timestamp));

const ORDERS: [StoredOrder; 5] = [
    ("newest first", |lines, _| lines.sort_by_key(|line| Reverse(line.received))),
    ("oldest first", |lines, _| lines.sort_by_key(|line| line.received)),
    ("largest first", |lines, _| lines.sort_by_key(|line| Reverse(line.on_disk))),
    ("by file", |lines, _| lines.sort_by_key(|line| (line.file.clone(), title(line)))),
    ("by expiry", |lines, now| {
        lines.sort_by_key(|line| line.retention(now).map_or((4, Timestamp::MAX), Retention::urgency));
    }),
];

pub type StoredList = ListView<StoreContents>;

/// All stored items, in the chosen order.
#[derive(Debug, Default)]
pub struct StoreContents {
    pub(crate) lines: Vec<StoredItem>,
    order: usize,
}

/// Returns the sandbox, or the label of the request.
pub fn title(thing: &StoredItem) -> Visible {
    match &thing.what {
        StoredContent::Report(identifier) | StoredContent::Notes(identifier) => identifier.parts().sandbox.visible(),
        StoredContent::Response { key, .. } => Request::stored_label(key.as_bytes()),
    }
}

/// Returns the origin: a file, none yet, or the profile that requested it.
pub fn origin(thing: &StoredItem) -> String {
    match &thing.imported {
        Some(imported) => format!("imported {}", imported.label()),
        None if matches!(thing.what, StoredContent::Notes(_)) => "notes alone".to_owned(),
        None if thing.is_unread() => "quarantined".to_owned(),
        None => Untrusted::from(thing.profile.as_str()).visible_cut(40).to_string(),
    }
}

/// Describes a deletion: its number, owners, size and notes.
pub fn describe_deletion(deletion: &Deletion) -> String {
    let things = &deletion.things;
    let reports = things.iter().filter(|thing| thing.report().is_some()).count() as u64;
    let others = things.iter().filter(|thing| matches!(thing.what, StoredContent::Response { .. })).count() as u64;
    let items = match (things.as_slice(), reports, others) {
        ([], ..) => return "nothing".to_owned(),
        (_, 0, 0) => "notes on reports that are not stored".to_owned(),
        ([one], 1, _) => format!("the report by {}", title(one).cut(40)),
        ([one], ..) => format!("the {}", title(one).cut(60)),
        (_, reports, 0) => count(reports, "report"),
        _ => format!("{} and {}", count(reports, "report"), count(others, "other response")),
    };
    let (size, on_disk) = deletion.sizes();
    let notes = if deletion.notes > 0 { format!(", with {}", count(deletion.notes, "note")) } else { String::new() };
    format!("{items} {}: {}, {} on disk{notes}", label_owners(things), bytes(size), bytes(on_disk))
}

impl StoreContents {
    fn order(&self) -> Option<&StoredOrder> {
        ORDERS.get(self.order % ORDERS.len())
    }

    pub fn order_name(&self) -> &'static str {
        self.order().map_or("", |(name, _)| name)
    }

    fn sort(&mut self, now: Timestamp) {
        let sort = self.order().map(|(_, sort)| *sort);
        sort.into_iter().for_each(|sort| sort(&mut self.lines, now));
    }
}

impl ListSource for StoreContents {
    type Row = StoredItem;

    fn rows(&self) -> &[StoredItem] {
        &self.lines
    }

    fn text(thing: &StoredItem) -> String {
        let file = thing.file.as_ref().map(ToString::to_string).unwrap_or_default();
        let name = thing.name.as_ref().map(|name| name.visible().to_string()).unwrap_or_default();
        let imported = thing.imported.as_ref().map(|imported| imported.label()).unwrap_or_default();
        format!("{} {file} {name} {} {imported}", title(thing), Untrusted::from(thing.profile.as_str()).visible())
    }

    /// Returns the heading; an empty row, and details of the chosen item.
    fn beside(&self, room: Size, _: &Model) -> (usize, usize) {
        (1, if room.height < 10 { 3 } else { 4 })
    }
}

pub type AgeForm = InputForm<AgeInDays>;

#[derive(Debug)]
pub struct AgeInDays;

impl FormSource for AgeInDays {}

/// The sign of a note in all lists.
pub const MARK: &str = "✎";

/// All notes of the profile. They belong to reports, whichever files list these.
#[derive(Debug, Default)]
pub struct AllNotes {
    reports: HashMap<Identifier, Notes>,
    /// The user's own, which a new text replaces.
    own: HashMap<NoteSubject, Untrusted>,
}

impl AllNotes {
    pub(crate) fn new(notes: Vec<Note>) -> Self {
        let own = notes.iter().filter(|note| note.author.is_none());
        let own = own.map(|note| (note.about.clone(), note.text.clone())).collect();
        let mut reports = HashMap::<Identifier, Vec<Note>>::new();
        notes.into_iter().for_each(|note| reports.entry(note.about.identifier.clone()).or_default().push(note));
        let reports = reports.into_iter().map(|(report, notes)| (report, notes.into_iter().collect())).collect();
        Self { reports, own }
    }

    pub(crate) fn of(&self, identifier: &Identifier) -> Option<&Notes> {
        self.reports.get(identifier)
    }

    pub(crate) fn on(&self, about: &NoteSubject) -> Option<&Note> {
        let notes = self.of(&about.identifier)?;
        about.item.as_ref().map_or_else(|| notes.on_report(), |item| notes.on_item(item))
    }
}

pub type NoteForm = InputForm<TypedNote>;

#[derive(Debug)]
pub struct TypedNote {
    pub about: NoteSubject,
    pub(crate) file: Sha256,
    /// The existing note, which the new one replaces.
    pub standing: Option<Untrusted>,
    /// Whether the existing note is newer than the start of typing.
    pub is_late: bool,
}

impl FormSource for TypedNote {}

impl Model {
    pub(crate) fn show_stored(&mut self, lines: Vec<StoredItem>) {
        let now = self.now;
        let has_line = self.key_context().has_line();
        match self.overlays.find_mut::<StoredList>() {
            Some(stored) => stored.change(|all| {
                all.lines = lines;
                all.sort(now);
            }),
            None if has_line => {}
            None => {
                let mut all = StoreContents { lines, order: 0 };
                all.sort(now);
                self.overlays.put(StoredList::new(all));
            }
        }
    }

    fn stored_lines(&self) -> &[StoredItem] {
        self.overlays.top_as::<StoredList>().map_or(&[], |stored| &stored.source.lines)
    }

    pub(crate) fn sort_stored(&mut self) {
        let now = self.now;
        self.overlays.change_top(|stored: &mut StoredList| {
            stored.change(|all| {
                all.order += 1;
                all.sort(now);
            });
        });
    }

    pub(crate) fn chosen_stored(&self) -> Option<&StoredItem> {
        self.overlays.top_as::<StoredList>().and_then(|stored| stored.chosen())
    }

    pub(crate) fn open_stored(&mut self) {
        let Some(line) = self.chosen_stored() else { return };
        let Some(file) = line.file.clone() else { return };
        let report = match &line.what {
            StoredContent::Report(identifier) | StoredContent::Notes(identifier) => Some(identifier.clone()),
            StoredContent::Response { beside, .. } => beside.clone(),
        };
        self.overlays.all.clear();
        match report {
            Some(identifier) => self.open_report(file, identifier),
            None => self.open_files(&[file]),
        }
    }

    /// Requests confirmation to delete the chosen item, or everything stored of its file.
    pub(crate) fn delete_chosen(&mut self) {
        let Some(line) = self.chosen_stored() else { return };
        let of = |what| Deletion::of(vec![what], None, self.stored_lines());
        let whole = line.file.clone().map(|file| of(DeletionTarget::File(line.service.clone(), file)));
        let one = of(line.purge());
        let whole = whole.filter(|whole| whole.things.len() > 1);
        let mut why = self.deletion_text("To be deleted", &one);
        let mut choices = vec![KeyChoice::yes("yes, delete", Consent::DeleteStored(one))];
        if let Some(whole) = whole {
            why.push_str(&self.deletion_text(" Or everything", &whole));
            choices.push(KeyChoice::yes_to_all("yes, all of the file", Consent::DeleteStored(whole)));
        }
        self.confirm_first(why, choices)
    }

    pub(crate) fn delete_old(&mut self) {
        let Some(form) = self.overlays.top_as::<AgeForm>() else { return };
        let days = form.text().trim().parse::<i64>().ok().filter(|days| *days >= 0);
        let age = days.and_then(|days| days.checked_mul(DAY_SECONDS)).map(SignedDuration::from_secs);
        let Some(before) = age.and_then(|age| self.now.checked_sub(age).ok()) else {
            return self.warn("A number of days, such as 30.");
        };
        self.overlays.close();
        self.confirm_deletion(vec![DeletionTarget::Before(before)])
    }

    /// Requests confirmation with the items to delete and the price of fetching them again.
    pub(crate) fn confirm_deletion(&mut self, what: Vec<DeletionTarget>) {
        if self.overlays.top_as::<StoredList>().is_none() {
            return;
        }
        let deletion = Deletion::of(what, None, self.stored_lines());
        if deletion.things.is_empty() {
            return self.say("Nothing stored is that old.");
        }
        let why = self.deletion_text("To be deleted", &deletion);
        let choice = match deletion.things.len() > 1 {
            true => KeyChoice::yes_to_all("yes, delete all of it", Consent::DeleteStored(deletion)),
            false => KeyChoice::yes("yes, delete", Consent::DeleteStored(deletion)),
        };
        self.confirm_first(why, [choice])
    }

    fn deletion_text(&self, lead: &str, deletion: &Deletion) -> String {
        let file = match deletion.what.as_slice() {
            [DeletionTarget::Before(_) | DeletionTarget::DownTo(_) | DeletionTarget::Everything] => None,
            _ => deletion.things.iter().find_map(|line| Some((line.file.as_ref()?, line.name.as_ref()))),
        };
        let name = |name: &Untrusted| format!(" ({})", name.visible_cut(40));
        let file =
            file.map(|(file, given)| format!(" of file {}{}", file.short(), given.map(name).unwrap_or_default()));
        // The user may expect that only visible items go.
        let list = self.overlays.top_as::<StoredList>();
        let is_shown = |thing: &StoredItem| list.is_none_or(|list| list.shown(0).any(|shown| shown == thing));
        let hidden = match deletion.things.iter().filter(|thing| !is_shown(thing)).count() {
            0 => String::new(),
            hidden => format!("{} of them hidden by the filter. ", thousands(hidden as u64)),
        };
        let file = file.unwrap_or_default();
        let description = describe_deletion(deletion);
        let again = again(&deletion.things, &self.quota_state.entitlements, self.now);
        format!("{lead}{file}: {description}. {hidden}{again}").trim_end().to_owned()
    }

    /// Removes deleted items from lists, open files and search results.
    pub(crate) fn on_deleted(&mut self, words: String, lines: Vec<StoredItem>) {
        self.drop_deleted_reports(&lines);
        if self.overlays.find::<StoredList>().is_some() {
            self.show_stored(lines);
        }
        self.say(words);
        self.emit(StoreJob::FindRecent);
    }

    /// Returns notes on a report and its items; `None` for a document, which has no profile.
    pub fn notes_on(&self, identifier: &Identifier) -> Option<&Notes> {
        self.notes.of(identifier).filter(|_| !self.is_document())
    }

    /// Returns a note's subject: the sandbox in the list, the row in a pane; `None` in a document.
    pub(crate) fn noted(&self) -> Option<(Sha256, NoteSubject)> {
        let file = self.file().filter(|_| self.screen == Screen::File)?.clone();
        let identifier = self.chosen()?.identifier.clone()?;
        if self.focused().is_none() {
            return Some((file, NoteSubject::report(identifier)));
        }
        let place = self.note_target()?;
        let open = self.open()?;
        let item = open.report.item(place.section, &open.report.row(place.section, place.row))?;
        Some((file, NoteSubject { identifier, item: Some(item) }))
    }

    pub(crate) fn note_target(&self) -> Option<RowPlace> {
        self.files.current_row().map(|(_, place)| place)
    }

    pub(crate) fn write_note(&mut self) {
        let Some((file, about)) = self.noted() else { return };
        let standing = self.notes.own.get(&about).cloned();
        let typed = standing.as_ref().map(lossy_text).unwrap_or_default();
        self.overlays.put(NoteForm::new(TypedNote { about, file, standing, is_late: false }, typed));
    }

    /// Writes the note; an empty line deletes the existing one, after confirmation.
    pub(crate) fn save_note(&mut self) {
        let Some(form) = self.overlays.top_as::<NoteForm>() else { return };
        let typed = form.text().trim();
        let known = form.source.standing.clone();
        let written = self.now;
        let about = form.source.about.clone();
        let file = Some(form.source.file.clone());
        let note = |text| Note { about, file, text, written, author: None };
        if typed.len() > note::LONGEST {
            let found = thousands(typed.len() as u64);
            let most = thousands(note::LONGEST as u64);
            return self.warn(format!("A note has at most {most} bytes, and this one {found}: it is not written yet."));
        }
        match (typed.is_empty(), known) {
            (true, Some(text)) => {
                let choice = KeyChoice::yes("yes, delete it", Consent::DeleteNote(note(text)));
                self.confirm_first("The line is empty: the note is deleted.".to_owned(), [choice])
            }
            (true, None) => _ = self.overlays.close(),
            (false, known) => {
                let note = note(Untrusted::from(typed));
                self.overlays.close();
                self.emit(StoreJob::WriteNote(note, known));
            }
        }
    }

    /// Restores typed text after a conflict, with the newer note below it.
    pub(crate) fn restore_typed(&mut self, note: &Note) {
        let Some(file) = note.file.clone() else { return };
        let standing = self.notes.own.get(&note.about).cloned();
        let way = self.key_label("save-note");
        self.warn(format!("Not written: another note was written here meanwhile. {way} replaces it with this text."));
        let about = note.about.clone();
        self.overlays.put(NoteForm::new(TypedNote { about, file, standing, is_late: true }, lossy_text(&note.text)));
    }

    pub(crate) fn take_notes(&mut self, notes: Vec<Note>) {
        self.notes = AllNotes::new(notes);
        // Open row details show the note as it is now.
        if self.overlays.top_as::<Detail>().is_some() && self.overlays.shows_row() && self.note_target().is_some() {
            let before = self.overlays.close();
            self.open_detail();
            if let (Some(Overlay::Detail(detail)), Some(Overlay::Detail(before))) = (self.overlays.top_mut(), before) {
                detail.stay(&before);
            }
        }
    }
}

fn lossy_text(text: &Untrusted) -> String {
    String::from_utf8_lossy(text.as_bytes()).into_owned()
}
