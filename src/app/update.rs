//! What each message changes, and what is to be done about it.

use super::answer::AnswerTree;
use super::commands::{Act, Command};
use super::key::Key;
use super::list::{List, Next, OpenReport, Remote};
use super::message::{Effect, Failure, HeldPage, HeldReport, Here, Message, Opening};
use super::model::{Focus, Model, Overlay, Screen, UnderWay};
use super::palette::{Confirm, Confirmed, Prompt};
use super::panes::{self, PANES, PaneState};
use super::sheet::Sheet;
use crate::quota::{Allowed, Entitlements, Usage};
use crate::report::Pane;
use crate::report::identifier::Sha256;
use crate::report::index::{Batch, Form, Section};
use crate::report::rows::Line;
use crate::request::{Quote, Request};
use jiff::Timestamp;

impl Model {
    /// What is to be done before the first message: earlier files, and the free counters.
    #[must_use]
    pub fn start(&mut self) -> Vec<Effect> {
        let mut effects = vec![Effect::FindRecent];
        if self.service.has_key {
            effects.extend(self.ask(Request::Quotas, true));
        }
        effects
    }

    /// Takes a message in at a moment.
    pub fn update(&mut self, message: Message, now: Timestamp) -> Vec<Effect> {
        self.now = now;
        match message {
            Message::Key(key) => self.press(key),
            Message::Paste(text) => self.paste(&text),
            Message::Resize(size) => {
                self.size = size;
                self.settle();
                Vec::new()
            }
            Message::Tick => self.next_in_batch(),
            Message::Recent(recent) => {
                self.recent = recent;
                Vec::new()
            }
            Message::Recalled { file, pages, reports } => self.recalled(&file, pages, reports),
            Message::Received { request, bytes, total } => self.received(&request, bytes, total),
            Message::Answered { request, result } => self.answered(&request, result),
            Message::Told { request, result } => self.told(&request, result),
            Message::Used { request, result } => self.used(&request, result),
            Message::Entitled { request, result } => self.entitled(&request, result),
            Message::LookedUp { request, since } => {
                if let Some(Overlay::Prompt(form)) = &mut self.overlay {
                    form.held = since.map(|since| (request, since));
                }
                Vec::new()
            }
            Message::Listed { request, result } => self.listed(&request, result),
            Message::Balances(result) => self.balanced(result),
            Message::Spent(spent) => {
                self.spent = spent;
                Vec::new()
            }
            Message::Ledger(lines) => {
                let columns = usize::from(self.overlay_room().width);
                self.put_over(Overlay::Sheet(Sheet::ledger(&lines, self.now, columns)));
                Vec::new()
            }
            Message::Record(record) => {
                self.record = record;
                Vec::new()
            }
            Message::Indexed { opening, batch } => self.indexed(opening, batch),
            Message::Unreadable { opening, why } => {
                if let Some(open) = self.list.as_mut().and_then(|list| list.opened_mut(opening)) {
                    open.unreadable = Some(why);
                }
                Vec::new()
            }
            Message::Notice(text) => {
                self.warn(text);
                Vec::new()
            }
            // Several signs of the same end are one.
            Message::Quit if self.is_quitting => Vec::new(),
            Message::Quit => self.quit(),
            Message::QuitNow => vec![Effect::Quit],
        }
    }

    fn press(&mut self, key: Key) -> Vec<Effect> {
        if !self.is_quitting {
            self.notice = None;
        }
        if let Some(effects) = self.type_into_overlay(key) {
            return effects;
        }
        if self.screen == Screen::Start && self.overlay.is_none() && self.type_key(key) {
            return Vec::new();
        }
        if let Some(command) = Command::of(key, self) {
            return self.run(command);
        }
        let pane = PANES.iter().find(|info| info.key == key).map(|info| info.pane);
        if let (Some(pane), Some(_), None) = (pane, self.open(), &self.overlay) {
            self.focus_pane(pane);
            self.settle();
        }
        Vec::new()
    }

    /// Runs a command as its key would.
    pub fn run(&mut self, command: &Command) -> Vec<Effect> {
        match &command.act {
            Act::Local(act) | Act::Each(_, act) => act(self),
            Act::Ask { is_held, with_held, .. } if is_held(self) => with_held(self),
            Act::Ask { request, anew, .. } => match request(self) {
                Some(request) => {
                    self.announces_balances |= request == Request::Quotas;
                    self.ask(request, *anew)
                }
                None => Vec::new(),
            },
        }
    }

    /// Asks the service, unless the same question is under way or cannot be asked.
    pub(super) fn ask(&mut self, request: Request, anew: bool) -> Vec<Effect> {
        if self.is_quitting || self.is_under_way(&request) {
            return Vec::new();
        }
        let quote = request.quote(&self.entitlements);
        let (request, price) = (quote.request(), quote.price());
        if !self.service.has_key {
            self.warn(
                "There is no key: nothing was sent. Set BEHAVIEW_API_KEY and start again, or run `behaview demo`.",
            );
            return Vec::new();
        }
        if let Allowed::Refused(reason) = price.allowed {
            self.warn(format!("Nothing was sent: {reason}. $ explains."));
            return Vec::new();
        }
        if let Some(why) = self.wants_yes(&quote, anew) {
            let what = Confirmed::One(request.clone());
            self.put_over(Overlay::Confirm(Confirm { what, why }));
            return Vec::new();
        }
        if let Some(until) = self.spent_until(price) {
            self.warn(format!(
                "Nothing was sent: the quota is spent until {until}. b asks the counters again, for nothing."
            ));
            return Vec::new();
        }
        self.forget_failure(&request.clone());
        let is_paid = !price.is_free();
        if matches!(self.overlay, Some(Overlay::Confirm(_))) {
            self.overlay = self.behind.pop();
        }
        self.under_way.push(UnderWay { request: request.clone(), since: self.now, bytes: 0, total: None, is_paid });
        vec![Effect::Ask { quote, anew }]
    }

    /// Why a yes is wanted before this is sent; none if it was given, or none is wanted.
    fn wants_yes(&self, quote: &Quote, anew: bool) -> Option<String> {
        let is_given = matches!(self.overlay, Some(Overlay::Confirm(_))) || self.batch.is_some();
        if is_given {
            return None;
        }
        let is_held =
            matches!(&self.overlay, Some(Overlay::Prompt(prompt)) if !anew && prompt.held_since(self.now).is_some());
        let price = quote.price();
        let is_dear = !is_held && self.confirm_above.is_some_and(|most| price.units.max().is_none_or(|max| max > most));
        quote
            .request()
            .publishes()
            .or_else(|| is_dear.then(|| format!("{} costs {}.", quote.request().words(), price.short())))
    }

    fn received(&mut self, request: &Request, bytes: u64, total: Option<u64>) -> Vec<Effect> {
        for call in self.under_way.iter_mut().filter(|call| call.request == *request) {
            (call.bytes, call.total) = (bytes, total);
        }
        Vec::new()
    }

    fn forget_failure(&mut self, request: &Request) {
        match request {
            Request::Behaviours { .. } => self.list_failure = None,
            Request::Behaviour { identifier } => {
                if let Some(entry) = self.list.as_mut().and_then(|list| list.entry_mut(identifier)) {
                    entry.failure = None;
                }
            }
            _ => {}
        }
    }

    /// Forgets that a call is under way; a paid one is followed by a look at the counters, which is free.
    fn ended(&mut self, request: &Request) -> Vec<Effect> {
        let was_paid = self.under_way.iter().any(|call| call.request == *request && call.is_paid);
        self.under_way.retain(|call| call.request != *request);
        if self.is_quitting && !self.awaits_paid_answer() {
            return vec![Effect::Quit];
        }
        if was_paid && !self.is_quitting { self.ask(Request::Quotas, true) } else { Vec::new() }
    }

    fn answered(&mut self, request: &Request, result: Result<Here, Failure>) -> Vec<Effect> {
        let mut effects = self.ended(request);
        let Request::Behaviour { identifier } = request else { return effects };
        let focus_on_it =
            self.batch.is_none() && self.focus == Focus::List && self.chosen().is_some_and(|e| e.here().is_none());
        let mut stops_batch = false;
        let Some(entry) = self.list.as_mut().and_then(|list| list.entry_mut(identifier)) else { return effects };
        match result {
            Ok(here) => {
                let unkept = here.unkept.clone();
                entry.take(here);
                if let Some(why) = unkept {
                    self.warn(format!("The report is here, but could not be kept: {why}"));
                }
                effects.extend(self.show_chosen());
                let is_chosen = self.chosen().is_some_and(|chosen| chosen.identifier.as_ref() == Some(identifier));
                if focus_on_it && is_chosen && self.overlay.is_none() {
                    panes::group(self.group).next().into_iter().for_each(|pane| self.focus_pane(pane));
                }
            }
            Err(failure) => {
                stops_batch = true;
                let is_held = entry.here().is_some();
                entry.failure = Some(failure.clone());
                if is_held {
                    self.warn(format!("{} {} The held report stays.", failure.what, failure.cost));
                }
            }
        }
        if stops_batch {
            self.stop_batch("A report could not be fetched.");
        }
        effects.extend(self.next_in_batch());
        effects
    }

    fn entitled(&mut self, request: &Request, result: Result<Entitlements, Failure>) -> Vec<Effect> {
        let effects = self.ended(request);
        match (&mut self.overlay, result) {
            (_, Ok(entitlements)) => {
                self.entitlements = self.entitlements.updated(entitlements);
                self.overlay = self.behind.pop();
                self.say(self.entitlements.words());
            }
            (Some(Overlay::Prompt(prompt)), Err(failure)) => prompt.failure = Some(failure),
            (_, Err(failure)) => self.warn(format!("{} {}", failure.what, failure.cost)),
        }
        effects
    }

    fn used(&mut self, request: &Request, result: Result<Usage, Failure>) -> Vec<Effect> {
        let effects = self.ended(request);
        let columns = usize::from(self.overlay_room().width);
        match (&mut self.overlay, result) {
            (_, Ok(usage)) => self.put_over(Overlay::Sheet(Sheet::usage(&usage, columns))),
            (Some(Overlay::Prompt(prompt)), Err(failure)) => prompt.failure = Some(failure),
            (_, Err(failure)) => self.warn(format!("{} {}", failure.what, failure.cost)),
        }
        effects
    }

    fn told(&mut self, request: &Request, result: Result<(Timestamp, Vec<Line>), Failure>) -> Vec<Effect> {
        let effects = self.ended(request);
        let now = self.now;
        let is_awaited = |form: &Prompt| form.request(now).is_ok_and(|asked| asked == *request);
        match (&mut self.overlay, result) {
            (Some(Overlay::Prompt(form)), Ok((received, lines))) if is_awaited(form) => {
                let answer = AnswerTree::new(request.words(), received, lines);
                self.put_over(Overlay::Answer(answer));
            }
            (Some(Overlay::Prompt(form)), Err(failure)) if is_awaited(form) => form.failure = Some(failure),
            (_, Ok(_)) => self.say(format!("The answer is here: {}. Asking the same again shows it.", request.words())),
            (_, Err(failure)) => self.warn(format!("{} {}", failure.what, failure.cost)),
        }
        effects
    }

    fn listed(&mut self, request: &Request, result: Result<HeldPage, Failure>) -> Vec<Effect> {
        let mut effects = self.ended(request);
        let Request::Behaviours { file, cursor, .. } = request else { return effects };
        let Some(list) = self.list.as_mut().filter(|list| list.file() == Some(file)) else { return effects };
        match result {
            Ok(page) => {
                let (entries, unkept) = (page.page.entries.len(), page.unkept.clone());
                list.take_page(cursor.as_ref(), page);
                if let Some(why) = unkept {
                    self.warn(format!("The list is here, but could not be kept: {why}"));
                } else if list.next == Next::Circle {
                    self.warn(
                        "The service repeats a page's address: it goes in circles, so no further page is asked for.",
                    );
                } else if entries == 0 && list.entries.is_empty() {
                    self.say("The service lists no sandbox for this file.");
                }
                effects.extend(self.show_chosen());
                self.settle();
            }
            Err(failure) => self.list_failure = Some(failure),
        }
        effects
    }

    fn balanced(&mut self, result: Result<crate::quota::Balances, String>) -> Vec<Effect> {
        let mut effects = self.ended(&Request::Quotas);
        match result {
            Ok(balances) => {
                self.entitlements = self.entitlements.updated(Entitlements::from_balances(&balances));
                let now = self.now;
                let is_asked = |prompt: &Prompt| prompt.request(now) == Ok(Request::Quotas);
                let is_typed = matches!(&self.overlay, Some(Overlay::Prompt(prompt)) if is_asked(prompt));
                if std::mem::take(&mut self.announces_balances) || is_typed {
                    let columns = usize::from(self.overlay_room().width);
                    self.put_over(Overlay::Sheet(Sheet::counters(&balances, self.now, columns)));
                }
                self.balances = Some(balances);
                self.balances_failure = None;
                if !self.is_quitting {
                    effects.push(Effect::ReadRecord);
                }
            }
            Err(why) => {
                if std::mem::take(&mut self.announces_balances) {
                    self.warn(format!("The counters could not be read: {why}"));
                }
                self.balances_failure = Some(why);
            }
        }
        effects
    }

    fn recalled(&mut self, file: &Sha256, pages: Vec<HeldPage>, reports: Vec<HeldReport>) -> Vec<Effect> {
        let Some(list) = self.list.as_mut().filter(|list| list.file() == Some(file)) else { return Vec::new() };
        for page in pages {
            let cursor = match &list.next {
                Next::Page(cursor) => cursor.clone(),
                Next::Nothing | Next::Circle => break,
            };
            list.take_page(cursor.as_ref(), page);
        }
        list.take_all_held(reports);
        let is_new = list.since.is_none();
        self.settle();
        if is_new && std::mem::take(&mut self.lists_at_once) {
            let page = self.list.as_ref().and_then(|list| list.next_page(self.service.listing));
            return page.map(|page| self.ask(page, false)).unwrap_or_default();
        }
        self.show_chosen()
    }

    /// Whether a report has any attribute that a behaviour report has.
    fn is_behaviour(&mut self, opening: Opening) -> bool {
        let open = self.list.as_mut().and_then(|list| list.opened_mut(opening));
        let is_known = |section: &Section| section.attribute.is_some_and(|known| !["id", "type"].contains(&known.name));
        open.is_some_and(|open| open.report.index.sections.iter().any(is_known))
    }

    /// Opens the chosen report if it is here: a held report costs nothing, so no key is needed.
    pub fn show_chosen(&mut self) -> Vec<Effect> {
        let opening = self.next_opening();
        let Some(entry) = self.list.as_mut().and_then(List::chosen_mut) else { return Vec::new() };
        let Remote::Here(here) = &entry.report else { return Vec::new() };
        if entry.open.is_some() {
            return Vec::new();
        }
        let body = here.body.clone();
        entry.open = Some(OpenReport::new(opening, here));
        vec![Effect::Index { opening, body }]
    }

    fn indexed(&mut self, opening: Opening, batch: Batch) -> Vec<Effect> {
        let Some(open) = self.list.as_mut().and_then(|list| list.opened_mut(opening)) else { return Vec::new() };
        open.report.index.absorb(batch);
        for state in open.panes.values_mut() {
            refresh_folds(state, &open.report);
        }
        let index = &open.report.index;
        let (is_complete, is_json, is_cut) = (index.is_complete, index.is_json, index.is_cut);
        if is_complete && !is_json {
            open.unreadable = Some("it is not JSON".to_owned());
        } else if is_complete && is_cut {
            self.warn("This report stops in the middle: it was cut short. What came of it is shown.");
        } else if is_complete && self.is_document() && !self.is_behaviour(opening) {
            self.say("This document is no behaviour report. All that it holds stands in the pane Other.");
            self.focus_pane(Pane::Other);
        }
        Vec::new()
    }

    /// Opens a file: what is held of it is shown, nothing is asked.
    pub fn open_file(&mut self, file: Sha256) -> Vec<Effect> {
        self.screen = Screen::File;
        self.focus = Focus::List;
        self.is_zoomed = false;
        self.typed.clear();
        self.list_failure = None;
        if self.file() == Some(&file) {
            return Vec::new();
        }
        self.list = Some(List::unasked(file.clone()));
        vec![Effect::Recall(file)]
    }

    /// Back to the start screen.
    pub(super) fn leave_file(&mut self) -> Vec<Effect> {
        self.screen = Screen::Start;
        self.recent_scroll = panes::Scroll::default();
        vec![Effect::FindRecent]
    }

    /// Back one step.
    pub(super) fn go_back(&mut self) -> Vec<Effect> {
        if self.overlay.take().is_some() {
            self.overlay = self.behind.pop();
            return self.look_up();
        }
        if self.screen == Screen::Start {
            self.typed.clear();
            return Vec::new();
        }
        if self.is_zoomed {
            self.is_zoomed = false;
        } else if self.focus != Focus::List {
            self.focus = Focus::List;
        } else {
            return self.leave_file();
        }
        self.settle();
        Vec::new()
    }

    /// Ends the program, after paid answers are in; asked twice, at once.
    pub(super) fn quit(&mut self) -> Vec<Effect> {
        let waits = self.under_way.iter().filter(|call| call.is_paid).count();
        if waits == 0 || self.is_quitting {
            return vec![Effect::Quit];
        }
        self.is_quitting = true;
        self.warn(format!(
            "Waiting for {waits} paid answer{} to be kept. q again leaves without; the ledger counts the call.",
            if waits == 1 { "" } else { "s" }
        ));
        Vec::new()
    }
}

fn refresh_folds(state: &mut PaneState, report: &crate::report::Report) {
    if state.folds.any() {
        let tree = report.index.sections.iter().find(|section| section.form == Form::Processes);
        tree.into_iter().for_each(|section| state.folds.refresh(&section.depths));
    }
}
