//! The whole state of the screen, in one value with one owner.

use crate::app::export_form::LastFormat;
use crate::app::files::{MAX_OPEN_FILES, OpenFile, OpenFiles, SavedScreen, StartScreen};
use crate::app::find::{Filter, HitList, SearchQuery};
use crate::app::keys::Keymap;
use crate::app::layout::{Edge, PaneNeed, View};
use crate::app::message::{DocumentReports, RulesOrFile};
use crate::app::overlays::{AllNotes, OverlayStack, Target};
use crate::app::panes::PaneState;
use crate::app::prevalence::StoredValues;
use crate::app::scan::{PollPace, ScanWatches};
use crate::app::spending::price::{QuotaState, ShownPrices};
use crate::app::spending::{Calls, Obstacle};
use crate::app::{Effect, Job, Layout, List, ListEntry, OpenReport, Overlay, ReportJob, Size, Sizes, StoreJob};
use crate::report::identifier::{Identifier, Sha256};
use crate::report::rules::Rules;
use crate::report::{Pane, StoredItem};
use crate::request::Listing;
use crate::text::{Untrusted, thousands};
use jiff::{SignedDuration, Timestamp};
use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::Arc;

/// The state of the app; only messages change it.
#[derive(Debug, Default)]
pub struct Model {
    pub size: Size,
    /// The time of the last message.
    pub now: Timestamp,
    /// Monotonic time until the last message: deadlines do not depend on the clock.
    pub passed: SignedDuration,
    pub service: Service,
    pub settings: Settings,
    pub screen: Screen,
    pub overlays: OverlayStack,
    pub start: StartScreen,
    pub files: OpenFiles,
    pub(crate) notes: AllNotes,
    pub follows: ScanWatches,
    pub values: StoredValues,
    pub(crate) copies_raw: bool,
    pub calls: Calls,
    pub quota_state: QuotaState,
    pub(crate) sizes: Sizes,
    pub(crate) remembered: SavedScreen,
    pub notice: Option<Notice>,
    /// Whether the program ends once no paid response and no write is pending.
    pub(crate) is_quitting: bool,
    /// Notes and deletions that the store has not written yet.
    pub(super) writes: usize,
    pub rules: Option<Arc<Rules>>,
    pub(crate) hides_noise: bool,
    pub(crate) last_format: Option<LastFormat>,
    /// The target of a pending jump, until its row is indexed.
    pub(super) bound_for: Option<Target>,
    pub(super) offers: ShownPrices,
    /// The border that the mouse drags.
    pub(super) dragged: Option<Edge>,
    /// The last search of all stored reports, left for a hit.
    pub(super) finder: Option<HitList>,
    pub(super) pattern: SearchQuery,
    /// The job of files being written: the end of the program cancels it.
    pub(super) writing: Job,
    /// Whether the last keys were letters, the first of them without effect.
    pub(super) is_idle_letter: bool,
    /// The number of confirmations opened so far.
    pub(super) questions: u64,
    /// Effects that the runtime has not taken yet, in order.
    effects: Vec<Effect>,
}

/// The service as the app shows it.
#[derive(Debug, Clone, Default)]
pub struct Service {
    pub name: String,
    pub id: String,
    pub has_key: bool,
    /// How to get a key, and where the program reads it.
    pub key_help: [String; 2],
    pub is_offline: bool,
    /// Whether responses are shared with a team.
    pub has_team: bool,
    pub listing: Listing,
    /// The largest file for a direct upload, in bytes.
    pub upload_direct: u64,
    /// The largest file for any upload, in bytes.
    pub upload_largest: u64,
}

impl Service {
    /// Explains why nothing can be sent: offline, or without a key.
    pub fn barred(&self) -> Option<Obstacle> {
        match self {
            Self { is_offline: true, .. } => Some(Obstacle::Offline),
            Self { has_key: false, .. } => Some(Obstacle::NoApiKey),
            _ => None,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Screen {
    #[default]
    Start,
    File,
}

/// A message in one row, until the next key.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Notice {
    pub text: String,
    pub is_problem: bool,
}

impl Model {
    pub fn new(service: Service, now: Timestamp) -> Self {
        Self { service, now, ..Self::default() }
    }

    pub(super) fn rules_or_file(&self) -> RulesOrFile {
        self.rules.clone().ok_or_else(|| self.settings.rules_file.clone())
    }

    /// Opens the reports of documents by name instead of a service's; shows the first.
    pub fn open_documents(&mut self, documents: Vec<(String, DocumentReports)>) {
        let several = Some(documents.len()).filter(|documents| *documents > 1);
        let title = several.map(|several| format!("one of {} documents", thousands(several as u64)));
        let name = title.or_else(|| documents.first().map(|(name, _)| name.clone())).unwrap_or_default();
        if let [(_, reports)] = &*documents
            && let [(_, report)] = &**reports
            && report.body.is_streamed()
        {
            let body = report.body.clone();
            let received = report.received;
            self.emit(ReportJob::CheckDocument(body, received));
        }
        let entries = documents.into_iter().flat_map(|(name, reports)| {
            let document = several.map(|_| Untrusted::from(name));
            let entry = move |(identifier, report)| {
                let mut entry = ListEntry::with(identifier, report);
                entry.document.clone_from(&document);
                entry
            };
            reports.into_iter().map(entry)
        });
        self.files.open(OpenFile::new(List::document(name, entries.collect())));
        self.screen = Screen::File;
        self.show_chosen();
        if self.list().is_some_and(List::is_single) {
            self.files.enter_group();
        }
    }

    pub(super) fn show_file(&mut self, place: usize) {
        self.screen = Screen::File;
        if place != self.files.place_at(0) {
            self.leave_shown();
            self.files.shown = place;
        }
        self.clamp_cursors();
        self.show_chosen()
    }

    /// Closes the overlays of the shown file before another replaces it.
    fn leave_shown(&mut self) {
        self.record_folds();
        self.overlays.all.clear();
        self.bound_for = None;
    }

    fn open_beside(&mut self, file: Sha256) {
        self.start.typed.text.clear();
        self.bound_for = None;
        if let Some(place) = self.files.place_of(&file) {
            return self.show_file(place);
        }
        self.screen = Screen::File;
        self.leave_shown();
        if self.is_document() {
            self.close(self.files.place_at(0));
        }
        if self.files.hashes().count() >= MAX_OPEN_FILES {
            self.close(0);
        }
        self.files.open(OpenFile::new(List::not_requested(file.clone())));
        self.emit(StoreJob::LoadFile(file.clone()));
        self.emit(StoreJob::RecordFile(file));
    }

    /// Opens files from the store alone, and shows the first; an open file keeps its state.
    pub fn open_files(&mut self, files: &[Sha256]) {
        let first = files.first().filter(|_| files.len() > 1);
        let before: Vec<_> = self.files.hashes().cloned().collect();
        files.iter().chain(first).for_each(|file| self.open_beside(file.clone()));
        let closed: Vec<_> = before.iter().filter(|file| self.files.of(file).is_none()).map(Sha256::short).collect();
        if !closed.is_empty() {
            self.say(format!(
                "Closed to make room, as at most {MAX_OPEN_FILES} files are open at once: {}.",
                closed.join(", ")
            ));
        }
    }

    /// Takes all reports of a document that was shown while it was read.
    pub(super) fn document_read(&mut self, reports: DocumentReports, problems: &str) {
        if let Some(list) = self.files.list_mut().filter(|list| list.file().is_none()) {
            list.take_document(reports);
        }
        if !problems.is_empty() {
            self.warn(problems.trim_end());
        }
    }

    pub fn open_report(&mut self, file: Sha256, identifier: Identifier) {
        self.go_to(Target { file: Some(file), identifier: Some(identifier), entry: 0, place: None })
    }

    /// Closes the shown file and shows another open one, or the start screen.
    pub(super) fn close_file(&mut self) {
        self.leave_shown();
        self.close(self.files.place_at(0));
        if self.files.shown().is_none() {
            return self.leave_file();
        }
        self.clamp_cursors();
        self.show_chosen()
    }

    /// Closes the file at this index, with its pending calls.
    fn close(&mut self, place: usize) {
        let closed = self.files.close(place);
        let file = closed.as_ref().and_then(|closed| closed.list.file());
        file.into_iter().for_each(|file| _ = self.follows.end(file));
        if self.calls.batch().is_some_and(|batch| batch.file.as_ref() == file) {
            self.stop_batch("The file was closed.");
        }
    }

    /// Drops reports that are no longer stored, and closes files without any.
    pub(super) fn drop_deleted_reports(&mut self, stored: &[StoredItem]) {
        // Imports belong to no service, and are stored for all profiles.
        let ours = || stored.iter().filter(|thing| thing.service == self.service.id || thing.is_import());
        let reports: HashSet<_> = ours().filter_map(StoredItem::report).collect();
        let files: HashSet<_> =
            ours().filter_map(|thing| thing.file.as_ref().filter(|_| thing.is_response())).collect();
        let mut is_changed = self.files.drop_deleted(&reports);
        while let Some(place) = self.files.emptied(&files) {
            self.close(place);
            is_changed = true;
        }
        if !is_changed {
            return;
        }
        // Hits and comparisons may quote deleted reports.
        self.finder = None;
        self.bound_for = None;
        self.overlays.all.retain(|overlay| matches!(overlay, Overlay::Stored(_)));
        if self.files.shown().is_none() {
            self.screen = Screen::Start;
        }
        self.clamp_cursors();
        self.show_chosen()
    }

    /// Queues an effect for the runtime; a write delays the end of the program.
    pub(super) fn emit(&mut self, effect: impl Into<Effect>) {
        let effect = effect.into();
        self.writes += usize::from(matches!(&effect, Effect::Store(job) if job.is_write()));
        self.effects.push(effect);
    }

    pub(super) fn emit_all(&mut self, effects: impl IntoIterator<Item = impl Into<Effect>>) {
        effects.into_iter().for_each(|effect| self.emit(effect));
    }

    /// Returns the effects of the messages so far, for the runtime to perform.
    pub fn take_effects(&mut self) -> Vec<Effect> {
        std::mem::take(&mut self.effects)
    }

    /// Returns whether the screen changes by itself as time passes.
    pub fn is_waiting(&self) -> bool {
        !self.calls.is_empty()
            || self.calls.batch().is_some()
            || !self.follows.is_empty()
            || self.quota_state.waits(self.now).is_some()
    }

    /// Returns the shown file's list of sandboxes; `None` on the start screen.
    pub fn list(&self) -> Option<&List> {
        self.files.shown().map(|file| &file.list)
    }

    /// Returns the shown file, if it comes from the service.
    pub fn file(&self) -> Option<&Sha256> {
        self.list().and_then(List::file)
    }

    pub fn is_document(&self) -> bool {
        self.list().is_some_and(|list| list.file().is_none())
    }

    pub fn chosen(&self) -> Option<&ListEntry> {
        self.list().and_then(List::chosen)
    }

    /// Returns the report in the panes; `None` if the chosen sandbox has none.
    pub fn open(&self) -> Option<&OpenReport> {
        self.files.shown().and_then(OpenFile::open)
    }

    /// Returns the focused pane; `None` while the list has the focus.
    pub fn focused(&self) -> Option<Pane> {
        self.files.shown()?.focus
    }

    pub(crate) fn filter(&self) -> Option<&Filter> {
        self.focused().and_then(|pane| self.pane_state(pane).filter.as_ref())
    }

    pub(crate) fn is_filtering(&self) -> bool {
        self.screen == Screen::File
            && self.overlays.is_empty()
            && self.filter().is_some_and(|filter| filter.query.is_typing)
    }

    pub fn layout(&self) -> Layout {
        let mut group = self.files.order().group(self.files.shown_group()).to_vec();
        group.extend(self.focused().filter(|pane| *pane != Pane::Overview && !group.contains(pane)));
        let need = |pane| self.open().map_or(PaneNeed { pane, rows: 0, columns: 0 }, |open| open.need(pane));
        let view = View {
            has_report: self.screen == Screen::File && self.open().is_some(),
            pane: self.focused(),
            group: group.into_iter().map(need).collect(),
            is_zoomed: self.files.is_zoomed(),
            is_plain: self.settings.is_plain,
            listed: self.list().map_or(0, List::count),
            message: u16::try_from(self.message().len()).unwrap_or(u16::MAX),
            sizes: self.sizes,
        };
        Layout::of(self.size, &view)
    }

    /// Visible rows of the focused list or pane.
    pub(crate) fn height(&self) -> usize {
        let layout = self.layout();
        let area = self.focused().map_or(layout.list, |pane| layout.pane(pane));
        let rows = usize::from(area.unwrap_or_default().inside().height);
        if self.focused().is_none() { rows / self.list_row_height() } else { rows }
    }

    /// Returns the screen rows of one sandbox: two where they fit.
    pub fn list_row_height(&self) -> usize {
        if self.settings.is_plain { 1 } else { self.size.entry_rows().into() }
    }

    pub fn pane_state(&self, pane: Pane) -> &PaneState {
        self.open().and_then(|open| open.panes.get(&pane)).unwrap_or_else(|| PaneState::untouched())
    }

    pub fn say(&mut self, text: impl Into<String>) {
        self.notice = Some(Notice { text: text.into(), ..Notice::default() });
    }

    pub fn warn(&mut self, text: impl Into<String>) {
        self.notice = Some(Notice { text: text.into(), is_problem: true });
    }
}

/// Settings that do not change while the app runs.
#[derive(Debug, Default)]
pub struct Settings {
    pub keys: Keymap,
    /// Units above which a price needs confirmation.
    pub confirm_above: u64,
    pub pace: PollPace,
    pub rules_file: Option<PathBuf>,
    /// Whether plain mode shows one pane at a time, as lines.
    pub is_plain: bool,
    /// Why the store ends with the run, if it does.
    pub forgets: Option<&'static str>,
    pub has_shell: bool,
    /// Tables of settings, each with a text of its value and origin, and its description.
    pub in_effect: Vec<(String, String)>,
    /// Whether the service is the demo: its costs are make-believe.
    pub is_demo: bool,
    /// Whether the first file without stored reports is listed at once.
    pub lists_at_once: bool,
}

impl Settings {
    /// Returns whether the worst price needs confirmation; an unknown price does.
    pub(crate) fn must_confirm(&self, worst: Option<u64>) -> bool {
        worst.is_none_or(|worst| worst > self.confirm_above)
    }
}
