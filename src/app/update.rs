//! What each message changes, and what is to be done about it.

use super::commands::{Act, Command};
use super::detail::Detail;
use super::key::{Key, Named};
use super::list::{List, Next, OpenReport, Remote};
use super::message::{Effect, Failure, HeldPage, HeldReport, Here, Message, Opening};
use super::model::{Focus, Model, Overlay, Screen, UnderWay};
use super::panes::{self, Move, PANES, PaneState};
use crate::quota::{Allowed, Entitlements};
use crate::report::identifier::Sha256;
use crate::report::index::{Batch, Form};
use crate::report::{Pane, tree};
use crate::request::Request;
use crate::text::thousands;
use jiff::Timestamp;

impl Model {
    /// What is to be done before the first message: earlier files, and the free counters.
    #[must_use]
    pub fn start(&mut self) -> Vec<Effect> {
        let mut effects = vec![Effect::FindRecent];
        if self.service.has_key {
            effects.extend(self.ask(Request::Quotas));
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
            Message::Tick => Vec::new(),
            Message::Recent(recent) => {
                self.recent = recent;
                Vec::new()
            }
            Message::Recalled { file, pages, reports } => self.recalled(&file, pages, reports),
            Message::Received { request, bytes, total } => {
                for call in self.under_way.iter_mut().filter(|call| call.request == request) {
                    (call.bytes, call.total) = (bytes, total);
                }
                Vec::new()
            }
            Message::Answered { request, result } => self.answered(&request, result),
            Message::Listed { request, result } => self.listed(&request, result),
            Message::Balances(result) => self.balanced(result),
            Message::Spent(spent) => {
                self.spent = spent;
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
            Message::Quit => self.quit(),
        }
    }

    fn press(&mut self, key: Key) -> Vec<Effect> {
        self.notice = None;
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
            Act::Local(act) => act(self),
            Act::Ask { is_held, with_held, .. } if is_held(self) => with_held(self),
            Act::Ask { request, .. } => match request(self) {
                Some(request) => self.ask(request),
                None => Vec::new(),
            },
        }
    }

    /// Asks the service, unless the same question is under way or cannot be asked.
    fn ask(&mut self, request: Request) -> Vec<Effect> {
        if self.is_under_way(&request) {
            return Vec::new();
        }
        let price = self.price(&request);
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
        self.forget_failure(&request);
        let is_paid = !price.is_free();
        self.under_way.push(UnderWay { request: request.clone(), since: self.now, bytes: 0, total: None, is_paid });
        vec![Effect::Ask { request, price }]
    }

    fn forget_failure(&mut self, request: &Request) {
        match request {
            Request::Behaviours { .. } => self.list_failure = None,
            Request::Behaviour { identifier } => {
                if let Some(entry) = self.list.as_mut().and_then(|list| list.entry_mut(identifier)) {
                    entry.failure = None;
                }
            }
            Request::Quotas | Request::Usage { .. } => {}
        }
    }

    /// Forgets that a call is under way; a paid one is followed by a look at the counters, which is free.
    fn ended(&mut self, request: &Request) -> Vec<Effect> {
        let was_paid = self.under_way.iter().any(|call| call.request == *request && call.is_paid);
        self.under_way.retain(|call| call.request != *request);
        if self.is_quitting && !self.awaits_paid_answer() {
            return vec![Effect::Quit];
        }
        if was_paid && !self.is_quitting { self.ask(Request::Quotas) } else { Vec::new() }
    }

    fn answered(&mut self, request: &Request, result: Result<Here, Failure>) -> Vec<Effect> {
        let mut effects = self.ended(request);
        let Request::Behaviour { identifier } = request else { return effects };
        let focus_on_it = self.focus == Focus::List && self.chosen().is_some_and(|e| e.here().is_none());
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
                let is_held = entry.here().is_some();
                entry.failure = Some(failure.clone());
                if is_held {
                    self.warn(format!("{} {} The held report stays.", failure.what, failure.cost));
                }
            }
        }
        effects
    }

    fn listed(&mut self, request: &Request, result: Result<HeldPage, Failure>) -> Vec<Effect> {
        let mut effects = self.ended(request);
        let Request::Behaviours { file, cursor, .. } = request else { return effects };
        let Some(list) = self.list.as_mut().filter(|list| list.file() == Some(file)) else { return effects };
        match result {
            Ok(page) => {
                let entries = page.page.entries.len();
                list.take_page(cursor.as_ref(), page);
                if list.next == Next::Circle {
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
        let effects = self.ended(&Request::Quotas);
        match result {
            Ok(balances) => {
                self.entitlements = self.entitlements.updated(Entitlements::from_balances(&balances));
                self.balances = Some(balances);
                self.balances_failure = None;
            }
            Err(why) => self.balances_failure = Some(why),
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
        for report in reports {
            list.take_held(report);
        }
        self.settle();
        self.show_chosen()
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
        if index.is_complete && !index.is_json {
            open.unreadable = Some("it is not JSON".to_owned());
        } else if index.is_complete && index.is_cut {
            self.warn("This report stops in the middle: it was cut short. What came of it is shown.");
        }
        Vec::new()
    }

    /// Typing on the start screen: hexadecimal digits only, so every other key keeps its meaning.
    fn type_key(&mut self, key: Key) -> bool {
        match key {
            Key::Char(c) if c.is_ascii_hexdigit() && self.typed.len() < Sha256::LENGTH => {
                self.typed.push(c.to_ascii_lowercase());
                true
            }
            Key::Named(Named::Backspace) => self.typed.pop().is_some(),
            _ => false,
        }
    }

    fn paste(&mut self, text: &str) -> Vec<Effect> {
        if self.screen != Screen::Start {
            return Vec::new();
        }
        self.overlay = None;
        let digits = |c: char| c.is_ascii_hexdigit();
        let found = text.split(|c| !digits(c)).find_map(Sha256::parse);
        match found {
            Some(file) => {
                self.typed = file.to_string();
                self.say("Pasted. Enter opens the file.");
            }
            None => self.warn("What was pasted holds no SHA-256 (64 hexadecimal digits); the service knows private files by nothing else."),
        }
        Vec::new()
    }

    /// Opens the typed file, or the chosen earlier one.
    pub(super) fn open_typed(&mut self) -> Vec<Effect> {
        let typed = Sha256::parse(&self.typed);
        let recent = self.recent.get(self.recent_scroll.cursor).map(|recent| recent.file.clone());
        match (typed, recent) {
            (Some(file), _) => self.open_file(file),
            (None, Some(file)) if self.typed.is_empty() => self.open_file(file),
            (None, _) => {
                let count = self.typed.len();
                self.warn(format!("A SHA-256 has 64 hexadecimal digits; {count} are typed."));
                Vec::new()
            }
        }
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
            return Vec::new();
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

    /// Moves in what has the focus.
    pub(super) fn go(&mut self, movement: Move) -> Vec<Effect> {
        let height = self.height();
        let room = usize::from(self.overlay_room().height);
        match &mut self.overlay {
            Some(Overlay::Sheet(sheet)) => {
                sheet.go(movement, room);
                return Vec::new();
            }
            Some(Overlay::Detail(detail)) => {
                detail.go(movement, room);
                return Vec::new();
            }
            None => {}
        }
        if self.screen == Screen::Start {
            let count = self.recent.len();
            self.recent_scroll.go(movement, count, usize::from(self.size.height.saturating_sub(14)).max(1));
            return Vec::new();
        }
        match self.focus {
            Focus::List => {
                if let Some(list) = &mut self.list {
                    let count = list.count();
                    list.scroll.go(movement, count, height);
                }
                self.show_chosen()
            }
            Focus::Pane(pane) => {
                self.with_pane(pane, |state, count| state.scroll.go(movement, count, height));
                Vec::new()
            }
        }
    }

    /// Moves by a page less one row, so that the eye finds its place again.
    pub(super) fn go_page(&mut self, direction: fn(usize) -> Move) -> Vec<Effect> {
        let height = if self.overlay.is_some() { usize::from(self.overlay_room().height) } else { self.height() };
        self.go(direction(height.saturating_sub(1).max(1)))
    }

    fn with_pane(&mut self, pane: Pane, change: impl FnOnce(&mut PaneState, usize)) {
        if let Some(open) = self.open_mut() {
            let state = open.panes.entry(pane).or_default();
            let count = state.count(&open.report, pane);
            change(state, count);
        }
    }

    /// Brings every cursor back among its rows, after sizes or places have changed.
    fn settle(&mut self) {
        let height = self.height();
        match self.focus {
            Focus::List => {
                if let Some(list) = &mut self.list {
                    let count = list.count();
                    list.scroll.settle(count, height);
                }
            }
            Focus::Pane(_) => {}
        }
        for (pane, area) in self.layout().panes {
            let height = usize::from(area.inside().height);
            self.with_pane(pane, |state, count| state.scroll.settle(count, height));
        }
        let room = self.overlay_room();
        match &mut self.overlay {
            Some(Overlay::Detail(detail)) => {
                detail.fit(room.width.into());
                detail.go(Move::Up(0), room.height.into());
            }
            Some(Overlay::Sheet(sheet)) => {
                sheet.fit(room.width.into());
                sheet.go(Move::Up(0), room.height.into());
            }
            None => {}
        }
    }

    pub(super) fn step_pane(&mut self, forward: bool) -> Vec<Effect> {
        let next = match self.focus {
            Focus::List => panes::group(self.group).next(),
            Focus::Pane(pane) => Some(panes::neighbour(pane, forward)),
        };
        next.into_iter().for_each(|pane| self.focus_pane(pane));
        self.settle();
        Vec::new()
    }

    pub(super) fn step_group(&mut self, forward: bool) -> Vec<Effect> {
        let step = if forward { 1 } else { panes::groups() - 1 };
        self.group = (self.group + step) % panes::groups();
        if let (Focus::Pane(_), Some(first)) = (self.focus, panes::group(self.group).next()) {
            self.focus_pane(first);
        }
        self.settle();
        Vec::new()
    }

    pub(super) fn step_kind(&mut self, forward: bool) -> Vec<Effect> {
        let height = self.height();
        let Some((pane, open)) = self.focused().zip(self.open()) else { return Vec::new() };
        let state = self.pane_state(pane);
        let mut borders = state.borders(&open.report, pane);
        borders.insert(0, 0);
        let cursor = state.scroll.cursor;
        let found = if forward {
            borders.into_iter().find(|border| *border > cursor)
        } else {
            borders.into_iter().rfind(|border| *border < cursor)
        };
        if let Some(border) = found {
            self.with_pane(pane, |state, count| {
                state.scroll.go(Move::First, count, height);
                state.scroll.go(Move::Down(border), count, height);
                // The kind's first row stands at the top, with its own rows below it.
                state.scroll.top = border;
                state.scroll.settle(count, height);
            });
        }
        Vec::new()
    }

    pub(super) fn go_left(&mut self, columns: usize) -> Vec<Effect> {
        match self.tree_row() {
            Some((row, depths)) => self.fold_or_climb(row, &depths),
            None => {
                if let Some(pane) = self.focused() {
                    self.with_pane(pane, |state, _| state.shift = state.shift.saturating_sub(columns));
                }
            }
        }
        Vec::new()
    }

    pub(super) fn go_right(&mut self, columns: usize) -> Vec<Effect> {
        let Some(pane) = self.focused() else { return self.step_pane(true) };
        match self.tree_row() {
            Some((row, depths)) => self.with_pane(pane, |state, _| state.folds.unfold(row, &depths)),
            None => self.with_pane(pane, |state, _| state.shift = state.shift.saturating_add(columns).min(100_000)),
        }
        Vec::new()
    }

    pub(super) fn toggle_fold(&mut self) -> Vec<Effect> {
        if let Some((row, depths)) = self.tree_row() {
            self.with_pane(Pane::Processes, |state, _| {
                if state.folds.is_folded(row) {
                    state.folds.unfold(row, &depths)
                } else {
                    state.folds.fold(row, &depths)
                }
            });
        }
        Vec::new()
    }

    pub(super) fn fold_all(&mut self, fold: bool) -> Vec<Effect> {
        let height = self.height();
        let (row, depths) = self.tree_row().unwrap_or_else(|| (0, self.tree_depths()));
        self.with_pane(Pane::Processes, |state, _| {
            state.folds.fold_all(fold, &depths);
            state.scroll.cursor = state.folds.position(row);
        });
        self.with_pane(Pane::Processes, |state, count| state.scroll.settle(count, height));
        Vec::new()
    }

    fn fold_or_climb(&mut self, row: usize, depths: &[u16]) {
        let height = self.height();
        self.with_pane(Pane::Processes, |state, count| {
            if tree::has_children(row, depths) && !state.folds.is_folded(row) {
                state.folds.fold(row, depths);
            } else if let Some(parent) = tree::parent(row, depths) {
                state.scroll.cursor = state.folds.position(parent);
                state.scroll.settle(count, height);
            }
        });
    }

    /// The process under the cursor, with the depths of its tree; none elsewhere.
    fn tree_row(&self) -> Option<(usize, Vec<u16>)> {
        let pane = self.focused().filter(|pane| *pane == Pane::Processes)?;
        let (open, state) = (self.open()?, self.pane_state(pane));
        let place = state.place(&open.report, pane, state.scroll.cursor)?;
        let section = open.report.section(place.section)?;
        (section.form == Form::Processes).then(|| (place.row, section.depths.clone()))
    }

    fn tree_depths(&self) -> Vec<u16> {
        let sections = self.open().map(|open| &open.report.index.sections);
        let tree = sections.into_iter().flatten().find(|section| section.form == Form::Processes);
        tree.map(|section| section.depths.clone()).unwrap_or_default()
    }

    pub(super) fn open_detail(&mut self) -> Vec<Effect> {
        let columns = usize::from(self.overlay_room().width);
        let Some((pane, open)) = self.focused().zip(self.open()) else { return Vec::new() };
        let state = self.pane_state(pane);
        let Some(place) = state.place(&open.report, pane, state.scroll.cursor) else { return Vec::new() };
        let name = open
            .report
            .section(place.section)
            .map(|section| section.name.visible_cut(60).to_string())
            .unwrap_or_default();
        let title = format!("{name} · row {}", thousands(place.row as u64 + 1));
        match open.report.lines(place.section, place.row) {
            Ok(lines) => self.overlay = Some(Overlay::Detail(Detail::new(title, lines, columns))),
            Err(error) => self.warn(format!("The row cannot be read: {error}")),
        }
        Vec::new()
    }
}

fn refresh_folds(state: &mut PaneState, report: &crate::report::Report) {
    if state.folds.any() {
        let tree = report.index.sections.iter().find(|section| section.form == Form::Processes);
        tree.into_iter().for_each(|section| state.folds.refresh(&section.depths));
    }
}
