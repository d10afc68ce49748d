//! What is held, on a screen of its own: every report with its size, its age and where it came from; and how it is deleted.

use super::message::Effect;
use super::model::{Model, Screen};
use super::overlay::Overlay;
use super::palette::{Confirm, Confirmed};
use super::panes::{Move, Scroll};
use crate::report::identifier::{Identifier, Sha256};
use crate::report::{Imported, Retention};
use crate::request::Request;
use crate::text::{Untrusted, bytes, count, thousands};
use jiff::{SignedDuration, Timestamp};

/// Seconds of a day.
const DAY: i64 = 86_400;

/// One thing that is held.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeldLine {
    /// The profile that it is held for.
    pub profile: String,
    /// What it is.
    pub what: HeldWhat,
    /// The file it is about, if that is known.
    pub file: Option<Sha256>,
    /// What the file is called, if anybody said so.
    pub name: Option<Untrusted>,
    /// When it came.
    pub received: Timestamp,
    /// How many versions are held.
    pub versions: u64,
    /// Bytes as received.
    pub bytes: u64,
    /// Bytes on disk.
    pub on_disk: u64,
    /// Where it came from, if not from the service.
    pub imported: Option<Imported>,
    /// How many notes there are on it.
    pub notes: u64,
}

/// What a thing is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HeldWhat {
    /// A behaviour report.
    Report(Identifier),
    /// Any other answer.
    Answer {
        /// Its number in the store.
        number: i64,
        /// What was asked.
        key: Untrusted,
        /// Whether it is of no use.
        is_set_aside: bool,
        /// Whether only a part of it is here.
        is_coming: bool,
        /// The report that it was kept beside, if it is an artefact.
        beside: Option<Identifier>,
    },
}

/// What is to be deleted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Purging {
    /// A report, in all its versions.
    Report {
        /// The profile that it is held for.
        profile: String,
        /// Its identifier.
        identifier: Identifier,
    },
    /// An answer, by its number in the store.
    Answer(i64),
    /// Everything of a file.
    File {
        /// The profile that it is held for.
        profile: String,
        /// The file.
        file: Sha256,
    },
    /// What came before a moment.
    Before(Timestamp),
    /// Everything.
    Everything,
}

/// The order of the lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Order {
    /// What came last first.
    #[default]
    Newest,
    /// What came first first.
    Oldest,
    /// The largest first.
    Largest,
    /// By file and sandbox.
    File,
    /// What the service still has first.
    Expiry,
}

impl Order {
    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Newest => "newest first",
            Self::Oldest => "oldest first",
            Self::Largest => "largest first",
            Self::File => "by file",
            Self::Expiry => "by expiry",
        }
    }

    fn next(self) -> Self {
        match self {
            Self::Newest => Self::Oldest,
            Self::Oldest => Self::Largest,
            Self::Largest => Self::File,
            Self::File => Self::Expiry,
            Self::Expiry => Self::Newest,
        }
    }
}

/// Everything that is held.
#[derive(Debug, Default)]
pub struct HeldScreen {
    /// The things, in order.
    pub lines: Vec<HeldLine>,
    /// In which order.
    pub order: Order,
    /// Cursor and window.
    pub scroll: Scroll,
}

impl HeldLine {
    /// Whether the service still has it; none for what is no report.
    #[must_use]
    pub fn retention(&self, now: Timestamp) -> Option<Retention> {
        match &self.what {
            HeldWhat::Report(identifier) => Some(Retention::of(identifier, now)),
            HeldWhat::Answer { .. } => None,
        }
    }

    /// What it is, to be made visible: the sandbox, or the question.
    #[must_use]
    pub fn title(&self) -> Untrusted {
        match &self.what {
            HeldWhat::Report(identifier) => identifier.parts().sandbox,
            HeldWhat::Answer { key, .. } => key.clone(),
        }
    }

    fn is_report(&self) -> bool {
        matches!(self.what, HeldWhat::Report(_))
    }
}

impl HeldScreen {
    /// Takes things in, in the order that was chosen.
    #[must_use]
    pub fn with(mut self, lines: Vec<HeldLine>, now: Timestamp) -> Self {
        self.lines = lines;
        self.sort(now);
        self
    }

    fn sort(&mut self, now: Timestamp) {
        let by_file = |line: &HeldLine| (line.file.clone(), line.title());
        match self.order {
            Order::Newest => self.lines.sort_by_key(|line| std::cmp::Reverse(line.received)),
            Order::Oldest => self.lines.sort_by_key(|line| line.received),
            Order::Largest => self.lines.sort_by_key(|line| std::cmp::Reverse(line.on_disk)),
            Order::File => self.lines.sort_by_key(by_file),
            Order::Expiry => self.lines.sort_by_key(|line| std::cmp::Reverse(line.retention(now))),
        }
    }

    /// The chosen thing.
    #[must_use]
    pub fn chosen(&self) -> Option<&HeldLine> {
        self.lines.get(self.scroll.cursor)
    }

    /// Moves; some rows stay for the heading and for what is said of the chosen thing.
    pub fn go(&mut self, movement: Move, height: usize) {
        self.scroll.go(movement, self.lines.len(), height.saturating_sub(ROWS_BESIDE).max(1));
    }

    /// What goes with a deletion.
    fn doomed<'a>(&'a self, what: &'a Purging) -> impl Iterator<Item = &'a HeldLine> {
        self.lines.iter().filter(move |line| match (what, &line.what) {
            (Purging::Everything, _) => true,
            (Purging::Before(moment), _) => line.received < *moment,
            (Purging::File { profile, file }, _) => line.profile == *profile && line.file.as_ref() == Some(file),
            (Purging::Report { profile, identifier }, HeldWhat::Report(found)) => {
                line.profile == *profile && found == identifier
            }
            (Purging::Report { profile, identifier }, HeldWhat::Answer { beside, .. }) => {
                line.profile == *profile && beside.as_ref() == Some(identifier)
            }
            (Purging::Answer(wanted), HeldWhat::Answer { number, .. }) => wanted == number,
            _ => false,
        })
    }
}

/// Rows of the held screen that are no lines: the heading, and what is said of the chosen one.
pub const ROWS_BESIDE: usize = 4;

impl Model {
    /// Takes in what is held: a new screen, or the one that is there already.
    pub(super) fn show_held(&mut self, lines: Vec<HeldLine>) -> Vec<Effect> {
        let (now, room) = (self.now, self.overlay_room());
        match &mut self.overlay {
            Some(Overlay::Held(held)) => *held = std::mem::take(held).with(lines, now),
            _ => self.put_over(Overlay::Held(HeldScreen::default().with(lines, now))),
        }
        if let Some(overlay) = &mut self.overlay {
            overlay.go(Move::Up(0), room);
        }
        Vec::new()
    }

    pub(super) fn sort_held(&mut self) -> Vec<Effect> {
        let now = self.now;
        if let Some(Overlay::Held(held)) = &mut self.overlay {
            held.order = held.order.next();
            held.sort(now);
        }
        Vec::new()
    }

    /// The chosen thing of the held screen.
    #[must_use]
    pub fn chosen_held(&self) -> Option<&HeldLine> {
        match &self.overlay {
            Some(Overlay::Held(held)) => held.chosen(),
            _ => None,
        }
    }

    /// Opens the file of the chosen thing.
    pub(super) fn open_held(&mut self) -> Vec<Effect> {
        let Some(file) = self.chosen_held().and_then(|line| line.file.clone()) else { return Vec::new() };
        (self.overlay, self.behind) = (None, Vec::new());
        self.open_file(file)
    }

    /// Asks for a yes to delete the chosen thing.
    pub(super) fn delete_chosen(&mut self) -> Vec<Effect> {
        let what = self.chosen_held().map(|line| match &line.what {
            HeldWhat::Report(identifier) => {
                Purging::Report { profile: line.profile.clone(), identifier: identifier.clone() }
            }
            HeldWhat::Answer { number, .. } => Purging::Answer(*number),
        });
        what.map(|what| self.confirm_purge(what)).unwrap_or_default()
    }

    /// Asks for a yes to delete everything of the chosen thing's file.
    pub(super) fn delete_file(&mut self) -> Vec<Effect> {
        let line = self.chosen_held();
        let file = line.and_then(|line| Some((line.profile.clone(), line.file.clone()?)));
        file.map(|(profile, file)| self.confirm_purge(Purging::File { profile, file })).unwrap_or_default()
    }

    /// Asks for a yes to delete what is older than the days that are typed.
    pub(super) fn delete_old(&mut self) -> Vec<Effect> {
        let Some(Overlay::Age(typed)) = &self.overlay else { return Vec::new() };
        let Some(before) = typed.trim().parse::<i64>().ok().and_then(|days| before(self.now, days)) else {
            self.warn("A number of days, such as 30.");
            return Vec::new();
        };
        self.overlay = self.behind.pop();
        self.confirm_purge(Purging::Before(before))
    }

    /// Asks for a yes, and says what goes and what it would cost to have it again.
    pub(super) fn confirm_purge(&mut self, what: Purging) -> Vec<Effect> {
        let Some(Overlay::Held(held)) = &self.overlay else { return Vec::new() };
        let doomed: Vec<_> = held.doomed(&what).collect();
        if doomed.is_empty() {
            self.say("Nothing is held that is as old as that.");
            return Vec::new();
        }
        let why = self.purge_words(&doomed);
        self.put_over(Overlay::Confirm(Confirm { what: Confirmed::Purge(what), why }));
        Vec::new()
    }

    fn purge_words(&self, doomed: &[&HeldLine]) -> String {
        let reports: Vec<_> = doomed.iter().filter(|line| line.is_report()).collect();
        let sum = |of: fn(&HeldLine) -> u64| doomed.iter().map(|line| of(line)).fold(0, u64::saturating_add);
        let others = doomed.len() - reports.len();
        let many = |number: usize, one: &str| count(number as u64, one);
        let mut words = match (reports.as_slice(), others) {
            ([one], 0) => format!("the report by {}", one.title().visible_cut(40)),
            (several, 0) => many(several.len(), "report"),
            ([], others) => many(others, "answer"),
            (several, others) => format!("{} and {}", many(several.len(), "report"), many(others, "other answer")),
        };
        words += &format!(": {}, {} on disk", bytes(sum(|line| line.bytes)), bytes(sum(|line| line.on_disk)));
        match sum(|line| line.notes) {
            0 => {}
            notes => words += &format!(", with {}", count(notes, "note")),
        }
        format!("To be deleted: {words}. ") + &self.price_again(&reports.into_iter().copied().collect::<Vec<_>>())
    }

    /// What fetching reports again would cost, one by one.
    fn price_again(&self, reports: &[&HeldLine]) -> String {
        let price = |line: &&HeldLine| match &line.what {
            HeldWhat::Report(identifier) => {
                self.price(&Request::Behaviour { identifier: identifier.clone() }).units.max()
            }
            HeldWhat::Answer { .. } => None,
        };
        let units = reports.iter().filter_map(price).fold(0, u64::saturating_add);
        let is_gone = |line: &&&HeldLine| matches!(line.retention(self.now), Some(Retention::Gone(_)));
        let gone = reports.iter().filter(is_gone).count();
        match (reports.len(), gone) {
            (0, _) => "Asking the same again costs what it costs.".to_owned(),
            (all, gone) if all == gone => "The service has deleted all of it: it cannot be fetched again.".to_owned(),
            (_, 0) => format!("To fetch again: {}, if the service still has it.", count(units, "request")),
            (_, gone) => format!(
                "To fetch again: {}, if the service still has it; {} it has deleted for certain.",
                count(units, "request"),
                thousands(gone as u64)
            ),
        }
    }

    /// Deletes what a yes was given for.
    pub(super) fn purge(&mut self) -> Vec<Effect> {
        let Some(Overlay::Confirm(Confirm { what: Confirmed::Purge(what), .. })) = self.overlay.take() else {
            return Vec::new();
        };
        self.overlay = self.behind.pop();
        vec![Effect::Purge(what)]
    }

    /// Takes in that something was deleted. A file that is open is left: what it shows may be gone.
    pub(super) fn purged(&mut self, words: String, lines: Vec<HeldLine>) -> Vec<Effect> {
        if matches!(self.overlay, Some(Overlay::Held(_))) {
            self.show_held(lines);
        }
        self.say(words);
        if !self.is_document() && self.list.take().is_some() {
            (self.notes, self.batch) = (Default::default(), None);
            self.screen = Screen::Start;
        }
        vec![Effect::FindRecent]
    }
}

fn before(now: Timestamp, days: i64) -> Option<Timestamp> {
    let age = SignedDuration::from_secs(days.checked_mul(DAY).filter(|_| days >= 0)?);
    now.checked_sub(age).ok()
}
