//! A program in a pseudo-terminal, and what its bytes did to it.

use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};
use std::io::{Read, Write};
use std::num::NonZero;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// How long a test waits for the program; only a broken one needs it.
const PATIENCE: Duration = Duration::from_secs(30);

pub fn cells(count: u16) -> NonZero<u16> {
    NonZero::new(count).unwrap()
}

fn parser(rows: u16, columns: u16) -> vt100::Parser {
    vt100::Parser::new(cells(rows), cells(columns), 0)
}

/// Sends a signal to a process.
pub fn signal(name: &str, process: u32) {
    let status = std::process::Command::new("kill").args(["-s", name, &process.to_string()]).status();
    assert!(status.unwrap().success());
}

/// A program in a pseudo-terminal of 120 columns and 40 rows.
pub struct Terminal {
    pub master: Box<dyn MasterPty + Send>,
    pub keyboard: Box<dyn Write + Send>,
    child: Box<dyn Child + Send + Sync>,
    pub screen: Arc<Mutex<(vt100::Parser, Vec<u8>)>>,
    home: TempDir,
}

impl Terminal {
    pub fn start(arguments: &[&str]) -> Self {
        Self::start_with(arguments, "")
    }

    /// The demo, with its list and first report on the screen.
    pub fn demo() -> Self {
        Self::demo_with(&[])
    }

    pub fn demo_with(arguments: &[&str]) -> Self {
        let terminal = Self::start(&[&["demo"], arguments].concat());
        terminal.wait_for("Sandboxes 4 of 6");
        terminal.wait_for("CREATES_SCHEDULED_TASK");
        terminal
    }

    /// A shell that knows jobs, with this text in the config file.
    pub fn shell(config: &str) -> Self {
        let mut shell = CommandBuilder::new("bash");
        shell.env_clear();
        Self::run(shell, &["--norc", "--noprofile", "--noediting", "-i"], config)
    }

    /// Starts the program once a shell has done this to the terminal.
    pub fn after(line: &str, arguments: &[&str], config: &str) -> Self {
        let mut command = CommandBuilder::new("sh");
        command.env_clear();
        command.args(["-c", &format!("{line}; exec \"$0\" \"$@\""), env!("CARGO_BIN_EXE_behaview")]);
        Self::run(command, arguments, config)
    }

    /// Starts the program with this text in its config file.
    pub fn start_with(arguments: &[&str], config: &str) -> Self {
        Self::start_in(arguments, config, "xterm-256color")
    }

    /// The same in a terminal of this kind.
    pub fn start_in(arguments: &[&str], config: &str, kind: &str) -> Self {
        let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_behaview"));
        command.env_clear();
        command.env("TERM", kind);
        Self::run(command, arguments, config)
    }

    /// Starts any program, with this text in `behaview`'s config file.
    pub fn run(command: CommandBuilder, arguments: &[&str], config: &str) -> Self {
        let home = tempfile::tempdir().unwrap();
        // Linux keeps the file in the one folder, macOS in the other.
        for folder in [".config/behaview", "Library/Application Support/behaview"] {
            std::fs::create_dir_all(home.path().join(folder)).unwrap();
            let file = home.path().join(folder).join("config.toml");
            std::fs::write(&file, config).unwrap();
            std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).unwrap();
        }
        Self::run_in(home, command, arguments)
    }

    /// Starts the program once more, where an earlier one has ended: with what it left in its home.
    pub fn start_again(self, arguments: &[&str]) -> Self {
        let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_behaview"));
        command.env_clear();
        Self::run_in(self.home, command, arguments)
    }

    fn run_in(home: TempDir, mut command: CommandBuilder, arguments: &[&str]) -> Self {
        let size = PtySize { rows: 40, cols: 120, pixel_width: 0, pixel_height: 0 };
        let pair = native_pty_system().openpty(size).unwrap();
        command.args(arguments);
        command.env("HOME", home.path());
        if command.get_env("TERM").is_none() {
            command.env("TERM", "xterm-256color");
        }
        command.env("TMPDIR", home.path());
        if command.get_env("PATH").is_none() {
            command.env("PATH", "/usr/bin:/bin");
        }
        command.cwd(home.path());
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
        Self { master: pair.master, keyboard, child, screen, home }
    }

    /// The folder that the program takes for home, and keeps temporary files in.
    pub fn home(&self) -> &Path {
        self.home.path()
    }

    /// The program's records, wherever the system has them.
    pub fn store(&self) -> PathBuf {
        let folders = [".local/share/behaview", "Library/Application Support/behaview"];
        let paths = folders.map(|folder| self.home().join(folder).join("records.db"));
        paths.into_iter().find(|path| path.exists()).unwrap()
    }

    /// Fails if the demo left a folder behind.
    pub fn assert_nothing_left(&self) {
        let names = std::fs::read_dir(self.home()).unwrap().map(|entry| entry.unwrap().file_name());
        let left: Vec<_> = names.filter(|name| name.to_string_lossy().starts_with("behaview-demo")).collect();
        assert!(left.is_empty(), "{left:?}");
    }

    /// Waits until the program has ended: its screen is left, and the shell's prompt is shown.
    pub fn wait_for_shell(&self) {
        let is_prompted = |bytes: &[u8]| {
            let left = memchr::memmem::rfind(bytes, b"\x1b[?1049l");
            left.is_some_and(|left| memchr::memmem::find(&bytes[left..], b"bash-").is_some())
        };
        self.wait_until("the screen was not left", || !self.is_taken_over() && is_prompted(&self.bytes()));
    }

    /// Waits until something is so; fails with these words and the screen.
    pub fn wait_until(&self, fault: &str, mut is_so: impl FnMut() -> bool) {
        let deadline = Instant::now() + PATIENCE;
        while !is_so() {
            assert!(Instant::now() < deadline, "{fault}:\n{}", self.text());
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// The bytes that the program wrote so far.
    pub fn bytes(&self) -> Vec<u8> {
        self.screen.lock().unwrap().1.clone()
    }

    /// Whether the program draws on a screen of its own.
    pub fn is_taken_over(&self) -> bool {
        self.screen.lock().unwrap().0.screen().alternate_screen()
    }

    pub fn text(&self) -> String {
        self.screen.lock().unwrap().0.screen().contents()
    }

    pub fn wait_for(&self, words: &str) {
        self.wait_until(&format!("{words:?} did not come"), || self.text().contains(words));
    }

    /// Waits until a shell in this terminal has asked so often for a command.
    pub fn wait_for_prompts(&self, count: usize) {
        self.wait_until("the shell does not ask", || self.text().matches("bash-").count() >= count);
    }

    pub fn press(&mut self, keys: &str) {
        self.keyboard.write_all(keys.as_bytes()).unwrap();
        self.keyboard.flush().unwrap();
    }

    /// Ends the program by its key.
    pub fn quit(&mut self) {
        self.press("q");
        assert_eq!(self.wait_for_end(), 0);
    }

    /// Waits for the program to end; gives its exit code.
    pub fn wait_for_end(&mut self) -> u32 {
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
    pub fn assert_given_back(&self) {
        // The last bytes may still be on their way.
        self.wait_until("the terminal was not given back", || {
            let seen = self.screen.lock().unwrap();
            let screen = seen.0.screen();
            !screen.alternate_screen() && !screen.hide_cursor() && !screen.bracketed_paste()
        });
    }

    pub fn signal(&self, name: &str) {
        signal(name, self.child.process_id().unwrap());
    }

    /// The number of the process that a shell in this terminal has started.
    pub fn job(&self) -> u32 {
        let shell = self.child.process_id().unwrap().to_string();
        let mut job = None;
        self.wait_until("the shell started nothing", || {
            let found = std::process::Command::new("pgrep").args(["-P", &shell]).output().unwrap().stdout;
            job = String::from_utf8(found).unwrap().trim().parse().ok();
            job.is_some()
        });
        job.unwrap()
    }
}
