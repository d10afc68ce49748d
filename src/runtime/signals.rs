//! Signals of the system: end, suspend, resume.

use super::{MessageSender, terminal};
use crate::app::TerminalEvent;
use crate::report::Cancel;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// How long the program waits for a paid response after the signal to end.
pub(crate) const SHUTDOWN_GRACE: Duration = Duration::from_millis(900);

/// Further timeout to settle and end: the terminal may block the loop, other programs the store.
pub(crate) const STUCK_TIMEOUT: Duration = Duration::from_millis(600);

/// SIGHUP: the terminal is gone.
pub(super) const HANG_UP: u8 = 1;

/// Signals that end a program on request; others mean a broken program, or cannot be caught.
#[cfg(unix)]
const ENDING_SIGNALS: &[i32] = {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};
    &[SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2]
};

/// The system's signals, caught from creation on: until the loop runs they are queued.
pub struct Signals {
    #[cfg(unix)]
    heard: signal_hook::iterator::Signals,
}

/// The shutdown sequence, for all threads that may start it.
#[derive(Clone)]
pub(super) struct ShutdownState {
    outbox: MessageSender,
    /// The signal that asked for the end; 0 for none.
    signal: Arc<AtomicU8>,
    /// Set in the signal's handler, before a thread has reported the signal.
    pub(super) is_caught: Arc<AtomicBool>,
}

/// Ends the program when the thread that owns it ends, even by a panic.
pub(super) struct ExitGuard(pub(super) ShutdownState);

impl Drop for ExitGuard {
    fn drop(&mut self) {
        self.0.of_signal(HANG_UP);
    }
}

/// Makes a write past the file size limit an error: by default, SIGXFSZ ends the program silently.
pub fn survive_file_limit() -> io::Result<()> {
    #[cfg(unix)]
    signal_hook::flag::register(signal_hook::consts::SIGXFSZ, Arc::default())?;
    Ok(())
}

/// Blocks the ending signals in raw mode or while a file is written.
#[derive(Clone)]
pub struct BlockedSignals {
    /// The last signal; 0 for none.
    #[cfg_attr(not(unix), expect(dead_code))]
    last: Arc<AtomicUsize>,
    /// While it is set, signals end the program by default.
    is_open: Arc<AtomicBool>,
    /// Cancelled by the first signal.
    pub cancel: Cancel,
}

impl BlockedSignals {
    /// Starts blocking. Handlers are registered once: signal-hook cannot restore the previous ones.
    pub fn begin() -> io::Result<Self> {
        static BLOCKED: OnceLock<BlockedSignals> = OnceLock::new();
        if let Some(blocked) = BLOCKED.get() {
            blocked.is_open.store(false, Ordering::SeqCst);
            return Ok(blocked.clone());
        }
        let blocked = Self { last: Arc::default(), is_open: Arc::default(), cancel: Cancel::default() };
        #[cfg(unix)]
        for signal in ENDING_SIGNALS.iter().copied().chain([signal_hook::consts::SIGALRM]) {
            signal_hook::flag::register_usize(signal, Arc::clone(&blocked.last), signal.unsigned_abs() as usize)?;
            signal_hook::flag::register_conditional_default(signal, Arc::clone(&blocked.is_open))?;
            signal_hook::flag::register(signal, Arc::clone(&blocked.cancel.0))?;
        }
        Ok(BLOCKED.get_or_init(|| blocked).clone())
    }

    /// Ends the block: a blocked signal ends the program now.
    pub fn unblock(&self) -> io::Result<()> {
        self.is_open.store(true, Ordering::SeqCst);
        #[cfg(unix)]
        if let Ok(signal @ 1..) = i32::try_from(self.last.load(Ordering::SeqCst)) {
            return signal_hook::low_level::emulate_default_handler(signal);
        }
        Ok(())
    }
}

impl Signals {
    /// Catches the system's signals from now on.
    pub fn listen() -> io::Result<Self> {
        Ok(Self {
            #[cfg(unix)]
            heard: signal_hook::iterator::Signals::new(ENDING_SIGNALS)?,
        })
    }

    /// Forwards signals to the loop from its own thread; those of the terminal if the loop draws.
    pub(super) fn forward(self, outbox: MessageSender, draws: bool) -> io::Result<ShutdownState> {
        let ending = ShutdownState { outbox, signal: Arc::default(), is_caught: Arc::default() };
        #[cfg(unix)]
        {
            use signal_hook::consts::{SIGCONT, SIGTSTP, SIGWINCH};
            for signal in ENDING_SIGNALS {
                signal_hook::flag::register(*signal, Arc::clone(&ending.is_caught))?;
            }
            let mut heard = self.heard;
            let ending = ending.clone();
            let of_terminal: &[i32] = if draws { &[SIGTSTP, SIGCONT, SIGWINCH] } else { &[] };
            of_terminal.iter().try_for_each(|signal| heard.add_signal(*signal))?;
            let listen = move || {
                for signal in heard.forever() {
                    match signal {
                        SIGTSTP => ending.outbox.send(TerminalEvent::Suspend),
                        SIGCONT => ending.outbox.send(TerminalEvent::Resume),
                        // The loop queries the size again before the next frame.
                        SIGWINCH => {
                            if let Ok(size) = crossterm::terminal::size() {
                                ending.outbox.send(TerminalEvent::Resize(super::usable_size(size)));
                            }
                        }
                        number => ending.of_signal(u8::try_from(number).unwrap_or(HANG_UP)),
                    }
                }
            };
            std::thread::Builder::new().name("signals".to_owned()).spawn(listen)?;
        }
        #[cfg(not(unix))]
        let _ = draws;
        Ok(ending)
    }
}

impl ShutdownState {
    /// Starts the shutdown on a thread of its own: further signals are still received.
    pub(super) fn of_signal(&self, signal: u8) {
        if self.signal.swap(signal, Ordering::SeqCst) == 0 {
            let ending = self.clone();
            // Without a thread, the loop still gets the request to end.
            if std::thread::Builder::new().spawn(move || ending.shut_down()).is_err() {
                self.outbox.send(TerminalEvent::Quit);
            }
        }
    }

    /// Asks the loop to end, then to cancel its calls, and then ends the process.
    fn shut_down(&self) {
        self.outbox.send(TerminalEvent::Quit);
        std::thread::sleep(SHUTDOWN_GRACE);
        self.outbox.send(TerminalEvent::QuitNow);
        std::thread::sleep(STUCK_TIMEOUT);
        terminal::end_raw_mode();
        std::process::exit(self.signal().map_or(1, |signal| 128 + i32::from(signal)));
    }

    pub(super) fn signal(&self) -> Option<u8> {
        Some(self.signal.load(Ordering::SeqCst)).filter(|signal| *signal != 0)
    }
}

/// Returns whether a shell can resume a suspended program.
///
/// A session leader, as in a window of its own, would stay stopped forever; the kernel ignores
/// SIGTSTP for such programs (orphaned process groups).
pub(super) fn has_shell() -> bool {
    #[cfg(unix)]
    return rustix::process::getsid(None).is_ok_and(|session| session != rustix::process::getpgrp());
    #[cfg(not(unix))]
    false
}

/// Suspends program and pipeline until the shell resumes it; in the background only with a shell.
#[cfg_attr(not(unix), expect(unused_variables))]
pub(super) fn stop(is_behind: bool) {
    #[cfg(unix)]
    {
        use rustix::process::{Signal, kill_current_process_group};
        // A failed stop is ignored: the program continues.
        let _ = kill_current_process_group(if is_behind { Signal::TTOU } else { Signal::STOP });
    }
}
