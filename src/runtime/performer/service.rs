//! Asks the service by way of the gateway, and takes its answers apart.

use super::{PACE, Performer, Work};
use crate::app::message::ResponseSource;
use crate::app::message::{Failure, HeldPage, Here, Response};
use crate::app::{ServiceCall, ServiceEvent};
use crate::gateway::{Answer, Cost, Gateway, GatewayError, Received, Rows};
use crate::quota::{Balances, Entitlements, Usage};
use crate::report::Analysis;
use crate::report::analysis::{submitted, upload_address};
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
            ServiceCall::Send { quote, source } => self.send_request(*quote, source),
            ServiceCall::Cancel(request) => self.gateway().into_iter().for_each(|gateway| gateway.cancel(&request)),
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
        let _ = gateway.store.note_file(&gateway.service, &submission.file, Some(&submission.name()), gateway.now());
    }
    // Before the response, so that the screen never shows one without the other. The app knows which calls are in flight.
    if let Ok(spent) = gateway.store.settled(&gateway.session) {
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
        Request::PrivateScan { to: Some(_), .. } => {
            let failure = failure(&error);
            Failure { cost: format!("{} The address for it was paid.", failure.cost), ..failure }
        }
        _ => failure(&error),
    })?;
    let is_free = matches!(request, Request::Quotas | Request::Usage { .. });
    parsed(request, answer).map_err(|why| match is_free {
        true => Failure { what: sentence(&why), cost: Cost::Nothing.to_string(), ..Failure::default() },
        false => {
            let cost = "Its price was paid.".to_owned();
            Failure { what: sentence(&why), cost, is_unsure: true, ..Failure::default() }
        }
    })
}

/// What a response says, or why it says nothing.
fn parsed(request: &Request, answer: Answer) -> Result<Response, String> {
    let (received, body) = (answer.received, answer.body);
    let useless = || "the answer is of no use".to_owned();
    match request {
        Request::Quotas => {
            let balances = Balances::parse(&body).ok().filter(|balances| !balances.counters.is_empty());
            balances.map(Response::Balances).ok_or_else(|| "the answer is no quota details".to_owned())
        }
        Request::Usage { .. } => {
            Usage::parse(&body).map(Response::Usage).map_err(|_| "the answer is no usage details".to_owned())
        }
        // Nothing but the privileges: the user object holds the key.
        Request::User => match serde_json::from_slice(&body) {
            Ok(user) => Ok(Response::Entitlements(Entitlements::of_user(&user, received))),
            Err(_) => Err("the answer is no user object".to_owned()),
        },
        Request::Behaviour { .. } => Ok(Response::Report(Here::new(received, body, answer.unkept))),
        Request::Behaviours { file, .. } => {
            let page = Page::of_file(&body, file).map_err(|error| error.to_string())?;
            Ok(Response::Page(HeldPage { received, page, unkept: answer.unkept }))
        }
        Request::Artefact { .. } => Ok(Response::Artefact(received, body.len() as u64)),
        Request::PrivateScan { .. } => submitted(&body).map(Response::Scan).ok_or_else(useless),
        Request::UploadAddress => {
            let address = upload_address(&body).ok_or_else(useless)?;
            Ok(Response::UploadUrl(UploadAddress::new(address)))
        }
        Request::PrivateAnalysis { .. } | Request::PrivateAnalyses { .. } => {
            Ok(Response::Progress(Analysis::of(&body)))
        }
        Request::PrivateDelete { .. } => Ok(Response::Deleted),
        _ if body.len() as u64 > LARGEST_TREE => {
            Err(format!("the answer is held, and is larger than {}", crate::text::bytes(LARGEST_TREE)))
        }
        _ => Ok(Response::Tree(received, lines(&body))),
    }
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
        | GatewayError::InFlight
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
    let is_elsewhere = matches!(error, GatewayError::InFlight);
    Failure { what: sentence(&error.to_string()), cost: cost.to_string(), advice, is_unsure, is_of_file, is_elsewhere }
}

/// An error's words as a sentence.
fn sentence(words: &str) -> String {
    let mut letters = words.chars();
    let first = letters.next().map(|first| first.to_uppercase().to_string()).unwrap_or_default();
    format!("{first}{}.", letters.as_str().trim_end_matches('.'))
}
