//! When each process started: the tree laid out along time, for as many as know it.

use super::model::Model;
use super::sheet::{Paragraph, Sheet, paragraph};
use crate::report::Piece;
use crate::report::index::Form;
use crate::text::{UntrustedStr, thousands};

/// Columns of the line that time is drawn on.
const LINE: usize = 32;

/// Levels that are told apart by how far a name is moved in.
const DEEPEST: u16 = 8;

/// Most processes that are laid out.
const MOST: usize = 500;

/// Columns of a process's name.
const NAME: usize = 60;

/// A process and when it started, in seconds after the analysis did.
struct Start {
    seconds: f64,
    name: String,
    depth: u16,
}

impl Sheet {
    /// The processes of the report that is open by the time at which they started.
    #[must_use]
    pub fn timeline(model: &Model, columns: usize) -> Self {
        let (mut starts, all) = starts(model);
        starts.sort_by(|one, other| one.seconds.total_cmp(&other.seconds));
        let last = starts.last().map_or(0.0, |start| start.seconds);
        let mut paragraphs: Vec<Paragraph> = starts.iter().map(|start| row(start, last)).collect();
        let known = starts.len();
        paragraphs.push(paragraph("", ""));
        paragraphs.push(paragraph("", words(known, all)));
        Self::new("When processes started", paragraphs, columns)
    }
}

fn words(known: usize, all: usize) -> String {
    let (known_words, all_words) = (thousands(known as u64), thousands(all as u64));
    match known {
        0 => "The report does not say when its processes started.".to_owned(),
        _ if known == all => format!("All {all_words} processes, each from its start on."),
        _ => format!("{known_words} of {all_words} processes say when they started, or are among the first {MOST}."),
    }
}

/// The processes whose start is known, in the order of the tree; and how many processes there are.
fn starts(model: &Model) -> (Vec<Start>, usize) {
    let Some(open) = model.open() else { return (Vec::new(), 0) };
    let sections = open.report.index.sections.iter().enumerate();
    let Some((number, tree)) = sections.into_iter().find(|(_, section)| section.form == Form::Processes) else {
        return (Vec::new(), 0);
    };
    let start = |row: usize| {
        let pieces = open.report.row(number, row).pieces;
        let offset =
            pieces.iter().skip_while(|piece| !matches!(piece, Piece::Own(words) if words.trim() == "+")).nth(1)?;
        let Piece::Detail(offset) = offset else { return None };
        let seconds = std::str::from_utf8(offset.as_bytes()).ok()?.parse::<f64>().ok()?;
        let Some(Piece::Value(name)) = pieces.into_iter().next() else { return None };
        let name = tail(name.as_untrusted_str());
        let is_sane = seconds.is_finite() && seconds >= 0.0;
        is_sane.then(|| Start { seconds, name, depth: tree.depths().get(row).unwrap_or(0) })
    };
    ((0..tree.len().min(MOST)).filter_map(start).collect(), tree.len())
}

/// The end of a path, which tells processes apart.
fn tail(name: UntrustedStr<'_>) -> String {
    let width = name.visible().width();
    name.visible_window(width.saturating_sub(NAME), NAME).to_string()
}

fn row(start: &Start, last: f64) -> Paragraph {
    let share = if last > 0.0 { start.seconds / last } else { 0.0 };
    // Between 0 and LINE - 1, so nothing is lost.
    let at = ((share * (LINE - 1) as f64).round() as usize).min(LINE - 1);
    let line = "·".repeat(at) + "●" + &" ".repeat(LINE - 1 - at);
    // Blanks that a line cannot be broken at: what is started stands under what started it.
    let indent = "\u{a0}".repeat(2 * usize::from(start.depth.min(DEEPEST)));
    paragraph(&format!("+{} s", start.seconds), format!("{}{indent}{}", line.replace(' ', "\u{a0}") + " ", start.name))
}
