//! The artifacts of a report as a list: fetched at a price, stored, written to a file.

use crate::app::away::SaveForm;
use crate::app::over::{ListSource, ListView};
use crate::app::{Failure, Model, Overlay, Size};
use crate::export::file;
use crate::report::Report;
use crate::report::identifier::Identifier;
use crate::request::{Artefact, Request};
use crate::text::words_in_rows;
use jiff::Timestamp;

/// A list of what a sandbox kept beside its report.
pub type ArtefactList = ListView<Artefacts>;

/// The artefacts of a report that says that they exist.
#[derive(Debug)]
pub struct Artefacts {
    /// Each with since when it is stored, if it is.
    pub rows: Vec<(Artefact, Option<Timestamp>)>,
    /// The last call failed so.
    pub failure: Option<Failure>,
    identifier: Identifier,
}

impl Artefacts {
    /// The question for an artefact.
    pub fn request(&self, artefact: Artefact) -> Request {
        Request::Artefact { identifier: self.identifier.clone(), artefact }
    }

    /// The questions for all of them.
    pub(in crate::app) fn requests(&self) -> impl Iterator<Item = Request> + '_ {
        self.rows.iter().map(|(artefact, _)| self.request(*artefact))
    }

    fn failure_rows(&self, columns: usize) -> usize {
        self.failure.as_ref().map_or(0, |failure| words_in_rows(&failure.words(), columns).len())
    }
}

impl ListSource for Artefacts {
    type Row = (Artefact, Option<Timestamp>);

    fn rows(&self) -> &[Self::Row] {
        &self.rows
    }

    fn text((artefact, _): &Self::Row, _: Option<&Report>) -> String {
        artefact.words().to_owned()
    }

    fn beside(&self, room: Size) -> (usize, usize) {
        (0, self.failure_rows(room.width.into()))
    }

    fn height(&self, columns: usize) -> usize {
        self.rows.len() + self.failure_rows(columns)
    }
}

/// Whether the report that is open says that there is any.
pub(in crate::app) fn any(model: &Model) -> bool {
    model.chosen().is_some_and(|entry| entry.identifier.is_some())
        && model.open().is_some_and(|open| {
            Artefact::ALL.into_iter().any(|artefact| artefact.is_beside(&open.report) == Some(true))
        })
}

/// The question for the chosen one.
pub(in crate::app) fn chosen(model: &Model) -> Option<Request> {
    model
        .over
        .top_as::<ArtefactList>()
        .and_then(|list| list.chosen().map(|(artefact, _)| list.source.request(*artefact)))
}

pub(in crate::app) fn is_chosen_held(model: &Model) -> bool {
    model.over.top_as::<ArtefactList>().is_some_and(|list| list.chosen().is_some_and(|(_, since)| since.is_some()))
}

impl Model {
    pub(in crate::app) fn show_artefacts(&mut self) {
        let Some((identifier, open)) =
            self.chosen().and_then(|entry| Some((entry.identifier.clone()?, entry.open.as_ref()?)))
        else {
            return;
        };
        let claimed = Artefact::ALL.into_iter().filter(|artefact| artefact.is_beside(&open.report) == Some(true));
        let rows: Vec<_> = claimed.map(|artefact| (artefact, None)).collect();
        let list = ArtefactList::new(Artefacts { rows, failure: None, identifier });
        self.over.put(list);
        self.look_up()
    }

    pub(in crate::app) fn artefact_held(&mut self, request: &Request, since: Option<Timestamp>) {
        if let (Some(Overlay::Artefacts(list)), Request::Artefact { identifier, artefact }) =
            (self.over.top_mut(), request)
            && list.source.identifier == *identifier
        {
            list.source.rows.iter_mut().filter(|(row, _)| row == artefact).for_each(|row| row.1 = since);
        }
    }

    pub(in crate::app) fn on_artefact(&mut self, request: &Request, received: Timestamp, length: u64) {
        self.artefact_held(request, Some(received));
        self.artefacts_asking(request).into_iter().for_each(|list| list.source.failure = None);
        let what = match request {
            Request::Artefact { artefact, .. } => artefact.words().to_owned(),
            other => other.words(),
        };
        let length = crate::text::bytes(length);
        let way = match self.over.top() {
            Some(Overlay::Artefacts(_)) => format!("{} writes it to a file", self.way_to("fetch")),
            _ => format!("{} shows it, to be written to a file", self.way_to("artefacts")),
        };
        self.say(format!("Held: {what}, {length}. {way}."));
    }

    pub(in crate::app) fn on_artefact_failed(&mut self, request: &Request, failure: Failure) {
        match self.artefacts_asking(request) {
            Some(list) => list.source.failure = Some(failure),
            None => self.warn(failure.words()),
        }
    }

    /// The open list that has this request.
    fn artefacts_asking(&mut self, request: &Request) -> Option<&mut ArtefactList> {
        match self.over.top_mut() {
            Some(Overlay::Artefacts(list)) if list.source.requests().any(|asked| asked == *request) => Some(list),
            _ => None,
        }
    }

    /// Asks where the chosen artefact is written.
    pub(in crate::app) fn save_artefact(&mut self) {
        if let Some(request) = chosen(self)
            && let Request::Artefact { identifier, artefact } = &request
        {
            let name = file::name(Some(identifier), None, artefact.extension());
            self.over.put(SaveForm::held(request, name));
        }
    }
}
