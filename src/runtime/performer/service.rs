//! Asks the service by way of the gate, and takes its answers apart.

use super::{PACE, Performer, Work};
use crate::app::Message;
use crate::app::effect::Source;
use crate::app::message::{Failure, HeldPage, Here};
use crate::gate::{Answer, Cost, Gate, GateError, Received, Rows};
use crate::quota::{Balances, Entitlements, Usage};
use crate::report::Analysis;
use crate::report::analysis::{submitted, upload_address};
use crate::report::identifier::Sha256;
use crate::report::page::Page;
use crate::report::rows::{Line, lines};
use crate::request::{Quote, Request, UploadAddress};
use jiff::Timestamp;
use std::sync::{Arc, Mutex};
use std::time::Instant;

/// The largest answer that is looked at as a tree, in bytes: a line of it takes tens.
const LARGEST_TREE: u64 = 32 * 1024 * 1024;

impl Performer {
    /// Gets an answer, at the price that was on the screen.
    pub(super) fn ask(&self, quote: Quote, source: Source) {
        let (Some(gate), Some(runtime)) = (self.gate(), &self.threads) else { return };
        let (work, gate, request) = (self.work(), Arc::clone(gate), quote.request().clone());
        let (outbox, call) =
            (self.outbox.clone(), runtime.spawn(async move { ask(&work, &gate, &quote, source).await }));
        // A bug in the call must not leave it under way for ever.
        runtime.spawn(async move {
            if let Err(error) = call.await {
                outbox.send(message(request, Err(GateError::bug(&error))));
            }
        });
    }

    /// Waits no longer for an answer.
    pub(super) fn give_up(&self, request: &Request) {
        self.gate().into_iter().for_each(|gate| gate.give_up(request));
    }

    /// Finds out whether an answer is held.
    pub(super) fn look_up(&self, request: Request) {
        self.with_gate(move |gate, work| {
            let since = gate.held(&request).ok().flatten().map(|held| held.received);
            work.send(Message::LookedUp { request, since });
        });
    }
}

async fn ask(work: &Work, gate: &Gate, quote: &Quote, source: Source) {
    let (request, is_paid, begun) = (quote.request().clone(), !quote.price().is_free(), gate.now());
    let told = Mutex::new((Instant::now(), None));
    let progress = |received| {
        let request = || request.clone();
        let Ok(mut told) = told.lock() else { return };
        match received {
            Received::Rows(Rows { body, read, batch }) => {
                work.send(Message::Arriving { request: request(), body, read, batch });
            }
            // How long it is does not wait for a moment that may not come.
            Received::Bytes { bytes, total } if told.0.elapsed() >= PACE || told.1 != total => {
                *told = (Instant::now(), total);
                work.send(Message::Received { request: request(), bytes, total });
            }
            Received::Bytes { .. } => {}
        }
    };
    let result = match source {
        Source::Held => gate.get_held(quote),
        Source::HeldOrService => gate.get(quote, &progress).await,
        Source::Service => gate.ask(quote, &progress).await,
    };
    if let Request::PrivateScan { submission, .. } = &request
        && result.as_ref().err().is_none_or(GateError::may_have_arrived)
    {
        // The file is listed among the earlier ones by its name; without it by its hash alone.
        let _ = gate.store().note_file(gate.service(), &submission.file, Some(&submission.name()), gate.now());
    }
    // Before the answer, so that the screen never shows one without the other. What else is under way the app knows itself.
    if let Ok(spent) = gate.settled() {
        work.send(Message::Spent(spent));
    }
    if let Some(says_spent) = is_paid.then(|| says_spent(&result, begun)).flatten() {
        work.send(Message::SaysSpent(says_spent));
    }
    if let Some(wait) = result.as_ref().err().filter(|_| is_paid).and_then(GateError::wait) {
        work.send(Message::WaitUntil(gate.now().saturating_add(wait).unwrap_or(Timestamp::MAX)));
    }
    work.send(message(request, result));
}

/// Whether the service says that the quota is spent; none where it says nothing of it, as what was held does not.
fn says_spent(result: &Result<Answer, GateError>, begun: Timestamp) -> Option<bool> {
    match result {
        Ok(answer) => (answer.received >= begun).then_some(false),
        Err(error) => error.says_spent().then_some(true),
    }
}

fn message(request: Request, result: Result<Answer, GateError>) -> Message {
    if request == Request::Quotas {
        return Message::Balances(balances(result));
    }
    let result = result.map_err(|error| with_address(&request, failure(&error)));
    match request {
        Request::Behaviours { ref file, .. } => {
            let result = result.and_then(|answer| page(answer, file));
            Message::Listed { request, result }
        }
        Request::User => Message::Entitled { request, result: result.and_then(|answer| entitled(&answer)) },
        Request::Usage { .. } => Message::Used { request, result: result.and_then(|answer| used(&answer)) },
        Request::Artefact { .. } => {
            let result = result.map(|answer| (answer.received, answer.body.len() as u64));
            Message::Fetched { request, result }
        }
        Request::PrivateScan { .. } => {
            let result = result.and_then(|answer| told_by(&answer, submitted));
            Message::Submitted { request, result }
        }
        Request::UploadAddress => {
            let address = result.and_then(|answer| told_by(&answer, upload_address));
            Message::Addressed(address.map(UploadAddress::new))
        }
        Request::PrivateAnalysis { .. } | Request::PrivateAnalyses { .. } => {
            let result = result.and_then(|answer| told_by(&answer, |bytes| Some(Analysis::of(bytes))));
            Message::Looked { request, result }
        }
        Request::PrivateDelete { .. } => Message::Deleted { request, result: result.map(drop) },
        Request::Behaviour { .. } => Message::Answered { request, result: result.map(here) },
        _ => Message::Told { request, result: result.and_then(told) },
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

fn balances(result: Result<Answer, GateError>) -> Result<Balances, String> {
    let body = result.map_err(|error| error.to_string())?.body;
    let balances = Balances::parse(&body).ok().filter(|balances| !balances.counters().is_empty());
    balances.ok_or_else(|| "the answer is no quota details".to_owned())
}

fn here(answer: Answer) -> Here {
    Here { received: answer.received, body: answer.body, unkept: answer.unkept }
}

/// Nothing but the privileges: the user object holds the key.
fn entitled(answer: &Answer) -> Result<Entitlements, Failure> {
    let user = serde_json::from_slice(&answer.body).ok();
    user.map(|user| Entitlements::from_user(&user)).ok_or_else(|| Failure {
        what: "The answer is no user object.".to_owned(),
        cost: "Its price was paid.".to_owned(),
        is_unsure: true,
        ..Failure::default()
    })
}

/// Something that a short answer tells.
fn told_by<T>(answer: &Answer, read: impl FnOnce(&[u8]) -> Option<T>) -> Result<T, Failure> {
    read(&answer.body).ok_or_else(|| Failure {
        what: "The answer is of no use.".to_owned(),
        cost: "Its price was paid.".to_owned(),
        is_unsure: true,
        ..Failure::default()
    })
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
fn told(answer: Answer) -> Result<(Timestamp, Vec<Line>), Failure> {
    let unreadable = |why: String| Failure {
        what: sentence(&why),
        cost: "Its price was paid, and it is held.".to_owned(),
        ..Failure::default()
    };
    if answer.body.len() as u64 > LARGEST_TREE {
        return Err(unreadable(format!("the answer is larger than {}", crate::text::bytes(LARGEST_TREE))));
    }
    Ok((answer.received, lines(&answer.body)))
}

fn page(answer: Answer, file: &Sha256) -> Result<HeldPage, Failure> {
    let page = Page::of_file(&answer.body, file).map_err(|error| Failure {
        what: sentence(&error.to_string()),
        cost: "Its price was paid.".to_owned(),
        is_unsure: true,
        ..Failure::default()
    })?;
    Ok(HeldPage { received: answer.received, page, unkept: answer.unkept })
}

fn failure(error: &GateError) -> Failure {
    let (cost, advice) = match error {
        GateError::Service { cost, line, .. } => {
            let logged = line.as_ref().map(|line| format!("Log line {line}."));
            let advice = [Some(error.advice()).filter(|advice| !advice.is_empty()), logged];
            (*cost, advice.into_iter().flatten().collect::<Vec<_>>().join(" "))
        }
        GateError::Offline => (Cost::Nothing, "Leave --offline out, and `offline` in the config file.".to_owned()),
        GateError::Ledger(_) | GateError::Store(_) => {
            (Cost::Nothing, "Check the disk's free space and the data folder's permissions.".to_owned())
        }
        GateError::NotEntitled(_)
        | GateError::NamesKey
        | GateError::NotHeld
        | GateError::UnderWay
        | GateError::UnderWayElsewhere
        | GateError::SentBefore(_) => (Cost::Nothing, String::new()),
        GateError::OverBudget(_) => (Cost::Nothing, "`behaview config show` says what sets the budget.".to_owned()),
        GateError::Internal(_) => (Cost::Perhaps(None), String::new()),
    };
    let is_unsure = matches!(error, GateError::Internal(_)) || error.may_have_arrived();
    let is_of_file = match error {
        GateError::Service { error, .. } => error.is_of_what_was_sent(),
        // What is known of it is looked up again.
        GateError::SentBefore(_) => true,
        _ => false,
    };
    let is_elsewhere = matches!(error, GateError::UnderWayElsewhere);
    Failure { what: sentence(&error.to_string()), cost: cost.to_string(), advice, is_unsure, is_of_file, is_elsewhere }
}

/// An error's words as a sentence.
fn sentence(words: &str) -> String {
    let mut letters = words.chars();
    let first = letters.next().map(|first| first.to_uppercase().to_string()).unwrap_or_default();
    format!("{first}{}.", letters.as_str().trim_end_matches('.'))
}
