//! What goes out of the state machine, as data: the runtime performs it.

use super::away::Copied;
use super::away::saving::Save;
use super::find::finder::Ticket;
use super::message::Opening;
use super::over::marks::Judged;
use super::panes::facts::Named;
use super::spending::confirm::Deletion;
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
pub enum Source {
    /// The store alone, as the screen said that it costs nothing.
    Held,
    /// The store, or else the service.
    HeldOrService,
    /// The service, though an answer may be held.
    Service,
}

/// Something to be done outside of the state machine.
#[derive(Debug)]
pub enum Effect {
    /// Count the hashes that a file lists.
    CountHashes(PathBuf),
    /// Look at a file that is to be submitted.
    LookAtFile(PathBuf),
    /// Find the files that were opened before.
    FindRecent,
    /// Find what is held of a file.
    Recall(Sha256),
    /// Note that a file was opened.
    NoteOpened(Sha256),
    /// Note that a scan of a file is under way, for the next run of the program; or that none is.
    NoteScan {
        file: Sha256,
        scan: Option<PendingScan>,
    },
    /// Find what is held of a file that is compared with.
    RecallBeside(Sha256),
    /// Compare reports; none where one is not held.
    Compare {
        number: u64,
        bodies: Vec<Option<Body>>,
    },
    /// Find the items of a comparison that hold something.
    Sift {
        number: u64,
        matrix: Arc<Matrix>,
        sought: String,
    },
    /// Apply the rules to a report.
    Judge {
        opening: Opening,
        report: Report,
        /// The rules, if they have been read.
        rules: Option<Arc<Rules>>,
        /// The user's own, where they have not.
        own: Option<PathBuf>,
    },
    /// Apply the rules to every report that is here.
    JudgeHeld {
        number: u64,
        reports: Vec<Judged>,
        rules: Arc<Rules>,
    },
    /// Get the answer to a question, at the price that was on the screen.
    Ask {
        quote: Quote,
        /// Where it may come from.
        source: Source,
    },
    /// Wait no longer for an answer; its call ends as one that was lost.
    GiveUp(Request),
    /// Find out whether an answer is held.
    LookUp(Request),
    Index {
        opening: Opening,
        body: Body,
    },
    /// Hand text to the clipboard.
    Copy(Copied),
    /// Find the indicators of a report.
    FindIndicators {
        opening: Opening,
        report: Report,
        /// The file that was run, where it is known.
        sample: Option<Sha256>,
        /// By what its rows are judged.
        rules: Option<Arc<Rules>>,
        /// How they were judged, where that is done.
        marks: Option<Arc<Marks>>,
    },
    Save(Save),
    /// Keep a note, in place of the one that is known to stand there.
    WriteNote {
        note: Note,
        /// The words of the one that its line began with.
        known: Option<Untrusted>,
        /// Whether the report that it is on was held, as far as the screen knows.
        was_held: bool,
    },
    /// Delete a note, if it stands there still.
    DeleteNote(Note),
    /// Find everything that is held.
    ReadHeld,
    /// Delete what is held, if that still is what the question named.
    Purge(Deletion),
    /// Index nothing: the report is not looked at any more.
    StopIndexing,
    /// Find the rows of a report that a filter lets through.
    Filter {
        ticket: Ticket,
        /// The report, as far as it is indexed.
        report: Report,
        pattern: Arc<Pattern>,
        scope: Scope,
    },
    /// Search all panes of a report.
    Search {
        ticket: Ticket,
        /// The report, as far as it is indexed.
        report: Report,
        pattern: Arc<Pattern>,
        /// The one process that is meant, where others have its name: what names another number is no hit.
        process: Option<Named>,
    },
    /// Search everything that is held.
    SearchHeld {
        ticket: Ticket,
        pattern: Arc<Pattern>,
    },
    ReadLedger,
    /// Read how often prices were confirmed.
    ReadRecord,
    Demo,
    /// Give the terminal to the shell until it gives it back.
    Aside,
    /// Take the terminal over once more, and draw all of it.
    TakeBack,
    Quit,
}

impl Effect {
    /// Whether it writes what must not be lost, though nothing was paid for it; [`super::Message::TakenIn`] says when that is done.
    pub(super) fn writes(&self) -> bool {
        matches!(self, Self::WriteNote { .. } | Self::DeleteNote(_) | Self::Purge(_))
    }
}
