use super::*;
use crate::quota::{Entitlements, Kind, Operation, Spent, price};
use crate::store::Keep;
use std::ops::ControlFlow;

/// What a flipped bit, or somebody, may make of an entry that was charged.
const DAMAGES: [&str; 10] = [
    "state = 'chbrged'",
    "settled = -1",
    "settled = 'x'",
    "settled = 0",
    "state = 'free', settled = 0",
    "session = 't'",
    "predicted_max = 0, settled = 0",
    "seal = seal + 1",
    "seal = NULL",
    "owner = 7",
];

fn report() -> Price {
    price(&Operation::once(Kind::PrivateBehaviour), &Entitlements::default())
}

/// A question that every program asks alike.
fn entry<'a>(price: &'a Price, session: &'a str, at: Timestamp) -> Entry<'a> {
    let (profile, key, budget) = ("p", Some(&b"k"[..]), Budget::default());
    Entry { at, session, profile, what: "w", key, owner: None, price, account: None, budget }
}

#[test]
fn whoever_keeps_nothing_asks_nothing_twice_either() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("behaview.db");
    let open = |keep| Store::open_keeping(&path, keep, &|_| ControlFlow::Break(())).unwrap();
    let (keeps, forgets) = (open(Keep::Everything), open(Keep::Nothing));
    let (price, now) = (report(), Timestamp::UNIX_EPOCH);
    for (first, second, profile) in [(&keeps, &forgets, "p"), (&forgets, &keeps, "q")] {
        let asked = first.reserve(&Entry { profile, ..entry(&price, "one", now) }).unwrap();
        assert!(matches!(asked, Reserved::Entry(_)), "{asked:?}");
        let refused = second.reserve(&Entry { profile, ..entry(&price, "another", now) }).unwrap();
        assert!(matches!(refused, Reserved::UnderWayElsewhere), "{refused:?}");
    }
}

#[test]
fn what_was_sent_and_lost_is_known_by_every_name_of_its_service_and_key() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(&folder.path().join("behaview.db")).unwrap();
    let (price, now, owner) = (report(), Timestamp::UNIX_EPOCH, Some(7));
    let Reserved::Entry(call) = store.reserve(&Entry { owner, ..entry(&price, "s", now) }).unwrap() else {
        panic!("it was to be asked");
    };
    let lost = |profile, owner| store.unanswered((profile, owner), "https://r", (b"k", b"k"), None).unwrap();
    assert_eq!(lost("p", owner), None, "it is under way");
    store.settle(call, Settlement::Unknown, "lost", now).unwrap();
    assert_eq!((lost("p", owner), lost("twin", owner), lost("p", None)), (Some(now), Some(now), Some(now)));
    assert_eq!((lost("twin", Some(8)), lost("twin", None)), (None, None));
    // Where no key is read it may be that of any name of the service.
    assert!(store.claim_service("p", "https://r", "p").unwrap());
    assert_eq!((lost("twin", Some(8)), lost("twin", None)), (None, Some(now)));
}

#[test]
fn what_is_not_known_counts_as_charged() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(&folder.path().join("behaview.db")).unwrap();
    let (price, now, budget) = (report(), Timestamp::UNIX_EPOCH, Budget::default());
    let entry = |session, at| entry(&price, session, at);
    let reserve = |session, at| match store.reserve(&entry(session, at)).unwrap() {
        Reserved::Entry(call) => Some(call),
        _ => None,
    };
    let calls: Vec<_> = (0..4).map(|_| reserve("s", now).unwrap()).collect();
    // Another program asks nothing of it meanwhile, whatever its clock says; nor while but one of them is under way.
    let other = Store::open(store.path()).unwrap();
    for hours in [-1000, -1, 0, 1, 1000] {
        let at = now + jiff::SignedDuration::from_hours(hours);
        let reserved = other.reserve(&entry("another program", at)).unwrap();
        assert!(matches!(reserved, Reserved::UnderWayElsewhere), "{hours}: {reserved:?}");
    }
    let under_way: Vec<_> = calls.iter().map(Call::entry).collect();
    let settled = |under_way: &[i64]| together(store.settled("s", under_way).unwrap()).total();
    assert_eq!((store.spent("s").unwrap().total(), settled(&under_way), settled(&under_way[1..])), (4, 0, 1));
    let [first, second, third, last] = <[Call; 4]>::try_from(calls).unwrap();
    store.settle(first, Settlement::Unsent, "refused", now).unwrap();
    store.settle(second, Settlement::Charged(1), "200", now).unwrap();
    store.settle(third, Settlement::Unknown, "lost", now).unwrap();
    assert!(reserve("another program", now).is_none());
    drop(last);
    assert!(reserve("another program", now).is_some());
    let daily = Budget { daily: Some(4), ..budget };
    let over = store.reserve(&Entry { budget: daily, key: None, ..entry("a third", now) }).unwrap();
    assert!(matches!(over, Reserved::OverBudget(OverBudget { spent: Some(4), limit: 4, .. })), "{over:?}");
    let tomorrow = now + jiff::SignedDuration::from_hours(24);
    let next = store.reserve(&Entry { budget: daily, key: None, ..entry("a third", tomorrow) }).unwrap();
    assert!(matches!(next, Reserved::Entry(_)), "{next:?}");
    assert_eq!(store.spent("s").unwrap(), Spent { charged: 1, unsure: 2, is_open: false });
    assert_eq!(store.spent("other").unwrap().total(), 0);
    // A row that is not what was written counts at its highest price, wherever and whenever it says that it belongs.
    assert_eq!(store.damaged_entries().unwrap(), [0_i64; 0]);
    for damage in DAMAGES {
        let found = store.with(|c| {
            c.execute_batch(&format!("SAVEPOINT sound; UPDATE ledger SET {damage} WHERE id = 2"))?;
            let found = (sums_of_session(c, "s").map(together)?, super::damaged(c)?);
            c.execute_batch("ROLLBACK TO sound; RELEASE sound")?;
            Ok(found)
        });
        let (spent, damaged) = found.unwrap();
        assert_eq!(spent, Spent { charged: 0, unsure: 3, is_open: false }, "{damage}");
        assert_eq!(damaged, [2], "{damage}");
    }
}

#[test]
fn what_was_damaged_during_its_call_stays_so() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(&folder.path().join("behaview.db")).unwrap();
    let (price, now) = (report(), Timestamp::UNIX_EPOCH);
    let Reserved::Entry(call) = store.reserve(&entry(&price, "s", now)).unwrap() else {
        panic!("it was to be asked");
    };
    store.with(|c| c.execute("UPDATE ledger SET predicted_max = 0", [])).unwrap();
    store.settle(call, Settlement::Charged(1), "200", now).unwrap();
    assert_eq!(store.damaged_entries().unwrap(), [1]);
    assert_eq!(store.spent("s").unwrap().total(), 1);
}

#[test]
fn what_an_earlier_version_sealed_without_its_owner_is_believed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("behaview.db");
    let (price, now) = (report(), Timestamp::UNIX_EPOCH);
    let store = Store::open(&path).unwrap();
    let Reserved::Entry(call) = store.reserve(&Entry { owner: Some(7), ..entry(&price, "s", now) }).unwrap() else {
        panic!("nothing is under way")
    };
    let sealed = |c: &mut Connection| {
        let select = format!("SELECT {} FROM ledger", seal::ENTRY);
        let before = c.query_row(&select, [], |row| seal::of_entry(row, seal::ENTRY_COLUMNS - 1))?;
        c.execute("UPDATE ledger SET seal = ?1", [before])
    };
    store.with(sealed).unwrap();
    assert_eq!(store.damaged_entries().unwrap(), [0_i64; 0]);
    store.settle(call, Settlement::Charged(1), "200", now).unwrap();
    assert_eq!(store.damaged_entries().unwrap(), [0_i64; 0]);
    // From then on its owner is sealed as well.
    store.with(|c| c.execute("UPDATE ledger SET owner = 8", [])).unwrap();
    assert_eq!(store.damaged_entries().unwrap(), [1]);
}
