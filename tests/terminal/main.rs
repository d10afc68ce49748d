//! The real program in a real pseudo-terminal: it starts, opens a report, quits, and gives the terminal back.
#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test that cannot go on fails"
)]

mod life;
mod panics;
mod stage;

use portable_pty::PtySize;
use stage::{Terminal, cells, foreign_controls};

#[test]
fn from_start_through_a_report_to_quit() {
    let mut terminal = Terminal::start(&["demo"]);
    terminal.wait_for("Sandboxes 4 of 6");
    terminal.wait_for("CREATES_SCHEDULED_TASK");
    terminal.press("\t");
    terminal.wait_for("1/37");
    terminal.press("4G");
    terminal.wait_for("22/22");
    terminal.press("\r");
    terminal.wait_for("files_opened");
    terminal.press("q");
    assert_eq!(terminal.wait_for_end(), 0);
    terminal.assert_given_back();
}

#[test]
fn the_terminal_can_be_resized_while_the_program_runs() {
    let mut terminal = Terminal::start(&["demo"]);
    terminal.wait_for("Sandboxes 4 of 6");
    for (rows, cols) in [(24, 80), (10, 40), (5, 20), (60, 200), (40, 120)] {
        terminal.screen.lock().unwrap().0.screen_mut().set_size(cells(rows), cells(cols));
        terminal.master.resize(PtySize { rows, cols, pixel_width: 0, pixel_height: 0 }).unwrap();
        terminal.wait_for(if rows < 10 { "needs 40" } else { "spent" });
    }
    terminal.press("q");
    assert_eq!(terminal.wait_for_end(), 0);
}

#[test]
fn a_pasted_hash_is_one_paste() {
    let mut terminal = Terminal::start(&["demo"]);
    terminal.wait_for("Sandboxes 4 of 6");
    terminal.press("f");
    terminal.wait_for("Which file?");
    let hash = "0123456789abcdef".repeat(4);
    terminal.press(&format!("\u{1b}[200~q {hash} q\r\u{1b}[201~"));
    terminal.wait_for(&hash);
    terminal.press("\r");
    terminal.wait_for("list the sandboxes");
    terminal.press("q");
    assert_eq!(terminal.wait_for_end(), 0);
}

#[test]
fn hostile_strings_reach_the_terminal_as_text_only() {
    let mut terminal = Terminal::start(&["demo"]);
    terminal.wait_for("Sandboxes 4 of 6");
    terminal.press("f");
    terminal.wait_for("Earlier files");
    let hostile =
        behaview::demo::Demo::files().into_iter().find(|file| file.title.contains("Unfriendly")).unwrap().sha256;
    terminal.press(&format!("\u{1b}[200~{hostile}\u{1b}[201~\r"));
    terminal.wait_for("list the sandboxes");
    terminal.press("\r");
    terminal.wait_for("Wrong Types");
    terminal.press("\r]]]");
    for pane in "1234567890tmo".chars() {
        terminal.press(&format!("{pane}zjjGgz"));
    }
    terminal.press("q");
    terminal.wait_for_end();
    terminal.assert_given_back();
    let seen = terminal.screen.lock().unwrap();
    assert_eq!(foreign_controls(&seen.1), Vec::<String>::new());
}

#[test]
fn the_config_file_tells_the_app_of_entitlements() {
    let config = "profile = \"lab\"\napi_key = \"any\"\n[profiles.lab]\nroot = \"http://127.0.0.1:9\"\n\
                  [entitlements]\nprivate_scanning = false\n";
    let mut terminal = Terminal::start_with(&[&"ab".repeat(32)], config);
    terminal.wait_for("refused");
    terminal.press("q");
    assert_eq!(terminal.wait_for_end(), 0);
}
