//! Artefacts: paid once, held, gone on with where a call was cut off, and never mixed with anything else.

use std::sync::Mutex;

use behaview::gate::{Gate, Received};
use behaview::quota::Entitlements;
use behaview::request::Artefact;
use behaview::service::error::Unusable;

use super::*;

const LENGTH: usize = 6 << 20;

fn artefact(artefact: Artefact) -> Request {
    let Request::Behaviour { identifier } = first_report() else { panic!("that is a report") };
    Request::Artefact { identifier, artefact }
}

fn memory() -> Request {
    artefact(Artefact::Memdump)
}

/// Asks, and says at which byte the first piece ended.
async fn ask_from(visit: &Visit, request: &Request) -> (Result<Answer, GateError>, u64) {
    let first = Mutex::new(None);
    let progress = |received| {
        let Received::Bytes { bytes, .. } = received else { panic!("an artefact has no rows") };
        first.lock().unwrap().get_or_insert(bytes);
    };
    let quote = request.clone().quote(&Entitlements::default());
    let answer = visit.gate.get(&quote, &progress).await;
    let first = first.into_inner().unwrap().unwrap_or(0);
    (answer, first)
}

fn unusable(result: &Result<Answer, GateError>) -> &Unusable {
    match result {
        Err(GateError::Service { error: ServiceError::Unusable(why), .. }) => why,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn each_that_the_report_names_is_paid_once_and_held() {
    let visit = Visit::begin().await;
    for (paid, kind) in (1..).zip([Artefact::Html, Artefact::Memdump]) {
        let request = artefact(kind);
        for _ in 0..2 {
            let (answer, _) = ask_from(&visit, &request).await;
            assert_eq!(bytes(&answer.unwrap()), visit.reference(&request).await, "{kind:?}");
        }
        assert_eq!(visit.gate.spent().unwrap(), Spent { charged: paid, ..Spent::default() });
    }
    assert!(visit.gate.client().behind().is_some(), "what is fetched tells the time as any answer does");
    let missing = artefact(Artefact::Pcap);
    assert_eq!(refusal(visit.ask(&missing).await), Reason::NotFound);
}

#[tokio::test]
async fn what_was_cut_off_is_kept_and_gone_on_with() {
    for at in [1, 4096, 262_144, 300_000, 5_000_000, LENGTH - 1] {
        let visit = Visit::begin().await;
        visit.demo.arm(format!("artefact:cut={at}*1").parse().unwrap());
        let (first, _) = ask_from(&visit, &memory()).await;
        assert!(matches!(first, Err(GateError::Service { error: ServiceError::Lost(_), .. })), "{at}: {first:?}");
        assert_eq!(visit.held(&memory()), None);
        let (second, from) = ask_from(&visit, &memory()).await;
        assert_eq!(bytes(&second.unwrap()), visit.reference(&memory()).await, "{at}");
        assert!(from as usize > at.saturating_sub(4096), "{at}: it began anew, at {from}");
        assert_eq!(visit.gate.spent().unwrap(), Spent { charged: 1, unsure: 1, ..Spent::default() });
        ask_from(&visit, &memory()).await.0.unwrap();
        assert_eq!(visit.gate.spent().unwrap().charged, 1);
    }
}

#[tokio::test]
async fn an_end_that_nobody_announced_is_believed_when_it_comes_again() {
    let visit = Visit::begin().await;
    visit.demo.arm("artefact:cut-bare=700000*1".parse().unwrap());
    let (first, _) = ask_from(&visit, &memory()).await;
    assert!(matches!(first, Err(GateError::Service { error: ServiceError::Lost(_), .. })), "{first:?}");
    let (second, _) = ask_from(&visit, &memory()).await;
    assert_eq!(bytes(&second.unwrap()).len(), LENGTH);
    let visit = Visit::begin().await;
    visit.demo.arm(format!("artefact:cut-bare={LENGTH}*2").parse().unwrap());
    assert!(ask_from(&visit, &memory()).await.0.is_err());
    assert_eq!(bytes(&ask_from(&visit, &memory()).await.0.unwrap()).len(), LENGTH);
}

#[tokio::test]
async fn what_does_not_go_on_where_the_kept_part_ends_is_set_aside() {
    let visit = Visit::begin().await;
    let store = visit.gate.store();
    let (profile, key) = (visit.gate.profile().to_owned(), memory().holding_key().unwrap());
    let id = store.begin_growing(&profile, &key, visit.gate.now()).unwrap();
    store.grow(id, 0, 0, &vec![9; 300_000]).unwrap();
    let (first, _) = ask_from(&visit, &memory()).await;
    assert_eq!(*unusable(&first), Unusable::OtherBytes);
    let (second, _) = ask_from(&visit, &memory()).await;
    assert_eq!(bytes(&second.unwrap()), visit.reference(&memory()).await);
}

#[tokio::test]
async fn what_is_no_artefact_is_never_held() {
    for (fault, wanted) in [("portal", Unusable::WebPage), ("empty", Unusable::Cut)] {
        let visit = Visit::begin().await;
        visit.demo.arm(format!("artefact:{fault}*1").parse().unwrap());
        let (first, _) = ask_from(&visit, &memory()).await;
        assert_eq!(*unusable(&first), wanted, "{fault}");
        assert_eq!(visit.held(&memory()), None);
        assert_eq!(bytes(&ask_from(&visit, &memory()).await.0.unwrap()).len(), LENGTH, "{fault}");
    }
}

#[tokio::test]
async fn refusals_keep_nothing_and_say_what_they_cost() {
    for (fault, wanted) in
        [("503", Reason::Down), ("429-quota", Reason::QuotaSpent), ("redirect=http://127.0.0.1:1/", Reason::Redirected)]
    {
        let visit = Visit::begin().await;
        visit.demo.arm(format!("artefact:{fault}*1").parse().unwrap());
        let (result, _) = ask_from(&visit, &memory()).await;
        assert_eq!(refusal(result), wanted, "{fault}");
        assert_eq!(bytes(&ask_from(&visit, &memory()).await.0.unwrap()).len(), LENGTH);
    }
}

#[tokio::test]
async fn a_run_that_ends_in_the_middle_leaves_what_it_wrote_down() {
    let visit = Visit::begin().await;
    visit.demo.arm("artefact:stall=5000000*1".parse().unwrap());
    let request = memory();
    let gone_on = async {
        loop {
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
            if visit.count("SELECT COALESCE(MAX(length), 0) FROM answer WHERE usable = 2") > 0 {
                return;
            }
        }
    };
    tokio::select! {
        _ = ask_from(&visit, &request) => panic!("it stalls"),
        () = gone_on => {}
    }
    let (second, from) = ask_from(&visit, &request).await;
    assert_eq!(bytes(&second.unwrap()), visit.reference(&request).await);
    assert!(from as usize > (1 << 20) - 4096, "it began anew, at {from}");
}

#[tokio::test]
async fn an_answer_has_one_writer_and_is_never_cut_short_by_another() {
    let visit = Visit::begin().await;
    let (one, other) = (visit.gate.store(), behaview::store::Store::open(&visit.store()).unwrap());
    let (profile, key) = (visit.gate.profile().to_owned(), memory().holding_key().unwrap());
    let id = one.begin_growing(&profile, &key, visit.gate.now()).unwrap();
    let piece = vec![7; behaview::store::BLOCK];
    let length = |blocks: usize| (blocks * piece.len()) as u64;
    one.grow(id, 0, 0, &piece).unwrap();
    // The other finds what is here, and is overtaken.
    assert_eq!(other.growing(&profile, &key).unwrap().unwrap().body.len(), length(1));
    one.grow(id, length(1), length(1), &piece).unwrap();
    one.grow(id, length(2), length(2), &piece).unwrap();
    let late = other.grow(id, length(1), length(1), &piece);
    assert!(matches!(late, Err(behaview::store::StoreError::Elsewhere)), "{late:?}");
    assert!(other.grown(id, length(2), visit.gate.now()).is_err());
    one.grown(id, length(3), visit.gate.now()).unwrap();
    assert_eq!(visit.held(&memory()).unwrap().len() as u64, length(3));
    assert!(one.grow(id, length(3), length(3), &piece).is_err(), "what is whole does not grow");
}

#[tokio::test]
async fn what_is_still_coming_of_a_deleted_artefact_does_not_go_into_another() {
    let visit = Visit::begin().await;
    let (store, profile, now) = (visit.gate.store(), visit.gate.profile(), visit.gate.now());
    let deleted = store.begin_growing(profile, b"one", now).unwrap();
    store.purge(&[behaview::report::Purge::Everything], None).unwrap();
    let other = store.begin_growing(profile, b"other", now).unwrap();
    let late = store.grow(deleted, 0, 0, &[7; 5000]);
    assert!(matches!(late, Err(behaview::store::StoreError::Elsewhere)), "{late:?}");
    assert!(store.grown(deleted, 0, now).is_err());
    assert_eq!(store.growing(profile, b"other").unwrap().map(|kept| (kept.id, kept.body.len())), Some((other, 0)));
}

/// A service that gives a capture bit by bit: of each call it says the head and the body, and hears which bytes were asked for.
fn in_bits(answers: Vec<(String, Vec<u8>)>) -> (String, std::sync::Arc<Mutex<Vec<String>>>) {
    use std::io::{Read, Write};
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let root = format!("http://{}", listener.local_addr().unwrap());
    let heard = std::sync::Arc::new(Mutex::new(Vec::new()));
    let hears = std::sync::Arc::clone(&heard);
    std::thread::spawn(move || {
        for (stream, (head, body)) in listener.incoming().zip(answers) {
            let (mut stream, mut asked) = (stream.unwrap(), vec![0; 8192]);
            let length = stream.read(&mut asked).unwrap();
            let asked = String::from_utf8_lossy(&asked[..length]).into_owned();
            let ranges: Vec<_> = asked.lines().filter(|line| line.contains("range: ")).collect();
            hears.lock().unwrap().push(if ranges.is_empty() { "all".to_owned() } else { ranges.join(", ") });
            let _ =
                stream.write_all(&[format!("HTTP/1.1 {head}\r\nconnection: close\r\n\r\n").as_bytes(), &body].concat());
        }
    });
    (root, heard)
}

const KEY: &str = "Sekrit-0123456789abcdefXYZ_qqqqqqqqqq";

fn capture(answers: Vec<(String, Vec<u8>)>) -> (tempfile::TempDir, Gate, std::sync::Arc<Mutex<Vec<String>>>) {
    let folder = tempfile::tempdir().unwrap();
    let (root, heard) = in_bits(answers);
    let profile = Profile { user: None, ..Profile::demo(root, String::new()) };
    let gate = gate(&folder.path().join("behaview.db"), profile, KEY);
    (folder, gate, heard)
}

/// The head of an answer with the bytes from one on, of so many.
fn from(start: usize, whole: &[u8]) -> (String, Vec<u8>) {
    let (length, end) = (whole.len() - start, whole.len() - 1);
    let head = format!("206 Partial\r\ncontent-length: {length}\r\ncontent-range: bytes {start}-{end}/{}", whole.len());
    (head, whole[start..].to_vec())
}

#[tokio::test]
async fn what_begins_behind_what_was_asked_for_is_not_taken_for_its_end() {
    let (one, other) = (b"first capture ".repeat(700), b"OTHER CAPTURE ".repeat(1400));
    let cut = (format!("200 OK\r\ncontent-length: {}", other.len()), one.clone());
    for start in [one.len(), one.len() - 1, one.len() - 4095] {
        let whole = (format!("200 OK\r\ncontent-length: {}", other.len()), other.clone());
        let (_folder, gate, heard) = capture(vec![cut.clone(), from(start, &other), whole]);
        let pcap = artefact(Artefact::Pcap);
        assert!(visit::ask(&gate, &pcap).await.is_err());
        let mixed = visit::ask(&gate, &pcap).await;
        assert_eq!(*unusable(&mixed), Unusable::OtherBytes, "{start}");
        assert_eq!(bytes(&visit::ask(&gate, &pcap).await.unwrap()), other, "{start}");
        let heard = heard.lock().unwrap();
        assert_eq!((heard.len(), heard[0].as_str(), heard[2].as_str()), (3, "all", "all"), "{start}");
        assert!(heard[1].starts_with("range: bytes=570"), "{start}: {heard:?}");
    }
}

#[tokio::test]
async fn an_end_before_that_of_the_kept_part_is_none_and_the_part_stays() {
    let whole = b"a capture of several blocks ".repeat(30_000);
    // The next call asks for the bytes from `start` on.
    let (kept, start) = (600_000, 600_000 - 4097);
    let length = format!("200 OK\r\ncontent-length: {}", whole.len());
    let range = |count: usize| format!("206 Partial\r\ncontent-range: bytes {start}-{}/*", start + count - 1);
    let bits = |count: usize| whole[start..start + count].to_vec();
    let chunked = |length: usize| [format!("{length:x}\r\n").as_bytes(), &whole[..length], b"\r\n0\r\n\r\n"].concat();
    let stumps = [
        ("200 OK".to_owned(), whole[..100].to_vec(), false),
        ("200 OK".to_owned(), Vec::new(), false),
        ("200 OK\r\ntransfer-encoding: chunked".to_owned(), chunked(100), false),
        (range(100), bits(100), false),
        (range(100) + "\r\ncontent-length: 100", bits(100), false),
        (range(1) + "\r\ncontent-length: 0", Vec::new(), false),
        (range(5000), bits(5000), false),
        // Where nothing was announced, these ends are ones.
        (range(4097) + "\r\ncontent-length: 4097", bits(4097), true),
        ("200 OK\r\ntransfer-encoding: chunked".to_owned(), chunked(kept), true),
        ("200 OK\r\ntransfer-encoding: chunked".to_owned(), chunked(kept + 1), true),
    ];
    for (first, is_announced) in [(length, true), ("200 OK".to_owned(), false)] {
        for (head, bits, is_end) in stumps.iter().filter(|stump| is_announced || !stump.2) {
            let answers =
                vec![(first.clone(), whole[..kept].to_vec()), (head.clone(), bits.clone()), from(start, &whole)];
            let (_folder, gate, heard) = capture(answers);
            let (pcap, told) = (artefact(Artefact::Pcap), format!("{is_announced} {is_end} {} {head}", bits.len()));
            assert!(visit::ask(&gate, &pcap).await.is_err(), "{told}");
            let cut = visit::ask(&gate, &pcap).await;
            assert!(matches!(cut, Err(GateError::Service { error: ServiceError::Lost(_), .. })), "{told}: {cut:?}");
            assert!(gate.held(&pcap).unwrap().is_none(), "{told}");
            assert!(bytes(&visit::ask(&gate, &pcap).await.unwrap()) == whole, "{told}");
            assert!(heard.lock().unwrap()[2].starts_with("range: "), "{told}");
        }
    }
}

#[tokio::test]
async fn an_answer_of_another_length_is_no_rest_of_the_first() {
    let (one, other) = (b"one capture ".repeat(1000), b"one capture ".repeat(1100));
    let cut = (format!("200 OK\r\ncontent-length: {}", one.len()), one[..8000].to_vec());
    let (_folder, gate, _) = capture(vec![cut, from(8000 - 4097, &other), from(0, &other)]);
    let pcap = artefact(Artefact::Pcap);
    assert!(visit::ask(&gate, &pcap).await.is_err());
    assert_eq!(*unusable(&visit::ask(&gate, &pcap).await), Unusable::OtherBytes);
    assert_eq!(bytes(&visit::ask(&gate, &pcap).await.unwrap()), other);
}

#[tokio::test]
async fn what_breaks_off_as_a_key_begins_is_gone_on_with() {
    let whole = [&b"some capture ".repeat(400)[..], &KEY.as_bytes()[..6], &b"another one ".repeat(400)].concat();
    for come in [5203, 5204, 5206] {
        let cut = ("200 OK".to_owned(), whole[..come].to_vec());
        let start = if come < 5204 { come } else { 5200 } - 4097;
        let (_folder, gate, heard) = capture(vec![cut, from(start, &whole)]);
        let pcap = artefact(Artefact::Pcap);
        assert!(visit::ask(&gate, &pcap).await.is_err());
        let gone_on = visit::ask(&gate, &pcap).await;
        assert!(gone_on.is_ok_and(|found| bytes(&found) == whole), "{come}: {heard:?}");
    }
}

#[tokio::test]
async fn a_key_that_ends_in_a_later_answer_is_masked() {
    let whole = [&b"A".repeat(5000)[..], KEY.as_bytes(), &b"C".repeat(5000)].concat();
    let end = 5000 + KEY.len() / 2;
    for start in [end, 0] {
        let cut = ("200 OK".to_owned(), whole[..end].to_vec());
        let (folder, gate, _) = capture(vec![cut, from(start, &whole), from(0, &whole)]);
        let pcap = artefact(Artefact::Pcap);
        let mut last = visit::ask(&gate, &pcap).await;
        for _ in 0..2 {
            last = visit::ask(&gate, &pcap).await;
        }
        let held = bytes(&last.unwrap());
        assert_eq!((held.len(), &held[..10]), (whole.len(), &b"AAAAAAAAAA"[..]));
        for file in
            folder.path().read_dir().unwrap().map(|file| std::fs::read(file.unwrap().path()).unwrap()).chain([held])
        {
            assert!(memchr::memmem::find(&file, KEY.as_bytes()).is_none(), "{start}");
        }
    }
}

/// How many characters of the beginning of the key are in the store.
fn kept_of_key(folder: &tempfile::TempDir) -> usize {
    let store = rusqlite::Connection::open(folder.path().join("behaview.db")).unwrap();
    let mut select = store.prepare("SELECT bytes FROM block").unwrap();
    let blocks: Vec<Vec<u8>> = select.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
    let blocks: Vec<_> = blocks.iter().map(|block| zstd::bulk::decompress(block, 1 << 20).unwrap()).collect();
    let has = |of: &usize| blocks.iter().any(|block| memchr::memmem::find(block, &KEY.as_bytes()[..*of]).is_some());
    (0..=KEY.len()).rev().find(has).unwrap()
}

#[tokio::test]
async fn a_piece_that_ends_within_the_key_is_cut_before_it() {
    let whole = [&b"A".repeat(5000)[..], KEY.as_bytes(), &b"C".repeat(5000)].concat();
    for come in [4, 10, KEY.len() - 1] {
        let end = 5000 + come;
        let head =
            format!("206 Partial\r\ncontent-length: {end}\r\ncontent-range: bytes 0-{}/{}", end - 1, whole.len());
        let (folder, gate, _) = capture(vec![(head, whole[..end].to_vec()), from(0, &whole)]);
        let pcap = artefact(Artefact::Pcap);
        assert!(visit::ask(&gate, &pcap).await.is_err());
        assert!(kept_of_key(&folder) < 4, "{come}");
        assert_eq!(bytes(&visit::ask(&gate, &pcap).await.unwrap()).len(), whole.len(), "{come}");
    }
}

#[tokio::test]
async fn a_report_that_ends_within_the_key_is_cut_before_it() {
    let report = format!(r#"{{"data":{{"id":"x","attributes":{{"tags":["{}"#, &KEY[..KEY.len() - 1]).into_bytes();
    let chunked = [format!("{:x}\r\n", report.len()).as_bytes(), &report, b"\r\n0\r\n\r\n"].concat();
    let piece =
        format!("206 Partial\r\ncontent-range: bytes 0-{}/9000\r\ncontent-length: {}", report.len() - 1, report.len());
    for (head, body) in [
        (format!("200 OK\r\ncontent-length: {}", report.len()), report.clone()),
        (piece, report.clone()),
        ("200 OK\r\ntransfer-encoding: chunked".to_owned(), chunked),
    ] {
        let (folder, gate, _) = capture(vec![(head.clone(), body)]);
        assert_eq!(*unusable(&visit::ask(&gate, &first_report()).await), Unusable::Cut, "{head}");
        assert!(kept_of_key(&folder) < 4, "{head}");
    }
}

#[tokio::test]
async fn two_ends_within_one_key_are_no_end() {
    let whole = [&b"A".repeat(5000)[..], KEY.as_bytes(), &b"C".repeat(5000)].concat();
    let cut = |come: usize| ("200 OK".to_owned(), whole[..5000 + come].to_vec());
    let (folder, gate, heard) = capture(vec![cut(10), cut(20), from(0, &whole)]);
    let pcap = artefact(Artefact::Pcap);
    for calls in 1..=2 {
        let lost = visit::ask(&gate, &pcap).await;
        // It may be charged, so it is not sent once more by itself.
        assert_eq!((heard.lock().unwrap().len(), gate.spent().unwrap().unsure), (calls, calls as u64));
        assert!(matches!(lost, Err(GateError::Service { error: ServiceError::Lost(_), .. })), "{lost:?}");
        assert!(gate.held(&pcap).unwrap().is_none() && kept_of_key(&folder) < 4);
    }
    assert_eq!(bytes(&visit::ask(&gate, &pcap).await.unwrap()).len(), whole.len());
}

#[tokio::test]
async fn two_versions_of_one_length_are_not_mixed() {
    let of = |first: u8, last: u8| [vec![first; 9000], vec![0; 20_000], vec![last; 9000]].concat();
    let (one, other, cut) = (of(b'a', b'b'), of(b'c', b'd'), 25_000);
    let names = ["etag: \"1\"", "etag: \"2\"", "last-modified: Sun, 06 Nov 1994 08:49:37 GMT"];
    let named = |(head, body): (String, Vec<u8>), name: &str| (format!("{head}\r\n{name}"), body);
    let start = from(0, &one);
    for (first, second) in [(0, 1), (2, 1), (0, 0)] {
        let begun = (format!("200 OK\r\ncontent-length: {}", one.len()), one[..cut].to_vec());
        let whole = if first == second { &one } else { &other };
        // Within zeros it is asked for from where they begin, and a little before.
        let answers = |from: usize| {
            vec![named(begun.clone(), names[first]), named(self::from(from, whole), names[second]), start.clone()]
        };
        let (_folder, gate, heard) = capture(answers(cut - 2 * 4096));
        let pcap = artefact(Artefact::Pcap);
        assert!(visit::ask(&gate, &pcap).await.is_err());
        let second_call = visit::ask(&gate, &pcap).await;
        let said = names[first].split_once(": ").unwrap().1;
        assert!(heard.lock().unwrap()[1].ends_with(&format!("if-range: {said}")), "{heard:?}");
        if first == second {
            assert_eq!(bytes(&second_call.unwrap()), one);
        } else {
            assert_eq!(*unusable(&second_call), Unusable::OtherBytes);
            assert_eq!(bytes(&visit::ask(&gate, &pcap).await.unwrap()), one);
        }
    }
}

#[tokio::test]
async fn a_version_that_repeats_the_key_is_neither_kept_nor_sent() {
    let whole = vec![b'a'; 30_000];
    for key in [KEY, &KEY[..20]] {
        let head = format!("200 OK\r\ncontent-length: {}\r\netag: \"{key}", whole.len());
        let begun = (if key == KEY { head + "\"" } else { head }, whole[..25_000].to_vec());
        let (folder, gate, heard) = capture(vec![begun, from(0, &whole)]);
        let pcap = artefact(Artefact::Pcap);
        assert!(visit::ask(&gate, &pcap).await.is_err());
        assert_eq!(bytes(&visit::ask(&gate, &pcap).await.unwrap()), whole);
        assert!(!heard.lock().unwrap()[1].contains("if-range: \""), "{heard:?}");
        drop(gate);
        for file in std::fs::read_dir(folder.path()).unwrap() {
            let kept = std::fs::read(file.unwrap().path()).unwrap();
            assert!(memchr::memmem::find(&kept, &KEY.as_bytes()[..20]).is_none());
        }
    }
}

#[tokio::test]
async fn a_version_that_is_damaged_is_none() {
    let whole: Vec<u8> = (0..30_000_u32).map(|n| (n % 251) as u8).collect();
    for damaged in ["replace(version, '\"', char(2))", "replace(hex(zeroblob(300)), '00', 'v')"] {
        let begun = (format!("200 OK\r\ncontent-length: {}\r\netag: \"1\"", whole.len()), whole[..25_000].to_vec());
        let (folder, gate, heard) = capture(vec![begun, from(0, &whole)]);
        let pcap = artefact(Artefact::Pcap);
        assert!(visit::ask(&gate, &pcap).await.is_err());
        let store = rusqlite::Connection::open(folder.path().join("behaview.db")).unwrap();
        store.execute_batch(&format!("UPDATE answer SET version = {damaged}")).unwrap();
        assert!(bytes(&visit::ask(&gate, &pcap).await.unwrap()) == whole, "{damaged}");
        assert!(!heard.lock().unwrap()[1].contains("if-range"), "{heard:?}");
    }
}

#[tokio::test]
async fn a_part_that_goes_on_nowhere_is_set_aside_and_fetched_from_its_beginning() {
    let (one, other) = (b"one capture ".repeat(1000), b"a shorter one ".repeat(100));
    let cut = (format!("200 OK\r\ncontent-length: {}", one.len()), one[..8000].to_vec());
    let nowhere = ("416 Range\r\ncontent-length: 0\r\ncontent-range: bytes */1400".to_owned(), Vec::new());
    let whole = (format!("200 OK\r\ncontent-length: {}", other.len()), other.clone());
    let (_folder, gate, heard) = capture(vec![cut, nowhere, whole]);
    let pcap = artefact(Artefact::Pcap);
    assert!(visit::ask(&gate, &pcap).await.is_err());
    assert_eq!(*unusable(&visit::ask(&gate, &pcap).await), Unusable::OtherBytes);
    assert_eq!(bytes(&visit::ask(&gate, &pcap).await.unwrap()), other);
    assert_eq!(heard.lock().unwrap()[2], "all");
}

#[tokio::test]
async fn a_part_that_comes_packed_is_refused_and_what_is_here_stays() {
    let whole = b"a capture ".repeat(1000);
    let cut = (format!("200 OK\r\ncontent-length: {}", whole.len()), whole[..8000].to_vec());
    let login = ("200 OK".to_owned(), b"<html>login now</html>".to_vec());
    let (head, rest) = from(8000 - 4097, &whole);
    for packing in ["gzip", "x-gzip", "br", "gzip, identity"] {
        let packed = (format!("{head}\r\ncontent-encoding: {packing}"), rest.clone());
        let (_folder, gate, heard) = capture(vec![cut.clone(), packed, login.clone(), (head.clone(), rest.clone())]);
        let pcap = artefact(Artefact::Pcap);
        assert!(visit::ask(&gate, &pcap).await.is_err());
        let refused = visit::ask(&gate, &pcap).await;
        assert!(matches!(unusable(&refused), Unusable::Packed(_)), "{packing}: {refused:?}");
        assert_eq!(gate.spent().unwrap().unsure, 2, "{packing}");
        // Nor does a page of something in between cost what is here.
        assert_eq!(*unusable(&visit::ask(&gate, &pcap).await), Unusable::WebPage, "{packing}");
        assert_eq!(bytes(&visit::ask(&gate, &pcap).await.unwrap()), whole, "{packing}");
        let heard = heard.lock().unwrap();
        assert!(heard.len() == 4 && heard[1..].iter().all(|range| range.starts_with("range: ")), "{heard:?}");
    }
}

#[tokio::test]
async fn what_is_no_file_costs_nothing_of_what_is_here() {
    let whole: Vec<u8> = (0..30_000_u32).map(|n| (n % 251) as u8).collect();
    let head = |length: usize, more: &str| format!("200 OK\r\ncontent-length: {length}{more}");
    let login = |length: usize| format!("<html>{}login now</html>", " ".repeat(length)).into_bytes();
    let words = br#"{"error":{"code":"TransientError"}}"#.to_vec();
    // One that nobody announced the length of takes none from what comes in its place, and no version either.
    for begun in [(head(whole.len(), ""), whole[..25_000].to_vec()), ("200 OK".to_owned(), whole[..25_000].to_vec())] {
        let etag = "\r\netag: \"page\"";
        for (body, wanted) in [
            (login(10), Some(Unusable::WebPage)),
            (login(40_000), Some(Unusable::WebPage)),
            (words.clone(), Some(Unusable::NoFile)),
            (Vec::new(), None),
        ] {
            let other = (head(body.len(), etag), body);
            let unsaid = ("206 Partial\r\ncontent-length: 9".to_owned(), b"some part".to_vec());
            let (start, rest) = from(25_000 - 4097, &whole);
            let (_folder, gate, heard) = capture(vec![begun.clone(), other, unsaid, (start, rest)]);
            let pcap = artefact(Artefact::Pcap);
            assert!(visit::ask(&gate, &pcap).await.is_err());
            let refused = visit::ask(&gate, &pcap).await;
            match &wanted {
                Some(wanted) => assert_eq!(unusable(&refused), wanted),
                None => assert!(matches!(&refused, Err(GateError::Service { error: ServiceError::Lost(_), .. }))),
            }
            let unsaid = visit::ask(&gate, &pcap).await.unwrap_err();
            assert!(unsaid.to_string().contains("does not say which"), "{unsaid}");
            assert!(bytes(&visit::ask(&gate, &pcap).await.unwrap()) == whole, "{wanted:?}");
            let heard = heard.lock().unwrap();
            assert!(
                heard[1..].iter().all(|range| range.starts_with("range: ") && !range.contains("page")),
                "{heard:?}"
            );
        }
    }
}

#[tokio::test]
async fn a_part_that_nobody_asked_for_is_held_and_said_to_be_one() {
    let named = format!("{}_CAPE Sandbox-1794474845", dropper());
    let report = format!(r#"{{"data":{{"id":"{named}","attributes":{{"tags":["T"]}}}}}}"#);
    let head = format!("206 Partial\r\ncontent-length: {0}\r\ncontent-range: bytes 0-9/{0}", report.len());
    let (_folder, gate, _) = capture(vec![(head, report.clone().into_bytes())]);
    let answer = visit::ask(&gate, &first_report()).await.unwrap();
    assert_eq!(bytes(&answer), report.as_bytes());
    assert!(answer.unkept.unwrap().contains("is a part by the service's word"));
    assert!(gate.held(&first_report()).unwrap().is_some(), "what was paid for is held");
}

#[tokio::test]
async fn packed_bytes_that_do_not_say_so_are_named() {
    let packed = [&[0x1f, 0x8b, 8, 0][..], &[7; 300]].concat();
    let (_folder, gate, _) = capture(vec![(format!("200 OK\r\ncontent-length: {}", packed.len()), packed)]);
    let refused = visit::ask(&gate, &first_report()).await;
    assert_eq!(*unusable(&refused), Unusable::Unsaid);
    assert!(words(&refused.unwrap_err()).contains("it is packed (gzip), and does not say so"));
}

#[tokio::test]
async fn a_whole_answer_of_another_version_is_kept_in_the_place_of_the_part() {
    let one: Vec<u8> = (0..900_000_u32).map(|n| (n * 7 % 251) as u8).collect();
    let mut late = one.clone();
    late[500_000] ^= 1;
    let first = (format!("200 OK\r\ncontent-length: {}\r\netag: \"1\"", one.len()), one[..700_000].to_vec());
    for (other, tag) in [
        (late.clone(), "\r\netag: \"2\""),
        (late, ""),
        (one.iter().rev().copied().collect(), "\r\netag: \"2\""),
        (one.repeat(2), "\r\netag: \"2\""),
        (b"a shorter one".repeat(9), "\r\netag: W/\"2\""),
    ] {
        let whole = (format!("200 OK\r\ncontent-length: {}{tag}", other.len()), other.clone());
        let (folder, gate, heard) = capture(vec![first.clone(), whole]);
        let pcap = artefact(Artefact::Pcap);
        assert!(visit::ask(&gate, &pcap).await.is_err());
        let taken = bytes(&visit::ask(&gate, &pcap).await.unwrap());
        assert!(taken == other, "{tag}: {} of {} bytes", taken.len(), other.len());
        assert!(gate.held(&pcap).unwrap().unwrap().body.whole().unwrap() == other, "{tag}");
        assert!(heard.lock().unwrap()[1].starts_with("range: "));
        // The part of the other version is not lost.
        let store = rusqlite::Connection::open(folder.path().join("behaview.db")).unwrap();
        let aside = "SELECT length FROM answer WHERE usable = 0";
        assert_eq!(store.query_row(aside, [], |row| row.get::<_, i64>(0)).unwrap(), 700_000, "{tag}");
    }
}

#[tokio::test]
async fn a_rest_that_does_not_say_that_it_is_of_the_version_of_the_part_is_not_joined_to_it() {
    let one: Vec<u8> = (0..30_000_u32).map(|n| (n % 251) as u8).collect();
    let other = [&one[..25_000], &[b'x'; 5000]].concat();
    let begun = (format!("200 OK\r\ncontent-length: {}\r\netag: \"1\"", one.len()), one[..25_000].to_vec());
    for tag in ["", "\r\netag: W/\"1\"", "\r\nlast-modified: Sun, 06 Nov 1994 08:49:37 GMT"] {
        let (head, rest) = from(25_000 - 4097, &other);
        let (_folder, gate, _) = capture(vec![begun.clone(), (head + tag, rest), from(0, &other)]);
        let pcap = artefact(Artefact::Pcap);
        assert!(visit::ask(&gate, &pcap).await.is_err());
        assert_eq!(*unusable(&visit::ask(&gate, &pcap).await), Unusable::OtherBytes, "{tag}");
        assert!(bytes(&visit::ask(&gate, &pcap).await.unwrap()) == other, "{tag}");
    }
    // A length that nobody can count up to is none, and neither is an end behind it.
    for range in ["21000-29999/18446744073709551616", "20903-30000/30000", "20903-20902/30000", "20903/30000"] {
        let head = format!("206 Partial\r\ncontent-range: bytes {range}\r\netag: \"1\"");
        let (_folder, gate, _) = capture(vec![begun.clone(), (head, one[20_903..].to_vec())]);
        assert!(visit::ask(&gate, &artefact(Artefact::Pcap)).await.is_err());
        let unsaid = visit::ask(&gate, &artefact(Artefact::Pcap)).await.unwrap_err();
        assert!(unsaid.to_string().contains("does not say which"), "{range}: {unsaid}");
    }
}

#[tokio::test]
async fn only_what_begins_as_a_page_is_one_and_no_error_of_the_services_is_a_file() {
    let page = |begin: &str| format!("{begin}<html><title>login</title></html>").into_bytes();
    for (body, wanted) in [
        (page("\u{feff}\r\n <!-- a proxy -->\n"), Some(Unusable::WebPage)),
        (page("<?xml version=\"1.0\"?>\n<!DOCTYPE html>"), Some(Unusable::WebPage)),
        (br#" {"error":{"code":"TransientError","message":"later"}}"#.to_vec(), Some(Unusable::NoFile)),
        (page("\u{1}HTTP/1.1 200 OK\r\n\r\n"), None),
        (br#"{"errors": "a note that was in memory"}"#.to_vec(), None),
    ] {
        let head = format!("200 OK\r\ncontent-length: {}", body.len());
        let (_folder, gate, _) = capture(vec![(head, body.clone())]);
        let taken = visit::ask(&gate, &artefact(Artefact::Pcap)).await;
        match wanted {
            Some(wanted) => assert_eq!(*unusable(&taken), wanted),
            None => assert_eq!(bytes(&taken.unwrap()), body),
        }
    }
}

#[tokio::test]
async fn a_part_that_cannot_be_set_aside_is_not_said_to_be() {
    let (one, other) = (b"one capture ".repeat(1000), b"one capture ".repeat(1100));
    let cut = (format!("200 OK\r\ncontent-length: {}", one.len()), one[..8000].to_vec());
    let (folder, gate, _) = capture(vec![cut, from(8000 - 4097, &other)]);
    let pcap = artefact(Artefact::Pcap);
    assert!(visit::ask(&gate, &pcap).await.is_err());
    let store = rusqlite::Connection::open(folder.path().join("behaview.db")).unwrap();
    let stuck = "CREATE TRIGGER stuck BEFORE UPDATE OF usable ON answer BEGIN SELECT RAISE(ABORT, 'stuck'); END";
    store.execute_batch(stuck).unwrap();
    let told = words(&visit::ask(&gate, &pcap).await.unwrap_err());
    assert!(told.contains("cannot be set aside") && !told.contains("is set aside"), "{told}");
}

#[tokio::test]
async fn a_part_stays_where_there_is_no_room_for_another_version() {
    let one: Vec<u8> = (0..900_000_u32).map(|n| (n * 7 % 251) as u8).collect();
    let other: Vec<u8> = one.iter().rev().copied().collect();
    let head = |tag: &str| format!("200 OK\r\ncontent-length: {}\r\netag: \"{tag}\"", one.len());
    for full in ["BEFORE INSERT ON answer", "BEFORE INSERT ON block"] {
        let begun = (head("1"), one[..700_000].to_vec());
        let (folder, gate, _) = capture(vec![begun, (head("2"), other.clone())]);
        let pcap = artefact(Artefact::Pcap);
        assert!(visit::ask(&gate, &pcap).await.is_err());
        let store = rusqlite::Connection::open(folder.path().join("behaview.db")).unwrap();
        store.execute_batch(&format!("CREATE TRIGGER full {full} BEGIN SELECT RAISE(ABORT, 'full'); END")).unwrap();
        let answer = visit::ask(&gate, &pcap).await.unwrap();
        assert!(
            bytes(&answer) == other && answer.unkept.is_some_and(|why| why.contains("could not be kept")),
            "{full}"
        );
        let key = pcap.holding_key().unwrap();
        let part = gate.store().growing(gate.profile(), &key).unwrap().unwrap();
        assert!(part.body.whole().unwrap() == one[..700_000], "{full}");
        assert_eq!(part.version.as_deref(), Some("\"1\""), "{full}");
    }
}
