//! The palette and the help, which are one list: what can be done, with keys, prices and reasons, found by typing some of its
//! letters.

use crate::app::find::Quest;
use crate::app::keys::CHOSEN;
use crate::app::over::{ListSource, ListView};
use crate::app::spending::{ASKS, Ask, Prompt, Tag};
use crate::app::{Command, Model, Overlay, Place, Size};
use crate::request::Request;
use crate::text::Columns;

pub type Palette = ListView<CommandList>;

/// A list of keys and commands: everything, or what a key does right here.
#[derive(Debug)]
pub struct CommandList {
    items: Vec<PaletteItem>,
    pub is_help: bool,
}

#[derive(Debug, Clone)]
pub struct PaletteItem {
    pub does: PaletteAction,
    pub keys: String,
    pub name: &'static str,
    /// What the bar calls it.
    pub label: &'static str,
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
    /// Every command and question, those that are off last; as help, the keys that do something right here.
    fn of(model: &Model, is_help: bool) -> Self {
        let list = CommandList { items: items(model, is_help), is_help };
        if is_help { Self::new(list) } else { Self::typing(list, Quest::default()) }
    }
}

/// Opens the list, in place of one that is open.
pub(in crate::app) fn open(model: &mut Model, is_help: bool) {
    model.over.all.pop_if(|top| matches!(top, Overlay::Palette(_)));
    model.over.put(Palette::of(model, is_help));
}

impl CommandList {
    pub fn title(&self) -> &'static str {
        if self.is_help { "Keys" } else { "What to do?" }
    }
}

fn items(model: &Model, is_help: bool) -> Vec<PaletteItem> {
    // What chooses a row is no row.
    let commands = Command::all().filter(|command| command.place != CHOSEN).map(|command| item(command, model));
    if is_help {
        return commands.filter(|item| !item.keys.is_empty()).collect();
    }
    let off = model.is_document().then(|| "it needs a service".to_owned());
    let questions = ASKS.iter().map(|ask| {
        // What asks for no words has its price already.
        let request = (ask.make)("", model.now).ok().filter(|_| ask.input.is_empty());
        let tag = request.map(|request| model.tag_of(model.figures.plan([request.operation()])));
        PaletteItem {
            does: PaletteAction::Ask(ask),
            keys: String::new(),
            name: ask.name,
            label: ask.name,
            help: ask.help,
            tag: tag.map(|tag| Tag { is_later: true, ..tag }).unwrap_or_default(),
            requests: Vec::new(),
            off: off.clone(),
        }
    });
    commands.chain(questions).collect()
}

/// Rows for the whole text of the chosen item.
const TOLD: usize = 2;

/// Rows from which the chosen item is shown whole.
const TALL: usize = 9;

impl ListSource for CommandList {
    type Row = PaletteItem;

    const PLACES: (Place, Place) = (Place::Palette, Place::Picker);

    const IS_RANKED: bool = true;

    fn rows(&self) -> &[PaletteItem] {
        &self.items
    }

    /// The items that match what has been typed, the best first; those that are off after all others.
    fn matching(&self, typed: &str) -> Option<Vec<u32>> {
        let rated = (0..).zip(&self.items).filter_map(|(number, item)| {
            let later = if matches!(item.does, PaletteAction::Ask(_)) { LATER } else { 0 };
            Some((item.off.is_some(), rate(typed, item)? + later, number))
        });
        let mut found: Vec<_> = rated.collect();
        found.sort();
        Some(found.into_iter().map(|(.., number)| number).collect())
    }

    /// An empty row; and where it is high, the whole text of the chosen item.
    fn beside(&self, room: Size, _: &Model) -> (usize, usize) {
        (1, if usize::from(room.height) >= TALL { TOLD } else { 0 })
    }
}

/// A question comes below commands that say the same in their help, above those of which only letters agree.
const LATER: usize = 550;

fn item(command: &'static Command, model: &Model) -> PaletteItem {
    let off = command.off(model);
    PaletteItem {
        does: PaletteAction::Command(command),
        keys: model.settings.keys.words(command),
        name: command.name,
        label: command.label,
        help: command.help,
        tag: if off.is_none() { model.tag(command) } else { Tag::default() },
        requests: if off.is_none() { command.requests(model) } else { Vec::new() },
        off,
    }
}

impl PaletteItem {
    pub fn price(&self, room: usize) -> Option<String> {
        match self.does {
            PaletteAction::Ask(ask) if !ask.input.is_empty() => Some("priced as you type".to_owned()),
            PaletteAction::Ask(_) => self.off.is_none().then(|| self.tag.plan.to_string()),
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
        // Prices depend on the place below the palette.
        if let Some(Overlay::Palette(mut palette)) = self.over.all.pop_if(|top| matches!(top, Overlay::Palette(_))) {
            let items = items(self, palette.source.is_help);
            palette.change(None, |list| list.items = items);
            self.over.put(palette);
        }
    }
}

/// How well letters match: as key, in the name, in the bar's label, spread in the name, in the help; none where not at all.
fn rate(typed: &str, item: &PaletteItem) -> Option<usize> {
    if typed.is_empty() || item.keys.split(' ').any(|key| key == typed) {
        return Some(0);
    }
    let typed = typed.to_lowercase();
    let help = item.help.to_lowercase();
    let words = || typed.split_whitespace().all(|word| help.contains(word)).then_some(1_000);
    let at_once = item.name.find(&typed).map(|at| 1 + at);
    at_once
        .or_else(|| item.label.to_lowercase().find(&typed).map(|at| 50 + at))
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
