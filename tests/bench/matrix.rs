//! The comparison of six sandboxes, beside one pass over their strings.

use crate::Stage;
use crate::figures::{Figure, Table};
use crate::report;
use behaview::report::compare::Matrix;
use behaview::report::{Body, Index};
use std::time::Instant;

/// Reports that are compared.
const REPORTS: u64 = 6;

/// Sizes of each in bytes.
const SIZES: [u64; 4] = [50_000, 1_000_000, 10_000_000, 50_000_000];

/// The size that is held to the limit.
const MEASURED: u64 = 10_000_000;

pub fn measure(stage: &Stage, table: &mut Table) {
    for size in SIZES {
        // Of about the same size, so that they differ; in memory, so that both sides do nothing but read.
        let made: Vec<_> = (0..REPORTS).map(|n| report::make(stage.folder.path(), size + n * 1_000)).collect();
        let bodies: Vec<_> =
            made.iter().map(|made| Some(Body::in_memory(std::fs::read(&made.path).unwrap()))).collect();
        let (mut pass, mut matrix, mut items) = (Figure::default(), Figure::default(), 0);
        for _ in 0..stage.wanted.reps {
            let started = Instant::now();
            let found: usize = bodies.iter().flatten().map(|body| Index::of(body).unwrap().sections.len()).sum();
            assert!(found > 0);
            pass.time(started.elapsed());
            let started = Instant::now();
            items = Matrix::of(&bodies).unwrap().items().len();
            matrix.time(started.elapsed());
        }
        let size_words =
            if size < 1_000_000 { format!("{} KB", size / 1_000) } else { format!("{} MB", size / 1_000_000) };
        table.row(&format!("six of {size_words}: one pass over their strings, ms"), "one thread", pass.words());
        table.row(&format!("six of {size_words}: {items} items, ms"), "behaview", matrix.words());
        table.grows("six reports, one pass over their strings, ms", &made[0], &pass);
        table.grows("six reports compared, ms", &made[0], &matrix);
        if size == MEASURED {
            table.ratio("the matrix of six of 10 MB against the pass", matrix.median(), pass.median(), 3.0);
        }
    }
}
