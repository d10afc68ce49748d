//! The real terminal: taken over, listened to, and given back however the program ends.

use super::clipboard::ClipboardRoute;
use super::signals::{self, Ending, Signals, SuspendMode};
use super::{Backing, Exit, LoopExit, Session, SessionResult, StartMode, StartupFn};
use crate::app::{Model, Size};
use crate::text::Untrusted;
use crate::view::{Depth, Look, Theme};
use crossterm::event::{DisableBracketedPaste, DisableMouseCapture, EnableBracketedPaste, EnableMouseCapture};
use crossterm::terminal::{EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode};
use crossterm::{cursor, queue, style};
use ratatui::backend::CrosstermBackend;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// The reasons to run without a screen.
#[derive(Debug, thiserror::Error)]
pub enum TerminalUnavailable {
    /// Standard output is not a terminal.
    #[error(
        "behaview needs a terminal for its screens. Without one, use the commands for scripts: \
         behaview list <sha256>, behaview show <identifier>, behaview demo --serve; behaview --help names them all"
    )]
    NoTerminal,
}

/// Whether there is a terminal to draw on, where one is needed.
pub fn attended(display: Display) -> Result<(), TerminalUnavailable> {
    if display.is_plain || io::stdout().is_terminal() { Ok(()) } else { Err(TerminalUnavailable::NoTerminal) }
}

/// What the user wants of the screen.
#[derive(Debug, Clone, Copy)]
pub struct Display {
    /// The theme; unless set, the one that fits `COLORFGBG`, else dark.
    pub theme: Option<Theme>,
    /// How many colours there are.
    pub depth: Depth,
    /// Whether output is plain lines.
    pub is_plain: bool,
    /// Whether the mouse is the program's; otherwise it selects text, as the terminal does by itself.
    pub takes_mouse: bool,
}

impl Display {
    /// The look that fits the terminal. The terminal is not asked: an answer that comes late would be typed.
    fn look(self) -> Look {
        let background = std::env::var("COLORFGBG").ok();
        let theme = match (self.theme, background) {
            (Some(theme), _) => theme,
            (None, _) if self.depth == Depth::None => Theme::Mono,
            (None, Some(colours)) if is_light(&colours) => Theme::Light,
            (None, _) => Theme::Dark,
        };
        Look { theme, depth: self.depth }
    }
}

/// Whether the background in `COLORFGBG`, the last of its numbers, is a light one of the sixteen colours.
fn is_light(colours: &str) -> bool {
    let background = colours.rsplit(';').next().and_then(|number| number.parse().ok());
    background.is_some_and(|number: u8| matches!(number, 7 | 9..=15))
}

/// Columns and rows of the terminal; none where there is none.
pub fn terminal_size() -> Option<(u16, u16)> {
    if io::stdout().is_terminal() { crossterm::terminal::size().ok() } else { None }
}

/// Whether the terminal's modes are this program's.
static TAKEN: AtomicBool = AtomicBool::new(false);

/// The terminal's own modes, taken over; given back when this is dropped.
struct TerminalGuard {
    takes_mouse: bool,
}

impl TerminalGuard {
    fn now(takes_mouse: bool) -> io::Result<Self> {
        TAKEN.store(true, Ordering::SeqCst);
        let taken = Self { takes_mouse };
        let mut modes = Vec::new();
        queue!(modes, EnterAlternateScreen)?;
        taken.set(modes)?;
        Ok(taken)
    }

    /// Sets the modes once more: another program may have changed them.
    fn renew(&self) -> io::Result<()> {
        self.set(Vec::new())
    }

    /// Sets the modes, after those that are queued, in one write: each write wakes the terminal.
    fn set(&self, mut modes: Vec<u8>) -> io::Result<()> {
        // Clearing fills with the current colour, which a shell may have set.
        queue!(modes, EnableBracketedPaste, cursor::Hide, style::ResetColor)?;
        if self.takes_mouse {
            queue!(modes, EnableMouseCapture)?;
        }
        disable_raw_mode()?;
        enable_raw_mode()?;
        let mut stdout = io::stdout();
        stdout.write_all(&modes)?;
        stdout.flush()
    }
}

impl Drop for TerminalGuard {
    fn drop(&mut self) {
        give_back();
    }
}

/// Raw mode until this is dropped.
pub(super) struct RawModeGuard;

impl RawModeGuard {
    pub(super) fn now() -> io::Result<Self> {
        enable_raw_mode().map(|()| Self)
    }
}

impl Drop for RawModeGuard {
    fn drop(&mut self) {
        end_raw_mode();
    }
}

/// How often the shell is let put this program in front before the system has the last word: where no shell is left to do it, nothing
/// stops this program.
const TIMES_BEHIND: u32 = 20;

/// How long the signal thread may need to report a signal that came together with SIGCONT.
const TOLD_WITHIN: Duration = Duration::from_millis(300);

/// Whether the program is in the foreground: the kernel stops a background process that sets terminal
/// modes, and stops it again each time it is resumed there.
pub(super) fn is_in_front() -> bool {
    #[cfg(unix)]
    {
        is_in_front_of(io::stdout())
    }
    #[cfg(not(unix))]
    {
        true
    }
}

/// Whether the program is in the foreground of a terminal; true for anything else.
#[cfg(unix)]
fn is_in_front_of(terminal: impl std::os::fd::AsFd) -> bool {
    rustix::termios::tcgetpgrp(terminal).map_or(true, |front| front == rustix::process::getpgrp())
}

/// Suspends this program until the shell puts it in the foreground; false where it is resumed only to end.
fn comes_to_front(ending: &Ending) -> bool {
    for _ in 0..TIMES_BEHIND {
        // What ends has given the terminal back, and takes it no more.
        if is_in_front() || ending.signal().is_some() {
            break;
        }
        std::thread::sleep(TOLD_WITHIN);
        if ending.signal().is_none() {
            signals::stop_behind();
        }
    }
    ending.signal().is_none()
}

/// Ends the mode in which keys are handed over as they are pressed. Behind the shell, the modes are the shell's.
pub(super) fn end_raw_mode() {
    if is_in_front() {
        // An error here has no reader.
        let _ = disable_raw_mode();
    }
}

/// Adds what ends the terminal's own modes.
fn leave(to: &mut impl Write) -> io::Result<()> {
    queue!(to, DisableMouseCapture, DisableBracketedPaste, LeaveAlternateScreen, cursor::Show)
}

/// Gives the terminal back. One that is gone cannot be: its errors have no reader.
fn give_back() {
    if TAKEN.load(Ordering::SeqCst) {
        let mut stdout = io::stdout();
        let _ = leave(&mut stdout).and_then(|()| stdout.flush());
        end_raw_mode();
        TAKEN.store(false, Ordering::SeqCst);
    }
}

/// Runs the app on the terminal until it ends.
pub fn run(mut model: Model, start: StartMode, display: Display, signals: Signals) -> anyhow::Result<SessionResult> {
    if display.is_plain {
        return super::plain::run(model, start, signals);
    }
    let (width, height) = crossterm::terminal::size()?;
    (model.size, model.settings.has_shell) = (Size { width, height }, signals::has_shell());
    let backend = CrosstermBackend::new(BufWriter::new(io::stdout()));
    let session = Session::new(backend, model, Backing::Nothing, crate::clock::now)?;
    let mut session = session.with_clipboard(ClipboardRoute::from_here(), Box::new(io::stdout()));
    let ending = signals.tell(session.outbox(), SuspendMode::Aside)?;
    if !comes_to_front(&ending) {
        return Ok(ended(session.model_mut(), &ending, Exit::Done));
    }
    let taken = TerminalGuard::now(display.takes_mouse)?;
    let look = display.look();
    // The look has decided already which colours there are; without any, none is written.
    style::force_color_output(look.depth != Depth::None);
    session.set_look(look);
    let mut keyboard = session.keyboard()?;
    let lost = ending.clone();
    std::thread::Builder::new().name("keyboard".to_owned()).spawn(move || lost.when_done(|| keyboard.run()))?;
    let (backing, taken) = match start {
        StartMode::Ready(backing) => (backing, taken),
        StartMode::Awaited(begin) => awaited(&mut session, taken, begin)?,
    };
    session.reach(backing);
    session.begin();
    session.gather();
    session.take_all();
    session.draw()?;
    let exit = run_to_the_end(&mut session, taken, &ending);
    Ok(ended(session.model_mut(), &ending, exit))
}

/// Runs the session, giving the terminal to the shell and taking it back in between; it is given back at the end.
fn run_to_the_end<W: Write>(
    session: &mut Session<CrosstermBackend<W>>,
    mut taken: TerminalGuard,
    ending: &Ending,
) -> Exit {
    let takes_mouse = taken.takes_mouse;
    loop {
        match session.run() {
            LoopExit::Ended(exit) => return exit,
            LoopExit::Aside if !signals::has_shell() => continue,
            // A terminal that is gone shows at the next drawing.
            LoopExit::Aside => {
                drop(taken);
                signals::stop();
                let is_in_front = comes_to_front(ending);
                let anew = if is_in_front { TerminalGuard::now(takes_mouse).ok() } else { None };
                taken = anew.unwrap_or_else(|| TerminalGuard { takes_mouse });
                if !is_in_front {
                    continue;
                }
            }
            LoopExit::Left => {
                give_back();
                continue;
            }
            LoopExit::Resumed if !comes_to_front(ending) => continue,
            LoopExit::Resumed => taken.renew().unwrap_or(()),
        }
        session.redraw();
    }
}

/// How the app ended: by a signal, if one came.
fn ended(model: &mut Model, ending: &Ending, exit: Exit) -> SessionResult {
    SessionResult { exit: ending.signal().map_or(exit, Exit::Signal), remembered: model.remember() }
}

/// Shows a first frame and starts behind it; a long wait releases the terminal meanwhile.
fn awaited<W: Write>(
    session: &mut Session<CrosstermBackend<W>>,
    mut taken: TerminalGuard,
    begin: StartupFn,
) -> anyhow::Result<(Backing, TerminalGuard)> {
    session.preview()?;
    let begun = begin(session.model_mut(), &let_wait)?;
    if !TAKEN.load(Ordering::SeqCst) {
        let takes_mouse = taken.takes_mouse;
        // The new guard must not be undone by dropping the old one.
        drop(taken);
        taken = TerminalGuard::now(takes_mouse)?;
        session.redraw();
    }
    Ok((begun, taken))
}

/// Releases the terminal during a wait: there ctrl-c ends the program.
pub(super) fn let_wait(why: &str) {
    give_back();
    // Who waits may look at something else.
    let _ = writeln!(io::stderr(), "behaview: {why}");
}

/// From now on a panic gives the terminal back first, and its words pass the escaper: they may quote a report.
///
/// A panic of another thread prints nothing: the thread that waits for the work reports it.
pub fn tame_panics() {
    let main = std::thread::current().id();
    std::panic::set_hook(Box::new(move |panic| {
        if std::thread::current().id() == main {
            give_back();
            let words = panic.to_string();
            let words = Untrusted::from(words.as_str()).visible();
            let _ = writeln!(io::stderr(), "behaview has a bug and had to end. Stored reports are safe. {words}");
        }
    }));
}

#[cfg(test)]
mod tests {
    use super::is_light;

    #[test]
    fn colorfgbg_names_the_background_last() {
        assert!(is_light("0;15") && is_light("0;default;7"));
        assert!(!is_light("15;0") && !is_light("") && !is_light("0;default") && !is_light("0;200"));
    }
}
