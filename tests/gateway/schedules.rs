//! Random sessions with faults: no request is sent twice, the ledger is never below the service.
//!
//! The ordinary test runs the same [`ORDINARY`] schedules. `BEHAVIEW_SCHEDULES=1000 cargo test
//! --test gateway schedules -- --nocapture` runs as many new ones, and prints their outcomes.

use crate::faults::arm;
use std::collections::BTreeMap;
use std::future::Future;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use behaview::gateway::Gateway;
use behaview::quota::Budget;
use behaview::quota::audit::LedgerEntry;
use behaview::report::identifier::FileHash;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

use super::counted::{pass, tick};
use super::rate::paced;
use super::*;

/// Schedules of the ordinary test.
const ORDINARY: u32 = 15;

/// What strikes a call and ends by itself.
const FAULTS: &str = "401-wrong 403 409 429-quota 429-rate 400 503 portal empty not-json stranger reset lost gzip-lie cut=100 \
    cut-bare=100 redirect=http://127.0.0.1:9/";

/// The request without a maximum price: a lost response leaves the ledger open. Before it, the
/// gateway reads the free counters.
const OPEN: usize = 8;

/// One thing that happens.
#[derive(Clone, Debug)]
enum Step {
    /// A run asks, and waits for the end; `anew` even if it is held.
    Ask { run: usize, what: usize, anew: bool, fault: Option<&'static str> },
    /// Enter is pressed twice.
    Twice { run: usize, what: usize },
    /// Two programs ask the same at once.
    Both { what: usize },
    /// Kills a run after its call is in the ledger, milliseconds later, or when the service has it.
    Killed { run: usize, what: usize, when: Availability },
    /// A run looks at the counters.
    Look { run: usize },
    /// One run asks while the other looks at the counters.
    AskAndLook { what: usize, fault: Option<&'static str> },
    /// Another machine uses the same key.
    Elsewhere,
    /// A colleague uses the group's quota.
    Colleague,
    /// Minutes pass.
    Pass(u64),
    /// Minutes pass, and a run looks.
    LookAfter(u64),
}

impl Step {
    /// Readings of the counters before calls without a known limit.
    fn readings(&self) -> usize {
        match self {
            Self::Twice { what: OPEN, .. } | Self::Both { what: OPEN } => 2 * calls(OPEN),
            Self::Ask { what: OPEN, .. } | Self::Killed { what: OPEN, .. } | Self::AskAndLook { what: OPEN, .. } => {
                calls(OPEN)
            }
            _ => 0,
        }
    }
}

#[derive(Clone, Copy, Debug)]
enum Availability {
    AtOnce,
    After(u64),
    Received,
}

fn step() -> impl Strategy<Value = Step> {
    let (run, what) = (0..2_usize, 0..=OPEN);
    let fault = prop::option::of(prop::sample::select(FAULTS.split_whitespace().collect::<Vec<_>>()));
    let when =
        prop_oneof![Just(Availability::AtOnce), (0..6_u64).prop_map(Availability::After), Just(Availability::Received)];
    prop_oneof![
        8 => (run.clone(), what.clone(), any::<bool>(), fault.clone())
            .prop_map(|(run, what, anew, fault)| Step::Ask { run, what, anew, fault }),
        1 => (run.clone(), what.clone()).prop_map(|(run, what)| Step::Twice { run, what }),
        1 => what.clone().prop_map(|what| Step::Both { what }),
        3 => (run.clone(), what.clone(), when).prop_map(|(run, what, when)| Step::Killed { run, what, when }),
        2 => run.prop_map(|run| Step::Look { run }),
        2 => (what, fault).prop_map(|(what, fault)| Step::AskAndLook { what, fault }),
        1 => Just(Step::Elsewhere),
        1 => Just(Step::Colleague),
        2 => (0..9_u64).prop_map(Step::Pass),
        4 => prop_oneof![5..9_u64, 60..90_u64].prop_map(Step::LookAfter),
    ]
}

fn budget() -> impl Strategy<Value = Budget> {
    let limit = || prop::option::weighted(0.3, 0..12_u64);
    (limit(), limit()).prop_map(|(session, daily)| Budget { session, daily })
}

fn request(what: usize) -> Request {
    let public = |n: usize| FileHash::parse(&Demo::public_files()[n].sha256).unwrap();
    let analysis = |id: String| Request::Analysis { identifier: Identifier::new(Untrusted::from(id)).unwrap() };
    match what {
        0 => first_report(),
        1 => list(&dropper()),
        2 => Request::Behaviours { file: dropper(), listing: Listing::Identifiers, cursor: None },
        3 => Request::V2Reports { files: vec![public(0), public(1), FileHash::parse(&"a".repeat(32)).unwrap()] },
        4 => Request::File { file: public(0) },
        5 => Request::Rescan { file: public(1) },
        6 => analysis("no such analysis".to_owned()),
        7 => analysis(format!("{}-1793606400", &public(0).as_str()[..32])),
        _ => Request::V2Submissions { files: vec![public(0), public(1)] },
    }
}

/// What the service calls the operation of a request.
fn endpoint(what: usize) -> &'static str {
    ["behaviour", "list", "identifiers", "v2-report", "file", "rescan", "analysis", "analysis", "v2-submissions"][what]
}

/// How many calls a request takes: one for each hash.
fn calls(what: usize) -> usize {
    match what {
        3 => 3,
        OPEN => 2,
        _ => 1,
    }
}

/// What became of all schedules.
#[derive(Default)]
struct Sum {
    schedules: AtomicU64,
    calls: AtomicU64,
    entries: AtomicU64,
    unsure: AtomicU64,
    open: AtomicU64,
    explained: AtomicU64,
    refused: AtomicU64,
}

impl std::fmt::Display for Sum {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let number = |of: &AtomicU64| of.load(Ordering::Relaxed);
        write!(f, "{} schedules: {} calls received, ", number(&self.schedules), number(&self.calls))?;
        write!(f, "{} ledger entries, {} of them not known at once, ", number(&self.entries), number(&self.unsure))?;
        write!(f, "{} without a limit at the end, ", number(&self.open))?;
        write!(f, "{} explained by the counters, ", number(&self.explained))?;
        write!(f, "{} refused by a budget", number(&self.refused))
    }
}

/// A service, two programs on one store, and what is known to be true.
struct Scene {
    harness: GatewayHarness,
    runs: [Gateway; 2],
    budget: Budget,
    born: usize,
    elsewhere: u64,
    daily: BTreeMap<i64, u64>,
    refused: u64,
}

impl Scene {
    async fn begin(budget: Budget) -> Self {
        let harness = GatewayHarness::begin().await;
        let runs = ["0", "1"].map(|name| paced(name, &harness, 1_000_000).with_budget(budget));
        Self { harness, runs, budget, born: 2, elsewhere: 0, daily: BTreeMap::new(), refused: 0 }
    }

    /// What the service charged this machine for.
    fn charged(&self) -> u64 {
        self.harness.demo.used().user.monthly - self.elsewhere
    }

    /// Not the look before it: only what is asked for has this fault.
    fn strike(&self, what: usize, fault: Option<&str>) {
        fault.into_iter().for_each(|fault| arm(&self.harness.demo, &format!("{}:{fault}*1", endpoint(what))));
    }

    /// Does a step, and says how many calls it confirmed at most.
    async fn perform(&mut self, step: &Step) -> usize {
        match *step {
            Step::Ask { run, what, anew, fault } => {
                self.strike(what, fault);
                let is_stored = self.runs[run].stored(&request(what)).unwrap().is_some();
                let result = fetch(&self.runs[run], what, anew).await;
                self.refused += u64::from(matches!(result, Err(GatewayError::OverBudget(_))));
                calls(what) * usize::from(is_sent(&result) && (anew || !is_stored))
            }
            Step::Twice { run, what } => {
                let gateway = &self.runs[run];
                let (one, two) = tokio::join!(fetch(gateway, what, true), fetch(gateway, what, true));
                assert!(!(is_sent(&one) && is_sent(&two)), "{one:?} {two:?}");
                calls(what)
            }
            Step::Both { what } => {
                let [one, two] = &self.runs;
                let (one, two) = tokio::join!(fetch(one, what, true), fetch(two, what, true));
                calls(what) * (usize::from(is_sent(&one)) + usize::from(is_sent(&two)))
            }
            Step::Killed { run, what, when } => {
                self.kill(run, what, when).await;
                calls(what)
            }
            Step::Look { run } => {
                harness::fetch(&self.runs[run], &Request::Quotas).await.unwrap();
                1
            }
            Step::AskAndLook { what, fault } => {
                self.strike(what, fault);
                let [one, two] = &self.runs;
                let (sent, polled) = tokio::join!(fetch(one, what, true), harness::fetch(two, &Request::Quotas));
                polled.unwrap();
                1 + calls(what) * usize::from(is_sent(&sent))
            }
            Step::Elsewhere => {
                let before = self.harness.demo.used().user.monthly;
                self.harness.reference(&list(&dropper())).await;
                self.elsewhere += self.harness.demo.used().user.monthly - before;
                1
            }
            Step::Colleague => {
                self.harness.demo.colleague_spends(2);
                0
            }
            Step::LookAfter(minutes) => {
                pass(&self.harness.demo, minutes);
                harness::fetch(&self.runs[0], &Request::Quotas).await.unwrap();
                1
            }
            Step::Pass(minutes) => {
                pass(&self.harness.demo, minutes);
                0
            }
        }
    }

    /// Ends a program while its call is under way; another takes its place.
    async fn kill(&mut self, number: usize, what: usize, when: Availability) {
        cancel_or_quit(&self.harness, &self.runs[number], what, when).await;
        self.born += 1;
        let next = paced(&self.born.to_string(), &self.harness, 1_000_000);
        self.runs[number] = next.with_budget(self.budget);
    }

    /// Lets everything arrive that was sent before a kill: service and runs share one thread.
    async fn settle(&self) {
        for _ in 0..10 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }

    fn check(&mut self, charged_before: u64) {
        let entries = self.harness.entries();
        let careful: u64 = entries.iter().map(|entry| entry.counts_as).sum();
        let is_open = entries.iter().any(|entry| entry.at_least);
        assert!(
            is_open || careful >= self.charged(),
            "the ledger says {careful}, the service {}: {entries:#?}",
            self.charged()
        );
        let charged = self.charged() - charged_before;
        let today = self.daily.entry(tick().as_second() / 86_400).or_default();
        *today += charged;
        assert!(self.budget.daily.is_none_or(|limit| *today <= limit), "{today} today, of {:?}", self.budget);
        // What counters later add to a call, perhaps another machine's, was in no budget when sent.
        let is_raised = |entry: &LedgerEntry| entry.counted.as_ref().is_some_and(|why| why.contains("it counts as"));
        let mut spent = BTreeMap::<&str, u64>::new();
        for entry in entries.iter().filter(|entry| !is_raised(entry)) {
            *spent.entry(&entry.session).or_default() += entry.counts_as;
        }
        assert!(self.budget.session.is_none_or(|limit| spent.values().all(|spent| *spent <= limit)), "{spent:?}");
        // What the service charged, whatever the ledger says: each run had its budget, even killed.
        let allowed = self.budget.session.map(|limit| limit * self.born as u64);
        assert!(allowed.is_none_or(|most| self.charged() <= most), "{} charged, of {allowed:?}", self.charged());
    }
}

/// Drops a call that is under way.
async fn cancel_or_quit(harness: &GatewayHarness, gateway: &Gateway, what: usize, when: Availability) {
    let (before, is_received) = (harness.calls() + usize::from(what == OPEN), matches!(when, Availability::Received));
    if is_received {
        arm(&harness.demo, &format!("{}:delay=600000*1", endpoint(what)));
    }
    let mut call = std::pin::pin!(fetch(gateway, what, true));
    let mut is_over =
        std::future::poll_fn(|context| std::task::Poll::Ready(call.as_mut().poll(context).is_ready())).await;
    let mut rounds = match when {
        Availability::AtOnce => 0,
        Availability::After(milliseconds) => milliseconds,
        Availability::Received => 30_000,
    };
    while !is_over && rounds > 0 && !(is_received && harness.calls() > before) {
        is_over = tokio::time::timeout(Duration::from_millis(1), &mut call).await.is_ok();
        rounds -= 1;
    }
}

fn is_sent(result: &Result<StoredResponse, GatewayError>) -> bool {
    use GatewayError::{InFlight, NotEntitled, OverBudget};
    !matches!(result, Err(InFlight | OverBudget(_) | NotEntitled(_)))
}

async fn fetch(gateway: &Gateway, what: usize, anew: bool) -> Result<StoredResponse, GatewayError> {
    let quote = request(what).quote(&harness::licensed());
    if anew { gateway.fetch(&quote, &|_| {}).await } else { gateway.get(&quote, &|_| {}).await }
}

/// Plays a schedule; fails the test where a promise is broken.
async fn play(steps: &[Step], budget: Budget, sum: &Sum) {
    let mut scene = Scene::begin(budget).await;
    let mut unsure = 0;
    for step in steps {
        let (calls, charged) = (scene.harness.priced_calls(), scene.charged());
        let confirmed = scene.perform(step).await + step.readings();
        if matches!(step, Step::Killed { .. }) {
            scene.settle().await;
        }
        scene.harness.demo.remove_hooks();
        let sent = scene.harness.priced_calls() - calls;
        assert!(sent <= confirmed, "{sent} calls for {confirmed} at {step:?}");
        scene.check(charged);
        unsure = unsure.max(count(&scene, |state| matches!(state, State::Unknown | State::Reserved)));
    }
    let add = |to: &AtomicU64, number: u64| to.fetch_add(number, Ordering::Relaxed);
    add(&sum.schedules, 1);
    add(&sum.calls, scene.harness.calls() as u64);
    add(&sum.entries, count(&scene, |_| true));
    add(&sum.unsure, unsure);
    let entries = scene.harness.entries();
    add(&sum.open, entries.iter().filter(|entry| entry.at_least).count() as u64);
    let by_counters = |entry: &&LedgerEntry| {
        entry.counted.as_ref().is_some_and(|printed| printed.contains("the unsure calls"))
            && matches!(entry.state, State::Free | State::Charged)
    };
    add(&sum.explained, entries.iter().filter(by_counters).count() as u64);
    add(&sum.refused, scene.refused);
}

fn count(scene: &Scene, wanted: impl Fn(State) -> bool) -> u64 {
    scene.harness.entries().iter().filter(|entry| wanted(entry.state)).count() as u64
}

/// Overlapping times between looks, one of which has a call without a limit and others that are not
/// certain: what all cost together was once recorded as the cost of the first.
#[tokio::test]
async fn joint_cost_of_unsure_calls_is_assigned_to_none() {
    let steps = [
        Step::AskAndLook { what: 3, fault: Some("503") },
        Step::AskAndLook { what: OPEN, fault: Some("401-wrong") },
        Step::Pass(5),
        Step::Killed { run: 0, what: 0, when: Availability::AtOnce },
        Step::AskAndLook { what: 3, fault: Some("409") },
        Step::LookAfter(5),
        Step::AskAndLook { what: 0, fault: None },
        Step::LookAfter(5),
    ];
    play(&steps, Budget::default(), &Sum::default()).await;
}

/// Another machine's spending raises a look-up that its response made free, after the budget
/// released its price.
#[tokio::test]
async fn spending_of_others_is_not_charged_to_the_budget() {
    let ask = |what| Step::Ask { run: 0, what, anew: false, fault: None };
    let steps = [Step::Look { run: 0 }, Step::Elsewhere, Step::Both { what: 6 }, ask(0), ask(1), Step::LookAfter(5)];
    play(&steps, Budget { session: Some(1), daily: None }, &Sum::default()).await;
}

#[test]
#[allow(clippy::print_stdout, reason = "a long run reports its schedules")]
fn no_schedule_sends_twice_or_undercounts() {
    let wanted = std::env::var("BEHAVIEW_SCHEDULES").ok().and_then(|number| number.parse().ok());
    let config = Config { cases: wanted.unwrap_or(ORDINARY), failure_persistence: None, ..Config::default() };
    let mut runner = match wanted {
        Some(_) => TestRunner::new(config),
        None => TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha)),
    };
    let sum = Sum::default();
    let schedule = (prop::collection::vec(step(), 1..30), budget());
    let result = runner.run(&schedule, |(steps, budget)| {
        let threads = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        threads.block_on(play(&steps, budget, &sum));
        Ok(())
    });
    println!("{sum}");
    result.unwrap();
    let is_any = |of: &AtomicU64| of.load(Ordering::Relaxed) > 0;
    assert!(is_any(&sum.explained) && is_any(&sum.refused), "the schedules are too tame");
}
