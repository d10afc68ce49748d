//! The threads that wait for the disk and the network.

use std::io;
use std::sync::Mutex;
use std::thread;
use tokio::runtime::{Builder, Runtime};

/// Threads that soon stand beside the first ones: what reads the disk has its own.
const BESIDE: usize = 2;

/// A runtime on so many threads.
///
/// # Errors
/// When the system starts no such number: the library would end the program instead.
pub fn threads(workers: usize) -> io::Result<Runtime> {
    try_out(workers + BESIDE).map_err(|why| io::Error::new(why.kind(), told(&why)))?;
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

/// What is said beside a panic's words where the system starts no thread at that moment, which ends a library's work in the middle.
pub(super) fn told_of_panic() -> Option<String> {
    let why = try_out(1).err()?;
    Some(format!("behaview had to end: {}. What is held is safe.", told(&why)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_are_had_or_it_is_said() {
        assert!(threads(2).is_ok());
        assert_eq!(told_of_panic(), None);
    }
}
