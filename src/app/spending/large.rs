//! A file that is too large for one call: an address is asked for first, and what was agreed to goes there, nothing else.

use super::confirm::{Consent, KeyedAnswer};
use super::price::Together;
use crate::app::effect::{FileJob, Source};
use crate::app::message::Failure;
use crate::app::model::Model;
use crate::app::scan::submit::{price_of, unsent};
use crate::quota::Plan;
use crate::report::identifier::Sha256;
use crate::request::{Request, Submission, UploadAddress, UploadLimit};
use jiff::Timestamp;
use std::sync::Arc;

impl Model {
    /// What the large file of the form costs in all.
    pub fn large_price(&self) -> Together {
        self.price_of_large(self.large_scan().as_ref())
    }

    pub(super) fn price_of_large(&self, submission: Option<&Arc<Submission>>) -> Together {
        let price = |submission| price_of(submission, UploadLimit::Large, &self.figures.entitlements);
        submission.map_or_else(|| Together { plan: Plan::new(), is_at_most: false }, price)
    }

    /// Sends the form's large file, after a yes where one is wanted.
    pub(in crate::app) fn submit_large(&mut self) {
        let Some(submission) = self.large_scan() else { return };
        let (scan, price) =
            (Request::PrivateScan { submission: Arc::clone(&submission), to: None }, self.large_price());
        let dear = || self.is_dear(price.worst()).then(|| format!("{} costs {price}.", scan.words()));
        if let Some(why) = scan.warning().or_else(dear) {
            return self.ask_first(why, KeyedAnswer::yes("yes, submit it", Consent::SubmitLarge(submission)));
        }
        self.look_again(&submission)
    }

    /// Looks at the large file once more before anything is paid for it.
    pub(super) fn look_again(&mut self, submission: &Arc<Submission>) {
        let Some(form) = self.form_of(submission) else { return };
        (form.source.agreed, form.failure) = (Some(Arc::clone(submission)), None);
        form.source.looked_at = Some(submission.path.clone());
        self.emit(FileJob::Inspect(submission.path.clone()));
    }

    /// The large file has been looked at once more: it is sent if it still is what was agreed to.
    pub(in crate::app) fn looked_again(
        &mut self,
        agreed: &Arc<Submission>,
        found: Result<(Sha256, u64), String>,
        sent: Option<Timestamp>,
    ) {
        let why = match found {
            Ok((file, size)) if file == agreed.file && size == agreed.size && sent <= agreed.sent => {
                return self.begin_large(agreed);
            }
            Ok((file, _)) if file == agreed.file && sent > agreed.sent => "it was sent meanwhile".to_owned(),
            Ok(_) => "it has changed since it was looked at".to_owned(),
            Err(why) => why,
        };
        self.scan_failed(agreed, Failure { is_of_file: true, ..unsent(why) });
    }

    /// Asks for the address that a large file is uploaded to, and keeps with that call which file was agreed to.
    fn begin_large(&mut self, submission: &Arc<Submission>) {
        if self.ask_agreed(Request::UploadAddress, Source::Service) {
            self.calls.upload_after(&Request::UploadAddress, submission);
        }
    }

    /// Uploads the file that the user agreed to, unless its form was closed.
    pub(in crate::app) fn on_upload_url(&mut self, agreed: Option<Arc<Submission>>, to: UploadAddress) {
        let Some(submission) = agreed else { return };
        if self.form_of(&submission).is_none() {
            return self.warn("The form was closed: nothing was uploaded. The address it asked for was paid.");
        }
        self.ask_agreed(Request::PrivateScan { submission, to: Some(to) }, Source::Service);
    }
}
