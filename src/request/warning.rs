//! Warnings before a request is sent: what it publishes, deletes or may repeat.

use super::{Request, shown};

impl Request {
    /// The irreversible or possibly repeated effects of the request, if any. They need a
    /// confirmation, whatever the price.
    pub fn warning(&self) -> Option<String> {
        let all: Vec<_> = [self.publishes(), self.destroys(), self.repeats()].into_iter().flatten().collect();
        (!all.is_empty()).then(|| all.join(" "))
    }

    /// The effect that the request may repeat, if any.
    fn repeats(&self) -> Option<String> {
        let Self::PrivateScan { submission, .. } = self else { return None };
        let when = crate::text::moment(submission.sent?);
        Some(format!(
            "{} may have been sent for a scan on {when} already, and no answer came: it may have arrived, and been charged.",
            submission.name()
        ))
    }

    /// What the request deletes, if anything.
    fn destroys(&self) -> Option<String> {
        match self {
            Self::PrivateDelete { file, only_from_storage: false } => Some(format!(
                "The service deletes the file {} with all its reports and scans, for everybody in the group and for ever. \
                 What is held on this machine stays.",
                file.short()
            )),
            Self::PrivateDelete { file, .. } => Some(format!(
                "The service deletes the file {} for ever: nobody can scan it again or fetch it. Its reports stay until \
                 they expire.",
                file.short()
            )),
            _ => None,
        }
    }

    /// What the request publishes outside of the private corpus, if anything.
    pub fn publishes(&self) -> Option<String> {
        match self {
            Self::V2Scan { path, .. } => Some(format!(
                "{} becomes part of the public corpus: every customer of the service can find and download it, for ever.",
                shown(path)
            )),
            Self::Rescan { .. } => Some(
                "The public file is analysed again: its public reports change, and everybody who looks sees that somebody asked."
                    .to_owned(),
            ),
            Self::PrivateScan { submission, .. } if submission.options.internet == Some(true) => Some(format!(
                "{} runs with access to the internet: whoever it talks to can see that somebody runs it.",
                submission.name()
            )),
            _ => None,
        }
    }
}
