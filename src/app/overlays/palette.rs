//! Help and palette, one list that typed text filters: commands by subject, then manual topics.

use crate::app::find::SearchQuery;
use crate::app::keys::CHOSEN;
use crate::app::overlays::text_page::{PageText, TOPICS, Topic};
use crate::app::overlays::{ListSource, ListView, TextPage};
use crate::app::spending::{AD_HOC_REQUESTS, AdHocRequest, KeyPrice, Prompt};
use crate::app::{Command, KeyContext, Model, Overlay, Size};
use crate::request::Request;
use crate::text::ColumnWidth;
use std::sync::LazyLock;

pub type Palette = ListView<CommandList>;

/// All commands and requests: the screen's main keys, other enabled ones by subject, disabled ones.
#[derive(Debug)]
pub struct CommandList {
    items: Vec<PaletteItem>,
}

/// A command or request, as the palette lists it.
#[derive(Debug, Clone)]
pub struct PaletteItem {
    pub(crate) action: PaletteAction,
    pub keys: String,
    pub name: &'static str,
    pub(crate) label: &'static str,
    pub help: &'static str,
    pub(crate) tag: KeyPrice,
    pub(crate) requests: Vec<Request>,
    /// Why it is disabled right now; `None` if it is enabled.
    pub off: Option<String>,
    pub subject: &'static str,
    /// Whether it is the first of its subject.
    pub is_head: bool,
}

const MAIN_KEYS: usize = 10;

const MAIN: &str = "this screen";
const REQUESTS: &str = "requests";
const MANUAL: &str = "manual";
const OFF: &str = "off here";

/// The subjects in order, each with prefixes of its commands' names; the first takes all others.
static SUBJECTS: LazyLock<Vec<(&str, &str)>> = LazyLock::new(|| {
    include_str!("../../../assets/subjects.tsv").lines().filter_map(|line| line.split_once('\t')).collect()
});

/// Other words for commands, by the command's name.
const SYNONYMS: &str = include_str!("../../../assets/synonyms.tsv");

#[derive(Debug, Clone, Copy)]
pub(crate) enum PaletteAction {
    Command(&'static Command),
    Send(&'static AdHocRequest),
    Read(&'static Topic),
}

/// Opens the list, in place of an open one.
pub(crate) fn open(model: &mut Model, is_help: bool) {
    model.overlays.all.pop_if(|top| matches!(top, Overlay::Palette(_)));
    let list = CommandList { items: items(model) };
    model.overlays.put(if is_help { Palette::new(list) } else { Palette::typing(list, SearchQuery::default()) });
}

/// Returns all commands and requests by subject; disabled ones last.
fn items(model: &Model) -> Vec<PaletteItem> {
    let applies = |command: &&'static Command| command.off(model).is_none() && command.contexts != CHOSEN;
    let main: Vec<_> = Command::bar_commands(model.key_context()).filter(applies).take(MAIN_KEYS).collect();
    // Commands that choose a row are not listed as rows.
    let commands = Command::all().filter(|command| command.contexts != CHOSEN).map(|command| item(command, model));
    let off = model.is_document().then(|| "it needs a service".to_owned());
    let questions = AD_HOC_REQUESTS.iter().map(|ask| {
        // A request without typed input has its price already.
        let request = (ask.make)("", model.now).ok().filter(|_| ask.input.is_empty());
        let tag = request.map(|request| model.price_of_plan(model.quota_state.plan([request.operation()])));
        PaletteItem {
            tag: tag.map(|tag| KeyPrice { is_deferred: true, ..tag }).unwrap_or_default(),
            off: off.clone(),
            ..bare(PaletteAction::Send(ask), ask.name, ask.help, if off.is_some() { OFF } else { REQUESTS })
        }
    });
    let topics = TOPICS.iter().map(|topic| bare(PaletteAction::Read(topic), topic.label, topic.title(), MANUAL));
    let mut items: Vec<_> = commands.chain(questions).chain(topics).collect();
    let rank = |item: &PaletteItem| main.iter().position(|command| command.name == item.name);
    items.iter_mut().filter(|item| rank(item).is_some()).for_each(|item| item.subject = MAIN);
    let subject = |item: &PaletteItem| SUBJECTS.iter().position(|(subject, _)| *subject == item.subject);
    items.sort_by_key(|item| match item.subject {
        MAIN => (0, rank(item)),
        REQUESTS => (2, None),
        MANUAL => (3, None),
        OFF => (4, None),
        _ => (1, subject(item)),
    });
    let mut before = "";
    for item in &mut items {
        item.is_head = std::mem::replace(&mut before, item.subject) != item.subject;
    }
    items
}

/// Returns a free item without a key.
fn bare(action: PaletteAction, name: &'static str, help: &'static str, subject: &'static str) -> PaletteItem {
    let keys = String::new();
    let tag = KeyPrice::default();
    let requests = Vec::new();
    PaletteItem { action, keys, name, label: name, help, tag, requests, off: None, subject, is_head: false }
}

fn subject(name: &str) -> &'static str {
    let begins = |(_, names): &&(&str, &str)| names.split(' ').any(|start| name.starts_with(start));
    SUBJECTS.iter().find(begins).map_or("report", |(subject, _)| subject)
}

/// Rows of the chosen item's help text, and the height from which they fit.
const HELP_ROWS: usize = 2;
const TALL_ROWS: usize = 9;

impl ListSource for CommandList {
    type Row = PaletteItem;

    const PLACES: (KeyContext, KeyContext) = (KeyContext::Palette, KeyContext::Picker);

    const IS_RANKED: bool = true;

    fn rows(&self) -> &[PaletteItem] {
        &self.items
    }

    /// Returns matching items, best first and disabled ones last; without text, all by subject.
    fn matching(&self, typed: &str) -> Option<Vec<u32>> {
        let rated = (0..).zip(&self.items).filter_map(|(number, item)| {
            let later = match item.action {
                PaletteAction::Command(_) => 0,
                PaletteAction::Read(_) => TOPIC_RATING,
                PaletteAction::Send(_) => REQUEST_RATING,
            };
            let rate = match_cost(typed, item)? + later;
            // Disabled items are last unless the name matches.
            let is_last = item.off.is_some() && !(1..40).contains(&rate);
            Some((is_last, rate + if item.off.is_some() { 60 } else { 0 }, number))
        });
        let mut found: Vec<_> = rated.collect();
        found.sort();
        Some(found.into_iter().map(|(.., number)| number).collect())
    }

    /// Returns an empty row; in a high list, the help text of the chosen item.
    fn beside(&self, room: Size, _: &Model) -> (usize, usize) {
        (1, if usize::from(room.height) >= TALL_ROWS { HELP_ROWS } else { 0 })
    }
}

/// Rates a request below a match in help text, above one of single words.
const REQUEST_RATING: usize = 550;

/// Rates a topic below a match in names, above one in help text.
const TOPIC_RATING: usize = 150;

fn item(command: &'static Command, model: &Model) -> PaletteItem {
    let off = command.off(model);
    let keys = model.settings.keys.of(command).iter();
    // A key may have another command over an overlay, and a command its own meaning in comparisons.
    let keys = keys.filter(|key| off.is_some() || Command::of(**key, model).is_none_or(|of| of.name == command.name));
    let of_comparison = || command.help.split("; ").find(|clause| clause.starts_with("in a comparison"));
    let is_comparison = model.key_context() == KeyContext::Compare;
    let help = of_comparison().filter(|_| is_comparison).unwrap_or(command.help);
    PaletteItem {
        keys: keys.map(ToString::to_string).collect::<Vec<_>>().join(" "),
        label: command.label,
        tag: if off.is_none() { model.key_price(command) } else { KeyPrice::default() },
        requests: if off.is_none() { command.requests(model) } else { Vec::new() },
        off: off.clone(),
        ..bare(PaletteAction::Command(command), command.name, help, off.map_or(subject(command.name), |_| OFF))
    }
}

impl PaletteItem {
    /// Returns its price in at most `room` columns, if it can cost anything.
    pub fn price(&self, room: usize) -> Option<String> {
        match self.action {
            PaletteAction::Send(ask) if !ask.input.is_empty() => Some("priced as you type".to_owned()),
            PaletteAction::Send(_) => self.off.is_none().then(|| self.tag.plan.to_string()),
            PaletteAction::Command(command) if command.can_cost() && self.off.is_none() => {
                let label = self.tag.label();
                Some(if label.columns() > room { self.tag.short() } else { label })
            }
            PaletteAction::Command(_) | PaletteAction::Read(_) => None,
        }
    }
}

impl Model {
    pub(crate) fn choose(&mut self) {
        let Some(item) = self.chosen_item().cloned() else { return };
        if let Some(why) = item.off {
            return self.warn(format!("{} does not apply here: {why}.", item.name));
        }
        self.overlays.close();
        match item.action {
            PaletteAction::Command(command) => self.run(command),
            PaletteAction::Read(topic) => {
                self.overlays.put(TextPage::of(topic.label, PageText::Manual(topic)));
            }
            PaletteAction::Send(ask) => {
                self.overlays.put(Prompt::of(ask));
                self.check_store()
            }
        }
    }

    pub fn chosen_item(&self) -> Option<&PaletteItem> {
        self.overlays.top_as::<Palette>().and_then(|palette| palette.chosen())
    }

    pub(crate) fn refresh_palette(&mut self) {
        // Prices depend on the context below the palette.
        if let Some(Overlay::Palette(mut palette)) = self.overlays.all.pop_if(|top| matches!(top, Overlay::Palette(_)))
        {
            let items = items(self);
            palette.change(|list| list.items = items);
            self.overlays.put(palette);
        }
    }
}

/// Rates a match, the best the lowest: key, name, synonym, label, words of the name, help.
fn match_cost(typed: &str, item: &PaletteItem) -> Option<usize> {
    if typed.is_empty() || item.keys.split(' ').any(|key| key == typed) {
        return Some(0);
    }
    let typed = typed.to_lowercase();
    let help = item.help.to_lowercase();
    let all_words = || typed.split_whitespace().all(|word| help.contains(word)).then_some(1_000);
    let at_once = item.name.find(&typed).map(|at| 1 + at);
    let synonyms = SYNONYMS.lines().find_map(|line| line.strip_prefix(item.name)?.strip_prefix('\t'));
    let is_synonym = synonyms.is_some_and(|words| words.split(' ').any(|word| word.starts_with(&typed)));
    at_once
        .or_else(|| is_synonym.then_some(40))
        .or_else(|| item.label.to_lowercase().find(&typed).map(|at| 50 + at))
        .or_else(|| typed.split_whitespace().all(|word| item.name.contains(word)).then_some(100))
        .or_else(|| help.contains(&typed).then_some(500))
        .or_else(all_words)
}
