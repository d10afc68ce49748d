//! A password prompt: shows nothing of it, and restores the terminal however it ends.

use super::harness::{Terminal, signal};
use behaview::demo::{Demo, Options};
use tokio::runtime::Runtime;

/// A shell in which the program asks for the password of a file.
struct Asked {
    terminal: Terminal,
    demo: Demo,
    _threads: Runtime,
}

impl Asked {
    fn new() -> Self {
        let threads = Runtime::new().unwrap();
        let demo = threads.block_on(Demo::start(Options::default())).unwrap();
        let config =
            format!("profile = \"lab\"\napi_key = \"{}\"\n[profiles.lab]\nroot = \"{}\"\n", demo.key(), demo.root());
        let mut terminal = Terminal::shell(&config);
        terminal.press("stty -g > before; echo sample > sample.bin; echo ready $((40+2))\r");
        terminal.wait_for("ready 42");
        terminal.press(&format!("{} submit --ask-password sample.bin\r", env!("CARGO_BIN_EXE_behaview")));
        terminal.wait_for("Password of the file: ");
        Self { terminal, demo, _threads: threads }
    }

    /// Whether the shell has its terminal back as it was, and knows how the program ended.
    fn assert_ended(&mut self, code: u8) {
        // What is typed before the prompt is there is the program's.
        self.terminal.wait_for_prompts(3);
        self.terminal.press("echo code $?; stty -g | cmp - before && echo same $((50+1))\r");
        self.terminal.wait_for(&format!("code {code}"));
        self.terminal.wait_for("same 51");
        let bytes = self.terminal.bytes();
        assert!(memchr::memmem::find(&bytes, b"swordf").is_none(), "{}", self.terminal.text());
    }
}

#[test]
fn a_password_is_not_shown_and_reaches_the_service() {
    let mut asked = Asked::new();
    // A slip is taken back, and so is all of it.
    asked.terminal.press("wrong\u{15}swordfishh\u{7f}-99\r");
    asked.terminal.wait_for("\"scan\"");
    asked.assert_ended(0);
    assert_eq!(asked.demo.submitted()[0].fields, [("password".to_owned(), "swordfish-99".to_owned())]);
}

#[test]
fn ctrl_c_at_the_prompt_sends_nothing() {
    let mut asked = Asked::new();
    asked.terminal.press("swordf\u{3}");
    asked.assert_ended(130);
    assert!(asked.demo.submitted().is_empty() && asked.demo.seen().is_empty());
}

#[test]
fn signal_at_the_prompt_restores_the_terminal() {
    let endings = [
        ("TERM", 143, "Terminated"),
        ("HUP", 129, "Hangup"),
        ("ALRM", 142, "Alarm clock"),
        ("USR1", 138, "User defined signal 1"),
    ];
    for (name, code, words) in endings {
        let mut asked = Asked::new();
        asked.terminal.press("swordf");
        signal(name, asked.terminal.job());
        // The shell says so by itself before its prompt.
        asked.terminal.wait_for(words);
        asked.assert_ended(code);
        assert!(asked.demo.submitted().is_empty());
    }
}
