//! The app in lines at a terminal: what was typed before a price was said is no yes to it.

use super::harness::Terminal;
use std::time::Duration;

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
        "sandbox        verdict  score  when              price      labels         tags",
        "CAPE Sandbox   MALWARE     92  2026-11-12 09:14  0, stored  Lumen loader   CALLS_WMI ",
        "There are more pages: --all fetches them, each for one request.",
        "--format ids prints the identifiers",
    ] {
        assert!(shown.contains(words), "{words}\n{shown}");
    }
    for (columns, arguments, words) in [
        (40, &["list", &file.sha256][..], "(no room for: labels, tags, identifier;\n--json has it)\n"),
        (60, &["list", &file.sha256], "  2026-11-12 09:14  0, stored\n"),
        (40, &["list", &queued.sha256], "No sandbox has reported yet. behaview\nwatch polls until one has.\n"),
        (80, &["quota"], "The group's limits are those of "),
        (80, &["doctor", "--online"], "ok  clock     as the service's"),
        (80, &["triage", &file.sha256, &queued.sha256], "57874b32…938c  malicious  "),
        (80, &["files"], &format!("{}  in ", file.sha256)),
        (80, &["ledger"], "(no room for: operation, counters; --json has it)"),
        (80, &["store"], "(no room for: on disk, id; --json has it)"),
        (80, &["cost", "plan", "private-behaviours", "v2-file-report 9", "--balances"], "fits  about "),
    ] {
        let listed = format!("stty cols {columns}; \"$0\" list {} > /dev/null 2>&1", file.sha256);
        let mut terminal = Terminal::after(&listed, arguments, config);
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
fn confirmation_typed_before_the_price_is_ignored() {
    // Ahead; with the request for the price, where a terminal passes on all it has; and while the
    // price is written: from Ctrl-S to Ctrl-Q a terminal takes no output, and the program waits.
    for (line, typed) in
        [("true", &["R\ry\r"][..]), ("stty -icanon", &["R\ry\r"]), ("true", &["\u{13}R\r", "y\r\u{11}"])]
    {
        let mut terminal = Terminal::after(line, &["demo", "--plain", "--list", "identifiers"], "");
        terminal.wait_for("keys: ");
        terminal.wait_for("> ");
        for keys in typed {
            terminal.press(keys);
            std::thread::sleep(Duration::from_millis(if typed.len() > 1 { 500 } else { 0 }));
        }
        // A yes is too early until the prompt is there: what is typed before it is dropped.
        let is_asked = |text: &str| text.rsplit_once("y yes, send it").is_some_and(|(_, rest)| rest.contains("\n> "));
        terminal.wait_until("there is no question with a prompt", || is_asked(&terminal.text()));
        terminal.press("n\r");
        terminal.wait_for("n does not confirm: nothing was done, the dialog is closed.");
        terminal.press("quit\r");
        assert_eq!(terminal.wait_for_end(), 0);
    }
}

#[test]
fn over_budget_price_is_shown_in_help() {
    let mut terminal = Terminal::start(&["demo", "--plain", "--set", "budget.session=1"]);
    terminal.wait_for("keys: ");
    terminal.press("?\r");
    terminal.wait_for("1 request, over budget");
    terminal.press("quit\r");
    assert_eq!(terminal.wait_for_end(), 0);
}
