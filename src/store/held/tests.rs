use super::*;
use crate::report::Recent;

fn store() -> (tempfile::TempDir, Store) {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(&folder.path().join("behaview.db")).unwrap();
    (folder, store)
}

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(second).unwrap()
}

#[test]
fn bytes_come_back_as_they_went_in_over_block_borders() {
    let (_folder, store) = store();
    let bytes: Vec<u8> = (0..600_000_u32).flat_map(|n| (n % 9973).to_le_bytes()).collect();
    store.keep("p", b"key", at(1), &Body::in_memory(bytes.clone())).unwrap();
    let body = store.answer("p", b"key").unwrap().unwrap().body;
    assert!(body.whole().unwrap() == bytes);
    assert_eq!(body.window(262_140..262_150).unwrap(), &bytes[262_140..262_150]);
    assert!(store.answer("other", b"key").unwrap().is_none());
}

#[test]
fn the_newest_usable_answer_is_the_held_one() {
    let (_folder, store) = store();
    store.keep("p", b"key", at(1), &Body::in_memory(b"old".to_vec())).unwrap();
    let odd = store.keep("p", b"key", at(2), &Body::in_memory(b"odd".to_vec())).unwrap();
    store.set_aside(odd).unwrap();
    let whole = |store: &Store| store.answer("p", b"key").unwrap().unwrap().body.whole().unwrap();
    assert_eq!(whole(&store), b"old");
    let new = store.keep("p", b"key", at(3), &Body::in_memory(b"new".to_vec())).unwrap();
    assert_eq!(whole(&store), b"new");
    assert!(!store.answer("p", b"key").unwrap().unwrap().is_read);
    store.accept("p", new, &[]).unwrap();
    assert!(store.answer("p", b"key").unwrap().unwrap().is_read);
}

#[test]
fn a_clock_at_the_end_of_time_makes_nothing_old() {
    let (_folder, store) = store();
    store.keep("p", b"key", at(1_790_000_000), &Body::in_memory(b"new".to_vec())).unwrap();
    store.note_use(at(1_790_000_000)).unwrap();
    store.note_use(Timestamp::MAX).unwrap();
    let month = jiff::SignedDuration::from_hours(30 * 24);
    let outdated = store.outdated(month, Timestamp::MAX).unwrap().unwrap();
    assert!(outdated.before < at(1_790_000_000) && outdated.doubtful == 1, "{outdated:?}");
}

#[test]
fn what_says_the_same_as_before_is_no_further_version() {
    let (_folder, store) = store();
    let identifier = Identifier::new(Untrusted::from("one")).unwrap();
    let came = |second, json: &str| {
        let answer = store.keep("p", b"key", at(second), &Body::in_memory(json.as_bytes().to_vec())).unwrap();
        store.accept("p", answer, &[Brought::whole(identifier.clone(), json.len() as u64)]).unwrap();
    };
    let versions = || {
        let [held]: [_; 1] = store.inventory().unwrap().try_into().unwrap();
        held.versions.iter().map(|version| version.received).collect::<Vec<_>>()
    };
    for (second, json, wanted) in [
        (1, r#"{"id":"one"}"#, &[1][..]),
        (2, r#"{"id":"one"}"#, &[2]),
        (3, r#"{"id":"one","x":1}"#, &[2, 3]),
        // As it was before, but not the last time.
        (4, r#"{"id":"one"}"#, &[2, 3, 4]),
    ] {
        came(second, json);
        let mut found = versions();
        found.sort();
        assert_eq!(found, wanted.iter().map(|second| at(*second)).collect::<Vec<_>>());
        let newest = store.report("p", &identifier).unwrap().unwrap();
        assert_eq!((newest.received, newest.body.whole().unwrap()), (at(second), json.as_bytes().to_vec()));
    }
    // What is damaged is not what came.
    let answers = || -> i64 {
        store.read(|connection| connection.query_row("SELECT COUNT(*) FROM answer", [], |row| row.get(0))).unwrap()
    };
    for damage in ["UPDATE report SET after = 9", "UPDATE block SET seal = seal + 1", "UPDATE answer SET seal = 1"] {
        store.with(|connection| connection.execute_batch(damage)).unwrap();
        let before = answers();
        came(9, r#"{"id":"one"}"#);
        assert_eq!(answers(), before + 1, "{damage}");
    }
}

#[test]
fn reports_of_a_page_are_held_by_themselves() {
    let (_folder, store) = store();
    let file = Sha256::parse(&"ab".repeat(32)).unwrap();
    let json = br#"{"data":[{"id":"one","attributes":{"tags":["A"]}},{"id":"two"}]}"#;
    let answer = store.keep("p", b"list", at(1), &Body::in_memory(json.to_vec())).unwrap();
    let identifier = Identifier::new(Untrusted::from("one")).unwrap();
    store.accept("p", answer, &[Brought { identifier, file: Some(file.clone()), range: 9..49 }]).unwrap();
    let held = store.reports("p", &file).unwrap();
    assert_eq!(held.len(), 1);
    assert_eq!(held[0].body.whole().unwrap(), br#"{"id":"one","attributes":{"tags":["A"]}}"#);
    store.note_file("p", &file, Some("a.exe"), at(5)).unwrap();
    store.note_file("p", &file, None, at(6)).unwrap();
    let name = Some(Untrusted::from("a.exe"));
    let recent = Recent { file, name, opened: at(6), reports: 1, notes: 0, scan: None };
    assert_eq!(store.recent_files("p", 9).unwrap(), [recent]);
}

#[test]
fn what_two_programs_have_read_is_noted_once() {
    let (_folder, store) = store();
    let identifier = Identifier::new(Untrusted::from("one")).unwrap();
    let bytes = Body::in_memory(br#"{"id":"one"}"#.to_vec());
    let answer = store.keep("p", b"key", at(1), &bytes).unwrap();
    for _ in 0..2 {
        store.accept("p", answer, &[Brought::whole(identifier.clone(), bytes.len())]).unwrap();
    }
    let count = |row: &rusqlite::Row<'_>| row.get::<_, i64>(0);
    let rows = store.read(|connection| connection.query_row("SELECT COUNT(*) FROM report", [], count));
    assert_eq!(rows.unwrap(), 1);
}

#[test]
fn a_damaged_block_says_so() {
    let (_folder, store) = store();
    store.keep("p", b"key", at(1), &Body::in_memory(b"bytes".to_vec())).unwrap();
    store.with(|c| c.execute("UPDATE block SET bytes = x'00ff'", [])).unwrap();
    let error = store.answer("p", b"key").unwrap().unwrap().body.whole().unwrap_err();
    assert!(error.to_string().contains("is damaged in the store: what stood in it is set aside"), "{error}");
    assert!(store.answer("p", b"key").unwrap().is_none(), "it does not count as held any more");
}

#[test]
fn what_comes_again_is_the_newest_though_another_answer_brought_the_report_meanwhile() {
    let (_folder, store) = store();
    let identifier = Identifier::new(Untrusted::from("one")).unwrap();
    let full: &[u8] = br#"{"id":"one","x":[1,2]}"#;
    let come = |key: &[u8], second, bytes: &[u8]| {
        let answer = store.keep("p", key, at(second), &Body::in_memory(bytes.to_vec())).unwrap();
        let range = if key == b"list" { 1..bytes.len() as u64 - 1 } else { 0..bytes.len() as u64 };
        store.accept("p", answer, &[Brought { identifier: identifier.clone(), file: None, range }]).unwrap();
    };
    let newest = || store.report("p", &identifier).unwrap().unwrap().body.whole().unwrap();
    come(b"key", 1, full);
    come(b"list", 2, br#"[{"id":"one"}]"#);
    assert_eq!(newest(), br#"{"id":"one"}"#);
    for second in 3..6 {
        come(b"key", second, full);
        assert_eq!(newest(), full, "at {second}");
    }
    come(b"list", 6, br#"[{"id":"one"}]"#);
    assert_eq!(newest(), br#"{"id":"one"}"#);
    assert_eq!(store.inventory().unwrap().iter().map(|held| held.versions.len()).collect::<Vec<_>>(), [4]);
}

#[test]
fn two_programs_take_their_answers_in_at_once() {
    let (folder, _store) = store();
    let path = folder.path().join("behaview.db");
    let take_in = |name: &'static str| {
        let store = Store::open(&path).unwrap();
        move || {
            for number in 0..60 {
                let identifier = Identifier::new(Untrusted::from(format!("{name} {number}").as_str())).unwrap();
                let bytes = Body::in_memory(format!(r#"{{"id":"{name} {number}"}}"#).into_bytes());
                let answer = store.keep("p", identifier.as_bytes(), at(number), &bytes).unwrap();
                store.accept("p", answer, &[Brought::whole(identifier, bytes.len())]).unwrap();
            }
        }
    };
    let programs = ["one", "two"].map(take_in).map(std::thread::spawn);
    assert!(programs.map(std::thread::JoinHandle::join).iter().all(Result::is_ok));
}
