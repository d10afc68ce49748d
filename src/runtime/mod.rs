//! Runs the loop that owns the state and the terminal.
//!
//! ```text
//! loop {
//!     draw, if something changed
//!     wait for a message: a key, finished work, or a tick while work is in progress
//!     for effect in model.update(message) { performer.perform(effect) }
//! }
//! ```
//! The loop waits for messages alone: network, store and indexing of reports run on other threads.

mod performer;
mod plain;
mod signals;
mod terminal;

pub use performer::search;
pub(crate) use performer::{export_context, load_file, load_group, load_list, read_rules, triage};
pub use signals::{BlockedSignals, Signals, survive_file_limit};
pub(crate) use signals::{SHUTDOWN_GRACE, STUCK_TIMEOUT};
pub use terminal::{Clipboard, Display, install_panic_hook, prompt_hidden, run, terminal_size};

use crate::app::{Effect, FileEvent, FileJob, Key, Message, Model, SavedScreen, Size, TerminalAction, TerminalEvent};
use crate::gateway::{Clock, Gateway};
use crate::view::{self, Appearance};
use performer::Performer;
use ratatui::backend::Backend;
use ratatui::layout::Rect;
use ratatui::{Terminal, TerminalOptions, Viewport};
use signals::ShutdownState;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

/// The interval of redraws while work is in progress.
const TICK_INTERVAL: Duration = Duration::from_millis(250);

/// Limits the size to draw: terminals may report any (serial lines none), and cells take memory.
fn usable_size((width, height): (u16, u16)) -> Size {
    match (width.min(2_000), height.min(1_000)) {
        (0, _) | (_, 0) => Size { width: 80, height: 24 },
        (width, height) => Size { width, height },
    }
}

/// Creates threads for the network and the store.
pub fn threads(workers: usize) -> std::io::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_multi_thread().worker_threads(workers).enable_all().build()
}

/// Sends messages to the loop's inbox, from any thread.
#[derive(Debug, Clone)]
pub(crate) struct MessageSender(Sender<Message>);

impl MessageSender {
    pub(crate) fn send(&self, message: impl Into<Message>) {
        // A loop that has ended needs no message.
        let _ = self.0.send(message.into());
    }
}

/// How a run of the app ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunExit {
    Done,
    Demo,
    /// The system asked for the end, by this signal.
    Signal(u8),
}

/// Why the loop stops taking messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LoopExit {
    Ended(RunExit),
    /// The shell gets the terminal for a while.
    Suspend,
    /// Another program may have changed the terminal.
    Resume,
    /// The system ends the program: releases the terminal at once, paid calls get time to finish.
    Leave,
    /// The terminal can no longer be drawn on.
    TerminalLost,
}

/// A run of the app on a terminal of any kind.
pub struct EventLoop<B: Backend> {
    pub terminal: Terminal<B>,
    pub look: Appearance,
    pub model: Model,
    pub clipboard: Clipboard,
    pub exit: Option<RunExit>,
    performer: Performer,
    inbox: Receiver<Message>,
    /// Number of the last frame begun, from 1; each key carries it from the time it was read.
    pub frame: Arc<AtomicU64>,
    clock: Clock,
    pending_exit: Option<LoopExit>,
    /// Whether the terminal is gone or released, so that frames are not visible.
    is_released: bool,
    /// Whether the screen shows the current state.
    is_drawn: bool,
    /// Whether other output may be on the terminal: the next frame is written whole.
    is_foreign: bool,
}

impl<B: Backend> EventLoop<B>
where
    B::Error: Send + Sync + 'static,
{
    /// Creates a loop that draws by `backend`, with a service or without.
    pub fn new(backend: B, model: Model, gateway: Option<Arc<Gateway>>, clock: Clock) -> anyhow::Result<Self> {
        let (sender, inbox) = channel();
        let performer = Performer::new(gateway, MessageSender(sender))?;
        // A fixed viewport: model and screen agree, whatever size the terminal reports meanwhile.
        let options = TerminalOptions { viewport: Viewport::Fixed(Rect::ZERO) };
        Ok(Self {
            terminal: Terminal::with_options(backend, options)?,
            look: Appearance::default(),
            model,
            clipboard: Clipboard::None,
            exit: None,
            performer,
            inbox,
            frame: Arc::default(),
            clock,
            pending_exit: None,
            is_released: false,
            is_drawn: false,
            is_foreign: true,
        })
    }

    /// Returns how the app ended: by a signal, if one came.
    fn result(&mut self, exit: RunExit, ending: &ShutdownState) -> (RunExit, SavedScreen) {
        (ending.signal().map_or(exit, RunExit::Signal), self.model.remember())
    }

    /// Performs the effects of the start, as if a message had come.
    pub fn begin(&mut self) {
        self.model.start();
        self.perform_pending();
    }

    fn take_all(&mut self) {
        while let Ok(message) = self.inbox.try_recv() {
            self.take(message);
        }
    }

    /// Processes messages until the app ends or suspends, and draws between them.
    fn run(&mut self) -> LoopExit {
        loop {
            if let Some(exit) = self.exit {
                return LoopExit::Ended(exit);
            }
            if let Some(exit) = self.pending_exit.take() {
                return exit;
            }
            if !self.is_released && !self.is_drawn && self.draw().is_err() {
                self.is_released = true;
                return LoopExit::TerminalLost;
            }
            // Ticks while work is in progress show that waiting continues.
            let message = if self.model.is_waiting() {
                self.inbox.recv_timeout(TICK_INTERVAL).unwrap_or(Message::Tick)
            } else {
                // This loop has a sender of its own: the channel stays open.
                self.inbox.recv().unwrap_or(Message::Tick)
            };
            self.take(message);
            self.take_all();
        }
    }

    /// Processes messages until no work is in progress, then draws once; returns false on timeout.
    pub fn run_until_idle(&mut self, patience: Duration) -> Result<bool, B::Error> {
        let deadline = Instant::now() + patience;
        loop {
            let was_idle = self.performer.is_idle();
            self.take_all();
            let is_idle = was_idle && self.performer.is_idle();
            if is_idle || Instant::now() > deadline {
                self.draw()?;
                return Ok(is_idle);
            }
            if let Ok(message) = self.inbox.recv_timeout(Duration::from_millis(1)) {
                self.take(message);
            }
        }
    }

    pub fn press(&mut self, key: Key) {
        self.take(TerminalEvent::Key(key));
    }

    /// Draws the next frame in the terminal's present size.
    pub fn draw(&mut self) -> Result<(), B::Error> {
        // The size may have changed before the signal that reports it.
        let size = usable_size(self.terminal.size()?.into());
        if size != self.model.size {
            self.take(TerminalEvent::Resize(size));
        }
        let frame = self.frame.fetch_add(1, Ordering::SeqCst) + 1;
        if std::mem::take(&mut self.is_foreign) {
            // `Terminal::clear` would query the terminal for its cursor position.
            self.terminal.resize(Rect { x: 0, y: 0, width: size.width, height: size.height })?;
        }
        self.terminal.draw(|frame| view::draw(frame.buffer_mut(), self.look, &self.model))?;
        self.take(TerminalEvent::FrameDrawn(frame));
        self.is_drawn = true;
        Ok(())
    }

    /// Invalidates the screen: the next frame is written whole, as something else may have written.
    pub fn redraw(&mut self) {
        (self.is_drawn, self.is_foreign) = (false, true);
    }

    /// Updates the model by a message, and performs the effects.
    pub fn take(&mut self, message: impl Into<Message>) {
        let message = message.into();
        self.is_drawn = false;
        match &message {
            Message::Terminal(TerminalEvent::Resize(_)) => self.is_foreign = true,
            Message::Terminal(TerminalEvent::Quit) if !self.is_released => {
                (self.is_released, self.pending_exit) = (true, Some(LoopExit::Leave));
            }
            _ => {}
        }
        let effects = self.model.update(message, (self.clock)());
        self.perform(effects);
    }

    fn perform_pending(&mut self) {
        let effects = self.model.take_effects();
        self.perform(effects);
    }

    fn perform(&mut self, effects: Vec<Effect>) {
        for effect in effects {
            match effect {
                Effect::Terminal(TerminalAction::Quit) => self.exit = Some(RunExit::Done),
                Effect::Terminal(TerminalAction::Demo) => self.exit = Some(RunExit::Demo),
                Effect::Terminal(TerminalAction::Suspend) => self.pending_exit = Some(LoopExit::Suspend),
                Effect::Terminal(TerminalAction::Resume) => self.pending_exit = Some(LoopExit::Resume),
                Effect::File(FileJob::Copy(copied)) => {
                    // Performed here, since only the loop writes to the terminal.
                    let result = self.clipboard.copy(&copied.bytes);
                    self.take(FileEvent::Copied(copied.what, result));
                }
                work => self.performer.perform(work),
            }
        }
    }
}
