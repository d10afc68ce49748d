use super::*;
use crate::quota::{Entitlements, Kind, Operation, Outcome, Period, price};
use crate::store::{NewEntry, Payer, Reserved};

const WHOSE: Payer<'_> = Payer { profile: "p", service: "s", key_digest: None };

/// Charges a request to the ledger of a store.
fn charge(store: &Store) {
    let price = price(&Operation::once(Kind::PrivateBehaviour), &Entitlements::default());
    let at = crate::clock::now();
    let budget = crate::quota::Budget::default();
    let account = None;
    let per_minute = None;
    let claim = None;
    let price = &price;
    let session = "s";
    let entry = NewEntry {
        at,
        clock: at,
        session,
        payer: WHOSE,
        what: "w",
        project: None,
        claim,
        price,
        account,
        budget,
        per_minute,
    };
    let Reserved::Entry(call) = store.reserve(&entry).unwrap() else { panic!("nothing is in flight") };
    store.settle(call, price.settle(Outcome::Received), "200", at).unwrap();
}

fn spent(store: &Store) -> crate::quota::SpentUnits {
    store.spent_in(WHOSE, Period::Daily, crate::clock::now()).unwrap().into_values().sum()
}

#[test]
fn a_flipped_bit_leaves_no_ledger_too_low() {
    let folder = tempfile::tempdir().unwrap();
    let path = database(folder.path());
    let store = Store::open(folder.path()).unwrap();
    (0..4).for_each(|_| charge(&store));
    drop(store);
    let sound = std::fs::read(&path).unwrap();
    let mut damaged = 0;
    let mut unnoticed = 0;
    for (n, at) in (0..sound.len()).step_by(307).chain((0..100).step_by(3)).enumerate() {
        let mut changed = sound.clone();
        changed[at] ^= 1 << (n % 8);
        std::fs::write(&path, &changed).unwrap();
        match Store::open(folder.path()) {
            Ok(store) => {
                let spent = spent(&store);
                assert!(spent.charged == 4 || spent.is_open, "bit {n} at {at}: {spent:?}");
                damaged += usize::from(store.notice.is_some());
                unnoticed += usize::from(store.notice.is_none());
            }
            // That is what a newer version's would be.
            Err(error) => assert!(matches!(error, StoreError::Newer { .. }), "{at}: {error}"),
        }
        for entry in folder.path().read_dir().unwrap().flatten() {
            let is_aside = entry.file_name().to_string_lossy().starts_with("records.damaged");
            assert!(!is_aside || std::fs::read(entry.path()).unwrap() == changed, "it is kept untouched");
            let _ = is_aside.then(|| std::fs::remove_file(entry.path()));
        }
    }
    assert!(damaged > 15 && unnoticed > 20, "{damaged} noticed, {unnoticed} not");
}

#[test]
fn the_last_copy_comes_back_with_one_open_entry() {
    for damage in ["truncated", "emptied", "deleted", "overwritten", "both"] {
        let folder = tempfile::tempdir().unwrap();
        let path = database(folder.path());
        let store = Store::open(folder.path()).unwrap();
        charge(&store);
        store.copy().unwrap();
        charge(&store);
        drop(store);
        match damage {
            "truncated" => File::options().write(true).open(&path).unwrap().set_len(5000).unwrap(),
            "emptied" => std::fs::write(&path, b"").unwrap(),
            "deleted" => std::fs::remove_file(&path).unwrap(),
            _ => std::fs::write(&path, [7; 9000]).unwrap(),
        }
        if damage == "both" {
            std::fs::write(copy(folder.path()), [7; 9000]).unwrap();
        }
        let store = Store::open(folder.path()).unwrap();
        let notice = store.notice.clone().unwrap();
        let left = spent(&store);
        assert!(left.is_open && left.charged == u64::from(damage != "both"), "{damage}: {left:?}");
        assert!(notice.contains("were damaged") && notice.contains("One open entry"), "{notice}");
        let entries = store.entries(WHOSE).unwrap();
        assert_eq!(entries.iter().filter(|entry| entry.at_least).count(), 1);
        drop(store);
        let again = Store::open(folder.path()).unwrap();
        assert_eq!((again.notice.as_deref(), spent(&again)), (None, left), "{damage}: it is said once");
        charge(&again);
    }
}

#[test]
fn a_newer_database_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    drop(Store::open(folder.path()).unwrap());
    let newer = "ALTER TABLE note ADD COLUMN colour TEXT; PRAGMA user_version = 99";
    Connection::open(database(folder.path())).unwrap().execute_batch(newer).unwrap();
    assert!(matches!(Store::open(folder.path()), Err(StoreError::Newer { found: 99, .. })));
}
