//! Whatever goes wrong, a call ends, is sent once, says what it is, and is never counted too low.

use crate::faults::arm;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use behaview::gateway::Received;
use behaview::quota::{Entitlements, Units, price};

use super::*;
use Comes::{Lost, Never, Refusal, Sound, TooLong, Unusable};

/// What comes of a call.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Comes {
    /// An answer.
    Sound,
    /// The service's "no".
    Refusal(ApiErrorKind),
    /// No answer, or half of one.
    Lost,
    /// More than is taken.
    TooLong,
    /// A whole answer that is none.
    Unusable,
    /// Nothing within the minute that a silent service is given; so many bytes do come.
    Never(u64),
}

/// Faults with the same end in one row, with the results of a paid call and of the free one. Quota
/// details are read by their requester: free, out of date at once, not stored.
const FAULTS: [(&str, Comes, Comes); 15] = [
    ("401-missing 401-wrong 401-inactive", Refusal(ApiErrorKind::WrongKey), Refusal(ApiErrorKind::WrongKey)),
    ("403", Refusal(ApiErrorKind::Forbidden), Refusal(ApiErrorKind::Forbidden)),
    ("404", Refusal(ApiErrorKind::NotFound), Refusal(ApiErrorKind::NotFound)),
    ("409 424 400 400-argument 400-not-yet", Refusal(ApiErrorKind::Other), Refusal(ApiErrorKind::Other)),
    ("429-quota", Refusal(ApiErrorKind::QuotaSpent), Refusal(ApiErrorKind::QuotaSpent)),
    (
        "429-rate 429-rate-seconds 429-rate-date 429-rate-nonsense 429-html",
        Refusal(ApiErrorKind::TooFast),
        Refusal(ApiErrorKind::TooFast),
    ),
    ("503 504", Refusal(ApiErrorKind::Down), Refusal(ApiErrorKind::Down)),
    ("portal", Unusable, Unusable),
    ("empty not-json array number string null stranger cut-bare=100", Unusable, Sound),
    ("mixed cursor-same cursor-cycle gzip-lie drip=1000000 delay=20", Sound, Sound),
    ("reset lost endless-headers cut=100", Lost, Lost),
    ("gzip-bomb endless-body", Never(1 << 20), TooLong),
    ("stall=64 drip=1", Never(1), Never(1)),
    ("delay=600000", Never(0), Never(0)),
    ("redirect=http://127.0.0.1:9/", Refusal(ApiErrorKind::Redirected), Refusal(ApiErrorKind::Redirected)),
];

#[tokio::test]
async fn no_fault_costs_more_than_the_ledger_records() {
    // An ordinary run injects each fault into one operation, another one than the fault before.
    let step = if std::env::var_os("BEHAVIEW_TORTURE").is_some() { 1 } else { each_operation().len() };
    let each = |(faults, paid, free): (&'static str, _, _)| faults.split(' ').map(move |fault| (fault, paid, free));
    let faults: Vec<_> = FAULTS.into_iter().flat_map(each).collect();
    for (number, (fault, when_paid, when_free)) in faults.iter().copied().enumerate() {
        for request in each_operation().into_iter().skip(number % step).step_by(step) {
            let comes = if is_paid(&request) { when_paid } else { when_free };
            let trial = Trial { harness: GatewayHarness::begin().await, request, fault, comes };
            trial.run(1).await;
            // Again on a connection that is kept alive, where an HTTP client would retry by itself.
            trial.harness.fetch(&Request::Quotas).await.unwrap();
            super::counted::pass(&trial.harness.demo, 3);
            trial.run(2).await;
        }
    }
    let count = each_operation().len().div_ceil(step);
    println!("faults x operations: {} faults, up to {count} operations each, each twice", faults.len());
}

/// One fault against one operation.
struct Trial {
    harness: GatewayHarness,
    request: Request,
    fault: &'static str,
    comes: Comes,
}

impl Trial {
    async fn run(&self, time: u32) {
        let calls = self.harness.calls();
        arm(&self.harness.demo, &format!("{}*1", self.fault));
        match self.comes {
            Never(bytes) => self.cancel_or_quit(bytes).await,
            _ => self.see_through().await,
        }
        let about = format!("{} on {}, time {time}", self.fault, self.request.label());
        assert_eq!(self.harness.calls(), calls + 1, "{about}");
        self.check_ledger(time, &about);
        self.check_stored(time, &about);
    }

    async fn see_through(&self) {
        let result = self.harness.fetch(&self.request).await;
        let (comes, cost) = match &result {
            Ok(_) => (Sound, None),
            Err(GatewayError::Service { error, cost, .. }) => (kind(error), Some(*cost)),
            Err(other) => panic!("{}: {other:?}", self.fault),
        };
        let unit = price(&self.request.operation(), &Entitlements::default()).verdict.unit;
        let (state, max) = if is_paid(&self.request) { (State::Unknown, 1) } else { (State::Free, 0) };
        let careful = Settlement { state, unit, units: Units { min: 0, max: Some(max) } };
        assert_eq!(comes, self.comes, "{} on {}: {result:?}", self.fault, self.request.label());
        assert!(cost.is_none_or(|cost| cost == careful), "{}: {result:?}", self.fault);
        let key = self.harness.demo.key();
        assert!(result.err().is_none_or(|error| !words(&error).contains(key)), "{} shows the key", self.fault);
    }

    /// Drops the call once the service has it and so many bytes came.
    async fn cancel_or_quit(&self, bytes: u64) {
        let (calls, came) = (self.harness.calls(), AtomicU64::new(0));
        let progress = |received| {
            if let Received::Bytes { bytes, .. } = received {
                came.fetch_max(bytes, Ordering::SeqCst);
            }
        };
        let quote = self.request.clone().quote(&harness::licensed());
        let enough = async {
            while self.harness.calls() == calls || came.load(Ordering::SeqCst) < bytes {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        };
        tokio::select! {
            result = self.harness.gateway.fetch(&quote, &progress) => panic!("{}: {result:?}", self.fault),
            () = enough => {}
        }
    }

    fn check_ledger(&self, time: u32, about: &str) {
        let spent = self.harness.gateway.spent().unwrap();
        let expected = match (is_paid(&self.request), self.comes) {
            (false, _) => SpentUnits::default(),
            (true, Sound) => SpentUnits { charged: time.into(), ..SpentUnits::default() },
            (true, _) => SpentUnits { unsure: time.into(), ..SpentUnits::default() },
        };
        assert_eq!(spent, expected, "{about}");
        assert!(spent.total() >= self.harness.charged(), "{about}: {spent:?}");
    }

    /// What is held is sound, and what came whole and is of no use is set aside.
    fn check_stored(&self, time: u32, about: &str) {
        let is_stored = is_paid(&self.request) && self.comes == Sound;
        assert_eq!(self.harness.stored(&self.request).is_some(), is_stored, "{about}");
        let reports =
            |file: &Sha256| self.harness.gateway.store.reports(&self.harness.gateway.service, file).unwrap().len();
        let with_reports: Vec<_> = files().into_iter().filter(|file| reports(file) > 0).collect();
        assert_eq!(with_reports, if is_stored { vec![dropper()] } else { Vec::new() }, "{about}");
        let is_aside = is_paid(&self.request) && self.comes == Unusable;
        let count = |folder| self.harness.files(folder).len();
        let aside = usize::from(is_aside) * time as usize;
        assert_eq!((count("reports") > 0, count("unread")), (is_stored, aside), "{about}");
    }
}

fn kind(error: &ServiceError) -> Comes {
    match error {
        ServiceError::Refused(refusal) => Refusal(refusal.reason),
        ServiceError::Lost(_) => Lost,
        ServiceError::TooLong(_) => TooLong,
        ServiceError::Unusable(_) => Unusable,
        other => panic!("{other:?}"),
    }
}
