//! Asks the service by way of the gateway, and takes its answers apart.

use super::{PACE, Performer, Work};
use crate::app::effect::ResponseSource;
use crate::app::message::{Failure, HeldPage, Here, Response};
use crate::app::{ServiceCall, ServiceEvent};
use crate::gateway::{Answer, Cost, Gateway, GatewayError, Received, Rows};
use crate::quota::{Balances, Entitlements, Privileges, Usage};
use crate::report::Analysis;
use crate::report::analysis::{submitted, upload_address};
use crate::report::identifier::Sha256;
use crate::report::page::Page;
use crate::report::rows::lines;
use crate::request::{Quote, Request, UploadAddress};
use jiff::Timestamp;
use std::sync::{Arc, Mutex};
use std::time::Instant;

/// The largest answer that is looked at as a tree, in bytes: a line of it takes tens.
const LARGEST_TREE: u64 = 32 * 1024 * 1024;

impl Performer {
    pub(super) fn call_service(&self, call: ServiceCall) {
        match call {
            ServiceCall::Send { quote, source } => self.send_request(quote, source),
            ServiceCall::Cancel(request) => self.gateway().into_iter().for_each(|gateway| gateway.give_up(&request)),
        }
    }

    /// Gets a response at the price that was on the screen.
    fn send_request(&self, quote: Quote, source: ResponseSource) {
        let (Some(gateway), Some(runtime)) = (self.gateway(), &self.threads) else { return };
        let (work, gateway, request) = (self.work(), Arc::clone(gateway), quote.request().clone());
        let (outbox, call) =
            (self.outbox.clone(), runtime.spawn(async move { ask(&work, &gateway, &quote, source).await }));
        // A panic in the call must not leave it in flight forever.
        runtime.spawn(async move {
            if let Err(error) = call.await {
                let result = response(&request, Err(GatewayError::bug(&error)));
                outbox.send(ServiceEvent::Ended { request, result });
            }
        });
    }
}

async fn ask(work: &Work, gateway: &Gateway, quote: &Quote, source: ResponseSource) {
    let (request, is_paid, begun) = (quote.request().clone(), !quote.price().is_free(), gateway.now());
    let told = Mutex::new((Instant::now(), None));
    let progress = |received| {
        let request = || request.clone();
        let Ok(mut told) = told.lock() else { return };
        match received {
            Received::Rows(Rows { body, read, batch }) => {
                work.send(ServiceEvent::RowsStreamed { request: request(), body, read, batch });
            }
            // How long it is does not wait for a moment that may not come.
            Received::Bytes { bytes, total } if told.0.elapsed() >= PACE || told.1 != total => {
                *told = (Instant::now(), total);
                work.send(ServiceEvent::Progress { request: request(), bytes, total });
            }
            Received::Bytes { .. } => {}
            Received::NotBefore(at) => work.send(ServiceEvent::RateLimitedUntil(at)),
        }
    };
    let result = match source {
        ResponseSource::Held => gateway.get_held(quote),
        ResponseSource::HeldOrService => gateway.get(quote, &progress).await,
        ResponseSource::Service => gateway.ask(quote, &progress).await,
    };
    if let Request::PrivateScan { submission, .. } = &request
        && result.as_ref().err().is_none_or(GatewayError::may_have_arrived)
    {
        // The file is listed among the earlier ones by its name; without it by its hash alone.
        let _ = gateway.store().note_file(gateway.service(), &submission.file, Some(&submission.name()), gateway.now());
    }
    // Before the response, so that the screen never shows one without the other. The app knows which calls are in flight.
    if let Ok(spent) = gateway.settled() {
        work.send(ServiceEvent::Spent(spent));
    }
    if let Some(says_spent) = is_paid.then(|| says_spent(&result, begun)).flatten() {
        work.send(ServiceEvent::QuotaExhausted(says_spent));
    }
    if let Some(wait) = result.as_ref().err().filter(|_| is_paid).and_then(GatewayError::wait) {
        work.send(ServiceEvent::RateLimitedUntil(gateway.now().saturating_add(wait).unwrap_or(Timestamp::MAX)));
    }
    let result = response(&request, result).map(|response| match response {
        Response::Balances(balances) => {
            Response::Balances(balances.with_minute_limit(gateway.minute_limit().ok().flatten()))
        }
        other => other,
    });
    work.send(ServiceEvent::Ended { request, result });
}

/// Whether the service reports the quota as exceeded; none for a stored response, which reports neither.
fn says_spent(result: &Result<Answer, GatewayError>, begun: Timestamp) -> Option<bool> {
    match result {
        Ok(answer) => (answer.received >= begun).then_some(false),
        Err(error) => error.says_spent().then_some(true),
    }
}

fn response(request: &Request, result: Result<Answer, GatewayError>) -> Result<Response, Failure> {
    let answer = result.map_err(|error| match request {
        Request::Quotas => Failure::new(error.to_string()),
        _ => with_address(request, failure(&error)),
    })?;
    match request {
        Request::Quotas => balances(&answer).map(Response::Balances),
        Request::Behaviour { .. } => Ok(Response::Report(here(answer))),
        Request::Behaviours { file, .. } => page(answer, file).map(Response::Page),
        Request::User => entitled(&answer).map(Response::Entitlements),
        Request::Usage { .. } => used(&answer).map(Response::Usage),
        Request::Artefact { .. } => Ok(Response::Artefact(answer.received, answer.body.len() as u64)),
        Request::PrivateScan { .. } => told_by(&answer, submitted).map(Response::Scan),
        Request::UploadAddress => {
            told_by(&answer, upload_address).map(|address| Response::UploadUrl(UploadAddress::new(address)))
        }
        Request::PrivateAnalysis { .. } | Request::PrivateAnalyses { .. } => {
            told_by(&answer, |bytes| Some(Response::Progress(Analysis::of(bytes))))
        }
        Request::PrivateDelete { .. } => Ok(Response::Deleted),
        _ => tree(answer),
    }
}

/// The failure of an upload, with what its address cost before.
fn with_address(request: &Request, failure: Failure) -> Failure {
    match request {
        Request::PrivateScan { to: Some(_), .. } => {
            Failure { cost: format!("{} The address for it was paid.", failure.cost), ..failure }
        }
        _ => failure,
    }
}

fn balances(answer: &Answer) -> Result<Balances, Failure> {
    let balances = Balances::parse(&answer.body).ok().filter(|balances| !balances.counters().is_empty());
    balances.ok_or_else(|| Failure::new("the answer is no quota details".to_owned()))
}

fn here(answer: Answer) -> Here {
    Here::new(answer.received, answer.body, answer.unkept)
}

/// Nothing but the privileges: the user object holds the key.
fn entitled(answer: &Answer) -> Result<Entitlements, Failure> {
    let user = serde_json::from_slice(&answer.body).ok();
    let read = user.map(|user| Privileges::of_user(&user, answer.received).into());
    read.ok_or_else(|| useless("The answer is no user object.".to_owned()))
}

/// The failure of a call whose paid response says nothing.
fn useless(what: String) -> Failure {
    Failure { what, cost: "Its price was paid.".to_owned(), is_unsure: true, ..Failure::default() }
}

/// Reads a short response.
fn told_by<T>(answer: &Answer, read: impl FnOnce(&[u8]) -> Option<T>) -> Result<T, Failure> {
    read(&answer.body).ok_or_else(|| useless("The answer is of no use.".to_owned()))
}

fn used(answer: &Answer) -> Result<Usage, Failure> {
    let usage = Usage::parse(&answer.body).ok();
    usage.ok_or_else(|| Failure {
        what: "The answer is no usage details.".to_owned(),
        cost: Cost::Nothing.to_string(),
        ..Failure::default()
    })
}

/// An answer taken apart, a line a leaf.
fn tree(answer: Answer) -> Result<Response, Failure> {
    let unreadable = |why: String| Failure {
        what: sentence(&why),
        cost: "Its price was paid, and it is held.".to_owned(),
        ..Failure::default()
    };
    if answer.body.len() as u64 > LARGEST_TREE {
        return Err(unreadable(format!("the answer is larger than {}", crate::text::bytes(LARGEST_TREE))));
    }
    Ok(Response::Tree(answer.received, lines(&answer.body)))
}

fn page(answer: Answer, file: &Sha256) -> Result<HeldPage, Failure> {
    let page = Page::of_file(&answer.body, file).map_err(|error| useless(sentence(&error.to_string())))?;
    Ok(HeldPage { received: answer.received, page, unkept: answer.unkept })
}

fn failure(error: &GatewayError) -> Failure {
    let (cost, advice) = match error {
        GatewayError::Service { cost, line, .. } => {
            let logged = line.as_ref().map(|line| format!("Log line {line}."));
            let advice = [Some(error.advice()).filter(|advice| !advice.is_empty()), logged];
            (*cost, advice.into_iter().flatten().collect::<Vec<_>>().join(" "))
        }
        GatewayError::Offline => (Cost::Nothing, "Leave --offline out, and `offline` in the config file.".to_owned()),
        GatewayError::Ledger(_) | GatewayError::Store(_) => {
            (Cost::Nothing, "Check the disk's free space and the data folder's permissions.".to_owned())
        }
        GatewayError::NotEntitled(_)
        | GatewayError::NamesKey
        | GatewayError::NotHeld
        | GatewayError::UnderWay
        | GatewayError::UnderWayElsewhere
        | GatewayError::SentBefore(_) => (Cost::Nothing, String::new()),
        GatewayError::OverBudget(_) => (Cost::Nothing, "`behaview config show` says what sets the budget.".to_owned()),
        GatewayError::Internal(_) => (Cost::Perhaps(None), String::new()),
    };
    let is_unsure = matches!(error, GatewayError::Internal(_)) || error.may_have_arrived();
    let is_of_file = match error {
        GatewayError::Service { error, .. } => error.is_of_what_was_sent(),
        // The form reads the store again.
        GatewayError::SentBefore(_) => true,
        _ => false,
    };
    let is_elsewhere = matches!(error, GatewayError::UnderWayElsewhere);
    Failure { what: sentence(&error.to_string()), cost: cost.to_string(), advice, is_unsure, is_of_file, is_elsewhere }
}

/// An error's words as a sentence.
fn sentence(words: &str) -> String {
    let mut letters = words.chars();
    let first = letters.next().map(|first| first.to_uppercase().to_string()).unwrap_or_default();
    format!("{first}{}.", letters.as_str().trim_end_matches('.'))
}
