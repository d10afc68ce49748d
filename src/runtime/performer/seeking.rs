//! Searches reports, and sends hits as they are found.

use super::{PACE, Performer, Work};
use crate::app::find::{HitGroup, MOST_HITS, Ticket};
use crate::app::panes::facts::ProcessRef;
use crate::app::{Message, SearchEvent, SearchJob};
use crate::gateway::Gateway;
use crate::report::find::{self, Pattern, Scope};
use crate::report::{Report, RowSet};
use crate::runtime::search;
use std::ops::ControlFlow;
use std::time::Instant;

/// Threads that search a report.
const THREADS: usize = 2;

impl Performer {
    pub(super) fn search(&self, job: SearchJob) {
        let gateway = self.gateway().cloned();
        match job {
            SearchJob::Filter { ticket, report, pattern, scope } => {
                let search = ticket.number;
                let bug = move |why| SearchEvent::Rows { search, rows: RowSet::EMPTY, ended: Some(Err(why)) }.into();
                self.seek(ticket, move |work, ticket| filter(work, ticket, &report, &pattern, &scope), bug);
            }
            SearchJob::Panes { ticket, report, pattern, process } => {
                let bug = search_bug(&ticket);
                let search =
                    move |work: &Work, ticket: &Ticket| find_hits(work, ticket, &report, &pattern, process.as_ref());
                self.seek(ticket, search, bug);
            }
            SearchJob::Stored { ticket, pattern } => {
                let Some(gateway) = gateway else { return };
                let bug = search_bug(&ticket);
                self.seek(ticket, move |work, ticket| search_stored(work, ticket, &gateway, &pattern), bug);
            }
            SearchJob::Comparison { number, matrix, sought } => {
                let cancel = Self::renew(&self.sifting);
                let search = move |work: &Work| {
                    if let Ok(found) = matrix.find(sought.as_bytes(), &cancel) {
                        work.send(SearchEvent::ComparisonFiltered { number, sought, found });
                    }
                };
                self.spawn(search, Message::Notice);
            }
        }
    }

    /// Begins a search unless a newer one has replaced it meanwhile: each typed letter begins one.
    fn seek(
        &self,
        ticket: Ticket,
        search: impl FnOnce(&Work, &Ticket) + Send + 'static,
        bug: impl FnOnce(String) -> Message + Send + 'static,
    ) {
        let begin = move |work: &Work| {
            if !ticket.cancel.is_cancelled() {
                search(work, &ticket);
            }
        };
        self.spawn(begin, bug);
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

/// How a search ends that a bug has stopped.
fn search_bug(ticket: &Ticket) -> impl FnOnce(String) -> Message + Send + 'static {
    let search = ticket.number;
    move |why| SearchEvent::Hits { search, groups: Vec::new(), searched: (0, 0), ended: Some(Err(why)) }.into()
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

fn find_hits(work: &Work, ticket: &Ticket, report: &Report, pattern: &Pattern, process: Option<&ProcessRef>) {
    let keep = |place| !process.is_some_and(|process| process.is_other_than(report, place));
    let mut teller = Teller::<Vec<HitGroup>>::new(work, ticket);
    let limits = (THREADS, MOST_HITS);
    search::by_pane(report, pattern, limits, &ticket.cancel, &keep, &mut |groups| {
        teller.found.extend(groups);
        teller.tell(true, |search, groups| SearchEvent::Hits { search, groups, searched: (0, 0), ended: None })
    });
    let ended = Some(Ok(()));
    work.send(SearchEvent::Hits { search: ticket.number, groups: teller.found, searched: (0, 0), ended });
}

fn search_stored(work: &Work, ticket: &Ticket, gateway: &Gateway, pattern: &Pattern) {
    let mut teller = Teller::<Vec<HitGroup>>::new(work, ticket);
    let store = gateway.store();
    let read = store.notes().and_then(|notes| Ok((notes, store.every_report(gateway.service())?)));
    let (notes, reports) = match read {
        Ok(found) => found,
        Err(error) => {
            let ended = Some(Err(error.to_string()));
            return work.send(SearchEvent::Hits { search: ticket.number, groups: Vec::new(), searched: (0, 0), ended });
        }
    };
    teller.found = search::notes(notes, pattern, &reports);
    let (all, mut done, mut unreadable, mut has_hits) = (reports.len() as u64, 0, None, false);
    search::every_report(&reports, pattern, &ticket.cancel, &mut |outcome| {
        done = outcome.searched;
        match outcome.found {
            Ok(found) => teller.found.extend(found.map(|found| found.group)),
            Err(error) => unreadable = Some(error.to_string()),
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
