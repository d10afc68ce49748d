//! Times parts of the program from 80 KB to 80 MB: flat must stay flat, nothing beats linear.
//!
//! ```text
//! cargo bench --bench micro                 everything
//! cargo bench --bench micro -- find         what has this word in its name
//! ```
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic, clippy::print_stdout)]

mod report;

use behaview::app::message::LoadedReport;
use behaview::app::model::Service;
use behaview::app::{Key, Model};
use behaview::report::compare::Matrix;
use behaview::report::find::{MatchOptions, Pattern, SearchScope, search};
use behaview::report::{Body, Cancel, Folds, Index, Report, RowSet};
use behaview::runtime::EventLoop;
use divan::counter::BytesCount;
use divan::{Bencher, black_box};
use jiff::Timestamp;
use ratatui::backend::TestBackend;
use std::ops::ControlFlow;
use std::sync::Mutex;
use std::time::Duration;

/// Rows of reports; a thousand take about 80 KB.
const SIZES: [u64; 3] = [1_000, 30_000, 1_000_000];

/// Reports that were made so far.
static MADE: Mutex<Vec<(u64, Report)>> = Mutex::new(Vec::new());

/// A report of so many rows, all of them found.
fn report(rows: u64) -> Report {
    let mut made = MADE.lock().unwrap();
    if let Some((_, report)) = made.iter().find(|(known, _)| *known == rows) {
        return report.clone();
    }
    made.push((rows, Report::open(&Body::in_memory(report::make(rows)))));
    made.last().unwrap().1.clone()
}

fn main() {
    divan::main();
}

/// One pass over every byte, to find where each string starts.
#[divan::bench(args = SIZES, sample_count = 10)]
fn index(bencher: Bencher, rows: u64) {
    let body = report(rows).body;
    bencher.counter(BytesCount::new(body.len())).bench(|| Index::of(black_box(&body)));
}

/// Words, and an expression that must try every row.
#[divan::bench(args = [("needle", false), ("software", false), (r"[xz]{3}\d*\.", true)], sample_count = 15)]
fn find(bencher: Bencher, (words, is_regex): (&str, bool)) {
    let report = report(1_000_000);
    let pattern = Pattern::new(words, MatchOptions { is_regex, is_case_sensitive: false }).unwrap();
    bencher.counter(BytesCount::new(report.body.len())).bench(|| {
        let mut count = 0;
        let mut sink = |rows: RowSet| {
            count += rows.len();
            ControlFlow::Continue(())
        };
        search(&report, &pattern, &SearchScope::default(), 2, &Cancel::default(), &mut sink);
        count
    });
}

/// Every process folded and unfolded.
#[divan::bench(args = SIZES)]
fn fold_all(bencher: Bencher, rows: u64) {
    let report = report(rows);
    let depths = report.tree().unwrap().1.depths();
    let mut folds = Folds::default();
    bencher.bench_local(|| {
        folds.fold_all(true, depths);
        black_box(folds.len(depths));
        folds.fold_all(false, depths);
    });
}

/// The matrix of six reports, each of them another one.
#[divan::bench(args = [1_000, 30_000], sample_count = 10)]
fn compare(bencher: Bencher, rows: u64) {
    let bodies: Vec<_> = (0..6).map(|n| Some(report(rows + n * 10).body)).collect();
    bencher.bench(|| Matrix::of(&bodies).items().len());
}

/// A key, and the whole screen drawn into cells.
#[divan::bench(args = SIZES)]
fn frame(bencher: Bencher, rows: u64) {
    let clock = || Timestamp::UNIX_EPOCH;
    let mut model = Model::new(Service::default(), clock());
    let here = LoadedReport::new(clock(), report(rows).body, None);
    model.open_documents(vec![("bench".to_owned(), vec![(None, here)])]);
    let mut session = EventLoop::new(TestBackend::new(120, 40), model, None, clock).unwrap();
    session.begin();
    assert!(session.run_until_idle(Duration::from_secs(60)).unwrap());
    session.press(Key::Char('4'));
    bencher.bench_local(|| {
        session.press(Key::Char('j'));
        session.draw().unwrap();
    });
}

/// What an attacker can write much of: twice the bytes take twice the time.
mod growth {
    use super::*;
    use behaview::export::{Export, ExportContext, ExportSource, Format, Part};
    use behaview::report::note::Notes;
    use behaview::report::rules::Rules;

    /// How many escapes, siblings or backslashes there are.
    const COUNTS: [usize; 3] = [20_000, 40_000, 80_000];

    fn export(bencher: Bencher, format: &str, json: String) {
        let body = Body::in_memory(json.into_bytes());
        let (identifier, origin, received) = (None, "bench".to_owned(), None);
        let (sources, rules) = (
            [ExportSource { body, identifier, file: None, origin, received, notes: Notes::default() }],
            Rules::read(None).0,
        );
        let format = Format::named(format).unwrap();
        bencher.bench(|| {
            let job = Export {
                sources: &sources,
                what: Part::All,
                rules: &rules,
                context: &ExportContext::default(),
                cancel: &Cancel::default(),
            };
            format.write(&job, &mut std::io::sink()).unwrap()
        });
    }

    fn siblings(count: usize) -> String {
        format!(r#"{{"processes_tree":[{{"name":"a","children":[{}]}}]}}"#, vec![r#"{"name":"b"}"#; count].join(","))
    }

    #[divan::bench(args = COUNTS, sample_count = 5)]
    fn compare_escapes(bencher: Bencher, count: usize) {
        let json = format!(r#"{{"files_opened":["{}"]}}"#, r"\u0041".repeat(count));
        let bodies = [Some(Body::in_memory(json.into_bytes()))];
        bencher.bench(|| Matrix::of(&bodies).items().len());
    }

    #[divan::bench(args = COUNTS, sample_count = 5)]
    fn csv_siblings(bencher: Bencher, count: usize) {
        export(bencher, "csv", siblings(count));
    }

    #[divan::bench(args = COUNTS, sample_count = 5)]
    fn json_lines_siblings(bencher: Bencher, count: usize) {
        export(bencher, "jsonl", siblings(count));
    }

    #[divan::bench(args = COUNTS, sample_count = 5)]
    fn stix_backslashes(bencher: Bencher, count: usize) {
        export(bencher, "stix", format!(r#"{{"files_opened":["C:{}a"]}}"#, r"\\a".repeat(count)));
    }
}
