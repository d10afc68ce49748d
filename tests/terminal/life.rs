//! However the program ends or makes way, the terminal is given back and nothing stays behind.

use super::harness::{Terminal, signal};
use crate::faults::arm;
use behaview::demo::{Demo, Options};
use portable_pty::{CommandBuilder, PtySize, native_pty_system};
use std::io::Read;
use std::time::{Duration, Instant};

/// The demo, started from a shell that knows jobs.
fn demo_in_a_shell(arguments: &str) -> Terminal {
    let mut terminal = Terminal::shell("");
    terminal.press(&format!("{} demo {arguments}\r", env!("CARGO_BIN_EXE_behaview")));
    terminal
}

#[test]
fn signal_ends_app_and_restores_the_terminal() {
    // The numbers of the last two differ from system to system.
    for (name, code) in [("TERM", 143), ("INT", 130), ("HUP", 129), ("QUIT", 131), ("USR1", 0), ("USR2", 0)] {
        let mut terminal = Terminal::demo();
        terminal.signal(name);
        let found = terminal.wait_for_end();
        assert!(found == code || code == 0 && found > 128, "{name}: {found}");
        terminal.assert_given_back();
        terminal.assert_nothing_left();
    }
}

#[test]
fn signal_during_startup_leaves_nothing_behind() {
    let is_long = std::env::var_os("BEHAVIEW_TORTURE").is_some();
    let (moments, step) = if is_long { (0..300, 1) } else { (0..60, 4) };
    let mut kills = 0;
    for (milliseconds, name) in moments.step_by(step).zip(["TERM", "TERM", "INT", "HUP"].into_iter().cycle()) {
        let mut terminal = Terminal::start(&["demo"]);
        std::thread::sleep(Duration::from_millis(milliseconds));
        terminal.signal(name);
        terminal.wait_for_end();
        terminal.assert_given_back();
        terminal.assert_nothing_left();
        kills += 1;
    }
    println!("kills x moments of the start: {kills}");
}

#[test]
fn store_error_is_printed_to_the_restored_terminal() {
    let mut terminal = Terminal::start(&[]);
    terminal.wait_for("SHA-256");
    terminal.quit();
    let store = terminal.store();
    std::fs::remove_file(&store).unwrap();
    std::fs::create_dir(&store).unwrap();
    let mut terminal = terminal.start_again(&[]);
    assert_ne!(terminal.wait_for_end(), 0);
    terminal.assert_given_back();
    terminal.wait_for("records.db");
}

#[test]
fn a_closed_terminal_ends_the_program_and_its_folder() {
    let home = tempfile::tempdir().unwrap();
    let size = PtySize { rows: 40, cols: 120, ..PtySize::default() };
    let pair = native_pty_system().openpty(size).unwrap();
    let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_behaview"));
    command.arg("demo");
    command.env_clear();
    command.env("TERM", "xterm-256color");
    ["HOME", "TMPDIR"].into_iter().for_each(|name| command.env(name, home.path()));
    let mut child = pair.slave.spawn_command(command).unwrap();
    drop(pair.slave);
    // Whoever reads along in a thread of their own keeps a terminal open.
    let (mut output, mut seen, mut buffer) = (pair.master.try_clone_reader().unwrap(), Vec::new(), [0; 4096]);
    while memchr::memmem::find(&seen, b"Sandboxes").is_none() {
        let read = output.read(&mut buffer).unwrap();
        assert!(read > 0, "{}", String::from_utf8_lossy(&seen));
        seen.extend_from_slice(&buffer[..read]);
    }
    let is_running = || {
        let mut names = std::fs::read_dir(home.path()).unwrap().map(|entry| entry.unwrap().file_name());
        names.any(|name| name.to_string_lossy().starts_with("behaview-demo"))
    };
    assert!(is_running());
    drop((output, pair.master));
    let deadline = Instant::now() + Duration::from_secs(30);
    while is_running() {
        assert!(Instant::now() < deadline, "it does not end");
        std::thread::sleep(Duration::from_millis(10));
    }
    child.wait().unwrap();
}

#[test]
fn ctrl_z_suspends_and_fg_resumes() {
    let mut terminal = demo_in_a_shell("");
    terminal.wait_for("Sandboxes 4 of 6");
    for time in 1..=2 {
        terminal.press("\u{1a}");
        // What the shell said the first time stands there still.
        terminal.wait_until("it was not stopped", || terminal.text().matches("Stopped").count() >= time);
        assert!(!terminal.is_taken_over());
        terminal.assert_given_back();
        terminal.press(&format!("echo the shell $((40+{time}))\r"));
        terminal.wait_for(&format!("the shell {}", 40 + time));
        terminal.press("fg\r");
        terminal.wait_for("Sandboxes 4 of 6");
        assert!(terminal.is_taken_over());
    }
    terminal.press("q");
    terminal.wait_for_shell();
    terminal.press("echo code $?\r");
    terminal.wait_for("code 0");
    terminal.assert_given_back();
    terminal.assert_nothing_left();
}

#[test]
fn externally_stopped_app_resumes() {
    for name in ["TSTP", "STOP"] {
        let mut terminal = demo_in_a_shell("");
        terminal.wait_for("Sandboxes 4 of 6");
        let job = terminal.job();
        signal(name, job);
        terminal.wait_for("Stopped");
        terminal.press("clear; fg\r");
        terminal.wait_for("Sandboxes 4 of 6");
        terminal.press("q");
        terminal.wait_for_shell();
        terminal.press("echo code $?\r");
        terminal.wait_for("code 0");
        terminal.assert_given_back();
    }
}

#[test]
fn stopped_job_killed_by_the_shell_exits_cleanly() {
    for (begun, stopped_by) in [("", "TSTP"), ("", "STOP"), ("&", "")] {
        let mut terminal = demo_in_a_shell(begun);
        let job = terminal.job();
        if !stopped_by.is_empty() {
            terminal.wait_for("Sandboxes 4 of 6");
            signal(stopped_by, job);
        }
        // The shell says only before its next prompt that a job of the background was stopped.
        while !terminal.text().contains("Stopped") {
            // A key that the app reads while it is stopped would stop it again (SIGTTIN).
            terminal.press(if begun == "&" { "\r" } else { "" });
            std::thread::sleep(Duration::from_millis(50));
        }
        // It asks for the end, and brings the job back for that, behind the prompt.
        let is_there = format!("kill -0 {job} 2>/dev/null");
        // A return that came before the shell listened may stand before the first word of the line.
        terminal.press(&format!(":; clear; sleep 0.3; kill %1; while {is_there}; do sleep 0.1; done\r"));
        // Input is now the shell's: the system would stop a reader in the background.
        terminal.press("true\r");
        terminal.wait_for("Exit 143");
        terminal.assert_given_back();
    }
}

#[test]
fn pasted_megabytes_with_escapes_are_text() {
    let mut terminal = Terminal::demo();
    terminal.press("f");
    terminal.wait_for("Which file?");
    let hash = "fedcba9876543210".repeat(4);
    let junk = "\u{1b}]0;owned\u{7}\u{1b}[31m\u{9b}2J q\r ".repeat(100_000);
    terminal.press(&format!("\u{1b}[200~{junk} {hash} {junk}\u{1b}[201~"));
    terminal.wait_for(&hash);
    terminal.press("\u{1b}");
    terminal.wait_for("Which file?");
    terminal.signal("TERM");
    assert_eq!(terminal.wait_for_end(), 143);
    terminal.assert_given_back();
}

/// The app on a service of its own where a list is asked for, and does not come at once.
fn asking(fault: &str) -> (Terminal, Demo, tokio::runtime::Runtime) {
    let threads = tokio::runtime::Runtime::new().unwrap();
    let demo = threads.block_on(Demo::start(Options::default())).unwrap();
    arm(&demo, fault);
    let config =
        format!("profile = \"lab\"\napi_key = \"{}\"\n[profiles.lab]\nroot = \"{}\"\n", demo.key(), demo.root());
    let mut terminal = Terminal::start_with(&[&Demo::files()[0].sha256], &config);
    // A price may change with the counters: a key pressed before the new frame sends nothing.
    terminal.wait_for("500 of 500 today");
    terminal.press("\r");
    terminal.wait_until("nothing was asked", || demo.seen().iter().any(|call| call.charged > 0));
    (terminal, demo, threads)
}

#[test]
fn signal_restores_terminal_and_awaits_paid_call() {
    for (fault, name, state) in [
        ("list:delay=600", "TERM", "charged"),
        ("list:delay=600", "HUP", "charged"),
        ("list:stall=500", "TERM", "unknown"),
        ("list:stall=500", "HUP", "unknown"),
    ] {
        let (mut terminal, _demo, _threads) = asking(fault);
        let began = Instant::now();
        terminal.signal(name);
        terminal.assert_given_back();
        assert!(began.elapsed() < Duration::from_millis(400), "{name}: {:?}", began.elapsed());
        terminal.wait_for_end();
        assert!(began.elapsed() < Duration::from_secs(2), "{name}: {:?}", began.elapsed());
        let store = rusqlite::Connection::open(terminal.store()).unwrap();
        let found: String =
            store.query_row("SELECT state FROM ledger ORDER BY id LIMIT 1", [], |row| row.get(0)).unwrap();
        assert_eq!(found, state, "{fault} {name}");
    }
}
