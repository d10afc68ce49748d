//! Values of every wrong kind in every place of a report: one bad row costs one row.

use super::is_long;
use behaview::report::{ATTRIBUTES, Body, Index, Report, RowPlace};

/// What may stand where something else is expected.
fn values() -> Vec<String> {
    let nested = |depth: usize| format!("{}1{}", "[".repeat(depth), "]".repeat(depth));
    const PLAIN: &str = r#"null true -1 0.5 1e999 18446744073709551616 -0 "" "7" "\ud800" "\u0000" []
        [null] [[]] [{}] {} {"a":1} {"a":1,"a":[2]} {"":null}
        {"name":{"name":[]},"children":"x"} {"children":null,"process_id":7}
        {"name":7,"children":{"name":"x"}} [1,"x",null,{"name":"y"},[{"key":1}]]"#;
    let mut values: Vec<_> = PLAIN.split_whitespace().map(str::to_owned).collect();
    values.extend([
        nested(200),
        nested(100_000),
        format!("{}{}", "{\"children\":[".repeat(20_000), "]}".repeat(20_000)),
    ]);
    values.push(format!("\"{}\"", "x".repeat(200_000)));
    values
}

fn report(attributes: &str) -> Report {
    let text = format!("{{\"data\":{{\"id\":\"x-1\",\"attributes\":{{{attributes},\"last_of_all\":[\"GOOD\"]}}}}}}");
    let body = Body::in_memory(text.into_bytes());
    let index = Index::of(&body);
    assert!(index.is_json && !index.is_cut);
    Report::new(body, index)
}

/// Reads a whole section; returns its number of rows. The envelope may have one of that name.
fn read_all(report: &Report, name: &str) -> usize {
    let mut most = 0;
    for (number, section) in
        report.index.sections.iter().enumerate().filter(|(_, s)| s.name.as_bytes() == name.as_bytes())
    {
        for row in 0..section.len() {
            let _ = report.row(number, row);
            report.lines(number, row);
        }
        most = most.max(section.len());
    }
    most
}

#[test]
fn every_attribute_bears_every_kind_of_value() {
    let (values, mut cases) = (values(), 0);
    for attribute in ATTRIBUTES.iter() {
        for value in &values {
            let name = attribute.name;
            let whole = report(&format!("\"{name}\":{value}"));
            read_all(&whole, name);
            assert_eq!(read_all(&whole, "last_of_all"), 1, "{name}: {}", &value[..value.len().min(40)]);
            // In a list it is one row among good ones, also as a process; null is none.
            let listed = report(&format!("\"{name}\":[\"GOOD\",{value},\"GOOD\"]"));
            let rows = read_all(&listed, name);
            let least = if value == "null" { 2 } else { 3 };
            assert!(
                if name == "processes_tree" { rows >= least } else { rows == least },
                "{name}: {rows} rows of {}",
                &value[..value.len().min(40)]
            );
            cases += 2;
        }
    }
    println!("JSON: {} attributes x {} values, {cases} reports", ATTRIBUTES.len(), values.len());
}

#[test]
fn report_is_found_despite_surrounding_bytes() {
    let sound = r#"{"data":{"id":"x-1","attributes":{"tags":["GOOD"]}}}"#;
    for text in
        [format!("\u{feff}{sound}"), format!("{sound}\n\n\0\0"), format!(" \r\n\t{sound}"), format!("{sound}{sound}")]
    {
        let body = Body::in_memory(text.clone().into_bytes());
        let index = Index::of(&body);
        assert!(read_all(&Report::new(body, index), "tags") >= 1, "{text:?}");
    }
    for text in ["", " ", "\u{feff}", "nul", "<html>", "\0", "]", "oops"] {
        let body = Body::in_memory(text.as_bytes().to_vec());
        let index = Index::of(&body);
        assert!(index.sections.is_empty(), "{text:?}");
    }
}

#[test]
fn million_attributes_yield_a_row_each() {
    let count = if is_long() { 1_000_000 } else { 100_000 };
    for value in ["[0]", "{\"b\":1}", "7"] {
        // A name that the table knows, and one that it does not.
        for name in ["behash", "a"] {
            let whole = report(format!("\"{name}\":{value},").repeat(count).trim_end_matches(','));
            assert!(whole.index.sections.len() < 1_100, "{} sections of {name}", whole.index.sections.len());
            let rows: usize = whole.index.sections.iter().map(behaview::report::index::Section::len).sum();
            assert!(rows > count, "{rows} rows of {name}: {value}");
            let (last, rows) =
                whole.index.sections.iter().enumerate().map(|(n, found)| (n, found.len())).next_back().unwrap();
            assert!(
                whole.record(RowPlace { section: last, row: rows - 1 }).value.ends_with(b"[\"GOOD\"]") || rows == 1
            );
        }
    }
}

#[test]
fn deep_process_reads_as_fast_as_a_shallow_one() {
    for (head, tail) in [("", ""), ("", ",\"process_id\":\"7\""), ("", ",\"children\":[]")] {
        let depth = 20_000;
        let open = format!("{{\"name\":\"p\"{head},\"children\":[");
        let text = format!(
            "{{\"data\":{{\"attributes\":{{\"processes_tree\":[{}{}]}}}}}}",
            open.repeat(depth),
            format!("]{tail}}}").repeat(depth)
        );
        let report = Report::open(&Body::in_memory(text.into_bytes()));
        let begun = std::time::Instant::now();
        for row in 0..depth {
            assert!(report.record(RowPlace { section: 0, row }).value.starts_with(b"{\"name\":\"p\""));
        }
        // To read what encloses them, half a megabyte, for each would take minutes.
        assert!(begun.elapsed() < std::time::Duration::from_secs(10), "{:?}", begun.elapsed());
    }
}
