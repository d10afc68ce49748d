//! Inside tmux: what is copied goes to its buffer; a paste and another size come by way of it.

use super::harness::Terminal;
use portable_pty::CommandBuilder;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Output};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// The demo, as it runs inside a tmux that is this script.
fn demo_in(script: &str) -> (Terminal, TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let tmux = folder.path().join("tmux");
    std::fs::write(&tmux, format!("#!/bin/sh\n{}\n", script.replace("FOLDER", folder.path().to_str().unwrap())))
        .unwrap();
    std::fs::set_permissions(&tmux, std::fs::Permissions::from_mode(0o755)).unwrap();
    let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_behaview"));
    command.env_clear();
    command.env("PATH", format!("{}:/usr/bin:/bin", folder.path().display()));
    command.env("TERM", "tmux-256color");
    command.env("TMUX", "/nowhere/default,1,0");
    let mut terminal = Terminal::run(command, &["demo"], "");
    terminal.wait_for("CREATES_SCHEDULED_TASK");
    terminal.press("2y");
    (terminal, folder)
}

fn assert_quits(mut terminal: Terminal) {
    terminal.quit();
    let bytes = terminal.bytes();
    assert!(memchr::memmem::find(&bytes, b"\x1b]52").is_none(), "tmux takes no OSC 52 from a program");
}

#[test]
fn a_copy_goes_into_the_buffer_of_tmux() {
    let (terminal, folder) = demo_in("echo \"$@\" > FOLDER/asked; cat > FOLDER/copied");
    terminal.wait_for("Copied a value by tmux");
    let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
    assert_eq!((read("copied").as_str(), read("asked").trim()), ("CALLS_WMI", "load-buffer -w -"));
    assert_quits(terminal);
    // One that is too old to hand it on keeps it.
    let (terminal, folder) = demo_in("[ \"$2\" = -w ] && exit 1; cat > FOLDER/copied");
    terminal.wait_for("prefix ] pastes it");
    assert_eq!(std::fs::read_to_string(folder.path().join("copied")).unwrap(), "CALLS_WMI");
    assert_quits(terminal);
    let (terminal, _folder) = demo_in("exit 1");
    terminal.wait_for("tmux refused it");
    assert_quits(terminal);
}

/// A tmux of its own, with the demo in it.
struct Tmux(TempDir);

impl Tmux {
    fn run(&self, arguments: &[&str]) -> Output {
        let mut tmux = Command::new("tmux");
        tmux.args(["-f", "/dev/null"]).args(arguments);
        tmux.env_clear().env("PATH", "/usr/bin:/bin").env("HOME", self.0.path()).env("TMUX_TMPDIR", self.0.path());
        tmux.env("LANG", "C.UTF-8").env("TERM", "xterm-256color").output().unwrap()
    }

    fn wait_for(&self, words: &str) {
        let deadline = Instant::now() + Duration::from_secs(30);
        loop {
            let screen = String::from_utf8(self.run(&["capture-pane", "-p"]).stdout).unwrap();
            if screen.contains(words) {
                return;
            }
            assert!(Instant::now() < deadline, "{words:?} did not come:\n{screen}");
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

impl Drop for Tmux {
    fn drop(&mut self) {
        self.run(&["kill-server"]);
    }
}

#[test]
fn app_in_tmux_copies_pastes_and_resizes() {
    if Command::new("tmux").arg("-V").output().is_err() {
        println!("there is no tmux here: the app inside a real one was NOT tried");
        return;
    }
    let tmux = Tmux(tempfile::tempdir().unwrap());
    let demo = format!("{} demo", env!("CARGO_BIN_EXE_behaview"));
    let begun = tmux.run(&["new-session", "-d", "-x", "120", "-y", "40", &demo]);
    assert!(begun.status.success(), "{begun:?}");
    tmux.wait_for("CREATES_SCHEDULED_TASK");
    tmux.run(&["send-keys", "2", "y"]);
    tmux.wait_for("Copied a value by tmux");
    assert_eq!(tmux.run(&["show-buffer"]).stdout, b"CALLS_WMI");
    tmux.run(&["send-keys", "f"]);
    tmux.wait_for("Which file?");
    let hash = "0123456789abcdef".repeat(4);
    tmux.run(&["set-buffer", &format!("q {hash} q\n")]);
    tmux.run(&["paste-buffer", "-p"]);
    tmux.wait_for(&hash);
    tmux.run(&["resize-window", "-x", "30", "-y", "8"]);
    tmux.wait_for("needs 40 columns");
    tmux.run(&["resize-window", "-x", "100", "-y", "30"]);
    tmux.wait_for(&hash);
    tmux.run(&["send-keys", "C-c"]);
    let deadline = Instant::now() + Duration::from_secs(30);
    while tmux.run(&["has-session"]).status.success() {
        assert!(Instant::now() < deadline, "the program did not end");
        std::thread::sleep(Duration::from_millis(50));
    }
}
