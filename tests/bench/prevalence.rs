//! The index of values: its cost when reports are stored, and a lookup in a thousand reports.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic, clippy::print_stdout)]

use behaview::demo::{Demo, ListContent, Options, PeriodAmounts};
use behaview::gateway::Gateway;
use behaview::prevalence::StableBuildHasher;
use behaview::quota::Entitlements;
use behaview::report::identifier::{Identifier, Sha256};
use behaview::report::page::Page;
use behaview::report::{Body, Cancel, ImportOrigin, Indicators, Report};
use behaview::request::{Listing, Request};
use behaview::service::credential::KeySource;
use behaview::service::{Client, Credential, Profile};
use behaview::store::{IMPORTED, NewResponse, ResponsePart, Store};
use behaview::text::Untrusted;
use jiff::Timestamp;
use serde_json::json;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A report with so many rows, half of them the noise of its sandbox.
fn report(number: usize, rows: usize) -> Vec<u8> {
    let file = format!("{number:064x}");
    let own = |n: usize| if n.is_multiple_of(2) { format!("noise{n}") } else { format!("{number}-{n}") };
    let list = |start: usize, of: &dyn Fn(String) -> serde_json::Value| -> Vec<_> {
        (start..rows).step_by(5).map(|n| of(own(n))).collect()
    };
    let attributes = json!({
        "sandbox_name": "Box",
        "files_opened": list(0, &|name| format!(r"C:\Users\me\AppData\Roaming\{name}.dat").into()),
        "registry_keys_set": list(1, &|name| json!({"key": format!(r"HKCU\Software\{name}"), "value": "1"})),
        "processes_tree": list(2, &|name| json!({"name": format!(r"C:\Windows\{name}.exe /c x"), "process_id": "4"})),
        "dns_lookups": list(3, &|name| json!({"hostname": format!("{name}.example"), "resolved_ips": ["203.0.113.7"]})),
        "command_executions": list(4, &|name| format!("cmd.exe /c start {name}.exe").into()),
    });
    json!({"data": {"id": format!("{file}_Box-17"), "type": "private_file_behaviour", "attributes": attributes}})
        .to_string()
        .into_bytes()
}

/// Stores reports, and returns how long that took; `index` indexes each at once, as the app does.
fn store(store: &Store, count: usize, rows: usize, index: bool) -> Duration {
    let reports: Vec<_> = (0..count).map(|n| report(n, rows)).collect();
    let origin = ImportOrigin { from: Untrusted::from("bench"), by: Untrusted::from("bench") };
    let began = Instant::now();
    for (n, bytes) in reports.iter().enumerate() {
        let file = Sha256::parse(&format!("{n:064x}")).unwrap();
        let identifier = Identifier::from_input(&format!("{file}_Box-17")).unwrap();
        let of = file.clone();
        let part = ResponsePart::report(&identifier, Some(file), 0..bytes.len());
        let received = Timestamp::UNIX_EPOCH;
        let key = &part.key;
        let new = NewResponse { service: IMPORTED, profile: "bench", key, received, bytes, imported: Some(&origin) };
        assert!(store.import(&new, std::slice::from_ref(&part), false).unwrap());
        if index {
            store.index_file(IMPORTED, Some(&of)).unwrap();
        }
    }
    began.elapsed()
}

/// Pays for the reports of the demo's main file, each with its ledger entry, and indexes them.
fn paid() {
    let threads = tokio::runtime::Runtime::new().unwrap();
    let limits = PeriodAmounts { minute: 10_000, hourly: 10_000, daily: 10_000, monthly: 10_000 };
    let options = Options { listing: ListContent::Identifiers, user_limits: limits, ..Options::default() };
    let demo = threads.block_on(Demo::start(options)).unwrap();
    let file = Sha256::parse(&Demo::files()[0].sha256).unwrap();
    let [mut paying, mut indexing] = [Vec::new(), Vec::new()];
    for _ in 0..20 {
        let folder = tempfile::tempdir().unwrap();
        let store = Arc::new(Store::open(folder.path()).unwrap());
        let profile = Profile::demo(demo.root().to_owned(), demo.user().to_owned());
        let client = Client::new(profile, Some(Credential::new(demo.key(), KeySource::Demo).unwrap())).unwrap();
        let gateway = Gateway::new(store, client, "bench".to_owned(), Timestamp::now);
        let get = |request: Request| {
            threads.block_on(gateway.get(&request.quote(&Entitlements::default()), &|_| {})).unwrap()
        };
        let list = get(Request::Behaviours { file: file.clone(), listing: Listing::Identifiers, cursor: None });
        for entry in Page::of(&list.body).unwrap().entries {
            let began = Instant::now();
            get(Request::Behaviour { identifier: entry.identifier });
            paying.push(began.elapsed());
            let began = Instant::now();
            gateway.store.index_file(&gateway.service, Some(&file)).unwrap();
            indexing.push(began.elapsed());
        }
    }
    let [paying, indexing] = [paying, indexing].map(|mut times| {
        times.sort();
        times[times.len() / 2]
    });
    let ratio = indexing.as_secs_f64() / paying.as_secs_f64();
    println!(
        "a report that is paid for, with its ledger entry: {paying:.1?}; indexing adds {indexing:.1?}, {ratio:.2} of it"
    );
}

fn main() {
    // Where the time goes.
    let one = Report::open(&Body::in_memory(report(0, 30_000)));
    let never = Cancel::default();
    let time = |what: &str, work: &dyn Fn()| {
        let began = Instant::now();
        work();
        println!("{what} of 30,000 rows: {:.1?}", began.elapsed());
    };
    time("values", &|| drop(one.values_of(None, &StableBuildHasher, &never).unwrap()));
    time("indicators", &|| {
        drop(Indicators::among(&one, &|section| 0..one.section(section).unwrap().len(), &|_| None, &never).unwrap())
    });
    for (count, rows) in [(200, 20), (200, 100), (200, 1_000), (20, 30_000)] {
        let new = || tempfile::tempdir().unwrap();
        let (first, second) = (new(), new());
        let (alone, indexing) = (Store::open(first.path()).unwrap(), Store::open(second.path()).unwrap());
        let stored = store(&alone, count, rows, false);
        let both = store(&indexing, count, rows, true);
        let began = Instant::now();
        alone.index_values(&Cancel::default()).unwrap();
        let together = began.elapsed();
        let (again, ratio) = (Instant::now(), |time: Duration| time.as_secs_f64() / stored.as_secs_f64());
        alone.index_values(&Cancel::default()).unwrap();
        println!(
            "{count} reports of {rows} rows: storing alone to storing and indexing 1 : {:.2} one by one ({stored:.1?} and {both:.1?}), \
             1 : {:.2} together ({together:.1?} more); again in {:.1?}",
            ratio(both),
            1.0 + ratio(together),
            again.elapsed()
        );
    }
    paid();
    let folder = tempfile::tempdir().unwrap();
    let all = Store::open(folder.path()).unwrap();
    store(&all, 1_000, 100, false);
    all.index_values(&Cancel::default()).unwrap();
    for (name, value) in
        [("that all have", "noise8.example"), ("that one has", "7-3.example"), ("that none has", "x.example")]
    {
        let probe = Report::of_text(value);
        let values = probe.values_of(None, &StableBuildHasher, &Cancel::default()).unwrap();
        let values: Vec<_> = values.iter().map(|value| value.hashes).collect();
        let began = Instant::now();
        let found = all.with_values(|index| index.prevalence(&values, &Untrusted::from("Box"))).unwrap();
        let most = found.iter().map(|found| found.files).max();
        println!(
            "a value {name} of 1,000 reports, as {} kinds: {:.1?} ({most:?} files)",
            values.len(),
            began.elapsed()
        );
    }
}
