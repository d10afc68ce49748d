//! A call that is under way is not sent twice, and one that is dropped is not forgotten.

use crate::faults::arm;
use std::cell::RefCell;
use std::sync::Arc;

use behaview::gateway::{Gateway, Received};
use behaview::report::Index;
use behaview::service::Client;
use behaview::store::Store;
use jiff::Timestamp;

use super::counted::run;
use super::*;

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn concurrent_equal_requests_are_sent_once() {
    let harness = Arc::new(GatewayHarness::begin().await);
    arm(&harness.demo, "delay=200");
    let tasks: Vec<_> = (0..16).map(|_| tokio::spawn(ask_shared(Arc::clone(&harness)))).collect();
    let mut answers = 0;
    for task in tasks {
        match task.await.unwrap() {
            Ok(_) => answers += 1,
            Err(error) => assert!(matches!(error, GatewayError::InFlight), "{error:?}"),
        }
    }
    // However late a task starts, it joins the call in flight or makes another: one each.
    assert!(answers >= 1);
    assert_eq!((harness.calls(), harness.charged()), (answers, answers as u64));
    assert_eq!(harness.gateway.spent().unwrap(), SpentUnits { charged: answers as u64, ..SpentUnits::default() });
}

async fn ask_shared(harness: Arc<GatewayHarness>) -> Result<StoredResponse, GatewayError> {
    harness.fetch(&first_report()).await
}

#[tokio::test]
async fn dropped_call_is_recorded_and_can_be_repeated() {
    let harness = GatewayHarness::begin().await;
    arm(&harness.demo, "delay=600000*1");
    let request = first_report();
    let quote = request.clone().quote(&harness::licensed());
    {
        let mut call = std::pin::pin!(harness.gateway.fetch(&quote, &|_| {}));
        while harness.calls() == 0 {
            let step = tokio::time::timeout(std::time::Duration::from_millis(5), &mut call).await;
            assert!(step.is_err(), "{step:?}");
        }
        assert!(matches!(harness.fetch(&request).await, Err(GatewayError::InFlight)));
    }
    assert_eq!(harness.gateway.spent().unwrap(), SpentUnits { unsure: 1, ..SpentUnits::default() });
    assert_eq!(harness.count("SELECT COUNT(*) FROM ledger WHERE state = 'reserved'"), 1);
    assert!(harness.fetch(&request).await.is_ok());
    assert_eq!(harness.gateway.spent().unwrap(), SpentUnits { charged: 1, unsure: 1, is_open: false });
    assert_eq!((harness.charged(), harness.calls()), (2, 2));
}

/// Does something while another run of the program has this under way; that one is killed then.
pub(super) async fn while_another_asks(
    harness: &GatewayHarness,
    request: &Request,
    meanwhile: impl Future<Output = ()>,
) {
    arm(&harness.demo, "delay=600000*1");
    let other = run("another", &harness.store(), &harness.demo);
    let meanwhile = async {
        while harness.calls() == 0 {
            tokio::time::sleep(std::time::Duration::from_millis(1)).await;
        }
        meanwhile.await;
    };
    tokio::select! {
        result = harness::fetch(&other, request) => panic!("{result:?}"),
        () = meanwhile => {}
    }
    assert_eq!(harness.calls(), 1);
}

#[tokio::test]
async fn request_in_flight_elsewhere_is_not_sent() {
    let harness = GatewayHarness::begin().await;
    let named = |name: &str, user: Option<&str>, key: &str| {
        let user = user.map(str::to_owned);
        gateway(
            &harness.store(),
            Profile { name: name.to_owned(), user, ..GatewayHarness::profile(&harness.demo) },
            key,
        )
    };
    let stranger_key = "f".repeat(64);
    let (twin, stranger) = (named("twin", Some("me"), harness.demo.key()), named("stranger", None, &stranger_key));
    let request = first_report();
    let third = run("a third", &harness.store(), &harness.demo);
    while_another_asks(&harness, &request, async {
        for program in [&third, &twin] {
            let result = harness::fetch(program, &request).await;
            assert!(matches!(result, Err(GatewayError::InFlight)), "{result:?}");
        }
        assert_eq!(harness.count("SELECT COUNT(*) FROM ledger WHERE owner IS NOT NULL"), 1);
    })
    .await;
    // Nobody waits for it any more, so it can be asked at once.
    assert!(harness::fetch(&third, &request).await.is_ok());
    // Another key is another account.
    let sent = harness::fetch(&stranger, &request).await;
    assert!(matches!(sent, Err(GatewayError::Service { .. })), "{sent:?}");
    assert!(harness::fetch(&twin, &request).await.is_ok());
}

thread_local! {
    /// What happens when somebody next looks at the clock.
    static MEANWHILE: RefCell<Option<Box<dyn FnOnce()>>> = const { RefCell::new(None) };
}

/// A clock at which something may happen, once.
fn eventful() -> Timestamp {
    if let Some(happens) = MEANWHILE.take() {
        happens();
    }
    Timestamp::now()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn response_stored_meanwhile_is_used_for_free() {
    let harness = GatewayHarness::begin().await;
    let (request, quote) = (first_report(), first_report().quote(&harness::licensed()));
    let client = Client::new(GatewayHarness::profile(&harness.demo), None).unwrap();
    let store = Arc::new(Store::open(&harness.store()).unwrap());
    let late = Gateway::new(store, client, "late".to_owned(), eventful);
    let (path, profile, key) = (harness.store(), GatewayHarness::profile(&harness.demo), harness.demo.key().to_owned());
    // It has found nothing held, and looks at the clock before it writes down its call.
    MEANWHILE.set(Some(Box::new(move || {
        let ask = async move { harness::fetch(&gateway(&path, profile, &key), &first_report()).await.unwrap() };
        std::thread::spawn(|| tokio::runtime::Runtime::new().unwrap().block_on(ask)).join().unwrap();
    })));
    let answer = late.get(&quote, &|_| {}).await.unwrap();
    assert_eq!((harness.calls(), bytes(&answer)), (1, harness.stored(&request).unwrap()));
    assert_eq!(late.spent().unwrap(), SpentUnits::default());
    let entries = late.store.entries(late.payer()).unwrap();
    let told: Vec<_> = entries.iter().filter(|entry| entry.session == "late").collect();
    assert_eq!(told.len(), 1);
    assert_eq!(told[0].outcome.as_deref(), Some("not sent: another program has stored the response"));
    assert_eq!(told[0].state, State::Unsent);
}

#[tokio::test]
async fn report_bytes_are_streamed_before_the_end() {
    let harness = GatewayHarness::begin().await;
    let request = first_report();
    let whole = harness.reference(&request).await;
    // A possible start of the key waits for more bytes; a comma cannot start it.
    let half = &whole[..whole.len() / 2];
    let some = half.iter().rposition(|byte| *byte == b',').unwrap() + 1;
    arm(&harness.demo, &format!("behaviour:stall={some}*1"));
    let begun = std::sync::Mutex::new(Vec::new());
    let progress = |received| {
        if let Received::Begun(body) = received {
            begun.lock().unwrap().push(body);
        }
    };
    let quote = request.clone().quote(&harness::licensed());
    let seen = async {
        while begun.lock().unwrap().last().is_none_or(|body: &Body| body.so_far().len() < some) {
            tokio::time::sleep(std::time::Duration::from_millis(1)).await;
        }
        harness.gateway.cancel(&request);
        std::future::pending::<()>().await;
    };
    let result = tokio::select! {
        result = harness.gateway.fetch(&quote, &progress) => result,
        () = seen => unreachable!("it waits for ever"),
    };
    assert!(matches!(result, Err(GatewayError::Service { error: ServiceError::Cancelled, .. })), "{result:?}");
    assert_eq!(
        (harness.stored(&request), harness.gateway.spent().unwrap()),
        (None, SpentUnits { unsure: 1, ..SpentUnits::default() })
    );
    let [body] = &*begun.into_inner().unwrap() else { panic!("it has begun more than once") };
    assert!(body.is_whole() && **body == whole[..some] && !Index::of(body).sections.is_empty());
}

#[tokio::test]
async fn call_cancelled_before_sending_costs_nothing() {
    let harness = GatewayHarness::begin().await;
    let path = harness.folder().join("public.bin");
    std::fs::write(&path, vec![7; 3 << 20]).unwrap();
    let identifier = Identifier::new(Untrusted::from(format!("{}_CAPE Sandbox-1794474845", dropper()))).unwrap();
    let capture = Request::Artifact { identifier, artifact: behaview::request::Artifact::Pcap };
    for request in [Request::V2Scan { path, file: None }, first_report(), list(&dropper()), capture] {
        // Once it has begun, and waits for the file or the store.
        let cancel = async { harness.gateway.cancel(&request) };
        let (result, ()) = tokio::join!(harness.fetch(&request), cancel);
        let error = result.unwrap_err();
        assert!(error.to_string().contains("nothing was sent: it was cancelled before"), "{error}");
        assert_eq!(error.cost().state, State::Unsent, "{error:?}");
    }
    assert_eq!((harness.calls(), harness.gateway.spent().unwrap()), (0, SpentUnits::default()));
    // The scan's file may have been read before the cancellation.
    assert!((3..=4).contains(&harness.count("SELECT COUNT(*) FROM ledger WHERE state = 'unsent'")));
    assert!(harness.fetch(&first_report()).await.is_ok());
}
