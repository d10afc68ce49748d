//! The start screen: the hash that is typed, and the files that were opened before.

use crate::app::keys::typing::type_into;
use crate::app::panes::Scroll;
use crate::app::{Key, Model};
use crate::report::Recent;
use crate::report::identifier::Sha256;
use crate::text::{count, thousands};
use std::collections::HashSet;

/// The most files that are opened at once by pasting their hashes.
const MOST_PASTED: usize = 20;

/// What the start screen shows.
#[derive(Debug, Default)]
pub struct StartScreen {
    /// What has been typed of a hash.
    pub typed: String,
    /// Files whose hashes were pasted together; the first one is in the line.
    pasted: Vec<Sha256>,
    /// Files that were opened before.
    pub recent: Vec<Recent>,
    pub scroll: Scroll,
}

impl StartScreen {
    /// The files that Enter opens: the one that is typed with those that were pasted together with it, or the chosen earlier one.
    fn chosen(&mut self) -> Vec<Sha256> {
        match Sha256::parse(&self.typed) {
            Some(file) => {
                let pasted = std::mem::take(&mut self.pasted);
                if pasted.first() == Some(&file) { pasted } else { vec![file] }
            }
            None if self.typed.is_empty() => {
                self.recent.get(self.scroll.cursor).map(|recent| recent.file.clone()).into_iter().collect()
            }
            None => Vec::new(),
        }
    }
}

impl Model {
    /// Types a key into the hash. Where nothing is typed yet a letter that is no digit of one keeps its meaning; behind a digit it
    /// it means none: a typed word is no row of commands. Returns whether the key was used.
    pub(super) fn press_digit(&mut self, key: Key) -> bool {
        let typed = &mut self.start.typed;
        match key {
            Key::Char(c) if c.is_ascii_hexdigit() => {
                if typed.len() < Sha256::LENGTH {
                    typed.push(c.to_ascii_lowercase());
                }
                true
            }
            Key::Char(_) if !typed.is_empty() => {
                let back = self.way_to("back");
                self.warn(format!(
                    "{key} is no digit of a SHA-256 (0 to 9, a to f): it was left out. {back} empties the line."
                ));
                true
            }
            _ => !typed.is_empty() && type_into(typed, key, Sha256::LENGTH),
        }
    }

    /// Types the first pasted hash; the others open with it.
    pub(super) fn paste_hashes(&mut self, text: &str) {
        let found = text.split(|c: char| !c.is_ascii_hexdigit()).filter_map(Sha256::parse);
        let (mut known, mut left_out) = (HashSet::new(), 0_u64);
        let mut found: Vec<_> = found.filter(|hash| known.insert(hash.clone())).collect();
        if found.len() > MOST_PASTED {
            left_out = (found.len() - MOST_PASTED) as u64;
            found.truncate(MOST_PASTED);
        }
        if let Some(first) = found.first() {
            self.start.typed = first.to_string();
        }
        let way = self.way_to("open-file");
        match found.len() {
            0 => self.warn("What was pasted holds no SHA-256 (64 hexadecimal digits); the service knows private files by nothing else."),
            1 => self.say(format!("Pasted. {way} opens the file.")),
            several if left_out == 0 => {
                self.say(format!("{several} files are pasted. {way} opens them beside each other."));
            }
            several => self.warn(format!(
                "The first {several} files are pasted; {} more are left out. {way} opens them beside each other.",
                thousands(left_out)
            )),
        }
        self.start.pasted = found;
    }

    /// Opens the typed file, or the chosen earlier one; with it those that were pasted together with it.
    pub(super) fn open_typed(&mut self) {
        let files = self.start.chosen();
        if files.is_empty() {
            let typed = count(self.start.typed.len() as u64, "digit");
            self.warn(format!("A SHA-256 has 64 hexadecimal digits; {typed} so far."));
            return;
        }
        self.open_files(files)
    }
}
