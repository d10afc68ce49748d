//! Artefacts: put into the store as they come, in bounded memory, and gone on with where an earlier call ended.

use super::at_hand::AtHand;
use super::came::{Came, unkept_words};
use super::flight::GivenUp;
use super::reading::{is_page, unread};
use super::{Answer, Gate, GateError, Progress, Received};
use crate::report::Body;
use crate::report::json::Raw;
use crate::request::{Artefact, Request};
use crate::service::client::{Sink, Taken};
use crate::service::error::{ServiceError, Unusable};
use crate::service::is_version;
use crate::store::{AnswerId, BLOCK, Growing, Store, StoreError};
use jiff::Timestamp;
use std::io;
use std::sync::Arc;

/// How many bytes are gathered before they are written down: one write to disk for each.
const GATHERED: usize = 16 * BLOCK;

/// How many bytes that are here are asked for again, to see that what comes goes on where they end.
const OVERLAP: u64 = 4096;

/// Puts what comes behind what is here.
struct Grower<'a> {
    store: Arc<Store>,
    artefact: Artefact,
    id: AnswerId,
    /// What was here before, and is compared with what comes of it again.
    kept: Growing,
    /// Where what was asked for begins: far enough before the end of what is here to show that it goes on there, and to have the
    /// whole of a key of which a part is here.
    asked: u64,
    /// Where the next piece begins.
    at: u64,
    /// Where the answer begins: one from the first byte on is the whole of something, if not of what is here.
    start: u64,
    /// Whether the head of the answer says that it is of something else than the part that is here, by its length; none once the
    /// first piece has borne out what it is.
    is_other: Option<bool>,
    /// Which version of it the service says that it is.
    version: Option<String>,
    /// Bytes that are not written down yet, and where they begin: at a block's first byte.
    gathered: Vec<u8>,
    from: u64,
    /// Bytes that are written down: whether another program has gone on with it is told by them.
    here: u64,
    total: Option<u64>,
    progress: Progress<'a>,
    /// The profile, and what it is held under.
    of: (String, Vec<u8>),
    /// When it was asked for.
    now: Timestamp,
    /// All of it, once the store takes no more.
    at_hand: Option<AtHand>,
}

impl Gate {
    /// Fetches an artefact, or the rest of one.
    pub(super) async fn download(
        &self,
        request: &Request,
        artefact: Artefact,
        progress: Progress<'_>,
        given_up: &GivenUp,
    ) -> Result<Came, GateError> {
        let (profile, key) = (self.profile().to_owned(), request.holding_key().unwrap_or_default());
        let (now, of) = (self.now(), (profile.clone(), key.clone()));
        let kept = self.work(move |store| begin(store, &of.0, &of.1, now)).await?;
        let (kept, gathered) = match kept {
            Ok(kept) => kept,
            // Nothing has been sent: this is known before anything is asked.
            Err(error) => return Ok(Err(ServiceError::Unsendable(error.to_string())).into()),
        };
        let (id, length) = (kept.id, kept.body.len());
        let (store, from) = (Arc::clone(self.store()), length - gathered.len() as u64);
        let (here, again, version) = (length, again_from(&kept.body), kept.version.clone());
        let mut grower = Grower {
            store,
            artefact,
            id,
            kept,
            asked: again,
            at: 0,
            start: 0,
            is_other: None,
            version: None,
            gathered,
            from,
            here,
            total: None,
            progress,
            of: (profile.clone(), key.clone()),
            now,
            at_hand: None,
        };
        let fetched = tokio::select! {
            biased;
            () = std::future::ready(()), if given_up.is_said() => Err(ServiceError::Unsent),
            () = given_up.said() => Err(ServiceError::GivenUp),
            fetched = self.client.fetch(request, (again, version.as_deref()), &mut grower) => fetched,
        };
        let fetched = fetched.map_err(|error| {
            if goes_on_nowhere(&error, again) { ServiceError::Unusable(Unusable::OtherBytes) } else { error }
        });
        // What came of a lost answer is kept all the same.
        let written = grower.write_down(true).await;
        let fetched = fetched.and_then(|is_sure| written.map(|()| is_sure)).and_then(|is_sure| grower.judge(is_sure));
        let (received, id, here, at_hand) = (self.now(), grower.id, grower.here, grower.at_hand.take());
        self.work(move |store| match (fetched, at_hand) {
            (Ok(()), Some(at_hand)) => {
                let _ = store.forget_empty(id);
                Ok(at_hand.into_answer(received)).into()
            }
            (Ok(()), None) => whole(store, id, &profile, &key, (here, received)).into(),
            (Err(error), _) => broken_off(store, id, error),
        })
        .await
    }
}

/// What came of a call that brought no whole answer. What is here of it stays for the next call to go on from, unless it is of no use.
fn broken_off(store: &Store, id: AnswerId, error: ServiceError) -> Came {
    // What cannot be let go of now is written over by the next call.
    let _ = store.forget_empty(id);
    // What something in between has sent or packed says nothing of the part that is here.
    let is_of_others =
        matches!(error, ServiceError::Unusable(Unusable::Packed(_) | Unusable::WebPage | Unusable::NoFile));
    let aside = Some(id).filter(|_| matches!(error, ServiceError::Unusable(_)) && !is_of_others);
    match aside.map_or(Ok(()), |id| store.set_aside(id)) {
        Ok(()) => Came { taken: Err(error), aside },
        Err(why) => {
            Err(ServiceError::Unkept(format!("what is here of it is of no use, and cannot be set aside: {why}"))).into()
        }
    }
}

/// The answer that has come whole: held from now on, or read from where it grew if that cannot be written down any more.
fn whole(
    store: &Store,
    id: AnswerId,
    profile: &str,
    key: &[u8],
    (here, received): (u64, Timestamp),
) -> Result<Answer, ServiceError> {
    let held = store.grown(id, here, received).and_then(|()| store.answer(profile, key));
    match held {
        Ok(Some(held)) => Ok(Answer { received, body: held.body, unkept: None }),
        Ok(None) => Err(ServiceError::Unkept("it is not in the store".to_owned())),
        Err(error @ StoreError::Elsewhere) => Err(unkept(&error)),
        Err(error) => {
            let grown = store.growing(profile, key).ok().flatten().filter(|grown| grown.id == id);
            let grown = grown.filter(|grown| grown.body.len() == here).ok_or_else(|| unkept(&error))?;
            Ok(Answer { received, body: grown.body, unkept: Some(unkept_words(&error)) })
        }
    }
}

/// What a service says that has no such bytes (RFC 9110 §15.5.17).
const RANGE_NOT_SATISFIABLE: u16 = 416;

/// Whether the service has nothing there where the part that is kept was to go on: asked like that it would say so for ever.
fn goes_on_nowhere(error: &ServiceError, again: u64) -> bool {
    again > 0 && matches!(error, ServiceError::Refused(refusal) if refusal.status == RANGE_NOT_SATISFIABLE)
}

/// Why what came could not be put away: another program may have been quicker.
fn unkept(error: &StoreError) -> ServiceError {
    match error {
        StoreError::Elsewhere => ServiceError::Lost(error.to_string()),
        _ => ServiceError::Unkept(error.to_string()),
    }
}

/// What is here of it, and the bytes of its last block that is not full.
fn begin(store: &Store, profile: &str, key: &[u8], now: Timestamp) -> Result<(Growing, Vec<u8>), StoreError> {
    if let Some(mut kept) = store.growing(profile, key)? {
        // Without one, what comes is still compared with what is here.
        kept.version = kept.version.filter(|version| is_version(version));
        let length = kept.body.len();
        let tail = kept.body.window(length - length % BLOCK as u64..length);
        match tail {
            Ok(tail) => return Ok((kept, tail)),
            // A damaged part is of no use.
            Err(_) => store.set_aside(kept.id)?,
        }
    }
    let id = store.begin_growing(profile, key, now)?;
    Ok((nothing(id), Vec::new()))
}

/// What is here of an answer of which nothing has come.
fn nothing(id: AnswerId) -> Growing {
    Growing { id, body: Body::in_memory(Vec::new()), announced: None, version: None }
}

/// Where a further call begins. Not within a run of one byte: it may be a masked key, whose rest alone would not be known for one.
fn again_from(kept: &Body) -> u64 {
    let from = kept.len().saturating_sub(OVERLAP);
    let before = kept.window(from.saturating_sub(OVERLAP)..from).unwrap_or_default();
    let run = before.iter().rev().take_while(|byte| Some(*byte) == before.last()).count();
    from - run as u64
}

impl Grower<'_> {
    /// Bytes that are here, written down or not.
    fn length(&self) -> u64 {
        self.from + self.gathered.len() as u64
    }

    /// Whether what came is the whole. An end before that of what is here, or another than the service once announced, is none;
    /// one that nobody announced is believed when it comes a second time.
    fn judge(&self, is_sure: bool) -> Result<(), ServiceError> {
        let (here, end) = (self.kept.body.len(), self.at);
        let ended = |of: u64| Err(ServiceError::Lost(format!("it ended after {end} of {of} bytes")));
        match self.total.or(self.kept.announced) {
            _ if self.length() == 0 => Err(ServiceError::Unusable(Unusable::Cut)),
            whole if self.is_other.is_some() => ended(whole.unwrap_or(here)),
            Some(whole) if end > whole => Err(ServiceError::Unusable(Unusable::OtherBytes)),
            Some(whole) if end < whole => ended(whole),
            None if end < here => ended(here),
            None if !is_sure && end > here => Err(ServiceError::Lost(
                "the service did not say how long it is, so it may have been cut short; asking again settles that"
                    .to_owned(),
            )),
            _ => Ok(()),
        }
    }

    /// Notes what the service says of the whole, the first time it does: how long it is, and which version of it this is.
    async fn announce(&self) {
        let length = self.total.filter(|_| self.kept.announced.is_none());
        let version = self.version.clone().filter(|_| self.kept.version.is_none());
        // What goes on in memory is none of what is in the store.
        if self.at_hand.is_some() || length.is_none() && version.is_none() {
            return;
        }
        let (store, id) = (Arc::clone(&self.store), self.id);
        // Where it cannot be noted, a later call compares what comes with what is here all the same.
        let _ = tokio::task::spawn_blocking(move || store.announce(id, length, version.as_deref())).await;
    }

    /// Why a piece is none of what is here: words in the place of a file are of no other version of it.
    fn other(&self, piece: &[u8]) -> ServiceError {
        let is_json = self.at == 0 && piece.trim_ascii_start().starts_with(b"{");
        ServiceError::Unusable(if is_json { Unusable::NoFile } else { Unusable::OtherBytes })
    }

    /// Begins anew beside what is here, for what comes from the first byte on is of something else: it is kept from its own first byte
    /// on, though some of it may have been here. What is here is set aside once something of it stands; where the store takes nothing
    /// it goes on in memory.
    async fn begin_anew(&mut self, piece: &[u8]) -> Result<(), ServiceError> {
        if self.start > 0 || self.at == 0 && piece.trim_ascii_start().starts_with(b"{") {
            return Err(self.other(piece));
        }
        let (store, of, now) = (Arc::clone(&self.store), self.of.clone(), self.now);
        let begun = tokio::task::spawn_blocking(move || store.begin_growing(&of.0, &of.1, now));
        match begun.await.map_err(io::Error::from).map_err(unread)? {
            Ok(id) => self.id = id,
            Err(why) => self.at_hand = Some(AtHand::behind(None, 0, why)?),
        }
        let other = std::mem::replace(&mut self.kept, nothing(self.id)).body;
        (self.from, self.here) = (0, 0);
        self.gathered.clear();
        while self.length() < self.at {
            let next = self.length();
            self.gathered.extend(other.window(next..self.at.min(next + GATHERED as u64)).map_err(unread)?);
            self.write_down(false).await?;
        }
        self.announce().await;
        Ok(())
    }

    /// Compares what was here already, and keeps what is new.
    async fn put(&mut self, piece: &[u8]) -> Result<(), ServiceError> {
        if piece.is_empty() {
            return Ok(());
        }
        let is_other = self.is_other.take();
        if self.at == 0 && self.artefact != Artefact::Html && is_page(piece) {
            return Err(ServiceError::Unusable(Unusable::WebPage));
        }
        if self.at == 0 && Raw::new(piece).member("error").is_some() {
            return Err(ServiceError::Unusable(Unusable::NoFile));
        }
        if is_other == Some(true) {
            self.begin_anew(piece).await?;
        }
        let known = self.kept.body.len().saturating_sub(self.at).min(piece.len() as u64);
        let (again, mut new) =
            piece.split_at_checked(usize::try_from(known).unwrap_or(usize::MAX)).unwrap_or((piece, &[]));
        if !again.is_empty() {
            let here = self.kept.body.window(self.at..self.at + known);
            if here.map_err(unread)? != again {
                self.begin_anew(piece).await?;
                new = piece;
            }
        }
        if is_other.is_some() {
            self.announce().await;
        }
        self.gathered.extend_from_slice(new);
        self.at += piece.len() as u64;
        (self.progress)(Received::Bytes { bytes: self.at, total: self.total });
        if self.gathered.len() >= GATHERED { self.write_down(false).await } else { Ok(()) }
    }

    /// Writes down the full blocks that are gathered, or everything.
    async fn write_down(&mut self, is_last: bool) -> Result<(), ServiceError> {
        let length = if is_last { self.gathered.len() } else { self.gathered.len() / BLOCK * BLOCK };
        let rest = self.gathered.split_off(length);
        let bytes = std::mem::replace(&mut self.gathered, rest);
        if bytes.is_empty() {
            return Ok(());
        }
        self.from += length as u64;
        if let Some(at_hand) = &mut self.at_hand {
            return at_hand.hold(&bytes);
        }
        let (store, of, id) = (Arc::clone(&self.store), self.of.clone(), self.id);
        let (here, from) = (self.here, self.from - length as u64);
        let written = tokio::task::spawn_blocking(move || match store.grow(id, here, from, &bytes) {
            Ok(()) => Ok(None),
            Err(error @ StoreError::Elsewhere) => Err(unkept(&error)),
            Err(error) => {
                let kept = store.growing(&of.0, &of.1).ok().flatten();
                let mut at_hand = AtHand::behind(kept.as_ref().map(|kept| &kept.body), from, error)?;
                at_hand.hold(&bytes)?;
                Ok(Some(at_hand))
            }
        });
        self.at_hand = written.await.map_err(|error| ServiceError::Unkept(error.to_string()))??;
        if self.at_hand.is_none() {
            self.here = self.from;
        }
        Ok(())
    }
}

impl Sink for Grower<'_> {
    fn begin(&mut self, start: u64, total: Option<u64>, version: Option<String>) -> Taken<'_> {
        (self.start, self.at, self.total) = (start, start, total);
        // A part of something of another length is of something else.
        let is_other = |total| total < self.kept.body.len() || self.kept.announced.is_some_and(|whole| whole != total);
        // Nor is the rest of another version of it, or of one that does not say so though the part does (RFC 9110 §13.1.5; a date
        // may go unsaid, §15.3.7); what comes from the beginning is compared with all of the part.
        let is_tag = self.kept.version.as_ref().is_some_and(|kept| kept.starts_with('"'));
        let is_newer = (is_tag || version.is_some()) && self.kept.version.is_some() && version != self.kept.version;
        let is_other = total.is_some_and(is_other);
        if start > self.asked || start > 0 && (is_newer || is_other) {
            return Box::pin(std::future::ready(Err(ServiceError::Unusable(Unusable::OtherBytes))));
        }
        // Of what comes from the beginning the first piece says whether it is a file at all.
        (self.is_other, self.version) = (Some(is_other), version);
        Box::pin(std::future::ready(Ok(())))
    }

    fn take<'a>(&'a mut self, piece: &'a [u8]) -> Taken<'a> {
        Box::pin(self.put(piece))
    }
}
