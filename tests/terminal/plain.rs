//! The app in lines at a terminal: what was typed before a price was said is no yes to it.

use super::stage::Terminal;
use portable_pty::CommandBuilder;
use std::time::Duration;

const DEMO: [&str; 4] = ["demo", "--plain", "--list", "identifiers"];

/// Waits for the question about the price, where a yes is too early; says no to it.
fn assert_asked(mut terminal: Terminal) {
    terminal.wait_for("y yes, send it");
    // What is typed before the prompt behind it is dropped.
    let is_asked = |text: &str| text.split("y yes, send it").last().is_some_and(|rest| rest.contains("\n> "));
    terminal.wait_until("there is no prompt", || is_asked(&terminal.text()));
    terminal.press("n\r");
    terminal.wait_for("n does not answer the question: it is closed, and nothing was done.");
    terminal.press("quit\r");
    assert_eq!(terminal.wait_for_end(), 0);
}

#[test]
fn a_list_on_a_terminal_is_a_table() {
    let mut service = Terminal::start(&["demo", "--serve"]);
    let is_whole = |text: &str| text.lines().any(|line| line.starts_with("root = ") && line.ends_with('"'));
    service.wait_until("there is no address", || is_whole(&service.text()));
    // What it prints last is a config that uses it.
    let shown = service.text();
    let config = &shown[shown.find("profile = ").unwrap()..];
    assert_eq!(config.trim_end().lines().count(), 4, "{config}");
    let files = behaview::demo::Demo::files();
    let (file, queued) = (&files[0], files.iter().find(|file| file.title.contains("queue")).unwrap());
    let mut terminal = Terminal::start_with(&["list", &file.sha256], config);
    assert_eq!(terminal.wait_for_end(), 0, "{}", terminal.text());
    terminal.wait_for("charged: 1");
    let shown = terminal.text();
    for words in [
        "sandbox        verdict  score  labels         tags  ",
        "CAPE Sandbox   MALWARE     92  Lumen loader   CALLS_WMI ",
        "  2026-11-12 09:14  0, stored\n",
        "There are more pages: --all fetches them, each for one request.",
        "--format ids prints the identifiers",
    ] {
        assert!(shown.contains(words), "{words}\n{shown}");
    }
    for (columns, arguments, words) in [
        (40, &["list", &file.sha256][..], "sandbox        verdict  score  price\n"),
        (60, &["list", &file.sha256], "  2026-11-12 09:14  0, stored\n"),
        (40, &["list", &queued.sha256], "No sandbox has reported yet. behaview\nwatch polls until one has.\n"),
        (80, &["quota"], "The group's limits are those of "),
        (80, &["doctor", "--online"], "ok  clock      as the service's"),
        (80, &["cost", "plan", "private-behaviours", "v2-file-report 9", "--balances"], "fits  about "),
    ] {
        let mut command = CommandBuilder::new("sh");
        command.env_clear();
        let line = format!("stty cols {columns}; exec \"$0\" \"$@\"");
        command.args(["-c", &line, env!("CARGO_BIN_EXE_behaview")]);
        let mut terminal = Terminal::run(command, arguments, config);
        assert_eq!(terminal.wait_for_end(), 0, "{}", terminal.text());
        terminal.wait_until(words, || terminal.text().contains(words));
        let wide: Vec<_> =
            terminal.text().lines().map(str::to_owned).filter(|row| row.chars().count() > columns).collect();
        assert!(wide.is_empty(), "{columns}: {wide:?}");
    }
    service.signal("INT");
    service.wait_for_end();
}

#[test]
fn a_yes_that_was_typed_ahead_pays_for_nothing() {
    let mut terminal = Terminal::start(&DEMO);
    terminal.wait_for("keys: ");
    terminal.press("R\ry\r");
    assert_asked(terminal);
}

#[test]
fn nor_does_one_that_came_with_what_asked_for_the_price() {
    // Such a terminal hands over whatever has come, and not line by line.
    let mut command = CommandBuilder::new("sh");
    command.env_clear();
    command.args(["-c", "stty -icanon; exec \"$0\" \"$@\"", env!("CARGO_BIN_EXE_behaview")]);
    let mut terminal = Terminal::run(command, &DEMO, "");
    terminal.wait_for("keys: ");
    terminal.press("R\ry\r");
    assert_asked(terminal);
}

#[test]
fn nor_does_one_that_came_while_the_price_was_on_its_way() {
    let mut terminal = Terminal::start(&DEMO);
    terminal.wait_for("keys: ");
    terminal.wait_for("> ");
    // The terminal takes no output from Ctrl-S to Ctrl-Q: the program waits with its question.
    terminal.press("\u{13}R\r");
    std::thread::sleep(Duration::from_millis(500));
    terminal.press("y\r\u{11}");
    assert_asked(terminal);
}

#[test]
fn what_the_budget_will_not_pay_for_is_told_before_it_is_asked() {
    let mut terminal = Terminal::start(&["demo", "--plain", "--set", "budget.session=1"]);
    terminal.wait_for("keys: ");
    terminal.press("?\r");
    terminal.wait_for("1 request, over budget");
    terminal.press("quit\r");
    assert_eq!(terminal.wait_for_end(), 0);
}
