//! The real terminal: taken over, listened to, and given back however the program ends.

use super::background::{self, Late};
use super::painter::Painter;
use super::{Backing, Exit, LAST_WAIT, Session};
use crate::app::key::Named;
use crate::app::pointer::{Does, Pointer};
use crate::app::{Effect, Key, Message, Model, Size};
use crate::text::Untrusted;
use crate::view::{Depth, Look, Theme};
use crossterm::event::{
    self, DisableBracketedPaste, DisableMouseCapture, EnableBracketedPaste, EnableMouseCapture, Event, KeyCode,
    KeyEventKind, KeyModifiers, MouseButton, MouseEvent, MouseEventKind,
};
use crossterm::terminal::{EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode};
use crossterm::{cursor, execute};
use ratatui::Terminal;
use std::io::{self, IsTerminal, Write};
use std::sync::mpsc::Sender;

/// There is no terminal to draw on.
#[derive(Debug, thiserror::Error)]
#[error(
    "behaview needs a terminal for its screens. Without one, use the commands for scripts: \
     behaview list <sha256>, behaview show <identifier>, behaview demo --serve; behaview --help names them all"
)]
pub struct Unattended;

/// Whether there is a terminal to draw on, where one is needed.
///
/// # Errors
/// When there is none.
pub fn attended(display: Display) -> Result<(), Unattended> {
    if display.is_plain || io::stdout().is_terminal() { Ok(()) } else { Err(Unattended) }
}

/// What the user wants of the screen.
#[derive(Debug, Clone, Copy)]
pub struct Display {
    /// The theme; the one that fits the terminal's background unless set.
    pub theme: Option<Theme>,
    /// How many colours there are.
    pub depth: Depth,
    /// Whether it is all said in lines.
    pub is_plain: bool,
    /// Whether the mouse is the program's; otherwise it selects text, as the terminal does by itself.
    pub takes_mouse: bool,
}

impl Display {
    /// The look that fits the terminal, which is asked if nothing else says; and what takes out an answer that comes late.
    fn look(self) -> (Look, Late) {
        let look = |theme| Look { theme, depth: self.depth };
        let variable = std::env::var("COLORFGBG").ok().and_then(|value| background::of_variable(&value));
        let (is_light, is_late) = match (self.theme, variable) {
            (Some(theme), _) => return (look(theme), Late::default()),
            _ if self.depth == Depth::None => return (look(Theme::Mono), Late::default()),
            (None, Some(is_light)) => (Some(is_light), false),
            // A terminal that cannot be asked has the usual background.
            (None, None) => background::ask().unwrap_or_default(),
        };
        let theme = if is_light == Some(true) { Theme::Light } else { Theme::Dark };
        (look(theme), Late::new(is_late))
    }
}

/// Columns and rows of the terminal; none where there is none.
#[must_use]
pub fn terminal_size() -> Option<(u16, u16)> {
    if io::stdout().is_terminal() { crossterm::terminal::size().ok() } else { None }
}

/// The terminal's own modes, taken over; given back when this is dropped.
struct TakenOver;

impl TakenOver {
    fn now(takes_mouse: bool) -> io::Result<Self> {
        enable_raw_mode()?;
        let taken = Self;
        execute!(io::stdout(), EnterAlternateScreen, EnableBracketedPaste, cursor::Hide)?;
        if takes_mouse {
            execute!(io::stdout(), EnableMouseCapture)?;
        }
        Ok(taken)
    }
}

impl Drop for TakenOver {
    fn drop(&mut self) {
        give_back();
    }
}

/// A terminal that is gone cannot be given back: there is nobody to tell.
fn give_back() {
    let _ = execute!(io::stdout(), DisableMouseCapture, DisableBracketedPaste, LeaveAlternateScreen, cursor::Show);
    let _ = disable_raw_mode();
}

/// Runs the app on the terminal until it ends.
///
/// # Errors
/// When the terminal cannot be taken over.
pub fn run(mut model: Model, backing: Backing, first: Vec<Effect>, display: Display) -> anyhow::Result<Exit> {
    quiet_panics();
    if display.is_plain {
        return super::plain::run(model, backing, first);
    }
    let (width, height) = crossterm::terminal::size()?;
    model.size = Size { width, height };
    let terminal = Terminal::new(Painter::new(io::stdout()))?;
    let mut session = Session::new(terminal, model, backing, jiff::Timestamp::now)?;
    // Before the terminal is taken over: a signal in between must not leave it so.
    session.performer.listen_for_signals()?;
    let taken = TakenOver::now(display.takes_mouse)?;
    let (look, late) = display.look();
    session.set_look(look);
    session.draw()?;
    listen(session.outbox(), late)?;
    watch(session.outbox())?;
    session.begin(first);
    let exit = session.run();
    drop(taken);
    // The library's own farewell to the terminal panics where the terminal is gone.
    std::mem::forget(session.into_terminal());
    Ok(exit)
}

/// Reads the keyboard on a thread of its own; it ends with the terminal.
fn listen(outbox: Sender<Message>, mut late: Late) -> io::Result<()> {
    let read = move || {
        while let Ok(event) = event::read() {
            if let Some(message) = message(event).and_then(|message| late.pass(message))
                && outbox.send(message).is_err()
            {
                return;
            }
        }
        end(&outbox);
    };
    std::thread::Builder::new().name("keyboard".to_owned()).spawn(read).map(|_| ())
}

/// Ends the program when the terminal has gone away: without a controlling terminal no signal says so.
#[cfg(unix)]
fn watch(outbox: Sender<Message>) -> io::Result<()> {
    use rustix::event::{PollFd, PollFlags, poll};
    let wait = move || {
        let stdout = io::stdout();
        // Nothing but the end of the terminal wakes this.
        while poll(&mut [PollFd::new(&stdout, PollFlags::empty())], None)
            .is_err_and(|error| error == rustix::io::Errno::INTR)
        {}
        end(&outbox);
    };
    std::thread::Builder::new().name("terminal".to_owned()).spawn(wait).map(|_| ())
}

#[cfg(not(unix))]
fn watch(_: Sender<Message>) -> io::Result<()> {
    Ok(())
}

/// Asks the loop to end, after a moment to end without waiting, and then ends the program itself: the loop may be
/// stuck in a terminal that takes no output.
fn end(outbox: &Sender<Message>) {
    let _ = outbox.send(Message::Quit);
    std::thread::sleep(LAST_WAIT);
    let _ = outbox.send(Message::QuitNow);
    std::thread::sleep(LAST_WAIT);
    // Needs no output, which the terminal may not take.
    let _ = disable_raw_mode();
    std::process::exit(1);
}

fn message(event: Event) -> Option<Message> {
    match event {
        Event::Key(event) if event.kind != KeyEventKind::Release => key(event.code, event.modifiers).map(Message::Key),
        Event::Mouse(event) => pointer(event).map(Message::Pointer),
        Event::Paste(text) => Some(Message::Paste(text)),
        Event::Resize(width, height) => Some(Message::Resize(Size { width, height })),
        _ => None,
    }
}

fn pointer(event: MouseEvent) -> Option<Pointer> {
    let does = match event.kind {
        MouseEventKind::Down(MouseButton::Left) => Does::Press,
        MouseEventKind::Drag(MouseButton::Left) => Does::Drag,
        MouseEventKind::Up(MouseButton::Left) => Does::Release,
        MouseEventKind::ScrollUp => Does::Up,
        MouseEventKind::ScrollDown => Does::Down,
        _ => return None,
    };
    Some(Pointer { x: event.column, y: event.row, does })
}

fn key(code: KeyCode, modifiers: KeyModifiers) -> Option<Key> {
    let named = match code {
        KeyCode::Char(c) if modifiers.contains(KeyModifiers::CONTROL) => {
            return Some(Key::Ctrl(c.to_ascii_lowercase()));
        }
        KeyCode::Char(c) if modifiers.contains(KeyModifiers::ALT) => return Some(Key::Alt(c)),
        KeyCode::Char(_) if modifiers.contains(KeyModifiers::META) => return None,
        KeyCode::Char(c) => return Some(Key::Char(c)),
        KeyCode::F(number) => return Some(Key::F(number)),
        KeyCode::Enter => Named::Enter,
        KeyCode::Esc => Named::Esc,
        KeyCode::Tab => Named::Tab,
        KeyCode::BackTab => Named::BackTab,
        KeyCode::Backspace => Named::Backspace,
        KeyCode::Delete => Named::Delete,
        KeyCode::Insert => Named::Insert,
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

/// A panic gives the terminal back first, and its words pass the escaper: they may quote a report.
///
/// A panic beside the loop is caught where the work is waited for, and said there.
fn quiet_panics() {
    let main = std::thread::current().id();
    std::panic::set_hook(Box::new(move |panic| {
        if std::thread::current().id() == main {
            give_back();
            let words = Untrusted::from(panic.to_string()).visible().to_string();
            let _ = writeln!(io::stderr(), "behaview has a bug and had to end. What is held is safe. {words}");
        }
    }));
}

impl super::Performer {
    /// Ends the app in good order when the system asks for it.
    pub(super) fn listen_for_signals(&self) -> io::Result<()> {
        let Some(runtime) = &self.runtime else { return Ok(()) };
        let (outbox, _inside) = (self.outbox.clone(), runtime.enter());
        let asked = asked_to_end()?;
        runtime.spawn(async move {
            asked.await;
            std::thread::spawn(move || end(&outbox));
        });
        Ok(())
    }
}

/// Listens from now on; ends when a signal has come.
#[cfg(unix)]
fn asked_to_end() -> io::Result<impl Future<Output = ()>> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut terminate = signal(SignalKind::terminate())?;
    let mut hang_up = signal(SignalKind::hangup())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut quit = signal(SignalKind::quit())?;
    Ok(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = hang_up.recv() => {}
            _ = interrupt.recv() => {}
            _ = quit.recv() => {}
        }
    })
}

#[cfg(not(unix))]
fn asked_to_end() -> io::Result<impl Future<Output = ()>> {
    Ok(async {
        let _ = tokio::signal::ctrl_c().await;
    })
}
