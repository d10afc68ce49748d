//! Export and fetch by scripts: formats that are read back, safe files, prices paid once.

use crate::harness::{CliHarness, errors, json, main_file, run, text};
use behaview::demo::Endpoint;
use behaview::report::rows::{Step, leaves, pointer};
use behaview::report::{Body, Index, Report, RowPlace};
use behaview::text::Untrusted;
use serde_json::Value;
use std::collections::{BTreeMap, HashSet};
use std::path::Path;

/// Paths of the demo's embedded reports, by a word of their names.
pub fn fixture(name: &str) -> String {
    format!("{}/assets/demo/{name}.json", env!("CARGO_MANIFEST_DIR"))
}

pub const FIXTURES: [&str; 5] =
    ["dropper/1-cape", "parcel/1-lantern-mobile", "hostile/1-strings", "hostile/2-wrong-types", "blank/1-nothing"];

pub fn export(name: &str, more: &[&str]) -> String {
    let path = fixture(name);
    let output = run(&[&["export", &path], more].concat(), "");
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// Where a leaf stands: attribute, row, way.
type At = (String, usize, String);

/// The leaves of a report as the rows have them, in their visible form.
fn leaves_of(name: &str, text: impl Fn(&Untrusted) -> String) -> BTreeMap<At, Vec<String>> {
    let body = Body::in_memory(std::fs::read(fixture(name)).unwrap());
    let index = Index::of(&body);
    let report = Report::new(body, index);
    let mut found: BTreeMap<At, Vec<String>> = BTreeMap::new();
    for (section, rows) in report.index.sections.iter().enumerate() {
        for row in 0..rows.len() {
            let record = report.record(RowPlace { section, row });
            let (attribute, member) = match record.member {
                Some(member) if rows.name.is_empty() => (text(&member), None),
                Some(member) => (text(&rows.name), Some(Step::Member(member))),
                None => (text(&rows.name), None),
            };
            leaves(&record.value, &mut |way, value| {
                let way = text(&pointer(member.iter().chain(way.iter().skip(1))));
                let value = text(&value.text());
                found.entry((attribute.clone(), row, way)).or_default().push(value);
            });
        }
    }
    found
}

/// Reads CSV by the letter of RFC 4180: every cell in quotes, lines end in CR LF.
fn read_csv(text: &str) -> Vec<Vec<String>> {
    let (mut rows, mut row, mut cell, mut is_inside) = (Vec::new(), Vec::new(), String::new(), false);
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        match (is_inside, c) {
            (true, '"') if rest.peek() == Some(&'"') => cell.extend(rest.next()),
            (_, '"') => is_inside = !is_inside,
            (true, c) => cell.push(c),
            (false, ',') => row.push(std::mem::take(&mut cell)),
            (false, '\r') => {
                assert_eq!(rest.next(), Some('\n'));
                row.push(std::mem::take(&mut cell));
                rows.push(std::mem::take(&mut row));
            }
            (false, other) => panic!("{other:?} stands outside of a cell"),
        }
    }
    rows
}

#[test]
fn csv_is_read_back_to_the_same_leaves() {
    for name in FIXTURES {
        let rows = read_csv(&export(name, &["--format", "csv"]));
        let mut found: BTreeMap<At, Vec<String>> = BTreeMap::new();
        let unmarked = |part: &str| part.strip_prefix('\'').unwrap_or(part).to_owned();
        let plain = |cell: &str| cell.split(';').map(unmarked).collect::<Vec<_>>().join(";");
        for row in &rows[1..] {
            assert_eq!(row.len(), 15, "{row:?}");
            assert!(row.iter().all(|cell| !cell.starts_with(['=', '+', '-', '@', '\t', '\r'])), "{row:?}");
            let at = (plain(&row[4]), row[5].parse::<usize>().unwrap() - 1, plain(&row[8]));
            found.entry(at).or_default().push(plain(&row[9]));
        }
        assert_eq!(found, leaves_of(name, |text| text.legible().into_owned()), "{name}");
    }
}

#[test]
fn backslashes_are_unchanged_for_other_programs() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("report.json");
    let file = r"C:\Windows\x86_\x64\x1f\x5c\u{7}\evil.exe";
    let report = format!(r#"{{"data":{{"id":"x","type":"t","attributes":{{"files_written":["{file}"]}}}}}}"#);
    std::fs::write(&path, report).unwrap();
    let run = |more: &[&str]| text(&run(&[&["export", path.to_str().unwrap()], more].concat(), ""));
    let exact = file.replace(r"\\", r"\");
    for more in [&["--format", "csv"][..], &["--format", "csv", "--indicators"]] {
        assert!(run(more).contains(&format!("\"{exact}\"")), "{}", run(more));
    }
    for format in ["misp", "stix", "jsonl"] {
        let found = run(&["--format", format]);
        assert!(found.contains(r"Windows\\x86_\\x64\\x1f\\x5c\\u{7}"), "{format}: {found}");
    }
    // A reader has to tell them from what they look like.
    let shown = run(&["--format", "txt"]);
    assert!(shown.contains(r"C:\Windows\x86_\x64\x5cx1f\x5cx5c\x5cu{7}\evil.exe"), "{shown}");
}

#[test]
fn raw_is_unchanged_and_json_is_strict() {
    for name in FIXTURES {
        let raw = std::fs::read_to_string(fixture(name)).unwrap();
        assert_eq!(export(name, &["--format", "raw"]), raw, "{name}");
        let json: Value = serde_json::from_str(&export(name, &["--format", "json"])).unwrap();
        assert!(json["data"]["attributes"].is_object(), "{name}");
    }
    let json: Value = serde_json::from_str(&export("dropper/1-cape", &["--format", "json"])).unwrap();
    let wanted: Value = serde_json::from_slice(&std::fs::read(fixture("dropper/1-cape")).unwrap()).unwrap();
    assert_eq!(json["data"]["attributes"], wanted["attributes"]);
    assert_eq!(json["data"]["id"], wanted["id"]);
}

/// The identifiers by the rule of STIX 2.1 (§2.9), of observables with a plain value.
#[test]
fn stix_is_valid_with_deterministic_identifiers() {
    for name in FIXTURES {
        let text = export(name, &["--format", "stix"]);
        assert_eq!(text, export(name, &["--format", "stix"]));
        let bundle: Value = serde_json::from_str(&text).unwrap();
        let objects = bundle["objects"].as_array().unwrap();
        let ids: HashSet<_> = objects.iter().map(|object| object["id"].as_str().unwrap()).collect();
        assert_eq!(ids.len(), objects.len(), "{name}");
        for object in objects {
            let kind = object["type"].as_str().unwrap();
            let id = object["id"].as_str().unwrap();
            assert!(id.strip_prefix(kind).and_then(|id| id.strip_prefix("--")).unwrap().len() == 36, "{id}");
            assert_eq!(object["spec_version"], "2.1");
            let needed: &[&str] = match kind {
                "marking-definition" => &["created", "name", "extensions"],
                "attack-pattern" => &["created", "modified", "name", "external_references"],
                "relationship" => &["created", "modified", "relationship_type", "source_ref", "target_ref"],
                "indicator" => &["created", "modified", "pattern", "pattern_type", "valid_from"],
                "malware-analysis" => &["created", "modified", "product", "result"],
                "file" if object.get("hashes").is_none() => &["name"],
                "file" => &["hashes"],
                "directory" => &["path"],
                "mutex" => &["name"],
                "windows-registry-key" => &["key"],
                "domain-name" | "ipv4-addr" | "ipv6-addr" | "url" | "email-addr" => &["value"],
                other => panic!("{other} is no object that is written"),
            };
            assert!(needed.iter().all(|name| object.get(name).is_some()), "{object}");
            assert!(kind == "marking-definition" || object["object_marking_refs"].as_array().unwrap().len() == 1);
            let refs = object
                .as_object()
                .unwrap()
                .iter()
                .filter(|(name, _)| name.ends_with("_ref") || name.ends_with("_refs"));
            for named in refs.flat_map(|(_, value)| value.as_array().cloned().unwrap_or(vec![value.clone()])) {
                assert!(ids.contains(named.as_str().unwrap()), "{named} is not in the bundle");
            }
        }
    }
    let bundle = export("dropper/1-cape", &["--format", "stix"]);
    // As the stix2 library of OASIS makes it.
    assert!(bundle.contains("domain-name--a38e3ae6-65ba-5fdb-baa3-de9ff92753c5"), "gate.lumen.example");
}

#[test]
fn misp_event_has_the_date_of_the_analysis() {
    for (id, date) in [("x-1", "2021-10-05"), ("x", "2021-10-05"), ("x-1794474845", "2021-10-05")] {
        let report = format!(r#"{{"data":{{"id":"{id}","attributes":{{"analysis_date":1633393161,"tags":["A"]}}}}}}"#);
        let event: Value = serde_json::from_str(&text(&run(&["export", "-", "--format", "misp"], &report))).unwrap();
        assert_eq!(event["Event"]["date"], date, "{id}");
    }
}

/// Those that stand alone, and those of objects.
fn attributes(event: &Value) -> Vec<Value> {
    let objects = event.get("Object").and_then(Value::as_array).into_iter().flatten();
    let of = |holder: &Value| holder["Attribute"].as_array().unwrap().clone();
    of(event).into_iter().chain(objects.flat_map(of)).collect()
}

const JOINED: &str = r#"{"sandbox_name":"Box","files_dropped":[{"path":"C:\\Users\\a\\s.js","sha256":"AA11AA11AA11AA11AA11AA11AA11AA11AA11AA11AA11AA11AA11AA11AA11AA11"},
    {"path":"C:\\t.js","sha256":"aa11aa11aa11aa11aa11aa11aa11aa11aa11aa11aa11aa11aa11aa11aa11aa11"},
    {"path":"C:\\T.js","sha256":"bb11bb11bb11bb11bb11bb11bb11bb11bb11bb11bb11bb11bb11bb11bb11bb11"}],
    "files_written":["C:\\users\\A\\s.js","C:\\alone.txt"],"mitre_attack_techniques":[{"id":"T1547.001"}],
    "registry_keys_set":[{"key":"HKCU\\Run\\X","value":"a|b"},{"key":"hkcu\\run\\x","value":"c"},{"key":"HKCU\\Y","value":"c"}]}"#;

#[test]
fn hashes_join_paths_and_values_join_registry_keys() {
    let event = json(&run(&["export", "-", "--format", "misp"], JOINED))["Event"].clone();
    let objects = event["Object"].as_array().unwrap().iter().map(|object| {
        let parts = object["Attribute"].as_array().unwrap().iter();
        let parts = parts
            .map(|part| format!("{}={}", part["object_relation"].as_str().unwrap(), part["value"].as_str().unwrap()));
        format!("{}: {}", object["name"].as_str().unwrap(), parts.collect::<Vec<_>>().join(" "))
    });
    let (aa, bb) = ("aa11".repeat(16), "bb11".repeat(16));
    let wanted = [
        format!(r"file: sha256={aa} filename=C:\Users\a\s.js filename=C:\t.js"),
        format!(r"file: sha256={bb} filename=C:\t.js"),
        r"registry-key: key=HKCU\Run\X data=a|b data=c".to_owned(),
        r"registry-key: key=HKCU\Y data=c".to_owned(),
    ];
    assert_eq!(objects.collect::<Vec<_>>(), wanted);
    let alone: Vec<_> = event["Attribute"].as_array().unwrap().iter().map(|found| found["value"].clone()).collect();
    assert_eq!(alone, [r"C:\alone.txt"]);
    let ids: HashSet<_> = attributes(&event).iter().map(|found| found["uuid"].as_str().unwrap().to_owned()).collect();
    assert_eq!(ids.len(), attributes(&event).len());
    let bundle = json(&run(&["export", "-", "--format", "stix"], JOINED));
    let objects = bundle["objects"].as_array().unwrap();
    let of_type = |kind: &str| objects.iter().filter(|object| object["type"] == kind).collect::<Vec<_>>();
    let files: Vec<_> =
        of_type("file").iter().map(|file| (file["hashes"]["SHA-256"].clone(), file["name"].clone())).collect();
    let (aa, bb) = (Value::from(aa), Value::from(bb));
    let wanted =
        [(aa.clone(), "s.js".into()), (aa, "t.js".into()), (bb, "t.js".into()), (Value::Null, "alone.txt".into())];
    assert_eq!(files, wanted);
    let keys = of_type("windows-registry-key");
    assert_eq!(keys[0]["values"], serde_json::json!([{"data": "a|b", "name": "X"}, {"data": "c", "name": "X"}]));
    assert_eq!(of_type("malware-analysis")[0]["analysis_sco_refs"].as_array().unwrap().len(), 6);
    // One kind by itself is that kind and nothing else.
    let cli = CliHarness::new();
    let saved = cli.home.path().join("r.json");
    std::fs::write(&saved, JOINED).unwrap();
    let row = cli.run(&["export", saved.to_str().unwrap(), "--pane", "registry", "--format", "misp"]);
    assert_eq!(json(&row)["Event"]["Object"].as_array().unwrap().len(), 2);
}

#[test]
fn stix_and_misp_have_tlp_and_techniques() {
    let bundle = json(&run(&["export", "-", "--format", "stix"], JOINED));
    let objects = bundle["objects"].as_array().unwrap();
    let find = |kind: &str| objects.iter().find(|object| object["type"] == kind).unwrap();
    let technique = find("attack-pattern");
    let reference = &technique["external_references"][0];
    assert_eq!((&reference["source_name"], &reference["external_id"]), (&"mitre-attack".into(), &"T1547.001".into()));
    assert_eq!(reference["url"], "https://attack.mitre.org/techniques/T1547/001");
    let relation = find("relationship");
    assert_eq!((&relation["source_ref"], &relation["target_ref"]), (&find("malware-analysis")["id"], &technique["id"]));
    assert_eq!(technique["object_marking_refs"][0], "marking-definition--939a9414-2ddd-4d32-a0cd-375ea402b003");
    let event = json(&run(&["export", "-", "--format", "misp"], JOINED));
    let tags = event["Event"]["Tag"].as_array().unwrap().iter().map(|tag| tag["name"].as_str().unwrap());
    assert_eq!(tags.collect::<Vec<_>>(), ["tlp:amber+strict", "mitre-attack:technique=\"T1547.001\""]);
}

#[test]
fn markdown_code_block_is_defanged_and_keeps_lines() {
    let report = r#"{"signature_matches":[{"name":"see http://a.example","rule_src":"rule L {\r\n\tstrings:\n    $a = \"http://gate.example/\\x41\"\n\n    // ``` \u001b[2J\n}"}]}"#;
    let shown = text(&run(&["export", "-", "--format", "md"], report));
    let wanted = "  - `rule_src`\n    ````\n    rule L {\n    \tstrings:\n        $a = \"hxxp[:]//gate[.]example/\\x41\"\n    \n        // ``` \\x1b[2J\n    }\n    ````\n";
    assert!(shown.contains(wanted), "{shown}");
    assert!(shown.contains("hxxp[:]//a[.]example") && !shown.contains("http:"), "{shown}");
}

#[test]
fn misp_attribute_types_fit_their_categories() {
    for name in FIXTURES {
        let event = serde_json::from_str::<Value>(&export(name, &["--format", "misp"])).unwrap()["Event"].clone();
        assert_eq!((&event["distribution"], &event["published"]), (&"0".into(), &false.into()));
        let mut ids = HashSet::new();
        for attribute in attributes(&event) {
            assert!(ids.insert(attribute["uuid"].as_str().unwrap().to_owned()));
            let fits = match attribute["category"].as_str().unwrap() {
                "Payload delivery" => vec!["sha256"],
                "Artifacts dropped" => vec!["md5", "sha1", "sha256", "filename", "regkey", "mutex"],
                "Network activity" => vec!["domain", "hostname", "ip-dst", "url", "email", "other"],
                "External analysis" => vec!["md5", "sha1", "sha256", "filename", "regkey", "other"],
                "Persistence mechanism" => vec!["text"],
                other => panic!("{other}"),
            };
            assert!(fits.contains(&attribute["type"].as_str().unwrap()), "{attribute}");
            assert!(!attribute["value"].as_str().unwrap().chars().any(char::is_control), "{attribute}");
        }
    }
}

#[test]
fn markdown_has_nothing_of_the_report_outside_of_code() {
    let report = r##"{"files_opened":["`x` [a](http://h.example) <script>","``","a``b`","|a|b|","# h","  ","![i](http://i.example/)","\n# head","&lt;"],
        "`bad` <b>":"<img src=x>","tags":["*_~"]}"##;
    let output = run(&["export", "-", "--format", "md"], report);
    for line in text(&output).lines() {
        let mut outside = String::new();
        let mut rest = line;
        while let Some(at) = rest.find('`') {
            outside += &rest[..at];
            let fence = rest[at..].chars().take_while(|c| *c == '`').count();
            let inside = &rest[at + fence..];
            let ends = (0..inside.len()).filter(|at| inside.is_char_boundary(*at)).find(|at| {
                let run = inside[*at..].chars().take_while(|c| *c == '`').count();
                run == fence && !inside[..*at].ends_with('`')
            });
            rest = &inside[ends.unwrap_or_else(|| panic!("a span stays open: {line}")) + fence..];
        }
        outside += rest;
        assert!(outside.chars().all(|c| c.is_ascii_alphanumeric() || " -#()/".contains(c)), "{outside:?} of {line:?}");
        assert!(!line.contains("http://"), "{line}");
    }
}

#[test]
fn output_is_private_new_and_checked_before_payment() {
    let cli = CliHarness::new();
    let id = json(&cli.run(&["list", &main_file()]))["sandboxes"][0]["id"].as_str().unwrap().to_owned();
    let path = cli.home.path().join("out.csv");
    let place = path.to_str().unwrap();
    let output = cli.run(&["export", &id, "--output", place]);
    assert!(errors(&output).contains("nothing was charged") && errors(&output).contains("wrote"), "{output:?}");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }
    std::fs::write(&path, "precious").unwrap();
    let unheld = id.replace("CAPE Sandbox", "Lantern Mobile");
    let output = cli.run(&["export", &unheld, "--output", place]);
    assert!(!output.status.success() && errors(&output).contains("already exists"), "{output:?}");
    assert_eq!((std::fs::read_to_string(&path).unwrap().as_str(), cli.paid()), ("precious", 1));
    assert!(cli.run(&["export", &id, "--force", "--output", place]).status.success());
    assert!(std::fs::read_to_string(&path).unwrap().starts_with("\"origin\""));
    for (arguments, code) in [
        (&["export", &id][..], 2),
        (&["export", &id, "--format", "raw", "--pane", "files"], 2),
        (&["export", &id, "--format", "exe"], 2),
        (&["export", "no/such.json", "--format", "csv"], 1),
    ] {
        assert_eq!(cli.run(arguments).status.code(), Some(code), "{arguments:?}");
    }
}

#[test]
fn truncated_report_is_exported_and_reported() {
    let report = r#"{"data":{"id":"x","type":"t","attributes":{"tags":["A","B"#;
    for format in behaview::export::FORMATS.iter().map(|format| format.name) {
        let output = run(&["export", "-", "--format", format], report);
        assert_eq!(output.status.code(), Some(9), "{format}: {output:?}");
        assert!(errors(&output).contains("stops in the middle") && !output.stdout.is_empty(), "{format}");
    }
}

#[test]
fn an_artifact_is_fetched_into_a_file_and_paid_once() {
    let cli = CliHarness::new();
    let id = json(&cli.run(&["list", &main_file()]))["sandboxes"][0]["id"].as_str().unwrap().to_owned();
    let run = |arguments: &[&str]| cli.command(arguments).current_dir(cli.home.path()).output().unwrap();
    let output = run(&["download", &id, "html"]);
    assert!(output.status.success(), "{output:?}");
    let path = cli.home.path().join("57874b32c259-CAPE-Sandbox.html");
    assert!(std::fs::read_to_string(&path).unwrap().contains("made-up"));
    let again = run(&["download", &id, "html"]);
    assert!(!again.status.success() && errors(&again).contains("already exists"), "{again:?}");
    let piped = run(&["download", &id, "html", "--output", "-"]);
    assert!(text(&piped).contains("made-up") && errors(&piped).contains("nothing was charged"), "{piped:?}");
    let missing = run(&["download", &id, "pcap"]);
    assert_eq!(missing.status.code(), Some(5), "{missing:?}");
    assert!(!Path::new(&cli.home.path().join("57874b32c259-CAPE-Sandbox.pcap")).exists());
    let fetched = cli.demo.seen().iter().filter(|call| call.endpoint == Some(Endpoint::Artifact)).count();
    assert_eq!(fetched, 1, "the report that is held says that there is no capture");
}

#[test]
fn host_fields_are_defanged_for_any_suffix() {
    let report = r#"{"data":{"id":"x-1","attributes":{"memory_pattern_domains":["evil.xn--p1ai","EVIL.XN--P1AI.","payload.zip","evil.so","evil.doc"],
        "memory_pattern_urls":["//evil.com/x"],"memory_pattern_ips":["[2001:db8::1]:80"],"dns_lookups":[{"hostname":"live.py","resolved_ips":["192.0.2.1"]}],
        "modules_loaded":["kernel32.dll","libc.so.6","libevil.so"],"files_opened":["C:\\setup.exe","/tmp/payload.zip"]}}}"#;
    let written = text(&run(&["export", "-", "--format", "md"], report));
    for live in
        ["evil.xn", "EVIL.XN", "`payload.zip", "evil.so", "evil.doc", "evil.com", "db8::1", "live.py", "192.0.2"]
    {
        assert!(!written.contains(live), "{live} is live:\n{written}");
    }
    for readable in ["kernel32.dll", "libc.so.6", r"C:\setup.exe", "/tmp/payload.zip"] {
        assert!(written.contains(readable), "{readable} is not readable:\n{written}");
    }
}
