//! Attributes of the published schema, and sandboxes' notations, shown, compared and exported.

use crate::harness::{errors, json, run, text};
use behaview::export::FORMATS;
use behaview::report::Pane;
use serde_json::Value;

fn report(sandbox: &str, attributes: &str) -> String {
    let id = format!("{}_{sandbox}", "a".repeat(64));
    format!(r#"{{"id":"{id}","type":"file_behaviour","attributes":{{"sandbox_name":"{sandbox}",{attributes}}}}}"#)
}

fn exported(format: &str, report: &str) -> String {
    text(&run(&["export", "--format", format, "-"], report))
}

/// The items of a comparison with the columns that saw them.
fn compared(reports: &[String]) -> Vec<(String, Vec<u64>)> {
    let page = format!(r#"{{"data":[{}]}}"#, reports.join(","));
    let found = json(&run(&["compare", "-", "--json"], &page));
    let seen = |item: &Value| item["seen"].as_array().unwrap().iter().map(|n| n.as_u64().unwrap()).collect();
    found["items"].as_array().unwrap().iter().map(|i| (i["text"].as_str().unwrap().to_owned(), seen(i))).collect()
}

#[test]
fn registry_values_compare_equal_across_sandboxes() {
    let set = |sandbox: &str, key: &str, value: &str| {
        report(sandbox, &format!(r#""registry_keys_set":[{{"key":"{key}","value":"{value}"}}]"#))
    };
    let items = compared(&[
        set("Lastline", r"HKU\\S-1-5-21-1\\SOFTWARE\\Run", "xws"),
        set("SNDBOX", r"\\REGISTRY\\USER\\S-1-5-21-2\\Software\\Run", "xws"),
        set("Tencent HABO", r"<HKCU>\\Software\\Run\\xws", r"C:\\x.exe"),
        set("DAS-Security Orcas", r"\\Registry\\Machine\\System\\Session Manager", "Pending"),
    ]);
    assert_eq!(items[0], (r"HKU\S-1-5-21-1\SOFTWARE\Run\xws".to_owned(), vec![1, 2, 3]));
    assert_eq!(items.len(), 2, "{items:?}");
    let named = exported("stix", &set("SNDBOX", r"HKCU\\Software\\Run", "xws"));
    assert!(named.contains("windows-registry-key") && !named.contains("\"data\":\"xws\""), "{named}");
    let data = exported("stix", &set("Zenbox", r"HKCU\\Software\\Run\\xws", r"C:\\x.exe"));
    assert!(data.contains(r#""name":"xws""#) && data.contains(r#""data":"C:\\x.exe""#), "{data}");
}

#[test]
fn techniques_of_a_summary_are_techniques() {
    let summary = r#"{"data":{"attack_techniques":{"T1082":[{"description":"Reads the name","severity":"INFO"}],
        "T1055":[{"description":"Suspends","severity":"LOW"},{"description":"Injects","severity":"HIGH"}]}}}"#;
    let shown = exported("txt", summary);
    let places = [
        "HIGH · T1055 Process Injection · Suspends; Injects",
        "INFO · T1082 System Information Discovery · Reads the name",
    ]
    .map(|row| shown.find(row));
    assert!(places.iter().all(Option::is_some), "{shown}");
    assert!(exported("stix", summary).contains("https://attack.mitre.org/techniques/T1055"));
    assert!(exported("misp", summary).contains("T1055"));
}

#[test]
fn sent_mail_is_network_with_redacted_password() {
    let mail = report(
        "Zenbox",
        r#""smtp_conversations":[{"hostname":"mail.example.net","destination_ip":"203.0.113.77","destination_port":587,
        "smtp_from":"logs@example.net","smtp_to":["drop@example.org"],"subject":"PW","auth_pass":"hunter2"}]"#,
    );
    for format in ["txt", "md"] {
        let shown = exported(format, &mail);
        assert!(shown.contains("## Network 1") && shown.contains("587") && !shown.contains("hunter2"), "{shown}");
    }
    assert!(exported("json", &mail).contains("hunter2"));
    let found = text(&run(&["export", "--format", "csv", "--indicators", "-"], &mail));
    let kinds = ["drop@example.org", "mail.example.net", "203.0.113.77"];
    assert!(kinds.into_iter().all(|kind| found.contains(kind)), "{found}");
}

#[test]
fn a_list_of_processes_is_shown_as_a_tree() {
    let list = r#""processes_list":[{"process_id":"100","name":"C:\\sample.exe"},{"process_id":"300","parent_process_id":"200","name":"whoami.exe"},
        {"process_id":"200","parent_process_id":"100","name":"cmd.exe /c whoami"}]"#;
    let shown = exported("txt", &report("Zenbox", list));
    let depth = |name: &str| {
        let line = shown.lines().find(|line| line.trim_start().starts_with(name)).unwrap_or_else(|| panic!("{shown}"));
        line.len() - line.trim_start().len()
    };
    let depths = [r"C:\sample.exe", "cmd.exe /c", "whoami.exe"].map(depth);
    assert!(depths.is_sorted() && depths[0] < depths[1] && depths[1] < depths[2], "{shown}");
}

#[test]
fn objects_of_mbc_and_further_members_have_rows() {
    let shown = exported(
        "txt",
        &report(
            "Zenbox",
            r#""mbc":[{"id":"F0001.008","objective":"Anti-Static Analysis","behavior":"Software Packing","method":"UPX"}],
            "tls":[{"sni":"c2.example.net","ja4":"t13d"}],"dns_lookups":[{"hostname":"txt.example.net","txt_records":["aGk="]}],
            "permissions_requested":["SE_DEBUG_PRIVILEGE"],"signals_observed":["ROOT\\CIMV2"]"#,
        ),
    );
    for row in [
        "F0001.008 Software Packing · UPX",
        "ja4 t13d",
        "txt aGk=",
        &format!("## {} 1", Pane::Services.title()),
        "## Modules and calls 1",
    ] {
        assert!(shown.contains(row), "{row}: {shown}");
    }
    assert!(!shown.contains("## Mobile"), "{shown}");
}

#[test]
fn lists_of_a_round_length_are_perhaps_cut() {
    let opened = |keys: std::ops::Range<usize>| {
        let keys: Vec<_> = keys.map(|n| format!(r#""HKLM\\K{n}""#)).collect();
        report("Zenbox", &format!(r#""registry_keys_opened":[{}]"#, keys.join(",")))
    };
    let cut = "registry_keys_opened 300, perhaps cut by the service";
    let within = |format| match format {
        "md" | "txt" => format!("## Registry 300 · {cut}"),
        "csv" => r#""","yes""#.to_owned(),
        "json" => r#""perhaps_cut":["registry_keys_opened"]"#.to_owned(),
        "jsonl" => r#""perhaps_cut":true"#.to_owned(),
        "html" => "300, perhaps cut by the service".to_owned(),
        "stix" | "misp" => format!("\"{cut}\""),
        _ => format!("Zenbox: {cut}"),
    };
    for format in FORMATS.iter().map(|format| format.name) {
        let output = run(&["export", "-", "--format", format], &opened(0..300));
        let said = errors(&output);
        assert!(said.contains("1 list of exactly 300 or 500 rows, perhaps cut by the service"), "{format}: {said}");
        let written = text(&output);
        assert!(format == "raw" || written.contains(&within(format)), "{format}: {written}");
        assert!(!exported(format, &opened(0..299)).contains(&within(format)), "{format}");
    }
    assert!(errors(&run(&["show", "-"], &opened(0..300))).contains(cut));
    let none = errors(&run(&["search", "absent", "-"], &opened(0..300)));
    assert!(none.contains("of what was searched, 1 list, perhaps cut by the service"), "{none}");
    let processes: Vec<_> = (0..500).map(|n| format!(r#"{{"process_id":"{n}","name":"p{n}"}}"#)).collect();
    let processes = report("Zenbox", &format!(r#""processes_list":[{}]"#, processes.join(",")));
    let listed = exported("md", &processes);
    assert!(listed.contains("processes_list 500, perhaps cut by the service"), "{listed}");
    let page = format!(r#"{{"data":[{},{}]}}"#, opened(0..300), opened(0..301));
    let found = json(&run(&["compare", "-", "--json", "--only", "some"], &page));
    assert_eq!(found["items"][0]["unknown"], Value::from(vec![1]));
    assert_eq!(found["columns"][0]["perhaps_cut"], Value::from(vec!["registry_keys_opened"]));
    assert!(found["columns"][1].get("perhaps_cut").is_none(), "{found}");
    let shown = text(&run(&["compare", "-", "--only", "some"], &page));
    assert!(shown.contains("?●  Registry"), "{shown}");
    assert!(shown.contains("?  not listed, perhaps cut by the service"), "{shown}");
}
