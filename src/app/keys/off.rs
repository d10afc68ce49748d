//! What a key says that does nothing here, and the rows that a message takes.

use super::key::Key;
use crate::app::model::{Model, Screen};
use crate::text::words_in_rows_cut;

/// Rows of a message, at most, on a screen of so many rows.
fn most(height: u16) -> usize {
    usize::from(height / 5).clamp(2, 4)
}

impl Model {
    /// Why a key does nothing here; none where a line is typed, for other keys have never meant anything there.
    pub(in crate::app) fn off_words(&self, key: Key) -> Option<String> {
        let place = self.place();
        if place.has_line() || place.types(key) || self.is_quitting {
            return None;
        }
        let known: Vec<_> = self.settings.keys.having(key).collect();
        let here = known.iter().filter(|command| command.place.contains(place));
        let missing: Vec<_> = here.filter_map(|command| Some((command.name, command.when.missing(self)?))).collect();
        // Of many none is the one that was meant.
        Some(match (missing.as_slice(), known.as_slice()) {
            ([("back", _)], _) if self.screen == Screen::File && !self.is_document() => {
                let (other, quit) = (self.way_to("other-file"), self.way_to("quit"));
                format!("{key} goes back no further than to the file: {other} leaves it for another, {quit} quits.")
            }
            ([_] | [_, _], _) => {
                let needs: Vec<_> = missing.iter().map(|(_, what)| *what).collect();
                format!("{key} does nothing now: it needs {}.", needs.join(", or "))
            }
            ([], [command]) => {
                format!("{key} does nothing here: it works {}.", command.place.words())
            }
            _ => format!("{key} does nothing here; {} shows the keys that do.", self.way_to("help")),
        })
    }

    /// The message to the analyst in rows; none where it is said in another way.
    pub fn message(&self) -> Vec<String> {
        let Some(notice) = self.notice.as_ref().filter(|_| !self.settings.is_plain) else { return Vec::new() };
        let columns = usize::from(self.size.width.saturating_sub(2)).max(10);
        words_in_rows_cut(&notice.text, columns, most(self.size.height))
    }
}
