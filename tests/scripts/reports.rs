//! Lists and reports: JSON out, exit codes, one payment, nothing without a terminal.

use crate::harness::{CliHarness, behaview, errors, json, main_file, piped, run, text};
use serde_json::Value;
use std::process::Stdio;

#[test]
fn a_list_is_paid_once_and_its_reports_with_it() {
    let cli = CliHarness::new();
    let listed = json(&cli.run(&["list", &main_file()]));
    assert_eq!((listed["sandboxes"].as_array().unwrap().len(), &listed["more"]), (4, &Value::Bool(true)));
    assert_eq!(cli.paid(), 1);
    let id = listed["sandboxes"][0]["id"].as_str().unwrap();
    let shown = json(&cli.run(&["show", id]));
    assert_eq!(shown["data"]["id"], id);
    assert_eq!(shown["data"]["attributes"]["sandbox_name"], listed["sandboxes"][0]["sandbox"]);
    let again = cli.run(&["list", &main_file()]);
    assert_eq!(json(&again)["sandboxes"], listed["sandboxes"]);
    assert!(errors(&again).contains("nothing was charged"), "{again:?}");
    assert_eq!(cli.paid(), 1);
}

#[test]
fn a_list_reports_verdict_score_and_tags() {
    let cli = CliHarness::new();
    let first = json(&cli.run(&["list", &main_file()]))["sandboxes"][0].clone();
    assert_eq!((&first["verdict"], &first["score"]), (&"MALWARE".into(), &92.into()), "{first}");
    let report = json(&cli.run(&["show", first["id"].as_str().unwrap()]));
    assert_eq!(first["tags"], report["data"]["attributes"]["tags"]);
    let columns = text(&cli.run(&["list", "--format", "text", &main_file()]));
    assert!(columns.contains("  MALWARE     92  2026-11-12 09:14  0, stored  Lumen loader "), "{columns}");
    let empty = json(&run(&["list", "-"], r#"{"data":[{"id":"a","attributes":{"sandbox_name":"b"}}]}"#));
    let (row, none) = (&empty["sandboxes"][0], Value::Null);
    assert_eq!([&row["verdict"], &row["score"], &row["tags"]], [&none, &none, &Value::Array(Vec::new())]);
}

#[test]
fn list_is_equal_online_and_offline() {
    let cli = CliHarness::new();
    let all = text(&cli.run(&["list", "--all", &main_file()]));
    let others: [&[&str]; 3] = [&[], &["--offline"], &["--all", "--offline"]];
    for flags in others {
        assert_eq!(text(&cli.run(&[&["list", &main_file()], flags].concat())), all, "{flags:?}");
    }
    for flags in
        [&["--refresh", "--offline"][..], &["--refresh", "--max-cost", "0"], &["--all", "--refresh", "--offline"]]
    {
        let refused = cli.run(&[&["list", &main_file()], flags].concat());
        assert!(!refused.status.success() && refused.stdout.is_empty(), "{flags:?}: {refused:?}");
    }
    assert_eq!((text(&cli.run(&["list", "--offline", &main_file()])), cli.paid()), (all, 2));
}

/// What the app says in lines to nothing but `quit`.
fn opened(cli: &CliHarness, arguments: &[&str]) -> String {
    let output = piped(&mut cli.command(&[arguments, &["--plain", "--offline"]].concat()), "quit\n");
    assert!(output.status.success(), "{output:?}");
    text(&output)
}

#[test]
fn an_identifier_opens_its_stored_report_in_the_app() {
    let cli = CliHarness::new();
    let listed = json(&cli.run(&["list", &main_file()]));
    let third = &listed["sandboxes"][2];
    let (id, sandbox) = (third["id"].as_str().unwrap(), third["sandbox"].as_str().unwrap());
    for arguments in [&[id][..], &["open", id]] {
        let reported = opened(&cli, arguments);
        assert!(reported.contains(&format!(" · {sandbox} · ")), "{arguments:?}: {reported}");
    }
    let unknown = format!("{}_Other-1794474845", main_file());
    cli.fails(&[&unknown], 5, &["is not stored"]);
    cli.fails(&["open", "--plain", &unknown], 5, &["is not stored"]);
    assert_eq!(cli.paid(), 1);
}

#[test]
fn report_is_fetched_once_and_again_on_refresh() {
    let cli = CliHarness::new();
    let id = json(&cli.run(&["list", "--all", &main_file()]))["sandboxes"][5]["id"].as_str().unwrap().to_owned();
    let cli = CliHarness::new();
    for paid in [1, 1] {
        assert_eq!(json(&cli.run(&["show", &id]))["data"]["id"], id.as_str());
        assert_eq!(cli.paid(), paid);
    }
    json(&cli.run(&["show", "--refresh", &id]));
    assert_eq!(cli.paid(), 2);
}

#[test]
fn exit_codes_distinguish_failures() {
    for (fault, code, words) in [
        ("401-wrong", 3, "does not accept the key"),
        ("403", 4, "forbids"),
        ("404", 5, "does not have it"),
        ("429-quota", 6, "quota is spent"),
        ("429-rate", 7, "too many requests"),
        ("503", 8, "unavailable"),
        ("lost", 8, "lost"),
        ("not-json", 9, "invalid response"),
        ("stranger", 9, "another report"),
        ("empty", 9, "it is empty"),
    ] {
        let cli = CliHarness::faulty(fault);
        let output = cli.run(&["list", &main_file()]);
        assert_eq!(output.status.code(), Some(code), "{fault}: {output:?}");
        assert!(errors(&output).contains(words), "{fault}: {output:?}");
        assert!(output.stdout.is_empty() && !errors(&output).contains(&cli.key));
        assert_eq!(cli.demo.seen().len(), 1, "{fault}");
    }
}

#[test]
fn invalid_hash_or_identifier_is_a_usage_error() {
    let cli = CliHarness::new();
    for arguments in [
        &["list", "d41d8cd98f00b204e9800998ecf8427e"][..],
        &["show", ".."],
        &["show", &main_file()],
        &["--profile", "x", "list", &main_file()],
    ] {
        cli.fails(arguments, 2, &[]);
    }
    assert_eq!(cli.demo.seen().len(), 0);
}

#[test]
fn without_a_key_nothing_is_sent() {
    let cli = CliHarness::new();
    let output = cli.command(&["list", &main_file()]).env_remove("VT_APIKEY").output().unwrap();
    assert_eq!(output.status.code(), Some(3), "{output:?}");
    assert!(errors(&output).contains("no key") && errors(&output).contains("BEHAVIEW_API_KEY"));
    assert_eq!(cli.demo.seen().len(), 0);
}

#[test]
fn documents_take_the_place_of_identifiers() {
    let home = tempfile::tempdir().unwrap();
    let id = format!("{}_Box-5", "ab".repeat(32));
    let bare = &format!(r#"{{"id":"{id}","type":"file_behaviour","attributes":{{"tags":["A"]}}}}"#);
    let envelope = format!(r#"{{"data":{bare}}}"#);
    let page = format!(r#"{{"data":[{bare},{{"id":"only"}}]}}"#);
    for (name, text) in [("bare", bare), ("envelope", &envelope), ("page", &page)] {
        let path = home.path().join(name);
        std::fs::write(&path, text).unwrap();
        let path = path.to_str().unwrap();
        let shown = json(&behaview(home.path()).args(["show", path]).output().unwrap());
        assert_eq!(shown["data"]["attributes"]["tags"][0], "A", "{name}");
        let listed = json(&behaview(home.path()).args(["list", path]).output().unwrap());
        assert_eq!(listed["sandboxes"][0]["sandbox"], "Box", "{name}");
    }
    assert_eq!(json(&run(&["show", "-"], &envelope))["data"]["id"], id.as_str());
}

#[test]
fn missing_terminal_names_the_script_commands() {
    let home = tempfile::tempdir().unwrap();
    for arguments in [&[][..], &["demo"], &["open", "file.json"]] {
        let output = behaview(home.path()).args(arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        assert!(errors(&output).contains("behaview list"), "{output:?}");
        assert!(output.stdout.is_empty());
    }
}

#[test]
fn closed_output_pipe_is_no_failure() {
    let cli = CliHarness::new();
    let mut child = cli.command(&["list", &main_file()]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    assert!(child.wait().unwrap().success());
}

#[test]
fn api_sends_a_request_by_its_name() {
    let cli = CliHarness::new();
    let public = behaview::demo::Demo::public_files()[0].sha256.clone();
    let file = json(&cli.run(&["api", "v3-file", &public]));
    assert_eq!(file["data"]["id"], public.as_str());
    let again = cli.run(&["api", "v3-file", &public]);
    assert!(errors(&again).contains("nothing was charged"), "{again:?}");
    let several = cli.run(&["api", "v2-file-report", &public, &"ab".repeat(16)]);
    assert!(errors(&several).contains("charged: 2"), "{several:?}");
    assert_eq!(cli.paid(), 3, "each hash is asked about by itself");
}

#[test]
fn public_request_requires_confirmation() {
    let cli = CliHarness::new();
    let public = behaview::demo::Demo::public_files()[0].sha256.clone();
    let refused = cli.run(&["api", "v3-rescan", &public]);
    assert_eq!((refused.status.code(), cli.demo.seen().len()), (Some(2), 0));
    assert!(errors(&refused).contains("--yes"), "{refused:?}");
    assert!(cli.run(&["api", "v3-rescan", "--yes", &public]).status.success());
    assert_eq!(cli.paid(), 1);
}

#[test]
fn unknown_request_name_lists_the_known_ones() {
    let cli = CliHarness::new();
    cli.fails(&["api", "v3-everything"], 2, &["v2-file-submissions"]);
    let output = cli.run(&["api", "v3-file", "short"]);
    assert!(errors(&output).contains("SHA-256"), "{output:?}");
}

#[test]
fn ambiguous_identifier_is_left_out_of_the_lines() {
    let odd = [
        "[evil",
        "{evil",
        "#commented",
        " lead",
        "tail ",
        "-x",
        "--all",
        "-",
        "/home/me/x.json",
        "x\\ud800",
        "a\\nb",
        "",
    ];
    let clear = ["plain", "with blank", "a[b", "x#y", "\u{e9}"];
    let entry = |id: &&str| {
        format!("{{\"id\":\"{id}\",\"type\":\"private_file_behaviour\",\"attributes\":{{\"tags\":[\"A\"]}}}}")
    };
    let entries: Vec<_> = odd.iter().chain(&clear).map(entry).collect();
    let page = format!("{{\"data\":[{}]}}", entries.join(","));
    let listed = run(&["list", "-", "--format", "ids"], &page);
    assert_eq!(text(&listed).lines().collect::<Vec<_>>(), clear);
    let words = errors(&listed);
    assert!(words.contains("left out") && words.contains("[evil") && words.contains("#commented"), "{words}");
    assert!(words.lines().all(|line| line.starts_with("behaview: ")), "{words}");
}

#[test]
fn document_without_a_report_is_named_as_such() {
    for (document, words) in [
        (r#"{"name":"x","deps":["a"]}"#, "standard input is not a behaviour report: show prints it as it is"),
        (
            r#"{"data":{"type":"file\u001b[2J","id":"x","attributes":{"size":3}}}"#,
            r#"is not a behaviour report, but of type "file\x1b[2J": show"#,
        ),
        (r#"{"data":{"type":"private_file_behaviour","id":"x","attributes":{}}}"#, ""),
        (r#"{"pad":"x","tags":["T"]}"#, ""),
    ] {
        for arguments in [&["show", "-"][..], &["export", "-", "--format", "csv", "--indicators"]] {
            let output = run(arguments, document);
            assert!(output.status.success(), "{output:?}");
            let reported = errors(&output);
            assert!(if words.is_empty() { reported.is_empty() } else { reported.contains(words) }, "{reported}");
        }
    }
    let output = run(&["show", "-"], "[1 2");
    assert!(errors(&output).contains("standard input"), "{output:?}");
}

#[test]
fn wrapped_reports_are_read_and_errors_located() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("saved.json");
    let report = |id: &str| {
        format!(
            r#"{{"type":"file_behaviour","id":"{id}","attributes":{{"sandbox_name":"Zenbox","analysis_date":1669406573,"tags":["T"]}}}}"#
        )
    };
    let (a, b) = (report("a"), report("b"));
    let nameless = r#"[{"attributes":{"sandbox_name":"Zenbox","analysis_date":1669406573,"tags":["T"]}}]"#;
    for (json, ids, code, words) in [
        (format!(r#"[{{"data":{a}}},{{"data":{b}}}]"#), &[Some("a"), Some("b")][..], 0, ""),
        (format!(r#"{{"VirusTotal":{{"SandboxReport":[{a}]}}}}"#), &[Some("a")], 0, ""),
        (nameless.to_owned(), &[None], 0, ""),
        (format!(r#"{{"data":[{a},{b}]"#), &[Some("a"), Some("b")], 12, "it is cut short"),
        (format!(r#"{{"data":[{a},{}"#, &b[..b.len() - 3]), &[Some("a")], 12, "the report b is cut short"),
        (format!("{a}\n{{\"tags\": [...]}}\n{b}"), &[Some("a"), Some("b")], 12, "line 2, column 11: not JSON"),
        ("{\"tags\": [\n  ...\n]}".to_owned(), &[], 9, "line 2, column 3: not JSON"),
        (r#"{"error":{"code":"NotFoundError","message":"no"}}"#.to_owned(), &[], 9, "NotFoundError: no"),
        ("{'tags': ['a']}".to_owned(), &[], 9, "line 1, column 2: not JSON"),
        ("<html>".to_owned(), &[], 9, "not JSON"),
        (r#"{"a":"#.to_owned(), &[], 9, "it is cut short before its first report"),
        (a.replace(r#""tags""#, r#""x":NaN,,"tags""#), &[Some("a")], 0, "it is not valid JSON"),
        ("[]".to_owned(), &[], 9, "the list is empty"),
    ] {
        std::fs::write(&path, &json).unwrap();
        let run = |arguments: &[&str]| behaview(home.path()).args(arguments).arg(&path).output().unwrap();
        let listed = run(&["list"]);
        assert_eq!(listed.status.code(), Some(code), "{json} {listed:?}");
        assert!(errors(&listed).contains(words), "{json} {listed:?}");
        let printed: Value = serde_json::from_slice(&listed.stdout).unwrap_or_default();
        let sandboxes = printed["sandboxes"].as_array().cloned().unwrap_or_default();
        assert_eq!(sandboxes.iter().map(|one| one["id"].as_str()).collect::<Vec<_>>(), ids, "{json}");
        for sandbox in sandboxes.iter().filter(|one| one["id"].is_null()) {
            assert_eq!(
                (&sandbox["sandbox"], &sandbox["ran_at"]),
                (&Value::from("Zenbox"), &Value::from("2022-11-25T20:02:53Z"))
            );
        }
        for command in [&["show"][..], &["export", "--format", "csv"], &["compare"], &["search", "T"]] {
            assert_eq!(run(command).status.code(), Some(code), "{command:?} {json}");
        }
    }
    std::fs::write(&path, r#"{"hello":"world"}"#).unwrap();
    for (format, code) in [("stix", 9), ("misp", 9), ("csv", 0)] {
        let exported = behaview(home.path()).args(["export", "--format", format]).arg(&path).output().unwrap();
        assert_eq!((exported.status.code(), exported.stdout.is_empty()), (Some(code), code > 0), "{exported:?}");
    }
}

#[test]
fn documents_are_unpacked_by_their_first_bytes() {
    use std::io::Write;
    let cli = CliHarness::new();
    let id = format!("{}_Box-1794474845", main_file());
    let report = format!(r#"{{"data":{{"id":"{id}","type":"private_file_behaviour","attributes":{{"tags":["T"]}}}}}}"#);
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(report.as_bytes()).unwrap();
    let utf16 = |unit: fn(u16) -> [u8; 2]| -> Vec<u8> {
        std::iter::once(0xfeff).chain(report.encode_utf16()).flat_map(unit).collect()
    };
    let packed = [
        gzip.finish().unwrap(),
        zstd::stream::encode_all(report.as_bytes(), 1).unwrap(),
        utf16(u16::to_le_bytes),
        utf16(u16::to_be_bytes),
    ];
    let path = cli.home.path().join("saved");
    let saved = format!("./{}", path.file_name().unwrap().to_str().unwrap());
    let run = |arguments: &[&str]| cli.command(arguments).current_dir(cli.home.path()).output().unwrap();
    for bytes in packed {
        std::fs::write(&path, &bytes).unwrap();
        assert_eq!(text(&run(&["list", &saved, "--format", "ids"])).trim(), id, "{:x?}", &bytes[..4]);
        assert!(text(&run(&["export", &saved, "--format", "csv"])).contains("\"T\""));
    }
    for (bytes, words) in [
        (&b"- _id: \"x\"\n  _type: \"file_behaviour\"\n"[..], "vt ... --format json"),
        (b"BZh91AY&SY", "unpack it by bunzip2"),
        (b"\x1f\x8b\x08\x00cut", "packed, and damaged"),
    ] {
        std::fs::write(&path, bytes).unwrap();
        let output = run(&["list", &saved]);
        assert!(!output.status.success() && output.stdout.is_empty(), "{output:?}");
        assert!(errors(&output).contains(words), "{output:?}");
    }
}
