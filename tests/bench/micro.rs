//! Times single parts of the program at sizes from 50 KB to 100 MB: what is flat shall be flat, nothing faster than linear.
//!
//! ```text
//! cargo bench --bench micro                 everything
//! cargo bench --bench micro -- find         what has this word in its name
//! ```
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic, clippy::print_stdout)]

#[allow(dead_code, reason = "the other benchmark asks more of a report")]
mod report;

use behaview::app::keys::KeyName;
use behaview::app::message::Here;
use behaview::app::model::Service;
use behaview::app::{Key, Model};
use behaview::report::compare::Matrix;
use behaview::report::find::{How, Pattern, Scope, search};
use behaview::report::{Body, Cancel, Folds, Identifier, Index, Pane, Report, RowSet};
use behaview::runtime::{Backing, Session};
use divan::counter::BytesCount;
use divan::{Bencher, black_box};
use jiff::Timestamp;
use ratatui::backend::TestBackend;
use std::ops::ControlFlow;
use std::sync::{LazyLock, Mutex};
use std::time::Duration;
use tempfile::TempDir;

/// Sizes of reports in bytes.
const SIZES: [u64; 4] = [50_000, 1_000_000, 10_000_000, 99_000_000];

static FOLDER: LazyLock<TempDir> = LazyLock::new(|| tempfile::tempdir().unwrap());

/// Reports that were made so far.
static MADE: Mutex<Vec<(u64, Report)>> = Mutex::new(Vec::new());

/// A report of this size, with its rows found.
fn report(bytes: u64) -> Report {
    let mut made = MADE.lock().unwrap();
    if let Some((_, report)) = made.iter().find(|(known, _)| *known == bytes) {
        return report.clone();
    }
    let path = report::make(FOLDER.path(), bytes).path;
    made.push((bytes, Report::open(&Body::in_memory(std::fs::read(path).unwrap()))));
    made.last().unwrap().1.clone()
}

fn main() {
    divan::main();
}

/// One pass over every byte, to find where each string starts.
#[divan::bench(args = SIZES, sample_count = 10)]
fn index(bencher: Bencher, bytes: u64) {
    let body = report(bytes).body;
    bencher.counter(BytesCount::new(body.len())).bench(|| Index::of(black_box(&body)));
}

mod find {
    use super::*;

    /// Words, whether they are an expression, and how common they are.
    const SOUGHT: [(&str, bool); 9] = [
        ("needle-at-the-end", false),
        ("qqqqqqq", false),
        ("software", false),
        ("e", false),
        ("ДОКУМЕНТЫ", false),
        (r"needle-\w+-the", true),
        (r"system32.*\.exe$", true),
        (r"[xz]{3}\d*\.", true),
        (r"\w+", true),
    ];

    fn rows(report: &Report, pattern: &Pattern, threads: usize) -> usize {
        let mut count = 0;
        let mut sink = |rows: RowSet| {
            count += rows.len();
            ControlFlow::Continue(())
        };
        search(report, pattern, &Scope::default(), threads, &Cancel::default(), &mut sink);
        count
    }

    fn pattern(n: usize) -> Pattern {
        let (words, is_regex) = SOUGHT[n];
        Pattern::new(words, How { is_regex, is_case_sensitive: false }).unwrap()
    }

    /// A report on two threads.
    #[divan::bench(args = 0..SOUGHT.len(), sample_count = 15)]
    fn whole(bencher: Bencher, n: usize) {
        let (report, pattern) = (report(99_000_000), pattern(n));
        println!("{:?}: {} rows", SOUGHT[n].0, rows(&report, &pattern, 2));
        bencher.counter(BytesCount::new(report.body.len())).bench(|| rows(&report, &pattern, 2));
    }

    /// The same on one thread.
    #[divan::bench(args = 0..SOUGHT.len(), sample_count = 15)]
    fn alone(bencher: Bencher, n: usize) {
        let (report, pattern) = (report(99_000_000), pattern(n));
        bencher.counter(BytesCount::new(report.body.len())).bench(|| rows(&report, &pattern, 1));
    }

    #[divan::bench(args = SIZES, sample_count = 15)]
    fn growth(bencher: Bencher, bytes: u64) {
        let (report, pattern) = (report(bytes), pattern(2));
        bencher.counter(BytesCount::new(report.body.len())).bench(|| rows(&report, &pattern, 2));
    }

    /// Until the first rows are there.
    #[divan::bench(args = SIZES, sample_count = 15)]
    fn first_rows(bencher: Bencher, bytes: u64) {
        let (report, pattern) = (report(bytes), pattern(2));
        bencher.bench(|| {
            let scope = Scope { pane: Some(Pane::Registry), ..Scope::default() };
            let mut sink =
                |rows: RowSet| if rows.is_empty() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) };
            search(&report, &pattern, &scope, 2, &Cancel::default(), &mut sink);
        });
    }
}

/// A search over everything that is held, none of it opened before.
mod held {
    use super::*;
    use behaview::app::find::MOST_HITS;
    use behaview::runtime::search::every_report;
    use behaview::store::{NewAnswer, Store};
    use behaview::text::Untrusted;

    /// Reports that are held.
    const HELD: usize = 20;

    fn hold(bytes: u64) -> (TempDir, Store) {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path()).unwrap();
        let body = report(bytes).body.to_vec();
        for n in 0..HELD {
            let identifier = Identifier::new(Untrusted::from(format!("report {n}"))).unwrap();
            let key = behaview::request::Request::Behaviour { identifier }.holding_key().unwrap();
            let received = Timestamp::UNIX_EPOCH;
            let new = NewAnswer { service: "lab", profile: "lab", key: &key, received, bytes: &body };
            store.keep(&new).unwrap();
            store.accept(&new, &[]).unwrap();
        }
        (folder, store)
    }

    fn seek(bencher: Bencher, bytes: u64, words: &str) {
        let (_folder, store) = hold(bytes);
        let pattern = Pattern::new(words, How::default()).unwrap();
        bencher.counter(BytesCount::new(bytes * HELD as u64)).bench(|| {
            let reports = store.every_report("lab").unwrap();
            let mut hits = 0;
            every_report(&reports, &pattern, MOST_HITS, &Cancel::default(), &mut |found| {
                hits += found.unwrap().map_or(0, |group| group.count);
                ControlFlow::Continue(())
            });
            hits
        });
    }

    #[divan::bench(args = [50_000, 1_000_000, 5_000_000], sample_count = 5)]
    fn rare(bencher: Bencher, bytes: u64) {
        seek(bencher, bytes, "nowhere-to-be-found");
    }

    #[divan::bench(args = [50_000, 1_000_000, 5_000_000], sample_count = 5)]
    fn common(bencher: Bencher, bytes: u64) {
        seek(bencher, bytes, "software");
    }
}

mod tree {
    use super::*;

    fn depths(bytes: u64) -> Report {
        report(bytes)
    }

    /// One process folded and unfolded, and what is asked of the folds for a screen.
    #[divan::bench(args = SIZES)]
    fn fold_one(bencher: Bencher, bytes: u64) {
        let report = depths(bytes);
        let depths = report.tree().unwrap().1.depths();
        let row = (0..depths.len()).rev().find(|row| depths.has_children(*row)).unwrap();
        let mut folds = Folds::default();
        bencher.bench_local(|| {
            folds.fold(row, depths);
            black_box(folds.row(folds.len(depths).saturating_sub(1)));
            folds.unfold(row, depths);
            black_box(folds.position(row));
        });
    }

    /// Every process folded and unfolded.
    #[divan::bench(args = SIZES)]
    fn fold_all(bencher: Bencher, bytes: u64) {
        let report = depths(bytes);
        let depths = report.tree().unwrap().1.depths();
        let mut folds = Folds::default();
        bencher.bench_local(|| {
            folds.fold_all(true, depths);
            black_box(folds.len(depths));
            folds.fold_all(false, depths);
        });
    }
}

mod matrix {
    use super::*;

    /// What is compared: every report of the same kind, but none the same.
    fn bodies(bytes: u64) -> Vec<Option<Body>> {
        (0..6).map(|n| Some(report(bytes + n * 1_000).body)).collect()
    }

    /// One pass over the strings of six reports, on one thread: what the matrix is held to.
    #[divan::bench(args = [50_000, 1_000_000, 10_000_000], sample_count = 10)]
    fn pass(bencher: Bencher, bytes: u64) {
        let bodies = bodies(bytes);
        bencher.bench(|| bodies.iter().flatten().map(|body| Index::of(body).sections.len()).sum::<usize>());
    }

    /// The matrix of six reports.
    #[divan::bench(args = [50_000, 1_000_000, 10_000_000], sample_count = 10)]
    fn of(bencher: Bencher, bytes: u64) {
        let bodies = bodies(bytes);
        bencher.bench(|| Matrix::of(&bodies).items().len());
    }
}

mod frame {
    use super::*;

    /// The whole screen with a report in it, drawn into cells.
    fn session(bytes: u64) -> Session<TestBackend> {
        let clock = || Timestamp::UNIX_EPOCH;
        let mut model = Model::new(Service::default(), clock());
        let here = Here::new(clock(), report(bytes).body, None);
        model.open_documents(vec![("bench".to_owned(), vec![(None, here)])]);
        let mut session = Session::new(TestBackend::new(120, 40), model, Backing::Nothing, clock).unwrap();
        session.begin();
        assert!(session.run_until_idle(Duration::from_secs(60)).unwrap());
        session.press(Key::Char('4'));
        session
    }

    fn key(bencher: Bencher, bytes: u64, key: Key) {
        let mut session = session(bytes);
        bencher.bench_local(|| {
            session.press(key);
            session.draw().unwrap();
        });
    }

    #[divan::bench(args = SIZES)]
    fn row_down(bencher: Bencher, bytes: u64) {
        key(bencher, bytes, Key::Char('j'));
    }

    #[divan::bench(args = SIZES)]
    fn page_down(bencher: Bencher, bytes: u64) {
        key(bencher, bytes, Key::Ctrl('f'));
    }

    #[divan::bench(args = SIZES)]
    fn to_the_end(bencher: Bencher, bytes: u64) {
        key(bencher, bytes, Key::Char('G'));
    }

    #[divan::bench(args = SIZES)]
    fn next_pane(bencher: Bencher, bytes: u64) {
        key(bencher, bytes, Key::Named(KeyName::Tab));
    }
}

/// What an attacker can write much of: twice the bytes take twice the time.
mod growth {
    use super::*;
    use behaview::export::{Format, Job, Source, What};
    use behaview::report::note::Notes;
    use behaview::report::rules::Rules;

    /// How many escapes, siblings or backslashes there are.
    const COUNTS: [usize; 3] = [20_000, 40_000, 80_000];

    fn export(bencher: Bencher, format: &str, json: String) {
        let body = Body::in_memory(json.into_bytes());
        let (identifier, origin, received) = (None, "bench".to_owned(), None);
        let (sources, rules) =
            ([Source { body, identifier, origin, received, notes: Notes::default() }], Rules::shipped());
        let format = Format::named(format).unwrap();
        bencher.bench(|| {
            let job = Job { sources: &sources, what: What::All, rules: &rules, cancel: &Cancel::default() };
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
