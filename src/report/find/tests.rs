//! The rows that are found against those of which a line, taken apart as it is shown, is a hit.

use super::{MatchOptions, Pattern, SearchScope, search};
use crate::report::index::SectionForm;
use crate::report::rows::{Label, Line};
use crate::report::{Cancel, Report, RowSet};
use crate::text::Untrusted;
use proptest::prelude::*;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::ops::{ControlFlow, Range};

fn search_all(report: &Report, pattern: &Pattern, scope: &SearchScope, threads: usize) -> RowSet {
    let mut all = RowSet::default();
    let mut sink = |more: RowSet| {
        all.extend(&more);
        ControlFlow::Continue(())
    };
    search(report, pattern, scope, threads, &Cancel::default(), &mut sink);
    all
}

fn found(report: &Report, pattern: &Pattern, threads: usize) -> Vec<(usize, u32)> {
    let all = search_all(report, pattern, &SearchScope::default(), threads);
    all.sections().flat_map(|(n, rows)| rows.iter().map(move |row| (n, *row))).collect()
}

fn rows(json: &str, words: &str) -> Vec<(usize, u32)> {
    found(&Report::of_json(json), &Pattern::new(words, MatchOptions::default()).unwrap(), 1)
}

/// The rows with a leaf that is a hit, or with such a word beside them.
fn naive_by(report: &Report, has: impl Fn(&Untrusted) -> bool) -> Vec<(usize, u32)> {
    let is_hit = |section: usize, row: usize| {
        let found = report.section(section).unwrap();
        let is_record = matches!(found.form, SectionForm::Array | SectionForm::Processes) && found.attribute.is_some();
        let is_data = |line: &Line| match found.form {
            // The lines of a process leave out the process itself.
            SectionForm::Processes => line.depth > 0,
            _ => !is_record || line.depth > 1,
        };
        let label = match report.row(section, row).label {
            Label::Known(word) => Untrusted::from(word),
            Label::Named(name) => name,
        };
        let lines = report.lines(section, row);
        !label.is_empty() && has(&label)
            || lines.iter().any(|line| {
                line.value.as_ref().is_some_and(&has)
                    || line.name.as_ref().is_some_and(|name| is_data(line) && has(name))
            })
    };
    let all = (0..report.index.sections.len())
        .flat_map(|section| (0..report.section(section).unwrap().len()).map(move |row| (section, row)));
    all.filter(|(section, row)| is_hit(*section, *row)).map(|(section, row)| (section, row as u32)).collect()
}

#[test]
fn attribute_label_matches_all_of_its_rows() {
    let json = r#"{"processes_injected":["a (1)","b (2)"],"files_dropped":[{"path":"C:\\x"}],"files_opened":["dropped"],"odd":["c"]}"#;
    assert_eq!(rows(json, "Inject"), [(0, 0), (0, 1)]);
    assert_eq!(rows(json, "dropped"), [(1, 0), (2, 0)]);
    assert_eq!(rows(json, "odd"), [(3, 0)]);
    let report = Report::of_json(json);
    let pattern =
        |words: &str, is_regex| Pattern::new(words, MatchOptions { is_regex, ..MatchOptions::default() }).unwrap();
    assert_eq!(found(&report, &pattern("^open|^inj", true), 2), [(0, 0), (0, 1), (2, 0)]);
}

#[test]
fn members_after_children_match_the_parent_row() {
    let json = r#"{"processes_tree":[{"children":[{"children":[{"name":"x"}],"name":"needle"},{"name":"y"}],"name":"top needle"},{"name":"z","process_id":77}]}"#;
    assert_eq!(rows(json, "needle"), [(0, 0), (0, 1)]);
    assert_eq!(rows(json, "top"), [(0, 0)]);
    assert_eq!(rows(json, "77"), [(0, 4)]);
    assert_eq!(rows(json, "children"), []);
    let escaped = r#"{"processes_tree":[{"child\u0072en":[{"name":"x"}],"name":"b"}]}"#;
    assert_eq!((rows(escaped, "name"), rows(escaped, "x")), (vec![], vec![(0, 1)]));
}

#[test]
fn chunks_and_rows_of_any_size_are_searched() {
    let long = "x".repeat(3_000_000);
    let many: Vec<String> = (0..60_000).map(|n| format!("C:\\folder\\{n:06}\\Some.dll")).collect();
    let json = json!({"files_opened": many, "tags": [long.clone() + "Needle", "short needle"], "modules_loaded": many});
    let report = Report::of_json(&json.to_string());
    let pattern = Pattern::new("needle", MatchOptions::default()).unwrap();
    assert_eq!(found(&report, &pattern, 2).len(), 2);
    for (words, count) in [("SOME.dll", 120_000), (r"\012345\s", 2), ("059999", 2), ("zz", 0)] {
        for is_regex in [false, true] {
            let words = if is_regex { words.replace('\\', r"\\") } else { words.to_owned() };
            let pattern = Pattern::new(&words, MatchOptions { is_regex, is_case_sensitive: false }).unwrap();
            assert_eq!(found(&report, &pattern, 2).len(), count, "{words}");
        }
    }
    let mut batches = 0;
    let mut sink = |_: RowSet| {
        batches += 1;
        ControlFlow::Break(())
    };
    search(&report, &pattern, &SearchScope::default(), 2, &Cancel::default(), &mut sink);
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
    let leaf =
        prop_oneof![3 => text().prop_map(Value::from), 1 => any::<u16>().prop_map(Value::from), 1 => Just(Value::Null)];
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(text(), inner, 0..4).prop_map(|map| Value::Object(map.into_iter().collect())),
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
    let mut out = String::new();
    let mut is_text = false;
    let mut is_escaped = false;
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
        let report = Report::of_json(&written(&json, &ways));
        // Words that are there, as often as words that may not be.
        let mut words: String = words.into_iter().collect();
        if let Some(file) = files.get(pick.index(7)).filter(|file| !file.is_empty()) {
            words = file.chars().skip(pick.index(file.chars().count())).take(3).collect();
        }
        let pattern = Pattern::new(&words, MatchOptions::default()).unwrap();
        let naive = naive_by(&report, |text| pattern.is_match(text.as_bytes()));
        prop_assert_eq!(found(&report, &pattern, 1), naive, "{:?}", words);
        let escaped = Pattern::new(&regex::escape(&words), MatchOptions { is_regex: true, is_case_sensitive: true }).unwrap();
        let exact = Pattern::new(&words, MatchOptions { is_regex: false, is_case_sensitive: true }).unwrap();
        prop_assert_eq!(found(&report, &escaped, 1), found(&report, &exact, 1), "{:?}", words);
    }
}

#[test]
fn spans_are_those_of_the_text_whatever_its_case() {
    let pattern =
        |words: &str, is_regex| Pattern::new(words, MatchOptions { is_regex, ..MatchOptions::default() }).unwrap();
    let text = "ẞtraße \u{212a}elvin KELVIN";
    let found: Vec<_> = pattern("kelvin", false).spans(text).into_iter().map(|at| &text[at]).collect();
    assert_eq!(found, ["\u{212a}elvin", "KELVIN"]);
    assert_eq!(&text[pattern("ße", false).spans(text)[0].clone()], "ße");
    assert_eq!(pattern("a|b*", true).spans("xay"), vec![Range { start: 1, end: 2 }]);
}

proptest! {
    #[test]
    fn a_row_set_is_a_set_in_order(places in prop::collection::vec((0_usize..4, 0_u32..40), 0..80)) {
        let naive: BTreeSet<(usize, u32)> = places.iter().copied().collect();
        let (first, second) = places.split_at(places.len() / 2);
        let mut set: RowSet = first.iter().copied().collect();
        set.extend(&second.iter().copied().collect());
        let found: Vec<_> = set.sections().flat_map(|(n, rows)| rows.iter().map(move |row| (n, *row))).collect();
        prop_assert_eq!(&found, &naive.iter().copied().collect::<Vec<_>>());
        prop_assert_eq!(set.len(), naive.len());
        for row in 0..40 {
            prop_assert_eq!(set.contains(1, row as usize), naive.contains(&(1, row)));
        }
    }
}
