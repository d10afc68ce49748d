//! The program as a process, in a home of its own, on a demo service of its own.

use crate::faults::arm;
use behaview::demo::{Demo, Options};
use serde_json::Value;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::sync::{Arc, Mutex};
use tempfile::TempDir;
use tokio::runtime::Runtime;

/// A home of its own, with a profile for a demo service.
pub struct CliHarness {
    pub home: TempDir,
    pub demo: Demo,
    pub key: String,
    _threads: Runtime,
}

impl CliHarness {
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
        let cli = Self::new();
        arm(&cli.demo, fault);
        cli
    }

    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = behaview(self.home.path());
        command.args(arguments).env("VT_APIKEY", &self.key);
        // Without it the counters are read before the first private call.
        let config = std::fs::read_to_string(self.home.path().join(".config/behaview/config.toml"));
        if arguments.first() != Some(&"cost") && !config.is_ok_and(|text| text.contains("private_scanning")) {
            command.env("BEHAVIEW_ENTITLEMENTS_PRIVATE_SCANNING", "true");
        }
        command
    }

    pub fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    /// Runs what is to end with this exit code, and to say these words on standard error.
    pub fn fails(&self, arguments: &[&str], code: i32, words: &[&str]) -> Output {
        let output = self.run(arguments);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {output:?}");
        for words in words {
            assert!(errors(&output).contains(words), "{arguments:?}: {words}: {output:?}");
        }
        output
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

/// A service that answers by path with status, headers and body, and records its calls.
pub struct FakeService {
    pub root: String,
    /// The setting that leads to it.
    pub set: String,
    asked: Arc<Mutex<Vec<String>>>,
}

impl FakeService {
    pub fn new<H: Into<String>, B: Into<Vec<u8>>>(
        mut answer: impl FnMut(&str) -> (&'static str, H, B) + Send + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let root = format!("http://{}", listener.local_addr().unwrap());
        let asked = Arc::<Mutex<Vec<String>>>::default();
        let noted = Arc::clone(&asked);
        std::thread::spawn(move || {
            for mut stream in listener.incoming().map_while(Result::ok) {
                let mut bytes = vec![0; 65_536];
                let length = stream.read(&mut bytes).unwrap_or(0);
                let call = String::from_utf8_lossy(&bytes[..length]).into_owned();
                let (status, headers, body) = answer(call.split(' ').nth(1).unwrap_or_default());
                noted.lock().unwrap().push(call);
                let (headers, body) = (headers.into(), body.into());
                let length = match status.starts_with("204") {
                    true => String::new(),
                    false => format!("content-length: {}\r\n", body.len()),
                };
                let head = format!("HTTP/1.1 {status}\r\nconnection: close\r\n{headers}{length}\r\n");
                let _ = stream.write_all(&[head.as_bytes(), &body].concat());
            }
        });
        Self { set: format!("root={root}"), root, asked }
    }

    /// One that gives these answers, one after another.
    pub fn of(answers: Vec<(&'static str, &'static str, String)>) -> Self {
        let mut answers = answers.into_iter();
        Self::new(move |_| answers.next().unwrap_or(("500 Too many calls", "", String::new())))
    }

    /// The calls with their heads.
    pub fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
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
    piped(behaview(home.path()).args(arguments), input)
}

/// Runs a command with something on standard input.
pub fn piped(command: &mut Command, input: impl AsRef<[u8]>) -> Output {
    let command = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // A program that does not read its input closes it.
    let _ = child.stdin.take().unwrap().write_all(input.as_ref());
    child.wait_with_output().unwrap()
}

pub fn text(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// Text with each run of blanks as one, so that a test need not count columns.
pub fn squeezed(text: &str) -> String {
    text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ") + "\n").collect()
}
