//! The status bar: the price of each key, and the remaining quota. A narrow bar drops labels first.

use super::canvas::{Canvas, LineWriter, StyledText};
use super::theme::Role;
use crate::app::commands::{Action, Command};
use crate::app::keys::ENTER;
use crate::app::overlays::Overlay;
use crate::app::spending::price::RemainingQuota;
use crate::app::spending::{KeyPrice, Obstacle};
use crate::app::{Area, Key, KeyContext, Model};
use crate::quota::{Holder, Period, SpentUnits, Unit, in_units};
use crate::text::{ColumnWidth, thousands};

/// The last rank and the maximum number of main free keys: prices do not displace them.
const MAIN_KEYS: (u8, usize) = (4, 6);

#[derive(Clone, Copy, PartialEq, Eq)]
enum Verbosity {
    Full,
    Short,
    Figures,
    Scarcest,
}

/// A key that may cost, with its price label.
struct PricedKey {
    key: Key,
    label: &'static str,
    price: String,
    meaning: Role,
    /// Whether the next press spends: such a key is always shown.
    spends: bool,
}

pub(super) fn draw(buffer: &mut Canvas<'_>, area: Area, model: &Model) {
    for (row, pieces) in (0..).zip([keys(model, area.width.into()), left(model, area.width.into())]) {
        let mut line = LineWriter::new(buffer, area, row);
        pieces.iter().for_each(|(text, meaning)| line.own(text, *meaning));
    }
}

fn width(pieces: &[StyledText]) -> usize {
    pieces.iter().map(|(text, _)| text.columns()).sum()
}

/// Lists enabled keys: those that may cost, with prices, then free ones; main free keys always fit.
pub(super) fn keys(model: &Model, room: usize) -> Vec<StyledText> {
    let (priced, free): (Vec<_>, Vec<_>) = shown(model).into_iter().partition(|command| is_priced(model, command));
    let priced = with_prices(model, &priced);
    let mut free = free_keys(model, free).peekable();
    let mut pieces = Vec::from_iter(hit(model));
    let main = std::iter::from_fn(|| free.next_if(|(rank, _)| *rank <= MAIN_KEYS.0));
    let kept: Vec<_> = main.take(MAIN_KEYS.1).map(|(_, key)| key).collect();
    let lead = if priced.is_empty() { " " } else { "│ " };
    // The two blanks after the last key need no room.
    let room_beside = |pieces: &[StyledText]| room.saturating_add(2).saturating_sub(width(pieces));
    let with_labels = |count, labelled| with_labels(&format!("{lead}{FREE}"), kept.iter().take(count), labelled);
    let labelled = (0..=kept.len()).rev().map(|labelled| with_labels(kept.len(), labelled));
    let forms: Vec<_> = labelled.chain((0..kept.len()).rev().map(|count| with_labels(count, 0))).collect();
    let help = Command::named("help").and_then(|help| model.key_of(help));
    let more = help.map_or_else(|| " priced ".to_owned(), |key| format!(" in {key} "));
    pieces.extend(priced_keys(&priced, room_beside(&pieces), &forms, &more));
    let form = forms.iter().find(|form| width(form) <= room_beside(&pieces));
    pieces.extend(form.into_iter().flatten().cloned());
    let heading = if room_beside(&pieces) > lead.columns() + FREE.columns() + SHORTEST_KEY_COLUMNS { FREE } else { "" };
    let mut lead = if kept.is_empty() { format!("{lead}{heading}") } else { String::new() };
    let mut left = if form == forms.first() { room_beside(&pieces).saturating_sub(lead.columns()) } else { 0 };
    while left > SHORTEST_KEY_COLUMNS
        && let Some((_, key)) = free.next()
    {
        if width(&key) <= left {
            left -= width(&key);
            pieces.extend([(std::mem::take(&mut lead), Role::Faint)].into_iter().chain(key));
        }
    }
    pieces
}

/// Keys after a heading, the first of them with labels; empty without keys.
fn with_labels<'a>(lead: &str, keys: impl Iterator<Item = &'a [StyledText; 2]>, labelled: usize) -> Vec<StyledText> {
    let label = |at, label: &StyledText| if at < labelled { label.clone() } else { ("  ".to_owned(), Role::Text) };
    let mut pieces = vec![(lead.to_owned(), Role::Faint)];
    pieces.extend(keys.enumerate().flat_map(|(at, [key, words])| [key.clone(), label(at, words)]));
    if pieces.len() > 1 { pieces } else { Vec::new() }
}

fn hit(model: &Model) -> Option<StyledText> {
    let (number, count) = model.hit().filter(|_| model.goes_through_hits())?;
    Some((format!(" hit {} of {} ·", thousands(number), thousands(count)), Role::Strong))
}

/// Returns the answers that send requests, and the enabled commands that may cost.
fn with_prices(model: &Model, commands: &[&'static Command]) -> Vec<PricedKey> {
    let paid = model.overlays.choices().iter().filter(|choice| choice.consent.sends());
    let paid = paid.map(|choice| (choice.key, choice.label, model.price_of_choice(choice)));
    let command =
        |command: &&'static Command| Some((model.key_of(command)?, label(model, command), model.key_price(command)));
    paid.chain(commands.iter().filter_map(command)).map(|(key, label, tag)| PricedKey::new(key, label, &tag)).collect()
}

/// Yields answers that send nothing, then commands by rank; lazily, as enabling may read rows.
fn free_keys(model: &Model, commands: Vec<&'static Command>) -> impl Iterator<Item = (u8, [StyledText; 2])> {
    let choices = model.overlays.choices().iter().filter(|choice| !choice.consent.sends());
    let choices = choices.map(|choice| (choice.key, choice.label, 1));
    let applies = |command| Some((model.key_of(command)?, label(model, command), command.rank));
    let keys = choices.chain(commands.into_iter().filter_map(applies));
    keys.map(|(key, label, rank)| (rank, [(key.to_string(), Role::Key), (format!(" {label}  "), Role::Text)]))
}

/// Returns the bar's commands: the return after a jump, the one of Enter, then by rank.
fn shown(model: &Model) -> Vec<&'static Command> {
    let mut shown: Vec<_> = Command::bar_commands(model.key_context()).collect();
    shown.sort_by_key(|command| (return_label(model, command).is_none(), !command.keys.contains(&ENTER)));
    shown
}

/// The heading of free keys, and the columns of the shortest free key: "q quit  ".
const FREE: &str = "free: ";
const SHORTEST_KEY_COLUMNS: usize = 7;

/// Returns whether a key is shown with a price: it can cost, itself or on the screen it opens.
fn is_priced(model: &Model, command: &Command) -> bool {
    let can_cost = match &command.act {
        Action::Chosen => true,
        Action::OpenPaid { .. } => model.service.barred().is_none(),
        _ => command.sends(),
    };
    can_cost && !model.key_price(command).is_free()
}

fn label(model: &Model, command: &Command) -> &'static str {
    match command.name {
        "scope" if model.key_context() == KeyContext::Rows => model.scope().other().label(),
        "show-less" if model.key_context() == KeyContext::Compare => "hide column",
        _ => return_label(model, command).unwrap_or(command.label),
    }
}

fn return_label(model: &Model, command: &Command) -> Option<&'static str> {
    if command.name == "back" { model.return_label() } else { None }
}

impl PricedKey {
    fn new(key: Key, label: &'static str, tag: &KeyPrice) -> Self {
        let meaning = match tag.obstacle {
            Some(Obstacle::InFlight) => Role::Free,
            None => Role::Price,
            Some(_) => Role::Problem,
        };
        // The word "then" implies that nothing is charged yet.
        let price = tag.label().trim_start_matches("0 now, ").to_owned();
        Self { key, label, price, meaning, spends: tag.paid_plan().is_some() }
    }
}

/// Fits as many priced keys as possible beside free ones, from long to short forms. Keys that spend
/// at once are all shown, if need be without labels; Enter's label stays while it fits.
fn priced_keys(priced: &[PricedKey], left: usize, free: &[Vec<StyledText>], more: &str) -> Vec<StyledText> {
    let is_kept = |(at, known): &(usize, &PricedKey)| *at == 0 || known.spends;
    let (kept, others): (Vec<_>, Vec<_>) = priced.iter().enumerate().partition(is_kept);
    let least = kept.len();
    let keys: Vec<_> = kept.into_iter().chain(others).map(|(_, known)| known).collect();
    let grouped = &|shown: usize, labelled, more: &str| {
        let mut pieces = grouped(&keys, shown, labelled);
        let hidden = keys.len().saturating_sub(shown);
        if hidden > 0 {
            pieces.extend([("│".to_owned(), Role::Faint), (format!(" +{hidden}{more}"), Role::Price)]);
        }
        pieces
    };
    let enter = usize::from(keys.first().is_some_and(|known| known.key == ENTER));
    let all_labelled = (least..=keys.len()).rev().map(|shown| (grouped(shown, shown, more), free.first()));
    // Order of removal: free keys' labels, priced ones', the key to hidden ones, free keys, Enter.
    let with_free = |labelled, more| move |free| (grouped(least, labelled, more), Some(free));
    let unlabelled = free.len() / 2;
    let forms = all_labelled.chain(free.iter().take(unlabelled + 1).map(with_free(least, more)));
    let bare = || free.iter().skip(unlabelled);
    let fewer = (enter..least).rev().map(|labelled| (grouped(least, labelled, more), free.get(unlabelled)));
    let forms = forms.chain(fewer).chain(bare().take(1).map(with_free(enter, " ")));
    let forms = forms.chain(bare().filter(|_| enter > 0).map(with_free(enter, more)));
    let mut forms = forms.chain(bare().map(with_free(0, " ")));
    let fits = |(pieces, free): &(Vec<StyledText>, Option<&Vec<StyledText>>)| {
        width(pieces) + free.map_or(0, |free| width(free)) <= left
    };
    // The last resort is a shorter unit.
    let brief = |(text, meaning): StyledText| (text.replace("requests", "req").replace("request", "req"), meaning);
    let briefest = || grouped(least, 0, " ").into_iter().map(brief).collect();
    forms.find(fits).map_or_else(briefest, |(pieces, _)| pieces)
}

/// Returns the first keys grouped by price, the first of these with their labels.
fn grouped(keys: &[&PricedKey], shown: usize, labelled: usize) -> Vec<StyledText> {
    let mut pieces: Vec<StyledText> = Vec::new();
    let shown = || keys.iter().enumerate().take(shown);
    for (at, first) in shown() {
        if shown().take(at).any(|(_, before)| before.price == first.price) {
            continue;
        }
        pieces.extend((!pieces.is_empty()).then(|| ("│".to_owned(), Role::Faint)));
        pieces.push((format!(" {}:", first.price), first.meaning));
        let mut same = shown().filter(|(_, known)| known.price == first.price).peekable();
        while let Some((at, known)) = same.next() {
            let label = match same.peek() {
                _ if at < labelled => format!(" {} ", known.label),
                Some(_) => String::new(),
                None => " ".to_owned(),
            };
            pieces.extend([(format!(" {}", known.key), Role::Key), (label, Role::Text)]);
        }
    }
    pieces
}

/// Returns the quota left, and the session's costs.
pub(super) fn left(model: &Model, room: usize) -> Vec<StyledText> {
    if model.is_document() {
        return vec![(" a document: no network, no key, no cost".to_owned(), Role::Free)];
    }
    let is_demo = model.settings.is_demo;
    let forms = [
        (Verbosity::Full, is_demo),
        (Verbosity::Short, is_demo),
        (Verbosity::Short, false),
        (Verbosity::Figures, false),
    ];
    let mut forms = forms.into_iter().map(|(verbosity, names_demo)| remaining(model, verbosity, names_demo));
    forms.find(|pieces| width(pieces) <= room).unwrap_or_else(|| remaining(model, Verbosity::Scarcest, false))
}

fn remaining(model: &Model, verbosity: Verbosity, names_demo: bool) -> Vec<StyledText> {
    // The form that submits a file counts in scans.
    let submits = model.overlays.all.iter().any(|overlay| matches!(overlay, Overlay::Submit(_)));
    let unit = if submits { Unit::Scan } else { Unit::Request };
    let first = model.quota_state.least_left(unit, model.now);
    let mut pieces = match &first {
        None => vec![(unknown(model), Role::Faint)],
        Some(first) => limits(&model.quota_state.left(unit, model.now), first, unit, verbosity),
    };
    if model.quota_state.is_over_quota && first.is_some_and(|first| first.limit.remaining > 0) {
        // A refusal by the service overrides the counters.
        pieces.insert(0, (format!(" refused as spent ({} rereads)", model.key_label("counters")), Role::Problem));
    }
    pieces.push(spent(model, verbosity, names_demo));
    pieces
}

/// Returns what holders have left in the commonest period, and in the first to run out.
fn limits(all: &[RemainingQuota], first: &RemainingQuota, unit: Unit, verbosity: Verbosity) -> Vec<StyledText> {
    let of = |period| all.iter().filter(move |left| left.limit.period == period).count();
    // The last of equals: users plan by the day.
    let common =
        [first.limit.period, Period::Hourly, Period::Monthly, Period::Daily].into_iter().max_by_key(|it| of(*it));
    let is_shown = |left: &&RemainingQuota| match verbosity {
        Verbosity::Scarcest => left.limit == first.limit,
        Verbosity::Figures if left.limit.holder != first.limit.holder => false,
        _ => left.limit == first.limit || Some(left.limit.period) == common,
    };
    let lead = if unit == Unit::Scan { " scans left:" } else { " left:" };
    let mut pieces = vec![(lead.to_owned(), Role::Faint)];
    for (holder, name) in [(Holder::User, "you"), (Holder::Group, "group")] {
        for (at, left) in all.iter().filter(|left| left.limit.holder == holder).filter(is_shown).enumerate() {
            let gap = if pieces.len() > 1 { " ·" } else { "" };
            let lead = if at == 0 { format!("{gap} {name}") } else { ",".to_owned() };
            let tint = if left.limit.remaining == 0 { Role::Problem } else { Role::Text };
            pieces.push((format!("{lead} {}", limit(left, verbosity)), tint));
        }
    }
    pieces
}

fn limit(RemainingQuota { limit, is_at_most }: &RemainingQuota, verbosity: Verbosity) -> String {
    let is_full = verbosity == Verbosity::Full;
    let of = if is_full { format!(" of {}", thousands(limit.allowed)) } else { String::new() };
    let most = if *is_at_most { "≤" } else { "" };
    format!("{most}{}{of} {}", thousands(limit.remaining), limit.period.current())
}

fn spent(model: &Model, verbosity: Verbosity, names_demo: bool) -> StyledText {
    let spent = model.quota_state.spent_with(&model.calls);
    let all: SpentUnits = spent.values().copied().sum();
    let lead = if verbosity == Verbosity::Full { "spent this session:" } else { "spent" };
    let demo = if names_demo { " (demo)" } else { "" };
    (format!(" │ {lead} {}{demo}", in_units(&spent)), if all.total() == 0 { Role::Free } else { Role::Price })
}

fn unknown(model: &Model) -> String {
    match &model.quota_state.failure {
        _ if model.service.is_offline => " offline: nothing is sent".to_owned(),
        _ if !model.service.has_key => " left: not known without a key".to_owned(),
        Some(_) => format!(" left: ? ({} fetches, 0)", model.key_label("counters")),
        None if model.quota_state.balances.is_some() => " left: not counted".to_owned(),
        None => " left: paid …".to_owned(),
    }
}
