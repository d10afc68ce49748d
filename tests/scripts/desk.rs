//! The program as a process, in a home of its own, on a demo service of its own.

use crate::faults::arm;
use behaview::demo::{Demo, Options};
use serde_json::Value;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;
use tokio::runtime::Runtime;

/// A home of its own, with a profile for a demo service.
pub struct Desk {
    pub home: TempDir,
    pub demo: Demo,
    pub key: String,
    _threads: Runtime,
}

impl Desk {
    pub fn new() -> Self {
        Self::with(Options::default())
    }

    pub fn with(options: Options) -> Self {
        let threads = Runtime::new().unwrap();
        let demo = threads.block_on(Demo::start(options)).unwrap();
        let home = tempfile::tempdir().unwrap();
        let config = home.path().join(".config/behaview");
        std::fs::create_dir_all(&config).unwrap();
        let profile =
            format!("profile = \"lab\"\n[profiles.lab]\nroot = \"{}\"\nv2_prefix = \"/svcapi/v2\"\n", demo.root());
        let file = config.join("config.toml");
        std::fs::write(&file, profile).unwrap();
        #[cfg(unix)]
        std::fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
        let key = demo.key().to_owned();
        Self { home, demo, key, _threads: threads }
    }

    /// The same, where something goes wrong.
    pub fn faulty(fault: &str) -> Self {
        let desk = Self::new();
        arm(&desk.demo, fault);
        desk
    }

    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = behaview(self.home.path());
        command.args(arguments).env("VT_APIKEY", &self.key);
        command
    }

    pub fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    /// Adds to the config file.
    pub fn configure(&self, more: &str) {
        let path = self.home.path().join(".config/behaview/config.toml");
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::write(path, text + more).unwrap();
    }

    pub fn paid(&self) -> usize {
        self.demo.seen().iter().filter(|call| call.charged > 0).count()
    }
}

/// The program with nothing of this machine's user around it.
pub fn behaview(home: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_behaview"));
    command
        .env_clear()
        .env("HOME", home)
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .stdin(Stdio::null());
    command
}

pub fn main_file() -> String {
    Demo::files()[0].sha256.clone()
}

pub fn json(output: &Output) -> Value {
    assert!(output.status.success(), "{output:?}");
    serde_json::from_slice(&output.stdout).unwrap()
}

pub fn errors(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// The program, run in an empty home with something on standard input.
pub fn run(arguments: &[&str], input: &str) -> Output {
    let home = tempfile::tempdir().unwrap();
    let mut child = behaview(home.path())
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A program that does not read its input closes it.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    child.wait_with_output().unwrap()
}

pub fn text(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// Text with each run of blanks as one, so that a test need not count columns.
pub fn squeezed(text: &str) -> String {
    text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ") + "\n").collect()
}
