//! The sandboxes of a list in their order. A list may be long, and every key and every frame asks something of it: each sandbox is
//! found by its identifier at once, those with an open report are known, and what is asked of all of them is worked out once, until a
//! report comes or the sandboxes are others.

use super::entry::Entry;
use crate::report::identifier::Identifier;
use crate::request::Request;
use std::cell::OnceCell;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

/// The sandboxes of a list.
#[derive(Debug, Default)]
pub(super) struct Entries {
    all: Vec<Entry>,
    places: HashMap<Identifier, usize>,
    /// Places of those that were given out to be changed: no others can have a report that is open.
    touched: BTreeSet<usize>,
    tally: OnceCell<Tally>,
}

/// What is asked of all of them.
#[derive(Debug)]
struct Tally {
    /// The questions for the reports that are not here.
    missing: Arc<[Request]>,
    /// How many reports are here.
    held: usize,
}

impl Entries {
    /// These; of several with the same identifier the first one is found by it.
    pub(super) fn new(entries: impl IntoIterator<Item = Entry>) -> Self {
        let mut all = Self::default();
        entries.into_iter().for_each(|entry| all.push(entry));
        all
    }

    pub(super) fn push(&mut self, entry: Entry) {
        self.tally.take();
        if let Some(identifier) = entry.identifier.clone() {
            self.places.entry(identifier).or_insert(self.all.len());
        }
        if entry.open.is_some() {
            self.touched.insert(self.all.len());
        }
        self.all.push(entry);
    }

    /// All of them, to be put in another order.
    pub(super) fn into_all(self) -> Vec<Entry> {
        self.all
    }

    pub(super) fn all(&self) -> &[Entry] {
        &self.all
    }

    /// One of them, to be changed in anything but whether its report is here.
    pub(super) fn get_mut(&mut self, place: usize) -> Option<&mut Entry> {
        self.touched.insert(place);
        self.all.get_mut(place)
    }

    /// Those with a report that is open, with their places.
    pub(super) fn opened_mut(&mut self) -> impl Iterator<Item = (usize, &mut Entry)> {
        let all = &self.all;
        self.touched.retain(|place| all.get(*place).is_some_and(|entry| entry.open.is_some()));
        let mut rest = self.all.iter_mut();
        self.touched.iter().scan(0, move |next, place| {
            let skipped = place - *next;
            *next = place + 1;
            rest.nth(skipped).map(|entry| (*place, entry))
        })
    }

    pub(super) fn place_of(&self, identifier: &Identifier) -> Option<usize> {
        self.places.get(identifier).copied()
    }

    /// Changes one that may get its report by that.
    pub(super) fn change<T>(&mut self, place: usize, change: impl FnOnce(&mut Entry) -> T) -> Option<T> {
        self.tally.take();
        self.get_mut(place).map(change)
    }

    /// The questions for the reports that are not here.
    pub(super) fn missing(&self) -> &Arc<[Request]> {
        &self.tally().missing
    }

    /// How many reports are here.
    pub(super) fn held(&self) -> usize {
        self.tally().held
    }

    fn tally(&self) -> &Tally {
        self.tally.get_or_init(|| {
            let missing = self.all.iter().filter(|entry| entry.here().is_none());
            let question = |entry: &Entry| Some(Request::Behaviour { identifier: entry.identifier.clone()? });
            let held = self.all.iter().filter(|entry| entry.here().is_some()).count();
            Tally { missing: missing.filter_map(question).collect(), held }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::list::OpenReport;
    use crate::app::message::{HeldReport, Here, Opening};
    use crate::report::body::Body;
    use jiff::Timestamp;

    fn identifier(number: usize) -> Identifier {
        Identifier::new(format!("sandbox-{number}").as_str().into()).unwrap()
    }

    fn held(number: usize) -> HeldReport {
        let body = Body::in_memory(b"{}".to_vec());
        let here = Here { received: Timestamp::UNIX_EPOCH, body, unkept: None };
        HeldReport { identifier: identifier(number), here, imported: None }
    }

    #[test]
    fn what_a_frame_asks_of_all_sandboxes_is_worked_out_once() {
        let mut entries = Entries::new((0..30_000).map(|number| Entry::new(Some(identifier(number)))));
        let first = Arc::clone(entries.missing());
        entries.get_mut(7).unwrap().failure = None;
        assert!(Arc::ptr_eq(&first, entries.missing()), "nothing of it has changed");
        entries.change(29_999, |entry| entry.take_newer(&held(29_999)));
        assert_eq!((first.len(), entries.missing().len(), entries.held()), (30_000, 29_999, 1));
        entries.push(Entry::new(Some(identifier(30_000))));
        assert_eq!((entries.missing().len(), entries.place_of(&identifier(30_000))), (30_000, Some(30_000)));
    }

    #[test]
    fn sandboxes_with_an_open_report_are_known_by_their_places() {
        let mut entries = Entries::new((0..9).map(|number| Entry::new(Some(identifier(number)))));
        for place in [7, 2, 4] {
            let open = OpenReport::new(Opening(place as u64), Body::in_memory(b"{}".to_vec()), &[]);
            entries.get_mut(place).unwrap().open = Some(open);
        }
        entries.get_mut(4).unwrap().open = None;
        let known: Vec<_> =
            entries.opened_mut().map(|(place, entry)| (place, entry.open.as_ref().unwrap().opening)).collect();
        assert_eq!(known, [(2, Opening(2)), (7, Opening(7))]);
    }

    #[test]
    fn of_two_with_one_identifier_the_first_is_found() {
        let entries =
            Entries::new([Entry::new(None), Entry::new(Some(identifier(1))), Entry::new(Some(identifier(1)))]);
        assert_eq!(entries.place_of(&identifier(1)), Some(1));
    }
}
