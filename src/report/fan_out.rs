//! Work on several threads whose results are wanted in order.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::{Mutex, PoisonError, mpsc};

/// Takes one job after another, on as many threads as are asked for, and hands what comes of each to `sink` in the order of the
/// jobs; no more are taken once it says to stop.
///
/// Each thread keeps room for bytes from one job to the next.
pub(crate) fn in_order<J: Send, T: Send>(
    threads: usize,
    jobs: impl Iterator<Item = J> + Send,
    work: impl Fn(J, &mut Vec<u8>) -> T + Sync,
    sink: &mut dyn FnMut(T) -> ControlFlow<()>,
) {
    if threads < 2 {
        let mut room = Vec::new();
        for job in jobs {
            if sink(work(job, &mut room)).is_break() {
                break;
            }
        }
        return;
    }
    let (queue, work) = (Mutex::new(jobs.enumerate()), &work);
    let next = || queue.lock().unwrap_or_else(PoisonError::into_inner).next();
    std::thread::scope(|scope| {
        let (outbox, inbox) = mpsc::channel();
        for _ in 0..threads {
            let (outbox, next) = (outbox.clone(), &next);
            scope.spawn(move || {
                let mut room = Vec::new();
                while let Some((number, job)) = next() {
                    if outbox.send((number, work(job, &mut room))).is_err() {
                        break;
                    }
                }
            });
        }
        drop(outbox);
        let (mut early, mut wanted) = (BTreeMap::new(), 0);
        for (number, result) in inbox {
            early.insert(number, result);
            while let Some(result) = early.remove(&wanted) {
                wanted += 1;
                if sink(result).is_break() {
                    return;
                }
            }
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_the_order_of_the_jobs_until_it_is_enough() {
        for threads in [0, 1, 2, 7] {
            let mut found = Vec::new();
            in_order(threads, 0..100, |job, _| job * 2, &mut |result| {
                found.push(result);
                if found.len() < 60 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
            });
            assert_eq!(found, (0..60).map(|job| job * 2).collect::<Vec<_>>(), "{threads}");
        }
    }

    #[test]
    fn a_thread_keeps_its_room() {
        let grow = |(), room: &mut Vec<u8>| {
            room.push(0);
            room.len()
        };
        let mut most = 0;
        in_order(1, [(); 3].into_iter(), grow, &mut |length| {
            most = length;
            ControlFlow::Continue(())
        });
        assert_eq!(most, 3);
    }
}
