//! The list of hits: by pane of the report, or by report of the whole store.

use super::canvas::{Canvas, LineWriter};
use super::overlay::{draw_line_as, inside};
use super::pane::{draw_pieces, key};
use super::theme::Meaning;
use crate::app::find::{Finder, HitGroup, HitLine, HitSource, Quest};
use crate::app::over::notes::MARK;
use crate::app::{Area, Model, panes};
use crate::report::rows::Label;
use crate::text::{Untrusted, thousands};

/// Columns of a hit's pane and label.
const LABELS: usize = 24;

pub(super) fn draw(buffer: &mut Canvas<'_>, area: Area, finder: &Finder, model: &Model) {
    let title = if finder.is_held { "Search everything that is held" } else { "Find in all panes" };
    let inside = inside(buffer, area, model, &format!("{title}{}", state(finder)), 0, 0);
    let meaning = if finder.is_suggested { Meaning::Cursor } else { Meaning::Strong };
    draw_line_as(buffer, inside, 0, (prompt(&finder.quest), meaning), &finder.quest.typed, finder.is_typed);
    let words = match &finder.process {
        Some(process) => Some(format!("of several with this name: process {}, or no number told", process.number())),
        None => finder.is_suggested.then(|| "typing replaces these words".to_owned()),
    };
    if let Some(words) = words.filter(|_| finder.quest.problem.is_none()) {
        LineWriter::new(buffer, inside, 1).own(&words, Meaning::Faint);
    }
    if let Some(problem) = &finder.quest.problem {
        return LineWriter::new(buffer, inside, 1).own(problem, Meaning::Problem);
    }
    for (row, (position, found)) in (2..inside.height).zip(finder.lines().enumerate().skip(finder.scroll.top)) {
        let line = LineWriter::of_list(buffer, inside, row, position == finder.scroll.cursor);
        draw_hit(line, found, finder, model);
    }
    if finder.groups.is_empty() && !finder.quest.is_running() {
        let words = if finder.quest.pattern.is_some() { "nothing holds this" } else { "type what is sought" };
        LineWriter::new(buffer, inside, 2).own(words, Meaning::Faint);
    }
}

/// What stands before the words, by how they are meant.
pub(super) fn prompt(quest: &Quest) -> &'static str {
    match (quest.how.is_regex, quest.how.is_case_sensitive) {
        (false, false) => "find",
        (false, true) => "find Aa",
        (true, false) => "regex",
        (true, true) => "regex Aa",
    }
}

fn state(finder: &Finder) -> String {
    let count = match finder.count() {
        0 => String::new(),
        1 => " · 1 hit".to_owned(),
        many => format!(" · {} hits", thousands(many)),
    };
    let (done, all) = finder.searched;
    let reports =
        if all == 0 { String::new() } else { format!(" · {} of {} reports", thousands(done), thousands(all)) };
    let more = if finder.quest.is_running() { " · searching …" } else { "" };
    format!("{count}{reports}{more}")
}

fn draw_hit<'a>(mut line: LineWriter<'a, '_>, found: HitLine<'_>, finder: &'a Finder, model: &Model) {
    match found {
        HitLine::Group(group) => draw_group(&mut line, group, model),
        HitLine::More(group) => {
            line.own(
                &format!("  and {} more", thousands(group.count.saturating_sub(group.hits.len() as u64))),
                Meaning::Faint,
            );
        }
        HitLine::Hit(group, hit) => {
            line.own("  ", Meaning::Text);
            if let (Some(pane), HitSource::Report { .. }) = (hit.pane(), &group.of) {
                line.own(&format!("{} ", panes::info(pane).map_or("", |info| info.short)), Meaning::Key);
            }
            match &hit.row.label {
                Label::Known(word) => line.own(word, Meaning::Faint),
                Label::Named(name) => line.visible(&name.visible_cut(15), Meaning::Faint),
            }
            line.tab(if finder.is_held { LABELS } else { LABELS - 6 });
            draw_pieces(&mut line, &hit.row.pieces, Meaning::Text, true, finder.quest.pattern.as_deref());
        }
    }
}

fn draw_group(line: &mut LineWriter<'_, '_>, group: &HitGroup, model: &Model) {
    match &group.of {
        HitSource::Pane(pane) => {
            let info = panes::info(*pane);
            line.own(&info.map_or(String::new(), |info| key(info, model)), Meaning::Key);
            line.own(info.map_or("", |info| info.title), Meaning::Strong);
        }
        HitSource::Report { file, identifier, .. } | HitSource::Notes { file, identifier } => {
            if matches!(group.of, HitSource::Notes { .. }) {
                line.own(&format!("{MARK} "), Meaning::Key);
            }
            line.own(&file.as_ref().map_or("of no known file".to_owned(), |file| file.short()), Meaning::Strong);
            line.own(" · ", Meaning::Faint);
            line.visible(&identifier.parts().sandbox.visible_cut(40), Meaning::Strong);
            if let HitSource::Report { elsewhere: Some(profile), .. } = &group.of {
                line.own(" · held for profile ", Meaning::Faint);
                line.visible(&Untrusted::from(profile.as_str()).visible_cut(40), Meaning::Strong);
            }
        }
    }
    line.own(&format!("  {}", thousands(group.count)), Meaning::Faint);
}
