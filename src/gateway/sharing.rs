//! Pays once for a group: takes responses from the team store, and shares responses, calls, notes.
//!
//! A copy passes the checks of a response before it is stored as if it were received then.

use super::reading::is_pending;
use super::{Gateway, GatewayError, OnProgress, Received, StoredResponse, find_parts};
use crate::log::Level;
use crate::report::page::Page;
use crate::report::{Body, Identifier, Note};
use crate::request::{Quote, Request};
use crate::service::error::ServiceError;
use crate::store::{NewResponse, RecordedCall, StoreError};
use crate::team::{Team, TeamAnswer, TeamCall, TeamCopy, TeamError, TeamQuestion, TeamUpload};
use std::fmt::Display;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

/// Interval of the questions whether a colleague's response is stored.
const CLAIM_POLL: Duration = Duration::from_millis(500);

/// Within this time a cut connection fails, and a silent database does not.
const QUICK: Duration = Duration::from_millis(100);

/// Further attempts to transfer a paid response, at the same interval.
const ATTEMPTS: usize = 6;

/// Copies that fail a check before the team store counts as failed: there may be any number.
const MAX_REFUSED: usize = 3;

impl Gateway {
    /// Returns the team store with the key of a shared response; never the API key.
    fn team_key(&self, request: &Request) -> Option<(&Arc<Team>, Vec<u8>)> {
        // A list of the group changes: a colleague's further page may be of another list.
        let is_listing = matches!(request, Request::GroupList { .. });
        let is_private = is_listing || self.client.tells_key(request);
        self.team.as_ref().zip(request.storage_key()).filter(|_| !is_private)
    }

    /// Asks the team before a call: takes what it has stored, or counts the call in its budgets.
    pub(super) async fn ask_team(
        &self,
        quote: &Quote,
        call: &RecordedCall,
        may_be_stored: bool,
        progress: OnProgress<'_>,
        cancel: &CancellationToken,
    ) -> Result<Option<(StoredResponse, String)>, GatewayError> {
        let request = quote.request();
        if may_be_stored && let Some(taken) = self.take_from_team(request, call, progress, cancel).await? {
            return Ok(Some(taken));
        }
        let counted = self.count_in_budgets(quote, call, progress).await;
        if counted.is_err() {
            self.note_sent(request, false).await;
        }
        counted.map(|()| None)
    }

    /// Returns an error unless calls are sent while the team store does not respond.
    pub(super) fn go_on_without(
        &self,
        team: &Team,
        why: TeamError,
        progress: OnProgress<'_>,
    ) -> Result<(), GatewayError> {
        if !team.goes_on() {
            return Err(GatewayError::Team(why));
        }
        self.team_notice(&why).into_iter().for_each(|notice| progress(Received::Notice(notice)));
        Ok(())
    }

    /// Takes a response from the team store; waits while a colleague's request is in flight. `None`
    /// if it is to be sent: then it is claimed, unless the team store does not respond.
    async fn take_from_team(
        &self,
        request: &Request,
        call: &RecordedCall,
        progress: OnProgress<'_>,
        cancel: &CancellationToken,
    ) -> Result<Option<(StoredResponse, String)>, GatewayError> {
        let Some((team, key)) = self.team_key(request) else { return Ok(None) };
        let token = format!("{}-{}", self.session, call.entry);
        let mut refused = Vec::new();
        let mut waits_for = None;
        let mut is_cut = false;
        loop {
            let asked = Instant::now();
            let question = TeamQuestion { service: &self.service, key: &key, token: &token, refused: &refused };
            match team.ask(question).await {
                Ok(TeamAnswer::Stored(copy)) => match self.take_copy(team, request, &copy, progress).await {
                    Ok(stored) => return Ok(Some((stored, copy.label()))),
                    Err(why) if why.is_temporary() => return self.go_on_without(team, why, progress).map(|()| None),
                    Err(why) => {
                        let person = copy.person.visible_cut(40);
                        progress(Received::Notice(format!("the copy that {person} has shared is not used: {why}")));
                        self.log.write(Level::Error, "team copy not used", &[("why", &why)]);
                        refused.push(copy.id);
                        if refused.len() >= MAX_REFUSED {
                            return self.go_on_without(team, why, progress).map(|()| None);
                        }
                    }
                },
                Ok(TeamAnswer::InFlight(person)) => {
                    let person = person.visible_cut(40);
                    if waits_for.as_ref() != Some(&person) {
                        progress(Received::Notice(format!(
                            "{person} is fetching it: the team pays once, so this waits"
                        )));
                        waits_for = Some(person);
                    }
                    if cancel.run_until_cancelled(tokio::time::sleep(CLAIM_POLL)).await.is_none() {
                        return Err(GatewayError::unsent(ServiceError::Unsent));
                    }
                }
                Ok(TeamAnswer::Claimed(claim)) => {
                    let mut state = self.state();
                    state.claims.push(claim);
                    state.sending.insert(key);
                    return Ok(None);
                }
                Ok(TeamAnswer::ReadOnly) => return Ok(None),
                // A connection that was cut is made again at once.
                Err(why) if why.is_temporary() && !is_cut && asked.elapsed() < QUICK => {
                    is_cut = true;
                    team.forget_failure();
                }
                Err(why) => return self.go_on_without(team, why, progress).map(|()| None),
            }
        }
    }

    /// Returns the response in the store, or else in the team store; never sends a request.
    pub async fn get_shared(&self, quote: &Quote, progress: OnProgress<'_>) -> Result<StoredResponse, GatewayError> {
        let request = quote.request();
        let Some((team, key)) = self.team_key(request) else { return self.get_stored(quote) };
        if let Some(stored) = self.stored(request)? {
            return Ok(stored);
        }
        let found = team.find_each(&self.service, &[key]).await.map_err(GatewayError::Team)?.pop();
        let copy = found.ok_or(GatewayError::NotStored)?;
        self.take_copy(team, request, &copy, progress).await.map_err(GatewayError::Team)
    }

    /// Of these requests, those whose responses the team store has.
    pub async fn find_shared(&self, requests: &[Request]) -> Result<Vec<(Request, TeamCopy)>, TeamError> {
        let keyed: Vec<_> = requests.iter().filter_map(|request| Some((request, self.team_key(request)?.1))).collect();
        let Some(team) = self.team.as_ref().filter(|_| !keyed.is_empty()) else { return Ok(Vec::new()) };
        let keys: Vec<_> = keyed.iter().map(|(_, key)| key.clone()).collect();
        let copies = team.find_each(&self.service, &keys).await?;
        let request = |copy: TeamCopy| Some(((*keyed.iter().find(|(_, key)| *key == copy.key)?.0).clone(), copy));
        Ok(copies.into_iter().filter_map(request).collect())
    }

    /// Checks a copy like a response, stores it as if received then; of a list, its reports too.
    async fn take_copy(
        &self,
        team: &Arc<Team>,
        request: &Request,
        copy: &TeamCopy,
        progress: OnProgress<'_>,
    ) -> Result<StoredResponse, TeamError> {
        let stored = self.take_one(team, request, copy, progress).await?;
        if let Request::Behaviours { file, .. } = request {
            let page = Page::of_file(&stored.body, file).map_err(unusable)?;
            let listed = page.entries.into_iter().map(|entry| Request::Behaviour { identifier: entry.identifier });
            let missing: Vec<_> =
                listed.filter(|report| self.stored(report).is_ok_and(|found| found.is_none())).collect();
            // One that cannot be taken has a price of its own.
            for (report, copy) in self.find_shared(&missing).await.unwrap_or_default() {
                let _ = self.take_one(team, &report, &copy, progress).await;
            }
        }
        Ok(stored)
    }

    async fn take_one(
        &self,
        team: &Arc<Team>,
        request: &Request,
        copy: &TeamCopy,
        progress: OnProgress<'_>,
    ) -> Result<StoredResponse, TeamError> {
        let report = |bytes, total| progress(Received::Bytes { bytes, total: Some(total) });
        let limit = self.client.max_bytes(request);
        let mut attempts = ATTEMPTS;
        let bytes = loop {
            match team.read(copy, limit, report).await {
                Err(why) if why.is_temporary() && pause(team, &mut attempts).await => {}
                read => break read?,
            }
        };
        let body = Body::in_memory(bytes);
        let parts = find_parts(request, &body).map_err(unusable)?;
        if is_pending(request, &body) {
            return Err(unusable("it is not final"));
        }
        let received = copy.received.min((self.clock)());
        let service = &*self.service;
        let profile = &*self.client.profile().name;
        let new = NewResponse { service, profile, key: &copy.key, received, bytes: &body, imported: None };
        let is_stored = self.store.write_response(&new).and_then(|()| self.store.move_read(&new, &parts, false));
        is_stored.map_err(unusable)?;
        let label = copy.label();
        self.log.write(Level::Info, "team", &[("what", &request.label()), ("from", &label)]);
        Ok(self.stored(request).ok().flatten().unwrap_or_else(|| StoredResponse::new(received, body)))
    }

    /// Records that a response is to be shared: before its request is sent, as the program may be
    /// killed once it is stored.
    pub(super) fn note_sending(&self, request: &Request) {
        let Some((_, key)) = self.team_key(request) else { return };
        self.record_unshared(&key);
        self.state().sending.insert(key);
    }

    fn record_unshared(&self, key: &[u8]) {
        if let Err(why) = self.store.record_unshared(&self.service, key, &self.session) {
            self.log.write(Level::Error, "not to be shared", &[("why", &why)]);
        }
    }

    /// Ends what [`Self::note_sending`] began; after a failed call colleagues may send it.
    pub(super) async fn note_sent(&self, request: &Request, is_stored: bool) {
        let Some((_, key)) = self.team_key(request) else { return };
        self.state().sending.remove(&key);
        if is_stored {
            // Another program with this store may have found no response to share.
            return self.record_unshared(&key);
        }
        self.release_claim(&key).await;
    }

    async fn release_claim(&self, key: &[u8]) {
        let claim = {
            let claims = &mut self.state().claims;
            claims.iter().position(|claim| claim.is_for(key)).map(|at| claims.swap_remove(at))
        };
        if let Some(claim) = claim {
            claim.release().await;
        }
    }

    /// Shares what is stored but not yet shared; returns a message once the team store is silent.
    pub async fn share(&self) -> Option<String> {
        let team = self.team.as_ref()?;
        let one = self.sharing.lock().await;
        let mut upload = team.upload();
        let mut shared_keys = Vec::new();
        for (record, key) in self.store.unshared(&self.service).ok()? {
            if self.state().sending.contains(&key) {
                continue;
            }
            let shared = match self.store.own_response(&self.service, &key) {
                Ok(Some((received, bytes))) => {
                    // A colleague would pay for what is claimed once this program has ended.
                    let mut attempts = if self.state().claims.is_empty() { 0 } else { ATTEMPTS };
                    loop {
                        match upload.add(&self.service, &key, received, &bytes).await {
                            Err(why) if why.is_temporary() && pause(team, &mut attempts).await => {}
                            added => break added,
                        }
                    }
                }
                // It was deleted.
                Ok(None) => Ok(()),
                Err(why) => {
                    self.log.write(Level::Error, "not shared", &[("why", &why)]);
                    continue;
                }
            };
            if let Err(why) = &shared {
                self.log.write(Level::Error, "not shared", &[("why", why)]);
            }
            self.release_claim(&key).await;
            if let Some(why) = shared.err().filter(TeamError::is_temporary) {
                return self.team_notice(&why);
            }
            let _ = self.store.forget_unshared(record, &key);
            shared_keys.push(key);
        }
        // What calls cost can wait: responses are free for others once they are shared.
        self.or_logged("calls not shared", self.share_calls(&mut upload).await);
        self.or_logged("notes not shared", self.share_notes(&mut upload).await);
        // The next response does not wait until values are counted.
        drop((one, upload));
        let _one = self.counting.lock().await;
        self.or_logged("values not shared", self.share_values(team, shared_keys).await);
        None
    }

    async fn share_notes(&self, upload: &mut TeamUpload<'_>) -> Result<(), String> {
        let unshared = self.store.unshared_notes(&self.service, &self.session);
        let (machine, notes) = unshared.map_err(|error| error.to_string())?;
        for (number, note) in notes {
            let added = upload.add_note(&self.service, &machine, number, &note).await;
            // One that no database takes would hold back the others.
            if let Some(why) = added.err().filter(|why| !matches!(why, TeamError::TooLarge)) {
                return Err(why.to_string());
            }
            self.store.record_shared_note(number).map_err(|error| error.to_string())?;
        }
        Ok(())
    }

    /// Records that a note just written is to be shared; one without text deletes a shared one.
    pub fn record_unshared_note(&self, note: &Note) -> Result<(), StoreError> {
        match &self.team {
            Some(_) => self.store.record_unshared_note(&self.service, note, &self.session),
            None => Ok(()),
        }
    }

    /// Copies colleagues' notes on these reports into the store; returns whether any has changed.
    pub async fn copy_notes(&self, reports: &[Identifier]) -> bool {
        let Some(team) = self.team.as_ref().filter(|_| !reports.is_empty()) else { return false };
        let Ok(machine) = self.store.machine(&self.session) else { return false };
        let copied = match team.notes(&self.service, &machine, reports).await {
            Ok(notes) => self.store.replace_team_notes(reports, &notes).map_err(|error| error.to_string()),
            Err(why) => Err(why.to_string()),
        };
        self.or_logged("notes not copied", copied)
    }

    /// Returns a result that no call waits for; logs a failure.
    pub(super) fn or_logged<T: Default>(&self, what: &str, result: Result<T, impl Display>) -> T {
        result.unwrap_or_else(|why| {
            self.log.write(Level::Error, what, &[("why", &why)]);
            T::default()
        })
    }

    /// Shares the calls of the ledger whose entries have changed.
    async fn share_calls(&self, upload: &mut TeamUpload<'_>) -> Result<(), String> {
        let unshared = self.store.unshared_calls(self.payer(), &self.session).map_err(|error| error.to_string())?;
        if unshared.calls.is_empty() {
            return Ok(());
        }
        let projects = self.store.projects().map_err(|error| error.to_string())?;
        let calls = unshared.calls.iter().map(|(entry, _)| TeamCall {
            number: entry.number,
            at: entry.at,
            operation: entry.operation.clone(),
            unit: entry.unit.clone(),
            charged: entry.counts_as,
            saved: entry.saved(),
            project: projects.get(&entry.session).cloned().unwrap_or_default(),
            file: entry.file.clone().unwrap_or_default(),
        });
        let added = upload.add_calls(&unshared.machine, &self.service, &calls.collect::<Vec<_>>()).await;
        added.map_err(|error| error.to_string())?;
        self.store.record_shared_calls(&unshared).map_err(|error| error.to_string())
    }

    /// Returns a message about a team store that does not respond, once until it does again.
    fn team_notice(&self, why: &TeamError) -> Option<String> {
        let team = self.team.as_ref()?;
        team.note_failure().then(|| format!("{why}. Calls are paid for, and shared later"))
    }
}

fn unusable(why: impl ToString) -> TeamError {
    TeamError::Unusable(why.to_string())
}

/// Waits a moment for a team store that may be starting; returns whether to try again.
async fn pause(team: &Team, attempts: &mut usize) -> bool {
    let Some(left) = attempts.checked_sub(1) else { return false };
    *attempts = left;
    tokio::time::sleep(CLAIM_POLL).await;
    team.forget_failure();
    true
}
