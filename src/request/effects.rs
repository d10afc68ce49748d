//! What a request publishes, deletes or may repeat, and what deleted items cost to fetch again.

use super::{Request, shown};
use crate::quota::{Entitlements, Kind, Operation, price};
use crate::report::{Retention, StoredContent, StoredItem};
use crate::text::count;
use jiff::Timestamp;

impl Request {
    /// Names the request's irreversible or repeatable effects, which need a confirmation.
    pub fn warning(&self) -> Option<String> {
        let own = match self {
            Self::PrivateDelete { file, only_from_storage: false } => Some(format!(
                "The service deletes the file {} with all its reports and scans for ever, for the whole group. \
                 The stored reports stay.",
                file.short()
            )),
            Self::PrivateDelete { file, .. } => Some(format!(
                "The service deletes the file {} for ever: it cannot be scanned or fetched again. Its reports stay until \
                 they expire.",
                file.short()
            )),
            Self::PrivateScan { submission, .. } => submission.sent.map(|sent| {
                format!(
                    "{} may have been sent for a scan on {} already, without a response: it may have arrived, and been charged.",
                    submission.name(),
                    crate::text::moment(sent)
                )
            }),
            _ => None,
        };
        let all: Vec<_> = self.publishes().into_iter().chain(own).collect();
        (!all.is_empty()).then(|| all.join(" "))
    }

    /// Returns what the request publishes outside of the private corpus, if anything.
    pub fn publishes(&self) -> Option<String> {
        match self {
            Self::V2Scan { path, .. } => Some(format!(
                "{} becomes part of the public corpus: every customer of the service can find and download it, for ever.",
                shown(path)
            )),
            Self::Rescan { .. } => Some(
                "The public file is analysed again: its public reports change, and other customers can see the request."
                    .to_owned(),
            ),
            Self::PrivateScan { submission, .. } if submission.options.has_internet() => Some(format!(
                "{} runs with access to the internet: the hosts that it contacts can see that it runs.",
                submission.name()
            )),
            _ => None,
        }
    }
}

/// Returns the cost of fetching these items again: reports are fetched one by one.
pub fn again(things: &[StoredItem], entitlements: &Entitlements, now: Timestamp) -> String {
    let (imported, fetched): (Vec<_>, Vec<_>) =
        things.iter().filter(|thing| thing.report().is_some()).partition(|thing| thing.is_import());
    let has_others = things.iter().any(|thing| matches!(thing.what, StoredContent::Response { .. }));
    let fetching = (!fetched.is_empty()).then(|| fetching(&fetched, entitlements, now));
    let asking = has_others.then(|| "Other responses cost their price again.".to_owned());
    let importing = "Imported reports can be imported again without a request.".to_owned();
    let words = fetching.into_iter().chain(asking).chain((!imported.is_empty()).then_some(importing));
    words.collect::<Vec<_>>().join(" ")
}

fn fetching(reports: &[&StoredItem], entitlements: &Entitlements, now: Timestamp) -> String {
    if reports.iter().all(|thing| matches!(thing.retention(now), Some(Retention::DeletedBy(_)))) {
        return "The service has deleted all of it: it cannot be fetched again.".to_owned();
    }
    let each = price(&Operation::once(Kind::PrivateBehaviour), entitlements).verdict.units.max.unwrap_or(1);
    // One list may return several of them.
    let most = if reports.len() > 1 { "at most " } else { "" };
    let requests = count(each.saturating_mul(reports.len() as u64), "request");
    format!("To fetch again: {most}{requests}, if the service still has it.")
}
