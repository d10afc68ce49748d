//! The loop that owns the state and the terminal.
//!
//! ```text
//! loop {
//!     draw, if something changed
//!     wait for a message: a key, finished work, or a tick while work is in progress
//!     for effect in model.update(message) { performer.perform(effect) }
//! }
//! ```
//! The loop itself waits for nothing but messages: the network, the store and the indexing of reports run beside it.

pub mod clipboard;
pub mod hidden;
mod keyboard;
mod notable;
mod performer;
mod plain;
pub mod recall;
pub mod search;
mod signals;
mod terminal;

pub(crate) use performer::read_rules;
pub use performer::{Backing, Performer};
pub use signals::{BlockedSignals, Signals, survive_file_limit};
pub(crate) use signals::{LAST_WAIT, STUCK};
pub use terminal::{Display, TerminalUnavailable, attended, run, tame_panics, terminal_size};

use crate::app::away::Copied;
use crate::app::{
    Command, Effect, FileEvent, FileJob, Key, Message, Model, Remembered, ReportEvent, Size, TerminalAction,
    TerminalEvent,
};
use crate::gateway::Clock;
use crate::view::{self, Look};
use clipboard::ClipboardRoute;
use keyboard::Keyboard;
use ratatui::backend::Backend;
use ratatui::layout::Rect;
use ratatui::{Terminal, TerminalOptions, Viewport};
use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

/// How often the screen is drawn while work is in progress and nothing else happens.
const TICK: Duration = Duration::from_millis(250);

/// How long the first frame waits for stored data: one frame is there sooner than two.
const FIRST_DATA: Duration = Duration::from_millis(10);

/// The largest screen that is drawn on: a terminal may report any size, and each cell takes memory.
const LARGEST: Size = Size { width: 2_000, height: 1_000 };

/// Threads for the network and the store.
pub fn threads(workers: usize) -> std::io::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_multi_thread().worker_threads(workers).enable_all().build()
}

/// Puts messages into the loop's inbox, from any thread.
#[derive(Debug, Clone)]
pub struct Outbox(Sender<Message>);

impl Outbox {
    /// Sends a message; a loop that has ended needs none.
    pub fn send(&self, message: impl Into<Message>) {
        // The loop has ended: nothing is left to do with the message.
        let _ = self.0.send(message.into());
    }
}

/// Reports the reason of a long wait.
pub type Tell<'a> = &'a dyn Fn(&str);

/// Prepares the app and says what it can reach; it may take long.
pub type StartupFn = Box<dyn FnOnce(&mut Model, Tell<'_>) -> anyhow::Result<Backing>>;

/// How the app begins.
pub enum StartMode {
    /// With everything loaded.
    Ready(Backing),
    /// With a frame that needs nothing of it.
    Awaited(StartupFn),
}

/// How a run of the app ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    Done,
    /// The analyst wants the demo.
    Demo,
    /// The system asked for the end, by the signal of this number.
    Signal(u8),
}

/// A run of the app that is over.
#[derive(Debug)]
pub struct SessionResult {
    pub exit: Exit,
    /// How the screen was left.
    pub remembered: Remembered,
}

/// Why the loop stops taking messages in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LoopExit {
    Ended(Exit),
    /// The shell is to have the terminal for a while.
    Aside,
    /// The system ends the program: the terminal is released at once, paid calls have a moment to finish.
    Left,
    /// The terminal belonged to another program, and is this program's again.
    Resumed,
}

/// A run of the app on a terminal of any kind.
pub struct Session<B: Backend> {
    terminal: Terminal<B>,
    look: Look,
    model: Model,
    performer: Performer,
    outbox: Outbox,
    inbox: Receiver<Message>,
    /// The number of the last frame, from 1: a key answers the frame that was on screen when it was read.
    frame: Arc<AtomicU64>,
    clock: Clock,
    exit: Option<Exit>,
    turn: Option<LoopExit>,
    /// Since when the terminal is gone or released, so that frames are not visible.
    unseen: Option<Instant>,
    clipboard: (ClipboardRoute, Box<dyn Write + Send>),
    /// Whether the screen shows the state as it is.
    is_drawn: bool,
    /// Whether the terminal may show something else than the last frame: the next one is written whole.
    is_foreign: bool,
}

impl<B: Backend> Session<B>
where
    B::Error: Send + Sync + 'static,
{
    /// A session on the terminal that is written to by `backend`; `backing` is what the app can reach.
    pub fn new(backend: B, model: Model, backing: Backing, clock: Clock) -> Result<Self, B::Error> {
        let (sender, inbox) = channel();
        let outbox = Outbox(sender);
        let performer = Performer::new(backing, outbox.clone());
        let clipboard = (ClipboardRoute::default(), Box::new(std::io::sink()) as Box<dyn Write + Send>);
        let (exit, turn, unseen, is_drawn) = (None, None, None, false);
        Ok(Self {
            // A viewport of its own size: the model and the screen agree, whatever the terminal reports meanwhile.
            terminal: Terminal::with_options(backend, TerminalOptions { viewport: Viewport::Fixed(Rect::ZERO) })?,
            look: Look::default(),
            model,
            performer,
            outbox,
            inbox,
            frame: Arc::default(),
            clock,
            exit,
            turn,
            unseen,
            clipboard,
            is_drawn,
            is_foreign: true,
        })
    }

    /// The same session, which copies by way of the terminal behind `out`.
    pub fn with_clipboard(self, way: ClipboardRoute, out: Box<dyn Write + Send>) -> Self {
        Self { clipboard: (way, out), ..self }
    }

    /// The keyboard that answers this session's frames; keys typed before are read first.
    fn keyboard(&self) -> std::io::Result<Keyboard> {
        let mut keyboard = Keyboard::new(self.outbox(), Arc::clone(&self.frame));
        keyboard.read_pending().map(|()| keyboard)
    }

    /// Where sizes, and what others have to say, are sent.
    pub fn outbox(&self) -> Outbox {
        self.outbox.clone()
    }

    /// The state.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// The state, to be set up.
    pub fn model_mut(&mut self) -> &mut Model {
        self.is_drawn = false;
        &mut self.model
    }

    /// Draws in this look from now on.
    pub fn set_look(&mut self, look: Look) {
        (self.look, self.is_drawn) = (look, false);
    }

    pub fn terminal(&self) -> &Terminal<B> {
        &self.terminal
    }

    /// The terminal, to be changed.
    pub fn terminal_mut(&mut self) -> &mut Terminal<B> {
        &mut self.terminal
    }

    /// How the session ended, once it has.
    pub fn exit(&self) -> Option<Exit> {
        self.exit
    }

    /// What the app can reach from now on.
    fn reach(&mut self, backing: Backing) {
        self.performer.reach(backing);
    }

    /// Performs effects before the first message.
    pub fn begin(&mut self) {
        let first = self.model.take_effects();
        self.model.start();
        self.model.take_effects().into_iter().for_each(|effect| self.performer.put_off(effect));
        self.perform(first);
    }

    /// Waits a moment for the first frame's data: a stored file, and the first rows of its report.
    fn gather(&mut self) {
        let deadline = Instant::now() + FIRST_DATA;
        loop {
            // Work that ran at once has sent its messages.
            let is_busy = self.performer.is_busy();
            let left = if is_busy { deadline.saturating_duration_since(Instant::now()) } else { Duration::ZERO };
            let Ok(message) = self.inbox.recv_timeout(left) else { return };
            let brings_rows =
                matches!(message, Message::Report(ReportEvent::Indexed { .. } | ReportEvent::Unreadable { .. }));
            self.take(message);
            if brings_rows {
                return self.take_all();
            }
        }
    }

    /// Takes in what has come.
    fn take_all(&mut self) {
        while let Ok(message) = self.inbox.try_recv() {
            self.take(message);
        }
    }

    /// The number of the last frame that was begun, counted from 1.
    pub fn frame(&self) -> u64 {
        self.frame.load(Ordering::SeqCst)
    }

    /// Takes messages in until the app ends or makes way for the shell, drawing in between.
    ///
    /// A terminal that cannot be drawn on is a terminal that is gone: the app ends, but a paid answer has a moment to come in.
    pub fn run(&mut self) -> LoopExit {
        loop {
            if self.unseen.is_none() && !self.is_drawn && self.draw().is_err() {
                self.take(TerminalEvent::Quit);
            }
            self.performer.begin_later();
            if let Some(exit) = self.exit {
                return LoopExit::Ended(exit);
            }
            if let Some(turn) = self.turn.take() {
                return turn;
            }
            match self.unseen.map(|since| since.elapsed()) {
                Some(waited) if waited > signals::LAST_WAIT + signals::STUCK => return LoopExit::Ended(Exit::Done),
                Some(waited) if waited > signals::LAST_WAIT => self.take(TerminalEvent::QuitNow),
                _ => {}
            }
            // Ticks while work is in progress show that waiting continues.
            let message = if self.model.is_waiting() {
                self.inbox.recv_timeout(TICK).unwrap_or(Message::Tick)
            } else {
                // This session has a sender of its own: the channel stays open.
                self.inbox.recv().unwrap_or(Message::Tick)
            };
            self.take(message);
            self.take_all();
        }
    }

    /// Processes messages until no work is in progress, then draws once; false where time ran out.
    pub fn run_until_idle(&mut self, patience: Duration) -> Result<bool, B::Error> {
        let deadline = Instant::now() + patience;
        loop {
            self.performer.begin_later();
            let was_idle = self.performer.is_idle();
            self.take_all();
            let is_idle = was_idle && self.performer.is_idle();
            if is_idle || Instant::now() > deadline {
                self.draw()?;
                return Ok(is_idle);
            }
            if let Ok(message) = self.inbox.recv_timeout(Duration::from_millis(20)) {
                self.take(message);
            }
        }
    }

    /// Presses a key.
    pub fn press(&mut self, key: Key) {
        self.take(TerminalEvent::Key(key));
    }

    /// Runs a command as its key would.
    pub fn run_command(&mut self, command: &'static Command) {
        self.model.run(command);
        self.perform_pending();
    }

    /// Goes to a row of what has the focus, from 0.
    pub fn go_to_row(&mut self, row: usize) {
        self.model.go_to_row(row);
        self.perform_pending();
    }

    /// Draws the state as it is.
    pub fn draw(&mut self) -> Result<(), B::Error> {
        self.fit()?;
        let frame = self.frame.fetch_add(1, Ordering::SeqCst) + 1;
        self.draw_frame()?;
        self.take(TerminalEvent::FrameDrawn(frame));
        self.is_drawn = true;
        Ok(())
    }

    /// Draws a frame that no key can answer: keys typed meanwhile precede the first frame.
    fn preview(&mut self) -> Result<(), B::Error> {
        self.fit()?;
        self.draw_frame()
    }

    /// Gives the model the terminal's size, which may have changed before the signal that reports it.
    fn fit(&mut self) -> Result<(), B::Error> {
        let size = self.terminal.size()?;
        let (width, height) = (size.width.min(LARGEST.width), size.height.min(LARGEST.height));
        if (Size { width, height }) != self.model.size {
            self.resize(width, height);
        }
        Ok(())
    }

    fn draw_frame(&mut self) -> Result<(), B::Error> {
        if std::mem::take(&mut self.is_foreign) {
            // `Terminal::clear` would ask the terminal where its cursor is.
            let Size { width, height } = self.model.size;
            self.terminal.resize(Rect { x: 0, y: 0, width, height })?;
        }
        let (look, model) = (self.look, &self.model);
        self.terminal.draw(|frame| view::draw(frame.buffer_mut(), look, model)).map(|_| ())
    }

    /// Writes the next frame whole: something else may have written to the terminal.
    pub fn redraw(&mut self) {
        (self.is_drawn, self.is_foreign) = (false, true);
    }

    /// Takes a message in.
    pub fn take(&mut self, message: impl Into<Message>) {
        let message = message.into();
        self.is_drawn = false;
        if matches!(message, Message::Terminal(TerminalEvent::Resize(_))) {
            self.is_foreign = true;
        }
        if matches!(message, Message::Terminal(TerminalEvent::Quit)) && self.unseen.is_none() {
            (self.unseen, self.turn) = (Some(Instant::now()), Some(LoopExit::Left));
        }
        let effects = self.model.update(message, (self.clock)());
        self.perform(effects);
    }

    /// Gives the terminal another size.
    pub fn resize(&mut self, width: u16, height: u16) {
        self.take(TerminalEvent::Resize(Size { width, height }));
    }

    /// Nothing else writes to the terminal meanwhile: drawing is the loop's as well.
    fn copy(&mut self, copied: Copied) {
        let (way, out) = &mut self.clipboard;
        let result = clipboard::by_terminal(&copied, *way, out).map_err(|error| error.to_string());
        self.take(FileEvent::Copied { what: copied.what, result });
    }

    fn perform_pending(&mut self) {
        let effects = self.model.take_effects();
        self.perform(effects);
    }

    fn perform(&mut self, effects: Vec<Effect>) {
        for effect in effects {
            match effect {
                Effect::Terminal(TerminalAction::Quit) => self.exit = Some(Exit::Done),
                Effect::Terminal(TerminalAction::Demo) => self.exit = Some(Exit::Demo),
                Effect::Terminal(TerminalAction::Suspend) => self.turn = Some(LoopExit::Aside),
                Effect::Terminal(TerminalAction::Resume) => self.turn = Some(LoopExit::Resumed),
                Effect::File(FileJob::Copy(copied)) if self.clipboard.0 != ClipboardRoute::Tmux => self.copy(copied),
                work => self.performer.perform(work),
            }
        }
    }
}
