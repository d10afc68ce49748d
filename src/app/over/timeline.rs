//! When each process started: the tree laid out along time, for as many as know it.

use super::sheet::{Mark, Paragraph, Sheet, drawn, paragraph};
use crate::app::model::Model;
use crate::report::index::Form;
use crate::report::{Piece, command_line};
use crate::text::{Untrusted, last_part, thousands};

/// Levels that are told apart by how far a name is moved in.
const DEEPEST: u16 = 8;

/// Letters of a process's arguments that stand behind its program.
const ARGUMENTS: usize = 40;

/// Most processes that are laid out.
const MOST: usize = 500;

/// A process and when it started, by its sandbox's offset from the start of the analysis.
struct Start {
    offset: f64,
    name: Untrusted,
    depth: u16,
}

impl Sheet {
    /// The processes of the report that is open by the time at which they started.
    pub fn timeline(model: &Model, columns: usize) -> Self {
        let (mut starts, all) = starts(model);
        let goes_back = goes_back(&starts);
        if !goes_back {
            starts.sort_by(|one, other| one.offset.total_cmp(&other.offset));
        }
        let last = starts.iter().map(|start| start.offset).fold(0.0, f64::max);
        let mut paragraphs: Vec<Paragraph> = starts.iter().map(|start| row(start, last)).collect();
        let known = starts.len();
        paragraphs.push(paragraph("", ""));
        paragraphs.push(paragraph("", words(known, all)));
        if goes_back {
            let why = "A process has an earlier offset than its parent: the rows are in the order of the tree.";
            paragraphs.push(paragraph("", why));
        }
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
        let offset = std::str::from_utf8(offset.as_bytes()).ok()?.parse::<f64>().ok()?;
        let number = match pieces.as_slice() {
            [_, Piece::Own(words), Piece::Detail(number), ..] if words.trim().is_empty() => Some(number),
            _ => None,
        };
        let Some(Piece::Value(name)) = pieces.first() else { return None };
        let name = told(name, number);
        let is_sane = offset.is_finite() && offset >= 0.0;
        is_sane.then(|| Start { offset, name, depth: tree.depths().get(row).unwrap_or(0) })
    };
    ((0..tree.len().min(MOST)).filter_map(start).collect(), tree.len())
}

/// The program without its folder, its arguments as far as they leave room, and the process's number, which tell processes apart.
fn told(name: &Untrusted, number: Option<&Untrusted>) -> Untrusted {
    let (program, arguments) = command_line::split(name.as_bytes());
    let program = Some(last_part(program)).filter(|last| !last.is_empty()).unwrap_or(name.as_bytes());
    let part = |before: &str, text: &str| if text.is_empty() { String::new() } else { format!("{before}{text}") };
    let arguments = String::from_utf8_lossy(arguments);
    let shown: String = arguments.chars().take(ARGUMENTS).collect();
    let more = if shown.len() < arguments.len() { "…" } else { "" };
    let number = number.map(|number| [b"  ", number.as_bytes()].concat()).unwrap_or_default();
    Untrusted::from([program, part(" ", &shown).as_bytes(), more.as_bytes(), &number].concat())
}

/// Whether a process starts before one above it in the tree: then offsets do not tell the order.
fn goes_back(starts: &[Start]) -> bool {
    let mut above: Vec<&Start> = Vec::new();
    starts.iter().any(|start| {
        while above.last().is_some_and(|last| last.depth >= start.depth) {
            above.pop();
        }
        let is_earlier = above.last().is_some_and(|parent| start.offset < parent.offset);
        above.push(start);
        is_earlier
    })
}

fn row(start: &Start, last: f64) -> Paragraph {
    let share = if last > 0.0 { start.offset / last } else { 0.0 };
    // What is started stands further in than what started it.
    let indent = 2 * usize::from(start.depth.min(DEEPEST));
    drawn(&format!("+{}", start.offset), Mark { share, indent, name: start.name.clone() })
}
