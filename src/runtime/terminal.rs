//! The real terminal: taken over, read, and restored however the program ends.
//!
//! Only a key that comes alone, as the first since a frame was drawn, carries that frame's number,
//! and so can spend. Part of a burst (an unbracketed paste, a terminal's late reply) cannot.

use super::signals::{self, BlockedSignals, ExitGuard, ShutdownState, Signals};
use super::{EventLoop, LoopExit, MessageSender, RunExit, usable_size};
use crate::app::keys::{
    BACK_TAB, BACKSPACE, DELETE, DOWN, END, ENTER, ESC, HOME, INSERT, LEFT, PAGE_DOWN, PAGE_UP, RIGHT, TAB, UP,
};
use crate::app::panes::{MouseInput, MouseKind};
use crate::app::{Key, Model, SavedScreen, Size, TerminalEvent};
use crate::gateway::{Clock, Gateway};
use crate::text::{self, Untrusted};
use crate::view::{Appearance, ColorDepth, Theme};
use crossterm::clipboard::CopyToClipboard;
use crossterm::event::{
    self, DisableBracketedPaste, DisableMouseCapture, EnableBracketedPaste, EnableMouseCapture, Event, KeyCode,
    KeyEvent, KeyEventKind, KeyModifiers, MouseButton, MouseEvent, MouseEventKind,
};
use crossterm::terminal::{EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode};
use crossterm::{cursor, execute, queue, style};
use ratatui::backend::CrosstermBackend;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// The user's settings of the screen.
#[derive(Debug, Clone, Copy)]
pub struct Display {
    /// The theme; by default the one that fits `COLORFGBG`, else dark.
    pub theme: Option<Theme>,
    pub depth: ColorDepth,
    pub is_plain: bool,
    /// Whether the program receives mouse events; otherwise the terminal selects text.
    pub takes_mouse: bool,
}

impl Display {
    /// Chooses an appearance by the environment: the late reply to a query would count as keys.
    fn look(self) -> Appearance {
        let is_light = std::env::var("COLORFGBG").is_ok_and(|colours| is_light(&colours));
        let theme = match self.depth {
            ColorDepth::None => Theme::Mono,
            _ if is_light => Theme::Light,
            _ => Theme::Dark,
        };
        Appearance { theme: self.theme.unwrap_or(theme), depth: self.depth }
    }
}

/// Returns whether the last number of `COLORFGBG`, the background, is a light colour.
fn is_light(colours: &str) -> bool {
    let background = colours.rsplit(';').next().and_then(|number| number.parse().ok());
    background.is_some_and(|number: u8| matches!(number, 7 | 9..=15))
}

/// Returns columns and rows of the terminal, if there is one.
pub fn terminal_size() -> Option<(u16, u16)> {
    if io::stdout().is_terminal() { crossterm::terminal::size().ok() } else { None }
}

/// Whether the terminal's modes are set by this program.
static TAKEN: AtomicBool = AtomicBool::new(false);

/// Takes the terminal over, or sets its modes again: another program may have changed them.
fn take_over(takes_mouse: bool) -> io::Result<()> {
    // One write, as each wakes the terminal.
    let mut modes = Vec::new();
    if !TAKEN.swap(true, Ordering::SeqCst) {
        queue!(modes, EnterAlternateScreen)?;
    }
    // Clearing fills with the current colour, which a shell may have set.
    queue!(modes, EnableBracketedPaste, cursor::Hide, style::ResetColor)?;
    if takes_mouse {
        queue!(modes, EnableMouseCapture)?;
    }
    disable_raw_mode()?;
    enable_raw_mode()?;
    let mut stdout = io::stdout();
    stdout.write_all(&modes)?;
    stdout.flush()
}

/// Restores the terminal's modes; the errors of a closed terminal have no reader.
fn restore_terminal() {
    if TAKEN.load(Ordering::SeqCst) {
        let mut stdout = io::stdout();
        let modes = queue!(stdout, DisableMouseCapture, DisableBracketedPaste, LeaveAlternateScreen, cursor::Show);
        let _ = modes.and_then(|()| stdout.flush());
        end_raw_mode();
        TAKEN.store(false, Ordering::SeqCst);
    }
}

/// Maximum of suspensions in the background: without a shell they would never end.
const MAX_BACKGROUND_STOPS: u32 = 20;

/// Time for the signal thread to report, and any thread to handle a signal sent with SIGCONT.
const SIGNAL_REPORT_TIMEOUT: Duration = Duration::from_millis(300);

/// Returns whether it is in the foreground: in the background, setting terminal modes stops it.
fn is_in_front() -> bool {
    #[cfg(unix)]
    return rustix::termios::tcgetpgrp(io::stdout()).map_or(true, |front| front == rustix::process::getpgrp());
    #[cfg(not(unix))]
    true
}

/// Suspends until the shell puts it in the foreground; false if it is resumed only to end.
fn wait_for_foreground(ending: &ShutdownState) -> bool {
    for _ in 0..MAX_BACKGROUND_STOPS {
        if is_in_front() || ending.signal().is_some() {
            break;
        }
        std::thread::sleep(SIGNAL_REPORT_TIMEOUT);
        // Stopped again, the signal thread could never report: it may not have run yet.
        if ending.signal().is_none() && !ending.is_caught.load(Ordering::SeqCst) {
            signals::stop(true);
        }
    }
    ending.signal().is_none()
}

/// Ends raw mode. In the background, the modes belong to the shell.
pub(super) fn end_raw_mode() {
    if is_in_front() {
        // An error here could not be shown.
        let _ = disable_raw_mode();
    }
}

/// Runs the app on the terminal until it ends; returns the view settings to save.
pub fn run(
    mut model: Model,
    gateway: Option<Arc<Gateway>>,
    display: Display,
    signals: Signals,
    clock: Clock,
) -> anyhow::Result<(RunExit, SavedScreen)> {
    if display.is_plain {
        return super::plain::run(model, gateway, signals, clock);
    }
    (model.size, model.settings.has_shell) = (usable_size(crossterm::terminal::size()?), signals::has_shell());
    model.files.fit(model.size.is_large());
    let mut session = EventLoop::new(CrosstermBackend::new(BufWriter::new(io::stdout())), model, gateway, clock)?;
    session.clipboard = Clipboard::of_environment();
    let ending = signals.forward(session.performer.outbox.clone(), true)?;
    let exit = run_to_the_end(&mut session, display, &ending);
    restore_terminal();
    Ok(session.result(exit?, &ending))
}

/// Runs the loop, and suspends it for the shell in between.
fn run_to_the_end<W: Write>(
    session: &mut EventLoop<CrosstermBackend<W>>,
    display: Display,
    ending: &ShutdownState,
) -> io::Result<RunExit> {
    if !wait_for_foreground(ending) {
        return Ok(RunExit::Done);
    }
    take_over(display.takes_mouse)?;
    session.look = display.look();
    // The appearance has decided the colours; crossterm would decide again by `NO_COLOR`.
    style::force_color_output(session.look.depth != ColorDepth::None);
    let outbox = session.performer.outbox.clone();
    let frame = Arc::clone(&session.frame);
    let mut keyboard = Keyboard { outbox, frame, answered: 0, pasted: None };
    // Keys typed before the first frame are read first: they carry no frame number.
    keyboard.read_pending()?;
    let lost = ExitGuard(ending.clone());
    std::thread::Builder::new().name("keyboard".to_owned()).spawn(move || {
        let _lost = lost;
        while wait_for_input().is_ok() && keyboard.read_pending().is_ok() {}
    })?;
    session.begin();
    loop {
        let exit = session.run();
        match exit {
            LoopExit::Ended(exit) => return Ok(exit),
            LoopExit::Leave => restore_terminal(),
            LoopExit::TerminalLost => ending.of_signal(signals::HANG_UP),
            LoopExit::Suspend if !signals::has_shell() => {}
            LoopExit::Suspend | LoopExit::Resume => {
                if exit == LoopExit::Suspend {
                    restore_terminal();
                    signals::stop(false);
                }
                if wait_for_foreground(ending) {
                    // A closed terminal shows an error at the next drawing.
                    let _ = take_over(display.takes_mouse);
                    session.redraw();
                }
            }
        }
    }
}

/// Makes a panic restore the terminal and escape its message, which may quote a report.
///
/// A panic of another thread prints nothing: the thread that waits for the work reports it.
pub fn install_panic_hook() {
    let main = std::thread::current().id();
    std::panic::set_hook(Box::new(move |panic| {
        if std::thread::current().id() == main {
            restore_terminal();
            let message = Untrusted::from(panic.to_string()).visible();
            let _ = writeln!(io::stderr(), "behaview has a bug and had to end. Stored reports are safe. {message}");
        }
    }));
}

/// How long to wait for the next part of a burst. With a zero timeout, crossterm reads nothing.
const BURST_TIMEOUT: Duration = Duration::from_millis(1);

/// The interval at which a background program checks whether it is in front again.
#[cfg(unix)]
const FOREGROUND_POLL: Duration = Duration::from_millis(50);

/// Reads the terminal and sends its events to the loop.
struct Keyboard {
    outbox: MessageSender,
    /// The number of the last frame that was begun.
    frame: Arc<AtomicU64>,
    /// The last frame that a key or a paste was assigned to.
    answered: u64,
    /// When the last part of a paste came as keys.
    pasted: Option<Instant>,
}

impl Keyboard {
    /// Sends all pending input.
    fn read_pending(&mut self) -> io::Result<()> {
        let mut events = Vec::new();
        // Loaded before reading: no key of a burst carries a frame drawn during the burst.
        let on_screen = self.frame.load(Ordering::SeqCst);
        while event::poll(BURST_TIMEOUT)? {
            events.push(event::read()?);
        }
        let is_tail = self.pasted.is_some_and(|pasted| pasted.elapsed() < PASTE_GAP);
        // People press fewer keys in a millisecond.
        if let Some(text) = pasted(&events, if is_tail { 1 } else { 3 }).filter(|_| cfg!(windows)) {
            (self.pasted, self.answered) = (Some(Instant::now()), on_screen);
            self.outbox.send(TerminalEvent::Paste(text));
            return Ok(());
        }
        // crossterm delivers a new size with the next key; a resize is not typed input.
        let typed = events.iter().filter(|event| !matches!(event, Event::Resize(..)));
        let is_alone = typed.count() == 1 && self.answered < on_screen;
        for message in events.into_iter().filter_map(|event| message(event, if is_alone { on_screen } else { 0 })) {
            if matches!(message, TerminalEvent::KeyInput(..) | TerminalEvent::Paste(_)) {
                self.answered = on_screen;
            }
            self.outbox.send(message);
        }
        Ok(())
    }
}

/// How long after a part of a paste keys are taken for its next part.
const PASTE_GAP: Duration = Duration::from_millis(200);

/// Returns the text of keys sent in a burst, as Windows' consoles paste; `None` if too short.
fn pasted(events: &[Event], shortest: usize) -> Option<String> {
    let keys = events.iter().filter_map(|event| event.as_key_press_event().and_then(key));
    let signs = keys.map(|key| if let Key::Char(c) = key { Some(c) } else { (key == ENTER).then_some('\n') });
    signs.collect::<Option<String>>().filter(|text| text.chars().count() >= shortest)
}

/// Waits for input without reading it: the kernel stops a background process that reads a terminal.
#[cfg(unix)]
fn wait_for_input() -> io::Result<()> {
    use rustix::event::{PollFd, PollFlags, poll};
    let (stdin, own);
    let terminal: &dyn std::os::fd::AsFd = if io::stdin().is_terminal() {
        stdin = io::stdin();
        &stdin
    } else {
        own = std::fs::File::open("/dev/tty")?;
        &own
    };
    loop {
        let mut watched = PollFd::new(&terminal, PollFlags::IN);
        match poll(std::slice::from_mut(&mut watched), None) {
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
            Ok(_) if watched.revents().intersects(PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL) => {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            Ok(_) if is_in_front() => return Ok(()),
            Ok(_) => std::thread::sleep(FOREGROUND_POLL),
        }
    }
}

#[cfg(not(unix))]
fn wait_for_input() -> io::Result<()> {
    event::poll(Duration::from_secs(3600)).map(|_| ())
}

fn message(event: Event, frame: u64) -> Option<TerminalEvent> {
    match event {
        Event::Key(event) => key(event).map(|key| TerminalEvent::KeyInput(key, frame)),
        Event::Mouse(event) => pointer(event).map(TerminalEvent::Mouse),
        Event::Paste(text) => Some(TerminalEvent::Paste(text)),
        Event::Resize(width, height) => Some(TerminalEvent::Resize(Size { width, height })),
        _ => None,
    }
}

fn pointer(event: MouseEvent) -> Option<MouseInput> {
    let kind = match event.kind {
        MouseEventKind::Down(MouseButton::Left) => MouseKind::Press,
        MouseEventKind::Drag(MouseButton::Left) => MouseKind::Drag,
        MouseEventKind::Up(MouseButton::Left) => MouseKind::Release,
        MouseEventKind::ScrollUp => MouseKind::ScrollUp,
        MouseEventKind::ScrollDown => MouseKind::ScrollDown,
        _ => return None,
    };
    Some(MouseInput { x: event.column, y: event.row, kind })
}

/// Returns the app's name for a key press, if it has one.
fn key(event: KeyEvent) -> Option<Key> {
    let KeyEvent { code, modifiers, kind, .. } = event;
    if kind == KeyEventKind::Release {
        return None;
    }
    // AltGr arrives on Windows as Ctrl and Alt together, and makes a character.
    let is_alt_gr = cfg!(windows) && modifiers.contains(KeyModifiers::CONTROL | KeyModifiers::ALT);
    Some(match code {
        KeyCode::Char(c) if c.is_control() => return None,
        KeyCode::Char(c) if is_alt_gr => Key::Char(c),
        KeyCode::Char(c) if modifiers.contains(KeyModifiers::CONTROL) => Key::Ctrl(c.to_ascii_lowercase()),
        KeyCode::Char(c) if modifiers.contains(KeyModifiers::ALT) => Key::Alt(c),
        KeyCode::Char(_) if modifiers.contains(KeyModifiers::META) => return None,
        KeyCode::Char(c) => Key::Char(c),
        KeyCode::F(number) => Key::F(number),
        KeyCode::Enter => ENTER,
        KeyCode::Esc => ESC,
        KeyCode::Tab => TAB,
        KeyCode::BackTab => BACK_TAB,
        KeyCode::Backspace => BACKSPACE,
        KeyCode::Delete => DELETE,
        KeyCode::Insert => INSERT,
        KeyCode::Up => UP,
        KeyCode::Down => DOWN,
        KeyCode::Left => LEFT,
        KeyCode::Right => RIGHT,
        KeyCode::Home => HOME,
        KeyCode::End => END,
        KeyCode::PageUp => PAGE_UP,
        KeyCode::PageDown => PAGE_DOWN,
        _ => return None,
    })
}

/// The interval of checks for an ending signal while a password is typed.
const SIGNAL_POLL: Duration = Duration::from_millis(100);

/// Reads a line without echo; an ending signal acts after the terminal's modes are restored.
pub fn prompt_hidden(words: &str) -> io::Result<String> {
    let mut to = io::stderr();
    if !to.is_terminal() || !io::stdin().is_terminal() {
        return Err(io::Error::from(io::ErrorKind::NotConnected));
    }
    let signals = BlockedSignals::begin()?;
    // Set before the prompt, so that a quick reply is not echoed either.
    enable_raw_mode()?;
    let typed = write!(to, "{words}").and_then(|()| to.flush()).and_then(|()| read_hidden(&signals));
    end_raw_mode();
    writeln!(to)?;
    signals.unblock()?;
    typed
}

fn read_hidden(signals: &BlockedSignals) -> io::Result<String> {
    let mut typed = String::new();
    while !signals.cancel.is_cancelled() {
        if !event::poll(SIGNAL_POLL)? {
            continue;
        }
        let Event::Key(event) = event::read()? else { continue };
        match key(event) {
            Some(ENTER) => return Ok(typed),
            Some(Key::Ctrl('c' | 'd')) => break,
            Some(Key::Ctrl('u')) => typed.clear(),
            Some(Key::Char(letter)) => typed.push(letter),
            Some(BACKSPACE) => drop(typed.pop()),
            _ => {}
        }
    }
    Err(io::Error::from(io::ErrorKind::Interrupted))
}

/// The access to a clipboard.
#[derive(Default)]
pub enum Clipboard {
    #[default]
    None,
    /// By OSC 52, which reaches the user's terminal through ssh as well.
    Terminal(Box<dyn Write + Send>),
    /// By the buffer of tmux, which by default ignores OSC 52 of a program.
    Tmux,
}

impl Clipboard {
    pub(super) fn of_environment() -> Self {
        let is_in_tmux = std::env::var_os("TMUX").is_some_and(|value| !value.is_empty());
        if is_in_tmux { Self::Tmux } else { Self::Terminal(Box::new(io::stdout())) }
    }

    /// Sends bytes to the terminal; returns the way. No terminal acknowledges a copy.
    pub(super) fn copy(&mut self, bytes: &[u8]) -> Result<String, String> {
        let length = text::bytes(bytes.len() as u64);
        match self {
            Self::None => Err("this terminal has no clipboard".to_owned()),
            Self::Terminal(out) => {
                // Base64 prevents the terminal from interpreting the bytes.
                execute!(out, CopyToClipboard::to_clipboard_from(bytes)).map_err(|error| error.to_string())?;
                Ok(format!("by OSC 52, {length}; a terminal that does not take it says nothing"))
            }
            Self::Tmux => {
                // An old tmux does not forward the buffer to its terminal.
                load_buffer(bytes, &["-w"]).or_else(|_| load_buffer(bytes, &[]))?;
                Ok(format!("by tmux, {length}: prefix ] pastes it, and its terminal has it where tmux allows that"))
            }
        }
    }
}

fn load_buffer(bytes: &[u8], options: &[&str]) -> Result<(), String> {
    let failed = |error: io::Error| format!("tmux could not be run: {error}");
    let mut tmux = std::process::Command::new("tmux");
    tmux.arg("load-buffer").args(options).arg("-");
    tmux.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut tmux = tmux.spawn().map_err(failed)?;
    if let Some(mut input) = tmux.stdin.take() {
        // A tmux that does not read reports that by its exit status.
        let _ = input.write_all(bytes);
    }
    if tmux.wait().map_err(failed)?.success() { Ok(()) } else { Err("tmux refused it".to_owned()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn key_burst_is_one_paste() {
        let pasted = |typed: &[KeyCode], shortest| {
            let events: Vec<_> = typed.iter().map(|code| Event::Key((*code).into())).collect();
            pasted(&events, shortest)
        };
        let burst = [KeyCode::Char('a'), KeyCode::Char('q'), KeyCode::Enter];
        assert_eq!(pasted(&burst, 3).as_deref(), Some("aq\n"));
        assert_eq!((pasted(&burst[2..], 1).as_deref(), pasted(&burst[1..], 3)), (Some("\n"), None));
        assert_eq!(pasted(&[burst[0], burst[0], KeyCode::Up], 3), None);
    }

    #[test]
    fn colorfgbg_names_the_background_last() {
        assert!(is_light("0;15") && is_light("0;default;7"));
        assert!(!is_light("15;0") && !is_light("") && !is_light("0;default") && !is_light("0;200"));
    }
}
