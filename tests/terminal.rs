//! The real program in a real pseudo-terminal: it starts, opens a report, quits, and gives the terminal back.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, reason = "a test that cannot go on fails")]

use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};
use std::io::{Read, Write};
use std::num::NonZero;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// How long a test waits for the program; only a broken one needs it.
const PATIENCE: Duration = Duration::from_secs(30);

fn cells(count: u16) -> NonZero<u16> {
    NonZero::new(count).unwrap()
}

fn parser(rows: u16, columns: u16) -> vt100::Parser {
    vt100::Parser::new(cells(rows), cells(columns), 0)
}

/// A program in a pseudo-terminal of 120 columns and 40 rows.
struct Terminal {
    master: Box<dyn MasterPty + Send>,
    keyboard: Box<dyn Write + Send>,
    child: Box<dyn Child + Send + Sync>,
    screen: Arc<Mutex<(vt100::Parser, Vec<u8>)>>,
    _home: TempDir,
}

impl Terminal {
    fn start(arguments: &[&str]) -> Self {
        Self::start_with(arguments, "")
    }

    /// Starts the program with this text in its config file.
    fn start_with(arguments: &[&str], config: &str) -> Self {
        Self::start_in(arguments, config, "xterm-256color")
    }

    /// The same in a terminal of this kind.
    fn start_in(arguments: &[&str], config: &str, kind: &str) -> Self {
        let size = PtySize { rows: 40, cols: 120, pixel_width: 0, pixel_height: 0 };
        let pair = native_pty_system().openpty(size).unwrap();
        let home = tempfile::tempdir().unwrap();
        // Linux keeps the file in the one folder, macOS in the other.
        for folder in [".config/behaview", "Library/Application Support/behaview"] {
            std::fs::create_dir_all(home.path().join(folder)).unwrap();
            std::fs::write(home.path().join(folder).join("config.toml"), config).unwrap();
        }
        let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_behaview"));
        command.args(arguments);
        command.env_clear();
        command.env("HOME", home.path());
        command.env("TERM", kind);
        command.env("TMPDIR", home.path());
        let child = pair.slave.spawn_command(command).unwrap();
        drop(pair.slave);
        let screen = Arc::new(Mutex::new((parser(40, 120), Vec::new())));
        let (mut output, seen) = (pair.master.try_clone_reader().unwrap(), Arc::clone(&screen));
        std::thread::spawn(move || {
            let mut buffer = [0; 4096];
            while let Ok(read @ 1..) = output.read(&mut buffer) {
                let mut seen = seen.lock().unwrap();
                seen.0.process(&buffer[..read]);
                seen.1.extend_from_slice(&buffer[..read]);
            }
        });
        let keyboard = pair.master.take_writer().unwrap();
        Self { master: pair.master, keyboard, child, screen, _home: home }
    }

    fn text(&self) -> String {
        self.screen.lock().unwrap().0.screen().contents()
    }

    fn wait_for(&self, words: &str) {
        let deadline = Instant::now() + PATIENCE;
        while !self.text().contains(words) {
            assert!(Instant::now() < deadline, "{words:?} did not come:\n{}", self.text());
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    fn press(&mut self, keys: &str) {
        self.keyboard.write_all(keys.as_bytes()).unwrap();
        self.keyboard.flush().unwrap();
    }

    /// Waits for the program to end; gives its exit code.
    fn wait_for_end(&mut self) -> u32 {
        let deadline = Instant::now() + PATIENCE;
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status.exit_code();
            }
            assert!(Instant::now() < deadline, "the program did not end:\n{}", self.text());
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Whether the program left the terminal as it found it.
    fn assert_given_back(&self) {
        // The last bytes may still be on their way.
        let deadline = Instant::now() + PATIENCE;
        loop {
            let seen = self.screen.lock().unwrap();
            let screen = seen.0.screen();
            if !screen.alternate_screen() && !screen.hide_cursor() && !screen.bracketed_paste() {
                return;
            }
            assert!(Instant::now() < deadline, "the terminal was not given back");
            drop(seen);
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    fn signal(&self, name: &str) {
        let id = self.child.process_id().unwrap().to_string();
        assert!(std::process::Command::new("kill").args(["-s", name, &id]).status().unwrap().success());
    }
}

#[test]
fn from_start_through_a_report_to_quit() {
    let mut terminal = Terminal::start(&["demo"]);
    terminal.wait_for("Sandboxes 4 of 6");
    terminal.wait_for("CREATES_SCHEDULED_TASK");
    terminal.press("\t");
    terminal.wait_for("1/37");
    terminal.press("4G");
    terminal.wait_for("22/22");
    terminal.press("\r");
    terminal.wait_for("files_opened");
    terminal.press("q");
    assert_eq!(terminal.wait_for_end(), 0);
    terminal.assert_given_back();
}

#[test]
fn the_terminal_can_be_resized_while_the_program_runs() {
    let mut terminal = Terminal::start(&["demo"]);
    terminal.wait_for("Sandboxes 4 of 6");
    for (rows, cols) in [(24, 80), (10, 40), (5, 20), (60, 200), (40, 120)] {
        terminal.screen.lock().unwrap().0.screen_mut().set_size(cells(rows), cells(cols));
        terminal.master.resize(PtySize { rows, cols, pixel_width: 0, pixel_height: 0 }).unwrap();
        terminal.wait_for(if rows < 10 { "needs 40" } else { "spent" });
    }
    terminal.press("q");
    assert_eq!(terminal.wait_for_end(), 0);
}

#[test]
fn a_pasted_hash_is_one_paste() {
    let mut terminal = Terminal::start(&["demo"]);
    terminal.wait_for("Sandboxes 4 of 6");
    terminal.press("f");
    terminal.wait_for("Which file?");
    let hash = "0123456789abcdef".repeat(4);
    terminal.press(&format!("\u{1b}[200~q {hash} q\r\u{1b}[201~"));
    terminal.wait_for(&hash);
    terminal.press("\r");
    terminal.wait_for("list the sandboxes");
    terminal.press("q");
    assert_eq!(terminal.wait_for_end(), 0);
}

#[test]
fn a_signal_ends_the_program_and_gives_the_terminal_back() {
    for name in ["TERM", "INT", "HUP"] {
        let mut terminal = Terminal::start(&["demo"]);
        terminal.wait_for("Sandboxes 4 of 6");
        terminal.signal(name);
        terminal.wait_for_end();
        terminal.assert_given_back();
    }
}

#[test]
fn a_closed_terminal_ends_the_program() {
    let mut terminal = Terminal::start(&["demo"]);
    terminal.wait_for("Sandboxes 4 of 6");
    let Terminal { master, keyboard, .. } = &mut terminal;
    drop(std::mem::replace(keyboard, Box::new(std::io::sink())));
    let other = native_pty_system().openpty(PtySize::default()).unwrap();
    drop(std::mem::replace(master, other.master));
    terminal.signal("HUP");
    terminal.wait_for_end();
}

#[test]
fn hostile_strings_reach_the_terminal_as_text_only() {
    let mut terminal = Terminal::start(&["demo"]);
    terminal.wait_for("Sandboxes 4 of 6");
    terminal.press("f");
    terminal.wait_for("Earlier files");
    let hostile =
        behaview::demo::Demo::files().into_iter().find(|file| file.title.contains("Unfriendly")).unwrap().sha256;
    terminal.press(&format!("\u{1b}[200~{hostile}\u{1b}[201~\r"));
    terminal.wait_for("list the sandboxes");
    terminal.press("\r");
    terminal.wait_for("Wrong Types");
    terminal.press("\r]]]");
    for pane in "1234567890tmo".chars() {
        terminal.press(&format!("{pane}zjjGgz"));
    }
    terminal.press("q");
    terminal.wait_for_end();
    terminal.assert_given_back();
    let seen = terminal.screen.lock().unwrap();
    assert_eq!(foreign_controls(&seen.1), Vec::<String>::new());
}

/// Every control sequence that is none of those the program itself needs to draw.
fn foreign_controls(bytes: &[u8]) -> Vec<String> {
    let text = String::from_utf8(bytes.to_vec()).expect("the program writes UTF-8");
    // It asks for the background's colour, once.
    let text = text.replacen("\u{1b}]11;?\u{1b}\\\u{1b}[c", "", 1);
    let mut foreign = Vec::new();
    let mut rest = text.as_str();
    while let Some(at) = rest.find(char::is_control) {
        rest = &rest[at..];
        let end = rest
            .strip_prefix("\u{1b}[")
            .and_then(|inside| inside.find(|c: char| c.is_ascii_alphabetic()))
            .map(|n| n + 3);
        let sequence = end.map(|end| &rest[..end]);
        let is_ours = sequence.is_some_and(|sequence| {
            let (body, last) = sequence[2..].split_at(sequence.len() - 3);
            let digits = |text: &str| text.chars().all(|c| c.is_ascii_digit() || c == ';');
            match last {
                "m" | "H" | "J" | "A" | "B" | "C" | "D" | "K" | "X" => digits(body),
                "h" | "l" => ["?1049", "?2004", "?25", "?1000", "?1002", "?1003", "?1006", "?1015"].contains(&body),
                _ => false,
            }
        });
        if !is_ours {
            foreign.push(rest.chars().take(12).collect::<String>().escape_debug().to_string());
        }
        rest = &rest[end.unwrap_or(1).max(1)..];
    }
    foreign
}

#[test]
fn the_config_file_tells_the_app_of_entitlements() {
    let config = "profile = \"lab\"\napi_key = \"any\"\n[profiles.lab]\nroot = \"http://127.0.0.1:9\"\n\
                  [entitlements]\nprivate_scanning = false\n";
    let mut terminal = Terminal::start_with(&[&"ab".repeat(32)], config);
    terminal.wait_for("refused");
    terminal.press("q");
    assert_eq!(terminal.wait_for_end(), 0);
}

#[test]
fn the_mouse_chooses_scrolls_and_drags_a_border() {
    let mut terminal = Terminal::start(&["demo", "--mouse"]);
    terminal.wait_for("Sandboxes 4 of 6");
    terminal.wait_for("CREATES_SCHEDULED_TASK");
    // Buttons as SGR tells them: columns and rows from 1.
    terminal.press("\u{1b}[<0;5;7M\u{1b}[<0;5;7m");
    terminal.wait_for("· Zenbox ·");
    terminal.press("\u{1b}[<0;5;5M\u{1b}[<0;5;5m");
    terminal.wait_for("· CAPE Sandbox ·");
    terminal.press("\u{1b}[<0;50;8M\u{1b}[<0;50;8m");
    terminal.wait_for("5/37");
    terminal.press("\u{1b}[<65;50;8M");
    terminal.wait_for("8/37");
    terminal.press("\u{1b}[<0;30;10M\u{1b}[<32;50;10M\u{1b}[<0;50;10m");
    terminal.wait_for(&format!("╭─ Sandboxes 4 of 6 {}╮", "─".repeat(29)));
    terminal.press("q");
    assert_eq!(terminal.wait_for_end(), 0);
    terminal.assert_given_back();
}

#[test]
fn in_ascii_nothing_else_reaches_the_terminal() {
    let mut terminal = Terminal::start(&["demo", "--ascii"]);
    terminal.wait_for("Sandboxes 4 of 6");
    terminal.press("\r?");
    terminal.wait_for("Keys that apply here");
    terminal.press("\u{1b}");
    terminal.wait_for("+= 1 Processes");
    terminal.press("q");
    assert_eq!(terminal.wait_for_end(), 0);
    assert!(terminal.screen.lock().unwrap().1.is_ascii());
}

#[test]
fn an_answer_about_the_background_that_comes_late_is_not_typed() {
    let mut terminal = Terminal::start(&["demo"]);
    terminal.wait_for("Sandboxes 4 of 6");
    terminal.press("f");
    terminal.wait_for("Which file?");
    terminal.press("\u{1b}]11;rgb:ffff/ffff/ffff\u{1b}\\\u{1b}[?62;4c");
    terminal.press("ab");
    terminal.wait_for("62 to go");
    terminal.press("\u{3}");
    assert_eq!(terminal.wait_for_end(), 0);
    let seen = terminal.screen.lock().unwrap();
    assert!(String::from_utf8_lossy(&seen.1).contains("\u{1b}]11;?"), "the background was asked for");
}

#[test]
fn a_simple_terminal_gets_lines() {
    let mut terminal = Terminal::start_in(&["demo"], "", "dumb");
    terminal.wait_for("== Sandboxes 4 of 6 ==");
    terminal.press("quit\n");
    assert_eq!(terminal.wait_for_end(), 0);
    assert!(!terminal.screen.lock().unwrap().1.contains(&0x1b));
}
