//! Typing: a hash on the start screen, letters in the palette, the words of a question; and what Enter makes of them.

use crate::app::keys::KeyName;
use crate::app::over::palette::PaletteAction;
use crate::app::over::{Annotation, AnswerTree, Detail, Palette};
use crate::app::spending::Prompt;
use crate::app::{Key, Model, Overlay, Place, Screen, StoreJob};
use crate::report::rows::Line;
use crate::text::thousands;

/// The longest line that is typed key by key, in bytes: something is looked for after each of them.
pub(in crate::app) const LONGEST_TYPED: usize = 4 << 10;

/// The longest line that is pasted, in bytes: some thousand hashes.
pub(in crate::app) const LONGEST_PASTED: usize = 64 << 10;

impl Model {
    /// Runs the chosen item of the palette.
    pub(in crate::app) fn choose(&mut self) {
        let Some(palette) = self.over.top_as::<Palette>() else { return };
        let Some(item) = palette.chosen().cloned() else { return };
        if let Some(why) = item.off {
            self.warn(format!("{} does not apply here: {why}.", item.name));
            return;
        }
        self.over.close();
        match item.does {
            PaletteAction::Command(command) => self.run(command),
            PaletteAction::Ask(ask) => {
                self.over.put(Prompt::of(ask));
                self.look_up()
            }
        }
    }

    /// Shows the chosen value of an answer whole.
    pub(in crate::app) fn open_value(&mut self) {
        let columns = usize::from(self.overlay_room().width);
        let chosen = self.over.top_as::<AnswerTree>().and_then(|answer| answer.chosen().cloned());
        if let Some(line) = chosen.filter(|line| line.value.is_some()) {
            let detail = Detail::new("value".to_owned(), vec![Line { depth: 0, ..line }], Vec::new(), columns);
            self.over.put(detail);
        }
    }

    /// Types a key into the top overlay; returns whether the overlay takes it.
    pub(in crate::app) fn type_into_overlay(&mut self, key: Key) -> bool {
        let is_typed = !self.is_form_sent() && self.over.top_mut().is_some_and(|over| over.press(key));
        if is_typed {
            self.after_typing();
        }
        is_typed
    }

    /// Filters rows or checks the store after a key was typed.
    fn after_typing(&mut self) {
        match self.over.top() {
            Some(Overlay::Finder(_)) => self.seek_hits(),
            Some(over) if over.place() == Place::SoughtLine => self.sift_list(),
            _ => self.look_up(),
        }
    }

    /// Checks the store for the typed request, or for each artifact.
    pub(in crate::app) fn look_up(&mut self) {
        let requests: Vec<_> = match self.over.top() {
            Some(Overlay::Artefacts(list)) => list.source.requests().collect(),
            Some(Overlay::Prompt(form)) => form.request(self.now).into_iter().collect(),
            _ => return,
        };
        requests.into_iter().for_each(|request| self.emit(StoreJob::Check(request)));
    }

    /// Types a paste into the open line, or hashes on the start screen.
    pub(in crate::app) fn paste(&mut self, text: &str) {
        if self.is_filtering() {
            return self.paste_filter(text);
        }
        if self.is_form_sent() {
            return;
        }
        if let Some(over) = self.over.top_mut().filter(|over| over.place().has_line()) {
            over.paste(text);
            return self.after_typing();
        }
        if self.screen != Screen::Start {
            return;
        }
        self.over.clear();
        self.paste_hashes(text);
    }

    pub(in crate::app) fn open_detail(&mut self) {
        let columns = usize::from(self.overlay_room().width);
        let Some((pane, open)) = self.focused().zip(self.open()) else { return };
        let state = self.pane_state(pane);
        let Some(place) = state.place(&open.report, pane, state.scroll.cursor) else { return };
        let name = open
            .report
            .section(place.section)
            .map(|section| section.name.visible_cut(60).to_string())
            .unwrap_or_default();
        let title = format!("{name} · row {}", thousands(place.row as u64 + 1));
        let lines = open.report.lines(place.section, place.row);
        let blanks = lines.iter().filter_map(Annotation::of_blanks);
        let remarks = self.reasons(place).into_iter().chain(blanks).collect();
        let lines = lines.into_iter().chain(self.facts(place)).chain(self.note_line()).collect();
        self.over.put(Detail::new(title, lines, remarks, columns));
    }
}

/// Pasted text as keys: a control is a blank, and what ends the last line is nothing.
pub(in crate::app) fn pasted(text: &str) -> impl Iterator<Item = Key> {
    text.trim_end_matches(['\r', '\n']).chars().map(|c| Key::Char(if c.is_control() { ' ' } else { c }))
}

/// Types a key into a line, up to a length in bytes; returns whether the key changes lines.
pub(in crate::app) fn type_into(typed: &mut String, key: Key, most: usize) -> bool {
    match key {
        Key::Char(c) if typed.len() < most => typed.push(c),
        Key::Named(KeyName::Backspace) => drop(typed.pop()),
        Key::Ctrl('w') => take_word(typed),
        Key::Ctrl('u') => typed.clear(),
        _ => return false,
    }
    true
}

/// Takes the last word off a line, with the blanks behind it.
fn take_word(typed: &mut String) {
    let words = typed.trim_end();
    let end = words.char_indices().rfind(|(_, c)| c.is_whitespace()).map_or(0, |(at, blank)| at + blank.len_utf8());
    typed.truncate(end);
}

/// The same, where letters replace a suggested text; its end can be deleted.
pub(in crate::app) fn type_over(typed: &mut String, is_suggested: &mut bool, key: Key, most: usize) -> bool {
    if *is_suggested && matches!(key, Key::Char(_)) {
        typed.clear();
    }
    let is_typed = type_into(typed, key, most);
    *is_suggested &= !is_typed;
    is_typed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_takes_keys_up_to_its_longest_and_can_be_taken_back() {
        let mut typed = "a".repeat(LONGEST_TYPED - 1);
        assert!(type_into(&mut typed, Key::Char('b'), LONGEST_TYPED));
        assert!(!type_into(&mut typed, Key::Char('c'), LONGEST_TYPED));
        assert!(typed.ends_with("ab"));
        assert!(type_into(&mut typed, Key::Char('c'), LONGEST_PASTED));
        assert!(type_into(&mut typed, Key::Named(KeyName::Backspace), LONGEST_TYPED));
        assert_eq!(typed.len(), LONGEST_TYPED);
    }
}
