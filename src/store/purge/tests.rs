use super::*;
use crate::report::Body;
use crate::report::identifier::{Identifier, Sha256};
use crate::text::Untrusted;
use jiff::Timestamp;

#[test]
fn what_another_program_has_deleted_meanwhile_is_no_error() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(&folder.path().join("behaview.db")).unwrap();
    let gone = AnswerId(7);
    let deleted = store.with(|connection| {
        wear_away(connection, gone)?;
        let transaction = connection.transaction()?;
        Ok((take_off(&transaction, gone)?, delete(&transaction, gone)?))
    });
    assert_eq!(deleted.unwrap(), (0, 0));
}

#[test]
fn a_store_of_the_time_before_lets_go_of_its_pages_too() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("behaview.db");
    // A file that has pages already cannot be told to give them back, except by writing it anew.
    Connection::open(&path).unwrap().execute_batch("CREATE TABLE before (x); DROP TABLE before").unwrap();
    let store = Store::open(&path).unwrap();
    let noise: Vec<u8> = (0..400_000_u32).flat_map(|n| n.wrapping_mul(2_654_435_761).to_le_bytes()).collect();
    for _ in 0..2 {
        store.keep("p", b"key", Timestamp::UNIX_EPOCH, &Body::in_memory(noise.clone())).unwrap();
        let purged = store.purge(&[Purge::Everything], None).unwrap();
        assert_eq!(purged, Purged { bytes: 1_600_000, ..Purged::default() });
        let files = std::fs::read_dir(folder.path()).unwrap().map(|file| file.unwrap());
        let all_but_spare = files.filter(|file| file.path() != crate::store::spare::file_of(&path));
        let size: u64 = all_but_spare.map(|file| file.metadata().unwrap().len()).sum();
        assert!(size < 300_000, "the pages are still there");
    }
}

#[test]
fn artefacts_go_with_their_report_and_their_file_whole_or_not() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(&folder.path().join("behaview.db")).unwrap();
    let name = |sandbox: &str| format!("{}_{sandbox}", "ab".repeat(32));
    let identifier = |sandbox: &str| Identifier::new(Untrusted::from(name(sandbox))).unwrap();
    let begin = |kind: &str, sandbox: &str| {
        let key = format!("artefact {kind} {}", name(sandbox));
        store.begin_growing("p", key.as_bytes(), Timestamp::UNIX_EPOCH).unwrap()
    };
    let (whole, part, other) = (begin("html", "one"), begin("pcap", "one"), begin("pcap", "two"));
    [whole, part, other].iter().for_each(|id| store.grow(*id, 0, 0, &[7; 5000]).unwrap());
    store.grown(whole, 5000, Timestamp::UNIX_EPOCH).unwrap();
    let left = || store.inventory().unwrap().into_iter().map(|kept| kept.bytes).collect::<Vec<_>>();
    assert_eq!(left(), [5000; 3]);
    let profile = "p".to_owned();
    let report = Purge::Report { profile: profile.clone(), identifier: identifier("one"), is_import: false };
    assert_eq!(store.purge(&[report], None).unwrap().bytes, 10_000);
    assert!(store.grow(part, 5000, 5000, &[7; 10]).is_err(), "what was deleted is here again");
    store.purge(&[Purge::File { profile, file: Sha256::parse(&"ab".repeat(32)).unwrap() }], None).unwrap();
    assert_eq!(left(), [0; 0]);
}

#[test]
fn nothing_goes_that_was_not_agreed_to_and_nobody_writes_between_the_look_and_the_deletion() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("behaview.db");
    let store = Store::open(&path).unwrap();
    let keep = |key: &[u8]| {
        store.keep("p", key, Timestamp::UNIX_EPOCH, &Body::in_memory(vec![7; 5000])).unwrap();
    };
    keep(b"one");
    let other = Connection::open(&path).unwrap();
    other.busy_timeout(Duration::ZERO).unwrap();
    let write = || other.execute("UPDATE answer SET usable = 1", []);
    let agreed = |held: &[Holding]| held.len() == 1 && write().is_err();
    assert!(write().is_ok());
    keep(b"another");
    assert_eq!(store.purge_as_agreed(&[Purge::Everything], None, &agreed).unwrap(), None);
    assert_eq!(store.inventory().unwrap().len(), 2);
    store.purge(&[Purge::DownTo(store.inventory().unwrap()[0].on_disk)], None).unwrap();
    let purged = store.purge_as_agreed(&[Purge::Everything], None, &agreed).unwrap().unwrap();
    assert_eq!((purged.bytes, store.inventory().unwrap().len()), (5000, 0));
}

#[test]
fn what_came_first_goes_until_no_more_is_left_than_may_be() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(&folder.path().join("behaview.db")).unwrap();
    let at = |second| Timestamp::from_second(second).unwrap();
    for second in 1..=4 {
        store.keep("p", &[second as u8], at(second), &Body::in_memory(vec![0; 5000])).unwrap();
    }
    let each = store.inventory().unwrap()[0].on_disk;
    store.purge(&[Purge::DownTo(each * 2)], None).unwrap();
    let left: Vec<_> = store.inventory().unwrap().into_iter().map(|kept| kept.received).collect();
    assert_eq!(left, [at(4), at(3)]);
    store.purge(&[Purge::Before(at(4))], Some("another profile")).unwrap();
    assert_eq!(store.inventory().unwrap().len(), 2);
}

#[test]
fn of_the_earlier_files_those_that_are_worked_on_stay_without_their_reports() {
    const DAY: i64 = 86_400;
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(&folder.path().join("behaview.db")).unwrap();
    // A moment before the day begins.
    let at = |day: i64| Timestamp::from_second(EARLIEST.as_second() + day * DAY - 1).unwrap();
    let file = |digits: &str| Sha256::parse(&digits.repeat(32)).unwrap();
    for (digits, opened, listed) in [("aa", 8, 7), ("bb", 8, 11), ("cc", 10, 9)] {
        let key = format!("behaviours {} ", file(digits));
        let list = store.keep("p", key.as_bytes(), at(listed), &Body::in_memory(b"{}".to_vec())).unwrap();
        store.accept("p", list, &[]).unwrap();
        store.note_file("p", &file(digits), None, at(opened)).unwrap();
    }
    store.note_file("p", &file("dd"), None, at(8)).unwrap();
    let earlier = || {
        let files = store.recent_files("p", 9).unwrap().into_iter();
        files.map(|recent| recent.file.as_str()[..2].to_owned()).collect::<std::collections::BTreeSet<_>>()
    };
    let what = [Purge::Before(Timestamp::from_second(EARLIEST.as_second() + 10 * DAY).unwrap())];
    assert_eq!((earlier().len(), store.forgotten_files(&what, None).unwrap()), (4, 2));
    store.purge(&what, None).unwrap();
    assert_eq!((earlier(), store.inventory().unwrap().len()), (["bb", "cc"].map(str::to_owned).into(), 1));
}

#[test]
fn of_what_is_listed_under_two_files_goes_what_was_listed_under_the_one() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(&folder.path().join("behaview.db")).unwrap();
    let file = |digits: &str| Sha256::parse(&digits.repeat(32)).unwrap();
    for (digits, bytes) in [("ab", 7), ("cd", 9)] {
        let key = format!("behaviours {}", digits.repeat(32));
        let answer = store.keep("p", key.as_bytes(), Timestamp::UNIX_EPOCH, &Body::in_memory(vec![b'7'; 50])).unwrap();
        let identifier = Identifier::new(Untrusted::from("odd")).unwrap();
        let brought = crate::store::Brought { identifier, file: Some(file(digits)), range: 10..10 + bytes };
        store.accept("p", answer, &[brought]).unwrap();
    }
    for (digits, whole, versions, bytes) in [("ab", 0, 1, 7), ("cd", 1, 0, 9)] {
        let (what, held) = ([Purge::File { profile: "p".to_owned(), file: file(digits) }], store.inventory().unwrap());
        let doomed = crate::report::Doomed::of(&what, &held, None);
        assert_eq!((doomed.things.len(), doomed.versions.len()), (whole, versions), "{digits}");
        store.purge(&what, None).unwrap();
        let left = |held: &[Holding]| held.iter().map(|thing| thing.bytes).sum::<u64>();
        assert_eq!(left(&held) - left(&store.inventory().unwrap()), bytes, "{digits}");
    }
}

#[test]
fn what_comes_while_one_goes_after_another_was_not_agreed_to_and_stays() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("behaview.db");
    let (store, other) = (Store::open(&path).unwrap(), Store::open(&path).unwrap());
    let body = || Body::in_memory(vec![7; 5000]);
    store.keep("p", b"one", Timestamp::UNIX_EPOCH, &body()).unwrap();
    let agreed = |held: &[Holding]| held.len() == 1 && other.keep("p", b"two", Timestamp::UNIX_EPOCH, &body()).is_ok();
    let asked = Asked { what: &[Purge::Everything], profile: None, agreed: Some(&agreed) };
    let purged = store.with(|connection| one_by_one(connection, &asked)).unwrap().unwrap();
    assert_eq!((purged.bytes, store.inventory().unwrap().len()), (5000, 1));
    assert!(store.answer("p", b"two").unwrap().is_some());
    // What was seen is another number now.
    assert!(
        store
            .with(|connection| one_by_one(connection, &Asked { agreed: Some(&|held| held.is_empty()), ..asked }))
            .unwrap()
            .is_none()
    );
}
