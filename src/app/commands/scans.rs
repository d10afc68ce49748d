//! Commands and events of scans: submitting files, watching scans, deleting files at the service.

use crate::app::overlays::{TextPage, TextRow, paragraph};
use crate::app::scan::{InspectedFile, ScanWatch, SubmitForm, polls, price_of, unsent};
use crate::app::spending::{Consent, KeyChoice};
use crate::app::{Failure, FileJob, List, Model, ResponseSource, StoreJob};
use crate::quota::Plan;
use crate::report::identifier::{Identifier, Sha256};
use crate::report::{Analysis, PendingScan};
use crate::request::{Request, Submission, UploadAddress, UploadLimit};
use crate::text::{bytes, count, moment};
use jiff::Timestamp;
use std::path::PathBuf;
use std::slice::from_ref;
use std::sync::Arc;

pub(crate) const WATCH_TITLE: &str = "Watching the scan";

/// Returns the first requests of watching the shown file's scan.
pub(super) fn first_poll(model: &Model) -> Vec<Request> {
    model.file().map(|file| Request::PrivateAnalyses { file: file.clone() }).into_iter().collect()
}

impl Model {
    /// Returns the watched scan of the shown file.
    pub fn following(&self) -> Option<&ScanWatch> {
        self.follows.of(self.file()?)
    }

    /// Returns the price of watching the chosen file's scan to the end, at most.
    pub fn follow_price(&self) -> Plan {
        let mut plan = self.quota_state.plan([polls(self.settings.pace.most)]);
        // Watching ends as soon as the scan does.
        plan.prices.iter_mut().for_each(|price| price.verdict.units.min = price.verdict.units.min.min(1));
        plan
    }

    /// Watches the shown file's scan; confirms first if reports are listed or the price is high.
    pub(super) fn confirm_watch(&mut self) {
        let Some(file) = self.file().cloned() else { return };
        let price = self.follow_price();
        let has_reports = self.list().is_some_and(|list| !list.entries.is_empty());
        // The budget refuses at once, not after confirmation.
        if self.refuse(&self.price_of_plan(price.clone())) {
            return;
        }
        if !has_reports && !self.settings.must_confirm(price.worst()) {
            return self.follow(file);
        }
        let why = if has_reports { "Reports of the file are listed already. " } else { "" };
        let why = format!("{why}Watching its scan costs {price}.");
        self.confirm_first(why, [KeyChoice::yes("yes, watch", Consent::Follow(file))])
    }

    /// Starts watching the scan of a file; its price was on the screen.
    pub(crate) fn follow(&mut self, file: Sha256) {
        self.emit(self.follows.record(&file, self.now));
        self.files.of_mut(&file).into_iter().for_each(|file| file.is_scanned = false);
        self.follows.begin(file, self.settings.pace, self.passed);
        self.next_poll();
    }

    /// Stops watching the shown file, and forgets its scan.
    pub(super) fn stop_following(&mut self) {
        let Some(file) = self.file().cloned() else { return };
        self.end_following(&file, "Stopped watching.");
        self.emit(StoreJob::RecordScan(file, None));
    }

    /// Offers to watch an unfinished scan of an earlier run; sends nothing.
    pub(crate) fn recall_scan(&mut self, file: &Sha256, scan: Option<PendingScan>) {
        let is_offered = self.follows.recall(file, scan, self.now) && self.file() == Some(file);
        if is_offered && self.notice.is_none() && self.service.barred().is_none() {
            let follow = self.key_label("watch");
            let price = self.follow_price();
            self.say(format!("Its scan had not ended when the file was left. {follow} watches it again: {price}."));
        }
    }

    fn end_following(&mut self, file: &Sha256, why: &str) {
        let Some(follow) = self.follows.end(file) else { return };
        let calls = count(follow.made, "call");
        self.warn(format!("{why} {}: {calls} made, nothing further is sent.", file.short()));
    }

    /// Sends the next due call of a watched scan, one at a time.
    pub(crate) fn next_poll(&mut self) {
        if self.is_quitting || self.calls.awaits_paid() {
            return;
        }
        let now = self.passed;
        let listing = self.service.listing;
        let Some(follow) = self.follows.due(now) else { return };
        let file = follow.file.clone();
        if follow.left() == 0 {
            let again = format!("{} watches it again, for {}.", self.key_label("watch"), self.follow_price());
            let why = "The scan is not done, and the confirmed polls are used up.";
            return self.end_following(&file, &format!("{why} {again}"));
        }
        let next_page = self.files.of(&file).and_then(|open| open.list.next_page(listing));
        let request = follow.request(listing, next_page);
        if self.quota_state.waits(self.now).is_some() {
            return;
        }
        if self.send_confirmed(request, ResponseSource::Service) {
            self.follows.of_mut(&file).into_iter().for_each(|follow| follow.count(now));
        } else {
            // The request was refused before it was sent, with its reason on the screen.
            self.follows.end(&file);
        }
    }

    /// Records the progress of a scan; `None` if the service has no scan.
    pub(crate) fn on_scan_polled(&mut self, request: &Request, seen: Option<Analysis>) {
        let scan = seen.as_ref().map(|seen| seen.identifier.clone());
        let Some(follow) = self.follows.of_request(request) else { return };
        follow.on_poll(seen, self.passed);
        let file = follow.file.clone();
        if scan.is_some_and(|scan| self.follows.record_scan(&file, scan)) {
            self.emit(self.follows.record(&file, self.now));
        }
        self.next_poll();
    }

    /// Ends watching after a failure, except while another program polls the same.
    pub(crate) fn on_poll_failed(&mut self, file: &Sha256, failure: &Failure) {
        match self.follows.of_mut(file).filter(|_| failure.is_elsewhere) {
            Some(follow) => follow.made = follow.made.saturating_sub(1),
            None => self.end_following(file, &format!("{} Stopped watching", failure.label())),
        }
    }

    pub(crate) fn on_page_while_following(&mut self, file: &Sha256) {
        let now = self.passed;
        let listing = self.service.listing;
        let list = self.files.of(file).map(|open| &open.list);
        let reports = list.map_or(0, |list| list.entries.len());
        let has_next = list.is_some_and(|list| list.next_page(listing).is_some() && list.since.is_some());
        let Some(follow) = self.follows.of_mut(file).filter(|follow| follow.awaits_page()) else { return };
        if follow.listed(reports, has_next, now) {
            let calls = count(follow.made, "call");
            self.follows.finish(file);
            // If the list has identifiers only, its reports still have to be opened.
            let missing = if self.file() == Some(file) { self.files.missing_reports(&self.calls) } else { Vec::new() };
            let price = self.quota_state.price_of_reports(&missing);
            let open = match missing.len() {
                0 => String::new(),
                1 => format!(" {} opens the report, for {price}.", self.key_label("open")),
                count => format!(" {} opens the {count} reports, for {price}.", self.key_label("open-all")),
            };
            self.files.of_mut(file).into_iter().for_each(|file| file.is_scanned = true);
            let listed = if reports > 0 { "its reports are listed" } else { "no report of it is listed" };
            self.say(format!("The scan of {} is done, and {listed}: {calls} made.{open}", file.short()));
            self.emit(StoreJob::RecordScan(file.clone(), None));
        }
        self.next_poll();
    }

    pub(crate) fn watch_page(&self) -> TextPage {
        TextPage::new(WATCH_TITLE, self.following_rows())
    }

    pub fn following_rows(&self) -> Vec<TextRow> {
        let Some(follow) = self.following() else {
            let is_done = self.files.shown().is_some_and(|file| file.is_scanned);
            let has_reports = self.list().is_some_and(|list| !list.entries.is_empty());
            let ended = match (is_done, has_reports) {
                (true, true) => "done, and its reports are listed",
                (true, false) => "done, and no report of it is listed",
                (false, _) => "no longer watched",
            };
            return vec![paragraph("scan", format!("{ended}: nothing further is sent"))];
        };
        let seconds = follow.seconds(self.passed);
        let price = follow.next_price(self.service.listing, &self.quota_state.entitlements);
        let mut rows = vec![
            paragraph("next poll", format!("in {seconds} s · {price}; {} stops", self.key_label("stop"))),
            paragraph("calls", format!("{} made, {}", follow.made, follow.remaining_label(self.passed))),
        ];
        match &follow.seen {
            None => rows.push(paragraph("scan", "no progress yet".to_owned())),
            Some(seen) => {
                let began = seen.began.map_or_else(String::new, |when| format!(", begun {}", moment(when)));
                rows.push(paragraph("scan", format!("{}{began}", seen.progress.label())));
                for run in &seen.sandboxes {
                    rows.push(paragraph("", format!("{}: {}", run.sandbox().visible_cut(40), run.label())));
                }
            }
        }
        rows
    }

    /// Returns the request of the form, if one call is enough for the file.
    pub(crate) fn direct_scan(&self) -> Option<Request> {
        let submission = self.overlays.top_as::<SubmitForm>()?.submission_by(UploadLimit::Direct)?;
        Some(Request::PrivateScan { submission, to: None })
    }

    /// Returns the form's submission, if it needs an upload address first.
    pub fn large_scan(&self) -> Option<Arc<Submission>> {
        self.overlays.top_as::<SubmitForm>()?.submission_by(UploadLimit::Large)
    }

    /// Returns whether the top form was sent: it stays as confirmed.
    pub(crate) fn is_form_sent(&self) -> bool {
        let is_sent = |form: &SubmitForm| form.source.agreed.is_some() || form.call(&self.calls).is_some();
        self.overlays.top_as::<SubmitForm>().is_some_and(is_sent)
    }

    pub(crate) fn form_of(&mut self, submission: &Submission) -> Option<&mut SubmitForm> {
        self.overlays.find_mut::<SubmitForm>().filter(|form| form.submission().as_deref() == Some(submission))
    }

    pub(crate) fn on_file_inspected(
        &mut self,
        path: PathBuf,
        result: Result<(Sha256, u64), String>,
        sent: Option<Timestamp>,
        before: Option<String>,
    ) {
        let direct = self.service.upload_direct;
        let largest = self.service.upload_largest;
        let is_sent = self.is_form_sent();
        let Some(form) = self.overlays.find_mut::<SubmitForm>() else { return };
        form.source.looked_at.take_if(|looked_at| *looked_at == path);
        if form.path() != path {
            return;
        }
        if let Some(agreed) = form.source.agreed.take() {
            return self.on_file_reinspected(&agreed, result, sent);
        }
        match result {
            // The upload is in flight.
            _ if is_sent => {}
            Ok((_, size)) if size > largest => {
                form.failure = Some(unsent(format!("the service takes files up to {}", bytes(largest))));
            }
            Ok((file, size)) => {
                let limit = if size > direct { UploadLimit::Large } else { UploadLimit::Direct };
                form.source.found = Some(InspectedFile { path, file, size, limit, sent, before });
            }
            Err(why) => form.failure = Some(unsent(why)),
        }
    }

    pub(super) fn large_price(&self) -> Plan {
        let price = |submission| price_of(&submission, UploadLimit::Large, &self.quota_state.entitlements);
        self.large_scan().map(price).unwrap_or_default()
    }

    pub(super) fn submit_large(&mut self) {
        let Some(submission) = self.large_scan() else { return };
        let scan = Request::PrivateScan { submission: Arc::clone(&submission), to: None };
        let price = self.large_price();
        let dear = || self.settings.must_confirm(price.worst()).then(|| format!("{} costs {price}.", scan.label()));
        if let Some(why) = scan.warning().or_else(dear) {
            return self.confirm_first(why, [KeyChoice::yes("yes, submit it", Consent::SubmitLarge(submission))]);
        }
        self.poll_after_upload(&submission)
    }

    pub(crate) fn poll_after_upload(&mut self, submission: &Arc<Submission>) {
        let Some(form) = self.form_of(submission) else { return };
        (form.source.agreed, form.failure) = (Some(Arc::clone(submission)), None);
        form.source.looked_at = Some(submission.path.clone());
        self.emit(FileJob::Inspect(submission.path.clone()));
    }

    /// Sends the large file if it has not changed since the user confirmed.
    pub(crate) fn on_file_reinspected(
        &mut self,
        agreed: &Arc<Submission>,
        found: Result<(Sha256, u64), String>,
        sent: Option<Timestamp>,
    ) {
        let why = match found {
            Ok((file, size)) if file == agreed.file && size == agreed.size && sent <= agreed.sent => {
                // The call refers to the confirmed file.
                if self.send_confirmed(Request::UploadAddress, ResponseSource::Service) {
                    self.calls.upload_after(&Request::UploadAddress, agreed);
                }
                return;
            }
            Ok((file, _)) if file == agreed.file && sent > agreed.sent => "it was sent meanwhile".to_owned(),
            Ok(_) => "it has changed since it was inspected".to_owned(),
            Err(why) => why,
        };
        self.scan_failed(agreed, Failure { is_of_file: true, ..unsent(why) });
    }

    /// Uploads the confirmed file, unless its form was closed.
    pub(crate) fn on_upload_url(&mut self, agreed: Option<Arc<Submission>>, to: UploadAddress) {
        let Some(submission) = agreed else { return };
        if self.form_of(&submission).is_none() {
            return self.warn("The form was closed: nothing was uploaded. The upload address was charged.");
        }
        self.send_confirmed(Request::PrivateScan { submission, to: Some(to) }, ResponseSource::Service);
    }

    pub(crate) fn on_submitted(&mut self, submission: &Submission, scan: Identifier) {
        self.follows.record_scan(&submission.file, scan);
        // An earlier scan of the file is no longer watched: the last paid scan is offered.
        self.follows.end(&submission.file);
        self.emit(self.follows.record(&submission.file, self.now));
        let is_form = |form: &SubmitForm| form.submission().as_deref() == Some(submission);
        if self.overlays.top_as::<SubmitForm>().is_some_and(is_form) {
            self.overlays.close();
            self.open_files(from_ref(&submission.file));
            // The store has the file's name by now, and the title shows it.
            self.emit(StoreJob::FindRecent);
        }
        let follow = self.key_label("watch");
        let price = self.follow_price();
        self.say(format!(
            "{} is submitted as {}. {follow} watches its scan: {price}.",
            submission.name(),
            submission.file.short()
        ));
    }

    pub(crate) fn on_submit_failed(&mut self, submission: &Submission, failure: Failure) {
        if !failure.may_have_succeeded {
            return self.scan_failed(submission, failure);
        }
        self.emit(self.follows.record(&submission.file, self.now));
        let advice = self.upload_check_hint(&submission.file);
        let now = self.now;
        self.scan_failed(submission, Failure { advice, ..failure });
        if let Some(found) = self.form_of(submission).and_then(|form| form.source.found.as_mut()) {
            found.sent = Some(now);
        }
    }

    /// Returns a hint how to check whether an upload without response arrived.
    pub fn upload_check_hint(&self, file: &Sha256) -> String {
        let request = Request::PrivateAnalyses { file: file.clone() };
        format!(
            "It may have arrived all the same. Before it is sent again: {}, then {} offers {}, and {} looks for its scan \
             there, the first time for {}.",
            self.key_label("back"),
            self.key_label("open-file"),
            file.short(),
            self.key_label("watch"),
            self.quota_state.price(&request).short(),
        )
    }

    pub(crate) fn scan_failed(&mut self, submission: &Submission, failure: Failure) {
        match self.form_of(submission) {
            Some(form) => {
                // The next key inspects the file again.
                form.source.found.take_if(|_| failure.is_of_file);
                form.failure = Some(failure);
            }
            None => self.warn(failure.label()),
        }
    }

    pub(crate) fn delete_at_service(&mut self) {
        let Some(file) = self.file().cloned() else { return };
        let stored = self.list().map_or(0, List::stored);
        let why = format!(
            "Delete {} at the service, for everybody in the group and for ever? Either the file alone, so that \
             it cannot be fetched or scanned again, and its reports stay until they expire; or the file with all its \
             reports and scans. The {} stored here stay{} either way.",
            file.short(),
            count(stored as u64, "report"),
            if stored == 1 { "s" } else { "" }
        );
        let delete = |only_from_storage| {
            Consent::Send(
                Request::PrivateDelete { file: file.clone(), only_from_storage },
                ResponseSource::Service,
                None,
            )
        };
        let alone = KeyChoice::yes("yes, the file alone", delete(true));
        self.confirm_first(why, [alone, KeyChoice::yes_to_all("yes, with its reports", delete(false))])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::scan::PollPace;
    use jiff::SignedDuration;

    #[test]
    fn a_poll_that_another_program_makes_is_not_counted() {
        let file = Sha256::parse(&"ab".repeat(32)).unwrap();
        let mut model = Model::new(Default::default(), jiff::Timestamp::UNIX_EPOCH);
        model.follows.begin(file.clone(), PollPace::default(), SignedDuration::ZERO);
        model.follows.of_mut(&file).unwrap().count(SignedDuration::ZERO);
        let request = Request::PrivateAnalyses { file: file.clone() };
        let failed = |is_elsewhere| Err(Failure { is_elsewhere, ..Failure::default() });
        model.call_ended(&request, failed(true));
        let follow = model.follows.of(&file).unwrap();
        assert_eq!((follow.made, follow.seconds(SignedDuration::ZERO)), (0, 30));
        model.call_ended(&request, failed(false));
        assert!(model.follows.is_empty());
    }
}
