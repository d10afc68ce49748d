//! What the service charges for each operation, in requests of API quota (§8).

use super::Endpoint;
use super::corpus::Corpus;
use super::routes::{Operation, Subject};

/// The price of a call, known before it is answered.
pub(super) fn price(operation: &Operation, corpus: &Corpus) -> u64 {
    match (operation.endpoint, &operation.subject) {
        // A private scan is counted by itself, and not among the requests.
        (Endpoint::Scan, _) => 0,
        // §8.3: asking about quotas and usage is free.
        (Endpoint::Quotas | Endpoint::Usage, _) => 0,
        // §8.3: an analysis is free when its identifier is invalid.
        (Endpoint::Analysis, Subject::Id(id)) => u64::from(corpus.by_analysis(id).is_some()),
        // §8.2, §8.3: the upload of a file not yet known is free.
        (Endpoint::Upload | Endpoint::V2Scan, Subject::Upload(upload)) => {
            u64::from(corpus.find(&upload.sha256).is_some())
        }
        // §8.3: so are later look-ups of such a file and of its analyses, in v3 only.
        (Endpoint::File, Subject::Id(id)) => u64::from(!corpus.find(id).is_some_and(|file| file.was_new)),
        (Endpoint::FileAnalyses, Subject::Id(id)) => u64::from(!corpus.by_any_id(id).is_some_and(|file| file.was_new)),
        // §8.2: a report costs one request for each hash in the list, known or not.
        (Endpoint::V2Report, Subject::Hashes(hashes)) => hashes.len() as u64,
        // §8.2: submissions cost one request for each one returned.
        (Endpoint::V2Submissions, Subject::Hashes(hashes)) => {
            hashes.iter().filter_map(|hash| corpus.find(hash)).map(|file| file.submissions.len() as u64).sum()
        }
        // §8.1: as a rule, one call consumes one request; re-scans too (§8.3).
        _ => 1,
    }
}

/// How many private scans a call takes.
pub(super) fn scans(operation: &Operation) -> u64 {
    u64::from(operation.endpoint == Endpoint::Scan)
}
