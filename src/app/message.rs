//! What comes into the state machine, as data.

use super::away::saving::NotSaved;
use super::find::finder::HitGroup;
use super::find::finding::Ended;
use super::keys::key::Key;
use super::keys::pointer::Pointer;
use super::layout::Size;
use super::over::marks::Noted;
use super::spending::ledger::LedgerPage;
use crate::quota::{Balances, Entitlements, Spent, Unit, Usage};
use crate::report::body::Body;
use crate::report::compare::Matrix;
use crate::report::identifier::hashes::Hashes;
use crate::report::identifier::{Identifier, Sha256};
use crate::report::index::Batch;
use crate::report::note::Note;
use crate::report::page::Page;
use crate::report::rows::Line;
use crate::report::rules::{Marks, Rules};
use crate::report::{Analysis, Holding, Imported, Indicators, PendingScan, Purge, Recent, RowSet};
use crate::request::{Request, UploadAddress};
use crate::text::words_in_rows;
use jiff::Timestamp;
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

/// Something that happened.
#[derive(Debug)]
pub enum Message {
    /// A key was pressed by somebody who sees the screen as it is.
    Key(Key),
    Pointer(Pointer),
    /// A key was read from the keyboard.
    Typed {
        key: Key,
        /// The last frame that had been begun by then.
        frame: u64,
    },
    /// A frame has been drawn; they are counted from 1.
    Drawn(u64),
    Paste(String),
    /// The terminal has this size.
    Resize(Size),
    /// Time has passed while something is under way.
    Tick,
    /// Files that were opened before.
    Recent(Vec<Recent>),
    /// What is held of a file.
    Recalled {
        file: Sha256,
        /// Its list pages, from the first on.
        pages: Vec<HeldPage>,
        reports: Vec<HeldReport>,
        /// Its scan, if the end of one has not been seen.
        scan: Option<PendingScan>,
    },
    /// What is held of a file that is compared with.
    RecalledBeside {
        file: Sha256,
        /// Its list pages, from the first on.
        pages: Vec<HeldPage>,
        reports: Vec<HeldReport>,
    },
    /// Reports have been compared, or cannot be.
    Compared {
        number: u64,
        /// The matrix, or why there is none.
        result: Result<Arc<Matrix>, String>,
    },
    /// What was sought in a comparison has been found.
    Sifted {
        number: u64,
        sought: String,
        /// The items that hold it, by number.
        found: Vec<u32>,
    },
    /// The rules have been read.
    Ruled {
        rules: Arc<Rules>,
        /// What is wrong with the user's own.
        problems: Vec<String>,
    },
    /// The rules have been applied to a report.
    Judged {
        opening: Opening,
        /// What they make of it.
        marks: Marks,
    },
    /// The rules have been applied to every report that is here.
    JudgedHeld {
        number: u64,
        /// What they mark, the most severe first.
        found: Vec<Noted>,
    },
    /// The store has taken in a note or a deletion, or refused it.
    TakenIn,
    /// All notes of the profile.
    Notes(Vec<Note>),
    /// A note was not written, because another was meanwhile; one without words is one that was to be deleted.
    Unwritten(Note),
    /// A part of an answer has come.
    Received {
        request: Request,
        bytes: u64,
        /// Bytes in all, where they were announced.
        total: Option<u64>,
    },
    /// Rows of a report have come, the rest of which is still to come.
    Arriving {
        request: Request,
        /// What has come of the report.
        body: Body,
        /// The part of it in which these rows were found.
        read: Range<usize>,
        batch: Batch,
    },
    Answered {
        request: Request,
        /// The answer, or why there is none.
        result: Result<Here, Failure>,
    },
    /// A call has ended whose answer is looked at as a tree.
    Told {
        request: Request,
        /// When it came, and the answer taken apart; or why there is none.
        result: Result<(Timestamp, Vec<Line>), Failure>,
    },
    /// Usage details have come, or not.
    Used {
        request: Request,
        /// What was used, by day and endpoint; or why it is not known.
        result: Result<Usage, Failure>,
    },
    /// What the user has bought, or why it is not known.
    Entitled {
        request: Request,
        /// What the user object says.
        result: Result<Entitlements, Failure>,
    },
    /// Since when an answer is held, if it is.
    LookedUp {
        request: Request,
        since: Option<Timestamp>,
    },
    /// A call has ended that brought a list page.
    Listed {
        request: Request,
        /// The page, or why there is none.
        result: Result<HeldPage, Failure>,
    },
    /// A file that is to be submitted has been looked at.
    LookedAtFile {
        path: PathBuf,
        /// Its hash and its size in bytes, or why it cannot be read.
        result: Result<(Sha256, u64), String>,
        /// When it was sent before and no answer came, if so.
        sent: Option<Timestamp>,
        /// What is known of a scan of it.
        before: Option<String>,
    },
    /// The address has come that a large file is uploaded to, or not.
    Addressed(Result<UploadAddress, Failure>),
    /// A file has been taken in for a private scan, or not.
    Submitted {
        request: Request,
        /// What the service calls the scan; or why there is none.
        result: Result<Identifier, Failure>,
    },
    /// How far a scan is has come, or not.
    Looked {
        request: Request,
        /// How far it is; none where there is no scan. Or why that is not known.
        result: Result<Option<Analysis>, Failure>,
    },
    /// A file has been deleted at the service, or not.
    Deleted {
        request: Request,
        result: Result<(), Failure>,
    },
    /// The hashes that a file lists, or why they could not be counted.
    Counted {
        path: PathBuf,
        result: Result<Hashes, String>,
    },
    /// Quota details have come, or not.
    Balances(Result<Balances, String>),
    /// Something was copied, and how; or why not.
    Copied {
        what: String,
        result: Result<String, String>,
    },
    /// The indicators of a report were found.
    Indicators {
        opening: Opening,
        /// The indicators, or why there are none.
        result: Result<Indicators, String>,
    },
    /// A file was written, as these words say; or why not.
    Saved(Result<String, NotSaved>),
    /// A call has ended that brought an artefact.
    Fetched {
        request: Request,
        /// When it came, and its length in bytes; or why it did not.
        result: Result<(Timestamp, u64), Failure>,
    },
    /// What this session has spent of each unit.
    Spent(BTreeMap<Unit, Spent>),
    Ledger(LedgerPage),
    Held(Vec<Holding>),
    Purged {
        words: String,
        lines: Vec<Holding>,
    },
    /// Nothing was deleted: other things would have gone than the question named.
    PurgeDiffers {
        /// What was to be deleted.
        what: Purge,
        lines: Vec<Holding>,
    },
    /// How often the counters confirmed and contradicted the price of each operation.
    Record(BTreeMap<String, (u64, u64)>),
    /// More of a report has been indexed.
    Indexed {
        /// Which opening of a report.
        opening: Opening,
        batch: Batch,
    },
    /// A report cannot be read.
    Unreadable {
        /// Which opening of a report.
        opening: Opening,
        why: String,
    },
    /// A pane's filter has found rows.
    Found {
        search: u64,
        rows: RowSet,
        /// Whether this is all, and whether it could be read.
        ended: Ended,
    },
    /// A search has found hits.
    Hits {
        search: u64,
        groups: Vec<HitGroup>,
        /// Reports that have been searched, and reports in all.
        searched: (u64, u64),
        /// Whether this is all, and whether it could be read.
        ended: Ended,
    },
    /// Whether the service says of a call that costs something that the quota is spent, whatever its counters say.
    SaysSpent(bool),
    /// The service has refused a call that costs something, and said until when to wait.
    WaitUntil(Timestamp),
    /// Something of the runtime's that the analyst should know.
    Notice(String),
    /// The program is asked to make way for the shell.
    Aside,
    /// The program goes on after it was stopped.
    Resumed,
    /// The program is asked to end, when nothing is under way that must not be lost; several signs of the same end are one.
    Quit,
    /// The program is asked to end without waiting.
    QuitNow,
}

/// One opening of a report: two openings of the same report are never mixed up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Opening(pub u64);

/// A list page that is there.
#[derive(Debug, Clone)]
pub struct HeldPage {
    pub received: Timestamp,
    pub page: Page,
    /// Why it could not be kept, if so.
    pub unkept: Option<String>,
}

#[derive(Debug, Clone)]
pub struct HeldReport {
    pub identifier: Identifier,
    /// When it came, and its bytes.
    pub here: Here,
    /// Where it came from, if not from the service.
    pub imported: Option<Imported>,
}

/// Bytes that are there.
#[derive(Debug, Clone)]
pub struct Here {
    pub received: Timestamp,
    pub body: Body,
    /// Why they could not be kept, if so.
    pub unkept: Option<String>,
}

/// Why something asked for is not there.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Failure {
    pub what: String,
    pub cost: String,
    pub advice: String,
    /// Whether the service may have done what it was asked all the same.
    pub is_unsure: bool,
    /// Whether the file that was to be sent is not what it was when it was looked at.
    pub is_of_file: bool,
    /// Whether nothing was sent because another program asks the same now.
    pub is_elsewhere: bool,
}

impl Failure {
    /// What happened, where nothing was sent.
    pub fn new(what: String) -> Self {
        Self { what, ..Self::default() }
    }

    /// What happened, what it cost and what to do next, in one line.
    pub fn words(&self) -> String {
        let sentences = [&self.what, &self.cost, &self.advice].map(String::as_str);
        sentences.into_iter().filter(|words| !words.is_empty()).collect::<Vec<_>>().join(" ")
    }

    /// The rows that its words take in so many columns, each sentence on its own.
    pub fn rows(&self, columns: usize) -> usize {
        [&self.what, &self.cost, &self.advice].into_iter().map(|words| words_in_rows(words, columns).len()).sum()
    }
}
