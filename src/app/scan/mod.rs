//! Submitting a file for a private scan, and following the scan until its reports are there.

pub mod follow;

use crate::app::keys::key;
use crate::app::over::{FormSource, InputForm, SMALL};
use crate::app::spending::{Consent, InFlightCall, KeyedAnswer};
use crate::app::{Failure, FileJob, Key, List, Model, ResponseSource, StoreJob};
use crate::export::file;
use crate::quota::{Entitlements, Plan};
use crate::report::identifier::{Identifier, Sha256};
use crate::request::{LONGEST_RETENTION, Password, Request, ScanOption, ScanOptions, Submission, UploadLimit};
use crate::text::{count, words_in_rows};
use jiff::Timestamp;
use std::path::PathBuf;
use std::sync::Arc;

/// The form of a file that is submitted, line by line: [`FIELDS`].
pub type SubmitForm = InputForm<FileToScan>;

#[derive(Debug, Default)]
pub struct FileToScan {
    /// The file, once it has been looked at: it is sent only as what it was then.
    pub found: Option<InspectedFile>,
    pub(in crate::app) looked_at: Option<PathBuf>,
    /// The confirmed large file, while it is inspected again: an upload address is paid.
    pub(in crate::app) agreed: Option<Arc<Submission>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InspectedFile {
    pub path: PathBuf,
    pub file: Sha256,
    pub size: u64,
    pub limit: UploadLimit,
    /// When it was sent before and no answer came, if so: it may have arrived.
    pub sent: Option<Timestamp>,
    pub before: Option<String>,
}

#[derive(Debug)]
pub struct ScanField {
    pub label: &'static str,
    pub hint: &'static str,
    pub option: Option<ScanOption>,
}

pub static FIELDS: [ScanField; 6] = [
    ScanField { label: "File", hint: "path of the file", option: None },
    field("Sandbox", "its name; empty for all that the service likes", ScanOption::Sandbox),
    field("Internet", "yes or no; empty for the service's default", ScanOption::Internet),
    field("Keep days", "1 to 28; empty for the service's default", ScanOption::Retention),
    field("Command line", "what it is run with", ScanOption::CommandLine),
    field("Password", "what it is encrypted with; never shown, stored or logged", ScanOption::Password),
];

const fn field(label: &'static str, hint: &'static str, option: ScanOption) -> ScanField {
    ScanField { label, hint, option: Some(option) }
}

impl SubmitForm {
    pub fn empty() -> Self {
        Self::with_fields(FileToScan::default(), FIELDS.len())
    }

    pub fn is_looked_at(&self) -> bool {
        self.source.looked_at.as_ref().is_some_and(|path| *path == self.path())
    }

    pub fn path(&self) -> PathBuf {
        file::typed(self.text().trim())
    }

    pub fn options(&self) -> Result<ScanOptions, String> {
        let mut options = ScanOptions::default();
        for (field, typed) in FIELDS.iter().zip(self.fields.iter().map(|field| &field.text)) {
            // A blank may be a part of a password.
            let plain = Some(typed.trim()).filter(|plain| !plain.is_empty()).map(str::to_owned);
            match field.option {
                Some(ScanOption::Sandbox) => options.sandbox = plain,
                Some(ScanOption::CommandLine) => options.command_line = plain,
                Some(ScanOption::Password) => options.password = Password::new(typed.clone()),
                Some(ScanOption::Internet) => options.internet = plain.as_deref().map(yes_or_no).transpose()?,
                Some(ScanOption::Retention) => options.retention = plain.as_deref().map(days).transpose()?,
                None => {}
            }
        }
        Ok(options)
    }

    /// The upload, once the file is inspected and the options are valid.
    pub fn submission(&self) -> Option<Arc<Submission>> {
        let InspectedFile { path, file, size, sent, .. } = self.source.found.clone()?;
        let options = self.options().ok()?;
        Some(Arc::new(Submission { path, file, size, options, sent }))
    }
}

impl FormSource for FileToScan {
    fn height(form: &SubmitForm, columns: usize) -> usize {
        let said = form.failure.as_ref().map_or(0, |failure| words_in_rows(&failure.words(), columns).len() + 1);
        FIELDS.len() + said.max(SMALL - 1)
    }

    fn press(form: &mut SubmitForm, key: Key, most: usize) -> bool {
        let is_typed = form.type_key(key, most);
        // Another path is another file.
        form.source.found.take_if(|_| is_typed && form.chosen == 0);
        is_typed
    }
}

pub fn yes_or_no(typed: &str) -> Result<bool, String> {
    match typed.to_ascii_lowercase().as_str() {
        "y" | "yes" | "true" | "on" => Ok(true),
        "n" | "no" | "false" | "off" => Ok(false),
        _ => Err("internet access is yes or no".to_owned()),
    }
}

pub fn days(typed: &str) -> Result<u8, String> {
    let days = typed.parse().ok().filter(|days| (1..=LONGEST_RETENTION).contains(days));
    days.ok_or_else(|| format!("the service stores a file for 1 to {LONGEST_RETENTION} days"))
}

/// What a submission costs in all; a large file needs an address first.
pub fn price_of(submission: &Arc<Submission>, limit: UploadLimit, entitled: &Entitlements) -> Plan {
    let scan = Request::PrivateScan { submission: Arc::clone(submission), to: None };
    let address = (limit == UploadLimit::Large).then(|| Request::UploadAddress.operation());
    Plan::of([scan.operation()].into_iter().chain(address), entitled)
}

impl Model {
    pub fn submitting(&self) -> Option<&SubmitForm> {
        self.over.top_as::<SubmitForm>()
    }

    pub(in crate::app) fn submitting_mut(&mut self) -> Option<&mut SubmitForm> {
        self.over.find_mut::<SubmitForm>()
    }

    /// The question that the form asks, if one call takes the file.
    pub fn direct_scan(&self) -> Option<Request> {
        let submission = self.submission_of(UploadLimit::Direct)?;
        Some(Request::PrivateScan { submission, to: None })
    }

    /// What the form sends to an address that has to be asked for first.
    pub fn large_scan(&self) -> Option<Arc<Submission>> {
        self.submission_of(UploadLimit::Large)
    }

    fn submission_of(&self, limit: UploadLimit) -> Option<Arc<Submission>> {
        let form =
            self.submitting().filter(|form| form.source.found.as_ref().is_some_and(|found| found.limit == limit))?;
        form.submission()
    }

    /// The call that sends what this form holds, or asks where it is sent to.
    pub fn call_of(&self, form: &SubmitForm) -> Option<&InFlightCall> {
        let submission = form.submission()?;
        self.calls.iter().find(|call| call.sends(&submission))
    }

    /// Whether the form that has the keys is on its way: it stays then as it was agreed to.
    pub fn is_form_sent(&self) -> bool {
        self.submitting().is_some_and(|form| form.source.agreed.is_some() || self.call_of(form).is_some())
    }

    pub(in crate::app) fn form_of(&mut self, submission: &Submission) -> Option<&mut SubmitForm> {
        self.submitting_mut().filter(|form| form.submission().as_deref() == Some(submission))
    }

    /// Inspects the typed file; nothing is sent.
    pub(in crate::app) fn look_at_file(&mut self) {
        let Some(form) = self.submitting_mut() else { return };
        let path = form.path();
        let missing = match form.options() {
            _ if path.as_os_str().is_empty() => Some("no path yet".to_owned()),
            Ok(_) => None,
            Err(why) => Some(why),
        };
        form.failure = missing.map(unsent);
        if form.failure.is_some() || form.is_looked_at() {
            return;
        }
        form.source.looked_at = Some(path.clone());
        self.emit(FileJob::Inspect(path));
    }

    pub(in crate::app) fn looked_at_file(
        &mut self,
        path: PathBuf,
        result: Result<(Sha256, u64), String>,
        sent: Option<Timestamp>,
        before: Option<String>,
    ) {
        let (direct, largest) = (self.service.upload_direct, self.service.upload_largest);
        let is_sent = self.is_form_sent();
        let Some(form) = self.submitting_mut() else { return };
        form.source.looked_at.take_if(|looked_at| *looked_at == path);
        if form.path() != path {
            return;
        }
        if let Some(agreed) = form.source.agreed.take() {
            return self.looked_again(&agreed, result, sent);
        }
        match result {
            // The upload is in flight.
            _ if is_sent => {}
            Ok((_, size)) if size > largest => {
                form.failure = Some(unsent(format!("the service takes files up to {}", crate::text::bytes(largest))));
            }
            Ok((file, size)) => {
                let limit = if size > direct { UploadLimit::Large } else { UploadLimit::Direct };
                form.source.found = Some(InspectedFile { path, file, size, limit, sent, before });
            }
            Err(why) => form.failure = Some(unsent(why)),
        }
    }

    pub(in crate::app) fn on_submitted(&mut self, submission: &Submission, scan: Identifier) {
        self.scans.insert(submission.file.clone(), scan);
        // An earlier scan of the file is followed no more: the one that was paid for last is offered.
        self.follows.retain(|follow| follow.file != submission.file);
        self.note_pending(&submission.file);
        let is_form = |form: &SubmitForm| form.submission().as_deref() == Some(submission);
        if self.submitting().is_some_and(is_form) {
            self.over.close();
            self.open_file(submission.file.clone());
            // Its name is stored by now, and the title shows it.
            self.emit(StoreJob::FindRecent);
        }
        let (follow, price) = (self.way_to("follow"), self.follow_price());
        self.say(format!(
            "{} is submitted as {}. {follow} follows its scan: {price}.",
            submission.name(),
            submission.file.short()
        ));
    }

    pub(in crate::app) fn on_submit_failed(&mut self, submission: &Submission, failure: Failure) {
        if !failure.is_unsure {
            return self.scan_failed(submission, failure);
        }
        self.note_pending(&submission.file);
        let (advice, now) = (self.way_to_look(&submission.file), self.now);
        self.scan_failed(submission, Failure { advice, ..failure });
        if let Some(found) = self.form_of(submission).and_then(|form| form.source.found.as_mut()) {
            found.sent = Some(now);
        }
    }

    /// How to find out, for less than another upload, whether one arrived whose answer did not come.
    pub fn way_to_look(&self, file: &Sha256) -> String {
        let request = Request::PrivateAnalyses { file: file.clone() };
        format!(
            "It may have arrived all the same. Before it is sent again: {}, then {} offers {}, and {} looks for its scan \
             there, the first time for {}.",
            self.way_to("back"),
            self.way_to("other-file"),
            file.short(),
            self.way_to("follow"),
            self.price(&request).short(),
        )
    }

    pub(in crate::app) fn scan_failed(&mut self, submission: &Submission, failure: Failure) {
        match self.form_of(submission) {
            Some(form) => {
                // The next key inspects the file again.
                form.source.found.take_if(|_| failure.is_of_file);
                form.failure = Some(failure);
            }
            None => self.warn(failure.words()),
        }
    }

    pub(in crate::app) fn delete_at_service(&mut self) {
        let Some(file) = self.file().cloned() else { return };
        let held = self.list().map_or(0, List::stored);
        let why = format!(
            "Delete {} at the service, for everybody in the group and for ever? Either the file with all its reports and \
             scans; or the file alone, so that nobody can fetch it or scan it again, and its reports stay until they \
             expire. The {} stored here stay{} either way.",
            file.short(),
            count(held as u64, "report"),
            if held == 1 { "s" } else { "" }
        );
        let delete = |only_from_storage| {
            let request = Request::PrivateDelete { file: file.clone(), only_from_storage };
            Consent::Send(request, ResponseSource::Service)
        };
        let alone = KeyedAnswer { key: key('f'), label: "yes, the file alone", consent: delete(true) };
        let answers = vec![KeyedAnswer::yes_to_all("yes, with its reports", delete(false)), alone];
        self.confirm_first(why, answers)
    }
}

pub(in crate::app) fn unsent(why: String) -> Failure {
    Failure::new(format!("Nothing was sent: {why}."))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::keys::pasted;
    use crate::app::over::OverlayScreen;

    #[test]
    fn what_is_typed_becomes_what_the_sandboxes_are_told() {
        let mut form = SubmitForm::empty();
        for (field, text) in ["/a b", "CAPE", "Yes", "28", "-x 1", " hunter2 "].into_iter().enumerate() {
            form.chosen = field;
            for key in pasted(text) {
                form.press(key, usize::MAX);
            }
        }
        let options = form.options().unwrap();
        assert_eq!((options.internet, options.retention), (Some(true), Some(28)));
        assert_eq!(options.password, Password::new(" hunter2 ".to_owned()));
        assert!(!format!("{form:?}").contains("hunter2"));
        assert_eq!(form.path(), PathBuf::from("/a b"));
        form.fields[3].text = "29".to_owned();
        assert!(form.options().unwrap_err().contains("1 to 28"));
        form.fields[2].text = "perhaps".to_owned();
        assert!(form.options().is_err() && form.submission().is_none());
    }
}
