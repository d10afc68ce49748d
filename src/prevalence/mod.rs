//! How common a value is among the stored reports, which other files have it, and what a sandbox
//! usually brings.
//!
//! ```text
//! report ── values_of ──> hashes ──> values.db ──> Prevalence, ValueHolder, Twin, SandboxYield
//! ```
//! The store indexes the values of its reports, and counts them; the results are described here.

use crate::report::compare::ValueHashes;
use crate::report::identifier::Sha256;
use crate::report::{Identifier, Pane, Report, RowPlace};
use crate::text::{Untrusted, count, thousands};
use jiff::Timestamp;
use sha2::{Digest, Sha256 as Sha256Hash};
use std::hash::{BuildHasher, Hasher};

/// Hashes to the first 8 bytes of SHA-256: the same in every run, and collisions are not cheap.
#[derive(Debug, Clone, Copy, Default)]
pub struct StableBuildHasher;

#[derive(Debug, Default)]
pub struct StableHasher(Sha256Hash);

impl BuildHasher for StableBuildHasher {
    type Hasher = StableHasher;

    fn build_hasher(&self) -> StableHasher {
        StableHasher::default()
    }
}

impl Hasher for StableHasher {
    fn write(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    fn finish(&self) -> u64 {
        let hash = self.0.clone().finalize();
        hash.iter().take(8).fold(0, |number, byte| number << 8 | u64::from(*byte))
    }
}

/// Minimum of a sandbox's stored files to call a value noise or rare: with fewer, the samples of
/// one family would make their own behaviour look like noise.
pub const MIN_FILES: usize = 8;

/// Share of a sandbox's files, in per cent, that makes a value noise. Not all: some lists are cut.
pub const NOISE_PERCENT: usize = 80;

/// Share of those files up to which a value is rare; a value of one file always is.
pub const RARE_PERCENT: usize = 10;

/// A value, after the sandbox that saw it.
pub type SandboxValue = (Untrusted, ValueHashes);

/// Where a value was seen: numbers of stored files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Prevalence {
    /// Files that have it, of all stored ones.
    pub files: usize,
    pub of_files: usize,
    /// The same among the files with a stored report of this sandbox.
    pub in_sandbox: usize,
    pub of_sandbox: usize,
    /// Files whose reports do not list it, but have a list that the service perhaps cut.
    pub perhaps_unlisted: usize,
    /// Counted among the files that the team has shared; then the last number is a maximum.
    pub is_of_team: bool,
}

/// What the prevalence of a value says about it, the rarest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Rarity {
    Rare,
    #[default]
    Common,
    /// Nearly every file has it in this sandbox.
    Noise,
}

impl Prevalence {
    pub fn rarity(&self) -> Rarity {
        let share = |percent| self.of_sandbox.saturating_mul(percent);
        let at_most = self.files.saturating_add(self.perhaps_unlisted);
        match self {
            _ if self.of_sandbox < MIN_FILES => Rarity::Common,
            _ if self.in_sandbox.saturating_mul(100) >= share(NOISE_PERCENT) => Rarity::Noise,
            _ if at_most <= (share(RARE_PERCENT) / 100).max(1) => Rarity::Rare,
            _ => Rarity::Common,
        }
    }

    /// Returns whose files are counted, to follow their number.
    pub fn owner(&self) -> &'static str {
        if self.is_of_team { " of the team" } else { "" }
    }

    /// Returns the numbers as text; `None` if no report lists it, or no other file is comparable.
    pub fn label(&self) -> Option<String> {
        if self.of_files < 2 || self.files == 0 {
            return None;
        }
        let of = |files: usize, all: usize| format!("{} of {}", thousands(files as u64), thousands(all as u64));
        let mut label = format!("in {} stored files{}", of(self.files, self.of_files), self.owner());
        if self.of_sandbox > 1 {
            label += &format!(" · {} of this sandbox", of(self.in_sandbox, self.of_sandbox));
        }
        if self.perhaps_unlisted > 0 {
            label += &format!(" · {} more perhaps, whose list was cut", thousands(self.perhaps_unlisted as u64));
        }
        Some(match self.rarity() {
            Rarity::Noise => format!("{label}: noise of this sandbox"),
            Rarity::Rare => format!("{label}: rare"),
            Rarity::Common => label,
        })
    }
}

/// A report that has a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ValueHolder {
    pub file: Option<Sha256>,
    pub identifier: Identifier,
    pub received: Timestamp,
    /// The name of the service in the store.
    pub service: String,
    /// The profile that fetched it.
    pub profile: String,
    /// The first row that has the value, if it is stored here.
    pub place: RowPlace,
    /// The colleague who has shared it, if it is not stored here.
    pub person: Option<Untrusted>,
}

/// Another file whose report is nearly the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Twin {
    /// Its report; its row is that with the same `behash`, or the first shared one.
    pub holder: ValueHolder,
    /// Number of values that both reports have, and at most half of the sandbox's files.
    pub shared: usize,
    /// Number of such values in this report.
    pub of: usize,
    pub has_same_behash: bool,
}

impl Twin {
    /// Explains why it counts as one.
    pub fn label(&self) -> String {
        match self.has_same_behash {
            true => "the same behash".to_owned(),
            false => {
                let shared = thousands(self.shared as u64);
                let of = thousands(self.of as u64);
                format!("{shared} of {of} values that are not usual in this sandbox")
            }
        }
    }
}

/// Numbers of rows in one report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ReportFigures {
    pub processes: u32,
    pub network: u32,
    pub has_capture: bool,
    /// Rows that the rules mark, without noise; `None` until it is opened.
    pub findings: Option<u32>,
}

impl ReportFigures {
    pub fn of(report: &Report) -> Self {
        let number = |rows: usize| u32::try_from(rows).unwrap_or(u32::MAX);
        Self {
            processes: number(report.tree().map_or(0, |(_, tree)| tree.len())),
            network: number(report.count(Pane::Network)),
            has_capture: report.values("has_pcap").any(|value| value.as_bytes() == b"true"),
            findings: None,
        }
    }
}

/// What a sandbox usually brings: the medians of its stored reports.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SandboxYield {
    pub sandbox: Untrusted,
    /// The number of its stored reports.
    pub reports: usize,
    pub usual: ReportFigures,
}

impl SandboxYield {
    pub fn of(sandbox: Untrusted, all: &[ReportFigures]) -> Self {
        let median = |figure: fn(&ReportFigures) -> Option<u32>| {
            let mut found: Vec<_> = all.iter().filter_map(figure).collect();
            found.sort();
            found.get(found.len() / 2).copied()
        };
        let usual = ReportFigures {
            processes: median(|figures| Some(figures.processes)).unwrap_or(0),
            network: median(|figures| Some(figures.network)).unwrap_or(0),
            has_capture: median(|figures| Some(figures.has_capture.into())) > Some(0),
            findings: median(|figures| figures.findings),
        };
        Self { sandbox, reports: all.len(), usual }
    }

    /// Ranks it among sandboxes to open: findings first, then data that few sandboxes have.
    pub fn rank(&self) -> (u32, bool, u32, u32) {
        let ReportFigures { processes, network, has_capture, findings } = self.usual;
        (findings.unwrap_or(0), has_capture, network, processes)
    }

    /// Describes them: `usually tree, network, 12 findings`.
    pub fn label(&self) -> String {
        let ReportFigures { processes, network, has_capture, findings } = self.usual;
        let kinds = [("tree", processes > 0), ("network", network > 0), ("capture", has_capture)];
        let mut parts: Vec<_> =
            kinds.iter().filter(|(_, is_there)| *is_there).map(|(kind, _)| (*kind).to_owned()).collect();
        parts.extend(
            findings.map(|found| if found == 0 { "no finding".to_owned() } else { count(found.into(), "finding") }),
        );
        if parts.is_empty() { "usually nothing".to_owned() } else { format!("usually {}", parts.join(", ")) }
    }
}
