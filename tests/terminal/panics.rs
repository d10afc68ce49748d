//! A panic in any thread restores the terminal and prints itself in visible form.
//!
//! The program has no bug to order: this test's binary plays the program, and begins with a panic.

use super::harness::Terminal;
use behaview::app::{LoadedReport, Model};
use behaview::report::Body;
use behaview::runtime::{self, Display, Signals};
use behaview::view::{ColorDepth, Theme};
use portable_pty::CommandBuilder;

/// Says which thread panics, to the binary that plays the program.
const PART: &str = "BEHAVIEW_TEST_PANIC";

/// What a terminal must not get to see raw.
const HOSTILE: &str = "\u{1b}]0;owned\u{7}";

const REPORT: &[u8] = br#"{"data":{"id":"a-1","attributes":{"tags":["CALLS_WMI"],"files_opened":["a.txt"]}}}"#;

fn panic() {
    panic!("a bug over {HOSTILE}")
}

/// A clock that is asked first when the terminal is taken over.
fn striking_clock() -> jiff::Timestamp {
    panic();
    jiff::Timestamp::now()
}

#[test]
fn plays_the_program() {
    let Ok(part) = std::env::var(PART) else { return };
    runtime::install_panic_hook();
    let now = jiff::Timestamp::now();
    let mut clock: fn() -> jiff::Timestamp = jiff::Timestamp::now;
    if part == "beside" {
        std::thread::spawn(panic).join().unwrap_err();
    } else {
        clock = striking_clock;
    }
    let mut model = Model::new(Default::default(), now);
    let here = LoadedReport::new(now, Body::in_memory(REPORT.to_vec()), None);
    model.open_documents(vec![("document".to_owned(), vec![(None, here)])]);
    let display = Display { theme: Some(Theme::Dark), depth: ColorDepth::True, is_plain: false, takes_mouse: false };
    runtime::run(model, None, display, Signals::listen().unwrap(), clock).unwrap();
}

fn play(part: &str) -> Terminal {
    let mut command = CommandBuilder::new(std::env::current_exe().unwrap());
    command.env_clear();
    command.env(PART, part);
    Terminal::run(command, &["panics::plays_the_program", "--exact", "--nocapture", "--test-threads=1"], "")
}

fn assert_harmless(terminal: &Terminal) {
    terminal.assert_given_back();
    let bytes = terminal.bytes();
    assert!(memchr::memmem::find(&bytes, HOSTILE.as_bytes()).is_none());
}

#[test]
fn in_the_thread_that_draws() {
    let mut terminal = play("drawing");
    terminal.wait_for("behaview has a bug and had to end");
    terminal.wait_for(r"a bug over \x1b]0;owned\x07");
    assert_eq!(terminal.wait_for_end(), 101);
    assert_harmless(&terminal);
}

#[test]
fn beside_it() {
    let mut terminal = play("beside");
    terminal.wait_for("CALLS_WMI");
    assert!(terminal.is_taken_over());
    terminal.quit();
    assert_harmless(&terminal);
}
