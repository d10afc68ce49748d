//! What is held, thing by thing: how large it is, when it came and from where, and what of it is to be deleted; and the files that
//! were opened before.

pub mod origin;
pub mod retention;

use super::analysis::PendingScan;
use super::identifier::{Identifier, Sha256};
use crate::order;
use crate::text::{Untrusted, count, thousands};
use jiff::Timestamp;
use origin::Imported;
use retention::Retention;
use std::collections::{BTreeMap, BTreeSet};

/// A file that was opened before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recent {
    pub file: Sha256,
    /// What it is called, if anybody said so.
    pub name: Option<Untrusted>,
    /// When it was opened last.
    pub opened: Timestamp,
    /// How many of its reports are held.
    pub reports: u64,
    /// How many notes there are on them.
    pub notes: u64,
    /// Its scan, if the end of one has not been seen.
    pub scan: Option<PendingScan>,
}

/// A thing that is held.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Holding {
    /// The profile that it is held for.
    pub profile: String,
    pub what: Held,
    /// The file it is about, if that is known.
    pub file: Option<Sha256>,
    /// What the file is called, if anybody said so.
    pub name: Option<Untrusted>,
    /// When it came; of several versions the newest.
    pub received: Timestamp,
    /// Its versions, as they were kept: a report that was fetched again keeps the one before. None of what is only written about.
    pub versions: Vec<Version>,
    pub bytes: u64,
    /// Bytes in the store, compressed; a report that came with a list has its share of the list's.
    pub on_disk: u64,
    /// Where the newest came from, if not from the service. What was imported stands for every profile, and is another thing than
    /// what a profile fetched of the same report.
    pub imported: Option<Imported>,
    /// How many notes there are on it; where its profile both fetched and imported it, they are counted with what was fetched.
    pub notes: u64,
    /// What hangs on it of profiles that hold nothing of it themselves, by their names; it stays when this goes.
    pub others: BTreeMap<String, Others>,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version {
    pub received: Timestamp,
    /// The file that it came as a report of: an odd identifier may be listed under several.
    pub file: Option<Sha256>,
    pub bytes: u64,
    /// Bytes in the store, compressed.
    pub on_disk: u64,
}

/// What other profiles have of a report that was imported.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Others {
    pub notes: u64,
    pub artefacts: u64,
}

impl Others {
    /// What stays of it, as a sentence; none where there is nothing.
    pub fn words(self) -> Option<String> {
        let each = [(self.notes, "note"), (self.artefacts, "artefact")];
        let each: Vec<_> = each.iter().filter(|(n, _)| *n > 0).map(|(n, what)| count(*n, what)).collect();
        (!each.is_empty()).then(|| format!("Of other profiles stays what they wrote or fetched: {}.", each.join(", ")))
    }
}

/// Whose things are, in words, such as `of profile lab`, or `of 2 profiles (lab 4, other 1)`. What was imported belongs to none.
pub fn whose<'a>(things: impl IntoIterator<Item = &'a Holding>) -> String {
    let (mut counts, mut imported) = (BTreeMap::<&str, u64>::new(), 0);
    for thing in things {
        let count = if thing.is_import() { &mut imported } else { counts.entry(&thing.profile).or_default() };
        *count += 1;
    }
    let name = |profile: &str| Untrusted::from(profile).visible_cut(40).to_string();
    let each = counts.iter().map(|(profile, n)| format!("{} {}", name(profile), thousands(*n)));
    let each = each.chain((imported > 0).then(|| format!("imported {}", thousands(imported)))).collect::<Vec<_>>();
    let each = each.join(", ");
    let first = counts.keys().next().map(|profile| name(profile)).unwrap_or_default();
    match (counts.len(), imported) {
        (0, _) => "of no service (imported)".to_owned(),
        (1, 0) => format!("of profile {first}"),
        (1, _) => format!("of profile {first} and of no service ({each})"),
        (profiles, 0) => format!("of {profiles} profiles ({each})"),
        (profiles, _) => format!("of {profiles} profiles and of no service ({each})"),
    }
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Held {
    Report(Identifier),
    /// What was written of a report that is not held: it was deleted with another profile, or never fetched.
    Notes(Identifier),
    /// Any other answer: a list without reports, an answer to another question, one that was set aside.
    Answer {
        /// Its number in the store.
        number: i64,
        /// What it is held under.
        key: Untrusted,
        /// Whether it does not count as held, because it does not answer its question or is damaged.
        is_set_aside: bool,
        /// Whether only a part of it is here, and the next call goes on from it.
        is_coming: bool,
        /// The report that it was kept beside, if it is an artefact.
        beside: Option<Identifier>,
    },
}

impl Holding {
    /// The report that it is; none for any other answer.
    pub fn report(&self) -> Option<&Identifier> {
        match &self.what {
            Held::Report(identifier) => Some(identifier),
            Held::Notes(_) | Held::Answer { .. } => None,
        }
    }

    /// Whether somebody imported it, so that it stands for every profile.
    pub fn is_import(&self) -> bool {
        self.imported.is_some()
    }

    /// Whether the service gave it, and not the analyst.
    pub fn is_answer(&self) -> bool {
        !matches!(self.what, Held::Notes(_))
    }

    /// The report that its notes are on; none for any other answer.
    pub fn noted(&self) -> Option<&Identifier> {
        match &self.what {
            Held::Report(identifier) | Held::Notes(identifier) => Some(identifier),
            Held::Answer { .. } => None,
        }
    }

    /// Whether it is an artefact of this report that counts as held.
    fn is_beside(&self, identifier: &Identifier) -> bool {
        matches!(&self.what, Held::Answer { beside: Some(beside), is_set_aside: false, .. } if beside == identifier)
    }

    /// Whether the service still has it; none for what is no report.
    pub fn retention(&self, now: Timestamp) -> Option<Retention> {
        let sent = Some(self.received).filter(|_| !self.is_import());
        self.report().map(|identifier| Retention::of(identifier, sent, now))
    }

    /// Whether it does not count as held.
    pub fn is_set_aside(&self) -> bool {
        matches!(self.what, Held::Answer { is_set_aside: true, .. })
    }

    /// Whether only a part of it is here.
    pub fn is_coming(&self) -> bool {
        matches!(self.what, Held::Answer { is_coming: true, .. })
    }
}

/// No clock was right that showed an earlier time: there was no such program.
pub const EARLIEST: Timestamp = Timestamp::constant(1_735_689_600, 0);

/// What is to be deleted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Purge {
    /// Every version of a report that the service sent, or every one that was imported; its artefacts, unless a fetched one of the
    /// same profile stays; and what was written of it. A list that it came with stays, without it.
    Report {
        /// The profile that it is held for.
        profile: String,
        identifier: Identifier,
        /// Whether what was imported is meant, and not what the service sent.
        is_import: bool,
    },
    /// One answer, by its number in the store, with the reports that came with it.
    Answer(i64),
    /// Everything that is held of a file.
    File {
        /// The profile that it is held for.
        profile: String,
        file: Sha256,
    },
    /// What came before a moment. What is dated before [`EARLIEST`] is of no age that anybody knows, and stays.
    Before(Timestamp),
    /// What came first, until no more than so many bytes are left in the store.
    DownTo(u64),
    Everything,
}

impl Purge {
    /// Whether a thing may hold what goes with it: nobody knows what stands in what was set aside of the same file.
    pub fn may_be_in(&self, thing: &Holding) -> bool {
        let Self::Report { profile, identifier, .. } = self else { return false };
        let file = identifier.parts().file;
        thing.is_set_aside() && thing.profile == *profile && (file.is_none() || thing.file == file)
    }

    /// Whether a thing goes with it, where these reports were fetched. What goes to make room is known by the store alone.
    fn takes(&self, thing: &Holding, fetched: &BTreeSet<(&str, &Identifier)>) -> bool {
        match (self, &thing.what) {
            (Self::Everything, _) => true,
            (Self::Before(_), Held::Notes(_)) => false,
            (Self::Before(_), _) => thing.versions.iter().all(|version| self.takes_version(version)),
            (Self::File { profile, file }, Held::Notes(_)) => {
                thing.profile == *profile && thing.file.as_ref() == Some(file)
            }
            (Self::File { profile, .. }, _) => {
                thing.profile == *profile && thing.versions.iter().all(|version| self.takes_version(version))
            }
            (Self::Report { profile, identifier, is_import }, Held::Report(found) | Held::Notes(found)) => {
                thing.profile == *profile && found == identifier && thing.is_import() == *is_import
            }
            (Self::Report { profile, identifier, is_import }, Held::Answer { beside, .. }) => {
                let stays = *is_import && fetched.contains(&(profile.as_str(), identifier));
                thing.profile == *profile && beside.as_ref() == Some(identifier) && !stays
            }
            (Self::Answer(wanted), Held::Answer { number, .. }) => wanted == number,
            (Self::Answer(_), Held::Report(_) | Held::Notes(_)) | (Self::DownTo(_), _) => false,
        }
    }

    /// The versions that go with it of a thing that stays.
    fn of_versions<'a>(&self, thing: &'a Holding) -> Vec<&'a Version> {
        let is_of_profile = !matches!(self, Self::File { profile, .. } if *profile != thing.profile);
        thing.versions.iter().filter(|version| is_of_profile && self.takes_version(version)).collect()
    }

    /// Whether a version goes with it for what it says itself.
    fn takes_version(&self, version: &Version) -> bool {
        match self {
            Self::Before(moment) => (EARLIEST..*moment).contains(&version.received),
            Self::File { file, .. } => version.file.as_ref() == Some(file),
            _ => false,
        }
    }
}

/// What a deletion comes to.
#[derive(Debug)]
pub struct Doomed<'a> {
    pub things: Vec<&'a Holding>,
    /// Versions that go of things that stay.
    pub versions: Vec<&'a Version>,
    pub notes: u64,
    /// What other profiles have of these things, and that stays.
    pub stays: Others,
}

/// What a question about a deletion named: the same again, where nothing came since, went or changed.
#[derive(Debug, PartialEq, Eq)]
pub struct Named<'a> {
    things: Vec<(&'a str, &'a Held, &'a [Version], u64)>,
    versions: Vec<&'a Version>,
    notes: u64,
}

impl<'a> Doomed<'a> {
    /// What a question about it names: the things, each in its versions and with so many notes.
    pub fn named(&self) -> Named<'a> {
        let named = |thing: &&'a Holding| (&*thing.profile, &thing.what, &*thing.versions, thing.notes);
        let mut things: Vec<_> = self.things.iter().map(named).collect();
        order::sort(&mut things);
        let mut versions = self.versions.clone();
        order::sort(&mut versions);
        Named { things, versions, notes: self.notes }
    }

    /// What goes of all that is held where these are deleted together, for one profile or for all of them. A note goes with the
    /// last that stands under it: a report of its own profile, or anybody's import.
    pub fn of(what: &[Purge], held: &'a [Holding], profile: Option<&str>) -> Self {
        let is_meant = |thing: &&Holding| profile.is_none_or(|profile| thing.profile == profile);
        let fetched = held.iter().filter(|thing| !thing.is_import());
        let fetched = order::gathered(fetched.filter_map(|thing| Some((thing.profile.as_str(), thing.report()?))));
        let (things, left): (Vec<_>, Vec<_>) =
            held.iter().partition(|thing| is_meant(thing) && what.iter().any(|what| what.takes(thing, &fetched)));
        let standing: BTreeSet<_> =
            order::gathered(left.iter().filter(|thing| thing.is_import()).filter_map(|thing| thing.report()));
        let is_all = what.contains(&Purge::Everything);
        let goes = |thing: &&&Holding| is_all || thing.noted().is_some_and(|noted| !standing.contains(noted));
        let mut notes: u64 = things.iter().filter(goes).map(|thing| thing.notes).sum();
        let mut stays = Others::default();
        // Several may have imported the same.
        let imports = held.iter().filter(|thing| thing.is_import());
        let imports: BTreeMap<_, _> =
            order::gathered(imports.filter_map(|thing| Some((thing.report()?, &thing.others))));
        for (report, (other, hanging)) in imports.iter().flat_map(|(report, of)| of.iter().map(move |of| (*report, of)))
        {
            let is_doomed = is_all && profile.is_none_or(|profile| profile == other);
            let has_left = !standing.contains(report);
            let gone = things.iter().filter(|thing| thing.profile == *other && thing.is_beside(report)).count();
            match (is_doomed, has_left) {
                (true, _) => notes += hanging.notes,
                (false, true) => stays.notes += hanging.notes,
                (false, false) => {}
            }
            if has_left {
                stays.artefacts += hanging.artefacts.saturating_sub(gone as u64);
            }
        }
        let left = left.into_iter().filter(|thing| is_meant(thing));
        let versions = left.flat_map(|thing| what.iter().flat_map(|what| what.of_versions(thing))).collect();
        Self { things, versions, notes, stays }
    }
}
