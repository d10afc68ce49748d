use super::super::database::Store;
use super::*;
use crate::report::Index;
use jiff::Timestamp;

const KEY: &[u8] = b"key";

/// A store that holds one report of many rows.
fn store() -> (tempfile::TempDir, Store) {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(&folder.path().join("behaview.db")).unwrap();
    let rows: Vec<String> = (0..40_000).map(|row| format!(r#""C:\\file {row}""#)).collect();
    let json = format!(r#"{{"data":{{"attributes":{{"files_opened":[{}]}}}}}}"#, rows.join(","));
    store.keep("p", KEY, Timestamp::UNIX_EPOCH, &Body::in_memory(json.into_bytes())).unwrap();
    (folder, store)
}

fn body(store: &Store) -> Body {
    store.answer("p", KEY).unwrap().unwrap().body
}

fn starts(index: &Index) -> io::Result<Vec<u32>> {
    index.sections[0].starts(0..usize::MAX).map(std::borrow::Cow::into_owned)
}

#[test]
fn an_index_is_kept_beside_its_answer_for_every_program() {
    let (folder, store) = store();
    let body = body(&store);
    assert!(Index::kept(&body).is_none());
    let fresh = Index::open(&body).unwrap();
    fresh.clone().keep(&body).unwrap();
    let other = Store::open(&folder.path().join("behaview.db")).unwrap();
    for kept in [Index::kept(&body).unwrap(), Index::kept(&self::body(&other)).unwrap()] {
        kept.verify().unwrap();
        assert_eq!(starts(&kept).unwrap(), starts(&fresh).unwrap());
        assert_eq!(kept.sections[0].start(39_999), fresh.sections[0].start(39_999));
        assert_eq!(kept.sections[0].start(40_000), None);
    }
    // Kept again by the other program, it is the same for both.
    fresh.keep(&self::body(&other)).unwrap();
    assert!(Index::kept(&body).is_some());
}

#[test]
fn a_part_of_an_answer_has_an_index_of_its_own() {
    let (_folder, store) = store();
    let body = body(&store);
    let part = body.slice(8..body.len() - 1);
    Index::of(&part).unwrap().keep(&part).unwrap();
    assert!(Index::kept(&body).is_none() && Index::kept(&body.slice(8..body.len())).is_none());
    assert_eq!(starts(&Index::kept(&part).unwrap()).unwrap()[..2], starts(&Index::of(&part).unwrap()).unwrap()[..2]);
}

#[test]
fn an_index_that_stands_at_another_answer_is_none() {
    let (_folder, store) = store();
    let body = body(&store);
    store.keep("p", b"other", Timestamp::UNIX_EPOCH, &Body::in_memory(body.whole().unwrap())).unwrap();
    let other = store.answer("p", b"other").unwrap().unwrap().body;
    Index::open(&body).unwrap().keep(&body).unwrap();
    assert!(Index::kept(&body).is_some() && Index::kept(&other).is_none());
    let lead_astray = "UPDATE row_index SET answer = (SELECT id FROM answer WHERE key = CAST('other' AS BLOB))";
    store.with(|connection| connection.execute_batch(lead_astray)).unwrap();
    assert!(Index::kept(&other).is_none());
}

#[test]
fn a_damaged_or_missing_block_is_found_out() {
    for damage in ["UPDATE index_block SET bytes = x'00'", "DELETE FROM index_block WHERE number = 1"] {
        let (_folder, store) = store();
        let body = body(&store);
        Index::of(&body).unwrap().keep(&body).unwrap();
        store.with(|connection| connection.execute_batch(damage)).unwrap();
        let kept = Index::kept(&body).unwrap();
        assert!(kept.verify().is_err(), "{damage}");
        assert!(starts(&kept).is_err(), "{damage}");
        Index::of(&body).unwrap().keep(&body).unwrap();
        Index::kept(&body).unwrap().verify().unwrap();
    }
}

#[test]
fn a_changed_bit_anywhere_in_a_block_is_found_out() {
    let (_folder, store) = store();
    let packed: Vec<u8> =
        store.with(|c| c.query_row("SELECT bytes FROM block WHERE number = 0", [], |row| row.get(0))).unwrap();
    for at in (0..packed.len()).step_by(997) {
        let mut changed = packed.clone();
        changed[at] ^= 0x10;
        store.with(|c| c.execute("UPDATE block SET bytes = ?1 WHERE number = 0", [&changed])).unwrap();
        store.with(|c| c.execute("UPDATE answer SET usable = NULL", [])).unwrap();
        assert!(body(&store).window(0..10).is_err(), "{at}");
    }
}

#[test]
fn answers_of_the_first_schema_are_read_by_their_larger_blocks() {
    let (_folder, store) = store();
    let whole = body(&store).whole().unwrap();
    let old: Vec<_> = whole.chunks(262_144).map(|block| zstd::bulk::compress(block, 3).unwrap()).collect();
    store.with(|c| c.execute_batch("DELETE FROM block; UPDATE answer SET block = 262144")).unwrap();
    store.with(|c| seal::all_held(c)).unwrap();
    for (number, block) in old.iter().enumerate() {
        store
            .with(|c| {
                c.execute(
                    "INSERT INTO block (answer, number, bytes) SELECT id, ?1, ?2 FROM answer",
                    params![number as i64, block],
                )
            })
            .unwrap();
    }
    assert!(body(&store).whole().unwrap() == whole);
}
