//! Additions to exports, and several reports in one: notes, folders, a store only in memory.

use crate::harness::{CliHarness, behaview, errors, json, main_file, run, text};
use crate::store::{counted, ledger, places_of, store, stored};
use behaview::export::FORMATS;
use behaview::report::identifier::Sha256;
use behaview::report::{Body, Identifier, Index, Item, Note, NoteSubject, Report};
use behaview::store::Store;
use behaview::text::Untrusted;
use jiff::Timestamp;
use serde_json::Value;
use std::path::Path;

/// The identifiers of the main file's first page of sandboxes.
fn listed(cli: &CliHarness) -> Vec<String> {
    let ids = text(&cli.run(&["list", "--format", "ids", &main_file()]));
    ids.lines().map(str::to_owned).collect()
}

/// Every file below a folder, by its name.
fn names(folder: &Path) -> Vec<String> {
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
    let mut names: Vec<_> = files.map(|name| name.into_string().unwrap()).collect();
    names.sort();
    names
}

/// Writes notes on the report, on its first registry key, and on an item that it lacks.
fn write_notes(cli: &CliHarness, identifier: &str) -> Item {
    let found = Body::in_memory(cli.run(&["show", "--offline", identifier]).stdout);
    let index = Index::of(&found);
    let report = Report::new(found, index);
    let sections = &report.index.sections;
    let section = sections.iter().position(|found| found.name == Untrusted::from("registry_keys_set")).unwrap();
    let item = report.item(section, &report.row(section, 0)).unwrap();
    let store = Store::open(&store(cli)).unwrap();
    let write = |item: Option<Item>, words: &str| {
        let about = NoteSubject { identifier: Identifier::new(Untrusted::from(identifier)).unwrap(), item };
        let written = Timestamp::from_second(1_795_168_800).unwrap();
        let note =
            Note { about, file: Sha256::parse(&main_file()), text: Untrusted::from(words), written, author: None };
        assert!(store.write_note(&note, None).unwrap());
    };
    write(None, "=whole\u{1b}[2J http://c2.example");
    write(Some(item.clone()), "survives `it`");
    write(Some(Item::new(Untrusted::from("tags"), b"GONE")), "was there");
    item
}

fn export(cli: &CliHarness, arguments: &[&str]) -> String {
    let output = cli.run(&[&["export", "--offline"], arguments].concat());
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn every_format_but_raw_includes_notes() {
    let cli = CliHarness::new();
    let id = &listed(&cli)[0];
    let item = write_notes(&cli, id);
    for format in FORMATS.iter().map(|format| format.name) {
        let written = export(&cli, &[id, "--format", format]);
        let count = written.matches("survives `it`").count();
        // The registry key's row has two leaves in a table; the note is on its indicator, not on a
        // path in its value. A page has row, indicator, and two rules that mark it.
        let wanted = match format {
            "raw" => 0,
            "csv" => 2,
            "html" => 4,
            _ => 1,
        };
        assert_eq!(count, wanted, "{format}: {written}");
        assert_eq!(written.contains("was there"), format != "raw", "{format}");
        assert_eq!(written.contains("whole"), format != "raw", "{format}");
        assert!(!written.contains('\u{1b}'), "{format}");
    }
    let found: Value = serde_json::from_str(&export(&cli, &[id, "--format", "json"])).unwrap();
    let notes = found["data"]["notes"].as_array().unwrap();
    assert_eq!(notes.len(), 3);
    assert_eq!((&notes[1]["attribute"], &notes[1]["row"]), (&"registry_keys_set".into(), &1.into()));
    assert_eq!(notes[1]["item"].as_str().unwrap().as_bytes(), item.text.as_bytes());
    let lines = export(&cli, &[id, "--format", "jsonl"]);
    let lines: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let noted: Vec<_> = lines.iter().filter(|line| line.get("note").is_some()).collect();
    assert_eq!((noted.len(), noted[2]["row"].as_u64()), (3, Some(1)));
    let bundle: Value = serde_json::from_str(&export(&cli, &[id, "--format", "stix"])).unwrap();
    let objects = bundle["objects"].as_array().unwrap();
    let note = objects.iter().find(|object| object["content"] == "survives `it`").unwrap();
    let refs: Vec<_> = note["object_refs"].as_array().unwrap().iter().map(|found| found.as_str().unwrap()).collect();
    assert!(refs.iter().any(|found| found.starts_with("malware-analysis--")), "{refs:?}");
    assert!(refs.iter().any(|found| found.starts_with("windows-registry-key--")), "{refs:?}");
    assert!(export(&cli, &[id, "--format", "csv"]).contains("\"'=whole"));
    assert!(export(&cli, &[id, "--format", "md"]).contains("c2[.]example"));
    // A part takes along what is about it.
    assert!(!export(&cli, &[id, "--format", "txt", "--pane", "files"]).contains("survives"));
    assert!(export(&cli, &[id, "--format", "csv", "--indicators"]).contains("survives `it`"));
    assert_eq!(cli.paid(), 1);
}

#[test]
fn text_indicators_are_defanged_and_pane_scoped() {
    let cli = CliHarness::new();
    let id = &listed(&cli)[0];
    let all = export(&cli, &[id, "--format", "txt", "--indicators"]);
    assert!(all.lines().any(|line| line == "gate[.]lumen[.]example") && all.lines().all(|line| !line.is_empty()));
    // For other programs there is the same as it is.
    let lines = export(&cli, &[id, "--format", "jsonl", "--indicators"]);
    assert!(lines.contains("\"gate.lumen.example\"") && !lines.contains("[.]"));
    let help = text(&cli.run(&["export", "--help"])).replace('\n', " ");
    assert!(help.contains("is defanged") && help.contains("the unchanged values"), "{help}");
    let network = export(&cli, &[id, "--format", "stix", "--pane", "network"]);
    // All that this pane has is from memory.
    assert!(!network.contains("domain-name--") && !network.contains("windows-registry-key--"));
    let memory = export(&cli, &[id, "--format", "stix", "--kind", "memory"]);
    assert!(memory.contains("domain-name--") && memory.contains("url--"), "{memory}");
}

#[test]
fn several_reports_go_to_one_output_or_a_file_each() {
    let cli = CliHarness::new();
    let ids = listed(&cli);
    let both = &[ids[0].as_str(), ids[1].as_str()][..];
    let reports = |found: &Value| found["data"].as_array().or(found["response"].as_array()).map(Vec::len);
    let found = export(&cli, &[both, &["--format", "json"]].concat());
    assert_eq!(reports(&serde_json::from_str(&found).unwrap()), Some(2));
    // What both saw is written once, with where.
    let found = export(&cli, &[both, &["--format", "csv", "--to-block"]].concat());
    let sample = format!(r#""{}","yes","CAPE Sandbox; Zenbox","0","CAPE Sandbox: the file itself; Z"#, main_file());
    assert_eq!((found.matches(&sample).count(), found.matches("\"hash\",\"57874b").count()), (1, 1), "{found}");
    for format in ["jsonl", "csv", "md", "stix"] {
        let found = export(&cli, &[both, &["--format", format]].concat());
        let found = found.to_lowercase();
        let named = found.contains(&main_file()) && found.contains("zenbox") && found.contains("cape");
        assert!(named, "{format}");
        assert_eq!(found.matches("\"origin\",\"report\"").count(), usize::from(format == "csv"));
    }
    let document = text(&cli.run(&[&["show"], both].concat()));
    for (format, count) in [("json", Some(2)), ("misp", None), ("stix", None)] {
        let found = json(&run(&["export", "-", "--format", format], &document));
        assert_eq!(reports(&found), count, "{format}");
        let analyses = found.to_string().matches(r#""type":"malware-analysis""#).count();
        assert_eq!(analyses, if format == "stix" { 2 } else { 0 }, "{format}");
    }
    cli.fails(&[&["export", "--format", "raw"], both].concat(), 2, &["--output FOLDER/"]);
    let folder = cli.home.path().join("reports/");
    let into = |more: &[&str]| {
        cli.run(&[&["export", "--format", "raw", "--output", folder.to_str().unwrap()], both, more].concat())
    };
    assert!(into(&[]).status.success());
    let found = names(&folder);
    assert_eq!(found, ["57874b32c259-CAPE-Sandbox.json", "57874b32c259-Zenbox.json"]);
    assert!(into(&[]).status.code() != Some(0), "nothing is written over");
    assert!(into(&["--force"]).status.success());
    assert_eq!(cli.paid(), 1);
}

#[cfg(unix)]
#[test]
fn export_does_not_write_through_a_folder_link() {
    let cli = CliHarness::new();
    let ids = listed(&cli);
    let (folder, link) = (cli.home.path().join("real"), cli.home.path().join("link"));
    std::fs::create_dir(&folder).unwrap();
    std::os::unix::fs::symlink(&folder, &link).unwrap();
    for end in ["", "/", "/."] {
        let output = format!("{}{end}", link.display());
        cli.fails(&["export", "--format", "csv", "--force", "--output", &output, &ids[0]], 2, &["is a link"]);
        assert_eq!(names(&folder), [""; 0]);
    }
}

#[test]
fn export_reads_stdin_and_names_missing_reports() {
    let cli = CliHarness::new();
    let ids = listed(&cli);
    let missing = ids[0].replace("CAPE Sandbox", "Nobody");
    let output = cli.fails(&["export", "--format", "jsonl", &ids[0], &missing], 12, &[]);
    assert!(errors(&output).contains("1 of 2 are there") && text(&output).contains("gate.lumen.example"));
    let dry = json(&cli.run(&["export", "--format", "csv", "--dry-run", "--json", &ids[0], &missing]));
    assert_eq!(dry["calls"].as_array().unwrap().iter().filter(|call| call["stored"] == true).count(), 1);
    let path = cli.home.path().join("ids");
    std::fs::write(&path, format!("# ours\n{}\n{}\n", ids[0], ids[1])).unwrap();
    let mut piped = cli.command(&["export", "--offline", "--format", "json", "-"]);
    let piped = json(&piped.stdin(std::fs::File::open(&path).unwrap()).output().unwrap());
    assert_eq!(piped["data"].as_array().unwrap().len(), 2);
}

#[test]
fn export_can_be_imported_again() {
    let cli = CliHarness::new();
    let ids = listed(&cli);
    write_notes(&cli, &ids[0]);
    let path = cli.home.path().join("all.json");
    let output = [&["export", "--offline", "--output", path.to_str().unwrap()][..], &[&ids[0], &ids[1]]].concat();
    assert!(cli.run(&[&output[..], &["--format", "json"]].concat()).status.success());
    let other = CliHarness::new();
    let imported = other.run(&["store", "import", path.to_str().unwrap()]);
    assert!(text(&imported).contains("imported 2,"), "{imported:?}");
    let again = other.run(&["export", "--offline", "--format", "csv", &ids[0]]);
    let first = export(&cli, &["--format", "csv", &ids[0]]);
    // Origin and time differ, and so do notes, which become part of the report's content.
    let values = |text: &str| {
        let rows = text.lines().skip(1).filter(|line| line.contains("registry_keys_set"));
        rows.filter_map(|line| Some(line.split_once("\"registry\",")?.1.replace("survives `it`", "")))
            .collect::<Vec<_>>()
    };
    assert!(again.status.success() && !values(&first).is_empty());
    assert_eq!(values(&text(&again)), values(&first));
    assert!(text(&again).contains("was there"), "the notes came along");
    assert_eq!(other.paid(), 0);
}

#[test]
fn memory_store_writes_no_artifact_or_export() {
    let cli = CliHarness::new();
    cli.configure("[store]\npersist = false\n");
    let listed = json(&cli.run(&["list", "--all", &main_file()]));
    let id = listed["sandboxes"][0]["id"].as_str().unwrap();
    let fetched = cli.command(&["download", id, "html", "--output", "-"]).output().unwrap();
    assert!(text(&fetched).contains("made-up"), "{fetched:?}");
    let exported = cli.run(&["export", id, "--format", "csv"]);
    assert!(exported.status.success() && text(&exported).contains("registry_keys_set"), "{exported:?}");
    assert_eq!((cli.paid(), counted(&cli)), (4, 4), "nothing that was paid for is held");
    let entries = ledger(&cli);
    let first = entries[0]["request"].as_str().unwrap();
    assert!(entries.len() == 4 && first.starts_with("private-behaviours #"), "{entries:?}");
    assert_eq!(cli.run(&["export", "--offline", id, "--format", "csv"]).status.code(), Some(13));
    let words = ["made-up", "CAPE", "Sandbox", &main_file()[..8], "gate.lumen", "viewer.exe", "RUNTIME_MODULES"];
    assert!(stored(&cli).is_empty() && places_of(&words, cli.home.path()).is_empty());
    let one = format!("{}/assets/demo/dropper/1-cape.json", env!("CARGO_MANIFEST_DIR"));
    assert!(run(&["export", &one, "--format", "txt"], "").status.success());
    assert_eq!(cli.run(&["store", "import", &one]).status.code(), Some(2));
}

#[test]
fn unwritable_output_is_refused_before_payment() {
    let cli = CliHarness::new();
    let id = listed(&cli).swap_remove(0);
    let paid = cli.paid();
    std::fs::write(cli.home.path().join("file"), "").unwrap();
    let path = |name: &str| cli.home.path().join(name).to_str().unwrap().to_owned();
    let long = path(&format!("{}.csv", "x".repeat(300)));
    let refused = |arguments: &[&str], words: &str| {
        let ended = cli.run(&[arguments, &["--refresh"]].concat());
        assert!(ended.status.code() != Some(0) && errors(&ended).contains(words), "{arguments:?}: {ended:?}");
        assert_eq!(cli.paid(), paid, "{arguments:?}: {ended:?}");
    };
    for (to, words) in [
        (path("no/such/x.csv"), "there is no folder"),
        (path("file/x.csv"), "written"),
        (long, "written"),
        (String::new(), "no file is named"),
        (path("no/."), "there is no folder"),
        (path("no/.."), "there is no folder"),
    ] {
        refused(&["export", &id, "--format", "csv", "--output", &to], words);
        refused(&["download", &id, "html", "--output", &to], words);
    }
    refused(&["download", &id, "html", "--output", &path("folder/")], "there is no folder");
    // A folder that takes no file from anybody, be it the system's own user.
    if cfg!(target_os = "linux") {
        refused(&["export", &id, "--format", "csv", "--output", "/proc/x.csv"], "/proc");
        refused(&["export", &id, "--format", "csv", "--output", "/proc/"], "/proc");
        refused(&["download", &id, "html", "--output", "/proc/x.html"], "/proc");
    }
    assert_eq!(names(cli.home.path()).iter().filter(|name| name.starts_with(".behaview-")).count(), 0);
    let sound = cli.run(&["download", &id, "html", "--output", &path("x.html")]);
    assert!(sound.status.success() && cli.paid() == paid + 1, "{sound:?}");
}

#[test]
fn artifact_denied_by_report_is_paid_on_demand() {
    let cli = CliHarness::new();
    let id = listed(&cli).swap_remove(0);
    let folder = tempfile::tempdir().unwrap();
    let report = folder.path().join("report.json");
    let bytes = format!(r#"{{"data":{{"id":"{id}","attributes":{{"has_pcap":false,"tags":["A"]}}}}}}"#);
    std::fs::write(&report, bytes).unwrap();
    assert!(cli.run(&["store", "import", "--replace", report.to_str().unwrap()]).status.success());
    let paid = cli.paid();
    cli.fails(&["download", &id, "pcap"], 5, &["denies a network capture (has_pcap: false)"]);
    let dry = text(&cli.run(&["download", &id, "pcap", "--dry-run"]));
    assert!(dry.contains("denies a network capture") && dry.contains("--even-if-missing"), "{dry}");
    assert_eq!(cli.paid(), paid);
    let output = folder.path().join("x.pcap");
    let asked = cli.run(&["download", &id, "pcap", "--even-if-missing", "--output", output.to_str().unwrap()]);
    assert_eq!(cli.paid(), paid + 1, "{asked:?}");
}

#[test]
fn a_home_folder_that_no_shell_has_put_in_is_found() {
    let cli = CliHarness::new();
    let id = listed(&cli).swap_remove(0);
    let home = |name: &str| cli.home.path().join(name);
    let ended = cli.run(&["export", &id, "--format", "csv", "--output", "~/q.csv"]);
    assert!(ended.status.success() && home("q.csv").exists(), "{ended:?}");
    std::fs::write(home("s.bin"), b"MZ").unwrap();
    let dry = cli.run(&["submit", "~/s.bin", "--dry-run"]);
    assert!(dry.status.success(), "{dry:?}");
    std::fs::write(home("hashes.txt"), main_file()).unwrap();
    assert!(cli.run(&["cost", "v2-file-report", "--hashes-from", "~/hashes.txt"]).status.success());
    std::fs::write(home("r.json"), r#"{"tags":["NEEDLE"]}"#).unwrap();
    assert!(cli.run(&["search", "needle", "~/r.json"]).status.success());
    // What a shell found by that name is what it found.
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("~")).unwrap();
    std::fs::write(folder.path().join("~/r.json"), r#"{"tags":["THREAD"]}"#).unwrap();
    let found = cli.command(&["search", "thread", "~/r.json"]).current_dir(folder.path()).output().unwrap();
    assert!(found.status.success(), "{found:?}");
}

#[cfg(unix)]
#[test]
fn terminated_export_leaves_no_file() {
    use std::os::unix::process::ExitStatusExt;
    let cli = CliHarness::new();
    let (saved, out) = (cli.home.path().join("saved.json"), cli.home.path().join("out"));
    let rows: Vec<_> = (0..200_000).map(|n| format!(r#""C:\\private\\{n:08}.dll""#)).collect();
    std::fs::write(&saved, format!(r#"{{"data":{{"attributes":{{"files_opened":[{}]}}}}}}"#, rows.join(","))).unwrap();
    std::fs::create_dir(&out).unwrap();
    for (name, number) in [("TERM", 15), ("INT", 2)] {
        let path = out.join("x.md");
        let mut export = cli.command(&["export", saved.to_str().unwrap(), "--output", path.to_str().unwrap()]);
        let mut export = export.stderr(std::process::Stdio::null()).spawn().unwrap();
        let is_begun =
            || std::fs::read_dir(&out).unwrap().any(|file| file.unwrap().metadata().is_ok_and(|m| m.len() > 0));
        while !is_begun() {
            assert!(export.try_wait().unwrap().is_none(), "it ended before it was told to");
            std::thread::yield_now();
        }
        let told = std::process::Command::new("kill").args(["-s", name, &export.id().to_string()]).status().unwrap();
        assert!(told.success());
        assert_eq!(export.wait().unwrap().signal(), Some(number));
        assert_eq!(std::fs::read_dir(&out).unwrap().count(), 0, "{name}");
    }
}

#[test]
fn members_named_twice_are_both_exported() {
    let twice = r#"{"data":{"id":"i","type":"t","attributes":{"tags":["A"],"tags":["B"],"behash":"c","behash":"d"},"attributes":{"tags":["E"]}},
        "data":{"id":"other","attributes":{"tags":["F"]}}} {"data":{"attributes":{"tags":["G"]}}}"#;
    let written = text(&run(&["export", "-", "--format", "json"], twice));
    let found: Value = serde_json::from_str(&written).unwrap();
    let attributes = &found["data"][0]["attributes"];
    assert_eq!((&attributes["tags"], &attributes["tags (2)"]), (&serde_json::json!(["A"]), &serde_json::json!(["B"])));
    assert_eq!((&attributes["behash"], &attributes["behash (2)"]), (&"c".into(), &"d".into()));
    let beside = &found["data"][0];
    assert_eq!(beside["attributes (2)"]["tags"], serde_json::json!(["E"]));
    assert_eq!(beside["data"]["id"], "other");
    // A document behind it is another report.
    assert_eq!(found["data"][1]["attributes"]["tags"], serde_json::json!(["G"]));
    assert!(written.matches("\"tags\":").count() == 4, "{written}");
    let shown = text(&run(&["export", "-", "--format", "csv", "--pane", "tags"], twice));
    assert!(shown.contains("\"A\"") && shown.contains("\"B\"") && !shown.contains("\"E\""), "{shown}");
}

#[test]
fn stix_types_pipes_folders_and_registry_values() {
    let report = r#"{"files_opened":["\\Device\\KsecDD","\\??\\PIPE\\wkssvc","C:\\A\\b\ud800","C:\\a"],
        "registry_keys_set":[{"key":"HKCU\\Run\\Lu\ud800","value":"1"}],"registry_keys_opened":["HKCU\\Run","Run"],"sandbox_name":"Box",
        "http_conversations":[{"url":"http://a:70000/"},{"url":"http://203.0.113/"},{"url":"http://-a.b/"}]}"#;
    let output = run(&["export", "-", "--format", "stix"], report);
    let bundle: Value = serde_json::from_str(&text(&output)).unwrap();
    let all = |kind: &str, name: &str| -> Vec<String> {
        let found = bundle["objects"].as_array().unwrap().iter().filter(|object| object["type"] == kind);
        found.map(|object| object[name].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!((all("file", "name"), all("directory", "path").len()), (vec![r"b\u{d800}".to_owned()], 2), "{bundle}");
    assert_eq!(all("url", "value"), ["http://203.0.0.113/"]);
    let keys = all("windows-registry-key", "key");
    assert!(keys.iter().all(|key| key == r"HKEY_CURRENT_USER\Run"), "{keys:?}");
    let values = bundle["objects"].as_array().unwrap().iter().find_map(|object| object.get("values")).unwrap();
    assert_eq!((&values[0]["name"], &values[0]["data"]), (&r"Lu\u{d800}".into(), &"1".into()));
    assert!(errors(&output).contains("Left out: 5 rows that this format does not carry"), "{output:?}");
}

#[test]
fn stix_names_key_access_and_only_chosen_panes() {
    let report = r#"{"sandbox_name":"Box","registry_keys_set":[{"key":"HKCU\\A\\Run","value":"1"}],"registry_keys_deleted":["HKCU\\B"],
        "registry_keys_opened":["HKCU\\B","HKCU\\C"],"mitre_attack_techniques":[{"id":"T1055"}],"tags":["T"]}"#;
    let written = |more: &[&str]| -> Vec<Value> {
        let output = run(&[&["export", "-", "--format", "stix"], more].concat(), report);
        let bundle: Value = serde_json::from_str(&text(&output)).unwrap();
        bundle["objects"].as_array().unwrap().clone()
    };
    let whole = written(&[]);
    let printed = |key: &str| {
        let key = whole.iter().find(|object| object["key"] == key).unwrap();
        let relation = whole.iter().find(|object| object["target_ref"] == key["id"]).unwrap();
        relation["description"].as_str().unwrap().to_owned()
    };
    assert_eq!(printed(r"HKEY_CURRENT_USER\A"), "Seen in registry_keys_set 1.");
    assert_eq!(printed(r"HKEY_CURRENT_USER\B"), "Seen in registry_keys_deleted 1, registry_keys_opened 1.");
    assert_eq!(printed(r"HKEY_CURRENT_USER\C"), "Seen in registry_keys_opened 2.");
    let has_technique = |more: &[&str]| written(more).iter().any(|object| object["type"] == "attack-pattern");
    assert!(has_technique(&[]) && has_technique(&["--pane", "techniques"]));
    assert!(!has_technique(&["--pane", "registry"]));
    for format in ["stix", "misp"] {
        let output = text(&run(&["export", "-", "--format", format, "--pane", "registry"], report));
        assert!(!output.contains("T1055"), "{format}: {output}");
    }
}

#[test]
fn rows_left_out_of_stix_and_misp_are_counted() {
    let report = r#"{"verdicts":["CLEAN"],"mitre_attack_techniques":[{"id":"T1055"},{"id":"none"}],"tags":["A","B"],
        "command_executions":["whoami","get http://c2.example.com/x","type \\\\.\\pipe\\x"],"modules_loaded":["a.dll"],
        "files_opened":["\\\\.\\pipe\\x","C:\\a"],"calls_highlighted":["Sleep"],"mutexes_opened":["m"]}"#;
    let told =
        |format: &str, more: &[&str]| errors(&run(&[&["export", "-", "--format", format], more].concat(), report));
    // The second technique, tags, first command, module, call; in STIX two rows that name a pipe.
    let words = |rows: u64| format!("behaview: Left out: {rows} rows that this format does not carry\n");
    assert_eq!([told("misp", &[]), told("stix", &[])], [words(6), words(8)]);
    assert_eq!(told("misp", &["--pane", "tags"]), words(2));
    assert!(told("misp", &["--indicators"]).is_empty() && told("json", &[]).is_empty());
}

#[test]
fn misp_event_of_unknown_origin_is_restricted_too() {
    for (kind, info) in
        [("private_file_behaviour", "Private behaviour report"), ("file_behaviour", "of unknown origin")]
    {
        let report = format!(r#"{{"data":{{"type":"{kind}","id":"x","attributes":{{"tags":["A"]}}}}}}"#);
        let event: Value = serde_json::from_str(&text(&run(&["export", "-", "--format", "misp"], &report))).unwrap();
        assert!(event["Event"]["info"].as_str().unwrap().contains(info), "{event}");
        assert_eq!(event["Event"]["Tag"][0]["name"], "tlp:amber+strict");
        assert_eq!(event["Event"]["distribution"], "0");
    }
}

#[test]
fn markdown_begins_with_verdict_and_readable_times() {
    let report = r#"{"processes_tree":[{"name":"a","process_id":"1","time_offset":14}],
        "verdicts":["MALWARE"],"verdict_confidence":92,"analysis_date":1794474845}"#;
    let shown = text(&run(&["export", "-", "--format", "md"], report));
    assert_eq!(shown.lines().nth(2), Some("- verdict `MALWARE 92`"), "{shown}");
    for wanted in ["- ran 2026-11-12 09:14:05 UTC\n", "`time_offset` `14`\n", "analysed `2026-11-12 09:14:05 UTC`"] {
        assert!(shown.contains(wanted), "{wanted}: {shown}");
    }
}

#[test]
fn decoded_text_is_exported_with_the_command() {
    let line = "powershell -enc SQBFAFgAKABOAGUAdwAtAE8AYgBqAGUAYwB0ACkA";
    for (command, decoded) in [
        ("export - --format json", r#""decoded":["IEX(New-Object)"]}]"#),
        ("export - --format jsonl", r#""decoded":["IEX(New-Object)"]}"#),
        ("export - --format csv", "\",\"IEX(New-Object)\",\"\"\r\n"),
        ("export - --format md", "\n  - decoded `IEX(New-Object)`\n"),
        ("export - --format txt", "\n  → decoded IEX(New-Object)\n"),
    ] {
        let arguments: Vec<_> = command.split(' ').collect();
        let shown = text(&run(&arguments, &format!(r#"{{"command_executions":["{line}"]}}"#)));
        assert!(shown.contains(line) && shown.contains(decoded), "{command}: {shown}");
    }
}

#[test]
fn rows_are_exported_in_pane_order() {
    let report = r#"{"mitre_attack_techniques":[{"id":"T1071","severity":"IMPACT_SEVERITY_LOW"},
        {"id":"T1105","severity":"IMPACT_SEVERITY_HIGH"},{"id":"T1053","severity":"IMPACT_SEVERITY_MEDIUM"}]}"#;
    for format in ["md", "txt", "csv", "jsonl"] {
        let shown = text(&run(&["export", "-", "--format", format, "--pane", "techniques"], report));
        let at = |id: &str| shown.find(id).unwrap();
        assert!(at("T1053") < at("T1105") && at("T1105") < at("T1071"), "{format}: {shown}");
    }
}

#[test]
fn a_hash_exports_every_stored_report_once() {
    let cli = CliHarness::new();
    let (ids, file) = (listed(&cli), main_file());
    let named = [&["--format", "jsonl", &file], &ids.iter().map(String::as_str).collect::<Vec<_>>()[..]].concat();
    let reports = |lines: &str| {
        let lines = lines
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).unwrap()["report"].as_str().unwrap().to_owned());
        lines.collect::<std::collections::BTreeSet<_>>()
    };
    let by_hash = export(&cli, &["--format", "jsonl", &file]);
    assert_eq!(reports(&by_hash), ids.iter().cloned().collect());
    assert_eq!(export(&cli, &named).lines().count(), by_hash.lines().count());
    let other = cli.run(&["export", "--offline", "--format", "csv", &"0".repeat(64)]);
    assert!(
        !other.status.success() && other.stdout.is_empty() && errors(&other).contains("no report is stored of 000"),
        "{other:?}"
    );
}

#[test]
fn members_beside_attributes_are_exported_in_place() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("saved.json");
    let beside =
        r#""links":{"self":"u"},"relationships":{"x":{"data":[]}},"context_attributes":{"sha256":"ab"},"loose":1"#;
    let report =
        format!(r#"{{"data":{{"id":"a","type":"file_behaviour",{beside},"attributes":{{"tags":["A"],"alone":2}}}}}}"#);
    std::fs::write(&path, &report).unwrap();
    let exported = behaview(home.path()).args(["export", "--format", "json"]).arg(&path).output().unwrap();
    let read = |bytes: &[u8]| serde_json::from_slice::<serde_json::Value>(bytes).unwrap();
    assert_eq!(read(&exported.stdout), read(report.as_bytes()));
}
