use crate::report::identifier::{Identifier, Sha256};
use crate::report::page::Page;
use crate::report::{Body, Purge};
use crate::store::{Brought, Store};
use crate::text::Untrusted;
use jiff::Timestamp;

const KEY: &[u8] = b"list";

fn id(name: &str) -> Identifier {
    Identifier::new(Untrusted::from(name)).unwrap()
}

/// A report with tags that name it, or none.
fn report(name: &str, tags: usize) -> Vec<u8> {
    let tags: Vec<_> = (0..tags).map(|n| format!(r#""of {name}, {n:05}""#)).collect();
    format!(r#"{{"id":"{name}","attributes":{{"tags":[{}]}}}}"#, tags.join(",")).into_bytes()
}

struct List {
    _folder: tempfile::TempDir,
    store: Store,
}

impl List {
    fn of(reports: &[(&str, Vec<u8>)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&folder.path().join("behaview.db")).unwrap();
        let (mut bytes, mut brought) = (br#"{"data":["#.to_vec(), Vec::new());
        for (number, (name, report)) in reports.iter().enumerate() {
            bytes.extend(if number > 0 { &b","[..] } else { b"" });
            let range = bytes.len() as u64..(bytes.len() + report.len()) as u64;
            brought.push(Brought { identifier: id(name), file: Sha256::parse(&"ab".repeat(32)), range });
            bytes.extend(report);
        }
        bytes.extend(br#"],"links":{}}"#);
        let answer = store.keep("p", KEY, Timestamp::UNIX_EPOCH, &Body::in_memory(bytes)).unwrap();
        store.accept("p", answer, &brought).unwrap();
        Self { _folder: folder, store }
    }

    fn change(&self, sql: &str) {
        self.store.with(|connection| connection.execute_batch(sql)).unwrap();
    }

    /// Deletes a report; says how many reports that were, and of how many bytes.
    fn delete(&self, name: &str) -> (u64, u64) {
        let purged = self
            .store
            .purge(&[Purge::Report { profile: "p".to_owned(), identifier: id(name), is_import: false }], None)
            .unwrap();
        (purged.reports, purged.bytes)
    }

    /// What is read of a report that is held.
    fn read(&self, name: &str) -> Option<std::io::Result<Vec<u8>>> {
        Some(self.store.report("p", &id(name)).unwrap()?.body.whole())
    }

    /// Whether anything is left on disk of what a report says.
    fn is_on_disk(&self, name: &str) -> bool {
        let mark = format!("of {name}, ");
        let blocks: Vec<Vec<u8>> = self
            .store
            .read(|connection| {
                connection.prepare("SELECT bytes FROM block")?.query_map([], |row| row.get(0))?.collect()
            })
            .unwrap();
        let unpacked = blocks.iter().filter_map(|block| zstd::bulk::decompress(block, 1 << 20).ok());
        unpacked.into_iter().any(|block| memchr::memmem::find(&block, mark.as_bytes()).is_some())
    }
}

#[test]
fn of_a_damaged_list_one_report_is_deleted_and_what_is_sound_stays_as_it_is() {
    const NAMES: [&str; 5] = ["B0", "B1", "B2", "B3", "B4"];
    // More than two blocks each.
    let reports: Vec<_> = NAMES.iter().map(|name| (*name, report(name, 9000))).collect();
    let swapped = "UPDATE block SET number = -1 WHERE number = 3; UPDATE block SET number = 6 WHERE number = -1";
    let swapped = swapped.replace("; ", "; UPDATE block SET number = 3 WHERE number = 6; ");
    for (damage, hurt) in [
        ("DELETE FROM block WHERE number = 3", &NAMES[1..2]),
        ("UPDATE block SET bytes = substr(bytes, 1, length(bytes) - 1) WHERE number = 3", &NAMES[1..2]),
        ("UPDATE block SET seal = seal + 1 WHERE number = 3", &NAMES[1..2]),
        (&swapped, &NAMES[1..4]),
        ("DELETE FROM block WHERE number = 2", &NAMES[..2]),
    ] {
        for deleted in NAMES {
            let list = List::of(&reports);
            list.change(damage);
            assert_eq!(list.delete(deleted), (1, reports[0].1.len() as u64), "{damage}");
            assert!(list.read(deleted).is_none() && !list.is_on_disk(deleted), "{damage}: {deleted}");
            let others: Vec<_> = reports.iter().filter(|(name, _)| *name != deleted).collect();
            let is_held = |name| list.store.report("p", &id(name)).unwrap().is_some();
            assert!(others.iter().all(|(name, _)| is_held(name)), "{damage}: something went with {deleted}");
            for (name, report) in others {
                match list.read(name) {
                    Some(Ok(read)) => {
                        assert!(!hurt.contains(name) && read == *report, "{damage}: {name} not {deleted}")
                    }
                    Some(Err(why)) => assert!(hurt.contains(name) && why.to_string().contains("block"), "{why}"),
                    // It stood in the block that another was read from.
                    None => assert!(hurt.contains(name), "{damage}: {name} not {deleted}"),
                }
            }
        }
    }
}

#[test]
fn what_is_damaged_of_another_report_of_a_list_is_not_believed_afterwards() {
    const NAMES: [&str; 5] = ["B0", "B1", "B2", "B3", "B4"];
    let reports = NAMES.map(|name| (name, report(name, 40)));
    let of_b1 = "SELECT first, after FROM report WHERE identifier = CAST('B1' AS BLOB)";
    for change in [
        &format!("(first, after) = ({of_b1})"),
        "first = first + 64",
        "identifier = CAST('B0' AS BLOB)",
        "identifier = CAST('B7' AS BLOB)",
        "file = replace(file, 'a', 'c')",
    ] {
        for deleted in ["B1", "B4", "B0"] {
            let list = List::of(&reports);
            list.change(&format!("UPDATE report SET {change} WHERE identifier = CAST('B2' AS BLOB)"));
            // A report of which it is not known which one it is may stop it.
            let what = Purge::Report { profile: "p".to_owned(), identifier: id(deleted), is_import: false };
            let is_done = list.store.purge(&[what], None).is_ok();
            for (name, report) in &reports {
                let Ok(found) = list.store.report("p", &id(name)) else { continue };
                let found = found.map(|found| found.body.whole().unwrap());
                assert!(found.is_none_or(|found| found == *report), "{change}, {deleted}: {name} is another");
            }
            assert!(
                !is_done || list.store.report("p", &id(deleted)).is_ok_and(|found| found.is_none()) || deleted == "B0"
            );
            assert!(list.store.report("p", &id("B7")).is_err() == change.contains("B7"), "{change}, {deleted}");
        }
    }
}

#[test]
fn what_may_still_hold_a_deleted_report_is_named() {
    let list = List::of(&["B0", "B1"].map(|name| (name, report(name, 9))));
    let what = [Purge::Report { profile: "p".to_owned(), identifier: id("B1"), is_import: false }];
    assert_eq!(list.store.still_holding(&what).unwrap(), Vec::<String>::new());
    let aside = list.store.keep("p", b"older", Timestamp::UNIX_EPOCH, &Body::in_memory(b"{}".to_vec())).unwrap();
    list.store.set_aside(aside).unwrap();
    for name in ["behaview.db-damaged-3", "behaview.db-damaged-3-wal", "behaview.db-damaged", "other.db-damaged-1"] {
        std::fs::write(list.store.path().with_file_name(name), "").unwrap();
    }
    let remarks = list.store.still_holding(&what).unwrap();
    assert!(remarks[0].starts_with(&format!("answer-{}, set aside", aside.0)), "{remarks:?}");
    assert!(remarks.len() == 2 && remarks[1].starts_with("behaview.db-damaged-3, set aside"), "{remarks:?}");
}

#[test]
fn a_block_that_damage_has_put_elsewhere_goes_with_its_report() {
    let reports = ["B0", "B1", "B2"].map(|name| (name, report(name, 9000)));
    let list = List::of(&reports);
    let other = list.store.keep("p", b"other", Timestamp::UNIX_EPOCH, &Body::in_memory(b"{}".to_vec())).unwrap();
    list.change(&format!("UPDATE block SET answer = {}, number = 9 WHERE number = 3", other.0));
    assert_eq!(list.delete("B1").0, 1);
    assert!(!list.is_on_disk("B1") && list.is_on_disk("B0") && list.is_on_disk("B2"));
}

#[test]
fn a_report_that_a_page_names_twice_goes_alone_and_whole() {
    let [first, second] = [40, 70].map(|tags| report("twice", tags));
    // Behind a report that is gone stands one where the next was.
    let gap = first.len() - br#"{"id":"twice"}"#.len();
    let fitting = [report("twice", 40), [report("twice", 2), vec![b' '; gap]].concat()[..gap - 1].to_vec()];
    for [first, second] in [[first, second], fitting] {
        for order in [[0, 1, 2, 3, 4], [0, 4, 1, 2, 3], [1, 2, 0, 4, 3]] {
            let others = ["one", "two", "three"].map(|name| (name, report(name, 9)));
            let all = [
                ("twice", first.clone()),
                others[0].clone(),
                others[1].clone(),
                others[2].clone(),
                ("twice", second.clone()),
            ];
            let list = List::of(&order.map(|place: usize| all[place].clone()));
            assert_eq!(list.delete("twice"), (1, (first.len() + second.len()) as u64));
            assert!(!list.is_on_disk("twice"));
            for (name, report) in others {
                assert_eq!(list.read(name).unwrap().unwrap(), report, "{name} of {order:?}");
            }
            let page = Page::of(&list.store.answer("p", KEY).unwrap().unwrap().body).unwrap();
            assert_eq!(page.entries.iter().filter(|entry| entry.report.is_some()).count(), 3);
        }
    }
}

#[test]
fn a_report_of_which_it_is_not_known_where_it_stands_takes_nothing_along() {
    let reports = ["B0", "B1"].map(|name| (name, report(name, 9)));
    let list = List::of(&reports);
    list.change("UPDATE report SET after = after + 20 WHERE first < 20");
    let why = list
        .store
        .purge(&[Purge::Report { profile: "p".to_owned(), identifier: id("B0"), is_import: false }], None)
        .unwrap_err();
    assert!(why.to_string().contains("The next start sets it aside"), "{why}");
    assert_eq!(list.read("B1").unwrap().unwrap(), reports[1].1);
}
