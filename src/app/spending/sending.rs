//! Sends requests for keys and confirmations: prices, obstacles, expensive calls, batches.

use crate::app::commands::{Action, next_page};
use crate::app::export_form::{ExportForm, SaveJob};
use crate::app::overlays::{TriageList, triage};
use crate::app::scan::{SubmitForm, price_of};
use crate::app::spending::price::{KeyOffer, ShownPrices};
use crate::app::spending::{Confirmation, Consent, KeyChoice, KeyPrice, Obstacle};
use crate::app::{Command, Failure, FileJob, Key, Model, Overlay, ResponseSource, ServiceCall, StoreJob};
use crate::quota::{Plan, TeamOverride};
use crate::request::{Quote, Request, UploadLimit};

impl Model {
    /// Sends a request that can be sent and is not in flight, after confirmation where needed.
    pub(crate) fn send_or_confirm(&mut self, request: Request, source: ResponseSource) {
        if self.quota_state.is_shared(&request, source) {
            return self.load_stored(request, ResponseSource::Team);
        }
        let quote = request.quote(&self.quota_state.entitlements);
        if self.is_refused(&quote, None) {
            return;
        }
        let request = quote.request();
        let price = self.quota_state.price_from(request, source, self.overlays.missing(request));
        let message = || format!("{} costs {}.", request.label(), price.short());
        let dear = || self.settings.must_confirm(price.verdict.units.max).then(message);
        if let Some(why) = request.warning().or_else(dear) {
            let tag = self.price_of_request(request, source);
            // The budget refuses at once, not after confirmation.
            if tag.obstacle == Some(Obstacle::OverBudget) && self.refuse(&tag) {
                return;
            }
            return self
                .confirm_first(why, [KeyChoice::yes("yes, send it", Consent::Send(request.clone(), source, None))]);
        }
        self.send_confirmed(request.clone(), source);
    }

    /// Sends a request whose price was confirmed; returns whether it was sent.
    pub(crate) fn send_confirmed(&mut self, request: Request, source: ResponseSource) -> bool {
        if self.quota_state.is_shared(&request, source) && !self.calls.has(&request) {
            self.load_stored(request, ResponseSource::Team);
            return true;
        }
        let price = self.quota_state.price_from(&request, source, self.overlays.missing(&request));
        let quote = request.quote(&self.quota_state.entitlements).at(price);
        if self.is_refused(&quote, self.quota_state.quota_obstacle(quote.price(), self.now)) {
            return false;
        }
        self.forget_failure(quote.request());
        self.calls.begin(quote.request().clone(), !quote.price().is_free(), self.now);
        self.emit(ServiceCall::Send { quote: Box::new(quote), source });
        true
    }

    /// Loads what is shown as stored, here or by the team; sends nothing even if that is gone.
    pub(crate) fn load_stored(&mut self, request: Request, source: ResponseSource) {
        if self.refuse_in_flight(&request) || self.is_quitting {
            return;
        }
        self.forget_failure(&request);
        let quote = request.quote(&self.quota_state.entitlements);
        self.calls.begin(quote.request().clone(), false, self.now);
        self.emit(ServiceCall::Send { quote: Box::new(quote), source });
    }

    /// Refuses a request in flight or impossible now, with the reason; returns whether it did.
    fn is_refused(&mut self, quote: &Quote, obstacle: Option<Obstacle>) -> bool {
        let plan = Plan { prices: vec![quote.price().clone()] };
        self.is_quitting
            || self.calls.has(quote.request())
            || self.refuse(&KeyPrice { plan, is_deferred: false, obstacle })
    }

    pub(crate) fn refuse_in_flight(&mut self, request: &Request) -> bool {
        let is_in_flight = self.calls.has(request) && !self.is_quitting;
        if is_in_flight {
            self.say("It is in flight already: one response serves, and is paid for once.");
        }
        is_in_flight
    }

    fn forget_failure(&mut self, request: &Request) {
        match request {
            Request::Behaviours { file, .. } => {
                self.files.of_mut(file).into_iter().for_each(|open| open.list.failure = None);
            }
            Request::PrivateScan { .. } | Request::UploadAddress => {
                self.overlays.find_mut::<SubmitForm>().into_iter().for_each(|form| form.failure = None);
            }
            Request::Behaviour { identifier } => {
                self.files.each_entry_mut(identifier).for_each(|entry| entry.failure = None);
            }
            _ => {}
        }
    }

    /// Returns the cost of an answer, and whether the budget allows it.
    pub fn price_of_choice(&self, choice: &KeyChoice) -> KeyPrice {
        match &choice.consent {
            Consent::Send(request, source, _) => self.price_of_request(request, *source),
            Consent::OpenAll(reports) => self.price_of_plan(self.quota_state.price_of_reports(reports)),
            Consent::SubmitLarge(submission) => {
                self.price_of_plan(price_of(submission, UploadLimit::Large, &self.quota_state.entitlements))
            }
            Consent::Follow(_) => self.price_of_plan(self.follow_price()),
            _ => KeyPrice::default(),
        }
    }

    pub(crate) fn confirm_first(&mut self, details: String, choices: impl IntoIterator<Item = KeyChoice>) {
        self.questions += 1;
        let number = self.questions;
        let choices = choices.into_iter().collect();
        self.overlays.put(Confirmation { number, details, choices, back: self.key_label("back") });
    }

    /// Returns whether the top confirmation can be answered: keys and some text are visible.
    pub(crate) fn can_confirm(&self) -> bool {
        let Some(overlay @ Overlay::Confirm(question)) = self.overlays.top() else { return true };
        let rows = overlay.area(&self.layout()).inside().height;
        let columns = usize::from(self.overlay_room().width).max(10);
        self.size.is_enough() && question.key_rows(columns).len() < usize::from(rows)
    }

    pub(crate) fn confirm(&mut self, choice: KeyChoice) {
        if !self.can_confirm() {
            self.warn("The screen is too small for the confirmation: nothing was done.");
            return;
        }
        let tag = self.price_of_choice(&choice);
        match choice.consent {
            Consent::Send(request, source, permitted) => {
                if self.refuse_in_flight(&request) {
                    return;
                }
                self.quota_state.is_incident |= permitted == Some(TeamOverride::Incident);
                self.emit_all(permitted.map(ServiceCall::Permit));
                self.quota_state.announce_response(&request);
                if self.send_confirmed(request, source) {
                    self.overlays.all.pop_if(|top| matches!(top, Overlay::Confirm(_)));
                }
                return;
            }
            _ if choice.consent.sends() && self.refuse(&tag) => return,
            _ => {}
        }
        self.overlays.close();
        match choice.consent {
            Consent::Send(..) => {}
            Consent::OpenAll(reports) => self.open_each(reports),
            Consent::SubmitLarge(submission) => self.poll_after_upload(&submission),
            Consent::Follow(file) => self.follow(file),
            Consent::CopyRaw(copied) => {
                self.copies_raw = true;
                self.emit(FileJob::Copy(copied));
            }
            Consent::Overwrite(save) => {
                self.overlays.change_top(|form: &mut ExportForm| form.source.is_in_progress = true);
                self.write(SaveJob { may_replace: true, ..save });
            }
            Consent::DeleteNote(note) => {
                // The confirmation was open above the emptied line.
                self.overlays.close();
                self.emit(StoreJob::DeleteNote(note));
            }
            Consent::DeleteStored(deletion) => self.emit(StoreJob::Delete(deletion)),
        }
    }

    pub(crate) fn open_missing(&mut self) {
        let missing = self.files.missing_reports(&self.calls);
        let price = self.quota_state.price_of_reports(&missing);
        let only = self.quota_state.insufficient_quota(&price, self.now);
        if only.is_some() || self.settings.must_confirm(price.worst()) {
            let only = only.map(|only| format!(", and {only}: what comes after those fails")).unwrap_or_default();
            let why = format!("Opening all costs {price}{only}.");
            return self.confirm_first(why, [KeyChoice::yes("yes, open all", Consent::OpenAll(missing))]);
        }
        self.open_each(missing)
    }

    /// Opens these reports in sequence, whatever the list contains by then.
    fn open_each(&mut self, reports: Vec<Request>) {
        // A triage is of no single file.
        let file = self.file().filter(|_| self.overlays.find::<TriageList>().is_none()).cloned();
        self.calls.begin_batch(file, reports);
        self.next_in_batch()
    }

    /// Stops before the next call; one in flight ends normally.
    pub(crate) fn stop_batch(&mut self, why: &str) {
        if let Some(batch) = self.calls.end_batch() {
            let asked = batch.sent();
            let total = batch.total;
            self.warn(format!("{why} {asked} of {total} requested, nothing further is sent."));
        }
    }

    pub(crate) fn next_in_batch(&mut self) {
        let Some(batch) = self.calls.batch() else { return };
        let asked = batch.sent();
        let total = batch.total;
        let is_triage = batch.file.is_none();
        let has_to_wait = self.quota_state.waits(self.now).is_some() && asked < total;
        // The batch is done once the counters are read as well.
        if has_to_wait || self.calls.awaits_paid() || asked == total && !self.calls.is_empty() {
            return;
        }
        let Some(request) = self.calls.next_in_batch() else {
            self.calls.end_batch();
            if is_triage {
                triage::triage_again(self, None);
            }
            let what = if is_triage { "response" } else { "report" };
            let one = || format!("The {what} is here.");
            return self.say(if total == 1 { one() } else { format!("All {total} {what}s are here.") });
        };
        if !self.send_confirmed(request, ResponseSource::StoredOrService) && !self.calls.awaits_paid() {
            // The request was refused before it was sent, with its reason on the screen.
            self.calls.end_batch();
        }
    }

    /// Returns the cost of a command's key, and its obstacle.
    pub fn key_price(&self, command: &Command) -> KeyPrice {
        let (request, is_stored, source) = match &command.act {
            Action::Local(_) | Action::GoToPane(_) => return KeyPrice::default(),
            Action::Chosen => return self.chosen_item().map(|item| item.tag.clone()).unwrap_or_default(),
            Action::OpenPaid { price, .. } => return KeyPrice { is_deferred: true, ..self.price_of_plan(price(self)) },
            Action::Each { price, .. } => return self.price_of_plan(price(self)),
            Action::Send { request, is_stored, source, .. } => (request, is_stored, *source),
        };
        match request(self) {
            None => KeyPrice::default(),
            Some(_) if is_stored(self) => KeyPrice { obstacle: Some(Obstacle::Stored), ..KeyPrice::default() },
            Some(request) => self.price_of_request(&request, source),
        }
    }

    /// Returns the cost of one request to this source, and its obstacle.
    pub fn price_of_request(&self, request: &Request, source: ResponseSource) -> KeyPrice {
        if let Some(by) = self.quota_state.shared.get(request).filter(|_| source == ResponseSource::StoredOrService) {
            let obstacle = if self.calls.has(request) { Obstacle::InFlight } else { Obstacle::Shared(by.clone()) };
            return KeyPrice { obstacle: Some(obstacle), ..KeyPrice::default() };
        }
        let tag = self.price_of_plan(Plan {
            prices: vec![self.quota_state.price_from(request, source, self.overlays.missing(request))],
        });
        if self.calls.has(request) { KeyPrice { obstacle: Some(Obstacle::InFlight), ..tag } } else { tag }
    }

    pub(crate) fn price_of_plan(&self, plan: Plan) -> KeyPrice {
        let obstacle = || self.quota_state.obstacle(&plan, &self.calls, self.now);
        let obstacle = self.service.barred().or_else(obstacle);
        KeyPrice { plan, is_deferred: false, obstacle }
    }

    /// Refuses a plan with an obstacle, with the reason; returns whether it did.
    pub(crate) fn refuse(&mut self, tag: &KeyPrice) -> bool {
        let why = match (self.service.barred(), tag.plan.refusal(), &tag.obstacle) {
            (Some(Obstacle::Offline), ..) => {
                "this run is offline. Start again without --offline, and without `offline` in the config file."
                    .to_owned()
            }
            (Some(_), ..) => "no API key. Set BEHAVIEW_API_KEY and start again, or run `behaview demo`.".to_owned(),
            (None, Some(reason), _) => format!("{reason}. {} explains.", self.key_label("prices")),
            (
                None,
                None,
                None | Some(Obstacle::Stored | Obstacle::Shared(_) | Obstacle::InFlight | Obstacle::OverGroupBudget),
            ) => return false,
            (None, None, Some(Obstacle::QuotaSpent(_))) => {
                format!("{}. {} rereads the counters for free.", tag.label(), self.key_label("counters"))
            }
            (None, None, Some(Obstacle::OverBudget)) => {
                format!("{}. `behaview config show` says what sets the budget.", tag.label())
            }
            (None, None, Some(_)) => format!("{}.", tag.label()),
        };
        self.warn(format!("Nothing was sent: {why}"));
        true
    }

    /// Records the offers of this frame, now that it has been drawn.
    pub(crate) fn on_frame(&mut self, frame: u64) {
        if !self.size.is_enough() {
            // A screen without a bar showed no price.
            self.offers = ShownPrices::default();
            return;
        }
        let can_spend = |command: &&Command| command.sends() || command.name == "choose";
        let keys = Command::at(self.key_context()).filter(can_spend).flat_map(|command| self.settings.keys.of(command));
        let keys = keys.copied().chain(self.overlays.choices().iter().map(|choice| choice.key));
        let offers = keys.filter_map(|key| Some((key, self.offer(key)?))).collect();
        let question = self.overlays.top_as::<Confirmation>().filter(|_| self.can_confirm());
        let question = question.map(|question| question.number);
        self.offers.show(frame, offers, question);
    }

    /// Returns what a key would spend; `None` if nothing.
    pub(crate) fn offer(&self, key: Key) -> Option<KeyOffer> {
        if let Some(choice) = self.overlays.choice(key) {
            let price = self.price_of_choice(choice).paid_plan()?.clone();
            return Some(KeyOffer { command: choice.label, requests: choice.consent.requests(), price });
        }
        let command = Command::of(key, self)?;
        let price = self.key_price(command).paid_plan()?.clone();
        Some(KeyOffer { command: command.resolve(self).name, requests: command.requests(self), price })
    }
}

/// Asks the user whether a call that the team's rules forbid is sent nevertheless.
pub(crate) fn ask_to_permit(model: &mut Model, request: &Request, failure: &Failure) {
    let Some((what, source)) = failure.override_with.filter(|_| !model.is_quitting) else { return };
    // Typed letters are no answer.
    if model.key_context().has_line() || model.overlays.top_as::<Confirmation>().is_some() {
        return;
    }
    let (question, label) = match what {
        TeamOverride::Incident => ("Is this an incident? Then this run may spend the reserve.", "yes, an incident"),
        TeamOverride::Unreachable => ("Send and pay without the team, until its store responds?", "yes, send it"),
    };
    let consent = Consent::Send(request.clone(), source, Some(what));
    model.confirm_first(format!("{} {question}", failure.what), [KeyChoice::yes(label, consent)]);
}

/// Asks which of the reports and pages that the shown list lacks the team has paid for, and for
/// its notes.
pub(crate) fn find_shared(model: &mut Model) {
    if model.service.has_team {
        let missing = model.files.missing_reports(&model.calls).into_iter().chain(next_page(model)).collect();
        let listed = model.files.shown().into_iter().flat_map(|file| &file.list.entries);
        let listed = listed.filter_map(|entry| entry.identifier.clone()).collect();
        model.emit(ServiceCall::FindShared(missing, listed));
    }
}
