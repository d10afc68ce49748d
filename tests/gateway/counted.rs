//! What the service's counters say of calls whose outcome is not known.

use crate::faults::arm;
use std::cell::Cell;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use behaview::gateway::{Gateway, hash_file};
use behaview::quota::{Budget, Entitlements};
use behaview::report::identifier::FileHash;
use behaview::service::Client;
use behaview::service::credential::{Credential, KeySource};
use behaview::store::Store;
use jiff::Timestamp;

use super::*;

thread_local! {
    /// Milliseconds since the epoch: one clock for gateway and test, which ticks when it is read.
    static NOW: Cell<i64> = const { Cell::new(0) };
}

/// The moment at which the service's clock stands still too.
const START: i64 = 1_794_474_845_000;

pub fn start_clock() {
    NOW.set(START);
}

pub fn tick() -> Timestamp {
    NOW.set(NOW.get().max(START) + 1);
    Timestamp::from_millisecond(NOW.get()).unwrap()
}

/// Lets time pass for gateway and service.
pub fn pass(demo: &Demo, minutes: u64) {
    NOW.set(NOW.get() + i64::try_from(minutes * 60_000).unwrap());
    demo.advance(Duration::from_secs(minutes * 60));
}

/// Sets this machine's clock ahead.
pub fn jump(minutes: i64) {
    NOW.set(NOW.get() + minutes * 60_000);
}

/// A run of the program with this test's clock.
pub fn run(session: &str, path: &Path, demo: &Demo) -> Gateway {
    let credential = Credential::new(demo.key(), KeySource::Demo).unwrap();
    let client = Client::new(GatewayHarness::profile(demo), Some(credential)).unwrap();
    Gateway::new(Arc::new(Store::open(path).unwrap()), client, session.to_owned(), tick)
}

pub struct Scene {
    pub harness: GatewayHarness,
    pub gateway: Gateway,
}

impl Scene {
    /// A gateway that has seen the service's counters count a call of its own.
    pub async fn begin() -> Self {
        let harness = GatewayHarness::begin().await;
        let gateway = run("counted", &harness.store(), &harness.demo);
        let scene = Self { harness, gateway };
        scene.look().await;
        scene.fetch().await;
        scene.look().await;
        scene
    }

    async fn fetch(&self) -> bool {
        harness::fetch(&self.gateway, &first_report()).await.is_ok()
    }

    async fn look(&self) {
        harness::fetch(&self.gateway, &Request::Quotas).await.unwrap();
    }

    async fn fail(&self, fault: &str) {
        arm(&self.harness.demo, &format!("{fault}*1"));
        assert!(!self.fetch().await);
    }

    async fn look_later(&self) {
        pass(&self.harness.demo, 6);
        self.look().await;
    }

    pub fn states(&self) -> Vec<State> {
        let entries = self.gateway.store.entries(self.gateway.payer()).unwrap();
        entries.iter().skip(1).map(|entry| entry.state).collect()
    }

    fn counted(&self) -> Option<String> {
        self.gateway.store.entries(self.gateway.payer()).unwrap().pop().unwrap().counted
    }
}

#[tokio::test]
async fn lost_call_is_charged_only_if_it_was_counted() {
    for (fault, state) in
        [("lost", State::Charged), ("503", State::Charged), ("reset", State::Free), ("403", State::Free)]
    {
        let scene = Scene::begin().await;
        scene.fail(fault).await;
        // What a colleague takes of the group's quota changes nothing.
        scene.harness.demo.colleague_spends(7);
        scene.look().await;
        assert_eq!(scene.states(), [State::Unknown], "{fault}: a look so soon decides nothing");
        if state == State::Free {
            assert_eq!(scene.counted().as_deref(), Some("the counter did not rise"), "{fault}");
        }
        scene.look_later().await;
        assert_eq!(scene.states(), [state], "{fault}");
        let rose = if state == State::Free { "the counter did not rise: the" } else { "the counter rose by 1, this" };
        assert!(scene.counted().unwrap().starts_with(rose), "{fault}: {:?}", scene.counted());
        assert!(scene.gateway.spent().unwrap().total() >= scene.harness.charged());
    }
}

#[tokio::test]
async fn late_counter_rise_raises_the_settled_cost() {
    // Within an hour of the call; a rise after that is of others.
    for (minutes, state, settled) in [(50, State::Charged, 1), (61, State::Charged, 1), (200, State::Free, 0)] {
        let scene = Scene::begin().await;
        scene.fail("reset").await;
        scene.look_later().await;
        assert_eq!(scene.states(), [State::Free]);
        if minutes > 100 {
            pass(&scene.harness.demo, 61);
            scene.look().await;
        }
        scene.harness.reference(&first_report()).await;
        pass(&scene.harness.demo, minutes);
        scene.look().await;
        let entry = scene.gateway.store.entries(scene.gateway.payer()).unwrap().pop().unwrap();
        assert_eq!((entry.state, entry.settled), (state, Some(settled)), "{minutes}: {:?}", entry.counted);
    }
}

#[tokio::test]
async fn repeated_counter_lag_never_underestimates_cost() {
    let scene = Scene::begin().await;
    let new = upload(&scene).await;
    scene.look_later().await;
    harness::fetch(&scene.gateway, &new).await.unwrap();
    scene.look_later().await;
    scene.harness.reference(&first_report()).await;
    pass(&scene.harness.demo, 70);
    scene.look().await;
    harness::fetch(&scene.gateway, &new).await.unwrap();
    for minutes in [0, 6, 70, 70] {
        pass(&scene.harness.demo, minutes);
        scene.look().await;
        assert!(scene.gateway.spent().unwrap().total() >= scene.harness.charged());
    }
}

#[tokio::test]
async fn cancelled_call_is_settled_once_surely_over() {
    let scene = Scene::begin().await;
    arm(&scene.harness.demo, "delay=600000*1");
    let calls = scene.harness.calls();
    let report = first_report();
    {
        let mut call = std::pin::pin!(harness::fetch(&scene.gateway, &report));
        while scene.harness.calls() == calls {
            assert!(tokio::time::timeout(Duration::from_millis(5), &mut call).await.is_err());
        }
    }
    scene.look_later().await;
    assert_eq!(scene.states(), [State::Reserved]);
    pass(&scene.harness.demo, 70);
    scene.look().await;
    assert_eq!(scene.states(), [State::Charged]);
}

/// Asks for the submissions of two files, and loses the answer.
async fn lose_submissions(scene: &Scene) {
    let files = Demo::public_files().into_iter().take(2).map(|file| FileHash::parse(&file.sha256).unwrap());
    arm(&scene.harness.demo, "v2-submissions:lost*1");
    assert!(harness::fetch(&scene.gateway, &Request::V2Submissions { files: files.collect() }).await.is_err());
}

#[tokio::test]
async fn unbounded_lost_call_is_open_until_counted() {
    let scene = Scene::begin().await;
    lose_submissions(&scene).await;
    lose_submissions(&scene).await;
    let spent = scene.gateway.spent().unwrap();
    assert!(spent.is_open && spent.most().is_none() && spent.unsure == 2, "{spent:?}");
    let careful = run("careful", &scene.harness.store(), &scene.harness.demo)
        .with_budget(Budget { daily: Some(1_000), ..Budget::default() });
    let refused = harness::fetch(&careful, &Request::Rescan { file: public() }).await.unwrap_err();
    assert!(refused.to_string().contains("the rest of the 1,000"), "{refused}");
    scene.look_later().await;
    let spent = scene.gateway.spent().unwrap();
    assert_eq!((spent.is_open, spent.total()), (false, scene.harness.charged()));
    assert!(harness::fetch(&careful, &Request::Rescan { file: public() }).await.is_ok());
}

fn public() -> FileHash {
    FileHash::parse(&Demo::public_files()[0].sha256).unwrap()
}

#[tokio::test]
async fn unbounded_call_is_preceded_by_a_free_snapshot() {
    let harness = GatewayHarness::begin().await;
    let scene = Scene { gateway: run("counted", &harness.store(), &harness.demo), harness };
    lose_submissions(&scene).await;
    assert_eq!(scene.harness.calls(), 2, "the look and the call");
    scene.look_later().await;
    scene.fetch().await;
    scene.look_later().await;
    let spent = scene.gateway.spent().unwrap();
    assert_eq!((spent.is_open, spent.total()), (false, scene.harness.charged()));
}

#[tokio::test]
async fn account_digest_does_not_reveal_the_key() {
    let scene = Scene::begin().await;
    let key = scene.harness.demo.key();
    let account = scene.gateway.client.account().unwrap();
    assert!(account.len() == 16 && !key.contains(&account), "{account}");
    let other = Credential::new("another", KeySource::Demo).unwrap();
    let other = Client::new(GatewayHarness::profile(&scene.harness.demo), Some(other)).unwrap();
    assert_ne!(other.account().unwrap(), account);
}

/// A file that the service does not know, uploaded by the public API.
async fn upload(scene: &Scene) -> Request {
    let path = scene.harness.folder().join("new.bin");
    std::fs::write(&path, b"nobody has seen this before").unwrap();
    let (file, _) = hash_file(&path, u64::MAX).unwrap();
    harness::fetch(&scene.gateway, &Request::V2Scan { path, file: None }).await.unwrap();
    Request::File { file: FileHash::parse(file.as_str()).unwrap() }
}

#[tokio::test]
async fn lookups_of_a_new_upload_become_free() {
    let scene = Scene::begin().await;
    let quote = |request: Request| {
        let uploads = scene.gateway.store.uploads(scene.gateway.payer()).unwrap();
        request.quote(&Entitlements { uploads, ..Entitlements::default() })
    };
    let (known, new) = (Request::File { file: public() }, upload(&scene).await);
    assert_eq!(
        (&*quote(known.clone()).price().short(), &*quote(new.clone()).price().short()),
        ("1 request", "0 or 1 request")
    );
    scene.look_later().await;
    assert_eq!(scene.states(), [State::Free]);
    assert_eq!((&*quote(known).price().short(), &*quote(new.clone()).price().short()), ("1 request", "0"));
    let charged = scene.harness.charged();
    scene.gateway.fetch(&quote(new), &|_| {}).await.unwrap();
    assert_eq!((scene.harness.charged(), scene.gateway.spent().unwrap().total()), (charged, charged));
    // Where the counters show that it was charged all the same, it counts.
    scene.harness.reference(&first_report()).await;
    scene.look_later().await;
    assert_eq!(scene.gateway.spent().unwrap().total(), scene.harness.charged());
}

#[tokio::test]
async fn a_charge_that_the_counters_do_not_show_is_lowered() {
    let scene = Scene::begin().await;
    let new = upload(&scene).await;
    scene.look_later().await;
    // Priced as any look-up, by a program that does not know of the upload.
    harness::fetch(&scene.gateway, &new).await.unwrap();
    assert_eq!(scene.states(), [State::Free, State::Charged]);
    scene.look_later().await;
    assert_eq!(scene.states(), [State::Free, State::Charged], "the counters may lag");
    pass(&scene.harness.demo, 61);
    scene.look().await;
    assert_eq!(scene.states(), [State::Free, State::Free]);
    assert_eq!(
        scene.counted().as_deref(),
        Some("the counter did not rise, this program accounts for 1: a price is too high")
    );
    assert_eq!(scene.gateway.spent().unwrap().total(), scene.harness.charged());
}

#[tokio::test]
async fn snapshots_are_thinned_and_expire_after_100_days() {
    let scene = Scene::begin().await;
    let polls = || scene.harness.count("SELECT COUNT(DISTINCT look) FROM counters");
    let before = polls();
    for _ in 0..11 {
        pass(&scene.harness.demo, 1);
        harness::fetch(&scene.gateway, &Request::Quotas).await.unwrap();
    }
    assert!((3..=4).contains(&(polls() - before)), "one in five minutes, and the last: {}", polls());
    pass(&scene.harness.demo, 101 * 24 * 60);
    harness::fetch(&scene.gateway, &Request::Quotas).await.unwrap();
    assert_eq!(polls(), 1);
}
