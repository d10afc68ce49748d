//! The status bar: the price of each key before it is pressed, and the balances. Narrow, it drops words first.

use super::canvas::{Canvas, LineWriter, Words};
use super::theme::Tint;
use crate::app::commands::{Act, Command};
use crate::app::over::Overlay;
use crate::app::over::sheet;
use crate::app::spending::price::RemainingQuota;
use crate::app::spending::{Obstacle, Tag};
use crate::app::{Area, Key, Model};
use crate::quota::{Holder, Spent, Unit, in_units};
use crate::text::{Columns, thousands};

/// Pieces of the bar as one line.
pub(super) fn text(pieces: &[Words]) -> String {
    let text: String = pieces.iter().map(|(text, _)| text.as_str()).collect();
    text.trim().replace('│', ";")
}

/// Columns kept for free keys beside prices in full words.
const FREE: usize = 18;

/// Columns kept for help beside shortened prices: "│ ? help  ".
const HELP: usize = 10;

/// Columns from which on the bar says which keys are free.
const ROOMY: usize = 60;

/// How many words the second row spends.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Verbosity {
    Full,
    Short,
    Prices,
}

/// A key that may cost, with its price in the words of a wide bar and of a narrow one.
struct PricedKey {
    key: Key,
    label: &'static str,
    words: String,
    brief: String,
    meaning: Tint,
    /// Whether the next press spends: such a key is never only counted.
    spends: bool,
}

pub(super) fn draw(buffer: &mut Canvas<'_>, area: Area, model: &Model) {
    write(LineWriter::new(buffer, area, 0), &keys(model, area.width.into()));
    write(LineWriter::new(buffer, area, 1), &left(model, area.width.into()));
}

fn write(mut line: LineWriter<'_, '_>, pieces: &[Words]) {
    for (text, meaning) in pieces {
        line.own(text, *meaning);
    }
}

fn width(pieces: &[Words]) -> usize {
    pieces.iter().map(|(text, _)| text.columns()).sum()
}

/// The keys that apply: first those that may cost, with their prices, then as many free ones as fit.
pub(super) fn keys(model: &Model, room: usize) -> Vec<Words> {
    // After a jump the way back comes first.
    let told = || Command::told_at(model.place());
    let is_back = |command: &&Command| way_back(model, command).is_some();
    let commands = told().filter(is_back).chain(told().filter(|command| !is_back(command)));
    let (priced, free): (Vec<_>, Vec<_>) = commands.partition(|command| is_priced(model, command));
    let (asking, others): (Vec<_>, Vec<_>) = model.over.answers().iter().partition(|answer| answer.consent.asks());
    let asking = asking.into_iter().map(|answer| PricedKey::new(answer.key, answer.label, &model.price_tag(answer)));
    let priced: Vec<_> = asking
        .chain(priced.into_iter().filter_map(|command| {
            Some(PricedKey::new(model.key_of(command)?, label(model, command), &model.tag(command)))
        }))
        .collect();
    let hit = model.hit().filter(|_| model.goes_through_hits());
    let hit = hit.map(|(number, count)| format!(" hit {} of {} ·", thousands(number), thousands(count)));
    let mut pieces: Vec<Words> = hit.map(|words| (words, Tint::Strong)).into_iter().collect();
    let (more, counts) = priced_keys(model, &priced, room.saturating_sub(width(&pieces)));
    pieces.extend(more);
    let mut left = room.saturating_sub(width(&pieces));
    let mut lead = match priced.is_empty() {
        true if room >= ROOMY => " free: ",
        true => " ",
        false if left < FREE => "│ ",
        false => "│ free: ",
    };
    let free = free.into_iter().filter(|command| !counts || command.name != PRICES);
    let free = free.map(|command| (label(model, command), Err(command)));
    for (label, key) in others.into_iter().map(|answer| (answer.label, Ok(answer.key))).chain(free) {
        // Whether a command applies may need rows of the report: that is asked only of what there is room for.
        let key = if label.columns() < left { key.ok().or_else(|| model.key_of(key.err()?)) } else { None };
        if let Some(key) = key
            .map(|key| {
                vec![(lead.to_owned(), Tint::Faint), (key.to_string(), Tint::Key), (format!(" {label}  "), Tint::Text)]
            })
            .filter(|key| width(key) <= left)
        {
            left -= width(&key);
            pieces.extend(key);
            lead = "";
        }
    }
    pieces
}

/// Whether a command's key is shown with its price: it asks the service, or leads to what can be asked.
fn is_priced(model: &Model, command: &Command) -> bool {
    match &command.act {
        Act::Chosen => model.tag(command) != Tag::default(),
        Act::Leads { .. } => model.service.barred().is_none(),
        _ => command.asks(),
    }
}

fn label(model: &Model, command: &Command) -> &'static str {
    match command.name {
        "scope" => model.scope().other().label(),
        _ => way_back(model, command).unwrap_or(command.label),
    }
}

fn way_back(model: &Model, command: &Command) -> Option<&'static str> {
    if command.name == "back" { model.way_back() } else { None }
}

/// The command that explains every price.
const PRICES: &str = "prices";

type PriceText = fn(&PricedKey) -> &str;

impl PricedKey {
    fn new(key: Key, label: &'static str, tag: &Tag) -> Self {
        let meaning = match tag.obstacle {
            Some(Obstacle::Stored | Obstacle::InFlight) => Tint::Free,
            None if tag.plan.refusal().is_none() && tag.plan.worst() == Some(0) => Tint::Free,
            None => Tint::Price,
            Some(_) => Tint::Problem,
        };
        let (spends, words, brief) = (tag.spends().is_some(), tag.words(), tag.short());
        // The word "then" implies that nothing is charged yet.
        let words = words.strip_prefix("0 now, ").unwrap_or(&words).to_owned();
        Self { key, label, words, brief, meaning, spends }
    }

    fn pieces(&self) -> Vec<Words> {
        let (key, label) = (format!(" {}", self.key), format!(" {} ·", self.label));
        vec![(key, Tint::Key), (label, Tint::Text), (format!(" {} ", self.words), self.meaning)]
    }
}

/// The priced keys in full words, or grouped by price with as many named as fit; whether some are only counted.
fn priced_keys(model: &Model, priced: &[PricedKey], room: usize) -> (Vec<Words>, bool) {
    let pieces: Vec<_> = priced.iter().flat_map(PricedKey::pieces).collect();
    if width(&pieces) + FREE <= room {
        return (pieces, false);
    }
    let all: Vec<_> = priced.iter().collect();
    let pieces = grouped(model, &all, all.len(), 0, |known| &known.words);
    if width(&pieces) + FREE <= room {
        return (pieces, false);
    }
    let help = if room >= ROOMY { HELP } else { 0 };
    let brief = |keys: &[&PricedKey], hidden| {
        let named = |named| grouped(model, keys, named, hidden, |known| &known.brief);
        (0..=keys.len()).rev().map(named).find(|pieces| width(pieces) + help <= room)
    };
    if let Some(pieces) = brief(&all, 0) {
        return (pieces, false);
    }
    let is_kept = |(at, known): &(usize, &PricedKey)| *at == 0 || known.spends;
    let kept: Vec<_> = priced.iter().enumerate().filter(is_kept).map(|(_, known)| known).collect();
    let hidden = priced.len() - kept.len();
    let pieces = brief(&kept, hidden).unwrap_or_else(|| grouped(model, &kept, 0, hidden, |known| &known.brief));
    (pieces, hidden > 0)
}

/// Keys grouped by price, the first of them named; then the count of hidden ones.
fn grouped(model: &Model, keys: &[&PricedKey], named: usize, hidden: usize, price: PriceText) -> Vec<Words> {
    let mut pieces: Vec<Words> = Vec::new();
    for (at, first) in keys.iter().enumerate() {
        if keys.iter().take(at).any(|before| price(before) == price(first)) {
            continue;
        }
        pieces.extend((!pieces.is_empty()).then(|| ("│".to_owned(), Tint::Faint)));
        pieces.push((format!(" {}:", price(first)), first.meaning));
        for (at, known) in keys.iter().enumerate().filter(|(_, known)| price(known) == price(first)) {
            // A key that deletes is never without its label.
            let is_named = at < named || known.label == "delete";
            let label = if is_named { format!(" {} ", known.label) } else { " ".to_owned() };
            pieces.extend([(format!(" {}", known.key), Tint::Key), (label, Tint::Text)]);
        }
    }
    if hidden > 0 {
        let key = Command::named(PRICES).and_then(|command| model.key_of(command));
        pieces.push(("│".to_owned(), Tint::Faint));
        pieces.extend(key.map(|key| (format!(" {key}"), Tint::Key)));
        pieces.push((format!(" {hidden} more "), Tint::Price));
    }
    pieces
}

/// The balances of user and group in the scarcest period, and the costs of this session.
pub(super) fn left(model: &Model, room: usize) -> Vec<Words> {
    if model.is_document() {
        return vec![(" a document: no network, no key, no cost".to_owned(), Tint::Free)];
    }
    let forms = [Verbosity::Full, Verbosity::Short].map(|wordy| balances(model, wordy)).into_iter();
    let fits = forms.into_iter().find(|pieces| width(pieces) <= room);
    fits.unwrap_or_else(|| balances(model, Verbosity::Prices))
}

fn balances(model: &Model, wordy: Verbosity) -> Vec<Words> {
    // The form that submits a file counts in scans.
    let submits = model.over.all.iter().any(|over| matches!(over, Overlay::Submit(_)));
    let unit = if submits { Unit::Scan } else { Unit::Request };
    let holders = [(Holder::User, "you"), (Holder::Group, "group")].into_iter();
    let scarcest = |(holder, name)| Some((name, model.figures.scarcest(unit, holder, model.now)?));
    let mut known: Vec<_> = holders.filter_map(scarcest).collect();
    let least = known.iter().map(|(_, found)| found.limit.remaining).min();
    let mut pieces = match least {
        None => vec![(unknown(model), Tint::Faint)],
        Some(1..) if model.figures.says_spent => {
            // Whatever the counters leave.
            vec![(format!(" refused as spent ({} rereads)", model.way_to("counters")), Tint::Problem)]
        }
        _ => Vec::new(),
    };
    if wordy == Verbosity::Prices {
        // A number needs its period: the binding limit is shown with its own, unless the service denies it.
        known.retain(|(_, found)| Some(found.limit.remaining) == least && pieces.is_empty());
        known.truncate(1);
    }
    for (n, (name, found)) in known.iter().enumerate() {
        let lead = match (n, wordy) {
            (0, _) if unit == Unit::Scan => " scans left:",
            (0, Verbosity::Full) => "",
            (0, _) => " left:",
            _ => " ·",
        };
        let meaning = if found.limit.remaining == 0 { Tint::Problem } else { Tint::Text };
        let wordy = if unit == Unit::Scan && wordy == Verbosity::Full { Verbosity::Short } else { wordy };
        pieces.extend([(lead.to_owned(), Tint::Faint), (balance(name, found, wordy), meaning)]);
    }
    pieces.push(spent(model, wordy));
    pieces
}

fn spent(model: &Model, wordy: Verbosity) -> Words {
    let spent = model.figures.spent_with(&model.calls);
    let all: Spent = spent.values().copied().sum();
    let lead = match wordy {
        Verbosity::Full => "spent this session:",
        Verbosity::Short => "spent here:",
        Verbosity::Prices => "spent",
    };
    (format!(" │ {lead} {}", in_units(&spent)), if all.total() == 0 { Tint::Free } else { Tint::Price })
}

fn unknown(model: &Model) -> String {
    match &model.figures.failure {
        _ if model.service.is_offline => " offline: nothing is sent".to_owned(),
        _ if !model.service.has_key => " left: not known without a key".to_owned(),
        Some(_) => format!(" left: ? ({} asks, 0)", model.way_to("counters")),
        None if model.figures.balances.is_some() => " left: not counted".to_owned(),
        None => " left: asking …".to_owned(),
    }
}

fn balance(name: &str, found: &RemainingQuota, wordy: Verbosity) -> String {
    let most = if found.is_at_most { "≤" } else { "" };
    let remaining = thousands(found.limit.remaining);
    match wordy {
        Verbosity::Full => format!(" {name} {}", sheet::left_words(found)),
        Verbosity::Prices => format!(" {most}{remaining} {}", found.limit.period.current()),
        _ => format!(" {name} {most}{remaining} {}", found.limit.period.current()),
    }
}
