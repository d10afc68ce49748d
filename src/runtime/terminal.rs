//! The real terminal: taken over, listened to, and given back however the program ends.

use super::painter::Painter;
use super::signals::{self, Ending, Signals};
use super::{Backing, Exit, Session, Turn};
use crate::app::key::Named;
use crate::app::{Effect, Key, Message, Model, Size};
use crate::text::Untrusted;
use crossterm::event::{self, DisableBracketedPaste, EnableBracketedPaste, Event, KeyCode, KeyEventKind, KeyModifiers};
use crossterm::terminal::{EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode};
use crossterm::{cursor, execute};
use ratatui::Terminal;
use ratatui::backend::Backend;
use std::io::{self, IsTerminal, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::Sender;
use std::time::Duration;

/// There is no terminal to draw on.
#[derive(Debug, thiserror::Error)]
#[error(
    "behaview needs a terminal for its screens. Without one, use the commands for scripts: \
     behaview list <sha256>, behaview show <identifier>, behaview demo --serve; behaview --help names them all"
)]
pub struct Unattended;

/// Whether there is a terminal to draw on.
///
/// # Errors
/// When there is none.
pub fn attended() -> Result<(), Unattended> {
    if io::stdout().is_terminal() { Ok(()) } else { Err(Unattended) }
}

/// Columns and rows of the terminal; none where there is none.
#[must_use]
pub fn terminal_size() -> Option<(u16, u16)> {
    attended().ok().and_then(|()| crossterm::terminal::size().ok())
}

/// Whether the terminal's modes are this program's.
static TAKEN: AtomicBool = AtomicBool::new(false);

/// The terminal's own modes, taken over; given back when this is dropped.
struct TakenOver;

impl TakenOver {
    fn now() -> io::Result<Self> {
        TAKEN.store(true, Ordering::SeqCst);
        let taken = Self;
        execute!(io::stdout(), EnterAlternateScreen)?;
        taken.renew()?;
        Ok(taken)
    }

    /// Sets the modes once more: whoever stopped this program may have changed them, so what is known of them is of no use.
    fn renew(&self) -> io::Result<()> {
        disable_raw_mode()?;
        enable_raw_mode()?;
        execute!(io::stdout(), EnableBracketedPaste, cursor::Hide)
    }
}

impl Drop for TakenOver {
    fn drop(&mut self) {
        give_back();
    }
}

/// A terminal that is gone cannot be given back: there is nobody to tell.
fn give_back() {
    if TAKEN.swap(false, Ordering::SeqCst) {
        let _ = execute!(io::stdout(), DisableBracketedPaste, LeaveAlternateScreen, cursor::Show);
        let _ = disable_raw_mode();
    }
}

/// Runs the app on the terminal until it ends.
///
/// # Errors
/// When the terminal cannot be taken over.
pub fn run(mut model: Model, backing: Backing, first: Vec<Effect>, signals: Signals) -> anyhow::Result<Exit> {
    let (width, height) = crossterm::terminal::size()?;
    (model.size, model.has_shell) = (Size { width, height }, signals::has_shell());
    let terminal = Terminal::new(Painter::new(io::stdout()))?;
    let mut session = Session::new(terminal, model, backing, crate::clock::now)?;
    let ending = signals.tell(session.outbox())?;
    let mut taken = TakenOver::now()?;
    read_ahead(&session)?;
    listen(session.outbox(), session.frames(), ending.clone())?;
    watch(ending.clone())?;
    session.draw()?;
    session.begin(first);
    let exit = loop {
        match session.run() {
            Turn::Ended(exit) => break exit,
            Turn::Aside if !signals::has_shell() => continue,
            // A terminal that is gone shows at the next drawing.
            Turn::Aside => {
                drop(taken);
                signals::stop();
                taken = TakenOver::now().unwrap_or_else(|_| TakenOver);
            }
            Turn::Resumed => taken.renew().unwrap_or(()),
        }
        session.draw_anew();
    };
    drop(taken);
    // The library's own farewell to the terminal panics where the terminal is gone.
    std::mem::forget(session.into_terminal());
    Ok(ending.signal().map_or(exit, Exit::Signal))
}

/// Takes in what was typed before there was a screen: it moves and quits, but it was no answer to a price.
fn read_ahead<B: Backend>(session: &Session<B>) -> io::Result<()>
where
    B::Error: Send + Sync + 'static,
{
    while event::poll(Duration::ZERO)? {
        if let Some(message) = message(event::read()?, 0) {
            // A loop that has ended needs no keys.
            let _ = session.outbox().send(message);
        }
    }
    Ok(())
}

/// Reads the keyboard on a thread of its own; it ends with the terminal.
fn listen(outbox: Sender<Message>, frames: Arc<AtomicU64>, ending: Ending) -> io::Result<()> {
    let read = move || {
        while let Ok(event) = event::read() {
            if let Some(message) = message(event, frames.load(Ordering::SeqCst))
                && outbox.send(message).is_err()
            {
                return;
            }
        }
    };
    std::thread::Builder::new().name("keyboard".to_owned()).spawn(move || ending.when_done(read)).map(|_| ())
}

/// Ends the program when the terminal has gone away: without a controlling terminal no signal says so.
#[cfg(unix)]
fn watch(ending: Ending) -> io::Result<()> {
    use rustix::event::{PollFd, PollFlags, poll};
    let wait = move || {
        let stdout = io::stdout();
        // Nothing but the end of the terminal wakes this.
        while poll(&mut [PollFd::new(&stdout, PollFlags::empty())], None)
            .is_err_and(|error| error == rustix::io::Errno::INTR)
        {}
    };
    std::thread::Builder::new().name("terminal".to_owned()).spawn(move || ending.when_done(wait)).map(|_| ())
}

#[cfg(not(unix))]
fn watch(_: Ending) -> io::Result<()> {
    Ok(())
}

/// What an event says; keys with the number of the last frame that was drawn when they were read.
fn message(event: Event, frame: u64) -> Option<Message> {
    match event {
        Event::Key(event) if event.kind != KeyEventKind::Release => {
            key(event.code, event.modifiers).map(|key| Message::Typed { key, frame })
        }
        Event::Paste(text) => Some(Message::Paste(text)),
        Event::Resize(width, height) => Some(Message::Resize(Size { width, height })),
        _ => None,
    }
}

fn key(code: KeyCode, modifiers: KeyModifiers) -> Option<Key> {
    let named = match code {
        KeyCode::Char(c) if modifiers.contains(KeyModifiers::CONTROL) => {
            return Some(Key::Ctrl(c.to_ascii_lowercase()));
        }
        KeyCode::Char(_) if modifiers.intersects(KeyModifiers::ALT | KeyModifiers::META) => return None,
        KeyCode::Char(c) => return Some(Key::Char(c)),
        KeyCode::Enter => Named::Enter,
        KeyCode::Esc => Named::Esc,
        KeyCode::Tab => Named::Tab,
        KeyCode::BackTab => Named::BackTab,
        KeyCode::Backspace => Named::Backspace,
        KeyCode::Delete => Named::Delete,
        KeyCode::Up => Named::Up,
        KeyCode::Down => Named::Down,
        KeyCode::Left => Named::Left,
        KeyCode::Right => Named::Right,
        KeyCode::Home => Named::Home,
        KeyCode::End => Named::End,
        KeyCode::PageUp => Named::PageUp,
        KeyCode::PageDown => Named::PageDown,
        _ => return None,
    };
    Some(Key::Named(named))
}

/// From now on a panic gives the terminal back first, and its words pass the escaper: they may quote a report.
///
/// A panic beside the thread that calls this is silent: it is said where the work is waited for.
pub fn tame_panics() {
    let main = std::thread::current().id();
    std::panic::set_hook(Box::new(move |panic| {
        if std::thread::current().id() == main {
            give_back();
            let words = Untrusted::from(panic.to_string()).visible().to_string();
            let _ = writeln!(io::stderr(), "behaview has a bug and had to end. What is held is safe. {words}");
        }
    }));
}
