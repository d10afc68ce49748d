//! The HTML report: by its grammar, and in a real browser.

use crate::export_formats::{FIXTURES, export, fixture};
use crate::harness::{CliHarness, FakeService, errors, main_file, run, text};
use crate::markup::{elements, without_own};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

fn html(name: &str, more: &[&str]) -> String {
    export(name, &[&["--format", "html"], more].concat())
}

/// The files of a demo sample.
fn dropper() -> Vec<String> {
    ["1-cape", "2-zenbox", "3-lynxbox", "4-quiet-harbour", "5-observatory"]
        .map(|name| fixture(&format!("dropper/{name}")))
        .into()
}

#[test]
fn html_page_of_a_small_report_is_golden() {
    insta::assert_snapshot!("html_page", without_own(&html("parcel/2-droidyard", &[])));
}

#[test]
fn hostile_text_is_inert_in_html() {
    let mark = r#""'><img src=http://track.example/p onerror=alert(1)></style></script><script>alert(2)</script>&lt;"#;
    let mut attributes = json!({
        "sandbox_name": mark, "verdicts": [mark], "verdict_labels": [mark], "command_executions": [format!("powershell -enc {mark}")],
        "registry_keys_set": [{"key": mark, "value": mark}], "dns_lookups": [{"hostname": mark}],
        "mitre_attack_techniques": [{"id": mark, "severity": "HIGH", "signature_description": mark}],
        "processes_tree": [{"name": mark, "process_id": mark, "time_offset": 1, "children": [{"name": mark, "time_offset": 9}]}],
    });
    attributes[mark] = json!([mark]);
    let everywhere =
        json!({"data": {"id": mark, "type": "private_file_behaviour", "attributes": attributes}}).to_string();
    let pages = FIXTURES.iter().map(|name| html(name, &[]));
    for page in pages.chain([text(&run(&["export", "-", "--format", "html"], &everywhere))]) {
        let found = elements(&page).unwrap_or_else(|foreign| panic!("{foreign}"));
        assert_eq!((found["script"], found["style"], found.get("img")), (1, 1, None));
        assert!(!page.contains("://"), "a live address");
    }
}

#[test]
fn html_page_is_bounded_and_names_the_rest() {
    let rows: Vec<_> = (0..1_200).map(|row| format!(r#""C:\\file{row}.txt""#)).collect();
    let report = format!(r#"{{"data":{{"id":"x","attributes":{{"files_written":[{}]}}}}}}"#, rows.join(","));
    let output = run(&["export", "-", "--format", "html"], &report);
    let (page, warning) = (text(&output), errors(&output));
    assert!(warning.contains("Left out: 700 rows that this format does not carry"), "{warning}");
    assert!(page.contains("700 indicators more: <code>behaview export"), "{page}");
    assert!(page.contains("file499.txt") && !page.contains("file999.txt"));
}

#[test]
fn html_part_has_its_sections_only() {
    for (part, wanted) in [(&["--findings"][..], &["findings", "indicators"][..]), (&["--to-block"], &["indicators"])] {
        let page = html("dropper/1-cape", part);
        let sections: Vec<_> =
            page.split("<section id=\"").skip(1).map(|rest| rest.split('"').next().unwrap()).collect();
        assert_eq!(sections, wanted, "{part:?}");
    }
    let pane = run(&["export", &fixture("dropper/1-cape"), "--format", "html", "--pane", "files"], "");
    assert!(errors(&pane).contains("html writes whole reports, findings and indicators only"), "{pane:?}");
}

#[test]
fn html_page_of_a_file_has_prices_and_comparison() {
    let cli = CliHarness::new();
    cli.run(&["list", &main_file()]);
    let output = cli.run(&["export", &main_file(), "--format", "html", "--offline"]);
    let page = text(&output);
    elements(&page).unwrap();
    assert!(page.contains("<h2>Paid <small>1 request</small></h2>"), "{page}");
    assert!(page.contains("<h2>Who saw what"), "{page}");
    assert!(page.contains("of 4 sandbox reports, of at least 6 that the service has"), "{page}");
    let layers = text(&cli.run(&["export", &main_file(), "--format", "navigator", "--offline"]));
    assert!(layers.contains("of 4; the service has at least 6 reports."), "{layers}");
    let document = text(&run(&["export", &fixture("dropper/1-cape"), "--format", "html"], ""));
    assert!(!document.contains("<h2>Paid") && !document.contains("<h2>Who saw what"));
}

#[test]
fn page_of_several_files_names_the_file_of_each_report() {
    let cli = CliHarness::new();
    let other = "67b85d5c4bac6f1588ac2a263e4cdf36e8a5852422ff59e69e46a7eb77fb9a00";
    let absent = "ab".repeat(32);
    cli.run(&["triage", "--fetch", &main_file(), other]);
    let output = cli.run(&["export", other, &main_file(), &absent, "--format", "html", "--offline"]);
    assert_eq!(output.status.code(), Some(12), "{output:?}");
    assert!(errors(&output).contains(&format!("no report is stored of {absent}")), "{output:?}");
    let page = text(&output);
    elements(&page).unwrap();
    assert!(page.contains("<h1>2 files</h1>") && !page.contains("First process in other"), "{page}");
    let of = |file: &str| format!("<td>{}…{} ", &file[..8], &file[60..]);
    assert!(page.contains(&of(other)) && page.contains(&of(&main_file())), "{page}");
    let markdown = text(&cli.run(&["export", other, &main_file(), "--to-block", "--format", "md", "--offline"]));
    assert!(markdown.contains(&format!("{}…{} ", &other[..8], &other[60..])), "{markdown}");
}

#[test]
fn totals_of_any_size_are_told_and_no_overflow() {
    let files = ["aa", "bb"].map(|pair| pair.repeat(32));
    let answer = |path: &str| {
        let file = if path.contains("aaaa") { "aa" } else { "bb" }.repeat(32);
        let report = json!({"type": "private_file_behaviour", "id": format!("{file}_Box-1794474840"), "attributes": {"tags": ["T"]}});
        ("200 OK", "", json!({"data": [report], "meta": {"count": u64::MAX}}).to_string())
    };
    let (cli, service) = (CliHarness::new(), FakeService::new(answer));
    let set = format!("profiles.lab.{}", service.set);
    let of = |command: &[&str]| cli.run(&[command, &["--set", &set, &files[0], &files[1]]].concat());
    assert!(of(&["triage", "--fetch"]).status.success());
    for format in ["html", "navigator"] {
        let page = of(&["export", "--offline", "--format", format]);
        assert!(page.status.success() && !page.stdout.is_empty(), "{page:?}");
    }
}

/// A browser driven through a pipe by the DevTools protocol: JSON messages, ended by a zero byte.
struct Browser {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    session: Option<Value>,
    calls: u64,
    events: Vec<Value>,
}

impl Browser {
    /// `None` where no browser is installed; its only way out is a proxy at this port.
    fn start(profile: &Path, proxy: u16) -> Option<Self> {
        let version = Command::new("chromium").arg("--version").output();
        if version.is_err() {
            println!("chromium is missing: the HTML report was NOT tested in a browser");
            return None;
        }
        let script = "exec chromium --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --disable-background-networking --disable-component-update \
            --disable-sync --no-first-run --remote-debugging-pipe --user-data-dir=\"$0\" --proxy-server=127.0.0.1:\"$1\" \
            --proxy-bypass-list='<-loopback>' 3<&0 4>&1 >/dev/null 2>&1";
        let mut child = Command::new("sh")
            .args(["-c", script, profile.to_str().unwrap(), &proxy.to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (input, output) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        let mut browser = Self { child, input, output, session: None, calls: 0, events: Vec::new() };
        let target = browser.call("Target.createTarget", json!({"url": "about:blank"}))["targetId"].clone();
        let attached = browser.call("Target.attachToTarget", json!({"targetId": target, "flatten": true}));
        browser.session = Some(attached["sessionId"].clone());
        for domain in ["Page", "Runtime", "Log", "Network", "Audits"] {
            browser.call(&format!("{domain}.enable"), json!({}));
        }
        Some(browser)
    }

    fn receive(&mut self) -> Value {
        let mut message = Vec::new();
        self.output.read_until(0, &mut message).unwrap();
        message.pop();
        serde_json::from_slice(&message).expect("the browser ended")
    }

    fn call(&mut self, method: &str, params: Value) -> Value {
        self.calls += 1;
        let mut message = json!({"id": self.calls, "method": method, "params": params});
        self.session.iter().for_each(|session| message["sessionId"] = session.clone());
        self.input.write_all(format!("{message}\0").as_bytes()).unwrap();
        loop {
            let message = self.receive();
            if message["id"] == self.calls {
                assert!(message.get("error").is_none(), "{method}: {message}");
                return message["result"].clone();
            }
            self.events.push(message);
        }
    }

    /// Loads a page; returns what happened meanwhile, by the names of events.
    fn load(&mut self, path: &Path) -> Vec<(String, Value)> {
        self.events.clear();
        self.call("Page.navigate", json!({"url": format!("file://{}", path.display())}));
        while !self.events.iter().any(|event| event["method"] == "Page.loadEventFired") {
            let event = self.receive();
            self.events.push(event);
        }
        // What is still on its way, such as a report of the policy, arrives before this.
        self.evaluate("new Promise((done) => setTimeout(done, 200))");
        let named = |event: Value| (event["method"].as_str().unwrap_or_default().to_owned(), event["params"].clone());
        std::mem::take(&mut self.events).into_iter().map(named).collect()
    }

    fn evaluate(&mut self, expression: &str) -> Value {
        let how = json!({"expression": expression, "returnByValue": true, "awaitPromise": true, "userGesture": true});
        let result = self.call("Runtime.evaluate", how);
        assert!(result.get("exceptionDetails").is_none(), "{expression}: {result}");
        result["result"]["value"].clone()
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.input.write_all(b"{\"id\":0,\"method\":\"Browser.close\"}\0");
        let _ = self.child.wait();
    }
}

/// Events of a page's request, message, error, policy violation or dialog.
fn incidents(events: &[(String, Value)]) -> Vec<&(String, Value)> {
    let is_own = |params: &Value| params["request"]["url"].as_str().is_some_and(|url| url.ends_with("/page.html"));
    let is_incident = |(name, params): &&(String, Value)| match name.as_str() {
        "Network.requestWillBeSent" => !is_own(params),
        name => [
            "Log.entryAdded",
            "Runtime.consoleAPICalled",
            "Runtime.exceptionThrown",
            "Audits.issueAdded",
            "Page.javascriptDialogOpening",
        ]
        .contains(&name),
    };
    events.iter().filter(is_incident).collect()
}

#[test]
fn html_report_is_inert_in_a_browser() {
    let folder = tempfile::tempdir().unwrap();
    let proxy = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = proxy.local_addr().unwrap().port();
    let (sender, requests) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        for connection in proxy.incoming().flatten() {
            let mut line = String::new();
            let _ = BufReader::new(connection).read_line(&mut line);
            let _ = sender.send(line);
        }
    });
    let Some(mut browser) = Browser::start(&folder.path().join("profile"), port) else {
        return;
    };
    let path = folder.path().join("page.html");
    let dropper = dropper();
    let several: Vec<_> = dropper.iter().map(String::as_str).collect();
    let hostile = fixture("hostile/1-strings");
    for reports in [&several[..], &[&*hostile]] {
        let page = text(&run(&[&["export", "--format", "html"], reports].concat(), ""));
        std::fs::write(&path, &page).unwrap();
        let events = browser.load(&path);
        assert!(incidents(&events).is_empty(), "{:#?}", incidents(&events));
        let count = "Object.entries(Object.groupBy(document.querySelectorAll('*'), (one) => one.localName)).map(([name, all]) => [name, all.length])";
        let counted = browser.evaluate(count);
        let counted = counted
            .as_array()
            .unwrap()
            .iter()
            .map(|pair| (pair[0].as_str().unwrap().to_owned(), pair[1].as_u64().unwrap() as usize));
        assert_eq!(counted.collect::<std::collections::BTreeMap<_, _>>(), elements(&page).unwrap());
    }
    // The script works: it copies what is shown, and filters.
    let copied = "document.querySelector('.copy').click(); document.querySelector('.copy').textContent";
    assert_eq!(browser.evaluate(copied), "Copied");
    let filtered = "filter.value = 'xn--80ak6aa92e'; filter.dispatchEvent(new Event('input')); \
        [...document.querySelectorAll('main tbody tr')].filter((row) => row.checkVisibility()).length";
    assert_eq!(browser.evaluate(filtered), 1);
    // The same report, as a writer without escapes would have it: each way of proof above sees it.
    let live = text(&run(&["export", "--format", "html", &hostile], ""))
        .replace("<main>", "<main><img src=http://track.example/p><script>alert(1)</script>");
    std::fs::write(&path, live).unwrap();
    assert!(incidents(&browser.load(&path)).len() > 1);
    // The browser's own requests never name an example; the last page is opened on purpose.
    browser.call("Page.navigate", json!({"url": "http://opened.example/"}));
    let asked = requests.iter().find(|line| line.contains("example"));
    assert!(asked.as_ref().unwrap().contains("//opened.example/"), "{asked:?}");
}
