//! What the model makes of answers: calls that have ended, what the store remembers, rows that were found.

use super::effect::{Effect, Source};
use super::list::{Entry, Next};
use super::message::{Failure, HeldPage, HeldReport, Here, Opening};
use super::model::Model;
use super::over::answer::AnswerTree;
use super::over::overlay::Overlay;
use super::over::sheet::Sheet;
use super::spending::asks::last_days;
use super::spending::prompt::Prompt;
use crate::quota::{Balances, Entitlements, Usage};
use crate::report::identifier::Sha256;
use crate::report::identifier::hashes::Hashes;
use crate::report::index::Batch;
use crate::report::rows::Line;
use crate::report::rows::verdict;
use crate::report::{Indicators, Pane, PendingScan};
use crate::request::Request;
use crate::text;
use jiff::Timestamp;
use std::path::Path;
use std::sync::Arc;

impl Model {
    pub(super) fn received(&mut self, request: &Request, bytes: u64, total: Option<u64>) {
        self.calls.receive(request, bytes, total);
    }

    /// Forgets that a call is under way; a paid one is followed by a look at the counters, which is free.
    pub(super) fn ended(&mut self, request: &Request) {
        let was_paid = self.calls.end(request);
        self.notice.take_if(|notice| notice.is_passing);
        if self.is_quitting {
            return self.leave();
        }
        if !was_paid {
            return;
        }
        if self.calls.has(&Request::Quotas) {
            self.figures.outrun();
        }
        self.ask_agreed(Request::Quotas, Source::Service);
        if self.figures.usage.is_some() {
            self.ask_agreed(last_days(self.now), Source::Service);
        }
    }

    pub(super) fn answered(&mut self, request: &Request, result: Result<Here, Failure>) {
        self.ended(request);
        let Request::Behaviour { identifier } = request else { return };
        if self.files.listing_mut(identifier).next().is_none() {
            return;
        }
        let is_held = self.files.each_entry_mut(identifier).any(|entry| entry.here().is_some());
        match result {
            Ok(here) => {
                let files = self.files.listing_mut(identifier);
                let arrived: Vec<_> = files.filter_map(|file| file.take_arrived(identifier, &here)).collect();
                let is_new = !is_held && arrived.is_empty();
                arrived.into_iter().for_each(|opening| self.known_whole(opening));
                if let Some(why) = here.unkept {
                    self.warn(format!("The report is here, but {why}"));
                }
                if is_held {
                    self.list_notable_anew(identifier);
                }
                self.show_chosen();
                self.compare_anew();
                if is_new {
                    self.turn_to(identifier);
                }
            }
            Err(failure) => {
                self.files.listing_mut(identifier).for_each(|file| file.take_failure(identifier, &failure));
                self.settle();
                if is_held {
                    self.warn(format!("{} The held report stays.", failure.words()));
                }
                self.stop_batch(&format!("A report could not be fetched. {}", failure.words()));
            }
        }
        self.next_in_batch();
    }

    pub(super) fn told(&mut self, request: &Request, result: Result<(Timestamp, Vec<Line>), Failure>) {
        self.ended(request);
        let now = self.now;
        match (self.over.top_mut(), result) {
            (Some(Overlay::Prompt(form)), Ok((received, lines))) if form.asks(request, now) => {
                let answer = AnswerTree::new(request.words(), received, lines);
                self.over.put(Overlay::Answer(answer));
            }
            (Some(Overlay::Prompt(form)), Err(failure)) if form.asks(request, now) => {
                form.failure = Some(failure);
                // What was held may be gone, and its price is to be shown then.
                self.look_up();
            }
            (_, Ok(_)) => self.say(format!("The answer is here: {}. Asking the same again shows it.", request.words())),
            (_, Err(failure)) => self.warn(failure.words()),
        }
    }

    pub(super) fn used(&mut self, request: &Request, result: Result<Usage, Failure>) {
        self.ended(request);
        let columns = usize::from(self.overlay_room().width);
        let now = self.now;
        let is_asked = self.figures.take_usage_awaited();
        match (self.over.top_mut(), result) {
            (Some(Overlay::Prompt(prompt)), Err(failure)) if prompt.request(now) == Ok(request.clone()) => {
                prompt.failure = Some(failure);
            }
            // Figures that were refreshed by themselves: the old ones stay.
            (_, Err(_)) if !is_asked => {}
            (_, Err(failure)) => self.warn(failure.words()),
            (_, Ok(usage)) => {
                let sheet = Sheet::usage(&usage, columns);
                self.figures.usage = Some(usage);
                self.show_figures(sheet, is_asked);
            }
        }
    }

    pub(super) fn counted(&mut self, path: &Path, result: Result<Hashes, String>) {
        let name = text::path(path).cut(60);
        match (self.over.top_mut(), result) {
            (Some(Overlay::Planner(planner)), Ok(hashes)) => {
                planner.counted(path, hashes.count);
                let again = match hashes.repeated {
                    0 => String::new(),
                    repeated => format!(", {repeated} of them repeated; each is charged"),
                };
                let way = self.way_to("plan");
                self.say(format!("{name} lists {}{again}. {way} adds them.", text::count(hashes.count, "hash")));
            }
            (_, Ok(_)) => {}
            (_, Err(why)) => self.warn(format!("{name} cannot be counted: {why}")),
        }
    }

    pub(super) fn entitled(&mut self, request: &Request, result: Result<Entitlements, Failure>) {
        self.ended(request);
        let now = self.now;
        match (self.over.top_mut(), result) {
            (_, Ok(entitlements)) => {
                self.figures.entitlements = self.figures.entitlements.updated(entitlements);
                self.over.close_prompt(|prompt| prompt.asks(request, now));
                self.say(self.figures.entitlements.words());
            }
            (Some(Overlay::Prompt(prompt)), Err(failure)) if prompt.asks(request, now) => {
                prompt.failure = Some(failure)
            }
            (_, Err(failure)) => self.warn(failure.words()),
        }
    }

    pub(super) fn listed(&mut self, request: &Request, result: Result<HeldPage, Failure>) {
        self.ended(request);
        let Request::Behaviours { file, cursor, .. } = request else { return };
        let (failure, is_shown) = (result.as_ref().err().cloned(), self.file() == Some(file));
        let Some(list) = self.list_of_mut(file) else { return };
        match result {
            Ok(page) => {
                let (entries, unkept, left_out) = (page.page.entries.len(), page.unkept.clone(), page.page.left_out());
                list.take_page(cursor.as_ref(), page);
                if let Some(why) = unkept {
                    self.warn(format!("The list is here, but {why}"));
                } else if list.next == Next::Circle {
                    self.warn(
                        "The service repeats a page's address: it goes in circles, so no further page is asked for.",
                    );
                } else if list.next == Next::Lost {
                    self.warn(crate::report::page::no_way_on());
                } else if let Some(left_out) = left_out {
                    self.warn(left_out);
                } else if entries == 0 && list.entries().is_empty() {
                    self.say("The service lists no sandbox for this file.");
                }
                self.files.share_reports();
                self.show_chosen();
                self.settle();
            }
            Err(failure) => {
                list.failure = Some(failure.clone());
                let is_seen = is_shown && list.entries().is_empty();
                if !is_seen {
                    self.warn(failure.words());
                }
            }
        }
        self.listed_while_following(file, failure.as_ref());
    }

    pub(super) fn balanced(&mut self, result: Result<Balances, String>) {
        let asked = self.calls.asking(&Request::Quotas).map_or(self.now, |call| call.since);
        self.ended(&Request::Quotas);
        match result {
            Ok(balances) => {
                let now = self.now;
                let is_asked = |prompt: &Prompt| prompt.request(now) == Ok(Request::Quotas);
                let is_typed = matches!(self.over.top(), Some(Overlay::Prompt(prompt)) if is_asked(prompt));
                let is_asked = self.figures.take_balances_awaited() || is_typed;
                let columns = usize::from(self.overlay_room().width);
                self.show_figures(Sheet::counters(&balances, now, columns), is_asked);
                self.figures.take_balances(balances, asked);
                self.figures.is_reread |= is_asked;
                if !self.is_quitting {
                    self.emit(Effect::ReadRecord);
                }
            }
            Err(why) => {
                if self.figures.take_balances_awaited() {
                    self.warn(format!("The counters could not be read: {why}"));
                }
                self.figures.failure = Some(why);
            }
        }
        if self.figures.take_outrun() && !self.is_quitting {
            self.ask_agreed(Request::Quotas, Source::Service);
        }
    }

    /// Shows figures that were asked for; those that are shown already are refreshed in their place.
    pub(super) fn show_figures(&mut self, sheet: Sheet, is_asked: bool) {
        match self.over.top_mut() {
            Some(Overlay::Sheet(shown)) if shown.title == sheet.title => shown.refresh(sheet),
            _ if is_asked => self.over.put(Overlay::Sheet(sheet)),
            _ => {}
        }
    }

    pub(super) fn recalled(
        &mut self,
        file: &Sha256,
        pages: Vec<HeldPage>,
        reports: Vec<HeldReport>,
        scan: Option<PendingScan>,
    ) {
        self.recalled_list(file, pages, reports);
        self.recall_scan(file, scan);
    }

    fn recalled_list(&mut self, file: &Sha256, pages: Vec<HeldPage>, reports: Vec<HeldReport>) {
        let is_shown = self.file() == Some(file);
        let Some(list) = self.list_of_mut(file) else { return };
        list.take_recalled(pages, reports);
        if !is_shown {
            return;
        }
        let Some(list) = self.list() else { return };
        let is_new = list.since.is_none();
        self.settle();
        if is_new && std::mem::take(&mut self.settings.lists_at_once) {
            let page = self.list().and_then(|list| list.next_page(self.service.listing));
            if let Some(page) = page {
                self.ask(page, Source::HeldOrService);
            }
            return;
        }
        if self.bound_for.is_some() {
            return self.go_on();
        }
        self.show_chosen()
    }

    pub(super) fn indexed(&mut self, opening: Opening, batch: Batch) {
        let Some(open) = self.opened_mut(opening) else { return };
        open.absorb(batch);
        let index = &open.report.index;
        let (is_complete, is_json, is_cut) = (index.is_complete, index.is_json, index.is_cut);
        let is_behaviour = open.report.is_behaviour();
        if is_complete && !is_json {
            open.unreadable = Some("it is not JSON".to_owned());
        } else if is_complete && is_cut {
            self.warn("This report stops in the middle: it was cut short. What came of it is shown.");
        } else if is_complete && self.is_document() && !is_behaviour {
            self.say("This document is no behaviour report. What no other pane is for stands in Other.");
            self.focus_pane(Pane::Other);
        }
        if is_complete {
            self.known_whole(opening)
        }
    }

    /// Takes to what can be said of a report only once all of its rows are known.
    fn known_whole(&mut self, opening: Opening) {
        self.tell_verdict(opening);
        // Who is bound for a row gets to its pane.
        if self.bound_for.is_none() {
            let file = self.files.with_opening_mut(opening);
            file.into_iter().for_each(|file| file.leave_empty_pane(opening));
        }
        self.have_judged(opening)
    }

    /// Notes the verdict of a report that is known whole now.
    fn tell_verdict(&mut self, opening: Opening) {
        let is_it = |entry: &&mut Entry| entry.open.as_ref().is_some_and(|open| open.opening == opening);
        for entry in self.files.open_entries_mut().filter(is_it) {
            entry.verdict = entry.open.as_ref().and_then(|open| verdict::of(&open.report));
        }
    }

    /// The indicators of a report are there, and are shown unless the analyst has gone elsewhere.
    pub(super) fn indicated(&mut self, opening: Opening, result: Result<Indicators, String>) {
        let Some(open) = self.opened_mut(opening) else { return };
        match result {
            Ok(found) => open.indicators = Some(Arc::new(found)),
            Err(why) => {
                self.warn(format!("The indicators could not be found: {why}"));
                return;
            }
        }
        if self.over.is_empty() {
            self.show_indicators(opening)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::model::Service;
    use jiff::Timestamp;

    fn asks_for_counters(model: &mut Model) -> bool {
        let is_it =
            |effect: &Effect| matches!(effect, Effect::Ask { quote, .. } if *quote.request() == Request::Quotas);
        model.take_effects().iter().any(is_it)
    }

    #[test]
    fn counters_that_may_be_from_before_something_was_paid_are_read_once_more() {
        let mut model = Model::new(Service { has_key: true, ..Service::default() }, Timestamp::UNIX_EPOCH);
        let counters = || Balances::parse(br#"{"data":{"api_requests_daily":{"user":{"allowed":9,"used":2}}}}"#);
        for is_outrun in [true, false] {
            model.calls.begin(Request::User, true, Timestamp::UNIX_EPOCH);
            model.ended(&Request::User);
            assert!(asks_for_counters(&mut model));
            if is_outrun {
                model.calls.begin(Request::User, true, Timestamp::UNIX_EPOCH);
                model.ended(&Request::User);
                assert!(!asks_for_counters(&mut model), "they are on their way");
                model.balanced(Ok(counters().unwrap()));
                assert!(asks_for_counters(&mut model));
            }
            model.balanced(Ok(counters().unwrap()));
            assert!(!asks_for_counters(&mut model));
        }
    }
}
