//! The status bar: the price of each key before it is pressed, and the balances. Narrow, it drops words first.

use super::canvas::{Canvas, LineWriter, Words};
use super::theme::Tint;
use crate::app::commands::{Act, Command};
use crate::app::keys::ENTER;
use crate::app::over::Overlay;
use crate::app::spending::price::RemainingQuota;
use crate::app::spending::{Obstacle, Tag};
use crate::app::{Area, Key, Model, Place};
use crate::quota::{Holder, Period, Spent, Unit, in_units};
use crate::text::{Columns, thousands};

/// Pieces of the bar as one line.
pub(super) fn text(pieces: &[Words]) -> String {
    let text: String = pieces.iter().map(|(text, _)| text.as_str()).collect();
    text.trim().replace('│', ";")
}

/// Columns from which on prices and counts of keys are in full words.
const ROOMY: usize = 60;

/// The last rank of the free keys that prices do not push out.
const MAIN: u8 = 5;

/// How many free keys have a place beside any prices, from a width on.
fn kept_free_keys(room: usize) -> usize {
    match room {
        100.. => 5,
        80.. => 3,
        ROOMY.. => 2,
        _ => 0,
    }
}

/// How many words the second row spends.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Verbosity {
    Full,
    Short,
    Scarcest,
}

/// A key that may cost, with its price in words.
struct PricedKey {
    key: Key,
    label: &'static str,
    price: String,
    meaning: Tint,
    /// Whether the next press spends: such a key is never only counted.
    spends: bool,
}

pub(super) fn draw(buffer: &mut Canvas<'_>, area: Area, model: &Model) {
    write(LineWriter::new(buffer, area, 0), &keys(model, area.width.into()));
    write(LineWriter::new(buffer, area, 1), &left(model, area.width.into()));
}

fn write(mut line: LineWriter<'_>, pieces: &[Words]) {
    for (text, meaning) in pieces {
        line.own(text, *meaning);
    }
}

fn width(pieces: &[Words]) -> usize {
    pieces.iter().map(|(text, _)| text.columns()).sum()
}

/// The keys that apply: those that may cost with their prices, then free ones, of which the first always have a place.
pub(super) fn keys(model: &Model, room: usize) -> Vec<Words> {
    let (priced, free): (Vec<_>, Vec<_>) = told(model).into_iter().partition(|command| is_priced(model, command));
    let priced = with_prices(model, &priced, room);
    let (mut free, mut pieces) = (free_keys(model, free).peekable(), hit(model));
    let main = std::iter::from_fn(|| free.next_if(|(rank, _)| *rank <= MAIN));
    let kept: Vec<_> = main.take(kept_free_keys(room)).collect();
    // The two blanks after the last key need no room.
    let room_beside = |pieces: &[Words]| room.saturating_add(2).saturating_sub(width(pieces));
    let reserved = LEAD.columns() + kept.iter().map(|(_, key)| width(key)).sum::<usize>();
    pieces.extend(priced_keys(model, &priced, room_beside(&pieces), reserved, room < ROOMY));
    let free_too = if room_beside(&pieces) >= reserved + FREE.columns() { FREE } else { "" };
    let mut lead = format!("{}{free_too}", if priced.is_empty() { " " } else { LEAD });
    let mut left = room_beside(&pieces).saturating_sub(lead.columns());
    let mut keys = kept.into_iter().chain(free);
    while left > SHORTEST
        && let Some((_, key)) = keys.next()
    {
        if width(&key) <= left {
            left -= width(&key);
            pieces.extend([(std::mem::take(&mut lead), Tint::Faint)].into_iter().chain(key));
        }
    }
    pieces
}

fn hit(model: &Model) -> Vec<Words> {
    let hit = model.hit().filter(|_| model.goes_through_hits());
    let words = hit.map(|(number, count)| format!(" hit {} of {} ·", thousands(number), thousands(count)));
    words.map(|words| (words, Tint::Strong)).into_iter().collect()
}

/// The answers that send something, and the commands that apply and may cost.
fn with_prices(model: &Model, commands: &[&'static Command], room: usize) -> Vec<PricedKey> {
    let asking = model.over.answers().iter().filter(|answer| answer.consent.asks());
    let asking = asking.map(|answer| (answer.key, answer.label, model.price_tag(answer)));
    let command =
        |command: &&'static Command| Some((model.key_of(command)?, label(model, command), model.tag(command)));
    let priced = asking.chain(commands.iter().filter_map(command));
    priced.map(|(key, label, tag)| PricedKey::new(key, label, &tag, room)).collect()
}

/// The answers that send nothing, and the commands that apply, each with its rank. Whether one applies may need rows of the
/// report: it is asked only of those that are taken.
fn free_keys(model: &Model, commands: Vec<&'static Command>) -> impl Iterator<Item = (u8, [Words; 2])> {
    let answers = model.over.answers().iter().filter(|answer| !answer.consent.asks());
    let answers = answers.map(|answer| (answer.key, answer.label, 1));
    let applies = |command| Some((model.key_of(command)?, label(model, command), command.rank));
    let keys = answers.chain(commands.into_iter().filter_map(applies));
    keys.map(|(key, label, rank)| (rank, [(key.to_string(), Tint::Key), (format!(" {label}  "), Tint::Text)]))
}

/// The commands that the bar shows: the way back after a jump, what Enter does, then by rank.
fn told(model: &Model) -> Vec<&'static Command> {
    let mut told: Vec<_> = Command::told_at(model.place()).collect();
    told.sort_by_key(|command| (way_back(model, command).is_none(), !command.keys.contains(&ENTER)));
    told
}

/// What stands before the free keys, and what is put there as well where there is room.
const LEAD: &str = "│ ";
const FREE: &str = "free: ";

/// Columns of the shortest free key: "q quit  ".
const SHORTEST: usize = 7;

/// Whether a command's key is shown with its price: it asks the service, or leads to what can be asked, and not for free.
fn is_priced(model: &Model, command: &Command) -> bool {
    let can_cost = match &command.act {
        Act::Chosen => true,
        Act::Leads { .. } => model.service.barred().is_none(),
        _ => command.asks(),
    };
    can_cost && !model.tag(command).is_free()
}

fn label(model: &Model, command: &Command) -> &'static str {
    match command.name {
        "scope" if model.place() == Place::Picker => model.scope().other().label(),
        _ => way_back(model, command).unwrap_or(command.label),
    }
}

fn way_back(model: &Model, command: &Command) -> Option<&'static str> {
    if command.name == "back" { model.way_back() } else { None }
}

impl PricedKey {
    fn new(key: Key, label: &'static str, tag: &Tag, room: usize) -> Self {
        let meaning = match tag.obstacle {
            Some(Obstacle::InFlight) => Tint::Free,
            None => Tint::Price,
            Some(_) => Tint::Problem,
        };
        let price = if room < ROOMY { tag.short() } else { tag.words() };
        // The word "then" implies that nothing is charged yet.
        let price = price.strip_prefix("0 now, ").unwrap_or(&price).to_owned();
        Self { key, label, price, meaning, spends: tag.spends().is_some() }
    }
}

/// As many priced keys as fit beside what is reserved. Those that spend at once are all there, if need be without labels.
fn priced_keys(model: &Model, priced: &[PricedKey], left: usize, reserved: usize, is_narrow: bool) -> Vec<Words> {
    let is_kept = |(at, known): &(usize, &PricedKey)| *at == 0 || known.spends;
    let (kept, others): (Vec<_>, Vec<_>) = priced.iter().enumerate().partition(is_kept);
    let least = kept.len();
    let keys: Vec<_> = kept.into_iter().chain(others).map(|(_, known)| known).collect();
    // Help, which has all prices, stands beside it where the bar has room for free keys.
    let more = match Command::named("help").and_then(|command| model.key_of(command)) {
        Some(help) if is_narrow => format!(": {help} "),
        _ => " priced ".to_owned(),
    };
    let grouped = |shown: usize, labelled| {
        let mut pieces = grouped(&keys, shown, labelled);
        let hidden = keys.len().saturating_sub(shown);
        if hidden > 0 {
            pieces.extend([("│".to_owned(), Tint::Faint), (format!(" +{hidden}{more}"), Tint::Price)]);
        }
        pieces
    };
    let all_labelled = (least..=keys.len()).rev().map(|shown| (shown, shown));
    let mut forms = all_labelled.chain((1..least).rev().map(|labelled| (least, labelled)));
    let fits = |(shown, labelled)| Some(grouped(shown, labelled)).filter(|pieces| width(pieces) + reserved <= left);
    let first_labelled = || Some(grouped(least, 1)).filter(|pieces| width(pieces) <= left);
    forms.find_map(fits).or_else(first_labelled).unwrap_or_else(|| grouped(least, 0))
}

/// The first keys grouped by price, the first of these with their labels.
fn grouped(keys: &[&PricedKey], shown: usize, labelled: usize) -> Vec<Words> {
    let mut pieces: Vec<Words> = Vec::new();
    let shown = || keys.iter().enumerate().take(shown);
    for (at, first) in shown() {
        if shown().take(at).any(|(_, before)| before.price == first.price) {
            continue;
        }
        pieces.extend((!pieces.is_empty()).then(|| ("│".to_owned(), Tint::Faint)));
        pieces.push((format!(" {}:", first.price), first.meaning));
        for (at, known) in shown().filter(|(_, known)| known.price == first.price) {
            let label = if at < labelled { format!(" {} ", known.label) } else { " ".to_owned() };
            pieces.extend([(format!(" {}", known.key), Tint::Key), (label, Tint::Text)]);
        }
    }
    pieces
}

/// The quota left to user and group in one period and which limit runs out first, and the costs of this session.
pub(super) fn left(model: &Model, room: usize) -> Vec<Words> {
    if model.is_document() {
        return vec![(" a document: no network, no key, no cost".to_owned(), Tint::Free)];
    }
    let forms = [Verbosity::Full, Verbosity::Short].map(|verbosity| remaining(model, verbosity)).into_iter();
    let fits = forms.into_iter().find(|pieces| width(pieces) <= room);
    fits.unwrap_or_else(|| remaining(model, Verbosity::Scarcest))
}

fn remaining(model: &Model, verbosity: Verbosity) -> Vec<Words> {
    // The form that submits a file counts in scans.
    let submits = model.over.all.iter().any(|over| matches!(over, Overlay::Submit(_)));
    let unit = if submits { Unit::Scan } else { Unit::Request };
    let first = model.figures.runs_out_first(unit, model.now);
    let mut pieces = match &first {
        None => vec![(unknown(model), Tint::Faint)],
        Some(first) => limits(&model.figures.left(unit, model.now), first, unit, verbosity),
    };
    if model.figures.says_spent && first.is_some_and(|first| first.limit.remaining > 0) {
        // Whatever the counters leave.
        pieces.insert(0, (format!(" refused as spent ({} rereads)", model.way_to("counters")), Tint::Problem));
    }
    pieces.push(spent(model, verbosity));
    pieces
}

/// The limits of the period that most holders have, and the one that runs out first.
fn limits(all: &[RemainingQuota], first: &RemainingQuota, unit: Unit, verbosity: Verbosity) -> Vec<Words> {
    let (scans, period) = (if unit == Unit::Scan { " scans" } else { "" }, first.limit.period.current());
    if verbosity == Verbosity::Scarcest {
        return vec![(format!("{scans} left: {} {period}", limit(first, verbosity)), tint(first))];
    }
    let of = |period| all.iter().filter(move |left| left.limit.period == period);
    // The last of equals is taken: a day is what people reckon with.
    let known = [Period::Hourly, Period::Monthly, Period::Daily].into_iter().filter(|period| of(*period).count() > 0);
    let common = known.max_by_key(|period| of(*period).count()).unwrap_or(first.limit.period);
    let mut pieces = vec![(format!("{scans} left {}:", common.current()), Tint::Faint)];
    for (at, left) in of(common).enumerate() {
        pieces.extend((at > 0).then(|| (" ·".to_owned(), Tint::Faint)));
        pieces.push((format!(" {}", limit(left, verbosity)), tint(left)));
    }
    let lead = if verbosity == Verbosity::Full { "runs out first" } else { "first" };
    let words = match first.limit.period == common {
        true => name(first).to_owned(),
        false => format!("{} {period}", limit(first, Verbosity::Short)),
    };
    if first.limit.period != common || of(common).count() > 1 {
        pieces.extend([(format!(" │ {lead}: "), Tint::Faint), (words, tint(first))]);
    }
    pieces
}

fn name(left: &RemainingQuota) -> &'static str {
    if left.limit.holder == Holder::User { "you" } else { "group" }
}

fn tint(left: &RemainingQuota) -> Tint {
    if left.limit.remaining == 0 { Tint::Problem } else { Tint::Text }
}

fn limit(left: &RemainingQuota, verbosity: Verbosity) -> String {
    let (most, remaining) = (if left.is_at_most { "≤" } else { "" }, thousands(left.limit.remaining));
    let of =
        if verbosity == Verbosity::Full { format!(" of {}", thousands(left.limit.allowed)) } else { String::new() };
    format!("{} {most}{remaining}{of}", name(left))
}

fn spent(model: &Model, verbosity: Verbosity) -> Words {
    let spent = model.figures.spent_with(&model.calls);
    let all: Spent = spent.values().copied().sum();
    let lead = if verbosity == Verbosity::Full { "spent this session:" } else { "spent" };
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
