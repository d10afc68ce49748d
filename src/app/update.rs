//! What each message changes, and what is to be done about it.

use super::commands::{Act, Command};
use super::effect::{Effect, Source};
use super::keys::key::Key;
use super::keys::place::CONFIRM;
use super::layout::Size;
use super::list::OpenReport;
use super::message::{Message, Opening};
use super::model::{Model, Screen};
use super::over::overlay::Overlay;
use super::over::sheet::Sheet;
use super::panes::scroll::Scroll;
use super::spending::ledger::LedgerPage;
use super::spending::offers::Offers;
use super::spending::price::Tag;
use crate::report::index::Batch;
use crate::request::Request;
use jiff::{SignedDuration, Timestamp};

/// What may be done while a question waits for a yes, beside answering it.
const LEAVE_A_QUESTION: [&str; 4] = ["back", "give-up", "shell", "quit"];

impl Model {
    /// What is to be done before the first message: earlier files, and the free counters.
    pub fn start(&mut self) {
        self.emit(Effect::FindRecent);
        if self.service.barred().is_none() {
            self.ask(Request::Quotas, Source::Service);
        }
    }

    /// Takes a message in at a moment.
    pub fn update(&mut self, message: Message, now: Timestamp) -> Vec<Effect> {
        self.passed = self.passed.saturating_add(self.now.duration_until(now).max(SignedDuration::ZERO));
        self.now = now;
        self.figures.allowance.turn(self.figures.spent.values().copied().sum(), now);
        let before = self.message().len();
        self.take_in(message);
        self.refresh_palette();
        self.refresh_planner();
        self.refresh_following();
        if self.message().len() != before {
            self.settle();
        }
        self.take_effects()
    }

    fn take_in(&mut self, message: Message) {
        match message {
            // Nothing is on the screen but how to quit: what is there cannot be answered, typed into or paid for.
            Message::Key(key) | Message::Typed { key, .. } if !self.size.is_enough() && !self.quits(key) => {}
            Message::Pointer(_) | Message::Paste(_) if !self.size.is_enough() => {}
            Message::Key(key) => self.press(key),
            Message::Pointer(pointer) => self.point(pointer),
            Message::Typed { key, frame } => self.press_unless_unseen(key, frame),
            Message::Drawn(frame) => self.drawn(frame),
            Message::Paste(text) => self.paste(&text),
            Message::Resize(size) => self.resized(size),
            Message::Tick => self.ticked(),
            Message::Recent(recent) => self.only(|model| model.start.recent = recent),
            Message::Recalled { file, pages, reports, scan } => self.recalled(&file, pages, reports, scan),
            Message::RecalledBeside { file, pages, reports } => self.recalled_beside(&file, pages, reports),
            Message::Compared { number, result } => self.compared(number, result),
            Message::Ruled { rules, problems } => self.ruled(rules, &problems),
            Message::Judged { opening, marks } => self.judged(opening, marks),
            Message::JudgedHeld { number, found } => self.judged_held(number, found),
            Message::Sifted { number, sought, found } => self.sifted(number, &sought, found),
            Message::Notes(notes) => self.take_notes(notes),
            Message::Unwritten(note) => self.keep_words(&note),
            Message::Received { request, bytes, total } => self.received(&request, bytes, total),
            Message::Arriving { request, body, read, batch } => self.arriving(&request, body, read, batch),
            Message::Answered { request, result } => self.answered(&request, result),
            Message::Told { request, result } => self.told(&request, result),
            Message::Used { request, result } => self.used(&request, result),
            Message::Entitled { request, result } => self.entitled(&request, result),
            Message::LookedUp { request, since } => self.looked_up(request, since),
            Message::Listed { request, result } => self.listed(&request, result),
            Message::LookedAtFile { path, result, sent, before } => self.looked_at_file(path, result, sent, before),
            Message::Addressed(result) => self.addressed(result),
            Message::Submitted { request, result } => self.submitted(&request, result),
            Message::Looked { request, result } => self.looked(&request, result),
            Message::Deleted { request, result } => self.deleted(&request, result),
            Message::Counted { path, result } => self.counted(&path, result),
            Message::Balances(result) => self.balanced(result),
            Message::Copied { what, result } => self.copied(&what, result),
            Message::Saved(result) => self.saved(result),
            Message::Fetched { request, result } => self.fetched(&request, result),
            Message::Indicators { opening, result } => self.indicated(opening, result),
            Message::SaysSpent(says_spent) => self.only(|model| model.figures.take_says_spent(says_spent)),
            Message::WaitUntil(until) => self.only(|model| model.figures.wait_until = Some(until)),
            Message::Spent(spent) => self.only(|model| model.figures.spent = spent),
            Message::Ledger(page) => self.show_ledger(&page),
            Message::Held(lines) => self.show_held(lines),
            Message::Purged { words, lines } => self.purged(words, lines),
            Message::PurgeDiffers { what, lines } => self.purge_differs(what, lines),
            Message::Record(record) => self.only(|model| model.figures.record = record),
            Message::Indexed { opening, batch } => self.indexed_further(opening, batch),
            Message::Found { search, rows, ended } => self.found(search, rows, ended),
            Message::Hits { search, groups, searched, ended } => self.hits(search, groups, searched, ended),
            Message::Unreadable { opening, why } => self.change_open(opening, |open| open.unreadable = Some(why)),
            Message::TakenIn => self.taken_in(),
            Message::Notice(text) => self.only(|model| model.warn(text)),
            Message::Aside => self.emit(Effect::Aside),
            Message::Resumed => self.emit(Effect::TakeBack),
            Message::Quit if self.is_quitting => {}
            Message::Quit => self.quit(),
            Message::QuitNow => self.quit_now(),
        }
    }

    /// Whether a key quits here.
    fn quits(&self, key: Key) -> bool {
        Command::of(key, self).is_some_and(|command| command.name == "quit")
    }

    /// A change that asks for nothing further.
    fn only(&mut self, change: impl FnOnce(&mut Self)) {
        change(self);
    }

    /// Does what waited for its time.
    fn ticked(&mut self) {
        self.next_in_batch();
        self.next_look();
    }

    fn drawn(&mut self, frame: u64) {
        self.offers = Offers::of(self, frame);
    }

    fn resized(&mut self, size: Size) {
        self.size = size;
        self.settle();
    }

    fn looked_up(&mut self, request: Request, since: Option<Timestamp>) {
        self.artefact_held(&request, since);
        let now = self.now;
        // One that was asked about before says nothing of what is asked now.
        if let Some(Overlay::Prompt(form)) = self.over.top_mut()
            && form.asks(&request, now)
        {
            form.source.held = since.map(|since| (request, since));
        }
    }

    fn show_ledger(&mut self, page: &LedgerPage) {
        let columns = usize::from(self.overlay_room().width);
        self.show_figures(Sheet::ledger(page, self.now, columns), !self.place().has_line());
    }

    /// Takes further rows of a report in, and goes on with what waited for them.
    fn indexed_further(&mut self, opening: Opening, batch: Batch) {
        self.indexed(opening, batch);
        self.seek_further(opening);
        self.arrive();
    }

    /// Changes a report that is open, if it still is.
    fn change_open(&mut self, opening: Opening, change: impl FnOnce(&mut OpenReport)) {
        if let Some(open) = self.opened_mut(opening) {
            change(open);
        }
    }

    /// Presses a key, unless it would spend what no frame had offered when it was read, or answer what none had asked: a key that was
    /// pressed ahead, or came with a paste, is no yes.
    fn press_unless_unseen(&mut self, key: Key, frame: u64) {
        let leaves = || Command::of(key, self).is_some_and(|command| command.place != CONFIRM && !command.asks());
        // A no needs no question that was seen.
        if self.declines(key) {
            return self.press(key);
        }
        if !self.offers.has_asked(self, frame) && !leaves() {
            self.warn(format!("{key} came before the question was on the screen: nothing was done. Press it again."));
        } else if !self.offers.has_seen(self, key, frame) {
            self.warn(format!("{key} came before its price was on the screen: nothing was sent. Press it again."));
        } else {
            self.press(key)
        }
    }

    fn press(&mut self, key: Key) {
        if !self.is_quitting {
            self.notice = None;
        }
        // Whoever presses a key has somewhere else to go.
        self.bound_for = None;
        let is_hash = |model: &Self| model.screen == Screen::Start && model.over.is_empty();
        let is_typed = self.is_filtering() && self.type_filter(key)
            || self.type_into_overlay(key)
            || is_hash(self) && self.press_digit(key);
        if is_typed {
            return;
        }
        if let Some(answer) = self.answer(key).cloned() {
            return self.confirm(answer);
        }
        if self.declines(key) {
            return self.decline(key);
        }
        match Command::of(key, self) {
            Some(command) => self.run(command),
            None => self.take_off_key(key),
        }
    }

    /// Whether a key answers the question that waits for a yes by no: each does but those it names, and those that leave it.
    fn declines(&self, key: Key) -> bool {
        let leaves = |command: &Command| LEAVE_A_QUESTION.contains(&command.name);
        let is_asked = matches!(self.over.top(), Some(Overlay::Confirm(_))) && self.answer(key).is_none();
        is_asked && !Command::of(key, self).is_some_and(leaves)
    }

    fn decline(&mut self, key: Key) {
        self.go_back();
        self.say(format!("{key} is no answer to the question: it is closed, and nothing was done."));
    }

    /// Runs a command as its key would.
    pub fn run(&mut self, command: &Command) {
        match &command.act {
            Act::Local(act) | Act::Leads { to: act, .. } => act(self),
            Act::Each { begin, .. } => match self.tag(command) {
                tag @ Tag::OverBudget(_) => {
                    self.refuse_several(command.label, &tag);
                }
                _ => begin(self),
            },
            Act::Chosen => self.choose(),
            Act::Ask { is_held, with_held, .. } if is_held(self) => with_held(self),
            Act::Ask { request, anew, .. } => match request(self) {
                Some(request) if self.says_in_flight(&request) => {}
                Some(request) if self.is_typed_held(command) => self.ask_held(request),
                Some(request) => {
                    self.figures.await_answer(&request);
                    self.ask(request, if *anew { Source::Service } else { Source::HeldOrService })
                }
                None => {}
            },
        }
    }

    /// Opens the chosen report if it is here: a held report costs nothing, so no key is needed.
    pub fn show_chosen(&mut self) {
        let opening = self.next_opening();
        let Some(list) = self.files.shown_mut().map(|file| &mut file.list) else { return };
        let is_stopped = list.leave_unfinished();
        let body = list.chosen_mut().and_then(|entry| {
            let folded = entry.identifier.as_ref().map_or(&[][..], |report| self.remembered.rows(report));
            entry.open(opening, folded)
        });
        if is_stopped {
            self.emit(Effect::StopIndexing);
        }
        if let Some(body) = body {
            self.emit(Effect::Index { opening, body });
        }
    }

    /// Back to the start screen.
    pub(super) fn leave_file(&mut self) {
        self.screen = Screen::Start;
        self.start.scroll = Scroll::default();
        self.emit(Effect::FindRecent);
    }

    pub(super) fn go_back(&mut self) {
        if self.over.top_mut().and_then(Overlay::sought_mut).is_some_and(|line| line.is_typing) {
            return self.drop_sought();
        }
        if !self.over.is_empty() {
            return self.close_over();
        }
        if self.screen == Screen::Start {
            let is_typed = !std::mem::take(&mut self.start.typed).is_empty();
            if !is_typed && self.shown().is_some() {
                self.step_file(0);
            }
            return;
        }
        if self.is_zoomed() {
            self.zoom(false);
        } else if self.way_back().is_some() {
            return self.return_to_list();
        } else {
            // Here it ends: a file is left by a key of its own, and not by one press too many.
            self.focus_list();
        }
        self.settle();
    }

    /// Closes what has the keys over the screen; a search and a comparison are remembered.
    fn close_over(&mut self) {
        match self.over.close() {
            Some(Overlay::Compare(compare)) => self.keep_comparison(compare),
            Some(Overlay::Finder(mut finder)) => {
                finder.quest.run = None;
                self.keep_search(finder);
            }
            _ => {}
        }
        self.look_up()
    }

    /// Gives the terminal to the shell; a paid answer is waited for first, as a stopped program takes nothing in.
    pub(super) fn make_way(&mut self) {
        if self.calls.awaits_paid() {
            self.warn(
                "A paid answer is under way, and a stopped program cannot take it in. Press it again once it is here.",
            );
            return;
        }
        self.emit(Effect::Aside);
    }

    /// Ends the program, after paid answers are in; asked twice, at once.
    pub(super) fn quit(&mut self) {
        if self.may_leave() || self.is_quitting {
            return self.emit(Effect::Quit);
        }
        self.is_quitting = true;
        let (quit, answers) = (self.way_to("quit"), self.calls.paid().count());
        let answers = crate::text::count(answers as u64, "paid answer");
        let words = match (self.calls.awaits_paid(), self.writes > 0) {
            (true, false) => {
                format!("Waiting for {answers} to be kept. {quit} again leaves without; the ledger counts the call.")
            }
            (true, true) => format!(
                "Waiting for {answers} to be kept, and for the store to take in what was written or deleted. {quit} again leaves \
                 without; the ledger counts the call."
            ),
            (false, _) => format!(
                "Waiting for the store to take in what was written or deleted: another program may be writing there. {quit} again \
                 leaves without."
            ),
        };
        self.warn(words);
    }

    /// Ends without waiting any longer: what is paid for is given up, so that what is here of it is kept and what it may have cost is
    /// written down, and the end comes with that.
    fn quit_now(&mut self) {
        self.is_quitting = true;
        if self.calls.awaits_paid() { self.give_up() } else { self.emit(Effect::Quit) }
    }

    /// Waits no longer for anything that is under way.
    pub(super) fn give_up(&mut self) {
        let requests: Vec<_> = self.calls.iter().map(|call| call.request.clone()).collect();
        requests.into_iter().for_each(|request| self.emit(Effect::GiveUp(request)));
    }

    /// Whether nothing is under way that must not be lost.
    fn may_leave(&self) -> bool {
        !self.calls.awaits_paid() && self.writes == 0
    }

    /// Ends the program that is to end, as soon as that may be.
    pub(super) fn leave(&mut self) {
        if self.is_quitting && self.may_leave() {
            self.emit(Effect::Quit);
        }
    }

    /// Takes in that the store has taken in a note or a deletion, or refused it.
    fn taken_in(&mut self) {
        self.writes = self.writes.saturating_sub(1);
        self.leave()
    }
}
