//! Messages to the state machine by source, and its effects for the runtime by subject: all data.

use crate::app::Key;
use crate::app::export_form::{ClipboardCopy, SaveError, SaveJob};
use crate::app::find::controller::SearchEnd;
use crate::app::find::{HitGroup, SearchProgress};
use crate::app::overlays::findings::FindingTotals;
use crate::app::overlays::indicators::MergedIndicators;
use crate::app::overlays::{FindingRow, ReportToEvaluate};
use crate::app::panes::MouseInput;
use crate::app::panes::facts::ProcessRef;
use crate::app::prevalence::{ValueEvent, ValueJob};
use crate::app::spending::counters::LedgerPage;
use crate::export::ExportSource;
use crate::quota::{
    Balances, CallCost, Entitlements, GroupBudget, Settlement, SpentUnits, TeamOverride, Unit, Uploads, Usage,
};
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
    Analysis, Cancel, Deletion, GroupPage, ImportOrigin, PendingScan, RecentFile, Report, RowSet, StoredItem,
};
use crate::request::{GroupList, Quote, Request, UploadAddress};
use crate::text::Untrusted;
use crate::triage::TriagedFile;
use jiff::Timestamp;
use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// An event that the loop hands to the model.
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

/// Columns and rows of the terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Size {
    pub width: u16,
    pub height: u16,
}

/// The size below which only the key that quits works.
pub const SMALLEST: Size = Size { width: 40, height: 10 };

/// The size from which a third column of panes fits.
const LARGE_SIZE: Size = Size { width: 180, height: 45 };

impl Size {
    pub fn is_enough(self) -> bool {
        self.width >= SMALLEST.width && self.height >= SMALLEST.height
    }

    pub(crate) fn is_large(self) -> bool {
        self.width >= LARGE_SIZE.width && self.height >= LARGE_SIZE.height
    }
}

#[derive(Debug)]
pub enum TerminalEvent {
    /// A key whose price was on the screen.
    Key(Key),
    /// A key with the last frame whose drawing had begun when the key was read.
    KeyInput(Key, u64),
    Mouse(MouseInput),
    Paste(String),
    /// A frame was drawn; frames count from 1.
    FrameDrawn(u64),
    Resize(Size),
    /// The system asks the program to stop (SIGTSTP).
    Suspend,
    /// The program continues after a stop (SIGCONT).
    Resume,
    /// The system asks the program to end once paid responses are stored; repeats count as one.
    Quit,
    QuitNow,
}

/// Progress and results of calls to the service.
#[derive(Debug)]
pub enum ServiceEvent {
    /// The received bytes of a response, and its announced length.
    Progress(Request, u64, Option<u64>),
    /// The first bytes of a report have arrived: the body grows as the others arrive.
    ReportBegun(Request, Body),
    Ended(Request, Result<Response, Failure>),
    /// Units spent by this run; also by all runs of this day under a daily limit.
    Spent(BTreeMap<Unit, SpentUnits>, Option<SpentUnits>),
    /// Whether the service refused a paid call as over quota, whatever its counters show.
    QuotaExhausted(bool),
    /// The service refused a paid call until this moment (Retry-After).
    RateLimitedUntil(Timestamp),
    /// What the team has paid for: who, and when.
    Shared(Vec<(Request, String)>),
    /// What the group may spend, as its database has it now.
    GroupBudgets(Vec<GroupBudget>),
    Costs(Vec<CallCost>),
}

/// A response of the service, parsed.
#[derive(Debug)]
pub enum Response {
    Report(LoadedReport),
    /// A page, when it was received, and why it could not be stored, if so.
    Page(Page, Timestamp, Option<String>),
    /// A page of a list of the group, and when it was received.
    Group(GroupPage, Timestamp),
    Balances(Balances),
    Usage(Usage),
    Entitlements(Entitlements),
    /// When an artifact was received, and its length in bytes.
    Artifact(Timestamp, u64),
    UploadUrl(UploadAddress),
    Scan(Identifier),
    /// The progress of a scan; `None` if the service has no scan.
    Progress(Option<Analysis>),
    Deleted,
    /// Any other response as a tree, and when it was received.
    Tree(Timestamp, Vec<Line>),
}

/// Results of work on the store.
#[derive(Debug)]
pub enum StoreEvent {
    RecentFiles(Vec<RecentFile>),
    /// A file, and its scan until the user has seen the end.
    FileLoaded(Sha256, LoadedFile, Option<PendingScan>),
    CompareFileLoaded(Sha256, LoadedFile),
    /// A large stored report is fully loaded.
    ReportRead(Identifier, Option<Untrusted>),
    /// When the response was stored, and the hashes of a batch without a stored response.
    Checked(Request, Option<Timestamp>, Option<Vec<FileHash>>),
    /// The store wrote or refused a note or a deletion.
    WriteFinished,
    Notes(Vec<Note>),
    /// The store refused a note as another program wrote one; an empty text means a deletion.
    NoteConflict(Note),
    Ledger(LedgerPage),
    Inventory(Vec<StoredItem>),
    /// The stored pages of a list of the group, and the number of stored reports by file.
    Group(GroupList, Vec<(Timestamp, GroupPage)>, HashMap<Sha256, u64>),
    /// The outcome of a deletion, and what is stored now.
    Deleted(String, Vec<StoredItem>),
    Uploads(Uploads),
    Values(ValueEvent),
}

/// Results of reading, evaluating and comparing reports.
#[derive(Debug)]
pub enum ReportEvent {
    Indexed(JobNumber, Batch),
    Evaluated(JobNumber, Marks),
    Indicators(JobNumber, Result<MergedIndicators, String>),
    RulesLoaded(Arc<Rules>, Vec<String>),
    AllEvaluated(JobNumber, (Vec<FindingRow>, FindingTotals)),
    Compared(JobNumber, Arc<Matrix>),
    /// Files of a triage, and how many it covers.
    Triaged(JobNumber, Vec<TriagedFile>, usize),
    /// All reports of a document that was shown while it was read.
    DocumentRead(DocumentReports, String),
}

/// Hits of running searches, batch by batch.
#[derive(Debug)]
pub enum SearchEvent {
    Rows(JobNumber, RowSet, SearchEnd),
    Hits(JobNumber, Vec<HitGroup>, SearchProgress, SearchEnd),
    ComparisonFiltered(JobNumber, Vec<u32>),
}

/// Results of work on files of this machine and the clipboard.
#[derive(Debug)]
pub enum FileEvent {
    /// A file's hash and size in bytes, and when an earlier upload got no response.
    Inspected(PathBuf, Result<(Sha256, u64), String>, Option<Timestamp>, Option<String>),
    HashesCounted(PathBuf, Result<Hashes, String>),
    Copied(String, Result<String, String>),
    Written(Result<String, SaveError>),
}

/// Work outside the loop, owned by the state that takes its results. Dropping it cancels the work.
#[derive(Debug)]
pub struct Job(Ticket);

/// The worker's side of a job.
#[derive(Debug, Clone)]
pub struct Ticket {
    pub number: JobNumber,
    pub cancel: Cancel,
}

/// Identifies the results of a job: the model drops those of a finished one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JobNumber(u64);

impl Default for Job {
    fn default() -> Self {
        static LAST: AtomicU64 = AtomicU64::new(0);
        Self(Ticket { number: JobNumber(LAST.fetch_add(1, Ordering::Relaxed)), cancel: Cancel::default() })
    }
}

impl Job {
    pub(crate) fn ticket(&self) -> Ticket {
        self.0.clone()
    }

    pub(crate) fn number(&self) -> JobNumber {
        self.0.number
    }

    pub(crate) fn is(&self, number: JobNumber) -> bool {
        self.0.number == number
    }
}

impl Drop for Job {
    fn drop(&mut self) {
        self.0.cancel.cancel();
    }
}

/// The stored data of a file.
#[derive(Debug)]
pub struct LoadedFile {
    pub pages: Vec<(Timestamp, Page)>,
    pub reports: Vec<(Identifier, LoadedReport)>,
    /// Reports that the service recently did not have, and when, as text.
    pub absent: Vec<(Identifier, String)>,
}

/// A report's bytes from the store, the service or a document.
#[derive(Debug, Clone, Default)]
pub struct LoadedReport {
    pub received: Timestamp,
    pub body: Body,
    /// Why it could not be stored, if so.
    pub unkept: Option<String>,
    pub verdict: Option<Untrusted>,
    pub imported: Option<ImportOrigin>,
    /// Whether it is a document without behaviour data.
    pub is_other_kind: bool,
}

impl LoadedReport {
    /// Parses the verdict, too slow for the loop if large; a partial body gets its verdict later.
    pub fn new(received: Timestamp, body: Body, unkept: Option<String>) -> Self {
        let report = body.is_whole().then(|| Report::open(&body));
        let verdict = report.as_ref().and_then(|report| ReportSummary::of(report).label());
        let is_other_kind = report.is_some_and(|report| report.is_of_another_kind());
        Self { received, body, unkept, verdict, imported: None, is_other_kind }
    }
}

/// The reports of a document, each with its own identifier.
pub type DocumentReports = Vec<(Option<Identifier>, LoadedReport)>;

/// A failed action: what failed, what it cost, and what to do.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Failure {
    pub what: String,
    /// The cost of the call, if one was sent.
    pub cost: Option<Settlement>,
    pub advice: String,
    /// Whether the service may have acted on the request.
    pub may_have_succeeded: bool,
    /// Whether the service does not have what was requested.
    pub is_not_found: bool,
    /// Whether the file to upload has changed since it was inspected.
    pub is_of_file: bool,
    /// Whether nothing was sent because another program has the same request in flight.
    pub is_elsewhere: bool,
    /// What the user may permit so that it is sent, and to which source.
    pub override_with: Option<(TeamOverride, ResponseSource)>,
}

impl Failure {
    pub fn new(what: String) -> Self {
        Self { what, ..Self::default() }
    }

    /// The failure, its cost, and what to do next.
    pub fn sentences(&self) -> impl Iterator<Item = String> {
        let cost = self.cost.map(|cost| cost.to_string()).unwrap_or_default();
        [self.what.clone(), cost, self.advice.clone()].into_iter().filter(|sentence| !sentence.is_empty())
    }

    pub fn label(&self) -> String {
        self.sentences().collect::<Vec<_>>().join(" ")
    }
}

/// The permitted sources of a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResponseSource {
    /// The store alone, since the screen showed a price of 0.
    Stored,
    /// The store or that of the team, since the screen showed a price of 0.
    Team,
    StoredOrService,
    /// The service, whatever is stored.
    Service,
}

/// An action that the model requests from the runtime.
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

/// Work that may call the service, through the gateway.
#[derive(Debug)]
pub enum ServiceCall {
    /// Fetches a response at the price on the screen.
    Send { quote: Box<Quote>, source: ResponseSource },
    /// Stops waiting for a response; the ledger counts its call as lost.
    Cancel(Request),
    /// Permits calls that the team's rules forbid.
    Permit(TeamOverride),
    /// Sums what calls cost this month, by the ledger of the team or of this machine.
    ReadCosts,
    /// Asks which of these the team has paid for, and for its notes on these reports.
    FindShared(Vec<Request>, Vec<Identifier>),
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
    /// Writes a note over the text that the user saw.
    WriteNote(Note, Option<Untrusted>),
    /// Deletes a note unless it has changed.
    DeleteNote(Note),
    LoadInventory,
    LoadGroup(GroupList),
    /// Deletes what the user confirmed unless it has changed.
    Delete(Deletion),
    ReadLedger,
    ReadUploads,
    Values(ValueJob),
}

impl StoreJob {
    /// Returns whether it writes lasting data, and so ends in [`super::StoreEvent::WriteFinished`].
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
    /// Ranks files, or all stored ones, in a list of at least this length by what is stored.
    Triage(Ticket, Option<Vec<Sha256>>, usize, RulesOrFile),
    /// Parses a document that is shown while it is read.
    CheckDocument(Body, Timestamp),
    /// Compares reports (`None` for one not stored), then adds techniques that rules find.
    Compare(Ticket, Vec<Option<Body>>, RulesOrFile),
}

/// The rules, or the path of the user's file before it is read.
pub type RulesOrFile = Result<Arc<Rules>, Option<PathBuf>>;

#[derive(Debug)]
pub enum SearchJob {
    Filter(Ticket, Report, Arc<Pattern>, SearchScope),
    /// Searches all panes; a process reference restricts numbers to those of that process.
    Panes(Ticket, Report, Arc<Pattern>, Option<ProcessRef>),
    Stored(Ticket, Arc<Pattern>),
    /// The columns whose names match too are bits.
    Comparison(Ticket, Arc<Matrix>, String, u64),
}

/// Work on files of this machine and on the clipboard.
#[derive(Debug)]
pub enum FileJob {
    Inspect(PathBuf),
    CountHashes(PathBuf),
    Write { save: SaveJob, cancel: Cancel },
    Copy(ClipboardCopy),
}

/// A change of the terminal's state.
#[derive(Debug)]
pub enum TerminalAction {
    Demo,
    Suspend,
    Resume,
    Quit,
}
