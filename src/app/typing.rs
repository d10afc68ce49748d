//! Typing: a hash on the start screen, letters in the palette, the words of a question; and what Enter makes of them.

use super::detail::Detail;
use super::effect::Effect;
use super::key::{Key, Named};
use super::model::{Model, Screen};
use super::overlay::Overlay;
use super::palette::{Does, Prompt};
use super::panes;
use crate::report::identifier::Sha256;
use crate::report::rows::Line;
use crate::text::thousands;

/// The most files that are opened at once by pasting their hashes.
const MOST_PASTED: usize = 20;

/// The longest line that is typed, in bytes: some thousand hashes.
const LONGEST_LINE: usize = 100_000;

impl Model {
    /// Does what is chosen in the palette.
    pub(super) fn choose(&mut self) -> Vec<Effect> {
        let Some(Overlay::Palette(palette)) = &self.overlay else { return Vec::new() };
        let Some(item) = palette.chosen().cloned() else { return Vec::new() };
        if let Some(why) = item.off {
            self.warn(format!("{} does not apply here: {why}.", item.name));
            return Vec::new();
        }
        self.overlay = self.behind.pop();
        match item.does {
            Does::Command(command) => self.run(command),
            Does::Ask(ask) => {
                self.put_over(Overlay::Prompt(Prompt::new(ask)));
                self.look_up()
            }
        }
    }

    /// Shows the chosen value of an answer whole.
    pub(super) fn open_value(&mut self) -> Vec<Effect> {
        let columns = usize::from(self.overlay_room().width);
        let chosen = match &self.overlay {
            Some(Overlay::Answer(answer)) => answer.chosen().cloned(),
            _ => None,
        };
        if let Some(line) = chosen.filter(|line| line.value.is_some()) {
            let detail = Detail::new("value".to_owned(), vec![Line { depth: 0, ..line }], Vec::new(), columns);
            self.put_over(Overlay::Detail(detail));
        }
        Vec::new()
    }

    /// Typing in the palette and in the line of a question; none for a key that keeps its meaning there.
    pub(super) fn type_into_overlay(&mut self, key: Key) -> Option<Vec<Effect>> {
        if let Some(Overlay::Submit(form)) = &mut self.overlay {
            return form.press(key).then(Vec::new);
        }
        let typed = match &mut self.overlay {
            Some(Overlay::Palette(palette)) => {
                palette.scroll = panes::Scroll::default();
                &mut palette.typed
            }
            Some(Overlay::Prompt(form)) => {
                form.failure = None;
                &mut form.typed
            }
            Some(Overlay::Save(form)) if is_typed(key) => form.line(matches!(key, Key::Char(_))),
            Some(Overlay::Note(form)) => &mut form.typed,
            Some(Overlay::Age(typed)) => typed,
            Some(Overlay::Planner(planner)) => {
                if key == Key::Named(Named::Backspace) && planner.typed.is_empty() {
                    planner.take_back();
                }
                &mut planner.typed
            }
            Some(Overlay::Compare(compare)) if compare.is_typing => &mut compare.typed,
            Some(Overlay::Spots(places)) if places.is_typing => &mut places.typed,
            _ => return None,
        };
        type_into(typed, key).then(|| self.after_typing())
    }

    /// Looks for what is typed now: among what is compared, or in the store.
    fn after_typing(&mut self) -> Vec<Effect> {
        self.sift_places();
        if self.comparing().is_some() { self.sift() } else { self.look_up() }
    }

    /// Asks the store whether the answer to what is typed is held.
    pub(super) fn look_up(&self) -> Vec<Effect> {
        match &self.overlay {
            Some(Overlay::Prompt(form)) => form.request(self.now).map(Effect::LookUp).into_iter().collect(),
            _ => Vec::new(),
        }
    }

    /// Typing on the start screen: hexadecimal digits only, so every other key keeps its meaning.
    pub(super) fn type_key(&mut self, key: Key) -> bool {
        match key {
            Key::Char(c) if c.is_ascii_hexdigit() && self.typed.len() < Sha256::LENGTH => {
                self.typed.push(c.to_ascii_lowercase());
                true
            }
            Key::Named(Named::Backspace) => self.typed.pop().is_some(),
            _ => false,
        }
    }

    pub(super) fn paste(&mut self, text: &str) -> Vec<Effect> {
        if let Some(effects) = self.paste_quest(text) {
            return effects;
        }
        let typed = match &mut self.overlay {
            Some(Overlay::Prompt(form)) => Some(&mut form.typed),
            Some(Overlay::Note(form)) => Some(&mut form.typed),
            Some(Overlay::Planner(planner)) => Some(&mut planner.typed),
            Some(Overlay::Palette(palette)) => Some(&mut palette.typed),
            Some(Overlay::Compare(compare)) if compare.is_typing => Some(&mut compare.typed),
            Some(Overlay::Spots(places)) if places.is_typing => Some(&mut places.typed),
            _ => None,
        };
        if let Some(typed) = typed {
            let plain = text.chars().map(|c| if c.is_control() { ' ' } else { c });
            typed.extend(plain.take(LONGEST_LINE.saturating_sub(typed.len())));
            return self.after_typing();
        }
        if let Some(Overlay::Submit(form)) = &mut self.overlay {
            form.paste(text);
            return Vec::new();
        }
        if let Some(Overlay::Save(form)) = &mut self.overlay {
            let typed = form.line(true);
            typed.extend(text.chars().filter(|c| !c.is_control()).take(LONGEST_LINE.saturating_sub(typed.len())));
            return Vec::new();
        }
        if self.screen != Screen::Start {
            return Vec::new();
        }
        self.overlay = None;
        let found = text.split(|c: char| !c.is_ascii_hexdigit()).filter_map(Sha256::parse);
        let mut found: Vec<_> = found.take(MOST_PASTED).collect();
        found.dedup();
        match found.as_slice() {
            [file] => {
                self.typed = file.to_string();
                self.say("Pasted. Enter opens the file.");
            }
            [first, ..] => {
                self.typed = first.to_string();
                self.say(format!("{} files are pasted. Enter opens them beside each other.", found.len()));
            }
            [] => self.warn("What was pasted holds no SHA-256 (64 hexadecimal digits); the service knows private files by nothing else."),
        }
        self.pasted = found;
        Vec::new()
    }

    /// Opens the typed file, or the chosen earlier one; with it those that were pasted together with it.
    pub(super) fn open_typed(&mut self) -> Vec<Effect> {
        let typed = Sha256::parse(&self.typed);
        let recent = self.recent.get(self.recent_scroll.cursor).map(|recent| recent.file.clone());
        match (typed, recent) {
            (Some(file), _) => {
                let pasted = std::mem::take(&mut self.pasted);
                self.open_files(if pasted.first() == Some(&file) { pasted } else { vec![file] })
            }
            (None, Some(file)) if self.typed.is_empty() => self.open_file(file),
            (None, _) => {
                let count = self.typed.len();
                self.warn(format!("A SHA-256 has 64 hexadecimal digits; {count} are typed."));
                Vec::new()
            }
        }
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
            Ok(lines) => {
                let lines = lines.into_iter().chain(self.facts(place)).chain(self.note_line()).collect();
                let detail = Detail::new(title, lines, self.reasons(place), columns);
                self.overlay = Some(Overlay::Detail(detail));
            }
            Err(error) => self.warn(format!("The row cannot be read: {error}")),
        }
        Vec::new()
    }
}

/// Whether a key is typed into a line, be it full or not.
fn is_typed(key: Key) -> bool {
    matches!(key, Key::Char(_) | Key::Named(Named::Backspace) | Key::Ctrl('u'))
}

/// Types a key into a line; says whether it is a key that is typed.
pub(super) fn type_into(typed: &mut String, key: Key) -> bool {
    match key {
        Key::Char(c) if typed.len() < LONGEST_LINE => typed.push(c),
        Key::Named(Named::Backspace) => drop(typed.pop()),
        Key::Ctrl('u') => typed.clear(),
        _ => return false,
    }
    true
}
