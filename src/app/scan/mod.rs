//! Submitting a file for a private scan: the form, its options and its price.

pub mod watch;

use crate::app::overlays::{FormSource, InputForm};
use crate::app::spending::{Calls, InFlightCall};
use crate::app::{Effect, Failure};
use crate::export::file;
use crate::quota::{Entitlements, Plan};
use crate::report::identifier::Sha256;
use crate::request::{LONGEST_RETENTION, Password, Request, ScanOption, ScanOptions, Submission, UploadLimit};
use jiff::Timestamp;
use std::path::PathBuf;
use std::sync::Arc;

/// The form of a submission, one line per [`FIELDS`] entry.
pub type SubmitForm = InputForm<FileToScan>;

#[derive(Debug, Default)]
pub struct FileToScan {
    /// The inspected file: only the same bytes are sent.
    pub found: Option<InspectedFile>,
    pub(crate) looked_at: Option<PathBuf>,
    /// The confirmed large file during its second inspection, as an upload address is paid.
    pub(crate) agreed: Option<Arc<Submission>>,
}

/// A file as inspected before a price is shown; its size is in bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InspectedFile {
    pub(crate) path: PathBuf,
    pub file: Sha256,
    pub size: u64,
    pub limit: UploadLimit,
    /// When an earlier upload got no response: it may have arrived.
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
    pub(crate) fn empty() -> Self {
        Self::with_fields(FileToScan::default(), FIELDS.len())
    }

    pub fn is_inspected(&self) -> bool {
        self.source.looked_at.as_ref().is_some_and(|path| *path == self.path())
    }

    /// Returns the file to inspect before sending; `None` while inspecting or for an invalid path.
    pub(crate) fn inspect(&mut self) -> Option<PathBuf> {
        let path = self.path();
        let no_path = path.as_os_str().is_empty().then(|| "no path yet".to_owned());
        self.failure = no_path.or_else(|| self.options().err()).map(unsent);
        if self.failure.is_some() || self.is_inspected() {
            return None;
        }
        self.source.looked_at = Some(path.clone());
        Some(path)
    }

    pub fn path(&self) -> PathBuf {
        file::from_input(self.text().trim())
    }

    pub(crate) fn options(&self) -> Result<ScanOptions, String> {
        let mut options = ScanOptions::default();
        for (field, typed) in FIELDS.iter().zip(self.fields.iter().map(|field| &field.text)) {
            // A blank may be part of a password.
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

    /// Returns the submission, if its size permits this kind of upload.
    pub(crate) fn submission_by(&self, limit: UploadLimit) -> Option<Arc<Submission>> {
        self.source.found.as_ref().filter(|found| found.limit == limit)?;
        self.submission()
    }

    /// Returns the call that uploads it or requests its upload address.
    pub fn call<'a>(&self, calls: &'a Calls) -> Option<&'a InFlightCall> {
        let submission = self.submission()?;
        calls.iter().find(|call| call.sends(&submission))
    }

    /// Returns the submission, once the file is inspected and the options are valid.
    pub fn submission(&self) -> Option<Arc<Submission>> {
        let InspectedFile { path, file, size, sent, .. } = self.source.found.clone()?;
        let options = self.options().ok()?;
        Some(Arc::new(Submission { path, file, size, options, sent }))
    }
}

impl FormSource for FileToScan {
    fn on_typed(form: &mut SubmitForm, _: Timestamp) -> Option<Effect> {
        form.source.found.take_if(|_| form.chosen == 0);
        None
    }
}

pub fn yes_or_no(typed: &str) -> Result<bool, String> {
    match typed.to_ascii_lowercase().as_str() {
        "y" | "yes" | "true" | "on" => Ok(true),
        "n" | "no" | "false" | "off" => Ok(false),
        _ => Err("internet access is yes or no".to_owned()),
    }
}

pub(crate) fn days(typed: &str) -> Result<u8, String> {
    let days = typed.parse().ok().filter(|days| (1..=LONGEST_RETENTION).contains(days));
    days.ok_or_else(|| format!("the service stores a file for 1 to {LONGEST_RETENTION} days"))
}

/// Returns the total price of a submission; a large file needs an upload address first.
pub fn price_of(submission: &Arc<Submission>, limit: UploadLimit, entitled: &Entitlements) -> Plan {
    let scan = Request::PrivateScan { submission: Arc::clone(submission), to: None };
    let address = (limit == UploadLimit::Large).then(|| Request::UploadAddress.operation());
    Plan::of([scan.operation()].into_iter().chain(address), entitled)
}

pub(crate) fn unsent(why: String) -> Failure {
    Failure::new(format!("Nothing was sent: {why}."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_typed_becomes_what_the_sandboxes_are_told() {
        let mut form = SubmitForm::empty();
        for (field, text) in ["/a b", "CAPE", "Yes", "28", "-x 1", " hunter2 "].into_iter().enumerate() {
            form.fields[field].paste(text);
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
