//! A store in which a bit has changed: never is another report shown than the one that was asked for, nor a part of it.

use super::is_long;
use behaview::report::Body;
use behaview::report::identifier::{Identifier, Sha256};
use behaview::store::{Brought, Store};
use behaview::text::Untrusted;
use jiff::Timestamp;
use std::path::Path;

const PROFILE: &str = "p";

/// Each report that is held, with its bytes.
type Held = Vec<(Identifier, Vec<u8>)>;

fn report(file: &str, sandbox: &str) -> (Identifier, String) {
    let id = format!("{file}_{sandbox}-1700000000");
    let rows: Vec<_> = (0..40).map(|row| format!(r#""{sandbox} {} {row}""#, &file[..8])).collect();
    let json = format!(r#"{{"id":"{id}","attributes":{{"files_opened":[{}]}}}}"#, rows.join(","));
    (Identifier::new(Untrusted::from(id)).unwrap(), json)
}

/// A store with reports of several files, of which some came with a list and others by themselves.
fn sound(path: &Path) -> Held {
    let store = Store::open(path).unwrap();
    let mut held = Vec::new();
    let now = Timestamp::UNIX_EPOCH;
    for digit in ["a", "b", "c", "d"] {
        let file = digit.repeat(64);
        let (one, other) = (report(&file, "CAPE"), report(&file, "ZENB"));
        let page = format!(r#"{{"data":[{},{}]}}"#, one.1, other.1);
        let brought: Vec<_> = [&one, &other]
            .into_iter()
            .map(|(identifier, json)| {
                let start = page.find(json.as_str()).unwrap() as u64;
                let range = start..start + json.len() as u64;
                Brought { identifier: identifier.clone(), file: Sha256::parse(&file), range }
            })
            .collect();
        let list = store
            .keep(PROFILE, format!("behaviours {file} ").as_bytes(), now, &Body::in_memory(page.clone().into_bytes()))
            .unwrap();
        store.accept(PROFILE, list, &brought).unwrap();
        let (id, json) = report(&file, "LONE");
        let body = format!(r#"{{"data":{json}}}"#);
        let key = [b"behaviour ", id.as_bytes()].concat();
        let alone = store.keep(PROFILE, &key, now, &Body::in_memory(body.clone().into_bytes())).unwrap();
        let whole = Brought { identifier: id.clone(), file: Sha256::parse(&file), range: 0..body.len() as u64 };
        store.accept(PROFILE, alone, &[whole]).unwrap();
        held.extend([(one.0, one.1.into_bytes()), (other.0, other.1.into_bytes()), (id, body.into_bytes())]);
    }
    held
}

/// How many of the reports are served as they came; fails if one is served otherwise.
fn served(path: &Path, held: &Held, flip: &str) -> usize {
    let Ok(store) = Store::open(path) else { return 0 };
    let mut whole = 0;
    for (identifier, bytes) in held {
        let Ok(Some(found)) = store.report(PROFILE, identifier) else { continue };
        let Ok(found) = found.body.whole() else { continue };
        assert!(found == *bytes, "{flip}: {} is {}", identifier.text().visible(), String::from_utf8_lossy(&found));
        whole += 1;
    }
    for (_, found) in store.every_report(PROFILE).unwrap_or_default() {
        let of = held.iter().find(|(identifier, _)| *identifier == found.identifier);
        let (_, bytes) = of.unwrap_or_else(|| panic!("{flip}: nobody wrote {}", found.identifier.text().visible()));
        assert!(found.body.whole().is_ok_and(|found| found == *bytes) || found.body.whole().is_err(), "{flip}");
    }
    whole
}

/// What became of bits that were flipped one at a time.
#[derive(Default)]
struct Flips {
    count: usize,
    /// Those that cost nothing.
    free: usize,
    /// Reports that the others cost.
    lost: usize,
}

impl Flips {
    /// Flips a bit in a copy of a store, and counts what is still served when what was found damaged was mended.
    fn flip(&mut self, bytes: &[u8], held: &Held, at: usize, bit: u8) {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("behaview.db");
        let mut changed = bytes.to_vec();
        changed[at] ^= bit;
        std::fs::write(&path, &changed).unwrap();
        let flip = format!("bit {bit:#04x} at {at}");
        // The next start mends it.
        served(&path, held, &flip);
        let whole = served(&path, held, &flip);
        self.count += 1;
        self.free += usize::from(whole == held.len());
        self.lost += held.len() - whole;
        if is_long() && whole + 3 * usize::from(at % 4096 > 8) < held.len() {
            println!("{flip} costs {} of {} reports", held.len() - whole, held.len());
        }
    }

    fn say(&self, what: &str) {
        println!(
            "{what}: {}; {} cost nothing, the others {} reports, none shows another one",
            self.count, self.free, self.lost
        );
    }
}

#[test]
fn a_changed_bit_never_shows_another_report() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("behaview.db");
    let held = sound(&path);
    let bytes = std::fs::read(&path).unwrap();
    assert!(!folder.path().join("behaview.db-wal").exists(), "everything is in the one file");
    assert_eq!(served(&path, &held, "nothing"), held.len());
    let (step, mut flips) = (if is_long() { 7 } else { 331 }, Flips::default());
    for (n, at) in (0..bytes.len()).step_by(step).enumerate() {
        // Empty pages say nothing.
        if bytes[at.saturating_sub(8)..(at + 8).min(bytes.len())].iter().any(|byte| *byte != 0) {
            flips.flip(&bytes, &held, at, 1 << (n % 8));
        }
    }
    flips.say("flipped bits");
    // What a bit costs is a report or two, in the schema's own text as anywhere else.
    assert!(flips.count > 30 && flips.lost < flips.count * 2, "{} flips cost {} reports", flips.count, flips.lost);
}

#[test]
fn a_changed_bit_in_the_head_of_a_page_costs_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("behaview.db");
    let held = sound(&path);
    let (bytes, mut flips) = (std::fs::read(&path).unwrap(), Flips::default());
    let bits =
        (0..bytes.len()).step_by(4096).flat_map(|page| (page..page + 8).flat_map(|at| (0..8).map(move |n| (at, n))));
    // That of the first page is longer: it is the database's own.
    let of_database = (8..100).flat_map(|at| (0..8).map(move |n| (at, n)));
    let (of_pages, of_database_step) = if is_long() { (1, 1) } else { (29, 7) };
    for (at, n) in bits.step_by(of_pages).chain(of_database.step_by(of_database_step)) {
        flips.flip(&bytes, &held, at, 1 << n);
    }
    flips.say("flipped bits in the heads of pages and of the database");
    assert!(flips.count > 50 && flips.lost == 0, "{} flips cost {} reports", flips.count, flips.lost);
}

#[test]
fn a_start_that_was_ended_while_it_mended_is_gone_on_with() {
    // Where to it is set aside is written down; then it is; then there is a new one, with nothing in it.
    for steps in 0..3 {
        let folder = tempfile::tempdir().unwrap();
        let [path, aside, mark, other] = ["behaview.db", "behaview.db-damaged-1", "behaview.db-damaged", "other.db"]
            .map(|name| folder.path().join(name));
        let held = sound(&path);
        std::fs::write(&mark, "1").unwrap();
        if steps > 0 {
            std::fs::rename(&path, &aside).unwrap();
        }
        if steps > 1 {
            drop(Store::open(&other).unwrap());
            std::fs::rename(&other, &path).unwrap();
        }
        assert_eq!(served(&path, &held, "ended"), held.len(), "after {steps} steps");
        assert!(aside.exists() && !mark.exists() && !folder.path().join("behaview.db-damaged-2").exists());
        // What is damaged later is set aside beside it.
        std::fs::write(&mark, "").unwrap();
        assert_eq!(served(&path, &held, "again"), held.len(), "after {steps} steps");
        assert!(folder.path().join("behaview.db-damaged-2").exists());
    }
}

#[test]
fn a_store_that_another_program_writes_to_is_not_set_aside_under_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("behaview.db");
    let held = sound(&path);
    let keep = |store: &Store, key: &[u8]| {
        store.keep(PROFILE, key, Timestamp::UNIX_EPOCH, &Body::in_memory(b"{}".to_vec())).unwrap();
    };
    let other = Store::open(&path).unwrap();
    keep(&other, b"before");
    std::fs::write(folder.path().join("behaview.db-damaged"), "").unwrap();
    let store = Store::open(&path).unwrap();
    assert!(store.salvaged().is_none());
    keep(&other, b"one");
    keep(&store, b"two");
    drop((other, store));
    let mended = Store::open(&path).unwrap();
    assert!(mended.salvaged().is_some());
    for key in [b"before".as_slice(), b"one", b"two"] {
        assert!(mended.answer(PROFILE, key).unwrap().is_some(), "{} is lost", String::from_utf8_lossy(key));
    }
    assert_eq!(served(&path, &held, "used"), held.len());
}

/// SQL in which `#1` is the number of the first answer, and so on.
fn numbered(sql: &str) -> String {
    let number = |n: u32| format!("(SELECT id FROM answer ORDER BY id LIMIT 1 OFFSET {})", n - 1);
    (1..=4).fold(sql.to_owned(), |sql, n| sql.replace(&format!("#{n}"), &number(n)))
}

#[test]
fn rows_that_say_something_else_are_named_and_cost_no_more_than_themselves() {
    for damage in [
        "UPDATE report SET identifier = 'text' WHERE rowid = 1",
        "UPDATE report SET identifier = (SELECT identifier FROM report WHERE rowid = 5) WHERE rowid = 1",
        "UPDATE report SET first = after + 10 WHERE rowid = 1",
        "UPDATE report SET first = first + 1 WHERE rowid = 1",
        "UPDATE report SET after = after + 100 WHERE rowid = 1",
        "UPDATE report SET answer = #4 WHERE rowid = 1",
        "UPDATE report SET file = NULL WHERE rowid = 1",
        "UPDATE answer SET length = -1 WHERE id = #1",
        "UPDATE answer SET length = 'abc' WHERE id = #1",
        "UPDATE answer SET key = 'abc' WHERE id = #1",
        "UPDATE answer SET block = 7 WHERE id = #1",
        "UPDATE block SET bytes = (SELECT bytes FROM block WHERE answer = #3) WHERE answer = #1",
        "UPDATE block SET seal = 'x' WHERE answer = #1",
        "PRAGMA user_version = 2",
        "PRAGMA user_version = -3",
        "PRAGMA user_version = 10",
        "PRAGMA writable_schema = 1; UPDATE sqlite_master SET sql = replace(sql, 'PRIMARY', 'PRIMASY')",
        "PRAGMA writable_schema = 1; UPDATE sqlite_master SET sql = replace(sql, ' bytes BLOB', ' cytes BLOB')",
        "PRAGMA writable_schema = 1; UPDATE sqlite_master SET sql = replace(sql, ' seal INTEGER', ' sea\u{6d} INTEGER')",
        "PRAGMA writable_schema = 1; UPDATE sqlite_master SET rootpage = 11 WHERE name = 'report'",
        "PRAGMA writable_schema = 1; UPDATE sqlite_master SET type = 'tabme' WHERE name = 'report'",
        "DROP TABLE note",
        "DROP TABLE file",
    ] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("behaview.db");
        let held = sound(&path);
        rusqlite::Connection::open(&path).unwrap().execute_batch(&numbered(damage)).unwrap();
        // Whatever meets it first says so, and the next start mends it.
        served(&path, &held, damage);
        let first = Store::open(&path).and_then(|store| store.inventory().and_then(|_| store.recent_files(PROFILE, 9)));
        drop(first);
        let whole = served(&path, &held, damage);
        assert!(whole >= held.len() - 2, "{damage}: {whole} of {} are left", held.len());
        let store = Store::open(&path).unwrap();
        assert!(store.inventory().unwrap().len() >= held.len() - 2, "{damage}");
        store.recent_files(PROFILE, 9).unwrap();
        store.notes(PROFILE).unwrap();
        assert!(store.damages().unwrap().is_empty(), "{damage}");
        // It is set aside once, and not again and again.
        let names = std::fs::read_dir(folder.path()).unwrap().map(|file| file.unwrap().file_name());
        let is_aside = |name: &std::ffi::OsString| {
            name.to_string_lossy().trim_end_matches(char::is_numeric).ends_with("-damaged-")
        };
        let aside = names.filter(is_aside).count();
        assert!(aside <= 1, "{damage}: {aside} are set aside");
    }
}

#[test]
fn a_store_that_another_program_has_open_is_not_set_aside_though_nothing_of_it_can_be_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("behaview.db");
    let held = sound(&path);
    let other = Store::open(&path).unwrap();
    let mut file = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
    std::io::Write::write_all(&mut file, &[b'x'; 16]).unwrap();
    let refused = Store::open(&path).err().expect("it is damaged").to_string();
    assert!(refused.contains("another behaview has it open: end that one"), "{refused}");
    assert!(!folder.path().join("behaview.db-damaged-1").exists());
    drop(other);
    let mended = Store::open(&path).unwrap();
    assert!(mended.salvaged().is_some_and(|salvaged| salvaged.is_ledger_whole));
    assert_eq!(served(&path, &held, "its first bytes"), held.len());
}

/// Bytes that cannot be made shorter.
fn noise(seed: u32) -> Vec<u8> {
    let next = |last: &u32| Some(last.wrapping_mul(1_664_525).wrapping_add(1_013_904_223));
    std::iter::successors(Some(seed.wrapping_mul(0x9e37_79b1)), next).map(|n| n.to_le_bytes()[3]).take(1500).collect()
}

#[test]
fn a_page_that_leads_to_others_costs_nothing_when_it_is_lost() {
    for table in ["block", "answer"] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("behaview.db");
        let store = Store::open(&path).unwrap();
        for n in 0..200_u32 {
            store.keep(PROFILE, &n.to_le_bytes(), Timestamp::UNIX_EPOCH, &Body::in_memory(noise(n))).unwrap();
        }
        drop(store);
        let first = format!("SELECT rootpage FROM sqlite_master WHERE name = '{table}'");
        let first: u32 = rusqlite::Connection::open(&path).unwrap().query_row(&first, [], |row| row.get(0)).unwrap();
        let mut bytes = std::fs::read(&path).unwrap();
        let page = &mut bytes[(first as usize - 1) * 4096..first as usize * 4096];
        assert_eq!(page[0], 5, "{table}: it leads to others");
        page.fill(0);
        std::fs::write(&path, &bytes).unwrap();
        let whole = || {
            let Ok(store) = Store::open(&path) else { return 0 };
            let is_whole = |n: &u32| {
                let held = store.answer(PROFILE, &n.to_le_bytes()).ok().flatten();
                held.and_then(|held| held.body.whole().ok()).is_some_and(|found| found == noise(*n))
            };
            (0..200).filter(is_whole).count()
        };
        // The next start mends it.
        whole();
        assert_eq!(whole(), 200, "{table}");
    }
}

#[test]
fn a_page_of_rows_that_has_lost_what_says_where_they_are_costs_little() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("behaview.db");
    let held = sound(&path);
    let first = |table: &str| -> u32 {
        let first = format!("SELECT rootpage FROM sqlite_master WHERE name = '{table}'");
        rusqlite::Connection::open(&path).unwrap().query_row(&first, [], |row| row.get(0)).unwrap()
    };
    let firsts = ["answer", "report"].map(first);
    let bytes = std::fs::read(&path).unwrap();
    for first in firsts {
        let head = (first as usize - 1) * 4096;
        assert!([5, 13].contains(&bytes[head]), "it is of a table");
        for (seed, length) in [(1, 24), (2, 60), (3, 200)] {
            let mut changed = bytes.clone();
            changed[head..head + length].copy_from_slice(&noise(seed)[..length]);
            std::fs::write(&path, &changed).unwrap();
            // The next start mends it.
            served(&path, &held, "noise");
            assert_eq!(served(&path, &held, "noise"), held.len(), "{length} bytes of page {first}");
            for left in folder.path().read_dir().unwrap() {
                std::fs::remove_file(left.unwrap().path()).unwrap();
            }
        }
    }
}
