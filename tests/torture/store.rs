//! A store in which a bit has changed: never is another report shown than the one that was asked for, nor a part of it.

use super::is_long;
use behaview::report::Body;
use behaview::report::identifier::{Identifier, Sha256};
use behaview::report::page::Page;
use behaview::request::{Listing, Request};
use behaview::store::{NewAnswer, PageReport, Store};
use behaview::text::Untrusted;
use jiff::Timestamp;
use std::path::{Path, PathBuf};

const SERVICE: &str = "service";

/// Each report that is stored, with its bytes.
type Stored = Vec<(Identifier, Vec<u8>)>;

fn report(file: &str, sandbox: &str) -> (Identifier, String) {
    let id = format!("{file}_{sandbox}-1700000000");
    let rows: Vec<_> = (0..40).map(|row| format!(r#""{sandbox} {} {row}""#, &file[..8])).collect();
    let json = format!(r#"{{"id":"{id}","attributes":{{"files_opened":[{}]}}}}"#, rows.join(","));
    (Identifier::new(Untrusted::from(id)).unwrap(), json)
}

fn keep(store: &Store, request: &Request, bytes: &[u8]) {
    let key = request.holding_key().unwrap();
    let new = NewAnswer { service: SERVICE, profile: "p", key: &key, received: Timestamp::UNIX_EPOCH, bytes };
    store.keep(&new).unwrap();
    let page = || Page::of(&Body::in_memory(bytes.to_vec())).unwrap();
    let reports = match request {
        Request::Behaviours { file, .. } => PageReport::of_page(page(), file),
        _ => Vec::new(),
    };
    store.accept(&new, &reports).unwrap();
}

/// A store with reports of several files, of which some came with a list and others by themselves.
fn sound(folder: &Path) -> Stored {
    let store = Store::open(folder).unwrap();
    let mut stored = Vec::new();
    for digit in ["a", "b", "c", "d"] {
        let file = digit.repeat(64);
        let (one, other) = (report(&file, "CAPE"), report(&file, "ZENB"));
        let page = format!(r#"{{"data":[{},{}]}}"#, one.1, other.1);
        let file_hash = Sha256::parse(&file).unwrap();
        let list = Request::Behaviours { file: file_hash, listing: Listing::Reports, cursor: None };
        keep(&store, &list, page.as_bytes());
        let (identifier, json) = report(&file, "LONE");
        let body = format!(r#"{{"data":{json}}}"#);
        keep(&store, &Request::Behaviour { identifier: identifier.clone() }, body.as_bytes());
        stored.extend([(one.0, one.1.into_bytes()), (other.0, other.1.into_bytes()), (identifier, body.into_bytes())]);
    }
    stored
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = folder.read_dir().into_iter().flatten().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

/// How many of the reports are served as they came; fails if one is served otherwise.
fn served(folder: &Path, stored: &Stored, flip: &str) -> usize {
    let store = Store::open(folder).unwrap();
    let mut whole = 0;
    for (identifier, bytes) in stored {
        let Some(found) = store.report(SERVICE, identifier).unwrap() else { continue };
        let Ok(found) = found.body() else { continue };
        assert!(found.to_vec() == *bytes, "{flip}: {}", identifier.text().visible());
        whole += 1;
    }
    for found in store.every_report(SERVICE).unwrap() {
        let of = stored.iter().find(|(identifier, _)| *identifier == found.identifier);
        let (_, bytes) = of.unwrap_or_else(|| panic!("{flip}: nobody wrote {}", found.identifier.text().visible()));
        assert!(found.body().is_ok_and(|found| found.to_vec() == *bytes), "{flip}");
    }
    whole
}

#[test]
fn a_changed_bit_never_shows_another_report_and_costs_one_at_most() {
    let folder = tempfile::tempdir().unwrap();
    let stored = sound(folder.path());
    assert_eq!(served(folder.path(), &stored, "nothing"), stored.len());
    let step = if is_long() { 1 } else { 41 };
    let (mut flips, mut lost) = (0, 0);
    for path in files(&folder.path().join("reports")) {
        let bytes = std::fs::read(&path).unwrap();
        for (n, at) in (0..bytes.len()).step_by(step).enumerate() {
            let mut changed = bytes.clone();
            changed[at] ^= 1 << (n % 8);
            std::fs::write(&path, &changed).unwrap();
            let whole = served(folder.path(), &stored, &format!("{} at {at}", path.display()));
            assert!(whole + 1 >= stored.len(), "{} at {at} costs {}", path.display(), stored.len() - whole);
            (flips, lost) = (flips + 1, lost + stored.len() - whole);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, &bytes).unwrap();
        }
    }
    println!("{flips} flipped bits cost {lost} reports, none shows another one");
    assert!(flips > 30 && lost > 0);
    assert_eq!(served(folder.path(), &stored, "nothing"), stored.len());
}

#[test]
fn what_a_killed_program_was_writing_is_not_there() {
    let folder = tempfile::tempdir().unwrap();
    let stored = sound(folder.path());
    let report = files(&folder.path().join("reports")).swap_remove(0);
    let half = std::fs::read(&report).unwrap();
    std::fs::write(report.with_file_name(".tmpAbCdEf"), &half[..half.len() / 2]).unwrap();
    assert_eq!(served(folder.path(), &stored, "half a file"), stored.len());
}
