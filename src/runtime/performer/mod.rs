//! Performs effects off the loop and returns messages: service calls here, others by subject.

mod disk;
mod report;
pub mod search;
mod triage;
mod values;

pub(crate) use disk::{export_context, load_file, load_group, load_list};
pub(crate) use report::read_rules;
pub(crate) use triage::triage;

use super::MessageSender;
use crate::app::{
    Effect, Failure, LoadedReport, Message, Response, ResponseSource, ServiceCall, ServiceEvent, StoreEvent,
};
use crate::gateway::{ApiErrorKind, Gateway, GatewayError, Received, StoredResponse};
use crate::quota::{Balances, Entitlements, Outcome, Period, Usage};
use crate::report::analysis::{submitted, upload_address};
use crate::report::page::Page;
use crate::report::rows::lines;
use crate::report::{Analysis, GroupPage, Identifier};
use crate::request::{Quote, Request, UploadAddress};
use crate::text::{bytes, to_visible};
use jiff::Timestamp;
use std::sync::Arc;
use std::sync::atomic::{Ordering, fence};
use std::time::{Duration, Instant};
use tokio::runtime::Runtime;
use tokio::task::JoinHandle;

/// The interval at which the loop gets rows found by an index or a search.
const PROGRESS_INTERVAL: Duration = Duration::from_millis(60);

/// How long unfinished writes may take at the end of the app.
const WRITE_GRACE: Duration = Duration::from_millis(500);

/// The maximum response parsed as a tree, in bytes: each line takes tens.
const MAX_TREE_BYTES: u64 = 32 * 1024 * 1024;

/// Performs effects on its own threads.
pub(super) struct Performer {
    /// The gateway to the service and its store; `None` for a document.
    gateway: Option<Arc<Gateway>>,
    pub(super) outbox: MessageSender,
    /// `None` once the app ends.
    threads: Option<Runtime>,
    /// Shared with all work in progress.
    pending: Arc<()>,
}

/// Limits progress messages: first at once, then at an interval that leaves the loop responsive.
#[derive(Default)]
struct SendPace(Option<Instant>);

impl SendPace {
    fn is_due(&mut self) -> bool {
        let is_due = self.0.is_none_or(|last| last.elapsed() >= PROGRESS_INTERVAL);
        if is_due {
            self.0 = Some(Instant::now());
        }
        is_due
    }
}

/// One job; it counts as pending until it is dropped.
struct Task {
    outbox: MessageSender,
    _pending: Arc<()>,
}

impl Task {
    fn send(&self, message: impl Into<Message>) {
        self.outbox.send(message);
    }
}

impl Performer {
    pub(super) fn new(gateway: Option<Arc<Gateway>>, outbox: MessageSender) -> std::io::Result<Self> {
        Ok(Self { gateway, outbox, threads: Some(super::threads(1)?), pending: Arc::default() })
    }

    /// Whether no job is pending; then all messages have been sent.
    pub(super) fn is_idle(&self) -> bool {
        let is_idle = Arc::strong_count(&self.pending) == 1;
        fence(Ordering::Acquire);
        is_idle
    }

    /// Starts an effect without waiting; without a service, those on it or its store do nothing.
    pub(super) fn perform(&mut self, effect: Effect) {
        match effect {
            Effect::Service(ServiceCall::Send { quote, source }) => self.send_request(*quote, source),
            Effect::Service(ServiceCall::Cancel(request)) => {
                self.gateway.iter().for_each(|gateway| gateway.cancel(&request));
            }
            Effect::Service(ServiceCall::Permit(what)) => self.gateway.iter().for_each(|gateway| gateway.permit(what)),
            Effect::Service(ServiceCall::ReadCosts) => self.read_costs(),
            Effect::Service(ServiceCall::FindShared(requests, reports)) => self.find_shared(requests, reports),
            Effect::Store(job) => self.use_store(job),
            Effect::Report(job) => self.read_report(job),
            Effect::Search(job) => self.search(job),
            Effect::File(job) => self.use_file(job),
            // The loop performs these itself.
            Effect::Terminal(_) => {}
        }
    }

    fn work(&self) -> Task {
        Task { outbox: self.outbox.clone(), _pending: Arc::clone(&self.pending) }
    }

    /// Runs a job that blocks or computes. A panic in it becomes a notice.
    fn spawn(&self, job: impl FnOnce(&Task) + Send + 'static) {
        let Some(threads) = &self.threads else { return };
        let work = self.work();
        self.watch(threads.spawn_blocking(move || job(&work)), |bug| Message::Notice(bug.to_string()));
    }

    fn send_request(&self, quote: Quote, source: ResponseSource) {
        let (Some(gateway), Some(runtime)) = (self.gateway.clone(), &self.threads) else { return };
        let work = self.work();
        let asked = quote.clone();
        let call = runtime.spawn(async move { fetch(&work, &gateway, &asked, source).await });
        // A panic in the call must not leave it in flight forever.
        self.watch(call, move |bug| {
            let request = quote.request().clone();
            ServiceEvent::Ended(request, response(&quote, Err(bug))).into()
        });
    }

    fn read_costs(&self) {
        let (Some(gateway), Some(runtime)) = (self.gateway.clone(), &self.threads) else { return };
        let work = self.work();
        let read = runtime.spawn(async move {
            work.send(match gateway.costs(Period::Monthly.began(gateway.now())).await {
                Ok(costs) => ServiceEvent::Costs(costs).into(),
                Err(error) => Message::Notice(sentence(&error.to_string())),
            });
        });
        self.watch(read, |bug| Message::Notice(bug.to_string()));
    }

    /// Asks what the team has paid for, shares what is not shared yet, and copies notes.
    fn find_shared(&self, requests: Vec<Request>, reports: Vec<Identifier>) {
        let (Some(gateway), Some(runtime)) = (self.gateway.clone(), &self.threads) else { return };
        let work = self.work();
        let asked = runtime.spawn(async move {
            // Prices are without a team store that does not respond; the next call says so.
            let found = gateway.find_shared(&requests).await.unwrap_or_default();
            work.send(ServiceEvent::Shared(found.into_iter().map(|(request, copy)| (request, copy.label())).collect()));
            share(&work, &gateway).await;
            if gateway.copy_notes(&reports).await {
                work.send(StoreEvent::Notes(gateway.store.notes().unwrap_or_default()));
            }
        });
        self.watch(asked, |bug| Message::Notice(bug.to_string()));
    }

    fn watch(&self, done: JoinHandle<()>, message: impl FnOnce(GatewayError) -> Message + Send + 'static) {
        let Some(threads) = &self.threads else { return };
        let outbox = self.outbox.clone();
        threads.spawn(async move {
            if let Err(error) = done.await {
                outbox.send(message(GatewayError::bug(&error)));
            }
        });
    }
}

impl Drop for Performer {
    /// Paid responses are stored or cancelled: other work gets only a moment.
    fn drop(&mut self) {
        if let Some(threads) = self.threads.take() {
            threads.shutdown_timeout(WRITE_GRACE);
        }
    }
}

fn visible_text(error: &dyn std::fmt::Display) -> String {
    to_visible(error.to_string()).cut(400).to_string()
}

async fn fetch(work: &Task, gateway: &Gateway, quote: &Quote, source: ResponseSource) {
    let request = quote.request().clone();
    let is_paid = !quote.price().is_free() && source != ResponseSource::Team;
    let begun = (gateway.clock)();
    let progress = |received| {
        let request = request.clone();
        work.send(match received {
            Received::Notice(words) => return work.send(Message::Notice(sentence(&words))),
            Received::Begun(body) => ServiceEvent::ReportBegun(request, body),
            Received::Bytes { bytes, total } => ServiceEvent::Progress(request, bytes, total),
            Received::NotBefore(at) => ServiceEvent::RateLimitedUntil(at),
        });
    };
    let result = match source {
        ResponseSource::Stored => gateway.get_stored(quote),
        ResponseSource::Team => gateway.get_shared(quote, &progress).await,
        ResponseSource::StoredOrService => gateway.get(quote, &progress).await,
        ResponseSource::Service => gateway.fetch(quote, &progress).await,
    };
    if let Request::PrivateScan { submission, .. } = &request
        && result.as_ref().err().is_none_or(GatewayError::may_have_arrived)
    {
        // The recent files show this name; without it, only the hash.
        let _ = gateway.store.record_file(&gateway.service, &submission.file, Some(&submission.name()), gateway.now());
    }
    // Sent before the response, so that no frame shows one alone. The app knows calls in flight.
    if let Ok(spent) = gateway.store.settled(&gateway.session) {
        let today = gateway.budget.daily.and_then(|_| gateway.spent_in(Period::Daily).ok());
        work.send(ServiceEvent::Spent(spent, today));
    }
    // Reports and lists have their own places for the remark.
    let is_of_report = matches!(request, Request::Behaviour { .. } | Request::Behaviours { .. });
    if let Some(remark) = result.as_ref().ok().and_then(|response| response.remark.as_ref()).filter(|_| !is_of_report) {
        work.send(Message::Notice(format!("The response {}.", visible_text(remark))));
    }
    if is_paid {
        send_limits(work, &result, begun, (gateway.clock)());
    }
    // The user may send and pay for it again: the time of this request helps to decide.
    let refusal = result.as_ref().err().and_then(GatewayError::refusal);
    let missing =
        refusal.filter(|refusal| refusal.reason == ApiErrorKind::NotFound).map(|_| gateway.now().strftime("%R UTC"));
    let is_stored = result.as_ref().is_ok_and(|response| response.received < begun);
    let override_with = result.as_ref().err().and_then(|error| gateway.override_of(error)).map(|what| (what, source));
    let result = response(quote, result).map_err(|failure| Failure { override_with, ..failure });
    let result = result.map_err(|failure| match missing {
        Some(at) => {
            Failure { what: format!("{} It was requested at {at}.", failure.what), is_not_found: true, ..failure }
        }
        None => failure,
    });
    let result = result.map(|response| completed(gateway, &request, response, is_stored));
    work.send(ServiceEvent::Ended(request, result));
    share(work, gateway).await;
}

/// Shares what is not shared yet, and reads what the group may spend then.
async fn share(work: &Task, gateway: &Gateway) {
    if let Some(notice) = gateway.share().await {
        work.send(Message::Notice(sentence(&notice)));
    }
    if gateway.team.is_some() {
        work.send(ServiceEvent::GroupBudgets(gateway.group_budgets().await));
    }
}

/// Adds stored data to a response: the limit per minute, the reports of a stored page.
fn completed(gateway: &Gateway, request: &Request, response: Response, is_stored: bool) -> Response {
    match (response, request) {
        (Response::Balances(balances), _) => {
            Response::Balances(gateway.completed(balances.clone()).unwrap_or(balances))
        }
        (Response::Page(mut page, received, unkept), Request::Behaviours { file, .. }) if is_stored => {
            disk::load_reports(gateway, file, &mut page);
            Response::Page(page, received, unkept)
        }
        (other, _) => other,
    }
}

/// Sends the limits that the outcome of a paid call implies.
fn send_limits(work: &Task, result: &Result<StoredResponse, GatewayError>, begun: Timestamp, now: Timestamp) {
    // A stored response implies nothing about the quota.
    let refusal = result.as_ref().err().and_then(GatewayError::refusal);
    let is_over_quota = match result {
        Ok(response) => (response.received >= begun).then_some(false),
        Err(_) => refusal.filter(|refusal| refusal.reason == ApiErrorKind::QuotaSpent).map(|_| true),
    };
    is_over_quota.into_iter().for_each(|is_over_quota| work.send(ServiceEvent::QuotaExhausted(is_over_quota)));
    if let Some(wait) = refusal.and_then(|refusal| refusal.retry_after) {
        work.send(ServiceEvent::RateLimitedUntil(now.saturating_add(wait).unwrap_or(Timestamp::MAX)));
    }
}

fn response(quote: &Quote, result: Result<StoredResponse, GatewayError>) -> Result<Response, Failure> {
    let request = quote.request();
    let response = result.map_err(|error| match request {
        Request::Quotas => Failure::new(error.to_string()),
        Request::PrivateScan { to: Some(_), .. } => {
            let failure = failure(&error);
            Failure { what: format!("{} The address for it was paid.", failure.what), ..failure }
        }
        _ => failure(&error),
    })?;
    parsed(request, response).map_err(|why| {
        let cost = Some(quote.price().settle(Outcome::Received));
        Failure { what: sentence(&why), cost, may_have_succeeded: !quote.price().is_free(), ..Failure::default() }
    })
}

/// The parsed response, or why it cannot be parsed.
fn parsed(request: &Request, response: StoredResponse) -> Result<Response, String> {
    let received = response.received;
    let body = response.body;
    let useless = || "invalid response".to_owned();
    match request {
        Request::Quotas => Ok(Response::Balances(Balances::parse(&body)?)),
        Request::Usage { .. } => Ok(Response::Usage(Usage::parse(&body)?)),
        Request::User => Ok(Response::Entitlements(Entitlements::parse(&body, received)?)),
        Request::Behaviour { .. } => Ok(Response::Report(LoadedReport::new(received, body, response.remark))),
        Request::Behaviours { file, .. } => {
            let page = Page::of_file(&body, file).map_err(|error| error.to_string())?;
            Ok(Response::Page(page, received, response.remark))
        }
        Request::GroupList { .. } => {
            Ok(Response::Group(GroupPage::of(&body).map_err(|error| error.to_string())?, received))
        }
        Request::Artifact { .. } => Ok(Response::Artifact(received, body.len() as u64)),
        Request::PrivateScan { .. } => submitted(&body).map(Response::Scan).ok_or_else(useless),
        Request::UploadAddress => {
            Ok(Response::UploadUrl(UploadAddress::new(upload_address(&body).ok_or_else(useless)?)))
        }
        Request::PrivateAnalysis { .. } | Request::PrivateAnalyses { .. } => {
            Ok(Response::Progress(Analysis::of(&body)))
        }
        Request::PrivateDelete { .. } => Ok(Response::Deleted),
        _ if body.len() as u64 > MAX_TREE_BYTES => {
            Err(format!("the response is stored, but is larger than {}", bytes(MAX_TREE_BYTES)))
        }
        _ => Ok(Response::Tree(received, lines(&body))),
    }
}

fn failure(error: &GatewayError) -> Failure {
    let logged = match error {
        GatewayError::Service { line: Some(line), .. } => format!(" Log line {line}."),
        _ => String::new(),
    };
    Failure {
        what: sentence(&error.to_string()),
        cost: Some(error.cost()),
        advice: format!("{}{logged}", error.advice()).trim_start().to_owned(),
        may_have_succeeded: matches!(error, GatewayError::Internal(_)) || error.may_have_arrived(),
        // After an earlier submission the form reads the store again.
        is_of_file: error.is_of_content() || matches!(error, GatewayError::SentBefore(_)),
        is_elsewhere: matches!(error, GatewayError::InFlight),
        ..Failure::default()
    }
}

/// Formats an error's text as a sentence.
fn sentence(words: &str) -> String {
    let mut letters = words.chars();
    let first = letters.next().map(|first| first.to_uppercase().to_string()).unwrap_or_default();
    format!("{first}{}.", letters.as_str().trim_end_matches('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bug_beside_the_loop_is_a_message() {
        let (sender, inbox) = std::sync::mpsc::channel();
        let performer = Performer::new(None, MessageSender(sender)).unwrap();
        performer.spawn(|_| panic!("a bug"));
        let message = inbox.recv_timeout(Duration::from_secs(10)).ok();
        assert!(matches!(&message, Some(Message::Notice(words)) if words.contains("internal error")), "{message:?}");
    }
}
