//! A program in a pseudo-terminal, and when its bytes came.

use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};
use std::ffi::OsStr;
use std::io::{Read, Write};
use std::num::NonZero;
use std::path::Path;
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

/// How long a screen is waited for.
const PATIENCE: Duration = Duration::from_secs(60);

/// After so long without a byte a key has had its effect.
const QUIET: Duration = Duration::from_millis(25);

/// A command line with the home it runs in.
#[derive(Clone)]
pub struct Program {
    /// What it is called in tables.
    pub name: String,
    command: CommandBuilder,
}

impl Program {
    /// A program with its arguments.
    pub fn new(name: &str, program: impl AsRef<OsStr>, arguments: &[&OsStr]) -> Self {
        let mut command = CommandBuilder::new(program);
        command.args(arguments);
        command.env_clear();
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command.env("TERM", "xterm-256color");
        command.env("LANG", "C.UTF-8");
        Self { name: name.to_owned(), command }
    }

    /// The same with its own home.
    pub fn at(mut self, home: &Path) -> Self {
        self.command.env("HOME", home);
        self
    }

    /// The same with an environment variable.
    pub fn with(mut self, name: &str, value: &str) -> Self {
        self.command.env(name, value);
        self
    }

    /// Starts it.
    pub fn start(&self) -> Terminal {
        let size = PtySize { rows: 40, cols: 120, pixel_width: 0, pixel_height: 0 };
        let pair = native_pty_system().openpty(size).unwrap();
        let started = Instant::now();
        let child = pair.slave.spawn_command(self.command.clone()).unwrap();
        drop(pair.slave);
        let (sender, chunks) = channel();
        let mut output = pair.master.try_clone_reader().unwrap();
        std::thread::spawn(move || {
            let mut buffer = vec![0; 1 << 16];
            while let Ok(read @ 1..) = output.read(&mut buffer) {
                if sender.send((Instant::now(), buffer[..read].to_vec())).is_err() {
                    break;
                }
            }
        });
        let keyboard = pair.master.take_writer().unwrap();
        let cells = |count| NonZero::new(count).unwrap();
        let screen = vt100::Parser::new(cells(40), cells(120), 0);
        Terminal { started, child, chunks, screen, keyboard, is_quiet: false, _master: pair.master }
    }
}

/// What a key did.
pub struct Effect {
    /// From the key to the last byte.
    pub time: Duration,
    /// Bytes that were written.
    pub bytes: usize,
}

/// A program that runs.
pub struct Terminal {
    started: Instant,
    child: Box<dyn Child + Send + Sync>,
    chunks: Receiver<(Instant, Vec<u8>)>,
    screen: vt100::Parser,
    keyboard: Box<dyn Write + Send>,
    /// Whether it has written nothing for long enough since a key was pressed.
    is_quiet: bool,
    _master: Box<dyn MasterPty + Send>,
}

impl Terminal {
    /// The time from its start to the screen that shows these words.
    pub fn until(&mut self, words: &str) -> Duration {
        self.until_since(self.started, words)
    }

    /// The time from a moment to the screen that shows these words.
    pub fn until_since(&mut self, since: Instant, words: &str) -> Duration {
        self.until_that(since, words, |screen| screen.contains(words))
    }

    /// The time from a moment to the screen that is as wanted; `what` says how, should it never come.
    pub fn until_that(&mut self, since: Instant, what: &str, is_it: impl Fn(&str) -> bool) -> Duration {
        let mut at = since;
        while !is_it(&self.screen.screen().contents()) {
            let Ok((came, bytes)) = self.chunks.recv_timeout(PATIENCE) else {
                panic!("{what:?} did not come:\n{}", self.screen.screen().contents());
            };
            self.screen.process(&bytes);
            at = came;
        }
        at.saturating_duration_since(since)
    }

    /// Presses keys, without waiting for what they do.
    pub fn press(&mut self, keys: &[u8]) -> Instant {
        self.settle();
        self.press_at_once(keys)
    }

    /// The same in the middle of something.
    pub fn press_at_once(&mut self, keys: &[u8]) -> Instant {
        self.is_quiet = false;
        let pressed = Instant::now();
        self.keyboard.write_all(keys).unwrap();
        self.keyboard.flush().unwrap();
        pressed
    }

    /// Presses keys, and waits until nothing more is written.
    pub fn effect(&mut self, keys: &[u8]) -> Effect {
        self.effect_before(keys, QUIET)
    }

    /// The same of a program that may write nothing for so long in between.
    pub fn effect_before(&mut self, keys: &[u8], quiet: Duration) -> Effect {
        let pressed = self.press(keys);
        let (mut last, mut count) = (pressed, 0);
        // The first byte may take long, the others follow.
        let mut patience = Duration::from_secs(5);
        while let Ok((came, bytes)) = self.chunks.recv_timeout(patience) {
            self.screen.process(&bytes);
            (last, count, patience) = (came, count + bytes.len(), quiet);
        }
        self.is_quiet = true;
        Effect { time: last.duration_since(pressed), bytes: count }
    }

    /// Takes in what is still being written.
    pub fn settle(&mut self) {
        let mut patience = if self.is_quiet { Duration::ZERO } else { QUIET };
        while let Ok((_, bytes)) = self.chunks.recv_timeout(patience) {
            self.screen.process(&bytes);
            patience = QUIET;
        }
        self.is_quiet = true;
    }

    /// Bytes written in a time in which nobody does anything.
    pub fn idle(&mut self, time: Duration) -> usize {
        let (until, mut count) = (Instant::now() + time, 0);
        while let Ok((_, bytes)) = self.chunks.recv_timeout(until.saturating_duration_since(Instant::now())) {
            count += bytes.len();
        }
        count
    }

    /// Times that it was woken so far, over its threads; none where the system does not tell.
    pub fn wakes(&self) -> Option<u64> {
        let tasks = std::fs::read_dir(format!("/proc/{}/task", self.child.process_id()?)).ok()?;
        tasks.map(|task| voluntary_switches(&task.ok()?.path())).sum()
    }

    /// Peak of resident memory in bytes, over the program and what it has started.
    pub fn peak(&self) -> Option<f64> {
        let root = self.child.process_id()?;
        let processes: Vec<(u32, u32)> = std::fs::read_dir("/proc").ok()?.flatten().filter_map(parent).collect();
        let mut wanted = vec![root];
        let mut at = 0;
        while let Some(process) = wanted.get(at).copied() {
            wanted.extend(processes.iter().filter(|(_, parent)| *parent == process).map(|(child, _)| *child));
            at += 1;
        }
        let peaks = wanted.into_iter().filter_map(|process| status(Path::new(&format!("/proc/{process}")), "VmHWM:"));
        Some(peaks.map(|kilobytes| kilobytes as f64 * 1_024.0).sum())
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn voluntary_switches(task: &Path) -> Option<u64> {
    status(task, "voluntary_ctxt_switches:")
}

fn status(process: &Path, name: &str) -> Option<u64> {
    let status = std::fs::read_to_string(process.join("status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_whitespace().next()?.parse().ok()
}

fn parent(entry: std::fs::DirEntry) -> Option<(u32, u32)> {
    let process = entry.file_name().to_str()?.parse().ok()?;
    Some((process, u32::try_from(status(&entry.path(), "PPid:")?).ok()?))
}
