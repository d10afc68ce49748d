use super::*;
use crate::quota::{Entitlements, Kind, Operation, Outcome, SpentUnits, price};

const K: Option<&[u8]> = Some(b"k");

fn report() -> Price {
    price(&Operation::once(Kind::PrivateBehaviour), &Entitlements::default())
}

/// A question that every program asks alike.
fn entry<'a>(price: &'a Price, session: &'a str, at: Timestamp) -> NewEntry<'a> {
    let payer = payer("p", Some(7));
    let claim = K;
    let budget = Budget::default();
    NewEntry {
        at,
        clock: at,
        session,
        payer,
        what: "w",
        project: None,
        claim,
        price,
        account: None,
        budget,
        per_minute: None,
    }
}

fn payer(profile: &str, key_digest: Option<i64>) -> Payer<'_> {
    Payer { profile, service: "s", key_digest }
}

#[test]
fn a_program_that_keeps_nothing_asks_nothing_twice() {
    let folder = tempfile::tempdir().unwrap();
    let open = |is_persistent| Store::open_with(folder.path(), is_persistent).unwrap();
    let keeps = open(true);
    let forgets = open(false);
    let price = report();
    let now = Timestamp::UNIX_EPOCH;
    for (first, second) in [(&keeps, &forgets), (&forgets, &keeps)] {
        let sent = first.reserve(&entry(&price, "one", now)).unwrap();
        assert!(matches!(sent, Reserved::Entry(_)), "{sent:?}");
        let refused = second.reserve(&entry(&price, "another", now)).unwrap();
        assert!(matches!(refused, Reserved::InFlight), "{refused:?}");
    }
}

#[test]
fn what_was_sent_and_lost_is_known_at_its_service() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path()).unwrap();
    let price = report();
    let now = Timestamp::UNIX_EPOCH;
    let Reserved::Entry(call) = store.reserve(&entry(&price, "s", now)).unwrap() else { panic!("it was to be asked") };
    let lost = |payer| store.unanswered(payer, (b"k", b"k"), None).unwrap();
    assert_eq!(lost(payer("p", Some(7))), None, "it is in flight");
    store.settle(call, price.settle(Outcome::Unknown), "lost", now).unwrap();
    assert_eq!((lost(payer("p", Some(7))), lost(payer("twin", None))), (Some(now), Some(now)));
    let moved = Payer { profile: "p", service: "elsewhere", key_digest: Some(7) };
    assert_eq!((lost(moved), lost(Payer { key_digest: None, ..moved })), (Some(now), None));
}

#[test]
fn what_is_not_known_counts_as_charged() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path()).unwrap();
    let price = report();
    let now = Timestamp::UNIX_EPOCH;
    let budget = Budget::default();
    let entry = |session, at| entry(&price, session, at);
    let reserve = |session, at| match store.reserve(&entry(session, at)).unwrap() {
        Reserved::Entry(call) => Some(call),
        _ => None,
    };
    let call = |claim: Option<&[u8]>| match store.reserve(&NewEntry { claim, ..entry("s", now) }).unwrap() {
        Reserved::Entry(call) => call,
        other => panic!("{other:?}"),
    };
    let calls = vec![call(None), call(None), call(None), call(K)];
    // Another program asks nothing of it meanwhile, whatever its clock says.
    let other = Store::open(&store.folder).unwrap();
    for hours in [-1000, -1, 0, 1, 1000] {
        let at = now + jiff::SignedDuration::from_hours(hours);
        let reserved = other.reserve(&entry("another program", at)).unwrap();
        assert!(matches!(reserved, Reserved::InFlight), "{hours}: {reserved:?}");
    }
    let settled = || store.settled("s").unwrap().into_values().sum::<SpentUnits>().total();
    let spent = |session| store.spent(session).unwrap().into_values().sum::<SpentUnits>();
    assert_eq!((spent("s").total(), settled()), (4, 0));
    let [first, second, third, last] = <[RecordedCall; 4]>::try_from(calls).unwrap();
    store.settle(first, Settlement::UNSENT, "refused", now).unwrap();
    store.settle(second, price.settle(Outcome::Received), "200", now).unwrap();
    store.settle(third, price.settle(Outcome::Unknown), "lost", now).unwrap();
    assert!(reserve("another program", now).is_none());
    drop(last);
    assert_eq!(settled(), 3, "its outcome was not written");
    assert!(reserve("another program", now).is_some());
    let daily = Budget { daily: Some(4), ..budget };
    let over = store.reserve(&NewEntry { budget: daily, claim: None, ..entry("a third", now) }).unwrap();
    assert!(matches!(over, Reserved::OverBudget(OverBudget { spent: Some(4), limit: 4, .. })), "{over:?}");
    let tomorrow = now + jiff::SignedDuration::from_hours(24);
    let next = store.reserve(&NewEntry { budget: daily, claim: None, ..entry("a third", tomorrow) }).unwrap();
    assert!(matches!(next, Reserved::Entry(_)), "{next:?}");
    assert_eq!(spent("s"), SpentUnits { charged: 1, unsure: 2, is_open: false });
    assert_eq!(spent("other").total(), 0);
}
