//! Times the program beside others that could be pointed at the same JSON, and prints the ratios.
//!
//! ```text
//! cargo bench --bench beside_others                        everything; minutes
//! cargo bench --bench beside_others -- --sizes 1,10 --reps 3 --only keys
//! cargo bench --bench beside_others -- --sizes 1,10,99,500 --only held      growth, as far as a disk likes it
//! ```
//! Every program runs in a pseudo-terminal of 120x40. What is compared runs in turns, so that whatever else the machine does
//! strikes both sides alike; a figure is a median, with the spread from the lowest to the highest. Peers that are not
//! installed are left out. A limit in milliseconds is told as it is and at the pace of the machine that it was set on. Memory is
//! the peak of resident pages, over all processes of a program, where `/proc` tells it.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic, clippy::print_stdout)]

mod everything;
mod figures;
mod growth;
mod held;
mod home;
mod keys;
mod matrix;
mod opening;
mod peers;
mod report;
mod seeking;
mod served;
mod start;
mod terminal;

use figures::Table;
use std::path::PathBuf;

/// What the command line asks for.
pub struct Wanted {
    /// Sizes of reports in megabytes; the smallest report has 50 KB and is always there.
    pub sizes: Vec<u64>,
    /// How often each thing is measured.
    pub reps: usize,
    only: Option<String>,
}

/// A folder with reports of every size, and what is known of them.
pub struct Stage {
    /// What is asked for.
    pub wanted: Wanted,
    /// Where files are put; gone at the end.
    pub folder: tempfile::TempDir,
    /// The reports, the smallest first.
    pub reports: Vec<report::Made>,
    /// How many times slower this machine is than the one that the limits in milliseconds were set on, where that can be told.
    pub pace: Option<f64>,
}

impl Wanted {
    fn of(mut arguments: impl Iterator<Item = String>) -> Self {
        let mut wanted = Self { sizes: vec![1, 10, 99], reps: 5, only: None };
        while let Some(argument) = arguments.next() {
            let mut value = || arguments.next().expect("the option needs a value");
            match argument.as_str() {
                "--sizes" => wanted.sizes = value().split(',').map(|size| size.parse().expect("megabytes")).collect(),
                "--reps" => wanted.reps = value().parse().expect("a number"),
                "--only" => wanted.only = Some(value()),
                // What cargo adds by itself.
                "--bench" => {}
                other => panic!("{other}: there are --sizes MB,MB, --reps N and --only NAME"),
            }
        }
        wanted
    }
}

impl Stage {
    /// The largest report.
    pub fn largest(&self) -> &report::Made {
        self.reports.last().unwrap()
    }

    /// The smallest report.
    pub fn smallest(&self) -> &report::Made {
        self.reports.first().unwrap()
    }
}

/// The program that is measured.
pub fn behaview() -> PathBuf {
    env!("CARGO_BIN_EXE_behaview").into()
}

/// Fills a table with what it measures.
type Measure = fn(&Stage, &mut Table);

fn main() {
    let wanted = Wanted::of(std::env::args().skip(1));
    let folder = tempfile::tempdir().unwrap();
    let bytes = std::iter::once(50_000).chain(wanted.sizes.iter().map(|size| size * 1_000_000));
    let reports: Vec<_> = bytes.map(|bytes| report::make(folder.path(), bytes)).collect();
    let pace = peers::pace(&reports);
    let stage = Stage { wanted, folder, reports, pace };
    println!("load before: {}", figures::load());
    if let Some(pace) = pace {
        println!("{pace:.2} times slower than where the limits in milliseconds were set, by what jless takes");
    }
    let parts: [(&str, Measure); 8] = [
        ("start", start::measure),
        ("opening", opening::measure),
        ("held", held::measure),
        ("served", served::measure),
        ("keys", keys::measure),
        ("find", seeking::measure),
        ("matrix", matrix::measure),
        ("everything", everything::measure),
    ];
    for (name, measure) in parts {
        if stage.wanted.only.as_ref().is_none_or(|only| only == name) {
            let mut table = Table::new(name);
            measure(&stage, &mut table);
            println!("{table}");
        }
    }
    println!("load after: {}", figures::load());
}
