//! Submitting a file for a private scan: the form, its options and its price.

pub mod watch;

use crate::app::overlays::{FormSource, InputForm};
use crate::app::spending::{Calls, InFlightCall};
use crate::app::{Effect, Failure};
use crate::export::file;
use crate::quota::{Entitlements, Plan};
use crate::report::identifier::Sha256;
use crate::request::{Request, ScanOption, ScanOptions, Submission, UploadLimit};
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

pub static FIELDS: [ScanField; 11] = [
    ScanField { label: "File", hint: "path of the file", option: None },
    field("Sandbox", "its name; empty for all that the service likes", ScanOption::Sandbox),
    field("Internet", "yes or no; empty for the service's default", ScanOption::Internet),
    field("Keep days", "1 to 28; empty for the service's default", ScanOption::Retention),
    field("Command line", "what it is run with", ScanOption::CommandLine),
    field("Password", "what it is encrypted with; never shown, stored or logged", ScanOption::Password),
    field("Region", "where it is stored: US, CA, EU or GB; empty for the group's", ScanOption::Region),
    field("Intercept TLS", "yes or no; empty for the service's default", ScanOption::InterceptTls),
    field("Locale", "such as EN_US; empty for the service's default", ScanOption::Locale),
    field("Interaction", "60 to 1800 seconds; empty for the service's default", ScanOption::InteractionTimeout),
    field("No sandbox", "yes to run it in none; empty for no", ScanOption::DisableSandbox),
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
            field.option.map_or(Ok(()), |option| options.set(option, typed))?;
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
    use crate::request::Password;

    #[test]
    fn what_is_typed_becomes_what_the_sandboxes_are_told() {
        let mut form = SubmitForm::empty();
        for (field, text) in ["/a b", "CAPE", "Yes", "28", "-x 1", " hunter2 "].into_iter().enumerate() {
            form.fields[field].paste(text);
        }
        let options = form.options().unwrap();
        let mut expected = ScanOptions::default().with_password(Password::new(" hunter2 ".to_owned()));
        let set = [("CAPE", ScanOption::Sandbox), ("true", ScanOption::Internet), ("28", ScanOption::Retention)];
        set.into_iter()
            .chain([("-x 1", ScanOption::CommandLine)])
            .for_each(|(text, option)| expected.set(option, text).unwrap());
        assert_eq!(options, expected);
        assert!(!format!("{form:?}").contains("hunter2"));
        assert_eq!(form.path(), PathBuf::from("/a b"));
        form.fields[3].text = "29".to_owned();
        assert!(form.options().unwrap_err().contains("1 to 28"));
        form.fields[2].text = "perhaps".to_owned();
        assert!(form.options().is_err() && form.submission().is_none());
        form.fields[2].text.clear();
        form.fields[3].text.clear();
        for (field, text) in (6..).zip(["eu", "no", "ES_ES", "59", ""]) {
            form.fields[field].paste(text);
        }
        assert!(form.options().unwrap_err().contains("60 to 1800"));
        form.fields[9].text = "60".to_owned();
        assert!(form.options().is_ok());
        form.fields[6].text = "DE".to_owned();
        assert_eq!(form.options().unwrap_err(), "the regions are US, CA, EU, GB");
    }
}
