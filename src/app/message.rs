//! What the state machine takes in, one enum for each source, and what it asks of the runtime, one enum for each subject: as data.

use crate::app::export_form::{ClipboardCopy, SaveError, SaveJob};
use crate::app::find::HitGroup;
use crate::app::find::finding::SearchEnd;
use crate::app::overlays::findings::FindingTotals;
use crate::app::overlays::indicators::MergedIndicators;
use crate::app::overlays::{FindingRow, ReportToEvaluate};
use crate::app::panes::facts::ProcessRef;
use crate::app::pointer::Pointer;
use crate::app::spending::ledger::LedgerPage;
use crate::app::{Key, Size};
use crate::export::ExportSource;
use crate::quota::{Balances, Entitlements, Settlement, SpentUnits, Unit, Uploads, Usage};
use crate::report::body::Body;
use crate::report::compare::Matrix;
use crate::report::find::{Pattern, SearchScope};
use crate::report::identifier::{FileHash, Hashes, Identifier, Sha256};
use crate::report::index::Batch;
use crate::report::note::Note;
use crate::report::page::{Page, ReportSummary};
use crate::report::rows::Line;
use crate::report::rules::{Marks, Rules};
use crate::report::{
    Analysis, Cancel, Deletion, DeletionTarget, ImportOrigin, PendingScan, RecentFile, Report, RowSet, StoredItem,
};
use crate::request::{Quote, Request, UploadAddress};
use crate::text::Untrusted;
use jiff::Timestamp;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// What the loop hands to the model.
#[derive(Debug)]
pub enum Message {
    Terminal(TerminalEvent),
    /// Time has passed while something is in flight.
    Tick,
    Service(ServiceEvent),
    Store(StoreEvent),
    Report(ReportEvent),
    Search(SearchEvent),
    File(FileEvent),
    Notice(String),
}

macro_rules! carried_by {
    ($whole:ident: $($variant:ident($part:ident)),+) => {
        $(impl From<$part> for $whole {
            fn from(part: $part) -> Self {
                Self::$variant(part)
            }
        })+
    };
}

carried_by! {
    Message: Terminal(TerminalEvent), Service(ServiceEvent), Store(StoreEvent), Report(ReportEvent), Search(SearchEvent),
    File(FileEvent)
}

/// Input of the terminal.
#[derive(Debug)]
pub enum TerminalEvent {
    /// A key whose price was on the screen.
    Key(Key),
    /// A key as the keyboard delivers it, with the last frame whose drawing had begun when it was read.
    KeyInput(Key, u64),
    Pointer(Pointer),
    Paste(String),
    /// A frame was drawn; frames count from 1.
    FrameDrawn(u64),
    Resize(Size),
    /// The system asks the program to stop (SIGTSTP).
    Suspend,
    /// The program continues after a stop (SIGCONT).
    Resume,
    /// The system asks the program to end once paid responses are stored; repeated signals count as one.
    Quit,
    QuitNow,
}

/// Progress and results of calls to the service.
#[derive(Debug)]
pub enum ServiceEvent {
    /// Bytes of a response that have come, of its announced length.
    Progress(Request, u64, Option<u64>),
    /// The first bytes of a report are here: the body takes in the others as they come.
    ReportBegun(Request, Body),
    Ended(Request, Result<Response, Failure>),
    /// What this run has spent, and all runs of this day where that is limited.
    Spent(BTreeMap<Unit, SpentUnits>, Option<SpentUnits>),
    /// Whether the service answered a paid call with "quota exceeded", whatever its counters say.
    QuotaExhausted(bool),
    /// The service refused a paid call until this moment (Retry-After).
    RateLimitedUntil(Timestamp),
}

/// A response of the service, parsed.
#[derive(Debug)]
pub enum Response {
    Report(LoadedReport),
    /// A page, when it was received, and why it could not be stored, if so.
    Page(Page, Timestamp, Option<String>),
    Balances(Balances),
    Usage(Usage),
    Entitlements(Entitlements),
    /// When an artifact was received, and its length in bytes.
    Artifact(Timestamp, u64),
    UploadUrl(UploadAddress),
    Scan(Identifier),
    /// The progress of a scan; none where the service knows no scan.
    Progress(Option<Analysis>),
    Deleted,
    /// Any other response as a tree, and when it was received.
    Tree(Timestamp, Vec<Line>),
}

#[derive(Debug)]
pub enum StoreEvent {
    RecentFiles(Vec<RecentFile>),
    /// A file, and its scan while the user has not seen its end.
    FileLoaded(Sha256, LoadedFile, Option<PendingScan>),
    CompareFileLoaded(Sha256, LoadedFile),
    /// A large report of a file that was loaded is here to its end.
    ReportRead(Identifier, Option<Untrusted>),
    /// When the response to a request was stored; of several hashes those without one, where others have one.
    Checked(Request, Option<Timestamp>, Option<Vec<FileHash>>),
    /// A note or a deletion was written or refused.
    WriteFinished,
    Notes(Vec<Note>),
    /// A note was not written since another program wrote one; an empty text means a deletion.
    NoteConflict(Note),
    Ledger(LedgerPage),
    Inventory(Vec<StoredItem>),
    Deleted(String, Vec<StoredItem>),
    /// Nothing was deleted: the store differs from what the user confirmed.
    DeleteConflict(Vec<DeletionTarget>, Vec<StoredItem>),
    Uploads(Uploads),
}

#[derive(Debug)]
pub enum ReportEvent {
    Indexed(JobNumber, Batch),
    Evaluated(JobNumber, Marks),
    Indicators(JobNumber, Result<MergedIndicators, String>),
    RulesLoaded(Arc<Rules>, Vec<String>),
    AllEvaluated(JobNumber, (Vec<FindingRow>, FindingTotals)),
    Compared(JobNumber, Arc<Matrix>),
    /// What a document has that was shown before all of it was read.
    DocumentRead(DocumentReports, String),
}

#[derive(Debug)]
pub enum SearchEvent {
    Rows(JobNumber, RowSet, SearchEnd),
    /// Hits, with how many reports have been searched, and how many there are.
    Hits(JobNumber, Vec<HitGroup>, (u64, u64), SearchEnd),
    ComparisonFiltered(JobNumber, Vec<u32>),
}

#[derive(Debug)]
pub enum FileEvent {
    /// A file's hash and its size in bytes, and when it was uploaded before without a response.
    Inspected(PathBuf, Result<(Sha256, u64), String>, Option<Timestamp>, Option<String>),
    HashesCounted(PathBuf, Result<Hashes, String>),
    Copied(String, Result<String, String>),
    Written(Result<String, SaveError>),
}

/// Work beside the loop, owned by the place of its results. Dropped, it cancels the work.
#[derive(Debug)]
pub struct Job(Ticket);

/// Goes with a job to those who do it.
#[derive(Debug, Clone)]
pub struct Ticket {
    pub number: JobNumber,
    pub cancel: Cancel,
}

/// Comes with the results of a job: those of one that is over belong nowhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JobNumber(u64);

impl Default for Job {
    fn default() -> Self {
        static LAST: AtomicU64 = AtomicU64::new(0);
        let number = JobNumber(LAST.fetch_add(1, Ordering::Relaxed));
        Self(Ticket { number, cancel: Cancel::default() })
    }
}

impl Job {
    pub fn ticket(&self) -> Ticket {
        self.0.clone()
    }

    pub fn number(&self) -> JobNumber {
        self.0.number
    }

    pub fn is(&self, number: JobNumber) -> bool {
        self.0.number == number
    }
}

impl Drop for Job {
    fn drop(&mut self) {
        self.0.cancel.cancel();
    }
}

/// What is known of a file without a call.
#[derive(Debug)]
pub struct LoadedFile {
    pub pages: Vec<(Timestamp, Page)>,
    pub reports: Vec<(Identifier, LoadedReport)>,
    /// Reports that the service did not have a while ago, and in words when.
    pub absent: Vec<(Identifier, String)>,
}

/// A report's bytes, as the store, the service or a document gave them.
#[derive(Debug, Clone, Default)]
pub struct LoadedReport {
    pub received: Timestamp,
    pub body: Body,
    /// Why it could not be stored, if so.
    pub unkept: Option<String>,
    pub verdict: Option<Untrusted>,
    pub imported: Option<ImportOrigin>,
    /// Whether it is a document, and no behaviour report.
    pub is_other_kind: bool,
}

impl LoadedReport {
    /// Reads the verdict, which takes long for a large report: not in the loop. One that still comes has it later.
    pub fn new(received: Timestamp, body: Body, unkept: Option<String>) -> Self {
        let report = body.is_whole().then(|| Report::open(&body));
        let verdict = report.as_ref().and_then(|report| ReportSummary::of(report).label());
        let is_other_kind = report.is_some_and(|report| report.is_of_another_kind());
        Self { received, body, unkept, verdict, imported: None, is_other_kind }
    }
}

/// The reports of a document, with what each calls itself.
pub type DocumentReports = Vec<(Option<Identifier>, LoadedReport)>;

/// A failed action: what failed, what it cost, and what to do.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Failure {
    pub what: String,
    /// What the call cost, if there was one.
    pub cost: Option<Settlement>,
    pub advice: String,
    /// Whether the service may have done what it was asked all the same.
    pub may_have_succeeded: bool,
    /// Whether the file that was to be sent is not what it was when it was looked at.
    pub is_of_file: bool,
    /// Whether nothing was sent because another program asks the same now.
    pub is_elsewhere: bool,
}

impl Failure {
    pub fn new(what: String) -> Self {
        Self { what, ..Self::default() }
    }

    /// What happened, what it cost and what to do next.
    pub fn sentences(&self) -> impl Iterator<Item = String> {
        let cost = self.cost.map(|cost| cost.to_string()).unwrap_or_default();
        [self.what.clone(), cost, self.advice.clone()].into_iter().filter(|sentence| !sentence.is_empty())
    }

    pub fn label(&self) -> String {
        self.sentences().collect::<Vec<_>>().join(" ")
    }
}

/// Where a response may come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResponseSource {
    /// The store alone, since the screen showed a price of 0.
    Stored,
    /// The store, or else the service.
    StoredOrService,
    /// The service, whatever is stored.
    Service,
}

/// What the model asks the runtime to do.
#[derive(Debug)]
pub enum Effect {
    Service(ServiceCall),
    Store(StoreJob),
    Report(ReportJob),
    Search(SearchJob),
    File(FileJob),
    Terminal(TerminalAction),
}

carried_by! {
    Effect: Service(ServiceCall), Store(StoreJob), Report(ReportJob), Search(SearchJob), File(FileJob),
    Terminal(TerminalAction)
}

/// Work that may call the service, by way of the gateway.
#[derive(Debug)]
pub enum ServiceCall {
    /// Gets a response at the price that was on the screen.
    Send { quote: Box<Quote>, source: ResponseSource },
    /// Stops waiting for a response; the ledger counts its call as lost.
    Cancel(Request),
}

/// Work on the store; sends nothing.
#[derive(Debug)]
pub enum StoreJob {
    FindRecent,
    LoadFile(Sha256),
    LoadCompareFile(Sha256),
    Check(Request),
    RecordFile(Sha256),
    /// Records a running scan for the next run of the program, or its end.
    RecordScan(Sha256, Option<PendingScan>),
    /// Writes a note, in place of one with this known text.
    WriteNote(Note, Option<Untrusted>),
    /// Deletes a note unless it has changed.
    DeleteNote(Note),
    LoadInventory,
    /// Deletes what the user confirmed unless it has changed.
    Delete(Deletion),
    ReadLedger,
    ReadUploads,
}

impl StoreJob {
    /// Whether it writes what must survive the end of the program; [`super::StoreEvent::WriteFinished`] answers it.
    pub fn is_write(&self) -> bool {
        matches!(self, Self::WriteNote(..) | Self::DeleteNote(_) | Self::Delete(_))
    }
}

/// Work on the bytes of reports.
#[derive(Debug)]
pub enum ReportJob {
    Index(Ticket, Body),
    Evaluate(Ticket, Report, RulesOrFile),
    EvaluateAll(Ticket, Vec<ReportToEvaluate>, RulesOrFile),
    FindIndicators(Ticket, Vec<ExportSource>, RulesOrFile),
    /// Looks at a document that is shown while it is being read.
    CheckDocument(Body, Timestamp),
    /// Compares reports, then adds what the rules find; none means a report that is not stored.
    Compare(Ticket, Vec<Option<Body>>, RulesOrFile),
}

/// The rules, or before they are read the file of the user's own.
pub type RulesOrFile = Result<Arc<Rules>, Option<PathBuf>>;

#[derive(Debug)]
pub enum SearchJob {
    Filter(Ticket, Report, Arc<Pattern>, SearchScope),
    /// Searches all panes; a row with another number than that of the process that is meant is no hit.
    Panes(Ticket, Report, Arc<Pattern>, Option<ProcessRef>),
    Stored(Ticket, Arc<Pattern>),
    Comparison(Ticket, Arc<Matrix>, String),
}

/// Work on files of this machine and on the clipboard.
#[derive(Debug)]
pub enum FileJob {
    Inspect(PathBuf),
    CountHashes(PathBuf),
    Write { save: SaveJob, cancel: Cancel },
    Copy(ClipboardCopy),
}

/// A change of the program's hold on the terminal.
#[derive(Debug)]
pub enum TerminalAction {
    Demo,
    Suspend,
    Resume,
    Quit,
}

impl Effect {
    pub(super) fn writes(&self) -> bool {
        matches!(self, Self::Store(job) if job.is_write())
    }
}
