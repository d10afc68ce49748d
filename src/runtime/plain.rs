//! Shows the app in lines, for screen readers and terminals without a cursor: redraws no cell.
//!
//! The user types a command's name, a key, or a row's number. Commands and gateway are those of the
//! screen; a command that costs something asks for confirmation with its price.

use super::signals::Signals;
use super::{Clipboard, EventLoop, RunExit, terminal_size};
use crate::app::commands::Command;
use crate::app::{Key, KeyContext, Message, Model, SavedScreen, Size, TerminalEvent};
use crate::gateway::{Clock, Gateway};
use crate::text::{self, ColumnWidth, Untrusted};
use crate::view;
use ratatui::backend::CrosstermBackend;
use std::io::{self, BufRead, BufReader, IsTerminal, Read, StdinLock, StdoutLock, Write};
use std::sync::Arc;
use std::time::Duration;

const PAGE_SIZE: Size = Size { width: 400, height: 26 };

/// How long the program waits without a line of output.
const SILENCE_INTERVAL: Duration = Duration::from_secs(3);

/// Maximum bytes of a line and of the read-ahead, more than standard input's buffer.
const MAX_LINE_BYTES: usize = 64 * 1024;

struct Dialogue {
    session: EventLoop<CrosstermBackend<io::Sink>>,
    input: BufReader<StdinLock<'static>>,
    output: StdoutLock<'static>,
    balances: String,
}

/// Runs the app in lines on standard input and output until it ends.
pub(super) fn run(
    mut model: Model,
    gateway: Option<Arc<Gateway>>,
    signals: Signals,
    clock: Clock,
) -> anyhow::Result<(RunExit, SavedScreen)> {
    (model.settings.is_plain, model.size) = (true, PAGE_SIZE);
    // Keys show no price here: each call that costs something is confirmed.
    model.settings.confirm_above = 0;
    // Frames are drawn without a terminal, as keys carry frame numbers.
    let mut session = EventLoop::new(CrosstermBackend::new(io::sink()), model, gateway, clock)?;
    // A terminal without control sequences has no clipboard.
    if std::env::var_os("TERM").is_some_and(|kind| kind != "dumb") && io::stdout().is_terminal() {
        session.clipboard = Clipboard::of_environment();
    }
    let ending = signals.forward(session.performer.outbox.clone(), false)?;
    session.begin();
    let input = BufReader::with_capacity(MAX_LINE_BYTES, io::stdin().lock());
    let mut dialogue = Dialogue { session, input, output: io::stdout().lock(), balances: String::new() };
    let exit = match dialogue.run() {
        // The reader of the pipe has closed it.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => RunExit::Done,
        ended => ended?,
    };
    Ok(dialogue.session.result(exit, &ending))
}

impl Dialogue {
    fn run(&mut self) -> io::Result<RunExit> {
        self.print(
            "behaview in lines. Type a command's name, a key, or a row's number; help lists what applies; quit ends.",
        )?;
        loop {
            // Deferred work runs between two lines: no ticks occur here.
            self.session.take(Message::Tick);
            self.wait()?;
            if let Some(exit) = self.session.exit {
                return Ok(exit);
            }
            self.print_page()?;
            if self.session.model.key_context() == KeyContext::Confirm {
                self.forget_typed_ahead()?;
            }
            match self.prompt("> ")? {
                Some(line) => self.take(line.trim())?,
                None => {
                    self.session.take(TerminalEvent::Quit);
                    self.wait()?;
                    return Ok(self.session.exit.unwrap_or(RunExit::Done));
                }
            }
        }
    }

    /// Waits until no work is in progress, and reports the wait at intervals.
    fn wait(&mut self) -> io::Result<()> {
        while !self.session.run_until_idle(SILENCE_INTERVAL).unwrap_or(true) {
            self.print(&match self.session.model.calls.len() as u64 {
                0 => "still working".to_owned(),
                calls => format!("still waiting for {}", text::count(calls, "response")),
            })?;
        }
        Ok(())
    }

    fn print_page(&mut self) -> io::Result<()> {
        let model = &self.session.model;
        let mut lines = view::lines(model);
        lines.extend(model.notice.as_ref().map(|notice| {
            let kind = if notice.is_problem { "problem" } else { "note" };
            format!("{kind}: {}", notice.text)
        }));
        let [keys, balances] = view::bar(model);
        lines.push(format!("keys: {keys}"));
        if balances != self.balances {
            lines.push(format!("quota: {balances}"));
            self.balances = balances;
        }
        // A notice is printed once.
        self.session.model.notice = None;
        lines.iter().try_for_each(|line| self.print(line))
    }

    /// Prints a line; on a terminal that is narrower, in rows that break between words.
    fn print(&mut self, line: &str) -> io::Result<()> {
        let columns = terminal_size().map_or(usize::MAX, |(columns, _)| columns.max(20).into());
        let is_long = line.trim_end().columns() > columns;
        let rows = if is_long { text::wrap(line.trim_end(), columns) } else { vec![line.trim_end().to_owned()] };
        rows.iter().try_for_each(|row| writeln!(self.output, "{}", text::own(row)))
    }

    /// Drops lines typed before the price was flushed: they confirm nothing. The prompt follows.
    fn forget_typed_ahead(&mut self) -> io::Result<()> {
        self.output.flush()?;
        // The read-ahead buffer may contain further lines, of a pipe or of a fast terminal.
        self.input.consume(self.input.buffer().len());
        #[cfg(unix)]
        if io::stdin().is_terminal() {
            // A closed terminal reports an error when it is read.
            let _ = rustix::termios::tcflush(io::stdin(), rustix::termios::QueueSelector::IFlush);
        }
        Ok(())
    }

    /// Prompts until a line is short enough, so that it answers this prompt; `None` at the end.
    fn prompt(&mut self, prompt: &str) -> io::Result<Option<String>> {
        loop {
            write!(self.output, "{prompt}")?;
            self.output.flush()?;
            let mut line = Vec::new();
            self.input.by_ref().take(MAX_LINE_BYTES as u64).read_until(b'\n', &mut line)?;
            if line.is_empty() {
                return Ok(None);
            }
            if line.len() < MAX_LINE_BYTES || line.ends_with(b"\n") {
                // Bytes that are not UTF-8 match no command, and are reported so.
                return Ok(Some(String::from_utf8_lossy(&line).into_owned()));
            }
            self.input.skip_until(b'\n')?;
            self.print(&format!("That line is longer than {}, and was left out.", text::bytes(MAX_LINE_BYTES as u64)))?;
        }
    }

    /// Processes a line: as text in a text field, else as a row's number, a key or a command.
    fn take(&mut self, line: &str) -> io::Result<()> {
        if line.is_empty() {
            return Command::of_enter(&self.session.model).map_or(Ok(()), |command| self.run_command(command));
        }
        let word = line.trim_start_matches(':');
        let number = line.parse::<usize>();
        let is_text = match self.session.model.key_context() {
            KeyContext::Hash => false,
            place if place.seeks() => number.is_err(),
            place => place.has_line(),
        };
        if is_text && named(word).is_none() {
            self.session.press(Key::Ctrl('u'));
            line.chars().filter(|c| !c.is_control()).for_each(|c| self.session.press(Key::Char(c)));
            return Ok(());
        }
        if let Ok(number @ 1..) = number {
            self.session.model.go_to_row(number - 1);
            self.session.perform_pending();
            return Ok(());
        }
        let model = &self.session.model;
        if let Some(key) = word.parse().ok().filter(|_| model.key_context() == KeyContext::Confirm) {
            self.session.press(key);
            return Ok(());
        }
        match word.parse().ok().and_then(|key| Command::of(key, model)).or_else(|| named(word)) {
            Some(command) => self.run_command(command),
            None if matches!(model.key_context(), KeyContext::Start | KeyContext::Hash) => {
                self.session.take(TerminalEvent::Paste(line.to_owned()));
                let is_found = self.session.model.notice.as_ref().is_some_and(|notice| !notice.is_problem);
                let enter = Command::of_enter(&self.session.model).filter(|_| is_found);
                enter.map_or(Ok(()), |command| self.run_command(command))
            }
            None => {
                let word = Untrusted::from(word).visible_cut(40);
                self.print(&format!("no command, key or row \"{word}\" here; help lists what applies"))
            }
        }
    }

    fn run_command(&mut self, command: &'static Command) -> io::Result<()> {
        let model = &self.session.model;
        if let Some(why) = command.off(model) {
            return self.print(&format!("{} does not apply here: {why}", command.name));
        }
        self.session.model.run(command);
        self.session.perform_pending();
        Ok(())
    }
}

/// Returns the command of a name; panes also without their common prefix.
fn named(word: &str) -> Option<&'static Command> {
    Command::named(word).or_else(|| Command::named(&format!("pane-{word}")))
}
