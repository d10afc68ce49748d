mod checklist;

use super::*;
use crate::report::{Cancel, Report};
use std::sync::{Arc, LazyLock};

static RULES: LazyLock<Arc<Rules>> = LazyLock::new(|| Rules::read(None).0);

/// The rules that mark the first row of a report.
fn marks(json: &str) -> Vec<String> {
    let report = Report::of_json(json);
    let found: Vec<_> =
        RULES.of_row(&report, &Marks::default(), 0, 0).into_iter().map(|rule| rule.id.clone()).collect();
    let whole = RULES.evaluate(&report, &Cancel::default()).unwrap();
    let best = whole.rule(0, 0).and_then(|rule| RULES.rule(rule)).map(|rule| rule.id.clone());
    let noise = found.first().filter(|_| whole.noise.contains(0, 0)).cloned();
    assert_eq!(best.or(noise).is_some(), !found.is_empty(), "{json}");
    found
}

#[test]
fn shipped_rules_are_sound_many_and_named_once() {
    let (rules, problems) = Rules::read(None);
    assert_eq!(problems, Vec::<String>::new());
    assert!(rules.rules.len() > 100);
    let mut ids: Vec<_> = rules.rules.iter().map(|rule| &rule.id).collect();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), rules.rules.len());
    for rule in &rules.rules {
        assert!(!rule.why.is_empty() && rule.name.len() < 60, "{}", rule.id);
        assert!(rule.attack.iter().all(|id| id.starts_with('T')), "{}", rule.id);
        assert!(!rule.subject.is_empty() || rule.severity == Severity::Noise, "{}", rule.id);
        for expression in rule.regex.iter().chain(&rule.unless) {
            assert!(expression.regex().is_ok(), "{}: {:?}", rule.id, expression.regex());
        }
    }
}

/// Rule, attribute and a row that it marks; `-` where none does.
fn table(text: &'static str) -> impl Iterator<Item = [&'static str; 3]> {
    text.lines().map(|line| line.split('\t').collect::<Vec<_>>().try_into().unwrap())
}

#[test]
fn notable_rows_are_marked_and_ordinary_are_not() {
    for [rule, attribute, row] in table(include_str!("tests/marked.tsv")) {
        let found = marks(&checklist::one(attribute, row));
        assert!(if rule == "-" { found.is_empty() } else { found.iter().any(|id| id == rule) }, "{row}: {found:?}");
    }
    for (json, rule) in [
        (r#"{"ids_alerts":[{"rule_msg":"m","alert_severity":"low"}]}"#, "slight-alert"),
        (r#"{"ids_alerts":[{"rule_msg":"m"}]}"#, "alert"),
        (r#"{"mitre_attack_techniques":[{"id":"T1","severity":"IMPACT_SEVERITY_HIGH"}]}"#, "severe"),
    ] {
        assert!(marks(json).iter().any(|found| found == rule), "{rule}: {:?}", marks(json));
    }
    let near_c2 = r#"{"ip_traffic":[{"destination_ip":"192.0.2.1","destination_port":44443}]}"#;
    assert_eq!(marks(near_c2), Vec::<String>::new());
}

#[test]
fn file_rule_matches_the_end_of_its_own_path() {
    let best = |path: &str, more: &str| {
        let path = path.replace('\\', "\\\\");
        marks(&format!(r#"{{"files_dropped":[{{"path":"{path}"{more}}}]}}"#)).into_iter().next().unwrap_or_default()
    };
    let by = r#","process_id":"1","process_name":"wscript.exe""#;
    for (path, more, id) in [
        (r"%USERPROFILE%\AppData\Local\Temp\svchost64.exe", by, "nearly-system"),
        (r"%USERPROFILE%\AppData\Local\Temp\setup.exe", "", "temp-program"),
        (r"%TEMP%\a.dll", by, "temp-program"),
        (r"C:\Windows\System32\services64.exe", "", "system-program"),
        (r"C:\Windows\System32\Microsoft\Libs\WR64.sys", "", "driver"),
        (r"D:\tools\new.exe", "", "dropped-program"),
        (r"C:\Users\a\AppData\Roaming\x.dat", r#","type":"PE_DLL""#, "disguised-program"),
        (r"C:\Users\a\AppData\Local\Microsoft\CLR_v4.0\UsageLogs\services64.exe.log", "", "noise-left-behind"),
        (r"%USERPROFILE%\AppData\Local\Temp\__PSScriptPolicyTest_szru5clb.hz1.ps1", "", "noise-left-behind"),
        (r"%USERPROFILE%\AppData\Local\Temp\__PSScriptPolicyTest_uziie1be.o3w.psm1", by, "noise-left-behind"),
        (r"C:\Users\a\AppData\Roaming\Lumen\settings.bin", by, ""),
        (r"C:\Windows\System32\Microsoft\Libs\sihost64.log", "", ""),
        (r"C:\Users\a\stage.js", by, "dropped-script"),
        (r"C:\Users\a\package.json", by, ""),
    ] {
        assert_eq!(best(path, more), id, "{path}");
    }
}

#[test]
fn parent_rule_applies_in_any_member_order() {
    let (rules, _) = Rules::read(None);
    for json in [
        r#"{"processes_tree":[{"name":"WINWORD.EXE","children":[{"name":"C:\\W\\cmd.exe"}]},{"name":"services.exe","children":[{"name":"svchost.exe"}]},{"name":"a.exe","children":[{"name":"svchost.exe"}]}]}"#,
        r#"{"processes_tree":[{"children":[{"name":"C:\\W\\cmd.exe"}],"name":"WINWORD.EXE"},{"children":[{"name":"svchost.exe"}],"name":"services.exe"},{"children":[{"name":"svchost.exe"}],"name":"a.exe"}]}"#,
    ] {
        let found = Report::of_json(json);
        let marks = rules.evaluate(&found, &Cancel::default()).unwrap();
        let id = |row| marks.rule(0, row).and_then(|rule| rules.rule(rule)).map(|rule| rule.id.as_str());
        assert_eq!([id(1), id(3), id(5)], [Some("office-child"), None, Some("odd-svchost")]);
        assert_eq!(rules.of_row(&found, &Marks::default(), 0, 1)[0].id, "office-child");
    }
}

#[test]
fn user_rule_error_is_located_and_others_apply() {
    let own = "[[rule]]\nid = \"mine\"\nseverity = \"high\"\nname = \"Ours\"\nwhy = \"x\"\nany = [\"OurMarker\"]\n\n[[rule]]\nid = \"bad\"\nseverity = \"high\"\nname = \"n\"\nwhy = \"w\"\nregex = \"(\"\n";
    let (rules, problems) = Rules::read(Some(("rules.toml", own)));
    assert_eq!(problems.len(), 1);
    assert!(problems[0].starts_with("rules.toml, line 8: the regular expression is wrong"), "{problems:?}");
    let found = Report::of_json(r#"{"strange":["an ourmarker here"]}"#);
    assert_eq!(rules.of_row(&found, &Marks::default(), 0, 0)[0].id, "mine");
    let (_, problems) = Rules::read(Some(("rules.toml", "x = [\n")));
    assert!(problems[0].contains("line 2") || problems[0].contains("line 1"), "{problems:?}");
    let (_, problems) = Rules::read(Some(("r", "[[rule]]\nid='a'\nseverity='loud'\nname='a'\nwhy='a'\nany=['b']\n")));
    assert!(problems[0].contains("line 1") && problems[0].contains("loud"), "{problems:?}");
}

#[test]
fn matching_rule_of_a_long_row_is_named() {
    let (rules, _) =
        Rules::read(Some(("r", "[[rule]]\nid='mine'\nseverity='high'\nname='a'\nwhy='b'\nall=['ourmarker']\n")));
    let found = Report::of_json(&format!(r#"{{"strange":["{} ourmarker"]}}"#, "x".repeat(20_000)));
    assert!(rules.evaluate(&found, &Cancel::default()).unwrap().rule(0, 0).is_some());
    assert_eq!(rules.of_row(&found, &Marks::default(), 0, 0)[0].id, "mine");
}

#[test]
fn excess_regex_rules_are_named_once_and_unused() {
    let head = "severity = 'low'\nname = 'n'\nwhy = 'w'";
    let many: String = (0..1_010).map(|n| format!("[[rule]]\nid = 'r{n}'\n{head}\nregex = 'evil{n}$'\n")).collect();
    let own = format!("{many}[[rule]]\nid = 'text'\n{head}\nany = ['told']\n");
    let (rules, problems) = Rules::read(Some(("rules.toml", &own)));
    let told = "rules.toml, line 6001: there are more than 65,535 rules or 1,000 regular expressions; from here on such \
                rules are not used, the others are.";
    assert_eq!(problems, [told]);
    assert_eq!(rules.rules.last().map(|rule| rule.id.as_str()), Some("text"));
}

/// The rule that matters most for the one row of an attribute.
fn best(attribute: &str, row: &str) -> String {
    let row = row.replace('\\', r"\\").replace('"', "\\\"");
    let json = match attribute {
        "registry_keys_set" => format!(r#"{{"{attribute}":[{{"key":"{row}","value":"c:\\x.exe"}}]}}"#),
        "processes_tree" => format!(r#"{{"{attribute}":[{{"name":"{row}","process_id":"7","time_offset":3}}]}}"#),
        "mitre_attack_techniques" => {
            format!(r#"{{"{attribute}":[{{"id":"{row}","severity":"IMPACT_SEVERITY_INFO"}}]}}"#)
        }
        _ => format!(r#"{{"{attribute}":["{row}"]}}"#),
    };
    marks(&json).into_iter().next().unwrap_or_default()
}

/// What starts by itself, on every system; a system's program is noise in its own folder alone.
#[test]
fn the_rule_that_matters_most_is_the_one_of_the_row() {
    for [rule, attribute, row] in table(include_str!("tests/best.tsv")) {
        assert_eq!(best(attribute, row), rule.trim_start_matches('-'), "{row}");
    }
}

#[test]
fn decoded_commands_are_evaluated() {
    for (attribute, command) in [
        ("command_executions", r#"c^m^d /c v^s^s^a^d^m^i^n d\"e\"lete sha\"\"dows /all"#),
        ("processes_created", "iex FromBase64String('dnNzYWRtaW4gZGVsZXRlIHNoYWRvd3MgL2FsbA==')"),
    ] {
        let found = marks(&format!(r#"{{"{attribute}":["{command}"]}}"#));
        assert!(found.contains(&"shadow-copies".to_owned()), "{command}: {found:?}");
    }
    let tree = r#"{"processes_tree":[{"name":"FromBase64String('dnNzYWRtaW4gZGVsZXRlIHNoYWRvd3MgL2FsbA==')"}]}"#;
    assert!(marks(tree).contains(&"shadow-copies".to_owned()));
}
