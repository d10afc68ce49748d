//! Times the program beside others that open the same report, and prints medians and ratios.
//!
//! ```text
//! cargo bench --bench beside_others                 a report of a million rows
//! cargo bench --bench beside_others -- 10000        one of so many rows
//! ```
//! Each runs in a pseudo-terminal of 120x40; they take turns, so that load strikes all alike.
//! Programs that are not installed are left out.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout)]

mod report;

use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};
use std::ffi::OsStr;
use std::io::{Read, Write};
use std::num::NonZero;
use std::path::Path;
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

/// How often each program is measured.
const TURNS: usize = 5;

/// How long a screen is waited for.
const PATIENCE: Duration = Duration::from_secs(60);

/// After so long without a byte a key has had its effect.
const QUIET: Duration = Duration::from_millis(250);

/// A program, how it is started on a report, and the keys that are pressed in it.
struct Program {
    name: &'static str,
    arguments: &'static [&'static str],
    /// What its first screen with data shows.
    first: &'static str,
    /// Leads to a word near the end of the report.
    find: &'static str,
    /// Leads one row further.
    down: &'static str,
}

const PROGRAMS: [Program; 4] = [
    Program { name: "behaview", arguments: &["open"], first: "Processes", find: "Fneedle", down: "j" },
    Program { name: "jless", arguments: &[], first: "data", find: "/needle\r", down: "j" },
    Program { name: "less", arguments: &[], first: "data", find: "/needle\r", down: "j" },
    Program {
        name: "fzf",
        arguments: &["-c", "tr , '\\n' < \"$1\" | fzf --exact --no-sort", "sh"],
        first: "> ",
        find: "needle",
        down: "\x1b[A",
    },
];

/// A program that runs.
struct Terminal {
    started: Instant,
    child: Box<dyn Child + Send + Sync>,
    chunks: Receiver<(Instant, Vec<u8>)>,
    screen: vt100::Parser,
    keyboard: Box<dyn Write + Send>,
    _master: Box<dyn MasterPty + Send>,
}

impl Terminal {
    fn start(program: &Program, report: &Path) -> Self {
        let mut command = CommandBuilder::new(match program.name {
            "behaview" => env!("CARGO_BIN_EXE_behaview"),
            "fzf" => "sh",
            name => name,
        });
        command.args(program.arguments.iter().map(OsStr::new).chain([report.as_os_str()]));
        command.env_clear();
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command.env("HOME", report.parent().unwrap());
        command.env("TERM", "xterm-256color");
        command.env("LANG", "C.UTF-8");
        let size = PtySize { rows: 40, cols: 120, pixel_width: 0, pixel_height: 0 };
        let pair = native_pty_system().openpty(size).unwrap();
        let started = Instant::now();
        let child = pair.slave.spawn_command(command).unwrap();
        let (sender, chunks) = channel();
        let mut output = pair.master.try_clone_reader().unwrap();
        std::thread::spawn(move || {
            let mut buffer = vec![0; 1 << 16];
            while let Ok(read @ 1..) = output.read(&mut buffer) {
                if sender.send((Instant::now(), buffer.iter().take(read).copied().collect())).is_err() {
                    break;
                }
            }
        });
        let keyboard = pair.master.take_writer().unwrap();
        let cells = |count| NonZero::new(count).unwrap();
        let screen = vt100::Parser::new(cells(40), cells(120), 0);
        Self { started, child, chunks, screen, keyboard, _master: pair.master }
    }

    /// The time from the start to the screen that shows these words.
    fn until(&mut self, words: &str) -> Duration {
        let mut at = self.started;
        while !self.screen.screen().contents().contains(words) {
            let Ok((came, bytes)) = self.chunks.recv_timeout(PATIENCE) else {
                panic!("{words:?} did not come:\n{}", self.screen.screen().contents());
            };
            self.screen.process(&bytes);
            at = came;
        }
        self.settle();
        at.duration_since(self.started)
    }

    /// Takes in what is being written; gives the moment of the last byte.
    fn settle(&mut self) -> Option<Instant> {
        let mut last = None;
        while let Ok((came, bytes)) = self.chunks.recv_timeout(QUIET) {
            self.screen.process(&bytes);
            last = Some(came);
        }
        last
    }

    /// The time from a key to the last byte that it makes the program write.
    fn press(&mut self, keys: &str) -> Duration {
        let pressed = Instant::now();
        self.keyboard.write_all(keys.as_bytes()).unwrap();
        self.keyboard.flush().unwrap();
        self.settle().map_or(Duration::ZERO, |last| last.duration_since(pressed))
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Whether a program of this name is found.
fn is_installed(name: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    name == "behaview" || std::env::split_paths(&path).any(|folder| folder.join(name).is_file())
}

/// Milliseconds in the middle.
fn median(times: &mut [Duration]) -> f64 {
    times.sort_unstable();
    times.get(times.len() / 2).map_or(f64::NAN, |time| time.as_secs_f64() * 1_000.0)
}

fn main() {
    let rows = std::env::args().skip(1).find_map(|word| word.parse().ok()).unwrap_or(1_000_000);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("report.json");
    let report = report::make(rows);
    println!("a report of {rows} rows, {} MB; milliseconds, and ours against theirs", report.len() / 1_000_000);
    std::fs::write(&path, report).unwrap();
    let programs: Vec<_> = PROGRAMS.iter().filter(|program| is_installed(program.name)).collect();
    let mut times = vec![[(); 3].map(|()| Vec::new()); programs.len()];
    for _ in 0..TURNS {
        for (program, [first, down, find]) in programs.iter().zip(&mut times) {
            let mut running = Terminal::start(program, &path);
            first.push(running.until(program.first));
            down.push(running.press(program.down));
            find.push(running.press(program.find));
        }
    }
    for (number, what) in ["first screen", "one row down", "find a word at the end"].iter().enumerate() {
        let medians: Vec<_> =
            times.iter_mut().map(|figures| figures.get_mut(number).map_or(0.0, |f| median(f))).collect();
        for (program, theirs) in programs.iter().zip(&medians) {
            let ours = medians.first().copied().unwrap_or(f64::NAN);
            println!("{what:24} {:10} {theirs:10.1} {:8.3}", program.name, ours / theirs);
        }
    }
}
