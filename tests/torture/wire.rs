//! The app on a terminal whose bytes are recorded: its output, and what a terminal makes of it.

use super::visible;
use behaview::app::{Message, Model, Size};
use behaview::report::Body;
use behaview::runtime::EventLoop;
use jiff::Timestamp;
use ratatui::backend::{Backend, ClearType, CrosstermBackend, WindowSize};
use ratatui::buffer::Cell;
use ratatui::layout::{Position, Size as Cells};
use std::cell::RefCell;
use std::io::{self, Write};
use std::rc::Rc;
use std::time::Duration;

/// Bytes that more than one can look at.
#[derive(Clone, Default)]
struct Bytes(Rc<RefCell<Vec<u8>>>);

impl Write for Bytes {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The program's own backend, at a size of the test's own.
pub struct Wire {
    inner: CrosstermBackend<Bytes>,
    bytes: Bytes,
    size: Cells,
}

impl Backend for Wire {
    type Error = io::Error;

    fn draw<'a, I: Iterator<Item = (u16, u16, &'a Cell)>>(&mut self, content: I) -> io::Result<()> {
        self.inner.draw(content)
    }

    fn hide_cursor(&mut self) -> io::Result<()> {
        self.inner.hide_cursor()
    }

    fn show_cursor(&mut self) -> io::Result<()> {
        self.inner.show_cursor()
    }

    fn get_cursor_position(&mut self) -> io::Result<Position> {
        panic!("the program asks the terminal nothing")
    }

    fn set_cursor_position<P: Into<Position>>(&mut self, position: P) -> io::Result<()> {
        self.inner.set_cursor_position(position)
    }

    fn clear(&mut self) -> io::Result<()> {
        self.inner.clear()
    }

    fn clear_region(&mut self, clear_type: ClearType) -> io::Result<()> {
        self.inner.clear_region(clear_type)
    }

    fn size(&self) -> io::Result<Cells> {
        Ok(self.size)
    }

    fn window_size(&mut self) -> io::Result<WindowSize> {
        Ok(WindowSize { columns_rows: self.size, pixels: Cells::ZERO })
    }

    fn flush(&mut self) -> io::Result<()> {
        Backend::flush(&mut self.inner)
    }
}

/// What wipes the screen from the cursor on.
const WIPE: &[u8] = b"\x1b[J";

/// The moment of every test.
pub fn now() -> Timestamp {
    Timestamp::from_second(1_795_168_800).unwrap()
}

/// An app on such a terminal.
pub struct Stage {
    pub session: EventLoop<Wire>,
    bytes: Bytes,
}

impl Stage {
    /// The app with this model, on a screen of this size; nothing can be asked.
    pub fn new(mut model: Model, width: u16, height: u16) -> Self {
        let bytes = Bytes::default();
        let size = Cells { width, height };
        model.size = Size { width, height };
        let wire = Wire { inner: CrosstermBackend::new(bytes.clone()), bytes: bytes.clone(), size };
        let session = EventLoop::new(wire, model, None, now).unwrap();
        Self { session, bytes }
    }

    /// The app with a report open.
    pub fn with_report(name: &str, report: &[u8], width: u16, height: u16) -> Self {
        let mut model = Model::new(Default::default(), now());
        let here = behaview::app::LoadedReport::new(now(), Body::in_memory(report.to_vec()), None);
        let index = behaview::report::Index::of(&here.body);
        let identifier = behaview::report::Report::new(here.body.clone(), index).identifier();
        model.open_documents(vec![(name.to_owned(), vec![(identifier, here)])]);
        let mut stage = Self::new(model, width, height);
        stage.session.begin();
        assert!(stage.session.run_until_idle(Duration::from_secs(60)).unwrap());
        stage
    }

    /// Presses keys by their names.
    pub fn keys(&mut self, keys: &str) -> &mut Self {
        for key in keys.split(' ') {
            self.session.press(key.parse().unwrap());
        }
        self
    }

    pub fn take(&mut self, message: impl Into<Message>) -> &mut Self {
        self.session.take(message);
        self
    }

    pub fn resize(&mut self, width: u16, height: u16) {
        self.session.terminal.backend_mut().size = Cells { width, height };
    }

    /// Draws all of the screen; gives the bytes that went to the terminal.
    pub fn draw(&mut self) -> Vec<u8> {
        self.session.redraw();
        self.session.terminal.backend().bytes.0.borrow_mut().clear();
        self.session.draw().unwrap();
        let bytes = self.bytes.0.borrow();
        // A screen that is drawn whole is wiped first.
        let wiped = bytes.windows(WIPE.len()).rposition(|part| part == WIPE).map_or(0, |at| at + WIPE.len());
        bytes[wiped..].to_vec()
    }

    /// Draws, and fails if output is not visible; returns the visible text in the terminal's order.
    pub fn draw_safely(&mut self, about: &str) -> String {
        match shown(&self.draw()) {
            Ok(text) => text,
            Err(foreign) => panic!("{about}: {foreign}"),
        }
    }
}

/// What is shown between the sequences that drawing needs.
pub fn shown(bytes: &[u8]) -> Result<String, String> {
    visible::shown(bytes, "mHJCX", &["?25"])
}

#[test]
fn foreign_bytes_are_noticed() {
    for foreign in ["a\u{1b}]0;x\u{7}", "\u{9b}2J", "\u{202e}", "x\u{7}", "\u{1b}[?1049l", "\r", "\u{e000}", "\u{1b}c"]
    {
        assert!(shown(foreign.as_bytes()).is_err(), "{foreign:?}");
    }
    assert!(shown(b"\xff").is_err());
    assert_eq!(shown("\u{1b}[1;2Hab\u{1b}[38;5;1mé".as_bytes()).unwrap(), "abé");
}
