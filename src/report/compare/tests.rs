use super::*;
use proptest::prelude::*;
use serde_json::{Value, json};
use std::collections::BTreeMap;

fn body(report: &Value) -> Body {
    Body::in_memory(report.to_string().into_bytes())
}

fn matrix(reports: &[Value]) -> Matrix {
    let bodies: Vec<_> = reports.iter().map(|report| Some(body(report))).collect();
    Matrix::of(&bodies)
}

fn text(row: &Row) -> String {
    row.label_and_text(|text| text.visible().into()).1
}

/// Items with the numbers of the reports that saw them.
fn rows(matrix: &Matrix) -> Vec<(String, Vec<usize>)> {
    let seen = |item: &ComparedItem| (0..matrix.columns.len()).filter(|n| item.seen >> n & 1 == 1).collect();
    matrix.items().iter().map(|item| (text(&matrix.row(item)), seen(item))).collect()
}

fn row(text: &str, seen: &[usize]) -> (String, Vec<usize>) {
    (text.to_owned(), seen.to_vec())
}

#[test]
fn items_are_in_pane_order_and_split_by_action() {
    let one = json!({"tags": ["A"], "files_opened": [r"C:\x"], "files_written": [r"C:\x"], "sandbox_name": "one"});
    let two = json!({"files_written": [r"c:\X", r"C:\x"], "tags": ["B"], "new": {"k": [1]}, "sandbox_name": "two"});
    let found = matrix(&[one, two]);
    let wanted = [row("A", &[0]), row("B", &[1]), row(r"C:\x", &[0, 1]), row(r"C:\x", &[0]), row("k: 1", &[1])];
    assert_eq!(rows(&found), wanted);
    assert_eq!(found.counts(None), [3, 3]);
    assert_eq!(found.places(2, 1, 9), [(0, 0), (0, 1)]);
    assert_eq!(found.select(None, SeenFilter::All, &[1, 2], 0), [2]);
    assert_eq!(found.select(None, SeenFilter::Here, &[1, 2], 1), [1, 4]);
    assert_eq!(found.select(Some(Pane::Files), SeenFilter::NotHere, &[1, 2], 1), [3]);
    assert_eq!(found.find(b"C:\\X", 0, &Cancel::default()).unwrap(), [2, 3]);
}

/// The bits of the reports that tell something else than the first, of the only item.
fn others(name: &str, rows: &[Value]) -> u64 {
    let found = matrix(&rows.iter().map(|rows| json!({name: rows})).collect::<Vec<_>>());
    assert_eq!(found.items().len(), 1, "{rows:?}");
    found.items()[0].other
}

#[test]
fn order_count_and_process_ids_are_no_difference() {
    let name = |ips: &[&str]| json!({"hostname": "a.example", "resolved_ips": ips});
    let one = name(&["1", "2"]);
    let two = name(&["2", "1"]);
    assert_eq!(others("dns_lookups", &[json!([one]), json!([two, one])]), 0);
    assert_eq!(others("dns_lookups", &[json!([one]), json!([one, name(&["3"])]), json!([two])]), 0b010);
    let dump = |n: u64| json!([{"process": "a.exe", "process_id": n, "stage": n, "file_name": n.to_string()}]);
    assert_eq!(others("memory_dumps", &[dump(1), dump(2)]), 0);
    let tree = |n: u64| json!([{"name": "a.exe", "process_id": n, "time_offset": n}]);
    assert_eq!(others("processes_tree", &[tree(1), tree(2)]), 0);
    let seen_by = |n: u64| json!([{"id": "S", "severity": "low", "match_data": [n], "more": n}]);
    assert_eq!(others("signature_matches", &[seen_by(1), seen_by(2)]), 0);
}

/// What the naive matrix holds a text to be.
fn naive(text: &str) -> String {
    let small = text.to_ascii_lowercase();
    let mut parts: Vec<_> = small.split('\\').map(str::to_owned).collect();
    for n in 2..parts.len() {
        if parts[n - 1] == "users" {
            parts[n] = "*".to_owned();
        }
    }
    parts.join("\\")
}

fn word() -> impl Strategy<Value = String> {
    prop::sample::select(&["a", "A", "b", "users", "Users", "語", "\u{1b}", "x y", "50%"][..]).prop_map(str::to_owned)
}

fn path() -> impl Strategy<Value = String> {
    prop::collection::vec(word(), 1..5).prop_map(|parts| format!("C:\\{}", parts.join("\\")))
}

fn report() -> impl Strategy<Value = Value> {
    let lists = prop::collection::vec(prop::collection::vec(path(), 0..8), 3);
    lists.prop_map(|lists| json!({"modules_loaded": lists[0], "files_opened": lists[1], "strange": lists[2], "verdict_confidence": 5}))
}

proptest! {
    #[test]
    fn the_matrix_agrees_with_a_naive_one(reports in prop::collection::vec(report(), 1..6)) {
        let mut wanted: BTreeMap<(&str, String), u64> = BTreeMap::new();
        for (column, report) in reports.iter().enumerate() {
            for name in ["modules_loaded", "files_opened", "strange"] {
                for text in report[name].as_array().unwrap() {
                    let text = text.as_str().unwrap();
                    let key = if name == "strange" { text.trim().to_owned() } else { naive(text.trim()) };
                    *wanted.entry((name, key)).or_default() |= 1 << column;
                }
            }
            *wanted.entry(("verdict_confidence", "5".to_owned())).or_default() |= 1 << column;
        }
        let found = matrix(&reports);
        let mut seen: Vec<u64> = found.items().iter().map(|item| item.seen).collect();
        let mut naive: Vec<u64> = wanted.values().copied().collect();
        seen.sort_unstable();
        naive.sort_unstable();
        prop_assert_eq!(seen, naive);
        for (number, item) in found.items().iter().enumerate() {
            for column in 0..reports.len() {
                let places = found.places(number, column, usize::MAX);
                prop_assert_eq!(places.is_empty(), item.seen >> column & 1 == 0);
            }
        }
    }
}
