//! Runs work on several threads, and cancels it.

use std::io;
use std::ops::ControlFlow;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

/// Cancels work. Clones cancel the same work.
#[derive(Debug, Clone, Default)]
pub struct Cancel(pub(crate) Arc<AtomicBool>);

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("cancelled")]
pub struct Cancelled;

impl Cancel {
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Fails if the work is cancelled. Long work calls it regularly.
    pub fn check(&self) -> Result<(), Cancelled> {
        if self.is_cancelled() { Err(Cancelled) } else { Ok(()) }
    }
}

impl From<Cancelled> for io::Error {
    fn from(_: Cancelled) -> Self {
        io::ErrorKind::Interrupted.into()
    }
}

/// Stored reports that are read at a time: each may take much memory.
pub(crate) const CONCURRENT_REPORTS: usize = 2;

/// Works on some items at a time, a thread each; `sink` takes results in order until it has enough.
pub(crate) fn in_rounds<I: Sync, T: Send>(
    items: &[I],
    threads: usize,
    work: impl Fn(&I) -> T + Sync,
    sink: &mut dyn FnMut(T) -> ControlFlow<()>,
) {
    let work = &work;
    for round in items.chunks(threads.max(1)) {
        let results: Vec<_> = match round {
            [one] => vec![work(one)],
            several => thread::scope(|scope| {
                let workers: Vec<_> = several.iter().map(|item| scope.spawn(move || work(item))).collect();
                workers.into_iter().map(|worker| worker.join().unwrap_or_else(|bug| resume_unwind(bug))).collect()
            }),
        };
        if results.into_iter().any(|result| sink(result).is_break()) {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::compare::Matrix;
    use super::super::rules::Rules;
    use super::super::{Body, Indicators, Report};
    use super::*;

    #[test]
    fn cancelled_work_has_no_result() {
        let body = Body::in_memory(br#"{"tags":["A"],"mutexes_created":["m"]}"#.to_vec());
        let report = Report::open(&body);
        let cancel = Cancel::default();
        cancel.clone().cancel();
        let indicators = Indicators::of(&report, &|_| None, &cancel);
        assert_eq!(indicators.unwrap_err().kind(), io::ErrorKind::Interrupted);
        assert_eq!(Rules::read(None).0.evaluate(&report, &cancel).unwrap_err(), Cancelled);
        assert_eq!(Matrix::of(&[Some(body)]).find(b"m", 0, &cancel), Err(Cancelled));
    }

    #[test]
    fn results_keep_the_order_until_the_sink_has_enough() {
        let items: Vec<usize> = (0..100).collect();
        for threads in [0, 1, 2, 7] {
            let mut found = Vec::new();
            in_rounds(&items, threads, |item| item * 2, &mut |result| {
                found.push(result);
                if found.len() < 60 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
            });
            assert_eq!(found, (0..60).map(|item| item * 2).collect::<Vec<_>>(), "{threads}");
        }
    }
}
