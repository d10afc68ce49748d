//! Searches one report's panes or every stored report, and sends hits as they are found.

use super::{PACE, Performer, Work, renew};
use crate::app::find::{Hit, HitGroup, HitSource, MOST_HITS, Ticket};
use crate::app::{SearchEvent, SearchJob};
use crate::gateway::Gateway;
use crate::report::find::{self, Pattern, Scope};
use crate::report::rows::Label;
use crate::report::rows::records::{leaves, pointer};
use crate::report::work::in_rounds;
use crate::report::{About, Cancel, Note, Pane, Piece, Place, Report, Row, RowSet, Section};
use crate::request::Request;
use crate::store::StoredReport;
use crate::text::Untrusted;
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::time::Instant;

/// Threads that search a report.
const THREADS: usize = 2;

/// Bytes that are shown of a field that is in no line.
const LONGEST_FIELD: usize = 200;

/// Reports that are searched at a time.
const TOGETHER: usize = 2;

impl Performer {
    pub(super) fn search(&mut self, job: SearchJob) {
        let gateway = self.gateway().cloned();
        let sifting = matches!(job, SearchJob::Comparison { .. }).then(|| renew(&mut self.sifting));
        self.spawn(move |work| match job {
            SearchJob::Filter { ticket, report, pattern, scope } => filter(work, &ticket, &report, &pattern, &scope),
            SearchJob::Panes { ticket, report, pattern, process } => {
                let keep = |place| !process.as_ref().is_some_and(|process| process.is_other_than(&report, place));
                find_hits(work, &ticket, &report, &pattern, &keep);
            }
            SearchJob::Stored { ticket, pattern } => {
                gateway.into_iter().for_each(|gateway| search_stored(work, &ticket, &gateway, &pattern));
            }
            SearchJob::Comparison { number, matrix, sought } => {
                if let Ok(found) = matrix.find(sought.as_bytes(), &sifting.unwrap_or_default()) {
                    work.send(SearchEvent::ComparisonFiltered { number, sought, found });
                }
            }
        });
    }
}

/// Sends hits to the loop: the first at once, the rest at a pace that leaves it free.
struct Teller<'a, T> {
    work: &'a Work,
    ticket: &'a Ticket,
    found: T,
    told: Option<Instant>,
}

impl<'a, T: Default> Teller<'a, T> {
    fn new(work: &'a Work, ticket: &'a Ticket) -> Self {
        Self { work, ticket, found: T::default(), told: None }
    }

    /// Sends the hits when it is time; returns whether to continue.
    fn tell(&mut self, is_first: bool, message: impl FnOnce(u64, T) -> SearchEvent) -> ControlFlow<()> {
        if self.ticket.cancel.is_cancelled() {
            return ControlFlow::Break(());
        }
        let is_time = self.told.map_or(is_first, |told| told.elapsed() >= PACE);
        if is_time {
            self.told = Some(Instant::now());
            self.work.send(message(self.ticket.number, std::mem::take(&mut self.found)));
        }
        ControlFlow::Continue(())
    }
}

fn filter(work: &Work, ticket: &Ticket, report: &Report, pattern: &Pattern, scope: &Scope) {
    let mut teller = Teller::<RowSet>::new(work, ticket);
    find::search(report, pattern, scope, THREADS, &ticket.cancel, &mut |rows| {
        teller.found.extend(&rows);
        let is_first = !teller.found.is_empty();
        teller.tell(is_first, |search, rows| SearchEvent::Rows { search, rows, ended: None })
    });
    work.send(SearchEvent::Rows { search: ticket.number, rows: teller.found, ended: Some(Ok(())) });
}

/// Searches a report and sends hits by pane, the first of each decoded; `keep` decides which rows count.
fn find_hits(work: &Work, ticket: &Ticket, report: &Report, pattern: &Pattern, keep: &dyn Fn(Place) -> bool) {
    let mut decoded = BTreeMap::<Pane, usize>::new();
    let mut teller = Teller::<Vec<HitGroup>>::new(work, ticket);
    find::search(report, pattern, &Scope::default(), THREADS, &ticket.cancel, &mut |rows| {
        for (section, rows) in rows.sections() {
            let Some(pane) = report.section(section).map(Section::pane) else { continue };
            let known = decoded.entry(pane).or_default();
            let room = MOST_HITS.saturating_sub(*known);
            let mut kept = rows.iter().filter(|row| keep(Place { section, row: **row as usize }));
            let hits: Vec<_> = kept.by_ref().take(room).map(|row| hit(report, pane, section, *row, pattern)).collect();
            *known += hits.len();
            let count = (hits.len() + kept.count()) as u64;
            teller.found.extend((count > 0).then_some(HitGroup { of: HitSource::Pane(pane), count, hits }));
        }
        let is_first = !teller.found.is_empty();
        teller.tell(is_first, |search, groups| SearchEvent::Hits { search, groups, searched: (0, 0), ended: None })
    });
    let ended = Some(Ok(()));
    work.send(SearchEvent::Hits { search: ticket.number, groups: teller.found, searched: (0, 0), ended });
}

fn search_stored(work: &Work, ticket: &Ticket, gateway: &Gateway, pattern: &Pattern) {
    let mut teller = Teller::<Vec<HitGroup>>::new(work, ticket);
    let store = &gateway.store;
    let read = store.notes().and_then(|notes| Ok((notes, store.every_report(&gateway.service)?)));
    let (notes, reports) = match read {
        Ok(found) => found,
        Err(error) => {
            let ended = Some(Err(error.to_string()));
            return work.send(SearchEvent::Hits { search: ticket.number, groups: Vec::new(), searched: (0, 0), ended });
        }
    };
    teller.found = matching_notes(notes, pattern, &reports);
    let (all, mut done, mut unreadable, mut has_hits) = (reports.len() as u64, 0, None, false);
    every_report(&reports, pattern, MOST_HITS, &ticket.cancel, &mut |found| {
        done += 1;
        match found {
            Ok(found) => teller.found.extend(found),
            Err(why) => unreadable = Some(why),
        }
        if !has_hits && !teller.found.is_empty() {
            // The first hits do not wait for their turn.
            (has_hits, teller.told) = (true, None);
        }
        teller.tell(true, |search, groups| SearchEvent::Hits { search, groups, searched: (done, all), ended: None })
    });
    let ended = Some(unreadable.map_or(Ok(()), Err));
    work.send(SearchEvent::Hits { search: ticket.number, groups: teller.found, searched: (done, all), ended });
}

fn hit(report: &Report, pane: Pane, section: usize, row: u32, pattern: &Pattern) -> Hit {
    let place = Place { section, row: row as usize };
    let mut row = report.row(section, place.row);
    let field = field(report, place, &row, pattern);
    row.pieces.extend(field.into_iter().flatten());
    let rank = report.section(section).map_or(0, |section| section.rank);
    Hit { at: Some((pane, place)), rank, row }
}

/// The field with the match, where the row's line does not show it.
fn field(report: &Report, place: Place, row: &Row, pattern: &Pattern) -> Option<[Piece; 4]> {
    if pattern.is_match(&row.text()) {
        return None;
    }
    let record = report.record(place);
    let mut found = None;
    leaves(&record.value, &mut |way, value| {
        let text = value.text();
        if found.is_none() && pattern.is_match(text.as_bytes()) {
            let start = text.as_bytes().get(..LONGEST_FIELD).unwrap_or(text.as_bytes());
            found = Some((pointer(way.iter().skip(1)), Untrusted::from(start)));
        }
    });
    let (name, text) = found.filter(|(name, _)| !name.is_empty())?;
    Some([Piece::Own("  ".into()), Piece::Detail(name), Piece::Own(": ".into()), Piece::Detail(text)])
}

/// The hits in a report, all counted and `most` of them decoded; none where there are none.
pub fn hits_of(
    report: &Report,
    of: HitSource,
    pattern: &Pattern,
    most: usize,
    (threads, cancel): (usize, &Cancel),
) -> Option<HitGroup> {
    let mut found = RowSet::default();
    find::search(report, pattern, &Scope::default(), threads, cancel, &mut |rows| {
        found.extend(&rows);
        ControlFlow::Continue(())
    });
    let sections = Pane::ALL.into_iter().flat_map(|pane| report.sections(pane).into_iter().map(move |n| (pane, n)));
    let places = sections.flat_map(|(pane, n)| found.rows(n).iter().map(move |row| (pane, n, *row)));
    let hits = places.map(|(pane, section, row)| hit(report, pane, section, row, pattern)).take(most).collect();
    (!found.is_empty()).then_some(HitGroup { of, count: found.len() as u64, hits })
}

/// The matching notes by report, each with its row where one of these reports still
/// has it.
pub fn matching_notes(notes: Vec<Note>, pattern: &Pattern, reports: &[StoredReport]) -> Vec<HitGroup> {
    let mut groups = Vec::<HitGroup>::new();
    for note in notes {
        if !pattern.is_match(note.text.as_bytes()) {
            continue;
        }
        let at = row_of(&note.about, reports);
        let About { identifier, item } = note.about;
        let mut pieces = vec![Piece::Value(note.text)];
        pieces.extend(item.into_iter().flat_map(|item| [Piece::Own("  on ".into()), Piece::Detail(item.text)]));
        let hit = Hit { at, rank: 0, row: Row { label: Label::Known("note"), pieces } };
        let file = note.file.or_else(|| identifier.parts().file);
        let of = HitSource::Notes { file, identifier };
        match groups.iter_mut().find(|group| group.of == of) {
            Some(group) => group.hits.push(hit),
            None => groups.push(HitGroup { of, count: 0, hits: vec![hit] }),
        }
    }
    groups.iter_mut().for_each(|group| group.count = group.hits.len() as u64);
    groups
}

/// The row of a note; none for one on a whole report, or on an item that is gone.
fn row_of(about: &About, reports: &[StoredReport]) -> Option<(Pane, Place)> {
    let item = about.item.as_ref()?;
    let stored = reports.iter().find(|report| report.identifier == about.identifier)?;
    let report = Report::open(&stored.body().ok()?);
    let place = report.find_item(item)?;
    Some((report.section(place.section)?.pane(), place))
}

/// Searches stored reports, several at a time, and hands over the hits of each in order, at most `most` of them
/// decoded; or why one cannot be searched: it is damaged, or another program deleted it meanwhile.
pub fn every_report(
    reports: &[StoredReport],
    pattern: &Pattern,
    most: usize,
    cancel: &Cancel,
    tell: &mut dyn FnMut(Result<Option<HitGroup>, String>) -> ControlFlow<()>,
) {
    let one = |stored: &StoredReport| {
        let StoredReport { file, identifier, received, elsewhere, .. } = stored.clone();
        let body = stored.body().map_err(|why| {
            let report = Request::Behaviour { identifier: identifier.clone() }.words();
            format!("the {report} cannot be searched: {why}")
        })?;
        let of = HitSource::Report { file, identifier, received, elsewhere };
        Ok(hits_of(&Report::open(&body), of, pattern, most, (1, cancel)))
    };
    in_rounds(reports, TOGETHER, one, tell);
}
