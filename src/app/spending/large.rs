//! A file that is too large for one call: an address is asked for first, and what was agreed to goes there, nothing else.

use super::confirm::{Consent, KeyedAnswer};
use super::price::Together;
use crate::app::effect::{Effect, Source};
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
        self.emit(Effect::LookAtFile(submission.path.clone()));
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

    /// The address has come: the file that was agreed to goes there, unless its form was closed.
    pub(in crate::app) fn addressed(&mut self, result: Result<UploadAddress, Failure>) {
        let agreed = self.calls.asking(&Request::UploadAddress).and_then(|call| call.uploads.clone());
        self.ended(&Request::UploadAddress);
        let Some(submission) = agreed else { return };
        match result {
            Ok(to) if self.form_of(&submission).is_some() => {
                self.ask_agreed(Request::PrivateScan { submission, to: Some(to) }, Source::Service);
            }
            Ok(_) => self.warn("The form was closed: nothing was uploaded. The address it asked for was paid."),
            Err(failure) => self.scan_failed(&submission, failure),
        }
    }
}
