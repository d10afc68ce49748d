//! Searches one report's panes or all stored reports; sends hits as they are found.

use super::{Performer, SendPace, Task};
use crate::app::find::controller::SearchEnd;
use crate::app::find::{Hit, HitGroup, HitSource, MAX_HITS, SearchProgress};
use crate::app::{SearchEvent, SearchJob, Ticket};
use crate::gateway::Gateway;
use crate::report::find::{self, Pattern, SearchScope};
use crate::report::rows::Label;
use crate::report::work::{CONCURRENT_REPORTS, in_rounds};
use crate::report::{Cancel, Note, NoteSubject, Pane, Piece, Report, Row, RowPlace, RowSet, Section};
use crate::request::Request;
use crate::store::{StoreError, StoredReport};
use std::collections::BTreeMap;
use std::mem::take;
use std::ops::ControlFlow;

const SEARCH_THREADS: usize = 2;

impl Performer {
    pub(super) fn search(&self, job: SearchJob) {
        let gateway = self.gateway.clone();
        self.spawn(move |work| match job {
            SearchJob::Filter(ticket, report, pattern, scope) => filter(work, &ticket, &report, &pattern, &scope),
            SearchJob::Panes(ticket, report, pattern, process) => {
                let keep = |place| !process.as_ref().is_some_and(|process| process.is_other_than(&report, place));
                find_hits(work, &ticket, &report, &pattern, &keep);
            }
            SearchJob::Stored(ticket, pattern) => {
                let Some(gateway) = gateway else { return };
                if let Err(error) = search_stored(work, &ticket, &gateway, &pattern) {
                    send_hits(work, &ticket, Vec::new(), SearchProgress::default(), Some(Err(error.to_string())));
                }
            }
            SearchJob::Comparison(ticket, matrix, pattern, columns) => {
                if let Ok(found) = matrix.find(pattern.as_bytes(), columns, &ticket.cancel) {
                    work.send(SearchEvent::ComparisonFiltered(ticket.number, found));
                }
            }
        });
    }
}

fn send_hits(work: &Task, ticket: &Ticket, groups: Vec<HitGroup>, searched: SearchProgress, ended: SearchEnd) {
    work.send(SearchEvent::Hits(ticket.number, groups, searched, ended));
}

fn filter(work: &Task, ticket: &Ticket, report: &Report, pattern: &Pattern, scope: &SearchScope) {
    let mut found = RowSet::default();
    let mut pace = SendPace::default();
    let send = |rows, ended| work.send(SearchEvent::Rows(ticket.number, rows, ended));
    find::search(report, pattern, scope, SEARCH_THREADS, &ticket.cancel, &mut |rows| {
        found.extend(&rows);
        if !found.is_empty() && pace.is_due() {
            send(take(&mut found), None);
        }
        ControlFlow::Continue(())
    });
    send(found, Some(Ok(())));
}

/// Searches a report and sends hits by pane, the first of each decoded; `keep` selects the rows.
fn find_hits(work: &Task, ticket: &Ticket, report: &Report, pattern: &Pattern, keep: &dyn Fn(RowPlace) -> bool) {
    let mut decoded = BTreeMap::<Pane, usize>::new();
    let mut found = Vec::new();
    let mut pace = SendPace::default();
    find::search(report, pattern, &SearchScope::default(), SEARCH_THREADS, &ticket.cancel, &mut |rows| {
        for (section, rows) in rows.sections() {
            let Some(pane) = report.section(section).map(Section::pane) else { continue };
            let known = decoded.entry(pane).or_default();
            let room = MAX_HITS.saturating_sub(*known);
            let mut kept = rows.iter().filter(|row| keep(RowPlace { section, row: **row as usize }));
            let hits: Vec<_> =
                kept.by_ref().take(room).map(|row| Hit::new(report, pane, section, *row, pattern)).collect();
            *known += hits.len();
            let count = (hits.len() + kept.count()) as u64;
            found.extend((count > 0).then_some(HitGroup { source: HitSource::Pane(pane), count, hits }));
        }
        if !found.is_empty() && pace.is_due() {
            send_hits(work, ticket, take(&mut found), SearchProgress::default(), None);
        }
        ControlFlow::Continue(())
    });
    send_hits(work, ticket, found, SearchProgress::default(), Some(Ok(())));
}

/// Searches notes and stored reports, and sends hits.
fn search_stored(work: &Task, ticket: &Ticket, gateway: &Gateway, pattern: &Pattern) -> Result<(), StoreError> {
    let notes = gateway.store.notes()?;
    let reports = gateway.store.every_report(&gateway.service)?;
    let mut searched = SearchProgress { all: reports.len() as u64, ..SearchProgress::default() };
    let mut ended = Ok(());
    let mut pace = SendPace::default();
    let mut hits = matching_notes(notes, pattern, &reports);
    search_each(&reports, pattern, MAX_HITS, &ticket.cancel, &mut |found| {
        searched.done += 1;
        match found {
            Ok((found, cut_lists)) => {
                searched.cut_lists += cut_lists;
                hits.extend(found);
            }
            Err(why) => ended = Err(why),
        }
        if pace.is_due() {
            send_hits(work, ticket, take(&mut hits), searched, None);
        }
        if ticket.cancel.is_cancelled() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    send_hits(work, ticket, hits, SearchProgress { done: searched.all, ..searched }, Some(ended));
    Ok(())
}

/// Returns the matching notes by report, each with its row if that still exists.
pub fn matching_notes(notes: Vec<Note>, pattern: &Pattern, reports: &[StoredReport]) -> Vec<HitGroup> {
    let mut groups = Vec::<HitGroup>::new();
    for note in notes {
        if !pattern.is_match(note.text.as_bytes()) {
            continue;
        }
        let at = row_of(&note.about, reports);
        let text = note.label();
        let NoteSubject { identifier, item } = note.about;
        let mut pieces = vec![Piece::Value(text)];
        pieces.extend(item.into_iter().flat_map(|item| [Piece::Own("  on ".into()), Piece::Detail(item.text)]));
        let hit = Hit { at, rank: 0, row: Row { label: Label::Known("note"), pieces } };
        let of = HitSource::Notes(note.file.or_else(|| identifier.parts().file), identifier);
        match groups.iter_mut().find(|group| group.source == of) {
            Some(group) => group.hits.push(hit),
            None => groups.push(HitGroup { source: of, count: 0, hits: vec![hit] }),
        }
    }
    groups.iter_mut().for_each(|group| group.count = group.hits.len() as u64);
    groups
}

/// Returns the row of a note on an item, if its report still has it.
fn row_of(about: &NoteSubject, reports: &[StoredReport]) -> Option<(Pane, RowPlace)> {
    let item = about.item.as_ref()?;
    let stored = reports.iter().find(|report| report.identifier == about.identifier)?;
    let report = Report::open(&stored.body().ok()?);
    let place = report.find_item(item)?;
    Some((report.section(place.section)?.pane(), place))
}

/// The hits in a report, and the number of its lists that the service may have cut.
type SearchedReport = (Option<HitGroup>, u64);

/// Searches stored reports concurrently; passes each one's hits in order, at most `most` decoded;
/// or why it cannot be searched: it is damaged, or another program deleted it.
pub fn search_each(
    reports: &[StoredReport],
    pattern: &Pattern,
    most: usize,
    cancel: &Cancel,
    tell: &mut dyn FnMut(Result<SearchedReport, String>) -> ControlFlow<()>,
) {
    let one = |stored: &StoredReport| {
        let StoredReport { file, identifier, elsewhere, .. } = stored.clone();
        let body = stored.body().map_err(|why| {
            let report = Request::Behaviour { identifier: identifier.clone() }.label();
            format!("the {report} cannot be searched: {why}")
        })?;
        let of = HitSource::Report(file, identifier, elsewhere);
        let report = Report::open(&body);
        let cut_lists = report.cut_lists(None).count() as u64;
        Ok((HitGroup::of_report(&report, of, pattern, most, cancel), cut_lists))
    };
    in_rounds(reports, CONCURRENT_REPORTS, one, tell);
}
