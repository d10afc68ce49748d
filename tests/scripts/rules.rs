//! Rules in exports: as columns and texts, as indicators to block, as findings.

use crate::harness::{CliHarness, errors, run, text};
use behaview::report::Pane;
use serde_json::Value;

fn demo(name: &str) -> String {
    format!("{}/assets/demo/dropper/{name}.json", env!("CARGO_MANIFEST_DIR"))
}

/// The export of a saved report.
fn export(path: &str, arguments: &[&str]) -> String {
    let output = run(&[&["export", path], arguments].concat(), "");
    assert!(output.status.success(), "{output:?}");
    text(&output)
}

/// The export of a report that says this.
fn export_of(attributes: &str, arguments: &[&str]) -> String {
    let id = format!("{}_Box-1794474845", "ab".repeat(32));
    let output = run(
        &[&["export", "-"], arguments].concat(),
        &format!(r#"{{"data":{{"id":"{id}","type":"private_file_behaviour","attributes":{attributes}}}}}"#),
    );
    assert!(output.status.success(), "{output:?}");
    text(&output)
}

fn parsed(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

fn patterns(bundle: &Value) -> Vec<(&str, &str)> {
    let objects = bundle["objects"].as_array().unwrap().iter();
    let indicators = objects.filter(|object| object["type"] == "indicator");
    indicators.map(|found| (found["pattern"].as_str().unwrap(), found["description"].as_str().unwrap())).collect()
}

/// Those that stand alone, and those of objects.
fn attributes(event: &Value) -> impl Iterator<Item = &Value> {
    let objects = event["Event"].get("Object").and_then(Value::as_array).into_iter().flatten();
    std::iter::once(&event["Event"]).chain(objects).flat_map(|stored| stored["Attribute"].as_array().unwrap())
}

fn attribute<'a>(event: &'a Value, value: &str) -> &'a Value {
    attributes(event).find(|found| found["value"] == value).unwrap_or_else(|| panic!("{value}"))
}

#[test]
fn findings_are_exported_with_severity_and_reason() {
    let csv = export(&demo("1-cape"), &["--findings", "--format", "csv"]);
    let mut lines = csv.lines();
    assert!(lines.next().unwrap().contains(r#""value","severity","rule","note","decoded",""#), "{csv}");
    let run_key =
        lines.clone().find(|line| line.contains("LumenUpdate") && line.contains("registry_keys_set")).unwrap();
    assert!(run_key.contains(r#""high","Starts at logon. A Run key starts a program"#), "{run_key}");
    assert!(
        lines.all(|line| ["high", "medium", "low"].iter().any(|word| line.contains(&format!("\"{word}\"")))),
        "{csv}"
    );
    for (format, words) in [
        ("jsonl", r#""severity":"high","rule":"Starts at logon. "#),
        ("md", "- high `Starts at logon. "),
        ("txt", "(high: Starts at logon. "),
    ] {
        let notable = export(&demo("1-cape"), &["--findings", "--format", format]);
        let all = export(&demo("1-cape"), &["--format", format]);
        assert!(notable.contains(words) && all.contains(words), "{format}: {notable}");
        assert!(notable.lines().count() < all.lines().count(), "{format}");
    }
    // powershell.exe did not start rundll32.exe: a shell between them did, which nothing marks.
    for (format, words) in [
        ("md", "(below `cmd.exe  2884  +9`, which is left out) `rundll32.exe"),
        ("txt", "(below cmd.exe  2884  +9, which is left out) rundll32.exe"),
    ] {
        let notable = export(&demo("1-cape"), &["--findings", "--format", format]);
        assert!(notable.contains(words), "{format}: {notable}");
        assert!(!export(&demo("1-cape"), &["--format", format]).contains("left out"), "{format}");
    }
    let refused = run(&["export", &demo("1-cape"), "--findings", "--format", "json"], "");
    assert_eq!(refused.status.code(), Some(2), "{refused:?}");
    assert!(errors(&refused).contains("json writes whole reports, panes and rows"), "{refused:?}");
    let both = run(&["export", &demo("1-cape"), "--findings", "--indicators", "--format", "csv"], "");
    assert_eq!(both.status.code(), Some(2), "{both:?}");
}

#[test]
fn user_rules_mark_rows_and_indicators_to_block() {
    let cli = CliHarness::new();
    let own = "[[rule]]\nid = \"ours\"\nseverity = \"high\"\nname = \"Ours\"\nwhy = \"We look for it.\"\nany = [\"time.example.com\"]\n";
    std::fs::write(cli.home.path().join(".config/behaview/rules.toml"), own).unwrap();
    let export = |format: &str| text(&cli.run(&["export", &demo("3-lynxbox"), "--format", format]));
    assert!(export("csv").contains(r#""high","Ours. We look for it. (rule ours)""#));
    assert!(
        text(&cli.run(&["export", &demo("3-lynxbox"), "--to-block", "--format", "csv"])).contains("time.example.com")
    );
    let bundle = parsed(&export("stix"));
    assert!(patterns(&bundle).iter().any(|(pattern, _)| pattern.contains("time.example.com")));
}

#[test]
fn manual_example_rule_marks_as_documented() {
    let manual = include_str!("../../assets/help/findings.md");
    let rule = manual.split("```toml\n[[rule]]").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    let cli = CliHarness::new();
    std::fs::write(cli.home.path().join(".config/behaview/rules.toml"), format!("[[rule]]{rule}")).unwrap();
    let id = format!("{}_Box-1794474845", "ab".repeat(32));
    let saved = cli.home.path().join("saved.json");
    let commands = r#"["RunDLL32.exe C:\\a.DAT,startw","rundll32.exe C:\\a.dat,Other"]"#;
    let report = format!(r#"{{"data":{{"id":"{id}","attributes":{{"command_executions":{commands}}}}}}}"#);
    std::fs::write(&saved, report).unwrap();
    let marked = cli.run(&["export", saved.to_str().unwrap(), "--findings", "--format", "csv"]);
    let (marked, printed) = (text(&marked), errors(&marked));
    assert_eq!(marked.matches("Loader of the autumn campaign").count(), 1, "{marked} {printed}");
}

#[test]
fn indicators_have_the_severity_of_their_rows() {
    let csv = export(&demo("3-lynxbox"), &["--indicators", "--format", "csv"]);
    let line = |start: &str| csv.lines().find(|line| line.contains(start)).unwrap();
    assert!(line("").ends_with(r#""seen","where","severity","rule","note""#), "{csv}");
    assert!(line("\"gate.lumen.example\"").contains(r#""high","Network rules raised an alarm."#), "{csv}");
    assert!(line("\"time.example.com\"").ends_with(r#""dns_lookups 3","","","""#), "{csv}");
    let injected = export(&demo("1-cape"), &["--indicators", "--format", "csv"]);
    let injected = injected.lines().find(|line| line.contains(r"C:\Windows\explorer.exe")).unwrap();
    // What was injected into is everybody's; what the sample left there is not.
    assert!(injected.ends_with(r#""processes_injected 2","","","""#), "{injected}");
    let sample = line("57874b32c2596f25db81f780cb7ae5bd2277ff9ca0176b87fecf2352ec56938c\",\"yes\"");
    assert!(sample.contains("\"0\",\"the file itself\""), "{sample}");
    let lines = export(&demo("3-lynxbox"), &["--indicators", "--format", "jsonl"]);
    assert!(lines.lines().any(|line| line.contains("backup-gate") && !line.contains("severity")), "{lines}");
    assert!(lines.contains(r#""severity":"high","rule":"Network rules raised"#), "{lines}");
    let markdown = export(&demo("3-lynxbox"), &["--indicators", "--format", "md"]);
    assert!(markdown.contains("- high `Network rules raised an alarm."), "{markdown}");
}

#[test]
fn only_sample_and_marked_indicators_are_blocked() {
    let sample = "57874b32c2596f25db81f780cb7ae5bd2277ff9ca0176b87fecf2352ec56938c";
    let bundle = parsed(&export(&demo("3-lynxbox"), &["--format", "stix"]));
    let found = patterns(&bundle);
    let has = |text: &str| found.iter().find(|(pattern, _)| pattern.contains(text));
    for text in [sample, "'gate.lumen.example'", "'203.0.113.24'", "'https://gate.lumen.example/v1/hello'"] {
        assert!(has(text).is_some(), "{text}: {found:?}");
    }
    // The port of the second is one of remote control tools, and of much else.
    for text in ["time.example.com", "2001:db8::24", "192.0.2.123", "'203.0.113.25'", "backup-gate", "cdn.statement"] {
        assert!(has(text).is_none(), "{text}: {found:?}");
    }
    let list = export(&demo("3-lynxbox"), &["--to-block", "--format", "txt"]);
    assert!(list.lines().count() == found.len() && list.contains("gate[.]lumen[.]example"), "{list} {found:?}");
    let (_, words) = has("'gate.lumen.example'").unwrap();
    assert!(words.contains("Network rules raised an alarm") && words.contains("ids_alerts 1"), "{words}");
    let observed = bundle["objects"].as_array().unwrap().iter().find(|o| o["type"] == "malware-analysis").unwrap();
    let time = bundle["objects"].as_array().unwrap().iter().find(|o| o["value"] == "time.example.com").unwrap();
    assert!(observed["analysis_sco_refs"].as_array().unwrap().contains(&time["id"]));
    // MISP is of one mind with it.
    let event = parsed(&export(&demo("3-lynxbox"), &["--format", "misp"]));
    let marked: Vec<_> = attributes(&event).filter(|a| a["to_ids"] == true).collect();
    assert_eq!(marked.len(), found.len(), "{marked:?} {found:?}");
    for attribute in marked {
        assert!(has(attribute["value"].as_str().unwrap()).is_some(), "{attribute}");
    }
}

#[test]
fn misp_categories_and_threat_level_fit_the_report() {
    let report = r#"{"files_opened":["C:\\read.txt","C:\\both.txt"],"files_written":["C:\\both.txt"],
        "registry_keys_opened":["HKCU\\Read"],"registry_keys_set":[{"key":"HKCU\\Set","value":"1"}],
        "mutexes_opened":["m"],"mutexes_created":["made"],"verdicts":["MALWARE"],"mitre_attack_techniques":[{"id":"T1547.001"},{"id":"no id"}]}"#;
    let event = parsed(&export_of(report, &["--format", "misp"]));
    for (value, category) in [
        ("C:\\read.txt", "External analysis"),
        ("C:\\both.txt", "Artifacts dropped"),
        ("HKCU\\Read", "External analysis"),
        ("HKCU\\Set", "Artifacts dropped"),
        // That it was dropped is the only category that MISP allows for the type of a mutex.
        ("made", "Artifacts dropped"),
        ("m", "External analysis"),
    ] {
        assert_eq!(attribute(&event, value)["category"], category, "{value}");
    }
    assert_eq!(["made", "m"].map(|mutex| attribute(&event, mutex)["type"].clone()), ["mutex", "other"]);
    assert_eq!(event["Event"]["threat_level_id"], "1");
    let tags: Vec<_> =
        event["Event"]["Tag"].as_array().unwrap().iter().map(|tag| tag["name"].as_str().unwrap()).collect();
    assert_eq!(tags, ["tlp:amber+strict", "mitre-attack:technique=\"T1547.001\""]);
    let level = |verdict: &str| {
        parsed(&export_of(&format!(r#"{{"verdicts":["{verdict}"]}}"#), &["--format", "misp"]))["Event"]["threat_level_id"].clone()
    };
    assert_eq!([level("GREYWARE"), level("EVADER"), level("CLEAN"), level("MODERATE")], ["2", "2", "4", "4"]);
}

#[test]
fn exports_name_the_report_and_process_parents() {
    let report = r#"{"processes_tree":[{"name":"a.exe","process_id":"1","children":[{"name":"b.exe","children":[{"name":"c.exe"}]},{"name":"d.exe"}]}],
        "files_dropped":[{"path":"C:\\x.bin","odd":"kept","more":[1,2]}],
        "signature_matches":[{"name":"s","refs":[{"value":"r1"},{"value":"r2"},{"value":"r3"},{"value":"r4"},{"value":"r5"},{"value":"r6"},{"value":"r7"},{"value":"r8"},{"value":"r9"}]}]}"#;
    let text = export_of(report, &["--format", "txt"]);
    let head = text.lines().next().unwrap();
    assert!(head.starts_with("# Box · ") && head.contains(&"ab".repeat(32)) && head.contains("2026-11-12"), "{text}");
    for line in ["a.exe  1", "  b.exe", "    c.exe", "  d.exe"] {
        assert!(text.lines().any(|found| found == line), "{line}: {text}");
    }
    assert!(!text.contains("more\n") && text.contains("odd kept") && text.contains("r9"), "{text}");
    let csv = export_of(report, &["--format", "csv"]);
    assert!(
        csv.starts_with(r#""origin","report","received","pane","attribute","row","depth","parent","path","value""#)
    );
    let of = |name: &str| csv.lines().find(|line| line.contains(name)).unwrap();
    assert!(of("c.exe").contains(r#""processes_tree","3","2","2","name","c.exe""#), "{csv}");
    assert!(of("a.exe").contains(r#""processes_tree","1","0","","name","a.exe""#), "{csv}");
    let lines = export_of(report, &["--format", "jsonl"]);
    assert!(lines.lines().any(|line| line.contains("c.exe") && line.contains(r#""depth":2,"parent":2"#)), "{lines}");
    // One row stands by itself.
    let several = run(&["export", &demo("1-cape"), &demo("3-lynxbox"), "--format", "txt", "--pane", "tags"], "");
    let several = String::from_utf8(several.stdout).unwrap();
    assert_eq!(several.lines().filter(|line| line.starts_with("# ")).count(), 2, "{several}");
}

#[test]
fn findings_are_grouped_by_pane_with_counts() {
    let report = r#"{"processes_tree":[{"name":"a.exe","children":[{"name":"b.exe","children":[{"name":"vssadmin.exe delete shadows","children":[
        {"name":"vssadmin.exe delete shadows /all"}]}]},{"name":"c.exe","children":[{"name":"wbadmin.exe delete catalog"}]}]}],
        "mitre_attack_techniques":[{"id":"T1055","severity":"HIGH","signature_description":"Injects"}],
        "mutexes_created":["m"]}"#;
    let notable = export_of(report, &["--findings", "--format", "md"]);
    let shown = |start: &str| notable.lines().any(|line| line.starts_with(start));
    assert!(shown("## Processes 3 of 6"), "{notable}");
    // Nothing is indented below what is not written, and that is named.
    for start in [
        "- (below `b.exe`, which is left out) `vssadmin.exe delete shadows`",
        "  - `vssadmin.exe delete shadows /all`",
        "- (below `c.exe`, which is left out) `wbadmin.exe delete catalog`",
    ] {
        assert!(shown(start), "{start}: {notable}");
    }
    let all = export_of(report, &["--format", "md"]);
    for line in [
        "## Processes 6",
        "      - `vssadmin.exe delete shadows /all`",
        "## ATT&CK and signatures 1",
        &format!("## {} 1", Pane::Services.title()),
    ] {
        assert!(all.lines().any(|found| found.starts_with(line)), "{line}: {all}");
    }
    assert!(all.contains("- technique `HIGH · T1055 Process Injection · Injects`") && !all.contains("record"), "{all}");
}

#[test]
fn ipv6_is_bracketed_and_empty_parts_are_left_out() {
    let report = r#"{"ip_traffic":[{"destination_ip":"2001:db8::24","destination_port":8443,"transport_layer_protocol":"TCP"},
        {"destination_ip":"192.0.2.7","destination_port":80}],
        "tls":[{"sni":"","version":"TLSv1.3","thumbprint":"ab12"},{"version":"TLSv1.2"}]}"#;
    let text = export_of(report, &["--format", "txt"]);
    for line in
        ["address [2001[:]db8[:][:]24]:8443 TCP", "address 192[.]0[.]2[.]7:80", "tls TLSv1.3 · ab12", "tls TLSv1.2"]
    {
        assert!(text.lines().any(|found| found.starts_with(line)), "{line}: {text}");
    }
}

#[test]
fn local_hosts_are_not_blocked_frequent_ones_are() {
    let rows =
        |values: &[&str], of: &str| values.iter().map(|value| of.replace('#', value)).collect::<Vec<_>>().join(",");
    let alert = r##"{"rule_msg":"x","alert_severity":"high","alert_context":{"dest_ip":"#","dest_port":443}}"##;
    let url = r##"{"rule_msg":"x","alert_severity":"high","alert_context":{"url":"http://#/x"}}"##;
    let blocked = |alerts: String| {
        let bundle = parsed(&export_of(
            &format!(r#"{{"verdicts":["MALWARE"],"ids_alerts":[{alerts}]}}"#),
            &["--format", "stix"],
        ));
        // One is the file that was run.
        patterns(&bundle).len() - 1
    };
    let local = [
        "::ffff:192.168.1.1",
        "64:ff9b::c0a8:101",
        "64:ff9b:1::a00:1",
        "2002:c0a8:101::1",
        "fec0::1",
        "100.64.1.1",
        "0.1.2.3",
        "240.0.0.1",
        "198.18.0.1",
    ];
    assert_eq!(blocked(rows(&local, alert)), 0);
    assert_eq!(blocked(rows(&["203.0.113.7", "2001:db8::7", "::ffff:203.0.113.8"], alert)), 3);
    let dressed =
        ["fileserver.corp.", "nas.local.:8080", "LOCALHOST.", "127.1", "10.1", "0x7f.1", "012.0.0.1", "192.168.257"];
    let plain = ["192.168.1.1", "127.0.0.1:8080", "localhost", "[::1]", "printer.local", "wpad.corp.lan"];
    for servers in [&plain[..], &dressed] {
        assert_eq!(blocked(rows(servers, url)), 0);
    }
    // The URL alone: what else is on its host nobody knows.
    assert_eq!(blocked(rows(&["bad.example."], url)), 1);
    // A resolver is asked for names, and is nobody's; what a rule ranks low is no reason to block.
    let plain = alert.replace('#', "198.51.100.9");
    assert_eq!(blocked(plain.replace("443", "53")), 0);
    assert_eq!(blocked(plain.replace("443", r#"53,"protocol":"TCP""#)), 1);
    assert_eq!(blocked(plain.replace("high", "low")), 0);
    let named = r#"{"hostname":"bad.example","resolved_ips":["203.0.113.9"]}"#;
    let often = format!(
        r#"{{"dns_lookups":[{}],"ids_alerts":[{{"rule_msg":"x","alert_severity":"high","alert_context":{{"dest_ip":"203.0.113.9","dest_port":443,"hostname":"bad.example"}}}}]}}"#,
        [named; 40].join(",")
    );
    assert_eq!(patterns(&parsed(&export_of(&often, &["--format", "stix"]))).len() - 1, 2);
}

/// What others are told to block by a report that says this, in STIX; MISP is of one mind with it.
fn blocked(attributes: &str) -> Vec<String> {
    let bundle = parsed(&export_of(attributes, &["--format", "stix"]));
    let found: Vec<_> = patterns(&bundle).into_iter().map(|(pattern, _)| pattern.to_owned()).collect();
    let event = parsed(&export_of(attributes, &["--format", "misp"]));
    let marked: Vec<_> = self::attributes(&event).filter(|a| a["to_ids"] == true).collect();
    assert_eq!(marked.len(), found.len(), "{marked:?} {found:?}");
    for attribute in marked {
        let value = format!("'{}'", attribute["value"].as_str().unwrap());
        assert!(found.iter().any(|pattern| pattern.contains(&value)), "{value}: {found:?}");
    }
    found
}

#[test]
fn marked_command_or_url_does_not_block_its_hosts() {
    let report = r#"{"command_executions":["cmd.exe /C ping 1.1.1.1 -n 1 -w 3000 > Nul & Del /f /q \"C:\\x.exe\"",
        "powershell -w hidden https://www.microsoft.com/ \\\\files.example\\a","certutil -urlcache -f https://github.com/x/y/raw/z.exe z.exe"],
        "processes_created":["cmd /c ping 8.8.8.8 -n 5 & del C:\\x.exe"],
        "http_conversations":[{"url":"https://raw.githubusercontent.com/a/b"},{"url":"http://203.0.113.8/ngrok.io"}],
        "dns_lookups":[{"hostname":"a.duckdns.org"}],"files_dropped":[{"path":"C:\\Users\\a\\AppData\\x.exe","sha256":"HASH"}],
        "ids_alerts":[{"alert_severity":"high","alert_context":{"hostname":"c2.example","dest_ip":"203.0.113.7","dest_port":443}}]}"#;
    let hash = "cd".repeat(32);
    let mut found = blocked(&report.replace("HASH", &hash));
    found.sort();
    let sample = "ab".repeat(32);
    let mut wanted = [
        "domain-name:value = 'a.duckdns.org'",
        "domain-name:value = 'c2.example'",
        "ipv4-addr:value = '203.0.113.7'",
        "url:value = 'http://203.0.113.8/ngrok.io'",
        "url:value = 'https://github.com/x/y/raw/z.exe'",
        "url:value = 'https://raw.githubusercontent.com/a/b'",
        "url:value = 'https://www.microsoft.com/'",
        &format!("file:hashes.'SHA-256' = '{sample}'"),
        &format!("file:hashes.'SHA-256' = '{hash}'"),
    ]
    .map(|pattern| format!("[{pattern}]"));
    wanted.sort();
    assert_eq!(found, wanted);
}

#[test]
fn a_file_that_was_found_clean_is_not_blocked_itself() {
    let sample = "ab".repeat(32);
    let dropped = format!(r#""files_dropped":[{{"path":"C:\\Windows\\System32\\x.exe","sha256":"{sample}"}}]"#);
    for (verdicts, wanted) in [
        (r#"["CLEAN"]"#, false),
        (r#"["harmless","CLEAN"]"#, false),
        (r#"["CLEAN","MALWARE"]"#, true),
        (r#"["CLEAN","GREYWARE"]"#, true),
        (r#"["UNKNOWN_VERDICT"]"#, true),
        ("[]", true),
    ] {
        let found = blocked(&format!(r#"{{"verdicts":{verdicts},{dropped}}}"#));
        assert_eq!(found.iter().any(|pattern| pattern.contains(&sample)), wanted, "{verdicts}: {found:?}");
    }
}

#[test]
fn a_file_without_verdict_or_finding_is_not_blocked() {
    let csv = |attributes: &str| export_of(attributes, &["--format", "csv", "--to-block"]);
    assert_eq!(csv(r#"{"tags":["X"]}"#).lines().count(), 1, "a heading");
    assert_eq!(csv(r#"{"tags":["X"],"verdicts":["MALWARE"]}"#).lines().count(), 2);
}

#[test]
fn every_technique_of_a_long_list_is_exported() {
    let all: Vec<_> = (0..150).map(|n| format!(r#"{{"id":"T{}","severity":"LOW"}}"#, 1_000 + n)).collect();
    let bundle = export_of(&format!(r#"{{"mitre_attack_techniques":[{}]}}"#, all.join(",")), &["--format", "stix"]);
    let objects = parsed(&bundle)["objects"].as_array().unwrap().clone();
    assert_eq!(objects.iter().filter(|object| object["type"] == "attack-pattern").count(), 150);
}
