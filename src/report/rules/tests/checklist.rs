//! An analyst's checklist: which rule and technique mark each line, and what only resembles it.

use super::*;

/// The rules that mark the rows of a report, by their names, without noise.
fn found(json: &str) -> Vec<(String, Vec<String>)> {
    let report = Report::of_json(json);
    let marks = RULES.evaluate(&report, &Cancel::default()).unwrap();
    let rules = marks.notable().filter_map(|(.., rule)| RULES.rule(rule));
    rules.map(|rule| (rule.id.clone(), rule.attack.clone())).collect()
}

/// A report with one row of an attribute; a registry row is written `key = value`.
pub(super) fn one(attribute: &str, row: &str) -> String {
    let row = row.replace('\\', r"\\").replace('"', "\\\"");
    let record = match (attribute, row.split_once(" = ")) {
        ("registry_keys_set", Some((key, value))) => format!(r#"{{"key":"{key}","value":"{value}"}}"#),
        ("processes_tree", Some((parent, name))) => {
            format!(r#"{{"name":"{parent}","children":[{{"name":"{name}"}}]}}"#)
        }
        ("processes_tree", None) => format!(r#"{{"name":"{row}"}}"#),
        ("smtp_conversations", _) => format!(r#"{{"smtp_to":["{row}"]}}"#),
        ("dns_lookups", _) => format!(r#"{{"hostname":"{row}"}}"#),
        ("http_conversations", _) => format!(r#"{{"url":"{row}","request_method":"GET"}}"#),
        ("ip_traffic", _) => {
            let (address, port) = row.rsplit_once(':').unwrap();
            let address = format!(r#"{{"destination_ip":"{address}","destination_port":{port}"#);
            format!(r#"{address},"transport_layer_protocol":"TCP"}}"#)
        }
        _ => format!(r#""{row}""#),
    };
    format!(r#"{{"{attribute}":[{record}]}}"#)
}

const WRITTEN: &str = "files_written";
const ADDRESS: &str = "ip_traffic";
const FILE: &str = "files_opened";

/// Rule, technique, attribute, a row that it marks, and one that no such rule marks.
const CHECKLIST: &str = include_str!("checklist.tsv");

#[test]
fn checklist_row_is_marked_and_near_miss_is_not() {
    let mut wrong = Vec::new();
    for line in CHECKLIST.lines() {
        let [id, technique, attribute, row, near_miss] = line.split('\t').collect::<Vec<_>>()[..] else {
            panic!("{line}")
        };
        let marked = found(&one(attribute, row));
        let missed = found(&one(attribute, near_miss));
        let is_so = |(found, attack): &(String, Vec<String>)| found == id && attack.iter().any(|id| id == technique);
        if !marked.iter().any(is_so) {
            wrong.push(format!("{id} misses {row}: {marked:?}"));
        }
        if !near_miss.is_empty() && missed.iter().any(|(found, _)| found == id) {
            wrong.push(format!("{id} marks {near_miss}"));
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
}

/// What harmless programs do is not a finding, or only noise (`-`); verdicts go by whole words.
#[test]
fn row_is_marked_by_this_rule_alone() {
    for [rule, attribute, row] in table(include_str!("only.tsv")) {
        let found: Vec<_> = found(&one(attribute, row)).into_iter().map(|(id, _)| id).collect();
        let expected = Some(rule).filter(|rule| *rule != "-");
        assert_eq!(found, Vec::from_iter(expected), "{row}");
    }
    let script = found(&one(WRITTEN, r"C:\Users\a\AppData\Local\Temp\install.ps1"));
    assert!(script.iter().any(|(id, _)| id == "dropped-script"), "{script:?}");
}

#[test]
fn sample_is_known_by_its_hash_and_placeholders() {
    let hash = "ab".repeat(32);
    let report = |attributes: &str| {
        format!(r#"{{"data":{{"type":"file_behaviour","id":"{hash}_Zenbox","attributes":{{{attributes}}}}}}}"#)
    };
    for (attributes, id) in [
        (format!(r#""files_deleted":["C:\\Users\\a\\Desktop\\{hash}.exe"]"#), "self-deleted"),
        (format!(r#""files_dropped":[{{"path":"C:\\ProgramData\\x.exe","sha256":"{hash}"}}]"#), "self-drop"),
        (format!(r#""files_copied":[{{"source":"C:\\{hash}","destination":"C:\\x.exe"}}]"#), "self-copy"),
        (r#""files_copied":[{"source":"<PATH_SAMPLE.EXE>","destination":"%APPDATA%\\x.exe"}]"#.to_owned(), "self-copy"),
        (format!(r#""command_executions":["cmd /c del C:\\{hash}"]"#), "self-delete"),
    ] {
        let ids: Vec<_> = found(&report(&attributes)).into_iter().map(|(id, _)| id).collect();
        assert!(ids.iter().any(|found| found == id), "{id}: {ids:?}");
    }
    for attributes in [
        format!(r#""files_dropped":[{{"path":"C:\\Users\\a\\{hash}.txt","sha256":"{hash}"}}]"#),
        format!(r#""files_dropped":[{{"path":"C:\\x.txt","sha256":"{}"}}]"#, "cd".repeat(32)),
        r#""files_copied":[{"source":"C:\\a.txt","destination":"C:\\b.txt"}]"#.to_owned(),
    ] {
        assert_eq!(found(&report(&attributes)), [], "{attributes}");
    }
}

#[test]
fn many_rows_of_a_kind_are_marked_and_few_are_not() {
    let files = |paths: &[String], rule: &str| {
        let paths: Vec<_> = paths.iter().map(|path| format!("\"{}\"", path.replace('\\', r"\\"))).collect();
        let marked = found(&format!(r#"{{"files_written":[{}]}}"#, paths.join(",")));
        marked.iter().filter(|(id, _)| id == rule).count()
    };
    let folders = ["Desktop", "Documents", r"Documents\a", "Pictures", "Music"];
    let paths = |count: usize, folder: &str, name: &str| {
        folders.iter().take(count).map(|within| format!(r"{folder}\{within}\{name}")).collect::<Vec<_>>()
    };
    assert_eq!(files(&paths(5, r"C:\Users\a", "info.txt"), "note-in-folders"), 5);
    assert_eq!(files(&paths(3, r"C:\Users\a", "info.txt"), "note-in-folders"), 0, "few");
    assert_eq!(files(&paths(5, r"C:\Program Files\x", "info.txt"), "note-in-folders"), 0, "an installer");
    assert_eq!(files(&paths(5, r"C:\Users\a", "LICENSE.txt"), "note-in-folders"), 0, "a licence");
    assert_eq!(files(&paths(5, r"C:\Users\a", "a.docx.x7k2"), "ending-added"), 5);
    assert_eq!(files(&paths(5, r"C:\Users\a", "a.docx.lnk"), "ending-added"), 0, "links to documents");
    assert_eq!(files(&paths(3, r"C:\Users\a", "a.docx.x7k2"), "ending-added"), 0, "few");
    assert_eq!(
        files(
            &["a.txt", "b.txt", "c.txt", "d.txt", "e.txt"].map(|name| format!(r"C:\Users\a\Desktop\{name}")),
            "note-in-folders"
        ),
        0
    );
}

#[test]
fn passwords_of_a_browser_that_runs_are_its_own() {
    let report = |program: &str| {
        let path = r"C:\\Users\\a\\AppData\\Local\\Google\\Chrome\\User Data\\Default\\Login Data";
        format!(r#"{{"files_opened":["{path}"],"processes_tree":[{{"name":"C:\\Program Files\\{program}"}}]}}"#)
    };
    let ids = |program: &str| found(&report(program)).into_iter().map(|(id, _)| id).collect::<Vec<_>>();
    assert_eq!(ids("x.exe"), ["browser-passwords", "browser-own"]);
    assert_eq!(ids("chrome.exe"), ["browser-own"]);
}

#[test]
fn many_without_its_two_names_is_refused() {
    let own = "[[rule]]\nid='a'\nseverity='low'\nname='a'\nwhy='a'\nregex='x'\nmany=3\n";
    let (_, problems) = Rules::read(Some(("r", own)));
    assert!(problems[0].contains("line 1") && problems[0].contains("(?P<each>...)"), "{problems:?}");
}

#[test]
fn connections_of_marked_rows_are_marked() {
    let connections = r#""ip_traffic":[{"destination_ip":"203.0.113.5","destination_port":14433},
        {"destination_ip":"203.0.113.6","destination_port":443},{"destination_ip":"203.0.113.7","destination_port":19071},
        {"destination_ip":"192.168.0.7","destination_port":5000}]"#;
    let names = r#""dns_lookups":[{"hostname":"xmr.nanopool.org","resolved_ips":["203.0.113.5","203.0.113.6"]},
        {"hostname":"other.example","resolved_ips":["203.0.113.6"]},{"hostname":"t.me","resolved_ips":["203.0.113.9"]}]"#;
    let alert = r#""ids_alerts":[{"rule_msg":"c2","alert_severity":"high",
        "alert_context":{"src_ip":"192.168.0.7","dest_ip":"203.0.113.7"}}]"#;
    for parts in [[connections, names, alert], [alert, names, connections]] {
        let report = Report::of_json(&format!("{{{}}}", parts.join(",")));
        let marks = RULES.evaluate(&report, &Cancel::default()).unwrap();
        let traffic = parts.iter().position(|part| *part == connections).unwrap();
        let rules = |row| {
            let rules = RULES.of_row(&report, &marks, traffic, row).into_iter().map(|rule| rule.id.as_str());
            (marks.rule(traffic, row).is_some(), rules.collect::<Vec<_>>())
        };
        assert_eq!(rules(0), (true, vec!["mining"]), "an odd port of a marked name");
        assert_eq!(rules(1), (false, vec![]), "another name leads there as well");
        assert_eq!(rules(2), (true, vec!["ids-alert"]), "an alert names it");
        assert_eq!(rules(3), (false, vec![]), "a machine of the own network");
    }
}

#[test]
fn count_rules_apply_from_their_threshold_on() {
    let count = |attribute: &str, rows: &[String], rule: &str| {
        let rows: Vec<_> = rows.iter().map(|row| one(attribute, row)).collect();
        let rows = rows.iter().map(|row| row.split_once('[').unwrap().1.strip_suffix("]}").unwrap());
        let json = format!(r#"{{"{attribute}":[{}]}}"#, rows.collect::<Vec<_>>().join(","));
        found(&json).iter().filter(|(id, _)| id == rule).count()
    };
    let rows = |count: usize, row: &dyn Fn(usize) -> String| (0..count).map(row).collect::<Vec<_>>();
    let browser = |n: usize| format!(r"C:\Users\a\AppData\Local\Browser{n}\User Data");
    assert_eq!(count(FILE, &rows(4, &browser), "many-browsers"), 4);
    assert_eq!(count(FILE, &rows(3, &browser), "many-browsers"), 0);
    let share = |n: usize| format!("203.0.113.{n}:445");
    assert_eq!(count(ADDRESS, &rows(10, &share), "many-hosts"), 10);
    assert_eq!(count(ADDRESS, &rows(9, &share), "many-hosts"), 0);
    let server = |n: usize| format!("203.0.113.{n}:8080");
    assert_eq!(count("memory_pattern_ips", &rows(5, &server), "memory-servers"), 5);
    assert_eq!(count("memory_pattern_ips", &rows(4, &server), "memory-servers"), 0);
}

#[test]
fn complaint_of_a_decoder_is_a_slight_alert() {
    let ids = |message: &str| {
        let alert = format!(r#"{{"ids_alerts":[{{"alert_severity":"medium","rule_msg":"{message}"}}]}}"#);
        found(&alert).into_iter().map(|(id, _)| id).collect::<Vec<_>>()
    };
    assert_eq!(ids("DECODE_IP_OPTION_SET"), ["slight-alert"]);
    assert_eq!(ids("ET MALWARE Redline Stealer TCP CnC Activity"), ["alert"]);
}
