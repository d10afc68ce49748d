//! The palette and the help, which are one list: what can be done, with keys, prices and reasons, found by typing some of its
//! letters.

use crate::app::keys::type_into;
use crate::app::over::{OverlayScreen, RowWindow, TYPED};
use crate::app::panes::Scroll;
use crate::app::spending::{ASKS, Ask, Prompt, Tag};
use crate::app::{Command, Key, Model, Overlay, Place, Size};
use crate::request::Request;
use crate::text::Columns;

/// A list of keys and commands: everything, or what a key does right here.
#[derive(Debug)]
pub struct Palette {
    pub typed: String,
    pub scroll: Scroll,
    items: Vec<PaletteItem>,
    is_help: bool,
    pub(in crate::app) shows_off: bool,
}

#[derive(Debug, Clone)]
pub struct PaletteItem {
    pub does: PaletteAction,
    pub keys: String,
    pub name: &'static str,
    pub help: &'static str,
    pub tag: Tag,
    pub requests: Vec<Request>,
    /// Why it does not apply right now; none if it does.
    pub off: Option<String>,
}

#[derive(Debug, Clone, Copy)]
pub enum PaletteAction {
    Command(&'static Command),
    Ask(&'static Ask),
}

impl Palette {
    /// Every command and question; what does not apply right now comes last, with the reason.
    pub fn everything(model: &Model) -> Self {
        let off = model.is_document().then(|| "it needs a service".to_owned());
        let questions = ASKS.iter().map(|ask| PaletteItem {
            does: PaletteAction::Ask(ask),
            keys: String::new(),
            name: ask.name,
            help: ask.help,
            tag: Tag::Free,
            requests: Vec::new(),
            off: off.clone(),
        });
        Self::new(Command::all().map(|command| item(command, model)).chain(questions).collect(), false)
    }

    /// The keys that do something right here; the others can be shown as well.
    pub fn keys(model: &Model) -> Self {
        let items = Command::all().map(|command| item(command, model)).filter(|item| !item.keys.is_empty());
        Self::new(items.collect(), true)
    }

    fn again(&self, model: &Model) -> Self {
        let fresh = if self.is_help { Self::keys(model) } else { Self::everything(model) };
        Self { typed: self.typed.clone(), scroll: self.scroll, shows_off: self.shows_off, ..fresh }
    }

    fn new(items: Vec<PaletteItem>, is_help: bool) -> Self {
        Self { typed: String::new(), scroll: Scroll::default(), items, is_help, shows_off: !is_help }
    }

    pub fn title(&self) -> &'static str {
        match (self.is_help, self.shows_off) {
            (true, false) => "Keys that apply here",
            (true, true) => "Keys, and why some are off",
            (false, true) => "What to do?",
            (false, false) => "What to do here?",
        }
    }

    /// How many items do not apply right now, and whether they are shown.
    pub fn off(&self) -> (usize, bool) {
        (self.items.iter().filter(|item| item.off.is_some()).count(), self.shows_off)
    }

    /// The items that match what has been typed, the best first; those that are off after all others.
    pub fn matching(&self) -> Vec<&PaletteItem> {
        let shown = self.items.iter().filter(|item| self.shows_off || item.off.is_none());
        let rated = shown.filter_map(|item| Some((item.off.is_some(), rate(&self.typed, item)? + item.later(), item)));
        let mut found: Vec<_> = rated.collect();
        found.sort_by_key(|(is_off, rating, _)| (*is_off, *rating));
        found.into_iter().map(|(.., item)| item).collect()
    }

    pub fn chosen(&self) -> Option<&PaletteItem> {
        self.matching().get(self.scroll.cursor).copied()
    }
}

/// Rows for the whole text of the chosen item.
const TOLD: usize = 2;

/// Rows from which the chosen item is shown whole.
const TALL: usize = 10;

pub fn told(rows: u16) -> usize {
    if usize::from(rows) >= TALL { TOLD } else { 0 }
}

impl OverlayScreen for Palette {
    fn place(&self) -> Place {
        Place::Palette
    }

    fn choice(&self, room: Size) -> Option<RowWindow> {
        Some(RowWindow { scroll: self.scroll, count: self.matching().len(), above: TYPED, below: told(room.height) })
    }

    fn scroll(&mut self) -> Option<&mut Scroll> {
        Some(&mut self.scroll)
    }

    fn press(&mut self, key: Key, most: usize) -> bool {
        let is_typed = type_into(&mut self.typed, key, most);
        if is_typed {
            self.scroll = Scroll::default();
        }
        is_typed
    }
}

/// A question comes below commands that say the same in their help, above those of which only letters agree.
const LATER: usize = 550;

impl PaletteItem {
    fn later(&self) -> usize {
        match self.does {
            PaletteAction::Command(_) => 0,
            PaletteAction::Ask(_) => LATER,
        }
    }
}

fn item(command: &'static Command, model: &Model) -> PaletteItem {
    let off = command.off(model);
    PaletteItem {
        does: PaletteAction::Command(command),
        keys: model.settings.keys.words(command),
        name: command.name,
        help: command.help,
        tag: if off.is_none() { model.tag(command) } else { Tag::Free },
        requests: if off.is_none() { command.requests(model) } else { Vec::new() },
        off,
    }
}

impl PaletteItem {
    pub fn price(&self, room: usize) -> Option<String> {
        match self.does {
            PaletteAction::Ask(ask) => Some("priced as you type".to_owned()).filter(|_| !ask.input.is_empty()),
            PaletteAction::Command(command) if command.can_cost() && self.off.is_none() => {
                let words = self.tag.words();
                Some(if words.columns() > room { self.tag.short() } else { words })
            }
            PaletteAction::Command(_) => None,
        }
    }
}

impl Model {
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

    pub fn chosen_item(&self) -> Option<&PaletteItem> {
        self.over.top_as::<Palette>().and_then(|palette| palette.chosen())
    }

    pub(in crate::app) fn refresh_palette(&mut self) {
        if self.over.top_as::<Palette>().is_none() {
            return;
        }
        // Prices depend on the place below the palette.
        if let Some(Overlay::Palette(palette)) = self.over.close() {
            let palette = palette.again(self);
            self.over.put(palette);
        }
    }
}

/// How well letters match: as key, in the name, spread in the name, in the help; none where not at all.
fn rate(typed: &str, item: &PaletteItem) -> Option<usize> {
    if typed.is_empty() || item.keys.split(' ').any(|key| key == typed) {
        return Some(0);
    }
    let typed = typed.to_lowercase();
    let help = item.help.to_lowercase();
    let words = || typed.split_whitespace().all(|word| help.contains(word)).then_some(1_000);
    let at_once = item.name.find(&typed).map(|at| 1 + at);
    at_once
        .or_else(|| gaps(&typed, item.name).map(|gaps| 100 + gaps))
        .or_else(|| help.contains(&typed).then_some(500))
        .or_else(words)
}

/// The distance between letters in a text, in their order; a start of a word counts as near.
fn gaps(letters: &str, text: &str) -> Option<usize> {
    let mut rest = text.char_indices().peekable();
    let (mut sum, mut near, mut before) = (0, 0, '-');
    for letter in letters.chars().filter(|letter| !letter.is_whitespace()) {
        let (at, starts) = loop {
            let (at, found) = rest.next()?;
            let starts = before == '-';
            before = found;
            if found == letter {
                break (at, starts);
            }
        };
        sum += if starts { 0 } else { at - near };
        near = at + 1;
    }
    Some(sum)
}
