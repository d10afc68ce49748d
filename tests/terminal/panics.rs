//! A bug gives the terminal back and says itself in visible words, in whatever thread it strikes.
//!
//! The program has no bug to order: this test's own binary plays the program, with a document that panics when it is read.

use super::stage::Terminal;
use behaview::app::{Here, Model};
use behaview::report::Body;
use behaview::report::body::Bytes;
use behaview::runtime::{self, Backing, Beginning, Display, Signals, Start};
use behaview::view::{Depth, Theme};
use portable_pty::CommandBuilder;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::ThreadId;

/// Says in which thread the document panics, to the binary that plays the program.
const PART: &str = "BEHAVIEW_TEST_PANIC";

/// What a terminal must not get to see raw.
const HOSTILE: &str = "\u{1b}]0;owned\u{7}";

const REPORT: &[u8] = br#"{"data":{"id":"a-1","attributes":{"tags":["CALLS_WMI"],"files_opened":["a.txt"]}}}"#;

/// A document that panics once it is read by, or beside, the thread that draws.
struct Trap {
    drawing: ThreadId,
    beside: bool,
    sprung: AtomicBool,
}

impl Bytes for Trap {
    fn length(&self) -> u64 {
        REPORT.len() as u64
    }

    fn read_at(&self, at: u64, buffer: &mut [u8]) -> io::Result<()> {
        let is_drawing = std::thread::current().id() == self.drawing;
        if is_drawing != self.beside && !self.sprung.swap(true, Ordering::SeqCst) {
            panic!("a bug over {HOSTILE}");
        }
        let start = usize::try_from(at).unwrap();
        buffer.copy_from_slice(&REPORT[start..start + buffer.len()]);
        Ok(())
    }
}

#[test]
fn plays_the_program() {
    let Ok(part) = std::env::var(PART) else { return };
    runtime::tame_panics();
    let trap = Trap { drawing: std::thread::current().id(), beside: part == "beside", sprung: AtomicBool::default() };
    let now = jiff::Timestamp::now();
    let mut model = Model::new(Default::default(), now);
    let here = Here { received: now, body: Body::new(trap), unkept: None };
    let first = model.open_documents(vec![("trap".to_owned(), vec![(None, here)])]);
    let display = Display { theme: Some(Theme::Dark), depth: Depth::True, is_plain: false, takes_mouse: false };
    let start = Start::Ready(Beginning { backing: Backing::Nothing, first });
    runtime::run(model, start, display, Signals::listen().unwrap()).unwrap();
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
    terminal.wait_for("internal error");
    assert!(terminal.is_taken_over());
    terminal.press("q");
    assert_eq!(terminal.wait_for_end(), 0);
    assert_harmless(&terminal);
}
