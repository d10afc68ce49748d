//! What the state machine asks of the runtime, as data: one enum for each subject.

use crate::app::Opening;
use crate::app::away::{Copied, Save};
use crate::app::find::Ticket;
use crate::app::message::carried_by;
use crate::app::over::ReportToEvaluate;
use crate::app::panes::facts::ProcessRef;
use crate::app::spending::Deletion;
use crate::report::body::Body;
use crate::report::compare::Matrix;
use crate::report::find::{Pattern, Scope};
use crate::report::identifier::Sha256;
use crate::report::note::Note;
use crate::report::rules::{Marks, Rules};
use crate::report::{PendingScan, Report};
use crate::request::{Quote, Request};
use crate::text::Untrusted;
use std::path::PathBuf;
use std::sync::Arc;

/// Where an answer may come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResponseSource {
    /// The store alone, since the screen showed a price of 0.
    Held,
    /// The store, or else the service.
    HeldOrService,
    /// The service, whatever is stored.
    Service,
}

/// Work for the runtime.
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

#[derive(Debug)]
pub enum ServiceCall {
    /// Gets a response at the price that was on the screen.
    Send { quote: Quote, source: ResponseSource },
    /// Stops waiting for a response; the ledger counts its call as lost.
    Cancel(Request),
}

#[derive(Debug)]
pub enum StoreJob {
    FindRecent,
    LoadFile(Sha256),
    LoadCompareFile(Sha256),
    /// Checks whether a response is stored.
    Check(Request),
    RecordFile(Sha256),
    /// Records a running scan for the next run of the program, or its end.
    RecordScan {
        file: Sha256,
        scan: Option<PendingScan>,
    },
    WriteNote {
        note: Note,
        /// The text of the note that this one replaces.
        known: Option<Untrusted>,
        /// Whether its report was stored, as far as the screen knows.
        was_held: bool,
    },
    /// Deletes a note unless it has changed.
    DeleteNote(Note),
    LoadInventory,
    /// Deletes what the user confirmed unless it has changed.
    Delete(Deletion),
    ReadLedger,
    ReadPriceRecord,
}

impl StoreJob {
    /// Whether it writes what must survive the end of the program; [`super::StoreEvent::WriteFinished`] answers it.
    pub fn is_write(&self) -> bool {
        matches!(self, Self::WriteNote { .. } | Self::DeleteNote(_) | Self::Delete(_))
    }
}

#[derive(Debug)]
pub enum ReportJob {
    Index {
        opening: Opening,
        body: Body,
    },
    StopIndexing,
    /// Applies the rules to a report.
    Evaluate {
        opening: Opening,
        report: Report,
        /// The rules, once they are loaded.
        rules: Option<Arc<Rules>>,
        /// The user's own rules, where none are loaded.
        own: Option<PathBuf>,
    },
    /// Applies the rules to every stored report of a file.
    EvaluateAll {
        number: u64,
        reports: Vec<ReportToEvaluate>,
        rules: Arc<Rules>,
    },
    FindIndicators {
        opening: Opening,
        report: Report,
        /// The file that ran, where it is known.
        sample: Option<Sha256>,
        rules: Option<Arc<Rules>>,
        marks: Option<Arc<Marks>>,
    },
    /// Compares reports; none means one that is not stored.
    Compare {
        number: u64,
        bodies: Vec<Option<Body>>,
    },
}

#[derive(Debug)]
pub enum SearchJob {
    /// Finds the rows of a report that match a pane's filter.
    Filter {
        ticket: Ticket,
        /// The report, as far as it is indexed.
        report: Report,
        pattern: Arc<Pattern>,
        scope: Scope,
    },
    /// Searches all panes of a report.
    Panes {
        ticket: Ticket,
        /// The report, as far as it is indexed.
        report: Report,
        pattern: Arc<Pattern>,
        /// The one process that is meant: a row with another process number is no hit.
        process: Option<ProcessRef>,
    },
    /// Searches every stored report.
    Stored {
        ticket: Ticket,
        pattern: Arc<Pattern>,
    },
    Comparison {
        number: u64,
        matrix: Arc<Matrix>,
        sought: String,
    },
}

#[derive(Debug)]
pub enum FileJob {
    /// Hashes a file that is to be submitted.
    Inspect(PathBuf),
    CountHashes(PathBuf),
    Write(Save),
    Copy(Copied),
}

#[derive(Debug)]
pub enum TerminalAction {
    /// Ends this run and starts the demo.
    Demo,
    Suspend,
    /// Takes the terminal over again and redraws all of it.
    Resume,
    Quit,
}

impl Effect {
    /// Whether it writes what must survive the end of the program.
    pub(super) fn writes(&self) -> bool {
        matches!(self, Self::Store(job) if job.is_write())
    }
}
