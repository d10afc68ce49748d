//! Noise for every parser of outside bytes: no panic, and invariants hold for any input.
//!
//! Seeds are the demo's reports and sound responses; `found/` has inputs that once failed.

use super::markup;
use super::wire::{Stage, now, shown};
use behaview::export::{Export, ExportContext, ExportSource, FORMATS, Part};
use behaview::quota::{Balances, Entitlements, Usage};
use behaview::report::analysis::{Analysis, submitted, upload_address};
use behaview::report::compare::{Matrix, SeenFilter};
use behaview::report::identifier::Identifier;
use behaview::report::page::Page;
use behaview::report::rows::lines;
use behaview::report::rules::Rules;
use behaview::report::{Body, Cancel, Index, Indexer, Report};
use behaview::service::error::ApiError;
use behaview::text::Untrusted;
use std::path::Path;
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

static RULES: LazyLock<Arc<Rules>> = LazyLock::new(|| Rules::read(None).0);

/// Inputs a parser gets in the ordinary test.
const ORDINARY: u64 = 150;

/// Numbers that are the same at every run.
pub struct Noise(u64);

impl Noise {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// A number below a limit.
    pub fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.next() >> 11).unwrap() % limit.max(1)
    }
}

/// Pieces that parsers stumble over, with `~` between them.
const PIECES: &[u8] = b"{~}~[~]~\"~:~,~\\~\\u~\\ud800~\\u0000~null~true~-1~1e999~18446744073709551616~\xef\xbb\xbf~\
    \xed\xa0\x80~\xff~\x00~\x1b[2J~\xc2\x9b~\xe2\x80\xae~\"data\":~\"attributes\":{~\
    \"processes_tree\":[~\"children\":[~\"meta\":{\"cursor\":\"~\"id\":~[[[[[[[[[[[[[[[[~\
    {\"a\":{\"a\":{\"a\":~\xf0\x9f\x91\xa8\xe2\x80\x8d~9999-99-99~    ";

fn piece(noise: &mut Noise) -> &'static [u8] {
    let pieces: Vec<_> = PIECES.split(|byte| *byte == b'~').collect();
    pieces[noise.below(pieces.len())]
}

fn mutated(noise: &mut Noise, seeds: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = seeds[noise.below(seeds.len())].clone();
    for _ in 0..=noise.below(8) {
        let at = noise.below(bytes.len() + 1);
        let end = (at + noise.below(64)).min(bytes.len());
        match noise.below(7) {
            0 if at < bytes.len() => bytes[at] ^= 1 << noise.below(8),
            1 => drop(bytes.splice(at..at, piece(noise).iter().copied())),
            2 => drop(bytes.drain(at..end)),
            3 => bytes.truncate(at),
            4 => {
                let copy = bytes[at..end].to_vec();
                drop(bytes.splice(at..at, copy));
            }
            5 => {
                let other = &seeds[noise.below(seeds.len())];
                let from = noise.below(other.len() + 1);
                let part = other[from..(from + noise.below(256)).min(other.len())].to_vec();
                drop(bytes.splice(at..end, part));
            }
            _ => drop(bytes.splice(at..end, piece(noise).iter().copied())),
        }
    }
    bytes
}

/// Something that reads bytes from outside.
struct Target {
    name: &'static str,
    run: fn(&[u8], &mut Noise),
    seeds: fn() -> Vec<Vec<u8>>,
}

const REPORT: Target = Target { name: "report", run: report, seeds: reports };
const SCREEN: Target = Target { name: "screen", run: screen, seeds: reports };
const EXPORT: Target = Target { name: "export", run: export, seeds: reports };
const COMPARE: Target = Target { name: "compare", run: compare, seeds: reports };
const PAGE: Target = Target { name: "page", run: page, seeds: pages };
const TREE: Target = Target { name: "tree", run: tree, seeds: pages };
const ANSWER: Target = Target { name: "answer", run: response, seeds: answers };
const ESCAPER: Target = Target { name: "escaper", run: escaper, seeds: strings };

/// The same index however the bytes came, and every row of it can be read.
fn report(bytes: &[u8], noise: &mut Noise) {
    let body = Body::in_memory(bytes.to_vec());
    let index = Index::of(&body);
    let (mut indexer, mut pieced) = (Indexer::default(), Index::default());
    let mut rest = bytes;
    while !rest.is_empty() {
        let (piece, after) = rest.split_at(1 + noise.below(rest.len().min(200)));
        indexer.feed(piece);
        pieced.absorb(indexer.take());
        rest = after;
    }
    pieced.absorb(indexer.finish());
    let counts =
        |index: &Index| index.sections.iter().map(|section| (section.name.clone(), section.len())).collect::<Vec<_>>();
    assert_eq!(counts(&index), counts(&pieced));
    let report = Report::new(body, index);
    let _ = (report.identifier(), report.kind());
    for section in 0..report.index.sections.len() {
        for row in 0..report.index.sections[section].len().min(50) {
            let _ = (report.row(section, row), report.lines(section, row));
        }
    }
}

fn screen(bytes: &[u8], noise: &mut Noise) {
    let mut stage = Stage::with_report("document", bytes, 40 + noise.below(120) as u16, 10 + noise.below(40) as u16);
    for key in ["1", "right", "j", "enter", "esc", "0", "o", "z", "G", "4", "}", "enter"] {
        stage.keys(key);
        shown(&stage.draw()).unwrap();
    }
}

/// Whatever is exported is valid by its standard, and obeyed by nobody.
fn export(bytes: &[u8], _: &mut Noise) {
    let (origin, identifier, received, notes) = ("demo".to_owned(), None, Some(now()), Default::default());
    let sources =
        [ExportSource { body: Body::in_memory(bytes.to_vec()), identifier, file: None, origin, received, notes }];
    for format in FORMATS {
        for what in [Part::All, Part::Indicators].into_iter().filter(|what| format.can_write(what)) {
            let mut out = Vec::new();
            // What is no JSON is said to be none.
            let job = Export {
                sources: &sources,
                what: what.clone(),
                rules: &RULES,
                context: &ExportContext::default(),
                cancel: &Cancel::default(),
            };
            if format.write(&job, &mut out).is_err() {
                continue;
            }
            let about = || format!("{} {what:?}", format.name);
            match format.name {
                "raw" => assert_eq!(out, bytes),
                "jsonl" => out
                    .split(|byte| *byte == b'\n')
                    .filter(|line| !line.is_empty())
                    .for_each(|line| strict(line, about)),
                "json" | "stix" | "misp" | "navigator" => strict(&out, about),
                "csv" | "md" | "txt" => {
                    let lines: Vec<_> = out.split(|byte| matches!(byte, b'\r' | b'\n')).map(shown).collect();
                    let lines = lines.into_iter().collect::<Result<Vec<_>, _>>();
                    let lines = lines.unwrap_or_else(|foreign| panic!("{}: {foreign}", about()));
                    let is_formula =
                        |line: &String| line.split("\",\"").any(|cell| cell.starts_with(['=', '+', '-', '@']));
                    assert!(format.name != "csv" || !lines.iter().any(is_formula), "{}", about());
                }
                "html" => {
                    let page = String::from_utf8(out).unwrap();
                    markup::elements(&page).unwrap_or_else(|foreign| panic!("{}: {foreign}", about()));
                    page.lines().for_each(|line| drop(shown(line.as_bytes()).unwrap()));
                }
                new => panic!("say what {new} must be, as its standard demands"),
            }
        }
    }
}

/// Fails where a strict reader does, and where a control stands by itself.
fn strict(json: &[u8], about: impl Fn() -> String) {
    if let Err(error) = serde_json::from_slice::<serde::de::IgnoredAny>(json) {
        // A strict reader gives up in the deep as well; that is no fault of what is written.
        assert!(error.to_string().contains("recursion"), "{}: {error}", about());
    }
    assert!(!json.iter().any(|byte| *byte < b' ' && *byte != b'\n'), "{}", about());
}

/// Every item was seen by somebody, where it is said to have been.
fn compare(bytes: &[u8], noise: &mut Noise) {
    let other = mutated(noise, &[bytes.to_vec()]);
    let bodies = [bytes.to_vec(), other, bytes.to_vec()].map(|bytes| Some(Body::in_memory(bytes)));
    let matrix = Matrix::of(&bodies);
    assert!(
        matrix.items().iter().all(|item| item.seen & 0b101 != 0b001 && item.seen & 0b101 != 0b100),
        "the same sees the same"
    );
    assert!(matrix.items().iter().all(|item| item.other & 0b101 == 0), "the same tells the same");
    for (number, item) in matrix.items().iter().enumerate().step_by(1 + matrix.items().len() / 20) {
        let _ = matrix.row(item);
        for column in 0..matrix.counts(None).len() {
            let places = matrix.places(number, column, 3);
            assert_eq!(places.is_empty(), item.seen >> column & 1 == 0);
            places.into_iter().for_each(|(section, row)| drop(matrix.row_of(column, section, row)));
        }
    }
    let sides = [0b001, 0b010, 0b100];
    let parts = [SeenFilter::All, SeenFilter::Some].map(|only| matrix.select(None, only, &sides, 0).len());
    let both = matrix.items().iter().filter(|item| item.seen == 0b111 && item.other != 0).count();
    assert_eq!(parts.iter().sum::<usize>(), matrix.items().len() + both);
}

fn page(bytes: &[u8], _: &mut Noise) {
    let Ok(page) = Page::of(&Body::in_memory(bytes.to_vec())) else { return };
    for entry in page.entries {
        let _ = entry.identifier.parts();
        assert!(entry.report.is_none_or(|report| !report.is_empty()));
    }
}

fn tree(bytes: &[u8], _: &mut Noise) {
    for line in lines(bytes) {
        let _ = (line.value.map(|value| value.visible()), line.depth);
    }
}

fn response(bytes: &[u8], _: &mut Noise) {
    if let Some(analysis) = Analysis::of(bytes) {
        let words = analysis.sandboxes.iter().map(|run| run.label() + run.sandbox().visible().as_str());
        words.for_each(|words| drop(shown(words.as_bytes()).unwrap()));
        assert!(analysis.done() <= analysis.sandboxes.len());
    }
    assert!(submitted(bytes).is_none_or(|scan| !scan.as_bytes().is_empty()));
    assert!(upload_address(bytes).is_none_or(|address| !address.is_empty()));
    if let Ok(balances) = Balances::parse(bytes) {
        let _ = (balances.counters.len(), balances.unparsed.len(), Entitlements::from_balances(&balances).label());
    }
    if let Ok(usage) = Usage::parse(bytes) {
        let _ = (usage.daily.len(), usage.by_endpoint(), usage.disagreements().len());
    }
    if let Ok(user) = serde_json::from_slice(bytes) {
        let _ = Entitlements::of_user(&user, jiff::Timestamp::UNIX_EPOCH);
    }
    let header = String::from_utf8_lossy(&bytes[..bytes.len().min(40)]).into_owned();
    shown(ApiError::of(429, Some(&header), bytes, now()).to_string().as_bytes()).unwrap();
}

/// Shown text is visible, as wide as stated, cut where requested, and unique to its input.
fn escaper(bytes: &[u8], noise: &mut Noise) {
    for text in [Untrusted::from(bytes), Untrusted::from_json(bytes)] {
        let visible = text.visible();
        assert_eq!(shown(visible.as_str().as_bytes()).unwrap(), visible.as_str());
        let (columns, skip) = (noise.below(40), noise.below(visible.width() + 5));
        assert!(text.visible_cut(columns).width() <= columns);
        assert!(text.visible_window(skip, columns).width() <= columns);
        shown(text.visible_window(skip, columns).as_str().as_bytes()).unwrap();
        assert!(text.lines(1 + columns).take(200).all(|line| line.width() <= (1 + columns).max(10)));
        shown(visible.defanged().as_str().as_bytes()).unwrap();
    }
    let _ = Identifier::new(Untrusted::from(bytes)).map(|identifier| identifier.parts());
    let other = bytes.iter().map(|byte| byte ^ u8::from(noise.below(30) == 0)).collect::<Vec<_>>();
    let (one, two) = (Untrusted::from(bytes), Untrusted::from(&other[..]));
    assert!(bytes == other || one.visible().as_str() != two.visible().as_str());
}

/// The demo's reports, the short ones: noise finds more in them.
fn reports() -> Vec<Vec<u8>> {
    let demo = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/demo");
    let folders = std::fs::read_dir(demo).unwrap().filter_map(|entry| std::fs::read_dir(entry.unwrap().path()).ok());
    let files = folders.flatten().map(|entry| std::fs::read(entry.unwrap().path()).unwrap());
    let mut found: Vec<_> = files.filter(|bytes| bytes.starts_with(b"{") && bytes.len() < 100_000).collect();
    assert!(found.len() > 3);
    found.push(br#"{"data":{"id":"a-1","type":"private_file_behaviour","attributes":{"processes_tree":[{"name":"a","process_id":"1","children":[{"name":"b"}]}],"tags":["T"],"x":{"y":[1]}}}}"#.to_vec());
    found
}

fn pages() -> Vec<Vec<u8>> {
    vec![
        br#"{"data":[{"id":"a b-1","attributes":{"tags":["T"]}},{"id":"c"},"d",{"type":"x"}],"meta":{"count":9,"cursor":"n=="},"links":{"next":"x"}}"#.to_vec(),
        br#"{"data":{"attributes":{"a":[1,2,{"b":[true,null]}]}},"meta":[]}"#.to_vec(),
        br#"[{"sha256":"x","submissions":[{"date":"2026-11-20 10:00:00"}]}]"#.to_vec(),
    ]
}

fn answers() -> Vec<Vec<u8>> {
    vec![
        br#"{"data":{"api_requests_daily":{"user":{"allowed":500,"used":1},"group":{"allowed":60000000000,"used":5,"inherited_from":"g"}},"private_scans_monthly":{"user":{"allowed":5,"used":0}}}}"#.to_vec(),
        br#"{"data":{"daily":{"2026-11-20":{"/api/v3/files":3}},"total":{"/api/v3/files":3}}}"#.to_vec(),
        br#"{"data":{"id":"me","attributes":{"privileges":{"intelligence":{"granted":true},"private":{"granted":false}}}}}"#.to_vec(),
        br#"{"error":{"code":"QuotaExceededError","message":"Quota exceeded"}}"#.to_vec(),
        br#"{"data":"https:\/\/upload.example\/_ah\/1"}"#.to_vec(),
        br#"{"data":{"id":"x-1","type":"private_analysis","attributes":{"status":"in-progress","sandbox_status":{"ff_CAPE-1":{"status":"in-progress","in_progress_percent":34,"message":"booting"},"Zenbox":{"status":"completed"}}}},"meta":{"file_info":{"sha256":"57"}}}"#.to_vec(),
    ]
}

fn strings() -> Vec<Vec<u8>> {
    [
        "C:\\Windows\\svchost\u{8}.exe",
        r"\x1b \u{202e} \\ \ud83d\ude00 \ud800",
        "e\u{301}\u{302}\u{303}\u{304} 漢字 \u{1f468}\u{200d}\u{1f469}",
        "https://a.example:80/%00",
    ]
    .map(|text| text.as_bytes().to_vec())
    .to_vec()
}

macro_rules! noise_breaks_nothing {
    ($($name:ident: $target:expr)*) => {$(
        #[test]
        fn $name() {
            feed(&$target);
        }
    )*};
}

noise_breaks_nothing! {
    noise_breaks_no_report: REPORT
    noise_breaks_no_screen: SCREEN
    noise_breaks_no_export: EXPORT
    noise_breaks_no_comparison: COMPARE
    noise_breaks_no_page: PAGE
    noise_breaks_no_tree: TREE
    noise_breaks_no_answer: ANSWER
    noise_breaks_no_escaper: ESCAPER
}

/// Feeds one target; writes an input that breaks it to the temporary folder, for `found/`.
fn feed(target: &Target) {
    let seconds = std::env::var("BEHAVIEW_FUZZ").ok().map(|seconds| seconds.parse::<u64>().unwrap());
    let seeds = (target.seeds)();
    let (began, clock) = (Instant::now(), std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap().as_nanos() as u64);
    let mut noise = Noise::new(if seconds.is_some() { clock } else { 1 });
    let mut count = 0_u64;
    // Each input is a dozen screens, or as many files.
    let most = if ["screen", "export"].contains(&target.name) { ORDINARY / 6 } else { ORDINARY };
    while seconds.map_or(count < most, |seconds| began.elapsed() < Duration::from_secs(seconds)) {
        let bytes = mutated(&mut noise, &seeds);
        let result = std::panic::catch_unwind(|| (target.run)(&bytes, &mut Noise::new(count)));
        if result.is_err() {
            let path = std::env::temp_dir().join(format!("behaview-found-{}-{count}", target.name));
            std::fs::write(&path, &bytes).unwrap();
            panic!("{} is broken by {}", target.name, path.display());
        }
        count += 1;
    }
    println!("noise: {} took {count} inputs from {} seeds", target.name, seeds.len());
}

#[test]
fn what_was_found_once_stays_mended() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/torture/found");
    for entry in std::fs::read_dir(folder).into_iter().flatten() {
        let bytes = std::fs::read(entry.unwrap().path()).unwrap();
        for target in [REPORT, SCREEN, EXPORT, COMPARE, PAGE, TREE, ANSWER, ESCAPER] {
            (target.run)(&bytes, &mut Noise::new(1));
        }
    }
}
