//! Searches a report's rows: in pieces, several at a time, the first pieces small so that the first hits come at once.

use super::anchor::Candidate;
use super::leaves::Near;
use super::pattern::{Kind, Pattern, Scratch, Words};
use crate::report::index::Form;
use crate::report::json::Raw;
use crate::report::{Pane, Report, RowSet, Section};
use crate::text::Untrusted;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io;
use std::ops::{ControlFlow, Range};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc;

/// Bytes of the first pieces, and of those that follow.
const FIRST_PIECES: u64 = 128 * 1024;
const PIECES: u64 = 1024 * 1024;

/// How many pieces are small.
const SMALL: u64 = 8;

/// Bytes that are read past a piece, so that what stands over its end is whole.
const OVER: u64 = 1024;

/// Where is searched.
#[derive(Debug, Clone, Copy, Default)]
pub struct Scope {
    /// Only in this pane.
    pub pane: Option<Pane>,
    /// Only from this offset of the body on.
    pub from: u64,
    /// How many threads search; one where it is 0.
    pub threads: usize,
}

/// Searches a report, and hands each batch of rows to `sink` in the order of the body; it says whether to go on.
///
/// # Errors
/// When the body cannot be read.
pub fn search(
    report: &Report,
    pattern: &Pattern,
    scope: Scope,
    sink: &mut dyn FnMut(RowSet) -> ControlFlow<()>,
) -> io::Result<()> {
    let work = Work { report, pattern, firsts: firsts(report, scope.pane) };
    let end =
        work.firsts.iter().map(|(_, section)| report.section_end(*section)).max().unwrap_or(0).min(report.searchable());
    let start = work.firsts.first().map_or(0, |(first, _)| *first).max(scope.from);
    let pieces = Pieces { start, end };
    if pieces.get(1).is_none() || scope.threads < 2 {
        let mut bytes = Vec::new();
        for number in 0.. {
            let Some(piece) = pieces.get(number) else { break };
            if sink(work.piece(piece, &mut bytes)?).is_break() {
                break;
            }
        }
        return Ok(());
    }
    together(&work, pieces, scope.threads, sink)
}

/// Several threads take one piece after another; what they find is handed over in order.
fn together(
    work: &Work<'_>,
    pieces: Pieces,
    threads: usize,
    sink: &mut dyn FnMut(RowSet) -> ControlFlow<()>,
) -> io::Result<()> {
    let (next, is_over) = (AtomicU64::new(0), AtomicBool::new(false));
    std::thread::scope(|scope| {
        let (outbox, inbox) = mpsc::channel();
        for _ in 0..threads {
            let (outbox, next, is_over) = (outbox.clone(), &next, &is_over);
            scope.spawn(move || {
                let mut bytes = Vec::new();
                while let (false, number) = (is_over.load(Ordering::Relaxed), next.fetch_add(1, Ordering::Relaxed)) {
                    let Some(piece) = pieces.get(number) else { break };
                    if outbox.send((number, work.piece(piece, &mut bytes))).is_err() {
                        break;
                    }
                }
            });
        }
        drop(outbox);
        let result = in_order(&inbox, sink);
        is_over.store(true, Ordering::Relaxed);
        result
    })
}

fn in_order(
    inbox: &mpsc::Receiver<(u64, io::Result<RowSet>)>,
    sink: &mut dyn FnMut(RowSet) -> ControlFlow<()>,
) -> io::Result<()> {
    let (mut early, mut wanted) = (BTreeMap::new(), 0);
    for (number, found) in inbox {
        early.insert(number, found?);
        while let Some(found) = early.remove(&wanted) {
            wanted += 1;
            if sink(found).is_break() {
                return Ok(());
            }
        }
    }
    Ok(())
}

/// The pieces of what is searched.
#[derive(Clone, Copy)]
struct Pieces {
    start: u64,
    end: u64,
}

impl Pieces {
    fn get(self, number: u64) -> Option<Range<u64>> {
        let (small, large) = (number.min(SMALL), number.saturating_sub(SMALL));
        let start = self.start.saturating_add(small * FIRST_PIECES).saturating_add(large.saturating_mul(PIECES));
        let length = if number < SMALL { FIRST_PIECES } else { PIECES };
        (start < self.end).then(|| start..start.saturating_add(length).min(self.end))
    }
}

/// Offsets of the first rows of the sections that are searched, with the sections' numbers, in the order of the body.
fn firsts(report: &Report, pane: Option<Pane>) -> Vec<(u64, usize)> {
    let wanted = |section: &Section| pane.is_none_or(|pane| section.pane() == pane);
    let sections = (0..).zip(&report.index.sections).filter(|(_, section)| wanted(section));
    let mut firsts: Vec<_> = sections.filter_map(|(n, section)| Some((u64::from(section.start(0)?), n))).collect();
    firsts.sort_unstable();
    firsts
}

struct Work<'a> {
    report: &'a Report,
    pattern: &'a Pattern,
    firsts: Vec<(u64, usize)>,
}

/// The rows of a section that begin in a piece.
struct Stretch<'a> {
    section: usize,
    form: Form,
    /// The first of the rows.
    row: usize,
    starts: Cow<'a, [u32]>,
    /// Offset after the last of them.
    end: u64,
}

impl Work<'_> {
    fn piece(&self, piece: Range<u64>, bytes: &mut Vec<u8>) -> io::Result<RowSet> {
        let stretches = self.stretches(&piece).collect::<io::Result<Vec<_>>>()?;
        let mut found = RowSet::default();
        if stretches.is_empty() {
            return Ok(found);
        }
        self.report.body.read(piece.start..piece.end.saturating_add(OVER), bytes)?;
        let near = Near { at: piece.start, bytes };
        let mut sought = Sought { work: self, near, scratch: Scratch::default() };
        for stretch in stretches {
            match self.pattern.kind() {
                Kind::Words(words) => sought.words(&stretch, words, &mut found)?,
                Kind::Expression(_) => sought.expression(&stretch, &mut found)?,
            }
        }
        Ok(found)
    }

    /// The rows that begin in a piece.
    fn stretches(&self, piece: &Range<u64>) -> impl Iterator<Item = io::Result<Stretch<'_>>> {
        let first = self.firsts.partition_point(|(at, _)| *at <= piece.start).saturating_sub(1);
        let inside = self.firsts.iter().skip(first).take_while(|(at, _)| *at < piece.end);
        inside.filter_map(|(_, number)| {
            let (section, end) = (self.report.section(*number)?, self.report.section_end(*number));
            let from = |at: u64| at.checked_sub(1).and_then(|before| section.row_at(before)).map_or(0, |row| row + 1);
            let rows = from(piece.start)..from(piece.end);
            let end = section.start(rows.end).map_or(end, u64::from);
            let stretch = |starts| Stretch { section: *number, form: section.form, row: rows.start, starts, end };
            (!rows.is_empty()).then(|| section.starts(rows.clone()).map(stretch))
        })
    }
}

struct Sought<'a> {
    work: &'a Work<'a>,
    near: Near<'a>,
    scratch: Scratch,
}

impl Sought<'_> {
    fn words(&mut self, stretch: &Stretch<'_>, words: &Words, found: &mut RowSet) -> io::Result<()> {
        let near = self.near;
        let offset = |at: u64| usize::try_from(at.saturating_sub(near.at)).unwrap_or(usize::MAX);
        let start_of = |row: usize| offset(stretch.starts.get(row).map_or(stretch.end, |start| u64::from(*start)));
        let mut whole = stretch.starts.len();
        let goes_on = start_of(whole) > near.bytes.len();
        // A last row that goes on past what is at hand is taken by itself.
        whole -= usize::from(goes_on);
        let bytes = near.bytes.get(..start_of(whole)).unwrap_or_default();
        let (mut from, mut row) = (start_of(0), 0);
        while let Some(candidate) = words.anchor.find(bytes, from) {
            while start_of(row + 1) <= candidate.at {
                row += 1;
            }
            match self.glance(stretch, words, candidate, row, bytes) {
                Some(false) => {
                    from = candidate.at + 1;
                    continue;
                }
                Some(true) => found.insert(stretch.section, number(stretch.row + row)),
                None => self.take(stretch, row, found)?,
            }
            from = start_of(row + 1);
        }
        if goes_on { self.take(stretch, whole, found) } else { Ok(()) }
    }

    /// Adds a row if it is a hit, by its leaves; and the processes above it that go on after it, if they are.
    fn take(&mut self, stretch: &Stretch<'_>, row: usize, found: &mut RowSet) -> io::Result<()> {
        let (section, row) = (stretch.section, stretch.row + row);
        if self.check(section, row)? {
            found.insert(section, number(row));
        }
        let Some(tree) = self.work.report.section(section).filter(|_| stretch.form == Form::Processes) else {
            return Ok(());
        };
        let range = self.work.report.row_range(section, row);
        let goes_on = |process: usize| tree.tail(process).is_some_and(|tail| range.contains(&u64::from(tail)));
        let mut above = tree.depths().parent(row);
        while let Some(process) = above.filter(|process| goes_on(*process)) {
            if self.check(section, process)? {
                found.insert(section, number(process));
            }
            above = tree.depths().parent(process);
        }
        Ok(())
    }

    /// Whether a candidate is a hit, as far as can be told without decoding.
    fn glance(
        &self,
        stretch: &Stretch<'_>,
        words: &Words,
        candidate: Candidate,
        row: usize,
        bytes: &[u8],
    ) -> Option<bool> {
        let start = u64::from(*stretch.starts.get(row)?).checked_sub(self.near.at)?;
        let start = usize::try_from(start).ok()?;
        let is_string = stretch.form == Form::Array && bytes.get(start) == Some(&b'"');
        let is_inside = words.encoded.first().is_some_and(|first| !b" ,:[]{}".contains(first));
        if !(is_string && is_inside && candidate.is_plain) {
            return None;
        }
        let at = candidate.at.checked_sub(words.anchor.offset).filter(|at| *at > start)?;
        let is_case_sensitive = self.work.pattern.how().is_case_sensitive;
        // From the anchor outwards: up to the first difference both are written alike.
        for place in (0..words.anchor.offset).rev().chain(words.anchor.offset..words.encoded.len()) {
            let (byte, wanted) = (bytes.get(at + place)?, words.encoded.get(place)?);
            let is_equal = if is_case_sensitive { byte == wanted } else { byte.to_ascii_lowercase() == *wanted };
            if !is_equal {
                return is_another(bytes, at + place, *wanted).then_some(false);
            }
        }
        is_between_escapes(bytes.get(start..at)?).then_some(true)
    }

    fn expression(&mut self, stretch: &Stretch<'_>, found: &mut RowSet) -> io::Result<()> {
        for row in stretch.row..stretch.row + stretch.starts.len() {
            if self.check(stretch.section, row)? {
                found.insert(stretch.section, number(row));
            }
        }
        Ok(())
    }

    /// Whether a row is a hit, by its leaves.
    fn check(&mut self, section: usize, row: usize) -> io::Result<bool> {
        let (pattern, scratch) = (self.work.pattern, &mut self.scratch);
        let range = self.work.report.row_range(section, row);
        // Most rows are a string by itself.
        if let Some(bytes) = self.near.get(&range).filter(|bytes| bytes.first() == Some(&b'"'))
            && self.work.report.section(section).is_some_and(|section| section.form == Form::Array)
        {
            return Ok(is_match(pattern, Raw::new(bytes).content(), scratch));
        }
        self.work.report.has_leaf(section, row, self.near, &mut |leaf| is_match(pattern, leaf, scratch))
    }
}

fn number(row: usize) -> u32 {
    u32::try_from(row).unwrap_or(u32::MAX)
}

fn is_match(pattern: &Pattern, leaf: &[u8], scratch: &mut Scratch) -> bool {
    if memchr::memchr(b'\\', leaf).is_none() {
        return pattern.is_match(leaf, scratch);
    }
    pattern.is_match(Untrusted::from_json(leaf).as_bytes(), scratch)
}

/// Whether the byte here is for certain the end of another character than the one that is wanted, and not of the same one
/// written otherwise: such a way begins with a backslash, or is no ASCII.
fn is_another(bytes: &[u8], at: usize, wanted: u8) -> bool {
    let back = |steps: usize| at.checked_sub(steps).and_then(|at| bytes.get(at));
    let is_escape = back(1) == Some(&b'\\') || back(5) == Some(&b'\\') && back(4) == Some(&b'u');
    let is_plain = |byte: u8| byte.is_ascii() && byte != b'\\';
    back(0).is_some_and(|byte| is_plain(*byte)) && is_plain(wanted) && !is_escape
}

/// Whether what comes after these bytes of a string is the begin of a character, and not the inside of an escape.
fn is_between_escapes(before: &[u8]) -> bool {
    let near = before.get(before.len().saturating_sub(5)..).unwrap_or_default();
    let Some(back) = near.iter().rev().position(|byte| *byte == b'\\') else { return true };
    let backslash = before.len() - back;
    let run = before.get(..backslash).unwrap_or_default().iter().rev().take_while(|byte| **byte == b'\\').count();
    run % 2 == 0 || back > 0 && before.get(backslash) != Some(&b'u')
}

#[cfg(test)]
mod tests {
    use super::super::How;
    use super::super::fold::fold;
    use super::*;
    use crate::report::rows::Line;
    use crate::report::{Body, Index};
    use proptest::prelude::*;
    use serde_json::{Value, json};

    fn report(json: &str) -> Report {
        let body = Body::in_memory(json.as_bytes().to_vec());
        let index = Index::of(&body).unwrap();
        Report::new(body, index)
    }

    fn found(report: &Report, pattern: &Pattern, threads: usize) -> Vec<(usize, u32)> {
        let mut all = RowSet::default();
        let mut sink = |more: RowSet| {
            all.extend(&more);
            ControlFlow::Continue(())
        };
        search(report, pattern, Scope { threads, ..Scope::default() }, &mut sink).unwrap();
        all.sections().flat_map(|(n, rows)| rows.iter().map(move |row| (n, *row))).collect()
    }

    fn rows(json: &str, words: &str) -> Vec<(usize, u32)> {
        found(&report(json), &Pattern::new(words, How::default()).unwrap(), 1)
    }

    /// Every leaf of a row decoded, and compared letter by letter.
    fn naive(report: &Report, words: &str) -> Vec<(usize, u32)> {
        let words: Vec<char> = words.chars().map(fold).collect();
        let has = |text: &Untrusted| {
            let text: Vec<char> = String::from_utf8_lossy(text.as_bytes()).chars().map(fold).collect();
            text.windows(words.len()).any(|window| window == words)
        };
        let is_hit = |section: usize, row: usize| {
            let found = report.section(section).unwrap();
            let is_record = matches!(found.form, Form::Array | Form::Processes) && found.attribute.is_some();
            let is_data = |line: &Line| match found.form {
                // The lines of a process leave out the process itself.
                Form::Processes => line.depth > 0,
                _ => !is_record || line.depth > 1,
            };
            let lines = report.lines(section, row).unwrap();
            lines.iter().any(|line| {
                line.value.as_ref().is_some_and(has)
                    || line.name.as_ref().is_some_and(|name| is_data(line) && has(name))
            })
        };
        let all = (0..report.index.sections.len())
            .flat_map(|section| (0..report.section(section).unwrap().len()).map(move |row| (section, row)));
        all.filter(|(section, row)| is_hit(*section, *row)).map(|(section, row)| (section, number(row))).collect()
    }

    #[test]
    fn every_leaf_is_found_and_no_name_of_the_format() {
        let json = r#"{"registry_keys_set":[{"key":"HKCU\\Run","value":"x","odd":{"hidden":["deep"]}},{"key":"b"}],"files_opened":["C:\\Tëmp\\a.EXE","\u0043:\/x"]}"#;
        assert_eq!(rows(json, r"hkcu\run"), [(0, 0)]);
        assert_eq!(rows(json, "DEEP"), [(0, 0)]);
        assert_eq!(rows(json, "hidden"), [(0, 0)]);
        assert_eq!(rows(json, "key"), []);
        assert_eq!(rows(json, "c:"), [(1, 0), (1, 1)]);
        assert_eq!(rows(json, "c:/X"), [(1, 1)]);
        assert_eq!(rows(json, "TËMP"), [(1, 0)]);
        assert_eq!(rows(json, "\", \""), []);
        assert_eq!(rows(json, "files"), []);
    }

    #[test]
    fn what_stands_behind_the_children_belongs_to_the_parent() {
        let json = r#"{"processes_tree":[{"children":[{"children":[{"name":"x"}],"name":"needle"},{"name":"y"}],"name":"top needle"},{"name":"z","process_id":77}]}"#;
        assert_eq!(rows(json, "needle"), [(0, 0), (0, 1)]);
        assert_eq!(rows(json, "top"), [(0, 0)]);
        assert_eq!(rows(json, "77"), [(0, 4)]);
        assert_eq!(rows(json, "children"), []);
        let escaped = r#"{"processes_tree":[{"child\u0072en":[{"name":"x"}],"name":"b"}]}"#;
        assert_eq!((rows(escaped, "name"), rows(escaped, "x")), (vec![], vec![(0, 1)]));
    }

    #[test]
    fn the_inside_of_an_escape_is_no_text() {
        let json = r#"{"tags":["a\tb","\u0074x","back\\there","\\u0074","\b\u006e"]}"#;
        assert_eq!(rows(json, "t"), [(0, 1), (0, 2)].iter().copied().chain([]).collect::<Vec<_>>());
        assert_eq!(rows(json, "u0074"), [(0, 3)]);
        assert_eq!(rows(json, r"\"), [(0, 2), (0, 3)]);
        assert_eq!(rows(json, "n"), [(0, 4)]);
        assert_eq!(rows(r#"{"files_opened":["kS\u03c3b","ba\u017f~~~"]}"#, "Sσb"), [(0, 0)]);
        assert_eq!(rows(r#"{"files_opened":["baſ~~~","\u002fé"]}"#, "bas~~~"), [(0, 0)]);
        assert_eq!(rows(r#"{"files_opened":["\u002fé"]}"#, "/é"), [(0, 0)]);
    }

    #[test]
    fn pieces_and_rows_of_any_size_are_searched_whole() {
        let long = "x".repeat(3_000_000);
        let many: Vec<String> = (0..60_000).map(|n| format!("C:\\folder\\{n:06}\\Some.dll")).collect();
        let json =
            json!({"files_opened": many, "tags": [long.clone() + "Needle", "short needle"], "modules_loaded": many});
        let report = report(&json.to_string());
        let pattern = Pattern::new("needle", How::default()).unwrap();
        assert_eq!(found(&report, &pattern, 2).len(), 2);
        for (words, count) in [("SOME.dll", 120_000), (r"\012345\s", 2), ("059999", 2), ("zz", 0)] {
            for is_regex in [false, true] {
                let words = if is_regex { words.replace('\\', r"\\") } else { words.to_owned() };
                let pattern = Pattern::new(&words, How { is_regex, is_case_sensitive: false }).unwrap();
                assert_eq!(found(&report, &pattern, 2).len(), count, "{words}");
            }
        }
        let mut batches = 0;
        let mut sink = |_: RowSet| {
            batches += 1;
            ControlFlow::Break(())
        };
        search(&report, &pattern, Scope { threads: 2, ..Scope::default() }, &mut sink).unwrap();
        assert_eq!(batches, 1);
    }

    /// Letters that are written in several ways, or are another letter in another case.
    fn letter() -> impl Strategy<Value = char> {
        prop_oneof![
            4 => prop::sample::select("abkstuABKSTU0123\\\"/".chars().collect::<Vec<_>>()),
            1 => prop::sample::select("\n\t\u{1}Ææσςſ\u{212a}é中😀ßİı,:[]{} ".chars().collect::<Vec<_>>()),
        ]
    }

    fn text() -> impl Strategy<Value = String> {
        prop::collection::vec(letter(), 0..12).prop_map(|letters| letters.into_iter().collect())
    }

    fn value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![3 => text().prop_map(Value::from), 1 => any::<u16>().prop_map(Value::from), 1 => Just(Value::Null)];
        leaf.prop_recursive(3, 12, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::btree_map(text(), inner, 0..4)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    fn process() -> impl Strategy<Value = Value> {
        let leaf = (text(), text()).prop_map(|(name, more)| json!({"name": name, "zzz": more}));
        leaf.prop_recursive(3, 12, 3, |inner| {
            // Members are written by their names' order: some stand before the children and some after.
            (text(), text(), prop::collection::vec(inner, 0..3))
                .prop_map(|(before, after, children)| json!({"a": before, "children": children, "name": after}))
        })
    }

    /// JSON in which some characters are escaped that need not be.
    fn written(value: &Value, ways: &[u8]) -> String {
        let plain = value.to_string();
        let (mut out, mut is_text, mut is_escaped) = (String::new(), false, false);
        for (n, c) in plain.chars().enumerate() {
            let way = ways.get(n % ways.len().max(1)).copied().unwrap_or_default();
            let is_open = is_text && !is_escaped && c != '"' && c != '\\';
            match (is_open, way) {
                (true, 0) => c.encode_utf16(&mut [0; 2]).iter().for_each(|unit| out += &format!("\\u{unit:04x}")),
                (true, 1) => c.encode_utf16(&mut [0; 2]).iter().for_each(|unit| out += &format!("\\u{unit:04X}")),
                (true, 2) if c == '/' => out += "\\/",
                (false, 3) if !is_text && c == ',' => out += " , ",
                _ => out.push(c),
            }
            is_text ^= c == '"' && !is_escaped;
            is_escaped = is_text && c == '\\' && !is_escaped;
        }
        out
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(400))]
        #[test]
        fn search_agrees_with_decoding_every_leaf(
            files in prop::collection::vec(text(), 0..6),
            keys in prop::collection::vec(value(), 0..4),
            tree in prop::collection::vec(process(), 0..3),
            (odd, single) in (value(), value()),
            ways in prop::collection::vec(0_u8..12, 1..20),
            (words, pick) in (prop::collection::vec(letter(), 1..4), any::<prop::sample::Index>()),
        ) {
            let json = json!({"files_opened": files, "registry_keys_set": keys, "processes_tree": tree, "odd": odd, "one": single, "tags": ["T"]});
            let report = report(&written(&json, &ways));
            // Words that are there, as often as words that may not be.
            let mut words: String = words.into_iter().collect();
            if let Some(file) = files.get(pick.index(7)).filter(|file| !file.is_empty()) {
                words = file.chars().skip(pick.index(file.chars().count())).take(3).collect();
            }
            let pattern = Pattern::new(&words, How::default()).unwrap();
            prop_assert_eq!(found(&report, &pattern, 1), naive(&report, &words), "{:?}", words);
            let escaped = Pattern::new(&regex::escape(&words), How { is_regex: true, is_case_sensitive: true }).unwrap();
            let exact = Pattern::new(&words, How { is_regex: false, is_case_sensitive: true }).unwrap();
            prop_assert_eq!(found(&report, &escaped, 1), found(&report, &exact, 1), "{:?}", words);
        }
    }
}
