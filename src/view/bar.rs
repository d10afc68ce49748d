//! The status bar: what each key costs before it is pressed, and what is left. Narrow, it keeps prices and drops words.

use super::canvas::Canvas;
use super::line::LineWriter;
use super::theme::Meaning;
use crate::app::commands::{Act, Command};
use crate::app::over::overlay::Overlay;
use crate::app::over::sheet;
use crate::app::spending::figures::Left;
use crate::app::spending::price::Tag;
use crate::app::{Area, Key, Model};
use crate::quota::{Holder, Spent, Unit, in_units};
use crate::text::{Columns, Untrusted, thousands};

/// The keys that apply, with their prices, as one line.
pub(super) fn words(model: &Model) -> String {
    text(&keys(model, usize::MAX))
}

/// What is left, and what was spent, as one line.
pub(super) fn left_words(model: &Model) -> String {
    text(&left(model, usize::MAX))
}

fn text(pieces: &[Piece]) -> String {
    let text: String = pieces.iter().map(|(text, _)| text.as_str()).collect();
    text.trim().replace('│', ";")
}

/// A stretch of the bar.
type Piece = (String, Meaning);

/// Columns that are kept for help and the like beside the prices.
const FREE: usize = 18;

/// Columns from which on these are kept before the keys with prices have all their names.
const ROOMY: usize = 60;

/// How many words the bar spends.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wordy {
    Full,
    Short,
    Tight,
    Prices,
}

pub(super) fn draw(buffer: &mut Canvas<'_>, area: Area, model: &Model) {
    write(LineWriter::new(buffer, area, 0), &keys(model, area.width.into()));
    write(LineWriter::new(buffer, area, 1), &left(model, area.width.into()));
}

fn write(mut line: LineWriter<'_, '_>, pieces: &[Piece]) {
    for (text, meaning) in pieces {
        line.own(text, *meaning);
    }
}

fn width(pieces: &[Piece]) -> usize {
    pieces.iter().map(|(text, _)| text.columns()).sum()
}

/// The keys that apply: first those that ask the service, with their prices, then as many free ones as fit.
fn keys(model: &Model, room: usize) -> Vec<Piece> {
    // After a jump the way back comes first.
    let told = || Command::told_at(model.place());
    let is_back = |command: &&Command| way_back(model, command).is_some();
    let commands = told().filter(is_back).chain(told().filter(|command| !is_back(command)));
    let is_priced = |command: &Command| match &command.act {
        Act::Chosen => model.tag(command) != Tag::Free,
        _ => command.asks(),
    };
    let (priced, free): (Vec<_>, Vec<_>) = commands.partition(|command| is_priced(command));
    let priced: Vec<_> = priced.into_iter().filter_map(|command| Some((model.key_of(command)?, command))).collect();
    let mut pieces = hit(model);
    pieces.extend(priced_keys(model, &priced, room.saturating_sub(width(&pieces))));
    let mut lead = if priced.is_empty() { " " } else { "│ free: " };
    if pieces.is_empty() && room >= ROOMY {
        lead = " free: ";
    }
    let mut left = room.saturating_sub(width(&pieces));
    for command in free {
        let label = label(model, command);
        // Whether it applies may take a look into the report: that is asked only of what there is room for.
        let key = if label.columns() < left { model.key_of(command) } else { None };
        if let Some(key) = key.map(|key| free_key(key, label, lead)).filter(|key| width(key) <= left) {
            left -= width(&key);
            pieces.extend(key);
            lead = "";
        }
    }
    pieces
}

/// Which hit of a search this is, while its hits are gone through.
fn hit(model: &Model) -> Vec<Piece> {
    let of = model.hit().filter(|_| model.goes_through_hits());
    let words = of.map(|(number, count)| format!(" hit {} of {} ·", thousands(number), thousands(count)));
    words.map(|words| (words, Meaning::Strong)).into_iter().collect()
}

/// What a command is called right now.
fn label(model: &Model, command: &Command) -> &'static str {
    match command.name {
        "notable-held" if model.leads_back_to_one() => "this sandbox",
        _ => way_back(model, command).unwrap_or(command.label),
    }
}

/// Where a command leads back to, if it is the one that does and a list was left.
fn way_back(model: &Model, command: &Command) -> Option<&'static str> {
    if command.name == "back" { model.way_back() } else { None }
}

/// The keys with prices, in as many words as there is room for; the first keep theirs longest.
fn priced_keys(model: &Model, priced: &[(Key, &Command)], room: usize) -> Vec<Piece> {
    let spelled = |wordy| priced.iter().flat_map(|known| priced_key(model, *known, wordy)).collect::<Vec<_>>();
    let fits = |pieces: &Vec<Piece>| width(pieces) + FREE <= room;
    if let Some(pieces) = [Wordy::Full, Wordy::Short].into_iter().map(spelled).find(fits) {
        return pieces;
    }
    let mut keys: Vec<_> = priced.iter().map(|known| priced_key(model, *known, Wordy::Prices)).collect();
    // Where there is room for it at all, the way to help goes before the names of the last keys.
    let kept = if room >= ROOMY { FREE } else { 0 };
    let mut left = room.saturating_sub(keys.iter().map(|pieces| width(pieces)).sum::<usize>() + kept);
    for (pieces, known) in keys.iter_mut().zip(priced) {
        let more = priced_key(model, *known, Wordy::Tight);
        let Some(rest) = (left + width(pieces)).checked_sub(width(&more)) else { break };
        (*pieces, left) = (more, rest);
    }
    keys.concat()
}

fn priced_key(model: &Model, (key, command): (Key, &Command), wordy: Wordy) -> Vec<Piece> {
    let tag = model.tag(command);
    let meaning = match &tag {
        Tag::Costs(price) if !price.is_free() || !price.is_allowed() => Meaning::Price,
        Tag::Together(_) => Meaning::Price,
        Tag::Wait(_) | Tag::Barred(_) | Tag::OverBudget(_) => Meaning::Problem,
        _ => Meaning::Free,
    };
    let price = match wordy {
        Wordy::Full => tag.words(),
        Wordy::Short | Wordy::Tight => tag.short(),
        Wordy::Prices => tag.shortest(),
    };
    let mut pieces = vec![(format!(" {key}"), Meaning::Key)];
    match wordy {
        Wordy::Full | Wordy::Short => pieces.push((format!(" {} ·", command.label), Meaning::Text)),
        Wordy::Tight => pieces.push((format!(" {}", command.label), Meaning::Text)),
        Wordy::Prices => {}
    }
    pieces.push((format!(" {price} "), meaning));
    pieces
}

fn free_key(key: Key, label: &str, lead: &str) -> Vec<Piece> {
    vec![(lead.to_owned(), Meaning::Faint), (key.to_string(), Meaning::Key), (format!(" {label}  "), Meaning::Text)]
}

/// What is left to the user and to the group in the scarcest period, and what this session has spent.
fn left(model: &Model, room: usize) -> Vec<Piece> {
    if model.is_document() {
        return vec![(" a document: no network, no key, no cost".to_owned(), Meaning::Free)];
    }
    let is_told = model.figures.says_spent;
    let forms = [Wordy::Full, Wordy::Short, Wordy::Tight, Wordy::Prices].into_iter();
    let fits = forms.map(|wordy| balances(model, wordy, is_told)).find(|pieces| width(pieces) <= room);
    // What is left goes before the refusal once the counters were read again for it.
    fits.unwrap_or_else(|| balances(model, Wordy::Prices, is_told && !model.figures.is_reread))
}

/// What is counted where the analyst is: a form to submit a file spends scans, everything else requests.
fn counted(model: &Model) -> Unit {
    let submits = model.over.all().iter().any(|over| matches!(over, Overlay::Submit(_)));
    if submits { Unit::Scan } else { Unit::Request }
}

fn balances(model: &Model, wordy: Wordy, is_told: bool) -> Vec<Piece> {
    let unit = counted(model);
    let holders = [(Holder::User, "you"), (Holder::Group, "group")].into_iter();
    let scarcest = |(holder, name)| Some((name, model.figures.scarcest(unit, holder, model.now)?));
    let mut known: Vec<_> = holders.filter_map(scarcest).collect();
    let least = known.iter().map(|(_, found)| found.limit.remaining).min();
    let mut pieces = match least {
        None => vec![(unknown(model, wordy), Meaning::Faint)],
        Some(1..) if is_told => vec![(says_spent(model, wordy), Meaning::Problem)],
        _ => Vec::new(),
    };
    if wordy == Wordy::Prices {
        // A number without its period tells nothing: what binds is kept with its own, unless the service denies it.
        known.retain(|(_, found)| {
            Some(found.limit.remaining) == least && (pieces.is_empty() || model.figures.is_reread)
        });
        known.truncate(1);
    }
    for (n, (name, found)) in known.iter().enumerate() {
        let lead = match (n, wordy) {
            (0, _) if unit == Unit::Scan => " scans left:",
            (0, Wordy::Full) => "",
            (0, _) => " left:",
            (_, Wordy::Tight) => ",",
            _ => " ·",
        };
        let meaning = if found.limit.remaining == 0 { Meaning::Problem } else { Meaning::Text };
        let wordy = if unit == Unit::Scan && wordy == Wordy::Full { Wordy::Short } else { wordy };
        pieces.extend([(lead.to_owned(), Meaning::Faint), (balance(name, found, wordy), meaning)]);
    }
    pieces.push(spent(model, wordy));
    pieces
}

/// What this session has spent, and what it may have.
fn spent(model: &Model, wordy: Wordy) -> Piece {
    let spent = model.spent();
    let all: Spent = spent.values().copied().sum();
    let lead = match wordy {
        Wordy::Full => "spent this session:",
        Wordy::Short => "spent here:",
        Wordy::Tight | Wordy::Prices => "spent",
    };
    (format!(" │ {lead} {}", in_units(&spent)), if all.total() == 0 { Meaning::Free } else { Meaning::Price })
}

/// That the service refuses for a spent quota what its counters leave, and what reads them again.
fn says_spent(model: &Model, wordy: Wordy) -> String {
    let asks = model.way_to("balances");
    match wordy {
        _ if model.figures.is_reread => " refused as spent, yet".to_owned(),
        Wordy::Full => format!(" the service says: quota spent; its counters differ ({asks} rereads, 0):"),
        Wordy::Short | Wordy::Tight => format!(" refused as spent, yet ({asks} rereads, 0)"),
        Wordy::Prices => format!(" refused as spent ({asks} rereads)"),
    }
}

fn unknown(model: &Model, wordy: Wordy) -> String {
    match (&model.figures.failure, wordy) {
        _ if model.service.is_offline => " offline: nothing is sent".to_owned(),
        _ if !model.service.has_key => " left: not known without a key".to_owned(),
        (Some(why), Wordy::Full) => format!(" left: not known ({why}); {} asks again, 0", model.way_to("balances")),
        (Some(why), Wordy::Short) => {
            let why = Untrusted::from(why.as_str()).visible_cut(40);
            format!(" left: not known ({why}); {} asks, 0", model.way_to("balances"))
        }
        (Some(_), _) => format!(" left: ? ({} asks, 0)", model.way_to("balances")),
        (None, Wordy::Full) if model.figures.balances.is_some() => {
            format!(" left: the service counts no {} for this key", counted(model).plural())
        }
        (None, _) if model.figures.balances.is_some() => " left: not counted".to_owned(),
        (None, _) => " left: asking …".to_owned(),
    }
}

fn balance(name: &str, found: &Left, wordy: Wordy) -> String {
    let most = if found.is_at_most { "≤" } else { "" };
    let remaining = thousands(found.limit.remaining);
    match wordy {
        Wordy::Full => format!(" {name} {}", sheet::left_words(found)),
        Wordy::Prices => format!(" {most}{remaining} {}", found.limit.period.current()),
        _ => format!(" {name} {most}{remaining} {}", found.limit.period.current()),
    }
}
