//! A conspicuous key: the real program runs with it, and all its output and files are searched.

use crate::faults::arm;
use behaview::demo::{Demo, Options};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

pub const CANARY: &str = "c0ffee11c0ffee22c0ffee33c0ffee44c0ffee55c0ffee66c0ffee77c0ffee88";

/// A home with a config, a service, and somebody who must never be called.
pub struct Trial {
    pub home: tempfile::TempDir,
    pub demo: Demo,
    stranger: TcpListener,
    _threads: tokio::runtime::Runtime,
}

impl Trial {
    pub fn begin() -> Self {
        let threads = tokio::runtime::Runtime::new().unwrap();
        let options = Options { key: Some(CANARY.to_owned()), ..Options::default() };
        let demo = threads.block_on(Demo::start(options)).unwrap();
        let stranger = TcpListener::bind("127.0.0.1:0").unwrap();
        stranger.set_nonblocking(true).unwrap();
        let trial = Self { home: tempfile::tempdir().unwrap(), demo, stranger, _threads: threads };
        trial.configure(
            &format!(
                "profile = \"lab\"\n[profiles.lab]\nroot = \"{}\"\nv2_prefix = \"/svcapi/v2\"\n",
                trial.demo.root()
            ),
            0o600,
        );
        trial
    }

    fn config(&self) -> PathBuf {
        self.home.path().join(".config/behaview/config.toml")
    }

    fn configure(&self, text: &str, mode: u32) {
        let path = self.config();
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        set_mode(&path, mode);
    }

    /// Runs the program with the key, and with every proxy variable that points to the stranger.
    pub fn run(&self, arguments: &[&str], key: Option<&str>) -> Output {
        self.run_in(Command::new(env!("CARGO_BIN_EXE_behaview")), arguments, key)
    }

    /// The same, started by another program.
    pub fn run_under(&self, mut other: Command, arguments: &[&str], key: Option<&str>) -> Output {
        other.arg(env!("CARGO_BIN_EXE_behaview"));
        self.run_in(other, arguments, key)
    }

    fn run_in(&self, mut command: Command, arguments: &[&str], key: Option<&str>) -> Output {
        let stranger = format!("http://{}", self.stranger.local_addr().unwrap());
        command
            .args(arguments)
            .env_clear()
            .env("HOME", self.home.path())
            .current_dir(self.home.path())
            .env("RUST_BACKTRACE", "full")
            .env("RUST_LOG", "trace");
        for name in ["http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"] {
            command.env(name, &stranger);
        }
        if let Some(key) = key {
            command.env("BEHAVIEW_API_KEY", key);
        }
        command.output().unwrap()
    }

    fn assert_no_stranger(&self) {
        assert!(self.stranger.accept().is_err(), "somebody else was called");
    }
}

fn set_mode(path: &Path, mode: u32) {
    #[cfg(unix)]
    std::fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(mode)).unwrap();
}

/// Whether bytes hold the key, in any spelling.
fn holds_key(bytes: &[u8]) -> bool {
    let escaped: String = CANARY.bytes().map(|byte| format!("\\u{byte:04x}")).collect();
    let small = bytes.to_ascii_lowercase();
    [CANARY, &escaped].iter().any(|key| memchr::memmem::find(&small, key.as_bytes()).is_some())
}

/// Everything below a folder.
pub fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = folder.read_dir().unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

#[test]
fn the_key_is_in_nothing_that_the_program_wrote() {
    let trial = Trial::begin();
    let file = &Demo::files()[0].sha256;
    let report = format!("{file}_CAPE Sandbox-1794474845");
    let commands: [&[&str]; 8] = [
        &["list", file],
        &["show", &report],
        &["quota"],
        &["usage"],
        &["api", "v3-user"],
        &["api", "v2-file-report", file],
        &["ledger", "--json"],
        &["config", "path"],
    ];
    let stranger = format!("redirect=http://{}/", trial.stranger.local_addr().unwrap());
    let mut runs = 0;
    for fault in ["delay=0", "401-wrong", "404", "portal", "lost", "gzip-lie", "cut=20", &stranger, "429-rate-date"] {
        // After a refusal by rate the next call would wait for the moment that the service named.
        for arguments in &commands[..if fault.starts_with("429") { 1 } else { commands.len() }] {
            arm(&trial.demo, &format!("{fault}*1"));
            let output = trial.run(arguments, Some(CANARY));
            assert!(!holds_key(&output.stdout) && !holds_key(&output.stderr), "{fault} {arguments:?}: {output:?}");
            trial.demo.remove_hooks();
            runs += 1;
        }
    }
    trial.assert_no_stranger();
    assert!(trial.demo.seen().len() > 20, "the service was asked {} times", trial.demo.seen().len());
    let written = files(trial.home.path());
    let with_key: Vec<_> = written.iter().filter(|path| holds_key(&std::fs::read(path).unwrap())).collect();
    assert_eq!(with_key, [] as [&PathBuf; 0]);
    println!("key: {runs} runs, {} files searched", written.len());
}

#[test]
fn echoed_key_is_redacted_in_every_output() {
    let trial = Trial::begin();
    let root = super::key_echo::begin(CANARY);
    trial.configure(&format!("profile = \"lab\"\n[profiles.lab]\nroot = \"{root}\"\n"), 0o600);
    let file = &Demo::files()[0].sha256;
    let report = super::key_echo::report(file);
    let mut commands: Vec<Vec<&str>> = vec![
        vec!["list", file],
        vec!["show", &report],
        vec!["download", &report, "pcap", "--output", "capture.pcap"],
        vec!["quota"],
        vec!["api", "v3-user"],
        vec!["api", "v3-usage"],
        vec!["api", "v3-file", file],
        vec!["api", "v3-file-analyses", file],
        vec!["api", "v2-file-report", file],
        vec!["search", "tool"],
        vec!["store"],
        vec!["ledger", "--json"],
    ];
    for format in behaview::export::FORMATS {
        commands.push(vec!["export", "--offline", "--format", format.name, &report]);
    }
    for arguments in commands {
        let output = trial.run(&[&arguments[..], &["--log-level", "debug"]].concat(), Some(CANARY));
        assert!(output.status.success(), "{arguments:?}: {output:?}");
        assert!(!holds_key(&output.stdout) && !holds_key(&output.stderr), "{arguments:?}: {output:?}");
        let has_rows = !["misp", "stix", "navigator"].iter().any(|format| arguments.contains(format));
        if ["show", "export"].contains(&arguments[0]) && has_rows {
            let masked = "*".repeat(CANARY.len());
            assert!(String::from_utf8(output.stdout).unwrap().contains(&masked), "{arguments:?}");
        }
    }
    let capture = std::fs::read_to_string(trial.home.path().join("capture.pcap")).unwrap();
    assert_eq!(capture, "capture of KEY, KEY".replace("KEY", &"*".repeat(CANARY.len())));
    // A key may have the form of a hash; a run that sends nothing recognizes it, too.
    let typed = "0123456789abcdef".repeat(4);
    for arguments in [["watch", "--offline", &typed], ["list", "--dry-run", &typed]] {
        assert_eq!(trial.run(&arguments, Some(&typed)).status.code(), Some(2), "{arguments:?}");
    }
    let written = files(trial.home.path());
    assert!(written.iter().any(|path| path.ends_with("behaview.log")), "{written:?}");
    let has_typed = |bytes: &[u8]| String::from_utf8_lossy(bytes).contains(&typed);
    let has_any = |path: &&PathBuf| std::fs::read(path).is_ok_and(|bytes| holds_key(&bytes) || has_typed(&bytes));
    assert_eq!(written.iter().filter(has_any).collect::<Vec<_>>(), [] as [&PathBuf; 0]);
}

#[cfg(unix)]
#[test]
fn a_key_that_others_can_read_is_not_used() {
    let trial = Trial::begin();
    let config =
        format!("profile = \"lab\"\napi_key = \"{CANARY}\"\n[profiles.lab]\nroot = \"{}\"\n", trial.demo.root());
    for mode in [0o644, 0o640, 0o602] {
        trial.configure(&config, mode);
        let output = trial.run(&["quota"], None);
        let words = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.code() == Some(14) && words.contains("chmod 600") && !words.contains(CANARY), "{words}");
    }
    assert!(trial.demo.seen().is_empty());
    trial.configure(&config, 0o600);
    assert!(trial.run(&["quota"], None).status.success());
    std::fs::remove_file(trial.config()).unwrap();
    let official = trial.home.path().join(".vt.toml");
    std::fs::write(&official, format!("apikey=\"{CANARY}\"\n")).unwrap();
    set_mode(&official, 0o644);
    let output = trial.run(&["quota"], None);
    assert_eq!(output.status.code(), Some(3), "{output:?}");
    assert!(!holds_key(&output.stderr));
}

#[test]
fn key_is_not_sent_unencrypted() {
    let trial = Trial::begin();
    let address = trial.stranger.local_addr().unwrap();
    for root in [
        "http://example.com".to_owned(),
        format!("http://0.0.0.0:{}", address.port()),
        "http://127.0.0.1.example.com".to_owned(),
        "file:///etc".to_owned(),
    ] {
        trial.configure(&format!("profile = \"lab\"\n[profiles.lab]\nroot = \"{root}\"\n"), 0o600);
        let output = trial.run(&["quota"], Some(CANARY));
        assert_eq!(output.status.code(), Some(14), "{root}: {output:?}");
    }
    trial.assert_no_stranger();
}

#[cfg(target_os = "linux")]
#[test]
fn core_dumps_are_disabled() {
    use std::io::BufRead;
    let mut child = Command::new(env!("CARGO_BIN_EXE_behaview"))
        .args(["demo", "--serve"])
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    std::io::BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    let limits = std::fs::read_to_string(format!("/proc/{}/limits", child.id())).unwrap();
    let core = limits.lines().find(|line| line.starts_with("Max core file size")).unwrap();
    assert_eq!(core.split_whitespace().skip(4).take(2).collect::<Vec<_>>(), ["0", "0"], "{core}");
    let _ = (child.kill(), child.wait());
}

#[test]
fn quoted_input_on_stderr_is_visible() {
    let trial = Trial::begin();
    let hostile = "a\u{1b}]0;x\u{7}\u{202e}\u{9b}2J\u{2028}\u{e0041}\r\n/b";
    for arguments in [
        vec!["list", hostile],
        vec!["show", hostile],
        vec!["open", hostile],
        vec!["api", hostile],
        vec!["api", "v3-file", hostile],
        vec!["cost", hostile],
        vec!["cost", "v2-file-report", "--hashes-from", hostile],
        vec!["--profile", hostile, "quota"],
        vec![hostile],
        vec!["demo", "--list", hostile],
    ] {
        let output = trial.run(&arguments, Some(CANARY));
        assert!(!output.status.success());
        for line in String::from_utf8(output.stderr).unwrap().lines() {
            assert!(super::wire::shown(line.as_bytes()).is_ok(), "{arguments:?}: {line:?}");
        }
    }
}
