//! The real program in a pseudo-terminal: starts, opens a report, quits, and restores the terminal.
#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test that cannot go on fails"
)]

#[path = "../faults/mod.rs"]
mod faults;
mod harness;
mod life;
mod multiplexer;
mod panics;
mod password;
mod plain;
mod replies;
mod shells;
#[path = "../torture/visible.rs"]
mod visible;

use harness::{Terminal, cells};
use portable_pty::PtySize;

#[test]
fn from_start_through_a_report_to_quit() {
    let mut terminal = Terminal::demo();
    terminal.press("\t");
    terminal.wait_for("1/37");
    terminal.press("4G");
    terminal.wait_for("22/22");
    terminal.press("\r");
    terminal.wait_for("files_opened");
    // The first closes what is over the panes.
    terminal.press("q");
    terminal.wait_for("22/22");
    terminal.quit();
    terminal.assert_given_back();
}

#[test]
fn copied_text_is_sent_as_base64_only() {
    let mut terminal = Terminal::demo();
    terminal.press("2y");
    terminal.wait_for("Copied a value by OSC 52");
    terminal.quit();
    let seen = terminal.screen.lock().unwrap();
    let text = String::from_utf8_lossy(&seen.1);
    let (_, copied) = text.split_once("\u{1b}]52;c;").expect("OSC 52 has come");
    let (copied, _) = copied.split_once("\u{1b}\\").unwrap();
    // CALLS_WMI
    assert_eq!(copied, "Q0FMTFNfV01J");
    assert_eq!(text.matches("\u{1b}]52;").count(), 1);
}

#[test]
fn the_terminal_can_be_resized_while_the_program_runs() {
    let mut terminal = Terminal::demo();
    terminal.press("j");
    terminal.wait_for("›● Zenbox");
    for (rows, cols) in [(24, 80), (10, 40), (5, 20), (60, 200), (40, 120)] {
        terminal.screen.lock().unwrap().0.screen_mut().set_size(cells(rows), cells(cols));
        terminal.master.resize(PtySize { rows, cols, pixel_width: 0, pixel_height: 0 }).unwrap();
        terminal.wait_for(if rows < 10 { "needs 40" } else { "spent" });
    }
    // A new size is nothing typed: the first key after it is no burst, and pays.
    terminal.press("R");
    terminal.wait_for("spent this session: 2");
    // A terminal that lies is not believed: as many cells would take all memory there is.
    terminal.master.resize(PtySize { rows: u16::MAX, cols: u16::MAX, pixel_width: 0, pixel_height: 0 }).unwrap();
    let drawn = terminal.bytes().len();
    terminal.press("\t");
    terminal.wait_until("nothing is drawn any more", || terminal.bytes().len() >= drawn + 1_000);
    // One that reports no size is drawn for as 80 by 24.
    terminal.screen.lock().unwrap().0.screen_mut().set_size(cells(24), cells(80));
    terminal.master.resize(PtySize { rows: 0, cols: 0, pixel_width: 0, pixel_height: 0 }).unwrap();
    terminal.wait_until("the bar is not at the bottom", || {
        terminal.text().lines().nth(23).is_some_and(|row| row.contains("spent"))
    });
    terminal.quit();
    terminal.assert_given_back();
}

#[test]
fn ui_state_is_restored_if_persistent() {
    let report = r#"{"data":{"id":"AB_Box-1795168800","attributes":{"processes_tree":[
        {"process_id":"1","name":"parent.exe","children":[{"process_id":"2","name":"child.exe"}]},
        {"process_id":"3","name":"other.exe"}]}}}"#
        .replace("AB", &"ab".repeat(32));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("report.json");
    std::fs::write(&path, report).unwrap();
    let arguments = ["open", path.to_str().unwrap()];
    let mut terminal = Terminal::start(&arguments);
    terminal.wait_for("child.exe");
    terminal.press("\x1b[D");
    terminal.wait_for("▸ parent.exe");
    terminal.quit();
    let mut terminal = terminal.start_again(&arguments);
    terminal.wait_for("▸ parent.exe");
    assert!(!terminal.text().contains("child.exe"), "{}", terminal.text());
    terminal.quit();
    let mut terminal = terminal.start_again(&["open", arguments[1], "--set", "store.persist=false"]);
    terminal.wait_for("child.exe");
    terminal.quit();
}

#[test]
fn several_documents_are_opened_beside_each_other() {
    let folder = tempfile::tempdir().unwrap();
    let paths = ["one", "two"].map(|name| {
        let path = folder.path().join(format!("{name}.json"));
        std::fs::write(&path, format!(r#"{{"data":{{"id":"{name}","attributes":{{"tags":["TAG"]}}}}}}"#)).unwrap();
        path.to_str().unwrap().to_owned()
    });
    let mut terminal = Terminal::start(&["open", &paths[0], &paths[1]]);
    terminal.wait_for("one.json · one of 2 documents");
    terminal.wait_for("two.json");
    terminal.wait_for("Sandboxes 2");
    terminal.quit();
    // What is no report says what it is.
    std::fs::write(&paths[0], r#"{"data":{"type":"private_file","id":"x","attributes":{"size":7}}}"#).unwrap();
    let mut terminal = terminal.start_again(&["open", &paths[0]]);
    terminal.wait_for("one.json (no report: \"private_file\")");
    terminal.quit();
    // One that is no report keeps nobody from the others.
    let odd = folder.path().join("\u{1b}[31modd.json");
    std::fs::write(&odd, "no JSON").unwrap();
    let mut terminal = terminal.start_again(&["open", odd.to_str().unwrap(), &paths[1]]);
    terminal.wait_for("two.json");
    terminal.wait_for("Not opened: ");
    terminal.wait_for("\\x1b[31modd.json");
    terminal.quit();
}

#[test]
fn large_document_is_shown_while_it_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let (path, file) = (folder.path().join("large.json"), "ab".repeat(32));
    let first = format!(
        r#"{{"id":"{file}_Box-1","attributes":{{"tags":["FIRST"],"mutexes_created":["{}"]}}}}"#,
        "z".repeat(2 << 20)
    );
    let cut = &first[..first.len() - 9];
    let second = r#"{"id":"x","attributes":{"tags":["SECOND"]}}"#;
    std::fs::write(&path, &first).unwrap();
    let mut terminal = Terminal::start(&["store", "import", path.to_str().unwrap()]);
    assert_eq!(terminal.wait_for_end(), 0);
    for (document, is) in [(cut.to_owned(), "is cut short"), (format!("{first}\n{second}"), "Sandboxes 2")] {
        std::fs::write(&path, document).unwrap();
        terminal = terminal.start_again(&["open", path.to_str().unwrap()]);
        terminal.wait_for("FIRST");
        terminal.wait_for(is);
        terminal.quit();
    }
    terminal = terminal.start_again(&["--offline", &file]);
    terminal.wait_for("FIRST");
    terminal.quit();
}

#[test]
fn hostile_strings_reach_the_terminal_as_text_only() {
    let mut terminal = Terminal::demo();
    terminal.press("f");
    terminal.wait_for("Opening it costs nothing");
    let hostile =
        behaview::demo::Demo::files().into_iter().find(|file| file.title.contains("Unfriendly")).unwrap().sha256;
    terminal.press(&format!("\u{1b}[200~{hostile}\u{1b}[201~\r"));
    terminal.wait_for("1 request: enter list");
    terminal.press("\r");
    terminal.wait_for("Wrong Types");
    terminal.press("\r]]]");
    for pane in "1234567890tmo".chars() {
        terminal.press(&format!("{pane}zjjGgz"));
    }
    terminal.quit();
    terminal.assert_given_back();
    let seen = terminal.screen.lock().unwrap();
    // What the program itself needs to draw, and to take the terminal over.
    let modes = ["?1049", "?2004", "?25", "?1000", "?1002", "?1003", "?1006", "?1015"];
    visible::shown(&seen.1, "mHJABCDKX", &modes).unwrap();
}

#[test]
fn the_mouse_chooses_scrolls_and_drags_a_border() {
    let mut terminal = Terminal::demo_with(&["--mouse"]);
    // Buttons as SGR tells them: columns and rows from 1.
    terminal.press("\u{1b}[<0;5;7M\u{1b}[<0;5;7m");
    terminal.wait_for("· Zenbox ·");
    terminal.press("\u{1b}[<0;5;5M\u{1b}[<0;5;5m");
    terminal.wait_for("· CAPE Sandbox ·");
    terminal.press("\u{1b}[<0;50;8M\u{1b}[<0;50;8m");
    terminal.wait_for("4/37");
    terminal.press("\u{1b}[<65;50;8M");
    terminal.wait_for("7/37");
    terminal.press("\u{1b}[<0;30;10M\u{1b}[<32;50;10M\u{1b}[<0;50;10m");
    terminal.wait_for(&format!("╭─ Sandboxes 4 of 6 {}┲", "─".repeat(29)));
    terminal.quit();
    terminal.assert_given_back();
}

#[test]
fn in_ascii_nothing_else_reaches_the_terminal() {
    let mut terminal = Terminal::demo_with(&["--ascii"]);
    terminal.press("\r?");
    terminal.wait_for("Keys and commands");
    terminal.press("\u{1b}");
    terminal.wait_for("+= 1 Processes");
    terminal.quit();
    assert!(terminal.screen.lock().unwrap().1.is_ascii());
}

#[test]
fn a_simple_terminal_gets_lines() {
    let mut terminal = Terminal::start_in(&["demo"], "", "dumb");
    terminal.wait_for("== Sandboxes 4 of 6 ==");
    terminal.press("quit\n");
    assert_eq!(terminal.wait_for_end(), 0);
    assert!(!terminal.screen.lock().unwrap().1.contains(&0x1b));
}
