//! What rows of every kind say in a line.

use super::*;

impl Report {
    /// The report of a JSON text.
    pub(crate) fn of_json(json: &str) -> Self {
        Self::open(&Body::in_memory(json.as_bytes().to_vec()))
    }
}

/// Label and text of every row of a pane.
fn pane(json: &str, pane: Pane) -> Vec<String> {
    let report = Report::of_json(json);
    let rows = |n: usize| (0..report.section(n).unwrap().len()).map(move |row| (n, row));
    report.sections(pane).into_iter().flat_map(rows).map(|(n, row)| text(&report.row(n, row))).collect()
}

fn text(row: &Row) -> String {
    let (label, text) = row.label_and_text(|text| text.visible().into());
    format!("{label}|{text}")
}

#[test]
fn rows_are_in_table_order_with_their_action() {
    let json = r#"{"files_opened":["C:\\a"],"files_dropped":[{"sha256":"ff","path":"C:\\b","extra":1}],"files_copied":[{"source":"s","destination":"d"}]}"#;
    assert_eq!(pane(json, Pane::Files), [r"dropped|C:\b · ff · 1 more", "copied|s → d", r"opened|C:\a"]);
}

#[test]
fn records_of_every_kind_have_a_line() {
    let json = r#"{"ip_traffic":[{"destination_ip":"192.0.2.1","destination_port":443,"transport_layer_protocol":"TCP"},{"destination_port":"53"}],
        "dns_lookups":[{"hostname":"h","resolved_ips":["1","2"]},{"resolved_ips":null}],"http_conversations":["no object", null]}"#;
    let found = pane(json, Pane::Network);
    assert_eq!(
        found,
        ["name|h → 1, 2", r#"name|{"resolved_ips":null}"#, "http|no object", "address|192.0.2.1:443 TCP", "address|53"]
    );
}

#[test]
fn unnamed_attributes_land_in_other_by_their_own_name() {
    let json = r#"{"new_thing":{"a":1,"b":{ "c": [2] }},"word":true,"list":[[1,[2]],{"k" : "v \" x"}]}"#;
    let found = pane(json, Pane::Other);
    assert_eq!(
        found,
        ["new_thing|a: 1", "new_thing|b: {\"c\":[2]}", "|word: true", "list|[1,[2]]", "list|{\"k\":\"v \\\" x\"}"]
    );
}

#[test]
fn process_name_is_read_at_any_position() {
    let json = r#"{"processes_tree":[{"children":[{"name":"b","process_id":7,"time_offset":3}],"name":"a","process_id":"7"},{"name":"c","children":[null]},{},{"name":""}]}"#;
    let twice = r#"{"processes_tree":[{"name":"X","children":[{"name":"y"}],"mid":"M","children":[],"end":"E"}]}"#;
    assert_eq!(Report::of_json(twice).lines(0, 0).len(), 3);
    let long = format!(r#"{{"processes_tree":[{{"cmd":"{}","name":"behind"}}]}}"#, "c".repeat(20_000));
    assert_eq!(pane(&long, Pane::Processes), ["|behind"]);
    assert_eq!(pane(json, Pane::Processes), ["|a  7", "|b  7  +3", "|c", "|(no name)", "|(no name)"]);
    let found = Report::of_json(json);
    let own: Vec<_> = found.lines(0, 0).into_iter().map(|line| line.name.unwrap()).collect();
    assert_eq!(own, [Untrusted::from("name"), Untrusted::from("process_id")]);
}

#[test]
fn moments_are_dates_where_they_can_be() {
    let json = r#"{"analysis_date":1753002092,"last_modification_date":"never"}"#;
    assert_eq!(pane(json, Pane::Overview), ["analysed|2025-07-20 09:01:32 UTC", "modified|never"]);
    let json = r#"{"analysis_date":9,"last_modification_date":99999999999999}"#;
    assert_eq!(pane(json, Pane::Overview), ["analysed|no date given: 9", "modified|no date given: 99999999999999"]);
}
