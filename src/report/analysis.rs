//! The progress of a private scan, by sandbox.

use super::identifier::{Identifier, Sha256};
use super::json::{Kind, Raw};
use crate::text::Untrusted;
use jiff::{SignedDuration, Timestamp};

const MAX_SANDBOXES: usize = 200;

/// A private scan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Analysis {
    pub identifier: Identifier,
    pub progress: Progress,
    pub sandboxes: Vec<SandboxRun>,
    pub file: Option<Sha256>,
    pub began: Option<Timestamp>,
}

/// A scan that this program started or polled, and whose end it has not seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PendingScan {
    /// Its identifier at the service, if known.
    pub identifier: Option<Identifier>,
    /// When it was first seen.
    pub since: Timestamp,
}

impl PendingScan {
    /// How long a scan counts as running. Later it has failed, or its file has expired.
    pub(crate) const LONGEST: SignedDuration = SignedDuration::from_hours(72);

    pub fn is_pending(&self, now: Timestamp) -> bool {
        now.duration_since(self.since) < Self::LONGEST
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SandboxRun {
    /// The sandbox, or the identifier of its report.
    pub(crate) name: Untrusted,
    pub(crate) progress: Progress,
    /// The finished part in per cent, if the service reports it; at most 100.
    pub(crate) percent: Option<u8>,
    pub(crate) message: Option<Untrusted>,
}

/// The status of a scan or of a run.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Progress {
    Queued,
    Running,
    Done,
    /// A status that is not listed here.
    Other(Untrusted),
}

impl Progress {
    pub(super) fn of(text: Untrusted) -> Self {
        match text.as_bytes() {
            b"queued" | b"enqueueing" => Self::Queued,
            b"in-progress" | b"in_progress" | b"running" => Self::Running,
            b"completed" | b"finished" => Self::Done,
            _ => Self::Other(text),
        }
    }

    pub fn label(&self) -> String {
        match self {
            Self::Queued => "queued".to_owned(),
            Self::Running => "running".to_owned(),
            Self::Done => "done".to_owned(),
            Self::Other(text) => text.visible_cut(40).to_string(),
        }
    }
}

impl SandboxRun {
    pub fn sandbox(&self) -> Untrusted {
        Identifier::new(self.name.clone()).map_or_else(|| self.name.clone(), |name| name.parts().sandbox)
    }

    pub fn label(&self) -> String {
        let percent = self.percent.map(|percent| format!(" {percent} %")).filter(|_| self.progress != Progress::Done);
        let message = self.message.as_ref().map(|message| format!(", {}", message.visible_cut(60)));
        format!("{}{}{}", self.progress.label(), percent.unwrap_or_default(), message.unwrap_or_default())
    }
}

impl Analysis {
    /// Parses a response about one scan, or the first of several.
    pub fn of(response: &[u8]) -> Option<Self> {
        let response = Raw::new(response);
        let data = response.member("data")?;
        let one = if data.kind() == Kind::Array { data.elements().next()? } else { data };
        let identifier = identifier(one)?;
        let attributes = one.member("attributes")?;
        let progress = Progress::of(attributes.member("status")?.text());
        let sandboxes = attributes.member("sandbox_status").map(runs).unwrap_or_default();
        let hash = |of: Raw<'_>| Sha256::parse(&String::from_utf8_lossy(of.member("sha256")?.text().as_bytes()));
        let file = response.member("meta").and_then(|meta| meta.member("file_info")).and_then(hash);
        let began = attributes.member("date").and_then(Raw::integer);
        let began = began.and_then(|second| Timestamp::from_second(second).ok());
        Some(Self { identifier, progress, sandboxes, file, began })
    }

    pub fn is_done(&self) -> bool {
        self.progress == Progress::Done
    }

    pub fn done(&self) -> usize {
        self.sandboxes.iter().filter(|run| run.progress == Progress::Done).count()
    }
}

/// Parses the runs: an object by sandbox, or a list.
fn runs(status: Raw<'_>) -> Vec<SandboxRun> {
    let named = |status: Raw<'_>| {
        let name = ["sandbox_name", "name", "id"].into_iter().find_map(|name| status.member(name));
        run(name.map(Raw::text).unwrap_or_default(), status)
    };
    match status.kind() {
        Kind::Array => status.elements().take(MAX_SANDBOXES).filter_map(named).collect(),
        _ => status.members().take(MAX_SANDBOXES).filter_map(|(name, status)| run(name, status)).collect(),
    }
}

fn run(name: Untrusted, status: Raw<'_>) -> Option<SandboxRun> {
    let percent = status.member("in_progress_percent").and_then(Raw::integer);
    Some(SandboxRun {
        name,
        progress: Progress::of(status.member("status")?.text()),
        percent: percent.map(|percent| u8::try_from(percent.clamp(0, 100)).unwrap_or(100)),
        message: status.member("message").map(Raw::text).filter(|text| !text.is_empty()),
    })
}

fn identifier(one: Raw<'_>) -> Option<Identifier> {
    Identifier::new(one.member("id").filter(|id| id.kind() == Kind::Text)?.text())
}

/// Returns the scan in a response to an upload.
pub fn submitted(response: &[u8]) -> Option<Identifier> {
    identifier(Raw::new(response).member("data")?)
}

pub fn upload_address(response: &[u8]) -> Option<Untrusted> {
    let data = Raw::new(response).member("data").filter(|data| data.kind() == Kind::Text)?;
    Some(data.text()).filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_sandbox_says_how_far_it_is() {
        let response =
            br#"{"data":{"id":"x-1","type":"private_analysis","attributes":{"status":"in-progress","sandbox_status":{
            "ff_C2AE-1":{"status":"in-progress","in_progress_percent":340,"message":"booting\u001b"},
            "Zenbox":{"status":"completed","in_progress_percent":100}}}}}"#;
        let analysis = Analysis::of(response).unwrap();
        let told: Vec<_> = analysis.sandboxes.iter().map(SandboxRun::label).collect();
        assert_eq!(told[1], "done");
        assert!(told[0].starts_with("running 100 %, booting") && !told[0].contains('\u{1b}'), "{told:?}");
        assert_eq!((analysis.done(), analysis.is_done()), (1, false));
    }

    #[test]
    fn the_status_words_of_a_sandbox_are_known() {
        let status = |word: &str| Progress::of(Untrusted::from(word)).label();
        assert_eq!(["enqueueing", "running", "finished"].map(status), ["queued", "running", "done"]);
        assert_eq!(status("unsupported file type"), "unsupported file type");
    }

    #[test]
    fn lists_of_sandboxes_and_of_scans_are_read_too() {
        let response = br#"{"data":[{"id":"x","attributes":{"status":"completed","sandbox_status":[
            {"sandbox_name":"CAPE","status":"paused"}]}},{"id":"y","attributes":{"status":"queued"}}]}"#;
        let analysis = Analysis::of(response).unwrap();
        assert!(analysis.is_done() && analysis.sandboxes[0].label() == "paused");
        assert_eq!(analysis.sandboxes[0].sandbox(), Untrusted::from("CAPE"));
    }
}
