//! How the model takes responses, loaded files and indexed rows.

use crate::app::files::OpenFile;
use crate::app::find::HitList;
use crate::app::list::Next;
use crate::app::overlays::{ResponseTree, TextPage, group};
use crate::app::spending::{InFlightCall, ask_to_permit, find_shared, last_30_days};
use crate::app::{
    Failure, JobNumber, LoadedFile, LoadedReport, Model, OpenReport, Overlay, ReportJob, Response, ResponseSource,
    StoreJob,
};
use crate::quota::Balances;
use crate::report::Pane;
use crate::report::body::Body;
use crate::report::identifier::{Hashes, Identifier, Sha256};
use crate::report::index::Batch;
use crate::report::page::Page;
use crate::request::Request;
use crate::text::{self, Untrusted};
use jiff::Timestamp;
use std::path::Path;

impl Model {
    pub(super) fn call_ended(&mut self, request: &Request, result: Result<Response, Failure>) {
        let call = self.calls.end(request);
        // It is stored here now, or the team has it no longer.
        self.quota_state.shared.remove(request);
        if self.is_quitting {
            self.leave();
        } else if call.as_ref().is_some_and(|call| call.is_paid) {
            // After a paid call, the model reads the counters, which is free.
            self.quota_state.may_be_stale |= self.calls.has(&Request::Quotas);
            self.send_confirmed(Request::Quotas, ResponseSource::Service);
            if self.quota_state.usage.is_some() {
                self.send_confirmed(last_30_days(self.now), ResponseSource::Service);
            }
        }
        match result {
            Ok(response) => self.on_response(request, call, response),
            Err(failure) => {
                self.on_failure(request, call, failure.clone());
                ask_to_permit(self, request, &failure);
            }
        }
        if *request == Request::Quotas && std::mem::take(&mut self.quota_state.may_be_stale) && !self.is_quitting {
            self.send_confirmed(Request::Quotas, ResponseSource::Service);
        }
        self.next_in_batch();
    }

    fn on_response(&mut self, request: &Request, call: Option<InFlightCall>, response: Response) {
        match (response, request) {
            (Response::Report(report), Request::Behaviour { identifier }) => self.on_report(identifier, report),
            (Response::Page(page, received, unkept), Request::Behaviours { file, cursor, .. }) => {
                self.on_page(file, cursor.as_ref(), page, received, unkept);
                self.on_page_while_following(file);
            }
            (Response::Group(page, received), Request::GroupList { list, cursor }) => {
                group::on_page(self, *list, cursor.as_ref(), (page, received));
            }
            (Response::Balances(balances), _) => {
                self.on_balances(balances, call.map_or(self.now, |call| call.since));
            }
            (Response::Usage(usage), _) => {
                let text_page = TextPage::usage(&usage);
                self.quota_state.usage = Some(usage);
                let is_asked = std::mem::take(&mut self.quota_state.announces_usage);
                self.show_figures(text_page, is_asked);
            }
            (Response::Entitlements(entitlements), _) => {
                let now = self.now;
                self.quota_state.entitlements = self.quota_state.entitlements.updated(entitlements);
                self.overlays.all.pop_if(|top| matches!(top, Overlay::Prompt(prompt) if prompt.is_for(request, now)));
                self.say(self.quota_state.entitlements.label());
            }
            (Response::Artifact(received, length), _) => self.on_artifact(request, received, length),
            (Response::UploadUrl(to), _) => self.on_upload_url(call.and_then(|call| call.uploads), to),
            (Response::Scan(scan), Request::PrivateScan { submission, .. }) => self.on_submitted(submission, scan),
            (Response::Progress(seen), _) => self.on_scan_polled(request, seen),
            (Response::Deleted, Request::PrivateDelete { file, only_from_storage }) => {
                let what = if *only_from_storage { "The file alone" } else { "The file with its reports" };
                self.say(format!("{what} is deleted at the service: {}. Reports stored here stay.", file.short()));
            }
            (Response::Tree(received, lines), _) if self.overlays.prompt_of(request, self.now).is_some() => {
                self.overlays.put(ResponseTree::new(request.label(), received, lines));
            }
            (Response::Tree(..), _) => {
                self.say(format!("The response is stored: {}. The same request shows it for free.", request.label()));
            }
            _ => {}
        }
    }

    fn on_failure(&mut self, request: &Request, call: Option<InFlightCall>, failure: Failure) {
        let is_of_list = matches!(request, Request::Behaviours { .. } | Request::Behaviour { .. });
        if is_of_list && !failure.is_not_found && self.calls.batch().is_some_and(|batch| batch.file.is_none()) {
            self.stop_batch(&format!("A request failed. {}", failure.label()));
        }
        match request {
            Request::Behaviour { identifier } => self.on_report_failed(identifier, &failure),
            Request::Behaviours { file, .. } => {
                let is_shown = self.file() == Some(file);
                let list = self.files.of_mut(file).map(|open| &mut open.list);
                let is_seen = is_shown && list.as_ref().is_some_and(|list| list.entries.is_empty());
                let is_open = list.map(|list| list.failure = Some(failure.clone())).is_some();
                if is_open && !is_seen {
                    self.warn(failure.label());
                }
                self.on_poll_failed(file, &failure);
            }
            Request::Quotas => {
                if std::mem::take(&mut self.quota_state.announces_balances) {
                    self.warn(format!("The counters could not be read: {}", failure.what));
                }
                self.quota_state.failure = Some(failure.what);
            }
            Request::Artifact { .. } => match self.artifacts_of_request(request) {
                Some(list) => list.source.failure = Some(failure),
                None => self.warn(failure.label()),
            },
            Request::UploadAddress => {
                if let Some(submission) = call.and_then(|call| call.uploads) {
                    self.scan_failed(&submission, failure);
                }
            }
            Request::PrivateScan { submission, .. } => self.on_submit_failed(submission, failure),
            Request::PrivateAnalysis { .. } | Request::PrivateAnalyses { .. } => {
                if let Some(file) = self.follows.of_request(request).map(|follow| follow.file.clone()) {
                    self.on_poll_failed(&file, &failure);
                }
            }
            _ => self.on_typed_request_failed(request, failure),
        }
    }

    fn on_typed_request_failed(&mut self, request: &Request, failure: Failure) {
        let is_usage = matches!(request, Request::Usage { .. });
        // Usage that the program refreshes by itself keeps its old figures.
        let is_silent = is_usage && !std::mem::take(&mut self.quota_state.announces_usage);
        match self.overlays.prompt_of(request, self.now) {
            Some(form) => {
                form.failure = Some(failure);
                // The stored response may be gone, and then its price must be visible.
                self.check_store();
            }
            None if is_silent => {}
            None => self.warn(failure.label()),
        }
    }

    fn on_report(&mut self, identifier: &Identifier, report: LoadedReport) {
        if self.files.listing_mut(identifier).next().is_none() {
            return;
        }
        let is_stored = self.files.each_entry_mut(identifier).any(|entry| entry.report().is_some());
        let files = self.files.listing_mut(identifier);
        let arrived: Vec<_> = files.filter_map(|file| file.list.set_report(identifier, &report)).collect();
        let is_new = !is_stored && arrived.is_empty();
        arrived.into_iter().for_each(|job| self.on_whole(job));
        if let Some(why) = report.unkept {
            self.warn(format!("The report is here, but {why}"));
        }
        if is_stored {
            self.find_findings();
        }
        self.show_chosen();
        self.restart_comparison();
        if is_new {
            self.focus_report(identifier);
        }
    }

    fn on_report_failed(&mut self, identifier: &Identifier, failure: &Failure) {
        if self.files.listing_mut(identifier).next().is_none() {
            return;
        }
        let is_stored = self.files.each_entry_mut(identifier).any(|entry| entry.report().is_some());
        self.files.listing_mut(identifier).for_each(|file| file.take_failure(identifier, failure));
        if is_stored {
            self.warn(format!("{} The stored report stays.", failure.label()));
        }
        self.stop_batch(&format!("A report could not be fetched. {}", failure.label()));
    }

    /// Shows a report during its download in all files that list it, unless one is stored.
    pub(super) fn on_report_begun(&mut self, request: &Request, body: &Body) {
        let Request::Behaviour { identifier } = request else { return };
        let entries = self.files.each_entry_mut(identifier).filter(|entry| entry.report().is_none());
        let jobs: Vec<_> = entries.map(|entry| entry.show(body.clone(), &[])).collect();
        if !jobs.is_empty() {
            self.focus_report(identifier);
        }
        self.emit_all(jobs);
    }

    /// Focuses a report that was requested from the list, unless the user has moved elsewhere.
    fn focus_report(&mut self, identifier: &Identifier) {
        let is_chosen = self.chosen().is_some_and(|chosen| chosen.identifier.as_ref() == Some(identifier));
        if is_chosen && self.calls.batch().is_none() && self.focused().is_none() && self.overlays.is_empty() {
            self.files.enter_group();
        }
    }

    fn on_page(&mut self, file: &Sha256, after: Option<&Untrusted>, page: Page, at: Timestamp, unkept: Option<String>) {
        let Some(OpenFile { list, .. }) = self.files.of_mut(file) else { return };
        let left_out = page.left_out();
        list.take_page(after, page, at, unkept.clone());
        let is_empty = list.entries.is_empty();
        match (unkept, list.next.clone(), left_out) {
            (Some(why), ..) => self.warn(format!("The list is here, but {why}")),
            (None, Next::Lost, _) => self.warn(crate::report::page::NO_WAY_ON),
            (None, _, Some(left_out)) => self.warn(left_out),
            _ if is_empty => self.say("The service lists no sandbox for this file."),
            _ => {}
        }
        self.files.share_reports();
        self.show_chosen();
        find_shared(self);
    }

    fn on_balances(&mut self, balances: Balances, asked: Timestamp) {
        let is_typed = self.overlays.prompt_of(&Request::Quotas, self.now).is_some();
        let is_asked = std::mem::take(&mut self.quota_state.announces_balances) || is_typed;
        self.show_figures(TextPage::counters(&balances, self.now), is_asked);
        self.quota_state.take_balances(balances, asked);
        if !self.is_quitting {
            self.emit(StoreJob::ReadUploads);
        }
    }

    pub(super) fn counted(&mut self, path: &Path, result: Result<Hashes, String>) {
        let name = text::path(path).cut(60);
        match (self.overlays.top_mut(), result) {
            (Some(Overlay::Planner(planner)), Ok(hashes)) => {
                planner.counted(path, hashes.count);
                let again = match hashes.repeated {
                    0 => String::new(),
                    repeated => format!(", {repeated} of them repeated; each is charged"),
                };
                let way = self.key_label("plan");
                self.say(format!("{name} lists {}{again}. {way} adds them.", text::count(hashes.count, "hash")));
            }
            (_, Ok(_)) => {}
            (_, Err(why)) => self.warn(format!("{name} cannot be counted: {why}")),
        }
    }

    /// Shows requested figures; refreshes visible figures in place.
    pub(super) fn show_figures(&mut self, text_page: TextPage, is_asked: bool) {
        match self.overlays.top_mut() {
            Some(Overlay::TextPage(shown)) if shown.title == text_page.title => shown.refresh(text_page),
            _ if is_asked => self.overlays.put(text_page),
            _ => {}
        }
    }

    pub(super) fn take_loaded(&mut self, file: &Sha256, loaded: LoadedFile) {
        let is_shown = self.file() == Some(file);
        let Some(OpenFile { list, .. }) = self.files.of_mut(file) else { return };
        list.take_loaded(loaded);
        if !is_shown {
            return;
        }
        let Some(list) = self.list() else { return };
        let is_new = list.since.is_none();
        self.clamp_cursors();
        if is_new && std::mem::take(&mut self.settings.lists_at_once) {
            if let Some(page) = self.list().and_then(|list| list.next_page(self.service.listing)) {
                self.send_confirmed(page, ResponseSource::StoredOrService);
            }
            return;
        }
        if self.bound_for.is_some() {
            return self.go_on();
        }
        self.show_chosen()
    }

    pub(super) fn indexed(&mut self, job: JobNumber, batch: Batch) {
        if let Some(open) = self.files.opened_mut(job) {
            open.absorb(batch);
            self.on_whole(job);
        }
    }

    /// Continues with a fully indexed report; a download that may still fail waits for its end.
    fn on_whole(&mut self, job: JobNumber) {
        let entry = self.files.entry_of_mut(job).filter(|entry| entry.report().is_some());
        let open = entry.and_then(|entry| entry.open.as_mut()).filter(|open| open.report.index.is_complete);
        let Some(OpenReport { report, .. }) = open else { return };
        let is_json = report.index.is_json;
        let is_cut = report.index.is_cut;
        let is_behaviour = report.is_behaviour();
        if is_json && is_cut {
            self.warn("This report is cut short: its first part is shown.");
        } else if is_json && self.is_document() && !is_behaviour {
            self.say("This document is not a behaviour report: its members are in the pane Other.");
            if self.focused().is_some() {
                self.files.focus_pane(Pane::Other);
            }
        }
        // A pending jump reaches its pane now.
        if self.bound_for.is_none() {
            let file = self.files.with_opening_mut(job);
            file.into_iter().for_each(|file| file.leave_empty_pane(job));
        }
        // Search hits of the first rows extend to all rows.
        let is_of = |finder: &HitList| finder.source.report == Some(job);
        self.files.with_opening_mut(job).and_then(|file| file.finder.take_if(|finder| is_of(finder)));
        if self.overlays.top_as::<HitList>().is_some_and(is_of) {
            self.search_hits();
        }
        let rules = self.rules_or_file();
        if let Some(open) = self.files.opened_mut(job) {
            let ticket = open.job.ticket();
            let report = open.report.clone();
            self.emit(ReportJob::Evaluate(ticket, report, rules));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::message::{Effect, ServiceCall};
    use crate::app::model::Service;

    fn requests_counters(model: &mut Model) -> bool {
        let is_it = |effect: &Effect| match effect {
            Effect::Service(ServiceCall::Send { quote, .. }) => *quote.request() == Request::Quotas,
            _ => false,
        };
        model.take_effects().iter().any(is_it)
    }

    #[test]
    fn balances_are_reread_after_a_later_paid_call() {
        let mut model = Model::new(Service { has_key: true, ..Service::default() }, Timestamp::UNIX_EPOCH);
        let counters = || Balances::parse(br#"{"data":{"api_requests_daily":{"user":{"allowed":9,"used":2}}}}"#);
        for is_outrun in [true, false] {
            model.calls.begin(Request::User, true, Timestamp::UNIX_EPOCH);
            model.call_ended(&Request::User, Ok(Response::Deleted));
            assert!(requests_counters(&mut model));
            if is_outrun {
                model.calls.begin(Request::User, true, Timestamp::UNIX_EPOCH);
                model.call_ended(&Request::User, Ok(Response::Deleted));
                assert!(!requests_counters(&mut model), "they are on their way");
                model.call_ended(&Request::Quotas, Ok(Response::Balances(counters().unwrap())));
                assert!(requests_counters(&mut model));
            }
            model.call_ended(&Request::Quotas, Ok(Response::Balances(counters().unwrap())));
            assert!(!requests_counters(&mut model));
        }
    }
}
