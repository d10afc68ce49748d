//! The dispatch of messages: state changes, and the effects that follow.

use crate::app::commands::{Action, WATCH_TITLE};
use crate::app::export_form::ExportForm;
use crate::app::files::OpenFile;
use crate::app::keys::{CONFIRM, ENTER};
use crate::app::overlays::generic::TextField;
use crate::app::overlays::text_page::TIMELINE;
use crate::app::overlays::{TextPage, group, triage};
use crate::app::panes::Scroll;
use crate::app::prevalence::{self, ValueJob};
use crate::app::spending::{Confirmation, Prompt, find_shared, show_costs};
use crate::app::{
    Command, Effect, FileEvent, Key, KeyContext, Message, Model, OpenReport, Overlay, ReportEvent, Response,
    ResponseSource, Screen, SearchEvent, ServiceCall, ServiceEvent, StoreEvent, StoreJob, TerminalAction,
    TerminalEvent,
};
use crate::report::identifier::FileHash;
use crate::request::Request;
use jiff::{SignedDuration, Timestamp};

/// Commands that work while a confirmation is open.
const CONFIRMATION_COMMANDS: [&str; 4] = ["back", "cancel", "suspend", "quit"];

impl Model {
    /// The focused text field; `None` in a form that was sent.
    fn field(&mut self) -> Option<&mut TextField> {
        if self.is_filtering() {
            return self.filter_mut().map(|filter| &mut filter.query.typed);
        }
        let is_closed = self.overlays.is_empty() || self.is_form_sent();
        if is_closed { None } else { self.overlays.top_mut()?.screen_mut().field() }
    }

    pub(super) fn after_typing(&mut self) {
        if self.is_filtering() {
            return self.start_search();
        }
        let open = self.files.shown().and_then(OpenFile::open);
        let effect = self.overlays.top_mut().and_then(|overlay| overlay.screen_mut().on_typed(open, self.now));
        self.emit_all(effect);
    }

    /// Checks the store for the typed request, or for each artifact.
    pub(super) fn check_store(&mut self) {
        let requests: Vec<_> = match self.overlays.top() {
            Some(Overlay::SandboxArtifacts(list)) => list.source.requests().collect(),
            Some(Overlay::Prompt(form)) => form.request(self.now).into_iter().collect(),
            // Reports of its files may have been stored meanwhile.
            Some(Overlay::Group(view)) => return self.emit(StoreJob::LoadGroup(view.source.list)),
            _ => return,
        };
        self.emit_all(requests.into_iter().map(StoreJob::Check));
    }

    pub(super) fn paste(&mut self, text: &str) {
        self.overlays.change_top(ExportForm::go_to_name);
        if let Some(field) = self.field() {
            field.paste(text);
            return self.after_typing();
        }
        if self.is_form_sent() || self.screen != Screen::Start {
            return;
        }
        self.overlays.all.clear();
        self.paste_hashes(text);
    }

    /// Requests recent files and the free counters before the first message.
    pub fn start(&mut self) {
        self.emit(StoreJob::FindRecent);
        if self.service.barred().is_none() {
            self.send_or_confirm(Request::Quotas, ResponseSource::Service);
        }
    }

    /// Applies a message; returns the effects for the runtime.
    pub fn update(&mut self, message: impl Into<Message>, now: Timestamp) -> Vec<Effect> {
        self.passed = self.passed.saturating_add(self.now.duration_until(now).max(SignedDuration::ZERO));
        self.now = now;
        self.dispatch(message.into());
        self.files.fit(self.size.is_large());
        if self.overlays.shows_page(WATCH_TITLE) {
            self.show_figures(self.watch_page(), false);
        } else if !self.overlays.is_empty() {
            self.refresh_palette();
        }
        self.clamp_cursors();
        prevalence::follow(self);
        self.take_effects()
    }

    fn dispatch(&mut self, message: Message) {
        match message {
            Message::Terminal(event) => self.on_terminal(event),
            Message::Tick => {
                self.next_in_batch();
                self.next_poll();
            }
            Message::Service(event) => self.on_service(event),
            Message::Store(event) => self.on_store(event),
            Message::Report(event) => self.on_report_event(event),
            Message::Search(event) => match event {
                SearchEvent::Rows(job, rows, ended) => {
                    let is_it = |open: &&mut OpenReport| open.panes.values().any(|state| state.runs(job));
                    let open = self.files.reports_mut().find(is_it);
                    let further = open.map(|open| open.take_found(job, rows, ended));
                    self.emit_all(further.into_iter().flatten());
                }
                SearchEvent::Hits(job, groups, searched, ended) => self.hits(job, groups, searched, ended),
                SearchEvent::ComparisonFiltered(job, found) => self.comparison_filtered(job, found),
            },
            Message::File(event) => match event {
                FileEvent::Inspected(path, result, sent, before) => self.on_file_inspected(path, result, sent, before),
                FileEvent::HashesCounted(path, result) => self.counted(&path, result),
                FileEvent::Copied(what, result) => self.copied(&what, result),
                FileEvent::Written(result) => self.saved(result),
            },
            Message::Notice(text) => self.warn(text),
        }
    }

    fn on_terminal(&mut self, event: TerminalEvent) {
        match event {
            // So small a screen shows only how to quit: other keys would act on invisible things.
            TerminalEvent::Key(key) | TerminalEvent::KeyInput(key, ..)
                if !self.size.is_enough() && Command::of(key, self).is_none_or(|command| command.name != "quit") => {}
            TerminalEvent::Mouse(_) | TerminalEvent::Paste(_) if !self.size.is_enough() => {}
            TerminalEvent::Key(key) => self.press(key),
            TerminalEvent::KeyInput(key, frame) => self.press_if_price_was_shown(key, frame),
            TerminalEvent::Mouse(pointer) => self.point(pointer),
            TerminalEvent::Paste(text) => self.paste(&text),
            TerminalEvent::FrameDrawn(frame) => {
                self.on_frame(frame);
                self.emit_all((frame == 1).then_some(StoreJob::Values(ValueJob::Index(None))));
            }
            TerminalEvent::Resize(size) => {
                self.size = size;
                if self.overlays.shows_page(TIMELINE) {
                    self.show_figures(TextPage::timeline(self, self.overlay_room().width.into()), false);
                }
            }
            TerminalEvent::Suspend => self.emit(TerminalAction::Suspend),
            TerminalEvent::Resume => self.emit(TerminalAction::Resume),
            TerminalEvent::Quit if self.is_quitting => {}
            TerminalEvent::Quit => self.quit(),
            TerminalEvent::QuitNow => {
                self.is_quitting = true;
                // The ledger has the possible cost of cancelled calls; the last ends the program.
                if self.calls.awaits_paid() { self.cancel_or_quit() } else { self.emit(TerminalAction::Quit) }
            }
        }
    }

    fn on_service(&mut self, event: ServiceEvent) {
        match event {
            ServiceEvent::Progress(request, bytes, total) => self.calls.receive(&request, bytes, total),
            ServiceEvent::ReportBegun(request, body) => self.on_report_begun(&request, &body),
            ServiceEvent::Ended(request, result) => {
                let is_new = matches!(result, Ok(Response::Report(_) | Response::Page(..)));
                let file = request.storage_key().and_then(|key| Request::file_of_key(&key));
                self.call_ended(&request, result);
                file.iter().for_each(|file| triage::triage_again(self, Some(file)));
                self.emit_all(is_new.then_some(StoreJob::Values(ValueJob::Index(file))));
            }
            ServiceEvent::Spent(spent, today) => {
                let before = std::mem::replace(&mut self.quota_state.spent, spent).into_values().sum();
                self.quota_state.allowance = self.quota_state.allowance.as_of(self.now, before);
                if let Some(today) = today {
                    let session = self.quota_state.spent.values().copied().sum();
                    self.quota_state.allowance.count(today, session, self.now);
                }
            }
            ServiceEvent::QuotaExhausted(is_exhausted) => self.quota_state.is_over_quota = is_exhausted,
            ServiceEvent::RateLimitedUntil(until) => self.quota_state.wait_until = Some(until),
            ServiceEvent::Shared(found) => self.quota_state.shared.extend(found),
            ServiceEvent::Costs(costs) => show_costs(self, &costs),
            ServiceEvent::GroupBudgets(budgets) => self.quota_state.group_budgets = budgets,
        }
    }

    fn on_store(&mut self, event: StoreEvent) {
        match event {
            StoreEvent::RecentFiles(recent) => self.start.recent = recent,
            StoreEvent::FileLoaded(file, loaded, scan) => {
                self.take_loaded(&file, loaded);
                self.recall_scan(&file, scan);
                find_shared(self);
            }
            StoreEvent::CompareFileLoaded(file, loaded) => self.take_compare_file(&file, loaded),
            StoreEvent::ReportRead(identifier, verdict) => {
                self.files.each_entry_mut(&identifier).for_each(|entry| entry.take_verdict(verdict.as_ref()));
            }
            StoreEvent::Checked(request, since, missing) => self.on_store_checked(request, since, missing),
            StoreEvent::WriteFinished => {
                self.writes = self.writes.saturating_sub(1);
                self.leave();
                find_shared(self);
            }
            StoreEvent::Notes(notes) => self.take_notes(notes),
            StoreEvent::NoteConflict(note) => self.restore_typed(&note),
            StoreEvent::Ledger(page) => {
                self.show_figures(TextPage::ledger(&page, self.now), !self.key_context().has_line());
            }
            StoreEvent::Inventory(lines) => self.show_stored(lines),
            StoreEvent::Group(list, pages, reports) => group::show(self, list, pages, reports),
            StoreEvent::Deleted(words, lines) => {
                self.on_deleted(words, lines);
                self.emit(StoreJob::Values(ValueJob::Index(None)));
            }
            StoreEvent::Uploads(uploads) => self.quota_state.entitlements.uploads = uploads,
            StoreEvent::Values(event) => prevalence::on_event(self, event),
        }
    }

    fn on_report_event(&mut self, event: ReportEvent) {
        match event {
            ReportEvent::Indexed(job, batch) => {
                self.indexed(job, batch);
                let further = self.files.opened_mut(job).map(OpenReport::continue_search);
                self.emit_all(further.into_iter().flatten());
                self.arrive();
            }
            ReportEvent::Evaluated(job, marks) => self.on_rules_applied(job, marks),
            ReportEvent::Indicators(job, result) => self.on_indicators_found(job, result),
            ReportEvent::RulesLoaded(rules, problems) => {
                self.rules = Some(rules);
                if !problems.is_empty() {
                    self.warn(problems.join(" "));
                }
            }
            ReportEvent::AllEvaluated(job, found) => self.show_findings(job, found),
            ReportEvent::Compared(job, matrix) => self.compared(job, matrix),
            ReportEvent::Triaged(job, found, of) => triage::on_triaged(self, job, found, of),
            ReportEvent::DocumentRead(reports, problems) => self.document_read(reports, &problems),
        }
    }

    fn on_store_checked(&mut self, request: Request, since: Option<Timestamp>, missing: Option<Vec<FileHash>>) {
        self.artifact_stored(&request, since);
        let now = self.now;
        // The form may have another request by now.
        if let Some(form) = self.overlays.top_as_mut::<Prompt>()
            && form.is_for(&request, now)
        {
            form.source.missing = missing.map(|missing| (request.clone(), missing));
            form.source.stored = since.map(|since| (request, since));
        }
    }

    /// Presses a key if the frame before it showed its price or confirmation.
    fn press_if_price_was_shown(&mut self, key: Key, frame: u64) {
        // Without an overlay, only commands that send can spend.
        if self.overlays.is_empty() && !Command::of(key, self).is_some_and(Command::sends) {
            return self.press(key);
        }
        let leaves = || Command::of(key, self).is_some_and(|command| command.contexts != CONFIRM && !command.sends());
        // Declining needs no visible confirmation.
        if self.declines(key) {
            return self.press(key);
        }
        let question = self.overlays.top_as::<Confirmation>().map(|question| question.number);
        let was_confirmation_shown =
            question.is_none_or(|question| self.offers.was_confirmation_shown(question, frame));
        let was_price_shown = || self.offer(key).is_none_or(|offer| self.offers.was_price_shown(key, &offer, frame));
        let writes = || Command::of(key, self).is_some_and(|command| command.name == "save");
        if frame == 0 && writes() {
            self.warn(format!("{key} came together with other keys: nothing was written. Press it again."));
        } else if !was_confirmation_shown && !leaves() {
            self.warn(format!("{key} came before the confirmation was drawn: nothing was done. Press it again."));
        } else if !was_price_shown() {
            self.warn(format!("{key} came before its price was on the screen: nothing was sent. Press it again."));
        } else {
            self.press(key)
        }
    }

    fn press(&mut self, key: Key) {
        if !self.is_quitting {
            self.notice = None;
        }
        // A key press cancels the jump.
        self.bound_for = None;
        self.values.pivot = None;
        if self.type_key(key) || self.refuses_stray_letter(key) {
            return;
        }
        if !self.overlays.is_empty()
            && let Some(choice) = self.overlays.choice(key).cloned()
        {
            return self.confirm(choice);
        }
        if self.declines(key) {
            self.go_back();
            return self.say(format!("{key} does not confirm: nothing was done, the dialog is closed."));
        }
        match Command::of(key, self) {
            Some(command) => self.run(command),
            None if self.key_context() == KeyContext::Choice && matches!(key, Key::Char(_)) => {
                self.overlays.change_top(ExportForm::go_to_name);
                self.type_key(key);
            }
            None => {
                self.is_idle_letter |= matches!(key, Key::Char(_));
                let why = self.disabled_reason(key);
                why.into_iter().for_each(|why| self.say(why));
            }
        }
    }

    /// Refuses a letter that spends or confirms after one without effect, and enter after such
    /// letters: they may be text for a line that did not open. Returns whether it did.
    fn refuses_stray_letter(&mut self, key: Key) -> bool {
        let is_letter = matches!(key, Key::Char(_));
        let may_be_words = self.is_idle_letter && (is_letter || key == ENTER);
        self.is_idle_letter &= is_letter;
        let is_refused = may_be_words && (self.overlays.choice(key).is_some() || self.offer(key).is_some());
        if is_refused {
            let again = match is_letter {
                true => format!("{} first, then {key} again", self.key_label("back")),
                false => "Press it again".to_owned(),
            };
            self.warn(format!("{key} may be typed text: a letter before it did nothing. Nothing was done. {again}."));
        }
        is_refused
    }

    fn type_key(&mut self, key: Key) -> bool {
        if self.overlays.is_empty() && self.screen == Screen::Start {
            return self.press_digit(key);
        }
        let is_own = self.overlays.top_mut().is_some_and(|overlay| overlay.screen_mut().press(key));
        let is_typed = is_own || self.field().is_some_and(|field| field.press(key));
        if is_typed {
            self.after_typing();
        }
        is_typed
    }

    /// Returns whether a key declines the open confirmation: all but its own and those beside it.
    fn declines(&self, key: Key) -> bool {
        let leaves = |command: &Command| CONFIRMATION_COMMANDS.contains(&command.name);
        let is_asked = self.overlays.top_as::<Confirmation>().is_some() && self.overlays.choice(key).is_none();
        is_asked && !Command::of(key, self).is_some_and(leaves)
    }

    pub fn run(&mut self, command: &Command) {
        match &command.act {
            Action::Local(act) | Action::OpenPaid { to: act, .. } => act(self),
            Action::GoToPane(pane) => self.go_to_pane(*pane),
            Action::Each { begin, .. } => {
                if !self.refuse(&self.key_price(command)) {
                    begin(self)
                }
            }
            Action::Chosen => self.choose(),
            Action::Send { is_stored, with_stored, .. } if is_stored(self) => with_stored(self),
            Action::Send { request, source, .. } => match request(self) {
                Some(request) if self.refuse_in_flight(&request) => {}
                Some(request) => {
                    self.quota_state.announce_response(&request);
                    self.send_or_confirm(request, *source)
                }
                None => {}
            },
        }
    }

    /// Opens the chosen report if it is stored: free, so no key is needed.
    pub(crate) fn show_chosen(&mut self) {
        let Some(list) = self.files.shown_mut().map(|file| &mut file.list) else { return };
        list.leave_unfinished();
        let job = list.chosen_mut().and_then(|entry| {
            let folded = entry.identifier.as_ref().map_or(&[][..], |report| self.remembered.rows(report));
            entry.open(folded)
        });
        self.emit_all(job);
    }

    pub(super) fn leave_file(&mut self) {
        self.overlays.all.clear();
        self.screen = Screen::Start;
        self.start.scroll = Scroll::default();
        self.emit(StoreJob::FindRecent);
    }

    pub(super) fn go_back(&mut self) {
        if self.overlays.top_mut().is_some_and(|overlay| overlay.screen_mut().clear_filter()) {
            return self.after_typing();
        }
        if !self.overlays.is_empty() {
            return self.close_overlay();
        }
        if self.screen == Screen::Start {
            let is_typed = !std::mem::take(&mut self.start.typed).is_empty();
            if !is_typed && self.files.shown().is_some() {
                self.show_file(self.files.place_at(0));
            }
            return;
        }
        if self.files.is_zoomed() {
            self.files.zoom(false);
        } else if self.return_label().is_some() {
            self.return_to_list();
        } else {
            // `back` stops here: a file has its own key, so one press too many does not leave it.
            self.files.focus_list();
        }
    }

    pub(super) fn close_overlay(&mut self) {
        if let Some(Overlay::HitList(mut finder)) = self.overlays.close() {
            finder.filter.search = None;
            self.save_search(finder);
        }
        self.check_store()
    }

    /// Suspends the program after paid responses are in, as a stopped program receives nothing.
    pub(super) fn suspend_app(&mut self) {
        if self.calls.awaits_paid() {
            self.warn(
                "A paid response is in flight, and a stopped program cannot receive it. Press it again once it is here.",
            );
            return;
        }
        self.emit(TerminalAction::Suspend);
    }

    /// Quits after paid responses are in; a second request quits at once.
    pub(super) fn quit(&mut self) {
        if self.can_quit() || self.is_quitting {
            return self.emit(TerminalAction::Quit);
        }
        self.is_quitting = true;
        let quit = self.key_label("quit");
        self.warn(format!(
            "Waiting until paid responses and notes are stored. {quit} again leaves at once; the ledger counts each call."
        ));
    }

    pub(super) fn cancel_or_quit(&mut self) {
        let requests: Vec<_> = self.calls.iter().map(|call| call.request.clone()).collect();
        self.emit_all(requests.into_iter().map(ServiceCall::Cancel));
    }

    fn can_quit(&self) -> bool {
        !self.calls.awaits_paid() && self.writes == 0
    }

    pub(super) fn leave(&mut self) {
        if self.is_quitting && self.can_quit() {
            self.emit(TerminalAction::Quit);
        }
    }
}
