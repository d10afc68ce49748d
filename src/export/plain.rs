//! Plain text: a line a row as a pane shows it, or a line an indicator; defanged, as it is copied.

use super::noted::Noted;
use super::{Job, Summary, indicators};
use crate::report::rows::{Label, Row};
use crate::report::{Note, Pane, Piece};
use crate::text::{Untrusted, Visible};
use std::io::{self, Write};

/// What stands before a note.
const NOTE: &str = "note: ";

/// A text of a pane without teeth: where hosts stand, a name is a host whatever it ends in.
#[must_use]
pub fn harmless(pane: Pane, text: &Untrusted) -> Visible {
    let visible = text.visible();
    if pane == Pane::Network { visible.disarmed_among_hosts() } else { visible.disarmed() }
}

/// A row as its pane shows it, in one line without teeth.
#[must_use]
pub fn line(pane: Pane, row: &Row) -> String {
    let label = match &row.label {
        Label::Known(word) => (*word).to_owned(),
        Label::Named(name) => name.visible().to_string(),
    };
    let pieces = row.pieces.iter().map(|piece| match piece {
        Piece::Value(text) | Piece::Detail(text) => harmless(pane, text).to_string(),
        Piece::Own(words) => words.to_string(),
    });
    let gap = if label.is_empty() { "" } else { " " };
    format!("{label}{gap}{}", pieces.collect::<String>())
}

pub(super) fn write(job: &Job<'_>, out: &mut dyn Write) -> io::Result<Summary> {
    let mut summary = Summary::default();
    for source in job.sources {
        let report = source.open()?;
        summary.add_report(&report);
        if job.what.is_indicators() {
            // Nothing but the things themselves: such a list is read by other programs.
            for indicator in indicators::of(job, &report)?.all() {
                writeln!(out, "{}", indicator.defanged())?;
                summary.rows += 1;
            }
            continue;
        }
        let noted = Noted::of(job, source, &report)?;
        if let Some(note) = noted.whole {
            writeln!(out, "{}", words(note))?;
        }
        for (item, note) in &noted.lost {
            let item = format!("{} {}", item.attribute.visible(), item.text.visible().disarmed());
            writeln!(out, "{}  (on {item}, which is not in this report any more)", words(note))?;
        }
        for (pane, place) in job.places(&report) {
            job.go_on()?;
            let note = noted.at(place).map(|note| format!("  ({})", words(note))).unwrap_or_default();
            writeln!(out, "{}{note}", line(pane, &report.row(place.section, place.row)))?;
            summary.rows += 1;
        }
    }
    Ok(summary)
}

fn words(note: &Note) -> String {
    format!("{NOTE}{}", note.text.visible().disarmed())
}
