//! Commands for scripts on a terminal: what they print of a hostile report is never obeyed.

use super::wire::shown;
use portable_pty::{CommandBuilder, PtySize, native_pty_system};
use std::io::Read;
use std::path::Path;

/// What a terminal would obey or hide, as JSON escapes it, as it is, and as bytes that are no text.
fn report() -> Vec<u8> {
    const RAW: &str =
        "\u{7f}\u{85}\u{9b}2J\u{9d}0;x\u{9c}\u{ad}\u{200b}\u{202e}\u{2028}\u{feff}\u{fe0f}\u{e0041}\u{e000}";
    const ESCAPED: &str = r"\u0000\u0007\b\r\n\u001b[2J\u001b]0;x\u0007\u009b2J\u202e\ud800 \udb40\udc41";
    let id = format!("{}_Bo{RAW}x-1795168800", "ab".repeat(32));
    let text = format!("{RAW}{ESCAPED}=1+1");
    let attributes = format!(
        r#""files_opened":["C:\\{text}"],"tags":["{text}"],"dns_lookups":[{{"hostname":"a{text}.example"}}],
        "processes_tree":[{{"process_id":"1","name":"{text}","children":[{{"name":"{RAW}"}}]}}],"{text}":["x"],
        "mutexes_created":["NOISE"],"files_dropped":[{{"path":"C:\\{text}","sha256":"{}"}}]"#,
        "cd".repeat(32)
    );
    let whole = format!(r#"{{"data":{{"id":"{id}","type":"file_behaviour","attributes":{{{attributes}}}}}}}"#);
    let (before, after) = whole.split_once("NOISE").unwrap();
    [before.as_bytes(), b"\xff\xc2\xed\xa0\x80\xf5", after.as_bytes()].concat()
}

/// What the program prints on a terminal.
fn printed(home: &Path, arguments: &[&str]) -> Vec<u8> {
    let size = PtySize { rows: 40, cols: 120, pixel_width: 0, pixel_height: 0 };
    let pair = native_pty_system().openpty(size).unwrap();
    let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_behaview"));
    command.env_clear();
    command.env("HOME", home);
    command.env("TERM", "xterm-256color");
    command.cwd(home);
    command.args(arguments);
    let mut child = pair.slave.spawn_command(command).unwrap();
    drop(pair.slave);
    let (mut bytes, mut output) = (Vec::new(), pair.master.try_clone_reader().unwrap());
    let mut buffer = [0; 4096];
    // A terminal that nobody writes to any more is an error, not an end.
    while let Ok(read @ 1..) = output.read(&mut buffer) {
        bytes.extend_from_slice(&buffer[..read]);
    }
    // An identifier that would be read as something else is left out of the list of them.
    let wanted = if arguments.contains(&"ids") { 12 } else { 0 };
    let code = child.wait().unwrap().exit_code();
    assert_eq!(code, wanted, "{arguments:?}: {}", String::from_utf8_lossy(&bytes));
    bytes
}

#[test]
fn whatever_is_printed_on_a_terminal_is_visible() {
    let home = tempfile::tempdir().unwrap();
    let report = report();
    let page = [br#"{"data":["#, &report[8..report.len() - 1], br#"],"meta":{"cursor":"\u001b\u202e"}}"#].concat();
    std::fs::write(home.path().join("report.json"), &report).unwrap();
    std::fs::write(home.path().join("page.json"), page).unwrap();
    let file = "ab".repeat(32);
    let mut commands: Vec<Vec<&str>> = vec![
        vec!["show", "report.json"],
        vec!["show", "--format", "vt", "report.json"],
        vec!["list", "page.json"],
        vec!["list", "--format", "text", "page.json"],
        vec!["list", "--format", "ids", "page.json"],
        vec!["search", "C:", "report.json"],
        vec!["search", "--json", "C:", "report.json"],
        vec!["store", "import", "report.json"],
        vec!["store"],
        vec!["store", "list", "--json"],
        vec!["compare", &file],
        vec!["compare", "--json", &file],
    ];
    for format in behaview::export::FORMATS {
        commands.push(vec!["export", "report.json", "--format", format.name]);
        if format.can_write(&behaview::export::Part::Indicators) {
            commands.push(vec!["export", "report.json", "--format", format.name, "--indicators"]);
        }
    }
    for arguments in &commands {
        let bytes = printed(home.path(), arguments);
        let lines: Vec<_> = bytes.split(|byte| *byte == b'\n').collect();
        assert!(lines.len() > 1, "{arguments:?} says nothing");
        for line in lines {
            // The terminal's own end of a line, behind that of CSV.
            let line = [&b"\r\r"[..], b"\r"].iter().find_map(|end| line.strip_suffix(*end)).unwrap_or(line);
            shown(line).unwrap_or_else(|foreign| panic!("{arguments:?}: {foreign}"));
        }
    }
    println!("printed on a terminal: {} commands", commands.len());
}
