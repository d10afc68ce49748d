//! The comparison of six sandboxes, beside one pass over their strings: by what finds where rows start, and looks into none, and by
//! a parser that looks at each string.

use crate::Stage;
use crate::figures::{Figure, Table};
use crate::report;
use behaview::report::compare::Matrix;
use behaview::report::{Body, Index};
use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use std::fmt;
use std::time::Instant;

/// Reports that are compared.
const REPORTS: u64 = 6;

/// Sizes of each in bytes.
const SIZES: [u64; 4] = [50_000, 1_000_000, 10_000_000, 50_000_000];

/// The size that is held to the limit.
const MEASURED: u64 = 10_000_000;

/// How many letters all strings of a value have: each is looked at once, by a parser that everybody has.
struct Letters(usize);

impl<'de> Deserialize<'de> for Letters {
    fn deserialize<D: Deserializer<'de>>(json: D) -> Result<Self, D::Error> {
        json.deserialize_any(Strings)
    }
}

struct Strings;

impl<'de> Visitor<'de> for Strings {
    type Value = Letters;

    fn expecting(&self, words: &mut fmt::Formatter<'_>) -> fmt::Result {
        words.write_str("a report")
    }

    fn visit_str<E>(self, text: &str) -> Result<Letters, E> {
        Ok(Letters(text.len()))
    }

    fn visit_u64<E>(self, _: u64) -> Result<Letters, E> {
        Ok(Letters(0))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Letters, A::Error> {
        let mut letters = 0;
        while let Some(Letters(more)) = elements.next_element()? {
            letters += more;
        }
        Ok(Letters(letters))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Letters, A::Error> {
        let mut letters = 0;
        while let Some((IgnoredAny, Letters(more))) = members.next_entry()? {
            letters += more;
        }
        Ok(Letters(letters))
    }
}

pub fn measure(stage: &Stage, table: &mut Table) {
    for size in SIZES {
        // Of about the same size, so that they differ; in memory, so that both sides do nothing but read.
        let made: Vec<_> = (0..REPORTS).map(|n| report::make(stage.folder.path(), size + n * 1_000)).collect();
        let raw: Vec<_> = made.iter().map(|made| std::fs::read(&made.path).unwrap()).collect();
        let bodies: Vec<_> = raw.iter().map(|raw| Some(Body::in_memory(raw.clone()))).collect();
        let (mut pass, mut parsed, mut matrix, mut items) =
            (Figure::default(), Figure::default(), Figure::default(), 0);
        for _ in 0..stage.wanted.reps {
            let started = Instant::now();
            let found: usize = bodies.iter().flatten().map(|body| Index::of(body).sections.len()).sum();
            assert!(found > 0);
            pass.time(started.elapsed());
            let started = Instant::now();
            let letters: usize = raw.iter().map(|raw| serde_json::from_slice::<Letters>(raw).unwrap().0).sum();
            assert!(letters > 0);
            parsed.time(started.elapsed());
            let started = Instant::now();
            items = Matrix::of(&bodies).items().len();
            matrix.time(started.elapsed());
        }
        let size_words =
            if size < 1_000_000 { format!("{} KB", size / 1_000) } else { format!("{} MB", size / 1_000_000) };
        table.row(&format!("six of {size_words}: one pass over their rows, ms"), "one thread", pass.words());
        table.row(&format!("six of {size_words}: one pass over their strings, ms"), "serde_json", parsed.words());
        table.row(&format!("six of {size_words}: {items} items, ms"), "behaview", matrix.words());
        table.grows("six reports, one pass over their rows, ms", &made[0], &pass);
        table.grows("six reports compared, ms", &made[0], &matrix);
        if size == MEASURED {
            let matrix = matrix.median();
            table.ratio("the matrix of six of 10 MB against the pass over rows", matrix, pass.median(), 3.0);
            table.ratio("the matrix of six of 10 MB against serde_json", matrix, parsed.median(), 3.0);
        }
    }
}
