//! The threads that wait for the disk and the network.

use std::io;
use std::sync::Mutex;
use std::thread;
use tokio::runtime::{Builder, Runtime};

/// Threads that soon stand beside the first ones: what reads the disk has its own.
const BESIDE: usize = 2;

/// What the library says that starts threads, where it gets none.
const NONE: &str = "OS can't spawn worker thread";

/// A runtime on so many threads.
///
/// # Errors
/// When the system starts no such number: the library would end the program instead. Trying that out takes time, so it is done where
/// the address space is limited alone; elsewhere the end says why.
pub fn threads(workers: usize) -> io::Result<Runtime> {
    let none = |why: io::Error| io::Error::new(why.kind(), told(&why));
    if address_space().is_some() {
        try_out(workers + BESIDE).map_err(none)?;
    }
    Builder::new_multi_thread().worker_threads(workers).enable_all().build()
}

/// The address space that the system lets this program have at most; none where there is no limit. Each thread sets some aside.
pub(super) fn address_space() -> Option<u64> {
    #[cfg(unix)]
    {
        rustix::process::getrlimit(rustix::process::Resource::As).current
    }
    #[cfg(not(unix))]
    {
        None
    }
}

/// Starts so many threads at once, and ends them again.
fn try_out(count: usize) -> io::Result<()> {
    let gate = Mutex::new(());
    thread::scope(|scope| {
        let closed = gate.lock();
        let start = |_| thread::Builder::new().spawn_scoped(scope, || drop(gate.lock())).map(drop);
        let started = (0..count).try_for_each(start);
        drop(closed);
        started
    })
}

/// What is said where the system starts no thread.
fn told(why: &dyn std::fmt::Display) -> String {
    format!("the system starts no further thread ({why}): give it more memory or more processes (ulimit -v, ulimit -u)")
}

/// What is said in the place of a panic's words, where they say no more than that the system has started no thread.
pub(super) fn told_of_panic(words: &str) -> Option<String> {
    words
        .contains(NONE)
        .then(|| format!("behaview had to end: {}. What is held is safe.", told(&"in the middle of work")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_are_had_or_it_is_said() {
        assert!(threads(2).is_ok());
        assert!(told_of_panic("OS can't spawn worker thread: Resource temporarily unavailable").is_some());
        assert!(told_of_panic("index out of bounds").is_none());
    }
}
