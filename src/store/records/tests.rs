use super::*;
use crate::quota::{Entitlements, Kind, Operation, Period, price};
use crate::store::{Entry, NewAnswer, Reserved, Settlement, Whose};

const WHOSE: Whose<'_> = Whose { profile: "p", service: "s", owner: None };

/// Charges a request to the ledger of a store.
fn charge(store: &Store) {
    let price = price(&Operation::once(Kind::PrivateBehaviour), &Entitlements::default());
    let (at, budget) = (crate::clock::now(), crate::quota::Budget::default());
    let entry = Entry { at, session: "s", whose: WHOSE, what: "w", claim: None, price: &price, account: None, budget };
    let Reserved::Entry(call) = store.reserve(&entry).unwrap() else { panic!("nothing is in flight") };
    store.settle(call, Settlement::Charged(1), "200", at).unwrap();
}

fn spent(store: &Store) -> crate::quota::Spent {
    store.spent_in(WHOSE, Period::Daily, crate::clock::now()).unwrap()
}

#[test]
fn a_flipped_bit_leaves_no_ledger_too_low() {
    let folder = tempfile::tempdir().unwrap();
    let path = database(folder.path());
    let store = Store::open(folder.path()).unwrap();
    (0..4).for_each(|_| charge(&store));
    drop(store);
    let sound = std::fs::read(&path).unwrap();
    let (mut damaged, mut unnoticed) = (0, 0);
    for (n, at) in (0..sound.len()).step_by(97).chain(0..100).enumerate() {
        let mut changed = sound.clone();
        changed[at] ^= 1 << (n % 8);
        std::fs::write(&path, &changed).unwrap();
        match Store::open(folder.path()) {
            Ok(store) => {
                let spent = spent(&store);
                assert!(spent.charged == 4 || spent.is_open, "bit {n} at {at}: {spent:?}");
                damaged += usize::from(store.notice().is_some());
                unnoticed += usize::from(store.notice().is_none());
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
    assert!(damaged > 20 && unnoticed > 20, "{damaged} noticed, {unnoticed} not");
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
        let (notice, left) = (store.notice().unwrap().to_owned(), spent(&store));
        assert!(left.is_open && left.charged == u64::from(damage != "both"), "{damage}: {left:?}");
        assert!(notice.contains("were damaged") && notice.contains("One open entry"), "{notice}");
        let entries = store.entries(WHOSE).unwrap();
        assert_eq!(entries.iter().filter(|entry| entry.is_open()).count(), 1);
        drop(store);
        let again = Store::open(folder.path()).unwrap();
        assert_eq!((again.notice(), spent(&again)), (None, left), "{damage}: it is said once");
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

#[test]
fn where_nothing_is_kept_no_byte_of_an_answer_is_on_disk() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open_keeping(folder.path(), Keep::Nothing).unwrap();
    let (key, received) = (&b"file-analyses x"[..], Timestamp::UNIX_EPOCH);
    let new = NewAnswer { service: "s", profile: "p", key, received, bytes: b"{}" };
    store.keep(&new).unwrap();
    store.accept(&new, &[]).unwrap();
    assert_eq!(store.answer("s", key).unwrap().unwrap().body.to_vec(), b"{}");
    charge(&store);
    let names = |store: &Store| {
        let names = store.folder().read_dir().unwrap().flatten();
        let mut names: Vec<_> = names.map(|entry| entry.file_name().into_string().unwrap()).collect();
        names.sort();
        names
    };
    assert_eq!(names(&store), ["calls", "records.copy.db", "records.db", "records.lock"]);
    drop(store);
    let store = Store::open(folder.path()).unwrap();
    assert!(store.answer("s", key).unwrap().is_none() && spent(&store).charged == 1);
    store.keep(&new).unwrap();
    drop(store);
    let refused = Store::open_keeping(folder.path(), Keep::Nothing);
    assert!(matches!(refused, Err(StoreError::NotEmpty { what, .. }) if what == "1 response"));
}

#[cfg(unix)]
#[test]
fn files_are_the_owners_and_links_are_not_followed() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("deep/er");
    let store = Store::open(&place).unwrap();
    charge(&store);
    let new = NewAnswer { service: "s", profile: "p", key: b"file x", received: Timestamp::UNIX_EPOCH, bytes: b"{}" };
    store.keep(&new).unwrap();
    store.accept(&new, &[]).unwrap();
    drop(store);
    let mut folders = vec![place.clone()];
    while let Some(next) = folders.pop() {
        let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&next), 0o700, "{}", next.display());
        for entry in next.read_dir().unwrap().flatten() {
            match entry.path() {
                inner if inner.is_dir() => folders.push(inner),
                file => assert_eq!(mode(&file), 0o600, "{}", file.display()),
            }
        }
    }
    std::fs::set_permissions(database(&place), std::fs::Permissions::from_mode(0o644)).unwrap();
    drop(Store::open(&place).unwrap());
    assert!(!files::is_open_to_others(&database(&place)), "what others could read is closed to them");
    symlink(&place, folder.path().join("link")).unwrap();
    assert!(matches!(Store::open(&folder.path().join("link")), Err(StoreError::Link(_))));
    std::fs::rename(database(&place), folder.path().join("victim")).unwrap();
    symlink(folder.path().join("victim"), database(&place)).unwrap();
    assert!(matches!(Store::open(&place), Err(StoreError::Link(_))));
}
