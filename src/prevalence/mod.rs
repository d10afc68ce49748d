//! How common a value is among the stored reports, which other files have it, and what a sandbox
//! usually brings.
//!
//! ```text
//! report ── values_of ──> hashes ──> values.db ──> Prevalence, ValueHolder, Twin, SandboxYield
//! ```
//! The store indexes the values of its reports, and counts them; the results are described here.

mod figures;

pub use figures::{ReportFigures, SandboxYield};

use crate::report::identifier::Sha256;
use crate::report::{Identifier, RowPlace};
use crate::text::{Untrusted, thousands};
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

/// A value by its hash and that of its list, and the sandbox that saw it.
pub type SandboxValue = (Untrusted, (u64, u64));

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
        let share = |percent| self.of_sandbox * percent / 100;
        match self {
            _ if self.of_sandbox < MIN_FILES => Rarity::Common,
            _ if self.in_sandbox * 100 >= self.of_sandbox * NOISE_PERCENT => Rarity::Noise,
            _ if self.perhaps_unlisted == 0 && self.files <= share(RARE_PERCENT).max(1) => Rarity::Rare,
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
